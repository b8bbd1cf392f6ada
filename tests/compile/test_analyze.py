"""Rolling up: what becomes of known graphs, and that nothing but the numbers' order of addition changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from eagerly import run_eagerly
from fuzz import distance
from writing import Node, Writer

from gradwalk import ops
from gradwalk.compile.prepared import Prepared, Runner, prepare
from gradwalk.compile.roll import dataflow, sums
from gradwalk.compile.roll.analyze import collapse
from gradwalk.compile.roll.builder import affine
from gradwalk.compile.roll.layout import KIND, LEVEL, SUM
from gradwalk.compile.trace.tape import Tape


def total(terms: list[Any]) -> Any:
    return sum(terms[1:], start=terms[0])


def dot(xs: list[Any], ys: list[Any]) -> Any:
    return total([x * y for x, y in zip(xs, ys, strict=True)])


def grid(nodes: list[Node], rows: int, columns: int) -> list[list[Node]]:
    return [nodes[r * columns : (r + 1) * columns] for r in range(rows)]


def kinds(prepared: Prepared) -> list[tuple[str, tuple[int, ...]]]:
    return [(step.kind, step.shape) for step in prepared.program.steps]


def agrees(tape: Tape, program: Prepared, seed: int = 0) -> None:
    draw = np.random.default_rng(seed)
    values, grads = draw.uniform(-1, 1, tape.parameters), np.zeros(tape.parameters)
    runner = Runner(program, values, grads)
    runner.inputs[:] = draw.uniform(-1, 1, tape.inputs)
    runner.forward()
    runner.backward(np.ones(len(tape.outputs)))
    leaves, _, outputs = run_eagerly(tape, values.tolist(), runner.inputs.tolist(), runner.indices.tolist())
    for out in outputs:
        out.backward()
    assert distance(runner.outputs, [out.data for out in outputs]) < 1e-12
    assert distance(grads, [leaf.grad for leaf in leaves]) < 1e-12


# --- shapes ----------------------------------------------------------------------------------------------------------


def test_a_layer_on_many_samples_is_one_product_and_one_activation() -> None:
    w = Writer(8 * 5 + 8, 5 * 20)
    weights, biases = grid(w.parameters, 8, 5), w.parameters[40:]
    samples = grid(w.inputs, 20, 5)
    outs = [ops.tanh(dot(row, x) + b) for x in samples for row, b in zip(weights, biases, strict=True)]
    tape = w.tape(total(outs))
    program = prepare(tape, rolled=True)
    assert kinds(program) == [("product", (8, 5, 20)), ("op", (1, 160)), ("sums", (1, 160))]
    agrees(tape, program)


def test_which_side_a_parameter_is_on_does_not_matter() -> None:
    for turned in (False, True):
        w = Writer(16, 4 * 8)
        weights, samples = grid(w.parameters, 4, 4), grid(w.inputs, 8, 4)
        outs = [dot(x, row) if turned else dot(row, x) for x in samples for row in weights]
        tape = w.tape(total([ops.relu(out) for out in outs]))
        program = prepare(tape, rolled=True)
        assert kinds(program)[0] == ("product", (4, 4, 8))
        agrees(tape, program)


def test_products_of_what_is_computed_are_products_too() -> None:
    w = Writer(24, 0)
    left = [[ops.tanh(x) for x in row] for row in grid(w.parameters[:12], 6, 2)]
    right = [[ops.sin(x) for x in row] for row in grid(w.parameters[12:], 6, 2)]
    tape = w.tape(total([ops.exp(dot(x, y)) for x in left for y in right]))
    program = prepare(tape, rolled=True)
    assert ("product", (6, 2, 6)) in kinds(program)
    agrees(tape, program)


def test_a_product_that_is_used_twice_is_kept() -> None:
    w = Writer(2, 0)
    a, b = w.parameters
    shared = a * b
    tape = w.tape(shared + a + ops.exp(shared))
    assert [step.ops for step in prepare(tape, rolled=True).program.steps] == [("mul",), ("exp",), ("add",)]
    agrees(tape, prepare(tape, rolled=True))


def test_an_output_is_never_swallowed_by_a_sum() -> None:
    w = Writer(2, 0)
    a, b = w.parameters
    product = a * b
    tape = w.tape(product + a, product)
    agrees(tape, prepare(tape, rolled=True))


def test_constant_data_is_laid_out_for_the_product() -> None:
    draw = np.random.default_rng(3)
    data = draw.uniform(-1, 1, (30, 3)).tolist()
    w = Writer(12, 0)
    weights = grid(w.parameters, 4, 3)
    tape = w.tape(total([ops.relu(dot(row, x)) for x in data for row in weights]))
    program = prepare(tape, rolled=True)
    assert kinds(program)[0] == ("product", (4, 3, 30))
    agrees(tape, program)


def test_sums_that_use_the_same_weights_wait_for_each_other() -> None:
    w = Writer(16, 4 * 9)
    weights, samples = grid(w.parameters, 4, 4), grid(w.inputs, 9, 4)
    late = [ops.tanh(ops.tanh(x)) for x in samples[-1]]  # one of nine comes two levels later
    outs = [ops.relu(dot(row, x)) for x in [*samples[:-1], late] for row in weights]
    tape = w.tape(total(outs))
    assert [shape for kind, shape in kinds(prepare(tape, rolled=True)) if kind == "product"] == [(4, 4, 9)]
    agrees(tape, prepare(tape, rolled=True))


def test_what_nothing_depends_on_is_not_computed() -> None:
    w = Writer(2, 0)
    a, b = w.parameters
    for _ in range(5):
        b = ops.log(b)
    tape = w.tape(a * a)
    assert sum(step.nodes for step in prepare(tape, rolled=True).program.steps) == 1
    values, grads = np.array([3.0, 0.0]), np.zeros(2)
    for rolled in (True, False):
        grads[:] = 0.0
        runner = Runner(prepare(tape, rolled=rolled), values, grads)
        runner.forward()
        runner.backward([1.0])
        assert grads.tolist() == [6.0, 0.0]  # and no nan from log(0)


def test_structure_decides_between_rolling_up_and_row_by_row() -> None:
    w = Writer(1, 1)
    x = w.inputs[0]
    for _ in range(50):
        x = ops.tanh(x * w.parameters[0])
    assert kinds(prepare(w.tape(x))) == [("flat", (100,))]
    w = Writer(16, 400)
    outs = [dot(row, x) for x in grid(w.inputs, 100, 4) for row in grid(w.parameters, 4, 4)]
    assert kinds(prepare(w.tape(total([ops.relu(out) for out in outs]))))[0] == ("product", (4, 4, 100))


# --- hashes are only a way to look -----------------------------------------------------------------------------------


def test_lists_with_equal_hashes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every hash the same, all lists look alike; only the lists themselves tell them apart."""
    w = Writer(16, 4 * 9)
    outs = [ops.relu(dot(row, x)) for x in grid(w.inputs, 9, 4) for row in grid(w.parameters, 4, 4)]
    tape = w.tape(total(outs))
    honest = prepare(tape, rolled=True)
    assert any(kind == "product" for kind, _ in kinds(honest))

    original = sums.roll_sums

    def colliding(builder: Any, macros: Any, group: Any) -> None:
        macros.rows[:, 4:6] = 7
        original(builder, macros, group)

    monkeypatch.setattr("gradwalk.compile.roll.analyze.roll_sums", colliding)
    fooled = prepare(tape, rolled=True)
    assert not any(kind == "product" for kind, _ in kinds(fooled))
    agrees(tape, fooled)


# --- parts -----------------------------------------------------------------------------------------------------------


def test_levels_come_after_their_operands() -> None:
    w = Writer(6, 0)
    a, b, c, d, e, f = w.parameters
    tape = w.tape(ops.tanh(a * b + c) * ops.exp(d) + e * f)
    macros = collapse(dataflow.read(tape, input_grads=False))
    levels = macros.rows[:, LEVEL].tolist()
    assert sorted(levels) == [1, 1, 2, 3]
    assert macros.rows[:, KIND].tolist().count(SUM) == 2


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ([[5]], (5, 1, 1)),
        ([[1, 2, 3]], (1, 3, 1)),
        ([[1], [4], [7]], (1, 3, 1)),
        ([[2, 2], [2, 2]], (2, 0, 0)),
        ([[0, 1], [5, 6], [10, 11]], (0, 5, 1)),
        ([[9, 7], [5, 3]], (9, -4, -2)),
        ([[0, 1], [5, 7]], None),
        ([[0, 2, 1, 3]], None),
    ],
)
def test_affine_positions_are_recognised(at: list[list[int]], expected: tuple[int, int, int] | None) -> None:
    assert affine(np.array(at)) == expected


def test_only_what_is_first_pushed_to_by_adding_is_cleared() -> None:
    w = Writer(64, 0)
    tape = w.tape(total([ops.tanh(ops.sin(p)) for p in w.parameters]))
    prepared = prepare(tape, rolled=True)
    cleared = sum(end - begin for begin, end in prepared.program.cleared)
    assert cleared < 64 < prepared.program.size  # both rows of 64 are written, only the output's place is added to
    agrees(tape, prepared)
