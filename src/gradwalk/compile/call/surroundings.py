"""What a trace relies on outside its arguments, as it was when the trace was made, and whether it still is so.

A trace holds for as long as every name, attribute and container that its function reads holds what it held. That is
looked at before each replay, in one sweep: containers beside copies of them, names beside what they were bound to. The
sweep has a limit; what lies beyond it is looked at in turns, a part at a time, so that a change is noticed later.
"""

from __future__ import annotations

import builtins
import gc
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from functools import partial
from itertools import chain
from numbers import Number
from operator import attrgetter, is_, itemgetter
from types import BuiltinMethodType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from gradwalk.compile.call.parts import UNITS, Part, Some, parts_of_array, parts_of_attributes, parts_of_container
from gradwalk.compile.call.sameness import (
    MISSING,
    SELDOM,
    Each,
    alike,
    copied,
    equal,
    holds_alike,
    identity_check,
    names_of,
    parts_of,
    put_back,
    refill,
    same,
)
from gradwalk.compile.native.pythons import VERSION, address_in, address_of, are_readable, versions_are_readable
from gradwalk.compile.own.watched import Rotation, Watched
from gradwalk.compile.trace.held import holds_by_itself, is_stand_in, may_hold_values, slots_of
from gradwalk.compile.trace.reach import Reached
from gradwalk.compile.trace.reading import MAKING, OPERATORS
from gradwalk.compile.trace.same_objects import codes_of
from gradwalk.compile.trace.whose import is_library, is_users_class
from gradwalk.engine import Value
from gradwalk.module import Module, attributes

__all__ = ["Surroundings"]

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
EVERY = 8  # calls, somebody's turn comes, if Python has to look
ROTATED = 65_536  # entries of lists that native code goes through; to write down more of them takes too long
REMADE = 16  # times at most, what asks for names in one expression
SOME = 8  # small containers take their turn together

Question = tuple[Callable[[Any], Any], Any, Any]  # what is asked, of what, and the answer at the time of the trace


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
        self.watched: Watched | None = None  # who does that, from the first time on
        self.modules: list[Any] = []  # the attributes of modules, which count how often they are set …
        self.module_copies: list[Any] = []
        self._owners: list[Any] = []  # … and whose they are
        self.changes = attributes.changes  # … so often
        self.questions: list[Question] = []  # asked before each replay
        self.turns: list[Part] = []  # not looked at before each replay: some by native code, at each call a little …
        self.rotation: Rotation | None = None
        self.slow_turns = self.turns  # … and others in Python, now and then one of them
        self.turn = 0
        self.late = False  # whether a change was found by a turn, after replays that did not know of it
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
        self.loose: list[Question] = []  # questions whose answers are compared …
        self.strict: list[Question] = []  # … and those of `exact`, which have to be the same ones
        self.quickly: Callable[[], bool] = bool  # whether answers are the very same; none are asked at first
        self._seen: frozenset[int] = frozenset()  # questions whose answers change only if native code sees it
        self.slow: Any = ((), ())  # questions that this does not ask; empty if it looks at everything
        self._made = 0
        self._served: list[Any] = []  # traces that rely on all this
        self._watch()
        self._sort()

    # --- what is looked at -------------------------------------------------------------------------------------------

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
            self.turns += parts_of_attributes(f"{kind.__name__}.{some[0]}", crowd, some)
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
                self._crowds.setdefault((type(thing), some), []).append(held)
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

    def _asked_by_name(self, holder: Any) -> bool:
        """Whether these are attributes that were asked for by name; the others nobody reads."""
        return id(holder) in self._some_read and not self.reached.anything and not versions_are_readable()

    def _reads_in(self, kind: type, name: str) -> bool:
        """Whether an attribute of a class is read: by its name, by an operator, or as an object is made."""
        if name in self.reached.attributes or name in OPERATORS or (name in MAKING and kind in self.reached.made):
            return True
        return self.reached.anything and not _is_special(name)

    def _ask_absent(self, path: str, namespace: Any, names: Iterable[str]) -> None:
        """Ask for names that come to be: how many there are, since to look for each takes longer."""
        absent = frozenset(name for name in names if name not in namespace)
        if absent:
            known = self._absent.get(id(namespace))
            self._absent[id(namespace)] = absent | (known or absent)
            if known is None:
                self._ask(path, namespace, len)

    def _ask_names(self, path: str, namespace: Any, names: list[str]) -> None:
        close = [name for name in names if _may_be_equal(namespace[name])]
        for some in ([name for name in names if name not in close], close):
            if some:
                self._ask(path, namespace, itemgetter(*some))

    def _ask(self, path: str, thing: Any, get: Callable[[Any], Any]) -> None:
        self._paths.setdefault(id(thing), path)
        then = get(thing)
        if get is not len and any(map(_may_be_equal, then if isinstance(then, tuple) else (then,))):
            self.exact.append(len(self.questions))
        self.questions.append((get, thing, then))

    # --- whether it is still so --------------------------------------------------------------------------------------

    def hold(self) -> bool:
        """Whether everything is as it was, as far as one sweep sees."""
        try:
            if self.quickly():
                if not self.slow:
                    return True
                if not self._hold_answers(*self.slow):
                    return False
            elif not self._hold_answers(self.loose, self.strict):
                return False
            elif self.watched is not None and self._made < REMADE:
                self._make_quick()
            watched = self.watched
            if watched is None:
                if not self._settled():  # by then something may be another that is equal
                    return False
                if not self._rotated():
                    return False
                few = len(self.modules) <= OBJECTS
                spaces = [*zip(self.modules, self.module_copies, strict=True)] if few else ()
                words = {i: words for i, question in enumerate(self.questions) if (words := _words_for(question))}
                self._seen = frozenset(words)
                watched = self.watched = Watched(
                    self.holders, self.copies, spaces=spaces, words=chain.from_iterable(words.values())
                )
                for holder in watched.others:  # such as hold by now what is equal to what they held
                    if type(holder) in (list, dict) and id(holder) in self._paths and not self._asked_by_name(holder):
                        self._watch_closely(self._paths[id(holder)], holder)
                self._sort()
                self._make_quick()
            if not watched.hold() and not self._settled():
                return False
        except Exception:  # things that cannot be compared, such as arrays, or that are gone
            if not self._settled():
                return False
        if self.changes != attributes.changes and not self._settled():
            return False
        return self._took_turns()

    def _rotated(self) -> bool:
        """Hand turns over to native code, as far as it can take them; says whether these parts hold."""
        listed = [(part, part.lists()) for part in self.turns] if are_readable() else []
        parts = [place for _, places in listed for place in places]
        if parts and sum(end - start for _, start, end in parts) <= ROTATED:
            self.slow_turns = [part for part, places in listed if not places]
            self.rotation = Rotation(parts)
            return all(part.holds() for part, places in listed if places)
        return True

    def _hold_answers(self, loose: list[Question], strict: list[Question]) -> bool:
        for get, thing, then in loose:
            now = get(thing)
            if now is not then and now != then and not self._settled():
                return False
        for get, thing, then in strict:
            now = get(thing)
            if now is not then and not _same_ones(now, then) and not self._settled():
                return False
        return True

    def _make_quick(self) -> None:
        """Look from now on in one expression at what can be seen so, and at all if nothing else is to be done."""
        self._made += 1
        if self._made == REMADE:
            self.quickly = bool
            self._tell()
            return
        exact = {id(self.questions[i]) for i in self.exact}
        more: list[tuple[str, dict[str, Any]]] = []
        questions = self.questions
        beyond: list[Question] = []
        if self.watched is not None and not self.slow_turns and not self.late:
            names, beyond = identity_check([questions[i] for i in sorted(self._seen)], most=SELDOM)
            questions = [question for i, question in enumerate(questions) if i not in self._seen]
            more = [
                self.watched.as_expression(names),
                ("now.changes == then.changes", {"now": attributes, "then": self}),
            ]
            if self.rotation is not None:
                more.append(self.rotation.as_expression())
        self.quickly, others = identity_check(questions, more)
        others += beyond
        loose, strict = [q for q in others if id(q) not in exact], [q for q in others if id(q) in exact]
        self.slow = (loose, strict) if others or not more else ()
        self._tell()

    def serve(self, trace: Any) -> None:
        """Let a trace ask, by what it `holds`, whether everything is as it was.

        That may come to say no where there are things to settle, or to raise where something is gone; `hold` knows.
        """
        self._served.append(trace)
        trace.surroundings = self
        self._tell()

    def _tell(self) -> None:
        for trace in self._served:
            trace.holds = self.hold if self.slow or self.quickly is bool else self.quickly

    def _took_turns(self) -> bool:
        if self.late or (self.rotation is not None and not self.rotation.hold()):
            self.rotation, self.slow_turns = None, self.turns  # it cannot know what is equal
            self.late = not all(part.holds() for part in self.turns)
        self.turn += 1
        if self.slow_turns and not self.turn % EVERY:
            turn = self.slow_turns[self.turn // EVERY % len(self.slow_turns)]
            self.late = self.late or not turn.holds()
        return not self.late

    def _settled(self) -> bool:
        """Whether nothing that is read has changed; what else has is what it is from now on."""
        looks, watched = self.watched, [(self.holders, self.copies)]
        if looks is None or self.changes != attributes.changes or not looks.closely.isdisjoint(map(id, self.modules)):
            if not all(map(is_, map(ATTRIBUTES, self._owners), self.modules)):
                return False
            watched.append((self.modules, self.module_copies))
        for holders, copies in watched:
            for i, (holder, copy) in enumerate(zip(holders, copies, strict=True)):
                if self._holds(holder, copy):
                    if holder.__class__ is dict or not _holds_the_same(holder, copy):
                        copies[i] = copied(holder)
                        if looks is not None:
                            looks.renew(holder, copies[i])
                    continue
                if any(True for _ in self._different_parts(self._paths[id(holder)], holder, copy)):
                    return False
                copies[i], whole = self._taken_over(holder, copy)
                if looks is not None and (whole or id(holder) not in looks.closely):
                    looks.renew(holder, copies[i])
        if any(True for _ in self._different_answers()):
            return False
        self.questions = [
            (get, thing, len(thing) if get is len else _renewed(get(thing), then))
            for get, thing, then in self.questions
        ]
        self._sort()
        self.changes = attributes.changes
        return True

    def _sort(self) -> None:
        exact = set(self.exact)
        self.loose = [question for i, question in enumerate(self.questions) if i not in exact]
        self.strict = [question for i, question in enumerate(self.questions) if i in exact]

    def hold_all(self) -> bool:
        """Whether everything is as it was, however much there is to look at."""
        return not any(True for _ in self._differences()) and all(part.holds() for part in self.turns)

    def changed(self) -> list[str]:
        """What is not as it was, as it is written in Python."""
        late = [path for part in self.turns if not part.holds() for path in part.changed()]
        found = dict.fromkeys([*self._differences(), *late])
        return [path for path in found if not any(other.startswith(f"{path}[") for other in found)]

    def _differences(self) -> Iterator[str]:
        for holder, copy in self._pairs():
            if not self._holds(holder, copy):
                yield from self._different_parts(self._paths[id(holder)], holder, copy)
        yield from self._different_answers()
        for owner, held in zip(self._owners, self.modules, strict=True):
            if ATTRIBUTES(owner) is not held:
                yield f"{self._paths[id(held)]}.__dict__"

    def _different_answers(self) -> Iterator[str]:
        for i, (get, thing, then) in enumerate(self.questions):
            now = _answer(get, thing)
            if get is len and id(thing) in self._absent:
                more = thing.keys() - self._known.get(id(thing), thing.keys())
                come = {name for name in more if not _is_special(name)}
                yield from sorted(come | (self._absent[id(thing)] & thing.keys()))
            elif now is not then and (i in self.exact or not equal(now, then)) and not same(now, then):
                path, names = self._paths[id(thing)], () if get is CONTENT else names_of(get)
                parts = zip(names, parts_of(now, names), parts_of(then, names), strict=False)
                yield from [_join(path, name) for name, x, y in parts if not same(x, y)] or [path or "a name"]

    def _holds(self, holder: Any, copy: Any) -> bool:
        """Whether a container holds what its copy does; where nobody lists attributes, their order does not matter."""
        if id(holder) in self._some_read and not self.reached.anything:
            return len(holder) == len(copy) and all(alike(x, copy.get(name, MISSING)) for name, x in holder.items())
        return holds_alike(holder, copy)

    def _different_parts(self, path: str, now: Any, then: Any) -> Iterator[str]:
        if isinstance(then, dict):
            some, found = id(now) in self._some_read, False
            for key in dict.fromkeys((*now, *then)):
                if not same(now.get(key, MISSING), then.get(key, MISSING)):
                    found = True
                    if not some:
                        yield f"{path}[{key!r:.40}]"
                    elif self.reached.reads(key) or self._is_parameter(now, key, then):
                        yield _join(path, key)
            if not found and (not some or self.reached.anything) and not all(map(alike, now, then)):
                yield path  # its keys are others, or come in another order
        elif not same(now, then):
            as_long = isinstance(then, (list, deque)) and len(now) == len(then)
            at = [i for i, (x, y) in enumerate(zip(now, then, strict=True)) if not same(x, y)] if as_long else []
            yield f"{path}[{at[0]}]" if at else path

    def _taken_over(self, now: Any, then: Any) -> tuple[Any, bool]:
        """The next copy of what says the same as before, and whether that is all of it.

        A list in the place of an equal one may be filled later: it is compared with that one from now on.
        """
        if not isinstance(then, dict):
            return then, False
        some, copy, whole = id(now) in self._some_read, {}, True
        for key, x in now.items():
            unread = some and not self.reached.reads(key) and not self._is_parameter(now, key, then)
            copy[key] = x if unread or alike(x, then.get(key, MISSING)) else then.get(key, x)
            whole = whole and copy[key] is x
        return copy, whole

    def _is_parameter(self, now: Any, name: str, then: Any) -> bool:
        """Whether an attribute of a module, which is asked for its parameters, is or was one, or holds some."""
        if not self.reached.lists_parameters() or not any(now is held for held in self.modules):
            return False
        return may_hold_values(now.get(name)) or may_hold_values(then.get(name))

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        yield from zip(self.holders, self.copies, strict=True)
        yield from zip(self.modules, self.module_copies, strict=True)

    # --- after a function was run just to be looked at ---------------------------------------------------------------

    def stand_ins(self) -> bool:
        """Whether a trace has left something behind, where it is read, that stands for a number."""
        parts: list[Any] = []
        for holder, _ in self._pairs():
            parts += holder.values() if isinstance(holder, dict) else holder
        parts += [part for row in parts if row.__class__ is list for part in row]
        for get, thing, _ in self.questions:
            now = _answer(get, thing)
            parts += now if isinstance(now, (tuple, list)) else [now]
        return any(map(is_stand_in, parts))

    def restore(self) -> None:
        """Make everything what it was."""
        for holder, copy in self._pairs():
            refill(holder, copy)
        for get, thing, then in self.questions:
            if not same(_answer(get, thing), then):
                put_back(get, thing, then, self._classes.get(id(thing)))
        for part in self.turns:
            if not part.holds():
                part.restore()


# --- questions -------------------------------------------------------------------------------------------------------


def _answer(get: Callable[[Any], Any], thing: Any) -> Any:
    try:
        return get(thing)
    except Exception:  # it is gone
        return MISSING


def _may_be_of_another_class(x: Any) -> bool:
    """Whether somebody may set its `__class__`: that of an object of the user's, or of a module."""
    return is_users_class(type(x)) or (isinstance(x, ModuleType) and not is_library(x.__name__))


def _words_for(question: Question) -> list[int]:
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


def _holds_the_same(now: Any, then: Any) -> bool:
    """Whether a list holds the very same things as its copy; of rows, whether these do."""
    return all(map(is_, now, then)) or all(
        x.__class__ is list and y.__class__ is list and all(map(is_, x, y)) for x, y in zip(now, then, strict=True)
    )


def _same_ones(now: Any, then: Any) -> bool:
    """Whether two answers hold the same things, not only equal ones."""
    if now.__class__ is not then.__class__ or then.__class__ not in (tuple, list):  # one of a subclass has attributes
        return False
    return len(now) == len(then) and all(map(is_, now, then))


def _may_be_equal(x: Any) -> bool:
    """Whether something else can be equal to it that is not the same: 7.0 to 7, [True] to [1], one text to another."""
    return _says_equal(type(x)) and not isinstance(x, (type, *METHODS))


def _renewed(now: Any, then: Any) -> Any:
    """An answer that is the same as it was: the newer one, unless it is a container, which may be filled in place."""
    if alike(now, then):
        return now
    if isinstance(now, tuple) and isinstance(then, tuple) and len(now) == len(then):
        return tuple(map(_renewed, now, then))
    return then


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


def _is_special(name: str) -> bool:
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


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
