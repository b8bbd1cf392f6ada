"""The guards of the tests: a run that writes into its home, or leaves something in the temporary folder, fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from mutants_equivalent import EQUIVALENT

ROOT = Path(__file__).resolve().parents[1]
CLEAN = """
import os, tempfile
def test_it(tmp_path):
    (tmp_path / "x").write_text("x")
    with tempfile.TemporaryFile():
        print("HOME", os.environ["HOME"])
"""
UNTIDY = """
import pathlib, tempfile
def test_it():
    pathlib.Path("~/in-the-home").expanduser().write_text("x")
    tempfile.mkdtemp(prefix="left-over-")
"""

HELD = """
import asyncio, pytest
@pytest.fixture(scope="session", autouse=True)
def held():  # as Playwright does while a browser is open
    loop = asyncio.new_event_loop()
    asyncio._set_running_loop(loop)
    yield
    asyncio._set_running_loop(None)
    loop.close()
def test_it():
    asyncio.run(asyncio.sleep(0))
@pytest.mark.browser
def test_it_is_there():
    assert asyncio._get_running_loop() is not None
"""


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A run of its own, in a checkout that has nothing but these tests and our conftest.py."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_XDIST", "PYTEST_ADDOPTS"))
    }
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:xdist", "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_a_run_that_writes_where_it_should_not_fails_and_says_what(tmp_path: Path) -> None:
    done = run(tmp_path, UNTIDY)
    assert done.returncode == 1, done.stdout
    assert "1 passed" in done.stdout  # it is the run that fails
    assert "written into the home folder" in done.stdout
    assert "in-the-home" in done.stdout
    assert "left in the temporary folder" in done.stdout
    assert "left-over-" in done.stdout
    assert not list((tmp_path / "out/tests/homes").iterdir())
    assert not [path for path in Path(tempfile.gettempdir()).iterdir() if path.name.startswith("left-over-")]


@pytest.mark.slow
def test_each_run_has_a_home_of_its_own_and_takes_it_away(tmp_path: Path) -> None:
    homes = []
    for _ in range(2):
        done = run(tmp_path, CLEAN)
        assert done.returncode == 0, done.stdout
        homes += [line.split()[1] for line in done.stdout.splitlines() if line.startswith("HOME ")]
    assert len(set(homes)) == 2
    assert not list((tmp_path / "out/tests/homes").iterdir())


def test_mutants_that_do_not_count_are_of_lines_that_are_there() -> None:
    for path, line, _ in EQUIVALENT:
        source = " ".join(text.strip() for text in (ROOT / path).read_text(encoding="utf-8").splitlines())
        assert line in source, path


@pytest.mark.slow
def test_a_test_may_call_asyncio_though_a_browser_is_open(tmp_path: Path) -> None:
    done = run(tmp_path, HELD)
    assert "2 passed" in done.stdout, done.stdout
