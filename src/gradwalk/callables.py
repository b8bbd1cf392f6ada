"""Packages that one can call: `gradwalk.explain` is a package, and the function of that name too."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["CallableModule"]


class CallableModule(ModuleType):
    """The class of such a package; a subclass says in `__call__` what it does.

    Functions that name it can be sent to other processes, like those that name an ordinary module.

    >>> import pickle, gradwalk.explain
    >>> pickle.loads(pickle.dumps(gradwalk.explain)) is gradwalk.explain
    True
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)
