"""A trace of arrays, each taken as a whole, bound to memory: what large tensors, and those of float32, are replayed by.

It is used as any trace of one path is. Numbers that the function read of its arrays are inputs of the scalar tape;
guards are asked in plain arithmetic, and NumPy computes as it does for the function itself, so no answer is near.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwalk import reverse, tree
from gradwalk.compile.array_runner import JUMPING, ArrayRunner
from gradwalk.compile.call.guarded_trace import Elsewhere, GuardedTrace
from gradwalk.compile.call.results import note_walk
from gradwalk.compile.call.tensor_results import known_tensor, whole_tensor
from gradwalk.compile.own.store import Store
from gradwalk.compile.trace.array_tape import ArrayTape, At, NumberAt, each_at, replaced
from gradwalk.compile.trace.guards import Finished, numbers_at, typed
from gradwalk.compile.trace.recorded import Kept, Output, TensorOutput
from gradwalk.compile.trace.tracer import one_at_a_time
from gradwalk.compile.trace.whole_tensors import WayBack, WholeTensors
from gradwalk.engine import Value
from gradwalk.errors import TraceError
from gradwalk.tensor import numpy_arrays, reach
from gradwalk.tensor.backward import plain_order
from gradwalk.tensor.core import constant
from gradwalk.tensor.entries import Index

__all__ = ["WholeTrace"]


class Steps(NamedTuple):
    """What a walk back does: with gradients to be added, or with those of some leaves in their place already."""

    way: WayBack
    added: list[Any]
    direct: list[Any]
    in_place: frozenset[int]  # these leaves, by their id()


class WholeTrace(GuardedTrace):
    """One trace of a function whose tensors are computed with array by array.

    >>> w = gradwalk.Tensor([1.0, 2.0], dtype="float32")
    >>> f = gradwalk.compile(lambda x: (w * x).sum())
    >>> f(3.0).backward()
    >>> f(4.0), w.grad, len(f.traces())
    (Tensor(12.0, dtype='float32'), Tensor([3.0, 3.0], dtype='float32'), 1)
    """

    one_by_one = False
    arrays: ArrayTape
    graph: WholeTensors

    def _prepare(self, numbers: Any, batch: str | None) -> bool:
        self.arrays, self.graph = self.recorded.arrays, self.recorded.graph  # type: ignore[assignment]
        self.ways: dict[int, Steps] = {}  # back from each result
        given = [x for x in tree.flatten(self.recorded.result, _is_result)[0] if isinstance(x, Output)]
        flowing = [x for x in given if not isinstance(x, TensorOutput) or (x.flows and not x.leaf)]
        #: Whether there is one result to walk back from, and after that none.
        self.once = len(flowing) == 1 and isinstance(flowing[0], TensorOutput)
        return True

    def _lay_out(self, numbers: Any) -> None:
        super()._lay_out(numbers)
        self.leaves, self.structure = tree.flatten(self.recorded.result, _is_result)
        # What the replay computes: what is given, what was read, and what a walk back may need.
        rows = [*self.arrays.outputs, *[row for row, _ in self.arrays.late]]
        for x in self.graph.results:
            if x._flows:
                for v in (plain_order(x) or ([],))[0]:
                    rows += [part._data.row for part in (v, *v._inputs) if _comes_later(part)]
                    rows += [at.row for at in each_at(_settings_of(v))]
        self.needed = self.arrays.needed(rows)
        self.inputs_at = [(i, self.arrays.rows[i].given[0]) for i in self.needed if self.arrays.rows[i].word == "input"]

    def _lone_tensor(self) -> Any:
        return None

    # --- forward -----------------------------------------------------------------------------------------------------

    def _bind(self, store: Store) -> None:
        if self.last is not None and self.last.saved is None:
            self._put_aside(self.last)
        self.last = None
        values, grads = self.stretch.arrays()
        places = [store.tensors.places[id(p)] for p in self.recorded.parameters]
        shapes = [self.arrays.rows[x._data.row].shape for x in self.graph.met.values()]
        views = [
            [
                array[at.start - self.stretch.start : at.stop - self.stretch.start].reshape(shape)
                for array in (values, grads)
            ]
            for at, shape in zip(places, shapes, strict=True)
        ]
        self.grads = {id(x): grad for x, (_, grad) in zip(self.graph.met.values(), views, strict=True)}
        turning = [i for i in self.needed if self.arrays.rows[i].word in JUMPING]
        exact = self.arrays.needed([*turning, *[row for row, _ in self.arrays.late]])
        self.runner: Any = ArrayRunner([value for value, _ in views], self._number, exact)
        self.steps = list(self.runner.bind(self.arrays.rows, self.needed, self.arrays.constants).values())
        self.buffers = [(self.runner.arrays[i], k) for i, k in self.inputs_at]
        self.ways.clear()
        self.values = store.values  # at the end: what Ctrl-C breaks off is done anew

    def _forward(self, store: Store, numbers: Any, again: Any = None) -> None:
        sure, self.traced_with = numbers is self.traced_with, None
        if again is None and not sure:
            self._check_types(numbers.in_order(), 0)
        if store.owns and store.tensors.lent:
            store.look_at_lent()
        if self.values is not store.values:
            self._bind(store)
        if again is not None and again is not self.last and again.saved is None and self.buffers:
            raise TraceError(
                "the function was called again since this result was walked back, and the arrays that it was given are "
                "not kept any longer; call it again with them"
            )
        last = self.last
        if last is not None and last.saved is None and (last is again or not last.walked):
            self._put_aside(last)
        self.last = None
        is_kept = again is not None and again.saved is not None
        arrays, self.plain_now = again.saved if is_kept else (numbers.arrays, numbers.in_order())
        for buffer, k in self.buffers:
            buffer[...] = arrays[k]
        self.known: dict[int, float] = {}  # numbers of the scalar tape that were computed
        try:
            self.runner.run(self.steps)
        except Exception:  # numbers that take another path may not do on this one, as an index that is out of range
            self._check_guards()
            raise
        if again is None and not sure:
            self._check_guards()

    def _put_aside(self, call: Any) -> None:
        saved = list(call.arrays)
        for buffer, k in self.buffers:
            saved[k] = buffer.copy()
        call.saved = saved, self.plain_now

    def __getitem__(self, i: int) -> Any:
        """A plain number among the arguments, or one that was read of an array."""
        if i < len(self.plain_now):
            return self.plain_now[i]
        row, at = self.arrays.late[i - len(self.plain_now)]
        return self.runner.arrays[row].item(at)

    def _number(self, x: NumberAt) -> Any:
        return typed(x.kind, self._numbers((x.node,))[0])

    def _numbers(self, nodes: Any) -> list[float]:
        return numbers_at(nodes, self.known, Finished(self.recorded.tape, (), self, ()))

    def _check_guards(self) -> None:
        constants, inputs = self.recorded.tape.constants, self.recorded.tape.inputs
        for at, guard in enumerate(self.guards):
            if guard.is_comparison and max(guard.operands) < inputs:  # as most are, and there is nothing to compute
                x, y = (self[node] if node >= 0 else constants.item(~node) for node in guard.operands)
                answer = guard.question(x, y)
            else:
                answer = guard.asked(self._numbers(guard.operands))
            if answer != guard.answer:
                raise Elsewhere(at, answer)

    def _results(self, call: Any) -> Any:
        leaves = self.leaves.copy()
        for i, x in enumerate(leaves):
            if isinstance(x, TensorOutput):
                if x.known is not None:
                    leaves[i] = known_tensor(x, call)
                else:
                    array = self.runner.arrays[self.arrays.outputs[x.position]]
                    leaves[i] = whole_tensor(x, array.copy(), call)
            elif isinstance(x, Output):
                node = int(self.recorded.tape.outputs[x.position])
                number = self._numbers((node,))[0]
                leaves[i] = Value(number) if x.plain is None else typed(x.plain, number)
            elif type(x) is Kept:
                leaves[i] = x.thing
            elif tree.is_block(x):
                leaves[i] = x.copy()
        return self.structure.unflatten(leaves)

    # --- backward ----------------------------------------------------------------------------------------------------

    def backward(self, call: Any, position: int, gradient: Any, in_walk: bool = False) -> None:
        """Walk back from one of a call's results."""
        if position in self.ways and self.values is self.stretch.store.values:
            super().backward(call, position, gradient, in_walk)
            return
        with one_at_a_time:  # whoever traces waits for the store's lock, and so may not have this one
            super().backward(call, position, gradient, in_walk)

    def _reached(self, position: Any) -> list[bool]:
        return [True] * len(self.recorded.parameters)

    def leads_through(self, position: Any, other: Any) -> bool:
        """Whether gradient from one result can come to another on its way."""
        root, inner = (self.graph.results[at if at.__class__ is int else at[0]] for at in (position, other))
        return root is not inner and any(v is inner for v in (plain_order(root) or ([],))[0])

    def seeds_for(self, position: Any, gradient: Any) -> tuple[Any, Any]:
        """Which result a walk starts at, and with what."""
        return (position if position.__class__ is int else position[0]), gradient

    def _walk_back(self, store: Store, call: Any, position: int, gradient: Any) -> None:
        if position not in self.ways:
            self._write_way_back(position)
        way, added, direct, in_place = self.ways[position]
        in_place = in_place if store.zeroed else frozenset()
        store.zeroed = False
        note_walk(call, position)
        arrays = self.runner.arrays
        arrays[way.seed][...] = gradient
        self.runner.run(direct if in_place else added)
        found = {leaf: self.grads[leaf] if leaf in in_place else arrays[row] for leaf, row in way.gradients.items()}
        if way.cuts and numpy_arrays.have_nan(list(found.values())):
            for leaf in in_place:
                self.grads[leaf].fill(0.0)
            found, in_place = self._carefully(way, gradient), frozenset()
        added = [(self.grads[x], share) for x, share in found.items() if x in self.grads and x not in in_place]
        if added:
            numpy_arrays.quietly(_add, added)
        if self.passes_on:
            call.input_grads = np.zeros(self.ends[-1])
            for leaf, share in found.items():
                k = self.graph.arguments.get(leaf)
                if k is not None:
                    call.input_grads[self.ends[k] : self.ends[k + 1]] = share.ravel()

    def _write_way_back(self, position: int) -> None:
        way = self.graph.written_back(position, self.runner.arrays)
        rows, leaves = self.graph.blocks.rows, {*self.grads, *(self.graph.arguments if self.passes_on else ())}
        wanted = {leaf: row for leaf, row in way.gradients.items() if leaf in leaves}
        way = way._replace(gradients=wanted)
        tape = ArrayTape(rows, [])
        self.runner.arrays += [None] * (len(rows) - len(self.runner.arrays))
        needed = tape.needed([way.seed, *wanted.values()])
        steps = self.runner.bind(rows, needed, self.graph.blocks.constants)
        # What nothing else is made of can be written where gradients are 0, and need not be added there.
        ends = [*wanted.values(), *[at.row for i in needed for at in each_at(rows[i].given)]]
        places = {
            row: leaf
            for leaf, row in wanted.items()
            if leaf in self.grads and row in steps and ends.count(row) == 1 and not rows[row].layout
        }
        direct = [
            self.runner.into(rows[i], self.grads[places[i]]) if i in places else step for i, step in steps.items()
        ]
        self.ways[position] = Steps(way, list(steps.values()), direct, frozenset(places.values()))

    def _carefully(self, way: WayBack, gradient: Any) -> dict[int, Any]:
        """The same walk on arrays, with nothing passed on from numbers that are cut off."""
        arrays = self.runner.arrays

        def numbers(x: Any) -> Any:
            return arrays[x.row] if isinstance(x, At) else x

        made: dict[int, Any] = {}

        def alive(x: Any) -> Any:
            if x.__class__ is float:
                return x
            if id(x) not in made:
                array = arrays[x._data.row] if _comes_later(x) else x._data
                made[id(x)] = constant(array)
                made[id(x)]._flows = x._flows
            return made[id(x)]

        for v in way.order:
            op = v._kind
            if isinstance(op, Index):
                op = Index(op.basic, replaced(_settings_of(v), numbers))
            alive(v)._kind, alive(v)._inputs = op, tuple(map(alive, v._inputs))
        root = alive(way.order[-1]) if way.order else alive(way.leaves[0])
        seed = np.full(root.shape, gradient, root.dtype)
        with reach.reaching(root):
            found = numpy_arrays.quietly(lambda: reverse.adjoints(root, seed, as_graph=False))
        return {leaf: found[made[leaf]] for leaf in way.gradients if made[leaf] in found}

    def bytes(self) -> int:
        """How much memory the trace takes."""
        arrays = self.runner.arrays if self.values is not None else []
        return sum(x.nbytes for x in arrays if x is not None and x.base is None)


def _add(gradients: list[tuple[Any, Any]]) -> None:
    for grad, share in gradients:
        np.add(grad, share, grad)


def _is_result(x: Any) -> bool:
    return isinstance(x, Output) or bool(tree.is_block(x))


def _comes_later(x: Any) -> bool:
    return hasattr(getattr(x, "_data", None), "row")


def _settings_of(v: Any) -> Any:
    """The arrays that an op has beside its operands: the places of an index."""
    wholes = v._kind.wholes if isinstance(v._kind, Index) else ()
    return tuple([At(part.row) if hasattr(part, "row") else part for part in wholes])
