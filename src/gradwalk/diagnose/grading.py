"""`grade(...)`: an engine through the whole checklist, in this process."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

from gradwalk.diagnose.adapter import Engine, NotAnEngine, find_class
from gradwalk.diagnose.blame import diagnose
from gradwalk.diagnose.checks import CHECKS, Check, select
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.museum.faults import engine_with
from gradwalk.diagnose.probes import Quiet, line_of
from gradwalk.diagnose.results import CheckResult, Diagnosis, Grade

__all__ = ["CheckResult", "Diagnosis", "Grade", "grade"]

Target = type[Any] | str | Mapping[str, Any] | Examination
FILE = "<engine>"
NODES = 1000  # in the chain that is timed


def grade(
    target: Target,
    *,
    source: str | None = None,
    checks: Iterable[str] | None = None,
    class_name: str = "Value",
    diagnosing: bool = True,
) -> Grade:
    """Judge an engine: a class, a namespace that holds one, the source text of one, or an examination that has begun.

    It runs in this process: what it is given must be trusted, or the process must be a sandbox. `checks` names checks
    or groups of checks; without it all are run. `source` is where guilty lines are looked for. Without `diagnosing`
    the report says what is wrong, and not why.

    >>> from gradwalk.diagnose import teaching
    >>> report = grade(teaching.SOURCE.replace("self.grad += y * out.grad", "self.grad = y * out.grad"))
    >>> report.passed
    False
    """
    chosen = select(None if checks is None else list(checks))
    limit = sys.getrecursionlimit()
    try:
        with redirect_stdout(Quiet()):
            examination, source = _examination(target, source, class_name)
            return _report(examination, source, chosen, diagnosing)
    except NotAnEngine as error:
        return Grade((CheckResult("loads", "construction", "the engine can be used", "error", message=str(error)),))
    finally:
        sys.setrecursionlimit(limit)  # an engine that recurses raises it


def _report(examination: Examination, source: str | None, chosen: tuple[Check, ...], diagnosing: bool) -> Grade:
    if examination.shares_state():  # nothing else can be judged then, whatever was asked for
        chosen = tuple(dict.fromkeys([CHECKS["own-state"], *chosen]))
    results = [examination.judge(check) for check in chosen if not check.extra or examination.has(check.extra)]
    causes, notes = _causes(examination, source, results) if diagnosing else ({}, ())
    told = tuple(replace(result, diagnosis=causes.get(result.name)) for result in results)
    if chosen == select():
        if examination.speed is None:
            examination.speed = _speed(examination)
        notes += examination.speed
    return Grade(told, tuple(dict.fromkeys(causes.values())), notes, examination.engine.cls.__name__)


def _causes(
    examination: Examination, source: str | None, results: list[CheckResult]
) -> tuple[dict[str, Diagnosis], tuple[str, ...]]:
    """A diagnosis for each failed check; an engine that cannot even be looked at must not cost the whole report."""
    try:
        return diagnose(examination, source, results), ()
    except Exception as error:
        return {}, (f"no diagnosis could be made: {type(error).__name__}: {error}",)


def _examination(target: Target, source: str | None, class_name: str) -> tuple[Examination, str | None]:
    if isinstance(target, Examination):
        return target, source
    if isinstance(target, type):
        module = inspect.getmodule(target)
        return Examination(Engine(target, vars(module) if module else {})), source or _source_of(target)
    if isinstance(target, str):
        source, target = target, _run(target)
    return Examination(Engine(find_class(target, class_name), target)), source


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


# --- speed, as a courtesy: nothing depends on it ---------------------------------------------------------------------


def _speed(examination: Examination) -> tuple[str, ...]:
    """A note on the time that an engine takes for a chain of additions; nothing for one that gets them wrong."""
    if any(examination.judge(CHECKS[name]).status != "passed" for name in ("chain-add", "deep")):
        return ()
    ours, theirs = _microseconds(engine_with(())), _microseconds(examination.engine)
    return (f"an addition and its way back take {theirs:.2g} µs; the teaching engine takes {ours:.2g} µs",)


def _microseconds(engine: Engine) -> float:
    """For one addition and its share of the walk, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        nodes = [engine.leaf(1.0)]
        for _ in range(NODES):
            nodes.append(engine.op("add", nodes[-1], nodes[0]))
        engine.backward(nodes[-1])
        best = min(best, time.perf_counter() - start)
        while nodes:  # newest first, which takes no deep stack
            nodes.pop()
    return best / NODES * 1e6
