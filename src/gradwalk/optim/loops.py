"""An optimiser's rule applied to all parameters: in one loop if the rule can be written down, else one by one.

A call for each parameter costs more than the arithmetic of a rule. So a rule that depends on its numbers alone (see
`formulas.for_closed_rules`) is run on symbols once, and what it does is put into the loop itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from gradwalk import formulas, ieee, ops
from gradwalk.errors import OpError, SettingError
from gradwalk.formulas.lines import INFIX, in_python, indented, python_function
from gradwalk.ieee import Ieee

__all__: list[str] = []

Column = list[float]  # a number for each parameter

#: Functions that a loop may call: none of them raises.
FUNCTIONS: dict[str, Any] = {
    "div": ieee.div, "power": ieee.power, "root": math.sqrt, "fabs": math.fabs, "nan": math.nan, "inf": math.inf,
    **{name: ops.TABLE[name].value for name in ("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos",
                                                "atan", "sinh", "cosh", "tanh", "erf")},
}  # fmt: skip


def apply(update: Callable[..., Any], parameters: list[Any], gradients: Column, memory: list[Column],
          constants: Sequence[Any]) -> None:  # fmt: skip
    """Change parameters and the columns of their memory as the rule says; nothing is changed if it raises."""
    loop = _loop(update, len(memory), len(constants))
    if loop is not None and all(isinstance(x, (int, float)) for x in constants):
        loop(parameters, gradients, *memory, *constants)
        return
    numbers = [p.data for p in parameters], gradients, *memory, *map(repeat, constants)
    try:
        rows = list(map(update, *numbers))
    except ArithmeticError:  # Python raises where IEEE 754 has inf or nan
        rows = [update(*map(Ieee, row)) for row in zip(*numbers, strict=False)]
    rows = [tuple(map(float, row if isinstance(row, (tuple, list)) else (row,))) for row in rows]
    for row in rows:
        if len(row) != 1 + len(memory):
            raise SettingError(
                f"{update.__qualname__} gave {len(row)} number(s), and must give {1 + len(memory)}: "
                "the parameter's new number, and what is remembered of it"
            )
    for p, row in zip(parameters, rows, strict=True):
        p.data = row[0]
    for i, column in enumerate(memory, start=1):
        column[:] = [row[i] for row in rows]


def written(
    update: Callable[..., Any],
    memory: list[str],
    constants: list[str],
    around: Callable[[list[str], list[str]], list[str]],
    language: formulas.Language,
    **options: bool,
) -> list[str]:
    """The lines of a loop that applies a rule to `x`, `g`, memory and constants; see `formulas.loop`."""
    sheet = formulas.Sheet()
    found = formulas.explore(update, sheet.inputs("x", "g", *memory, *constants))
    results = found if isinstance(found, tuple) else (found,)
    if len(results) != 1 + len(memory):
        raise OpError(f"the rule gives {len(results)} numbers, and must give {1 + len(memory)}")
    return formulas.loop(sheet, results, constants, around, language, **options)


@formulas.for_closed_rules
def _loop(update: Callable[..., Any], kept: int, count: int) -> Callable[..., None]:
    """A function of parameters, gradients, memory and constants that applies a rule in one loop."""
    memory, constants = [f"m{i}" for i in range(kept)], [f"c{i}" for i in range(count)]
    columns = {"p": "parameters", "g": "gradients", **{name: f"{name}s" for name in memory}}

    def around(lines: list[str], names: list[str]) -> list[str]:
        stored = [f"{m}s[i] = {new}" for m, new in zip(memory, names[1:], strict=True) if m != new]
        body = [*lines, f"p.data = {names[0]}", *stored]
        used = {"p", "g", *re.findall(r"\w+", " ".join(body))}
        head = {name: column for name, column in columns.items() if name in used}
        head |= {"i": "range(len(gradients))"} if stored else {}
        return [f"for {', '.join(head)} in zip({', '.join(head.values())}):", *indented(["x = p.data", *body])]

    head = f"def loop({', '.join([*columns.values(), *constants])}):"
    text = [head, *indented(written(update, memory, constants, around, LANGUAGE))]
    return python_function(text, FUNCTIONS, f"{__file__}: {update.__qualname__}")  # a file that is not the user's


def _never_raising(op: str, texts: Sequence[str], operands: Sequence[Any]) -> str:
    if op == "/":
        return f"{texts[0]} / {texts[1]} if {texts[1]} else div({texts[0]}, {texts[1]})"
    if op == "sqrt":
        return f"root({texts[0]}) if {texts[0]} >= 0.0 else nan"
    if op not in {*INFIX, *FUNCTIONS, "neg", "choose", "**"}:
        raise OpError(f"{op} may raise")
    return in_python(op, texts, operands)


LANGUAGE = formulas.Language(_never_raising, nesting=frozenset({"+", "-", "*", "neg"}))
