"""Every question of the course in a real browser: the right answer, every wrong one that has a reason, and nonsense."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe import serious_in_light_and_dark
from browsing import PHONE, OpenPage, widgets_ready
from playwright.sync_api import Locator, Page, expect

LESSON = "lessons/seed-the-root-walk-in-reverse/"
NUMBER = "w1"  # a question of that lesson, with a number for an answer
CHOICE = "apart"
GUESS = "zero"


SLUGS = [path.stem[3:] for path in sorted((Path(__file__).parents[2] / "web" / "lessons" / "en").glob("*.md"))]


def questions(page: str) -> list[dict[str, Any]]:
    """What the build wrote into a page for each of its questions."""
    found = re.findall(r'data-widget="quiz"><script type="application/json">(.*?)</script>', page, re.DOTALL)
    return [json.loads(props) for props in found]


def words(markup: str) -> str:
    """The words of a piece of HTML, spaces evened out, formulas without their source."""
    plain = re.sub(r"<annotation.*?</annotation>", "", markup, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", plain)).split())


def quiz(page: Page, name: str) -> Locator:
    return page.locator(f'[data-widget="quiz"][id="{name}"]')


def say(widget: Locator, text: str) -> None:
    widget.get_by_role("textbox").fill(text)
    widget.get_by_role("button", name="Check").click()


def heard(widget: Locator) -> str:
    """What the reply says, formulas without their source."""
    text: str = widget.get_by_role("status").first.evaluate(
        "(e) => { const copy = e.cloneNode(true); copy.querySelectorAll('annotation').forEach((a) => "
        "a.remove()); return copy.textContent }"
    )
    return " ".join(text.split())


#: Gives, in the page, the reply to each of some answers to one question, one after the other.
REPLIES = """async ([name, answers]) => {
    const widget = document.querySelector(`[data-widget="quiz"][id="${name}"]`);
    const rest = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const replies = [];
    for (const answer of answers) {
        if (typeof answer === "number") {
            widget.querySelectorAll("input[type=radio]")[answer].click();
        } else {
            const field = widget.querySelector(".answer input");
            field.value = answer;
            field.dispatchEvent(new InputEvent("input", {bubbles: true}));
        }
        await rest();
        widget.querySelector("form").requestSubmit();
        await rest();
        const copy = widget.querySelector("[role=status]").cloneNode(true);
        copy.querySelectorAll("annotation").forEach((each) => each.remove());
        replies.push(copy.textContent);
    }
    return replies;
}"""


@pytest.mark.parametrize("slug", SLUGS)
def test_every_answer_gets_its_own_reason(open_again: OpenPage, site: Path, slug: str) -> None:
    page = open_again(f"lessons/{slug}/")
    widgets_ready(page)
    asked = questions((site / "lessons" / slug / "index.html").read_text(encoding="utf-8"))
    assert len(asked) >= 3
    for props in asked:
        if props["mode"] == "judge":
            wanted = numbers(props) if "answer" in props else options(props)
            given = [answer for answer, _, _ in wanted]
            told = page.evaluate(REPLIES, [props["id"].split("/")[1], given])
            for (answer, begins, why), reply in zip(wanted, told, strict=True):
                assert begins in reply, f"{props['id']}, {answer}: {reply}"
                assert same_words(why, reply), f"{props['id']}, {answer}: {reply}"
    done = page.evaluate("async () => (await course()).progress.done.value")
    assert {props["id"] for props in asked if props["mode"] == "judge"} <= set(done)


def numbers(props: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Answers to a question with a number, the right one last: (answer, what the reply begins with, its reason)."""
    wrong = [(known["value"], "is not it.", known["why"]) for known in props.get("wrong", [])]
    other = [("123456.789", "is not it.", props["other"])] if "other" in props else []
    return [*wrong, *other, (props["answer"], "is right.", props["right"])]


def options(props: dict[str, Any]) -> list[tuple[int, str, str]]:
    """The same for a choice; an answer is the number of an option."""
    found = [
        (index, "That is right." if option.get("right") else "Not this one.", option["why"])
        for index, option in enumerate(props["options"])
    ]
    return sorted(found, key=lambda each: each[1] == "That is right.")


def same_words(markup: str, reply: str) -> bool:
    """Whether a reply holds a text; formulas are compared without their spaces."""
    return re.sub(r"\s", "", words(markup)) in re.sub(r"\s", "", reply)


# --- reading numbers -----------------------------------------------------------------------------------------------


RIGHT = ["1", "1.0", " 1 ", "+1", "2/2", "1,0", "-3/-3", "w1.grad = 1", "１", "1e0", "4 / 4"]
NEGATIVE = ["-3/2", "−3/2", "−1.5", "–1.5", "-1.5", "-1,5", "- 3 / 2", "-6/4"]
NONSENSE = {
    "": "Nothing there yet.",
    "   ": "Nothing there yet.",
    "hello": "“hello” is not a number I can read.",
    "1/0": "A fraction over zero has no value.",
    "1/2/3": "not a number I can read",
    "--1": "not a number I can read",
    "1..2": "not a number I can read",
    "NaN": "not a number I can read",
    "Infinity": "not a number I can read",
    "1/": "not a number I can read",
    "/2": "not a number I can read",
    "<b>1</b>": "not a number I can read",
    "1e999": "not a number I can read",
    "one": "not a number I can read",
    "1 2 x": "not a number I can read",
    "x" * 60: "…” is not a number",
}


def replies(page: Page, name: str, answers: list[str]) -> list[str]:
    """The reply to each of some answers to one question, spaces evened out."""
    found: list[str] = page.evaluate(REPLIES, [name, answers])
    return [" ".join(reply.split()) for reply in found]


def test_ways_to_write_a_number(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    for name, ways, right in ((NUMBER, RIGHT, "1 is right."), ("x1", NEGATIVE, "−1.5 is right.")):
        told = replies(page, name, [each for text in ways for each in ("7", text)])
        assert all(reply.startswith("7 is not it.") for reply in told[::2])
        assert [text for text, reply in zip(ways, told[1::2], strict=True) if not reply.startswith(right)] == []


def test_nonsense_is_told_kindly_and_counts_as_no_try(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = quiz(page, NUMBER)
    for (text, says), reply in zip(NONSENSE.items(), replies(page, NUMBER, [*NONSENSE]), strict=True):
        assert says in reply, text
        assert "Write" in reply, text
    expect(widget.get_by_role("button", name="Show me the answer")).to_have_count(0)
    assert page.locator(".reply b").count() == 0


def test_how_a_number_is_read_is_shown(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = quiz(page, NUMBER)
    for text, shown in [("-3/2", "= −1.5"), ("2/3", "= 0.666667"), ("33,554,432", "= 33554432"), ("1,5", "= 1.5")]:
        widget.get_by_role("textbox").fill(text)
        assert widget.locator(".readas").text_content() == shown
    widget.get_by_role("textbox").fill("−1.5")
    expect(widget.locator(".readas")).to_have_count(0)


# --- manners -------------------------------------------------------------------------------------------------------


def test_the_answer_is_not_given_away_at_once(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = quiz(page, "tanh")
    show = widget.get_by_role("button", name="Show me the answer")
    for wrong in ["0.7071", "0.2929", "0.2929"]:  # the same again is no new try
        say(widget, wrong)
        expect(show).to_have_count(0)
    say(widget, "7")
    show.click()
    assert "It is 0.5." in widget.inner_text()
    assert not page.evaluate("async () => (await course()).progress.isDone('seed-the-root-walk-in-reverse/tanh')")
    say(widget, "0.5")
    expect(widget.locator(".reply.ok")).to_be_visible()


def test_a_wrong_sign_is_told_where_the_lesson_has_no_words_for_it(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    say(quiz(page, "sum-a"), "-10")
    assert "The size is right. Which way does it point?" in heard(quiz(page, "sum-a"))


def test_a_number_is_answered_with_keys_alone(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = quiz(page, NUMBER)
    field = widget.get_by_role("textbox", name="Your answer")
    field.focus()
    page.keyboard.type("-1.5")
    page.keyboard.press("Enter")
    expect(widget.locator(".reply.miss")).to_be_visible()
    assert field.get_attribute("aria-invalid") == "true"
    assert widget.locator(f"#{field.get_attribute('aria-describedby').split()[-1]}").get_attribute("role") == "status"  # type: ignore[union-attr]
    expect(field).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    assert field.get_attribute("aria-invalid") == "false"
    page.keyboard.press("Enter")
    expect(widget.locator(".reply.ok")).to_be_visible()


def test_a_choice_is_made_with_keys_alone_and_judged_only_when_asked(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = quiz(page, CHOICE)
    widget.get_by_role("button", name="Check").click()
    assert heard(widget).startswith("Nothing chosen yet.")
    widget.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(widget.get_by_role("radio").nth(1)).to_be_checked()
    assert heard(widget).startswith("Nothing chosen yet.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert heard(widget).startswith("Not this one.")
    assert widget.get_by_role("radiogroup").get_attribute("aria-labelledby")


def test_a_guess_is_kept_and_not_judged(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    widget = quiz(page, GUESS)
    widget.get_by_role("radio", name="x2").check()
    widget.get_by_role("button").click()
    assert heard(widget) == "You said x2. Step through the walk and see."
    expect(widget.locator(".reply")).to_have_count(0)
    page.reload()
    widgets_ready(page)
    assert heard(quiz(page, GUESS)).startswith("You said x2.")


def test_answers_survive_a_reload(open_again: OpenPage) -> None:
    page = open_again(LESSON)
    widgets_ready(page)
    say(quiz(page, NUMBER), "1")
    say(quiz(page, "x1"), "9")
    page.reload()
    widgets_ready(page)
    assert heard(quiz(page, NUMBER)).startswith("1 is right.")
    assert heard(quiz(page, "x1")).startswith("9 is not it.")
    assert quiz(page, "x1").get_by_role("textbox").input_value() == "9"


def test_quizzes_fit_a_phone_and_a_thumb(open_again: OpenPage) -> None:
    page = open_again(LESSON, **PHONE)
    widgets_ready(page)
    widget = quiz(page, CHOICE)
    widget.get_by_text("They come out the same.").tap()
    widget.get_by_role("button", name="Check").tap()
    assert heard(widget).startswith("That is right.")
    say(quiz(page, "tanh"), "0.2232")
    assert "so common that it has a place" in heard(quiz(page, "tanh"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for label in widget.locator("label").all():
        assert label.bounding_box()["height"] >= 44  # type: ignore[index]


def test_replies_are_accessible(open_again: OpenPage) -> None:
    page = open_again(LESSON, reduced_motion="reduce")
    widgets_ready(page)
    say(quiz(page, NUMBER), "-1.5")
    say(quiz(page, "x1"), "-1.5")
    quiz(page, CHOICE).get_by_role("radio").nth(1).check()
    quiz(page, CHOICE).get_by_role("button", name="Check").click()
    quiz(page, GUESS).get_by_role("radio", name="w2").check()
    assert serious_in_light_and_dark(page, ".quiz") == []
