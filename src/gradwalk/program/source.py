"""The text of a program: what Python's grammar makes of it, and errors that point at a place in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from gradwalk.errors import ProgramError
from gradwalk.messages import say, width
from gradwalk.program.language import TYPED, keyword_refusal, no_part, refusal

__all__ = ["Source", "Span"]

TOO_DEEP = say("an expression nests too deeply to be read; give its parts names, on lines of their own")
TOO_LARGE = say("a number this large does not fit a float (largest: about 1.8e308); scale it down")
WIDEST = 72  # characters of a line that are shown around the place where it is wrong


@dataclass(frozen=True)
class Span:
    """Part of a line: its number, the first column and the one after the last, all counted from 1.

    >>> from gradwalk.program.reader import read
    >>> read("d = a*b").free["b"]
    Span(line=1, column=7, end_column=8)
    """

    line: int
    column: int
    end_column: int


class Source:
    """A text and its lines. Indentation means nothing here, so it is taken off, and put back in columns.

    >>> len(Source("  a = 2\\n    b = a").parsed())
    2
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._flush = [line.lstrip(" \t\f") for line in self.lines]

    def parsed(self) -> list[ast.stmt]:
        """The lines as Python's grammar sees them. They are never run.

        >>> Source("a = (2").parsed()
        Traceback (most recent call last):
        ...
        gradwalk.errors.ProgramError: this cannot be read ('(' was never closed); a program is made of lines such as d =
        a*b + c
          line 1: a = (2
                      ^
        """
        for number, line in enumerate(self.lines, start=1):  # said by ourselves: not every Python says where it is
            if "\0" in line:
                column = line.index("\0") + 1
                raise self.error(
                    say("this cannot be read (there is a null character)"), Span(number, column, column + 1)
                )
        try:
            return ast.parse("\n".join(self._flush)).body
        except SyntaxError as error:
            raise self._unreadable(error) from None
        except (RecursionError, MemoryError):
            raise self.error(TOO_DEEP, self._too_deep()) from None
        except ValueError as error:  # half a surrogate pair
            raise self.error(say("this cannot be read ({why})", why=error), None) from None

    def error(self, reason: str, at: ast.AST | Span | None) -> ProgramError:
        """The error that says `reason` and points at a place.

        >>> print(Source("a = 2\\nb = aa").error("what is aa?", Span(2, 5, 7)))
        what is aa?
          line 2: b = aa
                      ^^
        """
        if at is None:
            return ProgramError(reason)
        place = at if isinstance(at, Span) else self.place(at)
        picture = _picture(self.lines[place.line - 1], place)
        return ProgramError(reason, picture, line=place.line, column=place.column, end_column=place.end_column)

    def refused(self, node: ast.AST, operator: ast.AST | None = None) -> ProgramError:
        """The error for something that Python can say and a program cannot: a node, or the operator in it.

        >>> source = Source("a[0]")
        >>> source.refused(source.parsed()[0].value).reason
        '[ ] is no part of a program: every name is one number; give each its own, as x1, x2, x3'
        """
        what, remedy = refusal(operator or node)
        place = self.place(node)
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            place = self._operator_in(node, what)
        elif isinstance(node, ast.Attribute):
            place = self.attribute(node)
        elif isinstance(node, (ast.stmt, ast.UnaryOp)) and what.isidentifier():  # a keyword, such as import
            place = Span(place.line, place.column, place.column + len(what))
        return self.error(no_part(what, remedy), place)

    def place(self, node: ast.AST) -> Span:
        """Where a node stands; of one that goes over several lines, the part on its first.

        >>> source = Source("  a = 2")
        >>> source.place(source.parsed()[0])
        Span(line=1, column=3, end_column=8)
        """
        line, start = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end_line, end = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        first = self._column(line, start)
        last = self._column(line, end) if end_line == line else len(self.lines[line - 1]) + 1
        return Span(line, first, max(last, first + 1))

    def attribute(self, node: ast.Attribute) -> Span:
        """Where the name after the dot stands.

        >>> source = Source("n.tanh")
        >>> source.attribute(source.parsed()[0].value)
        Span(line=1, column=3, end_column=7)
        """
        line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        last = self._column(line, end)
        return Span(line, max(1, last - len(node.attr)), last)

    # --- finding places ----------------------------------------------------------------------------------------------

    def _column(self, line: int, byte: int) -> int:
        """Python counts bytes from where the indentation ends; people count characters from the margin."""
        flush = self._flush[line - 1]
        indent = len(self.lines[line - 1]) - len(flush)
        return indent + len(flush.encode(errors="replace")[:byte].decode(errors="replace")) + 1

    def _operator_in(self, node: ast.BinOp | ast.AugAssign, symbol: str) -> Span:
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        if left.end_lineno != right.lineno:
            return self.place(node)
        after, before = (
            self._column(right.lineno, left.end_col_offset or 0),
            self._column(right.lineno, right.col_offset),
        )
        found = self.lines[right.lineno - 1].find(symbol, after - 1, before - 1)
        return Span(right.lineno, found + 1, found + 1 + len(symbol)) if found >= 0 else self.place(node)

    def _unreadable(self, error: SyntaxError) -> ProgramError:
        place = self._blamed(error)
        there = self.lines[place.line - 1][place.column - 1 :]
        word = next(iter(re.findall(r"\A[^\W\d]\w*", there)), "")
        remedy = keyword_refusal(word)
        if there[:1] in TYPED:
            reason = say("{what} is no part of a program; write {instead}", what=there[0], instead=TYPED[there[0]])
        elif remedy:
            reason = no_part(word, remedy)
            place = Span(place.line, place.column, place.column + len(word))
        elif "decimal literal" in error.msg:
            reason = say("a number runs into a name; write * to multiply, as in 2*a")
        elif "nested parentheses" in error.msg:
            reason = TOO_DEEP
        elif "integer string conversion" in error.msg:
            reason = TOO_LARGE
        elif "forgot a comma" in error.msg or error.msg == "invalid syntax":
            reason = say("this cannot be read; between two names or numbers stands an operator, as in a*b")
        else:
            reason = say("this cannot be read ({why}); a program is made of lines such as d = a*b + c", why=error.msg)
        return self.error(reason, place)

    def _blamed(self, error: SyntaxError) -> Span:
        """Where Python sees the fault; for a block without its lines, where the block begins."""
        block = re.search(r"on line (\d+)", error.msg) if isinstance(error, IndentationError) else None
        line = min(max(int(block[1]) if block else error.lineno or 1, 1), len(self.lines))
        text = self.lines[line - 1]
        indent = len(text) - len(self._flush[line - 1])
        if block:
            return Span(line, indent + 1, len(text) + 1)
        column = min(max(error.offset or 1, 1) + indent, len(text) + 1)
        end = column + 1
        if error.end_lineno == error.lineno and error.end_offset:
            end = min(error.end_offset + indent, len(text) + 1)
        return Span(line, column, max(end, column + 1))

    def _too_deep(self) -> Span | None:
        for number, line in enumerate(self._flush, start=1):
            try:
                ast.parse(line)
            except (RecursionError, MemoryError):
                shown = self.lines[number - 1].rstrip()
                return Span(number, len(shown) - len(shown.lstrip()) + 1, len(shown) + 1)
            except (SyntaxError, ValueError):
                pass  # part of an expression over several lines
        return None


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be."""
    from difflib import get_close_matches  # only here, where something went wrong anyway

    known = list(known)
    same = [other for other in known if other.lower() == name.lower()]
    return next(iter(same or get_close_matches(name, known, n=1)), None)


def _picture(line: str, place: Span) -> str:
    """The line with carets under the place; a long one cut to what stands around it."""
    start, end = place.column - 1, place.end_column - 1
    cut = max(0, min(start - WIDEST // 2, len(line) - WIDEST))
    before, after = "…" * (cut > 0), "…" * (cut + WIDEST < len(line))
    shown = "".join(c if c.isprintable() else " " for c in line[cut : cut + WIDEST])
    start, end = start - cut, min(end - cut, WIDEST)
    head = f"  line {place.line}: {before}"
    carets = "^" * max(1, width(shown[start:end]))
    return f"{head}{shown}{after}\n{' ' * (len(head) + width(shown[:start]))}{carets}"
