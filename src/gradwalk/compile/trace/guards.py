"""Decisions: what a function asked of its numbers while it was traced, what it was told, and how a replay asks again.

Whoever asks a stand-in for its number (`if x > 0`, `int(x)`, `f"{x}"`) is told the truth of the call at hand: the tape
written so far is run up to that number. Question and answer become a guard. At the end of the trace each guard adds
outputs to the tape, so that one comparison of bytes tells whether a replay would answer every question as before.

Native code may round differently than Python does. Where that could turn an answer, a further output says so (a hair:
two computed numbers that are all but equal), and the question is put again to plain arithmetic.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk import ops
from gradwalk.compile.trace.kinds import is_huge
from gradwalk.compile.trace.tape import INPUTS, MIN, NONE, ROWS, SHIFT, TAKE, Tape
from gradwalk.node import number_of
from gradwalk.provenance import Place

if TYPE_CHECKING:
    from gradwalk.compile.trace.answers import Answers

__all__ = ["Guard", "Numbering", "add_outputs", "numbers_at", "same", "typed"]

#: Numbers that differ by less than this, relative to what they were computed from, may be equal in plain arithmetic.
HAIR = 1e-12


@dataclass
class Guard:
    """One question and its answer.

    >>> guard = trace(lambda x: x if x > 2.0 else -x, [3.0]).guards[0]
    >>> guard.question(3.0, 2.0), guard.answer, guard.place.line
    (True, True, 1)
    """

    question: Callable[..., Any]
    operands: tuple[int, ...]  # ids, and `~k` for constants
    kinds: tuple[type, ...]  # what the operands are in the plain function
    answer: Any  # as `same` writes it
    place: Place
    row: int = NONE  # of a comparison, that says 1 or 0
    outputs: range = range(0)  # which of the tape's outputs belong to it: the row, or else the operands

    @property
    def is_comparison(self) -> bool:
        """Whether a row of the tape says the answer."""
        return self.row != NONE

    def asked(self, numbers: Sequence[float]) -> Any:
        """The answer for other numbers, as `same` writes it."""
        try:
            with np.errstate(all="ignore"):
                return same(self.question(*map(typed, self.kinds, numbers)))
        except Exception as error:  # an answer as well: no path that was followed had it
            return type(error)


def same(answer: Any) -> Any:
    """An answer such that equal ones mean equal answers: nan equals nan, and 0 is not -0.

    >>> same(0.0) == same(-0.0), same(math.nan) == same(-math.nan), same(3) == same(3.0)
    (False, True, True)
    """
    if isinstance(answer, (bool, type, tuple)) or is_huge(answer):
        return answer
    try:
        x = float(answer)
    except OverflowError:
        return answer
    return "nan" if x != x else struct.pack("d", x)


def typed(kind: type, x: float) -> Any:
    """A number as the plain function has it; one that is none of this type stays as it is.

    >>> typed(int, 3.0), typed(int, 2.5)
    (3, 2.5)
    """
    if kind is float or not math.isfinite(x):
        return x
    found = kind(x)
    return found if found == x else x


# --- plain arithmetic over a tape ------------------------------------------------------------------------------------


class Numbering:
    """What is needed to compute the numbers of a tape one by one: while it is written, or when it is finished."""

    def operands(self, node: int) -> list[int]:
        """What a node is computed from; of a take the entry that is taken. Empty for what is known."""
        raise NotImplementedError

    def value(self, node: int, operands: list[float]) -> float:
        """The number of a node."""
        raise NotImplementedError


def numbers_at(nodes: Iterable[int], known: dict[int, float], tape: Numbering) -> list[float]:
    """The numbers of nodes, in plain arithmetic; what was computed on the way is remembered in `known`."""
    wanted = list(nodes)
    ahead = [node for node in wanted if node not in known]
    while ahead:
        node = ahead[-1]
        if node in known:
            ahead.pop()
            continue
        operands = tape.operands(node)
        missing = [x for x in operands if x not in known]
        if missing:
            ahead += missing
        else:
            known[node] = tape.value(node, [known[x] for x in operands])
            ahead.pop()
    return [known[node] for node in wanted]


class BeingWritten(Numbering):
    """The tape of a tracer, as far as it is written, with the numbers of the call at hand."""

    def __init__(self, tracer: Answers) -> None:
        self.tracer = tracer

    def operands(self, node: int) -> list[int]:
        if node < ROWS:
            return []
        tracer = self.tracer
        code, a, b = tracer.rows[3 * (node - ROWS) : 3 * (node - ROWS) + 3]
        if code == TAKE:
            begins, _, slot = tracer.headers[a : a + 3]
            return [tracer.aux[begins + int(tracer.given[tracer.indexed[slot]])]]
        if code < 0 or tracer.ops[code].arity > 2:
            return tracer.aux[a : a + b]
        return [a] if b == NONE else [a, b]

    def value(self, node: int, operands: list[float]) -> float:
        tracer = self.tracer
        if node < 0:
            return tracer.constants[~node]
        if node < INPUTS:
            parameter: Any = tracer.parameters[node]
            if parameter.many:
                return float(parameter._data.ravel()[node - tracer.tensors.places[id(parameter)]])
            return ops.number(number_of(parameter))
        if node < ROWS:
            return ops.number(tracer.given[node - INPUTS])
        return _row_value(tracer.rows[3 * (node - ROWS)], tracer.ops, operands)


class Finished(Numbering):
    """A tape, with numbers for its parameters, inputs and indices."""

    def __init__(self, tape: Tape, parameters: Any, inputs: Any, indices: Any) -> None:
        self.tape, self.leaves, self.indices = tape, (parameters, inputs), indices

    def operands(self, node: int) -> list[int]:
        tape, row = self.tape, node - self.tape.first_row
        if row < 0 or node < 0:
            return []
        found = tape.operands(row)
        return [found[int(self.indices[tape.aux[tape.a[row] + 2]])]] if tape.code[row] == TAKE else found

    def value(self, node: int, operands: list[float]) -> float:
        tape, (parameters, inputs) = self.tape, self.leaves
        if node < 0:
            return float(tape.constants[~node])
        if node < tape.parameters:
            return float(parameters[node])
        if node < tape.first_row:
            return float(inputs[node - tape.parameters])
        return _row_value(int(tape.code[node - tape.first_row]), tape.ops, operands)


def _row_value(code: int, known: Sequence[ops.Op], operands: list[float]) -> float:
    if code >= 0:
        return known[code].forward(*operands)
    if code == TAKE:
        return operands[0]
    return reduce((ops.minimum if code == MIN else ops.maximum).value, operands)


# --- guards as outputs of a tape -------------------------------------------------------------------------------------


def add_outputs(tracer: Answers) -> tuple[list[int], list[float]]:
    """Write the rows that guards need; gives them, and what they hold if every answer is as it was."""
    rows: list[int] = []
    expected: list[float] = []

    def output(node: int, number: float) -> None:
        rows.append(tracer.record(SHIFT, tracer.listed([node]), 1)._row)  # which passes on no gradient
        expected.append(number)

    guards = list(tracer.guards.values())
    hairs = _hairs(tracer, [x for guard in guards for x in ((guard.row,) if guard.is_comparison else guard.operands)])
    for guard in guards:
        begins = len(rows)
        if guard.is_comparison:
            output(guard.row, float(guard.answer))
        else:
            for x in guard.operands:
                if x >= 0:
                    output(x, tracer.number_at(x))
        guard.outputs = range(begins, len(rows))
    for x, y in hairs:
        apart = tracer.record(tracer.code(ops.sub), x, y)
        size = _sum_of_sizes(tracer, [x, y, *_made_of(tracer, x), *_made_of(tracer, y)])
        near = tracer.record(tracer.code(ops.mul), size, tracer.constant(HAIR))
        apart = tracer.record(tracer.code(ops.abs), apart._row, NONE)
        output(tracer.record(tracer.comparison("less"), apart._row, near._row)._row, 0.0)
    return rows, expected


def _hairs(tracer: Answers, nodes: list[int]) -> list[tuple[int, int]]:
    """The comparisons that answers hang on and that rounding could turn, by their operands."""
    found: list[tuple[int, int]] = []
    exact: dict[int, bool] = {}
    seen: set[int] = set()
    ahead = list(nodes)
    while ahead:
        node = ahead.pop()
        if node in seen or node < ROWS:
            continue
        seen.add(node)
        operands = tracer.numbering.operands(node)
        ahead += operands
        compares = tracer.rows[3 * (node - ROWS)] in tracer.comparisons
        if compares and not all(_is_exact(tracer, x, exact) for x in operands):
            found.append((operands[0], operands[1]))
    return found


def _made_of(tracer: Answers, node: int) -> list[int]:
    """The numbers that were added or subtracted last for a node: they may cancel, and their rounding does not."""
    while node >= ROWS:
        operands, code = tracer.numbering.operands(node), tracer.rows[3 * (node - ROWS)]
        if len(operands) > 1:
            return operands if code >= 0 and tracer.ops[code].name in ("add", "sub") else []
        node = operands[0]
    return []


def _sum_of_sizes(tracer: Answers, nodes: list[int]) -> int:
    """Write down how large numbers are together."""
    sizes = [tracer.record(tracer.code(ops.abs), x, NONE)._row for x in dict.fromkeys(nodes)]
    whole: int = reduce(lambda x, y: tracer.record(tracer.code(ops.add), x, y)._row, sizes)
    return whole


#: Ops whose result is one of their operands, or 1 or 0, or differs from one by its sign.
CHOOSING = ("neg", "abs", "maximum", "minimum", "relu", "clamp", "where")
#: Ops that are exact on whole numbers, in any order; once, on any numbers, they are rounded as Python rounds.
EXACT_ON_INTS = ("add", "sub", "mul")


def _is_exact(tracer: Answers, node: int, known: dict[int, bool]) -> bool:
    """Whether native code surely computes the same number as plain arithmetic, bit for bit."""
    tape = tracer.numbering

    def leaf(x: int) -> bool:
        return x < ROWS or (tracer.rows[3 * (x - ROWS)] == SHIFT and all(y < ROWS for y in tape.operands(x)))

    ahead = [node]
    while ahead:
        x = ahead[-1]
        if x in known:
            ahead.pop()
            continue
        if x < ROWS:
            known[x] = True
            continue
        operands = tape.operands(x)
        missing = [y for y in operands if y not in known]
        if missing:
            ahead += missing
            continue
        code = tracer.rows[3 * (x - ROWS)]
        name = tracer.ops[code].name if code >= 0 else ""
        if code in tracer.comparisons:
            known[x] = True  # itself looked at, as an answer that others hang on
        elif name in (*EXACT_ON_INTS, "div") and all(map(leaf, operands)):
            known[x] = True
        elif name in EXACT_ON_INTS:
            known[x] = all(known[y] for y in operands) and all(_is_whole(tracer, y) for y in (x, *operands))
        else:
            known[x] = (code < 0 or name in CHOOSING) and all(known[y] for y in operands)
    return known[node]


def _is_whole(tracer: Answers, node: int) -> bool:
    """Whether a number is whole for what it is, not by chance."""
    if node < 0:
        return tracer.constants[~node].is_integer()
    if node < INPUTS:
        return False
    if node < ROWS:
        return isinstance(tracer.given[node - INPUTS], (int, np.integer, np.bool_))
    return node in tracer.whole or tracer.rows[3 * (node - ROWS)] in tracer.comparisons


#: How comparisons are asked, by the names of their ops.
QUESTIONS: dict[str, Callable[..., Any]] = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equals": operator.eq,
    "differs": operator.ne,
}
