"""Every kind of finding, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradwalk import Value
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.candidates import whole
from gradwalk.diagnose.checks import CHECKS
from gradwalk.diagnose.examination import Failure
from gradwalk.diagnose.messages import Messages
from gradwalk.diagnose.museum.faults import Fault
from gradwalk.diagnose.results import Diagnosis
from gradwalk.matcher import Outcome


def failure(check: str, **numbers: float) -> Failure:
    program = CHECKS[check].programs[0]
    got = {name.replace("_", "."): x for name, x in numbers.items()}
    return Failure(program, Outcome("numbers", got), program.expected())


def raised(message: str, error: str = "", line: int | None = None) -> Outcome:
    return Outcome("raised", message=message, error=error, line=line)


SENTENCES: dict[str, Callable[[Messages], Diagnosis]] = {
    "your `backward` does not set the root's gradient to 1": lambda say: say.fault(whole("not-seeded")),
    "your `__mul__` overwrites the gradient of its operands instead of adding to it": lambda say: say.fault(
        Fault("overwriting", "mul")
    ),
    "both derivatives of your `__mul__` are wrong: they are x and y, and y and x are right": lambda say: say.slopes(
        [Fault("slope", "mul", 0, "x"), Fault("slope", "mul", 1, "y")]
    ),
    "your `__add__`, `__mul__` and `exp` overwrite gradients instead of adding to them": lambda say: say.overwriting(
        [Fault("overwriting", op) for op in ("add", "mul", "exp")]
    ),
    "your `divide` on line 12 gives wrong numbers: `__truediv__` and `log` go through it": lambda say: say.helper(
        "divide", 12, ["div", "log"]
    ),
    "your `__mul__` gives a wrong derivative: c = a * b at a = 3, b = 2 has a.grad 5, and 2 is right": lambda say: (
        say.unknown("mul", failure("mul", c_data=6.0, a_grad=5.0, b_grad=3.0))
    ),
    "your `__mul__` gives a wrong value: b = a * a at a = 3 has b.data 8, and 9 is right": lambda say: say.unknown(
        "mul", failure("a-times-a", b_data=8.0, a_grad=5.0)
    ),
    "your `relu` has a.grad 1 for b = a.relu() at a = 0, where 0 is the usual answer": lambda say: say.edge(
        "relu", failure("relu-at-zero", b_data=0.0, a_grad=1.0)
    ),
    "your `backward` gives a.grad 3 for x = x + 1, 5,000 times, and 1 is right": lambda say: say.wrong(
        failure("deep", x_data=5002.0, a_grad=3.0)
    ),
    "your `backward` gives x.data nothing for x = x + 1, 5,000 times, and 5002 is right": lambda say: say.wrong(
        failure("deep")
    ),
    "your `backward` does not add up from walk to walk: x.grad is 30 where 54 is right": lambda say: say.repeating(
        failure("second-backward", first=27.0, x_grad=30.0)
    ),
    "your `__radd__` does not give a Value: the result is int 8, not a Value": lambda say: say.no_value(
        "radd", raised("the result is int 8, not a Value")
    ),
    "an attribute hides the method `exp`: calling it finds no function": lambda say: say.hidden("exp"),
    "line 12 stops with NameError: name 'othr' is not defined": lambda say: say.error(
        "mul", raised("name 'othr' is not defined", "NameError", 12)
    ),
    "your `__mul__` calls itself without end": lambda say: say.error("mul", raised("too deep", "RecursionError")),
    "your engine prints while it computes": lambda say: say.printing(),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_said_of_an_engine_whose_source_is_not_known(sentence: str) -> None:
    told = SENTENCES[sentence](Messages(Engine(Value), None))
    assert told.sentence == sentence
    assert told.hint
    assert told.line is None or f"line {told.line}" in sentence


def test_a_source_that_is_no_python_has_no_lines() -> None:
    assert Messages(Engine(Value), "def x(:").line(Fault("overwriting", "mul")) is None
