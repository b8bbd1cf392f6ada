"""An engine beside others: what it computed, and what engines with known faults compute on the same probes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from gradwalk.diagnose.checks import CHECKS
from gradwalk.diagnose.composition import composed_of
from gradwalk.diagnose.discovery import attributes, held
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.museum.faults import ARRANGEMENTS, SHAPES, Fault, engine_with
from gradwalk.diagnose.op_probes import BASIC, PRESET, REVERSED, evidence, ops_in, without_preset
from gradwalk.diagnose.probes import Probe, run
from gradwalk.diagnose.vocabulary import BINARY
from gradwalk.matcher import Outcome, by_type, matching, reproduces
from gradwalk.ops import TABLE

__all__ = ["AS_WRITTEN", "Candidate", "Comparison"]

MOST_OPS = 3  # in a program whose nodes keep their operands in any order, and all in the same
GROUPS = ("ops", "chain", "reuse", "order", "numbers")  # one walk over a small graph, at ordinary points
AS_WRITTEN = "as written"
_SIGNS = [TABLE[op].symbol for op in BINARY]

#: Faults of an engine, and in which order its nodes keep their operands; None for any.
Candidate = tuple[tuple[Fault, ...], str | None]


class Comparison:
    """An examination, and simulations to compare it with.

    >>> comparison = Comparison(Examination(Engine(museum.find("wrong-derivative").engine())))
    >>> comparison.explains((Fault("slope", "mul", 0, "x"), Fault("slope", "mul", 1, "y")), comparison.programs)
    True
    """

    def __init__(self, examination: Examination) -> None:
        self.examination = examination
        engine = examination.engine
        self.by_hand = engine.walks_by_hand
        self.parts = {op: composed_of(engine, op) for op in (*BASIC, *REVERSED) if self.has(op)}
        self.shapes = {self._shape(op) for op, parts in self.parts.items() if op in SHAPES and parts - {op[1:]}}
        leaf = engine.leaf(2.0)
        self.by_set = any(isinstance(held(leaf, name), (set, frozenset)) for name in attributes(leaf))
        checks = [check for check in CHECKS.values() if check.group in GROUPS and not check.extra]
        for check in checks:  # with the repeats that the checklist asks for
            examination.failures(check)
        programs = self.there(program for check in checks for program in check.programs)
        programs = [program for program in programs if ops_in(program.text) <= {*BASIC, *REVERSED}]
        wrong = set(self.wrong(programs))
        self.programs = sorted(programs, key=lambda program: program not in wrong)  # first what tells faults apart
        self._simulated: dict[tuple[tuple[Fault, ...], tuple[str, ...], str, Probe], Outcome] = {}

    def has(self, op: str) -> bool:
        """Whether the engine has an op of the teaching engine's.

        >>> Comparison(Examination(Engine(Value))).has("rsub")
        True
        """
        return self.examination.has(self.examination.engine.called(op) if op in REVERSED else op)

    def there(self, programs: Iterable[Probe]) -> list[Probe]:
        """Those of the programs that gave numbers, or did not end; an error is told by its line, not by comparing.

        >>> from gradwalk.diagnose.op_probes import at_points
        >>> len(Comparison(Examination(Engine(Value))).there(at_points("tanh")))
        6
        """
        known = [p for p in programs if self.examination.outcome(p).kind in ("numbers", "stopped")]
        return known if not self.wipes else [p for p in known if not p.title.endswith(PRESET)]

    @cached_property
    def wipes(self) -> bool:
        """Whether the walk sets the gradients of leaves anew, so that what was there before says nothing about ops.

        >>> Comparison(Examination(Engine(museum.find("leaves-reset").engine()))).wipes
        True
        """
        if self.by_hand:
            return False
        preset = [p for op in BASIC if self.has(op) for p in evidence(op) if p.title.endswith(PRESET)]
        found = [(self.examination.outcome(p), self.examination.outcome(without_preset(p))) for p in preset]
        found = [each for each in found if any(x for name, x in each[1].numbers.items() if name.endswith(".grad"))]
        return bool(found) and all(by_type(got, plain) for got, plain in found if got.kind == "numbers")

    def wrong(self, programs: Iterable[Probe]) -> list[Probe]:
        """Those of the programs that came out wrong.

        >>> comparison = Comparison(Examination(Engine(museum.find("reversed-division").engine())))
        >>> [program.title for program in comparison.wrong(comparison.programs)][0]
        'b = 8 / a at a = 3.5'
        """
        outcome = self.examination.outcome
        return [program for program in self.there(programs) if not by_type(outcome(program), program.expected())]

    def about(self, op: str, clean: Iterable[str] = ()) -> list[Probe]:
        """The programs that need this op, and beside it only ops that are known to be right.

        >>> comparison = Comparison(Examination(Engine(Value)))
        >>> any("tanh" in program.text for program in comparison.about("mul", {"add"}))
        False
        """
        allowed, known = {op, *clean}, dict.fromkeys([*evidence(op), *self.programs])
        return self.there(p for p in known if op in (ops := ops_in(p.text)) and ops <= allowed)

    # --- known faults

    def simulate(self, faults: tuple[Fault, ...], program: Probe, arrangement: str = AS_WRITTEN) -> Outcome:
        """What comes of a program on an engine with these faults, built as this one is.

        >>> comparison = Comparison(Examination(Engine(Value)))
        >>> comparison.simulate((Fault("overwriting", "add"),), CHECKS["a-plus-a"].programs[0]).numbers["a.grad"]
        1.0
        """
        key = faults, tuple(sorted(self.shapes)), arrangement, program
        if key not in self._simulated:
            self._simulated[key] = run(program, engine_with(*key[:3]))
        return self._simulated[key]

    def explains(
        self, faults: tuple[Fault, ...], programs: Iterable[Probe], arrangement: str | None = AS_WRITTEN
    ) -> bool:
        """Whether an engine with these faults does with all of the programs what this engine did.

        >>> comparison = Comparison(Examination(Engine(Value)))
        >>> comparison.explains((), comparison.programs)
        True
        """
        outcomes = self._outcomes(faults, None if self.by_set else arrangement)
        return reproduces(outcomes, self._telling(programs), self.examination.outcome)

    def reproduces(self, faults: tuple[Fault, ...], program: Probe, arrangement: str | None = None) -> bool:
        """Whether an engine with these faults does with a program what this engine did; in any arrangement if None.

        >>> Comparison(Examination(Engine(Value))).reproduces((), CHECKS["a-plus-a"].programs[0])
        True
        """
        return reproduces(self._outcomes(faults, arrangement), [program], self.examination.outcome)

    def first(self, candidates: Iterable[Candidate], programs: Iterable[Probe]) -> Candidate | None:
        """The first of the candidates that explains all of the programs, if any of them is wrong.

        >>> comparison = Comparison(Examination(Engine(museum.find("log-slope-is-log").engine())))
        >>> slopes = [(Fault("slope", "log", 0, formula),) for formula in ("x", "logarithm(x)")]
        >>> faults, _ = comparison.first([(each, "as written") for each in slopes], comparison.about("log"))
        >>> faults[0].formula
        'logarithm(x)'
        """
        runs = (
            ((faults, arrangement), self._outcomes(faults, None if self.by_set else arrangement))
            for faults, arrangement in candidates
        )
        return next(matching(runs, self._telling(programs), self.examination.outcome, Probe.expected), None)

    def _telling(self, programs: Iterable[Probe]) -> list[Probe]:
        """The programs that can tell faults apart: where sets decide, only small ones, each in an order of its own."""
        return [p for p in programs if not self.by_set or sum(p.text.count(f" {sign} ") for sign in _SIGNS) <= MOST_OPS]

    def _outcomes(self, faults: tuple[Fault, ...], arrangement: str | None) -> Callable[[Probe], Iterator[Outcome]]:
        """What an engine with these faults may do with a program."""
        arrangements = ARRANGEMENTS if arrangement is None and faults else (arrangement or AS_WRITTEN,)
        return lambda program: (self.simulate(faults, program, each) for each in arrangements)

    def _shape(self, op: str) -> str:
        """How an op is made from others; a number on its right may be made into a node first, or not."""
        through = {"rsub": "radd", "rdiv": "rmul"}.get(op)
        if through in self.parts.get(op, ()):
            return f"{op}, reflected"
        inner = {"sub": "neg", "div": "pow"}.get(op)
        wrapped = inner and inner in composed_of(self.examination.engine, op, number=True)
        return f"{op}, wrapped" if wrapped else op
