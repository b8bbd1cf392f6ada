"""Steps as lines of a program, one assignment each, in any language; and loops over rows of numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradwalk.formulas.sheet import Sheet, Symbol

__all__ = ["Language", "lines", "loop", "used"]

INFIX = {"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "&", "|"}


def literal(x: float) -> str:
    """A number as Python (with `inf` and `nan`) reads it, fit to stand beside an operator."""
    text = repr(x) if math.isfinite(x) else ("nan" if x != x else "inf" if x > 0 else "-inf")
    return f"({text})" if text.startswith("-") else text


def in_python(op: str, texts: Sequence[str], operands: Sequence[Any]) -> str:
    """A step in Python; functions are left to whoever runs it."""
    if op in INFIX:
        return f" {op} ".join(texts)
    if op == "choose":
        return f"{texts[1]} if {texts[0]} else {texts[2]}"
    return f"-{texts[0]}" if op == "neg" else f"{'power' if op == '**' else op}({', '.join(texts)})"


@dataclass(frozen=True)
class Language:
    """How a step and a number are written: all that is needed to print steps in a language.

    >>> sheet = Sheet()
    >>> x, y = sheet.inputs("x", "y")
    >>> in_c = Language(lambda op, texts, _: f" {op} ".join(texts), assignment="double {} = {};")
    >>> lines(sheet, [x * y + 1.0], in_c)
    (['double t1 = x * y;', 'double t2 = t1 + 1.0;'], ['t2'])
    """

    # The text of an op, given the texts of its operands, and the operands themselves; and that of a number.
    expression: Callable[[str, Sequence[str], Sequence[Any]], str] = field(default_factory=lambda: in_python)
    literal: Callable[[float], str] = field(default_factory=lambda: literal)
    assignment: str = "{} = {}"
    nesting: frozenset[str] = frozenset()  # ops that may hold formulas in a loop, where a line for each costs time


PYTHON_LINES = Language()


def lines(sheet: Sheet, results: Sequence[Any], language: Language = PYTHON_LINES) -> tuple[list[str], list[str]]:
    """The lines that compute results, and what each result is called then.

    >>> sheet = Sheet()
    >>> (x,) = sheet.inputs("x")
    >>> lines(sheet, [(x + 1) * (x + 1), x])
    (['t1 = x + 1.0', 't2 = t1 * t1'], ['t2', 'x'])
    """
    names: dict[int, str] = {}
    written = _lines(sheet, sheet.needed(results), language, names, {})
    return written, [_called(sheet, x, language, names, {}) for x in results]


def _called(sheet: Sheet, x: Any, language: Language, names: dict[int, str], truths: dict[int, bool]) -> str:
    x = sheet.chosen(x, truths)
    return names[x] if isinstance(x, int) else language.literal(float(x))


def _lines(
    sheet: Sheet, positions: Sequence[int], language: Language, names: dict[int, str], truths: dict[int, bool],
    results: Sequence[Any] = (),
) -> list[str]:  # fmt: skip
    """A line for each step that has no name yet; from now on it has. What can be nested is named by its formula."""
    found = []
    temporaries = sum(sheet.steps[position][0] != "input" for position in names)
    uses: Counter[int] = Counter()  # where a formula would have to be written, were it not for a name
    for op, operands in [*((sheet.steps[i][0], sheet.steps[i][1:]) for i in positions), ("", results)]:
        for x in (sheet.chosen(operand, truths) for operand in operands):
            if isinstance(x, int):
                uses[x] += 1 if not op or op in language.nesting else 2
    for position in positions:
        op, *operands = sheet.steps[position]
        if op == "input":
            names[position] = operands[0]
        elif position not in names:
            formula = language.expression(op, [_called(sheet, x, language, names, truths) for x in operands], operands)
            if language.nesting and results and uses[position] == 1:
                names[position] = f"({formula})"
                continue
            temporaries += 1
            names[position] = f"t{temporaries}"
            found.append(language.assignment.format(names[position], formula))
    return found


def used(sheet: Sheet, results: Sequence[Any]) -> set[str]:
    """The names of the inputs that results depend on.

    >>> sheet = Sheet()
    >>> x, y = sheet.inputs("x", "y")
    >>> used(sheet, [y * 2])
    {'y'}
    """
    return {sheet.steps[i][1] for i in sheet.needed(results) if sheet.steps[i][0] == "input"}


def loop(
    sheet: Sheet,
    results: Sequence[Any],
    shared: Iterable[str],
    around: Callable[[list[str], list[str]], list[str]],
    language: Language = PYTHON_LINES,
    *,
    inverses: bool = False,
) -> list[str]:
    """A loop over rows of numbers, in Python: what depends on `shared` inputs only is done once, before it.

    A choice that depends on these only is made once too, with a loop for either side. `around` is given the lines for
    one row and the names of the results, and gives the loop. With `inverses`, a division by a number that is the same
    for all rows becomes a multiplication, right to rounding.

    >>> from gradwalk.formulas import explore
    >>> sheet = Sheet()
    >>> result = explore(lambda x, low: x * 2 / (low + 1) if low > 0 else x, sheet.inputs("x", "low"))
    >>> def around(lines, names):
    ...     return [f"for i, x in enumerate(xs): {'; '.join([*lines, f'xs[i] = {names[0]}'])}"]
    >>> for line in loop(sheet, [result], ["low"], around):
    ...     print(line)
    t1 = low > 0.0
    t2 = low + 1.0
    if t1:
        for i, x in enumerate(xs): t3 = x * 2.0; t4 = t3 / t2; xs[i] = t4
    else:
        for i, x in enumerate(xs): xs[i] = x
    """
    once: set[int] = set()
    for position in sheet.needed(results):
        op, *operands = sheet.steps[position]
        if operands[0] in shared if op == "input" else all(x in once for x in operands if isinstance(x, int)):
            once.add(position)
    for position in [i for i in sheet.needed(results) if inverses and i not in once and sheet.steps[i][0] == "/"]:
        _, x, y = sheet.steps[position]
        if y in once:
            inverse = sheet.step("/", 1.0, Symbol(sheet, y)).position
            sheet.steps[position] = ("*", x, inverse)
            once.add(inverse)
    names: dict[int, str] = {}
    before = _lines(sheet, sorted(once), language, names, {})

    def branch(truths: dict[int, bool]) -> list[str]:
        needed = sheet.needed(results, truths)
        for position in reversed(needed):  # the outermost choice first
            op, condition, *_ = sheet.steps[position]
            if op == "choose" and condition in once and position not in once:
                yes, no = (branch({**truths, condition: truth}) for truth in (True, False))
                return [f"if {names[condition]}:", *indented(yes), "else:", *indented(no)]
        own = dict(names)
        body = _lines(sheet, needed, language, own, truths, results)
        return around(body, [_called(sheet, x, language, own, truths) for x in results])

    return [*before, *branch({})]


def indented(block: Iterable[str]) -> list[str]:
    """Lines inside a block."""
    return [f"    {line}" for line in block]


def python_function(text: Iterable[str], scope: dict[str, Any], file: str) -> Callable[..., Any]:
    """The function that these lines define, over the names of `scope`; `file` is where it says it is from."""
    found: dict[str, Callable[..., Any]] = {}
    exec(compile("\n".join(text), file, "exec"), dict(scope), found)
    return found.popitem()[1]
