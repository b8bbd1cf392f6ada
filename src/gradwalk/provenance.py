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
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from gradwalk import walk
from gradwalk.errors import AnomalyError
from gradwalk.ops import CUT, comes_later

__all__ = [
    "Birth",
    "Births",
    "Place",
    "backward_births",
    "check_forward",
    "forward_births",
    "forward_error",
    "is_users",
    "made_by",
    "push_watched",
    "users_place",
]

Node = Any  # a Value; this module does not need to know the class

_OWN_FILES = os.path.dirname(__file__)  # noqa: PTH120 (importing pathlib takes longer than all of us)


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
    """The innermost source line outside gradwalk that led to this call.

    >>> users_place().line
    1
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FILES):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


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
        place: Place | None = self.node.made_at
        return place


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
        if isfinite(v.data):
            continue
        inputs = v.inputs
        if not inputs:
            arrivals.append(Birth(v, v.data, f"{v.data:g} came in as a leaf" + _called(v)))
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
    nodes = _reached([v for v in order if v.grad.__class__ is float])
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


def _pushed_by_hand(v: Node) -> list[Birth]:
    """What a `_backward` of the user's own left behind that is not finite, after it ran."""
    if v.closure is None:
        return []
    told = f"the _backward of {walk.describe(v)} gave"
    odd = [x for x in v.inputs if not isfinite(_number(x.grad))]
    return [Birth(v, x.grad, f"{told} {walk.short(x)} the gradient {x.grad:g}", x) for x in odd]


def _formula(v: Node) -> str:
    return walk.formula(v._op or type(v).__name__, [walk.short(x) for x in v.operands])


def _called(v: Node) -> str:
    return f": {v.label}" if v.label else ""


def _number(x: Any) -> float:
    found: float = getattr(x, "data", x)
    return found
