"""Pixels as a PNG file, from the standard library alone."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

__all__ = ["png_of_indices"]


def png_of_indices(rows: Sequence[bytes], palette: Sequence[str]) -> bytes:
    """A picture of one byte for each pixel, which says which colour of the palette it has; colour 0 is see-through.

    >>> from gradwalk.drawing.raster import png_of_indices
    >>> picture = png_of_indices([bytes([0, 1]), bytes([1, 0])], ["#FFFFFF", "#1A5C9E"])
    >>> picture[:4], len(picture) < 120
    (b'\\x89PNG', True)
    """
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)  # 8 bits, indexed
    colours = b"".join(bytes.fromhex(colour[1:]) for colour in palette)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)  # each row: no filter, then its bytes
    chunks = ((b"IHDR", header), (b"PLTE", colours), (b"tRNS", b"\0"), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
