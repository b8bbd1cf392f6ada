"""The drawing in characters, on random graphs: nothing overlaps, nothing is lost, every edge joins its two ends."""

from __future__ import annotations

import pytest
from cases import GRADWALK, Program, programs
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk import Value
from gradwalk.presets import PRESETS
from gradwalk.stepper.canvas import EMPTY, paint
from gradwalk.stepper.grid import STYLES, GridLayout, Style, arrange
from gradwalk.stepper.nearby import around, in_play
from gradwalk.stepper.player import Player
from gradwalk.stepper.routes import DOWN, LEFT, RIGHT, UP
from gradwalk.walk import Push, readable, record, state_after

STEPS = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}
OPPOSITE = {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}


def player_for(program: Program) -> Player:
    return Player(record(program.run(Value, GRADWALK)[-1]))


def covered(layout: GridLayout) -> dict[tuple[int, int], int]:
    """Which card lies on which cell."""
    cells: dict[tuple[int, int], int] = {}
    for place, box in layout.boxes.items():
        for y in range(box.y, box.y + box.height):
            for x in range(box.x, box.right):
                assert (x, y) not in cells, f"{place} lies on {cells[x, y]}"
                assert 0 <= x < layout.width
                assert 0 <= y < layout.height
                cells[x, y] = place
    return cells


def reached(cells: dict[tuple[int, int], int], start: tuple[int, int]) -> set[tuple[int, int]]:
    """All that a line leads to, by the directions in which it leaves each cell."""
    seen, ahead = {start}, [start]
    while ahead:
        x, y = ahead.pop()
        for direction, (dx, dy) in STEPS.items():
            there = (x + dx, y + dy)
            if cells.get((x, y), 0) & direction and there in cells and there not in seen:
                assert cells[there] & OPPOSITE[direction], "a line that leaves one cell enters the next"
                seen.add(there)
                ahead.append(there)
    return seen


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=60, deadline=None)
@given(program=programs(max_steps=40))
def test_no_cards_overlap_and_every_edge_joins_its_two_ends(style: Style, program: Program) -> None:
    player = player_for(program)
    graph = player.recording.graph
    layout = arrange(player, range(len(graph.nodes)), style)
    cards = covered(layout)
    assert set(layout.boxes) == set(range(len(graph.nodes)))
    wanted = {(node.id, position) for node in graph.nodes for position in range(len(node.operands))}
    assert set(layout.edges) == wanted
    for (node, position), cells in layout.edges.items():
        operand = graph.nodes[node].operands[position]
        touched = {cards[cell] for cell in reached(cells, layout.ends[node, position]) if cell in cards}
        assert touched == {operand, node}, "it joins its ends, and runs through no other card"
        assert {cell for cell in cells if cell in cards} <= {
            (x, y)
            for place in (operand, node)
            for box in [layout.boxes[place]]
            for x in (box.x, box.right - 1)
            for y in range(box.y, box.y + box.height)
        }, "edges touch the borders of cards only"


@settings(max_examples=60, deadline=None)
@given(program=programs(max_steps=25), data=st.data())
def test_every_number_is_on_its_card_whatever_the_place(program: Program, data: st.DataObject) -> None:
    player = player_for(program)
    player.go(data.draw(st.integers(0, player.last)))
    graph = player.recording.graph
    layout = arrange(player, range(len(graph.nodes)), STYLES[-1])
    picture = paint(player, layout)
    state = state_after(player.recording, min(player.at, player.steps))
    for place, box in layout.boxes.items():
        if graph.nodes[place].constant:
            continue
        for row, number in ((1, state.data[place]), (2, state.grads[place])):
            text = "".join(character for character, _ in picture.cells[box.y + row][box.x + 1 : box.right - 1])
            assert text.strip() == (EMPTY if number is None else readable(number))


@settings(max_examples=60, deadline=None)
@given(program=programs(max_steps=60), data=st.data())
def test_the_neighbourhood_holds_what_a_step_is_about(program: Program, data: st.DataObject) -> None:
    player = player_for(program)
    player.go(data.draw(st.integers(0, player.last)))
    places = around(player)
    assert in_play(player) in places
    if isinstance(player.event, Push):
        assert player.event.operand in places
    layout = arrange(player, places, STYLES[0])
    covered(layout)
    assert (layout.height, len(places)) <= (60, 8)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "neuron-apart"])
def test_the_presets_fit_80_by_24(name: str) -> None:
    player = Player(record(PRESETS[name].build().root))
    layout = arrange(player, range(len(player.recording.graph.nodes)), STYLES[-1])
    assert layout.width <= 80
    assert layout.height <= 14


def test_both_edges_of_a_square_are_there_and_apart() -> None:
    player = Player(record(PRESETS["a-times-a"].build().root))
    layout = arrange(player, [0, 1], STYLES[0])
    first, second = layout.edges[1, 0], layout.edges[1, 1]
    assert set(first) - set(second)
    assert set(second) - set(first)
    assert layout.chips[1, 0] != layout.chips[1, 1]
