"""The slope plots of the first lesson: every number is the one that Python computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axe import serious
from browsing import PHONE, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, expect

LESSON = "lessons/a-slope-you-can-measure/"


def parabola(x: float) -> float:
    return 3 * x**2 - 4 * x + 5


def measure(f: Callable[[float], float], x: float, h: float, both: bool) -> float:
    return (f(x + h) - f(x - h)) / (2 * h) if both else (f(x + h) - f(x)) / h


def plot(page: Page, index: int) -> Locator:
    widget = page.locator("[data-widget=slope]").nth(index)
    widget.scroll_into_view_if_needed()
    return widget


def slide(widget: Locator, index: int, value: float) -> None:
    widget.get_by_role("slider").nth(index).evaluate(
        "(e, value) => { e.value = value; e.dispatchEvent(new InputEvent('input', {bubbles: true})) }", str(value)
    )


def numbers(widget: Locator) -> dict[str, float]:
    """What the plot shows, at full precision."""
    read = {
        name: widget.locator(f"[data-{name}]").first.get_attribute(f"data-{name}")
        for name in ("measured", "exact", "error", "h")
    }
    return {name: float(text) for name, text in read.items() if text is not None}


def test_the_secant_is_measured_as_python_measures_it(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = plot(page, 0)
    for both in (False, True):
        widget.get_by_role("checkbox", name="Step both ways").set_checked(both)
        for x in (-1.5, 0.0, 0.7, 3.0, 4.9):
            slide(widget, 1, x)
            for exponent in (0, -1, -2, -3, -4):
                slide(widget, 0, exponent)
                h = float(f"1e{exponent}")
                page.wait_for_function(
                    "([e, h]) => Number(e.querySelector('[data-h]').dataset.h) === h", arg=[widget.element_handle(), h]
                )
                shown = numbers(widget)
                assert shown["h"] == h
                assert shown["measured"] == measure(parabola, x, h, both), (x, h, both)
                assert shown["exact"] == 6 * x - 4
                assert shown["error"] == abs(shown["measured"] - shown["exact"])


def test_the_error_plot_has_every_dot_where_python_has_it(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = plot(page, 1)
    for both in (False, True):
        widget.get_by_role("checkbox", name="Step both ways").set_checked(both)
        for k in range(17):
            slide(widget, 0, -k)
            h = float(f"1e-{k}")
            page.wait_for_function(
                "([e, h]) => Number(e.querySelector('[data-h]').dataset.h) === h", arg=[widget.element_handle(), h]
            )
            assert numbers(widget)["error"] == abs(measure(parabola, 3.0, h, both) - 14), (k, both)
    assert widget.locator(".dot").count() == 69
    slide(widget, 0, -16)
    expect(widget.locator(".q-left b")).to_have_text("−0" if measure(parabola, 3.0, 1e-16, True) < 0 else "0")


def test_the_words_of_the_lesson_about_the_plot_hold(open_again: OpenPage) -> None:
    """The error falls, then rises again: the smallest is somewhere in the middle."""
    page = open_again(LESSON)
    widgets_ready(page)
    heights: list[float] = (
        plot(page, 1).locator(".dot").evaluate_all("(dots) => dots.map((dot) => Number(dot.getAttribute('cy')))")
    )
    lowest = max(range(len(heights)), key=heights.__getitem__)  # the largest y is the smallest error
    assert 20 < lowest < 50
    assert heights[0] < heights[lowest] > heights[-1]


def test_three_inputs_one_at_a_time(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = plot(page, 2)
    for name, slope in (("a", -3.0), ("b", 2.0), ("c", 1.0)):
        widget.get_by_role("radio", name=f"Nudge {name}").click()
        expect(widget.get_by_role("radio", name=f"Nudge {name}")).to_have_attribute("aria-checked", "true")
        slide(widget, 0, -2)
        shown = numbers(widget)
        assert shown["exact"] == slope
        assert abs(shown["measured"] - slope) < 1e-9
    slide(widget, 1, 12.0)
    expect(widget.locator(".slider output").nth(1)).to_have_text("12")
    widget.get_by_role("button", name="Reset").click()
    expect(widget.locator(".slider output").nth(1)).to_have_text("10")


def test_keys_and_words_for_those_who_do_not_see_it(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = plot(page, 2)
    widget.get_by_role("radio", name="Nudge a").focus()
    page.keyboard.press("ArrowRight")
    expect(widget.get_by_role("radio", name="Nudge b")).to_be_focused()
    slider = widget.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert (slider.get_attribute("aria-valuetext") or "").startswith("h is 0.5623413, measured slope 2")
    assert "has the slope 2" in (widget.get_by_role("img").get_attribute("aria-label") or "")
    error = plot(page, 1)
    assert "From the right the error falls" in (error.get_by_role("img").get_attribute("aria-label") or "")
    assert serious(page, "[data-widget=slope]") == []


def test_a_click_in_the_error_plot_picks_its_nudge(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = plot(page, 1)
    dot = widget.locator(".dot").nth(32)  # h = 10⁻⁸
    box: Any = dot.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] - 20)
    expect(widget.locator(".slider output")).to_have_text("10⁻⁸")


def test_plots_are_drawn_to_measure_on_a_phone(open_again: OpenPage) -> None:
    page = open_again(LESSON, **PHONE)
    widgets_ready(page)
    for index in range(3):
        box: Any = plot(page, index).locator("svg.plot").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_question_where_it_is_flat_can_be_answered_with_the_plot(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = plot(page, 0)
    slide(widget, 0, -4)
    slopes = {}
    for x in (0.65, 0.66, 0.67, 0.68):
        slide(widget, 1, x)
        expect(widget.locator(".slider output").nth(1)).to_have_text(str(x))
        slopes[x] = abs(numbers(widget)["measured"])
    assert min(slopes, key=lambda x: slopes[x]) == 0.67
    quiz = page.locator('[data-widget="quiz"][id="flat"]')
    for text, right in (
        ("0.67", True),
        ("0.6667", True),
        ("2/3", True),
        ("0,667", True),
        ("0.66", False),
        ("0.7", False),
    ):
        quiz.get_by_role("textbox").fill(text)
        quiz.get_by_role("button", name="Check").click()
        expect(quiz.get_by_role("status").first).to_contain_text("is right." if right else "is not it.")
