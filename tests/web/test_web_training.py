"""The training view in a real browser, on the page's own Python: it learns, it forgets, the page stays live."""

from __future__ import annotations

import pytest
from axe import serious
from browsing import PHONE, OpenPage, Work, wait_until, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk.learn.page.training import advance, start

LESSON = "lessons/a-neuron-a-layer-a-network/"


def training(page: Page) -> Locator:
    widgets_ready(page)
    widget = page.locator("[data-widget=training]")
    widget.locator(".map svg .zero").wait_for()
    return widget


def number(widget: Locator, name: str) -> float:
    return float(widget.locator(f"[data-{name}]").first.get_attribute(f"data-{name}") or "nan")


def until_step(page: Page, step: int) -> None:
    wait_until(
        page,
        "(step) => Number(document.querySelector('[data-widget=training] [data-step]').dataset.step) >= step",
        step,
    )


def test_the_first_sight_needs_no_python(open_page: OpenPage) -> None:
    page = open_page(LESSON, reduced_motion="reduce")
    widget = training(page)
    expect(widget.locator("[data-step]")).to_have_attribute("data-step", "0")
    assert number(widget, "loss") == start()["loss"]
    expect(widget.locator(".map .wrong")).to_have_count(len(start()["wrong"]) + 1)  # and one in the legend
    expect(widget.locator(".map .pa")).to_have_count(51)
    expect(widget.locator(".map .pb")).to_have_count(51)


def test_it_learns_the_moons_and_forgets_them_and_the_page_stays_live(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widget = training(page)
    play, step, reset = (widget.locator(f"[data-act={act}]") for act in ("play", "step", "reset"))

    # one step is the engine's step
    step.click()
    until_step(page, 1)
    once = advance(start())
    assert number(widget, "loss") == pytest.approx(once["loss"], rel=1e-9)
    assert number(widget, "length") == pytest.approx(once["length"], rel=1e-9)
    work = Work(page)

    # it learns
    play.click()
    expect(play).to_have_text("Pause")
    until_step(page, 60)
    play.click()
    expect(play).to_have_text("Play")
    assert number(widget, "right") > 95
    paused = number(widget, "step")
    page.wait_for_timeout(400)
    assert number(widget, "step") <= paused + 1  # the step that was under way
    expect(widget.get_by_role("status").filter(has_text="points on the right side")).to_have_count(1)
    assert widget.locator(".losswrap .loss").get_attribute("d", timeout=1000).count("L") == number(widget, "step")  # type: ignore[union-attr]
    work.count()
    assert serious(page, "[data-widget=training]") == []
    work.leave_out()

    # it forgets: from the same weights, with the run before to hold it against
    widget.locator(".switch").click()
    expect(widget.locator("[data-step]")).to_have_attribute("data-step", "0")
    assert number(widget, "loss") == start()["loss"]
    expect(widget.locator(".losswrap")).to_contain_text("with zero_grad")
    step.click()
    until_step(page, 1)
    step.click()
    until_step(page, 2)
    expect(widget.locator(".times")).to_contain_text("× too long")
    play.click()
    until_step(page, 25)  # from 19 on less than 95% are right
    play.click()
    assert number(widget, "right") < 95
    assert number(widget, "length") > 2 * number(widget, "fresh")
    # the page answers nearly all the time: Python computes elsewhere
    work.count()
    print(f"{work.own:.2f} of {work.all:.2f} seconds in the page's own thread")
    assert 0 < work.own < work.all / 4

    # reset, another rate, another size
    reset.click()
    expect(widget.locator("[data-step]")).to_have_attribute("data-step", "0")
    widget.get_by_role("switch", name="Forget zero_grad").press("Space")
    widget.get_by_role("slider", name="Learning rate").fill("0.005")
    expect(widget.locator(".slider .value")).to_have_text("0.005")
    widget.get_by_label("Hidden sizes").select_option("4")
    expect(widget.get_by_text("MLP(2, [4, 1])")).to_be_visible()
    step.click()
    until_step(page, 1)
    assert number(widget, "loss") == pytest.approx(advance(start([4]), rate=0.005)["loss"], rel=1e-9)


def test_on_a_phone_everything_fits(open_page: OpenPage) -> None:
    page = open_page(LESSON, **PHONE)
    widget = training(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = """(widget) => [...widget.querySelectorAll("button, select")]
        .filter((one) => one.getBoundingClientRect().height < 44).length"""
    assert widget.evaluate(small) == 0


def test_where_python_cannot_be_had_it_says_so(open_page: OpenPage) -> None:
    page = open_page("help/", expected=("ERR_FAILED", "Failed to fetch", "asked for"))
    page.route("**/*.wasm", lambda route: route.abort())
    page.route("**/pyodide/**", lambda route: route.abort())
    page.goto(page.url.replace("help/", LESSON))
    widget = training(page)
    widget.locator("[data-act=play]").click()
    expect(widget.locator(".train-note")).to_contain_text("Python could not be loaded")
