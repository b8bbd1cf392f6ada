"""docs/doctor.md: its programs print what it says, and it knows every kind of finding."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradwalk.doctor.findings.ranking import CAUSES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```\n+```\n(.*?)^```", PAGE, flags=re.M | re.S)


@pytest.mark.parametrize(("program", "printed"), PROGRAMS)
def test_programs_print_what_the_page_says(program: str, printed: str, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(program, encoding="utf-8")
    run = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.stdout == printed, run.stderr


def test_there_are_programs_and_every_kind_is_told() -> None:
    assert len(PROGRAMS) == 2
    for kind in CAUSES:
        assert f"`{kind}`" in PAGE


def test_the_benchmark_runs(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "benchmarks/doctor.py",
        "--quick",
        "--repeats",
        "1",
        "--steps",
        "12",
        "--out",
        str(tmp_path),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "Watching a training" in run.stdout, run.stderr  # how long it takes is no matter for a test
    assert (tmp_path / "doctor.json").exists()
    for wrong in (["--repeats", "0"], ["--steps", "3"]):
        refused = subprocess.run(
            [sys.executable, "benchmarks/doctor.py", *wrong], cwd=ROOT, capture_output=True, text=True
        )
        assert refused.returncode == 2
