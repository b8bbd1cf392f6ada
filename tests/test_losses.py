from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, losses, nn
from gradwalk.errors import GradwalkError, InputSizeError, NotANumberError, SettingError

F = torch.nn.functional
inf, nan = math.inf, math.nan

#: What rounding may leave of a number that should be 0: torch computes p - 1 and x + log(1 + …) where p and x are of
#: order 1 and up to 1000, so its own error is some units in their last place.
ULPS = 1e-15

numbers = st.floats(-50, 50) | st.floats(-1000, 1000) | st.sampled_from([0.0, -0.0, 1000.0, -1000.0, 1e-300])


def rows(width: int | None = None) -> st.SearchStrategy[list[float]]:
    return st.lists(numbers, min_size=width or 1, max_size=width or 6)


def tensor(xs: Any, *, leaf: bool = True) -> Any:
    return torch.tensor(xs, dtype=torch.float64, requires_grad=leaf)


def compare(ours: Value, leaves: list[Value], theirs: Any, leaf: Any, scale: float = 1.0) -> None:
    """Value and gradients equal to torch's."""
    ours.backward()
    theirs.backward()
    assert ours.data == pytest.approx(theirs.item(), rel=1e-12, abs=ULPS * scale)
    assert [v.grad for v in leaves] == pytest.approx(leaf.grad.flatten().tolist(), rel=1e-12, abs=ULPS)


def size(xs: list[float]) -> float:
    return max(1.0, *map(abs, xs))


# --- losses against torch ----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_mse_is_torchs(pairs: list[tuple[float, float]]) -> None:
    xs, ts = [x for x, _ in pairs], [t for _, t in pairs]
    leaves, leaf = [Value(x) for x in xs], tensor(xs)
    compare(nn.mse(leaves, ts), leaves, F.mse_loss(leaf, tensor(ts, leaf=False)), leaf)


def test_targets_of_mse_may_be_values_and_get_gradients() -> None:
    x, t = Value(3.0), Value(1.0)
    nn.mse([x], [t]).backward()
    assert (x.grad, t.grad) == (4.0, -4.0)


@given(st.lists(st.tuples(numbers, st.sampled_from([-1, 1])), min_size=1, max_size=8))
def test_hinge_is_the_mean_of_relu(pairs: list[tuple[float, int]]) -> None:
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    leaves, leaf = [Value(x) for x in xs], tensor(xs)
    compare(nn.hinge(leaves, ys), leaves, torch.relu(1 - tensor(ys, leaf=False) * leaf).mean(), leaf)


@given(st.lists(st.tuples(numbers, st.sampled_from([0, 1])), min_size=1, max_size=8))
def test_binary_cross_entropy_is_torchs(pairs: list[tuple[float, int]]) -> None:
    xs, ts = [x for x, _ in pairs], [t for _, t in pairs]
    leaves, leaf = [Value(x) for x in xs], tensor(xs)
    theirs = F.binary_cross_entropy_with_logits(leaf, tensor(ts, leaf=False))
    compare(nn.binary_cross_entropy(leaves, ts), leaves, theirs, leaf, scale=size(xs))


@given(numbers.filter(lambda x: abs(x) < 700))
def test_binary_cross_entropy_is_exact_where_torchs_rounds(x: float) -> None:
    """No absolute tolerance here: torch's log-sigmoid has the exact gradient, which p - 1 rounds away."""
    for sign, target in ((1, 1), (-1, 0)):
        ours, leaf = Value(x), tensor(x)
        loss = nn.binary_cross_entropy(ours, target)
        loss.backward()
        theirs = -F.logsigmoid(sign * leaf)
        theirs.backward()
        assert loss.data == pytest.approx(theirs.item(), rel=1e-12, abs=0)
        assert ours.grad == pytest.approx(leaf.grad.item(), rel=1e-12, abs=0)


@given(st.data(), st.integers(1, 5), st.integers(1, 4))
def test_cross_entropy_is_torchs(data: st.DataObject, classes: int, samples: int) -> None:
    xs = [data.draw(rows(classes)) for _ in range(samples)]
    ts = [data.draw(st.integers(0, classes - 1)) for _ in range(samples)]
    table, leaf = [[Value(x) for x in row] for row in xs], tensor(xs)
    flat = [v for row in table for v in row]
    theirs = F.cross_entropy(leaf, torch.tensor(ts))
    compare(nn.cross_entropy(table, ts), flat, theirs, leaf, scale=size([x for row in xs for x in row]))


@pytest.mark.parametrize("logit", [1000.0, -1000.0, 0.0, 710.0, -745.0])
@pytest.mark.parametrize("target", [0, 1])
def test_cross_entropies_at_the_extremes_are_torchs_exactly(logit: float, target: int) -> None:
    ours, leaf = Value(logit), tensor(logit)
    loss, theirs = (
        nn.binary_cross_entropy(ours, target),
        F.binary_cross_entropy_with_logits(leaf, tensor(float(target))),
    )
    loss.backward()
    theirs.backward()
    assert loss.data == pytest.approx(theirs.item(), rel=1e-15, abs=1e-300)
    assert ours.grad == pytest.approx(leaf.grad.item(), rel=1e-15, abs=1e-300)

    two, pair = [Value(logit), Value(-logit)], tensor([logit, -logit])
    loss, theirs = nn.cross_entropy(two, target), F.cross_entropy(pair, torch.tensor(target))
    loss.backward()
    theirs.backward()
    assert loss.data == theirs.item()
    assert [v.grad for v in two] == pair.grad.tolist()


@pytest.mark.parametrize("loss", [nn.mse, nn.hinge, nn.binary_cross_entropy, nn.cross_entropy])
def test_second_derivatives_are_torchs(loss: Any) -> None:
    xs = [0.3, -1.2, 2.0]
    cases: dict[Any, tuple[Any, Any]] = {
        nn.mse: ([1.0, 2.0, 3.0], lambda t: F.mse_loss(t, tensor([1.0, 2.0, 3.0], leaf=False))),
        nn.hinge: ([1, -1, 1], lambda t: torch.relu(1 - tensor([1, -1, 1], leaf=False) * t).mean()),
        nn.binary_cross_entropy: (
            [1, 0, 1],
            lambda t: F.binary_cross_entropy_with_logits(t, tensor([1, 0, 1], leaf=False)),
        ),
        nn.cross_entropy: (1, lambda t: F.cross_entropy(t, torch.tensor(1))),
    }
    targets, theirs = cases[loss]
    ours = gradwalk.hessian(lambda x: loss(x, targets))(xs)
    expected = torch.autograd.functional.hessian(theirs, tensor(xs, leaf=False))
    assert [x for row in ours for x in row] == pytest.approx(expected.flatten().tolist(), rel=1e-12, abs=ULPS)


# --- softmax and its relatives -----------------------------------------------------------------------------------


@given(rows())
def test_logsumexp_is_torchs(xs: list[float]) -> None:
    leaves, leaf = [Value(x) for x in xs], tensor(xs)
    compare(nn.logsumexp(leaves), leaves, torch.logsumexp(leaf, 0), leaf)


@given(rows(), st.data())
@pytest.mark.parametrize(("ours", "theirs"), [(nn.softmax, torch.softmax), (nn.log_softmax, torch.log_softmax)])
def test_softmax_and_log_softmax_are_torchs(ours: Any, theirs: Any, xs: list[float], data: st.DataObject) -> None:
    i = data.draw(st.integers(0, len(xs) - 1))
    leaves, leaf = [Value(x) for x in xs], tensor(xs)
    out, expected = ours(leaves), theirs(leaf, 0)
    assert [v.data for v in out] == pytest.approx(expected.tolist(), rel=1e-12, abs=ULPS * size(xs))
    compare(out[i], leaves, expected[i], leaf, scale=size(xs))


@given(rows())
def test_shares_add_up_to_one(xs: list[float]) -> None:
    shares = [p.data for p in nn.softmax(xs)]
    assert sum(shares) == pytest.approx(1.0, rel=1e-15)
    assert all(0.0 <= p <= 1.0 for p in shares)


EDGES = [
    [-inf, 0.0, 1.0],
    [inf, 0.0],
    [inf, inf, 1.0],
    [-inf, -inf],
    [inf, -inf],
    [nan, 1.0],
    [1.0, nan],
    [nan, inf],
    [inf],
]


@pytest.mark.parametrize("xs", EDGES, ids=str)
def test_infinities_are_handled_as_in_torch(xs: list[float]) -> None:
    for ours, theirs in (
        (nn.logsumexp, torch.logsumexp),
        (nn.softmax, torch.softmax),
        (nn.log_softmax, torch.log_softmax),
    ):
        leaves, leaf = [Value(x) for x in xs], tensor(xs)
        out, expected = ours(leaves), theirs(leaf, 0)
        first = out if isinstance(out, Value) else out[0]
        found = [out.data] if isinstance(out, Value) else [v.data for v in out]
        assert found == pytest.approx(expected.reshape(-1).tolist(), rel=1e-12, nan_ok=True)
        first.backward()
        (expected if expected.dim() == 0 else expected[0]).backward()
        assert [v.grad for v in leaves] == pytest.approx(leaf.grad.tolist(), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("target", [0, 2])
def test_a_masked_class_costs_infinity_only_if_it_is_the_right_one(target: int) -> None:
    xs = [-inf, 0.0, 1.0]
    leaves, leaf = [Value(x) for x in xs], tensor(xs)
    loss, theirs = nn.cross_entropy(leaves, target), F.cross_entropy(leaf, torch.tensor(target))
    loss.backward()
    theirs.backward()
    assert loss.data == pytest.approx(theirs.item(), rel=1e-12)
    assert [v.grad for v in leaves] == pytest.approx(leaf.grad.tolist(), rel=1e-12)


def test_nan_is_not_hidden() -> None:
    assert math.isnan(nn.mse([nan], [1.0]).data)
    assert math.isnan(nn.hinge([nan], [1]).data)
    assert math.isnan(nn.binary_cross_entropy([nan], [1]).data)
    assert math.isnan(nn.cross_entropy([[nan, 0.0]], [1]).data)


# --- what may be given -------------------------------------------------------------------------------------------


def test_lists_tuples_arrays_generators_and_single_numbers() -> None:
    assert nn.mse((1, 2), np.array([1.0, 4.0])).data == 2.0
    assert nn.mse((x for x in (1.0, 2.0)), [1, 4]).data == 2.0
    assert nn.mse(Value(1.0), 3).data == nn.mse([1.0], 3.0).data == nn.mse(1.0, [3.0]).data == 4.0
    assert (
        nn.hinge(Value(0.5), -1).data == nn.hinge([0.5], [np.int64(-1)]).data == nn.hinge(0.5, Value(-1.0)).data == 1.5
    )
    assert nn.binary_cross_entropy(Value(0.0), True).data == nn.binary_cross_entropy([0], [np.float32(0)]).data
    assert nn.cross_entropy(np.zeros((2, 3)), np.array([0, 2])).data == pytest.approx(math.log(3.0), rel=1e-15)
    assert nn.cross_entropy([0.0, 0.0], np.int64(1)).data == pytest.approx(math.log(2.0), rel=1e-15)
    assert nn.logsumexp((1, 1)).data == pytest.approx(1.0 + math.log(2.0), rel=1e-15)
    for result in (nn.mse(1, 2), nn.hinge(1, 1), nn.logsumexp([1, 2]), nn.softmax([1.0])[0], nn.log_softmax([1.0])[0]):
        assert isinstance(result, Value)


def test_outputs_of_a_model_go_straight_in() -> None:
    model = nn.MLP(2, [3, 1])
    samples = [[1.0, 2.0], [0.5, -1.0]]
    assert nn.hinge([model(x) for x in samples], [1, -1]).operands
    assert nn.mse(model(samples[0]), 1.0).operands
    assert nn.cross_entropy([nn.MLP(2, [3, 2])(x) for x in samples], [0, 1]).operands


def test_labels_get_no_gradient() -> None:
    score, label = Value(0.5), Value(1.0)
    nn.hinge(score, label).backward()
    assert (score.grad, label.grad) == (-1.0, 0.0)


PAIRED: list[Callable[[Any, Any], Value]] = [nn.mse, nn.hinge, nn.binary_cross_entropy, nn.cross_entropy]


@pytest.mark.parametrize("loss", PAIRED, ids=lambda f: f.__name__)
def test_empty_lists_and_lengths_that_differ(loss: Any) -> None:
    with pytest.raises(InputSizeError, match=rf"^{loss.__name__} was given no .*; give at least one"):
        loss([], [])
    with pytest.raises(
        InputSizeError, match=rf"^{loss.__name__} needs as many .* as (targets|labels), .* given 3 and 2$"
    ):
        loss([[1.0]] * 3, [0, 0])
    with pytest.raises(InputSizeError, match=r"was given 1 and 0$"):
        loss([1.0], [])


@pytest.mark.parametrize("loss", PAIRED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("bad", [None, "12", b"12", {"a": 1.0}, {1.0}])
def test_what_is_no_list(loss: Any, bad: Any) -> None:
    with pytest.raises(NotANumberError, match=rf"^{loss.__name__} takes .* as a list of numbers or Values, not"):
        loss(bad, [1])
    if bad is not None:
        with pytest.raises(NotANumberError, match=rf"^{loss.__name__} takes .* as a list of numbers or Values, not"):
            loss([1.0], bad)
    with pytest.raises(GradwalkError):
        loss([1.0], None)


@pytest.mark.parametrize("bad", ["1", None, 1j, [1.0], object()], ids=lambda bad: type(bad).__name__)
def test_an_item_that_is_no_number_is_named(bad: Any) -> None:
    with pytest.raises(NotANumberError, match=r"^prediction 2: a Value holds one real number"):
        nn.mse([1.0, bad], [1.0, 1.0])
    with pytest.raises(NotANumberError, match=r"^target 2: a Value holds one real number"):
        nn.mse([1.0, 1.0], [1.0, bad])
    with pytest.raises(NotANumberError, match=r"^score 1: "):
        nn.hinge([bad], [1])
    with pytest.raises(NotANumberError, match=r"^hinge label 1: "):
        nn.hinge([1.0], [bad])
    with pytest.raises(NotANumberError, match=r"^logit 1: "):
        nn.binary_cross_entropy([bad], [1])
    with pytest.raises(NotANumberError, match=r"^binary_cross_entropy target 1: "):
        nn.binary_cross_entropy([1.0], [bad])
    with pytest.raises(NotANumberError, match=r"^row 2 of the logits of cross_entropy: value 1: "):
        nn.cross_entropy([[1.0, 2.0], [bad, 2.0]], [0, 0])
    for f in (nn.logsumexp, nn.softmax, nn.log_softmax):
        with pytest.raises(NotANumberError, match=rf"^{f.__name__}: value 2: "):
            f([1.0, bad])


@pytest.mark.parametrize("label", [0, 2, 0.5, nan, inf, -1.0000001])
def test_labels_of_hinge(label: float) -> None:
    with pytest.raises(
        SettingError, match=r"^hinge label 2 is .*, and may be -1 or 1; labels of 0 and 1 become these as"
    ):
        nn.hinge([1.0, 1.0], [1, label])


@pytest.mark.parametrize("target", [-1, 2, 0.5, nan, inf])
def test_targets_of_binary_cross_entropy(target: float) -> None:
    with pytest.raises(
        SettingError, match=r"^binary_cross_entropy target 1 is .*, and may be 0 or 1; labels of -1 and 1"
    ):
        nn.binary_cross_entropy([1.0], [target])


@pytest.mark.parametrize("target", [3, -1, 10**30])
def test_classes_that_do_not_exist(target: int) -> None:
    with pytest.raises(
        SettingError, match=rf"^target 2 of cross_entropy is class {target}, and 3 logits make classes 0 to 2"
    ):
        nn.cross_entropy([[1.0, 2.0, 3.0]] * 2, [0, target])


@pytest.mark.parametrize("target", [1.0, "1", Value(1.0), nan])
def test_classes_that_are_no_whole_numbers(target: Any) -> None:
    with pytest.raises(SettingError, match=r"^target 1 of cross_entropy is the index of a class, a whole number, not"):
        nn.cross_entropy([[1.0, 2.0]], [target])


def test_rows_of_logits() -> None:
    with pytest.raises(
        InputSizeError, match=r"^row 2 of the logits holds 3 and row 1 holds 2; each row has one for every"
    ):
        nn.cross_entropy([[1.0, 2.0], [1.0, 2.0, 3.0]], [0, 0])
    with pytest.raises(InputSizeError, match=r"^row 1 of the logits of cross_entropy was given an empty list"):
        nn.cross_entropy([[]], [0])
    with pytest.raises(InputSizeError, match=r"^row 1 of the logits of cross_entropy was given a single number"):
        nn.cross_entropy([Value(1.0), Value(2.0)], [0, 1])
    with pytest.raises(InputSizeError, match=r"^row 1 of the logits of cross_entropy was given a single number"):
        nn.cross_entropy([1.0, 2.0], [0, 1])


@pytest.mark.parametrize("f", [nn.logsumexp, nn.softmax, nn.log_softmax])
def test_helpers_of_nothing_or_of_one_thing(f: Any) -> None:
    with pytest.raises(InputSizeError, match="was given an empty list; give at least one number"):
        f([])
    for single in (Value(1.0), 1.0):
        with pytest.raises(InputSizeError, match="was given a single number; give a list of them"):
            f(single)
    for bad in (None, "12"):
        with pytest.raises(NotANumberError, match="takes values as a list of numbers or Values, not"):
            f(bad)


def test_everything_public_is_exported() -> None:
    assert all(callable(getattr(losses, name)) for name in losses.__all__)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("labels", ["float32", "float64", "int64", "bool"])
def test_losses_of_tensors_have_the_dtype_of_the_scores(dtype: str, labels: str) -> None:
    scores, yes = [[2.0, -1.0, 0.5]], [[1, 0, 1]]
    ours = gradwalk.Tensor(scores, dtype=dtype)
    theirs = torch.tensor(scores, dtype=getattr(torch, dtype), requires_grad=True)
    wanted = torch.tensor(yes, dtype=getattr(torch, dtype))
    loss: Any
    for loss, their in (
        (nn.binary_cross_entropy(ours, gradwalk.Tensor(yes, dtype=labels)),
         F.binary_cross_entropy_with_logits(theirs, wanted)),
        (nn.hinge(ours, gradwalk.Tensor(yes, dtype=labels).long() * 2 - 1),
         torch.relu(1 - theirs * (2 * wanted - 1)).mean()),
    ):  # fmt: skip
        loss.backward()
        their.backward()
        assert loss.dtype == dtype
        assert loss.item() == pytest.approx(their.item(), rel=1e-6)
    assert np.allclose(ours.grad.tolist(), theirs.grad.numpy(), rtol=1e-6)


def test_gradients_are_cleared_as_pytorch_says_it() -> None:
    layer = nn.Linear(1, 1)
    for clear in (layer.zero_grad, gradwalk.optim.SGD(layer.parameters(), lr=0.1).zero_grad):
        layer(gradwalk.ones(1, 1)).sum().backward()
        clear(set_to_none=True)
        assert layer.weight.grad.tolist() == [[0.0]]
