"""Programs, budgets and random expressions: what engines are run on."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gradwalk import Value
from gradwalk.diagnose import teaching
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.budget import OutOfSteps, limited, lines_limited
from gradwalk.diagnose.checks import CHECKS
from gradwalk.diagnose.probes import Probe, run
from gradwalk.diagnose.random_probes import random_programs
from gradwalk.learn.page.sandbox import guarded
from gradwalk.matcher import Outcome, by_type, same

nan, inf = float("nan"), float("inf")


def test_every_program_runs_as_it_stands_and_gives_what_is_expected() -> None:
    """The text is plain Python: the adapter changes how it is run, not what comes out."""
    for check in CHECKS.values():
        for program in check.programs:
            names: dict[str, object] = {"Value": Value, "shared": lambda fresh, other: 0.0}
            exec(program.text, names)
            for expression, expected in program.expected().numbers.items():
                assert same(float(eval(expression, names)), expected), (check.name, program.text)


def test_expected_numbers_are_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    for name in ("add", "sub", "mul", "div", "pow", "neg", "exp", "log", "tanh", "sigmoid", "relu"):
        for program in (*CHECKS[name].programs, *CHECKS[f"chain-{name}"].programs):
            names = {"Value": lambda x: torch.tensor(float(x), dtype=torch.float64, requires_grad=True)}
            lines = [line for line in program.text.split("\n") if ".backward" not in line]
            exec("\n".join(lines), names)
            root = lines[-1].split(" = ")[0]
            names[root].backward()  # type: ignore[attr-defined]
            for expression, expected in program.expected().numbers.items():
                assert same(float(eval(expression, names)), expected)


@pytest.mark.parametrize(
    ("got", "expected", "agreed"),
    [
        (1.0, 1.0, True), (1.0 + 4e-8, 1.0, True), (1.0 + 6e-8, 1.0, False), (1e9 + 1.0, 1e9, True),
        (1e9 + 1000.0, 1e9, False), (nan, nan, True), (nan, 1.0, False), (1.0, nan, False), (inf, inf, True),
        (inf, -inf, False), (1e308, inf, False), (0.0, -0.0, True),
    ],
)  # fmt: skip
def test_numbers_agree_to_seven_decimals_or_digits(got: float, expected: float, agreed: bool) -> None:
    assert same(got, expected) is agreed


def test_outcomes_agree_in_kind_error_and_numbers() -> None:
    assert by_type(Outcome("numbers", {"a": 1.0}), Outcome("numbers", {"a": 1.0, "b": 2.0}))
    assert not by_type(Outcome("numbers", {"a": 1.0}), Outcome("numbers", {"b": 1.0}))
    assert not by_type(Outcome("raised", error="ValueError"), Outcome("raised", error="TypeError"))
    assert by_type(Outcome("stopped"), Outcome("stopped"))


def test_strict_programs_hand_numbers_over_as_they_are() -> None:
    class Picky:
        def __init__(self, data: float) -> None:
            self.data, self.grad = data, 0.0

        def __add__(self, other: Picky) -> Picky:
            return Picky(self.data + other.data)

        def backward(self) -> None:
            self.grad = 1.0

    text = "a = Value(1.0)\nb = a + 2"
    assert run(Probe("", text, ("b.data",)), Engine(Picky)).numbers == {"b.data": 3.0}
    refused = run(Probe("", text, ("b.data",), strict=True), Engine(Picky))
    assert (refused.kind, refused.error) == ("raised", "AttributeError")
    assert refused.line is not None


def test_optional_programs_are_missing_where_they_are_refused() -> None:
    from micrograd.engine import Value as Micrograd

    text = "a = Value(2.0)\nb = Value(3.0)\nc = a ** b"
    assert run(Probe("", text, ("c.data",), optional=True), Engine(Micrograd)).kind == "missing"
    assert run(Probe("", text, ("c.data",)), Engine(Micrograd)).kind == "raised"


def test_an_interrupt_by_the_person_gets_through() -> None:
    engine = Engine(teaching.load(teaching.SOURCE.replace("        z = x * y\n", "        raise KeyboardInterrupt\n")))
    with pytest.raises(KeyboardInterrupt):
        run(CHECKS["a-times-a"].programs[0], engine)


def test_the_budget_counts_calls_and_puts_the_profiler_back() -> None:
    before = sys.getprofile()
    with limited(1000) as steps:
        for x in range(100):
            abs(x)
    assert 100 <= steps.used <= 110
    with pytest.raises(OutOfSteps, match="more than 50 steps"), limited(50):
        sum(map(abs, range(100)), start=sum(abs(x) for x in range(100)))
    assert sys.getprofile() is before
    seen = []
    with limited(1000, lambda frame: seen.append(frame.f_code.co_name)):
        same(1.0, 2.0)
    assert "same" in seen


def test_a_learners_except_does_not_swallow_the_end_of_the_budget() -> None:
    def stubborn() -> None:
        while True:
            try:
                abs(-1)
            except Exception:
                continue

    with pytest.raises(OutOfSteps), limited(100):
        stubborn()


@pytest.mark.parametrize("limits", [lambda: limited(100_000), lambda: lines_limited([__file__]), guarded])
def test_nothing_that_the_collector_calls_runs_amid_strangers_code(limits: Callable[[], Any]) -> None:
    """It would use up steps, or lose the error that stops the code; where the stack ends, Python 3.11 dies of it."""
    called = []

    def told(phase: str, info: dict[str, int]) -> None:
        called.append(phase)

    before = gc.get_threshold()
    gc.callbacks.append(told)
    gc.set_threshold(1, 1, 1)
    try:
        with limits():
            amid = len(called)
            cycles = [[] for _ in range(100)]  # type: list[list[Any]]
            for cycle in cycles:
                cycle.append(cycle)
            amid -= len(called)
        cycles = [[] for _ in range(100)]
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(told)
    assert amid == 0
    assert called


def test_random_expressions_are_the_same_every_time_and_use_what_is_there() -> None:
    first, again = random_programs(["add", "mul"], 10), random_programs({"mul", "add"}, 10)
    assert first == again
    assert len({program.text for program in first}) == 10
    assert not any("tanh" in program.text or " - " in program.text for program in first)
    assert random_programs([], 10) == ()
    everything = random_programs(
        ["add", "sub", "mul", "div", "pow", "neg", "exp", "log", "tanh", "sigmoid", "relu"], 100
    )
    for op in ("/", "-", "**", "exp", "log", "tanh", "sigmoid", "relu"):
        assert sum(op in program.text for program in everything) >= 10, op
    assert all(abs(x) < 50 for program in everything for x in program.expected().numbers.values())


def test_threads_that_ask_for_the_right_numbers_leave_the_process_as_it_is() -> None:
    here, filters, limit = sys.stdout, warnings.filters, sys.getrecursionlimit()
    programs = [Probe("", f"a = Value({i}.5); b = a * a + a; b.backward()", ("a.grad",)) for i in range(200)]
    changed: list[str] = []

    def ask(each: Probe) -> float:
        found = each.expected().numbers["a.grad"]
        if sys.stdout is not here or warnings.filters is not filters or sys.getrecursionlimit() != limit:
            changed.append(each.text)
        return found

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(ask, programs))
    finally:
        sys.setswitchinterval(interval)
        after, sys.stdout = sys.stdout, here
    assert found == [2 * (i + 0.5) + 1 for i in range(200)]
    assert after is here
    assert changed == []
