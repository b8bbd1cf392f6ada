"""What a function can reach: by the names in its code, in its closure, and in what it is given.

Of an object only those attributes count whose names stand in the code of some function that is reached. So what a
training loop keeps in the same object, and the function does not look at, may change without a word.
"""

from __future__ import annotations

import builtins
import dataclasses
import gc
import os
import random
import sys
from abc import ABCMeta, get_cache_token
from array import array
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, Sequence, ValuesView
from contextvars import ContextVar
from enum import Enum, EnumMeta
from functools import cached_property, partial, partialmethod
from itertools import chain
from operator import attrgetter, itemgetter, methodcaller
from types import (
    BuiltinMethodType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any
from weakref import ProxyTypes, ReferenceType

import numpy as np

from gradwalk.compile.trace.held import (
    Clearings,
    attributes_of,
    content_of,
    content_of_proxy,
    functions_in,
    holds_by_itself,
    is_open,
    is_stand_in,
    labels_of,
    may_hold_values,
    raw,
    slot_of,
    slots_of,
    subclasses_of,
    wrapped_by,
)
from gradwalk.compile.trace.reading import (
    BY_TEXT,
    FORMATS,
    GETATTR,
    IMPLIED,
    MAKING,
    names_in_format,
    reads_of,
    reads_of_class,
)
from gradwalk.compile.trace.stage import ANSWERED, answer_to
from gradwalk.compile.trace.stage import MAKING as MAKERS
from gradwalk.compile.trace.whose import is_library, is_librarys, is_users_class, module_of
from gradwalk.engine import Value
from gradwalk.module import Module
from gradwalk.node import Node
from gradwalk.ops import Op
from gradwalk.provenance import is_users

__all__ = ["Reached", "values_reached_from"]

PLAIN = frozenset((float, int, str, bool, bytes, complex, type(None), type(Ellipsis), range, slice, np.dtype))
PLAIN_OR_TUPLE = PLAIN | {tuple}
MOST = 2_000_000  # things to look at
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
#: What may give something else whenever it is asked, and has no state that can be looked at.
UNSURE = frozenset(("time", "secrets", "uuid", "datetime"))
#: What is seen by others than the caller; a function that does it is not run again just to look.
SPEAKING = frozenset(("print", "open", "input", "breakpoint", "write", "writelines", "debug", "info", "warning"))
#: What asks somebody at the terminal.
CONVERSING = frozenset(("input", "breakpoint", "set_trace", "embed"))
#: What reads the memory of an array past all its methods.
PEEKING = frozenset((
    "memoryview", "frombuffer", "crc32", "adler32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b",
    "blake2s", "from_buffer", "data_as",
))  # fmt: skip
#: What is another while a function is traced, in whatever thread (`stage.py`).
SWAPPED = frozenset((*ANSWERED, *MAKERS, "open"))
#: What asks for attributes that need not be there.
GUESSING = frozenset(("getattr", "hasattr", "AttributeError", "Exception"))
#: What classes and functions have that is not among their attributes.
OF_CLASSES = ("__name__", "__qualname__")
OF_FUNCTIONS = (*OF_CLASSES, "__doc__", "__annotations__")
#: Methods that are called without their names, but not by an operator: some code tells that it does (`reading.py`).
NOT_CALLED = IMPLIED | {"__del__"}

#: Things of the standard library with a function that tells what they hold.
TELLING: dict[Any, Callable[[Any], Any]] = {
    ContextVar: methodcaller("get", None),
    ReferenceType: methodcaller("__call__"),
    MappingProxyType: dict,
    memoryview: bytes,
    dataclasses.Field: attrgetter("default", "default_factory", "metadata"),
    (KeysView, ValuesView, ItemsView): list,
}

Path = str


class Reached:
    """All that can be reached from some roots, sorted by how it can change.

    >>> model = nn.MLP(2, [3, 1])
    >>> found = Reached([lambda x: model(x)])
    >>> len(found.values) == len(model.parameters()), len(found.containers)
    (True, 7)
    """

    def __init__(self, roots: Sequence[Any]) -> None:
        self.values: list[Value] = []
        self.tensors: list[tuple[Path, Any]] = []
        self.containers: list[tuple[Path, Any]] = []  # what can be filled in place
        self.rows: list[tuple[Path, list[list[Any]]]] = []  # … and holds lists of numbers or Values, which can be, too
        self.arrays: list[tuple[Path, Any]] = []  # … and is a block of numbers
        self.objects: list[tuple[Path, Any]] = []  # what has attributes
        self.globals: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}  # namespaces, with the names read there
        self.assigned: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}  # … and the names set there
        self.asking: dict[int, tuple[dict[str, Any], set[str]]] = {}  # … and those that are answered by us
        self.cells: list[tuple[Path, Any]] = []
        self.functions: list[tuple[Path, Any]] = []  # of the user's
        self.others: list[tuple[Path, Any, Callable[[Any], Any]]] = []  # … with a function that tells what they hold
        self.chances: list[Any] = []  # generators of random numbers
        self.iterators: list[Path] = []
        self.caches: list[tuple[Path, Any]] = []  # functions with a memory, as of functools.lru_cache
        self.attributes: dict[str, None] = {}  # names that are read
        self.stored: dict[str, None] = {}  # … and names that are set
        self.anything = False  # whether attributes are read by names that cannot be seen
        self.guesses = False  # … or whether they need not be there
        self.unsure = False
        self.speaks = False
        self.converses = False  # whether somebody is asked, who has to see what is printed
        self.peeks = False  # whether memory is looked at, of which stand-ins have another
        self._seen: dict[int, Any] = {}  # holds what it has seen, so that no id is used again
        self.made: set[type] = set()  # classes that are read by name, so that an object of them may be made
        self._classes: dict[type, None] = {}  # whose methods and attributes can be read, bases included
        self._instances: set[type] = set()  # classes of the user's whose objects have attributes and nothing else
        self._ahead: list[tuple[Path, Any]] = [("", root) for root in roots]
        looked = -1
        while self._ahead or looked != (looked := len(self.attributes) + len(self.stored) + self.anything):
            while self._ahead and len(self._seen) < MOST:
                path, thing = self._ahead.pop()
                if thing.__class__ not in PLAIN and id(thing) not in self._seen:
                    self._seen[id(thing)] = thing
                    self._visit(path, thing)
            held = [part for path, thing in self.objects for part in self._held_by(path, thing)]
            held += [
                part
                for kind in self._classes
                for part in self._named(kind.__name__, vars(kind), self._wanted_of_class(kind))
            ]
            if "__subclasses__" in self.attributes:
                below = [subclasses_of(kind) for kind in self._classes if is_users_class(kind)]
                held += [(part.__name__, part) for part in chain.from_iterable(below) if id(part) not in self._seen]
            self._ahead = held
        self._seen.clear()
        if "__subclasses__" in self.attributes:
            self.others += [(kind.__name__, kind, subclasses_of) for kind in self._classes if is_users_class(kind)]
        if named := [name for name in OF_CLASSES if name in self.attributes]:
            self.others += [(kind.__name__, kind, attrgetter(*named)) for kind in self._classes if is_users_class(kind)]
        if named := [name for name in OF_FUNCTIONS if name in self.attributes]:
            self.others += [(path, thing, attrgetter(*named)) for path, thing in self.functions]
            self.containers += [(path, thing.__annotations__) for path, thing in self.functions]
        if "label" in self.attributes and (nodes := (*self.values, *[thing for _, thing in self.tensors])):
            self.others.append(("a label", nodes, labels_of))
        if self.guesses:  # an attribute that a function does not have yet may come to be
            self.objects += [(path, thing) for path, thing in self.functions if not thing.__dict__]

    def reads(self, name: str) -> bool:
        """Whether an attribute of this name is read somewhere.

        >>> Reached([lambda net: net.scale]).reads("scale")
        True
        """
        return self.anything or name in self.attributes

    def lists_parameters(self) -> bool:
        """Whether modules are asked for their parameters: whatever they hold counts then, if it is some.

        >>> model = nn.MLP(2, [1])
        >>> Reached([lambda: sum(p * p for p in model.parameters())]).lists_parameters()
        True
        """
        return not self.attributes.keys().isdisjoint(("parameters", "named_parameters", "state_dict"))

    def names_in(self, module: ModuleType) -> list[str]:
        """The names of a module that are read: all of a user's, and data in a library, which has its own functions.

        >>> Reached([lambda: math.pi * math.sqrt(2.0)]).names_in(math)
        ['pi']
        """
        names = [name for name in self.attributes if name in vars(module)]
        return names if not is_library(module.__name__) else [name for name in names if is_open(vars(module)[name])]

    def code_in(self, module: ModuleType) -> list[str]:
        """The names of a library's own functions and classes that are read there, in place of which others may be put.

        >>> Reached([lambda: math.pi * math.sqrt(2.0)]).code_in(math)
        ['sqrt']
        """
        if not is_library(module.__name__):
            return []
        names = [name for name in self.attributes if name in vars(module) and name not in SWAPPED]
        return [name for name in names if callable(vars(module)[name]) and not is_open(vars(module)[name])]

    def builtins_read(self) -> list[str]:
        """The names that are read and built in, which no namespace has of its own.

        >>> Reached([lambda xs: sum(xs) / len(xs)]).builtins_read()
        ['len', 'sum']
        """
        names = {name for space, read in self.globals.values() for name in read if name not in space}
        return sorted(name for name in names if hasattr(builtins, name) and name not in SWAPPED)

    # --- one thing ---------------------------------------------------------------------------------------------------

    def _visit(self, path: Path, thing: Any) -> None:
        if type(thing) in self._instances:  # there may be many of a kind
            self.objects.append((path, thing))
            return
        if is_stand_in(thing):
            return
        if isinstance(thing, Value):
            self.values.append(thing)
            if type(thing) is not Value and is_users_class(type(thing)):
                self._visit_instance(path, thing)
        elif isinstance(thing, Node):
            self.tensors.append((path, thing))
            if is_users_class(type(thing)):
                self._visit_instance(path, thing)
        elif isinstance(thing, CONTAINERS):
            self._visit_container(path, thing)
        elif isinstance(thing, FunctionType):
            self._visit_function(path, thing)
        elif isinstance(thing, type):
            self._visit_class(path, thing)
        elif isinstance(thing, np.ndarray):
            self.arrays.append((path, thing))
            if thing.dtype == object:
                self._ahead += [(f"{path}[…]", part) for part in thing.ravel().tolist()]
            if type(thing) is not np.ndarray and (is_users_class(type(thing)) or attributes_of(thing)):
                self._visit_instance(path, thing)  # which has methods, or a mask
        elif isinstance(thing, (bytearray, array)):
            self.arrays.append((path, thing))
        elif isinstance(thing, (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)):
            self.chances.append(thing)
        elif module_of(type(thing)) == "gradwalk.tensor.random":  # a generator of ours
            self.chances.append(thing.source)
        elif isinstance(thing, ModuleType):
            self._visit_module(path, thing)
        elif isinstance(thing, np.void) and thing.base is not None:  # a row of a table
            self._ahead.append((path, thing.base))
        elif isinstance(thing, np.void) or module_of(type(type(thing))) == "_ctypes":
            self.others.append((path, thing, raw))
        elif not isinstance(thing, np.generic):
            self._visit_object(path, thing)

    def _visit_container(self, path: Path, thing: Any) -> None:
        parts: Any = dict.values(thing) if isinstance(thing, dict) else thing
        kinds = set(map(type, parts))
        if type(thing) is list and kinds == {list}:
            inside = set(map(type, chain.from_iterable(thing)))
            if inside <= PLAIN or inside == {Value}:  # data, or a matrix: too many rows to look at one by one
                self.rows.append((path, thing))
                self._ahead += [(path, v) for v in chain.from_iterable(thing)] if inside == {Value} else []
                return
        if not isinstance(thing, (tuple, frozenset)):
            self.containers.append((path, thing))
        plain = _are_plain(parts) and (not isinstance(thing, dict) or _are_plain(thing))
        if not plain and isinstance(thing, dict):
            self._ahead += [(f"{path}[{key!r:.40}]", part) for key, part in thing.items()]
            self._ahead += [(path, key) for key in thing]
        elif not plain:
            self._ahead += [(f"{path}[{i}]", part) for i, part in enumerate(thing)]
        if type(thing) not in CONTAINERS:
            self._visit_instance(path, thing)

    def _visit_function(self, path: Path, thing: Any) -> None:
        if is_librarys(thing):
            self.unsure = self.unsure or thing.__module__ in UNSURE
            for cell in thing.__closure__ or ():  # what it was made of may be the user's
                self._ahead += [(path, part) for part in functions_in(content_of(cell))]
            return
        self._read(thing.__code__, stores=thing.__name__ not in MAKING)  # where a new object is filled
        if hasattr(thing, "__wrapped__"):
            self._ahead.append((path, thing.__wrapped__))
        if isinstance(registry := thing.__dict__.get("registry"), MappingProxyType):  # of functools.singledispatch
            self._ahead.append((path, registry))
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
            self.cells.append((name, cell))
            self._ahead += [(name, content) for content in content_of(cell)]
        if not is_users(thing.__code__.co_filename):
            return
        self.functions.append((path, thing))
        if thing.__defaults__ or thing.__kwdefaults__:
            self.others.append((path, thing, attrgetter("__defaults__", "__kwdefaults__")))
            self._ahead += [(path, part) for part in (*(thing.__defaults__ or ()), thing.__kwdefaults__)]
        if thing.__dict__:
            self.objects.append((path, thing))
        reads = reads_of(thing.__code__)
        if "getenv" in reads.names | reads.attributes:
            self._ahead.append(("os.environ", os.environ))
        self.speaks = self.speaks or bool(SPEAKING & (reads.names | reads.attributes))
        self.converses = self.converses or bool(CONVERSING & (reads.names | reads.attributes))
        self.peeks = self.peeks or bool(PEEKING & (reads.names | reads.attributes))
        namespace = thing.__globals__
        _, known = self.globals.setdefault(id(namespace), (namespace, {}))
        if reads.assigned:
            _, assigned = self.assigned.setdefault(id(namespace), (namespace, {}))
            assigned.update(dict.fromkeys(reads.assigned))
        for name in reads.names | reads.texts if reads.anything else reads.names:
            if answer_to(namespace, name):
                self.asking.setdefault(id(namespace), (namespace, set()))[1].add(name)
            if name in ANSWERED:  # another one stands there while a function is traced
                continue
            if name in namespace:
                self._ahead.append((name, namespace[name]))
            elif is_open(own := vars(builtins).get(name)):
                self._ahead.append((name, own))
            known[name] = None
        for name in reads.modules:
            self._ahead += [(name, sys.modules[name])] if name in sys.modules else []
            there = itemgetter(name) if name in sys.modules else methodcaller("get", name)
            self.others.append((f"the module {name}", sys.modules, there))

    def _visit_class(self, path: Path, thing: type) -> None:
        """A class that is read by name: an object of it may be made."""
        self.unsure = self.unsure or thing.__module__ in UNSURE
        if is_users_class(thing):
            self.objects.append((path, thing))
            self.made.update(thing.__mro__)
            self._visit_methods(thing, but=frozenset())
            self._ahead.append((path, type(thing)))
            if isinstance(thing, ABCMeta):  # of which others may become subclasses
                self.others.append((path, thing, lambda _: get_cache_token()))
            if isinstance(thing, EnumMeta):
                members: dict[str, Any] = dict(thing.__members__)
                self._ahead += [(f"{path}.{name}", member) for name, member in members.items()]

    def _visit_methods(self, kind: type, but: frozenset[str] = NOT_CALLED) -> None:
        """Those methods of a class, and of its bases, that nobody calls by name; and what a library's bases read."""
        for base in [base for base in kind.__mro__ if is_librarys(base)]:
            self.attributes.update(dict.fromkeys(reads_of_class(base)))
        for base in [base for base in kind.__mro__ if not is_librarys(base)]:
            if not but or base not in self._classes:
                self._classes[base] = None
                self._ahead += [
                    (f"{base.__name__}.{name}", part)
                    for name, part in list(vars(base).items())
                    if (name.startswith("__") and name not in but and part.__class__ not in PLAIN and _is_code(part))
                    or name == "_missing_"  # of an Enum
                ]

    def _visit_module(self, path: Path, thing: ModuleType) -> None:
        self.unsure = self.unsure or thing.__name__ in UNSURE
        if thing.__name__.split(".")[0] != "gradwalk":
            self.objects.append((path, thing))
        if not is_library(thing.__name__) and "__getattr__" in vars(thing):
            self._ahead.append((path, vars(thing)["__getattr__"]))

    def _visit_object(self, path: Path, thing: Any) -> None:
        if isinstance(thing, MethodType):
            self._ahead += [(path, thing.__self__), (path, thing.__func__)]
        elif type(thing) in ProxyTypes:
            self._ahead += [(path, method.__self__) for method in content_of_proxy(thing)]
        elif isinstance(thing, (BuiltinMethodType, MethodWrapperType)):
            own = thing.__self__
            self.unsure = self.unsure or getattr(thing, "__module__", "") in UNSURE or thing.__name__ == "urandom"
            if not isinstance(own, (ModuleType, type)):
                self._ahead.append((path, own))
                if isinstance(own, str) and thing.__name__ in FORMATS:
                    self.attributes.update(dict.fromkeys(names_in_format(own)))
            if thing.__name__ in BY_TEXT | GETATTR:  # under a name of its own, or in a `partial`
                self.anything = True
        elif isinstance(thing, (staticmethod, classmethod)):
            self._ahead.append((path, thing.__func__))
            if isinstance(thing, classmethod):  # which may make an object
                self.attributes.update(dict.fromkeys(MAKING))
        elif isinstance(thing, property):
            self._ahead += [(path, part) for part in (thing.fget, thing.fset, thing.fdel)]
        elif isinstance(thing, cached_property):
            self._ahead.append((path, thing.func))
        elif isinstance(thing, partial):
            self.others.append((path, thing, attrgetter("func", "args")))
            self._ahead += [(path, part) for part in (thing.func, *thing.args, thing.keywords)]
            if attributes_of(thing):
                self._visit_instance(path, thing)
        elif isinstance(thing, Op):
            self._ahead += [(path, rule) for rule in (thing.value, *thing.partials)]
        elif isinstance(thing, partialmethod):
            self._ahead += [(path, part) for part in (thing.func, *thing.args, thing.keywords)]
        elif isinstance(thing, attrgetter):
            self.attributes.update(dict.fromkeys(".".join(thing.__reduce__()[1]).split(".")))
        elif isinstance(thing, methodcaller):
            made: Any = thing.__reduce__()
            self.attributes.update(dict.fromkeys([part for part in made[1] if isinstance(part, str)]))
            self._ahead += [(path, part) for part in made]
        elif tell := next((tell for kind, tell in TELLING.items() if isinstance(thing, kind)), None):
            self.others.append((path, thing, tell))
            held = tell(thing)
            self._ahead += [(path, part) for part in (held if isinstance(held, (list, tuple)) else [held])]
        elif is_librarys(type(thing)) and any("__next__" in vars(base) for base in type(thing).__mro__):
            self.iterators.append(path)
        elif (wrapped := wrapped_by(thing)) is not None:
            self._ahead.append((path, wrapped))
            if hasattr(thing, "cache_info"):
                self.caches.append((path, thing))
                self.others.append((path, thing, Clearings()))
            elif module_of(type(thing)).startswith("gradwalk.compile."):  # it may be given attributes, as any other
                self.objects.append((path, thing))
            else:  # an object that stands for a function
                self._visit_instance(path, thing)
        else:
            self._visit_instance(path, thing)

    def _visit_instance(self, path: Path, thing: Any) -> None:
        """Something with attributes."""
        kind = type(thing)
        self.objects.append((path, thing))
        if isinstance(thing, BaseException):
            self.others.append((path, thing, attrgetter("args")))
            self._ahead += [(path, part) for part in thing.args]
        if not is_librarys(kind):
            self._visit_methods(kind)
            if is_users_class(type(kind)):  # a metaclass, whose methods are those of the class
                self._ahead.append((path, type(kind)))
            if isinstance(thing, Enum):
                self._ahead.append((path, thing._value_))
            elif not isinstance(thing, (*CONTAINERS, Node, np.ndarray, BaseException)) and wrapped_by(thing) is None:
                self._instances.add(kind)
        else:  # such as what cmp_to_key or np.frompyfunc gives, which is made of a function
            self._ahead += [(path, part) for part in functions_in(gc.get_referents(thing))]

    def _read(self, code: Any, *, stores: bool) -> None:
        reads = reads_of(code)
        self.attributes.update(dict.fromkeys(reads.attributes))
        self.stored.update(dict.fromkeys(reads.stored if stores else ()))
        self.anything = self.anything or (reads.anything and is_users(code.co_filename))
        self.guesses = self.guesses or not GUESSING.isdisjoint(reads.names)

    # --- attributes ------------------------------------------------------------------------------------------------

    def _held_by(self, path: Path, thing: Any) -> Iterator[tuple[Path, Any]]:
        """What an object itself holds under names that are read or set, as far as it was not looked at yet."""
        held = attributes_of(thing)
        if (
            isinstance(thing, ModuleType) and is_library(thing.__name__) and thing.__name__ != "os"
        ):  # with its `urandom`
            yield from self._named(path, held, self.names_in(thing))
        elif held:
            yield from self._named(path, held, list(held) if holds_by_itself(thing) else self._wanted(held))
            if isinstance(thing, Module) and self.lists_parameters():
                yield from self._named(path, held, [name for name, part in held.items() if may_hold_values(part)])
        for name in slots_of(type(thing)):
            if self.reads(name) or name in self.stored:
                yield from self._named(path, dict(zip([name], slot_of(thing, name), strict=False)), [name])

    def _named(self, path: Path, namespace: Any, names: list[str]) -> Iterator[tuple[Path, Any]]:
        for name in names:
            part = namespace.get(name)
            if part.__class__ not in PLAIN and id(part) not in self._seen:
                yield f"{path}.{name}" if path else name, part

    def _wanted_of_class(self, kind: type) -> list[str]:
        names = self._wanted(vars(kind))
        if module_of(kind).split(".")[0] == "gradwalk":  # whose methods do nothing but what they are for
            names = [name for name in names if name not in IMPLIED]
        for name in vars(kind).get("__match_args__", ()) if "__match_args__" in self.attributes else ():
            self.attributes[name] = None
        return names

    def _wanted(self, namespace: Any) -> list[str]:
        if self.anything and "__builtins__" not in namespace:  # which only the namespace of a module has
            return [name for name in namespace if not (name.startswith("__") and name.endswith("__"))]
        if len(namespace) < len(self.attributes):
            return [name for name in list(namespace) if name in self.attributes or name in self.stored]
        return [name for name in (*self.attributes, *self.stored) if name in namespace]


def _are_plain(parts: Any) -> bool:
    """Whether nothing leads on from these: numbers and texts, or tuples of such."""
    if not {*map(type, parts)} <= PLAIN_OR_TUPLE:
        return False
    return PLAIN.issuperset(map(type, chain.from_iterable([part for part in parts if type(part) is tuple])))


def _is_code(part: Any) -> bool:
    return callable(part) or isinstance(part, (classmethod, property))  # as `__class_getitem__` can be


def values_reached_from(roots: Sequence[Any]) -> list[Value]:
    """Every Value in what the roots hold: containers, attributes, and what functions read from outside.

    >>> model = nn.MLP(2, [3, 1])
    >>> len(values_reached_from([lambda x: model(x)])) == len(model.parameters())
    True
    """
    return Reached(roots).values
