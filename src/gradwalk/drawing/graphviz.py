"""What has to do with Graphviz: a scene as text for it, and geometry by it, for those who ask for it and have it.

The text has records in the manner that micrograd made known. Of the geometry, places and curves are Graphviz's, and
cards are ours.
"""

from __future__ import annotations

import shutil
import subprocess

from gradwalk.drawing import cards
from gradwalk.drawing.geometry import CardPlace, Geometry, Wire
from gradwalk.drawing.scene import Box, Scene
from gradwalk.drawing.text import dot_text
from gradwalk.errors import GraphError, MissingExtraError

__all__ = ["geometry_by_graphviz", "plain_geometry", "question", "source"]

INCH = 72.0  # Graphviz reckons in inches, and we take its 72nds for pixels
PATIENCE = 60  # seconds


def source(scene: Scene, rankdir: str) -> str:
    """The DOT text of a scene.

    >>> print(source(scene_by_node([Value(2.0, label="a") * 3]), "LR"))
    digraph {
      graph [rankdir=LR]
      node [shape=record, fontname="Helvetica"]
      edge [fontname="Helvetica"]
      n0 [label="{ a | data 2 | grad }"]
      n1 [label="3", shape=box, style="rounded,dashed"]
      n2 [label="{ data 6 | grad }"]
      n2op [label="×", shape=ellipse]
      n2op -> n2
      n0 -> n2op
      n1 -> n2op
    }
    <BLANKLINE>
    """
    parts = [
        "digraph {",
        f"  graph [rankdir={rankdir}]",
        '  node [shape=record, fontname="Helvetica"]',
        '  edge [fontname="Helvetica"]',
    ]
    for i, box in enumerate(scene.boxes):
        parts += _box(i, box)
    for line in scene.lines:
        end = f"n{line.target}op" if scene.boxes[line.target].op else f"n{line.target}"
        parts.append(f"  n{line.source} -> {end}" + (f' [label="{dot_text(line.text)}"]' if line.text else ""))
    return "\n".join([*parts, "}", ""])


def _box(i: int, box: Box) -> list[str]:
    if box.kind == "constant":
        text = dot_text(f"{box.label} {box.rows[0].text}".strip())
        return [f'  n{i} [label="{text}", shape=box, style="rounded,dashed"]']
    fields = [box.label, box.note, *(f"{row.caption} {row.text or ''}" for row in box.rows)]
    label = " | ".join(dot_text(field.strip()) for field in fields if field.strip())
    parts = [f'  n{i} [label="{{ {label} }}"]']
    if box.op:
        parts += [f'  n{i}op [label="{dot_text(box.op)}", shape=ellipse]', f"  n{i}op -> n{i}"]
    return parts


def geometry_by_graphviz(scene: Scene, rankdir: str) -> Geometry:
    """Places as the program `dot` finds them; an error with the remedy if it is not there.

    >>> geometry_by_graphviz(scene_by_node([Value(2.0) * 3]), "LR")  # doctest: +SKIP
    Geometry(...)
    """
    program = shutil.which("dot")
    if program is None:
        raise MissingExtraError(
            "engine='graphviz' needs the program dot of Graphviz, which is not on the PATH: install it "
            "(apt-get install graphviz, brew install graphviz, winget install graphviz), or leave engine out"
        )
    try:
        run = subprocess.run(
            [program, "-Tplain"], input=question(scene, rankdir), capture_output=True, encoding="utf-8",
            timeout=PATIENCE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise GraphError(
            f"Graphviz took more than {PATIENCE} seconds for {scene.summary}; leave engine out for the quick layout"
        ) from None
    if run.returncode:
        raise GraphError(f"Graphviz could not lay the graph out: {run.stderr.strip()[:300]}")
    return plain_geometry(run.stdout, scene, rankdir)


def question(scene: Scene, rankdir: str) -> str:
    """What Graphviz is asked: boxes of a given size, without their texts.

    >>> print(question(scene_by_node([Value(2.0)]), "LR"))
    digraph {
    graph [rankdir=LR, nodesep=0.25, ranksep=0.6]
    node [shape=box, fixedsize=true, label=""]
    edge [arrowhead=none]
    n0 [width=1.278, height=0.792]
    }
    """
    gap = 0.6 + max((cards.chip_width(line.text) for line in scene.lines if line.text), default=0) / INCH
    parts = [
        "digraph {",
        f"graph [rankdir={rankdir}, nodesep=0.25, ranksep={gap:.4g}]",
        'node [shape=box, fixedsize=true, label=""]',
        "edge [arrowhead=none]",
    ]
    for i, box in enumerate(scene.boxes):
        wide, high = _whole(cards.size(box), rankdir == "LR")
        parts.append(f"n{i} [width={wide / INCH:.3f}, height={high / INCH:.3f}]")
    ports = (":e", ":w") if rankdir == "LR" else (":s", ":n")
    parts += [f"n{line.source}{ports[0]} -> n{line.target}{ports[1]}" for line in scene.lines]
    return "\n".join([*parts, "}"])


def _whole(size: cards.Size, flat: bool) -> tuple[float, float]:
    """Width and height of a card together with its op."""
    if not size.op:
        return size.width, size.height
    if flat:
        return size.width + size.op + cards.STUB, size.height
    return max(size.width, size.op), size.height + cards.OP + cards.STUB


def plain_geometry(answer: str, scene: Scene, rankdir: str) -> Geometry:
    """Graphviz's answer in its plain format, as a layout.

    >>> answer = "graph 1 1.278 0.792\\nnode n0 0.639 0.396 1.278 0.792 \\"\\" solid box black lightgrey\\nstop\\n"
    >>> plain_geometry(answer, scene_by_node([Value(2.0)]), "LR").places[0].width
    92
    """
    flat = rankdir == "LR"
    wide = high = 0.0
    middles: dict[int, tuple[float, float]] = {}
    curves: dict[tuple[int, int], list[list[tuple[float, float]]]] = {}
    for words in (line.split() for line in answer.splitlines() if line):
        if words[0] == "graph":
            wide, high = float(words[2]) * INCH, float(words[3]) * INCH
        elif words[0] == "node":
            middles[int(words[1][1:])] = float(words[2]) * INCH, high - float(words[3]) * INCH
        elif words[0] == "edge":
            many = int(words[3])
            numbers = [float(word) * INCH for word in words[4 : 4 + 2 * many]]
            points = [(x, high - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            curves.setdefault((int(words[1][1:]), int(words[2][1:])), []).append(points)
    places = tuple(_place(cards.size(box), middles[i], flat) for i, box in enumerate(scene.boxes))
    wires = []
    for i, line in enumerate(scene.lines):
        points = curves[line.source, line.target].pop(0)
        path = f"M{points[0][0]:.1f} {points[0][1]:.1f}C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in points[1:])
        first = (len(points) - 1) // 3 // 2 * 3  # of the middle one of its curves, each of four points
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = points[first : first + 4]
        middle = (ax + 3 * bx + 3 * cx + dx) / 8, (ay + 3 * by + 3 * cy + dy) / 8
        wires.append(Wire(path, (i,), points[-1], middle if line.text else None))
    return Geometry(places, tuple(wires), wide, high)


def _place(size: cards.Size, middle: tuple[float, float], flat: bool) -> CardPlace:
    wide, high = _whole(size, flat)
    left, top = middle[0] - wide / 2, middle[1] - high / 2
    if not size.op:
        return CardPlace(left, top, size.width, size.height, None, 0)
    if flat:
        lead = size.op + cards.STUB
        return CardPlace(left + lead, top, size.width, size.height, (left + size.op / 2, middle[1]), size.op)
    lead = cards.OP + cards.STUB
    card = middle[0] - size.width / 2
    return CardPlace(card, top + lead, size.width, size.height, (middle[0], top + cards.OP / 2), size.op)
