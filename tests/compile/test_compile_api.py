"""`gradwalk.compile` from outside: arguments, results, options, limits, the cache."""

# mypy: allow-untyped-calls
from __future__ import annotations

import gc
import math
import subprocess
import sys
import threading
import tracemalloc
from collections import namedtuple
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn, ops
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import (
    AnomalyError,
    MissingExtraError,
    NotANumberError,
    NumberTooLargeError,
    SettingError,
    TraceError,
)

# --- the decorator ---------------------------------------------------------------------------------------------------


def test_it_is_a_decorator_with_and_without_options_and_a_function() -> None:
    @gradwalk.compile
    def plain(x: Any) -> Any:
        """Twice."""
        return 2 * x

    @gradwalk.compile(cache=2)
    def with_options(x: Any) -> Any:
        return 2 * x

    from gradwalk.compile import compile as function

    for f in (plain, with_options, gradwalk.compile(lambda x: 2 * x), function(lambda x: 2 * x)):
        assert f(3.0).data == 6.0
    assert (plain.__name__, plain.__doc__) == ("plain", "Twice.")
    assert repr(plain).startswith("<compiled test_it_is_a_decorator")
    assert plain.eager(3.0) == 6.0
    assert gradwalk.compile(plain).eager is plain.eager


def test_methods_can_be_compiled() -> None:
    class Line:
        def __init__(self, slope: float) -> None:
            self.slope = Value(slope)

        @gradwalk.compile
        def at(self, x: Any) -> Any:
            return self.slope * x

    one, other = Line(2.0), Line(5.0)
    assert (one.at(3.0).data, other.at(3.0).data, one.at(4.0).data) == (6.0, 15.0, 8.0)
    one.at(7.0).backward()
    assert (one.slope.grad, other.slope.grad) == (7.0, 0.0)


@pytest.mark.parametrize("wrong", [3, "f", None])
def test_what_is_no_function_is_refused(wrong: Any) -> None:
    if wrong is not None:
        with pytest.raises(SettingError, match="compile takes a function"):
            gradwalk.compile(wrong)


def test_an_async_function_is_refused_before_it_is_called() -> None:
    async def later(x: float) -> float:
        return x

    async def several(x: float) -> AsyncIterator[float]:
        yield x

    for fn in (later, several):
        with pytest.raises(SettingError, match=f"{fn.__name__} is an async function.*compile the plain function"):
            gradwalk.compile(fn)


def test_options_that_name_no_argument_are_refused() -> None:
    with pytest.raises(SettingError, match=r"static= names an argument 'z' .* it has: x, y"):
        gradwalk.compile(lambda x, y: x, static="z")
    with pytest.raises(SettingError, match="wrt= names"):
        gradwalk.compile(lambda x, y: x, wrt=("z",))
    with pytest.raises(SettingError, match="cache="):
        gradwalk.compile(lambda x: x, cache=0)
    with pytest.raises(SettingError, match="are for batches"):
        gradwalk.compile(lambda x: x, dtype="float32")


# --- arguments -------------------------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "first second")

ARGUMENTS: list[tuple[Any, Any]] = [
    (lambda x: x * 2, 3.0),
    (lambda x: x * 2, True),
    (lambda x: x * 2, np.float32(1.5)),
    (lambda x: x * 2, np.array(2.5)),
    (lambda x: sum(x), [1.0, 2, np.int64(3)]),
    (lambda x: sum(x), (1.0, 2.0)),
    (lambda x: sum(a * b for a, b in x), [[1.0, 2.0], [3.0, 4.0]]),
    (lambda x: sum(a * b for a, b in x), [(1.0, 2.0), (3.0, 4.0)]),
    (lambda x: sum(sum(row) for row in x), [[1.0], [3.0, 4.0], []]),
    (lambda x: sum(sum(sum(b) for b in a) for a in x), [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
    (lambda x: x["a"] * x["b"][1], {"a": 2.0, "b": [3.0, 4.0]}),
    (lambda x: x.first * x.second, Pair(2.0, 5.0)),
    (lambda x: x[0, 1] * x[1, 0], np.array([[1.0, 2.0], [3.0, 4.0]])),
    (lambda x: sum(float(i) * v for i, v in enumerate(x.T.ravel())), np.arange(6).reshape(2, 3)),
    (lambda x: sum(sum(row) for row in x), [np.array([1.0, 2.0]), np.array([3.0])]),
    (lambda x: x[0] * (1 if x[1] == "twice" else 2) if x[2] is None else x[0], [3.0, "twice", None]),
    (lambda x: sum(x, Value(0.0)), []),
]  # fmt: skip


@pytest.mark.parametrize(("f", "argument"), ARGUMENTS)
def test_arguments_of_every_structure(f: Any, argument: Any) -> None:
    expected = f(argument)
    found = gradwalk.compile(f)(argument)
    assert number(found) == pytest.approx(number(expected), rel=1e-14)
    assert number(gradwalk.compile(lambda *, x: f(x))(x=argument)) == pytest.approx(number(expected), rel=1e-14)


def number(x: Any) -> float:
    return float(x.data) if isinstance(x, Value) else float(x)


def test_one_trace_for_each_structure_and_numbers_may_change() -> None:
    f = gradwalk.compile(lambda xs, k: k * sum(x * x for x in xs))
    for n in (1, 3, 1, 3, 2, 3):
        for k in (2, 0.5):
            xs = [0.1 * n * i + k for i in range(n)]
            assert f(xs, k).data == pytest.approx(k * sum(x * x for x in xs), rel=1e-14)
    assert len(f.traces()) == f.traced == 3


def test_a_list_with_something_else_in_its_middle() -> None:
    f = gradwalk.compile(lambda xs: sum(xs))
    assert f([1.0, 2.0, 3.0]).data == 6.0
    v = Value(20.0)
    total = f([1.0, v, 3.0])
    total.backward()
    assert (total.data, v.grad) == (24.0, 1.0)
    assert f([4.0, 5.0, 6.0]).data == 15.0
    with pytest.raises(TypeError):
        f([1.0, "two", 3.0])
    with pytest.raises(NumberTooLargeError):
        f([1.0, 10**400, 3.0])
    assert f([7.0, 8.0, 9.0]).data == 24.0


def test_sets_and_complex_numbers_are_refused() -> None:
    f = gradwalk.compile(lambda x: x)
    with pytest.raises(SettingError, match="a set has no order"):
        f({1.0, 2.0})
    with pytest.raises(NotANumberError, match="complex128"):
        f(np.array([1j]))


def test_static_arguments_decide_what_the_function_does() -> None:
    @gradwalk.compile(static=("n", "mode"))
    def f(x: Any, n: int, mode: str = "sum") -> Any:
        total = sum(x for _ in range(n))
        return total if mode == "sum" else total / n

    assert [f(2.0, 3).data, f(2.0, 3).data, f(2.0, n=4).data, f(5.0, 3, "mean").data, f(5.0, 3, mode="mean").data] == [
        6.0,
        6.0,
        8.0,
        5.0,
        5.0,
    ]
    assert f.traced == 4  # by position and by name are two structures
    with pytest.raises(SettingError, match="static argument 'n' is a list"):
        f(2.0, [3])


def test_models_as_arguments_are_known_by_their_identity() -> None:
    f = gradwalk.compile(lambda model, x: model(x))
    one, other = nn.Neuron(1), nn.Neuron(1)
    for model in (one, other, one):
        assert f(model, [2.0]).data == model([2.0]).data
    assert len(f.traces()) == 2


def test_integers_choose_through_take_and_are_checked_at_every_call() -> None:
    table = [[Value(1.0 + i), Value(10.0 + i)] for i in range(3)]

    @gradwalk.compile
    def f(tokens: Any, scale: Any) -> Any:
        rows = [gradwalk.take(table, t) for t in tokens]
        return scale * sum(a * b for a, b in rows) + tokens[0]

    def eager(tokens: list[int], scale: float) -> float:
        return scale * sum((1.0 + t) * (10.0 + t) for t in tokens) + tokens[0]

    for tokens in ([0, 1], [2, 2], [1, 0], (2, 1)):
        assert f(tokens, 0.5).data == eager(list(tokens), 0.5)
        assert f(np.array(tokens), 0.5).data == eager(list(tokens), 0.5)
    gradwalk.zero_grad([v for row in table for v in row])
    f([2, 2], 1.0).backward()
    assert [[v.grad for v in row] for row in table] == [[0.0, 0.0], [0.0, 0.0], [24.0, 6.0]]
    for wrong in (3, -1):
        with pytest.raises(SettingError, match=f"index {wrong}, and the table has 3 entries"):
            f([0, wrong], 0.5)
        with pytest.raises(SettingError, match=f"index {wrong}, and the table has 3 entries"):
            f(np.array([0, wrong]), 0.5)
    for none in (1.0, 1.5):
        with pytest.raises(SettingError, match="whole number"):
            f([0, none], 0.5)
    assert f([0, 1], 0.5).data == eager([0, 1], 0.5)


# --- results ---------------------------------------------------------------------------------------------------------


def test_a_result_behaves_like_a_value() -> None:
    w = Value(3.0)
    loss = gradwalk.compile(lambda x: w * x * x)(2.0)
    assert isinstance(loss, Value)
    assert (loss.data, loss.grad, repr(loss), f"{loss:.2f}") == (12.0, 0.0, "Value(data=12.0, grad=0.0)", "12.00")
    assert loss > 11
    assert loss < Value(12.5)
    assert max(loss, Value(1.0)) is loss
    assert loss.detach().data == 12.0
    loss.backward()
    loss.backward()
    assert (w.grad, loss.grad) == (8.0, 1.0)
    loss.backward(0.5)
    assert (w.grad, loss.grad) == (10.0, 0.5)
    loss.label = "loss"
    assert loss.label == "loss"


def test_results_go_on_in_an_ordinary_graph() -> None:
    w, v = Value(3.0), Value(0.5)
    f = gradwalk.compile(lambda x: w * x)
    total = (f(2.0) * v + w).tanh() * f(1.0)
    plain = ((w * 2.0) * v + w).tanh() * (w * 1.0)
    total.backward()
    compiled_grads = (w.grad, v.grad)
    w.grad = v.grad = 0.0
    plain.backward()
    assert total.data == plain.data
    assert compiled_grads == pytest.approx((w.grad, v.grad), rel=1e-14)
    total.backward()
    total.backward()
    assert (w.grad, v.grad) == pytest.approx((3 * compiled_grads[0], 3 * compiled_grads[1]), rel=1e-14)


def test_the_gradient_of_a_result_inside_a_graph_is_that_of_the_latest_walk() -> None:
    w = Value(3.0)
    middle = gradwalk.compile(lambda x: w * x)(2.0)
    total = middle * 5
    total.backward()
    total.backward()
    assert (middle.grad, w.grad) == (5.0, 20.0)


def test_several_and_nested_results() -> None:
    w = Value(3.0)

    @gradwalk.compile
    def f(x: Any) -> Any:
        y = w * x
        return {"list": [y, y + 1, (2 * y, "text", None)], "same": y, "constant": 5, "parameter": w, "argument": x,
                "array": np.array([y, x * 2], object), "pair": Pair(y, 0)}  # fmt: skip

    out = f(2.0)
    assert [out["list"][0].data, out["list"][1].data, out["list"][2][0].data] == [6.0, 7.0, 12.0]
    assert out["list"][2][1:] == ("text", None)
    assert out["same"] is out["list"][0]
    assert (out["constant"], out["argument"]) == (5, 2.0)
    assert out["parameter"] is w
    assert [v.data for v in out["array"]] == [6.0, 4.0]
    assert out["pair"].first is out["same"]
    out["list"][2][0].backward()
    out["list"][1].backward()
    assert w.grad == 6.0
    (out["list"][0] + out["list"][1]).backward()
    assert w.grad == 10.0


def test_results_are_walked_back_after_later_calls() -> None:
    w = Value(3.0)
    f = gradwalk.compile(lambda x, ys: w * x * x + sum(ys))
    arrays = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    first, second = f(2.0, arrays[0]), f(3.0, arrays[1])
    arrays[0][:] = 99.0
    third = f(4.0, [1.0])
    for result, expected in ((first, 4.0), (third, 16.0), (second, 9.0), (first, 4.0)):
        w.grad = 0.0
        result.backward()
        assert w.grad == expected


def test_a_result_from_before_a_change_of_parameters_is_walked_back_as_it_was() -> None:
    w = Value(3.0)
    f = gradwalk.compile(lambda x: w * w * x)
    first, second = f(2.0), f(5.0)
    w.data = 4.0
    for result, expected in ((second, 30.0), (first, 12.0), (f(2.0), 16.0), (first, 12.0)):
        w.grad = 0.0
        result.backward()
        assert (w.grad, w.data) == (expected, 4.0)
    assert first.data == 18.0


def test_numbers_in_arrays_are_those_of_the_call_whatever_happens_to_array_and_parameters() -> None:
    w, other = Value(3.0), Value(1.0)
    f = gradwalk.compile(lambda x: w * w * x[0])
    x = np.array([2.0])
    result = f(x)
    x[:] = 99.0
    gradwalk.compile(lambda x: w * other * x)(1.0)  # the parameters' store grows
    w.data = 4.0
    result.backward()
    assert w.grad == 12.0


def test_a_result_that_was_walked_back_before_its_parameters_changed_says_so() -> None:
    w = Value(3.0)
    f = gradwalk.compile(lambda x: w * w * x)
    result = f(2.0)
    result.backward()
    w.data = 4.0
    with pytest.raises(TraceError, match="parameters have changed since this result was first walked back"):
        result.backward()
    assert (w.data, w.grad) == (4.0, 12.0)
    both = gradwalk.compile(lambda x: (w * x, w * w * x))(1.0)
    both[0].backward()
    w.data = 5.0
    both[1].backward()
    assert (w.data, w.grad) == (5.0, 12.0 + 1.0 + 8.0)


def test_values_among_the_arguments_get_gradients() -> None:
    w, x = Value(3.0), Value(2.0)
    f = gradwalk.compile(lambda x, ys: w * x + x * sum(ys))
    y = x * x
    loss = f(x, [y, 5.0])
    loss.backward()
    eager = Value(2.0)
    expected = w.detach() * eager + eager * (eager * eager + 5.0)
    expected.backward()
    assert (loss.data, x.grad, w.grad) == (expected.data, eager.grad, 2.0)
    loss.backward()
    assert (x.grad, w.grad) == (2 * eager.grad, 4.0)


def test_gradients_of_arguments_on_request() -> None:
    w = Value(3.0)
    f = gradwalk.compile(lambda x, m, k=1.0: k * w * x["a"] * m[0, 1] + m[1, 0] * x["b"][0], wrt=("x", "m"))
    loss = f({"a": 2.0, "b": [5.0]}, np.array([[0.0, 7.0], [4.0, 0.0]]))
    with pytest.raises(SettingError, match=r"call backward\(\) first"):
        _ = loss.argument_grads
    loss.backward()
    grads = loss.argument_grads
    assert grads["x"] == {"a": 21.0, "b": [4.0]}
    assert grads["m"].tolist() == [[0.0, 6.0], [5.0, 0.0]]
    assert w.grad == 14.0
    with pytest.raises(SettingError, match="on request"):
        _ = gradwalk.compile(lambda x: x * x)(2.0).argument_grads


def test_nodes_in_between_say_that_they_are_not_kept() -> None:
    loss = gradwalk.compile(lambda x: x * x + 1)(2.0)
    for look in (lambda: loss.operands, lambda: loss._prev, lambda: loss.local_derivatives, lambda: loss.explain()):
        with pytest.raises(TraceError, match="not kept"):
            look()
    with pytest.raises(TraceError, match=r"call fn\.eager"):
        loss.backward(create_graph=True)


def test_zero_grad_of_a_result_clears_what_it_depends_on() -> None:
    w, x = Value(3.0), Value(2.0)
    loss = gradwalk.compile(lambda x: w * x)(x)
    loss.backward()
    gradwalk.zero_grad(loss)
    assert (w.grad, x.grad, loss.grad) == (0.0, 0.0, 0.0)


def test_user_defined_ops_compile_from_their_one_definition() -> None:
    @gradwalk.op(lambda x, y, out: 3 * x * x * y, lambda x, y, out: x**3)
    def cubed_times(x: float, y: float) -> float:
        return x * x * x * y

    @gradwalk.op(lambda x, out: gradwalk.exp(x) if x < 0 else 1.0)
    def elu(x: float) -> float:
        return math.exp(x) - 1 if x < 0 else x

    w = Value(2.0)
    f = gradwalk.compile(lambda x: cubed_times(w, x) + elu(w * x))
    for x in (1.5, -1.5):
        w.grad = 0.0
        expected = cubed_times(w, x) + elu(w * x)
        expected.backward()
        eager, w.grad = w.grad, 0.0
        loss = f(x)
        loss.backward()
        assert (loss.data, w.grad) == pytest.approx((expected.data, eager), rel=1e-14)


def test_an_op_made_anew_under_the_same_name_is_never_served_stale() -> None:
    for factor in (2.0, 3.0):
        source = f"def scaled(x):\n    return {factor} * x"
        scope: dict[str, Any] = {}
        exec(source, scope)
        op = gradwalk.op(lambda x, out, k=factor: k + 0 * x)(scope["scaled"])
        w = Value(5.0)
        loss = gradwalk.compile(lambda x, op=op, w=w: op(w) * x)(1.0)
        loss.backward()
        assert (loss.data, w.grad) == (factor * 5.0, factor)


SCALE = 2.0


def test_an_op_that_reads_a_number_from_outside_is_compiled_anew_when_it_changes() -> None:
    global SCALE

    @gradwalk.op(lambda x, out: SCALE)
    def scaled(x: float) -> float:
        return SCALE * x

    w = Value(3.0)
    f = gradwalk.compile(lambda x: scaled(w) * x)
    for SCALE in (2.0, 5.0):
        for compiled in (f, gradwalk.compile(lambda x: scaled(w) * x)):
            w.grad = 0.0
            loss = compiled(1.0)
            loss.backward()
            assert (loss.data, w.grad) == (3.0 * SCALE, SCALE)


# --- modes, nesting, threads -----------------------------------------------------------------------------------------


def test_no_grad_gives_leaves() -> None:
    w = Value(3.0)
    f = gradwalk.compile(lambda x: [w * x, 2 * w])
    with gradwalk.no_grad():
        found = f(2.0)
    assert [(v.data, v.operands) for v in found] == [(6.0, ()), (6.0, ())]


def test_anomaly_names_the_op_and_the_line_as_ever() -> None:
    w = Value(0.0)
    f = gradwalk.compile(lambda x: (w * x).log())
    assert f(1.0).data == -math.inf
    with gradwalk.anomaly(), pytest.raises(AnomalyError, match=r"log\(0\) gave -inf"):
        f(1.0)


def test_a_compiled_function_inside_another_is_traced_along() -> None:
    w = Value(3.0)
    inner = gradwalk.compile(lambda x: w * x)
    outer = gradwalk.compile(lambda x: inner(x) * inner(x + 1))
    loss = outer(2.0)
    loss.backward()
    assert (loss.data, w.grad) == (54.0, 36.0)
    assert inner.traces() == []


def test_threads_get_the_numbers_of_their_own_calls() -> None:
    model = nn.MLP(3, [8, 1])
    f = gradwalk.compile(lambda x: model(x))
    points = [[0.1 * i, 1.0 - 0.1 * i, 0.5] for i in range(20)]
    expected = [model(x).data for x in points]
    wrong = []

    def work(start: int) -> None:
        for k in range(200):
            i = (start + k) % len(points)
            if abs(f(points[i]).data - expected[i]) > 1e-12:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- what a trace is made for ----------------------------------------------------------------------------------------

FACTOR = 2.0


def test_numbers_read_from_outside_are_part_of_the_trace() -> None:
    global FACTOR
    captured = 10.0

    def helper(x: Any) -> Any:
        return FACTOR * x

    f = gradwalk.compile(lambda x: helper(x) + captured)
    assert [f(1.0).data, f(2.0).data] == [12.0, 14.0]
    FACTOR = 3.0
    assert [f(1.0).data, f(2.0).data] == [13.0, 16.0]
    captured = 20.0
    assert f(1.0).data == 23.0
    FACTOR = 2.0
    captured = 10.0
    assert f(1.0).data == 12.0
    assert f.traced == 3


def test_a_number_from_outside_that_keeps_changing_is_warned_of() -> None:
    step = 0
    f = gradwalk.compile(lambda x: x * step)

    def calls() -> None:
        nonlocal step
        for i in range(10):
            step = i
            f(1.0)

    with pytest.warns(FrozenWarning, match=r"at each of its last 3 calls, because .*\(step\) was another") as caught:
        calls()
    assert len(caught) == 1


def test_the_cache_is_bounded_can_be_seen_and_cleared() -> None:
    f = gradwalk.compile(lambda xs: sum(xs), cache=3)
    for n in range(1, 7):
        f([1.0] * n)
    assert len(f.traces()) == 3
    assert f.cache.evicted == 3
    f([1.0] * 5)
    f([1.0] * 9)
    assert sorted(trace.recorded.tape.inputs for trace in f.traces()) == [5, 6, 9]  # 4 was used least recently
    f.clear()
    assert f.traces() == []
    assert f([1.0] * 9).data == 9.0


def test_ten_thousand_calls_do_not_grow_the_process() -> None:
    model = nn.MLP(2, [4, 1])
    f = gradwalk.compile(lambda x: model(x) ** 2)
    optimiser = gradwalk.optim.Adam(model.parameters(), 1e-3)

    def some(n: int) -> None:
        for i in range(n):
            loss = f([0.1, i * 1e-4])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    some(200)
    gc.collect()
    tracemalloc.start()
    some(100)
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    resident = peak_memory()
    some(10_000)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 20_000
    assert peak_memory() - resident < 4_000_000


def peak_memory() -> int:
    resource = pytest.importorskip("resource")
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


def test_traces_are_let_go_with_their_function() -> None:
    import weakref

    def make() -> Any:
        model = nn.MLP(2, [3, 1])
        f = gradwalk.compile(lambda x: model(x))
        f([1.0, 2.0]).backward()
        return weakref.ref(model), weakref.ref(f.traces()[0])

    model, trace = make()
    gc.collect()
    assert model() is None
    assert trace() is None


# --- without Numba ---------------------------------------------------------------------------------------------------

WITHOUT = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "numpy", "llvmlite"):
            raise ModuleNotFoundError(f"{name} is not installed", name=name)
sys.meta_path.insert(0, Blocker())
import gradwalk
from gradwalk import nn
loss = nn.mse(nn.MLP(2, [3, 1])([1.0, 2.0]), 1.0)
loss.backward()
print(gradwalk.softmax([0.0, 0.0])[0].data, gradwalk.take([5.0], 0))
try:
    @gradwalk.compile
    def f(x):
        return x
except gradwalk.GradwalkError as error:
    print(type(error).__name__, error)
"""


def test_without_numba_the_message_is_the_pip_line_and_eager_works() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=60, check=False)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "0.5 5.0",
        'MissingExtraError gradwalk.compile needs numpy: pip install "gradwalk[fast]"',
    ]
    assert issubclass(MissingExtraError, ImportError)


def test_every_op_of_the_table_is_there_compiled() -> None:
    for name, op in ops.TABLE.items():
        points = [(0.3, 0.7, 0.9), (-0.4, 0.2, 0.5), (0.6, -0.1, 0.1)]
        f = gradwalk.compile(lambda *xs, op=op: op(*xs))
        for point in points:
            x = point[: op.arity]
            assert f(*x).data == pytest.approx(op.forward(*x), rel=1e-14, nan_ok=True), name
