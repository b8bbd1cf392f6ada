"""A trace bound to memory: write the numbers of a call, run, and walk back."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise
from operator import is_, itemgetter, lt
from sys import getrefcount
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwalk import reverse, tree
from gradwalk.compile.call.arguments import FLOAT, InputAt
from gradwalk.compile.call.familiar import LONG, Alike, are_plain
from gradwalk.compile.call.following import Checks, difference
from gradwalk.compile.call.results import LeftToWalk, Result, ResultTree, note_walk, result_of
from gradwalk.compile.call.surroundings import Surroundings
from gradwalk.compile.native.pythons import READ, UNREAD, NumberReader, fetching, flat
from gradwalk.compile.own.store import Store, Stretch, stretch_of
from gradwalk.compile.prepared import Prepared, Runner, prepare
from gradwalk.compile.roll.dataflow import nodes_reached
from gradwalk.compile.trace.recorded import Output, Recorded, TensorOutput
from gradwalk.engine import Value
from gradwalk.functions import checked_index
from gradwalk.node import are_plain_leaves
from gradwalk.ops import number

__all__ = ["BoundTrace", "Misjudged"]

_blank_result: Callable[[], Any] = partial(object.__new__, Result)  # without the cost of __init__


def _references(trace: Any) -> int:
    """How many references there are to a call that nobody has but its trace, as `getrefcount` counts where it is asked.

    Some versions of Python count the name that it is asked by, and others do not.
    """
    last = trace.last
    return getrefcount(last)


ALONE = _references(SimpleNamespace(last=object()))


class Misjudged(Exception):  # noqa: N818 (nobody outside sees it)
    """A list held something else than numbers between its first and its last."""


class BoundTrace:
    """One trace of a compiled function, with its program and the memory it runs in.

    >>> f = gradwalk.compile(lambda x: x * x)
    >>> f(3.0).data
    9.0
    >>> [trace.calls for trace in f.traces()]
    [1]
    """

    one_by_one = True  # whether numbers are computed one by one, for one sample
    familiar: tuple[Any, ...] = ()  # arrays that were the arguments twice in a row, and that native code reads

    def __init__(self, recorded: Recorded, numbers: Any, wrt: dict[str, Any], batch: str | None = None) -> None:
        self.recorded = recorded
        self.wrt = wrt  # arguments whose gradients are kept, as they were at the first call
        self.kept = numbers.kept  # objects that the key knows by their id()
        self.stretch: Stretch
        self.stretch, self.where = stretch_of(recorded.parameters)
        #: Whether gradient flows to nodes among the arguments.
        self.passes_on = bool(numbers.values) or any(v.requires_grad for _, v in numbers.tensors)
        #: Whether there are gradients of arguments.
        self.input_grads: bool = self._prepare(numbers, batch)
        self.surroundings: Surroundings  # what the trace relies on outside the arguments …
        self.holds: Callable[[], bool]  # … and whether it is still so
        self.checks: Checks
        self.due = 1  # the number of calls after which the next one compares function and trace
        self.types_traced = _types_of(numbers)
        self.calls = 0
        self.recent = True  # whether it was used since someone last had to make room
        self.last: Any = None  # the call whose numbers are in memory
        self.values: Any = None  # the store's array that the runner is bound to
        self.runner: Runner
        self.reader: NumberReader | None = None  # of long lists among the arguments, once there were some …
        self.indexing: Any = None  # … and of indices in these, where they are, and how large each may be
        self.result = ResultTree(recorded.result)
        self.single = type(recorded.result) is Output and not recorded.result.plain
        self.lone_tensor: Any = self._lone_tensor()  # what makes the result, if that is one tensor of no dims
        self.alone = self.single or self.lone_tensor is not None  # whether there is one result, of one number
        self.reached_from: dict[bytes, list[bool]] = {}  # by the outputs that a walk begins at
        self._lay_out(numbers)

    def _prepare(self, numbers: Any, batch: str | None) -> bool:
        """Make a program of the tape; says whether it gives gradients of arguments."""
        self.prepared: Prepared = prepare(
            self.recorded.tape.placed(self.where, self.stretch.size),
            batch=batch,
            input_grads=bool(self.wrt) or self.passes_on,
        )
        self.once = False  # as far as it is not said otherwise: whether one walk back is all there can be
        return self.prepared.program.input_grads

    def _lay_out(self, numbers: Any) -> None:
        """Note where the numbers of each call go."""
        recorded = self.recorded
        self.slots = recorded.slots
        plain = len(numbers.plain)
        self.all_chosen = self.slots == list(range(plain))
        self.chosen: Callable[[list[Any]], tuple[Any, ...]] = (  # the numbers that serve as indices
            itemgetter(*self.slots) if len(self.slots) > 1 else lambda plain: tuple([plain[i] for i in self.slots])
        )
        self.least = min(recorded.bounds, default=0)
        self.shapes = [array.shape for array in numbers.arrays]
        self.borrows = bool(self.shapes) or plain >= LONG  # whether a call has arrays or long lists, which may change
        self.plain = plain if any(i < plain for i in recorded.used) else 0  # indices alone are not needed as floats
        self.arrays_alone = bool(self.shapes) and not self.plain and not self.slots
        self.packed = struct.Struct(f"{plain}d")
        self.indexed = struct.Struct(f"{len(self.slots)}Q")  # which takes no negative ones
        self.ends = list(accumulate(map(math.prod, self.shapes), initial=plain))

    def difference(self, recorded: Recorded, numbers: Any) -> str:
        """How a trace that was made just now for these numbers differs from this one, in words; "" if it does not.

        Numbers of other types, and ints of other sizes, may be computed with in other ways, to the same end: of these
        nothing is said.
        """
        ints = self.recorded.ints
        others = any(ints.get(i, size) != size for i, size in recorded.ints.items())
        return "" if others or _types_of(numbers) != self.types_traced else difference(self.recorded, recorded)

    # --- forward -------------------------------------------------------------------------------------------------

    def run(self, call: Any) -> Any:
        """Compute with the numbers of a call; gives what the function gives."""
        self._check(call)
        store = self.stretch.store
        lock = store.lock
        lock.acquire()  # twice as quick as `with`
        try:
            if not store.owns and not store.visit():
                store.take()
            self._forward(store, call)
            self.calls += 1
            call.trace = self
            call.version = version = store.version
            version.waiting += 1
            self.last = call
            if self.single:
                out = _blank_result()
                out._call = call
                out._position = 0
                out._data = self.given[0]
                out._grad = 0.0
                return out
            if self.lone_tensor is not None:
                return self.lone_tensor(call, self.outputs.item())
            return self._results(call)
        finally:
            lock.release()

    def _check(self, call: Any) -> None:
        """Look at familiar arrays that native code does not look at."""
        if not call.checked:
            if any(x.dtype is not FLOAT or x.shape != shape for x, shape in zip(call.arrays, self.shapes, strict=True)):
                raise Misjudged
            call.checked = True

    def values_only(self, numbers: Any) -> Any:
        """As `run`, with leaves as results: what happens under `no_grad()`."""
        store = self.stretch.store
        with store.lock:
            if not store.owns and not store.visit():
                store.take()
            self._forward(store, numbers)
            self.calls += 1
            return self._results(None)

    def _results(self, call: Any) -> Any:
        """What the function gives; without a call, as leaves."""
        make = partial(_leaf, self.recorded.labels) if call is None else partial(result_of, call)
        return self.result.filled(make, self._outputs(), self._array(), call)

    def _outputs(self) -> list[Any]:
        return self.outputs.tolist()  # type: ignore[no-any-return]

    def _array(self) -> Any:
        """The numbers that are given, in an array."""
        return self.outputs

    def _lone_tensor(self) -> Any:
        given = self.recorded.result
        if type(given) is not TensorOutput or given.known is not None or not given.flows or given.leaf or given.shape:
            return None
        from gradwalk.compile.call.tensor_results import lone

        return lone

    def _forward(self, store: Store, numbers: Any, again: Any = None) -> None:
        """Compute; `again` is a call whose numbers may have been put aside."""
        if store.owns and store.tensors.lent:
            store.look_at_lent()
        if self.values is not store.values:
            self._bind(store)
        last = self.last
        if last is not None:
            if self.borrows and last.saved is None:
                self._put_aside(last)
            self.last = None
        if again is not None and again.saved is not None:
            self.runner.inputs[:] = np.frombuffer(again.saved)
            self.runner.indices[:] = again.saved_indices
        else:
            self._write_numbers(numbers)
        self.forward()

    def _write_numbers(self, numbers: Any) -> None:
        """Put the numbers of a call where the program reads them."""
        if self.plain:
            try:
                if numbers.ints and not are_plain(numbers.plain):
                    raise Misjudged
                if numbers.pieces:
                    self._write_pieces(numbers)
                else:
                    self.write(*numbers.plain)
            except (OverflowError, struct.error):
                if not numbers.careful:
                    raise Misjudged from None
                self.runner.inputs[: self.plain] = [number(x) for x in numbers.plain]
        if self.shapes:
            for view, array in zip(self.views, numbers.arrays):  # noqa: B905 (as many, by the key; and it is quicker)
                view[...] = array
        if self.slots:
            self._write_indices(numbers)

    def _write_pieces(self, numbers: Any) -> None:
        """Write long lists one after the other."""
        if self.reader is None:
            self.reader = self._reader()
        for piece, start, answer in self._unread(self.reader, numbers):
            plain = [*piece]
            if answer == UNREAD and (len(plain) != len(piece) or not are_plain(plain)):  # a bool, an int too large
                raise Misjudged
            self._check_types(plain, start)
            struct.pack_into(f"{len(plain)}d", self.inputs, 8 * start, *plain)

    def _unread(self, reader: NumberReader, numbers: Any) -> list[tuple[Any, int, int]]:
        """Read long lists; gives those that could not be read, with where they begin, and what was the matter."""
        start, unread = 0, []
        for piece in (*numbers.pieces, numbers.plain):
            ends = start + len(piece)
            if ends > self.ends[0]:  # another thread has changed a list since it was looked at
                raise Misjudged
            if ends > start:
                if piece.__class__ is Alike:
                    answer = reader.read(piece.content, piece.described, start)
                else:
                    answer = reader.read(piece, flat(piece.__class__, ends - start), start)
                if answer != READ:
                    unread.append((piece, start, answer))
            start = ends
        if start != self.ends[0]:
            raise Misjudged
        return unread

    def _reader(self) -> NumberReader:
        """What reads long lists natively."""
        return NumberReader(self.runner.inputs)

    def _check_types(self, plain: list[Any], start: int) -> None:
        """Look whether numbers, from one of these on, are of the types that the trace holds for: here any will do."""

    def _put_aside(self, call: Any) -> None:
        """Keep what the next call overwrites; numbers that stand alone or in short lists the call has itself."""
        call.saved = self.inputs.tobytes()
        if self.slots:
            call.saved_indices = self.runner.indices.copy()

    def _write_indices(self, numbers: Any) -> None:
        if numbers.pieces and not self.shapes and self._read_indices(numbers):
            return
        plain, bounds = numbers.in_order() if numbers.pieces else numbers.plain, self.recorded.bounds
        chosen: Any
        if self.all_chosen:
            chosen = plain
        elif self.shapes:
            chosen = [plain[i] if i < len(plain) else self._element(numbers, i) for i in self.slots]
        else:
            chosen = self.chosen(plain)
        try:
            self.write_chosen(*chosen)
            if max(chosen) < self.least or all(map(lt, chosen, bounds)):
                return
        except (struct.error, TypeError):
            pass
        self.runner.indices[: len(chosen)] = [
            checked_index(index, bound) for index, bound in zip(chosen, bounds, strict=True)
        ]

    def _read_indices(self, numbers: Any) -> bool:
        """Write indices that stand in long lists; False if some are no ints, or out of range."""
        if self.indexing is None:
            classes, most = np.zeros(self.ends[0], np.int64), np.array(self.recorded.bounds, float) - 1.0
            classes[self.slots] = id(int)
            reader = NumberReader(np.zeros(self.ends[0]), classes, np.full(self.ends[0], -1.0))
            self.indexing = reader, slice(None) if self.all_chosen else np.array(self.slots), most
        reader, slots, most = self.indexing
        if self._unread(reader, numbers):
            return False
        chosen = reader.numbers[slots]
        if chosen.min() < 0.0 or (chosen > most).any():
            return False
        self.runner.indices[: len(chosen)] = chosen
        return True

    def _element(self, numbers: Any, i: int) -> Any:
        """One number of the arrays among the arguments, as the array has it."""
        k = next(k for k, end in enumerate(self.ends[1:]) if i < end)
        return numbers.arrays[k].ravel()[i - self.ends[k]]

    def _bind(self, store: Store) -> None:
        if self.last is not None and self.borrows and self.last.saved is None:
            self._put_aside(self.last)
        self.last = None
        self.runner = Runner(self.prepared, *self.stretch.arrays())
        self.outputs, self.seeds = self.runner.outputs[: self.recorded.given], self.runner.seeds
        self.given, self.seed = self.outputs.data, self.seeds.data  # which are read and set quicker
        self.forward, self.push = self.runner.forward, self.runner.push
        self.inputs = self.runner.inputs.data
        # quicker than with the place at each call, for which Python makes a list first
        self.write = partial(self.packed.pack_into, self.inputs, 0)
        self.write_chosen = partial(self.indexed.pack_into, self.runner.indices.data, 0)
        self.reader = None
        self.views = [
            self.runner.inputs[start:end].reshape(shape)
            for (start, end), shape in zip(pairwise(self.ends), self.shapes, strict=True)
        ]
        if type(self) is BoundTrace and self.alone:
            self.run = self._quick_run(store)  # type: ignore[method-assign, assignment]
        if self.one_by_one and self.alone and not self.input_grads:
            self.backward = self._quick_backward(store)  # type: ignore[method-assign]
        self.values = store.values  # at the end: what Ctrl-C breaks off is done anew

    def _quick_run(self, store: Store) -> Callable[[Any], Any]:
        """As `run`, for one result, with all that it needs at hand."""
        stretch, tensors, values, views = self.stretch, store.tensors, store.values, self.views
        forward, given, keep, lone_tensor = self.forward, self.given, self.inputs.tobytes, self.lone_tensor
        acquire, release = store.lock.acquire, store.lock.release
        arrays_alone, borrows, slots, indices = self.arrays_alone, self.borrows, self.slots, self.runner.indices
        write, write_chosen, least = self._write_numbers, self.write_chosen, self.least
        short = self.all_chosen and bool(slots) and not self.plain and not borrows  # there are a few indices alone
        fetch: Any = None  # copies the numbers of arrays that came twice in a row, …
        answer: Any = None  # … and says whether it did
        self.familiar = ()

        def run(call: Any) -> Any:
            nonlocal fetch, answer
            if stretch.store is not store:
                return BoundTrace.run(self, call)
            acquire()
            try:
                if store.owns and store.values is values and not tensors.lent:
                    last = self.last
                    if borrows and last is not None and last.saved is None and getrefcount(last) > ALONE:
                        last.saved = keep()
                        if slots:
                            last.saved_indices = indices.copy()
                    self.last = None  # until the numbers are there
                    if short:
                        chosen = call.plain
                        try:
                            write_chosen(*chosen)
                            fit = max(chosen) < least
                        except (struct.error, TypeError):
                            fit = False
                        if not fit:
                            write(call)
                    elif not arrays_alone:
                        write(call)
                    elif (arrays := call.arrays) is self.familiar:
                        fetch()
                        if not answer[0]:  # one has another shape now
                            self.familiar = ()
                            raise Misjudged
                    else:
                        self._check(call)
                        for view, array in zip(views, arrays, strict=True):
                            view[...] = array
                        self.familiar = ()
                        if last is not None and last.arrays[0] is arrays[0] and all(map(is_, last.arrays, arrays)):
                            fetch, answer = fetching(arrays, self.runner.inputs, self.ends) or (None, None)
                            self.familiar = arrays if fetch is not None else ()
                    forward()
                    self.calls += 1
                    call.trace = self
                    call.version = version = store.version
                    version.waiting += 1
                    self.last = call
                    if lone_tensor is not None:
                        return lone_tensor(call, given[0])
                    out = _blank_result()
                    out._call = call
                    out._position = 0
                    out._data = given[0]
                    out._grad = 0.0
                    return out
            finally:
                release()
            return BoundTrace.run(self, call)

        return run

    def _quick_backward(self, store: Store) -> Callable[..., None]:
        """As `backward`, from the one result of the latest call, with all that it needs at hand."""
        stretch, values, seed = self.stretch, store.values, self.seed
        push, push_quickly, strange, mend = self.push, self.runner.push_quickly, self.runner.strange, self.runner.mend
        acquire, release = store.lock.acquire, store.lock.release

        def backward(call: Any, position: int, gradient: Any, in_walk: bool = False) -> None:
            if self.last is call and not in_walk and stretch.store is store:
                acquire()
                try:
                    version = call.version
                    if (
                        self.last is call
                        and store.version is version
                        and store.owns
                        and store.values is values
                        and not store.hooked
                    ):
                        seed[0] = gradient
                        if store.zeroed:
                            store.zeroed = False
                            push_quickly()
                            if strange[0]:
                                mend(0.0)
                        else:
                            push()
                        if not call.walked:
                            call.walked = True
                            version.waiting -= 1
                        return
                finally:
                    release()
            BoundTrace.backward(self, call, position, gradient, in_walk)

        return backward

    # --- backward ------------------------------------------------------------------------------------------------

    def backward(self, call: Any, position: int, gradient: Any, in_walk: bool = False) -> None:
        """Walk back from one of a call's results.

        Hooks are for an ordinary walk to call, once for all that it brings to a parameter: if there are some, and this
        is not a part of one (`in_walk`), it raises `LeftToWalk` and has changed nothing.
        """
        store = self.stretch.store
        lock = store.lock
        lock.acquire()
        try:
            version = call.version
            visiting = False
            if not store.owns:
                visiting = store.can_be_added_out(version)
                if visiting:
                    store.grads.fill(0.0)
                else:
                    store.take()
            if in_walk:
                reverse.if_broken_off(store.with_gradients_of_now())
            elif self.hooked_parameters(position):
                raise LeftToWalk
            if store.version is not version:
                with store.as_of(version):
                    self._forward(store, call, call)
                    self._walk_back(store, call, position, gradient)
                    self.last = None
                return
            if self.last is not call or self.values is not store.values:
                self._forward(store, call, call)
                self.last = call
            self._walk_back(store, call, position, gradient)
            if visiting:
                store.add_out()
            if (self.alone or self.once) and not call.walked:
                call.walked = True
                version.waiting -= 1
        finally:
            lock.release()

    def hooked_parameters(self, position: Any) -> list[Any]:
        """The parameters with hooks that gradient comes to from a result."""
        store, parameters = self.stretch.store, self.recorded.parameters
        if not store.hooked if store.owns else are_plain_leaves(parameters):
            return []
        hooked = [i for i, p in enumerate(parameters) if p.hooks]
        reached = self._reached(position) if hooked else []
        return [parameters[i] for i in hooked if reached[i]]

    def _reached(self, position: Any) -> list[bool]:
        """For each parameter, whether gradient can come to it from a result."""
        tape, parameters = self.recorded.tape, self.recorded.parameters
        outputs = np.atleast_1d(tape.outputs[position])
        key = outputs.tobytes()
        if key not in self.reached_from:
            numbers = nodes_reached(tape, outputs)
            ends = [*accumulate([p.array.size if p.many else 1 for p in parameters], initial=0)]
            self.reached_from[key] = [bool(numbers[start:end].any()) for start, end in pairwise(ends)]
        return self.reached_from[key]

    def leads_through(self, position: Any, other: Any) -> bool:
        """Whether gradient from one result can come to another on its way; which is not kept there."""
        tape = self.recorded.tape
        outputs, others = np.atleast_1d(tape.outputs[position]), np.atleast_1d(tape.outputs[other])
        if np.array_equal(np.unique(outputs), np.unique(others)):
            return False
        return bool(nodes_reached(tape, outputs)[others].any())

    def seeds_for(self, position: Any, gradient: Any) -> tuple[Any, Any]:
        """Which outputs a walk from a tensor starts at, and with what; one that stands in it twice gets the sum."""
        if gradient.__class__ is float:
            return position, gradient
        if position.__class__ is int:
            return position, float(gradient)
        if isinstance(position, slice):
            return position, gradient.ravel()
        once, at = np.unique(position, return_inverse=True)
        return once, np.bincount(at.ravel(), weights=gradient.ravel(), minlength=len(once))

    def _walk_back(self, store: Store, call: Any, position: int, gradient: Any) -> None:
        """Add to the gradients."""
        store.zeroed = False
        self.seeds[position] = gradient
        if self.alone:
            self.push()
        else:
            note_walk(call, position)
            try:
                self.runner.backward()
            finally:
                self.seeds[position] = 0.0
        if self.input_grads:
            call.input_grads = self.runner.input_grads.copy()

    def argument_grads(self, call: Any) -> dict[str, Any]:
        """The gradients of arguments, each in the structure of its argument."""
        grads = call.input_grads

        def gradient(x: Any) -> Any:
            if not isinstance(x, InputAt):
                return x
            if x.shape is None:
                return float(grads[x.position])
            return grads[x.position : x.position + math.prod(x.shape)].reshape(x.shape).copy()

        return {name: tree.map(gradient, argument) for name, argument in self.wrt.items()}

    def bytes(self) -> int:
        """How much memory the trace takes, tape and program and numbers together."""
        return self.prepared.tape.bytes() + self.prepared.program.bytes


def _leaf(labels: dict[int, str], position: int, x: Any) -> Any:
    return Value(x, label=labels.get(position, "")) if x.__class__ is float else x


def _types_of(numbers: Any) -> int:
    """The types of all arguments, as a number that is another one for others."""
    return hash((*map(type, numbers.plain), *[array.dtype for array in numbers.arrays]))
