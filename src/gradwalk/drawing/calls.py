"""Which nodes of a graph a module made: found from its parameters, since a node does not know its module.

A module's call is taken to be what almost every module computes: a weighted sum, and perhaps one activation. So a node
belongs to a call of module M if

- it combines one parameter of M with something else: `w * x`, `b + …`; or
- it adds up nodes that belong to M already and have no parameter in common; or
- it is the activation of such a sum: a function of that node alone, and the only one that uses it.

Everything else lies between the modules: losses, penalties, sums over samples. A node that multiplies two parameters
(`w * w`, a penalty) belongs to no call.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradwalk.drawing.drawn_graph import DrawnGraph
from gradwalk.drawing.modules import Modules

__all__ = ["Calls", "calls_in"]

SUMS = ("+", "-")
ARITHMETIC = (*SUMS, "*", "/")
ACTIVATIONS = ("tanh", "ReLU", "relu", "sigmoid", "softplus", "LeakyReLU", "leaky_relu")


@dataclass
class Calls:
    """For each node the number of the call it belongs to, or None; for each call its module.

    >>> neuron = nn.Neuron(2, activation="tanh")
    >>> out = neuron([Value(1.0), Value(2.0)])
    >>> drawn = drawn_graph([(out - 1) ** 2])
    >>> calls = calls_in(drawn, modules_of(neuron))
    >>> [drawn.op(i) for i, call in enumerate(calls.call) if call is not None]
    ['*', '+', '*', '+', 'tanh']
    """

    call: list[int | None]
    module: dict[int, int]


@dataclass(slots=True)
class CallPart:
    """What is known of a node that belongs to a call."""

    module: int
    covered: int  # the parameters that went into it, a bit for each
    done: bool = False  # whether it is the activation


def calls_in(drawn: DrawnGraph, modules: Modules) -> Calls:
    """The calls of a model's modules in a graph.

    >>> layer = nn.Layer(1, 3)
    >>> found = calls_in(drawn_graph(layer([1.0]) + layer([2.0])), modules_of(layer))
    >>> len(set(found.module)), len(set(found.module.values()))
    (6, 3)
    """
    finder = Finder(drawn, modules)
    nodes = drawn.graph.nodes
    for v, node in enumerate(nodes):
        live = [x for x in node.operands if not nodes[x].constant]
        if live:
            _ = finder.takes_a_parameter(v, live) or finder.adds_up(v, live) or finder.activates(v, live)
    return finder.calls()


class Finder:
    """Goes through a graph, operands first, and notes which nodes belong to calls."""

    def __init__(self, drawn: DrawnGraph, modules: Modules) -> None:
        self.ops = [node.op for node in drawn.graph.nodes]
        self.modules = modules
        self.owner = {v: modules.owner[id(node)] for v, node in enumerate(drawn.values) if id(node) in modules.owner}
        self.bit: dict[int, int] = {}  # of each parameter
        self.full: dict[int, int] = {}  # of each module, all of its bits
        for v, module in self.owner.items():
            self.bit[v] = self.full.get(module, 0) + 1  # all bits so far are set, so this is the next one
            self.full[module] = self.full.get(module, 0) | self.bit[v]
        self.uses = [0] * len(drawn.values)
        for node in drawn.graph.nodes:
            for x in node.operands:
                self.uses[x] += 1
        self.parts: list[CallPart | None] = [None] * len(drawn.values)
        self.next = list(range(len(drawn.values)))  # the node of its call that uses a node; the last points at itself

    def takes_a_parameter(self, v: int, live: list[int]) -> bool:
        held = [x for x in live if x in self.owner]
        if len(held) != 1:
            return False
        module, bit = self.owner[held[0]], self.bit[held[0]]
        own = [x for x in live if self._is_open(x, module) and not self._covered([x]) & bit]
        self._join(v, module, own, bit)
        return True

    def adds_up(self, v: int, live: list[int]) -> bool:
        first = self.parts[live[0]]
        if self.ops[v] not in SUMS or first is None or not all(self._is_open(x, first.module) for x in live):
            return False
        if sum(self._covered([x]).bit_count() for x in live) > self._covered(live).bit_count():
            return False  # a parameter is in two of them: these are different calls
        self._join(v, first.module, live, 0)
        return True

    def activates(self, v: int, live: list[int]) -> bool:
        before = self.parts[live[0]]
        if len(live) > 1 or self.uses[live[0]] > 1 or before is None or before.done:
            return False
        told = getattr(self.modules.all[before.module].itself, "nonlin", None)  # gradwalk's and micrograd's neurons say
        if not (self.ops[v] in ACTIVATIONS if told is None else told and self.ops[v] not in ARITHMETIC):
            return False
        self._join(v, before.module, live, 0)
        self.parts[v] = CallPart(before.module, before.covered, done=True)
        return True

    def _is_open(self, v: int, module: int) -> bool:
        """Whether a node is part of a sum of that module's that may go on."""
        part = self.parts[v]
        return part is not None and part.module == module and not part.done and part.covered != self.full[module]

    def _covered(self, nodes: list[int]) -> int:
        covered = 0
        for v in nodes:
            part = self.parts[v]
            covered |= part.covered if part is not None else 0
        return covered

    def _join(self, v: int, module: int, own: list[int], bit: int) -> None:
        self.parts[v] = CallPart(module, bit | self._covered(own))
        for x in own:
            self.next[x] = v

    def calls(self) -> Calls:
        call: list[int | None] = [None] * len(self.parts)
        module: dict[int, int] = {}
        for v in reversed(range(len(self.parts))):  # what uses a node has a higher number
            part = self.parts[v]
            if part is None:
                continue
            call[v] = call[self.next[v]] if self.next[v] != v else v
            if self.next[v] == v:
                module[v] = part.module
        return Calls(call, module)
