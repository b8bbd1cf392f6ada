"""`gradwalk grade`: judge somebody's own engine, and say which bug it has."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gradwalk.cli import options as option
from gradwalk.cli import screen
from gradwalk.diagnose import deno, processes
from gradwalk.diagnose.as_html import report_page
from gradwalk.diagnose.confinement import WAYS
from gradwalk.diagnose.elsewhere import grade_elsewhere
from gradwalk.diagnose.gradebook import Gradebook
from gradwalk.diagnose.marks import VERDICTS, exit_code, standing
from gradwalk.diagnose.sandbox import Judged, Limits, Start, judge_file
from gradwalk.diagnose.submissions import Submission, find, grade_all
from gradwalk.errors import SettingError
from gradwalk.learn.built_site import find_site
from gradwalk.messages import verbatim

__all__ = ["SUMMARY", "add_arguments", "run"]

#: What an engine may call by names that nobody would look for.
NAMES = {"data": "a node's number", "grad": "its gradient", "backward": "the walk back"}

SUMMARY = "judge an engine that somebody wrote, and name its bugs"

DESCRIPTION = """\
Run a home-made engine (a class such as Value, with operators and backward())
through a checklist. For each bug the report says which one it is, on which line
if that can be seen, and what to think about. Ops that are missing cost nothing.
The engine runs in processes of its own, which the system keeps from your files
and the network as far as it can; docs/teaching.md says how far that is. For
work that counts, or files of strangers, add --sandbox.

A folder holds one file, or one folder, for each person. All are judged;
grades.csv and an overview, index.html, are written as results come. Stop it
with Ctrl-C and run the same command again: it continues where it stopped.
"""

EXAMPLES = """\
examples:
  gradwalk grade engine.py
  gradwalk grade homework.ipynb --class Scalar --solution
  gradwalk grade engine.py --backward run_back --grad slope
  gradwalk grade engine.py --html report.html
  gradwalk grade submissions/ --out grades
  gradwalk grade submissions/ --sandbox
  gradwalk grade submissions/ --backend dask --address tcp://host:8786

exit codes:
  0  everything could be judged, and no essential check failed
  1  something essential is wrong in an engine, or one of several could not be
     judged (the table says which, and why)
  2  nothing could be judged, or the command line is wrong
  130  stopped by Ctrl-C; what was judged is written
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk grade`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> str(parser.parse_args(["engine.py"]).path)
    'engine.py'
    """
    add = parser.add_argument
    add("path", type=Path, metavar="PATH", help="a .py file, a notebook, or a folder of them")
    add("--class", dest="class_name", default="Value", metavar="NAME",
        help="the class to judge (default: Value, or else whatever looks like it)")  # fmt: skip
    for name, what in NAMES.items():
        add(f"--{name}", metavar="NAME", help=f"what the engine calls {what} (default: what is found there)")
    add("--solution", action="store_true", help="show solutions, not hints alone")
    add("--html", type=Path, metavar="FILE", help="write the report there as a page")
    add("--json", action="store_true", help="for machines: one JSON object, and nothing else")
    add("--out", type=Path, metavar="DIR",
        help="for a folder: where grades.csv and the pages go (default: grades)")  # fmt: skip
    add("--jobs", type=option.whole(1), metavar="N", help="for a folder: how many at a time (default: one a core)")
    add("--fresh", action="store_true", help="for a folder: judge all again, also what an earlier run has judged")
    add("--sandbox", action="store_true",
        help="run engines in Pyodide inside Deno, out of reach of this machine: for work that counts, and for files of "
        "strangers (pip install \"gradwalk[sandbox]\")")  # fmt: skip
    add("--backend", choices=("dask", "ray"), help="for a folder: on the workers of a cluster (default: here)")
    add("--address", metavar="URL", help="of the cluster (default: one that is started here)")
    add("--seconds", type=option.positive, default=Limits().program, metavar="S",
        help="the time for one program before it is stopped (default: %(default)g)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Judge as the options say.

    >>> main(["grade", "no-such-file.py"])
    2
    """
    _check(options)
    limits = Limits(program=options.seconds)
    if options.sandbox:  # it takes a while until there is a Python
        limits = replace(limits, loading=2 * limits.loading, total=2 * limits.total)
    apart = _in_deno() if options.sandbox else contextlib.nullcontext(processes.python)
    with _ended_by_signals(), apart as start:
        names = {name: given for name in NAMES if (given := getattr(options, name))}
        judge = partial(judge_file, class_name=options.class_name, names=names, limits=limits, start=start)
        if options.path.is_dir():
            return _many(judge, options)
        return _one(judge(options.path), options)


def _in_deno() -> contextlib.AbstractContextManager[Start]:
    site = find_site()
    folders = [path.parent for path in sorted((site / "pyodide").glob("*/started.bin"))]
    if not folders:
        raise SettingError(f"--sandbox needs Pyodide, which is not in {site / 'pyodide'}: build the course again")
    deno.deno_program()
    return deno.starter(folders[-1])


def _check(options: argparse.Namespace) -> None:
    path: Path = options.path
    if not path.exists():
        raise SettingError(f"there is no {path}")
    if options.address is not None and options.backend is None:
        raise SettingError("--address is that of a cluster; name its kind as well: --backend dask")
    if options.backend is not None and (path.is_file() or options.sandbox):
        trouble = "is for a folder" if path.is_file() else "and --sandbox do not go together: Deno runs on this machine"
        raise SettingError(f"--backend {trouble}")
    if path.is_file() and path.suffix.lower() not in (".py", ".ipynb"):
        raise SettingError(f"{path} is neither Python (.py) nor a notebook (.ipynb)")
    if path.is_file() and options.out is not None:
        raise SettingError("--out is for a folder; the page of one engine goes to --html FILE")
    if path.is_dir() and options.html is not None:
        raise SettingError("--html is for one engine; a folder's pages go to the folder that --out names")
    if options.html is not None:
        option.can_write(options.html)
    if path.is_dir():
        options.out = options.out or Path("grades")
        try:
            options.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"cannot write to {options.out}: {error.strerror or error}") from error
        for name in ("grades.csv", "index.html"):
            option.can_write(options.out / name)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """While it lasts, a signal that asks this program to end does so in order: no engine is left running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    wanted = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _one(judged: Judged, options: argparse.Namespace) -> int:
    report = judged.grade
    apart = _apart(judged.confined)
    if options.html is not None:
        told = replace(report, notes=(*report.notes, verbatim(apart))) if apart else report
        page = report_page(told, options.path.name, solution=options.solution)
        options.html.write_text(page, encoding="utf-8")
    if options.json:
        whole = {**report.to_dict(), **_standing(judged)}
        print(json.dumps(whole, indent=2, allow_nan=False))  # noqa: T201
    else:
        print(report.text(solution=options.solution))  # noqa: T201
        if apart:
            print(f"\n{apart}")  # noqa: T201
        if options.html is not None:
            print(f"the report as a page: {options.html}")  # noqa: T201
    return exit_code([standing(report).verdict])


def _standing(judged: Judged) -> dict[str, Any]:
    """What JSON says beside the report."""
    found = standing(judged.grade)
    return {"verdict": found.verdict, "mark": vars(found.mark), "confined": list(judged.confined)}


def _apart(confined: tuple[str, ...]) -> str:
    return (
        f"how the engine was kept apart: {', '.join(WAYS[way] for way in confined if way in WAYS)}" if confined else ""
    )


def _many(judge: partial[Judged], options: argparse.Namespace) -> int:
    out = screen.console(stderr=options.json)
    submissions = find(options.path, leave_out=options.out)
    settings = {"class": options.class_name, "seconds": options.seconds, "sandbox": options.sandbox,
                **judge.keywords["names"]}  # fmt: skip
    title = options.path.resolve().name
    book = Gradebook(options.out, title, submissions, settings=settings, solution=options.solution)
    results = dict([] if options.fresh else book.earlier())
    for submission, judged in results.items():
        book.add(submission, judged)
    if results:
        out.print(f"{len(results)} of {len(submissions)} were judged by an earlier run (--fresh judges them again)")

    def judge_one(submission: Submission, stop: threading.Event) -> Judged:
        return judge(submission.path, root=submission.root, alone=submission.root is None, stop=stop)

    waiting = [submission for submission in submissions if submission not in results]
    if options.backend is None:
        running = grade_all(waiting, judge_one, jobs=options.jobs)
    else:
        running = grade_elsewhere(
            waiting, backend=options.backend, address=options.address, jobs=options.jobs,
            class_name=options.class_name, names=judge.keywords["names"], limits=Limits(program=options.seconds),
        )  # fmt: skip
    try:
        for submission, judged in screen.counted(running, len(waiting), "judging", out):
            results[submission] = judged
            book.add(submission, judged)
    except KeyboardInterrupt:
        left = len(submissions) - len(results)
        out.print(f"{len(results)} judged, {left} to come: the same command goes on from here")
        raise
    finally:
        running.close()
        overview = book.write()
    if options.json:
        whole = [
            {"name": who.name, "file": who.file, **judged.grade.to_dict(), **_standing(judged)}
            for who, judged in sorted(results.items(), key=lambda pair: (pair[0].name, pair[0].file))
        ]
        print(json.dumps(whole, indent=2, allow_nan=False))  # noqa: T201
    else:
        counts = Counter(standing(judged.grade).verdict for judged in results.values())
        told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
        out.print(f"{len(results)} engine{'s' * (len(results) != 1)}: {told}", markup=False)
        apart = _apart(book.confined or ())
        if apart:
            out.print(apart.replace("the engine was", "the engines were"), soft_wrap=True, markup=False)
        out.print(f"overview: {overview}\ntable:    {overview.parent / 'grades.csv'}", soft_wrap=True, markup=False)
    return exit_code(standing(judged.grade).verdict for judged in results.values())
