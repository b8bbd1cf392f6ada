"""An engine judged in a process of its own, so that nothing it does reaches whoever judges it.

The process says which program it is about to run and what came of it. A program that never ends, crashes the process or
fills the memory is an outcome like any other: a fresh process is told all outcomes so far and goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gradwalk.diagnose.results import CheckResult, Grade

__all__ = ["Limits", "grade_file"]

Said = dict[str, Any]


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


def grade_file(
    path: Path,
    *,
    class_name: str = "Value",
    names: Mapping[str, str] | None = None,
    checks: Iterable[str] | None = None,
    limits: Limits | None = None,
) -> Grade:
    """Judge the engine in a file, in a process of its own; `names` are what it calls its data, grad and backward.

    >>> import tempfile, pathlib
    >>> from gradwalk.diagnose import teaching
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text(teaching.SOURCE + chr(10) + "raise SystemExit(3)")
    >>> report = grade_file(path, checks=["reuse"])
    >>> report.passed, len(report.notes)
    (True, 1)
    """
    with tempfile.TemporaryDirectory(prefix="gradwalk-", ignore_cleanup_errors=True) as folder:
        hearing = _Hearing(path, class_name, None if checks is None else list(checks), limits or Limits(), folder)
        hearing.job["names"] = dict(names or {})
        return hearing.report()


class _Hearing:
    """One engine's whole story: as many processes as it takes."""

    def __init__(self, path: Path, class_name: str, checks: list[str] | None, limits: Limits, folder: str) -> None:
        self.limits, self.folder = limits, folder
        self.job: Said = {
            "path": str(path.resolve()), "class_name": class_name, "checks": checks, "memory": limits.memory,
            "definitions_only": False, "diagnosing": True, "known": [],
        }  # fmt: skip
        self.until = time.monotonic() + limits.total
        self.notes: list[str] = []
        self.crashes = 0

    def report(self) -> Grade:
        while True:
            told, end = self._one_process()
            if isinstance(told, Grade):
                return told
            if isinstance(told, dict):  # a program was under way
                self.job["known"].append((told, {"kind": "raised", "error": "Stopped", "message": end}))
                self.crashes += 1
                if self.crashes >= self.limits.crashes or time.monotonic() > self.until:
                    return self._given_up(f"it was given up after {self.crashes} crashes, the last one: {end}")
            elif told == "loading" and not self.job["definitions_only"]:
                self.job["definitions_only"] = True
                self.notes.append(f"running the whole file did not work ({end}): only its definitions were used")
            elif told == "thinking" and self.job["diagnosing"]:
                self.job["diagnosing"] = False
                self.notes.append(f"no diagnosis could be made: {end}")
            else:
                return self._given_up(f"the file cannot be loaded: {end}")

    def _one_process(self) -> tuple[Grade | Said | str, str]:
        """A report; or what was under way (a program, "loading", "thinking") and how it ended."""
        doing: Said | str = "loading"
        seconds = self.limits.loading
        with _process(self.folder, self.job) as (process, answers):
            while True:
                try:
                    said = answers.get(timeout=max(0.1, min(seconds, self.until - time.monotonic())))
                except queue.Empty:
                    return doing, f"it did not end within {seconds:.2g} seconds"
                if said is None:
                    return doing, _ending(process)
                if "refused" in said:
                    return self._given_up(said["refused"]), "refused"
                if "report" in said:
                    report = Grade.from_dict(said["report"])
                    return self._with_notes(report), "done"
                if "loaded" in said:
                    self.notes += [note for note in said["loaded"] if note not in self.notes]
                    doing, seconds = "thinking", self.limits.loading
                elif "begin" in said:
                    doing, seconds = said["begin"], self.limits.program
                elif "outcome" in said:
                    self.job["known"].append((doing, said["outcome"]))
                    doing, seconds = "thinking", self.limits.loading

    def _given_up(self, why: str) -> Grade:
        failure = CheckResult("loads", "construction", "the engine can be judged", "error", message=why)
        return self._with_notes(Grade((failure,)))

    def _with_notes(self, report: Grade) -> Grade:
        return Grade(report.checks, report.diagnoses, (*self.notes, *report.notes), report.engine)


def _ending(process: subprocess.Popen[str]) -> str:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    code = process.returncode
    if code is not None and code < 0:
        return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended with code {code}"


@contextlib.contextmanager
def _process(folder: str, job: Said) -> Iterator[tuple[subprocess.Popen[str], queue.SimpleQueue[Said | None]]]:
    """A process at work on the job, and what it says; gone, with whatever it has started, at the end."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    process = subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", "-m", "gradwalk.diagnose.child"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        errors="replace", cwd=folder, env=environment, start_new_session=True,
    )  # fmt: skip
    answers: queue.SimpleQueue[Said | None] = queue.SimpleQueue()
    readers = [
        threading.Thread(target=work, args=(stream, answers), daemon=True)
        for work, stream in ((_pass_on, process.stdout), (_drain, process.stderr))
    ]
    for reader in readers:
        reader.start()
    try:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
        yield process, answers
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        for reader in readers:
            reader.join(timeout=1)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _pass_on(stream: IO[str], answers: queue.SimpleQueue[Said | None]) -> None:
    """Each line as an answer, and None at the end."""
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            answers.put(json.loads(line))
    answers.put(None)


def _drain(stream: IO[str], answers: queue.SimpleQueue[Said | None]) -> None:
    """What the engine prints goes nowhere; but a pipe that nobody reads would stop it."""
    with contextlib.suppress(ValueError, OSError):
        while stream.read(65536):
            pass
