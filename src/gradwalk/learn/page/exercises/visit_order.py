"""In which order a learner's `backward` visits the nodes of a small graph, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk import walk
from gradwalk.learn.page.exercises.model import Kind
from gradwalk.learn.page.exercises.splice import BUDGET, names_for
from gradwalk.learn.page.sandbox import LearnerError, guarded
from gradwalk.messages import Message, say
from gradwalk.program import program

__all__ = ["order_of_visits"]

#: Graphs whose nodes all have names, so that a visit can be told; leaves push nothing and are left out.
_GRAPHS = (
    ("b = a*2; c = a*3; d = b*c", {"a": 2.0}),
    ("s = a*2; b = s*5; c = s*3; d = b*c", {"a": 1.0}),
    ("b = a*2; s = b*b; c = s + b", {"a": 3.0}),
    ("b = a*2; s = b*b; c = b + s", {"a": 3.0}),
)


def order_of_visits(text: str) -> tuple[Kind, Message, Message] | None:
    """Watch a `backward` at work on small graphs: what is wrong with its order, in a sentence, and a question.

    >>> told = order_of_visits('''
    ... def backward(self):
    ...     self.grad = 1.0
    ...     queue = [self]
    ...     for node in queue:
    ...         node._backward()
    ...         queue.extend(node._prev)
    ... ''')
    >>> print(told[1])
    `s` was visited 2 times, in `s = a*2; b = s*5; c = s*3; d = b*c`. Each visit pushes all it holds.
    """
    for formula, inputs in _GRAPHS:
        visits = _watched(text, formula, inputs)
        if visits is None:
            return None
        told = _told(visits, formula, inputs)
        if told:
            return told
    return None


def _watched(text: str, formula: str, inputs: dict[str, float]) -> list[str] | None:
    """The names of the nodes in the order of their visits; None where `backward` raises."""
    from gradwalk.learn.page.exercises import EXERCISES

    exercise = EXERCISES["backward"]
    visits: list[str] = []

    def watched(name: str, push: Callable[[], None]) -> Callable[[], None]:
        def visit() -> None:
            visits.append(name)
            push()

        return visit

    try:
        names = names_for(exercise, exercise.tabs["backward"], text, {})
        space: dict[str, Any] = {**names, **{name: names["Value"](x) for name, x in inputs.items()}}
        exec(formula, space)
        labels = [*inputs, *(part.split(" = ")[0] for part in formula.split("; "))]
        for label in labels:
            space[label]._backward = watched(label, space[label]._backward)
        with guarded(budget=BUDGET):
            space[labels[-1]].backward()
    except LearnerError:
        return None
    return visits


def _told(visits: list[str], formula: str, inputs: dict[str, float]) -> tuple[Kind, Message, Message] | None:
    root = program(formula, **inputs).root
    inner = [name for name in visits if name not in inputs]
    wanted = {part.split(" = ")[0] for part in formula.split("; ")}
    missing = wanted - set(inner)
    if missing:
        name = sorted(missing)[0]
        return (
            "a part is missing",
            say("`{name}` was never visited, so what it held went no further.", name=name),
            say("Does the walk reach every node?"),
        )
    verdict = walk.record(root, order=inner, allow_repeats=True).verdict
    again = next((name for name in inner if inner.count(name) > 1), None)
    if again:
        return (
            "visited twice",
            say(
                "`{name}` was visited {times} times, in `{formula}`. Each visit pushes all it holds.",
                name=again,
                times=inner.count(again),
                formula=formula,
            ),
            say("What keeps a node from being visited again?"),
        )
    if not verdict.right:
        return (
            "wrong order",
            say("{verdict}.", verdict=verdict.sentence),
            say("Which nodes must be visited before it?"),
        )
    return None
