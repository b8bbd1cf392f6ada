"""Products of matrices, for kernels: tiles of the size that the processor's registers want, or plain loops."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from gradwalk.compile.native.microkernels import add_any_order, doubles, floats, make_gatherer, make_tile, outlined
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
    many = make_tile(4, wide, real, masked=False)
    one_by_many = make_tile(1, wide, real, masked=False)
    high, high_last = make_tile(tall, 1, real, masked=False), make_tile(tall, 1, real, masked=True)
    four, four_last = make_tile(4, 1, real, masked=False), make_tile(4, 1, real, masked=True)
    one, one_last = make_tile(1, 1, real, masked=False), make_tile(1, 1, real, masked=True)

    @outlined
    def multiply(rows: Any, inner: Any, columns: Any, left: Any, left_row: Any, left_step: Any, right: Any,
                 right_row: Any, out: Any, out_row: Any, add: Any) -> None:  # fmt: skip
        whole = columns // lanes * lanes
        rest = columns - whole
        m = 0
        while m < rows:
            a = left + size * m * left_row
            to = out + size * m * out_row
            n = 0
            if rows - m >= tall and whole < wide * lanes:
                while n < whole:
                    high(a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, 0)
                    n += lanes
                if rest:
                    high_last(
                        a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, rest
                    )
                m += tall
            elif rows - m >= 4:
                while n + wide * lanes <= whole:
                    many(a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, 0)
                    n += wide * lanes
                while n < whole:
                    four(a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, 0)
                    n += lanes
                if rest:
                    four_last(
                        a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, rest
                    )
                m += 4
            else:
                while n + wide * lanes <= whole:
                    one_by_many(
                        a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, 0
                    )
                    n += wide * lanes
                while n < whole:
                    one(a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, 0)
                    n += lanes
                if rest:
                    one_last(
                        a, left_row, left_step, right + size * n, right_row, inner, to + size * n, out_row, add, rest
                    )
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
    many, many_by_one = make_gatherer(4, wide, real), make_gatherer(4, 1, real)
    one_by_many, one = make_gatherer(1, wide, real), make_gatherer(1, 1, real)

    @outlined
    def gather(rows: Any, columns: Any, left: Any, left_row: Any, right: Any, right_row: Any, numbers: Any,
               sums: Any) -> None:  # fmt: skip
        count = numbers // lanes
        m = 0
        while m < rows:
            g = left + size * m * left_row
            j = 0
            if rows - m >= 4:
                while j + wide <= columns:
                    to = sums + size * lanes * (m * columns + j)
                    many(g, left_row, right + size * j * right_row, right_row, count, to, columns)
                    j += wide
                while j < columns:
                    to = sums + size * lanes * (m * columns + j)
                    many_by_one(g, left_row, right + size * j * right_row, right_row, count, to, columns)
                    j += 1
                m += 4
            else:
                while j + wide <= columns:
                    to = sums + size * lanes * (m * columns + j)
                    one_by_many(g, left_row, right + size * j * right_row, right_row, count, to, columns)
                    j += wide
                while j < columns:
                    to = sums + size * lanes * (m * columns + j)
                    one(g, left_row, right + size * j * right_row, right_row, count, to, columns)
                    j += 1
                m += 1

    return gather


#: How many numbers `gather` keeps for each result.
KEPT, KEPT32 = max(vector_bits() // 64, 1), max(vector_bits() // 32, 1)
gather = _gatherer(ir.DoubleType(), doubles)
gather32 = _gatherer(ir.FloatType(), floats)
