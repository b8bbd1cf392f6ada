"""An engine that a learner wrote, judged in the page by the grader's own checks.

What `gradwalk grade` does with a process of its own, the page does with its worker. A program that does not end is
stopped after so many lines of the learner's text, and the other checks go on; what escapes that (`sum(iter(int, 1))`)
ends with the worker, and the page begins again, told which programs to leave out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import replace

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.checks import Check, select
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.programs import Outcome, Program
from gradwalk.diagnose.report import CheckResult, Report
from gradwalk.diagnose.trial import TOTAL, Trial
from gradwalk.learn.page.sandbox import LearnerError, guarded

__all__ = ["LINES", "Tell", "Watchful"]

#: So many steps through a learner's text may be done for one program; a right engine needs a third for the deepest.
LINES = 500_000 if sys.version_info >= (3, 12) else 5_000_000  # lines; before 3.12 instructions
#: After so many programs that did not end nobody waits for more.
PATIENCE = 10

DIAGNOSIS = "diagnosis"
ENDLESS = "is there a loop that never ends?"

#: What is told as it happens: how many checks are done, of how many, and which one is under way.
Tell = Callable[[int, int, str, int], None]


class Watchful(Trial):
    """A trial that counts lines, tells where it is, and leaves out programs that ended the worker before.

    >>> from gradwalk import Value
    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.checks import CHECKS
    >>> from gradwalk.learn.page.judging import Watchful
    >>> Watchful(Engine(Value)).judge(CHECKS["a-plus-a"]).status
    'passed'
    """

    def __init__(self, engine: Engine, tell: Tell | None = None, left_out: Collection[int] = ()) -> None:
        super().__init__(engine)
        self._tell, self._left_out = tell, left_out
        self._all = select()
        self._doing = ""
        self._done = 0
        self._programs = 0
        self._endless: list[int | None] = []  # the lines that were under way
        self._given_up: set[str] = set()  # checks with a program that did not end

    def judge(self, check: Check) -> CheckResult:
        """How a check went.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.checks import CHECKS
        >>> from gradwalk.learn.page.judging import Watchful
        >>> Watchful(Engine(Value)).judge(CHECKS["diamond"]).status
        'passed'
        """
        if self._done < 0:
            return super().judge(check)  # all outcomes are there already
        self._doing = check.title
        self._say()
        result = super().judge(check)
        self._done += 1
        return result

    def report(self, source: str) -> Report:
        """Every check, then which bug it is; an engine that does not end then costs the diagnosis only.

        >>> from gradwalk.diagnose import teaching
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.learn.page.judging import Watchful
        >>> Watchful(Engine(teaching.load())).report(teaching.SOURCE).passed
        True
        """
        found = grade(self, source=source, diagnosing=False)
        if self._endless:
            where = f", the first in line {self._endless[0]}" if self._endless[0] else ""
            note = f"programs that did not end were stopped ({len(self._endless)}{where}): {ENDLESS}"
            found = replace(found, notes=(*found.notes, note))
        if found.passed or self.steps_left <= 0 or self._left_out:  # to look closer could end the worker again
            return found
        self._done, self._doing = -1, DIAGNOSIS
        self._say()
        try:
            with guarded(budget=LINES):
                return replace(grade(self, source=source), notes=found.notes)
        except LearnerError as error:
            return replace(found, notes=(*found.notes, f"no diagnosis could be made: {error}"))

    def outcome(self, program: Program, repeats: int = 1) -> Outcome:
        """What comes of a program, or that it did not end.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.programs import Program
        >>> from gradwalk.learn.page.judging import Watchful
        >>> Watchful(Engine(Value), left_out=[1]).outcome(Program("", "a = Value(1.0)", ("a.data",))).error
        'Stopped'
        """
        if program in self.outcomes:
            return self.outcomes[program]
        self._programs += 1
        self._say()
        if self.steps_left <= 0 or self._doing in self._given_up:  # nobody waits again for the same
            found = Outcome("stopped", message=ENDLESS, steps=LINES)
        elif self._programs in self._left_out:
            found = Outcome("raised", error="Stopped", message="it did not end, and was stopped")
            self._give_up(None)
        else:
            with nullcontext() if "range(" in program.text else guarded(budget=LINES):
                found = super().outcome(program, repeats)  # of long programs the calls are counted, and not the lines
            if found.error == "_OutOfSteps":
                found = replace(found, kind="stopped", error="", message=ENDLESS, steps=LINES)
                self._give_up(found.line)
        self.outcomes[program] = found
        return found

    def _give_up(self, line: int | None) -> None:
        self.steps_left -= TOTAL // PATIENCE
        self._endless.append(line)
        self._given_up.add(self._doing)

    def _say(self) -> None:
        if self._tell:
            done = len(self._all) if self._done < 0 else min(self._done, len(self._all))
            self._tell(done, len(self._all), self._doing, self._programs)
