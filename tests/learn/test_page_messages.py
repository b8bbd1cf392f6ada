"""What the page's Python says crosses as ids with parameters: each has its words in every language of the course."""

from __future__ import annotations

import ast
import builtins
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard, get_type_hints

import pytest

import gradwalk
from gradwalk.diagnose import museum, teaching
from gradwalk.errors import SettingError
from gradwalk.learn.page import bridge, exercises
from gradwalk.learn.page.exercises import EXERCISES
from gradwalk.learn.page.export import page_modules
from gradwalk.learn.page.hunting.cases import case_of
from gradwalk.learn.page.schema import KNOWN_BETTER, PAGE
from gradwalk.learn.page.sentences import material, sentences_in, tables
from gradwalk.messages import Message, crossing, reason_of, say
from gradwalk.program.language import CALLS, LITERALS, REFUSED, TYPED

STRINGS = Path(__file__).resolve().parents[2] / "web/src/strings"
LANGUAGES = sorted(folder.name for folder in STRINGS.iterdir() if folder.is_dir() and folder.name != "en")
ENGLISH = re.compile(r"\b(the|of|is|are|it|its|that|this|with|which|what|you|has|write|there|takes|was)\b")
HOLE = re.compile(r"\{(\w+)\}")
#: Errors of Python's kind to which we have something to say.
OURS = {"RecursionError", "EOFError", "SystemExit", "KeyboardInterrupt"}

#: Programs that cannot be drawn: one at least for each way in which that can happen.
WRONG = [
    "", "x" * 30_000, "d = a % b", "a b", "2a", "a[0]", "a = 1,5", "a + b\nc", "a = b = 2", "a.x = 3 + b", "f(2)(3)",
    "L = sigmod(a)", "L = quux(a)", "np.tanh(a)", "max(a)", "where(a, b)", "tanh(a, b)", "leaky_relu()", "Value(a)",
    "L = tanh(x=3)", "L = tanh(a, label=2)", "max(*a)", "where(a < b < c, a, b)", "a = 'x'", "a = True", "a = 2j",
    "a = None", "a = 1e999999", "a = " + "9" * 5000, "(" * 300 + "a" + ")" * 300, "a = (3", "b = a²", "b = a − 1",
    "b = a\N{NO-BREAK SPACE}+ 1", "n.foo()", "a.backward()", "print(a)", "sum(a)", "zero_grad(a)", "a < b", "a and b",
    "a: float = 2", "if a:\n  b = 1", "for i in a: b", "while a: b", "lambda: a", "a = [1]", "a = {1}", "a := 2",
    "f'{a}'", "~a", "a // b", "a ^ b", "a @ b", "a & b", "a << b", "a >> b", "not a", "a if b else c", "a.data", "\0",
    "b = c; c = 2", "tanh = 2; b = tanh", "a = tanh", "a.where(b)",
    "while True:\n    Value", "Value(2.0)\ninput()", "def f():\n    f()\nf()", "Value\nexit()",
    "Value\nraise KeyboardInterrupt",
    "class N:\n    def __neg__(self):\n        return -self\nValue(2.0)\n-N()",
    "import nothing_here",
    "a = Value(2.0)\nfor i in range(2):\n    b = a\n[b]", "import math",
    "a = Value(1.0)\nfor i in range(200):\n    a = a * 2\na",
    # what the engine itself refuses
    "Value('2')\nmath", "Value([1.0])\nmath", "Value(2j)\nmath", "Value(9**999)\nmath", "MLP(2, [0])", "MLP(2, ['x'])",
    "MLP(2, 3)", "MLP(2, [3])([1.0])", "MLP(1, [3])([1.0, 2.0])", "MLP(2, [3], activation='quux')",
    "Neuron(2, activation=3)", "Neuron(2, nonlin='tanh')",
]  # fmt: skip
#: Other calls of the page that are refused or cut short.
CALLED: list[tuple[str, dict[str, Any]]] = [
    ("programs.run", {"text": "L = a", "inputs": {"a": "x"}}),
    ("training.advance", {"state": {"broken": False}, "rate": 0}),
    ("training.start", {"hidden": []}),
    ("naming.facts", {"names": ""}),
    ("rolling.roll", {"text": "a = 2"}),
    ("rolling.roll", {"text": "L = sigmod(a)"}),
    ("scripts.run", {"parts": ["print('x' * 20000)\ninput()"]}),
    ("sandbox.execute", {"source": "print('x' * 30000)"}),
]


def answer(function: str, **arguments: Any) -> Any:
    return json.loads(bridge.call(function, json.dumps(arguments), lambda text: None))


def dictionary(language: str) -> dict[str, str]:
    text = (STRINGS / language / "messages.ts").read_text(encoding="utf-8")
    entries = re.findall(r'^  ("(?:[^"\\]|\\.)*"):\s*("(?:[^"\\]|\\.)*"),$', text, re.MULTILINE)
    return {json.loads(english): json.loads(theirs) for english, theirs in entries}


def messages_in(thing: Any) -> Iterator[dict[str, Any]]:
    """The messages that lie in some JSON, outermost first."""
    if isinstance(thing, dict) and thing.keys() == {"id", "parameters"}:
        yield thing
        thing = thing["parameters"]
    for each in thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ():
        yield from messages_in(each)


def said(message: Any, words: dict[str, str]) -> str:
    """A message as the page says it."""
    if isinstance(message, str):
        return message
    parts = {name: said(part, words) for name, part in message["parameters"].items()}
    return HOLE.sub(lambda hole: parts[hole[1]], words.get(message["id"], message["id"]))


def test_there_is_a_second_language() -> None:
    assert LANGUAGES == ["es"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_has_its_words_in_each_language(language: str) -> None:
    """The build says so too, with the file; here the same by another reader of the file."""
    words, parts = dictionary(language), material()
    ours = {words: holes for part in parts.values() for words, holes in part.items()}
    assert words.keys() <= ours.keys()
    for part in parts.values():  # all of a part, or nothing of it
        assert part.keys() <= words.keys() or part.keys().isdisjoint(words)
    assert parts["page"].keys() <= words.keys()
    for english, holes in [(english, ours[english]) for english in words]:
        assert sorted(set(HOLE.findall(words[english]))) == holes
        assert words[english].strip(), english


def test_every_refusal_is_told_in_the_learners_language() -> None:
    words, known = dictionary("es"), material()["page"]
    refused = 0
    for text in WRONG:
        found = answer("programs.run", text=text)["result"]["error"]
        if found is None:  # some are fine after all, as a name without a number
            continue
        refused += 1
        if hasattr(builtins, found["kind"]) and found["kind"] not in OURS and found["message"]["id"] == "{text}":
            continue  # so says Python
        for message in messages_in(found):
            assert message["id"] in known or not re.search(r"\w", HOLE.sub("", message["id"])), text[:60]
        spoken = said(found["message"], words)
        quoted = re.sub(r"\(.*?\)|Layer of \d+ \w+ neurons?|\w* neurons?", "", spoken)  # code, and what Python says
        assert found["message"]["id"] != "{text}", (text[:60], found)
        assert not ENGLISH.search(quoted), spoken
    assert refused >= len(WRONG) - 6


#: Fields of what crosses that hold names, code, numbers as they are shown, and the like: nothing to be translated.
NO_WORDS = {
    "assumed", "block", "engine", "error", "expected", "family", "fault", "got", "group", "head", "kind", "lacks",
    "made", "mended", "name", "names", "op", "operands", "ours", "oursPrinted", "program", "reach", "rows", "sets",
    "slopes", "solution", "source", "specimen", "spreads", "starter", "tail", "tape", "text", "texts", "theirs",
    "theirsPrinted", "title", "torch", "what", "where",
}  # fmt: skip


def test_no_finished_sentence_can_cross() -> None:
    """By their types: what is said is a Message, and mypy lets no text be one; other texts have a name that says so."""
    found = {
        field
        for shape in PAGE
        for field, hint in get_type_hints(shape).items()
        if (shape.__name__, field) not in KNOWN_BETTER  # made of other shapes
        and re.search(r"\bstr\b", str(hint).replace("dict[str, ", "["))
    }
    assert found == NO_WORDS


def test_whatever_an_exercise_says_has_its_words_in_the_catalogue() -> None:
    known = every_sentence()
    for name, exercise in EXERCISES.items():
        for tab in exercise.tabs.values():
            texts = [tab.starter, tab.solution, "def", "raise KeyboardInterrupt", f"def {tab.name}(self, *more): pass"]
            texts += [mistake.apply(tab.solution) for mistake in tab.mistakes[::7]]
            for text in texts:
                assert_known(answer("exercises.run", exercise=name, tab=tab.name, sources={tab.name: text}), known)
    assert_known(json.loads(json.dumps(crossing(exercises.material()))), known)


def test_whatever_the_hunt_says_has_its_words_in_the_catalogue() -> None:
    known = every_sentence()
    for case in ("overwriting", "not-zeroed", "recursion-limit", "dead-relu", "cut-short-by-zip"):
        assert_known(answer("hunting.show", case=case), known)
        text = case_of(case).text
        for tried in (text, case_of(case).mended, text + "\n1 / 0", text.replace("+=", "-="), "x = 1"):
            assert_known(answer("hunting.mend", case=case, text=tried), known)
    for seed in range(3):
        assert_known(answer("hunting.draw", seed=seed), known)


def test_whatever_the_grader_says_has_its_words_in_the_catalogue() -> None:
    known = every_sentence()
    texts = [specimen.source() for specimen in museum.SPECIMENS[::3] if specimen.where == "engine"]
    texts += [
        "x = 1", "def", "1 / 0", "class Value:\n    pass", "while True:\n    pass", "raise KeyboardInterrupt",
        "class Value:\n    def __init__(self, x):\n        self.data = x\n        self.grad = 0.0",
        teaching.SOURCE.replace("def tanh", "def other"), teaching.SOURCE.replace("import math", ""),
        teaching.SOURCE.replace("z = x * y", "z = x * y + 1"), teaching.SOURCE.replace("+= y * out.grad", "= y"),
        teaching.SOURCE.replace("def push():", "def push():\n            print('here')"),
        teaching.SOURCE.replace("def backward(self", "def backward(self, strange"),
    ]  # fmt: skip
    for text in texts:
        found = answer("grading.run", source=text)
        assert_known(found, known)
        report = found["result"]["report"]
        said = [told[field] for told in report["diagnoses"] for field in ("sentence", "hint", "solution")]
        said += [check[field] for check in report["checks"] for field in ("title", "message")]
        assert all(isinstance(each, dict) for each in (*said, *report["notes"], *found["result"]["groups"].values()))


def test_sentences_in_tables_are_written_out_and_have_no_holes() -> None:
    """None of them was put together from others, and none looks as if something had to be put in."""
    package = Path(gradwalk.__path__[0])
    texts = [(package / path).read_text(encoding="utf-8") for path in page_modules()]
    constants = {node.value for text in texts for node in ast.walk(ast.parse(text)) if is_text(node)}
    whole = "\n".join(constants)
    for words in [words for part in tables().values() for words in part]:
        assert words.removesuffix(".") in whole, words
    assert not [words for part in ("exercises", "hunt") for words in tables()[part] if HOLE.search(words)]


def is_text(node: ast.AST) -> TypeGuard[Any]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def every_sentence() -> set[str]:
    return {words for part in material().values() for words in part}


def assert_known(found: Any, known: set[str]) -> None:
    messages = list(messages_in(found))
    assert messages
    for message in messages:
        words = HOLE.sub("", message["id"])
        assert message["id"] in known or not re.search(r"[^\W\d_]{2}", words), message
        assert set(HOLE.findall(message["id"])) == set(message["parameters"]), message


def test_what_else_the_page_calls_speaks_it_too() -> None:
    words = dictionary("es")
    for function, arguments in CALLED:
        found = answer(function, **arguments)
        told = [said(message, words) for message in messages_in(found) if message["id"] != "{text}"]
        assert told, (function, found)
        assert not any(ENGLISH.search(each) for each in told), told


def test_a_learners_names_are_never_translated() -> None:
    words = dictionary("es")
    for name in ("text", "nothing", "{name}", "{other}"):
        message = crossing(say("no function is called {name}; did you mean {other}?", name=name, other="tanh"))
        assert said(message, words) == f"ninguna función se llama {name}; ¿querías decir tanh?"
        assert say("no function is called {name}; there are {names}", name=name, names="x").startswith(
            f"no function is called {name};"
        )


def test_the_tables_of_the_language_hold_messages_where_they_hold_words() -> None:
    refused = [*REFUSED.values(), *LITERALS.values()]
    remedies = [*(remedy for _, remedy in refused), *CALLS.values()]
    names = [what for what, _ in refused if " " in what and what not in ("[ ]", "{ }", "if … else")]
    signs = [sign for sign in TYPED.values() if " " in sign]
    assert all(isinstance(each, Message) for each in (*remedies, *names, *signs))


def test_a_sentence_that_could_not_be_looked_up_is_refused() -> None:
    for text, why in [
        ('say("there is no " + name)', "line 1: the words of a sentence are written out"),
        ('say(f"there is no {name}")', "line 1: the words of a sentence are written out"),
        ('say("there is no {name}", other=1)', "the holes of 'there is no {name}' are name, and its parts are other"),
    ]:
        with pytest.raises(SettingError, match=re.escape(why)):
            list(sentences_in(text, "example.py"))


def test_a_message_is_a_text_that_survives_its_travels() -> None:
    message = say("{name} takes {takes}", name="max", takes=say("{count} operands", count=2))
    again = pickle.loads(pickle.dumps(message))
    assert again == message == "max takes 2 operands"
    assert (again.words, again.parts["takes"].words) == (message.words, "{count} operands")
    with pytest.raises(TypeError) as caught:
        gradwalk.Value("2")
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value)
    assert isinstance(reason_of(error), Message)
