"""What a function reads by name: the globals, attributes and modules that stand in its instructions."""

from __future__ import annotations

import dis
import re
from functools import lru_cache
from itertools import takewhile
from types import CodeType
from typing import NamedTuple

__all__ = ["Reads", "reads_of"]

#: What looks a name up that may not stand in the code.
BY_TEXT = frozenset(("vars", "eval", "exec", "globals", "locals", "dir", "attrgetter", "__dict__", "__getattribute__"))
#: … and what does so under a name that often stands there as a text.
GETATTR = frozenset(("getattr", "hasattr", "setattr"))


class Reads(NamedTuple):
    """The names in a function's code, those of functions written inside it included.

    >>> found = reads_of((lambda net, x: abs(net.scale) * x).__code__)
    >>> found.names, found.attributes
    (frozenset({'abs'}), frozenset({'scale'}))
    """

    names: frozenset[str]  # global ones, or built in
    attributes: frozenset[str]
    stored: frozenset[str]  # attributes that are set
    modules: frozenset[str]  # that are imported
    texts: frozenset[str]  # which may be names, where `anything` may be read
    anything: bool  # whether names are read that do not stand in the code


@lru_cache(maxsize=4096)
def reads_of(code: CodeType) -> Reads:
    """What a code object reads by name.

    >>> reads_of((lambda net: getattr(net, "scale", 1.0)).__code__).attributes
    frozenset({'scale'})
    >>> reads_of((lambda net, name: getattr(net, name)).__code__).anything
    True
    """
    found: dict[str, set[str]] = {kind: set() for kind in ("names", "attributes", "stored", "modules", "texts")}
    anything = False
    instructions = list(dis.get_instructions(code))
    for i, instruction in enumerate(instructions):
        kind, name = instruction.opname, instruction.argval
        if kind in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            found["names"].add(name)
            if name in GETATTR:
                given = list(takewhile(lambda next: next.opname.startswith(("LOAD_", "PUSH_")), instructions[i + 1 :]))
                texts = [x.argval for x in given if x.opname == "LOAD_CONST" and isinstance(x.argval, str)]
                if texts and "CALL" in instructions[i + 1 + len(given)].opname:
                    found["attributes"].add(texts[0])
                else:
                    anything = True
        elif kind in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") or kind.startswith("LOAD_SUPER"):
            found["attributes"].add(name)
        elif kind in ("STORE_ATTR", "DELETE_ATTR"):
            found["stored"].add(name)
        elif kind == "IMPORT_NAME":
            found["modules"].add(name)
    for constant in code.co_consts:
        if isinstance(constant, str):
            found["texts"].update(re.findall(r"[^\W\d]\w*", constant[:1000]))
        elif isinstance(constant, CodeType):
            inside = reads_of(constant)
            for kind in found:
                found[kind] |= getattr(inside, kind)
            anything = anything or inside.anything
    anything = anything or bool(BY_TEXT & (found["names"] | found["attributes"]))
    return Reads(**{kind: frozenset(some) for kind, some in found.items()}, anything=anything)
