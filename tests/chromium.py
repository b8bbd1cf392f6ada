"""The Chromium that looks at notebooks and at the course: found, or fetched.

python tests/chromium.py     says which one it is, and fetches one if there is none
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

LIFTOFF = "--liftoff-only"  # compiles Python once, not again while it runs: it starts in half the time
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--in-process-gpu",  # there is none: a process for it would only cost time
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # no other machine is reached
]  # fmt: skip
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
NONE = """\
There is no Chromium on this machine, and none could be fetched, so the tests that need a browser are skipped.
To have them run, do one of these:
  apt-get install chromium                     (Debian, Ubuntu; as root)
  python -m playwright install chromium        (anywhere, with a network)
  CHROMIUM=/path/to/chrome make test           (any Chrome, Chromium or Edge of your own)"""


@cache
def find_chromium() -> str | None:
    """A Chromium: the one named in CHROMIUM, the system's, Playwright's own, or one that is fetched now."""
    return _there() or _from_debian() or _from_playwright()


def _there() -> str | None:
    named = os.environ.get("CHROMIUM")
    if named:
        if not shutil.which(named):
            sys.exit(f"CHROMIUM={named} is no program that can be run")
        return named
    found = next(filter(None, map(shutil.which, NAMES)), None) or next(filter(os.path.exists, APPS), None)
    return found or _playwrights_own()


def _playwrights_own() -> str | None:
    with _playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _from_debian() -> str | None:
    if not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")):
        return None
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # The shell is Chromium without its own windows, which take a third of the time; older releases have none.
    for package in ("chromium-headless-shell", "chromium"):
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", package]):
            _run(command, environment)
        if shutil.which(package):
            return shutil.which(package)
    return None


def _from_playwright() -> str | None:
    _run([sys.executable, "-m", "playwright", "install", "chromium"], dict(os.environ))
    return _playwrights_own()


def _run(command: list[str], environment: dict[str, str]) -> None:
    try:
        subprocess.run(command, env=environment, capture_output=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired):
        pass  # what counts is whether there is a Chromium afterwards


@contextmanager
def launched(javascript: str = LIFTOFF) -> Iterator[Browser]:
    """A browser; a test that asks for one where none can be had is skipped, with the remedy.

    While it lasts, Playwright holds the thread's event loop: a test that uses it cannot call asyncio.run().
    """
    program = find_chromium()
    if program is None:
        pytest.skip(NONE)
    with _playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS, f"--js-flags={javascript}"])
        yield browser
        browser.close()


_running: list[Playwright] = []  # one entry for each user: a thread can have one Playwright only, so they share it


@contextmanager
def _playwright() -> Iterator[Playwright]:
    _running.append(_running[0] if _running else sync_playwright().start())
    try:
        yield _running[0]
    finally:
        playwright = _running.pop()
        if not _running:
            playwright.stop()


if __name__ == "__main__":
    print(find_chromium() or NONE)
