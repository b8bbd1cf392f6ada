"""Formulas: run a rule on symbols instead of numbers, and what it does is written down as plain data.

- `sheet.py`: `Sheet`, a list of steps `(op, operand, …)`, and `Symbol`, a number on it that nobody knows yet;
- `rules.py`: the rules of ops (and of optimisers) run on symbols, once for each way they can branch;
- `lines.py`: steps as lines of a program, in any `Language`, for kernels;
- `text.py`: a result as text for people: Python, Unicode or LaTeX.

Rule → symbols → steps → text. Documents, drawings, the doctor and the page print steps for people; the compiler prints
the same steps as kernels. Nothing about an op is said twice.
"""

from gradwalk.formulas.lines import Language, lines, loop, used
from gradwalk.formulas.rules import explore, for_closed_rules, slopes, value
from gradwalk.formulas.sheet import Sheet, Symbol
from gradwalk.formulas.text import LATEX, PYTHON, UNICODE, Style, derivatives_as_text, rule_as_text, text

__all__ = [
    "LATEX",
    "PYTHON",
    "UNICODE",
    "Language",
    "Sheet",
    "Style",
    "Symbol",
    "derivatives_as_text",
    "explore",
    "for_closed_rules",
    "lines",
    "loop",
    "rule_as_text",
    "slopes",
    "text",
    "used",
    "value",
]
