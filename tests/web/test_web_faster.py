"""From nodes to matrix products, and the bars of time, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from axe import serious_in_light_and_dark
from browsing import PHONE, OpenPage, Work, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk.learn.page.rolling import EXAMPLE, roll

ROOT = Path(__file__).resolve().parents[2]
LESSON = "lessons/faster-without-changing-a-line/"
RECORDED: dict[str, Any] = json.loads((ROOT / "web/recorded/rolled.graphs.json").read_text(encoding="utf-8"))
EAGER: list[dict[str, Any]] = json.loads((ROOT / "benchmarks/results/eager.json").read_text(encoding="utf-8"))["times"]


def widget(page: Page, name: str) -> Locator:
    widgets_ready(page)
    return page.locator(f"#{name}")


def dots(found: Locator) -> int:
    """How many cells of the picture are filled: the area of its paths."""
    area: int = found.locator(".f-spy svg").evaluate(
        "svg => [...svg.querySelectorAll('[class^=s]')].flatMap(p => [...p.getAttribute('d').matchAll(/h(\\d+)v1/g)])"
        ".reduce((sum, [, n]) => sum + Number(n), 0)"
    )
    return area


def filled(picture: Any) -> int:
    return sum(cell != "." for row in picture["rows"] for cell in row)


def stage(found: Locator, name: str) -> None:
    found.get_by_role("tab", name=name).click()


def steps(found: Locator) -> list[str]:
    return [" ".join(text.split()) for text in found.locator(".f-steps li .f-what").all_inner_texts()]


def told(graph: Any) -> list[str]:
    names = {"take": "take from a table", "shift": "largest of each"}
    return [
        f"{names.get(step['what'], step['what'])} {' × '.join(f'{n:,}' for n in step['shape'])}"
        for step in graph["steps"]
    ]


def test_the_example_goes_through_all_stages_before_python_is_there(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    found = widget(page, "rolling")
    graph: Any = roll(EXAMPLE)["rolled"]
    expect(found.locator(".f-facts")).to_contain_text(f"{graph['nodes']:,} operations")
    assert dots(found) == filled(graph["pictures"]["tape"])
    stage(found, "Tape")
    assert found.locator(".f-tape li").all_inner_texts() == graph["tape"]
    stage(found, "Levels")
    assert dots(found) == filled(graph["pictures"]["levels"])
    expect(found.locator(".f-widths svg")).to_have_attribute(
        "aria-label", f"{len(graph['levels'])} rounds; the widest holds {max(graph['levels'])} nodes."
    )
    stage(found, "Steps")
    assert dots(found) == filled(graph["pictures"]["steps"])
    assert steps(found) == told(graph)
    assert page.evaluate("async () => (await course()).python.state.value.phase") in ("idle", "loading", "ready")


def test_a_program_of_ones_own_is_rolled_up_and_mistakes_are_told(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    found = widget(page, "rolling")
    editor = found.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    text = "model = MLP(3, [6, 2])\nouts = [model([0.1 * i, 1.0, 2.0]) for i in range(9)]\nsum(a * b for a, b in outs)"
    page.keyboard.insert_text(text)
    graph: Any = roll(text)["rolled"]
    work = Work(page)
    page.keyboard.press("Control+Enter")
    expect(found.get_by_text(f"Rolled up: {graph['nodes']:,} nodes into {len(graph['steps'])} steps.")).to_be_visible()
    stage(found, "Steps")
    assert steps(found) == told(graph)
    assert "matrix product 6 × 3 × 9" in steps(found)
    work.count()
    print(f"{work.own:.2f} of {work.all:.2f} seconds in the page's own thread")
    assert 0 < work.own < work.all / 2, "Python computes apart from the page, which answers meanwhile"

    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("a = Value(2.0)\nprint(nothing)")
    found.get_by_role("button", name="Roll it up").click()
    expect(found.get_by_text("Line 2: name 'nothing' is not defined")).to_be_visible()
    expect(found.locator(".bad-line")).to_have_count(1)
    assert steps(found) == told(graph)  # the last good one stays


def test_the_recorded_graphs_are_the_compilers(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    found = widget(page, "recorded")
    for name, graph in (("Moons", RECORDED["moons"]), ("GPT", RECORDED["gpt"])):
        found.get_by_role("button", name=name).click()
        expect(found.locator(".f-panel")).to_have_attribute("data-nodes", str(graph["nodes"]))
        stage(found, "Steps")
        assert steps(found) == told(graph)
        for tab, picture in (("Nodes", "tape"), ("Levels", "levels"), ("Steps", "steps")):
            stage(found, tab)
            assert dots(found) == filled(graph["pictures"][picture])


def test_a_step_says_what_it_reads_and_is_chosen_by_keys(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    found = widget(page, "recorded")
    reads = found.locator(".f-reads")
    expect(reads).to_have_text("Step 4, matrix product, reads 1,600 numbers from step 3 and 272 parameters.")
    found.locator(".f-steps [aria-pressed=true]").focus()
    page.keyboard.press("ArrowDown")
    expect(reads).to_have_text("Step 5, relu, reads 1,600 numbers from step 4.")
    expect(found.locator(".f-steps button").nth(4)).to_be_focused()
    page.keyboard.press("Home")
    expect(reads).to_have_text("Step 1, matrix product, reads 48 parameters.")
    page.keyboard.press("End")
    expect(reads).to_contain_text("Step 11, dot products")
    assert found.locator(".f-arcs .here").get_attribute("d")
    tabs = found.get_by_role("tab")
    tabs.last.focus()
    page.keyboard.press("Home")
    expect(tabs.first).to_be_focused()
    expect(found.locator(".f-panel")).to_have_attribute("data-stage", "1")


def test_the_chosen_step_of_a_long_list_is_in_sight_and_the_page_stays_where_it_is(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    found = widget(page, "recorded")
    found.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    found.get_by_role("button", name="GPT").click()
    chosen = found.locator(".f-steps [aria-pressed=true]")
    chosen.wait_for()
    frame, box = found.locator(".f-scroll").bounding_box(), chosen.bounding_box()
    assert frame is not None
    assert box is not None
    assert frame["y"] <= box["y"]
    assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1
    assert abs(page.evaluate("scrollY") - before) < 5


def test_a_graph_that_does_not_load_is_told_and_can_be_asked_for_again(open_page: OpenPage) -> None:
    page = open_page(LESSON, expected=("ERR_FAILED", "net::"))
    page.route("**/rolled.graphs-*.json", lambda route: route.abort())
    page.reload()
    found = widget(page, "recorded")
    expect(found.get_by_text("This graph did not load.")).to_be_visible()
    page.unroute("**/rolled.graphs-*.json")
    found.get_by_role("button", name="Your own program").click()
    found.get_by_role("button", name="Moons").click()
    expect(found.locator(".f-panel")).to_have_attribute("data-nodes", str(RECORDED["moons"]["nodes"]))


def milliseconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1e3, "ms": 1.0, "µs": 1e-3, "ns": 1e-6}[unit]


def test_the_bars_show_what_was_measured(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    found = widget(page, "collector")
    rows = {row["collector"]: row for row in EAGER if (row["workload"], row["peer"]) == ("W1 moons step", "micrograd")}
    wanted = [rows[True]["peer_ms"], rows[False]["peer_ms"], rows[True]["ms"], rows[False]["ms"]]
    shown = [milliseconds(text) for text in found.locator(".time").all_inner_texts()]
    assert shown == pytest.approx(wanted, rel=0.05)
    widths = [box["width"] for bar in found.locator(".fill").all() if (box := bar.bounding_box())]
    assert [width / widths[0] for width in widths] == pytest.approx([x / wanted[0] for x in wanted], abs=0.02)
    for name in ("moons", "gpt"):  # what is said is what is drawn: in each group all bars are in proportion
        for group in widget(page, name).locator("ul").all():
            times = [milliseconds(text) for text in group.locator(".time").all_inner_texts()]
            drawn = [box["width"] for bar in group.locator(".fill").all() if (box := bar.bounding_box())]
            assert [width / drawn[0] for width in drawn] == pytest.approx([x / times[0] for x in times], abs=0.03)
    moons = widget(page, "moons")
    measured = (ROOT / "benchmarks/results/compiled.json").is_file()
    assert moons.get_by_text("compiled", exact=False).count() >= 1  # its bar, or how to measure it
    assert ("has not been measured" in moons.inner_text()) is not measured


def test_it_fits_a_phone_and_reads_in_both_colours(open_page: OpenPage) -> None:
    page = open_page(LESSON, reduced_motion="reduce", **PHONE)
    for name in ("rolling", "recorded"):
        found = widget(page, name)
        for tab in found.get_by_role("tab").all():
            tab.tap()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert serious_in_light_and_dark(page, f"#{name}") == []
    assert serious_in_light_and_dark(page, "#collector, #moons, #gpt") == []
