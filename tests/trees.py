"""Trees of every kind that hold two numbers: how to make one, and how a function reads them out of it."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

Pair = namedtuple("Pair", "a b")


@dataclass
class Point:
    a: Any
    b: Any


@dataclass(frozen=True, slots=True)
class Fixed:
    a: Any
    b: Any


@dataclass(frozen=True)
class Derived:
    """A field that the constructor does not take, an argument that is no field, and a property that is kept."""

    a: Any
    start: InitVar[Any]
    b: Any = field(init=False)

    def __post_init__(self, start: Any) -> None:
        object.__setattr__(self, "b", start)

    @cached_property
    def both(self) -> Any:
        return self.a, self.b


class Row(list[Any]):
    """A list whose constructor wants something else than items."""

    def __init__(self, a: Any, b: Any) -> None:
        super().__init__([a, b])


class Couple(tuple[Any, ...]):
    def __new__(cls, a: Any, b: Any) -> Couple:
        return super().__new__(cls, (a, b))


class Named(dict[str, Any]):
    """A dict with an attribute, which is a part of it too."""

    def __init__(self, a: Any, b: Any) -> None:
        super().__init__(a=a)
        self.b = b


def derived(a: Any, b: Any) -> Derived:
    made = Derived(a, b)
    assert made.both  # and is kept, which must not be taken for a part
    return made


@dataclass(frozen=True)
class Kind:
    """A tree of two numbers."""

    name: str
    make: Callable[[Any, Any], Any]
    read: Callable[[Any], tuple[Any, Any]]  # two numbers out of it


def items(x: Any) -> tuple[Any, Any]:
    return x[0], x[1]


def keys(x: Any) -> tuple[Any, Any]:
    return x["a"], x["b"]


def attributes(x: Any) -> tuple[Any, Any]:
    return x.a, x.b


def array(*parts: Any) -> Any:
    return np.array(parts) if all(isinstance(x, float) for x in parts) else objects(*parts)


def objects(*parts: Any) -> Any:
    out = np.empty(len(parts), object)
    for i, part in enumerate(parts):
        out[i] = part
    return out


KINDS = [
    Kind("list", lambda a, b: [a, b], items),
    Kind("tuple", lambda a, b: (a, b), items),
    Kind("namedtuple", Pair, attributes),
    Kind("dict", lambda a, b: {"a": a, "b": b}, keys),
    Kind("dict in another order", lambda a, b: {"z": a, 0: b}, lambda x: (x["z"], x[0])),
    Kind("OrderedDict", lambda a, b: OrderedDict(a=a, b=b), keys),
    Kind("defaultdict", lambda a, b: defaultdict(list, a=a, b=b), keys),
    Kind("Counter", lambda a, b: Counter({"a": a, "b": b}), keys),
    Kind("dataclass", Point, attributes),
    Kind("frozen dataclass with slots", Fixed, attributes),
    Kind("dataclass that computes a field", derived, attributes),
    Kind("subclass of list", Row, items),
    Kind("subclass of tuple", Couple, items),
    Kind("subclass of dict", Named, lambda x: (x["a"], x.b)),
    Kind("array", array, items),
    Kind("array of objects", objects, items),
    Kind("array in two dimensions", lambda a, b: array(a, b).reshape(2, 1), lambda x: (x[0, 0], x[1, 0])),
    Kind("a mixture", lambda a, b: {"x": [Pair(a, ())], "y": (Point(b, None), {})},
         lambda x: (x["x"][0].a, x["y"][0].a)),
    Kind("arrays in a list", lambda a, b: [array(a), {"b": array(b)}], lambda x: (x[0][0], x[1]["b"][0])),
    Kind("texts, None and functions beside", lambda a, b: ["text", a, None, {"f": math.sin, "b": b}],
         lambda x: (x[1], x[3]["b"])),
    Kind("empty containers beside", lambda a, b: [[], a, (), {}, [[]], b], lambda x: (x[1], x[5])),
]  # fmt: skip
