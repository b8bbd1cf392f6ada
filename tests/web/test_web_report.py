"""The learner's engine judged in the page: the report of `gradwalk grade`, readable on a phone, and never endless."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from axe import serious
from browsing import PATIENCE, PHONE, OpenPage, until_there, wait_until, widgets_ready
from learn.test_page_grading import FILES, OWN, SOLUTIONS, without_time
from playwright.sync_api import Locator, Page, expect

LESSON = "lessons/write-the-engine/"
RUN = "async (source) => (await m.python.call('grading.run', {source}, {seconds: 120})).report"


@pytest.mark.parametrize("name", ["the learner's engine", "one that overwrites"])
def test_the_pages_report_is_that_of_the_command_line(python_page: Page, tmp_path: Path, name: str) -> None:
    path = tmp_path / "engine.py"
    path.write_text(FILES[name], encoding="utf-8")
    command = [sys.executable, "-m", "gradwalk", "grade", str(path), "--json"]
    theirs = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    ours: dict[str, Any] = python_page.evaluate(RUN, FILES[name])
    assert in_any_python(ours) == in_any_python(theirs)


def in_any_python(report: dict[str, Any]) -> dict[str, Any]:
    """Without what Python itself says of an error after its name: each version has other words for it."""
    plain = without_time(report)
    checks = [
        {**check, "message": re.sub(r"(Error on line \d+): .*", r"\1", check["message"])} for check in plain["checks"]
    ]
    return {**plain, "checks": checks}


def opened(open_page: OpenPage, texts: dict[str, str], *, clock: bool = False, **options: Any) -> Locator:
    """The report, on an engine of these texts; with `clock` the test can turn the page's clock on."""
    page = open_page(LESSON, **options)
    keep = """async (texts) => {
        const {store} = await course();
        for (const [name, text] of Object.entries(texts)) store.set(`code:${name}`, text);
    }"""
    page.evaluate(keep, texts)
    if clock:
        page.clock.install()
    page.reload()
    widgets_ready(page)
    widget = page.locator("[data-widget=report]")
    widget.scroll_into_view_if_needed()
    return widget


def grade(widget: Locator) -> Locator:
    widget.get_by_role("button", name="Grade it").click()
    return judgement(widget)


def judgement(widget: Locator) -> Locator:
    until_there(widget, ".judgement", 3 * PATIENCE)
    return widget.locator(".judgement")


def test_a_right_engine_is_stopped_begun_again_has_all_essentials_and_is_changed(open_page: OpenPage) -> None:
    widget = opened(open_page, SOLUTIONS)
    widget.get_by_role("button", name="Grade it here").click()
    until_there(widget, "progress")  # and not `expect`, which may look again when all is over
    wait_until(widget.page, "document.querySelector('.grading-going').textContent.includes('Now:')")
    widget.get_by_role("button", name="Stop").click()
    expect(widget.locator(".reply.miss")).to_contain_text("You stopped it")
    shown = grade(widget)
    expect(shown.locator(".grading-sum")).to_contain_text(re.compile(r"Your engine is right: all \d\d essentials pass"))
    expect(shown.locator(".grading-sum .icon-miss")).to_have_count(0)
    assert shown.get_attribute("data-right") == "true"
    assert [mark.startswith("Beyond the essentials: ") for mark in shown.locator("dt").all_text_contents()] == [True]
    assert shown.locator("h4").first.inner_text() == "If you want to go further"
    with widget.page.expect_download() as download:
        widget.page.get_by_role("button", name="Download engine.py").click()
    assert Path(download.value.path()).read_text(encoding="utf-8") == OWN  # what was judged is what goes home
    page = widget.page
    exercise = page.locator("[data-widget=exercise]").first
    exercise.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\n# changed\n")
    expect(widget.locator(".grading-changed")).to_be_visible()


def test_a_wrong_engine_is_told_its_bug_with_the_line_and_a_hint(open_page: OpenPage) -> None:
    wrong = {**SOLUTIONS, "__mul__": SOLUTIONS["__mul__"].replace("+=", "=")}
    widget = opened(open_page, wrong, color_scheme="dark", **PHONE)
    shown = grade(widget)
    first = shown.locator(".found > li").first
    expect(first).to_contain_text("Your __mul__ overwrites")
    expect(first.locator(".found-line")).to_contain_text("line")
    expect(first).to_contain_text("A Value that is used twice receives two contributions")
    expect(first.locator("details p")).to_be_hidden()
    first.locator("summary").click()
    expect(first.locator("details p")).to_contain_text("+=")
    group = shown.locator('[data-group="reuse"]')
    group.locator("summary").first.click()
    row = group.locator('[data-check="a-times-a"]')
    expect(row).to_contain_text("wrong")
    assert row.locator("tbody td").all_text_contents() == ["3", "6"]
    assert widget.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(widget.page, "[data-widget=report]") == []


def test_an_endless_loop_is_stopped_with_a_message_and_the_other_checks_go_on(open_page: OpenPage) -> None:
    endless = SOLUTIONS["tanh"].replace("def tanh(self):\n", "def tanh(self):\n    while True: pass\n")
    shown = grade(opened(open_page, {**SOLUTIONS, "tanh": endless}))
    expect(shown.locator(".grading-note").first).to_contain_text("that did not end were stopped")
    expect(shown.locator('[data-check="tanh"]')).to_have_attribute("data-status", "error")
    expect(shown.locator('[data-check="a-times-a"]')).to_have_attribute("data-status", "passed")
    assert serious(shown.page, "[data-widget=report]") == []


def test_what_no_count_of_lines_can_stop_is_stopped_all_the_same(open_page: OpenPage) -> None:
    endless = SOLUTIONS["tanh"].replace(
        "def tanh(self):\n", "def tanh(self):\n    if self.data == 0.5: sum(iter(int, 1))\n"
    )
    widget = opened(open_page, {**SOLUTIONS, "tanh": endless}, clock=True)
    widget.get_by_role("button", name="Grade it").click()
    going = widget.locator(".grading-going p")
    for doing in ("tanh(a)", "data changed after the op"):  # a program of each never ends
        expect(going).to_contain_text(doing)
        widget.page.wait_for_timeout(300)  # not in passing: it is at that program
        expect(going).to_contain_text(doing)
        widget.page.clock.fast_forward(12_000)
        expect(going).not_to_contain_text(doing)  # another Python starts
    shown = judgement(widget)
    expect(shown.locator('[data-check="tanh"]')).to_have_attribute("data-status", "error")
    expect(shown.locator('[data-check="a-times-a"]')).to_have_attribute("data-status", "passed")
