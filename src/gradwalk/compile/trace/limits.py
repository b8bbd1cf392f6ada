"""What a compiled function cannot do, said with the line that does it and with what to write instead.

A function is traced once for each structure of its arguments, with no numbers in it yet. Whatever needs a number at
that moment (a branch, `float(v)`, a position in a list) cannot be followed; whatever merely looks one up is frozen.
"""

from __future__ import annotations

import warnings

from gradwalk.errors import TraceError
from gradwalk.provenance import users_place

__all__ = ["LIMITS", "FrozenWarning", "frozen", "limit"]

#: What was done, and what to do instead.
LIMITS = {
    "branch": (
        "a branch on a traced number: which way it goes is known only when the compiled function runs",
        "to choose between numbers write gradwalk.where(condition, yes, no), gradwalk.max([...]) or gradwalk.min([...])"
        "; if an argument decides what the function does, name it in static=: compile(fn, static=('name',))",
    ),
    "data": (
        "the number of a traced Value was asked for (.data, or something that reads it), and it is known only when the "
        "compiled function runs",
        "compute with the Value itself; for a largest number that gradients pass by write gradwalk.max([...]).detach(),"
        " for a stable softmax gradwalk.softmax([...]); return what you want to look at",
    ),
    "grad": (
        "a gradient was asked for inside a compiled function",
        "return the loss, and call .backward() on what the compiled function gives",
    ),
    "index": (
        "a traced number was used as a whole number: as the index of a list, in range() or as a size",
        "to pick from a list by an argument write gradwalk.take(table, index); if it decides the structure, name it in "
        "static=: compile(fn, static=('name',))",
    ),
    "number": (
        "a traced number was turned into a plain one, as float(), int(), round() and the functions of math do",
        "write gradwalk.exp, gradwalk.log, … instead of math's; work out whole numbers before the call, or name the "
        "argument in static=: compile(fn, static=('name',))",
    ),
    "key": (
        "a traced number was used as a key of a dict or put into a set",
        "name the argument in static=: compile(fn, static=('name',)); or keep the entries in a list and write "
        "gradwalk.take(table, index)",
    ),
    "computed index": (
        "gradwalk.take was given an index that the function computes",
        "work the index out before the call and pass it as an argument",
    ),
    "outside": (
        "a Value was used that had been computed outside the function: replaying would not compute it anew",
        "compute it inside the function, pass it as an argument, or cut it off with .detach()",
    ),
    "escaped": (
        "a traced Value was used after its function had been traced: replay keeps results and parameters, not the nodes"
        " in between",
        "return it from the function; or run the function itself, without compile, to look inside",
    ),
    "structure": (
        "nodes in between are not kept: replay rolls them up and reuses their memory",
        "return them from the function; or call fn.eager(...), which builds the ordinary graph",
    ),
}


class FrozenWarning(UserWarning):
    """A function does what a trace of it cannot: something is frozen, or it is not compiled, or it is traced often.

    >>> issubclass(FrozenWarning, UserWarning)
    True
    """


def limit(name: str, detail: str = "") -> TraceError:
    """The error for one of `LIMITS`, with the user's line.

    >>> print(str(limit("grad")).splitlines()[0])
    a gradient was asked for inside a compiled function
    """
    what, remedy = LIMITS[name]
    return TraceError(f"{what}{detail}\n  at {users_place()}\n{remedy}")


def frozen(what: str, remedy: str) -> None:
    """Warn of something that is only frozen, with the user's line.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     frozen("p.data was read", "pass it as an argument")
    >>> str(caught[0].message).splitlines()[0]
    'p.data was read'
    """
    place = users_place()
    warnings.warn_explicit(f"{what}\n  at {place}\n{remedy}", FrozenWarning, place.file, place.line)
