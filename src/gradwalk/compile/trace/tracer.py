"""Tracing: run a function once with stand-ins for its arguments, and write every op down.

The function may reach Values by itself (a model's parameters): a leaf that is met is a parameter, and keeps its place
in the buffer; a leaf that was made inside the function, and that nobody can reach when it ends, was a constant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from gradwalk import functions, modes
from gradwalk.compile.trace.limits import frozen, limit
from gradwalk.compile.trace.reach import values_reached_from
from gradwalk.compile.trace.recorded import INPUTS, ROWS, Recorded, finished
from gradwalk.compile.trace.tape import MAX, MIN, NONE, SHIFT, TAKE
from gradwalk.compile.trace.traced import COMPARISONS, Traced, traced_classes
from gradwalk.engine import Value
from gradwalk.errors import OpError, TraceError
from gradwalk.functions import checked_index
from gradwalk.ops import TABLE, Op, number

__all__ = ["Tracer", "trace"]

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

    def __init__(self) -> None:
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
        self.bounds: list[int] = []  # for each index, how long the shortest table is that it chooses from
        self.inputs = 0
        self.silent: list[tuple[int, int, int]] = []  # rows that pass on no gradient: from, to, and where aux was then
        self.made: dict[int, Any] = {}  # Values that the function makes by their constructor, by id()
        self.record: Callable[[int, int, int], Any]  # set with the classes
        for op in (*TABLE.values(), *COMPARISONS.values()):
            self.code(op)
        self.Result, self.Number, self.end = traced_classes(self, self.rows, ROWS)

    # --- what stands for numbers ---------------------------------------------------------------------------------

    def input(self, *, value: bool = False) -> Any:
        """A stand-in for the next number among the arguments, which for the function is a plain one or a Value.

        >>> Tracer().input()
        <traced Value>
        """
        out = object.__new__(self.Result if value else self.Number)
        out._row = INPUTS + self.inputs
        self.inputs += 1
        return out

    def inputs_like(self, array: Any) -> Any:
        """An array of stand-ins of the same shape.

        >>> import numpy as np
        >>> Tracer().inputs_like(np.zeros((2, 3))).shape
        (2, 3)
        """
        out = np.empty(array.shape, object)
        out.ravel()[:] = [self.input() for _ in range(array.size)]
        return out

    # --- what Values mean meanwhile ------------------------------------------------------------------------------

    def leaf(self, v: Any, data: Any) -> None:
        """A Value that the function makes: of a number, or of an argument, which it then stands for.

        >>> trace(lambda x: Value(x) * 2.0, [3.0]).tape.rows
        1
        """
        if isinstance(data, Traced):
            if not isinstance(data, self.Number):
                raise limit("data")
            self.known[id(v)] = data._row
            v._data = data
        else:
            super().leaf(v, data)
        self.made[id(v)] = v

    def read(self, v: Any, field: str, number: Any) -> Any:
        """A number that is read, not computed with, is the same in every call; that is said."""
        read = "number of a parameter was read (.data, or a comparison)"
        self._say_frozen(v, read if field == "data" else "gradient of a parameter was read")
        return number

    def write(self, v: Any, field: str, number: Any) -> Any:
        """A number that is set is set once; that is said."""
        self._say_frozen(v, f"{'number' if field == 'data' else 'gradient'} of a parameter was set")
        return number

    def _say_frozen(self, v: Any, what: str) -> None:
        if id(v) not in self.made:
            frozen(
                f"the {what} while the function was traced: that happens once, and replays go by what it was then",
                "compute with the Value itself, or do this outside the compiled function",
            )

    # --- operands ------------------------------------------------------------------------------------------------

    def operand(self, x: Any) -> int:
        """An operand as a number: of a row, an input, a parameter, or `~k` for a constant.

        >>> Tracer().operand(2.5)
        -1
        """
        if x.__class__ is float and x in self.places:
            return ~self.places[x]
        known = self.known.get(id(x))
        if known is not None:
            return known
        if isinstance(x, (self.Result, self.Number)):
            return x._row  # type: ignore[no-any-return]
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
        if len(operands) != op.arity:
            raise OpError(f"{op.name} takes {op.arity} operand(s) and was given {len(operands)}")
        if functions.is_extreme(op):
            return self.many(op.name, operands)
        take_in = self.factor if op.name == "mul" else self.operand
        ids = [take_in(x) for x in operands]
        if len(ids) > 2:
            return self.record(self.code(op), self.listed(ids), len(ids))
        return self.record(self.code(op), ids[0], ids[1] if len(ids) == 2 else NONE)

    def many(self, name: str, values: Sequence[Any]) -> Any:
        """Write down the largest (max) or smallest (min) of a list.

        >>> print(str(trace(lambda x, y: gradwalk.max([x, y]), [1.0, 2.0]).tape).splitlines()[2])
        n0 = max(x0, x1)
        """
        ids = [self.operand(x) for x in values]
        return self.record(MANY[name], self.listed(ids), len(ids))

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
            raise limit("computed index" if isinstance(index, self.Result) else "escaped")
        if not entries:
            raise TraceError("gradwalk.take was given an empty table")
        slot = self.slots.setdefault(index._row - INPUTS, len(self.slots))
        if slot == len(self.bounds):
            self.bounds.append(len(entries))
        self.bounds[slot] = min(self.bounds[slot], len(entries))
        return self._taken(entries, slot)

    def _taken(self, entries: list[Any], slot: int) -> Any:
        first = entries[0]
        if isinstance(first, (list, tuple)):
            if any(len(row) != len(first) for row in entries):
                sizes = sorted({len(row) for row in entries})
                raise TraceError(f"gradwalk.take was given a table of rows of {sizes} numbers; all must be as long")
            return [self._taken(list(column), slot) for column in zip(*entries, strict=True)]
        ids = tuple(self.operand(x) for x in entries)
        begins = self.tables.get(ids)
        if begins is None:
            begins = self.tables[ids] = self.listed(ids)
        self.headers += (begins, len(ids), slot)
        return self.record(TAKE, len(self.headers) - 3, 3)

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
        row = self.operand(v)
        if row == ROWS + len(self.rows) // 3 - 1 and self.rows[-3] == MAX:  # the largest of a list, just written down
            self.rows[-3] = SHIFT
            return v
        return self.record(SHIFT, self.listed([row]), 1)

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
        begins = len(self.rows) // 3
        try:
            yield
        finally:
            ends = len(self.rows) // 3
            for row in range(begins, ends):
                self.record(SHIFT, self.listed([ROWS + row]), 1)
            self.silent.append((begins, ends, len(self.aux)))
            self.tables.clear()  # a table of the numbers before is not one of their copies


def trace(fn: Callable[..., Any], arguments: Sequence[Any]) -> Recorded:
    """Trace `fn` on plain numbers as arguments; for structured ones see `arguments.py`.

    >>> trace(lambda x, y: x * y, [1.0, 2.0]).tape.inputs
    2
    """
    return run(lambda tracer: fn(*(tracer.input() for _ in arguments)), [fn])


_one_at_a_time = RLock()


def run(call: Callable[[Tracer], Any], roots: Sequence[Any], values: Sequence[Value] | None = None) -> Recorded:
    """Trace what `call` does with a tracer; `roots` are where the Values that it may reach are, if it is not known."""
    began = time.perf_counter()
    tracer = Tracer()
    with _one_at_a_time:
        for v in values_reached_from(roots) if values is None else values:
            v.data  # noqa: B018 (of one that compiled code has, the number is handed back)
        try:
            with modes.entered(tracer):
                result = call(tracer)
        finally:
            tracer.end()
    recorded = finished(tracer, result, roots)
    recorded.seconds = time.perf_counter() - began
    return recorded
