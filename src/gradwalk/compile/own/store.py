"""Who owns the parameters: Python, in the fields of their Values, or native code, in one buffer.

A compiled call takes them into the buffer. While they are there, the store is their keeper (see `gradwalk.keepers`) and
hands everything back at the first touch from Python; the next compiled call takes them again. An ordinary training loop
of compiled loss, `zero_grad()`, `backward()` and `step()` triggers neither. Where they are touched at every turn, as by
`p.data -= lr * p.grad`, they are left where they are: numbers are copied in, gradients are added out.

Parameters that some function uses together share one store. A function's parameters stand in a stretch of
the store; when two stores grow together because a function uses both, stretches move and nobody notices.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from operator import attrgetter
from typing import Any
from weakref import WeakSet

import numpy as np

from gradwalk import keepers, reverse
from gradwalk.compile.array_types import Longs
from gradwalk.compile.native.pythons import LeafReader
from gradwalk.compile.own import optimisers
from gradwalk.compile.own.tensors import Floats, HeldTensors, dtype_held
from gradwalk.compile.own.watched import Watched
from gradwalk.compile.trace.kinds import is_narrow
from gradwalk.compile.trace.limits import frozen
from gradwalk.engine import Value
from gradwalk.errors import NotANumberError, TraceError
from gradwalk.node import are_plain_leaves, gradients_of, numbers_of
from gradwalk.ops import number
from gradwalk.turns import Turn

__all__ = ["Store", "Stretch", "stretch_of"]

FLOATS = frozenset((float,))
NUMBERS = frozenset((float, int))
#: Handed back so often in a row, with no optimiser at work on the buffer, parameters are left in Python; after so many
#: calls it is tried again whether they would stay.
OFTEN, TRIED_AGAIN = 4, 64

_growing = Turn()  # one at a time makes stores, lets them grow, or joins them


class Version:
    """The parameters' numbers at one time. A copy is kept if they change while a result still waits for `backward()`.

    >>> w = gradwalk.Value(3.0)
    >>> result = gradwalk.compile(lambda x: w * w * x)(1.0)
    >>> w.data = 100.0
    >>> result.backward()  # as it was when the result was computed
    >>> w.grad
    6.0
    """

    __slots__ = ("__weakref__", "start", "values", "waiting")

    def __init__(self) -> None:
        self.values: Floats | None = None
        self.start = 0  # where in the store they stand, once it has joined another
        self.waiting = 0  # results that were not walked back yet


class Store:
    """Parameters that live together: their Values, and the two arrays in which native code keeps them.

    >>> w = Value(2.0)
    >>> store = stretch_of([w])[0].store
    >>> store.take()
    >>> store.values[0] = 3.0
    >>> store.owns, w.data, store.owns
    (True, 3.0, False)
    """

    owns = False  # whether the arrays hold the truth, or the Values do

    def __init__(self, dtype: str = "float64") -> None:
        self.dtype = dtype  # of all numbers; float32 for tensors of such, and no Values
        self.parameters: list[Any] = []  # Values, and tensors of many numbers
        self.position: dict[int, int] = {}  # of a parameter's first number, by id()
        self.size = 0  # how many numbers there are
        self.tensors = HeldTensors()
        self.values: Floats = np.zeros(0, dtype)
        self.grads, self._clear, self._clears = _no_gradients(0, dtype)
        self.version = Version()  # a new one whenever the parameters' numbers change
        self.kept: WeakSet[Version] = WeakSet()  # earlier ones that some result needs
        self.zeroed = False  # whether all gradients are 0, and nothing has been added since
        self.hooked = False  # whether a parameter has hooks, which only Python can call
        self.by_hand = 0  # how often in a row they were handed back with no optimiser at work
        self.visits = 0  # calls that left them in Python
        self._leaves: LeafReader | None = None  # of the parameters, once they were visited
        self.told = False  # whether it was said that some are not of float64
        self.stretches: WeakSet[Stretch] = WeakSet()
        self.lists: dict[int, tuple[keepers.Seen, Any, bool]] = {}  # that were asked for before; see `positions`
        self.lock = Turn()

    def __del__(self) -> None:
        if self.owns:
            self._count(-1)

    def _count(self, more: int) -> None:
        """Note that parameters have been taken or handed back; where there are none, nobody need look for them."""
        if self.parameters:
            keepers.count(more)

    # --- handing over ----------------------------------------------------------------------------------------------

    def take(self) -> None:
        """Bring the parameters into the buffer.

        >>> Store().take()
        """
        with self.lock:
            if self.owns:
                return
            plain = self.tensors.others
            values = self._numbers(numbers_of(plain), "data")
            grads = self._numbers(gradients_of(plain), "gradient")
            if self.tensors:
                values, grads = self.tensors.joined(values, grads, self.dtype)
            if values.tobytes() != self.values.tobytes():  # 0 and -0 are equal, and are not the same
                self.changing()
                self.values[:] = values
            self.grads[:] = grads
            self.zeroed = False
            usual = are_plain_leaves(self.parameters)
            self.hooked = not usual and any(map(attrgetter("hooks"), self.parameters))
            if not usual and not all(map(attrgetter("is_leaf"), self.parameters)):
                raise TraceError("a parameter was given operands after it had been compiled in; clear() the function")
            self._announce()
            self.tensors.remember()
            try:
                self._take()
            except BaseException:  # Ctrl-C: as if nobody had taken any
                self._give_back()
                raise

    def _announce(self) -> None:
        for p in self.parameters:
            try:
                p._notes.keeper = self
            except AttributeError:  # its first time
                p._note().keeper = self

    def _take(self) -> None:
        for p in self.tensors.others:
            del p._data, p._grad
        self.tensors.take()
        self._count(1)
        self.owns = True

    def hand_back(self) -> None:
        """Let the Values hold their numbers again.

        >>> Store().hand_back()
        """
        with self.lock:
            if not self.owns:
                return
            _to_the_end(self._give_back)
            self.tensors.forget()
            self.by_hand += 1

    def _give_back(self) -> None:
        """Set what the parameters hold to what the buffer has."""
        if self.tensors:
            values, grads = self.tensors.hand_back(self.values, self.grads)
        else:
            values, grads = self.values, self.grads
        for p, data, grad in zip(self.tensors.others, values.tolist(), grads.tolist(), strict=True):
            p._data, p._grad = data, grad
        for p in self.parameters:
            p._notes.keeper = None
        self.zeroed = False
        if self.owns:
            self.owns = False
            self._count(-1)

    def visit(self) -> bool:
        """Bring the numbers into the buffer and leave the parameters in Python, if that is how they are used.

        >>> w = Value(1.0)
        >>> store = stretch_of([w])[0].store
        >>> for _ in range(4):
        ...     store.take()
        ...     w.data += 1.0
        >>> store.visit(), store.owns, store.values.tolist()
        (True, False, [5.0])
        """
        if self.by_hand < OFTEN or self.tensors:
            return False
        self.visits += 1
        if not self.visits % TRIED_AGAIN:
            return False
        values = self._packed()
        if values is None:
            return False
        if values == self.values.tobytes():  # nobody sets them any longer
            self.by_hand = 0
            return False
        self.changing()
        self.values[:] = np.frombuffer(values)
        self.hooked = False
        return True

    def _packed(self) -> bytes | None:
        """The numbers that the Values hold; None if they are no plain leaves with plain numbers."""
        if self._read("_data"):
            return self._leaves.numbers.tobytes()  # type: ignore[union-attr]
        if not are_plain_leaves(self.parameters):
            return None
        numbers = numbers_of(self.parameters)
        if not NUMBERS.issuperset(map(type, numbers)):
            return None
        try:
            return struct.pack(f"{len(numbers)}d", *numbers)
        except OverflowError:  # an int that no float can hold
            return None

    def _read(self, field: str) -> bool:
        """Have a field of all parameters read natively; says whether that could be."""
        if self._leaves is None:
            self._leaves = LeafReader(self.parameters)
        return self._leaves.read(field)

    def can_be_added_out(self, version: Version) -> bool:
        """Whether gradients can be added to those that the Values hold: the buffer has the numbers of that visit still.

        Python may have other numbers by now; those of the call count.

        >>> store = stretch_of([Value(1.0)])[0].store
        >>> store.can_be_added_out(store.version)
        False
        """
        if self.by_hand < OFTEN or self.tensors or self.version is not version:
            return False
        if self._read("_grad"):
            return True
        if not are_plain_leaves(self.parameters):
            return False
        return NUMBERS.issuperset(map(type, gradients_of(self.parameters)))

    def add_out(self) -> None:
        """Add the gradients in the buffer to those that the Values hold.

        >>> Store().add_out()
        """
        with reverse.one_at_a_time:
            if self._read("_grad"):
                with np.errstate(all="ignore"):
                    sums = self._leaves.numbers + self.grads  # type: ignore[union-attr]
                reverse.put_back(self.parameters, "_grad", sums.tolist())
            else:
                reverse.add_to_leaves(self.parameters, self.grads.tolist())

    def look_at_lent(self) -> None:
        """Take in what was written to arrays that `data` of tensors gave away.

        >>> w = gradwalk.Tensor([1.0])
        >>> numbers, double = w.data, gradwalk.compile(lambda: w * 2.0)
        >>> y = double()
        >>> numbers[0] = 5.0
        >>> double()
        Tensor([10.0])
        """
        if self.tensors.are_written_to(self.values):
            self.hand_back()
            self.take()

    @contextmanager
    def handed_back(self) -> Iterator[None]:
        """A block in which the Values hold their numbers, and nobody takes them.

        >>> with Store().handed_back():
        ...     pass
        """
        with self.lock:
            self.hand_back()
            yield

    def _numbers(self, given: list[Any], what: str) -> Floats:
        kinds = {*map(type, given)}
        if kinds <= FLOATS:
            return np.fromiter(given, np.float64, len(given))
        if what == "data" and not self.told and (narrow := [kind.__name__ for kind in kinds if is_narrow(kind)]):
            self.told = True
            frozen(
                f"the number of a parameter is a {narrow[0]} of NumPy's, with which Values compute in {narrow[0]}; "
                "compiled code computes in float64",
                "make it a float, as in p.data = float(x)",
            )
        try:
            return np.array([number(x) for x in given], np.float64)
        except NotANumberError:
            kind = next(type(x).__name__ for x in given if isinstance(x, Value) or not isinstance(x, (int, float)))
            remedy = "; call zero_grad() after backward(create_graph=True)" if what == "gradient" else ""
            raise NotANumberError(
                f"the {what} of a parameter is a {kind}, and compiled code takes numbers{remedy}"
            ) from None

    def with_gradients_of_now(self) -> Callable[[], None]:
        """What gives the parameters the gradients again that they have now.

        >>> w = Value(1.0)
        >>> store = stretch_of([w])[0].store
        >>> as_before = store.with_gradients_of_now()
        >>> w.grad = 5.0
        >>> as_before()
        >>> w.grad
        0.0
        """
        if self.owns:
            return partial(self._put_gradients_back, self.grads.copy())
        return partial(reverse.put_back, self.parameters.copy(), "_grad", gradients_of(self.parameters))

    def _put_gradients_back(self, grads: Floats) -> None:
        reverse.release(self.parameters)
        self.tensors.set_gradients(grads)
        reverse.put_back(self.tensors.others, "_grad", grads[self.tensors.others_at].tolist())

    # --- who is where ----------------------------------------------------------------------------------------------

    def positions(self, parameters: list[Any]) -> slice | Longs | None:
        """Where a list of parameters stands: a slice if it is the whole store, in any order; None if some are not here.

        A list is looked through once, and known again for as long as it holds what it held.

        >>> ws = [Value(1.0), Value(2.0)]
        >>> store = stretch_of(ws)[0].store
        >>> store.positions(ws), store.positions(ws[1:]).tolist(), store.positions([Value(3.0)])
        (slice(0, 2, None), [1], None)
        """
        known = self.lists.get(id(parameters))
        if known is not None and known[0].holds(parameters):
            return known[1]  # type: ignore[no-any-return]
        found: Any = None
        ids = {*map(id, parameters)}
        if len(parameters) == len(ids) and ids == self.position.keys():
            found = slice(0, self.size)
        elif ids <= self.position.keys():
            found = self.order(parameters)
        if len(self.lists) >= 16:
            self.lists.clear()
        self.lists[id(parameters)] = keepers.Seen(parameters), found, isinstance(found, slice)
        return found  # type: ignore[no-any-return]

    def order(self, parameters: list[Any]) -> Longs:
        """The position of each of these parameters; of a tensor those of all its numbers.

        >>> ws = [Value(1.0), Value(2.0)]
        >>> stretch_of(ws)[0].store.order(ws[::-1]).tolist()
        [1, 0]
        """
        if self.tensors:
            return self.tensors.spread(parameters, self.position)
        return np.fromiter(map(self.position.__getitem__, map(id, parameters)), np.int64, len(parameters))

    def watch(self, containers: list[Any]) -> Callable[[], bool]:
        """What tells whether containers hold what they hold now.

        >>> xs = [Value(1.0)]
        >>> as_they_were = Store().watch([xs])
        >>> xs.append(Value(2.0))
        >>> as_they_were()
        False
        """
        return Watched(containers, [copy(holder) for holder in containers]).hold

    def zero_grad(self, parameters: list[Any]) -> bool:
        """Set gradients to 0 where they are, if native code owns all of them; says whether it did.

        >>> ws = [Value(1.0)]
        >>> store = stretch_of(ws)[0].store
        >>> store.zero_grad(ws)
        False
        """
        known = self.lists.get(id(parameters))
        if known is not None and known[2] and self.owns and known[0].holds(parameters):
            lock = self.lock
            lock.acquire()
            try:
                self._clear()
                self.zeroed = owns = self.owns
                return owns
            finally:
                lock.release()
        store = self.with_all(parameters)
        if store is None:
            return False
        with store.lock:
            where = store.positions(parameters) if store.owns else None
            if where is None:
                return False
            store.grads[where] = 0.0
            return True

    def clearing(self, parameters: list[Any], containers: Sequence[Any]) -> Callable[[], bool]:
        """What sets gradients to 0 if these are all that there are, native code owns them, and containers hold what
        they hold now; says whether it did.

        >>> Store().clearing([], [])()
        False
        """
        if not isinstance(self.positions(parameters), slice):
            return bool
        room, empty, acquire, release = self.grads, self._clear, self.lock.acquire, self.lock.release
        watched = Watched(containers, [copy(holder) for holder in containers], room)
        hold, look, answer = watched.hold, watched.natively.get("look"), watched.natively.get("answer", (0,))
        at_once = look is not None and not watched.others and not room.nbytes % 8  # one native call does it all

        def clear() -> bool:
            acquire()
            try:
                if not self.owns or self._clear is not empty:  # there are more by now
                    return False
                if at_once:
                    look()  # type: ignore[misc]
                    if not answer[0]:
                        return False
                elif hold():
                    empty()
                else:
                    return False
                self.zeroed = True
                return True
            finally:
                release()

        return clear

    def with_all(self, parameters: list[Any]) -> Store | None:
        """The store that owns all of these; those that no compiled function has met yet are taken in.

        A model has parameters that only some calls use, such as rows of a table; an optimiser has them all.

        >>> ws = [Value(1.0), Value(2.0)]
        >>> store = stretch_of(ws[:1])[0].store
        >>> store.take()
        >>> store.with_all(ws).positions(ws)
        slice(0, 2, None)
        """
        if not self.owns:
            return None
        if self.positions(parameters) is not None:
            return self
        if any(dtype_held(p) != self.dtype for p in parameters):
            return None
        store = stretch_of(parameters)[0].store
        store.take()
        return store

    def changing(self) -> None:
        """To be called before the parameters' numbers change: those that a result still needs are kept.

        >>> store = Store()
        >>> before = store.version
        >>> store.changing()
        >>> store.version is before
        False
        """
        if self.owns:
            self.by_hand = 0
        if self.version.waiting:
            self._keep_version()
        self.version = Version()

    def _keep_version(self) -> None:
        self.version.values = self.values.copy()
        self.kept.add(self.version)

    @contextmanager
    def as_of(self, version: Version) -> Iterator[None]:
        """The parameters' numbers as they were, for a while.

        >>> with Store().as_of(Version()):  # doctest: +ELLIPSIS
        ...     pass
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: parameters have changed since this result was first walked back, ...
        """
        if version.values is None:
            raise TraceError(
                "parameters have changed since this result was first walked back, and what they were is not kept any "
                "longer; call the function again"
            )
        here = slice(version.start, version.start + len(version.values))  # more may have come since
        now = self.values[here].copy()
        try:
            self.values[here] = version.values
            yield
        finally:
            self.values[here] = now

    step, all_reduce = optimisers.step, optimisers.all_reduce
    clip_norm, clip_value = optimisers.clip_norm, optimisers.clip_value

    # --- growing ---------------------------------------------------------------------------------------------------

    def _grow(self, parameters: Sequence[Any], movers: Sequence[Stretch | Version] = ()) -> None:
        """Take in parameters, and what stands on them in another store."""
        self.hand_back()
        if not any(p.many for p in parameters):
            more = self._numbers([p.data for p in parameters], "data")
        else:
            parts = [p.array.ravel() if p.many else self._numbers([p.data], "data") for p in parameters]
            more = np.concatenate(parts)
        tensors, position, size = self.tensors.copy(), self.position.copy(), self.size
        for p in parameters:
            position[id(p)] = size
            size += tensors.add(p, size)
        grads, clear, clears = _no_gradients(size, self.dtype)
        grown = {
            "parameters": [*self.parameters, *parameters],
            "position": position,
            "size": size,
            "tensors": tensors,
            "values": np.concatenate((self.values, more)).astype(self.dtype, copy=False),
            "grads": grads,
            "_clear": clear,
            "_clears": clears,
            "lists": {},
            "_leaves": None,
        }
        starts = [self.size + mover.start for mover in movers]

        def change() -> None:
            vars(self).update(grown)
            for p in parameters:
                keepers.known[id(p)] = self
            for mover, start in zip(movers, starts, strict=True):
                mover.start = start
                if isinstance(mover, Stretch):
                    mover.store = self
                    self.stretches.add(mover)
                else:
                    self.kept.add(mover)

        _to_the_end(change)

    def _absorb(self, other: Store) -> None:
        other.hand_back()
        other._keep_version()  # results that wait know the numbers by this version, and it ends here
        self._grow(other.parameters, [*other.kept, *other.stretches])


class Stretch:
    """A stretch of a store that one function works on.

    >>> stretch_of([Value(1.0), Value(2.0)])[0].size
    2
    """

    __slots__ = ("__weakref__", "size", "start", "store")

    def __init__(self, store: Store, start: int, size: int) -> None:
        self.store = store
        self.start = start
        self.size = size
        store.stretches.add(self)

    def arrays(self) -> tuple[Floats, Floats]:
        """The numbers and the gradients of this stretch, as they lie in the store.

        >>> [len(array) for array in stretch_of([Value(1.0)])[0].arrays()]
        [1, 1]
        """
        here = slice(self.start, self.start + self.size)
        return self.store.values[here], self.store.grads[here]


def _no_gradients(size: int, dtype: str) -> tuple[Floats, Callable[[], None], Watched]:
    """Room for gradients, in whole words, what clears it, and what must live for as long as that is used."""
    room = np.zeros(-(-size * np.dtype(dtype).itemsize // 8), np.int64)
    clears = Watched((), (), room)
    return room.view(dtype)[:size], clears.natively["look"], clears


def _to_the_end(change: Callable[[], None]) -> None:
    """Make a change that can be begun anew at any place: Ctrl-C does not leave it half made."""
    try:
        change()
    except BaseException:
        change()
        raise


def stretch_of(parameters: Sequence[Any]) -> tuple[Stretch, Longs]:
    """Bring parameters of one dtype together in one store; gives their stretch of it, and where each of them stands.

    >>> a, b, c = Value(1.0), Value(2.0), Value(3.0)
    >>> one, _ = stretch_of([a, b])
    >>> other, where = stretch_of([c, b])
    >>> one.store is other.store, where.tolist()
    (True, [1, 0])
    """
    with _growing:
        homes: dict[int, Store] = {}
        for p in parameters:
            home = keepers.known.get(id(p))
            if isinstance(home, Store):
                homes[id(home)] = home
        stores = sorted(homes.values(), key=lambda store: -len(store.parameters))
        store = stores[0] if stores else Store(next((dtype_held(p) for p in parameters), "float64"))
        for other in stores[1:]:
            with store.lock, other.lock:
                store._absorb(other)
        strangers = [p for p in parameters if id(p) not in store.position]
        if strangers:
            with store.lock:
                store._grow(strangers)
        where = store.order(list(parameters))
        start = int(where.min()) if len(where) else 0
        size = int(where.max()) + 1 - start if len(where) else 0
        return Stretch(store, start, size), where - start
