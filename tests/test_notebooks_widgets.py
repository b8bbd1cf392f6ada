"""The widgets in a real JupyterLab and a real marimo: shown, moved, read back from Python, changed from Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe import serious
from hosts import marimo, notebook, open_notebook, page_of, run_cell, set_jupyterlab
from playwright.sync_api import Browser, Locator, Page, expect

pytestmark = pytest.mark.notebook

GROUND_OF = "(element) => getComputedStyle(element).backgroundColor"
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(24, 33, 39)"}


def ground(page: Page, selector: str) -> str:
    colour: str = page.locator(selector).evaluate(GROUND_OF)
    return colour


def leaf(page: Page, name: str) -> Locator:
    if not page.locator(".leaves[open]").count():
        page.locator(".leaves summary").click()
    return page.locator(f"[data-leaf='{name}']")


def card(page: Page, kind: str, node: int) -> Locator:
    return page.locator(f".{kind} [data-node='{node}']")


# --- JupyterLab ------------------------------------------------------------------------------------------------------

WALK = (
    "import gradwalk\nfrom gradwalk.presets import PRESETS\ngraph = PRESETS['expression-l'].build()\n"
    "w = gradwalk.walk_widget(graph.root)\nw",
    "print('read', w.step, w.leaves, graph['L'].data)",
    "w.step = 5\nw.leaves = {'a': 4}",
    "print('read', w.step, w.leaves, graph['L'].data)",
    "w",
)
OTHERS = (
    "import gradwalk\np = gradwalk.playground_widget(gradwalk.program('b = a + 1; c = a*3; d = b*c', a=2).root)\np",
    "print('read', p.order, p.visits, p.right)",
    "p.order = ['d', 'c', 'b', 'a']\np.run()",
    "model = gradwalk.nn.MLP(2, [4, 1], activation='tanh')\nt = gradwalk.training_widget(model)\nt",
    "print('trained', t.step, t.playing, [k.data for k in model.parameters()] == t.state['parameters'])",
    "t.reset()\nt.hidden, t.rate, t.forget = [4], 0.005, True\nt.advance(3)",
    "W = gradwalk.Tensor([[1.0, 2.0], [3.0, 4.0]], label='W')\nloss = (W @ W).tanh().sum()\nloss.label = 'loss'\n"
    "gradwalk.walk_widget(loss)",
)


def test_jupyterlab_steps_and_both_sides_follow(browser: Browser, lab: tuple[Path, str]) -> None:
    folder, address = lab[0], lab[1].replace("NAME", "walk.ipynb")
    (folder / "walk.ipynb").write_text(notebook(*WALK))
    set_jupyterlab(folder, "JupyterLab Light")
    with page_of(browser) as page:
        open_notebook(page, address)
        run_cell(page, 0)
        walk = page.locator(".walk")
        expect(walk).to_have_attribute("data-k", "0")
        assert ground(page, ".widget.wide") == GROUND["light"]

        # stepped by button and by key: Python knows, and JupyterLab does not take the keys for its own
        page.locator("[data-act=step]").click()
        page.locator("[data-act=step]").click()
        page.keyboard.press("b")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        expect(walk).to_have_attribute("data-k", "7")
        assert page.locator(".jp-CodeCell").count() == len(WALK)
        assert run_cell(page, 1).strip() == "read 7 {'a': 2.0, 'b': -3.0, 'c': 10.0, 'f': -2.0} -8.0"

        # moved from Python: the widget follows
        run_cell(page, 2)
        expect(walk).to_have_attribute("data-k", "5")
        expect(leaf(page, "a")).to_have_value("4")
        expect(card(page, "stepper", 6)).to_have_attribute("aria-label", re.compile(r"^L, data 4,"))

        # changed in the widget: Python follows
        leaf(page, "f").fill("3")
        expect(card(page, "stepper", 6)).to_have_attribute("aria-label", re.compile(r"^L, data −6,"))
        assert run_cell(page, 3).strip() == "read 5 {'a': 4.0, 'b': -3.0, 'c': 10.0, 'f': 3.0} -6.0"

        # shown twice: each follows the other
        run_cell(page, 4)
        expect(walk).to_have_count(2)
        expect(walk.nth(1)).to_have_attribute("data-k", "5")
        page.locator("[data-act=step]").nth(1).click()
        expect(walk.nth(0)).to_have_attribute("data-k", "6")
        page.locator("[data-act=back]").nth(0).click()
        expect(walk.nth(1)).to_have_attribute("data-k", "5")

        assert serious(page, ".jp-OutputArea-output") == []
        styles = "(element) => { const {fontSize, color} = getComputedStyle(element); return [fontSize, color]; }"
        before = page.locator(".jp-Notebook .cm-content").first.evaluate(styles)
        page.locator(".jp-OutputArea-output .widget").first.evaluate("(element) => element.getRootNode().host.remove()")
        assert page.locator(".jp-Notebook .cm-content").first.evaluate(styles) == before  # nothing leaked out

        set_jupyterlab(folder, "JupyterLab Dark")
        page.locator(".jp-CodeCell").nth(4).locator(".cm-content").click()
        page.keyboard.press("Control+s")
        page.locator(".jp-mod-dirty").wait_for(state="detached")
        open_notebook(page, address)
        page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
        run_cell(page, 0)
        expect(page.locator(".walk").first).to_be_visible()
        assert page.locator(".widget.wide").first.evaluate(GROUND_OF) == GROUND["dark"]
        assert serious(page, ".jp-OutputArea-output", ["color-contrast"]) == []
        page.evaluate("document.body.dataset.jpThemeLight = 'true'")  # the theme changes while it is shown
        expect(page.locator(".gw").first).to_have_attribute("data-theme", "light")


def test_jupyterlab_has_the_playground_and_the_training_too(browser: Browser, lab: tuple[Path, str]) -> None:
    folder, address = lab[0], lab[1].replace("NAME", "others.ipynb")
    (folder / "others.ipynb").write_text(notebook(*OTHERS))
    set_jupyterlab(folder, "JupyterLab Light")
    with page_of(browser, reduced_motion="reduce") as page:
        open_notebook(page, address)
        run_cell(page, 0)
        page.locator(".order [data-part=earlier]").last.click()  # d before c
        page.locator(".order [data-act=run]").click()
        expect(page.locator("[data-verdict=wrong]")).to_contain_text("never reached")
        assert run_cell(page, 1).strip() == "read ['a', 'b', 'd', 'c'] 4 False"
        run_cell(page, 2)
        expect(page.locator("[data-verdict=right]")).to_contain_text("a.grad = 15")
        expect(page.locator(".order .strip .handle").first).to_contain_text("d")

        run_cell(page, 3)
        page.locator(".train [data-act=step]").click()
        expect(page.locator(".train [data-step]")).to_have_attribute("data-step", "1")
        page.locator(".train [data-act=play]").click()
        expect(page.locator(".train [data-step]")).not_to_have_attribute("data-step", re.compile("^[0-9]$"))
        page.locator(".train [data-act=play]").click()
        expect(page.locator(".train [data-act=play]")).to_contain_text("Play")
        # JupyterLab sends what a widget says when the kernel has answered what came before, so a cell may overtake it
        for _ in range(20):
            told = run_cell(page, 4).split()
            shown = page.locator(".train [data-step]").get_attribute("data-step") or "none"
            if told[1:] == [shown, "False", "True"]:
                break
        assert told[1:] == [shown, "False", "True"]
        assert int(shown) >= 10
        run_cell(page, 5)  # from Python
        expect(page.locator(".train [data-step]")).to_have_attribute("data-step", "3")
        expect(page.locator(".train [role=switch]")).to_be_checked()
        expect(page.locator(".train .slider .value")).to_have_text("0.005")
        expect(page.locator(".train .times")).to_contain_text("too long")

        run_cell(page, 6)  # tensors: heat maps, and the kernel computes the graph of one number
        page.locator(".stepper [data-act=end]").click()
        expect(page.locator(".stepper [data-name=W] .mapslot.grad [data-cell]")).to_have_count(4)
        page.locator(".stepper [data-name=W] [data-cell='1,0']").first.click()
        page.locator(".stepper [data-act=into]").click()
        expect(page.locator(".stepper .opened-bar")).to_contain_text("loss, as far as W[1, 0] counts")
        expect(page.locator(".stepper .opened [data-name='W[1, 0]']")).to_be_visible()
        page.locator(".stepper [data-act=leave]").click()
        expect(page.locator(".stepper [data-act=into]")).to_be_focused()
        assert serious(page, ".jp-OutputArea-output") == []


# --- marimo ----------------------------------------------------------------------------------------------------------

MARIMO = """import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import gradwalk
    from gradwalk.presets import PRESETS
    graph = PRESETS["expression-l"].build()
    w = gradwalk.walk_widget(graph.root)
    view = mo.ui.anywidget(w)
    view
    return PRESETS, gradwalk, graph, mo, view, w


@app.cell
def _(graph, mo, view, w):
    mo.md(f"READ {view.value['step']} {w.step} {[*w.leaves.values()]} {graph.root.data}")
    return


@app.cell
def _(mo, w):
    def act(_):
        w.leaves = {"a": 4}
        w.step = 5

    mo.ui.button(label="from Python", on_click=act)
    return


@app.cell
def _(gradwalk, PRESETS):
    p = gradwalk.playground_widget(PRESETS["diamond"].build().root)
    p
    return (p,)


@app.cell
def _(gradwalk, mo):
    t = gradwalk.training_widget(hidden=[4])
    training = mo.ui.anywidget(t)
    training
    return t, training


@app.cell
def _(mo, p, t, training):
    mo.md(f"TRAINED {training.value['state']['step']} {t.step} {p.visits} {p.right}")
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marimo_steps_and_both_sides_follow(browser: Browser, tmp_path: Path, theme: str) -> None:
    (tmp_path / "walk.py").write_text(MARIMO)
    other = "dark" if theme == "light" else "light"  # the system's: the notebook's own choice goes before it
    options = {"color_scheme": other, "reduced_motion": "reduce"}
    with marimo(tmp_path, "walk.py", theme) as address, page_of(browser, **options) as page:
        page.goto(address)
        walk = page.locator(".walk")
        expect(walk).to_have_attribute("data-k", "0")
        assert ground(page, ".stepper.widget") == GROUND[theme]
        expect(page.locator(".order [data-act=run]")).to_be_visible()
        expect(page.locator(".train [data-act=step]")).to_be_visible()
        if theme == "dark":  # the rest has nothing to do with colours
            assert serious(page, "marimo-anywidget", ["color-contrast"]) == []
            return
        page.locator(".stepper [data-act=step]").click()
        page.keyboard.press("b")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        expect(walk).to_have_attribute("data-k", "7")
        expect(page.get_by_text("READ 7 7 [2.0, -3.0, 10.0, -2.0] -8.0")).to_be_visible()

        page.get_by_role("button", name="from Python").click()
        expect(walk).to_have_attribute("data-k", "5")
        expect(leaf(page, "a")).to_have_value("4")
        expect(card(page, "stepper", 6)).to_have_attribute("aria-label", re.compile(r"^L, data 4,"))

        leaf(page, "f").fill("3")
        expect(page.get_by_text("READ 5 5 [4.0, -3.0, 10.0, 3.0] -6.0")).to_be_visible()
        expect(card(page, "stepper", 6)).to_have_attribute("aria-label", re.compile(r"^L, data −6,"))

        page.locator(".order [data-act=run]").click()
        expect(page.locator("[data-verdict=wrong]")).to_be_visible()
        page.locator(".train [data-act=step]").click()
        expect(page.get_by_text("TRAINED 1 1 4 False")).to_be_visible()
        page.locator(".train [data-act=play]").click()
        expect(page.locator(".train [data-step]")).not_to_have_attribute("data-step", re.compile("^[0-9]$"))
        page.locator(".train [data-act=play]").click()
        assert page.locator("marimo-anywidget").count() == 3
        assert serious(page, "marimo-anywidget") == []
