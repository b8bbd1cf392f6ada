"""The report: its numbers add up, and its drawing shows the structure of a network."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import gpt
import pytest

import gradwalk
from gradwalk import nn
from gradwalk.errors import SettingError


def network() -> Any:
    random.seed(3)
    model = nn.MLP(2, [16, 16, 1])
    f = gradwalk.compile(lambda X, y: nn.hinge([model(x) for x in X], y))
    f([[0.1 * i, 0.3] for i in range(50)], [(-1) ** i for i in range(50)]).backward()
    return f


def test_the_text_tells_nodes_steps_memory_and_times() -> None:
    f = network()
    text = str(f.report())
    first, *rest = text.splitlines()
    assert first == "<lambda>: 1 trace, 1 call"
    tape = f.traces()[0].recorded.tape
    assert f"{tape.rows:,} nodes rolled up into" in text
    assert "337 parameters, 150 inputs" in text
    assert "matrix product  16 × 16 × 50" in text
    for word in ("traced", "analysis", "ms", "kB", "native code in this process", "relu"):
        assert word in text
    assert all(line == line.rstrip() for line in rest)


def test_every_node_is_in_a_step() -> None:
    trace = network().traces()[0]
    assert sum(step.nodes for step in trace.prepared.program.steps) == trace.recorded.tape.rows


def test_the_drawing_shows_products_and_activations_in_turn(tmp_path: Path) -> None:
    drawing = network().report().draw()
    labels = [box.label for box in drawing.scene.boxes]
    assert labels[0] == "inputs"
    assert labels.count("matrix product") == 3
    assert labels.count("relu") == 3
    edges = {(labels[line.source], labels[line.target]) for line in drawing.scene.lines}
    assert {("inputs", "matrix product"), ("matrix product", "relu"), ("relu", "matrix product")} <= edges
    assert all(line.source < line.target for line in drawing.scene.lines)
    ET.fromstring(drawing.svg)
    assert drawing.save(tmp_path / "network.png").stat().st_size > 1000
    assert "16 × 16 × 50 · 272 parameters" in drawing.svg


def test_a_gpt_can_be_told_and_drawn() -> None:
    names = ["ada", "bea", "bo"]
    vocabulary = gpt.Vocabulary.of(names)
    parameters = gpt.make_parameters(gpt.Config(len(vocabulary), width=8, heads=2, block=6))
    f = gradwalk.compile(gpt.loss)
    for name in names:
        f(parameters, vocabulary.encode(name))
    report = f.report()
    assert str(report).splitlines()[0] == "loss: 2 traces, 3 calls"
    assert "take" in str(report)
    assert "indices" in str(report)
    ET.fromstring(report.draw(1, rankdir="TB", theme="dark").svg)
    assert set(report._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_graph_without_structure_says_so() -> None:
    w = gradwalk.Value(0.9)

    def chain(x: Any) -> Any:
        for i in range(300):
            x = (x * w).tanh() if i % 3 else (x + w).sin() * 1.1
        return x

    f = gradwalk.compile(chain)
    f(0.5)
    assert "runs node by node" in str(f.report())
    assert f.report().draw().summary.endswith("rolled up into 1 step")


def test_before_the_first_call_and_beyond_the_last_trace() -> None:
    f = gradwalk.compile(lambda x: x)
    assert "nothing has been traced yet" in str(f.report())
    assert set(f.report()._repr_mimebundle_()) == {"text/plain"}
    with pytest.raises(SettingError, match="there are 0 traces"):
        f.report().draw()
    with pytest.raises(SettingError, match="rankdir"):
        network().report().draw(rankdir="up")
    with pytest.raises(SettingError, match="theme"):
        network().report().draw(theme="sepia")


def test_batches_and_many_traces_are_told_too() -> None:
    w = gradwalk.Value(1.0)
    batched = gradwalk.compile(lambda x: w * x, batch="mean")
    batched([1.0, 2.0])
    assert "1 node rolled up" in str(batched.report())
    f = gradwalk.compile(lambda xs: sum(xs), cache=10)
    for n in range(1, 13):
        f([1.0] * n)
    text = str(f.report())
    assert "10 traces" in text
    assert "2 traces made room for others" in text
    assert "… and 2 more traces" in text
