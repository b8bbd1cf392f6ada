"""Kernels for everything that models are usually made of, compiled ahead of need: what `gradwalk warmup` does.

Each piece of work is a small function that is compiled and run once; whatever native code it needs is kept on disk.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gradwalk import Value, functions, nn, optim
from gradwalk.compile import compile as compiled
from gradwalk.compile.native import objects
from gradwalk.compile.native.array_products import product_into
from gradwalk.ops import TABLE

__all__ = ["Piece", "pieces", "warm"]

Piece = tuple[str, Callable[[], None]]

SAMPLES = 24


def pieces(*, batches: bool = True) -> list[Piece]:
    """What there is to warm up: names, and what to do.

    >>> [name for name, _ in pieces()][:2]
    ['dense layers', 'softmax, tables and attention']
    """
    found: list[Piece] = [
        ("dense layers", _layers),
        ("softmax, tables and attention", _attention),
        *((f"activation {name}", partial(_activation, name)) for name in nn.ACTIVATIONS if name != "linear"),
        *((f"op {name}", partial(_op, name)) for name in TABLE),
        ("SGD", lambda: _optimiser(lambda ps: optim.SGD(ps, 0.1, momentum=0.9))),
        ("Adam", lambda: _optimiser(lambda ps: optim.Adam(ps, 0.1))),
        ("products of large tensors", _products),
    ]
    if batches:
        found += [(f"batches in {dtype}", partial(_batch, dtype)) for dtype in ("float64", "float32")]
    return found


def warm(wanted: list[Piece]) -> Iterator[tuple[str, int, int]]:
    """Do the work piece by piece; gives the name of each, and how many functions were compiled and loaded for it.

    >>> [name for name, _, _ in warm(pieces()[-5:-3])]
    ['SGD', 'Adam']
    """
    for name, work in wanted:
        before = objects.record["compiled"], objects.record["loaded"]
        work()
        yield name, int(objects.record["compiled"] - before[0]), int(objects.record["loaded"] - before[1])


def _layers() -> None:
    draw = random.Random(1)
    for widths in ([16, 16, 1], [8, 3]):
        model = _model(2, widths)
        X = [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(SAMPLES)]
        signs = [draw.choice((-1, 1)) for _ in X]
        loss = compiled(
            lambda X, y, model=model: sum(
                (_first(model(x)) * -s + 1.0).relu() for x, s in zip(X, y, strict=True)
            ) / len(y) + 1e-4 * sum(p * p for p in model.parameters())
        )  # fmt: skip
        loss(X, signs).backward()
        for one in (nn.hinge, nn.mse):
            compiled(lambda X, y, one=one, model=model: one([_first(model(x)) for x in X], y))(X, signs).backward()


def _attention() -> None:
    draw = random.Random(1)

    def matrix(rows: int, columns: int) -> list[list[Value]]:
        return [[Value(draw.gauss(0.0, 0.1)) for _ in range(columns)] for _ in range(rows)]

    width, heads = 16, 4
    table, positions, head = matrix(27, width), matrix(8, width), matrix(27, width)
    query, key, value, mix = (matrix(width, width) for _ in range(4))
    widen, narrow = matrix(4 * width, width), matrix(width, 4 * width)

    def normalised(x: list[Any]) -> list[Any]:
        scale = (functions.dot(x, x) * (1.0 / len(x)) + 1e-5) ** -0.5
        return [a * scale for a in x]

    def loss(tokens: Any) -> Any:
        keys: list[Any] = []
        values: list[Any] = []
        scores = []
        for place, token in enumerate(tokens[:-1]):
            x = normalised([a + b for a, b in zip(functions.take(table, token), positions[place], strict=True)])
            keys.append(functions.linear(x, key))
            values.append(functions.linear(x, value))
            asked, heard = functions.linear(x, query), []
            for start in range(0, width, width // heads):
                part = slice(start, start + width // heads)
                fits = [functions.dot(asked[part], k[part]) * 0.5 for k in keys]
                shares = functions.softmax(fits)
                heard += [functions.dot(shares, c) for c in zip(*(v[part] for v in values), strict=True)]
            x = [a + b for a, b in zip(x, functions.linear(heard, mix), strict=True)]
            hidden = [a.relu() for a in functions.linear(normalised(x), widen)]
            x = [a + b for a, b in zip(x, functions.linear(hidden, narrow), strict=True)]
            scores.append(functions.linear(normalised(x), head))
        return nn.cross_entropy(scores, tokens[1:])

    run = compiled(loss)
    for length in (5, 8):
        run([i % 27 for i in range(length)]).backward()


def _activation(name: str) -> None:
    model = _model(2, [8, 1], activation=name)
    loss = compiled(lambda X: nn.mse([model(x) for x in X], [0.0] * len(X)))
    loss([[0.1 * i, 0.5] for i in range(SAMPLES)]).backward()


def _op(name: str) -> None:
    op = TABLE[name]
    parameters = [[Value(0.2 + 0.1 * k + 0.01 * i) for k in range(op.arity)] for i in range(SAMPLES)]
    compiled(lambda: sum(op(*row) for row in parameters))().backward()
    if op.arity == 2:
        compiled(lambda: sum(op(row[0], 0.7) for row in parameters))().backward()


def _optimiser(make: Callable[[list[Value]], optim.Optimizer]) -> None:
    w = Value(1.0)
    compiled(lambda x: w * x)(1.0).backward()
    make([w]).step()


def _products() -> None:
    for dtype in ("float64", "float32"):
        a = np.ones((100, 100), dtype)
        product_into(a.copy(), a, a)


def _batch(dtype: str) -> None:
    model = _model(2, [16, 16, 1])
    X, y = [[0.01 * i, 0.5] for i in range(SAMPLES)], [(-1) ** i for i in range(SAMPLES)]

    def loss(x: Any, y: Any) -> Any:
        return (1 - y * model(x)).relu()

    for batch in ("mean", "each"):
        compiled(loss, batch=batch, dtype=dtype)(X, y).backward()


def _model(nin: int, widths: list[int], **options: Any) -> nn.MLP:
    """A model that leaves the shared generator of random numbers alone."""
    draw = random.Random(1)
    return nn.MLP(nin, widths, init=lambda *_: draw.uniform(-1, 1), **options)


def _first(x: Any) -> Any:
    return x[0] if isinstance(x, list) else x
