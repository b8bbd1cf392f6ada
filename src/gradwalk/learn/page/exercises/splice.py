"""What a learner's text is spliced into: the teaching engine, or nothing but the learner's own functions."""

from __future__ import annotations

import builtins
import math
import random
import textwrap
from collections.abc import Mapping
from functools import cache
from types import CodeType
from typing import Any

from gradwalk.diagnose import teaching
from gradwalk.engine import Value
from gradwalk.learn.page.exercises.arrays import Array, ones, zeros
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.sandbox import LearnerError, execute

__all__ = ["BUDGET", "HEAD", "PARTS", "TAIL", "names_for", "own_engine"]

#: So many lines may run while a learner's text is defined.
BUDGET = 40_000

#: The class before its operations, and after them.
HEAD = '''\
"""A number that remembers how it was made, and can tell what it depends on."""

import math


class Value:
    """One number, its gradient, and how to push that gradient to what the number was made from."""

    def __init__(self, data, _children=(), _op=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None
'''
TAIL = """
    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"
"""

#: Which exercise each part of the class is written in, in the order of the class, and from which lesson on it is there.
PARTS: dict[str, tuple[str, int]] = {
    "__add__": ("plus-times", 7), "__mul__": ("plus-times", 7), "__pow__": ("slopes", 7),
    "__neg__": ("derived", 8), "__sub__": ("derived", 8), "__truediv__": ("derived", 8),
    "__radd__": ("reflected", 8), "__rmul__": ("reflected", 8), "__rsub__": ("reflected", 8),
    "__rtruediv__": ("reflected", 8),
    "tanh": ("slopes", 7), "exp": ("slopes", 7),
    "relu": ("functions", 8), "log": ("functions", 8), "sigmoid": ("functions", 8),
    "backward": ("backward", 7),
}  # fmt: skip


def names_for(exercise: Exercise, tab: Tab, text: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """The names that a tab's checks run with, the learner's own definitions among them.

    >>> exercise = EXERCISES["slopes"]
    >>> names = names_for(exercise, exercise.tabs["exp"], exercise.tabs["exp"].solution, {})
    >>> names["Value"](0.0).exp().data
    1.0
    """
    text = textwrap.dedent(text)
    if exercise.kind == "definitions":
        given = _given(exercise.given, exercise.arrays)
        names = execute(text, given, name=tab.name, budget=BUDGET)
        _must_define(tab.name, names, given)
        found = dict(names)
        if hasattr(builtins, tab.name):  # a method: inside it `max(row)` is Python's own, as it is in a class
            del names[tab.name]
        return found
    if exercise.kind == "program":
        return execute(text, {"Value": own_engine(texts), "math": math}, name=tab.name, budget=BUDGET)
    from gradwalk.learn.page.exercises import solutions

    space: dict[str, Any] = {"__name__": "engine"}
    exec(_compiled(teaching.SOURCE, "<engine>"), space)
    for name in tab.beside:
        _splice(space, name, solutions()[name])
    _splice(space, tab.name, text)
    return space


def _given(text: str, arrays: bool) -> dict[str, Any]:
    """The names that definitions may use; classes among them are made for each run, so that nobody's methods stay."""
    on_arrays = {"Array": Array, "zeros": zeros, "ones": ones}
    on_values = {"Value": Value, "math": math, "random": random}
    names: dict[str, Any] = {"__name__": "given", **(on_arrays if arrays else on_values)}
    exec(_compiled(text), names)
    return names


def own_engine(texts: Mapping[str, str]) -> type[Any]:
    """A class that holds nothing but what the learner wrote (and its constructor).

    >>> Value = own_engine({"__neg__": "def __neg__(self):\\n    return Value(-self.data)"})
    >>> -Value(3.0)
    Value(data=-3.0, grad=0.0)
    """
    space: dict[str, Any] = {"__name__": "engine"}
    exec(HEAD + TAIL, space)
    for name in PARTS:
        if name in texts:
            _splice(space, name, textwrap.dedent(texts[name]))
    engine: type[Any] = space["Value"]
    return engine


def _splice(space: dict[str, Any], name: str, text: str) -> None:
    names = execute(text, space, name=name, budget=BUDGET)
    _must_define(name, names, space)
    setattr(space["Value"], name, names[name])


def _must_define(name: str, names: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    if callable(names.get(name)) and names[name] is not before.get(name):
        return
    what = "class" if name[:1].isupper() else "def"
    wrapped = what == "def" and names.get("Value") is not before.get("Value")
    inside = "; leave the class around it away" if wrapped else ""
    raise LearnerError("NotDefined", f"there is no `{what} {name}` here{inside}", None, name)


@cache
def _compiled(text: str, file: str = "<given>") -> CodeType:
    return compile(text, file, "exec")
