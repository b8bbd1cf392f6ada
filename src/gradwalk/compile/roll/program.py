"""Programs: what analysis makes of a tape, in the form that native code runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk.compile.native import objects
from gradwalk.compile.native.objects import Native
from gradwalk.compile.roll.layout import OWN, PARAMETERS

__all__ = ["Access", "Builder", "Push", "Row", "Step"]

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One line of the report: a step, what it does, and what was fused into it.

    >>> from gradwalk.compile.roll.program import Row
    >>> Row("product", ("mul", "add"), (16, 16, 100), 51_200, 12_800).shape
    (16, 16, 100)
    """

    kind: str  # op, product, sums, take, max, min or shift
    ops: tuple[str, ...]  # the ops it stands for
    shape: tuple[int, ...]  # rows × inner × columns of a product; rows × columns of all else
    count: int  # how many operations of the tape it does
    bytes: int  # memory of its results


@dataclass(frozen=True, eq=False)
class Push:
    """Gradients that a step sends somewhere, in the order in which it does: to which positions of own memory.

    `store` is set if it may write them instead of adding to what is there; it says how the step is told to.
    """

    positions: Longs
    store: Callable[[], None] | None = None


@dataclass(eq=False)
class Step:
    """A kernel for each direction and the words of their descriptor.

    The way back may depend on which gradients are written rather than added to, so it is asked for when that is known.
    """

    forward: Native
    backward: Callable[[], Native] | None
    words: list[int]
    row: Row
    pushes: list[Push] = field(default_factory=list)
    parts: list[list[int]] = field(default_factory=list)  # more words, after the first ones
    functions: dict[int, Native] = field(default_factory=dict)  # words that are addresses, known when it is bound
    end: Native | None = None  # for batches: what to do once, after all samples

    @property
    def descriptor(self) -> list[int]:
        """All words, once it is known what is written and what is added to."""
        for word, native in self.functions.items():
            self.words[word] = objects.load(native)
        return self.words + [word for part in self.parts for word in part]


@dataclass(frozen=True)
class Access:
    """How to read a matrix of operands; see `layout.ACCESS`."""

    space: int
    start: int
    row: int
    column: int
    listed: int = -1

    @property
    def words(self) -> list[int]:
        """The words of a descriptor."""
        return [self.space, self.start, self.row, self.column, self.listed]


@dataclass(eq=False)
class Builder:
    """A program that is being made: memory is given out, lists are collected, steps are added.

    >>> import numpy as np
    >>> from gradwalk.compile.roll.program import Builder
    >>> b = Builder(parameters=2, kernels=None, places=np.array([0, 1, 0, 1, 2, 3, 4, 5]), size=6)
    >>> b.access(np.array([[2, 3], [4, 5], [6, 7]]))
    Access(space=0, start=0, row=2, column=1, listed=-1)
    >>> b.access(np.array([[2, 3], [5, 4]])).listed
    0
    """

    parameters: int
    kernels: Any  # `codegen.ScalarKernels` or `LaneKernels`
    places: Longs  # for each node: its position among the parameters, or in the runner's own memory
    size: int  # numbers of own memory given out so far
    steps: list[Step] = field(default_factory=list)
    lists: list[npt.NDArray[np.int32]] = field(default_factory=list)
    listed: int = 0
    written: list[tuple[int, Floats]] = field(default_factory=list)  # constants: where, and which
    cleared: Longs = field(default_factory=lambda: np.zeros((0, 2), np.int64))  # see `spare_clearing`
    scratch: int = 64  # numbers of scratch memory that the hungriest step needs
    summed: int = 0  # sums that products keep for the gradients of parameters, in batches

    def allot(self, nodes: Longs) -> int:
        """Own memory for the results `nodes`, in this order."""
        if len(nodes) >= 32:
            self.size = -(-self.size // 8) * 8  # whole vectors, where there is much to gain
        start = self.size
        self.places[nodes] = np.arange(start, start + len(nodes))
        self.size += len(nodes)
        return start

    def constants(self, numbers: Floats) -> Access:
        """Own memory that holds these numbers, one for each result of a step; one number if they are all the same."""
        same = numbers.view(np.int64)[0] == numbers.view(np.int64)
        kept = numbers[:1] if same.all() else numbers
        start = self.size
        self.written.append((start, kept.copy()))
        self.size += len(kept)
        return Access(OWN, start, 0, 0) if len(kept) == 1 else Access(OWN, start, len(kept), 1)

    def keep(self, positions: npt.NDArray[np.int64]) -> int:
        """Keep a list of positions; gives where it is."""
        flat = np.ascontiguousarray(positions, np.int32).ravel()
        self.lists.append(flat)
        self.listed += len(flat)
        return self.listed - len(flat)

    def space(self, nodes: Longs) -> int:
        """Whose memory nodes are in, all of them alike."""
        return PARAMETERS if int(nodes.flat[0]) < self.parameters else OWN

    def access(self, nodes: Longs, columns: Sequence[int] | None = None) -> Access:
        """How to read a matrix of nodes, if need be by a list; `columns` says which distances will do."""
        at = self.places[nodes]
        found = affine(at)
        if found is None or (columns is not None and found[2] not in columns):
            return Access(self.space(nodes), 0, 0, 0, self.keep(at))
        return Access(self.space(nodes), *found)

    def own(self, nodes: Longs) -> Longs:
        """Positions of those nodes that are in own memory."""
        return self.places[nodes[nodes >= self.parameters]]

    def spare_clearing(self, outputs: Longs) -> Longs:
        """Which runs of gradients must be cleared before going back: begin and end of each, as rows.

        Where the first to push to a run of positions can write to all of it, clearing it would be a waste.
        """
        untouched = np.ones(self.size, np.bool_)
        untouched[self.own(outputs)] = False  # seeds are added
        written = np.zeros(self.size, np.bool_)
        owner = np.zeros(self.size, np.int64)
        for step in reversed(self.steps):
            for push in step.pushes:
                at = push.positions
                if push.store is not None and untouched[at].all():
                    owner[at] = np.arange(len(at))
                    if np.array_equal(owner[at], np.arange(len(at))):  # no position occurs twice
                        written[at] = True
                        push.store()
                untouched[at] = False
        edges = np.flatnonzero(np.diff(np.concatenate([[True], written, [True]])))
        return edges.reshape(-1, 2).astype(np.int64)

    def signed(self, nodes: Longs) -> Longs:
        """Positions where parameters and others are told apart by sign."""
        at = self.places[nodes]
        return np.where(nodes < self.parameters, ~at, at)


def affine(at: Longs) -> tuple[int, int, int] | None:
    """Start, distance of rows and of columns of a matrix of positions that has such a form.

    >>> import numpy as np
    >>> from gradwalk.compile.roll.program import affine
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
