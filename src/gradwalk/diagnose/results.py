"""What grading gives: a checklist, and for what failed a diagnosis with a hint and, apart from it, a solution."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gradwalk.diagnose.checks import is_essential
from gradwalk.messages import Message, say, verbatim

__all__ = ["CheckResult", "Diagnosis", "Grade", "Mark", "Status", "not_judged"]

Status = Literal["passed", "failed", "missing", "error", "skipped"]
NOTHING = say("")  # where there is nothing to say


@dataclass(frozen=True)
class Diagnosis:
    """Which bug it is, where it is if that could be found, a hint that teaches, and the solution.

    `specimen` is its name in the museum, if it is there; `fault` is what it is called in any case. `beyond`: it only
    shows beyond the essentials.

    >>> Diagnosis("overwriting", say("your `__mul__` overwrites"), line=31, op="mul").to_dict()["line"]
    31
    """

    specimen: str | None
    sentence: Message
    line: int | None = None
    op: str | None = None
    hint: Message = NOTHING
    solution: Message = NOTHING
    fault: str = ""
    beyond: bool = False

    def __post_init__(self) -> None:
        if not self.fault and self.specimen:
            object.__setattr__(self, "fault", self.specimen)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain data.

        >>> sorted(Diagnosis(None, say("line 3 stops with NameError")).to_dict())
        ['beyond', 'fault', 'hint', 'line', 'op', 'sentence', 'solution', 'specimen']
        """
        return dict(vars(self))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Diagnosis:
        """The diagnosis that `to_dict` gave; its sentences are texts now.

        >>> Diagnosis.from_dict(Diagnosis(None, say("line 3 stops")).to_dict()).sentence
        'line 3 stops'
        """
        texts = {name: verbatim(plain[name]) for name in ("sentence", "hint", "solution")}
        return cls(**{**plain, **texts})


@dataclass(frozen=True)
class CheckResult:
    """How one check went: what was computed, what is right, and why it differs.

    >>> from gradwalk.diagnose import grade, teaching
    >>> result = grade(teaching.SOURCE, checks=["a-plus-a"]).checks[0]
    >>> result.status, result.got["a.grad"], result.expected["a.grad"]
    ('passed', 2.0, 2.0)
    """

    name: str
    group: str
    title: Message
    status: Status
    got: Mapping[str, float] = field(default_factory=dict)
    expected: Mapping[str, float] = field(default_factory=dict)
    message: Message = NOTHING
    program: str = ""
    diagnosis: Diagnosis | None = None
    #: What is not implemented yet, by its name in the engine.
    lacks: str = ""

    @property
    def counts(self) -> bool:
        """Whether the check was judged: not what is missing or was not tried.

        >>> CheckResult("tanh", "ops", verbatim("tanh(a)"), "missing").counts
        False
        """
        return self.status in ("passed", "failed", "error")

    @property
    def essential(self) -> bool:
        """Whether it asks for what every engine must have.

        >>> CheckResult("one-over-zero", "edges", say("1/0 is inf"), "passed").essential
        False
        """
        return is_essential(self.name, self.group)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data that JSON can hold: inf and nan as text.

        >>> from gradwalk.diagnose import grade, teaching
        >>> grade(teaching.SOURCE, checks=["one-over-zero"]).checks[0].to_dict()["got"]["b.data"]
        'inf'
        """
        return {
            **vars(self),
            "got": _plain(self.got),
            "expected": _plain(self.expected),
            "diagnosis": self.diagnosis and self.diagnosis.to_dict(),
        }


@dataclass(frozen=True)
class Mark:
    """So many checks passed, of so many that count.

    >>> print(Mark(41, 42))
    41 of 42
    """

    score: int
    total: int

    @classmethod
    def of(cls, checks: Iterable[CheckResult]) -> Mark:
        """The mark for some checks; what is not implemented yet does not count.

        >>> exp, tanh = verbatim("exp(a)"), verbatim("tanh(a)")
        >>> Mark.of([CheckResult("exp", "ops", exp, "passed"), CheckResult("tanh", "ops", tanh, "missing")])
        Mark(score=1, total=1)
        """
        statuses = [check.status for check in checks if check.counts]
        return cls(statuses.count("passed"), len(statuses))

    def __str__(self) -> str:
        return f"{self.score} of {self.total}"


@dataclass(frozen=True)
class Grade:
    """The whole checklist of one engine.

    >>> from gradwalk.diagnose import grade, teaching
    >>> report = grade(teaching.SOURCE)
    >>> report.passed, report.score == report.total, report.diagnoses
    (True, True, ())
    """

    checks: tuple[CheckResult, ...]
    diagnoses: tuple[Diagnosis, ...] = ()
    notes: tuple[Message, ...] = ()
    engine: str = "Value"

    @property
    def score(self) -> int:
        """How many checks passed.

        >>> from gradwalk.diagnose import grade, teaching
        >>> grade(teaching.SOURCE, checks=["reuse"]).score
        8
        """
        return sum(check.status == "passed" for check in self.checks)

    @property
    def total(self) -> int:
        """How many checks count: those that passed and those that did not; what is not implemented yet does not count.

        >>> from gradwalk.diagnose import grade, teaching
        >>> without_tanh = teaching.SOURCE.replace("def tanh", "def some_other")
        >>> grade(without_tanh, checks=["tanh", "exp"]).total
        1
        """
        return sum(check.counts for check in self.checks)

    @property
    def passed(self) -> bool:
        """Whether nothing failed.

        >>> from gradwalk.diagnose import grade, teaching
        >>> grade(teaching.SOURCE.replace("other.grad +=", "other.grad ="), checks=["a-times-a"]).passed
        False
        """
        return self.score == self.total > 0

    @property
    def essentials(self) -> Mark:
        """The mark for what every engine must have.

        >>> from gradwalk.diagnose import grade, museum
        >>> report = grade(museum.find("left-over-gradients").source(), checks=["reuse", "repeat"])
        >>> report.essentials, report.beyond
        (Mark(score=8, total=8), Mark(score=1, total=5))
        """
        return Mark.of(check for check in self.checks if check.essential)

    @property
    def beyond(self) -> Mark:
        """The mark for the rest: walking back again, long graphs, numbers at the edges.

        >>> from gradwalk.diagnose import grade, teaching
        >>> print(grade(teaching.SOURCE, checks=["depth"]).beyond)
        2 of 2
        """
        return Mark.of(check for check in self.checks if not check.essential)

    @property
    def faults(self) -> tuple[Diagnosis, ...]:
        """What is wrong with the essentials.

        >>> from gradwalk.diagnose import grade, museum
        >>> [found.fault for found in grade(museum.find("preorder").source()).faults]
        ['preorder']
        """
        return tuple(found for found in self.diagnoses if not found.beyond)

    @property
    def invitations(self) -> tuple[Diagnosis, ...]:
        """What lies beyond the essentials: what a good engine may still learn.

        >>> from gradwalk.diagnose import grade, museum
        >>> [found.fault for found in grade(museum.find("recursion-limit").source()).invitations]
        ['recursion-limit']
        """
        return tuple(found for found in self.diagnoses if found.beyond)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data that JSON can hold.

        >>> from gradwalk.diagnose import grade, teaching
        >>> sorted(grade(teaching.SOURCE, checks=["a-plus-a"]).to_dict())
        ['beyond', 'checks', 'diagnoses', 'engine', 'essentials', 'notes', 'passed', 'score', 'total']
        """
        return {
            "engine": self.engine,
            "score": self.score,
            "total": self.total,
            "passed": self.passed,
            "essentials": dict(vars(self.essentials)),
            "beyond": dict(vars(self.beyond)),
            "notes": list(self.notes),
            "checks": [check.to_dict() for check in self.checks],
            "diagnoses": [diagnosis.to_dict() for diagnosis in self.diagnoses],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Grade:
        """The report that `to_dict` gave, from another process or a file.

        >>> from gradwalk.diagnose import grade, teaching
        >>> report = grade(teaching.SOURCE.replace("+= y *", "= y *"), checks=["reuse", "edges"])
        >>> Grade.from_dict(report.to_dict()).to_dict() == report.to_dict()
        True
        """
        checks = tuple(
            CheckResult(**{**check, "got": _numbers(check["got"]), "expected": _numbers(check["expected"]),
                           "title": verbatim(check["title"]), "message": verbatim(check["message"]),
                           "diagnosis": check["diagnosis"] and Diagnosis.from_dict(check["diagnosis"])})
            for check in plain["checks"]
        )  # fmt: skip
        diagnoses = tuple(map(Diagnosis.from_dict, plain["diagnoses"]))
        return cls(checks, diagnoses, tuple(map(verbatim, plain["notes"])), plain["engine"])

    def text(self, solution: bool = False) -> str:
        """The report to read: what failed with its numbers, the diagnoses with their hints, and the score.

        >>> from gradwalk.diagnose import grade, teaching
        >>> print(grade(teaching.SOURCE, checks=["reuse"]).text().splitlines()[-1])
        8 of 8 checks passed: all of the essentials.
        """
        from gradwalk.diagnose.as_text import report_text

        return report_text(self, solution=solution)


def not_judged(why: Message, title: Message = say("the engine can be judged")) -> Grade:  # noqa: B008 - it never changes
    """The report of an engine that nothing could be found out about.

    >>> not_judged(say("it is no ordinary file")).checks[0].status
    'error'
    """
    return Grade((CheckResult("loads", "construction", title, "error", message=why),))


def _plain(numbers: Mapping[str, float]) -> dict[str, float | str]:
    return {name: x if math.isfinite(x) else str(x) for name, x in numbers.items()}


def _numbers(plain: Mapping[str, float | str]) -> dict[str, float]:
    return {name: float(x) for name, x in plain.items()}
