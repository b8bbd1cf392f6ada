"""Tensors: the same walk, with arrays for numbers.

A `Tensor` is many numbers that share one node. Its elementwise ops are those of the op table: same entry, same rule,
run on an array. Only structure needs entries of its own. The walk, hooks, `no_grad`, `anomaly`, `create_graph` and
observers are the engine's; a tensor's slope is a linear map, and `slope × upstream` takes a gradient back through it.

- `arrays.py`: what is wanted of arrays; `numpy_arrays.py`, `python_arrays.py`: the two that provide it;
- `dtypes.py`: their names; `promotion.py`: which dtype two of them give together;
- `kernels.py`: the op table on arrays; `entries.py`: ops on structure, each a value and the way back;
- `core.py`: the node, how ops make it, the way back; `operators.py`, `methods/`, `functions.py`, `convolutions.py`,
  `losses.py`: made of ops;
- `method_functions.py`: methods as functions, `gradwalk.mean(x, 0)`; `jacobians.py`: all derivatives at once;
- `making.py`, `indexing.py`, `shapes.py`: what people give, read and checked; `printing.py`: as text;
- `backward.py`: the way back, quick on plain graphs; `reach.py`: what ops did not take passes nothing on;
- `explained.py`: one number of a gradient as a sum over paths;
- `scalars.py`: to and from Values; `random.py`: numbers by chance; `files.py`: tensors in files.
"""

from __future__ import annotations

import sys
from typing import Any

from gradwalk.callables import CallableModule
from gradwalk.tensor.arrays import using_arrays
from gradwalk.tensor.core import Tensor

__all__ = ["Tensor", "using_arrays"]


class _CallableModule(CallableModule):
    """`gradwalk.tensor` is this package, and PyTorch's function of that name too."""

    def __call__(self, data: Any, dtype: Any = None, requires_grad: bool | None = None) -> Tensor:
        return Tensor(data, requires_grad, dtype)


sys.modules[__name__].__class__ = _CallableModule
