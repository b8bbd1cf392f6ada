"""The fuzzer of programs in small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import programs
import pytest


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_programs_decide_as_the_plain_function_does(first: int) -> None:
    for seed in range(first, first + 10):
        assert programs.check(seed) == ""


def test_the_fuzzer_notices_a_decision_that_is_taken_once_and_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradwalk.compile.call.guarded_trace import GuardedTrace

    monkeypatch.setattr(GuardedTrace, "_look_closer", lambda self, found: None)
    assert any(programs.check(seed) for seed in range(20))


def test_the_fuzzer_runs_as_a_program() -> None:
    program = Path(programs.__file__)
    run = subprocess.run([sys.executable, program, "--seed", "3"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("def f(x, y, n):")
