"""An engine under observation: what it makes, which line writes which number, and what nudging says about it.

A program is run on the wrong engine and, in step, on ours: the n-th node of one is the n-th node of the other. So the
graph that is drawn is the right one, and the numbers in it are those of the engine that is watched.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradwalk.diagnose.adapter import Engine, find_class
from gradwalk.diagnose.probes import Probe, run
from gradwalk.engine import Value
from gradwalk.matcher import Outcome
from gradwalk.walk.graph import Graph, graph_from_nodes

__all__ = ["EngineEvent", "RecordedEngine", "TwoRuns", "engine_of", "graph_of_run", "watch"]

FILE = "<engine>"
PROGRAM = "<program>"
MOST_EVENTS = 400  # more than anybody steps through
#: What our engines call the node that pushes; `self` and `root` are there as well when gradients are set back to 0.
PUSHERS = ("out", "result", "node", "v", "tensor")


@dataclass(frozen=True)
class EngineEvent:
    """One thing that the engine did: `compute`, `seed`, `visit`, `push`, `write`.

    Numbers of a push: what the pushing node held, what stood in the slot, what stands there now. `line` is a line of
    the engine's source; None where the program itself did it.

    >>> EngineEvent("seed", 2, after=1.0).kind
    'seed'
    """

    kind: str
    node: int
    operand: int | None = None
    position: int | None = None
    slot: str = "grad"
    upstream: float | None = None
    before: float | None = None
    after: float | None = None
    line: int | None = None


def engine_of(source: str, namespace: dict[str, Any] | None = None) -> tuple[type[Any], dict[str, Any]]:
    """The class that a source text defines, and all it defines; NotAnEngine where there is none.

    >>> engine_of(teaching.SOURCE)[0].__name__
    'Value'
    """
    space: dict[str, Any] = {"__name__": "engine"} if namespace is None else namespace
    if namespace is None:
        exec(compile(source, FILE, "exec"), space)
    return find_class(space, "Value"), space


class RecordedEngine(Engine):
    """An engine that writes down what it does.

    >>> watched = RecordedEngine(*engine_of(museum.find("overwriting").source()))
    >>> outcome = run(Probe("", "a = Value(3.0); b = a + a; b.backward()", ("a.grad",)), watched)
    >>> [(event.kind, event.after) for event in watched.events][-2:]
    [('push', 1.0), ('push', 1.0)]
    """

    def __init__(self, cls: type[Any], namespace: Mapping[str, Any]) -> None:
        super().__init__(cls, namespace)
        self.made: list[Any] = []
        self.first: list[float] = []  # the number that each node was made with
        self.events: list[EngineEvent] = []
        self.labels: dict[int, str] = {}
        self.roots: list[int] = []  # for each walk, from where
        self.zeroed: dict[int, int] = {}  # how many walks there were when the program last set this gradient
        self.operands: list[tuple[int, ...]] = []  # of each node, those that are nodes of the program
        self._places: dict[int, int] = {}
        self._grads: dict[int, float | None] = {}  # of each node, once something was written to it
        self._pushed: tuple[int, set[int]] = (-1, set())
        if cls is not Value:
            _listen(cls, self.grad_name, self._grad_written)
            _listen(cls, self.data_name, self._data_written)

    # --- what programs call

    def leaf(self, x: float) -> Any:
        """A node that holds a number.

        >>> watched = RecordedEngine(*engine_of(teaching.SOURCE))
        >>> watched.leaf(2.0) is watched.made[0]
        True
        """
        self._name_what_has_a_name()
        return self._keep(super().leaf(x), ())

    def op(self, name: str, *operands: Any, strict: bool = False) -> Any:
        """Apply an op, and write down what came of it.

        >>> watched = RecordedEngine(*engine_of(teaching.SOURCE))
        >>> _ = watched.op("mul", watched.leaf(2.0), 3)
        >>> watched.events[0].after
        6.0
        """
        self._name_what_has_a_name()
        node = super().op(name, *operands, strict=strict)
        places = tuple(self._places[id(x)] for x in operands if id(x) in self._places)
        return self._keep(node, places) if isinstance(node, self.cls) else node

    def backward(self, root: Any) -> None:
        """Walk back, and remember from where.

        >>> watched = RecordedEngine(*engine_of(teaching.SOURCE))
        >>> watched.backward(watched.op("neg", watched.leaf(2.0)))
        >>> watched.roots
        [1]
        """
        self._name_what_has_a_name()
        self.roots.append(self._places.get(id(root), -1))
        self._pushed = (-1, set())
        super().backward(root)

    def set_grad(self, node: Any, x: float) -> None:
        """Change a gradient, as the program asks.

        >>> watched = RecordedEngine(*engine_of(teaching.SOURCE))
        >>> watched.set_grad(watched.leaf(2.0), 5.0)
        >>> watched.events[0].kind, watched.events[0].after
        ('write', 5.0)
        """
        self.zeroed[self._places[id(node)]] = len(self.roots)
        super().set_grad(node, x)

    # --- what is written down

    def _keep(self, node: Any, operands: tuple[int, ...]) -> Any:
        if id(node) in self._places:
            return node
        place = len(self.made)
        self._places[id(node)] = place
        self.made.append(node)
        self.first.append(_number(self, node))
        self.operands.append(operands)
        self._grads[place] = None
        if operands:
            self._note(EngineEvent("compute", place, slot="data", after=_number(self, node)))
        return node

    def _name_what_has_a_name(self) -> None:
        """A node is called what the program calls it; a name that is used again gets a number."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != PROGRAM:
            frame = frame.f_back
        for name, value in list(frame.f_globals.items()) if frame else []:
            place = self._places.get(id(value))
            if place is not None and place not in self.labels and name.isidentifier() and not name.startswith("_"):
                times = sum(label.split(" ")[0] == name for label in self.labels.values())
                self.labels[place] = f"{name} {times + 1}" if times else name

    def _grad_written(self, node: Any, after: Any, frame: FrameType) -> None:
        place = self._places.get(id(node))
        if place is None:
            return
        try:
            number = float(after)
        except (TypeError, ValueError):
            return
        before = self._grads[place]
        line = _line(frame)
        pusher = self._pusher(place, frame)
        if pusher is not None:
            self._push(pusher, place, before, number, line)
        elif place in self.roots[-1:] and number == 1.0:
            self._note(EngineEvent("seed", place, before=before, after=number, line=line))
            self._pushed = (-1, set())
        elif number != 0.0 or before not in (None, 0.0):
            self._note(EngineEvent("write", place, before=before, after=number, line=line))
        else:
            return  # nothing was there, and nothing is there now
        self._grads[place] = number

    def _push(self, pusher: int, place: int, before: float | None, after: float, line: int | None) -> None:
        same = [i for i, operand in enumerate(self.operands[pusher]) if operand == place]
        last, done = self._pushed
        free = [i for i in same if last == pusher and i not in done]
        if last != pusher or not free:
            done, free = set(), same
            self._note(EngineEvent("visit", pusher, upstream=self._grads[pusher]))
        self._pushed = (pusher, done | {free[0]})
        upstream = self._grads[pusher]
        self._note(EngineEvent("push", pusher, place, free[0], "grad", upstream, before, after, line))

    def _pusher(self, place: int, frame: FrameType | None) -> int | None:
        """The node that pushes: one that the writing line can see, and that was made from the one written to."""
        for _ in range(2):
            if frame is None:
                return None
            seen = {name: self._places.get(id(value), -1) for name, value in frame.f_locals.items()}
            for name in PUSHERS:
                if seen.get(name, -1) >= 0 and place in self.operands[seen[name]]:
                    return seen[name]
            frame = frame.f_back
        return None

    def _data_written(self, node: Any, after: Any, frame: FrameType) -> None:
        place = self._places.get(id(node))
        if place is not None:
            self._note(EngineEvent("write", place, slot="data", after=float(after), line=_line(frame)))

    def _note(self, event: EngineEvent) -> None:
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)


@dataclass(frozen=True)
class TwoRuns:
    """What came of watching: the outcome, the watched engine, and ours in step with it.

    >>> watch("a = Value(3.0); b = -a", *engine_of(teaching.SOURCE)).outcome.kind
    'numbers'
    """

    outcome: Outcome
    watched: RecordedEngine
    ours: RecordedEngine


def watch(program: str, cls: type[Any], namespace: Mapping[str, Any], see: tuple[str, ...] = ()) -> TwoRuns:
    """Run a program on an engine and on ours.

    >>> seen = watch("a = Value(3.0); b = a + a; b.backward()", *engine_of(museum.find("overwriting").source()))
    >>> seen.watched.labels, len(seen.watched.made), len(seen.ours.made)
    ({0: 'a', 1: 'b'}, 2, 2)
    """
    watched, ours = RecordedEngine(cls, namespace), RecordedEngine(Value, {})
    asked = Probe("", program, see)
    outcome = run(asked, watched)
    run(asked, ours)
    return TwoRuns(outcome, watched, ours)


def graph_of_run(ours: RecordedEngine) -> tuple[Graph, list[int]]:
    """The graph that a program has built on our engine, also what no walk has reached; and each node's id in it.

    >>> graph, ids = graph_of_run(watch("a = Value(3.0); b = a * 2; b.backward()", *engine_of(teaching.SOURCE)).ours)
    >>> [node.name for node in graph.nodes], ids
    (['a', '2', 'b'], [0, 2])
    """
    order: list[Any] = []
    seen: set[int] = set()
    for node in ours.made:
        for part in (*node.operands, node):
            if id(part) not in seen:
                seen.add(id(part))
                order.append(part)
    for place, label in ours.labels.items():
        ours.made[place].label = label
    places = {id(node): place for place, node in enumerate(order)}
    return graph_from_nodes(order), [places[id(node)] for node in ours.made]


# --- listening -------------------------------------------------------------------------------------------------------


def _listen(cls: type[Any], name: str, told: Callable[[Any, Any, FrameType], None]) -> None:
    """Have `told` called with every number that is written to this attribute of the class's objects."""
    inner = cls.__dict__.get(name)
    key = f"_{name}_as_written"

    def read(node: Any) -> Any:
        if inner is not None and hasattr(inner, "__get__"):
            return inner.__get__(node, cls)
        try:
            return node.__dict__[key]
        except KeyError:
            raise AttributeError(name) from None

    def write(node: Any, value: Any) -> None:
        if inner is not None and hasattr(inner, "__set__"):
            inner.__set__(node, value)
        else:
            node.__dict__[key] = value
        told(node, value, sys._getframe(1))

    setattr(cls, name, property(read, write))


def _line(frame: FrameType | None) -> int | None:
    """The line of the engine's own text that did it."""
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        if frame.f_code.co_filename == FILE:
            return frame.f_lineno
        frame = frame.f_back
    return None


def _number(engine: Engine, node: Any) -> float:
    try:
        return engine.data(node)
    except (TypeError, ValueError, AttributeError):
        return float("nan")
