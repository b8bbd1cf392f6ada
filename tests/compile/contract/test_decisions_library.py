"""Decisions by way of the standard library, of classes, closures and generators."""

# mypy: allow-untyped-calls
from __future__ import annotations

import bisect
import heapq
import itertools
import math
import statistics
from collections import Counter
from functools import reduce
from typing import Any

import numpy as np
import pytest
from harness import Case, run

import gradwalk
from gradwalk import Value

FLOATS = [(x,) for x in (1.5, -0.5, 0.0, 2.0, 1.5, -0.0)]
LISTS = [([1.0, 2.0, 3.0],), ([3.0, -1.0, 0.0],), ([2.0, 2.0, 1.0],), ([1.0, 2.0, 3.0],)]
INTS = [(n,) for n in (0, 1, 2, 3, 1)]


class Net:
    """A model that decides."""

    def __init__(self, o: Any) -> None:
        self.o = o

    def __call__(self, x: Any) -> Any:
        h = self.o.w * x
        return h if h > 0 else self.o.v * h

    def relu(self, x: Any) -> Any:
        h = self.o.w * x
        return h if h.data > 0 else h * 0


def generator(o: Any) -> Any:
    def f(xs: list[float]) -> Any:
        def positive() -> Any:
            for x in xs:
                if x > 0:
                    yield o.w * x

        return sum(positive(), Value(0.0))

    return f


def nested(o: Any) -> Any:
    inner = gradwalk.compile(lambda x: o.w * x if x > 1 else o.v * x)
    return lambda x: inner(x) * 2 if x < 2 else inner(x * x)


def remembering(o: Any) -> Any:
    def f(x: float) -> Any:
        made: dict[int, Any] = {}

        def known(k: int) -> Any:
            if k not in made:
                made[k] = o.w * k
            return made[k]

        return known(round(x)) + known(1) + known(round(x) + 1)

    return f


def while_else(o: Any) -> Any:
    def f(n: int) -> Any:
        i = 0
        while i < n:
            if i == 2:
                break
            i += 1
        else:
            return o.w * i
        return o.v * i

    return f


def caught_with_its_number(o: Any) -> Any:
    def f(x: float) -> Any:
        out = []
        try:
            if x < 0:
                raise ValueError(x)
            out.append(o.w * x)
        except ValueError as error:
            out.append(o.v * error.args[0])
        finally:
            out.append(o.w)
        return out

    return f


def named(o: Any) -> Any:
    return lambda x: o.w * y if (y := x * 2) > 2 else o.v * x


def smallest(o: Any) -> Any:
    def f(xs: list[float]) -> Any:
        heap = [o.w * x for x in xs]
        heapq.heapify(heap)
        return heapq.heappop(heap)

    return f


CASES = {
    "a model": Case(lambda o: Net(o).__call__, FLOATS),
    "a method": Case(lambda o: Net(o).relu, FLOATS),
    "a generator": Case(generator, LISTS),
    "a compiled function in another": Case(nested, FLOATS),
    "a dict that fills": Case(remembering, FLOATS),
    "while and else": Case(while_else, INTS),
    "try, except and finally": Case(caught_with_its_number, FLOATS),
    ":=": Case(named, FLOATS),
    "reduce": Case(lambda o: lambda xs: reduce(lambda a, b: a if a > b else b, [o.w * x for x in xs]), LISTS),
    "bisect": Case(lambda o: lambda x: o.w * bisect.bisect([0.0, 1.0, 2.0], x), FLOATS),
    "heapq": Case(smallest, LISTS),
    "nsmallest": Case(lambda o: lambda xs: o.w * heapq.nsmallest(2, xs)[1], LISTS),
    "median": Case(lambda o: lambda xs: o.w * statistics.median(xs), LISTS),
    "fsum": Case(lambda o: lambda xs: o.w * math.fsum(xs), LISTS),
    "accumulate": Case(lambda o: lambda xs: o.w * list(itertools.accumulate(xs, max))[-1], LISTS),
    "takewhile": Case(
        lambda o: lambda xs: sum((o.w * x for x in itertools.takewhile(lambda x: x > 0, xs)), Value(0.0)), LISTS
    ),
    "groupby": Case(lambda o: lambda xs: [k for k, _ in itertools.groupby(xs, lambda x: x > 1)] + [o.w], LISTS),
    "max of pairs": Case(lambda o: lambda xs: max(zip(xs, range(3), strict=True))[1] * o.w, LISTS),
    "tuples compared": Case(lambda o: lambda xs: o.w if tuple(xs) == (1.0, 2.0, 3.0) else o.v, LISTS),
    "lists compared": Case(lambda o: lambda xs: o.w if xs == [1.0, 2.0, 3.0] else o.v, LISTS),
    "lists in order": Case(lambda o: lambda xs: o.w if xs < [2.0] else o.v, LISTS),
    "numbers as keys": Case(lambda o: lambda xs: o.w * {x: i for i, x in enumerate(xs)}[xs[0]], LISTS),
    "truths counted": Case(lambda o: lambda xs: o.w * len(Counter(x > 0 for x in xs)), LISTS),
    "format": Case(lambda o: lambda x: ["{:+.1f}|{}".format(x, x > 1), o.w * x], FLOATS),  # noqa: UP032
    "join": Case(lambda o: lambda xs: [",".join(map(str, xs)), o.w * xs[0]], LISTS),
    "clamp": Case(lambda o: lambda x: o.w * min(max(x, 0.0), 1.0), FLOATS),
    "copysign": Case(lambda o: lambda x: o.w * math.copysign(1.0, x), FLOATS),
    "hypot": Case(lambda o: lambda x: o.w * math.hypot(x, 1.0), FLOATS),
    "x == int(x)": Case(lambda o: lambda x: o.w if x == int(x) else o.v, FLOATS),
    "comb": Case(lambda o: lambda n: o.w * math.comb(4, n), INTS),
    "gcd": Case(lambda o: lambda n: o.w * math.gcd(n, 4), INTS),
    "Value ** n": Case(lambda o: lambda n: o.w**n, INTS),
    "1 << n": Case(lambda o: lambda n: o.w * (1 << n), INTS),
    "map(bool)": Case(lambda o: lambda xs: o.w * sum(map(bool, xs)), LISTS),
    "all of Values": Case(lambda o: lambda xs: o.w if all(o.w * x > 0 for x in xs) else o.v, LISTS),
    "argsort": Case(lambda o: lambda xs: [o.w * xs[i] for i in sorted(range(3), key=xs.__getitem__)], LISTS),
    "argsort of Values": Case(
        lambda o: lambda xs: [o.w * xs[i] for i in sorted(range(3), key=lambda i: -(o.w * xs[i]).data)], LISTS
    ),
    "top two": Case(lambda o: lambda xs: sum(sorted((o.w * x for x in xs), reverse=True)[:2]), LISTS),
    "index of the largest": Case(lambda o: lambda xs: o.w * xs.index(max(xs)), LISTS),
    "nan in max": Case(lambda o: lambda xs: o.w * max(xs), [([1.0, math.nan],), ([math.nan, 1.0],), ([1.0, 2.0],)]),
    "x == x": Case(lambda o: lambda x: o.w if x == x else o.v, [(1.0,), (math.nan,), (2.0,)]),
    "a Value in a list": Case(lambda o: lambda x: o.w * x if o.w in [o.v, o.w] else o.v, FLOATS),
    "a Value as a key": Case(lambda o: lambda x: {o.w: 1.0, o.v: 2.0}[o.v] * x * o.w, FLOATS),
    "which Value is larger": Case(lambda o: lambda x: (o.w if max(o.w, o.v) is o.w else o.v * 2) * x, FLOATS),
    "near a whole number": Case(
        lambda o: lambda x: o.w if abs((o.w * x).data - round((o.w * x).data)) < 0.1 else o.v, FLOATS
    ),
    "a keyword": Case(lambda o: lambda x, *, scale=2.0: o.w * x * scale if scale > 1 else o.v, FLOATS),
    "any number of arguments": Case(
        lambda o: lambda *xs: o.w * sum(xs) if len(xs) > 1 and xs[0] > 0 else o.v,
        [(1.0,), (1.0, 2.0), (-1.0, 2.0), (1.0, 2.0)],
    ),
    "a dict as an argument": Case(
        lambda o: lambda d: o.w * d["a"] if d.get("b", 0) > 1 else o.v,
        [({"a": 1.0},), ({"a": 1.0, "b": 2.0},), ({"a": 1.0, "b": 0.5},)],
    ),
    "x % 0.3": Case(lambda o: lambda x: o.w * (x % 0.3), [(1.0,), (0.9,), (1.0,)]),
    "np.float64 is a float": Case(lambda o: lambda x: [isinstance(x, float), o.w * x], [(np.float64(1.0),), (1.0,)]),
    "divmod": Case(lambda o: lambda x: [divmod(x, 1.0)[0], o.w], FLOATS),
}


@pytest.mark.parametrize("name", CASES)
def test_decisions_through_the_library(name: str) -> None:
    run(CASES[name])
