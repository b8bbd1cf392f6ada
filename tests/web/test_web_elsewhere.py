"""The walk in a file of its own, from a disk and from a server: it steps, asks nobody for anything, is for everyone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from axe import serious, serious_in_the_dark
from browsing import PATIENCE, PHONE
from hosts import plain_server
from playwright.sync_api import Browser, Page, Request, expect

import gradwalk
from gradwalk import Tensor, Value, walk
from gradwalk.presets import PRESETS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walks")
    for name in ("neuron", "diamond", "expression-l"):
        told = gradwalk.explain(PRESETS[name].build().root)
        assert told.save(folder / f"{name}.html").stat().st_size <= 300_000
    W = Tensor([[1.0, 2.0], [3.0, 4.0]], label="W")
    gradwalk.explain((W @ W).tanh().sum()).save(folder / "tensors.html")
    return folder


@pytest.fixture(scope="module")
def addresses(folder: Path) -> Iterator[dict[str, str]]:
    with plain_server(folder) as address:
        yield {"disk": folder.as_uri() + "/", "server": address}


class Opened:
    """Pages that fail the test if they asked for anything but themselves, or if the browser complained."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.pages: list[Page] = []
        self.asked: list[str] = []
        self.complaints: list[str] = []

    def __call__(self, address: str, **options: Any) -> Page:
        page = self.browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
        page.set_default_timeout(PATIENCE)
        self.pages.append(page)
        page.on("request", partial(self._request, address))
        page.on(
            "console", lambda told: self.complaints.append(told.text) if told.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        return page

    def _request(self, address: str, request: Request) -> None:
        if request.url.split("#")[0] != address.split("#")[0] and not request.url.startswith("blob:"):
            self.asked.append(request.url)


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Opened]:
    opened = Opened(browser)
    yield opened
    for page in opened.pages:
        page.close()
    asked = [url for url in opened.asked if not url.endswith("/favicon.ico")]  # which every browser asks a server for
    assert asked == []
    assert [told for told in opened.complaints if "favicon" not in told and "404" not in told] == []


def k(page: Page) -> int:
    return int(page.locator(".walk").get_attribute("data-k") or -1)


@pytest.mark.parametrize("place", ["disk", "server"])
def test_it_steps_by_itself_from_anywhere(open_file: Opened, addresses: dict[str, str], place: str) -> None:
    page = open_file(addresses[place] + "diamond.html")
    recording = walk.record(PRESETS["diamond"].build().root)
    expect(page.locator("[data-count]")).to_have_text(f"Step 0 of {len(recording.events)}")
    for step in range(1, len(recording.events) + 1):
        page.locator("[data-act=step]").click()
        assert k(page) == step
        state = walk.state_after(recording, step)
        for node in recording.graph.nodes:
            if not node.constant:
                spoken = page.locator(f"[data-node='{node.id}']").get_attribute("aria-label") or ""
                grad = state.grads[node.id]
                assert ("no grad yet" in spoken) if grad is None else f"grad {walk.readable(grad)}" in spoken
    expect(page.locator(".ledger-sum")).to_have_text("9 + 6 = 15")
    page.locator("[data-act=back]").click()
    assert k(page) == len(recording.events) - 1
    page.locator("[data-act=reset]").click()
    page.locator("[data-act=play]").click()
    expect(page.locator(".walk[data-k='2']")).to_be_attached()
    page.locator("[data-act=play]").click()
    assert page.title() == "The walk of d"
    expect(page.locator(".why pre")).to_contain_text("through b 6 + through c 9 = 15")


def test_the_keyboard_is_enough_and_every_step_is_spoken(open_file: Opened, addresses: dict[str, str]) -> None:
    page = open_file(addresses["disk"] + "expression-l.html")
    page.locator("[data-act=step]").focus()
    page.keyboard.press("b")
    assert k(page) == 4
    expect(page.locator("[data-spoken]")).to_contain_text("Step 4 of")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert k(page) == 7
    page.keyboard.press("ArrowLeft")
    assert k(page) == 6
    page.keyboard.press("End")
    expect(page.locator("[data-spoken]")).to_contain_text("Step 13 of 13")
    page.keyboard.press("Home")
    assert k(page) == 0
    page.locator(".walkline").focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert k(page) == 4
    stops = page.evaluate("[...document.querySelectorAll('button, select, [tabindex=\"0\"]')].length")
    page.locator("body").press("Tab")
    seen = set()
    for _ in range(stops + 2):
        seen.add(
            page.evaluate(
                "(({dataset, className}) => dataset.act ?? className.baseVal ?? className)(document.activeElement)"
            )
        )
        page.keyboard.press("Tab")
    assert {"svg", "reset", "back", "play", "step", "end", "backward", "walkline"} <= seen


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_it_is_for_everyone(open_file: Opened, addresses: dict[str, str], size: str) -> None:
    page = open_file(
        addresses["disk"] + "neuron.html#step=17", reduced_motion="reduce", **(PHONE if size == "phone" else {})
    )
    assert k(page) == 17
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert serious(page, "html") == []
    assert page.evaluate(ground) == "rgb(243, 246, 245)"
    assert serious_in_the_dark(page, "html") == []
    assert page.evaluate(ground) == "rgb(16, 23, 27)"
    if size == "phone":
        boxes = [button.bounding_box() for button in page.locator(".ctl-main .btn").all()]
        assert all(box and box["height"] >= 44 for box in boxes)


def test_a_link_opens_at_a_step_and_moves_along(open_file: Opened, addresses: dict[str, str]) -> None:
    page = open_file(addresses["disk"] + "diamond.html#step=5")
    assert k(page) == 5
    page.evaluate("location.hash = '#step=9'")
    expect(page.locator(".walk[data-k='9']")).to_be_attached()
    page.evaluate("location.hash = '#step=999'")
    expect(page.locator(".walk[data-k='11']")).to_be_attached()
    page.evaluate("location.hash = '#nothing'")
    page.locator("[data-act=back]").click()
    assert k(page) == 10


def test_on_a_low_screen_what_the_step_says_stays_in_sight(open_file: Opened, addresses: dict[str, str]) -> None:
    page = open_file(addresses["disk"] + "neuron.html", viewport={"width": 1280, "height": 720})
    for selector in (".sentence", "[data-act=step]"):
        expect(page.locator(selector)).to_be_in_viewport(ratio=1)
    page.locator("[data-act=end]").click()
    page.wait_for_timeout(1500)
    expect(page.locator(".sentence")).to_be_in_viewport(ratio=1)
    expect(page.locator(".chip.on")).to_be_in_viewport()


def test_with_reduced_motion_nothing_moves(open_file: Opened, addresses: dict[str, str]) -> None:
    page = open_file(addresses["disk"] + "diamond.html#step=8", reduced_motion="reduce")
    page.locator("[data-act=step]").click()
    moving = "document.getAnimations().filter((a) => a.effect.getComputedTiming().duration > 1).length"
    assert page.evaluate(moving) == 0
    expect(page.locator(".chip.on")).to_be_visible()


def test_on_paper_it_is_light_and_has_no_buttons(open_file: Opened, addresses: dict[str, str]) -> None:
    page = open_file(addresses["disk"] + "diamond.html#step=11", color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator("svg.graph")).to_be_visible()
    expect(page.locator(".sentence")).to_be_visible()
    expect(page.locator(".why pre")).to_be_visible()
    for selector in (".transport", ".more", "[data-act=svg]"):
        expect(page.locator(selector)).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_without_scripts_the_explanation_is_there(open_file: Opened, addresses: dict[str, str]) -> None:
    page = open_file(addresses["disk"] + "diamond.html", java_script_enabled=False)
    expect(page.get_by_text("Stepping needs JavaScript")).to_be_visible()
    expect(page.get_by_text("d → b → a: 6 × 1 = 6")).to_be_visible()


def test_the_picture_can_be_saved(open_file: Opened, addresses: dict[str, str], tmp_path: Path) -> None:
    page = open_file(addresses["server"] + "diamond.html#step=11")
    with page.expect_download() as waiting:
        page.locator("[data-act=svg]").click()
    waiting.value.save_as(tmp_path / "graph.svg")
    assert waiting.value.suggested_filename == "The-walk-of-d.svg"
    drawing = ElementTree.parse(tmp_path / "graph.svg").getroot()
    assert {"15", "18"} <= {text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")}


LABELS = [
    "</script><img src=x onerror=document.title='stolen'>",
    "<b onmouseover=alert(1)>a</b>",
    "a\u2028b\x00c",
    "𝛿∂" * 30,
]


@pytest.mark.parametrize("label", LABELS)
def test_a_hostile_label_is_only_a_label(open_file: Opened, tmp_path: Path, label: str) -> None:
    a = Value(2.0, label=label)
    root = a * a
    root.label = label
    gradwalk.explain(root).save(tmp_path / "walk.html", title=label)
    page = open_file((tmp_path / "walk.html").as_uri())
    page.locator("[data-act=end]").click()
    page.locator("[data-node='0']").hover()
    expect(page.locator(".tip")).to_be_visible()
    assert "stolen" not in page.title() or page.title().startswith("</script>")
    assert page.locator("main img, main b[onmouseover]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_policy_stops_what_somebody_adds(open_file: Opened, folder: Path, tmp_path: Path) -> None:
    """A page that was changed on its way: a script that is not ours does not run."""
    text = (folder / "diamond.html").read_text(encoding="utf-8")
    (tmp_path / "walk.html").write_text(
        text.replace("</main>", "</main><script>document.title='stolen'</script>"), encoding="utf-8"
    )
    page = open_file((tmp_path / "walk.html").as_uri())
    expect(page.locator("[data-ready]")).to_be_visible()
    assert page.title() == "The walk of d"
    assert open_file.complaints
    open_file.complaints.clear()


def test_tensors_step_and_their_numbers_open_without_python(open_file: Opened, addresses: dict[str, str]) -> None:
    page = open_file(addresses["disk"] + "tensors.html", reduced_motion="reduce")
    page.locator("[data-act=end]").click()
    expect(page.locator("[data-name=W] .mapslot.grad [data-cell]")).to_have_count(4)
    page.locator("[data-name=W] [data-cell='0,1']").first.click()
    page.get_by_role("button", name="Step through the graph of W[0, 1]").click()
    expect(page.locator(".opened [data-name='W[0, 1]']")).to_be_visible()
    page.locator("[data-act=leave]").click()
    page.locator("[data-name=n1] .lab").click()
    page.locator("[data-act=into]").click()
    expect(page.get_by_role("alert")).to_contain_text("gradwalk.walk_widget(loss) opens every one")
    assert serious(page, "#walk") == []
