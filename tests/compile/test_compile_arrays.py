"""Functions of large tensors, and of float32: traced array by array, replayed by NumPy, trained in one buffer."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from tensor_cases import CASES

import gradwalk
from gradwalk import Tensor, Value, nn, optim
from gradwalk.compile.array_runner import lowered
from gradwalk.compile.trace import blocks
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import GradwalkError, TraceError

SHAPES = ((60, 32), (32,), (32, 10), (10,))
DTYPES = ("float32", "float64")
#: What only some numbers decide: a mask as an index, which holds for the same mask.
DECIDING = ("mask",)


def network(dtype: str, seed: int = 0) -> list[Tensor]:
    rng = np.random.default_rng(seed)
    return [Tensor((0.1 * rng.normal(size=shape)).astype(dtype)) for shape in SHAPES]


def scores(P: Any, X: Any) -> Any:
    return (X @ P[0] + P[1]).relu() @ P[2] + P[3]


def loss_of(P: Any) -> Any:
    return lambda X, y: gradwalk.cross_entropy(scores(P, X), y)


def batch(dtype: str, n: int = 24, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 60)).astype(dtype), rng.integers(0, 10, n)


def given(X: Any, y: Any) -> tuple[Any, Any]:
    """Arguments for the plain function: of a bare array nothing is known there but that it is one."""
    return Tensor(X, requires_grad=False), Tensor(y)


def gradients(P: Any) -> list[Any]:
    found = [p.grad.numpy().copy() for p in P]
    for p in P:
        p.grad = None
    return found


def same(found: Any, expected: Any) -> None:
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def is_by_array(f: Any) -> bool:
    return all(trace.recorded.arrays is not None for trace in f.traces()) and bool(f.traces())


@pytest.fixture(autouse=True)
def _smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts as large is smaller here than it is, so that tests are quick."""
    monkeypatch.setattr(blocks, "MOST_ROWS", 10_000)


# --- every op --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_case_is_the_same_bit_for_bit(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_ROWS", 0)
    for number, case in enumerate(CASES):
        rng = np.random.default_rng(number)

        def drawn(rng: Any = rng, case: Any = case) -> list[Any]:
            numbers = [rng.uniform(0.3, 1.7, s) if case.positive else rng.normal(size=s) for s in case.shapes]
            return [np.asarray(x, dtype) for x in numbers]

        xs = [Tensor(array) for array in drawn()]
        try:
            weights = Tensor(np.asarray(rng.normal(size=case.f(gradwalk, *xs).shape), dtype), requires_grad=False)
        except GradwalkError:
            assert dtype == "float32", case.name  # a constant of float64 beside a matrix of float32
            continue
        by_arguments = number % 2

        def plain(*given: Any, case: Any = case, xs: Any = xs, weights: Any = weights) -> Any:
            out = case.f(gradwalk, *(given or xs))
            return (out * weights).sum(), out

        compiled = gradwalk.compile(plain)
        for call in range(3):
            for x, array in zip(xs, drawn(), strict=True):
                x.data = array if call == 2 and case.name not in DECIDING else x.data * 1.0
            seen = []
            for f in (plain, compiled):
                for x in xs:
                    x.grad = None
                loss, out = f(*(xs if by_arguments else ()))
                loss.backward()
                seen.append([loss.numpy(), out.numpy(), *[x.grad.numpy() for x in xs]])
            for expected, found in zip(*seen, strict=True):
                assert found.dtype == expected.dtype, case.name
                np.testing.assert_array_equal(found, expected, err_msg=case.name)
        assert compiled.traced == 1, case.name
        assert is_by_array(compiled), case.name


# --- training --------------------------------------------------------------------------------------------------------

OPTIMISERS: dict[str, tuple[Any, Any]] = {
    "SGD": (lambda P: optim.SGD(P, 0.1), lambda P: torch.optim.SGD(P, 0.1)),
    "momentum": (
        lambda P: optim.SGD(P, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
        lambda P: torch.optim.SGD(P, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    ),
    "Adam": (lambda P: optim.Adam(P, 0.01), lambda P: torch.optim.Adam(P, 0.01)),
    "AdamW": (lambda P: optim.AdamW(P, 0.01), lambda P: torch.optim.AdamW(P, 0.01)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPTIMISERS)
def test_training_is_that_of_the_plain_function_and_of_torch(name: str, dtype: str) -> None:
    P, Q = network(dtype), network(dtype)
    R = [torch.tensor(p.numpy().copy(), requires_grad=True) for p in P]
    ours, peers = OPTIMISERS[name]
    steps: list[Any] = [ours(P), ours(Q), peers(R)]
    f, plain = gradwalk.compile(loss_of(P)), loss_of(Q)
    for turn in range(6):
        X, y = batch(dtype, 24 if turn % 3 else 16, seed=turn)
        losses = [f(X, y), plain(*given(X, y))]
        losses.append(torch.nn.functional.cross_entropy(scores(R, torch.tensor(X)), torch.tensor(y)))
        for loss, step in zip(losses, steps, strict=True):
            step.zero_grad()
            loss.backward()
            step.step()
        assert P[0].keeper is not None, "native code has it"
        near = 1e-12 if dtype == "float64" else 1e-5
        assert losses[0].item() == pytest.approx(losses[1].item(), rel=near)
        assert losses[0].item() == pytest.approx(losses[2].item(), rel=10 * near)
    assert is_by_array(f)
    assert (len(f.traces()), f.traced) == (2, 2), "one for each size of a batch"
    near = 1e-12 if dtype == "float64" else 3e-6
    for p, q, r in zip(P, Q, R, strict=True):
        assert p.dtype == dtype
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=near, atol=near)
        np.testing.assert_allclose(p.numpy(), r.detach().numpy(), rtol=0, atol=100 * near)
    for column in steps[0].memory:  # what is remembered is a tensor of the same dtype, for the plain step and for files
        for x, other in zip(getattr(steps[0], column), getattr(steps[1], column), strict=True):
            if isinstance(other, Tensor):
                assert (x.dtype, x.shape) == (dtype, other.shape)
                np.testing.assert_allclose(x.numpy(), other.numpy(), rtol=0, atol=10 * near)


def test_an_optimiser_of_the_users_steps_in_float32() -> None:
    class Signs(optim.Optimizer):
        memory = ("signs",)

        @staticmethod
        def update(p: Any, g: Any, sign: Any, lr: Any) -> Any:
            sign = 0.3 * sign + (1.0 if g > 0 else -1.0 if g < 0 else 0.0)
            return p - lr * sign, sign

    P, Q = network("float32"), network("float32")
    X, y = batch("float32")
    for f, params, args in ((gradwalk.compile(loss_of(P)), P, (X, y)), (loss_of(Q), Q, given(X, y))):
        step = Signs(params, 0.01)
        for _ in range(3):
            loss = f(*args)
            step.zero_grad()
            loss.backward()
            step.step()
    for p, q in zip(P, Q, strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-6, atol=1e-7)


def test_parameters_of_both_dtypes_are_stepped_by_one_optimiser() -> None:
    P, other = network("float32"), Tensor(np.ones((3, 3)))
    step = optim.Adam([*P, other], 0.01)
    f, g = gradwalk.compile(loss_of(P)), gradwalk.compile(lambda: (other * other).sum())
    X, y = batch("float32")
    before = P[0].numpy().copy()
    for _ in range(2):
        step.zero_grad()
        f(X, y).backward()
        g().backward()
        step.step()
    assert (P[0].dtype, other.dtype) == ("float32", "float64")
    assert (before != P[0].numpy()).any()
    np.testing.assert_allclose(other.numpy(), 0.98, atol=1e-5)
    mixed = gradwalk.compile(lambda X: (X @ P[0]).double().sum() * other.sum())
    with pytest.warns(FrozenWarning, match="parameters of float32 and of float64"):
        assert mixed(X).dtype == "float64"


# --- gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_add_up_until_they_are_cleared(dtype: str) -> None:
    P, Q = network(dtype), network(dtype)
    f, plain = gradwalk.compile(loss_of(P)), loss_of(Q)
    one, other = batch(dtype), batch(dtype, seed=2)
    first, second = f(*one), f(*other)  # the first waits, and its arrays are overwritten
    for loss in (second, first, first):
        loss.backward()
    for X, y in (other, one, one):
        plain(*given(X, y)).backward()
    for found, expected in zip(gradients(P), gradients(Q), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == "float64" else 1e-5, atol=1e-7)
    first.zero_grad()
    assert not any(g.any() for g in gradients(P))
    assert len(f.traces()) == 1
    third = f(*one)
    third.backward()
    fourth = f(*other)
    fourth.backward()
    with pytest.raises(TraceError, match="arrays that it was given are not kept"):
        third.backward()
    fourth.backward()
    first.backward()  # which was not walked back before the next call, so that its arrays are kept
    gradients(P)


def test_gradients_are_written_only_where_there_are_none() -> None:
    """After zero_grad() a walk writes gradients in place; whatever came between, they are added to."""
    seen: list[list[Any]] = []
    for compiled in (True, False):
        P = network("float64")
        step = optim.SGD(P, 0.1)
        functions: Any = [
            loss_of(P),
            lambda X, y, P=P: (P[1] * P[1]).sum(),
            lambda X, y, P=P: (P[0] * X[0, 0]).sqrt().sum(),
        ]
        large, small, odd = [gradwalk.compile(f) for f in functions] if compiled else functions
        args = [(Tensor(X, requires_grad=False), Tensor(y)) for X, y in (batch("float64"), batch("float64", seed=2))]
        seen.append([])

        def walk(*fs: Any, P: Any = P, args: Any = args) -> None:
            for f in fs:
                f(*args[0]).backward()
            seen[-1].append([p.grad.numpy().copy() for p in P])

        for order in ((large,), (large, large), (small, large), (large, small, large), (odd, large), (large, odd)):
            step.zero_grad()
            walk(*order)
        step.zero_grad()
        large(*args[0]).backward()
        step.zero_grad()
        optim.clip_grad_norm(P, 1.0)
        walk(large)
        step.zero_grad()
        P[0].grad = np.ones(P[0].shape)
        walk(large)
        step.zero_grad()
        waiting = large(*args[1])
        large(*args[0]).backward()
        walk(lambda X, y, waiting=waiting: waiting)
        step.zero_grad()
        large(*args[0]).backward()
        step.step()
        walk(large)
        step.zero_grad()
        P[2].register_hook(lambda g: g * 2.0)
        walk(large)
    for found, expected in zip(*seen, strict=True):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


def test_what_was_computed_waits_though_parameters_change() -> None:
    P, Q = network("float32"), network("float32")
    X, y = batch("float32")
    f = gradwalk.compile(loss_of(P))
    loss, plain = f(X, y), loss_of(Q)(*given(X, y))
    X[:] = 0.0  # an array is copied as it is read
    P[0].data = P[0].data * 2.0
    loss.backward()
    plain.backward()
    same(gradients(P), gradients(Q))


def test_hooks_see_and_change_gradients() -> None:
    P, Q = network("float64"), network("float64")
    seen: list[Any] = []
    for params in (P, Q):
        params[0].register_hook(lambda g: seen.append(g.numpy().copy()))
        params[2].register_hook(lambda g: g * 10.0)
    X, y = batch("float64")
    f = gradwalk.compile(loss_of(P))
    for loss in (f(X, y), loss_of(Q)(*given(X, y))):
        loss.register_hook(lambda g: g * 0.5)
        loss.backward()
    same([seen[0]], [seen[1]])
    same(gradients(P), gradients(Q))


def test_a_second_derivative_is_refused() -> None:
    f = gradwalk.compile(loss_of(network("float32")))
    with pytest.raises(TraceError, match=r"fn\.eager"):
        f(*batch("float32")).backward(create_graph=True)


def test_arguments_get_gradients_through_their_own_graphs() -> None:
    P, Q = network("float32"), network("float32")
    X, y = batch("float32")
    f, found = gradwalk.compile(loss_of(P)), []
    for params, loss in ((P, f), (Q, loss_of(Q))):
        x = Tensor(X)
        (loss(x * 2.0, Tensor(y)) * 3.0).backward()
        found.append([x.grad.numpy(), *gradients(params)])
        assert x.grad.dtype == "float32"
    same(*found)


def test_one_of_several_results_is_walked_from() -> None:
    P, Q = network("float64"), network("float64")
    X, y = batch("float64")

    def parts(P: Any) -> Any:
        def f(X: Any, y: Any) -> Any:
            h = scores(P, X)
            sure = h.softmax(1).max().item()
            return {"h": h, "loss": gradwalk.cross_entropy(h, y), "best": h.argmax(1), "sure": sure,
                    "off": h.detach(), "P": P[1], "n": len(X), "none": None}  # fmt: skip

        return f

    found, expected = gradwalk.compile(parts(P))(X, y), parts(Q)(*given(X, y))
    assert list(found) == list(expected)
    assert (found["n"], found["none"], found["sure"]) == (24, None, expected["sure"])
    assert found["P"] is P[1]
    for name in ("h", "best", "off"):
        same([found[name].numpy()], [expected[name].numpy()])
        assert found[name].requires_grad == expected[name].requires_grad
    for name in ("loss", "h", "off"):
        seed = np.random.default_rng(3).normal(size=found[name].shape)
        for out in (found[name], expected[name]):
            out.backward(seed)
        same(gradients(P), gradients(Q))
    with pytest.raises(GradwalkError, match="starts from one number"):
        found["h"].backward()


def test_nothing_flows_back_from_what_is_cut_off() -> None:
    """0 times an infinite slope is nan, and here nobody asked for it: the walk is done again with care."""
    w, v = (Tensor(np.linspace(0.0, 1.0, 400).reshape(20, 20).astype("float32")) for _ in range(2))

    def f(x: Any) -> Any:
        roots = (w * x).sqrt()
        return gradwalk.where(w > 0.5, roots, w).sum() + roots[1:][range(19), Tensor([3] * 19)].sum()

    def g(x: Any) -> Any:
        roots = (v * x).sqrt()
        return gradwalk.where(v > 0.5, roots, v).sum() + roots[1:][range(19), Tensor([3] * 19)].sum()

    compiled = gradwalk.compile(f)
    for x in (1.0, 2.0):
        compiled(x).backward()
        g(x).backward()
        assert np.isfinite(w.grad.numpy()).all()
        same(gradients([w]), gradients([v]))
    assert is_by_array(compiled)


def test_how_an_argument_lies_in_memory_makes_no_other_trace() -> None:
    w = Tensor(np.arange(6.0).astype("float32"))
    f = gradwalk.compile(lambda x: (x.reshape(-1) * w).reshape(3, 2).T.sum(0))
    rows = np.arange(6.0).reshape(2, 3).astype("float32")
    for x in (np.asfortranarray(rows), rows, rows.T.copy().T, rows[::-1][::-1], np.asfortranarray(rows)):
        f(Tensor(x)).backward(np.ones(3))  # a warning that the function differs from its trace would be an error
        same(gradients([w]), [rows.ravel()])
    assert f.traced == 1


# --- decisions, and what changes between calls -----------------------------------------------------------------------


def test_decisions_are_guards() -> None:
    P, Q = network("float32"), network("float32")

    def deciding(P: Any) -> Any:
        def f(X: Any, y: Any, scale: float) -> Any:
            loss = gradwalk.cross_entropy(scores(P, X) / scale, y)
            if loss.item() < 2.45:
                loss = loss * 2.0
            count = 0
            while (loss.detach() * 1.5**count).item() < 9.0:
                count += 1
            return loss * (1.0 / scale) + count, bool(X.shape[0] > 3)

        return f

    f, plain = gradwalk.compile(deciding(P)), deciding(Q)
    for turn in range(8):
        X, y = batch("float32", seed=turn % 3)
        scale = 1.0 + turn % 2
        (found, truth), (expected, _) = f(X, y, scale), plain(*given(X, y), scale)
        assert (found.item(), truth) == (expected.item(), True)
        found.backward()
        expected.backward()
        same(gradients(P), gradients(Q))
        if turn == 3:
            for p, q in zip(P, Q, strict=True):
                p.data, q.data = p.data * 3.0, q.data * 3.0
    assert is_by_array(f)
    assert 1 < len(f.traces()) < 8


@pytest.mark.parametrize("labels", [list, np.array, Tensor])
def test_a_label_that_is_none_is_the_same_error(labels: Any) -> None:
    P = network("float32")
    f = gradwalk.compile(loss_of(P))
    X, y = batch("float32")
    assert f(X, labels(y.tolist())).item() > 0.0
    wrong = y.copy()
    wrong[3] = 10
    errors = []
    for call, x in ((f, X), (loss_of(P), Tensor(X))):
        with pytest.raises(GradwalkError) as caught:
            call(x, labels(wrong.tolist()))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert f(X, labels(y.tolist())).item() == loss_of(P)(Tensor(X), labels(y.tolist())).item()
    with pytest.raises(GradwalkError, match="does not fit"):
        f(X[:, 1:], labels(y.tolist()))


def test_parameters_are_replaced_and_written_to() -> None:
    net = {"P": network("float32")}
    f = gradwalk.compile(lambda X, y: loss_of(net["P"])(X, y))
    X, y = batch("float32")
    kept = net["P"][0].data

    def holds() -> bool:
        return bool(f(X, y).item() == loss_of(net["P"])(*given(X, y)).item())

    assert holds()
    kept[0, :] = 3.0
    assert holds(), "an array that was given away"
    net["P"][1].data[3] += 1.0
    net["P"][2].data = net["P"][2].data * -1.0
    assert holds()
    net["P"][3] = Tensor(np.arange(10.0).astype("float32"))
    assert holds(), "another tensor in the list"
    net["P"] = network("float32", seed=5)
    assert holds(), "another list"
    net["P"] = network("float64", seed=5)
    X = X.astype("float64")
    assert holds(), "another dtype"
    net["P"][0].requires_grad = False
    assert holds(), "a constant"
    f(X, y).backward()
    assert net["P"][0].grad is None
    assert net["P"][2].grad.numpy().any()


def test_a_parameter_out_of_an_array_tape_is_free_of_it() -> None:
    """A view that was taken before a step keeps its numbers, and a graph that was made before is out of date."""
    P = network("float32")
    step = optim.SGD(P, 0.5)
    f = gradwalk.compile(loss_of(P))
    X, y = batch("float32")
    view, before, graph = P[0].numpy(), P[0].detach(), (P[0] * P[0]).sum()
    numbers = view.copy()
    f(X, y).backward()
    step.step()
    same([view, before.numpy()], [numbers, numbers])
    assert (P[0].numpy() != numbers).any()
    with pytest.raises(GradwalkError, match="out of date"):
        graph.backward()


def test_dropout_is_run_as_it_is() -> None:
    P, drop = network("float32"), nn.Dropout(0.5)
    f = gradwalk.compile(lambda X: drop(X @ P[0]).sum())
    X, _ = batch("float32")
    gradwalk.manual_seed(1)
    with pytest.warns(FrozenWarning, match="random numbers are drawn"):
        found = [f(X).item()]
    found += [f(X).item() for _ in range(2)]
    gradwalk.manual_seed(1)
    assert found == [f.eager(Tensor(X, requires_grad=False)).item() for _ in range(3)]


def test_without_gradient_results_are_leaves() -> None:
    P = network("float32")
    f = gradwalk.compile(lambda X, y: (loss_of(P)(X, y), inner(X)))

    def inner(X: Any) -> Any:
        with gradwalk.no_grad():
            size = (X @ P[0]).abs().mean()
        return (X @ P[0]).sum() * size

    X, y = batch("float32")
    with gradwalk.no_grad():
        loss, _ = f(X, y)
        assert loss.is_leaf
    _, product = f(X, y)
    product.backward()
    found = gradients(P[:1])
    inner(Tensor(X, requires_grad=False)).backward()
    same(found, gradients(P[:1]))


def _in_two_ways(P: Any, X: Any, i: int) -> Any:
    try:
        return (X[i] @ P[0]).sum()
    except GradwalkError:
        return P[1].sum()


#: A function of parameters, a tensor and something else, and what that is in one call after another.
LINES: dict[str, tuple[Any, list[Any]]] = {
    "a number that scales": (lambda P, X, k: ((X @ P[0]) * k + k / 2).sum() * k, [2.0, 0.1, 3]),
    "an int, then a float": (
        lambda P, X, k: (P[1] * k).sum() + Tensor(k) * P[1][0] * Tensor([k]).sum(),
        [3, 0.5, 2, 2.5],
    ),
    "numbers of NumPy's": (
        lambda P, X, k: (P[1] * k).sum() + (Tensor([1, 2]) * k).sum() * P[1][0],
        [np.float32(0.1), np.float64(0.1), np.int64(2), 0.1, np.float16(0.1)],
    ),
    "a power": (lambda P, X, k: ((X @ P[0]).abs() ** k).sum(), [2.0, 0.5, 3, 1.0]),
    "beside a number": (lambda P, X, k: gradwalk.where(P[1] * 0 + 0.1 > k, P[1], -P[1]).sum(), [0.1, 0.1 + 1e-9, 0.2]),
    "beside a tensor": (lambda P, X, k: gradwalk.where(P[1] * 0 + 0.1 > Tensor(k), P[1], -P[1]).sum(), [0.1, 0.2]),
    "a slice": (lambda P, X, n: (X[:n] @ P[0]).sum(), [2, 3, 2]),
    "a row": (lambda P, X, i: (X[i] @ P[0]).sum() + P[0][i].sum(), [2, 3, -1, 70]),
    "a table": (lambda P, X, t: (P[0][t] * 2).sum(), [[0, 1, 5], [3, 3, 3], [-1, 2, 2], [60, 0, 0]]),
    "a table by arrays": (lambda P, X, t: (P[0][t] * 2).sum(), [np.array([0, 5]), np.array([3, 3]), np.array([60, 0])]),
    "narrow ints": (lambda P, X, m: (P[1] * Tensor(m)).sum(), [np.arange(32, dtype="uint8"), np.ones(32, "uint8")]),
    "narrow floats": (lambda P, X, m: (P[1] * Tensor(m)).sum(), [np.linspace(0, 1, 32).astype("float16")]),
    "views": (lambda P, X, k: (P[0].T * k, P[0][1], P[2].reshape(-1)), [1.0, 2.0]),
    "a number that was read": (lambda P, X, k: (X @ P[0]).sum() * (X @ P[0] * k).mean().item(), [1.0, 2.0]),
    "numbers that are given": (lambda P, X, k: (P[1].sum(), (P[1] * k).sum().item(), k, k > 1.5), [1.0, 2.0]),
    "a sum in NumPy": (lambda P, X, k: P[1].sum() * float((P[3] * k).numpy().sum()), [1.0, 2.0]),
    "a decision": (lambda P, X, k: P[1].sum() if (X @ P[0]).sum() > k else P[1].exp().sum(), [-1e3, 1e3, 0.0, -1e3]),
    "another dtype": (lambda P, X, k: (X @ P[0]).double().sum() * k, [1.0, 2.0]),
    "laid out otherwise": (lambda P, X, k: gradwalk.einsum("ni,ij->nj", X, P[0]).T.exp().sum() * k, [1.0, 2.0]),
    "an order": (
        lambda P, X, k: (X @ P[0]).sort().values[:, 0].sum() + (X @ P[0] * k).topk(2).values.sum(),
        [1.0, -2.0],
    ),
    "an error that is caught": (_in_two_ways, [1, 99, 2]),
    "a shape that does not fit": (lambda P, X, k: (X @ P[2]).sum() * k, [1.0, 2.0]),
    "edges of numbers": (lambda P, X, k: (P[1] / k).sum(), [0.0, 1.0, math.nan]),
}


def test_one_line_each_in_float32() -> None:
    for name, (f, others) in LINES.items():
        worlds: list[list[Any]] = []
        for compiled in (False, True):
            P = network("float32")
            function: Any = lambda X, k, P=P, f=f: f(P, X, k)  # noqa: E731
            function = gradwalk.compile(function) if compiled else function
            seen: list[Any] = []
            for k in others:
                X = Tensor(batch("float32", n=4)[0])
                try:
                    out = function(X, k)
                except GradwalkError as error:
                    seen.append((type(error), str(error)))
                    continue
                parts = out if isinstance(out, tuple) else (out,)
                seen += [(x.dtype, x.tolist()) if isinstance(x, Tensor) else x for x in parts]
                parts[0].backward(np.ones(parts[0].shape))
                seen += [(v.grad.dtype, v.grad.tolist()) for v in (*P, X)]
            worlds.append(seen)
        assert repr(worlds[1]) == repr(worlds[0]), name
        assert is_by_array(function) or "fit" in name, name


# --- as data, and in words -------------------------------------------------------------------------------------------


def test_the_tape_is_data() -> None:
    P = network("float32")
    tapes = []
    for scale in (1.0, 1.0, 2.0):
        f = gradwalk.compile(lambda X, scale=scale: ((X @ P[0] + P[1]) * scale).relu().sum())
        f(batch("float32", n=4)[0])
        tapes.append(f.traces()[0].recorded.arrays)
    assert tapes[0] == tapes[1] != tapes[2]
    assert str(tapes[0]).splitlines()[:4] == [
        "a0 = input 0: float32 (4, 60)",
        "a1 = parameter 0: float32 (60, 32)",
        "a2 = matmul(a0, a1): float32 (4, 32)",
        "a3 = parameter 1: float32 (32,)",
    ]
    assert str(tapes[0]).splitlines()[-1] == "gives a7"


def test_a_report_tells_of_arrays() -> None:
    f = gradwalk.compile(loss_of(network("float32")))
    f(*batch("float32")).backward()
    text = str(f.report())
    assert "19 operations on whole arrays, by NumPy; 4 parameters, 2 arrays given, 2 decisions" in text
    assert "matmul" in text
    assert "24 × 32" in text
    assert "matmul" in f.report().draw().svg


def test_what_cannot_be_followed_is_said_with_its_line() -> None:
    P, v = network("float32"), Value(2.0)
    X, _ = batch("float32")
    functions: dict[Any, str] = {
        (lambda X: ((X / 2.0) @ P[0]).sum()): "TypeError",
        (lambda X: (X.astype("float64").sum() * P[0]).sum()): "computes with a NumPy array in NumPy",
        (lambda X: (X @ P[0]).sum() * v): "mixes Values with large tensors",
        (lambda X: (X @ P[0]).sum() * len((X @ P[0]).tolist())): "reads the numbers of an array of shape",
        (lambda X: (X @ P[0])[X @ P[0] > 0].sum()): "decides by them",
    }
    for f, why in functions.items():
        compiled = gradwalk.compile(f)
        plain = Tensor(X, requires_grad=False) if "NumPy" not in why else X
        with pytest.warns(FrozenWarning, match=why) as caught:
            found = compiled(X)
        assert found.item() == pytest.approx(f(plain).item(), rel=1e-6)
        assert any("test_compile_arrays.py, line" in str(warning.message) for warning in caught)
    with pytest.raises(TraceError, match=r"float32.*\n?.*wrt="):
        gradwalk.compile(lambda X: (X @ P[0]).sum(), wrt="X")(X)


def test_a_large_function_of_float64_goes_by_array_and_a_small_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    shapes = ((784, 128), (128,), (128, 10), (10,))
    P, Q = ([Tensor(0.1 * np.random.default_rng(0).normal(size=shape)) for shape in shapes] for _ in range(2))
    large, small = gradwalk.compile(loss_of(P)), gradwalk.compile(lambda: (P[3] * P[1][:10]).sum())
    X, y = np.random.default_rng(0).normal(size=(64, 784)), np.arange(64) % 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            large(X, y).backward()
            small().backward()  # they share parameters, and one buffer
    assert is_by_array(large)
    assert not is_by_array(small)
    for _ in range(3):
        loss_of(Q)(*given(X, y)).backward()
        (Q[3] * Q[1][:10]).sum().backward()
    for found, expected in zip(gradients(P), gradients(Q), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert math.isfinite(small().item())


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_choice_is_written_into_memory_bit_for_bit(dtype: str) -> None:
    """Whichever side is 0, whatever the numbers, in every shape that fits."""
    edges = np.array([[0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-320]], dtype)
    masks = np.array([[True] * 8, [False] * 8, [True, False] * 4])
    for condition in (masks, masks[:1]):
        for yes in (edges, edges.repeat(3, 0), 0.0, -0.0, 2.0):
            for no in (edges, edges.repeat(3, 0), 0.0, -0.0, 2.0):
                if isinstance(yes, float) and isinstance(no, float):
                    continue
                wanted = np.where(condition, yes, no).astype(dtype)
                out = np.full(wanted.shape, 7.0, dtype)
                lowered("choose", (condition, yes, no), out)()
                assert out.tobytes() == wanted.tobytes(), (condition, yes, no)
