"""The compiled path: trace a function of Values or tensors, roll its graph up, and replay it at native speed.

`gradwalk.compile(fn)` is its function; `help(gradwalk.compile.compile)` tells what it takes.

    a call → trace/: a tape → roll/: a program → a backend: numbers

- `api.py` and `batches.py`: the functions that `gradwalk.compile` gives;
- `trace/`: from a function to a tape, and what cannot be followed; tensors are written down number by number
  (`tensors.py`, `blocks.py`, `block_arrays.py`, `block_sums.py`), so that what follows knows nothing of them; large
  ones, and those of float32, array by array (`whole_tensors.py`, `whole_arrays.py`, `array_tape.py`);
- `roll/`: from a tape to a program, which is data;
- `backend.py`: the seam, what a backend has to do; `prepared.py`: a tape brought to it; `careful.py`: the walk back
  where edges are cut;
- `array_runner.py`: what was written down array by array, run by NumPy;
- `native/`: the backend that makes machine code; `reference.py`: one in plain NumPy, for tests;
- `own/`: parameters and optimisers in one buffer, for as long as compiled code has them;
- `call/`: arguments in, results out;
- `report.py`, `warming.py`: what became of a function, and kernels ahead of need; `array_types.py`: names of types.

NumPy and Numba are imported when something is compiled, not before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any, overload

from gradwalk.callables import CallableModule
from gradwalk.errors import MissingExtraError

__all__ = ["compile"]


@overload
def compile(
    fn: Callable[..., Any],
    *,
    static: str | Iterable[str] = (),
    wrt: str | Iterable[str] = (),
    batch: str | None = None,
    dtype: str = "float64",
    threads: int = 1,
    cache: int = 64,
) -> Any: ...


@overload
def compile(
    fn: None = None,
    *,
    static: str | Iterable[str] = (),
    wrt: str | Iterable[str] = (),
    batch: str | None = None,
    dtype: str = "float64",
    threads: int = 1,
    cache: int = 64,
) -> Callable[[Callable[..., Any]], Any]: ...


def compile(
    fn: Callable[..., Any] | None = None,
    *,
    static: str | Iterable[str] = (),
    wrt: str | Iterable[str] = (),
    batch: str | None = None,
    dtype: str = "float64",
    threads: int = 1,
    cache: int = 64,
) -> Any:
    """Make a function of Values or tensors run at native speed: a decorator, with or without options, or a call.

    The first call with arguments of a structure traces the function, later ones replay it. Numbers in the arguments may
    change from call to call; Values and tensors that the function reaches by itself are parameters, read and given
    gradients at each call. `static` names arguments that decide what the function does; `wrt` names arguments whose
    gradients are wanted; at most `cache` traces are kept.

    With `batch` ("sum", "mean" or "each") the function is written for one sample and called with many: every argument
    has one more dimension in front. `dtype` ("float64" or "float32") and `threads` say how.

    >>> model = nn.MLP(2, [4, 1])
    >>> @gradwalk.compile
    ... def loss(X, y):
    ...     return nn.mse([model(x) for x in X], y)
    >>> l = loss([[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5])
    >>> l.backward()
    >>> l.data == nn.mse([model([1.0, 2.0]), model([3.0, 4.0])], [0.5, -0.5]).data
    True
    """
    options: dict[str, Any] = {
        "static": static, "wrt": wrt, "batch": batch, "dtype": dtype, "threads": threads, "cache": cache
    }  # fmt: skip
    if fn is None:
        return lambda decorated: compile(decorated, **options)
    for module in ("numpy", "numba"):
        if not _is_installed(module):
            raise MissingExtraError.of(module, extra="fast", wanted_for="gradwalk.compile")
    from gradwalk.compile.api import compiled

    return compiled(fn, **options)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


class _CallableModule(CallableModule):
    """`gradwalk.compile` is this module as soon as anyone imports from it, and must stay the function too."""

    def __call__(self, fn: Callable[..., Any] | None = None, **options: Any) -> Any:
        return compile(fn, **options)


sys.modules[__name__].__class__ = _CallableModule
