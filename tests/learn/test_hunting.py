"""Every exhibit of the museum, hunted by a scripted learner: watched, measured, and named, wrongly first."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from gradwalk.diagnose import grade, museum, teaching
from gradwalk.learn.page.hunting import material, show, walk
from gradwalk.learn.page.hunting.cases import SETS, case_of
from gradwalk.learn.page.hunting.choices import family_of
from gradwalk.learn.page.hunting.instrument import agree
from gradwalk.learn.page.hunting.trimming import ops_of, trimmed
from gradwalk.learn.page.sandbox import LearnerError

NAMES = [name for names in SETS.values() for name in names]


@cache
def exported() -> Any:
    return material()


@cache
def entries() -> dict[str, Any]:
    return {**exported()["cases"], **{name: show(name) for name in SETS["rest"]}}


def test_every_exhibit_is_there_once_and_the_classics_come_first() -> None:
    assert sorted(NAMES) == sorted(specimen.name for specimen in museum.SPECIMENS)
    assert [museum.find(name).number for name in SETS["classic"]] == [1, 2, 3, 4]
    counted = [name for kind, names in SETS.items() if kind != "rest" for name in names]
    assert len(counted) >= 16
    assert list(exported()["cases"]) == counted
    assert sorted(exported()["where"]) == sorted(NAMES)
    json.dumps([exported(), entries()], allow_nan=False)


# --- watch and measure ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_walk_is_the_engines_own(name: str) -> None:
    """Played event by event, the walk leads to the numbers that the engine itself holds at the end."""
    case, entry = case_of(name), entries()[name]
    if not case.drawn:
        assert (entry["graph"], entry["events"]) == (None, [])
        return
    if entry["check"]["stopped"]:
        assert entry["events"] == []
        assert case.name in ("tanh-through-exp", "sigmoid-through-exp", "python-raises")
        return
    grads = {node["id"]: 0.0 for node in entry["graph"]["nodes"]}
    for event in entry["events"]:
        if event["slot"] == "grad" and event["after"] is not None:
            grads[event["node"] if event["operand"] is None else event["operand"]] = event["after"]
    names = {node["name"]: node["id"] for node in entry["graph"]["nodes"]}
    for row in entry["check"]["leaves"]:
        assert agree(grads[names[row["name"]]], row["said"]), row
    lines = (entry["engine"] or entry["text"]).splitlines()
    for event in entry["events"]:
        if event["kind"] == "push":
            assert event["operand"] in entry["graph"]["nodes"][event["node"]]["operands"]
            assert entry["graph"]["nodes"][event["node"]]["operands"][event["position"]] == event["operand"]
            assert "grad" in lines[event["line"] - 1]


@pytest.mark.parametrize("name", NAMES)
def test_something_is_wrong_to_be_seen(name: str) -> None:
    entry = entries()[name]
    rows = [*entry["check"]["leaves"], *([entry["check"]["value"]] if entry["check"]["value"] else [])]
    telling = entry["wrong"] or entry["check"]["stopped"] or any(not row["ok"] for row in rows)
    assert telling or name == "cut-short-by-zip"  # nothing there is wrong but what is missing


def test_the_numbers_of_the_classics() -> None:
    said = {name: {row["name"]: row for row in entries()[name]["check"]["leaves"]} for name in SETS["classic"]}
    assert (said["overwriting"]["a"]["said"], round(said["overwriting"]["a"]["measured"], 6)) == (3.0, -3.0)
    assert (said["not-zeroed"]["w"]["said"], round(said["not-zeroed"]["w"]["measured"], 6)) == (6.0, 2.0)
    assert (said["no-order"]["a"]["said"], round(said["no-order"]["a"]["measured"], 6)) == (54.0, 26.0)
    assert (said["wrong-derivative"]["a"]["said"], said["wrong-derivative"]["c"]["ok"]) == (3.0, True)


def test_nudging_is_blind_to_a_wrong_value_and_the_value_stands_beside_it() -> None:
    check = entries()["reversed-division"]["check"]
    assert [row["ok"] for row in check["leaves"]] == [True]
    assert (check["value"]["said"], check["value"]["measured"], check["value"]["ok"]) == (0.25, 4.0, False)


def test_a_second_walk_is_measured_as_a_second_walk() -> None:
    (row,) = entries()["left-over-gradients"]["check"]["leaves"]
    assert (row["said"], round(row["measured"], 5)) == (72.0, 54.0)


# --- name -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_one_choice_is_right_and_the_others_are_answered_with_reasons(name: str) -> None:
    choices = entries()[name]["choices"]
    right = [choice for choice in choices if choice["right"]]
    assert [choice["family"] for choice in right] == [family_of(name)]
    assert len({choice["label"] for choice in choices}) == len(choices) == 4
    for choice in choices:
        assert len(choice["why"]) > 30, choice
        assert choice["why"].endswith((".", "?"))
    assert len({choice["why"] for choice in choices}) == 4


def test_a_reason_is_what_the_other_bug_really_gives() -> None:
    """`=` for `+=` on the program of the walk without an order: the museum's own engine says 12."""
    program = case_of("no-order").program
    names: dict[str, Any] = {"Value": museum.find("overwriting").engine()}
    exec(program, names)
    choice = next(choice for choice in entries()["no-order"]["choices"] if choice["family"] == "overwriting")
    assert f"`a.grad` {names['a'].grad:g} here, and it is 54." in choice["why"]


def test_the_right_choice_does_not_always_stand_in_the_same_place() -> None:
    places = [[choice["right"] for choice in entries()[name]["choices"]].index(True) for name in NAMES]
    assert {0, 1, 2, 3} == set(places)


# --- the learner's own walk -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["overwriting", "not-zeroed", "preorder", "left-over-gradients", "changes-its-input"])
def test_the_mended_engine_walks_right(name: str) -> None:
    seen = walk(name, case_of(name).mended)
    assert seen["wrong"] == []
    assert all(row["ok"] for row in seen["check"]["leaves"])


def test_a_walk_that_cannot_be_had_says_why() -> None:
    case = case_of("overwriting")
    with pytest.raises(LearnerError, match="never ends"):
        walk("overwriting", case.text.replace("        self.grad = 1.0\n", "        while True: pass\n"))
    with pytest.raises(LearnerError, match="no class Value"):
        walk("overwriting", "x = 1")


# --- trimming ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_trimming_keeps_what_is_needed_and_nothing_else() -> None:
    short = trimmed(teaching.SOURCE, "a = Value(2.0)\nb = 8 / a\nb.backward()")
    assert "def __rtruediv__" in short
    assert "def divide" in short
    assert "def tanh" not in short
    assert "def logistic" not in short
    assert "# --- functions" not in short
    assert grade(short).passed
    assert ops_of("b = -a") == {"__neg__"}
    for style in teaching.STYLES.values():
        assert grade(trimmed(style, "a = Value(2.0)\nb = a.tanh()\nb.backward()"), diagnosing=False).passed
