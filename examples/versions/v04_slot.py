"""Version 4: a slot for the gradient. Nobody fills it yet but you, with the chain rule, by hand."""


class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*")

    def __repr__(self):
        return f"Value({self.data}, grad={self.grad})"


if __name__ == "__main__":
    a, b, c = Value(2.0), Value(-3.0), Value(10.0)
    e = a + b
    d = e * c

    d.grad = 1.0  # the seed
    e.grad = c.data * d.grad  # times: the other factor
    c.grad = e.data * d.grad
    a.grad = e.grad  # plus: a copy
    b.grad = e.grad
    print("a", a.grad, "  b", b.grad, "  c", c.grad)
