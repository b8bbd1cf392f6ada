"""What a trace relies on outside its arguments, as it was when the trace was made, and whether it still is so.

A trace holds for as long as every name, attribute and container that its function reads holds what it held. That is
looked at before each replay, in one sweep: containers beside copies of them, names beside what they were bound to. The
sweep has a limit; what lies beyond it is looked at in turns, a part at each call, so that a change is noticed later.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter, is_, itemgetter, methodcaller
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gradwalk import module
from gradwalk.compile.trace.reach import LIBRARIES, Reached, is_stand_in, slots_of
from gradwalk.engine import Value

__all__ = ["Surroundings"]

NUMBERS = (float, int, bool, complex, np.generic)
EXACT = (list, dict, set, deque)  # containers whose `==` is known to compare what they hold
MISSING = object()

# How much is looked at before each replay; one unit is about a nanosecond.
CONTAINER = 16  # units that a container costs beside what it holds
DATA = 16_384
PARAMETERS = 1_024  # lists of Values are seldom changed one by one, and large models have many
TURN = 256


class Surroundings:
    """What was reached, with copies of all that can change.

    >>> from gradwalk.compile.trace.reach import Reached
    >>> settings = {"lam": 0.5}
    >>> found = Surroundings(Reached([lambda x: x * settings["lam"]]))
    >>> found.hold()
    True
    >>> settings["lam"] = 0.25
    >>> found.hold(), found.changed()
    (False, ["settings['lam']"])
    """

    def __init__(self, reached: Reached) -> None:
        self.reached = reached
        self.holders: list[Any] = []  # looked at before each replay …
        self.copies: list[Any] = []  # … beside these
        self.paths: dict[int, str] = {}
        self.classes: dict[int, type] = {}  # whose attributes a namespace holds
        self.attributes: set[int] = set()  # holders that are attributes, not all of which are read
        self.modules: list[Any] = []  # attributes of modules, which count how often they are set
        self.module_copies: list[Any] = []
        self.changes = module.attributes.changes
        self.reads: list[tuple[Callable[[Any], Any], Any]] = []  # what is asked for before each replay …
        self.then: list[Any] = []  # … and what the answer was
        self.exact: list[int] = []  # those with numbers, which can be equal and not the same
        self.turns: list[tuple[Any, Any, Any]] = []  # what is asked for in turns
        self.turn = 0
        self.late = False  # whether a change was found by a turn, after replays that did not know of it
        self._left = {"data": DATA, "parameters": PARAMETERS, "turn": 0}  # units
        for path, thing in reached.containers:
            self._watch_container(path, thing)
        for path, thing in reached.arrays:
            self._watch_array(path, thing)
        for path, thing in reached.objects:
            self._watch_object(path, thing)
        for namespace, names in reached.globals.values():
            self._watch_names("", namespace, [name for name in names if name in namespace])
            absent = frozenset(name for name in names if name not in namespace)
            if absent:
                self._ask("a name that was not set", namespace, partial(_present, absent))
        for path, cell in reached.cells:
            self._ask(path, cell, _content)
        for path, thing in reached.partials:
            self._ask(path, thing, attrgetter("func", "args"))
        for path, thing in reached.defaults:
            self._ask(path, thing, attrgetter("__defaults__", "__kwdefaults__"))
        for path, variable in reached.variables:
            self._ask(path, variable, methodcaller("get", None))

    # --- what is looked at -----------------------------------------------------------------------------------------

    def _watch_container(self, path: str, thing: Any) -> None:
        kind = type(thing)
        self.paths[id(thing)] = path
        if kind not in EXACT:
            base: Any = next(base for base in EXACT if isinstance(thing, base))
            self._ask(path, thing, base.copy)
            return
        units = CONTAINER + len(thing)
        budget = "parameters" if kind is list and set(map(type, thing)) == {Value} else "data"
        if units > self._left[budget]:
            self._take_turns(thing, units)
            return
        self._left[budget] -= units
        self.holders.append(thing)
        self.copies.append(thing.copy())
        if kind is dict and len(thing) > 1:
            self._ask(path, thing, list)  # the order of its keys, which `==` does not see

    def _take_turns(self, thing: Any, units: int) -> None:
        if isinstance(thing, list) and len(thing) > TURN:
            copy = thing.copy()
            for start in range(0, len(copy), TURN):
                part = slice(start, start + TURN)
                self.turns.append((partial(_part, part), thing, (len(copy), copy[part])))
            return
        if self._left["turn"] < units or not self.turns or self.turns[-1][0] is not _themselves:
            self.turns.append((_themselves, [], []))
            self._left["turn"] = TURN
        self._left["turn"] -= units
        self.turns[-1][1].append(thing)
        self.turns[-1][2].append(thing.copy())

    def _watch_array(self, path: str, thing: Any) -> None:
        self.paths[id(thing)] = path
        if isinstance(thing, np.ndarray) and thing.dtype == object:
            self._ask(path, thing, np.ndarray.tolist)
            return
        units = CONTAINER + thing.nbytes // 16 if isinstance(thing, np.ndarray) else CONTAINER
        if units <= self._left["data"] or not isinstance(thing, np.ndarray) or not thing.ndim:
            self._left["data"] -= units
            self._ask(path, thing, bytes if isinstance(thing, bytearray) else type(thing).tobytes)
            return
        rows = max(1, len(thing) * TURN * 16 // thing.nbytes)
        for start in range(0, len(thing), rows):
            get = partial(_bytes_of_rows, slice(start, start + rows))
            self.turns.append((get, thing, get(thing)))

    def _watch_object(self, path: str, thing: Any) -> None:
        kind = type(thing)
        held = None if isinstance(thing, (type, ModuleType)) else getattr(thing, "__dict__", None)
        if isinstance(thing, ModuleType):
            if thing.__name__.split(".")[0] not in LIBRARIES:
                self._watch_names(path, vars(thing), [name for name in self.reached.attributes if name in vars(thing)])
            return
        if isinstance(held, dict):
            self.paths[id(held)] = path
            self.attributes.add(id(held))
            if isinstance(thing, module.Module):
                self.modules.append(held)
                self.module_copies.append(held.copy())
            else:
                self.holders.append(held)
                self.copies.append(held.copy())
        names = [name for name in slots_of(kind) if self.reached.reads(name) and _has(thing, name)]
        if names:
            self._ask(path, thing, attrgetter(*names))
        for base in (thing if isinstance(thing, type) else kind).__mro__:
            top = base.__module__.split(".")[0]
            if top not in LIBRARIES and top != "gradwalk" and id(base) not in self.paths:
                self.paths[id(base)] = base.__name__
                read = [name for name in vars(base) if name in self.reached.attributes and name not in names]
                namespace = vars(base)
                self.classes[id(namespace)] = base
                self._watch_names(base.__name__, namespace, read)

    def _watch_names(self, path: str, namespace: Any, names: list[str]) -> None:
        if names:
            self._ask(path, namespace, itemgetter(*names))

    def _ask(self, path: str, thing: Any, get: Callable[[Any], Any]) -> None:
        self.paths.setdefault(id(thing), path)
        then = get(thing)
        if isinstance(then, NUMBERS) or (isinstance(then, tuple) and any(isinstance(x, NUMBERS) for x in then)):
            self.exact.append(len(self.reads))
        self.reads.append((get, thing))
        self.then.append(then)

    # --- whether it is still so ------------------------------------------------------------------------------------

    def hold(self) -> bool:
        """Whether everything is as it was, as far as one sweep sees."""
        try:
            if self.holders != self.copies or [get(thing) for get, thing in self.reads] != self.then:
                return self._settled()
        except Exception:  # things that cannot be compared, such as arrays, or that are gone
            return self._settled()
        if self.changes != module.attributes.changes or self.exact or self.turns:
            return self._looked_closely()
        return True

    def _looked_closely(self) -> bool:
        for i in self.exact:
            get, thing = self.reads[i]
            now, then = get(thing), self.then[i]
            if now is not then and not (isinstance(then, tuple) and all(map(is_, now, then))) and not self._settled():
                return False
        if self.changes != module.attributes.changes:
            if not self._settled():
                return False
            self.changes = module.attributes.changes
        if self.turns:
            self.turn = (self.turn + 1) % len(self.turns)
            self.late = self.late or not self._holds_in_turn(self.turn)
        return not self.late

    def _holds_in_turn(self, turn: int) -> bool:
        get, thing, then = self.turns[turn]
        try:
            return bool(get(thing) == then)
        except Exception:
            return False

    def _settled(self) -> bool:
        """Whether nothing that is read has changed; what else has is what it is from now on."""
        if any(True for _ in self._differences()):
            return False
        for holders, copies in ((self.holders, self.copies), (self.modules, self.module_copies)):
            for i, holder in enumerate(holders):
                if id(holder) in self.attributes:
                    copies[i] = holder.copy()
        for i, (get, thing) in enumerate(self.reads):
            self.then[i] = get(thing)
        return True

    def hold_all(self) -> bool:
        """Whether everything is as it was, however much there is to look at."""
        return not any(True for _ in self._differences()) and all(map(self._holds_in_turn, range(len(self.turns))))

    def changed(self) -> list[str]:
        """What is not as it was, as it is written in Python."""
        found = list(self._differences())
        for i, (get, thing, then) in enumerate(self.turns):
            if not self._holds_in_turn(i):
                pairs = zip(thing, then, strict=True) if get is _themselves else [(thing, None)]
                found += [self.paths.get(id(now), "") for now, before in pairs if not _equal(now, before)]
        return list(dict.fromkeys(path for path in found if path))

    def _differences(self) -> Iterator[str]:
        for holder, copy in zip((*self.holders, *self.modules), (*self.copies, *self.module_copies), strict=True):
            if not _equal(holder, copy):
                yield from self._different_parts(self.paths[id(holder)], holder, copy)
        exact = set(self.exact)
        for i, ((get, thing), then) in enumerate(zip(self.reads, self.then, strict=True)):
            try:
                now = get(thing)
            except Exception:  # it is gone
                now = MISSING
            if (i in exact or not _equal(now, then)) and not _same(now, then):
                path, names = self.paths.get(id(thing), ""), _names_of(get)
                pairs = zip(names, _parts(now, names), _parts(then, names), strict=False)
                differing = [name for name, x, y in pairs if not _same(x, y)]
                yield from [f"{path}.{name}" if path else name for name in differing] or [path or "a name"]

    def _different_parts(self, path: str, now: Any, then: Any) -> Iterator[str]:
        if id(now) in self.attributes:
            for name in dict.fromkeys((*now, *then)):
                if self._is_read(name) and not _same(now.get(name, MISSING), then.get(name, MISSING)):
                    yield f"{path}.{name}" if path else name
        elif isinstance(then, dict):
            keys = [
                key for key in dict.fromkeys((*now, *then)) if not _same(now.get(key, MISSING), then.get(key, MISSING))
            ]
            yield from [f"{path}[{key!r:.40}]" for key in keys[:1]]
        elif not _same(now, then):
            pairs = zip(now, then, strict=False) if isinstance(then, (list, deque)) and len(now) == len(then) else ()
            yield next((f"{path}[{i}]" for i, (x, y) in enumerate(pairs) if not _same(x, y)), path)

    def _is_read(self, name: str) -> bool:
        return self.reached.reads(name) or name == "data"

    # --- back to what it was -----------------------------------------------------------------------------------------

    def stand_ins(self) -> bool:
        """Whether a trace has left something behind that stands for a number, where it is read."""
        for holder in (*self.holders, *self.modules):
            parts = holder.values() if isinstance(holder, dict) else holder
            if any(map(is_stand_in, parts)):
                return True
        for get, thing in self.reads:
            now = get(thing)
            if is_stand_in(now) or (isinstance(now, (tuple, list)) and any(map(is_stand_in, now))):
                return True
        return False

    def restore(self) -> None:
        """Make everything what it was, after a function that changes it was run just to be looked at."""
        for holder, copy in zip((*self.holders, *self.modules), (*self.copies, *self.module_copies), strict=True):
            _refill(holder, copy)
        for get, thing, then in self.turns:
            if get is _themselves:
                for holder, copy in zip(thing, then, strict=True):
                    _refill(holder, copy)
            elif isinstance(thing, list):  # in parts, of which the first is enough to know how long it was
                length, part = then
                thing[get.args[0]] = part
                del thing[length:]
        for (get, thing), then in zip(self.reads, self.then, strict=True):
            if not _same(get(thing), then):
                owner = self.classes.get(id(thing))
                if owner is None:
                    _put_back(get, thing, then)
                else:
                    for name, part in zip(_names_of(get), _parts(then, _names_of(get)), strict=True):
                        setattr(owner, name, part)


# --- asking, comparing and putting back ------------------------------------------------------------------------------


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return MISSING


def _present(names: frozenset[str], namespace: dict[str, Any]) -> bool:
    return not namespace.keys().isdisjoint(names)


def _themselves(things: list[Any]) -> list[Any]:
    return things


def _part(part: slice, thing: list[Any]) -> Any:
    return len(thing), thing[part]


def _bytes_of_rows(rows: slice, thing: Any) -> Any:
    return thing.shape, thing[rows].tobytes()


def _has(thing: Any, name: str) -> bool:
    try:
        object.__getattribute__(thing, name)
    except AttributeError:
        return False
    return True


def _equal(now: Any, then: Any) -> bool:
    try:
        return bool(now == then)
    except Exception:  # things that cannot be compared, such as arrays
        return False


def _same(now: Any, then: Any) -> bool:
    """Whether two things are the same one, or plain numbers, texts or containers of these that cannot be told apart."""
    if now is then:
        return True
    if now.__class__ is not then.__class__:
        return False
    if isinstance(then, NUMBERS):
        return repr(now) == repr(then)
    if isinstance(then, (str, bytes, set, frozenset)):
        return bool(now == then)
    if not isinstance(then, (list, tuple, dict, deque)) or len(now) != len(then):
        return False
    if isinstance(then, dict):
        return all(key in now and _same(now[key], part) for key, part in then.items())
    return all(map(_same, now, then))


def _names_of(get: Any) -> tuple[str, ...]:
    return get.__reduce__()[1] if isinstance(get, (itemgetter, attrgetter)) else ()


def _parts(answer: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    return answer if len(names) > 1 and isinstance(answer, tuple) else (answer,) * len(names)


def _refill(holder: Any, copy: Any) -> None:
    if _same(holder, copy):
        return
    if isinstance(holder, list):
        holder[:] = copy
        return
    holder.clear()
    (holder.extend if isinstance(holder, deque) else holder.update)(copy)


def _put_back(get: Any, thing: Any, then: Any) -> None:
    """Undo a change of what was asked for, as far as that can be set."""
    if isinstance(thing, CellType):
        if then is MISSING:
            del thing.cell_contents
        else:
            thing.cell_contents = then
    elif isinstance(thing, array):
        if thing.tobytes() != then:
            thing[:] = array(thing.typecode, then)
    elif isinstance(thing, bytearray):
        thing[:] = then
    elif isinstance(thing, np.ndarray):
        if isinstance(then, bytes) and thing.tobytes() != then:
            thing[...] = np.frombuffer(then, thing.dtype).reshape(thing.shape)
    elif isinstance(thing, dict) and isinstance(get, itemgetter):
        thing.update(zip(_names_of(get), _parts(then, _names_of(get)), strict=True))
    elif isinstance(get, attrgetter) and not isinstance(thing, (partial, FunctionType)):
        for name, part in zip(_names_of(get), _parts(then, _names_of(get)), strict=True):
            object.__setattr__(thing, name, part)
