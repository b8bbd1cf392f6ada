"""Drawings through Graphviz. Where it is missing, what it is told and would answer is tested all the same."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from test_draw import NASTY, walked
from test_draw_layout import check_that_all_is_clear
from test_layout import mlp_loss

from gradwalk import Value, draw
from gradwalk.drawing import graphviz
from gradwalk.drawing.by_node import scene_by_node
from gradwalk.errors import GraphError, MissingExtraError

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")

#: What Graphviz 2.43 answers for a * a, left to right.
ANSWER = """graph 1 3.8333 1.0972
node n0 0.63889 0.54861 1.2778 1.0972 "" solid box black lightgrey
node n1 2.9375 0.54861 1.7917 0.79167 "" solid box black lightgrey
edge n0 n1 4 1.2778 0.54861 1.5 0.7 1.8 0.7 2.0417 0.54861 solid black
edge n0 n1 4 1.2778 0.54861 1.5 0.4 1.8 0.4 2.0417 0.54861 solid black
stop
"""


def fake_dot(folder: Path, script: str) -> None:
    program = folder / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_without_graphviz_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    drawing = draw(Value(1.0) * 2, engine="graphviz")
    assert drawing.source.startswith("digraph")
    with pytest.raises(MissingExtraError, match=r"needs the program dot .*apt-get install graphviz.*leave engine out"):
        _ = drawing.svg


def test_its_answer_becomes_places_and_two_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(ANSWER)
    fake_dot(tmp_path, f'cat > "{tmp_path}/asked"; cat "{tmp_path}/answer"')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    a = Value(3.0, label="a")
    drawing = draw(a * a, engine="graphviz", locals=True)
    first, second = drawing.layout.wires
    assert first.path != second.path
    assert drawing.layout.places[0].x == pytest.approx(0.0, abs=0.1)
    assert drawing.layout.places[1].op is not None
    ET.fromstring(drawing.svg)
    asked = (tmp_path / "asked").read_text()
    assert asked.count("n0:e -> n1:w") == 2
    assert "fixedsize=true" in asked


def test_a_graphviz_that_fails_or_hangs_is_told_about(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    fake_dot(tmp_path, "echo 'out of luck' >&2; exit 1")
    with pytest.raises(GraphError, match="could not lay the graph out: out of luck"):
        _ = draw(Value(1.0), engine="graphviz").svg
    fake_dot(tmp_path, "exec sleep 30")
    monkeypatch.setattr(graphviz, "PATIENCE", 0.2)
    with pytest.raises(GraphError, match=r"took more than 0\.2 seconds"):
        _ = draw(Value(1.0), engine="graphviz").svg


@needs_dot
@pytest.mark.parametrize("rankdir", ["LR", "TB"])
def test_the_real_one_lays_graphs_out(rankdir: str) -> None:
    for root in (walked("neuron"), walked("two-uses"), walked("a-times-a"), mlp_loss()):
        drawing = draw(root, engine="graphviz", rankdir=rankdir, locals=True, heat=True)
        ET.fromstring(drawing.svg)
        assert len(drawing.layout.wires) == len(drawing.scene.lines)
    check_boxes = draw(mlp_loss(), engine="graphviz", rankdir=rankdir)
    check_boxes.layout.__dict__["wires"] = ()  # its curves may touch a corner; its boxes must be clear of each other
    check_that_all_is_clear(check_boxes)


@needs_dot
def test_the_real_one_reads_our_source_and_shows_the_same_words() -> None:
    for label in NASTY:
        drawing = draw(Value(3.0, (Value(2.0, label=label),), label or "op", label=label), locals=True)
        run = subprocess.run(["dot", "-Tsvg"], input=drawing.source.encode(), capture_output=True, timeout=60)
        assert run.returncode == 0
        assert b"syntax error" not in run.stderr
        words = [re.sub(r"\s+", " ", text).strip() for text in ET.fromstring(run.stdout).itertext()]
        shown = re.sub(r"\s+", " ", drawing.scene.boxes[0].label).strip()
        assert shown in words or not shown


def test_sizes_that_graphviz_is_told_leave_room_for_the_op() -> None:
    scene = scene_by_node([Value(2.0).tanh()])
    flat, tall = graphviz.question(scene, "LR"), graphviz.question(scene, "TB")
    wide = [float(x) for x in re.findall(r"width=([\d.]+)", flat)]
    high = [float(x) for x in re.findall(r"height=([\d.]+)", tall)]
    assert wide[1] > wide[0] + 0.4
    assert high[1] > high[0] + 0.4
