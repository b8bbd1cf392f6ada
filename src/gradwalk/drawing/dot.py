"""A scene as text for Graphviz: records in the manner that micrograd made known."""

from __future__ import annotations

from gradwalk.drawing.scene import Box, Scene
from gradwalk.drawing.text import dot_text

__all__ = ["source"]


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
