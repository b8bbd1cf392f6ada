"""The steps of a program: plain data, one class for each kind.

Positions are those of `program`: in own memory, or among the parameters (`~position` where both may be meant).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwalk.compile.array_types import Ints, Longs
from gradwalk.compile.trace.tape import SHIFT, SPECIAL, TAKE

__all__ = ["Access", "Elements", "Extreme", "Part", "Product", "Rows", "Step", "Sums", "Take", "formula"]


#: The two memories.
OWN, PARAMETERS = "own", "parameters"
#: What becomes of the gradients of operands: nothing; added to what is there; written, where nothing is there yet.
NOTHING, ADD, WRITE = "nothing", "add", "write"
#: Instead of a list: all rows push gradients.
ALL = -1


@dataclass(frozen=True)
class Access:
    """A matrix of operands: where its entries are, and what becomes of their gradients.

    Entry (r, c) is at `start + r * row + c * column`, or, if `listed` is not -1, at `lists[listed + r * columns + c]`.

    >>> Access("own", 3, 10, 1).positions(2, 3, lists=None).tolist()
    [[3, 4, 5], [13, 14, 15]]
    """

    space: str
    start: int
    row: int
    column: int
    listed: int = -1
    grads: str = NOTHING

    def positions(self, rows: int, columns: int, lists: Any) -> Longs:
        """Where the entries are, as a matrix."""
        if self.listed >= 0:
            found: Longs = lists[self.listed : self.listed + rows * columns].reshape(rows, columns).astype(np.int64)
            return found
        return (self.start + self.row * np.arange(rows))[:, None] + self.column * np.arange(columns)

    def text(self, rows: int, columns: int) -> str:
        """The matrix as one reads it: `m[3:9]` of own memory, `p[…]` of the parameters, and what its gradients do."""
        where = f"{self.start}{self.row:+}r{self.column:+}c"
        if self.listed >= 0:
            where = f"lists[{self.listed}:{self.listed + rows * columns}]"
        elif rows * columns == 1 or (self.row, self.column) == (0, 0):
            where = f"{self.start}"
        elif self.column == 1 and (rows == 1 or self.row == columns):
            where = f"{self.start}:{self.start + rows * columns}"
        return f"{'m' if self.space == OWN else 'p'}[{where}]{GRADS_TEXT[self.grads]}"


GRADS_TEXT = {NOTHING: "", ADD: " (+=)", WRITE: " (=)"}
#: A matrix of operands with its numbers of rows and columns.
Operand = tuple[Access, int, int]


@dataclass(frozen=True)
class Elements:
    """An op on `rows` × `columns` operands each, row by row."""

    out: int
    op: str  # a key of the program's `ops`
    rows: int
    columns: int
    operands: tuple[Access, ...]

    kind = "op"
    ops = property(lambda self: (self.op,))
    shape = property(lambda self: (self.rows, self.columns))
    results = nodes = property(lambda self: self.rows * self.columns)

    def accesses(self) -> list[Operand]:
        """What is read, in the order in which gradients are pushed."""
        return [(x, self.rows, self.columns) for x in self.operands]

    def reading(self, accesses: Sequence[Access]) -> Elements:
        """The same step with these instead."""
        return replace(self, operands=tuple(accesses))


@dataclass(frozen=True)
class Product:
    """`left` (rows × inner) times `right` (inner × columns), plus the `tails` (rows × columns each)."""

    out: int
    rows: int
    inner: int
    columns: int
    left: Access
    right: Access
    tails: tuple[Access, ...]

    kind = "product"
    ops = ("mul", "add")
    shape = property(lambda self: (self.rows, self.inner, self.columns))
    results = property(lambda self: self.rows * self.columns)
    nodes = property(lambda self: self.rows * self.columns * (2 * self.inner - 1 + len(self.tails)))

    def accesses(self) -> list[Operand]:
        """What is read, in the order in which gradients are pushed."""
        tails = [(x, self.rows, self.columns) for x in self.tails]
        return [*tails, (self.right, self.inner, self.columns), (self.left, self.rows, self.inner)]

    def reading(self, accesses: Sequence[Access]) -> Product:
        """The same step with these instead."""
        *tails, right, left = accesses
        return replace(self, tails=tuple(tails), right=right, left=left)


@dataclass(frozen=True)
class Part:
    """Terms of every sum of a step: `width` products of two factors, or `width` single numbers.

    The factors are both found by lists, or neither is; then their columns are 1 apart.
    """

    width: int
    first: Access
    second: Access | None = None


@dataclass(frozen=True)
class Sums:
    """`count` sums that share nothing: result i adds up row i of each part."""

    out: int
    count: int
    parts: tuple[Part, ...]

    kind = "sums"
    ops = property(lambda self: ("mul", "add") if any(part.second for part in self.parts) else ("add",))
    shape = property(lambda self: (self.count, sum(part.width for part in self.parts)))
    results = property(lambda self: self.count)
    nodes = property(lambda self: self.count * (sum(p.width * (2 if p.second else 1) for p in self.parts) - 1))

    def accesses(self) -> list[Operand]:
        """What is read, in the order in which gradients are pushed."""
        return [(x, self.count, part.width) for part in self.parts for x in (part.first, part.second) if x is not None]

    def reading(self, accesses: Sequence[Access]) -> Sums:
        """The same step with these instead."""
        given = iter(accesses)
        parts = [replace(part, first=next(given), second=part.second and next(given)) for part in self.parts]
        return replace(self, parts=tuple(parts))


@dataclass(frozen=True)
class Take:
    """One of a table for each result, chosen by an index that is given at each call.

    The table of result i begins at `lists[tables + i]` of the lists and is `lists[lengths + i]` long, and index number
    `lists[slots + i]` chooses. Tables hold positions, `~position` for parameters.
    """

    out: int
    count: int
    tables: int
    lengths: int
    slots: int
    grads: str = NOTHING

    kind = "take"
    ops = ("take",)
    shape = property(lambda self: (1, self.count))
    results = nodes = property(lambda self: self.count)

    def signed(self, lists: Ints) -> Longs:
        """Every position that may be read, `~position` for parameters."""
        spans = [lists[at : at + self.count].tolist() for at in (self.tables, self.lengths)]
        tables = [lists[start : start + length] for start, length in set(zip(*spans, strict=True))]
        return np.concatenate(tables).astype(np.int64)


@dataclass(frozen=True)
class Extreme:
    """The largest (`max`, `shift`) or smallest (`min`) of `count` lists of `width` positions, `~` for parameters.

    It is nan if one of them is. Those that are equal share the gradient evenly; `shift` gives none.
    """

    out: int
    which: str
    count: int
    width: int
    listed: int
    grads: str = NOTHING

    kind = property(lambda self: self.which)
    ops = property(lambda self: (self.which,))
    shape = property(lambda self: (self.count, self.width))
    results = nodes = property(lambda self: self.count)

    def signed(self, lists: Ints) -> Longs:
        """Every position that is read, `~position` for parameters."""
        return lists[self.listed : self.listed + self.count * self.width].astype(np.int64)


@dataclass(frozen=True)
class Rows:
    """Single operations one after another, each of which may read those before it: what has no structure.

    Row i is number `lists[codes + i]` of `ops` (or a special code of `trace.tape`) on the `lists[counts + i]`
    positions that begin at `lists[starts + i]`; a take is chosen by index number `lists[slots + i]`. It is the only
    step of its program, and every gradient is added. A row that no gradient can come to has 0 at `lists[pushing + i]`,
    and pushes none. `loops` are rows that are the same again and again, for a backend that has a better way: first row,
    rows of the body, turns.
    """

    out: int
    count: int
    ops: tuple[str, ...]
    codes: int
    starts: int
    counts: int
    slots: int
    pushing: int = ALL
    loops: tuple[tuple[int, int, int], ...] = ()

    kind = "flat"
    shape = property(lambda self: (self.count,))
    results = nodes = property(lambda self: self.count)

    def one_by_one(self, lists: Ints) -> list[Elements | Take | Extreme]:
        """The same as steps of one result each, for a backend that has no better way."""
        found: list[Elements | Take | Extreme] = []
        columns = (lists[at : at + self.count].tolist() for at in (self.codes, self.starts, self.counts))
        for i, (code, start, count) in enumerate(zip(*columns, strict=True)):
            out = self.out + i
            grads = ADD if self.pushing == ALL or lists[self.pushing + i] else NOTHING
            if code == TAKE:
                found.append(Take(out, 1, self.starts + i, self.counts + i, self.slots + i, grads))
            elif code < 0:
                found.append(Extreme(out, SPECIAL[code], 1, count, start, NOTHING if code == SHIFT else grads))
            else:
                signed = lists[start : start + count].tolist()
                operands = [Access(*((OWN, x) if x >= 0 else (PARAMETERS, ~x)), 0, 0, grads=grads) for x in signed]
                found.append(Elements(out, self.ops[code], 1, 1, tuple(operands)))
        return found


#: Every step has a `kind`, the names of the `ops` it stands for, a `shape`, `results` that stand side by side in own
#: memory from position `out` on, and the number of `nodes` of the tape that it does.
Step = Elements | Product | Sums | Take | Extreme | Rows


def formula(step: Step) -> str:
    """What a step computes, as one reads it."""
    if isinstance(step, (Take, Extreme)):
        return f"{step.kind} of lists{GRADS_TEXT[step.grads]}"
    if isinstance(step, Rows):
        return "".join(["one by one", *(f"; {turns} times {body} from {first}" for first, body, turns in step.loops)])
    texts = [x.text(rows, columns) for x, rows, columns in step.accesses()]
    if isinstance(step, Elements):
        return f"{step.op}({', '.join(texts)})"
    if isinstance(step, Product):
        *tails, right, left = texts
        return " + ".join([f"{left} · {right}", *tails])
    given = iter(texts)
    return " + ".join(f"Σ {next(given)}" + (f" · {next(given)}" if part.second else "") for part in step.parts)
