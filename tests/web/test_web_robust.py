"""What goes wrong is told in its place: a widget that fails, a Python that does not come, a network that goes away.

And what a screen reader hears of it all: each thing once.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from axe import serious
from browsing import OpenPage, until_there, wait_until, widgets_ready
from hosts import plain_server
from playwright.sync_api import Route, expect

from gradwalk.learn.built_site import export_site

FIRST = "lessons/a-slope-you-can-measure/"
#: Spoil what the first quiz of a page is told, before it comes to life.
SPOILT = """document.addEventListener("readystatechange", () => {
    if (document.readyState === "interactive") document.querySelector("[data-widget=quiz] script").textContent = "{}";
})"""


def test_a_widget_that_fails_says_so_in_its_place_and_the_others_work(open_page: OpenPage) -> None:
    page = open_page(FIRST, script=SPOILT, expected=("TypeError",))
    widgets_ready(page)
    broken = page.locator("[data-widget=quiz]").first
    assert "This part does not work." in broken.locator("[role=alert]").inner_text()
    assert "The rest of the page works" in broken.inner_text()
    assert page.locator("[data-widget] [role=alert]").count() == 1
    assert page.locator("[data-widget=quiz]").nth(1).locator("button").count() > 0
    assert serious(page, "[data-widget=quiz]") == []


def test_a_widget_that_does_not_come_says_so_in_its_place(open_page: OpenPage, site: Path) -> None:
    names = [path.name for path in (site / "assets").glob("part-*.js") if "Step both ways" in path.read_text("utf-8")]
    assert names
    page = open_page("help/", expected=("ERR_FAILED",))
    refuse = re.compile("|".join(names))
    page.context.route(refuse, lambda route: route.abort())
    page.goto(page.url.replace("help/", FIRST))
    widgets_ready(page)
    assert "It could not be loaded." in page.locator("[data-widget=slope] [role=alert]").first.inner_text()
    page.context.unroute(refuse)
    page.get_by_role("button", name="Try again").first.click()
    until_there(page.locator("body"), "[data-widget=slope] input[type=range]")


def test_loading_python_can_be_stopped_and_is_given_up_when_nothing_comes(open_page: OpenPage) -> None:
    page = open_page("lessons/write-the-engine/", expected=("ERR_FAILED", "Failed to fetch"))
    held: list[Route] = []
    page.context.route("**/*.wasm", lambda route: held.append(route))  # neither comes nor fails
    page.reload()
    widgets_ready(page)
    page.evaluate("async () => { window.m = await course(); m.python.load(); }")
    wait_until(page, "m.python.state.value.phase === 'loading' && m.python.state.value.percent > 0")
    told = "m.python.call('sandbox.execute', {source: '1'}).catch((error) => [error.name, error.reason ?? error.kind])"
    page.evaluate(f"() => {{ window.told = {told}; }}")
    page.get_by_role("button", name="Stop loading Python").click()
    assert page.evaluate("told") == ["PythonStopped", "user"]
    assert "Python was not loaded" in page.locator("[data-python]").inner_text()
    page.evaluate("m.python.limits.stalled = 0.5")
    page.evaluate(f"() => {{ window.told = {told}; }}")
    assert page.evaluate("told") == ["PythonError", "NotLoaded"]
    assert "Python stopped arriving" in page.locator("[data-python]").inner_text()
    page.evaluate("m.python.limits.stalled = 60")
    page.context.unroute("**/*.wasm")
    page.get_by_role("button", name="Load Python again").click()
    wait_until(page, "m.python.state.value.phase === 'ready'")


def test_an_exported_course_works_without_a_network_once_it_was_visited(
    open_page: OpenPage, site: Path, tmp_path: Path
) -> None:
    export_site(tmp_path / "course", site)
    with plain_server(tmp_path) as address:
        origin = f"{address}course/"
        page = open_page(origin=origin, expected=("ERR_CONNECTION_REFUSED",))
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.goto(origin + "lessons/write-the-engine/")
        page.evaluate("async () => { window.m = await course(); m.python.load(); }")
        wait_until(page, "m.python.state.value.phase === 'ready'")
        page.evaluate("window.first = true")
    page.locator(".pager .next").click()
    page.wait_for_url(origin + "lessons/the-whole-arithmetic/")
    widgets_ready(page)
    assert page.evaluate("window.first") is True  # Python is still there
    page.reload()
    widgets_ready(page)
    started = time.monotonic()
    page.evaluate("async () => { window.m = await course(); m.python.load(); }")
    wait_until(page, "m.python.state.value.phase === 'ready'")
    print(f"Python was there again after {time.monotonic() - started:.2f} s, without a network")
    page.goto(origin + "es/lessons/usado-dos-veces/")  # never visited
    widgets_ready(page)
    page.goto(origin + "lessons/used-twice")  # without the slash
    widgets_ready(page)
    page.goto(origin + "nowhere/")
    expect(page.locator("h1")).to_contain_text("No path leads here")


def test_the_course_that_is_served_here_keeps_no_copy(open_page: OpenPage) -> None:
    page = open_page("help/")
    widgets_ready(page)
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0


# --- what a screen reader hears --------------------------------------------------------------------------------------

#: Every change of a live region, as it happens.
HEARD = """window.heard = [];
new MutationObserver((changes) => {
    const regions = new Set(changes.map(({target}) => (target.closest ? target : target.parentElement)?.closest("[aria-live], [role=status], [role=log]")));
    for (const region of regions) if (region?.textContent && region.closest(".walk")) heard.push(region.textContent);
}).observe(document, {subtree: true, childList: true, characterData: true});
"""  # noqa: E501


def test_a_step_is_told_once(open_page: OpenPage) -> None:
    page = open_page("lessons/used-twice/", reduced_motion="reduce")
    widgets_ready(page)
    page.evaluate(HEARD)
    walk = page.locator(".walk").first
    walk.locator("[data-act=step]").click()
    expect(walk).to_have_attribute("data-k", "1")
    assert len(page.evaluate("heard.splice(0)")) == 1
    line = walk.locator("[role=slider]")
    line.focus()
    page.keyboard.press("ArrowRight")
    expect(walk).to_have_attribute("data-k", "2")
    assert page.evaluate("heard.splice(0)") == []  # the slider tells its own value
    assert line.get_attribute("aria-valuetext").startswith("Step 2 of")  # type: ignore[union-attr]


def test_a_tip_describes_its_card(open_page: OpenPage) -> None:
    page = open_page("lessons/used-twice/")
    widgets_ready(page)
    card = page.locator(".walk .node").first
    card.focus()
    tip = card.get_attribute("aria-describedby")
    assert tip
    assert "data" in page.locator(f"[id='{tip}'][role=tooltip]").inner_text()


def test_hints_are_read_one_by_one_and_a_question_takes_escape(open_page: OpenPage) -> None:
    page = open_page("lessons/write-the-engine/")
    widgets_ready(page)
    widget = page.locator("[data-widget=exercise]").first
    hint = widget.get_by_role("button", name=re.compile("^Hint"))
    hint.click()
    hint.click()
    log = widget.locator("[role=log]")
    expect(log.locator("li")).to_have_count(2)  # a log reads what is added, a status would read all of it again
    assert log.get_attribute("aria-atomic") is None
    widget.locator(".cm-content").click()
    page.keyboard.type("# mine")
    reset = widget.get_by_role("button", name="Reset")
    reset.click()
    asked = widget.get_by_role("alertdialog")
    expect(asked).to_be_visible()
    assert serious(page, "[data-widget=exercise]") == []
    page.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    expect(reset).to_be_focused()
    assert "# mine" in widget.locator(".cm-content").inner_text()
