"""A graph that folds into blocks, in a real browser: both ends, the way between, every number by mouse and by keys."""

from __future__ import annotations

from axe import serious_in_light_and_dark
from browsing import PHONE, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk.learn.page.folding import material

LESSON = "lessons/many-numbers-one-node/"
FOLDING = material()
OUTER = [cell for cell in FOLDING["cells"] if not cell["inside"]]


def widget(page: Page) -> Locator:
    widgets_ready(page)
    return page.locator("[data-widget=fold]")


def test_it_folds_and_unfolds_and_says_what_each_number_is_made_of(open_again: OpenPage) -> None:
    page = open_again(LESSON, reduced_motion="reduce")
    fold = widget(page)
    expect(fold.locator(".num")).to_have_count(len(FOLDING["cells"]))
    expect(fold.locator(".fold-lines path")).to_have_count(sum(len(cell["operands"]) for cell in FOLDING["cells"]))
    fold.locator("[data-act=fold]").click()
    expect(fold.locator(".num")).to_have_count(len(OUTER))
    expect(fold.locator(".fold-count")).to_have_text(f"{len(FOLDING['blocks'])} nodes, one for each block")
    expect(fold.locator(".frame")).to_have_count(len(FOLDING["blocks"]))
    expect(fold.locator(".fold-words .grad")).to_contain_text("= 22")
    fold.get_by_label("gradient", exact=True).check()
    expect(fold.locator(".num.near")).to_have_count(3)
    fold.get_by_role("button", name="b[0]: data −2, gradient 8").click()
    expect(fold.locator(".fold-words .grad")).to_have_text(
        "b[0].grad = Z[0, 0].grad + Z[1, 0].grad + Z[2, 0].grad = 4 + 6 − 2 = 8"
    )
    page.keyboard.press("ArrowRight")
    expect(fold.locator(":focus")).to_have_attribute("aria-label", "b[1]: data 2, gradient 4")
    assert serious_in_light_and_dark(page, "[data-widget=fold]") == []
    fold.get_by_role("slider").fill("50")
    expect(fold.locator("[data-folded]")).to_have_attribute("data-folded", "50")
    fold.locator("[data-act=fold]").click()
    expect(fold.locator("[data-folded]")).to_have_attribute("data-folded", "100")


def test_it_fits_a_phone_and_moves_where_motion_is_wanted(open_again: OpenPage) -> None:
    page = open_again(LESSON, **PHONE)
    fold = widget(page)
    fold.locator("[data-act=fold]").click()
    expect(fold.locator("[data-folded]")).to_have_attribute("data-folded", "100")
    expect(fold.locator(".num")).to_have_count(len(OUTER))  # a frame later the others have gone
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
    sides = "(e) => { const {left, right} = e.getBoundingClientRect(); return [left, right]; }"
    left, right = fold.evaluate(sides)
    for least, most in fold.locator(".num").evaluate_all(f"(all) => all.map({sides})"):
        assert left <= least <= most <= right
