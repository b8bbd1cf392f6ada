"""Between one node for many numbers and one node for each: the same computation as Values, and Values as a tensor.

Unrolled, every number of a tensor is a Value, and an op on arrays is many ops of the table. That is what a tensor
stands for; it is also a check of every entry, because the engine knows nothing of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import reduce
from itertools import pairwise, product
from typing import Any

from gradwalk import functions, modes, ops, reverse, walk
from gradwalk.engine import Value
from gradwalk.errors import GraphError
from gradwalk.ops import Op
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import FLOAT64, INT64
from gradwalk.tensor.core import Tensor, node
from gradwalk.tensor.entries import Concat, CumSum, Einsum, Entry, Index, MatMul, Max, Pad, Scatter, Sum
from gradwalk.tensor.shapes import Shape, broadcast, refuse_depth, shape_error, size_of

__all__ = ["joined", "unrolled", "unrolled_from"]

Flat = list[Any]  # a Value or float for each number, in the order of reading
Done = dict[Any, Flat]  # of each node, tensor or Value


# --- Values as a tensor ----------------------------------------------------------------------------------------------


class Of(Entry):
    """Many Values as one node; back, each gets its own number."""

    __slots__ = ("_last", "shape")
    name = "of"

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._last: Any = (None, [])

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        """The number of `g` that belongs to Value `i`.

        >>> a = Value(2.0)
        >>> Tensor.of([a, a]).sum().backward()
        >>> a.grad
        2.0
        """
        if self._last[0] is not g:
            self._last = g, arrays.now.tolist(arrays.now.reshape(g, (size_of(self.shape),)))
        return float(self._last[1][i])


def joined(values: Any) -> Tensor:
    """What `Tensor.of` gives: one node of many Values.

    >>> a, b = Value(2.0), Value(3.0)
    >>> t = joined([a, b])
    >>> (t * t).sum().backward()
    >>> a.grad, b.grad
    (4.0, 6.0)
    """
    nested = values.tolist() if hasattr(values, "tolist") else values
    flat: Flat = []
    shape = _laid_out(nested, flat)
    if modes.active and not modes.knows_numbers():
        return modes.top().apply(Of(shape), tuple(flat))  # type: ignore[no-any-return]
    data = arrays.now.reshape(arrays.now.new([x.data if isinstance(x, Value) else x for x in flat], FLOAT64), shape)
    return node(Of(shape), data, tuple(flat))


def _laid_out(nested: Any, flat: Flat, depth: int = 0) -> Shape:
    refuse_depth(depth)
    if not isinstance(nested, (list, tuple)):
        if isinstance(nested, Tensor):
            raise GraphError("Tensor.of takes Values; tensors are put together with gradwalk.stack or gradwalk.cat")
        flat.append(nested if isinstance(nested, Value) or ops.comes_later(nested) else ops.number(nested))
        return ()
    shapes = [_laid_out(part, flat, depth + 1) for part in nested]
    if len(set(shapes)) > 1:
        other = next(shape for shape in shapes if shape != shapes[0])
        raise shape_error(f"Tensor.of takes rows of one shape, and was given {shapes[0]} and {other}")
    return (len(nested), *(shapes[0] if shapes else ()))


# --- a tensor as Values ----------------------------------------------------------------------------------------------


def unrolled(root: Tensor) -> tuple[Any, dict[Tensor, Flat]]:
    """A tensor as nested lists of Values, and the Values of each leaf below it.

    >>> x = Tensor([1.0, 2.0])
    >>> total, leaves = unrolled((x * x).sum())
    >>> total.backward()
    >>> [v.grad for v in leaves[x]]
    [2.0, 4.0]
    """
    leaves: dict[Tensor, Flat] = {}

    def as_values(leaf: Any) -> Flat:
        if isinstance(leaf, Value):
            return [leaf]
        leaves[leaf] = [Value(x) for x in _numbers(leaf)]
        return leaves[leaf]

    done = unrolled_from(root, as_values)
    flat = [x if isinstance(x, Value) else Value(x) for x in done.get(root) or map(Value, _numbers(root))]
    return _nested(flat, root.shape), leaves


def unrolled_from(
    root: Tensor, begin: Callable[[Any], Flat], add: Callable[[Flat], Any] | None = None, stops: Container[Any] = ()
) -> Done:
    """For each node that gradient flows to, its numbers one by one, from what `begin` gives for leaves and Values.

    What stays a plain number there stays one all the way up. `add` is how the numbers of a sum are added; `stops` are
    tensors that were computed and are begun from as if they were leaves.

    >>> x = Tensor([1.0, 2.0])
    >>> y = x * x
    >>> unrolled_from(y, lambda leaf: leaf.tolist())[y]
    [1.0, 4.0]
    """
    if not root.dtype.startswith("float"):
        raise GraphError(f"scalars() is for floats, and this tensor is of {root.dtype}")
    done: Done = {}
    for v in reverse.order(root):
        if isinstance(v, Value) or v.is_leaf or v in stops:
            done[v] = begin(v)
        elif v.primitive is None:
            raise GraphError(
                f"{walk.describe(v)} cannot be taken apart into single numbers: compiled code gave it, or it has a "
                "_backward of its own; call fn.eager(...), which builds the ordinary graph, or define the operation "
                "with @gradwalk.op"
            )
        else:
            parts = [done.get(x) or _numbers(x) if isinstance(x, (Tensor, Value)) else [x] for x in v.inputs]
            shapes = [x.shape if isinstance(x, Tensor) else () for x in v.inputs]
            done[v] = _unroll(v.primitive, parts, shapes, v.shape, add or _sum)
    return done


def _numbers(x: Any) -> Flat:
    if isinstance(x, Value):
        return [x.data]
    flat = arrays.now.reshape(x.array, (size_of(x.shape),))
    return [float(number) for number in arrays.now.tolist(flat)]


def _nested(flat: Flat, shape: Shape) -> Any:
    if not shape:
        return flat[0]
    step = size_of(shape[1:])
    return [_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _places(shape: Shape) -> Any:
    """An array in which each number is its own place in the order of reading."""
    return arrays.now.reshape(arrays.now.new(list(range(size_of(shape))), INT64), shape)


def _flat_places(array: Any) -> list[int]:
    return arrays.now.tolist(arrays.now.reshape(array, (array.size,)))  # type: ignore[no-any-return]


def _rows(shape: Shape, axes: Shape) -> list[list[int]]:
    """For each place along the other axes, the places that a reduction over `axes` takes together."""
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
    turned = arrays.now.permute(_places(shape), (*kept, *axes))
    n = size_of([shape[axis] for axis in axes])
    flat = _flat_places(turned)
    count = size_of([shape[axis] for axis in kept])
    return [flat[i * n : (i + 1) * n] for i in range(count)]


def _sum(row: Flat) -> Any:
    return reduce(lambda x, y: x + y, row) if row else 0.0


def _unroll(op: Any, parts: list[Flat], shapes: list[Shape], shape: Shape, add: Callable[[Flat], Any]) -> Flat:
    """One op on arrays as ops on numbers."""
    provider = arrays.now
    if isinstance(op, Op):
        columns = [
            [part[place] for place in _flat_places(provider.expand(_places(own), shape))]
            for part, own in zip(parts, shapes, strict=True)
        ]
        return [op(*row) for row in zip(*columns, strict=True)]
    first = parts[0]
    match op:
        case Sum():
            return [add([first[i] for i in row]) for row in _rows(shapes[0], op.axes)]
        case Max():
            return [functions.max([first[i] for i in row]) for row in _rows(shapes[0], op.axes)]
        case CumSum():
            out = list(first)
            for row in _rows(shapes[0], (op.axis,)):
                for before, at in pairwise(row):
                    out[at] = out[before] + out[at]
            return out
        case MatMul():
            return _products(parts, shapes, add)
        case Einsum():
            return _einsum(op, parts, shapes, add)
        case Scatter():
            out = [0.0] * size_of(shape)
            for place, x in zip(_flat_places(Index(op.basic, op.wholes)(_places(shape))), first, strict=True):
                out[place] = x if out[place].__class__ is float and out[place] == 0.0 else out[place] + x
            return out
        case Pad():
            out = [op.x] * size_of(shape)
            inside = Index(tuple(slice(low, low + n) for (low, _), n in zip(op.widths, shapes[0], strict=True)))
            for place, x in zip(_flat_places(inside(_places(shape))), first, strict=True):
                out[place] = x
            return out
        case Concat():
            starts = [sum(map(len, parts[:i])) for i in range(len(parts))]
            places = [provider.functions["+"](_places(own), start) for own, start in zip(shapes, starts, strict=True)]
            together = [x for part in parts for x in part]
            return [together[i] for i in _flat_places(provider.concat(places, op.axis))]
        case Of():
            return [x for part in parts for x in part]
    # What only moves numbers about, or repeats them: see where each place goes.
    return [first[i] for i in _flat_places(op.value(_places(shapes[0])) if op.name != "to" else _places(shape))]


def _products(parts: list[Flat], shapes: list[Shape], add: Callable[[Flat], Any]) -> Flat:
    (a, b), (left, right) = parts, shapes
    rows = left if len(left) > 1 else (1, *left)
    columns = right if len(right) > 1 else (*right, 1)
    batch = broadcast([rows[:-2], columns[:-2]])
    m, k, n = rows[-2], rows[-1], columns[-1]
    at_left = _flat_places(arrays.now.expand(arrays.now.reshape(_places(left), rows), (*batch, m, k)))
    at_right = _flat_places(arrays.now.expand(arrays.now.reshape(_places(right), columns), (*batch, k, n)))
    return [
        add([a[at_left[(z * m + i) * k + j]] * b[at_right[(z * k + j) * n + c]] for j in range(k)])
        for z, i, c in product(range(size_of(batch)), range(m), range(n))
    ]


def _einsum(op: Einsum, parts: list[Flat], shapes: list[Shape], add: Callable[[Flat], Any]) -> Flat:
    sizes = {
        letter: n for term, shape in zip(op.terms, shapes, strict=True) for letter, n in zip(term, shape, strict=True)
    }
    summed = [letter for letter in sizes if letter not in op.result]
    out = []
    for outer in product(*[range(sizes[letter]) for letter in op.result]):
        row = []
        for inner in product(*[range(sizes[letter]) for letter in summed]):
            at = dict(zip([*op.result, *summed], (*outer, *inner), strict=True))
            factors = []
            for term, part, shape in zip(op.terms, parts, shapes, strict=True):
                place = 0
                for letter, n in zip(term, shape, strict=True):
                    place = place * n + at[letter]
                factors.append(part[place])
            row.append(reduce(lambda x, y: x * y, factors))
        out.append(add(row))
    return out
