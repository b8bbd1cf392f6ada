"""Rules run on symbols: of ops, and of whatever else is written as a plain function of numbers.

A rule that branches in plain Python (`x if x >= y else y`) is run once for each way it can go, and the ways are put
together as a choice. Functions of `math` and of `gradwalk.ieee` become steps of the same name.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import gradwalk
from gradwalk import ieee, ops
from gradwalk.errors import OpError
from gradwalk.formulas.sheet import Sheet, Symbol, Undecided
from gradwalk.ops import Op, choose, equal

__all__ = ["explore", "for_closed_rules", "slopes", "value"]

Made = TypeVar("Made")

#: How many ways a rule may go before it is refused.
MOST_WAYS = 64

OPERATORS = (ops.add, ops.sub, ops.mul, ops.div, ops.pow, ops.neg)

#: Python functions of floats, and the names of the steps that stand for them.
FUNCTIONS: dict[Any, str] = {
    ieee.exp: "exp", ieee.expm1: "expm1", ieee.log: "log", ieee.log1p: "log1p", ieee.sqrt: "sqrt", ieee.sinh: "sinh",
    ieee.cosh: "cosh", ieee.power: "**", ieee.div: "/", math.pow: "**",
    **{getattr(math, name): name for name in (
        "exp", "expm1", "log", "log1p", "sqrt", "sinh", "cosh", "tanh", "sin", "cos", "tan", "asin", "acos", "atan",
        "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "floor", "ceil", "atan2", "hypot", "copysign",
        "fabs", "log2", "log10")},
}  # fmt: skip


def value(op: Op, operands: Sequence[Any]) -> Any:
    """The value of `op` at `operands`, symbols (one at least) or floats.

    >>> str(value(ops.relu, Sheet().inputs("x")))
    '0 if x <= 0 else x'
    """
    return explore(op.value, operands, f"the value of {op.name}")


def slopes(op: Op, operands: Sequence[Any], out: Any, wanted: Sequence[int]) -> list[Any]:
    """The derivatives of `op` with respect to the `wanted` operands.

    >>> x, y, out = Sheet().inputs("x", "y", "out")
    >>> [str(slope) for slope in slopes(ops.div, [x, y], out, [0, 1])]
    ['1 / y', '-out / y']
    """
    return [
        explore(op.partials[i], [*operands, out], f"the derivative of {op.name} in operand {i + 1}") for i in wanted
    ]


def explore(rule: Callable[..., Any], arguments: Sequence[Any], part: str = "the rule") -> Any:
    """What `rule` gives, over every way it can go: a symbol or a number, or a tuple of them.

    >>> def clipped(x, limit):
    ...     return limit if x > limit else x
    >>> str(explore(clipped, Sheet().inputs("x", "limit")))
    'limit if x > limit else x'
    """
    sheet: Sheet = next(x.sheet for x in arguments if isinstance(x, Symbol))
    run = translated(rule)
    ways = 0

    def follow() -> Any:
        nonlocal ways
        ways += 1
        if ways > MOST_WAYS:
            raise OpError(f"{part} branches in more than {MOST_WAYS} ways; write its branches with gradwalk.where")
        try:
            result = run(*arguments)
            if isinstance(result, (tuple, list)):
                return tuple(x if isinstance(x, Symbol) else float(x) for x in result)
            return result if isinstance(result, Symbol) else float(result)
        except Undecided as undecided:
            condition = undecided.condition
        sheet.decided[condition.position] = True
        yes = follow()
        sheet.decided[condition.position] = False
        no = follow()
        del sheet.decided[condition.position]
        if isinstance(yes, tuple):
            return tuple(_either(condition, *both) for both in zip(yes, no, strict=True))
        return _either(condition, yes, no)

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


def _either(condition: Symbol, yes: Any, no: Any) -> Any:
    same = [(x.position,) if isinstance(x, Symbol) else repr(x) for x in (yes, no)]
    return yes if same[0] == same[1] else condition.__gradwalk_choose__(yes, no)


def applied(sheet: Sheet, op: Op, operands: Sequence[Any]) -> Any:
    """An op on symbols: one step, or the steps of its value."""
    if sheet.whole_ops and op not in OPERATORS:
        return sheet.step(op.name, *operands)
    return translated(op.value)(*operands)


# --- what a rule calls ---------------------------------------------------------------------------------------------


def translated(function: Any) -> Callable[..., Any]:
    """`function`, with whatever it calls of `math` and `gradwalk.ieee` replaced by what makes a step."""
    if isinstance(function, (FunctionType, BuiltinFunctionType)) and function in FUNCTIONS:
        return _stepping(function, FUNCTIONS[function])
    if not isinstance(function, FunctionType):
        return function  # type: ignore[no-any-return]
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    scope = {name: _replaced(x) for name, x in function.__globals__.items() if name in names}
    scope["__builtins__"] = function.__globals__.get("__builtins__", __builtins__)
    cells = None
    if function.__closure__ is not None:
        cells = tuple(CellType(_replaced(cell.cell_contents)) for cell in function.__closure__)
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _replaced(x: Any) -> Any:
    """What a rule sees instead of `x`, a global or a variable of its surroundings."""
    if isinstance(x, BuiltinFunctionType) and x in FUNCTIONS:
        return translated(x)
    if isinstance(x, FunctionType) and x not in (choose, equal):
        return lambda *operands: translated(x)(*operands)  # when it is called: two functions may call each other
    return _Translated(x) if x is math or x is ieee else x


class _Translated:
    """A module whose functions make steps."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return _replaced(getattr(self.module, name))


def _stepping(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        for x in operands:
            if isinstance(x, Symbol):
                return x.sheet.step(name, *operands)
        return function(*operands)

    return call


# --- rules of people who were not asked ------------------------------------------------------------------------------

#: What a rule may use from outside, besides numbers, ops and functions like itself.
PURE = (gradwalk, ieee, math, ops, choose, equal, abs, bool, enumerate, float, int, len, list, max, min, pow, range,
        reversed, sum, tuple, zip, *FUNCTIONS)  # fmt: skip
#: What only a function does that keeps or fetches something, or cares which object a number is.
IMPURE = {"DELETE_ATTR", "DELETE_GLOBAL", "DELETE_SUBSCR", "IMPORT_NAME", "IS_OP", "STORE_ATTR", "STORE_GLOBAL",
          "STORE_SUBSCR"}  # fmt: skip


Outside = list[tuple[Callable[[], Any], Any]]  # what a rule uses besides its arguments: how to get it, and what it was


def for_closed_rules(make: Callable[..., Made]) -> Callable[..., Made | None]:
    """`make(rule, …)`, done once for each rule, and again whenever what the rule names is not what it was.

    It gives None for a rule that cannot be explored, and for one that is not closed: its result depends on more than
    its arguments, and numbers and functions that it names.

    >>> written = for_closed_rules(lambda rule: str(explore(rule, Sheet().inputs("x"))))
    >>> half = 0.5
    >>> def rule(x):
    ...     return half * x
    >>> first, half = written(rule), 0.25
    >>> first, written(rule), written(print)
    ('0.5 * x', '0.25 * x', None)
    """
    known: dict[tuple[Any, ...], tuple[Outside, Made | None]] = {}

    def made(*arguments: Any) -> Made | None:
        before = known.get(arguments)
        if before is not None:
            outside, found = before
            for get, x in outside:
                if get() is not x:
                    break
            else:
                return found
        used: dict[str, Any] = {}
        found = None
        with suppress(OpError):
            found = make(*arguments) if _is_closed(arguments[0], used) else None
        known[arguments] = list(used.values()), found
        return found

    return made


def _is_closed(rule: Any, found: dict[str, Any]) -> bool:
    if not isinstance(rule, FunctionType) or inspect.isgeneratorfunction(rule) or inspect.iscoroutinefunction(rule):
        return False
    for x in [*(rule.__defaults__ or ()), *(rule.__kwdefaults__ or {}).values()]:
        if not isinstance(x, (int, float)):
            return False
    outside: dict[str, Callable[[], Any]] = {}
    for name, cell in zip(rule.__code__.co_freevars, rule.__closure__ or (), strict=True):
        outside[name] = partial(getattr, cell, "cell_contents", None)
    for code in _codes(rule.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname in IMPURE:
                return False
            if instruction.opname == "LOAD_GLOBAL":
                name = instruction.argval
                outside[name] = partial(rule.__globals__.get, name, vars(builtins).get(name))
    for name, get in outside.items():
        full = f"{rule.__module__}.{rule.__qualname__}.{name}"
        if full not in found:
            x = get()
            found[full] = get, x
            allowed = isinstance(x, (int, float, Op)) or any(x is pure for pure in PURE)
            if not allowed and not _is_closed(x, found):
                return False
    return True
