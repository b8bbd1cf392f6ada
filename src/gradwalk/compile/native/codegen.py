"""Kernels for ops, written out from the op table: one for each op, way of reading its operands, and direction.

For single samples an operand is read in one of three ways: from a run of memory (`s`), one number for a whole row
(`u`), or by a list of positions (`g`). In batches it is a row of lanes in memory (`m`), one for each sample, or one
parameter for all of them (`p`). The loops are the same for all ops; their body comes from `formulas`.
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
    ELEMENT_COLUMNS,
    ELEMENT_OPERANDS,
    ELEMENT_ROWS,
    LANES,
    LIST,
    LISTS,
    OUT,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
    ROW,
    SPACE,
    START,
)
from gradwalk.compile.native.objects import Native
from gradwalk.formulas import Sheet
from gradwalk.formulas.lines import indented
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
    return "\n".join([f"def kernel({arguments}):", *indented(lines)]) + "\n"


# --- runs of numbers, and of lanes -----------------------------------------------------------------------------------


@cache
def element(op: Op, ways: str, exponent: float | None = None, dtype: str = "float64") -> Native:
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
    >>> print(element(ops.mul, "mp").text)
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
    form, every = _Form(ways, dtype), range(len(ways))
    written, (result,) = value_lines(op, exponent, dtype)
    inner = form.inner([*form.reads(every), *written, f"out[{form.at}] = {result}"])
    lines = form.outer([form.results("out", OWN), *form.operands(every), *inner])
    return form.kernel(f"{op.name} {ways} {dtype}", lines)


@cache
def element_back(
    op: Op, ways: str, wanted: tuple[int, ...], stored: tuple[int, ...] = (), exponent: float | None = None,
    dtype: str = "float64",
) -> Native:  # fmt: skip
    """The kernel for the gradients of an op with respect to the wanted operands, one loop for each.

    In batches, a word for each operand after them says whether it gets its gradient, and whether added or stored; what
    belongs to a parameter is added up over the lanes.

    >>> [line.strip() for line in element_back(ops.mul, "sg", (1,)).text.splitlines()][-3:]
    ['x0 = from0[i]', 'at1 = list1[i]', 'grads1[at1] += x0 * push[i]']
    >>> [line.strip() for line in element_back(ops.mul, "mp", (0, 1)).text.splitlines()][-3:]
    ['x0 = from0[lane]', 'total = add_any_order(total, x0 * push[lane])', 'doubles(c[3])[at1] += total']
    """
    form, lines, out = _Form(ways, dtype), [], f"out[{_Form(ways, dtype).at}]"
    for k in wanted:
        written, (slope,), names = slope_lines(op, [k], out, exponent, dtype)
        used = [j for j in range(len(ways)) if f"x{j}" in names]
        before = [form.results("push", OWN_GRADS), *([form.results("out", OWN)] if out in names else [])]
        each, share = [*form.reads(used), *written], f"{slope} * push[{form.at}]"
        loops = form.outer([*before, *form.operands(used), *form.pushes(k, each, share, k in stored)])
        lines += [f"if {form.mode(k)} != 0:", *indented(loops)] if form.lanes else loops
    return form.kernel(f"{op.name} {ways} back {wanted} {stored} {dtype}", lines)


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


def _access(operand: int) -> list[str]:
    """The words of the descriptor that say where an operand is."""
    return [f"d[{ELEMENT_OPERANDS + operand * ACCESS + word}]" for word in (SPACE, START, ROW, LIST)]


def _position(operand: int) -> str:
    return f"position(c, longs(descriptor + {8 * (ELEMENT_OPERANDS + operand * ACCESS)}), r, i, columns)"


class _Form:
    """How a kernel reads operands and writes results, in these ways and this dtype."""

    def __init__(self, ways: str, dtype: str) -> None:
        self.ways, self.dtype = ways, dtype
        self.lanes = ways[0] in "mp"
        self.at = "lane" if self.lanes else "i"
        self.memory, self.size = ("doubles", 8) if dtype == "float64" else ("floats", 4)

    def kernel(self, name: str, lines: list[str]) -> Native:
        head = ["d = longs(descriptor)", "c = longs(context)", *([f"lanes = c[{LANES}]"] if self.lanes else [])]
        text = _function("descriptor, context", [*head, f"columns = d[{ELEMENT_COLUMNS}]", *lines])
        return objects.generated(name, text, functions="vmath" if self.dtype == "float64" else "vmath32")

    def outer(self, lines: list[str]) -> list[str]:
        """Lines that are done for every row; in batches for every result."""
        lines = ["for i in range(columns):", *indented(lines)] if self.lanes else lines
        return [f"for r in range(d[{ELEMENT_ROWS}]):", *indented(lines)]

    def inner(self, lines: list[str]) -> list[str]:
        """Lines that are done for every number."""
        return ["for lane in range(lanes):" if self.lanes else "for i in range(columns):", *indented(lines)]

    def results(self, name: str, space: int) -> str:
        """The line that says where results are, or their gradients."""
        at = f"(d[{OUT}] + r * columns + i) * lanes" if self.lanes else f"(d[{OUT}] + r * columns)"
        return f"{name} = {self.memory}(c[{space}] + {self.size} * {at})"

    def operands(self, used: Iterable[int]) -> list[str]:
        """Lines before the inner loop: where operands are, or what they are."""
        lines = []
        for k in used:
            space, start, row, places = _access(k)
            lines += {
                "g": [f"from{k} = doubles(c[{space}])", f"list{k} = ints(c[{LISTS}] + 4 * {places})"],
                "s": [f"from{k} = doubles(c[{space}] + 8 * ({start} + r * {row}))"],
                "u": [f"x{k} = doubles(c[{space}] + 8 * ({start} + r * {row}))[0]"],
                "m": [f"from{k} = {self.memory}(c[{OWN}] + {self.size} * {_position(k)} * lanes)"],
                "p": [f"x{k} = {self.memory}(c[{PARAMETERS}])[{_position(k)}]"],
            }[self.ways[k]]
        return lines

    def reads(self, used: Iterable[int]) -> list[str]:
        """Lines in the inner loop: one number of each operand."""
        read = {"g": "x{0} = from{0}[list{0}[i]]", "s": "x{0} = from{0}[i]", "m": "x{0} = from{0}[lane]"}
        return [read[self.ways[k]].format(k) for k in used if self.ways[k] in read]

    def mode(self, k: int) -> str:
        """The word that says what becomes of an operand's gradient: 0 nothing, 1 added, 2 stored."""
        return f"d[{ELEMENT_OPERANDS + len(self.ways) * ACCESS + k}]"

    def pushes(self, k: int, each: list[str], share: str, stored: bool) -> list[str]:
        """The inner loop, which gives an operand its share of every gradient, and what stands around it."""
        space, start, row, places = _access(k)
        added_up = self.inner([*each, f"total = add_any_order(total, {share})"])
        match self.ways[k]:
            case "g":
                to = [f"grads{k} = doubles(c[{space} + 1])", f"list{k} = ints(c[{LISTS}] + 4 * {places})"]
                return [*to, *self.inner([*each, f"at{k} = list{k}[i]", f"grads{k}[at{k}] += {share}"])]
            case "s":
                to = [f"grads{k} = doubles(c[{space} + 1] + 8 * ({start} + r * {row}))"]
                return [*to, *self.inner([*each, f"grads{k}[i] {'' if stored else '+'}= {share}"])]
            case "u":
                to = [f"grads{k} = doubles(c[{space} + 1] + 8 * ({start} + r * {row}))", "total = 0.0"]
                return [*to, *added_up, f"grads{k}[0] += total"]
            case "p":
                to = [f"at{k} = {_position(k)}", f"total = {numba_language(self.dtype).literal(0.0)}"]
                return [*to, *added_up, f"{self.memory}(c[{PARAMETER_GRADS}])[at{k}] += total"]
        to = [f"at{k} = {_position(k)}", f"grads = {self.memory}(c[{OWN_GRADS}] + {self.size} * at{k} * lanes)"]
        write, add = (indented(self.inner([*each, f"grads[lane] {sign} {share}"])) for sign in ("=", "+="))
        return [*to, f"if {self.mode(k)} == 2:", *write, "else:", *add]
