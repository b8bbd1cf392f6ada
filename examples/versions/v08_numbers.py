"""Version 8: plain numbers on either side, minus, division and powers, all made of +, * and **."""


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
    x = Value(4.0)
    y = 3 * x**2 - 4 * x + 5
    y.backward()
    print("3x² - 4x + 5 at 4:", y.data, "  slope", x.grad)

    x = Value(4.0)
    y = 1 / x
    y.backward()
    print("1/x at 4:", y.data, "  slope", x.grad)

    x = Value(4.0)
    y = (10 - x) / 2
    y.backward()
    print("(10 - x)/2 at 4:", y.data, "  slope", x.grad)
