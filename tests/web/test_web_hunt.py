"""The hunt in a real browser: watch, measure, name, mend; the classics, practice, keys alone, a phone, a reload."""

from __future__ import annotations

from axe import serious_in_light_and_dark
from browsing import PHONE, OpenPage, until_there, wait_until, widgets_ready
from playwright.sync_api import Locator, Page, expect

from gradwalk.learn.page.hunting.cases import SETS, case_of
from gradwalk.learn.page.hunting.choices import family_of
from gradwalk.learn.page.hunting.practice import drawn

LESSON = "lessons/the-four-classic-bugs/"


def open_set(open_page: OpenPage, kind: str, **options: object) -> Locator:
    page = open_page(LESSON, reduced_motion="reduce", **options)
    widgets_ready(page)
    widget = page.locator(f'[data-widget=hunt][id="{kind}"]')
    widget.scroll_into_view_if_needed()
    return widget


def choose(widget: Locator, family: str) -> Locator:
    """Say which bug it is; gives the reply."""
    widget.locator(f'input[value="{family}"]').check()
    widget.get_by_role("button", name="That is the one").click()
    return widget.locator(".reply").first


def write(page: Page, widget: Locator, text: str) -> None:
    widget.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def test_it(widget: Locator) -> Locator:
    widget.get_by_role("button", name="Test it").click()
    until_there(widget, "button.run:not([aria-busy])")
    return widget.locator(".bug")


test_it.__test__ = False  # type: ignore[attr-defined]


def test_the_engine_is_watched_before_python_is_there(open_page: OpenPage) -> None:
    widget = open_set(open_page, "classic")
    page = widget.page
    page.route("**/pyodide/**", lambda route: route.abort())
    expect(widget.get_by_role("tab")).to_have_count(4)
    for _ in range(6):
        widget.locator("[data-act=step]").click()
    row = widget.locator(".hunt-source code.now")
    expect(row).to_contain_text("self.grad = y * out.grad")
    expect(row).to_be_in_viewport(ratio=0.1)
    expect(widget.locator(".sentence")).to_contain_text("self.grad = y * out.grad")
    expect(widget.locator(".beside")).to_have_count(0)
    widget.locator("[data-act=end]").click()
    assert sorted(widget.locator(".beside").all_text_contents()) == ["right: −3", "right: −8"]
    expect(widget.locator('[data-name="a"] .grad .v').last).to_have_text("3")
    assert "not what they should be" in widget.locator("[data-spoken]").inner_text()
    widget.get_by_role("button", name="Nudge every leaf").click()
    rows = [row.inner_text().split() for row in widget.locator(".hunt-table tbody tr").all()]
    assert [row[-2:] for row in rows] == [["3", "−3"], ["−2", "−8"], ["−6", "−6"]]
    expect(widget.locator(".cm-content")).to_have_count(0)


def test_the_four_classics_from_the_first_look_to_the_last_word_and_every_stage_is_accessible(
    open_again: OpenPage,
) -> None:
    widget = open_set(open_again, "classic", color_scheme="light")
    page = widget.page
    widget.locator("[data-act=end]").click()
    widget.get_by_role("button", name="Nudge every leaf").click()
    for name in SETS["classic"]:
        case = case_of(name)
        hunted = widget.locator(f'.hunted[data-case="{name}"]')
        expect(hunted).to_be_visible()
        wrong = next(one for one in SETS["classic"] if one != name and widget.locator(f'input[value="{one}"]').count())
        reply = choose(widget, wrong)
        expect(reply).to_contain_text("It is not that one.")
        assert len(reply.inner_text()) > 60
        expect(widget.locator(".cm-content")).to_have_count(0)
        expect(choose(widget, family_of(name))).to_contain_text("That is it.")
        widget.locator(".cm-content").wait_for()
        expect(test_it(widget)).to_contain_text("Nothing is changed yet")
        if name == SETS["classic"][0]:  # on the desk it is tried with every exhibit
            write(page, widget, case.text + "\n# looked at\n")
            expect(test_it(widget)).to_contain_text("Not mended yet")
            assert serious_in_light_and_dark(page, "#classic") == []
        write(page, widget, case.mended)
        test_it(widget)
        expect(widget.locator(".hunt-was")).to_contain_text(case.specimen.explanation.split(". ")[0].replace("`", ""))
        if name == SETS["classic"][0]:
            assert serious_in_light_and_dark(page, "#classic") == []
        if name != SETS["classic"][-1]:
            assert not page.evaluate("async () => (await course()).progress.isDone('the-four-classic-bugs/classic')")
            widget.get_by_role("button", name="Next one").click()
    expect(widget.locator(".hunt-all")).to_be_visible()
    wait_until(page, "async () => (await course()).progress.isDone('the-four-classic-bugs/classic')")
    page.reload()
    widgets_ready(page)
    expect(widget.get_by_role("tab", name="mended")).to_have_count(4)
    expect(widget.locator(".hunt-was")).to_be_visible()


def test_others_are_named_and_mended(open_again: OpenPage) -> None:
    page = open_set(open_again, "classic").page
    for name in ("reversed-division", "preorder", "without-upstream"):
        kind = next(kind for kind, names in SETS.items() if name in names)
        widget = page.locator(f'[data-widget=hunt][id="{kind}"]')
        widget.scroll_into_view_if_needed()
        widget.get_by_role("tab").nth(SETS[kind].index(name)).click()
        expect(widget.locator(f'.hunted[data-case="{name}"]')).to_be_visible()
        expect(choose(widget, family_of(name))).to_contain_text("That is it.")
    write(page, widget, case_of(name).mended)  # one of them: on the desk every exhibit is mended
    test_it(widget)
    expect(widget.locator(".hunt-was")).to_be_visible()


def test_the_walk_of_what_was_written_replaces_the_first_one_and_a_hunt_fits_a_phone(open_again: OpenPage) -> None:
    widget = open_set(open_again, "classic", **PHONE)
    widget.get_by_role("button", name="Nudge every leaf").click()
    choose(widget, "overwriting")
    write(widget.page, widget, case_of("overwriting").mended)
    widget.get_by_role("button", name="Walk it again").click()
    expect(widget.locator(".hunt-own")).to_be_visible()
    widget.locator("[data-act=end]").click()
    expect(widget.locator(".beside")).to_have_count(0)
    expect(widget.locator('[data-name="a"] .grad .v').last).to_have_text("−3")
    expect(widget.locator(".hunt-source")).to_contain_text("self.grad += y * out.grad")
    widget.get_by_role("button", name="Show the first walk again").click()
    expect(widget.locator(".hunt-source")).to_contain_text("self.grad = y * out.grad")
    widget.locator("[data-act=end]").click()
    test_it(widget)
    expect(widget.locator(".hunt-was")).to_be_visible()
    assert widget.page.evaluate("document.documentElement.scrollWidth") <= 390
    small = widget.locator("button:visible").evaluate_all(
        "all => all.map((b) => b.getBoundingClientRect().height).filter((h) => h < 39)"
    )
    assert small == []


def test_an_endless_loop_is_stopped_and_work_is_kept_over_a_reload(open_again: OpenPage) -> None:
    widget = open_set(open_again, "classic")
    page = widget.page
    choose(widget, "overwriting")
    # in one check only: each has to be waited for
    loop = case_of("overwriting").mended.replace("other.grad += x * out.grad\n", "while y == 0: pass\n")
    write(page, widget, "# mine\n" + loop)
    expect(test_it(widget)).to_contain_text("never ends")
    page.reload()
    widgets_ready(page)
    expect(widget.locator(".cm-content")).to_contain_text("# mine")  # and not what is out of sight
    expect(widget.locator(".hunted")).to_have_attribute("data-named", "true")
    widget.get_by_role("button", name="Hint").click()
    expect(widget.locator(".hints li")).to_have_count(1)
    widget.get_by_role("button", name="Solution").click(force=True)
    expect(widget.locator(".later")).to_be_visible()  # one try is not enough
    widget.locator(".code-actions .push").click()
    widget.get_by_role("button", name="Yes, start again").click()
    expect(widget.locator(".cm-content")).not_to_contain_text("# mine")


def test_practice_draws_the_same_engine_for_the_same_link(open_again: OpenPage) -> None:
    case, family = drawn(7)
    page = open_again(f"{LESSON}#practice-7", reduced_motion="reduce")
    widgets_ready(page)
    widget = page.locator('[data-widget=hunt][id="practice"]')
    expect(widget.locator(".w-name")).to_have_text("Engine no. 7")
    expect(widget.locator('.hunted[data-case="practice-7"]')).to_be_visible()
    assert widget.locator(".hunt-program code").inner_text().strip() == case.program
    wrong = widget.locator(f'input[type=radio]:not([value="{family}"])').first
    expect(choose(widget, wrong.get_attribute("value") or "")).to_contain_text("It is not that one.")
    expect(choose(widget, family)).to_contain_text("That is it.")
    write(page, widget, case.mended)
    test_it(widget)
    expect(widget.locator(".hunt-was")).to_be_visible()
    expect(widget.locator(".hunt-count")).to_have_text("One mended so far")
    wait_until(page, "async () => (await course()).progress.isDone('the-four-classic-bugs/practice')")
    page.reload()
    widgets_ready(page)
    expect(widget.locator('.hunted[data-case="practice-7"][data-mended=true]')).to_be_visible()
    widget.locator("[data-act=another]").click()
    expect(widget.locator('.hunted[data-case="practice-7"]')).to_have_count(0)
    expect(widget.locator(".hunted")).to_be_visible()
    seed = int(widget.locator(".hunt").get_attribute("data-seed") or 0)
    assert page.url.endswith(f"#practice-{seed}")
    assert widget.locator(".hunt-program code").inner_text().strip() == drawn(seed)[0].program


def test_a_hunt_by_keys_alone(open_again: OpenPage) -> None:
    widget = open_set(open_again, "classic")
    page = widget.page
    widget.get_by_role("tab").first.focus()
    page.keyboard.press("ArrowRight")
    expect(widget.get_by_role("tab").nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(widget.get_by_role("tab").first).to_have_attribute("aria-selected", "true")
    widget.locator(".walkline").focus()
    page.keyboard.press("ArrowRight")
    expect(widget.locator("[data-count] b")).to_have_text("1")
    page.keyboard.press("End")
    expect(widget.locator(".beside")).to_have_count(2)
    widget.get_by_role("button", name="Nudge every leaf").focus()
    page.keyboard.press("Enter")
    expect(widget.locator(".hunt-table")).to_be_visible()
    widget.locator("input[type=radio]").first.focus()
    page.keyboard.press("Space")
    for _ in range(4):
        if widget.locator("input:checked").get_attribute("value") == "overwriting":
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    widget.locator(".cm-content").wait_for()
    widget.locator(".cm-content").focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(case_of("overwriting").mended)
    page.keyboard.press("Control+Enter")
    expect(widget.locator(".hunt-was")).to_be_visible()
    widget.get_by_role("button", name="Next one").focus()
    page.keyboard.press("Enter")
    expect(widget.locator('.hunted[data-case="not-zeroed"]')).to_be_visible()
    expect(widget.get_by_role("tab").nth(1)).to_be_focused()
