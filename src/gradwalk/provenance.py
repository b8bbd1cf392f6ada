"""Where a nan or inf was born, and which source line asked for it.

Once a number is not finite, nearly everything computed from it is not finite either. Of all these nodes only a few
made it out of finite numbers: the *producers*. The others are *carriers*, which pass on what they were given. And
some of it was there before any op: an *arrival*, in a leaf or a constant. `anomaly()` stops at a birth as it happens;
`forward_births` and `backward_births` find it in a graph afterwards.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NamedTuple

from gradwalk import walk
from gradwalk.errors import AnomalyError, GraphError
from gradwalk.ops import CUT, Op, comes_later

__all__ = [
    "Birth",
    "Births",
    "Place",
    "backward_births",
    "check_forward",
    "forward_births",
    "forward_error",
    "is_users",
    "led_through",
    "made_by",
    "pass_over",
    "push_watched",
    "users_place",
]

Node = Any  # a Value; this module does not need to know the class

_OWN_FILES = os.path.dirname(__file__)  # noqa: PTH120 (importing pathlib takes longer than all of us)
_PASSED_OVER: tuple[str, ...] = (_OWN_FILES, contextmanager.__code__.co_filename)  # whose lines say nothing to a user


class Place(NamedTuple):
    """A line of source code.

    >>> print(Place("train.py", 12, "loss_of"))
    train.py, line 12, in loss_of
    """

    file: str
    line: int
    function: str

    @property
    def source(self) -> str:
        """The text of the line, where it can be found.

        >>> Place("no-such-file.py", 1, "f").source
        ''
        """
        import linecache  # only here, where something went wrong anyway

        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        source = self.source
        return f"{self.file}, line {self.line}, in {self.function}" + (f":\n    {source}" if source else "")


def users_place() -> Place:
    """The innermost source line outside gradwalk, and what it uses, that led to this call.

    >>> users_place().line
    1
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PASSED_OVER):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def led_through(module: str) -> bool:
    """Whether a module of ours called this, on the way from the user's line.

    >>> led_through("gradwalk.layers")
    False
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PASSED_OVER):
        if frame.f_globals.get("__name__") == module:
            return True
        frame = frame.f_back
    return False


def pass_over(library: Any) -> None:
    """Let no place be in a package that calls us in turn.

    >>> from gradwalk import provenance
    >>> provenance.pass_over(gradwalk)
    """
    global _PASSED_OVER
    _PASSED_OVER = (*_PASSED_OVER, os.path.dirname(library.__file__))  # noqa: PTH120


def is_users(file: str) -> bool:
    """Whether a source file is not one of gradwalk's own.

    >>> from gradwalk import provenance
    >>> provenance.is_users("train.py"), provenance.is_users(provenance.__file__)
    (True, False)
    """
    return not file.startswith(_OWN_FILES)


def made_by(v: Node) -> Place | None:
    """The line that made a node, if it was written down.

    >>> made_by(Value(1.0)) is None
    True
    """
    found: Place | None = v.made_at
    return found


# --- births as they happen -----------------------------------------------------------------------------------------


def check_forward(op: Any, operands: Sequence[Any], out: Any) -> None:
    """What `anomaly()` does after each op: stop if it gave something not finite, else write its line down.

    >>> y = Value(2.0) * 3
    >>> check_forward(ops.mul, (2.0, 3.0), y)
    >>> y.made_at.line
    1
    """
    if comes_later(out):
        return
    if getattr(out, "many", False):
        odd = out.first_not_finite()  # -inf that was given, to mask scores with, may be carried on
        if odd is not None and not _only_masked(op, operands, out):
            raise _forward_error_of_many(op.symbol, operands, odd)
        out.made_at = users_place()
        return
    if not isfinite(out._data):
        raise forward_error(op.symbol, operands, out._data)
    out.made_at = users_place()


def forward_error(symbol: str, operands: Sequence[Any], data: float) -> AnomalyError:
    """The error for an op that gives `data`, which is not finite, under `anomaly()`.

    >>> str(forward_error("log", [-1.0], float("nan"))).splitlines()[0]
    'log(-1) gave nan'
    """
    text = f"{walk.formula(symbol, [walk.short(x) for x in operands])} gave {data:g}"
    if not all(isfinite(_number(x)) for x in operands):
        text += ", and only carries on what came in: look at where its operands come from"
    return AnomalyError(f"{text}\n  made by {users_place()}")


def _forward_error_of_many(symbol: str, operands: Sequence[Any], odd: tuple[float, Sequence[int]]) -> AnomalyError:
    """The same for a tensor: which number of it is not finite, and what stood there before."""
    x, place = odd
    at = f" at {list(place)}" if place else ""
    text = f"{walk.formula(symbol, [walk.short(operand) for operand in operands])} gave {x:g}{at}"
    before = [_number_at(operand, place, len(place)) for operand in operands]
    if all(number is not None for number in before):
        text += f": {walk.formula(symbol, [f'{number:g}' for number in before])}"
    if any(getattr(operand, "many", False) and operand.first_not_finite() is not None for operand in operands):
        text += ", and only carries on what came in: look at where its operands come from"
    return AnomalyError(f"{text}\n  made by {users_place()}")


def _only_masked(op: Any, operands: Sequence[Any], out: Any) -> bool:
    """Whether all that is not finite is a -inf that came in: scores are masked with it, and it is meant."""
    numbers = out.detached()
    masked, sound = numbers == -inf, numbers.isfinite()
    for x in operands:
        came_in: Any = x.detached() == -inf if getattr(x, "many", False) else x.__class__ is float and x == -inf
        if not isinstance(op, Op) and came_in is not False:  # an op on structure, whose numbers stand elsewhere
            came_in = bool(came_in.any())
        sound = sound | (masked & came_in)
    return bool(sound.all())


def _number_at(x: Any, place: Sequence[int], ndim: int) -> float | None:
    """The number of an operand that belongs to a place of the result, if the op goes number by number."""
    if not getattr(x, "many", False):
        return x if isinstance(x, (int, float)) else None
    try:
        own = place[ndim - x.ndim :] if x.ndim <= ndim else None
        at = tuple(0 if n == 1 else i for i, n in zip(own, x.shape, strict=True)) if own is not None else None
        return None if at is None else _read(x, at)
    except (ValueError, IndexError):
        return None


def _read(x: Any, at: tuple[int, ...]) -> float:
    """One number of a tensor, unwatched: an index would be an op that `anomaly()` stops at."""
    found = x.tolist()
    for i in at:
        found = found[i]
    return float(found)


def push_watched(v: Node, push: Callable[[Node], None]) -> None:
    """`push(v)` under `anomaly()`: raises if that makes a gradient that is not finite.

    >>> from gradwalk import reverse
    >>> y = Value(0.0).sqrt()
    >>> y.grad = 1.0
    >>> push_watched(y, reverse.push)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.AnomalyError: the gradient turned inf on its way from sqrt(0) = 0 to 0: ...
    """
    if getattr(v, "many", False):
        for birth in _pushed_by_many(v):
            raise _backward_error(birth)
        push(v)
        return
    for birth in _pushed_by(v):
        raise _backward_error(birth)
    push(v)
    for birth in _pushed_by_hand(v) if isfinite(_number(v.grad)) else ():
        raise _backward_error(birth)


def _backward_error(birth: Birth) -> AnomalyError:
    line = birth.made_by
    where = f"\n  made by {line}" if line else "; build the graph under anomaly() to see the line"
    return AnomalyError(birth.text + where)


# --- births found afterwards ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Birth:
    """A place where a number stopped being finite.

    Forwards `node` holds it. Backwards `node` pushed it to `operand`. `text` says it in words.

    >>> forward_births([Value(0.0), Value(0.0).log()]).producers[0].text
    'log(0) gave -inf'
    """

    node: Node
    value: float
    text: str
    operand: Node | None = None

    @property
    def made_by(self) -> Place | None:
        """The line that made the node, if it was written down.

        >>> Birth(Value(1.0), 1.0, "").made_by is None
        True
        """
        return made_by(self.node)


@dataclass(frozen=True)
class Births:
    """Who made numbers that are not finite, where such numbers came in from outside, and how many nodes carry them.

    >>> x = Value(-1.0, label="x")
    >>> found = forward_births(walk.topological(x.log() * 2 + 1))
    >>> [birth.text for birth in found.producers], found.carriers
    (['log(x=-1) gave nan'], 2)
    """

    producers: list[Birth]
    arrivals: list[Birth]
    carriers: int

    def __bool__(self) -> bool:
        return bool(self.producers or self.arrivals or self.carriers)

    @property
    def first(self) -> Birth | None:
        """What to look at first.

        >>> Births([], [], 0).first is None
        True
        """
        return next(iter(self.arrivals + self.producers), None)


def forward_births(order: Iterable[Node]) -> Births:
    """The births among nodes that come operands first.

    >>> x = Value(0.0, label="x")
    >>> forward_births([x, x * float("nan")]).arrivals[0].text
    'nan came in as a constant: x=0 * nan'
    """
    producers: list[Birth] = []
    arrivals: list[Birth] = []
    seen: set[int] = set()  # nodes that are not finite
    for v in order:
        if getattr(v, "many", False) is True:
            raise GraphError("births among tensors are found as they happen: compute under gradwalk.anomaly()")
        if isfinite(v.data):
            continue
        inputs = v.inputs
        if not inputs:
            arrivals.append(Birth(v, v.data, f"{v.data:g} came in as a leaf" + (f": {v.label}" if v.label else "")))
        elif not any(id(x) in seen for x in inputs):
            odd = next((x for x in map(_number, inputs) if not isfinite(x)), None)
            told = f"{_formula(v)} gave {v.data:g}" if odd is None else f"{odd:g} came in as a constant: {_formula(v)}"
            (producers if odd is None else arrivals).append(Birth(v, v.data, told))
        seen.add(id(v))
    return Births(producers, arrivals, len(seen) - len(producers) - len(arrivals))


def backward_births(order: Iterable[Node]) -> Births:
    """The births of gradients, after a `backward()`, among nodes that come operands first.

    >>> y = Value(0.0, label="x").sqrt() * 3
    >>> y.backward()
    >>> [birth.text for birth in backward_births(walk.topological(y)).producers]
    ['the gradient turned inf on its way from sqrt(x=0) = 0 to x=0: upstream 3 × local inf']
    """
    listed = list(order)
    if any(getattr(v, "many", False) is True for v in listed):
        raise GraphError("births among tensors are found as they happen: walk back under gradwalk.anomaly()")
    nodes = _reached([v for v in listed if v.grad.__class__ is float])
    producers: list[Birth] = []
    explained: set[int] = set()  # nodes that were given something not finite by a node whose slopes we know
    carriers = 0
    for v in reversed(nodes):
        if not isfinite(v.grad):
            carriers += 1
            explained.update(id(x) for x in v.inputs)
            continue
        for birth in _pushed_by(v):
            producers.append(birth)
            explained.add(id(birth.operand))
    for v in reversed(nodes):
        for birth in _pushed_by_hand(v) if isfinite(v.grad) else ():
            if id(birth.operand) not in explained:
                explained.add(id(birth.operand))
                producers.append(birth)
    root = nodes[-1] if nodes else None
    for v in reversed(nodes):
        if not isfinite(v.grad) and id(v) not in explained and v is not root:
            told = f"the contributions to {walk.describe(v)} are finite, and their sum is {v.grad:g}"
            producers.append(Birth(v, v.grad, told, v))
    return Births(producers, [], carriers)


def _reached(nodes: list[Node]) -> list[Node]:
    """The nodes that something was pushed to, from the last one on: not those that an op did not take."""
    there = {id(v) for v in nodes[-1:]}
    for v in reversed(nodes):
        if id(v) in there:
            there.update(id(x) for x, slope in zip(v.inputs, v.slopes, strict=True) if slope is not CUT)
    return [v for v in nodes if id(v) in there]


def _pushed_by(v: Node) -> list[Birth]:
    """What `v` makes not finite as it pushes to its operands, if its slopes are known."""
    found = []
    for operand, slope in zip(v.inputs, v.slopes, strict=True):
        if slope is not None and slope is not CUT and not isfinite(slope * v.grad):
            text = (
                f"the gradient turned {slope * v.grad:g} on its way from {walk.describe(v)} to {walk.short(operand)}: "
                f"upstream {v.grad:g} × local {slope:g}"
            )
            found.append(Birth(v, slope * v.grad, text, operand))
    return found


def _pushed_by_many(v: Node) -> list[Birth]:
    """What a tensor makes not finite as it pushes to its operands, and where."""
    found: list[Birth] = []
    if v.grad is None or v.grad.first_not_finite() is not None:
        return found
    for operand, slope in zip(v.inputs, v.slopes, strict=True):
        share = None if slope is None else slope * v._grad
        if share is None or isinstance(share, float):
            continue
        odd = operand._as_node(share).first_not_finite()
        if odd is not None:
            at = f" at {list(odd[1])}" if odd[1] else ""
            was = _number_at(operand, odd[1], len(odd[1]))
            there = f", where it holds {was:g}" if was is not None else ""
            text = (
                f"the gradient turned {odd[0]:g} on its way from {walk.describe(v)} to {walk.short(operand)}{at}{there}"
            )
            found.append(Birth(v, odd[0], text, operand))
    return found


def _pushed_by_hand(v: Node) -> list[Birth]:
    """What a `_backward` of the user's own left behind that is not finite, after it ran."""
    if v.closure is None:
        return []
    told = f"the _backward of {walk.describe(v)} gave"
    odd = [x for x in v.inputs if not isfinite(_number(x.grad))]
    return [Birth(v, x.grad, f"{told} {walk.short(x)} the gradient {x.grad:g}", x) for x in odd]


def _formula(v: Node) -> str:
    return walk.formula(v._op or type(v).__name__, [walk.short(x) for x in v.operands])


def _number(x: Any) -> float:
    found: float = getattr(x, "data", x)
    return found
