"""Where things are: columns, orders, places and lines, on random graphs as on tidy ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

import cases
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_layout import mlp_loss, tangle

from gradwalk import Value, draw, ops
from gradwalk.drawing import cards
from gradwalk.drawing.api import Drawing

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


def test_operands_stand_in_the_order_they_are_written_in() -> None:
    names = "abcdefgh"
    a, b, c, d, e, f, g, h = (Value(1.0, label=name) for name in names)
    drawing = draw(((a * b) + (c * d)) * ((e * f) + (g * h)))
    at = {box.label: place.y for box, place in zip(drawing.scene.boxes, drawing.layout.places, strict=True)}
    assert [label for label in sorted(at, key=at.__getitem__) if label] == list(names)


def test_a_box_stands_in_the_middle_of_its_operands_and_chains_are_straight() -> None:
    a, b = Value(1.0, label="a"), Value(2.0, label="b")
    drawing = draw((a * b).exp().tanh().log())
    middle = [place.y + place.height / 2 for place in drawing.layout.places]
    assert middle[2] == pytest.approx((middle[0] + middle[1]) / 2)
    assert middle[2:] == pytest.approx([middle[2]] * 4)


# --- no line runs over a box -----------------------------------------------------------------------------------------


def rectangles(drawing: Drawing) -> list[list[Rectangle]]:
    """For each box the rectangle of its card, and that of its op."""
    found = []
    for place in drawing.layout.places:
        mine = [(place.x, place.y, place.x + place.width, place.y + place.height)]
        if place.op:
            x, y = place.op
            mine.append((x - place.op_width / 2, y - cards.OP / 2, x + place.op_width / 2, y + cards.OP / 2))
        found.append(mine)
    return found


def points(path: str) -> Iterator[tuple[float, float]]:
    """Points along a path, close together."""
    x = y = 0.0
    for command, text in re.findall(r"([MHVC])([^MHVC]*)", path):
        numbers = [float(word) for word in text.split()]
        if command == "M":
            x, y = numbers
            ends = [(x, y)]
        elif command == "C":
            (ax, ay, bx, by, cx, cy), ends = numbers, []
            for i in range(1, 21):
                t, s = i / 20, 1 - i / 20
                ends.append(
                    (
                        s**3 * x + 3 * s * s * t * ax + 3 * s * t * t * bx + t**3 * cx,
                        s**3 * y + 3 * s * s * t * ay + 3 * s * t * t * by + t**3 * cy,
                    )
                )
            x, y = cx, cy
        else:
            there = (numbers[0], y) if command == "H" else (x, numbers[0])
            ends = [(x + (there[0] - x) * i / 20, y + (there[1] - y) * i / 20) for i in range(21)]
            x, y = there
        yield from ends


def inside(point: tuple[float, float], box: Rectangle, margin: float = 1.0) -> bool:
    x, y = point
    return box[0] + margin < x < box[2] - margin and box[1] + margin < y < box[3] - margin


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def check_that_all_is_clear(drawing: Drawing) -> None:
    boxes = rectangles(drawing)
    for i, mine in enumerate(boxes):
        for other in boxes[:i]:
            assert not any(overlap(one, two) for one in mine for two in other)
    wide, high = drawing.layout.width, drawing.layout.height
    for mine in boxes:
        assert all(-4 <= b[0] and -4 <= b[1] and b[2] <= wide + 4 and b[3] <= high + 4 for b in mine)
    for wire in drawing.layout.wires:
        # Of two lines side by side each reaches as far as the round side of the op, which is inside its rectangle.
        own = boxes[drawing.scene.lines[wire.lines[0]].target][1:] if wire.head else []
        solid = [box for mine in boxes for box in mine if box not in own]
        for point in points(wire.path):
            assert not any(inside(point, box) for box in solid)
            assert not any(inside(point, box, 2.0) for box in own)
            assert -1 <= point[0] <= wide + 1
            assert -1 <= point[1] <= high + 1
        if wire.head:  # a branch ends at the op of its target, or at its card
            target = boxes[drawing.scene.lines[wire.lines[0]].target][-1]
            x, y = wire.head
            assert target[0] - 1 <= x <= target[2] + 1
            assert target[1] - 1 <= y <= target[3] + 1


@pytest.mark.parametrize("rankdir", ["LR", "TB"])
@pytest.mark.parametrize("root", [mlp_loss(), mlp_loss(2, (3, 1)), tangle(40)], ids=["mlp", "two samples", "tangle"])
def test_no_line_runs_over_a_box_in_large_graphs(root: Value, rankdir: str) -> None:
    check_that_all_is_clear(draw(root, rankdir=rankdir, locals=True))


@pytest.mark.parametrize("rankdir", ["LR", "TB"])
def test_three_lines_to_one_op_end_at_its_side(rankdir: str) -> None:
    x = Value(1.0)
    check_that_all_is_clear(draw(ops.where(x, x, x), rankdir=rankdir))


@settings(max_examples=60, deadline=None)
@given(cases.programs(max_steps=25), st.sampled_from(["LR", "TB"]), st.booleans())
def test_no_line_runs_over_a_box_in_random_graphs(program: cases.Program, rankdir: str, slopes: bool) -> None:
    root = program.run(Value, cases.GRADWALK)[-1]
    root.backward()
    drawing = draw(root, rankdir=rankdir, locals=slopes)
    check_that_all_is_clear(drawing)
    assert len([wire for wire in drawing.layout.wires if wire.head]) == len(drawing.scene.lines)


def test_every_edge_can_be_followed_from_its_operand_to_its_op() -> None:
    """A branch begins where its operand's card ends, or on the trunk that begins there."""
    drawing = draw(tangle(30))
    places = drawing.layout.places
    trunks = {line: wire for wire in drawing.layout.wires if not wire.head for line in wire.lines}
    for wire in drawing.layout.wires:
        if wire.head:
            (i,) = wire.lines
            begins = next(points(wire.path))
            source = places[drawing.scene.lines[i].source]
            if begins[0] == pytest.approx(source.x + source.width, abs=0.1):
                assert source.y <= begins[1] <= source.y + source.height
            else:
                on_trunk = list(points(trunks[i].path))
                assert min(abs(x - begins[0]) + abs(y - begins[1]) for x, y in on_trunk) < 0.2
                assert on_trunk[0][0] == pytest.approx(source.x + source.width, abs=0.1)


def test_a_leaf_used_by_a_long_chain_does_not_fill_the_file() -> None:
    x, factor = Value(1.0), Value(1.5)
    for _ in range(1000):
        x = x * factor
    assert len(draw(x).svg) < 1_200_000
