"""Lesson 14: its arrays agree with tensors, right answers of every kind pass, and the folded graph is the real one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from learn.test_exercises import told
from learn.wrong_submissions import method

from gradwalk import Tensor
from gradwalk.errors import ShapeError
from gradwalk.learn.page import folding
from gradwalk.learn.page.exercises import EXERCISES, arrays
from gradwalk.learn.page.exercises.array_words import Off, of_arrays
from gradwalk.learn.page.exercises.arrays import Array
from gradwalk.learn.page.exercises.attempts import expected

A, SQUARE = [[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]], [[1.0, 2.0], [3.0, -4.0]]


@pytest.mark.parametrize(
    "what",
    [
        lambda a, b: a + 1.0, lambda a, b: 1.0 - a, lambda a, b: a * a[0], lambda a, b: 2.0 / a, lambda a, b: a**2,
        lambda a, b: -a, lambda a, b: a @ b, lambda a, b: a.T, lambda a, b: a.sum(), lambda a, b: a.sum(dim=0),
        lambda a, b: a.sum(dim=1, keepdim=True), lambda a, b: a.sum(axis=-1), lambda a, b: a.mean(dim=0),
        lambda a, b: a.reshape(3, 2), lambda a, b: a.reshape(-1), lambda a, b: a.unsqueeze(1), lambda a, b: a[1],
        lambda a, b: a[0, 1], lambda a, b: a[:, 1], lambda a, b: a[[1, 0, 1]], lambda a, b: a[[0, 1], [2, 0]],
        lambda a, b: a.exp(), lambda a, b: a.tanh(), lambda a, b: (a * a).log(), lambda a, b: a[-1],
        lambda a, b: a.sum(dim=0).sum(dim=0), lambda a, b: (a @ b).T @ a, lambda a, b: a[1:, :2],
    ],
)  # fmt: skip
def test_arrays_do_what_tensors_do(what: Any) -> None:
    b = [[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]]
    mine, theirs = what(Array(A), Array(b)), what(Tensor(A), Tensor(b))
    assert (getattr(mine, "shape", ())) == theirs.shape
    assert getattr(mine, "tolist", lambda: mine)() == theirs.tolist()


@pytest.mark.parametrize(
    ("what", "kind", "says"),
    [
        (lambda a: a + Array([1, 2]), ShapeError, "(2, 3) and (2,)"),
        (lambda a: a @ a, ShapeError, "(2, 3) @ (2, 3)"),
        (lambda a: a.reshape(4), ShapeError, "do not fit the shape (4,)"),
        (lambda a: a.sum(dim=2), ShapeError, "dim 2"),
        (lambda a: a[2], IndexError, "no place 2"),
        (lambda a: a[0, 0, 0], ShapeError, "3 indices"),
        (lambda a: a.expand(3, 3), ShapeError, "(2, 3)"),
        (lambda a: Array([[1], [2, 3]]), ShapeError, "one shape"),
        (lambda a: float(a), TypeError, "more than one number"),
        (lambda a: a + "1", TypeError, "unsupported"),
    ],
)
def test_arrays_refuse_what_does_not_fit_and_name_no_file(what: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=r".") as error:
        what(Array(A))
    assert says in str(error.value)
    assert ".py" not in str(error.value)


def test_writing_to_rows_that_occur_twice_keeps_the_last_as_in_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    mine, theirs = arrays.zeros(3, 2), numpy.zeros((3, 2))
    for each, rows in ((mine, Array([[1, 2], [3, 4], [5, 6]])), (theirs, numpy.array([[1, 2], [3, 4], [5, 6]]))):
        each[[0, 2, 0]] += rows
        each[1, 1] = 7
    assert mine.tolist() == theirs.tolist()


RIGHT = [
    (
        "unbroadcast",
        "def unbroadcast(grad, shape):\n    extra = grad.ndim - len(shape)\n    axes = tuple(range(extra)) + "
        "tuple(i + extra for i, n in enumerate(shape) if n == 1)\n    grad = grad.sum(dim=axes, keepdim=True)\n"
        "    return grad.reshape(shape)\n",
    ),
    (
        "unbroadcast",
        "def unbroadcast(grad, shape):\n    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))\n"
        "    for i, n in enumerate(shape):\n        if n == 1:\n            grad = grad.sum(axis=i, keepdims=True)\n"
        "    return grad\n",
    ),
    ("sum", method("sum", "self.grad += out.grad.unsqueeze(dim).expand(self.data.shape)")),
    ("sum", method("sum", "shape = list(self.data.shape)", "shape[dim] = 1", "self.grad += out.grad.reshape(shape)")),
    (
        "max",
        method(
            "max",
            "mask = self.data >= self.data.max(dim=dim, keepdim=True)",
            "self.grad += mask / mask.sum(dim=dim, keepdim=True) * out.grad.unsqueeze(dim)",
        ),
    ),
    (
        "matmul",
        method("matmul", "self.grad += (other.data @ out.grad.T).T", "other.grad += (out.grad.T @ self.data).T"),
    ),
    ("take", method("take", "for k in range(len(rows)):", "    self.grad[rows[k]] += out.grad[k]")),
    (
        "take",
        method(
            "take",
            "for k, i in enumerate(rows):",
            "    for j in range(self.data.shape[1]):",
            "        self.grad[i, j] += out.grad[k, j]",
        ),
    ),
]


@pytest.mark.parametrize(("tab", "text"), RIGHT)
def test_right_answers_in_other_hands_pass(tab: str, text: str) -> None:
    assert told(tab, text)["status"] == "passed"


def test_what_is_expected_is_what_our_tensors_give() -> None:
    """The checks of sum, max, matmul and take, run on `gradwalk.Tensor` instead of the learner's class."""
    for exercise in (EXERCISES["sum-and-max"], EXERCISES["matmul-and-rows"]):
        for tab in exercise.tabs.values():
            for check, right in zip(tab.checks, expected(exercise, tab), strict=True):
                names: dict[str, Any] = {"T": _ours}
                text = check.text.replace(f"Tensor.{tab.name} = {tab.name}\n", "").replace("Tensor(", "T(")
                for old, new in ((".max(", ".amax("), (".take(", ".__getitem__(")):
                    text = text.replace(old, new)
                exec(text.replace("y.backward()", "y.sum().backward()"), names)
                for see, array in right.arrays.items():
                    name, _, field = see.partition(".")
                    ours = names[name] if field == "data" else names[name].grad
                    assert ours.tolist() == array.tolist(), (tab.name, check.title, see)


def _ours(numbers: Any) -> Any:
    return Tensor(numbers, dtype="float64")


@pytest.mark.parametrize(
    ("mine", "right", "kind", "says"),
    [
        (A, SQUARE, "shape", "(2, 3)"),
        ([1, 2], [[1], [2]], "shape", "The numbers themselves are right"),
        (SQUARE, [[1, 3], [2, -4]], "transposed", "rows"),
        ([0, 0], [1, 2], "not implemented", "zero everywhere"),
        ([-1, 2], [1, -2], "wrong value", "wrong sign"),
        ([2, 4], [1, 2], "wrong value", "2 times"),
        ([[1, 2]], [[1, 3]], "wrong value", "`g[0, 1]` is 2, and it should be 3"),
        (1, 3, "wrong value", "times"),
        ([float("nan")], [1], "wrong value", "nan"),
    ],
)
def test_what_numbers_alone_can_say_is_true_of_them(mine: Any, right: Any, kind: str, says: str) -> None:
    found = of_arrays(Off("g", Array(mine), Array(right)))
    assert (found.kind, says in found.why) == (kind, True), found.why
    assert found.headline
    assert found.ask


def test_a_tensor_in_place_of_an_array_is_told() -> None:
    result = told("sum", method("sum", "self.grad = out"))
    assert (result["status"], result["headline"]) == ("failed", "A gradient is a Tensor, not an array")


def test_what_a_learner_does_to_the_arrays_is_gone_with_the_next_run() -> None:
    told("sum", "Array.sum = None\n" + method("sum", "self.grad += 1"))
    assert told("sum", EXERCISES["sum-and-max"].tabs["sum"].solution)["status"] == "passed"


def test_the_folded_graph_is_the_one_that_tensors_stand_for() -> None:
    found = json.loads(json.dumps(folding.material(), allow_nan=False))
    X, W, b = (
        Tensor([list(row) for row in folding.X]),
        Tensor([list(row) for row in folding.W]),
        Tensor(list(folding.B)),
    )
    P = X @ W
    Z = P + b
    S = Z**2
    L = S.sum()
    L.backward()
    blocks = {"X": X, "W": W, "b": b, "P": P, "Z": Z, "S": S, "L": L}
    assert {block["name"]: tuple(block["shape"]) for block in found["blocks"]} == {
        name: tensor.shape for name, tensor in blocks.items()
    }
    for cell in found["cells"]:
        if cell["inside"]:
            assert found["cells"][cell["into"]]["block"] == cell["block"]
            continue
        tensor, place = blocks[cell["block"]], tuple(cell["at"])
        assert tensor[place].item() == cell["data"], cell["name"]
        assert tensor.grad[place].item() == cell["grad"], cell["name"]
        for formula, value in ((cell["made"], cell["data"]), (cell["slopes"], cell["grad"])):
            numbers = formula.rpartition("=")[2].replace("−", "-").replace("×", "*").strip()
            if numbers and "[" not in numbers and "grad" not in numbers:
                assert eval(numbers) == value, cell["name"]
