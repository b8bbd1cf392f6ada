"""Walks over tensors as the page and the notebooks get them: heat maps, words, faces, and the graph of one number."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from ipywidgets import Widget as IpyWidget  # type: ignore[import-untyped]
from learn.in_node import in_node
from learn.in_page import gradients_of

import gradwalk
from gradwalk import Tensor, using_arrays, walk
from gradwalk.errors import GraphError, SettingError
from gradwalk.explain.views import MOST_EXACT, map_of, recorded, view_of
from gradwalk.learn.page import programs
from gradwalk.stepper import faces
from gradwalk.walk import Recording
from gradwalk.walk.heat_maps import heat_map, short
from gradwalk.walk.many import Many


def network() -> Any:
    X = Tensor([[1.0, 2.0, -1.0], [0.5, -2.0, 3.0]], requires_grad=False, label="X")
    W, b = Tensor([[0.5, -1.0], [1.0, 0.1], [-0.7, 0.8]], label="W"), Tensor([0.1, -0.2], label="b")
    h = (X @ W + b).tanh()
    return (h * h).mean() + 0.5


#: One at least of each kind of op, shape and oddity.
ROOTS: dict[str, Any] = {
    "network": network,
    "one number": lambda: Tensor(1.5, label="s") * 2.0,
    "nan and inf": lambda: (Tensor([[1.0, -2.0], [0.0, 3.0]], label="x").log() * 2.0).sum(),
    "minus": lambda: (Tensor([1.0, 2.0], label="x") - Tensor([[1.0], [2.0]], label="y")).sum(),
    "max": lambda: Tensor([[1.0, 5.0], [5.0, 2.0]], label="x").max() * Tensor(2.0, label="s"),
    "vectors": lambda: Tensor([1.0, 2.0], label="x") @ Tensor([3.0, -4.0], label="y"),
    "rows": lambda: (Tensor([[1.0, 2.0], [3.0, 4.0]], label="x")[[0, 0, 1]] ** 2).sum(),
    "structure": lambda: gradwalk.cat([gradwalk.ones(2, 3), gradwalk.ones(1, 3)]).cumsum(0).reshape(-1)[3:7].sum(),
    "turned": lambda: gradwalk.pad(Tensor([[1.0, 2.0]], label="x"), [1, 1]).permute(1, 0).expand(2, 4, 1).sum(),
    "einsum": lambda: gradwalk.einsum("ij,kj->", Tensor([[1.0, 2.0]], label="x"), Tensor([[3.0, 4.0]], label="y")),
    "blocks": lambda: (gradwalk.ones(2, 2, 3) @ gradwalk.ones(3, 2)).sum(),
    "empty": lambda: gradwalk.zeros(0, 3).sum() + Tensor(1.0, label="s"),
    "large": lambda: (gradwalk.arange(0.0, 250 * 120).reshape(250, 120) * 2.0).sum(),
    "long": lambda: (gradwalk.arange(-4.0, 5.0) * gradwalk.zeros(9)).sum(),
}


@pytest.mark.parametrize("name", ROOTS)
def test_the_view_holds_every_number_of_the_walk(name: str) -> None:
    recording = recorded(ROOTS[name]())
    view = json.loads(json.dumps(view_of(recording), allow_nan=False))
    maps = view.get("maps", [])

    def check(sent: Any, real: Any) -> None:
        if isinstance(real, tuple):
            assert len(sent) == len(real)
            for pair in zip(sent, real, strict=True):
                check(*pair)
        elif not isinstance(real, Many) or not real.shape:
            number = real.numbers[0] if isinstance(real, Many) else real
            assert sent == (number if number is None or math.isfinite(number) else str(number))
        else:
            found, known = maps[sent["map"]], heat_map(real)
            assert found["shape"] == list(real.shape)
            assert known is None or found["steps"] == [[known.step(x) for x in row] for row in known.cells]
            if known and known.written:
                assert found["texts"] == [[short(x) for x in row] for row in known.cells]
            if len(real.numbers) <= MOST_EXACT:
                numbers = [x for row in found["numbers"] for x in row]
                assert numbers == [x if math.isfinite(x) else str(x) for x in real.numbers]
            else:
                assert found["numbers"] == []

    for sent, node in zip(view["recording"]["graph"]["nodes"], recording.graph.nodes, strict=True):
        check(sent["data"], node.data)
        if not node.constant or (isinstance(node.data, Many) and node.data.shape):
            assert str(node.id) in view["layout"]["spots"]
    for sent, event in zip(view["recording"]["events"], recording.events, strict=True):
        for field in ("value", "operand_values", "gradient", "arrived", "upstream", "contribution", "before", "after"):
            if hasattr(event, field):
                check(sent[field], getattr(event, field))


def test_an_array_is_sent_once_and_a_broadcast_is_a_fan() -> None:
    view = view_of(recorded(network()))
    distinct = {json.dumps(found) for found in view["maps"]}
    assert len(distinct) == len(view["maps"])
    assert sorted(view["spreads"].values()) == ["fan", "funnel"]


def test_large_arrays_are_sampled_and_soon_there() -> None:
    began = time.process_time()
    view = view_of(recorded((gradwalk.ones(100, 100) @ gradwalk.ones(100, 100)).sum()))
    assert time.process_time() - began < 5  # about 0.2 s
    assert {len(found["steps"]) for found in view["maps"]} == {100}
    found = next(each for each in view_of(recorded(ROOTS["large"]()))["maps"] if each["shape"] == [250, 120])
    assert (len(found["steps"]), len(found["steps"][0]), found["every"]) == (84, 60, [3, 2])
    assert len(json.dumps(view)) < 300_000


TELL = """
import {tellTensors} from "./widgets/stepper/tellTensors.ts";
import {sceneOf} from "./graph/scene.ts";
import {graph as words} from "./strings/en/graph.ts";
import {plain} from "./text/rich.ts";
import {facesOf, products} from "./graph/faces.ts";
import {placeOf, cellOf, told} from "./graph/heat.ts";
import {place} from "./graph/geometry.ts";

export default ({views, products: asked}) => ({
    told: views.map((view) => {
        const {recording, graph, kind} = sceneOf(view);
        const all = recording.events.length;
        return kind === "tensors" && recording.events.map((event, i) => plain(tellTensors(recording, graph, i + 1, all).sentence));
    }),
    maps: views.map(({maps}) => (maps ?? []).map((map) => [words.map(map), words.notes(map), told(map)])),
    back: views.every(({maps}) => (maps ?? []).every((map) => map.steps.every((row, i) => row.every((_, j) => String(cellOf(map, placeOf(map, [i, j]))) === `${i},${j}`)))),
    products: asked.map(([a, b, c, at]) => products(facesOf(a, b, c, at), c, at, (n) => `… ${n} more …`)),
    widths: views.map((view) => [330, 680, 972].map((width) => {
        const {graph, layout} = sceneOf(view);
        const picture = place(graph, layout, width);
        const boxes = [...picture.cards.values()];
        const apart = (a, b) => a === b || a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        return {wide: picture.width <= width, apart: boxes.every((a) => boxes.every((b) => apart(a, b))), inside: boxes.every((box) => box.x >= 0 && box.x + box.width <= picture.width + 0.01 && box.y + box.height <= picture.height)};
    })),
});
"""  # noqa: E501
SHAPES = [
    ((3, 2), (2, 4)),
    ((2,), (2, 3)),
    ((3, 2), (2,)),
    ((4, 3, 2), (2, 5)),
    ((2, 1, 3, 2), (4, 2, 2)),
    ((1, 9), (9, 1)),
]


@pytest.mark.browser
def test_the_page_says_what_python_says() -> None:
    recordings = [recorded(make()) for make in ROOTS.values()]
    views = [view_of(recording) for recording in recordings]
    asked, right = [], []
    for left, above in SHAPES:
        gradwalk.manual_seed(len(left))
        a, b = gradwalk.randn(*left), gradwalk.randn(*above)
        left_map, right_map, out = (Many(t.shape, tuple(t.reshape(-1).tolist())) for t in (a, b, a @ b))
        known = heat_map(out)
        assert known is not None
        for at in (known.place(0, 0), known.place(len(known.cells) - 1, 0)):
            asked.append([map_of(left_map), map_of(right_map), map_of(out), list(at)])
            right.append(faces.products(left_map, right_map, out, at))
    found = in_node(TELL, {"views": views, "products": asked})
    assert found["products"] == right
    for name, recording, told in zip(ROOTS, recordings, found["told"], strict=True):
        assert told == [event.sentence for event in recording.events], name
    assert found["back"]
    for view, said in zip(views, found["maps"], strict=True):
        for sent, (words, notes, short_form) in zip(view.get("maps", []), said, strict=True):
            flat = tuple(float(x) for row in sent["numbers"] for x in row)
            if not flat:
                continue
            many = Many(tuple(sent["shape"]), flat)
            known = heat_map(many)
            assert known is not None
            assert (words, ", ".join(notes)) == (known.words, ", ".join(known.notes))
            assert short_form == walk.readable(many)
    for name, pictures in zip(ROOTS, found["widths"], strict=True):
        assert all(picture["apart"] and picture["inside"] for picture in pictures), name
        if name == "network":
            assert all(picture["wide"] for picture in pictures)


# --- the graph of one number -----------------------------------------------------------------------------------------

PROGRAM = "X = Tensor([[1.0, 2.0], [3.0, -1.0]])\nb = Tensor([1.0, -1.0])\nL = ((X + b) ** 2).sum()\n"


@pytest.mark.parametrize("provider", ["numpy", "python"])
def test_programs_with_tensors_run_and_each_number_opens(provider: str) -> None:
    with using_arrays(provider):
        drawn = programs.run(PROGRAM)
        assert drawn["error"] is None
        assert drawn["recording"]
        names = {node["name"]: node["id"] for node in drawn["recording"]["graph"]["nodes"]}
        assert {"X", "b", "L"} <= names.keys()
        opened = programs.cell(PROGRAM, names["b"], [1])
        assert opened["error"] is None
        assert opened["recording"]
        assert gradients_of(opened["recording"])["b[1]"] == 2 * ((2 - 1) + (-1 - 1))


@pytest.mark.parametrize(
    ("text", "node", "place", "words"),
    [
        (PROGRAM, 0, [0, 2], "index [0, 2] is not in a tensor of shape (2, 2)"),
        (PROGRAM, 0, [0], "index [0] is not in a tensor"),
        (PROGRAM, 99, [0, 0], "the graph has no node 99: ids go from 0 to"),
        (PROGRAM, -1, [0, 0], "the graph has no node -1"),
        (PROGRAM, None, [0, 0], "the graph has no node None"),
        ("X = Tensor([1.0], requires_grad=False)\n(X * Tensor([2.0])).sum()", 0, [0], "X is a constant"),
        ("(Tensor([1.0, 2.0]) * 2).sum()", 3, [], "is one number: there is nothing to open"),
        ("a = Value(2.0)\na * a", 0, [0], "is one number: there is nothing to open"),
        ("(Tensor([[1.0] * 60]) @ Tensor([[1.0]] * 60)).exp().tanh().sum() +", 0, [0], "invalid syntax"),
    ],
)
def test_a_number_that_cannot_be_opened_is_said(text: str, node: Any, place: Any, words: str) -> None:
    error = programs.cell(text, node, place)["error"]
    assert error is not None
    assert words in error["message"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t = Tensor([1.0, 2.0])\nt * 2", "a walk begins at one number, and this tensor has shape (2,)"),
        ("Tensor([[1.0]] * 500).reshape(1, -1).expand(500, 500).sum()", "keeps up to 200,000"),
        ("t = Tensor([1.0])\nfor i in range(101):\n    t = t + 1.0\nt.sum()", "this page draws up to 100"),
        ("Tensor([1.0, [2.0]])", "rows"),
    ],
)
def test_a_program_with_tensors_that_cannot_be_drawn_is_refused_in_words(text: str, words: str) -> None:
    error = programs.run(text)["error"]
    assert error is not None
    assert words in error["message"]


def test_the_widget_walks_tensors_and_answers_for_each_number() -> None:
    loss = network()
    widget = gradwalk.walk_widget(loss)
    assert json.loads(json.dumps(widget.get_state("scene")["scene"])) == json.loads(json.dumps(view_of(recorded(loss))))
    assert (widget.leaves, widget.recording.graph.root) == ({}, len(widget.recording.graph.nodes) - 1)
    with pytest.raises(SettingError, match="is for graphs of Values, and this one is of tensors"):
        widget.leaves = {"W": 1.0}
    widget.set_state({"step": 3, "_wanted_cell": {"n": "first", "node": 1, "place": [2, 0]}})
    assert widget.step == 3
    cell = widget.get_state("_cell")["_cell"]
    assert cell["n"] == "first"
    assert any(node["name"] == "W[2, 0]" for node in cell["scene"]["recording"]["graph"]["nodes"])
    widget.set_state({"_wanted_cell": {"n": "second", "node": 0, "place": [0, 0]}})
    assert widget.get_state("_cell")["_cell"] == {"n": "second", "error": "X is a constant: no gradient flows to it"}
    widget.refresh()
    IpyWidget.close_all()
    with pytest.raises(GraphError, match="a walk begins at one number"):
        gradwalk.walk_widget(gradwalk.ones(2) * 2.0)
    with pytest.raises(GraphError, match="a playground is for Values"):
        gradwalk.playground_widget(loss)


def test_a_saved_walk_holds_maps_and_the_graphs_of_single_numbers(tmp_path: Path) -> None:
    W = Tensor([[1.0, 2.0], [3.0, 4.0]], label="W")
    loss = (W @ W).tanh().sum()
    page = gradwalk.explain(loss).save(tmp_path / "walk.html").read_text()
    data = json.loads(page.split('id="recording">')[1].split("</script>")[0])
    assert sorted(data["cells"]) == ["0:0,0", "0:0,1", "0:1,0", "0:1,1"]
    assert data["maps"][0]["shape"] == [2, 2]
    one = gradwalk.explain(loss, W, index=(0, 1)).save(tmp_path / "one.html").read_text()
    assert "cells" not in json.loads(one.split('id="recording">')[1].split("</script>")[0])
    wide = (gradwalk.randn(30, 30) @ gradwalk.randn(30, 30)).sum()
    assert gradwalk.explain(wide).save(tmp_path / "wide.html").stat().st_size < 300_000
    assert Recording.from_json(gradwalk.explain(loss).save(tmp_path / "walk.json").read_text()).graph.root == 3
