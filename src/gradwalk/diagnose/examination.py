"""One engine under examination: programs are run once, and what came of them is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from math import isinf
from struct import pack, unpack

from gradwalk.diagnose.adapter import NO_RUN, Engine, MissingOp
from gradwalk.diagnose.budget import lines_limited
from gradwalk.diagnose.checks import CHECKS, OF_THE_WALK, RANDOM, Check
from gradwalk.diagnose.discovery import defines
from gradwalk.diagnose.networks import Forgotten, forgotten, has_networks
from gradwalk.diagnose.op_probes import ops_in
from gradwalk.diagnose.probes import STEPS, Probe, run
from gradwalk.diagnose.random_probes import random_programs
from gradwalk.diagnose.results import NOTHING, CheckResult, Status
from gradwalk.diagnose.stand_ins import NotHere
from gradwalk.diagnose.vocabulary import BINARY, REFLECTED, UNARY, UNARY_OPERATORS
from gradwalk.matcher import Outcome, by_type, same
from gradwalk.messages import Message, joined, say, verbatim

__all__ = ["Examination", "Failure", "nearly", "tolerance_of"]

LONG = "range(5000)"  # in the one program that is long
TOTAL = 3_000_000  # steps for one engine; a right one needs less than a tenth of that
ENDLESS = 400_000  # lines for the first walk over a few nodes: one that takes more counts as one that never ends
#: How far numbers may lie from the right ones, relative to these: of single precision, and of ops that many people
#: guard with a small number, as in log(x + 1e-7); that is no mistake.
SINGLE, GUARD = 3e-6, 2e-5
GUARDED = frozenset({"log", "div", "rdiv", "sqrt"})


@dataclass(frozen=True)
class Failure:
    """A program that did not come out right.

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
        self.speed: tuple[Message, ...] | None = None  # a note on it, once it was measured
        self._has: dict[str, bool] = {}
        self._slope: float | None = None
        self._ends = engine.walks_by_hand  # whether the walk was seen to come to an end
        self.endless: int | None = None  # the line in which it still was after so many lines; 0 if that is not known

    def outcome(self, program: Probe, repeats: int = 1) -> Outcome:
        """What comes of a program; with `repeats`, the first wrong outcome of that many runs.

        >>> Examination(Engine(Value)).outcome(Probe("", "a = Value(1.0)", ("a.data",))).numbers
        {'a.data': 1.0}
        """
        known = self.outcomes.get(program)
        if known is None:
            right = self.expected(program)
            litter: list[object] = []
            for i in range(repeats):
                known = self._run(program, right)
                self.steps_left -= known.steps
                if not by_type(known, right):
                    break
                litter += self.engine.litter(2 * i + 1)
            assert known is not None
            self.outcomes[program] = known
        return known

    def _run(self, program: Probe, right: Outcome) -> Outcome:
        walks = ".backward" in program.text
        if walks and self.endless is not None:
            return Outcome("stopped", message="the walk never ends", line=self.endless)
        with nullcontext() if self._ends or not walks else lines_limited(self.engine.files, ENDLESS):
            found = run(program, self.engine, self._steps_for(program))
        if walks and found.kind == "stopped" and not self._ends and self.engine.walking:
            self.endless = found.line or 0
        self._ends = self._ends or (walks and self.endless is None)
        if not by_type(found, right):
            tolerance = tolerance_of(program, self.is_single)
            near = {name: x for name, x in right.numbers.items() if nearly(found.numbers.get(name), x, tolerance)}
            found = replace(found, numbers={**found.numbers, **near})
        return found

    def _steps_for(self, program: Probe) -> int | None:
        """How many steps a program may take; none are counted of a long chain if two short ones show what it takes.

        To count takes ten times as long as to walk, and this one program took more than half of all.
        """
        most = min(STEPS, self.steps_left)
        if LONG not in program.text:
            return most
        short, twice = (
            run(replace(program, text=program.text.replace(LONG, f"range({n})")), self.engine, most // 10)
            for n in (100, 200)
        )
        is_even = short.kind == twice.kind == "numbers" and twice.steps <= 2 * short.steps
        return None if is_even and 25 * twice.steps <= most else most

    def expected(self, program: Probe) -> Outcome:
        """What is right for this engine: an op with a parameter of its own is judged with the engine's number for it.

        >>> Examination(Engine(Value)).expected(CHECKS["a-plus-a"].programs[0]).numbers["a.grad"]
        2.0
        """
        if "leaky_relu()" not in program.text:
            return program.expected()
        if self._slope is None:
            self._slope = 0.01
            out = run(Probe("", "a = Value(-1.0)\nb = a.leaky_relu()", ("b.data",)), self.engine)
            slope = -out.numbers.get("b.data", 0.0)
            self._slope = slope if 0.0 < slope < 1.0 else 0.01
        return replace(program, text=program.text.replace("leaky_relu()", f"leaky_relu({self._slope!r})")).expected()

    @cached_property
    def hand(self) -> Examination | None:
        """The same engine, walked back by us, if its nodes can be asked to push one by one.

        >>> hand = Examination(Engine(museum.find("preorder").engine())).hand
        >>> hand.judge(CHECKS["itself-plus-square"]).status
        'passed'
        """
        if self.engine.walks_by_hand:
            return self
        short = [found for program, found in self.outcomes.items() if "range(" not in program.text]
        if self.endless is None and any(found.kind == "stopped" for found in short):
            return None  # an op that never ends: whoever counted its steps does not count them by hand
        twin = self.engine.by_hand()
        return None if twin is None else Examination(twin)

    @cached_property
    def is_single(self) -> bool:
        """Whether the engine keeps its numbers in single precision.

        >>> Examination(Engine(Value)).is_single
        False
        """
        try:
            kept = self.engine.data(self.engine.leaf(0.123456789))
        except Exception:
            return False
        return kept != 0.123456789 and abs(kept - 0.123456789) < 1e-8

    @cached_property
    def forgotten(self) -> Forgotten | None:
        """A method of a class with weights that leaves some out.

        >>> Examination(Engine(Value)).forgotten is None
        True
        """
        return forgotten(self.hand.engine if self.hand else self.engine)

    @cached_property
    def misspelt(self) -> dict[str, str]:
        """Methods that look like operators and that Python never calls, by the operator that they look like.

        >>> class Value:
        ...     def __init__(self, data): self.data, self.grad = data, 0.0
        ...     def __mul__(self, other): ...
        ...     def __rmult__(self, other): ...
        ...     def backward(self): self.grad = 1.0
        >>> Examination(Engine(Value)).misspelt
        {'__rmul__': '__rmult__'}
        """
        cls = self.engine.cls
        own = {name for base in cls.__mro__ if base is not object for name in vars(base)}
        operators = [method for method, _ in (*BINARY.values(), *UNARY_OPERATORS.values())]
        lacking = [name for name in (*operators, *REFLECTED.values()) if name not in own]
        found = {}
        for name in sorted(own):
            if name.startswith("__") and name.endswith("__") and name not in _KNOWN and callable(getattr(cls, name)):
                meant = _MEANT.get(name) or next(iter(get_close_matches(name, lacking, 1, 0.8)), None)
                if meant in lacking:
                    found[meant] = name
        return found

    def has(self, op: str) -> bool:
        """Whether the engine has this op at all.

        >>> Examination(Engine(Value)).has("tanh"), Examination(Engine(Value)).has("arccosecant")
        (True, False)
        """
        if op not in self._has:
            try:
                if op == "networks":
                    self._has[op] = has_networks(self.engine)
                elif op.startswith("__"):
                    self._has[op] = defines(self.engine.cls, op)
                else:
                    self._has[op] = bool(self.engine.find(op))
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
            if (
                outcome.kind != "missing"
                and not by_type(outcome, self.expected(program))
                and not _refused(check, outcome)
            ):
                found.append(self.failure(program))
        return found

    def failure(self, program: Probe) -> Failure:
        """What came of a program that did not come out right.

        >>> examination = Examination(Engine(museum.find("overwriting").engine()))
        >>> examination.failure(CHECKS["a-plus-a"].programs[0]).wrong()
        ['a.grad']
        """
        return Failure(program, self.outcome(program), self.expected(program))

    def judge(self, check: Check) -> CheckResult:
        """How a check went.

        >>> Examination(Engine(Value)).judge(CHECKS["quiet"]).status
        'passed'
        """
        if check.group != "construction" and self.shares_state():
            return _result(
                check, "skipped", message=say("nodes share state, so that numbers depend on what came before")
            )
        if check.group != "construction" and self.loses_digits():
            return _result(check, "skipped", message=say("the engine does not keep the numbers that it is given"))
        if check.name == "quiet":
            return self._quiet(check)
        if check.name == "networks":
            return self._networks(check)
        if check.group in OF_THE_WALK and not self.engine.backward_name:
            if self.engine.lacking:
                return _result(check, "skipped", message=NO_RUN)
            return _lacking(check, "backward")
        if check.group == "repeat" and self.engine.gives_back:
            return _result(check, "skipped", message=say("each walk gives its gradients back, and the nodes keep none"))
        if self.steps_left <= 0:
            return _result(check, "skipped", message=say("the engine has used up {steps} steps", steps=f"{TOTAL:,}"))
        failures = self.failures(check)
        if failures:
            first = foremost(failures)
            status: Status = "failed" if first.outcome.kind == "numbers" else "error"
            return _result(check, status, first.program, first.outcome, first.expected, _message(first))
        programs = self.programs(check)
        refused = [self.outcome(program) for program in programs if _refused(check, self.outcome(program))]
        if refused:
            return _result(
                check,
                "skipped",
                message=say("your engine refuses to walk back there ({said})", said=refused[0].message),
            )
        lacking = [outcome for outcome in map(self.outcome, programs) if outcome.error == NotHere.__name__]
        if lacking:
            return _result(check, "skipped", message=verbatim(lacking[0].message))
        there = [program for program in programs if self.outcome(program).kind != "missing"]
        if not there:
            refusal = self.outcome(programs[0]) if programs else None
            what = "add" if refusal is None else (check.extra or check.name) if refusal.error else refusal.message
            wrong = self.misspelt.get(BINARY[what][0] if what in BINARY else what)
            if wrong:
                return _result(check, "failed", programs[0], message=say("Python never calls `{name}`", name=wrong))
            return _lacking(check, what)
        return _result(check, "passed", there[0], self.outcome(there[0]), self.expected(there[0]))

    def shares_state(self) -> bool:
        """Whether nodes share what each should have for itself.

        >>> Examination(Engine(Value)).shares_state()
        False
        """
        return any(failure.outcome.kind == "numbers" for failure in self.failures(CHECKS["own-state"]))

    def loses_digits(self) -> bool:
        """Whether a node does not hold the number that it was made from.

        >>> Examination(Engine(Value)).loses_digits()
        False
        """
        outcomes = [self.outcome(program) for name in ("float", "int") for program in CHECKS[name].programs]
        wrong = [failure for name in ("float", "int") for failure in self.failures(CHECKS[name])]
        return all(outcome.kind == "numbers" for outcome in outcomes) and any("a.data" in f.wrong() for f in wrong)

    def _networks(self, check: Check) -> CheckResult:
        found = self.forgotten
        if found is None:
            return _result(check, "passed")
        method = f"{found.owner}.{found.method}"
        told = say("`{method}` leaves `{attribute}` out", method=method, attribute=found.attribute)
        return _result(check, "failed", message=told)

    def _quiet(self, check: Check) -> CheckResult:
        for program, outcome in self.outcomes.items():
            if outcome.printed:
                printed = repr(outcome.printed.strip()[:60])
                message = say("{program}: {printed} was printed", program=program.title, printed=printed)
                return _result(check, "failed", program, message=message)
        return _result(check, "passed")


def foremost(failures: Sequence[Failure]) -> Failure:
    """The failure that a check is judged by and shown with: an error says more than wrong numbers do.

    >>> examination = Examination(Engine(museum.find("overwriting").engine()))
    >>> foremost(examination.failures(CHECKS["a-plus-a"])).wrong()
    ['a.grad']
    """
    return next((failure for failure in failures if failure.outcome.kind == "raised"), failures[0])


def tolerance_of(program: Probe, is_single: bool) -> float:
    """How far a program's numbers may lie from the right ones and still be right, relative to these.

    >>> tolerance_of(CHECKS["a-plus-a"].programs[0], is_single=False)
    0.0
    """
    return SINGLE if is_single else GUARD if ops_in(program.text) & GUARDED else 0.0


def nearly(x: float | None, right: float, tolerance: float) -> bool:
    """Whether a number lies so near to the right one.

    >>> nearly(1.000001, 1.0, 3e-6), nearly(None, 1.0, 3e-6)
    (True, False)
    >>> nearly(float("inf"), float("-inf"), 3e-6), nearly(7.0, float("inf"), 3e-6)  # near to inf is inf alone
    (False, False)
    >>> nearly(-1.3300000429153442, -1.33, 0.0), nearly(-1.330001, -1.33, 0.0)  # a gradient in single precision
    (True, False)
    """
    if x is None or isinf(right):
        return x == right
    apart = abs(x - right) / max(1.0, abs(right))
    return same(x, right) or apart <= tolerance or (apart <= SINGLE and _is_single(x))


def _is_single(x: float) -> bool:
    """Whether a number has the digits of single precision, no more and hardly fewer: 0.5 says nothing."""
    kinds = (kind for kind, most in (("f", 3e38), ("e", 6e4)) if abs(x) < most)
    exact = [kind for kind in kinds if unpack(kind, pack(kind, x))[0] == x]
    return exact == ["f"]


#: Methods with two underscores that Python does call, or that belong to something else.
_KNOWN = frozenset(
    {*dir(int), *dir(float), *dir(list), *dir(dict), *dir(type), "__array_ufunc__", "__array_priority__", "__array__",
     "__matmul__", "__rmatmul__", "__imatmul__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__",
     "__idiv__", "__post_init__", "__copy__", "__deepcopy__", "__match_args__", "__enter__", "__exit__", "__call__",
     "__slots__", "__annotations__", "__weakref__", "__dict__", "__module__", "__getattr__", "__del__"}
)  # fmt: skip
#: What some methods were surely meant to be.
_MEANT = {
    "__div__": "__truediv__", "__rdiv__": "__rtruediv__", "__power__": "__pow__", "__mult__": "__mul__",
    "__rmult__": "__rmul__", "__minus__": "__sub__", "__plus__": "__add__", "__multiply__": "__mul__",
    "__substract__": "__sub__", "__subtract__": "__sub__", "__rsubtract__": "__rsub__", "__divide__": "__truediv__",
    "__negative__": "__neg__", "__negate__": "__neg__", "__rpower__": "__rpow__", "__rmultiply__": "__rmul__",
}  # fmt: skip


def _refused(check: Check, outcome: Outcome) -> bool:
    """Whether an engine says that it walks only once: PyTorch does so too, and it is no mistake."""
    return check.group == "repeat" and outcome.error == "RuntimeError"


def _result(
    check: Check,
    status: Status,
    program: Probe | None = None,
    got: Outcome | None = None,
    expected: Outcome | None = None,
    message: Message = NOTHING,
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


def _lacking(check: Check, name: str) -> CheckResult:
    """That an engine does not have what a check asks for."""
    return replace(_result(check, "missing", message=say("{name} is not implemented yet", name=name)), lacks=name)


def _message(failure: Failure) -> Message:
    """What went wrong, in one line."""
    outcome, program = failure.outcome, failure.program.title
    if outcome.kind == "numbers":
        *most, last = failure.wrong()
        if not most:
            return say("{program}: {name} is wrong", program=program, name=last)
        return say("{program}: {names} are wrong", program=program, names=", ".join([*most, last]))
    if outcome.kind == "stopped":
        return say("{program}: stopped after {steps} steps", program=program, steps=f"{outcome.steps:,}")
    what = verbatim(outcome.error)
    if outcome.line:
        what = say("{error} on line {line}", error=outcome.error, line=outcome.line)
    return joined(say("{program}: {what}", program=program, what=what), verbatim(outcome.message), by=": ")
