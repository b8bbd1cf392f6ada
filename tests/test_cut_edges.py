"""An edge that is cut is cut: to an operand that an op did not take nothing is pushed, not even 0 times something."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
from cut_edges import CUT, wanted

import gradwalk
from gradwalk import Value, engine, walk


@pytest.mark.parametrize("name", CUT)
def test_nothing_is_pushed_to_what_was_not_taken(name: str) -> None:
    f, _ = CUT[name]
    dx, du = wanted(name)
    for hooked in (False, True):
        for careful in (False, True):
            x, u = Value(0.0), Value(2.0)
            if hooked:
                u.register_hook(lambda gradient: None)
            out = f(x, u)
            for _ in range(2):
                engine.walk_back(out, 1.0) if careful else out.backward()
            assert (x.grad, u.grad) == (2 * dx, 2 * du)
    assert gradwalk.grad(f)(0.0, 2.0) == (dx, du)
    with gradwalk.anomaly():
        x, u = Value(0.0), Value(2.0)
        if name not in ("where, what overflows", "minimum") and "where" not in name:  # these compute an inf
            f(x, u).backward()
            assert (x.grad, u.grad) == (dx, du)


@pytest.mark.parametrize("name", CUT)
def test_at_higher_order(name: str) -> None:
    f, _ = CUT[name]
    second = 2.0 if name == "where, a root" else 0.0
    across = 1.0 if name == "reached the other way" else 0.0
    assert gradwalk.hessian(f)(0.0, 2.0) == [[0.0, across], [across, second]]
    x, u = Value(0.0), Value(2.0)
    f(x, u).backward(create_graph=True)
    assert (getattr(x.grad, "data", x.grad), u.grad.data) == wanted(name)


@pytest.mark.parametrize("name", CUT)
def test_every_other_walk_says_the_same(name: str) -> None:
    f, _ = CUT[name]
    x, u = Value(0.0, label="x"), Value(2.0, label="u")
    out = f(x, u)
    out.backward()
    recording = walk.record(out)
    ids = {id(v): i for i, v in enumerate(walk.topological(out))}
    grads = [recording.grads[ids[id(v)]] if id(v) in ids else 0.0 for v in (x, u)]
    assert [grad or 0.0 for grad in grads] == [x.grad, u.grad]
    again = walk.Recording.from_json(recording.to_json())
    assert [again.grads[i] for i in ids.values()] == [recording.grads[i] for i in ids.values()]
    assert out.explain(u).leaves[0].gradient == u.grad
    copied = copy.deepcopy(out)
    copied.backward()
    assert all(math.isfinite(v.grad) for v in walk.topological(copied))
    assert gradwalk.gradcheck(lambda u: f(Value(0.0), u), [2.0])


def test_a_real_0_times_inf_stays_nan_as_in_pytorch() -> None:
    for f in ("0.0 * sqrt(x)", "relu(sqrt(x) - 1)", "where(1.0, sqrt(x) * x, 3.0)"):
        x = Value(0.0)
        eval(f, {**vars(gradwalk), "x": x}).backward()
        assert math.isnan(x.grad), f


def test_what_was_not_taken_holds_nothing_of_an_earlier_walk() -> None:
    for hooked, careful in ((False, False), (True, False), (True, True)):
        x, y = Value(3.0), Value(4.0)
        if hooked:
            y.register_hook(lambda gradient: None)
        side = x * x
        out = gradwalk.where(0.0, side, y * y)
        side.backward()
        assert (side.grad, x.grad) == (1.0, 6.0)
        engine.walk_back(out, 1.0) if careful else out.backward()
        assert (side.grad, x.grad, y.grad) == (0.0, 6.0, 8.0)
        gradwalk.zero_grad(out)
        assert (x.grad, y.grad) == (0.0, 0.0)


def test_gradients_that_are_graphs_stop_at_a_cut_too() -> None:
    taken, other = Value(2.0), Value(3.0)
    (gradwalk.where(1.0, taken, other) * math.inf).backward(create_graph=True)
    assert (taken.grad.data, other.grad.data) == (math.inf, 0.0)


def test_a_walk_that_breaks_off_leaves_all_as_it_was() -> None:
    x, y = Value(3.0), Value(4.0)
    side = x * x
    side.backward()
    bad = y * 1.0
    bad._backward = lambda: 1 / 0  # type: ignore[assignment]
    with pytest.raises(gradwalk.errors.BackwardError):
        gradwalk.where(0.0, side, bad).backward()
    assert (side.grad, x.grad) == (1.0, 6.0)


def test_what_was_not_taken_is_no_constant_in_drawings() -> None:
    x, y = Value(3.0, label="x"), Value(4.0, label="y")
    out = gradwalk.where(1.0, x, y)
    assert [node.constant for node in walk.graph_of(out).nodes if node.label] == [False, False]
    assert out.local_derivatives == (None, 1.0, 0.0)
    events = [event for event in walk.record(out).events if isinstance(event, walk.Push)]
    assert [event.operand for event in events] == [1]


def test_a_cut_is_one_object_wherever_it_goes() -> None:
    cut = gradwalk.ops.CUT
    assert copy.copy(cut) is copy.deepcopy(cut) is pickle.loads(pickle.dumps(cut)) is cut
