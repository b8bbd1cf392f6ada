"""Scripts: a piece of a program and steps, run twice, with `@C` as nothing and as `gradwalk.compile`, to the same end.

`scripts.txt` holds them, as one would write them in a notebook:

    # name
    k = 2.0
    @C
    def f(x): return x * k * w
    >>> f(1.0)       # doctest: +SKIP
    >>> k = 3.0      # doctest: +SKIP
    >>? f(1.0)

Every step must come to the same in both runs: what it gives, what it raises, and the gradients and numbers of all
Values that have a name. After `>>?` the compiled function may say that it cannot follow; what it gives must be right
all the same.

    python tests/compile/contract/scripts.py --seconds 60     # steps in random order; `make fuzz` runs it
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import math
import random
import sys
import time
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gradwalk
from gradwalk import Value
from gradwalk.compile.prepared import running_on
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.trace.limits import FrozenWarning, ManyPathsWarning
from gradwalk.errors import GradwalkError

HEAD = """
import array, bisect, collections, contextlib, copy, ctypes, dataclasses, decimal, enum, fractions, functools, heapq
import itertools, json, math, operator, os, random, statistics, string, threading, time, types, typing, weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import cached_property, lru_cache, partial, reduce, singledispatch, wraps
import numpy as np
import gradwalk
from gradwalk import Value, exp, log, nn, ops, optim, sqrt, tanh, where
w, v = Value(1.5), Value(-0.5)
"""


class Script(NamedTuple):
    source: str
    steps: list[tuple[str, bool]]  # and whether the compiled function may say that it cannot follow


def read() -> dict[str, Script]:
    """The scripts of `scripts.txt` by name."""
    found: dict[str, Script] = {}
    lines: list[str] = []
    name = ""
    for line in Path(__file__).with_name("scripts.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            name, lines = line[2:], []
            assert name not in found, name
            found[name] = Script("", [])
        elif line.startswith((">>> ", ">>? ")):
            found[name].steps.append((line[4:].replace("\\n", "\n"), line[2] == "?"))
        else:
            lines.append(line)
            found[name] = found[name]._replace(source="\n".join(lines))
    return found


def play(script: Script) -> None:
    """Run a script twice, step by step, and hold the two runs to each other."""
    plain, compiled = (_namespace(script.source, maker) for maker in (_plain, gradwalk.compile))
    for step, may_be_said in script.steps:
        expected, found = _outcome(plain, step), _outcome(compiled, step)
        told = f"{step}: plain {expected}, compiled {found}"
        assert may_be_said or not found.said, told
        if isinstance(found.result, GradwalkError) and may_be_said:
            if isinstance(expected.result, Exception):
                continue
            return  # from here on the two differ
        if isinstance(expected.result, Exception) or isinstance(found.result, Exception):
            assert type(expected.result).__name__ == type(found.result).__name__, told
            continue
        assert len(expected.result) == len(found.result), told
        different = [pair for pair in zip(expected.result, found.result, strict=True) if not _same(*pair)]
        assert not different, f"{step}: {different[:3]}"


def _plain(function: Any = None, **options: Any) -> Any:
    return function if function is not None else lambda function: function


_numbers = itertools.count()


def _namespace(source: str, maker: Callable[..., Any]) -> dict[str, Any]:
    module = types.ModuleType(f"script_{next(_numbers)}")
    sys.modules[module.__name__] = module  # where dataclasses look their names up
    space = vars(module)
    space["C"] = maker
    text, name = HEAD + source, f"<{module.__name__}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name  # as notebooks do
    exec(compile(text, name, "exec"), space)
    return space


class Outcome(NamedTuple):
    result: Any  # an exception, or all numbers
    said: bool


def _outcome(space: dict[str, Any], step: str) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            try:
                code = compile(step, "<step>", "eval")
            except SyntaxError:
                given = None
                exec(compile(step, "<step>", "exec"), space)
            else:
                given = eval(code, space)
                loss = next((x for x in _leaves(given) if isinstance(x, Value)), None)
                if loss is not None:
                    loss.backward()
        except Exception as error:
            return Outcome(error, isinstance(error, GradwalkError))
    said = any(issubclass(x.category, (FrozenWarning, ManyPathsWarning)) for x in caught)
    named = [(name, x) for name, x in sorted(space.items()) if not name.startswith("_") and name not in ("C", "r")]
    values = [(name, v) for name, x in named for v in _leaves(x) if isinstance(v, Value)]
    state = [(name, number) for name, v in values for number in (v.data, v.grad)]
    return Outcome([*_told(given, "it"), *state], said)


def _leaves(x: Any, depth: int = 0) -> Iterator[Any]:
    parts: Any = ()
    if isinstance(x, np.ndarray):
        parts = x.ravel().tolist() if x.dtype == object else ()
    elif isinstance(x, dict):
        parts = list(x.values())
    elif isinstance(x, (list, tuple, deque)):
        parts = list(x)
    elif isinstance(x, gradwalk.nn.Module):
        parts = x.parameters()
    for part in parts if depth < 4 else ():
        yield from _leaves(part, depth + 1)
    yield x


def _told(x: Any, path: str) -> Iterator[tuple[Any, ...]]:
    """What a step gave, as a list that can be compared: a number is the same as a Value that holds it."""
    if isinstance(x, np.ndarray):
        x = x.tolist()
    if isinstance(x, (bool, np.bool_)):
        yield path, bool(x)
    elif isinstance(x, (int, float, np.number, Value)):
        yield path, float(x.data if isinstance(x, Value) else x)
    elif isinstance(x, dict):
        yield path, tuple(map(repr, x))
        for key, part in x.items():
            yield from _told(part, f"{path}[{key!r}]")
    elif isinstance(x, (list, tuple, deque)):
        yield path, type(x).__name__, len(x)
        for i, part in enumerate(x):
            yield from _told(part, f"{path}[{i}]")
    elif type(x).__module__.startswith("script_"):
        yield path, type(x).__name__
        yield from _told({name: getattr(x, name) for name in getattr(x, "__slots__", None) or vars(x)}, path)
    else:
        yield path, type(x).__name__, x if isinstance(x, (str, bytes, complex)) else ""


def _same(expected: tuple[Any, ...], found: tuple[Any, ...]) -> bool:
    if len(expected) != len(found):
        return False
    for x, y in zip(expected, found, strict=True):
        if isinstance(x, float) and isinstance(y, float):
            if not (math.isclose(x, y, rel_tol=1e-11, abs_tol=1e-13) or (x != x and y != y)):
                return False
        elif x != y or type(x) is not type(y):
            return False
    return True


def shuffled(script: Script, chance: random.Random) -> Script:
    """The same with steps in random order, some of them several times."""
    steps = [(chance.choice(script.steps)[0], True) for _ in range(len(script.steps) + 3)]
    return script._replace(steps=steps)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began, seed, runs, failures = time.perf_counter(), options.seed, 0, 0
    with running_on(REFERENCE):
        while time.perf_counter() - began < options.seconds:
            for name, script in read().items():
                again = shuffled(script, random.Random(f"{seed} {name}"))
                runs += 1
                try:
                    play(again)
                except AssertionError as error:
                    failures += 1
                    print(f"{name}, seed {seed}: {[step for step, _ in again.steps]}\n{error}\n")
            seed += 1
    print(f"{runs} scripts, {failures} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
