"""The inputs of a check: their shapes and names, and what is said where they are no good."""

from __future__ import annotations

import array
import math
import random
from typing import Any

import numpy as np
import pytest
from trees import KINDS, Kind

import gradwalk
from gradwalk import Value, tree
from gradwalk.check import gradcheck
from gradwalk.check.inputs import direction
from gradwalk.errors import BackwardError, GradwalkError, GraphError, InputSizeError, NotANumberError, SettingError


def test_inputs_are_mirrored_to_f_in_their_shape() -> None:
    seen: list[Any] = []

    def f(a: Value, w: Any, nested: Any) -> Any:
        seen.append((a, w, nested))
        return a * w[0] + w[1] * nested[0][0] * nested[1][0] * nested[1][1]

    report = gradcheck(f, [1, [2.0, Value(3.0, label="bias")], ([4], (5.5, 6))])
    a, w, nested = seen[0]
    assert isinstance(a, Value)
    assert isinstance(w, list)
    assert isinstance(nested, tuple)
    assert isinstance(nested[0], list)
    assert isinstance(nested[1], tuple)
    names = ["inputs[0]", "inputs[1][0]", "bias", "inputs[2][0][0]", "inputs[2][1][0]", "inputs[2][1][1]"]
    assert [entry.name for entry in report.inputs] == names
    assert [entry.got for entry in report.inputs] == [2.0, 1.0, 132.0, 99.0, 72.0, 66.0]


def test_a_single_list_and_numpy_arrays_are_inputs() -> None:
    assert len(gradcheck(lambda w: sum(x * x for x in w), [[1.0, 2.0, 3.0]]).inputs) == 3
    assert len(gradcheck(lambda w: w[0][0] * w[1][1], [np.ones((2, 2))]).inputs) == 4
    assert gradcheck(lambda a, b: a * b, np.array([2.0, 3.0])).inputs[0].got == 3.0
    assert gradcheck(lambda a, b: a * b, (np.float64(2), np.int64(3))).inputs[1].got == 2.0
    assert gradcheck(lambda a, b: a * b, array.array("d", [2.0, 3.0])).inputs[0].got == 3.0


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_inputs_may_be_trees_of_every_kind(kind: Kind) -> None:
    if len(tree.flatten(kind.make(3.0, 4.0))[0]) > 2:
        with pytest.raises(NotANumberError, match="inputs"):  # here nothing but numbers is taken
            gradcheck(lambda x: x, [kind.make(3.0, 4.0)])
        return

    def f(x: Any) -> Any:
        assert type(x) is type(kind.make(3.0, 4.0))
        a, b = kind.read(x)
        return a * a * b

    assert [entry.got for entry in gradcheck(f, [kind.make(3.0, 4.0)]).inputs] == [24.0, 9.0]


def test_values_are_read_and_left_alone() -> None:
    x, w = Value(2.0, label="x"), Value(3.0)
    x.grad, w.grad = 7.0, 8.0
    seen: list[Value] = []
    report = gradcheck(lambda v: seen.append(v) or v * w * v.tanh(), [x])  # type: ignore[func-returns-value]
    assert (x.data, x.grad, w.data, w.grad) == (2.0, 7.0, 3.0, 8.0)
    assert report.inputs[0].name == "x"
    assert seen[0] is not x
    assert seen[0].label == "x"


def test_the_result_may_be_an_input_itself() -> None:
    first, second = gradcheck(lambda x, y: x, [2.0, 3.0]).inputs
    assert (first.got, first.note) == (1.0, "")
    assert (second.got, second.note.startswith("f does not use it")) == (0.0, True)


def test_along_a_direction_every_number_moves_either_way_by_about_its_size() -> None:
    point = [0.0, 0.25, 40.0, -1000.0]
    sizes = [1.0, 1.0, 40.0, 1000.0]
    for i, size in enumerate(sizes):
        steps = [2 * direction(random.Random(seed), point)[i] / size for seed in range(200)]  # 2: the root of four
        assert all(0.5 <= abs(step) <= 1.5 for step in steps)
        for sign in (1, -1):
            there = [abs(step) for step in steps if step * sign > 0]
            assert min(there) < 0.6
            assert max(there) > 1.4


# --- bad input -------------------------------------------------------------------------------------------------------


def square(x: Any) -> Any:
    return x * x


BAD: list[tuple[Any, Any, type[GradwalkError], str]] = [
    (3.0, [1.0], GraphError, "f is a function that gives one Value, not float"),
    (None, [1.0], GraphError, "not NoneType"),
    (square, 3.0, GraphError, r"inputs is a list .* not float: 3.0"),
    (square, "abc", GraphError, "not str"),
    (square, {"x": 1.0}, GraphError, "not dict"),
    (square, None, GraphError, "not NoneType"),
    (square, [], GraphError, "there is nothing to check"),
    (square, [[]], GraphError, "there is nothing to check"),
    (square, ["3"], NotANumberError, r"inputs\[0\]: .*float\('3'\)"),
    (square, [[1.0, None]], NotANumberError, r"inputs\[0\]\[1\]: "),
    (square, [1 + 2j], NotANumberError, "complex"),
    (square, [math.nan], SettingError, r"inputs\[0\] is nan"),
    (square, [-math.inf], SettingError, r"inputs\[0\] is -inf"),
    (square, [10**400], GradwalkError, "1329 bits"),
    (lambda x: x.data, [1.0], GraphError, "gave float 1.0: a plain number does not remember"),
    (lambda x: None, [1.0], GraphError, "gave NoneType None: does it end without a return"),
    (lambda x: [x, x], [1.0], GraphError, "for several results check each, or their sum"),
    (lambda x: "x", [1.0], GraphError, "gave str 'x': a node has data, grad and backward"),
    (lambda x: "x" * 99, [1.0], GraphError, r"gave str 'x{56}\.\.\.: a node"),
    (lambda x: "x" * 59, [1.0], GraphError, r"gave str 'x{56}\.\.\.: a node"),
    (lambda x: "x" * 58, [1.0], GraphError, r"gave str 'x{58}': a node"),
    (lambda x: np.float64(x.data), [1.0], GraphError, "gave float64 .*: a plain number does not remember"),
    (lambda x: np.float32(x.data), [1.0], GraphError, "gave float32 .*: a node has data, grad and backward"),
    (lambda *xs: 1 // 0, [1.0] * 6, GraphError, r"inputs\[4\] = 1.0, inputs\[5\] = 1.0: .*by zero"),
    (lambda *xs: 1 // 0, [1.0] * 7, GraphError, r"inputs\[4\] = 1.0, inputs\[5\] = 1.0, …: .*by zero"),
    (lambda x: math.exp(x), [1.0], GraphError, "f raised TypeError at inputs"),
    (lambda x, y: x, [1.0], GraphError, r"f is called as f\(\*inputs\)"),
    (lambda x: 1 // 0, [1.0], GraphError, "ZeroDivisionError at .* = 1.0"),
    (lambda x: gradwalk.nn.MLP(2, [1])([x]), [1.0], InputSizeError, "2 inputs and was given 1"),
]


@pytest.mark.parametrize(("f", "inputs", "error", "words"), BAD)
def test_bad_input_gets_a_named_error_and_a_remedy(f: Any, inputs: Any, error: type[GradwalkError], words: str) -> None:
    with pytest.raises(error, match=words):
        gradcheck(f, inputs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "forward"}, "no method is called 'forward'; there are central, taylor"),
        ({"rtol": -1e-3}, "rtol is a number from 0 up"),
        ({"atol": math.nan}, "atol is a number from 0 up"),
        ({"rtol": math.inf}, "not inf"),
        ({"value": 3}, "value is the class of the nodes"),
    ],
)
def test_bad_settings_get_a_named_error(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        gradcheck(square, [1.0], **options)


def test_a_backward_that_raises_is_named() -> None:
    def f(x: Value) -> Value:
        out = Value(x.data, (x,), "odd")
        out._backward = lambda: 1 // 0  # type: ignore[assignment]
        return out

    with pytest.raises(BackwardError, match="ZeroDivisionError"):
        gradcheck(f, [1.0])


def test_a_function_that_raises_next_to_the_point_only_is_still_measured() -> None:
    def f(x: Value) -> Value:
        if x.data < 0:
            raise ValueError("no roots of negative numbers")
        return x * x

    assert gradcheck(f, [1e-4]).inputs[0].status == "ok"
    assert gradcheck(f, [0.0]).inputs[0].status == "ok"  # the right side alone
