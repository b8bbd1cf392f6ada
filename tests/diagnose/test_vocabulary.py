"""What the grader asks for follows from the op table."""

from __future__ import annotations

import math
import operator
import subprocess
import sys

import pytest

from gradwalk import Value, ops
from gradwalk.diagnose.checks import CHECKS
from gradwalk.diagnose.op_probes import at_points, ops_in
from gradwalk.diagnose.vocabulary import (
    BINARY,
    EXTRA,
    METHODS,
    ON_NUMBERS,
    REFLECTED,
    SIGNS,
    SYMBOL,
    UNARY,
    UNARY_OPERATORS,
    names_of,
)

#: An op that nobody has heard of, and an engine that has its derivative wrong.
ADDED = '''
from gradwalk import Value, ops

halved = ops.Op("halved", "halved", lambda x: x / 2, (lambda x, out: 0.5,), domain=((2.0, 4.0),))
ops.TABLE["halved"] = halved
Value.halved = lambda self: halved(self)

from gradwalk.diagnose import grade, teaching

wrong = """\
    def halved(self):
        out = Value(self.data / 2, (self,), "halved")

        def push():
            self.grad += 2.0 * out.grad

        out._backward = push
        return out

    # --- the walk
"""
report = grade(teaching.SOURCE.replace("    # --- the walk\\n", wrong), checks=["ops", "chain"])
print([check.name for check in report.checks if check.status == "failed"])
print(report.diagnoses[0].sentence)
'''


def test_operators_are_those_that_python_calls_for_a_value() -> None:
    assert BINARY["div"] == ("__truediv__", operator.truediv)
    assert set(BINARY) == {"add", "sub", "mul", "div", "pow"}
    assert set(UNARY_OPERATORS) == {"neg", "abs"}
    assert set(SIGNS.values()) == set(BINARY) == set(REFLECTED)
    for name in (*METHODS.values(), *REFLECTED.values()):
        assert callable(getattr(Value, name))
    for name, sign in SYMBOL.items():
        assert ops_in(f"a {sign} b") == {name}
        assert ON_NUMBERS[name](7.0, 2.0) == ops.TABLE[name](7.0, 2.0)


def test_every_op_of_one_operand_is_judged() -> None:
    judged = {*UNARY, *EXTRA, "neg"}
    assert judged == {name for name, op in ops.TABLE.items() if op.arity == 1} | {"leaky_relu"}
    assert judged <= CHECKS.keys()
    assert {f"chain-{op}" for op in judged} <= CHECKS.keys()


@pytest.mark.parametrize("op", [*UNARY, *EXTRA])
def test_an_op_is_tried_where_it_is_smooth(op: str) -> None:
    low, high = ops.TABLE[op].domain[0]
    points = [float(probe.text.split("(")[1].split(")")[0]) for probe in at_points(op)]
    assert len(set(points)) >= 5
    assert all(low < x < high for x in points)
    assert all(math.isfinite(x) for probe in at_points(op) for x in probe.expected().numbers.values())


def test_the_usual_name_of_an_op_comes_first() -> None:
    for op in (*BINARY, *UNARY, *EXTRA):
        assert names_of(op)[0] == op
    assert {"relu", "ReLU", "RELU"} <= set(names_of("relu"))
    assert "ln" in names_of("log")
    assert "+" not in names_of("add")


def test_an_op_that_is_added_to_the_table_is_judged_without_an_entry_here() -> None:
    told = subprocess.run([sys.executable, "-c", ADDED], capture_output=True, text=True)
    assert told.stderr == ""
    failed, sentence = told.stdout.splitlines()
    assert failed == "['halved', 'chain-halved']"
    assert sentence.startswith("your `halved` gives a wrong derivative on line")
    assert sentence.endswith("b = a.halved() at a = 3.5 has a.grad 2, and 0.5 is right")
