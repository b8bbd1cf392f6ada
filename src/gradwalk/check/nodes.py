"""A graph laid open for checking: its nodes in order, and for each what it was made of and what it passes back.

For a node of ours both are written in it. For a node with a `_backward` closure, a learner's own class above all, the
local derivatives are found by asking the closure alone: gradient 1 in, see what comes out at each operand; and the
function is found by its `_op` text in the op table, if that gives the number the node holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

from gradwalk import ops, walk
from gradwalk.check.inputs import replaced, run_backward
from gradwalk.check.numeric import EPSILON
from gradwalk.engine import Value
from gradwalk.errors import GradwalkError
from gradwalk.ops import Op, number
from gradwalk.replay import Computed

Node = Any

#: A sum of products may be off by this share of the sum of their magnitudes.
ROUNDING = 64 * EPSILON
#: An operand may be off by this share of itself, when it was computed from others.
LAST_DIGITS = 8 * EPSILON  # tuned: a few last digits
#: So near its kink an op has a rule that jumps; that is no rounding.
KINKED = 1e-12


@dataclass(frozen=True)
class Local:
    """One node on its own. `operands` are as its function takes them; a slope is None where nothing flows."""

    node: Node
    operands: tuple[Any, ...]
    slopes: tuple[float | None, ...] | None  # None: the node does not tell
    function: Op | None  # None: not known
    arguments: tuple[int | float, ...]  # of the function: places in operands (int), constants (float)

    @property
    def point(self) -> tuple[float, ...]:
        """The numbers of the operands."""
        return tuple(data(x) for x in self.operands)

    def arranged(self, point: tuple[float, ...]) -> tuple[float, ...]:
        """The arguments of the node's function when its operands hold these numbers."""
        return tuple(point[x] if isinstance(x, int) else x for x in self.arguments)

    def value(self, point: tuple[float, ...]) -> float:
        """The node's function when its operands hold these numbers."""
        assert self.function is not None
        return self.function.forward(*self.arranged(point))

    def computed(self) -> Computed | None:
        """The node's function and its arguments, nodes and constants; None if it is not known."""
        if self.function is None:
            return None
        return self.function.forward, [self.operands[x] if isinstance(x, int) else x for x in self.arguments]

    def distance_to_kink(self, point: tuple[float, ...] | None = None) -> float:
        """0 where the node's function is not smooth, as far as it says."""
        if self.function is None or self.function.rough is None:
            return math.inf
        return abs(number(self.function.rough(*self.arranged(point or self.point))))

    def meeting_at_kink(self) -> int:
        """How many operands that gradient flows to have a part in the kink that the node stands at."""
        if self.distance_to_kink():
            return 0
        point, nudge = self.point, 0.7318  # tuned: any that leads to no other kink
        flowing = [i for i, slope in enumerate(self.slopes or ()) if slope is not None]
        nudged = (replaced(point, i, point[i] + nudge) for i in flowing)
        return sum(bool(self.distance_to_kink(there)) for there in nudged)

    def slope_rounding(self, place: int) -> float:
        """How much the slope's rule gives otherwise when its operands or its result differ in their last digits."""
        op = self.function
        if op is None or self.distance_to_kink() < KINKED:
            return 0.0
        position, given = self.arguments.index(place), [*self.arranged(self.point), data(self.node)]
        try:
            slope, moved = op.slope(position, *given), 0.0
            for i, x in enumerate(given):
                change = abs(op.slope(position, *replaced(given, i, x + x * LAST_DIGITS)) - slope)
                moved += change if math.isfinite(change) else 0.0
        except GradwalkError:
            return 0.0
        return moved

    def shares(self) -> Iterator[tuple[Node, float]]:
        """Each operand with the derivative towards it."""
        for operand, slope in zip(self.operands, self.slopes or (), strict=False):
            if slope is not None:
                yield operand, slope


class CheckedGraph:
    """Everything below a root, with the gradients that its `backward()` gives. What the nodes hold is put back."""

    def __init__(self, root: Node, leaves: Sequence[Node] = (), *, fresh: bool) -> None:
        self.root = root
        self.order: list[Node] = list(walk.topological(root, ordered_operands))
        everything = {id(v): v for v in (*self.order, *leaves)}  # a class may not show how its nodes hang together
        with undisturbed(everything.values()):
            if not fresh:
                for v in self.order:
                    v.grad = 0.0
            run_backward(root)
            self.gradients = {v: gradient(node) for v, node in everything.items()}
        self.reached = {id(v) for v in self.order}
        self.locals = {id(v): local(v) for v in self.order if ordered_operands(v)}

    def gradient(self, node: Node) -> float:
        """What `backward()` gave a node."""
        return self.gradients.get(id(node), 0.0)

    def __contains__(self, node: Node) -> bool:
        return id(node) in self.reached

    @cached_property
    def noise(self) -> float:
        """How far the root may be off by rounding: each number on the way is good to its last digit only."""
        inner = (abs(data(v) * self.gradient(v)) for v in self.order if id(v) in self.locals)
        return EPSILON * sum(x for x in inner if math.isfinite(x))

    def rounding(self, node: Node) -> float:
        """How far the gradient of a node may be off by rounding alone."""
        return self._roundings.get(id(node), 0.0)

    @cached_property
    def _roundings(self) -> dict[int, float]:
        """How far the gradient of each node, by its id, may be off by rounding alone.

        A gradient is a sum over paths of products of slopes, so it is good to a few last digits of the sum of their
        magnitudes. And each slope was itself computed from rounded numbers: where it changes quickly, that counts.
        """
        sizes, errors = {id(self.root): 1.0}, {id(self.root): 0.0}
        for v in reversed(self.order):
            size, here = sizes.get(id(v)), self.locals.get(id(v))
            if not size or here is None:
                continue
            for place, (operand, slope) in enumerate(zip(here.operands, here.slopes or (), strict=False)):
                if slope is not None and math.isfinite(slope):
                    error = abs(slope) * errors[id(v)] + here.slope_rounding(place) * size
                    sizes[id(operand)] = sizes.get(id(operand), 0.0) + abs(slope) * size
                    errors[id(operand)] = errors.get(id(operand), 0.0) + error
        return {v: ROUNDING * size + errors[v] for v, size in sizes.items()}

    def first_not_finite(self) -> Node | None:
        """The first node whose number is not finite."""
        return next((v for v in self.order if not math.isfinite(data(v))), None)


@contextmanager
def undisturbed(nodes: Iterable[Node]) -> Iterator[None]:
    """Put back the data and gradients of nodes afterwards."""
    held = [(v, v.data, v.grad) for v in nodes]
    try:
        yield
    finally:
        for v, before, grad in held:
            v.data, v.grad = before, grad


def data(x: Any) -> float:
    """The number of a node, or of a constant."""
    if not hasattr(x, "dtype"):  # NumPy's numbers have a data of another kind
        x = getattr(x, "data", x)
    return number(x)


def gradient(v: Node) -> float:
    """The gradient of a node as a float; one that was never set is 0."""
    held = v.grad
    return 0.0 if held is None else data(held)


def has_gradient(x: Any) -> bool:
    """Whether an operand is a node rather than a constant."""
    return hasattr(x, "grad")


def ordered_operands(v: Node) -> list[Node]:
    """The nodes that `v` was computed from; out of a set, in an order that is the same in every run."""
    if isinstance(v, Value):
        return [x for x in v.inputs if isinstance(x, Value)]
    found = [x for x in walk.operands(v) if has_gradient(x)]
    return found if _keeps_order(v) else sorted(found, key=lambda x: (str(getattr(x, "_op", "")), data(x)))


def local(v: Node) -> Local:
    """What can be known of a node on its own."""
    if isinstance(v, Value) and v.primitive is not None:
        kind, inputs = v.primitive, v.inputs
        if v.closure is None:
            return Local(v, inputs, v.slopes, kind, tuple(range(len(inputs))))
        distinct = _distinct(inputs)
        return Local(v, distinct, ask(v, distinct), kind, tuple(_place(x, distinct) for x in inputs))
    operands = ordered_operands(v)
    function, arguments = _recognised(v, operands)
    slopes = getattr(v, "_local_grads", None)  # where engines without closures keep them
    if slopes is not None and len(slopes) == len(operands):
        return Local(v, tuple(operands), tuple(map(data, slopes)), function, arguments)
    distinct = _distinct(operands)
    places = tuple(_place(operands[x], distinct) if isinstance(x, int) else x for x in arguments)
    return Local(v, distinct, _flowing(distinct, ask(v, distinct)), function, places)


def ask(v: Node, operands: tuple[Node, ...], upstream: float = 1.0, held: float = 0.0) -> tuple[float, ...] | None:
    """What `v._backward()` alone adds to each operand, given `upstream`, when each operand held `held` before."""
    push: Callable[[], None] | None = getattr(v, "_backward", None)
    if not callable(push):
        return None
    with undisturbed([v, *operands]):
        for operand in operands:
            operand.grad = held
        v.grad = upstream
        try:
            push()
        except Exception:  # a closure that needs more than its own node; what it does is then not known
            return None
        return tuple(gradient(operand) - held for operand in operands)


def describe(here: Local) -> str:
    """A node in one short line, its operands in the order in which they are counted: a set has none of its own."""
    before = [x for x in here.arguments if isinstance(x, int)] or range(len(here.operands))
    if _keeps_order(here.node) or len(before) < 2:
        return walk.describe(here.node)
    shown = [walk.short(here.operands[x]) for x in before]
    return f"{walk.formula(str(getattr(here.node, '_op', '')), shown)} = {data(here.node):g}"


def _flowing(operands: tuple[Node, ...], slopes: tuple[float, ...] | None) -> tuple[float | None, ...] | None:
    """Slopes without those towards operands that say of themselves that they want no gradient."""
    if slopes is None:
        return None
    wanted = (getattr(x, "requires_grad", True) is not False for x in operands)
    return tuple(slope if slope or wants else None for slope, wants in zip(slopes, wanted, strict=True))


def at_kink(graph: CheckedGraph, leaves: Iterable[Node]) -> str:
    """The ops that stand at a point where they are not smooth, in words, of those that depend on one of `leaves`."""
    depending, found = set(map(id, leaves)), []
    for v in graph.order:
        here = graph.locals.get(id(v))
        if here is None or not any(id(x) in depending for x in here.operands):
            continue
        depending.add(id(v))
        distance = here.distance_to_kink()
        if distance == 0.0:
            there = getattr(here.function, "there", "")
            found.append(f"{walk.describe(v)} is at its kink" + (f" ({there})" if there else ""))
        elif distance <= 1e-6 * max(1.0, *map(abs, here.point)):
            found.append(f"{walk.describe(v)} is {distance:.0e} from its kink")
    return ", ".join(found[:3])


# --- recognising a home-made op by its text ----------------------------------------------------------------------

#: The ops by their names and symbols, and how many operands they take.
_BY_TEXT = {(text.lower(), op.arity): op for op in ops.TABLE.values() for text in (op.name, op.symbol)}
_BY_TEXT["^", 2] = ops.pow

_POWER = re.compile(r"(?:\*\*|\^|pow)\s*\(?\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*\)?", re.IGNORECASE)


def _recognised(v: Node, operands: list[Node]) -> tuple[Op | None, tuple[int | float, ...]]:
    """The op of the table that a node's text names and whose value the node holds, and the arguments it takes."""
    text = str(getattr(v, "_op", "") or "").strip().lower()
    power = _POWER.fullmatch(text)
    if power is not None:
        return _if_it_fits(v, operands, ops.pow, [(0, float(power[1]))] if len(operands) == 1 else [])
    op = _BY_TEXT.get((text, len(operands)))
    if op is None:
        return None, ()
    places = tuple(range(op.arity))
    certain = _keeps_order(v) or op.name in ("add", "mul", "maximum", "minimum")
    return _if_it_fits(v, operands, op, [places] if certain else permutations(places))


def _if_it_fits(
    v: Node, operands: list[Node], op: Op, orders: Iterable[tuple[int | float, ...]]
) -> tuple[Op | None, tuple[int | float, ...]]:
    """The only one of the orders of arguments that gives the number the node holds; two that do tell nothing."""

    def value(arguments: tuple[int | float, ...]) -> float:
        return op.forward(*(data(operands[x]) if isinstance(x, int) else x for x in arguments))

    match [arguments for arguments in orders if math.isclose(value(arguments), data(v), rel_tol=1e-9)]:
        case [only]:
            return op, only
    return None, ()


def _keeps_order(v: Node) -> bool:
    fields = (getattr(v, field, None) for field in walk.OPERAND_FIELDS)
    return not isinstance(next((x for x in fields if x is not None), ()), (set, frozenset))


def _distinct(operands: Iterable[Any]) -> tuple[Any, ...]:
    return tuple({id(x): x for x in operands if has_gradient(x)}.values())


def _place(x: Any, distinct: tuple[Any, ...]) -> int | float:
    return next((i for i, other in enumerate(distinct) if other is x), data(x))
