"""What can happen on a walk: a node is computed, the root is seeded, a node is visited, a share is pushed.

Events are plain data: nodes are ids, numbers have full precision, and all of it goes to JSON and back. The words for
an event, a sentence and a formula, are put together when they are first read: most of a long walk is never read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol

from gradwalk.errors import GraphError
from gradwalk.walk import json_fields
from gradwalk.walk.many import Numbers

__all__ = ["AlreadyVisited", "Compute", "Enter", "Event", "Leave", "Push", "Seed", "Visit", "event_from_dict"]


class Words(Protocol):
    """Whoever can put an event into words."""

    def sentence(self, event: Any) -> str:
        """In plain English."""

    def latex(self, event: Any) -> str:
        """As a formula, in LaTeX that KaTeX takes."""

    def formula(self, event: Any) -> str:
        """As a line of text, with the numbers in it."""


@dataclass(frozen=True, slots=True)
class StoredWords:
    """Words that were put down once, such as those in a file."""

    texts: dict[str, str]

    def sentence(self, event: Any) -> str:
        return self.texts.get("sentence", "")

    def latex(self, event: Any) -> str:
        return self.texts.get("latex", "")

    def formula(self, event: Any) -> str:
        return self.texts.get("formula", "")


_SILENT = StoredWords({})


@dataclass(frozen=True, slots=True)
class Event:
    """What all events have: a kind, the node they are about, words, and a form for JSON.

    >>> seed = walk.record(Value(3.0, label="a") * 2).events[1]
    >>> seed.kind, seed.node, seed.formula
    ('seed', 2, 'n2.grad = ∂n2/∂n2 = 1')
    """

    kind: ClassVar[str] = ""

    node: int
    words: Words = field(default=_SILENT, repr=False, compare=False, kw_only=True)

    @property
    def sentence(self) -> str:
        """The event in plain English.

        >>> walk.record(Value(3.0, label="a") * 2).events[0].sentence
        '`n2` is `a` × 2: 3 × 2 = 6.'
        """
        return self.words.sentence(self)

    @property
    def latex(self) -> str:
        r"""The event as a formula, in LaTeX that KaTeX takes.

        >>> walk.record(Value(3.0, label="a") * 2).events[0].latex
        'n_{2} = a \\times 2 = 3 \\times 2 = 6'
        """
        return self.words.latex(self)

    @property
    def formula(self) -> str:
        """The event as one line of text, with its numbers.

        >>> walk.record(Value(3.0, label="a") * 2).events[-1].formula
        'a.grad += n2.grad × ∂n2/∂a = 1 × 2 = 2'
        """
        return self.words.formula(self)

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON takes it.

        >>> walk.record(Value(3.0, label="a") * 2).events[1].to_dict()["gradient"]
        1.0
        """
        told = {name: json_fields.encoded(getattr(self, name)) for name in _FIELDS[self.kind]}
        return {"kind": self.kind, **told, "formula": self.formula, "sentence": self.sentence, "latex": self.latex}


@dataclass(frozen=True, slots=True)
class Compute(Event):
    """The forward pass fills in a node's data. `recomputed` is set where its operands would now give another number.

    >>> step = walk.record(Value(-6.0, label="e") + Value(6.88137, label="b")).events[0]
    >>> step.operands, step.operand_values, step.formula
    ((0, 1), (-6.0, 6.88137), 'n2.data = −6 + 6.8814 = 0.8814')
    """

    kind: ClassVar[str] = "compute"

    value: Numbers
    operands: tuple[int, ...]
    operand_values: tuple[Numbers, ...]
    recomputed: float | None = None


@dataclass(frozen=True, slots=True)
class Seed(Event):
    """The root's gradient with respect to itself is set.

    >>> next(step for step in walk.record(Value(3.0) * 2).events if isinstance(step, walk.Seed)).gradient
    1.0
    """

    kind: ClassVar[str] = "seed"

    gradient: Numbers


@dataclass(frozen=True, slots=True)
class Visit(Event):
    """It is a node's turn to push. Its gradient is final if no consumer is `waiting`; None if nothing has arrived.

    `turn` counts the visits of a node that an order lists more than once; `arrived` is what a hook was given, where one
    replaced the gradient.

    >>> a = Value(3.0, label="a")
    >>> [(step.node, step.gradient) for step in walk.record((a * 2).exp()).events if isinstance(step, walk.Visit)]
    [(3, 1.0), (2, 403.4287934927351)]
    """

    kind: ClassVar[str] = "visit"

    gradient: Numbers  # or None
    waiting: tuple[int, ...] = ()
    turn: int = 1
    arrived: Numbers = None


@dataclass(frozen=True, slots=True)
class Push(Event):
    """A node adds `upstream × local` to one operand's gradient; `before` is None for a first contribution.

    `position` is the operand's place among the node's operands. `local` is None where only the node's own `_backward`
    knows it.

    >>> a = Value(3.0)
    >>> [(s.position, s.before, s.contribution, s.after) for s in walk.record(a * a).events if s.kind == "push"]
    [(0, None, 3.0, 3.0), (1, 3.0, 3.0, 6.0)]
    """

    kind: ClassVar[str] = "push"

    operand: int
    position: int
    upstream: Numbers
    local: float | None
    contribution: Numbers
    before: Numbers  # or None
    after: Numbers

    @property
    def replaces(self) -> bool:
        """Whether what was there is lost: a `_backward` made by hand may set a gradient instead of adding to it.

        >>> a = Value(3.0)
        >>> [s.replaces for s in walk.record(a * a).events if s.kind == "push"]
        [False, False]
        """
        if not isinstance(self.before, float) or self.after != self.contribution:
            return False
        return bool(self.after != self.before + self.contribution)


# --- the search for an order ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Enter(Event):
    """The depth-first search comes to a node for the first time, from `by` (None for the root).

    >>> walk.search_steps(Value(3.0, label="a") + 1)[0].sentence
    'Begin at `n2`. First go through its operands.'
    """

    kind: ClassVar[str] = "enter"

    by: int | None


@dataclass(frozen=True, slots=True)
class AlreadyVisited(Event):
    """The search looks at a node from `by`, and has been there before.

    >>> a = Value(3.0, label="a")
    >>> [step.sentence for step in walk.search_steps(a + a) if isinstance(step, walk.AlreadyVisited)]
    ['`n1` also uses `a`, which has been visited: go on.']
    """

    kind: ClassVar[str] = "already_visited"

    by: int | None


@dataclass(frozen=True, slots=True)
class Leave(Event):
    """Every operand of a node is in the order, so the node is appended, at `place`.

    >>> [(step.node, step.place) for step in walk.search_steps(Value(3.0).exp()) if isinstance(step, walk.Leave)]
    [(0, 0), (1, 1)]
    """

    kind: ClassVar[str] = "leave"

    place: int


# --- JSON ----------------------------------------------------------------------------------------------------------

_READERS: dict[str, json_fields.Reader] = {
    **dict.fromkeys(("node", "operand", "position", "turn", "place"), json_fields.whole),
    **dict.fromkeys(("operands", "waiting"), json_fields.many(json_fields.whole)),
    **dict.fromkeys(("value", "upstream", "contribution", "after"), json_fields.number),
    **dict.fromkeys(("before", "local", "arrived", "recomputed"), json_fields.maybe(json_fields.number)),
    "operand_values": json_fields.many(json_fields.number),
    "by": json_fields.maybe(json_fields.whole),
}

_KINDS: dict[str, type[Event]] = {}
_FIELDS: dict[str, dict[str, json_fields.Reader]] = {}


def register(kind: type[Event], **readers: json_fields.Reader) -> None:
    """Make a kind of event known to JSON; `readers` for fields that mean something else elsewhere."""
    names = [entry.name for entry in fields(kind) if entry.name != "words"]
    _KINDS[kind.kind] = kind
    _FIELDS[kind.kind] = {name: readers.get(name) or _READERS[name] for name in names}


register(Compute)
register(Seed, gradient=json_fields.number)
register(Visit, gradient=json_fields.maybe(json_fields.number))
for _kind in (Push, Enter, AlreadyVisited, Leave):
    register(_kind)


def event_from_dict(record: dict[str, Any], what: str = "the event") -> Event:
    """The event that `to_dict` made this from; `what` names it in errors.

    >>> push = walk.record(Value(3.0) * 2).events[-1]
    >>> walk.event_from_dict(push.to_dict()) == push
    True
    >>> walk.event_from_dict({"kind": "leap"})
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: the event is of the kind 'leap', which is none of compute, seed, visit, push, enter,
    already_visited, leave
    """
    kind = json_fields.decoded(record, {"kind": json_fields.text}, what)["kind"]
    if kind not in _KINDS:
        raise GraphError(f"{what} is of the kind {kind!r}, which is none of {', '.join(_KINDS)}")
    texts = dict.fromkeys(("formula", "sentence", "latex"), json_fields.text)
    words = StoredWords(json_fields.decoded(record, texts, what))
    return _KINDS[kind](**json_fields.decoded(record, _FIELDS[kind], what), words=words)
