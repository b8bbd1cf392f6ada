"""gradwalk beside PyTorch, in a real browser: our side runs there and is compared with what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from axe import serious
from browsing import PHONE, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, expect

LESSON = "lessons/against-pytorch/"
RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "web/recorded/against_torch.json").read_text(encoding="utf-8")
)
COMPARISONS: dict[str, list[dict[str, str]]] = RECORDED["comparisons"]


#: By how many pixels lines that go on below do so further in than they began.
FURTHER_IN = """(lines) => lines.flatMap((line) => {
    const text = document.createRange();
    text.selectNodeContents(line);
    const rows = [...text.getClientRects()].filter(({width}) => width > 0);
    const style = getComputedStyle(line);
    const letters = parseInt(style.getPropertyValue("--in"));
    if (letters > 12) return []; // far in, there would be no room
    const began = rows[0]?.left + letters * parseFloat(style.fontSize) * 0.6;
    return rows.filter(({top}) => top > rows[0].bottom - 2).map(({left}) => left - began);
})"""


def widget(page: Page, name: str) -> Locator:
    widgets_ready(page)
    return page.locator(f"#{name}")


def side(found: Locator, row: str, name: str) -> Locator:
    return found.locator(f"[data-row={row}]").get_by_role("group", name=name)


@pytest.mark.parametrize("name", COMPARISONS)
def test_both_sides_stand_there_and_only_the_right_one_has_spoken(open_again: OpenPage, name: str) -> None:
    found = widget(open_again(LESSON), name)
    assert RECORDED["torch"] in found.locator(".beside-head").inner_text()
    for row in COMPARISONS[name]:
        for who, code in (("gradwalk", row["ours"]), ("PyTorch", row["theirs"])):
            assert side(found, row["name"], who).locator("pre").first.text_content() == code
        spoken = side(found, row["name"], "PyTorch").locator(".out pre")
        assert [text.removeprefix("prints: ") for text in spoken.all_text_contents()] == (
            [row["theirsPrinted"].rstrip()] if row["theirsPrinted"] else []
        )
        assert side(found, row["name"], "gradwalk").locator(".out.empty").count() == bool(row["oursPrinted"])


def test_the_left_side_runs_and_what_agrees_and_differs_is_said(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    for name, status in (
        ("neuron", "2 of 2 outputs are the same."),
        ("network", "3 of 3 outputs are the same."),
        ("leaving", "2 of 4 outputs are the same."),
        ("different", "None of the outputs are the same."),
    ):
        found = widget(page, name)
        found.locator("[data-act=run]").click()
        expect(found.get_by_role("status")).to_contain_text(status)
        for row in COMPARISONS[name]:
            if not row["oursPrinted"]:
                continue
            spoken = side(found, row["name"], "gradwalk").locator(".out pre").text_content() or ""
            assert spoken.removeprefix("prints: ") == row["oursPrinted"].rstrip()
            if row["theirsPrinted"]:
                said = "the same output" if row["oursPrinted"] == row["theirsPrinted"] else "different output"
                expect(side(found, row["name"], "gradwalk").locator(".out-same")).to_have_text(said)
        expect(found.locator(".out.empty")).to_have_count(0)


def test_it_is_run_by_keyboard(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    found = widget(page, "neuron")
    found.locator("[data-act=run]").focus()
    page.keyboard.press("Enter")
    expect(found.locator("[data-act=run]")).to_have_text("Run it again")
    expect(found.locator("[data-act=run]")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_one_side_stands_below_the_other(open_again: OpenPage, scheme: str) -> None:
    page = open_again(LESSON, color_scheme=scheme, **PHONE)
    found = widget(page, "network")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    first = found.locator("[data-row=loss]")
    ours, theirs = (first.get_by_role("group", name=name).bounding_box() for name in ("gradwalk", "PyTorch"))
    assert ours is not None
    assert theirs is not None
    assert theirs["y"] >= ours["y"] + ours["height"] - 1
    assert first.get_by_text("PyTorch", exact=True).is_visible()
    cut = found.locator("pre").evaluate_all("all => all.filter(p => p.scrollWidth > p.clientWidth + 1).length")
    assert cut == 0
    further = found.locator(".hang").evaluate_all(FURTHER_IN)
    assert further
    assert min(further) > 8  # a line that goes on below does not look like a new one
    expect(found.get_by_role("button", name="Run the gradwalk side")).to_be_visible()
    assert serious(page, "#network") == []
