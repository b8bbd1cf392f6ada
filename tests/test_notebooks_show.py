"""Drawings in a real JupyterLab and a real marimo, seen by a real browser: Chromium, driven by Playwright.

Servers run on 127.0.0.1 with a port and a home of their own. Nothing may ask for anything from elsewhere.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from chromium import launched
from playwright.sync_api import Browser, Page

from gradwalk.drawing.theme import DARK, LIGHT

PATIENCE = 60_000  # milliseconds

CODE = """
from gradwalk import draw, nn, spy
from gradwalk.presets import PRESETS
values = PRESETS["neuron"].build()
values.root.backward()
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@contextmanager
def page_of(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page that fails the test if it asked for anything from another machine."""
    page = browser.new_page(viewport={"width": 1200, "height": 1000}, **options)
    page.set_default_timeout(PATIENCE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.close()
    assert asked
    assert not [url for url in asked if not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))]


@contextmanager
def server(command: list[str], folder: Path, port: int, ready: str) -> Iterator[None]:
    """A program that serves on a port, with a home of its own, until the block ends."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    places = {
        name: str(home / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    environment = {**os.environ, **places, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(home / "settings")
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            wait_for(f"http://127.0.0.1:{port}{ready}", process, folder / "server.log")
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                pass
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the session we started it in: its kernels too
            process.wait(timeout=10)


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{address} did not answer: {log.read_text(errors='replace')[-2000:]}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


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


def notebook(*cells: str) -> str:
    def cell(i: int, source: str) -> dict[str, Any]:
        fresh: dict[str, Any] = {"execution_count": None, "metadata": {}, "outputs": []}
        return {"cell_type": "code", "id": f"cell{i}", "source": source, **fresh}

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {
            "cells": [cell(i, source) for i, source in enumerate(cells)],
            "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def set_jupyterlab(folder: Path, theme: str) -> None:
    """Its settings: the theme, and no asking for news."""
    settings = folder / "home" / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}))
    (settings / "notification.jupyterlab-settings").write_text(json.dumps({"fetchNews": "false"}))


def test_jupyterlab_shows_drawings_and_follows_its_theme(browser: Browser, tmp_path: Path) -> None:
    cells = (
        f"{CODE}\ndraw(values.root)",
        "draw(values.root, heat=True, locals=True, theme='dark', rankdir='TB')",
        "draw(nn.MLP(3, [4, 4, 4, 1]), depth='neurons')",
        "spy(values.root, size=200)",
    )
    (tmp_path / "drawing.ipynb").write_text(notebook(*cells))
    set_jupyterlab(tmp_path, "JupyterLab Light")
    port, token = free_port(), secrets.token_hex(16)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={tmp_path}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    address = f"http://127.0.0.1:{port}/lab/tree/drawing.ipynb?reset&token={token}"
    with server(command, tmp_path, port, f"/api?token={token}"), page_of(browser) as page:
        page.goto(address)
        page.locator(".jp-Notebook .jp-CodeCell").first.click()
        page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        for _ in cells:
            page.keyboard.press("Shift+Enter")
        page.locator(".jp-OutputArea-output svg[class^=gw-]").nth(3).wait_for(state="attached")
        assert not page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count()
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

        set_jupyterlab(tmp_path, "JupyterLab Dark")
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
    (tmp_path / "pyproject.toml").write_text(f'[tool.marimo.display]\ntheme = "{theme}"\n')
    port = free_port()
    command = [
        sys.executable, "-m", "marimo", "-q", "run", "--headless", "--no-token", "--host", "127.0.0.1",
        "--port", str(port), "drawing.py",
    ]  # fmt: skip
    other = "dark" if theme == "light" else "light"  # the system's: the notebook's own choice goes before it
    with server(command, tmp_path, port, "/"), page_of(browser, color_scheme=other) as page:
        page.goto(f"http://127.0.0.1:{port}/")
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
