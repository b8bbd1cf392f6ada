"""Python in the page's worker: it loads with a visible progress, says errors by line, and can always be stopped."""

from __future__ import annotations

from typing import Any

import pytest
from browsing import OpenPage, settled, wait_until
from playwright.sync_api import Page, Route

CALL = """async ([fn, args, seconds]) => {
    const printed = [];
    try {
        const result = await m.python.call(fn, args, {seconds, onPrint: (text) => printed.push(text)});
        return {result, printed};
    } catch ({name, message, kind, line, where, reason}) {
        return {name, message, kind, line, where, reason, printed};
    }
}"""
#: Notes every task of the main thread that took long enough to be felt.
LONG_TASKS = """() => { window.long = []; new PerformanceObserver(
    (list) => long.push(...list.getEntries().map((e) => e.duration))).observe({type: "longtask"}); }"""


def run(page: Page, source: str, seconds: float = 30) -> dict[str, Any]:
    answer: dict[str, Any] = page.evaluate(
        CALL, ["sandbox.execute", {"source": source, "name": "your program"}, seconds]
    )
    return answer


def test_it_is_the_real_engine(python_page: Page) -> None:
    answer = python_page.evaluate(
        CALL, ["programs.run", {"text": "L = a*b + c", "inputs": {"a": 2, "b": -3, "c": 10}}, 30]
    )
    assert "L" in str(answer["result"])


@pytest.mark.parametrize(
    ("source", "kind", "lines"),
    [
        ("a = 1\nb = (a", "SyntaxError", {2}),
        ("a = 1\n\nc = a + b", "NameError", {3}),
        ("x = input('how many?')", "EOFError", {1}),
        ("i = 0\nwhile True:\n    i += 1", "OutOfSteps", {2, 3}),
        ("while True: pass", "OutOfSteps", {1}),
        ("def f(n):\n    return f(n + 1)\nf(0)", "RecursionError", {1, 2}),
        ("import sys\nsys.exit()", "SystemExit", {2}),
    ],
)
def test_errors_come_with_the_learners_line(python_page: Page, source: str, kind: str, lines: set[int]) -> None:
    answer = run(python_page, source)
    assert (answer["name"], answer["kind"], answer["where"]) == ("PythonError", kind, "your program")
    assert answer["line"] in lines


def test_a_megabyte_of_prints_neither_freezes_nor_floods_the_page(python_page: Page) -> None:
    python_page.evaluate(LONG_TASKS)
    printed = "".join(run(python_page, "for i in range(50_000): print('x' * 20)")["printed"])
    assert printed.startswith("x" * 20 + "\n")
    assert printed.endswith("more characters, which are not shown\n")
    assert len(printed) < 25_000
    print(f"longest tasks of the page meanwhile: {python_page.evaluate('long')} ms")


def test_chance_is_not_what_it_was_at_the_build(open_page: OpenPage, python_page: Page) -> None:
    """The page loads a Python that has started already, for all readers the same."""
    other = open_page("help/")
    other.evaluate("async () => { window.m = await course(); }")
    draw = "import random\nprint(random.random())"
    assert run(other, draw)["printed"] != run(python_page, draw)["printed"]


def test_prints_arrive_while_it_runs(python_page: Page) -> None:
    first = python_page.evaluate(
        """() => new Promise((done) => m.python.call("sandbox.execute",
            {source: "print('first')\\nimport time\\ntime.sleep(0.5)\\nprint('second')"},
            {onPrint: done}).catch(() => {}))"""
    )
    assert first.startswith("first")


def test_code_that_escapes_the_steps_is_ended_by_the_clock_and_the_next_call_works(python_page: Page) -> None:
    before = python_page.evaluate("m.python.epoch.value")
    python_page.evaluate(LONG_TASKS)
    answer = run(python_page, "sum(iter(int, 1))", seconds=0.5)
    assert (answer["name"], answer["reason"]) == ("PythonStopped", "time")
    assert run(python_page, "1 / 0")["kind"] == "ZeroDivisionError"  # waits for the new worker
    assert python_page.evaluate("m.python.epoch.value") == before + 1
    print(f"longest tasks of the page meanwhile: {python_page.evaluate('long')} ms")


def test_the_learner_can_stop_it_and_the_queue_goes_on(python_page: Page) -> None:
    told = python_page.evaluate(
        """async () => {
            const words = (error) => error.name + " " + (error.reason ?? error.kind);
            const told = (promise) => promise.then(() => "done", words);
            const endless = told(m.python.call("sandbox.execute", {source: "sum(iter(int, 1))"}, {seconds: 100}));
            const next = told(m.python.call("sandbox.execute", {source: "1 / 0"}));
            setTimeout(() => m.python.stop(), 300);
            return [await endless, await next];
        }"""
    )
    assert told == ["PythonStopped user", "PythonError ZeroDivisionError"]


def test_nothing_off_the_origin_can_be_asked_for_from_python(python_page: Page) -> None:
    source = """
import asyncio, js
from pyodide.ffi import run_sync
async def ask():
    try:
        await js.fetch("http://example.org/")
    except Exception as error:
        return str(error)
task = asyncio.ensure_future(ask())
"""
    assert run(python_page, source)["kind"] == "TypeError"  # a namespace is no JSON; the request itself was refused


def test_loading_is_shown_and_moves_nothing(open_page: OpenPage) -> None:
    page = open_page("help/")
    held: list[Route] = []
    page.context.route("**/*.wasm", lambda route: held.append(route))  # or it may be over before anybody looks
    page.goto(page.url.replace("help/", "lessons/write-the-engine/"))
    settled(page)
    wait_until(page, "document.querySelector('[data-python]').textContent.includes('%')")
    height = "document.documentElement.scrollHeight"
    before = page.evaluate(height)
    page.context.unroute("**/*.wasm")  # which lets go on what was held
    wait_until(page, "document.querySelector('[data-python]').textContent.includes('Python is ready')")
    assert page.evaluate(height) == before


def test_a_failure_is_told_and_can_be_tried_again(open_page: OpenPage) -> None:
    page = open_page("help/", expected=("ERR_FAILED", "Failed to fetch", "pyodide", "wasm"))

    def refuse(route: Route) -> None:
        route.abort()

    page.context.route("**/*.wasm", refuse)
    page.evaluate("async () => { window.m = await course(); }")
    told = page.evaluate(CALL, ["sandbox.execute", {"source": "1"}, 5])
    assert (told["name"], told["kind"]) == ("PythonError", "NotLoaded")
    assert "Python did not load" in page.locator("[data-python]").inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.unroute("**/*.wasm", refuse)
    page.get_by_role("button", name="Load Python again").click()
    wait_until(page, "m.python.state.value.phase === 'ready'")
