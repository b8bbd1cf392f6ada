"""Numbers and fields as JSON holds them, and back again with a clear word where something does not fit.

JSON has no nan and no inf: they travel as the texts "nan", "inf" and "-inf". All other floats keep every digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from gradwalk.errors import GraphError
from gradwalk.messages import shown
from gradwalk.walk.many import MAP, Many

__all__: list[str] = []

Reader = Callable[[Any], Any]

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def encoded(x: Any) -> Any:
    """A field's value as JSON takes it."""
    if isinstance(x, float) and not math.isfinite(x):
        return str(float(x))
    if isinstance(x, Many):
        return {"shape": list(x.shape), "numbers": encoded(x.numbers)}
    if x is MAP:
        return "map"
    if isinstance(x, tuple):
        return [encoded(part) for part in x]
    if isinstance(x, dict):
        return {name: encoded(part) for name, part in x.items()}
    return x


def decoded(record: Any, fields: Mapping[str, Reader], what: str) -> dict[str, Any]:
    """The named fields of a JSON object, each through its reader."""
    if not isinstance(record, dict):
        raise GraphError(f"{what} is no JSON object: {shown(record)}")
    found = {}
    for name, reader in fields.items():
        if name not in record:
            raise GraphError(f"{what} has no {name!r}: the text is cut short or not a recording")
        try:
            found[name] = reader(record[name])
        except ValueError as error:
            raise GraphError(f"{what} has {name!r} = {shown(record[name])}, which is {error}") from None
    return found


# --- readers: each gives the value, or a ValueError that says what it is instead ---------------------------------


def number(x: Any) -> float:
    if isinstance(x, str) and x in _SPECIAL:
        return _SPECIAL[x]
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        try:
            return float(x)
        except OverflowError:
            raise ValueError("too large for a float") from None
    if isinstance(x, dict) and {*x} == {"shape", "numbers"}:  # of a tensor
        shape, numbers = tuple(map(whole, x["shape"])), tuple(map(number, x["numbers"]))
        if math.prod(shape) == len(numbers):
            return Many(shape, numbers)  # type: ignore[return-value]
    raise ValueError("not a number")


def slope(x: Any) -> Any:
    """A number, nothing towards a constant, or the map of a tensor op."""
    return MAP if x == "map" else maybe(number)(x)


def whole(x: Any) -> int:
    if isinstance(x, int) and not isinstance(x, bool) and x >= 0:
        return x
    raise ValueError("not a whole number from 0 upwards")


def _plain(kind: type, otherwise: str) -> Reader:
    def read(x: Any) -> Any:
        if isinstance(x, kind):
            return x
        raise ValueError(otherwise)

    return read


text, truth = _plain(str, "not a text"), _plain(bool, "neither true nor false")


def many(reader: Reader) -> Reader:
    def read_all(x: Any) -> tuple[Any, ...]:
        if not isinstance(x, (list, tuple)):
            raise ValueError("not a list")
        return tuple(reader(part) for part in x)

    return read_all


def maybe(reader: Reader) -> Reader:
    return lambda x: None if x is None else reader(x)
