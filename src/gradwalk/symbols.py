"""The old name of `gradwalk.formulas`: what stood here still works, and says where it is now."""

from __future__ import annotations

import warnings
from typing import Any

from gradwalk import formulas
from gradwalk.formulas.text import ATOM, BINDING
from gradwalk.ops import Op

__all__ = ["Symbol", "derivatives_as_text"]


class Symbol(formulas.Symbol):
    """A symbol by its name. `formulas.Sheet(whole_ops=True).inputs("x", "y")` makes symbols now.

    >>> with warnings.catch_warnings(action="ignore"):
    ...     str(1 + Symbol("x")), Symbol("x").text
    ('1 + x', 'x')
    """

    __slots__ = ()
    __eq__, __ne__ = object.__eq__, object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]
    choose, equals = formulas.Symbol.__gradwalk_choose__, formulas.Symbol.__gradwalk_equal__

    def __init__(self, text: str) -> None:
        warnings.warn("symbols.Symbol(name) is formulas.Sheet().inputs(name) now", DeprecationWarning, stacklevel=2)
        super().__init__(_SHEET, _SHEET.inputs(text)[0].position)

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name not in ("text", "binding"):
            raise AttributeError(f"'Symbol' object has no attribute {name!r}")
        return str(self) if name == "text" else BINDING.get(_SHEET.steps[self.position][0], ATOM)


class _Sheet(formulas.Sheet):
    """One sheet for all old symbols: each of them is made by itself, and yet they meet."""

    def _made(self, step: Any, key: Any) -> formulas.Symbol:
        made = Symbol.__new__(Symbol)
        made.sheet, made.position = self, super()._made(step, key).position
        return made


_SHEET = _Sheet(whole_ops=True)


def derivatives_as_text(op: Op) -> list[str]:
    """As `formulas.derivatives_as_text`.

    >>> with warnings.catch_warnings(action="ignore"):
    ...     derivatives_as_text(ops.tanh)
    ['1 - out * out']
    """
    warnings.warn("gradwalk.symbols is gradwalk.formulas now", DeprecationWarning, stacklevel=2)
    return formulas.derivatives_as_text(op)
