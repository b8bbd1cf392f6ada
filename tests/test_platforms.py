"""What can be proved here of systems that are not here: names, encodings, newlines, missing modules, processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import gradwalk
from gradwalk import diagnose, nn, store
from gradwalk.diagnose import teaching

ROOT = Path(__file__).resolve().parents[1]
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def ours() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no checkout of git's")
    return listed.stdout.split("\0")[:-1]


def test_every_file_can_have_its_name_on_windows_and_macos() -> None:
    names = ours()
    same = [name for name, count in Counter(name.casefold() for name in names).items() if count > 1]
    assert same == [], "names that differ in case alone are one file on macOS and Windows"
    for name in names:
        assert len(name) < 150
        for part in name.split("/"):
            assert not RESERVED.fullmatch(part), name
            assert not re.search(r'[<>:"|?*\\\x00-\x1f]', part), name
            assert not part.endswith((" ", ".")), name


USE = """
import json, sys, tempfile
from pathlib import Path
import gradwalk
from gradwalk import Value, draw_dot, nn
from gradwalk.diagnose import grade, teaching
from gradwalk.learn.built_site import export_site
with tempfile.TemporaryDirectory() as place:
    folder = Path(place)
    model = nn.MLP(2, [2, 1])
    model.save(folder / "model.json")
    model.load(folder / "model.json")
    out = Value(2.0, label="\\u00df\\u2212") * Value(3.0)
    for ending in ("svg", "dot", "html"):
        draw_dot(out).save(folder / f"graph.{ending}")
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("\\u00fc", encoding="utf-8")
    export_site(folder / "public", folder / "site")
    assert grade(teaching.SOURCE, checks=["a-plus-a"]).passed
    print(gradwalk.explain(out))
"""


def run(code: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, encoding="utf-8"
    )


def test_no_text_is_read_or_written_in_the_systems_own_encoding() -> None:
    done = run(USE, "-X", "warn_default_encoding", "-W", "error::EncodingWarning", PYTHONIOENCODING="utf-8")
    assert done.returncode == 0, done.stderr


def test_it_works_where_the_system_writes_ascii_only() -> None:
    done = run(USE, "-X", "utf8=0", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="utf-8")
    assert done.returncode == 0, done.stderr


def test_it_needs_no_module_that_windows_does_not_have() -> None:
    missing = ["fcntl", "grp", "posix_ipc", "pwd", "readline", "resource", "syslog", "termios", "tty"]
    done = run(f"import sys\nsys.modules.update(dict.fromkeys({missing}))\n" + USE, PYTHONIOENCODING="utf-8")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_may_end_as_on_windows(tmp_path: Path, newline: str) -> None:
    text = newline.join(["a = 2", "b = a * 3", "L = b + a"])
    assert gradwalk.program(text).root.data == 8.0
    path = tmp_path / "model.json"
    store.write({"w": 0.1, "b": -2.0}, path)
    path.write_bytes(path.read_bytes().replace(b"\n", newline.encode()))
    assert store.read(path) == {"w": 0.1, "b": -2.0}
    wrong = teaching.SOURCE.replace("+=", "=")
    report = diagnose.grade(wrong.replace("\n", newline), checks=["a-plus-a"])
    assert not report.passed
    assert "\r" not in report.text()


def test_what_we_write_has_the_same_lines_everywhere(tmp_path: Path) -> None:
    nn.Neuron(2).save(tmp_path / "model.json")
    assert b"\r" not in (tmp_path / "model.json").read_bytes()
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["version"] == 1


def test_paths_may_be_texts_or_paths_and_hold_anything_a_system_allows(tmp_path: Path) -> None:
    for name in ("with space.json", "ünïcödé.json", "a'b\"c.json" if os.name != "nt" else "a'b.json", "-dash.json"):
        for path in (tmp_path / name, str(tmp_path / name)):
            store.write({"w": 1.0}, path)
            assert store.read(path) == {"w": 1.0}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".gradwalk")]
