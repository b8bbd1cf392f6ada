"""Code exercises in a real browser, on the page's own Python: right and wrong, stopped, printed, kept, taken home."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from axe import serious_in_light_and_dark
from browsing import PHONE, OpenPage, until_there, wait_until, widgets_ready
from learn.test_exercises import MISTAKES, MUSEUM, TABS, submissions
from playwright.sync_api import Locator, Page, expect
from whole_class import whole_class

from gradwalk.learn.page.exercises import EXERCISES, solutions

LESSON = "lessons/write-the-engine/"
SOLUTIONS = solutions()


def exercise(page: Page, name: str) -> Locator:
    """The widget that holds a tab of this name."""
    widget = page.locator("[data-widget=exercise]").filter(has=page.get_by_role("tab", name=name, exact=False)).first
    widget.scroll_into_view_if_needed()
    return widget


def show(page: Page, tab: str) -> Locator:
    """Open a tab and wait for its editor."""
    widget = exercise(page, tab)
    widget.get_by_role("tab", name=tab).click()
    widget.locator(f'.editor[data-tab="{tab}"] .cm-content').wait_for()
    return widget


def write(page: Page, tab: str, text: str) -> Locator:
    """Type a text into a tab's editor, in place of what is there."""
    widget = show(page, tab)
    widget.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)
    return widget


def run_test(widget: Locator) -> Locator:
    """Run the test and wait for what it found."""
    widget.get_by_role("button", name="Run test").click()
    until_there(widget, "button.run:not([aria-busy])")
    return widget.locator(".bug")


# --- the whole matrix on the page's own Python ---------------------------------------------------------------------

RUN_ALL = """async (calls) => {
    const found = [];
    for (const [exercise, tab, sources] of calls)
        found.push(await m.python.call("exercises.run", {exercise, tab, sources}, {seconds: 60}));
    return found;
}"""


def run_all(page: Page, texts: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """(exercise, tab, text) each, everything else as the solutions have it."""
    calls = [[name, tab, {**SOLUTIONS, tab: text}] for name, tab, text in texts]
    found: list[dict[str, Any]] = page.evaluate(RUN_ALL, calls)
    return found


def test_every_solution_passes_and_every_starter_is_missing(python_page: Page) -> None:
    results = run_all(python_page, [(name, tab.name, tab.solution) for name, tab in TABS])
    assert [result["status"] for result in results] == ["passed"] * len(TABS)
    results = run_all(python_page, [(name, tab.name, tab.starter) for name, tab in TABS])
    assert [result["status"] for result in results] == ["missing"] * len(TABS)


#: Of each exercise one mistake of each kind, for the page has another Python; the desk tries them all.
IN_THE_PAGE = list({(name, mistake.kind): (name, tab, mistake) for name, tab, mistake in MISTAKES}.values())


def test_every_kind_of_mistake_is_named_in_the_page_as_on_the_desk(python_page: Page) -> None:
    texts = [(name, tab.name, mistake.apply(tab.solution)) for name, tab, mistake in IN_THE_PAGE]
    results = run_all(python_page, texts)
    for (_, tab, mistake), result in zip(IN_THE_PAGE, results, strict=True):
        assert (result["kind"], result["why"]) == (mistake.kind, mistake.why), tab.name


def test_museum_bugs_are_named_in_the_page(python_page: Page) -> None:
    home = {tab.name: name for name, tab in TABS}
    # one exhibit for each thing that is said of some; the desk tries them all
    bugs = list({min(MUSEUM[name]): (name, tab, text) for name, tab, text in submissions() if name in MUSEUM}.values())
    results = run_all(python_page, [(home[tab], tab, text) for _, tab, text in bugs])
    for (specimen, tab, _), result in zip(bugs, results, strict=True):
        assert result["kind"] in MUSEUM[specimen], f"{specimen} in {tab}: {result['kind']}"


# --- what would bring Python down ----------------------------------------------------------------------------------

#: Methods that lead back to themselves through the operator protocol: each of them used to kill the page's Python.
CIRCLES = [
    ("__rsub__", "return other - self", ["`__rsub__`"]),
    ("__rtruediv__", "return other / self", ["`__rtruediv__`"]),
    ("__radd__", "return other + self", ["`__radd__`"]),
    ("__rmul__", "return other * self", ["`__rmul__`"]),
    ("__neg__", "return -self", ["`__neg__`"]),
    ("__sub__", "return self - other", ["`__sub__`"]),
    ("__truediv__", "return self / other", ["`__truediv__`"]),
]


def test_a_method_that_leads_back_to_itself_is_named_and_the_page_stays_alive(open_page: OpenPage) -> None:
    page = open_page("lessons/the-whole-arithmetic/")
    widgets_ready(page)
    page.evaluate("async () => { window.m = await course(); }")
    widget = write(page, "__rsub__", "def __rsub__(self, other):\n    return other - self\n")
    bug = run_test(widget)
    expect(bug).to_contain_text("A function calls itself over and over")
    expect(bug).to_contain_text("__rsub__")
    expect(widget.locator(".bad-line")).to_have_text([re.compile("return other - self")])
    assert page.evaluate("m.store.get('tried:__rsub__', {}).tries") == 1
    texts = []
    for tab, line, _ in CIRCLES:
        arguments = "self" if tab == "__neg__" else "self, other"
        texts.append((next(name for name, t in TABS if t.name == tab), tab, f"def {tab}({arguments}):\n    {line}\n"))
    texts.append(("slopes", "exp", "def exp(self):\n    raise KeyboardInterrupt\n"))
    results = run_all(page, texts)
    for (tab, _, names), result in zip(CIRCLES, results, strict=False):
        assert result["headline"].startswith("A function calls itself over and over"), tab
        assert all(name in result["why"] for name in names), result["why"]
    assert (results[-1]["status"], results[-1]["error"]["kind"]) == ("error", "KeyboardInterrupt")
    assert page.evaluate("m.python.epoch.value") == 1  # it was never started anew


def test_what_brings_python_down_all_the_same_counts_as_a_try_and_the_next_one_works(open_page: OpenPage) -> None:
    complaints = ("Maximum call stack", "Pyodide", "fatal error", "RangeError")
    page = open_page("lessons/write-the-engine/", expected=complaints)
    widgets_ready(page)
    page.evaluate("async () => { window.m = await course(); }")
    deep = f"def exp(self):\n    return self{'.data' * 6000}\n"  # so deep that it cannot even be compiled
    widget = write(page, "exp", deep)
    bug = run_test(widget)
    expect(bug).to_contain_text("It nests too deeply")
    expect(bug).to_contain_text("Python had to be started again")
    assert page.evaluate("m.store.get('tried:exp', {}).tries") == 1
    write(page, "exp", SOLUTIONS["exp"])
    run_test(widget)
    expect(widget.locator(".bug[data-status=passed]")).to_be_visible()


# --- one learner's way ---------------------------------------------------------------------------------------------


def test_from_nothing_to_a_tick(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    widget = show(page, "__mul__")
    bug = run_test(widget)
    assert bug.inner_text().startswith("Not written yet")
    assert widget.get_by_role("tab", name="__mul__").inner_text().startswith("__mul__")

    write(page, "__mul__", SOLUTIONS["__mul__"].replace("+=", "="))
    page.keyboard.press("Control+Enter")
    widget.locator(".bug[data-kind=overwritten]").wait_for()
    assert "3.0 where 6.0 is right" in bug.inner_text()
    assert "The second contribution replaced the first. Is there an = that should be +=?" in " ".join(
        bug.inner_text().split()
    )
    assert widget.locator(".bug .bar .lost").inner_text().split()[:2] == ["3", "replaced"]
    assert widget.locator(".bug .bar .got").inner_text().split()[:2] == ["3", "kept"]
    expect(widget.locator(".bad-line")).to_have_text([re.compile(r"^ *self\.grad"), re.compile(r"^ *other\.grad")])
    row = widget.locator(".checks tbody tr").first
    assert row.inner_text().split("\t")[-2:] == ["3.0000000", "6.0000000"]
    assert "f" in (row.get_attribute("class") or "")
    expect(widget.locator(".checks caption")).to_have_text("11 of 14 checks pass")

    widget.locator(".cm-content").press("End")
    page.keyboard.type(" ")
    expect(widget.locator(".bad-line")).to_have_count(0)
    expect(widget.locator(".stale-note")).to_be_visible()

    write(page, "__mul__", SOLUTIONS["__mul__"])
    run_test(widget)
    expect(widget.locator(".bug[data-status=passed]")).to_be_visible()
    expect(widget.get_by_role("tab", name="__mul__ passes")).to_be_visible()
    expect(widget.locator(".checks caption")).to_have_text("All 14 checks pass")
    assert not page.evaluate("async () => (await course()).progress.isDone('write-the-engine/plus-times')")
    write(page, "__add__", SOLUTIONS["__add__"])
    run_test(widget)
    page.wait_for_function("async () => (await course()).progress.isDone('write-the-engine/plus-times')")

    page.reload()
    widgets_ready(page)
    widget = show(page, "__mul__")
    written = [line for line in widget.locator(".cm-content").inner_text().splitlines() if line]
    assert written == [line for line in SOLUTIONS["__mul__"].splitlines() if line]
    expect(widget.get_by_role("tab", name="__add__ passes")).to_be_visible()


ERRORS = [
    ("def tanh(self:\n    pass", "SyntaxError on line 1", "never closed", 1),
    ("def tanh(self):\n    x = 1\n    return y", "NameError on line 3", "'y' is not defined", 3),
    ("def tanh(self):\n    while True: pass", "It does not come to an end", "a loop that never ends", 2),
    ("def tanh(self):\n    return Value(float(input()))", "EOFError on line 2", "nobody to ask", 2),
]


def test_errors_point_at_the_line_and_a_megabyte_of_prints_is_cut(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    for text, headline, says, line in ERRORS:
        widget = write(page, "tanh", text)
        bug = run_test(widget)
        assert bug.get_attribute("data-status") == "error"
        assert headline in bug.inner_text()
        assert says in bug.inner_text()
        assert widget.locator(".bad-line").inner_text().strip() == text.splitlines()[line - 1].strip()

    noisy = SOLUTIONS["exp"].replace("    out =", "    print('<b>x</b>' * 20_000)\n    out =")
    widget = write(page, "exp", noisy)
    run_test(widget)
    expect(widget.locator(".bug[data-status=passed]")).to_be_visible()
    printed = widget.locator(".printed pre")
    assert printed.inner_text().startswith("<b>x</b>")  # as text
    assert len(printed.inner_text()) < 30_000
    assert "not shown" in printed.inner_text()


def test_what_cannot_be_counted_is_stopped_by_the_clock_or_by_hand(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    page.clock.install()
    page.reload()
    widgets_ready(page)
    widget = write(page, "exp", "def exp(self):\n    return sum(iter(int, 1))")
    widget.get_by_role("button", name="Run test").click()
    widget.get_by_role("button", name="Stop").click()
    assert widget.locator(".bug").inner_text().startswith("Stopped\n")
    page.evaluate("document.title = 'still here'")  # the page never froze
    widget.get_by_role("button", name="Run test").click()
    wait_until(page, "async () => (await course()).python.state.value.phase === 'ready'")
    page.clock.fast_forward(10_000)
    until_there(widget, "button.run:not([aria-busy])")
    assert "Stopped after ten seconds" in widget.locator(".bug").inner_text()
    write(page, "exp", SOLUTIONS["exp"])
    run_test(widget)
    expect(widget.locator(".bug[data-status=passed]")).to_be_visible()


def test_hints_solution_and_reset(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    tab = EXERCISES["slopes"].tabs["exp"]
    widget = show(page, "exp")
    solution = widget.get_by_role("button", name="Solution")
    solution.click(force=True)
    expect(widget.locator(".later")).to_be_visible()
    expect(widget.locator(".solution")).to_have_count(0)
    for n in range(1, len(tab.hints) + 1):
        widget.get_by_role("button", name="Hint").or_(widget.get_by_role("button", name="hints")).first.click()
        expect(widget.locator(".hints li")).to_have_count(n)
    assert "out.data" in widget.locator(".hints li").last.inner_text()
    solution.click(force=True)  # all hints, but not one test
    expect(widget.locator(".solution")).to_have_count(0)
    run_test(widget)  # nothing was written: no honest try
    solution.click(force=True)
    expect(widget.locator(".solution")).to_have_count(0)
    write(page, "exp", SOLUTIONS["exp"].replace("out.data *", "self.data *"))
    run_test(widget)
    solution.click(force=True)
    assert "self.grad += out.data * out.grad" in widget.locator(".solution pre").inner_text()
    widget.get_by_role("button", name="Put it in the editor").click()
    run_test(widget)
    expect(widget.locator(".bug[data-status=passed]")).to_be_visible()

    widget.get_by_role("button", name="Reset").click()
    expect(widget.get_by_role("button", name="Keep it")).to_be_focused()
    widget.get_by_role("button", name="Keep it").click()
    expect(widget.locator(".cm-content")).to_contain_text("out.data * out.grad")
    widget.get_by_role("button", name="Reset").click()
    widget.get_by_role("button", name="Yes, start again").click()
    expect(widget.locator(".cm-content")).to_contain_text("your turn")
    wait_until(page, "course().then(({store}) => store.get('code:exp', null) === null)")


def test_the_engine_is_taken_home_and_graded(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(LESSON)
    page.evaluate(
        "async (texts) => { const {store} = await course(); for (const [tab, text] of Object.entries(texts)) "
        "store.set(`code:${tab}`, text) }",
        {**SOLUTIONS, "__mul__": SOLUTIONS["__mul__"].replace("+=", "=")},
    )
    page.reload()
    widgets_ready(page)
    widget = show(page, "__mul__")
    widget.get_by_role("button", name="Show the whole class").click()
    shown = page.get_by_role("dialog").locator("pre").text_content()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download engine.py").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    assert (file.name, text) == ("engine.py", shown)
    assert text == whole_class({**SOLUTIONS, "__mul__": SOLUTIONS["__mul__"].replace("+=", "=")}, 7)
    done = subprocess.run(
        [sys.executable, "-m", "gradwalk", "grade", str(file)], capture_output=True, text=True, check=False
    )
    assert "`__mul__`" in done.stdout
    assert done.returncode != 0


def test_the_diamond_runs_on_the_learners_own_engine(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    widget = write(page, "diamond", SOLUTIONS["diamond"])
    assert "It is __add__ of your engine" in run_test(widget).inner_text()
    for tab in ("__add__", "__mul__", "backward"):
        write(page, tab, SOLUTIONS[tab])
    widget = show(page, "diamond")
    assert "Fifteen, on an engine that you wrote yourself." in run_test(widget).inner_text()


def test_keys_are_enough(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    widgets_ready(page)
    widget = show(page, "__pow__")
    widget.get_by_role("tab", name="__pow__").focus()
    page.keyboard.press("ArrowRight")
    expect(widget.get_by_role("tab", name="tanh")).to_be_focused()
    expect(widget.get_by_role("tab", name="tanh")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(widget.get_by_role("tab", name="exp")).to_be_focused()
    page.keyboard.press("Home")
    editor = widget.locator(".cm-content")
    editor.wait_for()
    assert editor.get_attribute("aria-label") == "Your code for __pow__"
    editor.focus()
    page.keyboard.press("Tab")  # leaves the editor and writes nothing
    expect(widget.get_by_role("button", name="Run test")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(editor).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.type("def f():")
    page.keyboard.press("Enter")
    page.keyboard.type("x")
    assert editor.inner_text() == "def f():\n    x"  # four spaces come by themselves


def test_on_a_phone(open_page: OpenPage) -> None:
    page = open_page(LESSON, **PHONE)
    widgets_ready(page)
    widget = write(page, "__add__", SOLUTIONS["__add__"].replace("+=", "="))
    widget.get_by_role("button", name="Run test").tap()
    widget.locator(".bug[data-kind=overwritten]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = widget.locator(".checks").bounding_box()
    assert box is not None
    assert box["width"] <= 390


def test_results_hints_and_the_whole_class_are_accessible(open_page: OpenPage) -> None:
    page = open_page(LESSON, color_scheme="light", reduced_motion="reduce")
    widgets_ready(page)
    widget = write(page, "__mul__", "print(1)\n" + SOLUTIONS["__mul__"].replace("+=", "="))
    run_test(widget)
    widget.get_by_role("button", name="Hint").click()
    widget.get_by_role("button", name="Reset").click()
    assert serious_in_light_and_dark(page, "[data-widget=exercise], [data-widget=download]") == []
    widget.get_by_role("button", name="Show the whole class").click()
    assert serious_in_light_and_dark(page, "dialog") == []


def test_work_is_not_lost_when_python_cannot_be_had(open_page: OpenPage) -> None:
    page = open_page(
        LESSON,
        expected=("pyodide", "Failed to load", "worker"),
        script=(
            "window.Worker = class { constructor() { setTimeout(() => this.onerror?.({message: 'no workers "
            "here'})) } postMessage() {} terminate() {} }"
        ),
    )
    widgets_ready(page)
    widget = write(page, "exp", "def exp(self):\n    pass  # mine")
    run_test(widget)
    assert "Python did not load" in widget.locator(".bug").inner_text()
    assert json.dumps(page.evaluate("async () => (await course()).store.get('code:exp', null)")).count("# mine") == 1
