"""The watch over a page notices what it is there for."""

from __future__ import annotations

import pytest
from browsing import Watch
from playwright.sync_api import Browser, Error


def test_complaints_and_requests_to_other_machines_are_noticed_and_nothing_is_reached(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    watch = Watch(context, address, expected=())
    page = context.new_page()
    page.goto(address + "help/")
    page.evaluate("console.error('wrong'); setTimeout(() => { throw Error('late') })")
    page.wait_for_timeout(100)
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("http://example.org/")
    context.close()
    console, thrown, asked = watch.complaints
    assert console.startswith("wrong (")
    assert thrown.startswith("a script threw: late")
    assert asked == "asked for http://example.org/"
