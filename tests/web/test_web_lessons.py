"""The lessons as pages: whole, one after the other, and with the engine's numbers in their pictures."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from browsing import OpenPage, widgets_ready
from playwright.sync_api import expect

from gradwalk.presets import PRESETS

FILES = sorted((Path(__file__).parents[2] / "web" / "lessons" / "en").glob("*.md"))
SLUGS = [path.stem[3:] for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=SLUGS)
def test_the_page_holds_every_widget_of_its_lesson_and_nothing_unread(site: Path, path: Path) -> None:
    page = (site / "lessons" / path.stem[3:] / "index.html").read_text(encoding="utf-8")
    wanted = Counter(re.findall(r"^```widget (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert Counter(re.findall(r'data-widget="(\w+)"', page)) == wanted
    text = re.sub(r"<script.*?</script>|<pre.*?</pre>|<annotation.*?</annotation>", "", page, flags=re.DOTALL)
    assert not re.findall(r"\{\{|\}\}|-&gt;|\$\$|\bTODO\b", text)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert [name for name, times in Counter(ids).items() if times > 1] == []


def test_the_lessons_are_walked_in_order_by_their_links(open_again: OpenPage) -> None:
    page = open_again(f"lessons/{SLUGS[0]}/")
    for slug in SLUGS[1:]:
        page.locator(f'main a[href$="../{slug}/"]').last.click()
        page.wait_for_url(f"**/lessons/{slug}/")


def test_the_three_habits_show_the_neurons_numbers(open_again: OpenPage) -> None:
    page = open_again("lessons/seed-the-root-walk-in-reverse/")
    widgets_ready(page)
    neuron = PRESETS["neuron"].build()
    neuron.root.backward()

    def shown(x: float) -> str:
        return f"{round(x, 4):g}".replace("-", "−")

    minis = page.locator("svg.mini")
    copied = [shown(neuron["sum"].grad), shown(neuron["x1w1"].grad), shown(neuron["x2w2"].grad)]
    assert minis.nth(0).locator(".gv").all_text_contents() == copied
    assert minis.nth(1).locator(".dv").all_text_contents() == [shown(neuron["x1"].data), shown(neuron["w1"].data)]
    scaled = [shown(neuron[name].grad) for name in ("x1w1", "x1", "w1")]
    assert minis.nth(1).locator(".gv").all_text_contents() == scaled
    assert minis.nth(2).locator(".gv").all_text_contents() == [shown(neuron["o"].grad), shown(neuron["n"].grad)]
    assert minis.nth(2).locator(".loc text").text_content() == f"× {shown(1 - neuron['o'].data ** 2)}"


def test_a_lesson_that_is_done_is_ticked_in_the_contents(open_again: OpenPage) -> None:
    page = open_again("lessons/used-twice/")
    widgets_ready(page)
    page.evaluate(
        "async () => { const {progress} = await course(); for (const id of ['sum', 'square', 'pair-a', "
        "'pair-b', 'when', 'why-plus']) progress.mark(`used-twice/${id}`) }"
    )
    expect(page.locator("[data-widget=progress] .all-done")).to_be_visible()
