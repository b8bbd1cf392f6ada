"""A program that is being made: memory is given out, lists are collected, steps are added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk.compile.array_types import Bools, Floats, Ints, Longs
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.steps import (
    ADD,
    NOTHING,
    OWN,
    PARAMETERS,
    WRITE,
    Access,
    Elements,
    Extreme,
    Product,
    Step,
    Sums,
    Take,
)
from gradwalk.ops import Op

__all__ = ["Builder", "affine"]


#: So many results are worth a kernel that writes gradients instead of adding them.
MANY = 64


@dataclass(eq=False)
class Builder:
    """What a program is made with.

    >>> import numpy as np
    >>> b = Builder(parameters=2, positions=np.array([0, 1, 0, 1, 2, 3, 4, 5]), active=np.ones(8, bool), size=6)
    >>> b.access(np.array([[2, 3], [4, 5], [6, 7]]))
    Access(space='own', start=0, row=2, column=1, listed=-1, grads='add')
    >>> b.access(np.array([[2, 3], [5, 4]])).listed
    0
    """

    parameters: int
    positions: Longs  # of each node, among the parameters or in own memory
    active: Bools  # for each node: whether it wants a gradient
    size: int  # of own memory given out so far
    lanes: int = 1
    steps: list[Step] = field(default_factory=list)
    ops: dict[str, Op] = field(default_factory=dict)
    lists: list[Ints] = field(default_factory=list)
    listed: int = 0
    written: list[tuple[int, Floats]] = field(default_factory=list)  # constants: where, and which

    def allot(self, nodes: Longs) -> int:
        """Own memory for the results `nodes`, in this order."""
        if len(nodes) >= 32:
            self.size = -(-self.size // 8) * 8  # whole vectors, where there is much to gain
        start = self.size
        self.positions[nodes] = np.arange(start, start + len(nodes))
        self.size += len(nodes)
        return start

    def constants(self, numbers: Floats, columns: int = 1, *, alike: bool = True) -> Access:
        """Own memory that holds these numbers, in rows of so many; one number if they are all the same."""
        same = alike and (numbers.view(np.int64)[0] == numbers.view(np.int64)).all()
        kept = numbers[:1] if same else numbers
        start = self.size
        self.written.append((start, kept.copy()))
        self.size += len(kept)
        return Access(OWN, start, 0, 0) if same else Access(OWN, start, columns, 1)

    def keep(self, numbers: Any) -> int:
        """Keep a list; gives where it is."""
        flat = np.ascontiguousarray(numbers, np.int32).ravel()
        self.lists.append(flat)
        self.listed += len(flat)
        return self.listed - len(flat)

    def op(self, op: Op) -> str:
        """The name under which steps know an op: its own, unless another op has it."""
        name, count = op.name, 1
        while self.ops.setdefault(name, op) is not op:
            count += 1
            name = f"{op.name}_{count}"
        return name

    def access(self, nodes: Longs, columns: Sequence[int] | None = None, *, listed: bool = False) -> Access:
        """How to read a matrix of nodes, by a list if need be; `columns` says which distances will do."""
        at = self.positions[nodes]
        space = PARAMETERS if int(nodes.flat[0]) < self.parameters else OWN  # all of them alike
        grads = ADD if self.active[nodes].any() else NOTHING
        found = None if listed else affine(at)
        if found is None or (columns is not None and found[2] not in columns):
            return Access(space, 0, 0, 0, self.keep(at), grads)
        return Access(space, *found, grads=grads)

    def signed(self, nodes: npt.NDArray[Any]) -> Longs:
        """Positions of nodes, `~position` for parameters."""
        at = self.positions[nodes]
        found: Longs = np.where(nodes < self.parameters, ~at, at)
        return found

    def program(self, outputs: Longs, **more: Any) -> Program:
        """The program, once all steps are there."""
        places = self.signed(outputs)
        lists = np.concatenate([*self.lists, np.zeros(0, np.int32)])
        steps, cleared = _spare_clearing(self.steps, self.size, lists, places, self.lanes)
        at = [np.arange(start, start + len(numbers), dtype=np.int32) for start, numbers in self.written]
        numbers = [numbers for _, numbers in self.written]
        return Program(
            outputs=tuple(places.tolist()), steps=tuple(steps), ops=self.ops, size=self.size, lists=lists,
            constant_positions=np.concatenate([*at, np.zeros(0, np.int32)]),
            constants=np.concatenate([*numbers, np.zeros(0)]), cleared=cleared, lanes=self.lanes, **more,
        )  # fmt: skip


def _spare_clearing(
    steps: list[Step], size: int, lists: Ints, outputs: Longs, lanes: int
) -> tuple[list[Step], tuple[tuple[int, int], ...]]:
    """The steps, told which gradients to write, and the runs of gradients that must be cleared before going back.

    Where the first to push to a run of positions can write to all of it, clearing it would be a waste.
    """
    untouched = np.ones(size, np.bool_)
    untouched[outputs[outputs >= 0]] = False  # seeds are added
    written = np.zeros(size, np.bool_)
    told: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, (Elements, Product, Sums)):
            found = []
            for x, rows, columns in step.accesses():
                access = x
                if x.grads != NOTHING and x.space == OWN:
                    at = x.positions(rows, columns, lists)
                    if _can_write(step, x, at, lanes) and untouched[at].all():
                        written[at] = True
                        access = replace(x, grads=WRITE)
                    untouched[at] = False
                found.append(access)
            told.append(step.reading(found))
        else:
            if isinstance(step, (Take, Extreme)) and step.grads != NOTHING:
                at = step.signed(lists)
                untouched[at[at >= 0]] = False
            told.append(step)
    edges = np.flatnonzero(np.diff(np.concatenate([[True], written, [True]])))
    return told[::-1], tuple((int(begin), int(end)) for begin, end in edges.reshape(-1, 2))


def _can_write(step: Elements | Product | Sums, access: Access, at: Longs, lanes: int) -> bool:
    """Gradients can be written to runs that do not overlap; in batches also to any positions that are all different."""
    in_runs = access.listed < 0 and access.column == 1 and access.row >= at.shape[1]
    if isinstance(step, Product):
        return in_runs and access is step.right
    if isinstance(step, Sums):
        return in_runs
    return step.results * lanes >= MANY and (in_runs or (lanes > 1 and len(np.unique(at)) == at.size))


def affine(at: Longs) -> tuple[int, int, int] | None:
    """Start, distance of rows and of columns of a matrix of positions that has such a form.

    >>> import numpy as np
    >>> affine(np.array([[3, 4, 5], [13, 14, 15]])), affine(np.array([[3, 5, 6]]))
    ((3, 10, 1), None)
    """
    rows, columns = at.shape
    start = int(at[0, 0])
    row = int(at[1, 0]) - start if rows > 1 else columns
    column = int(at[0, 1]) - start if columns > 1 else 1
    if int(at[-1, -1]) != start + (rows - 1) * row + (columns - 1) * column:  # most that have no form are known by this
        return None
    expected = (start + row * np.arange(rows))[:, None] + column * np.arange(columns)
    return (start, row, column) if np.array_equal(at, expected) else None
