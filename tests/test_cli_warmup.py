"""`gradwalk warmup`: what it prints, and that it keeps what it compiles."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradwalk.cli import main
from gradwalk.compile import warming
from gradwalk.compile.native import kept

pytestmark = pytest.mark.native


def test_it_compiles_what_is_missing_and_finds_it_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = [piece for piece in warming.pieces() if piece[0] in ("SGD", "op sin")]
    monkeypatch.setattr(warming, "pieces", lambda *, batches: wanted)
    assert main(["warmup", "--no-batches"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r" 1/2  op sin: \d+ compiled, \d+ loaded", lines[0])
    assert lines[-1].startswith("ready in")
    assert str(kept.folder()) in lines[-1]


def test_every_op_and_optimiser_is_among_the_pieces() -> None:
    names = [name for name, _ in warming.pieces()]
    assert len(names) == len(set(names))
    for name in ("op tanh", "op where", "activation relu", "SGD", "Adam", "batches in float32", "dense layers"):
        assert name in names
    assert not any("batches" in name for name, _ in warming.pieces(batches=False))


def test_warming_leaves_the_shared_generator_alone() -> None:
    import random

    before = random.getstate()
    for _ in warming.warm([piece for piece in warming.pieces() if piece[0] in ("dense layers", "activation tanh")]):
        pass
    assert random.getstate() == before


def test_help_explains_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warmup", "--help"]) == 0
    text = capsys.readouterr().out
    assert "--fresh" in text
    assert "milliseconds" in text


WITHOUT = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"{name} is not installed", name=name)
sys.meta_path.insert(0, Blocker())
from gradwalk.cli import main
raise SystemExit(main(["warmup"]))
"""


def test_without_numba_it_gives_the_pip_line() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=60, check=False, env={**os.environ}
    )
    assert run.returncode == 1
    assert 'needs numba: pip install "gradwalk[fast]"' in " ".join(run.stderr.split())
