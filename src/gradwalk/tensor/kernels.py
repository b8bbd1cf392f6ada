"""The op table on arrays: every op's value, and the way back through it, from the entry that Values use.

A rule of the table is plain arithmetic. Run on symbols it becomes text: `exp` of `x` with upstream `g` gives back
`g * out`. That text, over the functions of an array provider, is what runs on arrays; over the ops themselves it runs
on tensors, and gives gradients that can be differentiated again. No derivative is written down a second time.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from gradwalk import formulas, ops
from gradwalk.errors import OpError
from gradwalk.formulas.lines import Language, python_function
from gradwalk.formulas.rules import slopes
from gradwalk.formulas.sheet import Sheet, Symbol
from gradwalk.ops import TABLE, Op
from gradwalk.tensor import arrays

__all__ = ["call", "kernel", "pulls", "pulls_on_tensors"]

#: How a step of a formula is called in the text, where its own name is no name in Python.
NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow", "<": "less", "<=": "less_equal", ">": "greater",
         ">=": "greater_equal", "==": "equals", "!=": "differs", "&": "both", "|": "either", "fabs": "abs"}  # fmt: skip
ARRAYS = Language(lambda op, texts, _: f"{NAMES.get(op, op)}({', '.join(texts)})")

Pull = Callable[..., Any]  # of upstream, operands and result: what flows back to one operand

known: dict[Op, Callable[..., Any]] = {}  # kernels that have been asked for
pulls_known: dict[Op, tuple[Pull | None, ...]] = {}
_pulls_on_tensors: dict[Op, tuple[Pull | None, ...]] = {}


_maker: Any = arrays.now  # whose functions the kernels are made of
_made_of: dict[str, tuple[dict[Op, Any], dict[Op, Any]]] = {}  # for providers that are there to stay, by their names


def _change_maker() -> None:
    """What was made for one provider does not serve another; for this one it is kept."""
    global _maker
    if isinstance(_maker, ModuleType):
        _made_of[_maker.__name__] = known.copy(), pulls_known.copy()
    _maker = arrays.now
    before = _made_of.get(_maker.__name__ if isinstance(_maker, ModuleType) else "", ({}, {}))
    known.clear()
    known.update(before[0])
    pulls_known.clear()
    pulls_known.update(before[1])


arrays.listeners.append(_change_maker)


def call(name: str, *operands: Any) -> Any:
    """A function of the provider on arrays, or an op on tensors: what is in `operands` decides.

    >>> call("+", 1.0, arrays.now.new([2.0], "float64")).tolist()
    [3.0]
    """
    if any(hasattr(x, "__gradwalk_op__") for x in operands):
        return _ON_TENSORS[name](*operands)
    return arrays.now.functions[name](*operands)


def kernel(op: Op) -> Callable[..., Any]:
    """The value of an op on arrays: the provider's function of that name, or the op's own, number by number.

    >>> kernel(ops.relu)(arrays.now.new([-1.0, 2.0], "float64")).tolist()
    [0.0, 2.0]
    """
    found = known.get(op)
    if found is None:
        symbol = op.symbol if op.symbol in NAMES else op.name
        found = arrays.now.functions[symbol] if TABLE.get(op.name) is op else partial(_each, op.forward)
        known[op] = found
    return found


def _each(f: Callable[..., float], *operands: Any) -> Any:
    return arrays.now.each(f, operands)


def pulls(op: Op) -> tuple[Pull | None, ...]:
    """For each operand what flows back to it, on arrays, inside `quietly`; None where nothing ever does.

    >>> g, x, out = (arrays.now.new([x], "float64") for x in (3.0, 0.0, 1.0))
    >>> pulls(ops.exp)[0](g, x, out).tolist()
    [3.0]
    """
    found = pulls_known.get(op)
    if found is None:
        scope = {NAMES.get(name, name): function for name, function in arrays.now.bare.items()}
        found = pulls_known[op] = tuple(_made(op, i, scope) or partial(_by_numbers, op, i) for i in range(op.arity))
        if op is ops.where:
            found = pulls_known[op] = (None, *found[1:])
        elif op is ops.pow:
            found = pulls_known[op] = (partial(_power_base, found[0] or _by_numbers), found[1])
    return found


def pulls_on_tensors(op: Op) -> tuple[Pull | None, ...]:
    """The same on tensors, for gradients that are differentiated again.

    >>> len(pulls_on_tensors(ops.mul))
    2
    """
    found = _pulls_on_tensors.get(op)
    if found is None:
        scope = {NAMES.get(name, name): function for name, function in _ON_TENSORS.items()}
        found = tuple(_made(op, i, scope) or partial(_by_rule, op, i) for i in range(op.arity))
        _pulls_on_tensors[op] = found = (None, *found[1:]) if op is ops.where else found
    return found


def _power_base(general: Pull, g: Any, x: Any, y: Any, out: Any) -> Any:
    """`x ** 2`, with a number up there, needs no look at every exponent; a test holds it to the table."""
    functions = arrays.now.bare
    if y.__class__ is not float or y == 0.0:
        return general(g, x, y, out)
    return functions["*"](g, functions["*"](y, functions["**"](x, y - 1.0) if y != 2.0 else x))


def _made(op: Op, position: int, scope: dict[str, Any]) -> Pull | None:
    """The pull as a function over the names of `scope`; None if the rule cannot be written down."""
    sheet = Sheet(whole_ops=True)
    names = [f"x{i}" for i in range(op.arity)]
    symbols = sheet.inputs(*names, "out", "g")
    *operands, out, g = symbols
    try:
        (slope,) = slopes(op, operands, out, [position])
    except OpError:
        return None
    share = _times(sheet, slope, g)
    lines, (result,) = formulas.lines(sheet, [share], ARRAYS)
    text = [f"def pull({', '.join(['g', *names, 'out'])}):", *[f"    {line}" for line in [*lines, f"return {result}"]]]
    needed = {name for line in text for name in scope if f"{name}(" in line}
    if any(step[0] not in (*NAMES, "input", *scope) for step in sheet.steps):
        return None  # a function that arrays do not have
    scope = {name: scope[name] for name in needed} | {"inf": math.inf, "nan": math.nan}
    return python_function(text, scope, f"{__file__}: {op.name}")


def _times(sheet: Sheet, slope: Any, g: Symbol) -> Any:
    """`g * slope`. Of a choice between slopes each side is multiplied by itself, so that 0 × inf is never computed."""
    if not isinstance(slope, Symbol):
        return 0.0 if slope == 0.0 else g if slope == 1.0 else -g if slope == -1.0 else g * slope
    name, *operands = sheet.steps[slope.position]
    if name != "choose":
        return g * slope
    condition, yes, no = (x if isinstance(x, float) else Symbol(sheet, x) for x in operands)
    return condition.__gradwalk_choose__(_times(sheet, yes, g), _times(sheet, no, g))  # type: ignore[union-attr]


def _by_numbers(op: Op, position: int, g: Any, *operands_and_out: Any) -> Any:
    """The pull of an op whose rule cannot be written down: its slope for each number."""
    slope = arrays.now.each(partial(op.slope, position), operands_and_out)
    return arrays.now.bare["*"](g, slope)


def _by_rule(op: Op, position: int, g: Any, *operands_and_out: Any) -> Any:
    try:
        return g * op.partials[position](*operands_and_out)
    except Exception as error:
        raise OpError(
            f"the derivative of {op.name} with respect to operand {position + 1} cannot be run on tensors "
            f"({type(error).__name__}: {error}), so there is no second derivative; write it with operators and "
            "gradwalk's own functions, and gradwalk.where instead of if"
        ) from error


#: What a comparison is on plain numbers.
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
                "!=": operator.ne, "&": operator.and_, "|": operator.or_}  # fmt: skip


def _compared(name: str) -> Callable[..., Any]:
    def compare(x: Any, y: Any) -> Any:
        for one in (x, y):
            if hasattr(one, "__gradwalk_op__"):
                return one.compared(name, x, y)
        return _COMPARISONS[name](x, y)

    return compare


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    return (yes if condition else no) if isinstance(condition, bool) else ops.where(condition, yes, no)


_ON_TENSORS: dict[str, Callable[..., Any]] = {
    **TABLE,
    "+": ops.add, "-": ops.sub, "*": ops.mul, "/": ops.div, "**": ops.pow, "neg": ops.neg, "fabs": ops.abs,
    "choose": _chosen,
    **{name: _compared(name) for name in _COMPARISONS},
}  # fmt: skip
