"""Whose code something is: a library's, which nobody changes, or the user's, which is looked into.

The module that a function or class says it is from need not be the one that it was written in: `functools.wraps` copies
the name of another one, and helpers that make classes leave their own.
"""

from __future__ import annotations

import sys
from functools import cache
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["is_library", "is_librarys", "is_users_class", "module_of"]

HEAP, SUBCLASSED, FIXED = 1 << 9, 1 << 10, 1 << 8  # flags of classes: made at run time, with subclasses, unchangeable


@cache
def is_library(module: str) -> bool:
    """Whether a module, or the package that it is in, is a library: nobody changes what its functions read.

    >>> is_library("math"), is_library("numpy.random"), is_library("__main__")
    (True, True, False)
    """
    top = module.split(".")[0]
    if top in ("__main__", "gradwalk"):
        return False
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return top in sys.stdlib_module_names or "site-packages" in file or "dist-packages" in file


def module_of(thing: Any) -> Any:
    """The module that a function or class says it is from; "" where the code that made it has no `__name__`.

    >>> space = {}
    >>> exec("Line = type('Line', (), {})", space)
    >>> module_of(space["Line"]), module_of(Value)
    ('', 'gradwalk.engine')
    """
    return getattr(thing, "__module__", "")


def is_librarys(thing: Any) -> bool:
    """Whether a function or class is a library's, and does not only say so.

    >>> from functools import wraps
    >>> @wraps(math.sqrt)
    ... def root(x):
    ...     return math.sqrt(x)
    >>> root.__module__, is_librarys(root), is_librarys(wraps)
    ('math', False, True)
    """
    module = module_of(thing) or ""
    if not isinstance(module, str):  # a class written in C that does not say
        return True
    if not is_library(module):
        return False
    if isinstance(thing, FunctionType):
        return is_library(str(thing.__globals__.get("__name__", "")))
    found = _classes.get(thing)
    if found is None:
        found = _classes[thing] = not _is_made(thing) or _is_there(thing)
    return found


def is_users_class(kind: type) -> bool:
    """Whether a class is neither a library's nor ours.

    >>> line = type("Line", (), {"__module__": "types"})  # as `make_dataclass` leaves them on Python 3.11
    >>> is_users_class(line), is_users_class(dict), is_users_class(Value)
    (True, False, False)
    """
    return not is_librarys(kind) and module_of(kind).split(".")[0] != "gradwalk"


_classes: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _is_made(kind: type) -> bool:
    """Whether a class comes of a class statement or the like, and is not written in C."""
    return kind.__flags__ & (HEAP | SUBCLASSED | FIXED) == HEAP | SUBCLASSED


def _is_there(kind: type) -> bool:
    """Whether a class stands in the module that it says it is from."""
    if "<locals>" in kind.__qualname__:
        return True
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind
