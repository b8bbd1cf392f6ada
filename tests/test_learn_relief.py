"""The ornament is real: lines of equal height, and steps that go down along the gradient."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from gradwalk import Value
from gradwalk.learn.relief import CELL, HEIGHT, LEVELS, SCALE, STARTS, WIDTH, contours, height, material, walk_down


@pytest.mark.parametrize("level", LEVELS[::4])
def test_every_point_of_a_line_has_its_height(level: float) -> None:
    for line in contours(level):
        for x, y in line:
            here = Value(x / SCALE), Value(y / SCALE)
            ground = height(*here)
            ground.backward()
            steep = abs(here[0].grad) + abs(here[1].grad)
            assert ground.data == pytest.approx(level, abs=steep / SCALE + 0.02)  # a point lies on whole numbers
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT


def test_lines_close_or_end_at_the_edge() -> None:
    for level in LEVELS:
        for line in contours(level):
            ends = [line[0], line[-1]]
            closed = ends[0] == ends[1]
            assert closed or all(x in (0, WIDTH) or y in (0, HEIGHT) for x, y in ends), (level, ends)
            assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) <= 2 * CELL for a, b in pairwise(line))


@pytest.mark.parametrize("start", STARTS)
def test_each_walk_goes_down_and_arrives(start: tuple[float, float]) -> None:
    path = walk_down(*start)
    heights = [height(*point) for point in path]
    assert heights == sorted(heights, reverse=True)
    assert len(path) > 8
    assert heights[-1] < LEVELS[6]


@pytest.mark.slow
def test_the_material_is_small_and_plain() -> None:
    found = material()
    assert re.fullmatch(r"(M\d+ \d+l[-\d ]+)+", found["lines"])
    assert len(found["lines"]) < 25_000
    assert [walk[0] for walk in found["walks"]] == [[round(x * SCALE), round(y * SCALE)] for x, y in STARTS]
