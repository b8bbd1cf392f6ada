"""An engine that a learner wrote, judged in the page: the same file, checks and words as with `gradwalk grade`.

What `gradwalk grade` does with a process of its own, the page does with its worker. A program that does not end is
stopped after so many lines of the learner's text, and the other checks go on; what escapes that (`sum(iter(int, 1))`)
ends with the worker, and the page begins again, told which programs to leave out.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from gradwalk.diagnose.adapter import Engine, NotAnEngine, find_class
from gradwalk.diagnose.checks import BEYOND, GROUPS, Check, select
from gradwalk.diagnose.examination import TOTAL, Examination
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.loading import Loaded, load
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.results import CheckResult, Grade, not_judged
from gradwalk.learn.page.sandbox import LearnerError, guarded, watch_over
from gradwalk.matcher import Outcome
from gradwalk.messages import Message, crossing, say, sentence, verbatim

__all__ = ["LINES", "Judged", "PageExamination", "Tell", "run"]

#: So many lines of a learner's text may be run to load it, and to look into it.
LINES = 500_000
#: … and for one program: most engines need some thousands, one that walks over an ever longer tape 55,000.
PROGRAM_LINES = 250_000
#: After so many programs that did not end nobody waits for more.
PATIENCE = 10

DIAGNOSIS = verbatim("diagnosis")
ENDLESS = say("is there a loop that never ends?")

#: What is told as it happens: how many checks are done, of how many, and which one is under way.
Tell = Callable[[int, int, Message, int], None]


class PageExamination(Examination):
    """An examination that counts lines, tells where it is, and leaves out programs that ended the worker before.

    >>> PageExamination(Engine(Value)).judge(CHECKS["a-plus-a"]).status
    'passed'
    """

    def __init__(self, engine: Engine, tell: Tell | None = None, left_out: Collection[int] = ()) -> None:
        super().__init__(engine)
        self._tell, self._left_out = tell, left_out
        self._all = select()
        self._doing = verbatim("")
        self._done = 0
        self._programs = 0
        self._endless: list[int | None] = []  # the lines that were under way
        self._given_up: set[str] = set()  # checks with a program that did not end

    def judge(self, check: Check) -> CheckResult:
        """How a check went.

        >>> PageExamination(Engine(Value)).judge(CHECKS["diamond"]).status
        'passed'
        """
        if self._done < 0:
            return super().judge(check)  # all outcomes are there already
        self._doing = check.title
        self._say()
        result = super().judge(check)
        self._done += 1
        return result

    def report(self, source: str) -> Grade:
        """Every check, then which bug it is; an engine that does not end then costs the diagnosis only.

        >>> PageExamination(Engine(teaching.load())).report(teaching.SOURCE).passed
        True
        """
        found = grade(self, source=source, diagnosing=False)
        if self._endless:
            count, line = len(self._endless), self._endless[0]
            note = say("programs that did not end were stopped ({count}): {ask}", count=count, ask=ENDLESS)
            if line:
                note = say(
                    "programs that did not end were stopped ({count}, the first on line {line}): {ask}",
                    count=count,
                    line=line,
                    ask=ENDLESS,
                )
            found = replace(found, notes=(*found.notes, note))
        if found.passed or self.steps_left <= 0 or self._left_out:  # to look closer could end the worker again
            return found
        self._done, self._doing = -1, DIAGNOSIS
        self._say()
        try:
            with guarded(budget=LINES):
                return replace(grade(self, source=source), notes=found.notes)
        except LearnerError as error:
            return replace(found, notes=(*found.notes, say("no diagnosis could be made: {why}", why=error.reason)))

    def outcome(self, program: Probe, repeats: int = 1) -> Outcome:
        """What comes of a program, or that it did not end.

        >>> PageExamination(Engine(Value), left_out=[1]).outcome(Probe("", "a = Value(1.0)", ("a.data",))).error
        'Stopped'
        """
        if program in self.outcomes:
            return self.outcomes[program]
        self._programs += 1
        self._say()
        if self.steps_left <= 0 or self._doing in self._given_up:  # nobody waits again for the same
            found = Outcome("stopped", message=ENDLESS, steps=PROGRAM_LINES)
        elif self._programs in self._left_out:
            found = Outcome("raised", error="Stopped", message=say("it did not end, and was stopped"))
            self._give_up(None)
        else:
            with nullcontext() if "range(" in program.text else guarded(budget=PROGRAM_LINES):
                found = super().outcome(program, repeats)  # of long programs the calls are counted, and not the lines
            if found.error == "_OutOfSteps":
                found = replace(found, kind="stopped", error="", message=ENDLESS, steps=PROGRAM_LINES)
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


class Judged(TypedDict):
    """The report of `gradwalk grade` as plain data, the titles of its groups, and which lie beyond the essentials.

    >>> from contextlib import redirect_stdout
    >>> with redirect_stdout(None):
    ...     found = run("x = 1")
    >>> found["report"]["passed"]
    False
    """

    report: dict[str, Any]
    groups: dict[str, Message]
    beyond: list[str]


def run(source: str, left_out: Collection[int] = (), class_name: str = "Value") -> Judged:
    """Judge the text of an engine's file.

    As it goes, a line for each program is printed: checks done, of all, the program's number, and what is checked,
    where that is not what the line before said. `left_out` are the numbers of programs that ended the worker before:
    those are not tried again.

    >>> from contextlib import redirect_stdout
    >>> from io import StringIO
    >>> with redirect_stdout(StringIO()) as told:
    ...     found = run(museum.find("root-twice").source())
    >>> found["report"]["diagnoses"][0]["specimen"], found["report"]["essentials"]["score"] > 0
    ('root-twice', True)
    >>> told.getvalue().splitlines()[2].split(" ", 3)[2:]
    ['2', '{"id": "Value(2.5) holds 2.5 and gradient 0", "parameters": {}}']
    """
    report = _judged(source, left_out, class_name)
    return Judged(
        report=report.to_dict(), groups={name: sentence(title) for name, title in GROUPS.items()}, beyond=sorted(BEYOND)
    )


def _judged(source: str, left_out: Collection[int], class_name: str) -> Grade:
    out = sys.stdout  # while an engine is judged, what it prints goes nowhere

    before = verbatim("")

    def tell(done: int, of: int, doing: Message, programs: int) -> None:
        nonlocal before
        what = f" {json.dumps(crossing(doing), ensure_ascii=False)}" if doing != before else ""  # once: room is limited
        before = doing
        out.write(f"{done} {of} {programs}{what}\n")
        out.flush()

    with tempfile.TemporaryDirectory(prefix="gradwalk-") as folder:
        path = Path(folder) / "engine.py"
        path.write_text(source, encoding="utf-8")
        watch_over(str(path))
        try:
            ast.parse(source, str(path))
            loaded, notes = _loaded(path)
            with guarded(budget=LINES):
                engine = Engine(find_class(loaded.namespace, class_name), loaded.namespace)
        except SyntaxError as error:
            return not_judged(say("line {line} is no Python: {said}", line=error.lineno, said=error.msg))
        except LearnerError as error:
            known = isinstance(error.__cause__, NotAnEngine)
            said = say("{error}: {said}", error=error.kind, said=error.reason)
            return not_judged(error.reason if known else say("the file cannot be loaded: {why}", why=said))
        report = PageExamination(engine, tell, left_out).report(loaded.source)
        return replace(report, notes=(*notes, *loaded.notes, *report.notes))


def _loaded(path: Path) -> tuple[Loaded, tuple[Message, ...]]:
    """What the file defines; of one that does not end, its definitions alone."""
    try:
        with guarded(budget=LINES):
            return load(path), ()
    except LearnerError as error:
        if error.kind != "OutOfSteps":
            raise
        note = say("running the whole file did not work ({why}): only its definitions were used", why=error.reason)
        with guarded(budget=LINES):
            return load(path, definitions_only=True), (note,)
