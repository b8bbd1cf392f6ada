"""Recognising a formula by its numbers: what someone's derivative is instead of what it should be.

The op's slope is measured at several points. Every short expression in the op's operands and result is evaluated at
the same points, shortest first, and the first one that gives the same numbers is what the slope is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradwalk.diagnose import teaching
from gradwalk.diagnose.programs import same

__all__ = ["Point", "evaluate", "pretty", "recognise"]

Point = Mapping[str, float]  # x, y, n and the result z
Numbers = tuple[float, ...]

#: What expressions are made of beside the operands and the result, by op.
_ATOMS: dict[str, tuple[str, ...]] = {
    "pow": ("power(x, n - 1)", "power(x, n + 1)", "power(x, 1 - n)", "power(x, n)", "power(n - 1, x)", "power(n, x)",
            "(n - 1)", "logarithm(x)"),
    "exp": ("exponential(x)", "exponential(x - 1.0)", "exponential(-x)", "logarithm(x)"),
    "log": ("logarithm(x)", "exponential(x)", "math.log10(x)", "math.log2(x)"),
    "tanh": ("math.tanh(x)", "exponential(x)", "exponential(-x)", "exponential(2.0 * x)", "logistic(x)"),
    "sigmoid": ("logistic(x)", "exponential(x)", "exponential(-x)", "math.tanh(x)"),
    "relu": ("(1.0 if x > 0.0 else 0.0)", "(1.0 if x < 0.0 else 0.0)", "(x if x > 0.0 else 0.0)",
             "(x if x < 0.0 else 0.0)"),
    "sqrt": ("math.sqrt(x)",),
    "sin": ("math.sin(x)", "math.cos(x)"),
    "cos": ("math.sin(x)", "math.cos(x)"),
    "tan": ("math.tan(x)", "math.cos(x)"),
    "sinh": ("math.sinh(x)", "math.cosh(x)"),
    "cosh": ("math.sinh(x)", "math.cosh(x)"),
    "softplus": ("logistic(x)", "exponential(x)", "exponential(-x)"),
    "abs": ("(1.0 if x > 0.0 else 0.0)", "(1.0 if x < 0.0 else 0.0)"),
    "leaky_relu": ("(1.0 if x > 0.0 else 0.0)", "(1.0 if x < 0.0 else 0.0)", "(x if x > 0.0 else 0.0)"),
}  # fmt: skip
_CONSTANTS = ("1.0", "2.0", "0.0", "0.5", "3.0")


@dataclass(frozen=True)
class _Term:
    text: str
    numbers: Numbers
    plain: bool  # an atom, which needs no brackets


def recognise(op: str, points: Sequence[Point], target: Sequence[float], known: Sequence[str] = ()) -> str | None:
    """The shortest formula that gives these numbers at these points; those in `known` are tried first.

    >>> from gradwalk.diagnose.museum.formulas import recognise
    >>> points = [{"x": x, "z": 0.0} for x in (0.5, -0.75, 2.0, -1.6)]
    >>> recognise("tanh", points, [1.0 - point["x"] ** 2 for point in points])
    '1.0 - x * x'
    """
    if not all(map(math.isfinite, target)):
        return None
    for text in known:
        if _all_same(evaluate(text, points), target):
            return text
    if target and _all_same([target[0]] * len(target), target):
        return f"{target[0]:.6g}" if target[0] % 1 else f"{target[0]:.1f}"
    negated = tuple(-x for x in target)
    for terms in _expressions(op, points):
        found = next((term for term in terms if _all_same(term.numbers, target)), None)
        if found:
            return found.text
        found = next((term for term in terms if _all_same(term.numbers, negated)), None)
        if found:
            return f"-{found.text}" if found.plain else f"-({found.text})"
    return None


def evaluate(text: str, points: Sequence[Point]) -> Numbers:
    """A formula's numbers at these points; nan where it has none.

    >>> from gradwalk.diagnose.museum.formulas import evaluate
    >>> evaluate("x / y", [{"x": 1.0, "y": 4.0}, {"x": 1.0, "y": 0.0}])
    (0.25, nan)
    """
    code = compile(text, "<formula>", "eval")
    return tuple(_number(lambda point=point: eval(code, _names(), dict(point))) for point in points)  # type: ignore[misc]


def pretty(formula: str) -> str:
    """A formula as a learner would write it.

    >>> from gradwalk.diagnose.museum.formulas import pretty
    >>> pretty("n * power(x, n - 1)"), pretty("1.0 - z * z")
    ('n * x**(n - 1)', '1 - out * out')
    """
    import re

    text = re.sub(
        r"power\((\w+), ([^()]*)\)", lambda m: f"{m[1]}**({m[2]})" if " " in m[2] else f"{m[1]}**{m[2]}", formula
    )
    for long, short in (("exponential", "exp"), ("logarithm", "log"), ("logistic", "sigmoid"), ("math.", "")):
        text = text.replace(long, short)
    text = re.sub(r"divide\(([^(),]*), ([^(),]*)\)", r"\1 / \2", text)
    text = re.sub(r"\bz\b", "out", text)
    text = re.sub(r"\b(\d+)\.0\b", r"\1", text)
    return text[1:-1] if text.startswith("(") and text.endswith(")") and text.count("(") == 1 else text


# --- all short expressions -----------------------------------------------------------------------------------------


def _expressions(op: str, points: Sequence[Point]) -> Iterator[list[_Term]]:
    """Expressions with one operand, with two, with three."""
    names = [name for name in ("x", "y", "n", "z") if name in points[0]]
    atoms = [_Term(text, evaluate(text, points), True) for text in (*_CONSTANTS, *names, *_ATOMS.get(op, ()))]
    atoms = [atom for atom in atoms if all(map(math.isfinite, atom.numbers))]
    yield atoms
    pairs = list(_combined(atoms, atoms))
    yield pairs
    sums_and_products_once = "-/"
    yield [*_combined(pairs, atoms), *_combined(atoms, pairs, sums_and_products_once)]


def _combined(lefts: Sequence[_Term], rights: Sequence[_Term], signs: str = "*-+/") -> Iterator[_Term]:
    for sign in signs:
        combine = _SIGNS[sign]
        for left in lefts:
            for right in rights:
                try:
                    numbers = tuple(map(combine, left.numbers, right.numbers))
                except (ArithmeticError, ValueError):
                    continue
                yield _Term(_written(left, sign, right), numbers, False)


def _written(left: _Term, sign: str, right: _Term) -> str:
    first = left.text if left.plain or sign in "+-" else f"({left.text})"
    is_product = "*" in right.text and "+" not in right.text and "-" not in right.text
    second = right.text if right.plain or (sign in "+-" and is_product) else f"({right.text})"
    return f"{first} {sign} {second}"


_SIGNS: dict[str, Callable[[float, float], float]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}


def _all_same(numbers: Sequence[float], target: Sequence[float]) -> bool:
    return all(map(same, numbers, target))


def _number(compute: Callable[[], Any]) -> float:
    try:
        return float(compute())
    except (ArithmeticError, ValueError, TypeError):
        return math.nan


def _names() -> dict[str, Any]:
    if not _NAMES:
        exec(compile(teaching.EDGES, "<formulas>", "exec"), _NAMES)
        _NAMES["math"] = math
    return _NAMES


_NAMES: dict[str, Any] = {}
