"""Version 7: contributions add up. Four characters, and every gradient is right."""


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
            self.grad += out.grad
            other.grad += out.grad

        out._backward = push
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other), "*")

        def push():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

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


if __name__ == "__main__":
    a, b, c = Value(2.0), Value(-3.0), Value(10.0)
    ((a + b) * c).backward()
    print("(a + b) * c:", a.grad, b.grad, c.grad, "  right: 10 10 -1")

    a = Value(3.0)
    (a + a).backward()
    print("a + a:", a.grad, "  right: 2")

    a = Value(3.0)
    (a * a).backward()
    print("a * a:", a.grad, "  right: 6")

    a, b = Value(-2.0), Value(3.0)
    ((a * b) * (a + b)).backward()
    print("a*b * (a+b):", a.grad, b.grad, "  right: -3 -8")
