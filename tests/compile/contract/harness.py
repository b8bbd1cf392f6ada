"""The contract of compiled functions, as a harness: the same calls, plain and compiled, give the same or are said.

A case is a small function, made anew in two worlds that are alike, and a list of calls. In one world the function runs
as it is, in the other compiled; between calls anything may change, in both worlds alike. After every call numbers,
gradients and errors must be equal, or the compiled function must have said at that very call that it cannot follow.

To add cases of another kind, write a table of them: `{name: Case(make, calls)}`, and `run(case)` for each.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

import gradwalk
from gradwalk import Value, tree
from gradwalk.compile.trace.limits import FrozenWarning, ManyPathsWarning
from gradwalk.errors import TraceError

#: How a compiled function says that it cannot follow.
SAID = (FrozenWarning, ManyPathsWarning)


@dataclass
class Case:
    """A function and its calls.

    `make` is given a world (`world.w`, `world.v`: parameters; other attributes as the case likes) and makes the
    function. Each call is a tuple of arguments, or a `Change`. `said` names what the compiled function may say instead
    of following: by default nothing. `replays` is whether calls that were seen need no new trace.
    """

    make: Callable[[Any], Callable[..., Any]]
    calls: Sequence[Any]
    said: type[BaseException] | None = None
    replays: bool = True
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Change:
    """Something that happens between two calls."""

    happens: Callable[[Any], None]


def world() -> Any:
    return SimpleNamespace(w=Value(1.5), v=Value(-0.5))


def run(case: Case) -> bool:
    """Hold a case to the contract, every call several times, with other parameters; gives whether anything was said."""
    worlds = world(), world()
    plain = case.make(worlds[0])
    compiled = gradwalk.compile(case.make(worlds[1]), **case.options)
    traced: list[int] = []
    said = False
    for round_, factor in enumerate((1.0, 1.0, -0.5, 1.0)):
        for one in worlds:
            one.w.data, one.v.data = one.w.data * factor, one.v.data * factor
        for call in case.calls:
            if isinstance(call, Change):
                for one in worlds:
                    call.happens(one)
                continue
            expected = outcome(plain, worlds[0], copy.deepcopy(call))
            found = outcome(compiled, worlds[1], copy.deepcopy(call))
            told = f"call {call!r} in round {round_}: plain {expected}, compiled {found}"
            if found.said is not None:
                assert issubclass(found.said, case.said or ()), told
                said = True
                if not issubclass(found.said, ManyPathsWarning):  # which leaves the numbers right
                    return said
            assert alike(expected, found), told
        traced.append(compiled.traced)
    if case.replays and not any(isinstance(call, Change) for call in case.calls):
        assert [traced[0], traced[2]] == [traced[1], traced[3]], f"traced again and again: {traced}"
    return said


@dataclass
class Outcome:
    """What became of a call."""

    numbers: list[Any] = field(default_factory=list)
    structure: Any = None
    grads: list[float] = field(default_factory=list)
    error: type[BaseException] | None = None
    said: type[BaseException] | None = None


def outcome(function: Callable[..., Any], world: Any, args: tuple[Any, ...]) -> Outcome:
    """Call, walk back from the first Value that is given, and look at everything."""
    out = Outcome()
    leaves = [world.w, world.v, *[x for x in tree.flatten(args)[0] if isinstance(x, Value)]]
    for v in leaves:
        v.grad = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args)
        except TraceError as error:
            out.said = type(error)
            return out
        except Exception as error:
            out.error = type(error)
            return out
    for warning in caught:
        if issubclass(warning.category, SAID):
            out.said = warning.category
    found, structure = tree.flatten(result)
    out.structure = structure
    out.numbers = [x.data if isinstance(x, Value) else x for x in found]
    for x in found:
        if isinstance(x, Value):
            x.backward()
            break
    out.grads = [v.grad for v in leaves]
    return out


def alike(expected: Outcome, found: Outcome) -> bool:
    if expected.error is not None or found.error is not None:
        return expected.error is found.error or (
            expected.error is not None and found.error is not None and issubclass(found.error, expected.error)
        )
    return (
        expected.structure == found.structure
        and all(map(same, expected.numbers, found.numbers))
        and all(map(same, expected.grads, found.grads))
    )


def same(x: Any, y: Any) -> bool:
    """Whether two things that a call gave are the same: numbers up to rounding, truths and texts exactly."""
    if isinstance(x, (bool, np.bool_)) or isinstance(y, (bool, np.bool_)):
        return isinstance(x, (bool, np.bool_)) and isinstance(y, (bool, np.bool_)) and bool(x) == bool(y)
    if isinstance(x, int) and isinstance(y, int):
        return x == y
    if isinstance(x, (int, float, np.number)) and isinstance(y, (int, float, np.number)):
        if math.isnan(x) or math.isnan(y):
            return math.isnan(x) and math.isnan(y)
        return math.isclose(x, y, rel_tol=1e-11, abs_tol=1e-13)
    return bool(x == y)
