"""The teaching engine: the smallest `Value` that is right everywhere the grader looks, as source text.

It is text because three things are done with it: learners read it, the museum edits it (one thing wrong at a time), and
the course splices a learner's own functions into it.
"""

from __future__ import annotations

from typing import Any

from gradwalk.diagnose.right_engines import EDGES, STYLES

__all__ = ["EDGES", "SOURCE", "STYLES", "load"]

SOURCE = (
    '''\
"""A number that remembers how it was made, and can therefore tell what it depends on."""

import math


class Value:
    """One number, its gradient, and how to push that gradient on to what the number was made from."""

    def __init__(self, data, _children=(), _op=""):
        self.data = float(data)
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None

    # --- operators: the value first, then what each operand gets of the result's gradient

    def __add__(self, other):
        other = as_value(other)
        x, y = self.data, other.data
        z = x + y
        out = Value(z, (self, other), "+")

        def push():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = push
        return out

    def __sub__(self, other):
        other = as_value(other)
        x, y = self.data, other.data
        z = x - y
        out = Value(z, (self, other), "-")

        def push():
            self.grad += out.grad
            other.grad += -out.grad

        out._backward = push
        return out

    def __mul__(self, other):
        other = as_value(other)
        x, y = self.data, other.data
        z = x * y
        out = Value(z, (self, other), "*")

        def push():
            self.grad += y * out.grad
            other.grad += x * out.grad

        out._backward = push
        return out

    def __truediv__(self, other):
        other = as_value(other)
        x, y = self.data, other.data
        z = divide(x, y)
        out = Value(z, (self, other), "/")

        def push():
            self.grad += divide(1.0, y) * out.grad
            other.grad += divide(-z, y) * out.grad

        out._backward = push
        return out

    def __pow__(self, n):
        x = self.data
        z = power(x, n)
        out = Value(z, (self,), f"**{n}")

        def push():
            self.grad += (n * power(x, n - 1) if n != 0 else 0.0) * out.grad

        out._backward = push
        return out

    def __neg__(self):
        x = self.data
        z = -x
        out = Value(z, (self,), "neg")

        def push():
            self.grad += -out.grad

        out._backward = push
        return out

    # --- a number on the left

    def __radd__(self, other):
        return as_value(other) + self

    def __rsub__(self, other):
        return as_value(other) - self

    def __rmul__(self, other):
        return as_value(other) * self

    def __rtruediv__(self, other):
        return as_value(other) / self

    # --- functions

    def exp(self):
        x = self.data
        z = exponential(x)
        out = Value(z, (self,), "exp")

        def push():
            self.grad += z * out.grad

        out._backward = push
        return out

    def log(self):
        x = self.data
        z = logarithm(x)
        out = Value(z, (self,), "log")

        def push():
            self.grad += divide(1.0, x) * out.grad

        out._backward = push
        return out

    def tanh(self):
        x = self.data
        z = math.tanh(x)
        out = Value(z, (self,), "tanh")

        def push():
            self.grad += (1.0 - z * z) * out.grad

        out._backward = push
        return out

    def sigmoid(self):
        x = self.data
        z = logistic(x)
        out = Value(z, (self,), "sigmoid")

        def push():
            self.grad += z * (1.0 - z) * out.grad

        out._backward = push
        return out

    def relu(self):
        x = self.data
        z = x if x > 0.0 else 0.0
        out = Value(z, (self,), "ReLU")

        def push():
            self.grad += (1.0 if x > 0.0 else 0.0) * out.grad

        out._backward = push
        return out

    # --- the walk

    def backward(self):
        order = ordered(self)
        for node in order:
            if node._prev:
                node.grad = 0.0  # made on the way: only this walk counts; leaves add up from walk to walk
        self.grad = 1.0
        for node in reversed(order):
            node._backward()

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


def as_value(x):
    """A plain number becomes a Value, so that both sides of an operator are alike."""
    return x if isinstance(x, Value) else Value(x)


def ordered(root):
    """Every node once, operands before what is made from them; a stack instead of recursion, so any depth will do."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, operands_done = stack.pop()
        if operands_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            for operand in reversed(node._prev):
                stack.append((operand, False))
    return order


'''
    + EDGES
)


def load(source: str = SOURCE) -> type[Any]:
    """The class `Value` of an engine's source text, made afresh.

    >>> Value = teaching.load()
    >>> a = Value(3.0)
    >>> (a * a).backward()
    >>> a.grad
    6.0
    """
    namespace: dict[str, Any] = {"__name__": "engine"}
    exec(compile(source, "<engine>", "exec", dont_inherit=True), namespace)
    engine: type[Any] = namespace["Value"]
    return engine
