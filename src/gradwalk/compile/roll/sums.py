"""Rolling up sums of products: blocks that are products of matrices, and the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gradwalk.compile.roll.layout import (
    BY_SCRATCH,
    CONSTANT,
    DIRECT,
    FACTOR,
    FIRST_HASH,
    NODE,
    OO,
    OTHER_FACTOR,
    OTHER_TAILS,
    OWN,
    PAIRS,
    PARAMETER_TAILS,
    PO,
    PP,
    PRODUCT_LEFT_GRADS,
    PRODUCT_RIGHT_GRADS,
    SECOND_HASH,
    TAILS,
    WANTS_GRADS,
    WRITE,
    WRITTEN,
)
from gradwalk.compile.roll.program import Access, Builder, Push, Row, Step

if TYPE_CHECKING:
    from gradwalk.compile.roll.analyze import Macros

__all__ = ["roll_sums"]

Longs = npt.NDArray[np.int64]

#: Blocks of fewer results than this, or thinner on both sides, are not worth a product of their own.
SMALL_BLOCK, THIN = 16, 4


def roll_sums(builder: Builder, macros: Macros, group: Longs) -> None:
    """Steps for sums of one shape: products for the blocks among them, then one step for all others.

    >>> from gradwalk.compile.roll.sums import roll_sums
    >>> roll_sums.__name__
    'roll_sums'
    """
    made = macros.rows[group]
    one_part = np.count_nonzero(made[0, [PP, PO, OO]]) == 1
    left = np.ones(len(group), np.bool_)
    lanes = builder.kernels.lanes  # in batches every number is many, so that even the smallest block pays
    if one_part and (made[0, PO] > 0 if lanes else len(group) >= SMALL_BLOCK):
        for block in _blocks(builder, macros, made):
            _product(builder, macros, group[block])
            left[block.ravel()] = False
    if left.any():
        _separate(builder, macros, group[left])


# --- products of matrices --------------------------------------------------------------------------------------------


def _blocks(builder: Builder, macros: Macros, made: Longs) -> list[Longs]:
    """Matrices of indices into `made`: each row shares its left factors, each column its right ones.

    Lists of factors are told apart by their hashes first; a block counts only if the lists themselves agree.
    """
    width = int(made[0, [PP, PO, OO]].sum())
    lefts, left_of = np.unique(made[:, FIRST_HASH], return_inverse=True)
    rights, right_of = np.unique(made[:, SECOND_HASH], return_inverse=True)
    # Right lists that meet the same set of left lists make up a block; sets are compared by sums of random marks.
    marks = np.random.default_rng(1).integers(1, 2**62, len(lefts))
    sets = np.zeros(len(rights), np.int64)
    np.add.at(sets, right_of, marks[left_of])
    _, kind_of = np.unique(sets, return_inverse=True)
    block_of = kind_of[right_of]
    order = np.argsort(block_of, kind="stable")
    found = []
    for members in np.split(order, np.flatnonzero(np.diff(block_of[order])) + 1):
        rows, columns = len(np.unique(left_of[members])), len(np.unique(right_of[members]))
        if rows * columns != len(members):
            continue
        if not builder.kernels.lanes and (len(members) < SMALL_BLOCK or max(rows, columns) < THIN):
            continue
        first = builder.places[macros.first[made[members, PAIRS]]]
        second = builder.places[macros.second[made[members, PAIRS]]]
        block = members[np.lexsort((right_of[members], second, left_of[members], first))].reshape(rows, columns)
        if _is_product(macros, made, block, width):
            found.append(block)
    return found


def _is_product(macros: Macros, made: Longs, block: Longs, width: int) -> bool:
    """Whether the factors themselves, not only their hashes, are those of a product of matrices."""
    at = made[block, PAIRS][:, :, None] + np.arange(width)
    first, second = macros.first[at], macros.second[at]
    return bool((first == first[:, :1]).all() and (second == second[:1]).all())


def _product(builder: Builder, macros: Macros, block: Longs) -> None:
    graph = macros.graph
    made = macros.rows[block]
    width = int(made[0, 0, [PP, PO, OO]].sum())
    left = macros.first[made[:, 0, PAIRS][:, None] + np.arange(width)].astype(np.int64)
    right = macros.second[made[0, :, PAIRS][:, None] + np.arange(width)].astype(np.int64)
    if made.shape[1] < THIN and made.shape[0] > made.shape[1] and left[0, 0] >= graph.tape.parameters:
        block, made, left, right = block.T, made.transpose(1, 0, 2), right, left  # vectors go along the columns
    right = np.ascontiguousarray(right.T)
    rows, columns = block.shape
    nodes = made[:, :, NODE].ravel()
    tails, tail_places = _tails(builder, macros, block)
    left_access, right_access = builder.access(left), _right_access(builder, macros, right)
    out = builder.allot(nodes)
    words = [out, rows, columns, width, *left_access.words, *right_access.words]
    words += [
        _grads(graph.active[left].any(), left_access, width),
        _grads(graph.active[right].any(), right_access, columns),
    ]
    words += [len(tails), builder.summed]
    builder.summed += rows * width
    for access, wanted in tails:
        words += [*access.words, int(wanted)]
    builder.scratch = max(builder.scratch, 8 * rows * width + 2 * width * columns + 64)
    count = rows * columns * (2 * width - 1 + len(tails))
    row = Row("product", ("mul", "add"), (rows, width, columns), count, 8 * rows * columns)
    step = Step(builder.kernels.fixed("product"), None, words, row)
    for (access, wanted), places in zip(tails, tail_places, strict=True):
        if wanted and access.space == OWN:
            step.pushes.append(Push(places))
    if words[PRODUCT_RIGHT_GRADS]:
        can_store = words[PRODUCT_RIGHT_GRADS] == DIRECT
        store = partial(words.__setitem__, PRODUCT_RIGHT_GRADS, WRITTEN) if can_store else None
        step.pushes.append(Push(builder.own(right), store))
    if words[PRODUCT_LEFT_GRADS]:
        step.pushes.append(Push(builder.own(left)))
    if step.pushes or any(wanted for _, wanted in tails):
        step.backward = partial(builder.kernels.fixed, "product_back")
    if builder.kernels.lanes and words[PRODUCT_LEFT_GRADS]:
        step.end = builder.kernels.fixed("product_end")
    builder.steps.append(step)


def _grads(wanted: bool, access: Access, length: int) -> int:
    """Whether gradients can be added where they stand: each row is a run, and no two rows overlap."""
    if not wanted:
        return 0
    return DIRECT if access.listed < 0 and access.column == 1 and access.row >= length else BY_SCRATCH


def _right_access(builder: Builder, macros: Macros, right: Longs) -> Access:
    """Constants are laid out as the product wants them; all else is read where it is, if it can be."""
    first_constant = macros.graph.constants
    if (right >= first_constant).all():
        numbers = macros.graph.tape.constants[right.ravel() - first_constant]
        builder.written.append((builder.size, numbers))
        builder.size += len(numbers)
        return Access(0, builder.size - len(numbers), right.shape[1], 1)
    return builder.access(right, (1,))


def _tails(builder: Builder, macros: Macros, block: Longs) -> tuple[list[tuple[Access, bool]], list[Longs]]:
    """The single terms of a product, whether they want gradients, and where they are; the constant term is one."""
    made = macros.rows[block]
    tails: list[tuple[Access, bool]] = []
    places = []
    for j in range(int(made[0, 0, PARAMETER_TAILS] + made[0, 0, OTHER_TAILS])):
        nodes = macros.tails[made[:, :, TAILS] + j].astype(np.int64)
        tails.append((builder.access(nodes, (0, 1)), bool(macros.graph.active[nodes].any())))
        places.append(builder.own(nodes))
    if made[0, 0, CONSTANT]:
        access = builder.constants(macros.constants[block].ravel())
        if access.column:
            access = Access(access.space, access.start, block.shape[1], 1)
        tails.append((access, False))
        places.append(np.zeros(0, np.int64))
    return tails, places


# --- sums that share nothing -----------------------------------------------------------------------------------------


def _separate(builder: Builder, macros: Macros, group: Longs) -> None:
    made = macros.rows[group]
    shape = made[0]
    lead = macros.first[made[:, PAIRS]] if shape[[PP, PO, OO]].any() else macros.tails[made[:, TAILS]]
    other = macros.second[made[:, PAIRS]] if shape[[PP, PO, OO]].any() else lead
    order = np.lexsort((builder.places[other], builder.places[lead]))
    group, made = group[order], made[order]
    active = macros.graph.active
    parts: list[list[int]] = []
    pushes: list[Push] = []
    at = made[:, PAIRS].copy()
    for width in shape[[PP, PO, OO]].tolist():
        if not width:
            continue
        span = at[:, None] + np.arange(width)
        first, second = macros.first[span].astype(np.int64), macros.second[span].astype(np.int64)
        wanted = bool(active[first].any()), bool(active[second].any())
        a, b = _both(builder, first, second)
        part = [width, 1, *a.words, int(wanted[0]), *b.words, int(wanted[1])]
        parts.append(part)
        if wanted[0]:
            pushes.append(_push(builder, first, a, part, FACTOR + WANTS_GRADS))
        if wanted[1]:
            pushes.append(_push(builder, second, b, part, OTHER_FACTOR + WANTS_GRADS))
        at += width
    at = made[:, TAILS].copy()
    for width in shape[[PARAMETER_TAILS, OTHER_TAILS]].tolist():
        if not width:
            continue
        nodes = macros.tails[at[:, None] + np.arange(width)].astype(np.int64)
        some = bool(active[nodes].any())
        a = builder.access(nodes, (1,))
        part = [width, 0, *a.words, int(some), *a.words, 0]
        parts.append(part)
        if some:
            pushes.append(_push(builder, nodes, a, part, FACTOR + WANTS_GRADS))
        at += width
    if shape[CONSTANT]:
        a = builder.constants(macros.constants[group])
        a = Access(a.space, a.start, a.column, 1)
        parts.append([1, 0, *a.words, 0, *a.words, 0])
    out = builder.allot(made[:, NODE])
    words = [out, len(made), len(parts)]
    terms = int(shape[[PP, PO, OO, PARAMETER_TAILS, OTHER_TAILS, CONSTANT]].sum())
    count = len(made) * (int(shape[[PP, PO, OO]].sum()) + terms - 1)
    names = ("mul", "add") if shape[[PP, PO, OO]].any() else ("add",)
    row = Row("sums", names, (len(made), terms), count, 8 * len(made))
    backward = partial(builder.kernels.fixed, "sums_back") if pushes else None
    builder.steps.append(Step(builder.kernels.fixed("sums"), backward, words, row, pushes, parts=parts))


def _push(builder: Builder, nodes: Longs, access: Access, part: list[int], word: int) -> Push:
    """Gradients that go to runs of own memory may be written, if they are the first there."""
    can_store = access.space == OWN and access.listed < 0 and not builder.kernels.lanes
    return Push(builder.own(nodes), partial(part.__setitem__, word, WRITE) if can_store else None)


def _both(builder: Builder, first: Longs, second: Longs) -> tuple[Access, Access]:
    """Both factors in runs, or both by lists."""
    a, b = builder.access(first, (1,)), builder.access(second, (1,))
    if a.listed >= 0 and b.listed < 0:
        b = Access(b.space, 0, 0, 0, builder.keep(builder.places[second]))
    elif b.listed >= 0 and a.listed < 0:
        a = Access(a.space, 0, 0, 0, builder.keep(builder.places[first]))
    return a, b
