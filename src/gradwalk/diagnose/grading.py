"""`grade(...)`: an engine through the whole checklist, in this process."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from gradwalk.diagnose.adapter import NO_RUN, Engine, NotAnEngine, find_class
from gradwalk.diagnose.blame import diagnose
from gradwalk.diagnose.checks import CHECKS, Check, select
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.loading import refuse_input, run_statements
from gradwalk.diagnose.museum.faults import engine_with
from gradwalk.diagnose.places import Where, in_words, where_in_cells
from gradwalk.diagnose.probes import Quiet
from gradwalk.diagnose.results import CheckResult, Diagnosis, Grade, not_judged
from gradwalk.diagnose.vocabulary import BINARY, EXTRA, UNARY
from gradwalk.messages import Message, joined, reason_of, say, verbatim

__all__ = ["CheckResult", "Diagnosis", "Grade", "grade"]

Target = type[Any] | str | Mapping[str, Any] | Examination
FILE = "<engine>"
NODES = 300  # in the chain that is timed
NO_WALK = say("there is no backward() yet")
BY_HAND = say("each node's own push was called by hand, newest first")
BY_LOCALS = say("upstream was multiplied by the derivatives that each node keeps, newest node first")


def grade(
    target: Target,
    *,
    source: str | None = None,
    checks: Iterable[str] | None = None,
    class_name: str = "Value",
    names: Mapping[str, str] | None = None,
    diagnosing: bool = True,
) -> Grade:
    """Judge an engine: a class, a namespace that holds one, the source text of one, or an examination that has begun.

    It runs in this process: what it is given must be trusted, or the process must be a sandbox. `checks` names checks
    or groups of checks; without it all are run. `source` is where guilty lines are looked for. `names` says what the
    engine calls its `data`, `grad` and `backward`, where that cannot be seen. Without `diagnosing` the report says what
    is wrong, and not why.

    >>> from gradwalk.diagnose import teaching
    >>> report = grade(teaching.SOURCE.replace("self.grad += y * out.grad", "self.grad = y * out.grad"))
    >>> report.passed
    False
    """
    chosen = select(None if checks is None else list(checks))
    limit = sys.getrecursionlimit()
    asked, builtins.input = builtins.input, refuse_input
    try:
        with redirect_stdout(Quiet()):
            examination, source, notes = _examination(target, source, class_name, names)
            other, text = _second_file(examination.engine)
            report = _report(examination, text if other else source, chosen, diagnosing)
            report = replace(report, notes=(*notes, *report.notes))
            where: Where | None = (lambda line: (line, other)) if other else where_in_cells(source or "")
            return _placed(report, where) if where else report
    except NotAnEngine as error:
        return not_judged(reason_of(error), say("the engine can be used"))
    finally:
        builtins.input = asked
        sys.setrecursionlimit(limit)  # an engine that recurses raises it


def _report(examination: Examination, source: str | None, chosen: tuple[Check, ...], diagnosing: bool) -> Grade:
    if not any(map(examination.has, (*BINARY, "neg", *UNARY, *EXTRA))):
        name = examination.engine.cls.__name__
        raise NotAnEngine(
            say("{name} has no op yet: no operator, and no method or function with the name of one", name=name)
        )
    if examination.shares_state():  # nothing else can be judged then, whatever was asked for
        chosen = tuple(dict.fromkeys([CHECKS["own-state"], *chosen]))
    results = [examination.judge(check) for check in chosen if not check.extra or examination.has(check.extra)]
    causes, found, notes = _causes(examination, source, results) if diagnosing else ({}, (), ())
    told = tuple(replace(result, diagnosis=causes.get(result.name)) for result in results)
    if examination.engine.walks_by_hand:
        lacking = examination.engine.lacking
        why = say("{no_run}, as {lacking}", no_run=NO_RUN, lacking=lacking) if lacking else NO_WALK
        push = examination.engine.push
        instead = BY_LOCALS if push is not None and push.takes == "locals" else BY_HAND
        notes += (say("{why}: {instead}", why=why, instead=instead),)
    if chosen == select():
        if examination.speed is None:
            examination.speed = _speed(examination)
        notes += examination.speed
        unknown = examination.engine.unknown_ops()
        if unknown:
            notes += (say("not checked, as the checklist does not know them: {ops}", ops=", ".join(unknown)),)
    return Grade(told, found, notes, examination.engine.cls.__name__)


def _causes(
    examination: Examination, source: str | None, results: list[CheckResult]
) -> tuple[dict[str, Diagnosis], tuple[Diagnosis, ...], tuple[Message, ...]]:
    """A diagnosis for each failed check; an engine that cannot even be looked at must not cost the whole report."""
    try:
        return *diagnose(examination, source, results), ()
    except Exception as error:
        said = say("{error}: {said}", error=type(error).__name__, said=str(error))
        return {}, (), (say("no diagnosis could be made: {why}", why=said),)


def _examination(
    target: Target, source: str | None, class_name: str, names: Mapping[str, str] | None
) -> tuple[Examination, str | None, tuple[Message, ...]]:
    if isinstance(target, Examination):
        return target, source, ()
    if isinstance(target, type):
        module = inspect.getmodule(target)
        return Examination(Engine(target, vars(module) if module else {}, names)), source or _source_of(target), ()
    if isinstance(target, str):
        namespace, notes = _run(target)
        try:
            return Examination(Engine(find_class(namespace, class_name), namespace, names)), target, notes
        except NotAnEngine as error:
            stopped = [note.parts["what"] for note in notes if "what" in note.parts]
            raise NotAnEngine(joined(*map(verbatim, stopped), reason_of(error), by="; ")) from error
    return Examination(Engine(find_class(target, class_name), target, names)), source, ()


def _run(source: str) -> tuple[dict[str, Any], tuple[Message, ...]]:
    """What a source text defines, and what stopped it on the way."""
    module = ModuleType("engine")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise NotAnEngine(say("line {line} is no Python: {said}", line=error.lineno, said=error.msg)) from error
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # a dataclass looks its annotations up there
    try:
        return vars(module), tuple(run_statements(tree, vars(module), FILE))
    finally:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before


def _source_of(cls: type[Any]) -> str | None:
    """The whole file that a class is from, so that line numbers are those of the file."""
    try:
        module = inspect.getmodule(cls)
        return inspect.getsource(module) if module else None
    except (OSError, TypeError):
        return None


def _second_file(engine: Engine) -> tuple[str, str | None]:
    """The name of the file that an engine is written in, and its text, if it is not the one that was handed in."""
    main = engine.namespace.get("__file__")
    if not isinstance(main, str) or len(engine.files) != 1 or main in engine.files:
        return "", None
    file = Path(next(iter(engine.files)))
    try:
        with file.open("rb") as text:
            return file.name, importlib.util.decode_source(text.read())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return "", None


def _placed(report: Grade, where: Where) -> Grade:
    """A report whose sentences say where each line is."""

    def diagnosis(found: Diagnosis) -> Diagnosis:
        return replace(found, sentence=verbatim(in_words(found.sentence, where)))

    def check(result: CheckResult) -> CheckResult:
        cause = result.diagnosis and diagnosis(result.diagnosis)
        return replace(result, message=verbatim(in_words(result.message, where)), diagnosis=cause)

    return replace(
        report, checks=tuple(map(check, report.checks)), diagnoses=tuple(map(diagnosis, report.diagnoses)),
        notes=tuple(verbatim(in_words(note, where)) for note in report.notes),
    )  # fmt: skip


# --- speed, as a courtesy: nothing depends on it ---------------------------------------------------------------------


def _speed(examination: Examination) -> tuple[Message, ...]:
    """A note on the time that an engine takes for a chain of additions; nothing for one that gets them wrong."""
    if any(examination.judge(CHECKS[name]).status != "passed" for name in ("chain-add", "deep")):
        return ()
    ours, theirs = _microseconds(engine_with(())), _microseconds(examination.engine)
    told = say(
        "an addition and its way back take {theirs} µs; the teaching engine takes {ours} µs",
        theirs=f"{theirs:.2g}",
        ours=f"{ours:.2g}",
    )
    return (told,)


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
