"""gradcheck on tensors: right functions pass, and every entry that is broken on purpose is named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Tensor, gradcheck, ops
from gradwalk.errors import GradientCheckError, GraphError, SettingError
from gradwalk.tensor import entries
from gradwalk.tensor.entries import Entry


def random(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(len(shape)).uniform(0.2, 1.5, size=shape))


#: A function that uses each entry, and the shapes of its inputs.
USING: dict[type[Entry], tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    entries.Sum: (lambda x: x.sum(0).tanh().sum(), ((2, 3),)),
    entries.Max: (lambda x: (x.amax(1) * x.amax(1)).sum(), ((2, 3),)),
    entries.MatMul: (lambda x, y: (x @ y).tanh().sum(), ((2, 3), (3, 2))),
    entries.Einsum: (lambda x, y: gradwalk.einsum("ij,kj->ik", x, y).tanh().sum(), ((2, 3), (2, 3))),
    entries.Reshape: (
        lambda x: (x.reshape(3, 2) * Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], False)).sum(),
        ((2, 3),),
    ),
    entries.Permute: (lambda x: (x.permute(1, 2, 0).tanh() * x.reshape(3, 4, 2)).sum(), ((2, 3, 4),)),
    entries.Expand: (lambda x: x.expand(4, 3).exp().mean(), ((1, 3),)),
    entries.Index: (lambda x: (x[[0, 0, 1]] * x[:, 1:].sum()).sum(), ((2, 3),)),
    entries.Scatter: (lambda x: x[0].put(1, x[1, 2]).exp().sum(), ((2, 3),)),
    entries.Concat: (lambda x, y: (gradwalk.cat([x, y], 1) * gradwalk.cat([y, x], 1)).sum(), ((2, 3), (2, 3))),
    entries.Pad: (lambda x: gradwalk.pad(x, (1, 2)).exp().sum(), ((2, 3),)),
    entries.CumSum: (lambda x: x.cumsum(1).tanh().sum(), ((2, 3),)),
}


def test_every_entry_has_a_function_here() -> None:
    known = {kind for kind in vars(entries).values() if isinstance(kind, type) and issubclass(kind, Entry)}
    assert known - {Entry} == set(USING)


@pytest.mark.parametrize("kind", USING, ids=lambda kind: kind.name)
def test_right_entries_pass_and_broken_ones_are_named(kind: type[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    f, shapes = USING[kind]
    inputs = [random(*shape) for shape in shapes]
    assert gradcheck(f, inputs).ok
    right: Any = kind.pull

    def broken(self: Any, i: int, g: Any, given: Any, out: Any) -> Any:
        return gradwalk.tensor.kernels.call("*", right(self, i, g, given, out), 1.01)

    monkeypatch.setattr(kind, "pull", broken)
    with pytest.raises(GradientCheckError) as caught:
        gradcheck(f, inputs)
    text = str(caught.value)
    blamed = text[text.index("at fault") :]
    name = "@" if kind is entries.MatMul else kind.name
    assert name in blamed, text
    assert "inputs[0][" in text


def test_a_tensor_alone_is_the_one_argument() -> None:
    assert len(gradcheck(lambda w: (w @ w).sum(), random(2, 2)).inputs) == 4


def test_other_mistakes_are_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    x = random(2, 3)
    monkeypatch.setattr(entries.Permute, "pull", lambda self, i, g, given, out: g)
    with pytest.raises(GradientCheckError, match=r"permute.*it gave back shape|at fault: permute"):
        gradcheck(lambda x: (x.permute(1, 0) * Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], False)).sum(), [x])


def refused(g: Any) -> Any:
    raise ValueError("no way back")


@pytest.mark.parametrize(
    ("pull", "words"),
    [
        (refused, "its way back raised ValueError: no way back"),
        (lambda g: g, "its derivative in operand 1"),
    ],
)
def test_an_op_that_is_wrong_in_both_operands_is_named_once(
    pull: Callable[..., Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries.MatMul, "pull", lambda self, i, g, given, out: pull(g))
    with pytest.raises(GradientCheckError) as caught:
        gradcheck(lambda x, y: (x @ y).sum(), [random(2, 2), random(2, 2)])
    text = str(caught.value)
    assert words in text
    assert text.count("at fault: @") == 1


@pytest.mark.parametrize("wrong", [refused, lambda g: gradwalk.tensor.arrays.now.reshape(g, (4,))])
def test_the_operand_that_gets_back_what_does_not_fit_is_told(
    wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = entries.MatMul.pull
    monkeypatch.setattr(
        entries.MatMul,
        "pull",
        lambda self, i, g, given, out: wrong(g) if i else right(self, i, g, given, out),
    )
    product = random(2, 2) @ random(2, 2)
    found = gradwalk.check.of_tensors._suspects([product], 1e-6, 1e-9)
    assert [(suspect.op, suspect.operand) for suspect in found] == [("@", 2)]


def test_a_forgotten_unbroadcast_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradwalk.tensor import backward

    monkeypatch.setattr(backward, "unbroadcast", lambda g, shape: g)
    with pytest.raises(GradientCheckError):
        gradcheck(lambda x, b: (x * b).sum(), [random(2, 3), random(3)])


def test_a_wrong_op_is_named_with_the_number() -> None:
    @gradwalk.op(lambda x, out: 3.03 * x * x)
    def cube(x: float) -> float:
        return x * x * x

    with pytest.raises(
        GradientCheckError, match=r"at fault: cube, at cube\(.*\) = \(2,\) at \[0\]: its derivative in operand 1"
    ):
        gradcheck(lambda x: cube(x).sum() + ops.exp(x).sum(), [Tensor([1.0, 2.0])])


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(GraphError, match="one number"):
        gradcheck(lambda x: x * 2, [random(2)])
    with pytest.raises(SettingError, match="float32"):
        gradcheck(lambda x: x.sum(), [Tensor([1.0], dtype="float32")])
    with pytest.raises(SettingError, match="central"):
        gradcheck(lambda x: x.sum(), [random(2)], method="taylor")
    with pytest.raises(GradientCheckError, match="no derivative to check"):
        gradcheck(lambda x: (x - x).log().sum(), [random(2)])
    with pytest.raises(GradientCheckError, match="detach"):
        gradcheck(lambda x: (x * x.detach()).sum(), [random(2)])


@pytest.mark.parametrize(("first", "second"), [(1.0, 2.0), (1.0, np.nan), (np.nan, 1.0), (np.nan, np.nan)])
def test_a_function_that_gives_two_results_at_one_point_is_told_from_one_that_gives_nan(
    first: float, second: float
) -> None:
    results = iter([first, second])
    report = gradcheck(lambda x: x.sum() * next(results), [Tensor([1.0])], raise_error=False)
    assert ("f is not deterministic" in report.problems[0]) == (first == first or second == second)


def test_masked_scores_are_checked_and_a_result_that_is_not_finite_is_not() -> None:
    later = gradwalk.ones(3, 3, dtype=bool).triu(1)
    scores = Tensor([[0.1, 0.7, -0.3], [0.4, -0.2, 0.9], [1.1, 0.0, 0.5]])
    weights = Tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [0.3, 0.7, -0.4]], requires_grad=False)
    report = gradcheck(lambda s: (s.masked_fill(later, -math.inf).softmax(-1) * weights).sum(), [scores])
    assert [entry.status for entry in report.inputs] == ["ok"] * 9
    with pytest.raises(GradientCheckError, match=r"log.* holds -inf at \[1\], so there is no derivative to check here"):
        gradcheck(lambda x: x.log().sum(), [Tensor([1.0, 0.0])])
