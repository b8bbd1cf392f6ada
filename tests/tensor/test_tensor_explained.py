"""`explain` for single numbers of tensors: the paths, and sums that are what backward() gives."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import gradwalk
from gradwalk import Tensor, Value
from gradwalk.errors import BackwardError, GraphError


def paths_of(root: Any, leaf: Any, index: Any) -> Any:
    (found,) = gradwalk.explain(root, leaf, index=index).leaves
    return found


def networks() -> dict[str, Any]:
    x = Tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], label="x")
    w = Tensor([[0.5, -1.0], [0.75, 0.1], [-0.3, 2.0]], label="w")
    return {
        "matmul": (lambda: (x @ w).tanh().sum(), x, w),
        "twice": (lambda: (x * x * x[0]).mean(), x),
        "softmax": (lambda: gradwalk.cross_entropy(x, [2, 0]), x),
        "max": (lambda: (x.max(dim=1).values * x.amax()).sum(), x),
        "norm": (lambda: ((x - x.mean(dim=0)) / (x.var(dim=0) + 1e-5).sqrt()).pow(3).sum(), x),
        "shapes": (lambda: gradwalk.cat([x.T.reshape(2, 3), x[[1, 1, 0]]]).cumsum(0).exp().sum(), x),
        "einsum": (lambda: gradwalk.einsum("ij,jk->k", x, w).sin().sum(), x, w),
        "where": (lambda: gradwalk.where(x > 0, x.log(), x * 3).sum(), x),
    }  # fmt: skip


@pytest.mark.parametrize("name", networks())
def test_paths_add_up_to_what_backward_gives(name: str) -> None:
    make, *leaves = networks()[name]
    loss = make()
    loss.backward()
    for leaf in leaves:
        for place in product(*map(range, leaf.shape)):
            found = paths_of(loss, leaf, place)
            wanted = leaf.grad[place].item()
            assert found.gradient == pytest.approx(wanted, rel=1e-12, abs=1e-12)
            if found.paths:
                assert sum(path.contribution for path in found.paths) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_a_matmul_opens_into_its_products() -> None:
    X = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=False)
    W = Tensor([[5.0, 6.0], [7.0, 8.0]], label="W")
    assert str(gradwalk.explain((X @ W).sum(), W, index=(1, 0))).splitlines() == [
        "W[1, 0].grad = 6: through (@[0, 0] → W[1, 0] × 2) 2 + through (@[1, 0] → W[1, 0] × 4) 4 = 6",
        "  sum → @[0, 0] → W[1, 0] × 2 → W[1, 0]: 1 × 1 × 2 = 2",
        "  sum → @[1, 0] → W[1, 0] × 4 → W[1, 0]: 1 × 1 × 4 = 4",
    ]


def test_all_numbers_of_a_leaf_of_all_leaves_and_of_what_lies_between() -> None:
    x = Tensor([1.0, 2.0, 3.0], label="x")
    h = x.exp()
    h.label = "h"
    loss = (h * 2.0).sum()
    assert [str(leaf).partition(":")[0] for leaf in gradwalk.explain(loss, "h").leaves] == [
        "h[0].grad = 2", "h[1].grad = 2", "h[2].grad = 2",
    ]  # fmt: skip
    assert [leaf.leaf.label for leaf in loss.explain().leaves] == ["x[0]", "x[1]", "x[2]"]
    many = gradwalk.ones(40)
    told = gradwalk.explain(many.sum())
    assert (len(told.leaves), told.left_out) == (24, 16)
    assert told.graph_at(0, 39).data == 40.0  # those that are left out can be opened one by one
    assert gradwalk.explain(many.sum(), many, index=0).graph_at is None


def test_odd_numbers_and_shapes() -> None:
    s = Tensor(3.0, label="s")
    assert str(gradwalk.explain(s * s, s, index=())).startswith("s.grad = 6:")
    assert gradwalk.explain(s, s).leaves[0].gradient == 1.0
    x = Tensor([math.inf, 0.0, 1e300], label='"<w>\n')
    assert paths_of((x * x).sum(), x, 2).gradient == 2e300
    assert paths_of((x * x).sum(), x, 0).gradient == math.inf
    for beside in ([math.inf, -math.inf], [1.7e308, 1.7e308]):
        wide = Tensor([*beside, 1.0])
        assert paths_of((wide * 2.0).sum(), wide, 2).gradient == 2.0
    y = Tensor([1.0, 2.0], label="y")
    assert gradwalk.explain(y[:0].sum() + y[1], y, index=1).root.data == 2.0  # a sum of none is 0
    assert gradwalk.explain(y.sum() + y[1], y, index=1).root.data == 5.0
    assert "nothing was pushed to it" in str(gradwalk.explain(y[0] * 2.0, y, index=1))
    assert [paths_of((y * y * y).sum(), y, i).gradient for i in (0, 1, -1, -2)] == [3.0, 12.0, 12.0, 3.0]
    (y * y * y).sum().backward(create_graph=True)
    assert paths_of(y.grad.sum(), y, 1).gradient == pytest.approx(12.0)  # the second derivative


def test_mixtures_with_values() -> None:
    a, b = Value(2.0, label="a"), Value(3.0, label="b")
    c = a * b
    t = Tensor.of([c, b]) * Tensor([10.0, 100.0], label="k")
    loss = t.sum()
    assert gradwalk.explain(loss, a).leaves[0].gradient == 30.0
    assert gradwalk.explain(loss, a).left_out == 0
    assert gradwalk.explain(loss, b).leaves[0].gradient == 120.0
    assert gradwalk.explain(loss, "k", index=0).leaves[0].gradient == 6.0
    told = gradwalk.explain(loss)
    assert (len(told.leaves), told.left_out) == (4, 0)
    assert a.label == "a"
    assert c.label == ""  # what is the user's is left as it is


def test_a_cell_can_be_walked(tmp_path: Path) -> None:
    W = Tensor([[1.0, 2.0], [3.0, 4.0]], label="W")
    loss = (Tensor([2.0, 5.0]) @ W).tanh().sum()
    told = gradwalk.explain(loss, W, index=(0, 1))
    assert "W[0, 1]" in told.save(tmp_path / "walk.html").read_text(encoding="utf-8")
    assert told.root.data == pytest.approx(loss.item())


def test_what_cannot_be_explained_is_said() -> None:
    x = Tensor([1.0, 2.0], label="x")
    loss = (x * x).sum()
    other = Tensor([1.0])
    for what, words in (
        (lambda: gradwalk.explain(x * 2.0), "take its sum"),
        (lambda: gradwalk.explain(loss, x, index=2), "index 2 is not in a tensor of shape"),
        (lambda: gradwalk.explain(loss, x, index=-3), "index -3 is not in a tensor of shape"),
        (lambda: gradwalk.explain(loss, x, index=(0, 0)), "one whole number for each dim"),
        (lambda: gradwalk.explain(loss, x, index=True), "one whole number for each dim"),
        (lambda: gradwalk.explain(loss, x, index=slice(1)), "one whole number for each dim"),
        (lambda: gradwalk.explain(loss, index=0), "needs the tensor it is of"),
        (lambda: gradwalk.explain(loss, other, index=0), "not part of the graph"),
        (lambda: gradwalk.explain(loss, "y"), "there are x"),
        (lambda: gradwalk.explain(Tensor([1]).sum()), "computed from constants|floats|int"),
        (lambda: gradwalk.explain(Value(2.0) * 3, index=0), "this graph is of Values"),
    ):  # fmt: skip
        with pytest.raises(GraphError, match=words):
            what()  # type: ignore[no-untyped-call]
    x.data[0] = 9.0
    with pytest.raises(BackwardError, match="out of date"):
        gradwalk.explain(loss, x, index=0)


def test_a_large_product_is_explained_through_the_part_that_counts() -> None:
    V, Z = gradwalk.randn(64, 32), gradwalk.randn(48, 64)
    loss = (Z @ V).tanh().pow(2).mean()
    loss.backward()
    found = paths_of(loss, V, (3, 4))
    assert found.gradient == pytest.approx(V.grad[3, 4].item(), rel=1e-9)
    assert found.count == 48
    assert len(found.graph.nodes) < 48 * 10
