"""Rolling up against its reference: the plain Python that the page shows, with the compiler's limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import fuzz
import numpy as np
import pytest
from writing import Writer

import gradwalk
from gradwalk import Value, ops
from gradwalk.compile import report
from gradwalk.compile.prepared import Runner, prepare
from gradwalk.compile.roll.chains import as_sums
from gradwalk.compile.roll.dataflow import read
from gradwalk.compile.roll.repeats import without_repeats
from gradwalk.compile.roll.rolling import roll
from gradwalk.compile.roll.sums import SMALL_BLOCK, THIN
from gradwalk.compile.trace.tracer import trace
from gradwalk.learn.page import rolling


def page_tape(tape: Any) -> rolling.Tape:
    """A tape of the compiler as the page has it, without rows that nothing needs."""
    needed = {int(tape.outputs[0])}
    for row in range(tape.rows - 1, -1, -1):
        if tape.first_row + row in needed:
            needed.update(x for x in tape.operands(row) if x >= 0)
    rows = [row for row in range(tape.rows) if tape.first_row + row in needed]
    new = {x: x for x in range(tape.first_row)} | {tape.first_row + r: tape.first_row + i for i, r in enumerate(rows)}
    operands = [tuple(new[x] if x >= 0 else x for x in tape.operands(row)) for row in rows]
    names = [f"p{i}" for i in range(tape.first_row)]
    return rolling.Tape(names, [tape.ops[tape.code[row]].name for row in rows], operands, tape.constants.tolist())


def alike(tape: Any) -> bool:
    """Whether both find the same steps, every leaf a parameter; the order inside a level is the compiler's own."""
    tape, _ = without_repeats(read(tape, False)) or (tape, None)
    tape, _ = as_sums(tape) or (tape, None)
    ours, _, _ = rolling.steps(page_tape(tape), smallest=SMALL_BLOCK)
    theirs = roll(tape, structured=True).program.steps
    found = sorted((report._what(step), size(step.shape), step.nodes) for step in theirs)
    return sorted((step["what"], size(step["shape"]), step["nodes"]) for step in ours) == found


def size(shape: Any) -> list[int]:
    """The shape of a product or of sums; of an op only how many, because the compiler may cut them into rows."""
    return list(shape) if len(shape) > 2 else [math.prod(shape)]


@pytest.mark.parametrize("kind", ["tangle", "repeated", "network", "recurrent", "gram"])
def test_random_graphs(kind: str) -> None:
    compared = 0
    for seed in range(150 if kind in ("tangle", "repeated") else 30):
        tape = fuzz.draw(kind, seed).tape
        tape = replace(tape, parameters=tape.first_row, inputs=0, outputs=tape.outputs[:1])
        if not (tape.code < 0).any() and tape.outputs[0] >= tape.first_row:  # the page has no tables and extremes
            assert alike(tape), f"{kind} {seed}"
            compared += 1
    assert compared >= 5


def dot(xs: Any, ys: Any) -> Any:
    terms = [x * y for x, y in zip(xs, ys, strict=True)]
    return sum(terms[1:], start=terms[0])


def test_sums_with_the_same_weights_wait_for_each_other() -> None:
    w = Writer(4 * 4 + 9 * 4, 0)
    weights = [w.parameters[i : i + 4] for i in range(0, 16, 4)]
    samples = [[ops.sin(x) for x in w.parameters[i : i + 4]] for i in range(16, 52, 4)]
    late = [ops.tanh(ops.tanh(x)) for x in samples[-1]]
    ends = [ops.relu(dot(row, x)) for x in [*samples[:-1], late] for row in weights]
    assert alike(w.tape(sum(ends[1:], start=ends[0])))


def test_constants_on_either_side_and_among_factors() -> None:
    w = Writer(60, 0)
    xs: list[Any] = [ops.tanh(p) for p in w.parameters]
    ends = [dot(xs[i : i + 2], xs[i + 20 : i + 22]) for i in range(20)]
    ends += [dot(xs[i : i + 2], [0.5, 0.25]) for i in range(20)]
    ends += [dot(xs[i : i + 2], [xs[i + 3], 0.25]) for i in range(20)]
    ends += [w.op(ops.add, (1.0, x) if i % 2 else (x, 1.0)) for i, x in enumerate(xs[:40])]
    ends = [ops.sin(x) for x in ends]
    assert alike(w.tape(sum(ends[1:], start=ends[0])))


def test_thin_products_of_what_is_computed_are_turned() -> None:
    w = Writer(60, 0)
    rows = [[ops.sin(p) for p in w.parameters[i : i + 3]] for i in range(0, 60, 3)]
    for few in (2, 3, 4):
        ends = [ops.exp(dot(a, b)) for a in rows[few:] for b in rows[:few]]
        assert alike(w.tape(sum(ends[1:], start=ends[0])))
    assert rolling.THIN == THIN


# --- chains of sums and differences ----------------------------------------------------------------------------------


def _alternating(terms: Any, start: Any = 0.0) -> Any:
    total = start
    for i, term in enumerate(terms):
        total = total - term if i % 2 else total + term
    return total


def _held(x: Any) -> Any:
    for bound in (3.0, 2.0, 1.0, 0.5):
        x = gradwalk.clamp(x, -bound, bound)
    return x


CHAINS: dict[str, Callable[[list[Any], list[Any]], Any]] = {
    "products": lambda ws, xs: _alternating([w * x for w, x in zip(ws, xs, strict=True)]),
    "leaves": lambda ws, xs: _alternating([*ws, *xs]),
    "constants": lambda ws, xs: _alternating([v for w in ws for v in (w, 0.25)]) - 3.0,
    "inner sums": lambda ws, xs: _alternating([w + x + 1.0 for w, x in zip(ws, xs, strict=True)]),
    "only differences": lambda ws, xs: _alternating([w - x - w * x for w, x in zip(ws, xs, strict=True)], ws[0]),
    "the same twice": lambda ws, xs: _alternating([*ws, *ws, xs[0], xs[0]]),
    "used in between": lambda ws, xs: (lambda t: _alternating(ws, t) * t)(_alternating([w * w for w in ws])),
    "several results": lambda ws, xs: [_alternating(ws[:k] + xs) for k in (8, 12, 16)],
    "largest ones": lambda ws, xs: _alternating([gradwalk.max(ws[i : i + 3]) for i in range(14)] + [w * w for w in ws]),
    "more operands in lists than rows": lambda ws, xs: _alternating([*map(_held, ws), *map(_held, xs), *ws]),
    "not finite": lambda ws, xs: _alternating([w / (x - x) for w, x in zip(ws, xs, strict=True)]),
    "decided": lambda ws, xs: _alternating(ws) * (2.0 if _alternating([w.data for w in ws]) > 0 else 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_sums_and_differences_give_what_they_give_eagerly(name: str) -> None:
    numbers = [((7 * i) % 11 - 5) / 4 for i in range(16)]
    answers = []
    for compiled in (False, True):
        ws = [Value(x) for x in numbers]

        def chain(xs: Any, ws: Any = ws) -> Any:
            return CHAINS[name](ws, xs)

        out = (gradwalk.compile(chain) if compiled else chain)([x + 0.5 for x in numbers])
        last = out[-1] if isinstance(out, list) else out
        last.backward()
        answers.append([*[v.data for v in (out if isinstance(out, list) else [out])], *[w.grad for w in ws]])
    assert answers[1] == pytest.approx(answers[0], rel=1e-12, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("name", CHAINS)
def test_chains_written_as_sums_are_the_same_tape_to_the_last_bit(name: str) -> None:
    ws = [Value(((7 * i) % 11 - 5) / 4) for i in range(20)]
    tape = trace(lambda *xs: CHAINS[name](ws, list(xs)), [w.data + 0.5 for w in ws]).tape
    found = as_sums(tape)
    assert found is not None
    sums, where = found
    assert np.array_equal(sums.code[where] >= 0, tape.code >= 0)
    values, given = np.array([w.data for w in ws])[: tape.parameters], np.linspace(-1.0, 2.0, tape.inputs)
    outputs = []
    for some in (tape, sums):
        runner = Runner(prepare(some, rolled=False), values, np.zeros(len(values)))
        runner.inputs[:] = given
        runner.forward()
        outputs.append(runner.outputs.tobytes())
    assert outputs[0] == outputs[1]


def test_lists_longer_than_the_graph_are_left_row_by_row() -> None:
    """Where a list begins among the operands is no node, however few nodes there are."""
    tape = trace(lambda a, b: gradwalk.max([a, b] * 30) + gradwalk.max([b, a] * 2), [1.0, 2.0]).tape
    assert [step.kind for step in roll(tape, structured=False).program.steps] == ["flat"]
    assert gradwalk.compile(lambda a, b: gradwalk.max([a, b] * 30) + gradwalk.max([b, a] * 2))(1.0, 2.0).data == 4.0
