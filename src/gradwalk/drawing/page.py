"""A picture in a page of its own."""

from __future__ import annotations

from gradwalk.drawing.text import xml
from gradwalk.drawing.theme import DARK, LIGHT, SANS

__all__ = ["page"]


def page(svg: str, title: str, theme: str) -> str:
    """A whole HTML document that shows the SVG at its size, or fitted to the window. It may load and run nothing.

    >>> "script" in page("<svg/>", "3 nodes", "light")
    False
    """
    colours = _ground(DARK if theme == "dark" else LIGHT)
    if theme == "auto":
        colours += f"@media (prefers-color-scheme:dark){{{_ground(DARK)}}}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{xml(title)}</title>
<style>
body{{margin:0;padding:16px 24px;font:400 13px {SANS}}}
.gw-bar{{display:flex;gap:24px;align-items:center;margin:0 0 12px}}
.gw-sheet{{overflow:auto}}
.gw-sheet>svg{{display:block;margin:auto}}
:has(#gw-fit:checked) .gw-sheet>svg{{max-width:100%;height:auto}}
{colours}
</style>
</head>
<body>
<p class="gw-bar"><span>{xml(title)}</span><label><input type="checkbox" id="gw-fit"> fit to the window</label></p>
<div class="gw-sheet">{svg}</div>
</body>
</html>
"""


def _ground(palette: dict[str, str]) -> str:
    return f"body{{background:{palette['paper']};color:{palette['ink-2']}}}"
