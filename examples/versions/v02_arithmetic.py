"""Version 2: boxes can be added and multiplied. The result is a new box that knows nothing of its past."""


class Value:
    def __init__(self, data):
        self.data = data

    def __add__(self, other):
        return Value(self.data + other.data)

    def __mul__(self, other):
        return Value(self.data * other.data)

    def __repr__(self):
        return f"Value({self.data})"


if __name__ == "__main__":
    a, b, c = Value(2.0), Value(-3.0), Value(10.0)
    d = a * b + c
    print("a * b + c =", d)
    print("all that d knows:", vars(d))
