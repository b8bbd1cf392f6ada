"""Methods of a tensor as functions of it, as PyTorch has them: `gradwalk.mean(x, 0)` is `x.mean(0)`."""

from __future__ import annotations

from typing import Any

from gradwalk.tensor.core import Tensor
from gradwalk.tensor.functions import as_tensor

__all__: list[str] = []

#: Methods that are functions of the package too.
AS_FUNCTIONS = (
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "bmm", "ceil", "chunk", "clip", "clone",
    "count_nonzero", "cumsum", "detach", "diag", "diagonal", "elu", "eq", "flatten", "flip", "floor", "gather", "ge",
    "gelu", "gt", "hardtanh", "index_select", "isfinite", "isinf", "isnan", "le", "log10", "log2", "log_softmax", "lt",
    "masked_fill", "masked_select", "matmul", "mean", "mish", "mm", "mv", "narrow", "ne", "nonzero", "norm", "numel",
    "permute", "ravel", "reciprocal", "relu6", "repeat", "reshape", "roll", "round", "rsqrt", "select", "sign", "silu",
    "softsign", "sort", "split", "square", "squeeze", "std", "sum", "swapaxes", "t", "tile", "topk", "trace",
    "transpose", "tril", "triu", "trunc", "unbind", "unflatten", "unsqueeze", "var",
)  # fmt: skip


def _from_method(name: str) -> Any:
    def function(x: Any, *arguments: Any, **settings: Any) -> Any:
        return getattr(as_tensor(x), name)(*arguments, **settings)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{getattr(Tensor, name).__doc__}\n\n    >>> gradwalk.{name} is not None\n    True\n    "
    return function


globals().update({name: _from_method(name) for name in AS_FUNCTIONS})
