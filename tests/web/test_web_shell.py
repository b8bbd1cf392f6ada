"""The page around the lessons: colours, contents, keyboard, progress."""

from __future__ import annotations

from browsing import PHONE, OpenPage, wait_until, widgets_ready

LESSON = "lessons/used-twice/"
PAPER = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(243, 246, 245)", "rgb(16, 23, 27)"


def test_colours_follow_the_system_and_the_button(open_page: OpenPage) -> None:
    page = open_page(LESSON, color_scheme="dark")
    button = page.locator("[data-theme-button]")
    assert page.evaluate(PAPER) == DARK
    assert button.get_attribute("aria-label") == "Colours: same as the system"
    button.click()
    assert page.evaluate(PAPER) == LIGHT
    page.reload()
    assert page.evaluate(PAPER) == LIGHT
    assert button.get_attribute("aria-label") == "Colours: light"
    button.click()
    page.emulate_media(color_scheme="light")
    assert page.evaluate(PAPER) == DARK  # chosen, whatever the system says now
    button.click()
    button.click()
    assert page.evaluate(PAPER) == LIGHT
    assert button.get_attribute("aria-label") == "Colours: same as the system"


def test_the_first_tab_skips_to_the_text(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    wait_until(page, "document.activeElement.id === 'main'")


def test_focus_is_always_seen(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    for _ in range(40):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            """() => { const e = document.activeElement; if (e === document.body) return true;
                const look = getComputedStyle(e), inside = e.closest(".cm-editor, label, .switch");
                if (e.ownerSVGElement) return getComputedStyle(e.querySelector(".focus")).stroke !== "none";
                const outlined = parseFloat(look.outlineWidth) > 0 && look.outlineStyle !== "none";
                return look.boxShadow !== "none" || outlined || !!inside; }"""
        )
        assert seen, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def test_the_contents_on_a_phone(open_page: OpenPage) -> None:
    page = open_page(LESSON, **PHONE)
    rail, button = page.locator("#rail"), page.locator("[data-menu]")
    assert not rail.is_visible()
    button.tap()
    assert rail.is_visible()
    assert button.get_attribute("aria-expanded") == "true"
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "page"
    page.keyboard.press("Escape")
    assert not rail.is_visible()
    assert page.evaluate("'menu' in document.activeElement.dataset")
    button.tap()
    page.get_by_role("link", name="Write the engine").tap()
    page.wait_for_url("**/lessons/write-the-engine/")


def test_the_section_that_is_read_is_marked(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    last = page.locator(".rail .sub a").last
    last.click()
    wait_until(page, "document.querySelectorAll('.rail .sub .here').length === 1")
    wait_until(page, "document.querySelector('.rail .sub .here a').hash === location.hash")


def test_previous_and_next(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    page.locator(".pager .next").click()
    page.wait_for_url("**/lessons/who-goes-first/")
    page.locator(".pager .prev").click()
    page.wait_for_url("**/lessons/used-twice/")


def test_progress_is_marked_everywhere_and_survives_a_reload(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    tasks = page.evaluate(
        "async () => (await course()).course.find(({slug}) => slug === 'used-twice').tasks.map(({id}) => id)"
    )
    assert len(tasks) > 2
    entry = page.locator(".rail li[data-lesson=used-twice]")
    mark = "async (ids) => { const {progress} = await course(); for (const id of ids) progress.mark(id); }"
    page.evaluate(mark, tasks[:1])
    assert "begun" in (entry.get_attribute("class") or "")
    assert entry.locator("a").first.inner_text().endswith(f"(1 of {len(tasks)} done)")
    page.evaluate(mark, tasks)
    assert "done" in (entry.get_attribute("class") or "").split()
    page.reload()
    assert "done" in (entry.get_attribute("class") or "").split()
    page.goto(page.url.replace("lessons/used-twice/", ""))
    assert page.locator("[data-begin]").inner_text() == "Continue with lesson 1"
    assert "done" in (page.locator(".lesson-list li[data-lesson=used-twice]").get_attribute("class") or "")
