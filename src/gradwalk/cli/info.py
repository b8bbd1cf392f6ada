"""`gradwalk info`: versions, which extras are there, and how to get the others."""

from __future__ import annotations

import argparse
import json
import platform
import re
from importlib import metadata
from typing import Any

import gradwalk

__all__ = ["SUMMARY", "add_arguments", "run"]

SUMMARY = "versions, which extras are there, how to get the others"

DESCRIPTION = """\
Tell which gradwalk and which Python this is, which optional parts are
installed, and the command that installs each of the others.
"""

EXAMPLES = "examples:\n  gradwalk info\n  gradwalk info --json"

#: What each extra is for. An extra that is not named here is listed all the same.
PURPOSES = {
    "fast": "gradwalk.compile: native speed",
    "tensor": "gradwalk.Tensor: arrays for numbers",
    "parallel": "gradwalk.parallel and gradwalk sweep: all cores",
    "dask": "gradwalk.parallel on a Dask cluster",
    "ray": "gradwalk.parallel on a Ray cluster",
    "sandbox": "gradwalk grade --sandbox: strangers' engines, out of reach",
    "plot": "loss curves and decision boundaries",
    "notebook": "the stepper and the other views as widgets",
    "test": "gradwalk's own tests",
    "bench": "speed beside micrograd and PyTorch",
    "mutants": "tests of the tests",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk info`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["--json"]).json
    True
    """
    parser.add_argument("--json", action="store_true", help="for machines: one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print it.

    >>> run(argparse.Namespace(json=True))  # doctest: +ELLIPSIS
    {
      "gradwalk": "...
    0
    """
    facts = {
        "gradwalk": gradwalk.__version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "extras": {name: _extra(name, packages) for name, packages in _extras().items()},
    }
    if options.json:
        print(json.dumps(facts, indent=2))  # noqa: T201
    else:
        _show(facts)
    return 0


def _extra(name: str, packages: list[str]) -> dict[str, Any]:
    found = {package: _version(package) for package in packages}
    return {
        "for": PURPOSES.get(name, ""),
        "there": all(found.values()),
        "packages": found,
        "install": f'pip install "gradwalk[{name}]"',
    }


def _extras() -> dict[str, list[str]]:
    """The packages that each extra brings, as the installed package declares them."""
    try:
        declared = metadata.distribution("gradwalk")
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        return {}
    extras: dict[str, list[str]] = {name: [] for name in declared.metadata.get_all("Provides-Extra") or []}
    for requirement in declared.requires or []:
        named = re.match(r"([\w.-]+)(?:\[([\w.,-]+)\])?", requirement)
        extra = re.search(r"extra == ['\"]([\w.-]+)['\"]", requirement)
        if named and extra:
            # An extra that builds on another one, as test does on plot, asks for gradwalk[plot].
            parts = (named[2] or "").split(",") if named[1] == "gradwalk" else [named[1]]
            extras.setdefault(extra[1], []).extend(f"[{p}]" if named[1] == "gradwalk" else p for p in parts)
    return {name: sorted(_flat(name, extras)) for name in extras}


def _flat(name: str, extras: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    for package in extras.get(name, []):
        found |= _flat(package.strip("[]"), extras) if package.startswith("[") else {package}
    return found


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _show(facts: dict[str, Any]) -> None:
    from rich.text import Text

    from gradwalk.cli import screen

    out, extras = screen.console(), facts["extras"]
    for name in ("gradwalk", "python", "platform"):
        out.print(Text.assemble((f"{name:<10}", "quiet"), facts[name]))
    out.print()
    if not extras:
        out.print("gradwalk is not installed as a package here, so its extras are not known.")
        return
    width = max(map(len, extras))
    for name, extra in extras.items():
        state = ("✓ there    ", "ok") if extra["there"] else ("– missing  ", "miss")
        out.print(Text.assemble((f"{name:<{width}}  ", "strong"), state, extra["for"]))
        if not extra["there"]:
            out.print(Text(f"{'':<{width}}             {extra['install']}"), soft_wrap=True)
