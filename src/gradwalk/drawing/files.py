"""Pictures into files: by their ending, whole or not at all, with an error that helps if it cannot be."""

from __future__ import annotations

import importlib.util
import math
import os
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path

from gradwalk.errors import MissingExtraError, SettingError

__all__ = ["AnyPath", "checked_format", "format_of", "png", "write"]

AnyPath = str | os.PathLike[str]

LARGE, LARGEST = 16_000_000, 60_000_000  # pixels of a PNG beyond which it is no longer enlarged, and is made smaller
_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15" font-family="monospace">8</text></svg>'
)


def checked_format(name: str, known: tuple[str, ...], what: str) -> str:
    """The name of a format in lower case, if `known` holds it.

    >>> from gradwalk.drawing.files import checked_format
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

    >>> from gradwalk.drawing.files import format_of
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
    >>> from gradwalk.drawing.files import write
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
        real = Path(os.path.realpath(target))  # a link goes on pointing at its file
        if real.exists() and not real.is_file():
            raise OSError(0, "it is a folder" if real.is_dir() else "it is not an ordinary file")
        if real.exists() and not os.access(real, os.W_OK):  # replacing would get round this, and should not
            raise PermissionError(0, "the file is read-only")
        draft = real.with_name(f".gradwalk-{secrets.token_hex(8)}.tmp")
        try:
            draft.write_bytes(content)
            draft.replace(real)
        except BaseException:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # a ValueError is a null character in the path
        reason = getattr(error, "strerror", None) or str(error)
        if isinstance(error, FileNotFoundError):
            reason = f"there is no folder {str(target.parent)!r}; make it first"
        raise SettingError(f"cannot write {str(target)!r}: {reason}") from error
    return target


# --- PNG -----------------------------------------------------------------------------------------------------------


def png(svg: str, wide: float, high: float, scale: float = 2.0) -> bytes:
    """An SVG as a PNG, at twice its size so that small text stays sharp, or less if it would be enormous.

    >>> from gradwalk.drawing.files import png
    >>> png('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', 9, 9)[1:4]
    b'PNG'
    """
    try:
        import resvg_py
    except ImportError as error:
        raise MissingExtraError("saving a PNG needs resvg-py: pip install resvg-py") from error
    room = wide * high
    scale = min(scale, max(math.sqrt(LARGE / room), min(1.0, math.sqrt(LARGEST / room))))
    # Images in it are spy plots, whose dots stay sharp this way.
    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, zoom=scale, font_dirs=_fonts(), image_rendering="optimize_speed")
    )


@cache
def _fonts() -> list[str] | None:
    """Folders with fonts to add to the system's: none, unless the system has none and matplotlib brings some."""
    import resvg_py

    blank = _PROBE.replace(">8<", "><")
    if resvg_py.svg_to_bytes(svg_string=_PROBE) != resvg_py.svg_to_bytes(svg_string=blank):
        return None
    found = importlib.util.find_spec("matplotlib")
    if found is None or found.origin is None:
        raise MissingExtraError(
            "a PNG needs a font and this machine has none: install one (apt-get install fonts-dejavu-core), "
            'or pip install "gradwalk[plot]", which brings one along; .svg and .html need none'
        )
    return [str(Path(found.origin).parent / "mpl-data" / "fonts" / "ttf")]
