"""What a trace relies on outside its arguments: each thing that it reached, with a copy of all that can change.

Containers stand beside copies of them, names and attributes beside what they were bound to. How much is looked at
before each replay has a limit; what lies beyond it takes turns.
"""

from __future__ import annotations

import builtins
import gc
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import partial
from numbers import Number
from operator import attrgetter, itemgetter
from types import BuiltinMethodType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from gradwalk.compile.call.parts import UNITS, Part, Some, parts_of_array, parts_of_attributes, parts_of_container
from gradwalk.compile.call.sameness import MISSING, Each, copied, names_of
from gradwalk.compile.native.pythons import VERSION, address_in, address_of, are_readable, versions_are_readable
from gradwalk.compile.trace.held import holds_by_itself, slots_of
from gradwalk.compile.trace.reach import Reached
from gradwalk.compile.trace.reading import MAKING, OPERATORS
from gradwalk.compile.trace.same_objects import codes_of
from gradwalk.compile.trace.stage import numpys_own
from gradwalk.compile.trace.whose import is_library, is_users_class
from gradwalk.engine import Value
from gradwalk.module import Module

__all__ = ["Watchlist"]

CONTENT, CODE = attrgetter("cell_contents"), attrgetter("__code__")
ATTRIBUTES = attrgetter("__dict__")
CODES = Each("{}.__code__", codes_of)
CLASSES = Each("type({})", lambda things: [*map(type, things)])
NAMESPACES = Each("{}.__dict__", lambda things: [*map(ATTRIBUTES, things)])
FLOWS = Each("{}._flows", lambda tensors: [*map(attrgetter("_flows"), tensors)])  # which are parameters, not constants
#: What holds the numbers of constants: another array, once they are set anew.
ARRAYS = Each("{}.array", lambda tensors: [*map(attrgetter("array"), tensors)])
METHODS = (MethodType, BuiltinMethodType, MethodWrapperType)  # which are made anew whenever they are asked for
EXACT = (list, dict, set, deque)  # containers whose `==` is known to compare what they hold

# How much is looked at before each replay; one unit is about 0.6 ns.
CONTAINER = 16  # units that a container costs beside what it holds
DATA = 16_384
PARAMETERS = 4_096  # lists of Values are seldom changed one by one; those of a larger model take turns
OBJECTS = 128  # that are no modules; to compare the attributes of one takes some 200 units
TOLD_APART = frozenset((float, int, bool, complex, tuple, np.float64, np.float32, np.int64))  # also if they are equal
SOME = 8  # small containers take their turn together

Question = tuple[Callable[[Any], Any], Any, Any]  # what is asked, of what, and the answer at the time of the trace


class Watchlist:
    """What was reached, with copies of all that can change.

    >>> from gradwalk.compile.trace.reach import Reached
    >>> settings = {"lam": 0.5}
    >>> Watchlist(Reached([lambda x: x * settings["lam"]])).copies
    [{'lam': 0.5}]
    """

    def __init__(self, reached: Reached) -> None:
        self.reached = reached
        self.holders: list[Any] = []  # looked at before each replay …
        self.copies: list[Any] = []  # … beside these
        self.modules: list[Any] = []  # the attributes of modules, which count how often they are set
        self.module_copies: list[Any] = []
        self._owners: list[Any] = []  # … and whose they are
        self.questions: list[Question] = []  # asked before each replay
        self.turns: list[Part] = []  # not looked at before each replay, but a part at a time
        self.exact: list[int] = []  # questions whose answers can be equal and not the same: 7 and 7.0, 1 and True
        self._paths: dict[int, str] = {}  # how to get at each of these things, as it is written in Python
        self._objects = 0  # whose attributes are looked at before each replay …
        self._keepers: list[Any] = []  # … and these themselves, whose `__dict__` can be replaced
        self._crowds: dict[tuple[type, tuple[str, ...]], list[Any]] = {}  # and those of others, by class and names
        self._inherited: dict[type, dict[str, None]] = {}  # names that classes have for their objects
        self._lines: set[type] = set()  # classes that were looked at, with their bases
        self._classes: dict[int, type] = {}  # whose attributes a namespace holds
        self._some_read: set[int] = set()  # holders that are attributes, not all of which are read
        self._absent: dict[int, frozenset[str]] = {}  # names that a namespace does not hold
        self._known: dict[int, frozenset[str]] = {}  # all names that a class has, where any other may be read
        self._watch()

    def _watch(self) -> None:
        reached = self.reached
        watched = [(path, thing, CONTAINER + len(thing)) for path, thing in reached.containers]
        watched += [(path, x, CONTAINER * (len(x) + 1) + sum(map(len, x))) for path, x in reached.rows]
        parameters = [units for _, thing, units in watched if _holds_parameters(thing)]
        left = {True: PARAMETERS if sum(parameters) <= PARAMETERS else 0, False: DATA}
        small: list[tuple[str, Any]] = []
        for path, thing, units in watched:
            whose = _holds_parameters(thing)
            if units <= left[whose] or type(thing) not in EXACT:
                left[whose] -= units
                self._watch_container(path, thing)
            elif units <= UNITS:
                small.append((path, thing))
            else:
                self.turns += parts_of_container(path, thing, units)
                if not whose:
                    self._ask(path, thing, len)
        for start in range(0, len(small), SOME):
            paths, things = zip(*small[start : start + SOME], strict=True)
            self.turns.append(Some("", list(things), paths))
        for path, thing in reached.arrays:
            left[False] -= self._watch_array(path, thing, left[False])
        for path, thing in reached.objects:
            self._watch_object(path, thing)
        if self._keepers:
            self._ask("the attributes of an object", tuple(self._keepers), NAMESPACES)
            self.exact.append(len(self.questions) - 1)
        for (kind, some), crowd in self._crowds.items():
            self.turns += parts_of_attributes(f"{kind.__name__}.{some[0]}", crowd, some, reached.reads)
        for base, names in self._inherited.items():
            space = _space_of(base)
            self._classes[id(space)] = base
            self._ask_names(base.__name__, space, list(names))
            self._ask_absent(base.__name__, space, (*reached.attributes, *OPERATORS))  # before those of its bases
            if reached.anything:  # any other name may be read
                self._known[id(space)] = frozenset(space)
        instances = tuple([thing for _, thing in reached.objects if _may_be_of_another_class(thing)][:OBJECTS])
        if instances:
            self._ask("the class of an object", instances, CLASSES)
        for namespace, read in reached.globals.values():
            self._ask_names("", namespace, [name for name in read if name in namespace])
            self._ask_absent("", namespace, read)
        self._ask_names("", vars(builtins), reached.builtins_read())
        for path, cell in reached.cells:
            self._ask(path, cell, CONTENT if _content(cell) is not MISSING else _content)
        if len(reached.functions) == 1:
            self._ask(*reached.functions[0], CODE)
        elif reached.functions:  # together, which is quicker
            self._ask("the code of a function", tuple([thing for _, thing in reached.functions]), CODES)
        for path, thing, tell in reached.others:
            self._ask(path, thing, tell)
        if reached.tensors:
            path = ", ".join(path for path, _ in reached.tensors[:3])
            tensors = tuple([thing for _, thing in reached.tensors])
            self._ask(path, tensors, FLOWS)
            constants = tuple([v for v in tensors if not v.requires_grad])
            if constants:
                self._ask(path, constants, ARRAYS)
                self.exact.append(len(self.questions) - 1)

    def _watch_container(self, path: str, thing: Any) -> None:
        self._paths[id(thing)] = path
        if type(thing) not in EXACT:
            base: Any = next(base for base in EXACT if isinstance(thing, base))
            self._ask(path, thing, base.copy)
            if base is dict and len(thing) > 1:
                self._ask(path, thing, list)
            return
        self.holders.append(thing)
        self.copies.append(copied(thing))
        if (type(thing) is list and are_readable()) or (type(thing) is dict and versions_are_readable()):
            return  # native code sees the smallest change
        self._watch_closely(path, thing)

    def _watch_closely(self, path: str, thing: Any) -> None:
        """Ask for what `==` does not see in a container: things that are equal and not the same."""
        self._watch_lone_numbers(path, thing)
        if type(thing) is dict and len(thing) > 1:
            self._ask(path, thing, list)  # the order of its keys, which `==` does not see
        if type(thing) is dict and any(kind in TOLD_APART or issubclass(kind, Number) for kind in map(type, thing)):
            self._ask(path, thing, list)  # … and 7 is not 7.0
            self.exact.append(len(self.questions) - 1)
        parts = thing.values() if type(thing) is dict else thing
        kinds = set(map(type, parts))
        told_apart = any(kind in TOLD_APART or issubclass(kind, (Number, frozenset, *EXACT)) for kind in kinds)
        if told_apart or (type(thing) is not set and any(map(_has_own_equality, kinds))):
            self._ask(path, thing, _values_of if type(thing) is dict else list)
            self.exact.append(len(self.questions) - 1)

    def _watch_lone_numbers(self, path: str, thing: Any) -> None:
        """Tensors of one number can be equal and be two: of these it is asked which they are."""
        parts = thing.values() if isinstance(thing, dict) else thing
        if any(map(_holds_lone_number, parts)):
            self._ask(path, thing, _values_of if isinstance(thing, dict) else list)
            self.exact.append(len(self.questions) - 1)

    def _watch_array(self, path: str, thing: Any, left: int) -> int:
        self._paths[id(thing)] = path
        if not isinstance(thing, np.ndarray):
            self._ask(path, thing, bytes if isinstance(thing, bytearray) else array.tobytes)
            return CONTAINER
        if thing.dtype == object:
            self._ask(path, thing, np.ndarray.tolist)
            return CONTAINER + thing.size
        units = CONTAINER + thing.nbytes // 16
        if units <= left or not thing.ndim:
            self._ask(path, thing, np.ndarray.tobytes)
            return units
        self.turns += parts_of_array(path, thing)
        return 0

    def _watch_object(self, path: str, thing: Any) -> None:
        if isinstance(thing, ModuleType):
            self._ask_names(path, vars(thing), [*self.reached.names_in(thing), *self.reached.code_in(thing)])
            if not is_library(thing.__name__):
                self._ask_absent(path, vars(thing), self.reached.attributes)
            return
        held = None if isinstance(thing, type) else getattr(thing, "__dict__", None)
        if isinstance(held, dict):
            self._paths[id(held)] = path
            if not holds_by_itself(thing):
                self._some_read.add(id(held))
            if isinstance(thing, Module) and type(thing).__setattr__ is Module.__setattr__:
                self.modules.append(held)
                self.module_copies.append(held.copy())
                self._owners.append(thing)
            elif self._objects < OBJECTS:
                self._objects += 1
                self.holders.append(held)
                self.copies.append(held.copy())
                self._keepers.append(thing)
                if not versions_are_readable():
                    self._ask_names(path, held, [name for name in held if self.reached.reads(name)])
            elif some := tuple(name for name in held if self.reached.reads(name)):
                self._crowds.setdefault((type(thing), some), []).append(thing)
        read = tuple(name for name in slots_of(type(thing)) if self.reached.reads(name))
        slots = [name for name in read if _has(thing, name)]
        if slots:
            self._ask(path, thing, attrgetter(*slots))
        if len(slots) < len(read):
            self._ask(path, thing, partial(_which_are_there, tuple(name for name in read if name not in slots)))
        kind = thing if isinstance(thing, type) else type(thing)
        if kind not in self._lines:
            self._lines.add(kind)
            users = [*filter(is_users_class, kind.__mro__)]
            for base in users:  # also where an object has its own: `type(net).scale` is the class's
                names = self._inherited.setdefault(base, {})
                names.update(dict.fromkeys(n for n in vars(base) if self._reads_in(base, n)))
            if len(users) > 1:  # its bases can be others
                self._ask(kind.__name__, kind, attrgetter("__mro__"))

    def _reads_in(self, kind: type, name: str) -> bool:
        """Whether an attribute of a class is read: by its name, by an operator, or as an object is made."""
        if name in self.reached.attributes or name in OPERATORS or (name in MAKING and kind in self.reached.made):
            return True
        return self.reached.anything and not is_special(name)

    def _ask_absent(self, path: str, namespace: Any, names: Iterable[str]) -> None:
        """Ask for names that come to be: how many there are, since to look for each takes longer."""
        absent = frozenset(name for name in names if name not in namespace)
        if absent:
            known = self._absent.get(id(namespace))
            self._absent[id(namespace)] = absent | (known or absent)
            if known is None:
                self._ask(path, namespace, len)

    def _ask_names(self, path: str, namespace: Any, names: list[str]) -> None:
        close = [name for name in names if _may_be_equal(numpys_own(namespace[name]))]
        for some in ([name for name in names if name not in close], close):
            if some:
                self._ask(path, namespace, itemgetter(*some))

    def _ask(self, path: str, thing: Any, get: Callable[[Any], Any]) -> None:
        self._paths.setdefault(id(thing), path)
        then = numpys_own(get(thing))
        if get is not len and any(map(_may_be_equal, then if isinstance(then, tuple) else (then,))):
            self.exact.append(len(self.questions))
        self.questions.append((get, thing, then))


# --- questions -------------------------------------------------------------------------------------------------------


def _may_be_of_another_class(x: Any) -> bool:
    """Whether somebody may set its `__class__`: that of an object of the user's, or of a module."""
    return is_users_class(type(x)) or (isinstance(x, ModuleType) and not is_library(x.__name__))


def words_for(question: Question) -> list[int]:
    """Where in memory something stands that is another number once the answer is not the same; nothing if unknown."""
    get, thing, then = question
    if not versions_are_readable():
        return []
    if type(thing) is dict and (get is len or isinstance(get, itemgetter)):
        return [id(thing) + 8 * VERSION]
    if get in (CODE, CONTENT):
        found = [address_in(thing, then)]
    elif get in (CODES, CLASSES, NAMESPACES):
        found = [*map(address_in, thing, then)]
    elif get is FLOWS:
        found = [address_of(x, "_flows") for x in thing]
    elif isinstance(get, attrgetter):
        found = [address_of(thing, name) for name in names_of(get)]
    else:
        return []
    return found if all(found) else []


def _may_be_equal(x: Any) -> bool:
    """Whether something else can be equal to it that is not the same: 7.0 to 7, [True] to [1], one text to another."""
    return _says_equal(type(x)) and not isinstance(x, (type, *METHODS))


def _has_own_equality(kind: type) -> bool:
    """Whether objects of a user's class say by themselves what they are equal to, other than by what they hold."""
    return is_users_class(kind) and _says_equal(kind) and not is_dataclass(kind)


def _says_equal(kind: Any) -> bool:
    own: Any = object.__eq__
    return kind.__eq__ is not own


def _values_of(thing: dict[Any, Any]) -> list[Any]:
    return [*thing.values()]


def _holds_lone_number(x: Any) -> bool:
    if isinstance(x, tuple):
        return any(map(_holds_lone_number, x))
    return getattr(type(x), "many", False) is True and x.numel() == 1


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return MISSING


def _space_of(kind: type) -> Any:
    """The dict of a class's attributes itself, which is read three times as quickly as by `vars`."""
    found = gc.get_referents(vars(kind))
    return found[0] if len(found) == 1 and type(found[0]) is dict else vars(kind)


def is_special(name: str) -> bool:
    """Whether Python itself gives a class this name, or looks for it."""
    return name.startswith("__") and name.endswith("__")


def _which_are_there(names: tuple[str, ...], thing: Any) -> list[str]:
    return [name for name in names if _has(thing, name)]


def _has(thing: Any, name: str) -> bool:
    try:
        object.__getattribute__(thing, name)
    except AttributeError:
        return False
    return True


def _holds_parameters(thing: Any) -> bool:
    """Whether a list holds Values alone, or lists of them."""
    first = thing[0] if type(thing) is list and thing else None
    if first.__class__ is list:
        first = next((part for row in thing if row.__class__ is list for part in row), None)
    return isinstance(first, Value)
