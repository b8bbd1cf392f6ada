"""Practice: engines with a bug drawn at random, in any op and any style of writing. A number draws the same one again.

A draw is kept only if it is wrong on one of the programs below, at ordinary numbers: so there is always something to
find, and the program that shows it stands beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache

from gradwalk.diagnose import museum, teaching
from gradwalk.diagnose.adapter import Engine, NotAnEngine
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.museum.faults import SHAPES, Fault, Kind, source_with
from gradwalk.diagnose.museum.mutants import mutants
from gradwalk.diagnose.probes import Probe, run
from gradwalk.diagnose.vocabulary import BINARY, SYMBOL, UNARY
from gradwalk.learn.page.hunting.cases import Case
from gradwalk.learn.page.hunting.choices import family_of, looked_at
from gradwalk.learn.page.hunting.recorder import engine_of
from gradwalk.learn.page.hunting.trimming import functions_of, trimmed
from gradwalk.matcher import Outcome, by_type
from gradwalk.messages import say, sentence

__all__ = ["KNOWN", "drawn"]

#: The programs a draw is tried on, the simplest first.
PROGRAMS = (
    "a = Value(3.0)\nb = Value(2.0)\nc = a * b + a\nc.backward()",
    "a = Value(3.0)\nb = Value(2.0)\nc = (a - b) * b\nc.backward()",
    "a = Value(3.0)\nb = Value(2.0)\nc = a / b + b\nc.backward()",
    "a = Value(3.0)\nb = a**2 * 2\nc = b - a\nc.backward()",
    "a = Value(0.5)\nb = a.tanh() * 3\nc = b + a\nc.backward()",
    "a = Value(0.5)\nb = a.exp() * 2\nc = b + a\nc.backward()",
    "a = Value(0.5)\nb = a.sigmoid() * 4\nc = b + a\nc.backward()",
    "a = Value(2.0)\nb = a.log() * 3\nc = b + a\nc.backward()",
    "a = Value(2.0)\nb = (a * 3).relu() * 2\nc = b + a\nc.backward()",
    "a = Value(2.0)\nb = -a * 3\nc = b + a\nc.backward()",
    "a = Value(2.0)\nb = 5 - a\nc = 8 / a\nd = b * c\nd.backward()",
    "a = Value(3.0)\nb = a * 2\nc = b * b + b\nc.backward()",
    "a = Value(3.0)\nb = a * 2\nc = b + b * b\nc.backward()",
    "a = Value(2.0)\nb = a + 1\nc = a * 3\nd = b * c\nd.backward()",
)
_KINDS: tuple[Kind, ...] = (
    "overwriting", "counting-itself", "without-upstream", "detached", "keyed-by-operand", "negated",
)  # fmt: skip
_WHOLE = (
    "no-order", "listed-twice", "root-twice", "preorder", "not-seeded", "wrong-end", "closure-on-operand", "one-user",
)  # fmt: skip
#: The bugs that are drawn, by the names they are to be called.
KNOWN = frozenset(
    {"overwriting", "counting-itself", "without-upstream", "keyed-by-operand", "wrong-derivative",
     "wrong-value", "reversed-division", "no-order", "listed-twice", "root-twice", "not-seeded", "wrong-end",
     "closure-on-operand"}
)  # fmt: skip
_OPS = (*BINARY, "neg", *UNARY)
_BINARY = tuple(SYMBOL)
STYLES = ("local derivatives in tuples", "a set of operands and recursion", "classes of ops")
MOST_TRIES = 60


@lru_cache(maxsize=8)
def drawn(seed: int) -> tuple[Case, str]:
    """The case that a number draws, and the name its bug is to be called.

    >>> case, family = drawn(7)
    >>> case == drawn(7)[0], case.text != case.mended
    (True, True)
    """
    for turn in range(MOST_TRIES):
        pick = _Dice(f"{seed}/{turn}")
        found = _from_style(pick) if pick(3) == 0 else _from_museum(pick)
        for text, mended, family in found:
            program = _telling(text, mended)
            if program is not None and family in KNOWN:
                return _case(seed, text, mended, program, family), family
    raise AssertionError(f"nothing to find for {seed}")  # pragma: no cover - sixty draws without one


class _Dice:
    """Numbers from a text: the same in every Python."""

    def __init__(self, text: str) -> None:
        self._text, self._turn = text, 0

    def __call__(self, sides: int) -> int:
        self._turn += 1
        digest = hashlib.sha256(f"{self._text}:{self._turn}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % sides


def _from_museum(pick: _Dice) -> Iterator[tuple[str, str, str]]:
    """A bug of the museum in one op, in an engine whose operators are made in one way or another."""
    shapes = [shape for shape in SHAPES if pick(4) == 0]
    composed = {shape.split(",")[0] for shape in shapes}
    shapes = [shape for shape in shapes if "," not in shape]
    if pick(4) == 0:
        name = _WHOLE[pick(len(_WHOLE))]
        text = source_with([Fault("specimen", specimen=name, edits=museum.find(name).edits)], shapes)
        yield text, source_with([], shapes), family_of(name)
        return
    kind, op = _KINDS[pick(len(_KINDS))], _OPS[pick(len(_OPS))]
    if kind == "keyed-by-operand" or op in composed:
        op = _BINARY[pick(len(_BINARY))]
    if op in composed:
        return
    operand = pick(2) if op in _BINARY and kind != "keyed-by-operand" else None
    fault = Fault(kind, op, operand)
    yield source_with([fault], shapes), source_with([], shapes), family_of(fault.name)


def _from_style(pick: _Dice) -> Iterator[tuple[str, str, str]]:
    """A slip of the pen in an engine of another style; the grader says what it is to be called."""
    style = STYLES[pick(len(STYLES))]
    every = [
        mutant
        for mutant in mutants(style)
        if mutant.function not in ("divide", "power", "exponential", "logarithm", "logistic")
    ]
    mutant = every[pick(len(every))]
    right = teaching.STYLES[style]
    program = _telling(mutant.source, right)
    if program is None:
        return
    report = grade(mutant.source, checks=["construction", "ops", "chain", "reuse", "order", "numbers"])
    names = list(dict.fromkeys(diagnosis.specimen for diagnosis in report.diagnoses))
    if len(names) == 1 and names[0]:
        yield mutant.source, right, family_of(names[0])


def _telling(text: str, right: str) -> str | None:
    """The first program that comes out wrong, with numbers, on this engine."""
    try:
        cls, namespace = engine_of(text)
        engine = Engine(cls, namespace)
    except (NotAnEngine, Exception):
        return None
    for program in PROGRAMS:
        asked = Probe("", program, looked_at(program))
        got: Outcome = run(asked, engine, steps=20_000)
        if got.kind == "missing":
            continue
        if got.kind != "numbers":
            return None
        if not by_type(got, asked.expected()):
            return program
    return None


def _case(seed: int, text: str, mended: str, program: str, family: str) -> Case:
    short = trimmed(mended, program)
    specimen = museum.find(family)
    wrong = trimmed(text, program, functions_of(short))
    lines = [at for at, (a, b) in enumerate(zip(wrong.splitlines(), short.splitlines(), strict=False), 1) if a != b]
    where = say("Look around line {line}.", line=lines[0]) if lines else say("Compare its ops with each other.")
    return Case(
        name=f"practice-{seed}",
        specimen=specimen,
        where="engine",
        program=program,
        text=wrong,
        mended=short,
        hints=(sentence(specimen.hint), where),
    )
