"""What a function does that no name in it tells: code put into libraries, what it only sets, and types of samples."""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value
from gradwalk.compile.call.following import Checks
from gradwalk.compile.prepared import running_on
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.compile.trace.reach import Reached
from gradwalk.errors import TraceError


@pytest.fixture(autouse=True)
def _in_plain_numpy() -> Iterator[None]:
    """What is tested lies in front of the backend: no kernels are needed."""
    with running_on(REFERENCE):
        yield


# --- code of libraries -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("where", "name"), [(math, "floor"), (np, "sum"), (builtins, "sum")])
def test_a_function_put_into_a_library_is_followed(
    where: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions: dict[Any, Any] = {
        math: lambda x: Value(1.0) * math.floor(x[0]),
        np: lambda x: Value(1.0) * np.sum(x),
        builtins: lambda x: Value(1.0) * sum(x),
    }
    function = functions[where]
    compiled = gradwalk.compile(function)
    given = np.array([2.0, 3.0])
    assert [compiled(given).data for _ in range(3)] == [function(given).data] * 3
    size = [7.0]
    monkeypatch.setattr(where, name, lambda _: size[0])
    assert compiled(given).data == 7.0
    size[0] = 8.0  # what the new one reads
    assert compiled(given).data == 8.0
    monkeypatch.undo()
    assert compiled(given).data == function(given).data != 8.0


def test_a_name_among_the_builtins_is_read_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "lam", 2.0, raising=False)
    compiled = gradwalk.compile(eval("lambda x: x * lam"))
    assert [compiled(1.0).data for _ in range(3)] == [2.0] * 3
    monkeypatch.setattr(builtins, "lam", 3.0)
    assert compiled(1.0).data == 3.0


def test_a_module_that_comes_to_be_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def scale(x: float) -> Any:
        try:
            import settings_of_mine  # type: ignore[import-not-found]
        except ImportError:
            return Value(1.0) * x
        return x * settings_of_mine.k

    compiled = gradwalk.compile(scale)
    assert [compiled(2.0).data for _ in range(3)] == [2.0] * 3
    module = SimpleNamespace(k=5.0)
    monkeypatch.setitem(sys.modules, "settings_of_mine", module)
    assert compiled(2.0).data == 10.0
    module.k = 6.0
    assert compiled(2.0).data == 12.0


# --- what is set and not read ----------------------------------------------------------------------------------------


class Box:
    __slots__ = ("kind",)


@pytest.mark.parametrize("box", [SimpleNamespace(), Box()])
def test_what_is_set_and_never_read_is_said(box: Any) -> None:
    box.kind = ""

    @gradwalk.compile
    def f(x: float) -> Any:
        box.kind = "large" if x > 1 else "small"
        return Value(1.0) * x

    with pytest.warns(FrozenWarning, match=r"sets box\.kind, which it does not read: that is set when .* is traced"):
        f(2.0)
    assert box.kind == "large"
    assert f(3.0).data == 3.0  # without another word


def test_a_global_name_that_is_set_and_never_read_is_said() -> None:
    space: dict[str, Any] = {"latest": 0}
    exec("def f(x):\n    global latest\n    latest = 1 if x > 1 else 2\n    return x * 2.0", space)
    with pytest.warns(FrozenWarning, match="sets latest, which it does not read"):
        gradwalk.compile(space["f"])(2.0)


def test_a_stand_in_that_is_left_somewhere_speaks_for_itself() -> None:
    box = SimpleNamespace()

    @gradwalk.compile
    def f(x: float) -> Any:
        box.latest = Value(1.0) * x
        return box.latest * 2.0 if x > 1 else Value(0.0)

    @gradwalk.compile
    def g(x: float) -> Any:
        box.other = Value(1.0) * x
        return Value(2.0) * x

    with pytest.warns(FrozenWarning, match="changes what it reads"):
        assert f(2.0).data == 4.0
    assert g(2.0).data == 4.0  # without a word
    with pytest.raises(TraceError, match="inside a compiled function"):
        box.other.backward()


# --- ints of 64 bits -------------------------------------------------------------------------------------------------


def test_large_ints_of_numpy_are_exact_or_run_as_they_are() -> None:
    def f(a: Any) -> Any:
        return Value(1.0) * ((a[0] * 1103515245 + 12345) % 2**31)

    compiled = gradwalk.compile(f)
    for x in (3, 2**31 - 7, 2**31 - 8, 4, 2**31 - 7):
        assert compiled(np.array([x, 1])).data == f(np.array([x, 1])).data
    huge = np.array([2**53 + 1, 1])
    with np.errstate(over="ignore"), pytest.warns(FrozenWarning, match=r"ints of 2\*\*53 or more"):
        assert compiled(huge).data == f(huge).data


def test_a_path_for_large_ints_serves_small_ones_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda self, calls: True)
    compiled = gradwalk.compile(lambda n: Value(1.0) * (3 * (n + 1) * (n - 1)))
    for n in (2**25, *range(9)):
        assert compiled(n).data == 3 * (n * n - 1)


def test_an_int_that_no_float_can_hold_is_compared_exactly() -> None:
    def f(x: float, n: int) -> Any:
        return [Value(1.0) * x, n <= x + n, x + n < n, n == x + n, x + n != n, 2**53 + 1 > x]

    compiled = gradwalk.compile(f)
    for x, n in ((0.5, 2**53 + 1), (2.0, 2**53 + 1), (0.5, 2**53 + 3), (2.0**53, 3), (2.0**53 + 2, 3)):
        assert compiled(x, n)[1:] == f(x, n)[1:]


# --- samples of several types ----------------------------------------------------------------------------------------


def test_a_batch_is_traced_for_its_dtype() -> None:
    compiled = gradwalk.compile(lambda x: Value(2.0) * x if isinstance(x, float) else Value(3.0) * x, batch="sum")
    kinds = (float, np.float32, float, int)
    assert [compiled(np.ones(2, kind)).data for kind in kinds] == [4.0, 6.0, 4.0, 6.0]
    product = gradwalk.compile(lambda x: Value(1.0) * (x * x), batch="sum")
    assert product(np.array([100, 1])).data == 10001.0
    with pytest.raises(TraceError, match="int8"):  # which wraps around
        product(np.array([100, 1], np.int8))


def test_samples_of_several_types_are_not_asked_for_their_type() -> None:
    asking = gradwalk.compile(lambda x: Value(2.0) * x if isinstance(x, int) else Value(3.0) * x, batch="sum")
    assert [asking([1, 2]).data, asking([1.0, 2.0]).data] == [6.0, 9.0]
    with pytest.raises(TraceError, match="the samples are of several"):
        asking([1, 2.5])
    assert gradwalk.compile(lambda x: Value(2.0) * x, batch="sum")([1, 2.5]).data == 7.0


# --- what is not read, though it could be ----------------------------------------------------------------------------


def test_what_only_an_error_would_say_is_not_read() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = Value(2.0)
            self.history: list[float] = []

        def __repr__(self) -> str:
            return f"Model({self.history})"

        def __call__(self, x: Any) -> Any:
            if type(x) is not float or x % 2 == 5:
                raise TypeError(f"{self} was given {x}")
            return self.w * x

    model = Model()
    compiled = gradwalk.compile(lambda x: model(x))
    for _ in range(5):
        model.history.append(compiled(3.0).data)
    assert compiled.traced == 1
    assert gradwalk.compile(lambda x: (model(x), str(model)))(3.0)[1] == f"Model({[6.0] * 5})"


def test_a_class_that_is_only_compared_is_not_made() -> None:
    @dataclass(frozen=True)
    class Config:
        width: int = 2

        def __post_init__(self) -> None:
            getattr(self, "".join(["wid", "th"]))

    def asked(x: Any) -> Any:
        return x.__class__ is config.__class__ or type(x) in (int, float) or type(x).__name__ == "str"

    config = Config()
    for f in (lambda: config.width, lambda: asked(config)):
        assert not Reached([f]).anything
    assert Reached([lambda: type(config)(3)]).anything
    assert Reached([lambda: config.__class__(3)]).anything
