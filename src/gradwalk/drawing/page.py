"""A picture in a page of its own."""

from __future__ import annotations

from gradwalk.drawing.text import xml
from gradwalk.drawing.theme import DARK, LIGHT, SANS
from gradwalk.files import html_page

__all__ = ["page"]


def page(svg: str, title: str, theme: str) -> str:
    """A whole HTML document that shows the SVG at its size, or fitted to the window. It may load and run nothing.

    >>> "script" in page("<svg/>", "3 nodes", "light")
    False
    """
    colours = _ground(DARK if theme == "dark" else LIGHT)
    if theme == "auto":
        colours += f"@media (prefers-color-scheme:dark){{{_ground(DARK)}}}"
    style = f"""body{{margin:0;padding:16px 24px;font:400 13px {SANS}}}
.gw-bar{{display:flex;gap:24px;align-items:center;margin:0 0 12px}}
.gw-sheet{{overflow:auto}}
.gw-sheet>svg{{display:block;margin:auto}}
:has(#gw-fit:checked) .gw-sheet>svg{{max-width:100%;height:auto}}
{colours}"""
    body = f"""
<p class="gw-bar"><span>{xml(title)}</span><label><input type="checkbox" id="gw-fit"> fit to the window</label></p>
<div class="gw-sheet">{svg}</div>
"""
    return html_page(title, style, body, pictures=True)


def _ground(palette: dict[str, str]) -> str:
    return f"body{{background:{palette['paper']};color:{palette['ink-2']}}}"
