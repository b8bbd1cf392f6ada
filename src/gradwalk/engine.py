"""The engine: a `Value` is one number that remembers how it was made, and `backward()` walks that memory in reverse.

Read it from top to bottom. An operation makes a new node and notes three things in it: what went in, what came out,
and how fast the output changes with each operand (the local derivative). `backward()` puts the nodes in order, gives
the last one a gradient of 1, and lets each in turn push `local × gradient` to its operands. That is all.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from gradwalk import modes, ops, reverse
from gradwalk.eager import Eager, apply, plain, spelt_out
from gradwalk.node import Node, number_of
from gradwalk.ops import Op, comes_later, number
from gradwalk.reverse import zero_grad

__all__ = ["Value", "walk_back", "zero_grad"]


_ADD, _MUL, _power = ops.add, ops.mul, ops.pow.value


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
        self._kind = self._a = self._b = self._da = self._db = self._mark = None
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

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "__init__" in vars(cls) and "__new__" not in vars(cls):  # which may set micrograd's fields by itself
            cls.__new__ = _leaf_to_be  # type: ignore[method-assign, assignment]

    def __repr__(self) -> str:
        return f"Value(data={self.data}, grad={self.grad})"

    # --- forward: every operation makes a node -------------------------------------------------------------------
    # The busiest operations spell out their line of the op table, for speed; a test holds them to it. All else takes
    # the general road, `apply`: a NumPy number, nonsense, a mode such as no_grad, and a number that is in a keeper's
    # hands, which shows as an AttributeError.

    def __add__(self, other: Any) -> Value:
        try:
            if other.__class__ is Value and not modes.active:
                out = _blank()
                out._data = self._data + other._data
                out._grad = 0.0
                out._mark = None
                out._kind = _ADD
                out._a = self
                out._b = other
                out._da = out._db = 1.0
                return out
            c = plain(other)
            if c is not None:
                return _node(_ADD, self._data + c, self, 1.0, c, None)
        except AttributeError:
            pass
        return NotImplemented if comes_later(other) else apply(_ADD, self, other)

    def __mul__(self, other: Any) -> Value:
        try:
            if other.__class__ is Value and not modes.active:
                out = _blank()
                out._db = x = self._data
                out._da = y = other._data
                out._data = x * y
                out._grad = 0.0
                out._mark = None
                out._kind = _MUL
                out._a = self
                out._b = other
                return out
            c = plain(other)
            if c is not None:
                return _node(_MUL, self._data * c, self, c, c, None)
        except AttributeError:
            pass
        return NotImplemented if comes_later(other) else apply(_MUL, self, other)

    @spelt_out(ops.sub)
    def __sub__(self, other: Any) -> Any:
        if other.__class__ is Value:
            return _node(ops.sub, self._data - other._data, self, 1.0, other, -1.0)
        c = plain(other)
        return c if c is None else _node(ops.sub, self._data - c, self, 1.0, c, None)

    @spelt_out(ops.div)
    def __truediv__(self, other: Any) -> Any:
        if other.__class__ is Value and other._data != 0.0:
            quotient = self._data / other._data
            return _node(ops.div, quotient, self, 1.0 / other._data, other, -quotient / other._data)
        c = plain(other)
        return _node(ops.div, self._data / c, self, 1.0 / c, c, None) if c else None

    @spelt_out(ops.pow)
    def __pow__(self, other: Any) -> Any:
        n = plain(other)
        if n is None:
            return None
        slope = n * _power(self._data, n - 1.0) if n != 0.0 else 0.0
        return _node(ops.pow, _power(self._data, n), self, slope, n, None)

    @spelt_out(ops.neg)
    def __neg__(self) -> Any:
        return _node(ops.neg, -self._data, self, -1.0, None, None)

    @spelt_out(ops.relu)
    def relu(self) -> Any:
        """The number itself if positive, else 0.

        >>> Value(3.0).relu().data, Value(-3.0).relu().data
        (3.0, 0.0)
        """
        x = self._data
        return _node(ops.relu, 0.0, self, 0.0, None, None) if x <= 0.0 else _node(ops.relu, x, self, 1.0, None, None)

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Value:  # tanh, exp and every other function
        if len(operands) == 1 and not modes.active:
            x = number_of(self)
            data = op.forward(x)
            return _node(op, data, self, op.slope(0, x, data), None, None)
        return apply(op, *operands)

    def __abs__(self) -> Value:
        return apply(ops.abs, self)

    def __pos__(self) -> Value:
        return self

    def __radd__(self, other: Any) -> Value:  # other + self
        return self.__add__(other)

    def __rmul__(self, other: Any) -> Value:  # other * self
        return self.__mul__(other)

    @spelt_out(ops.sub, reflected=True)
    def __rsub__(self, other: Any) -> Any:  # other - self
        c = plain(other)
        return c if c is None else _node(ops.sub, c - self._data, c, None, self, -1.0)

    @spelt_out(ops.div, reflected=True)
    def __rtruediv__(self, other: Any) -> Any:  # other / self
        c = plain(other)
        if c is None or self._data == 0.0:
            return None
        quotient = c / self._data
        return _node(ops.div, quotient, c, None, self, -quotient / self._data)

    def __rpow__(self, other: Any) -> Value:  # other ** self
        return apply(ops.pow, other, self)

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
        if modes.layers:
            modes.top().backward(self, partial(walk, self, seed))
        else:
            walk(self, seed)

    def _walk_back(self, seed: float) -> None:
        if not reverse.walked_quickly(self, seed):  # the same walk, where a graph holds nothing unusual
            walk_back(self, seed)

    # --- leaving and entering the graph ------------------------------------------------------------------------------

    def _as_node(self, x: Any) -> Value:
        return x if isinstance(x, Value) else Value(x)

    def detach(self) -> Value:
        """The same number as a new leaf: nothing flows back through it.

        >>> x = Value(3.0)
        >>> (x * x.detach()).backward()
        >>> x.grad
        3.0
        """
        return modes.top().detach(self)  # type: ignore[no-any-return]


def walk_back(root: Node, seed: Any) -> None:
    """The walk itself, on any graph of nodes: what `backward()` does.

    >>> x = Value(3.0)
    >>> walk_back(x * x, 1.0)
    >>> x.grad
    6.0
    """
    order = reverse.order(root)  # operands before the nodes that use them
    nodes = [*order, *(v for v in reverse.passed_over(order) if not v.is_leaf)]  # all whose gradients are set anew
    with reverse.one_at_a_time, reverse.Walk(nodes, root) as walk:
        earlier = reverse.held_by_leaves(order)
        for v in nodes:
            v._grad = 0.0
        root._grad = seed
        for v in reversed(order):  # each node comes after all of its consumers
            walk.at = v
            reverse.call_hooks(v)
            modes.top().push(v, reverse.push)
        for leaf, held in earlier.items():
            reverse.add(leaf, held)


# --- making nodes --------------------------------------------------------------------------------------------------

_blank = partial(object.__new__, Value)  # a Value without the cost of __init__


def _leaf_to_be(kind: type[Value], *_: Any, **__: Any) -> Value:
    """An object of a class of the user's, to which its own `__init__` gives a number."""
    out = object.__new__(kind)
    out._grad = 0.0
    out._kind = out._a = out._b = out._da = out._db = out._mark = None
    return out


def _node(op: Op | None, data: float, a: Any, da: float | None, b: Any, db: float | None) -> Value:
    """A node of one or two operands, or a leaf."""
    out = _blank()
    out._data = data
    out._grad = 0.0
    out._mark = None
    out._kind = op
    out._a = a
    out._da = da
    out._b = b
    out._db = db
    return out


modes.bottom = Eager(_node)
