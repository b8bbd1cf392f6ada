"""An engine judged in processes of its own: no mark without numbers that were found right here.

First a process goes through the whole checklist and looks for the bugs (`child`). It says which program it is about to
run and what came of it; a program that never ends, crashes the process or fills the memory is an outcome like any
other, and a fresh process goes on. But an engine may do as it likes in there, with the checklist too. So whatever it is
said to have passed is run again in a process that has no right answers in it (`runner`) and sends numbers, and these
are compared here.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from gradwalk.diagnose import processes
from gradwalk.diagnose.checks import CHECKS, select
from gradwalk.diagnose.cleaning import plain, texts_from, without_places
from gradwalk.diagnose.processes import Broken, Conversation, Stopped
from gradwalk.diagnose.proof import ENDED, proven
from gradwalk.diagnose.results import Diagnosis, Grade, Status, not_judged
from gradwalk.diagnose.workplace import copy_alone, copy_whole, copy_with_neighbours, is_ordinary, too_large
from gradwalk.matcher import Outcome
from gradwalk.messages import Message, verbatim

__all__ = ["Judged", "Limits", "Start", "Stopped", "grade_file", "judge_file"]

Start = Callable[[str, Path, threading.Event], Conversation]


@dataclass(frozen=True)
class Limits:
    """What an engine may use: seconds for loading, for one program and for all; bytes of memory; crashes.

    >>> Limits(program=1.0).memory == 2**30
    True
    """

    loading: float = 10.0
    program: float = 4.0
    total: float = 60.0
    memory: int = 2**30
    crashes: int = 6


@dataclass(frozen=True)
class Judged:
    """An engine's grade, and what kept it apart while it ran (names of `confinement.WAYS`).

    >>> Judged(Grade(())).confined
    ()
    """

    grade: Grade
    confined: tuple[str, ...] = ()


def grade_file(
    path: Path,
    *,
    class_name: str = "Value",
    names: Mapping[str, str] | None = None,
    checks: Iterable[str] | None = None,
    limits: Limits | None = None,
) -> Grade:
    """Judge the engine in a file, in processes of its own; `names` are what it calls its data, grad and backward.

    >>> path = Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text(teaching.SOURCE + chr(10) + "raise SystemExit(3)")
    >>> report = grade_file(path, checks=["reuse"])
    >>> report.passed, len(report.notes)
    (True, 1)
    """
    return judge_file(path, class_name=class_name, names=names, checks=checks, limits=limits).grade


def judge_file(
    path: Path,
    *,
    root: Path | None = None,
    alone: bool = False,
    class_name: str = "Value",
    names: Mapping[str, str] | None = None,
    checks: Iterable[str] | None = None,
    limits: Limits | None = None,
    start: Start = processes.python,
    stop: threading.Event | None = None,
) -> Judged:
    """Judge the engine in a file. What belongs to it: all in `root`; or nothing if `alone`; or what it imports.

    `start` starts a process. When `stop` is set, it raises Stopped.

    >>> path = Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text("class Value:" + chr(10) + "    def backward(self other): ...")
    >>> judge_file(path).grade.checks[0].message
    'line 2 is no Python: invalid syntax'
    """
    reason = too_large(path) if is_ordinary(path) else "it is no ordinary file"
    if reason:
        return Judged(not_judged(verbatim(reason)))
    with tempfile.TemporaryDirectory(prefix="gradwalk-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        handed_in = folder / "handed-in"
        handed_in.mkdir()
        try:
            if root is not None:
                file = copy_whole(path, root, handed_in)
            else:
                file = copy_alone(path, handed_in) if alone else copy_with_neighbours(path, handed_in)
        except OSError as error:
            return Judged(not_judged(verbatim(f"it cannot be read: {error.strerror or error}")))
        limits = limits or Limits()
        job = {"file": file, "class_name": class_name, "names": dict(names or {}), "memory": limits.memory,
               "seconds": limits.total, "parent": os.getpid()}  # fmt: skip
        hearing = Hearing(folder, job, limits, start, stop or threading.Event())
        report = hearing.report(None if checks is None else list(checks))
        places = [folder / str(i + 1) for i in range(hearing.started)]
        return Judged(_cleaned(report, [*places, folder]), hearing.confined)


@dataclass
class Hearing:
    """One engine's whole story: as many processes as it takes.

    >>> Hearing(Path(), {}, Limits(program=4.0), processes.python, threading.Event(), crashes=1).patience()
    2.0
    """

    folder: Path  # with a copy of what was handed in; each process gets a copy of its own
    job: dict[str, Any]
    limits: Limits
    start: Start
    stop: threading.Event
    confined: tuple[str, ...] = ()
    notes: list[Message] = field(default_factory=list)
    crashes: int = 0
    started: int = 0

    def report(self, checks: list[str] | None) -> Grade:
        self.until = time.monotonic() + self.limits.total
        self.job |= {"definitions_only": False, "checks": checks, "diagnosing": True, "given_up": "", "known": []}
        report = self._claimed()
        if any(check.status in ("passed", "missing") for check in report.checks):
            report = proven(self, report)
        return replace(report, notes=(*self.notes, *report.notes))

    def patience(self) -> float:
        """Seconds for the next program: less, once some have not come to an end."""
        return max(min(1.0, self.limits.program), self.limits.program * 0.5**self.crashes)

    def process(self, task: str) -> Conversation:
        self.started += 1
        own = self.folder / str(self.started)
        shutil.copytree(self.folder / "handed-in", own)
        return self.start(task, own, self.stop)

    def answer(self, process: Conversation, seconds: float) -> dict[str, Any]:
        return process.answer(min(seconds, max(0.1, self.until - time.monotonic())))

    def _claimed(self) -> Grade:
        """What the process with the engine in it says about the engine."""
        job = self.job
        while True:
            told, end = self._one_process()
            if isinstance(told, Grade):
                return told
            if isinstance(told, dict) and not job["given_up"]:  # a program was under way
                job["known"].append((told, asdict(Outcome("raised", message=end, error=ENDED))))
                self.crashes += 1
                if self.crashes >= self.limits.crashes:
                    job["given_up"] = f"it was given up after {self.crashes} crashes, the last one: {end}"
                elif time.monotonic() > self.until:
                    job["given_up"] = f"it was given up after {self.limits.total:g} seconds"
                self.until += self.limits.loading if job["given_up"] else 0.0  # for what is known to be told
            elif told == "loading" and not job["definitions_only"]:
                job["definitions_only"] = True
                told_why = f"running the whole file did not work ({end}): only its definitions were used"
                self.notes.append(verbatim(told_why))
            elif told == "thinking" and job["diagnosing"]:
                job["diagnosing"] = False
                self.notes.append(verbatim(f"no diagnosis could be made: {end}"))
            else:
                what = "the file cannot be loaded" if told == "loading" else "it could not be judged"
                return not_judged(verbatim(job["given_up"] or f"{what}: {end}"))

    def _note(self, said: Any) -> None:
        self.notes += [verbatim(note) for note in texts_from(said) if note not in self.notes]

    def _one_process(self) -> tuple[Grade | dict[str, Any] | str, str]:
        """A report; or what was under way (a program, "loading", "thinking") and how it ended."""
        doing: dict[str, Any] | str = "loading"
        seconds = self.limits.loading
        with self.process("words") as process:
            process.say(self.job)
            try:
                while True:
                    said = self.answer(process, seconds)
                    if "refused" in said:
                        self._note(said.get("notes"))
                        return not_judged(verbatim(plain(said["refused"]))), "refused"
                    if "report" in said:
                        return _report_from(said["report"], self.job["checks"]), "done"
                    if "loaded" in said:
                        self._note(said["loaded"])
                        doing, seconds = "thinking", self.limits.loading
                    elif isinstance(said.get("begin"), dict):
                        doing, seconds = said["begin"], self.patience()
                    elif isinstance(said.get("outcome"), dict) and isinstance(doing, dict):
                        self.job["known"].append((doing, said["outcome"]))
                        doing, seconds = "thinking", self.limits.loading
                    else:
                        raise Broken("it wrote into the grader's own channel")
            except Broken as end:
                return doing, str(end)


def _report_from(said: Any, asked: list[str] | None) -> Grade:
    """A report that another process sent; Broken if it is none, or leaves out what was asked."""
    try:
        report = Grade.from_dict(said)
        if all(check.name not in CHECKS for check in report.checks):
            return not_judged(verbatim(plain(report.checks[0].message)))
        checks = [replace(check, group=CHECKS[check.name].group, title=CHECKS[check.name].title)
                  for check in report.checks if check.status in get_args(Status)]  # fmt: skip
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError, OverflowError):
        raise Broken("it wrote into the grader's own channel") from None
    names = [check.name for check in checks]
    if len(set(names)) < len(names) or not {check.name for check in select(asked) if not check.extra} <= {*names}:
        raise Broken("it wrote into the grader's own channel")
    return replace(report, checks=tuple(checks))


def _cleaned(report: Grade, folders: list[Path]) -> Grade:
    """The report with every text of it plain, and without a word about this machine."""

    def clean(text: object) -> Message:
        return verbatim(without_places(plain(text), folders))

    def diagnosis(told: Diagnosis | None) -> Diagnosis | None:
        if told is None:
            return None
        line = told.line if type(told.line) is int else None
        others = ("line", "beyond")  # which are no texts
        texts: dict[str, Any] = {
            name: clean(text) for name, text in vars(told).items() if name not in others and text is not None
        }
        return replace(told, line=line, beyond=told.beyond is True, **texts)

    checks = tuple(
        replace(check, message=clean(check.message), lacks=clean(check.lacks), diagnosis=diagnosis(check.diagnosis))
        for check in report.checks
    )
    named = [each for each in map(diagnosis, report.diagnoses) if each is not None]
    return Grade(checks, tuple(named), tuple(map(clean, report.notes)), plain(report.engine, 80))
