"""Every method as PyTorch has it, where it is easily got wrong: defaults, negative dims, edges, no dims, no numbers."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from beside_torch import provider, same

import gradwalk
from gradwalk import Tensor, Value
from gradwalk.errors import GradwalkError

__all__ = ["provider"]
pytestmark = pytest.mark.usefixtures("provider")

INF, NAN = math.inf, math.nan
VECTOR = [3.0, -1.0, 2.0, -0.5]
CUBE = np.arange(24.0).reshape(2, 3, 4) % 7 - 2.5
#: What a case is called with; each has a tensor of its own for both.
GIVEN: dict[str, Any] = {
    "number": 3.0, "vector": VECTOR, "matrix": CUBE[0], "cube": CUBE, "one": [5.0], "none": np.zeros((0,)),
    "no rows": np.zeros((0, 3)), "no columns": np.zeros((3, 0)), "ints": [[3, -1, 2], [0, 5, 5]],
    "bools": [[True, False, False], [False, False, False]], "edges": [-1.0, 0.0, 1.0, 6.0, 7.0, -2.0, NAN],
    "single": [[[5.0]]], "infinite": [[1.0, INF], [-INF, -INF]],
}  # fmt: skip

#: Functions of a tensor that have the same words and numbers in PyTorch, by what they are given.
ALIKE: dict[str, list[Callable[[Any], Any]]] = {
    "number": [
        lambda x: x.sum(0), lambda x: x.sum(-1, keepdim=True), lambda x: x.max(0)[0], lambda x: x.max(0)[1],
        lambda x: x.argmax(), lambda x: x.argmax(0), lambda x: x.argmin(0, keepdim=True), lambda x: x.argsort(),
        lambda x: x.sort()[0], lambda x: x.sort()[1], lambda x: x.topk(1)[0], lambda x: x.topk(1)[1],
        lambda x: x.cumsum(0), lambda x: x.softmax(0), lambda x: x.softmax(-1), lambda x: x.log_softmax(0),
        lambda x: x.logsumexp(0), lambda x: x.expand(()), lambda x: x.expand(2, 3), lambda x: x.repeat(2),
        lambda x: x.repeat(()), lambda x: x.flatten(), lambda x: x.reshape(-1), lambda x: x.reshape(()),
        lambda x: x.transpose(0, -1), lambda x: x.permute(()), lambda x: x.squeeze(), lambda x: x.unsqueeze(-1),
        lambda x: x.roll(1), lambda x: x.any(), lambda x: x.all(), lambda x: x.norm(), lambda x: x.mean(),
        lambda x: x.var(unbiased=False), lambda x: x.T, lambda x: x.t(), lambda x: x.flip(()), lambda x: x.max(),
    ],
    "one": [
        lambda x: x.var(), lambda x: x.std(), lambda x: x.var(correction=0), lambda x: x.max(0)[0],
        lambda x: x.argmax(keepdim=True), lambda x: x.topk(0)[0], lambda x: x.squeeze(0), lambda x: x.diag(),
        lambda x: x.diag(-1), lambda x: x.item(), lambda x: len(x), lambda x: x.tolist(),
    ],
    "single": [
        lambda x: x.item(), lambda x: x.squeeze(), lambda x: x.squeeze(1), lambda x: x.squeeze((0, 2)),
        lambda x: x.expand(0, 2, 3), lambda x: x.expand(-1, 4, -1), lambda x: x.expand(2, -1, 1, 3),
    ],
    "vector": [
        lambda x: x.norm(3), lambda x: x.norm(0.5), lambda x: x.norm(INF), lambda x: x.norm(1), lambda x: x.norm(2.0),
        lambda x: x.var(correction=2), lambda x: x.std(correction=0), lambda x: x.var(unbiased=False),
        lambda x: x.chunk(4), lambda x: x[:0].chunk(3), lambda x: x.any(()),
        lambda x: (x > 0).all(dim=[]), lambda x: x.chunk(3), lambda x: x.chunk(1), lambda x: x.chunk(9),
        lambda x: x.split(1),
        lambda x: x.split(3), lambda x: x.split([0, 4]), lambda x: x.narrow(0, 0, 4), lambda x: x.narrow(-1, 4, 0),
        lambda x: x.narrow(0, 1, 2), lambda x: x.topk(4), lambda x: x.topk(2, largest=False), lambda x: x.topk(0),
        lambda x: x.sort(descending=True), lambda x: x.sort(), lambda x: x.argsort(descending=True),
        lambda x: x.argmin(), lambda x: x.argmin(0, True), lambda x: x.argmax(0, keepdim=True), lambda x: x.t(),
        lambda x: x.roll(1), lambda x: x.roll(-3), lambda x: x.roll(5, 0), lambda x: x.roll(4), lambda x: x.flip(0),
        lambda x: x.unflatten(0, (2, -1)), lambda x: x.unflatten(-1, (2, 2)), lambda x: x.diag(1), lambda x: x.min(),
        lambda x: x.min(0), lambda x: x.softmax(0), lambda x: x.cumsum(-1), lambda x: x.clamp(max=0.5),
        lambda x: x.clip(-0.75), lambda x: x.clip(0.0, 1.0), lambda x: x.count_nonzero(), lambda x: x.nonzero(),
        lambda x: (x > 0).nonzero(), lambda x: x.take(like(x)([3, 0])), lambda x: x.masked_select(x < 0),
        lambda x: x.log2(), lambda x: x.abs().log10(), lambda x: x.sum(axis=0), lambda x: x.select(0, -1),
        lambda x: x.select(-1, 1), lambda x: x.unbind(), lambda x: -x, lambda x: abs(x), lambda x: 3.0 in x,
        lambda x: 7.0 in x,
    ],
    "matrix": [
        lambda x: x.sum(1, keepdim=True), lambda x: x.sum((0, 1)), lambda x: x.sum(()), lambda x: x.mean((1, 0), True),
        lambda x: x.argmax(keepdim=True), lambda x: x.argmin(1, keepdim=True), lambda x: x.argmax(-2),
        lambda x: x.argmax(), lambda x: x.var(0, correction=0), lambda x: x.std(-1, keepdim=True),
        lambda x: x.norm(dim=(0, 1)), lambda x: x.norm(INF, 1), lambda x: x.norm(4, dim=0, keepdim=True),
        lambda x: x.max(1, keepdim=True), lambda x: x.min(-1), lambda x: x.amax(),
        lambda x: x.amin((0, 1), keepdim=True), lambda x: x.logsumexp((0, 1)), lambda x: x.logsumexp(0, keepdim=True),
        lambda x: x.softmax(dim=0), lambda x: x.tril(), lambda x: x.tril(-1), lambda x: x.triu(), lambda x: x.triu(2),
        lambda x: x.diagonal(1), lambda x: x.diag(-1), lambda x: x.trace(), lambda x: x.sort(0), lambda x: x.argsort(),
        lambda x: x.topk(2), lambda x: x.topk(1, 0), lambda x: x.cumsum(0),
        lambda x: x.gather(1, like(x)([[0], [3], [1]])), lambda x: x.gather(0, like(x)([[2, 0], [0, 1]])),
        lambda x: x.index_select(1, like(x)([3, 3])), lambda x: x.flatten(0, 0), lambda x: x.flatten(1, 1),
        lambda x: x.repeat(2, 0), lambda x: x.repeat(1, 2, 3), lambda x: x.roll((1, -1), (0, 1)),
        lambda x: x.roll(2, -1), lambda x: x.flip(1), lambda x: x.flip(-2), lambda x: x.chunk(2, 1),
        lambda x: x.split(3, 1), lambda x: x.split(2, -1), lambda x: x.split([1, 2], 0), lambda x: x.unbind(1),
        lambda x: x.nonzero(), lambda x: (x > 0).any(0), lambda x: (x > 2).any(), lambda x: (x > 9).any(),
        lambda x: (x > 0).all(1, keepdim=True), lambda x: (x > -9).all(), lambda x: (x > 3).any(1, keepdim=True),
        lambda x: x.count_nonzero(0), lambda x: x.count_nonzero(), lambda x: x.size(), lambda x: x.size(-1),
        lambda x: x.numel(), lambda x: len(x), lambda x: [len(row) for row in x], lambda x: x.where(x > 0, x * 2),
        lambda x: x.masked_fill(x > 0, -1.0), lambda x: x.max(x * x), lambda x: x.min(-x), lambda x: x.narrow(1, 1, 3),
        lambda x: x.select(1, 2), lambda x: x.expand(2, -1, -1), lambda x: x.clone(), lambda x: x.view_as(x.T),
        lambda x: x[:1].expand_as(x), lambda x: x.t(), lambda x: x.T, lambda x: x.mT,
    ],
    "cube": [
        lambda x: x.mT, lambda x: x.flatten(0, 1), lambda x: x.flatten(1), lambda x: x.flatten(-2),
        lambda x: x.transpose(0, 2), lambda x: x.unflatten(1, (3, 1)), lambda x: x.unflatten(-1, (2, 2)),
        lambda x: x.diagonal(), lambda x: x.diagonal(-1), lambda x: x.tril(), lambda x: x.triu(1),
        lambda x: x.sum((0, 2)), lambda x: x.sum((0, 2), keepdim=True), lambda x: x.mean(1), lambda x: x.var((0, 1)),
        lambda x: x.amax((1, 2)), lambda x: x.argmax(1), lambda x: x.argmax(0), lambda x: x.argmin(-1, keepdim=True),
        lambda x: x.max(1), lambda x: x.min(0, keepdim=True), lambda x: x.sort(1),
        lambda x: x.argsort(0, descending=True), lambda x: x.topk(2, 1), lambda x: x.cumsum(1),
        lambda x: x.roll((1, 2), (2, 0)), lambda x: x.squeeze(), lambda x: x.unsqueeze(1),
        lambda x: x.permute(-1, 0, 1), lambda x: x.repeat(1, 2, 1), lambda x: x.logsumexp((0, 2)),
        lambda x: x.log_softmax(1), lambda x: x.softmax(-2), lambda x: x.norm(dim=(0, 2)),
        lambda x: x.gather(2, like(x)([[[1, 0]] * 3] * 2)), lambda x: x.index_select(-1, like(x)([0])),
        lambda x: x.unbind(-1), lambda x: x.narrow(1, 1, 2), lambda x: x.reshape(-1, 6), lambda x: x.view(4, -1, 2),
        lambda x: (x > 0).all((0, 2)), lambda x: (x > 3).any(2), lambda x: x.flip((0, 2)), lambda x: x.split(2, 2),
    ],
    "none": [
        lambda x: x.sum(), lambda x: x.var(), lambda x: x.norm(), lambda x: x.logsumexp(0), lambda x: x.softmax(0),
        lambda x: x.split(2), lambda x: x.roll(1), lambda x: x.flip(0), lambda x: x.any(), lambda x: x.all(),
        lambda x: x.cumsum(0), lambda x: x.sort()[0], lambda x: x.reshape(0, 3), lambda x: x.repeat(3), lambda x: x.T,
        lambda x: x.unsqueeze(0), lambda x: x.nonzero(), lambda x: x.topk(0)[0], lambda x: x.tolist(),
    ],
    "no rows": [
        lambda x: x.sum(0), lambda x: x.sum(1), lambda x: x.softmax(1), lambda x: x.softmax(0), lambda x: x.amax(1),
        lambda x: x.reshape(-1, 3), lambda x: x.T, lambda x: x.flatten(), lambda x: x.cumsum(1), lambda x: x.argmax(1),
        lambda x: x.mean(1), lambda x: x.tril(), lambda x: x.any(0), lambda x: x.all(1), lambda x: x.sort(1)[1],
    ],
    "no columns": [lambda x: x.sum(1), lambda x: x.logsumexp(1), lambda x: x.sum(1, keepdim=True), lambda x: x.T,
                   lambda x: x.cumsum(1), lambda x: x.argsort(1), lambda x: x.tolist(), lambda x: x.repeat(2, 1)],
    "ints": [
        lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.max(), lambda x: x.max(1), lambda x: x.argmax(),
        lambda x: x.argmin(1), lambda x: x.tril(), lambda x: x.triu(1), lambda x: x.clip(0, 3), lambda x: x.clip(max=2),
        lambda x: x.clamp(min=1), lambda x: x.cumsum(1), lambda x: x.clone(), lambda x: x.sort(1), lambda x: x.sign(),
        lambda x: x + 1, lambda x: x * x, lambda x: x / 2, lambda x: x // 2, lambda x: x % 3, lambda x: x**2,
        lambda x: -x, lambda x: abs(x), lambda x: x.float(), lambda x: x.double(), lambda x: x.bool(),
        lambda x: x.long(), lambda x: x & 1, lambda x: x | 4, lambda x: x ^ 1, lambda x: x > 1, lambda x: x == 5,
        lambda x: x != 5, lambda x: x.eq(5), lambda x: x.exp(), lambda x: x.count_nonzero(1), lambda x: x.nonzero(),
        lambda x: x.any(1), lambda x: x.all(1), lambda x: x.roll(1, 1), lambda x: x.relu(),
    ],
    "bools": [
        lambda x: x.sum(), lambda x: x.sum(1), lambda x: x.any(), lambda x: x.all(), lambda x: x.any(1),
        lambda x: x.all(0), lambda x: ~x, lambda x: x & True, lambda x: x | True, lambda x: x ^ x, lambda x: x.long(),
        lambda x: x.float(), lambda x: x.cumsum(0), lambda x: x.count_nonzero(), lambda x: x.nonzero(),
        lambda x: x == (0 > 1), lambda x: x.T, lambda x: x.clone(), lambda x: x.any(1, keepdim=True), lambda x: x * 2,
        lambda x: x + 1.5, lambda x: x / 2,
    ],
    "edges": [
        lambda x: x.isnan(), lambda x: x.isinf(), lambda x: x.isfinite(), lambda x: x.floor(), lambda x: x.ceil(),
        lambda x: (x / 4).round(), lambda x: (x * 0.75).trunc(), lambda x: x.max(), lambda x: x.argmax(),
        lambda x: x.argmin(), lambda x: x.sort()[0], lambda x: x.argsort(), lambda x: x.argsort(descending=True),
        lambda x: x.relu(), lambda x: x.any(), lambda x: x.all(), lambda x: x.clip(-1.0, 6.0), lambda x: x != x,
        lambda x: (x == 1) | (x > 6), lambda x: x.topk(3),
    ],
    "infinite": [lambda x: x.logsumexp(1), lambda x: x.logsumexp(0), lambda x: x.isinf(), lambda x: x.sign(),
                 lambda x: x.amax(1), lambda x: x.sum(1), lambda x: x.norm(INF)],
}  # fmt: skip
#: Methods here that are functions there.
FUNCTIONS: dict[str, list[tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "vector": [
        (lambda x: x.elu(), torch.nn.functional.elu), (lambda x: x.elu(0.5), lambda t: torch.nn.functional.elu(t, 0.5)),
        (lambda x: x.mean(keepdim=True), lambda t: t.mean(0, keepdim=True)),
        (lambda x: x.sum(keepdim=True), lambda t: t.sum(0, keepdim=True)),
        (lambda x: x.sum(keepdims=True), lambda t: t.sum(0, keepdim=True)),
        (lambda x: x.cumsum(axis=0), lambda t: t.cumsum(0)), (lambda x: x.softmax(), lambda t: t.softmax(0)),
        (lambda x: x.max(axis=0), lambda t: t.max(0)),
        (lambda x: x.gelu("tanh"), lambda t: torch.nn.functional.gelu(t, approximate="tanh")),
        (lambda x: x.gather(0, []), lambda t: t.gather(0, torch.zeros(0, dtype=torch.long))),
    ],
    "number": [(lambda x: x.softmax(), lambda t: t.softmax(0)), (lambda x: x.gather(0, 0), lambda t: t * 1)],
    "edges": [
        (lambda x: x.hardtanh(), torch.nn.functional.hardtanh), (lambda x: x.relu6(), torch.nn.functional.relu6),
        (lambda x: x.softsign(), torch.nn.functional.softsign), (lambda x: x.mish(), torch.nn.functional.mish),
        (lambda x: x.gelu(), torch.nn.functional.gelu), (lambda x: x.silu(), torch.nn.functional.silu),
        (lambda x: x.leaky_relu(), torch.nn.functional.leaky_relu),
    ],
}  # fmt: skip


def like(x: Any) -> Any:
    """What makes a tensor of the same kind."""
    return Tensor if isinstance(x, Tensor) else torch.tensor


def both(f: Callable[[Any], Any], g: Callable[[Any], Any], given: Any, what: str) -> None:
    """Values of both, and their gradients where gradient flows."""
    floats = np.asarray(given).dtype.kind == "f"
    x, t = Tensor(given), torch.tensor(given, requires_grad=floats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, of what will change there
        out, want = f(x), g(t)
    same(out, want, what)
    for one, other in zip(parts(out), parts(want), strict=True):
        if other.requires_grad and not one.requires_grad:  # of steps: nothing flows here, and only zeros there
            assert not torch.autograd.grad(other.sum(), t, retain_graph=True)[0].any(), what
        elif other.requires_grad:
            weights = np.cos(np.arange(other.numel())).reshape(tuple(other.shape))
            x.zero_grad()
            t.grad = None
            one.backward(weights)
            other.backward(torch.tensor(weights), retain_graph=True)
            same(x.grad, t.grad, f"the gradient of {what}")


def parts(found: Any) -> list[Any]:
    """The tensors that a method gave."""
    if isinstance(found, (Tensor, torch.Tensor)):
        return [found]
    return [part for part in found if isinstance(part, (Tensor, torch.Tensor))] if isinstance(found, tuple) else []


@pytest.mark.parametrize("name", GIVEN)
def test_methods_give_pytorchs_numbers_and_gradients(name: str) -> None:
    cases = [(f, f) for f in ALIKE[name]] + FUNCTIONS.get(name, [])
    for f, g in cases:
        both(f, g, GIVEN[name], f"{f.__code__.co_names} of {name}")


# --- what is refused, and in which words -----------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "t of three dims": (lambda: Tensor(CUBE).t(), r"t\(\) is for matrices, .* \(2, 3, 4\); use transpose"),
    "flatten backwards": (lambda: Tensor(CUBE).flatten(2, 1), "from one dim to a later one, and was given 2 and 1"),
    "permute some": (lambda: Tensor(CUBE).permute(0, 1), r"each dim once, and was given \(0, 1\) for shape"),
    "expand loses": (lambda: Tensor(CUBE).expand(3, 4), r"expand to \(3, 4\) would lose dims of shape \(2, 3, 4\)"),
    "expand 2 to 3": (lambda: Tensor(CUBE).expand(3, 3, 4), "dim 0 has size 2, and only 1 can be repeated"),
    "expand -1 in front": (lambda: Tensor([1.0]).expand(-1, 1), r"\(-1, 1\): -1 keeps a dim that is there"),
    "repeat loses": (lambda: Tensor(CUBE).repeat(2, 2), r"each dim of \(2, 3, 4\), and was given \(2, 2\)"),
    "repeat -1": (lambda: Tensor([1.0]).repeat(-1), r"each dim of \(1,\), and was given \(-1,\)"),
    "roll by two": (lambda: Tensor(CUBE).roll((1, 2), 0), r"a shift for each dim, and was given \(1, 2\) and 0"),
    "split 0": (lambda: Tensor([1.0]).split(0), "split takes parts of at least 1, not 0"),
    "split sizes": (lambda: Tensor([1.0]).split([1, 1]),
        r"split into \[1, 1\] makes 2, and dim 0 of shape \(1,\) has 1"),
    "split a number": (lambda: Tensor(1.0).split(1), "split takes a tensor of at least one dim"),
    "chunk 0": (lambda: Tensor([1.0]).chunk(0), "chunk takes at least 1 part, not 0"),
    "narrow beyond": (lambda: Tensor([1.0, 2.0]).narrow(0, 1, 2), r"from 1, 2 long, leaves dim 0 of shape \(2,\)"),
    "narrow before": (lambda: Tensor([1.0, 2.0]).narrow(0, -1, 1), "narrow from -1, 1 long"),
    "narrow by -1": (lambda: Tensor([1.0, 2.0]).narrow(0, 1, -1), "narrow from 1, -1 long"),
    "written": (lambda: Tensor([1.0]).__setitem__(0, 2.0), r"through \.data: t\.data\[i\] = v"),
    "put shape": (lambda: Tensor([1.0, 2.0]).put(0, [1.0, 2.0]), r"shape \(2,\) for places of shape \(\)"),
    "gather dims": (lambda: Tensor([[1.0]]).gather(0, [0]), r"an index of 2 dims, .* given shape \(1,\)"),
    "gather large": (lambda: Tensor([[1.0]]).gather(0, [[0, 0]]), r"\(1, 2\), larger than \(1, 1\) in dim 1"),
    "gather floats": (lambda: Tensor([1.0]).gather(0, [0.0]), "places in whole numbers, and was given float64"),
    "tril": (lambda: Tensor([1.0]).tril(), r"tril is for matrices, and this tensor has shape \(1,\)"),
    "max of dims": (lambda: Tensor(CUBE).max((0, 1)), "over several dims use amax"),
    "argmax of none": (lambda: Tensor([]).argmax(), r"argmax of shape \(0,\): of no numbers none is the first"),
    "topk -1": (lambda: Tensor([1.0]).topk(-1), r"topk was asked for -1 along dim 0 of shape \(1,\)"),
    "topk 2 of a number": (lambda: Tensor(1.0).topk(2), r"topk was asked for 2 along dim 0 of shape \(\)"),
    "cumsum": (lambda: Tensor([1.0]).cumsum(), r"needs a dim to run along, as in cumsum\(0\)"),
    "norm 0": (lambda: Tensor([1.0]).norm(0), "a number above 0 or inf, not 0"),
    "norm of text": (lambda: Tensor([1.0]).norm("nuc"), "a number above 0 or inf, not 'nuc'"),
    "clip": (lambda: Tensor([1.0]).clip(), "a lower bound, an upper bound or both, and was given none"),
    "gelu": (lambda: Tensor([1.0]).gelu("no"), "approximate='none' or 'tanh', not 'no'"),
    "unbiased": (lambda: Tensor([1.0]).var(0, 1), "unbiased=1, which is True or False"),  # type: ignore[arg-type]
    "bound": (lambda: Tensor([1.0]).hardtanh("a"),  # type: ignore[arg-type]
              "hardtanh takes one number as min_val, not str"),
    "two -1": (lambda: Tensor(CUBE).reshape(-1, -1), r"one -1, and \(-1, -1\) cannot be worked out"),
    "-2": (lambda: Tensor(CUBE).reshape(-2, 12), r"\(-2, 12\) cannot be worked out"),
    "0 times what": (lambda: gradwalk.zeros(0).reshape(0, -1), "0 is no multiple of 0"),
    "too few": (lambda: Tensor([1.0]).reshape(2), r"1 numbers of shape \(1,\) do not fit \(2,\), which holds 2"),
    "view_as": (lambda: Tensor([1.0]).view_as(3), "takes a tensor, for its shape, not int: 3"),
    "xor of floats": (lambda: Tensor([1.0]) & Tensor([1.0]),
        "& is for bools and ints, and was given float64 and float64"),
    "bools": (lambda: Tensor([True]) + Tensor([True]), "add of bools is not a number"),
    "a mask of one": (lambda: Tensor([1.0])[True], "True alone is no index"),
    "a step": (lambda: Tensor([1.0])[::0], "step of 0"),
    "a slice": (lambda: Tensor([1.0])["a":], "a slice holds whole numbers"),
    "none there": (lambda: gradwalk.zeros(0)[0], "dim 0 of shape .0,.: there are none"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, text = REFUSED[name]
    with pytest.raises(GradwalkError, match=text):
        call()


def test_a_computed_tensor_is_not_told_to_write_to_its_data() -> None:
    with pytest.raises(GradwalkError) as error:
        Tensor([1.0]).exp()[0] = 2.0
    assert ".data" not in str(error.value)


# --- a tensor as Python sees it --------------------------------------------------------------------------------------


def test_pythons_own_functions() -> None:
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert (len(x), [row.tolist() for row in x]) == (2, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for f in (len, iter):
        with pytest.raises(TypeError, match="a tensor of no dims is one number"):
            f(Tensor(1.0))
    assert bool(Tensor([[2.0]]))
    assert not Tensor(0.0)
    assert (int(Tensor([2.7])), operator.index(Tensor([3]))) == (2, 3)
    for wrong in (Tensor([1, 2]), Tensor([1.0]), Tensor([1.0, 2.0])):
        with pytest.raises(TypeError, match="only a tensor of one int can be an index"):
            operator.index(wrong)
    assert f"{Tensor(2.5):.2f} {Tensor([1.0])}" == "2.50 Tensor([1.0])"
    assert [np.asarray(Tensor([1.0], dtype=name)).dtype.name for name in ("float32", "float64")] == [
        "float32",
        "float64",
    ]
    assert np.asarray(Tensor([1.5]), dtype="int64").tolist() == [1]
    assert Tensor([1.0], False).requires_grad_().requires_grad
    assert not Tensor([1.0]).requires_grad_(False).requires_grad
    assert Tensor([1.0]).to("cpu").dtype == "float64"
    assert Tensor([[1.0], [-math.inf]]).first_not_finite() == (-math.inf, (1, 0))
    assert Tensor(math.inf).first_not_finite() == (math.inf, ())
    assert [Tensor(given).first_not_finite() for given in (1.0, [1.0], [1], [])] == [None] * 4


def test_put_takes_values_numbers_and_tensors() -> None:
    a, x = Value(3.0), Tensor([[1.0, 2.0], [3.0, 4.0]])
    out = x.put((0, 1), a)
    (out * out).sum().backward()
    assert (out.tolist(), a.grad, x.grad.tolist()) == ([[1.0, 3.0], [3.0, 4.0]], 6.0, [[2.0, 0.0], [6.0, 8.0]])
    assert x.put((slice(None), 0), Tensor([7, 8])).tolist() == [[7.0, 2.0], [8.0, 4.0]]
    assert x.put(x > 2.5, 0.0).tolist() == [[1.0, 2.0], [0.0, 0.0]]


def test_what_is_composed_has_gradient_0_where_its_length_is_0() -> None:
    functions: list[Callable[[Any], Any]] = [
        lambda x: x.norm(), lambda x: x.std(), lambda x: x.norm(3), lambda x: x.norm(0.5),
    ]  # fmt: skip
    for f in functions:
        x = Tensor([0.0, 0.0])
        length = f(x)
        length.backward(create_graph=True)
        assert (length.item(), x.grad.tolist()) == (0.0, [0.0, 0.0])


@pytest.mark.parametrize("p", [0.5, 1, 2, 3, INF])
def test_a_norm_with_nan_in_it_is_nan(p: float) -> None:
    assert math.isnan(Tensor([1.0, math.nan, 0.0]).norm(p).item())
