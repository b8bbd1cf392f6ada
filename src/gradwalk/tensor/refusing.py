"""What is not there for tensors, by name, with the nearest thing that is."""

from __future__ import annotations

from typing import Any, NoReturn

from gradwalk.errors import GraphError
from gradwalk.instead import INSTEAD

__all__ = ["LeftOut", "refuse", "refuse_tensors"]


class LeftOut:
    """Stands for a name that a tensor does not have, and says what to use. It is not there for `hasattr` either.

    A tensor has no `__getattr__`, which would know all names: with it, a look at any field takes five times as long.

    >>> try:
    ...     gradwalk.Tensor([1.0]).median
    ... except AttributeError as error:
    ...     str(error)
    "Tensor has no 'median'; use sort(dim)"
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, v: Any, kind: Any = None) -> NoReturn:
        raise AttributeError(f"Tensor has no {self.name!r}; use {INSTEAD[self.name]}", name=self.name, obj=v)


def refuse(feature: str) -> NoReturn:
    """Say that something does not know tensors yet.

    >>> refuse("explain")
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: explain does not know tensors yet; tensor.scalars() gives the same computation as
    Values,
    which it knows
    """
    raise GraphError(
        f"{feature} does not know tensors yet; tensor.scalars() gives the same computation as Values, which it knows"
    )


def refuse_tensors(feature: str, *things: Any) -> None:
    """Refuse a tensor among what was given, or in a list of it.

    >>> refuse_tensors("explain", 1.0, [2.0])
    """
    for thing in things:
        parts = thing if isinstance(thing, (list, tuple)) else (thing,)
        if any(getattr(part, "many", False) is True for part in parts):
            refuse(feature)
