"""`gradwalk learn`: the course, served to your browser from this machine; or written to a folder for any web host."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from rich.markup import escape

from gradwalk.cli import options as option
from gradwalk.cli.screen import console
from gradwalk.learn.built_site import export_site, find_site

__all__ = ["SUMMARY", "add_arguments", "run"]

SUMMARY = "open the course in your browser"

DESCRIPTION = """\
Open the course in your browser: lessons you can step through, with the engine
itself running in the page. It is served from this machine, to this machine
only; nothing leaves it, and no network is needed. Ctrl-C ends it.
"""

EXAMPLES = """\
examples:
  gradwalk learn
  gradwalk learn --port 9000 --no-browser
  gradwalk learn --export public      a folder that any web host can serve
"""

PORT = 8264


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk learn`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["--port", "9000"]).port
    9000
    """
    add = parser.add_argument
    add("--port", type=option.whole(0, 65535), default=PORT, metavar="N",
        help=f"the port to serve on (default: {PORT}); the next free one if it is taken, 0 for any")  # fmt: skip
    add("--no-browser", action="store_true", help="print the address and open nothing")
    add("--export", type=Path, metavar="DIR", help="write the site into a folder instead of serving it")


def run(options: argparse.Namespace) -> int:
    """Serve the course until Ctrl-C, or export it.

    >>> main(["learn", "--export", "README.md"])  # no folder
    2
    """
    site = find_site()
    return _export(options.export, site) if options.export else _serve(site, options.port, options.no_browser)


def _export(target: Path, site: Path) -> int:
    count = export_site(target, site)
    screen = console()
    where = escape(str(target))  # never broken in two: people copy it
    screen.print(f"{count} files are in {where}: put them on any web host, under any address", soft_wrap=True)
    command = f"python -m http.server -b 127.0.0.1 -d {escape(shlex.quote(str(target)))}"
    screen.print(f"[quiet]to look at it here:  {command}[/quiet]", soft_wrap=True)
    return 0


def _serve(site: Path, port: int, no_browser: bool) -> int:
    import webbrowser

    from gradwalk.learn.server import make_server

    screen = console()
    with make_server(site, port) as server:
        got = server.server_address[1]
        if port not in (0, got):
            screen.print(f"port {port} is taken; this is the next free one")
        screen.print(f"The course is at [strong]{server.address}[/strong]   [quiet](Ctrl-C ends it)[/quiet]")
        if not no_browser and not (_has_screen() and webbrowser.open(server.address)):
            screen.print("[quiet]no browser could be opened from here: open the address yourself[/quiet]")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            screen.print("\nThe course is closed. Your progress is in your browser.")
    return 0


def _has_screen() -> bool:
    """Whether a browser has a screen to open on; without, Python would open one that takes over the terminal."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER")
    return sys.platform != "linux" or any(os.environ.get(name) for name in screens)
