"""The course in a real Chromium, served by the real server. Nothing may be asked of another machine, ever.

`open_page(path)` gives a page of the site. When the test ends, it fails if the page asked for anything off the origin,
if the browser complained (scripts, content security policy, missing files), or if a script threw.

GRADWALK_TEST_SITE names another build of the site to test.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browsing import OpenPage, Watch, wait_until
from chromium import launched
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from gradwalk.learn.built_site import find_site
from gradwalk.learn.server import make_server


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site."""
    return find_site(os.environ.get("GRADWALK_TEST_SITE") or find_site())


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, as `gradwalk learn` serves it."""
    with make_server(site, port=0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.address
        server.shutdown()
        thread.join()


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[OpenPage]:
    """Opens pages of the site. `expected` names complaints that the test provokes; other options are the context's."""
    opened: list[tuple[BrowserContext, Watch]] = []

    def opening(
        path: str = "",
        *,
        origin: str = address,
        expected: tuple[str, ...] = (),
        script: str | None = None,
        **options: Any,
    ) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        opened.append((context, Watch(context, origin, expected)))
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.goto(origin + path)
        return page

    yield opening
    for context, _ in opened:
        context.close()
    complaints = [words for _, watch in opened for words in watch.complaints]
    assert not complaints, "\n".join(complaints)


Kept = dict[str, tuple[Page, Watch, CDPSession]]


@pytest.fixture(scope="module")
def kept_pages() -> Iterator[Kept]:
    """The pages of `open_again`, by their options."""
    kept: Kept = {}
    yield kept
    for page, _, _ in kept.values():
        page.context.close()


@pytest.fixture
def open_again(browser: Browser, address: str, kept_pages: Kept) -> Iterator[OpenPage]:
    """Opens pages of the site where the test before had its own, in half the time: a new document in the same process.

    For tests that look at many pages and change nothing that another document keeps, but colours and motion. Nothing is
    cached and nothing stored, as on a first visit.
    """
    complaints: list[str] = []
    opened: set[str] = set()

    def opening(path: str = "", *, script: str | None = None, **options: Any) -> Page:
        key = repr((script, sorted(options.items())))
        if key not in kept_pages:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
            if script:
                context.add_init_script(script)
            watch, page = Watch(context, address, expected=()), context.new_page()
            kept_pages[key] = page, watch, context.new_cdp_session(page)
        page, watch, session = kept_pages[key]
        complaints.extend(watch.complaints if key in opened else ())  # and not what the test before left behind
        opened.add(key)
        page.goto("about:blank")  # what is there must not store anything once all is cleared
        watch.complaints.clear()  # what it says about being left is nobody's business
        page.emulate_media(color_scheme=options.get("color_scheme"), reduced_motion=options.get("reduced_motion"))
        session.send("Storage.clearDataForOrigin", {"origin": address.rstrip("/"), "storageTypes": "all"})
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.goto(address + path)
        return page

    yield opening
    for _, watch, _ in kept_pages.values():
        complaints.extend(watch.complaints)
        watch.complaints.clear()
    assert not complaints, "\n".join(complaints)


@contextmanager
def _with_python(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context()
    watch = Watch(context, address, expected=())
    page = context.new_page()
    page.goto(address + "help/")
    page.evaluate("async () => { window.m = await course(); m.python.load(); }")
    wait_until(page, "m.python.state.value.phase === 'ready'")
    yield page
    context.close()
    assert not watch.complaints, "\n".join(watch.complaints)


@pytest.fixture(scope="session")
def python_page(browser: Browser, address: str) -> Iterator[Page]:
    """One page in which Python has loaded, for all tests that call it directly."""
    with _with_python(browser, address) as page:
        yield page


@pytest.fixture
def optimised_page(address: str) -> Iterator[Page]:
    """The same in a browser that optimises every function of Python before it is called for the first time."""
    with launched("--no-liftoff") as browser, _with_python(browser, address) as page:
        yield page
