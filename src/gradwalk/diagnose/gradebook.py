"""The results of a class on disk, written as they come: a table, an overview, a page for each.

Broken off and begun again, what was judged is taken over, as long as it was handed in, and is judged, as before.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradwalk
from gradwalk.diagnose import resemblance
from gradwalk.diagnose.as_html import OverviewRow, overview_page, report_page
from gradwalk.diagnose.marks import standing
from gradwalk.diagnose.results import Grade
from gradwalk.diagnose.sandbox import Judged
from gradwalk.diagnose.submissions import Submission
from gradwalk.files import write

__all__ = ["Gradebook", "as_csv"]

KNOWN = ".judged.jsonl"  # what was judged: a line for each
SECONDS = 1.0  # between two versions of the table and the overview
COLUMNS = ("name", "file", "verdict", "mark", "of", "percent", "wrong", "not_there", "not_judged", "beyond",
           "of_beyond", "bugs", "beyond_bugs", "notes", "same_as")  # fmt: skip

Results = Sequence[tuple[Submission, Grade]]


class Gradebook:
    """A folder with the results of a class.

    >>> import tempfile
    >>> folder, ada = Path(tempfile.mkdtemp()), Submission("ada", Path(__file__))
    >>> book = Gradebook(folder, "homework 1", [ada])
    >>> book.add(ada, Judged(grade(teaching.SOURCE, checks=["a-plus-a"])))
    >>> sorted(path.name for path in book.write().parent.iterdir() if path.name[0] != ".")
    ['ada.html', 'grades.csv', 'index.html']
    >>> [who.name for who, judged in Gradebook(folder, "homework 1", [ada]).earlier()]
    ['ada']
    """

    def __init__(
        self,
        folder: Path,
        title: str,
        submissions: Sequence[Submission],
        *,
        settings: Mapping[str, Any] | None = None,
        solution: bool = False,
    ) -> None:
        self.folder, self.title, self.solution = folder, title, solution
        self.submissions = submissions
        self.results: dict[Submission, Grade] = {}
        self.confined: tuple[str, ...] | None = None
        self._slugs = _slugs(submissions)
        self._keys = {each: _key(each, settings or {}) for each in submissions}
        self._prints = {each: resemblance.print_of(each.source()) for each in submissions}
        self._alike = resemblance.groups({self._slugs[each]: self._prints[each] for each in submissions})
        self._taken_over: dict[str, Judged] = {}
        self._written = float("-inf")
        folder.mkdir(parents=True, exist_ok=True)

    def earlier(self) -> list[tuple[Submission, Judged]]:
        """What an earlier run has judged of what was handed in, under the same settings.

        >>> import tempfile
        >>> Gradebook(Path(tempfile.mkdtemp()), "homework 1", []).earlier()
        []
        """
        known = self._taken_over
        try:
            lines = (self.folder / KNOWN).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []
        for line in lines:
            try:
                said = json.loads(line)
                known[said["key"]] = Judged(Grade.from_dict(said["grade"]), tuple(said["confined"]))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue  # the last line of a run that was cut off
        return [(each, known[self._keys[each]]) for each in self.submissions if self._keys[each] in known]

    def add(self, submission: Submission, judged: Judged) -> None:
        """Write one result down.

        >>> import tempfile
        >>> folder, ada = Path(tempfile.mkdtemp()), Submission("ada", Path("ada.py"))
        >>> Gradebook(folder, "homework 1", [ada]).add(ada, Judged(grade("x = 1")))
        >>> (folder / "ada.html").exists()
        True
        """
        grade = judged.grade
        self.results[submission] = grade
        if judged.confined:  # what held for all of them
            found = (
                judged.confined if self.confined is None else tuple(x for x in self.confined if x in judged.confined)
            )
            self.confined = found
        if self._taken_over.get(self._keys[submission]) is not judged:
            entry = {"key": self._keys[submission], "grade": grade.to_dict(), "confined": list(judged.confined)}
            with (self.folder / KNOWN).open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps(entry)}\n")  # the line before may have been cut off
        page = report_page(grade, f"{submission.name}: {submission.file}", solution=self.solution)
        (self.folder / f"{self._slugs[submission]}.html").write_text(page, encoding="utf-8")
        if time.monotonic() - self._written > SECONDS:
            self.write()

    def write(self) -> Path:
        """Write table and overview; gives the overview's path.

        >>> import tempfile
        >>> Gradebook(Path(tempfile.mkdtemp()), "homework 1", []).write().name
        'index.html'
        """
        names = {self._slugs[each]: each.name for each in self.submissions}
        order = sorted(self.results, key=lambda each: (each.name.casefold(), each.file))
        alike = {each: tuple(names[slug] for slug in self._alike.get(self._slugs[each], ())) for each in order}
        rows = [
            OverviewRow(each.name, self.results[each], f"{self._slugs[each]}.html", each.file, alike[each])
            for each in order
        ]
        table = as_csv([(each, self.results[each]) for each in order], alike)
        write(self.folder / "grades.csv", table.encode("utf-8-sig"))  # so that Excel reads the letters right
        overview = self.folder / "index.html"
        waiting = len(self.submissions) - len(self.results)
        write(overview, overview_page(rows, self.title, waiting=waiting, confined=self.confined or ()).encode())
        self._written = time.monotonic()
        return overview


def as_csv(results: Results, alike: Mapping[Submission, Sequence[str]] | None = None) -> str:
    """The results as a table that any spreadsheet opens.

    >>> table = as_csv([(Submission("ada", Path("ada.py")), grade(teaching.SOURCE))])
    >>> row = next(csv.DictReader(io.StringIO(table)))
    >>> row["name"], row["verdict"], row["percent"], row["wrong"]
    ('ada', 'right', '100', '0')
    """
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for submission, report in results:
        found = standing(report)
        cells = [
            submission.name, submission.file, found.verdict, found.mark.score, found.mark.total,
            100 * found.mark.score // found.mark.total, found.wrong, found.not_there, found.not_judged,
            found.beyond.score, found.beyond.total,
            " | ".join(bug.sentence for bug in found.bugs), " | ".join(bug.sentence for bug in found.beyond_bugs),
            " | ".join(found.notes), ", ".join((alike or {}).get(submission, ())),
        ]  # fmt: skip
        table.writerow([_safe(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()


def _safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    text = text.replace("\r", " ").replace("\n", " ").replace("\t", " ")
    return f"'{text}" if text.lstrip()[:1] in tuple("=+-@＝＋－＠|%") else text


def _key(submission: Submission, settings: Mapping[str, Any]) -> str:
    """One number for what was handed in and for how it is judged."""
    whole = hashlib.sha256(repr((submission.name, submission.digest(), sorted(settings.items()), _grader())).encode())
    return whole.hexdigest()


_GRADER: list[str] = []


def _grader() -> str:
    """One number for the grader itself: another one may judge otherwise."""
    if not _GRADER:
        whole = hashlib.sha256(gradwalk.__version__.encode())
        for path in sorted(Path(__file__).parent.rglob("*.py")):
            whole.update(path.read_bytes())
        _GRADER.append(whole.hexdigest())
    return _GRADER[0]


def _slugs(submissions: Sequence[Submission]) -> dict[Submission, str]:
    """A name for each one's page, in letters that any system takes."""
    found, taken = {}, {"index"}
    for each in submissions:
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", each.name).strip("-")[:60] or "engine"
        slug, count = plain, 2
        while slug.lower() in taken:
            slug, count = f"{plain}-{count}", count + 1
        taken.add(slug.lower())
        found[each] = slug
    return found
