"""Sentences that can be said in another language: a text that still knows its words and what stands in their holes.

`say("no function is called {name}", name="sigmod")` is that sentence in English. The English words are its id, so each
sentence is written once, where it arises. Whoever shows it in another language looks the words up, and puts the parts
into what is found there; a part that is a message itself is looked up in its turn.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

__all__ = ["Message", "counted", "crossing", "joined", "reason_of", "say", "sentence", "shown", "verbatim", "width"]

_HOLE = re.compile(r"\{(\w+)\}")


class Message(str):
    """A text made of words with holes, and of the parts in the holes.

    >>> found = say("{name} takes {takes}", name="max", takes=say("{count} or more operands", count=2))
    >>> found
    'max takes 2 or more operands'
    >>> found.words, found.parts["takes"].words
    ('{name} takes {takes}', '{count} or more operands')
    """

    words: str
    parts: Mapping[str, str]

    def __new__(cls, words: str, parts: Mapping[str, str] | None = None) -> Message:  # noqa: D102
        given = parts or {}
        self = super().__new__(cls, _HOLE.sub(lambda hole: given.get(hole[1], hole[0]), words))
        self.words, self.parts = words, given
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:  # for pickles: errors travel between processes
        return self.words, self.parts


def say(words: str, /, **parts: object) -> Message:
    """The sentence that these words make with these parts; numbers and the like become text as `str` has them.

    The words are written out in the call, and each hole has its part: a test reads every call in the source.

    >>> say("line {line} comes too early", line=3)
    'line 3 comes too early'
    """
    return Message(words, {name: part if isinstance(part, str) else str(part) for name, part in parts.items()})


def sentence(words: str) -> Message:
    """A sentence without holes that stands in a table of such; `say` is for those that are made where they are said.

    A test holds the words of each to be written out in the source.

    >>> crossing(sentence("Which push is missing?"))
    {'id': 'Which push is missing?', 'parameters': {}}
    """
    return words if isinstance(words, Message) else Message(words)


def shown(x: object) -> str:
    """Something of the user's as Python writes it, but 60 characters at most.

    >>> shown([1, "two"]), len(shown("x" * 58)), shown("x" * 59)
    ("[1, 'two']", 60, "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...")
    """
    text = repr(x)
    return text if len(text) <= 60 else text[:57] + "..."


def width(text: str) -> int:
    """How many cells of a fixed-width font a text takes: wide characters two, combining ones none.

    >>> width("data"), width("数据"), width("🙂"), width("e\\u0301")
    (4, 4, 2, 1)
    """
    if text.isascii():
        return len(text)
    seen = (c for c in text if not unicodedata.combining(c) and unicodedata.category(c) not in ("Mn", "Me", "Cf"))
    return sum(2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in seen)


def counted(n: int, one: str, many: str = "") -> str:
    """How many there are of something.

    >>> counted(1, "node"), counted(2000, "box", "boxes")
    ('1 node', '2,000 boxes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def verbatim(text: str) -> Message:
    """Words that are not ours, such as those of Python's exceptions or a learner's code: the same in every language.

    >>> crossing(verbatim("division by zero"))
    {'id': '{text}', 'parameters': {'text': 'division by zero'}}
    """
    return text if isinstance(text, Message) else say("{text}", text=text)


def joined(*sentences: Message, by: str = " ") -> Message:
    """Several sentences as one message, those that are empty left out.

    >>> joined(say("It is wrong."), say(""), say("Why?")).words
    '{first} {then}'
    """
    told = [each for each in sentences if each]
    if len(told) < 2:
        return told[0] if told else say("")
    return Message(f"{{first}}{by}{{then}}", {"first": told[0], "then": joined(*told[1:], by=by)})


def reason_of(error: BaseException) -> Message:
    """What an error says: its own message, if it was raised with one; else its text, as it is.

    >>> reason_of(gradwalk.errors.SettingError(say("there are no names to learn from"))).words
    'there are no names to learn from'
    >>> reason_of(ZeroDivisionError("division by zero"))
    'division by zero'
    """
    said = getattr(error, "reason", "") or (error.args[0] if len(error.args) == 1 else "")
    return said if isinstance(said, Message) else verbatim(str(getattr(error, "reason", "") or error))


def crossing(thing: Any) -> Any:
    """Plain data in which each message is `{"id": words, "parameters": parts}`, for whoever speaks another language.

    >>> crossing({"line": 2, "message": say("there is no {name}", name="x"), "kind": "NameError"})
    {'line': 2, 'message': {'id': 'there is no {name}', 'parameters': {'name': 'x'}}, 'kind': 'NameError'}
    """
    if isinstance(thing, Message):
        return {"id": thing.words, "parameters": {name: crossing(part) for name, part in thing.parts.items()}}
    if isinstance(thing, dict):
        return {key: crossing(part) for key, part in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [crossing(part) for part in thing]
    return thing
