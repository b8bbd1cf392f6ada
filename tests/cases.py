"""Programs and points that every backend must agree on: one list, drawn on by many tests."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st

from gradwalk import ops
from gradwalk.ops import TABLE, Op

inf, nan = math.inf, math.nan
EPSILON = 2.0**-52

#: Each op of the table in PyTorch's words, on float64 tensors.
TORCH: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "neg": operator.neg,
    "leaky_relu": lambda x, slope: torch.nn.functional.prelu(x, slope),  # leaky_relu with a slope that can be learnt
    "softplus": lambda x: torch.nn.functional.softplus(x, threshold=700.0),  # its default gives up accuracy above 20
    "where": lambda condition, x, y: torch.where(condition != 0, x, y),
    **{
        name: getattr(torch, name)
        for name in (
            *(
                "exp",
                "expm1",
                "log",
                "log1p",
                "sqrt",
                "sin",
                "cos",
                "tan",
                "asin",
                "acos",
                "atan",
                "sinh",
                "cosh",
                "tanh",
            ),
            *("erf", "sigmoid", "relu", "abs", "maximum", "minimum", "clamp"),
        )
    },
}

#: The same in Python's operators where there is one, so that reflected operators and constants are exercised too.
GRADWALK: dict[str, Callable[..., Any]] = {
    **TABLE,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "neg": operator.neg,
    "abs": operator.abs,
}


def tensor(x: float) -> torch.Tensor:
    """A float64 leaf that collects a gradient."""
    return torch.tensor(float(x), dtype=torch.float64, requires_grad=True)


def close(ours: float, theirs: float, scale: float = 0.0, rel: float = 1e-12) -> bool:
    """Equal to `rel` of their size, or of `scale` where that is larger; nan equals nan, inf equals inf.

    What lies below the normal numbers, torch may give as 0, as it does for log1p(5e-324).
    """
    if math.isnan(theirs) or math.isnan(ours):
        return math.isnan(theirs) and math.isnan(ours)
    if math.isinf(theirs) or math.isinf(ours):
        return theirs == ours
    if theirs == 0.0 and abs(ours) < sys.float_info.min:
        return True
    return abs(ours - theirs) <= rel * max(abs(theirs), scale)


# --- random programs -----------------------------------------------------------------------------------------------

Operand = int | float  # an int is the number of an earlier node, a float a constant


@dataclass(frozen=True)
class Program:
    """Leaves, then steps, each an op on earlier nodes or constants; the last step is the result."""

    leaves: tuple[float, ...]
    steps: tuple[tuple[str, tuple[Operand, ...]], ...]

    def run(
        self, leaf: Callable[[float], Any], table: dict[str, Callable[..., Any]], constant: Any = float
    ) -> list[Any]:
        """All nodes, leaves first, in whichever world `leaf` and `table` belong to."""
        nodes = [leaf(x) for x in self.leaves]
        for name, operands in self.steps:
            nodes.append(table[name](*(nodes[x] if isinstance(x, int) else constant(x) for x in operands)))
        return nodes

    def torch_constant(self, x: float) -> torch.Tensor:
        return torch.tensor(x, dtype=torch.float64)


def inside(op: Op, point: tuple[float, ...], margin: float = 0.05) -> bool:
    """Whether a point lies well within the region where the op is smooth."""
    if not all(low + margin < x < high - margin for x, (low, high) in zip(point, op.domain, strict=True)):
        return False
    return op.rough is None or abs(op.rough(*point)) > margin


@st.composite
def programs(draw: st.DrawFn, max_steps: int = 200, max_leaves: int = 6, names: tuple[str, ...] = ()) -> Program:
    """Well-conditioned random programs: all ops, shared nodes, constants on both sides.

    A step is kept only where the op is smooth and where rounding errors so far stay far below the tolerance that
    results are compared at; otherwise two correct engines may differ, as any two libraries' last bits do.
    """
    numbers = st.floats(-2.5, 2.5).map(lambda x: round(x, 3))
    leaves = tuple(draw(st.lists(numbers, min_size=1, max_size=max_leaves)))
    data, error = list(leaves), [0.0] * len(leaves)
    steps: list[tuple[str, tuple[Operand, ...]]] = []
    wanted = draw(st.integers(1, max_steps))
    seeds = draw(st.randoms(use_true_random=False))
    choices = names or tuple(sorted(TABLE))
    while len(steps) < wanted:
        name = seeds.choice(choices)
        op = TABLE[name]
        operands: list[Operand] = []
        for _ in range(op.arity):
            if seeds.random() < 0.25:
                operands.append(round(seeds.uniform(-2.5, 2.5), 2))
            elif seeds.random() < 0.5:
                operands.append(len(data) - 1)  # mostly deep rather than wide
            else:
                operands.append(seeds.randrange(len(data)))
        if not any(isinstance(x, int) for x in operands):
            operands[0] = len(data) - 1
        point = tuple(data[x] if isinstance(x, int) else x for x in operands)
        if inside(op, point):
            out = op.forward(*point)
            slopes = op.local(*point, out)
            grown = sum(
                abs(s) * (error[x] if isinstance(x, int) else 0.0) for s, x in zip(slopes, operands, strict=True)
            )
            grown += 2 * EPSILON * abs(out)
            tame = abs(out) < 20 and max(map(abs, slopes)) < 20
            if tame and grown < 1e-13 * max(abs(out), 1e-3):
                steps.append((name, tuple(operands)))
                data.append(out)
                error.append(grown)
                continue
        name = seeds.choice(("tanh", "cos", "sigmoid"))  # always smooth, and never makes an error larger
        steps.append((name, (len(data) - 1,)))
        out = TABLE[name].forward(data[-1])
        error.append(error[-1] + 2 * EPSILON * abs(out))
        data.append(out)
    return Program(leaves, tuple(steps))


def path_weights(nodes: list[Any]) -> dict[Any, float]:
    """For each node the sum over all paths to the result of |slopes|: the scale of its gradient's rounding error.

    A slope such as 1 - tanh² is a difference, known to about 1e-16 absolutely however small it is: none counts for
    less than 0.01.
    """
    weights = dict.fromkeys(nodes, 0.0)
    weights[nodes[-1]] = 1.0
    for node in reversed(nodes):
        for operand, slope in zip(node.inputs, node.slopes, strict=True):
            if slope is not None:
                weights[operand] = weights.get(operand, 0.0) + max(abs(slope), 0.01) * weights[node]
    return weights


# --- points in the domain of each op ------------------------------------------------------------------------------


def points(op: Op) -> st.SearchStrategy[tuple[float, ...]]:
    """Points where the op is smooth, some of them large."""

    def coordinate(low: float, high: float) -> st.SearchStrategy[float]:
        return st.floats(max(low, -30.0), min(high, 30.0), exclude_min=True, exclude_max=True)

    return st.tuples(*(coordinate(low, high) for low, high in op.domain)).filter(lambda point: inside(op, point, 0.01))


#: Points at the edges (zeros, ties, infinities, nan), where every op gives exactly what PyTorch gives.
EDGES: list[tuple[str, tuple[float, ...]]] = [
    *((name, (x,)) for name in ("relu", "abs", "sqrt", "log", "exp", "tanh", "sigmoid", "softplus", "sin", "cos", "erf")
      for x in (0.0, -0.0, 1.0, -1.0, 20.0, -20.0, 1000.0, -1000.0, inf, -inf, nan)),
    *((name, (x,)) for name in ("log1p", "expm1", "atan", "sinh", "cosh", "asin", "acos", "tan", "neg")
      for x in (0.0, 1.0, -1.0, 2.0, -2.0, 1000.0, -1000.0, inf, -inf, nan)),
    *((name, point) for name in ("maximum", "minimum")
      for point in ((2.0, 2.0), (nan, 1.0), (1.0, nan), (1.0, 2.0), (2.0, 1.0), (inf, inf), (0.0, -0.0))),
    *(("clamp", point) for point in (
        (1.0, 1.0, 2.0), (2.0, 1.0, 2.0), (1.5, 1.0, 2.0), (0.0, 1.0, 2.0), (3.0, 1.0, 2.0), (1.5, 2.0, 1.0),
        (0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (nan, 1.0, 2.0), (1.0, nan, 2.0), (1.0, 0.0, nan))),
    *(("leaky_relu", (x, 0.01)) for x in (0.0, 1.0, -1.0, inf, -inf)),
    *(("div", point) for point in (
        (1.0, 0.0), (-1.0, 0.0), (1.0, -0.0), (0.0, 0.0), (0.0, 1.0), (inf, inf), (1.0, inf), (nan, 0.0),
        (1e308, 1e-308))),
    *(("mul", point) for point in ((0.0, inf), (inf, 0.0), (1e200, 1e200), (nan, 0.0), (0.0, 0.0))),
    *(("pow", point) for point in (
        (0.0, 0.0), (0.0, 2.0), (0.0, -1.0), (0.0, 1.0), (0.0, 0.5), (-0.0, -1.0), (-0.0, -3.0), (-2.0, 3.0),
        (-2.0, 2.0), (-2.0, -1.0), (-2.0, 0.5), (nan, 0.0), (0.0, nan), (1.0, nan), (inf, 0.0), (0.0, inf), (-2.0, inf),
        (-1.0, inf), (2.0, -inf), (-inf, 3.0), (-inf, -3.0), (1e200, 3.0), (-1e200, 3.0), (-1e200, 2.0),
        (10.0, 1000.0), (2.0, 0.0))),
    *(("where", point) for point in ((1.0, 2.0, 3.0), (0.0, 2.0, 3.0), (1.0, inf, nan))),
]  # fmt: skip

__all__ = [
    "EDGES",
    "GRADWALK",
    "TORCH",
    "Program",
    "close",
    "inside",
    "ops",
    "path_weights",
    "points",
    "programs",
    "tensor",
]
