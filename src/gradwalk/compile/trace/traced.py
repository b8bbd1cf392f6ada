"""What stands for a number while a function is traced, and writes down what is done to it.

Three kinds: `Number` is an argument, for the function a plain number; `Result` is what an op gives, a Value whose
number comes later; `Condition` is what a comparison gives. Each trace makes classes of its own, so a stand-in that
outlives its trace is told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

from gradwalk import ops
from gradwalk.compile.trace.limits import limit
from gradwalk.compile.trace.tape import NONE
from gradwalk.engine import Value
from gradwalk.methods import Methods
from gradwalk.ops import Op, choose, equal

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["COMPARISONS", "Traced", "traced_classes"]


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
}


class Traced:
    """The common part: everything that needs a number is refused, with the line and the remedy.

    >>> from gradwalk.compile.trace.tracer import Tracer
    >>> isinstance(Tracer().input(), Traced)
    True
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy numbers on the left leave the operation to us
    comes_later = True

    def __getattr__(self, name: str) -> NoReturn:  # a field that a node has and this does not
        if name in ("_a", "_da", "_db", "_kind", "_data", "_grad"):
            raise limit("structure")
        raise AttributeError(f"a traced Value has no attribute {name!r}")

    @property
    def data(self) -> NoReturn:
        """Refused: there is no number yet.

        >>> from gradwalk.compile.trace.tracer import trace
        >>> trace(lambda x: (x * 2.0).data, [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: the number of a traced Value was asked for ...
        """
        raise limit("data")

    @data.setter
    def data(self, data: Any) -> NoReturn:
        raise limit("data")

    @property
    def label(self) -> str:
        """A name for drawings, of which there is none here.

        >>> from gradwalk.compile.trace.tracer import trace
        >>> trace(lambda x: [x, x.label], [1.0]).result[1]
        ''
        """
        return ""

    @label.setter
    def label(self, label: str) -> None:
        pass

    @property
    def grad(self) -> NoReturn:
        """Refused: there is no gradient yet.

        >>> from gradwalk.compile.trace.tracer import trace
        >>> trace(lambda x: (x * 2.0).grad, [1.0])  # doctest: +ELLIPSIS
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

        >>> from gradwalk.compile.trace.tracer import trace
        >>> trace(lambda x: (x * 2.0).operands, [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: nodes in between are not kept: ...
        """
        raise limit("structure")

    _prev = local_derivatives = inputs = slopes = operands

    def backward(self, gradient: float = 1.0, *, create_graph: bool = False) -> NoReturn:
        """Refused: call it on what the compiled function gives.

        >>> from gradwalk.compile.trace.tracer import trace
        >>> trace(lambda x: (x * 2.0).backward(), [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: a gradient was asked for ...
        """
        raise limit("grad")

    def register_hook(self, hook: Any) -> NoReturn:
        """Refused: nodes in between are not kept.

        >>> from gradwalk.compile.trace.tracer import trace
        >>> trace(lambda x: (x * 2.0).register_hook(print), [1.0])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: nodes in between are not kept: ...
        """
        raise limit("structure")

    def __float__(self) -> NoReturn:
        raise limit("number")

    __int__ = __round__ = __trunc__ = __floor__ = __ceil__ = __complex__ = __float__

    def __index__(self) -> NoReturn:
        raise limit("index")

    def __repr__(self) -> str:
        return "<traced Value>"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __deepcopy__(self, memo: Any) -> Traced:
        return self

    def __copy__(self) -> Traced:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise limit("structure")


def traced_classes(tracer: Tracer, rows: list[int], first: int) -> tuple[type[Any], type[Any], Callable[[], None]]:
    """The classes of one trace, for results and for arguments, and a function that ends it.

    The busiest operators write their row themselves: a traced graph has many thousands of nodes.

    >>> from gradwalk.compile.trace.tracer import trace
    >>> trace(lambda x: x * 2.0 + 1.0, [3.0]).tape.rows
    2
    """
    extend, next_row, blank = rows.extend, count(first).__next__, object.__new__
    operand: Callable[[Any], int] = tracer.operand
    factor: Callable[[Any], int] = tracer.factor
    known = tracer.known.get
    codes = {name: tracer.code(op) for name, op in {**ops.TABLE, **COMPARISONS}.items()}
    add, sub, mul, div = (codes[name] for name in ("add", "sub", "mul", "div"))

    class Operators(Traced):
        __slots__ = ()
        _row: int  # of the tape, or the number of an argument

        def __add__(self, other: Any) -> Any:
            extend((add, self._row, other._row if other.__class__ is Result else operand(other)))
            out = blank(Result)
            out._row = next_row()
            return out

        def __radd__(self, other: Any) -> Any:
            extend((add, operand(other), self._row))
            out = blank(Result)
            out._row = next_row()
            return out

        def __mul__(self, other: Any) -> Any:
            if other.__class__ is Result:
                extend((mul, self._row, other._row))
            else:
                met = known(id(other))  # asked here because it is asked so often
                extend((mul, self._row, factor(other) if met is None else met))
            out = blank(Result)
            out._row = next_row()
            return out

        def __rmul__(self, other: Any) -> Any:
            met = known(id(other))
            extend((mul, factor(other) if met is None else met, self._row))
            out = blank(Result)
            out._row = next_row()
            return out

        def __sub__(self, other: Any) -> Any:
            extend((sub, self._row, operand(other)))
            out = blank(Result)
            out._row = next_row()
            return out

        def __rsub__(self, other: Any) -> Any:
            return record(sub, operand(other), self._row)

        def __truediv__(self, other: Any) -> Any:
            return record(div, self._row, operand(other))

        def __rtruediv__(self, other: Any) -> Any:
            return record(div, operand(other), self._row)

        def __pow__(self, other: Any) -> Any:
            return record(codes["pow"], self._row, operand(other))

        def __rpow__(self, other: Any) -> Any:
            return record(codes["pow"], operand(other), self._row)

        def __neg__(self) -> Any:
            return record(codes["neg"], self._row, NONE)

        def __abs__(self) -> Any:
            return record(codes["abs"], self._row, NONE)

        def relu(self) -> Any:
            return record(codes["relu"], self._row, NONE)

        def exp(self) -> Any:
            return record(codes["exp"], self._row, NONE)

        def tanh(self) -> Any:
            return record(codes["tanh"], self._row, NONE)

        def __lt__(self, other: Any) -> Any:
            return compare("less", self, other)

        def __le__(self, other: Any) -> Any:
            return compare("less_equal", self, other)

        def __gt__(self, other: Any) -> Any:
            return compare("greater", self, other)

        def __ge__(self, other: Any) -> Any:
            return compare("greater_equal", self, other)

        def __gradwalk_equal__(self, other: Any) -> Any:
            return compare("equals", self, other)

        def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Any:
            return tracer.apply(op, operands)

        def detach(self) -> Any:
            return tracer.detach(self)

        def __gradwalk_take__(self, table: Any) -> Any:
            return tracer.take(table, self)

    class Result(Operators, Value):  # type: ignore[misc]  # a Value, so that `w * x` asks `x` first
        """What an op gives."""

        __slots__ = ("_row",)

    class Number(Operators, Methods):
        """An argument: what the function, run by itself, would see as a plain number."""

        __slots__ = ("_row",)

        def __eq__(self, other: object) -> Any:
            return compare("equals", self, other)

        def __ne__(self, other: object) -> Any:
            return 1.0 - compare("equals", self, other)

        def __hash__(self) -> NoReturn:
            raise limit("key")

        def __bool__(self) -> NoReturn:
            raise limit("branch")

        def __mod__(self, other: Any) -> NoReturn:
            raise limit("number")

        __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = __mod__

    class Condition(Result):
        """What a comparison gives: 1 or 0, once the function runs."""

        __slots__ = ()

        def __bool__(self) -> NoReturn:
            raise limit("branch")

        def __and__(self, other: Any) -> Any:
            return as_condition(self * other)

        def __or__(self, other: Any) -> Any:
            return as_condition(tracer.apply(ops.maximum, (self, other)))

        def __invert__(self) -> Any:
            return as_condition(1.0 - self)

        __rand__, __ror__ = __and__, __or__

    def record(code: int, a: int, b: int) -> Any:
        extend((code, a, b))
        out = blank(Result)
        out._row = next_row()
        return out

    def compare(name: str, x: Any, y: Any) -> Any:
        return as_condition(record(codes[name], operand(x), operand(y)))

    def as_condition(x: Any) -> Any:
        out = blank(Condition)
        out._row = x._row
        return out

    def end() -> None:
        def escaped(*_: Any) -> NoReturn:
            raise limit("escaped")

        nonlocal extend, operand, factor
        extend = operand = factor = escaped
        for name in ("data", "operands", "_prev"):
            setattr(Operators, name, property(escaped))

    tracer.record = record
    return Result, Number, end
