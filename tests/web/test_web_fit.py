"""What a person sees fits the screen: graph, sentence and Step together, widgets in their column, the header whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import TOO_WIDE, OpenPage, wait_until, widgets_ready
from playwright.sync_api import ViewportSize, expect

ROOT = Path(__file__).resolve().parents[2]
LESSONS = [f"lessons/{path.stem[3:]}/" for path in sorted((ROOT / "web/lessons/en").glob("*.md"))]
LAPTOP: ViewportSize = {"width": 1366, "height": 768}
#: With a widget's graph, or the sentence beside it, right under the header: what is off the screen, or covered.
TOGETHER = """async (walk) => {
    const rest = () => new Promise((done) => setTimeout(done, 30));
    const box = (element) => element.getBoundingClientRect();
    walk.querySelector("[data-act=end]").click();
    await rest();
    walk.querySelector("[data-act=back]").click();
    await rest();
    const top = Math.min(...["svg.graph", ".sentence"].map((part) => box(walk.querySelector(part)).top));
    scrollBy({top: top - box(document.querySelector("header.top")).bottom - 2, behavior: "instant"});
    await rest();
    const graph = box(walk.querySelector("svg.graph"));
    const frame = box(walk.querySelector(".canvas-scroll"));
    const over = [...walk.querySelectorAll("[data-over]")].find((e) => getComputedStyle(e).position === "sticky");
    const seen = (selector) => {
        const place = box(walk.querySelector(selector));
        const there = document.elementFromPoint(place.left + place.width / 2, place.top + place.height / 2);
        return place.bottom <= innerHeight && place.top >= 0 && walk.querySelector(selector).contains(there);
    };
    return {
        title: walk.closest(".widget").querySelector("select")?.selectedOptions[0].textContent ?? "",
        covered: Math.round(graph.bottom - box(over).top), wider: Math.round(graph.right - frame.right),
        sentence: seen(".sentence"), step: seen("[data-act=step]"),
    };
}"""

#: Labels of edges that cover more than a bit of a card.
CHIPS_ON_CARDS = """() => {
    const box = (element) => element.getBoundingClientRect();
    const cards = [...document.querySelectorAll("svg.graph rect.card")].map(box);
    return [...document.querySelectorAll("svg.graph .chip.was text, svg.graph .chip.on text")].filter((chip) => {
        const {left, right, top, bottom} = box(chip);
        return cards.some((card) => Math.min(right, card.right) - Math.max(left, card.left) > 4 &&
            Math.min(bottom, card.bottom) - Math.max(top, card.top) > 4);
    }).map((chip) => chip.textContent);
}"""

#: Labels of edges that cover a bit of an op's sign.
CHIPS_ON_OPS = """() => {
    const box = (element) => element.getBoundingClientRect();
    const ops = [...document.querySelectorAll("svg.graph .op > :first-child")].map(box);
    return [...document.querySelectorAll("svg.graph .chip:not(.flat)")].filter((chip) => {
        const {left, right, top, bottom} = box(chip.querySelector("rect"));
        return ops.some((op) => Math.min(right, op.right) - Math.max(left, op.left) > 2 &&
            Math.min(bottom, op.bottom) - Math.max(top, op.top) > 2);
    }).map((chip) => chip.textContent);
}"""

#: Labels of edges that cover each other.
CHIPS_ON_CHIPS = """() => {
    const chips = [...document.querySelectorAll("svg.graph .chip")]
        .map((e) => ({e, box: e.querySelector("rect").getBoundingClientRect()}));
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    return chips.flatMap(({e, box}, i) => chips.slice(i + 1)
        .filter((other) => other.e.ownerSVGElement === e.ownerSVGElement && over(box, other.box))
        .map((other) => [e.textContent, other.e.textContent]));
}"""

HEADER = """() => {
    const {clientWidth: width, scrollWidth, dataset: {page}} = document.documentElement;
    const told = (what, e) => wrong.push(`${what}: ${e.outerHTML.slice(0, 60)}`);
    const wrong = [];
    const parts = [...document.querySelectorAll(".brand, .trail, .top-right > *")]
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 1)
        .map((e) => ({e, box: e.getBoundingClientRect()}));
    parts.forEach(({e, box}, i) => {
        if (box.left < -0.5 || box.right > width + 0.5) told("off the screen", e);
        if (i && box.left < parts[i - 1].box.right - 1) told("over another", e);
    });
    for (const e of document.querySelectorAll(".trail-text, .top-right a, .top-right button")) {
        if (e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1) told("cut off", e);
    }
    const seen = (selector) => document.querySelector(selector)?.checkVisibility() ?? false;
    if (!seen("[data-menu]") && !seen("#rail") && page !== "index") wrong.push("no way to the contents");
    if (scrollWidth > width) wrong.push(`the page is ${scrollWidth} wide`);
    return wrong;
}"""
#: Dots of the walk behind a title that lie on its words.
DOTS_ON_WORDS = """() => {
    const words = [...document.querySelectorAll(".title > :not(.relief)")].flatMap((e) => {
        const text = document.createRange();
        text.selectNodeContents(e);
        return [...text.getClientRects()].filter(({width, height}) => width > 2 && height < 90); // lines
    });
    const on = (dot, line) => dot.right > line.left && dot.left < line.right &&
        dot.bottom > line.top + 4 && dot.top < line.bottom - 4;
    return [...document.querySelectorAll(".title .relief circle")].filter((e) => e.checkVisibility())
        .map((e) => e.getBoundingClientRect()).filter((dot) => words.some((line) => on(dot, line))).length;
}"""
PYTHON = "async (phase) => { (await course()).python.state.value = {phase, percent: 88}; }"


def test_graph_sentence_and_step_are_on_a_laptops_screen_together(
    open_page: OpenPage, site: Path, address: str
) -> None:
    page = open_page("playground/", viewport=LAPTOP, reduced_motion="reduce")
    seen = 0
    for path in ["playground/", *LESSONS]:
        if 'data-widget="stepper"' not in (site / path / "index.html").read_text(encoding="utf-8"):
            continue
        page.set_viewport_size(LAPTOP)
        page.goto(address + path)
        widgets_ready(page)
        for walk in page.locator("[data-widget=stepper] .walk").all():
            found: dict[str, Any] = walk.evaluate(TOGETHER)
            seen += 1
            assert found["covered"] <= 0, (path, found)
            assert found["sentence"], (path, found)
            assert found["step"], (path, found)
            assert found["wider"] <= 0, (path, found)
        for width in (1280, 768):  # also where a walk has come to its end
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(50)
            assert page.evaluate(TOO_WIDE) == [], (path, width)
    assert seen > 9


def test_every_preset_fits_a_laptop_and_can_be_read_there(open_page: OpenPage) -> None:
    page = open_page("playground/", viewport=LAPTOP, reduced_motion="reduce")
    widgets_ready(page)
    choice = page.locator("[data-widget=stepper] select").first
    presets = choice.locator("option").all_inner_texts()
    assert "A neuron, taken apart" in presets
    for size in (LAPTOP, ViewportSize(width=1280, height=768)):
        for preset in presets:
            page.set_viewport_size(size)
            choice.select_option(label=preset)
            found: dict[str, Any] = page.locator("[data-widget=stepper] .walk").evaluate(TOGETHER)
            assert (found["title"], found["wider"] <= 0, found["covered"] <= 0) == (preset, True, True), (size, found)
            assert found["sentence"], (size, found)
            assert found["step"], (size, found)
            letters = page.locator("svg.graph .slot .v").first.evaluate(
                "(e) => parseFloat(getComputedStyle(e).fontSize) * e.getCTM().a"
            )
            assert letters > 10, (size, preset)
            touching = page.evaluate(CHIPS_ON_CARDS)
            assert touching == [], (size, preset)


def test_no_label_covers_another_or_an_op(open_page: OpenPage) -> None:
    page = open_page("playground/", reduced_motion="reduce")
    widgets_ready(page)
    choice = page.locator("[data-widget=stepper] select").first
    for preset in choice.locator("option").all_inner_texts():
        choice.select_option(label=preset)
        page.locator("[data-widget=stepper] [data-act=end]").click()
        for width in (390, 768, 1280, 1366, 1920):  # the places of labels are the same at every step
            page.set_viewport_size({"width": width, "height": 900})
            drawn = "(most) => document.querySelector('svg.graph').getBoundingClientRect().width <= most"
            wait_until(page, drawn, width)
            assert page.evaluate(CHIPS_ON_CHIPS) == [], (preset, width)
            assert page.evaluate(CHIPS_ON_OPS) == [], (preset, width)


def test_no_label_of_a_hunted_engine_covers_another(open_page: OpenPage) -> None:
    page = open_page("lessons/the-four-classic-bugs/", reduced_motion="reduce")
    widgets_ready(page)
    hunt = page.locator("[data-widget=hunt]").first
    for width in (390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        for engine in range(4):
            hunt.get_by_role("tab").nth(engine).click()
            hunt.locator("[data-act=end]").click()
            expect(hunt.locator("[data-act=end]")).to_have_attribute("aria-disabled", "true")
            assert page.evaluate(CHIPS_ON_CHIPS) == [], (engine, width)


def test_the_walk_behind_a_title_leaves_its_words_alone(open_page: OpenPage, address: str) -> None:
    page = open_page(java_script_enabled=False)  # the build has drawn both
    for path in [*LESSONS, "es/lessons/quien-va-primero/"]:
        page.goto(address + path)
        page.locator(".title").evaluate("(e) => e.parentElement.replaceChildren(e)")  # the rest is long to lay out
        for width in (620, 768, 900, 1010, 1280, 1366, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(DOTS_ON_WORDS) == 0, (path, width)
        assert page.locator(".title .relief circle").first.is_visible()


@pytest.mark.parametrize("path", ["lessons/the-engine-in-versions/", "es/lessons/usado-dos-veces/"])
def test_the_header_is_whole_from_320_pixels_to_2560_and_at_twice_the_size(open_page: OpenPage, path: str) -> None:
    page = open_page(path, locale="en-GB" if not path.startswith("es") else "es-ES")
    widgets_ready(page)
    for width in (
        320,
        359,
        390,
        421,
        480,
        600,
        601,
        640,
        768,
        820,
        900,
        1000,
        1001,
        1100,
        1240,
        1241,
        1366,
        1920,
        2560,
    ):
        page.set_viewport_size({"width": width, "height": 700})
        for phase in ("idle", "loading", "failed"):
            page.evaluate(PYTHON, phase)
            assert page.evaluate(HEADER) == [], (width, phase)
