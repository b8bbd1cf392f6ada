"""The inputs of a check: numbers, or trees of numbers as `tree.py` has it, given to `f` as trees of nodes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from typing import Any

from gradwalk import tree
from gradwalk.engine import Value
from gradwalk.errors import BackwardError, GradwalkError, GraphError, NotANumberError, SettingError
from gradwalk.messages import shown
from gradwalk.ops import number

Node = Any


@dataclass(frozen=True)
class Inputs:
    """Inputs laid out flat, with a name for each and the structure they came in."""

    structure: tree.Structure
    names: tuple[str, ...]
    labels: tuple[str, ...]
    numbers: tuple[float, ...]
    kind: Callable[..., Node]  # the class of the nodes


def read_inputs(inputs: Any, kind: Callable[..., Node] | None) -> Inputs:
    """Inputs as a user gives them; Values are only read.

    >>> read_inputs([2, [3.0, 4.0]], None).names
    ('inputs[0]', 'inputs[1][0]', 'inputs[1][1]')
    """
    leaves, structure = tree.flatten(_as_lists(inputs), _is_node)
    if not structure.tokens[0] or isinstance(inputs, dict) or is_dataclass(inputs):
        raise GraphError(
            f"inputs is a list with one entry for each argument of f, as in [2.0, 3.0], not {type(inputs).__name__}: "
            f"{inputs!r}"
        )
    if kind is not None and not callable(kind):
        raise SettingError(f"value is the class of the nodes, as in value=MyValue, not {type(kind).__name__}: {kind!r}")
    if not leaves:
        raise GraphError("there is nothing to check: give at least one input, as in gradcheck(f, [2.0])")
    names, labels, numbers = [], [], []
    for name, given in zip(structure.paths("inputs"), leaves, strict=True):
        label = str(getattr(given, "label", "") or "") if _is_node(given) else ""
        names.append(label or name)
        labels.append(label)
        numbers.append(_finite(name, given))
    if kind is None:  # nodes of another class among the inputs tell which class to use
        kind = next((type(given) for given in leaves if _is_node(given)), Value)
    return Inputs(structure, tuple(names), tuple(labels), tuple(numbers), kind)


class CheckedFunction:
    """`f` as a function of a flat tuple of numbers."""

    def __init__(self, f: Callable[..., Any], inputs: Inputs) -> None:
        if not callable(f):
            raise GraphError(f"f is a function that gives one Value, not {type(f).__name__}: {f!r}")
        self.f, self.inputs = f, inputs

    def run(self, point: tuple[float, ...]) -> tuple[Node, list[Node]]:
        """The result of `f` at a point, and the fresh leaves that went in."""
        leaves = [self._leaf(x, label) for x, label in zip(point, self.inputs.labels, strict=True)]
        return _checked(self.call(leaves)), leaves

    def call(self, leaves: list[Node]) -> Any:
        """Whatever `f` gives for these leaves; an error of its own is told with the point where it was raised."""
        try:
            return self.f(*self.inputs.structure.unflatten(leaves))
        except GradwalkError:
            raise
        except Exception as error:
            named = list(zip(self.inputs.names, leaves, strict=True))
            where = ", ".join(f"{name} = {leaf.data}" for name, leaf in named[:6]) + (", …" if len(named) > 6 else "")
            raise GraphError(
                f"f raised {type(error).__name__} at {where}: {error}; "
                "f is called as f(*inputs), with lists of nodes where inputs has lists of numbers"
            ) from error

    def value(self, point: tuple[float, ...]) -> float:
        """The number that `f` gives at a point."""
        return number(self.run(point)[0].data)

    def along(self, position: int) -> Callable[[float], float]:
        """`f` as a function of one of its inputs, the others held."""
        return lambda x: self.value(replaced(self.inputs.numbers, position, x))

    def _leaf(self, x: float, label: str) -> Node:
        try:
            leaf = self.inputs.kind(x)
        except Exception as error:
            name = getattr(self.inputs.kind, "__name__", repr(self.inputs.kind))
            raise GraphError(f"{name}({x!r}) raised {type(error).__name__}: {error}") from error
        if label:
            with suppress(AttributeError):  # a class with slots may have no room for it
                leaf.label = label
        return leaf


def _checked(root: Any) -> Node:
    """`root` if it is a node, else an error with the remedy."""
    if _is_node(root):
        try:
            number(root.data)
        except NotANumberError as error:
            raise NotANumberError(f"the result of f holds no number in its data: {error}") from error
        return root
    if root is None:
        remedy = "does it end without a return?"
    elif isinstance(root, (list, tuple)):
        remedy = "for several results check each, or their sum"
    elif isinstance(root, (int, float)):
        remedy = "a plain number does not remember how it was made; did f take .data of a Value, or use math.exp?"
    else:
        remedy = "a node has data, grad and backward()"
    raise GraphError(f"f must give one Value, and it gave {type(root).__name__} {shown(root)}: {remedy}")


def replaced(point: Sequence[float], position: int, x: float) -> tuple[float, ...]:
    """A point with another number at one position."""
    return tuple(x if i == position else y for i, y in enumerate(point))


def direction(dice: random.Random, point: Sequence[float]) -> list[float]:
    """A random way on which every number moves, either way, by about its own size; the more numbers, the less each."""
    steps = [dice.choice((-1, 1)) * dice.uniform(0.5, 1.5) * max(1.0, abs(x)) for x in point]
    return [step / math.sqrt(len(point)) for step in steps]


def run_backward(root: Node) -> None:
    """`root.backward()`; whatever it raises becomes a named error."""
    try:
        root.backward()
    except GradwalkError:
        raise
    except Exception as error:
        raise BackwardError(f"backward() of {type(root).__name__} raised {type(error).__name__}: {error}") from error


def _as_lists(inputs: Any) -> Any:
    """Arrays of other kinds than NumPy's as the lists they stand for."""
    return tree.map(lambda x: x.tolist() if hasattr(x, "tolist") else x, inputs, leaf=_is_node)


def _is_node(x: Any) -> bool:
    return hasattr(x, "data") and callable(getattr(x, "backward", None))


def _finite(name: str, given: Any) -> float:
    try:
        x = number(given.data if _is_node(given) else given)
    except NotANumberError as error:
        raise NotANumberError(f"{name}: {error}") from None
    if not math.isfinite(x):
        raise SettingError(f"{name} is {x}: a derivative can only be measured around a finite number")
    return x
