"""Random expressions, the same ones every time: what no list of small programs thought of."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from functools import lru_cache

from gradwalk.diagnose.probes import Probe

__all__ = ["random_programs"]

#: Pieces that stay within bounds whatever they are given, with the ops that each needs.
_PIECES = (
    ("{x} + {y}", "add"),
    ("{x} - {y}", "sub"),
    ("{x} * {y}", "mul"),
    ("{x} / ({y} * {y} + 1.5)", "div mul add"),
    ("-{x}", "neg"),
    ("{x} ** 2", "pow"),
    ("{x}.tanh()", "tanh"),
    ("{x}.sigmoid()", "sigmoid"),
    ("{x}.relu()", "relu"),
    ("({x} * 0.3).exp()", "exp mul"),
    ("({x} * {x} + 0.5).log()", "log mul add"),
    ("{x} * 2 + {x}", "mul add"),
)
_LARGEST = 50.0
_LEAVES = "abc"
_KINKS = re.compile(r"(\w+)\.relu")


def random_programs(ops: Collection[str], count: int, steps: int = 7) -> tuple[Probe, ...]:
    """This many random expressions over these ops.

    >>> print(random_programs({"add", "mul", "tanh"}, 1, steps=3)[0].text)
    a = Value(-0.3)
    b = Value(-1.79)
    c = Value(-0.39)
    v0 = c * c
    v1 = c.tanh()
    v2 = c * 2 + c
    y = v1 + v2
    y.backward()
    """
    return _made(tuple(sorted(ops)), count, steps)


@lru_cache(maxsize=16)
def _made(ops: tuple[str, ...], count: int, steps: int) -> tuple[Probe, ...]:
    pieces = [piece for piece, needed in _PIECES if set(needed.split()) <= set(ops)]
    if not pieces or "add" not in ops:
        return ()
    made: list[Probe] = []
    rng = random.Random(2013)
    while len(made) < count:
        program = _one(rng, pieces, steps, len(made) + 1)
        if _is_tame(program):
            made.append(program)
    return tuple(made)


def _is_tame(program: Probe) -> bool:
    """Whether no number is large, and none is near the kink of a relu."""
    numbers = program.expected().numbers
    kinks = [numbers[f"{name}.data"] for name in _KINKS.findall(program.text)]
    return all(abs(x) < _LARGEST for x in numbers.values()) and all(abs(x) > 1e-3 for x in kinks)


def _one(rng: random.Random, pieces: list[str], steps: int, number: int) -> Probe:
    def pick(things: list[str]) -> str:
        return things[int(rng.random() * len(things))]

    names = list(_LEAVES)
    lines = [f"{name} = Value({round(rng.random() * 4.0 - 2.0, 2) or 0.5})" for name in names]
    loose: list[str] = []  # made, and not used yet: they all go into the last sum
    for step in range(steps):
        x, y = pick(names[-5:]), pick(names)
        lines.append(f"v{step} = {pick(pieces).format(x=x, y=y)}")
        names.append(f"v{step}")
        loose = [name for name in loose if name not in (x, y)] + [f"v{step}"]
    loose = list(dict.fromkeys([*loose, *names[-2:]]))
    text = "\n".join([*lines, f"y = {' + '.join(loose)}", "y.backward()"])
    kinks = [f"{name}.data" for name in dict.fromkeys(_KINKS.findall(text))]
    return Probe(f"random expression {number}", text, ("y.data", *(f"{name}.grad" for name in _LEAVES), *kinks))
