"""The stepper over tensors in a real browser: every cell of every step, faces, the graph of one number."""

from __future__ import annotations

import re
from typing import Any

from axe import serious, serious_in_light_and_dark
from browsing import OpenPage, wait_until, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk import walk
from gradwalk.drawing import theme
from gradwalk.learn.page.programs import built
from gradwalk.learn.page.recordings import TENSORS
from gradwalk.walk.heat_maps import short
from gradwalk.walk.many import Many

LESSON = "lessons/many-numbers-one-node/"
STILL = {"reduced_motion": "reduce"}
TEXT = TENSORS["tensor-layer"][1]
SEEN = """async (widget) => {
    const rest = () => new Promise((done) => setTimeout(done, 0));
    const cells = (slot) => [...slot.querySelectorAll("[data-cell]")].map((cell) => cell.textContent);
    const slot = (card, kind) => {
        const found = card.querySelector(`.mapslot.${kind}, .slot.${kind}`);
        if (!found || found.classList.contains("none")) return null;
        return found.matches(".slot") ? found.querySelector("[data-value]").textContent : cells(found);
    };
    const seen = () => ({
        cards: Object.fromEntries([...widget.querySelectorAll("[data-node]")].map((card) => [card.dataset.node, [slot(card, "data"), slot(card, "grad")]])),
        sentence: widget.querySelector(".sentence").textContent,
        chips: [...widget.querySelectorAll("[data-chip]")].map((chip) => chip.textContent),
        looks: [...widget.querySelectorAll("[data-look=play]")].map((edge) => edge.dataset.edge),
    });
    const all = [seen()];
    const step = widget.querySelector("[data-act=step]");
    while (step.getAttribute("aria-disabled") !== "true") {
        step.click();
        await rest();
        await rest();
        all.push(seen());
    }
    return all;
}"""  # noqa: E501

#: The colour of each step in the map of a card's data.
FILLS = """(node) => [...node.querySelectorAll(".mapslot.data path")].map((path) => {
    const {fill, fillOpacity} = getComputedStyle(path);
    return [path.getAttribute("class"), fill, Number(fillOpacity)];
})"""

FITS = """(() => {
    const [graph, frame] = ["svg.graph", ".canvas-scroll"].map((part) => document.querySelector(`.stepper ${part}`));
    return graph.getBoundingClientRect().width <= frame.clientWidth;
})()"""


def layer(page: Page) -> Locator:
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]").first
    widget.locator("svg.graph").wait_for()
    return widget


def shown(held: Any) -> Any:
    """What a card shows of a number, or of many."""
    if isinstance(held, Many) and held.shape:
        return [short(x) for x in held.numbers]
    return None if held is None else walk.readable(held)


def test_every_cell_of_every_step_is_the_engines_in_the_colours_of_the_drawings(open_page: OpenPage) -> None:
    page = open_page(LESSON, **STILL)
    widget = layer(page)
    recording = walk.record(built(TEXT))
    found = widget.evaluate(SEEN)
    assert len(found) == len(recording.events) + 1
    for k, step in enumerate(found):
        state = walk.state_after(recording, k)
        for node in recording.graph.nodes:
            assert step["cards"][str(node.id)] == [shown(state.data[node.id]), shown(state.grads[node.id])], k
        assert sorted(step["chips"]) == sorted(
            walk.readable(shape) if not isinstance(shape := recording.graph.nodes[x].data, Many) else str(shape.shape)
            for node in recording.graph.nodes
            for x in node.operands
        )
        if k:
            event = recording.events[k - 1]
            assert step["sentence"] == event.sentence.replace("`", "")
            pushed = [f"{event.node}:{event.position}"] if isinstance(event, walk.Push) else []
            assert step["looks"] == pushed
    expect(widget.locator("[data-spread=fan]")).to_have_count(1)
    expect(widget.locator("[data-spread=funnel]")).to_have_count(1)
    for scheme, palette in (("light", theme.LIGHT), ("dark", theme.DARK)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for name, fill, opacity in widget.locator("[data-name=X]").evaluate(FILLS):
            step = int(name.replace("m-n", "-").replace("m-p", ""))
            red, green, blue = (int(x) for x in re.findall(r"\d+", fill))
            mixed = theme.mix(palette["surface"], f"#{red:02X}{green:02X}{blue:02X}", opacity)
            assert mixed == theme.diverging(palette)[step], (scheme, name)


def test_a_product_opens_into_its_faces_at_every_width(open_page: OpenPage) -> None:
    page = open_page(LESSON, **STILL)
    widget = layer(page)
    widget.locator("[data-act=end]").click()
    card = widget.locator("[data-name=n2]")
    expect(card).to_have_attribute(
        "aria-label",
        re.compile(
            r"^n2, shape \(3, 2\), data from −3 at \[1, 1\] to 5 at \[1, 0\]; 2 below 0, 1 equal to 0, grad from"
        ),
    )
    card.focus()
    page.keyboard.press("Enter")
    expect(widget.locator(".cells")).to_be_visible()
    page.keyboard.press("Escape")
    widget.get_by_role("button", name="The numbers of W").click()  # of the node that the step is about
    expect(widget.locator(".cells code").first).to_have_text("W")
    card.focus()
    page.keyboard.press("Enter")
    cells = widget.locator(".cells")
    expect(cells.locator(".cells-maps")).to_be_focused()
    expect(cells.locator(".faces .map")).to_have_count(3)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(cells.get_by_role("status")).to_contain_text("n2[1, 1] = 3 × (−1) + (−1) × 0 = −3")
    expect(cells.get_by_role("status")).to_contain_text("gradient of n2[1, 1]: −2")
    expect(cells.locator(".faces .lit")).to_have_count(3)
    cells.get_by_label("dim 0, 0 to 2").fill("2")
    expect(cells.get_by_role("status")).to_contain_text("n2[2, 1] = 0 × (−1) + 1 × 0 = 0")
    cells.locator(".faces [data-cell='0,0']").last.click()
    expect(cells.get_by_role("status")).to_contain_text("n2[0, 0] = 1 × 2 + 2 × 1 = 4")
    expect(widget.locator(".walk")).to_have_attribute("data-k", str(len(walk.record(built(TEXT)).events)))
    assert serious_in_light_and_dark(page, "[data-widget=stepper]") == []
    for width in (390, 768, 1366):  # no wider than its column, and with its numbers
        page.set_viewport_size({"width": width, "height": 900})
        wait_until(page, FITS)
        expect(widget.locator("svg.graph [data-cell]").first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") == width
    cells.locator(".cells-maps").focus()
    page.keyboard.press("Escape")
    expect(cells).to_have_count(0)
    expect(card).to_be_focused()


def test_a_program_of_ones_own_and_the_graph_of_one_number(open_page: OpenPage) -> None:
    page = open_page("playground/", **STILL)
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]")
    widget.get_by_role("tab", name="Your own expression").click()
    editor = widget.locator(".cm-content")
    editor.fill("t = Tensor([[1.0, 2.0], [3.0, 4.0]])\nt * t")
    widget.locator("[data-act=draw]").click()
    expect(widget.locator(".own-status .reply")).to_contain_text("a walk begins at one number", timeout=60_000)
    editor.fill("t = Tensor([[1.0, 2.0], [3.0, 4.0]])\nloss = (t @ t).tanh().sum()")
    widget.locator("[data-act=draw]").click()
    expect(widget.locator("svg.graph [data-name=t]")).to_be_visible()
    widget.locator("svg.graph [data-name=t] [data-cell='1,0']").first.click()
    widget.get_by_role("button", name="Step through the graph of t[1, 0]").click()
    expect(widget.locator(".opened-bar p")).to_have_text(
        "loss, as far as t[1, 0] counts. Every other number is a constant here."
    )
    inner = widget.locator(".opened")
    expect(inner.locator("svg.graph [data-name='t[1, 0]']")).to_be_visible()
    inner.locator("[data-act=end]").click()
    root = built("t = Tensor([[1.0, 2.0], [3.0, 4.0]])\nloss = (t @ t).tanh().sum()")
    root.backward()
    right = walk.readable(next(iter(walk.topological(root))).grad[1, 0].item())
    expect(inner.locator("svg.graph [data-name='t[1, 0]']")).to_have_attribute(
        "aria-label", re.compile(f"grad {right}$")
    )
    assert serious(page, "[data-widget=stepper]") == []
    widget.locator("[data-act=leave]").click()
    expect(widget.get_by_role("button", name="Step through the graph of t[1, 0]")).to_be_focused()
