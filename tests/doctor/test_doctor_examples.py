"""`gradwalk doctor` on the programs in examples/: healthy ones, and one that runs away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def doctor(*arguments: Any, folder: Path, check: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradwalk", "doctor", *map(str, arguments)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert run.returncode == check, run.stdout + run.stderr
    return run


@pytest.mark.parametrize(
    ("script", "arguments", "code", "words"),
    [
        ("xor.py", ["--steps", "60"], 0, "looked at model: 17 parameters; 60 steps"),
        ("linear_regression.py", [], 0, "looked at intercept, slope: 2 parameters; 101 steps"),
        ("linear_regression.py", ["--lr", "1.2"], 1, "1  ERROR  the learning rate of 1.2 overshoots"),
        ("moons.py", ["--steps", "6", "--samples", "20", "--out", "moons.png"], 0, "337 parameters; 6 steps"),
        ("gpt.py", ["--steps", "4", "--samples", "1", "--width", "8"], 0, "parameters; 4 steps"),
    ],
)
def test_the_examples(script: str, arguments: list[str], code: int, words: str, tmp_path: Path) -> None:
    run = doctor(EXAMPLES / script, *arguments, folder=tmp_path, check=code)
    assert words in run.stdout.replace("\n          ", " ")
    assert "Traceback" not in run.stderr


def test_the_demo(tmp_path: Path) -> None:
    run = doctor(EXAMPLES / "demo.py", "--steps", "2", "--out", tmp_path, folder=tmp_path, check=0)
    assert "doctor: nothing found" in run.stdout
    assert "looked at training: 337 parameters; 2 steps" in run.stdout
