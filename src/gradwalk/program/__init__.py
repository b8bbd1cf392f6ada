"""Programs as text: `gradwalk.program("d = a*b + c", a=2, b=-3, c=10)` gives labelled Values.

`help(gradwalk.program.program)` tells what may stand in the text.

- `language.py`: what may be written, and what to say about everything else, as tables;
- `source.py`: the text, and errors that point at a place in it;
- `reader.py`: text to statements;
- `result.py`: statements to Values, and the mapping that holds them.

The text is read by Python's own grammar and never run by Python: a name outside the tables has no meaning here.
"""

from __future__ import annotations

import sys
from typing import Any

from gradwalk.callables import CallableModule
from gradwalk.program.result import Program, inputs_of, program

__all__ = ["Program", "inputs_of", "program"]


class _CallableModule(CallableModule):
    """`gradwalk.program` is this module as soon as anyone imports from it, and must stay the function too."""

    def __call__(self, text: str, /, **inputs: Any) -> Program:
        return program(text, **inputs)


sys.modules[__name__].__class__ = _CallableModule
