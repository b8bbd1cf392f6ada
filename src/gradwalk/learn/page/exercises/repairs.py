"""One small change to a learner's own text after which every check agrees: then that change is what was wrong.

What is said of such a text is true of that text, however it is written: the line is the learner's, and with one change
in it all numbers are right. Likely changes are tried first; the first that repairs is taken.
"""

from __future__ import annotations

import ast
import builtins
import math
import textwrap
from collections.abc import Mapping
from itertools import islice

from gradwalk.engine import Value
from gradwalk.learn.page.exercises.arrays import Array
from gradwalk.learn.page.exercises.attempts import attempts, expected, unchanged
from gradwalk.learn.page.exercises.changes import Change, changes, places_to_look
from gradwalk.learn.page.exercises.editing import Editor
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.matcher import reproduces

__all__ = ["repair"]

_MOST = 250  # changes that are tried where nobody knows in which line
_STEPS = 10_000  # lines that one of them may run for a check at most: the solutions need fewer


def repair(exercise: Exercise, tab: Tab, text: str, texts: Mapping[str, str]) -> Change | None:
    """The first small change that makes everything agree.

    >>> exercise = EXERCISES["slopes"]
    >>> tab = exercise.tabs["tanh"]
    >>> found = repair(exercise, tab, tab.solution.replace("(1 - out.data", "(2 - out.data"), {})
    >>> found.lines, found.why
    ((5,), 'On line 5, the number `2` is wrong.')
    """
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return None
    solution = ast.parse(tab.solution)
    right = expected(exercise, tab)
    seen = {ast.unparse(tree)}

    def repairs(change: Change) -> bool:
        if change.text in seen:
            return False
        seen.add(change.text)
        try:
            tried = attempts(exercise, tab, change.text, texts, budget=min(_STEPS, exercise.budget // 4))
            return reproduces(lambda at: [tried(at).outcome], range(len(right)), lambda at: right[at].outcome)
        except LearnerError:
            return False

    with unchanged(math, builtins, Value, Array):
        there = next(filter(repairs, places_to_look(Editor(tree), solution)), None)
        if there and not there.vague:
            return there
        seen.discard(there.text if there else "")
        editor = Editor(tree, there.lines[0] if there else None)  # one line is searched to its end, a whole text is not
        what = next(filter(repairs, islice(changes(editor, solution), None if there else _MOST)), None)
    return what or there
