"""What a trace has written so far: rows and their operands, parameters, constants and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from gradwalk.compile.trace.limits import limit
from gradwalk.compile.trace.tape import INPUTS, TAKE
from gradwalk.compile.trace.traced import COMPARISONS, IsTensor, Traced
from gradwalk.engine import Value
from gradwalk.ops import TABLE, Op, number

__all__ = ["Written"]


class Written:
    """The part of a tracer that knows what stands where; a `Tape` is made of it when the function has ended.

    >>> Written().operand(2.5)
    -1
    """

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
        #: Of takes, three numbers each: where the table begins, how long it is, which index.
        self.headers: list[int] = []
        self.slots: dict[int, int] = {}  # the number of an index by that of its input
        self.indexed: list[int] = []  # … and the other way round
        self.bounds: list[int] = []  # for each index, how long the shortest table is that it chooses from
        self.ended = False
        self.own: set[type] = set()  # the classes of stand-ins of this trace, which say how a row is written …
        self.record: Callable[[int, int, int], Any]  # … for a Value …
        self.row: Callable[[int, int, int], int]  # … for its number alone …
        self.many_rows: Callable[[list[int]], int]  # … or many, saying which is the first
        for op in (*TABLE.values(), *COMPARISONS.values()):
            self.code(op)
        self.comparisons = {self.code(op): name for name, op in COMPARISONS.items()}

    # --- operands ------------------------------------------------------------------------------------------------

    def operand(self, x: Any) -> int:
        """An operand as a number: of a row, an input, a parameter, or `~k` for a constant.

        >>> Written().operand(2.5)
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

        >>> tracer, w = Written(), Value(1.0)
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

        >>> tracer, w = Written(), Value(1.0)
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

        >>> tracer = Written()
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

    @cached_property
    def zero(self) -> int:
        """The number 0 as an operand.

        >>> Written().zero
        -1
        """
        return self.constant(0.0)

    def code(self, op: Op) -> int:
        """The code of an op, a new one if it was not met before.

        >>> Written().code(ops.add)
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

    # --- tables ------------------------------------------------------------------------------------------------------

    def header(self, ids: tuple[int, ...], slot: int) -> int:
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
        return self.row(TAKE, self.header(ids, self.slot(index, len(ids))), 3)

    def slot(self, index: int, entries: int) -> int:
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
