"""What comes from a stranger's process, made safe to show: plain text, and numbers that are some.

An engine chooses what it raises and prints. That must not move the cursor of a teacher's terminal, turn the direction
of a line, break a file because it cannot be encoded, or tell a class where the teacher keeps the files.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gradwalk.matcher import Outcome

__all__ = ["outcome_from", "plain", "without_places"]

KINDS = ("numbers", "raised", "stopped", "missing")
LONGEST = 2_000  # characters in one text
#: Control characters, marks that turn the direction of writing, halves of characters; and what a terminal does at ESC.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])?|\x9b[0-?]*[ -/]*[@-~]")
#: Paths in folders where people keep things; of those no more is told than their last part.
_PATHS = re.compile(
    r"(?:(?<![\w.])/(?:home|root|tmp|var|Users|private|opt|mnt|media|srv|work|usr/local)|\b[A-Za-z]:[\\/]Users)"
    r"(?:[\\/]+(?P<last>[^\s'\"`<>|:;,()\\/]+))+"
)
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def plain(text: object, most: int = LONGEST) -> str:
    r"""A text that can be printed anywhere; what is not a text becomes one.

    >>> plain("a \x1b[31mred\x1b[0m lie"), plain("half \ud800"), plain(3)
    ('a red lie', 'half �', '3')
    """
    whole = text if isinstance(text, str) else str(text)
    return _UNSAFE.sub("\ufffd", _ESCAPES.sub("", whole[: 4 * most]))[:most]


def without_places(text: str, folders: Iterable[Path]) -> str:
    """A text that does not say where things lie on this machine: paths in the `folders` become relative ones.

    >>> without_places("no file /tmp/x/ada/engine.py", [Path("/tmp/x")])
    'no file ada/engine.py'
    >>> without_places("in /home/eve/.ssh/id_rsa and C:\\\\Users\\\\eve\\\\x.py", [])
    'in …/id_rsa and …/x.py'
    """
    for place in dict.fromkeys(str(each) for folder in folders for each in (folder, folder.resolve())):
        text = text.replace(f"{place}/", "").replace(f"{place}\\", "").replace(place, "its folder")
    for place in sorted({str(Path.home()), sys.prefix, sys.base_prefix}, key=len, reverse=True):
        text = text.replace(place, "…") if len(Path(place).parts) > 2 else text
    return _PATHS.sub(lambda found: f"…/{found['last']}", text)


def outcome_from(said: Any, see: Iterable[str]) -> Outcome | None:
    """An outcome from plain data that somebody else sent; None if it is none.

    >>> outcome_from({"kind": "numbers", "numbers": {"a.grad": 2, "b": 1.0}, "steps": 5}, ["a.grad"]).numbers
    {'a.grad': 2.0}
    >>> outcome_from({"kind": "numbers", "numbers": {"a.grad": "2"}}, ["a.grad"]) is None
    True
    """
    if not isinstance(said, dict) or said.get("kind") not in KINDS or not isinstance(said.get("numbers", {}), dict):
        return None
    numbers = {}
    for name in see:
        x = said.get("numbers", {}).get(name)
        if isinstance(x, (int, float)) and not isinstance(x, bool):
            try:
                numbers[name] = float(x)
            except OverflowError:
                return None
        elif said["kind"] == "numbers":
            return None
    line, steps = said.get("line"), said.get("steps")
    return Outcome(
        said["kind"],
        numbers,
        plain(said.get("message", ""), 300),
        plain(said.get("error", ""), 80),
        line if type(line) is int and 0 < line < 10**7 else None,
        plain(said.get("printed", ""), 200),
        steps if type(steps) is int and 0 <= steps < 10**9 else 0,
    )
