from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


def demo(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, str(DEMO), *arguments], capture_output=True, text=True, encoding="utf-8", cwd=cwd, env=env,
        timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("demo")
    return demo("--steps", "4", cwd=folder), folder


def test_it_runs_and_fits_a_terminal_of_80_columns(ran: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, _ = ran
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not re.search(r"^\S+$", done.stdout.replace("\nprints\n", ""), re.MULTILINE), "no line spills a word"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout)
    assert [int(number) for number in re.findall(r"^(\d)  [A-Z].*─$", done.stdout, re.MULTILINE)] == [1, 2, 3]


def test_the_ten_lines_print_what_they_should(ran: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    text = ran[0].stdout
    assert "loss = (a * b + c) ** 2" in text
    assert "loss 16.0  gradients -24.0 16.0 8.0" in text  # 4², and 2 · 4 times b, a and 1
    assert "loss 15.1136  after the step" in text


def test_the_walk_is_told_with_its_numbers(ran: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    told = [re.sub(r" {2,}", "   ", line.strip()) for line in ran[0].stdout.splitlines()]
    walk = told[told.index("a = 2   b = −3   c = 10   f = −2") :]
    assert walk[1:4] == ["e = a × b = 2 × −3 = −6", "d = e + c = −6 + 10 = 4", "L = d × f = 4 × −2 = −8"]
    assert [line for line in walk if line.startswith("seed")] == ["seed   L.grad = ∂L/∂L = 1"]
    assert [line for line in walk if "+=" in line] == [
        "d.grad += L.grad × ∂L/∂d = 1 × −2 = −2   (before: nothing, after: −2)",
        "f.grad += L.grad × ∂L/∂f = 1 × 4 = 4   (before: nothing, after: 4)",
        "e.grad += d.grad × ∂d/∂e = −2 × 1 = −2   (before: nothing, after: −2)",
        "c.grad += d.grad × ∂d/∂c = −2 × 1 = −2   (before: nothing, after: −2)",
        "a.grad += e.grad × ∂e/∂a = −2 × −3 = 6   (before: nothing, after: 6)",
        "b.grad += e.grad × ∂e/∂b = −2 × 2 = −4   (before: nothing, after: −4)",
    ]
    visits = [re.match(r"visit   (\w)   its gradient, (\S+), is final", line) for line in walk]
    assert {v[1]: v[2] for v in visits if v} == {"L": "1", "d": "−2", "e": "−2"}, "leaves push nothing: no visit"
    assert any("fills in the same numbers" in line for line in walk)
    assert "a.grad = 6   b.grad = −4   c.grad = −2   f.grad = 4" in walk


def test_it_trains_and_names_its_pictures(ran: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, folder = ran
    assert "step 4/4   loss" in done.stdout
    for name in ("loss.png", "boundary.png"):
        assert (folder / "out" / "demo" / name).read_bytes().startswith(b"\x89PNG")
        assert str(Path("out/demo") / name) in done.stdout


def test_the_pictures_go_where_one_says(tmp_path: Path) -> None:
    done = demo("--steps", "1", "--out", "deep/down", cwd=tmp_path)
    assert done.returncode == 0
    assert sorted(path.name for path in (tmp_path / "deep" / "down").iterdir()) == ["boundary.png", "loss.png"]


def test_a_folder_that_cannot_be_made_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = demo("--out", "file/out", cwd=tmp_path)
    assert done.returncode == 1
    assert re.match(r"demo: .*file/out.*\n$", done.stderr)
    assert done.stdout == ""


def test_a_wrong_number_of_steps_is_said(tmp_path: Path) -> None:
    done = demo("--steps", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "--steps: '0' is too small" in done.stderr
