"""Drafts of killed saves are cleared away by the next; nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradwalk import drafts, errors, files, store


@pytest.mark.parametrize("save", [lambda p: store.write({"w": 1.0}, p), lambda p: files.write(p, b"content")])
def test_old_drafts_are_cleared_away_and_nothing_else(tmp_path: Path, save: object) -> None:
    drafts._clear.cache_clear()  # pytest may give two tests one folder, one after the other
    names = [".gradwalk-0123456789abcdef.tmp", ".gradwalk-0123456789abcdee.tmp", ".gradwalk-note.tmp", "mine.tmp"]
    for name in names:
        (tmp_path / name).write_text("draft")
    (tmp_path / ".gradwalk-0000000000000000.tmp").mkdir()
    (tmp_path / ".gradwalk-1111111111111111.tmp").symlink_to(tmp_path / "mine.tmp")
    for name in (names[0], names[2], names[3]):
        os.utime(tmp_path / name, (time.time() - 2 * drafts.OLD,) * 2)
    save(tmp_path / "model.json")  # type: ignore[operator]
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {
        *names[1:], ".gradwalk-0000000000000000.tmp", ".gradwalk-1111111111111111.tmp", "model.json"
    }  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="a process is stopped by a signal")
def test_a_killed_save_leaves_the_old_file_and_a_draft_that_goes_in_time(tmp_path: Path) -> None:
    script = """
import os, signal, sys
from gradwalk import store
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
store.write({"w": 2.0}, sys.argv[1])
"""
    path = tmp_path / "model.json"
    store.write({"w": 1.0}, path)
    run = subprocess.run([sys.executable, "-c", script, str(path)])
    assert run.returncode == -signal.SIGKILL
    assert store.read(path) == {"w": 1.0}
    (draft,) = tmp_path.glob(".gradwalk-*.tmp")
    os.utime(draft, (time.time() - 2 * drafts.OLD,) * 2)
    drafts._clear.cache_clear()
    store.write({"w": 3.0}, path)
    assert list(tmp_path.iterdir()) == [path]


def test_names_that_stand_twice_are_found_in_no_time(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    pairs = ", ".join([f'"w{i}": 1.0' for i in range(200_000)] + ['"w199999": 2.0'])
    path.write_text(f'{{"format": "gradwalk model", "version": 1, "parameters": {{{pairs}}}}}')
    began = time.process_time()
    with pytest.raises(errors.ModelFileError, match="'w199999' stands in it twice"):
        store.read(path)
    assert time.process_time() - began < 5.0  # it was quadratic: six minutes
