"""Model files: a few lines of JSON that a person can read, written whole or not at all.

```
{"format": "gradwalk model", "version": 1, "parameters": {"w.0": 0.5, "b": "nan"}}
```

Numbers come back to the last bit. JSON has no nan and no infinity, so they stand as the texts "nan", "inf" and
"-inf". Nothing in such a file is ever run, so a file from a stranger can spoil a model and nothing else.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from gradwalk.drafts import replace
from gradwalk.errors import ModelFileError, NumberTooLargeError, SettingError
from gradwalk.ops import number

__all__ = ["FORMAT", "VERSION", "AnyPath", "first_repeated", "read", "read_bytes", "write", "write_bytes"]

FORMAT = "gradwalk model"
VERSION = 1

AnyPath = str | os.PathLike[str]
T = TypeVar("T")

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_OPENING = f'{{"format":"{FORMAT}"'.replace(" ", "")  # how every model file begins, less its white space


# --- writing -----------------------------------------------------------------------------------------------------


def write(state: Mapping[str, float], path: AnyPath) -> None:
    """Write numbers by name to a model file, so that `path` holds either all of them or what it held before.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store.write({"w": 0.1, "b": float("inf")}, Path(folder) / "model.json")
    ...     store.read(Path(folder) / "model.json")
    {'w': 0.1, 'b': inf}
    """
    plain = {name: x if math.isfinite(x) else f"{x:g}" for name, x in state.items()}
    document = {"format": FORMAT, "version": VERSION, "parameters": plain}
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    write_bytes(text.encode(), path)


def write_bytes(content: bytes, path: AnyPath) -> None:
    """Write a file, so that `path` holds either all of it or what it held before.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store.write_bytes(b"all of it", Path(folder) / "file")
    ...     store.read_bytes(Path(folder) / "file")
    b'all of it'
    """
    _on_disk("save the model to", path, lambda target: replace(target, content, lasting=True))


def read_bytes(path: AnyPath) -> bytes:
    """What a model file holds.

    >>> store.read_bytes("no-such-file.npz")
    Traceback (most recent call last):
    ...
    gradwalk.errors.ModelFileError: could not read the model file no-such-file.npz: No such file or directory
    """
    return _on_disk("read the model file", path, Path.read_bytes)


# --- reading -----------------------------------------------------------------------------------------------------


def read(path: AnyPath) -> dict[str, float]:
    """The numbers in a model file by name; a file that is not whole and sound is an error.

    >>> store.read("no-such-file.json")
    Traceback (most recent call last):
    ...
    gradwalk.errors.ModelFileError: could not read the model file no-such-file.json: No such file or directory
    """
    content = read_bytes(path)
    document = _parsed(content, path)
    version, parameters = document.get("version"), document.get("parameters")
    if version.__class__ is not int or version != VERSION:
        raise ModelFileError(
            f"{path} is a gradwalk model file of version {version!r}, and this gradwalk reads version {VERSION}; "
            "save the model again with this gradwalk, or load it with the one that wrote it"
        )
    if not isinstance(parameters, dict):
        raise ModelFileError(f'{path} is damaged: it has no "parameters"; save the model again')
    return {name: _number_in_file(x, name, path) for name, x in parameters.items()}


def _parsed(content: bytes, path: AnyPath) -> dict[str, Any]:
    """The JSON object in a model file, once it is known to be one of ours."""
    if not content.strip():
        raise ModelFileError(f"{path} is not a gradwalk model file: it is empty")
    opening = "".join(content[:200].decode("ascii", "replace").split())[: len(_OPENING)]
    try:
        document = json.loads(content.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        if _OPENING.startswith(opening):
            reason = f"is truncated or damaged ({error}); save the model again"
        else:
            reason = "is not a gradwalk model file (no JSON that gradwalk wrote); give a file made by save()"
        raise ModelFileError(f"{path} {reason}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(
            f'{path} is not a gradwalk model file (it is JSON without "format": "{FORMAT}"); give a file made by save()'
        )
    return document


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{first_repeated(name for name, _ in pairs)!r} stands in it twice")
    return found


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that has been there before, if one has.

    >>> store.first_repeated(["w", "b", "w"])
    'w'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _no_constant(text: str) -> float:
    raise ValueError(f'{text} is no JSON; a model file has "nan", "inf" and "-inf" in quotes')


def _number_in_file(x: Any, name: str, path: AnyPath) -> float:
    if isinstance(x, str) and x in _SPECIAL:
        return _SPECIAL[x]
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        with suppress(NumberTooLargeError):
            if math.isfinite(number(x)):
                return number(x)
        raise ModelFileError(f"{path} is damaged: {name} is too large for a float; save the model again")
    raise ModelFileError(f"{path} is damaged: {name} is {_short(x)}, which is not a number; save the model again")


def _short(x: Any) -> str:
    text = json.dumps(x)
    return text if len(text) <= 40 else text[:37] + "..."


# --- both --------------------------------------------------------------------------------------------------------


def _on_disk(purpose: str, path: AnyPath, action: Callable[[Path], T]) -> T:
    """`action(path)`, with whatever the system says against it in words that name the file."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str) or not os.fspath(path):
        raise SettingError(f"a model file has a path such as 'model.json', not {path!r}")
    try:
        return action(Path(path))
    except (OSError, ValueError) as error:  # a ValueError is a null character in the path
        reason = getattr(error, "strerror", None) or str(error)
        if isinstance(error, FileNotFoundError) and action is not Path.read_bytes:
            reason = f"there is no folder {Path(path).parent}; make it first"
        if isinstance(error, IsADirectoryError):
            reason += "; give a file name in it"
        raise ModelFileError(f"could not {purpose} {path}: {reason}") from error
