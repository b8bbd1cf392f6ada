"""Files of tensors from strangers: whatever is wrong with one, it is said by name, and nothing is read wrongly."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

import gradwalk
from gradwalk.errors import ModelFileError

HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': %s}"
ONE = (HEADER % "(1,)", b"\0" * 8)


def npy(header: str, body: bytes = b"") -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + body


def archive(*entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(content, "w", method) as file:
        warnings.simplefilter("ignore")  # of a name that is there already
        for name, text in entries:
            file.writestr(name, text)
    return content.getvalue()


def with_byte(content: bytes, here: int, there: int, byte: int) -> bytes:
    """An archive of one entry with a byte of its header changed, which is there twice."""
    changed = bytearray(content)
    changed[here] = changed[content.index(b"PK\1\2") + there] = byte
    return bytes(changed)


STRANGE = {
    "nothing": b"",
    "a folder": archive(("a/", b"")),
    "cut short": archive(("a.npy", b"\x93NUMPY")),
    "a length and no header": archive(("a.npy", b"\x93NUMPY\1\0\x05")),
    "brackets": archive(("a.npy", npy("[" * 60_000))),
    "signs": archive(("a.npy", npy("-" * 60_000 + "1"))),
    "a hundred axes": archive(("a.npy", npy(HEADER % f"({'1,' * 100})", b"\0" * 8))),
    "an axis beyond memory": archive(("a.npy", npy(HEADER % "(0, 9223372036854775807, 9223372036854775807)"))),
    "no dict": archive(("a.npy", npy("1"))),
    "a name twice": archive(("a.npy", npy(*ONE)), ("a.npy", npy(*ONE))),
    "a name in two ways": archive(("a.npy", npy(*ONE)), ("a", npy(*ONE))),
    "encrypted": with_byte(archive(("a.npy", npy(*ONE))), 6, 8, 1),
    "a method of nobody": with_byte(archive(("a.npy", npy(*ONE))), 8, 10, 97),
}


@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE.keys())
def test_a_file_that_is_not_sound_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"t\.npz is (no file of tensors, or is )?damaged"):
        gradwalk.load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_is_refused_by_name_or_read_as_it_was(method: int, tmp_path: Path) -> None:
    path, chance = tmp_path / "t.npz", random.Random(method)
    whole = archive(("a.npy", npy(HEADER % "(3,)", struct.pack("<3d", 1.0, 2.0, 3.0))), method=method)
    for _ in range(40):
        changed = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 8])):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        path.write_bytes(changed[: chance.choice([len(changed), len(changed), chance.randrange(len(changed))])])
        try:
            found = gradwalk.load(path)
        except ModelFileError:
            continue
        assert [x.tolist() for x in (found.values() if isinstance(found, dict) else [found])] in ([[1.0, 2.0, 3.0]], [])
