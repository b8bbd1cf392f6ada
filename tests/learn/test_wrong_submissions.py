"""Wrong submissions of every kind that learners hand in: each is named, and no innocent line is painted red."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from learn.mutated_solutions import HOME, sample
from learn.test_exercises import told
from learn.wrong_submissions import SUBMISSIONS

from gradwalk.learn.page.exercises import EXERCISES, solutions
from gradwalk.learn.page.exercises.splice import PARTS

SOLUTIONS = solutions()


def unusual() -> Iterator[tuple[list[str], str]]:
    """The submissions of the text file: what each begins with, and the learner's text."""
    file = (Path(__file__).parent / "unusual_submissions.txt").read_text(encoding="utf-8")
    for submission in file.split("\n--- ")[1:]:
        head, _, text = submission.partition("\n")
        tab, *rest = head.split(" | ")
        if text.startswith("< "):
            lines = SOLUTIONS[tab].splitlines()
            for line in text.splitlines():
                if line.startswith("< "):
                    at = lines.index(line[2:])
                    lines[at : at + 1] = []
                else:
                    lines.insert(at, line[2:])
                    at += 1
            text = "\n".join(lines) + "\n"
        yield [tab, *rest], text


UNUSUAL = list(unusual())


@pytest.mark.parametrize(
    ("tab", "text"), [(head[0], text) for head, text in UNUSUAL if head[1] == "right"]
)  # fmt: skip
def test_what_is_right_passes_in_any_hand(tab: str, text: str) -> None:
    assert told(tab, text)["status"] == "passed"


@pytest.mark.parametrize(("head", "text"), [each for each in UNUSUAL if each[0][1] != "right"])
def test_an_unusual_mistake_is_told_truly(head: list[str], text: str) -> None:
    tab, kind, lines, says = head
    test_the_mistake_that_was_made_is_the_one_that_is_named(tab, text, kind, [int(n) for n in lines.split()], says)


@pytest.mark.parametrize(
    ("tab", "text", "kind", "lines", "says"), SUBMISSIONS, ids=[f"{s[0]}-{i}" for i, s in enumerate(SUBMISSIONS)]
)
def test_the_mistake_that_was_made_is_the_one_that_is_named(
    tab: str, text: str, kind: str, lines: list[int], says: str
) -> None:
    later = {name: EXERCISES[home].tabs[name].starter for name, (home, since) in PARTS.items() if since > 7}
    result = told(tab, text, **(later if tab == "diamond" else {}))
    assert (result["kind"], result["lines"]) == (kind, lines), f"{result['why']} {result['ask']}"
    assert says in f"{result['why']} {result['ask']}"
    assert result["headline"]
    assert "OutOfSteps" not in result["headline"]


@pytest.mark.slow
def test_a_random_slip_in_a_solution_is_named_in_nine_cases_of_ten() -> None:
    """A few of each tab; `python tests/learn/mutated_solutions.py` tries two hundred."""
    said = [(tab, *each) for tab in HOME for each in sample(tab, 2, seed=1)]
    missed = [(tab, slip.what, slip.line, result["kind"], result["lines"]) for tab, slip, ok, result in said if not ok]
    assert len(said) >= 2 * len(HOME) - 4
    assert len(missed) <= len(said) / 10, missed
