"""Ordinary Python around compiled functions: what is equal, and what NumPy makes of arrays among the arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from scripts import play, read

import gradwalk
from gradwalk import Value
from gradwalk.compile.native.pythons import versions_are_readable
from gradwalk.compile.prepared import running_on
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import TraceError

#: What is written past a module's back: only versions of dicts show it, which Python has no more since 3.13.
PAST_ITS_BACK = ("vars of a module", "a module loses an attribute past its back")
SCRIPTS = {name: script for name, script in read().items() if versions_are_readable() or name not in PAST_ITS_BACK}


@pytest.fixture(autouse=True)
def _in_plain_numpy() -> Iterator[None]:
    """What is tested lies in front of the backend: no kernels are needed."""
    with running_on(REFERENCE):
        yield


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_comes_to_the_same_plain_and_compiled(name: str) -> None:
    play(SCRIPTS[name])


# --- what is run as it is ------------------------------------------------------------------------------------------


def test_a_file_that_is_read_is_read_at_every_call(tmp_path: Path) -> None:
    path = tmp_path / "k.txt"

    @gradwalk.compile
    def by_open(x: float) -> Any:
        with open(path) as file:  # noqa: PTH123 (both ways are tested)
            return Value(1.0) * x * float(file.read())

    @gradwalk.compile
    def by_path(x: float) -> Any:
        return Value(1.0) * x * float(path.read_text())

    for f in (by_open, by_path):
        path.write_text("2")
        with pytest.warns(
            FrozenWarning, match=r"reads a file \(.*k.txt\), so it cannot be compiled, and is run as it is"
        ):
            assert f(1.0).data == 2.0
        path.write_text("3")
        assert f(1.0).data == 3.0
    assert open.__name__ == "open"


def test_a_file_that_is_written_is_written_once_at_every_call(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"

    @gradwalk.compile
    def f(x: float) -> Any:
        with open(path, "a") as file:  # noqa: PTH123 (both ways are tested)
            file.write("x")
        (tmp_path / f"{x}.txt").write_text("y")
        return Value(1.0) * x

    with pytest.warns(FrozenWarning, match=r"writes a file \(.*log.txt\), so it cannot be compiled"):
        assert f(1.0).data == 1.0
    assert path.read_text() == "x"
    assert f(2.0).data == 2.0
    assert path.read_text() == "xx"
    assert (tmp_path / "2.0.txt").read_text() == "y"


def test_what_a_stand_in_cannot_do_is_said_with_the_line_and_done() -> None:
    w = Value(2.0)

    def f(x: float) -> Any:
        return w * float(json.dumps(x))

    compiled = gradwalk.compile(f)
    with pytest.warns(FrozenWarning, match="not JSON serializable") as caught:
        assert compiled(1.5).data == 3.0
    assert "w * float(json.dumps(x))" in str(caught[0].message)
    assert compiled(2.5).data == 5.0
    with pytest.raises(TraceError, match="not JSON serializable"):
        gradwalk.compile(f, wrt="x")(1.5)


def test_what_the_function_raises_by_itself_is_raised_and_done_once() -> None:
    seen: list[float] = []

    @gradwalk.compile
    def f(x: float) -> Any:
        seen.append(1.0)
        if x > 1.0:
            raise LookupError(f"no {x}")
        return Value(1.0) * x

    for times in (1, 2):
        with pytest.raises(LookupError, match=r"no 2\.0"):
            f(2.0)
        assert len(seen) == times


def test_the_gradient_of_a_parameter_that_is_read_is_that_of_the_call() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x: w.grad * x)
    with pytest.warns(FrozenWarning, match="gradient of a parameter was read"):
        assert compiled(1.0).data == 0.0
    w.grad = 3.0
    assert compiled(1.0).data == 3.0


def test_objects_that_are_given_are_new_ones() -> None:
    class Pair:
        def __init__(self, first: Any) -> None:
            self.first = first

    compiled = gradwalk.compile(lambda x: Pair(Value(1.0) * x))
    with pytest.warns(FrozenWarning, match="gives a new Pair at each call"):
        first = compiled(1.0)
    assert compiled(2.0) is not first
    assert (first.first.data, compiled(2.0).first.data) == (1.0, 2.0)


# --- numbers of NumPy's narrow types ---------------------------------------------------------------------


def test_float32_is_rounded_to_float32_bit_for_bit() -> None:
    def f(x: Any, y: Any) -> Any:
        return ((x * y + x) / 3 - 0.1) * y - x

    compiled, dice = gradwalk.compile(f), np.random.default_rng(1)
    for _ in range(20):
        x = (dice.normal(size=4) * 10.0 ** dice.integers(-45, 39, size=4)).astype(np.float32)
        y = dice.normal(size=4).astype(np.float32)
        with np.errstate(all="ignore"):
            expected = f(x, y)
        found = [v.data for v in compiled(x, y)]
        assert np.array_equal(expected.astype(float), found, equal_nan=True)


def test_a_batch_refuses_ints_that_wrap_around() -> None:
    compiled = gradwalk.compile(lambda x: Value(1.0) * (x - 5), batch="sum")
    with pytest.raises(TraceError, match="uint8"):
        compiled(np.array([1, 9], np.uint8))
    assert compiled(np.array([1, 9])).data == 0.0


def test_threads_that_trace_at_once_all_see_what_stands_there() -> None:
    def ask(x: float) -> Any:
        return Value(2.0) * x if type(x) is float else Value(3.0) * x

    found: list[float] = []

    def trace(i: int) -> None:
        found.append(gradwalk.compile(lambda x: ask(x) + i)(1.0).data - i)

    threads = [Thread(target=trace, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2.0] * 8
    assert "type" not in globals()
