"""Tensors beside PyTorch's: with both providers of arrays, and what it means that they are the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from gradwalk import using_arrays


@pytest.fixture(params=["numpy", "python"])
def provider(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each provider of arrays in turn; floats that nobody says more of have 64 bits in PyTorch too."""
    torch.set_default_dtype(torch.float64)
    try:
        with using_arrays(request.param):
            yield request.param
    finally:
        torch.set_default_dtype(torch.float32)


def same(ours: Any, theirs: Any, what: str) -> None:
    """The same numbers, shapes and dtypes, in tuples and lists too."""
    if isinstance(theirs, torch.Tensor):
        assert (ours.shape, f"torch.{ours.dtype}") == (tuple(theirs.shape), str(theirs.dtype)), what
        found = np.array(ours.tolist(), ours.dtype).reshape(ours.shape)
        np.testing.assert_allclose(found, theirs.detach().numpy(), rtol=1e-12, atol=1e-14, err_msg=what)
    elif isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs), what
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, what)
    else:
        assert type(ours) is type(theirs), what
        assert ours == theirs, what
