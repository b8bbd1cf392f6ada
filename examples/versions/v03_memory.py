"""Version 3: a box remembers which operation made it, and from what. That memory is the graph."""


class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self._prev = tuple(_children)
        self._op = _op

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*")

    def __repr__(self):
        return f"Value({self.data})"


if __name__ == "__main__":

    def show(node, depth=0):
        print("    " * depth, node, node._op)
        for operand in node._prev:
            show(operand, depth + 1)

    a, b, c = Value(2.0), Value(-3.0), Value(10.0)
    show(a * b + c)
