"""The page's report is that of `gradwalk grade`: the same checks, marks, diagnoses and words; and it always ends."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from whole_class import whole_class

from gradwalk.diagnose import museum, teaching
from gradwalk.learn.page.exercises import solutions
from gradwalk.learn.page.grading import run

pytestmark = pytest.mark.slow

SPEED = "an addition and its way back"  # a time, which is another one each time
SOLUTIONS = solutions()
OWN = whole_class(SOLUTIONS, 7)
FILES = {
    "the learner's engine": OWN,
    "one that overwrites": whole_class({**SOLUTIONS, "__mul__": SOLUTIONS["__mul__"].replace("+=", "=")}, 7),
    "one of the museum": museum.find("preorder").source(),
    "a right one": teaching.SOURCE,
    "no Python": "def x(:\n",
    "no engine": "x = 1\n",
    "one that stops half-way": teaching.SOURCE + "\n1 / 0\n",
}


def judged(source: str, **options: Any) -> tuple[dict[str, Any], str]:
    with redirect_stdout(io.StringIO()) as told:
        report = run(source, **options)["report"]
    return report, told.getvalue()


def without_time(report: dict[str, Any]) -> dict[str, Any]:
    kept = {name: told for name, told in report.items() if name not in ("confined", "mark", "verdict")}  # of a class
    return {**kept, "notes": [note for note in report["notes"] if not note.startswith(SPEED)]}


@pytest.mark.parametrize("name", FILES)
def test_the_page_and_the_command_line_say_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(FILES[name], encoding="utf-8")
    command = [sys.executable, "-m", "gradwalk", "grade", str(path), "--json"]
    theirs = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    ours, _ = judged(FILES[name])
    assert without_time(ours) == without_time(theirs)


def test_the_learners_own_engine_has_the_essentials() -> None:
    report, told = judged(OWN)
    assert report["essentials"]["score"] == report["essentials"]["total"] > 25
    assert report["beyond"]["score"] < report["beyond"]["total"]
    lines = [line.split(" ", 3) for line in told.splitlines()]
    assert [int(line[0]) for line in lines] == sorted(int(line[0]) for line in lines)
    assert len(told) < 20_000  # what the bridge lets through


def test_a_loop_that_never_ends_is_stopped_and_the_rest_goes_on() -> None:
    loops = teaching.SOURCE.replace("    def tanh(self):\n", "    def tanh(self):\n        while True: pass\n")
    report, _ = judged(loops)
    statuses = {check["name"]: check["status"] for check in report["checks"]}
    assert statuses["tanh"] == "error"
    assert (statuses["add"], statuses["mul"], statuses["a-plus-a"]) == ("passed", "passed", "passed")
    line = loops.splitlines().index("        while True: pass") + 1
    assert any(f"the first on line {line}" in note for note in report["notes"])


def test_an_engine_that_never_ends_anywhere_is_given_up_in_good_time() -> None:
    loops = teaching.SOURCE.replace("        order = ordered(self)\n", "        while True: pass\n")
    report, _ = judged(loops)
    statuses = [check["status"] for check in report["checks"]]
    assert statuses.count("error") + statuses.count("skipped") > 30  # the first walk is enough to know
    assert report["score"] > 0


def test_a_file_that_never_ends_is_judged_by_its_definitions() -> None:
    report, _ = judged(teaching.SOURCE + "\nwhile True: pass\n")
    assert report["passed"]
    assert "only its definitions were used" in report["notes"][0]


def test_programs_that_ended_the_worker_are_left_out() -> None:
    report, told = judged(teaching.SOURCE, left_out=[7])
    assert [check["name"] for check in report["checks"] if check["status"] == "error"] == ["add"]
    assert report["score"] == report["total"] - 1
    assert re.search(r"^\d+ \d+ 7\b", told, re.MULTILINE)
