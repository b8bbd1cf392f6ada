"""`compile(fn, batch=...)`: a function of one sample, called with many."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn, optim
from gradwalk.errors import InputSizeError, NotANumberError, SettingError

SIZES = [1, 3, 8, 37, 200]


def model_and_loss() -> tuple[nn.MLP, Any]:
    random.seed(5)
    model = nn.MLP(2, [5, 1], activation="tanh")

    def loss(x: Any, y: Any) -> Any:
        return (model(x) - y) ** 2 + 0.01 * sum(
            p * p for p in model.parameters()
        )  # parameters alone count once a sample

    return model, loss


def samples(n: int) -> tuple[list[list[float]], list[float]]:
    draw = random.Random(n)
    return [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(n)], [draw.uniform(-1, 1) for _ in range(n)]


def eagerly(n: int, batch: str) -> tuple[list[float], list[float]]:
    model, loss = model_and_loss()
    each = [loss(x, y) for x, y in zip(*samples(n), strict=True)]
    total = sum(each) / (n if batch == "mean" else 1)
    total.backward()
    return [v.data for v in each] if batch == "each" else [total.data], [p.grad for p in model.parameters()]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("batch", ["sum", "mean", "each"])
@pytest.mark.parametrize(("dtype", "rel"), [("float64", 1e-12), ("float32", 1e-4)])
@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_and_gradients_are_those_of_one_by_one(
    n: int, batch: str, dtype: str, rel: float, threads: int
) -> None:
    model, loss = model_and_loss()
    expected, grads = eagerly(n, batch)
    f = gradwalk.compile(loss, batch=batch, dtype=dtype, threads=threads)
    X, y = samples(n)
    for arguments in ((X, y), (np.array(X), np.array(y)), (X, np.array(y, np.float32).astype(float) * 0 + np.array(y))):
        gradwalk.zero_grad(model)
        result = f(*arguments)
        data = result.data.tolist() if batch == "each" else [result.data]
        result.backward()
        assert data == pytest.approx(expected, rel=rel, abs=rel)
        assert [p.grad for p in model.parameters()] == pytest.approx(grads, rel=rel, abs=rel * max(map(abs, grads)))


def test_one_trace_serves_any_number_of_samples() -> None:
    _, loss = model_and_loss()
    f = gradwalk.compile(loss, batch="sum")
    for n in SIZES:
        assert f(*samples(n)).data == pytest.approx(eagerly(n, "sum")[0][0], rel=1e-12)
    assert f.traced == 1


def test_numbers_are_shared_tuples_and_dicts_are_structure_and_static_is_static() -> None:
    w = Value(2.0)

    @gradwalk.compile(batch="sum", static="power")
    def f(pair: Any, options: Any, power: int) -> Any:
        a, scale = pair
        return scale * (w * a + options["b"][1]) ** power

    total = f(([1.0, 2.0, 3.0], 0.5), {"b": [[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]}, 2)
    assert total.data == 0.5 * (3.0**2 + 6.0**2 + 9.0**2)
    total.backward()
    assert w.grad == 0.5 * 2 * (3.0 * 1 + 6.0 * 2 + 9.0 * 3)
    assert f(([1.0], 1.0), {"b": [[0.0, 1.0]]}, 3).data == 27.0


def test_several_results() -> None:
    w = Value(2.0)
    f = gradwalk.compile(lambda x: {"a": w * x, "b": (w * x) ** 2}, batch="mean")
    out = f([1.0, 3.0])
    assert (out["a"].data, out["b"].data) == (4.0, 20.0)
    out["b"].backward()
    out["a"].backward(10.0)
    assert w.grad == 20.0 + 20.0
    each = gradwalk.compile(lambda x: [w * x, x * x], batch="each")([1.0, 3.0])
    assert [column.data.tolist() for column in each] == [[2.0, 6.0], [1.0, 9.0]]


def test_samples_choose_through_take() -> None:
    table = [Value(float(i)) for i in range(5)]
    f = gradwalk.compile(lambda i, x: gradwalk.take(table, i) * x, batch="sum")
    f(np.array([3, 1, 3]), np.array([1.0, 10.0, 100.0])).backward()
    assert [v.grad for v in table] == [0.0, 10.0, 0.0, 101.0, 0.0]
    for wrong in (5, -1):
        with pytest.raises(SettingError, match=f"index {wrong}, and the table has 5 entries"):
            f([0, wrong], [1.0, 1.0])
    with pytest.raises(SettingError, match="whole numbers"):
        f([0.0, 1.5], [1.0, 1.0])


def test_samples_choose_by_any_column_of_theirs_and_by_a_number_that_all_share() -> None:
    short, long = [Value(float(i)) for i in range(3)], [Value(10.0 * i) for i in range(6)]

    def loss(row: Any, nothing: Any, k: Any, pair: Any) -> Any:
        chosen = gradwalk.take(long, row[3]) + gradwalk.take(short, row[1]) * row[0] + gradwalk.take(short, row[2])
        return chosen * gradwalk.take(long, k) + gradwalk.take(long, pair[1]) * pair[0]

    f = gradwalk.compile(loss, batch="sum")
    rows, nothing = np.array([[0.5, 1, 2, 5], [2.0, 0, 1, 3]]), np.zeros((2, 0))
    for k, pairs in ((4, [[7, 5], [8, 0]]), (1, [[9, 1], [3, 2]])):
        found = f(rows, nothing, k, pairs)
        found.backward()
        got = [v.grad for v in (*short, *long)]
        gradwalk.zero_grad([*short, *long])
        samples = [[x, *map(int, rest)] for x, *rest in rows.tolist()]
        expected = sum(loss(row, [], k, pair) for row, pair in zip(samples, pairs, strict=True))
        expected.backward()
        assert (found.data, got) == (expected.data, [v.grad for v in (*short, *long)])
        gradwalk.zero_grad([*short, *long])
    with pytest.raises(SettingError, match="index 3, and the table has 3 entries"):
        f(np.array([[0.5, 3, 2, 5], [2.0, 0, 1, 3]]), nothing, 1, [[9, 1], [3, 2]])
    with pytest.raises(SettingError, match="index 6, and the table has 6 entries"):
        f(np.array([[0.5, 1, 2, 6], [2.0, 0, 2, 7]]), nothing, 1, [[9, 1], [3, 2]])
    with pytest.raises(SettingError, match="index 6, and the table has 6 entries"):
        f(rows, nothing, 6, [[9, 1], [3, 2]])


def test_results_are_walked_back_after_later_calls_and_steps() -> None:
    model, loss = model_and_loss()
    f = gradwalk.compile(loss, batch="mean")
    X, y = samples(20)
    first = f(X, y)
    second = f(X[:7], y[:7])
    optimiser = optim.SGD(model.parameters(), 0.1)
    second.backward()
    optimiser.step()
    gradwalk.zero_grad(model)
    first.backward()  # its gradients were computed with it, so later changes do not matter
    assert [p.grad for p in model.parameters()] == pytest.approx(eagerly(20, "mean")[1], rel=1e-12, abs=1e-15)


def test_each_sample_is_walked_back_as_it_was_whatever_happens_to_arrays_and_parameters() -> None:
    w = Value(3.0)
    f = gradwalk.compile(lambda x: w * w * x, batch="each")
    X = np.array([1.0, 2.0])
    first = f(X)
    X[:] = 99.0
    second = f(np.array([1.0]))
    w.data = 4.0
    for each, expected in ((second, 6.0), (first, 18.0), (f([1.0]), 8.0), (first, 18.0)):
        w.grad = 0.0
        each.backward()
        assert (w.grad, w.data) == (expected, 4.0)


def test_a_training_in_batches_is_eagers() -> None:
    histories = []
    for compiled in (False, True):
        model, loss = model_and_loss()
        optimiser = optim.Adam(model.parameters(), 0.05)
        f = gradwalk.compile(loss, batch="mean") if compiled else None
        history = []
        for step in range(20):
            X, y = samples(5 + step % 3)
            total = f(X, y) if f else sum(map(loss, X, y)) / len(X)
            model.zero_grad()
            total.backward()
            optimiser.step()
            history.append(total.data)
        histories.append(history + [p.data for p in model.parameters()])
    assert histories[1] == pytest.approx(histories[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("batch", ["sum", "mean"])
def test_hooks_on_parameters_are_called_once_a_walk(batch: Any) -> None:
    w = Value(2.0)
    seen: list[float] = []
    w.register_hook(seen.append)
    w.register_hook(lambda gradient: 100 * gradient + w.data)
    f = gradwalk.compile(lambda x: (w * x - 1.0) ** 2, batch=batch)
    share = 44.0 / (3 if batch == "mean" else 1)
    old = f(np.array([1.0, 2.0, 3.0]))
    for i in range(1, 4):
        out = f(np.array([1.0, 2.0, 3.0]))
        out.backward()
        assert seen == pytest.approx([share] * i)
        assert w.grad == pytest.approx(i * (100 * share + 2.0))
    w.data = 50.0
    w.grad = 0.0
    old.backward()
    assert (w.data, w.grad) == (50.0, pytest.approx(100 * share + 50.0))


def test_no_grad_gives_numbers_alone() -> None:
    _, loss = model_and_loss()
    X, y = samples(6)
    with gradwalk.no_grad():
        total, each = (gradwalk.compile(loss, batch=batch)(X, y) for batch in ("sum", "each"))
    assert total.operands == ()
    assert each.sum() == pytest.approx(total.data, rel=1e-12)


def test_inside_another_compiled_function_and_under_anomaly_it_runs_sample_by_sample() -> None:
    w = Value(2.0)
    inner = gradwalk.compile(lambda x: w * x, batch="mean")
    assert gradwalk.compile(lambda xs: inner(xs) ** 2)([1.0, 3.0]).data == 16.0
    with gradwalk.anomaly():
        assert inner([1.0, 3.0]).data == 4.0
    assert [v.data for v in gradwalk.compile(lambda x: w * x, batch="each").one_by_one([1.0, 3.0])] == [2.0, 6.0]


def test_what_is_no_batch_is_refused() -> None:
    f = gradwalk.compile(lambda x, y=0.0: x * 2 + y, batch="sum")
    with pytest.raises(SettingError, match="there are none"):
        f(3.0)
    with pytest.raises(InputSizeError, match="3 samples and another 2"):
        f([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(InputSizeError, match="no samples"):
        f([])
    with pytest.raises(NotANumberError, match="all of one shape"):
        f([[1.0], [1.0, 2.0]])
    with pytest.raises(SettingError, match="not Values"):
        f([1.0], Value(2.0))
    with pytest.raises(InputSizeError, match="gradients for 2 samples"):
        gradwalk.compile(lambda x: x * 2, batch="each")([1.0, 2.0]).backward([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": "all"}, "'sum', 'mean' or 'each', not 'all'"),
        ({"batch": "sum", "dtype": "float16"}, "'float64' or 'float32'"),
        ({"batch": "sum", "threads": 0}, "threads is a whole number"),
        ({"batch": "sum", "wrt": "x"}, "not for batches"),
    ],
)
def test_options_outside_what_they_may_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        gradwalk.compile(lambda x: x, **options)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("samples", [1, 3, 8, 9, 131])
def test_lanes_without_a_sample_do_not_turn_infinite_gradients_into_nan(samples: int, dtype: str) -> None:
    w, table = Value(2.0), [Value(3.0), Value(4.0)]
    X = [1.0] * (samples - 1) + [2.0]  # the root has an infinite slope where the last sample is
    rows = [i % 2 for i in range(samples)]

    def root(x: Any, i: Any) -> Any:
        return gradwalk.sqrt(w - x) + gradwalk.take(table, i) * 2.0

    batched = gradwalk.compile(root, batch="sum", dtype=dtype)
    leaves = [w, *table]
    total = batched(X, rows)
    total.backward()
    got = [v.grad for v in leaves]
    gradwalk.zero_grad(leaves)
    eager = batched.one_by_one(X, rows)
    eager.backward()
    assert got == [v.grad for v in leaves]
    assert got[0] == math.inf
    assert total.data == eager.data


@pytest.mark.parametrize("batch", ["sum", "mean", "each"])
def test_a_result_that_takes_no_part_leaves_no_nan(batch: str) -> None:
    a = Value(0.0)
    f = gradwalk.compile(lambda x: (a * x, (a * x).log()), batch=batch)
    plain, infinite = f([1.0, 2.0])
    plain.backward()
    assert a.grad == (1.5 if batch == "mean" else 3.0)
    infinite.backward()
    assert a.grad == math.inf


def test_sums_of_one_step_may_share_what_they_push_to() -> None:
    """The first to push to a number writes, all others add, in whatever order the sums are gone through."""
    ours, theirs = ([Value(0.2 + 0.1 * i) for i in range(7)] for _ in range(2))

    def f(x: Any, ps: Any) -> Any:
        y = [(p * x).tanh() for p in ps[:6]]
        sums = [ps[6] * y[1 + i] + y[0] * y[2 + i] + y[1] * y[3 + i] for i in (0, 2)]
        return sums[0].sin() + sums[1].sin()

    X = [0.1, -0.5, 0.7]
    gradwalk.compile(lambda x: f(x, ours), batch="sum")(X).backward()
    for x in X:
        f(x, theirs).backward()
    assert [p.grad for p in ours] == pytest.approx([p.grad for p in theirs], rel=1e-13)
