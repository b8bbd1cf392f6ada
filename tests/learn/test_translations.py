"""What the page's Python says, in another language: every message a learner can get, and nothing of Python's own."""

from __future__ import annotations

import ast
import builtins
import re
import string
from collections.abc import Iterator
from keyword import kwlist
from pathlib import Path

import pytest

import gradwalk
from gradwalk.learn.page import bridge, programs, translations
from gradwalk.program.language import CALLS, LITERALS, REFUSED, TYPED

LANGUAGES = sorted(
    path.stem for path in Path(translations.__file__ or "").parent.glob("*.py") if not path.stem.startswith("_")
)
ENGLISH = re.compile(r"\b(the|of|is|are|it|its|that|this|with|which|what|you|has|write|there)\b")
HOLE = re.compile(r"\{(\w+)\}")
#: Errors of Python's kind to which we have something to say.
OURS = {"RecursionError", "EOFError", "SystemExit", "KeyboardInterrupt"}
each_language = pytest.mark.parametrize("language", LANGUAGES)

#: Programs that cannot be drawn: one at least for each way in which that can happen.
WRONG = [
    "", "x" * 30_000, "d = a % b", "a b", "2a", "a[0]", "a = 1,5", "a + b\nc", "a = b = 2", "a.x = 3 + b", "f(2)(3)",
    "L = sigmod(a)", "L = quux(a)", "np.tanh(a)", "max(a)", "where(a, b)", "tanh(a, b)", "leaky_relu()", "Value(a)",
    "L = tanh(x=3)", "L = tanh(a, label=2)", "max(*a)", "where(a < b < c, a, b)", "a = 'x'", "a = True", "a = 2j",
    "a = None", "a = 1e999999", "a = " + "9" * 5000, "(" * 300 + "a" + ")" * 300, "a = (3", "b = a²", "b = a − 1",
    "b = a\N{NO-BREAK SPACE}+ 1", "n.foo()", "a.backward()", "print(a)", "sum(a)", "zero_grad(a)", "a < b", "a and b",
    "a: float = 2", "if a:\n  b = 1", "for i in a: b", "while a: b", "lambda: a", "a = [1]", "a = {1}", "a := 2",
    "f'{a}'", "~a", "a // b", "a ^ b", "a @ b", "a & b", "a << b", "a >> b", "not a", "a if b else c", "a.data", "\0",
    "b = c; c = 2", "tanh = 2; b = tanh",
    "while True:\n    Value", "Value(2.0)\ninput()", "def f():\n    f()\nf()", "Value\nexit()",
    "Value\nraise KeyboardInterrupt",
    "class N:\n    def __neg__(self):\n        return -self\nValue(2.0)\n-N()",
    "import nothing_here",
    "a = Value(2.0)\nfor i in range(2):\n    b = a\n[b]", "import math",
    "a = Value(1.0)\nfor i in range(200):\n    a = a * 2\na",
]  # fmt: skip


@pytest.fixture(params=LANGUAGES)
def spoken(request: pytest.FixtureRequest) -> Iterator[str]:
    translations.speak(request.param)
    yield request.param
    translations.speak("en")


def test_there_is_a_second_language() -> None:
    assert LANGUAGES == ["es"]


@pytest.mark.parametrize("text", WRONG, ids=lambda text: repr(text)[:40])
def test_every_refusal_is_told_in_the_learners_language(text: str) -> None:
    error = programs.run(text)["error"]
    if error is None:  # some are fine after all, as a name without a number
        return
    for language in LANGUAGES:
        said = translations.translated(error["message"], language)
        unquoted = re.sub(r"\(.*?\)", "", said)  # what Python says stands in brackets
        if hasattr(builtins, error["kind"]) and error["kind"] not in OURS:
            continue  # so says Python
        assert said != error["message"], said
        assert not ENGLISH.search(unquoted), said


def test_most_of_these_are_refused() -> None:
    assert sum(programs.run(text)["error"] is not None for text in WRONG) >= len(WRONG) - 6


@each_language
def test_every_remedy_of_the_language_is_known(language: str) -> None:
    known = translations.catalogue(language)
    refused = [*REFUSED.values(), *LITERALS.values()]
    remedies = {remedy for _, remedy in refused} | set(CALLS.values())
    names = {what for what, _ in refused if " " in what and what not in ("[ ]", "{ }", "if … else")} | {"text"}
    spelt = {sign for sign in TYPED.values() if " " in sign}
    assert (remedies | names | spelt) - set(known) == set()


@each_language
def test_a_translation_has_the_same_holes(language: str) -> None:
    for english, theirs in translations.catalogue(language).items():
        assert set(HOLE.findall(theirs)) <= set(HOLE.findall(english)), english
        assert theirs.strip(string.whitespace), english
        missing = set(HOLE.findall(english)) - set(HOLE.findall(theirs))
        assert missing <= {"same"}, english


@each_language
def test_no_entry_has_outlived_its_message(language: str) -> None:
    """The words of each entry still stand in the source: a message that was reworded needs its translation anew."""
    package = Path(gradwalk.__file__ or "").parent
    files = [*(package / "program").glob("*.py"), *(package / "learn/page").glob("*.py")]
    written = "\n".join(_texts(path) for path in files)
    for english in translations.catalogue(language):
        pieces = [piece for piece in HOLE.split(english)[::2] if len(piece.strip()) > 3]
        assert all(piece.strip("; :") in written for piece in pieces), english


def _texts(path: Path) -> str:
    """The texts of a module, one after the other, as they are when it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return "".join(value for value in constants if isinstance(value, str))


def test_a_learners_names_are_never_translated() -> None:
    for name in ("text", "nothing", *kwlist[3:6]):
        assert translations.translated(f"no function is called {name}; did you mean tanh?", "es").startswith(
            f"ninguna función se llama {name};"
        )
    told = translations.translated("there is no {name}; give it a value: program(..., x=1.0)", "es")
    assert told.startswith("no hay ningún {name}")


def test_pythons_own_words_and_unknown_languages_are_left_alone() -> None:
    for message in ("name 'x' is not defined", "division by zero", "invalid syntax", ""):
        assert translations.translated(message, "es") == message
    assert translations.translated("write 1 or 0", "xx") == "write 1 or 0"
    assert translations.translated("write 1 or 0", "../es") == "write 1 or 0"


def test_the_bridge_speaks_it(spoken: str) -> None:
    pieces: list[str] = []
    answer = bridge.call("sandbox.execute", '{"source": "input()"}', pieces.append)
    assert "input() no tiene a quién preguntar" in answer
    bridge.call("sandbox.execute", '{"source": "print(\'x\' * 30000)"}', pieces.append)
    assert pieces[-1].endswith("… y 10,001 caracteres más, que no se muestran\n")
    assert programs.run("d = a ^ 2")["error"]["message"].startswith("^ no forma parte")  # type: ignore[index]
