"""Kernels for ops on batches, written out from the op table.

An operand is a row of lanes in memory (`m`), one for each sample, or one parameter for all of them (`p`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gradwalk.compile.native import objects
from gradwalk.compile.native.codegen import slope_lines, value_lines
from gradwalk.compile.native.language import numba_language
from gradwalk.compile.native.layout import (
    ACCESS,
    ELEMENT_COLUMNS,
    ELEMENT_OPERANDS,
    ELEMENT_ROWS,
    LANES,
    OUT,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
)  # fmt: skip
from gradwalk.compile.native.objects import Native
from gradwalk.formulas.lines import indented
from gradwalk.ops import Op

__all__ = ["lane_element", "lane_element_back"]


@cache
def lane_element(op: Op, ways: str, dtype: str, exponent: float | None = None) -> Native:
    """The kernel for the value of an op on lanes.

    >>> print(lane_element(ops.mul, "mp", "float64").text)
    def kernel(descriptor, context):
        d = longs(descriptor)
        c = longs(context)
        lanes = c[7]
        columns = d[2]
        for r in range(d[1]):
            for i in range(columns):
                out = doubles(c[0] + 8 * (d[0] + r * columns + i) * lanes)
                from0 = doubles(c[0] + 8 * position(c, longs(descriptor + 24), r, i, columns) * lanes)
                x1 = doubles(c[2])[position(c, longs(descriptor + 64), r, i, columns)]
                for lane in range(lanes):
                    x0 = from0[lane]
                    t1 = x0 * x1
                    out[lane] = t1
    <BLANKLINE>
    """
    written, (result,) = value_lines(op, exponent, dtype)
    reals, size = MEMORY[dtype]
    before = [f"out = {reals}(c[{OWN}] + {size} * (d[{OUT}] + r * columns + i) * lanes)"]
    before += _lane_operands(ways, range(len(ways)), dtype)
    body = [*_lane_reads(ways, range(len(ways))), *written, f"out[lane] = {result}"]
    text = _lane_kernel(_node_loops([*before, *_lane_loop(body)]))
    return objects.generated(f"{op.name} {ways} {dtype}", text, 2, FUNCTIONS[dtype])


@cache
def lane_element_back(op: Op, ways: str, dtype: str, exponent: float | None = None) -> Native:
    """The kernel for the gradients of an op on lanes; what belongs to a parameter is added up over the lanes.

    Which operands get theirs, and whether added or stored, is said by a word for each after the operands.

    >>> [line.strip() for line in lane_element_back(ops.mul, "mp", "float64").text.splitlines()][-3:]
    ['x0 = from0[lane]', 'total = add_any_order(total, x0 * push[lane])', 'doubles(c[3])[at1] += total']
    """
    lines = []
    reals, size = MEMORY[dtype]
    for k in range(len(ways)):
        written, (slope,), names = slope_lines(op, [k], "out[lane]", exponent, dtype)
        used = [j for j in range(len(ways)) if f"x{j}" in names]
        before = [f"push = {reals}(c[{OWN_GRADS}] + {size} * (d[{OUT}] + r * columns + i) * lanes)"]
        if "out[lane]" in names:
            before.append(f"out = {reals}(c[{OWN}] + {size} * (d[{OUT}] + r * columns + i) * lanes)")
        before += _lane_operands(ways, used, dtype)
        before.append(f"at{k} = {_lane_position(k)}")
        each = [*_lane_reads(ways, used), *written]
        mode = f"d[{mode_word(len(ways), k)}]"
        if ways[k] == "p":
            before.append(f"total = {numba_language(dtype).literal(0.0)}")
            inner = [*_lane_loop([*each, f"total = add_any_order(total, {slope} * push[lane])"])]
            inner.append(f"{reals}(c[{PARAMETER_GRADS}])[at{k}] += total")
        else:
            before.append(f"grads = {reals}(c[{OWN_GRADS}] + {size} * at{k} * lanes)")
            inner = [f"if {mode} == 2:", *indented(_lane_loop([*each, f"grads[lane] = {slope} * push[lane]"]))]
            inner += ["else:", *indented(_lane_loop([*each, f"grads[lane] += {slope} * push[lane]"]))]
        lines += [f"if {mode} != 0:", *indented(_node_loops([*before, *inner]))]
    return objects.generated(f"{op.name} {ways} back {dtype}", _lane_kernel(lines), 2, FUNCTIONS[dtype])


def mode_word(operands: int, operand: int) -> int:
    """Which word of the descriptor says what becomes of an operand's gradient: 0 nothing, 1 added, 2 stored."""
    return ELEMENT_OPERANDS + operands * ACCESS + operand


MEMORY = {"float64": ("doubles", 8), "float32": ("floats", 4)}
FUNCTIONS = {"float64": "vmath", "float32": "vmath32"}


def _lane_position(operand: int) -> str:
    return f"position(c, longs(descriptor + {8 * (ELEMENT_OPERANDS + operand * ACCESS)}), r, i, columns)"


def _lane_operands(ways: str, used: Iterable[int], dtype: str) -> list[str]:
    reals, size = MEMORY[dtype]
    return [
        f"x{k} = {reals}(c[{PARAMETERS}])[{_lane_position(k)}]" if ways[k] == "p"
        else f"from{k} = {reals}(c[{OWN}] + {size} * {_lane_position(k)} * lanes)"
        for k in used
    ]  # fmt: skip


def _lane_reads(ways: str, used: Iterable[int]) -> list[str]:
    return [f"x{k} = from{k}[lane]" for k in used if ways[k] == "m"]


def _lane_kernel(lines: list[str]) -> str:
    head = ["d = longs(descriptor)", "c = longs(context)", f"lanes = c[{LANES}]", f"columns = d[{ELEMENT_COLUMNS}]"]
    return "\n".join(["def kernel(descriptor, context):", *indented([*head, *lines])]) + "\n"


def _node_loops(lines: list[str]) -> list[str]:
    """Lines that are done for every node."""
    inner = ["for i in range(columns):", *indented(lines)]
    return [f"for r in range(d[{ELEMENT_ROWS}]):", *indented(inner)]


def _lane_loop(lines: list[str]) -> list[str]:
    """Lines that are done for every lane."""
    return ["for lane in range(lanes):", *indented(lines)]
