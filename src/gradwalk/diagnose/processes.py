"""A process with an engine in it, as whoever judges it sees it: asked in lines of JSON, and ended for certain.

Nothing that such a process says is taken on trust: an answer may be missing, be late, be far too long, be no JSON, or
come without having been asked for. And nothing is waited for that might never come.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradwalk.diagnose import runner

__all__ = ["Broken", "Conversation", "Stopped", "python"]

LONGEST = 4_000_000  # characters in an answer
WAITING = 64  # answers that nobody has asked for yet: a flood is kept in the pipe
SLICE = 0.1  # seconds after which somebody who waits looks whether all is to stop
MOST_BYTES, MOST_FILES = 100_000_000, 5_000  # in the folder of a process
PACKAGE = Path(__file__).resolve().parents[1]
WORDS = "import sys; sys.path.insert(0, sys.argv[1]); from gradwalk.diagnose import child; child.main()"


class Broken(Exception):  # noqa: N818 - an outcome of its own, told to the learner
    """The process gave no answer; the message says how it ended.

    >>> str(Broken("the process ended with code 7"))
    'the process ended with code 7'
    """


class Stopped(Exception):  # noqa: N818 - somebody's wish
    """Somebody wants all judging to stop.

    >>> issubclass(Stopped, Broken)
    False
    """


def python(task: str, folder: Path, stop: threading.Event) -> Conversation:
    """A Python in that folder with as good as no environment; `task` is "numbers" or "words".

    >>> import tempfile
    >>> job = {"file": "a.py", "class_name": "Value", "definitions_only": True, "memory": 2**30, "seconds": 9.0}
    >>> with python("numbers", Path(tempfile.mkdtemp()), threading.Event()) as process:
    ...     process.say(job)
    ...     "refused" in process.answer(20.0)
    True
    """
    what = ["-c", runner.START, str(PACKAGE)] if task == "numbers" else ["-c", WORDS, str(PACKAGE.parent)]
    return Conversation([sys.executable, "-s", "-P", "-X", "utf8", *what], folder, stop)


class Conversation:
    """A process, and what it says; gone, with whatever it has started, at the end of the `with`.

    >>> import sys, tempfile
    >>> echo = "import sys; sys.stdout.write(sys.stdin.readline())"
    >>> with Conversation([sys.executable, "-c", echo], Path(tempfile.mkdtemp()), threading.Event()) as process:
    ...     process.say({"a": 1.5})
    ...     process.answer(20.0)
    {'a': 1.5}
    """

    def __init__(
        self, command: Sequence[str], folder: Path, stop: threading.Event, environment: Mapping[str, str] | None = None
    ) -> None:
        self.stop = stop
        self._folder = folder
        self._lines: queue.Queue[bytes | None] = queue.Queue(WAITING)
        self._over = threading.Event()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, cwd=folder,
            env={**_environment(folder), **(environment or {})}, start_new_session=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def say(self, what: dict[str, Any]) -> None:
        """Ask the process something; that it may be gone is found out when it is to answer.

        >>> import sys, tempfile
        >>> with Conversation([sys.executable, "-c", ""], Path(tempfile.mkdtemp()), threading.Event()) as process:
        ...     process.say({"a": 1})
        """
        text = (json.dumps(what) + "\n").encode("ascii")
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            while text:
                text = text[self._process.stdin.write(text) or 0 :]

    def answer(self, seconds: float) -> dict[str, Any]:
        """The next answer, or Broken after so many seconds, at the end of the process, or for what is no answer.

        >>> import sys, tempfile
        >>> command = [sys.executable, "-c", "exit(7)"]
        >>> with Conversation(command, Path(tempfile.mkdtemp()), threading.Event()) as process:
        ...     process.answer(20.0)
        Traceback (most recent call last):
        ...
        gradwalk.diagnose.processes.Broken: the process ended with code 7
        """
        until = time.monotonic() + seconds
        while True:
            if self.stop.is_set():
                raise Stopped
            try:
                line = self._lines.get(timeout=max(0.0, min(SLICE, until - time.monotonic())))
                break
            except queue.Empty:
                if _is_full(self._folder):
                    raise Broken("it filled its folder with files") from None
                if time.monotonic() >= until:
                    raise Broken(f"it did not end within {seconds:.2g} seconds") from None
        if line is None:
            raise Broken(self._ending())
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise Broken("it wrote into the grader's own channel")
        return said

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._reader.join(timeout=1)
        if not self._reader.is_alive():  # else something holds the other end of the pipe: it is left to itself
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()  # type: ignore[union-attr]

    def _read(self) -> None:
        """Each line into the queue, and None at the end."""
        assert self._process.stdout is not None
        stream, rest = self._process.stdout.fileno(), b""
        with contextlib.suppress(OSError, ValueError):
            while (piece := os.read(stream, 65536)) and not self._over.is_set():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self._put(line)
                if len(rest) > LONGEST:
                    self._put(b"")
                    break
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        while not self._over.is_set():
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=SLICE)
                return

    def _ending(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        code = self._process.returncode
        if code is None:
            return "it closed the grader's own channel"
        if code == -getattr(signal, "SIGXCPU", 0):
            return "it used up its processor time"
        if code < 0:
            return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process ended with code {code}"


def _is_full(folder: Path) -> bool:
    """Whether there is more in a folder than an engine has any use for."""
    size, waiting, seen = 0, [str(folder)], 0
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    with contextlib.suppress(OSError):
                        size += entry.stat(follow_symlinks=False).st_size
                if seen > MOST_FILES or size > MOST_BYTES:
                    return True
    return False


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of whoever judges; but what the system needs, and every hash the same on every run."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR") if name in os.environ}
    own = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "MPLCONFIGDIR"), str(folder))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **own, **threads, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
