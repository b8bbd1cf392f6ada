"""What a person sees fits the screen: graph, sentence and Step together, widgets in their column, the header whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import OpenPage, widgets_ready
from playwright.sync_api import ViewportSize

ROOT = Path(__file__).resolve().parents[2]
LESSONS = [f"lessons/{path.stem[3:]}/" for path in sorted((ROOT / "web/lessons/en").glob("*.md"))]
LAPTOP: ViewportSize = {"width": 1366, "height": 768}
#: Too long to be drawn at one to one on a laptop: its graph scrolls inside its frame, and follows the walk.
SCROLLS = {"A neuron, taken apart"}

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

#: Widgets that reach out of their column, and text that is cut off inside one without a way to scroll to it.
TOO_WIDE = """() => {
    const column = document.querySelector("main").getBoundingClientRect();
    const told = (e) => `${e.closest("[data-widget]").dataset.widget}: ${e.outerHTML.slice(0, 100)}`;
    const widgets = [...document.querySelectorAll("[data-widget]")];
    const right = (e) => e.getBoundingClientRect().right;
    const out = widgets.filter((e) => right(e) > column.right + 1 || e.scrollWidth > e.clientWidth + 1);
    const moves = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
    const scrolls = (e) => e && (moves(e) || scrolls(e.parentElement.closest("[data-widget] *")));
    const cut = [...document.querySelectorAll("[data-widget] :is(p, button, td, th, label, .fx)")].filter((e) => {
        if (!e.checkVisibility() || e.closest(".cm-editor, .vh") || e.classList.contains("vh")) return false;
        return right(e) > right(e.closest("[data-widget]")) + 1 && !scrolls(e);
    });
    return [...out, ...cut].map(told);
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
PYTHON = "async (phase) => { (await course()).python.state.value = {phase, percent: 88}; }"


def test_graph_sentence_and_step_are_on_a_laptops_screen_together_and_no_widget_is_wider_than_its_column(
    open_page: OpenPage, address: str
) -> None:
    page = open_page("playground/", viewport=LAPTOP, reduced_motion="reduce")
    seen = 0
    for path in ["playground/", *LESSONS]:
        page.set_viewport_size(LAPTOP)
        page.goto(address + path)
        widgets_ready(page)
        for walk in page.locator("[data-widget=stepper] .walk").all():
            found: dict[str, Any] = walk.evaluate(TOGETHER)
            seen += 1
            assert found["covered"] <= 0, (path, found)
            assert found["sentence"], (path, found)
            assert found["step"], (path, found)
            assert found["wider"] <= 0 or found["title"] in SCROLLS, (path, found)
        for width in (1280, 768):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(50)
            assert page.evaluate(TOO_WIDE) == [], (path, width)
    assert seen > 9


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
