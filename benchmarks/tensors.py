"""Tensors, eagerly beside PyTorch, MyGrad and HIPS autograd, compiled beside scalar code, PyTorch and JAX: one thread.

    python benchmarks/tensors.py
    python benchmarks/tensors.py --peers /folder/with/mygrad/and/autograd

Peers take turns, pinned to one core, and each figure is the best of the repeats. A step clears the gradients, computes
the loss, walks back, and steps with Adam where the row says so. W1 is 2-16-16-1 on 100 points; 784-128-10 sees 64
images. What is not installed is left out; `pip install --target FOLDER mygrad autograd` puts two where `--peers` finds
them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))  # the GPT of the examples

import numpy as np
from contest import Figure, against, rows_of, shown, table_of
from measure import machine
from peers import Peer, Step
from rich.console import Console
from rich.table import Table

import gradwalk
from gradwalk import Tensor, Value, optim

# --- W1: 2-16-16-1 on 100 points, hinge loss -------------------------------------------------------------------------


def w1_numbers() -> tuple[Any, Any, list[Any], list[Any]]:
    """Points, sides, weights and biases."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=shape) for shape in ((2, 16), (16, 16), (16, 1))]
    return rng.normal(size=(100, 2)), np.sign(rng.normal(size=(100, 1))), weights, [np.zeros(n) for n in (16, 16, 1)]


def w1_step(X: Any, Y: Any, W: list[Any], B: list[Any]) -> Step:
    """W1 for whoever writes it as PyTorch does."""

    def step() -> float:
        for p in (*W, *B):
            p.grad = None
        h = ((X @ W[0] + B[0]).relu() @ W[1] + B[1]).relu() @ W[2] + B[2]
        loss = (1 - Y * h).relu().mean()
        loss.backward()
        return float(loss.item())

    return step


def w1_gradwalk() -> Step:
    """W1 in tensors."""
    x, y, weights, biases = w1_numbers()
    X, Y = Tensor(x, requires_grad=False), Tensor(y, requires_grad=False)
    W, B = [Tensor(w) for w in weights], [Tensor(b) for b in biases]
    return w1_step(X, Y, W, B)


def w1_torch() -> Step:
    """W1 in PyTorch."""
    import torch

    torch.set_num_threads(1)
    x, y, weights, biases = w1_numbers()
    X, Y = torch.tensor(x), torch.tensor(y)
    W = [torch.tensor(w, requires_grad=True) for w in weights]
    B = [torch.tensor(b, requires_grad=True) for b in biases]
    return w1_step(X, Y, W, B)


def w1_mygrad() -> Step:
    """W1 in MyGrad."""
    import mygrad as mg

    x, y, weights, biases = w1_numbers()
    W, B = [mg.tensor(w) for w in weights], [mg.tensor(b) for b in biases]

    def step() -> float:
        for p in (*W, *B):
            p.null_grad()
        h = mg.maximum(mg.matmul(mg.maximum(mg.matmul(x, W[0]) + B[0], 0), W[1]) + B[1], 0)
        loss = mg.maximum(1 - y * (mg.matmul(h, W[2]) + B[2]), 0).mean()
        loss.backward()
        return float(loss.item())

    return step


def w1_autograd() -> Step:
    """W1 in HIPS autograd."""
    import autograd.numpy as anp
    from autograd import value_and_grad

    x, y, weights, biases = w1_numbers()

    def loss(parameters: Any) -> Any:
        W, B = parameters
        h = anp.maximum(anp.dot(anp.maximum(anp.dot(x, W[0]) + B[0], 0), W[1]) + B[1], 0)
        return anp.mean(anp.maximum(1 - y * (anp.dot(h, W[2]) + B[2]), 0))

    both = value_and_grad(loss)
    return lambda: float(both((weights, biases))[0])


def w1_compiled() -> Step:
    """W1 in tensors, compiled."""
    x, y, weights, biases = w1_numbers()
    W, B = [Tensor(w) for w in weights], [Tensor(b) for b in biases]
    parameters: list[Any] = [*W, *B]
    descent = optim.SGD(parameters, lr=0.0)

    @gradwalk.compile
    def loss_of(X: Any, Y: Any) -> Any:
        h = ((X @ W[0] + B[0]).relu() @ W[1] + B[1]).relu() @ W[2] + B[2]
        return (1 - Y * h).relu().mean()

    def step() -> float:
        loss = loss_of(x, y)
        descent.zero_grad()
        loss.backward()
        return float(loss.item())

    return step


def w1_scalars() -> Step:
    """W1 in Values, compiled."""
    x, y, weights, biases = w1_numbers()
    W = [[[Value(p) for p in row] for row in w.T.tolist()] for w in weights]
    B = [[Value(p) for p in b.tolist()] for b in biases]
    descent = optim.SGD([p for w in W for row in w for p in row] + [p for b in B for p in b], lr=0.0)
    labels = y.ravel()

    @gradwalk.compile
    def loss_of(X: Any, Y: Any) -> Any:
        margins = []
        for point, label in zip(X, Y, strict=True):
            h = list(point)
            for i, (w, b) in enumerate(zip(W, B, strict=True)):
                h = [gradwalk.dot(h, row) + c for row, c in zip(w, b, strict=True)]
                h = [v.relu() for v in h] if i < 2 else h
            margins.append((1 - label * h[0]).relu())
        return sum(margins[1:], start=margins[0]) / len(margins)

    def step() -> float:
        loss = loss_of(x, labels)
        descent.zero_grad()
        loss.backward()
        return float(loss.data)

    return step


# --- the GPT of the examples, one step of training a name ------------------------------------------------------------


def gpt_steps(loss_of: Callable[[Any], Any], parameters: list[Any], documents: list[Any]) -> Step:
    """One step of training after another, the loss of each name given."""
    adam = optim.Adam(parameters, 0.01, betas=(0.9, 0.95))
    turn = itertools.cycle(documents)

    def step() -> float:
        loss = loss_of(next(turn))
        adam.zero_grad()
        loss.backward()
        adam.step()
        return float(loss.item() if isinstance(loss, Tensor) else loss.data)

    return step


def gpt_numbers() -> tuple[Any, Any, list[Any]]:
    """The example, its parameters, and names as tokens."""
    import gpt

    names = gpt.read_names(gpt.NAMES)
    vocabulary = gpt.Vocabulary.of(names)
    parameters = gpt.make_parameters(gpt.Config(len(vocabulary)))
    return gpt, parameters, [vocabulary.encode(name) for name in names if len(name) == 6][:50]


def gpt_compiled() -> Step:
    """The GPT in tensors, compiled."""
    _, parameters, documents = gpt_numbers()
    gpt_tensor = import_module("gpt_tensor")  # beside the other
    weights = gpt_tensor.in_tensors(parameters)
    loss_of = gradwalk.compile(lambda tokens: gpt_tensor.loss(weights, tokens, parameters.config.heads))
    return gpt_steps(loss_of, list(weights.values()), documents)


def gpt_scalars() -> Step:
    """The GPT in Values, compiled."""
    gpt, parameters, documents = gpt_numbers()
    loss_of = gradwalk.compile(gpt.loss)
    return gpt_steps(lambda tokens: loss_of(parameters, tokens), parameters.flat(), documents)


# --- 784-128-10, batch 64, float32, cross-entropy --------------------------------------------------------------------


def mlp_numbers() -> tuple[Any, Any, list[Any]]:
    """Images, classes, parameters."""
    rng = np.random.default_rng(0)
    shapes = ((784, 128), (128,), (128, 10), (10,))
    return (
        rng.normal(size=(64, 784)).astype("float32"),
        rng.integers(0, 10, 64),
        [(rng.normal(size=shape) * 0.05).astype("float32") for shape in shapes],
    )


def mlp_gradwalk() -> Step:
    """The network in tensors."""
    x, y, parameters = mlp_numbers()
    X, Y = Tensor(x, requires_grad=False), Tensor(y)
    P = [Tensor(p) for p in parameters]

    def step() -> float:
        for p in P:
            p.grad = None
        loss = gradwalk.cross_entropy((X @ P[0] + P[1]).relu() @ P[2] + P[3], Y)
        loss.backward()
        return float(loss.item())

    return step


def mlp_torch() -> Step:
    """The network in PyTorch."""
    import torch

    torch.set_num_threads(1)
    x, y, parameters = mlp_numbers()
    X, Y = torch.tensor(x), torch.tensor(y)
    P = [torch.tensor(p, requires_grad=True) for p in parameters]

    def step() -> float:
        for p in P:
            p.grad = None
        loss = torch.nn.functional.cross_entropy((X @ P[0] + P[1]).relu() @ P[2] + P[3], Y)
        loss.backward()
        return float(loss.item())

    return step


# --- the same with a step of Adam ------------------------------------------------------------------------------------


def mlp_adam(*, compiled: bool) -> Step:
    """The network in tensors, trained."""
    x, y, parameters = mlp_numbers()
    P: list[Any] = [Tensor(p) for p in parameters]
    adam = optim.Adam(P, 1e-3)

    def loss_of(X: Any, Y: Any) -> Any:
        return gradwalk.cross_entropy((X @ P[0] + P[1]).relu() @ P[2] + P[3], Y)

    chosen = gradwalk.compile(loss_of) if compiled else loss_of
    X, Y = (x, y) if compiled else (Tensor(x, requires_grad=False), Tensor(y))

    def step() -> float:
        loss = chosen(X, Y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        return float(loss.item())

    return step


def mlp_adam_compiled() -> Step:
    """The network in tensors, compiled and trained."""
    return mlp_adam(compiled=True)


def mlp_adam_eager() -> Step:
    """The network in tensors, trained eagerly."""
    return mlp_adam(compiled=False)


def mlp_adam_torch() -> Step:
    """The network in PyTorch, trained eagerly."""
    import torch

    torch.set_num_threads(1)
    x, y, parameters = mlp_numbers()
    X, Y = torch.tensor(x), torch.tensor(y)
    P = [torch.tensor(p, requires_grad=True) for p in parameters]
    adam = torch.optim.Adam(P, 1e-3)

    def step() -> float:
        loss = torch.nn.functional.cross_entropy((X @ P[0] + P[1]).relu() @ P[2] + P[3], Y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        return float(loss.item())

    return step


def mlp_adam_jax() -> Step:
    """The network in JAX, loss and step of Adam in one jitted function that may write over what it is given."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax
    import jax.numpy as jnp

    x, y, parameters = mlp_numbers()
    X, Y = jnp.asarray(x), jnp.asarray(y)
    state: list[Any] = [[jnp.asarray(p) for p in parameters]]
    state += [[jnp.zeros_like(p) for p in state[0]] for _ in range(2)]

    def loss_of(P: Any, X: Any, Y: Any) -> Any:
        scores = jax.nn.relu(X @ P[0] + P[1]) @ P[2] + P[3]
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), Y[:, None], 1).mean()

    def trained(P: Any, M: Any, V: Any, t: Any, X: Any, Y: Any) -> Any:
        loss, G = jax.value_and_grad(loss_of)(P, X, Y)
        M = [0.9 * m + 0.1 * g for m, g in zip(M, G, strict=True)]
        V = [0.999 * v + 0.001 * g * g for v, g in zip(V, G, strict=True)]
        rate, square = 1e-3 / (1 - 0.9**t), 1 - 0.999**t
        new = [p - rate * m / (jnp.sqrt(v / square) + 1e-8) for p, m, v in zip(P, M, V, strict=True)]
        return loss, new, M, V

    run = jax.jit(trained, donate_argnums=(0, 1, 2))
    count = itertools.count(1)

    def step() -> float:
        loss, *state[:] = run(*state, float(next(count)), X, Y)
        return float(loss)

    return step


@dataclass(frozen=True)
class Workload:
    """What is timed, who does it for us and who does it beside us, each with how many times faster is asked for."""

    what: str
    ours: Callable[[], Step]
    others: dict[str, tuple[Callable[[], Step], float]]


WORKLOADS = (
    Workload(
        "W1",
        w1_gradwalk,
        {"torch": (w1_torch, 2.0), "MyGrad": (w1_mygrad, 2.5), "HIPS autograd": (w1_autograd, 4.0)},
    ),
    Workload("784-128-10, float32", mlp_gradwalk, {"torch 32": (mlp_torch, 0.8)}),
    Workload(
        "784-128-10, float32, Adam, compiled",
        mlp_adam_compiled,
        {"torch 32": (mlp_adam_torch, 1.0), "JAX jit 32": (mlp_adam_jax, 1.0), "ours, eager 32": (mlp_adam_eager, 0.0)},
    ),
    Workload(
        "W1, compiled", w1_compiled, {"ours, in scalars": (w1_scalars, 1 / 1.2), "ours, eager": (w1_gradwalk, 0.0)}
    ),
    Workload("GPT, a step with Adam, compiled", gpt_compiled, {"ours, in scalars": (gpt_scalars, 1 / 1.3)}),
)


def timed(step: Callable[[], Any], calls: int) -> float:
    """Seconds for one call."""
    start = time.perf_counter()
    for _ in range(calls):
        step()
    return (time.perf_counter() - start) / calls


#: Ops that take more than one number to one.
WITH_OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda v, y: v + y, "mul": lambda v, y: v * y, "div": lambda v, y: v / y, "pow": lambda v, y: v**y,
    "maximum": lambda v, y: v.maximum(y), "where": lambda v, y: gradwalk.where(YES, v, y),
    "clamp": lambda v, y: v.clamp(-1.0, 0.8),
}  # fmt: skip
YES: Any = Tensor([True])


def one_op(name: str, *, both: bool = False) -> tuple[float, float]:
    """Seconds forward and backward of one op on a tensor of one number, in a chain of fifty; to `both` operands."""
    x, y = Tensor([0.5]), Tensor([0.9], requires_grad=both)
    op = WITH_OTHERS.get(name) or (lambda v, y: getattr(v, name)())

    def chain() -> Any:
        v = x
        for _ in range(50):
            v = op(v, y)
        return v

    root = chain()
    forward = min(timed(chain, 20) for _ in range(20)) / 50
    return forward, min(timed(root.backward, 20) for _ in range(20)) / 50


def figures_of(workload: Workload, repeats: int, console: Console) -> list[Figure]:
    """A row for each peer that is installed."""
    others = []
    for name, (make, asked) in workload.others.items():
        try:
            others.append((Peer(name, make()), asked))
        except ImportError:
            console.print(f"{name} is not installed, and left out")
    small = " 32" if "32" in workload.what else ""
    return against(workload.what, Peer(f"gradwalk{small}", workload.ours()), others, repeats)


def ops() -> list[dict[str, Any]]:
    """What one op on a tensor of one number takes."""
    rows = []
    for name in (*WITH_OTHERS, "tanh", "relu", "exp", "abs", "leaky_relu", "sigmoid", "softplus", "erf", "asin"):
        forward, back = one_op(name)
        both = one_op(name, both=True)[1] if name in WITH_OTHERS else None
        rows.append({"op": name, "forward": forward, "back": back, "back_to_both": both})
    return rows


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write the figures to a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where the JSON goes (default out/bench)")
    parser.add_argument("--repeats", type=int, default=40, help="turns for each peer (default 40)")
    parser.add_argument("--only", default="", help="measure the workloads with this in their titles alone")
    parser.add_argument("--peers", default="", help="a folder to look for other libraries in")
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {options.repeats}")
    if options.peers:
        sys.path.append(options.peers)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    console = Console()
    figures: list[Figure] = []
    for workload in WORKLOADS:
        if options.only in workload.what:
            with console.status(f"measuring: {workload.what}"):
                figures += figures_of(workload, options.repeats, console)
    console.print(table_of(figures, "Tensors, forward and backward: one core, one thread, warm, best of the repeats"))
    rows = [] if options.only else ops()
    table = Table(title="One op on a tensor of one number", title_justify="left")
    for column in ("op", "forward", "back", "back to both"):
        table.add_column(column, justify="left" if column == "op" else "right")
    for row in rows:
        times = [row["forward"], row["back"], row["back_to_both"]]
        table.add_row(row["op"], *("" if seconds is None else shown(seconds) for seconds in times))
    if rows:
        console.print(table)
    options.out.mkdir(parents=True, exist_ok=True)
    facts = {"machine": machine(), "repeats": options.repeats, "figures": rows_of(figures), "ops": rows}
    path = options.out / "tensors.json"
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    console.print(f"Figures: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
