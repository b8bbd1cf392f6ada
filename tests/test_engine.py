"""Value: the surface micrograd users know, and what is better."""

# mypy: allow-untyped-calls
from __future__ import annotations

import copy
import itertools
import math
import operator
import pickle
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cases import EDGES, GRADWALK, Program, programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, eager, engine, errors, modes, ops, reverse, walk, zero_grad
from gradwalk.ops import TABLE

inf, nan = math.inf, math.nan


# --- construction and fields ---------------------------------------------------------------------------------------


def test_fields_of_a_fresh_value() -> None:
    v = Value(3.0)
    assert (v.data, v.grad, v.label, v._prev, v._op, v.operands, v.local_derivatives) == (
        3.0,
        0.0,
        "",
        set(),
        "",
        (),
        (),
    )
    assert v.grad.__class__ is float


def test_the_constructor_takes_micrograds_arguments() -> None:
    a, b = Value(1.0), Value(2.0)
    out = Value(3.0, (a, b), "+", label="out")
    assert (out.data, out._prev, out._op, out.label, out.operands) == (3.0, {a, b}, "+", "out", (a, b))
    assert Value(1.0, _children=[], _op="")._prev == set()


@pytest.mark.parametrize(
    ("given", "stored"),
    [(3, 3.0), (True, 1.0), (2.5, 2.5), (Fraction(1, 4), 0.25), (np.float32(0.5), 0.5), (np.int64(-7), -7.0),
     (np.array(2.0), 2.0), (np.array(3), 3.0), (np.bool_(True), 1.0), (np.uint8(9), 9.0), (inf, inf)],
)  # fmt: skip
def test_numbers_are_stored_as_floats(given: Any, stored: float) -> None:
    assert Value(given).data == stored
    assert Value(given).data.__class__ is float


def test_repr_and_format() -> None:
    v = Value(2.0)
    assert repr(v) == "Value(data=2.0, grad=0.0)"
    assert f"{v:.3f}" == "2.000"
    assert f"{v}" == repr(v)


def test_labels_can_be_set_and_read() -> None:
    v = Value(1.0)
    v.label = "x"
    assert v.label == "x"
    w = v * 2.0
    w.label = "w"
    assert (v.label, w.label) == ("x", "w")
    w.backward()
    assert v.grad == 2.0


# --- operators -----------------------------------------------------------------------------------------------------

A, B = Value(6.0), Value(-4.0)

OPERATORS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda x, y: x + y, "+"),
    (lambda x, y: x - y, "-"),
    (lambda x, y: x * y, "*"),
    (lambda x, y: x / y, "/"),
]


@pytest.mark.parametrize(("f", "symbol"), OPERATORS)
@pytest.mark.parametrize("other", [3, 3.0, True, np.float64(3), np.int64(3), np.float32(3), np.array(3.0), Fraction(3)])
def test_numbers_on_either_side(f: Callable[[Any, Any], Any], symbol: str, other: Any) -> None:
    x = Value(6.0)
    for out, expected in ((f(x, other), f(6.0, float(other))), (f(other, x), f(float(other), 6.0))):
        assert isinstance(out, Value)
        assert out.data == expected
        assert out.data.__class__ is float
        assert out._op == symbol


@pytest.mark.parametrize(("f", "symbol"), OPERATORS)
def test_gradients_with_numbers_on_either_side(f: Callable[[Any, Any], Any], symbol: str) -> None:
    for g in (lambda v: f(v, 3), lambda v: f(3, v), lambda v: f(v, 3.0), lambda v: f(np.float64(3), v)):
        x = Value(6.0)
        g(x).backward()
        h = 1e-6
        assert math.isclose(x.grad, (g(Value(6.0 + h)).data - g(Value(6.0 - h)).data) / (2 * h), rel_tol=1e-8)


def test_powers_with_numbers_on_either_side() -> None:
    x = Value(3.0)
    assert (x**2).data == 9.0
    assert (2**x).data == 8.0
    assert (np.float64(2) ** x).data == 8.0
    assert (x ** np.int64(2)).data == 9.0
    assert ((x**2)._op, (x**0.5)._op, (x**-1)._op, (x ** Value(2.0))._op, (2**x)._op) == (
        "**2",
        "**0.5",
        "**-1",
        "**",
        "**",
    )


def test_reflected_operators_are_not_reversed() -> None:
    a = Value(4.0)
    assert ((8 / a).data, (2 - a).data, (3**a).data) == (2.0, -2.0, 81.0)


def test_unary_operators() -> None:
    a = Value(-2.0)
    assert ((-a).data, abs(a).data, (+a) is a) == (2.0, 2.0, True)
    assert ((-a)._op, abs(a)._op) == ("neg", "abs")


def test_numpy_arrays_of_numbers_do_not_swallow_values() -> None:
    with pytest.raises(errors.NotANumberError, match="many Values"):
        np.array([1.0, 2.0]) * Value(3.0)


def test_sum_and_max_work_on_values() -> None:
    values = [Value(3.0), Value(5.0), Value(4.0)]
    total = sum(values)
    assert isinstance(total, Value)
    assert total.data == 12.0
    assert max(values) is values[1]
    assert min(values) is values[0]
    assert [v.data for v in sorted(values)] == [3.0, 4.0, 5.0]


def test_comparisons_give_bools_and_equality_is_identity() -> None:
    a, b = Value(1.0), Value(1.0)
    assert (a < 2, a <= 1, a > b, a >= b, 2 > a, 0 >= a, a < 1, a > 0, a <= 0.5) == (
        True, True, False, True, True, False, False, True, False,
    )  # fmt: skip
    assert a != b
    assert a == a
    assert len({a, b}) == 2
    assert (a < np.float64(2)) is True
    with pytest.raises(TypeError):
        a < "2"  # noqa: B015


def test_leaving_the_graph_by_accident_fails_loudly() -> None:
    with pytest.raises(TypeError):
        math.exp(Value(1.0))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        float(Value(1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(name for name, op in TABLE.items() if op.arity == 1 and name != "neg"))
def test_functions_stand_beside_methods(name: str) -> None:
    x = Value(0.5)
    function = getattr(gradwalk, name)
    assert function(x).data == getattr(x, name)().data == function(0.5)
    assert function(0.5).__class__ is float
    assert function(x)._op == TABLE[name].symbol
    assert function(x).operands == (x,)


def test_methods_of_several_operands() -> None:
    x = Value(-2.0)
    assert x.leaky_relu().data == -0.02
    assert x.leaky_relu(0.5).data == -1.0
    assert (x.maximum(3).data, x.minimum(3).data, x.clamp(-1, 1).data) == (3.0, -2.0, -1.0)
    assert gradwalk.where(x < 0, x, 7.0).data == -2.0
    assert gradwalk.where(x > 0, x, 7.0).data == 7.0
    assert gradwalk.maximum(1, 2) == 2.0
    low = Value(-1.0)
    x.clamp(low, 1).backward()
    assert (x.grad, low.grad) == (0.0, 1.0)


# --- the hot paths are held to the table ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "neg", "relu"])
@pytest.mark.parametrize("style", ["values", "constant right", "constant left", "int right", "int left"])
@given(st.tuples(*[st.floats(allow_nan=True) | st.integers(-3, 3).map(float)] * 2))
@settings(max_examples=60, deadline=None)
def test_hot_operators_equal_their_line_of_the_table(name: str, style: str, point: tuple[float, float]) -> None:
    op = TABLE[name]
    f: Any = Value.relu if name == "relu" else GRADWALK[name]
    point_used: tuple[float, ...]
    if op.arity == 1:
        node, point_used = f(Value(point[0])), (point[0],)
    else:
        x, y = point
        if style.startswith("int"):
            x, y = float(round(x)) if math.isfinite(x) else 2.0, float(round(y)) if math.isfinite(y) else 3.0
        point_used = (x, y)
        node = {
            "values": lambda: f(Value(x), Value(y)),
            "constant right": lambda: f(Value(x), y),
            "constant left": lambda: f(x, Value(y)),
            "int right": lambda: f(Value(x), int(y)),
            "int left": lambda: f(int(x), Value(y)),
        }[style]()
    out = op.forward(*point_used)
    assert same(node.data, out)
    slopes = op.local(*point_used, out)
    if name in ("add", "mul") and style.endswith("left"):
        slopes.reverse()  # 2 + v is stored as v + 2
    for x_or_y, slope, expected in zip(node.inputs, node.slopes, slopes, strict=True):
        if slope is None:
            assert x_or_y.__class__ is float
        else:
            assert same(slope, expected)


def same(x: float, y: float) -> bool:
    return x == y or (math.isnan(x) and math.isnan(y))


@pytest.mark.parametrize(("name", "point"), [edge for edge in EDGES if edge[0] in ("mul", "div", "pow", "relu")])
def test_hot_operators_equal_the_table_at_the_edges(name: str, point: tuple[float, ...]) -> None:
    node = GRADWALK[name](*map(Value, point)) if name != "relu" else Value(point[0]).relu()
    out = TABLE[name].forward(*point)
    assert same(node.data, out)
    assert all(map(same, node.slopes, TABLE[name].local(*point, out)))


# --- backward ------------------------------------------------------------------------------------------------------


def test_expression_l() -> None:
    a, b, c, f = (Value(x) for x in (2.0, -3.0, 10.0, -2.0))
    e = a * b
    d = e + c
    loss = d * f
    loss.backward()
    assert (e.data, d.data, loss.data) == (-6.0, 4.0, -8.0)
    assert [v.grad for v in (loss, d, f, c, e, a, b)] == [1.0, -2.0, 4.0, -2.0, -2.0, 6.0, -4.0]


def test_the_neuron() -> None:
    x1, x2, w1, w2, b = (Value(x) for x in (2.0, 0.0, -3.0, 1.0, 6.8813735870195432))
    n = x1 * w1 + x2 * w2 + b
    o = n.tanh()
    o.backward()
    assert math.isclose(o.data, 0.7071067811865476)
    for v, grad in ((n, 0.5), (x1, -1.5), (w1, 1.0), (x2, 0.5), (w2, 0.0), (b, 0.5)):
        assert math.isclose(v.grad, grad, abs_tol=1e-12)


SHARED: dict[str, tuple[Callable[..., Value], tuple[float, ...], tuple[float, ...]]] = {
    "a + a": (lambda a: a + a, (3.0,), (2.0,)),
    "a · a": (lambda a: a * a, (3.0,), (6.0,)),
    "a - a": (lambda a: a - a, (3.0,), (0.0,)),
    "a / a": (lambda a: a / a, (4.0,), (0.0,)),
    "diamond": (lambda a: (a + 1) * (a * 3), (2.0,), (15.0,)),
    "shared pair": (lambda a, b: (a * b) * (a + b), (-2.0, 3.0), (-3.0, -8.0)),
    "two uses deep": (lambda a: (lambda b: b * b + b)(a * 2), (3.0,), (26.0,)),
    "its mirror": (lambda a: (lambda b: b + b * b)(a * 2), (3.0,), (26.0,)),
    "twice twice": (lambda a: (lambda b: b + b)(a + a), (3.0,), (4.0,)),
    "three uses": (lambda a: 3 * a.tanh() + a * a, (0.0,), (3.0,)),
}


@pytest.mark.parametrize("name", SHARED)
def test_contributions_add_up(name: str) -> None:
    f, point, expected = SHARED[name]
    leaves = [Value(x) for x in point]
    f(*leaves).backward()
    assert tuple(leaf.grad for leaf in leaves) == expected


def test_leaves_accumulate_once_for_each_call_and_interiors_are_set_anew() -> None:
    x = Value(3.0)
    square = x * x
    y = square * x
    for call in (1, 2, 3):
        y.backward()
        assert (x.grad, square.grad, y.grad) == (27.0 * call, 3.0, 1.0)
    x.grad = 0.0
    y.backward()
    assert x.grad == 27.0


def test_two_losses_on_shared_nodes() -> None:
    x = Value(2.0)
    shared = x * x
    first, second = shared * 3, shared + x
    first.backward()
    assert (x.grad, shared.grad) == (12.0, 3.0)
    second.backward()
    assert (x.grad, shared.grad) == (12.0 + 5.0, 1.0)
    assert first.grad == 1.0


def test_backward_on_a_leaf() -> None:
    x = Value(2.0)
    x.backward()
    x.backward()
    assert x.grad == 2.0


def test_backward_from_a_given_gradient() -> None:
    x = Value(2.0)
    y = x * x
    y.backward(10)
    assert (x.grad, y.grad) == (40.0, 10.0)
    with pytest.raises(errors.NotANumberError):
        y.backward("one")  # type: ignore[arg-type]


def test_local_derivatives_belong_to_the_forward_pass() -> None:
    a, b = Value(2.0), Value(3.0)
    y = a * b
    a.data = b.data = 100.0
    y.backward()
    assert (a.grad, b.grad) == (3.0, 2.0)


def test_backward_leaves_data_and_constants_alone() -> None:
    x = Value(2.0)
    y = 3 - x * 5
    constant = y.operands[0]
    y.backward()
    assert (x.data, y.data, constant.data, constant.grad, x.grad) == (2.0, -7.0, 3.0, 0.0, -5.0)


# --- walking by hand, and closures of one's own ----------------------------------------------------------------------


def test_backward_by_hand_on_every_node() -> None:
    a, b = Value(2.0), Value(-3.0)
    c = a * b
    d = c + a
    d.grad = 1.0
    for node in (d, c, a, b):
        node._backward()
    assert (c.grad, a.grad, b.grad) == (1.0, -2.0, 2.0)


def test_hand_called_backward_of_a_constant_operand_and_of_three_operands() -> None:
    x = Value(2.0)
    y = 5 / x
    y.grad = 1.0
    y._backward()
    assert x.grad == -1.25
    z = x.clamp(0, 3)
    z.grad = 2.0
    z._backward()
    assert x.grad == 0.75


def cube(x: Value) -> Value:
    out = Value(x.data**3, (x,), "cube")

    def _backward() -> None:
        x.grad += 3 * x.data**2 * out.grad

    out._backward = _backward
    return out


def test_a_closure_as_learners_write_it_is_honoured() -> None:
    x = Value(2.0)
    y = cube(x * 2) + x
    for call in (1, 2):
        y.backward()
        assert x.grad == 97.0 * call


def test_a_closure_replaces_an_ops_own_derivative() -> None:
    x = Value(2.0)
    y = x * 3

    def seven() -> None:
        x.grad += 7.0

    y._backward = seven
    assert y._backward is seven
    (y * 1).backward()
    assert (x.grad, y._op, y.operands[0]) == (7.0, "*", x)


def test_a_closure_may_call_what_was_there_before_it() -> None:
    x = Value(2.0)
    y = x * 3
    inner, seen = y._backward, []

    def watched() -> None:
        seen.append(y.grad)
        inner()

    y._backward = watched
    (y * y).backward()
    assert (x.grad, seen) == (36.0, [12.0])


def test_a_closure_on_a_leaf_is_run_too() -> None:
    seen = []
    x = Value(2.0)
    x._backward = lambda: seen.append(x.grad)
    (x * 5).backward()
    assert seen == [5.0]
    assert x.grad == 5.0


def test_a_leaf_with_a_closure_adds_up_as_other_leaves_do() -> None:
    x, seen = Value(2.0), []
    x._backward = lambda: seen.append(x.grad)  # as micrograd's constructor sets one that does nothing
    (x * 5).backward()
    (x * 3).backward()
    assert x.grad == 8.0
    assert seen == [5.0, 3.0]  # it sees what the walk brings


@pytest.mark.parametrize("held", [np.float32(1.5), np.int64(2), np.array(1.5), Fraction(3, 2)])
def test_a_gradient_may_be_set_to_any_real_number(held: Any) -> None:
    x = Value(2.0)
    x.grad = held
    (x * 5).backward()
    assert x.grad == held + 5.0
    assert type(x.grad) is float


class WithoutSuper(Value):
    """A class that sets micrograd's fields by itself."""

    def __init__(self, data: Any, _children: Any = (), _op: str = "", *, tag: str = "") -> None:
        self.data, self.grad, self._prev, self._op, self.tag = data, 0.0, set(_children), _op, tag
        self._backward = lambda: None

    def cube(self) -> WithoutSuper:
        out = WithoutSuper(self.data**3, (self,), "cube")

        def _backward() -> None:
            self.grad += 3 * self.data**2 * out.grad

        out._backward = _backward
        return out


def test_a_subclass_may_set_micrograds_fields_without_the_constructor_of_value() -> None:
    x = WithoutSuper(2.0, tag="x")
    y = x.cube()
    for call in (1, 2):
        (y * x + 1).backward()
        assert x.grad == 32.0 * call
    assert (y._op, y._prev, x.tag, x.is_leaf, y.is_leaf, x._op) == ("cube", {x}, "x", True, False, "")
    assert (copy.copy(x).tag, type(copy.deepcopy(y)), (x * 2)._op) == ("x", WithoutSuper, "*")


def test_data_is_not_set_to_a_value() -> None:
    p = Value(2.0)
    (p * p).backward(create_graph=True)
    with pytest.raises(errors.NotANumberError, match=r"^data is a plain number, not a Value: Value\(data=1.6, .*data"):
        p.data -= 0.1 * p.grad
    with gradwalk.no_grad(), pytest.raises(errors.NotANumberError):
        p.data -= 0.1 * p.grad
    assert p.data == 2.0
    p.data -= 0.1 * p.grad.data
    assert p.data == 1.6


@pytest.mark.parametrize("bad", [None, "1", 1j, [1.0], np.array([1.0, 2.0]), np.array([])], ids=repr)
def test_data_is_one_number(bad: Any) -> None:
    """An array would be computed with in silence, number by number."""
    p = Value(2.0)
    with pytest.raises(errors.NotANumberError, match="a Value holds one real number"):
        p.data = bad
    with pytest.raises(errors.NumberTooLargeError):
        p.data = 10**400
    assert p.data == 2.0


def test_an_int_that_is_set_is_a_float() -> None:
    """Ints grow without end where floats end at inf."""
    p = Value(1.0)
    p.data = 10
    x = p
    for _ in range(12):
        x = x * x
    assert (repr(p.data), x.data) == ("10.0", math.inf)


def test_children_and_op_can_be_assigned() -> None:
    a, b = Value(1.0), Value(2.0)
    out = Value(3.0)
    out._prev = {a, b}
    out._op = "plus"

    def push() -> None:
        a.grad += out.grad
        b.grad += out.grad

    out._backward = push
    out.backward()
    assert (a.grad, b.grad, out._op, out._prev) == (1.0, 1.0, "plus", {a, b})
    out._prev = ()
    assert out._prev == set()


def test_operands_keep_their_order_and_repeats() -> None:
    a, b = Value(1.0), Value(2.0)
    assert (a * a).operands == (a, a)
    assert (b - a).operands == (b, a)
    assert (a * a)._prev == {a}
    five_minus = 5 - a
    assert [v.data for v in five_minus.operands] == [5.0, 1.0]
    assert five_minus.operands == five_minus.operands
    assert five_minus.local_derivatives == (None, -1.0)
    assert (a**2).operands == (a,)
    assert (a**2).local_derivatives == (2.0,)
    assert [v.data for v in a.clamp(0, 3).operands] == [1.0, 0.0, 3.0]
    assert a.clamp(0, 3).local_derivatives == (1.0, None, None)


def test_a_hooked_power_keeps_its_looks() -> None:
    a = Value(3.0)
    y = a**2
    y.register_hook(lambda g: None)
    assert (y._op, y.operands, y.local_derivatives) == ("**2", (a,), (6.0,))
    y.backward()
    assert a.grad == 6.0


# --- hooks, detach, zero_grad ----------------------------------------------------------------------------------------


def test_hooks_see_and_replace_the_gradient() -> None:
    x, seen = Value(3.0), []
    square = x * x

    def halve(gradient: float) -> float:
        seen.append(gradient)
        return gradient / 2

    handle = square.register_hook(halve)
    y = square * 4
    y.backward()
    assert (seen, square.grad, x.grad) == ([4.0], 2.0, 12.0)
    handle.remove()
    y.backward()
    assert (seen, x.grad) == ([4.0], 12.0 + 24.0)


def test_a_hook_on_a_leaf_sees_this_walks_gradient_alone() -> None:
    seen: list[float] = []
    x = Value(3.0)
    x.register_hook(seen.append)
    y = x * x
    y.backward()
    y.backward()
    assert (seen, x.grad) == ([6.0, 6.0], 12.0)


def test_several_hooks_run_in_order() -> None:
    x = Value(1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (x * 2).backward()
    assert x.grad == 30.0


def test_a_hook_may_set_the_gradient_of_its_node_instead_of_giving_one() -> None:
    x = Value(3.0)
    y = x * x

    def set_it(gradient: float) -> None:
        y.grad = 10.0

    y.register_hook(set_it)
    (y * 2).backward()
    assert x.grad == 60.0


def test_hooks_must_be_functions() -> None:
    with pytest.raises(errors.GraphError, match="function of the gradient, not int"):
        Value(1.0).register_hook(3)  # type: ignore[arg-type]


def test_detach() -> None:
    x = Value(3.0)
    d = (x * x).detach()
    assert (d.data, d.operands) == (9.0, ())
    (d * x).backward()
    assert (x.grad, d.grad) == (9.0, 3.0)


def test_zero_grad_of_a_graph_a_module_and_lists() -> None:
    class Model:
        cleared = False

        def zero_grad(self) -> None:
            self.cleared = True

    x, model = Value(3.0), Model()
    y = x * x
    y.backward()
    zero_grad([y, (model,)])
    assert (x.grad, y.grad, model.cleared) == (0.0, 0.0, True)
    for rubbish in (3, None, "x"):
        with pytest.raises(errors.GraphError, match="zero_grad takes a Value"):
            zero_grad(rubbish)


# --- create_graph -----------------------------------------------------------------------------------------------------


def test_create_graph_makes_gradients_that_can_be_differentiated() -> None:
    x = Value(2.0)
    y = x * x * x
    y.backward(create_graph=True)
    slope = x.grad
    assert isinstance(slope, Value)
    assert slope.data == 12.0
    x.grad = 0.0
    slope.backward()
    assert x.grad == 12.0  # 6x
    assert isinstance(y.grad, Value)
    assert y.grad.data == 1.0


def test_create_graph_accumulates_into_leaves() -> None:
    x = Value(2.0)
    (x * 5).backward()
    (x * x).backward(create_graph=True)
    assert x.grad.data == 9.0
    (x * x).backward(create_graph=True)
    assert x.grad.data == 13.0


def test_create_graph_adds_no_node_to_a_first_gradient_and_sets_interiors_anew() -> None:
    x = Value(2.0)
    double = x * 2
    y = double * 3
    for call in (1, 2):
        y.backward(create_graph=True)
        assert (x.grad.data, double.grad.data) == (6.0 * call, 3.0)
    x.grad = 0.0
    y.backward(create_graph=True)
    assert x.grad.operands == ()
    x.grad = 0.0
    (x + 1.0).backward(create_graph=True)  # nor is anything multiplied by 1
    assert (x.grad.data, x.grad.operands) == (1.0, ())


def test_create_graph_notices_data_that_changed_meanwhile() -> None:
    x = Value(2.0)
    y = x * x
    x.data = 5.0
    with pytest.raises(errors.BackwardError, match="slope in operand 1 was 2 and now would be 5; rebuild the graph"):
        y.backward(create_graph=True)


def test_create_graph_needs_a_rule_rather_than_a_closure() -> None:
    with pytest.raises(errors.BackwardError, match=r"define the operation with @gradwalk\.op"):
        cube(Value(2.0)).backward(create_graph=True)


def test_create_graph_through_constants_at_the_edges() -> None:
    x = Value(1.0)
    (x / 0).backward(create_graph=True)
    assert x.grad.data == inf
    x = Value(2.0)
    (0**x).backward(create_graph=True)
    assert x.grad.data == 0.0
    x = Value(0.5)
    x.clamp(0, 1).backward(create_graph=True)
    assert x.grad.data == 1.0


# --- copying ---------------------------------------------------------------------------------------------------------


@given(programs(max_steps=40))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_deep_copy_is_a_graph_of_its_own(program: Program) -> None:
    nodes = program.run(Value, GRADWALK)
    nodes[-1].label = "out"
    twin = copy.deepcopy(nodes[-1])
    twin.backward()
    assert all(v.grad == 0.0 for v in nodes)
    nodes[-1].backward()
    originals, copies = walk.topological(nodes[-1]), walk.topological(twin)
    for v, w in zip(originals, copies, strict=True):
        assert v is not w
        assert (v.data, v.grad, v._op, v.label, v.local_derivatives) == (
            w.data,
            w.grad,
            w._op,
            w.label,
            w.local_derivatives,
        )


def test_deep_copies_share_what_was_shared() -> None:
    a = Value(1.0)
    b, c = copy.deepcopy([a * 2, a])
    b.backward()
    assert (c.grad, a.grad) == (2.0, 0.0)


def test_leaves_can_be_pickled() -> None:
    a = Value(2.5)
    a.grad = 1.5
    b = pickle.loads(pickle.dumps(a))
    assert (b.data, b.grad, b.operands) == (2.5, 1.5, ())


# --- failures --------------------------------------------------------------------------------------------------------


def test_a_closure_that_raises_names_its_node_and_undoes_the_walk() -> None:
    a = Value(2.0, label="a")
    out = Value(4.0, (a,), "double", label="out")

    def broken() -> None:
        a.grad += 2.0
        a.data = 99.0
        raise ZeroDivisionError("oops")

    out._backward = broken
    y = out * 3 + a * 7
    a.grad = 0.25
    with pytest.raises(
        errors.BackwardError, match=r"failed at out = double\(a=2\): ZeroDivisionError: oops; data and"
    ) as e:
        y.backward()
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    assert (a.data, a.grad) == (2.0, 0.25)


def test_a_gradient_that_is_no_number_is_reported() -> None:
    a = Value(2.0, label="a")
    a.grad = None
    with pytest.raises(errors.BackwardError, match=r"the gradient of a=2 is None, .*zero_grad\(\)"):
        (a * 3).backward()
    assert a.grad is None


def test_a_backward_that_cannot_walk_changes_nothing() -> None:
    a, b = Value(2.0, label="a"), Value(3.0, label="b")
    inner = a * b
    inner.backward()
    before = [(v.data, v.grad) for v in (a, b, inner)]
    assert before == [(2.0, 3.0), (3.0, 2.0), (6.0, 1.0)]
    outer = inner + a
    failing = Value(8.0, (outer, inner), "failing")
    earlier = 0.0

    def push() -> None:
        nonlocal earlier
        earlier = outer.grad
        inner.grad += 100.0
        a.data = 7.0
        raise RuntimeError("no")

    failing._backward = push
    loss = failing * 2.0
    with pytest.raises(errors.BackwardError, match=r"failed at .*failing.*: RuntimeError: no; .* as they were"):
        loss.backward()
    assert [(v.data, v.grad) for v in (a, b, inner)] == before
    assert (earlier, outer.grad, failing.grad, loss.grad) == (0.0, 0.0, 0.0, 0.0)


def test_an_interrupted_walk_leaves_the_leaves_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = Value(2.0), Value(3.0)
    y = a * b + a
    y.backward()

    class Stop(float):
        def __mul__(self, other: float) -> float:
            raise KeyboardInterrupt

    y.operands[0]._da = Stop(1.0)
    for walk_back in (y.backward, lambda: y._walk_back(1.0)):
        with pytest.raises(KeyboardInterrupt):
            walk_back()
        assert (a.grad, b.grad) == (4.0, 2.0)
        monkeypatch.setattr(reverse, "walked_quickly", lambda *_: False)


def test_the_quick_walk_and_the_readable_one_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    def gradients(seed: int) -> list[float]:
        draw = random.Random(seed)
        leaves = [Value(draw.uniform(-1.0, 1.0)) for _ in range(4)]
        nodes = list(leaves)
        for _ in range(40):
            x, y = draw.choice(nodes), draw.choice(nodes)
            nodes.append(draw.choice((x * y, x + y, x - y, 2.0 - x, x.tanh(), x**2, x / 3.0)))
        for _ in range(2):
            nodes[-1].backward(0.3)
        return [v.grad for v in nodes]

    quick = [gradients(seed) for seed in range(50)]
    monkeypatch.setattr(reverse, "walked_quickly", lambda *_: False)
    assert quick == [gradients(seed) for seed in range(50)]


def test_a_cycle_is_an_error() -> None:
    a = Value(1.0, label="a")
    b = a + 1
    c = Value(3.0, (b,), "c")
    a._prev = (c,)
    for root in (a, b, c):
        with pytest.raises(errors.GraphError, match="cycle"):
            root.backward()
    with pytest.raises(errors.GraphError, match="depends on itself"):
        list(walk.topological(a))
    own = Value(1.0)
    own._prev = (own,)
    with pytest.raises(errors.GraphError, match="cycle"):
        own.backward()


@pytest.mark.parametrize("rubbish", ["a", None, 1 + 2j, [1.0], {}, object(), b"1", np.array([1.0]), np.complex128(1)])
def test_rubbish_is_refused_with_what_is_accepted(rubbish: Any) -> None:
    with pytest.raises(TypeError, match=r"a Value holds one real number \(int, float, or a NumPy number\), not "):
        Value(rubbish)
    for f in (
        lambda v: v + rubbish,
        lambda v: v - rubbish,
        lambda v: v * rubbish,
        lambda v: v / rubbish,
        lambda v: v**rubbish,
        lambda v: rubbish - v,
        lambda v: v.maximum(rubbish),
    ):
        with pytest.raises(TypeError):
            f(Value(1.0))


def test_remedies_for_rubbish() -> None:
    with pytest.raises(errors.NotANumberError, match=r"write float\('3'\)"):
        Value("3")
    with pytest.raises(errors.NotANumberError, match="make many Values"):
        Value([1, 2])
    import torch

    with pytest.raises(errors.NotANumberError, match=r"take its number with \.item\(\)"):
        Value(torch.tensor(1.0))


def test_huge_ints_are_refused_by_name() -> None:
    for f in (lambda: Value(10**400), lambda: Value(1.0) + 10**400, lambda: Value(1.0) * -(10**400)):
        with pytest.raises(errors.NumberTooLargeError, match="1329 bits"):
            f()


def test_children_must_be_values() -> None:
    with pytest.raises(errors.GraphError, match=r"wrap it as Value\(2.0\)"):
        Value(1.0, (2.0,))  # type: ignore[arg-type]
    for children in (Value(1.0), 3):
        with pytest.raises(errors.GraphError, match="come in a tuple"):
            Value(1.0, children)  # type: ignore[arg-type]


def test_nan_is_a_number_and_travels() -> None:
    x = Value(nan)
    y = x * 2 + 1
    y.backward()
    assert math.isnan(y.data)
    assert x.grad == 2.0


def test_a_subclass_of_value_takes_part() -> None:
    class Named(Value):
        pass

    x, y = Named(2.0), Value(3.0)
    out = y * x + x - y / x
    out.backward()
    assert (out.data, x.grad) == (6.5, 3.0 + 1.0 + 0.75)


def test_the_quick_order_is_a_topological_order() -> None:
    a, b = Value(1.0), Value(2.0)
    c = a * b
    d = (c + a) * (c - b)
    found = reverse._plain_order(d)
    assert found is not None
    order, leaves, untaken, hooked = found
    assert len(leaves) == 2
    assert not untaken
    assert not hooked
    assert set(leaves) == {a, b}
    place = {v: i for i, v in enumerate(order)}
    assert set(place) == {c, *d.operands, d}
    assert all(place[x] < place[v] for v in order for x in v.operands if x in place)
    assert reverse._plain_order(cube(a) * 2) is None


def test_the_quick_order_lists_a_shared_node_once_whichever_operand_it_is() -> None:
    """Every graph of four sums over two leaves, each of any two of the nodes before it, the last not left out."""
    pairs = [list(itertools.product(range(count), repeat=2)) for count in (2, 3, 4, 5)]
    for steps in itertools.product(*pairs[:3], [pair for pair in pairs[3] if 4 in pair]):
        nodes = [Value(1.0), Value(2.0)]
        for i, j in steps:
            nodes.append(nodes[i] + nodes[j])
        found = reverse._plain_order(nodes[-1])
        assert found is not None
        order = found[0]
        assert order == [v for v in order if v.operands]
        assert len(order) == len(set(order)) == sum(bool(v.operands) for v in walk.topological(nodes[-1])), steps


def test_a_node_seen_again_as_a_first_operand_pushes_once() -> None:
    x, y = Value(2.0), Value(5.0)
    p, r = x * y, x + y
    (p + p * r).backward()
    assert (x.grad, y.grad) == (5.0 + 45.0, 2.0 + 24.0)


@pytest.mark.parametrize(
    "operation",
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        lambda a, b: b + a,
        lambda a, b: b * a,
        lambda a, b: a ** (2 if isinstance(b, Value) else b),
        lambda a, b: -a,
        lambda a, b: a.relu(),
        lambda a, b: (-a).relu(),
        lambda a, b: a.tanh(),
    ],
)
@pytest.mark.parametrize("other", [Value(3.0), 3.0, 3])
def test_plain_operands_take_the_quick_road(operation: Any, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def general(op: Any, operands: Any) -> None:
        raise AssertionError(f"{op} of {operands} took the general road")

    monkeypatch.setattr(modes.bottom, "apply", general)
    assert operation(Value(2.0), other).operands


def test_slopes_can_be_set_whatever_a_node_was_made_of() -> None:
    a, b = Value(2.0), Value(3.0)
    for node, slopes in ((a * b, (5.0, 7.0)), (a.tanh(), (5.0,)), (gradwalk.clamp(a, 0.0, 4.0), (5.0, None, None))):
        node.slopes = slopes
        assert node.slopes == slopes
        zero_grad([a, b])
        node.backward()
        assert a.grad == 5.0


def test_ops_of_many_operands_are_walked_quickly_and_as_carefully() -> None:
    def build(a: Value, b: Value) -> Any:
        c = a * b
        return gradwalk.clamp(c, -2.0, 9.0) * gradwalk.where(a > b, c, a) + gradwalk.max(a, b, c, c) * b

    found = []
    for walk_back in (reverse.walked_quickly, engine.walk_back):
        for hooked in (False, True):
            a, b = Value(3.0), Value(2.0)
            loss = build(a, b)
            if hooked:
                loss.register_hook(lambda gradient: None)
            for _ in range(2):
                assert walk_back(loss, 1.0) is not False
            found.append((a.grad, b.grad, [v.grad for v in walk.topological(loss) if v.operands]))
    assert found == [found[0]] * 4


def hooked_graph(seed: int) -> tuple[list[Value], list[tuple[int, float]]]:
    """A random graph with hooks of all kinds on leaves and nodes, and what the hooks will have seen, in their order."""
    draw = random.Random(seed)
    nodes = [Value(draw.uniform(-1.0, 1.0)) for _ in range(4)]
    seen: list[tuple[int, float]] = []
    for _ in range(30):
        x, y, z = (draw.choice(nodes) for _ in range(3))
        nodes.append(
            draw.choice(
                (x * y, x + y, x - y, 2.0 - x, x.tanh(), gradwalk.where(x > y, x * z, y), gradwalk.max(x, y, z))
            )
        )

    def hook(i: int, kind: int) -> Any:
        def called(gradient: Any) -> Any:
            seen.append((i, gradient))
            other = nodes[draw.randrange(4, len(nodes))]
            if kind == 1:
                return 0.5 * gradient
            if kind == 2:
                other.register_hook(lambda g: seen.append((-i, g)))
            if kind == 3 and len(seen) < 20:  # there are hooks down there as well
                (other * 2.0).backward()
            if kind == 4:
                other._backward = lambda: seen.append((100 + i, gradient))
            if kind == 5:
                return 2
            return None

        return called

    for _ in range(6):
        i = draw.randrange(len(nodes))
        nodes[i].register_hook(hook(i, draw.randrange(6)))
    nodes[draw.randrange(len(nodes))].register_hook(print).remove()
    return nodes, seen


def test_hooks_are_walked_quickly_and_as_carefully() -> None:
    quickly = 0
    for seed in range(150):
        found = []
        for walk_back in (reverse.walked_quickly, engine.walk_back):
            nodes, seen = hooked_graph(seed)
            quickly += walk_back(nodes[-1], 0.3) is True
            for _ in range(2):
                walk_back = walk_back if reverse._plain_order(nodes[-1]) is not None else engine.walk_back
                walk_back(nodes[-1], 0.3)
            found.append(([v.grad for v in nodes], seen))
        assert repr(found[0]) == repr(found[1]), seed  # nan too
    assert quickly == 150


def test_a_hook_that_raises_names_its_node_and_undoes_the_quick_walk() -> None:
    for error in (ZeroDivisionError, KeyboardInterrupt):
        a, b = Value(2.0, label="a"), Value(3.0, label="b")
        inner = a * b
        inner.label = "inner"
        inner.backward()

        def broken(gradient: float, a: Value = a, b: Value = b, error: Any = error) -> None:
            a.grad, b.data = 99.0, 99.0
            raise error("oops")

        loss = inner * 2.0 + a
        inner.register_hook(broken)
        assert reverse._plain_order(loss) is not None
        expected = errors.BackwardError if error is ZeroDivisionError else KeyboardInterrupt
        with pytest.raises(expected, match=r"failed at inner = .*: ZeroDivisionError: oops; data and|^oops"):
            loss.backward()
        assert [(v.data, v.grad) for v in (a, b, inner, loss)] == [(2.0, 3.0), (3.0, 2.0), (6.0, 1.0), (14.0, 0.0)]


def test_what_a_hook_returns_fails_where_it_fails_and_undoes_the_quick_walk() -> None:
    class Odd(Value):
        times = 0

        def __rmul__(self, other: float) -> Odd:
            Odd.times += 1
            if Odd.times == 2:
                raise ZeroDivisionError
            return self

        def __radd__(self, other: float) -> Odd:
            return self

    for walk_back in (lambda v: v.backward(), lambda v: engine.walk_back(v, 1.0)):
        Odd.times = 0
        a = Value(2.0)
        inner = a * 3.0
        outer = inner * 5.0
        outer.register_hook(lambda gradient: Odd(1.0))
        with pytest.raises(errors.BackwardError, match=r"failed at 2 \* 3 = 6: ZeroDivisionError"):
            walk_back(outer + 1.0)
        assert (a.grad, inner.grad, outer.grad) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("wrong", [np.array([1.0, 2.0]), 1j, "2", [3.0], gradwalk.Tensor([1.0])], ids=repr)
def test_what_a_hook_gives_is_a_number(wrong: Any) -> None:
    for walk_back in (lambda v: v.backward(), lambda v: engine.walk_back(v, 1.0)):
        x = Value(3.0)
        y = x * x
        x.grad = 5.0
        hook = y.register_hook(lambda gradient: wrong)
        with pytest.raises(errors.BackwardError, match=r"a hook of 3 \* 3 = 9 gave .*, which is not a number"):
            walk_back(y + 1.0)
        assert (x.grad, y.grad) == (5.0, 0.0)
        hook.remove()
        x.register_hook(lambda gradient: np.float64(2.0))
        walk_back(y + 1.0)
        assert (x.grad, type(x.grad)) == (7.0, float)
        x.register_hook(lambda gradient: Value(4.0))  # a gradient may be a graph
        x.grad = 0.0
        walk_back(y + 1.0)
        assert x.grad.data == 4.0


def test_a_hook_that_a_hook_puts_on_a_leaf_is_called_in_the_same_walk() -> None:
    for walk_back in (lambda v: v.backward(), lambda v: engine.walk_back(v, 1.0)):
        a = Value(2.0)
        seen: list[float] = []
        loss = a * 3.0

        def hook(gradient: float, a: Value = a, seen: list[float] = seen) -> None:
            a.register_hook(seen.append)

        loss.register_hook(hook)
        a.grad = 10.0
        walk_back(loss)
        assert (seen, a.grad) == ([3.0], 13.0)


def test_a_leaf_whose_hook_was_taken_off_is_a_leaf_again() -> None:
    x = Value(3.0)
    x.register_hook(print).remove()
    loss = x * x
    assert reverse.walked_quickly(loss, 1.0)
    loss.backward()
    x.backward()
    assert x.grad == 13.0


def test_an_array_may_stand_before_a_tensor_and_a_number_of_numpy_before_a_value() -> None:
    three = np.array([3.0, 4.0])
    rest: Any = eager.apply(ops.sub, three, gradwalk.Tensor([1.0, 1.0]))
    assert rest.array.tolist() == [2.0, 3.0]
    assert eager.apply(ops.sub, three[0], Value(1.0)).data == 2.0
    with pytest.raises(errors.NotANumberError):
        eager.apply(ops.sub, three, Value(1.0))


def test_shares_are_added_to_all_leaves_or_to_none() -> None:
    leaves = [Value(1.0), Value(2.0), Value(3.0)]
    for v in leaves:
        v.grad = 5.0

    def broken_off() -> Iterator[float]:
        yield 1.0
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reverse.add_to_leaves(leaves, broken_off())
    assert [v.grad for v in leaves] == [5.0, 5.0, 5.0]
    reverse.add_to_leaves(leaves, [1.0, 2.0, 3.0])
    assert [v.grad for v in leaves] == [6.0, 7.0, 8.0]


# --- walks that break off ----------------------------------------------------------------------------------------


def breaking(walked: Callable[[], None]) -> Value:
    """A node whose walk does something and then raises."""
    v = Value(1.0, (Value(2.0),), "breaks")

    def closure() -> None:
        walked()
        raise ZeroDivisionError

    v._backward = closure
    return v


def test_what_closures_did_elsewhere_is_undone_in_reverse() -> None:
    undone: list[int] = []

    def walked() -> None:
        reverse.if_broken_off(lambda: undone.append(1))
        reverse.if_broken_off(lambda: undone.append(2))

    with pytest.raises(errors.BackwardError):
        breaking(walked).backward()
    assert undone == [2, 1]


def test_nothing_is_undone_after_a_walk_that_came_to_its_end() -> None:
    undone: list[int] = []
    v = Value(1.0, (Value(2.0),), "fine")
    v._backward = lambda: reverse.if_broken_off(lambda: undone.append(1))
    v.backward()
    reverse.if_broken_off(lambda: undone.append(2))  # no walk is under way
    with pytest.raises(errors.BackwardError):
        breaking(lambda: None).backward()
    assert undone == []


def test_a_walk_within_a_walk_undoes_its_own() -> None:
    undone: list[str] = []
    in_between: list[str] = []

    def walked() -> None:
        reverse.if_broken_off(lambda: undone.append("outer"))
        with pytest.raises(errors.BackwardError):
            breaking(lambda: reverse.if_broken_off(lambda: undone.append("inner"))).backward()
        in_between.extend(undone)

    with pytest.raises(errors.BackwardError):
        breaking(walked).backward()
    assert in_between == ["inner"]
    assert undone == ["inner", "outer"]


def test_slopes_that_are_all_cut_push_nothing() -> None:
    x = Value(0.0)
    root = x.sqrt()  # its slope is infinite, and 0 times that is nan
    y = root.exp()
    y.slopes = (ops.CUT,)
    y.backward()
    assert (x.grad, root.grad) == (0.0, 0.0)


def test_a_subclass_that_sets_the_fields_by_itself_begins_without_gradient() -> None:
    class Bare(Value):
        def __init__(self, data: float) -> None:
            self.data = data

    x = Bare(3.0)
    assert (x.grad, x.is_leaf, x.operands) == (0.0, True, ())
    (x * x).backward()
    assert x.grad == 6.0


def test_a_leaf_may_hold_any_number_as_its_gradient_and_nothing_else() -> None:
    x = Value(3.0)
    for held in (1, np.float32(1.0), Value(1.0), True):
        x.grad = held
        found = reverse.held_by_leaves([x])[x]
        assert getattr(found, "data", found) == 1.0
    x._grad = "much"
    with pytest.raises(errors.BackwardError, match="call zero_grad"):
        reverse.held_by_leaves([x])


def test_a_subclass_with_a_new_of_its_own_keeps_it() -> None:
    made: list[type] = []

    class Counted(Value):
        def __new__(cls, *_: object) -> Counted:
            made.append(cls)
            return super().__new__(cls)

        def __init__(self, data: float) -> None:
            super().__init__(data)

    class Plain(Value):
        pass

    assert (Counted(2.0) * 3.0).data == 6.0
    assert made == [Counted]
    assert "__new__" not in vars(Plain)
