"""Trees of every kind in every function that takes them: one table, and results worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trees import KINDS, Kind, Named, Pair, Point, Row, objects

import gradwalk
from gradwalk import Value, errors, grad, hessian, jacobian, nn, tree, value_and_grad
from gradwalk.compile.call.arguments import Numbers, key_of

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


# --- compiled --------------------------------------------------------------------------------------------------------


@pytest.mark.native
@every_kind
def test_compile_takes_it_and_gives_it(kind: Kind) -> None:
    w = Value(2.0)

    def both(x: Any) -> Any:
        a, b = kind.read(x)
        return kind.make(w * a * b, a + b)

    f = gradwalk.compile(both)
    holds(kind, f(kind.make(3.0, 4.0)), 24.0, 7.0)
    again = f(kind.make(5.0, 6.0))
    holds(kind, again, 60.0, 11.0)
    assert f.traced == 1
    kind.read(again)[0].backward()
    assert w.grad == 30.0
    holds(kind, gradwalk.compile(lambda x: x)(kind.make(3.0, 4.0)), 3.0, 4.0)
    with gradwalk.no_grad():
        holds(kind, f(kind.make(3.0, 4.0)), 24.0, 7.0)


@pytest.mark.native
@every_kind
def test_compile_gives_gradients_of_arguments_in_their_structure(kind: Kind) -> None:
    f = gradwalk.compile(square_times(kind), wrt="x")
    for a, b in ((3.0, 4.0), (5.0, 6.0)):
        result = f(kind.make(a, b))
        result.backward()
        assert result.data == a * a * b
        holds(kind, result.argument_grads["x"], 2 * a * b, a * a)
    v, w = Value(3.0), Value(4.0)
    f(kind.make(v, w)).backward()
    assert (v.grad, w.grad) == (24.0, 9.0)


@pytest.mark.native
def test_what_is_no_number_is_part_of_what_a_trace_is_made_for() -> None:
    f = gradwalk.compile(lambda x: x["w"] * (2 if x["text"] == "twice" else 1) * len(x["range"]))
    cases = (("twice", 1, 6.0), ("once", 1, 3.0), ("once", 1, 3.0), ("twice", 2, 12.0), ("once", 1, 3.0))
    for text, size, expected in cases:
        assert f({"w": 3.0, "text": text, "range": range(size), "none": None, "f": len}).data == expected
    assert f.traced == 3


@pytest.mark.native
def test_compile_with_deep_trees_circles_and_what_is_no_tree() -> None:
    def f(x: Any) -> Any:
        while isinstance(x, list):
            x = x[0]
        return x * x

    compiled = gradwalk.compile(f)
    for number in (3.0, 4.0):
        deep: Any = number
        for _ in range(10_000):
            deep = [deep]
        assert compiled(deep).data == number * number
    assert compiled.traced == 1
    circle: Any = [1.0, None]
    circle[1] = circle
    with pytest.raises(errors.GraphError, match="a list contains itself"):
        compiled(circle)
    for wrong, message in (
        ({1.0}, "a set has no order"),
        ((x for x in [1.0]), "a generator can be read only once"),
        (np.ma.masked_array([1.0]), "give a plain one"),
    ):
        with pytest.raises(errors.SettingError, match=message):
            compiled([3.0, wrong])
    with pytest.raises(errors.NotANumberError, match="an array of <U1 holds no real numbers"):
        compiled(np.array(["a"]))
    assert compiled([3.0, {"a set of": {"texts"}}["a set of"]]).data == 9.0


@pytest.mark.native
def test_the_same_things_twice_compiled() -> None:
    xs, v = [3.0, 4.0], Value(3.0)
    assert gradwalk.compile(lambda pair: pair[0][0] * pair[1][1])([xs, xs]).data == 12.0
    gradwalk.compile(lambda x: x[0] * x[1])([v, v]).backward()
    assert v.grad == 6.0


@pytest.mark.native
def test_a_dataclass_that_holds_parameters_is_a_model_and_one_of_computed_values_is_not() -> None:
    model = Point([[Value(2.0)]], {"size": 2})

    def f(m: Any, x: Any) -> Any:
        return sum(m.a[0][0] * x for _ in range(m.b["size"]))

    compiled = gradwalk.compile(f)
    for x in (3.0, 4.0):
        result = compiled(model, x)
        result.backward()
        assert result.data == 4.0 * x
    assert (model.a[0][0].grad, compiled.traced, result._call.numbers.values) == (14.0, 1, ())
    assert gradwalk.compile(f, batch="sum")(model, [3.0, 4.0]).data == 28.0
    model.a[0][0].data = 5.0
    assert compiled({"nested": model}["nested"], 1.0).data == 10.0
    v = Value(3.0)
    gradwalk.compile(lambda p: p.a * p.b)(Point(v * 2, 4.0)).backward()
    assert v.grad == 8.0


@pytest.mark.native
def test_a_static_dataclass_is_known_by_what_it_holds() -> None:
    f = gradwalk.compile(lambda x, settings: x * sum(settings.a) * settings.b, static="settings")
    settings = Point([2.0, 3.0], 1)
    assert f(2.0, settings).data == 10.0
    assert f(3.0, Point([2.0, 3.0], 1)).data == 15.0
    assert f.traced == 1
    settings.a[0] = 4.0
    assert f(2.0, settings).data == 14.0
    with pytest.raises(errors.SettingError, match="static argument 'settings' is a Point, which can change"):
        f(2.0, Point(bytearray(b"1"), 1))


class Weights(tuple[Any, ...]):
    """A model, and so a leaf, though it is a tuple."""

    __slots__ = ()

    def parameters(self) -> list[Any]:
        return list(self)


TREES: list[Any] = [
    1.0, 2, True, np.float64(1.0), np.array(1.0), [], [1.0], [1.0, 2], (1.0, 2), [[1.0, 2.0], [3.0, 4.0]],
    [(1.0,), (2.0,)], ([1.0], [2.0]), [[1.0], [2.0, 3.0]], [[], []], [[[1.0]]], {"a": [1.0]}, {"b": [1.0]},
    Pair(1.0, 2.0),
    [Pair(1.0, 2.0)], Point(1.0, [2.0]), [1.0, [2.0]], [[1.0], (2.0,)], [1.0, "text"], [1.0, None],
    objects(1.0, [2.0]), objects(1.0, [2.0]).reshape(2, 1), [Weights([1.0])], Row(1.0, 2.0), Named(1.0, 2.0),
]  # fmt: skip


@pytest.mark.native
def test_the_quick_way_to_keys_is_that_of_trees() -> None:
    """Equal keys, careful or not, for equal structures; and numbers in the order of leaves. A bool is structure."""

    def is_number(leaf: Any) -> bool:
        return tree.is_number(leaf) and not isinstance(leaf, bool)

    def another(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):  # with a single number in it
            return np.asarray(leaf + 1.5)
        kind: Any = type(leaf)
        return kind(leaf + 1) if issubclass(kind, np.generic) else leaf + 1.5

    keys = []
    for x in TREES:
        leaves, structure = tree.flatten(x)
        numbers = [leaf for leaf in leaves if is_number(leaf)]
        for careful in (False, True):
            found = Numbers(careful)
            key = key_of(x, found)
            assert [float(n) for n in found.plain] == [float(n) for n in numbers]
            other = key_of(tree.map(lambda leaf: another(leaf) if is_number(leaf) else leaf, x), Numbers())
            assert key == other
            assert hash(key) == hash(other)
            narrow = [n for n in numbers if isinstance(n, (np.generic, np.ndarray))]
            kinds = [
                (n.dtype.type, isinstance(n, np.ndarray)) for n in narrow
            ]  # an array may be written to, without dims too
            keys.append((key, structure, [leaf for leaf in leaves if not is_number(leaf)], kinds))
    for key, *rest in keys:
        for other_key, *other_rest in keys:
            assert (key == other_key) == (rest == other_rest)


# --- batches ---------------------------------------------------------------------------------------------------------


def batches_of(kind: Kind) -> list[Any]:
    """Samples at (3, 4) and (5, 6): a list of trees, and a tree of lists or arrays where that is not the same."""
    found: list[Any] = [[kind.make(3.0, 4.0), kind.make(5.0, 6.0)]]
    if kind.name == "array":
        found.append(np.array([[3.0, 4.0], [5.0, 6.0]]))
    if not any(token and issubclass(token[0], (list, np.ndarray)) for token in tree.flatten(found[0][0])[1].tokens):
        found += [kind.make([3.0, 5.0], [4.0, 6.0]), kind.make(np.array([3.0, 5.0]), [4, 6])]
    return found


@pytest.mark.native
@every_kind
@pytest.mark.parametrize(("batch", "share"), [("sum", 1.0), ("mean", 0.5)])
def test_batches_of_trees_are_summed(kind: Kind, batch: str, share: float) -> None:
    w = Value(2.0)

    def both(x: Any) -> Any:
        a, b = kind.read(x)
        return kind.make(w * a * b, a + b)

    f = gradwalk.compile(both, batch=batch)
    for given in batches_of(kind):
        w.grad = 0.0
        out = f(given)
        holds(kind, out, share * 84.0, share * 18.0)
        kind.read(out)[0].backward()
        assert w.grad == share * 42.0
        holds(kind, f.one_by_one(given), share * 84.0, share * 18.0)
        with gradwalk.no_grad():
            holds(kind, f(given), share * 84.0, share * 18.0)
    total = gradwalk.compile(square_times(kind), batch=batch)
    assert [total(given).data for given in batches_of(kind)] == [share * 186.0] * len(batches_of(kind))


@pytest.mark.native
@every_kind
def test_batches_of_trees_sample_by_sample(kind: Kind) -> None:
    def both(x: Any) -> Any:
        a, b = kind.read(x)
        return kind.make(a * b, a)

    f = gradwalk.compile(both, batch="each")
    for given in batches_of(kind):
        out = f(given)
        product, first = kind.read(out)
        assert type(out) is type(kind.make(3.0, 4.0))
        assert (product.data.tolist(), first.tolist()) == ([12.0, 30.0], [3.0, 5.0])
        for one, a, b in zip(f.one_by_one(given), (3.0, 5.0), (4.0, 6.0), strict=True):
            holds(kind, one, a * b, a)
        with gradwalk.no_grad():
            product, first = kind.read(f(given))
            assert (product.tolist(), first.tolist()) == ([12.0, 30.0], [3.0, 5.0])


@pytest.mark.native
def test_samples_reach_the_function_as_they_are() -> None:
    codes: dict[type, int] = {list: 1, tuple: 2, Pair: 3, np.ndarray: 4, Row: 5}

    def f(x: Any, y: Any) -> Any:
        return x[0] * y * codes[x.__class__]

    compiled = gradwalk.compile(f, batch="sum")
    rows: list[Any] = [[[1.0, 2.0]], [(1.0, 2.0)], [Pair(1.0, 2.0)], [np.array([1.0, 2.0])], np.array([[1.0, 2.0]]),
                       [Row(1.0, 2.0)]]  # fmt: skip
    for row, code in zip(rows, (1, 2, 3, 4, 4, 5), strict=True):
        for factor in (3.0, 4.0):
            assert compiled(row, factor).data == factor * code
    assert compiled([(1.0, 2.0), (3.0, 4.0)], 2.0).data == 16.0
    assert compiled.traced == 6


@pytest.mark.native
def test_samples_with_something_else_beside_their_numbers() -> None:
    f = gradwalk.compile(lambda x: sum(x["row"]) * (2 if x["text"] == "twice" else 1), batch="sum")
    assert f([{"row": [1.0, 2.0], "text": "twice"}, {"row": [3.0, 4.0], "text": "twice"}]).data == 20.0
    assert f([{"row": [1.0, 2.0], "text": "once"}]).data == 3.0
    assert f({"row": np.ones((3, 2)), "text": "twice"}).data == 12.0
    assert f.traced == 3
    with pytest.raises(errors.NotANumberError, match=r"sample\['text'\] is no number, and so must be the same"):
        f([{"row": [1.0], "text": "twice"}, {"row": [3.0], "text": "once"}])
    g = gradwalk.compile(lambda x: x[0][0] * x[1], batch="sum")
    assert g([[np.array([3.0, 1.0]), 2.0], [np.array([5.0, 1.0]), 4.0]]).data == 26.0


@pytest.mark.native
def test_batches_in_deep_trees_and_circles() -> None:
    def f(x: Any) -> Any:
        while isinstance(x, tuple):
            (x,) = x
        return x * x

    deep: Any = [3.0, 4.0]
    for _ in range(10_000):
        deep = (deep,)
    assert gradwalk.compile(f, batch="sum")(deep).data == 25.0
    circle: dict[str, Any] = {"a": [1.0]}
    circle["b"] = circle
    with pytest.raises(errors.GraphError, match="a dict contains itself"):
        gradwalk.compile(f, batch="sum")(circle)


@pytest.mark.native
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ([{"a": 1.0}, {"b": 1.0}], errors.NotANumberError, "all of one shape"),
        ([{"a": [1.0]}, {"a": [1.0, 2.0]}], errors.NotANumberError, "all of one shape"),
        ([{"a": np.ones(1)}, {"a": np.ones(2)}], errors.NotANumberError, "all of one shape"),
        ([{"a": 1.0}, {"a": "text"}], errors.NotANumberError, "all of one shape"),
        ([Value(1.0), Value(2.0)], errors.SettingError, "not Values"),
        ({"a": []}, errors.InputSizeError, "no samples"),
        ({"a": [1.0], "b": [1.0, 2.0]}, errors.InputSizeError, "1 samples and another 2"),
        (np.array(["a"]), errors.NotANumberError, "all of one shape"),
        ((["a"], [1.0]), errors.NotANumberError, "all of one shape"),
        (np.ma.masked_array([1.0]), errors.NotANumberError, "give a plain one"),
        ([1.0, {2.0}], errors.NotANumberError, "all of one shape"),
        (({2.0}, [1.0]), errors.SettingError, "a set has no order"),
        (((x for x in [1.0]), [1.0]), errors.SettingError, "can be read only once"),
    ],
)
def test_batches_of_what_is_no_tree_of_samples(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gradwalk.compile(lambda x: 1.0, batch="sum")(wrong)
