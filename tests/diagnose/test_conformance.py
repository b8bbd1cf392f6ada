"""The checklist as pytest tests: two lines in a learner's test file, run by a real pytest."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from gradwalk.diagnose import conformance, museum, teaching
from gradwalk.diagnose.checks import CHECKS

pytestmark = pytest.mark.slow

TEST = """\
from my_engine import Value
from gradwalk.diagnose import conformance

test_my_engine = conformance.suite(Value{options})
"""


def run(folder: Path, engine: str, options: str = "") -> tuple[dict[str, int], str]:
    (folder / "my_engine.py").write_text(engine, encoding="utf-8")
    (folder / "test_it.py").write_text(TEST.format(options=options), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
    last = done.stdout.strip().splitlines()[-1]
    words = last.replace(",", "").split()
    return {word: int(count) for count, word in pairwise(words) if count.isdigit()}, done.stdout


def test_a_right_engine_passes_every_test(tmp_path: Path) -> None:
    counts, text = run(tmp_path, teaching.SOURCE)
    assert counts == {"passed": sum(not check.extra for check in CHECKS.values()),
                      "skipped": sum(bool(check.extra) for check in CHECKS.values())}, text  # fmt: skip


def test_a_wrong_engine_fails_and_says_why(tmp_path: Path) -> None:
    counts, text = run(tmp_path, museum.find("overwriting").source(), ", checks=['reuse', 'ops']")
    assert counts["failed"] == 8
    assert counts["passed"] == 12
    assert "your engine overwrites gradients: line 25 has `=` where `+=` is needed" in text
    assert "a + a: a.grad is 1, 2 is right" in text
    assert "    b = a + a\n" in text
    assert "Solution" not in text


def test_what_is_missing_is_skipped(tmp_path: Path) -> None:
    counts, _ = run(tmp_path, teaching.SOURCE.replace("def tanh", "def nothing"), ", checks=['tanh', 'exp', 'sqrt']")
    assert counts == {"passed": 1, "skipped": 2}


def test_an_engine_that_cannot_be_judged_fails_every_test() -> None:
    test = conformance.suite("class Value: pass", checks=["a-plus-a"])
    with pytest.raises(pytest.fail.Exception, match=r"Value\(2.5\) does not work"):
        test("a-plus-a")


def test_a_module_can_be_given() -> None:
    import gradwalk.engine

    conformance.suite(gradwalk.engine, checks=["diamond"])("diamond")
