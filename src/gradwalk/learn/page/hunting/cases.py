"""The cases of the hunt: each exhibit of the museum with a program to watch it on, easy ones first.

`CLASSIC` are the four that everybody meets; `OPS`, `WALKS` and `AROUND` are twelve more, four at a time; `REST` is what
else the museum has. Where an exhibit is not here by name, its own smallest program is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gradwalk.diagnose import museum, teaching
from gradwalk.diagnose.museum import Specimen
from gradwalk.errors import SettingError
from gradwalk.learn.page.hunting.instrument import Counts
from gradwalk.learn.page.hunting.trimming import functions_of, trimmed
from gradwalk.messages import Message, say, sentence

__all__ = ["SETS", "Case", "case_of"]

#: The cases of each widget of the lesson.
SETS: dict[str, tuple[str, ...]] = {
    "classic": ("overwriting", "not-zeroed", "no-order", "wrong-derivative"),
    "ops": ("minus-without-its-sign", "power-without-its-factor", "without-upstream", "counting-itself"),
    "walks": ("not-seeded", "root-twice", "wrong-end", "preorder"),
    "around": ("reversed-division", "detached-op", "changes-its-input", "left-over-gradients"),
}
SETS["rest"] = tuple(
    specimen.name for specimen in museum.SPECIMENS if not any(specimen.name in names for names in SETS.values())
)

#: Programs that show more than the smallest one: a number that is right beside one that is not.
_PROGRAMS = {
    "no-order": "a = Value(3.0)\nb = a * 2\nc = b + b * b\nc.backward()",
    "overwriting": "a = Value(-2.0)\nb = Value(3.0)\nd = a * b\ne = a + b\nf = d * e\nf.backward()",
    "wrong-derivative": "a = Value(3.0)\nb = Value(2.0)\nc = Value(4.0)\nd = a * b + c\nd.backward()",
    "minus-without-its-sign": "a = Value(5.0)\nb = Value(3.0)\nc = Value(2.0)\nd = (a - b) * c\nd.backward()",
    "power-without-its-factor": "a = Value(3.0)\nb = Value(2.0)\nc = a**2 * b\nc.backward()",
    "without-upstream": "a = Value(2.0)\nb = Value(3.0)\nc = a.relu()\nd = c * b\nd.backward()",
    "not-seeded": "a = Value(3.0)\nb = Value(2.0)\nc = a * b + a\nc.backward()",
    "root-twice": "a = Value(3.0)\nb = Value(2.0)\nc = a * b\nc.backward()",
    "detached-op": "a = Value(3.0)\nb = Value(4.0)\nc = a / 2\nd = c * b\nd.backward()",
    "changes-its-input": "a = Value(-2.0)\nb = a.relu()\nc = b + a\nc.backward()",
    "cut-short-by-zip": "weights = [Value(1.0), Value(2.0), Value(3.0)]\ninputs = [4.0, 5.0]\nout = Value(0.0)\n"
    "for w, x in zip(weights, inputs):\n    out = out + w * x\nout.backward()",
    "dead-relu": "w = Value(0.5)\nbias = Value(-10.0)\nloss = Value(0.0)\nfor x in [-2.0, 1.0, 3.0]:\n"
    "    loss = loss + (w * x + bias).relu()\nloss.backward()",
}
#: The same programs without the bug, where the bug is in the program.
_REPAIRED = {
    "cut-short-by-zip": _PROGRAMS["cut-short-by-zip"].replace("inputs)", "inputs, strict=True)"),
    "dead-relu": _PROGRAMS["dead-relu"].replace("-10.0", "0.1"),
}
#: What a mended program must give, where several repairs are as good as ours.
_ENOUGH = {"dead-relu": "w.grad != 0.0", "saturated-tanh": "w.grad != 0.0"}
#: Too large to draw, or without a graph.
_NOT_DRAWN = {"every-path", "recursion-limit", "check-that-cannot-fail"}


@dataclass(frozen=True)
class Case:
    """One engine, or one program, that is wrong on purpose.

    `text` is what the learner mends: the engine's source, or the program where the bug is there. `mended` is one way to
    do so.

    >>> case = case_of("overwriting")
    >>> case.where, "self.grad = out.grad" in case.text, "self.grad += out.grad" in case.mended
    ('engine', True, True)
    """

    name: str
    specimen: Specimen  # whose bug it is
    where: str
    program: str
    text: str
    mended: str
    hints: tuple[Message, ...]
    counts: Counts = "since zeroed"
    drawn: bool = True
    enough: str = ""

    @property
    def engine(self) -> str:
        """The source of the engine that the program runs on.

        >>> "def ordered" in case_of("not-zeroed").engine
        True
        """
        return self.text if self.where == "engine" else trimmed(teaching.SOURCE, self.program)


@cache
def case_of(name: str) -> Case:
    """The case of this name.

    >>> case_of("not-zeroed").where, case_of("not-zeroed").counts
    ('training loop', 'last walk')
    """
    specimen = museum.find(name)
    program = _PROGRAMS.get(name, specimen.program)
    if specimen.where == "engine":
        mended = trimmed(teaching.SOURCE, program)
        text = trimmed(specimen.source(), program, functions_of(mended))  # also a helper that nobody calls any more
        if text == mended:
            raise SettingError(f"the program of {name!r} does not use what is wrong with it")
    else:
        text, mended = program, _REPAIRED.get(name, specimen.repaired)
    return Case(
        name=name,
        specimen=specimen,
        where=specimen.where,
        program=program,
        text=text,
        mended=mended,
        hints=(sentence(specimen.hint), *_more_hints(specimen, text, mended)),
        counts="last walk" if specimen.where == "training loop" else "since zeroed",
        drawn=name not in _NOT_DRAWN,
        enough=_ENOUGH.get(name, ""),
    )


def _more_hints(specimen: Specimen, text: str, mended: str) -> tuple[Message, ...]:
    """Where to look, once the first hint was not enough; and the remedy in words."""
    wrong, right = text.splitlines(), mended.splitlines()
    first = next((i for i, (a, b) in enumerate(zip(wrong, right, strict=False)) if a != b), min(len(wrong), len(right)))
    function = next((line.strip() for line in reversed(wrong[: first + 1]) if line.strip().startswith("def ")), "")
    name = function.removeprefix("def ").split("(")[0]
    if name == "push":
        outer = [line.strip() for line in wrong[:first] if line.startswith("    def ")]
        name = outer[-1].removeprefix("def ").split("(")[0]
    place = say("Look at line {line}.", line=first + 1)
    if name:
        place = say("Look at `{name}`, around line {line}.", name=name, line=first + 1)
    return place, sentence(specimen.solution)
