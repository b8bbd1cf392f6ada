"""What is written twice is computed once, and gives what it gives when it is computed twice."""

from __future__ import annotations

import math
import random
from typing import Any

import fuzz
import numpy as np
import pytest

import gradwalk
from gradwalk import Value, ops
from gradwalk.compile.native.passes import run_pass
from gradwalk.compile.prepared import Runner, prepare
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.roll.dataflow import read
from gradwalk.compile.roll.passes import plainly
from gradwalk.compile.roll.repeats import without_repeats
from gradwalk.compile.trace.tracer import trace


@gradwalk.op(lambda x, out: 2.0)
def twice_as_much(x: float) -> float:
    return 2.0 * x


def _with_detach(x: Any, w: Any) -> Any:
    return (w * x).sqrt().detach() * (w * x).sqrt() + (w * x).sqrt().detach()


def _under_no_grad(x: Any, w: Any) -> Any:
    with gradwalk.no_grad():
        scale = (w * x).exp()
    return (w * x).exp() / scale + (w * x).exp()


def _deciding(x: Any, w: Any) -> Any:
    return (w * x).tanh() * 2.0 if (w * x).tanh() > 0.2 else (w * x).tanh() - 1.0


#: A function, and how many of its rows are left, run one by one; None where a decision leaves other rows.
PROGRAMS: dict[str, tuple[Any, int | None]] = {
    "a function of the same": (lambda x, w: gradwalk.tanh(x) * w + gradwalk.tanh(x), 3),
    "sums and products": (lambda x, w: (x * w + 1.0) / (x * w + 1.0), 3),
    "operands in another order are others": (lambda x, w: (x * w).exp() + (w * x).exp(), 5),
    "a constant": (lambda x, w: (x * 2.0 * w).exp() + (x * 2.0 * w).tanh(), 5),
    "0 and -0 are two": (lambda x, w: (x * w / 0.0).tanh() - (x * w / -0.0).tanh(), 6),
    "nan is itself": (lambda x, w: gradwalk.where(x > -9.0, x * w, x * math.nan) + x * math.nan * 0.0, None),
    "powers": (lambda x, w: w**2 + w**2 * x + w**3, 5),
    "detached": (_with_detach, 5),
    "without gradients": (_under_no_grad, None),
    "a decision": (_deciding, None),
    "cut edges": (lambda x, w: gradwalk.where(x > 0.0, w.sqrt(), x) + gradwalk.where(x > 0.0, w.sqrt(), x), None),
    "ties": (lambda x, w: gradwalk.max([w * x, w * x, x]) + gradwalk.max([w * x, w * x, x]), 3),
    "an op of one's own is not known": (lambda x, w: twice_as_much(x * w) * twice_as_much(x * w), 4),
    "a result twice": (lambda x, w: [x * w, x * w, (x * w).tanh()], 2),
    "a square of the same": (lambda x, w: (x * w).tanh() * (x * w).tanh(), 3),
    "a chain": (lambda x, w: math.prod([(w * x).sin() for _ in range(9)], start=1.0), 11),
}


def test_repeats_are_found_where_many_rows_read_the_same_operand() -> None:
    weights = [Value(float(i)) for i in range(6_000)]  # more than have a place near it

    def f(x: Any) -> Any:
        y = gradwalk.exp(x)
        return sum((w * y).tanh() * (w * y).sin() for w in weights)

    tape = trace(f, [0.5]).tape
    for run in (plainly, run_pass):
        found = without_repeats(read(tape, False, run), run, rolled=False)
        assert found is not None
        assert int(read(found[0], False).live.sum()) == 1 + 5 * len(weights)  # exp, and one product of each


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_written_twice_is_computed_once_and_gives_the_same(name: str) -> None:
    f, left = PROGRAMS[name]
    if left is not None:
        weight = Value(0.7)
        tape = trace(lambda x: f(x, weight), [0.5]).tape
        found = without_repeats(read(tape, False), rolled=False)
        rest = tape if found is None else found[0]
        assert int(read(rest, False).live.sum()) == left
        rest.check()
    for make in (gradwalk.compile, lambda f: gradwalk.compile(f, wrt="x")):
        w, twin = Value(0.7), Value(0.7)
        compiled = make(lambda x, w=w: f(x, w))
        for x in (0.5, -0.25, 0.0, 3.0, math.inf, math.nan, 0.5):
            w.data = twin.data = 0.7 if x >= 0 else -0.7
            given, leaf = compiled(x), Value(x)
            plain = f(leaf, twin)
            many = [given, plain] if isinstance(plain, list) else [[given], [plain]]
            assert [v.data for v in many[0]] == pytest.approx([v.data for v in many[1]], rel=1e-13, nan_ok=True), x
            gradwalk.zero_grad([w, twin])
            for v in (v for vs in many for v in vs):
                v.backward()
            assert w.grad == pytest.approx(twin.grad, rel=1e-12, nan_ok=True), x
            if compiled.wrt and not isinstance(plain, list):
                assert given.argument_grads["x"] == pytest.approx(leaf.grad, rel=1e-12, nan_ok=True), x


def test_an_infinite_slope_times_0_stays_nan() -> None:
    w, twin = Value(0.0), Value(0.0)

    def f(x: Any, w: Any) -> Any:
        return x * w.sqrt() + 3.0 * w.sqrt()

    compiled = gradwalk.compile(lambda x: f(x, w))
    for x in (0.0, 1.0, -3.0, 0.0):
        for v in (w, twin):
            v.grad = 0.0
        compiled(x).backward()
        f(Value(x), twin).backward()
        assert repr(w.grad) == repr(twin.grad) == repr(math.inf if x == 1.0 else math.nan)
    for batch in ("sum", "each"):
        w.grad = 0.0
        gradwalk.compile(lambda x: f(x, w), batch=batch)([0.0, 1.0]).backward()
        assert math.isnan(w.grad)


def test_gradients_too_large_to_add_up_first() -> None:
    w, twin = Value(1e-10), Value(1e-10)

    def f(x: Any, w: Any) -> Any:
        return 1.5e308 * (w * x) + 1.5e308 * (w * x)

    gradwalk.compile(lambda x: f(x, w))(1e-3).backward()
    f(Value(1e-3), twin).backward()
    assert w.grad == twin.grad == pytest.approx(3e305)


def test_tables_by_one_index_are_the_same_and_by_two_are_not() -> None:
    table = [Value(0.1 * i) for i in range(5)]
    compiled = gradwalk.compile(lambda i, j: gradwalk.take(table, i).exp() * gradwalk.take(table, j).exp()
                                + gradwalk.take(table, i).exp())  # fmt: skip
    for i, j in ((0, 1), (2, 2), (4, 0)):
        gradwalk.zero_grad(table)
        compiled(i, j).backward()
        x, y = math.exp(0.1 * i), math.exp(0.1 * j)
        expected = [x * (y + 1.0) * (k == i) + x * y * (k == j) for k in range(5)]
        assert [v.grad for v in table] == pytest.approx(expected, rel=1e-13)


def test_a_term_stays_with_its_sum_where_sums_are_rolled_up() -> None:
    weights = [[Value(0.01 * (i + j)) for j in range(8)] for i in range(16)]

    def f(*xs: Any) -> Any:  # twenty points, whose sums begin alike
        points = [[xs[i] for i in (0, 0, 1, 2 + k % 3, 5, 5, 1, 6 + k)] for k in range(20)]
        return sum(gradwalk.dot(row, point).tanh() for row in weights for point in points)

    given = [0.1 * i for i in range(26)]
    program = prepare(trace(f, given).tape).program
    assert program.steps[0].shape == (16, 8, 20)
    doubled = prepare(trace(lambda *xs: f(*xs) * f(*xs), given).tape).program
    assert [step.shape for step in doubled.steps[:-1]] == [step.shape for step in program.steps]


def test_twice_the_same_sample_is_computed_once() -> None:
    model = gradwalk.nn.MLP(3, [8, 8, 1])

    def f(x: Any) -> Any:
        return model(x) ** 2 + model(x).tanh() * model(x)

    tapes = [trace(g, [0.1, 0.2, 0.3]).tape for g in (lambda *x: f(list(x)), lambda *x: model(list(x)))]
    assert prepare(tapes[0]).program.size < prepare(tapes[1]).program.size + 12
    twin = gradwalk.nn.MLP(3, [8, 8, 1])
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        q.data = p.data
    compiled, x = gradwalk.compile(f), [0.3, -0.2, 0.5]
    compiled(x).backward()
    y = twin(x)
    (y**2 + y.tanh() * y).backward()
    found, expected = ([p.grad for p in m.parameters()] for m in (model, twin))
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-14)
    assert str(compiled.report())
    assert compiled.report().draw().svg


def test_few_repeats_in_a_large_graph_are_left_in_step() -> None:
    xs = [Value(0.01 * i) for i in range(500)]
    tape = trace(lambda x: sum((v * x).tanh() for v in [*xs, xs[0]]), [1.0]).tape
    assert without_repeats(read(tape, False)) is None


@pytest.mark.parametrize("kind", ["tangle", "repeated", "recurrent"])
def test_random_graphs_give_the_same_with_and_without(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = 0
    for seed in range(25):
        drawn = fuzz.draw(kind, seed)
        tape = drawn.tape
        for rolled in (True, False):
            outputs = []
            for off in (False, True):
                with monkeypatch.context() as patch:
                    if off:
                        patch.setattr("gradwalk.compile.roll.rolling.without_repeats", lambda *_, **__: None)
                    prepared = prepare(tape, rolled=rolled, input_grads=True, backend=REFERENCE)
                merged += prepared.analysis.merged
                draw = random.Random(seed)
                grads = np.zeros(tape.parameters)
                runner = Runner(prepared, np.array([draw.uniform(0.2, 1.0) for _ in grads]), grads)
                runner.inputs[:] = [draw.uniform(0.2, 1.0) for _ in range(tape.inputs)]
                with np.errstate(all="ignore"):
                    runner.forward()
                    runner.backward(np.ones(len(tape.outputs)))
                outputs.append((runner.outputs.tolist(), [*grads, *runner.input_grads]))
            (values, slopes), (values_twice, slopes_twice) = outputs
            assert values == pytest.approx(values_twice, rel=1e-12, abs=1e-300, nan_ok=True)
            scale = 1e-11 * max((abs(x) for x in slopes_twice if math.isfinite(x)), default=0.0)
            assert slopes == pytest.approx(slopes_twice, rel=1e-9, abs=scale, nan_ok=True)
    assert merged >= 5


def test_second_derivatives_are_those_of_the_function() -> None:
    def f(x: Any) -> Any:
        return x.tanh() * x.tanh() + ops.exp(x) * ops.exp(x)

    assert gradwalk.hessian(gradwalk.compile(f))(0.3) == pytest.approx(gradwalk.hessian(f)(0.3), rel=1e-12)
