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
from typing import Any

from gradwalk import formulas, ops
from gradwalk.errors import OpError
from gradwalk.formulas.lines import INFIX, Language, in_python, python_function, used
from gradwalk.formulas.rules import slopes
from gradwalk.formulas.sheet import Sheet, Symbol
from gradwalk.ops import TABLE, Op
from gradwalk.tensor import arrays

__all__ = ["call", "kernel", "passed_on", "pulls", "pulls_on_tensors"]

#: How a step of a formula is called in the text, where its own name is no name in Python.
NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow", "<": "less", "<=": "less_equal", ">": "greater",
         ">=": "greater_equal", "==": "equals", "!=": "differs", "&": "both", "|": "either", "fabs": "abs"}  # fmt: skip
ARRAYS = Language(lambda op, texts, _: f"{NAMES.get(op, op)}({', '.join(texts)})")
#: For single numbers operators do, and Python's `if`; functions are the provider's, to have the same bits.
NUMBERS = Language(lambda op, *rest: (in_python if op in {*INFIX, "neg", "choose"} else ARRAYS.expression)(op, *rest))

Pull = Callable[..., Any]  # of upstream, operands and result: what flows back to one operand

_pulls_on_tensors: dict[Op, tuple[Pull, ...]] = {}


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
    found: Callable[..., Any] | None = arrays.made.kernels.get(op)
    if found is None:
        symbol = op.symbol if op.symbol in NAMES else op.name
        found = arrays.now.functions[symbol] if TABLE.get(op.name) is op else partial(_each, op.forward)
        arrays.made.kernels[op] = found
    return found


def _each(f: Callable[..., float], *operands: Any) -> Any:
    return arrays.now.each(f, operands)


def pulls(op: Op) -> tuple[Pull, ...]:
    """For each operand what flows back to it, on arrays, inside `quietly`; 0.0 where nothing does.

    Where it is quicker for arrays of one number each, a pull to both operands at once is made along with them, which
    gives a pair, or None where they are not.

    >>> g, x, out = (arrays.now.new([x], "float64") for x in (3.0, 0.0, 1.0))
    >>> pulls(ops.exp)[0](g, x, out).tolist()
    [3.0]
    """
    made = arrays.made
    found: tuple[Pull, ...] | None = made.pulls.get(op)
    if found is None:
        scope = {NAMES.get(name, name): function for name, function in arrays.now.bare.items()}
        found = tuple(_made(op, i, scope, arrays.now.on_one) or partial(_by_numbers, op, i) for i in range(op.arity))
        pair = _made_of_two(op, scope, arrays.now.on_one) if op.arity == 2 and arrays.now.on_one else None
        if pair is not None:
            made.pairs[op] = pair
        made.pulls[op] = found
    return found


def pulls_on_tensors(op: Op) -> tuple[Pull, ...]:
    """The same on tensors, for gradients that are differentiated again; 0.0 where nothing flows back.

    >>> len(pulls_on_tensors(ops.mul))
    2
    """
    found = _pulls_on_tensors.get(op)
    if found is None:
        scope = {NAMES.get(name, name): function for name, function in _ON_TENSORS.items()}
        found = tuple(_made(op, i, scope) or partial(_by_rule, op, i) for i in range(op.arity))
        _pulls_on_tensors[op] = found
    return found


def passed_on(g: Any, *_: Any) -> Any:
    """The pull of a sum: all that comes back goes on as it is.

    >>> passed_on(3.0, 1.0, 2.0)
    3.0
    """
    return g


#: Ways that need no look at every number where the second operand is a plain one; a test holds them to the table.
SHORTCUTS = {
    (ops.pow, 0): "mul(g, mul(x1, pow(x0, x1 - 1.0) if x1 != 2.0 else x0))",
    (ops.div, 0): "mul(g, 1.0 / x1)",
}


def _made(op: Op, position: int, scope: dict[str, Any], on_one: dict[str, Any] | None = None) -> Pull | None:
    """The pull as a function over the names of `scope`; None if the rule cannot be written down.

    On arrays (if there is `on_one`, the provider's names for it) those of one number go by Python's own arithmetic,
    which saves calls, and plain numbers by shortcuts.
    """
    sheet = Sheet(whole_ops=True)
    names = [f"x{i}" for i in range(op.arity)]
    symbols = sheet.inputs(*names, "out", "g")
    *operands, out, g = symbols
    try:
        (slope,) = slopes(op, operands, out, [position])
    except OpError:
        return None
    share = _times(sheet, slope, g)
    if share is g:
        return passed_on
    if any(step[0] not in (*NAMES, "input", *scope) for step in sheet.steps):
        return None  # a function that arrays do not have
    lines, (result,) = formulas.lines(sheet, [share], ARRAYS)
    scope = {**scope, "inf": math.inf, "nan": math.nan}
    if on_one and len(lines) > 1:
        needed = sorted(used(sheet, [share]))
        short, (number,) = formulas.lines(sheet, [share], NUMBERS)
        rule = _written(f"rule({', '.join(needed)})", short, number, {**scope, **on_one}, op)
        scope |= {"rule": rule, **{name: on_one[name] for name in ("double", "truth", "array")}}
        lines = [*_on_one_number(needed), *lines]
    if on_one is not None and (op, position) in SHORTCUTS:
        lines = [f"if x1.__class__ is float and x1 != 0.0: return {SHORTCUTS[op, position]}", *lines]
    return _written(f"pull({', '.join(['g', *names, 'out'])})", lines, result, scope, op)


def _on_one_number(needed: list[str]) -> list[str]:
    """What a pull begins with to go by `rule`, a function of numbers, where it may; 1/0 it leaves to the arrays."""
    plain = [x for x in needed if x not in ("g", "out")]  # which may be plain numbers
    alike = [f"({x}.__class__ is float or {x}.dtype is double or {x}.dtype is truth)" for x in plain]
    numbers = [f"{x} if {x}.__class__ is float else {x}.item()" if x in plain else f"{x}.item()" for x in needed]
    return [
        f"if {' and '.join(['g.size == 1 and g.dtype is double', *alike])}:",
        f"    try: return array(rule({', '.join(numbers)}), ndmin=g.ndim)",
        "    except ZeroDivisionError: pass",
    ]


def _made_of_two(op: Op, scope: dict[str, Any], on_one: dict[str, Any]) -> Pull | None:
    """The pull to both operands of one number each, in Python's own arithmetic; None if that is no quicker."""
    sheet = Sheet(whole_ops=True)
    *operands, out, g = sheet.inputs("x0", "x1", "out", "g")
    try:
        shares = [_times(sheet, slope, g) for slope in slopes(op, operands, out, [0, 1])]
    except OpError:
        return None
    if any(step[0] not in (*NAMES, "input", *scope) for step in sheet.steps):
        return None
    lines, results = formulas.lines(sheet, shares, NUMBERS)
    if len(lines) <= len(shares) or any(not isinstance(share, Symbol) for share in shares):
        return None
    text = [
        "n = g.ndim",
        "if x0.ndim != n or x1.ndim != n or not (g.dtype is x0.dtype is x1.dtype is double): return None",
        "g, x0, x1, out = g.item(), x0.item(), x1.item(), out.item()",
        "try:",
        *[f"    {line}" for line in lines],
        "except ZeroDivisionError: return None",
    ]
    result = ", ".join(f"array({share}, ndmin=n)" for share in results)
    return _written("pair(g, x0, x1, out)", text, result, {**scope, **on_one, "inf": math.inf, "nan": math.nan}, op)


def _written(head: str, lines: list[str], result: str, scope: dict[str, Any], op: Op) -> Callable[..., Any]:
    text = [f"def {head}:", *[f"    {line}" for line in [*lines, f"return {result}"]]]
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
