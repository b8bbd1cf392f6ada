"""The graph stepper in a real browser: every number of every step against the engine, by mouse, keys and touch."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from axe import serious, serious_in_light_and_dark
from browsing import PHONE, OpenPage, wait_until, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk import program, walk
from gradwalk.presets import PRESETS
from gradwalk.walk.formatting import adding_up, written

STILL = {"reduced_motion": "reduce"}
#: Gives the page `seen(widget)`: what a widget shows; and `acted(widget, act)`: press a button, and what it shows then.
SEEN = """
window.rest = () => new Promise((done) => setTimeout(done, 0));
window.seen = (widget) => {
    const text = (selector) => widget.querySelector(selector)?.textContent ?? "";
    const slot = (card, kind) => card.querySelector(`.slot.${kind} [data-value]`)?.dataset.value ?? null;
    const all = (kind, read) => Object.fromEntries(
        [...widget.querySelectorAll(`[data-${kind}]`)].map((each) => [each.dataset[kind], read(each)]));
    return {
        k: Number(widget.querySelector(".walk").dataset.k), spoken: text("[data-spoken]"),
        where: text(".where"), sentence: text(".sentence"), formula: text(".formula"), ledger: text(".ledger"),
        before: text(".ba-row .bslot:first-child"), after: text(".ba-row .bslot.now"),
        data: all("node", (card) => slot(card, "data")), grads: all("node", (card) => slot(card, "grad")),
        edges: all("edge", (edge) => edge.dataset.look), chips: all("chip", (chip) => chip.textContent),
        visiting: widget.querySelector(".node.vis")?.dataset.node ?? null,
    };
};
window.able = (widget, act) => widget.querySelector(`[data-act=${act}]`).getAttribute("aria-disabled") !== "true";
window.acted = async (widget, act) => {
    widget.querySelector(`[data-act=${act}]`).click();
    await rest();
    await rest();
    return seen(widget);
};
"""
WALK_ALL = """async (widget) => {
    const forth = [seen(widget)];
    while (able(widget, "step")) forth.push(await acted(widget, "step"));
    const back = [];
    while (able(widget, "back")) back.push(await acted(widget, "back"));
    return {forth, back};
}"""


def stepper(page: Page, index: int = 0) -> Locator:
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]").nth(index)
    widget.locator("svg.graph").wait_for()
    return widget


def seen(widget: Locator) -> dict[str, Any]:
    found: dict[str, Any] = widget.evaluate("seen")
    return found


def at(widget: Locator, k: int) -> Locator:
    """Wait until it stands at a step."""
    expect(widget.locator(".walk")).to_have_attribute("data-k", str(k))
    return widget


@pytest.fixture
def presets_page(open_page: OpenPage) -> Page:
    return open_page("playground/", script=SEEN, **STILL)


# --- every number ----------------------------------------------------------------------------------------------------


def numbers(shown: dict[str, str | None]) -> dict[int, float | None]:
    return {int(place): None if text is None else float(text) for place, text in shown.items()}


def standing(recording: walk.Recording, k: int) -> tuple[dict[int, float | None], dict[int, float | None]]:
    """What the engine says stands on the cards after `k` events."""
    state = walk.state_after(recording, k)
    ids = [node.id for node in recording.graph.nodes if not node.constant]
    return {x: state.data[x] for x in ids}, {x: state.grads[x] for x in ids}


def check_step(recording: walk.Recording, k: int, shown: dict[str, Any]) -> None:
    """One step as the page shows it against the engine's own events."""
    assert shown["k"] == k
    assert (numbers(shown["data"]), numbers(shown["grads"])) == standing(recording, k)
    if k == 0:
        return
    event = recording.events[k - 1]
    in_play = [edge for edge, look in shown["edges"].items() if look == "play"]
    assert len(shown["sentence"]) > 20
    match event:
        case walk.Compute(value=value):
            assert shown["where"] == "Forward"
            assert (shown["before"], shown["after"]) == ("empty", walk.readable(value))
            assert shown["formula"].endswith(walk.readable(value))
            assert in_play == []
        case walk.Seed(gradient=gradient):
            assert (shown["where"], shown["before"], shown["after"]) == ("Seed", "empty", walk.readable(gradient))
        case walk.Visit(node=node, gradient=gradient):
            assert shown["visiting"] == str(node)
            assert in_play == []
            assert shown["formula"].endswith(walk.readable(gradient))
        case walk.Push(node=node, operand=operand, position=position):
            assert in_play == [f"{node}:{position}"]
            assert shown["chips"][in_play[0]] == f"× {walk.readable(event.local)}"
            name, to = recording.graph.nodes[node].name, recording.graph.nodes[operand].name
            symbols = f"{to}.grad+={name}.grad×∂{name}/∂{to}"
            added = None if event.before is None else [event.before, event.contribution]
            decimals = 4 if added is None else adding_up(added, event.after)
            assert event.local is not None
            share, upstream, local, after = (
                written(x, decimals) for x in (event.contribution, event.upstream, event.local, event.after)
            )
            assert shown["formula"].startswith(f"{symbols}{share}={upstream}×{local}")
            assert shown["before"] == ("empty" if event.before is None else written(event.before, decimals))
            assert shown["after"] == after
            assert f"{upstream} times {local}" in shown["spoken"]
            if event.before is not None:  # what is shown adds up
                one, two, both = (Decimal(text.replace("−", "-")) for text in (shown["before"], share, after))
                assert one + two == both


def test_every_preset_steps_forth_and_back_with_the_engines_numbers(presets_page: Page) -> None:
    widget = stepper(presets_page)
    for name, preset in PRESETS.items():
        widget.get_by_role("combobox", name="Preset").select_option(name)
        recording = walk.record(preset.build().root)
        walked = widget.evaluate(WALK_ALL)
        assert len(walked["forth"]) == len(recording.events) + 1
        for k, shown in enumerate(walked["forth"]):
            check_step(recording, k, shown)
        assert [shown["k"] for shown in walked["back"]] == list(reversed(range(len(recording.events))))
        for shown in walked["back"]:
            assert {**shown, "spoken": ""} == {**walked["forth"][shown["k"]], "spoken": ""}
        last = numbers(walked["forth"][-1]["grads"])
        by_name = {node.name: last[node.id] for node in recording.graph.nodes if not node.constant}
        for node, gradient in preset.gradients.items():
            assert by_name[node] == pytest.approx(gradient, abs=1e-12)


def test_contributions_stand_in_a_ledger_as_a_bar_or_as_rows(presets_page: Page) -> None:
    widget = stepper(presets_page)
    widget.get_by_role("combobox", name="Preset").select_option("a-plus-a")
    assert "two contributions" in seen(widget)["ledger"]
    widget.locator("[data-act=end]").click()
    expect(widget.locator(".ledger .bar .got")).to_have_text(["1through b", "1through b"])
    expect(widget.locator(".ledger-sum")).to_have_text("1 + 1 = 2")
    widget.locator("[data-act=back]").click()
    expect(widget.locator(".ledger .ahead")).to_have_text("to come")  # no number before it has arrived
    widget.get_by_role("combobox", name="Preset").select_option("shared-pair")
    widget.locator("[data-act=end]").click()
    expect(widget.locator(".ledger .rows b")).to_have_text(["−6", "−2"])  # a bar has no room for the second
    presets_page.keyboard.press("ArrowLeft")
    expect(widget.locator(".ledger-h")).to_contain_text("a.grad")
    expect(widget.locator(".ledger .rows b")).to_have_text(["−6", "3"])


def test_a_stepper_can_end_with_the_forward_pass(open_page: OpenPage) -> None:
    widget = stepper(open_page("lessons/numbers-that-remember/", script=SEEN, **STILL))
    expect(widget.get_by_role("button", name="Start backward")).to_have_count(0)
    widget.locator("[data-act=end]").click()
    assert set(seen(widget)["grads"].values()) == {None}
    assert None not in seen(widget)["data"].values()


# --- keys, time, precision -------------------------------------------------------------------------------------------


def test_the_keyboard_alone_is_enough(presets_page: Page) -> None:
    widget = stepper(presets_page)
    keys = presets_page.keyboard
    widget.get_by_role("slider", name="Walk, step by step").focus()
    for key, k in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("b", 6),
        ("End", 20),
        ("Home", 0),
        ("PageDown", 1),
        ("ArrowUp", 2),
        ("B", 6),
    ]:
        keys.press(key)
        at(widget, k)
    expect(widget.get_by_role("slider", name="Walk, step by step")).to_have_attribute("aria-valuenow", "6")
    keys.press("Space")
    expect(widget.locator("[data-act=play]")).to_have_text("Pause")
    keys.press("Space")
    expect(widget.locator("[data-act=play]")).to_have_text("Play")
    widget.locator("[data-act=step]").focus()
    now = seen(widget)["k"]
    keys.press("Space")  # on a button, the key presses the button
    at(widget, now + 1)
    keys.press("ArrowRight")
    at(widget, now + 2)


def test_tab_reaches_everything_in_order(presets_page: Page) -> None:
    widget = stepper(presets_page)
    widget.get_by_role("tab", name="Preset").focus()
    reached = []
    for _ in range(12):
        presets_page.keyboard.press("Tab")
        reached.append(
            presets_page.evaluate(
                """() => {
                const {dataset, localName, role} = document.activeElement;
                return dataset.act ?? dataset.name ?? role ?? localName;
            }"""
            )
        )
    assert reached == [
        "select",
        "copy",
        "svg",
        "o",
        "slider",
        "reset",
        "back",
        "play",
        "step",
        "end",
        "summary",
        "backward",
    ]


def test_play_walks_to_the_end_by_itself_and_says_each_step(presets_page: Page) -> None:
    widget = stepper(presets_page)
    widget.get_by_role("combobox", name="Preset").select_option("a-times-a")
    widget.get_by_label("Speed").select_option("4")
    widget.locator("[data-act=play]").click()
    at(widget, 5)
    expect(widget.locator("[data-act=play]")).to_have_text("Play")
    expect(widget.locator("[data-spoken]")).to_contain_text("Step 5 of 5. Backward, visiting b, push 2 of 2.")
    expect(widget.locator("[data-spoken]")).to_contain_text("1 times 3 is 3. a grad was 3, is now 6.")
    widget.locator("[data-act=play]").click()  # from the end it begins anew
    at(widget, 5)


def test_nothing_moves_where_motion_is_reduced(open_page: OpenPage) -> None:
    moving = """(widget) => widget.querySelector(".canvas").getAnimations({subtree: true})
        .filter((one) => one.effect.getComputedTiming().duration > 20).length"""
    page = open_page("playground/", script=SEEN, reduced_motion="no-preference")
    widget = stepper(page)
    widget.get_by_role("button", name="Start backward").click()
    for _ in range(2):
        widget.locator("[data-act=step]").click()
    assert widget.evaluate(moving) >= 3  # band, runner, number
    widget.locator("[data-act=back]").click()
    at(widget, 7)
    assert widget.evaluate(moving) == 0  # a step back is simply there
    page.emulate_media(reduced_motion="reduce")
    widget.locator("[data-act=step]").click()
    at(widget, 8)
    assert widget.evaluate(moving) == 0


def test_the_walk_line_goes_where_it_is_pressed(presets_page: Page) -> None:
    widget = stepper(presets_page)
    widget.locator(".walkline [data-k='16']").click()
    at(widget, 16)
    expect(widget.locator(".walkline .now")).to_have_attribute("data-k", "16")
    expect(widget.locator(".walkline .cur small")).to_have_text("x2w2")


def test_a_card_tells_every_digit_to_mouse_and_keyboard(presets_page: Page) -> None:
    widget = stepper(presets_page)
    widget.locator("[data-act=end]").click()
    widget.locator("[data-name=n]").hover()
    expect(widget.get_by_role("tooltip")).to_contain_text("0.8813735870195432")
    presets_page.mouse.move(0, 0)
    expect(widget.get_by_role("tooltip")).to_have_count(0)
    widget.locator("[data-name=o]").focus()
    expect(widget.get_by_role("tooltip")).to_contain_text("o = tanh(n)")
    presets_page.keyboard.press("ArrowUp")
    expect(widget.locator("[data-name=n]")).to_be_focused()
    presets_page.keyboard.press("Escape")
    expect(widget.get_by_role("tooltip")).to_have_count(0)


def test_presets_step_though_python_never_comes(open_page: OpenPage) -> None:
    page = open_page("help/", script=SEEN, expected=("ERR_FAILED", "Failed to fetch", "asked for"), **STILL)
    page.route("**/*.wasm", lambda route: route.abort())
    page.route("**/pyodide/**", lambda route: route.abort())
    page.goto(page.url.replace("help/", "playground/"))
    widget = stepper(page)
    widget.locator("[data-act=end]").click()
    at(widget, 20)
    widget.get_by_text("Change the leaves").click()
    expect(widget.locator(".leaf-note")).to_contain_text("Python could not be loaded")


# --- phone -----------------------------------------------------------------------------------------------------------


IN_SIGHT = """(() => {
    const edge = document.querySelector("[data-look=play] .edge") ?? document.querySelector(".ring, .vis .card");
    const {top, bottom} = edge.getBoundingClientRect();
    return 0 <= top && bottom <= document.querySelector(".dock").getBoundingClientRect().top;
})()"""


def test_on_a_phone_the_edge_in_play_stays_in_sight_above_the_dock(open_page: OpenPage) -> None:
    page = open_page("playground/", script=SEEN, **PHONE, **STILL)
    widget = stepper(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    step = widget.locator("[data-act=step]")
    for k in range(1, 21):
        step.tap()
        at(widget, k)
        wait_until(page, IN_SIGHT)
    small = widget.evaluate(
        """(widget) => [...widget.querySelectorAll("button, select, summary, input")]
            .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 40)
            .map((one) => one.outerHTML)"""
    )
    assert small == []
    assert widget.locator("svg.graph").get_attribute("width") == str(
        int(widget.locator(".canvas-scroll").evaluate("(e) => e.clientWidth")) - 20
    )


def test_what_does_not_fit_scrolls_inside_its_frame_and_follows_the_walk(presets_page: Page) -> None:
    widget = stepper(presets_page)
    presets_page.set_viewport_size({"width": 1241, "height": 900})  # too narrow for the longest walk to the right
    widget.get_by_role("combobox", name="Preset").select_option("neuron-apart")
    frame = widget.locator(".canvas-scroll")
    wait_until(presets_page, "document.querySelector('svg.graph:not(.bare)')")
    assert frame.evaluate("(frame) => frame.scrollWidth > frame.clientWidth")
    assert presets_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    widget.get_by_role("button", name="Start backward").click()
    wait_until(presets_page, "document.querySelector('.canvas-scroll').scrollLeft > 100")
    widget.locator("[data-act=end]").click()
    wait_until(presets_page, "document.querySelector('.canvas-scroll').scrollLeft < 100")
    presets_page.set_viewport_size({"width": 1280, "height": 900})


# --- pictures and links ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_picture_stands_alone(open_page: OpenPage, scheme: str) -> None:
    page = open_page("playground/", color_scheme=scheme)
    widget = stepper(page)
    widget.get_by_role("button", name="Start backward").click()
    for _ in range(2):
        widget.locator("[data-act=step]").click()
    with page.expect_download() as download:
        widget.get_by_role("button", name="Save SVG").click()
    assert download.value.suggested_filename == "neuron.svg"
    text = Path(download.value.path()).read_text(encoding="utf-8")
    picture = ET.fromstring(text)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert 850 < float(picture.get("width", "0")) < 900  # the frame's: a neuron fits itself into it
    everything = list(picture.iter())
    assert {element.tag.partition("}")[2] for element in everything} == {"svg", "title", "g", "rect", "path", "text"}
    allowed = {"class", "style"}
    assert not any(
        allowed & element.attrib.keys() or any(key.startswith(("on", "data-")) for key in element.attrib)
        for element in everything
    )
    assert "var(" not in text
    fills = {element.get("fill") for element in everything}
    play = "rgb(255, 209, 66)" if scheme == "light" else "rgb(244, 200, 56)"
    assert any(element.get("stroke") == play for element in everything)
    assert ("rgb(26, 92, 158)" if scheme == "light" else "rgb(134, 190, 243)") in fills
    words = [element.text for element in everything if element.text]
    assert {"x1w1", "0.8814", "0.7071", "× 0.5", "tanh"} <= set(words)


def test_a_link_to_a_preset_leads_to_the_same_step(open_page: OpenPage) -> None:
    page = open_page(
        "lessons/backwards-by-hand/", script=SEEN, permissions=["clipboard-read", "clipboard-write"], **STILL
    )
    widget = stepper(page)
    widget.locator(".walkline [data-k='9']").click()
    widget.get_by_role("button", name="Copy link").click()
    expect(widget.get_by_role("status").filter(has_text="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"/playground/#preset=expression-l&step=9$", link)
    there = seen(widget)
    page.goto(link)
    other = stepper(page)
    at(other, 9)
    expect(other.get_by_role("combobox", name="Preset")).to_have_value("expression-l")
    assert seen(other)["grads"] == there["grads"]


# --- a program of one's own, and the leaves: one page, in which Python has loaded once -------------------------------

HOSTILE = "a = Value(2.0, label='<img src=x onerror=\"window.ran = 1\">')\nprint('ran')\nb = a * a\nb"


def fragment(text: str) -> str:
    return "#program=" + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def write(page: Page, widget: Locator, text: str) -> None:
    widget.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def draw(widget: Locator) -> None:
    widget.get_by_role("button", name="Draw it").click()
    expect(widget.get_by_role("button", name="Draw it")).to_be_enabled()


def test_links_and_programs_of_ones_own(open_page: OpenPage) -> None:
    page = open_page("playground/" + fragment(HOSTILE), script=SEEN, **STILL)
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]")

    # a link fills in the editor and runs nothing, also when Python has long been there
    expect(widget.get_by_role("tab", name="Your own expression")).to_have_attribute("aria-selected", "true")
    expect(widget.locator(".cm-content")).to_contain_text("onerror")
    expect(widget.get_by_text("Nothing has run. Read it, then press Draw it.")).to_be_visible()
    wait_until(page, "course().then((m) => m.python.state.value.phase === 'ready')")
    page.wait_for_timeout(300)
    expect(widget.locator("svg.graph")).to_have_count(0)
    expect(widget.get_by_text("It printed")).to_have_count(0)
    assert serious(page, "[data-widget=stepper]") == []

    # pressed, it runs; what it holds is text and stays text
    draw(widget)
    widget.locator("svg.graph").wait_for()
    expect(widget.locator(".own-printed pre")).to_have_text("ran\n")
    expect(widget.locator("[data-node='0']")).to_have_attribute("data-name", re.compile("onerror"))
    assert page.evaluate("window.ran === undefined && !document.querySelector('.widget img')")

    # the short form: names without a number start at 1, and each has a field
    write(page, widget, "L = tanh(a*b + c)")
    page.keyboard.press("Control+Enter")
    expect(widget.get_by_text("a, b, c had no number: they start at 1.")).to_be_visible()
    built = program("L = tanh(a*b + c)", a=1.0, b=1.0, c=1.0)
    check_whole_walk(widget, walk.record(built.root))
    widget.get_by_text("Change the leaves").click()
    widget.locator("[data-leaf=b]").fill("-2.5")
    expect(widget.locator("[data-name=b] .slot.data [data-value]")).to_have_attribute("data-value", "-2.5")
    recording = walk.record(program("L = tanh(a*b + c)", a=1.0, b=-2.5, c=1.0).root)
    check_whole_walk(widget, recording)
    widget.locator("[data-leaf=b]").fill("minus two")
    expect(widget.locator("[data-leaf=b]")).to_have_attribute("aria-invalid", "true")
    widget.get_by_role("button", name="Reset the leaves").click()
    wait_until(page, "document.querySelector('[data-name=b] .slot.data [data-value]')?.dataset.value === '1'")

    # what is wrong is told at its line
    for text, line, words in [
        ("a = Value(2.0)\nb = a * (3\n", 2, "never closed"),
        ("a = Value(2.0)\nfor i in range(3):\n    b = a * zebra\n", 3, "zebra"),
        ("a = Value(2.0)\nn = 0\nwhile True:\n    n += 1\n", None, "is there a loop that never ends?"),
        ("d = a ^ 2", 1, "write ** for a power"),
    ]:
        write(page, widget, text)
        draw(widget)
        expect(widget.locator(".reply.miss")).to_contain_text(words)
        if line:
            expect(widget.locator(".reply.miss")).to_contain_text(f"Line {line}:")
            expect(widget.locator(".cm-line").nth(line - 1)).to_have_class(re.compile("bad-line"))
    assert serious(page, "[data-widget=stepper]") == []

    # after all that, Python is still there
    write(page, widget, "a = Value(3.0)\nb = a * a\nb.backward()")
    draw(widget)
    expect(widget.get_by_text("Drawn: a graph with 2 nodes.")).to_be_visible()
    widget.locator("[data-act=end]").click()
    expect(widget.locator("[data-name=a] .slot.grad [data-value]")).to_have_text("6")

    # a preset re-runs with other numbers, the newest last
    widget.get_by_role("tab", name="Preset").click()
    widget.get_by_text("Change the leaves").click()
    for x in ("1", "12", "1.25"):
        widget.locator("[data-leaf=w1]").fill(x)
    expect(widget.locator("[data-name=w1] .slot.data [data-value]")).to_have_attribute("data-value", "1.25")
    check_whole_walk(widget, walk.record(PRESETS["neuron"].build().rerun(w1=1.25).root))

    # the program is kept for another day
    page.goto(page.url.partition("#")[0])
    widget = stepper(page)
    widget.get_by_role("tab", name="Your own expression").click()
    expect(widget.locator(".cm-content")).to_contain_text("b.backward()")


def check_whole_walk(widget: Locator, recording: walk.Recording) -> None:
    widget.evaluate("async (widget) => { if (able(widget, 'reset')) await acted(widget, 'reset'); }")
    for k, shown in enumerate(widget.evaluate(WALK_ALL)["forth"]):
        check_step(recording, k, shown)


@pytest.mark.parametrize("broken", ["#program=%%%", "#program=_w", "#preset=neuron&in.w1=lots"])
def test_a_damaged_link_is_told_and_does_nothing(open_page: OpenPage, broken: str) -> None:
    page = open_page("playground/" + broken, script=SEEN, **STILL)
    widgets_ready(page)
    expect(page.get_by_text("This link cannot be read.")).to_be_visible()


def test_a_link_with_an_unknown_preset_or_step_is_no_harm(open_page: OpenPage) -> None:
    page = open_page("playground/#preset=nothing&step=9999&in.zz=3", script=SEEN, **STILL)
    widget = stepper(page)
    assert seen(widget)["k"] == 9  # the last step of the first preset


def test_axe_finds_nothing_on_any_kind_of_step(presets_page: Page) -> None:
    widget = stepper(presets_page)
    for k in (0, 3, 6, 7, 16):
        widget.locator(f".walkline [data-k='{k}']").click() if k else None
        assert serious(presets_page, "[data-widget=stepper]") == []
    widget.get_by_text("Change the leaves").click()
    assert serious_in_light_and_dark(presets_page, "[data-widget=stepper]") == []
