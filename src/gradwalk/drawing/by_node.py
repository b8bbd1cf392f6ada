"""A graph node by node: a box for each node, a line for each use of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradwalk import walk
from gradwalk.drawing import magnitudes
from gradwalk.drawing.scene import Box, Line, Row, Scene
from gradwalk.drawing.snapshot import Snapshot, snapshot
from gradwalk.drawing.text import clean, cut, shown
from gradwalk.errors import GraphError

__all__ = ["SYMBOLS", "node_box", "read", "rows", "shown_label"]

#: Ops that are drawn as people write them.
SYMBOLS = {"*": "×", "-": "−", "/": "÷"}

LONGEST_LABEL = 18  # cells of a label on its card; all of it is in the title
LONGEST_OP = 11


def read(
    roots: Sequence[Any],
    *,
    names: Mapping[int, str] | None = None,
    grads: bool = True,
    coloured: bool = False,
    slopes: bool = False,
) -> Scene:
    """The scene of the graph below `roots`, gradients coloured by magnitude and slopes on the lines if asked for.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.by_node import read
    >>> a = Value(3.0, label="a")
    >>> scene = read([a * a], slopes=True)
    >>> [box.label for box in scene.boxes], [line.text for line in scene.lines]
    (['a', ''], ['× 3', '× 3'])
    """
    taken = snapshot(roots, names)
    known = _all_slopes(taken) if slopes or coloured else taken.slopes
    scale = magnitudes.scale_of(map(taken.grad, range(len(taken.nodes)))) if coloured else None
    boxes = [node_box(taken, i, grads=grads, scale=scale) for i in range(len(taken.nodes))]
    lines = []
    for target, (sources, its_slopes) in enumerate(zip(taken.operands, known, strict=True)):
        upstream = magnitudes.magnitude(taken.grad(target))
        for place, (source, slope) in enumerate(zip(sources, its_slopes, strict=True), start=1):
            flow = None if slope is None or upstream is None else upstream * slope
            lines.append(
                Line(
                    source,
                    target,
                    f"× {shown(slope)}" if slopes and slope is not None else "",
                    _line_title(taken, source, target, place, slope),
                    scale.step(flow) if scale else None,
                )
            )
    summary = f"{_counted(len(boxes), 'node')}, {_counted(len(lines), 'edge')}"
    return Scene(tuple(boxes), tuple(lines), summary, scale.texts() if scale else ())


def _all_slopes(taken: Snapshot) -> list[tuple[float | None, ...]]:
    """The local derivatives, those too that only a `_backward` made by hand knows, where it lets itself be measured."""
    slopes = list(taken.slopes)
    unknown = [i for i, ids in enumerate(taken.operands) if ids and all(s is None for s in slopes[i])]
    if not unknown or len(taken.roots) > 1:
        return slopes
    order = list(walk.topological(taken.nodes[taken.roots[0]]))
    try:
        measured = walk.record(order[-1]).graph.nodes
    except GraphError:
        return slopes
    place = {id(node): k for k, node in enumerate(order)}
    for i in unknown:
        info = measured[place[id(taken.nodes[i])]]
        slope_to = dict(zip(info.operands, info.slopes, strict=True))
        found = [slope_to[place[id(taken.nodes[x])]] for x in taken.operands[i]]
        uses = len(found) // len(slope_to)  # two in a + a, whose set of operands holds a once and its slope together
        slopes[i] = tuple(None if slope is None else slope / uses for slope in found)
    return slopes


def node_box(taken: Snapshot, i: int, *, grads: bool, scale: magnitudes.Scale | None) -> Box:
    """The box of one node.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.by_node import node_box
    >>> from gradwalk.drawing.snapshot import snapshot
    >>> box = node_box(snapshot([Value(0.1 + 0.2, label="a")]), 0, grads=True, scale=None)
    >>> box.kind, box.label, [(row.caption, row.text) for row in box.rows]
    ('leaf', 'a', [('data', '0.3'), ('grad', None)])
    >>> print(box.title)
    a
    data 0.30000000000000004
    """
    kind = "constant" if taken.constant[i] else "node" if taken.operands[i] else "leaf"
    op = cut(SYMBOLS.get(taken.ops[i], taken.ops[i]).replace("**-", "**−"), LONGEST_OP)
    return Box(kind, shown_label(taken.labels[i]), op, rows(taken, i, grads, scale), _title(taken, i))


def rows(taken: Snapshot, i: int, grads: bool, scale: magnitudes.Scale | None) -> tuple[Row, ...]:
    """The numbers of one node: its data, and its gradient if it can have one.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.by_node import rows
    >>> from gradwalk.drawing.snapshot import snapshot
    >>> [row.caption for row in rows(snapshot([Value(2.0)]), 0, False, None)]
    ['data']
    """
    data = Row("data", shown(taken.data(i)))
    if taken.constant[i] or not grads:
        return (data,)
    gradient = taken.grad(i)
    return data, Row("grad", None if gradient is None else shown(gradient), scale.step(gradient) if scale else None)


def shown_label(label: str) -> str:
    """A label as its card shows it: the end of a long path such as a parameter's, the beginning of any other.

    >>> from gradwalk.drawing.by_node import shown_label
    >>> shown_label("layers.0.neurons.12.w.3"), shown_label("a rather long name for it")
    ('0.neurons.12.w.3', 'a rather long nam…')
    """
    parts = label.split(".")
    while len(parts) > 2 and len(".".join(parts)) > LONGEST_LABEL and " " not in label:
        del parts[0]
    short = ".".join(parts)
    return cut(short if len(short) <= LONGEST_LABEL else label, LONGEST_LABEL)


def _title(taken: Snapshot, i: int) -> str:
    lines = [taken.labels[i]] if taken.labels[i] else []
    if taken.operands[i]:
        lines.append(f"{taken.ops[i]} of {', '.join(map(taken.name, taken.operands[i]))}")
    elif taken.constant[i]:
        lines.append("constant")
    lines.append(f"data {clean(_exact(taken.data(i)))}")
    gradient = taken.grad(i)
    if gradient is not None:
        lines.append(f"grad {clean(_exact(gradient))}")
    return "\n".join(lines)


def _line_title(taken: Snapshot, source: int, target: int, place: int, slope: float | None) -> str:
    of = taken.name(target) if taken.labels[target] else taken.ops[target]
    words = f"{taken.name(source)} is operand {place} of {len(taken.operands[target])} of {of}"
    return words if slope is None else f"{words}\nlocal derivative {slope!r}"


def _exact(number: Any) -> str:
    return repr(getattr(number, "data", number) if not isinstance(number, (int, float)) else number)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
