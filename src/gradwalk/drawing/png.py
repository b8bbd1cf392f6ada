"""PNG files: of an SVG, by resvg-py; of bare pixels, from the standard library alone."""

from __future__ import annotations

import importlib.util
import math
import struct
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gradwalk.errors import MissingExtraError

__all__ = ["png", "png_of_indices"]

LARGE, LARGEST = 16_000_000, 60_000_000  # pixels of a PNG beyond which it is no longer enlarged, and is made smaller
_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15" font-family="monospace">8</text></svg>'
)


def png_of_indices(rows: Sequence[bytes], palette: Sequence[str]) -> bytes:
    """A picture of one byte for each pixel, which says which colour of the palette it has; colour 0 is see-through.

    >>> picture = png_of_indices([bytes([0, 1]), bytes([1, 0])], ["#FFFFFF", "#1A5C9E"])
    >>> picture[:4], len(picture) < 120
    (b'\\x89PNG', True)
    """
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)  # 8 bits, indexed
    colours = b"".join(bytes.fromhex(colour[1:]) for colour in palette)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)  # each row: no filter, then its bytes
    chunks = ((b"IHDR", header), (b"PLTE", colours), (b"tRNS", b"\0"), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def png(svg: str, wide: float, high: float, scale: float = 2.0) -> bytes:
    """An SVG as a PNG, at twice its size so that small text stays sharp, or less if it would be enormous.

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
