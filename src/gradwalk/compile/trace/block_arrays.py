"""Blocks where numbers come later, and arrays of NumPy's where they are known: what tensors take while they are traced.

What only moves numbers about moves ids, by NumPy; what computes writes rows. What neither can do (rounding, sorting, a
mask as an index) is done on the numbers of the call at hand, which then are asked for and become guards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk import ops
from gradwalk.compile.trace.arrays import TracedArray, plain_array, traced_array
from gradwalk.compile.trace.block_sums import Sums
from gradwalk.compile.trace.blocks import Block, Ids
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.providers import holds_stand_in
from gradwalk.compile.trace.tape import INPUTS, MAX, MIN, ROWS, TAKE
from gradwalk.compile.trace.traced import Traced
from gradwalk.ops import Op
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.kernels import NAMES
from gradwalk.tensor.shapes import Shape, shape_error

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__: list[str] = []

#: The table's ops by what array providers call them.
OPS = {op.symbol if op.symbol in NAMES else op.name: op for op in ops.TABLE.values()}
COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equals",
               "!=": "differs"}  # fmt: skip
OF_INTS = frozenset(("+", "-", "*", "**", "neg", "abs", "maximum", "minimum", "clamp", "where", "choose", "relu"))


class Blocks(Sums):
    """The provider of one trace.

    >>> Tracer().blocks.full((2,), 1.5, "float64").tolist()
    [1.5, 1.5]
    """

    def __init__(self, tracer: Tracer, real: Any) -> None:
        super().__init__(tracer, real)
        self.functions = {name: partial(self._number_by_number, name, f) for name, f in real.functions.items()}
        self.bare = {name: partial(self._number_by_number, name, f) for name, f in real.bare.items()}

    # --- looking and making ------------------------------------------------------------------------------------------

    def read_only(self, x: Any) -> Any:
        if not isinstance(x, Block):
            return self.real.read_only(x)
        found = traced_array(self.stand_ins(x)).reshape(x.shape)
        found.flags.writeable = False
        return found

    def dtype_of(self, x: Any) -> str:
        return self.kind_of(x) if isinstance(x, (Block, TracedArray)) else str(self.real.dtype_of(x))

    def new(self, nested: Any, dtype: str) -> Any:
        if isinstance(nested, Block):
            return self.cast(nested, dtype or nested.dtype)
        if isinstance(nested, Traced):
            kind = self.kind_of(nested) if dtype else FLOAT32  # which alone is asked for with its own
            return self.cast(self.block(plain_array(self.tracer.operand(nested)), kind), dtype)
        if not isinstance(nested, TracedArray):
            if not holds_stand_in(nested):
                return self.real.new(nested, dtype)
            nested = plain_array(nested, object)
        block = self.of_array(nested)
        if not dtype:  # that of its numbers, in which NumPy has brought ints beside a float to floats
            for x in nested.ravel().view(np.ndarray).tolist():
                if isinstance(x, Number):
                    x.keep_kind()
        return self.cast(block, dtype or block.dtype)

    def cast(self, x: Any, dtype: str) -> Any:
        if isinstance(x, TracedArray):
            x = self.of_array(x)
        if not isinstance(x, Block):
            return self.real.cast(x, dtype)
        if x.dtype == dtype:
            return x
        if dtype == BOOL:
            return self.block(self.write(self.tracer.comparison("differs"), x.ids, self.ids_of(0.0)), BOOL)
        if dtype == INT64 and x.dtype != BOOL:
            return self.told(x).astype(np.int64)
        return self.block(self.cut(x).ids, dtype)

    def copy(self, x: Any) -> Any:
        return self.cut(x) if isinstance(x, Block) else self.real.copy(x)

    # --- structure ---------------------------------------------------------------------------------------------------

    def _moved(self, name: str, x: Any, *settings: Any) -> Any:
        if not isinstance(x, Block):
            return getattr(self.real, name)(x, *settings)
        return self.block(getattr(self.real, name)(x.ids, *settings), x.dtype)

    def reshape(self, x: Any, shape: Shape) -> Any:
        return self._moved("reshape", x, shape)

    def permute(self, x: Any, order: Shape) -> Any:
        return self._moved("permute", x, order)

    def expand(self, x: Any, shape: Shape) -> Any:
        return self._moved("expand", x, shape)

    def concat(self, parts: Sequence[Any], axis: int) -> Any:
        if not any(isinstance(part, Block) for part in parts):
            return self.real.concat(parts, axis)
        return self.block(np.concatenate([self.ids_of(part) for part in parts], axis), self.kind_of(parts[0]))

    def pad(self, x: Any, widths: Any, around: Any) -> Any:
        if not isinstance(x, Block) and not isinstance(around, Number):
            return self.real.pad(x, widths, around)
        return self.block(np.pad(self.ids_of(x), widths, constant_values=self.ids_of(around)), self.kind_of(x))

    def index(self, x: Any, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Any:
        if not any(isinstance(part, Block) for part in wholes):
            return self._moved("index", x, basic, wholes)
        return self.block(self._taken(self.ids_of(x)[basic], list(wholes)), self.kind_of(x))

    def _taken(self, view: Ids, wholes: list[Any]) -> Ids:
        """Numbers at places, one axis of which is chosen at each call."""
        axes = [axis for axis, part in enumerate(wholes) if isinstance(part, Block)]
        for axis in axes:
            if axis != axes[-1] or not self._may_choose(wholes[axis], view.shape[axis]):
                wholes[axis] = self.told(wholes[axis])
                for place in (wholes[axis].min(initial=0), wholes[axis].max(initial=0)):
                    if view.shape[axis] and not -view.shape[axis] <= place < view.shape[axis]:
                        raise shape_error(
                            f"index {place} is out of range in dim {axis} of shape {view.shape}: there are 0 to "
                            f"{view.shape[axis] - 1}"
                        )
        chosen = wholes[axes[-1]]
        key = [slice(None) if part is None else part for part in wholes]
        if not isinstance(chosen, Block):
            return plain_array(view[tuple(key)])
        entries = []
        for place in range(view.shape[axes[-1]]):
            key[axes[-1]] = np.full(chosen.shape, place)
            entries.append(view[tuple(key)])
        table = np.stack(entries, -1)
        arrays = [axis for axis, part in enumerate(wholes) if part is not None]
        front = arrays[0] if arrays == list(range(arrays[0], arrays[-1] + 1)) else 0
        shape = np.broadcast_shapes(*[wholes[axis].shape for axis in arrays])
        rest = table.ndim - 1 - front - len(shape)
        at = np.broadcast_to(chosen.ids, shape).reshape((1,) * front + shape + (1,) * rest)
        at = np.broadcast_to(at, table.shape[:-1])
        self.make_room(table.size)
        rows = [
            self.tracer.taken_at(tuple(some), index)
            for some, index in zip(table.reshape(-1, table.shape[-1]).tolist(), at.ravel().tolist(), strict=True)
        ]
        self._note_weights(TAKE, (table,))
        return plain_array(rows, np.int64).reshape(at.shape)

    def _may_choose(self, index: Block, size: int) -> bool:
        """Whether the numbers of an index can be others at each call: all are arguments, and count from 0."""
        ids, tracer = index.ids, self.tracer
        if not ids.size or not size or ((ids < INPUTS) | (ids >= ROWS)).any():
            return False
        if tracer.samples:
            return True
        given = [tracer.given[node - INPUTS] for node in ids.ravel().tolist()]
        if not 0 <= min(given) <= max(given) < size:
            return False
        for code, name, bound in ((MIN, "greater_equal", 0.0), (MAX, "less", float(size))):
            most = self.write_lists(code, ids.reshape(1, -1)) if ids.size > 1 else ids.reshape(1)
            bool(tracer.compare(name, self.stand_in(int(most[0]), INT64), bound))  # which becomes a guard
        return True

    def scatter(self, g: Any, shape: Shape, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Any:
        wholes = tuple([self.told(part) for part in wholes])
        if not isinstance(g, Block):
            return self.real.scatter(g, shape, basic, wholes)
        places = self.real.index(np.arange(prod(shape)).reshape(shape), basic, wholes).ravel()
        out = np.full(prod(shape), self.ids_of(0.0))
        ids = g.ids.ravel()
        first = np.unique(places, return_index=True)[1]
        out[places[first]] = ids[first]
        add = self.tracer.codes[id(ops.add)]
        for i in sorted(set(range(len(places))) - set(first.tolist())):  # a place that is named again
            out[places[i]] = self.write(add, out[places[i]].reshape(1), ids[i].reshape(1))[0]
        return self.block(out.reshape(shape), g.dtype)

    # --- number by number --------------------------------------------------------------------------------------------

    def _number_by_number(self, name: str, known: Callable[..., Any], *operands: Any) -> Any:
        if not any(isinstance(x, (Block, TracedArray, Traced)) for x in operands):
            return known(*operands)
        kinds = [self.kind_of(x) for x in operands]
        tracer = self.tracer
        columns: Callable[[], list[Ids]] = lambda: [self.ids_of(x) for x in operands]  # noqa: E731
        if name in COMPARISONS:
            return self.block(self.write(tracer.comparison(COMPARISONS[name]), *columns()), BOOL)
        if name in ("&", "|", "^") and set(kinds) == {BOOL}:
            op = ops.mul if name == "&" else ops.maximum
            code = tracer.comparison("differs") if name == "^" else tracer.codes[id(op)]
            return self.block(self.write(code, *columns()), BOOL)
        if name == "~" or name == "isnan":
            (ids,) = columns()
            both = (ids, self.ids_of(0.0)) if name == "~" else (ids, ids)
            return self.block(self.write(tracer.comparison("equals" if name == "~" else "differs"), *both), BOOL)
        op_of_table = ops.where if name == "choose" else OPS.get(name)
        if op_of_table is None:  # a function with no slope, of which only the numbers are known
            return known(*[self.told(x) for x in operands])
        return self.applied(op_of_table, operands, kinds[1:] if op_of_table is ops.where else kinds)

    def applied(self, op: Op, operands: Sequence[Any], kinds: Sequence[str] = (FLOAT64,)) -> Block:
        """An op of the table, or of a user's, number by number."""
        columns = [self.ids_of(x) for x in operands]
        if op is ops.where and (columns[0] < 0).all():  # which is taken is known, and the other gets no gradient
            held = plain_array([self.tracer.constants[~node] != 0.0 for node in columns[0].ravel().tolist()], bool)
            chosen = np.where(held.reshape(columns[0].shape), columns[1], columns[2])
            return self.block(chosen, FLOAT64 if any(kind.startswith("float") for kind in kinds) else kinds[-1])
        whole = not any(kind.startswith("float") for kind in kinds) and op in _WHOLE_OPS
        if any(kind == FLOAT32 for kind in kinds):
            self.block(None, FLOAT32)  # which refuses
        if whole and op is ops.neg:  # of 0 not -0.0
            op, columns = ops.sub, [self.ids_of(0.0), *columns]
        return self.block(self.write(self.tracer.code(op), *columns), INT64 if whole else FLOAT64)

    def each(self, f: Any, operands: Sequence[Any]) -> Any:
        return self.real.each(f, [self.told(x) for x in operands])

    # --- places ------------------------------------------------------------------------------------------------------

    def argmax(self, x: Any, axis: int) -> Any:
        """Where the largest is: every comparison on the way becomes a guard."""
        if not isinstance(x, Block):
            return self.real.argmax(x, axis)
        lists = np.moveaxis(x.ids, axis, -1)
        flat = [self._largest_of(row) for row in lists.reshape(prod(lists.shape[:-1]), lists.shape[-1]).tolist()]
        return plain_array(flat, np.int64).reshape(lists.shape[:-1])

    def _largest_of(self, row: list[int]) -> int:
        numbers = [self.stand_in(node, FLOAT64) for node in row]
        found = 0
        for i, number in enumerate(numbers):
            if i and not number <= numbers[found]:  # larger, or nan, which counts as the largest
                found = i
            if found == i and self._is_nan(number):
                break
        return found

    def _is_nan(self, number: Any) -> bool:
        """Whether a number is nan; a comparison with itself could be turned by rounding, as it seems from outside."""
        return not abs(number) <= math.inf

    def shared_largest(self, x: Block, axes: Shape, keep: bool) -> Block:
        """As `largest`, for a gradient: where nan is the largest, it goes to what is nan, as it does in tensors."""
        found: Block = self.largest(x, axes, keep)
        if self.tracer.samples or x.dtype != FLOAT64 or not found.size or x.size == found.size:
            return found
        sizes = self._sums(self.write(self.tracer.codes[id(ops.abs)], found.ids.ravel()))
        found.unused = False
        if not self._is_nan(self.stand_in(int(sizes), FLOAT64)):
            return found
        return self.block(self._reduced(x.ids, axes, keep, self._largest_with_nan), FLOAT64)

    def _largest_with_nan(self, lists: Ids) -> Ids:
        flat = []
        for row in lists.reshape(-1, lists.shape[-1]):
            odd = plain_array([node for node in row.tolist() if self._is_nan(self.stand_in(node, FLOAT64))], np.int64)
            if odd.size:  # all of them share, and their mean is nan
                count = self.ids_of(float(odd.size))
                flat.append(self.write(self.tracer.codes[id(ops.div)], self._sums(odd), count))
            else:
                flat.append(self._extremes(MAX, row))
        return plain_array(flat, np.int64).reshape(lists.shape[:-1])

    def argsort(self, x: Any, axis: int, descending: bool) -> Any:
        return self.real.argsort(self.told(x), axis, descending)


_WHOLE_OPS = {OPS[name] for name in OF_INTS if name in OPS}  # whose value on ints is an int
