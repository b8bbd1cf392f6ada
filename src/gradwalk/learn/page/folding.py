"""A small layer and its loss, twice: as a graph of single numbers, and as seven blocks. For the widget that folds it.

    Z = X @ W + b,  L = (Z²).sum()

Every number is a Value, built by plain loops; each knows in which block it stands, and where. A product, or a sum on
the way to the last one, stands in no place of its own: it is folded into the result it leads to.
"""

from __future__ import annotations

import re
from typing import TypedDict

from gradwalk import walk
from gradwalk.engine import Value

__all__ = ["Block", "Cell", "Folding", "material"]

X = ((1.0, 2.0), (3.0, -1.0), (0.0, 1.0))
W = ((2.0, -1.0), (1.0, 0.0))
B = (-2.0, 2.0)


class Cell(TypedDict):
    """One number: where it stands, how it was made, and in formulas with numbers its data and its gradient.

    `step` and `place` are where it is drawn when everything is unfolded. `inside`: it has no place in its block, and
    is folded into the number `into`. `from_` are the numbers of other blocks that it was made from, `to` those that
    were made from it.

    >>> cell = next(cell for cell in material()["cells"] if cell["name"] == "W[0, 0]")
    >>> cell["grad"], cell["slopes"]
    (22.0, 'X[0, 0] × P[0, 0].grad + X[1, 0] × P[1, 0].grad + X[2, 0] × P[2, 0].grad = 1 × 4 + 3 × 6 + 0 × (−2)')
    """

    name: str
    block: str
    at: list[int]
    step: float
    place: float
    operands: list[int]
    data: float
    grad: float
    inside: bool
    into: int
    from_: list[int]
    to: list[int]
    made: str
    slopes: str


class Block(TypedDict):
    """One node for many numbers.

    >>> [block["name"] for block in material()["blocks"]]
    ['X', 'W', 'b', 'P', 'Z', 'S', 'L']
    """

    name: str
    op: str
    shape: list[int]
    operands: list[str]


class Folding(TypedDict):
    """All numbers, and the blocks they are folded into.

    >>> found = material()
    >>> len(found["cells"]), len(found["blocks"])
    (47, 7)
    """

    cells: list[Cell]
    blocks: list[Block]


def material() -> Folding:
    """The graph after its walk.

    >>> next(cell["data"] for cell in material()["cells"] if cell["name"] == "L")
    20.0
    """
    return _Graph().folding()


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[tuple[Value, Cell]] = []
        x = [[self.leaf(X[i][k], f"X[{i}, {k}]", "X", [i, k], 2 * i + k) for k in (0, 1)] for i in (0, 1, 2)]
        w = [[self.leaf(W[k][j], f"W[{k}, {j}]", "W", [k, j], 6.0 + 2 * k + j) for j in (0, 1)] for k in (0, 1)]
        b = [self.leaf(B[j], f"b[{j}]", "b", [j], 10.0 + j) for j in (0, 1)]
        squares = []
        for i in (0, 1, 2):
            for j in (0, 1):
                row = 4.0 * i + 2 * j
                terms = [
                    self.node(x[i][k] * w[k][j], "", "P", [i, j], 1, row + k, made=f"{x[i][k].label} × {w[k][j].label}")
                    for k in (0, 1)
                ]
                total = sum(terms[1:], terms[0])
                made = " + ".join(f"X[{i}, {k}] × W[{k}, {j}]" for k in (0, 1))
                numbers = " + ".join(f"{_short(X[i][k])} × {_short(W[k][j])}" for k in (0, 1))
                p = self.node(total, f"P[{i}, {j}]", "P", [i, j], 2, row + 0.5, made=f"{made} = {numbers}")
                made = f"P[{i}, {j}] + b[{j}] = {_short(p.data)} + {_short(B[j])}"
                z = self.node(p + b[j], f"Z[{i}, {j}]", "Z", [i, j], 3, row + 0.5, made=made)
                made = f"Z[{i}, {j}]² = {_short(z.data)} × {_short(z.data)}"
                squares.append(self.node(z**2, f"S[{i}, {j}]", "S", [i, j], 4, row + 0.5, made=made))
        loss = squares[0]
        for n, square in enumerate(squares[1:], start=1):
            last = n == len(squares) - 1
            made = " + ".join(_short(each.data) for each in squares[: n + 1])
            loss = self.node(loss + square, "L" if last else "", "L", [], 5, 2.1 * n - 0.8, made=made)
        loss.backward()
        self.root = loss

    def leaf(self, x: float, name: str, block: str, at: list[int], place: float) -> Value:
        return self.node(Value(x), name, block, at, 0, place)

    def node(
        self, value: Value, name: str, block: str, at: list[int], step: float, place: float, *, made: str = ""
    ) -> Value:
        value.label = name
        cell = Cell(
            name=name, block=block, at=at, step=step, place=place, operands=[], data=value.data, grad=0.0,
            inside=not name, into=-1, from_=[], to=[], made=made, slopes="",
        )  # fmt: skip
        self.nodes.append((value, cell))
        return value

    def folding(self) -> Folding:
        ids = {value: n for n, (value, _) in enumerate(self.nodes)}
        users: dict[int, list[int]] = {n: [] for n in ids.values()}
        for value, cell in self.nodes:
            # the exponent of a square is no number of ours, and the same operand twice is one line
            cell["operands"] = list(dict.fromkeys(ids[each] for each in value.operands if each in ids))
            cell["grad"] = value.grad
            for operand in cell["operands"]:
                users[operand].append(ids[value])
        cells = [cell for _, cell in self.nodes]

        def outside(n: int, step: dict[int, list[int]]) -> list[int]:
            """The numbers that have a place of their own, next to this one."""
            return [m for each in step[n] for m in (outside(each, step) if cells[each]["inside"] else [each])]

        below = {n: cell["operands"] for n, cell in enumerate(cells)}
        for n, cell in enumerate(cells):
            cell["into"] = outside(n, users)[0] if cell["inside"] else n
            cell["from_"], cell["to"] = outside(n, below), outside(n, users)
            cell["made"], cell["slopes"] = _tidy(cell["made"]), _tidy(self._slopes(cell, cells))
        layer = [3, 2]
        found: tuple[tuple[str, str, list[int], tuple[str, ...]], ...] = (
            ("X", "", layer, ()), ("W", "", [2, 2], ()), ("b", "", [2], ()), ("P", "@", layer, ("X", "W")),
            ("Z", "+", layer, ("P", "b")), ("S", "²", layer, ("Z",)), ("L", "sum", [], ("S",)),
        )  # fmt: skip
        blocks = [Block(name=name, op=op, shape=shape, operands=list(operands)) for name, op, shape, operands in found]
        count = len(list(walk.topological(self.root)))
        assert count == len(cells), "every number is drawn"
        return Folding(cells=cells, blocks=blocks)

    def _slopes(self, cell: Cell, cells: list[Cell]) -> str:
        """Its gradient as a sum over the numbers made from it, in names and in numbers."""
        place, users = cell["at"], [cells[n] for n in cell["to"]]
        of = {c["name"]: c for c in cells}
        if cell["inside"] or not users:
            return "1" if not users else ""
        if cell["block"] in ("X", "W"):
            others = [
                of[f"W[{place[1]}, {user['at'][1]}]" if cell["block"] == "X" else f"X[{user['at'][0]}, {place[0]}]"]
                for user in users
            ]
            return _sum([(f"{o['name']} × {user['name']}.grad", f"{_short(o['data'])} × {_short(user['grad'])}")
                         for o, user in zip(others, users, strict=True)])  # fmt: skip
        if cell["block"] == "Z":
            (user,) = users
            return f"2 × {cell['name']} × {user['name']}.grad = 2 × {_short(cell['data'])} × {_short(user['grad'])}"
        if len(users) == 1:
            return f"{users[0]['name']}.grad"
        return _sum([(f"{user['name']}.grad", _short(user["grad"])) for user in users])


def _sum(terms: list[tuple[str, str]]) -> str:
    return " = ".join(" + ".join(each) for each in zip(*terms, strict=True))


def _tidy(formula: str) -> str:
    """A minus after another sign in brackets, or in place of a plus."""
    return re.sub(r"× −([\d.]+)", r"× (−\1)", formula.replace("+ −", "− "))


def _short(x: float) -> str:
    return f"{x:g}".replace("-", "−")
