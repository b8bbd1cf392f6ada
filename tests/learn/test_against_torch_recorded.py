"""Lesson 12: what is recorded is what PyTorch prints, our side runs as the page runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from recorded.against_torch import COMPARISONS, FILE, recorded

from gradwalk.learn.page import scripts

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
COMMITTED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["comparisons"]
#: Rows where both sides speak and do not say the same: the lesson explains each.
DIFFERENCES = {
    ("leaving", "no-grad"), ("leaving", "by-mistake"), ("different", "twice"), ("different", "middle"),
    ("different", "empty"), ("different", "digits"), ("different", "changed"),
}  # fmt: skip


def test_pytorch_still_prints_what_is_recorded() -> None:
    assert recorded()["comparisons"] == COMMITTED


@pytest.mark.parametrize("name", COMPARISONS)
def test_our_side_prints_in_the_page_what_is_recorded(name: str) -> None:
    ran = scripts.run([row["ours"] for row in COMMITTED[name]])
    assert ran["error"] is None
    assert ran["printed"] == [row["oursPrinted"] for row in COMMITTED[name]]


def test_both_sides_agree_but_for_the_differences_that_the_lesson_explains() -> None:
    differ = {
        (name, row["name"])
        for name, rows in COMMITTED.items()
        for row in rows
        if row["oursPrinted"] and row["theirsPrinted"] and row["oursPrinted"] != row["theirsPrinted"]
    }
    assert differ == DIFFERENCES


def test_every_word_of_pytorch_that_a_learner_meets_is_there() -> None:
    theirs = "\n".join(row["theirs"] for rows in COMMITTED.values() for row in rows)
    for word in ("zero_grad()", "backward()", "retain_graph=True", "no_grad()", "detach()", ".item()", "retain_grad()"):
        assert word in theirs


def test_every_difference_has_its_reason_in_the_lesson() -> None:
    text = next((ROOT / "web/lessons/en").glob("12-*.md")).read_text(encoding="utf-8")
    for name, row in DIFFERENCES:
        block = re.search(rf"```widget beside\nid: \S+\nof: {name}\n(.*?)```", text, re.DOTALL)
        assert block is not None
        assert f"- row: {row}\n    says: " in block[1]


# --- what runs lines in the page -----------------------------------------------------------------------------------


def test_an_error_is_told_with_its_part_and_line_and_what_was_printed_before_it() -> None:
    ran = scripts.run(["a = 1", "print(a)\nprint(b)"])
    assert ran["printed"] == ["", "1\n"]
    assert ran["error"] == {
        "kind": "NameError", "message": "name 'b' is not defined", "line": 2, "where": "your code",
    }  # fmt: skip


def test_an_error_in_the_engine_is_told_as_such() -> None:
    ran = scripts.run(["half(0)"], engine="def half(x):\n    return 1 / x")
    assert ran["error"] is not None
    assert (ran["error"]["where"], ran["error"]["line"]) == ("the engine", 2)
    assert scripts.run([], engine="def")["error"] is not None


def test_long_output_is_cut_and_endless_loops_end() -> None:
    (printed,) = scripts.run(["print('x' * 20_000)"])["printed"]
    assert printed.endswith("… and 10,001 more characters, which are not shown\n")
    ran = scripts.run(["while True: pass"])
    assert ran["error"] is not None
    assert ran["error"]["kind"] == "OutOfSteps"
