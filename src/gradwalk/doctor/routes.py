"""Ways through a thing to the Values in it, and what such a way says: which parameter, which unit, which layer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from types import FunctionType, ModuleType
from typing import Any

from gradwalk.engine import Value
from gradwalk.module import Module
from gradwalk.optim import Optimizer
from gradwalk.train import Training

NUMBERS = (float, int, str, bool, bytes)

Route = tuple[str | int | tuple[Any], ...]  # attributes as text, places in a list as ints, keys of a dict in a tuple

Found = tuple[Value, Route, tuple[int, ...]]


@dataclass(frozen=True)
class Spot:
    """Where a parameter lies: the path to it, to the unit that it belongs to (a neuron, a row), and to its layer.

    >>> model = nn.MLP(2, [4, 1])
    >>> names_of(model).spot(model.layers[1].neurons[0].w[2])
    Spot(path='layers[1].neurons[0].w[2]', unit='layers[1].neurons[0]', layer='layers[1]', table='')
    """

    path: str
    unit: str
    layer: str
    table: str = ""  # the nested list it is a number of, if it is in one: rows of a table need not all be read


def leaves_in(root: Any, start: Route, budget: list[int] | None = None) -> Iterator[Found]:
    """Every leaf in a thing, however deep: the Value, the route to it, and the lengths at which objects were passed.

    >>> [(route, objects) for _, route, objects in leaves_in(nn.Layer(1, 1), ())]
    [(('neurons', 0, 'w', 0), (0, 2)), (('neurons', 0, 'b'), (0, 2))]
    """
    seen: dict[int, Any] = {}
    ahead: list[tuple[Any, Route, tuple[int, ...]]] = [(root, start, ())]
    while ahead:
        thing, route, objects = ahead.pop()
        if thing.__class__ in NUMBERS or thing is None or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(thing, Value) or is_tensor(thing):
            if not thing.inputs and (not is_tensor(thing) or thing.requires_grad):
                yield thing, route, objects
            continue
        inside = _inside(thing)
        if inside is None:
            continue
        if budget is not None:
            budget[0] -= 1
            if budget[0] < 0:
                return
        if not isinstance(thing, (list, tuple, dict)):
            objects = (*objects, len(route))
        ahead += reversed([(part, (*route, key), objects) for key, part in inside])


def is_tensor(thing: Any) -> bool:
    """Whether a thing is a node of many numbers.

    >>> is_tensor(gradwalk.Tensor([1.0])), is_tensor(Value(1.0)), is_tensor(gradwalk.Tensor)
    (True, False, False)
    """
    return getattr(type(thing), "many", False) is True


def _inside(thing: Any) -> list[tuple[Any, Any]] | None:
    """The parts of a thing by the step that leads to each; None for what is not opened."""
    if isinstance(thing, (list, tuple)):
        return None if thing and thing[0].__class__ in NUMBERS else list(enumerate(thing))
    if isinstance(thing, dict):
        return [((key,), part) for key, part in thing.items()]
    if isinstance(thing, (type, ModuleType, FunctionType, Optimizer)):
        return None
    home = type(thing).__module__.split(".")[0]
    own = home == "gradwalk" and not isinstance(thing, (Module, Training))
    if own or (home in sys.stdlib_module_names and home != "__main__"):
        return None
    fields = getattr(thing, "__dict__", None)
    if isinstance(fields, dict):
        return list(fields.items())
    slots = getattr(type(thing), "__slots__", ())
    return [(name, getattr(thing, name)) for name in slots if hasattr(thing, name)] if is_dataclass(thing) else None


def in_matrices(inside: Iterable[Found]) -> set[Route]:
    """The routes of objects that hold lists in lists of Values: there a row is a unit, and not the object.

    >>> in_matrices([(Value(1.0), ("net", "W", 0, 2), (1,))])
    {('net',)}
    """
    return {
        route[: objects[-1]] for _, route, objects in inside if objects and _depth_in_lists(route[objects[-1] :]) >= 2
    }


def _depth_in_lists(route: Route) -> int:
    return sum(not isinstance(step, str) for step in route)


def spot_of(v: Value, route: Route, objects: tuple[int, ...], start: int, matrices: set[Route]) -> Spot:
    """A spot by the shape of the route: a row of a matrix is a unit of its table, a small object one of its list.

    >>> spot_of(Value(1.0), ("W", 3, 2), (0,), 0, {()})
    Spot(path='W[3][2]', unit='W[3]', layer='W', table='W')
    """
    path = text(route) or v.label or "value"
    holder = objects[-1] if objects else start
    if is_tensor(v):  # many parameters in one: the object that holds it is a layer
        path = v.label if v.label and len(route) <= start + 1 else path
        home = (text(route[:holder]) if objects and holder > start else "") or path
        return Spot(path, home, home)
    inside = route[holder:]
    table = ""
    if _depth_in_lists(inside) >= 2:
        unit, layer = route[:-1], route[:-2]
        table = text(layer)
    elif route[:holder] in matrices or not objects or holder <= start:  # a vector beside matrices, or plain variables
        unit, layer = route, route[:-1] if inside[1:] else route
    else:
        unit = route[:holder]
        layer = _layer(unit, objects[:-1], start)
    if not objects and v.label and len(route) <= start + 1:
        path = v.label
        return Spot(path, path, path)
    return Spot(path, text(unit) or path, text(layer) or text(unit) or path, table)


def _layer(unit: Route, objects: tuple[int, ...], start: int) -> Route:
    """The object that a unit lies in, or else the list."""
    if objects and objects[-1] > start:
        return unit[: objects[-1]]
    return unit[:-1] if unit and not isinstance(unit[-1], str) else unit


def text(route: Route) -> str:
    """A route as it would be written.

    >>> text(("layers", 1, "w", ("left",)))
    "layers[1].w['left']"
    """
    words = ""
    for step in route:
        if isinstance(step, str):
            words += f".{step}" if words else step
        else:
            words += f"[{step[0]!r}]" if isinstance(step, tuple) else f"[{step}]"
    return words
