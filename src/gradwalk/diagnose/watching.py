"""The engine's own walk, watched: which node pushes when, how often, and holding what.

Small graphs are made of one op, and each node's push is wrapped so that it says when it is called. What a walk does
wrong can then be seen, whatever the ops are worth.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import FrameType
from typing import Any

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.budget import OutOfSteps, limited, lines_limited
from gradwalk.diagnose.discovery import held
from gradwalk.diagnose.pushing import fill, recorded
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.matcher import same

__all__ = [
    "LEFT_OUT_BY",
    "Walk",
    "answer_to_upstream",
    "changes_in_place",
    "compares_data",
    "doubling_function",
    "equal_by_data",
    "faults_of_walk",
    "hashes_all_paths",
    "is_exponential",
    "keeps_nodes",
    "leaf_is_changed",
    "left_out_by",
    "seed_is_added",
    "starts_with_one",
    "watch",
]

STEPS = 20_000
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

    >>> from gradwalk.diagnose import museum
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

    >>> from gradwalk.diagnose import teaching
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
    return ["seeded-wrong"]


def _visiting(walks: Sequence[Walk], listed: bool) -> list[str]:
    if any(map(_misses_nodes, walks)):
        return ["missing-visits"]
    repeated = [{node for node in walk.order if walk.order.count(node) > 1} for walk in walks]
    if any(repeated):
        if all(nodes == {walk.root} for nodes, walk in zip(repeated, walks, strict=True)):
            return ["root-twice"]
        return ["listed-twice" if listed else "no-order"]
    if not any(map(_is_early, walks)):
        return []
    if all(walk.order[-1] == walk.root for walk in walks):
        return ["wrong-end"]
    for name, orders in (("breadth-first", _breadth_first), ("preorder", _preorder)):
        if all(walk.order in orders(walk.graph) for walk in walks):
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


def _breadth_first(graph: Graph) -> list[list[int]]:
    return [list(_levels(graph, turn)) for turn in (1, -1)]


def _levels(graph: Graph, turn: int) -> Iterator[int]:
    seen, waiting = {len(graph) - 1}, deque([len(graph) - 1])
    while waiting:
        node = waiting.popleft()
        if graph[node]:
            yield node
        for operand in graph[node][::turn]:
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)


def _preorder(graph: Graph) -> list[list[int]]:
    found = []
    for turn in (1, -1):
        seen: set[int] = set()
        order: list[int] = []
        stack = [len(graph) - 1]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                order += [node] if graph[node] else []
                stack += graph[node][::turn]
        found.append(order)
    return found


def equal_by_data(engine: Engine) -> bool:
    """Whether nodes that hold the same number count as one, so that the walk leaves some out.

    >>> equal_by_data(Engine(Value))
    False
    """
    walks = [watch(engine, graph, neutral=True) for graph in GRAPHS]
    return any(walk is not None and len(set(walk.order)) < sum(map(bool, walk.graph)) for walk in walks)


def compares_data(engine: Engine) -> bool:
    """Whether two nodes that hold the same number are equal.

    >>> compares_data(Engine(Value))
    False
    """
    try:
        one, other = engine.leaf(2.0), engine.leaf(2.0)
        return one is not other and bool(one == other)
    except Exception:
        return False


def seed_is_added(engine: Engine) -> bool:
    """Whether a second walk starts with 2 at the root, because the first one left 1 there.

    >>> seed_is_added(Engine(Value))
    False
    """
    first, second = watch(engine, CHAIN), watch(engine, CHAIN, times=2)
    return first is not None and second is not None and first.seed == 1.0 and second.seed == 2.0


def starts_with_one(engine: Engine) -> bool:
    """Whether the root was seen to push first, and with a gradient of 1.

    >>> from gradwalk.diagnose import teaching
    >>> starts_with_one(Engine(teaching.load()))
    True
    """
    walk = watch(engine, CHAIN)
    return walk is not None and walk.seed == 1.0


def keeps_nodes(engine: Engine) -> bool:
    """Whether nodes of earlier walks are in the default of a parameter of the walk.

    >>> keeps_nodes(Engine(Value))
    False
    """
    walk = getattr(engine.cls, engine.backward_name or " ", None) or engine.namespace.get(engine.backward_name)
    defaults = [*(getattr(walk, "__defaults__", None) or ()), *(getattr(walk, "__kwdefaults__", None) or {}).values()]
    return any(isinstance(x, (list, set, dict)) and any(isinstance(y, engine.kind) for y in x) for x in defaults)


def leaf_is_changed(engine: Engine, op: str) -> int | None:
    """Which operand of an op gets another push than it had, if any: the closure belongs to the result.

    >>> leaf_is_changed(Engine(Value), "mul") is None
    True
    """
    if engine.push is None or not engine.push.on_node or engine.push.takes == "locals":
        return None
    try:
        operands = [engine.leaf(1.3), engine.leaf(0.7)] if op in SYMBOL else [engine.leaf(0.7)]
        before = [held(operand, engine.push.name) for operand in operands]
        with lines_limited(engine.files):
            engine.op(op, *operands, *([2] if op == "pow" else []))
        after = [held(operand, engine.push.name) for operand in operands]
    except (Exception, SystemExit, OutOfSteps):
        return None
    return next(
        (i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old is not new and old != new), None
    )


def answer_to_upstream(engine: Engine, op: str) -> str:
    """How what an op pushes depends on the upstream gradient, with the engine's nodes pushed by hand.

    `in proportion` is right; `gated`: only a positive one gets through; `clipped`: a larger one gives no more; `odd`
    otherwise; nothing if it is not known, or if the upstream gradient is left out or added, which is known otherwise.

    >>> from gradwalk.diagnose import teaching
    >>> answer_to_upstream(Engine(teaching.load()).by_hand(), "tanh")
    'in proportion'
    """
    answers = {_answer(engine, op, point) for point in ((1.3, 0.7), (-0.6, 2.4))} - {""}
    for answer in ("gated", "clipped", "odd"):
        if answer in answers:
            return answer
    return "in proportion" if answers else ""


def _answer(engine: Engine, op: str, point: tuple[float, float]) -> str:
    pushed = {}
    for upstream in (1.0, 2.0, 40.0, -1.5, 4e3, 8e3):
        try:
            with lines_limited(engine.files), recorded(engine.kind) as made:
                operands = [engine.leaf(x) for x in (point if op in SYMBOL else point[:1])]
                root = engine.op(op, *operands, *([2] if op == "pow" else []))
                fill(engine, made)
                engine.set_grad(root, upstream)
                for node in reversed(made):
                    if engine.push:
                        engine.push(engine, node)
                pushed[upstream] = [engine.grad(operand) for operand in operands]
        except (Exception, SystemExit, OutOfSteps):
            return ""
    answers = []
    for one, two, many, less, most, more in zip(*pushed.values(), strict=True):
        if all(same(x, times * one) for x, times in ((two, 2), (many, 40), (less, -1.5), (most, 4e3), (more, 8e3))):
            answers.append("in proportion")
        elif (one == two == many == less) or (same(two - one, 1.0) and same(less - one, -2.5)):
            return ""
        elif less == 0.0 and same(two, 2 * one):
            answers.append("gated")
        elif most and same(most, more):
            answers.append("clipped")
        else:
            answers.append("odd")
    return next((answer for answer in answers if answer != "in proportion"), "in proportion")


def changes_in_place(engine: Engine, op: str) -> bool:
    """Whether `x += y`, or another operator with `=`, gives x itself with other data, and no new node.

    >>> changes_in_place(Engine(Value), "add")
    False
    """
    try:
        with lines_limited(engine.files):
            x = engine.leaf(1.5)
            made = engine.in_place(op, x, engine.leaf(0.7))
            return made is x and not same(engine.data(x), 1.5)
    except (Exception, SystemExit, OutOfSteps):
        return False


def is_exponential(engine: Engine) -> bool:
    """Whether the walk's own calls double with every diamond of a chain: it takes every path.

    >>> is_exponential(Engine(Value))
    False
    """
    counts = [_calls(engine, diamonds) for diamonds in (4, 6, 8)]
    return None not in counts and all(b >= 3 * a for a, b in pairwise(counts) if a and b)


def hashes_all_paths(engine: Engine) -> bool:
    """Whether to hash or compare one node takes calls that double with every diamond behind it.

    >>> hashes_all_paths(Engine(Value))
    False
    """
    counts = [_calls(engine, diamonds, ("__hash__", "__eq__")) for diamonds in (4, 6, 8)]
    return None not in counts and all(b >= 3 * a > 0 for a, b in pairwise(counts) if a is not None and b is not None)


def doubling_function(engine: Engine) -> int | None:
    """The first line of the engine's function that is called twice as often with every diamond of a chain, if any.

    >>> doubling_function(Engine(Value)) is None
    True
    """
    counts = [_calls_by_line(engine, diamonds) for diamonds in (4, 6, 8)]
    lines = [line for line in counts[-1] if all(many[line] >= 3 * few[line] > 0 for few, many in pairwise(counts))]
    return max(lines, key=lambda line: counts[-1][line], default=None)


def _calls_by_line(engine: Engine, diamonds: int) -> Counter[int]:
    """How often each function of the engine's is called in a walk over a chain of diamonds, by its first line."""
    found: Counter[int] = Counter()

    def watch(frame: FrameType) -> None:
        if frame.f_code.co_filename in engine.files:
            found[frame.f_code.co_firstlineno] += 1

    try:
        x = engine.leaf(1.5)
        for _ in range(diamonds):
            x = engine.op("add", engine.op("mul", x, x), x)
        with limited(30 * STEPS, watch, files=engine.files):
            engine.backward(x)
    except (Exception, SystemExit, OutOfSteps):
        pass
    return found


def _calls(engine: Engine, diamonds: int, named: Sequence[str] = ()) -> int | None:
    """How many calls of the engine's own code a walk over a chain of diamonds takes; with `named`, of these alone."""
    calls = 0

    def watch(frame: FrameType) -> None:
        nonlocal calls
        calls += frame.f_code.co_name in named

    try:
        x = engine.leaf(1.5)
        for _ in range(diamonds):
            x = engine.op("add", engine.op("mul", x, x), x)
        with limited(30 * STEPS, watch if named else None, files=engine.files) as steps:
            engine.backward(x)
    except (Exception, SystemExit, OutOfSteps):
        return None
    return calls if named else steps.used


# --- watching --------------------------------------------------------------------------------------------------------


def watch(
    engine: Engine, graph: Graph, *, times: int = 1, neutral: bool = False, ops: Iterable[str] = NEUTRAL
) -> Walk | None:
    """The last of so many walks over a graph; None if it cannot be watched. `neutral`: many nodes hold one number.

    All nodes are made by one op, the first of `ops` that can be watched.

    >>> from gradwalk.diagnose import teaching
    >>> watch(Engine(teaching.load()), GRAPHS[0]).visits[0]
    (2, 1.0)
    """
    if engine.push is None or engine.push.takes == "locals":
        return None
    for op in ops:
        try:
            with lines_limited(engine.files):
                found = _watched(engine, graph, op, times, neutral)
        except (Exception, SystemExit, OutOfSteps):
            continue
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
    original = getattr(engine.cls, name)
    own = name in vars(engine.cls)

    def method(self: Any, *arguments: Any) -> Any:
        if id(self) in number:
            visits.append((number[id(self)], engine.grad(self)))
        return original(self, *arguments)

    setattr(engine.cls, name, method)
    try:
        yield
    finally:
        if own:
            setattr(engine.cls, name, original)
        else:
            delattr(engine.cls, name)


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
