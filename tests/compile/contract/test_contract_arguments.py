"""What a function does to its arguments, and what they are: as in the plain function, or said."""

from __future__ import annotations

import decimal
import gc
import math
import random
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import TraceError


@dataclass
class State:
    speed: float


def appended(w: Value, xs: list[float]) -> Any:
    xs.append(1.0)
    return w * sum(xs)


def popped(w: Value, xs: list[float]) -> Any:
    return w * xs.pop() if xs else w


def first_set(w: Value, xs: list[float]) -> Any:
    xs[0] = xs[0] + 1.0
    return w * xs[0]


def in_a_dict(w: Value, counts: dict[str, Any]) -> Any:
    counts["n"] += 1
    return w * counts["n"]


def sorted_in_place(w: Value, xs: list[float]) -> Any:
    xs.sort()
    return w * xs[0]


def array_in_place(w: Value, xs: Any) -> Any:
    xs -= 1.0
    return w * xs.sum()


def part_of_an_array(w: Value, xs: Any) -> Any:
    xs[0] = 5.0 * xs[1]
    return w * xs.sum()


def array_given_as_it_is(w: Value, xs: Any) -> Any:
    ys = np.asarray(xs, float)
    ys *= 2.0
    return w * xs.sum()


def array_not_copied(w: Value, xs: Any) -> Any:
    ys = xs.astype(float, copy=False)
    ys[0] = 7.0
    return w * xs.sum()


def array_required(w: Value, xs: Any) -> Any:
    np.require(xs, float, "C")[0] = 7.0
    return w * xs.sum()


def array_without_nan(w: Value, xs: Any) -> Any:
    np.nan_to_num(xs, copy=False)
    return w * xs.sum()


def array_rounded_into(w: Value, xs: Any) -> Any:
    return w * np.round(xs, 0, out=xs).sum()


def field_set(w: Value, state: State) -> Any:
    state.speed = 0.9 * state.speed + 1.0
    return w * state.speed


def history(w: Value, losses: list[float]) -> Any:
    loss = w * 3.0
    losses.append(loss.data)
    return loss


CHANGING: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "append": (appended, lambda: [1.0]),
    "pop": (popped, lambda: [1.0, 2.0, 3.0]),
    "item": (first_set, lambda: [1.0, 2.0]),
    "dict": (in_a_dict, lambda: {"n": 0}),
    "sort": (sorted_in_place, lambda: [3.0, 1.0]),
    "array": (array_in_place, lambda: np.array([1.0, 2.0])),
    "part of an array": (part_of_an_array, lambda: np.array([1.0, 2.0])),
    "asarray": (array_given_as_it_is, lambda: np.array([1.0, 2.0])),
    "astype": (array_not_copied, lambda: np.array([1.0, 2.0])),
    "require": (array_required, lambda: np.array([1.0, 2.0])),
    "nan_to_num": (array_without_nan, lambda: np.array([1.0, math.nan])),
    "round": (array_rounded_into, lambda: np.array([1.25, 2.75])),
    "dataclass": (field_set, lambda: State(1.0)),
    "history": (history, list),
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_function_that_changes_its_argument_is_run_as_it_is_and_says_so(name: str) -> None:
    fn, make = CHANGING[name]
    found = []
    for compiled in (False, True):
        w, given = Value(2.0), make()
        called = gradwalk.compile(lambda x, w=w: fn(w, x)) if compiled else lambda x, w=w: fn(w, x)
        told = []
        numbers = []
        for _ in range(4):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                numbers.append(called(given).data)
            told += [warning.category for warning in caught]
        found.append((numbers, repr(given)))
        assert told == [FrozenWarning] * compiled
    assert found[0] == found[1]


CONVERTING: dict[str, Callable[[Any], Any]] = {
    "asarray": lambda xs: np.asarray(xs, float),
    "asanyarray": lambda xs: np.asanyarray(xs, dtype=float),
    "array": lambda xs: np.array(xs, float, copy=None),
    "array copied": lambda xs: np.array(xs, float),
    "astype": lambda xs: xs.astype(float, copy=False),
    "astype copied": lambda xs: xs.astype(float),
    "astype in another order": lambda xs: xs.astype(float, "F", copy=False),
    "ascontiguousarray": lambda xs: np.ascontiguousarray(xs, float),
    "asfortranarray": np.asfortranarray,
    "require": lambda xs: np.require(xs, float, ["W"]),
    "require its own data": lambda xs: np.require(xs[1:], float, ["O"]),
    "atleast_2d": np.atleast_2d,
}


@pytest.mark.parametrize("name", CONVERTING)
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_arrays_are_copied_where_numpy_copies_them(name: str, shape: tuple[int, ...]) -> None:
    w, convert = Value(2.0), CONVERTING[name]

    def fn(x: float) -> Any:
        xs = np.array([x, 2.0 * x, -1.0, 4.0, x, x])[: math.prod(shape)].reshape(shape)
        ys = convert(xs)
        ys *= 3.0
        return w * xs.sum() + ys.ravel()[0]

    compiled = gradwalk.compile(fn)
    assert [compiled(x).data for x in (1.0, 2.0, 5.0)] == [fn(x).data for x in (1.0, 2.0, 5.0)]


def test_an_array_that_has_to_be_finite_is_looked_at() -> None:
    w = Value(2.0)
    f = gradwalk.compile(lambda xs: w * np.asarray_chkfinite(xs).sum())
    assert f(np.array([1.0, 2.0])).data == 6.0
    with pytest.raises(ValueError, match="infs or NaNs"):
        f(np.array([1.0, math.inf]))
    assert f(np.array([3.0, 2.0])).data == 10.0


def test_arguments_that_are_one_list_are_one_list_where_that_can_be_seen() -> None:
    w = Value(2.0)

    def fn(xs: list[float], ys: list[float]) -> Any:
        xs[0] = 9.0
        return w * ys[0]

    same = [1.0, 2.0]
    with pytest.warns(FrozenWarning, match="changes an argument"):
        assert gradwalk.compile(fn)(same, same).data == 18.0


def test_keywords_keep_their_order() -> None:
    w = Value(2.0)
    first = gradwalk.compile(lambda **named: w * next(iter(named.values())))
    assert [first(a=1.0, b=2.0).data, first(b=2.0, a=1.0).data, first(a=3.0, b=2.0).data] == [2.0, 4.0, 6.0]


def test_numpys_numbers_are_not_taken_for_pythons() -> None:
    w = Value(2.0)
    inverse = gradwalk.compile(lambda x: w * (1 / x))
    with np.errstate(divide="ignore"):
        assert inverse(np.float64(0.5)).data == 4.0
        assert inverse(np.float64(0.0)).data == math.inf
    with pytest.raises(ZeroDivisionError):
        inverse(0.0)
    halves = gradwalk.compile(lambda xs: xs[0] // 2)
    assert [halves(np.array([5.0, 1.0])), halves(np.array([5, 1]))] == [2.0, 2]


class Hours(float):
    """A number that adds in a way of its own."""

    def __add__(self, other: float) -> Hours:
        return Hours((float(self) + other) % 24)


class Square(Value):
    """A Value that multiplies in a way of its own."""

    def __mul__(self, other: Any) -> Any:
        return Value.__mul__(self, self) * other


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"at": x}])
def test_numbers_with_arithmetic_of_their_own_are_not_taken_for_pythons(wrap: Callable[[Any], Any]) -> None:
    def plain(given: Any) -> Any:
        (x,) = [given] if isinstance(given, float) else given.values() if isinstance(given, dict) else given
        return (x + 5.0) * Value(2.0)

    fn = gradwalk.compile(plain)
    for x in (Hours(22.0), 22.0, Hours(23.0), Hours(22.0)):
        assert fn(wrap(x)).data == plain(wrap(x)).data


def test_values_with_arithmetic_of_their_own_are_not_taken_for_ours() -> None:
    fn = gradwalk.compile(lambda x, k: x * k)
    for x in (Square(3.0), Value(3.0), Square(5.0)):
        y, expected = fn(x, 2.0), (type(x)(x.data) * 2.0).data
        y.backward()
        assert (y.data, x.grad) == (expected, 4.0 * x.data if isinstance(x, Square) else 2.0)


def test_masks_among_the_arguments() -> None:
    w = Value(2.0)
    xs, mask = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    functions: list[Callable[..., Any]] = [
        lambda x, m: w * x[~m].sum(),
        lambda x, m: w * x[(x > 1.5) & m].sum(),
        lambda x, m: w * x[np.logical_not(m)].sum(),
    ]
    for fn in functions:
        compiled = gradwalk.compile(fn)
        for m in (mask, ~mask):
            assert compiled(xs, m).data == fn(xs, m).data


def test_slices_as_arguments() -> None:
    w = Value(2.0)
    part = gradwalk.compile(lambda s, xs: w * sum(xs[s]))
    assert [part(slice(1, 3), [1.0, 2.0, 3.0]).data, part(slice(0, 1), [1.0, 2.0, 3.0]).data] == [10.0, 2.0]


def test_a_parameter_that_is_an_argument_too_has_both_its_gradients() -> None:
    w = Value(2.0)
    fn = gradwalk.compile(lambda p, x: p * x + w)
    for already in (0.0, 1.0, 7.0):
        w.grad = already
        fn(w, 3.0).backward()
        assert w.grad == already + 4.0


def test_a_hook_on_a_result_is_called_by_its_own_walk() -> None:
    w = Value(2.0)
    result = gradwalk.compile(lambda x: w * x)(3.0)
    handle = result.register_hook(lambda gradient: 10.0 * gradient)
    result.backward()
    assert w.grad == 30.0
    handle.remove()
    result.backward()
    assert w.grad == 33.0


def test_what_a_function_did_before_it_raised_is_done_at_every_call() -> None:
    w, count = Value(2.0), [0]

    def fn(x: float) -> Any:
        if x < 0:
            count[0] += 1
            raise ValueError("below 0")
        return w * x

    compiled = gradwalk.compile(fn)
    compiled(1.0)
    for _ in range(5):
        with pytest.raises(ValueError, match="below 0"):
            compiled(-1.0)
    assert count == [5]


@pytest.mark.parametrize("fn", [math.sqrt, float, lambda x: x % 2.0])
def test_gradients_of_arguments_do_not_vanish_in_numbers_that_leave_the_trace(fn: Any) -> None:
    w = Value(2.0)
    with pytest.raises(TraceError, match="would not pass through it"):
        gradwalk.compile(lambda x: w * fn(x), wrt="x")(1.5)


def test_what_is_no_part_of_the_trace_is_summed_over_samples_all_the_same() -> None:
    w = Value(2.0)
    total = gradwalk.compile(lambda x: w, batch="sum")([1.0, 2.0, 3.0])
    total.backward()
    assert (total.data, w.grad) == (6.0, 3.0)
    assert gradwalk.compile(lambda x: 3.0, batch="sum")([1.0, 2.0, 3.0]).data == 9.0
    assert gradwalk.compile(lambda x: 3.0, batch="mean")([1.0, 2.0, 3.0]).data == 3.0
    doubled, same, text = gradwalk.compile(lambda x: (w * x, w, "text"), batch="each")([1.0, 2.0])
    assert (list(doubled), list(same), text) == ([2.0, 4.0], [2.0, 2.0], "text")


def test_truths_are_counted_over_samples_and_their_mean_is_a_float() -> None:
    w = Value(2.0)
    for batch, kind in (("sum", int), ("mean", float)):
        right = gradwalk.compile(lambda x, y: (w * x > y, x > 5.0), batch=batch)
        for xs, hits in (([1.0, 2.0], 1), ([2.0, 3.0], 2), ([0.5, 1.0], 0), ([2.0], 1)):
            found = right(xs, [3.0] * len(xs))
            expected = kind(hits) if batch == "sum" else hits / len(xs)
            assert [(type(x), x) for x in found] == [(kind, expected), (kind, kind(0))]


def test_an_array_among_the_results_is_a_new_one_each_time() -> None:
    w = Value(2.0)
    fn = gradwalk.compile(lambda x: (w * x, np.zeros(2)))
    fn(1.0)[1][0] = 5.0
    assert fn(1.0)[1].tolist() == [0.0, 0.0]


def test_a_new_path_that_draws_is_not_said_to_have_been_wrong_before() -> None:
    w = Value(2.0)
    fn = gradwalk.compile(lambda x: w * random.random() if x < 0 else w * x)
    fn(1.0)
    with pytest.warns(FrozenWarning, match="random numbers are drawn in .*, so it cannot be compiled"):
        fn(-1.0)


def test_what_another_thread_draws_is_not_laid_at_the_functions_door() -> None:
    w, done = Value(2.0), threading.Event()

    def disturb() -> None:
        while not done.wait(1e-4):
            random.random()

    other = threading.Thread(target=disturb)
    other.start()
    try:
        for _ in range(10):
            fn = gradwalk.compile(
                lambda x: sum((w * x + i for i in range(300)), start=w)
            )  # long enough to be disturbed
            assert fn(1.0).data == 2.0 + 300 * 2.0 + 300 * 299 / 2
            assert len(fn.traces()) == 1, "a warning would be an error here"
        with pytest.warns(FrozenWarning, match="random numbers are drawn"):
            gradwalk.compile(lambda x: w * random.random() * x)(1.0)
    finally:
        done.set()
        other.join()


def test_what_the_collector_has_read_meanwhile_is_not_laid_at_the_functions_door() -> None:
    """Dask looks into /proc at each round of the collector, in whatever thread that happens."""
    w = Value(2.0)

    def look(phase: str, info: Any) -> None:
        Path(__file__).read_text()

    def collected(x: Any) -> Any:
        gc.collect()
        return w * x

    gc.callbacks.append(look)
    try:
        fn = gradwalk.compile(collected)
        assert (fn(3.0).data, len(fn.traces())) == (6.0, 1)
        with pytest.warns(FrozenWarning, match="reads a file"):
            gradwalk.compile(lambda x: len(Path(__file__).read_text()) * w * x)(3.0)
    finally:
        gc.callbacks.remove(look)


def test_checks_go_on_for_functions_that_decide() -> None:
    """At calls 2, 4, 8 and so on, on whatever path; a check itself is no call."""
    context = decimal.getcontext()
    before, w = context.prec, Value(2.0)
    fn = gradwalk.compile(lambda x: w * float(decimal.Decimal(1) / 3) * (1.0 if x > 0 else -1.0))
    try:
        for _ in range(20):
            assert fn(1.0).data == pytest.approx(2 / 3)
        assert [trace.calls for trace in fn.traces()] == [20]
        context.prec = 2
        with pytest.warns(FrozenWarning, match="found to differ from its trace"):
            found = any(fn(1.0).data == 0.66 for _ in range(1_000_000))  # a check waits until it is 5% of the time
        assert found
    finally:
        context.prec = before
    fn(-1.0)
    assert repr(fn).endswith(", 2 traces>")  # two paths of one structure


def test_lists_of_values_are_compiled_and_told_apart_from_values_given_twice() -> None:
    def asked(xs: Any, y: Any = None) -> Any:
        total = sum(x * x for x in xs)
        return total if y is None else total * y + (5.0 if any(x is y for x in xs) else 0.0)

    answers = []
    compiled: Any = gradwalk.compile(asked)
    for f in (asked, compiled):
        a, b, c = Value(1.0), Value(2.0), Value(3.0)
        found = []
        for args in (([a, b],), ([b, a],), ([a, b], c), ([a, b], a), ([a, a],), ([a, a], b), ((a, b), b), ([a, b, c],)):
            out = f(*args)
            out.backward()
            found.append((out.data, a.grad, b.grad, c.grad))
        answers.append(found)
    assert answers[1] == answers[0]
    assert compiled.traces()
