"""Passes over a graph that cannot be done by whole arrays at a time.

Plain Python over flat arrays and numbers: `analyze` allocates everything, here is only the walking. They run as they
stand (`plainly`), or much faster if whoever asks for the analysis passes a way to run them natively. So they keep to
what every compiler of Python knows: loops, indices, integers that fit into 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwalk.compile.array_types import Bools, Floats, Ints, Longs
from gradwalk.compile.roll.layout import (
    CONSTANT,
    ELEMENT,
    EXTREME,
    FIELDS,
    FIRST_HASH,
    KEY,
    KIND,
    LEVEL,
    NODE,
    OO,
    OTHER_TAILS,
    PAIRS,
    PARAMETER_TAILS,
    PO,
    PP,
    SECOND_HASH,
    SUM,
    TAILS,
    TAKEN,
)
from gradwalk.compile.trace.tape import TAKE

__all__ = ["HELPERS", "RunPass", "collapse", "latest", "merge", "plainly", "repeats", "settle", "spread"]


#: How `repeats` looks for a row: from one of so many places near its operand on, so often, then from anywhere on.
SPREAD, NEAR = 4095, 8

#: A way to run a pass: `run(collapse, code, start, …)`.
RunPass = Callable[..., None]


def plainly(function: Callable[..., None], *arguments: Any) -> None:
    """Run a pass as it stands; lists, because Python is faster with them, and their integers know no overflow.

    >>> import numpy as np
    >>> def double(numbers, count):
    ...     for i in range(count):
    ...         numbers[i] *= 2
    >>> numbers = np.arange(3)
    >>> plainly(double, numbers, 3)
    >>> numbers.tolist()
    [0, 2, 4]
    """
    given = [x.tolist() if isinstance(x, np.ndarray) else x for x in arguments]
    function(*given)
    for array, changed in zip(arguments, given, strict=True):
        if isinstance(array, np.ndarray):
            array[:] = changed


def spread(
    code: Ints, start: Ints, count: Ints, operands: Ints, live: Bools, reached: Bools, active: Bools,
    rows: int, first: int, shift: int,
) -> None:  # fmt: skip
    """Spread liveness and gradients from the outputs back to operands, and activity from parameters on to results."""
    for back in range(rows):
        row = rows - 1 - back
        if live[first + row]:
            for k in range(start[row], start[row] + count[row]):
                live[operands[k]] = 1
        if reached[first + row] and code[row] != shift:
            for k in range(start[row], start[row] + count[row]):
                reached[operands[k]] = 1
    for row in range(rows):
        some = 0
        if code[row] != shift:
            for k in range(start[row], start[row] + count[row]):
                some |= active[operands[k]]
        active[first + row] = some


def _mixed(h: Any, x: Any) -> Any:
    """A hash that depends on all numbers so far, in their order."""
    h = ((h ^ (x + 1)) * 0x9E3779B97F4A7C1) & 0x7FFFFFFFFFFFFFFF
    return h ^ (h >> 29)


def repeats(
    code: Ints, start: Ints, count: Ints, slot: Ints, operands: Ints, live: Bools, bits: Longs, known: Bools,
    same: Ints, heads: Ints, table: Ints, results: Longs, rows: int, first: int, constants: int, nodes: int, mask: int,
) -> None:  # fmt: skip
    """For each node the first that is the same: equal constants, and rows of one op with the same operands.

    Two rows can be the same only if their latest operands are: `heads` has the first row of each. All others are in
    `table`, a table of hashes, near the place of that operand, which is in the processor's cache, as most rows come
    soon after what they read; those that find no room there are anywhere. Both have -1 where there is nothing.
    """
    for node in range(constants, nodes):
        at = _mixed(1, bits[node - constants]) & mask
        while table[at] >= 0 and bits[table[at] - constants] != bits[node - constants]:
            at = (at + 1) & mask
        if table[at] < 0:
            table[at] = node
        same[node] = table[at]
    found = 0
    share = (mask << 8) // (constants + 1)
    for row in range(rows):
        if not live[row] or (code[row] >= 0 and not known[code[row]]):
            continue
        begin, width = start[row], count[row]
        h = 64 * slot[row] + code[row] + 64
        last = 0
        for k in range(begin, begin + width):
            node = same[operands[k]]
            h = _mixed(h, node)
            if last < node < constants:
                last = node
        node = heads[last]
        at = tries = 0
        while node >= 0:
            if node < constants:
                other = node - first
                if code[other] == code[row] and slot[other] == slot[row] and count[other] == width:
                    equal = 1
                    for k in range(width):
                        if same[operands[start[other] + k]] != same[operands[begin + k]]:
                            equal = 0
                    if equal:
                        break
            if tries == 0 and last >= first:
                at = ((last * share) >> 8) + (h & SPREAD)
            elif tries == 0 or tries == NEAR:
                at = h
            else:
                at += 1
            tries += 1
            at &= mask
            node = table[at]
        if node >= 0:
            same[first + row] = node
            found += 1
        elif tries > 0:
            table[at] = first + row
        else:
            heads[last] = first + row
    results[0] = found


def merge(
    code: Ints, start: Ints, count: Ints, operands: Ints, live: Bools, same: Ints, uses: Ints, merged_uses: Ints,
    kept: Bools, rows: int, first: int, constants: int, add: int, mul: int, rolled: int,
) -> None:  # fmt: skip
    """Let all that is kept read the first of what is the same, unless that would take a term out of its sum."""
    for row in range(rows):
        if live[row]:
            weight = 1 if code[row] == add else 2  # as in `collapse`
            for k in range(start[row], start[row] + count[row]):
                uses[operands[k]] += weight
                if same[first + row] == first + row:
                    merged_uses[same[operands[k]]] += weight
    for back in range(rows):
        row = rows - 1 - back
        if kept[first + row]:
            for k in range(start[row], start[row] + count[row]):
                node = operands[k]
                if first <= node < constants:
                    what = code[node - first]
                    term = rolled and uses[node] == 1 and (what == add or what == mul)  # noqa: SIM109
                    if not term or (merged_uses[same[node]] == 1 and same[first + row] == first + row):
                        operands[k] = same[node]
                    kept[operands[k]] = 1


def _class(node: Any, parameters: Any, constants: Any) -> Any:
    """0 for a parameter, 1 for what is computed or given, 2 for a constant."""
    return 0 if node < parameters else (2 if node >= constants else 1)


def collapse(
    code: Ints, start: Ints, count: Ints, operands: Ints, live: Bools, numbers: Floats, uses: Ints,
    absorbed: Bools, level: Ints, made: Longs, sums: Floats, pair_a: Ints, pair_b: Ints, tail: Ints, stack: Ints,
    spare_a: Ints, spare_b: Ints, spare_t: Ints, results: Longs, rows: int, first: int, parameters: int,
    constants: int, add: int, mul: int, power: int,
) -> None:  # fmt: skip
    """Make macro-rows: chains of sums become one row each, with the products that occur nowhere else inside them.

    A row is absorbed by its only user if that is a sum, and it is a sum or a product itself. The factors of a product
    are ordered: parameter, computed, constant. The pairs of a macro-row are ordered too: parameter with parameter,
    parameter with another, another with another; so each part of its lists lies in one kind of memory.
    """
    for row in range(rows):
        if live[row]:
            weight = 1 if code[row] == add else 2  # only sums absorb
            for k in range(start[row], start[row] + count[row]):
                uses[operands[k]] += weight
    for row in range(rows):
        absorbed[row] = live[row] and uses[first + row] == 1 and (code[row] == add or code[row] == mul)

    pairs = tails = macros = 0
    for row in range(rows):
        if not live[row] or absorbed[row]:
            continue
        out = macros * FIELDS
        made[out + NODE] = first + row
        made[out + PAIRS] = pairs
        made[out + TAILS] = tails
        made[out + CONSTANT] = 0
        sums[macros] = 0.0
        deepest = 0
        if code[row] == add:
            total = 0.0
            constant_terms = 0
            last_constant = 0
            found = ends = 0
            stack[0] = first + row
            height = 1
            while height > 0:
                height -= 1
                node = stack[height]
                inside = node - first
                if node == first + row or (0 <= inside < rows and absorbed[inside]):
                    a, b = operands[start[inside]], operands[start[inside] + 1]
                    if code[inside] == add:
                        stack[height] = b
                        stack[height + 1] = a
                        height += 2
                        continue
                    if _class(a, parameters, constants) > _class(b, parameters, constants):
                        a, b = b, a
                    spare_a[found] = a
                    spare_b[found] = b
                    found += 1
                    deepest = max(deepest, level[a], level[b])
                elif node >= constants:
                    total += numbers[node - constants]
                    constant_terms += 1
                    last_constant = node
                else:
                    spare_t[ends] = node
                    ends += 1
                    deepest = max(deepest, level[node])
            if found == 0 and ends + constant_terms == 2 and ends >= 1:  # nothing was absorbed: an ordinary addition
                if ends == 1:
                    spare_t[1] = last_constant
                for k in range(2):
                    tail[tails + k] = spare_t[k]
                key = add
                for k in range(2):
                    key |= _class(spare_t[k], parameters, constants) << (16 + 2 * k)
                tails += 2
                made[out + KIND] = ELEMENT
                made[out + KEY] = key
                made[out + PP] = made[out + PO] = made[out + OO] = made[out + PARAMETER_TAILS] = 0
                made[out + OTHER_TAILS] = 2
            else:
                hash_a = hash_b = 1
                for part in range(3):
                    before = pairs
                    for k in range(found):
                        a, b = spare_a[k], spare_b[k]
                        if (a >= parameters) + (b >= parameters) == part:
                            pair_a[pairs] = a
                            pair_b[pairs] = b
                            pairs += 1
                            hash_a = _mixed(hash_a, a)
                            hash_b = _mixed(hash_b, b)
                    made[out + PP + part] = pairs - before
                flags = 3  # whether the second factors are all constants, or none of them
                for k in range(found):
                    flags &= 1 if spare_b[k] >= constants else 2
                for part in range(2):
                    before = tails
                    for k in range(ends):
                        if (spare_t[k] >= parameters) == part:
                            tail[tails] = spare_t[k]
                            tails += 1
                    made[out + PARAMETER_TAILS + part] = tails - before
                made[out + FIRST_HASH] = hash_a
                made[out + SECOND_HASH] = hash_b
                made[out + KIND] = SUM
                made[out + KEY] = flags
                made[out + CONSTANT] = 1 if constant_terms > 0 else 0
                sums[macros] = total
        else:
            width = count[row]
            for k in range(start[row], start[row] + width):
                deepest = max(deepest, level[operands[k]])
            for field in range(PP, OTHER_TAILS):
                made[out + field] = 0
            made[out + OTHER_TAILS] = width
            if code[row] >= 0:
                key = code[row] + 0
                for k in range(width):
                    node = operands[start[row] + k]
                    tail[tails + k] = node
                    if k < 8:
                        key |= _class(node, parameters, constants) << (16 + 2 * k)
                tails += width
                if code[row] == power and operands[start[row] + 1] >= constants:
                    key |= (operands[start[row] + 1] - constants + 1) << 32  # each exponent by itself
                made[out + KIND] = ELEMENT
                made[out + KEY] = key
            elif code[row] == TAKE:
                made[out + PAIRS] = row
                made[out + KIND] = TAKEN
                made[out + KEY] = 0
                made[out + OTHER_TAILS] = 0  # tables of any length go together
            else:
                made[out + PAIRS] = row
                made[out + KIND] = EXTREME
                made[out + KEY] = code[row]
        made[out + LEVEL] = deepest + 1
        level[first + row] = deepest + 1
        macros += 1
    results[0] = macros


def _lowest(at: Any, nodes: Any, begin: Any, length: Any, bound: Any) -> None:
    for k in range(begin, begin + length):
        if at[nodes[k]] > bound:
            at[nodes[k]] = bound


def latest(
    made: Longs, macros: int, pair_a: Ints, pair_b: Ints, tail: Ints, start: Ints, count: Ints, operands: Ints,
    last: Ints,
) -> None:  # fmt: skip
    """For each node the last level at which it may be computed, without making the whole any deeper."""
    for back in range(macros):
        out = (macros - 1 - back) * FIELDS
        bound = last[made[out + NODE]] - 1
        if made[out + KIND] >= TAKEN:
            row = made[out + PAIRS]
            _lowest(last, operands, start[row], count[row], bound)
        else:
            pairs = made[out + PP] + made[out + PO] + made[out + OO]
            _lowest(last, pair_a, made[out + PAIRS], pairs, bound)
            _lowest(last, pair_b, made[out + PAIRS], pairs, bound)
            _lowest(last, tail, made[out + TAILS], made[out + PARAMETER_TAILS] + made[out + OTHER_TAILS], bound)


def _highest(at: Any, nodes: Any, begin: Any, length: Any, so_far: Any) -> Any:
    for k in range(begin, begin + length):
        so_far = max(so_far, at[nodes[k]])
    return so_far


def settle(
    made: Longs, macros: int, pair_a: Ints, pair_b: Ints, tail: Ints, start: Ints, count: Ints, operands: Ints,
    last: Ints, level: Ints, wanted: Longs,
) -> None:  # fmt: skip
    """Levels again, with some macro-rows moved up to the level that is wanted for them, where it is not too late."""
    for macro in range(macros):
        out = macro * FIELDS
        if made[out + KIND] >= TAKEN:
            row = made[out + PAIRS]
            deepest = _highest(level, operands, start[row], count[row], 0)
        else:
            pairs = made[out + PP] + made[out + PO] + made[out + OO]
            deepest = _highest(level, pair_a, made[out + PAIRS], pairs, 0)
            deepest = _highest(level, pair_b, made[out + PAIRS], pairs, deepest)
            deepest = _highest(
                level, tail, made[out + TAILS], made[out + PARAMETER_TAILS] + made[out + OTHER_TAILS], deepest
            )
        here = deepest + 1
        if here < wanted[macro] <= last[made[out + NODE]]:
            here = wanted[macro]
        made[out + LEVEL] = here
        level[made[out + NODE]] = here


#: What the passes call: whoever compiles them compiles these along.
HELPERS = (_mixed, _class, _lowest, _highest)
