"""What Python says to a learner, in the learner's language.

A message is written in English where it arises. A catalogue, one module for each language in this folder, gives it in
another: what is in braces stands for a part that changes. A part in `PHRASES` is itself looked up, so that a sentence
and the remedy in it are translated each by its own line; the others are names and numbers. What no catalogue knows,
such as the text of Python's own exceptions, is said as it is.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from functools import cache

__all__ = ["catalogue", "say", "speak", "translated"]

ORIGIN = "en"
#: The parts of a message that are words of ours, and not a name or a number of the learner's.
PHRASES = {"what", "remedy", "takes", "instead"}
_HOLE = re.compile(r"\{(\w+)\}")
_spoken = ORIGIN


def speak(language: str) -> None:
    """From now on `say` speaks this language; English, if there is no catalogue for it.

    >>> speak("es")
    >>> say("no function is called sigmod; did you mean sigmoid?")
    'ninguna función se llama sigmod; ¿querías decir sigmoid?'
    >>> speak("en")
    """
    global _spoken
    _spoken = language


def say(message: str) -> str:
    """A message in the language that is spoken.

    >>> say("no function is called sigmod; did you mean sigmoid?")
    'no function is called sigmod; did you mean sigmoid?'
    """
    return translated(message, _spoken)


def translated(message: str, language: str) -> str:
    """A message in a language; as it is, where the language's catalogue has nothing for it.

    >>> translated("% is no part of a program: it has no slope worth following; write / to divide", "es")
    '% no forma parte de un programa: no tiene una pendiente que merezca seguirse; escribe / para dividir'
    >>> translated("name 'x' is not defined", "es")
    "name 'x' is not defined"
    """
    entries = catalogue(language)
    if message in entries:
        return entries[message]
    for pattern, template in _patterns(language):
        match = pattern.fullmatch(message)
        if match:
            found = match.groupdict()
            parts = {name: translated(part, language) if name in PHRASES else part for name, part in found.items()}
            pieces = _HOLE.split(template)  # text, name, text, name, … text
            return "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))
    return message


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """English → the language; empty where there is none.

    >>> len(catalogue("es")) > 50, len(catalogue("en"))
    (True, 0)
    """
    if language == ORIGIN or not re.fullmatch(r"[a-z]{2,3}", language):
        return {}
    try:
        module = importlib.import_module(f"gradwalk.learn.page.translations.{language}")
    except ModuleNotFoundError:
        return {}
    entries: Mapping[str, str] = module.MESSAGES
    return entries


@cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """The entries with holes, those with most letters of their own first: they say most about what they match."""
    holed = [(english, theirs) for english, theirs in catalogue(language).items() if _HOLE.search(english)]
    holed.sort(key=lambda entry: -len(_HOLE.sub("", entry[0])))
    return [(re.compile(_as_pattern(english), re.DOTALL), theirs) for english, theirs in holed]


def _as_pattern(english: str) -> str:
    pieces = _HOLE.split(english)
    return "".join(f"(?P<{piece}>.+?)" if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))
