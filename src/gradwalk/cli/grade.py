"""`gradwalk grade`: judge somebody's own engine, and say which bug it has."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from gradwalk.cli import options as option
from gradwalk.cli import screen
from gradwalk.diagnose.as_html import report_page
from gradwalk.diagnose.results import Grade
from gradwalk.diagnose.sandbox import Limits, grade_file
from gradwalk.diagnose.submissions import Submission, find, grade_all, write_results
from gradwalk.errors import SettingError

__all__ = ["SUMMARY", "add_arguments", "run"]

#: What an engine may call by names that nobody would look for.
NAMES = {"data": "a node's number", "grad": "its gradient", "backward": "the walk back"}

SUMMARY = "judge an engine that somebody wrote, and name its bugs"

DESCRIPTION = """\
Run a home-made engine (a class such as Value, with operators and backward())
through a checklist, and say of what is wrong which bug it is, on which line if
that can be seen, and what to think about. Ops that are not there yet are not
held against it. The engine runs in a process of its own, with limits on time,
memory and what it may touch; still, do not run what you would not trust at all.

A folder holds one file, or one folder, for each person. All are judged side by
side; grades.csv and an overview, index.html, are written.
"""

EXAMPLES = """\
examples:
  gradwalk grade engine.py
  gradwalk grade homework.ipynb --class Scalar --solution
  gradwalk grade engine.py --backward run_back --grad slope
  gradwalk grade engine.py --html report.html
  gradwalk grade submissions/ --out grades

exit codes: 0 right in all it implements; 1 something is wrong; 2 nothing could
be judged
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk grade`.

    >>> from gradwalk.cli import grade
    >>> parser = argparse.ArgumentParser()
    >>> grade.add_arguments(parser)
    >>> str(parser.parse_args(["engine.py"]).path)
    'engine.py'
    """
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    add = parser.add_argument
    add("path", type=Path, metavar="PATH", help="a .py file, a notebook, or a folder of them")
    add("--class", dest="class_name", default="Value", metavar="NAME",
        help="the class to judge (default: Value, or else whatever looks like it)")  # fmt: skip
    for name, what in NAMES.items():
        add(f"--{name}", metavar="NAME", help=f"what the engine calls {what}, where that is not found")
    add("--solution", action="store_true", help="show solutions, not hints alone")
    add("--html", type=Path, metavar="FILE", help="write the report there as a page")
    add("--json", action="store_true", help="for machines: one JSON object, and nothing else")
    add("--out", type=Path, default=Path("grades"), metavar="DIR",
        help="for a folder: where grades.csv and the pages go (default: grades)")  # fmt: skip
    add("--jobs", type=option.whole(1), metavar="N", help="for a folder: how many at a time (default: one a core)")
    add("--seconds", type=option.positive, default=Limits().program, metavar="S",
        help="the time for one program before it is stopped (default: %(default)g)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Judge as the options say.

    >>> from gradwalk.cli import main
    >>> main(["grade", "no-such-file.py"])
    2
    """
    _check(options)
    names = {name: given for name in NAMES if (given := getattr(options, name))}
    judge = partial(grade_file, class_name=options.class_name, names=names, limits=Limits(program=options.seconds))
    if options.path.is_dir():
        return _many(find(options.path), judge, options)
    return _one(judge(options.path), options)


def _check(options: argparse.Namespace) -> None:
    path: Path = options.path
    if not path.exists():
        raise SettingError(f"there is no {path}")
    if path.is_file() and path.suffix not in (".py", ".ipynb"):
        raise SettingError(f"{path} is neither Python (.py) nor a notebook (.ipynb)")
    if path.is_dir() and options.html is not None:
        raise SettingError("--html is for one engine; a folder's pages go to the folder that --out names")
    if options.html is not None:
        option.can_write(options.html)


def _one(report: Grade, options: argparse.Namespace) -> int:
    if options.html is not None:
        page = report_page(report, options.path.name, solution=options.solution)
        options.html.write_text(page, encoding="utf-8")
    if options.json:
        print(json.dumps(report.to_dict(), indent=2, allow_nan=False))  # noqa: T201
    else:
        print(report.text(solution=options.solution))  # noqa: T201
        if options.html is not None:
            print(f"the report as a page: {options.html}")  # noqa: T201
    return _code(report)


def _many(submissions: list[Submission], judge: partial[Grade], options: argparse.Namespace) -> int:
    out = screen.console(stderr=options.json)
    results: list[tuple[Submission, Grade]] = []
    judged = grade_all(submissions, judge, jobs=options.jobs)
    try:
        for done in screen.counted(judged, len(submissions), "judging", out):
            results.append(done)  # noqa: PERF402 - one by one, so that what is done is there when it is broken off
    finally:  # stopped half-way, what was judged is still told
        if results:
            overview = write_results(results, options.out, options.path.resolve().name, solution=options.solution)
    if options.json:
        whole = [{"name": who.name, "file": str(who.path), **report.to_dict()} for who, report in results]
        print(json.dumps(sorted(whole, key=lambda entry: str(entry["name"])), indent=2, allow_nan=False))  # noqa: T201
    else:
        right = sum(report.passed for _, report in results)
        out.print(f"{len(results)} engines judged, {right} right in all they implement")
        out.print(f"overview: {overview}\ntable:    {overview.parent / 'grades.csv'}", soft_wrap=True)
    return max(_code(report) for _, report in results)


def _code(report: Grade) -> int:
    if any(check.name == "loads" and check.status == "error" for check in report.checks):
        return 2
    return 0 if report.passed else 1
