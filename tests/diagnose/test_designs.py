"""Right engines of many designs are left in peace, and what misses something is told what it misses."""

from __future__ import annotations

import pytest

from diagnose.designs import DESIGNS
from gradwalk.diagnose import grade

pytestmark = pytest.mark.slow


def test_there_are_thirty_at_least() -> None:
    assert len(DESIGNS) >= 30
    assert len(set(DESIGNS.values())) == len(DESIGNS)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_right_engine_is_left_in_peace(name: str) -> None:
    report = grade(DESIGNS[name])
    assert report.faults == (), report.text()
    assert report.essentials.score == report.essentials.total > 35
    assert not [check for check in report.checks if check.status == "skipped" and check.group != "repeat"]
    assert not [check for check in report.checks if check.status in ("failed", "error") and not check.diagnosis]
