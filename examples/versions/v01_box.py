"""Version 1: a box around a number. It holds the number and can show it, nothing else."""


class Value:
    def __init__(self, data):
        self.data = data

    def __repr__(self):
        return f"Value({self.data})"


if __name__ == "__main__":
    a = Value(2.0)
    print(a, "holds", a.data)
    try:
        print(a + a)
    except TypeError as error:
        print("a + a:", error)
