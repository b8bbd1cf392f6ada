"""Tensors in files: NumPy's .npz, which holds numbers and names and nothing that is run; written whole or not."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
from array import array
from collections.abc import Mapping
from typing import Any

from gradwalk import store
from gradwalk.errors import ModelFileError, SettingError
from gradwalk.tensor import arrays
from gradwalk.tensor.core import Tensor
from gradwalk.tensor.functions import as_tensor
from gradwalk.tensor.shapes import size_of

__all__ = ["load", "save"]

#: dtypes as the format has them, and as Python's arrays do.
KINDS = {"float64": ("<f8", "d"), "float32": ("<f4", "f"), "int64": ("<i8", "q"), "bool": ("|b1", "b")}
LONGEST = 65_000  # bytes of a name
MAGIC = b"\x93NUMPY"


def save(tensors: Any, path: Any) -> None:
    """Write tensors by name, or one tensor, to a file; it is replaced whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gradwalk.save({"w": gradwalk.ones(2)}, f"{folder}/model.npz")
    ...     gradwalk.load(f"{folder}/model.npz")
    {'w': Tensor([1.0, 1.0])}
    """
    if hasattr(tensors, "state_dict"):
        tensors = tensors.state_dict()
    if not isinstance(tensors, Mapping):
        tensors = {"tensor": tensors}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, x in tensors.items():
            if not isinstance(name, str) or not _fits(name):
                raise SettingError(f"a tensor in a file has a name, not {name!r:.60}")
            if isinstance(x, Mapping):
                raise SettingError(
                    f"{name!r} is a dict; a file holds tensors by name: save each under a name of its own"
                )
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))  # the same numbers make the same file
            archive.writestr(info, _written(as_tensor(x)))
    store.write_bytes(content.getvalue(), path)


def _fits(name: str) -> bool:
    """Whether an archive can hold a name as it is: it would cut it off at a zero."""
    try:
        length = len(name.encode())
    except UnicodeEncodeError:  # half a character
        return False
    return 0 < length <= LONGEST and "\0" not in name and not name.startswith("/") and ".." not in name.split("/")


def load(path: Any) -> Any:
    """The tensors in a file that `save` or NumPy's savez wrote, by name; one that was saved alone, alone.

    >>> gradwalk.load("no-such-file.npz")
    Traceback (most recent call last):
    ...
    gradwalk.errors.ModelFileError: could not read the model file no-such-file.npz: No such file or directory
    """
    content = store.read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if len(set(names)) < len(names):
                raise ValueError(f"{store.first_repeated(names)!r} stands in it twice")
            found = {
                name: _read(archive.read(entry), entry, path)
                for name, entry in zip(names, archive.namelist(), strict=True)
            }
    except ModelFileError:
        raise
    except Exception as error:  # a stranger's bytes make zipfile, its decompressors and NumPy raise a dozen kinds
        raise ModelFileError(
            f"{path} is no file of tensors, or is damaged ({error}); give one that save() wrote"
        ) from error
    return found["tensor"] if list(found) == ["tensor"] else found


def _written(x: Tensor) -> bytes:
    kind, code = KINDS[x.dtype]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {x.shape!r}, }}"
    header += " " * (-(len(MAGIC) + 4 + len(header) + 1) % 64) + "\n"
    flat = arrays.now.tolist(arrays.now.reshape(x.array, (size_of(x.shape),)))
    numbers = array(code, flat)
    if sys.byteorder == "big":
        numbers.byteswap()
    return MAGIC + b"\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + numbers.tobytes()


def _read(content: bytes, name: str, path: Any) -> Tensor:
    damaged = ModelFileError(f"{path} is damaged: {name} is no array of numbers that gradwalk reads; save it again")
    if content[:6] != MAGIC or content[6:7] not in (b"\x01", b"\x02"):
        raise damaged
    start, number = (10, "<H") if content[6] == 1 else (12, "<I")
    (length,) = struct.unpack(number, content[8:start])
    header = _header(content[start : start + length].decode("latin1"))
    for dtype, (kind, code) in KINDS.items():
        if header is not None and header["descr"] == kind and not header["fortran_order"]:
            numbers = array(code)
            body, shape = content[start + length :], header["shape"]
            if len(body) != numbers.itemsize * size_of(shape):
                raise damaged
            numbers.frombytes(body)
            if sys.byteorder == "big":
                numbers.byteswap()
            return Tensor(arrays.now.reshape(arrays.now.new(numbers.tolist(), dtype), shape))
    raise damaged


def _header(text: str) -> dict[str, Any] | None:
    """The description of an array: literals only, never anything that is run."""
    import ast

    try:
        found = ast.literal_eval(text.strip())
        shape = found["shape"]
        sound = (
            isinstance(found["descr"], str) and isinstance(found["fortran_order"], bool) and isinstance(shape, tuple)
        )
        return found if sound and all(type(n) is int and n >= 0 for n in shape) else None
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):  # Python's parser has limits
        return None
