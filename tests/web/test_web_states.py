"""Axe finds nothing wrong in states that only come while a lesson is worked through, in light and in dark colours."""

from __future__ import annotations

from axe import serious_in_light_and_dark
from browsing import OpenPage, until_there, widgets_ready
from playwright.sync_api import expect


def test_a_lesson_at_work_is_accessible(open_page: OpenPage) -> None:
    page = open_page("lessons/backwards-by-hand/", color_scheme="light", reduced_motion="reduce")
    widgets_ready(page)
    for name, answer in (("d", "-2"), ("f", "10"), ("c", "no number"), ("a", "-4")):
        quiz = page.locator(f'[data-widget=quiz][id="{name}"]')
        quiz.get_by_role("textbox").fill(answer)
        quiz.get_by_role("button", name="Check").click()
    script = page.locator("[data-widget=script]")
    script.get_by_role("button", name="Run").click()
    expect(script).to_contain_text("0.9999999999976694")
    stepper = page.locator("[data-widget=stepper]")
    stepper.locator("[data-act=end]").click()
    assert serious_in_light_and_dark(page, "main") == []

    script.locator(".cm-content").click()
    page.keyboard.insert_text("1 / 0 +")
    script.get_by_role("button", name="Run").click()
    until_there(script, "button.run:not([aria-busy])")
    stepper.get_by_role("tab", name="Your own expression").click()
    stepper.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("L = a *")
    stepper.get_by_role("button", name="Draw it").click()
    expect(stepper.locator(".own-status")).to_contain_text("Line 1")
    assert serious_in_light_and_dark(page, "[data-widget=script], [data-widget=stepper]") == []

    page.set_viewport_size({"width": 900, "height": 800})
    page.locator("[data-menu]").click()
    expect(page.locator("#rail")).to_be_visible()
    assert serious_in_light_and_dark(page, "body") == []
