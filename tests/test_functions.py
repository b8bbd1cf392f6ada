"""Functions over lists: against PyTorch, at the edges, and in what they say when given nonsense."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, functions
from gradwalk.errors import InputSizeError, NotANumberError, SettingError

inf, nan = math.inf, math.nan
numbers = st.floats(-50, 50)
rows = st.lists(numbers, min_size=1, max_size=8)


def same(ours: list[float], theirs: list[float]) -> bool:
    return ours == pytest.approx(theirs, rel=1e-12, abs=1e-15, nan_ok=True)


def gradients(f: Any, xs: list[float]) -> tuple[float, list[float]]:
    leaves = [Value(x) for x in xs]
    out = f(leaves)
    out.backward()
    return out.data, [v.grad for v in leaves]


def torchs(f: Any, xs: list[float]) -> tuple[float, list[float]]:
    leaf = torch.tensor(xs, dtype=torch.float64, requires_grad=True)
    out = f(leaf)
    out.backward()
    return out.item(), leaf.grad.tolist()


PAIRS = [
    (gradwalk.max, torch.amax),
    (gradwalk.min, torch.amin),
    (gradwalk.logsumexp, lambda t: torch.logsumexp(t, 0)),
    (
        lambda xs: gradwalk.dot(gradwalk.softmax(xs), range(len(xs))),
        lambda t: torch.softmax(t, 0) @ torch.arange(len(t)).double(),
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@given(xs=rows)
def test_values_and_gradients_are_torchs(ours: Any, theirs: Any, xs: list[float]) -> None:
    (value, grads), (expected, expected_grads) = gradients(ours, xs), torchs(theirs, xs)
    assert same([value], [expected])
    assert grads == pytest.approx(expected_grads, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("xs", [[2.0, 2.0], [1.0, 2.0, 2.0], [3.0] * 5, [inf, inf, 0.0], [-inf, -inf], [nan, 1.0, 2.0],
                                [1.0, nan], [0.0, -0.0], [5.0], [1e308, -1e308, 1e308]])  # fmt: skip
@pytest.mark.parametrize(("ours", "theirs"), PAIRS[:2])
def test_ties_infinities_and_nan_are_torchs(ours: Any, theirs: Any, xs: list[float]) -> None:
    (value, grads), (expected, expected_grads) = gradients(ours, xs), torchs(theirs, xs)
    assert same([value, *grads], [expected, *(expected_grads if len(xs) > 1 else [1.0])])


@pytest.mark.parametrize(
    "xs", [[1000.0, 1000.0], [-1000.0, -1001.0], [inf, 1.0], [-inf, -inf], [-inf, 0.0], [1e308, 1e308]]
)
def test_logsumexp_at_the_extremes_is_torchs(xs: list[float]) -> None:
    assert same(
        [gradients(gradwalk.logsumexp, xs)[0]], [torch.logsumexp(torch.tensor(xs, dtype=torch.float64), 0).item()]
    )


def test_max_and_min_take_several_numbers_as_pythons_do() -> None:
    a, b = Value(1.0), Value(2.0)
    assert gradwalk.max(a, b).data == 2.0
    assert gradwalk.min(a, b, -3).data == -3.0
    assert gradwalk.max([1, 2.5]) == 2.5
    assert gradwalk.max([a]) is a


def test_max_can_be_differentiated_twice() -> None:
    hessian = gradwalk.hessian(lambda xs: gradwalk.max([xs[0] ** 3, xs[1] ** 2, xs[0] * xs[1]]))([2.0, 1.0])
    assert hessian == [[12.0, 0.0], [0.0, 0.0]]


def test_softmax_of_plain_numbers_gives_values() -> None:
    assert [p.data for p in gradwalk.softmax([0.0, 0])] == [0.5, 0.5]


def test_linear_is_torchs() -> None:
    draw = np.random.default_rng(1)
    weights, x, bias = draw.normal(size=(3, 4)), draw.normal(size=4), draw.normal(size=3)
    ours = gradwalk.linear(x, [[Value(w) for w in row] for row in weights], bias)
    theirs = torch.nn.functional.linear(torch.tensor(x), torch.tensor(weights), torch.tensor(bias))
    assert [v.data for v in ours] == pytest.approx(theirs.tolist(), rel=1e-13)
    assert len(gradwalk.linear(x, weights)) == 3


def test_take_gives_the_entry_itself() -> None:
    table = [Value(1.0), Value(2.0)]
    assert gradwalk.take(table, 1) is table[1]
    assert gradwalk.take(table, np.int64(0)) is table[0]
    rows_of_table = [table, table[::-1]]
    assert gradwalk.take(rows_of_table, 1) is rows_of_table[1]


@pytest.mark.parametrize("index", [2, -1, 10**20])
def test_take_says_which_index_is_out_of_range(index: int) -> None:
    with pytest.raises(SettingError, match=f"index {index}, and the table has 2 entries"):
        gradwalk.take([1.0, 2.0], index)


def test_take_says_what_is_no_index() -> None:
    with pytest.raises(SettingError, match=r"whole number as its index, not float: 1\.0"):
        gradwalk.take([1.0, 2.0], 1.0)


@pytest.mark.parametrize("function", [gradwalk.max, gradwalk.min, gradwalk.softmax, gradwalk.logsumexp])
def test_empty_lists_single_numbers_and_nonsense_are_refused(function: Any) -> None:
    with pytest.raises(InputSizeError, match="empty list"):
        function([])
    with pytest.raises(InputSizeError, match="single number"):
        function(3.0)
    with pytest.raises(NotANumberError, match="value 2"):
        function([1.0, "two"])
    with pytest.raises(NotANumberError):
        function(None)


def test_sizes_that_do_not_fit_are_named() -> None:
    with pytest.raises(InputSizeError, match="same length, and was given lengths 2 and 3"):
        gradwalk.dot([1, 2], [1, 2, 3])
    with pytest.raises(InputSizeError, match="row 2 has length 1, the input 2"):
        gradwalk.linear([1.0, 2.0], [[1.0, 2.0], [3.0]])
    with pytest.raises(InputSizeError, match="2 rows of weights and 1 biases"):
        gradwalk.linear([1.0], [[1.0], [2.0]], [0.5])
    with pytest.raises(InputSizeError, match="row 1 is a float, the input 2"):
        gradwalk.linear([1.0, 2.0], [3.0, 4.0])
    with pytest.raises(NotANumberError, match="linear takes rows of weights as a list"):
        gradwalk.linear([1.0, 2.0], None)
    with pytest.raises(NotANumberError, match="linear of a tensor takes its weights as one, not list"):
        gradwalk.linear(gradwalk.ones(2), [[1.0, 2.0]])
    with pytest.raises(InputSizeError, match="take was given NoneType for a table"):
        gradwalk.take(None, 0)
    with pytest.raises(NotANumberError, match="not type"):
        Value(1.0) + Value


def test_all_of_them_are_exported() -> None:
    for name in functions.__all__:
        assert getattr(gradwalk, name) is getattr(functions, name)
        assert name in gradwalk.__all__


@pytest.mark.parametrize("name", ["max", "min"])
def test_all_slopes_at_once_are_those_of_the_rules(name: str) -> None:
    op = functions._extreme_op(name, 4)
    edges = (0.0, -0.0, 1.0, 2.5, math.inf, -math.inf, math.nan)
    for point in itertools.product(edges, repeat=4):
        out = op.forward(*point)
        one_by_one = [op.slope(i, *point, out) for i in range(4)]
        assert list(map(repr, op.local(*point, out))) == list(map(repr, one_by_one)), point
