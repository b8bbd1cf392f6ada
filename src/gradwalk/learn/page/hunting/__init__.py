"""The hunt: engines that are wrong on purpose. Watch one, measure it, name its bug, mend it.

| module | what it knows |
|---|---|
| `cases` | the exhibits of the museum, easy ones first, and what each is watched on |
| `trimming` | an engine with no more in it than a program needs |
| `practice` | cases drawn at random |
| `recorder` | which line of an engine writes which number |
| `instrument` | what an engine says, what nudging says |
| `view`, `shapes` | both as the page shows them |
| `choices` | four names for the bug, and why it is not the other three |
| `repair` | whether it is mended, by the grader's own checks |
"""

from __future__ import annotations

from gradwalk.learn.page.answer import Result
from gradwalk.learn.page.hunting.cases import SETS, Case, case_of
from gradwalk.learn.page.hunting.choices import choices_for, family_of
from gradwalk.learn.page.hunting.practice import drawn
from gradwalk.learn.page.hunting.repair import judged
from gradwalk.learn.page.hunting.shapes import CaseShown, HuntMaterial, Place, Seen
from gradwalk.learn.page.hunting.view import shown
from gradwalk.messages import sentence

__all__ = ["draw", "material", "mend", "show", "walk"]

PRACTICE = "practice-"
REST = "rest"


def material() -> HuntMaterial:
    """What the page shows before Python is there: every case of the lesson, with its walk and its measurements.

    Of the rest of the museum only the names, which are many: `show` brings each when somebody comes to see it.

    >>> found = material()
    >>> found["sets"]["classic"], found["cases"]["no-order"]["check"]["leaves"][0]["said"]
    (['overwriting', 'not-zeroed', 'no-order', 'wrong-derivative'], 54.0)
    """
    sets = {name: list(cases) for name, cases in SETS.items()}
    found = {name: show(name) for kind, cases in sets.items() if kind != REST for name in cases}
    return {
        "sets": sets,
        "cases": found,
        "where": {name: _where(case_of(name)) for cases in sets.values() for name in cases},
    }


def show(case: str) -> CaseShown:
    """One case, with its walk and its measurements.

    >>> show("listed-twice")["check"]["leaves"][0]["said"]
    54.0
    """
    return _entry(case_of(case), family_of(case))


def mend(case: str, text: str) -> Result:
    """Whether a learner's text mends a case; in the shape of an exercise's result.

    >>> mend("not-zeroed", case_of("not-zeroed").mended)["headline"]
    'Mended'
    """
    return judged(_case(case), text)


def walk(case: str, text: str) -> Seen:
    """The walk of what the learner has made of a case.

    >>> from gradwalk.learn.page.hunting import walk
    >>> walk("no-order", case_of("no-order").mended)["wrong"]
    []
    """
    return shown(_case(case), text)


def draw(seed: int) -> CaseShown:
    """An engine with a bug, drawn by a number: the same number, the same engine.

    >>> entry = draw(3)
    >>> entry["name"], len(entry["wrong"]) > 0
    ('practice-3', True)
    """
    return _entry(*drawn(seed))


def _case(name: str) -> Case:
    return drawn(int(name.removeprefix(PRACTICE)))[0] if name.startswith(PRACTICE) else case_of(name)


def _where(case: Case) -> Place:
    return "engine" if case.where == "engine" else "program"


def _entry(case: Case, family: str) -> CaseShown:
    return {
        "name": case.name,
        "title": sentence(case.specimen.title),
        "where": _where(case),
        "program": case.program,
        "text": case.text,
        "mended": case.mended,
        "explanation": sentence(case.specimen.explanation),
        "solution": sentence(case.specimen.solution),
        "hints": list(case.hints),
        "choices": choices_for(case, family),
        **shown(case),
    }
