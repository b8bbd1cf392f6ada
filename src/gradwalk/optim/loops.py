"""An optimiser's rule applied to all parameters: in one loop if the rule can be written down, else one by one.

A call for each parameter costs more than the arithmetic of a rule. So a rule that depends on its numbers alone (see
`formulas.for_closed_rules`) is run on symbols once, and what it does is put into the loop itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any

from gradwalk import formulas
from gradwalk.errors import OpError, SettingError
from gradwalk.formulas.lines import indented, python_function
from gradwalk.formulas.rules import FUNCTIONS
from gradwalk.ieee import Ieee

__all__: list[str] = []

Column = list[float]  # a number for each parameter

LANGUAGE = formulas.Language(nesting=frozenset({"+", "-", "*", "/", "neg", *FUNCTIONS.values()}))
SCOPE = {"power" if name == "**" else name: function for function, name in FUNCTIONS.items()}


def apply(
    update: Callable[..., Any], numbers: Column, gradients: Column, memory: list[Column], constants: Sequence[Any]
) -> list[Column]:
    """The parameters' numbers after a step, and their memory, as the rule says."""
    loop = _loop(update, len(memory), len(constants))
    if loop is not None and all(isinstance(x, (int, float)) for x in constants):
        columns = [list(column) for column in (numbers, *memory)]
        with suppress(ArithmeticError, ValueError):  # Python raises where IEEE 754 has inf or nan
            loop(gradients, *columns, *constants)
            return columns
    given = numbers, gradients, *memory, *map(repeat, constants)
    try:
        rows = list(map(update, *given))
    except ArithmeticError:
        rows = [update(*map(Ieee, row)) for row in zip(*given, strict=False)]
    rows = [tuple(map(float, row if isinstance(row, (tuple, list)) else (row,))) for row in rows]
    for row in rows:
        if len(row) != 1 + len(memory):
            raise SettingError(
                f"{update.__qualname__} gave {len(row)} number(s), and must give {1 + len(memory)}: "
                "the parameter's new number, and what is remembered of it"
            )
    return [list(column) for column in zip(*rows, strict=True)]


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
    """A function of gradients, numbers, memory and constants that applies a rule in one loop."""
    memory, constants = [f"m{i}" for i in range(kept)], [f"c{i}" for i in range(count)]
    columns = ["g", "x", *memory]

    def around(lines: list[str], names: list[str]) -> list[str]:
        body = lines + [f"{old}s[i] = {new}" for old, new in zip(columns[1:], names, strict=True) if old != new]
        used = [name for name in columns if name in re.findall(r"\w+", " ".join(body))]
        head = f"for {', '.join(['i', *used])} in zip({', '.join(['range(len(gs))', *(f'{name}s' for name in used)])}):"
        return [head, *indented([*body, "pass"])]

    head = f"def loop({', '.join([*(f'{name}s' for name in columns), *constants])}):"
    text = [head, *indented(written(update, memory, constants, around, LANGUAGE))]
    return python_function(text, SCOPE, f"{__file__}: {update.__qualname__}")  # a file that is not the user's
