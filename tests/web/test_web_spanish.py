"""The course in Spanish: its whole life in a real browser, no English word left; and from one language to the other."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from axe import serious
from browsing import OpenPage, site_pages, wait_until, widgets_ready
from learn.in_node import in_node
from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "web/lessons/es").glob("*.md"))
ORIGINALS = sorted((ROOT / "web/lessons/en").glob("*.md"))
SLUGS = [path.stem[3:] for path in FILES]
LESSONS = [f"es/lessons/{slug}/" for slug in SLUGS]
SPANISH: dict[str, Any] = {"locale": "es-ES", "reduced_motion": "reduce"}


#: Words of English that no sentence does without, and Spanish has not.
ENGLISH = re.compile(
    r"\b(the|and|of|is|are|was|it|its|that|this|with|yet|from|which|what|you|your|not|have|will|step|reset|check)\b",
    re.IGNORECASE,
)
#: Everything a reader or a screen reader gets of a page, but code, formulas, and what says it is in another language.
READ = """() => {
    const skipped = "script, code, pre, math, .cm-editor, .program, .v, option, [lang]:not([lang=es])";
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (!walk.currentNode.parentElement.closest(skipped)) found.push(walk.currentNode.data);
    for (const element of document.body.querySelectorAll("[aria-label], [title], [placeholder], [alt], option")) {
        if (element.closest("[lang]:not([lang=es])")) continue;
        for (const name of ["aria-label", "title", "placeholder", "alt"]) found.push(element.getAttribute(name) ?? "");
        if (element.tagName === "OPTION") found.push(element.textContent);
    }
    return found.map((text) => text.trim()).filter(Boolean);
}"""


@cache
def english_words() -> dict[str, str]:
    """Every plain text of the English interface that Spanish says otherwise, with where it stands."""
    names = sorted(path.stem for path in (ROOT / "web/src/strings/en").glob("*.ts"))
    imports = "".join(
        f'import * as {lang}_{name.replace("-", "_")} from "./strings/{lang}/{name}.ts";\n'
        for name in names
        for lang in ("en", "es")
    )
    pairs = ", ".join(f'["{name}", en_{name.replace("-", "_")}, es_{name.replace("-", "_")}]' for name in names)
    code = f"""{imports}
    const texts = (en: any, es: any, where: string): [string, string][] =>
        typeof en === "string" ? (en === es ? [] : [[en, where]])
        : Array.isArray(en) ? texts(said(en), said(es ?? []), where)
        : en && typeof en === "object"
            ? Object.keys(en).flatMap((key) => texts(en[key], es?.[key], `${{where}}.${{key}}`)) : [];
    const said = (parts: any[]): string => parts.map((part) => part.text ?? part).join("");
    export default () => [{pairs}].flatMap(([name, en, es]: any) => texts(en, es, name));"""
    return dict(in_node(code, None))


def left_over(texts: list[str]) -> list[str]:
    """What of these is English: a text of the English interface, or a sentence with an English word in it."""
    known = english_words()
    return [text for text in texts if text in known or ENGLISH.search(text)]


def read(page: Page) -> list[str]:
    found: list[str] = page.evaluate(READ)
    return found


# --- the checker itself ----------------------------------------------------------------------------------------------


def test_english_is_noticed() -> None:
    assert "Start backward" in english_words()
    assert (
        "The leaves have their data. Nothing else is computed yet. Press Step to fill in the first node."
        in english_words()
    )
    assert "grad" not in english_words()
    texts = ["Paso 3 de 9", "Start backward", "`c` was visited before `d`", "La suma copia.", "Import"]
    assert left_over(texts) == ["Start backward", "`c` was visited before `d`", "Import"]


def test_english_pages_are_full_of_it(open_page: OpenPage) -> None:
    page = open_page("lessons/used-twice/")
    widgets_ready(page)
    page.evaluate("document.documentElement.lang = 'es'")  # it claims to be Spanish
    assert len(left_over(read(page))) > 50


# --- the whole life of a lesson --------------------------------------------------------------------------------------

#: Walks every stepper to its end and back, runs every playground and its search; gives all that was said on the way.
LIVE = """async () => {
    const rest = () => new Promise((done) => setTimeout(done, 0));
    const heard = new Set();
    const listen = () => { for (const text of READ()) heard.add(text); };
    const READ = READING;
    const press = async (button) => { button.click(); await rest(); await rest(); listen(); };
    for (const widget of document.querySelectorAll("[data-widget=stepper]")) {
        const step = () => widget.querySelector("[data-act=step]");
        while (step().getAttribute("aria-disabled") !== "true") await press(step());
    }
    for (const widget of document.querySelectorAll("[data-widget=playground]")) {
        const act = (name) => widget.querySelector(`[data-act=${name}]`);
        for (let k = 0; k < 8; k++) await press(act("step"));
        await press(act("search"));
        const more = () => act("next") && act("next").getAttribute("aria-disabled") !== "true" && !act("next").disabled;
        while (more()) await press(act("next"));
        await press(act("search"));
        for (let k = 0; k < 6; k++) {
            await press(act("shuffle"));
            for (let j = 0; j < 4; j++) await press(act("step"));
        }
    }
    listen();
    return [...heard];
}""".replace("READING", READ)

#: Answers every question, each wrong answer first, and with nonsense; gives the replies.
ANSWER = """async (asked) => {
    const rest = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const replies = [];
    for (const {id, answers} of asked) {
        const widget = document.querySelector(`[data-widget="quiz"][id="${id}"]`);
        for (const answer of answers) {
            if (typeof answer === "number") widget.querySelectorAll("input[type=radio]")[answer].click();
            else {
                const field = widget.querySelector(".answer input");
                field.value = answer;
                field.dispatchEvent(new InputEvent("input", {bubbles: true}));
            }
            await rest();
            widget.querySelector("form").requestSubmit();
            await rest();
            const copy = widget.querySelector("[role=status]").cloneNode(true);
            copy.querySelectorAll("annotation, code").forEach((each) => each.remove());
            replies.push(copy.textContent);
        }
    }
    return replies;
}"""


def questions(site: Path, lesson: str) -> list[dict[str, Any]]:
    page = (site / lesson / "index.html").read_text(encoding="utf-8")
    found = re.findall(r'data-widget="quiz"><script type="application/json">(.*?)</script>', page, re.DOTALL)
    asked = []
    for props in map(json.loads, found):
        answers: list[Any] = list(range(len(props.get("options", []))))
        if "answer" in props:
            wrong = [known["value"] for known in props.get("wrong", [])]
            answers = ["", "dos", "1/0", *wrong, "123456.789", props["answer"]]
        else:
            answers.sort(key=lambda place: bool(props["options"][place].get("right")))
        asked.append({"id": props["id"].split("/")[1], "task": props["id"], "answers": answers})
    return asked


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_lives_in_spanish_alone(open_again: OpenPage, site: Path, lesson: str) -> None:
    page = open_again(lesson, **SPANISH)
    widgets_ready(page)
    assert page.locator("html").get_attribute("lang") == "es"
    assert left_over(read(page)) == []
    assert left_over(page.evaluate(LIVE)) == []
    asked = questions(site, lesson)
    replies = page.evaluate(ANSWER, asked)
    assert len(replies) > 3 * len(asked)
    assert left_over(replies) == []
    assert left_over(read(page)) == []  # marks of progress, and what is announced
    done = page.evaluate("async () => Object.keys((await course()).progress.done.value)")
    assert set(done) >= {each["task"] for each in asked if each["id"] != "zero"}
    original = ORIGINALS[LESSONS.index(lesson)].stem[3:]
    assert all(task.startswith(f"{original}/") for task in done)  # the same names whatever the language


@pytest.mark.parametrize("path", ["es/", "es/help/", "es/playground/", "es/lessons/nada/"])
def test_the_pages_around_the_lessons_are_in_spanish(open_page: OpenPage, path: str) -> None:
    page = open_page(path, expected=("404",), **SPANISH)
    widgets_ready(page)
    assert left_over(read(page)) == []
    assert page.locator("html").get_attribute("lang") == "es"


def test_every_spanish_lesson_that_was_promised_is_there(site: Path) -> None:
    assert [path.name[:2] for path in FILES][:6] == ["01", "02", "03", "04", "05", "06"]
    assert set(LESSONS) <= set(site_pages(site))


def test_own_programs_and_their_errors_are_told_in_spanish(open_page: OpenPage) -> None:
    page = open_page("es/playground/", **SPANISH)
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]")
    widget.get_by_role("tab", name="Tu propia expresión").click()
    for text, said in [
        ("d = a ^ 2", "Línea 1: ^ no forma parte de un programa: escribe ** para una potencia, como en a**2"),
        ("a = Value(2.0)\nn = 0\nwhile True:\n    n += 1\n", "¿hay un bucle que no termina nunca?"),
        (
            "a = Value(2.0)\nfor i in range(3):\n    b = a * zebra\n",
            "name 'zebra' is not defined",
        ),  # Python's own words
        ("a = Value(2.0)\nfor i in range(2):\n    b = a * a\n[1, 2]\n", "termina con el nombre del nodo"),
    ]:
        write(page, widget, text)
        widget.get_by_role("button", name="Dibujarlo").click()
        expect(widget.locator(".reply.miss, .own-note, .reply").filter(has_text=said).first).to_be_visible()
    write(page, widget, "L = tanh(a*b + c)")
    page.keyboard.press("Control+Enter")
    expect(widget.get_by_text("a, b, c no tenían número: empiezan en 1.")).to_be_visible()
    widget.get_by_text("Cambia las hojas").click()
    widget.locator("[data-leaf=b]").fill("menos dos")
    expect(widget.locator("[data-leaf=b]")).to_have_attribute("title", re.compile("^b necesita un número con punto"))
    assert left_over(page.evaluate(LIVE)) == []
    assert serious(page, "body") == []


def write(page: Page, widget: Locator, text: str) -> None:
    widget.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


# --- from one language to the other ----------------------------------------------------------------------------------


def test_the_switch_keeps_the_lesson_the_section_and_the_progress(open_page: OpenPage) -> None:
    page = open_page("lessons/used-twice/")
    widgets_ready(page)
    quiz = page.locator('[data-widget="quiz"][id="square"]')
    quiz.get_by_role("textbox").fill("6")
    quiz.get_by_role("button", name="Check").click()
    page.locator("#both-at-once").evaluate("(heading) => heading.scrollIntoView({behavior: 'instant'})")
    link = page.get_by_role("navigation", name="Language").get_by_role("link", name="Español")
    link.evaluate("(link) => link.click()")  # Playwright's own click would scroll first
    page.wait_for_url("**/es/lessons/usado-dos-veces/#las-dos-cosas-a-la-vez")
    widgets_ready(page)
    expect(page.locator('li[data-lesson="used-twice"] > a .vh')).to_have_text(re.compile("1 de 6 hechos"))
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    quiz = page.locator('[data-widget="quiz"][id="square"]')
    expect(quiz.get_by_role("textbox")).to_have_value("6")  # work of the other language
    quiz = page.locator('[data-widget="quiz"][id="sum"]')
    quiz.get_by_role("textbox").fill("2")
    quiz.get_by_role("button", name="Comprobar").click()
    page.get_by_role("navigation", name="Idioma").get_by_role("link", name="English").focus()
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    page.keyboard.press("Enter")
    page.wait_for_url("**/lessons/used-twice/")
    expect(page.locator('li[data-lesson="used-twice"] > a .vh')).to_have_text(re.compile("2 of 6 done"))


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("", "es/"),
        ("help/", "es/help/"),
        ("playground/", "es/playground/"),
        ("lessons/write-the-engine/", "es/#lessons"),
    ],
)
def test_each_page_leads_to_its_counterpart(open_page: OpenPage, address: str, here: str, there: str) -> None:
    page = open_page(here)
    page.get_by_role("link", name="Español", exact=True).click()
    page.wait_for_url(address + there)
    assert page.locator("html").get_attribute("lang") == "es"
    if "#" not in there:
        page.get_by_role("link", name="English", exact=True).click()
        page.wait_for_url(address + here)


def test_a_lesson_without_a_translation_is_listed_and_marked(open_page: OpenPage) -> None:
    page = open_page("es/", **SPANISH)
    listed = page.locator(".lesson-list li")
    assert listed.count() == len(ORIGINALS)
    for place in range(len(ORIGINALS)):
        marked = listed.nth(place).locator(".foreign").all_inner_texts()
        assert marked == ([] if place < len(FILES) else ["en inglés"])
    first = ORIGINALS[len(FILES)].stem[3:]
    link = listed.nth(len(FILES)).get_by_role("link")
    assert link.get_attribute("hreflang") == "en"
    link.click()
    page.wait_for_url(f"**/lessons/{first}/")
    assert page.locator("html").get_attribute("lang") == "en"
    page.goto(page.url.split("lessons/")[0] + LESSONS[-1])
    expect(page.locator(".pager .next")).to_contain_text("Lección 7, en inglés")
    page.locator(".pager .next").click()
    page.wait_for_url(f"**/lessons/{first}/")


def test_going_on_from_the_start_page_knows_every_lesson(open_page: OpenPage) -> None:
    page = open_page("es/", **SPANISH)
    expect(page.locator("[data-begin]")).to_have_attribute("href", f"../{LESSONS[0]}")
    page.evaluate("async () => (await course()).progress.mark('a-slope-you-can-measure/flat')")
    expect(page.locator("[data-begin]")).to_have_text("Seguir con la lección 1")
    page.evaluate(
        "async () => { const {course: lessons, progress} = await course(); for (const lesson of lessons.slice(0, 6)) "
        "for (const {id} of lesson.tasks) progress.mark(id) }"
    )
    expect(page.locator("[data-begin]")).to_have_text("Seguir con la lección 7")
    page.locator("[data-begin]").click()
    page.wait_for_url("**/lessons/write-the-engine/")


def test_the_head_names_the_same_page_in_the_other_language(site: Path) -> None:
    for original, translated in zip(ORIGINALS, FILES, strict=False):
        pages = {"en": f"lessons/{original.stem[3:]}/", "es": f"es/lessons/{translated.stem[3:]}/"}
        for path in pages.values():
            text = (site / path / "index.html").read_text(encoding="utf-8")
            found = dict(re.findall(r'<link rel="alternate" hreflang="(\w+)" href="([^"]+)">', text))
            assert {code: (site / path / href).resolve() for code, href in found.items()} == {
                code: (site / each).resolve() for code, each in pages.items()
            }
    assert 'rel="alternate"' not in (site / "lessons/write-the-engine/index.html").read_text(encoding="utf-8")


# --- the browser's own language --------------------------------------------------------------------------------------


def test_a_first_visit_is_offered_the_browsers_language_and_never_sent_there(open_page: OpenPage, address: str) -> None:
    page = open_page("lessons/used-twice/", **SPANISH)
    offer = page.locator(".offer")
    expect(offer.get_by_role("link", name="Este curso se puede leer en español.")).to_be_visible()
    assert page.url == f"{address}lessons/used-twice/"
    assert serious(page, "body") == []
    offer.get_by_role("button", name="Cerrar este aviso").click()
    expect(offer).to_have_count(0)
    page.reload()
    widgets_ready(page)
    expect(offer).to_have_count(0)


def test_who_takes_the_offer_is_not_asked_again(open_page: OpenPage) -> None:
    page = open_page("lessons/used-twice/", **SPANISH)
    page.locator(".offer a").click()
    page.wait_for_url("**/es/lessons/usado-dos-veces/")
    widgets_ready(page)
    expect(page.locator(".offer")).to_have_count(0)
    page.get_by_role("link", name="English", exact=True).click()
    page.wait_for_url("**/lessons/used-twice/*")
    widgets_ready(page)
    expect(page.locator(".offer")).to_have_count(0)


@pytest.mark.parametrize(("path", "locale"), [("", "en-GB"), ("", "de-DE"), ("es/", "es-MX"), ("es/", "fr-FR")])
def test_nothing_is_offered_where_there_is_nothing_better(open_page: OpenPage, path: str, locale: str) -> None:
    page = open_page(path, locale=locale)
    widgets_ready(page)
    expect(page.locator(".offer")).to_have_count(0)


# --- by keyboard -----------------------------------------------------------------------------------------


def test_the_switch_is_reached_and_used_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("es/lessons/usado-dos-veces/", **SPANISH)
    widgets_ready(page)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.language") == "en":
            break
    assert page.evaluate("document.activeElement.textContent").startswith("English")
    page.keyboard.press("Enter")
    page.wait_for_url("**/lessons/used-twice/")


def test_the_playgrounds_verdict_is_told_in_spanish(open_page: OpenPage) -> None:
    page = open_page("es/lessons/quien-va-primero/", **SPANISH)
    widgets_ready(page)
    widget = page.locator("[data-widget=playground]")
    for _ in range(4):
        widget.locator("[data-act=step]").click()
    verdict = widget.locator("[data-verdict]")
    expect(verdict).to_contain_text("a.grad = 6. Lo correcto es 15.")
    expect(verdict).to_contain_text(
        "c se visitó antes que d: todavía no tenía nada que pasar, así que el 9 que va por c no llegó nunca a a; "
        "a.grad = 6, lo correcto es 15"
    )


def test_a_stepper_is_walked_by_keys_and_spoken_in_spanish(open_page: OpenPage) -> None:
    page = open_page("es/lessons/usado-dos-veces/", **SPANISH)
    widgets_ready(page)
    widget = page.locator("[data-widget=stepper]").first
    widget.locator(".walk").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    wait_until(page, "document.querySelector('[data-spoken]').textContent.includes('los dos se suman')")
    spoken = widget.locator("[data-spoken]").text_content() or ""
    assert spoken.startswith("Paso 5 de 5. Hacia atrás, visita a b, envío 2 de 2.")
    assert spoken.endswith("1 por 1 es 1. grad de a era 1, ahora es 2.")
