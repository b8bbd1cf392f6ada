"""What people expect of tensors beyond numbers: what is kept, shared, refused and said."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gradwalk
from gradwalk import Tensor, Value, modes, nn, optim
from gradwalk.errors import AnomalyError, BackwardError, GradwalkError, GraphError, ShapeError
from gradwalk.tensor import backward
from gradwalk.tensor.arrays import using_arrays

# --- imports ---------------------------------------------------------------------------------------------------------


def test_numpy_is_loaded_by_the_first_tensor_and_not_before() -> None:
    script = """
import sys, gradwalk
from gradwalk import nn, optim, check
assert "numpy" not in sys.modules and "gradwalk.tensor" not in sys.modules
gradwalk.Tensor([1.0])
assert "numpy" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_tensors_work_where_there_is_no_numpy() -> None:
    script = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in {*sys.stdlib_module_names, "gradwalk"}:
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())
import gradwalk
from gradwalk import nn, optim
gradwalk.manual_seed(1)
model = nn.Sequential(nn.Linear(3, 4), gradwalk.tanh, nn.BatchNorm1d(4), nn.Linear(4, 2))
x, y = gradwalk.randn(8, 3), gradwalk.randint(0, 2, (8,))
descent = optim.Adam(model.parameters(), lr=0.1)
losses = []
for _ in range(5):
    loss = gradwalk.cross_entropy(model(x), y)
    descent.zero_grad()
    loss.backward()
    descent.step()
    losses.append(loss.item())
print(losses[-1] < losses[0])
try:
    x.numpy()
except gradwalk.errors.MissingExtraError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout == 'True\nnumpy() needs numpy: pip install "gradwalk[tensor]"\n', run.stderr


# --- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["numpy", "python"])
def test_a_written_leaf_is_noticed_by_the_way_back(provider: str) -> None:
    def through_an_old_array(w: Any) -> None:
        w.data[0] = 5.0

    def by_setting(w: Any) -> None:
        w.data = [7.0, 7.0]

    def in_place(w: Any) -> None:
        w.data -= w.grad + 1.0

    with using_arrays(provider):
        for write in (through_an_old_array, by_setting, in_place):
            w = Tensor([1.0, 2.0], label="w")
            loss = (w * w).sum()
            write(w)
            with pytest.raises(BackwardError, match="the leaf w was written to after"):
                loss.backward()
            with pytest.raises(BackwardError, match="the leaf w was written to after"):
                loss.backward(create_graph=True)
            (w * w).sum().backward()
            assert w.grad.tolist() == [2 * x for x in w.tolist()]


def test_looking_at_data_changes_nothing() -> None:
    w = Tensor([1.0, 2.0])
    loss = (w * w).sum()
    assert w.data[0] == 1.0
    loss.backward()
    assert w.grad.tolist() == [2.0, 4.0]
    held = w.data
    held[1] = 10.0
    assert (w * 1.0).tolist() == [1.0, 10.0]


@pytest.mark.parametrize("provider", ["numpy", "python"])
@pytest.mark.parametrize("count", [2, 2000])
def test_every_way_to_use_a_leaf_sees_what_was_written_to_it(provider: str, count: int) -> None:
    """Also a zero that got another sign, and nothing where the same was written, nan too."""
    uses: Any = (
        lambda w: w * 2.0, lambda w: 2.0 * w, lambda w: w + w, lambda w: 1.0 / w, lambda w: w.exp(), lambda w: -w,
        lambda w: w.relu(), lambda w: w.sum(), lambda w: w @ w, lambda w: w[:1], lambda w: w.maximum(0.5),
        lambda w: w > 0.5, lambda w: gradwalk.where(w > 0.5, w, 0.0), lambda w: w.clamp(0.0, 1.0),
    )  # fmt: skip
    with using_arrays(provider):
        for use in uses:
            w = Tensor([1.0, float("nan")] + [0.0] * (count - 2) if count > 2 else [1.0, 0.0])
            held = w.data
            for x in (1.0, 0.25, -3.0, 0.0, -0.0):
                held[0] = x
                expected = use(Tensor([x, *w.tolist()[1:]]))
                assert str(use(w).tolist()) == str(expected.tolist())
            before = use(w)
            held[0], held[1] = -0.0, held[1]
            if before.requires_grad:
                before.sum().backward()


def test_nothing_is_shared_with_what_was_given_and_computed_numbers_are_read_only() -> None:
    given = np.array([1.0, 2.0])
    w = Tensor(given)
    given[0] = 99.0
    assert w.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        (w * 2).data[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        w.numpy()[0] = 1.0
    with pytest.raises(GraphError, match="put"):
        w[0] = 1.0
    assert w.put(0, 9.0).tolist() == [9.0, 2.0]
    with using_arrays("python"), pytest.raises(ValueError, match="read-only"):
        (Tensor([1.0]) * 2).data[0] = 1.0


def test_gradients_of_large_graphs_are_let_go_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward, "KEPT_NUMBERS", 10)
    x = Tensor(np.ones(8))
    a = x * 2
    b = a * 3
    c = b * 4
    b.retain_grad()
    c.label = "c"
    c.sum().backward()
    assert x.grad.tolist() == [24.0] * 8
    assert b.grad.tolist() == [4.0] * 8
    assert c.grad.tolist() == [1.0] * 8
    with pytest.raises(BackwardError, match="retain_grad"):
        _ = a.grad


def test_copies_and_pickles(tmp_path: Path) -> None:
    x = Tensor([[1.0, 2.0]], label="x")
    y = (x * x).sum()
    other = copy.deepcopy(y)
    other.backward()
    assert x.grad.tolist() == [[0.0, 0.0]]
    again = pickle.loads(pickle.dumps(x))
    assert (again.tolist(), again.label, again.dtype) == ([[1.0, 2.0]], "x", "float64")
    with pytest.raises(GraphError, match="detach"):
        pickle.dumps(y)
    tensors = {
        "a": Tensor([[1.5, float("nan")]]),
        "b": Tensor([1, 2]),
        "c": Tensor(3.0, dtype="float32"),
        "d": gradwalk.zeros(0, 2),
    }
    path = tmp_path / "tensors.npz"
    gradwalk.save(tensors, path)
    with np.load(path, allow_pickle=False) as found:
        assert {name: found[name].dtype.name for name in found} == {name: t.dtype for name, t in tensors.items()}
    for provider in ("numpy", "python"):
        with using_arrays(provider):
            loaded = gradwalk.load(path)
            assert {name: (t.shape, t.dtype) for name, t in loaded.items()} == {
                n: (t.shape, t.dtype) for n, t in tensors.items()
            }
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(gradwalk.errors.ModelFileError, match="damaged"):
        gradwalk.load(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["tensors.npz"]


# --- the engine's machinery ------------------------------------------------------------------------------------------


def test_hooks_modes_and_the_careful_walk_give_what_the_quick_one_gives() -> None:
    def loss(x: Any, w: Any) -> Any:
        h = (x @ w + w.sum(0)).tanh()
        return (h * h.mean(0, keepdim=True)).sum() + h[0, 0]

    given = [np.random.default_rng(i).normal(size=(3, 3)) for i in range(2)]
    quick = [Tensor(x) for x in given]
    loss(*quick).backward()
    careful = [Tensor(x) for x in given]
    handle = careful[0].register_hook(lambda gradient: None)
    root = loss(*careful)
    root.backward()
    handle.remove()
    for one, other in zip(quick, careful, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy())
        np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-14)
    root.backward()
    np.testing.assert_allclose(careful[0].grad.numpy(), 2 * quick[0].grad.numpy(), rtol=1e-14)
    handle = careful[0].register_hook(lambda gradient: gradient * 10)
    careful[0].zero_grad()
    root.backward()
    np.testing.assert_allclose(careful[0].grad.numpy(), 10 * quick[0].grad.numpy(), rtol=1e-14)


def test_observers_are_told_of_ops_leaves_and_walks() -> None:
    told: list[str] = []

    class Notes(modes.Observer):
        def op(self, out: Any, operands: Any) -> None:
            told.append(out._op)

        def leaf(self, v: Any, data: Any) -> None:
            told.append("leaf")

        def detached(self, out: Any, v: Any) -> None:
            told.append("detached")

        def after_backward(self, root: Any) -> None:
            told.append("back")

    with modes.observed(Notes()):
        x = Tensor([1.0, 2.0])
        (x.exp() @ x.detach()).backward()
    assert told == ["leaf", "exp", "detached", "@", "back"]


def test_no_grad_gives_leaves() -> None:
    x = Tensor([1.0])
    with gradwalk.no_grad():
        y = (x * 2).sum()
    assert y.is_leaf
    assert y.operands == ()


def test_anomaly_names_op_number_and_line() -> None:
    x = Tensor([[1.0, -2.0]], label="x")
    with (
        pytest.raises(
            AnomalyError, match=r"log\(x=\(1, 2\)\) gave nan at \[0, 1\]: log\(-2\)\n  made by .*test_tensor_semantics"
        ) as caught,
        gradwalk.anomaly(),
    ):
        x.log()
    assert "x.log()" in str(caught.value)
    zero = Tensor([1.0, 0.0], label="z")
    with (
        pytest.raises(
            AnomalyError, match=r"the gradient turned inf on its way from .*sqrt.* at \[1\], where it holds 0"
        ),
        gradwalk.anomaly(),
    ):
        zero.sqrt().sum().backward()
    assert zero.grad.tolist() == [0.0, 0.0]


def test_anomaly_lets_a_mask_of_minus_infinity_pass() -> None:
    scores = Tensor([[1.0, 2.0], [3.0, 4.0]], label="s")
    later = Tensor([[False, True], [False, False]])
    added = gradwalk.full((2, 2), -math.inf, requires_grad=False).triu(1)
    with gradwalk.anomaly():
        for masked in (scores.masked_fill(later, -math.inf), scores + added, gradwalk.where(later, -math.inf, scores)):
            scores.grad = None
            shares = gradwalk.cat([masked * 0.5, scores]).softmax(1)
            (shares[:, 0].log() + masked.max(1).values.mean()).sum().backward()
            assert scores.grad.isfinite().all()
        wrong: Any
        for wrong, text in (
            (lambda: scores.masked_fill(scores > 0, -math.inf).softmax(1), r"gave nan at \[0, 0\]: -inf - -inf"),
            (lambda: scores.masked_fill(later, -math.inf) * 0.0, r"\* 0 gave nan at \[0, 1\]: -inf \* 0"),
            (lambda: (scores + added).exp().log(), r"log\(\(2, 2\)\) gave -inf at \[0, 1\]: log\(0\)"),
            (lambda: Tensor([math.inf], label="x") * 2, r"^x=\(1,\) \* 2 gave inf at \[0\]: inf \* 2, and only carr"),
            (lambda: Tensor([math.nan]) + 1, r"^\(1,\) \+ 1 gave nan at \[0\]: nan \+ 1"),
        ):
            with pytest.raises(AnomalyError, match=text):
                wrong()


def test_values_and_tensors_in_one_graph() -> None:
    a: Any = Value(2.0)
    t = Tensor([1.0, 3.0])
    (a * t + t / a - a).sum().backward()
    assert a.grad == pytest.approx(4.0 - 4.0 / 4 - 2)
    assert t.grad.tolist() == [2.5, 2.5]
    b = Value(3.0)
    matrix = Tensor.of([[a, b], [b, a]])
    gradwalk.zero_grad([a, b])
    (matrix @ matrix).sum().backward()
    again = [gradwalk.grad(lambda a, b: 2 * (a + b) * (a + b))(2.0, 3.0)][0]
    assert (a.grad, b.grad) == pytest.approx(again)


def test_one_gradient_for_each_use_and_for_each_call() -> None:
    x = Tensor([3.0])
    y = (x * x * x).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [54.0]
    (x + x).sum().backward()
    assert x.grad.tolist() == [56.0]


def test_custom_ops_run_on_tensors() -> None:
    @gradwalk.op(lambda x, out: 2.0 * x if x > 0 else -2.0 * x)
    def signed_square(x: float) -> float:
        return x * x if x > 0 else -x * x

    for provider in ("numpy", "python"):
        with using_arrays(provider):
            x = Tensor([-3.0, 2.0])
            signed_square(x).sum().backward()
            assert x.grad.tolist() == [6.0, 4.0]


# --- dtypes ----------------------------------------------------------------------------------------------------------


def test_dtypes_are_pytorchs() -> None:
    f64, f32, i, b = Tensor([1.0]), Tensor([1.0], dtype="float32"), Tensor([1]), Tensor([True])
    cases = [(f64 + f32, "float64"), (f32 * 2.0, "float32"), (f32 + Tensor(2.0), "float32"), (i + 1, "int64"),
             (i * 1.5, "float64"), (i / i, "float64"), (i + f32, "float32"), (b * f32, "float32"), (b.sum(), "int64"),
             (f32 > 0, "bool"), (i.exp(), "float64"), (f32.exp(), "float32"), (f32.erf(), "float32"),
             (f32.sum(), "float32"), (gradwalk.where(b, f32, 0.0), "float32"),
             (i**2, "int64"), (f32.softmax(0), "float32"), (f32.std(), "float32"), (i.float(), "float32")]  # fmt: skip
    for provider in ("numpy", "python"):
        with using_arrays(provider):
            for found, dtype in cases if provider == "numpy" else []:
                assert found.dtype == dtype
            x = Tensor([1.0, 2.0], dtype="float32")
            (x * Tensor([1.0, 2.0])).sum().backward()
            assert x.grad.dtype == "float32"
    assert i.grad is None
    with pytest.raises(GradwalkError, match="same dtype"):
        _ = f64 @ f32


# --- what is refused -------------------------------------------------------------------------------------------------

X: Any = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
INTS: Any = Tensor([1])
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "ragged": (lambda: Tensor([[1.0], [2.0, 3.0]]), "one shape"),
    "text": (lambda: Tensor("abc"), "real numbers"),
    "none": (lambda: Tensor(None), "real numbers"),
    "complex": (lambda: Tensor(np.array([1j])), "complex"),
    "values": (lambda: Tensor([Value(1.0)]), "Tensor.of"),
    "operand": (lambda: X + "a", "real numbers"),
    "list": (lambda: X * [1, 2], "make a tensor of it"),
    "broadcast": (lambda: X + Tensor([1.0, 2.0, 3.0]), r"\(3, 2\) and \(3,\) .* axis 1 .* 2 and 3.*keepdim=True"),
    "matmul": (lambda: X @ X, r"\(3, 2\) @ \(3, 2\) does not fit.*transpose"),
    "dim": (lambda: X.sum(2), "dim 2"),
    "dim twice": (lambda: X.sum((0, -2)), "twice"),
    "dim and axis": (lambda: X.sum(0, axis=0), "mean the same"),
    "keepdim": (lambda: X.sum(0, 1), "keepdim=1"),
    "reshape": (lambda: X.reshape(4, 2), r"6 numbers of shape \(3, 2\) do not fit \(4, 2\)"),
    "view -1": (lambda: X.view(4, -1), "no multiple"),
    "index": (lambda: X[3], "index 3 is out of range in dim 0"),
    "index float": (lambda: X[Tensor([0.0])], r"\.long\(\)"),
    "index many": (lambda: X[0, 0, 0], "3 dims"),
    "mask": (lambda: X[Tensor([True, False])], "mask of shape"),
    "cat": (lambda: gradwalk.cat([X, X.T], 0), "tensors 0 and 1"),
    "cat empty": (lambda: gradwalk.cat([]), "empty"),
    "stack": (lambda: gradwalk.stack([X, X.T]), "one shape"),
    "backward": (lambda: (X * 2).backward(), "starts from one number"),
    "backward of ints": (lambda: Tensor([1]).sum().backward(), "int64"),
    "truth": (lambda: bool(X > 0), "neither true nor false"),
    "float": (lambda: float(X), r"t\.item"),
    "item": (lambda: X.item(), "one number"),
    "requires_grad": (lambda: Tensor([1], requires_grad=True), "carries no gradient"),
    "softmax": (lambda: X.softmax(), "needs a dim"),
    "mean of ints": (lambda: Tensor([1, 2]).mean(), r"\.float\(\)"),
    "targets": (lambda: gradwalk.cross_entropy(X, [0, 1]), r"3 target"),
    "class": (lambda: gradwalk.cross_entropy(X, [0, 1, 2]), "classes 0 to 1"),
    "mse": (lambda: nn.mse(X, X.sum(1)), r"\(3, 2\) and \(3,\)"),
    "einsum": (lambda: gradwalk.einsum("ij,jk->ik", X, X), "'j' has size"),
    "dtype": (lambda: Tensor([1.0], dtype="float99"), "float64"),
    "seed": (lambda: gradwalk.manual_seed("x"), "whole number"),  # type: ignore[arg-type]
    "numpy function": (lambda: np.arctan2(X, 1.0), "arctan2"),
    "put twice": (lambda: X.put([0, 0], 1.0), "twice"),
    "linear": (lambda: nn.Linear(3, 2)(X), "last dim of 3"),
    "check_graph": (lambda: gradwalk.check_graph(X.sum()), "does not know tensors yet"),
    "optimiser": (lambda: optim.SGD([INTS], lr=0.1), "no gradient flows"),
    "optimiser of a result": (lambda: optim.SGD([X * 2], lr=0.1), "computed from other"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_rubbish_is_refused_by_name(name: str) -> None:
    action, text = REFUSED[name]
    with pytest.raises(GradwalkError, match=text):
        action()


def test_a_shape_error_names_the_line() -> None:
    with pytest.raises(ShapeError, match="test_tensor_semantics") as caught:
        X - X.sum(1)
    assert "X - X.sum(1)" in str(caught.value)


def test_what_is_left_out_names_the_nearest_thing() -> None:
    with pytest.raises(AttributeError, match=r"no 'median'; use sort"):
        _ = X.median
    assert not hasattr(X, "median")
    misspelt = "import gradwalk; gradwalk.Tensor([1.0]).sofmax"
    run = subprocess.run([sys.executable, "-c", misspelt], capture_output=True, text=True, check=False)
    assert "'Tensor' object has no attribute 'sofmax'. Did you mean: 'softmax'?" in run.stderr


# --- chance ----------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_numbers_with_both_providers() -> None:
    found = []
    for provider in ("numpy", "python"):
        with using_arrays(provider):
            gradwalk.manual_seed(3)
            drawn = [gradwalk.randn(3, 2), gradwalk.rand(2), gradwalk.randint(0, 9, (4,)), gradwalk.randperm(5)]
            drawn.append(gradwalk.multinomial(gradwalk.rand(2, 5), 3))
            drawn.append(nn.Linear(2, 2).weight)
            found.append([x.tolist() for x in drawn])
    assert found[0] == found[1]
    many = gradwalk.randn(4000)
    assert abs(many.mean().item()) < 0.06
    assert abs(many.std().item() - 1) < 0.05


# --- layers and optimisers -------------------------------------------------------------------------------------------


def test_layers_give_pytorchs_numbers() -> None:
    given = np.random.default_rng(0).normal(size=(6, 4))
    pairs: list[tuple[Any, Any]] = [
        (nn.Linear(4, 3), torch.nn.Linear(4, 3, dtype=torch.float64)),
        (nn.BatchNorm1d(4), torch.nn.BatchNorm1d(4, dtype=torch.float64)),
        (nn.LayerNorm(4), torch.nn.LayerNorm(4, dtype=torch.float64)),
    ]
    for ours, theirs in pairs:
        theirs.load_state_dict({name: torch.tensor(t.numpy()) for name, t in ours.state_dict().items()}, strict=False)
        for _ in range(2):
            x, t = Tensor(given), torch.tensor(given, requires_grad=True)
            out, want = ours(x), theirs(t)
            np.testing.assert_allclose(out.numpy(), want.detach().numpy(), rtol=1e-12, atol=1e-12)
            (out * out * out).sum().backward()
            (want * want * want).sum().backward()
            np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), rtol=1e-10, atol=1e-10)
            for name, p in ours.named_parameters():
                np.testing.assert_allclose(
                    p.grad.numpy(), dict(theirs.named_parameters())[name].grad.numpy(), rtol=1e-10, atol=1e-10
                )
        ours.eval()
        theirs.eval()
        np.testing.assert_allclose(
            ours(Tensor(given)).numpy(), theirs(torch.tensor(given)).detach().numpy(), rtol=1e-12
        )


def test_optimisers_step_as_pytorchs_do_on_values_and_tensors_together() -> None:
    rng = np.random.default_rng(0)
    w0, b0, x = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=(7, 3))
    settings: list[tuple[str, dict[str, Any]]] = [
        ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        ("Adam", {"lr": 0.05, "weight_decay": 0.1}), ("AdamW", {"lr": 0.05, "weight_decay": 0.1}),
    ]  # fmt: skip
    for name, options in settings:
        w: Any = Tensor(w0)
        s: Any = Value(0.5)
        b: Any = Tensor(b0)
        theirs = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (w0, 0.5, b0)]
        ours, other = getattr(optim, name)([w, s, b], **options), getattr(torch.optim, name)(theirs, **options)
        for step in range(4):
            ours.zero_grad()
            ((x @ w + b).tanh() * s).square().mean().backward()
            norm = optim.clip_grad_norm([w, s, b], 0.05)
            ours.step()
            other.zero_grad()
            ((torch.tensor(x) @ theirs[0] + theirs[2]).tanh() * theirs[1]).square().mean().backward()
            assert norm == pytest.approx(torch.nn.utils.clip_grad_norm_(theirs, 0.05).item(), rel=1e-12)
            other.step()
            if step == 1:
                fresh = getattr(optim, name)([w, s, b], **options)
                fresh.load_state_dict(ours.state_dict())
                ours = fresh
        np.testing.assert_allclose(w.numpy(), theirs[0].detach().numpy(), rtol=1e-12)
        assert s.data == pytest.approx(theirs[1].item(), rel=1e-12)


def test_modules_of_both_kinds_are_saved_whole(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Embedding(4, 2))
    other = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Embedding(4, 2))
    assert [name for name, _ in model.named_parameters()] == [
        "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.2.weight",
    ]  # fmt: skip
    assert "layers.1.running_mean" in model.state_dict()
    model.save(tmp_path / "model.npz")
    other.load(tmp_path / "model.npz")
    assert other.layers[0].weight.tolist() == model.layers[0].weight.tolist()
    with pytest.raises(GradwalkError, match="has shape"):
        nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(3), nn.Embedding(4, 2)).load(tmp_path / "model.npz")


# --- derivatives of functions ----------------------------------------------------------------------------------------


def test_derivatives_of_functions_of_tensors() -> None:
    w0, x0 = np.random.default_rng(0).normal(size=(2, 3)), np.random.default_rng(1).normal(size=3)

    def f(w: Any, x: Any) -> Any:
        return ((w @ x).tanh() * (w @ x)).sum()

    w, x = Tensor(w0), Tensor(x0)
    tw, tx = torch.tensor(w0), torch.tensor(x0)
    for ours, theirs in zip(gradwalk.grad(f)(w, x), torch.autograd.functional.jacobian(f, (tw, tx)), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
    jacobian = gradwalk.jacobian(lambda x: (w @ x).tanh())(x)
    np.testing.assert_allclose(
        jacobian.numpy(), torch.autograd.functional.jacobian(lambda x: (tw @ x).tanh(), tx).numpy(), rtol=1e-12
    )
    rows = gradwalk.hessian(f)(w, x)
    for ours, theirs in zip(rows, torch.autograd.functional.hessian(f, (tw, tx)), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-12)
    power: Any = lambda x: (x**5).sum()  # noqa: E731
    for _ in range(3):
        power = (lambda f: lambda x: gradwalk.grad(f)(x).sum())(power)
    assert power(Tensor([2.0])).item() == 240.0
    assert w.grad.tolist() == np.zeros((2, 3)).tolist()


# --- programs written for PyTorch ------------------------------------------------------------------------------------


def character_model(torch: Any, F: Any, start: dict[str, Any], X: Any, Y: Any) -> tuple[Any, list[Any]]:
    """A forward pass in small steps, as a course in backpropagation writes it for PyTorch."""
    C, W1, b1, W2, b2, gain, shift = (
        torch.tensor(start[name]) for name in ("C", "W1", "b1", "W2", "b2", "gain", "shift")
    )
    parameters = [C, W1, b1, W2, b2, gain, shift]
    for p in parameters:
        p.requires_grad = True
    n = X.shape[0]
    emb = C[X]
    embcat = emb.view(emb.shape[0], -1)
    hprebn = embcat @ W1 + b1
    bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
    bndiff = hprebn - bnmeani
    bndiff2 = bndiff**2
    bnvar = 1 / (n - 1) * (bndiff2).sum(0, keepdim=True)
    bnvar_inv = (bnvar + 1e-5) ** -0.5
    bnraw = bndiff * bnvar_inv
    hpreact = gain * bnraw + shift
    h = torch.tanh(hpreact)
    logits = h @ W2 + b2
    logit_maxes = logits.max(1, keepdim=True).values
    norm_logits = logits - logit_maxes
    counts = norm_logits.exp()
    counts_sum = counts.sum(1, keepdims=True)
    counts_sum_inv = counts_sum**-1
    probs = counts * counts_sum_inv
    logprobs = probs.log()
    loss = -logprobs[range(n), Y].mean()
    between = [logprobs, probs, counts, norm_logits, logits, h, hpreact, bnraw, bnvar, emb]
    for t in between:
        t.retain_grad()
    for p in parameters:
        p.grad = None
    loss.backward()
    assert torch.allclose(loss, F.cross_entropy(logits, Y))
    return loss, [*between, *parameters]


def attention(torch: Any, F: Any, start: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Causal self-attention with several heads, as it is written for PyTorch."""
    x, W, P = (torch.tensor(start[name]) for name in ("x", "W", "P"))
    for p in (x, W, P):
        p.requires_grad = True
    B, T, C = x.size()
    heads = 2
    q, k, v = (x @ W).split(C, dim=2)
    k = k.view(B, T, heads, C // heads).transpose(1, 2)
    q = q.view(B, T, heads, C // heads).transpose(1, 2)
    v = v.view(B, T, heads, C // heads).transpose(1, 2)
    att = (q @ k.transpose(-2, -1)) * (1.0 / (k.size(-1) ** 0.5))
    mask = torch.tril(torch.ones(T, T)).view(1, 1, T, T)
    att = att.masked_fill(mask == 0, float("-inf"))
    att = F.softmax(att, dim=-1)
    y = (att @ v).transpose(1, 2).contiguous().view(B, T, C) @ P
    loss = F.gelu(y).pow(2).mean()
    loss.backward()
    return loss, [x, W, P]


def test_programs_written_for_pytorch_run_by_changing_the_import() -> None:
    rng = np.random.default_rng(0)
    shapes = {"C": (9, 3), "W1": (6, 5), "b1": (5,), "W2": (5, 9), "b2": (9,), "gain": (1, 5), "shift": (1, 5)}
    more = {"x": (2, 4, 6), "W": (6, 18), "P": (6, 6)}
    start = {name: rng.normal(size=shape) * 0.7 for name, shape in [*shapes.items(), *more.items()]}
    X, Y = rng.integers(0, 9, (8, 2)), rng.integers(0, 9, 8)
    found = [
        character_model(gradwalk, gradwalk, start, Tensor(X), Tensor(Y)),
        character_model(torch, torch.nn.functional, start, torch.tensor(X), torch.tensor(Y)),
        attention(gradwalk, gradwalk.nn.functional, start),
        attention(torch, torch.nn.functional, start),
    ]
    for (loss, nodes), (want, theirs) in (found[:2], found[2:]):
        assert loss.item() == pytest.approx(want.item(), rel=1e-12)
        for one, other in zip(nodes, theirs, strict=True):
            np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_a_drawing_shows_shapes() -> None:
    W = Tensor([[1.0, 2.0]], label="W")
    loss = (W @ Tensor([1.0, 2.0])).sum()
    loss.backward()
    drawing = gradwalk.draw_dot(loss)
    assert "(1, 2)" in drawing.svg
    assert "data (1, 2)" in drawing.source


def test_the_example_learns_to_make_up_names(capsys: pytest.CaptureFixture[str]) -> None:
    makemore = __import__("makemore")
    makemore.main(["--steps", "120", "--samples", "3"])
    told = capsys.readouterr().out
    losses = [float(line.split()[-1]) for line in told.splitlines() if "loss" in line]
    assert losses[-1] < 3.0 < losses[0]
    assert told.splitlines()[-1].count(",") == 2


def test_an_array_stands_on_either_side_under_every_mode() -> None:
    w, x = Tensor([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, -1.0]])
    ways: tuple[Any, ...] = (gradwalk.anomaly, gradwalk.no_grad, nullcontext)
    for mode in ways:
        with mode():
            assert (x @ w).tolist() == [[-2.0, -2.0]]
            assert (x * w).tolist() == [[1.0, -2.0], [3.0, -4.0]]
            assert (np.float64(2.0) - w).tolist() == [[1.0, 0.0], [-1.0, -2.0]]
