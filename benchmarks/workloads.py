"""The programs that are timed: plain scalar code, the same for every engine.

W1 is one step of the moons demo (2-16-16-1 network, 100 samples, max-margin loss and L2), W2 one step of the scalar
GPT (1 layer, 16 wide, 4 heads, a name of seven letters), the chain a product of n factors. A step builds the graph,
clears the parameters' gradients, walks back, and lets the graph go; all of that is timed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import gpt


@dataclass(frozen=True)
class Engine:
    """What a workload needs to know of an engine: how to make a leaf, and two functions that not all have."""

    name: str
    leaf: Callable[[float], Any]
    exp: Callable[[Any], Any]
    log: Callable[[Any], Any]
    zero: Any = 0.0  # what a cleared gradient is


@dataclass(frozen=True)
class Job:
    """A loss that can be built again and again, and what it depends on."""

    engine: Engine
    loss: Callable[[], Any]
    parameters: list[Any]

    def step(self) -> tuple[float, list[float]]:
        """Forward, clear, backward; gives loss and gradients, by which engines are checked against each other."""
        total = self.loss()
        for p in self.parameters:
            p.grad = self.engine.zero
        total.backward()
        return float(total.data), [0.0 if p.grad is None else float(p.grad) for p in self.parameters]


def moons(engine: Engine, samples: int = 100) -> Job:
    """W1."""
    draw = random.Random(1)
    points = [(draw.uniform(-1, 1), draw.uniform(-1, 1)) for _ in range(samples)]
    labels = [draw.choice((-1, 1)) for _ in points]
    sizes = (2, 16, 16, 1)
    layers = [
        [([engine.leaf(draw.uniform(-1, 1)) for _ in range(nin)], engine.leaf(0.0)) for _ in range(nout)]
        for nin, nout in pairwise(sizes)
    ]
    parameters = [p for layer in layers for weights, bias in layer for p in (*weights, bias)]

    def score(point: tuple[float, float]) -> Any:
        x = [engine.leaf(coordinate) for coordinate in point]
        for layer in layers:
            x = [sum((w * xi for w, xi in zip(weights, x, strict=True)), bias) for weights, bias in layer]
            if layer is not layers[-1]:
                x = [a.relu() for a in x]
        return x[0]

    def loss() -> Any:
        margins = [(1 + -label * score(point)).relu() for point, label in zip(points, labels, strict=True)]
        return sum(margins) * (1.0 / samples) + 1e-4 * sum(p * p for p in parameters)

    return Job(engine, loss, parameters)


def gpt_name(engine: Engine, letters: int = 7) -> Job:
    """W2: the GPT of the examples with the softmax spelt out, so that it runs on any scalar engine."""
    width, heads, vocabulary, draw = 16, 4, 27, random.Random(1)
    size = width // heads

    def matrix(rows: int, columns: int) -> list[list[Any]]:
        return [[engine.leaf(draw.gauss(0.0, 0.08)) for _ in range(columns)] for _ in range(rows)]

    token, position, head = matrix(vocabulary, width), matrix(16, width), matrix(vocabulary, width)
    query, key, value, mix = (matrix(width, width) for _ in range(4))
    widen, narrow = matrix(4 * width, width), matrix(width, 4 * width)
    matrices = (token, position, head, query, key, value, mix, widen, narrow)
    parameters = [p for weights in matrices for row in weights for p in row]
    tokens = [26, *(draw.randrange(26) for _ in range(letters)), 26]

    def softmax(scores: list[Any]) -> list[Any]:
        powers = [engine.exp(score) for score in scores]
        total = sum(powers[1:], powers[0])
        return [power / total for power in powers]

    def scores_after(spelt: Sequence[int], keys: list[Any], values: list[Any]) -> list[Any]:
        x = gpt.normalised(gpt.plus(token[spelt[-1]], position[len(keys)]))
        looking = gpt.normalised(x)
        asked = gpt.times(query, looking)
        keys.append(gpt.times(key, looking))
        values.append(gpt.times(value, looking))
        heard: list[Any] = []
        for start in range(0, width, size):
            part = slice(start, start + size)
            shares = softmax([gpt.dot(asked[part], k[part]) * size**-0.5 for k in keys])
            heard += [gpt.dot(shares, column) for column in zip(*(v[part] for v in values), strict=True)]
        x = gpt.plus(x, gpt.times(mix, heard))
        x = gpt.plus(x, gpt.times(narrow, [a.relu() for a in gpt.times(widen, gpt.normalised(x))]))
        return gpt.times(head, gpt.normalised(x))

    def loss() -> Any:
        keys: list[Any] = []
        values: list[Any] = []
        surprises = [
            -engine.log(softmax(scores_after(tokens[: i + 1], keys, values))[tokens[i + 1]])
            for i in range(len(tokens) - 1)
        ]
        return sum(surprises[1:], surprises[0]) * (1.0 / len(surprises))

    return Job(engine, loss, parameters)


def chain(engine: Engine, length: int) -> Job:
    """A product of `length` factors, as deep as it is long."""
    x, factor = engine.leaf(1.0), engine.leaf(1.0)

    def loss() -> Any:
        y = x
        for _ in range(length):
            y = y * factor
        return y

    return Job(engine, loss, [x, factor])


# --- the engines -----------------------------------------------------------------------------------------------------


def gradwalk_engine() -> Engine:
    """Ours."""
    from gradwalk import Value

    return Engine("gradwalk", Value, lambda v: v.exp(), lambda v: v.log())


def micrograd_engine() -> Engine:
    """micrograd from PyPI; it has no exp and log, so they are made as its own functions are: with a closure."""
    from micrograd.engine import Value

    def function(f: Callable[[float], float], slope: Callable[[float, float], float]) -> Callable[[Any], Any]:
        def apply(v: Any) -> Any:
            out = Value(f(v.data), (v,), f.__name__)

            def _backward() -> None:
                v.grad += slope(v.data, out.data) * out.grad

            out._backward = _backward
            return out

        return apply

    return Engine("micrograd", Value, function(math.exp, lambda x, y: y), function(math.log, lambda x, y: 1 / x), 0)


def torch_engine() -> Engine:
    """PyTorch with one float64 tensor for each number: what scalar code costs there."""
    import torch

    def leaf(x: float) -> Any:
        return torch.tensor(x, dtype=torch.float64, requires_grad=True)

    return Engine("torch scalars", leaf, lambda t: t.exp(), lambda t: t.log(), None)
