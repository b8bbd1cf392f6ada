"""The shapes in which the page gets a case: its walk, what the instrument says, and the choices."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from gradwalk.layout import Layout
from gradwalk.messages import Message

__all__ = ["CaseShown", "Choice", "HuntEvent", "HuntMaterial", "Instrument", "Measured", "Seen", "Stopped", "Wrong"]

Place = Literal["engine", "program"]
Slot = Literal["data", "grad"]


class HuntEvent(TypedDict):
    """One thing that an engine did, with the ids of the graph; numbers that JSON has not come as texts.

    >>> show("overwriting")["events"][0]["kind"]
    'compute'
    """

    kind: Literal["compute", "seed", "visit", "push", "write"]
    node: int
    operand: int | None
    position: int | None
    slot: Slot
    upstream: float | str | None
    before: float | str | None
    after: float | str | None
    line: int | None


class Wrong(TypedDict):
    """A number of a node that is not what it should be.

    >>> show("overwriting")["wrong"][0]["name"]
    'a'
    """

    node: int
    name: str
    slot: Slot
    got: float
    right: float


class Measured(TypedDict):
    """What an engine says of a number, and what was measured.

    >>> show("overwriting")["check"]["leaves"][0]["ok"]
    False
    """

    name: str
    said: float
    measured: float
    ok: bool


class Stopped(TypedDict):
    """Why a program gave no numbers.

    >>> show("recursion-limit")["check"]["stopped"]["error"]
    'RecursionError'
    """

    kind: str
    error: str
    line: int | None
    steps: int


class Instrument(TypedDict):
    """The table of the instrument.

    >>> sorted(show("overwriting")["check"])
    ['leaves', 'stopped', 'value']
    """

    value: Measured | None
    leaves: list[Measured]
    stopped: Stopped | None


class Seen(TypedDict):
    """One walk of one engine; `engine` is its source where the text to mend is a program.

    >>> show("not-zeroed")["engine"] is None
    False
    """

    graph: dict[str, Any] | None
    layout: Layout | None
    events: list[HuntEvent]
    wrong: list[Wrong]
    check: Instrument
    engine: str | None


class Choice(TypedDict):
    """A name for the bug, and what is said to whoever chooses it.

    >>> [choice["right"] for choice in show("overwriting")["choices"]].count(True)
    1
    """

    family: str
    label: Message
    right: bool
    why: Message


class CaseShown(Seen):
    """A case as the page shows it.

    >>> show("overwriting")["where"]
    'engine'
    """

    name: str
    title: Message
    where: Place
    program: str
    text: str
    mended: str
    explanation: Message
    solution: Message
    hints: list[Message]
    choices: list[Choice]


class HuntMaterial(TypedDict):
    """What is there before Python is: of the rest of the museum only names and places.

    >>> sorted(material())
    ['cases', 'sets', 'where']
    """

    sets: dict[str, list[str]]
    cases: dict[str, CaseShown]
    where: dict[str, Place]
