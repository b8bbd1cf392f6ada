"""Floats as IEEE 754 has them: arithmetic that gives inf and nan where Python's raises.

A learner's loss that divides by zero half-way through a forward pass should become inf, as it does in PyTorch, and not
an exception; and what is not a number at all should be refused by name.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from gradwalk.errors import NotANumberError, NumberTooLargeError, SettingError
from gradwalk.messages import say, shown

__all__ = [
    "Ieee", "cosh", "div", "exp", "expm1", "log", "log1p", "nan_outside", "number", "power", "sinh", "sqrt", "whole",
]  # fmt: skip

inf, nan = math.inf, math.nan


def whole(what: str, n: Any, least: int | None = None, most: int | None = None) -> int:
    """A setting that counts something, within its limits.

    >>> whole("size, in pixels,", 7, 50, 4000)
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: size, in pixels, is a whole number from 50 to 4000, not 7
    """
    try:
        found = None if isinstance(n, bool) else operator.index(n)
    except TypeError:
        found = None
    if found is None or (least is not None and found < least) or (most is not None and found > most):
        reach = "" if least is None else f" from {least} {'up' if most is None else f'to {most}'}"
        raise SettingError(f"{what} is a whole number{reach}, not {n!r:.60}")
    return found


def number(x: Any) -> float:
    """`x` as a float, if it is one real number: an int, a float, a bool, a fraction, a NumPy number or 0-d array.

    >>> number(3), number(True)
    (3.0, 1.0)
    """
    if x.__class__ is float:
        return x
    if isinstance(x, (int, float)) or (
        hasattr(x, "numerator") and hasattr(x, "denominator") and not isinstance(x, type)  # the class `int` has them
    ):
        try:
            return float(x)
        except OverflowError:
            bits = int(x).bit_length()
            raise NumberTooLargeError(
                say(
                    "an int of {bits} bits does not fit a float (largest: about 1.8e308); scale it down, or use "
                    "math.inf",
                    bits=bits,
                )
            ) from None
    # NumPy's numbers and 0-d arrays are known by their dtype, so that NumPy need not be imported.
    if getattr(x, "ndim", None) == 0 and getattr(getattr(x, "dtype", None), "kind", "") in ("b", "i", "u", "f"):
        return float(x)
    kind = type(x).__name__
    text = shown(x)
    remedy = None
    if isinstance(x, str):
        remedy = say("if it is a number in text, write float({text})", text=text)
    elif getattr(x, "many", False) is True:
        raise NotANumberError(
            say(
                "here a Value is needed, one number, and a Tensor of shape {shape} was given: it does not know tensors "
                "yet; tensor.scalars() gives the same computation as Values, which it knows",
                shape=x.shape,
            )
        )
    elif hasattr(x, "item") and getattr(x, "ndim", None) == 0:
        remedy = say("take its number with .item()")
    elif hasattr(x, "__len__"):
        remedy = say("for many numbers make many Values: [Value(x) for x in numbers]")
    refused = say(
        "a Value holds one real number (int, float, or a NumPy number), not {kind}: {text}", kind=kind, text=text
    )
    raise NotANumberError(say("{refused}; {remedy}", refused=refused, remedy=remedy) if remedy else refused)


def div(x: float, y: float) -> float:
    """`x / y`.

    >>> div(1.0, 0.0), div(0.0, 0.0)
    (inf, nan)
    """
    if y != 0.0:
        return float(x) / float(y)
    return nan if x == 0.0 or x != x else math.copysign(inf, x) * math.copysign(1.0, y)


def power(x: float, y: float) -> float:
    """`x ** y`.

    >>> power(0.0, -1.0), power(-2.0, 0.5)
    (inf, nan)
    """
    try:
        return math.pow(x, y)
    except OverflowError:
        return -inf if x < 0.0 and y % 2.0 == 1.0 else inf
    except ValueError:  # zero to a negative power, or a negative number to a fraction
        if x != 0.0:
            return nan
        return math.copysign(inf, x) if y % 2.0 == 1.0 else inf


def exp(x: float) -> float:
    """`e ** x`.

    >>> exp(1000.0)
    inf
    """
    try:
        return math.exp(x)
    except OverflowError:
        return inf


def expm1(x: float) -> float:
    """`e ** x - 1`, exact near 0.

    >>> expm1(1000.0)
    inf
    """
    try:
        return math.expm1(x)
    except OverflowError:
        return inf


def log(x: float) -> float:
    """The natural logarithm.

    >>> log(0.0), log(-1.0)
    (-inf, nan)
    """
    if x > 0.0:
        return math.log(x)
    return -inf if x == 0.0 else nan


def log1p(x: float) -> float:
    """`log(1 + x)`, exact near 0.

    >>> log1p(-1.0)
    -inf
    """
    if x > -1.0:
        return math.log1p(x)
    return -inf if x == -1.0 else nan


def sqrt(x: float) -> float:
    """The square root.

    >>> sqrt(-1.0)
    nan
    """
    return math.sqrt(x) if x >= 0.0 else nan


def sinh(x: float) -> float:
    """The hyperbolic sine.

    >>> sinh(-1000.0)
    -inf
    """
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(inf, x)


def cosh(x: float) -> float:
    """The hyperbolic cosine.

    >>> cosh(-1000.0)
    inf
    """
    try:
        return math.cosh(x)
    except OverflowError:
        return inf


def nan_outside(f: Callable[[float], float]) -> Callable[[float], float]:
    """`f`, with nan where it would raise a domain error.

    >>> nan_outside(math.sin)(math.inf)
    nan
    """

    def value(x: float) -> float:
        try:
            return f(x)
        except ValueError:
            return nan

    return value


def _never_raising(f: Callable[[float, float], float]) -> tuple[Any, Any]:
    """An operator of `Ieee` and its reflected form; what is no number is left to its own class."""

    def forth(self: Ieee, other: Any) -> Any:
        return Ieee(f(float(self), float(other))) if isinstance(other, (int, float)) else NotImplemented

    def back(self: Ieee, other: Any) -> Any:
        return Ieee(f(float(other), float(self))) if isinstance(other, (int, float)) else NotImplemented

    return forth, back


class Ieee(float):
    """A float whose arithmetic never raises: it gives inf and nan where IEEE 754 does.

    >>> 1 / Ieee(0.0), Ieee(-8.0) ** 0.5
    (inf, nan)
    """

    __add__, __radd__ = _never_raising(lambda x, y: x + y)
    __sub__, __rsub__ = _never_raising(lambda x, y: x - y)
    __mul__, __rmul__ = _never_raising(lambda x, y: x * y)
    __truediv__, __rtruediv__ = _never_raising(div)
    __pow__, __rpow__ = _never_raising(power)

    def __neg__(self) -> Ieee:
        return Ieee(-float(self))

    def __gradwalk_op__(self, op: Any, operands: tuple[Any, ...]) -> Any:
        for operand in operands:
            if not isinstance(operand, float) and hasattr(operand, "__gradwalk_op__"):
                return operand.__gradwalk_op__(op, operands)
        return Ieee(op.forward(*map(number, operands)))
