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
from dataclasses import replace
from functools import cached_property
from itertools import chain
from types import CodeType
from typing import Any

import numpy as np

from gradwalk import functions, modes, tree
from gradwalk.compile.trace.arrays import traced_array
from gradwalk.compile.trace.guards import QUESTIONS, BeingWritten, Guard, numbers_at, same, typed
from gradwalk.compile.trace.identity import is_asked_for_identity
from gradwalk.compile.trace.limits import limit
from gradwalk.compile.trace.plain import BOOLS, WHOLE, Condition, Number, plain_classes
from gradwalk.compile.trace.reach import values_reached_from
from gradwalk.compile.trace.recorded import Recorded, finished
from gradwalk.compile.trace.tape import INPUTS, MAX, MIN, NONE, ROWS, SHIFT, TAKE
from gradwalk.compile.trace.traced import COMPARISONS, IsTensor, Traced, traced_classes
from gradwalk.compile.trace.whole import WIDE, is_too_large, limited, with_large
from gradwalk.engine import Value
from gradwalk.errors import OpError, TraceError
from gradwalk.functions import checked_index
from gradwalk.ops import TABLE, Op, number
from gradwalk.provenance import users_place
from gradwalk.turns import Turn

__all__ = ["Tracer", "one_at_a_time", "trace"]

MANY = {"max": MAX, "min": MIN}


class Tracer(modes.Interpreter):
    """The interpreter that writes ops down instead of computing them.

    >>> print(trace(lambda x: (x * 2.0).tanh(), [0.5]).tape)
    x0 = input
    n0 = mul(x0, 2)
    n1 = tanh(n0)
    gives n1
    """

    every_op = True
    knows_numbers = False

    def __init__(self, *, samples: bool = False, by_array: bool = False) -> None:
        self.samples = samples  # whether the trace is to serve many samples, so that no number can be told
        self.by_array = by_array  # whether ops on tensors are written down array by array, and not number by number
        self.ops: list[Op] = []
        self.codes: dict[int, int] = {}
        self.met: list[Op] = []  # as the user has them; they must live for their id() to mean anything
        self.constants: list[float] = []
        self.places: dict[float, int] = {}  # where a constant stands
        self.parameters: list[Value] = []
        self.known: dict[int, int] = {}  # a parameter's number by its id()
        self.weights: set[int] = set()  # parameters that were first met as factors
        self.rows: list[int] = []
        self.aux: list[int] = []
        self.tables: dict[tuple[int, ...], int] = {}  # where a table begins in aux
        self.headers: list[
            int
        ] = []  # of takes, three numbers each: where the table begins, how long it is, which index
        self.slots: dict[int, int] = {}  # the number of an index by that of its input
        self.indexed: list[int] = []  # … and the other way round
        self.bounds: list[int] = []  # for each index, how long the shortest table is that it chooses from
        self.inputs = 0
        self.given: list[Any] = []  # the numbers of the call at hand, for each input
        self.numbers: dict[int, float] = {}  # what was computed of them, by id
        self.numbering = BeingWritten(self)
        self.guards: dict[Any, Guard] = {}  # what was asked of numbers, and the answers
        self.types: dict[int, type] = {}  # inputs whose types were asked for
        self.ints: dict[int, int] = {}  # inputs that are ints, and computed with as such: how large they may be …
        self.largest: dict[int, int] = {}  # … and how large the results of rows can be then
        self.whole: set[int] = set()  # rows that are ints for the function
        self.read_at: dict[int, int] = {}  # copies of numbers that were read, by what they are copies of
        self.hashes: dict[int, int] = {}  # of stand-ins that were asked for theirs, by their rows
        self.hashed = False  # whether the hash of a stand-in was asked for
        self.touched = False  # whether the function changed what it was given
        self.mixed = False  # whether samples are of several types
        self.outside: frozenset[int] = frozenset()  # containers that were there before, by their id()
        self.aside = ""  # what the function did beside computing, in words
        self.refusal: TraceError | None = None  # the first thing that was refused, should the function swallow it
        self.identity: dict[CodeType, bool] = {}  # code that asks `is True`
        self.running = False  # whether tensors take their arrays from us
        self.ended = False
        self.containers: set[int] = set()  # lists and the like that the function is given, by id()
        self.wrt = False  # whether gradients of plain arguments are wanted, which then have the methods of Values
        self.silent: list[tuple[int, int, int]] = []  # rows that pass on no gradient: from, to, and where aux was then
        self.made: dict[int, Any] = {}  # Values that the function makes by their constructor, by id()
        self.settled: dict[int, float] = {}  # the numbers of such, by their place among the parameters, before others
        self.flowing: set[int] = set()  # inputs that gradient flows to: Values, and numbers of tensors
        self.reached: set[int] | None = None  # tensors that can be seen from outside, by id()
        self.unused_tensors: dict[int, int] = {}  # parameters no row has read yet: where they begin, how many
        self.many_rows: Callable[[list[int]], int]  # write rows, and say which is the first
        self.record: Callable[[int, int, int], Any]  # write a row, for a Value; set with the classes
        self.row: Callable[[int, int, int], int]  # … and for its number alone
        self.weighted_sum: Callable[[list[Any], list[Any], Any], Any]  # … and all rows of a neuron
        for op in (*TABLE.values(), *COMPARISONS.values()):
            self.code(op)
        self.comparisons = {self.code(op): name for name, op in COMPARISONS.items()}
        self.Result, self.end = traced_classes(self, self.rows, ROWS)
        self.Number, self.Condition = plain_classes(self)
        self.own = {self.Result, self.Number, self.Condition}

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
            self.flowing.add(out._row)
        else:
            out._kind = type(given)
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
            self.aside = self.aside or f"the {what} ({users_place()})"

    # --- operands ------------------------------------------------------------------------------------------------

    def operand(self, x: Any) -> int:
        """An operand as a number: of a row, an input, a parameter, or `~k` for a constant.

        >>> Tracer().operand(2.5)
        -1
        """
        kind: Any = type(x)  # and not isinstance, which asks what a stand-in stands for
        if kind is float and x in self.places:
            return ~self.places[x]
        known = self.known.get(id(x))
        if known is not None:
            return known
        if kind in self.own and not self.ended:
            return x._row  # type: ignore[no-any-return]
        if getattr(kind, "many", False):
            raise IsTensor
        if isinstance(x, Traced):
            raise limit("escaped")
        return self.meet(x) if isinstance(x, Value) else self.constant(number(x))

    def factor(self, x: Any) -> int:
        """As `operand`; a parameter that is met here is a weight.

        >>> tracer, w = Tracer(), Value(1.0)
        >>> tracer.factor(w), tracer.weights
        (0, {0})
        """
        known = self.known.get(id(x))
        if known is not None:
            return known
        found = self.operand(x)
        if 0 <= found < INPUTS:
            self.weights.add(found)
        return found

    def meet(self, v: Value) -> int:
        """Take a Value in as a parameter.

        >>> tracer, w = Tracer(), Value(1.0)
        >>> tracer.meet(w), tracer.parameters == [w]
        (0, True)
        """
        if not v.is_leaf or v.closure is not None:  # a result of compiled code is a leaf with a closure
            raise limit("outside", f" ({v._op or 'made by hand'})")
        self.known[id(v)] = found = len(self.parameters)
        self.parameters.append(v)
        return found

    def constant(self, x: float) -> int:
        """A plain number as an operand.

        >>> tracer = Tracer()
        >>> tracer.constant(0.5), tracer.constant(-0.0), tracer.constant(0.0), tracer.constant(0.5)
        (-1, -2, -3, -1)
        """
        if x == 0.0:  # 0 and -0 are equal, and are different numbers all the same
            self.constants.append(x)
            return ~(len(self.constants) - 1)
        place = self.places.get(x)
        if place is None:
            place = self.places[x] = len(self.constants)
            self.constants.append(x)
        return ~place

    # --- ops -----------------------------------------------------------------------------------------------------

    def code(self, op: Op) -> int:
        """The code of an op, a new one if it was not met before.

        >>> Tracer().code(ops.add)
        0
        """
        found = self.codes.get(id(op))
        if found is None:
            found = self.codes[id(op)] = len(self.ops)
            # The rules of a user's op may read a number that has changed since they were last looked at; a copy is
            # an op that nobody has looked at yet.
            own = TABLE.get(op.name) is op or op in COMPARISONS.values()
            self.ops.append(op if own else replace(op))
            self.met.append(op)
        return found

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
            raise OpError(f"{op.name} takes {op.arity} operand(s) and was given {len(operands)}")
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
        return self._taken(entries, self._slot(index._row, len(entries)))

    def _taken(self, entries: list[Any], slot: int) -> Any:
        first = entries[0]
        if isinstance(first, (list, tuple)):
            if any(len(row) != len(first) for row in entries):
                sizes = sorted({len(row) for row in entries})
                raise TraceError(f"gradwalk.take was given a table of rows of {sizes} numbers; all must be as long")
            return [self._taken(list(column), slot) for column in zip(*entries, strict=True)]
        ids = tuple(self.operand(x) for x in entries)
        return self._made_of(entries, TAKE, self._header(ids, slot), 3)

    def _header(self, ids: tuple[int, ...], slot: int) -> int:
        """Write down a table, and that this index chooses from it; gives where that stands."""
        begins = self.tables.get(ids)
        if begins is None:
            begins = self.tables[ids] = self.listed(ids)
        self.headers += (begins, len(ids), slot)
        return len(self.headers) - 3

    def taken_at(self, ids: tuple[int, ...], index: int) -> int:
        """Write down the choice of one of these nodes by an input.

        >>> tracer = Tracer()
        >>> i, x, y = (tracer.input(x) for x in (1, 2.0, 3.0))
        >>> tracer.number_at(tracer.taken_at((x._row, y._row), i._row))
        3.0
        """
        return self.row(TAKE, self._header(ids, self._slot(index, len(ids))), 3)

    def _slot(self, index: int, entries: int) -> int:
        """Which of the indices an input is, for a table of so many entries."""
        slot = self.slots.setdefault(index - INPUTS, len(self.slots))
        if slot == len(self.bounds):
            self.bounds.append(entries)
            self.indexed.append(index - INPUTS)
        self.bounds[slot] = min(self.bounds[slot], entries)
        return slot

    def listed(self, ids: Sequence[int]) -> int:
        """Write a list of operands into aux; gives where it begins.

        >>> tracer = Tracer()
        >>> tracer.listed([1, 2]), tracer.listed([3])
        (0, 2)
        """
        begins = len(self.aux)
        self.aux.extend(ids)
        return begins

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

    # --- plain numbers, and what is asked of them -------------------------------------------------------------------

    def plain(self, code: int, a: int, b: int, kind: type) -> Any:
        """Write down a row whose result is for the function a plain number of this type.

        >>> tracer = Tracer()
        >>> x = tracer.input(3)
        >>> tracer.plain(tracer.code(ops.neg), x._row, NONE, int)
        -3
        """
        out = object.__new__(self.Number)
        out._row, out._kind = self.row(code, a, b), kind
        if kind is not float and issubclass(kind, WHOLE):
            self.whole.add(out._row)
        return out

    def plain_again(self, x: Any, kind: type) -> Any:
        """The same number as one of another type.

        >>> tracer = Tracer()
        >>> tracer.plain_again(tracer.input(3), float)
        3.0
        """
        out = object.__new__(self.Number)
        out._row, out._kind = x._row, kind
        if issubclass(kind, WHOLE):
            self.whole.add(x._row)
        return out

    def data_of(self, v: Any) -> Any:
        """The number of a Value, without gradient.

        >>> trace(lambda x: Value(x).data * 2.0, [3.0]).tape.rows
        2
        """
        row = self.operand(v)
        copy = self.read_at.get(row)
        if copy is None:
            copy = self.read_at[row] = self.row(SHIFT, self.listed([row]), 1)
        out = object.__new__(self.Number)
        out._row, out._kind = copy, float
        return out

    def compare(self, name: str, x: Any, y: Any) -> Any:
        """Write down a comparison.

        >>> tracer = Tracer()
        >>> tracer.compare("less", tracer.input(3.0), 4.0)
        True
        """
        try:
            return self._condition(self.comparison(name), x, y)
        except IsTensor:
            return NotImplemented

    def comparison(self, name: str) -> int:
        """The code of a comparison.

        >>> tracer = Tracer()
        >>> tracer.comparisons[tracer.comparison("less")]
        'less'
        """
        return self.codes[id(COMPARISONS[name])]

    def condition(self, op: Op, x: Any, y: Any) -> Any:
        """Write down what is made of two conditions.

        >>> tracer = Tracer()
        >>> tracer.condition(ops.mul, tracer.input(3.0) > 2.0, True)
        True
        """
        return self._condition(self.code(op), x, y)

    def _condition(self, code: int, x: Any, y: Any) -> Any:
        kinds = self.kind_of(x), self.kind_of(y)
        numpy = None not in kinds and any(issubclass(kind, np.generic) for kind in kinds if kind)
        out = object.__new__(self.Condition)
        out._row = self.row(code, self.operand(x), self.operand(y))
        out._kind = np.bool_ if numpy else bool
        self.whole.add(out._row)
        if is_asked_for_identity(self.identity):
            if self.samples:
                raise limit("one sample", " (the function asks `is True` or `is False`)")
            return out._kind(out)
        return out

    def kind_of(self, x: Any) -> type | None:
        """The type that a number has for the function; None for a Value.

        >>> tracer = Tracer()
        >>> tracer.kind_of(tracer.input(3)), tracer.kind_of(2.5), tracer.kind_of(Value(1.0))
        (<class 'int'>, <class 'float'>, None)
        """
        if isinstance(x, Number):
            return x._kind
        return None if isinstance(x, Value) else type(x)

    def kind_asked(self, x: Number) -> type:
        """The type of a number, which then has to be the same in every replay.

        >>> tracer = Tracer()
        >>> tracer.kind_asked(tracer.input(3) + 1), tracer.types
        (<class 'int'>, {0: <class 'int'>})
        """
        if self.mixed:
            raise limit("one sample", " (the function asks for the type of a number, and the samples are of several)")
        ahead, seen = [x._row], set()
        while ahead:
            node = ahead.pop()
            if node in seen:
                continue
            seen.add(node)
            if INPUTS <= node < ROWS:
                self.types[node - INPUTS] = type(self.given[node - INPUTS])
            elif node >= ROWS and self.rows[3 * (node - ROWS)] != SHIFT:
                ahead += self.numbering.operands(node)
        return x._kind

    def number_at(self, node: int) -> float:
        """The number of a node in the call at hand.

        >>> tracer = Tracer()
        >>> tracer.number_at((tracer.input(3.0) * 2.0)._row)
        6.0
        """
        return numbers_at([node], self.numbers, self.numbering)[0]

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

    def number_of(self, x: Any) -> Any:
        """A plain number in the call at hand, of its own type, which nobody has asked for.

        >>> tracer = Tracer()
        >>> tracer.number_of(tracer.input(3) * 2), len(tracer.guards)
        (6, 0)
        """
        return self._typed(x._kind, x._row) if isinstance(x, Number) else x

    def told(self, x: Any) -> Any:
        """The plain number that a stand-in stands for: from now on the path is one for this number.

        >>> tracer = Tracer()
        >>> tracer.told(tracer.input(3) * 2), len(tracer.guards)
        (6, 1)
        """
        return self.ask(_itself, x) if isinstance(x, Number) else x

    def ask(self, question: Callable[..., Any], *operands: Any) -> Any:
        """The answer to a question about plain numbers: from now on the path is one for this answer.

        >>> tracer = Tracer()
        >>> tracer.ask(round, tracer.input(2.7)), len(tracer.guards)
        (3, 1)
        """
        if any(map(is_too_large, operands)):  # constants of a tape are floats
            question = with_large(question, operands)
            operands = tuple([x for x in operands if not is_too_large(x)])
        ids = tuple([self.operand(x) for x in operands])
        kinds = tuple([self.kind_of(x) or float for x in operands])
        numbers = tuple(map(self._typed, kinds, ids))
        for x, known in zip(operands, numbers, strict=True):
            if isinstance(x, Number) and x._kind in WIDE:
                limited(self, x)
                if known == 0:  # of floats there is -0.0, too
                    self.kind_asked(x)
        try:
            answer = question(*numbers)
        except Exception as error:  # which the function may catch, and go on
            self._guard((question, ids), question, ids, kinds, type(error))
            raise
        self._guard((question, ids), question, ids, kinds, same(answer))
        return answer

    def asked_condition(self, x: Condition) -> bool:
        """Whether a condition holds.

        >>> [guard.answer for guard in trace(lambda x: bool(x > 2.0), [3.0]).guards]
        [True]
        """
        row = x._row
        answer = self.number_at(row) != 0.0 if not self.samples else False
        begins = 3 * (row - ROWS)
        name = self.comparisons.get(self.rows[begins])
        if name is None:
            self._guard(row, _holds, (row,), (float,), answer, row)
        else:
            ids = (self.rows[begins + 1], self.rows[begins + 2])
            self._guard((name, ids), QUESTIONS[name], ids, (float, float), answer, row)
        return answer

    def _typed(self, kind: type, node: int) -> Any:
        if self.samples:
            raise limit("one sample")
        if INPUTS <= node < ROWS and type(self.given[node - INPUTS]) is kind:
            return self.given[node - INPUTS]  # an int of any size
        return typed(kind, self.number_at(node))

    def _guard(
        self, key: Any, question: Any, ids: tuple[int, ...], kinds: tuple[type, ...], answer: Any, row: int = NONE
    ) -> None:
        if self.samples:
            raise limit("one sample")
        if key not in self.guards and any(x >= 0 for x in ids):
            self.guards[key] = Guard(question, ids, kinds, answer, users_place(), row)

    def plain_kind(self, x: Any) -> type | None:
        """The type in which a number is given back that is no Value for the caller: None for what is one.

        >>> [output.plain for output in trace(lambda x: [x, x * 2, x > 2], [3]).result]
        [<class 'int'>, None, <class 'bool'>]
        """
        if not isinstance(x, Number):
            return None
        if x._kind in BOOLS:
            return bool
        is_read = x._row < ROWS or self.rows[3 * (x._row - ROWS)] == SHIFT
        return x._kind if is_read else None


def _itself(x: Any) -> Any:
    return x


def _holds(x: Any) -> bool:
    return bool(x)


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
) -> Recorded:
    """Trace what `call` does with a tracer; `roots` are where the Values that it may reach are, if it is not known.

    What is `outside`, by its id(), is given as it is if the function gives it. With `samples`, the trace is to serve
    many samples at once; with `by_array`, tensors are written array by array.
    """
    began = time.perf_counter()
    tracer = Tracer(samples=samples, by_array=by_array)
    tracer.outside = outside
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
            if "tensors" in vars(tracer):
                tracer.tensors.end()
            tracer.end()
    recorded.seconds = time.perf_counter() - began
    return recorded


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
