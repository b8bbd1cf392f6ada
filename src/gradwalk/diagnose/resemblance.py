"""Engines that are the same but for names, comments and spaces: a remark for a teacher to think about, no verdict.

A text is read as tokens, never as a tree: a stranger's text can be nested so deeply that a parser gives up.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import keyword
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping

__all__ = ["groups", "print_of"]

FORMATTED = "f"  # stands for an f-string: there are names in it
FEWEST = 120  # tokens: a stub, or a file of nothing but imports, is like many others
LONGEST, LONGEST_LINE = 200_000, 1_000  # characters that somebody may have written; more can take a tokenizer for ever
_SPACE = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
# Python 3.12 takes an f-string apart, and 3.14 t-strings; before, one is a single token.
_OPENS, _CLOSES = (tuple(getattr(tokenize, f"{kind}STRING_{end}", -1) for kind in "FT") for end in ("START", "END"))


def print_of(source: str) -> str | None:
    """What stays the same when names, comments and spaces change; None for a text that is short or no Python.

    Classes and functions count; what else stands at the top of a file (imports, demos) does not.

    >>> mine = teaching.SOURCE
    >>> theirs = mine.replace("other", "second").replace("grad", "gefaelle") + "# all my own work"
    >>> print_of(mine) == print_of(theirs) != None, print_of(mine) == print_of(mine.replace("+=", "=", 1))
    (True, False)
    """
    if len(source) > LONGEST or any(len(line) > LONGEST_LINE for line in source.splitlines()):
        return None
    names: dict[str, str] = {}
    told = []
    try:
        for kind, text in _definitions(source):
            if kind == tokenize.NAME and not _is_fixed(text):
                text = names.setdefault(text, f"n{len(names)}")
            elif kind == tokenize.STRING and text != FORMATTED and "f" in text.partition(text[-1])[0].lower():
                text = FORMATTED
            told.append(text)
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        return None
    return hashlib.sha256("\0".join(told).encode("utf-8", "replace")).hexdigest() if len(told) >= FEWEST else None


def groups(prints: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Who is the same as whom: the others of each one's group, for those that have any.

    >>> groups({"ada": "x", "ben": "y", "cleo": "x", "dan": None, "eva": None})
    {'ada': ('cleo',), 'cleo': ('ada',)}
    """
    alike = defaultdict(list)
    for name, each in prints.items():
        if each is not None:
            alike[each].append(name)
    return {
        name: tuple(other for other in alike[each] if other != name)
        for name, each in prints.items()
        if each is not None and len(alike[each]) > 1
    }


def _is_fixed(name: str) -> bool:
    return keyword.iskeyword(name) or hasattr(builtins, name) or (name.startswith("__") and name.endswith("__"))


def _definitions(source: str) -> Iterator[tuple[int, str]]:
    """The tokens of classes and functions, without comments and docstrings."""
    depth, inside, new_line, strings = 0, False, True, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _OPENS or token.type in _CLOSES:
            strings += 1 if token.type in _OPENS else -1
            if strings == 0 and inside:
                yield tokenize.STRING, FORMATTED
            new_line = False
            continue
        if token.type in _SPACE or strings:
            continue
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            depth += 1 if token.type == tokenize.INDENT else -1
            if inside:
                yield token.type, "{" if token.type == tokenize.INDENT else "}"
            continue
        if new_line and depth == 0:
            inside = token.string in ("class", "def", "async", "@")
        if token.type == tokenize.NEWLINE and new_line:
            continue
        if token.type == tokenize.NEWLINE:
            new_line = True
        elif new_line and token.type == tokenize.STRING:  # a docstring: the line ends after it
            continue
        else:
            new_line = False
        if inside:
            yield token.type, ";" if token.type == tokenize.NEWLINE else token.string
