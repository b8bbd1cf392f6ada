"""One engine under investigation: what it computed, beside what engines with known faults compute."""

from __future__ import annotations

from collections.abc import Iterable

from gradwalk.diagnose.checks import CHECKS
from gradwalk.diagnose.evidence import BASIC, REVERSED, composed_of, evidence, ops_in
from gradwalk.diagnose.museum.faults import ARRANGEMENTS, SHAPES, Fault, engine_with
from gradwalk.diagnose.programs import Outcome, Program, agree, run
from gradwalk.diagnose.trial import Trial

__all__ = ["Case"]

MOST_OPS = 3  # in a program whose nodes keep their operands in any order, and all in the same
GROUPS = ("ops", "chain", "reuse", "order", "numbers")  # one walk over a small graph, at ordinary points


def _is_small(text: str) -> bool:
    return sum(text.count(sign) for sign in (" + ", " - ", " * ", " / ", " ** ")) <= MOST_OPS


class Case:
    """A trial, and simulations to compare it with.

    >>> from gradwalk.diagnose import museum
    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.case import Case
    >>> from gradwalk.diagnose.museum.faults import Fault
    >>> from gradwalk.diagnose.trial import Trial
    >>> case = Case(Trial(Engine(museum.find("wrong-derivative").engine())))
    >>> case.explains((Fault("slope", "mul", 0, "x"), Fault("slope", "mul", 1, "y")), case.programs)
    True
    """

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.parts = {op: composed_of(trial.engine, op) for op in (*BASIC, *REVERSED) if self.has(op)}
        self.shapes = {self._shape(op) for op, parts in self.parts.items() if op in SHAPES and parts - {op[1:]}}
        self.by_set = self._keeps_sets()
        there = [program for program in self._programs() if trial.outcome(program).kind != "missing"]
        wrong = set(self.wrong(there))
        self.programs = sorted(there, key=lambda program: program not in wrong)  # what tells faults apart comes first
        self._simulated: dict[tuple[tuple[Fault, ...], tuple[str, ...], str, Program], Outcome] = {}

    def has(self, op: str) -> bool:
        """Whether the engine has an op of the teaching engine's.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.case import Case
        >>> from gradwalk.diagnose.trial import Trial
        >>> Case(Trial(Engine(Value))).has("rsub")
        True
        """
        return self.trial.has(self.trial.engine.called(op)) if op in REVERSED else self.trial.has(op)

    def wrong(self, programs: Iterable[Program]) -> list[Program]:
        """Those of the programs that came out wrong.

        >>> from gradwalk.diagnose import museum
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.case import Case
        >>> from gradwalk.diagnose.trial import Trial
        >>> case = Case(Trial(Engine(museum.find("reversed-division").engine())))
        >>> [program.title for program in case.wrong(case.programs)][0]
        'b = 8 / a at a = 3.5'
        """
        return [
            program for program in programs
            if (got := self.trial.outcome(program)).kind != "missing" and not agree(got, program.expected())
        ]  # fmt: skip

    def simulate(self, faults: tuple[Fault, ...], program: Program, arrangement: str = "as written") -> Outcome:
        """What comes of a program on an engine with these faults, built as this one is.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.case import Case
        >>> from gradwalk.diagnose.checks import CHECKS
        >>> from gradwalk.diagnose.museum.faults import Fault
        >>> from gradwalk.diagnose.trial import Trial
        >>> case = Case(Trial(Engine(Value)))
        >>> case.simulate((Fault("overwriting", "add"),), CHECKS["a-plus-a"].programs[0]).numbers["a.grad"]
        1.0
        """
        key = faults, tuple(sorted(self.shapes)), arrangement, program
        if key not in self._simulated:
            self._simulated[key] = run(program, engine_with(*key[:3]))
        return self._simulated[key]

    def reproduces(self, faults: tuple[Fault, ...], program: Program, arrangement: str | None = None) -> bool:
        """Whether an engine with these faults does with a program what this engine did; in any arrangement if None.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.case import Case
        >>> from gradwalk.diagnose.checks import CHECKS
        >>> from gradwalk.diagnose.trial import Trial
        >>> Case(Trial(Engine(Value))).reproduces((), CHECKS["a-plus-a"].programs[0])
        True
        """
        arrangements = ARRANGEMENTS if arrangement is None and faults else (arrangement or "as written",)
        got = self.trial.outcome(program)
        return any(agree(self.simulate(faults, program, each), got) for each in arrangements)

    def explains(
        self, faults: tuple[Fault, ...], programs: Iterable[Program], arrangement: str | None = "as written"
    ) -> bool:
        """Whether an engine with these faults does with all of the programs what this engine did.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.case import Case
        >>> from gradwalk.diagnose.trial import Trial
        >>> case = Case(Trial(Engine(Value)))
        >>> case.explains((), case.programs)
        True
        """
        if self.by_set:  # the order of a set is anyone's guess: each program may have had its own
            arrangement, programs = None, [program for program in programs if _is_small(program.text)]
        return all(self.reproduces(faults, program, arrangement) for program in programs)

    def about(self, op: str, clean: Iterable[str] = ()) -> list[Program]:
        """The programs that need this op, and beside it only ops that are known to be right.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.case import Case
        >>> from gradwalk.diagnose.trial import Trial
        >>> case = Case(Trial(Engine(Value)))
        >>> any("tanh" in program.text for program in case.about("mul", {"add"}))
        False
        """
        allowed = {op, *clean}
        known = [*evidence(op), *self.programs]
        return [p for p in dict.fromkeys(known) if op in (ops := ops_in(p.text)) and ops <= allowed and self._there(p)]

    def _shape(self, op: str) -> str:
        """How an op is made from others; a number on its right may be made into a node first, or not."""
        through = {"rsub": "radd", "rdiv": "rmul"}.get(op)
        if through in self.parts.get(op, ()):
            return f"{op}, reflected"
        if op not in ("sub", "div"):
            return op
        inner = {"sub": "neg", "div": "pow"}[op]
        return f"{op}, wrapped" if inner in composed_of(self.trial.engine, op, number=True) else op

    def _there(self, program: Program) -> bool:
        return self.trial.outcome(program).kind != "missing"

    def _programs(self) -> list[Program]:
        basic = {*BASIC, *REVERSED}
        checks = [check for check in CHECKS.values() if check.group in GROUPS and not check.extra]
        for check in checks:  # with the repeats that the checklist asks for
            self.trial.failures(check)
        return [program for check in checks for program in check.programs if ops_in(program.text) <= basic]

    def _keeps_sets(self) -> bool:
        node = self.trial.engine.leaf(2.0)
        return any(isinstance(held, (set, frozenset)) for held in getattr(node, "__dict__", {}).values())
