"""Pictures and pages into files: by their ending, whole or not at all, with an error that helps if it cannot be."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from gradwalk.drafts import replace
from gradwalk.errors import SettingError

__all__ = ["THEMES", "AnyPath", "checked_format", "checked_theme", "format_of", "html_page", "write"]

AnyPath = str | os.PathLike[str]

THEMES = ("auto", "light", "dark")


def checked_format(name: str, known: tuple[str, ...], what: str) -> str:
    """The name of a format in lower case, if `known` holds it.

    >>> checked_format("SVG", ("svg", "png"), "a drawing")
    'svg'
    >>> checked_format("gif", ("svg", "png"), "a drawing")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: a drawing can be svg or png, not 'gif'
    """
    found = str(name).lower()
    if found in known:
        return found
    listed = f"{', '.join(known[:-1])} or {known[-1]}"
    remedy = "; for a PDF save the .html and print it from a browser" if found == "pdf" else ""
    raise SettingError(f"{what} can be {listed}, not {name!r:.60}{remedy}")


def format_of(path: AnyPath, known: tuple[str, ...], what: str) -> str:
    """The format that the ending of a path asks for.

    >>> format_of("out/graph.SVG", ("svg", "png"), "a drawing")
    'svg'
    >>> format_of("graph", ("svg", "png"), "a drawing")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: a drawing is saved by its ending, as in 'graph.svg', and 'graph' has none
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise SettingError(f"{what} is saved to a path such as 'graph.svg', not to {type(path).__name__}: {path!r:.60}")
    ending = Path(path).suffix[1:]
    if not ending:
        raise SettingError(f"{what} is saved by its ending, as in 'graph.{known[0]}', and {os.fspath(path)!r} has none")
    return checked_format(ending, known, what)


def write(path: AnyPath, content: bytes) -> Path:
    """Put `content` into a file, in one step as seen from outside.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(folder + "/graph.dot", b"digraph {}").name
    'graph.dot'
    >>> write("none/graph.svg", b"")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: cannot write 'none/graph.svg': there is no folder 'none'; make it first
    """
    target = Path(path)
    try:
        replace(target, content)
    except (OSError, ValueError) as error:  # a ValueError is a null character in the path
        reason = getattr(error, "strerror", None) or str(error)
        if isinstance(error, FileNotFoundError):
            reason = f"there is no folder {str(target.parent)!r}; make it first"
        raise SettingError(f"cannot write {str(target)!r}: {reason}") from error
    return target


def html_page(title: str, style: str, body: str, *, pictures: bool = False) -> str:
    """A whole HTML document, which may load and run nothing; `pictures` may stand in it.

    >>> "<title>moons &amp; co</title>" in html_page("moons & co", "", "<main></main>")
    True
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'" + ("; img-src data:" if pictures else "")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{style}
</style>
</head>
<body>{body}</body>
</html>
"""


def checked_theme(theme: str) -> str:
    """`theme`, if there is one of that name.

    >>> checked_theme("sepia")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: theme is 'auto', 'light' or 'dark', not 'sepia'
    """
    if theme not in THEMES:
        raise SettingError(f"theme is 'auto', 'light' or 'dark', not {theme!r:.60}")
    return theme
