"""Numbers that left the graph and came back: `Value(v.data * 2)`, `w * v.data`, `v.detach()`, layers under `no_grad()`.

Reading `.data` leaves no trace in a graph. So while a forward pass is followed, what the user's code reads is a float
that remembers the node it came from, and how much it would change with it: arithmetic on it goes on remembering. When
such a float comes back into the graph as a leaf or a constant, the cut is proven, and so is what it cost: the gradient
that would have flowed through it.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from gradwalk import modes, node, ops
from gradwalk.engine import Value
from gradwalk.provenance import Place, is_users

#: So many nodes whose data was read are remembered; an evaluation before training may read any number.
REMEMBERED = 20_000


class TrackedFloat(float):
    """A float that remembers which nodes it was read from, and its derivative with respect to each.

    >>> x = TrackedFloat(3.0, {0: 1.0})
    >>> (2 * x + 1).origins, (x * x).origins, type(round(x))
    ({0: 2.0}, {0: 6.0}, <class 'int'>)
    """

    __slots__ = ("origins",)
    origins: dict[int, float]

    def __new__(cls, x: float, origins: dict[int, float]) -> TrackedFloat:  # noqa: D102
        made = super().__new__(cls, x)
        made.origins = origins
        return made

    def __reduce__(self) -> tuple[type[float], tuple[float]]:  # pickled and copied as the plain float it stands for
        return float, (float(self),)


def _arithmetic() -> None:
    """The operators of `TrackedFloat`, each with its reflected form; the slopes are those of the op table."""

    def make(compute: Callable[..., Any], op: ops.Op) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def result(*numbers: Any) -> Any:
            point = [float(x) for x in numbers]
            out = compute(*point)
            if out.__class__ is not float:
                return out
            origins: dict[int, float] = {}
            for i, x in enumerate(numbers):
                if isinstance(x, TrackedFloat):
                    slope = op.slope(i, *point, out)
                    for origin, share in x.origins.items():
                        origins[origin] = origins.get(origin, 0.0) + (slope * share if math.isfinite(slope) else 0.0)
            return TrackedFloat(out, origins)

        def forth(self: Any, *other: Any) -> Any:
            return result(self, *other) if all(isinstance(x, (int, float)) for x in other) else NotImplemented

        def back(self: Any, other: Any) -> Any:
            return result(other, self) if isinstance(other, (int, float)) else NotImplemented

        return forth, back

    for name, op in (("add", ops.add), ("sub", ops.sub), ("mul", ops.mul), ("truediv", ops.div), ("pow", ops.pow)):
        forth, back = make(getattr(operator, name), op)
        setattr(TrackedFloat, f"__{name}__", forth)
        setattr(TrackedFloat, f"__r{name}__", back)
    TrackedFloat.__neg__ = make(operator.neg, ops.neg)[0]  # type: ignore[method-assign]
    TrackedFloat.__pos__ = lambda self: self  # type: ignore[method-assign]
    TrackedFloat.__abs__ = lambda self: -self if self < 0.0 else self  # type: ignore[method-assign]


_arithmetic()


_numbers = itertools.count()  # of sources, in all readings, so that one may be followed inside another
_users: dict[CodeType, bool] = {}  # whether a function is the user's
_places: dict[tuple[CodeType, int], Place] = {}
_ENGINE = (modes.__file__, node.__file__, __file__)  # where a read passes on its way from the reader to `Readings`


def _is_users(code: CodeType) -> bool:
    users = _users.get(code)
    if users is None:
        users = _users[code] = is_users(code.co_filename)
    return users


def _users_place(frame: FrameType) -> Place:
    """As `provenance.users_place`, many times a second: whose a function is, and its lines, are remembered."""
    while not _is_users(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    key = (frame.f_code, frame.f_lasti)
    place = _places.get(key)
    if place is None:
        place = _places[key] = Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
    return place


# --- following a forward pass --------------------------------------------------------------------------------------


class Readings(modes.Observer):
    """What was read out of the graph during a forward pass, what of it came back, and the line that made each node.

    >>> w = Value(3.0)
    >>> with follow() as readings:
    ...     h = w * w
    ...     loss = Value(h.data * 2) * Value(5.0)
    >>> len(readings.leaves), w.data.__class__
    (1, <class 'float'>)
    """

    def __init__(self) -> None:
        self.sources: dict[int, Any] = {}  # nodes whose data the user's code read, by number
        self.leaves: list[tuple[Value, dict[int, float], str]] = []  # and how each was made
        self.constants: list[tuple[Value, int, TrackedFloat]] = []  # node, place, operand
        self.forgotten: dict[int, tuple[Value, Any]] = {}  # made under no_grad(), and of what
        self.lines: dict[int, Place] = {}  # where each node was made, by its id
        self._recent: deque[int] = deque()

    @property
    def every_op(self) -> bool:  # type: ignore[override]
        """Whether ops must come one at a time: not for what is only measured."""
        return modes.recording()

    def line(self, v: Value) -> Place | None:
        """The line that made a node, if that was seen."""
        return self.lines.get(id(v)) or v.made_at

    def source(self, v: Value) -> int:
        """The number of a node from now on."""
        number = next(_numbers)
        self.sources[number] = v
        self._recent.append(number)
        if len(self._recent) > REMEMBERED:
            del self.sources[self._recent.popleft()]
        return number

    def op(self, out: Value, operands: Any) -> None:
        """Take note of an op.

        >>> readings, w = Readings(), Value(2.0)
        >>> readings.op(w * 3.0, (w, TrackedFloat(3.0, {0: 1.0})))
        >>> len(readings.constants)
        1
        """
        self.lines[id(out)] = _users_place(sys._getframe(1))
        if not modes.recording():
            if len(self.forgotten) >= 10 * REMEMBERED:
                self.forgotten.clear()
            self.forgotten[id(out)] = (out, operands)
            return
        for place, x in enumerate(operands):
            if x.__class__ is TrackedFloat:
                self.constants.append((out, place, x))

    def leaf(self, v: Value, data: Any) -> None:
        """Take note of a Value that is made of a number read before."""
        if data.__class__ is TrackedFloat:
            self._came_back(v, data.origins, "data")

    def detached(self, out: Value, v: Value) -> None:
        """Take note of a `detach()`."""
        self._came_back(out, {self.source(v): 1.0}, "detach")

    def _came_back(self, leaf: Value, origins: dict[int, float], way: str) -> None:
        self.lines[id(leaf)] = _users_place(sys._getframe(1))
        self.leaves.append((leaf, origins, way))

    def read(self, v: Value, field: str, number: Any) -> Any:
        """What the user's code sees: a float that remembers; to all others it is a plain one."""
        if field != "data" or not isinstance(number, float):
            return number
        frame = sys._getframe(1)
        while frame.f_code.co_filename in _ENGINE and frame.f_back is not None:
            frame = frame.f_back
        if not _is_users(frame.f_code):
            return number
        known = number.origins if isinstance(number, TrackedFloat) else {}  # to somebody else who follows
        return TrackedFloat(number, {**known, self.source(v): 1.0})

    def write(self, v: Value, field: str, number: Any) -> Any:
        """Nodes hold plain floats."""
        return float(number) if number.__class__ is TrackedFloat else number


@contextmanager
def follow() -> Iterator[Readings]:
    """Follow what the user's code reads out of graphs, and write down the line that makes each node.

    >>> with follow() as readings:
    ...     y = Value(2.0) * 3
    >>> readings.line(y).line
    2
    """
    readings = Readings()
    with modes.observed(readings):
        yield readings
