"""Numbers that left the graph and came back: `Value(v.data * 2)`, `w * v.data`, `v.detach()`, layers under `no_grad()`.

Reading `.data` leaves no trace in a graph. So while a forward pass is followed, what the user's code reads is a float
that remembers the node it came from, and how much it would change with it: arithmetic on it goes on remembering. When
such a float comes back into the graph as a leaf or a constant, the cut is proven, and so is what it cost: the gradient
that would have flowed through it. Nothing of this is in place outside `follow()`.
"""

from __future__ import annotations

import itertools
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from gradwalk import modes
from gradwalk.engine import Value
from gradwalk.node import Node
from gradwalk.provenance import Place, is_users, users_place

__all__ = ["Reading", "Readings", "follow"]

#: So many nodes whose data was read are remembered; an evaluation before training may read any number.
REMEMBERED = 20_000


class Reading(float):
    """A float that remembers which nodes it was read from, and its derivative with respect to each.

    >>> from gradwalk.doctor.readings import Reading
    >>> x = Reading(3.0, {0: 1.0})
    >>> (2 * x + 1).origins, (x * x).origins, type(round(x))
    ({0: 2.0}, {0: 6.0}, <class 'int'>)
    """

    __slots__ = ("origins",)
    origins: dict[int, float]

    def __new__(cls, x: float, origins: dict[int, float]) -> Reading:  # noqa: D102
        made = super().__new__(cls, x)
        made.origins = origins
        return made

    def __reduce__(self) -> tuple[type[float], tuple[float]]:  # pickled and copied as the plain float it stands for
        return float, (float(self),)


def _scaled(origins: dict[int, float], factor: float) -> dict[int, float]:
    return {origin: slope * factor for origin, slope in origins.items()}


def _both(x: Any, y: Any, by_x: float, by_y: float) -> dict[int, float]:
    found = _scaled(x.origins, by_x) if isinstance(x, Reading) else {}
    for origin, slope in (y.origins if isinstance(y, Reading) else {}).items():
        found[origin] = found.get(origin, 0.0) + slope * by_y
    return found


#: How the result of an operation changes with each of its sides.
_SLOPES: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "add": lambda x, y: (1.0, 1.0),
    "sub": lambda x, y: (1.0, -1.0),
    "mul": lambda x, y: (y, x),
    "truediv": lambda x, y: (1.0 / y, -x / (y * y)),
    "pow": lambda x, y: (y * x ** (y - 1.0) if x > 0.0 or (y == int(y) and x != 0.0) else 0.0, 0.0),
}


def _arithmetic() -> None:
    """The operators of `Reading`, each with its reflected form."""

    def make(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        compute, slopes = getattr(operator, name), _SLOPES[name]

        def result(x: Any, y: Any) -> Any:
            out = compute(float(x), float(y))
            if out.__class__ is not float:
                return out
            return Reading(out, _both(x, y, *slopes(float(x), float(y))))

        def forth(self: Any, other: Any) -> Any:
            return result(self, other) if isinstance(other, (int, float)) else NotImplemented

        def back(self: Any, other: Any) -> Any:
            return result(other, self) if isinstance(other, (int, float)) else NotImplemented

        return forth, back

    for name in _SLOPES:
        forth, back = make(name)
        setattr(Reading, f"__{name}__", forth)
        setattr(Reading, f"__r{name}__", back)
    for name, slope in (("neg", -1.0), ("pos", 1.0)):
        setattr(Reading, f"__{name}__", _unary(getattr(operator, name), slope))
    Reading.__abs__ = lambda self: -self if self < 0.0 else +self  # type: ignore[method-assign]


def _unary(compute: Callable[[float], float], slope: float) -> Callable[[Reading], Reading]:
    return lambda self: Reading(compute(float(self)), _scaled(self.origins, slope))


_arithmetic()


_numbers = itertools.count()  # of sources, in all readings, so that one may be followed inside another
_users: dict[CodeType, bool] = {}  # whether a function is the user's
_places: dict[tuple[CodeType, int], Place] = {}


def _users_place(frame: FrameType) -> Place:
    """As `provenance.users_place`, many times a second: whose a function is, and its lines, are remembered."""
    while True:
        code = frame.f_code
        users = _users.get(code)
        if users is None:
            users = _users[code] = is_users(code.co_filename)
        if users or frame.f_back is None:
            break
        frame = frame.f_back
    key = (code, frame.f_lasti)
    place = _places.get(key)
    if place is None:
        place = _places[key] = Place(code.co_filename, frame.f_lineno, code.co_name)
    return place


# --- following a forward pass --------------------------------------------------------------------------------------


@dataclass
class Readings:
    """What was read out of the graph during a forward pass, and what of it came back.

    >>> from gradwalk import Value
    >>> from gradwalk.doctor.readings import follow
    >>> w = Value(3.0)
    >>> with follow() as readings:
    ...     h = w * w
    ...     loss = Value(h.data * 2) * Value(5.0)
    >>> len(readings.leaves), w.data.__class__
    (1, <class 'float'>)
    """

    sources: dict[int, Any] = field(default_factory=dict)  # nodes whose data the user's code read, by number
    leaves: list[tuple[Value, dict[int, float], str]] = field(default_factory=list)  # and how each was made
    constants: list[tuple[Value, int, Reading]] = field(default_factory=list)  # node, place of the operand, what it was
    forgotten: dict[int, tuple[Value, Any]] = field(default_factory=dict)  # made under no_grad(), and of what
    lines: dict[int, Place] = field(default_factory=dict)  # where each node was made, by its id
    _recent: deque[int] = field(default_factory=deque)

    def line(self, v: Value) -> Place | None:
        """The line that made a node, if that was seen.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor.readings import Readings
        >>> Readings().line(Value(2.0)) is None
        True
        """
        return self.lines.get(id(v)) or v.made_at

    def source(self, v: Value) -> int:
        """The number of a node from now on.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor.readings import Readings
        >>> readings, w = Readings(), Value(2.0)
        >>> readings.sources[readings.source(w)] is w
        True
        """
        number = next(_numbers)
        self.sources[number] = v
        self._recent.append(number)
        if len(self._recent) > REMEMBERED:
            del self.sources[self._recent.popleft()]
        return number

    def hear(self, out: Value, operands: Any) -> None:
        """Take note of an op, as `modes.listened` tells of each.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor.readings import Reading, Readings
        >>> readings, w = Readings(), Value(2.0)
        >>> readings.hear(w * 3.0, (w, Reading(3.0, {0: 1.0})))
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
            if x.__class__ is Reading:
                self.constants.append((out, place, x))


@contextmanager
def follow() -> Iterator[Readings]:
    """Follow what the user's code reads out of graphs, and write down the line that makes each node.

    >>> from gradwalk import Value
    >>> from gradwalk.doctor.readings import follow
    >>> with follow() as readings:
    ...     y = Value(2.0) * 3
    >>> readings.line(y).line
    2
    """
    readings = Readings()
    if not _followers:
        _hooks.enter_context(modes.listened(_hear))
        for name, hook in (("data", property(_read, _write)), ("__init__", _made), ("detach", _detached)):
            setattr(Value, name, hook)
    _followers.append(readings)
    try:
        yield readings
    finally:
        _followers.remove(readings)
        if not _followers:  # whoever came first: the last one clears up
            type.__delattr__(Value, "data")
            Value.__init__, Value.detach = _make, _detach  # type: ignore[method-assign]
            _hooks.close()


_followers: list[Readings] = []
_hooks = ExitStack()
_slot: Any = vars(Node)["data"]
_make, _detach = Value.__init__, Value.detach


def _hear(out: Value, operands: Any) -> None:
    for readings in _followers:
        readings.hear(out, operands)


def _read(v: Value) -> float:
    x: float = _slot.__get__(v)
    code = sys._getframe(1).f_code
    users = _users.get(code)
    if users is None:
        users = _users[code] = is_users(code.co_filename)
    if not users or x.__class__ is not float:
        return x
    return Reading(x, {readings.source(v): 1.0 for readings in _followers})


def _write(v: Value, x: Any) -> None:
    _slot.__set__(v, float(x) if x.__class__ is Reading else x)


def _made(self: Value, data: Any, _children: Any = (), _op: str = "", label: str = "") -> None:
    _make(self, data, _children, _op, label)
    if data.__class__ is Reading and not self.inputs:
        for readings in _followers:
            readings.lines[id(self)] = users_place()
            readings.leaves.append((self, data.origins, "data"))


def _detached(self: Value) -> Value:
    out = _detach(self)
    for readings in _followers:
        readings.lines[id(out)] = users_place()
        readings.leaves.append((out, {readings.source(self): 1.0}, "detach"))
    return out
