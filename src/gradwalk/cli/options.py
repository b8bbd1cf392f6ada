"""What an option may be: text from the command line in, a checked value out, or a message that says what is wrong."""

from __future__ import annotations

import math
import os
import tempfile
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from gradwalk.errors import SettingError

__all__ = ["can_write", "positive", "real", "sizes", "whole"]


def whole(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """A whole number within limits.

    >>> whole(1)("12")
    12
    >>> whole(1)("0")
    Traceback (most recent call last):
    ...
    argparse.ArgumentTypeError: '0' is too small: it is a whole number from 1 up
    """

    def parse(text: str) -> int:
        if least is None:
            reach = "a whole number"
        else:
            reach = f"a whole number from {least} " + (f"to {most}" if most is not None else "up")
        try:
            number = int(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is not {reach}") from None
        if least is not None and number < least:
            raise ArgumentTypeError(f"{text!r} is too small: it is {reach}")
        if most is not None and number > most:
            raise ArgumentTypeError(f"{text!r} is too large: it is {reach}")
        return number

    return parse


def real(text: str) -> float:
    """A finite number from 0 up.

    >>> real("0.25")
    0.25
    """
    number = _finite(text)
    if number < 0.0:
        raise ArgumentTypeError(f"{text!r} is negative: it is a number from 0 up")
    return number


def positive(text: str) -> float:
    """A finite number above 0.

    >>> positive("1e-3")
    0.001
    """
    number = _finite(text)
    if number <= 0.0:
        raise ArgumentTypeError(f"{text!r} is not above 0")
    return number


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(number):
        raise ArgumentTypeError(f"{text!r} is not finite")
    return number


def sizes(text: str) -> tuple[int, ...]:
    """The widths of the hidden layers, with commas between them.

    >>> sizes("16,16"), sizes("8")
    ((16, 16), (8,))
    """
    parts = text.split(",")
    for part in parts:
        if not part.strip().isdecimal() or not 1 <= int(part) <= 4096:
            shown = f"{part!r} in {text!r}" if len(parts) > 1 else repr(text)
            raise ArgumentTypeError(f"{shown} is not a layer width: write whole numbers from 1 to 4096, as in 16,16")
    return tuple(int(part) for part in parts)


def can_write(path: Path) -> None:
    """Raise if a file could not be written to `path`: ask before long work, not after it.

    >>> can_write(Path("no/such/folder/model.json"))
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: cannot write no/such/folder/model.json: there is no folder no/such/folder
    """
    folder = path.parent
    if path.is_dir():
        raise SettingError(f"cannot write {path}: it is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise SettingError(f"cannot write {path}: it is not an ordinary file")
    if not folder.exists():
        raise SettingError(f"cannot write {path}: there is no folder {folder}")
    if not folder.is_dir():
        raise SettingError(f"cannot write {path}: {folder} is not a folder")
    try:
        handle, probe = tempfile.mkstemp(dir=folder, prefix=f".{path.name[:32]}.")
        os.close(handle)
        Path(probe).unlink()
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror or error}") from error
    if path.exists() and not os.access(path, os.W_OK):
        raise SettingError(f"cannot write {path}: it is there and write-protected")
