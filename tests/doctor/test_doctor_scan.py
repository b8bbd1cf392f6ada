"""A graph in one pass, computed again, and the lines of its nodes: what everything else stands on."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, doctor, nn, op, walk
from gradwalk.doctor.findings.learning_rate import replay_of, tried
from gradwalk.doctor.names import Names, names_of
from gradwalk.doctor.order import ordered
from gradwalk.doctor.scan import Scan
from gradwalk.doctor.zero_gradients import why_zero


def tangle(seed: int, size: int) -> tuple[list[Value], Value]:
    """A random graph of every kind of node."""
    draw = random.Random(seed)
    leaves = [Value(draw.uniform(0.2, 2.0)) for _ in range(4)]
    values = list(leaves)

    @op(lambda x, y, out: y * y, lambda x, y, out: 2.0 * x * y)
    def mine(x: float, y: float) -> float:
        return x * y * y

    def by_hand(x: Value) -> Value:
        out = Value(math.tanh(x.data), (x,), "tanh")

        def push() -> None:
            x.grad += (1.0 - out.data**2) * out.grad

        out._backward = push
        return out

    makers: list[Any] = [
        lambda a, b: a + b,
        lambda a, b: a * b,
        lambda a, b: a - 0.5,
        lambda a, b: 1.5 / (a * a + 1),
        lambda a, b: a.tanh(),
        lambda a, b: by_hand(a),
        lambda a, b: mine(a.tanh(), b.tanh()),
        lambda a, b: (a * a + 0.1) ** 0.5,
        lambda a, b: a.clamp(-1.0, 1.0),
        lambda a, b: gradwalk.where(1.0, a, b),
    ]
    for _ in range(size):
        made = draw.choice(makers)(draw.choice(values), draw.choice(values))
        values.append(made.tanh() if abs(made.data) > 4.0 else made)
    return leaves, sum(values[4:], values[0])


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_the_order_is_that_of_the_walk(seed: int, size: int) -> None:
    _, root = tangle(seed, size)
    order = ordered(root)
    assert order[-1] is root
    places = {id(v): i for i, v in enumerate(order)}
    flowing = {id(v) for v in walk.topological(root, gradwalk.reverse.flowing)}
    assert flowing <= set(places) <= {id(v) for v in walk.topological(root)}  # and what an op did not take
    for v in order:
        assert all(places[id(x)] < places[id(v)] for x in v.inputs if id(x) in places)


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_a_graph_computed_again(seed: int, size: int) -> None:
    leaves, root = tangle(seed, size)
    again = replay_of(ordered(root))
    assert again.unknown is None
    assert again() == pytest.approx(root.data, rel=1e-12, abs=1e-300)
    root.backward()
    nudge = 1e-6
    for leaf in leaves:
        if leaf.grad.__class__ is float and abs(leaf.grad) < 1e4:
            slope = (again({id(leaf): leaf.data + nudge}) - again({id(leaf): leaf.data - nudge})) / (2 * nudge)
            assert slope == pytest.approx(leaf.grad, rel=1e-3, abs=1e-3)


def test_a_node_whose_function_is_not_known_cannot_be_computed_again() -> None:
    x = Value(2.0)
    out = Value(7.0, (x,), "mystery")
    out._backward = lambda: None
    assert replay_of(ordered(out)).unknown == 1
    assert tried(replay_of(ordered(out)), 1, 7.0, [x], [2.0], [1.0], None, search=True) is None


def test_a_rate_is_seen_from_what_a_plain_step_did() -> None:
    w, v = Value(1.0), Value(2.0)
    replay = replay_of(ordered(w * w + v * v))
    w.data, v.data = 1.0 - 0.3 * 2.0, 2.0 - 0.3 * 4.0
    plain = tried(replay, 1, 5.0, [w, v], [1.0, 2.0], [2.0, 4.0], None, search=False)
    assert plain is not None
    assert plain.rate == pytest.approx(0.3)
    v.data += 0.1
    other = tried(replay, 1, 5.0, [w, v], [1.0, 2.0], [2.0, 4.0], None, search=False)
    assert other is not None
    assert other.rate is None


# --- units and layers ----------------------------------------------------------------------------------------------


def test_units_are_told_apart_from_the_loss() -> None:
    random.seed(1)
    model = nn.MLP(2, [3, 1])
    loss = nn.hinge([model([1.0, 2.0]), model([0.0, -1.0])], [1, -1])
    loss.backward()
    scan = Scan(loss, names_of(model))
    assert set(scan.relus) == {f"layers[0].neurons[{i}]" for i in range(3)}  # the hinge has ReLUs too
    assert all(unit.seen == 2 for unit in scan.relus.values())
    assert scan.where(loss) == "after layers[1].neurons[0]"


@pytest.mark.parametrize("start", ["bias", "zero", "last"])
def test_sums_in_any_order(start: str) -> None:
    w, b = [Value(0.5, label="w0"), Value(-0.25, label="w1")], Value(0.1, label="b")
    x = [Value(1.0), 2.0]
    products = [wi * xi for wi, xi in zip(w, x, strict=True)]
    total: Any = {
        "bias": lambda: sum(products, b),
        "zero": lambda: sum(products) + b,
        "last": lambda: products[0] + products[1] + b,
    }[start]()
    out = total.relu()
    out.backward()
    scan = Scan(out, names_of([*w, b]))
    assert len(scan.relus) == 1
    assert scan.unit_of(total + 1.0) is None  # a sum with a constant is no weighted sum
    assert scan.unit_of(Value(1.0)) is None


def test_a_price_on_weights_is_no_layer() -> None:
    model = nn.MLP(1, [2, 1])
    X = [[0.5], [-1.0]]
    plain = nn.mse([model(x) for x in X], [1.0, 0.0])
    priced = nn.mse([model(x) for x in X], [1.0, 0.0]) + 100.0 * sum(p * p for p in model.parameters())
    sizes = []
    for loss in (plain, priced):
        model.zero_grad()
        loss.backward()
        sizes.append({layer: flow.size for layer, flow in Scan(loss, names_of(model)).flows.items()})
    assert sizes[0] == pytest.approx(sizes[1])


def test_why_a_gradient_is_zero() -> None:
    w = Value(0.5, label="w")
    big = Value(100.0, label="big")
    models: list[tuple[Any, str]] = [
        (lambda: (w - 3.0).relu() * 2.0, "relu"),
        (lambda: w * 0.0, "an input of 0"),
        (lambda: (w + 1.0) * Value(0.0), "times 0"),
        (lambda: (w * big).tanh(), "saturated"),
        (lambda: w.maximum(big), "not chosen"),
        (lambda: w.clamp(1.0, 2.0), "clamped"),
        (lambda: w - w, "cancels"),
        (lambda: (w - 3.0).relu() + w.clamp(1.0, 2.0), "several"),
    ]
    for build, reason in models:
        root = build()
        w.grad = 0.0
        root.backward()
        assert w.grad == 0.0
        (zero,) = why_zero(Scan(root, names_of([w])), [w])
        assert (zero.reason, zero.parameters) == (reason, ["w"])


# --- lines ---------------------------------------------------------------------------------------------------------


def test_lines_of_a_graph_of_another_shape() -> None:
    w = Value(0.4, label="w")
    with doctor.watch([w]) as visit:
        for size in (3, 5, 2, 7):
            total = Value(0.0)
            for i in range(size):
                shifted = w * i + 1.0
                root = (shifted if size < 7 else shifted - 99.0).log()
                total = total + root
            w.grad = 0.0
            total.backward()
            w.data -= 0.001 * w.grad
    found = visit.report()[0]
    assert (found.kind, found.step) == ("birth", 4)
    assert found.line is not None
    assert found.line.source == "root = (shifted if size < 7 else shifted - 99.0).log()"


def test_no_line_is_better_than_a_wrong_one() -> None:
    w = Value(2.0, label="w")
    with doctor.watch([w]) as visit:
        for step in range(3):
            loss = (w * 3.0).exp() if step < 2 else (w - 5.0).log()  # an op that no followed step had
            w.grad = 0.0
            loss.backward()
            w.data -= 1e-9
    found = visit.report()[0]
    assert found.what == "nan was born in log(-3) at step 3"
    assert found.line is None


def test_names_without_anything() -> None:
    assert Scan(Value(1.0), Names()).reached == set()
