"""What mypy says of a user's script: tensors go wherever Values go, and a function of tensors gives one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import gradwalk
from gradwalk import Tensor, Value, losses, nn, optim
from gradwalk.check import gradcheck

W, b = Tensor([[1.0, 2.0], [3.0, 4.0]]), gradwalk.zeros(2)
x = gradwalk.randn(3, 2)


def f(t: Tensor) -> Tensor:
    return ((x @ t + b).relu() * 2.0 - 1).tanh().sum()


def rows(t: Tensor) -> Tensor:
    mask = (t > 0) & (t == 1.0)
    return t.masked_fill(mask, 0.5)[0, :1].reshape(-1).softmax(0) + t.exp().log().mean(0, keepdim=True).sum()


@gradwalk.compile
def step(X: Tensor) -> Tensor:
    return (X @ W + b).sum()


f(W).backward()
step(x).backward()
rows(W)
adam = optim.Adam([W, b], 1e-3)
adam.step()
adam.zero_grad()
optim.SGD([W, Value(1.0)], lr=0.1)
optim.clip_grad_norm([W, b], 1.0)
optim.clip_grad_value([W], 1.0)
gradwalk.zero_grad([W, b])
model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))
optim.AdamW(model.parameters(), lr=0.1)
losses.cross_entropy(model(x), Tensor([0, 1, 0])).backward()
gradwalk.cross_entropy(x @ W, Tensor([0, 1, 0])).backward()
gradwalk.grad(f)(W)
gradwalk.value_and_grad(f)(W)
gradwalk.jacobian(rows)(W)
gradcheck(f, [W])
number: float = f(W).item()
shape: tuple[int, ...] = W.shape
for layer in (nn.Embedding(4, 2), nn.BatchNorm1d(2), nn.LayerNorm(2), nn.Dropout(0.5)):
    layer.parameters()
W.register_hook(lambda gradient: gradient * 2)
gradwalk.where(gradwalk.cat([W, W], 0) > 0, gradwalk.stack([W, W]).reshape(4, 2), 0.0)
"""


def mypy(script: str, folder: Path) -> str:
    """What it says of a script, read strictly."""
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    settings = ["--strict", "--config-file=", "--cache-dir", str(folder / "cache"), "--follow-imports=silent"]
    run = subprocess.run([sys.executable, "-m", "mypy", *settings, str(path)], capture_output=True, text=True)
    return run.stdout


@pytest.mark.slow
def test_a_script_of_tensors_passes_a_strict_type_check(tmp_path: Path) -> None:
    assert "Success" in (said := mypy(SCRIPT, tmp_path)), said
    wrong = "from gradwalk import Tensor, optim\noptim.Adam([3.0], 0.1)\nx: str = Tensor([1.0]).sum()\n"
    assert "Found 2 errors" in (said := mypy(wrong, tmp_path)), said
    exec(SCRIPT, {"__name__": "script"})
