"""One engine under examination: programs are run once, and what came of them is remembered."""

from __future__ import annotations

from dataclasses import dataclass

from gradwalk.diagnose.adapter import Engine, MissingOp
from gradwalk.diagnose.checks import CHECKS, RANDOM, Check
from gradwalk.diagnose.probes import STEPS, Probe, run
from gradwalk.diagnose.random_probes import random_programs
from gradwalk.diagnose.results import CheckResult, Status
from gradwalk.diagnose.vocabulary import BINARY, REFLECTED, UNARY
from gradwalk.matcher import Outcome, by_type, same

__all__ = ["Examination", "Failure"]

NOT_YET = " is not implemented yet"
TOTAL = 3_000_000  # steps for one engine; a right one needs less than a tenth of that


@dataclass(frozen=True)
class Failure:
    """A program that did not come out right.

    >>> from gradwalk.diagnose import museum
    >>> examination = Examination(Engine(museum.SPECIMENS[0].engine()))
    >>> failure = examination.failures(CHECKS["a-plus-a"])[0]
    >>> failure.outcome.numbers["a.grad"], failure.expected.numbers["a.grad"]
    (1.0, 2.0)
    """

    program: Probe
    outcome: Outcome
    expected: Outcome

    def wrong(self) -> list[str]:
        """What was looked at and is wrong.

        >>> program = CHECKS["a-plus-a"].programs[0]
        >>> Failure(program, Outcome("numbers", {"b.data": 6.0, "a.grad": 1.0}), program.expected()).wrong()
        ['a.grad']
        """
        got = self.outcome.numbers
        return [name for name, x in self.expected.numbers.items() if name in got and not same(got[name], x)]

    def got(self, name: str) -> str:
        """A number that came out, as a sentence has it.

        >>> program = CHECKS["a-plus-a"].programs[0]
        >>> failure = Failure(program, Outcome("numbers", {"a.grad": 1.0}), program.expected())
        >>> failure.got("a.grad"), failure.right("a.grad")
        ('1', '2')
        """
        return f"{self.outcome.numbers[name]:.7g}"

    def right(self, name: str) -> str:
        """The number that is right, as a sentence has it.

        >>> program = CHECKS["a-plus-a"].programs[0]
        >>> Failure(program, Outcome("stopped"), program.expected()).right("a.grad")
        '2'
        """
        return f"{self.expected.numbers[name]:.7g}"


class Examination:
    """An engine, and every outcome so far.

    >>> Examination(Engine(Value)).judge(CHECKS["a-plus-a"]).status
    'passed'
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.outcomes: dict[Probe, Outcome] = {}
        self.steps_left = TOTAL
        self.speed: tuple[str, ...] | None = None  # a note on it, once it was measured
        self._has: dict[str, bool] = {}

    def outcome(self, program: Probe, repeats: int = 1) -> Outcome:
        """What comes of a program; with `repeats`, the first wrong outcome of that many runs.

        >>> Examination(Engine(Value)).outcome(Probe("", "a = Value(1.0)", ("a.data",))).numbers
        {'a.data': 1.0}
        """
        known = self.outcomes.get(program)
        if known is None:
            right = program.expected()
            litter = []
            for i in range(repeats):
                known = run(program, self.engine, min(STEPS, self.steps_left))
                self.steps_left -= known.steps
                if not by_type(known, right):
                    break
                litter += [object() for _ in range(2 * i + 1)]  # sets of nodes are ordered by where memory was free
            assert known is not None
            self.outcomes[program] = known
        return known

    def has(self, op: str) -> bool:
        """Whether the engine has this op at all.

        >>> Examination(Engine(Value)).has("tanh"), Examination(Engine(Value)).has("arccosecant")
        (True, False)
        """
        if op not in self._has:
            try:
                self._has[op] = hasattr(self.engine.cls, op) if op in REFLECTED.values() else bool(self.engine.find(op))
            except MissingOp:
                self._has[op] = False
        return self._has[op]

    def programs(self, check: Check) -> tuple[Probe, ...]:
        """The programs of a check; random ones are made of what the engine has.

        >>> len(Examination(Engine(Value)).programs(CHECKS["random"]))
        100
        """
        if check.name == "random":
            return random_programs([op for op in (*BINARY, "neg", *UNARY) if self.has(op)], RANDOM)
        return check.programs

    def failures(self, check: Check) -> list[Failure]:
        """The programs of a check that did not come out right; what is not implemented yet is no failure.

        >>> Examination(Engine(Value)).failures(CHECKS["diamond"])
        []
        """
        found = []
        for program in self.programs(check):
            outcome = self.outcome(program, check.repeats)
            if outcome.kind != "missing" and not by_type(outcome, program.expected()) and not _refused(check, outcome):
                found.append(self.failure(program))
        return found

    def failure(self, program: Probe) -> Failure:
        """What came of a program that did not come out right.

        >>> from gradwalk.diagnose import museum
        >>> examination = Examination(Engine(museum.find("overwriting").engine()))
        >>> examination.failure(CHECKS["a-plus-a"].programs[0]).wrong()
        ['a.grad']
        """
        return Failure(program, self.outcome(program), program.expected())

    def judge(self, check: Check) -> CheckResult:
        """How a check went.

        >>> Examination(Engine(Value)).judge(CHECKS["quiet"]).status
        'passed'
        """
        if check.group != "construction" and self.shares_state():
            return _result(check, "skipped", message="nodes share state, so that numbers depend on what came before")
        if check.name == "quiet":
            return self._quiet(check)
        if self.steps_left <= 0:
            return _result(check, "skipped", message=f"the engine has used up {TOTAL:,} steps")
        failures = self.failures(check)
        if failures:
            first = failures[0]
            status: Status = "failed" if first.outcome.kind == "numbers" else "error"
            return _result(check, status, first.program, first.outcome, first.expected, _message(first))
        programs = self.programs(check)
        refused = [self.outcome(program) for program in programs if _refused(check, self.outcome(program))]
        if refused:
            return _result(check, "skipped", message=f"a second walk is refused ({refused[0].message})")
        there = [program for program in programs if self.outcome(program).kind != "missing"]
        if not there:
            what = self.outcome(programs[0]).message if programs else "add"
            return _result(check, "missing", message=f"{what}{NOT_YET}")
        return _result(check, "passed", there[0], self.outcome(there[0]), there[0].expected())

    def shares_state(self) -> bool:
        """Whether nodes share what each should have for itself.

        >>> Examination(Engine(Value)).shares_state()
        False
        """
        return any(failure.outcome.kind == "numbers" for failure in self.failures(CHECKS["own-state"]))

    def _quiet(self, check: Check) -> CheckResult:
        for program, outcome in self.outcomes.items():
            if outcome.printed:
                message = f"{outcome.printed.strip()[:60]!r} was printed"
                return _result(check, "failed", program, message=message)
        return _result(check, "passed")


def _refused(check: Check, outcome: Outcome) -> bool:
    """Whether an engine says that it walks only once: PyTorch does so too, and it is no mistake."""
    return check.group == "repeat" and outcome.error == "RuntimeError"


def _result(
    check: Check,
    status: Status,
    program: Probe | None = None,
    got: Outcome | None = None,
    expected: Outcome | None = None,
    message: str = "",
) -> CheckResult:
    return CheckResult(
        check.name,
        check.group,
        check.title,
        status,
        got.numbers if got else {},
        expected.numbers if expected else {},
        message,
        program.text if program else "",
    )


def _message(failure: Failure) -> str:
    """What went wrong, in one line."""
    outcome = failure.outcome
    if outcome.kind == "numbers":
        wrong = failure.wrong()
        return f"{failure.program.title}: {', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} wrong"
    if outcome.kind == "stopped":
        return f"{failure.program.title}: stopped after {outcome.steps:,} steps"
    at = f" in line {outcome.line}" if outcome.line else ""
    return f"{failure.program.title}: {outcome.error}{at}: {outcome.message}"
