"""What axe finds on a part of a page that is serious."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

#: Leaves out what is never serious, however wrong: a rule has one impact, whatever it finds.
RUN = """([inside, options]) => {
    const mild = axe._audit.rules.filter(({impact}) => impact === "minor" || impact === "moderate");
    const rules = Object.fromEntries(mild.map(({id}) => [id, {enabled: false}]));
    return axe.run({include: [inside]}, options.runOnly ? options : {...options, rules});
}"""
AXE = Path(__file__).resolve().parents[1] / "web/node_modules/axe-core/axe.min.js"


def serious(page: Page, selector: str, rules: list[str] | None = None) -> list[str]:
    """Serious and critical findings within the elements of a selector, by all rules or these: the rule, and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], "preload": False, **({"runOnly": rules} if rules else {})}
    found = page.evaluate(RUN, [selector, options])
    return [
        f"{violation['id']}: {node['target']} {node.get('failureSummary', '')}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def serious_in_the_dark(page: Page, selector: str) -> list[str]:
    """The same with dark colours, which the page keeps; in the dark nothing differs but colours."""
    page.emulate_media(color_scheme="dark")
    page.evaluate(
        """() => Promise.allSettled(
            document.getAnimations().filter((each) => each instanceof CSSTransition).map((each) => each.finished)
        )"""
    )
    return serious(page, selector, ["color-contrast"])


def serious_in_light_and_dark(page: Page, selector: str) -> list[str]:
    """What is serious in either; the page ends in light colours."""
    page.emulate_media(color_scheme="light")
    found = serious(page, selector) + serious_in_the_dark(page, selector)
    page.emulate_media(color_scheme="light")
    return found
