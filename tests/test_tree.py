"""Trees: taken apart, put together again, compared."""

from __future__ import annotations

import copy
import enum
import re
import subprocess
import sys
import time
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from trees import KINDS, Derived, Fixed, Kind, Named, Pair, Point, Row, derived

from gradwalk import Value, nn, tree
from gradwalk.errors import GraphError, SettingError


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_tree_is_put_together_again_as_it_was(kind: Kind) -> None:
    x = kind.make(3.0, 4.0)
    leaves, structure = tree.flatten(x)
    assert [leaf for leaf in leaves if isinstance(leaf, float)] == [3.0, 4.0]
    again = structure.unflatten([{3.0: "three", 4.0: "four"}.get(leaf, leaf) for leaf in leaves])
    assert type(again) is type(x)
    assert kind.read(again) == ("three", "four")
    assert kind.read(x) == (3.0, 4.0), "and the first one is as it was"
    assert tree.flatten(again)[1] == structure
    assert hash(tree.flatten(kind.make(5.0, 6.0))[1]) == hash(structure)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_leaf_has_a_path_that_python_understands(kind: Kind) -> None:
    x = kind.make(3.0, 4.0)
    leaves, structure = tree.flatten(x)
    for leaf, path in zip(leaves, structure.paths("x"), strict=True):
        assert eval(path, {"x": x}) == leaf


def test_structures_differ_where_containers_do() -> None:
    trees = [1.0, [1.0], (1.0,), {"a": 1.0}, {"b": 1.0}, OrderedDict(a=1.0), Pair(1.0, 2.0), (1.0, 2.0), [[1.0], []],
             [[], [1.0]], Point(1.0, 2.0), Fixed(1.0, 2.0), Row(1.0, 2.0), [1.0, 2.0], np.ones(2), np.ones((2, 1)), [],
             (), {}]  # fmt: skip
    structures = [tree.flatten(x)[1] for x in trees]
    assert len(set(structures)) == len(trees)
    assert structures[0] != "something else"


def test_order_and_what_belongs_to_a_container_are_kept() -> None:
    made = tree.map(lambda x: x, defaultdict(list, b=1.0, a=2.0))
    assert (list(made), made["c"]) == (["b", "a"], [])
    ordered = tree.map(lambda x: x, OrderedDict(b=1.0, a=2.0))
    ordered.move_to_end("b")
    assert list(ordered) == ["a", "b"]
    assert tree.map(lambda x: x + 1, Named(1.0, 2.0)).b == 3.0
    doubled = tree.map(lambda x: 2 * x, derived(3.0, 4.0))
    assert (type(doubled), doubled.both) == (Derived, (6.0, 8.0))
    assert copy.copy(tree.map(lambda x: x, Fixed(1.0, 2.0))) == Fixed(1.0, 2.0)


def test_arrays_come_back_with_numbers_or_with_objects() -> None:
    assert tree.map(lambda x: x, np.array([[1, 2]])).dtype == float
    assert tree.map(lambda x: x, np.array([1.0, None], object)).dtype == object
    assert tree.map(lambda x: [x, x], np.array([1.0, 2.0]))[1] == [2.0, 2.0]
    assert tree.map(lambda x: x, np.zeros((0, 3))).shape == (0, 3)
    assert tree.flatten(np.array(2.0))[0] == [np.array(2.0)], "without dimensions it is a number"
    held = tree.map(lambda x: x.data, np.array(Value(2.0), object))
    assert (held.shape, held.item()) == ((), 2.0)
    assert tree.flatten(np.array(["a", "b"]))[0][0].shape == (2,), "an array of texts is a leaf"


def test_trees_are_mapped_together_if_they_are_alike() -> None:
    assert tree.map(lambda a, b: a + b, {"x": (1, [2])}, {"x": (10, [20])}) == {"x": (11, [22])}
    with pytest.raises(SettingError, match="the same structure"):
        tree.map(lambda a, b: a + b, [1.0], (1.0,))
    assert tree.map(str, [[1, 2], (3,)], leaf=lambda x: isinstance(x, tuple)) == [["1", "2"], "(3,)"]


def test_the_same_thing_twice_is_two_parts() -> None:
    inner, v = [1.0, 2.0], Value(3.0)
    leaves, structure = tree.flatten([inner, inner, v, v])
    assert leaves == [1.0, 2.0, 1.0, 2.0, v, v]
    first, second, *_ = structure.unflatten(leaves)
    assert first is not second


def test_any_depth_and_no_circles() -> None:
    deep: Any = [1.0]
    for _ in range(10_000):
        deep = [deep]
    leaves, structure = tree.flatten(deep)
    assert leaves == [1.0]
    assert hash(structure) == hash(tree.flatten(structure.unflatten([2.0]))[1])
    circle: Any = {"a": 1.0}
    circle["b"] = [circle]
    with pytest.raises(GraphError, match="a dict contains itself"):
        tree.flatten(circle)
    point = Point(1.0, None)
    point.b = (point,)
    with pytest.raises(GraphError, match="a Point contains itself"):
        tree.flatten(point)


def test_what_is_a_number() -> None:
    class Colour(enum.IntEnum):
        RED = 1

    numbers = [1, 2.5, True, Fraction(1, 2), np.float32(1), np.int64(1), np.bool_(True), np.array(1.0), Value(1.0)]
    assert all(tree.is_number(x) for x in numbers)
    others = ["1", b"1", None, 1j, [1.0], Colour.RED, int, Value, np.ones(1), np.complex128(1), len, nn.Neuron(1), {1}]
    assert not any(tree.is_number(x) for x in others)


def test_models_are_leaves_even_if_they_are_dataclasses() -> None:
    @dataclass
    class Line(nn.Module):
        w: Value

    class Layers(list[Any]):
        def parameters(self) -> list[Any]:
            return [p for layer in self for p in layer.parameters()]

    for model in (nn.MLP(1, [1]), Line(Value(1.0)), Layers([nn.Neuron(1)])):
        assert tree.flatten([model])[0] == [model]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({1.0, 2.0}, "a set has no order.* give a sorted list"),
        (frozenset((1.0,)), "a frozenset has no order"),
        ((x for x in [1.0]), r"a generator can be read only once; .* list\(...\)"),
        (zip([1.0], [2.0], strict=True), "a zip can be read only once"),
        (np.ma.masked_array([1.0]), "a MaskedArray is an array with rules of its own"),
    ],
)
def test_what_cannot_be_a_part_says_why(wrong: Any, why: str) -> None:
    assert re.match(why, tree.refusal(wrong))


def test_most_things_may_be_parts() -> None:
    assert [tree.refusal(x) for x in (1.0, "text", None, {"text"}, len, np.ones(1))] == [""] * 6


def test_what_cannot_be_rebuilt_is_named() -> None:
    with pytest.raises(SettingError, match="a struct_time cannot be put together again"):
        tree.map(lambda x: x, time.localtime())

    class Strange(list[Any]):
        def __new__(cls, needed: Any) -> Any:
            return super().__new__(cls)

    with pytest.raises(SettingError, match=r"a Strange cannot be put together again .* give a list"):
        tree.map(lambda x: x, Strange([1.0]))


def test_numpy_is_not_imported() -> None:
    program = "import sys; from gradwalk import grad; print(grad(lambda x: x[0] * 2)([1.0]), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[2.0]", "False"]
