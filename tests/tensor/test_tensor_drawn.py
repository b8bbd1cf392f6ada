"""Drawings of tensors: maps of numbers and gradients, shapes and signs on the lines, words for whoever cannot see."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

import gradwalk
from gradwalk import Tensor, Value, nn
from gradwalk.drawing import theme
from gradwalk.drawing.by_node import scene_by_node
from gradwalk.errors import SettingError
from gradwalk.walk import heat_maps
from gradwalk.walk.many import kept


def scene_of(root: Any, **settings: Any) -> Any:
    return scene_by_node([root], **settings)


def box(scene: Any, label: str) -> Any:
    return next(found for found in scene.boxes if found.label == label)


def test_each_box_has_maps_of_data_and_gradient_and_each_line_a_shape() -> None:
    X = Tensor([[1.0, 2.0], [3.0, -4.0]], requires_grad=False, label="X")
    W, b = Tensor([[0.5, -1.0, 0.0], [0.25, 2.0, 1.0]], label="W"), Tensor([1.0, 2.0, 3.0], label="b")
    loss = (X @ W + b).sum()
    before = scene_of(loss)
    assert [row.text for row in box(before, "W").rows] == ["(2, 3)", None]  # no gradient yet, which is not a map of 0
    loss.backward()
    scene = scene_of(loss)
    data, grad = box(scene, "W").rows
    assert data.map.cells == ((0.5, -1.0, 0.0), (0.25, 2.0, 1.0))
    assert grad.map.cells == ((4.0, 4.0, 4.0), (-2.0, -2.0, -2.0))
    assert [row.caption for row in box(scene, "X").rows] == ["data"]  # a constant has no gradient to show
    assert box(scene, "X").note == "constant"
    assert sorted((line.text, line.spread) for line in scene.lines) == [
        ("(2, 2)", ""), ("(2, 3)", ""), ("(2, 3)", ""), ("(2, 3) → ()", "funnel"), ("(3,) → (2, 3)", "fan"),
    ]  # fmt: skip
    fan = next(line for line in scene.lines if line.spread == "fan")
    assert "their gradients are summed" in fan.title


@pytest.mark.parametrize(
    ("make", "sign"),
    [
        (lambda x, s: x * s, "fan"),
        (lambda x, s: x * 2.0, ""),  # a plain number
        (lambda x, s: x + x.detach(), ""),
        (lambda x, s: x.reshape(3, 1) + s, "fan"),
        (lambda x, s: s.expand(4), "fan"),
        (lambda x, s: x.max() + s, "funnel"),
        (lambda x, s: x[:1] + s, ""),  # some are taken, none are summed
        (lambda x, s: x.cumsum(0), ""),
        (lambda x, s: x[0:0] * s, ""),
    ],
)
def test_signs_stand_where_numbers_are_repeated_or_become_few(make: Any, sign: str) -> None:
    root = make(Tensor([1.0, 2.0, 3.0]), Tensor(2.0))
    assert {line.spread for line in scene_of(root).lines} | {""} == {sign, ""}


def test_a_hundred_times_a_hundred_is_shown_whole_and_more_is_sampled_and_says_so() -> None:
    whole = heat_maps.heat_map(gradwalk.ones(100, 100))
    assert whole is not None
    assert (len(whole.cells), len(whole.cells[0]), whole.notes) == (100, 100, ("all 1",))
    some = heat_maps.heat_map(gradwalk.arange(0.0, 1001 * 301).reshape(1001, 301))
    assert some is not None
    assert (len(some.cells), len(some.cells[0])) == (91, 76)
    assert some.cells[1][1] == 11 * 301 + 4
    assert some.sampled == "every 11th row, every 4th column"
    drawing = gradwalk.draw(gradwalk.ones(1001, 3))
    assert "every 11th row" in drawing.svg
    assert "of every 11th row" in drawing.scene.words
    assert gradwalk.draw(gradwalk.ones(100, 100)).svg.count("<rect") < 30  # pixels, not ten thousand rectangles


@pytest.mark.parametrize(
    ("data", "cells", "notes"),
    [
        ([1.0, -2.0], 2, ()),
        ([[True, False], [False, True]], 4, ()),
        ([1, 2, 3], 3, ()),
        ([math.nan, math.inf, -math.inf, 1.0], 4, ("1 −inf, 1 inf, 1 nan",)),
        ([math.nan] * 8, 8, ("8 nan",)),
        ([0.0] * 7, 7, ("all 0",)),
        ([[2.0]] * 7, 7, ("all 2",)),
        ([2.0] * 6 + [0.0], 7, ("±2",)),
        ([[2.0]] * 6 + [[0.0]], 7, ("±2",)),
        ([5e-324, 0.0], 2, ()),
        ([1.7e308] * 6 + [-1.0], 7, ("±1.7e308",)),
        ([[[1.0, 2.0]], [[3.0, 4.0]]], 4, ()),
    ],
)
def test_odd_numbers_have_maps(data: Any, cells: int, notes: tuple[str, ...]) -> None:
    found = heat_maps.heat_map(Tensor(data))
    assert found is not None
    assert sum(map(len, found.cells)) == cells
    assert found.notes == notes
    svg = gradwalk.draw(Tensor(data, label='<a href="x">&"\x00\n')).svg
    ET.fromstring(svg)
    assert "<a " not in svg


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([math.nan], "1 number not finite"),
        ([math.nan, math.inf], "2 numbers not finite"),
        ([math.inf, 2.0], "all 2; 1 number not finite"),
        ([0.0, -math.inf, -3.0, 2.0], "from −3 at [2] to 2 at [3]; 1 below 0, 1 equal to 0; 1 number not finite"),
        ([1.0, 5.0, 1.0, 5.0], "from 1 at [0] to 5 at [1]; 0 below 0, 0 equal to 0"),
    ],
)
def test_a_map_is_told_in_words(data: list[float], words: str) -> None:
    found = heat_maps.heat_map(Tensor(data))
    assert found is not None
    assert found.words == words


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (201, 3), (3, 201), (0,), ()])
def test_the_numbers_of_a_step_have_the_map_of_their_tensor(shape: tuple[int, ...]) -> None:
    tensor = gradwalk.arange(0.0, float(math.prod(shape))).reshape(*shape)
    assert heat_maps.heat_map(kept(tensor.array)) == heat_maps.heat_map(tensor)


@pytest.mark.parametrize("empty", [Tensor(2.0), gradwalk.zeros(0), gradwalk.zeros(3, 0)])
def test_one_number_and_none_have_no_map(empty: Tensor) -> None:
    assert heat_maps.heat_map(empty) is None
    root = (empty * 2.0).sum()
    root.backward()
    for rankdir in ("LR", "TB"):
        ET.fromstring(gradwalk.draw(root, rankdir=rankdir, heat=True, locals=True).svg)


def test_signs_are_colours_that_can_be_told_apart_in_light_and_dark() -> None:
    for palette in (theme.LIGHT, theme.DARK):
        shades = theme.diverging(palette)
        assert len(set(shades.values())) == 2 * heat_maps.SIDES + 2
        for step, fill in shades.items():
            assert max(theme.contrast(fill, ink) for ink in ("#FFFFFF", "#000000")) >= 4.5, step
        for side in (-heat_maps.SIDES, heat_maps.SIDES):  # the further from 0, the further from the ground
            steps = [theme.contrast(palette["surface"], shades[side // 5 * i]) for i in range(1, heat_maps.SIDES + 1)]
            assert steps == sorted(steps)
            assert steps[-1] >= 4.5


def test_the_words_say_what_the_colours_say() -> None:
    x = Tensor([[float(i - 20) for i in range(40)]], label="x")
    words = scene_of(x.relu()).words
    assert "(1, 40) from −20 at [0, 0] to 19 at [0, 39]; 20 below 0, 1 equal to 0" in words
    assert "<desc>" in gradwalk.draw(x.relu()).svg
    assert scene_of(Value(2.0) * 3).words == ""


def test_graphs_of_gradients_and_of_mixtures_are_drawn() -> None:
    x = Tensor([1.0, 2.0], label="x")
    (x * x * x).sum().backward(create_graph=True)
    ET.fromstring(gradwalk.draw(x.grad.sum()).svg)
    a, b = Value(2.0, label="a"), Value(3.0, label="b")
    t = Tensor.of([[a, b], [b, a]]) * 2.0
    total = t.sum()
    total.backward()
    scene = scene_of(total)
    assert [row.text for row in box(scene, "a").rows] == ["2", "4"]
    ET.fromstring(gradwalk.draw(total).svg)


def test_what_was_never_walked_shows_no_gradient_and_what_was_let_go_shows_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = Tensor([1.0, 2.0], label="x")
    loss = x.exp().sum()
    assert [row.text for row in box(scene_of(loss), "x").rows] == ["(2,)", None]
    monkeypatch.setattr("gradwalk.tensor.backward.KEPT_NUMBERS", 0)
    loss.backward()
    scene = scene_of(loss)
    assert [row.text for row in box(scene, "x").rows] == ["(2,)", "(2,)"]
    assert [row.text for found in scene.boxes if found.op == "exp" for row in found.rows] == ["(2,)", None]


def test_a_model_of_tensors_is_drawn() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    loss = (model(Tensor([[1.0, 2.0, 3.0]], requires_grad=False)) ** 2).mean()
    loss.backward()
    svg = gradwalk.draw(loss, model=model).svg
    ET.fromstring(svg)
    assert re.search(r"layers\.0\.weight|0\.weight", svg)
    with pytest.raises(SettingError, match="depth='nodes'"):
        gradwalk.draw(loss, model=model, depth="layers")


def test_arrays_of_plain_python_are_drawn_alike() -> None:
    with gradwalk.using_arrays("python"):
        x = Tensor([[1.0, -2.0], [0.0, 3.0]], label="x")
        loss = (x * x + Tensor([1.0, 2.0])).sum()
        loss.backward()
        drawn = gradwalk.draw(loss).svg
    y = Tensor([[1.0, -2.0], [0.0, 3.0]], label="x")
    again = (y * y + Tensor([1.0, 2.0])).sum()
    again.backward()
    assert drawn == gradwalk.draw(again).svg
