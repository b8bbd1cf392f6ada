"""The benchmark of drawings runs, and writes what it says it writes. No time is asserted here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import see

from gradwalk import Value, walk


@pytest.mark.slow
def test_it_prints_a_table_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    see.main(["--quick", "--repeats", "1", "--out", str(tmp_path)])
    figures = json.loads((tmp_path / "see.json").read_text())
    assert {row["what"].split(":")[0] for row in figures["figures"]} == {"events", "draw", "spy"}
    assert all(row["seconds"] > 0 for row in figures["figures"])
    assert "Seeing a graph" in capsys.readouterr().out


def test_graphs_have_the_sizes_that_the_limits_are_for() -> None:
    assert sum(1 for _ in walk.topological(see.tangle(10_000, 40))) >= 9_990
    assert sum(1 for _ in walk.topological(see.network([6, 5, 1], 1))) in range(180, 220)
    assert sum(1 for _ in walk.topological(see.network([16, 16, 1], 3))) in range(2_000, 2_500)


def test_a_refusal_that_is_none_is_an_error() -> None:
    with pytest.raises(AssertionError, match="was drawn"):
        see.refused(Value(1.0))


def test_bad_repeats_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        see.main(["--repeats", "0"])
    assert "--repeats must be at least 1, not 0" in capsys.readouterr().err
