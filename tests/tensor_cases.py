"""Functions of tensors that every provider must agree on with PyTorch: one list, drawn on by many tests.

A case is a function of a namespace (`gradwalk` or `torch`) and of tensors, with the shapes of these. The words used are
those that both have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Shape = tuple[int, ...]


class Case(NamedTuple):
    """`f(g, *tensors)` for tensors of these shapes; `g` is gradwalk or torch."""

    name: str
    f: Callable[..., Any]
    shapes: tuple[Shape, ...]
    positive: bool = False


def case(name: str, f: Callable[..., Any], *shapes: Shape, positive: bool = False) -> Case:
    return Case(name, f, shapes, positive)


CASES = [
    # broadcasting
    *(
        case(f"{name} {x} {y}", f, x, y, positive=name in ("div", "pow"))
        for name, f in {
            "add": lambda g, x, y: x + y,
            "sub": lambda g, x, y: x - y,
            "mul": lambda g, x, y: x * y,
            "div": lambda g, x, y: x / y,
            "pow": lambda g, x, y: x**y,
            "maximum": lambda g, x, y: g.maximum(x, y),
            "minimum": lambda g, x, y: g.minimum(x, y),
            "where": lambda g, x, y: g.where(x > 0.1, x * y, y),
        }.items()
        for x, y in [
            ((2, 3), (2, 3)),
            ((2, 3), (3,)),
            ((2, 1), (1, 3)),
            ((), (2, 2)),
            ((4, 1, 2), (3, 1)),
            ((0, 3), (3,)),
            ((1,), ()),
        ]
    ),
    case(
        "numbers on both sides",
        lambda g, x: 2 - x + 3 * x / 4 - 1 / (x * x + 1) + (x * x + 1) ** 0.5 + x**2 + 2.0**x,
        (2, 3),
    ),
    case("neg abs", lambda g, x: -x + abs(x), (3, 2)),
    # reductions
    case("sum", lambda g, x: x.sum(), (2, 3)),
    case("sum 0-d", lambda g, x: x.sum(), ()),
    case("sum empty", lambda g, x: x.sum(1), (2, 0)),
    case("sum dim", lambda g, x: x.sum(1), (2, 3)),
    case("sum axis", lambda g, x: x.sum(axis=0, keepdim=True), (2, 3)),
    case("sum dims", lambda g, x: x.sum((0, -1)), (2, 3, 4)),
    case("mean", lambda g, x: x.mean(), (2, 3)),
    case("mean dim", lambda g, x: x.mean(-1, keepdim=True), (2, 3)),
    case("var", lambda g, x: x.var(), (2, 3)),
    case("var dim", lambda g, x: x.var(0, keepdim=True, unbiased=True), (4, 3)),
    case("var biased", lambda g, x: x.var(1, unbiased=False), (4, 3)),
    case("std", lambda g, x: x.std(1), (4, 3)),
    case("norm", lambda g, x: x.norm(), (4, 3)),
    case("norm dim", lambda g, x: x.norm(dim=1), (4, 3)),
    case("norm 3", lambda g, x: x.norm(3), (4, 3)),
    case("norm 1", lambda g, x: x.norm(1, dim=0, keepdim=True), (4, 3)),
    case("max", lambda g, x: x.max(), (4, 3)),
    case("max dim", lambda g, x: x.max(1).values, (4, 3)),
    case("max keepdim", lambda g, x: x.max(0, keepdim=True)[0], (4, 3)),
    case("min dim", lambda g, x: x.min(1)[0], (4, 3)),
    case("min", lambda g, x: x.min(), (4, 3)),
    case("amax", lambda g, x: x.amax((0, 2)), (2, 3, 4)),
    case("amin", lambda g, x: x.amin(1, keepdim=True), (2, 3)),
    case("logsumexp", lambda g, x: x.logsumexp(1), (2, 3)),
    case("softmax", lambda g, x: x.softmax(-1), (2, 3)),
    case("softmax function", lambda g, x: g.softmax(x, dim=0), (2, 3)),
    case("log_softmax", lambda g, x: x.log_softmax(1), (2, 3)),
    case("cumsum", lambda g, x: x.cumsum(1), (2, 3)),
    case("cumsum 0", lambda g, x: x.cumsum(0), (4, 2)),
    case("topk", lambda g, x: x.topk(2, dim=1).values, (3, 4)),
    case("sort", lambda g, x: x.sort(dim=0, descending=True)[0], (3, 4)),
    # products
    *(
        case(f"matmul {x} {y}", lambda g, x, y: x @ y, x, y)
        for x, y in [
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((5, 2, 3), (5, 3, 4)),
            ((5, 2, 3), (3, 4)),
            ((2, 3), (5, 3, 4)),
            ((3,), (5, 3, 4)),
            ((5, 2, 3), (3,)),
            ((1, 2, 3), (5, 3, 4)),
            ((2, 1, 2, 3), (4, 3, 2)),
            ((0, 3), (3, 4)),
            ((2, 0), (0, 4)),
            ((1, 1), (1, 1)),
        ]
    ),
    *(
        case(f"einsum {spec}", lambda g, *xs, spec=spec: g.einsum(spec, *xs), *shapes)
        for spec, shapes in {
            "ij,jk->ik": ((2, 3), (3, 4)),
            "ij,jk": ((2, 3), (3, 4)),
            "ij->ji": ((2, 3),),
            "ij->": ((2, 3),),
            "ij->j": ((2, 3),),
            "ii->i": ((3, 3),),
            "ii": ((3, 3),),
            "i,j->ij": ((2,), (3,)),
            "bij,bjk->bik": ((2, 3, 4), (2, 4, 2)),
            "bhqd,bhkd->bhqk": ((2, 2, 3, 2), (2, 2, 3, 2)),
            "...ij,jk->...ik": ((2, 3, 4), (4, 2)),
            "ij,ij,ij->i": ((2, 3),) * 3,
            "i,i": ((3,), (3,)),
            "ij,kj->": ((2, 3), (2, 3)),
            "iij->j": ((2, 2, 3),),
        }.items()
    ),
    # shapes
    case("reshape", lambda g, x: x.reshape(3, -1) * x.view(3, 4), (2, 6)),
    case("permute", lambda g, x: x.permute(2, 0, 1).sin(), (2, 3, 4)),
    case("transpose", lambda g, x: x.transpose(0, -1).exp(), (2, 3, 4)),
    case("T", lambda g, x: x.T @ x, (2, 3)),
    case("expand", lambda g, x: x.expand(4, -1, 3).tanh(), (2, 1)),
    case("squeeze", lambda g, x: x.squeeze().exp() + x.squeeze(1).sum(), (2, 1, 3)),
    case("unsqueeze", lambda g, x: x.unsqueeze(-1) * x.unsqueeze(0), (3,)),
    case("flatten", lambda g, x: x.flatten(1).tanh(), (2, 3, 4)),
    case("repeat", lambda g, x: x.repeat(2, 3, 1).sin(), (2, 3)),
    case("roll", lambda g, x: x.roll(1, 0) * x, (3, 2)),
    case("roll all", lambda g, x: x.roll(2) * x, (3, 2)),
    case("flip", lambda g, x: x.flip(0, 1) * x, (3, 2)),
    case("split", lambda g, x: x.split(2, 1)[0] * x.split(2, 1)[1], (3, 4)),
    case("split sizes", lambda g, x: x.split([1, 3], 1)[1].exp(), (3, 4)),
    case("chunk", lambda g, x: x.chunk(3, 1)[1].exp(), (3, 4)),
    case("unbind", lambda g, x: x.unbind(1)[1].exp(), (3, 4)),
    case("cat", lambda g, x, y: g.cat([x, y, x], dim=1).sin(), (2, 3), (2, 1)),
    case("stack", lambda g, x, y: g.stack([x, y, x], dim=1).sin(), (2, 3), (2, 3)),
    case("tril", lambda g, x: x.tril().exp() + x.triu(1), (3, 4)),
    case("diag", lambda g, x: x.diagonal().exp(), (3, 4)),
    # indexing
    case("int", lambda g, x: x[1].exp(), (3, 4)),
    case("ints", lambda g, x: x[1, -1].exp(), (3, 4)),
    case("slice", lambda g, x: x[1:, ::2].exp(), (3, 4)),
    case("none", lambda g, x: (x[:, None] * x[None]).exp(), (3, 2)),
    case("dots", lambda g, x: x[..., 0].exp(), (3, 4, 2)),
    case("list", lambda g, x: x[[0, 2, 0]].exp(), (3, 4)),
    case("two lists", lambda g, x: x[[0, 2, 0], [1, 1, 1]].exp(), (3, 4)),
    case("range and labels", lambda g, x: x[range(3), [0, 3, 1]].exp(), (3, 4)),
    case("matrix of ints", lambda g, x: x[g.tensor([[0, 1, 1], [2, 0, 2]])].exp(), (3, 4)),
    case("mask", lambda g, x: x[x > 0].exp(), (3, 4)),
    case("mask of a dim", lambda g, x: x[:, [True, False, True, True]].exp(), (3, 4)),
    case("int slice list", lambda g, x: x[0, :, [1, 2]].exp(), (2, 3, 4)),
    case("list slice list", lambda g, x: x[[0, 1], :, [1, 2]].exp(), (2, 3, 4)),
    case("slice list list", lambda g, x: x[:, [0, 1], [1, 2]].exp(), (2, 3, 4)),
    case("slice list int", lambda g, x: x[:, [0, 2, 1], 1].exp(), (2, 3, 4)),
    case("list none list", lambda g, x: x[[0, 1], None, [1, 2]].exp(), (2, 3, 4)),
    case("list int list", lambda g, x: x[[0, 1], 0, [1, 2]].exp(), (2, 3, 4)),
    case("gather", lambda g, x: x.gather(1, g.tensor([[0, 0], [3, 1], [2, 2]])).exp(), (3, 4)),
    case("index_select", lambda g, x: x.index_select(1, g.tensor([2, 0, 2])).exp(), (3, 4)),
    case("masked_fill", lambda g, x: x.masked_fill(x > 0.2, 5.0) * x, (3, 4)),
    # number by number
    case("silu", lambda g, x: g.nn.functional.silu(x), (3, 4)),
    case("gelu", lambda g, x: g.nn.functional.gelu(x), (3, 4)),
    case("gelu tanh", lambda g, x: g.nn.functional.gelu(x, approximate="tanh"), (3, 4)),
    case("elu", lambda g, x: g.nn.functional.elu(x, 0.7), (3, 4)),
    case("relu6", lambda g, x: g.nn.functional.relu6(10 * x), (3, 4)),
    case("hardtanh", lambda g, x: g.nn.functional.hardtanh(3 * x), (3, 4)),
    case("softsign", lambda g, x: g.nn.functional.softsign(x), (3, 4)),
    case("mish", lambda g, x: g.nn.functional.mish(x), (3, 4)),
    case("clip", lambda g, x: x.clip(-0.3, 0.4) + x.clamp(min=0.1), (3, 4)),
    case("square", lambda g, x: x.square() + (x * x + 1).rsqrt() + (x * x + 1).reciprocal(), (3, 4)),
    case("logs", lambda g, x: x.log2() + x.log10(), (3, 4), positive=True),
    # losses and layers
    case("cross_entropy", lambda g, x: g.nn.functional.cross_entropy(x, g.tensor([0, 3, 1])), (3, 4)),
    case("cross_entropy shares", lambda g, x, y: g.nn.functional.cross_entropy(x, y.softmax(1)), (3, 4), (3, 4)),
    case("pad", lambda g, x: g.nn.functional.pad(x, (1, 2, 0, 1)).exp(), (2, 3)),
    case("pad cuts", lambda g, x: g.nn.functional.pad(x, (-1, 2)).exp(), (2, 3)),
    case("conv1d", lambda g, x, w, b: g.nn.functional.conv1d(x, w, b, stride=2, padding=1), (2, 3, 7), (4, 3, 3), (4,)),
    case("conv2d", lambda g, x, w, b: g.nn.functional.conv2d(x, w, b, padding=1), (2, 2, 4, 5), (3, 2, 3, 2), (3,)),
    case("conv2d stride", lambda g, x, w: g.nn.functional.conv2d(x, w, stride=2), (1, 1, 5, 5), (2, 1, 2, 2)),
    case("max_pool2d", lambda g, x: g.nn.functional.max_pool2d(x, 2), (2, 1, 4, 4)),
    case("max_pool1d", lambda g, x: g.nn.functional.max_pool1d(x, 3, 1), (2, 1, 6)),
    case("avg_pool2d", lambda g, x: g.nn.functional.avg_pool2d(x, 2), (2, 1, 4, 4)),
    case("one_hot", lambda g, x: g.nn.functional.one_hot(g.tensor([0, 2, 1]), 3).double() @ x, (3, 4)),
]
