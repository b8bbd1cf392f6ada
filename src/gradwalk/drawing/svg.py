"""A scene with places as SVG text. Every text in it is escaped; nothing in it runs, loads or has an id."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence

from gradwalk.drawing import cards
from gradwalk.drawing.geometry import CardPlace, Geometry, Wire
from gradwalk.drawing.magnitudes import ODD
from gradwalk.drawing.png import png_of_indices
from gradwalk.drawing.scene import Box, Row, Scene
from gradwalk.drawing.text import tenths as _n
from gradwalk.drawing.text import width, xml
from gradwalk.drawing.theme import DARK, LIGHT, Palette, diverging, style
from gradwalk.walk.heat_maps import NOT_FINITE, SIDES, HeatMap, short

__all__ = ["frame", "images", "outer_size", "svg"]

MARGIN = 20
LEGEND = 62  # height
SIGNS, SIGNS_WIDTH = 30, 420  # height and width of the legend of maps
SWATCH, APART = 54, 16  # width of a step in the legend; how far zero stands from the others
HEAD = 4.5  # half the width of an arrow head
STRAND = 6.5  # how far apart the strands of a fan end
CORNER, SLOT_CORNER = 8, 4


def svg(scene: Scene, geometry: Geometry, *, flat: bool, theme: str, notebook: bool = False) -> str:
    """The whole drawing.

    >>> scene = scene_by_node([Value(2.0, label="<a>") * 3])
    >>> text = svg(scene, geometry(scene, "LR"), flat=True, theme="light")
    >>> text.startswith("<svg "), "&lt;a&gt;" in text
    (True, True)
    """
    parts = [_wire(wire, scene, flat) for wire in geometry.wires]
    parts += [_box(box, place, flat, theme) for box, place in zip(scene.boxes, geometry.places, strict=True)]
    parts += [_chip(wire, scene) for wire in geometry.wires if wire.chip]
    inside = f'<g transform="translate({MARGIN} {MARGIN})">{"".join(parts)}</g>'
    if scene.scale:
        inside += _legend(scene.scale, geometry.height + 2 * MARGIN)
    if scene.coloured:
        inside += _signs(geometry.height + 2 * MARGIN + (LEGEND if scene.scale else 0))
    if scene.words:
        inside = f"<desc>{xml(scene.words)}</desc>{inside}"
    return frame(inside, *outer_size(scene, geometry), scene.summary, theme=theme, notebook=notebook)


def outer_size(scene: Scene, geometry: Geometry) -> tuple[int, int]:
    """Width and height of the whole, with margins and legend.

    >>> scene = scene_by_node([Value(2.0)])
    >>> outer_size(scene, geometry(scene, "LR"))
    (132, 97)
    """
    wide, high = math.ceil(geometry.width) + 2 * MARGIN, math.ceil(geometry.height) + 2 * MARGIN
    if scene.scale:
        wide, high = max(wide, SWATCH * len(scene.scale) + APART + 3 * MARGIN), high + LEGEND
    if scene.coloured:
        wide, high = max(wide, SIGNS_WIDTH), high + SIGNS
    return wide, high


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


def _box(box: Box, place: CardPlace, flat: bool, theme: str) -> str:
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
    top: float = cards.NO_HEAD
    if box.label:
        parts.append(f'<text class="gw-label" x="{cards.INSET}" y="20">{xml(box.label)}</text>')
        top = cards.HEAD
    if box.note:
        parts.append(f'<text class="gw-note" x="{cards.INSET}" y="{top + 9}">{xml(box.note)}</text>')
        top += cards.NOTE
    for row in box.rows:
        parts.append(_slot(row, top, place.width))
        if row.map:
            parts.append(_map(row.map, top + cards.ROW, place.width, theme))
        top += cards.row_height(row)
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


def _map(map: HeatMap, y: float, wide: float, theme: str) -> str:
    """A field of colours, numbers in it if there are few, and what is to be said about it below."""
    (across, high), (width_of_it, height_of_it) = cards.map_cell(map), cards.map_size(map)
    x = (wide - width_of_it) / 2
    block = map.block or len(map.cells)
    if map.written:
        parts = [_written(map, x, y, across, high)]
    else:
        parts = []
        for i in range(0, len(map.cells), block):
            top = y + i * high + i // block * cards.MAP_BLOCK
            rows = map.cells[i : i + block]
            place = f'x="{_n(x)}" y="{_n(top)}" width="{_n(width_of_it)}" height="{_n(high * len(rows))}"'
            parts += [f'<rect class="gw-cells" {place}/>', _cells(map, rows, theme, place)]
    below = y + height_of_it + 11
    for i, note in enumerate(map.notes):
        parts.append(f'<text class="gw-note gw-middle" x="{_n(wide / 2)}" y="{_n(below + i * cards.MAP_NOTE)}">')
        parts.append(f"{xml(note)}</text>")
    return "".join(parts)


def _written(map: HeatMap, x: float, y: float, wide: float, high: float) -> str:
    parts = []
    for i, row in enumerate(map.cells):
        top = y + i * high + (i // map.block * cards.MAP_BLOCK if map.block else 0)
        for j, number in enumerate(row):
            left = x + j * wide
            parts.append(
                f'<g class="{_shade(map.step(number))}"><rect x="{_n(left)}" y="{_n(top)}" width="{_n(wide)}" '
                f'height="{_n(high)}"/><text x="{_n(left + wide / 2)}" y="{_n(top + high / 2 + 4)}">'
                f"{xml(short(number))}</text></g>"
            )
    return f'<g class="gw-map">{"".join(parts)}</g>'


def _shade(step: int) -> str:
    return "gw-mx" if step == NOT_FINITE else f"gw-m{'n' if step < 0 else 'p' if step else ''}{abs(step)}"


def _cells(map: HeatMap, rows: tuple[tuple[float, ...], ...], theme: str, place: str) -> str:
    """The cells of one block as pixels; zeros are see-through."""
    steps = [0, *range(-SIDES, 0), *range(1, SIDES + 1), NOT_FINITE]
    at = {step: i for i, step in enumerate(steps)}
    wide, high = (
        math.ceil(x) for x in cards.map_cell(map)
    )  # pixels of their own, because few programs keep edges sharp
    pixels = [b"".join(bytes([at[map.step(x)]]) * wide for x in row) for row in rows for _ in range(high)]
    return images(pixels, lambda palette: [diverging(palette)[step] for step in steps], place, theme)


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
    line = scene.lines[wire.lines[0]]
    wide, (x, y) = cards.chip_width(line.text, line.spread), wire.chip
    ground = (
        f'<rect x="{_n(x - wide / 2)}" y="{_n(y - cards.CHIP_HEIGHT / 2)}" width="{_n(wide)}" '
        f'height="{cards.CHIP_HEIGHT:g}" rx="5"/>'
    )
    if not line.spread:
        return f'<g class="gw-chip">{ground}<text x="{_n(x)}" y="{_n(y + 4.5)}">{xml(line.text)}</text></g>'
    before, after = line.text.split(" → ")  # the sign stands in place of the arrow
    left, right = (width(text) * cards.CHIP * cards.CELL for text in (before, after))
    x += (left - right) / 2
    return (
        f'<g class="gw-chip">{ground}'
        f'<text x="{_n(x - (left + cards.SIGN) / 2)}" y="{_n(y + 4.5)}">{xml(before)}</text>'
        f'<text x="{_n(x + (right + cards.SIGN) / 2)}" y="{_n(y + 4.5)}">{xml(after)}</text>'
        f"{_strands(x, y, line.spread)}</g>"
    )


def _strands(x: float, y: float, spread: str) -> str:
    """Strands that part, for numbers that are repeated, or come together, for many that become few."""
    reach = cards.SIGN / 2 - 7
    one, many = (x - reach, x + reach) if spread == "fan" else (x + reach, x - reach)
    rows = (y - STRAND, y, y + STRAND)
    lines = "".join(f"M{_n(one)} {_n(y)}L{_n(many)} {_n(row)}" for row in rows)
    dots = "".join(f"M{_n(many)} {_n(row)}h0" for row in rows)  # one for each of the many
    return f'<path class="gw-strands" d="{lines}"/><path class="gw-strands gw-dots" d="M{_n(one)} {_n(y)}h0{dots}"/>'


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


def _signs(y: float) -> str:
    """What the colours of maps mean: each has its own scale, which is written below it."""
    steps = [*range(-SIDES, SIDES + 1)]
    parts = [f'<g class="gw-legend" transform="translate({MARGIN} {_n(y)})">']
    parts.append('<text class="gw-first" x="0" y="2">− below 0</text>')
    for i, step in enumerate(steps):
        parts.append(f'<rect class="{_shade(step)}" x="{64 + i * 14}" y="-9" width="14" height="14"/>')
    right = 64 + len(steps) * 14
    parts.append(f'<text class="gw-first" x="{right + 8}" y="2">+ above 0</text>')
    parts.append(f'<rect class="{_shade(NOT_FINITE)}" x="{right + 92}" y="-9" width="14" height="14"/>')
    parts.append(f'<text class="gw-first" x="{right + 112}" y="2">nan, inf</text></g>')
    return "".join(parts)


def images(pixels: Sequence[bytes], colours: Callable[[Palette], Sequence[str]], place: str, theme: str) -> str:
    """Pixels, each the number of a colour, once for each colour scheme that they may be seen in.

    >>> both = images([bytes([0, 1])], lambda palette: [palette["paper"], palette["ink"]], 'x="0" y="0"', "auto")
    >>> both.count("<image")
    2
    """
    schemes = {"light": (("gw-day", LIGHT),), "dark": (("gw-night", DARK),)}
    found = ""
    for name, palette in schemes.get(theme, (("gw-day", LIGHT), ("gw-night", DARK))):
        picture = base64.b64encode(png_of_indices(pixels, colours(palette))).decode()
        found += f'<image class="{name}" {place} preserveAspectRatio="none" href="data:image/png;base64,{picture}"/>'
    return found


def _step(heat: int) -> str:
    return "gw-sx" if heat == ODD else f"gw-s{heat}"
