"""Version 11: the whole engine: slopes, one place that adds. Left out: numbers at the edges (1/0, log 0, exp 1000)."""

import math


class Value:
    def __init__(self, data, _children=(), _op="", _slopes=()):
        self.data = data
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._slopes = _slopes

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, (self, other), "+", (1.0, 1.0))

    def __mul__(self, other):
        other = as_value(other)
        slopes = (other.data, self.data)
        return Value(self.data * other.data, (self, other), "*", slopes)

    def __pow__(self, n):
        slope = n * self.data ** (n - 1)
        return Value(self.data**n, (self,), f"**{n}", (slope,))

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -as_value(other)

    def __truediv__(self, other):
        return self * as_value(other) ** -1

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return as_value(other) - self

    def __rtruediv__(self, other):
        return as_value(other) / self

    def exp(self):
        y = math.exp(self.data)
        return Value(y, (self,), "exp", (y,))

    def log(self):
        y = math.log(self.data)
        return Value(y, (self,), "log", (1 / self.data,))

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, (self,), "tanh", (1 - y**2,))

    def sigmoid(self):
        y = 1 / (1 + math.exp(-self.data))
        return Value(y, (self,), "sigmoid", (y * (1 - y),))

    def relu(self):
        y = max(0.0, self.data)
        return Value(y, (self,), "relu", (float(y > 0),))

    def _backward(self):
        for operand, slope in zip(self._prev, self._slopes):
            operand.grad += slope * self.grad

    def backward(self):
        order = ordered(self)
        for node in order:
            if node._prev:
                node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            node._backward()

    def __repr__(self):
        return f"Value({self.data}, grad={self.grad})"


def as_value(x):
    return x if isinstance(x, Value) else Value(x)


def ordered(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, operands_are_in = stack.pop()
        if operands_are_in:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((x, False) for x in node._prev)
    return order


if __name__ == "__main__":
    import gc

    def chain(length):
        x = Value(1.0)
        y = x
        for _ in range(length):
            y = y + x
        return x, y

    x, deep = chain(2000)
    deep.backward()
    print("2,000 deep:", x.grad)

    x = Value(3.0)
    y = x * x * x
    y.backward()
    print("x*x*x, first walk:", x.grad)
    y.backward()
    print("x*x*x, second walk:", x.grad, "  right: 54")

    gc.collect()
    sums = [Value(1.0) + Value(2.0) for _ in range(1000)]
    del sums
    print("left for the garbage collector:", gc.collect() > 1000)
