"""The built site: where it lies in this installation, and a copy of it for any web host."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import gradwalk
from gradwalk.drafts import replace
from gradwalk.errors import GradwalkError

__all__ = ["MARKER", "SiteError", "export_site", "find_site", "site_files"]

#: Lies in an exported folder and lists what was put there, so that a later export replaces that and nothing else.
MARKER = "gradwalk-site.json"
GRADERS = "started.bin"  # a Python for the sandbox of `gradwalk grade`, which no page asks for

_PLACE = Path(__file__).parent / "site"
NOT_BUILT = """\
the course is not built: {place} is not there. In a checkout of the sources:
  make site       builds it
  make learn      builds it and serves it
An installed package has it inside; if yours has not, install it anew."""


class SiteError(GradwalkError, RuntimeError):
    """The built site is not there, or cannot be written where it should go.

    >>> find_site("nowhere")
    Traceback (most recent call last):
    ...
    gradwalk.learn.built_site.SiteError: the course is not built: nowhere is not there. In a checkout of the sources:
      make site       builds it
      make learn      builds it and serves it
    An installed package has it inside; if yours has not, install it anew.
    """


def find_site(place: Path | str = _PLACE) -> Path:
    """The folder of the built site; if there is none, the error says how to get it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "index.html").write_text("<!doctype html>")
    ...     find_site(folder) == Path(folder)
    True
    """
    if not Path(place, "index.html").is_file():
        raise SiteError(NOT_BUILT.format(place=place))
    return Path(place)


def site_files(site: Path) -> list[Path]:
    """Every file of a site, relative to its folder, hidden ones left out.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "index.html").write_text("<!doctype html>"), Path(folder, ".hidden").write_text("")
    ...     [path.name for path in site_files(Path(folder))]
    ['index.html']
    """
    found = (path.relative_to(site) for path in site.rglob("*") if path.is_file() and path.name != GRADERS)
    return sorted(path for path in found if not any(part.startswith(".") for part in path.parts))


def export_site(target: Path | str, site: Path | None = None) -> int:
    """Copy the site into a folder and give the number of its files. Any web host can serve it, under any address.

    The folder may be new, empty, or one we exported to before; then what we put there is replaced, and what somebody
    else put there stays. Anything else is refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     site, target = Path(folder, "site"), Path(folder, "public")
    ...     site.mkdir()
    ...     _ = (site / "index.html").write_text("<!doctype html>")
    ...     export_site(target, site), sorted(path.name for path in target.iterdir())
    (1, ['.nojekyll', 'gradwalk-site.json', 'index.html'])
    """
    site, target = site or find_site(), Path(target)
    files = site_files(site)
    ours = _ours(target)
    for path in files:
        if (target / path).exists() and path.as_posix() not in ours:
            raise SiteError(f"{target / path} is not from an earlier export; move it, or export to another folder")
    names = [path.as_posix() for path in files]
    try:
        target.mkdir(parents=True, exist_ok=True)
        _mark(target, [*names, *sorted(ours.difference(names))])  # first: should it break off here, all this is ours
        for name in ours:
            (target / name).unlink(missing_ok=True)
        for path in files:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            _copy(site / path, target / path)
        (target / ".nojekyll").touch()  # GitHub Pages then takes the files as they are
        _mark(target, names)
    except OSError as error:
        again = "; once that is mended, the same command will do"
        raise SiteError(f"cannot write to {target}: {error.strerror or error}{again}") from error
    return len(files)


def _copy(source: Path, target: Path) -> None:
    """A file as it is; but a page is told that it is exported, so that the browser keeps a copy for offline reading."""
    if source.suffix == ".html":
        page = source.read_text(encoding="utf-8")
        target.write_text(page.replace("<html ", "<html data-offline ", 1), encoding="utf-8", newline="")
    else:
        shutil.copyfile(source, target)


def _mark(target: Path, names: list[str]) -> None:
    """Write down what is ours in a folder; whole, for without it nothing is."""
    replace(target / MARKER, json.dumps({"version": gradwalk.__version__, "files": names}, indent=1).encode())


def _ours(target: Path) -> set[str]:
    """What an earlier export put into a folder; an error if the folder is somebody else's."""
    if target.exists() and not target.is_dir():
        raise SiteError(f"{target} is a file; name a folder")
    try:
        if not target.exists() or not any(target.iterdir()):
            return set()
        listed = json.loads((target / MARKER).read_text(encoding="utf-8"))["files"]
        inside = target.resolve()
        return {name for name in listed if (target / name).resolve().is_relative_to(inside)}
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            message = f"{target} is not empty, and not from an earlier export: name a new or empty folder"
            raise SiteError(message) from None
        raise SiteError(f"cannot read {target}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError):
        raise SiteError(f"{target / MARKER} cannot be read; delete the folder, or name another") from None
