"""Version 5: every result knows how to push its gradient to its operands. You call them, in the right order."""


class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other), "+")

        def push():
            self.grad = out.grad
            other.grad = out.grad

        out._backward = push
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other), "*")

        def push():
            self.grad = other.data * out.grad
            other.grad = self.data * out.grad

        out._backward = push
        return out

    def __repr__(self):
        return f"Value({self.data}, grad={self.grad})"


if __name__ == "__main__":

    def built():
        a, b, c = Value(2.0), Value(-3.0), Value(10.0)
        e = a + b
        return a, b, c, e, e * c

    a, b, c, e, d = built()
    d.grad = 1.0
    d._backward()
    e._backward()
    print("d, then e: a", a.grad, "  b", b.grad, "  c", c.grad)

    a, b, c, e, d = built()
    d.grad = 1.0
    e._backward()  # too early: nothing has reached e yet
    d._backward()
    print("e, then d: a", a.grad, "  b", b.grad, "  c", c.grad)
