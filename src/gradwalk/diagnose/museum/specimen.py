"""One exhibit: an edit of the teaching engine that makes one thing wrong, and what there is to know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gradwalk.diagnose import teaching
from gradwalk.diagnose.budget import OutOfSteps, limited
from gradwalk.errors import SettingError

__all__ = ["Edit", "Specimen", "Where", "edited"]

Edit = tuple[str, str]  # what the source says, and what it says instead, wherever it says so
Where = Literal["engine", "training loop", "checker", "network"]

STEPS = 200_000  # a right engine needs a few hundred for most programs here, and 100,000 for the deep one


@dataclass(frozen=True)
class Specimen:
    """A bug with its name, explanation, hint and solution, and the smallest program that shows it.

    `right` and `wrong` are what expressions such as `a.grad` give after the program, on the teaching engine and on the
    wrong one. Where the bug is in the program and not in the engine, `repaired` is the program without it, and `where`
    says what kind of program it is. `wrong_error` or `right_error` names what is raised where there are no numbers;
    "OutOfSteps" is what never ends.

    >>> specimen = museum.find("overwriting")
    >>> specimen.number, specimen.right, specimen.wrong
    (1, {'a.grad': 2.0}, {'a.grad': 1.0})
    """

    name: str
    number: int
    title: str
    explanation: str
    hint: str
    solution: str
    program: str
    right: Mapping[str, float]
    wrong: Mapping[str, float] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    where: Where = "engine"
    repaired: str = ""
    wrong_error: str = ""
    right_error: str = ""

    def source(self) -> str:
        """The wrong engine's source text; the teaching engine's own if the bug is not in the engine.

        >>> "self.grad = out.grad" in museum.find("overwriting").source()
        True
        """
        return edited(self.edits)

    def engine(self) -> type[Any]:
        """The wrong engine's class, made afresh.

        >>> a = museum.find("overwriting").engine()(3.0)
        >>> (a + a).backward()
        >>> a.grad
        1.0
        """
        return teaching.load(self.source())

    def show(self) -> tuple[dict[str, float] | str, dict[str, float] | str]:
        """Run the smallest program both ways: what is right, and what the bug makes of it; an error is given by name.

        >>> museum.find("overwriting").show()
        ({'a.grad': 2.0}, {'a.grad': 1.0})
        """
        keys = tuple(self.right or self.wrong)
        return _run(self.repaired or self.program, teaching.load(), keys), _run(self.program, self.engine(), keys)


def edited(edits: tuple[Edit, ...]) -> str:
    """The teaching engine's source with these edits made, one after the other.

    >>> edited((("no such line", ""),))
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: the teaching engine does not say 'no such line', so it cannot be edited there
    """
    text = teaching.SOURCE
    for old, new in edits:
        if old not in text:
            raise SettingError(f"the teaching engine does not say {old!r}, so it cannot be edited there")
        text = text.replace(old, new)
    return text


def _run(program: str, engine: type[Any], keys: tuple[str, ...]) -> dict[str, float] | str:
    names: dict[str, Any] = {"Value": engine}
    try:
        with limited(STEPS):
            exec(program, names)
            return {key: float(eval(key, names)) for key in keys}
    except (Exception, OutOfSteps) as error:
        return type(error).__name__
