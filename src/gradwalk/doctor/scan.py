"""A graph laid open after its `backward()`: what flows through each layer, which units are off, what each stands on.

One pass over the nodes, which must be quick: in a training run it is done again every few steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from gradwalk import ops, walk
from gradwalk.doctor.names import Names
from gradwalk.doctor.order import first_operand, ordered
from gradwalk.engine import Value

_RELU = {ops.relu, "relu", "ReLU"}
#: Ops that squash: their steepest slope. The names are those of nodes made by hand.
_SQUASH: dict[Any, tuple[str, float]] = {
    **dict.fromkeys((ops.tanh, "tanh", "Tanh"), ("tanh", 1.0)),
    **dict.fromkeys((ops.sigmoid, "sigmoid", "Sigmoid"), ("sigmoid", 0.25)),
}
#: A squashing op is saturated where its slope is below this share of its steepest.
SATURATED = 0.01


@dataclass
class ReluCounts:
    """Of one unit in one graph: how often its ReLU was computed, and how often it was on.

    >>> ReluCounts("layers[0]", seen=100).dead
    True
    """

    layer: str
    seen: int = 0
    on: int = 0
    highest: float = -math.inf  # of what went into it
    lowest: float = math.inf

    @property
    def dead(self) -> bool:
        """Whether it was never on."""
        return self.on == 0


@dataclass
class SquashCounts:
    """Of one layer in one graph: how often a tanh or sigmoid was computed, and how often it was saturated.

    >>> SquashCounts("tanh", seen=100, saturated=95).share
    0.95
    """

    op: str
    seen: int = 0
    saturated: int = 0
    units: dict[str, list[int]] = field(default_factory=dict)  # by unit: seen, saturated

    @property
    def share(self) -> float:
        """The share that was saturated."""
        return self.saturated / self.seen


@dataclass
class Flow:
    """The gradients that arrive at the weighted sums of a layer: their mean square, and how many they are.

    >>> Flow(squares=8.0, count=2).size
    2.0
    """

    squares: float = 0.0
    count: int = 0

    @property
    def size(self) -> float:
        """The root of their mean square."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0


class Scan:
    """What one pass over a graph sees. `order` is operands first; `flows` is by layer, the one nearest the data first.

    >>> model = nn.MLP(2, [4, 1])
    >>> loss = nn.mse([model([1.0, 2.0]), model([2.0, 1.0])], [1.0, 0.0])
    >>> loss.backward()
    >>> scan = Scan(loss, names_of(model))
    >>> list(scan.flows), len(scan.relus), scan.relus["layers[0].neurons[3]"].seen
    (['layers[0]', 'layers[1]'], 4, 2)
    """

    def __init__(self, root: Value, names: Names) -> None:
        self.root = root
        self.names = names
        self.order = ordered(root)
        self.flows: dict[str, Flow] = {}
        self.relus: dict[str, ReluCounts] = {}
        self.squashes: dict[str, SquashCounts] = {}
        self.reached: set[int] = set()  # ids of parameters that a path leads to
        self.custom: list[Value] = []  # nodes with an op or a `_backward` of the user's own
        self._layers = {id(p): spot.layer for p in names.parameters if (spot := names.spot(p))}
        self._look()

    def _look(self) -> None:
        layers, flows, reached = self._layers, self.flows, self.reached
        mul, add, builtin = ops.mul, ops.add, _BUILTIN
        for v in self.order:
            kind = v.primitive
            if kind is mul or kind is add:  # nearly all
                if v.closure is not None:
                    self.custom.append(v)
                    continue
                a, b = v.inputs
                first, second = layers.get(id(a)), layers.get(id(b))
                if first is None and second is None:
                    continue
                if first is not None and second is not None and kind is mul:
                    continue  # a product of parameters is a price on weights, not a layer at work
                g = v.grad
                if g.__class__ is not float:
                    continue
                for layer in (first, second):
                    if layer is not None:
                        flow = flows.get(layer)
                        if flow is None:
                            flow = flows[layer] = Flow()
                        flow.squares += g * g
                        flow.count += 1
                continue
            if v.is_leaf:
                if id(v) in layers:
                    reached.add(id(v))
                continue
            if kind not in builtin or v.closure is not None:
                self.custom.append(v)
            name = kind or v._op  # a node made by hand is known by its text
            if name in _RELU:
                self._relu(v)
            elif name in _SQUASH:
                self._squash(v)

    def _relu(self, v: Value) -> None:
        below = first_operand(v)
        spot = self.unit_of(below)
        if spot is None:
            return
        unit = self.relus.get(spot[0])
        if unit is None:
            unit = self.relus[spot[0]] = ReluCounts(spot[1])
        unit.seen += 1
        unit.on += v.data > 0.0
        x = below.data
        if x > unit.highest:
            unit.highest = x
        if x < unit.lowest:
            unit.lowest = x

    def _squash(self, v: Value) -> None:
        spot = self.unit_of(first_operand(v))
        if spot is None:
            return
        name, steepest = _SQUASH[v.primitive or v._op]
        slope = 1.0 - v.data * v.data if name == "tanh" else v.data * (1.0 - v.data)
        squash = self.squashes.get(spot[1])
        if squash is None:
            squash = self.squashes[spot[1]] = SquashCounts(name)
        unit = squash.units.setdefault(spot[0], [0, 0])
        squash.seen += 1
        unit[0] += 1
        if slope < SATURATED * steepest:
            squash.saturated += 1
            unit[1] += 1

    def unit_of(self, v: Value) -> tuple[str, str] | None:
        """The unit and layer whose weighted sum `v` is: a sum with a parameter in it, or a product with one.

        >>> model = nn.MLP(2, [4, 1])
        >>> out = model([1.0, 2.0])
        >>> out.backward()
        >>> Scan(out, names_of(model)).unit_of(out)
        ('layers[1].neurons[0]', 'layers[1]')
        """
        top, constants = v, False
        while True:
            if v.closure is not None:
                return None
            if v.primitive is ops.add:
                a, b = v.inputs
                if v.slopes[1] is None:  # a sum that starts from 0; anything else is no weighted sum
                    constants = constants or v is top
                    v = a
                    continue
                found = self._parameter(b) or self._parameter(a)
                if found is not None:
                    return None if constants else found
                if a.primitive is not ops.add and a.primitive is not ops.mul:
                    return None
                v = a
            elif v.primitive is ops.mul:
                return self._parameter(v)
            else:
                return None

    def _parameter(self, v: Any) -> tuple[str, str] | None:
        """The unit and layer of a parameter, or of a product with one."""
        if not isinstance(v, Value):
            return None
        if v.is_leaf:
            return self._spot_of(v)
        if v.primitive is ops.mul and v.closure is None:
            a, b = v.inputs
            return self._spot_of(a) or self._spot_of(b)
        return None

    def _spot_of(self, v: Value) -> tuple[str, str] | None:
        if id(v) not in self._layers:
            return None
        spot = self.names.spots[id(v)]
        return spot.unit, spot.layer

    def where(self, v: Value) -> str:
        """The unit that a node belongs to; "after" one whose result it is computed from; nothing if that is unknown.

        >>> model = nn.MLP(2, [4, 1])
        >>> out = model([1.0, 2.0])
        >>> out.backward()
        >>> scan = Scan(out, names_of(model))
        >>> scan.where(out.exp()), scan.where(out * out)
        ('layers[1].neurons[0]', 'after layers[1].neurons[0]')
        """
        if v.is_leaf:
            return self.names.name(v)
        inside = len(v.inputs) == 1  # an activation of its own
        after = ""
        for _ in range(64):  # a few steps down the first operands are enough, or nothing is
            if v.is_leaf:
                name = self.names.name(v)
                return f"{after}{name}" if name else ""
            found = self.unit_of(v)
            if found is not None:
                return f"{after}{found[0]}"
            v = first_operand(v)
            after = "" if inside and not after else "after "
            inside = False
        return ""

    def at(self, v: Value) -> str:
        """A node in words, with the unit it belongs to.

        >>> w = Value(2.0, label="w")
        >>> out = w.exp()
        >>> Scan(out, names_of([w])).at(out)
        'exp(w=2) = 7.38906'
        """
        place, told = self.where(v), walk.describe(v)
        known = f"{place.removeprefix('after ')}=" in told  # by its label
        return f"{place}: {told}" if place and not v.is_leaf and not known else told


_BUILTIN = frozenset(ops.TABLE.values())
