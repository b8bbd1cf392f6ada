"""The learner's work in the browser: kept, brought up to date, exported, imported; what is said if nothing is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browsing import OpenPage, wait_until, widgets_ready
from playwright.sync_api import Page, expect

KEY = "gradwalk:work"
PAGE = "help/"
FIRST_VERSION = (
    Path(__file__).parent / "work-version-1.json"
)  # as the first published version saved it: never change it

BLOCKED = (
    """Object.defineProperty(window, "localStorage", {get() { throw new DOMException("blocked", "SecurityError"); }})"""
)
FULL = """Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); }"""


def saved(page: Page) -> dict[str, object]:
    page.evaluate("async () => (await course()).store.flush()")  # it would be written in a moment
    found: dict[str, object] = json.loads(page.evaluate(f"localStorage.getItem('{KEY}')"))
    return found


def put(text: str) -> str:
    """A script that puts a text into storage before the page first reads it."""
    write = f"if (!localStorage.getItem('{KEY}')) localStorage.setItem('{KEY}', {json.dumps(text)})"
    return f"if (location.protocol === 'http:') {{ {write} }}"


def test_what_is_set_is_there_after_a_reload(open_page: OpenPage) -> None:
    page = open_page(PAGE)
    page.evaluate("async () => (await course()).store.set('code:__mul__', 'mine — ∂')")
    page.reload()
    assert page.evaluate("async () => (await course()).store.get('code:__mul__', '')") == "mine — ∂"
    assert page.evaluate("async () => (await course()).store.get('other', 'nothing')") == "nothing"
    page.evaluate("async () => (await course()).store.remove('code:__mul__')")
    assert saved(page)["data"] == {}


def test_work_of_the_first_version_is_still_there(open_page: OpenPage) -> None:
    page = open_page("", script=put(FIRST_VERSION.read_text(encoding="utf-8")))
    done = page.evaluate("async () => (await course()).progress.done.value")
    assert set(done) == {"a-slope-you-can-measure/quiz-1", "used-twice/quiz-1"}
    assert page.evaluate("async () => (await course()).store.get('code:__mul__', '')").startswith("def __mul__")
    assert page.locator("[data-begin]").inner_text().startswith("Continue with lesson")


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 1}', "null"])
def test_what_cannot_be_read_is_put_aside(open_page: OpenPage, text: str) -> None:
    page = open_page(PAGE, script=put(text))
    assert saved(page)["data"] == {}
    assert page.evaluate("localStorage.getItem('gradwalk:work-before')") == text


def test_work_of_a_newer_course_is_left_alone(open_page: OpenPage) -> None:
    text = json.dumps({"what": "gradwalk work", "version": 99, "data": {"precious": 1}})
    page = open_page(PAGE, script=put(text))
    page.evaluate("async () => (await course()).progress.mark('x/quiz-1')")
    assert page.evaluate(f"localStorage.getItem('{KEY}')") == text
    assert "newer version" in page.locator(".notice").inner_text()


@pytest.mark.parametrize(("script", "words"), [(BLOCKED, "does not let the page save"), (FULL, "storage is full")])
def test_where_nothing_is_kept_the_course_works_and_says_so(open_page: OpenPage, script: str, words: str) -> None:
    page = open_page("lessons/used-twice/", script=script)
    assert words in page.locator(".notice").inner_text()
    assert words in page.locator("[data-kept]").first.inner_text()
    assert page.evaluate("async () => (await course()).store.status.value") == "session only"
    page.evaluate("async () => (await course()).progress.mark('used-twice/quiz-1')")
    assert page.evaluate("async () => (await course()).progress.isDone('used-twice/quiz-1')")
    page.get_by_role("button", name="Close this note").click()
    assert page.locator(".notice").count() == 0
    page.locator("[data-theme-button]").click()  # works, though nothing can be kept


def test_room_that_comes_back_is_used(open_page: OpenPage) -> None:
    page = open_page(PAGE)
    page.evaluate(f"window.real = Storage.prototype.setItem; {FULL}; 0")
    page.evaluate("async () => { const {store} = await course(); store.set('a', 1); store.flush(); }")
    assert page.evaluate("async () => (await course()).store.status.value") == "session only"
    page.evaluate("Storage.prototype.setItem = window.real; 0")
    page.evaluate("async () => { const {store} = await course(); store.set('b', 2); store.flush(); }")
    assert page.evaluate("async () => (await course()).store.status.value") == "kept"
    assert page.locator(".notice").count() == 0
    assert saved(page)["data"].keys() >= {"a", "b"}  # type: ignore[attr-defined]


def test_two_tabs_do_not_lose_each_others_work(open_page: OpenPage) -> None:
    one = open_page(PAGE)
    two = one.context.new_page()
    two.goto(one.url)
    one.evaluate("async () => (await course()).store.set('one', 1)")
    wait_until(two, "course().then(({store}) => store.get('one', 0) === 1)")
    two.evaluate("async () => (await course()).store.set('two', 2)")
    wait_until(one, f"localStorage.getItem('{KEY}').includes('two')")  # the browser takes a moment from tab to tab
    one.evaluate("async () => (await course()).store.set('three', 3)")
    assert saved(one)["data"] == {"one": 1, "two": 2, "three": 3}


def test_changes_are_written_a_moment_later_onto_what_is_there_by_then(open_page: OpenPage) -> None:
    one = open_page(PAGE)
    writes = "let n = 0; const set = Storage.prototype.setItem; window.writes = () => n;"
    one.evaluate(f"() => {{ {writes} Storage.prototype.setItem = function (...all) {{ n++; set.apply(this, all); }} }}")
    one.evaluate(
        "async () => { const {store} = await course(); for (let i = 0; i < 50; i++) store.set('text', `${i}`); }"
    )
    wait_until(one, f"localStorage.getItem('{KEY}').includes('49')")
    assert one.evaluate("writes()") == 1
    two = one.context.new_page()
    two.goto(one.url)
    for page, task in ((one, "a/1"), (two, "b/1")):  # neither knows of the other's yet
        page.evaluate("async (task) => (await course()).progress.mark(task)", task)
    both = "course().then(({progress}) => ['a/1', 'b/1'].every((task) => progress.isDone(task)))"
    wait_until(one, both)
    wait_until(two, both)


def test_what_another_tab_did_not_see_is_written_again_once(open_page: OpenPage) -> None:
    page = open_page(PAGE)
    page.evaluate("async () => { const {store} = await course(); store.set('text', 'ours'); store.set('a', 1); }")
    wait_until(page, f"localStorage.getItem('{KEY}').includes('ours')")
    kept = saved(page)
    # As if another tab had written onto what was there before; that an event comes says nothing about the order.
    theirs = {**kept, "data": {"text": "theirs", "b": 2}, "seen": {"another": 1}}
    page.evaluate(OTHER_TAB_WRITES, json.dumps(theirs))
    wait_until(page, f"localStorage.getItem('{KEY}').includes('ours')")
    assert saved(page)["data"] == {"text": "ours", "a": 1, "b": 2}
    # Another tab that has seen it knows better.
    newer = {**saved(page), "data": {"text": "newer"}}
    page.evaluate(OTHER_TAB_WRITES, json.dumps(newer))
    wait_until(page, "course().then(({store}) => store.get('text', '') === 'newer')")
    page.wait_for_timeout(1000)
    assert saved(page)["data"] == {"text": "newer"}


OTHER_TAB_WRITES = f"""(text) => {{
  localStorage.setItem('{KEY}', text);
  dispatchEvent(new StorageEvent("storage", {{key: '{KEY}', newValue: text}}));
}}"""


def test_another_tab_sees_an_answer_and_an_import_without_a_reload(open_page: OpenPage) -> None:
    one = open_page("lessons/used-twice/")
    two = one.context.new_page()
    two.goto(one.url)
    for page in (one, two):
        widgets_ready(page)
        page.evaluate("window.same = true")
    quiz = "[id=sum]"
    one.locator(f"{quiz} input").fill("2")
    one.locator(f"{quiz} button").click()
    expect(two.locator(f"{quiz} input")).to_have_value("2")
    expect(two.locator(f"{quiz} .reply.ok")).to_be_visible()
    two.evaluate("async () => (await course()).store.clear()")
    expect(one.locator(f"{quiz} input")).to_have_value("")
    choice = one.locator("[data-widget=quiz]:has([type=radio])").first
    choice.locator("label").nth(1).click()
    choice.get_by_role("button").click()
    kept = saved(one)["data"]
    given = [value["given"] for key, value in kept.items() if key.startswith("quiz:")]  # type: ignore[attr-defined]
    assert len(given) == 1
    assert len(given[0]) == 8  # the option's name, not its place
    expect(two.locator("[data-widget=quiz]:has([type=radio])").first.locator("input").nth(1)).to_be_checked()
    assert one.evaluate("same")
    assert two.evaluate("same")


def test_export_and_import(open_page: OpenPage) -> None:
    page = open_page(PAGE)
    text = page.evaluate(
        """async () => { const {store, progress} = await course();
            progress.mark('a/1'); store.set('code:x', 'mine'); return store.exportAll(); }"""
    )
    other = open_page(PAGE)
    other.evaluate(
        "async (text) => { const {store, progress} = await course(); progress.mark('b/1'); store.importAll(text); }",
        text,
    )
    assert set(other.evaluate("async () => (await course()).progress.done.value")) == {"a/1", "b/1"}
    other.reload()
    assert other.evaluate("async () => (await course()).store.get('code:x', '')") == "mine"
    for bad, reason in (
        ("{}", "unreadable"),
        ("hello", "unreadable"),
        (text.replace('"version":1', '"version":77'), "newer"),
    ):
        told = other.evaluate(
            "async (text) => { try { (await course()).store.importAll(text); } catch ({reason}) { return reason; } }",
            bad,
        )
        assert told == reason
    assert other.evaluate("async () => (await course()).store.get('code:x', '')") == "mine"
