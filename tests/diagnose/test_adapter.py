"""Adapting by looking: constructors, attributes, ops and walks under other names and in other places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gradwalk.diagnose import grade, teaching
from gradwalk.diagnose.adapter import Engine, MissingOp, NotAnEngine, find_class

pytestmark = pytest.mark.slow


def engine(source: str, class_name: str = "Value") -> Engine:
    namespace: dict[str, Any] = {"__name__": "engine"}
    exec(source, namespace)
    return Engine(find_class(namespace, class_name), namespace)


#: Leaves that were not asked to collect a gradient do not.
FROZEN = """\
    def check(self):
        if self.frozen and not self._prev and self._op == "":
            self.grad = 0.0

    def __repr__"""


def renamed(pairs: Mapping[str, str]) -> str:
    text = teaching.SOURCE
    for old, new in pairs.items():
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "pairs",
    [
        {".data": ".value", "self, data": "self, value", "float(data)": "float(value)"},
        {".data": ".secret_number"},
        {".grad": ".gradient"},
        {".grad": "._grad"},
        {".grad": ".how_steep"},
        {"def backward": "def backprop"},
        {"def backward(self):": "def backward(self, seed):"},
        {"def backward(self):": "def backward(self, retain_graph=False):"},
        {"def relu": "def ReLU"},
        {"def log(self)": "def ln(self)"},
        {"def sigmoid": "def logistic"},
        {"_prev": "children", "_children": "_of"},
        {'_op=""': '_op="", label="", *, requires_grad=True'},
        {'_op=""):\n': '_op="", requires_grad=False):\n        self.frozen = not requires_grad and not _children\n',
         "        for node in reversed(order):\n": "        for node in reversed(order):\n            node.check()\n",
         "    def __repr__": FROZEN},
        {"def __init__(self, data, _children=(), _op=\"\"):": "def __init__(self, data, _children, _op):",
         "return x if isinstance(x, Value) else Value(x)": "return x if isinstance(x, Value) else Value(x, (), '')"},
        {"Value": "Tensor", "TensorError": "ValueError"},
        {"self.grad = 0.0\n        self._prev": "self.grad = None\n        self._prev",
         "self.grad += ": "self.grad = (self.grad or 0.0) + ", "other.grad += ": "other.grad = (other.grad or 0.0) + "},
    ],
)  # fmt: skip
def test_names_are_found_by_looking(pairs: dict[str, str]) -> None:
    report = grade(renamed(pairs))
    assert report.passed, report.text()
    assert {check.status for check in report.checks} == {"passed"}


def test_ops_as_functions_beside_the_class() -> None:
    source = (
        teaching.SOURCE.replace("    def tanh(self):", "    def _tanh(self):")
        + "\n\ndef tanh(x):\n    return x._tanh()\n"
    )
    report = grade(source, checks=["tanh", "chain-tanh"])
    assert report.passed
    assert engine(source).called("tanh") == "tanh"


def test_a_function_from_the_maths_module_is_no_op() -> None:
    source = "from math import tanh\n" + teaching.SOURCE.replace("def tanh", "def something_else")
    assert grade(source, checks=["tanh"]).checks[0].status == "missing"


def test_ops_as_static_methods() -> None:
    source = teaching.SOURCE.replace("    def exp(self):", "    @staticmethod\n    def exp(self):")
    assert grade(source, checks=["exp", "chain-exp"]).passed


def test_gradients_that_are_nodes_themselves() -> None:
    source = teaching.SOURCE.replace(
        "        for node in reversed(order):\n            node._backward()\n",
        "        for node in reversed(order):\n            node._backward()\n"
        "        for node in order:\n            node.grad = Value(node.grad)\n",
    )
    assert grade(source, checks=["ops"]).passed


def test_the_class_is_found_among_others() -> None:
    class Helper:
        def backward(self) -> None: ...

    class Scalar:
        def __add__(self, other: object) -> object: ...
        def __mul__(self, other: object) -> object: ...
        def backward(self) -> None: ...

    assert find_class({"Helper": Helper, "Scalar": Scalar}) is Scalar
    assert find_class({"Helper": Helper, "Scalar": Scalar}, "Helper") is Helper
    with pytest.raises(NotAnEngine, match="there is no class Value here"):
        find_class({"int": int, "x": 1})


def test_what_an_op_gives_is_looked_at() -> None:
    adapted = engine(teaching.SOURCE)
    with pytest.raises(TypeError, match=r"the result is float 2.0, not a Value"):
        adapted.data(2.0)
    with pytest.raises(TypeError, match="is a `return` missing"):
        adapted.backward(None)
    with pytest.raises(MissingOp, match="arcsecant"):
        adapted.op("arcsecant", adapted.leaf(1.0))
    assert adapted.op("add", 2, 3) == 5, "plain numbers are just computed"


def test_complex_results_are_said_to_be_complex() -> None:
    adapted = engine(teaching.SOURCE)
    node = adapted.leaf(1.0)
    node.data = 1 + 2j
    with pytest.raises(TypeError, match="complex number"):
        adapted.data(node)


def test_shared_containers_are_seen_and_a_tape_is_not_mistaken_for_one() -> None:
    shared: list[object] = []

    class Value:
        def __init__(self, data: float) -> None:
            self.data, self.grad, self._prev = data, 0.0, shared

        def backward(self) -> None:
            self.grad = 1.0

    adapted = Engine(Value)
    assert adapted.shared(adapted.leaf(1.0), adapted.leaf(2.0)) == 0.0, "one list for all, which nobody has changed"
    shared.append(adapted.leaf(3.0))
    assert adapted.shared(adapted.leaf(1.0), adapted.leaf(2.0)) == 1.0

    class Taped:
        def __init__(self, data: float) -> None:
            self.data, self.grad, self.tape = data, 0.0, shared

        def backward(self) -> None:
            self.grad = 1.0

    adapted = Engine(Taped)
    assert adapted.shared(adapted.leaf(1.0), adapted.leaf(2.0)) == 0.0


@pytest.mark.parametrize("kept", ["np.float64(data)", "np.array(data, dtype=float)", "np.array([data], dtype=float)"])
def test_numpy_numbers_and_arrays_of_one_inside_are_fine(kept: str) -> None:
    source = teaching.SOURCE.replace("self.data = float(data)", f"self.data = {kept}")
    source = source.replace("self.grad = 0.0\n", "self.grad = 0.0 * self.data\n").replace("def ordered", TO_NUMBER)
    source = source.replace("= self.data, other.data", "= one(self), one(other)").replace(
        "x = self.data", "x = one(self)"
    )
    report = grade("import numpy as np\n" + source, checks=["ops", "reuse", "order", "repeat", "manners"])
    assert report.passed, report.text()


TO_NUMBER = """\
def one(node):
    return node.data.item()


def ordered"""
