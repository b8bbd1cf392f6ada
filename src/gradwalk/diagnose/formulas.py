"""Which formula an op computes: its value and slopes are measured at several points, and the formula is recognised.

Every short expression in the op's operands and result is evaluated at the same points, shortest first. The first one
that gives the same numbers is what the op computes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from operator import add, mul, sub, truediv
from typing import Any

from gradwalk.diagnose import teaching
from gradwalk.diagnose.comparison import Comparison
from gradwalk.diagnose.examination import Failure
from gradwalk.diagnose.museum.faults import Fault, right_slopes, right_value
from gradwalk.diagnose.op_probes import REVERSED, at_points, evidence
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.matcher import Outcome, same

__all__ = ["Measured", "Point", "evaluate", "measure", "pretty", "recognise"]

Point = Mapping[str, float]  # x, y, n and the result z
Numbers = tuple[float, ...]


#: The wrong derivatives that have a specimen of their own: op, operand, formula.
FAMOUS = {
    ("tanh", 0, "(1.0 - x * x)"): "tanh-of-its-input",
    ("sigmoid", 0, "1.0"): "sigmoid-with-slope-one",
    ("exp", 0, "x * exponential(x - 1.0)"): "exp-as-a-power",
    ("sub", 1, "1.0"): "minus-without-its-sign",
    ("log", 0, "logarithm(x)"): "log-slope-is-log",
    ("pow", 0, "(power(x, n - 1) if n != 0 else 0.0)"): "power-without-its-factor",
    ("pow", 0, "power(x, n - 1)"): "power-without-its-factor",
}


@dataclass(frozen=True)
class Measured:
    """What an op does by itself: faults that formulas were found for, or the first point where it is wrong.

    `answer`: how what it pushes depends on the upstream gradient, if it is not in proportion to it.

    >>> from gradwalk.diagnose.examination import Examination
    >>> comparison = Comparison(Examination(Engine(museum.find("log-slope-is-log").engine())))
    >>> measure(comparison, "log").faults[0].formula
    'logarithm(x)'
    """

    faults: tuple[Fault, ...] = ()
    failure: Failure | None = None
    answer: str = ""


def measure(comparison: Comparison, op: str) -> Measured:
    """Measure an op of an engine.

    >>> from gradwalk.diagnose.examination import Examination
    >>> measure(Comparison(Examination(Engine(Value))), "tanh").faults
    ()
    """
    wrong = comparison.wrong(evidence(op))
    failure = comparison.examination.failure(wrong[0]) if wrong else None
    first = Measured((), failure)
    if op in REVERSED:
        return first
    outcomes = [comparison.examination.outcome(program) for program in at_points(op)]
    if any(outcome.kind != "numbers" for outcome in outcomes):
        return first
    points = [_point(op, program, outcome) for program, outcome in zip(at_points(op), outcomes, strict=True)]
    faults = _value_fault(op, points)
    if faults is None:
        return first
    for operand, right in enumerate(right_slopes(op)):
        got = [outcome.numbers["ab"[operand] + ".grad"] for outcome in outcomes]
        if all(map(same, got, evaluate(right, points))):
            continue
        if not any(got):
            faults += (Fault("detached", op, operand),)
            continue
        formula = _slope_formula(op, operand, points, got, right)
        if formula is None:
            return first
        specimen = FAMOUS.get((op, operand, formula), "")
        faults += (Fault("slope", op, operand, formula, specimen),)
    detached = [fault for fault in faults if fault.kind == "detached"]
    if len(detached) == len(right_slopes(op)):  # nothing at all arrives
        faults = (*(fault for fault in faults if fault not in detached), Fault("detached", op))
    return Measured(faults, failure)


def _point(op: str, program: Probe, outcome: Outcome) -> Point:
    """The operands and the result of a program that tries one op."""
    numbers = [float(x) for x in re.findall(r"Value\((.*)\)", program.text)]
    point = dict(zip("xy", numbers, strict=False))
    point["z"] = outcome.numbers["c.data" if op in SYMBOL else "b.data"]
    if op == "pow":
        point["n"] = float(program.text.split("** ")[1].split("\n")[0])
    return point


def _value_fault(op: str, points: list[Point]) -> tuple[Fault, ...] | None:
    """None if the value is wrong in a way that no formula was found for."""
    got = [point["z"] for point in points]
    if all(map(same, got, evaluate(right_value(op), points))):
        return ()
    known = _turned_round(right_value(op))
    without = [{name: x for name, x in point.items() if name != "z"} for point in points]
    formula = recognise(op, without, got, known)
    return None if formula is None else (Fault("value", op, formula=formula),)


def _slope_formula(op: str, operand: int, points: list[Point], got: list[float], right: str) -> str | None:
    known = [text for (name, place, text) in FAMOUS if (name, place) == (op, operand)]
    found = recognise(op, points, got, known)
    factors = sorted({g / r for g, r in zip(got, evaluate(right, points), strict=True) if r})
    scaled = f"{factors[0]:.12g} * {right}" if factors else ""
    if (
        scaled
        and _all_same(evaluate(scaled, points), got)
        and (found is None or len(pretty(scaled)) < len(pretty(found)))
    ):
        return scaled
    return found


def _turned_round(text: str) -> list[str]:
    """The same formula with its operands exchanged, if it has two."""
    other = "y" if re.search(r"\by\b", text) else "n"
    if not re.search(rf"\b{other}\b", text):
        return []
    return [re.sub(rf"\b[x{other}]\b", lambda found: other if found.group() == "x" else "x", text)]


# --- recognising a formula by its numbers --------------------------------------------------------------------------

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
}  # fmt: skip
_CONSTANTS = ("1.0", "2.0", "0.0", "0.5", "3.0")


@dataclass(frozen=True)
class _Term:
    text: str
    numbers: Numbers
    plain: bool  # an atom, which needs no brackets


def recognise(op: str, points: Sequence[Point], target: Sequence[float], known: Sequence[str] = ()) -> str | None:
    """The shortest formula that gives these numbers at these points; those in `known` are tried first.

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
        found = _shortest(terms, target)
        if found:
            return found.text
        found = _shortest(terms, negated)
        if found:
            return f"-{found.text}" if found.plain else f"-({found.text})"
    return None


def _shortest(terms: Sequence[_Term], target: Sequence[float]) -> _Term | None:
    """Of the terms that give these numbers, the one that takes the fewest letters: `1 - z * 2`, not `(0.5 - z) * 2`."""
    fitting = (term for term in terms if _all_same(term.numbers, target))
    return min(fitting, key=lambda term: len(pretty(term.text)), default=None)


def evaluate(text: str, points: Sequence[Point]) -> Numbers:
    """A formula's numbers at these points; nan where it has none.

    >>> evaluate("x / y", [{"x": 1.0, "y": 4.0}, {"x": 1.0, "y": 0.0}])
    (0.25, nan)
    """
    code = compile(text, "<formula>", "eval")

    def at(point: Point) -> float:
        try:
            return float(eval(code, _names(), dict(point)))
        except (ArithmeticError, ValueError, TypeError):
            return math.nan

    return tuple(map(at, points))


def pretty(formula: str) -> str:
    """A formula as a learner would write it.

    >>> pretty("n * power(x, n - 1)"), pretty("1.0 - z * z")
    ('n * x**(n - 1)', '1 - out * out')
    """
    text = re.sub(
        r"power\((\w+), ([^()]*)\)", lambda m: f"{m[1]}**({m[2]})" if " " in m[2] else f"{m[1]}**{m[2]}", formula
    )
    for long, short in (("exponential", "exp"), ("logarithm", "log"), ("logistic", "sigmoid"), ("math.", "")):
        text = text.replace(long, short)
    text = re.sub(r"divide\(([^(),]*), ([^(),]*)\)", r"\1 / \2", text)
    text = re.sub(r"\bz\b", "out", text)
    text = re.sub(r"\b\d+\.\d{7,}\b", lambda found: f"{float(found.group()):.6g}", text)
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
    yield [*_combined(pairs, atoms), *_combined(atoms, pairs, signs="-/")]  # sums and products once


def _combined(lefts: Sequence[_Term], rights: Sequence[_Term], signs: str = "*-+/") -> Iterator[_Term]:
    for sign in signs:
        combine = _SIGNS[sign]
        for left, right in product(lefts, rights):
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


_SIGNS: dict[str, Callable[..., float]] = {"+": add, "-": sub, "*": mul, "/": truediv}


def _all_same(numbers: Sequence[float], target: Sequence[float]) -> bool:
    return all(map(same, numbers, target))


@cache
def _names() -> dict[str, Any]:
    """What a formula may call."""
    names: dict[str, Any] = {"math": math}
    exec(compile(teaching.EDGES, "<formulas>", "exec"), names)
    return names
