"""What stands for a plain number while a function is traced: an argument, `.data` of a Value, what is made of these.

For the function it is an int, a float or a NumPy number, and it behaves as one: it compares by number, has the type's
methods, and can be asked for its number, which becomes a guard (`guards.py`). What it computes is plain again; with a
Value it makes a Value. `Condition` is what a comparison gives, for the function True or False: asked, it answers; as a
condition of `gradwalk.where`, or as a number, it stays open, and one trace serves both outcomes.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk import ops
from gradwalk.compile.trace.asking import asked_by_insider, asks_for_attribute, numpy_was_called
from gradwalk.compile.trace.guards import typed
from gradwalk.compile.trace.kinds import (
    BOOLS,
    COMPARING,
    EXACT,
    LIMITED,
    LOGICAL,
    WHOLE,
    WIDE_INTS,
    is_narrow,
    is_narrow_block,
    is_python,
    is_too_large,
    is_wide_block,
    kind_after,
    quiet_kind_after,
)
from gradwalk.compile.trace.limits import Unfollowable, limit
from gradwalk.compile.trace.narrow import as_single, fitted
from gradwalk.compile.trace.tape import NONE
from gradwalk.compile.trace.traced import Traced
from gradwalk.compile.trace.whole import computed, limited
from gradwalk.engine import Value
from gradwalk.methods import Methods
from gradwalk.ops import Op

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["Condition", "Number", "not_raising", "plain_classes"]

ARRAY = "call NumPy's functions by their names, as in np.sort(xs) and A * np.array(xs)"
RAISING = frozenset(("raise", "call", "log"))  # what NumPy can be told to do, beside warning
EXACTLY = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equals": operator.eq, "differs": operator.ne,
}  # fmt: skip


def not_raising() -> None:
    """Refuse to go on where NumPy is told to raise an error, or to call a function, for a number that is not finite.

    >>> import numpy as np
    >>> with np.errstate(divide="raise"):
    ...     not_raising()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.compile.trace.limits.Unfollowable: ...
    """
    if any(how in RAISING for how in np.geterr().values()):
        raise Unfollowable(
            "in {function} NumPy raises an error where a number is not finite (np.errstate, np.seterr)",
            "ask whether the numbers are finite (np.isfinite), in place of raising",
        )


def _operator(name: str, python: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """An operator of two numbers, and its reflected form."""

    op = ops.TABLE[name]
    taken_in = attrgetter("factor" if name == "mul" else "operand")
    risky = name in ("div", "pow")

    def apply(tracer: Tracer, x: Any, y: Any) -> Any:
        first: Any = x._kind if type(x) in tracer.own else type(x)
        second: Any = y._kind if type(y) in tracer.own else type(y)
        try:
            kind = kind_after(python, first, second)
        except TypeError:  # as the plain function has it, and because of the types alone
            _ask_types(tracer, x, y)
            raise
        if risky and not tracer.samples:  # a batch cannot raise for one of its samples: there these are inf and nan
            if not is_python(first, second):
                not_raising()
            if name == "div" and is_python(first, second) and y == 0:
                return python(tracer.told(x), tracer.told(y))  # which raises what the plain function raises
            if name == "pow":
                kind = _power_kind(tracer, kind, x, y)
        if kind is np.bool_:  # NumPy's True + True is True
            return tracer.condition(ops.maximum if name == "add" else op, x, y)
        if kind is np.float32:  # a float beside it is made one first
            x, y = as_single(tracer, x), as_single(tracer, y)
        if kind in WIDE_INTS and not tracer.samples:
            return computed(tracer, python, op, x, y, kind)
        out = tracer.plain(tracer.codes[id(op)], tracer.operand(x), tracer.operand(y), kind)
        if name == "pow" and kind is float and not tracer.samples and not abs(out) < math.inf:
            return python(tracer.told(x), tracer.told(y))  # which raises where Python does
        if kind is not float and kind is not int and is_narrow(kind):
            exact = name != "pow" or not issubclass(kind, np.floating)
            return fitted(tracer, out, kind, python, x, y) if exact else tracer.ask(python, x, y)
        return out

    def forth(self: Number, other: Any) -> Any:
        if issubclass(type(other), Value):
            tracer = self._tracer
            return tracer.record(tracer.codes[id(op)], self._row, taken_in(tracer)(other))
        return apply(self._tracer, self, other) if _is_plain(other) else NotImplemented

    def back(self: Number, other: Any) -> Any:
        if issubclass(type(other), Value):
            tracer = self._tracer
            return tracer.record(tracer.codes[id(op)], taken_in(tracer)(other), self._row)
        return apply(self._tracer, other, self) if _is_plain(other) else NotImplemented

    return forth, back


def _power_kind(tracer: Tracer, kind: type, x: Any, y: Any) -> type:
    """The type of a power, which hangs on its numbers as well; where Python would raise, this does."""
    if not is_python(kind):
        if issubclass(kind, np.integer) and y < 0:
            tracer.told(x) ** tracer.told(y)  # raises
        return kind
    whole = tracer.kind_of(y) in WHOLE or (type(y) is float and y.is_integer())
    if not whole and x < 0 and not float(tracer.told(y)).is_integer():
        raise limit("complex")
    if not isinstance(y, Traced) and y >= 0:
        return kind
    if not isinstance(x, Traced) and x > 0 and kind is float:
        return kind
    if y < 0:
        if x == 0:
            tracer.told(x) ** tracer.told(y)  # raises
        return float
    return kind


def _asked(question: Callable[..., Any]) -> tuple[Any, Any]:
    """An operator whose result is asked for: the plain number, and a guard. Of ints it is an int, of floats a float."""

    def ask(tracer: Tracer, *operands: Any) -> Any:
        if not tracer.samples:  # which cannot be asked anyway
            _ask_types(tracer, *operands)
        return tracer.ask(question, *operands)

    def forth(self: Number, other: Any) -> Any:
        return ask(self._tracer, self, other) if _is_plain(other) else NotImplemented

    def back(self: Number, other: Any) -> Any:
        return ask(self._tracer, other, self) if _is_plain(other) else NotImplemented

    return forth, back


def _ask_types(tracer: Tracer, *operands: Any) -> None:
    for x in operands:
        if isinstance(x, Number):
            tracer.kind_asked(x)


def _comparison(name: str) -> Any:
    def compare(self: Number, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        if name in ("equals", "differs") and isinstance(other, Value):  # which is equal to itself only
            return NotImplemented
        tracer = self._tracer
        kinds = self._kind, tracer.kind_of(other)
        if not tracer.samples and is_too_large(other):  # which Python compares exactly, with floats too
            return tracer.ask(EXACTLY[name], self, other)
        if not tracer.samples and all(kind in LIMITED for kind in kinds):
            limited(tracer, self), limited(tracer, other)
        if np.float32 in kinds and float in kinds:  # which is made one first
            return tracer.compare(name, as_single(tracer, self), as_single(tracer, other))
        return tracer.compare(name, self, other)

    return compare


def _is_operand(x: Any) -> bool:
    return isinstance(x, Value) or _is_plain(x)


def _is_plain(x: Any) -> bool:
    kind = type(x)
    if kind is float or kind is int or issubclass(kind, Number):
        return True
    return isinstance(x, (int, float, np.number, np.bool_)) or (hasattr(x, "numerator") and hasattr(x, "denominator"))


class Number(Traced, Methods):
    """A plain number that comes later.

    >>> trace(lambda x: [x * 2.0 if x > 0 else -x, x % 2 == 1], [3]).tape.rows > 0
    True
    """

    __slots__ = ("_kind", "_row")
    _tracer: Tracer
    _kind: type  # for the function it is a number of this type
    _row: int  # of the tape, or the number of an argument

    __add__, __radd__ = _operator("add", operator.add)
    __sub__, __rsub__ = _operator("sub", operator.sub)
    __mul__, __rmul__ = _operator("mul", operator.mul)
    __truediv__, __rtruediv__ = _operator("div", operator.truediv)
    _power, __rpow__ = _operator("pow", operator.pow)
    __mod__, __rmod__ = _asked(operator.mod)
    __floordiv__, __rfloordiv__ = _asked(operator.floordiv)
    __lshift__, __rlshift__ = _asked(operator.lshift)
    __rshift__, __rrshift__ = _asked(operator.rshift)
    __and__, __rand__ = _asked(operator.and_)
    __or__, __ror__ = _asked(operator.or_)
    __xor__, __rxor__ = _asked(operator.xor)
    __lt__, __le__ = _comparison("less"), _comparison("less_equal")
    __gt__, __ge__ = _comparison("greater"), _comparison("greater_equal")
    __eq__, __ne__ = _comparison("equals"), _comparison("differs")

    @property
    def kind_of_number(self) -> type:
        """Which of bool, int and float it is, for a tensor that it goes into.

        >>> Tracer().input(3).kind_of_number
        <class 'int'>
        """
        return bool if self._kind in BOOLS else int if issubclass(self._kind, WHOLE) else float

    @property
    def holds_stand_ins(self) -> bool:
        """Whether a tensor that is made of it alone has a dtype that its kind does not say: float32.

        >>> Tracer().input(np.float32(0.5)).holds_stand_ins
        True
        """
        return self._kind in (np.float32, np.float16) and not self._tracer.samples

    @property
    def of_samples(self) -> bool:
        """Whether it is a number of a sample, which stands for others that are not known."""
        return self._tracer.samples

    @property
    def at_hand(self) -> Any:
        """The number in the call that is traced, or in its first sample, which nobody has asked for.

        >>> from gradwalk.compile.trace.tracer import Tracer
        >>> Tracer(samples=True).input(3).at_hand
        3
        """
        return typed(self._kind, self._tracer.number_at(self._row))

    def keep_kind(self) -> None:
        """Let it be a number of this type in every replay: the dtype of a tensor follows from it.

        >>> tracer = Tracer()
        >>> tracer.input(3).keep_kind(), tracer.types
        (None, {0: <class 'int'>})
        """
        self._tracer.kind_asked(self)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None:
            return self._power(other)
        _ask_types(self._tracer, self, other, modulus)
        return self._tracer.ask(pow, self, other, modulus)

    def __neg__(self) -> Any:
        tracer, kind = self._tracer, kind_after(operator.neg, self._kind)
        if not issubclass(kind, WHOLE):
            return self._alone(ops.neg, operator.neg)
        out = tracer.plain(tracer.codes[id(ops.sub)], tracer.constant(0.0), self._row, kind)  # of 0 not -0.0
        if kind in WIDE_INTS and not tracer.samples:
            tracer.largest[out._row] = limited(tracer, self)
        return fitted(tracer, out, kind, operator.neg, self) if is_narrow(kind) else out

    def __abs__(self) -> Any:
        out = self._alone(ops.abs, operator.abs)
        if out._kind in WIDE_INTS and not self._tracer.samples:
            self._tracer.largest[out._row] = limited(self._tracer, self)
        return fitted(self._tracer, out, out._kind, operator.abs, self) if is_narrow(out._kind) else out

    def __pos__(self) -> Any:
        return self

    def _alone(self, op: Op, python: Callable[[Any], Any]) -> Any:
        tracer = self._tracer
        return tracer.plain(tracer.code(op), self._row, NONE, kind_after(python, self._kind))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __invert__(self) -> Any:
        return ~self._told_with_its_type()

    # --- asked for the number ----------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __float__(self) -> float:
        return float(self._tracer.told(self))

    def __complex__(self) -> complex:
        return complex(self._tracer.told(self))

    def __int__(self) -> int:
        return int(self._tracer.ask(int, self))

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return self if self._tracer.kind_asked(self) is int else self._tracer.ask(round, self)
        _ask_types(self._tracer, self, digits)
        return self._tracer.ask(round, self, digits)

    def __trunc__(self) -> Any:
        return self._to_whole(math.trunc)

    def __floor__(self) -> Any:
        return self._to_whole(math.floor)

    def __ceil__(self) -> Any:
        return self._to_whole(math.ceil)

    def _to_whole(self, question: Callable[[Any], Any]) -> Any:
        return self if self._tracer.kind_asked(self) is int else self._tracer.ask(question, self)

    def __index__(self) -> int:
        tracer = self._tracer
        if not hasattr(tracer.kind_asked(self), "__index__"):  # as np.bool_ has none in newer versions of NumPy
            raise TypeError(f"{self._kind.__name__!r} object cannot be interpreted as an integer")
        return int(tracer.told(self))

    def __hash__(self) -> int:
        tracer = self._tracer
        if tracer.ended:  # a dict that it was put into may be looked at
            return tracer.hashes.get(self._row, 0)
        tracer.hashed = True
        found = tracer.hashes[self._row] = hash(tracer.told(self))
        return found

    def __repr__(self) -> str:
        return self._written(repr, asked_by_insider())

    def __str__(self) -> str:
        return self._written(str, asked_by_insider())

    def __format__(self, spec: str) -> str:
        return self._written(lambda x: format(x, spec), asked_by_insider())

    def _written(self, write: Callable[[Any], str], by_insider: bool) -> str:
        tracer = self._tracer
        if tracer.ended:
            return "<traced number>"
        if tracer.samples and by_insider:  # in an error of ours, which is about this sample
            return write(self.at_hand)
        return write(self._told_with_its_type())

    def _told_with_its_type(self) -> Any:
        self._tracer.kind_asked(self)
        return self._tracer.told(self)

    def __getattr__(self, name: str) -> Any:
        if name == "real":  # NumPy asks for it
            return self
        if name == "__array_struct__" and not self._tracer.ended and numpy_was_called():
            self._made_an_array_of()
        insider = asked_by_insider()
        if not insider and not self._tracer.ended:
            self._tracer.kind_asked(self)
        if insider or name.startswith("__") or not hasattr(self._kind, name):
            raise AttributeError(f"{self._kind.__name__!r} object has no attribute {name!r}")
        return getattr(self._told_with_its_type(), name)

    def _made_an_array_of(self) -> None:
        """NumPy makes an array of objects of this beside others, which has no dtype, and in which nan has no order."""
        tracer = self._tracer
        if not tracer.samples and (is_narrow(self._kind) or _is_nan(self)):
            tracer.note("NumPy makes an array of float32 numbers or nan, by a name that is not followed", ARRAY)

    def conjugate(self) -> Any:
        """The number itself.

        >>> trace(lambda x: x.conjugate() * 2.0, [3.0]).tape.rows
        1
        """
        return self

    # --- with Values, ops and NumPy ----------------------------------------------------------------------------------

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Any:
        return self._tracer.apply(op, operands)

    def __gradwalk_equal__(self, other: Any) -> Any:
        return self._tracer.compare("equals", self, other)

    def __gradwalk_take__(self, table: Any) -> Any:
        return self._tracer.take(table, self)

    def as_cell(self) -> Any:
        """The same number as what stands for an array without dims.

        >>> from gradwalk.compile.trace.tracer import Tracer
        >>> Tracer().input(3.0).as_cell() + 1.0
        4.0
        """
        out = object.__new__(self._tracer.Cell)
        out._row, out._kind = self._row, self._kind
        return out

    def detach(self) -> Any:
        """The number, as one that passes on no gradient."""
        return self._tracer.detach(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """A function of NumPy's on numbers: on objects if it can, else on the plain numbers."""
        if method == "__call__" and "out" not in options and any(map(is_wide_block, inputs)):
            from gradwalk.compile.trace.array_functions import beside_arrays  # which knows this module

            found = beside_arrays(ufunc, inputs, options)
            if found is not NotImplemented:
                return found
        not_raising()
        inputs = tuple(map(as_truth, inputs)) if ufunc in LOGICAL else inputs
        if ufunc in REFLECTED and method == "__call__" and not options and isinstance(inputs[0], np.number):
            return REFLECTED[ufunc](inputs[1], inputs[0])  # in an array of objects, that one would be Python's
        narrow = any(isinstance(x, Number) and is_narrow(x._kind) for x in inputs) and not self._tracer.samples
        try:
            if (narrow and ufunc not in EXACT) or (not self._tracer.samples and any(map(is_narrow_block, inputs))):
                raise TypeError("NumPy rounds what it computes of narrow numbers")
            if ufunc.__name__ in COMPARING and not self._tracer.samples and any(map(_is_nan, inputs)):
                raise TypeError("NumPy passes nan on")
            with np.errstate(all="ignore"):  # of stand-ins it warns of what they stand for
                out = getattr(ufunc, method)(*map(_in_an_array, inputs), **options)
        except (TypeError, AttributeError, ValueError, OverflowError):
            return getattr(ufunc, method)(
                *[self._tracer.told(x) if isinstance(x, Number) else x for x in inputs], **options
            )
        if isinstance(out, Number) and narrow:
            return out
        if method != "__call__" or isinstance(out, Condition) or type(out) not in (int, float, self._tracer.Number):
            return out
        numbers = [x[()] if isinstance(x, np.ndarray) else x for x in inputs]
        kind = quiet_kind_after(ufunc, *[x._kind if isinstance(x, Number) else type(x) for x in numbers])
        if isinstance(out, Number):
            return self._tracer.plain_again(out, kind)
        _ask_types(self._tracer, *numbers)  # the number is known, as a sign is, and not its type
        return kind(out)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """A function of NumPy's that is no ufunc, as `TracedArray` has it."""
        from gradwalk.compile.trace.array_functions import called_on_numbers  # which knows this module

        return called_on_numbers(function, types, args, kwargs)


#: What `np.int64(1) - x` is, by the function of NumPy's that it calls.
REFLECTED = {
    np.add: Number.__radd__, np.subtract: Number.__rsub__, np.multiply: Number.__rmul__, np.divide: Number.__rtruediv__
}  # fmt: skip


class OfValues:
    """A method that Values have and plain numbers have not: NumPy and we may call it, the function itself may not.

    >>> trace(lambda x: np.tanh(x), [1.0]).tape.rows
    1
    """

    def __init__(self, name: str, method: Any) -> None:
        self.name, self.method = name, method

    def __get__(self, x: Any, owner: Any = None) -> Any:
        if x is None:
            return self
        if not (x._tracer.ended or x._tracer.wrt) and asks_for_attribute(sys._getframe(1)):
            x._tracer.kind_asked(x)
            raise AttributeError(f"{x._kind.__name__!r} object has no attribute {self.name!r}")
        return self.method.__get__(x, owner)


for _name, _method in [*vars(Methods).items(), ("detach", Number.detach)]:
    if not _name.startswith("_"):
        setattr(Number, _name, OfValues(_name, _method))


class Condition(Number):
    """What a comparison gives: for the function True or False."""

    __slots__ = ()

    def keep_kind(self) -> None:
        """Nothing: a comparison of any numbers is a bool."""

    def __bool__(self) -> bool:
        return self._tracer.asked_condition(self)

    def __and__(self, other: Any) -> Any:
        if not isinstance(other, (Condition, *BOOLS)):
            return super().__and__(other)
        return self._tracer.condition(ops.mul, self, other)

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, (Condition, *BOOLS)):
            return super().__or__(other)
        return self._tracer.condition(ops.maximum, self, other)

    def __xor__(self, other: Any) -> Any:
        return self != other if isinstance(other, (Condition, *BOOLS)) else super().__xor__(other)

    def __abs__(self) -> Any:
        return self if self._kind is np.bool_ else super().__abs__()

    def __invert__(self) -> Any:
        return self == False if self._kind is np.bool_ else -1 - self  # noqa: E712 (as Python has it)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


class Cell(Number):
    """What stands for an array without dims: a number, unless it is changed in place, which the caller would see."""

    __slots__ = ()

    def _changed(self, other: Any) -> Any:
        raise Unfollowable(
            "{function} changes an argument in place that is an array without dims",
            "compute a new number, as in x = x + y instead of x += y",
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _changed
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _changed


def _is_nan(x: Any) -> bool:
    return isinstance(x, Number) and not abs(x) <= math.inf


def as_truth(x: Any) -> Any:
    """Whether a number is not 0; anything else as it is, for NumPy to look at."""
    return x != 0 if isinstance(x, (Number, int, float, np.number)) and not isinstance(x, (Condition, bool)) else x


def _in_an_array(x: Any) -> Any:
    if not isinstance(x, Number):
        return x
    out = np.empty((), object)
    out[()] = x
    return out


def plain_classes(tracer: Tracer) -> list[Any]:
    """The classes of one trace for plain numbers, for conditions and for arrays without dims.

    >>> [kind.__name__ for kind in plain_classes(Tracer())]
    ['Number', 'Condition', 'Cell']
    """

    def what_it_stands_for(self: Any) -> Any:
        if asked_by_insider() or tracer.ended:
            return type(self)
        return tracer.kind_asked(self)

    known, mul = tracer.known.get, tracer.codes[id(ops.mul)]

    def rmul(self: Any, other: Any) -> Any:  # data meets parameters here, many thousands of times
        met = known(id(other))
        return Number.__rmul__(self, other) if met is None else tracer.record(mul, met, self._row)

    made: list[Any] = []
    for base in (Number, Condition, Cell):
        fields = {"__slots__": (), "_tracer": tracer, "__rmul__": rmul, "__module__": __name__}
        fields["weighted_sum"] = staticmethod(tracer.weighted_sum)
        fields["__class__"] = property(what_it_stands_for)
        made.append(type(base.__name__, (base,) if base is Number else (made[0], base), fields))
    return made
