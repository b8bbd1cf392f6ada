"""What is done is seen, survives a reload, can be taken along, brought back, and forgotten."""

from __future__ import annotations

import json
from pathlib import Path

from axe import serious
from browsing import PHONE, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, expect

LESSON = "lessons/used-twice/"


def answer(page: Page, name: str, text: str) -> None:
    widget = page.locator(f'[data-widget=quiz][id="{name}"]')
    widget.get_by_role("textbox").fill(text)
    widget.get_by_role("button", name="Check").click()


def summary(page: Page) -> Locator:
    return page.locator("[data-widget=progress]")


def test_a_lesson_counts_what_is_done(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    expect(summary(page).locator(".counts")).to_have_text("0 of 6 questions")
    answer(page, "sum", "1")
    expect(summary(page).locator(".counts")).to_have_text("0 of 6 questions")
    answer(page, "sum", "2")
    answer(page, "square", "6")
    expect(summary(page).locator(".counts")).to_have_text("2 of 6 questions")
    expect(summary(page).get_by_role("link", name="question 1, done")).to_be_visible()
    page.reload()
    widgets_ready(page)
    expect(summary(page).locator(".counts")).to_have_text("2 of 6 questions")
    answer(page, "pair-a", "-3")
    answer(page, "pair-b", "-8")
    for question, right in (("when", 2), ("why-plus", 0)):
        widget = page.locator(f"[data-widget=quiz][id={question}]")
        widget.get_by_role("radio").nth(right).check()
        widget.get_by_role("button", name="Check").click()
    expect(summary(page).locator(".all-done")).to_have_text("All done.")


def test_an_answer_that_was_right_once_stays_done(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    answer(page, "sum", "2")
    answer(page, "sum", "1")
    page.reload()
    widgets_ready(page)
    expect(summary(page).locator(".counts")).to_have_text("1 of 6 questions")


def test_each_mark_leads_to_its_question(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    for link in summary(page).get_by_role("link").all():
        target = (link.get_attribute("href") or "").removeprefix("#")
        assert page.locator(f'[id="{target}"]').count() == 1
    summary(page).get_by_role("link", name="question 2").click()
    expect(page.locator("[id=square]")).to_be_in_viewport()


def test_work_is_exported_forgotten_and_imported(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    answer(page, "sum", "2")
    page.goto(page.url.replace("lessons/used-twice/", "help/"))
    widgets_ready(page)
    widget = summary(page)
    expect(widget.get_by_text("1 of 6 questions")).to_be_visible()
    with page.expect_download() as download:
        widget.get_by_role("button", name="Export my work").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert "used-twice/sum" in json.dumps(json.loads(file.read_text(encoding="utf-8")))

    widget.get_by_role("button", name="Delete everything").click()
    expect(widget.get_by_role("button", name="Keep it")).to_be_focused()
    widget.get_by_role("button", name="Yes, all of it").click()
    expect(widget.locator(".said")).to_contain_text("Everything is deleted")
    expect(summary(page).get_by_text("1 of 6 questions")).to_have_count(0)

    summary(page).locator("input[type=file]").set_input_files(
        {"name": "x.json", "mimeType": "application/json", "buffer": b"no json"}
    )
    expect(summary(page).locator(".said")).to_contain_text("could not be read")
    summary(page).locator("input[type=file]").set_input_files(file)
    expect(summary(page).get_by_text("1 of 6 questions")).to_be_visible()


def test_progress_is_accessible_on_a_phone_too(open_page: OpenPage) -> None:
    page = open_page("help/", **PHONE)
    widgets_ready(page)
    summary(page).get_by_role("button", name="Delete everything").click()
    assert serious(page, "[data-widget=progress]") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
