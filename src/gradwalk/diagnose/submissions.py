"""A folder of engines: what was handed in by whom, and all of it judged side by side."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from gradwalk.diagnose.cleaning import plain
from gradwalk.diagnose.loading import source_of
from gradwalk.diagnose.processes import SLICE
from gradwalk.diagnose.results import not_judged
from gradwalk.diagnose.sandbox import Judged, Stopped
from gradwalk.diagnose.workplace import files_below, is_ordinary, too_large
from gradwalk.errors import SettingError
from gradwalk.messages import verbatim

__all__ = ["Submission", "find", "grade_all"]

ENDINGS = (".py", ".ipynb")
IN_FOLDER = "no file in it looks like an engine: a class with operators and backward(), in a .py or .ipynb file"


@dataclass(frozen=True)
class Submission:
    """What somebody handed in: a name for it, its file, and the folder with all that belongs to it, if it is one.

    Where there is nothing to judge, `reason` says why.

    >>> Submission("ada", Path("ada/engine.py")).name
    'ada'
    """

    name: str
    path: Path
    root: Path | None = None
    reason: str = ""

    @property
    def file(self) -> str:
        """The file as a table shows it.

        >>> Submission("ada", Path("class/ada/src/engine.py"), Path("class/ada")).file
        'src/engine.py'
        """
        return plain(_readable(str(self.path.relative_to(self.root) if self.root else self.path.name)), 200)

    def digest(self) -> str:
        """One number for all that was handed in: it changes when somebody hands in something else.

        >>> Submission("ada", Path(__file__)).digest() == Submission("ada", Path(__file__)).digest()
        True
        """
        whole = hashlib.sha256(repr((self.file, self.reason)).encode("utf-8", "replace"))
        paths = [self.path] if self.root is None else [*files_below(self.root)]
        for path in paths if not self.reason else []:
            try:
                whole.update(os.fsencode(path.name) + b"\0" + hashlib.sha256(path.read_bytes()).digest())
            except OSError as error:
                whole.update(repr(error).encode("utf-8", "replace"))
        return whole.hexdigest()

    def source(self) -> str:
        """The text of the engine's file, as far as there is one.

        >>> Submission("ada", Path("nowhere.py")).source()
        ''
        """
        try:
            if self.reason or not is_ordinary(self.path) or too_large(self.path):
                return ""
            return source_of(self.path)
        except Exception:  # it may hold anything
            return ""


def find(folder: Path, leave_out: Path | None = None) -> list[Submission]:
    """One for each file in the folder, and one for each folder in it: the file there that most looks like an engine.

    Everything in the folder is somebody's: what cannot be judged is in the list too, with the reason. Left out are what
    is hidden, and the folder with the results.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "ada" / "src").mkdir(parents=True)
    >>> for name in ("grace.py", "ada/nn.py", "ada/src/engine.py", "linus.txt"):
    ...     _ = (folder / name).write_text("class Value:" + chr(10) + " def backward(self): ..." * ("nn" not in name))
    >>> [(found.name, found.file, found.reason[:9]) for found in find(folder)]
    [('ada', 'src/engine.py', ''), ('grace', 'grace.py', ''), ('linus', 'linus.txt', 'a .txt is')]
    """
    found = []
    for entry in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        if entry.name.startswith((".", "__")) or (leave_out and entry.resolve() == leave_out.resolve()):
            continue
        name = plain(_readable(entry.name), 100)
        if entry.is_dir() and not entry.is_symlink():
            path = _most_likely(entry)
            found.append(Submission(name, path or entry, entry if path else None, "" if path else IN_FOLDER))
        else:
            found.append(Submission(name.rpartition(".")[0] or name, entry, reason=_why_not(entry)))
    if not any(not each.reason for each in found):
        raise SettingError(
            f"there is nothing to judge in {folder}: it should hold .py or .ipynb files, or one folder for each person"
        )
    return found


def _readable(name: str) -> str:
    """A file's name that need be no text, as text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _why_not(path: Path) -> str:
    if path.is_symlink():
        return "it is a link to another file, and links are not followed"
    if not is_ordinary(path):
        return "it is no ordinary file"
    if path.suffix.lower() not in ENDINGS:
        kind = f"a {plain(path.suffix, 10)} is" if path.suffix else "a file without an ending is"
        return f"{kind} not judged: hand in a .py file or a notebook (.ipynb)"
    return ""


def _most_likely(folder: Path) -> Path | None:
    best: tuple[float, Path] | None = None
    for path in files_below(folder):
        if path.suffix.lower() in ENDINGS:
            points = _likeness(path)
            if points > 0 and (best is None or points > best[0]):
                best = points, path
    return best[1] if best else None


def _likeness(path: Path) -> float:
    """How much a file looks like an engine: a class with operators and a walk back; tests and demos less so."""
    points = 0.0
    source = Submission("", path).source()
    for text in re.split(r"^(?=class[ \t])", source, flags=re.MULTILINE)[1:]:
        methods = set(re.findall(r"^[ \t]+def[ \t]+(\w+)", text, flags=re.MULTILINE))
        own = len(methods & {"__add__", "__mul__", "__pow__", "__radd__", "__truediv__"})
        own += 5 * any("back" in name.lower() for name in methods) + 2 * bool(re.match(r"class\s+Value\b", text))
        points = max(points, float(own))
    if not points and re.search(r"engine|value|grad", path.stem, flags=re.IGNORECASE):
        points = 0.5  # to be told what is wrong with it
    if re.search(r"test|demo|example", path.stem, flags=re.IGNORECASE):
        points /= 2
    return points


def grade_all(
    submissions: Sequence[Submission],
    judge: Callable[[Submission, threading.Event], Judged],
    *,
    jobs: int | None = None,
) -> Generator[tuple[Submission, Judged], None, None]:
    """Judge them side by side; each as soon as it is done. `judge` is to keep each in processes of its own.

    Whoever goes on no longer (a break, Ctrl-C) ends what is under way: the event that `judge` is given is set.

    >>> right = lambda submission, stop: Judged(grade(teaching.SOURCE, checks=["a-plus-a"]))
    >>> [(who.name, found.grade.score) for who, found in grade_all([Submission("ada", Path("ada.py"))], right)]
    [('ada', 1)]
    """
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool:
        try:
            waiting = {pool.submit(_judged, judge, submission, stop): submission for submission in submissions}
            while waiting:  # in slices: a signal that came a moment before the wait is heard after it
                for done in wait(waiting, SLICE, FIRST_COMPLETED).done:
                    yield waiting.pop(done), done.result()
        finally:  # stopped from outside: what has begun is ended, and what has not begun never will
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _judged(
    judge: Callable[[Submission, threading.Event], Judged], submission: Submission, stop: threading.Event
) -> Judged:
    """One submission judged, come what may: a failure of the grader's own must not cost the others their results."""
    reason = submission.reason
    if not reason:
        try:
            return judge(submission, stop)
        except Stopped:
            raise
        except Exception as error:
            reason = f"the grader itself failed on it ({type(error).__name__}: {plain(error, 200)}): please report this"
    return Judged(not_judged(verbatim(reason)))
