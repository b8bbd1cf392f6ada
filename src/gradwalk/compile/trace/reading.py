"""What a function reads by name: the globals, attributes and modules that stand in its instructions."""

from __future__ import annotations

import dis
import re
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import NamedTuple

__all__ = ["IMPLIED", "MAKING", "OPERATORS", "Reads", "names_in_format", "reads_of", "reads_of_class"]

#: What looks a name up that may not stand in the code.
BY_TEXT = frozenset((
    "vars", "eval", "exec", "globals", "locals", "dir", "attrgetter", "__dict__", "__getattribute__", "getmembers",
    "getmembers_static", "getattr_static", "f_globals", "f_locals",
))  # fmt: skip
#: … and what does so under a name that often stands there as a text.
GETATTR = frozenset(("getattr", "hasattr", "setattr"))

#: What imports a module whose name is a text.
IMPORTING = frozenset(("__import__", "import_module"))

#: Methods that are called without their names, on objects that are there already: to make another one of a class …
MAKING = frozenset(("__init__", "__new__", "__post_init__"))
#: … to write one as a text, to copy it, to set and delete its attributes, and to make a subclass.
SHOWING = frozenset(("__str__", "__repr__", "__format__"))
COPYING = frozenset(("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"))
IMPLIED = MAKING | SHOWING | COPYING | {"__setattr__", "__delattr__", "__init_subclass__"}
#: Methods that operators, loops and built-in functions call.
OPERATORS = frozenset((
    "__bool__", "__len__", "__call__", "__getattr__", "__getattribute__", "__getitem__", "__setitem__", "__delitem__",
    "__contains__", "__iter__", "__next__", "__reversed__", "__missing__", "__length_hint__", "__hash__", "__eq__",
    "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__index__", "__int__", "__float__", "__complex__", "__bytes__",
    "__round__", "__trunc__", "__floor__", "__ceil__", "__abs__", "__neg__", "__pos__", "__invert__", "__enter__",
    "__exit__", "__get__", "__set__", "__delete__", "__instancecheck__", "__subclasscheck__", "__class_getitem__",
    "__copy__", "__deepcopy__", "__array__", "__array_ufunc__", "__array_function__", "__array_interface__",
    "__array_struct__", "__array_priority__", "__array_wrap__", "__array_finalize__", "__buffer__", "__fspath__",
)).union(
    f"__{side}{name}__"
    for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift",
                 "and", "xor", "or")
    for side in ("", "r", "i")
)  # fmt: skip
#: By which names, of functions or methods, this is done, or an attribute is read.
CALLED_BY = {
    **dict.fromkeys(("type", "__class__", "replace"), MAKING),
    **dict.fromkeys(("str", "repr", "format", "ascii", "format_map"), SHOWING),
    **dict.fromkeys(("copy", "deepcopy", "dumps", "loads"), COPYING),
    "fields": frozenset(("__dataclass_fields__",)),
    "setattr": frozenset(("__setattr__",)),
    "delattr": frozenset(("__delattr__",)),
}
FORMATS = frozenset(("format", "format_map", "vformat"))


class Reads(NamedTuple):
    """The names in a function's code, those of functions written inside it included.

    >>> found = reads_of((lambda net, x: abs(net.scale) * x).__code__)
    >>> found.names, found.attributes
    (frozenset({'abs'}), frozenset({'scale'}))
    """

    names: frozenset[str]  # global ones, or built in
    attributes: frozenset[str]
    stored: frozenset[str]  # attributes that are set
    assigned: frozenset[str]  # … and global names
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
    found: dict[str, set[str]] = {kind: set() for kind in Reads._fields[:-1]}
    anything = False
    instructions = list(dis.get_instructions(code))
    for i, instruction in enumerate(instructions):
        kind, name = instruction.opname, instruction.argval
        found["attributes"].update(_called_by(instructions, i))
        if kind in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            found["names"].add(name)
            if name in GETATTR:
                attribute = _second_text(instructions[i + 1 :])
                found["attributes"].update([attribute] if attribute else ())
                anything = anything or not attribute
        elif kind in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") or kind.startswith("LOAD_SUPER"):
            found["attributes"].add(name)
            anything = anything or name in GETATTR
            if name in FORMATS:  # a text with names of attributes in it
                text = instructions[i - 1].argval if instructions[i - 1].opname == "LOAD_CONST" else None
                anything = anything or not isinstance(text, str)
                found["attributes"].update(names_in_format(text) if isinstance(text, str) else ())
        elif kind in ("STORE_ATTR", "DELETE_ATTR"):
            found["stored"].add(name)
            found["attributes"].add("__setattr__" if kind == "STORE_ATTR" else "__delattr__")
        elif kind in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            found["assigned"].add(name)
        elif kind == "MATCH_CLASS":
            found["attributes"].update(("__match_args__", *_names_before(instructions[i - 1])))
        elif kind == "LOAD_BUILD_CLASS":
            found["attributes"].add("__init_subclass__")
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
    if IMPORTING & (found["names"] | found["attributes"]):
        found["modules"].update(constant for constant in code.co_consts if isinstance(constant, str))
    anything = anything or bool(BY_TEXT & (found["names"] | found["attributes"]))
    return Reads(**{kind: frozenset(some) for kind, some in found.items()}, anything=anything)


@cache
def reads_of_class(kind: type) -> frozenset[str]:
    """The attributes, but for special ones, that the methods of a library's class read: of its subclasses' objects.

    >>> from collections import UserDict
    >>> "data" in reads_of_class(UserDict), reads_of_class(dict)
    (True, frozenset())
    """
    parts = [getattr(part, "fget", None) or getattr(part, "__func__", part) for part in vars(kind).values()]
    codes = [part.__code__ for part in parts if isinstance(part, FunctionType)]
    names = frozenset().union(*[reads_of(code).attributes for code in codes])
    return frozenset(name for name in names if not name.startswith("__"))


def _second_text(ahead: list[dis.Instruction]) -> str:
    """The second argument of the call to come, as of `getattr`, if it is a text as it stands in the code."""
    found, given = "", 0  # how many arguments, and parts of them, lie on the stack
    for x in ahead:
        if x.opname in ("PRECALL", "CALL") and x.arg == given:
            return found
        if x.opcode in (*dis.hasjrel, *dis.hasjabs):
            return ""
        if x.opname == "EXTENDED_ARG" or (x.opname == "PUSH_NULL" and not given):
            continue
        before, given = given, given + dis.stack_effect(x.opcode, x.arg, jump=False)
        if given <= 2:  # nothing more stands behind it
            found = x.argval if (before, given, x.opname) == (1, 2, "LOAD_CONST") and isinstance(x.argval, str) else ""
    return ""


def _called_by(instructions: list[dis.Instruction], i: int) -> frozenset[str]:
    """The methods that an instruction calls without their names, or has called; not in the text of an error."""
    kind, name = instructions[i].opname, instructions[i].argval
    found: frozenset[str] = frozenset()
    if kind in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD"):
        found = CALLED_BY.get(name, found)
        if found is MAKING and name != "replace" and _is_compared(instructions[i + 1 :], called=name == "type"):
            return frozenset()
    elif kind in ("FORMAT_SIMPLE", "CONVERT_VALUE") or (kind == "LOAD_CONST" and isinstance(name, str) and "%" in name):
        found = SHOWING  # as "%s" % thing does
    elif kind in ("FORMAT_VALUE", "FORMAT_WITH_SPEC"):  # with a spec, only what has a method for that can be written
        plain = kind == "FORMAT_VALUE" and name != (None, True)
        found = SHOWING if plain else frozenset(("__format__",))
    return frozenset() if found & SHOWING and _is_raised(instructions[i:]) else found


def _is_compared(ahead: list[dis.Instruction], *, called: bool) -> bool:
    """Whether a class that is asked for, by a call or not, is compared with others, or asked for its name; no more."""
    start = next((i + 1 for i, x in enumerate(ahead[:8]) if x.opname.startswith("CALL")), 0) if called else 0
    for x in ahead[start : start + 5]:
        if x.opname in ("IS_OP", "COMPARE_OP", "CONTAINS_OP") or x.argval in ("__name__", "__qualname__"):
            return True
        if not x.opname.startswith(("LOAD_", "PUSH_", "BUILD_")):
            return False
    return False


def _is_raised(ahead: list[dis.Instruction]) -> bool:
    """Whether a statement is a `raise`, or what an `assert` says."""
    ends = ("RAISE_VARARGS", "POP_TOP", "RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE")
    end = next((x.opname for x in ahead if x.opname in ends or x.opname.startswith("STORE_")), "")
    return end == "RAISE_VARARGS"


def _names_before(instruction: dis.Instruction) -> tuple[str, ...]:
    """The attributes that a class pattern names: they stand before it, in a tuple."""
    names = instruction.argval if instruction.opname == "LOAD_CONST" else ()
    return names if isinstance(names, tuple) else ()


def names_in_format(text: str) -> list[str]:
    """The attributes in a text for `format`.

    >>> names_in_format("{0.scale:.2f} of {net.layers[0].size}, 1.5")
    ['scale', 'layers', 'size']
    """
    return [name for field in re.findall(r"\{([^{}]*)", text) for name in re.findall(r"\.([^\W\d]\w*)", field)]
