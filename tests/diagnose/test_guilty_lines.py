"""The guilty line, in sources of every style: found by reading the tree, not by luck."""

from __future__ import annotations

import pytest

from gradwalk.diagnose import teaching
from gradwalk.diagnose.candidates import whole
from gradwalk.diagnose.guilty_lines import guilty_line
from gradwalk.diagnose.museum.faults import Fault
from gradwalk.diagnose.source_tree import SourceTree

SETS = teaching.STYLES["a set of operands and recursion"]
TUPLES = teaching.STYLES["local derivatives in tuples"]
FUNCTIONS = teaching.STYLES["functions and a count of uses"]
TAPE = teaching.STYLES["a tape"]
CLASSES = teaching.STYLES["classes of ops"]

NAMES = {SETS: ("Value", "data", "grad"), TUPLES: ("Value", "data", "grad"), FUNCTIONS: ("Node", "value", "gradient"),
         TAPE: ("Scalar", "value", "grad"), CLASSES: ("Tensor", "data", "grad")}  # fmt: skip

#: A style, a fault in it, what the op and the walk are called there, and what the line says.
PLACES = [
    (SETS, Fault("slope", "tanh", 0), "tanh", "backward", "self.grad += (1 - t**2) * result.grad"),
    (SETS, Fault("slope", "mul", 1), "__mul__", "backward", "other.grad = other.grad + left * result.grad"),
    (SETS, Fault("value", "mul"), "__mul__", "backward", 'result = Value(left * right, (self, other), "*")'),
    (SETS, Fault("reflected", "rsub"), "__rsub__", "backward", "return other + (-self)"),
    (SETS, whole("recursion-limit"), "", "backward", "build_topo(child)"),
    (SETS, whole("preorder"), "", "backward", "topo.append(v)"),
    (SETS, whole("left-over-gradients"), "", "backward", "self.grad = 1.0"),
    (SETS, whole("leaves-reset"), "", "backward", "v.grad = 0.0"),
    (SETS, whole("not-seeded"), "", "backward", "def backward(self):"),
    (TUPLES, Fault("slope", "mul", 1), "__mul__", "backward",
     "return Value(self.data * other.data, (self, other), (other.data, self.data))"),
    (TUPLES, Fault("slope", "tanh", 0), "tanh", "backward", "return Value(t, (self,), (1 - t**2,))"),
    (TUPLES, Fault("value", "tanh"), "tanh", "backward", "t = math.tanh(self.data)"),
    (FUNCTIONS, Fault("slope", "sub", 1), "sub", "backward", "return Node(a.value - b.value, [a, b], [1.0, -1.0])"),
    (FUNCTIONS, Fault("value", "exp"), "exp", "backward", "e = exponential(a.value)"),
    (TAPE, Fault("slope", "div", 1), "__truediv__", "backprop",
     "return record(ratio, (self, divide(1.0, other.value)), (other, divide(-ratio, other.value)))"),
    (TAPE, Fault("slope", "tanh", 0), "tanh", "backprop", "return record(t, (self, 1.0 - t * t))"),
    (TAPE, Fault("reflected", "radd"), "__radd__", "backprop",
     "return record(self.value + lift(other).value, (self, 1.0), (lift(other), 1.0))"),
    (CLASSES, Fault("slope", "mul", 0), "__mul__", "backward", "return upstream * y, upstream * x"),
    (CLASSES, Fault("value", "mul"), "__mul__", "backward", "return x * y"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "fault", "called", "walk", "text"), PLACES, ids=range(len(PLACES)))
def test_the_line_in_other_styles(source: str, fault: Fault, called: str, walk: str, text: str) -> None:
    line = guilty_line(fault, SourceTree(source, *NAMES[source]), called, walk)
    assert line is not None
    assert source.splitlines()[line - 1].strip() == text


def test_overwriting_in_the_one_place_that_pushes() -> None:
    source = TUPLES.replace("child.grad += local * node.grad", "child.grad = local * node.grad")
    line = guilty_line(whole("overwriting"), SourceTree(source, "Value", "data", "grad"), "", "backward")
    assert line is not None
    assert source.splitlines()[line - 1].strip() == "child.grad = local * node.grad"


def test_a_line_is_said_to_have_an_equals_sign_only_if_it_has_one() -> None:
    tree = SourceTree(TUPLES, "Value", "data", "grad")
    assert guilty_line(Fault("overwriting", "mul"), tree, "__mul__", "backward") is None
    assert guilty_line(whole("overwriting"), tree, "", "backward") is None


def test_an_op_that_is_nowhere_in_the_source_has_no_line() -> None:
    assert (
        guilty_line(Fault("slope", "tanh", 0), SourceTree("x = 1", "Value", "data", "grad"), "tanh", "backward") is None
    )
    assert guilty_line(whole("not-seeded"), SourceTree("x = 1", "Value", "data", "grad"), "", "backward") is None


def test_methods_are_found_in_a_base_class_and_by_another_name() -> None:
    base = "class Base:\n    def tanh(self):\n        return 1\n\n\nclass Value(Base):\n    pass\n\n\n"
    source = base + "Value.th = tanh_of\n\n\ndef tanh_of(x):\n    return x\n"
    reading = SourceTree(source, "Value", "data", "grad")
    found = reading.function("tanh")
    assert found is not None
    assert found.lineno == 2
    assigned = reading.function("th")
    assert assigned is not None
    assert assigned.name == "tanh_of"
    assert reading.function("cosh") is None


def test_adding_in_two_ways_is_told_from_setting() -> None:
    source = "def f(self, other):\n    self.grad = self.grad + 1\n    other.grad = 1 + self.grad\n    self.grad -= 2\n"
    reading = SourceTree(source, "Value", "data", "grad")
    assert [(push.owner, push.adds) for push in reading.pushes(reading.function("f"))] == [
        ("self", True), ("other", False), ("self", True),
    ]  # fmt: skip
