"""The peers of the compiled path: the same models as tensors in PyTorch and JAX, as a CasADi graph, and in plain C.

Each function gives a `Peer`: what to call for one step, and a number by which peers are checked against each other.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Step = Callable[[], float]
#: A whole training: gives the losses, and the seconds that its steps took, without what came before them.
Train = Callable[[], tuple[list[float], float]]

SIZES = (2, 16, 16, 1)
PENALTY = 1e-4


@dataclass(frozen=True)
class Peer:
    """One who runs a workload: `step()` does it once and gives the loss."""

    name: str
    step: Step


# --- W1: a network of 2-16-16-1 on n samples, max-margin loss and L2 -------------------------------------------------


def matrices(parameters: Floats, sizes: tuple[int, ...] = SIZES) -> list[tuple[Floats, Floats]]:
    """The flat parameters, weights of a layer row by row and its biases after them, as matrices and vectors."""
    found, at = [], 0
    for nin, nout in pairwise(sizes):
        weights = parameters[at : at + nin * nout].reshape(nout, nin)
        found.append((weights, parameters[at + nin * nout : at + nin * nout + nout]))
        at += nin * nout + nout
    return found


def torch_moons(
    parameters: Floats, X: Floats, y: Floats, dtype: str = "float64", sizes: tuple[int, ...] = SIZES
) -> Peer:
    """PyTorch with whole tensors, one thread."""
    import torch

    torch.set_num_threads(1)
    real = getattr(torch, dtype)
    layers = [
        (torch.tensor(w, dtype=real, requires_grad=True), torch.tensor(b, dtype=real, requires_grad=True))
        for w, b in matrices(parameters, sizes)
    ]
    leaves = [leaf for layer in layers for leaf in layer]
    points, labels = torch.tensor(X, dtype=real), torch.tensor(y, dtype=real)

    def step() -> float:
        for leaf in leaves:
            leaf.grad = None
        x = points
        for i, (w, b) in enumerate(layers):
            x = torch.nn.functional.linear(x, w, b)
            if i < len(layers) - 1:
                x = x.relu()
        loss = (1 - labels * x[:, 0]).relu().mean() + PENALTY * sum((leaf * leaf).sum() for leaf in leaves)
        loss.backward()
        return float(loss.detach())

    return Peer("torch", step)


def jax_ready() -> Any:
    """JAX with float64 and one thread."""
    import os

    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def jax_moons(parameters: Floats, X: Floats, y: Floats, dtype: str = "float64", sizes: tuple[int, ...] = SIZES) -> Peer:
    """JAX, compiled with jit."""
    jax = jax_ready()
    jnp = jax.numpy
    layers = [(jnp.asarray(w, dtype), jnp.asarray(b, dtype)) for w, b in matrices(parameters, sizes)]
    points, labels = jnp.asarray(X, dtype), jnp.asarray(y, dtype)

    def loss(layers: Any, points: Any, labels: Any) -> Any:
        x = points
        for i, (w, b) in enumerate(layers):
            x = x @ w.T + b
            if i < len(layers) - 1:
                x = jax.nn.relu(x)
        penalty = sum((w * w).sum() + (b * b).sum() for w, b in layers)
        return jax.nn.relu(1 - labels * x[:, 0]).mean() + PENALTY * penalty

    both = jax.jit(jax.value_and_grad(loss))

    def step() -> float:
        value, grads = both(layers, points, labels)
        jax.block_until_ready(grads)
        return float(value)

    return Peer("JAX jit", step)


#: A controller and what it controls: gains, length of a step, steps.
PID = (0.8, 0.4, 0.05, 0.05, 400)


def jax_pid() -> Peer:
    """A rollout as one `scan`: loss and gradients of the three gains."""
    jax = jax_ready()
    jnp = jax.numpy
    *gains, dt, steps = PID

    def loss(gains: Any, target: Any) -> Any:
        def one(state: Any, _: Any) -> Any:
            place, speed, total, before, cost = state
            error = target - place
            total = total + error * dt
            force = gains[0] * error + gains[1] * total + gains[2] * (error - before) / dt
            speed = speed + (force - 0.3 * speed) * dt
            place = place + speed * dt
            return (place, speed, total, error, cost + error * error), None

        start = (jnp.float64(0.0),) * 5
        return jax.lax.scan(one, start, None, length=steps)[0][4]

    both = jax.jit(jax.value_and_grad(loss))
    given = jnp.asarray(gains)

    def step() -> float:
        value, grads = both(given, 1.0)
        jax.block_until_ready(grads)
        return float(value)

    return Peer("JAX scan", step)


#: Rates of growth and hunting, the length of a step, and how many there are.
HUNT = (1.1, 0.4, 0.1, 0.4, 0.01, 200)


def jax_hunt() -> Peer:
    """Foxes and rabbits by the method of Runge and Kutta as one `scan`: loss and gradients of the four rates."""
    jax = jax_ready()
    jnp = jax.numpy
    *rates, dt, steps = HUNT

    def loss(rates: Any, start: Any) -> Any:
        a, b, c, d = rates

        def slope(s: Any) -> Any:
            return jnp.stack((a * s[0] - b * s[0] * s[1], c * s[0] * s[1] - d * s[1]))

        def one(s: Any, _: Any) -> Any:
            k1 = slope(s)
            k2 = slope(s + dt / 2 * k1)
            k3 = slope(s + dt / 2 * k2)
            k4 = slope(s + dt * k3)
            return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        end = jax.lax.scan(one, start, None, length=steps)[0]
        return end @ end

    both = jax.jit(jax.value_and_grad(loss))
    given, start = jnp.asarray(rates), jnp.asarray((10.0, 5.0))

    def step() -> float:
        value, grads = both(given, start)
        jax.block_until_ready(grads)
        return float(value)

    return Peer("JAX scan", step)


def casadi_moons(parameters: Floats, X: Floats, y: Floats) -> Peer:
    """CasADi's scalar graph, run by its virtual machine."""
    casadi: Any = importlib.import_module("casadi")
    unknown = casadi.SX.sym("p", len(parameters))
    at, layers = 0, []
    for nin, nout in pairwise(SIZES):
        weights = casadi.reshape(unknown[at : at + nin * nout], nin, nout).T
        layers.append((weights, unknown[at + nin * nout : at + nin * nout + nout]))
        at += nin * nout + nout
    total = PENALTY * casadi.sumsqr(unknown)
    for point, label in zip(X, y, strict=True):
        x = casadi.DM(point)
        for i, (w, b) in enumerate(layers):
            x = casadi.mtimes(w, x) + b
            if i < len(layers) - 1:
                x = casadi.fmax(x, 0)
        total += casadi.fmax(1 - float(label) * x[0], 0) / len(y)
    function = casadi.Function("f", [unknown], [total, casadi.gradient(total, unknown)])
    buffer, evaluate = function.buffer()
    given, value, grads = np.ascontiguousarray(parameters), np.zeros(1), np.zeros(len(parameters))
    buffer.set_arg(0, given.data)
    buffer.set_res(0, value.data)
    buffer.set_res(1, grads.data)

    alive = (function, buffer, given, grads)  # CasADi holds their addresses only

    def step() -> float:
        evaluate()
        return float(value[0]) if alive else math.nan

    return Peer("CasADi VM", step)


# --- the scalar GPT, one document a step, Adam -----------------------------------------------------------------------


@dataclass(frozen=True)
class Training:
    """The documents of a training, one a step, and the parameters it starts from, in the order of examples/gpt.py."""

    parameters: Floats
    documents: list[list[int]]
    lr: float = 0.01
    betas: tuple[float, float] = (0.9, 0.95)
    vocabulary: int = 27
    width: int = 16
    heads: int = 4
    block: int = 16

    def shapes(self) -> dict[str, tuple[int, int]]:
        """The matrices by name."""
        w, v = self.width, self.vocabulary
        return {
            "token": (v, w), "position": (self.block, w), "query": (w, w), "key": (w, w), "value": (w, w),
            "mix": (w, w), "widen": (4 * w, w), "narrow": (w, 4 * w), "head": (v, w),
        }  # fmt: skip

    def matrices(self) -> dict[str, Floats]:
        """The parameters as matrices."""
        found, at = {}, 0
        for name, (rows, columns) in self.shapes().items():
            found[name] = self.parameters[at : at + rows * columns].reshape(rows, columns)
            at += rows * columns
        return found

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0; it falls to 0."""
        return self.lr * (1 - step / len(self.documents))


def torch_gpt(training: Training) -> Train:
    """The whole training in PyTorch: a tensor for each matrix, fused Adam."""
    import torch

    torch.set_num_threads(1)
    size = training.width // training.heads

    def normalised(x: Any) -> Any:
        return x * ((x * x).mean(-1, keepdim=True) + 1e-5) ** -0.5

    def loss(m: dict[str, Any], tokens: Any, targets: Any) -> Any:
        n = len(tokens)
        x = normalised(m["token"][tokens] + m["position"][:n])
        looking = normalised(x)
        q, k, v = (
            (looking @ m[name].T).view(n, training.heads, size).transpose(0, 1) for name in ("query", "key", "value")
        )
        heard = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + heard.transpose(0, 1).reshape(n, training.width) @ m["mix"].T
        x = x + (normalised(x) @ m["widen"].T).relu() @ m["narrow"].T
        return torch.nn.functional.cross_entropy(normalised(x) @ m["head"].T, targets)

    documents = [torch.tensor(document) for document in training.documents]

    def train() -> tuple[list[float], float]:
        m = {name: torch.tensor(x, requires_grad=True) for name, x in training.matrices().items()}
        adam = torch.optim.Adam(m.values(), lr=training.lr, betas=training.betas, fused=True)
        losses = []
        began = time.perf_counter()
        for step, document in enumerate(documents):
            adam.param_groups[0]["lr"] = training.rate(step)
            adam.zero_grad()
            surprise = loss(m, document[:-1], document[1:])
            surprise.backward()
            adam.step()
            losses.append(surprise.item())
        return losses, time.perf_counter() - began

    return train


def jax_gpt_loss(training: Training) -> Any:
    """The loss of one document as JAX has it."""
    jax = jax_ready()
    jnp = jax.numpy
    size = training.width // training.heads

    def normalised(x: Any) -> Any:
        return x * ((x * x).mean(-1, keepdims=True) + 1e-5) ** -0.5

    def loss(m: dict[str, Any], tokens: Any, targets: Any) -> Any:
        n = tokens.shape[0]
        x = normalised(m["token"][tokens] + m["position"][:n])
        looking = normalised(x)
        q, k, v = ((looking @ m[name].T).reshape(n, training.heads, size) for name in ("query", "key", "value"))
        fits = jnp.einsum("thi,shi->hts", q, k) * size**-0.5
        fits = jnp.where(jnp.tril(jnp.ones((n, n), bool)), fits, -jnp.inf)
        heard = jnp.einsum("hts,shi->thi", jax.nn.softmax(fits), v).reshape(n, training.width)
        x = x + heard @ m["mix"].T
        x = x + jax.nn.relu(normalised(x) @ m["widen"].T) @ m["narrow"].T
        scores = jax.nn.log_softmax(normalised(x) @ m["head"].T)
        return -scores[jnp.arange(n), targets].mean()

    return loss


def jax_adam(training: Training, loss: Any) -> Any:
    """One step of Adam on a loss, compiled; arguments: parameters, two moments, step from 0, rate, data."""
    jax = jax_ready()
    jnp = jax.numpy
    beta1, beta2 = training.betas

    def step(m: Any, first: Any, second: Any, count: Any, lr: Any, *data: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(m, *data)
        first = jax.tree.map(lambda a, g: beta1 * a + (1 - beta1) * g, first, grads)
        second = jax.tree.map(lambda a, g: beta2 * a + (1 - beta2) * g * g, second, grads)
        correct1, correct2 = 1 - beta1 ** (count + 1), 1 - beta2 ** (count + 1)
        m = jax.tree.map(lambda p, a, b: p - lr * (a / correct1) / (jnp.sqrt(b / correct2) + 1e-8), m, first, second)
        return value, m, first, second

    return jax.jit(step, donate_argnums=(0, 1, 2))


def jax_gpt(training: Training) -> Train:
    """The whole training in JAX: loss, gradients and Adam in one compiled step, one for each length."""
    jax = jax_ready()
    jnp = jax.numpy
    step = jax_adam(training, jax_gpt_loss(training))
    documents = [(jnp.asarray(d[:-1]), jnp.asarray(d[1:])) for d in training.documents]

    def train() -> tuple[list[float], float]:
        m = {name: jnp.array(x) for name, x in training.matrices().items()}
        first, second = (jax.tree.map(jnp.zeros_like, m) for _ in range(2))
        losses = []
        began = time.perf_counter()
        for count, data in enumerate(documents):
            value, m, first, second = step(m, first, second, float(count), training.rate(count), *data)
            losses.append(value)
        return [float(x) for x in losses], time.perf_counter() - began

    return train


def c_gpt(training: Training, level: str = "-O3") -> Train | None:
    """The whole training by gpt.c, one call a step; None where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    folder = Path(tempfile.mkdtemp())
    library_file = folder / "gpt.so"
    source = Path(__file__).with_name("gpt.c")
    flags = [level, "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", str(library_file), str(source), "-lm"], check=True)
    library = ctypes.CDLL(str(library_file))
    shutil.rmtree(folder)
    pointer, number, whole = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
    library.train_step.argtypes = [pointer] * 5 + [whole, number, number, number, whole]
    library.train_step.restype = number
    documents = [np.array(document, np.int32) for document in training.documents]

    def train() -> tuple[list[float], float]:
        p = training.parameters.copy()
        g, first, second = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
        where = [x.ctypes.data for x in (p, g, first, second)]
        call = library.train_step
        began = time.perf_counter()
        losses = [
            call(*where, document.ctypes.data, len(document) - 1, training.rate(i), *training.betas, i + 1)
            for i, document in enumerate(documents)
        ]
        return losses, time.perf_counter() - began

    return train


# --- the GPT on a batch of documents ---------------------------------------------------------------------------------


def jax_gpt_batch(training: Training, documents: Sequence[Sequence[int]], dtype: str = "float64") -> Peer:
    """One step of Adam on many documents of one length, by vmap and jit."""
    jax = jax_ready()
    jnp = jax.numpy
    alone = jax_gpt_loss(training)

    def loss(m: Any, tokens: Any, targets: Any) -> Any:
        return jax.vmap(alone, in_axes=(None, 0, 0))(m, tokens, targets).mean()

    step = jax_adam(training, loss)
    data = np.array(documents)
    tokens, targets = jnp.asarray(data[:, :-1]), jnp.asarray(data[:, 1:])
    state: list[Any] = [{name: jnp.array(x, dtype) for name, x in training.matrices().items()}]
    state += [jax.tree.map(jnp.zeros_like, state[0]) for _ in range(2)]

    def run() -> float:
        value, *state[:] = step(*state, 0.0, 0.0, tokens, targets)
        jax.block_until_ready(state)
        return float(value)

    return Peer("JAX vmap+jit", run)
