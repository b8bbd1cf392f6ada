"""The op table: its entries, its rules on floats, and user-defined ops."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import points
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, errors, ops
from gradwalk.ieee import Ieee
from gradwalk.ops import TABLE, Op, choose, equal, number

inf, nan = math.inf, math.nan


def same(x: float, y: float) -> bool:
    return x == y or (math.isnan(x) and math.isnan(y))


# --- the table as data -----------------------------------------------------------------------------------------------


def test_the_table_holds_every_primitive_by_its_name() -> None:
    assert all(op.name == name for name, op in TABLE.items())
    assert all(getattr(ops, name) is op for name, op in TABLE.items())
    wanted = (
        "add sub mul div pow neg exp log log1p expm1 sqrt tanh sigmoid relu softplus sin cos abs maximum minimum erf"
    )
    assert set(wanted.split()) <= set(TABLE)
    assert repr(ops.tanh) == "<op tanh>"


@pytest.mark.parametrize("op", TABLE.values(), ids=str)
def test_entries_are_whole(op: Op) -> None:
    assert op.arity == len(op.partials) == len(op.domain) >= 1
    assert op.symbol
    assert all(low < high for low, high in op.domain)
    if op.rough is not None or op.domain != (ops.REALS,) * op.arity:
        assert op.there, "an op that is not smooth everywhere says what it gives there"


@pytest.mark.parametrize(
    ("name", "symbol"),
    [("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("pow", "**"), ("relu", "ReLU"), ("maximum", "max")],
)
def test_symbols_micrograd_users_know(name: str, symbol: str) -> None:
    assert TABLE[name].symbol == symbol


def test_what_is_left_out_has_its_default_and_what_is_named_is_for_tensors() -> None:
    assert ops.leaky_relu(-2.0) == -0.02
    assert ops.leaky_relu(Value(-2.0)).data == -0.02
    assert ops.clamp(gradwalk.Tensor([-1.0, 2.0]), min=0.5).tolist() == [0.5, 2.0]
    with pytest.raises(errors.OpError, match="without names: min"):
        ops.clamp(Value(1.0), min=0.5)


ROUGH_POINTS: list[tuple[str, tuple[float, ...], tuple[float, ...]]] = [
    ("relu", (0.0,), (1.0,)),
    ("abs", (0.0,), (-1.0,)),
    ("leaky_relu", (0.0, 0.1), (2.0, 0.1)),
    ("maximum", (2.0, 2.0), (1.0, 2.0)),
    ("minimum", (2.0, 2.0), (1.0, 2.0)),
    ("div", (1.0, 0.0), (0.0, 1.0)),
    ("clamp", (1.0, 1.0, 2.0), (1.5, 1.0, 2.0)),
    ("clamp", (2.0, 1.0, 2.0), (0.5, 1.0, 2.0)),
    ("where", (0.0, 1.0, 2.0), (1.0, 1.0, 2.0)),
]


@pytest.mark.parametrize(("name", "at", "off"), ROUGH_POINTS)
def test_rough_is_zero_exactly_where_the_op_is_not_smooth(
    name: str, at: tuple[float, ...], off: tuple[float, ...]
) -> None:
    rough = TABLE[name].rough
    assert rough is not None
    assert rough(*at) == 0.0
    assert rough(*off) != 0.0


def test_tan_is_rough_where_the_cosine_vanishes() -> None:
    assert ops.tan.rough is not None
    assert abs(ops.tan.rough(math.pi / 2)) < 1e-15
    assert ops.tan.rough(0.0) == 1.0


@pytest.mark.parametrize(
    ("name", "domain"),
    [("log", (0.0, inf)), ("sqrt", (0.0, inf)), ("pow", (0.0, inf)), ("log1p", (-1.0, inf)), ("asin", (-1.0, 1.0)),
     ("acos", (-1.0, 1.0)), ("exp", (-inf, inf))],
)  # fmt: skip
def test_domains(name: str, domain: tuple[float, float]) -> None:
    assert TABLE[name].domain[0] == domain


# --- values ----------------------------------------------------------------------------------------------------------

LAWS: dict[str, tuple[Any, Any]] = {
    "exp(log x) = x": (lambda x: gradwalk.exp(gradwalk.log(x)), lambda x: x),
    "log1p(expm1 x) = x": (lambda x: gradwalk.log1p(gradwalk.expm1(x)), lambda x: x),
    "sqrt(x)² = x": (lambda x: gradwalk.sqrt(x) ** 2, lambda x: x),
    "sin² + cos² = 1": (lambda x: gradwalk.sin(x) ** 2 + gradwalk.cos(x) ** 2, lambda x: 0 * x + 1),
    "cosh² - sinh² = 1": (lambda x: gradwalk.cosh(x) ** 2 - gradwalk.sinh(x) ** 2, lambda x: 0 * x + 1),
    "tan = sin / cos": (gradwalk.tan, lambda x: gradwalk.sin(x) / gradwalk.cos(x)),
    "tanh = sinh / cosh": (gradwalk.tanh, lambda x: gradwalk.sinh(x) / gradwalk.cosh(x)),
    "sigmoid = (1 + tanh(x/2)) / 2": (gradwalk.sigmoid, lambda x: (1 + gradwalk.tanh(x / 2)) / 2),
    "softplus(x) - softplus(-x) = x": (lambda x: gradwalk.softplus(x) - gradwalk.softplus(-x), lambda x: x),
    "asin + acos = π/2": (lambda x: gradwalk.asin(x / 3) + gradwalk.acos(x / 3), lambda x: 0 * x + math.pi / 2),
    "tan(atan x) = x": (lambda x: gradwalk.tan(gradwalk.atan(x)), lambda x: x),
    "relu(x) - relu(-x) = x": (lambda x: gradwalk.relu(x) - gradwalk.relu(-x), lambda x: x),
    "abs = max(x, -x)": (gradwalk.abs, lambda x: gradwalk.maximum(x, -x)),
    "max + min = x + 1": (lambda x: gradwalk.maximum(x, 1) + gradwalk.minimum(x, 1), lambda x: x + 1),
    "x / y = x · y⁻¹": (lambda x: 3 / x, lambda x: 3 * x**-1),
    "a - b = a + (-b)": (lambda x: x - x * x, lambda x: x + -(x * x)),
    "xʸ = exp(y log x)": (lambda x: x**1.7, lambda x: gradwalk.exp(1.7 * gradwalk.log(x))),
    "(x + 1)² = x² + 2x + 1": (lambda x: (x + 1) ** 2, lambda x: x * x + 2 * x + 1),
    "distribution": (lambda x: x * (x + 3), lambda x: x * x + x * 3),
}


@pytest.mark.parametrize("law", LAWS)
@given(x=st.floats(0.05, 2.9))
@settings(max_examples=30, deadline=None)
def test_algebraic_laws_hold_for_values_and_gradients(law: str, x: float) -> None:
    left, right = LAWS[law]
    v, w = Value(x), Value(x)
    a, b = left(v), right(w)
    a.backward()
    b.backward()
    assert math.isclose(a.data, b.data, rel_tol=1e-12, abs_tol=1e-12)
    assert math.isclose(v.grad, w.grad, rel_tol=1e-10, abs_tol=1e-10)
    assert math.isclose(left(x), right(x), rel_tol=1e-12, abs_tol=1e-12), "the same on plain floats"


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("exp", 1000.0, inf),
        ("expm1", 1000.0, inf),
        ("sinh", 1000.0, inf),
        ("sinh", -1000.0, -inf),
        ("cosh", -1000.0, inf),
        ("log", 0.0, -inf),
        ("log", -1.0, nan),
        ("log1p", -1.0, -inf),
        ("log1p", -2.0, nan),
        ("sqrt", -1.0, nan),
        ("sin", inf, nan),
        ("cos", -inf, nan),
        ("tan", inf, nan),
        ("asin", 2.0, nan),
        ("acos", -2.0, nan),
        ("tanh", 1000.0, 1.0),
        ("sigmoid", -1000.0, 0.0),
        ("sigmoid", 1000.0, 1.0),
        ("softplus", 1000.0, 1000.0),
        ("softplus", -1000.0, 0.0),
        ("softplus", nan, nan),
        ("softplus", inf, inf),
        ("sigmoid", nan, nan),
        ("relu", nan, nan),
        ("atan", inf, math.pi / 2),
    ],
)
def test_values_at_the_edges_are_never_exceptions(name: str, x: float, expected: float) -> None:
    assert same(TABLE[name](x), expected)


def rooted_by_numpy(x: float, y: float) -> bool:
    """NumPy takes x ** 0.5 as a root, which is nan for -inf where IEEE's power is inf."""
    return y == 0.5 and x == -inf


@given(st.floats(), st.floats())
@settings(max_examples=300, deadline=None)
def test_division_and_powers_never_raise(x: float, y: float) -> None:
    assert same(ops.div(x, y), float(np.divide(x, y))) if not math.isnan(x + y) else math.isnan(ops.div(x, y))
    if rooted_by_numpy(x, y):
        return
    ours, theirs = ops.pow(x, y), float(np.power(x, y))
    assert same(ours, theirs) or math.isclose(ours, theirs, rel_tol=1e-15), "two libraries may differ in the last bit"


@pytest.fixture(autouse=True)
def _quiet_numpy() -> Any:
    with np.errstate(all="ignore"):
        yield


@given(st.floats(700, 1e4))
def test_softplus_is_exact_far_out(x: float) -> None:
    assert ops.softplus(x) == x
    assert ops.softplus(-x) >= 0.0


def test_ops_on_plain_numbers() -> None:
    assert ops.add(1, 2) == 3.0
    assert ops.tanh(np.float64(0.0)) == 0.0
    with pytest.raises(errors.NotANumberError):
        ops.tanh("x")


@pytest.mark.parametrize("op", TABLE.values(), ids=str)
def test_a_wrong_number_of_operands_is_an_error(op: Op) -> None:
    for count in (op.arity - 1, op.arity + 1):
        for operand in (0.5, Value(0.5)):
            if count == op.arity - 1 and op.defaults:
                assert float(getattr(op(operand), "data", op(operand))) == op(0.5, *op.defaults)
            elif count:
                with pytest.raises(errors.OpError, match=f"takes {op.arity} operand"):
                    op(*[operand] * count)


@pytest.mark.parametrize("op", TABLE.values(), ids=str)
def test_rules_are_the_derivatives(op: Op) -> None:
    """Central differences here, tight ones in the tests of `check`."""

    @given(points(op))
    @settings(max_examples=25, deadline=None)
    def agrees(point: tuple[float, ...]) -> None:
        out = op.forward(*point)
        if abs(out) > 1e6:
            return
        for i, slope in enumerate(op.local(*point, out)):
            h = 1e-6 * max(1.0, abs(point[i]))
            up, down = list(point), list(point)
            up[i] += h
            down[i] -= h
            numeric = (op.forward(*up) - op.forward(*down)) / (up[i] - down[i])
            assert math.isclose(slope, numeric, rel_tol=1e-4, abs_tol=1e-4 * max(1.0, abs(out)))

    agrees()


# --- words for rules -------------------------------------------------------------------------------------------------


def test_choose() -> None:
    class Condition:
        def __gradwalk_choose__(self, yes: Any, no: Any) -> str:
            return f"{yes} or {no}"

    assert choose(True, 1, 2) == 1
    assert choose(False, 1, 2) == 2
    assert choose(Condition(), 1, 2) == "1 or 2"
    assert [choose(np.bool_(x), 1, 2) for x in (True, False)] == [1, 2]


def test_choose_is_not_mistaken_for_that_of_numpy() -> None:
    x = np.array([-1.0, 2.0, 3.0])
    for condition in (x <= 0.0, x, [True], "yes", None, 1.0):
        with pytest.raises(errors.OpError, match="choose takes one condition"):
            choose(condition, 0.0, 1.0)
    with pytest.raises(errors.OpError, match="choose takes one condition"):
        TABLE["relu"].partials[0](x, x)


def test_equal() -> None:
    assert equal(1.0, 1.0) is True
    assert equal(1.0, 2.0) is False
    assert equal(2.0, 1.0) is False
    assert equal(nan, nan) is False
    assert equal(Value(1.0), Value(1.0)) is True


@given(st.floats(), st.floats())
@settings(max_examples=200, deadline=None)
def test_ieee_floats_follow_numpy(x: float, y: float) -> None:
    if rooted_by_numpy(x, y) or rooted_by_numpy(y, x):
        return
    with np.errstate(all="ignore"):
        a, b = Ieee(x), np.float64(x)
        for ours, theirs in (
            (a + y, b + y), (y + a, y + b), (a - y, b - y), (y - a, y - b), (a * y, b * y), (y * a, y * b),
            (a / y, b / y), (y / a, np.float64(y) / b), (a**y, b**y), (y**a, np.float64(y) ** b), (-a, -b),
        ):  # fmt: skip
            assert isinstance(ours, Ieee)
            assert same(float(ours), float(theirs)) or math.isclose(ours, theirs, rel_tol=1e-15)


def test_ieee_floats_leave_values_their_own_arithmetic() -> None:
    v = Value(2.0)
    for out in (Ieee(8.0) / v, Ieee(2.0) * v, v + Ieee(2.0), v / Ieee(0.5)):
        assert isinstance(out, Value)
        assert out.data == 4.0
    assert isinstance(ops.pow(Ieee(2.0), v), Value)
    assert isinstance(ops.exp(Ieee(0.0)), Ieee)


# --- number ----------------------------------------------------------------------------------------------------------


def test_number_shows_up_to_sixty_characters_whole() -> None:
    with pytest.raises(errors.NotANumberError, match=f"not str: '{'x' * 58}';"):
        number("x" * 58)
    for length in (59, 500):
        with pytest.raises(errors.NotANumberError, match=rf"not str: '{'x' * 56}\.\.\.;") as e:
            number("x" * length)
        assert len(str(e.value)) < 300


def test_ops_that_take_one_of_their_operands_say_so() -> None:
    assert {name for name, op in TABLE.items() if op.cuts} == {"leaky_relu", "maximum", "minimum", "clamp", "where"}
    assert not gradwalk.op(lambda x, out: 2.0 * x)(lambda x: x * x).cuts


# --- user-defined ops ------------------------------------------------------------------------------------------------


@gradwalk.op(lambda x, out: out * (gradwalk.log(x) + 1), symbol="x^x", domain=((0.0, inf),))
def self_power(x: float) -> float:
    """x to the x."""
    return float(x**x)


@gradwalk.op(lambda x, y, out: x / out, lambda x, y, out: y / out)
def hypotenuse(x: float, y: float) -> float:
    return math.hypot(x, y)


@gradwalk.op(lambda x, y, z, out: y, lambda x, y, z, out: x, lambda x, y, z, out: 1)
def multiply_add(x: float, y: float, z: float) -> float:
    return x * y + z


def test_a_user_defined_op_works_eagerly_and_on_floats() -> None:
    x = Value(2.0)
    y = self_power(x)
    y.backward()
    assert y.data == self_power(2.0) == 4.0
    assert math.isclose(x.grad, 4 * (math.log(2) + 1))
    assert (y._op, self_power.name, self_power.__doc__) == ("x^x", "self_power", "x to the x.")
    assert self_power.domain == ((0.0, inf),)


def test_a_user_defined_op_works_at_higher_order() -> None:
    x = 1.5
    first = x**x * (math.log(x) + 1)
    second = first * (math.log(x) + 1) + x**x / x
    assert math.isclose(gradwalk.grad(gradwalk.grad(self_power))(x), second, rel_tol=1e-13)
    (row_a, row_b) = gradwalk.hessian(hypotenuse)(3.0, 4.0)
    for ours, expected in zip((*row_a, *row_b), (16 / 125, -12 / 125, -12 / 125, 9 / 125), strict=True):
        assert math.isclose(ours, expected, rel_tol=1e-13)


def test_a_user_defined_op_of_three_operands() -> None:
    x, y, z = Value(2.0), Value(3.0), Value(4.0)
    out = multiply_add(x, y, z) * 2
    out.backward()
    assert (out.data, x.grad, y.grad, z.grad) == (20.0, 6.0, 4.0, 2.0)
    assert gradwalk.hessian(lambda a: multiply_add(a, a, a))(3.0) == 2.0
    assert multiply_add(x, 3, 4.0).data == 10.0


def test_python_arithmetic_in_user_rules_is_ieee_at_the_edges() -> None:
    inverse = gradwalk.op(lambda x, out: -1 / (x * x))(lambda x: 1 / x)
    x = Value(0.0)
    y = inverse(x)
    y.backward()
    assert (y.data, x.grad) == (inf, -inf)
    root = gradwalk.op(lambda x, out: 0.5 * x**-0.5)(lambda x: x**0.5)
    z = root(Value(-4.0))
    assert math.isnan(z.data)
    overflow = gradwalk.op(lambda x, out: 2 * x)(lambda x: x**2)
    assert overflow(Value(1e200)).data == inf


@pytest.mark.parametrize(
    ("value", "rule", "message"),
    [
        (lambda x: "text", lambda x, out: 1.0, "the value of <lambda> gave str 'text'"),
        (lambda x: None, lambda x, out: 1.0, "gave NoneType None"),
        (math.log, lambda x, out: 1.0, r"the value of log raised ValueError .* at \(-1.0\); gradwalk's own functions"),
        (lambda x: x, lambda x, out: [1.0], "the derivative of <lambda> with respect to operand 1 gave list"),
        (lambda x: x, lambda x: 1.0, "with respect to operand 1 raised TypeError"),
        (lambda x: 1j, lambda x, out: 1.0, "gave complex"),
        (
            lambda x: 10**400,
            lambda x, out: 1.0,
            r"^the value of <lambda> at \(-1.0\): an int of 1329 bits does not fit",
        ),
        (lambda x: np.ones(1), lambda x, out: 1.0, "gave ndarray"),
    ],
)
def test_a_user_defined_op_that_misbehaves_is_named(value: Any, rule: Any, message: str) -> None:
    with pytest.raises(errors.OpError, match=message):
        gradwalk.op(rule)(value)(Value(-1.0))


@pytest.mark.parametrize("rules", [(), (3,), (None,), ("2 * x",)])
def test_op_needs_rules(rules: tuple[Any, ...]) -> None:
    with pytest.raises(errors.OpError, match="one derivative rule for each operand"):
        gradwalk.op(*rules)


def test_ints_and_bools_from_user_ops_become_floats() -> None:
    step = gradwalk.op(lambda x, out: 0)(lambda x: x > 0)
    out = step(Value(3.0))
    assert out.data == 1.0
    assert out.data.__class__ is float
    assert out.local_derivatives == (0.0,)


def test_numbers_of_numpy_and_fractions_from_user_ops_become_floats() -> None:
    for given_back in (np.float32(0.5), np.int64(2), np.bool_(True), np.array(0.5), Fraction(1, 2)):
        out = gradwalk.op(lambda x, out, n=given_back: n)(lambda x, n=given_back: n)(Value(3.0))
        assert (out.data, out.local_derivatives) == (given_back, (given_back,))
        assert [type(x) for x in (out.data, *out.local_derivatives)] == [float, float]


def test_ops_are_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ops.exp.name = "other"  # type: ignore[misc]
    assert dataclasses.replace(ops.exp, name="other").name == "other"
    assert copy.copy(ops.exp) is copy.deepcopy(ops.exp) is ops.exp


def test_an_op_is_known_by_its_identity() -> None:
    one, other = (gradwalk.op(_itself)(abs) for _ in range(2))
    assert one != other
    assert len({one, other, one}) == 2


def _itself(x: Any, out: Any) -> Any:
    return x


@pytest.mark.parametrize("op", TABLE.values(), ids=lambda op: op.name)
def test_help_shows_what_an_op_says_of_itself(op: ops.Op) -> None:
    assert op.__doc__ == (op.doc or ops.Op.__doc__)


def test_an_op_without_words_shows_those_of_its_kind() -> None:
    plain = dataclasses.replace(TABLE["tanh"], doc="", domain=())
    assert plain.__doc__ == ops.Op.__doc__
    assert plain.domain == (ops.REALS,)


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("maximum", (0.0, -0.0), 0.0),
        ("maximum", (-0.0, 0.0), -0.0),
        ("minimum", (0.0, -0.0), 0.0),
        ("minimum", (-0.0, 0.0), -0.0),
        ("leaky_relu", (0.0, -0.5), -0.0),
        ("leaky_relu", (-0.0, -0.5), 0.0),
        ("leaky_relu", (-0.0, 0.5), -0.0),
    ],
)
def test_zeros_have_pytorchs_sign(name: str, operands: tuple[float, float], expected: float) -> None:
    out = TABLE[name](*operands)
    assert out == 0.0
    assert math.copysign(1.0, out) == math.copysign(1.0, expected)


def test_relu_gives_zero_without_a_sign_on_every_road() -> None:
    for zero in (ops.relu.value(-0.0), Value(-0.0).relu().data, ops.relu(Value(-0.0)).data, TABLE["relu"](-0.0)):
        assert (zero, math.copysign(1.0, zero)) == (0.0, 1.0)


def test_what_has_half_of_a_fraction_is_no_number() -> None:
    class Half:
        numerator = 1

        def __float__(self) -> float:
            return 0.5

    class Other:
        denominator = 2

        def __float__(self) -> float:
            return 0.5

    for x in (Half(), Other(), int, Fraction):
        with pytest.raises(errors.NotANumberError):
            ops.number(x)
    assert ops.number(Fraction(1, 2)) == 0.5


def test_ops_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(self_power)) is self_power
    assert pickle.loads(pickle.dumps(ops.tanh)) is ops.tanh


def test_the_slope_of_leaky_relu_is_a_hundredth_unless_one_says_otherwise() -> None:
    assert Value(-1.0).leaky_relu().data == -0.01
    assert Value(-1.0).leaky_relu(0.25).data == -0.25


@pytest.mark.parametrize("name", ["__add__", "__mul__", "__neg__", "relu"])
def test_a_method_that_spells_out_its_op_goes_by_its_own_name(name: str) -> None:
    assert getattr(Value, name).__qualname__ == f"Value.{name}"


def test_a_method_that_spells_out_its_op_says_what_it_does() -> None:
    assert (Value.relu.__doc__ or "").startswith("The number itself if positive")


class Unknown:
    """A number that is not known yet."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __gradwalk_equal__(self, other: Any) -> str:
        self.asked.append(other)
        return "asked"


def test_a_number_that_is_not_known_yet_is_asked_from_either_side() -> None:
    unknown = Unknown()
    assert equal(unknown, 1.0) == equal(2.0, unknown) == "asked"
    assert unknown.asked == [1.0, 2.0]


def test_leaky_relu_takes_its_slope_at_the_kink() -> None:
    assert Value(0.0).leaky_relu(Value(0.5)).slopes == (0.5, 0.0)
    assert Value(0.0).leaky_relu(Value(0.5)).slopes[1] is not ops.CUT
    assert Value(1.0).leaky_relu(Value(0.5)).slopes[1] is ops.CUT


def test_a_rule_that_cannot_be_differentiated_again_is_named() -> None:
    @ops.op(lambda x, out: math.cos(x))
    def sine(x: float) -> float:
        return math.sin(x)

    assert gradwalk.grad(sine)(0.0) == 1.0
    with pytest.raises(errors.OpError, match=r"^the derivative of sine .* operand 1 raised TypeError .*gradwalk's own"):
        gradwalk.hessian(sine)(0.0)


def test_an_op_has_a_rule_for_each_operand_of_its_function() -> None:
    with pytest.raises(errors.OpError, match=r"product takes 2 operand\(s\) and has 1 derivative rule\(s\)"):

        @gradwalk.op(lambda x, y, out: y)
        def product(x: float, y: float) -> float:
            return x * y

    @gradwalk.op  # without the rules
    def cube(x: float) -> float:
        return x**3

    with pytest.raises(errors.OpError, match="@op is given derivative rules first"):
        cube(Value(2.0))  # type: ignore[arg-type]

    @gradwalk.op(lambda x, out: 2.0)
    def scaled(x: float, by: float = 2.0) -> float:
        return x * by

    @gradwalk.op(lambda x, out: 1.0)
    def any_number(*x: float) -> float:
        return x[0]

    assert (gradwalk.grad(scaled)(3.0), gradwalk.grad(any_number)(3.0)) == (2.0, 1.0)


def test_the_op_that_the_recipe_adds_works_wherever_the_recipe_says() -> None:
    recipe = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    entry = textwrap.dedent(recipe.split("```python\n")[1].split("```")[0])
    script = f"""
import math
from gradwalk import ieee, ops
from gradwalk.ops import Op
{entry}
ops.TABLE["gaussian"] = gaussian
import gradwalk
from gradwalk import Tensor, Value
value, slope = math.exp(-0.25), -math.exp(-0.25)
assert (gaussian(Value(0.5)).data, gradwalk.grad(gaussian)(0.5)) == (value, slope)
assert gradwalk.gradcheck(gaussian, [0.5])
for arrays in ("numpy", "python"):
    with gradwalk.using_arrays(arrays):
        x = Tensor([0.5], requires_grad=True)
        gaussian(x).sum().backward()
        assert (gaussian(x).item(), x.grad.item()) == (value, slope), arrays
x = Tensor([0.5], requires_grad=True)
gradwalk.compile(lambda x: gaussian(x).sum())(x).backward()
assert x.grad.item() == slope
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
