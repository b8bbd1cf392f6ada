"""Pictures of every page of the course, to be looked at: phone to large screen, light and dark.

    python tests/screenshots.py                         all of them, into out/screenshots
    python tests/screenshots.py used-twice --width 390  pages whose address holds a word, at one width

A picture is of the whole page; at 1366 × 768 also of each stepper as a laptop shows it. Every stepper stands in the
middle of its walk, for an untouched one shows little.
"""

from __future__ import annotations

import argparse
import os
import threading
from pathlib import Path

from browsing import settled, site_pages, until_gone
from chromium import launched
from playwright.sync_api import Browser, Page, ViewportSize

from gradwalk.learn.built_site import find_site
from gradwalk.learn.server import make_server

OUT = Path(__file__).resolve().parents[1] / "out" / "screenshots"
SCREENS = {390: 844, 768: 1024, 1280: 900, 1366: 768, 1920: 1080}
LAPTOP = 1366
#: A whole page has no lower end of the screen.
UNSTUCK = ".dock, header.top { position: relative !important; } .transport { position: static !important; }"
#: Step into the walk back, where there is something on every part of the stepper.
MIDDLE = """() => {
    for (const walk of document.querySelectorAll(".walk")) {
        const end = Number(walk.querySelector("[role=slider]").getAttribute("aria-valuemax"));
        const step = walk.querySelector("[data-act=step]");
        const now = Number(walk.querySelector("[role=slider]").getAttribute("aria-valuenow"));
        for (let k = now; k < Math.ceil(end * 0.7); k++) step.click();
    }
}"""


def photograph(browser: Browser, address: str, path: str, width: int, scheme: str, folder: Path) -> None:
    """One page at one width, in light or dark."""
    screen: ViewportSize = {"width": width, "height": SCREENS[width]}
    context = browser.new_context(
        viewport=screen,
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
        locale="en",
        bypass_csp=True,
    )
    page = context.new_page()
    page.goto(address + path.lstrip("/"))
    settled(page)
    page.evaluate(MIDDLE)
    page.wait_for_timeout(150)
    name = f"{path.strip('/').replace('/', '-') or 'start'}-{width}-{scheme}"
    if width == LAPTOP:
        _screens(page, folder / name)
    page.add_style_tag(content=UNSTUCK)
    _whole(page, width)
    page.screenshot(path=folder / f"{name}.png", full_page=True)
    context.close()


def _whole(page: Page, width: int) -> None:
    """Everything is on the screen: what Python brings has come, and editors draw all of their lines."""
    page.set_viewport_size({"width": width, "height": page.evaluate("document.documentElement.scrollHeight")})
    until_gone(page, ".hunt-wait")
    page.set_viewport_size({"width": width, "height": page.evaluate("document.documentElement.scrollHeight")})
    until_gone(page, ".cm-gap")
    page.evaluate(MIDDLE)
    page.wait_for_timeout(150)


def _screens(page: Page, name: Path) -> None:
    for at, walk in enumerate(page.locator(".stepper").all()):
        walk.evaluate("walk => scrollBy(0, walk.getBoundingClientRect().top - 70)")
        page.screenshot(path=f"{name}-stepper-{at + 1}.png")


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only pages whose address holds one of these")
    parser.add_argument("--width", type=int, choices=SCREENS, action="append", help="only this width")
    parser.add_argument("--scheme", choices=("light", "dark"), action="append", help="only these colours")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    site = find_site(os.environ.get("GRADWALK_TEST_SITE") or find_site())
    pages = [path for path in site_pages(site) if not options.words or any(word in path for word in options.words)]
    with make_server(site, port=0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with launched() as browser:
                for path in pages:
                    for width in options.width or SCREENS:
                        for scheme in options.scheme or ("light", "dark"):
                            photograph(browser, server.address, path, width, scheme, options.out)
        finally:
            server.shutdown()
            thread.join()
    print(f"{len(list(options.out.glob('*.png')))} pictures are in {options.out}")


if __name__ == "__main__":
    main()
