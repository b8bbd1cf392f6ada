"""Kernels for ops, written out from the op table: one for each op, way of reading its operands, and direction.

An operand is read in one of three ways: from a run of memory (`s`), one number for a whole row (`u`), or by a list of
positions (`g`). The loop is the same for all ops; its body comes from `formulas`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from gradwalk import formulas
from gradwalk.compile.native import objects
from gradwalk.compile.native.language import numba_language
from gradwalk.compile.native.layout import (
    ACCESS,
    COLUMN,
    ELEMENT_COLUMNS,
    ELEMENT_OPERANDS,
    ELEMENT_ROWS,
    LIST,
    LISTS,
    OUT,
    OWN,
    OWN_GRADS,
    ROW,
    SPACE,
    START,
)
from gradwalk.compile.native.objects import Native
from gradwalk.formulas import Sheet
from gradwalk.ops import Op

__all__ = ["element", "element_back", "op_slopes", "op_value"]


# --- functions of single numbers -------------------------------------------------------------------------------------


@cache
def op_value(op: Op) -> Native:
    """A native function that reads operands and writes the value.

    >>> op_value(ops.mul).name
    'mul value'
    """
    written, (result,) = value_lines(op)
    lines = [f"x{i} = x[{i}]" for i in range(op.arity)] + written + [f"doubles(to)[0] = {result}"]
    return objects.generated(f"{op.name} value", _function("at, to", ["x = doubles(at)", *lines]))


@cache
def op_slopes(op: Op) -> Native:
    """A native function that reads operands and result and writes all derivatives.

    >>> op_slopes(ops.mul).name
    'mul slopes'
    """
    written, results, _ = slope_lines(op, range(op.arity), "out")
    lines = [f"x{i} = x[{i}]" for i in range(op.arity)] + [f"out = x[{op.arity}]", *written, "s = doubles(to)"]
    lines += [f"s[{i}] = {result}" for i, result in enumerate(results)]
    return objects.generated(f"{op.name} slopes", _function("at, to", ["x = doubles(at)", *lines]))


def _function(arguments: str, lines: list[str]) -> str:
    return f"def kernel({arguments}):\n" + "".join(f"    {line}\n" for line in lines)


# --- runs of single numbers ------------------------------------------------------------------------------------------


@cache
def element(op: Op, ways: str, exponent: float | None = None) -> Native:
    """The kernel for the value of an op; a power may have its exponent built in.

    >>> print(element(ops.mul, "su").text)
    def kernel(descriptor, context):
        d = longs(descriptor)
        c = longs(context)
        columns = d[2]
        for r in range(d[1]):
            out = doubles(c[0] + 8 * (d[0] + r * columns))
            from0 = doubles(c[d[3]] + 8 * (d[4] + r * d[5]))
            x1 = doubles(c[d[8]] + 8 * (d[9] + r * d[10]))[0]
            for i in range(columns):
                x0 = from0[i]
                t1 = x0 * x1
                out[i] = t1
    <BLANKLINE>
    """
    written, (result,) = value_lines(op, exponent)
    body = [*_each(ways, range(len(ways))), *written, f"out[i] = {result}"]
    inner = [f"out = doubles(c[{OWN}] + 8 * (d[{OUT}] + r * columns))", *_for_row(ways, range(len(ways)))]
    return objects.generated(f"{op.name} {ways}", _loops([(inner, body, [])]))


@cache
def element_back(
    op: Op, ways: str, wanted: tuple[int, ...], stored: tuple[int, ...] = (), exponent: float | None = None
) -> Native:
    """The kernel for the gradients of an op with respect to the wanted operands, one loop for each.

    >>> [line.strip() for line in element_back(ops.mul, "sg", (1,)).text.splitlines()][-3:]
    ['x0 = from0[i]', 'at1 = list1[i]', 'grads1[at1] += x0 * push[i]']
    """
    loops = []
    for k in wanted:
        written, (slope,), names = slope_lines(op, [k], "out[i]", exponent)
        used = [j for j in range(len(ways)) if f"x{j}" in names]
        inner = [f"push = doubles(c[{OWN_GRADS}] + 8 * (d[{OUT}] + r * columns))"]
        if "out[i]" in names:
            inner.append(f"out = doubles(c[{OWN}] + 8 * (d[{OUT}] + r * columns))")
        inner += _for_row(ways, used)
        body = [*_each(ways, used), *written]
        after = []
        space, start, row, _, places = (f"d[{word}]" for word in _access(k))
        if ways[k] == "g":
            inner.append(f"grads{k} = doubles(c[{space} + 1])")
            inner.append(f"list{k} = ints(c[{LISTS}] + 4 * {places})")
            body += [f"at{k} = list{k}[i]", f"grads{k}[at{k}] += {slope} * push[i]"]
        else:
            inner.append(f"grads{k} = doubles(c[{space} + 1] + 8 * ({start} + r * {row}))")
            if ways[k] == "s":
                body.append(f"grads{k}[i] {'' if k in stored else '+'}= {slope} * push[i]")
            else:
                inner.append("total = 0.0")
                body.append(f"total = add_any_order(total, {slope} * push[i])")
                after.append(f"grads{k}[0] += total")
        loops.append((inner, body, after))
    name = f"{op.name} {ways} back {''.join(map(str, wanted))} {''.join(map(str, stored))}"
    return objects.generated(name, _loops(loops))


def value_lines(op: Op, exponent: float | None = None, dtype: str = "float64") -> tuple[list[str], list[str]]:
    """Lines for the value of an op at `x0`, `x1`, …, and its name; an exponent may be built in."""
    sheet = Sheet()
    return formulas.lines(sheet, [formulas.value(op, _operands(op, sheet, exponent))], numba_language(dtype))


def slope_lines(
    op: Op, wanted: Sequence[int], out: str, exponent: float | None = None, dtype: str = "float64"
) -> tuple[list[str], list[str], set[str]]:
    """Lines for the derivatives of an op in the wanted operands, their names, and those of what they are made from."""
    sheet = Sheet()
    results = formulas.slopes(op, _operands(op, sheet, exponent), sheet.inputs(out)[0], wanted)
    return *formulas.lines(sheet, results, numba_language(dtype)), formulas.used(sheet, results)


def _operands(op: Op, sheet: Sheet, exponent: float | None) -> list[Any]:
    operands: list[Any] = sheet.inputs(*(f"x{k}" for k in range(op.arity)))
    return operands if exponent is None else [operands[0], exponent]


def _access(operand: int) -> tuple[int, ...]:
    base = ELEMENT_OPERANDS + operand * ACCESS
    return tuple(base + word for word in (SPACE, START, ROW, COLUMN, LIST))


def _for_row(ways: str, used: Iterable[int]) -> list[str]:
    """Lines before the inner loop: where a row of each operand is."""
    lines = []
    for k in used:
        space, start, row, _, places = (f"d[{word}]" for word in _access(k))
        if ways[k] == "g":
            lines += [f"from{k} = doubles(c[{space}])", f"list{k} = ints(c[{LISTS}] + 4 * {places})"]
        elif ways[k] == "s":
            lines.append(f"from{k} = doubles(c[{space}] + 8 * ({start} + r * {row}))")
        else:
            lines.append(f"x{k} = doubles(c[{space}] + 8 * ({start} + r * {row}))[0]")
    return lines


def _each(ways: str, used: Iterable[int]) -> list[str]:
    """Lines in the inner loop: one number of each operand."""
    read = {"g": "x{0} = from{0}[list{0}[i]]", "s": "x{0} = from{0}[i]"}
    return [read[ways[k]].format(k) for k in used if ways[k] in read]


def _loops(loops: list[tuple[list[str], list[str], list[str]]]) -> str:
    """A kernel of loops over rows, each with lines before, in and after its inner loop."""
    lines = ["def kernel(descriptor, context):", "    d = longs(descriptor)", "    c = longs(context)"]
    lines.append(f"    columns = d[{ELEMENT_COLUMNS}]")
    for before, body, after in loops:
        lines.append(f"    for r in range(d[{ELEMENT_ROWS}]):")
        lines += [f"        {line}" for line in before]
        lines.append("        for i in range(columns):")
        lines += [f"            {line}" for line in body]
        lines += [f"        {line}" for line in after]
    return "\n".join(lines) + "\n"
