"""A scene with places as SVG text. Every text in it is escaped; nothing in it runs, loads or has an id."""

from __future__ import annotations

import math

from gradwalk.drawing import cards
from gradwalk.drawing.geometry import CardPlace, Geometry, Wire
from gradwalk.drawing.magnitudes import ODD
from gradwalk.drawing.scene import Box, Row, Scene
from gradwalk.drawing.text import tenths as _n
from gradwalk.drawing.text import width, xml
from gradwalk.drawing.theme import style

__all__ = ["frame", "outer_size", "svg"]

MARGIN = 20
LEGEND = 62  # height
SWATCH, APART = 54, 16  # width of a step in the legend; how far zero stands from the others
HEAD = 4.5  # half the width of an arrow head
CORNER, SLOT_CORNER = 8, 4


def svg(scene: Scene, geometry: Geometry, *, flat: bool, theme: str, notebook: bool = False) -> str:
    """The whole drawing.

    >>> from gradwalk.drawing.geometry import geometry
    >>> from gradwalk.drawing.by_node import scene_by_node
    >>> scene = scene_by_node([Value(2.0, label="<a>") * 3])
    >>> text = svg(scene, geometry(scene, "LR"), flat=True, theme="light")
    >>> text.startswith("<svg "), "&lt;a&gt;" in text
    (True, True)
    """
    parts = [_wire(wire, scene, flat) for wire in geometry.wires]
    parts += [_box(box, place, flat) for box, place in zip(scene.boxes, geometry.places, strict=True)]
    parts += [_chip(wire, scene) for wire in geometry.wires if wire.chip]
    inside = f'<g transform="translate({MARGIN} {MARGIN})">{"".join(parts)}</g>'
    if scene.scale:
        inside += _legend(scene.scale, geometry.height + 2 * MARGIN)
    return frame(inside, *outer_size(scene, geometry), scene.summary, theme=theme, notebook=notebook)


def outer_size(scene: Scene, geometry: Geometry) -> tuple[int, int]:
    """Width and height of the whole, with margins and legend.

    >>> from gradwalk.drawing.geometry import geometry
    >>> from gradwalk.drawing.by_node import scene_by_node
    >>> scene = scene_by_node([Value(2.0)])
    >>> outer_size(scene, geometry(scene, "LR"))
    (132, 97)
    """
    wide, high = math.ceil(geometry.width) + 2 * MARGIN, math.ceil(geometry.height) + 2 * MARGIN
    if not scene.scale:
        return wide, high
    return max(wide, SWATCH * len(scene.scale) + APART + 3 * MARGIN), high + LEGEND


def frame(inside: str, wide: int, high: int, summary: str, *, theme: str, notebook: bool) -> str:
    """An SVG around what is inside it, with its rules and a ground to stand on.

    >>> 'viewBox="0 0 30 20"' in frame("", 30, 20, "nothing", theme="dark", notebook=False)
    True
    """
    # In a page the drawing shrinks with its surroundings, though not until it cannot be read: then it scrolls.
    fit = f' style="max-width:100%;min-width:{min(wide, max(320, wide * 0.6)):.0f}px;height:auto"' if notebook else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gw-{theme}" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}" role="img" aria-label="{xml(summary)}"{fit}>'
        f"<style>{style(theme, notebook=notebook)}</style>"
        f'<rect class="gw-back" width="{wide}" height="{high}" rx="{CORNER}"/>{inside}</svg>'
    )


# --- boxes ---------------------------------------------------------------------------------------------------------


def _box(box: Box, place: CardPlace, flat: bool) -> str:
    title = f"<title>{xml(box.title)}</title>"
    if box.kind == "constant":
        text = xml(f"{box.label} {box.rows[0].text}".strip())
        return (
            f'<g class="gw-constant" transform="translate({_n(place.x)} {_n(place.y)})">{title}'
            f'<rect width="{_n(place.width)}" height="{_n(place.height)}" rx="{_n(place.height / 2)}"/>'
            f'<text x="{_n(place.width / 2)}" y="{_n(place.height / 2 + 5)}">{text}</text></g>'
        )
    parts = [
        f'<g class="gw-{box.kind}" transform="translate({_n(place.x)} {_n(place.y)})">{title}'
        f'<rect class="gw-card" width="{_n(place.width)}" height="{_n(place.height)}" rx="{CORNER}"/>'
    ]
    top = cards.NO_HEAD
    if box.label:
        parts.append(f'<text class="gw-label" x="{cards.INSET}" y="20">{xml(box.label)}</text>')
        top = cards.HEAD
    if box.note:
        parts.append(f'<text class="gw-note" x="{cards.INSET}" y="{top + 9}">{xml(box.note)}</text>')
        top += cards.NOTE
    for i, row in enumerate(box.rows):
        parts.append(_slot(row, top + i * cards.ROW, place.width))
    parts.append("</g>")
    return _op(box, place, flat) + "".join(parts)


def _slot(row: Row, y: float, wide: float) -> str:
    kind = f"gw-{row.caption}" if row.text is not None else "gw-empty"
    if row.heat is not None:
        kind += f" {_step(row.heat)}"
    value = ""
    if row.text is not None:
        value = f'<text class="gw-value" x="{_n(wide - cards.INSET)}" y="{_n(y + 15.5)}">{xml(row.text)}</text>'
    return (
        f'<g class="{kind}"><rect x="{cards.SIDE}" y="{_n(y)}" width="{_n(wide - 2 * cards.SIDE)}" '
        f'height="{cards.SLOT}" rx="{SLOT_CORNER}"/>'
        f'<text x="{cards.INSET}" y="{_n(y + 14.7)}">{row.caption}</text>{value}</g>'
    )


def _op(box: Box, place: CardPlace, flat: bool) -> str:
    if place.op is None:
        return ""
    x, y = place.op
    wide, high = place.op_width, cards.OP
    stub = f"M{_n(x + wide / 2)} {_n(y)}h{cards.STUB}" if flat else f"M{_n(x)} {_n(y + high / 2)}v{cards.STUB}"
    kind, drop = ("gw-sign", 6.2) if width(box.op) == 1 else ("gw-word", 4.5)
    return (
        f'<path class="gw-stub" d="{stub}"/>'
        f'<g class="gw-op"><rect x="{_n(x - wide / 2)}" y="{_n(y - high / 2)}" width="{_n(wide)}" height="{high}" '
        f'rx="{high / 2:g}"/><text class="{kind}" x="{_n(x)}" y="{_n(y + drop)}">{xml(box.op)}</text></g>'
    )


# --- lines -----------------------------------------------------------------------------------------------------------


def _wire(wire: Wire, scene: Scene, flat: bool) -> str:
    lines = [scene.lines[i] for i in wire.lines]
    steps = [line.heat for line in lines if line.heat is not None]
    step = f" {_step(ODD if ODD in steps else max(steps))}" if steps else ""
    head = ""
    if wire.head:
        x, y = wire.head
        back = (-HEAD * 1.7, -HEAD) if flat else (-HEAD, -HEAD * 1.7)
        forth = (-HEAD * 1.7, HEAD) if flat else (HEAD, -HEAD * 1.7)
        head = f"M{_n(x + back[0])} {_n(y + back[1])}L{_n(x)} {_n(y)}L{_n(x + forth[0])} {_n(y + forth[1])}"
    title = f"<title>{xml(lines[0].title)}</title>" if len(lines) == 1 and lines[0].title else ""
    many = lines[0].count
    wide = f' style="stroke-width:{min(1.5 + many.bit_length() * 0.35, 6) if many else 0.9:.4g}"' if many != 1 else ""
    path = f'<path class="gw-wire{step}" d="{wire.path}{head}"{wide}'
    return f"{path}>{title}</path>" if title else f"{path}/>"


def _chip(wire: Wire, scene: Scene) -> str:
    assert wire.chip is not None
    text = scene.lines[wire.lines[0]].text
    wide, (x, y) = cards.chip_width(text), wire.chip
    return (
        f'<g class="gw-chip"><rect x="{_n(x - wide / 2)}" y="{_n(y - cards.CHIP_HEIGHT / 2)}" width="{_n(wide)}" '
        f'height="{cards.CHIP_HEIGHT:g}" rx="5"/><text x="{_n(x)}" y="{_n(y + 4.5)}">{xml(text)}</text></g>'
    )


# --- the legend ------------------------------------------------------------------------------------------------------


def _legend(scale: tuple[str, ...], y: float) -> str:
    """What the colours of gradients mean: a strip of steps, and where they begin and end."""
    x = MARGIN
    parts = [
        f'<g class="gw-legend" transform="translate({x} {_n(y)})">'
        '<text class="gw-first" x="0" y="3">|grad|, how strongly the root reacts to a node</text>'
    ]
    parts.append(f'<rect class="gw-s0 gw-card" x="0.5" y="12.5" width="{SWATCH - 12}" height="15"/>')
    parts.append(f'<text x="{(SWATCH - 12) / 2:g}" y="44">0</text>')
    for step in range(1, len(scale)):
        left = step * SWATCH + APART
        parts.append(f'<rect class="gw-s{step}" x="{left}" y="12" width="{SWATCH}" height="16"/>')
    for i, text in enumerate(scale):
        parts.append(f'<text x="{(i + 1) * SWATCH + APART}" y="44">{xml(text)}</text>')
    parts.append("</g>")
    return "".join(parts)


def _step(heat: int) -> str:
    return "gw-sx" if heat == ODD else f"gw-s{heat}"
