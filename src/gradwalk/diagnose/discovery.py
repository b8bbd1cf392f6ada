"""Looking at someone's engine: its class, its constructor, and the names of its data, gradient and walk."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

from gradwalk.diagnose.vocabulary import BACKWARD, BINARY, DATA, FILLERS, GRAD, SWITCHES

__all__ = ["NotAnEngine", "find_class"]

PROBE = 2.71828  # a number that nothing holds by chance


class NotAnEngine(Exception):  # noqa: N818 - a finding, told to the learner in a report
    """Nothing that could be judged was found; the message says what was looked for.

    >>> find_class({"x": 1})
    Traceback (most recent call last):
    ...
    gradwalk.diagnose.discovery.NotAnEngine: there is no class Value here, and no other with operators and backward()
    """


def find_class(namespace: Mapping[str, Any], class_name: str = "Value") -> type[Any]:
    """The class to judge: the one of that name, or else the one that most looks like an engine's node.

    >>> class Scalar:
    ...     def __add__(self, other): ...
    ...     def backward(self): ...
    >>> find_class({"Scalar": Scalar, "int": int}).__name__
    'Scalar'
    """
    named = namespace.get(class_name)
    if isinstance(named, type):
        return named
    best, most = None, 0
    for thing in namespace.values():
        if isinstance(thing, type) and thing.__module__ != "builtins":
            points = sum(hasattr(thing, method) for method, _ in BINARY.values())
            points += 5 * any(callable(getattr(thing, name, None)) for name in BACKWARD)
            if points > max(most, 4):
                best, most = thing, points
    if best is None and any(isinstance(namespace.get(name), FunctionType) for name in BACKWARD):
        own = (x for x in namespace.values() if isinstance(x, type) and x.__module__ == namespace.get("__name__"))
        best = next((x for x in own if not issubclass(x, BaseException)), None)
    if best is None:
        raise NotAnEngine(f"there is no class {class_name} here, and no other with operators and backward()")
    return best


def find_constructor(cls: type[Any]) -> Callable[[float], Any]:
    """How to make a node from a number."""
    failures = []
    for arguments in _ways_to_call(cls):

        def make(x: float, extra: dict[str, Any] = arguments) -> Any:
            return cls(x, **extra)

        try:
            make(PROBE)
        except Exception as error:
            failures.append(error)
        else:
            return make
    first = failures[0]
    raise NotAnEngine(f"{cls.__name__}(2.5) does not work: {type(first).__name__}: {first}") from first


def find_data(node: Any) -> str:
    """The attribute in which a node that was made from `PROBE` keeps it."""
    for name in (*DATA, *attributes(node)):
        held = getattr(node, name, None)
        if not callable(held) and _equals(held, PROBE):
            return name
    raise NotAnEngine(
        f"a {type(node).__name__} made from {PROBE} keeps that number nowhere: "
        f"looked for {', '.join(DATA[:3])} and every other attribute"
    )


def find_grad(node: Any, data: str) -> str:
    """The attribute in which a node keeps its gradient."""
    for name in GRAD:
        if hasattr(node, name) and not inspect.ismethod(getattr(node, name)):
            return name
    zeros = [name for name in attributes(node) if name != data and _equals(getattr(node, name), 0.0)]
    return zeros[0] if len(zeros) == 1 else GRAD[0]  # it may come with the first walk


def find_backward(cls: type[Any], namespace: Mapping[str, Any]) -> tuple[str, Callable[[Any], Any]]:
    """What the walk is called, and how to start it."""
    for name in BACKWARD:
        method = getattr(cls, name, None)
        if callable(method):
            seed = (1.0,) if _needs_argument(method) else ()
            return name, lambda root, name=name, seed=seed: getattr(root, name)(*seed)
        function = namespace.get(name)
        if isinstance(function, FunctionType):
            return name, function
    raise NotAnEngine(f"{cls.__name__} has no backward(), and there is no function of that name")


def attributes(node: Any) -> list[str]:
    """The names of what a node holds, in a dict or in slots."""
    slots: list[str] = []
    for cls in type(node).__mro__:
        own = getattr(cls, "__slots__", ())
        slots += [own] if isinstance(own, str) else own
    return [name for name in (*getattr(node, "__dict__", ()), *slots) if hasattr(node, name)]


def _ways_to_call(cls: type[Any]) -> Iterator[dict[str, Any]]:
    """Arguments beside the number that the constructor may want: none, or a filler for each that has no default."""
    try:
        wanted = list(inspect.signature(cls).parameters.values())[1:]
    except (TypeError, ValueError):
        yield {}
        return
    switches = {p.name: True for p in wanted if p.name in SWITCHES}
    needed = [p for p in wanted if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    yield switches
    for default in ((), None, ""):
        fillers = {
            p.name: next((filler for part, filler in FILLERS.items() if part in p.name.lower()), default)
            for p in needed
        }
        yield {**fillers, **switches}


def _needs_argument(method: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(method).parameters.values())[1:]
    except (TypeError, ValueError):
        return False
    return any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


def _equals(held: Any, number: float) -> bool:
    try:
        held = held.item() if hasattr(held, "item") else held  # an array of one number
        return not isinstance(held, bool) and math.isclose(float(held), number, rel_tol=1e-6)
    except (TypeError, ValueError, OverflowError):
        return False
