"""Products of matrices, for kernels: tiles of the size that the processor's registers want, or plain loops."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from gradwalk.compile.native.microkernels import (
    add_any_order,
    doubles,
    floats,
    inlined,
    make_gatherer,
    make_tile,
    outlined,
)
from gradwalk.compile.native.processor import vector_bits

__all__ = ["KEPT", "KEPT32", "gather", "gather32", "multiply", "multiply32"]


def _multiplier(real: Any, memory: Any) -> Any:
    """A function `multiply(rows, inner, columns, left, left_row, left_step, right, right_row, out, out_row, add)`."""
    size = 8 if isinstance(real, ir.DoubleType) else 4
    if vector_bits() == 0:

        @outlined
        def plain(rows: Any, inner: Any, columns: Any, left: Any, left_row: Any, left_step: Any, right: Any,
                  right_row: Any, out: Any, out_row: Any, add: Any) -> None:  # fmt: skip
            for m in range(rows):
                to = memory(out + size * m * out_row)
                if not add:
                    for n in range(columns):
                        to[n] = -0.0
                for i in range(inner):
                    factor = memory(left + size * (m * left_row + i * left_step))[0]
                    row = memory(right + size * i * right_row)
                    for n in range(columns):
                        to[n] += factor * row[n]

        return plain

    lanes = vector_bits() // 8 // size
    wide = 4 if vector_bits() == 512 else 2  # 16 registers of 256 bits hold 4 × 2 sums, 32 of 512 hold 4 × 4
    tall = 8 if vector_bits() == 512 else 4

    def strip(height: int, width: int) -> Any:
        """So many rows of a result: by tiles of so many vectors, of single ones, and of what is left of one."""
        many = make_tile(height, width, real, masked=False)
        one, last = make_tile(height, 1, real, masked=False), make_tile(height, 1, real, masked=True)

        @inlined
        def along(columns: Any, a: Any, row: Any, step: Any, b: Any, right_row: Any, inner: Any, to: Any, out_row: Any,
                  add: Any) -> None:  # fmt: skip
            whole, n = columns // lanes * lanes, 0
            while width > 1 and n + width * lanes <= whole:
                many(a, row, step, b + size * n, right_row, inner, to + size * n, out_row, add, 0)
                n += width * lanes
            while n < whole:
                one(a, row, step, b + size * n, right_row, inner, to + size * n, out_row, add, 0)
                n += lanes
            if n < columns:
                last(a, row, step, b + size * n, right_row, inner, to + size * n, out_row, add, columns - n)

        return along

    high, four, single = strip(tall, 1), strip(4, wide), strip(1, wide)

    @outlined
    def multiply(rows: Any, inner: Any, columns: Any, left: Any, left_row: Any, left_step: Any, right: Any,
                 right_row: Any, out: Any, out_row: Any, add: Any) -> None:  # fmt: skip
        m = 0
        while m < rows:
            a, to = left + size * m * left_row, out + size * m * out_row
            if rows - m >= tall and columns < wide * lanes:
                high(columns, a, left_row, left_step, right, right_row, inner, to, out_row, add)
                m += tall
            elif rows - m >= 4:
                four(columns, a, left_row, left_step, right, right_row, inner, to, out_row, add)
                m += 4
            else:
                single(columns, a, left_row, left_step, right, right_row, inner, to, out_row, add)
                m += 1

    return multiply


multiply = _multiplier(ir.DoubleType(), doubles)
multiply32 = _multiplier(ir.FloatType(), floats)


def _gatherer(real: Any, memory: Any) -> Any:
    """A function `gather(rows, columns, left, left_row, right, right_row, numbers, sums)`.

    It contracts along the numbers of a row, a whole number of vectors; `sums` holds one vector for each result (one
    number where there are no vectors), which is to be added up once, at the end of everything.
    """
    size = 8 if isinstance(real, ir.DoubleType) else 4
    if vector_bits() == 0:

        @outlined
        def plain(rows: Any, columns: Any, left: Any, left_row: Any, right: Any, right_row: Any, numbers: Any,
                  sums: Any) -> None:  # fmt: skip
            for m in range(rows):
                g = memory(left + size * m * left_row)
                for j in range(columns):
                    x = memory(right + size * j * right_row)
                    to = memory(sums + size * (m * columns + j))
                    total = to[0]
                    for n in range(numbers):
                        total = add_any_order(total, g[n] * x[n])
                    to[0] = total

        return plain

    lanes = vector_bits() // 8 // size
    wide = 4 if vector_bits() == 512 else 2

    def strip(height: int) -> Any:
        """The sums of so many rows: with as many columns at a time as registers allow, then with single ones."""
        many, one = make_gatherer(height, wide, real), make_gatherer(height, 1, real)

        @inlined
        def along(columns: Any, g: Any, left_row: Any, x: Any, right_row: Any, count: Any, to: Any) -> None:
            j = 0
            while j + wide <= columns:
                many(g, left_row, x + size * j * right_row, right_row, count, to + size * lanes * j, columns)
                j += wide
            while j < columns:
                one(g, left_row, x + size * j * right_row, right_row, count, to + size * lanes * j, columns)
                j += 1

        return along

    four, single = strip(4), strip(1)

    @outlined
    def gather(rows: Any, columns: Any, left: Any, left_row: Any, right: Any, right_row: Any, numbers: Any,
               sums: Any) -> None:  # fmt: skip
        count, m = numbers // lanes, 0
        while m < rows:
            g, to = left + size * m * left_row, sums + size * lanes * m * columns
            if rows - m >= 4:
                four(columns, g, left_row, right, right_row, count, to)
                m += 4
            else:
                single(columns, g, left_row, right, right_row, count, to)
                m += 1

    return gather


#: How many numbers `gather` keeps for each result.
KEPT, KEPT32 = max(vector_bits() // 64, 1), max(vector_bits() // 32, 1)
gather = _gatherer(ir.DoubleType(), doubles)
gather32 = _gatherer(ir.FloatType(), floats)
