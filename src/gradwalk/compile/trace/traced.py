"""What stands for a Value while a function is traced, and writes down what is done to it.

`Result` is what an op gives, a Value whose number comes later; what stands for plain numbers is in `plain.py`. Each
trace makes classes of its own, so a stand-in that outlives its trace is told apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NoReturn

from gradwalk import ops
from gradwalk.compile.trace.limits import TOLD, limit
from gradwalk.compile.trace.tape import NONE
from gradwalk.engine import Value
from gradwalk.ops import Op, choose, equal

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["COMPARISONS", "IsTensor", "Traced", "traced_classes"]


def _comparison(name: str, symbol: str, holds: Callable[[Any, Any], Any]) -> Op:
    """A comparison as an op: 1 where it holds, else 0, and no slope anywhere."""
    flat = (lambda x, y, out: 0.0, lambda x, y, out: 0.0)
    return Op(name, symbol, lambda x, y: choose(holds(x, y), 1.0, 0.0), flat)


#: Comparisons as ops, which `gradwalk.where` takes as its condition.
COMPARISONS = {
    "less": _comparison("less", "<", lambda x, y: x < y),
    "less_equal": _comparison("less_equal", "<=", lambda x, y: x <= y),
    "greater": _comparison("greater", ">", lambda x, y: x > y),
    "greater_equal": _comparison("greater_equal", ">=", lambda x, y: x >= y),
    "equals": _comparison("equals", "==", equal),
    "differs": _comparison("differs", "!=", lambda x, y: x != y),
}


class Traced:
    """What all stand-ins have in common.

    >>> isinstance(Tracer().input(3.0), Traced)
    True
    """

    __slots__ = ()
    __array_ufunc__: Any = None  # NumPy numbers on the left leave the operation to us
    comes_later = True

    def __deepcopy__(self, memo: Any) -> Traced:
        return self

    def __copy__(self) -> Traced:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise limit("structure")


class IsTensor(Exception):  # noqa: N818 (nobody outside sees it)
    """An operand is a tensor, which takes it from here."""


class TracedValue(Traced):
    """What stands for a Value: what belongs to the nodes of a graph is refused, with the line and the remedy.

    >>> isinstance(Tracer().input(3.0, value=True), TracedValue)
    True
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:  # a field that a node has and this does not
        if name in ("_a", "_da", "_db", "_kind", "_data", "_grad"):
            raise limit("structure")
        raise AttributeError(f"a traced Value has no attribute {name!r}")

    @property
    def grad(self) -> NoReturn:
        """Refused: there is no gradient yet.

        >>> trace(lambda x: (Value(x) * 2.0).grad, [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: a gradient was asked for ...
        """
        raise limit("grad")

    @grad.setter
    def grad(self, grad: Any) -> NoReturn:
        raise limit("grad")

    @property
    def operands(self) -> NoReturn:
        """Refused: rows of a tape are not nodes.

        >>> trace(lambda x: (Value(x) * 2.0).operands, [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: nodes in between are not kept: ...
        """
        raise limit("structure")

    _prev = local_derivatives = inputs = slopes = operands

    def backward(self, gradient: float = 1.0, *, create_graph: bool = False) -> NoReturn:
        """Refused: call it on what the compiled function gives.

        >>> trace(lambda x: (Value(x) * 2.0).backward(), [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: a gradient was asked for ...
        """
        raise limit("grad")

    def register_hook(self, hook: Any) -> NoReturn:
        """Refused: nodes in between are not kept.

        >>> trace(lambda x: (Value(x) * 2.0).register_hook(print), [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: nodes in between are not kept: ...
        """
        raise limit("structure")


def traced_classes(tracer: Tracer, rows: list[int], first: int) -> tuple[type[Any], Callable[[], None]]:
    """The class of one trace for Values, and a function that ends it.

    The busiest operators write their row themselves: a traced graph has many thousands of nodes.

    >>> trace(lambda x: x * 2.0 + 1.0, [3.0]).tape.rows
    2
    """
    numbering = count(first)
    extend, next_row = rows.extend, numbering.__next__
    operand: Callable[[Any], int] = tracer.operand
    factor: Callable[[Any], int] = tracer.factor
    known = tracer.known.get
    codes = {name: tracer.code(op) for name, op in {**ops.TABLE, **COMPARISONS}.items()}
    add, sub, mul = (codes[name] for name in ("add", "sub", "mul"))

    def recorded(name: str) -> tuple[Any, Any]:
        """An operator, and its reflected form."""
        code = codes[name]

        def forth(self: Result, other: Any) -> Any:
            try:
                return record(code, self._row, operand(other))
            except IsTensor:
                return NotImplemented

        def back(self: Result, other: Any) -> Any:
            try:
                return record(code, operand(other), self._row)
            except IsTensor:
                return NotImplemented

        return forth, back

    def recorded_alone(name: str) -> Any:
        return lambda self: record(codes[name], self._row, NONE)

    def compared(name: str) -> Any:
        return lambda self, other: tracer.compare(name, self, other)

    class Result(TracedValue, Value):  # type: ignore[misc]  # a Value, so that `w * x` asks `x` first
        """What an op gives."""

        __slots__ = ("_row",)
        _row: int  # of the tape, or the number of an argument

        def __add__(self, other: Any) -> Any:
            try:
                extend((add, self._row, other._row if type(other) is Result else operand(other)))
            except IsTensor:
                return NotImplemented
            out = make()
            out._row = next_row()
            return out

        def __radd__(self, other: Any) -> Any:
            try:
                extend((add, operand(other), self._row))
            except IsTensor:
                return NotImplemented
            out = make()
            out._row = next_row()
            return out

        def __mul__(self, other: Any) -> Any:
            try:
                if type(other) is Result:
                    extend((mul, self._row, other._row))
                else:
                    met = known(id(other))  # asked here because it is asked so often
                    extend((mul, self._row, factor(other) if met is None else met))
            except IsTensor:
                return NotImplemented
            out = make()
            out._row = next_row()
            return out

        def __rmul__(self, other: Any) -> Any:
            try:
                met = known(id(other))
                extend((mul, factor(other) if met is None else met, self._row))
            except IsTensor:
                return NotImplemented
            out = make()
            out._row = next_row()
            return out

        def __sub__(self, other: Any) -> Any:
            try:
                extend((sub, self._row, operand(other)))
            except IsTensor:
                return NotImplemented
            out = make()
            out._row = next_row()
            return out

        __rsub__ = recorded("sub")[1]
        __truediv__, __rtruediv__ = recorded("div")
        __pow__, __rpow__ = recorded("pow")

        __neg__, __abs__, relu, exp, tanh = map(recorded_alone, ("neg", "abs", "relu", "exp", "tanh"))
        __lt__, __le__, __gt__, __ge__ = map(compared, ("less", "less_equal", "greater", "greater_equal"))
        __gradwalk_equal__ = compared("equals")

        def __eq__(self, other: object) -> bool:
            if self._row < first and isinstance(other, Value) and type(other) is not Result:  # it may be that one
                tracer.note("an argument was looked for among Values", TOLD)
            return self is other

        __hash__ = Value.__hash__

        def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Any:
            return tracer.apply(op, operands)

        def detach(self) -> Any:
            return tracer.detach(self)

        @property
        def data(self) -> Any:
            return tracer.data_of(self)

        @data.setter
        def data(self, data: Any) -> NoReturn:
            raise limit("set")

        @staticmethod
        def weighted_sum(weights: list[Any], xs: list[Any], bias: Any) -> Any:
            """What `sum(map(mul, weights, xs), bias)` gives, and the same rows for it, in a fifth of the time.

            That is for parameters and what is computed; None where there is something else.
            """
            number, at = tracer.Number, first + len(rows) // 3
            some: list[int] = []
            total: Any = None
            if type(bias) is not Value:
                return None
            for w, x in zip(weights, xs):  # noqa: B905 (as many; and it is quicker)
                kind, met = type(x), known(id(w))
                if (kind is not Result and kind is not number) or type(w) is not Value:
                    return None
                if met is None:
                    if kind is number:
                        return None
                    met = factor(w)
                if total is None:  # now, as a sum meets it after the first product
                    total = operand(bias)
                some += mul, met, x._row, add, total, at
                total = at + 1
                at += 2
            many_rows(some)
            out = make()
            out._row = total
            return out

        @property
        def label(self) -> str:
            if self._row < first:
                tracer.note("the label of an argument was read", "pass it as an argument of its own")
            return tracer.labels.get(self._row, "")

        @label.setter
        def label(self, label: str) -> None:
            if self._row < first:
                tracer.note("the label of an argument was set", "set it outside the compiled function")
            tracer.labels[self._row] = label

        def __repr__(self) -> str:
            if tracer.ended:
                return "<traced Value>"
            if self._row < first:
                raise limit("grad", " (by repr)")  # of an argument
            return f"Value(data={self.data}, grad=0.0)"

        def __format__(self, spec: str) -> str:
            return format(self.data, spec) if spec and not tracer.ended else repr(self)

    Result.__name__ = Result.__qualname__ = "Value"  # as errors of Python's own have it
    make: Callable[[], Any] = partial(object.__new__, Result)

    def record(code: int, a: int, b: int) -> Any:
        extend((code, a, b))
        out = make()
        out._row = next_row()
        return out

    def row(code: int, a: int, b: int) -> int:
        extend((code, a, b))
        return next_row()

    def many_rows(some: list[int]) -> int:
        begins = next_row()
        extend(some)
        deque(islice(numbering, len(some) // 3 - 1), maxlen=0)
        return begins

    def end() -> None:
        def escaped(*_: Any) -> NoReturn:
            raise limit("escaped")

        nonlocal extend, operand, factor
        extend = operand = factor = escaped
        tracer.ended = True
        for name in ("data", "operands", "_prev"):
            setattr(Result, name, property(escaped))

    tracer.record, tracer.row, tracer.many_rows = record, row, many_rows
    tracer.weighted_sum = Result.weighted_sum
    return Result, end
