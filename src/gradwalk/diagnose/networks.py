"""The classes beside an engine that hold weights: whether `parameters` and `zero_grad` reach every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.budget import OutOfSteps, lines_limited
from gradwalk.diagnose.probes import Quiet

__all__ = ["Forgotten", "forgotten", "has_networks"]

LINES = 100_000
METHODS = ("parameters", "zero_grad")
#: What a neuron, a layer or a network of two inputs may want to be made from.
SIZES: tuple[tuple[Any, ...], ...] = ((2,), (2, 2), (2, [2, 1]), ([2, 2, 1],), (2, 2, 1), ())


@dataclass(frozen=True)
class Forgotten:
    """A method of a class that leaves weights out: where they are kept.

    >>> Forgotten("Neuron", "zero_grad", "b").attribute
    'b'
    """

    owner: str
    method: str
    attribute: str


def has_networks(engine: Engine) -> bool:
    """Whether there is a class with weights to look at.

    >>> has_networks(Engine(Value, {"Value": Value}))
    False
    """
    return any(_classes(engine))


def forgotten(engine: Engine) -> Forgotten | None:
    """The first method that leaves a weight out; None if there is none, or if none could be tried.

    >>> forgotten(Engine(Value)) is None
    True
    """
    for cls in _classes(engine):
        for size in SIZES:
            try:
                with redirect_stdout(Quiet()), lines_limited(engine.files, LINES), engine.running():
                    network = cls(*size)
                    output = network([engine.leaf(1.5), engine.leaf(-0.5)])
                    for result in output if isinstance(output, (list, tuple)) else [output]:
                        engine.backward(result)
                    held = [(name, node) for name, node in _held(network, engine, "", set()) if engine.grad(node)]
                    found = _left_out(engine, network, held)
            except (Exception, SystemExit, OutOfSteps):
                continue
            if found:
                method, name = found
                return Forgotten(cls.__name__, method, name)
            break
    return None


def _left_out(engine: Engine, network: Any, held: list[tuple[str, Any]]) -> tuple[str, str] | None:
    if callable(getattr(network, "parameters", None)):
        listed = {id(parameter) for parameter in network.parameters()}
        for name, node in held if listed else ():
            if id(node) not in listed:
                return "parameters", name
    if callable(getattr(network, "zero_grad", None)):
        network.zero_grad()
        for name, node in held:
            if engine.grad(node):
                return "zero_grad", name
    return None


def _classes(engine: Engine) -> Iterator[type[Any]]:
    """Classes of the engine's own namespace with one of the methods; small parts come before what is made of them."""
    for thing in list(engine.namespace.values()):
        if not isinstance(thing, type) or issubclass(thing, engine.kind):
            continue
        if callable(getattr(thing, "__call__", None)):  # noqa: B004
            own = {name for base in thing.__mro__ for name in vars(base)}
            if "__call__" in own and any(method in own for method in METHODS):
                yield thing


def _held(thing: Any, engine: Engine, name: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Every node that an object holds, with the attribute that it is found under."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, engine.kind):
        yield name, thing
    elif isinstance(thing, (list, tuple)):
        for each in thing:
            yield from _held(each, engine, name, seen)
    elif isinstance(thing, dict):
        for each in thing.values():
            yield from _held(each, engine, name, seen)
    else:
        for attribute, each in getattr(thing, "__dict__", {}).items():
            yield from _held(each, engine, attribute, seen)
