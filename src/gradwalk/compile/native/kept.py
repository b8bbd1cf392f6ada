"""Machine code on disk: whose it must be to be run, and how it is written whole.

A file holds a line of JSON, which names the symbol it defines and what it needs from outside, and the machine code. It
is run without another question, so it must be this user's own: a file of somebody else's, or in a folder that others
can write to, is left alone, and the code compiled anew. What is cut short, changed, or put under another's name counts
as missing.

The folder is `GRADWALK_CACHE`, or `gradwalk` in the user's cache folder; where there is neither, nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

__all__ = ["MachineCode", "clear", "folder", "read", "write"]

MAGIC = b"gradwalk native\n"
OLD = 3600.0  # seconds after which a file that was never finished is not going to be
#: Somebody may have put a pipe in its place, and opening that must not wait for whoever writes to it.
FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
OTHERS = 0o022  # that the group, or everybody, may write


class MachineCode(NamedTuple):
    """What defines one symbol, and the names that it needs from outside.

    >>> MachineCode(["exp"], b"...").outside
    ['exp']
    """

    outside: list[str]
    content: bytes


def folder() -> Path | None:
    """Where machine code is kept; None if there is no place for it.

    >>> os.environ["GRADWALK_CACHE"] = "somewhere"
    >>> folder().name
    'somewhere'
    >>> del os.environ["GRADWALK_CACHE"]
    """
    chosen = os.environ.get("GRADWALK_CACHE")
    try:
        if chosen:
            return Path(chosen).expanduser()  # no shell has done that for what a Dockerfile or a service sets
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA")
            return (Path(local) if local else Path.home() / "AppData" / "Local") / "gradwalk" / "native"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "gradwalk" / "native"
        named = os.environ.get("XDG_CACHE_HOME", "")  # to be ignored unless it is absolute, as its specification says
        return (Path(named) if Path(named).is_absolute() else Path.home() / ".cache") / "gradwalk" / "native"
    except RuntimeError:  # no home folder
        return None


def read(symbol: str) -> MachineCode | None:
    """The code that defines a symbol, if it is there, whole, and safe to run.

    >>> read("gradwalk_nothing") is None
    True
    """
    place = folder()
    if place is None:
        return None
    try:
        handle = os.open(place / f"{symbol}.bin", FLAGS)
        with os.fdopen(handle, "rb") as file:
            if not _trusted(place, os.fstat(handle)):
                return None
            text = file.read()
        if not text.startswith(MAGIC):
            return None
        head, content = text[len(MAGIC) :].split(b"\n", 1)
        facts = json.loads(head)
    except (OSError, ValueError, RecursionError):
        return None
    told = {"symbol": symbol, "sha256": hashlib.sha256(content).hexdigest()}
    if not isinstance(facts, dict) or any(facts.get(name) != fact for name, fact in told.items()):
        return None
    outside = facts.get("outside")
    if not isinstance(outside, list) or not all(isinstance(name, str) for name in outside):
        return None
    return MachineCode(outside, content)


def write(symbol: str, code: MachineCode) -> None:
    """Keep the code that defines a symbol; where that cannot be done it costs time in the next process, nothing else.

    >>> with tempfile.TemporaryDirectory() as os.environ["GRADWALK_CACHE"]:
    ...     write("gradwalk_example", MachineCode([], b"..."))
    ...     read("gradwalk_example").content
    b'...'
    """
    place = folder()
    if place is None:
        return
    facts = {"symbol": symbol, "outside": code.outside, "sha256": hashlib.sha256(code.content).hexdigest()}
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _trusted(place):
            return
        _tidy(place)
        handle, name = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + json.dumps(facts).encode() + b"\n" + code.content)
            os.replace(name, place / f"{symbol}.bin")  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(name)  # noqa: PTH108
            raise


def clear() -> None:
    """Delete what is kept, and nothing else that may lie there.

    >>> with tempfile.TemporaryDirectory() as os.environ["GRADWALK_CACHE"]:
    ...     write("gradwalk_example", MachineCode([], b"..."))
    ...     clear()
    ...     read("gradwalk_example") is None
    True
    """
    place = folder()
    if place is not None:
        with suppress(OSError):
            for path in [*place.glob("gradwalk_*.bin"), *place.glob("tmp*.part")]:
                path.unlink(missing_ok=True)


@cache
def _tidy(place: Path) -> None:
    """Delete what processes left half written that were killed; once in a process."""
    for path in place.glob("tmp*.part"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink()


# --- whose it is -----------------------------------------------------------------------------------------------------


def _trusted(place: Path, file: os.stat_result | None = None) -> bool:
    """Whether nobody but this user, or root, can have put something here; if not, it is said why, once."""
    if os.name == "nt":  # there a user's folders are the user's own, and modes say nothing
        return True
    state = place.stat()
    doubt = _doubt(place, state.st_uid, state.st_mode, f"chmod go-w {place}")
    if doubt is None and file is not None:
        if not S_ISREG(file.st_mode):
            return False
        doubt = _doubt(f"a file in {place}", file.st_uid, file.st_mode, f"chmod go-w {place}/*.bin")
    if doubt is None:
        return True
    _say(f"machine code in {place} is not used, and compiled anew: {doubt}")
    return False


def _doubt(what: object, owner: int, mode: int, remedy: str) -> str | None:
    if owner not in (os.geteuid(), 0):
        return f"{what} belongs to another user; name a folder of your own in GRADWALK_CACHE"
    return f"other users can write to {what}; {remedy}" if mode & OTHERS else None


@cache
def _say(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)
