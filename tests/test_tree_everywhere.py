"""Trees of every kind in every function that takes them: one table, and results worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trees import KINDS, Kind, Pair, Point

from gradwalk import Value, errors, grad, hessian, jacobian, nn, tree, value_and_grad

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def square_times(kind: Kind) -> Callable[[Any], Any]:
    """a²b of such a tree: 36 at (3, 4), with slopes 24 and 9."""

    def f(x: Any) -> Any:
        a, b = kind.read(x)
        return a * a * b

    return f


def plain(x: Any) -> Any:
    """A number out of a Value."""
    return x.data if isinstance(x, Value) else x


def holds(kind: Kind, x: Any, *expected: float) -> None:
    """That `x` is a tree of this kind, down to the last container, with these numbers."""
    assert type(x) is type(kind.make(3.0, 4.0))
    assert tuple(plain(part) for part in kind.read(x)) == expected
    assert tree.flatten(x)[1] == tree.flatten(kind.make(3.0, 4.0))[1]


# --- derivatives -----------------------------------------------------------------------------------------------------


@every_kind
def test_grad(kind: Kind) -> None:
    f = square_times(kind)
    holds(kind, grad(f)(kind.make(3.0, 4.0)), 24.0, 9.0)
    value, gradient = value_and_grad(f)(kind.make(3.0, 4.0))
    assert value == 36.0
    holds(kind, gradient, 24.0, 9.0)
    scaled, gradient = grad(lambda k, x: k * f(x))(2.0, kind.make(3.0, 4.0))
    assert scaled == 36.0
    holds(kind, gradient, 48.0, 18.0)


@every_kind
def test_grad_of_values_can_be_differentiated(kind: Kind) -> None:
    a, b = Value(3.0), Value(4.0)
    gradient = grad(square_times(kind))(kind.make(a, b))
    holds(kind, gradient, 24.0, 9.0)
    kind.read(gradient)[0].backward()
    assert (a.grad, b.grad) == (8.0, 6.0)


@every_kind
def test_jacobian_and_hessian(kind: Kind) -> None:
    def both(x: Any) -> Any:
        a, b = kind.read(x)
        return kind.make(a * b, a + b)

    assert jacobian(both)(kind.make(3.0, 4.0)) == [[4.0, 3.0], [1.0, 1.0]]
    assert hessian(square_times(kind))(kind.make(3.0, 4.0)) == [[8.0, 6.0], [6.0, 0.0]]


def test_the_same_list_twice_is_two_arguments_and_the_same_value_twice_is_one_variable() -> None:
    xs = [3.0, 4.0]
    assert grad(lambda pair: pair[0][0] * pair[1][1])([xs, xs]) == [[4.0, 0.0], [0.0, 3.0]]
    v = Value(3.0)
    assert [g.data for g in grad(lambda x: x[0] * x[1])([v, v])] == [6.0, 6.0]


def test_what_is_no_number_reaches_the_function_and_stands_in_the_gradient_as_it_is() -> None:
    model, mask = nn.Neuron(1), np.array([True, False])
    given = {"w": 3.0, "text": "twice", "none": None, "model": model, "f": len, "flag": False, "mask": mask,
             "range": range(2)}  # fmt: skip
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(x)
        return x["w"] * (2 if x["text"] == "twice" else 1) * (10 if x["flag"] else 1)

    gradient = grad(f)(given)
    assert gradient == {**given, "w": 2.0}
    assert all(seen[0][key] is given[key] for key in given if key != "w")
    assert jacobian(f)(given) == hessian(lambda x: x["w"] ** 2)(given) == [[2.0]]
    assert grad(lambda x: x * x)(True) == 2.0, "nothing else there could be differentiated"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({1.0, 2.0}, r"arguments\[0\]\['x'\]: a set has no order"),
        ((x for x in [1.0]), "a generator can be read only once"),
        (bytearray(b"12"), "type bytearray is not looked into for numbers; give a list"),
        (1j, "type complex is no real number"),
        (np.ma.masked_array([1.0]), "give a plain one"),
        (np.array([1j]), "type ndarray is not looked into"),
    ],
)
def test_what_may_hold_numbers_and_is_no_tree_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(errors.NotANumberError, match=message):
        grad(lambda x: x["w"] * 2)({"w": 3.0, "x": wrong})


def test_where_there_is_no_number() -> None:
    nothings: list[Any] = [[], {}, (), [[], {}], np.zeros((0, 2))]
    for nothing in nothings:
        with pytest.raises(errors.GraphError, match="at least one number"):
            grad(lambda x: 1.0)(nothing)
    for wrong in ("one", None, {"a": "one"}, 1j, [len]):
        with pytest.raises(errors.NotANumberError):
            grad(lambda x: 1.0)(wrong)


def test_results_that_are_no_numbers() -> None:
    with pytest.raises(errors.NotANumberError, match="it gave Pair; for several results use"):
        grad(lambda x: Pair(x, x))(1.0)
    with pytest.raises(errors.NotANumberError, match="it gave NoneType"):
        jacobian(lambda x: None)(1.0)
    with pytest.raises(errors.NotANumberError, match=r"the result\['all'\]: a generator can be read only once"):
        jacobian(lambda x: {"all": (y for y in [x])})(1.0)
    assert jacobian(lambda x: {"name": "text", "y": 2 * x})(1.0) == [[2.0]]
    assert jacobian(lambda x: [])(1.0) == []


def test_deep_trees_and_circles() -> None:
    deep: Any = 3.0
    for _ in range(10_000):
        deep = [deep]

    def f(x: Any) -> Any:
        while isinstance(x, list):
            x = x[0]
        return x * x

    assert f(grad(f)(deep)) == 36.0
    circle = Point(1.0, None)
    circle.b = circle
    with pytest.raises(errors.GraphError, match="a Point contains itself"):
        grad(lambda x: x.a)(circle)
