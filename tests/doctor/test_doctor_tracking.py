"""Floats that remember where they were read, and what a cut in a graph costs."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, modes
from gradwalk.doctor.cuts import Cut, cuts_followed
from gradwalk.doctor.names import names_of
from gradwalk.doctor.scan import Scan
from gradwalk.doctor.tracking import TrackedFloat, follow

FORMULAS: list[Any] = [
    lambda x, y: x + y * 2,
    lambda x, y: 3 - x - y,
    lambda x, y: x * y + x * x,
    lambda x, y: x / y,
    lambda x, y: 1 / x + y / 2.0,
    lambda x, y: -x + abs(y - 5.0) + (+x),
    lambda x, y: x**2 + y**-1,
    lambda x, y: (x + y) ** 0.5,
]


@given(st.floats(0.5, 4.0), st.floats(0.5, 4.0), st.sampled_from(FORMULAS))
def test_a_reading_knows_its_derivatives(x: float, y: float, formula: Any) -> None:
    found = formula(TrackedFloat(x, {0: 1.0}), TrackedFloat(y, {1: 1.0}))
    a, b = Value(x), Value(y)
    formula(a, b).backward()
    assert found == formula(x, y)
    assert found.origins.get(0, 0.0) == pytest.approx(a.grad, rel=1e-9, abs=1e-12)
    assert found.origins.get(1, 0.0) == pytest.approx(b.grad, rel=1e-9, abs=1e-12)


def test_a_reading_is_a_float_to_everyone_else() -> None:
    x = TrackedFloat(2.5, {0: 1.0})
    assert (repr(x), f"{x:.1f}", json.dumps([x]), math.floor(x)) == ("2.5", "2.5", "[2.5]", 2)
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert type(other) is float
        assert other == 2.5
    assert (x + 1j).real == 2.5
    assert x > 2 and x == 2.5 and hash(x) == hash(2.5)  # noqa: PT018
    with pytest.raises(ZeroDivisionError):
        x / 0
    assert (Value(2.0) * x).data == 5.0
    assert (x - Value(2.0)).data == 0.5


def cuts_of(build: Any, *parameters: Value) -> list[Cut]:
    with follow() as readings:
        loss = build()
    loss.backward()
    return cuts_followed(Scan(loss, names_of(list(parameters))), readings)


def test_what_was_lost_is_what_the_gradient_would_be() -> None:
    w = Value(3.0, label="w")
    (cut,) = cuts_of(lambda: Value((w * w).data * 2 + 1) * 5.0 + w, w)
    assert cut.lost == 10.0  # of the square: times 2, times 5
    assert cut.way == "data"
    assert cut.source == "w=3 * w=3 = 9"
    assert cut.line is not None
    assert cut.line.function == "<lambda>"


def test_through_a_helper_a_list_and_a_constant() -> None:
    w = Value(3.0, label="w")

    def doubled(v: Value) -> float:
        return 2.0 * v.data

    (cut,) = cuts_of(lambda: w * sum([doubled(w * w), doubled(w)]), w)
    assert cut.lost == 6.0
    assert cut.count == 2


def test_numbers_of_no_parameter_are_no_loss() -> None:
    w, x = Value(3.0, label="w"), Value(2.0)
    assert cuts_of(lambda: w * Value(x.data * 2) + w * x.data, w) == []


def test_a_constant_that_makes_no_difference_is_no_loss() -> None:
    w = Value(3.0, label="w")

    def shifted() -> Value:
        row = [w * 1.0, w * 2.0, w * -1.0]
        peak = max(v.data for v in row)
        return ((row[0] - peak).exp() + (row[1] - peak).exp() + (row[2] - peak).exp()).log() + peak

    assert cuts_of(shifted, w) == []


def test_custom_nodes_read_data_on_purpose() -> None:
    w = Value(3.0, label="w")

    def square() -> Value:
        out = Value(w.data**2, (w,), "square")

        def push() -> None:
            w.grad += 2 * w.data * out.grad

        out._backward = push
        return out * 2.0

    assert cuts_of(square, w) == []
    assert w.grad == 12.0


def test_under_no_grad_what_lies_behind_is_found_through_leaves() -> None:
    w = Value(3.0, label="w")

    def build() -> Value:
        with gradwalk.no_grad():
            hidden = (w * w + 1).tanh()
        return hidden * w

    (cut,) = cuts_of(build, w)
    assert (cut.way, cut.lost, cut.parameters) == ("no_grad", 3.0, {id(w)})


def test_everything_is_put_back() -> None:
    before = dict(vars(Value))
    w = Value(3.0)
    with pytest.raises(KeyError), follow():  # noqa: PT012
        assert type((w * w).data) is TrackedFloat
        assert modes.active == 1
        raise KeyError
    assert dict(vars(Value)) == before
    assert modes.top() is modes.bottom
    assert modes.active == 0
    assert type((w * w).data) is float


def test_numbers_stay_plain_in_the_graph() -> None:
    w = Value(3.0)
    with follow():
        kept = w.data
        w.data = w.data + 1.0
        leaf = Value(w.data * 2)
        product = w * w.data
        plain = copy.copy(w)
    assert type(kept) is TrackedFloat
    for v in (w, leaf, product, plain):
        assert type(v.data) is float
    assert (w.data, leaf.data, product.data) == (4.0, 8.0, 16.0)
    assert type(product.operands[1].data) is float
    product.backward()
    assert w.grad == 4.0


def test_one_follows_inside_another() -> None:
    w = Value(3.0, label="w")
    with follow() as outer:
        with follow() as inner:
            first = Value(w.data) * 2.0
        second = Value(w.data) * 3.0
    assert type(w.data) is float
    assert not inner.sources.keys() & outer.sources.keys()
    found = []
    for loss in (first, second):
        loss.backward()
        scan = Scan(loss, names_of([w]))
        found.append([[cut.lost for cut in cuts_followed(scan, readings)] for readings in (outer, inner)])
    assert found == [[[2.0], [2.0]], [[3.0], []]]


def test_the_first_to_follow_may_be_the_first_to_stop() -> None:
    before = dict(vars(Value))
    one, two = follow(), follow()
    one.__enter__()
    readings = two.__enter__()
    one.__exit__(None, None, None)
    w = Value(3.0)
    Value(w.data * 2)
    assert len(readings.leaves) == 1
    two.__exit__(None, None, None)
    assert dict(vars(Value)) == before
    assert (modes.top(), modes.active) == (modes.bottom, 0)
