"""What a compiled function cannot do, said with the line that does it and with what to write instead.

A function is traced with the numbers of the call at hand, and replayed with others. What it asks of numbers is followed
(`guards.py`); what belongs to nodes, gradients and samples cannot be, and what it merely looks up or sets is frozen.
"""

from __future__ import annotations

import warnings

from gradwalk import modes
from gradwalk.errors import TraceError
from gradwalk.provenance import Place, users_place

__all__ = [
    "ELSEWHERE",
    "LIMITS",
    "TOLD",
    "WALK",
    "FrozenWarning",
    "ManyPathsWarning",
    "TooLarge",
    "Unfollowable",
    "frozen",
    "limit",
    "many_paths",
]

#: What was done, and what to do instead.
LIMITS = {
    "one sample": (
        "a decision on a number of a sample: in a batch all samples take the same path",
        "to choose between numbers write gradwalk.where(condition, yes, no), gradwalk.max([...]) or gradwalk.min([...])"
        "; to let each sample take its own path compile the function without batch=; if the argument is the same for "
        "all samples, name it in static=: compile(fn, static=('name',))",
    ),
    "narrow": (
        "numbers of a narrow type were added or multiplied: NumPy's wrap around, which a batch cannot follow",
        "make floats of them before, as in x.astype(float)",
    ),
    "set": (
        "the number of a Value was set to one that the function computes; replay does not set it again",
        "compute with Values (y = y + x instead of y.data += x), or set it outside the compiled function",
    ),
    "complex": (
        "a negative number was raised to a power that is not whole, which gives a complex number",
        "take abs() of the number first, or gradwalk.pow(x, y), which gives nan there",
    ),
    "grad": (
        "a gradient was asked for inside a compiled function",
        "return the loss, and call .backward() on what the compiled function gives",
    ),
    "outside": (
        "a Value or tensor was used that had been computed outside the function: replaying would not compute it anew",
        "compute it inside the function, pass it as an argument, or cut it off with .detach()",
    ),
    "escaped": (
        "a traced Value or tensor was used after its function had been traced: replay keeps results and parameters, "
        "and no nodes in between",
        "return it from the function; or run the function itself, without compile, to look inside",
    ),
    "structure": (
        "nodes in between are not kept: replay rolls them up and reuses their memory",
        "return them from the function; or call fn.eager(...), which builds the ordinary graph; derivatives of a "
        "compiled function are taken from outside, as in gradwalk.grad(fn)",
    ),
    "samples travel": (
        "what a compiled function gives for many samples is not copied or pickled: it belongs to the call",
        "take its .data, which holds the numbers",
    ),
    "travel": (
        "what a compiled function gives is not copied or pickled, as the nodes in between are not kept",
        "take what .detach() gives, which is the number alone; or call fn.eager(...), which builds the ordinary graph",
    ),
}


#: What to do instead of asking for what a trace cannot know, or a replay not do.
TOLD = "compare with ==, or pass what it is to know as an argument of its own"
WALK = "return the loss; walk back from it, and read and set gradients, outside the compiled function"
ELSEWHERE = "compute with the Value itself, or do this outside the compiled function"


class Unfollowable(Exception):  # noqa: N818 (nobody outside sees it)
    """The function does what no trace can stand for, and so is run as it is: why, and what to do about it.

    >>> raise Unfollowable("{function} is too large", "make it smaller")
    Traceback (most recent call last):
    ...
    gradwalk.compile.trace.limits.Unfollowable: ('{function} is too large', 'make it smaller')
    """

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason, remedy)
        self.reason, self.remedy = reason, remedy
        _not_to_be_hidden(self)


class TooLarge(Unfollowable):
    """As numbers one by one a function cannot be followed, and perhaps as arrays.

    >>> issubclass(TooLarge, Unfollowable)
    True
    """


class FrozenWarning(UserWarning):
    """A function does what a trace of it cannot: something is frozen, or it is not compiled, or it is traced often.

    >>> issubclass(FrozenWarning, UserWarning)
    True
    """


class ManyPathsWarning(UserWarning):
    """A function takes ever new paths; calls on paths that were not seen are run as they are, without native code.

    >>> issubclass(ManyPathsWarning, UserWarning)
    True
    """


def limit(name: str, detail: str = "") -> TraceError:
    """The error for one of `LIMITS`, with the user's line.

    >>> print(str(limit("grad")).splitlines()[0])
    a gradient was asked for inside a compiled function
    """
    what, remedy = LIMITS[name]
    error = TraceError(f"{what}{detail}\n  at {users_place()}\n{remedy}")
    _not_to_be_hidden(error)
    return error


def _not_to_be_hidden(error: Exception) -> None:
    """Let a tracer know of an error that the function may catch."""
    for layer in modes.stack():
        if getattr(layer, "refusal", error) is None:
            vars(layer)["refusal"] = error


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


def many_paths(count: int, asks: Place | None) -> None:
    """Warn of a function whose paths keep multiplying, with the line that asks.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     many_paths(32, None)
    >>> str(caught[0].message).splitlines()[0]
    'the function has taken 32 paths and takes yet another: calls on new paths run without native code from now on'
    """
    place = asks or users_place()
    where = f"what is asked there is another number in nearly every call:\n  at {place}" if asks else f"  at {place}"
    warnings.warn_explicit(
        f"the function has taken {count} paths and takes yet another: calls on new paths run without native code from "
        f"now on\n{where}\ncompute with the number instead of asking for it (gradwalk.where, gradwalk.log, … for if "
        "and math.log), or work out before the call what is decided there",
        ManyPathsWarning,
        place.file,
        place.line,
    )
