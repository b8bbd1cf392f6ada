"""A folder of engines: which files to judge, all of them judged side by side, and the results as CSV and HTML."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from gradwalk.diagnose.as_html import OverviewRow, overview_page, report_page
from gradwalk.diagnose.loading import source_of
from gradwalk.diagnose.results import Grade
from gradwalk.errors import SettingError

__all__ = ["Submission", "as_csv", "find", "grade_all", "write_results"]

ENDINGS = (".py", ".ipynb")
LARGEST = 2_000_000  # bytes of a file that is worth reading


@dataclass(frozen=True)
class Submission:
    """Somebody's engine: a name for it, and its file.

    >>> Submission("ada", Path("ada/engine.py")).name
    'ada'
    """

    name: str
    path: Path


def find(folder: Path) -> list[Submission]:
    """One engine for each file in the folder, and one for each folder in it: the file there that most looks like one.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "ada" / "src").mkdir(parents=True)
    >>> for name in ("grace.py", "ada/nn.py", "ada/src/engine.py"):
    ...     _ = (folder / name).write_text("class Value:" + chr(10) + " def backward(self): ..." * ("nn" not in name))
    >>> [(found.name, found.path.name) for found in find(folder)]
    [('ada', 'engine.py'), ('grace', 'grace.py')]
    """
    found = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "__")):
            continue
        if entry.is_file() and entry.suffix in ENDINGS:
            found.append(Submission(entry.stem, entry))
        elif entry.is_dir():
            path = _most_likely(entry)
            if path is not None:
                found.append(Submission(entry.name, path))
    if not found:
        raise SettingError(
            f"there is nothing to judge in {folder}: it should hold .py or .ipynb files, or one folder for each person"
        )
    return found


def _most_likely(folder: Path) -> Path | None:
    best: tuple[float, Path] | None = None
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
        if hidden or path.suffix not in ENDINGS or not path.is_file():
            continue
        points = _likeness(path)
        if points > 0 and (best is None or points > best[0]):
            best = points, path
    return best[1] if best else None


def _likeness(path: Path) -> float:
    """How much a file looks like an engine: a class with operators and a walk back; tests and demos less so."""
    try:
        if path.stat().st_size > LARGEST:
            return 0.0
        tree = ast.parse(source_of(path))
    except (SyntaxError, ValueError, KeyError, OSError):
        return 1.0 if re.search(r"engine|value|grad", path.stem, flags=re.I) else 0.0
    points = 0.0
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            own = len(methods & {"__add__", "__mul__", "__pow__", "__radd__", "__truediv__"})
            own += 5 * any("back" in name.lower() for name in methods) + 2 * (node.name == "Value")
            points = max(points, float(own))
    if re.search(r"test|demo|example", path.stem, flags=re.I):
        points /= 2
    return points


def grade_all(
    submissions: Sequence[Submission], judge: Callable[[Path], Grade], *, jobs: int | None = None
) -> Iterator[tuple[Submission, Grade]]:
    """Judge them side by side; each as soon as it is done. `judge` is to keep each in a process of its own.

    >>> from gradwalk.diagnose import grade, teaching
    >>> right = lambda path: grade(teaching.SOURCE, checks=["a-plus-a"])
    >>> [(who.name, report.score) for who, report in grade_all([Submission("ada", Path("ada.py"))], right)]
    [('ada', 1)]
    """
    with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool:
        running = {pool.submit(judge, submission.path): submission for submission in submissions}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        finally:  # stopped from outside: what has not begun never will
            pool.shutdown(wait=False, cancel_futures=True)


def as_csv(results: Sequence[tuple[Submission, Grade]]) -> str:
    """The results as a table that any spreadsheet opens.

    >>> from gradwalk.diagnose import grade, teaching
    >>> print(as_csv([(Submission("ada", Path("ada.py")), grade(teaching.SOURCE, checks=["a-plus-a"]))]).strip())
    name,file,score,total,percent,essentials,of_essentials,missing,right,diagnoses
    ada,ada.py,1,1,100,1,1,0,yes,
    """
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        ["name", "file", "score", "total", "percent", "essentials", "of_essentials", "missing", "right", "diagnoses"]
    )
    for submission, report in results:
        share = round(100 * report.score / report.total) if report.total else 0
        missing = sum(check.status == "missing" for check in report.checks)
        words = [diagnosis.sentence for diagnosis in report.diagnoses] or [
            check.message for check in report.checks if check.status == "error" and check.name == "loads"
        ]
        table.writerow(
            [_safe(submission.name), submission.path.name, report.score, report.total, share,
             report.essentials.score, report.essentials.total, missing,
             "yes" if report.passed else "no", _safe(" | ".join(words))]
        )  # fmt: skip
    return out.getvalue()


def _safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def write_results(
    results: Sequence[tuple[Submission, Grade]], folder: Path, title: str, *, solution: bool = False
) -> Path:
    """Write grades.csv, index.html and a page for each engine; gives the overview's path.

    >>> import tempfile, pathlib
    >>> from gradwalk.diagnose import grade, teaching
    >>> results = [(Submission("ada", pathlib.Path("ada.py")), grade(teaching.SOURCE, checks=["a-plus-a"]))]
    >>> overview = write_results(results, pathlib.Path(tempfile.mkdtemp()), "homework 1")
    >>> sorted(path.name for path in overview.parent.iterdir())
    ['ada.html', 'grades.csv', 'index.html']
    """
    folder.mkdir(parents=True, exist_ok=True)
    results = sorted(results, key=lambda pair: pair[0].name.lower())
    rows, taken = [], {"index"}
    for submission, report in results:
        slug = _slug(submission.name, taken)
        rows.append(OverviewRow(submission.name, report, f"{slug}.html"))
        page = report_page(report, f"{submission.name}: {submission.path.name}", solution=solution)
        (folder / f"{slug}.html").write_text(page, encoding="utf-8")
    (folder / "grades.csv").write_text(as_csv(results), encoding="utf-8-sig")  # so that Excel reads the letters right
    overview = folder / "index.html"
    overview.write_text(overview_page(rows, title), encoding="utf-8")
    return overview


def _slug(name: str, taken: set[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "engine"
    slug, count = plain, 2
    while slug.lower() in taken:
        slug, count = f"{plain}-{count}", count + 1
    taken.add(slug.lower())
    return slug
