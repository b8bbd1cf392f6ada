"""Who asks a stand-in, and how: code of ours and NumPy's sees what it is, all other code what it stands for."""

from __future__ import annotations

import sys
from dis import Instruction, get_instructions
from functools import cache, lru_cache
from types import CodeType
from typing import Any

import numpy as np

from gradwalk.compile.trace.reading import GETATTR

__all__ = ["ON_BEHALF", "asked_by_insider", "asks_for_attribute", "numpy_was_called"]

#: Code that asks for somebody else.
ON_BEHALF = {np.isscalar.__code__}


def asked_by_insider() -> bool:
    """Whether the code that asks sees what a stand-in is: ours and NumPy's; all others see what it stands for.

    >>> asked_by_insider()
    False
    """
    frame: Any = sys._getframe(2)
    while frame.f_globals.get("__name__") == "abc" or frame.f_code in ON_BEHALF:
        frame = frame.f_back
    return _is_insider(frame.f_globals.get("__name__", ""))


def numpy_was_called() -> bool:
    """Whether it is code of others than us that had NumPy ask.

    >>> numpy_was_called()
    True
    """
    frame: Any = sys._getframe(2)
    while frame.f_globals.get("__name__", "").startswith("numpy."):
        frame = frame.f_back
    return not frame.f_globals.get("__name__", "").startswith("gradwalk.")


@cache
def _is_insider(module: str) -> bool:
    return module.partition(".")[0] in ("gradwalk", "numpy", "copy")


def asks_for_attribute(frame: Any) -> bool:
    """Whether code asks for an attribute just now, and is not in the midst of a call of NumPy's that leads to it.

    >>> asks_for_attribute(sys._getframe())
    False
    """
    if _is_insider(frame.f_globals.get("__name__", "")):
        return False
    return frame.f_lasti in _asking_steps(frame.f_code)


@lru_cache(maxsize=1000)
def _asking_steps(code: CodeType) -> frozenset[int]:
    """Where in a code attributes are asked for: by a dot, or by a call that begins with the name of `getattr`."""
    steps = list(get_instructions(code))
    begins = {_begin(step) for step in steps if step.argval in GETATTR and step.opname.startswith("LOAD_")}
    return frozenset(
        step.offset
        for step in steps
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") or ("CALL" in step.opname and _begin(step) in begins)
    )


def _begin(step: Instruction) -> Any:
    return step.positions and (step.positions.lineno, step.positions.col_offset)
