"""Every sentence that Python can say to a reader of the course: what each language of the course has to have.

They are read from the source, where each stands in a call of `say` with its words written out. The build compares them
with every translation, `web/src/strings/<language>/messages.ts`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import gradwalk
from gradwalk.errors import SettingError
from gradwalk.learn.page.export import page_modules

__all__ = ["material", "sentences_in"]

_HOLE = re.compile(r"\{(\w+)\}")


def material() -> dict[str, list[str]]:
    """The words of each sentence, and the names of its holes.

    >>> material()["no function is called {name}; did you mean {other}?"]
    ['name', 'other']
    """
    package = Path(gradwalk.__path__[0])
    texts = {path: (package / path).read_text(encoding="utf-8") for path in page_modules()}
    speaking = {path: text for path, text in texts.items() if "from gradwalk.messages import" in text}
    found = (sentence for path, text in speaking.items() for sentence in sentences_in(text, str(path)))
    return {words: holes for words, holes in sorted(found) if re.search(r"\w", _HOLE.sub("", words))}


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


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
