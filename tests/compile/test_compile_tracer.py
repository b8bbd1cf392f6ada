"""From a function to a tape: what is found, in which order, and what a trace refuses, with the line."""

# mypy: allow-untyped-calls
from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile.trace.tape import MAX, MIN, SHIFT, TAKE, Tape
from gradwalk.compile.trace.tracer import trace
from gradwalk.errors import GraphError, OpError, TraceError
from gradwalk.ops import TABLE


def replayed(tape: Tape, parameters: list[float], inputs: list[float], indices: list[int] = []) -> list[float]:  # noqa: B006
    """The plainest way to run a tape: row by row, by the op table."""
    numbers = [*parameters, *inputs]
    for row in range(tape.rows):
        code = int(tape.code[row])
        operands = [numbers[x] if x >= 0 else float(tape.constants[~x]) for x in tape.operands(row)]
        if code == TAKE:
            numbers.append(operands[indices[tape.aux[tape.a[row] + 2]]])
        elif code in (MAX, SHIFT):
            numbers.append(reduce(TABLE["maximum"].value, operands))
        elif code == MIN:
            numbers.append(reduce(TABLE["minimum"].value, operands))
        else:
            numbers.append(tape.ops[code].forward(*operands))
    return [numbers[x] for x in tape.outputs]


# --- what is traced ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_op_is_one_row(name: str) -> None:
    op = TABLE[name]
    tape = trace(lambda *xs: op(*xs), [0.5] * op.arity).tape
    tape.check()
    assert tape.rows == 1
    assert tape.ops == (op,)
    point = [0.3, 0.6, 0.9][: op.arity]
    assert replayed(tape, [], point) == [op.forward(*point)]


OPERATORS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda x, y: x + y, "add"), (lambda x, y: x - y, "sub"), (lambda x, y: x * y, "mul"), (lambda x, y: x / y, "div"),
    (lambda x, y: x**y, "pow"), (lambda x, y: -x + y * 0, "neg"), (lambda x, y: abs(x) + y * 0, "abs"),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "name"), OPERATORS)
def test_operators_with_every_kind_of_operand(operator: Any, name: str) -> None:
    w = Value(3.0)
    functions: list[Callable[[Any, Any], Any]] = [
        lambda x, y: operator(x, y),
        lambda x, y: operator(x, 2.0) + 0 * y,
        lambda x, y: operator(2, y) + 0 * x,
        lambda x, y: operator(w, y) + 0 * x,
        lambda x, y: operator(x, w) + 0 * y,
        lambda x, y: operator(w, w) + 0 * x * y,
        lambda x, y: operator(np.float64(2.0), x) + 0 * y,
        lambda x, y: operator(Value(2.0), x) + 0 * y,
        lambda x, y: operator(x * 1.0, Value(y)),
    ]
    for f in functions:
        found = trace(f, [0.7, 0.9])
        found.tape.check()
        assert any(op.name == name for op in found.tape.ops) or name in ("neg", "abs")  # -2 is a plain number
        expected = f(Value(0.7), 0.9 if f is functions[-1] else Value(0.9)).data
        assert replayed(found.tape, [p.data for p in found.parameters], [0.7, 0.9])[: found.given] == [expected]


def test_weights_come_first_and_row_by_row_then_the_others() -> None:
    model = nn.MLP(2, [3, 1])
    found = trace(lambda a, b: model([a, b]), [1.0, 2.0])
    weights = [w for layer in model.layers for neuron in layer.neurons for w in neuron.w]
    biases = [neuron.b for layer in model.layers for neuron in layer.neurons]
    assert found.parameters == weights + biases


def test_a_parameter_that_is_used_often_is_one() -> None:
    w = Value(2.0)
    assert trace(lambda x: w * x + w * w + w, [1.0]).parameters == [w]


def test_values_made_inside_are_constants_unless_someone_keeps_them() -> None:
    kept = []

    def f(x: Any) -> Any:
        total = Value(0.0)
        kept.append(Value(5.0))
        return total + x + kept[-1]

    found = trace(f, [1.0])
    assert found.parameters == kept
    assert found.tape.constants.tolist() == [0.0]


def test_constants_are_kept_apart_by_their_sign() -> None:
    tape = trace(lambda x: (x * 0.0, x * -0.0, x * 2.0, x * 2), [1.0]).tape
    used = [math.copysign(1.0, tape.constants[~tape.b[row]]) * abs(tape.constants[~tape.b[row]]) for row in range(4)]
    assert [math.copysign(1.0, c) for c in used[:2]] == [1.0, -1.0]
    assert tape.b[2] == tape.b[3]


def test_nan_as_a_constant() -> None:
    assert math.isnan(replayed(trace(lambda x: x * math.nan, [1.0]).tape, [], [1.0])[0])


def test_no_grad_and_detach_cut_the_gradient() -> None:
    w = Value(3.0)

    def f(x: Any) -> Any:
        with gradwalk.no_grad():
            y = w * x
            with gradwalk.no_grad():
                y = y + 1
        return y * w + w.detach() * x + (w * x).detach()

    found = trace(f, [2.0])
    found.tape.check()
    assert replayed(found.tape, [3.0], [2.0]) == [7 * 3 + 6 + 6]
    f_compiled = gradwalk.compile(f)
    loss = f_compiled(2.0)
    loss.backward()
    assert (loss.data, w.grad) == (33.0, 7.0)


def test_comparisons_can_be_conditions_of_where() -> None:
    def f(x: Any, y: Any) -> Any:
        where = gradwalk.where
        chosen = [where(c, 1.0, 2.0) for c in (x < y, x <= y, x > y, x >= y, (x > 0) & (y > 0), (x > 0) | (y > 0))]
        return [*chosen, (x > y) * 10 + where(x == y, 5, 6)]

    tape = trace(f, [0.0, 0.0]).tape
    for x in (-1.0, 0.0, 1.0, math.inf, math.nan):
        for y in (0.0, 1.0, math.inf):
            assert replayed(tape, [], [x, y]) == [number(v) for v in f(x, y)]


def number(x: Any) -> float:
    return float(x.data if isinstance(x, Value) else x)


def test_take_makes_one_trace_serve_every_index() -> None:
    table = [[Value(float(10 * i + j)) for j in range(3)] for i in range(4)]

    def f(i: Any, j: Any) -> Any:
        row = gradwalk.take(table, i)
        return gradwalk.take(row, j) + gradwalk.take([1.0, 2.0, 3.0], j)

    found = trace(f, [0, 0])
    found.tape.check()
    assert found.bounds == [4, 3]
    for i in range(4):
        for j in range(3):
            parameters = [p.data for p in found.parameters]
            assert replayed(found.tape, parameters, [float(i), float(j)], [i, j]) == [10 * i + j + j + 1.0]


def test_placing_parameters_elsewhere_changes_no_number() -> None:
    a, b, c = Value(2.0), Value(3.0), Value(5.0)

    def f(x: Any, i: Any) -> Any:
        return gradwalk.clamp(a * x, b, 100.0) + gradwalk.take([a, b, c], i) + gradwalk.max([a, x, c])

    found = trace(f, [1.0, 0])
    where = np.array([5, 1, 3])
    placed = found.tape.placed(where, 7)
    placed.check()
    parameters = np.full(7, math.nan)
    parameters[where] = [p.data for p in found.parameters]
    assert replayed(placed, parameters.tolist(), [7.0, 1.0], [1]) == replayed(
        found.tape, [p.data for p in found.parameters], [7.0, 1.0], [1]
    )


def test_a_tape_that_does_not_fit_together_is_refused() -> None:
    from dataclasses import replace

    tape = trace(lambda x: x * 2.0, [1.0]).tape
    for wrong in (
        replace(tape, code=tape.code + 9),
        replace(tape, a=tape.a + 5),
        replace(tape, b=tape.b[:0]),
        replace(tape, outputs=tape.outputs + 5),
    ):
        with pytest.raises(GraphError, match="tape"):
            wrong.check()


# --- what is refused -----------------------------------------------------------------------------------------------

w = Value(2.0)
REFUSED: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda x: (w * x).grad, "gradient", "backward"),
    (lambda x: (w * x).backward(), "gradient", "backward"),
    (lambda x: abs((x - 2) ** 0.5), "complex", "gradwalk.pow"),
    (lambda x: setattr(w, "data", 2 * x), "set", "outside"),
    (lambda x: setattr(w * x, "data", 2.0), "set", "outside"),
    (lambda x: (w * x).operands, "not kept", "eager"),
    (lambda x: (w * x)._prev, "not kept", "eager"),
    (lambda x: (w * x).register_hook(print), "not kept", "eager"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "what", "remedy"), REFUSED)
def test_what_cannot_be_followed_is_refused_with_the_line_and_the_remedy(function: Any, what: str, remedy: str) -> None:
    with pytest.raises(TraceError) as caught:
        trace(function, [1.0])
    message = str(caught.value)
    assert what in message.splitlines()[0]
    assert f"test_compile_tracer.py, line {function.__code__.co_firstlineno}" in message
    assert remedy in message.splitlines()[-1]


@pytest.mark.parametrize("function", [function for function, _, _ in REFUSED])
def test_a_refusal_that_the_function_swallows_is_raised_all_the_same(function: Any) -> None:
    def f(x: Any) -> Any:
        try:
            function(x)
        except Exception:
            return x * 2.0

    def g(x: Any) -> Any:
        try:
            function(x)
        except Exception:
            raise LookupError("mine") from None

    for swallowing in (f, g):
        with pytest.raises(TraceError):
            trace(swallowing, [1.0])


@pytest.mark.parametrize("name", ["backward", "grad", "operands", "detach_"])
def test_a_plain_number_has_nothing_of_a_node(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'float' object has no attribute '{name}'"):
        trace(lambda x: getattr(x * 2.0, name), [1.0])


def test_a_value_computed_outside_is_refused() -> None:
    square = w * w
    with pytest.raises(TraceError, match="computed outside the function"):
        trace(lambda x: square * x, [1.0])
    assert trace(lambda x: square.detach() * x if False else x * 2, [1.0]).tape.rows == 1


def test_a_traced_value_that_escaped_says_so() -> None:
    escaped: list[Any] = []

    def f(x: Any) -> Any:
        escaped.append(w * x)
        return escaped[-1] * 2

    trace(f, [1.0])
    for touch in (lambda v: v + 1, lambda v: 2.0 * v, lambda v: v.data, lambda v: v.relu(), lambda v: v.operands):
        with pytest.raises(TraceError, match="after its function had been traced"):
            touch(escaped[0])
    with pytest.raises(TraceError, match="after its function had been traced"):
        trace(lambda x: x * escaped[0], [1.0])


def test_a_generator_cannot_be_given_again() -> None:
    with pytest.raises(TraceError, match="gave a generator"):
        trace(lambda x: (x * i for i in range(3)), [1.0])


def test_rows_of_a_table_must_be_as_long() -> None:
    with pytest.raises(TraceError, match=r"rows of \[1, 2\] numbers"):
        trace(lambda i: gradwalk.take([[w], [w, w]], i), [0])
    with pytest.raises(TraceError, match="empty table"):
        trace(lambda i: gradwalk.take([], i), [0])


def test_the_wrong_number_of_operands_is_an_op_error_as_ever() -> None:
    with pytest.raises(OpError, match="takes 2"):
        trace(lambda x: gradwalk.maximum(x), [1.0])


# --- what is only frozen ---------------------------------------------------------------------------------------------


def test_the_number_of_a_parameter_is_one_of_the_trace() -> None:
    found = trace(lambda x: w.data * x, [1.0])
    assert (found.parameters, found.guards) == ([w], [])
    assert replayed(found.tape, [5.0], [3.0]) == [15.0]
    assert type(w) is Value
    found = trace(lambda x: x if w > 1.0 else -x, [1.0])
    assert [guard.place.function for guard in found.guards] == ["<lambda>"]


def test_reading_the_gradient_of_a_parameter_is_noted() -> None:
    aside, _ = trace(lambda x: w.grad * x, [1.0]).aside
    assert aside.startswith("the gradient of a parameter was read")
    assert "test_compile_tracer.py" in aside


def test_setting_gradients_inside_is_noted() -> None:
    def f(x: Any) -> Any:
        w.grad = 0.0
        return w * x

    assert trace(f, [1.0]).aside[0].startswith("the gradient of a parameter was set")


def test_an_error_in_the_function_leaves_everything_as_it_was() -> None:
    model = nn.MLP(2, [2, 1])

    def f(x: Any) -> Any:
        model([x, x])
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        trace(f, [1.0])
    assert all(type(p) is Value for p in model.parameters())
    assert (Value(2.0) * 3).data == 6.0
    assert gradwalk.modes.active == 0


# --- whole models ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", sorted(nn.ACTIVATIONS))
def test_models_and_losses_trace_to_eagers_numbers(activation: str) -> None:
    random.seed(4)
    model = nn.MLP(2, [3, 3], activation=activation)
    X, classes, labels = [[0.5, -1.0], [1.5, 2.0]], [2, 0], [1, 0]

    def losses(X: Any, classes: Any, labels: Any) -> Any:
        outputs = [model(x) for x in X]
        firsts = [row[0] for row in outputs]
        return {
            "cross_entropy": nn.cross_entropy(outputs, classes),
            "mse": nn.mse(firsts, labels),
            "hinge": nn.hinge(firsts, [2 * label - 1 for label in labels]),
            "bce": nn.binary_cross_entropy(firsts, labels),
            "log_softmax": nn.log_softmax(outputs[0])[1],
            "softmax": nn.softmax(outputs[1])[0],
            "logsumexp": nn.logsumexp(outputs[1]),
        }

    compiled, eager = gradwalk.compile(losses)(X, classes, labels), losses(X, classes, labels)
    for name, value in eager.items():
        assert compiled[name].data == pytest.approx(value.data, rel=1e-13), name
        gradwalk.zero_grad(model)
        value.backward()
        expected = [p.grad for p in model.parameters()]
        gradwalk.zero_grad(model)
        compiled[name].backward()
        assert [p.grad for p in model.parameters()] == pytest.approx(expected, rel=1e-12, abs=1e-15), name
