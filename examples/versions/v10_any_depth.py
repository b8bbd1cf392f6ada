"""Version 10: a stack instead of recursion, so any depth will do; and a second walk adds exactly once."""

import math


class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None

    def __add__(self, other):
        other = as_value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def push():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = push
        return out

    def __mul__(self, other):
        other = as_value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def push():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = push
        return out

    def __pow__(self, n):
        out = Value(self.data**n, (self,), f"**{n}")

        def push():
            self.grad += n * self.data ** (n - 1) * out.grad

        out._backward = push
        return out

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
        out = Value(math.exp(self.data), (self,), "exp")

        def push():
            self.grad += out.data * out.grad

        out._backward = push
        return out

    def log(self):
        out = Value(math.log(self.data), (self,), "log")

        def push():
            self.grad += 1 / self.data * out.grad

        out._backward = push
        return out

    def tanh(self):
        out = Value(math.tanh(self.data), (self,), "tanh")

        def push():
            self.grad += (1 - out.data**2) * out.grad

        out._backward = push
        return out

    def sigmoid(self):
        out = Value(1 / (1 + math.exp(-self.data)), (self,), "sigmoid")

        def push():
            self.grad += out.data * (1 - out.data) * out.grad

        out._backward = push
        return out

    def relu(self):
        out = Value(max(0.0, self.data), (self,), "relu")

        def push():
            self.grad += (self.data > 0) * out.grad

        out._backward = push
        return out

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
