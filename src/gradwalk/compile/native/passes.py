"""The passes of the analysis (`roll.passes`) as machine code: what makes rolling up fast."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from gradwalk.compile.native import objects
from gradwalk.compile.native.objects import Native
from gradwalk.compile.roll import passes

__all__ = ["run_pass"]

#: How an argument is read from a table of addresses and numbers, by its annotation.
READ = {"Ints": "ints(s[{}])", "Longs": "longs(s[{}])", "Floats": "doubles(s[{}])", "Bools": "bools(s[{}])",
        "int": "s[{}]"}  # fmt: skip


def run_pass(function: Callable[..., None], *arguments: Any) -> None:
    """Run a pass natively: a `roll.passes.RunPass`."""
    table = np.array([x.ctypes.data if isinstance(x, np.ndarray) else x for x in arguments], np.int64)
    _call(function)(table.ctypes.data)


@cache
def _call(function: FunctionType) -> Callable[..., None]:
    kinds = [kind for name, kind in function.__annotations__.items() if name != "return"]
    words = ", ".join(READ[kind].format(i) for i, kind in enumerate(kinds))
    text = f"def kernel(state):\n    s = longs(state)\n    {function.__name__}({words})\n"

    def make() -> Any:
        kernels = importlib.import_module("gradwalk.compile.native.microkernels")
        scope = vars(passes) | {helper.__name__: kernels.inlined(helper) for helper in passes.HELPERS}
        inner = kernels.inlined(FunctionType(function.__code__, scope))
        exec(text, names := vars(kernels) | {function.__name__: inner})
        return names["kernel"]

    return objects.call(Native(function.__name__, 1, text, ("roll.passes", "native.microkernels"), make))
