"""Where a line is: in a notebook its cell, in an engine that lies in a second file the name of that file.

Lines are found in one text. Of a notebook it is all of its code, and each cell begins with a line that says which one
it is. Whoever reads a report does not have that text, so what is said of lines is put into the terms of the reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["Where", "cell_mark", "in_words", "said", "where_in_cells"]

#: A line of the text as the reader knows it: its number there, and where that is.
Where = Callable[[int], tuple[int, str]]

_MARK = "# %% code cell "
_LINES = re.compile(r"\blines? (\d+(?:, \d+)*(?: and \d+)?)\b")


def cell_mark(number: int) -> str:
    """The line with which a notebook's code cell begins in the text of all of them.

    >>> cell_mark(3)
    '# %% code cell 3'
    """
    return f"{_MARK}{number}"


def where_in_cells(source: str) -> Where | None:
    """Where a line of a notebook's text is; None if the text is no notebook's.

    >>> where_in_cells(chr(10).join([cell_mark(1), "x = 1", cell_mark(2), "y = 1", "z = 2"]))(5)
    (2, 'code cell 2')
    """
    marks = [(i, line.removeprefix(_MARK)) for i, line in enumerate(source.splitlines(), 1) if line.startswith(_MARK)]
    if not marks or marks[0][0] != 1:
        return None

    def where(line: int) -> tuple[int, str]:
        start, cell = next(mark for mark in reversed(marks) if mark[0] <= line)
        return line - start, f"code cell {cell}"

    return where


def in_words(text: str, where: Where) -> str:
    """A text that says where its lines are.

    >>> in_words("lines 3 and 5 have `=`", lambda line: (line, "ops.py"))
    'lines 3 and 5 of ops.py have `=`'
    """

    def replaced(found: re.Match[str]) -> str:
        lines = [where(int(line)) for line in re.findall(r"\d+", found[1])]
        if len({place for _, place in lines}) == 1:
            numbers = iter(lines)
            return re.sub(r"\d+", lambda _: str(next(numbers)[0]), found[0]) + f" of {lines[0][1]}"
        each = [f"line {line} of {place}" for line, place in lines]
        return f"{', '.join(each[:-1])} and {each[-1]}"

    return _LINES.sub(replaced, text)


def said(error: BaseException) -> str:
    """What an error says of itself; an engine's own may raise when it is asked.

    >>> class Odd(Exception):
    ...     __str__ = None
    >>> said(ValueError("too small")), said(Odd())
    ('too small', '')
    """
    try:
        return re.sub(r" at 0x[0-9a-fA-F]+>", ">", str(error))  # where a thing lies says nothing, and differs each time
    except Exception:
        return ""
