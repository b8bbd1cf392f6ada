"""The engine: a `Value` is one number that remembers how it was made, and `backward()` walks that memory in reverse.

Read it from top to bottom. An operation makes a new node and notes three things in it: what went in, what came out,
and how fast the output changes with each operand (the local derivative). `backward()` puts the nodes in order, gives
the last one a gradient of 1, and lets each in turn push `local × gradient` to its operands. That is all.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from gradwalk import keepers, modes, ops, reverse
from gradwalk.errors import GraphError
from gradwalk.node import Node, Recipe, number_of
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

    __slots__ = ()  # the fields are those of Node: number, gradient, operands, local derivatives
    __array_ufunc__ = None  # NumPy numbers on the left leave the operation to us

    def __init__(self, data: Any, _children: Iterable[Value] = (), _op: str = "", label: str = "") -> None:
        self._grad = 0.0
        self._kind = self._a = self._b = self._da = self._db = None
        if modes.active:
            modes.top().leaf(self, data)
        else:
            self._data = data if data.__class__ is float else number(data)
        if _op:
            self._op = _op
        if _children != ():
            self._prev = _children
        if label:
            self.label = label

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"

    # --- forward: every operation makes a node -------------------------------------------------------------------
    # The busiest operations spell out their line of the op table, for speed; a test holds them to it. All else takes
    # the general road, `_apply`: a NumPy number, nonsense, a mode such as no_grad, and a number that is in a keeper's
    # hands, which shows as an AttributeError.

    def __add__(self, other: Any) -> Value:
        try:
            if other.__class__ is Value and not modes.active:
                out = _blank()
                out._data = self._data + other._data
                out._grad = 0.0
                out._kind = _ADD
                out._a = self
                out._b = other
                out._da = out._db = 1.0
                return out
            c = _plain(other)
            if c is not None:
                return _node(_ADD, self._data + c, self, 1.0, c, None)
        except AttributeError:
            pass
        return _apply(_ADD, self, other)

    def __mul__(self, other: Any) -> Value:
        try:
            if other.__class__ is Value and not modes.active:
                out = _blank()
                out._db = x = self._data
                out._da = y = other._data
                out._data = x * y
                out._grad = 0.0
                out._kind = _MUL
                out._a = self
                out._b = other
                return out
            c = _plain(other)
            if c is not None:
                return _node(_MUL, self._data * c, self, c, c, None)
        except AttributeError:
            pass
        return _apply(_MUL, self, other)

    def __sub__(self, other: Any) -> Value:
        try:
            if other.__class__ is Value and not modes.active:
                return _node(_SUB, self._data - other._data, self, 1.0, other, -1.0)
            c = _plain(other)
            if c is not None:
                return _node(_SUB, self._data - c, self, 1.0, c, None)
        except AttributeError:
            pass
        return _apply(_SUB, self, other)

    def __truediv__(self, other: Any) -> Value:
        try:
            if other.__class__ is Value and not modes.active and other._data != 0.0:
                y = other._data
                quotient = self._data / y
                return _node(_DIV, quotient, self, 1.0 / y, other, -quotient / y)
            c = _plain(other)
            if c:
                return _node(_DIV, self._data / c, self, 1.0 / c, c, None)
        except AttributeError:
            pass
        return _apply(_DIV, self, other)

    def __neg__(self) -> Value:
        try:
            if not modes.active:
                return _node(_NEG, -self._data, self, -1.0, None, None)
        except AttributeError:
            pass
        return _apply(_NEG, self)

    def relu(self) -> Value:
        """The number itself if positive, else 0.

        >>> Value(3.0).relu().data, Value(-3.0).relu().data
        (3.0, 0.0)
        """
        try:
            if not modes.active:
                x = self._data
                return _node(_RELU, 0.0, self, 0.0, None, None) if x <= 0.0 else _node(_RELU, x, self, 1.0, None, None)
        except AttributeError:
            pass
        return _apply(_RELU, self)

    def __pow__(self, other: Any) -> Value:
        try:
            n = _plain(other)
            if n is not None:
                slope = n * _power(self._data, n - 1.0) if n != 0.0 else 0.0
                return _node(_POW, _power(self._data, n), self, slope, n, None)
        except AttributeError:
            pass
        return _apply(_POW, self, other)

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Value:  # tanh, exp and every other function
        if len(operands) == 1 and not modes.active:
            x = number_of(self)
            data = op.forward(x)
            return _node(op, data, self, op.slope(0, x, data), None, None)
        return _apply(op, *operands)

    def __abs__(self) -> Value:
        return _apply(ops.abs, self)

    def __pos__(self) -> Value:
        return self

    def __radd__(self, other: Any) -> Value:  # other + self
        return self.__add__(other)

    def __rmul__(self, other: Any) -> Value:  # other * self
        return self.__mul__(other)

    def __rsub__(self, other: Any) -> Value:  # other - self
        return _apply(_SUB, other, self)

    def __rtruediv__(self, other: Any) -> Value:  # other / self
        return _apply(_DIV, other, self)

    def __rpow__(self, other: Any) -> Value:  # other ** self
        return _apply(_POW, other, self)

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
        seed = gradient if gradient.__class__ is float else number(gradient)
        walk = reverse.fill_with_graphs if create_graph else Value._walk_back
        modes.top().backward(self, partial(walk, self, seed))

    def _walk_back(self, seed: float) -> None:
        if reverse.walked_quickly(self, seed):  # the same walk as below, where a graph holds nothing unusual
            return
        order = reverse.order(self)  # operands before the nodes that use them
        with reverse.Walk(order) as walk:
            earlier = reverse.held_by_leaves(order)
            for v in order:
                v._grad = 0.0
            self._grad = seed
            for v in reversed(order):  # each node comes after all of its consumers
                walk.at = v
                reverse.call_hooks(v)
                modes.top().push(v, reverse.push)
            for leaf, held in earlier.items():
                reverse.add(leaf, held)

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

    def detach(self) -> Value:
        """The same number as a new leaf: nothing flows back through it.

        >>> x = Value(3.0)
        >>> (x * x.detach()).backward()
        >>> x.grad
        3.0
        """
        return modes.top().detach(self)  # type: ignore[no-any-return]


# --- making nodes --------------------------------------------------------------------------------------------------

_blank = partial(object.__new__, Value)  # a Value without the cost of __init__
_power = ops.pow.value
_ADD, _SUB, _MUL, _DIV, _POW, _NEG, _RELU = ops.add, ops.sub, ops.mul, ops.div, ops.pow, ops.neg, ops.relu


def _node(op: Op | None, data: float, a: Any, da: float | None, b: Any, db: float | None) -> Value:
    """A node of one or two operands, or a leaf."""
    out = _blank()
    out._data = data
    out._grad = 0.0
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


def _apply(op: Op, *operands: Any) -> Value:
    """Any op on any operands: Values, numbers, or things that take ops in a way of their own."""
    interpreter = modes.top() if modes.active else modes.bottom
    return interpreter.apply(op, operands)  # type: ignore[no-any-return]


class Eager(modes.Bottom):
    """What ops mean where no mode is on: they are computed, and remembered."""

    def apply(self, op: Op, operands: tuple[Any, ...]) -> Any:
        inputs = []
        for x in operands:
            if not isinstance(x, (Value, float)):
                if hasattr(x, "__gradwalk_op__"):
                    return x.__gradwalk_op__(op, operands)
                x = number(x)
            inputs.append(x)
        point = [x if isinstance(x, float) else number_of(x) for x in inputs]
        data = op.forward(*point)
        if modes.active and not modes.recording():
            return _node(None, data, None, None, None, None)
        slopes = [None if isinstance(x, float) else op.slope(i, *point, data) for i, x in enumerate(inputs)]
        if len(inputs) == 1:
            return _node(op, data, inputs[0], slopes[0], None, None)
        if len(inputs) == 2:
            return _node(op, data, inputs[0], slopes[0], inputs[1], slopes[1])
        out = _node(op, data, None, None, None, None)
        out._kind = Recipe(op, tuple(map(out._as_node, inputs)), tuple(slopes))
        return out

    def leaf(self, v: Value, data: Any) -> None:
        v._data = number(data)

    def detach(self, v: Value) -> Value:
        return _node(None, number_of(v), None, None, None, None)


modes.bottom = Eager()


def _data(x: Any) -> float:
    data: float = x.data if isinstance(x, Value) else x
    return data


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
        for v in reverse.order(target):
            v.grad = 0.0
    elif hasattr(target, "__iter__") and not isinstance(target, (str, bytes)):
        keeper = keepers.keeper_of(target)
        if keeper is None or not keeper.zero_grad(target):
            for part in target:
                zero_grad(part)
    else:
        kind = type(target).__name__
        raise GraphError(f"zero_grad takes a Value, a Module or a list of them, not {kind}: {target!r}")
