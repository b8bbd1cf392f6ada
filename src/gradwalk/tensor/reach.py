"""Which numbers of a tensor a gradient comes to at all: what an op did not take is cut off, as it is between Values.

`where`, `maximum`, `clamp`, `max` and an index take some numbers and leave others. A Value that was left is not walked
to. Of a tensor the number that was left gets a 0, and 0 times a slope that is inf further down would be nan. So where a
graph has such ops, a mask says for each node which of its numbers a gradient comes to, and the others pass nothing on.

Masks are found only when they are needed: for a walk in numbers, if there is a nan among the gradients; for a walk that
makes a graph, always, because its own derivatives may be taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from gradwalk import ops, reverse
from gradwalk.ops import Op
from gradwalk.tensor import arrays, kernels
from gradwalk.tensor.entries import Einsum, MatMul, unbroadcast

__all__ = ["Masks", "cutting", "held", "passing", "reaching"]

Node = Any
Mask = Any  # an array of bools; None where all numbers are reached
Masks = dict[int, Mask]

#: Ops whose way back has no number of the operands in it: nothing can come of a 0 there but 0.
LINEAR = (ops.add, ops.sub, ops.neg)


class _Now(local):
    masks: Masks | None = None  # those of the walk that is under way in this thread


now = _Now()


def cutting(order: Iterable[Node]) -> bool:
    """Whether there is an op that takes some numbers and leaves others.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> cutting([x.exp()]), cutting([x.clamp(0.0, 1.0)])
    (False, True)
    """
    return any(v.many and v.primitive is not None and v.primitive.cuts for v in order)


@contextmanager
def reaching(root: Node, start: Mask = None) -> Iterator[None]:
    """A block in which walks from `root` (of which `start` says what is reached, if it is not all) heed what is cut.

    >>> x = gradwalk.Tensor([0.0, 4.0])
    >>> with reaching(x.sqrt()[1]):
    ...     now.masks is None
    False
    """
    order = reverse.order(root)
    before = now.masks
    now.masks = masks_of(order, start) if start is not None or cutting(order) else None
    try:
        yield
    finally:
        now.masks = before


def masks_of(order: list[Node], start: Mask = None) -> Masks:
    """For each node of an order, by its id, which of its numbers a gradient from the last one comes to.

    >>> x = gradwalk.Tensor([0.0, 4.0])
    >>> masks_of(reverse.order(x.sqrt()[1]))[id(x)].tolist()
    [False, True]
    """
    found: Masks = {id(order[-1]): start}
    for v in reversed(order):
        if not v.many:
            continue
        mask = found.get(id(v))
        for i, x in enumerate(v.inputs):
            if isinstance(x, float) or not x.many or not x.requires_grad:
                continue
            part = arrays.now.quietly(_passed_on, v, i, mask)
            if part is not None and arrays.now.tolist(_all(part)):
                part = None
            if id(x) in found:
                held = found[id(x)]
                part = None if part is None or held is None else arrays.now.functions["|"](held, part)
            found[id(x)] = part
    return found


def _all(mask: Mask) -> Any:
    missing = arrays.now.cast(arrays.now.functions["~"](mask), "float64")
    return arrays.now.functions["=="](arrays.now.total(missing, tuple(range(len(mask.shape))), False), 0.0)


def _passed_on(v: Node, i: int, mask: Mask) -> Mask:
    """Which numbers of operand `i` get something, if these of `v` do."""
    op, x = v.primitive, v.inputs[i]
    if op is None:  # what pushes by a closure, as a compiled function's result does, may push to all
        return None
    if isinstance(op, Op):
        part = passing(v, i, mask)
        return None if part is None else _there(unbroadcast(arrays.now.cast(part, "float64"), x.shape))
    if mask is None and not op.cuts:
        return None
    g = arrays.now.full(v.shape, 1.0, "float64") if mask is None else arrays.now.cast(mask, "float64")
    inputs = [y if isinstance(y, float) else y.array for y in v.inputs]
    if isinstance(op, (MatMul, Einsum)):
        inputs = [y if isinstance(y, float) else arrays.now.full(y.shape, 1.0, "float64") for y in inputs]
    found = op.pull(i, g, inputs, v.array)
    return None if isinstance(found, float) else _there(unbroadcast(found, x.shape))


def _there(x: Any) -> Mask:
    return arrays.now.functions["!="](x, 0.0)


def passing(v: Node, i: int, mask: Mask) -> Mask:
    """Of an op that goes number by number: which of its numbers push to operand `i`.

    >>> y = gradwalk.Tensor([1.0, 5.0]).maximum(gradwalk.Tensor([2.0, 2.0]))
    >>> passing(y, 0, None).tolist()
    [False, True]
    """
    op = v.primitive
    if not op.cuts:
        return mask
    pull = kernels.pulls(op)[i]
    numbers = [x if isinstance(x, float) else x.array for x in v.inputs]
    ones = arrays.now.full(v.shape, 1.0, v.dtype)
    slope = arrays.now.quietly(pull, ones, *numbers, v.array)
    if isinstance(slope, float):
        slope = arrays.now.full(v.shape, slope, "float64")
    taken = arrays.now.expand(_there(arrays.now.settled(slope)), v.shape)
    return taken if mask is None else arrays.now.functions["&"](taken, mask)


def held(v: Node, i: int, numbers: list[Any], masks: Masks) -> tuple[list[Any], Mask]:
    """What a share of operand `i` is computed from, and which numbers of the result count for it; None: all.

    >>> held(gradwalk.ones(2).exp(), 0, [1.0], {})
    ([1.0], None)
    """
    if isinstance(v.primitive, Op):
        return numbers, passing(v, i, masks.get(id(v)))
    return without_cut_rows(v, i, numbers, masks), None


def without_cut_rows(v: Node, i: int, numbers: list[Any], masks: Masks) -> list[Any]:
    """The operands of a matrix product, with zeros in the rows (or columns) of the other one that nothing reaches.

    A row that was left out may hold anything, as the filling of a batch does.

    >>> without_cut_rows(gradwalk.ones(2, 2) @ gradwalk.ones(2, 2), 0, [1, 2], {})
    [1, 2]
    """
    mask = masks.get(id(v))
    if mask is None or not isinstance(v.primitive, MatMul) or any(len(x.shape) == 1 for x in numbers):
        return numbers
    other = numbers[1 - i]
    across = len(mask.shape) - (1 if i else 2)  # to the right go rows of the left factor, to the left columns
    used = _there(arrays.now.total(arrays.now.cast(mask, "float64"), (across,), True))
    cleared = arrays.now.functions["choose"](used, other, 0.0)
    return [cleared if k == 1 - i else x for k, x in enumerate(numbers)]
