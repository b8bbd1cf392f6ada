"""Rolling up sums of products: blocks that are products of matrices, and the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradwalk.compile.array_types import Longs
from gradwalk.compile.roll.builder import Builder
from gradwalk.compile.roll.layout import (
    CONSTANT,
    FIRST_HASH,
    NODE,
    OO,
    OTHER_TAILS,
    PAIRS,
    PARAMETER_TAILS,
    PO,
    PP,
    SECOND_HASH,
    TAILS,
)
from gradwalk.compile.roll.steps import Access, Part, Product, Sums

if TYPE_CHECKING:
    from gradwalk.compile.roll.analyze import Macros

__all__ = ["roll_sums"]


#: Blocks of fewer numbers than this are not worth a product of their own.
SMALL_BLOCK = 16
#: Fewer columns than this are rows, if both sides are computed: vectors go along the columns.
THIN = 4


def roll_sums(builder: Builder, macros: Macros, group: Longs) -> None:
    """Steps for sums of one shape: products for the blocks among them, then one step for all others.

    The sides of a product are the same for all samples of a batch, or one of them is: the parameters.
    """
    made = macros.rows[group]
    one_part = np.count_nonzero(made[0, [PP, PO, OO]]) == 1 and (builder.lanes == 1 or made[0, PO] > 0)
    left = np.ones(len(group), np.bool_)
    if one_part and len(group) * builder.lanes >= SMALL_BLOCK:
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
        rows, columns = (np.count_nonzero(np.bincount(side[members])) for side in (left_of, right_of))
        if rows * columns != len(members) or len(members) * builder.lanes < SMALL_BLOCK:
            continue
        first = builder.positions[macros.first[made[members, PAIRS]]]
        second = builder.positions[macros.second[made[members, PAIRS]]]
        block = members[np.lexsort((right_of[members], second, left_of[members], first))].reshape(rows, columns)
        at = made[block, PAIRS][:, :, None] + np.arange(width)
        first, second = macros.first[at], macros.second[at]
        if (first == first[:, :1]).all() and (second == second[:1]).all():
            found.append(block)
    return found


def _product(builder: Builder, macros: Macros, block: Longs) -> None:
    graph = macros.graph
    made = macros.rows[block]
    width = int(made[0, 0, [PP, PO, OO]].sum())
    left = macros.first[made[:, 0, PAIRS][:, None] + np.arange(width)].astype(np.int64)
    right = macros.second[made[0, :, PAIRS][:, None] + np.arange(width)].astype(np.int64)
    if made.shape[1] < THIN and made.shape[0] > made.shape[1] and left[0, 0] >= graph.tape.parameters:
        block, made, left, right = block.T, made.transpose(1, 0, 2), right, left
    right = np.ascontiguousarray(right.T)
    rows, columns = block.shape
    tails = _tails(builder, macros, block)
    left_access, right_access = builder.access(left), _right_access(builder, macros, right)
    out = builder.allot(made[:, :, NODE].ravel())
    builder.steps.append(Product(out, rows, width, columns, left_access, right_access, tails))


def _right_access(builder: Builder, macros: Macros, right: Longs) -> Access:
    """Constants are laid out as the product wants them; all else is read where it is, if it can be."""
    first_constant = macros.graph.constants
    if (right >= first_constant).all():
        numbers = macros.graph.tape.constants[right.ravel() - first_constant]
        return builder.constants(numbers, right.shape[1], alike=False)
    return builder.access(right, (1,))


def _tails(builder: Builder, macros: Macros, block: Longs) -> tuple[Access, ...]:
    """The single terms of a product; the constant term is one."""
    made = macros.rows[block]
    tails = [
        builder.access(macros.tails[made[:, :, TAILS] + j].astype(np.int64), (0, 1))
        for j in range(int(made[0, 0, PARAMETER_TAILS] + made[0, 0, OTHER_TAILS]))
    ]
    if made[0, 0, CONSTANT]:
        tails.append(builder.constants(macros.constants[block].ravel(), block.shape[1]))
    return tuple(tails)


# --- sums that share nothing -----------------------------------------------------------------------------------------


def _separate(builder: Builder, macros: Macros, group: Longs) -> None:
    made = macros.rows[group]
    shape = made[0]
    lead = macros.first[made[:, PAIRS]] if shape[[PP, PO, OO]].any() else macros.tails[made[:, TAILS]]
    other = macros.second[made[:, PAIRS]] if shape[[PP, PO, OO]].any() else lead
    order = np.lexsort((builder.positions[other], builder.positions[lead]))
    group, made = group[order], made[order]
    parts: list[Part] = []
    at = made[:, PAIRS].copy()
    for width in shape[[PP, PO, OO]].tolist():
        if width:
            span = at[:, None] + np.arange(width)
            both = macros.first[span].astype(np.int64), macros.second[span].astype(np.int64)
            factors = [builder.access(nodes, (1,)) for nodes in both]
            if any(x.listed >= 0 for x in factors):  # both factors in runs, or both by lists
                factors = [
                    x if x.listed >= 0 else builder.access(nodes, listed=True)
                    for x, nodes in zip(factors, both, strict=True)
                ]
            parts.append(Part(width, *factors))
            at += width
    at = made[:, TAILS].copy()
    for width in shape[[PARAMETER_TAILS, OTHER_TAILS]].tolist():
        if width:
            nodes = macros.tails[at[:, None] + np.arange(width)].astype(np.int64)
            parts.append(Part(width, builder.access(nodes, (1,))))
            at += width
    if shape[CONSTANT]:
        parts.append(Part(1, replace(builder.constants(macros.constants[group]), column=1)))
    builder.steps.append(Sums(builder.allot(made[:, NODE]), len(made), tuple(parts)))
