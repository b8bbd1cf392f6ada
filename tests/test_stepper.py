"""The stepper on a terminal, driven by keys: every number it shows is held to the recording."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest
from apart import run_apart
from textual.pilot import Pilot
from textual.widget import Widget

from gradwalk import Value, nn
from gradwalk.presets import PRESETS
from gradwalk.stepper import nearby
from gradwalk.stepper.app import Stepper
from gradwalk.stepper.canvas import EMPTY
from gradwalk.stepper.grid import Rect
from gradwalk.stepper.manual import Manual
from gradwalk.stepper.order_screen import OrderScreen
from gradwalk.stepper.subject import Subject, subject
from gradwalk.stepper.widgets import GraphView
from gradwalk.walk import Push, readable, record, state_after

SMALL, LARGE = (80, 24), (120, 40)


def play(
    what: str | Subject, script: Callable[[Stepper, Pilot[None]], Awaitable[None]], size: tuple[int, int] = SMALL
) -> Stepper:
    """Run the application without a terminal, and let the script press keys."""
    thing = subject(what) if isinstance(what, str) else what
    app = Stepper(thing, record(thing.root))

    async def go() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(app, pilot)

    run_apart(go())
    return app


def text_of(widget: Widget) -> str:
    """What is to be seen of a part of the screen, without colour."""
    return "\n".join(widget.render_line(y).text.rstrip() for y in range(widget.size.height))


def shown(app: Stepper, name: str) -> str:
    """The text of one of the rows beside the graph."""
    return text_of(app.query_one(f"#{name}"))


def card(view: GraphView, place: int) -> Rect | None:
    """Where on the screen a node's card lies, if it is laid out at all."""
    box = view.layout_now.boxes.get(place) if view.layout_now else None
    left, top = view.origin
    return None if box is None else Rect(box.x + left, box.y + top, box.width, box.height)


def slot(app: Stepper, place: int, row: int) -> str | None:
    """A number on a card, as it stands on the screen; None if the card is not wholly in view."""
    box = card(app.view, place)
    assert box is not None
    if box.x < 0 or box.right > app.view.size.width or box.y < 0 or box.y + box.height > app.view.size.height:
        return None
    line = app.view.render_line(box.y + row).crop(box.x + 1, box.right - 1).text.strip()
    return line.removeprefix("data ").removeprefix("grad ").strip()


def check(app: Stepper) -> int:
    """Every number in view is the recording's at this place; gives how many there were."""
    player = app.player
    state = state_after(player.recording, min(player.at, player.steps))
    seen = 0
    for node in player.recording.graph.nodes:
        for row, numbers in ((1, state.data), (2, state.grads)):
            if node.constant:
                continue
            found, right = slot(app, node.id, row), numbers[node.id]
            if found is not None:
                assert found == (EMPTY if right is None else readable(right)), (node.name, player.at)
                seen += 1
    return seen


# --- back and forth --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("name", PRESETS)
def test_every_number_of_every_step_is_the_recordings_forth_and_back(name: str, size: tuple[int, int]) -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        events = app.player.recording.events
        by_keys = (name, size) == ("diamond", SMALL)  # a key takes a Pilot 60 ms

        async def step(by: int) -> None:
            if by_keys:
                await pilot.press("right" if by > 0 else "left")
            else:
                app.action_by(by)

        assert check(app)
        for place, event in enumerate(events, start=1):
            await step(1)
            assert app.player.at == place
            assert check(app)
            told = " ".join(shown(app, "step").split())
            assert event.sentence.replace("`", "") in told
            if isinstance(event, Push):
                assert event.local is not None
                assert f"×{readable(event.local)}" in text_of(app.view), "the local derivative stands on the edge"
                box, other = card(app.view, event.operand), card(app.view, event.node)
                assert box is not None
                assert other is not None
                assert slot(app, event.operand, 2) == readable(event.after), "the slot it lands in is in view"
                before = EMPTY if event.before is None else readable(event.before)
                assert f"{before} → {readable(event.after)}" in told
        await step(1)
        assert app.player.at == app.player.last
        assert "end" in shown(app, "step")
        await step(1)
        assert app.player.at == app.player.last, "there is nothing behind the end"
        for place in range(app.player.steps, -1, -1):
            await step(-1)
            assert app.player.at == place
            assert check(app)
        await step(-1)
        assert app.player.at == 0

    play(name, script, size)


@pytest.mark.parametrize("name", PRESETS)
def test_the_end_shows_the_gradients_of_the_course(name: str) -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("end")
        names = {node.name: node.id for node in app.player.recording.graph.nodes}
        for node, gradient in PRESETS[name].gradients.items():
            assert slot(app, names[node], 2) == readable(gradient)

    play(name, script, (150, 40))


def test_home_end_and_b() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("end")
        assert "every gradient is right" in shown(app, "step")
        assert "20/20" in shown(app, "line")
        await pilot.press("b")
        assert app.player.event is not None
        assert app.player.event.kind == "seed"
        assert "seed · begin at o" in shown(app, "step")
        assert "6/20" in shown(app, "line")
        await pilot.press("home")
        assert app.player.at == 0
        assert "start" in shown(app, "step")
        assert EMPTY in text_of(app.view)

    play("neuron", script)


def test_an_empty_slot_is_no_zero_and_a_zero_is_no_empty_slot() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        w2 = next(node.id for node in app.player.recording.graph.nodes if node.name == "w2")
        assert slot(app, w2, 2) == EMPTY
        await pilot.press("end")
        assert slot(app, w2, 2) == "0"

    play("neuron", script)


def test_the_formula_stands_in_two_rows() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("end", "left")
        rows = [line.strip() for line in shown(app, "step").splitlines()]
        assert rows[-3:] == ["a.grad += b.grad × ∂b/∂a", "6  =      6 × 1", "a.grad  9  →  15"]

    play("diamond", script)


def test_a_step_lights_one_edge() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        assert not {"play", "chip"} & {style for row in app.view.picture.cells for _, style in row}
        await pilot.press("b", "right", "right")
        lit = [
            (x, y, character)
            for y, row in enumerate(app.view.picture.cells)
            for x, (character, style) in enumerate(row)
            if style in ("play", "chip")
        ]
        text = "".join(character for *_, character in lit)
        assert "◂" in text
        assert "×0.5" in text
        assert len({y for _, y, _ in lit}) == 1, "o is right of n: a straight line"

    play("neuron", script)


# --- playing ---------------------------------------------------------------------------------------------------------


def test_space_plays_and_pauses_and_the_end_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwalk.stepper.app.SPEEDS", (5.0, 5.0, 5.0, 0.01, 0.01, 0.01))

    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("space")
        assert app.playing is not None
        assert "pause" in shown(app, "keys")
        await pilot.press("plus")
        for _ in range(200):
            await pilot.pause(0.02)
            if app.playing is None:
                break
        assert app.player.at == app.player.last
        assert app.playing is None
        await pilot.press("minus", "space")
        assert app.player.at < app.player.last, "from the end it starts again"
        await pilot.press("space")
        at = app.player.at
        await pilot.pause(0.1)
        assert app.player.at == at
        assert app.playing is None

    play("a-times-a", script)


def test_a_key_stops_the_play_and_plus_and_minus_change_its_speed() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("space", "plus", "plus")
        assert app.speed == 4
        assert app.playing is not None
        await pilot.press(*["minus"] * 9)
        assert app.speed == 0
        await pilot.press("right")
        assert app.playing is None
        assert app.player.at == 1

    play("diamond", script)


# --- another order ---------------------------------------------------------------------------------------------------


async def to_c_d_b_a(app: Stepper, pilot: Pilot[None]) -> OrderScreen:
    """From the engine's d, c, b, a: take d, put it below c."""
    await pilot.press("o")
    assert isinstance(app.screen, OrderScreen)
    assert app.screen.list.names == ["d", "c", "b", "a"]
    await pilot.press("space", "down", "space", "enter")
    assert app.screen.list.names == ["c", "d", "b", "a"]
    return app.screen


def test_the_diamond_visited_in_a_wrong_order_shows_what_was_lost_and_why() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        screen = await to_c_d_b_a(app, pilot)
        told = " ".join(screen.told.plain.split())
        assert "✗ not right" in told
        assert "c was visited before d: it had nothing to pass on yet, so the 9 that goes through c" in told
        assert "a.grad = 6, right is 15" in told
        await pilot.press("s")
        assert not isinstance(app.screen, OrderScreen)
        assert "order c, d, b, a" in shown(app, "head")
        await pilot.press("end")
        names = {node.name: node.id for node in app.player.recording.graph.nodes}
        assert slot(app, names["a"], 2) == "6"
        assert "✗ c was visited before d" in shown(app, "step")
        for _ in range(app.player.steps):
            await pilot.press("left")
            assert check(app)

    play("diamond", script)


@pytest.mark.slow
def test_back_to_the_engines_order() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await to_c_d_b_a(app, pilot)
        await pilot.press("s", "o")
        assert isinstance(app.screen, OrderScreen)
        assert app.screen.list.names == ["c", "d", "b", "a"], "the order that was played"
        await pilot.press("e")
        assert app.screen.list.names == ["d", "c", "b", "a"]
        assert "✓ right" in app.screen.told.plain
        await pilot.press("s", "end")
        assert app.player.recording is app.engine
        assert "order" not in shown(app, "head")
        assert slot(app, 0, 2) == "15"

    play("diamond", script)


def test_an_order_that_is_right_by_luck_is_told_so() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("o", "down", "down", "down")
        await pilot.press("K", "K", "K", "enter")  # a comes first: a leaf pushes nothing
        assert isinstance(app.screen, OrderScreen)
        assert app.screen.list.names == ["a", "d", "c", "b"]
        assert "✓ right" in app.screen.told.plain
        assert "only by luck" in app.screen.told.plain

    play("diamond", script)


def test_leaving_the_order_changes_nothing() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("right", "o", "space", "down", "escape")
        assert app.player.at == 1
        assert app.player.recording is app.engine

    play("diamond", script)


def test_a_graph_with_hooks_says_why_it_cannot_be_reordered() -> None:
    a = Value(2.0, label="a")
    b = a * 3
    b.register_hook(lambda grad: 2 * grad)

    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("o", "enter")
        assert isinstance(app.screen, OrderScreen)
        assert "hook" in app.screen.told.plain
        await pilot.press("s")
        assert isinstance(app.screen, OrderScreen)

    play(Subject(b.exp(), "hooked"), script)


# --- help, shade, size, quit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [SMALL, (60, 12)])
def test_help_names_every_key_and_closes(size: tuple[int, int]) -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        assert isinstance(app.screen, Manual)
        text = app.screen._text().plain
        for key in ("→ ←", "space", "home end", "o ", "?", "q ", "b ", "t ", "v "):
            assert f"  {key}" in text
        await pilot.press("escape")
        assert not isinstance(app.screen, Manual)

    play("neuron", script, size)


def test_the_keys_fit_80_columns() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        assert shown(app, "keys").strip().endswith("q quit")
        await pilot.press("o")
        line = app.screen.query_one("#keys").render_line(0).text
        assert line.rstrip().endswith("esc back")

    play("neuron", script)


def test_light_and_dark() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        first = app.theme
        await pilot.press("t")
        assert {first, app.theme} == {"gradwalk-dark", "gradwalk-light"}
        assert check(app)

    play("diamond", script)


def test_a_terminal_may_change_its_size() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("b", "right", "right")
        for size in (LARGE, (40, 16), (200, 60), (20, 8), (5, 3), SMALL):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert all(app.view.render_line(y).cell_length == size[0] for y in range(app.view.size.height))
        assert check(app) == 20

    play("neuron", script)


def test_q_quits() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("q")
        assert not app.is_running or app._exit

    assert play("neuron", script).return_code == 0


# --- large and strange graphs ----------------------------------------------------------------------------------------


def network() -> Value:
    model = nn.MLP(4, [8, 8, 1])
    out = model([0.5, -1.0, 2.0, 0.25])
    assert isinstance(out, Value)
    return out


def test_a_large_graph_is_stepped_by_its_neighbourhoods() -> None:
    thing = Subject(network(), "network")
    assert len(record(thing.root).graph.nodes) > nearby.LARGE

    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        assert not app.view.whole
        for place in (1, 50, app.player.seed, app.player.seed + 2, app.player.seed + 300, app.player.last):
            app._go(place)
            await pilot.pause()
            here = nearby.in_play(app.player)
            state = state_after(app.player.recording, min(app.player.at, app.player.steps))
            assert slot(app, here, 1) == (readable(state.data[here]) if state.data[here] is not None else EMPTY)
            assert re.search(r"\d+ nodes", text_of(app.view))
            event = app.player.event
            if isinstance(event, Push):
                assert slot(app, event.operand, 2) == readable(event.after)
        await pilot.press("v")
        assert not app.view.whole, "too many to draw at once"

    play(thing, script)


def test_a_graph_of_many_screens_is_stepped_by_its_neighbourhoods_unless_asked() -> None:
    out = nn.MLP(3, [4, 3, 1])([1.0, -2.0, 0.5])
    assert isinstance(out, Value)

    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        assert not app.view.whole
        await pilot.press("v")
        assert app.view.whole
        assert app.view.picture.width > 80
        await pilot.press("v", "b", "right", "right")
        assert not app.view.whole
        await pilot.resize_terminal(300, 100)
        await pilot.press("right")
        assert not app.view.whole, "as the user wished"

    play(Subject(out, "network"), script)


def test_v_shows_the_neighbourhood_of_a_small_graph_too() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("b", "v")
        assert app.view.layout_now is not None
        assert set(app.view.layout_now.boxes) < {node.id for node in app.player.recording.graph.nodes}
        await pilot.press("v")
        assert check(app) == 20

    play("neuron", script)


def test_a_graph_that_does_not_fit_says_so_and_can_be_panned() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        assert "›" in text_of(app.view)
        assert "‹" not in text_of(app.view)
        await pilot.press(*"lllllll")
        assert "‹" in text_of(app.view)
        await pilot.press("end")
        assert slot(app, app.player.recording.graph.root, 2) == "1"

    play("neuron-apart", script)


STRANGE = ["<b>|\"'&", "猫" * 30, "🙂", "x" * 1000, "[bold]", "two\nlines", "a\x1b[31m", " ", "e\u0301"]


@pytest.mark.parametrize("label", STRANGE)
def test_strange_labels_do_not_break_the_screen(label: str) -> None:
    a, b = Value(float("nan"), label=label), Value(float("-inf"), label=label)
    c = a * b
    c.label = label

    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        for place in range(app.player.last + 1):
            app._go(place)
            await pilot.pause()
            for y in range(app.view.size.height):
                strip = app.view.render_line(y)
                assert strip.cell_length == 80
                assert strip.text.isprintable()
        assert "nan" in text_of(app.view)
        await pilot.press("o", "enter")
        assert isinstance(app.screen, OrderScreen)

    play(Subject(c, label), script)


def test_a_single_leaf_can_be_stepped() -> None:
    async def script(app: Stepper, pilot: Pilot[None]) -> None:
        await pilot.press("right", "right", "right")
        assert app.player.at == app.player.last
        assert slot(app, 0, 2) == "1"

    play(Subject(Value(3.0, label="a"), "a"), script)
