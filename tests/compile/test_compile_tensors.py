"""Functions of tensors, compiled: every op, the same program as scalar code, batches, training without handing back."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
import tensor_fuzz
from tensor_cases import CASES

import gradwalk
from gradwalk import Tensor, Value, nn, optim
from gradwalk.compile.native import array_products
from gradwalk.errors import GradwalkError, SettingError, TraceError

#: Cases in which numbers decide what is done: other numbers are another path.
DECIDING = ("max dim", "max keepdim", "min dim", "topk", "sort", "mask", "max_pool2d", "max_pool1d")


def drawn(case: Any, rng: Any) -> list[Any]:
    return [rng.uniform(0.3, 1.7, shape) if case.positive else rng.normal(size=shape) for shape in case.shapes]


@pytest.mark.parametrize("way", ["parameters", "arguments"])
def test_every_case_gives_the_same_compiled(way: str) -> None:
    for number, case in enumerate(CASES):
        if number % 2 == (way == "arguments"):
            continue
        rng = np.random.default_rng(number)
        xs = [Tensor(array) for array in drawn(case, rng)]
        weights = Tensor(rng.normal(size=case.f(gradwalk, *xs).shape), requires_grad=False)

        def plain(*given: Any, case: Any = case, xs: Any = xs, weights: Any = weights) -> Any:
            out = case.f(gradwalk, *(given or xs))
            return (out * weights).sum(), out

        compiled = gradwalk.compile(plain)
        for call in range(3):
            for x, array in zip(xs, drawn(case, rng), strict=True):
                x.data = array if call == 2 and case.name not in DECIDING else x.data * 1.01
            seen = []
            for f in (plain, compiled):
                for x in xs:
                    x.grad = None
                loss, out = f(*(xs if way == "arguments" else ()))
                loss.backward()
                seen.append([loss.numpy(), out.numpy(), *[x.grad.numpy() for x in xs]])
            for expected, found in zip(*seen, strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12, err_msg=case.name)
        assert compiled.traced == (1 if case.name not in ("topk", "sort") else 3), case.name


# --- the same program ------------------------------------------------------------------------------------------------


def test_moons_in_tensors_are_the_same_program_as_in_scalars() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), np.sign(rng.normal(size=20))
    weights = [rng.normal(size=shape) for shape in ((16, 2), (16, 16), (1, 16))]
    biases = [rng.normal(size=n) for n in (16, 16, 1)]
    W, B = [Tensor(w) for w in weights], [Tensor(b) for b in biases]
    Ws = [[[Value(x) for x in row] for row in w.tolist()] for w in weights]
    Bs = [[Value(x) for x in b.tolist()] for b in biases]

    @gradwalk.compile
    def in_tensors(X: Any, y: Any) -> Any:
        h = X
        for i, (w, b) in enumerate(zip(W, B, strict=True)):
            h = h @ w.T + b
            h = h.relu() if i < 2 else h
        return (1 - y * h.reshape(-1)).relu().sum() * 0.05 + 1e-4 * ((W[0] * W[0]).sum() + (W[1] * W[1]).sum())

    @gradwalk.compile
    def in_scalars(X: Any, y: Any) -> Any:
        def total(numbers: Any) -> Any:
            return reduce(add, numbers)

        margins = []
        for point, label in zip(X, y, strict=True):
            h = point
            for i, (w, b) in enumerate(zip(Ws, Bs, strict=True)):
                h = [total(x * p for x, p in zip(h, row, strict=True)) + c for row, c in zip(w, b, strict=True)]
                h = [x.relu() for x in h] if i < 2 else h
            margins.append((1 - label * h[0]).relu())
        squares = [total(p * p for row in w for p in row) for w in Ws[:2]]
        return total(margins) * 0.05 + 1e-4 * total(squares)

    tensors, scalars = in_tensors(X, y), in_scalars(X, y)
    assert tensors.item() == scalars.data
    programs = [f.traces()[0].prepared.program for f in (in_tensors, in_scalars)]
    assert str(programs[0]) == str(programs[1])
    assert programs[0] == programs[1]
    tensors.backward()
    scalars.backward()
    assert W[1].grad.tolist() == [[p.grad for p in row] for row in Ws[1]]


# --- training --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimiser", [optim.SGD, optim.Adam, optim.AdamW])
def test_a_training_loop_hands_nothing_back(optimiser: Any) -> None:
    w, b = Tensor(np.linspace(-1.0, 1.0, 6).reshape(2, 3)), Tensor([0.5])
    step = optimiser([w, b], lr=0.1)
    f = gradwalk.compile(lambda x: ((w @ x + b) ** 2).mean())
    for _ in range(4):
        loss = f(np.array([1.0, -1.0, 2.0]))
        step.zero_grad()
        loss.backward()
        optim.clip_grad_norm(step.parameters, 1.0)
        step.step()
        assert w.keeper is not None, "native code has it"
        assert loss.item() > 0.0
    assert w.shape == (2, 3)
    assert w.keeper is None


def test_a_tensor_that_native_code_has_is_a_tensor() -> None:
    w = Tensor([1.0, 2.0])
    f = gradwalk.compile(lambda x: (w * x).sum())
    for touch in (lambda: w.data, lambda: w.grad, lambda: w + 1.0, lambda: (w * w).sum().backward()):
        f(2.0).backward()
        assert w.keeper is not None
        assert isinstance(w, Tensor)
        assert (type(w).__name__, w.requires_grad, w.is_leaf) == ("Tensor", True, True)
        with pytest.raises(AttributeError, match="use sort"):
            _ = w.median
        assert not hasattr(w, "sofmax")
        assert w.keeper is not None, "nobody has asked for its numbers"
        touch()
        assert w.keeper is None
        assert type(w) is Tensor


def test_gradients_of_arguments_by_name() -> None:
    w = Tensor([1.0, 2.0])
    f = gradwalk.compile(lambda x, y: (w * x * y).sum(), wrt=("x", "y"))
    loss = f(Tensor([3.0, 4.0], requires_grad=False), 2.0)
    loss.backward()
    assert loss.argument_grads["x"].tolist() == [2.0, 4.0]
    assert loss.argument_grads["y"] == 11.0


def test_a_model_of_modules_is_trained() -> None:
    rng = np.random.default_rng(0)
    X, y = Tensor(rng.normal(size=(12, 4)), requires_grad=False), rng.integers(0, 3, 12)
    losses: list[list[float]] = []
    for compiled in (False, True):
        gradwalk.manual_seed(1)
        model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), gradwalk.tanh, nn.Linear(8, 3))
        loss_of: Any = lambda X, y, model=model: nn.cross_entropy(model(X), y)  # noqa: E731
        loss_of = gradwalk.compile(loss_of) if compiled else loss_of
        step = optim.Adam(model.parameters(), lr=0.05)
        losses.append([])
        for _ in range(10):
            loss = loss_of(X, y)
            step.zero_grad()
            loss.backward()
            step.step()
            losses[-1].append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-10)
    assert losses[0][-1] < 0.8 * losses[0][0]


def test_another_thread_may_compute_while_one_traces() -> None:
    x, w = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    found: list[Any] = []

    def elsewhere() -> None:
        y = (x * x + 1.0).sum()
        y.backward()
        found.append(y.item())

    def f(k: Any) -> Any:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return (w * k).sum()

    with pytest.warns(match="found"):  # it is changed, so that the function is run once more, as it is
        assert gradwalk.compile(f)(2.0).item() == 14.0
    assert found[0] == 7.0
    assert (x * 2.0).tolist() == [2.0, 4.0]


def test_the_first_tensor_of_a_program_may_be_made_inside() -> None:
    program = """
import sys, gradwalk
f = gradwalk.compile(lambda x, y: (gradwalk.Tensor.of([x * y, x + y]) ** 2).sum() + gradwalk.Tensor([x, 1.0]).sum())
assert "gradwalk.tensor" not in sys.modules
print([f(x, 3.0).item() for x in (1.0, 2.0, 1.0)])
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[27.0, 64.0, 27.0]", done.stderr


# --- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", ["sum", "mean", "each"])
@pytest.mark.parametrize("given", [np.array, lambda x: Tensor(x, requires_grad=False)], ids=["arrays", "tensors"])
def test_batches_of_tensors(batch: str, given: Any) -> None:
    rng = np.random.default_rng(0)
    w = Tensor(rng.normal(size=(3, 3)))
    X, tokens = rng.normal(size=(6, 3)), rng.integers(0, 3, 6)

    def one(x: Any, i: Any) -> Any:
        h = (w @ x).tanh() + w[i]
        return {"loss": -h.log_softmax(0)[i], "h": h, "wide": h.expand(2, 3), "w": w, "max": h.amax()}

    compiled = gradwalk.compile(one, batch=batch)
    for _ in range(2):
        found = compiled(given(X), given(tokens))
        apart = [one(Tensor(x), int(i)) for x, i in zip(X, tokens, strict=True)]
        for name, out in found.items():
            stacked = gradwalk.stack([part[name] for part in apart])
            whole = {"sum": stacked.sum(0), "mean": stacked.mean(0), "each": stacked}[batch]
            assert out.shape == whole.shape
            seed = rng.normal(size=whole.shape)
            grads = []
            for root in (whole, out):
                w.grad = None
                root.backward(seed)
                grads.append(w.grad.numpy())
            np.testing.assert_allclose(out.numpy(), whole.numpy(), rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(grads[1], grads[0], rtol=1e-11, atol=1e-13)
        w.data = w.data * 0.9


#: Functions of one sample `x`, of three numbers, and a label `i`, with a table `w`.
SAMPLES: dict[str, Any] = {
    "cross_entropy": lambda w, x, i: gradwalk.cross_entropy(w @ x, i),
    "Embedding": lambda w, x, i: (w(i) * x).sum() + w.weight[i, 1],
    "a mask of an array": lambda w, x, i: (gradwalk.where((x > 0) & ~(x > 1.0), w @ x, w @ -x) * (x <= 0.5)).sum(),
    "how many": lambda w, x, i: (x != 0.5).sum() * w.sum() + gradwalk.where(x == 0.5, 1.0, w @ x).sum(),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_decide_for_themselves(name: str) -> None:
    rng = np.random.default_rng(0)
    w: Any = nn.Embedding(3, 3) if name == "Embedding" else Tensor(rng.normal(size=(3, 3)))
    weight = getattr(w, "weight", w)
    f = gradwalk.compile(lambda x, i: SAMPLES[name](w, x, i), batch="mean")
    for labels in ([0, 2, 1, 1], np.array([2, 2, 0])):
        X = rng.normal(size=(len(labels), 3))
        X[0, 0] = 0.5
        found = []
        for call in (f, f.one_by_one):
            weight.grad = None
            loss = call(X, labels)
            loss.backward()
            found.append([loss.item(), *weight.grad.numpy().ravel()])
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-14)
    assert f.traced == 2, "a list of labels, and an array of them"
    if name in ("cross_entropy", "Embedding"):
        with pytest.raises(GradwalkError, match="3"):
            f(X, [0, 1, 3])


def test_a_label_that_is_none_makes_the_loss_of_a_batch_nan() -> None:
    """At the call that is traced, and without a batch, it is an error."""
    w, layer, neuron = Value(0.5), nn.Linear(3, 1), nn.Neuron(3, nonlin=False)
    X = np.random.default_rng(0).normal(size=(4, 3))
    losses: dict[Any, list[float]] = {nn.hinge: [1, -1, -1, 1], nn.binary_cross_entropy: [1, 0, 0, 1]}
    for loss, labels in losses.items():
        of_tensors = gradwalk.compile(lambda x, y, loss=loss: loss(layer(x), y), batch="mean")
        of_values = gradwalk.compile(lambda x, y, loss=loss: loss(neuron(x), y), batch="mean")
        for f, y in (of_tensors, np.array(labels).reshape(4, 1)), (of_values, np.array(labels)):
            assert f(X, y).data == pytest.approx(f.one_by_one(X, y).data, rel=1e-12)
            assert np.isnan(f(X, y * 2).data)
            with pytest.raises(SettingError, match=r"label|target"):
                f.one_by_one(X, y * 2)
        f = gradwalk.compile(lambda x, y, loss=loss: loss([w * z for z in x], y))
        for _ in range(2):
            with pytest.raises(SettingError, match=r"(label|target) 1 is"):
                f(X[:, 0], np.array(labels) * 2)
            assert not np.isnan(f(X[:, 0], np.array(labels)).data)
        assert f.traced == 1


def test_an_error_about_a_sample_is_that_of_the_function() -> None:
    w = Tensor([1.0, 2.0])
    f = gradwalk.compile(lambda x: (w * x).sum(), batch="sum")
    with pytest.raises(GradwalkError, match=r"make a tensor of it: Tensor\(\[0\.5, 1\.5\]\)"):
        f([[0.5, 1.5], [2.0, 3.0]])


def test_samples_wait_though_other_calls_have_more_or_fewer() -> None:
    w = Tensor([1.0, 2.0])
    f = gradwalk.compile(lambda x: [(w * x).tanh(), (w * x).sum()], batch="each")
    many, few = np.ones((4, 2)), np.ones((3, 2)) * 0.5
    waiting = f(many)
    f(few)
    for out, expected in zip(
        waiting, [(w * Tensor(many, False)).tanh(), (w * Tensor(many, False)).sum(1)], strict=True
    ):
        found = []
        for root in (out, expected):
            w.grad = None
            root.sum().backward()
            found.append(w.grad.numpy())
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_batches_refuse_what_they_cannot_do() -> None:
    w = Tensor([1.0, 2.0])
    f = gradwalk.compile(lambda x: (w * x).sum(), batch="sum")
    with pytest.raises(SettingError, match="requires_grad=False"):
        f(Tensor([[1.0, 2.0]]))
    with pytest.raises(SettingError, match="tensors of no dims"):
        f(Tensor(1.0))
    with pytest.raises(TraceError, match="a decision on a number of a sample"):
        gradwalk.compile(lambda x: (w * x).sum() if (w * x).sum() > 0 else w.sum(), batch="sum")(np.ones((3, 2)))
    with pytest.raises(SettingError, match="no sum over samples"):
        gradwalk.compile(lambda x: w * x > 0, batch="sum")(np.ones((3, 2)))
    chunks = [(np.ones((2, 2)),), (np.ones((3, 2)),)]
    whole = f.over(chunks, progress=False)
    whole.backward()
    assert (whole.item(), w.grad.tolist()) == (15.0, [5.0, 5.0])


def test_a_batch_of_moons_is_that_of_scalars() -> None:
    """Embedded in a batch, a function of tensors writes the same rows as the scalar one, sample by sample."""
    w, ws = Tensor([[1.0, -2.0]]), [Value(1.0), Value(-2.0)]
    tensors = gradwalk.compile(lambda x: (w @ x).tanh().sum(), batch="mean")
    scalars = gradwalk.compile(lambda x: (x[0] * ws[0] + x[1] * ws[1]).tanh(), batch="mean")
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert tensors(X).item() == pytest.approx(scalars(X).data, rel=1e-15)
    assert str(tensors.traces()[0].prepared.program) == str(scalars.traces()[0].prepared.program)


@pytest.mark.parametrize("what", ["decided", "masked", "rounded", "sorted", "read"])
def test_what_turns_on_the_last_digits_of_a_product_has_those_of_numpy(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles of our own add up in another order: here every sum is 0 in exact arithmetic, and noise in float32."""
    monkeypatch.setattr(array_products, "LEAST", 1)
    monkeypatch.setattr(array_products, "_threads", lambda: 1)
    rng = np.random.default_rng(3)
    half = rng.normal(size=(30, 40)).astype("float32")
    X = np.concatenate([half, half[:, ::-1]], 1)
    column = rng.normal(size=(40, 16)).astype("float32")
    w = Tensor(np.concatenate([column, -column[::-1]]))

    def plain(X: Any) -> Any:
        scores = (X @ w) * 1e6
        if what == "decided":
            return scores.mean() if (scores[:, 0] > 0.0).sum() > 15 else -scores.mean()
        if what == "masked":
            return gradwalk.where(scores > 0.0, 1.0, -1.0).mean() + 0.0 * scores.sum()
        if what == "rounded":
            return scores.round().sum() + 0.0 * scores.sum()
        if what == "sorted":
            return scores.argmax(1).float().sum() + 0.0 * scores.sum()
        return scores.sum() * float(scores[0, 0].item() > 0.0)

    compiled = gradwalk.compile(plain)
    for _ in range(3):
        expected = plain(Tensor(X, requires_grad=False))
        assert compiled(X).item() == expected.item()
        X = X[rng.permutation(30)]


def test_large_products_are_those_of_the_plain_function_to_the_last_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_products, "_threads", lambda: 1)
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(64, 200)).astype("float32"), rng.integers(0, 10, 64)
    shapes = ((200, 128), (128,), (128, 10), (10,))
    P, Q = ([Tensor((0.1 * np.random.default_rng(4).normal(size=s)).astype("float32")) for s in shapes] for _ in "PQ")

    def loss_of(P: Any) -> Any:
        return lambda X, y: gradwalk.cross_entropy((X @ P[0] + P[1]).relu() @ P[2] + P[3], y)

    compiled, plain, descents = gradwalk.compile(loss_of(P)), loss_of(Q), [optim.SGD(p, 0.5) for p in (P, Q)]
    for _ in range(5):
        losses = compiled(X, y), plain(Tensor(X, requires_grad=False), Tensor(y))
        for loss, descent in zip(losses, descents, strict=True):
            descent.zero_grad()
            loss.backward()
            descent.step()
        assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-6)
    for p, q in zip(P, Q, strict=True):
        assert np.allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=1e-6)


def test_one_number_that_is_made_of_large_arrays_is_not_known_when_the_way_back_is_written() -> None:
    """Each call has its own number, and goes back on its own side of a choice."""
    w, v = Tensor([1.0, 3.0]), Tensor([1.0, 3.0])
    functions = (Tensor.abs, Tensor.relu, Tensor.asin, Tensor.softplus, Tensor.leaky_relu, lambda x: x.clamp(-0.5, 0.2),
                 lambda x: x.maximum(0.1), lambda x: (x * x) ** Tensor(1.5))  # fmt: skip
    for f in functions:
        compiled = gradwalk.compile(lambda x, f=f: f((x * w).float().double().mean()))  # a cast is done on whole arrays
        for x in (np.array([0.25, 0.125]), np.array([0.25, -0.5]), np.array([0.25, 0.0])):
            w.grad = v.grad = None
            compiled(x).backward()
            f((Tensor(x, False) * v).float().double().mean()).backward()
            assert np.allclose(w.grad.numpy(), v.grad.numpy(), rtol=1e-12, atol=0.0)


def test_random_programs_compiled() -> None:
    for seed in range(3):
        assert tensor_fuzz.fuzzed(seed, compiled=True) <= tensor_fuzz.TOLERANCE


def test_a_tensor_of_arrays_in_python_is_refused_whatever_came_before_it() -> None:
    f = gradwalk.compile(lambda x: (x * x).sum())
    assert f(Tensor([3.0])).item() == 9.0
    with gradwalk.using_arrays("python"), pytest.raises(SettingError, match="take tensors of NumPy's arrays"):
        f(Tensor([3.0]))
