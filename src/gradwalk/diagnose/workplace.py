"""A folder of its own for each engine: a copy of what was handed in, and of nothing else.

So nobody's `statistics.py` is found by a neighbour, nobody's engine can be imported by a classmate, and whatever is
written or deleted there is gone at the end. Links are not followed, and what is no ordinary file is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

__all__ = ["copy_alone", "copy_whole", "copy_with_neighbours", "files_below", "import_root", "is_ordinary", "too_large"]

LARGEST = 2_000_000  # bytes of a file with an engine in it
LARGEST_NOTEBOOK = 20_000_000  # of a notebook, which may be full of pictures
DEEPEST = 20  # folders in folders
MOST_BYTES, MOST_FILES = 20_000_000, 1_000  # of everything that belongs to it
FROM_ABOVE = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)(?:\.(\w+)|[ \t]+import[ \t]+(\w+))", re.MULTILINE)
IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+(\.*\w*)|import[ \t]+([\w, .]+))", re.MULTILINE)


def is_ordinary(path: Path) -> bool:
    """Whether it is a file that can be read and is no link.

    >>> is_ordinary(Path("/dev/null")), is_ordinary(Path(__file__))
    (False, True)
    """
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def too_large(path: Path) -> str:
    """That a file is larger than anybody's engine, in words; nothing if it is not.

    >>> too_large(Path(__file__))
    ''
    """
    most = LARGEST_NOTEBOOK if path.suffix.lower() == ".ipynb" else LARGEST
    size = path.lstat().st_size
    return f"it is too large: {size / 1e6:.1f} MB, and {most / 1e6:g} are read" if size > most else ""


def copy_alone(path: Path, folder: Path) -> str:
    """Copy the file, and nothing else; gives its name in the folder.

    >>> import tempfile
    >>> copy_alone(Path(__file__), Path(tempfile.mkdtemp()))
    'workplace.py'
    """
    shutil.copyfile(path, folder / path.name, follow_symlinks=False)
    return path.name


def copy_whole(path: Path, root: Path, folder: Path) -> str:
    """Copy all that lies in `root`, as far as it is not too much; gives where the file lies in the folder.

    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> _ = (root / "engine.py").write_text("x = 1")
    >>> copy_whole(root / "engine.py", root, Path(tempfile.mkdtemp()))
    'engine.py'
    """
    _copy([path, *files_below(root)], root, folder)
    return str(path.relative_to(root))


def copy_with_neighbours(path: Path, folder: Path) -> str:
    """Copy the file, the package that it is part of, and what it imports from beside it, and so on.

    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> for name, text in {"engine.py": "from helper import x", "helper.py": "x = 1", "other.py": ""}.items():
    ...     _ = (root / name).write_text(text)
    >>> folder = Path(tempfile.mkdtemp())
    >>> copy_with_neighbours(root / "engine.py", folder), sorted(os.listdir(folder))
    ('engine.py', ['engine.py', 'helper.py'])
    """
    path = path.absolute()
    base = path.parent
    while (base / "__init__.py").exists() and base != base.parent:
        base = base.parent
    found = {path: None}
    if base != path.parent:
        found |= dict.fromkeys(files_below(base / path.relative_to(base).parts[0]))
    root = import_root(path)
    if root is not None and base.is_relative_to(root) and base != root:
        below = files_below(root / path.relative_to(root).parts[0])
        base, found = root, found | dict.fromkeys(each for each in below if each.suffix == ".py")
    waiting = list(found)
    while waiting and len(found) < MOST_FILES:
        file = waiting.pop()
        for near in (file.parent, base):
            for name in _imported(file):
                new = {near / f"{name}.py": None} if is_ordinary(near / f"{name}.py") else {}
                if (near / name).is_dir() and not (near / name).is_symlink():
                    new |= dict.fromkeys(each for each in files_below(near / name) if each.suffix == ".py")
                waiting += [each for each in new if each not in found]
                found |= new
    _copy(found, base, folder)
    return str(path.relative_to(base))


def import_root(path: Path) -> Path | None:
    """The folder above that imports start from: that of `src`, for `from src.grad.nodes import` in src/grad.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "src" / "grad"
    >>> folder.mkdir(parents=True)
    >>> for name, text in {"engine.py": "from src.grad.sorting import f", "sorting.py": "f = 1"}.items():
    ...     _ = (folder / name).write_text(text)
    >>> import_root(folder / "engine.py") == folder.parent.parent, import_root(folder / "sorting.py")
    (True, None)
    """
    for first, *then in FROM_ABOVE.findall(_text(path)):
        second = "".join(then)
        for above in path.parents:
            if above.name == first and ((above / second).is_dir() or is_ordinary(above / f"{second}.py")):
                return above.parent
    return None


def _text(path: Path) -> str:
    """The text of a file, each import on a line of its own: those of a notebook, too."""
    try:
        text = path.read_bytes()[:LARGEST].decode("utf-8", "replace")
    except OSError:
        return ""
    return text.replace("\\n", "\n").replace('"', "\n")


def _imported(path: Path) -> set[str]:
    """The first parts of the names that a file imports."""
    found = set()
    for from_where, several in IMPORTS.findall(_text(path)):
        found |= {part.strip().split(".")[0].split(" ")[0] for part in (from_where.lstrip("."), *several.split(","))}
    return {name for name in found if name.isidentifier()}


def files_below(root: Path) -> Iterator[Path]:
    """Ordinary files below a folder; not what is hidden, nor what Python or a virtual environment put there.

    >>> Path(__file__) in files_below(Path(__file__).parent)
    True
    """
    seen = 0
    for place, folders, names in os.walk(root):
        if len(Path(place).parts) - len(root.parts) > DEEPEST:
            folders.clear()
        folders[:] = sorted(
            name for name in folders
            if not name.startswith((".", "__")) and name not in ("node_modules", "site-packages")
            and not os.path.lexists(os.path.join(place, name, "pyvenv.cfg"))  # noqa: PTH118 - names need be no text
        )  # fmt: skip
        for name in sorted(names):
            path = Path(place) / name
            if not name.startswith(".") and is_ordinary(path):
                seen += 1
                if seen > 5 * MOST_FILES:
                    return
                yield path


def _copy(paths: Iterator[Path] | dict[Path, None] | list[Path], base: Path, folder: Path) -> None:
    size = count = 0
    for path in paths:
        size, count = size + path.lstat().st_size, count + 1
        if size > MOST_BYTES or count > MOST_FILES:
            break
        target = folder / path.relative_to(base)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copyfile(path, target, follow_symlinks=False)
