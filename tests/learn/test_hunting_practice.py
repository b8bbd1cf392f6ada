"""Practice: the same number draws the same engine, every draw is wrong where it says so, its bug has the right name."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest

from gradwalk.diagnose import grade
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.probes import Probe, run
from gradwalk.learn.page.hunting import draw, mend
from gradwalk.learn.page.hunting.cases import Case
from gradwalk.learn.page.hunting.choices import looked_at
from gradwalk.learn.page.hunting.practice import KNOWN, drawn
from gradwalk.learn.page.hunting.recorder import engine_of
from gradwalk.matcher import by_type

pytestmark = pytest.mark.slow

SEEDS = range(1, 61)


@cache
def draws() -> dict[int, tuple[Case, str]]:
    return {seed: drawn(seed) for seed in SEEDS}


def test_the_same_number_draws_the_same_engine() -> None:
    for seed in (1, 7, 40):
        assert drawn(seed) == draws()[seed]
    assert len({case.text for case, _ in draws().values()}) > 40


def test_no_draw_is_an_engine_that_is_right_after_all() -> None:
    for case, _ in draws().values():
        wrong, right = (Engine(*engine_of(text)) for text in (case.text, case.mended))
        program = Probe("", case.program, looked_at(case.program))
        assert not by_type(run(program, wrong), program.expected()), case.name
        assert by_type(run(program, right), program.expected()), case.name


def test_many_bugs_and_several_styles_are_drawn() -> None:
    families = Counter(family for _, family in draws().values())
    assert set(families) <= KNOWN
    assert len(families) >= 8
    styles = Counter(case.text.splitlines()[0] for case, _ in draws().values())
    assert len(styles) >= 3


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6, 7, 8])
def test_a_draw_is_hunted_like_an_exhibit(seed: int) -> None:
    entry: Any = draw(seed)
    case, family = draws()[seed]
    choices = {choice["family"]: choice for choice in entry["choices"]}
    assert [name for name, choice in choices.items() if choice["right"]] == [family]
    assert len(choices) >= 3
    assert entry["wrong"]
    assert mend(case.name, case.text + "\n# seen\n")["status"] in ("failed", "error")
    assert mend(case.name, case.mended)["status"] == "passed"


def test_the_grader_agrees_with_the_names() -> None:
    """What was put in on purpose is what the grader finds, in nearly all of the draws."""
    from gradwalk.learn.page.hunting.choices import family_of

    named = 0
    for seed in range(1, 21):
        case, family = draws()[seed]
        found = {family_of(diagnosis.specimen or "") for diagnosis in grade(case.text).diagnoses}
        named += family in found
    assert named >= 18
