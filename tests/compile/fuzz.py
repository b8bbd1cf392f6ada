"""The fuzzer: random graphs, native against eager. `python tests/compile/fuzz.py --seconds 60` runs until then.

A graph is drawn from a seed alone, so a failure is repeated by naming its kind and seed:
`python tests/compile/fuzz.py --kind tangle --seed 17`.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt
from eagerly import run_eagerly
from writing import Node, Writer

import gradwalk
from gradwalk import ops
from gradwalk.compile.prepared import Runner, prepare
from gradwalk.compile.trace.tape import Tape

#: How far native and eager may be apart, relative to the largest number there is.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Case:
    """A tape, and numbers to run it on."""

    tape: Tape
    parameters: list[float]
    inputs: list[float]
    indices: list[int]


# --- ops of a user's own, to be drawn beside those of the table ------------------------------------------------------


@gradwalk.op(lambda x, out: 3.0 * x * x)
def cube(x: float) -> float:
    return x * x * x


@gradwalk.op(
    lambda x, y, z, out: ops.choose(x > y, z, 0.5 * z),
    lambda x, y, z, out: ops.tanh(z),
    lambda x, y, z, out: ops.choose(x > y, x, 0.5 * x) + y * (1.0 - ops.tanh(z) * ops.tanh(z)),
)
def blend(x: float, y: float, z: float) -> float:
    if x > y:
        return x * z + y * math.tanh(z)
    return 0.5 * x * z + y * math.tanh(z)


# --- kinds of graphs -------------------------------------------------------------------------------------------------
# Each takes a writer and a source of chance, and gives the outputs. Numbers are kept near 1 so that errors can be seen.


def squashed(x: Node) -> Node:
    made: Node = ops.tanh(x * 0.5)
    return made


def positive(x: Node) -> Node:
    made: Node = ops.softplus(x) + 0.2
    return made


UNARY = (ops.exp, ops.expm1, ops.sin, ops.cos, ops.atan, ops.sinh, ops.cosh, ops.tanh, ops.erf, ops.sigmoid,
         ops.softplus, ops.relu, ops.abs, ops.neg, cube)  # fmt: skip
OF_POSITIVE = (ops.log, ops.log1p, ops.sqrt)
BINARY = (ops.maximum, ops.minimum, ops.leaky_relu, ops.sub, ops.add, ops.mul)


def any_node(w: Writer, r: random.Random, pool: list[Node]) -> Node:
    """One more node, made of nodes in the pool and constants."""

    def pick() -> Any:
        return r.choice(pool) if r.random() < 0.9 else r.choice([0.0, 1.0, -1.5, 0.25])

    x, y = r.choice(pool), pick()
    made: Node
    kind = r.randrange(14)
    if kind < 4:
        made = x * y if kind < 2 else (x + y if r.random() < 0.7 else y + x)
        return made
    if kind == 4:
        return sum((r.choice(pool) * pick() for _ in range(r.randrange(1, 9))), start=x) * 0.2
    if kind == 5:
        return w.op(r.choice(UNARY), (squashed(x),))
    if kind == 6:
        return w.op(r.choice(OF_POSITIVE), (positive(x),))
    if kind == 7:
        return w.op(r.choice(BINARY), r.choice([(x, y), (y, x)]))
    if kind == 8:
        return y / positive(x) if r.random() < 0.7 else 1.0 / positive(x)
    if kind == 9:
        base = positive(x)
        exponent = r.choice([2, 3, -1, 0.5, -0.5, 1.7, 0, 1, squashed(r.choice(pool))])
        return base**exponent if r.random() < 0.8 else w.op(ops.pow, (1.5, squashed(x)))
    if kind == 10:
        return w.op(r.choice([ops.clamp, blend]), (squashed(x), y, pick()))
    if kind == 11:
        return w.op(ops.where, (w.op(ops.relu, (x,)), y, pick()))
    if kind == 12:
        some = [r.choice(pool) for _ in range(r.randrange(1, 7))]
        return r.choice([w.max, w.min, w.shift])(some)
    if w.sizes[2]:
        return w.take([pick() for _ in range(4)], r.randrange(w.sizes[2]))
    return -x


def tangle(w: Writer, r: random.Random) -> list[Node]:
    """No structure at all: shared nodes, every op, operands on either side."""
    pool = [*w.parameters, *w.inputs]
    for _ in range(r.randrange(1, 120)):
        made = any_node(w, r, pool)
        pool.append(squashed(made) if r.random() < 0.5 else made)
        pool[-1] = pool[-1] if r.random() < 0.9 else pool[-1] * pool[-1] * 0.1
        if len(pool) > 40:
            pool.pop(r.randrange(len(pool)))
    ends = [squashed(x) for x in pool[-12:]]
    return [sum(ends[1:], start=ends[0])] + [r.choice(pool) for _ in range(r.choice([0, 0, 1, 3]))]


def repeated(w: Writer, r: random.Random) -> list[Node]:
    """One random small function, applied to many different operands: what rolling up is for, in any shape."""
    width = r.randrange(1, 4)
    copies = r.choice([1, 2, 3, 7, 8, 9, 16, 33])
    state = r.getstate()
    ends = []
    for i in range(copies):
        r.setstate(state)
        rest = [*w.parameters, *w.inputs]
        pool = [rest[(i * width + j) % len(rest)] for j in range(width)] + w.parameters[:2]
        for _ in range(r.randrange(2, 12)):
            pool.append(squashed(any_node(w, r, pool)))
        ends.append(pool[-1])
    return [sum(ends[1:], start=ends[0]) * (1.0 / copies)]


def network(w: Writer, r: random.Random) -> list[Node]:
    """A multilayer perceptron on several samples, weights by rows with or without a bias beside them, and L2."""
    sizes = [r.choice([1, 2, 3, 5, 8, 9]) for _ in range(r.randrange(2, 4))]
    samples = r.choice([1, 2, 3, 5, 8, 13, 40])
    activation = r.choice([ops.relu, ops.tanh, ops.sigmoid])
    left, bias_first = r.random() < 0.5, r.random() < 0.5
    supply = iter(w.parameters)
    layers = []
    try:
        for nin, nout in zip(sizes, [*sizes[1:], 1], strict=True):
            layers.append([([next(supply) for _ in range(nin)], next(supply)) for _ in range(nout)])
    except StopIteration:
        return tangle(w, r)
    losses = []
    for s in range(samples):
        x: list[Any] = [
            w.inputs[(s * sizes[0] + i) % len(w.inputs)] if r.random() < 0.95 else 0.3 for i in range(sizes[0])
        ]
        for layer in layers:
            products = [[a * b if left else b * a for a, b in zip(x, weights, strict=True)] for weights, _ in layer]
            sums = [
                sum(terms, start=bias) if bias_first else sum(terms[1:], start=terms[0]) + bias
                for terms, (_, bias) in zip(products, layer, strict=True)
            ]
            x = [w.op(activation, (a,)) for a in sums] if layer is not layers[-1] else sums
        losses.append(w.op(ops.relu, (1.0 - w.inputs[s % len(w.inputs)] * x[0],)))
    penalty = sum((p * p for p in w.parameters[1:]), start=w.parameters[0] * w.parameters[0])
    return [sum(losses, start=penalty * 1e-3) * (1.0 / samples)]


def recurrent(w: Writer, r: random.Random) -> list[Node]:
    """The same weights at every depth."""
    size = r.choice([1, 2, 4, 5])
    supply = cycle(w.parameters)
    weights = [[next(supply) for _ in range(size)] for _ in range(size)]
    bias = [next(supply) for _ in range(size)]
    h: list[Any] = [x * 0.1 for x in (w.inputs * 5)[:size]]
    for step in range(r.randrange(1, 7)):
        x = w.inputs[step % len(w.inputs)]
        h = [
            w.op(ops.tanh, (sum((a * b for a, b in zip(row, h, strict=True)), start=b0) + x * 0.1,))
            for row, b0 in zip(weights, bias, strict=True)
        ]
    return [sum((a * a for a in h[1:]), start=h[0] * h[0]), *h[:1]]


def attention(w: Writer, r: random.Random) -> list[Node]:
    """Tables, products of what is computed, softmax with a running maximum, a target that is taken."""
    width, places = r.choice([1, 2, 4, 8]), r.choice([1, 2, 3, 5, 8])
    supply = cycle(w.parameters)
    table = [[next(supply) for _ in range(width)] for _ in range(5)]
    mix = [[next(supply) for _ in range(width)] for _ in range(width)]
    tokens = r.choices(range(w.sizes[2]), k=places)
    keys: list[list[Node]] = []
    losses = []

    def dot(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
        return sum((a * b for a, b in zip(xs[1:], ys[1:], strict=True)), start=xs[0] * ys[0])

    def softmax(row: list[Any]) -> list[Node]:
        top = w.shift(row) if r.random() < 0.8 else w.max(row)
        powers = [w.op(ops.exp, (x - top,)) for x in row]
        scale = 1.0 / sum(powers[1:], start=powers[0])
        return [x * scale for x in powers]

    for token in tokens:
        x = [w.take([row[j] for row in table], token) for j in range(width)]
        scale = (dot(x, x) * (1.0 / width) + 1e-5) ** -0.5
        x = [a * scale for a in x]
        keys.append([dot(row, x) for row in mix])
        shares = softmax([dot(x, k) * 0.5 for k in keys])
        heard = [dot(shares, column) for column in zip(*keys, strict=True)]
        x = [a + b for a, b in zip(x, heard, strict=True)]
        scores = softmax([dot(row, x) for row in table])
        losses.append(-w.op(ops.log, (w.take(scores, r.choice(tokens)),)))
    return [sum(losses[1:], start=losses[0]) * (1.0 / places)]


def gram(w: Writer, r: random.Random) -> list[Node]:
    """All products of all pairs of rows: both sides of the matrix product are computed, and are the same."""
    width = r.choice([1, 2, 4, 7])
    rows = r.choice([1, 2, 5, 9])
    supply = cycle(w.parameters + w.inputs)
    X = [[squashed(next(supply)) for _ in range(width)] for _ in range(rows)]
    ends = [squashed(sum((a * b for a, b in zip(x, y, strict=True)), start=0.5 * x[0])) for x in X for y in X]
    return [sum(ends[1:], start=ends[0])]


def tiny(w: Writer, r: random.Random) -> list[Node]:
    """The smallest graphs there are: an output that is a parameter, an input, one op; the same output twice."""
    x = r.choice([*w.parameters, *w.inputs])
    return r.choice([[x], [x, x], [x * x], [x + 0.0, x], [w.parameters[0] * 2.0, w.parameters[0]]])


KINDS: dict[str, Callable[[Writer, random.Random], list[Node]]] = {
    kind.__name__: kind for kind in (tangle, repeated, network, recurrent, attention, gram, tiny)
}


def draw(kind: str, seed: int) -> Case:
    """The case that a kind and a seed stand for."""
    r = random.Random(f"{kind} {seed}")
    w = Writer(r.choice([1, 3, 12, 60, 150]), r.choice([1, 2, 7, 30]), 4)
    tape = w.tape(*KINDS[kind](w, r))
    parameters = [r.uniform(-1, 1) for _ in range(tape.parameters)]
    return Case(tape, parameters, [r.uniform(-1, 1) for _ in range(tape.inputs)], [r.randrange(4) for _ in range(4)])


# --- checking --------------------------------------------------------------------------------------------------------


def distance(got: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    """The largest difference, relative to the largest number; infinite where one is nan or inf and the other is not."""
    a, b = np.asarray(got, float), np.asarray(expected, float)
    fine = np.isfinite(b)
    if not np.array_equal(a[~fine], b[~fine], equal_nan=True) or not np.isfinite(a[fine]).all():
        return math.inf
    if not fine.any():
        return 0.0
    return float(np.abs(a[fine] - b[fine]).max() / (1.0 + np.abs(b[fine]).max()))


def check_native(case: Case, rolled: bool) -> float:
    """How far values and gradients of the native program are from the eager ones, gradients of inputs included."""
    tape = case.tape
    r = random.Random(len(tape.code))
    seeds = [r.uniform(0.5, 1.5) for _ in tape.outputs]
    values, grads = np.array(case.parameters), np.full(tape.parameters, 0.25)
    runner = Runner(prepare(tape, input_grads=True, rolled=rolled), values, grads)
    runner.inputs[:] = case.inputs
    runner.indices[: tape.indices] = case.indices
    for _ in range(2):  # the second time finds memory as the first left it
        runner.forward()
        grads[:] = 0.25
        runner.backward(seeds)
    leaves, inputs, outputs = run_eagerly(tape, case.parameters, case.inputs, case.indices)
    for leaf in leaves:
        leaf.grad = 0.25
    for out, seed in zip(outputs, seeds, strict=True):
        out.backward(seed)
    return max(
        distance(runner.outputs, [v.data for v in outputs]),
        distance(grads, [v.grad for v in leaves]),
        distance(runner.input_grads, [v.grad for v in inputs]),
    )


def check_lanes(case: Case, dtype: str = "float64", threads: int = 1) -> float:
    """The same for a batch: the case's own sample and some others, each with a seed of its own."""
    tape = case.tape
    r = random.Random(len(tape.code))
    samples = r.choice([1, 3, 8, 19])
    values, grads = np.array(case.parameters), np.full(tape.parameters, 0.25)
    runner = Runner(prepare(tape, batch=dtype, input_grads=True), values, grads, threads)
    runner.resize(samples)
    inputs = np.array([[x * r.uniform(0.5, 1.0) for _ in range(samples)] for x in case.inputs]).astype(dtype)
    indices = np.array([[r.randrange(4) for _ in range(samples)] for _ in case.indices])
    seeds = np.array([[r.uniform(0.5, 1.5) for _ in range(samples)] for _ in tape.outputs])
    runner.inputs[:], runner.indices[:] = inputs, indices
    runner.forward()
    first = runner.outputs.copy()
    runner.backward(seeds)
    expected = np.full(tape.parameters, 0.25)
    worst = distance(first.ravel(), runner.outputs.ravel())
    total = np.zeros(len(tape.outputs))
    for s in range(samples):
        leaves, given, outputs = run_eagerly(tape, case.parameters, inputs[:, s].tolist(), indices[:, s].tolist())
        for out, seed in zip(outputs, seeds[:, s], strict=True):
            out.backward(float(seed))
        expected += [leaf.grad for leaf in leaves]
        total += [out.data for out in outputs]
        worst = max(worst, distance(runner.outputs[:, s], [out.data for out in outputs]))
        worst = max(worst, distance(runner.input_grads[:, s], [v.grad for v in given]))
    return max(worst, distance(grads, expected), distance(runner.totals, total))


CHECKS: dict[str, Callable[[Case], float]] = {
    "rolled up": partial(check_native, rolled=True),
    "flat": partial(check_native, rolled=False),
    "batch": check_lanes,
}


def main(argv: list[str] | None = None) -> int:
    """Draw and check graphs; 1 if one of them differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (default 60)")
    parser.add_argument("--kind", choices=sorted(KINDS), help="only this kind")
    parser.add_argument("--seed", type=int, help="only this seed; otherwise 0, 1, 2, …")
    parser.add_argument("--check", choices=sorted(CHECKS), help="only this runner")
    options = parser.parse_args(argv)
    checks = {options.check: CHECKS[options.check]} if options.check else CHECKS
    kinds = [options.kind] if options.kind else list(KINDS)
    ends = time.monotonic() + options.seconds
    seed, graphs, worst, failures = options.seed or 0, 0, 0.0, 0
    while time.monotonic() < ends:
        for kind in kinds:
            case = draw(kind, seed)
            for name, check in checks.items():
                error = check(case)
                worst = max(worst, error)
                if not error <= TOLERANCE:
                    failures += 1
                    print(f"{name} differs by {error:.1e}: --kind {kind} --seed {seed}")
            graphs += 1
        if options.seed is not None:
            break
        seed += 1
        if sys.stdout.isatty():
            print(f"\r{graphs} graphs, {failures} failures, largest difference {worst:.1e}", end="", flush=True)
    print(f"\r{graphs} graphs, {failures} failures, largest difference {worst:.1e}")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
