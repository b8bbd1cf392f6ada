"""Every sentence that Python can say to a reader of the course: what each language of the course has to have.

Those that are made where they are said stand in a call of `say` with their words written out: they are read from the
source. Those that stand whole in a table, such as the hints of an exercise, are taken from there. The build compares
all of them with every translation, `web/src/strings/<language>/messages.ts`.

They come in parts. Every page needs the first; a widget names the others that it needs (`says` in its schema), and a
language has all of a part or nothing of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gradwalk
from gradwalk.diagnose import museum, phrases
from gradwalk.diagnose.checks import CHECKS, GROUPS
from gradwalk.errors import SettingError
from gradwalk.learn.page.exercises import EXERCISES
from gradwalk.learn.page.export import page_modules
from gradwalk.learn.page.hunting.choices import family_of, label_of, sign_of
from gradwalk.messages import Message

__all__ = ["material", "sentences_in", "tables"]

#: Where each part is said; what is nowhere here belongs to the first. A sentence is in the first part that says it.
PARTS = {
    "page": (),
    "exercises": ("learn/page/exercises", "walk"),
    "hunt": ("learn/page/hunting",),
    "grader": ("diagnose", "learn/page/grading.py"),
}
_HOLE = re.compile(r"\{(\w+)\}")
_SPEAKS = re.compile(r"^from gradwalk\.messages import .*\bsay\b", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{2}")  # what is to be translated: not signs and single letters


def material() -> dict[str, dict[str, list[str]]]:
    """The words of each sentence, and the names of its holes, by the part it belongs to.

    >>> material()["page"]["no function is called {name}; did you mean {other}?"]
    ['name', 'other']
    >>> material()["exercises"]["Which push is missing?"]
    []
    """
    found: dict[str, dict[str, list[str]]] = {}
    written = tables()
    for part in PARTS:
        texts = {path: _text(path) for path in _modules(part)}
        speaking = {path: text for path, text in texts.items() if _SPEAKS.search(text)}
        said = [each for path, text in speaking.items() for each in sentences_in(text, str(path))]
        said += [(words, sorted(set(_HOLE.findall(words)))) for words in written.get(part, ())]
        known = {words for earlier in found.values() for words in earlier}
        found[part] = {
            words: holes for words, holes in sorted(said) if _WORD.search(_HOLE.sub("", words)) and words not in known
        }
    return found


def tables() -> dict[str, set[str]]:
    """The sentences that stand whole in tables, by their part.

    >>> "Plus copies, and `x + x` adds up to two." in tables()["exercises"]
    True
    """
    exercises, hunt = set[str](), set[str]()
    for exercise in EXERCISES.values():
        exercises.add(exercise.title)
        for tab in exercise.tabs.values():
            exercises.update((tab.task, tab.done, *tab.hints))
            for check in tab.checks:
                exercises.update(_words_of(check.title))
            for mistake in tab.mistakes:
                exercises.update((mistake.why, mistake.ask, mistake.headline))
    for specimen in museum.SPECIMENS:
        family = family_of(specimen.name)
        hunt.update((specimen.title, specimen.explanation, specimen.hint, specimen.solution))
        hunt.update((label_of(family), sign_of(family)))
    grader = {*GROUPS.values(), *(words for check in CHECKS.values() for words in _words_of(check.title))}
    for table in (phrases.IN_OP, phrases.IN_EVERY_OP, phrases.IN_WALK, phrases.ANSWERS):
        grader.update(table.values())
    for three in phrases.SEEN.values():
        grader.update(three)
    return {"exercises": exercises, "hunt": hunt, "grader": grader}


def _words_of(text: str) -> Iterator[str]:
    """The words of a text without holes, and of the messages in a message."""
    if not isinstance(text, Message):
        yield text
    elif not text.parts:
        yield text.words
    else:
        for part in text.parts.values():
            if isinstance(part, Message):
                yield from _words_of(part)


def sentences_in(text: str, file: str) -> Iterator[tuple[str, list[str]]]:
    """The sentences of a module; SettingError for one that is put together, or whose parts do not fit its holes.

    >>> list(sentences_in('say("there is no {name}", name=x)', "example.py"))
    [('there is no {name}', ['name'])]
    >>> list(sentences_in('say("there is no {name}")', "example.py"))
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: example.py, line 1: the holes of 'there is no {name}' are name, and its parts are none
    """
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(ast.Name("say"), [ast.Constant(str(words))], parts):
                holes = sorted(set(_HOLE.findall(words)))
                given = sorted(str(part.arg) for part in parts)
                if holes != given:
                    raise SettingError(
                        f"{file}, line {node.lineno}: the holes of {words!r} are {_listed(holes)}, "
                        f"and its parts are {_listed(given)}"
                    )
                yield words, holes
            case ast.Call(ast.Name("say")):
                raise SettingError(f"{file}, line {node.lineno}: the words of a sentence are written out in the call")


def _modules(part: str) -> list[Path]:
    """The modules of the page that say what belongs to a part."""
    elsewhere = [Path(place) for name, places in PARTS.items() if name != part for place in places]
    own = [Path(place) for place in PARTS[part]]
    if own:
        return [path for path in page_modules() if any(path.is_relative_to(place) for place in own)]
    return [path for path in page_modules() if not any(path.is_relative_to(place) for place in elsewhere)]


@cache
def _text(path: Path) -> str:
    return (Path(gradwalk.__path__[0]) / path).read_text(encoding="utf-8")


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
