"""Arrays of numbers that come later: what stands for the numbers of a tensor while a function is traced.

A `Block` holds the id of each of its numbers. What only moves numbers about moves ids, by NumPy; what computes writes
rows, number by number, as the scalar code that says the same would (`block_arrays.py`). So a function of tensors ends
in the same tape. Here is how ids become rows, and how a block becomes numbers again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradwalk import ops
from gradwalk.compile.trace.arrays import TracedArray, parts_in, plain_array
from gradwalk.compile.trace.limits import TooLarge, limit
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.providers import NAMES, LateProvider, name_of, parts_of
from gradwalk.compile.trace.tape import INPUTS, MAX, NONE, ROWS, SHIFT
from gradwalk.compile.trace.traced import Traced
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.shapes import Shape

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["Block", "Writing"]

Ids = Any  # an array of ids, of the shape of the block

#: Rows that a function of tensors may write: beyond it, it is traced array by array, and NumPy's BLAS does products.
MOST_ROWS = 2_000_000
SMALLER = "compile the part of it that works on small tensors, or leave it as it is: NumPy is quick on large ones"
SINGLE = "make its tensors float64, with .double() or dtype='float64', or leave it as it is"

PYTHONS = {FLOAT64: float, INT64: int, BOOL: bool}


class Block:
    """An array of numbers that come later.

    >>> tracer = Tracer()
    >>> block = tracer.blocks.inputs([[1.0, 2.0]], "float64")
    >>> block.shape, block.dtype
    ((1, 2), 'float64')
    """

    __slots__ = ("_ids", "_kind", "_tracer", "unused")

    def __init__(self, tracer: Tracer, ids: Ids, kind: str, *, unused: bool = False) -> None:
        self._tracer = tracer
        self._ids = ids
        self._kind = kind
        self.unused = unused  # whether nobody but who asked for it knows its rows, which may still change

    comes_later = True

    @property
    def ids(self) -> Ids:
        """The id of each number."""
        if self._tracer.ended:
            raise limit("escaped")
        return self._ids

    @property
    def shape(self) -> Shape:
        """As of any array."""
        return self.ids.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """As of any array."""
        return self.ids.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """As of any array."""
        return self.ids.size  # type: ignore[no-any-return]

    @property
    def dtype(self) -> str:
        """The name of the dtype that the numbers have for the function."""
        self.ids  # noqa: B018 (which raises after the trace)
        return self._kind

    @property
    def checked_later(self) -> bool:
        """Whether numbers that serve as an index are checked where they are used."""
        return True

    @property
    def of_samples(self) -> bool:
        """Whether these are numbers of a sample, which stands for others that are not known."""
        return self._tracer.samples

    @property
    def checked_at_calls(self) -> bool:
        """Whether numbers that serve as an index are checked at each call: they are given, one for each sample."""
        return self.of_samples and bool(((self.ids >= INPUTS) & (self.ids < ROWS)).all())

    def __array_ufunc__(self, *_: Any, **__: Any) -> NoReturn:
        raise limit("escaped")

    __array__ = __array_ufunc__


class Writing(LateProvider):
    """How a tracer writes rows for many numbers at once.

    >>> Tracer().blocks.kind_of(2.5)
    'float64'
    """

    later = Block

    def __init__(self, tracer: Tracer, real: Any) -> None:
        super().__init__(tracer, real)
        self._zero: int | None = None

    # --- ids ---------------------------------------------------------------------------------------------------------

    def inputs(self, array: Any, kind: str) -> Block:
        """Stand-ins for the numbers of an array among the arguments."""
        given = plain_array(array)
        first = INPUTS + self.tracer.inputs
        self.tracer.inputs += given.size
        self.tracer.given += given.ravel().tolist()
        return self.block(np.arange(first, first + given.size).reshape(given.shape), kind)

    def block(self, ids: Ids, kind: str) -> Block:
        """These ids as an array."""
        if kind == FLOAT32:
            raise TooLarge("{function} computes in float32, and native code of tensors in float64", SINGLE)
        return Block(self.tracer, ids, kind)

    def ids_of(self, x: Any) -> Ids:
        """The ids of what an op was given."""
        if isinstance(x, Block):
            return x.ids
        if isinstance(x, TracedArray):
            return self.of_array(x).ids
        if isinstance(x, Traced):
            return plain_array(self.tracer.operand(x))
        known = plain_array(x)
        self.make_room(known.size)
        flat = [self._constant(float(number)) for number in known.ravel().tolist()]
        return plain_array(flat, np.int64).reshape(known.shape)

    def of_array(self, x: Any) -> Block:
        """An array of stand-ins for plain numbers as a block."""
        operand = self.tracer.operand
        ids = [operand(part) if isinstance(part, Traced) else self._constant(float(part)) for part in parts_of(x)]
        return self.block(plain_array(ids, np.int64).reshape(x.shape), _kind_of_array(x))

    def _constant(self, x: float) -> int:
        if x == 0.0 and str(x) == "0.0":
            if self._zero is None:
                self._zero = self.tracer.constant(0.0)
            return self._zero
        return self.tracer.constant(x)

    def kind_of(self, x: Any) -> str:
        """The dtype of what an op was given, as a tensor has it."""
        if isinstance(x, Block):
            return x.dtype
        if isinstance(x, TracedArray):
            return _kind_of_array(x)
        if isinstance(x, Number):
            return NAMES[x.kind_of_number]
        if isinstance(x, (bool, int, float)):
            return BOOL if isinstance(x, bool) else INT64 if isinstance(x, int) else FLOAT64
        return str(self.real.dtype_of(x)) if hasattr(x, "dtype") else FLOAT64

    def write(self, code: int, *columns: Ids) -> Ids:
        """One row for each number, of these operands."""
        tracer = self.tracer
        columns = tuple(np.broadcast_arrays(*columns))
        shape, n = columns[0].shape, columns[0].size
        if not n:
            return np.zeros(shape, np.int64)
        self.make_room(n)
        self._note_weights(code, columns)
        table = np.empty((n, 3), np.int64)
        table[:, 0] = code
        if len(columns) > 2:
            begins = tracer.listed(np.stack([column.ravel() for column in columns], 1).ravel().tolist())
            table[:, 1] = begins + len(columns) * np.arange(n)
            table[:, 2] = len(columns)
        else:
            table[:, 1] = columns[0].ravel()
            table[:, 2] = columns[1].ravel() if len(columns) == 2 else NONE
        first = tracer.many_rows(table.ravel().tolist())
        return np.arange(first, first + n).reshape(shape)

    def write_lists(self, code: int, lists: Ids) -> Ids:
        """One row for each list of ids along the last axis: MAX, MIN or SHIFT."""
        tracer, n = self.tracer, prod(lists.shape[:-1])
        if not n:
            return np.zeros(lists.shape[:-1], np.int64)
        self.make_room(n)
        self._note_weights(code, (lists,))
        size = lists.shape[-1]
        begins = tracer.listed(lists.ravel().tolist())
        table = np.empty((n, 3), np.int64)
        table[:, 0], table[:, 1], table[:, 2] = code, begins + size * np.arange(n), size
        first = tracer.many_rows(table.ravel().tolist())
        return np.arange(first, first + n).reshape(lists.shape[:-1])

    def make_room(self, rows: int) -> None:
        """Refuse to go on where a trace would become too large."""
        if len(self.tracer.rows) // 3 + rows > MOST_ROWS:
            raise TooLarge(
                f"{{function}} takes more than {MOST_ROWS:,} operations on single numbers, for which a trace is too "
                "large",
                SMALLER,
            )

    def _note_weights(self, code: int, columns: Sequence[Ids]) -> None:
        """A tensor of parameters that is first met in a product holds weights, and these stand together."""
        tracer = self.tracer
        for first, size in list(tracer.unused_tensors.items()):
            if any(((column >= first) & (column < first + size)).any() for column in columns):
                del tracer.unused_tensors[first]
                if code == tracer.codes[id(ops.mul)]:
                    tracer.weights.update(range(first, first + size))

    def cut(self, x: Block) -> Block:
        """The same numbers, passing on no gradient; arguments that get none anyway are left as they are."""
        ids = x.ids
        if x.unused:  # the largest of lists, and nobody has seen them yet
            for row in ids.ravel().tolist():
                if row >= ROWS and self.tracer.rows[3 * (row - ROWS)] == MAX:
                    self.tracer.rows[3 * (row - ROWS)] = SHIFT
            return self.block(ids, x.dtype)
        passing = (ids >= ROWS) | ((ids >= 0) & (ids < INPUTS))
        if self.tracer.flowing:
            passing |= np.isin(ids, list(self.tracer.flowing))
        if not passing.any():
            return x
        out = ids.copy()
        out[passing] = self.write_lists(SHIFT, ids[passing][:, None])
        return self.block(out, x.dtype)

    # --- numbers of it -----------------------------------------------------------------------------------------------

    def stand_in(self, node: int, kind: str) -> Any:
        """What stands for one plain number, which passes on no gradient."""
        tracer = self.tracer
        if node < 0:
            return PYTHONS[kind](tracer.constants[~node])
        out = object.__new__(tracer.Condition if kind == BOOL else tracer.Number)
        out._row, out._kind = node, PYTHONS[kind]
        if kind != BOOL and (not INPUTS <= node < ROWS or node in tracer.flowing):
            copy = tracer.read_at.get(node)
            if copy is None:
                copy = tracer.read_at[node] = tracer.row(SHIFT, tracer.listed([node]), 1)
            out._row = copy
        elif kind == BOOL and node < ROWS:  # a condition is a row
            out._row = int(self.write(tracer.comparison("differs"), plain_array([node]), self.ids_of(0.0))[0])
        if kind != FLOAT64:
            tracer.whole.add(out._row)
        return out

    def stand_ins(self, x: Block) -> list[Any]:
        """What stands for each number, in the order of reading."""
        return [self.stand_in(node, x.dtype) for node in x.ids.ravel().tolist()]

    def told(self, x: Any) -> Any:
        """The numbers themselves, as an array of NumPy's: the path is one for these numbers from now on."""
        if isinstance(x, TracedArray):
            x = self.of_array(x)
        if isinstance(x, Number):
            return self.tracer.told(x)
        if not isinstance(x, Block):
            return x
        parts = [self._told(part) for part in self.stand_ins(x)]
        return plain_array(parts, x.dtype).reshape(x.shape)

    def _told(self, x: Any) -> Any:
        return bool(x) if isinstance(x, self.tracer.Condition) else self.tracer.told(x)


def _kind_of_array(x: Any) -> str:
    """The dtype that the numbers of an array have together, as a tensor has it."""
    kinds = {part._kind if isinstance(part, Number) else type(part) for part in parts_in(x)}
    return name_of(np.result_type(*kinds)) if kinds else FLOAT64
