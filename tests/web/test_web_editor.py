"""The code editor comes when it can: what a learner does meanwhile is neither lost nor an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from browsing import SLOW_FRAMES, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, Route, expect

LESSON = "lessons/write-the-engine/"


def hold_editor(page: Page, site: Path) -> Callable[[], None]:
    """Keep the editor's code back until the function that is returned is called."""
    [part] = [path for path in site.rglob("part-*.js") if "cm-content" in path.read_text(encoding="utf-8")]
    held: list[Route] = []
    page.route(f"**/{part.name}", lambda route: held.append(route))

    def release() -> None:
        [route] = held  # a module is asked for once
        route.continue_()

    return release


def typed(widget: Locator) -> str:
    return "\n".join(widget.locator(".cm-line").all_inner_texts())


def test_another_tab_is_opened_before_the_editor_has_arrived(open_page: OpenPage, site: Path) -> None:
    page = open_page("help/", script=SLOW_FRAMES)
    release = hold_editor(page, site)
    page.goto(page.url.replace("help/", LESSON))
    widgets_ready(page)
    widget = page.locator("[data-widget=exercise]").filter(has=page.get_by_role("tab").nth(1)).first
    page.wait_for_timeout(2500)  # both frames that a component may wait for before it asks
    tabs = widget.get_by_role("tab")
    first, second = (tab.evaluate("(tab) => tab.childNodes[0].textContent") for tab in (tabs.nth(0), tabs.nth(1)))
    tabs.nth(1).click()
    release()
    expect(widget.locator(f'.editor[data-tab="{second}"] .cm-content')).to_be_visible()
    expect(widget.locator(f'.editor[data-tab="{first}"]')).to_have_count(0)
    expect(widget.locator(".cm-editor")).to_have_count(1)
    expect(widget.locator(".editor pre")).to_have_count(0)


def test_lines_found_fault_with_are_still_marked_when_their_tab_is_opened_again(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    widget = page.locator("[data-widget=exercise]").filter(has=page.get_by_role("tab", name="__mul__")).first
    widget.get_by_role("tab", name="__mul__").click()
    widget.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text("def __mul__(self, other):\n    return nothing_of_this_name\n")
    page.keyboard.press("Control+Enter")
    bad = widget.locator(".cm-line.bad-line")
    expect(bad).to_have_text(re.compile("nothing_of_this_name"))
    widget.get_by_role("tab").first.click()
    expect(bad).to_have_count(0)
    widget.get_by_role("tab", name="__mul__").click()
    expect(bad).to_have_text(re.compile("nothing_of_this_name"))


def test_what_is_typed_before_the_editor_has_arrived_stays_and_is_typed_on(open_page: OpenPage, site: Path) -> None:
    page = open_page("help/")
    release = hold_editor(page, site)
    page.goto(page.url.replace("help/", "playground/"))
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]")
    widget.get_by_role("tab", name="Your own expression").click()
    field = widget.locator("textarea.plain-editor")
    field.fill("L = a * b")
    field.focus()
    release()
    expect(widget.locator(".cm-content")).to_be_focused()
    expect(field).to_have_count(0)
    assert typed(widget) == "L = a * b"


def test_typing_faster_than_frames_come_loses_no_letter(open_page: OpenPage) -> None:
    page = open_page("playground/", script=SLOW_FRAMES)
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]")
    widget.get_by_role("tab", name="Your own expression").click()
    widget.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    text = "L = tanh(a*b + c) * relu(d - 0.25) + exp(e) / 7"
    page.keyboard.type(text)
    page.wait_for_timeout(2500)
    assert typed(widget) == text
