"""`draw`: what a drawing shows, in which form it comes, and what is refused."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import micrograd.engine
import micrograd.nn
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwalk
from gradwalk import GradwalkError, Value, draw, draw_dot
from gradwalk.drawing import Drawing
from gradwalk.drawing import png as png_files
from gradwalk.drawing.theme import DARK, LIGHT, contrast, ramp, text_on
from gradwalk.errors import GraphError, MissingExtraError, SettingError
from gradwalk.presets import PRESETS

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing: Any) -> ET.Element:
    """The SVG, read by an XML parser, which refuses anything that is not well-formed."""
    return ET.fromstring(drawing.svg)


def texts(drawing: Any) -> list[str]:
    return [element.text or "" for element in parsed(drawing).iter(f"{SVG}text")]


def titles(drawing: Any) -> list[str]:
    return [element.text or "" for element in parsed(drawing).iter(f"{SVG}title")]


def of_class(drawing: Any, name: str) -> list[ET.Element]:
    return [element for element in parsed(drawing).iter() if name in element.get("class", "").split()]


def numbers(drawing: Drawing) -> dict[str, dict[str, str | None]]:
    return {box.label: {row.caption: row.text for row in box.rows} for box in drawing.scene.boxes}


def walked(name: str) -> Value:
    root = PRESETS[name].build().root
    root.backward()
    return root


# --- what it shows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_drawn_with_its_numbers(name: str) -> None:
    preset = PRESETS[name]
    drawing = draw(walked(name))
    shown = numbers(drawing)
    for label, gradient in preset.gradients.items():
        assert float(str(shown[label]["grad"]).replace("−", "-")) == pytest.approx(gradient, abs=5e-5)
    for label, data in {**preset.inputs, **preset.values}.items():
        assert float(str(shown[label]["data"]).replace("−", "-")) == pytest.approx(data, abs=5e-5)
    written = texts(drawing)
    for label in preset.gradients:
        assert label in written


def test_a_number_reads_as_a_person_would_write_it() -> None:
    cases = {
        0.4999999999999998: "0.5", -0.0: "0", 1e300: "1e300", 1e-300: "1e−300", math.nan: "nan", math.inf: "inf",
        -math.inf: "−inf", -1.5: "−1.5", 1 / 3: "0.3333", 123456.789: "123456.789",
    }  # fmt: skip
    for number, text in cases.items():
        drawing = draw(Value(number, label="a"))
        assert numbers(drawing)["a"]["data"] == text
        assert f"data {number!r}" in titles(drawing)[0]  # every digit, for who rests the pointer on it


def test_a_gradient_that_has_not_arrived_is_an_empty_slot_and_zero_is_a_zero() -> None:
    fresh = draw(PRESETS["neuron"].build().root)
    assert all(row["grad"] is None for row in numbers(fresh).values())
    assert len(of_class(fresh, "gw-empty")) == 10
    after = draw(walked("neuron"))
    assert numbers(after)["w2"]["grad"] == "0"
    assert not of_class(after, "gw-empty")


def test_constants_are_shown_quietly_and_have_no_gradient() -> None:
    a = Value(2.0, label="a")
    root = (a + 1) * 3 / a**2
    root.backward()
    drawing = draw(root)
    constants = [box for box in drawing.scene.boxes if box.kind == "constant"]
    assert [box.rows[0].text for box in constants] == ["1", "3"]
    assert all(len(box.rows) == 1 for box in constants)
    assert len(of_class(drawing, "gw-constant")) == 2
    assert "**2" in texts(drawing)  # an exponent is part of the op, as in micrograd


def test_a_node_used_twice_has_two_lines_side_by_side() -> None:
    a = Value(3.0, label="a")
    drawing = draw(a * a, locals=True)
    assert len(drawing.scene.lines) == 2
    first, second = drawing.layout.wires
    assert first.path != second.path
    assert first.head != second.head
    assert first.chip != second.chip
    assert [line.text for line in drawing.scene.lines] == ["× 3", "× 3"]
    assert drawing.source.count("n0 -> n1op") == 2


def test_local_derivatives_are_on_the_edges_if_asked_for() -> None:
    root = walked("neuron")
    assert not any(line.text for line in draw(root).scene.lines)
    drawing = draw(root, locals=True)
    on_edges = {(drawing.scene.boxes[line.source].label, line.text) for line in drawing.scene.lines}
    assert {("x1", "× −3"), ("w1", "× 2"), ("w2", "× 0"), ("n", "× 0.5")} <= on_edges
    assert "× −3" in texts(drawing)


def test_gradients_can_be_left_out() -> None:
    drawing = draw(walked("neuron"), grads=False)
    assert "grad" not in texts(drawing)
    assert "grad" not in drawing.source


def test_magnitudes_are_coloured_with_a_legend_on_request() -> None:
    root = walked("neuron")
    assert not of_class(draw(root), "gw-legend")
    drawing = draw(root, heat=True)
    assert len(of_class(drawing, "gw-legend")) == 1
    steps = {box.label: box.rows[1].heat for box in drawing.scene.boxes}
    assert steps["w2"] == 0
    assert steps["x1"] == 6
    assert steps["x2"] == 1
    legend = texts(drawing)
    assert "0.5" in legend
    assert "1.5" in legend


def test_colours_of_nan_and_inf_stand_apart() -> None:
    a = Value(math.inf, label="a") * Value(0.0, label="b") + Value(2.0, label="c") * 3
    a.backward()
    steps = {box.label: box.rows[1].heat for box in draw(a, heat=True).scene.boxes if len(box.rows) == 2}
    assert steps["b"] == -1
    assert steps["a"] == 0
    assert steps["c"] == 6


def test_heat_without_any_gradient_is_a_plain_drawing() -> None:
    drawing = draw(PRESETS["diamond"].build().root, heat=True)
    assert not of_class(drawing, "gw-legend")
    parsed(drawing)


def test_a_drawing_is_of_the_moment_it_was_made() -> None:
    a = Value(2.0, label="a")
    root = a * 3
    drawing = draw(root)
    root.backward()
    a.data = 99.0
    assert numbers(drawing)["a"] == {"data": "2", "grad": None}
    assert "99" not in drawing.svg


def test_gradients_that_are_values_are_shown_as_numbers() -> None:
    x = Value(3.0, label="x")
    root = x * x
    root.backward(create_graph=True)
    assert numbers(draw(root, heat=True))["x"]["grad"] == "6"


def test_several_roots_are_drawn_together() -> None:
    a = Value(2.0, label="a")
    drawing = draw([a * 2, a * 3, a])
    assert drawing.summary == "5 nodes, 4 edges"
    parsed(drawing)


def test_a_lone_value_and_unconnected_roots_are_drawn() -> None:
    assert draw(Value(2.0)).summary == "1 node, 0 edges"
    assert draw([Value(1.0), Value(2.0)]).summary == "2 nodes, 0 edges"
    for rankdir in ("LR", "TB"):
        parsed(draw([Value(1.0), Value(2.0).exp()], rankdir=rankdir))


def test_an_op_of_three_operands_and_one_of_the_users_own() -> None:
    @gradwalk.op(lambda x, out: 2.0 * x, symbol="my<square>")
    def square(x: float) -> float:
        return x * x

    root = gradwalk.clamp(square(Value(2.0, label="a")), 0.0, 1.0)
    drawing = draw(root, locals=True)
    assert "my<square>" in texts(drawing)
    assert "clamp" in texts(drawing)
    assert len(drawing.scene.lines) == 4


# --- other engines ---------------------------------------------------------------------------------------------------


def test_micrograds_own_values_are_drawn() -> None:
    a, b = micrograd.engine.Value(2.0), micrograd.engine.Value(-3.0)
    root = (a * b + 10) ** 2 + a
    root.backward()
    drawing = draw_dot(root)
    assert drawing.summary == "7 nodes, 7 edges"
    shown = [tuple(row.text for row in box.rows) for box in drawing.scene.boxes]
    assert ("2", "−23") in shown
    assert ("−3", "16") in shown


def test_a_set_of_operands_does_not_make_a_drawing_random() -> None:
    script = """
import sys
junk = [object() for _ in range(int(sys.argv[1]))]  # so that ids, by which sets are ordered, differ
from micrograd.engine import Value
from gradwalk import draw
a, b, c = Value(2.0), Value(-3.0), Value(10.0)
print(hash(draw(((a * b + c) * (c + b) + a * c).relu()).svg.__str__()))
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", script, str(n)], capture_output=True, text=True, check=True, timeout=60,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        ).stdout
        for n in (1, 1000, 77777)
    }  # fmt: skip
    assert len(printed) == 1


def test_micrograds_a_plus_a_has_its_two_edges_and_slopes() -> None:
    a = micrograd.engine.Value(3.0)
    for root, slope in ((a + a, "× 1"), (a * a, "× 3")):
        drawing = draw(root, locals=True)
        assert [line.text for line in drawing.scene.lines] == [slope, slope]


def test_slopes_of_nodes_made_by_hand_are_measured() -> None:
    a = Value(2.0, label="a")
    out = Value(8.0, (a,), "cube", label="out")

    def push() -> None:
        a.grad += 12.0 * out.grad

    out._backward = push
    assert [line.text for line in draw(out, locals=True).scene.lines] == ["× 12"]
    assert a.grad == 0.0


class Homemade:
    """The least that a learner's node has."""

    def __init__(self, data: Any, children: tuple[Any, ...] = ()) -> None:
        self.data = data
        self.children = children


def test_a_class_with_nothing_but_data_and_children_is_drawn() -> None:
    drawing = draw(Homemade("three", (Homemade(None), Homemade(np.arange(30.0)))), locals=True, heat=True)
    assert drawing.summary == "3 nodes, 2 edges"
    shown = [box.rows[0].text for box in drawing.scene.boxes]
    assert shown[0] == "None"
    assert shown[2] == "'three'"
    parsed(drawing)


class Grumpy:
    """A gradient that cannot be compared with anything."""

    def __ne__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "grumpy"


def test_a_gradient_that_cannot_be_compared_is_shown_as_it_prints() -> None:
    a = Homemade(2.0)
    a.grad = Grumpy()  # type: ignore[attr-defined]
    assert [row.text for row in draw(a, heat=True).scene.boxes[0].rows] == ["2", "grumpy"]


def test_a_class_that_keeps_none_for_its_operands_is_drawn() -> None:
    assert draw(Homemade(2.0, None)).summary == "1 node, 0 edges"  # type: ignore[arg-type]


# --- texts that could do harm --------------------------------------------------------------------------------------

NASTY = [
    "<script>alert(1)</script>", "a|b", '"quoted"', "it's", "a & b", "{a}", "back\\slash", "\\N", "new\nline", "tab\t",
    "🙂🙃", "数据", "ا", "e\u0301", "]]>", "<!--", "--", "&lt;", "&#0;", "\x00\x01\x1f\x7f\x85", "\ud800", "\ufffe",
    "\u202e", " ", "x" * 1000, "%s{}", "n0", "\u2028",
]  # fmt: skip


def checked(drawing: Drawing, label: str) -> None:
    """Every form of a drawing is sound, and the label in it is text."""
    root = parsed(drawing)
    assert not list(root.iter(f"{SVG}script"))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "style",
        "g",
        "rect",
        "path",
        "text",
        "title",
    }
    for element in root.iter():
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
    page = drawing.pipe("html").decode()
    for text in (page, drawing.html):
        assert "<script" not in text.lower()
    found = dot_labels(drawing.source)
    assert len(found) >= 1
    drawing.source.encode()


def dot_labels(source: str) -> list[str]:
    """The labels of a DOT text, by a reader of our own that knows what a quoted string is and what stands outside."""
    found, outside, i = [], [], 0
    while i < len(source):
        if source[i] != '"':
            outside.append(source[i])
            i += 1
            continue
        text, i = "", i + 1
        while source[i] != '"':
            text += source[i : i + 2] if source[i] == "\\" else source[i]
            i += 2 if source[i] == "\\" else 1
        i += 1
        found.append(text)
        outside.append("Q")
    bare = "".join(outside)
    for line in bare.splitlines():
        words = line.strip().replace(",", " ").replace("[", " ").replace("]", " ").replace("->", " ").split()
        assert all(w in ("digraph", "{", "}", "graph", "node", "edge") or "=" in w or w[:1] == "n" for w in words), line
    return found


@pytest.mark.parametrize("label", NASTY, ids=range(len(NASTY)))
def test_a_label_is_text_whatever_it_says(label: str) -> None:
    a = Value(2.0, label=label)
    root = Value(3.0, (a, a), label or "op", label=label)
    for options in ({}, {"rankdir": "TB", "heat": True, "locals": True, "theme": "dark"}):
        checked(draw(root, **options), label)  # type: ignore[arg-type]


def test_a_long_label_is_cut_and_whole_in_the_title() -> None:
    label = "weight " * 150
    drawing = draw(Value(2.0, label=label))
    assert "weight weight wei…" in texts(drawing)
    assert label in titles(drawing)[0]
    assert drawing.size[0] < 300


def test_nodes_with_the_same_label_stay_two() -> None:
    drawing = draw(Value(1.0, label="a") * Value(2.0, label="a"))
    assert [box.label for box in drawing.scene.boxes] == ["a", "a", ""]
    assert drawing.source.count("{ a |") == 2


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.text(), st.text(), st.floats(), st.floats(), st.sampled_from(["LR", "TB"]), st.booleans())
def test_any_text_and_any_number_give_sound_files(
    label: str, op: str, data: float, grad: float, rankdir: str, heat: bool
) -> None:
    a = Value(data, label=label)
    a.grad = grad
    root = Value(data, (a,), op, label=op)
    root.grad = grad
    checked(draw(root, rankdir=rankdir, heat=heat, locals=True), label)


def test_unlabelled_things_with_strange_attributes_are_drawn() -> None:
    a = Value(2.0)
    a.label = 7  # type: ignore[assignment]
    assert "7" in texts(draw(a))
    a.label = None  # type: ignore[assignment]
    parsed(draw(a))


# --- bad graphs and settings -----------------------------------------------------------------------------------------


def test_a_cycle_is_refused_by_name() -> None:
    a = Value(1.0, label="a")
    b = a * 2
    a._prev = {b}
    for function in (draw, gradwalk.spy):
        with pytest.raises(GraphError, match="cycle"):
            function(b)


def test_a_graph_too_big_is_refused_with_the_count_and_the_remedy() -> None:
    x = Value(1.0)
    for _ in range(20_000):
        x = x * 1.5
    with pytest.raises(GraphError, match=r"40,001 nodes is too big .*max_nodes is 2,500.*depth='layers'.*spy\(root\)"):
        draw(x)
    assert draw(Value(1.0) * 2, max_nodes=3).summary == "3 nodes, 2 edges"
    with pytest.raises(GraphError, match="3 nodes"):
        draw(Value(1.0) * 2, max_nodes=2)


@pytest.mark.slow
def test_a_graph_of_a_million_nodes_is_refused_without_being_walked() -> None:
    x = Value(1.0)
    for _ in range(1_000_000):
        x = -x
    with pytest.raises(GraphError, match="more than 300,000 nodes"):
        draw(x)


@pytest.mark.parametrize("thing", [3.0, None, "a", object(), [], [Value(1.0), 2.0], {"a": Value(1.0)}])
def test_what_is_no_graph_is_refused(thing: Any) -> None:
    for function in (draw, gradwalk.spy):
        with pytest.raises(GraphError, match="a drawing is of a Value"):
            function(thing)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rankdir": "RL"}, "rankdir is 'LR' or 'TB', not 'RL'"),
        ({"rankdir": None}, "rankdir is 'LR' or 'TB', not None"),
        ({"theme": "sepia"}, "theme is 'auto', 'light' or 'dark', not 'sepia'"),
        ({"engine": "dagre"}, "engine is 'sugiyama' or 'graphviz', not 'dagre'"),
        ({"format": "gif"}, "a drawing can be svg, html, png or dot, not 'gif'"),
        ({"format": "pdf"}, "print it from a browser"),
        ({"depth": "atoms"}, "depth is 'layers', 'neurons' or 'nodes', not 'atoms'"),
        ({"depth": "layers"}, r"needs to know the model: draw\(loss, model=model, depth='layers'\)"),
        ({"max_nodes": 0}, "max_nodes is a whole number from 1 up, not 0"),
        ({"max_nodes": True}, "max_nodes"),
        ({"max_nodes": 2.5}, "max_nodes"),
        ({"model": 3}, "model is a module"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        draw(Value(1.0), **settings)


# --- the forms of a drawing ------------------------------------------------------------------------------------------


def test_micrograds_calls_work() -> None:
    root = walked("diamond")
    assert draw is draw_dot
    assert draw_dot(root, format="svg", rankdir="LR").svg == draw(root).svg
    assert draw_dot(root, "png", "TB").format == "png"


def test_the_same_graph_gives_the_same_bytes() -> None:
    for name in PRESETS:
        for options in ({}, {"heat": True, "locals": True, "rankdir": "TB"}):
            one, other = (draw(walked(name), **options) for _ in range(2))  # type: ignore[arg-type]
            assert one.svg == other.svg
            assert one.source == other.source
            assert one.pipe("html") == other.pipe("html")
    assert draw(walked("neuron")).pipe("png") == draw(walked("neuron")).pipe("png")


def test_every_ending_is_written_and_is_what_it_says(tmp_path: Path) -> None:
    drawing = draw(walked("neuron"))
    for ending, start in {"svg": b"<svg ", "html": b"<!doctype html>", "png": b"\x89PNG", "dot": b"digraph {"}.items():
        path = tmp_path / f"graph.{ending}"
        assert drawing.save(path) == path
        assert path.read_bytes().startswith(start)
        assert drawing.save(str(tmp_path / f"GRAPH.{ending.upper()}")).read_bytes() == path.read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_png_has_the_picture_in_it() -> None:
    """Blue and vermilion are there, and so is text: fewer than all pixels of a slot have the slot's colour."""
    import io

    from matplotlib.image import imread

    drawing = draw(walked("neuron"), theme="light")
    pixels = np.round(imread(io.BytesIO(drawing.pipe("png")), format="png") * 255).astype(int)
    wide, high = drawing.size
    assert pixels.shape == (2 * high, 2 * wide, 4)

    def share(colour: str) -> float:
        rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        return float((abs(pixels[:, :, :3] - rgb).sum(axis=2) < 6).mean())

    assert share(LIGHT["data-soft"]) > 0.02
    assert share(LIGHT["grad-soft"]) > 0.02
    assert share(LIGHT["data"]) > 0.001  # the digits themselves
    assert share(LIGHT["grad"]) > 0.001
    dark = np.round(imread(io.BytesIO(draw(walked("neuron"), theme="dark").pipe("png")), format="png") * 255)
    assert dark[:, :, :3].mean() < 80 < pixels[:, :, :3].mean()


def test_a_huge_png_is_made_smaller_instead_of_filling_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = draw(walked("neuron"))
    wide, high = drawing.size

    def width_of_png(large: int, largest: int) -> int:
        monkeypatch.setattr(png_files, "LARGE", large)
        monkeypatch.setattr(png_files, "LARGEST", largest)
        return int.from_bytes(drawing.pipe("png")[16:20], "big")

    room = wide * high
    assert width_of_png(room * 9, room * 99) == 2 * wide
    assert width_of_png(room, room * 99) == wide
    assert width_of_png(room // 4, room // 4) == pytest.approx(wide / 2, abs=2)


def test_a_path_that_cannot_be_written_is_told_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = draw(Value(1.0))
    for path, words in (
        (tmp_path / "graph", "and '.*graph' has none"),
        (tmp_path / "graph.pdf", "not 'pdf'; for a PDF save the .html and print it from a browser"),
        (tmp_path / "graph.jpeg", "svg, html, png or dot, not 'jpeg'"),
        (tmp_path / "none" / "graph.svg", r"there is no folder '.*none'; make it first"),
        ("graph\0.svg", "cannot write"),
        (7, "to a path such as 'graph.svg', not to int: 7"),
        (b"graph.svg", "not to bytes"),
        (tmp_path / ("x" * 300 + ".svg"), "cannot write"),
    ):
        with pytest.raises(SettingError, match=words):
            drawing.save(path)  # type: ignore[arg-type]
    folder = tmp_path / "folder.svg"
    folder.mkdir()
    with pytest.raises(SettingError, match="it is a folder"):
        drawing.save(folder)
    read_only = tmp_path / "read-only.svg"
    read_only.write_text("precious")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root, too, is told what others are told
    with pytest.raises(SettingError, match="the file is read-only"):
        drawing.save(read_only)
    assert read_only.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.svg", "read-only.svg"]


def test_a_folder_that_may_not_be_written_to_is_told_plainly(tmp_path: Path) -> None:
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and not Path("/proc/self").exists():
        pytest.skip("root may write to every folder here")
    tmp_path.chmod(0o500)
    with pytest.raises(SettingError, match="cannot write"):
        draw(Value(1.0)).save(Path("/proc/self/graph.svg") if root else tmp_path / "graph.svg")


def test_a_file_is_replaced_whole_and_a_link_goes_on_pointing(tmp_path: Path) -> None:
    real, link = tmp_path / "real.dot", tmp_path / "link.dot"
    real.write_text("before")
    link.symlink_to(real)
    draw(Value(1.0)).save(link)
    assert link.is_symlink()
    assert real.read_text().startswith("digraph")


def test_render_and_pipe_do_what_graphviz_objects_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = draw_dot(walked("diamond"), format="png")
    assert drawing.render(tmp_path / "one") == str(tmp_path / "one.png")
    assert drawing.render("two", directory=tmp_path, format="svg", cleanup=True) == str(tmp_path / "two.svg")
    assert drawing.pipe().startswith(b"\x89PNG")
    assert drawing.pipe(format="dot") == drawing.source.encode()
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    drawing.render(tmp_path / "three", view=True)
    assert opened == [(tmp_path / "three.png").as_uri()]
    with pytest.raises(SettingError, match="not 'bmp'"):
        drawing.render(tmp_path / "four", format="bmp")


def test_a_notebook_gets_html_that_shrinks_and_scrolls() -> None:
    drawing = draw(walked("neuron"))
    bundle = drawing._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert "max-width:100%" in bundle["text/html"]
    assert 'viewBox="0 0 ' in bundle["text/html"]
    assert bundle["text/plain"] == str(drawing)
    ET.fromstring(bundle["text/html"])
    assert set(drawing._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert set(drawing._repr_mimebundle_(exclude={"text/plain"})) == {"text/html"}


def test_it_says_what_it_is() -> None:
    assert str(draw(Value(1.0) * 2, rankdir="TB")).startswith("Drawing of 3 nodes, 2 edges, top to bottom;")


def test_the_page_may_load_and_run_nothing() -> None:
    page = draw(walked("neuron")).pipe("html").decode()
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_can_be_read_on_its_ground(palette: dict[str, str]) -> None:
    for fill in ramp(palette).values():
        assert contrast(fill, text_on(fill, palette)) >= 4.5
    for text, ground in (
        ("data", "data-soft"), ("grad", "grad-soft"), ("ink", "surface"), ("ink-2", "surface"), ("ink-3", "surface"),
        ("ink-3", "paper"), ("ink", "paper"),
    ):  # fmt: skip
        assert contrast(palette[text], palette[ground]) >= 4.5


def test_rules_stay_inside_their_drawing() -> None:
    for theme in ("auto", "light", "dark"):
        style = next(parsed(draw(Value(1.0), theme=theme)).iter(f"{SVG}style")).text or ""
        rules = style.replace("@media (prefers-color-scheme:dark){", "").replace("}}", "}")
        for rule in rules.split("}")[:-1]:
            for selector in rule.split("{")[0].split(","):
                assert selector.startswith(f".gw-{theme} "), selector


# --- what may be missing -------------------------------------------------------------------------------------------


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_without_resvg_a_png_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "resvg_py")
    assert draw(Value(1.0)).svg
    with pytest.raises(MissingExtraError, match="pip install resvg-py"):
        draw(Value(1.0)).pipe("png")


def test_a_machine_without_fonts_is_helped_by_matplotlibs_or_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import resvg_py

    real = resvg_py.svg_to_bytes
    seen: list[Any] = []

    def fontless(**options: Any) -> bytes:
        seen.append(options.get("font_dirs"))
        return bytes(real(**options, skip_system_fonts=True))

    monkeypatch.setattr(resvg_py, "svg_to_bytes", fontless)
    png_files._fonts.cache_clear()
    try:
        with_text = draw(Value(8.0, label="some text")).pipe("png")
        assert str(seen[-1]).endswith("ttf']")
        svg = draw(Value(8.0, label="some text"), theme="light").svg
        assert with_text != bytes(real(svg_string=svg, zoom=2, skip_system_fonts=True))
        png_files._fonts.cache_clear()
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingExtraError, match=r"this machine has none: .*fonts-dejavu-core"):
            draw(Value(8.0)).pipe("png")
    finally:
        png_files._fonts.cache_clear()


def test_everything_raised_here_is_a_gradwalk_error() -> None:
    for error in (GraphError, SettingError, MissingExtraError):
        assert issubclass(error, GradwalkError)


def test_importing_draw_loads_neither_numpy_nor_matplotlib() -> None:
    script = "import sys; from gradwalk import Value, draw; draw(Value(1.0) * 2).svg; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert not {"numpy", "matplotlib", "torch", "rich"} & set(run.stdout.split())
