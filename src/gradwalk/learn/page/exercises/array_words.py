"""What is wrong with an array, in words: its shape, its rows and columns, or which of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from gradwalk.learn.page.answer import Feedback
from gradwalk.learn.page.exercises.arrays import Array, text_of
from gradwalk.learn.page.exercises.attempts import Attempt
from gradwalk.matcher import same
from gradwalk.messages import Message, joined, say

__all__ = ["Off", "alike", "compared", "headline_of", "of_arrays", "rows_of"]


@dataclass(frozen=True)
class Off:
    """An array that is not as it should be: what it is called, what it is, what is right.

    >>> headline_of(Off("b.grad", Array([1, 1]), Array([2, 2])))
    '1 where 2 is right'
    """

    name: str
    mine: Array
    right: Array


def alike(one: Array, other: Array) -> bool:
    """Whether two arrays have the same shape and numbers.

    >>> alike(Array([1, 2]), Array([1, 2])), alike(Array([1, 2]), Array([[1, 2]]))
    (True, False)
    """
    return one.shape == other.shape and all(map(same, one.flat(), other.flat()))


def compared(tried: Attempt) -> int:
    """How many numbers of a check are compared.

    >>> compared(Attempt({"a": 1.0})), compared(Attempt(arrays={"g": Array([[1, 2]])}))
    (1, 2)
    """
    cells = sum(len(array.flat()) for array in tried.arrays.values())
    return cells + sum(not any(name.endswith(f" of {see}") for see in tried.arrays) for name in tried.numbers)


def rows_of(array: Array, digits: int = 4) -> str:
    """An array as text, a line for each row, with so many decimals.

    >>> print(rows_of(Array([[1, 2], [3, 4.56789]])))
    [[1, 2],
     [3, 4.5679]]
    """
    return text_of(array.tolist(), digits).replace("-", "−").replace("], [", "],\n [")


def headline_of(off: Off) -> Message:
    """What differs, in a few words: shapes if they do, else the first number that does.

    >>> headline_of(Off("g", Array([1, 2]), Array([[1], [2]])))
    'Shape (2,) where (2, 1) is right'
    """
    if off.mine.shape != off.right.shape:
        return say("Shape {got} where {right} is right", got=off.mine.shape, right=off.right.shape)
    _, mine, right = _first(off)
    return say("{got} where {right} is right", got=mine, right=right)


def of_arrays(off: Off) -> Feedback:
    """What can be said by the numbers alone.

    >>> of_arrays(Off("g", Array([[1, 2], [3, 4]]), Array([[1, 3], [2, 4]]))).why
    'The numbers of `g` are right, but its rows stand where its columns belong.'
    """
    mine, right, name = off.mine, off.right, off.name
    headline = headline_of(off)
    if mine.shape != right.shape:
        why = say(
            "`{name}` has the shape {got}, and it should have {right}.", name=name, got=mine.shape, right=right.shape
        )
        ask = say("Which axis is too many, or missing?")
        if sorted(mine.flat()) == sorted(right.flat()):
            return Feedback("shape", headline, joined(why, say("The numbers themselves are right.")), ask)
        if mine.ndim == right.ndim:
            ask = say("Which axis has the wrong size, and why?")
        return Feedback("shape", headline, why, ask)
    if mine.ndim == 2 and mine.shape[0] == mine.shape[1] and alike(mine.T, right):
        why = say("The numbers of `{name}` are right, but its rows stand where its columns belong.", name=name)
        return Feedback("transposed", headline, why, say("Is there a `.T` too many, or one missing?"))
    if all(x == 0.0 for x in mine.flat()):
        why = say("`{name}` is zero everywhere.", name=name)
        return Feedback("not implemented", headline, why, say("Which line should bring something?"))
    if alike(-mine, right):
        why = say("Every number of `{name}` has the right size and the wrong sign.", name=name)
        return Feedback("wrong value", headline, why, say("Where does the minus come from?"))
    times = _factor(off)
    if times is not None:
        why = say("Every number of `{name}` is {times} times what it should be.", name=name, times=times)
        return Feedback("wrong value", headline, why, say("Where does that factor come from?"))
    place, was, wanted = _first(off)
    at = f"{name}{list(place)}" if place else name
    why = say("`{name}` is {got}, and it should be {right}.", name=at, got=was, right=wanted)
    return Feedback("wrong value", headline, why, say("Which line makes it?"))


def _first(off: Off) -> tuple[tuple[int, ...], str, str]:
    """The first place that differs, with what is there and what belongs there."""
    places = product(*map(range, off.right.shape))
    pairs = zip(places, off.mine.flat(), off.right.flat(), strict=True)
    place, mine, right = next(each for each in pairs if not same(each[1], each[2]))
    return place, rows_of(Array(mine), 7), rows_of(Array(right), 7)


def _factor(off: Off) -> str | None:
    """By which one number all of them are too large, if by one."""
    pairs = [(x, y) for x, y in zip(off.mine.flat(), off.right.flat(), strict=True) if x or y]
    if not all(x and y for x, y in pairs) or not pairs:
        return None
    times = pairs[0][0] / pairs[0][1]
    return rows_of(Array(times)) if all(same(x, y * times) for x, y in pairs) else None
