"""An op measured by itself: its value and slopes at several points, and the formulas that give these numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gradwalk.diagnose.case import Case
from gradwalk.diagnose.checks import SYMBOL, on_points
from gradwalk.diagnose.evidence import REVERSED, evidence
from gradwalk.diagnose.museum.faults import Fault, right_slopes, right_value
from gradwalk.diagnose.museum.formulas import Point, evaluate, recognise
from gradwalk.diagnose.programs import Outcome, Program, same
from gradwalk.diagnose.trial import Failure

__all__ = ["Measured", "measure"]

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

    >>> from gradwalk.diagnose import museum
    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.case import Case
    >>> from gradwalk.diagnose.measuring import measure
    >>> from gradwalk.diagnose.trial import Trial
    >>> case = Case(Trial(Engine(museum.find("log-slope-is-log").engine())))
    >>> measure(case, "log").faults[0].formula
    'logarithm(x)'
    """

    faults: tuple[Fault, ...] = ()
    failure: Failure | None = None


def measure(case: Case, op: str) -> Measured:
    """Measure an op of a case.

    >>> from gradwalk import Value
    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.case import Case
    >>> from gradwalk.diagnose.measuring import measure
    >>> from gradwalk.diagnose.trial import Trial
    >>> measure(Case(Trial(Engine(Value))), "tanh").faults
    ()
    """
    wrong = case.wrong(evidence(op))
    failure = Failure(wrong[0], case.trial.outcome(wrong[0]), wrong[0].expected()) if wrong else None
    first = Measured((), failure)
    if op in REVERSED:
        return first
    outcomes = [case.trial.outcome(program) for program in on_points(op)]
    if any(outcome.kind != "numbers" for outcome in outcomes):
        return first
    points = [_point(op, program, outcome) for program, outcome in zip(on_points(op), outcomes, strict=True)]
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


def _point(op: str, program: Program, outcome: Outcome) -> Point:
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
    factors = {g / r for g, r in zip(got, evaluate(right, points), strict=True) if r}
    return recognise(op, points, got, [*known, *(f"{factor:.6g} * {right}" for factor in sorted(factors)[:1])])


def _turned_round(text: str) -> list[str]:
    """The same formula with its operands exchanged, if it has two."""
    other = "y" if re.search(r"\by\b", text) else "n"
    if not re.search(rf"\b{other}\b", text):
        return []
    return [re.sub(rf"\b[x{other}]\b", lambda found: other if found.group() == "x" else "x", text)]
