"""Real hosts for the tests: JupyterLab, marimo and a plain server of files, each on a port of its own.

Servers run on 127.0.0.1 with a home of their own. Nothing may ask for anything from elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from browsing import PATIENCE
from playwright.sync_api import Browser, Page, expect


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def handle(self) -> None:
        with suppress(ConnectionError):  # a page that is left does not wait for what it asked for
            super().handle()


@contextmanager
def plain_server(folder: Path) -> Iterator[str]:
    """The address of a server that knows of nothing but files, and has no header of ours."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


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


@contextmanager
def jupyterlab(folder: Path, name: str) -> Iterator[str]:
    """A JupyterLab that serves a folder; gives the address of a notebook in it."""
    port, token = free_port(), secrets.token_hex(16)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    with server(command, folder, port, f"/api?token={token}"):
        yield f"http://127.0.0.1:{port}/lab/tree/{name}?reset&token={token}"


def open_notebook(page: Page, address: str) -> None:
    """Open a notebook in JupyterLab and wait for its kernel."""
    page.goto(address)
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()


def run_cell(page: Page, nth: int) -> str:
    """Run one cell and give what it printed."""
    cell = page.locator(".jp-CodeCell").nth(nth)
    prompt = cell.locator(".jp-InputArea-prompt")
    before = prompt.inner_text()
    for patience in (5_000, 10_000, PATIENCE):  # a page that is still settling now and then drops a key
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        with suppress(AssertionError):
            expect(prompt).not_to_have_text(before, timeout=patience)  # "[*]:" as soon as the cell is sent
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"))
    errors = cell.locator(
        "[data-mime-type='application/vnd.jupyter.stderr'], [data-mime-type='application/vnd.jupyter.error']"
    )
    assert not errors.count(), errors.first.inner_text()
    printed = cell.locator(".jp-OutputArea-output pre")
    return printed.first.inner_text() if printed.count() else ""


@contextmanager
def marimo(folder: Path, name: str, theme: str = "light") -> Iterator[str]:
    """A marimo that runs a notebook as an app; gives its address."""
    (folder / "pyproject.toml").write_text(f'[tool.marimo.display]\ntheme = "{theme}"\n')
    port = free_port()
    command = [
        sys.executable, "-m", "marimo", "-q", "run", "--headless", "--no-token", "--host", "127.0.0.1",
        "--port", str(port), name,
    ]  # fmt: skip
    with server(command, folder, port, "/"):
        yield f"http://127.0.0.1:{port}/"
