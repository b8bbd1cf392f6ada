"""The model that makes up names, in a real browser, on the page's own Python: it learns, it stops, the page is live."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe import serious
from browsing import PHONE, OpenPage, Work, wait_until, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk.learn.page.naming import advance, start

LESSON = "lessons/backwards-through-a-whole-network/"
NAMES = " ".join((Path(__file__).parents[2] / "examples" / "names.txt").read_text(encoding="utf-8").split())


def names(page: Page) -> Locator:
    widgets_ready(page)
    return page.locator("[data-widget=names]")


def step_of(widget: Locator) -> int:
    return int(widget.locator("[data-step]").get_attribute("data-step") or "0")


def until_step(page: Page, step: int) -> None:
    wait_until(
        page, "(step) => Number(document.querySelector('[data-widget=names] [data-step]').dataset.step) >= step", step
    )


def test_it_trains_makes_up_names_pauses_and_starts_again(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widget = names(page)
    play, reset = widget.locator("[data-act=play]"), widget.locator("[data-act=reset]")
    work = Work(page)
    play.click()
    until_step(page, 10)
    work.count()
    print(f"{work.own:.2f} of {work.all:.2f} seconds in the page's own thread")
    assert 0 < work.own < work.all / 2, "Python computes apart from the page, which answers meanwhile"
    expect(play).to_have_text("Pause")
    play.click()
    expect(play).to_have_text("Train")
    seen = {step_of(widget)}
    for _ in range(2):
        page.wait_for_timeout(600)
        seen.add(step_of(widget))
    assert len(seen) <= 2  # what was under way may still come
    right = advance(start(NAMES), NAMES, steps=10)
    sample = widget.locator(".names-made li").filter(has_text="after 10 steps").locator(".made")
    shown = [name.strip() for name in sample.inner_text().replace("(in the list)", "").split(",")]
    assert [name.replace("(nothing)", "") for name in shown] == right["names"]
    loss = float(widget.locator("[data-loss]").get_attribute("data-loss") or 0)
    if step_of(widget) == 10:
        assert loss == pytest.approx(sum(right["losses"]) / 10, rel=1e-9)
    assert serious(page, "[data-widget=names]") == []
    reset.click()
    expect(widget.locator(".names-made li")).to_have_count(0)
    assert step_of(widget) == 0
    play.click()
    until_step(page, 1)
    first = widget.locator(".names-made li").filter(has_text="before training").locator(".made").inner_text()
    assert first.split(",")[0] == start(NAMES, seed=1)["names"][0]


def test_it_fits_a_phone_and_nothing_moves_when_it_starts(open_page: OpenPage) -> None:
    page = open_page(LESSON, **PHONE)
    widget = names(page)
    before = widget.evaluate("(element) => element.offsetHeight")
    widget.locator("[data-act=play]").click()
    until_step(page, 2)
    widget.locator("[data-act=play]").click()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
    assert abs(widget.evaluate("(element) => element.offsetHeight") - before) <= 30  # the line of what it has
