"""`gradwalk sweep`: a grid with seeds, run side by side, as a table, a plot and a model; and what is refused."""

from __future__ import annotations

import csv
import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradwalk import nn, plot
from gradwalk.cli import main
from gradwalk.errors import SettingError
from gradwalk.parallel.sweeps import Run, function_at, grid_of, summaries

SCRIPT = """
import random
from gradwalk import nn
import beside

CALLS = []

def train(lr, hidden=2, seed=0):
    if hidden == 3:
        raise ValueError("three is unlucky")
    model = nn.MLP(1, [hidden, 1])
    losses = [lr * hidden + beside.more(seed), lr * hidden]
    return {"loss": losses, "model": model, "drawn": random.random()}

def plain(lr):
    return lr

def wrong(lr):
    return "low"

def bare():
    return 1.0

class Trainer:
    pass
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("def more(seed):\n    return 1.0 + seed\n")
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("script", "beside"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_leaves_tables_plots_and_the_best_model(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["sweep", "script.py:train", "--grid", "lr=0.5,0.1", "hidden=2,4", "--seeds", "2", "--workers", "1"]) == 0
    )
    shown = capsys.readouterr().out
    assert "training 8/8" in shown
    assert [(row["lr"], row["hidden"], row["runs"]) for row in rows(Path("sweep/table.csv"))] == [
        ("0.1", "2", "2"), ("0.1", "4", "2"), ("0.5", "2", "2"), ("0.5", "4", "2"),
    ]  # fmt: skip
    runs = rows(Path("sweep/runs.csv"))
    assert [(row["seed"], row["loss"]) for row in runs[:2]] == [("0", "1.0"), ("1", "1.0")]
    assert len({row["drawn"] for row in runs}) == 8
    assert len(json.loads(Path("sweep/best.json").read_text())) > 0
    nn.MLP(1, [2, 1]).load("sweep/best.json")
    for name in ("curves.png", "heat.png"):
        assert Path("sweep", name).read_bytes().startswith(b"\x89PNG")
        assert name in shown


def test_a_second_sweep_finds_what_is_done_unless_the_code_has_changed(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", "script.py:train", "--grid", "lr=0.5,0.1", "--workers", "1"]
    assert main(command) == 0
    first = rows(Path("sweep/runs.csv"))
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("training 2/2\n")
    assert rows(Path("sweep/runs.csv")) == first
    Path("beside.py").write_text("def more(seed):\n    return 2.0 + seed\n")
    del sys.modules["beside"]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("training 0/2\n")
    assert main([*command, "--fresh"]) == 0
    assert capsys.readouterr().out.startswith("training 0/2\n")


def test_failures_are_told_once_a_kind_and_counted(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", "script.py:train", "--grid", "lr=0.5", "hidden=2,3", "--seeds", "3", "--workers", "1"]
    assert main(command) == 1
    shown = capsys.readouterr().out
    assert "failed lr 0.5 hidden 3 seed 0 and 2 more" in shown
    assert shown.count("three is unlucky\n") == 1
    assert 'raise ValueError("three is unlucky")' in shown
    assert [row["failed"] for row in rows(Path("sweep/table.csv"))] == ["0", "3"]
    assert rows(Path("sweep/runs.csv"))[3]["error"] == "ValueError: three is unlucky"


def test_what_a_function_may_return(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "script.py:plain", "--grid", "lr=0.5,0.25", "--workers", "1"]) == 0
    assert [row["mean"] for row in rows(Path("sweep/table.csv"))] == ["0.25", "0.5"]
    assert main(["sweep", "script.py:bare", "--workers", "1"]) == 0
    assert main(["sweep", "script.py:wrong", "--grid", "lr=1", "--workers", "1"]) == 1
    assert "returns its loss, a list of losses, or a dict" in capsys.readouterr().out
    diverged = summaries([Run.of({"lr": 1, "seed": s}, loss) for s, loss in enumerate((1.0, math.inf))])
    assert math.isnan(diverged[0].mean)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["script.py"], "name a script and a function"),
        (["nowhere.py:train"], "there is no file nowhere.py"),
        (["script.py:trains"], "it has train, plain, wrong, bare"),
        (["script.py:Trainer"], "no function Trainer"),
        (["script.py:train", "--grid", "lr"], "settings with values"),
        (["script.py:train", "--grid", "lr="], "settings with values"),
        (["script.py:train", "--grid", "lr=1", "lr=2"], "lr twice"),
        (["script.py:train", "--grid", "lr=1,1"], "the same value twice"),
        (["script.py:train", "--grid", "lr=1", "depth=2"], "cannot be called with depth: it takes lr, hidden, seed"),
        (["script.py:train"], "cannot be called without lr"),
        (["script.py:train", "--grid", "lr=1", "seed=1"], "--seeds"),
        (["script.py:train", "--grid", "lr=1", "--out", "script.py"], "cannot write to script.py"),
        (["script.py:train", "--grid", "lr=1", "--address", "tcp://a:1"], "name its kind"),
    ],
)
def test_a_wrong_command_is_refused_before_anything_runs(
    script: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["sweep", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_script_that_stops_is_said(script: Path) -> None:
    Path("broken.py").write_text("1 / 0\n")
    with pytest.raises(SettingError, match=r"broken.py stops with ZeroDivisionError"):
        function_at("broken.py:train")
    assert grid_of(["a=1e-3,none,-2"]) == {"a": [0.001, None, -2]}


@pytest.mark.slow
def test_two_sweeps_in_one_folder_and_ctrl_c(script: Path) -> None:
    Path("slow.py").write_text(
        "import time\ndef train(lr):\n    time.sleep(0 if lr < 3 else 60)\n    return float(lr)\n"
    )
    command = [sys.executable, "-m", "gradwalk", "sweep", "slow.py:train", "--grid", "lr=1,2,3", "--workers", "2"]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        deadline = time.monotonic() + 60
        while len(list(Path("sweep/runs").glob("*.job"))) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        first.send_signal(signal.SIGINT)
        _, errors = first.communicate(timeout=30)
    finally:
        first.kill()
        first.communicate()
    assert second.returncode == 2
    assert "another sweep is writing to sweep" in second.stderr
    assert first.returncode == 130
    assert "2 finished runs are kept" in errors
    assert not list(Path().glob("sweep/.gradwalk*"))


def test_pictures_refuse_what_they_cannot_draw() -> None:
    with pytest.raises(SettingError, match="no loss to draw"):
        plot.loss_bands([])
    with pytest.raises(SettingError, match="no loss to draw"):
        plot.loss_bands([("a", [[]])])
    with pytest.raises(SettingError, match="2 by 1 cells"):
        plot.heat_map([[1.0]], ("a", [1, 2]), ("b", [1]))
    figure = plot.loss_bands([(str(i), [[1.0, 0.001]]) for i in range(8)])
    assert figure.texts[-1].get_text() == "and 2 more settings"
    assert figure.axes[0].get_yscale() == "log"
