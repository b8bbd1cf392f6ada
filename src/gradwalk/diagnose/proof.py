"""No mark without proof: what an engine is said to have passed is run where no answers are, and compared here.

Only numbers come back (`runner`). Checks that have no numbers, and ops that few engines have, are left as they are: the
latter are in no mark.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from gradwalk.diagnose.checks import CHECKS, OF_THE_WALK, RANDOM, Check
from gradwalk.diagnose.cleaning import outcome_from, plain, texts_from
from gradwalk.diagnose.examination import nearly, tolerance_of
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.processes import Broken, Conversation
from gradwalk.diagnose.random_probes import random_programs
from gradwalk.diagnose.results import CheckResult, Grade
from gradwalk.diagnose.vocabulary import BINARY, UNARY
from gradwalk.matcher import Outcome, by_type
from gradwalk.messages import verbatim

if TYPE_CHECKING:
    from gradwalk.diagnose.sandbox import Hearing

__all__ = ["ENDED", "proven"]

ENDED = "Stopped"  # what the error of a program is called that did not come to an end by itself
PRECISE = Probe("a number with nine digits", "a = Value(0.123456789)", ("a.data",))


def proven(hearing: Hearing, report: Grade) -> Grade:
    """The report with what an engine is said to have passed found right or not by its numbers.

    >>> import pathlib, tempfile
    >>> from gradwalk.diagnose import sandbox
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text(museum.find("overwriting").source() + "import builtins; builtins.abs = lambda x: 0.0")
    >>> sandbox.judge_file(path, checks=["a-plus-a"]).grade.notes[0].partition(",")[0]
    '1 check came out right in one run and wrong in another'
    """
    return _Proof(hearing, report).report()


class _Proof:
    """One engine's numbers, taken as they are needed."""

    def __init__(self, hearing: Hearing, report: Grade) -> None:
        self.hearing = hearing
        self.claimed = report
        self.ops: set[str] = set()
        self.walks = True  # by itself
        self.outcomes: dict[Probe, Outcome] = {}
        self.crashes = 0
        self.why_not = ""
        self.is_single = False
        self._process: Conversation | None = None

    def report(self) -> Grade:
        """The report with every check that has numbers of its own judged by them."""
        try:
            self._load()
            self.is_single = self._keeps_seven_digits()
            checks = [self._proven(check) for check in self.claimed.checks]
        except Broken as end:
            self.why_not = self.why_not or str(end)
            checks = [replace(check, status="skipped") for check in self.claimed.checks]
        finally:
            self._close()
        before, after = self.claimed.checks, checks
        lost = sum(one.status == "passed" != two.status for one, two in zip(before, after, strict=True))
        notes = list(self.claimed.notes)
        if self.why_not:
            told = f"checks could not be judged where no right answers are within reach: {self.why_not}"
            notes.append(verbatim(told))
        elif lost:
            one = lost == 1
            told = (f"{lost} {'check' if one else 'checks'} came out right in one run and wrong in another, where no "
                    f"right answers are within reach: {'it does' if one else 'they do'} not count")  # fmt: skip
            notes.append(verbatim(told))
        return replace(self.claimed, checks=tuple(after), notes=tuple(notes))

    def _proven(self, check: CheckResult) -> CheckResult:
        known = CHECKS.get(check.name)
        if check.status not in ("passed", "missing") or known is None:
            return check
        if check.name == "quiet" and any(outcome.printed for outcome in self.outcomes.values()):
            return replace(check, status="failed", message=verbatim("something was printed"))
        programs = [*self._programs(known)]
        if known.group in OF_THE_WALK and check.status == "missing" and not self.walks:
            return check
        if known.extra or not programs:  # what most engines do not have is in no mark, nor are numbers expected of it
            return check
        outcomes = [(program, self._outcome(program, known.repeats)) for program in programs]
        if self.why_not:
            return replace(check, status="skipped", message=verbatim(self.why_not))
        wrong = [(program, outcome) for program, outcome in outcomes if not self._is_right(program, outcome)]
        if not wrong and (check.status == "missing" or any(outcome.kind != "missing" for _, outcome in outcomes)):
            return check
        program, outcome = (wrong or outcomes)[0]
        reason = outcome.message if outcome.kind != "numbers" else "other numbers where no right answers are in reach"
        return replace(
            check, status="failed", got=outcome.numbers, expected=program.expected().numbers, program=program.text,
            message=verbatim(f"{program.title}: {reason}"),
        )  # fmt: skip

    def _programs(self, check: Check) -> Iterator[Probe]:
        if check.name == "random":
            yield from random_programs([op for op in (*BINARY, "neg", *UNARY) if op in self.ops], RANDOM)
        yield from check.programs

    def _is_right(self, program: Probe, outcome: Outcome) -> bool:
        right = program.expected()
        if outcome.kind == "missing" or by_type(outcome, right):
            return True
        tolerance = tolerance_of(program, self.is_single)
        numbers = outcome.numbers if outcome.kind == "numbers" else {}
        return all(nearly(numbers.get(name), x, tolerance) for name, x in right.numbers.items())

    def _keeps_seven_digits(self) -> bool:
        kept = self._outcome(PRECISE, 1).numbers.get("a.data", 0.0)
        return kept != 0.123456789 and abs(kept - 0.123456789) < 1e-8

    def _load(self) -> Conversation:
        hearing = self.hearing
        process = hearing.process("numbers")
        try:
            process.say(hearing.job | {"known": []})
            said = hearing.answer(process, hearing.limits.loading)
            if "loaded" not in said:
                raise Broken(plain(said.get("refused", "it wrote into the grader's own channel")))
        except BaseException:
            process.__exit__()
            raise
        hearing.confined = tuple(texts_from(said.get("confined")))
        self.ops = set(texts_from(said.get("has")))
        self.walks = said.get("walks") is not False
        self._process = process
        return process

    def _close(self) -> None:
        if self._process is not None:
            self._process.__exit__()
            self._process = None

    def _outcome(self, program: Probe, repeats: int) -> Outcome:
        """What comes of a program; of several runs, the first that is wrong."""
        if program not in self.outcomes and not self.why_not:
            try:
                found = self._asked(program, repeats)
                self.outcomes[program] = next((each for each in found if not self._is_right(program, each)), found[0])
            except Broken as end:
                self._close()
                self.crashes += 1
                self.outcomes[program] = Outcome("raised", message=str(end), error=ENDED)
                if self.crashes >= self.hearing.limits.crashes or time.monotonic() > self.hearing.until:
                    self.why_not = str(end)
        return self.outcomes.get(program, Outcome("raised", message=self.why_not, error=ENDED))

    def _asked(self, program: Probe, repeats: int) -> list[Outcome]:
        process = self._process or self._load()
        process.say({"program": asdict(program), "repeats": repeats})
        said = self.hearing.answer(process, self.hearing.limits.program).get("outcomes")
        outcomes = [outcome_from(each, program.see) for each in (said if isinstance(said, list) else [])]
        found = [outcome for outcome in outcomes if outcome is not None]
        if len(found) != repeats:
            raise Broken("it wrote into the grader's own channel")
        return found
