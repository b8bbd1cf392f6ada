"""The same programs in gradwalk and in PyTorch, line beside line, both run: what lesson 12 shows.

    python web/recorded/against_torch.py        writes against_torch.json, which the site is built from

Each comparison is a list of rows; a row has a name, our lines and theirs. The rows of a side run one after the other,
as the cells of a notebook, and what each prints is written down. In the page our side runs live; theirs is what this
script recorded. A test runs it again and compares.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradwalk.learn.page.schema import ComparedRow, RecordedComparisons

__all__ = ["COMPARISONS", "FILE", "Comparison", "Row", "recorded"]

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Row:
    """Lines that do the same, in gradwalk and in PyTorch."""

    name: str
    ours: str
    theirs: str


@dataclass(frozen=True)
class Comparison:
    """Rows that share their names; `handed` are names of ours that their side may use."""

    rows: tuple[Row, ...]
    handed: tuple[str, ...] = ()


NEURON = Comparison(
    (
        Row("import", "from gradwalk import Value", "import torch"),
        Row(
            "leaves",
            """\
x1, x2 = Value(2.0), Value(0.0)
w1, w2 = Value(-3.0), Value(1.0)
b = Value(6.8813735870195432)""",
            """\
def leaf(x):
    return torch.tensor(x, dtype=torch.float64,
                        requires_grad=True)

x1, x2 = leaf(2.0), leaf(0.0)
w1, w2 = leaf(-3.0), leaf(1.0)
b = leaf(6.8813735870195432)""",
        ),
        Row(
            "forward",
            """\
n = x1 * w1 + x2 * w2 + b
o = n.tanh()""",
            """\
n = x1 * w1 + x2 * w2 + b
o = n.tanh()""",
        ),
        Row("item", "print(round(o.data, 6))", "print(round(o.item(), 6))"),
        Row("backward", "o.backward()", "o.backward()"),
        Row(
            "grads",
            """\
for leaf in (x1, w1, x2, w2, b):
    print(round(leaf.grad, 6))""",
            """\
for leaf in (x1, w1, x2, w2, b):
    print(round(leaf.grad.item(), 6))""",
        ),
    )
)

NETWORK = Comparison(
    (
        Row(
            "import",
            """\
import random
from gradwalk import nn, optim""",
            """\
import torch
from torch import nn""",
        ),
        Row(
            "model",
            """\
random.seed(1337)
model = nn.MLP(2, [4, 1], activation="tanh")""",
            """\
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(),
                    nn.Linear(4, 1)).double()""",
        ),
        Row(
            "same",
            "# PyTorch copies this start",
            """\
with torch.no_grad():
    for linear, layer in zip(net[::2], model.layers):
        for i, neuron in enumerate(layer.neurons):
            for j, w in enumerate(neuron.w):
                linear.weight[i, j] = w.data
            linear.bias[i] = neuron.b.data""",
        ),
        Row(
            "data",
            """\
X = [[0, 0], [0, 1], [1, 0], [1, 1]]
Y = [-1, 1, 1, -1]""",
            """\
X = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]],
                 dtype=torch.float64)
Y = torch.tensor([[-1], [1], [1], [-1]],
                 dtype=torch.float64)""",
        ),
        Row(
            "loss",
            """\
loss = sum((model(x) - y) ** 2
           for x, y in zip(X, Y))
print(f"{loss.data:.6f}")""",
            """\
loss = ((net(X) - Y) ** 2).sum()

print(f"{loss.item():.6f}")""",
        ),
        Row("zero", "model.zero_grad()", "net.zero_grad()"),
        Row("backward", "loss.backward()", "loss.backward()"),
        Row(
            "update",
            """\
for p in model.parameters():
    p.data -= 0.1 * p.grad""",
            """\
with torch.no_grad():
    for p in net.parameters():
        p -= 0.1 * p.grad""",
        ),
        Row(
            "optimiser",
            """\
opt = optim.SGD(model.parameters(), 0.1)
for step in range(60):
    loss = sum((model(x) - y) ** 2
               for x, y in zip(X, Y))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.data:.6f}")""",
            """\
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(60):
    loss = ((net(X) - Y) ** 2).sum()

    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f}")""",
        ),
        Row(
            "predict",
            """\
for x in X:
    print(f"{model(x).data:+.4f}")""",
            """\
for out in net(X):
    print(f"{out.item():+.4f}")""",
        ),
    ),
    handed=("model",),
)

LEAVING = Comparison(
    (
        Row(
            "start",
            """\
import gradwalk
from gradwalk import Value
a = Value(3.0)""",
            """\
import torch
leaf = lambda x: torch.tensor(x, requires_grad=True)
a = leaf(3.0)""",
        ),
        Row(
            "detach",
            """\
y = a.detach() * a
y.backward()
print(a.grad)""",
            """\
y = a.detach() * a
y.backward()
print(a.grad.item())""",
        ),
        Row(
            "no-grad",
            """\
with gradwalk.no_grad():
    y = a * a
print(y.operands)""",
            """\
with torch.no_grad():
    y = a * a
print(y.grad_fn)""",
        ),
        Row(
            "item",
            """\
x = (a * a).data
print(type(x).__name__, x)""",
            """\
x = (a * a).item()
print(type(x).__name__, x)""",
        ),
        Row(
            "by-mistake",
            """\
import math
try:
    print(math.exp(a))
except TypeError as error:
    print(error)""",
            """\
import math
try:
    print(round(math.exp(a), 4))
except TypeError as error:
    print(error)""",
        ),
    )
)

DIFFERENT = Comparison(
    (
        Row(
            "start",
            "from gradwalk import Value",
            """\
import torch
leaf = lambda x: torch.tensor(x, requires_grad=True)""",
        ),
        Row(
            "twice",
            """\
x = Value(3.0)
y = x * x * x
y.backward()
y.backward()
print(x.grad)""",
            """\
x = leaf(3.0)
y = x * x * x
y.backward()
try:
    y.backward()
except RuntimeError as error:
    print("RuntimeError:", str(error)[:46], "...")""",
        ),
        Row(
            "retain",
            "# nothing to retain",
            """\
x = leaf(3.0)
y = x * x * x
y.backward(retain_graph=True)
y.backward()
print(x.grad.item())""",
        ),
        Row(
            "middle",
            """\
a, b, c = Value(2.0), Value(-3.0), Value(10.0)
e = a + b
(e * c).backward()
print(e.grad)""",
            """\
a, b, c = leaf(2.0), leaf(-3.0), leaf(10.0)
e = a + b
(e * c).backward()
print(e.grad)""",
        ),
        Row(
            "kept",
            "# it was there already",
            """\
e = a + b
e.retain_grad()
(e * c).backward()
print(e.grad.item())""",
        ),
        Row("empty", "print(Value(1.0).grad)", "print(leaf(1.0).grad)"),
        Row(
            "digits",
            "print((Value(0.1) + 0.2).data)",
            "print((leaf(0.1) + 0.2).item())",
        ),
        Row(
            "changed",
            """\
a, b = Value(3.0), Value(4.0)
y = a * b
a.data = 100.0
y.backward()
print(b.grad)""",
            """\
a, b = leaf(3.0), leaf(4.0)
y = a * b
with torch.no_grad():
    a.fill_(100.0)
try:
    y.backward()
except RuntimeError as error:
    print("RuntimeError:", str(error)[:70], "...")""",
        ),
    )
)

COMPARISONS = {"neuron": NEURON, "network": NETWORK, "leaving": LEAVING, "different": DIFFERENT}


def recorded() -> RecordedComparisons:
    """Run both sides of every comparison; gives what each row printed."""
    import torch

    return {
        "torch": torch.__version__.split("+")[0],
        "comparisons": {name: _rows(comparison) for name, comparison in COMPARISONS.items()},
    }


def _rows(comparison: Comparison) -> list[ComparedRow]:
    ours: dict[str, Any] = {}
    printed = [_printed(row.ours, ours) for row in comparison.rows]
    # their side begins where ours began: a network is handed over as it was made
    fresh: dict[str, Any] = {}
    for row in comparison.rows:
        if all(name in fresh for name in comparison.handed):
            break
        _printed(row.ours, fresh)
    theirs = {name: fresh[name] for name in comparison.handed}
    return [
        {"name": row.name, "ours": row.ours, "theirs": row.theirs, "oursPrinted": text,
         "theirsPrinted": _printed(row.theirs, theirs)}
        for row, text in zip(comparison.rows, printed, strict=True)
    ]  # fmt: skip


def _printed(lines: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns where a gradient is not kept; the lesson says so in words
        exec(lines, names)
    return out.getvalue()


if __name__ == "__main__":
    FILE.write_text(json.dumps(recorded(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"written: {FILE.name}\n")
