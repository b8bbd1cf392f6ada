"""What kernels are built from: memory by address, bits of floats, calls by address, and vector tiles.

These are Numba intrinsics: each puts a few LLVM instructions where it is called. The tiles are written in LLVM's vector
types, as wide as the processor's registers; where it has none that are worth it, plain loops do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from gradwalk.compile.native.layout import COLUMN, LIST, LISTS, ROW, START
from gradwalk.compile.native.processor import vector_bits

__all__ = ["add_any_order", "bits_of", "bits_of32", "bools", "doubles", "floats", "fma", "from_bits", "from_bits32",
           "inlined", "ints", "invoke", "longs", "make_gatherer", "make_tile", "outlined", "position"]  # fmt: skip

WORD = ir.IntType(64)
SMALL = ir.IntType(32)


def inlined(function: Callable[..., Any]) -> Any:
    """A function that kernels call: compiled into whatever calls it.

    >>> inlined(lambda x: x).py_func(3)
    3
    """
    return numba.njit(function, error_model="numpy", forceinline=True)


def outlined(function: Callable[..., Any]) -> Any:
    """A function that kernels call, large enough to be left a function of its own.

    >>> outlined(lambda x: x).py_func(3)
    3
    """
    return numba.njit(function, error_model="numpy")


# --- memory, bits, calls ---------------------------------------------------------------------------------------------


def _memory(item: Any) -> Any:
    def memory(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(item)))

        return types.CPointer(item)(types.int64), generate

    return intrinsic(memory)


#: The memory at an address, as float64, float32, int64, int32 and bytes.
doubles, floats = _memory(types.float64), _memory(types.float32)
longs, ints, bools = _memory(types.int64), _memory(types.int32), _memory(types.uint8)


def _same_bits(source: Any, target: Any, llvm_type: Any) -> Any:
    def convert(typing_context: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], llvm_type)

        return target(source), generate

    return intrinsic(convert)


bits_of = _same_bits(types.float64, types.int64, WORD)
from_bits = _same_bits(types.int64, types.float64, ir.DoubleType())
bits_of32 = _same_bits(types.float32, types.int32, SMALL)
from_bits32 = _same_bits(types.int32, types.float32, ir.FloatType())


def _invoke(typing_context: Any, function: Any, first: Any, second: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [WORD, WORD])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


#: Call the native function at an address.
invoke = intrinsic(_invoke)


def _position(c: Any, access: Any, row: Any, column: Any, columns: Any) -> Any:
    if access[LIST] >= 0:
        return numpy.int64(ints(c[LISTS] + 4 * access[LIST])[row * columns + column])
    return access[START] + row * access[ROW] + column * access[COLUMN]


#: Where an entry of a matrix of operands is: `position(context, access, row, column, columns)`.
position = inlined(_position)


# --- arithmetic that plain Python cannot ask for ---------------------------------------------------------------------


def _declared(module: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return cgutils.get_or_insert_function(module, ir.FunctionType(result, arguments), name)


def _suffix(kind: Any) -> str:
    """How LLVM spells a type in the name of an intrinsic."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{_suffix(kind.element)}"
    return "f64" if isinstance(kind, ir.DoubleType) else "f32"


def _fused(builder: Any, x: Any, y: Any, z: Any) -> Any:
    name = f"llvm.fmuladd.{_suffix(x.type)}"
    return builder.call(_declared(builder.module, name, x.type, [x.type] * 3), [x, y, z])


def _fma(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _fused(builder, *arguments)

    return x(x, x, x), generate


#: x · y + z, rounded once where the processor can.
fma = intrinsic(_fma)


def _add_any_order(typing_context: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments, flags=["reassoc", "contract"])

    return x(x, x), generate


#: x + y in a loop that adds up: LLVM may keep several partial sums, which lets it use vectors.
add_any_order = intrinsic(_add_any_order)


# --- tiles -----------------------------------------------------------------------------------------------------------


def make_tile(rows: int, vectors: int, real: Any, masked: bool) -> Any:
    """A piece of a matrix product that stays in registers: `rows` × `vectors` accumulators.

    `tile(left, left_row, left_step, right, right_row, inner, out, out_row, add, last)` computes, for each row m and
    column n of the tile, out[m · out_row + n] (+)= Σᵢ left[m · left_row + i · left_step] · right[i · right_row + n].
    Addresses are in bytes and distances in numbers. With `masked`, only `last` numbers of the last vector exist.

    >>> make_tile(4, 1, ir.DoubleType(), masked=False) is not None
    True
    """
    size = 8 if isinstance(real, ir.DoubleType) else 4
    lanes = max(vector_bits(), 256) // 8 // size
    vector = ir.VectorType(real, lanes)
    mask_type = ir.VectorType(ir.IntType(1), lanes)
    shape = [(m, n) for m in range(rows) for n in range(vectors)]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, left_row, left_step, right, right_row, inner, out, out_row, add, last = arguments

        def number(k: int) -> Any:
            return ir.Constant(WORD, k)

        def at(base: Any, distance: Any, kind: Any) -> Any:
            return builder.inttoptr(builder.add(base, builder.mul(distance, number(size))), ir.PointerType(kind))

        def repeated(x: Any) -> Any:
            nowhere = ir.Constant(ir.VectorType(x.type, lanes), ir.Undefined)
            first = builder.insert_element(nowhere, x, ir.Constant(SMALL, 0))
            return builder.shuffle_vector(first, nowhere, ir.Constant(ir.VectorType(SMALL, lanes), [0] * lanes))

        if masked:
            counted = ir.Constant(ir.VectorType(WORD, lanes), list(range(lanes)))
            mask = builder.icmp_signed("<", counted, repeated(last))
        zeros = ir.Constant(vector, [0.0] * lanes)
        name = f"v{lanes}{_suffix(real)}.p0"

        def load(pointer: Any, n: int) -> Any:
            if not masked or n < vectors - 1:
                return builder.load(pointer, align=size)
            function = _declared(
                builder.module, f"llvm.masked.load.{name}", vector, [pointer.type, SMALL, mask_type, vector]
            )
            return builder.call(function, [pointer, ir.Constant(SMALL, size), mask, zeros])

        def store(x: Any, pointer: Any, n: int) -> None:
            if not masked or n < vectors - 1:
                builder.store(x, pointer, align=size)
                return
            function = _declared(
                builder.module, f"llvm.masked.store.{name}", ir.VoidType(), [vector, pointer.type, SMALL, mask_type]
            )
            builder.call(function, [x, pointer, ir.Constant(SMALL, size), mask])

        totals = {place: cgutils.alloca_once(builder, vector) for place in shape}
        ends = {
            (m, n): at(out, builder.add(builder.mul(out_row, number(m)), number(n * lanes)), vector) for m, n in shape
        }
        with builder.if_else(builder.icmp_signed("!=", add, number(0))) as (then, otherwise):
            with then:
                for m, n in shape:
                    builder.store(load(ends[m, n], n), totals[m, n])
            with otherwise:  # -0.0 is the one number that changes nothing when it is added to
                for place in shape:
                    builder.store(ir.Constant(vector, [-0.0] * lanes), totals[place])
        with cgutils.for_range(builder, inner) as loop:
            row = builder.mul(loop.index, right_row)
            columns = [load(at(right, builder.add(row, number(n * lanes)), vector), n) for n in range(vectors)]
            step = builder.mul(loop.index, left_step)
            for m in range(rows):
                factor = builder.load(at(left, builder.add(step, builder.mul(left_row, number(m))), real))
                for n in range(vectors):
                    total = _fused(builder, repeated(factor), columns[n], builder.load(totals[m, n]))
                    builder.store(total, totals[m, n])
        for m, n in shape:
            store(builder.load(totals[m, n]), ends[m, n], n)
        return context.get_dummy_value()

    def tile(
        typing_context: Any, left: Any, left_row: Any, left_step: Any, right: Any, right_row: Any, inner: Any, out: Any,
        out_row: Any, add: Any, last: Any,
    ) -> Any:  # fmt: skip
        return types.void(*[types.int64] * 10), generate

    return intrinsic(tile)


def make_gatherer(rows: int, columns: int, real: Any) -> Any:
    """The other contraction of a matrix product, along the vectors: `rows` × `columns` sums that stay vectors.

    `gather(left, left_row, right, right_row, count, sums, sums_row)` adds, for each row m and column j, the vectors
    left[m · left_row + v] · right[j · right_row + v] for v < count to the vector sums[m · sums_row + j]. Distances of
    `left` and `right` are in numbers, those of `sums` in vectors.

    >>> make_gatherer(4, 4, ir.DoubleType()) is not None
    True
    """
    size = 8 if isinstance(real, ir.DoubleType) else 4
    lanes = max(vector_bits(), 256) // 8 // size
    vector = ir.VectorType(real, lanes)
    shape = [(m, j) for m in range(rows) for j in range(columns)]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, left_row, right, right_row, count, sums, sums_row = arguments

        def number(k: int) -> Any:
            return ir.Constant(WORD, k)

        def at(base: Any, distance: Any) -> Any:
            return builder.inttoptr(builder.add(base, builder.mul(distance, number(size))), ir.PointerType(vector))

        ends = {
            (m, j): at(sums, builder.mul(builder.add(builder.mul(sums_row, number(m)), number(j)), number(lanes)))
            for m, j in shape
        }
        totals = {place: cgutils.alloca_once(builder, vector) for place in shape}
        for place in shape:
            builder.store(builder.load(ends[place], align=size), totals[place])
        with cgutils.for_range(builder, count) as loop:
            here = builder.mul(loop.index, number(lanes))
            xs = [
                builder.load(at(right, builder.add(here, builder.mul(right_row, number(j)))), align=size)
                for j in range(columns)
            ]
            for m in range(rows):
                g = builder.load(at(left, builder.add(here, builder.mul(left_row, number(m)))), align=size)
                for j in range(columns):
                    builder.store(_fused(builder, g, xs[j], builder.load(totals[m, j])), totals[m, j])
        for place in shape:
            builder.store(builder.load(totals[place]), ends[place], align=size)
        return context.get_dummy_value()

    def gather(
        typing_context: Any, left: Any, left_row: Any, right: Any, right_row: Any, count: Any, sums: Any, sums_row: Any
    ) -> Any:
        return types.void(*[types.int64] * 7), generate

    return intrinsic(gather)
