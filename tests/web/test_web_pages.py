"""Every page of the course: drawn by the build, quiet, accessible, light, and no wider than a phone."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe import serious, serious_in_the_dark
from browsing import CUT, PHONE, TOO_WIDE, OpenPage, settled, site_pages, widgets_ready
from playwright.sync_api import Page, expect

ROOT = Path(__file__).resolve().parents[2]
FIRST = "lessons/a-slope-you-can-measure/"
BUDGET = 300 * 1024  # bytes of script, as they travel, before Python
STILL = 0.01  # so much of a layout shift nobody sees

PAINT = """() => new Promise((done) => new PerformanceObserver(
    (list) => done(Math.round(list.getEntries().at(-1).startTime))).observe({type: "paint", buffered: true}))"""
SHIFT = """() => new Promise((done) => {
    let total = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) total += entry.value;
    }).observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(total), 200);
})"""

#: What each widget is before it comes to life and after it, less pictures, which wait for a width, and editors; and
#: what was put in between the two, for what comes to life takes over what is there. Until all of the page has been
#: read it is not seen: where a slow browser paints half a row of buttons, the other half moves the first.
#: While the page is `deaf`, nobody hears that an element has another width: what a script would draw anew stays.
TAKEN_OVER = """window.deaf = false;
window.ResizeObserver = class extends ResizeObserver {
    constructor(then) { super((...found) => deaf || then(...found)); }
};
window.changed = [];
window.first = new Map();
const kept = (widget) => {
    const copy = widget.cloneNode(true);
    for (const part of copy.querySelectorAll("script, .drawing > *, .editor > *")) part.remove();
    return copy.innerHTML;
};
const unread = new CSSStyleSheet();
unread.replaceSync("html { visibility: hidden }");
document.adoptedStyleSheets = [unread];
document.addEventListener("readystatechange", () => {
    if (document.readyState !== "interactive") return;
    document.adoptedStyleSheets = [];
    for (const widget of document.querySelectorAll("[data-widget]")) {
        const before = kept(widget), made = [];
        first.set(widget, widget.innerHTML);
        const watch = new MutationObserver((changes) => {
            for (const {target, addedNodes} of changes) for (const node of addedNodes) {
                if (node.nodeType === 1 && !target.closest(".drawing, .editor")) made.push(node.outerHTML.slice(0, 80));
            }
            if (!("ready" in widget.dataset)) return;
            watch.disconnect();
            const after = kept(widget);
            const at = [...before].findIndex((letter, i) => letter !== after[i]);
            if (made.length || before !== after) changed.push([widget.id, made, before.slice(at - 60, at + 40), after.slice(at - 60, at + 40)]);
        });
        watch.observe(widget, {subtree: true, childList: true, attributes: true});
    }
})"""  # noqa: E501

#: Widgets that are not as high as they were when the build had drawn them: both stand on the page, one below the other.
HEIGHTS = """async () => {
    const twins = [...first].map(([widget, html]) => {
        const twin = widget.cloneNode(false);
        twin.innerHTML = html;
        widget.after(twin);
        return [widget, twin];
    });
    const found = [];
    for (const [widget, twin] of twins) {
        const differ = () => twin.offsetHeight !== widget.offsetHeight;
        if (differ() && widget.querySelector(".cm-editor")) widget.scrollIntoView(); // it guesses far lines
        // a graph is drawn anew for another width when the browser comes to say so
        for (let i = 0; i < 100 && differ(); i++) await new Promise((then) => setTimeout(then, 20));
        if (differ()) found.push(`${widget.id}: ${twin.offsetHeight} at first, ${widget.offsetHeight} now`);
    }
    for (const [, twin] of twins) twin.remove();
    return found;
}"""


LANGUAGES = {"en": "", "es": "es/"}  # and where each has its pages


def pages_of(language: str) -> list[str]:
    lessons = sorted((ROOT / "web/lessons" / language).glob("*.md"))
    own = ["", "playground/", "help/", *(f"lessons/{path.stem[3:]}/" for path in lessons)]
    return [LANGUAGES[language] + path for path in own]


PAGES = [path for language in LANGUAGES for path in pages_of(language)]


def test_these_are_all_the_pages(site: Path) -> None:
    assert sorted(site_pages(site)) == sorted(path or "/" for path in PAGES)


def test_a_page_asks_for_every_face_at_once(site: Path) -> None:
    # an `optional` face that comes late is not used: italics and formulas were in a foreign one at the first visit
    faces = {path.name for path in site.glob("assets/*.woff2")}
    assert len(faces) == 5
    for path in PAGES:
        head = (site / path / "index.html").read_text(encoding="utf-8").partition("</head>")[0]
        assert set(re.findall(r'rel="preload" href="[^"]*/([^"/]+\.woff2)"', head)) == faces, path


@pytest.mark.parametrize("path", PAGES)
def test_a_page_comes_to_life_unmoved_and_is_quiet_and_accessible_in_light_and_dark(
    open_again: OpenPage, path: str
) -> None:
    page = open_again(path, color_scheme="light", script=TAKEN_OVER)
    widgets_ready(page)
    assert [one for one in page.evaluate("changed") if one[0] != "practice"] == []  # there a number is drawn at random
    shift = page.evaluate(SHIFT)
    print(f"{path or '/'}: first paint after {page.evaluate(PAINT)} ms, layout shift {shift:.4f}")
    assert shift < STILL
    page.emulate_media(reduced_motion="reduce")
    settled(page)
    spanish = path.startswith("es/")
    for width in (768, 1000, 1366, 1280) if spanish else (700, 768, 1000, 1366, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(50)
        assert page.evaluate(TOO_WIDE) == [], width
        assert page.evaluate(CUT) == [], width
        assert page.evaluate(HEIGHTS) == [], width
    if not spanish:
        no_picture_makes_its_widget_wider_before_it_is_drawn_anew(page)
    assert serious(page, "body") == []
    if not spanish:  # other words, and the same colours
        assert serious_in_the_dark(page, "body") == []


def no_picture_makes_its_widget_wider_before_it_is_drawn_anew(page: Page) -> None:
    assert page.locator(".drawing:visible:not(:has(> svg))").count() == 0
    page.evaluate("deaf = true")
    for width in (1280, 1000, 768, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(TOO_WIDE) == [], width
    page.evaluate("deaf = false")
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.evaluate(HEIGHTS) == []  # all is drawn anew


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_a_phone_and_no_word_is_too_long_for_it(open_again: OpenPage, path: str) -> None:
    # who reads Spanish is offered it on an English page, which takes room
    offered = path in ("", "lessons/used-twice/")
    page = open_again(
        path, locale="es-ES" if offered or path.startswith("es/") else "en-GB", script=TAKEN_OVER, **PHONE
    )
    widgets_ready(page)
    assert page.evaluate(SHIFT) < STILL
    settled(page)
    assert page.evaluate(HEIGHTS) == []
    assert page.evaluate(CUT) == []
    expect(page.locator(".offer")).to_have_count(int(offered))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        """() => [...document.querySelectorAll("main button, header button, main select, main input, main summary")]
            .filter((e) => e.checkVisibility() && !e.closest(".cm-editor") && e.type !== "range" && e.type !== "file")
            .map((e) => [(e.closest("label") ?? e).getBoundingClientRect().height, e.outerHTML.slice(0, 90)])
            .filter(([height]) => height > 0 && height < 40)"""
    )
    assert small == []
    too_wide = page.evaluate(  # what is one pixel wide is for screen readers alone
        """() => [...document.querySelectorAll("button, .btn, .langs a, .trail-text, .tabs *, .kicker, label")]
            .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1)
            .map((e) => `${e.textContent}: ${e.scrollWidth} in ${e.clientWidth}`)"""
    )
    assert too_wide == []
    outside = page.evaluate(
        """() => [...document.querySelectorAll("header *")]
            .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > 391)
            .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []


def shrunk(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 6))


def scripts_of(site: Path, page: str) -> set[str]:
    """Every script that a page loads or may load later: the one it names, and those that a script of its names."""
    text = (site / page / "index.html").read_text(encoding="utf-8")
    waiting, found = re.findall(r"assets/([\w-]+\.js)", text), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            script = (site / "assets" / name).read_text(encoding="utf-8")
            waiting += re.findall(r"\b([\w-]+-[A-Z0-9]{8}\.js)\b", script)
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_scripts_before_python_are_small_together(site: Path, language: str) -> None:
    sizes = {name: shrunk(site / "assets" / name) for name in scripts_of(site, LANGUAGES[language])}
    print(f"{sum(sizes.values()) / 1024:.0f} KB of script in {language}, as it travels")
    assert sum(sizes.values()) < BUDGET


def test_no_script_is_there_for_nothing_and_each_language_has_its_own_words(site: Path) -> None:
    scripts = {language: scripts_of(site, home) for language, home in LANGUAGES.items()}
    assert set().union(*scripts.values()) == {file.name for file in (site / "assets").glob("*.js")}
    told = {language: "".join((site / "assets" / name).read_text(encoding="utf-8") for name in scripts[language])
            for language in LANGUAGES}  # fmt: skip
    assert ["Copy link" in told[language] for language in ("en", "es")] == [True, False]
    assert ["Copiar enlace" in told[language] for language in ("en", "es")] == [False, True]
    editor = max((site / "assets").glob("*.js"), key=lambda file: file.stat().st_size)
    assert all(editor.name in names for names in scripts.values())  # what holds no words is one file for all


def test_the_editor_is_loaded_only_where_it_is_used(site: Path, open_page: OpenPage) -> None:
    editor = max((site / "assets").glob("*.js"), key=lambda file: file.stat().st_size)
    assert "cm-scroller" in editor.read_text(encoding="utf-8")
    for path, used in (("lessons/used-twice/", False), ("lessons/write-the-engine/", True)):
        page = open_page(path)
        settled(page)
        loaded = page.evaluate("performance.getEntriesByType('resource').map(({name}) => name)")
        names = {urlsplit(url).path[1:] for url in loaded if url.endswith(".js")}
        print(f"{path}: {sum(shrunk(site / name) for name in names) / 1024:.0f} KB of script in {len(names)} files")
        assert (f"assets/{editor.name}" in names) == used


def test_every_link_leads_somewhere(site: Path) -> None:
    for path in [*site.rglob("*.html")]:
        text = path.read_text(encoding="utf-8")
        ids = set(re.findall(r'\sid="([^"]+)"', text))
        assert len(ids) == len(re.findall(r'\sid="([^"]+)"', text)), f"{path}: an id twice"
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            assert not link.startswith("/"), f"{path}: {link} works at the root only"
            if link.startswith("https://"):
                continue
            target, _, anchor = link.partition("#")
            found = (path.parent / target).resolve() if target else path
            found = found / "index.html" if found.is_dir() else found
            assert found.is_file(), f"{path}: {link}"
            if anchor:
                assert f'id="{anchor}"' in found.read_text(encoding="utf-8"), f"{path}: {link}"


def test_pages_hold_no_inline_script_and_no_style(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for attributes, body in re.findall(r"<script([^>]*)>(.*?)</script>", text, flags=re.S):
            assert "application/json" in attributes or not body, path
            if "application/json" in attributes:
                json.loads(body)
        assert not re.search(r"<style|\sstyle=|\son\w+=", text), path


def test_the_text_reads_without_javascript(open_page: OpenPage) -> None:
    page = open_page(FIRST, java_script_enabled=False)
    assert page.locator("h1").inner_text() == "A slope you can measure"
    assert page.locator("article p").count() > 5
    assert "need it" in page.locator("noscript").inner_text()
    assert page.locator(".pager .next").get_attribute("href")


#: For each widget what is wrong with it as the build drew it: empty, cut off, or not exactly one picture in a frame.
DRAWN = """() => [...document.querySelectorAll("[data-widget]")].flatMap((widget) => {
    const pictures = (frame) => [...frame.querySelectorAll(":scope > .at-widths > * > svg")].filter((svg) => svg.checkVisibility());
    const frames = [...widget.querySelectorAll(".drawing")].map(pictures);
    const wrong = [
        !widget.innerText.trim() && "no words",
        widget.offsetHeight < 40 && "no height",
        frames.some((found) => found.length !== 1) && `${frames.map((found) => found.length)} pictures`,
        frames.flat().some((svg) => svg.getBoundingClientRect().height < 100) && "a small picture",
    ].filter(Boolean);
    return wrong.length ? [`${widget.id}: ${wrong}`] : [];
})"""  # noqa: E501


def test_lessons_read_and_widgets_are_there_without_javascript_and_on_paper(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    home, kinds = page.url, set[str]()
    for path in pages_of("en") + pages_of("es")[:6]:
        page.goto(home + path)
        kinds |= set(page.evaluate("[...document.querySelectorAll('[data-widget]')].map((one) => one.dataset.widget)"))
        for size, media in ((1280, "screen"), (390, "screen"), (700, "print")):
            page.set_viewport_size({"width": size, "height": 900})
            page.emulate_media(media=media)  # type: ignore[arg-type]
            assert page.evaluate(DRAWN) == [], f"{path} at {size}, {media}"
        if "lessons/" in path:
            assert len(page.locator("main").inner_text().split()) > 300, path
            assert page.locator("main h2").count() >= 3, path
        assert page.locator("h1").count() == 1, path
    assert kinds == {folder.name for folder in (ROOT / "web/src/widgets").iterdir() if folder.is_dir()}


def test_a_page_that_is_not_there(open_page: OpenPage) -> None:
    page = open_page("lessons/nothing/at/all/", expected=("404",))
    assert page.locator("h1").inner_text() == "No path leads here"
    page.get_by_role("link", name="To the start page").click()
    page.wait_for_selector(".hero h1")
    expect(page).to_have_title("gradwalk")


@pytest.mark.parametrize("path", ["", FIRST])
def test_print_leaves_the_controls_out(open_page: OpenPage, path: str) -> None:
    page = open_page(path, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for selector in (".top", ".rail"):
        assert not page.locator(selector).is_visible()
    assert page.locator("h1").is_visible()
