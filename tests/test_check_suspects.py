"""Who is at fault: every op broken in turn must be caught and named, in our graphs and in learners' own engines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import micrograd.engine
import numpy as np
import pytest
from cases import GRADWALK, Program, programs
from hypothesis import given, settings
from test_check_nodes import by_hand

import gradwalk
from gradwalk import Value, ops, walk
from gradwalk.check import CheckReport, check_graph, gradcheck
from gradwalk.errors import BackwardError, GraphError, NotANumberError
from gradwalk.ops import TABLE, Op, Rule

# --- every derivative of every op, broken ----------------------------------------------------------------------------

#: Points at which, between them, every derivative of the op is not 0 (but that of `where` in its condition).
POINTS: dict[str, list[tuple[float, ...]]] = {
    "pow": [(1.7, 2.3)],
    "log1p": [(0.6,)],
    "maximum": [(1.5, -0.5), (-0.5, 1.5)],
    "minimum": [(1.5, -0.5), (-0.5, 1.5)],
    "leaky_relu": [(-1.3, 0.2)],
    "clamp": [(0.4, -1.0, 1.5), (-2.0, -1.0, 1.5), (2.0, -1.0, 1.5)],
    "where": [(1.0, 0.4, 0.7), (0.0, 0.4, 0.7)],
}
BREAKS: dict[str, Callable[[Rule], Rule]] = {
    "scaled by 1.001": lambda rule: lambda *given: rule(*given) * 1.001,
    "scaled by 1.00001": lambda rule: lambda *given: rule(*given) * 1.00001,
    "of the other sign": lambda rule: lambda *given: -rule(*given),
    "0.01 too large": lambda rule: lambda *given: rule(*given) + 0.01,
    "forgotten": lambda rule: lambda *given: 0.0,
}


def points_of(op: Op) -> list[tuple[float, ...]]:
    return POINTS.get(op.name, [(0.6, -0.8)[: op.arity]])


def broken() -> list[tuple[Op, int, str, tuple[float, ...]]]:
    """Each op, each of its derivatives, each way to break it, and a point at which that makes a difference."""
    found = []
    for op in TABLE.values():
        for place in range(op.arity):
            for way, change in BREAKS.items():
                for point in points_of(op):
                    given = (*point, op.forward(*point))
                    if change(op.partials[place])(*given) != op.slope(place, *given):
                        found.append((op, place, way, point))
                        break
    return found


def with_rule(op: Op, place: int, rule: Rule) -> Op:
    return replace(op, partials=(*op.partials[:place], rule, *op.partials[place + 1 :]))


def test_every_derivative_of_the_table_is_broken_below() -> None:
    assert {(op.name, place) for op, place, _, _ in broken()} == {
        (op.name, place) for op in TABLE.values() for place in range(op.arity)
    }
    assert len(broken()) > 200


@pytest.mark.parametrize(("op", "place", "way", "point"), broken(), ids=lambda x: getattr(x, "name", str(x)))
def test_a_broken_derivative_is_caught_and_named(op: Op, place: int, way: str, point: tuple[float, ...]) -> None:
    wrong = with_rule(op, place, BREAKS[way](op.partials[place]))

    def f(*leaves: Value) -> Any:
        return (wrong(*leaves) * 0.7 + leaves[0]).tanh()

    report = gradcheck(f, point, raise_error=False)
    assert not report
    assert [entry.status == "wrong" for entry in report.inputs] == [i == place for i in range(op.arity)]
    (suspect,) = report.suspects
    assert (suspect.op, suspect.operand) == (op.name, place + 1)
    right = op.slope(place, *point, op.forward(*point))
    assert suspect.expected == pytest.approx(right, rel=1e-8, abs=1e-8)
    assert suspect.got == wrong.slope(place, *point, op.forward(*point))
    assert f"at fault: {op.name}, at " in str(report)

    again = check_graph(f(*map(Value, point)), raise_error=False)
    assert again.suspects == report.suspects
    assert [entry.status for entry in again.inputs] == [entry.status for entry in report.inputs]
    assert gradcheck(f, point, method="taylor", raise_error=False).suspects == report.suspects


@pytest.mark.parametrize("op", [op for op in TABLE.values() if op.arity > 1], ids=lambda op: op.name)
def test_swapped_derivatives_are_caught(op: Op) -> None:
    for point in points_of(op):
        first, second, *_ = op.local(*point, op.forward(*point))
        wrong = replace(op, partials=(op.partials[1], op.partials[0], *op.partials[2:]))
        report = gradcheck(wrong, point, raise_error=False)
        assert report.ok == (first == second)
        assert {suspect.operand for suspect in report.suspects} == ({1, 2} if first != second else set())


def test_only_the_broken_op_of_a_large_graph_is_named() -> None:
    wrong = with_rule(ops.sin, 0, lambda x, out: ops.cos(x) * 1.001)

    def f(w: list[Value]) -> Any:
        nodes = list(w)
        for i in range(60):
            a, b = nodes[i % len(nodes)], nodes[(i * 7 + 3) % len(nodes)]
            nodes.append(wrong(a) if i in (20, 41) else (a * b).tanh() + b.exp() * 0.1)
        return sum(nodes)

    report = gradcheck(f, [[0.1, -0.4, 0.7]], raise_error=False)
    assert [suspect.op for suspect in report.suspects] == ["sin", "sin"]


def test_an_op_that_is_wrong_where_it_does_not_show_is_named_all_the_same() -> None:
    wrong = with_rule(ops.exp, 0, lambda x, out: 2 * out)
    report = gradcheck(lambda x: wrong(x) * 0.0 + x, [0.3], raise_error=False)
    assert [entry.status for entry in report.inputs] == ["ok"]
    assert report.suspects[0].op == "exp"
    assert "the gradients agree here, but an op is wrong on its own and will show elsewhere" in str(report)


def test_an_op_of_the_users_own_is_checked_like_any_other() -> None:
    @gradwalk.op(lambda x, y, out: 2 * x * y, lambda x, y, out: x * x)
    def area(x: float, y: float) -> float:
        return x * x * y

    assert gradcheck(area, [2.0, 3.0])
    wrong = with_rule(area, 1, lambda x, y, out: x)
    report = gradcheck(lambda x, y: wrong(x, y).log(), [2.0, 3.0], raise_error=False)
    (suspect,) = report.suspects
    assert (suspect.op, suspect.operand, suspect.got) == ("area", 2, 2.0)
    assert suspect.node == "area(2, 3) = 12"


def test_a_rule_that_raises_beside_the_point_is_no_trouble() -> None:
    @gradwalk.op(lambda x, out: -1.5 * math.sqrt(1.0 - x))
    def root_of_cube(x: float) -> float:
        return math.sqrt(1.0 - x) ** 3

    assert gradcheck(lambda x: root_of_cube(x) + x, [1.0])
    assert gradcheck(lambda x: root_of_cube(x) + x, [0.5])


# --- nodes with a closure of their own ----------------------------------------------------------------------------


def test_a_closure_is_checked_against_the_op_that_its_text_names() -> None:
    right = by_hand("tanh", math.tanh, lambda x: 1 - math.tanh(x) ** 2)
    wrong = by_hand("tanh", math.tanh, lambda x: 1 - x**2)
    assert gradcheck(lambda x: right(x * 2) * 3, [0.4])
    report = gradcheck(lambda x: wrong(x * 2) * 3, [0.4], raise_error=False)
    (suspect,) = report.suspects
    assert (suspect.op, suspect.operand) == ("tanh", 1)
    assert (suspect.got, suspect.expected) == pytest.approx((1 - 0.8**2, 1 - math.tanh(0.8) ** 2))


def test_a_node_that_holds_another_last_digit_is_known_by_its_text_all_the_same() -> None:
    wrong = by_hand("tanh", lambda x: math.nextafter(math.tanh(x), 2.0), lambda x: 1 - x**2)
    report = gradcheck(lambda x: wrong(x * 2) * 3, [0.4], raise_error=False)
    assert [suspect.op for suspect in report.suspects] == ["tanh"]


def test_a_closure_with_a_text_that_lies_is_not_judged_by_it() -> None:
    lying = by_hand("tanh", lambda x: x**3, lambda x: 3 * x**2)
    assert gradcheck(lambda x: lying(x * 2) * 3, [0.4])


def test_a_closure_of_an_unknown_op_is_found_by_running_f_again() -> None:
    right = by_hand("cube", lambda x: x**3, lambda x: 3 * x**2)
    wrong = by_hand("cube", lambda x: x**3, lambda x: 2 * x**2)
    assert gradcheck(lambda x, y: right(x * y) + y, [0.4, 2.0])
    report = gradcheck(lambda x, y: wrong(x * y) + right(y), [0.4, 2.0], raise_error=False)
    (suspect,) = report.suspects
    assert (suspect.op, suspect.operand, suspect.node) == ("cube", 1, "cube(0.8) = 0.512")
    assert (suspect.got, suspect.expected) == pytest.approx((2 * 0.64, 3 * 0.64))


def test_a_node_that_no_input_moves_cannot_be_checked_and_one_that_is_right_is_not_blamed() -> None:
    right = by_hand("cube", lambda x: x**3, lambda x: 3 * x**2)

    def f(x: Value, y: Value, elsewhere: float) -> Value:
        x.register_hook(lambda g: 2 * g)
        return right(x) + y * right(Value(elsewhere)) if elsewhere else right(x) * y

    still = gradcheck(lambda x, y: f(x, y, 5.0), [0.4, 1.5], raise_error=False)
    assert len(still.problems) == 2
    assert still.problems[-1].endswith("for want of a function or of a _backward that tells: cube(5) = 125")
    all_moved = gradcheck(lambda x, y: f(x, y, 0.0), [0.4, 1.5], raise_error=False)
    (problem,) = all_moved.problems
    assert "2 times too much" in problem


@pytest.mark.parametrize("count", [4, 5])
def test_of_many_nodes_that_cannot_be_checked_four_are_named(count: int) -> None:
    right = by_hand("cube", lambda x: x**3, lambda x: 3 * x**2)

    def f(x: Value) -> Any:
        x.register_hook(lambda g: 2 * g)
        return sum((right(Value(float(i))) for i in range(1, count + 1)), x)

    left = gradcheck(f, [0.5], raise_error=False).problems[-1]
    assert left.count("cube(") == 4
    assert left.endswith(", …") == (count > 4)


def test_contributions_that_cancel_are_no_fault() -> None:
    wide = by_hand("wide", lambda x, y: 1e9 * x - 1e9 * y, lambda x, y: 1e9, lambda x, y: -1e9)

    def f(x: Value, y: Value) -> Value:
        y.register_hook(lambda g: 2 * g)
        return wide(x.sin(), x.sin()) + x + y

    report = gradcheck(f, [0.7, 0.3], raise_error=False)
    assert report.suspects == ()


def test_of_several_operands_the_wrong_one_is_found_if_an_input_moves_it_alone() -> None:
    wrong = by_hand("norm", math.hypot, lambda x, y: x / math.hypot(x, y), lambda x, y: x / math.hypot(x, y))
    report = gradcheck(lambda x, y: wrong(x * 2, y + 1), [1.5, 3.0], raise_error=False)
    (suspect,) = report.suspects
    assert (suspect.op, suspect.operand) == ("norm", 2)
    assert (suspect.got, suspect.expected) == pytest.approx((0.6, 0.8))
    both = gradcheck(lambda x: wrong(x * 2, x + 2.5), [1.5], raise_error=False)
    (suspect,) = both.suspects
    assert (suspect.op, suspect.operand) == ("norm", 0)
    assert (suspect.got, suspect.expected) == pytest.approx((0.6 * 2 + 0.6, 0.6 * 2 + 0.8))
    assert "measured along inputs[0], which moves 2 of its operands at once" in suspect.why


def test_an_input_that_stands_at_a_kink_tells_nothing_and_the_next_is_asked() -> None:
    wrong = by_hand("cube", lambda x: x**3, lambda x: 2 * x**2)
    report = gradcheck(lambda k, x: wrong(x * 2 + k.relu()), [0.0, 0.4], raise_error=False)
    (suspect,) = report.suspects
    assert (suspect.op, suspect.operand) == ("cube", 1)
    assert (suspect.got, suspect.expected) == pytest.approx((2 * 0.64, 3 * 0.64))


@pytest.mark.parametrize("x", [0.4, -1.3, 2.6, 17.0])
def test_a_node_that_is_right_is_not_blamed_for_the_errors_of_measurement(x: float) -> None:
    cube = by_hand("cube", lambda x: x**3, lambda x: 3 * x**2)
    twist = by_hand("twist", lambda x, y: x * math.sin(y), lambda x, y: math.sin(y), lambda x, y: x * math.cos(y))

    def f(x: Value, y: Value) -> Value:
        y.register_hook(lambda g: 2 * g)
        return cube(x.sin() * 0.3) + twist(x * 1.7, x.cos()) + cube(x) * 1e-3 + y

    report = gradcheck(f, [x, 0.3], rtol=0.0, atol=0.0, raise_error=False)
    assert report.inputs[1].status == "wrong"
    assert report.suspects == ()


def test_operands_that_meet_at_a_kink_are_only_judged_together() -> None:
    """Along either operand alone the ridge is flat at its tie, but along both it is not."""

    def rule(x: Any, y: Any, out: Any) -> Any:
        return ops.choose(out < 0.0, ops.choose(ops.equal(x, y), 0.5, ops.choose(x < y, 0.0, 1.0)), 0.0)

    @gradwalk.op(
        lambda x, y, out: ops.choose(ops.equal(x, y), 0.5, rule(x, y, out)),
        lambda x, y, out: ops.choose(ops.equal(x, y), 0.5, rule(y, x, out)),
        rough=lambda x, y: x * x + y * y,
    )
    def ridge(x: float, y: float) -> float:
        return min(max(x, y), 0.0)

    assert gradcheck(lambda x: ridge(x * 1, x * 1), [0.0]).inputs[0].status == "kink"
    assert gradcheck(ridge, [-0.3, -0.7])
    assert gradcheck(ridge, [0.3, -0.7])


def test_a_closure_that_cannot_be_asked_in_every_way_is_no_trouble() -> None:
    def picky(x: Value, factor: float) -> Value:
        out = Value(x.data**3, (x,), "cube")

        def push() -> None:
            assert x.grad == 0.0, "set the gradients to 0 before"
            assert out.grad == 1.0, "only from the end"
            x.grad += factor * x.data**2

        out._backward = push
        return out

    assert gradcheck(lambda x: picky(x, 3.0), [0.4])
    report = gradcheck(lambda x: picky(x, 2.0), [0.4], raise_error=False)
    (suspect,) = report.suspects
    assert (suspect.op, suspect.why) == ("cube", "")


def test_a_gradient_of_nothing_on_the_way_is_no_fault() -> None:
    def f(x: Value, y: Value) -> Value:
        x.register_hook(lambda g: 2 * g)
        return x.tanh() * 3 + (y.sin() * 1).exp() * 0.0

    (problem,) = gradcheck(f, [0.5, 0.7], raise_error=False).problems
    assert "inputs[0] (0.5) should get" in problem
    assert "2 times too much" in problem


def test_what_cannot_be_known_is_said() -> None:
    """The graph changes its shape with every nudge, so the node cannot be found again."""
    wrong = by_hand("cube", lambda x: x**3, lambda x: 2 * x**2)

    def f(x: Value) -> Value:
        return wrong(x) if x.data == 0.7 else by_hand("triple", lambda x: x**3, lambda x: 0.0)(x + 0)

    report = gradcheck(f, [0.7], raise_error=False)
    assert report.inputs[0].status == "wrong"
    assert report.suspects == ()
    assert (
        "could not be checked on their own, for want of a function or of a _backward that tells: cube(0.7) = 0.343"
        in report.problems[-1]
    )


def test_a_closure_put_over_an_op_of_ours_is_checked() -> None:
    def f(x: Value, factor: float) -> Value:
        out = x * x

        def push() -> None:
            x.grad += factor * x.data * out.grad

        out._backward = push
        return out.exp()

    assert gradcheck(lambda x: f(x, 2.0), [0.6])
    report = gradcheck(lambda x: f(x, 1.0), [0.6], raise_error=False)
    (suspect,) = report.suspects
    assert (suspect.op, suspect.got) == ("mul", 0.6)
    assert suspect.expected == pytest.approx(1.2)


# --- engines of learners --------------------------------------------------------------------------------------------


def engine(*bugs: str, keeps: type = tuple) -> Any:
    """A small engine with the bugs that are named; operands kept in a tuple, or lost to a set."""

    class Node:
        def __init__(self, data: float, operands: tuple[Node, ...] = (), op: str = "") -> None:
            self.data, self.grad, self._op = data, 0.0, op
            self._prev = keeps(operands)
            self._backward: Callable[[], None] = lambda: None

        def give(self, *pairs: tuple[Node, float]) -> None:
            def push() -> None:
                for operand, local in pairs:
                    share = local * self.grad
                    if "=" in bugs:
                        operand.grad = share
                    elif "unscaled" in bugs and self._op == "ReLU":
                        operand.grad += local
                    elif "adding" in bugs and self._op == "*":
                        operand.grad += local + self.grad - 1.0  # right where the result's own gradient is 1
                    else:
                        operand.grad += share

            self._backward = push

        def __add__(self, other: Any) -> Node:
            other = other if isinstance(other, Node) else Node(other)
            out = Node(self.data + other.data, (self, other), "+")
            out.give((self, 1.0), (other, 2.0 if "add" in bugs else 1.0))
            return out

        def __mul__(self, other: Any) -> Node:
            other = other if isinstance(other, Node) else Node(other)
            out = Node(self.data * other.data, (self, other), "*")
            a, b = (self.data, other.data) if "mul" in bugs else (other.data, self.data)
            out.give((self, a), (other, b))
            return out

        def __sub__(self, other: Node) -> Node:
            out = Node(self.data - other.data, (self, other), "-")
            out.give((self, 1.0), (other, 1.0 if "sub" in bugs else -1.0))
            return out

        def __pow__(self, n: float) -> Node:
            out = Node(self.data**n, (self,), f"**{n}")
            out.give((self, (1 if "pow" in bugs else n) * self.data ** (n - 1)))
            return out

        def tanh(self) -> Node:
            out = Node(math.tanh(self.data), (self,), "tanh")
            out.give((self, 1 - (self.data if "tanh" in bugs else out.data) ** 2))
            return out

        def relu(self) -> Node:
            out = Node(max(self.data, 0.0), (self,), "ReLU")
            out.give((self, float(self.data > 0)))
            return out

        def swish(self) -> Node:
            s = 1 / (1 + math.exp(-self.data))
            out = Node(self.data * s, (self,), "swish")
            out.give((self, s if "swish" in bugs else s + self.data * s * (1 - s)))
            return out

        def backward(self) -> None:
            order: list[Node] = []

            def visit(v: Node) -> None:
                if v not in order or "twice" in bugs:
                    for operand in v._prev:
                        visit(operand)
                    order.append(v)

            visit(self)
            self.grad = 3.0 if "seed" in bugs else 1.0
            for v in order[::-1] if "preorder" not in bugs else self.preorder():
                v._backward()

        def preorder(self) -> list[Node]:
            found: list[Node] = []
            stack = [self]
            while stack:
                v = stack.pop()
                if v not in found:
                    found.append(v)
                    stack += v._prev
            return found

    return Node


def everything(a: Any, b: Any) -> Any:
    c = a * b + b
    d = c.tanh() + c**3 + (a - b).relu() * 0.5
    return d * c.swish() + c


POINT = [0.7, -0.4]


@pytest.mark.parametrize("keeps", [tuple, list, set])
def test_a_right_engine_passes(keeps: type) -> None:
    for method in ("central", "taylor"):
        assert gradcheck(everything, POINT, value=engine(keeps=keeps), method=method)


@pytest.mark.parametrize("keeps", [tuple, set])
@pytest.mark.parametrize(
    ("bug", "op", "ratio"),
    [("add", "+", 2.0), ("sub", "-", -1.0), ("tanh", "tanh", None), ("pow", "**3", 1 / 3), ("swish", "swish", None)],
)
def test_a_wrong_local_derivative_of_a_learners_engine_is_named(
    keeps: type, bug: str, op: str, ratio: float | None
) -> None:
    report = gradcheck(everything, POINT, value=engine(bug, keeps=keeps), raise_error=False)
    assert not report
    assert {suspect.op for suspect in report.suspects} == {op}
    for suspect in report.suspects:
        assert suspect.why == ""
        assert ratio is None or suspect.got / suspect.expected == pytest.approx(ratio)


@pytest.mark.parametrize("keeps", [tuple, set])
def test_a_product_with_its_factors_swapped_is_named(keeps: type) -> None:
    report = gradcheck(everything, POINT, value=engine("mul", keeps=keeps), raise_error=False)
    assert {suspect.op for suspect in report.suspects} == {"*"}
    assert {suspect.operand for suspect in report.suspects} == {1, 2}


@pytest.mark.parametrize(("f", "op"), [(lambda a: a + a, "+"), (lambda a: a * a, "*")])
def test_setting_instead_of_adding_within_one_op(f: Callable[..., Any], op: str) -> None:
    for keeps in (tuple, set):
        report = gradcheck(f, [3.0], value=engine("=", keeps=keeps), raise_error=False)
        (suspect,) = report.suspects
        assert suspect.op == op
        assert suspect.got / suspect.expected == pytest.approx(0.5)
        assert "= where += should be" in suspect.why


def test_setting_instead_of_adding_between_ops() -> None:
    report = gradcheck(lambda a: a.tanh() + a.swish(), [0.5], value=engine("="), raise_error=False)
    assert report.suspects == ()
    (problem,) = report.problems
    assert "every op is right on its own" in problem
    assert "inputs[0] (0.5) should get" in problem
    assert "= where += should be" in problem


def test_nodes_that_do_not_start_at_gradient_0_are_caught() -> None:
    class Eager(engine()):  # type: ignore[misc]
        def __init__(self, data: float, *rest: Any) -> None:
            super().__init__(data, *rest)
            self.grad = 1.0

    report = gradcheck(lambda a: a.tanh(), [0.5], value=Eager, raise_error=False)
    (entry,) = report.inputs
    assert entry.status == "wrong"
    assert entry.got == pytest.approx(entry.expected + 1)
    assert "deterministic" not in str(report)


def test_many_contributions_are_not_all_written_out() -> None:
    def f(a: Value) -> Any:
        a.register_hook(lambda g: g / 3)
        return sum(a * float(i) for i in range(1, 8))

    report = gradcheck(f, [0.5], raise_error=False)
    assert "should get 7 + 6 + 5 + 4 + 3 + 2 + … = 28 from what uses it, and has 9.33333" in report.problems[0]

    def six(a: Value) -> Any:
        a.register_hook(lambda g: g / 3)
        return sum(a * (i / 11) for i in range(1, 7))

    report = gradcheck(six, [2 / 3], raise_error=False)
    sums = "0.545455 + 0.454545 + 0.363636 + 0.272727 + 0.181818 + 0.0909091 = 1.90909"
    assert f"inputs[0] (0.666667) should get {sums} from what uses it, and has 0.636364:" in report.problems[0]

    def one(a: Value) -> Any:
        a.register_hook(lambda g: 5 * g)
        return a * (2 / 3)

    report = gradcheck(one, [2.0], raise_error=False)
    assert "inputs[0] (2) should get 0.666667 from what uses it, and has 3.33333: 5 times" in report.problems[0]


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (2.0, "2 times too much"),
        (7.0, "7 times too much"),
        (2.5, "wrong order"),
        (1.7, "wrong order"),
        (0.5, "wrong order"),
        (0.0, "wrong order"),
        (-2.0, "wrong order"),
    ],
)
def test_only_a_whole_number_of_times_too_much_is_called_that(factor: float, words: str) -> None:
    def f(a: Value) -> Value:
        a.register_hook(lambda g: factor * g)
        return a.tanh() * a

    (problem,) = gradcheck(f, [0.8], raise_error=False).problems
    assert words in problem
    assert ("times too much" in problem) == ("times too much" in words)


def test_a_closure_that_does_not_scale_with_its_gradient() -> None:
    report = gradcheck(lambda a: a.relu() * 3, [0.5], value=engine("unscaled"), raise_error=False)
    assert "inputs[0] (0.5) should get 3 from what uses it, and has 1" in report.problems[0]
    assert "does not grow with its own gradient: multiply by out.grad" in report.problems[0]


def test_a_closure_that_adds_its_gradient_is_not_told_that_it_does_not_grow() -> None:
    report = gradcheck(lambda a: a * 2 * 4, [0.5], value=engine("adding"), raise_error=False)
    assert "it adds its own gradient to its derivative, where it should multiply by it" in "".join(report.problems)
    assert "does not grow" not in "".join(report.problems)


def test_a_wrong_order_a_second_visit_and_a_wrong_seed_are_told_apart() -> None:
    def f(a: Any) -> Any:
        b = a * 2
        return b * b + b

    def doubled(a: Any) -> Any:
        b = a * 2
        return b + b

    order = gradcheck(f, [3.0], value=engine("preorder"), raise_error=False)
    assert "pushed before its own gradient was complete (wrong order)" in order.problems[0]
    twice = gradcheck(lambda a: (a * 2).tanh() + (a * 2) ** 2, [0.3], value=engine("twice"), raise_error=False)
    assert twice.ok  # nothing is shared here but the leaf, whose closure does nothing
    twice = gradcheck(doubled, [3.0], value=engine("twice"), raise_error=False)
    assert "should get 6 from what uses it, and has 12: 2 times too much: a node visited twice" in twice.problems[0]
    seed = gradcheck(f, [3.0], value=engine("seed"), raise_error=False)
    assert "must start by setting the result's own gradient to 1; it is 3" in seed.problems[0]
    assert seed.inputs[0].ratio == pytest.approx(3.0)


def test_one_of_two_contributions_lost_without_a_closure_to_blame() -> None:
    class Tape:
        """An engine whose backward keeps gradients by operand, and loses one of two that meet."""

        def __init__(self, data: float, children: tuple[Any, ...] = (), slopes: tuple[float, ...] = ()) -> None:
            self.data, self.grad, self._children, self._local_grads = data, 0.0, children, slopes

        def __mul__(self, other: Tape) -> Tape:
            return Tape(self.data * other.data, (self, other), (other.data, self.data))

        def __add__(self, other: Tape) -> Tape:
            return Tape(self.data + other.data, (self, other), (1.0, 1.0))

        def backward(self) -> None:
            self.grad, queue = 1.0, [self]
            while queue:
                v = queue.pop(0)
                for child, slope in zip(v._children, v._local_grads, strict=True):
                    child.grad = slope * v.grad
                    queue.append(child)

    report = gradcheck(lambda a, b: a * b + b, [2.0, 3.0], value=Tape, raise_error=False)
    assert [entry.status for entry in report.inputs] == ["ok", "wrong"]
    assert "inputs[1] (3) should get" in report.problems[0]
    assert "only one of the contributions arrived" in report.problems[0]


def test_local_derivatives_that_are_stored_in_fields_are_read() -> None:
    class Node:
        """As in engines that keep children and local gradients, and no closures."""

        def __init__(self, data: float, children: tuple[Node, ...] = (), slopes: tuple[float, ...] = ()) -> None:
            self.data, self.grad, self._op = data, 0.0, ""
            self._children, self._local_grads = children, slopes

        def __mul__(self, other: Node) -> Node:
            return Node(self.data * other.data, (self, other), (other.data, self.data))

        def cube(self) -> Node:
            return Node(self.data**3, (self,), (2 * self.data**2,))

        def backward(self) -> None:
            self.grad = 1.0
            for v in reversed(list(walk.topological(self))):
                for child, slope in zip(v._children, v._local_grads, strict=True):
                    child.grad += slope * v.grad

        def squared(self, factor: float) -> Node:
            out = Node(self.data**2, (self,), (factor * self.data,))
            out._op = "**2"
            return out

    assert gradcheck(lambda a, b: a.squared(2.0) * b, POINT, value=Node)
    squared = gradcheck(lambda a, b: a.squared(3.0) * b, POINT, value=Node, raise_error=False)
    assert [(suspect.op, suspect.operand) for suspect in squared.suspects] == [("**2", 1)]
    assert gradcheck(lambda a, b: a * b * a, POINT, value=Node)
    report = gradcheck(lambda a, b: (a * b).cube() * a, POINT, value=Node, raise_error=False)
    (suspect,) = report.suspects
    assert suspect.op == "a node without name"
    assert suspect.got / suspect.expected == pytest.approx(2 / 3)


def test_an_engine_without_closures_or_stored_derivatives() -> None:
    class Node:
        """A product engine that recomputes what it needs on the way back, and doubles it if it is told to."""

        factor = 1.0

        def __init__(self, data: float, children: tuple[Node, ...] = ()) -> None:
            self.data, self.grad, self.children = data, 0.0, children

        def __mul__(self, other: Node) -> Node:
            return Node(self.data * other.data, (self, other))

        def backward(self) -> None:
            self.grad = 1.0
            for v in reversed(list(walk.topological(self))):
                if v.children:
                    a, b = v.children
                    a.grad += b.data * v.grad * self.factor
                    b.grad += a.data * v.grad

    assert gradcheck(lambda a, b: a * b * a, POINT, value=Node)
    Node.factor = 2.0
    report = gradcheck(lambda a, b: a * b, POINT, value=Node, raise_error=False)
    assert [entry.status for entry in report.inputs] == ["wrong", "ok"]
    assert report.suspects == ()
    assert "could not be checked on their own" in report.problems[-1]
    assert "Node(0.7, -0.4) = -0.28" in report.problems[-1]


def test_a_class_that_shows_nothing_but_data_grad_and_backward() -> None:
    class Sealed:
        """x ↦ x² and nothing else; the graph is hidden."""

        __slots__ = ("_source", "data", "grad")
        slope = 2.0

        def __init__(self, data: float) -> None:
            self.data, self.grad = data, None
            self._source: Sealed | None = None

        def squared(self) -> Sealed:
            out = Sealed(self.data**2)
            out._source = self
            return out

        def backward(self) -> None:
            assert self._source is not None
            self._source.grad = self.slope * self._source.data  # type: ignore[assignment]

    assert gradcheck(lambda x: x.squared(), [Value(3.0, label="x")], value=Sealed).ok
    unused = gradcheck(lambda x, y: x.squared(), [3.0, 5.0], value=Sealed)  # whose gradient stays None
    assert (unused.inputs[1].got, unused.inputs[1].status) == (0.0, "ok")
    Sealed.slope = 2.002
    report = gradcheck(lambda x: x.squared(), [3.0], value=Sealed, raise_error=False)
    assert report.inputs[0].status == "wrong"
    assert report.inputs[0].got == pytest.approx(6.006)


def test_an_engine_that_keeps_numpy_numbers() -> None:
    class Node:
        def __init__(self, data: Any, operands: tuple[Node, ...] = (), op: str = "") -> None:
            self.data, self.grad, self._prev, self._op = np.float64(data), np.float64(0), operands, op
            self._backward: Callable[[], None] = lambda: None

        def sinh(self, factor: float = 1.0) -> Node:
            out = Node(np.sinh(self.data), (self,), "sinh")

            def push() -> None:
                self.grad = self.grad + np.cosh(self.data) * out.grad * factor

            out._backward = push
            return out

        def backward(self) -> None:
            self.grad = np.float64(1)
            for v in reversed(list(walk.topological(self))):
                v._backward()

    assert gradcheck(lambda x: x.sinh().sinh(), [np.float32(0.5)], value=Node)
    report = gradcheck(lambda x: x.sinh(1.001).sinh(), [0.5], value=Node, raise_error=False)
    assert [suspect.op for suspect in report.suspects] == ["sinh"]


def test_a_closure_that_runs_only_once_tells_nothing_but_is_no_harm() -> None:
    def f(x: Value, factor: float) -> Value:
        out = Value(x.data**3, (x,), "cube")
        runs: list[int] = []

        def push() -> None:
            runs.append(1)
            assert len(runs) == 1, "already walked"
            x.grad += factor * x.data**2 * out.grad

        out._backward = push
        return out.tanh()

    assert gradcheck(lambda x: f(x, 3.0), [0.4])
    report = gradcheck(lambda x: f(x, 2.0), [0.4], raise_error=False)
    assert report.inputs[0].status == "wrong"
    assert report.suspects == ()
    assert (
        "could not be checked on their own, for want of a function or of a _backward that tells: cube(0.4) = 0.064"
        in report.problems[-1]
    )


def test_errors_of_a_learners_class_are_named() -> None:
    class Picky:
        def __init__(self, data: float, extra: int) -> None: ...

    class Failing(engine()):  # type: ignore[misc]
        def backward(self) -> None:
            raise RecursionError("too deep")

    class Wordy(engine()):  # type: ignore[misc]
        def words(self) -> Any:
            return type(self)("many")

    with pytest.raises(NotANumberError, match=r"the result of f holds no number in its data: .* not str: 'many'"):
        gradcheck(lambda x: x.words(), [2.0], value=Wordy)
    with pytest.raises(GraphError, match=r"Picky\(2.0\) raised TypeError"):
        gradcheck(lambda x: x, [2.0], value=Picky)
    with pytest.raises(BackwardError, match=r"backward\(\) of Failing raised RecursionError: too deep"):
        gradcheck(lambda x: x, [2.0], value=Failing)


# --- micrograd itself --------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(programs(max_steps=30, names=("add", "mul", "sub", "div", "neg", "relu")))
def test_micrograd_passes(program: Program) -> None:
    table: dict[str, Callable[..., Any]] = GRADWALK | {
        "div": lambda x, y: x * y,  # away from the points that were chosen, 1/0 raises
        "relu": lambda x: (x * x + 1).relu(),
        **dict.fromkeys(("tanh", "cos", "sigmoid"), lambda x: x * 0.5),  # which micrograd lacks
    }

    def f(*leaves: Any) -> Any:
        given = iter(leaves)
        return program.run(lambda _: next(given), table)[-1]

    report = gradcheck(f, program.leaves, value=micrograd.engine.Value)
    assert {entry.status for entry in report.inputs} == {"ok"}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 3,
        lambda x: x * 3,
        lambda x: x - 6,
        lambda x: 6 - x,
        lambda x: x / 3,
        lambda x: 9 / x,
        lambda x: x + x + x * x / x - x,
        lambda x: (x - 3).relu() + x**2,
        lambda x: -x + x**-1,
    ],
)
def test_numbers_that_coincide_do_not_mislead_the_check_of_micrograds_nodes(f: Callable[..., Any]) -> None:
    report = gradcheck(f, [micrograd.engine.Value(3.0)])
    assert report.ok
    assert check_graph(f(Value(3.0)))


def test_nodes_of_micrograd_given_as_inputs_say_which_class_to_use_and_stay_as_they_are() -> None:
    a = micrograd.engine.Value(2.0)
    a.grad = 5
    kinds: list[type] = []
    assert gradcheck(lambda x: kinds.append(type(x)) or x * x, [a])  # type: ignore[func-returns-value]
    assert set(kinds) == {micrograd.engine.Value}
    assert (a.data, a.grad) == (2.0, 5)


def test_gradients_of_nodes_that_f_only_borrows_are_put_back() -> None:
    weight = micrograd.engine.Value(4.0)
    weight.grad = 11.0
    report: CheckReport = gradcheck(lambda x: (x * weight).relu() + weight, [0.5], value=micrograd.engine.Value)
    assert report.ok
    assert (weight.data, weight.grad) == (4.0, 11.0)


def test_an_input_that_a_graph_of_micrograd_does_not_use_is_pointed_out() -> None:
    report = gradcheck(lambda x, y: x * 2, [0.5, 3.0], value=micrograd.engine.Value)
    assert report.inputs[0].note == ""
    assert report.inputs[1].note.startswith("f does not use it")
