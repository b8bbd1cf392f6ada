"""One small change to a learner's own text after which every check agrees: then that change is what was wrong.

What is said of such a text is true of that text, however it is written: the line is the learner's, and with one change
in it all numbers are right. Likely changes are tried first; the first that repairs is taken.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping

from gradwalk.learn.page.exercises.attempts import attempts, expected
from gradwalk.learn.page.exercises.changes import Change, changes
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.matcher import reproduces

__all__ = ["repair"]

_MOST = 700  # changes that are tried
_STEPS = 10_000  # lines that one of them may run for a check: the solutions need fewer


def repair(exercise: Exercise, tab: Tab, text: str, texts: Mapping[str, str]) -> Change | None:
    """The first small change that makes everything agree.

    >>> from gradwalk.learn.page.exercises import EXERCISES
    >>> exercise = EXERCISES["slopes"]
    >>> tab = exercise.tabs["tanh"]
    >>> found = repair(exercise, tab, tab.solution.replace("(1 - out.data", "(2 - out.data"), {})
    >>> found.lines, found.why
    ((5,), 'In line 5, the number `2` is wrong.')
    """
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return None
    right = expected(exercise, tab)
    seen = {ast.unparse(tree)}
    for found in changes(tree, ast.parse(tab.solution)):
        if found.text in seen:
            continue
        seen.add(found.text)
        if len(seen) > _MOST:
            return None
        try:
            tried = attempts(exercise, tab, found.text, texts, budget=_STEPS)
            if reproduces(lambda at, tried=tried: [tried(at).outcome], range(len(right)), lambda at: right[at].outcome):  # type: ignore[misc]
                return found
        except LearnerError:
            continue
    return None
