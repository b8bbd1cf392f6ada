"""Every public function and method of tensors, called with rubbish: refused in words or answered, no crash inside."""

from __future__ import annotations

import inspect
import math
import random
import re
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

import gradwalk
from gradwalk import Tensor, using_arrays
from gradwalk.errors import GradwalkError
from gradwalk.tensor import convolutions, functions, losses, method_functions
from gradwalk.tensor import random as by_chance

OPERATORS = (
    "__getitem__", "__setitem__", "__contains__", "__matmul__", "__rmatmul__", "__add__", "__rsub__", "__truediv__",
    "__pow__", "__lt__", "__eq__", "__and__", "__iadd__",
)  # fmt: skip
#: What the engine calls, and a Python of its own kind refuses.
NOT_FOR_PEOPLE = {"compared", "computed", "seeded"}
#: So many of all calls of each provider are made here; `python tests/tensor/test_tensor_rubbish.py` makes all of them.
CASES = 12_000


def rubbish() -> list[Any]:
    return [
        None, "x", b"x", "", object(), math.nan, math.inf, 1.5, -1, -5, 99, 1 + 2j, True, [], [None], ["x"], {},
        (0, 0), (0, 7), [[1.0], [2.0, 3.0]], slice(None), slice("a"), ..., len, int, Tensor([1.0, 2.0, 3.0]),
        Tensor([[True, False]]), gradwalk.zeros(0),
    ]  # fmt: skip


def tensor() -> Tensor:
    return Tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], label="t")


def subjects() -> Iterator[tuple[str, Any, bool]]:
    for module in (functions, convolutions, losses, by_chance):
        yield from ((name, getattr(module, name), False) for name in module.__all__ if name not in NOT_FOR_PEOPLE)
    yield from ((name, getattr(gradwalk, name), False) for name in method_functions.AS_FUNCTIONS)
    for name, found in inspect.getmembers(Tensor, callable):
        if name in OPERATORS or not (name.startswith("_") or name in NOT_FOR_PEOPLE):
            yield name, found, True


def calls() -> Iterator[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    """What is called, with what; each time with things of its own."""
    for name, function, method in subjects():
        if inspect.isclass(function):
            continue
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        known = inspect.signature(function).parameters.values()
        keywords = [p.name for p in known if p.kind in kinds][1:]
        for i in range(len(rubbish())):
            first: list[list[Any]] = [[tensor()], [tensor(), 0]]
            for before in first if method else [*first, [], [[tensor()]]]:
                yield name, function, (*before, rubbish()[i]), {}
                yield name, function, (*before, rubbish()[i], rubbish()[i]), {}
            for keyword in keywords:
                yield name, function, (tensor(),), {keyword: rubbish()[i]}


def fault(name: str, function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """What is wrong with how a call is refused; nothing if it is answered, or refused in words."""
    try:
        function(*given, **named)
    except GradwalkError as error:
        return "" if len(str(error)) > 15 else f"{name}: says only {error!r}"
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        if isinstance(error, TypeError) and re.search(r"\w\(\) (takes|got|missing)", str(error)):
            return ""  # so many arguments, or such, it does not take: Python says so, and names it
        place = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        return f"{name}{tuple(map(short, given))} {named}: {type(error).__name__}: {error} at {place}"
    return ""


def short(x: Any) -> str:
    return f"{x!r:.40}"


@pytest.mark.parametrize("provider", ["numpy", "python"])
def test_rubbish_is_refused_in_words(provider: str) -> None:
    with using_arrays(provider):
        every = list(calls())
        assert len(every) > 40_000
        picked = random.Random(len(provider)).sample(every, CASES)
        assert [found for call in picked if (found := fault(*call))][:20] == []


def test_places_that_are_no_whole_numbers_are_not_rounded() -> None:
    t = tensor()
    for given in ([[0.7], [1.2]], [[True], [False]]):
        with pytest.raises(GradwalkError, match="whole numbers"):
            t.gather(1, given)
    with pytest.raises(GradwalkError, match="lists of ints"):
        _ = t[[0.5]]


if __name__ == "__main__":
    for provider in ("numpy", "python"):
        with using_arrays(provider):
            for found in sorted({found for call in calls() if (found := fault(*call))}):
                print(provider, found)
