"""Texts made safe and short: what a label says, how wide it is, and how XML and Graphviz take it."""

from __future__ import annotations

from typing import Any

from gradwalk.messages import width
from gradwalk.walk import readable

__all__ = ["clean", "cut", "dot_text", "shown", "tenths", "width", "xml"]

_LONGEST_NUMBER = 14  # characters of a number that is none of ours, such as an array
_PLAIN_RECORD = {character: f"\\{character}" for character in '\\"{}|<>'}


def clean(text: Any) -> str:
    """One line that every file format can hold: a new line as `↵`, what cannot be shown or is forbidden as `\\ufffd`.

    >>> clean("two\\nlines"), clean("a\\tb"), clean("a\\x00b"), clean("\\ud800")
    ('two↵lines', 'a b', 'a\ufffdb', '\ufffd')
    """
    line = str(text)
    return line if line.isprintable() else "".join(map(_clean_character, line))


def _clean_character(character: str) -> str:
    code = ord(character)
    if character in "\n\v\f\u0085\u2028\u2029":
        return "↵"
    if character in "\t\r":
        return " "
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE:
        return "\ufffd"
    return character


def cut(text: str, cells: int) -> str:
    """`text`, or as much of it as fits so many cells, with an ellipsis.

    >>> cut("weight", 8), cut("a very long name", 8)
    ('weight', 'a very …')
    """
    if len(text) * 2 <= cells or width(text) <= cells:
        return text
    room = cells - 1
    kept = []
    for character in text:
        room -= width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def shown(number: Any) -> str:
    """A node's data or gradient, short; whatever is no number as a learner's class prints it.

    >>> shown(0.4999999999999998), shown(-3), shown(Value(2.0)), shown(float("nan")), shown(1e-300), shown("three")
    ('0.5', '−3', '2', 'nan', '1e−300', "'three'")
    """
    shape = getattr(number, "shape", None)
    if shape:  # a tensor: how many numbers along each dim
        return str(tuple(shape))
    if shape == () and hasattr(number, "tolist"):
        return readable(float(number.tolist()))
    number = getattr(number, "data", number) if not isinstance(number, (int, float)) else number
    try:
        return readable(float(number))
    except (TypeError, ValueError, OverflowError):
        return cut(clean(repr(number)), _LONGEST_NUMBER)


def tenths(x: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> tenths(2.04), tenths(0.25)
    ('2', '0.2')
    """
    return f"{x:.1f}".removesuffix(".0")


def xml(text: str) -> str:
    """`text` as it stands in SVG and HTML, between tags or in quotes.

    >>> xml("<script>\\"a\\" & 'b'</script>")
    '&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;'
    """
    if text.isalnum():
        return text
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("'", "&#39;")


def dot_text(text: str) -> str:
    """`text` as it stands in a quoted label of Graphviz, in a field of a record too.

    >>> print(dot_text('a|b "c" & \\\\N'))
    a\\|b \\"c\\" &amp; \\\\N
    """
    return "".join(_PLAIN_RECORD.get(character, character) for character in text.replace("&", "&amp;"))
