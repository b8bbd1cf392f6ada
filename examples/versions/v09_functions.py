"""Version 9: tanh, exp, log, sigmoid and relu, each with its slope: a neuron runs. A deep graph does not."""

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
        order, seen = [], set()

        def search(node):
            if node not in seen:
                seen.add(node)
                for operand in node._prev:
                    search(operand)
                order.append(node)

        search(self)
        self.grad = 1.0
        for node in reversed(order):
            node._backward()

    def __repr__(self):
        return f"Value({self.data}, grad={self.grad})"


def as_value(x):
    return x if isinstance(x, Value) else Value(x)


if __name__ == "__main__":
    x1, x2 = Value(2.0), Value(0.0)
    w1, w2 = Value(-3.0), Value(1.0)
    b = Value(6.8813735870195432)
    o = (x1 * w1 + x2 * w2 + b).tanh()
    o.backward()
    print("neuron:", round(o.data, 4))
    for name, leaf in {"x1": x1, "w1": w1, "x2": x2, "w2": w2}.items():
        print("  ", name, round(leaf.grad, 4))

    def chain(length):
        x = Value(1.0)
        y = x
        for _ in range(length):
            y = y + x
        return x, y

    x, deep = chain(2000)
    try:
        deep.backward()
        print("2,000 deep:", x.grad)
    except RecursionError:
        print("2,000 deep: RecursionError, the search calls itself too often")

    x = Value(3.0)
    y = x * x * x
    y.backward()
    print("x*x*x, first walk:", x.grad)
    y.backward()
    print("x*x*x, second walk:", x.grad, "  right: 54")
