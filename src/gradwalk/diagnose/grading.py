"""`grade(...)`: an engine through the whole checklist, in this process."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

from gradwalk.diagnose.adapter import Engine, NotAnEngine, find_class
from gradwalk.diagnose.checks import CHECKS, Check, select
from gradwalk.diagnose.diagnosis import diagnose
from gradwalk.diagnose.programs import Quiet, line_of
from gradwalk.diagnose.report import CheckResult, Diagnosis, Report
from gradwalk.diagnose.speed import speed_notes
from gradwalk.diagnose.trial import Trial

__all__ = ["CheckResult", "Diagnosis", "Report", "grade"]

Target = type[Any] | str | Mapping[str, Any] | Trial
FILE = "<engine>"


def grade(
    target: Target,
    *,
    source: str | None = None,
    checks: Iterable[str] | None = None,
    class_name: str = "Value",
    diagnosing: bool = True,
) -> Report:
    """Judge an engine: a class, a namespace that holds one, the source text of one, or a trial that has begun.

    It runs in this process: what it is given must be trusted, or the process must be a sandbox. `checks` names checks
    or groups of checks; without it all are run. `source` is where guilty lines are looked for. Without `diagnosing`
    the report says what is wrong, and not why.

    >>> from gradwalk.diagnose import grade, teaching
    >>> report = grade(teaching.SOURCE.replace("self.grad += y * out.grad", "self.grad = y * out.grad"))
    >>> report.passed
    False
    """
    chosen = select(None if checks is None else list(checks))
    limit = sys.getrecursionlimit()
    try:
        with redirect_stdout(Quiet()):
            trial, source = _trial(target, source, class_name)
            return _report(trial, source, chosen, diagnosing)
    except NotAnEngine as error:
        return Report((CheckResult("loads", "construction", "the engine can be used", "error", message=str(error)),))
    finally:
        sys.setrecursionlimit(limit)  # an engine that recurses raises it


def _report(trial: Trial, source: str | None, chosen: tuple[Check, ...], diagnosing: bool) -> Report:
    if trial.shares_state():  # nothing else can be judged then, whatever was asked for
        chosen = tuple(dict.fromkeys([CHECKS["own-state"], *chosen]))
    results = [trial.judge(check) for check in chosen if not check.extra or trial.has(check.extra)]
    causes, notes = _causes(trial, source, results) if diagnosing else ({}, ())
    told = tuple(replace(result, diagnosis=causes.get(result.name)) for result in results)
    if chosen == select():
        notes += speed_notes(trial)
    return Report(told, tuple(dict.fromkeys(causes.values())), notes, trial.engine.cls.__name__)


def _causes(
    trial: Trial, source: str | None, results: list[CheckResult]
) -> tuple[dict[str, Diagnosis], tuple[str, ...]]:
    """A diagnosis for each failed check; an engine that cannot even be looked at must not cost the whole report."""
    try:
        return diagnose(trial, source, results), ()
    except Exception as error:
        return {}, (f"no diagnosis could be made: {type(error).__name__}: {error}",)


def _trial(target: Target, source: str | None, class_name: str) -> tuple[Trial, str | None]:
    if isinstance(target, Trial):
        return target, source
    if isinstance(target, type):
        module = inspect.getmodule(target)
        return Trial(Engine(target, vars(module) if module else {})), source or _source_of(target)
    if isinstance(target, str):
        source, target = target, _run(target)
    return Trial(Engine(find_class(target, class_name), target)), source


def _run(source: str) -> dict[str, Any]:
    """What a source text defines."""
    namespace: dict[str, Any] = {"__name__": "engine"}
    try:
        exec(compile(source, FILE, "exec"), namespace)
    except SyntaxError as error:
        raise NotAnEngine(f"line {error.lineno} is no Python: {error.msg}") from error
    except (Exception, SystemExit) as error:
        line = line_of(error, {FILE})
        raise NotAnEngine(f"line {line} stops with {type(error).__name__}: {error}") from error
    return namespace


def _source_of(cls: type[Any]) -> str | None:
    """The whole file that a class is from, so that line numbers are those of the file."""
    try:
        module = inspect.getmodule(cls)
        return inspect.getsource(module) if module else None
    except (OSError, TypeError):
        return None
