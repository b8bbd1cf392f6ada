"""An op's value and slopes as lines of a kernel, written by running the table's own rules.

Nothing about an op is said twice: a rule of the table is called with `Number`s instead of floats, and each step it
takes becomes one line of text. A rule that branches in plain Python (`x if x >= y else y`) is run once for each way it
can go, and the ways are put together as a choice. Functions of `math` and of `gradwalk.ieee` become calls of the
native functions of the same name (`vmath`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

from gradwalk import ieee
from gradwalk.errors import OpError
from gradwalk.ops import Op, choose, equal

__all__ = ["Number", "Sheet", "Way", "slopes", "value"]

#: How many ways a rule may go before it is refused.
MOST_WAYS = 64
#: Whole and half powers that are products and roots; all others are left to `pow`.
SIMPLE_POWERS = {0.5: "power_half", -0.5: "power_minus_half", -1.0: "power_minus_one", -1.5: "power_minus_three_halves",
                 1.0: "power_one", 2.0: "power_two", -2.0: "power_minus_two", 3.0: "power_three"}  # fmt: skip

#: Python functions of floats, and the names that stand for them in a kernel.
NATIVE: dict[Any, str] = {
    ieee.exp: "exp", ieee.expm1: "expm1", ieee.log: "log", ieee.log1p: "log1p", ieee.sqrt: "sqrt", ieee.sinh: "sinh",
    ieee.cosh: "cosh", ieee.power: "power", math.pow: "power", math.fabs: "fabs",
    **{getattr(math, name): name for name in (
        "exp", "expm1", "log1p", "sqrt", "sinh", "cosh", "tanh", "sin", "cos", "tan", "asin", "acos", "atan", "asinh",
        "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "floor", "ceil", "atan2", "hypot", "copysign",
        "log2", "log10")},
    math.log: "log",
}  # fmt: skip


class Way(Exception):  # noqa: N818 (a question, not an error)
    """Raised inside a rule that asks for a truth which has not been decided yet."""

    def __init__(self, condition: str) -> None:
        super().__init__(condition)
        self.condition = condition


class Sheet:
    """The lines of one kernel body; equal steps share a line.

    >>> from gradwalk.compile.native.formulas import Number, Sheet
    >>> sheet = Sheet()
    >>> x = Number(sheet, "x")
    >>> (x * x + x * x).name, sheet.lines
    ('t2', ['t1 = x * x', 't2 = t1 + t1'])
    """

    def __init__(self, real: str = "") -> None:
        self.lines: list[str] = []
        self.decided: dict[str, bool] = {}
        self._names: dict[str, str] = {}
        self._real = real  # the function that makes a literal, where it is not a float64

    def write(self, text: str) -> Number:
        """A number made by this step."""
        name = self._names.get(text)
        if name is None:
            name = self._names[text] = f"t{len(self._names) + 1}"
            self.lines.append(f"{name} = {text}")
        return Number(self, name)

    def text(self, x: Any) -> str:
        """A number or a constant as it stands in a line."""
        if isinstance(x, Number):
            return x.name
        x = float(x)
        text = repr(x) if math.isfinite(x) else ("nan" if x != x else "inf" if x > 0 else "-inf")
        return f"{self._real}({text})" if self._real else (f"({text})" if text.startswith("-") else text)


def _operator(symbol: str) -> tuple[Any, Any]:
    """An operator of `Number` and its reflected form."""

    def forth(self: Number, other: Any) -> Any:
        return self.step(symbol, self, other)

    def back(self: Number, other: Any) -> Any:
        return self.step(symbol, other, self)

    return forth, back


class Number:
    """A number in a kernel that is being written: what is done to it is written down.

    >>> from gradwalk import ops
    >>> from gradwalk.compile.native.formulas import Number, Sheet
    >>> sheet = Sheet()
    >>> ops.tanh(Number(sheet, "x") + 1.0).name, sheet.lines
    ('t2', ['t1 = x + 1.0', 't2 = tanh(t1)'])
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, sheet: Sheet, name: str) -> None:
        self.sheet = sheet
        self.name = name

    def step(self, symbol: str, left: Any, right: Any) -> Any:
        """`left symbol right`, or NotImplemented if one of them is no number."""
        for x in (left, right):
            if not isinstance(x, (Number, int, float)):
                return NotImplemented
        text = self.sheet.text
        return self.sheet.write(f"{text(left)} {symbol} {text(right)}")

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __lt__, __gt__ = _operator("<")[0], _operator(">")[0]
    __le__, __ge__ = _operator("<=")[0], _operator(">=")[0]
    __and__, __rand__ = _operator("&")
    __or__, __ror__ = _operator("|")

    def __eq__(self, other: object) -> Any:
        return self.step("==", self, other)

    def __ne__(self, other: object) -> Any:
        return self.step("!=", self, other)

    def __neg__(self) -> Number:
        return self.sheet.write(f"-{self.name}")

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Number:
        return self.sheet.write(f"fabs({self.name})")

    def __pow__(self, other: Any) -> Any:
        return power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return power(other, self)

    def __bool__(self) -> bool:
        decided = self.sheet.decided.get(self.name)
        if decided is None:
            raise Way(self.name)
        return decided

    def __float__(self) -> float:
        raise TypeError("float() of an operand cannot be compiled")

    def equals(self, other: Any) -> Number:
        """Whether two numbers are equal, for `ops.equal`."""
        result: Number = self == other
        return result

    def choose(self, yes: Any, no: Any) -> Number:
        """`yes` where this condition holds, else `no`, for `ops.choose`."""
        text = self.sheet.text
        return self.sheet.write(f"{text(yes)} if {self.name} else {text(no)}")

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Any:
        return translated(op.value)(*operands)


def value(op: Op, sheet: Sheet, operands: Sequence[Any]) -> str:
    """Write the value of `op` at `operands`, `Number`s or floats; gives its name.

    >>> from gradwalk import ops
    >>> from gradwalk.compile.native.formulas import Number, Sheet, value
    >>> sheet = Sheet()
    >>> value(ops.relu, sheet, [Number(sheet, "x")]), sheet.lines
    ('t2', ['t1 = x <= 0.0', 't2 = 0.0 if t1 else x'])
    """
    return _written(translated(op.value), sheet, operands, f"the value of {op.name}")


def slopes(op: Op, sheet: Sheet, operands: Sequence[Any], out: Any, wanted: Sequence[int]) -> list[str]:
    """Write the derivatives of `op` with respect to the `wanted` operands; gives their names.

    >>> from gradwalk import ops
    >>> from gradwalk.compile.native.formulas import Number, Sheet, slopes
    >>> sheet = Sheet()
    >>> slopes(ops.mul, sheet, [Number(sheet, "x"), Number(sheet, "y")], Number(sheet, "out"), [0, 1])
    ['y', 'x']
    """
    return [
        _written(translated(op.partials[i]), sheet, [*operands, out], f"the derivative of {op.name} in operand {i + 1}")
        for i in wanted
    ]


def power(x: Any, y: Any) -> Any:
    """`x ** y`; simple powers need not go through logarithms."""
    sheet = (x if isinstance(x, Number) else y).sheet
    if not isinstance(y, Number) and float(y) in SIMPLE_POWERS:
        return sheet.write(f"{SIMPLE_POWERS[float(y)]}({sheet.text(x)})")
    return sheet.write(f"power({sheet.text(x)}, {sheet.text(y)})")


def translated(function: Any) -> Callable[..., Any]:
    """`function`, with whatever it calls of `math` and `gradwalk.ieee` replaced by what writes a line."""
    if function in (ieee.power, math.pow):
        return power
    if function is ieee.div:
        return lambda x, y: x / y
    if isinstance(function, (FunctionType, BuiltinFunctionType)) and function in NATIVE:
        return _call(NATIVE[function])
    if not isinstance(function, FunctionType):
        return function  # type: ignore[no-any-return]
    names = _names_in(function.__code__)
    scope = {name: _replaced(x) for name, x in function.__globals__.items() if name in names}
    scope["__builtins__"] = function.__globals__.get("__builtins__", __builtins__)
    cells = None
    if function.__closure__ is not None:
        cells = tuple(CellType(_replaced(cell.cell_contents)) for cell in function.__closure__)
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _names_in(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names


def _replaced(x: Any) -> Any:
    """What a rule sees instead of `x`, a global or a variable of its surroundings."""
    if isinstance(x, BuiltinFunctionType) and x in NATIVE:
        return translated(x)
    if isinstance(x, FunctionType) and x not in (choose, equal):
        return _Later(x)
    if x is math or x is ieee:
        return _Translated(x)
    return x


class _Later:
    """A function that is translated when it is called: two functions may call each other."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *operands: Any) -> Any:
        return translated(self.function)(*operands)


class _Translated:
    """A module whose functions write lines."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return _replaced(getattr(self.module, name))


def _call(name: str) -> Callable[..., Any]:
    def write(*operands: Any) -> Any:
        for x in operands:
            if isinstance(x, Number):
                return x.sheet.write(f"{name}({', '.join(map(x.sheet.text, operands))})")
        native = next(f for f, other in NATIVE.items() if other == name)
        return native(*operands)

    return write


def _written(rule: Callable[..., Any], sheet: Sheet, arguments: Sequence[Any], part: str) -> str:
    """The name of what `rule` gives, over every way it can go."""
    ways = 0

    def follow() -> str:
        nonlocal ways
        ways += 1
        if ways > MOST_WAYS:
            raise OpError(f"{part} branches in more than {MOST_WAYS} ways; write its branches with gradwalk.where")
        try:
            return sheet.text(rule(*arguments))
        except Way as way:
            condition = way.condition
        sheet.decided[condition] = True
        yes = follow()
        sheet.decided[condition] = False
        no = follow()
        del sheet.decided[condition]
        return yes if yes == no else sheet.write(f"{yes} if {condition} else {no}").name

    try:
        return follow()
    except OpError:
        raise
    except Exception as error:
        raise OpError(
            f"{part} cannot be compiled: it raised {type(error).__name__} ({error}); "
            "write it with operators, Python's if, and functions of gradwalk or math"
        ) from error
    finally:
        sheet.decided.clear()
