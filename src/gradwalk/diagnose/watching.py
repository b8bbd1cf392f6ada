"""The engine's own walk, watched: which node pushes when, how often, and holding what.

Small graphs are made of one op, and each node's push is wrapped so that it says when it is called. What a walk does
wrong can then be seen, whatever the ops are worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.budget import trying
from gradwalk.diagnose.discovery import held
from gradwalk.diagnose.experiments import compares_data
from gradwalk.diagnose.pushing import recorded
from gradwalk.matcher import same

__all__ = [
    "LEFT_OUT_BY",
    "Walk",
    "equal_by_data",
    "faults_of_walk",
    "left_out_by",
    "seed_is_added",
    "starts_with_one",
    "watch",
    "wrong_seed",
]

LEFT_OUT_BY = "left-out-by"  # said of an op

#: Graphs: the operands of each node, by number; nodes without are leaves, and the last one is the root.
Graph = Sequence[tuple[int, ...]]
CHAIN: Graph = ((), (), (), (0, 1), (3, 2), (4, 1))
GRAPHS: tuple[Graph, ...] = (
    ((), (), (0, 1)),
    CHAIN,
    ((), (), (0, 1), (2, 2), (3, 2)),  # b·b + b
    ((), (), (0, 1), (2, 2), (2, 3)),  # b + b·b
    ((), (), (0, 1), (2, 1), (3, 0), (4, 2)),  # a long way and a short one
    ((), (), (0, 1), (2, 1), (3, 0), (2, 4)),
    ((), (), (0, 1), (0, 2), (2, 3), (2, 4), (5, 3)),
)
DATA = (1.3, 0.7, 1.9)
#: For each op, a number that leaves the other operand as it is.
NEUTRAL = {"mul": 1.0, "add": 0.0, "sub": 0.0, "div": 1.0}


@dataclass(frozen=True)
class Walk:
    """One walk, as it was seen: who pushed, holding which gradient, and what was written to the root before that.

    `leaves`: what they hold when it is done.

    >>> Walk(GRAPHS[0], ((2, 1.0),), (1.0,), 0.91).seed
    1.0
    """

    graph: Graph
    visits: tuple[tuple[int, float], ...]
    root_writes: tuple[float, ...]
    root_data: float
    leaves: tuple[float, ...] = ()

    @property
    def root(self) -> int:
        """The number of the root.

        >>> Walk(CHAIN, (), (), 0.0).root
        5
        """
        return len(self.graph) - 1

    @property
    def seed(self) -> float | None:
        """What the root holds when it pushes first; None if it never does.

        >>> Walk(CHAIN, (), (), 0.0).seed is None
        True
        """
        return next((grad for node, grad in self.visits if node == self.root), None)

    @property
    def order(self) -> list[int]:
        """The nodes that were made by an op, in the order in which they pushed.

        >>> Walk(GRAPHS[0], ((2, 1.0), (1, 0.5)), (), 0.0).order
        [2]
        """
        return [node for node, _ in self.visits if self.graph[node]]


# --- what is wrong with a walk ---------------------------------------------------------------------------------------


def faults_of_walk(engine: Engine, listed: bool) -> list[str]:
    """What the walk does wrong on graphs whose ops are not asked about; `listed`: it goes back over a list.

    >>> faults_of_walk(Engine(museum.find("preorder").engine()), listed=True)
    ['preorder']
    """
    walks = [walk for graph in GRAPHS if (walk := watch(engine, graph)) is not None]
    if len(walks) < len(GRAPHS):
        return []
    found = [*_seeding(walks), *_visiting(walks, listed)]
    if "missing-visits" in found and (by := left_out_by(engine)):
        return [name for name in found if name != "missing-visits"] + [f"{LEFT_OUT_BY}: {op}" for op in by]
    if not found and all(not any(walk.leaves) and all(grad for _, grad in walk.visits) for walk in walks):
        return ["wiped-at-the-end"]
    if "missing-visits" in found or not equal_by_data(engine):
        return found
    return [*found, "equal-by-data" if compares_data(engine) else "seen-by-data"]


def left_out_by(engine: Engine) -> list[str]:
    """Ops after which the walk comes to the result and not to its operands, if there are others where it does.

    >>> left_out_by(Engine(teaching.load()))
    []
    """
    lost, kept = [], []
    for op in NEUTRAL:
        walks = [walk for graph in GRAPHS if (walk := watch(engine, graph, ops=(op,))) is not None]
        if len(walks) == len(GRAPHS):
            if not any(_misses_nodes(walk) for walk in walks):
                kept.append(op)
            elif all(walk.root in walk.order for walk in walks):
                lost.append(op)
    return lost if kept else []


def _misses_nodes(walk: Walk) -> bool:
    return set(walk.order) != {node for node, operands in enumerate(walk.graph) if operands}


def _seeding(walks: Sequence[Walk]) -> list[str]:
    seeds = [walk.seed for walk in walks]
    if None in seeds or all(same(seed, 1.0) for seed in seeds if seed is not None):
        return []
    if not any(seeds):
        return ["wiped-after-seed" if all(1.0 in walk.root_writes for walk in walks) else "not-seeded"]
    if all(same(walk.seed or 0.0, walk.root_data) for walk in walks):
        return ["seeded-with-data"]
    return [] if all(1.0 in walk.root_writes for walk in walks) else ["seeded-wrong"]  # it is changed on its way


def _visiting(walks: Sequence[Walk], listed: bool) -> list[str]:
    if any(map(_misses_nodes, walks)):
        return ["missing-visits"]
    repeated = [{node for node in walk.order if walk.order.count(node) > 1} for walk in walks]
    if any(repeated):
        if all(len({walk.order.count(node) for node in walk.order}) == 1 for walk in walks):  # whatever uses it
            return ["pushes-twice"]
        if all(nodes == {walk.root} for nodes, walk in zip(repeated, walks, strict=True)):
            return ["root-twice"]
        return ["listed-twice" if listed else "no-order"]
    if not any(map(_is_early, walks)):
        return []
    if all(walk.order[-1] == walk.root for walk in walks):
        return ["wrong-end"]
    for name, oldest_or_newest in (("breadth-first", 0), ("preorder", -1)):
        if all(walk.order in _searched(walk.graph, oldest_or_newest) for walk in walks):
            return [name]
    return ["no-order"]


def _is_early(walk: Walk) -> bool:
    """Whether a node pushes before all of its users have pushed."""
    return any(
        walk.order.index(user) > walk.order.index(operand)
        for user in walk.order
        for operand in walk.graph[user]
        if walk.graph[operand]
    )


def _searched(graph: Graph, take: int) -> list[list[int]]:
    """The orders in which a search finds nodes, operands either way round, if it goes on from the place `take`."""
    found = []
    for turn in (1, -1):
        order: list[int] = []
        seen, waiting = set[int](), [len(graph) - 1]
        while waiting:
            node = waiting.pop(take)
            if node not in seen:
                seen.add(node)
                order += [node] if graph[node] else []
                waiting += graph[node][::turn]
        found.append(order)
    return found


def equal_by_data(engine: Engine) -> bool:
    """Whether nodes that hold the same number count as one, so that the walk leaves some out.

    >>> equal_by_data(Engine(Value))
    False
    """
    walks = [watch(engine, graph, neutral=True) for graph in GRAPHS]
    return any(walk is not None and len(set(walk.order)) < sum(map(bool, walk.graph)) for walk in walks)


def seed_is_added(engine: Engine) -> bool:
    """Whether a second walk starts with 2 at the root, because the first one left 1 there.

    >>> seed_is_added(Engine(Value))
    False
    """
    first, second = watch(engine, CHAIN), watch(engine, CHAIN, times=2)
    return first is not None and second is not None and first.seed == 1.0 and second.seed == 2.0


def starts_with_one(engine: Engine) -> bool:
    """Whether the root was seen to push first, and with a gradient of 1; or holds 1 when a walk is done.

    >>> starts_with_one(Engine(teaching.load()))
    True
    """
    walk = watch(engine, CHAIN)
    return wrong_seed(engine) == "" if walk is None else walk.seed == 1.0


def wrong_seed(engine: Engine) -> str | None:
    """What is wrong with the root's gradient, where nobody can watch: by what it holds when the walk is done.

    Nothing if it holds 1, or if no walk came to its end; None if it holds 0: it may have been wiped, or not be kept.

    >>> from gradwalk.diagnose import teaching
    >>> wrong_seed(Engine(teaching.load()))
    ''
    """
    found = []
    for op in NEUTRAL:
        with trying(engine.files):
            root = engine.op(op, engine.leaf(DATA[0]), engine.leaf(DATA[1]))
            engine.backward(root)
            found.append((engine.grad(root), engine.data(root)))
    seeds = {seed for seed, _ in found}
    if not seeds:
        return ""
    if 0.0 in seeds:
        return None
    if all(same(seed, data) for seed, data in found):
        return "seeded-with-data"
    return "" if seeds == {1.0} else "seeded-wrong" if len(seeds) == 1 else None


# --- watching --------------------------------------------------------------------------------------------------------


def watch(
    engine: Engine, graph: Graph, *, times: int = 1, neutral: bool = False, ops: Iterable[str] = NEUTRAL
) -> Walk | None:
    """The last of so many walks over a graph; None if it cannot be watched. `neutral`: many nodes hold one number.

    All nodes are made by one op, the first of `ops` that can be watched.

    >>> watch(Engine(teaching.load()), GRAPHS[0]).visits[0]
    (2, 1.0)
    """
    if engine.push is None or engine.push.takes == "locals":
        return None
    for op in ops:
        with trying(engine.files):
            found = _watched(engine, graph, op, times, neutral)
            if found is not None:
                return found
    return None


def _watched(engine: Engine, graph: Graph, op: str, times: int, neutral: bool) -> Walk | None:
    with recorded(engine.kind) as made:
        nodes: list[Any] = []
        for operands in graph:
            if operands:
                nodes.append(engine.op(op, *(nodes[i] for i in operands)))
            else:
                numbers = (DATA[0], *[NEUTRAL[op]] * len(graph)) if neutral else DATA
                nodes.append(engine.leaf(numbers[len(nodes)]))
    if len(made) != len(nodes):
        return None  # made from other ops: there are more nodes than those
    number = {id(node): i for i, node in enumerate(nodes)}
    visits: list[tuple[int, float]] = []
    writes: list[float] = []
    with _pushes_heard(engine, nodes, number, visits), _writes_heard(engine, nodes[-1], visits, writes):
        for _ in range(times):
            visits.clear()
            writes.clear()
            engine.backward(nodes[-1])
    if not visits and any(map(engine.grad, nodes[: len(DATA)])):
        return None  # it pushes in another way
    leaves = tuple(engine.grad(node) for node, operands in zip(nodes, graph, strict=True) if not operands)
    return Walk(graph, tuple(visits), tuple(writes), engine.data(nodes[-1]), leaves)


@contextmanager
def _pushes_heard(
    engine: Engine, nodes: Sequence[Any], number: dict[int, int], visits: list[tuple[int, float]]
) -> Iterator[None]:
    """While this lasts, each push of these nodes is written down with the gradient that the node holds."""
    assert engine.push is not None
    name = engine.push.name

    def heard(node: Any, push: Any) -> Any:
        def wrapper(*arguments: Any) -> Any:
            visits.append((number[id(node)], engine.grad(node)))
            return push(*arguments)

        return wrapper

    if engine.push.on_node:
        for node in nodes:
            push = held(node, name)
            if callable(push):
                setattr(node, name, heard(node, push))
        yield
        return

    def listening(original: Any) -> Any:
        def method(self: Any, *arguments: Any) -> Any:
            if id(self) in number:
                visits.append((number[id(self)], engine.grad(self)))
            return original(self, *arguments)

        return method

    owners = {next(cls for cls in type(node).__mro__ if name in vars(cls)) for node in nodes}  # an op may be a class
    originals = {cls: vars(cls)[name] for cls in owners}
    for cls, original in originals.items():
        setattr(cls, name, listening(original))
    try:
        yield
    finally:
        for cls, original in originals.items():
            setattr(cls, name, original)


@contextmanager
def _writes_heard(engine: Engine, root: Any, visits: list[tuple[int, float]], writes: list[float]) -> Iterator[None]:
    """While this lasts, what is written to the root's gradient before anybody pushes is written down."""
    cls = engine.cls
    original: Any = cls.__setattr__
    own = "__setattr__" in vars(cls)

    def hear(self: Any, name: str, value: Any) -> None:
        if self is root and name == engine.grad_name and not visits:
            try:
                writes.append(engine._number(value))
            except (TypeError, ValueError):
                pass
        original(self, name, value)

    cls.__setattr__ = hear  # type: ignore[assignment]
    try:
        yield
    finally:
        if own:
            cls.__setattr__ = original
        else:
            del cls.__setattr__
