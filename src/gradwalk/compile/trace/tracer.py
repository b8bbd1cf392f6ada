"""Tracing: run a function once with stand-ins for its arguments, and write every op down.

The function may reach Values by itself (a model's parameters): a leaf that is met is a parameter, and keeps its place
in the buffer; a leaf that was made inside the function, and that nobody can reach when it ends, was a constant.
"""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from gradwalk import functions, modes, tree
from gradwalk.compile.trace.answers import Answers
from gradwalk.compile.trace.arrays import traced_array
from gradwalk.compile.trace.kinds import is_narrow
from gradwalk.compile.trace.limits import ELSEWHERE, WALK, Unfollowable, limit
from gradwalk.compile.trace.plain import Number, plain_classes
from gradwalk.compile.trace.reach import values_reached_from
from gradwalk.compile.trace.recorded import Recorded, finished
from gradwalk.compile.trace.tape import INPUTS, MAX, MIN, NONE, ROWS, SHIFT, TAKE
from gradwalk.compile.trace.traced import Traced, traced_classes
from gradwalk.engine import Value
from gradwalk.errors import TraceError
from gradwalk.functions import checked_index
from gradwalk.ops import Op, wrong_count
from gradwalk.provenance import users_place
from gradwalk.turns import Turn

__all__ = ["Tracer", "one_at_a_time", "trace"]

MANY = {"max": MAX, "min": MIN}


class Tracer(Answers, modes.Interpreter):
    """The interpreter that writes ops down instead of computing them.

    >>> print(trace(lambda x: (x * 2.0).tanh(), [0.5]).tape)
    x0 = input
    n0 = mul(x0, 2)
    n1 = tanh(n0)
    gives n1
    """

    every_op = True
    knows_numbers = False
    records: bool | None = True  # also under a `no_grad()` around it, which later calls know nothing of

    def __init__(self, *, samples: bool = False, by_array: bool = False) -> None:
        super().__init__(samples=samples)
        self.by_array = by_array  # whether ops on tensors are written down array by array, and not number by number
        self.touched = False  # whether the function changed what it was given
        self.outside: frozenset[int] = frozenset()  # containers that were there before, by their id()
        self.labels: dict[int, str] = {}  # that Values were given, by their rows
        self.aside = ("", "")  # what the function did beside computing, in words, and what to do instead
        self.refusal: TraceError | None = None  # the first thing that was refused, should the function swallow it
        self.running = False  # whether tensors take their arrays from us
        self.containers: set[int] = set()  # lists and the like that the function is given, by id()
        self.wrt = False  # whether gradients of plain arguments are wanted, which then have the methods of Values
        self.silent: list[tuple[int, int, int]] = []  # rows that pass on no gradient: from, to, and where aux was then
        self.made: dict[int, Any] = {}  # Values that the function makes by their constructor, by id()
        self.settled: dict[int, float] = {}  # the numbers of such, by their place among the parameters, before others
        self.flowing: set[int] = set()  # inputs that gradient flows to: Values, and numbers of tensors
        self.reached: set[int] | None = None  # tensors that can be seen from outside, by id()
        self.unused_tensors: dict[int, int] = {}  # parameters no row has read yet: where they begin, how many
        self.weighted_sum: Callable[[list[Any], list[Any], Any], Any]  # write the rows of a neuron
        self.Result, self.end = traced_classes(self, self.rows, ROWS)
        self.Number, self.Condition, self.Cell = plain_classes(self)
        self.own = {self.Result, self.Number, self.Condition, self.Cell}

    # --- tensors -------------------------------------------------------------------------------------------------

    @cached_property
    def tensors(self) -> Any:
        """What is done with tensors, from the first one on that is met.

        >>> Tracer().tensors.met
        {}
        """
        from gradwalk.compile.trace.tensors import Tensors  # which few functions need
        from gradwalk.compile.trace.whole_tensors import WholeTensors

        found = WholeTensors(self) if self.by_array else Tensors(self)
        vars(self)["tensors"] = found  # before it begins, so that whoever ends the trace ends it, too
        if self.running:
            found.begin()
        return found

    @property
    def blocks(self) -> Any:
        """What provides arrays of numbers that come later.

        >>> Tracer().blocks.name
        'numpy'
        """
        return self.tensors.blocks

    # --- what stands for numbers ---------------------------------------------------------------------------------

    def input(self, given: Any, *, value: bool = False) -> Any:
        """A stand-in for the next number among the arguments, which for the function is a plain one or a Value.

        >>> Tracer().input(3.0, value=True).data
        3.0
        """
        out = object.__new__(self.Result if value else self.Number)
        out._row = INPUTS + self.inputs
        if value:
            if is_narrow(type(given)):
                raise Unfollowable(
                    f"{{function}} is given a Value that holds a {type(given).__name__} of NumPy's, and computes in it",
                    "make it a float, as in x.data = float(x.data)",
                )
            self.flowing.add(out._row)
        else:
            out._kind = type(given)
            if not issubclass(out._kind, (int, float, np.generic)) and not self.samples and not self.wrt:
                raise Unfollowable(
                    f"{{function}} is given a {type(given).__name__}, and computes in it",
                    "make it a float before the call, as in float(x)",
                )
        self.given.append(given)
        self.inputs += 1
        return out

    def inputs_like(self, array: Any) -> Any:
        """An array of stand-ins of the same shape.

        >>> import numpy as np
        >>> Tracer().inputs_like(np.zeros((2, 3))).shape
        (2, 3)
        """
        if self.by_array:
            return self.tensors.array_argument(array)
        if self.reached:  # there are tensors, which need not be taken apart
            self.blocks.make_room(array.size)
        return traced_array([self.input(x) for x in array.ravel()]).reshape(array.shape)

    # --- what Values mean meanwhile ------------------------------------------------------------------------------

    def leaf(self, v: Any, data: Any) -> None:
        """A Value that the function makes: of a number, or of an argument, which it then stands for.

        >>> trace(lambda x: Value(x) * 2.0, [3.0]).tape.rows
        1
        """
        if v.many:
            self.tensors.leaf(v, data)
            return
        if isinstance(data, Number):
            self.known[id(v)] = self.operand(data)
            v._data = data
        else:
            super().leaf(v, data)
        self.made[id(v)] = v

    def read(self, v: Any, field: str, number: Any) -> Any:
        """The number of a parameter is one of the trace; a gradient that is read is the same in every call."""
        if v.many:
            return self.tensors.read(v, field, number)
        if field == "data" and (v.is_leaf or isinstance(number, Number)):
            return number if id(v) in self.made and not isinstance(number, Number) else self.data_of(v)
        self._say_frozen(v, f"{'number of a node' if field == 'data' else 'gradient of a parameter'} was read")
        return number

    def write(self, v: Any, field: str, number: Any) -> Any:
        """A number that is set is set once; that is said. What the function made by itself it sets anew each time."""
        if v.many:
            return self.tensors.write(v, field, number)
        if field == "data" and id(v) in self.made:
            met = self.known.pop(id(v), None)
            if met is not None and met < INPUTS:
                self.settled[met] = v._data
            if isinstance(number, Number):
                self.known[id(v)] = self.operand(number)
            return number
        if isinstance(number, Traced):
            raise limit("set")
        self._say_frozen(v, f"{'number' if field == 'data' else 'gradient'} of a parameter was set")
        return number

    def _say_frozen(self, v: Any, what: str) -> None:
        if id(v) not in self.made:
            self.note(f"the {what}", WALK if "gradient" in what else ELSEWHERE)

    def note(self, what: str, remedy: str) -> None:
        """Remember the first thing that the function did which a replay would not do again.

        >>> tracer = Tracer()
        >>> tracer.note("a label was read", "pass it as an argument")
        >>> tracer.aside[1]
        'pass it as an argument'
        """
        if not self.aside[0]:
            self.aside = f"{what} ({users_place()})", remedy

    # --- ops -----------------------------------------------------------------------------------------------------

    def apply(self, op: Op, operands: tuple[Any, ...]) -> Any:
        """Write down any op on any operands.

        >>> trace(lambda x: ops.clamp(x, 0.0, 1.0), [3.0]).tape.operands(0)
        [0, -1, -2]
        """
        for x in operands:
            if getattr(type(x), "many", False):
                return self.tensors.apply(op, operands)
        if not isinstance(op, Op):  # Tensor.of, which takes Values
            return self.tensors.apply(op, operands)
        if len(operands) != op.arity:
            raise wrong_count(op, len(operands))
        if functions.is_extreme(op):
            return self.many(op.name, operands)
        take_in = self.factor if op.name == "mul" else self.operand
        ids = [take_in(x) for x in operands]
        a, b = (self.listed(ids), len(ids)) if len(ids) > 2 else (ids[0], ids[1] if len(ids) == 2 else NONE)
        return self._made_of(operands, self.code(op), a, b)

    def many(self, name: str, values: Sequence[Any]) -> Any:
        """Write down the largest (max) or smallest (min) of a list.

        >>> print(str(trace(lambda x, y: gradwalk.max([x, y]), [1.0, 2.0]).tape).splitlines()[2])
        n0 = max(x0, x1)
        """
        ids = [self.operand(x) for x in values]
        return self._made_of(values, MANY[name], self.listed(ids), len(ids))

    def _made_of(self, operands: Sequence[Any], code: int, a: int, b: int) -> Any:
        """A row whose result is a Value if an operand is one, else a plain number."""
        if any(issubclass(type(x), Value) for x in operands):
            return self.record(code, a, b)
        return self.plain(code, a, b, float)

    def take(self, table: Any, index: Any) -> Any:
        """Write down the choice of one entry of a table; of a row, that of each of its numbers.

        >>> table = [Value(1.0), Value(2.0)]
        >>> trace(lambda i: gradwalk.take(table, i), [1]).tape.indices
        1
        """
        entries = list(table)
        if not isinstance(index, Traced):
            return entries[checked_index(index, len(entries))]
        if not isinstance(index, self.Number):
            raise limit("escaped")
        if not entries:
            raise TraceError("gradwalk.take was given an empty table")
        if index._row >= ROWS:
            return entries[checked_index(self.told(index), len(entries))]
        if not self.samples and not 0 <= self.given[index._row - INPUTS] < len(entries):
            return entries[checked_index(self.told(index), len(entries))]
        return self._taken(entries, self.slot(index._row, len(entries)))

    def _taken(self, entries: list[Any], slot: int) -> Any:
        first = entries[0]
        if isinstance(first, (list, tuple)):
            if any(len(row) != len(first) for row in entries):
                sizes = sorted({len(row) for row in entries})
                raise TraceError(f"gradwalk.take was given a table of rows of {sizes} numbers; all must be as long")
            return [self._taken(list(column), slot) for column in zip(*entries, strict=True)]
        ids = tuple(self.operand(x) for x in entries)
        return self._made_of(entries, TAKE, self.header(ids, slot), 3)

    def detach(self, v: Any) -> Any:
        """Write down a copy that passes on no gradient.

        >>> print(trace(lambda x: (x * 2.0).detach(), [1.0]).tape)
        x0 = input
        n0 = mul(x0, 2)
        n1 = shift(n0)
        gives n1
        """
        if getattr(v, "many", False):
            return self.tensors.detach(v)
        row = self.operand(v)
        if row == ROWS + len(self.rows) // 3 - 1 and self.rows[-3] == MAX:  # the largest of a list, just written down:
            return self.record(SHIFT, *self.rows[-2:])  # of the same list, since nobody else may want the first
        return self.record(SHIFT, self.listed([row]), 1)

    def backward(self, root: Any, walk: Callable[[], None]) -> None:
        """Refused for tensors, whose numbers a walk would take for those of this call alone."""
        if root.many:
            raise limit("grad")
        super().backward(root, walk)

    @contextmanager
    def no_grad(self) -> Iterator[None]:
        """What `no_grad()` does here: rows are written as ever, and later ones see copies of them.

        >>> def f(x):
        ...     with gradwalk.no_grad():
        ...         y = x * 2.0
        ...     return y + x
        >>> print(trace(f, [1.0]).tape)
        x0 = input
        n0 = mul(x0, 2)
        n1 = shift(n0)
        n2 = add(n1, x0)
        gives n2
        """
        begins, around = len(self.rows) // 3, self.records
        try:
            if self.by_array:
                with super().no_grad():
                    yield
            else:
                self.records = False
                yield
        finally:
            self.records = around
            ends = len(self.rows) // 3
            for row in range(begins, ends):
                self.record(SHIFT, self.listed([ROWS + row]), 1)
            self.silent.append((begins, ends, len(self.aux)))
            self.tables.clear()  # a table of the numbers before is not one of their copies

    @contextmanager
    def on_its_own(self) -> Iterator[None]:
        """A block in which a `no_grad()` around the trace is no part of it, where the graph of arrays is kept.

        >>> with Tracer().on_its_own():
        ...     pass
        """
        below = vars(self).get("below")
        if self.by_array:
            self.below = modes.bottom
        try:
            yield
        finally:
            if below is not None:
                self.below = below

    def call(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """What the function gives for stand-ins, with a note of whether it changed any list, dict or array of them.

        >>> tracer = Tracer()
        >>> tracer.call(lambda xs: xs.pop(), [[1.0, 2.0]], {}), tracer.touched
        (2.0, True)
        """
        structure, parts = _parts_of((args, kwargs))
        self.containers = _containers_in([*args, *kwargs.values()])
        out = fn(*args, **kwargs)
        structure_now, parts_now = _parts_of((args, kwargs))
        self.touched = structure != structure_now or any(map(operator.is_not, parts, parts_now))
        return out


def trace(fn: Callable[..., Any], arguments: Sequence[Any]) -> Recorded:
    """Trace `fn` on plain numbers as arguments; for structured ones see `arguments.py`.

    >>> trace(lambda x, y: x * y, [1.0, 2.0]).tape.inputs
    2
    """
    return run(lambda tracer: fn(*(tracer.input(x) for x in arguments)), [fn])


one_at_a_time = Turn()  # traces, for which arrays come from elsewhere, in all threads


def run(
    call: Callable[[Tracer], Any],
    roots: Sequence[Any],
    values: Sequence[Value] | None = None,
    tensors: Sequence[Any] | None = None,
    outside: frozenset[int] = frozenset(),
    *,
    samples: bool = False,
    by_array: bool = False,
    truths_asked: bool = False,
) -> Recorded:
    """Trace what `call` does with a tracer; `roots` are where the Values that it may reach are, if it is not known.

    What is `outside`, by its id(), is given as it is if the function gives it. With `samples`, the trace is to serve
    many samples at once; with `by_array`, tensors are written array by array. `truths_asked`: see `Tracer`.
    """
    began = time.perf_counter()
    tracer = Tracer(samples=samples, by_array=by_array)
    tracer.outside, tracer.truths_asked = outside, truths_asked
    with one_at_a_time:
        if tensors is not None:
            tracer.reached = {id(v) for v in tensors}
        tracer.running = True
        try:
            if "gradwalk.tensor" in sys.modules:  # else from the first tensor on
                tracer.tensors  # noqa: B018
            for v in values_reached_from(roots) if values is None else values:
                v.data  # noqa: B018 (of one that compiled code has, the number is handed back)
            with modes.entered(tracer), tracer.on_its_own():
                result = _called(call, tracer)
            recorded = finished(tracer, result, roots)
        finally:
            try:
                _over(tracer)
            except BaseException:  # Ctrl-C was heard just now, and is heard once
                _over(tracer)
                raise
    recorded.seconds = time.perf_counter() - began
    return recorded


def _over(tracer: Tracer) -> None:
    if "tensors" in vars(tracer):
        tracer.tensors.end()
    tracer.end()


def _parts_of(given: Any) -> tuple[Any, list[Any]]:
    """What arguments are made of: their structure, and their leaves, those in arrays of stand-ins too."""
    leaves, structure = tree.flatten(given)
    arrays = [isinstance(x, np.ndarray) and x.dtype == object for x in leaves]
    held = [x.ravel().view(np.ndarray).tolist() if is_one else (x,) for x, is_one in zip(leaves, arrays, strict=True)]
    shapes = [x.shape for x, is_one in zip(leaves, arrays, strict=True) if is_one]
    return (structure, shapes), list(chain.from_iterable(held))


def _containers_in(things: list[Any]) -> set[int]:
    """Lists and the like among things, and in those, at any depth: the id() of each."""
    found: set[int] = set()
    ahead = things[:]
    while ahead:
        x = ahead.pop()
        kind = type(x)  # and not isinstance, which asks what a stand-in stands for
        if issubclass(kind, (list, tuple, dict, set, np.ndarray)) and id(x) not in found:
            found.add(id(x))
            if not issubclass(kind, np.ndarray):
                ahead += x.values() if issubclass(kind, dict) else x
    return found


def _called(call: Callable[[Tracer], Any], tracer: Tracer) -> Any:
    """What the function gives; what was refused stays refused, though the function may have caught the error."""
    try:
        result = call(tracer)
    except Exception as error:
        if tracer.refusal is None or error is tracer.refusal:
            error.args = tuple([tracer.told(x) if isinstance(x, Number) else x for x in error.args])
            raise
        raise tracer.refusal from error
    if tracer.refusal is not None:
        raise tracer.refusal
    return result
