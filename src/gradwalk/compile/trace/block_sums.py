"""Sums, products and extremes of blocks, each written as the scalar code that says the same would be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from gradwalk import ops
from gradwalk.compile.trace.arrays import plain_array
from gradwalk.compile.trace.blocks import Block, Ids, Writing
from gradwalk.compile.trace.tape import MAX, ROWS
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.shapes import Shape

__all__: list[str] = []

_RANKS = {BOOL: 0, INT64: 1, FLOAT32: 2, FLOAT64: 3}


class Sums(Writing):
    """What takes many numbers together.

    >>> blocks = Tracer().blocks
    >>> blocks.total(blocks.inputs([1.0, 2.0, 3.0], "float64"), (0,), False).shape, len(blocks.tracer.rows) // 3
    ((), 2)
    """

    def total(self, x: Any, axes: Shape, keep: bool) -> Any:
        if not isinstance(x, Block):
            return self.real.total(x, axes, keep)
        kind = x.dtype if x.dtype.startswith("float") else INT64
        return self.block(self._reduced(x.ids, axes, keep, self._sums), kind)

    def largest(self, x: Any, axes: Shape, keep: bool) -> Any:
        if not isinstance(x, Block):
            return self.real.largest(x, axes, keep)
        found = self.block(self._reduced(x.ids, axes, keep, partial(self._extremes, MAX)), x.dtype)
        found.unused = bool(found.size) and x.size > found.size
        return found

    def _reduced(self, ids: Ids, axes: Shape, keep: bool, reduce: Callable[[Ids], Ids]) -> Ids:
        rest = tuple(axis for axis in range(ids.ndim) if axis not in axes)
        shape = tuple(ids.shape[axis] for axis in rest)
        lists = ids.transpose(*rest, *axes).reshape(*shape, prod(ids.shape[axis] for axis in axes))
        found = reduce(lists)
        return found.reshape([1 if axis in axes else n for axis, n in enumerate(ids.shape)]) if keep else found

    def _extremes(self, code: int, lists: Ids) -> Ids:
        return lists[..., 0] if lists.shape[-1] == 1 else self.write_lists(code, lists)

    def _sums(self, lists: Ids) -> Ids:
        """The sums along the last axis; one after another, as a sum of numbers is written."""
        return self._chains(lists[..., :1], lists[..., 1:]) if lists.shape[-1] else self._nothing(lists)

    def _nothing(self, lists: Ids) -> Ids:
        return np.broadcast_to(self.ids_of(0.0), lists.shape[:-1]).copy()

    def _chains(self, first: Ids, more: Ids) -> Ids:
        """`first + more[0] + more[1] …` along the last axis."""
        k = more.shape[-1]
        n = prod(more.shape[:-1])
        if not k or not n:
            return first[..., 0]
        self.make_room(n * k)
        table = np.empty((n, k, 3), np.int64)
        begins = ROWS + len(self.tracer.rows) // 3
        own = (begins + np.arange(n * k)).reshape(n, k)
        self._note_weights(self.tracer.codes[id(ops.add)], (first, more))
        table[..., 0] = self.tracer.codes[id(ops.add)]
        table[:, 0, 1] = first.reshape(n)
        table[:, 1:, 1] = own[:, :-1]
        table[..., 2] = more.reshape(n, k)
        self.tracer.many_rows(table.ravel().tolist())
        return own[:, -1].reshape(more.shape[:-1])

    def _dots(self, a: Ids, b: Ids) -> Ids:
        """Products along the last axis, added up: `a[0] * b[0] + a[1] * b[1] …`, each sum by itself."""
        a, b = np.broadcast_arrays(a, b)
        shape, k = a.shape[:-1], a.shape[-1]
        n = prod(shape)
        if not k:
            return self._nothing(a)
        if not n:
            return np.zeros(shape, np.int64)
        size = 2 * k - 1
        self.make_room(n * size)
        mul, add = (self.tracer.codes[id(op)] for op in (ops.mul, ops.add))
        self._note_weights(mul, (a, b))
        begins = ROWS + len(self.tracer.rows) // 3
        own = (begins + np.arange(n * size)).reshape(n, size)
        products = plain_array([0, *range(1, size, 2)])  # rows of products; the others add them up
        table = np.empty((n, size, 3), np.int64)
        table[:, products, 0] = mul
        table[:, products, 1] = a.reshape(n, k)
        table[:, products, 2] = b.reshape(n, k)
        table[:, 2::2, 0] = add
        table[:, 2::2, 1] = own[:, [0, *range(2, size - 1, 2)]] if k > 1 else 0
        table[:, 2::2, 2] = own[:, 1::2]
        self.tracer.many_rows(table.ravel().tolist())
        return own[:, -1].reshape(shape)

    def cumsum(self, x: Any, axis: int) -> Any:
        if not isinstance(x, Block):
            return self.real.cumsum(x, axis)
        ids = np.moveaxis(x.ids, axis, -1)
        columns = [ids[..., 0]] if ids.shape[-1] else []
        for i in range(1, ids.shape[-1]):
            columns.append(self.write(self.tracer.codes[id(ops.add)], columns[-1], ids[..., i]))
        found = np.stack(columns, -1) if columns else ids
        return self.block(np.moveaxis(found, -1, axis), x.dtype if x.dtype.startswith("float") else INT64)

    def matmul(self, a: Any, b: Any) -> Any:
        if not isinstance(a, Block) and not isinstance(b, Block):
            return self.real.matmul(a, b)
        left, right = self.ids_of(a), self.ids_of(b)
        rows = left if left.ndim > 1 else left[None, :]
        columns = right if right.ndim > 1 else right[:, None]
        self.make_room(0 if not rows.shape[-1] else _size_of_product(rows.shape, columns.shape))
        found = self._dots(rows[..., :, None, :], np.swapaxes(columns, -1, -2)[..., None, :, :])
        found = found if right.ndim > 1 else found[..., 0]
        found = found if left.ndim > 1 else found[..., 0, :] if right.ndim > 1 else found[..., 0]
        return self.block(found, max(self.kind_of(a), self.kind_of(b), key=_RANKS.__getitem__))

    def einsum(self, spec: str, parts: Sequence[Any]) -> Any:
        if not any(isinstance(part, Block) for part in parts):
            return self.real.einsum(spec, parts)
        left, _, result = spec.partition("->")
        terms = left.split(",")
        sizes = {
            letter: n
            for term, part in zip(terms, parts, strict=True)
            for letter, n in zip(term, part.shape, strict=True)
        }
        summed = [letter for letter in sizes if letter not in result]
        self.make_room(prod(sizes.values()))
        columns = []
        for term, part in zip(terms, parts, strict=True):
            own = "".join(dict.fromkeys(term))
            ids = np.einsum(f"{term}->{own}", self.ids_of(part))
            order = [letter for letter in (*result, *summed) if letter in own]
            ids = ids.transpose([own.index(letter) for letter in order])
            ids = ids.reshape([sizes[letter] if letter in own else 1 for letter in (*result, *summed)])
            columns.append(np.broadcast_to(ids, [sizes[letter] for letter in (*result, *summed)]))
        shape = [sizes[letter] for letter in result]
        columns = [column.reshape(*shape, prod(sizes[letter] for letter in summed)) for column in columns]
        while len(columns) > 2:
            columns[:2] = [self.write(self.tracer.codes[id(ops.mul)], *columns[:2])]
        found = self._dots(*columns) if len(columns) == 2 else self._sums(columns[0])
        return self.block(found, max(map(self.kind_of, parts), key=_RANKS.__getitem__))


def _size_of_product(left: Shape, right: Shape) -> int:
    return prod(np.broadcast_shapes(left[:-2], right[:-2])) * left[-2] * left[-1] * right[-1] * 2
