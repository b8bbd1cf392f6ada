"""What the page shows of an engine at work: its walk, line by line, and what the instrument says."""

from __future__ import annotations

import math
from typing import Any, cast

from gradwalk.diagnose.adapter import Engine, NotAnEngine
from gradwalk.diagnose.probes import Probe, run
from gradwalk.engine import Value
from gradwalk.layout import layout_of
from gradwalk.learn.page.hunting.cases import Case
from gradwalk.learn.page.hunting.instrument import agree, checked, stopped
from gradwalk.learn.page.hunting.recorder import EngineEvent, RecordedEngine, TwoRuns, engine_of, graph_of_run, watch
from gradwalk.learn.page.hunting.shapes import HuntEvent, Instrument, Measured, Seen, Slot, Wrong
from gradwalk.learn.page.sandbox import LearnerError, execute, guarded, out_of_steps
from gradwalk.walk.json_fields import encoded

__all__ = ["shown"]

LINES = 200_000


def shown(case: Case, text: str | None = None) -> Seen:
    """The walk of a case as it is, or of what the learner has made of it, and the instrument's table.

    >>> seen = shown(case_of("overwriting"))
    >>> [mark["name"] for mark in seen["wrong"]], seen["check"]["leaves"][0]["said"]
    (['a', 'b'], 3.0)
    """
    program = case.program if case.where == "engine" or text is None else text
    engine = case.engine if case.where != "engine" or text is None else text
    if not case.drawn:
        return {
            "graph": None,
            "layout": None,
            "events": [],
            "wrong": [],
            "check": _without_graph(case, engine, program),
            "engine": _aside(case, engine),
        }
    if text is None:
        cls, namespace = engine_of(engine)
        return _seen(case, program, engine, watch(program, cls, namespace), cls, namespace)
    space = execute(engine, {"__name__": "engine"}, name="engine", budget=LINES)
    with guarded(budget=LINES):
        try:
            cls, namespace = engine_of(engine, space)
        except NotAnEngine as error:
            raise LearnerError("NotAnEngine", str(error)) from None
        seen = watch(program, cls, namespace)
        if seen.outcome.error == "_OutOfSteps":
            raise LearnerError("OutOfSteps", out_of_steps(LINES))
        return _seen(case, program, engine, seen, cls, namespace)


def _seen(case: Case, program: str, engine: str, seen: TwoRuns, cls: type[Any], namespace: Any) -> Seen:
    graph, ids = graph_of_run(seen.ours)
    names = graph.nodes
    ours = seen.ours  # what each node should hold; of a program that is wrong itself, only what its repaired form says
    named = {name.removesuffix(".grad"): x for name, x in case.specimen.right.items() if name.endswith(".grad")}
    right = [(ours.data(node), ours.grad(node) if case.where == "engine" else named.get(ours.labels.get(place, "")))
             for place, node in enumerate(ours.made)]  # fmt: skip
    wrong: list[Wrong] = []
    slots: tuple[tuple[Slot, float, float | None], ...]
    for place in range(min(len(seen.watched.made), len(seen.ours.made))):
        node = seen.watched.made[place]
        slots = (
            ("data", seen.watched.data(node), right[place][0]),
            ("grad", _grad(seen.watched, node), right[place][1]),
        )
        for slot, got, wanted in slots:
            if wanted is not None and not agree(got, wanted) and not (math.isnan(got) and math.isnan(wanted)):
                wrong.append(Wrong(node=ids[place], name=names[ids[place]].name, slot=slot, got=got, right=wanted))
    return {
        "graph": graph.to_dict(),
        "layout": layout_of(graph),
        "events": [_event(event, ids, graph) for event in seen.watched.events],
        "wrong": wrong if seen.outcome.kind == "numbers" else [],
        "check": checked(program, cls, namespace, seen.outcome, seen.watched, case.counts),
        "engine": _aside(case, engine),
    }


def _aside(case: Case, engine: str) -> str | None:
    """The engine's source, where the text to mend is something else."""
    return None if case.where == "engine" else engine


def _grad(watched: RecordedEngine, node: Any) -> float:
    try:
        return watched.grad(node)
    except (TypeError, ValueError):
        return math.nan


def _event(event: EngineEvent, ids: list[int], graph: Any) -> HuntEvent:
    """With the ids of the graph; a position counts operands that are constants as well."""
    plain = dict(vars(event))
    plain["node"] = ids[event.node]
    if event.operand is not None and event.position is not None:
        plain["operand"] = ids[event.operand]
        operands = graph.nodes[plain["node"]].operands
        same = [at for at, operand in enumerate(operands) if not graph.nodes[operand].constant]
        plain["position"] = same[event.position] if event.position < len(same) else 0
    return cast(HuntEvent, encoded(plain))


def _without_graph(case: Case, engine: str, program: str) -> Instrument:
    """The numbers of a program that is too large to draw, or has nothing to draw."""
    cls, namespace = engine_of(engine)
    see = tuple(case.specimen.right)
    kind = RecordedEngine if case.where == "checker" else Engine
    outcome = run(Probe("", program, see), kind(cls, namespace))
    right = run(Probe("", case.mended if case.where != "engine" else program, see), Engine(Value, {}))
    if outcome.kind != "numbers":
        return {"value": None, "leaves": [], "stopped": stopped(outcome)}
    pairs = [(name, float(x), float(right.numbers[name])) for name, x in outcome.numbers.items()]
    rows = [Measured(name=name, said=said, measured=wanted, ok=agree(said, wanted)) for name, said, wanted in pairs]
    return {"value": None, "leaves": rows, "stopped": None}
