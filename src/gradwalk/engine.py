"""The engine: a `Value` is one number that remembers how it was made, and `backward()` walks that memory in reverse.

Read it from top to bottom. An operation makes a new node and notes three things in it: what went in, what came out,
and how fast the output changes with each operand (the local derivative). `backward()` puts the nodes in order, gives
the last one a gradient of 1, and lets each in turn push `local × gradient` to its operands. That is all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from gradwalk import modes, ops, provenance, reverse, walk
from gradwalk.errors import GraphError, NotANumberError
from gradwalk.node import Node, owner_of
from gradwalk.ops import Op, number

__all__ = ["Value", "zero_grad"]


class Value(Node):
    """One number in a graph: its `data`, its `grad`, and how it came to be.

    >>> a, b = Value(2.0), Value(-3.0)
    >>> c = a * b + 10
    >>> c.backward()
    >>> c.data, a.grad, b.grad
    (4.0, -3.0, 2.0)
    """

    __slots__ = ()  # the fields are those of Node: data, grad, operands and slopes
    __array_ufunc__ = None  # NumPy numbers on the left leave the operation to us

    def __init__(self, data: Any, _children: Iterable[Value] = (), _op: str = "", label: str = "") -> None:
        try:
            self.data = data if data.__class__ is float else number(data)
        except NotANumberError:
            if not modes.active or modes.tracer() is None:
                raise
            modes.tracer().become(self, data)  # the number comes later, call by call
            return
        self.grad = 0.0
        self._kind = _op or None
        self._a = self._b = self._da = self._db = None
        if _children != ():
            self._prev = _children
        if label:
            self.label = label

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"

    # --- forward: every operation makes a node -------------------------------------------------------------------
    # The busiest operations spell out their line of the op table, for speed; a test holds them to it. All else (a
    # NumPy number, nonsense, a mode such as no_grad) takes the general road, `_apply`.

    def __add__(self, other: Any) -> Value:
        if other.__class__ is Value and not modes.active:
            out = _blank()
            out.data = self.data + other.data
            out.grad = 0.0
            out._kind = _ADD
            out._a = self
            out._b = other
            out._da = out._db = 1.0
            return out
        c = _plain(other)
        return _apply(_ADD, (self, other)) if c is None else _node(_ADD, self.data + c, self, 1.0, c, None)

    def __mul__(self, other: Any) -> Value:
        if other.__class__ is Value and not modes.active:
            out = _blank()
            out._db = x = self.data
            out._da = y = other.data
            out.data = x * y
            out.grad = 0.0
            out._kind = _MUL
            out._a = self
            out._b = other
            return out
        c = _plain(other)
        return _apply(_MUL, (self, other)) if c is None else _node(_MUL, self.data * c, self, c, c, None)

    def __sub__(self, other: Any) -> Value:
        if other.__class__ is Value and not modes.active:
            return _node(_SUB, self.data - other.data, self, 1.0, other, -1.0)
        c = _plain(other)
        return _apply(_SUB, (self, other)) if c is None else _node(_SUB, self.data - c, self, 1.0, c, None)

    def __truediv__(self, other: Any) -> Value:
        if other.__class__ is Value and not modes.active and other.data != 0.0:
            y = other.data
            quotient = self.data / y
            return _node(_DIV, quotient, self, 1.0 / y, other, -quotient / y)
        c = _plain(other)
        return _apply(_DIV, (self, other)) if not c else _node(_DIV, self.data / c, self, 1.0 / c, c, None)

    def __neg__(self) -> Value:
        return _apply(_NEG, (self,)) if modes.active else _node(_NEG, -self.data, self, -1.0, None, None)

    def relu(self) -> Value:
        """The number itself if positive, else 0.

        >>> Value(3.0).relu().data, Value(-3.0).relu().data
        (3.0, 0.0)
        """
        if modes.active:
            return _apply(_RELU, (self,))
        if self.data <= 0.0:
            return _node(_RELU, 0.0, self, 0.0, None, None)
        return _node(_RELU, self.data, self, 1.0, None, None)

    def __pow__(self, other: Any) -> Value:
        n = _plain(other)
        if n is None:
            return _apply(ops.pow, (self, other))
        slope = n * _power(self.data, n - 1.0) if n != 0.0 else 0.0
        return _node(ops.pow, _power(self.data, n), self, slope, n, None)

    def __abs__(self) -> Value:
        return _apply(ops.abs, (self,))

    def __pos__(self) -> Value:
        return self

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Value:  # tanh, exp and every other function
        return _apply(op, operands)

    def __radd__(self, other: Any) -> Value:  # other + self
        return self.__add__(other)

    def __rmul__(self, other: Any) -> Value:  # other * self
        return self.__mul__(other)

    def __rsub__(self, other: Any) -> Value:  # other - self
        c = _plain(other)
        return _apply(_SUB, (other, self)) if c is None else _node(_SUB, c - self.data, c, None, self, -1.0)

    def __rtruediv__(self, other: Any) -> Value:  # other / self
        return _apply(_DIV, (other, self))

    def __rpow__(self, other: Any) -> Value:  # other ** self
        return _apply(ops.pow, (other, self))

    # --- backward: order, seed, push -----------------------------------------------------------------------------

    def backward(self, gradient: float = 1.0, *, create_graph: bool = False) -> None:
        """Fill `.grad` of every node this one depends on: how fast this number changes with that one.

        Leaves add to what they hold, once for each call (clear it with `zero_grad`); nodes in between are set anew.
        With `create_graph`, gradients are Values that can themselves be differentiated.

        >>> x = Value(3.0)
        >>> (x * x).backward()
        >>> x.grad
        6.0
        """
        if gradient.__class__ is not float:
            gradient = number(gradient)
        if create_graph:
            _backward_as_graph(self, gradient)
            return
        order = None if modes.active else _order(self)
        if order is None:
            reverse.backward_with_care(self, gradient)
            return
        if not order:  # a leaf is its own graph
            self.grad += gradient
            return
        self.grad = gradient
        try:
            for v in reversed(order):
                g = v.grad
                da = v._da
                if da is not None:
                    v._a.grad += da * g
                db = v._db
                if db is not None:
                    v._b.grad += db * g
        except Exception as error:
            aftermath = "some gradients are filled and some are not: call zero_grad() before the next backward()"
            raise reverse.failure(v, error, aftermath) from error

    # --- comparing, leaving and entering the graph ------------------------------------------------------------------
    # Values are equal only to themselves, so that they can be kept in sets; `<` and `max()` compare their data.

    def __lt__(self, other: Any) -> bool:
        return bool(self.data < _data(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.data <= _data(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.data > _data(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.data >= _data(other))

    def _as_node(self, x: Any) -> Value:
        return x if isinstance(x, Value) else Value(x)

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else repr(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        for v in walk.topological(self):
            if id(v) not in memo:
                memo[id(v)] = _copied(v, memo)
        return memo[id(self)]  # type: ignore[no-any-return]

    def detach(self) -> Value:
        """The same number as a new leaf: nothing flows back through it.

        >>> x = Value(3.0)
        >>> (x * x.detach()).backward()
        >>> x.grad
        3.0
        """
        if modes.active and modes.tracer() is not None:
            return modes.tracer().many("shift", [self])  # type: ignore[no-any-return]
        return Value(self.data)


# --- making nodes --------------------------------------------------------------------------------------------------

_blank = partial(object.__new__, Value)  # a Value without the cost of __init__
_power = ops.pow.value
_ADD, _SUB, _MUL, _DIV, _NEG, _RELU = ops.add, ops.sub, ops.mul, ops.div, ops.neg, ops.relu


def _node(op: Op, data: float, a: Any, da: float | None, b: Any, db: float | None) -> Value:
    """A node of one or two operands."""
    out = _blank()
    out.data = data
    out.grad = 0.0
    out._kind = op
    out._a = a
    out._da = da
    out._b = b
    out._db = db
    return out


def _plain(x: Any) -> Any:
    """A constant as a float, if nothing about it or the mode we are in needs the general road."""
    if modes.active:
        return None
    if x.__class__ is float:
        return x
    return number(x) if x.__class__ is int else None


def _apply(op: Op, operands: tuple[Any, ...]) -> Value:
    """Any op on any operands: Values, numbers, or things that take ops in a way of their own."""
    if len(operands) == 1 and not modes.active:  # most functions, most of the time
        (v,) = operands
        data = op.forward(v.data)
        return _node(op, data, v, op.slope(0, v.data, data), None, None)
    if modes.active and modes.tracer() is not None:
        return modes.tracer().apply(op, operands)  # type: ignore[no-any-return]
    inputs = []
    point = []
    for x in operands:
        if isinstance(x, Value):
            point.append(x.data)
        elif hasattr(x, "__gradwalk_op__") and not isinstance(x, float):
            return x.__gradwalk_op__(op, operands)  # type: ignore[no-any-return]
        else:
            x = number(x)
            point.append(x)
        inputs.append(x)
    data = op.forward(*point)
    if modes.active:
        if modes.watching() and not math.isfinite(data):
            raise provenance.forward_error(op.symbol, operands, data)
        if not modes.recording():
            out = Value(data)
            provenance.note(out, operands)
            return out
    slopes = []
    for i, x in enumerate(inputs):
        slopes.append(None if x.__class__ is float else op.slope(i, *point, data))
    if len(inputs) == 1:
        out = _node(op, data, inputs[0], slopes[0], None, None)
    elif len(inputs) == 2:
        out = _node(op, data, inputs[0], slopes[0], inputs[1], slopes[1])
    else:
        out = _node(op, data, None, None, None, None)
        out._become_unusual(tuple(inputs), tuple(slopes))
    if modes.active:
        provenance.note(out, operands)
    return out


def _data(x: Any) -> float:
    data: float = x.data if isinstance(x, Value) else x
    return data


def _copied(v: Value, memo: dict[int, Any]) -> Value:
    """`v`, pointing at the copies of its operands that `memo` holds."""
    out = _node(ops.neg, v.data, None, v._da, None, v._db)
    out.grad, out._kind = v.grad, v._kind

    def copy_of(x: Any) -> Any:
        return memo.get(id(x), x)

    out._a = tuple(map(copy_of, v._a)) if isinstance(v._a, tuple) else copy_of(v._a)
    out._b = copy_of(v._b)
    more = getattr(v, "_more", None)
    if more is not None:
        extras = out._extras()
        extras.label, extras.closure, extras.slopes = more.label, more.closure, more.slopes
        extras.hooks, extras.made_by = list(more.hooks), more.made_by
    return out


# --- walking back --------------------------------------------------------------------------------------------------


def _order(root: Value) -> list[Value] | None:
    """The nodes between the leaves and `root`, operands first, their gradients set to 0; None if one is unusual.

    The zero is a float object made for this walk alone, so a node that holds it has been visited: no set, no mark.
    """
    zero = float("0")
    order: list[Value] = []
    done = order.append
    stack: list[Any] = [root] if root._a is not None else []
    push, pop = stack.append, stack.pop
    while stack:
        v = pop()
        if v is None:  # everything the next node depends on is in the order
            done(pop())
            continue
        if v.grad is zero:
            continue
        while True:  # go down the first operands, and leave the second ones on the stack for later
            if v._db is not None:
                v.grad = zero
                b = v._b
                if b._a is not None and b.grad is not zero:
                    push(v)
                    push(None)
                    push(b)
                    if v._da is None:
                        break
                    v = v._a
                    if v._a is None or v.grad is zero:
                        break
                    continue
            elif v._da is not None:
                v.grad = zero
            else:
                return None
            if v._da is not None:
                a = v._a
                if a._a is not None and a.grad is not zero:
                    push(v)
                    push(None)
                    v = a
                    continue
            done(v)
            break
    return order


def _backward_as_graph(root: Value, gradient: float) -> None:
    """Set `.grad` to Values, so that a gradient can be differentiated like any other number."""
    gradients = reverse.adjoints(root, gradient, as_graph=True)
    for v, total in gradients.items():
        total = total if isinstance(total, Value) else Value(total)
        held_nothing = v.inputs or (v.grad.__class__ is float and v.grad == 0.0)
        v.grad = total if held_nothing else v.grad + total


def zero_grad(target: Any) -> None:
    """Set gradients back to 0: of every node a Value depends on, of a module's parameters, or of a list of either.

    >>> a = Value(3.0)
    >>> loss = a * a
    >>> loss.backward()
    >>> zero_grad(loss)
    >>> a.grad, loss.grad
    (0.0, 0.0)
    """
    if hasattr(target, "zero_grad"):
        target.zero_grad()
    elif isinstance(target, Value):
        for v in walk.topological(target):
            v.grad = 0.0
    elif hasattr(target, "__iter__") and not isinstance(target, (str, bytes)):
        owner = owner_of(target)
        if owner is None or not owner.zero_grad(target):
            for part in target:
                zero_grad(part)
    else:
        kind = type(target).__name__
        raise GraphError(f"zero_grad takes a Value, a Module or a list of them, not {kind}: {target!r}")
