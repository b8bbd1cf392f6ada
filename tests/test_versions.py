"""The engine in versions: each does what it claims, and does not do what it says it cannot do yet."""

# mypy: allow-untyped-calls
from __future__ import annotations

import gc
import importlib.util
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk.diagnose import grade
from gradwalk.diagnose.checks import GROUPS

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "versions"
FILES = sorted(FOLDER.glob("v*.py"))
NAMES = [path.stem for path in FILES]
LAST = len(FILES)
#: What the last version says it leaves out, as the grader calls it.
LEFT_OUT = "numbers at the edges"


def version(number: int) -> Any:
    """The class of a version."""
    path = FILES[number - 1]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Value


def since(first: int) -> list[int]:
    return list(range(first, LAST + 1))


def before(first: int) -> list[int]:
    return list(range(1, first))


def gradients(Value: Any, text: str, **numbers: float) -> list[float]:
    """The gradients of an expression's leaves, in the order they are given."""
    leaves = {name: Value(x) for name, x in numbers.items()}
    eval(text, {}, leaves).backward()
    return [leaf.grad for leaf in leaves.values()]


PAIR = "(a * b) * (a + b)"


# --- as files ------------------------------------------------------------------------------------------------------


def test_they_are_numbered_without_a_gap() -> None:
    assert [name[:4] for name in NAMES] == [f"v{n:02}_" for n in range(1, LAST + 1)]
    assert 9 <= LAST <= 12


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_runs_by_itself_and_says_something(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) >= 6


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_says_what_it_is_and_uses_nothing_but_python(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    number = int(path.stem[1:3])
    assert text.startswith(f'"""Version {number}: ')
    assert set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE)) <= {"math", "gc"}
    assert text.count('if __name__ == "__main__":') == 1
    assert max(map(len, text.splitlines()[1:])) <= 80  # readable beside its reasons


# --- what each can do, and what it cannot do yet ---------------------------------------------------------------------


def test_version_1_is_a_box() -> None:
    Value = version(1)
    assert (Value(2.0).data, repr(Value(2.0))) == (2.0, "Value(2.0)")
    with pytest.raises(TypeError):
        Value(2.0) + Value(3.0)
    with pytest.raises(TypeError):
        Value(2.0) * Value(3.0)


@pytest.mark.parametrize("number", since(2))
def test_from_version_2_on_boxes_are_added_and_multiplied(number: int) -> None:
    Value = version(number)
    assert (Value(2.0) * Value(-3.0) + Value(10.0)).data == 4.0


def test_version_2_remembers_nothing() -> None:
    assert set(vars(version(2)(1.0) + version(2)(1.0))) == {"data"}


@pytest.mark.parametrize("number", since(3))
def test_from_version_3_on_a_box_knows_its_operands(number: int) -> None:
    Value = version(number)
    a, b = Value(2.0), Value(-3.0)
    assert (tuple((a * b)._prev), (a * b)._op, (a + a)._prev, a._prev) == ((a, b), "*", (a, a), ())


@pytest.mark.parametrize("number", before(4))
def test_before_version_4_there_is_no_slot_for_a_gradient(number: int) -> None:
    assert not hasattr(version(number)(1.0), "grad")


@pytest.mark.parametrize("number", before(5))
def test_before_version_5_nothing_is_pushed(number: int) -> None:
    assert not hasattr(version(number)(1.0), "_backward")


@pytest.mark.parametrize("number", since(5))
def test_from_version_5_on_one_walks_by_hand_and_the_order_matters(number: int) -> None:
    Value = version(number)
    results = []
    for order in ("de", "ed"):
        a, b, c = Value(2.0), Value(-3.0), Value(10.0)
        e = a + b
        d = e * c
        d.grad = 1.0
        for name in order:
            {"d": d, "e": e}[name]._backward()
        results.append((a.grad, b.grad, c.grad))
    assert results == [(10.0, 10.0, -1.0), (0.0, 0.0, -1.0)]


@pytest.mark.parametrize("number", before(6))
def test_before_version_6_nothing_walks_by_itself(number: int) -> None:
    assert not hasattr(version(number)(1.0), "backward")


def test_version_6_is_right_where_nothing_is_shared_and_overwrites_where_something_is() -> None:
    Value = version(6)
    assert gradients(Value, "(a + b) * c", a=2.0, b=-3.0, c=10.0) == [10.0, 10.0, -1.0]
    assert gradients(Value, "a + a", a=3.0) == [1.0]  # right is 2
    assert gradients(Value, "a * a", a=3.0) == [3.0]  # right is 6
    assert gradients(Value, PAIR, a=-2.0, b=3.0) == [3.0, -2.0]  # right is −3 and −8


@pytest.mark.parametrize("number", since(7))
def test_from_version_7_on_contributions_add_up(number: int) -> None:
    Value = version(number)
    assert gradients(Value, "(a + b) * c", a=2.0, b=-3.0, c=10.0) == [10.0, 10.0, -1.0]
    assert gradients(Value, "a + a", a=3.0) == [2.0]
    assert gradients(Value, "a * a", a=3.0) == [6.0]
    assert gradients(Value, PAIR, a=-2.0, b=3.0) == [-3.0, -8.0]


def test_version_7_differs_from_version_6_in_four_characters() -> None:
    six, seven = (_code(path) for path in FILES[5:7])
    changed = [(old, new) for old, new in zip(six, seven, strict=True) if old != new]
    assert len(changed) == 4
    assert all(new == old.replace(" = ", " += ") for old, new in changed)


def _code(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[1:]


@pytest.mark.parametrize("number", before(8))
def test_before_version_8_plain_numbers_are_refused(number: int) -> None:
    for text in ("2 * a", "a * 2", "1 - a", "a / 4", "a ** 2", "-a"):
        with pytest.raises((TypeError, AttributeError)):
            eval(text, {}, {"a": version(number)(3.0)})


@pytest.mark.parametrize("number", since(8))
def test_from_version_8_on_the_arithmetic_is_whole(number: int) -> None:
    Value = version(number)
    for text in ("3*a**2 - 4*a + 5", "1/a", "(10 - a)/2", "-a", "a/a", "a - a", "2/a - a/2", "1 + a", "a**-2"):
        ours = gradwalk.Value(4.0)
        eval(text, {}, {"a": ours}).backward()
        assert gradients(Value, text, a=4.0) == pytest.approx([ours.grad], abs=1e-12), text


FUNCTIONS = ["exp", "log", "tanh", "sigmoid", "relu"]


@pytest.mark.parametrize("number", before(9))
def test_before_version_9_there_are_no_functions(number: int) -> None:
    assert not [name for name in FUNCTIONS if hasattr(version(number)(1.0), name)]


@pytest.mark.parametrize("number", since(9))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_from_version_9_on_the_functions_have_their_slopes(number: int, name: str) -> None:
    for x in (0.3, 2.0, *([] if name == "log" else [-1.5])):
        ours = gradwalk.Value(x)
        getattr(ours, name)().backward()
        assert gradients(version(number), f"a.{name}()", a=x) == pytest.approx([ours.grad], rel=1e-12)


def chain(Value: Any, length: int) -> tuple[Any, Any]:
    x = Value(1.0)
    y = x
    for _ in range(length):
        y = y + x
    return x, y


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6, 10))
def test_versions_6_to_9_cannot_walk_far(number: int) -> None:
    _, y = chain(version(number), 20_000)
    with pytest.raises(RecursionError):
        y.backward()


@pytest.mark.parametrize("number", since(10))
def test_from_version_10_on_any_depth_will_do(number: int) -> None:
    x, y = chain(version(number), 100_000)
    y.backward()
    assert x.grad == 100_001.0


@pytest.mark.parametrize(("number", "twice"), [(7, 72.0), (8, 72.0), (9, 72.0), (10, 54.0), (11, 54.0)])
def test_a_second_walk_adds_once_from_version_10_on(number: int, twice: float) -> None:
    x = version(number)(3.0)
    y = x * x * x
    y.backward()
    assert x.grad == 27.0
    y.backward()
    assert x.grad == twice


@pytest.mark.slow
@pytest.mark.parametrize(("number", "clean"), [(9, False), (10, False), (11, True)])
def test_only_the_last_version_leaves_nothing_to_the_garbage_collector(number: int, clean: bool) -> None:
    Value = version(number)
    gc.collect()
    gc.disable()
    try:
        made = chain(Value, 200)
        del made
        assert (gc.collect() < 50) == clean
    finally:
        gc.enable()


def test_the_last_version_keeps_the_slopes_of_its_forward_pass() -> None:
    for number, right in ((10, False), (11, True)):
        Value = version(number)
        a, b = Value(3.0), Value(4.0)
        c = a * b
        a.data = 100.0
        c.backward()
        assert (b.grad == 3.0) == right


# --- the last one is an engine ---------------------------------------------------------------------------------------


def grown(draw: random.Random, leaves: list[Any], steps: int) -> Any:
    """A random program: the same for every engine, if `draw` is; each step uses what there is so far."""
    made = list(leaves)
    for _ in range(steps):
        a, b = draw.choice(made), draw.choice(made)
        number = draw.uniform(0.5, 1.5)
        made.append(
            draw.choice(
                [
                    lambda a, b, c: a + b * c,
                    lambda a, b, c: a * b - c,
                    lambda a, b, c: a / (b * b + c),
                    lambda a, b, c: c - a,
                    lambda a, b, c: (a + b).tanh(),
                    lambda a, b, c: (a * c).sigmoid() * b,
                    lambda a, b, c: (a.tanh() + c + 1).log(),
                    lambda a, b, c: (a.tanh() * c).exp(),
                    lambda a, b, c: (a - b).relu() + a,
                    lambda a, b, c: a.tanh() ** 3 + c / (b * b + 1),
                ]
            )(a, b, number)
        )
    return sum(made[1:], made[0]).tanh() + made[-1]


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_the_last_version_equals_gradwalk_on_random_programs(seed: int, steps: int) -> None:
    results = []
    for Value in (LAST_CLASS, gradwalk.Value):
        draw = random.Random(seed)
        leaves = [Value(draw.uniform(-2, 2)) for _ in range(3)]
        root = grown(draw, leaves, steps)
        root.backward()
        results.append([root.data, *(leaf.grad for leaf in leaves)])
    assert results[0] == pytest.approx(results[1], rel=1e-9, abs=1e-12)


LAST_CLASS = version(LAST)


def test_the_grader_accepts_the_last_version_but_for_what_it_leaves_out() -> None:
    path = FILES[-1]
    assert f"Left out: {LEFT_OUT}" in path.read_text(encoding="utf-8").splitlines()[0]
    report = grade(path.read_text(encoding="utf-8"))
    failed = {check.group for check in report.checks if check.status in ("failed", "error")}
    assert {GROUPS[group] for group in failed} == {LEFT_OUT}
    assert report.score > 60
