"""What is exported for the page, and that it has the shapes that TypeScript believes in."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from learn.in_page import gradients_of

from gradwalk import walk
from gradwalk.diagnose import museum
from gradwalk.learn.page import bridge, exercises, folding, hunting, programs, rolling, training
from gradwalk.learn.page.exercises import EXERCISES
from gradwalk.learn.page.hunting.cases import case_of
from gradwalk.learn.page.programs import without_words
from gradwalk.learn.page.recordings import material
from gradwalk.learn.page.schema import SHAPES, typescript
from gradwalk.presets import PRESETS

CHECKED_IN = Path(__file__).resolve().parents[2] / "web/src/python/schema.ts"

OVERWRITING = EXERCISES["plus-times"].tabs["__mul__"].solution.replace("+=", "=")


@cache
def exported() -> Any:
    return json.loads(json.dumps(material(), allow_nan=False))


def test_the_page_believes_in_the_shapes_that_python_has() -> None:
    words = "run: python -m gradwalk.learn.page.schema > web/src/python/schema.ts"
    assert CHECKED_IN.read_text(encoding="utf-8") == typescript(), words


def fits(thing: Any, kind: str, numbers: str = "Num") -> bool:
    """Whether something JSON holds is of a TypeScript type, as far as the schema uses them; `numbers` is what N is."""
    if kind == "N":
        return fits(thing, numbers)
    if kind.startswith(("Record<string, ", "Record<number, ")) and kind.endswith(">"):
        return isinstance(thing, dict) and all(fits(each, kind[15:-1]) for each in thing.values())
    generic = re.fullmatch(r"(\w+)<(.+)>", kind)
    if generic and generic[1] != "Record":
        return fits(thing, generic[1], numbers if generic[2] == "N" else generic[2])
    alternatives = re.split(r" \| (?![^(]*\)|[^<]*>)", kind)
    if len(alternatives) > 1:
        return any(fits(thing, each, numbers) for each in alternatives)
    if kind.endswith("[]"):
        return isinstance(thing, list) and all(fits(each, kind[:-2].strip("()"), numbers) for each in thing)
    if kind.startswith('"'):
        return bool(thing == kind.strip('"'))
    match kind:
        case "number":
            return isinstance(thing, (int, float)) and not isinstance(thing, bool)
        case "Num":
            return fits(thing, "number") or thing in ("nan", "inf", "-inf")
        case "string":
            return isinstance(thing, str)
        case "boolean":
            return isinstance(thing, bool)
        case "null":
            return thing is None
        case "Pointer":
            return isinstance(thing, dict) and thing.keys() == {"map"} and fits(thing["map"], "number")
        case "Spot":
            return fits(thing, "number[]") and len(thing) == 2
        case "WalkEvent":
            return any(fits(thing, each, numbers) for each in ("Compute", "Seed", "Visit", "Push"))
        case "SearchEvent":
            return any(fits(thing, each) for each in ("Enter", "AlreadyVisited", "Leave"))
        case "unknown":
            return True
    shape = SHAPES[kind]
    known = {name.removesuffix("?"): each for name, each in shape.items()}
    return (
        isinstance(thing, dict)
        and {name for name in shape if not name.endswith("?")} <= thing.keys() <= known.keys()
        and all(fits(thing[name], known[name], numbers) for name in thing)
    )


def test_what_is_exported_has_the_shapes_of_the_schema() -> None:
    assert fits(exported(), "Material")


def test_what_the_page_calls_has_the_shapes_of_the_schema() -> None:
    of_tensors = "t = Tensor([[1.0, -1.0], [0.0, 2.0]])\n(t.log() @ t).sum()"
    for text in ("L = log(a - 1)", "L = a %", "import os\na = Value(2.0)\na.relu()", of_tensors):
        assert fits(json.loads(json.dumps(programs.run(text))), "Drawn")
    assert fits(json.loads(json.dumps(training.advance(training.start([4])))), "Training")


def spoken(thing: Any) -> Any:
    """What crosses, as the page has it once its messages are said."""
    if isinstance(thing, dict) and thing.keys() == {"id", "parameters"}:
        return thing["id"]
    if isinstance(thing, dict):
        return {name: spoken(each) for name, each in thing.items()}
    return [spoken(each) for each in thing] if isinstance(thing, list) else thing


#: Functions of the page, what each is given, and the shape of what it gives; with every kind of answer.
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("scripts.run", {"parts": ["print(1)"]}, "Ran"),
    ("scripts.run", {"parts": ["print(x)"]}, "Ran"),
    ("rolling.roll", {"text": "L = a*b + c"}, "Roll"),
    ("rolling.roll", {"text": "L = sigmod(a)"}, "Roll"),
    ("naming.facts", {"names": "anna otto"}, "Facts"),
    ("naming.start", {"names": "anna otto"}, "Naming"),
    ("exercises.run", {"exercise": "slopes", "tab": "exp", "sources": {}}, "Result"),
    ("exercises.run", {"exercise": "slopes", "tab": "exp", "sources": {"exp": "def exp(self): 1 / 0"}}, "Result"),
    ("exercises.run", {"exercise": "plus-times", "tab": "__mul__", "sources": {"__mul__": OVERWRITING}}, "Result"),
    (
        "exercises.run",
        {"exercise": "sum-and-max", "tab": "sum", "sources": {}},
        "Result",
    ),
    ("hunting.show", {"case": "overwriting"}, "CaseShown"),
    ("hunting.show", {"case": "recursion-limit"}, "CaseShown"),
    ("hunting.walk", {"case": "not-zeroed", "text": case_of("not-zeroed").mended}, "Seen"),
    ("hunting.mend", {"case": "not-zeroed", "text": case_of("not-zeroed").mended}, "Result"),
    ("grading.run", {"source": "x = 1"}, "Judged"),
    ("grading.run", {"source": museum.find("root-twice").source()}, "Judged"),
]


@pytest.mark.parametrize(("function", "given", "kind"), CALLS, ids=lambda each: each if isinstance(each, str) else "")
def test_every_call_of_the_page_has_the_shape_that_the_page_believes_in(
    function: str, given: dict[str, Any], kind: str
) -> None:
    answer = spoken(json.loads(bridge.call(function, json.dumps(given), lambda text: None)))
    assert answer["error"] is None
    assert fits(answer, "Answer")
    assert fits(answer["result"], kind)


def test_every_material_of_the_page_has_the_shape_that_the_page_believes_in() -> None:
    recorded = Path(__file__).resolve().parents[2] / "web/recorded/against_torch.json"
    for thing, kind in [
        (exercises.material(), "ExerciseMaterial"),
        (hunting.material(), "HuntMaterial"),
        (rolling.material(), "RollMaterial"),
        (folding.material(), "Folding"),
        (json.loads(recorded.read_text(encoding="utf-8")), "RecordedComparisons"),
    ]:
        assert fits(json.loads(json.dumps(thing, allow_nan=False)), kind), kind


def test_nothing_else_that_crosses_looks_like_a_message() -> None:
    assert not [name for name, shape in SHAPES.items() if {"id", "parameters"} <= shape.keys()]


def test_an_error_that_crosses_has_its_shape() -> None:
    for source in ("1 / 0", "print('x' * 30000)\n1 / 0"):
        answer = json.loads(bridge.call("sandbox.execute", json.dumps({"source": source}), lambda text: None))
        assert fits(spoken(answer), "Answer")
        assert answer["error"]["line"] in (1, 2)


def test_a_walk_that_loses_and_doubles_has_the_shapes_of_the_schema() -> None:
    root = PRESETS["two-uses"].build().root
    naive = walk.record(root, walk.naive_recursion_order(root), allow_repeats=True)
    wrong = walk.record(PRESETS["diamond"].build().root, ["c", "d", "b", "a"])
    assert naive.verdict.doubled
    assert wrong.verdict.lost
    for recording in (naive, wrong):
        assert fits(without_words(json.loads(recording.to_json())), "Recording")


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        (True, "number"), ("2", "Num"), (1.0, "string"), ([1, "x"], "number[]"), ({"kind": "seed"}, "Seed"),
        (None, "Num"), ("leap", '"seed"'), ({"map": 0}, "N"), ({"map": "x"}, "Pointer"),
    ],
)  # fmt: skip
def test_the_check_of_shapes_finds_what_does_not_fit(thing: Any, kind: str) -> None:
    assert not fits(thing, kind)


def test_every_preset_is_there_with_its_walk_and_its_search() -> None:
    assert [entry["name"] for entry in exported()["presets"]] == list(PRESETS)
    for entry in exported()["presets"]:
        known = PRESETS[entry["name"]]
        found = gradients_of(entry["recording"])
        for node, gradient in known.gradients.items():
            assert found[node] == pytest.approx(gradient, abs=1e-12)
        last = [step for step in entry["search"] if step["kind"] == "leave"]
        assert [step["node"] for step in last] == list(range(len(entry["recording"]["graph"]["nodes"])))


def test_the_first_sight_of_training_is_its_first_state() -> None:
    entry = exported()["training"]
    assert entry["start"] == training.start()
    assert entry["points"] == training.points()
    assert entry["losses"][0] == entry["start"]["loss"]
    assert entry["losses"][1] == training.advance(training.start())["loss"]
