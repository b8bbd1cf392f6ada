"""`record(root)`: everything that happens on the way forward and back, as a list of events.

The stepper in the terminal, the page, the drawings and the tests all play this one list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gradwalk.errors import GraphError, OpError
from gradwalk.ops import Op
from gradwalk.ops import number as float_of
from gradwalk.walk import json_fields
from gradwalk.walk.events import Compute, Event, Push, Seed, Visit, Words, event_from_dict
from gradwalk.walk.graph import Graph, graph_from_dict, graph_from_nodes
from gradwalk.walk.handmade import Borrowed
from gradwalk.walk.many import MAP, Many
from gradwalk.walk.nodes import Node
from gradwalk.walk.order_verdict import OrderVerdict
from gradwalk.walk.orders import topological
from gradwalk.walk.sentences import Narrator
from gradwalk.walk.states import History, State, replay
from gradwalk.walk.visits import Hooks, engine_order, play, resolve

__all__ = ["Recording", "measured_graph", "record"]

FORMAT, VERSION = "gradwalk recording", 1


# --- a recording ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recording:
    """A graph and all that happened on it, in order.

    >>> a = Value(3.0, label="a")
    >>> recording = walk.record(a * a)
    >>> [event.kind for event in recording.events]
    ['compute', 'seed', 'visit', 'push', 'push']
    >>> recording.grads, recording.order, recording.verdict.right
    ({0: 6.0, 1: 1.0}, (1,), True)
    """

    graph: Graph
    events: tuple[Event, ...]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The ids in the order of their visits.

        >>> walk.record((Value(3.0) * 2).exp()).order
        (3, 2)
        """
        return tuple(event.node for event in self.events if isinstance(event, Visit))

    @cached_property
    def data(self) -> dict[int, float | None]:
        """The data at the end, by id.

        >>> walk.record(Value(3.0) * 2).data
        {0: 3.0, 1: 2.0, 2: 6.0}
        """
        return dict(self._end.data)

    @cached_property
    def grads(self) -> dict[int, float | None]:
        """The gradients at the end, by id; None where nothing arrived.

        >>> walk.record(Value(3.0) * 2).grads
        {0: 2.0, 1: None, 2: 1.0}
        """
        return dict(self._end.grads)

    @cached_property
    def verdict(self) -> OrderVerdict:
        """What became of the order: right or not, and which contributions were lost or counted twice.

        >>> walk.record(Value(3.0) * 2).verdict.sentence
        'Each node came after all that use it: every gradient is right.'
        """
        return OrderVerdict(self.graph, self.events)

    def to_json(self) -> str:
        """The recording as JSON text, with every digit; nan and inf as texts.

        >>> text = walk.record(Value(3.0) * 2).to_json()
        >>> walk.Recording.from_json(text).to_json() == text
        True
        """
        whole = {
            "format": FORMAT,
            "version": VERSION,
            "graph": self.graph.to_dict(),
            "events": [event.to_dict() for event in self.events],
            "verdict": self.verdict.to_dict(),
        }
        return json.dumps(whole, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Recording:
        """The recording that `to_json` wrote; the verdict is worked out anew.

        >>> walk.Recording.from_json("[1, 2")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.GraphError: this is not a recording, or it is cut short: it cannot be read as JSON ...
        """
        try:
            found = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise GraphError(
                f"this is not a recording, or it is cut short: it cannot be read as JSON ({error})"
            ) from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise GraphError(f'this is not a recording: a recording is a JSON object with "format": "{FORMAT}"')
        if found.get("version") != VERSION:
            raise GraphError(
                f"this recording is of version {found.get('version')!r}, and this gradwalk reads version {VERSION}; "
                "record the graph again"
            )
        parts = json_fields.decoded(
            found, {"graph": lambda x: x, "events": json_fields.many(lambda x: x)}, "the recording"
        )
        graph = graph_from_dict(parts["graph"])
        events = tuple(_checked(event, place, graph) for place, event in enumerate(parts["events"]))
        return cls(graph, events)

    @cached_property
    def _end(self) -> State:
        return replay(self.events, self.graph)

    @cached_property
    def _history(self) -> History:
        return History(self.events, self.graph)


def record(
    root: Node | Recording, order: Iterable[Any] | None = None, *, seed: float = 1.0, allow_repeats: bool = False
) -> Recording:
    """What happens in a graph forwards, and backwards in the engine's order or in `order`; no Value is touched.

    An order lists ids, labels or Values; leaves may be left out. The gradients are what that order really computes:
    a node passes on what it has when its turn comes. With `allow_repeats`, a node may be listed more than once, and
    pushes again each time. Given a recording, its graph is walked again. Hooks run, as they do in `backward()`.

    >>> a = Value(2.0, label="a")
    >>> b, c = a + 1, a * 3
    >>> b.label, c.label = "b", "c"
    >>> d = b * c
    >>> d.label = "d"
    >>> walk.record(d).grads[0], walk.record(d, order=["c", "d", "b", "a"]).grads[0]
    (15.0, 6.0)
    """
    if seed.__class__ is not float:
        seed = float_of(seed)
    if isinstance(root, Recording):
        return _record_again(root, order, seed, allow_repeats=allow_repeats)
    if not hasattr(root, "data"):
        raise GraphError(f"record takes a Value, or a recording to walk again, not {type(root).__name__}: {root!r}")
    nodes = list(topological(root))
    graph = graph_from_nodes(nodes)
    hooks = _hooks(nodes)
    if getattr(root, "many", False) is True:
        _check_tensor(root, order)
    visits = None if order is None else resolve(order, graph, nodes, allow_repeats=allow_repeats)
    if visits is not None and hooks:
        raise _no_order_with_hooks(graph, next(iter(hooks)))
    words = Narrator(graph)
    with root.reaching() if getattr(root, "many", False) is True else nullcontext():
        back = _walk_back(graph, engine_order(graph, hooks) if visits is None else visits, seed, words, hooks, nodes)
    if any(node.handmade for node in graph.nodes):
        graph = _measured(graph, back) if visits is None else measured_graph(nodes)
    forward = []
    for node in graph.nodes:
        if node.operands:
            values = tuple(graph.nodes[x].data for x in node.operands)
            now = _recomputed(nodes[node.id], node.data)
            forward.append(Compute(node.id, node.data, node.operands, values, now, words=words))
    return Recording(graph.plain(), (*forward, *back))


def _check_tensor(root: Node, order: Any) -> None:
    if math.prod(root.shape) != 1:
        raise GraphError(
            f"a walk begins at one number, and this tensor has shape {root.shape}; take its sum() or mean()"
        )
    if order is not None:
        raise GraphError(
            "an order of your own is for graphs of Values; tensor.scalars() gives the same computation as Values"
        )


def measured_graph(nodes: Sequence[Node]) -> Graph:
    """The graph of nodes in topological order, with slopes where only a `_backward` made by hand knows them.

    Such a `_backward` shows its slopes on a walk in the right order, which leaves no trace in the nodes.

    >>> a = Value(3.0)
    >>> out = Value(6.0, (a,), "double")
    >>> def double_backward():
    ...     a.grad += 2 * out.grad
    >>> out._backward = double_backward
    >>> walk.graph_of(out).nodes[1].slopes, walk.measured_graph([a, out]).nodes[1].slopes
    ((None,), (2.0,))
    """
    graph, hooks = graph_from_nodes(nodes), _hooks(nodes)
    if not any(node.handmade for node in graph.nodes):
        return graph
    return _measured(graph, _walk_back(graph, engine_order(graph, hooks), 1.0, Narrator(graph), hooks, nodes))


def _record_again(was: Recording, order: Iterable[Any] | None, seed: float, *, allow_repeats: bool) -> Recording:
    graph = was.graph
    if any(slope is MAP for node in graph.nodes for slope in node.slopes):
        raise GraphError("a recording of tensors holds no maps to walk again with; record the tensor itself")
    hooked = [event.node for event in was.events if isinstance(event, Visit) and event.arrived is not None]
    if hooked:
        raise _no_order_with_hooks(graph, hooked[0])
    visits = engine_order(graph, {}) if order is None else resolve(order, graph, (), allow_repeats=allow_repeats)
    forward = [event for event in was.events if isinstance(event, Compute)]
    return Recording(graph, (*forward, *play(graph, visits, seed, Narrator(graph), {}, None)))


def _no_order_with_hooks(graph: Graph, place: int) -> GraphError:
    return GraphError(
        f"{graph.nodes[place].name} (id {place}) has a hook, which may only run as in backward(); "
        "remove the hook to try an order of your own"
    )


def _walk_back(
    graph: Graph, visits: Iterable[int], seed: float, words: Words, hooks: Hooks, nodes: Sequence[Node]
) -> tuple[Event, ...]:
    if not any(node.handmade for node in graph.nodes):
        return tuple(play(graph, visits, seed, words, hooks, None))
    with Borrowed(nodes, graph) as borrowed:
        return tuple(play(graph, visits, seed, words, hooks, borrowed))


def _recomputed(node: Node, data: float) -> float | None:
    """What the node's op gives on its operands now, if that is not the data it holds."""
    op = getattr(node, "primitive", None)
    if not isinstance(op, Op) or isinstance(data, Many):
        return None
    try:
        now = op.forward(*(getattr(x, "data", x) for x in node.inputs))
    except OpError:
        return None
    same = math.isclose(now, data, rel_tol=1e-9) or (math.isnan(now) and math.isnan(data))
    return None if same else now


def _hooks(nodes: Sequence[Node]) -> Hooks:
    hooks = {place: getattr(node, "hooks", None) for place, node in enumerate(nodes)}
    return {place: [hook.function for hook in found] for place, found in hooks.items() if found}


def _measured(graph: Graph, events: Iterable[Event]) -> Graph:
    """The graph with slopes for its handmade nodes, as the pushes show them."""
    slopes = {node.id: list(node.slopes) for node in graph.nodes if node.handmade}
    for event in events:
        if isinstance(event, Push) and event.node in slopes and event.local is not None:
            slopes[event.node][event.position] = (slopes[event.node][event.position] or 0.0) + event.local
    for place, known in slopes.items():
        below = graph.nodes[place].operands
        for x in set(below):  # of a + a, which a _backward may add to in one go, each use has its part
            uses = [position for position, operand in enumerate(below) if operand == x]
            shares = [share for share in (known[position] for position in uses) if share is not None]
            if 0 < len(shares) < len(uses):
                for position in uses:
                    known[position] = sum(shares) / len(uses)
    nodes = (replace(node, slopes=tuple(slopes[node.id])) if node.handmade else node for node in graph.nodes)
    return Graph(tuple(nodes), graph.root)


# --- back from JSON ------------------------------------------------------------------------------------------------


def _checked(row: Any, place: int, graph: Graph) -> Event:
    what = f"event {place}"
    event = event_from_dict(row, what)
    ids = [event.node]
    match event:
        case Push(operand=operand, position=position):
            ids.append(operand)
            below = graph.nodes[event.node].operands if event.node < len(graph.nodes) else ()
            if position >= len(below) or below[position] != operand:
                raise GraphError(
                    f"{what} pushes from node {event.node} to {operand}, which is not its operand {position}"
                )
        case Compute(operands=operands):
            ids.extend(operands)
        case Visit(waiting=waiting):
            ids.extend(waiting)
        case Seed():
            pass
        case _:
            raise GraphError(f"{what} is of the kind {event.kind!r}, which is not part of a walk forwards or back")
    for x in ids:
        if x >= len(graph.nodes):
            raise GraphError(f"{what} is about node {x}, and the graph has {len(graph.nodes)} nodes")
    return event
