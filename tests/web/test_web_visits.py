"""From lesson to lesson without leaving the document: Python stays, and all else is as if the page had been opened."""

from __future__ import annotations

from pathlib import Path

from axe import serious
from browsing import PHONE, OpenPage, wait_until, widgets_ready
from playwright.sync_api import Page, expect

SEVENTH, EIGHTH = "lessons/write-the-engine/", "lessons/the-whole-arithmetic/"
#: Marks the document, and what lives in its Python: both are gone if the page is opened anew.
MARK = """async () => {
    window.first = true;
    window.m = await course();
    await m.python.call("sandbox.execute", {source: "import sys\\nsys.modules['mark'] = sys"}).catch(() => {});
}"""
SAME_PYTHON = """async () => {
    const heard = [];
    const source = "import sys\\nprint('mark' in sys.modules)";
    await m.python.call("sandbox.execute", {source}, {onPrint: (text) => heard.push(text)}).catch(() => {});
    return heard.join("").trim();
}"""


def follow(page: Page, link: str, to: str) -> None:
    there = page.locator(link).first.evaluate("(link) => link.href")
    assert there.endswith("/" + to)
    page.locator(link).first.click()
    page.wait_for_url(there)
    wait_until(page, "!navigation.transition")  # the address changes first, then the page
    widgets_ready(page)


def test_python_stays_from_lesson_to_lesson(open_page: OpenPage) -> None:
    page = open_page(SEVENTH)
    widgets_ready(page)
    page.evaluate(MARK)
    epoch = page.evaluate("m.python.epoch.value")
    follow(page, ".pager .next", EIGHTH)
    assert page.evaluate("window.first") is True
    assert page.evaluate("m.python.state.value.phase") == "ready"
    widget = page.locator("[data-widget=exercise]").first
    widget.locator(".cm-content").wait_for()
    widget.get_by_role("button", name="Run test").click()
    expect(widget.locator(".bug")).to_contain_text("Not written yet")
    assert page.evaluate(SAME_PYTHON) == "True"
    assert page.evaluate("m.python.epoch.value") == epoch
    assert "Python is ready" in page.locator("[data-python]").inner_text()


def test_a_visit_changes_all_that_a_new_page_would(open_page: OpenPage, address: str) -> None:
    page = open_page("")  # lies elsewhere than the lessons: every relative link differs
    page.evaluate("window.first = true")
    follow(page, "[data-begin]", "lessons/a-slope-you-can-measure/")
    follow(page, ".pager .next", "lessons/numbers-that-remember/")
    page.evaluate("async () => { window.m = await course(); }")
    visited = page.evaluate(DESCRIBED)
    assert page.evaluate("window.first") is True
    page.reload()
    widgets_ready(page)
    assert page.evaluate("window.first") is None
    assert page.evaluate(DESCRIBED) == visited
    assert visited["title"].startswith("Numbers that remember")
    follow(page, ".brand", "")
    assert page.evaluate("document.documentElement.dataset.page") == "index"
    follow(page, ".top-links a[href$='playground/']", "playground/")
    assert serious(page, "body") == []


#: What a reader, a crawler or a script can tell of a page: title, head, links, widgets, marks.
DESCRIBED = """() => ({
    title: document.title,
    root: {...document.documentElement.dataset},
    description: document.querySelector("meta[name=description]").content,
    alternates: [...document.querySelectorAll("link[rel=alternate]")].map(({hreflang, href}) => [hreflang, href]),
    links: [...document.querySelectorAll("body a")].map(({href}) => href),
    widgets: [...document.querySelectorAll("[data-widget]")].map(({id, dataset}) => [id, {...dataset}]),
    here: [...document.querySelectorAll("#rail [aria-current], #rail .here")].map(({textContent}) => textContent),
    scripts: [...document.querySelectorAll("script[src]")].map(({src}) => src),
    beside: [...document.querySelectorAll("link[rel=icon], link[rel=manifest]")].map(({href}) => href),
    top: document.querySelector("header.top").textContent.replace(/Python.*$/s, ""),
})"""


def test_back_and_forward_find_each_page_and_the_place_in_it(open_page: OpenPage) -> None:
    page = open_page("lessons/used-twice/")
    widgets_ready(page)
    page.evaluate("window.first = true")
    page.evaluate("scrollTo({top: 1500, behavior: 'instant'})")
    place = page.evaluate("scrollY")
    page.locator(".pager .next").evaluate("(link) => link.click()")  # Playwright's own click would scroll first
    page.wait_for_url("**/lessons/who-goes-first/")
    wait_until(page, "document.title.startsWith('Who goes first')")
    assert page.evaluate("scrollY") == 0
    widgets_ready(page)
    page.go_back()
    page.wait_for_url("**/lessons/used-twice/")
    wait_until(page, "document.title.startsWith('Used twice')")
    widgets_ready(page)
    wait_until(page, "(place) => Math.abs(scrollY - place) < 2", place)
    page.go_forward()
    page.wait_for_url("**/lessons/who-goes-first/")
    wait_until(page, "document.title.startsWith('Who goes first')")
    assert page.evaluate("window.first") is True
    page.goto(page.url.replace("who-goes-first/", "used-twice/#both-at-once"))  # typed: a document of its own
    assert page.evaluate("window.first") is None
    page.go_back()
    page.wait_for_url("**/lessons/who-goes-first/")
    wait_until(page, "document.title.startsWith('Who goes first')")


def test_a_link_to_a_section_of_another_page_leads_there(open_page: OpenPage) -> None:
    page = open_page("lessons/who-goes-first/")
    widgets_ready(page)
    page.evaluate(
        """() => { window.first = true;
            const link = Object.assign(document.createElement("a"), {href: "../used-twice/#both-at-once"});
            document.querySelector("main").append(link); link.click(); }"""
    )
    page.wait_for_url("**/lessons/used-twice/#both-at-once")
    wait_until(page, "Math.abs(document.getElementById('both-at-once')?.getBoundingClientRect().top - 80) < 30")
    assert page.evaluate("window.first") is True


def test_who_reads_by_ear_or_by_keyboard_is_told_and_begins_at_the_top(open_page: OpenPage) -> None:
    page = open_page(SEVENTH, **PHONE)
    widgets_ready(page)
    page.locator("[data-menu]").tap()
    page.locator("#rail").get_by_role("link", name="The whole arithmetic").tap()
    page.wait_for_url(f"**/{EIGHTH}")
    expect(page.locator("body > [role=status].vh")).to_have_text("The whole arithmetic · gradwalk")
    widgets_ready(page)
    assert not page.locator("#rail").is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("[data-menu]").tap()  # the new page's own contents work
    expect(page.locator("#rail")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).not_to_be_visible()


def test_what_ran_is_ended_and_what_was_written_is_kept(open_page: OpenPage) -> None:
    page = open_page(SEVENTH)
    widgets_ready(page)
    page.evaluate(MARK)
    widget = page.locator("[data-widget=exercise]").first
    widget.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text("# mine\n")
    page.evaluate(
        """() => { const told = (name) => (error) => { (window.told ??= []).push([name, error.reason]); };
            m.python.call("sandbox.execute", {source: "sum(iter(int, 1))"}, {seconds: 60}).catch(told("ran"));
            m.python.call("sandbox.execute", {source: "1"}).catch(told("waited")); }"""
    )
    follow(page, ".pager .next", EIGHTH)
    wait_until(page, "window.told?.length === 2")
    assert sorted(page.evaluate("told")) == [["ran", "user"], ["waited", "user"]]
    assert page.evaluate(SAME_PYTHON) == "False"  # it had to be ended; another came by itself
    follow(page, ".pager .prev", SEVENTH)
    expect(page.locator("[data-widget=exercise] .cm-content").first).to_contain_text("# mine")


def test_another_build_another_language_and_a_page_that_does_not_come_are_opened_plainly(
    open_page: OpenPage, site: Path
) -> None:
    page = open_page(SEVENTH, expected=("404", "ERR_FAILED"))
    widgets_ready(page)
    page.evaluate("window.first = true")
    newer = (site / EIGHTH / "index.html").read_text(encoding="utf-8").replace("/main-", "/newer/../main-x")
    page.context.route(f"**/{EIGHTH}", lambda route: route.fulfill(body=newer, content_type="text/html"))
    page.locator(".pager .next").click()
    page.wait_for_url(f"**/{EIGHTH}")
    wait_until(page, "window.first === undefined && document.title.startsWith('The whole arithmetic')")
    page.context.unroute(f"**/{EIGHTH}")
    page.goto(page.url.replace(EIGHTH, ""))
    page.evaluate("window.first = true")
    page.get_by_role("link", name="Español", exact=True).click()
    page.wait_for_url("**/es/")
    wait_until(page, "window.first === undefined && document.documentElement.lang === 'es'")
    widgets_ready(page)
    page.evaluate(
        """() => { const link = Object.assign(document.createElement("a"), {href: "nada/"});
            document.body.append(link); link.click(); }"""
    )
    page.wait_for_url("**/es/nada/")
    wait_until(page, "document.querySelector('.missing') !== null")


def test_browsers_that_cannot_open_pages_as_they_always_did(open_page: OpenPage) -> None:
    page = open_page(SEVENTH, script="delete window.NavigationPrecommitController")
    widgets_ready(page)
    page.evaluate("window.first = true")
    follow(page, ".pager .next", EIGHTH)
    assert page.evaluate("window.first") is None
