"""The shapes of what Python hands to the page, as TypeScript: made from the classes that make them.

    python -m gradwalk.learn.page.schema > web/src/python/schema.ts

A test fails where the file differs from what this prints, so there is one schema in two languages.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

from gradwalk.diagnose.results import CheckResult, Diagnosis, Mark
from gradwalk.explain.views import HeatMap
from gradwalk.learn.page import exercises, folding, grading, naming, rolling, scripts
from gradwalk.learn.page.answer import CheckRow, Contribution, LedgerShown, LineOfError, Result
from gradwalk.learn.page.bridge import Answer
from gradwalk.learn.page.hunting import shapes
from gradwalk.learn.page.matrix_picture import MatrixPicture
from gradwalk.learn.page.programs import WORDS, Drawn, Failed
from gradwalk.learn.page.recordings import Material, PresetEntry, TensorEntry, TrainingEntry
from gradwalk.learn.page.sandbox import Failure
from gradwalk.learn.page.training import Points, Training
from gradwalk.messages import Message
from gradwalk.walk import AlreadyVisited, Compute, Doubled, Enter, Leave, Missing, NodeInfo, Push, Seed, Visit

__all__ = ["SHAPES", "ComparedRow", "RecordedComparisons", "typescript"]


class ComparedRow(TypedDict):
    """Some lines of both programs, and what each printed.

    >>> ComparedRow(name="import", ours="", theirs="import torch", oursPrinted="", theirsPrinted="")["theirs"]
    'import torch'
    """

    name: str
    ours: str
    theirs: str
    oursPrinted: str
    theirsPrinted: str


class RecordedComparisons(TypedDict):
    """Every comparison by its name, and the PyTorch that ran.

    >>> RecordedComparisons(torch="2.13.0", comparisons={})["torch"]
    '2.13.0'
    """

    torch: str
    comparisons: dict[str, list[ComparedRow]]


WALK = (Compute, Seed, Visit, Push)
SEARCH = (Enter, AlreadyVisited, Leave)
PAGE: tuple[type, ...] = (
    *(Failure, Answer, Failed, HeatMap, Drawn, Points, Training, PresetEntry, TensorEntry, TrainingEntry, Material),
    *(scripts.Ran, naming.Naming, naming.Facts, folding.Cell, folding.Block, folding.Folding),
    *(MatrixPicture, rolling.Pictures, rolling.RolledStep, rolling.Rolled),
    *(rolling.Roll, rolling.RollMaterial),
    *(exercises.TabEntry, exercises.ExerciseEntry, exercises.EnginePart, exercises.EngineText),
    *(exercises.ExerciseMaterial, CheckRow, Contribution, LedgerShown, LineOfError, Result),
    *(shapes.HuntEvent, shapes.Wrong, shapes.Measured, shapes.Stopped, shapes.Instrument, shapes.Seen, shapes.Choice),
    *(shapes.CaseShown, shapes.HuntMaterial),
    *(Mark, Diagnosis, CheckResult, ComparedRow, RecordedComparisons),
)
#: What holds numbers of a walk: single ones by default; `N` is what else stands in their place, such as heat maps.
OF_NUMBERS = ("NodeInfo", "Graph", "Recording", "TensorRecording", "WalkEvent", *(thing.__name__ for thing in WALK))

#: What `to_dict` and `to_json` put together by hand, and fields that are known better than their Python type says.
BY_HAND: dict[str, dict[str, str]] = {
    "Graph": {"root": "number", "nodes": "NodeInfo<N>[]"},
    "Layout": {"spots": "Record<number, Spot>", "bends": "Record<string, Spot[]>"},
    "Verdict": {
        "right": "boolean",
        "topological": "boolean",
        "lost": "Missing[]",
        "doubled": "Doubled[]",
        "expected": "(Num | null)[]",
    },
    "Recording": {
        "format": "string",
        "version": "number",
        "graph": "Graph<N>",
        "events": "WalkEvent<N>[]",
        "verdict": "Verdict",
    },
    "TensorRecording": {"graph": "Graph<N>", "events": "WalkEvent<N>[]"},
    "Report": {
        "engine": "string",
        "score": "number",
        "total": "number",
        "passed": "boolean",
        "essentials": "Mark",
        "beyond": "Mark",
        "notes": "string[]",
        "checks": "CheckResult[]",
        "diagnoses": "Diagnosis[]",
    },
}
KNOWN_BETTER = {
    ("Visit", "gradient"): "N | null",
    ("Visit", "arrived"): "N | null",
    ("Push", "before"): "N | null",
    ("HeatMap", "numbers"): "Num[][]",
    ("HeatMap", "least"): "number | null",
    ("HeatMap", "greatest"): "number | null",
    ("PresetEntry", "recording"): "Recording",
    ("PresetEntry", "search"): "SearchEvent[]",
    ("TensorEntry", "recording"): "TensorRecording<Num | Pointer>",
    ("Drawn", "recording"): "Recording | TensorRecording<Num | Pointer> | null",
    ("Drawn", "language"): '"program" | "python" | ""',
    ("Seen", "graph"): "Graph | null",
    ("CaseShown", "graph"): "Graph | null",
    ("HuntEvent", "upstream"): "Num | null",
    ("HuntEvent", "before"): "Num | null",
    ("HuntEvent", "after"): "Num | null",
    ("Judged", "report"): "Report",
}


def _shape(thing: type) -> dict[str, str]:
    hints = get_type_hints(thing)
    known = {name: KNOWN_BETTER.get((thing.__name__, name)) for name in hints}
    if is_dataclass(thing):
        spoken = WORDS if thing in (*WALK, *SEARCH, Missing, Doubled) else ()
        names = [entry.name for entry in fields(thing) if entry.name != "words" and entry.name not in spoken]
        kind = {"kind": f'"{thing.kind}"'} if hasattr(thing, "kind") else {}
        numbers = "N" if thing.__name__ in OF_NUMBERS else "Num"
        types = {name: known[name] or _type(hints[name]).replace("unknown", numbers) for name in names}
        return {**kind, **types}
    # the page's own functions give finite numbers only
    marked = get_type_hints(thing, include_extras=True)
    return {
        f"{name}?" if get_origin(marked[name]) is NotRequired else name: known[name]
        or _type(hint).replace("Num", "number")
        for name, hint in hints.items()
    }


def _type(hint: Any) -> str:
    """A Python type as TypeScript; a float of a walk may also be one of the texts that JSON has for nan and inf.

    What is said to a learner comes as a `Message`, and is a text when the page has read it.
    """
    plain = {
        Message: "string",
        int: "number",
        float: "Num",
        str: "string",
        bool: "boolean",
        NoneType: "null",
        Any: "unknown",
    }
    if hint in plain:
        return plain[hint]
    if is_typeddict(hint) or is_dataclass(hint):
        return str(hint.__name__)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " | ".join(map(_type, inner))
    if origin in (tuple, list):
        item = _type(inner[0])
        return f"({item})[]" if " " in item else f"{item}[]"
    if origin is Literal:
        return " | ".join(f'"{word}"' for word in inner)
    if origin in (dict, Mapping):
        return f"Record<{_type(inner[0])}, {_type(inner[1])}>"
    raise TypeError(f"no TypeScript is known for {hint!r}")


#: Every shape by its name in TypeScript, as field: type.
SHAPES: dict[str, dict[str, str]] = {
    "NodeInfo": _shape(NodeInfo),
    "Graph": BY_HAND["Graph"],
    **{thing.__name__: _shape(thing) for thing in (*WALK, *SEARCH, Missing, Doubled)},
    **{name: BY_HAND[name] for name in ("Verdict", "Recording", "TensorRecording", "Layout")},
    **{thing.__name__: _shape(thing) for thing in PAGE},
    "Report": BY_HAND["Report"],
    "Judged": _shape(grading.Judged),
}

_HEAD = """\
// Made by `python -m gradwalk.learn.page.schema`, from the classes that make these things. Do not edit.

/** JSON has no nan and no inf: they travel as texts. */
export type Num = number | "nan" | "inf" | "-inf";

/** In a walk over tensors: an array, by its place among the heat maps. */
export type Pointer = {map: number};

/** A card's rank along the walk and its track across it; a track is as wide as a card and the gap beside it. */
export type Spot = readonly [rank: number, track: number];
"""


def typescript() -> str:
    """The file `web/src/python/schema.ts`.

    >>> "export type Seed" in typescript()
    True
    """
    unions = {
        "WalkEvent<N = Num>": " | ".join(f"{thing.__name__}<N>" for thing in WALK),
        "SearchEvent": " | ".join(thing.__name__ for thing in SEARCH),
    }
    shapes = []
    for name, shape in SHAPES.items():
        lines = "".join(f"  {field}: {kind};\n" for field, kind in shape.items())
        shapes.append(f"export type {name}{'<N = Num>' if name in OF_NUMBERS else ''} = {{\n{lines}}};\n")
    return "\n".join([_HEAD, *(f"export type {name} = {union};\n" for name, union in unions.items()), *shapes])


if __name__ == "__main__":
    sys.stdout.write(typescript())
