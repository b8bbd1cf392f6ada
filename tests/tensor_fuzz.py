"""The fuzzer of tensors: random programs, beside PyTorch. `python tests/tensor_fuzz.py --seconds 60` runs until then.

A program is lines of Python that both understand, drawn one after another from a seed: each is tried on PyTorch first.
What PyTorch computes we must compute, to 1e-12, with its shape and dtype; where PyTorch refuses we may do more, and an
error must be one of our own. Then the gradients are compared, those of half the programs to the second order, and some
programs are compiled. A failure is repeated by its seed: `python tests/tensor_fuzz.py --seed 17`.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import gradwalk
from gradwalk import Tensor
from gradwalk.errors import GradwalkError

TOLERANCE = 1e-12
LARGEST = 1e3  # a line that gives larger numbers is left out, for what is lost to rounding depends on size
NEAR_ZERO = 1e-2  # where a root has a slope of nearly any size
MOST = 120  # numbers in one tensor
COMPILED_EVERY = 20  # programs; each takes a second, for the most part to write machine code

Shape = tuple[int, ...]
Rng = random.Random


class Difference(AssertionError):  # noqa: N818 (it is what was found)
    """We and PyTorch do not agree."""


# --- lines -----------------------------------------------------------------------------------------------------------
# Each takes the names and shapes of the tensors there are, and gives an expression. `g` is the library.

UNARY = (
    "{x}.tanh()", "{x}.sigmoid()", "{x}.tanh().exp()", "{x}.relu()", "g.sin({x})", "{x}.cos()", "{x}.abs()", "-{x}",
    "{x}.square()", "({x} * {x} + 0.5).log()", "({x} * {x} + 0.5).sqrt()", "({x} * {x} + 0.5).rsqrt()",
    "({x} * {x}).log1p()", "F.softplus({x}.clamp(max=20.0))",  # beyond 20 PyTorch takes the number for its softplus
    "F.gelu({x})", "F.silu({x})", "F.elu({x})", "F.leaky_relu({x}, 0.1)",
    "F.hardtanh({x})", "F.relu6({x})", "F.softsign({x})", "F.mish({x})", "{x}.erf()", "{x}.tanh().expm1()",
    "{x}.atan()", "{x}.tanh().cosh()", "{x}.tanh().sinh()", "({x} * {x} + 0.5).log2()", "({x} * {x} + 0.5).log10()",
    "({x} * {x} + 0.5).reciprocal()", "{x}.clamp(-0.5, 0.5)", "{x}.clamp(min=0.1)", "{x}.clamp(max=0.2)", "{x} ** 2",
    "{x} ** 3", "{x} ** 0", "({x} * {x} + 0.5) ** -1", "({x} * {x} + 0.5) ** 0.5", "2.0 ** {x}.tanh()", "1 - {x}",
    "3 * {x}", "{x} / 4", "1.5 / ({x} * {x} + 0.5)", "{x} + 1", "{x} - 2.5", "{x}.floor() * {x}", "{x}.round() + {x}",
    "{x}.sign() * {x}", "({x} > 0.1) * {x}", "({x} <= 0) * 2.0 + {x}", "{x}.ceil() - {x}", "({x}.tanh() * 0.9).asin()",
    "F.gelu({x}, approximate='tanh')", "{x}.trunc() + {x}", "+{x}",
    "({x}.tanh() * 0.9).acos()", "({x}.tanh() * 0.9).tan()", "{x}.neg()", "{x}.pow(2)", "{x}.clone()", "{x}.double()",
    "{x}.float().double()", "g.where({x} > 0, {x}, 0.0)", "g.zeros_like({x}) + {x}", "{x}.detach() * {x}",
)  # fmt: skip
BINARY = (
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "g.maximum({x}, {y})", "g.minimum({x}, {y})", "{x} / ({y} * {y} + 0.5)",
    "g.where({x} > {y} + 0.0137, {x}, {y} * 2)", "({x} * {x} + 0.5) ** {y}.tanh()", "g.where({x} > 0, {y}, 1.0)",
    "{x}.expand_as({y}) * {y}", "({x} > {y} + 0.0137).double() + {x}", "({x} == {y}) * {x}", "{x}.add({y})",
    "{x}.mul({y})", "{x}.sub({y})", "{x}.masked_fill({y} > 0, 0.5)", "{x}.div({y} * {y} + 1)",
)  # fmt: skip


def a_dim(rng: Rng, shape: Shape) -> int:
    """A dim, counted from either end; now and then one that is not there."""
    n = max(len(shape), 1)
    return rng.randint(-n - 1, n) if rng.random() < 0.05 else rng.randrange(-n, n)


def some_dims(rng: Rng, shape: Shape) -> str:
    """What a reduction may be given: nothing, one dim, or several."""
    draw = rng.random()
    if draw < 0.25:
        return ""
    if draw < 0.65 or not shape:
        return f"{a_dim(rng, shape)}"
    chosen = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
    return repr(tuple(d - len(shape) if rng.random() < 0.4 else d for d in chosen))


def kept(rng: Rng) -> str:
    """Whether a reduction keeps its dims."""
    return rng.choice(["", "", "keepdim=True", "keepdim=False"])


def joined(*parts: str) -> str:
    """Arguments that are there."""
    return ", ".join(part for part in parts if part)


def reduction(rng: Rng, x: str, shape: Shape) -> str:
    """Many numbers into few."""
    kind = rng.choice(
        ["sum", "mean", "amax", "amin", "max", "min", "var", "std", "norm", "logsumexp", "prob", "cumsum"]
    )
    dims, keep, dim = some_dims(rng, shape), kept(rng), a_dim(rng, shape)
    if kind in ("max", "min"):
        return rng.choice([f"{x}.{kind}()", f"{x}.{kind}({joined(str(dim), keep)}).values", f"{x}.{kind}({dim})[0]"])
    if kind in ("amax", "amin"):
        return f"{x}.{kind}({joined(dims or str(dim), keep)})"
    if kind in ("var", "std"):
        return f"{x}.{kind}({joined(dims, keep if dims else '', rng.choice(['', '', 'correction=0']) if dims else '')})"
    if kind == "norm":
        return f"({x} + 0.3).norm({joined(f'dim={dims}' if dims else '', keep if dims else '')})"
    if kind == "logsumexp":
        return f"{x}.logsumexp({joined(dims or str(dim), keep)})"
    if kind == "prob":
        return f"{x}.{rng.choice(['softmax', 'log_softmax'])}({dim})"
    if kind == "cumsum":
        return f"{x}.cumsum({dim})"
    return f"{x}.{kind}({joined(dims, keep if dims else '')})"


def factors(rng: Rng, n: int) -> list[int]:
    """A shape of so many numbers."""
    sizes: list[int] = []
    while n > 1 and len(sizes) < 3:
        part = rng.choice([d for d in range(1, n + 1) if n % d == 0])
        sizes.append(part)
        n //= part
    sizes.append(n)
    rng.shuffle(sizes)
    return sizes


def structure(rng: Rng, x: str, shape: Shape) -> str:
    """The same numbers in another shape, or some of them."""
    n, dim, other = len(shape), a_dim(rng, shape), a_dim(rng, shape)
    size = shape[dim] if -n <= dim < n else 1
    sizes = factors(rng, math.prod(shape))
    if sizes and rng.random() < 0.5:
        sizes[rng.randrange(len(sizes))] = -1
    there = 0 if 0 in shape else dim  # of no numbers PyTorch rolls and joins any dim, even one that is not there
    order = rng.sample(range(n), n)
    start = rng.randint(-size - 1, size)
    new = [rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 1))]
    expanded = [*new, *[rng.choice([2, 3]) if s == 1 else rng.choice([s, -1]) for s in shape]]
    return rng.choice([
        f"{x}.reshape({', '.join(map(str, sizes))})", f"{x}.reshape({tuple(sizes)})", f"{x}.permute({tuple(order)})",
        f"{x}.transpose({dim}, {other})", f"{x}.unsqueeze({rng.randint(-n - 1, n)})", f"{x}.squeeze()",
        f"{x}.squeeze({dim})", f"{x}.flatten()", f"{x}.flatten({dim})", f"{x}.flatten({dim}, {other})",
        f"{x}.expand({tuple(expanded)})", f"{x}.repeat({(*new, *[rng.choice([1, 1, 2]) for _ in shape])})",
        f"{x}.flip({dim})", f"{x}.flip(({dim},))",
        f"{x}.roll({rng.choice((-3, -2, -1, 1, 2, 3))}, {there})",
        f"{x}.roll({rng.randint(-3, 3)})", f"{x}.split({rng.randint(1, 3)}, {dim})[0]",
        f"{x}.chunk({rng.randint(1, 3)}, {dim})[-1]", f"{x}.unbind({dim})[0]", f"{x}.select({dim}, {start})",
        f"{x}.narrow({dim}, 0, {rng.randint(0, max(size, 1))})", f"{x}.tril({rng.randint(-2, 2)})", f"{x}.triu()",
        f"{x}.mT" if shape else f"{x}.diag()", f"{x}.diag({rng.randint(-2, 2)})", f"{x}.diagonal()",
        f"g.stack([{x}, {x} * 2], {dim})", f"g.cat([{x}, {x} * 2], {there})",
        f"g.cat([{x}, {x}[:1]], 0)", f"{x}.view(-1)", f"{x}.unflatten({dim}, (-1, 1))", f"{x}.t()",
        f"F.pad({x}, ({rng.randint(0, 2)}, {rng.randint(0, 1)}))",
        f"{x}.diagonal({rng.randint(-2, 2)}, {dim}, {other})",
        f"{x}.reshape(-1, 1)", f"{x}.sort({dim}).values", f"{x}.topk({rng.randint(0, max(size, 1))}, {dim}).values",
        f"{x}.gather({dim}, {x}.argsort({dim}))", f"{x}.index_select({dim}, I([{start}, 0]))",
        f"{x}.argmax({dim}).double().unsqueeze(0) * {x}.sum()", f"{x}.cumsum({dim}).flip({dim})", f"{x}.trace()",
        f"{x}.take(I([0, {rng.randint(-2, 2)}]))", f"{x}[{x} > 0]", f"{x}.masked_select({x} < 0.3)",
        f"F.one_hot({x}.argmax({dim}), {max(size, 1)}).double().sum() * {x}", f"{x}.std(dim={dim}, keepdim=True)",
    ])  # fmt: skip


def index(rng: Rng, x: str, shape: Shape) -> str:
    """Some of the numbers, named in one of many ways."""
    parts: list[str] = []
    wholes = rng.choice([(), (1,), (2,), (3,), (2, 1)])
    at, ellipsis = 0, rng.random() < 0.2
    while at < len(shape) and rng.random() < 0.85:
        size = shape[at]
        kind = rng.choice(["int", "slice", "slice", "none", "list", "tensor", "mask", "ellipsis", "all"])
        if kind == "int":
            parts.append(str(rng.randint(-size - (rng.random() < 0.05), max(size - 1, 0))))
        elif kind == "slice":
            ends = [rng.choice(["", str(rng.randint(-size - 1, size + 1))]) for _ in range(2)]
            parts.append(":".join([*ends, *rng.choice([[], [], [str(rng.randint(1, 3))]])]))
        elif kind == "all":
            parts.append(":")
        elif kind in ("list", "tensor") and size:
            places = np.array([rng.randint(-size, size - 1) for _ in range(math.prod(wholes))]).reshape(wholes).tolist()
            # lists in a list PyTorch takes for several indices, with a warning; here they are one array, as in NumPy
            parts.append(f"{places}" if kind == "list" and len(wholes) == 1 else f"I({places})")
        elif kind == "mask":
            parts.append(f"B({[rng.random() < 0.6 for _ in range(size)]})")
        else:
            if kind == "none":
                parts.append("None")
            elif kind == "ellipsis" and ellipsis:
                parts.append("...")
                ellipsis = False
                at = max(at, len(shape) - rng.randint(0, 1))
            continue
        at += 1
    key = ", ".join(parts) or "..."
    return f"{x}[{key}]" if rng.random() < 0.8 else f"{x}[({key},)]" if ":" not in key else f"{x}[{key}]"


def product(rng: Rng, x: str, shape: Shape, y: str, other: Shape) -> str:
    """A product of matrices, or a sum of products by letters."""
    lines = [f"{x} @ {y}", f"{x} @ {x}.mT", f"g.matmul({x}, {y})", f"g.einsum('...i,...i->...', {x}, {x})"]
    if len(shape) == 2:
        lines += [f"g.einsum('ij->ji', {x})", f"g.einsum('ij,ij->i', {x}, {x})", f"g.einsum('ij->', {x})",
                  f"g.einsum('ii->i', {x} @ {x}.T)", f"g.einsum('ij,kj->ik', {x}, {x})",
                  f"F.cross_entropy({x}, I({[0] * shape[0]}))"]  # fmt: skip
    if len(shape) == 1:
        lines += [f"g.einsum('i,j->ij', {x}, {x})", f"{x} @ {x}", f"{x}.unsqueeze(0) @ {x}"]
    if len(shape) == 3:
        lines += [f"{x}.bmm({x}.mT)", f"g.einsum('bij,bkj->bik', {x}, {x})"]
    return rng.choice(lines)


def a_line(rng: Rng, pool: dict[str, Shape]) -> str:
    """Any expression in the tensors there are."""
    names = list(pool)
    x, y = rng.choice(names[-3:]), rng.choice(names)
    kind = rng.random()
    if kind < 0.22:
        return rng.choice(UNARY).format(x=x)
    if kind < 0.42:
        return rng.choice(BINARY).format(x=x, y=y)
    if kind < 0.6:
        return reduction(rng, x, pool[x])
    if kind < 0.78:
        return structure(rng, x, pool[x])
    if kind < 0.92:
        return index(rng, x, pool[x])
    return product(rng, x, pool[x], y, pool[y])


# --- programs --------------------------------------------------------------------------------------------------------


def scope(library: Any) -> dict[str, Any]:
    """The names that a program has."""
    if library is torch:
        make: Callable[..., Any] = torch.tensor
        return {"g": torch, "F": torch.nn.functional, "I": lambda x: make(x, dtype=torch.int64).reshape(np.shape(x)),
                "B": lambda x: make(x, dtype=torch.bool)}  # fmt: skip
    return {"g": gradwalk, "F": gradwalk, "I": lambda x: Tensor(np.array(x, "int64")),
            "B": lambda x: Tensor(np.array(x, bool))}  # fmt: skip


def numbers(x: Any) -> Any:
    """A tensor of either kind as an array."""
    return x.detach().numpy(force=True) if isinstance(x, torch.Tensor) else np.array(x.numpy())


def apart(ours: Any, theirs: Any, what: str, scale: float = 1.0) -> float:
    """How far two arrays are apart, relative to the largest number there is; an error if it is too far."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise Difference(f"{what}: {ours.dtype} of shape {ours.shape} against {theirs.dtype} of shape {theirs.shape}")
    if not theirs.size:
        return 0.0
    error = float(np.max(np.abs(ours - theirs) / (scale + np.abs(theirs))))
    if not error <= TOLERANCE:
        raise Difference(f"{what} differs by {error:.1e}: {ours.tolist()} against {theirs.tolist()}")
    return error


def has_ties(x: Any) -> bool:
    """Whether two numbers are equal, so that nobody can say which of them comes first."""
    return bool(torch.unique(x.detach()).numel() < x.numel())


class Program:
    """A random program: the tensors that it begins with, and its lines, each of which gives a tensor."""

    def __init__(self, seed: int, length: int = 7) -> None:
        self.seed = seed
        rng = random.Random(seed)
        draw = np.random.default_rng(seed)
        self.inputs = [
            draw.normal(size=tuple(rng.choice([0, 1, 1, 2, 2, 3, 3, 4]) for _ in range(rng.choice([0, 1, 2, 2, 3]))))
            for _ in range(rng.randint(1, 3))
        ]
        self.lines: list[str] = []
        theirs = scope(torch) | {f"v{i}": torch.tensor(x, requires_grad=True) for i, x in enumerate(self.inputs)}
        ours = scope(gradwalk) | {f"v{i}": Tensor(x) for i, x in enumerate(self.inputs)}
        pool: dict[str, Shape] = {f"v{i}": x.shape for i, x in enumerate(self.inputs)}
        for _ in range(4 * length):
            if len(self.lines) == length:
                break
            line = a_line(rng, pool)
            name = f"v{len(pool)}"
            want = self.tried(line, theirs, ours)
            if want is None:
                continue
            theirs[name], ours[name] = want
            pool[name] = tuple(want[0].shape)
            self.lines.append(f"{name} = {line}")

    def tried(self, line: str, theirs: dict[str, Any], ours: dict[str, Any]) -> tuple[Any, Any] | None:
        """What a line gives, in PyTorch and here; None if it is not to be used."""
        try:
            want = eval(line, theirs)
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
            self.refused(line, ours, error)
            return None
        if not isinstance(want, torch.Tensor) or want.dtype != torch.float64 or want.numel() > MOST:
            return None
        if not bool(torch.isfinite(want).all()) or (want.numel() and float(want.detach().abs().max()) > LARGEST):
            return None
        if any(word in line for word in (".sort", "topk", "argsort", ".max(", ".min(", "argmax")) and any(
            has_ties(x) for name, x in theirs.items() if name in line and isinstance(x, torch.Tensor)
        ):
            return None
        if (".std(" in line or ".norm(" in line) and want.numel() and float(want.detach().abs().min()) < NEAR_ZERO:
            return None
        try:
            found = eval(line, ours)
        except Exception as error:
            raise Difference(f"{line}: {type(error).__name__}: {error}") from error
        apart(numbers(found), numbers(want), line)
        return want, found

    def refused(self, line: str, ours: dict[str, Any], error: Exception) -> None:
        """What PyTorch refuses we may give, or refuse with an error of our own."""
        try:
            eval(line, ours)
        except GradwalkError:
            pass
        except Exception as found:
            if str(found) == str(error):  # a tuple of ours has no such place either
                return
            raise Difference(f"{line}: {type(found).__name__}: {found}, where PyTorch says {error}") from found

    def loss(self, library: Any, tensors: list[Any]) -> Any:
        """All that it computes, weighed and added up."""
        names = scope(library) | {f"v{i}": x for i, x in enumerate(tensors)}
        exec("\n".join(self.lines), names)
        total = tensors[0].sum()
        for i in range(len(self.inputs) + len(self.lines)):
            x = names[f"v{i}"]
            weights = np.cos(np.arange(math.prod(x.shape)) + i).reshape(tuple(x.shape))
            total = total + (x * (torch.tensor(weights) if library is torch else weights)).sum()
        return total

    def text(self) -> str:
        """How to see it."""
        shapes = ", ".join(f"v{i}: {x.shape}" for i, x in enumerate(self.inputs))
        return "\n".join([f"--seed {self.seed}: {shapes}", *[f"  {line}" for line in self.lines]])


def gradients(loss: Any, tensors: list[Any], *, graph: bool) -> list[Any]:
    """Those of a loss in PyTorch; zeros where there are none."""
    if not loss.requires_grad:
        return [torch.zeros_like(x) for x in tensors]
    found = torch.autograd.grad(loss, tensors, create_graph=graph, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(found, tensors, strict=True)]


def largest(tensors: list[Any]) -> float:
    """The largest number in tensors, or 1; inf if there is a nan, which PyTorch may have where we have a slope."""
    found = [float(x.detach().abs().max()) for x in tensors if x.numel()]
    return math.inf if any(map(math.isnan, found)) else max([1.0, *found])


def check(program: Program, *, compiled: bool, second: bool) -> float:
    """Compare values and gradients; gives the largest difference."""
    theirs = [torch.tensor(x, requires_grad=True) for x in program.inputs]
    loss = program.loss(torch, theirs)
    first = gradients(loss, theirs, graph=second)
    scale = largest([*first, loss])
    if not scale < LARGEST:
        return 0.0
    ours = [Tensor(x) for x in program.inputs]
    found = program.loss(gradwalk, ours)
    worst = apart(numbers(found), numbers(loss), "the loss", scale)
    found.backward()
    for i, (x, want) in enumerate(zip(ours, first, strict=True)):
        worst = max(worst, apart(numbers(x.grad), numbers(want), f"the gradient of v{i}", scale))
    if compiled:
        worst = max(worst, check_compiled(program, [x.grad for x in ours], found, scale))
    if second:
        worst = max(worst, check_second(program, theirs, first))
    return worst


def check_second(program: Program, theirs: list[Any], first: list[Any]) -> float:
    """The gradients of the squares of the gradients."""
    squares = sum((g * g).sum() for g in first)
    want = gradients(squares, theirs, graph=False)
    scale = largest([*want, squares])
    if not scale < LARGEST**2:
        return 0.0
    ours = [Tensor(x) for x in program.inputs]
    program.loss(gradwalk, ours).backward(create_graph=True)
    total = sum(((x.grad * x.grad).sum() for x in ours), start=Tensor(0.0))
    for x in ours:
        x.grad = None
    if total.requires_grad:
        total.backward()
    return max(
        apart(numbers(x.grad), numbers(g), f"the second gradient of v{i}", scale)
        for i, (x, g) in enumerate(zip(ours, want, strict=True))
    )


def check_compiled(program: Program, want: list[Any], loss: Any, scale: float) -> float:
    """The same as a compiled function, called twice, of which the second call is compiled for certain."""
    parameters = [Tensor(x) for x in program.inputs]
    run = gradwalk.compile(lambda: program.loss(gradwalk, parameters))
    worst = 0.0
    for _ in range(2):
        for p in parameters:
            p.grad = None
        found = run()
        found.backward()
        worst = max(worst, apart(numbers(found), numbers(loss), "the compiled loss", scale))
        for i, (p, g) in enumerate(zip(parameters, want, strict=True)):
            worst = max(worst, apart(numbers(p.grad), numbers(g), f"the compiled gradient of v{i}", scale))
    return worst


def fuzzed(seed: int, *, compiled: bool | None = None) -> float:
    """Draw a program and compare it; gives the largest difference, and names the program in an error."""
    program: Program | None = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # PyTorch's; NumPy's would be our mistake
            program = Program(seed)
            chosen = seed % COMPILED_EVERY == 0 if compiled is None else compiled
            return check(program, compiled=chosen, second=seed % 2 == 0)
    except Exception as error:
        text = program.text() if program is not None else f"--seed {seed}"
        raise Difference(f"{text}\n{type(error).__name__}: {error}") from error


def main(argv: list[str] | None = None) -> int:
    """Draw and check programs; 1 if one of them differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (default 60)")
    parser.add_argument("--seed", type=int, help="only this seed")
    parser.add_argument("--start", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--eager", action="store_true", help="compile nothing")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    warnings.simplefilter("error", RuntimeWarning)
    ends = time.monotonic() + options.seconds
    seed, count, worst, failures = options.start if options.seed is None else options.seed, 0, 0.0, 0
    while time.monotonic() < ends:
        try:
            compiled = False if options.eager else True if options.seed is not None else None
            worst = max(worst, fuzzed(seed, compiled=compiled))
        except Difference as error:
            failures += 1
            print(error, flush=True)
        count += 1
        seed += 1
        if options.seed is not None:
            break
        if sys.stdout.isatty():
            print(f"\r{count} programs, {failures} failures", end="", flush=True)
    print(f"\r{count} programs, {failures} failures, largest difference {worst:.1e}")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
