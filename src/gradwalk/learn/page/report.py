"""The learner's engine judged in the page: the same file, the same checks and the same words as `gradwalk grade`."""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradwalk.diagnose.adapter import Engine, NotAnEngine, find_class
from gradwalk.diagnose.checks import BEYOND, GROUPS
from gradwalk.diagnose.loading import Loaded, load
from gradwalk.diagnose.report import CheckResult, Report
from gradwalk.learn.page.judging import LINES, Watchful
from gradwalk.learn.page.sandbox import LearnerError, guarded, watch_over

__all__ = ["run"]


def run(source: str, left_out: Collection[int] = (), class_name: str = "Value") -> dict[str, Any]:
    """Judge the text of an engine's file. As it goes, a line for each program is printed: checks done, of all, which.

    `left_out` are the numbers of programs that ended the worker before: those are not tried again.

    >>> from contextlib import redirect_stdout
    >>> from io import StringIO
    >>> from gradwalk.diagnose import museum
    >>> from gradwalk.learn.page.report import run
    >>> with redirect_stdout(StringIO()) as told:
    ...     found = run(museum.find("root-twice").source())
    >>> found["report"]["diagnoses"][0]["specimen"], found["report"]["essentials"]["score"] > 0
    ('root-twice', True)
    >>> told.getvalue().splitlines()[1].split(" ", 3)
    ['0', '103', '1', 'Value(2.5) holds 2.5 and gradient 0']
    """
    report = _judged(source, left_out, class_name)
    return {"report": report.to_dict(), "groups": dict(GROUPS), "beyond": sorted(BEYOND)}


def _judged(source: str, left_out: Collection[int], class_name: str) -> Report:
    out = sys.stdout  # while an engine is judged, what it prints goes nowhere

    def tell(done: int, of: int, doing: str, programs: int) -> None:
        out.write(f"{done} {of} {programs} {doing}\n")
        out.flush()

    with tempfile.TemporaryDirectory(prefix="gradwalk-") as folder:
        path = Path(folder) / "engine.py"
        path.write_text(source, encoding="utf-8")
        watch_over(str(path))
        try:
            ast.parse(source, str(path))
            loaded, notes = _loaded(path)
            with guarded(budget=LINES):
                engine = Engine(find_class(loaded.namespace, class_name), loaded.namespace)
        except SyntaxError as error:
            return _refused(f"line {error.lineno} is no Python: {error.msg}")
        except LearnerError as error:
            known = isinstance(error.__cause__, NotAnEngine)
            return _refused(str(error) if known else f"the file cannot be loaded: {error.kind}: {error}")
        report = Watchful(engine, tell, left_out).report(loaded.source)
        return replace(report, notes=(*notes, *loaded.notes, *report.notes))


def _loaded(path: Path) -> tuple[Loaded, tuple[str, ...]]:
    """What the file defines; of one that does not end, its definitions alone."""
    try:
        with guarded(budget=LINES):
            return load(path), ()
    except LearnerError as error:
        if error.kind != "OutOfSteps":
            raise
        note = f"running the whole file did not work ({error}): only its definitions were used"
        with guarded(budget=LINES):
            return load(path, definitions_only=True), (note,)


def _refused(why: str) -> Report:
    return Report((CheckResult("loads", "construction", "the engine can be judged", "error", message=why),))
