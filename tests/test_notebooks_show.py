"""Drawings in a real JupyterLab and a real marimo, seen by a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hosts import marimo, notebook, open_notebook, page_of, run_cell, set_jupyterlab
from playwright.sync_api import Browser, Page

from gradwalk.drawing.theme import DARK, LIGHT

pytestmark = pytest.mark.notebook

CODE = """
from gradwalk import draw, nn, spy
from gradwalk.presets import PRESETS
values = PRESETS["neuron"].build()
values.root.backward()
"""


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


LOOK = """
(svg) => {
    const box = svg.getBoundingClientRect(), frame = svg.parentElement.getBoundingClientRect();
    const slot = svg.querySelector('.gw-data rect'), word = svg.querySelector('.gw-label');
    return {
        width: box.width, height: box.height, room: frame.width,
        natural: +svg.getAttribute('width'), ratio: svg.getAttribute('height') / svg.getAttribute('width'),
        slot: slot && getComputedStyle(slot).fill, back: getComputedStyle(svg.querySelector('.gw-back')).fill,
        font: word && getComputedStyle(word).fontSize,
        texts: [...svg.querySelectorAll('text')].map(text => text.textContent),
    };
}
"""


def look(page: Page, nth: int = 0) -> dict[str, Any]:
    """What can be seen of a picture on the page."""
    picture = page.locator("svg[class^=gw-]").nth(nth)
    picture.wait_for(state="visible")
    seen: dict[str, Any] = picture.evaluate(LOOK)
    return seen


def check_that_it_is_all_there(seen: dict[str, Any], palette: dict[str, str]) -> None:
    assert 300 < seen["width"] <= seen["room"] + 1  # neither cut off nor shrunk to nothing
    assert seen["height"] / seen["width"] == pytest.approx(seen["ratio"], rel=0.01)
    assert {"x1", "w2", "o", "0.7071", "−1.5", "tanh"} <= set(seen["texts"])
    assert seen["slot"] == rgb(palette["data-soft"])
    assert seen["back"] == rgb(palette["surface"])
    assert seen["font"] == "15px"


# --- JupyterLab ------------------------------------------------------------------------------------------------------


def test_jupyterlab_shows_drawings_and_follows_its_theme(
    browser: Browser, lab: tuple[Path, str], tmp_path: Path
) -> None:
    folder, address = lab[0], lab[1].replace("NAME", "drawing.ipynb")
    cells = (
        f"{CODE}\ndraw(values.root)",
        "draw(values.root, heat=True, locals=True, theme='dark', rankdir='TB')",
        "draw(nn.MLP(3, [4, 4, 4, 1]), depth='neurons')",
        "spy(values.root, size=200)",
    )
    (folder / "drawing.ipynb").write_text(notebook(*cells))
    set_jupyterlab(folder, "JupyterLab Light")
    with page_of(browser) as page:
        open_notebook(page, address)
        for nth in range(len(cells)):
            run_cell(page, nth)
        page.locator(".jp-OutputArea-output svg[class^=gw-]").nth(3).wait_for(state="attached")
        check_that_it_is_all_there(look(page), LIGHT)
        page.locator(".jp-Notebook .jp-CodeCell").first.scroll_into_view_if_needed()
        page.screenshot(path=tmp_path / "jupyterlab.png")
        tall = look(page, 1)
        assert tall["slot"] == rgb(DARK["data-soft"])  # it was told to be dark, whatever the notebook is
        assert "× −3" in tall["texts"]
        wide = look(page, 2)
        assert wide["width"] >= 0.55 * wide["natural"]  # it shrinks no further than can be read, and scrolls
        assert "Which node reads which" in look(page, 3)["texts"]
        page.keyboard.press("Control+s")
        page.locator(".jp-mod-dirty").wait_for(state="detached")

        set_jupyterlab(folder, "JupyterLab Dark")
        page.goto(address)
        page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
        check_that_it_is_all_there(look(page), DARK)
        page.screenshot(path=tmp_path / "jupyterlab-dark.png")


# --- marimo ----------------------------------------------------------------------------------------------------------

MARIMO = f"""import marimo

app = marimo.App()


@app.cell
def _():
{"".join(f"    {line}" + chr(10) for line in CODE.strip().splitlines())}    draw(values.root)
    return (spy, values)


@app.cell
def _(spy, values):
    spy(values.root, size=200)
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_marimo_shows_drawings_and_follows_its_theme(
    browser: Browser, tmp_path: Path, theme: str, palette: dict[str, str]
) -> None:
    (tmp_path / "drawing.py").write_text(MARIMO)
    other = "dark" if theme == "light" else "light"  # the system's: the notebook's own choice goes before it
    with marimo(tmp_path, "drawing.py", theme) as address, page_of(browser, color_scheme=other) as page:
        page.goto(address)
        check_that_it_is_all_there(look(page), palette)
        assert "Which node reads which" in look(page, 1)["texts"]
        page.screenshot(path=tmp_path / f"marimo-{theme}.png")


# --- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_a_saved_page_shows_itself_and_follows_the_system(
    browser: Browser, tmp_path: Path, scheme: str, palette: dict[str, str]
) -> None:
    from gradwalk import draw
    from gradwalk.presets import PRESETS

    root = PRESETS["neuron"].build().root
    root.label = "<script>document.title = 'stolen'</script>"
    root.backward()
    draw(root).save(tmp_path / "drawing.html")
    page = browser.new_page(viewport={"width": 600, "height": 600}, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto((tmp_path / "drawing.html").as_uri())
    seen = look(page)
    assert page.title() == "10 nodes, 9 edges"  # the label did not run
    assert seen["width"] == seen["natural"]  # at its size …
    assert seen["slot"] == rgb(palette["data-soft"])
    page.get_by_label("fit to the window").check()
    assert look(page)["width"] <= 600  # … or fitted
    page.screenshot(path=tmp_path / f"page-{scheme}.png")
    page.close()


def test_the_dots_of_a_spy_plot_are_sharp_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    """A browser blurs what it enlarges: seen on a small matrix, where every dot is large."""
    import numpy as np
    from matplotlib.image import imread

    from gradwalk import spy
    from gradwalk.presets import PRESETS

    spy(PRESETS["neuron"].build().root, size=300, theme="light").save(tmp_path / "spy.html")
    page = browser.new_page(viewport={"width": 800, "height": 800})
    page.goto((tmp_path / "spy.html").as_uri())
    page.locator("image").screenshot(path=tmp_path / "dots.png")
    page.close()
    pixels = np.round(imread(tmp_path / "dots.png")[:, :, :3] * 255).astype(int).reshape(-1, 3)
    _, counts = np.unique(pixels, axis=0, return_counts=True)
    assert sorted(counts)[-2:] == pytest.approx([9 * 900, 91 * 900], rel=0.05)  # nine dots of 30 × 30, and the ground
    assert sum(sorted(counts)[:-2]) < 0.03 * len(pixels)  # the rules around them, and no shades between
