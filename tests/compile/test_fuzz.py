"""The fuzzer in small: random graphs through every native runner, against the eager engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fuzz
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# Few seeds: what takes long is compiling a new kernel for each new way of reading operands. `make fuzz` draws more.
CASES = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("check", fuzz.CHECKS)
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_native_programs_give_the_numbers_of_the_eager_engine(kind: str, check: str) -> None:
    for seed in range(3):
        error = fuzz.CHECKS[check](fuzz.draw(kind, seed))
        assert error <= fuzz.TOLERANCE, f"{check} differs by {error:.1e}: --kind {kind} --seed {seed}"


@CASES
@given(seed=st.integers(0, 5), kind=st.sampled_from(sorted(fuzz.KINDS)))
def test_any_graph_of_any_kind(seed: int, kind: str) -> None:
    case = fuzz.draw(kind, seed)
    for check in fuzz.CHECKS.values():
        assert check(case) <= fuzz.TOLERANCE


@pytest.mark.parametrize("kind", ["network", "recurrent", "attention", "gram", "tiny"])
def test_float32_is_right_to_its_own_precision(kind: str) -> None:
    for seed in range(3):
        assert fuzz.check_lanes(fuzz.draw(kind, seed), "float32") < 2e-5


def test_threads_share_a_batch() -> None:
    for seed in range(3):
        assert fuzz.check_lanes(fuzz.draw("network", seed), threads=2) <= fuzz.TOLERANCE


def test_the_fuzzer_notices_a_wrong_number() -> None:
    assert fuzz.distance([1.0, 2.0], [1.0, 2.0 + 1e-9]) > fuzz.TOLERANCE
    assert fuzz.distance([1.0], [float("nan")]) == float("inf")
    assert fuzz.distance([float("inf")], [1e300]) == float("inf")
    assert fuzz.distance([float("nan"), 1.0], [float("nan"), 1.0]) == 0.0


def test_the_fuzzer_runs_as_a_program() -> None:
    program = Path(__file__).with_name("fuzz.py")
    run = subprocess.run(
        [sys.executable, str(program), "--kind", "tiny", "--seed", "3"], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip().startswith("1 graphs, 0 failures")
