"""What every picture can do, once it is SVG: show itself in a notebook and go into a file."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar

from gradwalk.drawing.png import png
from gradwalk.drawing.text import xml
from gradwalk.drawing.theme import DARK, LIGHT, SANS
from gradwalk.files import AnyPath, checked_format, format_of, html_page, write

__all__ = ["Picture"]


class Picture:
    """A picture that shows itself in JupyterLab, VS Code and marimo, and that can be saved.

    >>> from gradwalk import draw
    >>> isinstance(draw(Value(1.0)), Picture)
    True
    """

    formats: ClassVar[tuple[str, ...]] = ("svg", "html", "png")
    noun: ClassVar[str] = "a picture"
    theme: str
    format: str

    @property
    def summary(self) -> str:
        """What the picture shows, in a few words.

        >>> from gradwalk import draw
        >>> draw(Value(2.0) * 3).summary
        '3 nodes, 2 edges'
        """
        raise NotImplementedError

    def _svg(self, theme: str, *, notebook: bool = False) -> str:
        raise NotImplementedError

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels.

        >>> from gradwalk import draw
        >>> draw(Value(2.0)).size
        (132, 97)
        """
        raise NotImplementedError

    @property
    def svg(self) -> str:
        """The picture as SVG text.

        >>> from gradwalk import draw
        >>> draw(Value(2.0)).svg[:4]
        '<svg'
        """
        return self._svg(self.theme)

    @property
    def html(self) -> str:
        """The picture as HTML that scrolls sideways where it cannot shrink; `save("x.html")` writes a whole page.

        >>> from gradwalk import draw
        >>> draw(Value(2.0)).html[:4]
        '<div'
        """
        return f'<div style="max-width:100%;overflow-x:auto">{self._svg(self.theme, notebook=True)}</div>'

    def pipe(self, format: str | None = None) -> bytes:
        """The picture as the bytes of a file.

        >>> from gradwalk import draw
        >>> draw(Value(2.0)).pipe("png")[1:4]
        b'PNG'
        """
        wanted = self.format if format is None else checked_format(format, self.formats, self.noun)
        if wanted == "png":
            wide, high = self.size
            return png(self._svg("dark" if self.theme == "dark" else "light"), wide, high)
        return self._text(wanted).encode()

    def _text(self, format: str) -> str:
        return _page(self.svg, self.summary, self.theme) if format == "html" else self.svg

    def save(self, path: AnyPath) -> Path:
        """Write the picture to a file, in the format that the ending says.

        >>> import tempfile
        >>> from gradwalk import draw
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     draw(Value(2.0)).save(folder + "/value.html").name
        'value.html'
        >>> draw(Value(2.0)).save("value.gif")
        Traceback (most recent call last):
        ...
        gradwalk.errors.SettingError: a drawing can be svg, html, png or dot, not 'gif'
        """
        return write(path, self.pipe(format_of(path, self.formats, self.noun)))

    def render(
        self,
        filename: AnyPath = "drawing",
        directory: AnyPath | None = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
    ) -> str:
        """Write `filename` with the format's ending added, and give its path: what Graphviz objects call it.

        `view` opens the file. There are no files in between to clean up; `cleanup` is taken so that old calls work.

        >>> import tempfile
        >>> from gradwalk import draw
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     draw(Value(2.0)).render("value", directory=folder).endswith("value.svg")
        True
        """
        wanted = self.format if format is None else checked_format(format, self.formats, self.noun)
        target = Path(directory or "") / f"{os.fspath(filename)}.{wanted}"
        write(target, self.pipe(wanted))
        if view:
            import webbrowser

            webbrowser.open(target.resolve().as_uri())
        return str(target)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        # JupyterLab shows a bare image/svg+xml cut off at the right; in HTML it shrinks and scrolls.
        bundle = {"text/html": self.html, "text/plain": str(self)}
        return {
            kind: text
            for kind, text in bundle.items()
            if (not include or kind in include) and not (exclude and kind in exclude)
        }


def _page(svg: str, title: str, theme: str) -> str:
    """A whole HTML document that shows the SVG at its size, or fitted to the window. It may load and run nothing."""
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
