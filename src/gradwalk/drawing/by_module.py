"""A large graph as a few boxes: one for each neuron or each layer, with all of its calls together.

Nodes that belong to no module stay what they are while they are few, and else become boxes too: the inputs, and what
is computed between two layers or after the last. Boxes have levels: inputs 0, modules odd, what lies between them even.
A module comes one level after all that it reads, so a module that is called again on its own output is drawn again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gradwalk.drawing import magnitudes
from gradwalk.drawing.by_node import SYMBOLS, node_box
from gradwalk.drawing.calls import calls_in
from gradwalk.drawing.drawn_graph import DrawnGraph, drawn_graph
from gradwalk.drawing.modules import Modules
from gradwalk.drawing.scene import Box, Line, Row, Scene
from gradwalk.drawing.text import cut, shown
from gradwalk.messages import counted

__all__ = ["scene_by_module"]

FEW = 24  # inputs, or nodes between modules, that are drawn one by one
LONGEST_LABEL, LONGEST_NOTE = 24, 40

Cell = tuple[str, int, int]  # kind, number, level: ("call", group, 3), ("glue", 0, 2), ("inputs", 0, 0), ("node", i, 0)


def scene_by_module(
    roots: Sequence[Any], modules: Modules, depth: str, *, grads: bool = True, coloured: bool = False
) -> Scene:
    """The scene of a graph with its nodes grouped by module.

    >>> model = nn.MLP(2, [4, 4, 1])
    >>> scene = scene_by_module([nn.mse(model([1.0, -2.0]), 1.0)], modules_of(model), "layers")
    >>> [box.label for box in scene.boxes if box.kind == "group"]
    ['layers.0', 'layers.1', 'layers.2']
    """
    drawn = drawn_graph(roots, modules.names)
    cells = _acyclic(drawn, Sorter(drawn, modules, depth).cells())
    order: dict[Cell, int] = {}
    members: dict[Cell, list[int]] = {}
    for v, cell in enumerate(cells):
        members.setdefault(cell, []).append(v)
    for cell in _topological(drawn, cells, members):
        order[cell] = len(order)
    captions = Captions(drawn, modules, cells, grads, coloured)
    boxes = [captions.box(cell, members[cell]) for cell in order]
    summary = f"{counted(len(boxes), 'box', 'boxes')} for {counted(len(cells), 'node')}, by {depth[:-1]}"
    scale = captions.scale.texts() if captions.scale else ()
    return Scene(tuple(boxes), tuple(_lines(drawn, cells, order)), summary, scale)


# --- which node is in which box ----------------------------------------------------------------------------------


class Sorter:
    """Finds the cell of every node."""

    def __init__(self, drawn: DrawnGraph, modules: Modules, depth: str) -> None:
        self.drawn = drawn
        found = calls_in(drawn, modules)
        self.call = found.call
        self.group = {call: modules.group(module, depth) for call, module in found.module.items()}
        self.owner = {
            v: modules.group(modules.owner[id(node)], depth)
            for v, node in enumerate(drawn.values)
            if id(node) in modules.owner
        }

    def cells(self) -> list[Cell]:
        home: dict[int, int] = {}  # of a group, the level of its first call: where its parameters are
        for _ in range(2):  # the second time it is known where the parameters are
            levels, by_call = self._levels(home)
            home = {}
            for of, level in by_call.items():
                home[self.group[of]] = min(level, home.get(self.group[of], level))
        drawn = self.drawn
        inputs = [node.id for node in drawn.graph.nodes if node.leaf and node.id not in self.owner]
        glue = [v for v, ids in enumerate(drawn.operands) if ids and self.call[v] is None]
        single = set(inputs if len(inputs) <= FEW else ()) | set(glue if len(glue) <= FEW else ())
        cells: list[Cell] = []
        for v, ids in enumerate(drawn.operands):
            call = self.call[v]
            if v in self.owner:
                cells.append(("call", self.owner[v], home.get(self.owner[v], 1)))
            elif v in single:
                cells.append(("node", v, 0))
            elif call is not None:
                cells.append(("call", self.group[call], by_call[call]))
            else:
                cells.append(("glue", 0, levels[v]) if ids else ("inputs", 0, 0))
        for v, ids in enumerate(drawn.operands):  # a constant goes with whoever uses it
            for x in ids:
                if drawn.graph.nodes[x].constant:
                    cells[x] = ("node", x, 0) if v in single else cells[v]
        return cells

    def _levels(self, home: dict[int, int]) -> tuple[list[int], dict[int, int]]:
        """The level of each node and of each call."""
        levels = [0] * len(self.call)
        by_call: dict[int, int] = {}
        for v, ids in enumerate(self.drawn.operands):
            if not ids:
                levels[v] = home.get(self.owner[v], 0) if v in self.owner else 0
                continue
            call = self.call[v]
            if call is None:
                highest = max(levels[x] for x in ids)
                levels[v] = highest + highest % 2 if highest else 2 * any(x in self.owner for x in ids)
                continue
            outside = [levels[x] for x in ids if self.call[x] != call and x not in self.owner]
            highest = max(outside, default=0)
            by_call[call] = levels[v] = max(by_call.get(call, 1), highest + 1 + highest % 2)
        return levels, by_call


def _acyclic(drawn: DrawnGraph, cells: list[Cell]) -> list[Cell]:
    """The cells, with those that read each other in a circle made one; for models of an unusual shape."""
    reads: dict[Cell, set[Cell]] = {cell: set() for cell in cells}
    for v, ids in enumerate(drawn.operands):
        reads[cells[v]].update(cells[x] for x in ids if cells[x] != cells[v])
    read_by: dict[Cell, set[Cell]] = {cell: set() for cell in reads}
    for cell, others in reads.items():
        for other in others:
            read_by[other].add(cell)
    left = set(reads)
    for ahead, back in ((reads, read_by), (read_by, reads)):  # peel off what is on no circle, from both ends
        free = [cell for cell in left if not ahead[cell] & left]
        while free:
            cell = free.pop()
            left.discard(cell)
            free += [other for other in back[cell] & left if not ahead[other] & left]
    return [("glue", 0, -1) if cell in left else cell for cell in cells]


def _topological(drawn: DrawnGraph, cells: list[Cell], members: dict[Cell, list[int]]) -> list[Cell]:
    """The cells, each after those it reads; in the order of their first nodes where that is free."""
    order: list[Cell] = []
    entered: set[Cell] = set()
    for start in members:
        ahead: list[tuple[Cell, bool]] = [(start, False)]
        while ahead:
            cell, left = ahead.pop()
            if left:
                order.append(cell)
            elif cell not in entered:
                entered.add(cell)
                ahead.append((cell, True))
                reads = dict.fromkeys(cells[x] for v in members[cell] for x in drawn.graph.nodes[v].operands)
                ahead += [(other, False) for other in reversed(reads) if other not in entered]
    return order


def _lines(drawn: DrawnGraph, cells: list[Cell], order: dict[Cell, int]) -> list[Line]:
    """Single lines between single nodes; between boxes one line for all edges, with their number."""
    lines: list[Line] = []
    edges: Counter[tuple[int, int]] = Counter()
    for v, ids in enumerate(drawn.operands):
        for x in ids:
            if cells[x] == cells[v]:
                continue
            ends = order[cells[x]], order[cells[v]]
            if cells[x][0] == cells[v][0] == "node":
                lines.append(Line(*ends, title=f"{drawn.name(x)} is an operand of {drawn.op(v)}"))
            else:
                edges[ends] += 1
    crowded = len(edges) > FEW  # then neither numbers nor thick lines can be told apart
    for (source, target), n in edges.items():
        text = f"{n:,}" if n > 1 and not crowded else ""
        lines.append(Line(source, target, text, counted(n, "edge"), count=0 if crowded else n))
    return lines


# --- what a box says -----------------------------------------------------------------------------------------------


class Captions:
    """Puts a cell into words and numbers."""

    def __init__(self, drawn: DrawnGraph, modules: Modules, cells: list[Cell], grads: bool, coloured: bool) -> None:
        self.drawn = drawn
        self.modules = modules
        self.grads = grads
        self.given = set(drawn.roots)  # nodes that something outside their box uses
        for v, ids in enumerate(drawn.operands):
            self.given.update(x for x in ids if cells[x] != cells[v])
        shown_gradients = [drawn.grad(v) for v in self.given if not drawn.graph.nodes[v].constant]
        self.scale = magnitudes.scale_of(shown_gradients) if coloured else None

    def box(self, cell: Cell, members: list[int]) -> Box:
        kind, number, _ = cell
        if kind == "node":
            return node_box(self.drawn, number, grads=self.grads, scale=self.scale)
        held = [v for v in members if id(self.drawn.values[v]) in self.modules.owner]
        gives = [v for v in members if v in self.given and v not in held] or held or members
        label, note, told = self._words(kind, number, members, held, gives)
        title = [label, *told, f"{counted(len(members), 'node')}, of which {len(gives):,} are used by others"]
        if held and self.drawn.walked:
            norm = math.sqrt(sum((magnitudes.magnitude(self.drawn.grad(v)) or 0.0) ** 2 for v in held))
            title.append(f"norm of the gradient of its parameters {norm!r}")
        return Box("group", cut(label, LONGEST_LABEL), "", self._rows(gives), "\n".join(title), cut(note, LONGEST_NOTE))

    def _words(
        self, kind: str, number: int, members: list[int], held: list[int], gives: list[int]
    ) -> tuple[str, str, list[str]]:
        """The label of a box, its note, and more lines for its title."""
        if kind == "inputs":
            return "inputs", counted(len(members), "number"), []
        if kind == "call":
            module = self.modules.all[number]
            parts = [part for part in self.modules.all if part.inside == number and part.parameters]
            kinds = {repr(part.itself) for part in parts or [module]}
            note = type(module.itself).__name__  # or `TanhNeuron(2)`, `4 × TanhNeuron(2)`
            if len(kinds) == 1 and len(text := kinds.pop()) <= LONGEST_NOTE and not text.startswith("<"):
                note = f"{len(parts)} × {text}" if parts else text
            calls = len(gives) // max(1, len(parts))
            if calls > 1:
                note += f", {calls:,} calls"
            return module.name, note, [note, counted(len(held), "parameter")]
        roots = [v for v in members if v in self.drawn.roots]
        label = (self.drawn.label(roots[0]) or "result") if roots else "in between"
        ops = Counter(SYMBOLS.get(op, op) for op in (self.drawn.op(v) for v in members) if op)
        listed = ", ".join(f"{n:,} {op}" for op, n in ops.most_common())
        return label, f"{sum(ops.values()):,} nodes: {', '.join(op for op, _ in ops.most_common(4))}", [listed]

    def _rows(self, gives: list[int]) -> tuple[Row, ...]:
        data = Row("data", _range([self.drawn.data(v) for v in gives]))
        if not self.grads or all(self.drawn.graph.nodes[v].constant for v in gives):
            return (data,)
        gradients = [self.drawn.grad(v) for v in gives]
        step = None
        if self.scale:
            steps = [step for step in map(self.scale.step, gradients) if step is not None]
            step = magnitudes.ODD if magnitudes.ODD in steps else max(steps, default=None)
        return data, Row("grad", None if None in gradients else _range(gradients), step)


def _range(numbers: list[Any]) -> str:
    """`0.5`, or `−1 … 2`; a nan or what is no number shows."""
    known = [float(getattr(x, "data", x)) for x in numbers if magnitudes.magnitude(x) is not None]
    if len(known) < len(numbers):
        return shown(next(x for x in numbers if magnitudes.magnitude(x) is None))
    if any(map(math.isnan, known)):
        return "nan"
    low, high = shown(min(known)), shown(max(known))
    return low if low == high else f"{low} … {high}"
