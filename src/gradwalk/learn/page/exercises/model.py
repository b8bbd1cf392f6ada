"""What an exercise is made of: functions to write, what each is tried on, and the mistakes that can be named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gradwalk.diagnose.probes import Probe
from gradwalk.messages import say, sentence, verbatim

__all__ = ["Exercise", "Kind", "Mistake", "Tab", "on"]

#: What a mistake is called. The first five are those that every learner meets.
Kind = Literal[
    "overwritten",
    "wrong local derivative",
    "wrong order",
    "not implemented",
    "changed the wrong thing",
    "visited twice",
    "no seed",
    "forgets the upstream gradient",
    "counted twice",
    "a part is missing",
    "wrong direction",
    "turned round",
    "cut off",
    "not zeroed",
    "wrong value",
    "inputs cut short",
    "thrown away",
    "calls itself",
    "nested",
    "keeps from call to call",
    "forgotten sum",
    "lost axis",
    "kept axis",
    "wrong transpose",
    "slip",
]


@dataclass(frozen=True)
class Mistake:
    """A mistake that people make: how the solution would look with it, why that is wrong, and a question.

    >>> Mistake("overwritten", (("+=", "="),), "", "").apply("x += 1")
    'x = 1'
    """

    kind: Kind
    edits: tuple[tuple[str, str], ...]
    why: str
    ask: str
    #: In place of the numbers, where these would say little.
    headline: str = ""
    #: Lines of it that are not as in the solution, and not to blame.
    innocent: tuple[str, ...] = ()

    def apply(self, solution: str) -> str:
        """The solution with the mistake in it.

        >>> Mistake("wrong direction", (("self", "out"), ("other", "self")), "", "").apply("self.grad, other.grad")
        'out.grad, self.grad'
        """
        for old, new in self.edits:
            solution = solution.replace(old, new)
        return solution


@dataclass(frozen=True, eq=False)
class Tab:
    """One function to write.

    `prepare` gives the names that the function and its checks may use, and takes in what the learner's text defined.

    >>> tab = EXERCISES["plus-times"].tabs["__mul__"]
    >>> tab.task
    'Times swaps and scales. Watch out for `x * x`: both operands are the same node.'
    """

    name: str
    task: str
    starter: str
    solution: str
    hints: tuple[str, ...]
    checks: tuple[Probe, ...]
    mistakes: tuple[Mistake, ...] = ()
    #: What to say when everything agrees.
    done: str = ""
    #: Other methods that stand in the class as the solutions have them, so that none leads back here unnoticed.
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Exercise:
    """Functions to write on one screen, and what they are spliced into.

    >>> EXERCISES["slopes"].title, list(EXERCISES["slopes"].tabs)
    ('Power, tanh and exp', ['__pow__', 'tanh', 'exp'])
    """

    name: str
    title: str
    #: What the texts are: methods of `Value`, a program on the learner's own engine, or definitions beside `Value`.
    kind: Literal["methods", "program", "definitions"]
    tabs: Mapping[str, Tab]
    #: What is defined already where a learner's definitions run.
    given: str = ""
    #: Whether definitions are of arrays, and not of Values.
    arrays: bool = False

    @property
    def budget(self) -> int:
        """So many lines of a learner's text may run for one check; on arrays a line takes much longer, and few will do.

        >>> EXERCISES["slopes"].budget, EXERCISES["unbroadcast"].budget
        (40000, 2000)
        """
        return 2_000 if self.arrays else 40_000


def on(body: str, see: str, title: str = "", words: bool = False, /, **inputs: float) -> Probe:
    """A check from a formula and its inputs: leaves, lines, and a walk back from the last one.

    A title is the formula as a person writes it, or `words` for it.

    >>> check = on("y = x * x", "x.grad", x=3)
    >>> print(check.title, check.text, sep="\\n")
    x * x, x = 3
    x = Value(3.0)
    y = x * x
    y.backward()
    """
    lines = body.split("; ")
    root = lines[-1].split(" = ")[0]
    leaves = [f"{name} = Value({float(x)!r})" for name, x in inputs.items()]
    at = ", ".join(f"{name} = {x:g}" for name, x in inputs.items()).replace("-", "−")
    formula = title or (lines[0].split(" = ")[1] if len(lines) == 1 else body)
    shown = sentence(formula) if words else verbatim(formula)
    return Probe(
        say("{what}, {inputs}", what=shown, inputs=at),
        "\n".join([*leaves, *lines, f"{root}.backward()"]),
        tuple(see.split()),
    )
