"""What is not said is what PyTorch takes: each method and function with nothing but what it must be given."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import gradwalk
from gradwalk import Tensor, ops

RNG = np.random.default_rng(11)
CUBE = RNG.normal(size=(2, 3, 4)) * 1.5  # beyond 1 and -1, too
GRID = RNG.normal(size=(3, 4))


def numbers(x: Any) -> list[Any]:
    """What was given back as arrays: of one tensor, or of several."""
    return [part.detach().numpy() for part in (x if isinstance(x, tuple) else (x,))]


METHODS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("flatten", "unbind", "tril", "triu", "diagonal", "sum", "mean", "var", "std", "norm", "max", "min", "amax",
         "amin", "argmax", "argmin", "argsort", "sort", "any", "all"),
        (),
    ),
    "split": (1,), "chunk": (2,), "topk": (2,), "logsumexp": (1,), "squeeze": (),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_given_nothing_more(name: str) -> None:
    given = METHODS[name]
    ours, theirs = (numbers(getattr(x, name)(*given)) for x in (Tensor(CUBE), torch.tensor(CUBE)))
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-12)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "diag": (lambda t: t(GRID).diag(), lambda: torch.tensor(GRID).diag()),
    "elu": (lambda t: t(CUBE).elu(), lambda: torch.nn.functional.elu(torch.tensor(CUBE))),
    "hardtanh": (lambda t: t(CUBE).hardtanh(), lambda: torch.nn.functional.hardtanh(torch.tensor(CUBE))),
    "arange": (lambda t: gradwalk.arange(3), lambda: torch.arange(3)),
    "arange from": (lambda t: gradwalk.arange(2, 5), lambda: torch.arange(2, 5)),
    "one_hot": (lambda t: gradwalk.one_hot([2, 0]), lambda: torch.nn.functional.one_hot(torch.tensor([2, 0]))),
    "pad": (lambda t: gradwalk.pad(t(GRID), (1, 2)), lambda: torch.nn.functional.pad(torch.tensor(GRID), (1, 2))),
    "conv1d": (
        lambda t: gradwalk.conv1d(t(CUBE), t(CUBE[:, :, :2])),
        lambda: torch.nn.functional.conv1d(torch.tensor(CUBE), torch.tensor(CUBE[:, :, :2])),
    ),
    "conv2d": (
        lambda t: gradwalk.conv2d(t(CUBE[None]), t(CUBE[None, :, :2, :2])),
        lambda: torch.nn.functional.conv2d(torch.tensor(CUBE[None]), torch.tensor(CUBE[None, :, :2, :2])),
    ),
    "linspace of one": (lambda t: gradwalk.linspace(2.0, 5.0, 1), lambda: torch.linspace(2.0, 5.0, 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_given_nothing_more(name: str) -> None:
    ours, theirs = FUNCTIONS[name]
    mine, other = ours(Tensor).numpy(), theirs().numpy()
    assert mine.shape == other.shape
    np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_how_near_is_near_unless_told() -> None:
    cases = {(0.0, 0.0): True, (0.0, 0.5): False, (0.0, 9e-9): True, (1.0, 1.5): False, (1e3, 1e3 + 9e-3): True}
    for (x, y), near in cases.items():
        assert gradwalk.allclose([x], [y]) is torch.allclose(torch.tensor([x]).double(), torch.tensor([y]).double())
        assert gradwalk.allclose([x], [y]) is near


def test_places_are_drawn_once_unless_told() -> None:
    assert sorted(gradwalk.multinomial([1.0] * 8, 8).tolist()) == list(range(8))


class Always(random.Random):
    """A source that always draws the same."""

    def __init__(self, drawn: float) -> None:
        super().__init__()
        self.drawn = drawn

    def random(self) -> float:
        """What it was made with."""
        return self.drawn


def test_a_place_is_drawn_by_where_its_share_lies() -> None:
    generator = gradwalk.Generator()
    for drawn, shares, place in (
        (0.0, [0.5, 0.5], 0), (0.49, [0.5, 0.5], 0), (0.5, [0.5, 0.5], 1), (0.0, [0.0, 1.0], 1), (1.0, [1.0, 0.0], 0),
    ):  # fmt: skip
        generator.source = Always(drawn)
        assert gradwalk.multinomial(shares, 1, generator=generator).tolist() == [place]


def test_a_tensor_that_is_asked_for_a_gradient_gets_one() -> None:
    assert Tensor([1.0], requires_grad=False).requires_grad_().requires_grad


def test_a_new_node_has_no_gradient_yet() -> None:
    """However it was made: by the quick roads for one operand and two, the general one, and from the right."""
    x, y = Tensor([[2.0]]), Tensor([[3.0]])
    whole = Tensor([[1]])
    for v in (x, x.exp(), x * y, x * 2.0, 2.0 * x, x @ y, x.maximum(y), x * whole, x.sum(), x[0], x.detach(), -x):
        assert v._grad == 0.0
        assert (v.grad == 0.0).all()


def test_a_condition_gets_nothing_at_any_order() -> None:
    for create_graph in (False, True):
        condition, x, y = Tensor([2.0]), Tensor([3.0]), Tensor([4.0])
        ops.where(condition, x, y).backward(create_graph=create_graph)
        assert [v.grad.item() for v in (condition, x, y)] == [0.0, 1.0, 0.0]


def test_padding_alone_cuts_nothing() -> None:
    x = Tensor([1.0, 2.0])
    assert gradwalk.pad(x, (1, 0)).inputs == (x,)
    assert gradwalk.pad(x, (1, -1)).tolist() == [0.0, 1.0]
    assert gradwalk.pad(Tensor([1.0, 2.0, 3.0]), (-1, -1)).tolist() == [2.0]


def test_a_gradient_that_is_set_is_the_number_that_was_given() -> None:
    x = Tensor(1.0)
    for given in (1.0, -1.0, 0, 2, 0.0):
        x.grad = given
        assert x.grad.item() == given
    row = Tensor([1.0, 2.0])
    row.grad = [1.0, 0.0]
    assert row.grad.tolist() == [1.0, 0.0]
    row.grad = 0
    assert row.grad.tolist() == [0.0, 0.0]


def test_shares_that_arrive_by_hand_are_added() -> None:
    x = Tensor([2.0, 3.0])
    y = x * x
    y.grad = [1.0, 10.0]
    y._backward()
    assert x.grad.tolist() == [4.0, 60.0]
    y._backward()
    assert x.grad.tolist() == [8.0, 120.0]
    condition = Tensor([1.0, 0.0])
    chosen = gradwalk.where(condition, x, 0.0)
    chosen.grad = [1.0, 1.0]
    chosen._backward()
    assert condition.grad.tolist() == [0.0, 0.0]
    assert x.grad.tolist() == [9.0, 120.0]


@pytest.mark.parametrize("p", [1, 2, 3, 0.5, float("inf")])
def test_a_norm_of_nothing_has_no_slope(p: float) -> None:
    x, t = Tensor([0.0, 0.0]), torch.zeros(2, dtype=torch.float64, requires_grad=True)
    x.norm(p).backward()
    t.norm(p).backward()
    assert t.grad is not None
    assert x.grad.tolist() == t.grad.tolist() == [0.0, 0.0]


def test_what_moves_nothing_makes_no_node() -> None:
    x, nothing = Tensor([1.0]), gradwalk.zeros(0)
    assert x.roll(1, 0) is x
    assert nothing.roll(1, 0) is nothing
    assert Tensor([1.0, 2.0]).roll(1, 0).tolist() == [2.0, 1.0]


def test_two_dtypes_become_pytorchs() -> None:
    names = ("bool", "int64", "float32", "float64")
    for (one, other), (m, n) in itertools.product(
        itertools.product(names, repeat=2), itertools.product((0, 1), repeat=2)
    ):
        if one == other == "bool":
            continue
        shapes = (1,) * m, (1,) * n
        mine = gradwalk.ones(shapes[0], dtype=one) * gradwalk.ones(shapes[1], dtype=other)
        theirs = torch.ones(shapes[0], dtype=getattr(torch, one)) * torch.ones(shapes[1], dtype=getattr(torch, other))
        assert mine.dtype == str(theirs.dtype).removeprefix("torch."), (one, other, m, n)
        joined = gradwalk.cat([gradwalk.ones(1, dtype=name) for name in (one, other)])
        assert joined.dtype == names[max(names.index(one), names.index(other))]
