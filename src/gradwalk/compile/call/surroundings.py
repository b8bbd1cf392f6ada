"""Whether all that a trace relies on outside its arguments is as it was when the trace was made.

A trace holds for as long as every name, attribute and container that its function reads holds what it held. That is
looked at before each replay, in one sweep over the `Watchlist`, natively where native code can see it. What is too much
for a sweep is looked at in turns, a part at a time, so that a change is noticed later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from operator import is_
from typing import Any

from gradwalk.compile.call.sameness import (
    MISSING,
    SELDOM,
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
from gradwalk.compile.call.watchlist import ATTRIBUTES, CONTENT, OBJECTS, Question, Watchlist, is_special, words_for
from gradwalk.compile.native.pythons import are_readable, versions_are_readable
from gradwalk.compile.own.watched import Rotation, Watched
from gradwalk.compile.trace.held import holds_stand_in, may_hold_values
from gradwalk.compile.trace.reach import Reached
from gradwalk.module import attributes

__all__ = ["Surroundings"]

EVERY = 8  # calls, somebody's turn comes, if Python has to look
ROTATED = 65_536  # entries of lists that native code goes through; to write down more of them takes too long
REMADE = 16  # times at most, what asks for names in one expression


class Surroundings(Watchlist):
    """What was reached, and whether it has changed.

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
        self.changes = attributes.changes  # how often attributes of modules had been set, before they were looked at
        super().__init__(reached)
        self.watched: Watched | None = None  # who looks at containers, from the first time on
        self.rotation: Rotation | None = None  # turns that native code takes, at each call a little …
        self.slow_turns = self.turns  # … and others in Python, now and then one of them
        self.turn = 0
        self.late = False  # whether a change was found by a turn, after replays that did not know of it
        self.loose: list[Question] = []  # questions whose answers are compared …
        self.strict: list[Question] = []  # … and those of `exact`, which have to be the same ones
        self.quickly: Callable[[], bool] = bool  # whether answers are the very same; none are asked at first
        self._seen: frozenset[int] = frozenset()  # questions whose answers change only if native code sees it
        self.slow: Any = ((), ())  # questions that this does not ask; empty if it looks at everything
        self._made = 0
        self._served: list[Any] = []  # traces that rely on all this
        self._sort()

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
                words = {i: words for i, question in enumerate(self.questions) if (words := words_for(question))}
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
                come = {name for name in more if not is_special(name)}
                yield from sorted(come | (self._absent[id(thing)] & thing.keys()))
            elif now is not then and (i in self.exact or not equal(now, then)) and not same(now, then):
                path, names = self._paths[id(thing)], () if get is CONTENT else names_of(get)
                parts = zip(names, parts_of(now, names), parts_of(then, names), strict=False)
                yield from [_join(path, name) for name, x, y in parts if not same(x, y)] or [path or "a name"]

    def _asked_by_name(self, holder: Any) -> bool:
        """Whether these are attributes that were asked for by name; the others nobody reads."""
        return id(holder) in self._some_read and not self.reached.anything and not versions_are_readable()

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
                        yield path if holds_stand_in(key) else f"{path}[{key!r:.40}]"
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
        held = [holder for holder, _ in self._pairs()]
        return any(map(holds_stand_in, chain(held, (_answer(get, thing) for get, thing, _ in self.questions))))

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


def _answer(get: Callable[[Any], Any], thing: Any) -> Any:
    try:
        return get(thing)
    except Exception:  # it is gone
        return MISSING


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


def _renewed(now: Any, then: Any) -> Any:
    """An answer that is the same as it was: the newer one, unless it is a container, which may be filled in place."""
    if alike(now, then):
        return now
    if isinstance(now, tuple) and isinstance(then, tuple) and len(now) == len(then):
        return tuple(map(_renewed, now, then))
    return then


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
