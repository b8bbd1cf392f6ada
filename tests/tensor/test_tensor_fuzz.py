"""The fuzzer of tensors in small: random programs beside PyTorch. `make fuzz` draws more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensor_fuzz
import torch

from gradwalk import Tensor


@pytest.mark.parametrize("block", range(4))
def test_random_programs_give_pytorchs_numbers_and_gradients(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        assert tensor_fuzz.fuzzed(seed, compiled=False) <= tensor_fuzz.TOLERANCE


def test_the_fuzzer_finds_a_wrong_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fuzzer that cannot fail shows nothing."""
    monkeypatch.setattr(Tensor, "sum", lambda self, *dims, **settings: self.mean(*dims, **settings))
    with pytest.raises(tensor_fuzz.Difference, match="--seed"):
        sum(tensor_fuzz.fuzzed(seed, compiled=False) for seed in range(10))


def test_differences_of_shape_dtype_and_number_are_seen() -> None:
    x = np.ones(3)
    assert tensor_fuzz.apart(x, x + 1e-14, "so it is") < 1e-13
    for other in (np.ones((3, 1)), np.ones(3, "float32"), x + 1e-9, x * np.nan):
        with pytest.raises(tensor_fuzz.Difference):
            tensor_fuzz.apart(other, x, "so it is not")


def test_the_command(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, tensor_fuzz.__file__, "--seed", "1", "--eager"], capture_output=True, text=True, cwd=tmp_path
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("\r1 programs, 0 failures") or "1 programs, 0 failures" in run.stdout


# --- what the fuzzer found -------------------------------------------------------------------------------------------


def test_a_mask_of_one_bool_takes_all_or_nothing() -> None:
    for given in (0.5, [[1.0, 2.0, 3.0]]):
        x, t = Tensor(given), torch.tensor(given)
        for bound in (0.0, 9.0):
            mask, same = x.sum() > bound, t.sum() > bound
            assert x[mask].shape == t[same].shape
            assert x[mask].tolist() == t[same].tolist()
    x = Tensor(0.5)
    assert x.masked_select(x > 0).tolist() == [0.5]
    (x[x > 0] * 3).sum().backward()
    assert x.grad.item() == 3.0


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2, 5])
def test_diagonals(offset: int) -> None:
    data = np.arange(24.0).reshape(2, 3, 4)
    for rows, columns in ((0, 1), (1, 0), (0, 2), (-1, 1)):
        want = torch.tensor(data).diagonal(offset, rows, columns)
        found = Tensor(data).diagonal(offset, rows, columns)
        assert found.shape == want.shape
        assert found.tolist() == want.tolist()
    assert Tensor(data[0]).diag(offset).tolist() == torch.tensor(data[0]).diag(offset).tolist()
    x, t = Tensor(data[0, 0]), torch.tensor(data[0, 0], requires_grad=True)
    assert x.diag(offset).tolist() == t.diag(offset).tolist()
    weights = np.random.default_rng(0).normal(size=x.diag(offset).shape)
    (x.diag(offset) * weights).sum().backward()
    (t.diag(offset) * torch.tensor(weights)).sum().backward()
    assert t.grad is not None
    assert x.grad.tolist() == t.grad.tolist()


def test_the_largest_of_a_single_number() -> None:
    assert Tensor(3.0).topk(1).values.shape == torch.tensor(3.0).topk(1).values.shape == ()
