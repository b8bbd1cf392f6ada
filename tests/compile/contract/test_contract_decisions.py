"""Decisions: whatever a function asks of its numbers, compiled code answers as the plain function does."""

# mypy: allow-untyped-calls
from __future__ import annotations

import math
import operator
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import pytest
from harness import Case, run

import gradwalk
from gradwalk import Value
from gradwalk.compile.trace.limits import FrozenWarning, ManyPathsWarning
from gradwalk.errors import TraceError

nan, inf = math.nan, math.inf
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


# --- comparisons: every operator, both outcomes, ties and nan ---------------------------------------------------------

POINTS = [(1.0,), (2.0,), (3.0,), (nan,), (inf,), (-inf,), (2,), (0.0,), (-0.0,)]


def compared(name: str, compare: Callable[[Any, Any], Any]) -> dict[str, Case]:
    """One comparison in every role that it can have."""
    twice = [(x[0], y) for x in POINTS[:5] for y in (2.0, nan)]
    return {
        f"{name}: number and constant": Case(lambda o: lambda x: o.w * x if compare(x, 2.0) else o.v - x, POINTS),
        f"{name}: constant and number": Case(lambda o: lambda x: o.w * x if compare(2, x) else o.v - x, POINTS),
        f"{name}: two numbers": Case(lambda o: lambda x, y: o.w * x if compare(x, y) else o.v * y, twice),
        f"{name}: computed number": Case(lambda o: lambda x: o.w if compare(x * 2 - 1, 3.0) else o.v * x, POINTS),
        f"{name}: Value among the arguments": Case(
            lambda o: lambda x: o.w * x if compare(x, 2.0) else o.v - x, [(Value(x[0]),) for x in POINTS]
        ),
        f"{name}: computed Value": Case(lambda o: lambda x: o.w * x if compare(o.w * x, 3.0) else o.v - x, POINTS),
        f"{name}: two Values": Case(lambda o: lambda x: o.w * x if compare(o.w * x, o.v + x) else o.v - x, POINTS),
        f"{name}: parameter": Case(lambda o: lambda x: o.w * x if compare(o.w, x) else o.v - x, POINTS),
        f"{name}: .data": Case(lambda o: lambda x: o.w * x if compare((o.w * x).data, 3.0) else o.v - x, POINTS),
        f"{name}: returned": Case(lambda o: lambda x: [compare(x, 2.0), o.w * x], POINTS),
        f"{name}: not, and, or": Case(
            lambda o: lambda x: o.w if not compare(x, 2.0) and (x > 0 or compare(x, -1.0)) else o.v * x, POINTS
        ),
        f"{name}: where": Case(lambda o: lambda x: gradwalk.where(compare(x, 2.0), o.w * x, o.v), POINTS),
        f"{name}: as a number": Case(lambda o: lambda x: compare(x, 2.0) * o.w + (compare(x, 1.0) + 1), POINTS),
        f"{name}: np.float64": Case(
            lambda o: lambda x: o.w * x if compare(x, 2.0) else o.v - x, [(np.float64(x[0]),) for x in POINTS]
        ),
        f"{name}: an array's elements": Case(
            lambda o: lambda X: sum(o.w * x if compare(x, 2.0) else o.v - x for x in X),
            [(np.array(x),) for x in ([1.0, 2.0, 3.0], [3.0, 2.0, nan], [2.0, 2.0, 2.0])],
        ),
        f"{name}: a whole array": Case(
            lambda o: lambda X: np.where(compare(X, 2.0), X * 2.0, X + 1.0).sum() * o.w,
            [(np.array(x),) for x in ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [2.0, 2.0, 2.0])],
        ),
    }


BY_OPERATOR = {k: case for compare in COMPARISONS for k, case in compared(compare.__name__, compare).items()}


class Whole(int):
    """An int of one's own."""


# --- branches and loops ----------------------------------------------------------------------------------------------


def caught(o: Any, risky: Callable[[Any], Any]) -> Any:
    """A function that catches what `risky` raises, and goes on."""

    def f(x: Any) -> Any:
        try:
            return o.w * risky(x)
        except (ArithmeticError, TypeError, AttributeError, ValueError, LookupError):
            return o.v * x

    return f


def newton(o: Any) -> Any:
    def root(a: float) -> Any:
        x = o.w * o.w + a
        while abs(x * x - a) > 1e-9:
            x = x - (x * x - a) / (2 * x)
        return x

    return root


def early_break(o: Any) -> Any:
    def f(xs: list[float]) -> Any:
        total = Value(0.0)
        for x in xs:
            total = total + o.w * x
            if total > 3.0:
                break
        return total

    return f


def first_positive(o: Any) -> Any:
    def f(xs: list[float]) -> Any:
        for i, x in enumerate(xs):
            if x <= 0:
                continue
            return o.w * x, i
        return None

    return f


def collatz(o: Any) -> Any:
    def f(n: int) -> Any:
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return o.w * steps

    return f


def empty_batch(o: Any) -> Any:
    def f(xs: list[float], mask: list[int]) -> Any:
        n = sum(mask)
        if n == 0:
            return 0.0
        return sum((o.w * x * m for x, m in zip(xs, mask, strict=True)), Value(0.0)) / n

    return f


def accuracy(o: Any) -> Any:
    def f(xs: list[float], ys: list[float]) -> Any:
        scores = [o.w * x + o.v for x in xs]
        right = [(y > 0) == (s > 0) for y, s in zip(ys, scores, strict=True)]
        loss = sum((1 - y * s).relu() for y, s in zip(ys, scores, strict=True))
        return loss, sum(right) / len(right)

    return f


def accuracy_of_data(o: Any) -> Any:
    def f(xs: list[float], ys: list[float]) -> Any:
        scores = [o.w * x + o.v for x in xs]
        return sum(scores), sum((s.data > 0) == (y > 0) for y, s in zip(ys, scores, strict=True))

    return f


def swallowed(o: Any) -> Any:
    def f(x: float) -> Any:
        try:
            return o.w * math.log(x)
        except ValueError:
            return o.v

    return f


def swallowed_of_value(o: Any) -> Any:
    def f(x: float) -> Any:
        y = o.w * x
        try:
            return math.log(y)
        except TypeError:
            return y * 2.0

    return f


def swallowed_gradient(o: Any) -> Any:
    def f(x: float) -> Any:
        y = o.w * x
        try:
            y.backward()
        except RuntimeError:
            return y * 3.0
        return y

    return f


def matched(o: Any) -> Any:
    def f(n: Any) -> Any:
        match n:
            case 0:
                return o.w * 1.0
            case 1 | 2:
                return o.w * n
            case int():
                return o.v * n
            case float(x) if x > 5:
                return o.v - x
            case _:
                return o.w + o.v

    return f


def clipped_gradient(o: Any) -> Any:
    def f(x: float) -> Any:
        y = o.w * x
        norm = math.sqrt(y.data**2)
        return y / norm if norm > 1.0 else y

    return f


def line_search(o: Any) -> Any:
    def f(x: float) -> Any:
        step = 1.0
        while (o.w - step * x) ** 2 > (o.w**2) + 1e-3 and step > 1e-3:
            step /= 2
        return (o.w - step * x) ** 2

    return f


def bisection(o: Any) -> Any:
    def f(target: float) -> Any:
        low, high = 0.0, 4.0
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if middle * middle < target else (low, middle)
        return o.w * low

    return f


def dijkstra(o: Any) -> Any:
    def f(edges: list[float]) -> Any:
        a, b, c = (o.w * e for e in edges)
        return min(a, b + c)

    return f


def running_best(o: Any) -> Any:
    def f(xs: list[float]) -> Any:
        best, at = -inf, -1
        for i, x in enumerate(xs):
            score = (o.w * x).data
            if score > best:
                best, at = score, i
        return o.w * xs[at], best, at

    return f


def cached(o: Any) -> Any:
    @lru_cache
    def square(x: float) -> float:
        return x * x

    return lambda x: o.w * square(x) + square(2.0)


def recursive(o: Any) -> Any:
    def power(x: Any, n: int) -> Any:
        if n == 0:
            return 1.0
        half = power(x, n // 2)
        return half * half * x if n % 2 else half * half

    return lambda n: power(o.w, n) + o.v


XS = [([1.0, 2.0, 3.0],), ([3.0, 0.5, -1.0],), ([-1.0, -2.0, -3.0],), ([0.0, 0.0, 0.0],), ([1.0, 2.0, 3.0],)]
ONES = [(x,) for x in (1.0, -1.0, 0.0, 2.5, 1.0, -3.0)]
INTS = [(n,) for n in (0, 1, 2, 3, 5, 2)]
BOTH = [(1,), (1.0,), (2,), (2.0,), (0,), (0.0,)]

CAUGHT: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "1 / x": (lambda x: 1 / x, ONES),
    "5 % n": (lambda n: 5 % n, INTS),
    "5 // n": (lambda n: 5 // n, INTS),
    "0 ** x": (lambda x: 0**x, ONES),
    "math.log": (lambda x: math.log(x), ONES),
    "math.factorial": (lambda n: math.factorial(n), BOTH),
    "n & 1": (lambda n: n & 1, BOTH),
    "~n": (lambda n: ~n, BOTH),
    "range": (lambda n: len(range(n)), BOTH),
    "list index": (lambda n: [1.0, 2.0][n], [*INTS, (1.0,)]),
    "bit_length": (lambda n: n.bit_length(), BOTH),
    "is_integer": (lambda x: 1.0 + x.is_integer(), [(1.0,), (1,), (2.5,)]),
    "len": (lambda n: len(n), BOTH),
    "int of nan": (lambda x: int(x), [(1.5,), (nan,), (2.5,), (inf,)]),
    "round of inf": (lambda x: round(x), [(1.5,), (inf,), (2.5,)]),
    "dict": (lambda n: {1: 1.0, 2: 2.0}[n], INTS),
    "raise": (lambda x: raised(x), ONES),
    "a number to a text": (lambda x: x + "a", ONES),
    "a number to None": (lambda x: x < None, ONES),
    "np.bool_ less np.bool_": (lambda x: x - x, [(np.True_,), (np.float64(1.0),)]),
    "take": (lambda n: gradwalk.take([1.0, 2.0, 3.0], n), [(5,), (4,)]),
    "to_bytes": (lambda n: n.to_bytes(1, "big")[0], [(1,), (300,), (2,)]),
}

BRANCHES = {
    **{f"try: {name}": Case(partial(caught, risky=risky), calls) for name, (risky, calls) in CAUGHT.items()},
    "hasattr": Case(lambda o: lambda n: o.w * n if hasattr(n, "bit_length") else o.v, BOTH),
    "hasattr of a node's": Case(lambda o: lambda n: [hasattr(n, a) for a in ("data", "grad", "backward")], BOTH),
    "masks are counted": Case(
        lambda o: lambda m: [o.w * m.sum(), m.mean(), np.sum(m), sum(m), m[0] + m[1]],
        [(np.array([True, True, False]),), (np.array([False, True, False]),)],
    ),
    "a subclass of int": Case(lambda o: lambda n: o.w if isinstance(n, Whole) else o.v * n, [(Whole(1),), (1,)]),
    "a fraction": Case(
        lambda o: lambda q: o.w if isinstance(q, Fraction) and 3 * q == Fraction(3, 10) else o.v * q,
        [(0.1,), (Fraction(1, 10),)],
        said=FrozenWarning,
    ),
    "1/x if x != 0 else 0": Case(lambda o: lambda x: o.w * (1 / x if x != 0 else 0), ONES),
    "1/x raises at 0": Case(lambda o: lambda x: o.w * (1 / x), ONES),
    "// of NumPy's by 0": Case(lambda o: lambda x, y: x // y, [(np.int32(7), y) for y in (0, -0.0, 0.0, 0, 2)]),
    "% of NumPy's by 0": Case(lambda o: lambda x, y: x % y, [(np.int64(7), y) for y in (0, 0.0, 0, 2.0)]),
    "// has the sign of 0": Case(
        lambda o: lambda x: math.copysign(1.0, x // 2), [(0,), (-0.0,), (1,), (-0.0,), (0.0,)]
    ),
    "a text has the sign of 0": Case(lambda o: lambda x: len("%g" % x), [(0,), (-0.0,), (0.0,), (0,)]),  # noqa: UP031
    "huge ints and small ones": Case(
        lambda o: lambda n, k: [n % k, n // k, k % n, divmod(n, k)[1], n & k, n | k, n - k, pow(k, 3, n)],
        [(2**53 + 1, 2), (2**53 + 1, 3), (10**18 + 1, 7)],
    ),
    "1/(x - 1) raises at 1": Case(lambda o: lambda x: o.w / 2 + 1 / (x - 1), ONES),
    "x ** -1 raises at 0": Case(lambda o: lambda x: o.w * x**-1, ONES),
    "2.0 / np.float64(0) does not": Case(
        lambda o: lambda x: o.w * (2.0 / x), [(np.float64(1.0),), (np.float64(0.0),)], replays=False
    ),
    "if t - 1 == 0": Case(lambda o: lambda t: o.w if t - 1 == 0 else o.v * t, [(0,), (1,), (2,), (1,), (1.0,)]),
    "if t - 1 == 0 of floats": Case(lambda o: lambda t: o.w if t - 0.1 == 0.2 else o.v * t, [(0.3,), (0.1 + 0.2,)]),
    "if 0.1 + t == 0.3": Case(
        lambda o: lambda s, t: o.w if s + t + 0.1 == 0.3 else o.v, [(0.1, 0.1), (0.05, 0.15), (0.0, 0.2), (0.2, 0.0)]
    ),
    "n = sum(mask); if n == 0: return": Case(
        empty_batch, [([1.0, 2.0], [1, 0]), ([1.0, 2.0], [0, 0]), ([1.0, 2.0], [1, 1]), ([3.0, 2.0], [0, 1])]
    ),
    "accuracy by (y > 0) == (s > 0)": Case(
        accuracy, [([1.0, 2.0, -1.0], [1, -1, 1]), ([-1.0, 2.0, 1.0], [1, 1, 1]), ([0.5, 0.1, 3.0], [-1, -1, 1])]
    ),
    "accuracy of .data": Case(
        accuracy_of_data,
        [([1.0, 2.0, -1.0], [1, -1, 1]), ([-1.0, 2.0, 1.0], [1, 1, 1]), ([0.5, 0.1, 3.0], [-1, -1, 1])],
    ),
    "training is True": Case(
        lambda o: lambda x, training: o.w * x if training is True else o.v, [(1.0, True), (1.0, False), (2.0, True)]
    ),
    "if training": Case(
        lambda o: lambda x, training=False: o.w * x if training else o.v, [(1.0, True), (1.0,), (2.0, False)]
    ),
    "flags in a list": Case(
        lambda o: lambda x, flags: [o.w * x if flag is True else o.v for flag in flags],
        [(1.0, [True, False]), (1.0, [False, False]), (2.0, [True, False])],
    ),
    "np.bool_ as an argument": Case(
        lambda o: lambda x, flag: o.w * x if flag else o.v, [(1.0, np.True_), (1.0, np.False_), (1.0, True)]
    ),
    "None or a number": Case(
        lambda o: lambda x, y=None: o.w * x if y is None else o.v * y, [(1.0,), (1.0, 2.0), (2.0, None), (2.0, 3.0)]
    ),
    "a text": Case(
        lambda o: lambda x, how: o.w * x if how == "sum" else o.v, [(1.0, "sum"), (1.0, "mean"), (2.0, "sum")]
    ),
    "a number compared with a text or None": Case(
        lambda o: lambda x: [x == "sum", x is None, x == None, x != "a", o.w * x], ONES  # noqa: E711
    ),
    "a number compared with a Value": Case(lambda o: lambda x: [x == o.w, o.w != x, o.w == o.w, o.w * x], ONES),
    "Newton": Case(newton, [(2.0,), (3.0,), (100.0,), (0.5,), (2.0,)]),
    "early break": Case(early_break, XS),
    "continue and return": Case(first_positive, XS),
    "bisection": Case(bisection, [(2.0,), (3.0,), (9.0,), (2.1,)]),
    "line search": Case(line_search, ONES),
    "running best": Case(running_best, XS),
    "Collatz": Case(collatz, [(1,), (2,), (3,), (6,), (7,), (3,)]),
    "recursion": Case(recursive, [(0,), (1,), (5,), (6,), (5,)]),
    "abs by hand": Case(lambda o: lambda x: o.w * (x if x >= 0 else -x), ONES),
    "leaky by hand": Case(lambda o: lambda x: o.w * x if o.w * x > 0 else 0.01 * o.w * x, ONES),
    "huber": Case(
        lambda o: lambda x: 0.5 * (o.w - x) ** 2 if abs(o.w - x) <= 1.0 else abs(o.w - x) - 0.5, ONES
    ),
    "if x": Case(lambda o: lambda x: o.w * x if x else o.v, [*ONES, (nan,)]),
    "if not x": Case(lambda o: lambda n: o.w * n if not n else o.v, INTS),
    "x or 1.0": Case(lambda o: lambda x: o.w * (x or 1.0), ONES),
    "x and 1.0": Case(lambda o: lambda x: o.w * (x and 2.0), ONES),
    "if a Value": Case(lambda o: lambda x: o.w * x if o.w * x else o.v, ONES),
    "chained comparison": Case(lambda o: lambda x: o.w * x if -1 <= x < 2 else o.v, ONES),
    "assert": Case(lambda o: lambda x: o.w * checked(x), ONES),
    "raise": Case(lambda o: lambda x: o.w * raised(x), ONES),
    "all": Case(lambda o: lambda xs: o.w * xs[0] if all(x > 0 for x in xs) else o.v, XS),
    "any": Case(lambda o: lambda xs: o.w * xs[0] if any(x > 2 for x in xs) else o.v, XS),
    "filter": Case(lambda o: lambda xs: sum((o.w * x for x in xs if x > 0), Value(0.0)), XS),
    "count": Case(lambda o: lambda xs: o.w * [x > 0 for x in xs].count(True), XS),
    "parameter decides": Case(lambda o: lambda x: o.w * x if o.w > 1.0 else o.v * x, ONES),
    "parameter's .data decides": Case(lambda o: lambda x: o.w * x if o.w.data > 1.0 else o.v * x, ONES),
    "parameter is nan": Case(lambda o: lambda x: o.w * x if o.w.data == o.w.data else o.v * x, ONES),
    "comparisons of comparisons": Case(lambda o: lambda x: o.w if (x > 0) == (x < 2) else o.v * x, ONES),
    "xor": Case(lambda o: lambda x: o.w if (x > 0) ^ (x < 2) else o.v * x, ONES),
    "& and |": Case(lambda o: lambda x: o.w if (x > 0) & (x < 2) | (x == -3.0) else o.v * x, ONES),
    "a truth as an index": Case(lambda o: lambda x: [o.w, o.v][x > 0] * x, ONES),
    "a truth as a key": Case(lambda o: lambda x: {True: o.w, False: o.v}[x > 0] * x, ONES),
    "(x > 0) is True": Case(lambda o: lambda x: o.w if (x > 0) is True else o.v * x, ONES),
    "(x > 0) is not False": Case(lambda o: lambda x: o.w if (x > 0) is not False else o.v * x, ONES),
    "bool(x > 0) is True": Case(lambda o: lambda x: o.w if bool(x > 0) is True else o.v * x, ONES),
    "isinstance(x > 0, bool)": Case(lambda o: lambda x: [isinstance(x > 0, bool), o.w * x], ONES),
    "match": Case(matched, [*BOTH, (3,), (3.0,), (7.0,), (7,)]),
}  # fmt: skip


def checked(x: Any) -> Any:
    assert x > -2
    return x


def raised(x: Any) -> Any:
    if x < 0:
        raise LookupError("negative")
    return x


# --- asked for the number --------------------------------------------------------------------------------------------

FEW = [(x,) for x in (1.5, -1.5, 0.5, 2.5, 1.5)]
NUMBERS = {
    "int": Case(lambda o: lambda x: o.w * int(x), [*FEW, (1.7,), (-0.3,)]),
    "int of a Value": Case(lambda o: lambda x: int(o.w * x), FEW),
    "float": Case(lambda o: lambda x: o.w * float(x), FEW),
    "float of a Value": Case(lambda o: lambda x: float(o.w * x), FEW),
    "complex": Case(lambda o: lambda x: [abs(complex(x)), o.w * x], FEW),
    "round": Case(lambda o: lambda x: o.w * round(x), [*FEW, (1.6,), (2.4,), (3.5,)]),
    "round to digits": Case(lambda o: lambda x: o.w * round(x, 1), [(1.51,), (1.52,), (1.58,)]),
    "round of an int": Case(lambda o: lambda n: o.w * round(n), INTS),
    "floor": Case(lambda o: lambda x: o.w * math.floor(x), FEW),
    "ceil": Case(lambda o: lambda x: o.w * math.ceil(x), FEW),
    "trunc": Case(lambda o: lambda x: o.w * math.trunc(x), FEW),
    "floor of an int": Case(lambda o: lambda n: o.w * math.floor(n), INTS),
    "floor of computed": Case(lambda o: lambda x: o.w * math.floor(x * 3.0 + 0.1), FEW),
    "floor of .data": Case(lambda o: lambda x: o.w * math.floor((o.w * x).data), FEW),
    "range": Case(lambda o: lambda n: sum((o.w * i for i in range(n)), Value(0.0)), INTS),
    "range of a float": Case(lambda o: lambda n: [o.w for _ in range(n)], BOTH),
    "index of a list": Case(lambda o: lambda n: [o.w, o.v, o.w * 2, o.v * 2][n], INTS),
    "negative index": Case(lambda o: lambda n: [o.w, o.v, o.w * 2][n] * 2.0, [(-1,), (0,), (-3,), (2,)]),
    "slice": Case(lambda o: lambda n: sum([o.w, o.v, o.w * 2][:n], Value(0.0)), INTS),
    "list times n": Case(lambda o: lambda n: sum([o.w] * n, Value(0.0)), INTS),
    "n times list": Case(lambda o: lambda n: sum(n * [o.w], Value(0.0)), INTS),
    "n % 2": Case(lambda o: lambda n: o.w * n if n % 2 == 0 else o.v * n, INTS),
    "n // 2": Case(lambda o: lambda n: o.w * (n // 2), INTS),
    "x // 1 and x % 1": Case(lambda o: lambda x: o.w * (x // 1) + x % 1, FEW),
    "divmod": Case(lambda o: lambda n: o.w * divmod(n, 2)[0] + divmod(7, n + 1)[1], INTS),
    "5 % n raises at 0": Case(lambda o: lambda n: o.w * (5 % n), INTS),
    "bits": Case(lambda o: lambda n: o.w * ((n & 1) | (n << 1) ^ (n >> 1)), INTS),
    "~n": Case(lambda o: lambda n: o.w * ~n, INTS),
    "bits of floats": Case(lambda o: lambda n: o.w * (n & 1), BOTH),
    "key of a dict": Case(lambda o: lambda n: {0: o.w, 1: o.v, 2: o.w * 2}.get(n, o.v * 3) * 1.0, INTS),
    "in a set": Case(lambda o: lambda n: o.w if n in {1, 2} else o.v * n, INTS),
    "in a tuple": Case(lambda o: lambda n: o.w if n in (1, 2) else o.v * n, INTS),
    "in a list of numbers": Case(
        lambda o: lambda x, xs: o.w if x in xs else o.v * x,
        [(1.0, [1.0, 2.0]), (3.0, [1.0, 2.0])],
    ),
    "index() of a list": Case(lambda o: lambda xs: o.w * xs.index(2.0), [([1.0, 2.0],), ([2.0, 2.0],), ([3.0, 1.0],)]),
    "Counter": Case(lambda o: lambda ns: o.w * Counter[int](ns)[1], [([1, 1, 2],), ([1, 2, 2],), ([2, 2, 2],)]),
    "set of numbers": Case(lambda o: lambda ns: o.w * len(set(ns)), [([1, 1, 2],), ([1, 2, 3],), ([2, 2, 2],)]),
    "f-string": Case(lambda o: lambda x: [f"{x} {x:.2f} {x!r}", o.w * x], FEW),
    "f-string of ints and floats": Case(lambda o: lambda x: [f"{x}", o.w * x], BOTH),
    "str of computed": Case(lambda o: lambda x: [str(x * 2), o.w * x], BOTH),
    "% formatting": Case(lambda o: lambda x: ["%d %s" % (x, x), o.w * x], FEW),  # noqa: UP031
    "f-string of a Value": Case(lambda o: lambda x: [f"{o.w * x:.3f}", o.w * x], FEW),
    "f-string of .data": Case(lambda o: lambda x: [f"{(o.w * x).data:.3f}", o.w * x], FEW),
    "repr of a Value": Case(lambda o: lambda x: [repr(o.w * x), o.w * x], FEW),
    "math.log": Case(lambda o: lambda x: o.w * math.log(x), [(1.5,), (2.0,), (0.0,), (-1.0,), (1.5,)]),
    "math.sqrt of computed": Case(lambda o: lambda x: o.w * math.sqrt(x * x + 1), FEW),
    "math.exp of .data": Case(lambda o: lambda x: o.w * math.exp((o.w * x).data), FEW),
    "math.log of a Value": Case(lambda o: lambda x: math.log(o.w * x), FEW),
    "math.isnan": Case(lambda o: lambda x: o.v if math.isnan(x) else o.w * x, [(1.0,), (nan,), (2.0,), (nan,)]),
    "math.isclose": Case(lambda o: lambda x: o.v if math.isclose(x, 1.0) else o.w * x, [(1.0,), (2.0,)]),
    "try: math.log": Case(swallowed, [(1.5,), (-1.0,), (2.0,), (0.0,)]),
    "try: math.log of a Value": Case(swallowed_of_value, FEW),
    "is_integer": Case(lambda o: lambda x: o.w * x if x.is_integer() else o.v, [(1.0,), (1.5,), (2.0,)]),
    "bit_length": Case(lambda o: lambda n: o.w * n.bit_length(), INTS),
    "x.real": Case(lambda o: lambda x: o.w * x.real + x.imag, FEW),
    "no such attribute": Case(lambda o: lambda x: o.w * x.shape, FEW),
    "sorted": Case(lambda o: lambda xs: [o.w * x for x in sorted(xs)], XS),
    "sorted Values": Case(lambda o: lambda xs: sorted([o.w * x for x in xs])[0] * 2.0, XS),
    "sort by key": Case(lambda o: lambda xs: [o.w * x for x in sorted(xs, key=lambda x: -x)], XS),
    "max": Case(lambda o: lambda xs: o.w * max(xs), XS),
    "min of Values": Case(lambda o: lambda xs: min([o.w * x for x in xs], key=lambda v: v.data), XS),
    "max of Values": Case(lambda o: lambda xs: max(o.w * x for x in xs), XS),
    "min of paths": Case(dijkstra, XS),
    "argmax": Case(lambda o: lambda xs: [max(range(3), key=lambda i: (o.w * xs[i]).data), o.w * xs[0]], XS),
    "median": Case(lambda o: lambda xs: o.w * sorted(xs)[len(xs) // 2], XS),
    "softmax by hand": Case(lambda o: lambda xs: gradwalk.exp(o.w * xs[0] - max((o.w * x).data for x in xs)), XS),
    "norm by math.sqrt": Case(clipped_gradient, FEW),
    "n ** 2": Case(lambda o: lambda n: [f"{n**2}", o.w * n**2], BOTH),
    "2 ** n": Case(lambda o: lambda n: [f"{2**n}", o.w * 2**n], [(2,), (-1,), (3,), (2.0,)]),
    "x ** 0.5": Case(lambda o: lambda x: o.w * x**0.5, [(4.0,), (0.0,), (9.0,)]),
    ".data without gradient": Case(lambda o: lambda x: (o.w * x).data * o.v + o.w, FEW),
    ".data of a parameter": Case(lambda o: lambda x: o.w.data * o.v * x, FEW),
    ".data given back": Case(lambda o: lambda x: [o.w * x, (o.w * x).data], FEW),
    "mean of .data": Case(lambda o: lambda xs: sum(o.w * x - sum((o.w * y).data for y in xs) / 3 for x in xs), XS),
    "detach and branch": Case(lambda o: lambda x: o.w * x if (o.w * x).detach() > 0 else o.v * x, FEW),
    "under no_grad": Case(lambda o: lambda x: o.w * x if without_graph(o, x) > 1 else o.v * x, FEW),
    "take by an argument": Case(
        lambda o: lambda n: gradwalk.take([o.w, o.v, o.w * 2], n),
        [(0,), (1,), (2,), (3,), (0,)],
    ),
    "take by a computed index": Case(lambda o: lambda n: gradwalk.take([o.w, o.v, o.w * 2], n + 1), [(0,), (1,), (2,)]),
    "take where it is inside": Case(
        lambda o: lambda n: gradwalk.take([o.w, o.v], n) if n < 2 else o.w * n, [(0,), (1,), (2,), (3,), (0,)]
    ),
    "Value of an argument": Case(lambda o: lambda x: Value(x) * o.w if Value(x) > 1 else o.v * x, FEW),
    "Value of a computed number": Case(lambda o: lambda x: Value(2 * x + 1) * o.w, FEW),
    "a Value of a number, given back": Case(lambda o: lambda x: [o.w * x, Value(x), Value(2 * x), Value(3.0)], FEW),
    "a Value's number set inside": Case(lambda o: lambda xs: running_total(o, xs), XS),
    "a Value's number set after use": Case(lambda o: lambda x: set_after_use(o, x), FEW),
    "the last result is a plain number": Case(lambda o: lambda x: o.w * x if x > 1 else 0.0, FEW),
    "the last result is None": Case(lambda o: lambda x: o.w * x if x > 1 else None, FEW),
    "structures by path": Case(lambda o: lambda x: [o.w * x] if x > 1 else {"a": o.v, "b": (1, "text")}, FEW),
}  # fmt: skip


def running_total(o: Any, xs: Any) -> Any:
    total = Value(0.0)
    for x in xs:
        total.data += x
        if total.data > 2.0:
            break
    return total * o.w


def set_after_use(o: Any, x: Any) -> Any:
    scale = Value(2.0)
    first = scale * o.w
    scale.data = 5.0
    second = scale * o.w
    scale.data = x
    return first + second * 10.0 + scale * o.v


def without_graph(o: Any, x: Any) -> Any:
    with gradwalk.no_grad():
        return o.w * x + 1


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass
class Point:
    x: float
    inside: bool


def arithmetic_of_types(o: Any) -> Any:
    def f(n: Any) -> Any:
        found = [n, n + 1, n * 2, -n, n / 2, n + 0.5, n - n, abs(n), n * True]
        return ["".join("i" if isinstance(x, int) else "f" for x in found), o.w * n]

    return f


def typed(x: Any) -> float:
    return 2.0 if type(x) == int else 3.0  # noqa: E721


TYPES = {
    "type(x) is float": Case(lambda o: lambda x: o.w if type(x) is float else o.v, BOTH),
    "type(x) == int": Case(lambda o: lambda x: typed(x) * o.w, BOTH),
    "type(x) in (int, bool)": Case(lambda o: lambda x: o.w * (type(x) in (int, bool)), BOTH),
    "isinstance(n, int)": Case(lambda o: lambda n: o.w * n if isinstance(n, int) else o.v * n, BOTH),
    "isinstance(n, float)": Case(lambda o: lambda n: o.w * n if isinstance(n, float) else o.v * n, BOTH),
    "isinstance(n, bool)": Case(lambda o: lambda n: o.w * n if isinstance(n, bool) else o.v * n, [*BOTH, (True,)]),
    "isinstance(n, (int, float))": Case(lambda o: lambda n: o.w * n if isinstance(n, (int, float)) else o.v, BOTH),
    "isinstance(n, Value)": Case(
        lambda o: lambda n: o.w * n if isinstance(n, Value) else o.v * n, [*BOTH, (Value(1.0),)]
    ),
    "isinstance(n, Integral)": Case(lambda o: lambda n: o.w * n if isinstance(n, Integral) else o.v * n, BOTH),
    "isinstance(n, Real)": Case(lambda o: lambda n: o.w * n if isinstance(n, Real) else o.v * n, BOTH),
    "isinstance of np.float64": Case(
        lambda o: lambda n: o.w * n if isinstance(n, np.floating) else o.v * n, [*BOTH, (np.float64(1.0),)]
    ),
    "isinstance of computed": Case(lambda o: lambda n: o.w * n if isinstance(n * 2 + 1, int) else o.v * n, BOTH),
    "isinstance of a sum": Case(
        lambda o: lambda ns: o.w if isinstance(sum(ns), int) else o.v,
        [([1, 2],), ([1, 2.0],), ([1, 2],)],
    ),
    "isinstance in a list": Case(
        lambda o: lambda ns: [o.w * n if isinstance(n, int) else o.v * n for n in ns],
        [([1, 2.0, 3],), ([1, 2, 3],), ([1.0, 2, 3],)],
    ),
    "isinstance of .data": Case(lambda o: lambda n: o.w * n if isinstance((o.w * n).data, float) else o.v, BOTH),
    "__class__": Case(lambda o: lambda n: [n.__class__.__name__, o.w * n], BOTH),
    "types after arithmetic": Case(arithmetic_of_types, BOTH),
    "callable, len, iter": Case(lambda o: lambda n: [callable(n), hasattr(n, "__len__"), o.w * n], BOTH),
    "len of a number": Case(lambda o: lambda n: o.w * len(n), BOTH),
    "a dataclass with a flag": Case(
        lambda o: lambda p: o.w * p.x if p.inside is True else o.v * p.x,
        [(Point(1.0, True),), (Point(1.0, False),), (Point(2.0, True),)],
    ),
    "fractions of samples": Case(
        lambda o: lambda n, m: o.w * (n / m) if n / m > 0.5 else o.v,
        [(1, 2), (2, 3), (1, 0)],
    ),
}  # fmt: skip


# --- NumPy -----------------------------------------------------------------------------------------------------------

ARRAYS = [(np.array(x),) for x in ([1.0, 0.0, -2.0], [0.0, 0.0, 0.0], [3.0, 1.0, 2.0], [1.0, 0.0, -2.0])]


def safe_inverse(o: Any) -> Any:
    def f(X: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.where(X != 0, 1 / X, 0.0).sum() * o.w

    return f


NUMPY = {
    "np.where(X != 0, 1 / X, 0)": Case(safe_inverse, ARRAYS),
    "X[X > 0]": Case(lambda o: lambda X: sum((o.w * x for x in X[X > 0]), Value(0.0)), ARRAYS),
    "X.max()": Case(lambda o: lambda X: o.w * X.max(), ARRAYS),
    "np.argmax": Case(lambda o: lambda X: o.w * int(np.argmax(X)), ARRAYS),
    "np.sort": Case(lambda o: lambda X: o.w * np.sort(X)[0], ARRAYS),
    "np.argsort": Case(lambda o: lambda X: [o.w * X[i] for i in np.argsort(X)], ARRAYS),
    "np.maximum": Case(lambda o: lambda X: (np.maximum(X, 0.5) * o.w).sum(), ARRAYS),
    "np.any": Case(lambda o: lambda X: o.w if np.any(X > 2) else o.v, ARRAYS),
    "(X > 0).sum()": Case(lambda o: lambda X: o.w * (X > 0).sum(), ARRAYS),
    "(X > 0).mean()": Case(lambda o: lambda X: o.w * (X > 0).mean(), ARRAYS),
    "X.sum() > 0": Case(lambda o: lambda X: o.w if X.sum() > 0 else o.v, ARRAYS),
    "X.mean()": Case(lambda o: lambda X: o.w * X.mean(), ARRAYS),
    "X.astype(int)": Case(lambda o: lambda X: o.w * X.astype(int).sum(), ARRAYS),
    "np.asarray(X, float)": Case(lambda o: lambda X: o.w * np.asarray(X, float).sum(), ARRAYS),
    "np.count_nonzero": Case(lambda o: lambda X: o.w * int(np.count_nonzero(X)), ARRAYS),
    "np.clip": Case(lambda o: lambda X: (np.clip(X, 0.0, 1.0) * o.w).sum(), ARRAYS),
    "np.abs": Case(lambda o: lambda X: o.w * np.abs(X).sum(), ARRAYS),
    "np.isnan": Case(lambda o: lambda X: o.w if np.isnan(X).any() else o.v * X[0], ARRAYS),
    "np.isfinite": Case(lambda o: lambda X: o.w * X[0] if np.isfinite(X).all() else o.v, ARRAYS),
    "np.allclose": Case(lambda o: lambda X: o.w * X[0] if np.allclose(X, [1.0, 0.0, -2.0]) else o.v, ARRAYS),
    "np.round": Case(lambda o: lambda X: o.w * np.round(X / 3.0).sum(), ARRAYS),
    "np.std": Case(lambda o: lambda X: o.w * np.std(X), ARRAYS),
    "np.linalg.norm": Case(lambda o: lambda X: o.w * X / np.linalg.norm(X) if np.linalg.norm(X) else o.v, ARRAYS),
    "np.median": Case(lambda o: lambda X: o.w * np.median(X), ARRAYS),
    "in place": Case(lambda o: lambda X: o.w * added(X).sum(), ARRAYS),
    "X[idx]": Case(
        lambda o: lambda X, idx: o.w * X[idx].sum(),
        [(np.array([1.0, 2.0, 3.0]), np.array([0, 2])), (np.array([1.0, 2.0, 3.0]), np.array([1, 1]))],
    ),
    "X[mask]": Case(
        lambda o: lambda X, mask: o.w * X[mask].sum(),
        [(np.array([1.0, 2.0]), np.array([True, False])), (np.array([1.0, 2.0]), np.array([True, True]))],
    ),
    "np.exp": Case(lambda o: lambda X: o.w * np.exp(X).sum(), ARRAYS),
    "np.exp of a number": Case(lambda o: lambda x: o.w * np.exp(x), FEW),
    "np.sqrt of a number": Case(lambda o: lambda x: o.w * np.sqrt(x * x), FEW),
    "np.isnan of a number": Case(lambda o: lambda x: o.v if np.isnan(x) else o.w * x, [(1.0,), (nan,), (1.0,)]),
    "np.sign of a number": Case(lambda o: lambda x: o.w * np.sign(x), FEW),
    "np.floor of a number": Case(lambda o: lambda x: o.w * np.floor(x), FEW),
    "a number times an array": Case(lambda o: lambda x: o.w * (x * np.array([1.0, 2.0])).sum(), FEW),
    "an array times a number": Case(lambda o: lambda x: o.w * (np.array([1.0, 2.0]) - x).sum(), FEW),
    "np.array of numbers": Case(lambda o: lambda x: o.w * np.array([x, 2 * x]).sum(), FEW),
    "np.zeros filled": Case(lambda o: lambda x: o.w * filled(x).sum(), FEW),
    "np.arange": Case(lambda o: lambda n: o.w * int(np.arange(n).sum()), INTS),
    "np.eye index": Case(lambda o: lambda n: o.w * np.eye(6)[n].sum() + o.v * np.eye(6)[0, n], INTS),
    "X.dtype": Case(
        lambda o: lambda X: o.w * X[0] if X.dtype == float else o.v * X[0],
        [(np.array([1.0, 2.0]),), (np.array([1, 2]),)],
    ),
    "X.dtype.kind": Case(
        lambda o: lambda X: o.w * X[0] if X.dtype.kind == "i" else o.v * X[0],
        [(np.array([1.0, 2.0]),), (np.array([1, 2]),)],
    ),
    "integers in an array": Case(
        lambda o: lambda X: o.w * sum(x for x in X if x % 2 == 0),
        [(np.array([1, 2, 4]),), (np.array([2, 2, 3]),)],
    ),
    "a mask of bools": Case(
        lambda o: lambda X, mask: sum((o.w * x for x, m in zip(X, mask, strict=True) if m), Value(0.0)),
        [(np.array([1.0, 2.0]), np.array([True, False])), (np.array([1.0, 2.0]), np.array([False, True]))],
    ),
}  # fmt: skip


def added(X: Any) -> Any:
    out = X.copy()
    out += 1.0
    out[0] *= 2.0
    return out


def filled(x: Any) -> Any:
    out = np.zeros(2)
    out[0] = x
    return out


ALL = {**BY_OPERATOR, **BRANCHES, **NUMBERS, **TYPES, **NUMPY}


@pytest.mark.parametrize("name", ALL)
def test_decisions_are_those_of_the_plain_function(name: str) -> None:
    run(ALL[name])


# --- what is refused, and said ---------------------------------------------------------------------------------------

REFUSED = {
    "lru_cache": Case(cached, FEW, said=FrozenWarning),
    "a refusal that is swallowed": Case(swallowed_gradient, FEW, said=TraceError),
    "a complex power": Case(lambda o: lambda x: abs(x**0.5) * o.w, [(4.0,), (-4.0,)], said=TraceError),
    "a parameter set to what is computed": Case(lambda o: lambda x: set_to(o, x), FEW, said=TraceError),
}


def set_to(o: Any, x: Any) -> Any:
    o.w.data = x * 2
    return o.w * x


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused_at_that_very_call(name: str) -> None:
    assert run(REFUSED[name])


def test_paths_that_keep_multiplying_are_said_once_with_the_line_and_run_as_they_are() -> None:
    w = Value(2.0)

    def f(x: float) -> Any:
        return w * math.log(x)

    compiled = gradwalk.compile(f)
    for i in range(1, 9):
        assert compiled(float(i)).data == f(float(i)).data
    with pytest.warns(ManyPathsWarning, match="8 paths") as caught:
        nine = compiled(9.0)
    assert f"test_contract_decisions.py, line {f.__code__.co_firstlineno + 1}" in str(caught[0].message)
    nine.backward()
    assert (nine.data, w.grad) == (f(9.0).data, math.log(9.0))
    for i in range(10, 50):  # nothing more is said
        assert compiled(float(i)).data == f(float(i)).data
    assert compiled.traced == 8
    assert compiled(3.0).data == f(3.0).data


def test_paths_that_come_back_are_traced_up_to_a_limit() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda n: w**1.0 * n if n % 64 == 0 else sum((w for _ in range(n)), Value(0.0)))
    seen = [n for i in range(1, 33) for n in (*range(1, i + 1), i)]
    for n in seen:
        assert compiled(n).data == 2.0 * n
    assert len(compiled.traces()) == 32
    with pytest.warns(ManyPathsWarning, match="32 paths"):
        assert compiled(33).data == 66.0


def test_the_latest_path_is_tried_first_and_others_are_found_by_their_answers() -> None:
    w = Value(1.0)
    compiled = gradwalk.compile(lambda n: sum((w * i for i in range(n)), Value(0.0)))
    for n in (1, 2, 3, 4, 5, 6):
        compiled(n)
    before = {trace: trace.runner.outputs.copy() for trace in compiled.traces()}
    compiled(3)
    touched = [trace for trace in compiled.traces() if (trace.runner.outputs != before[trace]).any()]
    assert len(touched) <= 2  # the latest, which says where numbers leave it, and the one that it is


def test_a_decision_that_rounding_could_turn_is_that_of_plain_arithmetic() -> None:
    chance = random.Random(5)
    weights = [[Value(chance.gauss(0, 1)) for _ in range(64)] for _ in range(16)]
    turned = 0

    def larger(xs: list[float], threshold: float) -> Any:
        total = sum(y.tanh() for y in gradwalk.linear(xs, weights))
        return total * 2.0 if total > threshold else total * 4.0

    compiled = gradwalk.compile(larger)
    for _ in range(60):
        xs = [chance.gauss(0, 0.1) for _ in range(64)]
        exact = larger(xs, inf).data / 4.0
        for threshold in (exact, math.nextafter(exact, inf), math.nextafter(exact, -inf), exact + 1.0):
            found, expected = compiled(xs, threshold), larger(xs, threshold)
            assert found.data == pytest.approx(expected.data, rel=1e-9)
        turned += compiled(xs, inf).data / 4.0 != exact
    assert turned > 10  # native code does round differently


def test_results_of_several_paths_wait_for_their_walks_back() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda X: sum(w * w * x for x in X) if X[0] > 0 else sum(w * x for x in X))
    waiting = [compiled(np.array(x)) for x in ([1.0, 2.0], [-1.0, 2.0], [3.0, 2.0], [-5.0, 0.0])]
    assert [y.data for y in waiting] == [12.0, 2.0, 20.0, -10.0]
    for y, grad in zip(reversed(waiting), [-5.0, 20.0, 1.0, 12.0], strict=True):
        w.grad = 0.0
        y.backward()
        assert w.grad == grad


def test_paths_under_no_grad_and_with_gradients_of_arguments() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x: w * x * x if x > 1.0 else w * x, wrt="x")
    with gradwalk.no_grad():
        assert [compiled(x).data for x in (1.0, 3.0, 1.0, 3.0)] == [2.0, 18.0, 2.0, 18.0]
    assert compiled.traced == 2
    for x, slope in ((3.0, 12.0), (1.0, 2.0), (2.0, 8.0)):
        out = compiled(x)
        out.backward()
        assert out.argument_grads == {"x": slope}
    for i in range(50):  # only native code can give these gradients: new paths are traced as ever
        assert gradwalk.compile(lambda n: w * sum(range(n)) * n, wrt="n")(i).data == 2.0 * sum(range(i)) * i


def test_a_function_that_no_longer_decides() -> None:
    w, modes = Value(2.0), {"careful": True}

    def f(x: float) -> Any:
        return (w * x if x > 0 else -x) if modes["careful"] else w + x

    compiled = gradwalk.compile(f)
    assert compiled(3.0).data == 6.0
    modes["careful"] = False
    assert compiled(-3.0).data == -1.0  # a path that was not seen, and that asks nothing
    assert compiled(-4.0).data == -2.0


def test_threads_take_their_own_paths() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x: w * x if x > 0 else -x)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: compiled(float(i if i % 2 else -i)).data, range(1, 400)))
    assert found == [2.0 * i if i % 2 else float(i) for i in range(1, 400)]


def test_a_path_that_only_a_guard_needs_takes_no_part_in_the_walk_back() -> None:
    w = Value(0.0)

    def f(x: float) -> Any:
        return w * x if w.sqrt() < 1.0 else w

    compiled = gradwalk.compile(f)
    for _ in range(2):
        w.grad = 0.0
        compiled(3.0).backward()
        assert w.grad == 3.0  # and not 0 times the slope of sqrt at 0, which is infinite


def test_a_report_tells_of_decisions() -> None:
    compiled = gradwalk.compile(lambda x: x * x if x > 0 and x < 9.0 else x)
    compiled(3.0)
    assert "1 input, 2 decisions" in str(compiled.report())
    assert repr(compiled) == "<compiled test_a_report_tells_of_decisions.<locals>.<lambda>, 1 trace>"


def test_functions_without_decisions_have_no_guards() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x, n: gradwalk.where(x > 0, w * x, n) + gradwalk.max([x, w]) + (x < n) * 2)
    compiled(1.0, 2)
    compiled(-1.0, 0.5)
    assert [trace.recorded.guards for trace in compiled.traces()] == [[]]


@pytest.mark.parametrize("batch", ["sum", "mean", "each"])
@pytest.mark.parametrize(
    "f",
    [
        lambda w: lambda x: w * x if x > 0 else -x,
        lambda w: lambda x: w * x if w * x > 0 else -x,
        lambda w: lambda x: w * int(x),
        lambda w: lambda x: w * math.exp(x),
        lambda w: lambda x: w * x if x == 1 else -x,
        lambda w: lambda x: w * x if w > 1 else -x,
        lambda w: lambda x: max(w * x, x),
        lambda w: lambda x: w * x if (w * x).data > 0 else -x,
        lambda w: lambda x: w * x if x else -x,
        lambda w: lambda x: w * {1.0: 2.0}.get(x, 3.0),
        lambda w: lambda x: w * x if (x > 0) is True else -x,
        lambda w: lambda x: swallowed(gradwalk_world(w))(x),
    ],
)
def test_a_decision_on_one_sample_of_a_batch_is_refused(f: Any, batch: str) -> None:
    w = Value(2.0)
    with pytest.raises(TraceError, match="all samples take the same path"):
        gradwalk.compile(f(w), batch=batch)([1.0, -2.0, 3.0])


def gradwalk_world(w: Value) -> Any:
    from types import SimpleNamespace

    return SimpleNamespace(w=w, v=w)


def test_truths_of_samples_are_not_asked_whether_they_are_true() -> None:
    w = Value(2.0)
    with pytest.raises(TraceError, match="all samples take the same path"):
        gradwalk.compile(lambda x, flag: w * x if flag is True else -x, batch="sum")([1.0, 2.0], [True, False])
    assert gradwalk.compile(lambda x, flag: w * x * flag, batch="sum")([1.0, 2.0], [False, True]).data == 4.0


def test_the_type_of_samples_may_decide() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x: w * x if isinstance(x, int) else -x, batch="sum")
    for _ in range(2):
        assert [compiled(x).data for x in ([1, 2], [1.0, 2.0])] == [6.0, -3.0]


def test_a_batch_divides_by_0_without_raising() -> None:
    w = Value(2.0)
    assert gradwalk.compile(lambda x: w * (1 / x), batch="each")([1.0, 0.0]).data.tolist() == [2.0, inf]
    assert math.isnan(gradwalk.compile(lambda x: w * x**0.5, batch="sum")([4.0, -4.0]).data)


def test_what_all_samples_of_a_batch_share_may_decide() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x, how: w * x if how is True else -x, batch="sum")
    assert compiled([1.0, 2.0], True).data == 6.0
    assert not isinstance(compiled([1.0, 2.0], False), bool)
    assert compiled([1.0, 2.0], False).data == -3.0


def test_where_chooses_for_each_sample() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x: gradwalk.where(x > 0, w * x, -x), batch="each")
    assert compiled([1.0, -2.0, 3.0]).data.tolist() == [2.0, 2.0, 6.0]
