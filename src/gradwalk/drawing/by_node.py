"""A graph node by node: a box for each node, a line for each use of a node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradwalk.drawing import magnitudes
from gradwalk.drawing.drawn_graph import DrawnGraph, drawn_graph
from gradwalk.drawing.scene import Box, Line, Row, Scene
from gradwalk.drawing.text import clean, cut, shown
from gradwalk.messages import counted
from gradwalk.walk.heat_maps import WRITTEN, heat_map, spread

__all__ = ["SYMBOLS", "node_box", "rows", "scene_by_node", "shown_label"]

#: Ops that are drawn as people write them.
SYMBOLS = {"*": "×", "-": "−", "/": "÷"}

LONGEST_LABEL = 18  # cells of a label on its card; all of it is in the title
LONGEST_OP = 11
LONGEST_EXACT = 300  # characters of the numbers of a tensor in a title


def scene_by_node(
    roots: Sequence[Any],
    *,
    names: Mapping[int, str] | None = None,
    grads: bool = True,
    coloured: bool = False,
    slopes: bool = False,
) -> Scene:
    """The scene of the graph below `roots`, gradients coloured by magnitude and slopes on the lines if asked for.

    >>> a = Value(3.0, label="a")
    >>> scene = scene_by_node([a * a], slopes=True)
    >>> [box.label for box in scene.boxes], [line.text for line in scene.lines]
    (['a', ''], ['× 3', '× 3'])
    """
    drawn = drawn_graph(roots, names, measured=slopes or coloured)
    nodes = drawn.graph.nodes
    scale = magnitudes.scale_of(map(drawn.grad, range(len(nodes)))) if coloured else None
    boxes = [node_box(drawn, i, grads=grads, scale=scale) for i in range(len(nodes))]
    lines = []
    for target, node in enumerate(nodes):
        upstream = magnitudes.magnitude(drawn.grad(target))
        for place, (source, slope) in enumerate(zip(node.operands, node.slopes, strict=True), start=1):
            flow = None if not isinstance(slope, (int, float)) or upstream is None else upstream * slope
            of = drawn.name(target) if drawn.label(target) else drawn.op(target)
            title = f"{drawn.name(source)} is operand {place} of {len(node.operands)} of {of}"
            text = drawn.shape(source)
            if isinstance(slope, (int, float)):  # that of a tensor is a map, not a number
                title += f"\nlocal derivative {slope!r}"
                text = f"× {shown(slope)}" if slopes else text
            sign = _spread(drawn, source, target)
            if sign:
                shapes = [drawn.shape(i) or "()" for i in (source, target)]
                text = f"{shapes[0]} → {shapes[1]}"
                title += f"\n{_WHAT_SPREADS[sign]}"
            lines.append(Line(source, target, text, title, scale.step(flow) if scale else None, spread=sign))
    summary = f"{counted(len(boxes), 'node')}, {counted(len(lines), 'edge')}"
    words = "\n".join(box.title for box in boxes) if any(row.map for box in boxes for row in box.rows) else ""
    return Scene(tuple(boxes), tuple(lines), summary, scale.texts() if scale else (), words)


#: What the strands at the end of a line say.
_WHAT_SPREADS = {
    "fan": "broadcast: numbers are repeated, and on the way back their gradients are summed",
    "funnel": "a reduction: many numbers become few, and on the way back each gradient goes to many",
}


def _spread(drawn: DrawnGraph, source: int, target: int) -> str:
    if drawn.graph.nodes[source].constant and not drawn.shape(source):
        return ""  # a plain number needs no sign to be used many times
    return spread(drawn.values[source], drawn.values[target])


def node_box(drawn: DrawnGraph, i: int, *, grads: bool, scale: magnitudes.Scale | None) -> Box:
    """The box of one node.

    >>> box = node_box(drawn_graph([Value(0.1 + 0.2, label="a")]), 0, grads=True, scale=None)
    >>> box.kind, box.label, [(row.caption, row.text) for row in box.rows]
    ('leaf', 'a', [('data', '0.3'), ('grad', None)])
    >>> print(box.title)
    a
    data 0.30000000000000004
    """
    node, op = drawn.graph.nodes[i], drawn.op(i)
    kind = "constant" if node.constant else "node" if node.operands else "leaf"
    note = ""
    if node.constant and drawn.shape(i):  # many numbers need a card
        kind, note = "leaf", "constant"
    op = cut(SYMBOLS.get(op, op).replace("**-", "**−"), LONGEST_OP)
    return Box(kind, shown_label(drawn.label(i)), op, rows(drawn, i, grads, scale), _title(drawn, i), note)


def rows(drawn: DrawnGraph, i: int, grads: bool, scale: magnitudes.Scale | None) -> tuple[Row, ...]:
    """The numbers of one node: its data, and its gradient if it can have one.

    >>> [row.caption for row in rows(drawn_graph([Value(2.0)]), 0, False, None)]
    ['data']
    """
    value = drawn.values[i]
    many = getattr(value, "many", False) is True
    data = Row("data", shown(drawn.data(i)), map=heat_map(value) if many else None)
    if drawn.graph.nodes[i].constant or not grads:
        return (data,)
    gradient = drawn.grad(i)
    if gradient is None:
        return data, Row("grad", None)
    step = scale.step(gradient) if scale else None
    return data, Row("grad", shown(gradient), step, heat_map(gradient) if many else None)


def shown_label(label: str) -> str:
    """A label as its card shows it: the end of a long path such as a parameter's, the beginning of any other.

    >>> shown_label("layers.0.neurons.12.w.3"), shown_label("a rather long name for it")
    ('0.neurons.12.w.3', 'a rather long nam…')
    """
    parts = label.split(".")
    while len(parts) > 2 and len(".".join(parts)) > LONGEST_LABEL and " " not in label:
        del parts[0]
    short = ".".join(parts)
    return cut(short if len(short) <= LONGEST_LABEL else label, LONGEST_LABEL)


def _title(drawn: DrawnGraph, i: int) -> str:
    lines = [drawn.label(i)] if drawn.label(i) else []
    if drawn.operands[i]:
        lines.append(f"{drawn.op(i)} of {', '.join(map(drawn.name, drawn.operands[i]))}")
    elif drawn.graph.nodes[i].constant:
        lines.append("constant")
    lines.append(f"data {clean(_exact(drawn.data(i), drawn.values[i]))}")
    gradient = drawn.grad(i)
    if gradient is not None:
        lines.append(f"grad {clean(_exact(gradient, gradient))}")
    return "\n".join(lines)


def _exact(number: Any, node: Any) -> str:
    """Every digit of a number; of many numbers their shape, and what a map of them shows, if they are too many."""
    if getattr(node, "many", False) is True:
        exact = repr(node.tolist()) if math.prod(node.shape) <= WRITTEN * WRITTEN else ""
        if exact and len(exact) <= LONGEST_EXACT:
            return f"{node.shape} {exact}" if node.shape else exact
        found = heat_map(node)
        return f"{node.shape} {found.words if found else 'empty'}"
    return repr(getattr(number, "data", number) if not isinstance(number, (int, float)) else number)
