"""At the bounds of what is taken: the last that is, and the first that is refused, with what is said then."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import gradwalk
from gradwalk import Tensor, Value, ones, zeros
from gradwalk.errors import GradwalkError, GraphError, OpError
from gradwalk.tensor import arrays
from gradwalk.tensor.explained import graph_at
from gradwalk.tensor.jacobians import gradients

TAKEN: dict[str, tuple[Callable[[], Any], Any]] = {
    "all letters": (lambda: gradwalk.einsum("...->...", ones((1,) * 26)).shape, (1,) * 26),
    "letters that are taken": (lambda: gradwalk.einsum("A...,A->...A", ones(2, 3), ones(2)).shape, (3, 2)),
    "kernel of all": (lambda: gradwalk.max_pool1d(zeros(1, 1, 3), 3).shape, (1, 1, 1)),
    "kernel of one": (lambda: gradwalk.max_pool1d(zeros(1, 1, 3), 1).shape, (1, 1, 3)),
    "the last class": (lambda: gradwalk.nll_loss(Tensor([[-1.0, -2.0]]), [1]).item(), 2.0),
    "the first class": (lambda: gradwalk.nll_loss(Tensor([[-1.0, -2.0]]), [0]).item(), 1.0),
    "nothing split": (lambda: [part.shape for part in zeros(0).split(2)], [(0,)]),
    "one split": (lambda: [part.shape for part in zeros(1).split(1)], [(1,)]),
    "an empty part": (lambda: [part.shape for part in zeros(2).split([0, 2])], [(0,), (2,)]),
    "no size": (lambda: (zeros(0).shape, gradwalk.eye(0).shape, gradwalk.eye(2, 0).shape), ((0,), (0, 0), (2, 0))),
    "no steps": (lambda: gradwalk.linspace(0.0, 1.0, 0).shape, (0,)),
    "nothing to count": (lambda: gradwalk.arange(2.0, 1.0).shape, (0,)),
    "the last new dim": (lambda: [zeros(2, 3).unsqueeze(i).shape for i in (2, -1, -2, -3)],
                         [(2, 3, 1), (2, 3, 1), (2, 1, 3), (1, 2, 3)]),
    "stacked last": (lambda: [gradwalk.stack([zeros(2, 3)] * 4, i).shape for i in (2, -1, -2, -3)],
                     [(2, 3, 4), (2, 3, 4), (2, 4, 3), (4, 2, 3)]),
    "narrow to the end": (lambda: (zeros(3).narrow(0, 1, 2).shape, zeros(3).narrow(0, 3, 0).shape), ((2,), (0,))),
    "all of them": (lambda: [zeros(3).topk(k).values.shape for k in (0, 3)], [(0,), (3,)]),
    "a bool among ints": (lambda: Tensor([5.0, 6.0, 7.0])[[True, 2]].tolist(), [6.0, 7.0]),
    "a list of bools": (lambda: Tensor([5.0, 6.0, 7.0])[[True, False, True]].tolist(), [5.0, 7.0]),
    "a list of nothing": (lambda: zeros(2, 3)[[]].shape, (0, 3)),
    "the last of int64": (lambda: Tensor([2**63 - 1, -(2**63)]).tolist(), [2**63 - 1, -(2**63)]),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_the_last_that_is_taken(name: str) -> None:
    call, wanted = TAKEN[name]
    assert call() == wanted


def labelled(count: int) -> Any:
    """A sum of leaves that have names."""
    return sum((Tensor(1.0, label=f"x{i}") for i in range(count)), start=Tensor(0.0))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "too many letters": (lambda: gradwalk.einsum("...->...", ones((1,) * 27)), "name more dims than a tensor has"),
    "too few dims": (lambda: gradwalk.einsum("ij...->...", ones(2)), "name more dims than a tensor has"),
    "kernel too wide": (lambda: gradwalk.max_pool1d(zeros(1, 1, 3), 4),
                        r"max_pool1d: a window of 4 with stride 4 does not fit dim 2 of shape \(1, 1, 3\)"),
    "kernel of none": (lambda: gradwalk.max_pool1d(zeros(1, 1, 3), 0), "a window of 0 with stride 0 does not fit"),
    "no stride": (lambda: gradwalk.max_pool2d(zeros(1, 1, 3, 3), 2, (1, 0)),
                  "a window of 2 with stride 0 does not fit dim 3"),
    "two strides": (lambda: gradwalk.max_pool1d(zeros(1, 1, 3), 2, (1, 1)),
                    r"max_pool1d takes stride as 1 number\(s\), and was given \(1, 1\)"),
    "pool of a row": (lambda: gradwalk.max_pool1d(zeros(3), 2), r"takes \(batch, channels, …\) .* shape \(3,\)"),
    "weights": (lambda: gradwalk.conv1d(zeros(1, 1, 3), zeros(1, 2)),
                r"conv1d takes weights \(out, in, kernel\), not shape \(1, 2\)"),
    "weights in two dims": (lambda: gradwalk.conv2d(zeros(1, 1, 3, 3), zeros(1, 1, 2)),
                            r"takes weights \(out, in, kernel, kernel\), not"),
    "channels": (lambda: gradwalk.conv1d(zeros(1, 2, 3), zeros(1, 1, 2)),
                 r"conv1d: inputs of shape \(1, 2, 3\) do not fit weights of shape \(1, 1, 2\)"),
    "batches of batches": (lambda: gradwalk.conv1d(zeros(1, 1, 1, 3), zeros(1, 1, 2)),
                           r"inputs of shape \(1, 1, 1, 3\) do not fit weights"),
    "a class too high": (lambda: gradwalk.nll_loss(zeros(2, 2), [0, 2]),
                         "a target is class 2, and 2 logits make classes 0 to 1"),
    "a class below": (lambda: gradwalk.nll_loss(zeros(2, 2), [-1, 3]), "a target is class -1"),
    "parts below 0": (lambda: zeros(2).split([3, -1]), r"split takes parts of at least 0, not \[3, -1\]"),
    "write to a leaf": (lambda: zeros(2).__setitem__(0, 1.0), r"or gradwalk\.cat; a leaf's numbers .*\[i\] = v$"),
    "matrices that nearly fit": (lambda: zeros(2, 3, 4) @ zeros(3, 5, 6),
                                 "the last dim of the left, 4, must be the last but one dim of the right, 5"),
    "write to a result": (lambda: zeros(2).exp().__setitem__(0, 1.0), r"gradwalk\.where or gradwalk\.cat$"),
    "rows of two shapes": (lambda: Tensor.of([[1.0], [2.0, 3.0]]),
                           r"rows of one shape, and was given \(1,\) and \(2,\)"),
    "second place": (lambda: zeros(2, 3)[0, 3],
                     r"index 3 is out of range in dim 1 of shape \(2, 3\): there are 0 to 2"),
    "after a slice": (lambda: zeros(2, 3)[:, -4], "index -4 is out of range in dim 1"),
    "after a new dim": (lambda: zeros(2, 3)[None, 0, 3], "index 3 is out of range in dim 1"),
    "after a list": (lambda: zeros(2, 3)[[0], [3]], "index 3 is out of range in dim 1"),
    "after a mask": (lambda: zeros(2, 3)[Tensor([True, False]), 3], "index 3 is out of range in dim 1"),
    "after dots": (lambda: zeros(2, 3)[..., 3], "index 3 is out of range in dim 1"),
    "after a wide mask": (lambda: zeros(2, 3, 4)[zeros(2, 3) == 0, 4], "index 4 is out of range in dim 2"),
    "of none": (lambda: zeros(0)[0], r"index 0 is out of range in dim 0 of shape \(0,\): there are none"),
    "standing still": (lambda: zeros(2)[::0], "a slice goes forwards, and this one has a step of 0"),
    "half a slice": (lambda: zeros(2)[0.5:], "a slice holds whole numbers, not slice"),
    "a bool": (lambda: zeros(2)[True], "True alone is no index"),
    "halves": (lambda: zeros(2)[[0.5]], r"masks and lists of ints, not \[0.5\]"),
    "a half behind": (lambda: zeros(2)[[[0, 1], [0.5, 1]]], r"masks and lists of ints, not \[\[0, 1\], \[0.5, 1\]\]"),
    "rows of two lengths": (lambda: zeros(2)[[[0, 1], [0]]], r"masks and lists of ints, not \[\[0, 1\], \[0\]\]"),
    "a list and an int": (lambda: zeros(2)[[[0], 1]], r"masks and lists of ints, not \[\[0\], 1\]"),
    "stacked shapes": (lambda: gradwalk.stack([zeros(2), zeros(3)]), r"number 1 has \(3,\) where 0 has \(2,\)"),
    "ragged": (lambda: Tensor([[1.0], [1.0, 2.0], []]), r"one shape, and these have \(1,\) and \(2,\)"),
    "ragged within": (lambda: Tensor([[[1.0], [1.0, 2.0]]]), r"one shape, and these at \[0\] have \(1,\) and \(2,\)"),
    "a word": (lambda: Tensor("x"), r"not str: 'x'$"),
    "a word within": (lambda: Tensor([[1.0, "x"]]), r"not str: 'x', at \[0, 1\]$"),
    "a Value within": (lambda: Tensor([1.0, Value(1.0)]), r"makes one node of many Values, at \[1\]$"),
    "words": (lambda: zeros(2)[["a"]], r"masks and lists of ints, not \['a'\]"),
    "a mask too far": (lambda: zeros(2, 3)[0, Tensor([True, False])],
                       r"\(2,\) was given for dims 1 to 1 of shape \(2, 3\); it must have the shape \(3,\)"),
    "front dims": (lambda: zeros(2, 3, 4, 5) @ zeros(7, 3, 5, 6),
                   r"the dims in front are \(2, 3\) and \(7, 3\), 2 against 7"),
    "inner dims": (lambda: zeros(2, 3, 4, 5) @ zeros(2, 7, 5, 6), "3 against 7"),
    "fewer front dims": (lambda: zeros(3, 4, 5) @ zeros(2, 7, 5, 6), "3 against 7"),
    "a new dim too far": (lambda: zeros(2, 3).unsqueeze(3), "unsqueeze was given dim 3, .* -3 to 2"),
    "a new dim too low": (lambda: zeros(2, 3).unsqueeze(-4), "unsqueeze was given dim -4"),
    "stacked too far": (lambda: gradwalk.stack([zeros(2, 3)], 3), "stack was given dim 3, .* -3 to 2"),
    "narrow past the end": (lambda: zeros(3).narrow(0, 2, 2), "narrow from 2, 2 long, leaves dim 0"),
    "narrow from below": (lambda: zeros(3).narrow(0, -1, 1), "narrow from -1, 1 long, leaves dim 0"),
    "narrow backwards": (lambda: zeros(3).narrow(0, 1, -1), "narrow from 1, -1 long, leaves dim 0"),
    "one too many": (lambda: zeros(3).topk(4), "topk was asked for 4 along dim 0"),
    "fewer than none": (lambda: zeros(3).topk(-1), "topk was asked for -1 along dim 0"),
    "a size below 0": (lambda: zeros(-1), r"zeros takes sizes of at least 0, not \(-1,\)"),
    "rows below 0": (lambda: gradwalk.eye(-1), "eye takes sizes of at least 0, not -1 and -1"),
    "columns below 0": (lambda: gradwalk.eye(1, -1), "eye takes sizes of at least 0, not 1 and -1"),
    "steps below 0": (lambda: gradwalk.linspace(0.0, 1.0, -1), "a number of steps of at least 0, not -1"),
    "no step": (lambda: gradwalk.arange(0, 1, 0), "a step that is not 0, not 0, 1, 0"),
    "no end": (lambda: gradwalk.arange(0.0, float("inf")), "arange takes finite numbers"),
    "beyond int64": (lambda: Tensor([2**63]), "an int of 64 bits does not fit int64; write it as a float"),
    "below int64": (lambda: Tensor([-(2**63) - 1]), "an int of 64 bits does not fit int64"),
    "no list": (lambda: gradwalk.cat(zeros(2)), "cat takes a list of tensors, not Tensor"),  # type: ignore[arg-type]
    "empty list": (lambda: gradwalk.cat([]), "cat was given an empty list; give at least one tensor"),
    "cat dims": (lambda: gradwalk.cat([zeros(1, 2), zeros(2)]), r"tensors 0 and 1 have shapes \(1, 2\) and \(2,\)"),
    "cat sizes": (lambda: gradwalk.cat([zeros(1, 2), zeros(1, 3)]), "only dim 0 may differ"),
    "cat of numbers": (lambda: gradwalk.cat([zeros(()), zeros(())]), "number 0 is a single number; use stack"),
    "cut by a pad": (lambda: gradwalk.pad(zeros(2), (-1, -2)),
                     r"pad by \(-1, -2\) would cut more than is there from shape \(2,\)"),
    "odd pad": (lambda: gradwalk.pad(zeros(2), (1,)), "two widths for each of up to 1 dims, and was given 1"),
    "wide pad": (lambda: gradwalk.pad(zeros(2), (1, 1, 1, 1)), "two widths for each of up to 1 dims, and was given 4"),
    "a node above": (lambda: graph_at(zeros(2).sum(), 2, (0,)), r"the graph has no node 2: ids go from 0 to 1"),
    "a node below": (lambda: graph_at(zeros(2).sum(), -1, (0,)), "the graph has no node -1"),
    "no node": (lambda: graph_at(zeros(2).sum(), True, (0,)), "the graph has no node True"),
    "a number to open": (lambda: graph_at(zeros(2).sum(), 1, (0,)), "is one number: there is nothing to open"),
    "a Value to open": (lambda: graph_at(Tensor.of([Value(1.0)]).sum(), 0, ()), "is one number: there is nothing to"),
    "eight labels": (lambda: labelled(8).explain("y"), r"there are x0, x1, x2, x3, x4, x5, x6, x7$"),
    "nine labels": (lambda: labelled(9).explain("y"), r"there are x0, x1, x2, x3, x4, x5, x6, x7 …$"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_first_that_is_refused(name: str) -> None:
    call, text = REFUSED[name]
    with pytest.raises(GradwalkError, match=text):
        call()


def test_a_constant_has_no_graph_to_open() -> None:
    x = zeros(2, requires_grad=False)
    x.label = "x"
    total = (x * ones(2)).sum()
    at = next(i for i, v in enumerate(gradwalk.walk.topological(total)) if v is x)
    with pytest.raises(GraphError, match="x is a constant: no gradient flows to it"):
        graph_at(total, at, (0,))


# --- what comes later ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_tensor", [False, True])
def test_a_lone_place_that_is_not_known_yet_needs_one_trace(as_tensor: bool) -> None:
    rows = Tensor([[1.0, 2.0], [3.0, 4.0]])
    keys: list[tuple[Callable[[Any], Any], int]] = [
        (lambda i: i, 1), (lambda i: (None, i), 1), (lambda i: (..., i), 1), (lambda i: (slice(None), i), 1),
        (lambda i: (0, i), 1), (lambda i: (i, i), 2),
    ]  # fmt: skip
    for key, traces in keys:
        run = gradwalk.compile(lambda i, key=key: rows[key(i)] * 1.0)
        for i in (0, 1):
            assert run(Tensor(i) if as_tensor else i).tolist() == rows[key(i)].tolist()
        assert len(run.traces()) == traces


def test_numbers_that_are_not_known_yet_fill_and_count() -> None:
    filled = gradwalk.compile(lambda x: gradwalk.full((2,), x) * 1.0)
    assert [filled(x).tolist() for x in (3.0, 4.0)] == [[3.0, 3.0], [4.0, 4.0]]
    narrow = gradwalk.compile(lambda x: gradwalk.full((2,), x, dtype="float32") * 1.0)
    assert (narrow(0.1).dtype, filled(0.1).dtype) == ("float32", "float64")
    counted = gradwalk.compile(lambda n, x: gradwalk.arange(n) * x)
    assert [counted(n, 2.0).tolist() for n in (2, 3)] == [[0.0, 2.0], [0.0, 2.0, 4.0]]


# --- rules that cannot be written down -------------------------------------------------------------------------------


def test_a_rule_that_runs_on_numbers_alone() -> None:
    times = gradwalk.op(lambda x, y, out: y, lambda x, y, out: float(repr(x)))(lambda x, y: x * y)
    x, y = Tensor([2.0, 3.0]), Tensor([5.0, 7.0])
    times(x, y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([5.0, 7.0], [2.0, 3.0])
    with pytest.raises(OpError, match=r"with respect to operand 2 cannot be run on tensors \(ValueError: could not"):
        times(x, y).sum().backward(create_graph=True)


def test_a_rule_that_runs_on_tensors_and_numbers() -> None:
    def slope(x: Any, out: Any) -> Any:
        if isinstance(x, (float, Tensor)):
            return 2.0 * x
        raise TypeError

    square = gradwalk.op(slope)(lambda x: x * x)
    x = Tensor([3.0])
    square(x).backward(create_graph=True)
    (slope_of_x,) = gradients(x.grad.sum(), [x])
    assert (x.grad.tolist(), slope_of_x.tolist()) == ([6.0], [2.0])


def test_an_op_that_gets_nothing_back_does_not_end_the_walk() -> None:
    c, x, y = Tensor([1.0]), Tensor([2.0]), Tensor([3.0])
    condition = c * 2.0
    condition.grad = [5.0]  # of an earlier walk
    gradwalk.where(condition, x * 3.0, y * 4.0).backward()
    assert [v.grad.item() for v in (condition, c, x, y)] == [0.0, 0.0, 3.0, 0.0]


def test_arrays_are_pythons_own_where_there_is_no_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> Any:
        if "numpy" in name:
            raise ImportError
        return import_module(name)

    monkeypatch.setattr(arrays, "import_module", without)
    assert arrays._best().name == "python"


def test_products_of_ints_and_bools_have_their_dtype_on_both_providers() -> None:
    for provider in ("numpy", "python"):
        with gradwalk.using_arrays(provider):
            for found in (
                Tensor([[1, 2]]) @ Tensor([[3], [4]]),
                gradwalk.einsum("ij,jk->ik", Tensor([[1, 2]]), Tensor([[3], [4]])),
            ):
                assert (repr(found.tolist()), found.dtype) == ("[[11]]", "int64")
            nothing = zeros(1, 0, dtype="int64") @ zeros(0, 1, dtype="int64")
            assert repr(nothing.tolist()) == "[[0]]"
            assert repr((Tensor([[1.0]]) @ zeros(1, 1)).tolist()) == "[[0.0]]"
