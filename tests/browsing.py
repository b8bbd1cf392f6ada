"""What the tests of the course share: a watch over a browser's requests and complaints, and how to wait for a page."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

PATIENCE = 60_000  # milliseconds: a busy machine is no failure
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
#: Gives every page `course()`: the modules of the page itself, as its own scripts see them.
COURSE = "window.course = () => import(document.querySelector('script[type=module]').src)"

#: As on a machine so busy that frames come late. Preact waits for a frame, or for 35 ms where none comes.
SLOW_FRAMES = """
const soon = window.setTimeout;
window.requestAnimationFrame = (then) => soon(() => then(performance.now()), 800);
window.setTimeout = (then, ms, ...rest) => soon(then, ms === 35 ? 800 : ms, ...rest);
"""

OpenPage = Callable[..., Page]
expect.set_options(timeout=PATIENCE)


class Watch:
    """A context whose complaints are written down, and every request off the origin, which the browser cannot reach.

    It has no route: one would switch the browser's cache off, and take every request through Python.
    """

    def __init__(self, context: BrowserContext, origin: str, expected: tuple[str, ...]) -> None:
        self.expected = expected
        self.complaints: list[str] = []
        self._origin = origin
        context.set_default_timeout(PATIENCE)
        context.add_init_script(COURSE)
        if os.environ.get("GRADWALK_TEST_SLOW_FRAMES"):  # finds what works only when a frame comes soon
            context.add_init_script(SLOW_FRAMES)
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self._complain(f"a script threw: {error.error}"))

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self._origin, "data:", "blob:")):
            self._complain(f"asked for {request.url}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._complain(f"{message.text} ({message.location.get('url')})")

    def _complain(self, words: str) -> None:
        if not any(known in words for known in self.expected):
            self.complaints.append(words)


def wait_until(page: Page, expression: str, argument: Any = None) -> None:
    """Wait until an expression holds. Playwright's own waiting needs eval, which the pages forbid."""
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        if page.evaluate(expression, argument):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {expression}")


#: Looks every 20 ms whether there is an element, or none. Playwright looks ever more seldom, up to once a second.
LOOK = """(within, [selector, wanted, patience]) => new Promise((done, fail) => {
    const until = performance.now() + patience;
    (function look() {
        if (Boolean((within ?? document).querySelector(selector)) === wanted) done();
        else if (performance.now() > until) fail(new Error(`${wanted ? "never there" : "still there"}: ${selector}`));
        else setTimeout(look, 20);
    })();
})"""


def until_there(within: Locator, selector: str, patience: int = PATIENCE) -> None:
    """Wait until there is such an element within another."""
    within.evaluate(LOOK, [selector, True, patience])


def until_gone(page: Page, selector: str) -> None:
    """Wait until no such element is left on a page."""
    page.evaluate(f"([...given]) => ({LOOK})(null, given)", [selector, False, PATIENCE])


class Work:
    """Processor time, which a busy machine does not change: of the page's own thread, and of its whole process."""

    def __init__(self, page: Page) -> None:
        browser = page.context.browser
        assert browser
        self._page, self._browser = page.context.new_cdp_session(page), browser.new_browser_cdp_session()
        self._page.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.own = self.all = 0.0
        self.leave_out()

    def leave_out(self) -> None:
        """Do not count what has been done since it was last counted."""
        self._before = self._now()

    def count(self) -> None:
        """Add what has been done since then."""
        before, self._before = self._before, self._now()
        self.own += self._before[0] - before[0]
        self.all += sum(seconds - before[1].get(name, seconds) for name, seconds in self._before[1].items())

    def _now(self) -> tuple[float, dict[int, float]]:
        metrics = {metric["name"]: metric["value"] for metric in self._page.send("Performance.getMetrics")["metrics"]}
        processes = self._browser.send("SystemInfo.getProcessInfo")["processInfo"]
        return metrics["TaskDuration"], {one["id"]: one["cpuTime"] for one in processes if one["type"] == "renderer"}


def widgets_ready(page: Page) -> None:
    """Wait until every widget of a page has come to life."""
    until_gone(page, "[data-widget]:not([data-ready])")


def settled(page: Page) -> None:
    """Wait until every widget is there, and the editors that some of them load after."""
    until_gone(page, "[data-widget]:not([data-ready]), [data-widget=exercise]:not(:has(.cm-content))")
    page.wait_for_timeout(200)


#: Widgets that reach out of their column, and text that is cut off inside one without a way to scroll to it.
TOO_WIDE = """() => {
    const column = document.querySelector("main").getBoundingClientRect();
    const told = (e) => `${e.closest("[data-widget]").dataset.widget}: ${e.outerHTML.slice(0, 100)}`;
    const widgets = [...document.querySelectorAll("[data-widget]")];
    const right = (e) => e.getBoundingClientRect().right;
    const out = widgets.filter((e) => right(e) > column.right + 1 || e.scrollWidth > e.clientWidth + 1);
    const moves = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
    const scrolls = (e) => e && (moves(e) || scrolls(e.parentElement.closest("[data-widget] *")));
    const cut = [...document.querySelectorAll("[data-widget] :is(p, button, td, th, label, .fx)")].filter((e) => {
        if (!e.checkVisibility() || e.closest(".cm-editor, .vh") || e.classList.contains("vh")) return false;
        return right(e) > right(e.closest("[data-widget]")) + 1 && !scrolls(e);
    });
    return [...out, ...cut].map(told);
}"""

#: What is cut at the right although nothing shows that it goes on: tabs, the words of a walk's line, lines of code.
CUT = """() => {
    const code = innerWidth > 600 ? ".cm-scroller, " : ""; // on a phone an editor scrolls
    const parts = `${code}.tabs, .wg:is(.fw, .sd) small, .side > pre, .hunt-source pre`;
    return [...document.querySelectorAll(`[data-widget] :is(${parts})`)]
        .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
        .map((e) => `${e.className || e.tagName} in ${e.closest("[data-widget]").id}: ${e.textContent.slice(0, 40)}`);
}"""


def site_pages(site: Path) -> list[str]:
    """The address of every page, from the site's root."""
    return sorted(path.relative_to(site).parent.as_posix().removeprefix(".") + "/" for path in site.rglob("index.html"))
