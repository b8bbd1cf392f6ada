"""Colours and type, as CSS that stays inside its drawing.

Blue is data and vermilion is gradient, here as everywhere in gradwalk; all else is ink on paper. Colours stand in the
rules as they are, without CSS variables, because not every program that shows an SVG knows those.
"""

from __future__ import annotations

from gradwalk.drawing import cards
from gradwalk.drawing.magnitudes import ODD, STEPS
from gradwalk.walk.heat_maps import NOT_FINITE, SIDES

__all__ = ["DARK", "LIGHT", "contrast", "diverging", "mix", "ramp", "shades", "style", "text_on"]

SHADES = 6  # of blue, for how many edges there are in one spot
Palette = dict[str, str]

LIGHT: Palette = {
    "paper": "#F3F6F5", "surface": "#FFFFFF", "well": "#E8EDEC",
    "ink": "#17212A", "ink-2": "#43505B", "ink-3": "#5A6771", "line": "#D2DAD9", "line-2": "#7F8C92",
    "data": "#1A5C9E", "data-soft": "#E2EDF8", "grad": "#A83E0C", "grad-soft": "#FCE9DE",
    "miss": "#8C174F", "miss-soft": "#F9E5EE", "below": "#5B3A9E", "above": "#1C6B45",
}  # fmt: skip
DARK: Palette = {
    "paper": "#10171B", "surface": "#182127", "well": "#212C33",
    "ink": "#E9EFEF", "ink-2": "#B9C5C9", "ink-3": "#98A6AC", "line": "#2D3A41", "line-2": "#71818A",
    "data": "#86BEF3", "data-soft": "#17324C", "grad": "#F7A178", "grad-soft": "#4A2817",
    "miss": "#F78FB9", "miss-soft": "#4A1C33", "below": "#B7A2F2", "above": "#7CD3A8",
}  # fmt: skip

SANS = 'Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,"DejaVu Sans",sans-serif'
MONO = (
    'ui-monospace,"SF Mono","JetBrains Mono","Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",'
    "monospace"
)

#: Where a notebook says which of its themes is on: JupyterLab, VS Code, marimo.
NOTEBOOK_LIGHT = ':is([data-jp-theme-light="true"],.vscode-light,body.light)'
NOTEBOOK_DARK = ':is([data-jp-theme-light="false"],.vscode-dark,.vscode-high-contrast,body.dark,.dark)'


def style(theme: str, *, notebook: bool = False) -> str:
    """The rules of one theme; "auto" follows the reader's system, and in a notebook the notebook's own theme.

    >>> "prefers-color-scheme" in style("auto"), "prefers-color-scheme" in style("dark")
    (True, False)
    """
    scope = f".gw-{theme}"
    if theme != "auto":
        return _type(scope) + _colours(scope, DARK if theme == "dark" else LIGHT)
    rules = _type(scope) + _colours(scope, LIGHT)
    rules += f"@media (prefers-color-scheme:dark){{{_colours(scope, DARK)}}}"
    if notebook:
        rules += _colours(f"{NOTEBOOK_LIGHT} {scope}", LIGHT) + _colours(f"{NOTEBOOK_DARK} {scope}", DARK)
    return rules


def _type(scope: str) -> str:
    """Everything that is not a colour."""
    rules = {
        "text": f"font:400 {cards.CAPTION}px {SANS}",
        ".gw-label": f"font:600 {cards.LABEL}px {MONO}",
        ".gw-value": f"font:600 {cards.VALUE}px {MONO};text-anchor:end",
        ".gw-constant text": f"font:500 {cards.VALUE}px {MONO};text-anchor:middle",
        ".gw-sign": f"font:500 {cards.OP_SIGN}px {SANS};text-anchor:middle",
        ".gw-word": f"font:500 {cards.OP_WORD}px {SANS};text-anchor:middle",
        ".gw-chip text": f"font:500 {cards.CHIP}px {MONO};text-anchor:middle",
        ".gw-map text": f"font:500 {cards.MAP_NUMBER}px {MONO};text-anchor:middle",
        ".gw-map rect,.gw-cells": "stroke-width:1",
        ".gw-legend text": "text-anchor:middle",
        ".gw-legend .gw-first": "text-anchor:start",
        ".gw-middle": "text-anchor:middle",
        ".gw-tick": "text-anchor:end",
        ".gw-frame,.gw-rule": "fill:none;stroke-width:1",
        ".gw-wire": "fill:none;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round",
        ".gw-stub": "fill:none;stroke-width:1.5",
        ".gw-strands": "fill:none;stroke-width:1.2;stroke-linecap:round",
        ".gw-dots": "stroke-width:4",
        ".gw-card,.gw-op rect": "stroke-width:1.3",
        ".gw-constant rect,.gw-empty rect": "stroke-width:1;stroke-dasharray:3 3",
        **{f".gw-wire.gw-s{step}": f"stroke-width:{1.2 + 0.35 * step:.4g}" for step in range(STEPS + 1)},
    }
    return _css(scope, rules)


def _colours(scope: str, palette: Palette) -> str:
    """Every colour."""
    p = palette
    rules = {
        ".gw-back": f"fill:{p['surface']}",
        "text": f"fill:{p['ink']}",
        ".gw-wire": f"stroke:{mix(p['surface'], p['data'], 0.72)}",
        ".gw-stub": f"stroke:{p['line-2']}",
        ".gw-strands": f"stroke:{p['ink-2']}",
        ".gw-card,.gw-op rect": f"fill:{p['surface']};stroke:{p['line-2']}",
        ".gw-op rect": f"stroke:{p['ink-2']}",
        ".gw-group .gw-card": f"fill:{p['paper']};stroke:{p['ink-2']}",
        ".gw-root .gw-card": f"stroke:{p['ink']}",
        ".gw-note": f"fill:{p['ink-3']}",
        ".gw-constant rect": f"fill:{p['surface']};stroke:{p['line-2']}",
        ".gw-constant text": f"fill:{p['ink-2']}",
        ".gw-data rect": f"fill:{p['data-soft']}",
        ".gw-data text": f"fill:{p['data']}",
        ".gw-grad rect": f"fill:{p['grad-soft']}",
        ".gw-grad text": f"fill:{p['grad']}",
        ".gw-empty rect": f"fill:none;stroke:{p['line-2']}",
        ".gw-empty text": f"fill:{p['ink-3']}",
        ".gw-chip rect": f"fill:{p['surface']}",
        ".gw-chip text": f"fill:{p['ink-3']}",
        ".gw-legend text,.gw-tick,.gw-middle": f"fill:{p['ink-2']}",
        ".gw-frame,.gw-rule": f"stroke:{p['line']}",
        ".gw-night" if palette is LIGHT else ".gw-day": "display:none",
        ".gw-day" if palette is LIGHT else ".gw-night": "display:inline",
    }
    pale = mix(p["surface"], p["line-2"], 0.55)
    for step in (*range(STEPS + 1), ODD):
        fill, name = ramp(palette)[step], "x" if step == ODD else step
        rules[f".gw-s{name} rect,rect.gw-s{name}"] = f"fill:{fill}"
        rules[f".gw-s{name} text"] = f"fill:{text_on(fill, palette)}"
        line = p["miss"] if step == ODD else mix(pale, p["grad"], step / STEPS)
        rules[f".gw-wire.gw-s{name}"] = f"stroke:{line}"
    rules[".gw-map rect,.gw-cells"] = f"stroke:{p['line']}"
    rules[".gw-cells"] = f"fill:{p['surface']}"
    for step, fill in diverging(palette).items():
        name = "x" if step == NOT_FINITE else f"{'n' if step < 0 else 'p' if step else ''}{abs(step)}"
        rules[f".gw-m{name} rect,rect.gw-m{name}"] = f"fill:{fill}"
        rules[f".gw-m{name} text"] = f"fill:{max(('#FFFFFF', '#000000'), key=lambda ink: contrast(fill, ink))}"
    rules |= {f".gw-shade{i}": f"fill:{shade}" for i, shade in enumerate(shades(palette), start=1)}
    return _css(scope, rules)


def _css(scope: str, rules: dict[str, str]) -> str:
    lines = []
    for selectors, declarations in rules.items():
        scoped = ",".join(f"{scope} {selector}" for selector in selectors.split(","))
        lines.append(f"{scoped}{{{declarations}}}")
    return "".join(lines)


# --- colours for magnitudes ---------------------------------------------------------------------------------------


def ramp(palette: Palette) -> dict[int, str]:
    """A fill for each step of the scale of magnitudes.

    >>> ramp(LIGHT)[6] == LIGHT["grad"]
    True
    """
    steps = {step: mix(palette["grad-soft"], palette["grad"], (step - 1) / (STEPS - 1)) for step in range(1, STEPS + 1)}
    return {0: palette["surface"], **steps, ODD: palette["miss-soft"]}


def diverging(palette: Palette) -> dict[int, str]:
    """A fill for each step below and above 0: violet below, green above, and stronger the further away.

    >>> diverging(LIGHT)[5] == LIGHT["above"], diverging(LIGHT)[-5] == LIGHT["below"]
    (True, True)
    """
    found = {0: palette["surface"], NOT_FINITE: palette["miss"]}
    for step in range(1, SIDES + 1):
        share = 0.2 + 0.8 * (step - 1) / (SIDES - 1)
        found[-step], found[step] = (mix(palette["surface"], palette[side], share) for side in ("below", "above"))
    return found


def shades(palette: Palette) -> list[str]:
    """From few to many: shades of blue.

    >>> len(shades(LIGHT))
    6
    """
    faint, strong = mix(palette["surface"], palette["data"], 0.5), mix(palette["data"], palette["ink"], 0.45)
    return [mix(faint, strong, i / (SHADES - 1)) for i in range(SHADES)]


def text_on(fill: str, palette: Palette) -> str:
    """The colour of a gradient's text on a fill: vermilion where that can be read, else the ink that can be.

    >>> text_on("#FFFFFF", LIGHT) == LIGHT["grad"], text_on(LIGHT["grad"], LIGHT)
    (True, '#FFFFFF')
    """
    if fill == palette["miss-soft"]:
        return palette["miss"]
    if contrast(fill, palette["grad"]) >= 4.5:
        return palette["grad"]
    return max(("#FFFFFF", "#000000"), key=lambda ink: contrast(fill, ink))


def mix(one: str, other: str, share: float) -> str:
    """A colour between two.

    >>> mix("#000000", "#FFFFFF", 0.5)
    '#808080'
    """
    return "#" + "".join(f"{round(x + (y - x) * share):02X}" for x, y in zip(_parts(one), _parts(other), strict=True))


def contrast(one: str, other: str) -> float:
    """How well one colour can be told from another, from 1 to 21, as WCAG reckons it; 4.5 is enough for text.

    >>> contrast("#000000", "#FFFFFF")
    21.0
    """
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [x / 255 / 12.92 if x <= 10 else ((x / 255 + 0.055) / 1.055) ** 2.4 for x in _parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _parts(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
