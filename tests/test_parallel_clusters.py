"""`parallel.map` on real clusters: a Dask scheduler with workers in processes of their own, and a Ray."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from test_parallel import training

import gradwalk
from gradwalk import parallel
from gradwalk.cli import main
from gradwalk.diagnose import teaching
from gradwalk.errors import SettingError
from gradwalk.parallel import backends

pytestmark = pytest.mark.slow


@contextmanager
def cluster(folder: Path, environments: list[dict[str, str]]) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and one worker for each environment; gives the address and the workers."""
    file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    common: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        **common,
    )
    options = [
        "--no-dashboard",
        "--nthreads",
        "1",
        "--no-nanny",
        "--host",
        "127.0.0.1",
        "--local-directory",
        str(folder),
    ]
    workers = [
        subprocess.Popen(
            [*dask, "worker", "--scheduler-file", str(file), *options], env={**os.environ, **environment}, **common
        )
        for environment in environments
    ]
    try:
        deadline = time.monotonic() + 60
        while not (file.exists() and (found := re.search(r'"address": "(tcp://127[^"]+)"', file.read_text()))):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield found[1], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """One cluster for the tests that can do with any; one of its workers may have died."""
    with cluster(tmp_path_factory.mktemp("cluster"), [{}, {}]) as started:
        yield started


def slowly(x: int) -> tuple[int, int]:
    time.sleep(0.2)
    return x, os.getpid()


def test_dask_gives_what_one_process_gives_and_survives_the_death_of_a_worker(
    two_workers: tuple[str, list[subprocess.Popen[bytes]]],
) -> None:
    settings = parallel.grid(lr=[0.1, 0.01], hidden=[2, 3])
    address, workers = two_workers
    assert parallel.map(training, settings, backend="dask", address=address) == parallel.map(
        training, settings, workers=1
    )
    victim = workers[0]
    threading.Timer(0.6, victim.send_signal, [signal.SIGKILL]).start()
    results = parallel.map(slowly, range(12), backend="dask", address=address)
    assert [x for x, _ in results] == list(range(12))
    assert workers[1].pid in {pid for _, pid in results}
    assert victim.wait(10) == -signal.SIGKILL
    with pytest.raises(ZeroDivisionError), _told_once():  # Ctrl-C and the like leave no job behind
        parallel.map(slowly, range(300), backend="dask", address=address, progress=_interrupting)
    assert parallel.map(slowly, [1], backend="dask", address=address, time_limit=10)[0][0] == 1


@contextmanager
def _told_once() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 30  # all jobs would take a minute


def _interrupting(done: int, failed: int, total: int) -> None:
    if done:
        raise ZeroDivisionError


def test_a_worker_with_another_version_is_refused_by_name(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    source = Path(gradwalk.__file__).parent
    shutil.copytree(source, elsewhere / "gradwalk", ignore=shutil.ignore_patterns("site", "built", "__pycache__"))
    front = elsewhere / "gradwalk" / "__init__.py"
    front.write_text(front.read_text().replace(f'"{gradwalk.__version__}"', '"0.0.7"'))
    with cluster(tmp_path, [{"PYTHONPATH": str(elsewhere)}]) as (address, _):
        (result,) = parallel.map(slowly, [1], backend="dask", address=address, failures="return")
    assert result.error == "VersionMismatch"
    assert "gradwalk 0.0.7" in result.message
    assert gradwalk.__version__ in result.message


def test_a_class_is_graded_on_a_cluster_as_it_is_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], two_workers: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    handed_in = tmp_path / "submissions"
    (handed_in / "grace").mkdir(parents=True)
    (handed_in / "ada.py").write_text(teaching.SOURCE)
    wrong = teaching.SOURCE.replace("self.grad += out.grad", "self.grad = out.grad")
    (handed_in / "grace" / "engine.py").write_text(wrong)
    (handed_in / "linus.txt").write_text("I was ill")
    (handed_in / "broken.py").write_text("class Value:\n    def backward(self other): ...")
    tables = []
    for name, more in (("here", []), ("there", ["--backend", "dask", "--address", two_workers[0]])):
        assert main(["grade", str(handed_in), "--out", str(tmp_path / name), *more]) == 1, capsys.readouterr()
        tables.append((tmp_path / name / "grades.csv").read_text())
    assert tables[0] == tables[1]
    assert "ada" in tables[0]


@pytest.mark.parametrize("words", [["--address", "tcp://a:1"], ["--backend", "dask", "--sandbox"]])
def test_options_that_do_not_go_together_are_refused(tmp_path: Path, words: list[str]) -> None:
    assert main(["grade", str(tmp_path), *words]) == 2


def test_nobody_at_the_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "PATIENCE", "1s")
    with pytest.raises(SettingError, match="no Dask scheduler answers at tcp"):
        parallel.map(slowly, [1], backend="dask", address="tcp://127.0.0.1:9")


RAY = """
import os, signal, sys, time
from pathlib import Path
from gradwalk import parallel
mark = Path(sys.argv[1])
def job(x):
    if x == 1:
        raise ValueError("one")
    if x == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x
results = parallel.map(job, range(4), backend="ray", workers=2, failures="return")
print([r if isinstance(r, int) else r.error for r in results])
"""


def test_ray_gives_results_names_failures_and_survives_the_death_of_a_worker(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(RAY)
    command = [sys.executable, str(script), str(tmp_path / "mark")]
    home = {**os.environ, "HOME": str(tmp_path)}  # Ray writes into it
    try:
        done = subprocess.run(command, env=home, capture_output=True, text=True, timeout=200, check=True)
    finally:
        shutil.rmtree(Path(tempfile.gettempdir()) / "ray", ignore_errors=True)  # it keeps a folder for each session
    assert done.stdout.splitlines()[-1] == "[0, 'ValueError', 4, 9]"
