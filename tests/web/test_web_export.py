"""The exported site on a plain static server, at its root and under a sub-path: no header of ours, the same course."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browsing import OpenPage, wait_until, widgets_ready
from hosts import plain_server

from gradwalk.learn.built_site import export_site


@pytest.fixture(scope="module", params=["", "teaching/2026/gradwalk/"])
def exported(request: pytest.FixtureRequest, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("host")
    export_site(folder / request.param if request.param else folder, site)
    with plain_server(folder) as address:
        yield address + request.param


def test_the_course_works_from_any_address(open_page: OpenPage, exported: str) -> None:
    page = open_page(origin=exported)
    widgets_ready(page)
    page.locator("[data-begin]").click()
    page.wait_for_url(exported + "lessons/a-slope-you-can-measure/")
    widgets_ready(page)
    page.locator(".pager .next").click()
    page.wait_for_url(exported + "lessons/numbers-that-remember/")
    page.locator(".brand").click()
    page.wait_for_url(exported)
    page.goto(exported + "lessons/used-twice/#" + "the-multivariable")  # a deep link
    widgets_ready(page)
    page.get_by_role("link", name="Español", exact=True).click()
    page.wait_for_url(exported + "es/lessons/usado-dos-veces/**")
    widgets_ready(page)
    page.locator(".pager .next").click()
    page.wait_for_url(exported + "es/lessons/quien-va-primero/")
    page.locator(".pager .next").click()  # not translated yet
    page.wait_for_url(exported + "lessons/write-the-engine/")
    page.goto(exported + "es/lessons/usado-dos-veces/")
    page.locator(".brand").click()
    page.wait_for_url(exported + "es/")
    if urlsplit(exported).path != "/":  # the harder case; once is enough for so many megabytes
        page.evaluate("async () => { window.m = await course(); m.python.load(); }")
        wait_until(page, "['ready', 'failed'].includes(m.python.state.value.phase)")
        assert page.evaluate("m.python.state.value.phase") == "ready"


def test_the_policy_holds_without_our_server(open_page: OpenPage, exported: str) -> None:
    page = open_page("help/", origin=exported, expected=("Content Security Policy", "Refused"))
    outcome = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'answered', (error) => error.message)")
    assert outcome == "Failed to fetch"
    page.evaluate(
        """() => { window.ran = false; const script = document.createElement("script");
            script.textContent = "window.ran = true"; document.body.append(script); }"""
    )
    assert page.evaluate("window.ran") is False
