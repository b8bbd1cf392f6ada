"""The visit-order playground in a real browser: every order of the diamond, moved by every means, and the search."""

from __future__ import annotations

import itertools

import pytest
from axe import serious, serious_in_light_and_dark
from browsing import PHONE, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk import walk
from gradwalk.presets import PRESETS

LESSON = "lessons/who-goes-first/"
STILL = {"reduced_motion": "reduce"}
DIAMOND = walk.record(PRESETS["diamond"].build().root)
TRY_ALL = """async (widget, orders) => {
    const rest = () => new Promise((done) => setTimeout(done, 0));
    const names = () => [...widget.querySelectorAll(".strip code")].map((code) => code.textContent);
    const chip = (edge) => widget.querySelector(`[data-chip="${edge}"]`).textContent;
    const found = [];
    for (const order of orders) {
        for (const [place, name] of order.entries()) {
            for (let at = names().indexOf(name); at > place; at = names().indexOf(name)) {
                widget.querySelectorAll(".strip li")[at].querySelector("[data-part=earlier]").click();
                await rest();
            }
        }
        widget.querySelector("[data-act=run]").click();
        await rest();
        found.push({
            order: names(),
            kind: widget.querySelector("[data-verdict]").dataset.verdict,
            title: widget.querySelector(".reply-h").textContent,
            sentences: [...widget.querySelectorAll("[data-sentence]")].map((sentence) => sentence.textContent),
            grad: widget.querySelector("[data-name=a] .slot.grad [data-value]")?.dataset.value ?? null,
            lost: [...widget.querySelectorAll("[data-look=lost]")].map((edge) => chip(edge.dataset.edge)),
            ledger: [...widget.querySelectorAll(".bar > span")].map((part) => [part.className, part.textContent]),
            log: [...widget.querySelectorAll(".log li")].map((line) => line.textContent),
        });
    }
    return found;
}"""


def playground(page: Page) -> Locator:
    widgets_ready(page)
    widget = page.locator("[data-widget=playground]")
    widget.locator("svg.graph").wait_for()
    return widget


def order(widget: Locator) -> list[str]:
    return widget.locator(".strip code").all_text_contents()


def too_small(widget: Locator) -> list[str]:
    """What a finger would miss."""
    found: list[str] = widget.evaluate(
        """(widget) => [...widget.querySelectorAll("button, select")]
            .filter((one) => one.getBoundingClientRect().height < 44)
            .map((one) => one.outerHTML)"""
    )
    return found


def plain(sentence: str) -> str:
    return sentence.replace("`", "")


def test_every_order_of_the_diamond_gets_pythons_verdict(open_again: OpenPage) -> None:
    widget = playground(open_again(LESSON, **STILL))
    tried = list(itertools.permutations("abcd"))
    kinds: dict[str, int] = {"right": 0, "lucky": 0, "wrong": 0}
    for names, found in zip(tried, widget.evaluate(TRY_ALL, [list(names) for names in tried]), strict=True):
        recording = walk.record(DIAMOND, names)
        verdict = recording.verdict
        kinds[found["kind"]] += 1
        assert found["order"] == list(names)
        assert found["kind"] == ("wrong" if not verdict.right else "right" if verdict.topological else "lucky")
        assert (None if found["grad"] is None else float(found["grad"])) == recording.grads[0]
        assert len(found["log"]) == 4
        if verdict.right:
            assert found["sentences"] == [plain(verdict.sentence)]
            assert found["title"].startswith("a.grad = 15.")
            assert found["lost"] == []
        else:
            assert found["sentences"] == [plain(loss.sentence) + "." for loss in verdict.lost]
            assert found["title"].endswith("Right is 15.")
            assert sorted(found["lost"]) == sorted(f"{walk.readable(loss.amount)} lost" for loss in verdict.lost)
            assert sum(state == "lost" for state, _ in found["ledger"]) == len(verdict.lost)
    assert kinds == {"right": 2, "lucky": 6, "wrong": 16}


def test_the_course_tells_of_c_d_b_a(open_again: OpenPage) -> None:
    page = open_again(LESSON, **STILL)
    widget = playground(page)
    assert order(widget) == ["c", "d", "b", "a"]  # as the lesson asks for
    expect(widget.get_by_text("Guess first.")).to_be_visible()
    widget.locator("[data-act=run]").click()
    expect(widget.locator(".verdict")).to_contain_text(
        "c was visited before d: it had nothing to pass on yet, so the 9 that goes through c never reached a; "
        "a.grad = 6, right is 15."
    )
    expect(widget.locator(".bar > span")).to_have_text(["6through b", "9lost at c"])
    through, lost = (
        part.evaluate("e => e.getBoundingClientRect().width") for part in widget.locator(".bar > span").all()
    )
    assert through / lost == pytest.approx(6 / 9, rel=0.01)
    expect(widget.locator(".log li")).to_have_text(
        [
            "c holds nothing yet. Pushes nothing.",
            "d holds 1. Pushes 1 × 6 = 6 to b and 1 × 3 = 3 to c. For c that is too late.",
            "b holds 6. Pushes 6 × 1 = 6 to a.",
            "a is a leaf. It has nothing to push.",
        ]
    )
    expect(widget.locator(".strip li").first).to_have_class("bad")
    expect(widget.locator("[data-chip]").filter(has_text="3, too late")).to_have_count(1)
    assert serious_in_light_and_dark(page, "[data-widget=playground]") == []


def test_an_order_that_is_right_by_luck_gets_a_word_about_it(open_again: OpenPage) -> None:
    widget = playground(open_again(LESSON, **STILL))
    (found,) = widget.evaluate(TRY_ALL, [["a", "d", "c", "b"]])
    assert found["title"] == "a.grad = 15. Right, but by luck."
    assert "a leaf pushes nothing itself" in found["sentences"][0]


def test_run_all_visits_one_after_the_other(open_again: OpenPage) -> None:
    widget = playground(open_again(LESSON, reduced_motion="no-preference"))
    widget.locator("[data-act=run]").click()
    expect(widget.locator("[data-visits]")).to_have_attribute("data-visits", "1")
    expect(widget.locator(".log li")).to_have_count(1)
    expect(widget.locator("[data-verdict]")).to_have_count(0)
    expect(widget.locator("[data-verdict=wrong]")).to_have_count(1)


def test_stepping_shows_one_visit_at_a_time(open_again: OpenPage) -> None:
    widget = playground(open_again(LESSON, **STILL))
    for visits, name in enumerate(["c", "d", "b"], start=1):
        widget.locator("[data-act=step]").click()
        expect(widget.locator("[data-visits]")).to_have_attribute("data-visits", str(visits))
        expect(widget.locator(".node.vis")).to_have_attribute("data-name", name)
        expect(widget.locator(".strip .turn code")).to_have_text(name)
    widget.locator("[data-act=step]").click()
    expect(widget.locator("[data-verdict=wrong]")).to_have_count(1)
    widget.get_by_role("button", name="Visit d earlier").click()  # another order is another run
    expect(widget.get_by_text("Guess first.")).to_be_visible()
    expect(widget.locator(".slot.grad [data-value]")).to_have_count(0)


# --- moving ----------------------------------------------------------------------------------------------------------


def test_buttons_move_a_node_and_focus_travels_with_it(open_again: OpenPage) -> None:
    page = open_again(LESSON, **STILL)
    widget = playground(page)
    later = widget.get_by_role("button", name="Visit c later")
    later.click()
    assert order(widget) == ["d", "c", "b", "a"]
    expect(later).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert order(widget) == ["d", "b", "a", "c"]
    expect(widget.locator("[data-id='4'] .handle")).to_be_focused()  # there is no later any more
    expect(widget.locator("[aria-live=polite]").first).to_have_text("c is visited as number 4 of 4.")


def test_the_arrow_keys_move_a_node_and_enter_runs(open_again: OpenPage) -> None:
    page = open_again(LESSON, **STILL)
    widget = playground(page)
    widget.get_by_role("button", name="2 d, of 4").focus()
    for key, wanted in [
        ("ArrowLeft", "dcba"),
        ("ArrowRight", "cdba"),
        ("End", "cbad"),
        ("ArrowUp", "cbda"),
        ("Home", "dcba"),
    ]:
        page.keyboard.press(key)
        assert "".join(order(widget)) == wanted
        expect(widget.locator("[data-id='5'] .handle")).to_be_focused()
    page.keyboard.press("Enter")
    expect(widget.locator("[data-verdict=right]")).to_have_count(1)


def test_a_node_can_be_dragged(open_again: OpenPage) -> None:
    page = open_again(LESSON, **STILL)
    widget = playground(page)
    widget.scroll_into_view_if_needed()
    boxes = [item.bounding_box() for item in widget.locator(".strip .handle").all()]
    first, last = boxes[0], boxes[3]
    assert first
    assert last
    page.mouse.move(first["x"] + 20, first["y"] + 20)
    page.mouse.down()
    for part in range(1, 11):
        page.mouse.move(first["x"] + 20 + (last["x"] + 60 - first["x"]) * part / 10, first["y"] + 22)
    page.mouse.up()
    assert order(widget) == ["d", "b", "a", "c"]
    page.mouse.move(first["x"], first["y"])
    assert order(widget) == ["d", "b", "a", "c"]  # dropped is dropped


def test_shuffle_always_gives_another_order(open_again: OpenPage) -> None:
    widget = playground(open_again(LESSON, **STILL))
    for _ in range(8):
        before = order(widget)
        widget.get_by_role("button", name="Shuffle").click()
        assert order(widget) != before
        assert sorted(order(widget)) == ["a", "b", "c", "d"]


# --- the search ------------------------------------------------------------------------------------------------------


def test_the_search_finds_an_order_step_by_step(open_again: OpenPage) -> None:
    page = open_again(LESSON, **STILL)
    widget = playground(page)
    widget.get_by_role("button", name="Show the search that finds an order").click()
    steps = [step for step in walk.search_steps(DIAMOND.graph) if not DIAMOND.graph.nodes[step.node].constant]
    written: list[str] = []
    for step in steps:
        widget.locator("[data-act=search-next]").click()
        name = DIAMOND.graph.nodes[step.node].name
        if step.kind == "leave":
            written.append(name)
        expect(widget.locator(".node.vis")).to_have_attribute("data-name", name)
        expect(widget.locator("[data-written]")).to_have_text("".join(written) or "nothing yet")
        if step.kind != "leave":
            expect(widget.locator(".told")).to_have_text(plain(step.sentence))
    assert written == ["a", "b", "c", "d"]
    assert serious(page, "[data-widget=playground]") == []
    widget.locator("[data-act=search-back]").click()
    expect(widget.locator("[data-written]")).to_have_text("abc")
    widget.locator("[data-act=search-end]").click()
    widget.get_by_role("button", name="Use this order").click()
    assert order(widget) == ["d", "c", "b", "a"]
    widget.locator("[data-act=run]").click()
    expect(widget.locator("[data-verdict=right]")).to_have_count(1)


# --- other graphs, phone ---------------------------------------------------------------------------------------------


def test_other_graphs_can_be_tried(open_again: OpenPage) -> None:
    widget = playground(open_again(LESSON, **STILL))
    for name in ("shared-pair", "neuron", "a-times-a"):
        widget.get_by_role("combobox", name="Graph").select_option(name)
        recording = walk.record(PRESETS[name].build().root)
        names = [node.name for node in recording.graph.nodes if not node.constant]
        assert order(widget) == names  # as they were computed: leaves first
        widget.locator("[data-act=run]").click()
        wrong = walk.record(recording, [node.id for node in recording.graph.nodes if not node.constant])
        expect(widget.locator("[data-verdict]")).to_have_attribute(
            "data-verdict", "lucky" if wrong.verdict.right else "wrong"
        )
        shown = widget.locator("[data-sentence]").all_text_contents()
        assert shown[0].rstrip(".") == plain(
            wrong.verdict.lost[0].sentence if wrong.verdict.lost else wrong.verdict.sentence
        ).rstrip(".")


def test_on_a_phone_everything_fits_and_answers_to_touch(open_again: OpenPage) -> None:
    page = open_again(LESSON, **PHONE, **STILL)
    widget = playground(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    widget.get_by_role("button", name="Visit d earlier").tap()
    assert order(widget) == ["d", "c", "b", "a"]
    widget.locator("[data-act=run]").tap()
    expect(widget.locator("[data-verdict=right]")).to_have_count(1)
    assert too_small(widget) == []
