"""What a learner wrote, run safely: every way it can go wrong is told with the learner's own line."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from gradwalk import Value
from gradwalk.learn.page.sandbox import BUDGET, LearnerError, execute, guarded


def failing(source: str, **options: Any) -> LearnerError:
    with pytest.raises(LearnerError) as caught:
        execute(source, **options)
    return caught.value


def test_names_come_back_and_given_ones_are_there() -> None:
    names = execute("b = a * 2\ndef f(x):\n    return x + 1", {"a": Value(3.0)})
    assert names["b"].data == 6.0
    assert names["f"](1) == 2


@pytest.mark.parametrize(
    ("source", "kind", "line", "said"),
    [
        ("a = 1\nb = (a", "SyntaxError", 2, "never closed"),
        ("if True:\nx = 1", "IndentationError", 2, "expected an indented block"),
        ("a = 1\n\nc = a + b", "NameError", 3, "name 'b' is not defined"),
        ("def f(x):\n    return x / 0\n\nf(1)", "ZeroDivisionError", 2, "division by zero"),
        ("x = input('n')", "EOFError", 1, "nobody to ask"),
        ("exit()", "SystemExit", 1, "leave it out"),
        ("def f(): return f()\nf()", "RecursionError", 1, "calls itself over and over: `f` leads back to `f`"),
        ("def f(): return g()\ndef g(): return f()\nf()", "RecursionError", None, "leads back to"),
        ("class N:\n    def __neg__(self):\n        return -self\n-N()", "RecursionError", 3, "`__neg__` leads back"),
        (
            "class N:\n    def __rsub__(self, other):\n        return other - self\n8 - N()",
            "RecursionError",
            3,
            "`__rsub__`",
        ),
        (
            "class N:\n    def __neg__(self):\n        return 0 - self\n    def __rsub__(self, other):\n"
            "        return -self + other\n-N()",
            "RecursionError",
            None,
            (
                "`__neg__` leads to `__rsub__`, and that",
                "`__rsub__` leads to `__neg__`, and that",
            ),  # as it comes
        ),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1, "raise another error"),
        ("def f():\n    raise BaseException('so')\nf()", "BaseException", 2, "raise another error"),
        ("raise ValueError", "ValueError", 1, "ValueError"),
        ("class Odd(Exception):\n    def __str__(self):\n        return 1 / 0\nraise Odd", "Odd", 4, "Odd"),
        ("eval('1 +')", "SyntaxError", 1, "invalid syntax"),
        ("a = 'b\0'", "SyntaxError", None, "null"),
    ],
)
def test_errors_point_at_the_learners_line(
    source: str, kind: str, line: int | None, said: str | tuple[str, ...]
) -> None:
    error = failing(source)
    assert error.kind == kind
    assert any(words in str(error) for words in ((said,) if isinstance(said, str) else said))
    if line is not None:
        assert error.line == line


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("while True: pass", {1}),
        ("while True:\n    pass", {2}),
        ("while True:\n    continue", {2}),
        ("i = 0\nwhile i >= 0:\n    i += 1", {2, 3}),  # a step is a line: either may be the last
        ("x = 1\nwhile x:\n\n    pass", {2, 4}),
        ("while not not True: ...", {1}),
        ("for i in iter(int, 1): pass", {1}),
        ("for i in range(10):\n    while True: pass", {2}),
        ("def f():\n    while True:\n        yield 1\nfor x in f(): pass", {2, 3, 4}),
        ("def f():\n    while True: yield 1\nfor x in f(): pass", {2, 3}),
        ("while (lambda: True)(): pass", {1}),
        ("any(x for x in iter(int, 1))", {1}),
        ("x = [0 for _ in iter(int, 1)]", {1}),
        ("try:\n    while True: pass\nexcept Exception:\n    pass", {2}),
        ("while True:\n    try:\n        1 / 0\n    except Exception: pass", {2, 3, 4}),
    ],
)
def test_a_loop_that_never_ends_is_ended(source: str, lines: set[int]) -> None:
    error = failing(source, budget=20_000)
    assert error.kind == "OutOfSteps"
    assert "20,000 steps" in str(error)
    assert error.line in lines


def test_functions_that_call_themselves_for_a_reason_may_do_so_as_deeply_as_python_lets_them() -> None:
    names = execute("def down(n):\n    return 0 if n == 0 else 1 + down(n - 1)\ndepth = down(600)")
    assert names["depth"] == 600
    nested = "class N:\n    def __init__(self, below): self.below = below\n    def __neg__(self):\n"
    names = execute(f"{nested}        return -self.below\nn = 3\nfor _ in range(60):\n    n = N(n)\nm = -n")
    assert names["m"] == -3


def test_the_budget_leaves_room_for_honest_work() -> None:
    names = execute("total = 0\nfor i in range(20_000):\n    total += i")
    assert names["total"] == sum(range(20_000))
    assert BUDGET >= 1_000_000


def test_steps_inside_the_engine_are_free() -> None:
    names = execute("x = a\nfor _ in range(300):\n    x = x * a + a\nx.backward()", {"a": Value(0.5)}, budget=20_000)
    assert names["a"].grad > 0


def test_what_a_text_defined_is_guarded_when_it_is_called_later() -> None:
    endless = execute("def f():\n    while True:\n        pass", name="__mul__")["f"]
    with pytest.raises(LearnerError) as caught, guarded(budget=5_000):
        endless()
    assert (caught.value.kind, caught.value.where) == ("OutOfSteps", "__mul__")


def test_an_error_names_the_text_it_came_from() -> None:
    helper = execute("def helper(x):\n    return x.nothing", name="helper")["helper"]
    error = failing("\nhelper(1)", given={"helper": helper}, name="main")
    assert (error.where, error.line) == ("helper", 2)


def test_everything_is_as_before_afterwards() -> None:
    before = sys.gettrace(), builtins.input
    failing("1 / 0")
    failing("while True: pass", budget=100)
    execute("x = 1")
    assert (sys.gettrace(), builtins.input) == before


def test_one_guard_inside_another() -> None:
    with pytest.raises(LearnerError, match="name 'z'"), guarded():
        execute("z")


def test_a_text_that_recurses_deeper_leaves_the_limit_as_it_was() -> None:
    limit = sys.getrecursionlimit()
    execute("import sys\nsys.setrecursionlimit(20_000)")
    assert sys.getrecursionlimit() == limit


def test_recursion_is_stopped_in_time_though_the_limit_is_higher() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        error = failing("class V:\n    def __sub__(self, other): return other - self\nV() - V()")
    finally:
        sys.setrecursionlimit(limit)
    assert error.kind == "RecursionError"
    assert "`__sub__` leads back to `__sub__`" in str(error)
