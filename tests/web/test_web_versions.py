"""The engine in versions, in a real browser: differences from the files, lines that run on each, keys, a phone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from axe import serious_in_light_and_dark
from browsing import PHONE, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, expect

LESSON = "lessons/the-engine-in-versions/"
FILES = sorted((Path(__file__).resolve().parents[2] / "examples" / "versions").glob("v*.py"))


def widget(page: Page, name: str) -> Locator:
    widgets_ready(page)
    found = page.locator(f"#{name}")
    found.locator(".cm-content").wait_for()
    return found


def engine(path: Path) -> list[str]:
    """The lines of a version that the page shows: without the first line and without its demonstration."""
    text = path.read_text(encoding="utf-8").partition('if __name__ == "__main__":')[0]
    return text.split("\n", 1)[1].strip().splitlines()


def shown_lines(found: Locator) -> list[tuple[str, str]]:
    """(kind, text) of each line, indentation restored."""
    rows: list[list[str]] = found.locator(".v-line").evaluate_all(
        "lines => lines.map(line => [line.className.replace('v-line', '').trim(), "
        "' '.repeat(parseInt(getComputedStyle(line).getPropertyValue('--in'))) + line.lastElementChild.textContent])"
    )
    return [(kind, text) for kind, text in rows]


def unfold(found: Locator) -> None:
    while found.locator(".v-fold").count():
        found.locator(".v-fold").first.click()


def run(found: Locator) -> str:
    """Press run, and give what was printed."""
    found.get_by_role("button", name="Run").click()
    expect(found.locator(".run:not([aria-busy])")).to_be_visible()
    expect(found.locator(".v-printed pre, .v-printed .reply-h").first).to_be_visible()
    return found.locator(".v-printed").inner_text()


def test_every_version_shows_its_file_and_what_is_gone(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    seen = []
    for found in page.locator("[data-widget=versions]").all():
        for tab in found.get_by_role("tab").all():
            tab.click()
            number = int(found.locator("[data-version]").get_attribute("data-version") or 0)
            seen.append(number)
            unfold(found)
            lines = shown_lines(found)
            assert [text for kind, text in lines if kind != "gone"] == engine(FILES[number - 1])
            if number > 1:
                assert [text for kind, text in lines if kind != "new"] == engine(FILES[number - 2])
    assert seen == list(range(1, len(FILES) + 1))


def test_from_six_to_seven_four_characters_are_marked(open_again: OpenPage) -> None:
    found = widget(open_again(LESSON), "bug")
    found.get_by_role("tab", name="Version 7").click()
    assert found.locator(".v-line.new").count() == found.locator(".v-line.gone").count() == 4
    assert found.locator(".v-line.new mark").all_inner_texts() == ["+"] * 4
    expect(found.locator(".v-count")).to_have_text("4 new lines, 4 gone since version 6")
    # who does not see the signs hears the words
    assert found.locator(".v-line.new .vh").all_text_contents() == ["new: "] * 4


def test_each_version_prints_in_the_page_what_its_file_prints(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    for found in page.locator("[data-widget=versions]").all():
        name = found.get_attribute("id")
        for tab in found.get_by_role("tab").all():
            tab.click()
            number = int(found.locator("[data-version]").get_attribute("data-version") or 0)
            found.locator(".cm-content").wait_for()
            run(found)
            printed = found.locator(".v-printed pre").inner_text()
            done = subprocess.run([sys.executable, str(FILES[number - 1])], capture_output=True, text=True, timeout=60)
            assert re.sub(r" +\n", "\n", printed).strip() == re.sub(r" +\n", "\n", done.stdout).strip(), number
        # all of them have run: that is a part of the lesson done
        done_ids = page.evaluate("async () => Object.keys((await course()).progress.done.value)")
        assert f"the-engine-in-versions/{name}" in done_ids


def test_version_six_fails_seven_mends_it_and_lines_can_be_changed_stopped_and_put_back(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    found = widget(page, "bug")
    printed = run(found)
    assert "a + a: 1.0   right: 2" in printed
    assert "a*b * (a+b): 3.0 -2.0   right: -3 -8" in printed
    found.get_by_role("button", name="On to version 7").click()
    expect(found.get_by_role("tabpanel")).to_be_focused()
    found.locator(".cm-content").wait_for()
    printed = run(found)
    assert "a + a: 2.0   right: 2" in printed
    assert "a*b * (a+b): -3.0 -8.0   right: -3 -8" in printed

    # lines of one's own, run by a key, on version six again
    found.get_by_role("tab", name="Version 6").click()
    editor = found.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("a = Value(5.0)\n(a * a * a).backward()\nprint(a.grad)\nprint(nothing)")
    page.keyboard.press("Control+Enter")
    expect(found.locator(".v-printed .reply-h")).to_contain_text("NameError on line 4: name 'nothing' is not defined")
    expect(found.locator(".v-printed pre")).to_have_text("25.0\n")  # and not 75: version six
    expect(found.locator(".bad-line")).to_have_count(1)
    found.get_by_role("button", name="Reset").click()
    expect(editor).to_contain_text("right: 10 10 -1")

    # a loop without an end
    found = widget(page, "box")
    found.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("while True:\n    pass")
    found.get_by_role("button", name="Run").click()
    expect(found.locator(".v-printed .reply-h")).to_contain_text("is there a loop that never ends?")


def test_the_tabs_are_walked_by_keys(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    found = widget(page, "rest")
    tabs = found.get_by_role("tab")
    tabs.first.focus()
    for key, at in (("ArrowRight", 1), ("End", 3), ("ArrowRight", 0), ("ArrowLeft", 3), ("Home", 0)):
        page.keyboard.press(key)
        expect(tabs.nth(at)).to_be_focused()
        expect(tabs.nth(at)).to_have_attribute("aria-selected", "true")
    expect(found.locator("[data-version]")).to_have_attribute("data-version", "8")
    fold = found.locator(".v-fold").first
    before = found.locator(".v-line").count()
    fold.focus()
    page.keyboard.press("Enter")
    assert found.locator(".v-line").count() > before


def test_on_a_phone_no_line_of_a_difference_is_cut(open_again: OpenPage) -> None:
    page = open_again(LESSON, **PHONE)
    widgets_ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for found in page.locator("[data-widget=versions]").all():
        for tab in found.get_by_role("tab").all():
            tab.tap()
            cut = found.locator(".v-line").evaluate_all(
                "lines => lines.filter(l => l.scrollWidth > l.clientWidth + 1).length"
            )
            assert cut == 0
    small = page.locator("[data-widget=versions] button").evaluate_all(
        "all => all.filter(b => b.checkVisibility() && b.getBoundingClientRect().height < 40).length"
    )
    assert small == 0
    assert serious_in_light_and_dark(page, "#bug") == []
