"""The exercises of the course: what to write, what it is tried on, and which mistake a wrong answer is.

A learner's text goes through `splice` and `attempts` to numbers, these through `mistakes` to feedback, and that through
`result` to the page.

| module | what it knows |
|---|---|
| `model` | what an exercise is made of |
| `plus_times`, `slopes`, `backward`, `derived`, `network`, `training_loop` | the exercises, as data |
| `arrays`, `tensors`, `whole_network` | arrays to write with, and the exercises on tensors |
| `splice` | what a learner's text is spliced into |
| `attempts` | running the checks |
| `mistakes`, `errors`, `ledger`, `visit_order`, `array_words` | which mistake it is, and in which words |
| `reading` | what can be seen in the text without running it |
| `repairs`, `changes`, `editing` | the small change that would make the text right |
| `result` | what came of a try, as the page shows it |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

from gradwalk.learn.page.answer import Result
from gradwalk.learn.page.exercises.array_words import compared
from gradwalk.learn.page.exercises.attempts import expected
from gradwalk.learn.page.exercises.backward import BACKWARD, DIAMOND
from gradwalk.learn.page.exercises.derived import DERIVED, REFLECTED
from gradwalk.learn.page.exercises.model import Exercise
from gradwalk.learn.page.exercises.network import NETWORK
from gradwalk.learn.page.exercises.plus_times import PLUS_TIMES
from gradwalk.learn.page.exercises.result import result
from gradwalk.learn.page.exercises.slopes import FUNCTIONS, SLOPES
from gradwalk.learn.page.exercises.splice import HEAD, PARTS, TAIL
from gradwalk.learn.page.exercises.tensors import BROADCAST, PRODUCTS, REDUCTIONS
from gradwalk.learn.page.exercises.training_loop import TRAINING
from gradwalk.learn.page.exercises.whole_network import BATCH_NORM, CROSS_ENTROPY, LAYERS
from gradwalk.messages import Message, sentence

__all__ = [
    "EXERCISES",
    "EnginePart",
    "EngineText",
    "ExerciseEntry",
    "ExerciseMaterial",
    "TabEntry",
    "material",
    "run",
    "solutions",
]

#: Every exercise by its name, in the order of the course.
EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for exercise in (
        *(PLUS_TIMES, SLOPES, BACKWARD, DIAMOND, DERIVED, REFLECTED, FUNCTIONS, NETWORK, TRAINING),
        *(BROADCAST, REDUCTIONS, PRODUCTS, LAYERS, CROSS_ENTROPY, BATCH_NORM),
    )
}


class TabEntry(TypedDict):
    """One function to write; `checks` counts the numbers that are compared.

    >>> material()["exercises"]["slopes"]["tabs"][1]["checks"]
    7
    """

    name: str
    task: Message
    starter: str
    solution: str
    hints: list[Message]
    checks: int


class ExerciseEntry(TypedDict):
    """Functions to write on one screen.

    >>> material()["exercises"]["slopes"]["title"]
    'Power, tanh and exp'
    """

    title: Message
    kind: Literal["methods", "program", "definitions"]
    tabs: list[TabEntry]


class EnginePart(TypedDict):
    """A method of the class that a learner writes, and the lesson it belongs to.

    >>> material()["engine"]["parts"][0]["lesson"]
    7
    """

    name: str
    lesson: int


class EngineText(TypedDict):
    """The class around what a learner writes.

    >>> sorted(material()["engine"])
    ['head', 'parts', 'tail']
    """

    head: str
    tail: str
    parts: list[EnginePart]


class ExerciseMaterial(TypedDict):
    """What the page shows of the exercises before Python is there.

    >>> list(material())
    ['engine', 'exercises']
    """

    engine: EngineText
    exercises: dict[str, ExerciseEntry]


def run(exercise: str, tab: str, sources: Mapping[str, str]) -> Result:
    """Try one tab of an exercise; `sources` holds the learner's texts by the names of their tabs.

    >>> tab = EXERCISES["plus-times"].tabs["__mul__"]
    >>> run("plus-times", "__mul__", {"__mul__": tab.solution})["status"]
    'passed'
    >>> told = run("plus-times", "__mul__", {"__mul__": tab.solution.replace("+=", "=")})
    >>> print(told["headline"], told["why"], told["ask"])
    3.0 where 6.0 is right The second contribution replaced the first. Is there an `=` that should be `+=`?
    """
    return result(EXERCISES[exercise], EXERCISES[exercise].tabs[tab], sources)


def solutions() -> dict[str, str]:
    """The solution of every tab by its name.

    >>> print(solutions()["__neg__"])
    def __neg__(self):
        return self * -1
    <BLANKLINE>
    """
    return {name: tab.solution for exercise in EXERCISES.values() for name, tab in exercise.tabs.items()}


def material() -> ExerciseMaterial:
    """What the page needs to show the exercises, as plain data.

    >>> list(material()), material()["exercises"]["slopes"]["tabs"][1]["name"]
    (['engine', 'exercises'], 'tanh')
    """
    return {
        "engine": {
            "head": HEAD,
            "tail": TAIL,
            "parts": [{"name": name, "lesson": since} for name, (_, since) in PARTS.items()],
        },
        "exercises": {
            name: {
                "title": sentence(exercise.title),
                "kind": exercise.kind,
                "tabs": [
                    {
                        "name": tab.name,
                        "task": sentence(tab.task),
                        "starter": tab.starter,
                        "solution": tab.solution,
                        "hints": list(map(sentence, tab.hints)),
                        "checks": sum(compared(tried) for tried in expected(exercise, tab)),
                    }
                    for tab in exercise.tabs.values()
                ],
            }
            for name, exercise in EXERCISES.items()
        },
    }
