"""The built scripts and styles: where they lie in this installation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gradwalk.errors import GradwalkError

__all__ = ["BundleError", "bundle"]

_PLACE = Path(__file__).parent / "notebook" / "built"
NOT_BUILT = """\
{name} is not built: {place} has none. In a checkout of the sources:
  make site       builds it, with the course
An installed package has it inside; if yours has not, install it anew."""


class BundleError(GradwalkError, RuntimeError):
    """A script that a widget or a page is made of is not there.

    >>> bundle("walk.js", Path("nowhere"))
    Traceback (most recent call last):
    ...
    gradwalk.bundles.BundleError: walk.js is not built: nowhere has none. In a checkout of the sources:
      make site       builds it, with the course
    An installed package has it inside; if yours has not, install it anew.
    """


@cache
def bundle(name: str, place: Path | None = None) -> str:
    """A built file as text; if it is not there, the error says how to get it.

    >>> "render" in bundle("walk.js")
    True
    """
    folder = place or _PLACE
    try:
        return (folder / name).read_bytes().decode().strip()
    except FileNotFoundError:
        raise BundleError(NOT_BUILT.format(name=name, place=folder)) from None
