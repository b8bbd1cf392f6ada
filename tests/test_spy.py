"""`spy`: a graph as a matrix, exact where there is room and in shades where there is none."""

from __future__ import annotations

import base64
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from typing import Any

import gpt
import micrograd.engine
import pytest

from gradwalk import Value, spy, walk
from gradwalk.drawing.png import png_of_indices
from gradwalk.drawing.spy_plot import Spy
from gradwalk.drawing.theme import SHADES
from gradwalk.errors import MissingExtraError, SettingError

SVG = "{http://www.w3.org/2000/svg}"


def pixels(png: bytes) -> list[bytes]:
    """The colour numbers of an indexed PNG, read back by the book."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        name, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(name + data),)
        chunks[name] = data
        at += 12 + length
    wide, high, depth, kind, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, kind) == (8, 3)
    raw = zlib.decompress(chunks[b"IDAT"])
    assert all(raw[row * (wide + 1)] == 0 for row in range(high))
    return [raw[row * (wide + 1) + 1 : (row + 1) * (wide + 1)] for row in range(high)]


def texts(plot: Spy) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(plot.svg).iter(f"{SVG}text")]


def reads(root: Any) -> set[tuple[int, int]]:
    """Row and column of every edge: leaves first, then the computed nodes, each group in topological order."""
    nodes = list(walk.topological(root))
    ordered = [v for v in nodes if not walk.operands(v)] + [v for v in nodes if walk.operands(v)]
    place = {id(v): i for i, v in enumerate(ordered)}
    return {(place[id(v)], place[id(x)]) for v in nodes for x in walk.operands(v)}


def dots(plot: Spy) -> set[tuple[int, int]]:
    return {(i, j) for i, row in enumerate(plot.rows) for j, shade in enumerate(row) if shade}


def test_every_dot_is_an_edge_and_every_edge_a_dot() -> None:
    a = Value(2.0)
    b = a * a + 1
    root = (b.tanh() + a) * b
    plot = spy(root)
    assert plot.pixels == plot.nodes == 7
    assert dots(plot) == reads(root)
    assert all(column < row for row, column in dots(plot))


def test_a_node_read_twice_is_darker() -> None:
    a = Value(2.0)
    plot = spy(a * a + a)
    shades = {(i, j): plot.rows[i][j] for i, j in dots(plot)}
    assert shades[1, 0] == SHADES
    assert shades[2, 0] == SHADES - 1
    assert "1" in texts(plot)
    assert "2" in texts(plot)


def test_many_nodes_share_a_pixel_and_none_is_lost() -> None:
    x = Value(1.0)
    for i in range(3000):
        x = x * 1.5 + (i % 7)
    plot = spy(x, size=100)
    assert plot.pixels == 100
    scaled = {(i * 100 // plot.nodes, j * 100 // plot.nodes) for i, j in reads(x)}
    assert dots(plot) == scaled
    assert "a dot stands for 120 × 120 nodes" in " ".join(texts(plot))


def test_the_picture_holds_the_matrix() -> None:
    a = Value(2.0)
    plot = spy(a * a + 1, theme="light")
    (encoded,) = re.findall(r'href="data:image/png;base64,([^"]+)"', plot.svg)
    shown = pixels(base64.b64decode(encoded))
    assert len(shown) == plot.side == plot.pixels * plot.dot
    assert [row[:: plot.dot] for row in shown[:: plot.dot]] == plot.rows
    assert [row[plot.dot - 1 :: plot.dot] for row in shown[plot.dot - 1 :: plot.dot]] == plot.rows


def test_both_colour_schemes_are_there_unless_one_is_chosen() -> None:
    root = Value(2.0) * 3
    assert spy(root).svg.count("<image") == 2
    assert spy(root, theme="dark").svg.count("<image") == 1
    assert spy(root, theme="dark").svg != spy(root, theme="light").svg


def test_a_gpt_is_legible() -> None:
    """For each place in the name: the parameters are read once, and the keys and values of the places before it."""
    tokens = [26, 4, 12, 12, 0, 26]  # a name of four letters between two boundaries
    root = gpt.loss(gpt.make_parameters(gpt.Config(vocabulary=27)), tokens)
    plot = spy(root, size=720)
    places = len(tokens) - 1
    first = plot.leaves * 720 // plot.nodes + 1
    strips = [any(row[: first - 1]) for row in plot.rows]  # whether a row reads a parameter
    assert sum(strips) > 0.6 * 720
    block = (720 - first) // places
    for reader in range(places):
        middle = first + reader * block
        rows = plot.rows[middle : middle + block]
        for other in range(reader):
            start = first + other * block
            assert any(any(row[start : start + block // 2]) for row in rows), (reader, other)
    assert texts(plot)[0] == "Which node reads which"


@pytest.mark.slow
def test_a_hundred_thousand_nodes_are_no_trouble() -> None:
    x = y = Value(1.0)
    for _ in range(34_000):
        x, y = x * y, x + 1.0
    root = x * y
    plot = spy(root)
    plot.pipe("png")
    assert plot.nodes > 100_000


def test_axes_are_marked_in_nodes() -> None:
    x = Value(1.0)
    for _ in range(999):
        x = x.tanh()
    assert {"0", "200", "400", "600", "800", "1,000"} <= set(texts(spy(x)))
    assert {"the node that reads", "the node it reads"} <= set(texts(spy(x)))


@pytest.mark.parametrize("root", [Value(1.0), [Value(1.0), Value(2.0)], micrograd.engine.Value(2.0) * 3])
def test_small_and_foreign_graphs(root: Any) -> None:
    plot = spy(root)
    ET.fromstring(plot.svg)
    assert plot.pipe("png").startswith(b"\x89PNG")


def test_it_is_saved_and_shows_itself(tmp_path: Path) -> None:
    plot = spy(Value(2.0) * 3 + 1)
    for ending, start in {"png": b"\x89PNG", "svg": b"<svg", "html": b"<!doctype html>"}.items():
        assert plot.save(tmp_path / f"graph.{ending}").read_bytes().startswith(start)
    with pytest.raises(SettingError, match="a spy plot can be png, svg or html, not 'dot'"):
        plot.save(tmp_path / "graph.dot")
    bundle = plot._repr_mimebundle_()
    assert "max-width:100%" in bundle["text/html"]
    assert bundle["text/plain"].startswith("Spy plot of 5 nodes, 4 edges;")
    assert plot.render(tmp_path / "one").endswith("one.png")
    assert spy(Value(2.0) * 3 + 1).svg == plot.svg


@pytest.mark.parametrize("size", [10, 5000, 100.5, True, "large"])
def test_sizes_out_of_range_are_refused(size: Any) -> None:
    with pytest.raises(SettingError, match="size, in pixels, is a whole number from 50 to 4000"):
        spy(Value(1.0), size=size)


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(SettingError, match="theme is"):
        spy(Value(1.0), theme="sepia")


def test_without_resvg_the_svg_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    plot = spy(Value(1.0) * 2)
    assert plot.svg
    with pytest.raises(MissingExtraError, match="pip install resvg-py"):
        plot.pipe()


def test_an_indexed_png_reads_back() -> None:
    rows = [bytes([0, 1, 2]), bytes([2, 1, 0])]
    assert pixels(png_of_indices(rows, ["#FFFFFF", "#000000", "#123456"])) == rows
