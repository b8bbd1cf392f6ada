"""Arguments of a batch: trees whose lists and arrays hold one sample in each entry of their first dimension.

The other containers are structure around these, and a number that stands alone is the same for all samples. A sample is
itself any tree; the first one decides which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk import tree
from gradwalk.compile.call.arguments import SEQUENCES, Key, Numbers, is_whole, key_of
from gradwalk.compile.call.familiar import LONG, PYTHONS
from gradwalk.compile.native.pythons import array_of_all
from gradwalk.compile.trace.kinds import BOOLS
from gradwalk.compile.trace.tracer import Tracer
from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.node import Node
from gradwalk.ops import number

__all__ = [
    "BatchNumbers",
    "InPieces",
    "deep_key_of_samples",
    "is_samples",
    "is_samples_or_whole",
    "key_of_samples",
    "sample_of",
    "stand_ins_for_one",
]

ARRAY = np.ndarray


class InPieces(Exception):  # noqa: N818 (no error: it says how to go on)
    """Samples among the arguments are not in memory."""


class BatchNumbers:
    """The numbers of one call: arrays with a sample in each row, and numbers that all samples share.

    >>> numbers = BatchNumbers()
    >>> key = key_of_samples(([[1.0, 2.0], [3.0, 4.0]], 0.5), numbers)
    >>> numbers.n, numbers.arrays[0].shape, numbers.plain
    (2, (2, 2), (0.5,))
    """

    n = 0
    plain: tuple[float, ...] = ()
    plain_at: tuple[int, ...] = ()  # which of all, arrays and numbers, a plain number is
    kept: tuple[Any, ...] = ()
    values = ()  # a batch takes none
    tensors = ()  # … and takes the numbers of tensors
    mixed = False  # whether there are samples of several types: ints, floats or truths

    def __init__(self) -> None:
        self.arrays: list[Any] = []

    def add(self, array: Any) -> None:
        """One array more, with as many samples as those before."""
        n = len(array)
        if not n:
            raise InputSizeError("a batch was given no samples; give at least one")
        if n != (self.n or n):
            raise InputSizeError(f"one argument holds {self.n} samples and another {n}; give as many of each")
        self.n = n
        self.arrays.append(array)


def is_samples(x: Any) -> bool:
    """Whether the first dimension of `x` is that of the batch."""
    if getattr(type(x), "many", False):
        return bool(x.ndim)
    return (isinstance(x, list) and tree.is_container(x)) or (isinstance(x, np.ndarray) and x.ndim > 0)


def is_samples_or_whole(x: Any) -> bool:
    """Whether an argument's tree ends at `x`."""
    return is_samples(x) or is_whole(x)


def key_of_samples(x: Any, numbers: BatchNumbers) -> Key:
    """The structure of one sample of an argument, types included; the numbers of all are added to `numbers`.

    >>> key_of_samples([1.0, 2.0, 3.0], BatchNumbers())
    (<class 'list'>, <class 'float'>)
    """
    kind = x.__class__
    if kind is ARRAY:
        dtype, shape = x.dtype, x.shape
        if dtype.kind in "biuf" and shape:  # the most usual, and so the quickest
            numbers.add(x)
            return dtype.char, shape[1:]
    if getattr(kind, "many", False) and x.ndim:
        return _key_of_tensor(x, numbers)
    if kind is list or is_samples(x):
        if isinstance(x, np.memmap):
            raise InPieces
        return _key_of_entries(x, numbers)
    if kind is tuple:
        return kind, tuple([key_of_samples(part, numbers) for part in x])
    if kind is dict:
        return kind, tuple(x), tuple([key_of_samples(part, numbers) for part in x.values()])
    return deep_key_of_samples(x, numbers) if tree.is_container(x) and not is_whole(x) else _shared(x, numbers)


def deep_key_of_samples(x: Any, numbers: BatchNumbers) -> Key:
    """As `key_of_samples`, for any tree of any depth, and not as quick."""
    leaves, structure = tree.flatten(x, is_samples_or_whole)
    return structure, tuple([key_of_samples(leaf, numbers) for leaf in leaves])


def _key_of_tensor(x: Any, numbers: BatchNumbers) -> Key:
    """The key of samples in a tensor, which are numbers: no gradient flows to them."""
    if x.requires_grad:
        raise SettingError(
            "a batch gives its samples no gradients, and this tensor wants them; give Tensor(data, requires_grad=False)"
        )
    numbers.add(x.array)
    return "Tensor", x.dtype, x.shape[1:]


def _key_of_entries(x: Any, numbers: BatchNumbers) -> Key:
    kind = x.__class__
    if kind is not list and (why := tree.refusal(x)):
        raise NotANumberError(why)
    samples = x if kind is list else list(x)
    try:
        array = _many_alike(samples)
        if array is None:
            array = np.asarray(samples)
    except ValueError:  # parts of several shapes, which may be those of each sample
        return kind, _key_of_trees(samples, numbers)
    if array.dtype.kind in "biuf":
        if array.ndim == 1:
            numbers.add(array)
            kinds = {*map(type, samples)}
            numbers.mixed = numbers.mixed or len(kinds) > 1
            return kind, array.dtype.char if len(kinds) > 1 else kinds.pop()
        first = Numbers()
        key = key_of(samples[0], first)
        if array.size == len(array) * (first.count() + sum([part.size for part in first.arrays])):
            numbers.add(array)
            return kind, key, array.dtype.kind, array.shape[1:]
    return kind, _key_of_trees(samples, numbers)


def _many_alike(samples: list[Any]) -> Any:
    """An array of many samples that seem to be floats or ints, or rows of these, all as long; None if they are not."""
    first: Any = samples[0] if len(samples) >= LONG else None
    if first.__class__ in SEQUENCES and first:
        first = first[0]
    return array_of_all(samples, first.__class__) if first.__class__ in PYTHONS else None


def _key_of_trees(samples: list[Any], numbers: BatchNumbers) -> Key:
    """The key of samples that are not just numbers in rows: all must be trees of one structure."""
    flat = [tree.flatten(sample, is_whole) for sample in samples]
    structure = flat[0][1]
    if any(other != structure for _, other in flat) or not any(
        tree.is_number(x) or tree.is_block(x) for x in flat[0][0]
    ):
        raise _mixed()
    keys: list[Key] = []
    for column, path in zip(zip(*[leaves for leaves, _ in flat], strict=True), structure.paths("sample"), strict=True):
        first = column[0]
        if isinstance(first, Value):
            keys.append(_shared(first, numbers))
        elif tree.is_number(first) or tree.is_block(first):
            try:
                array = np.asarray(column)
            except ValueError:
                raise _mixed() from None
            if array.dtype.kind not in "biuf":
                raise _mixed()
            numbers.add(array)
            keys.append((array.dtype.kind, array.shape[1:]))
        elif all(part is first or part == first for part in column):
            keys.append(_shared(first, numbers))
        else:
            raise NotANumberError(f"{path} is no number, and so must be the same in all samples of a batch")
    return structure, tuple(keys)


def _mixed() -> NotANumberError:
    return NotANumberError(
        "the samples of a batch are numbers, or trees or arrays of numbers, all of one shape; put samples of one shape "
        "into one batch"
    )


def _shared(x: Any, numbers: BatchNumbers) -> Key:
    """The key of what is the same for all samples."""
    if hasattr(x, "__dask_graph__"):
        raise InPieces
    if isinstance(x, Node):
        what = "tensors of no dims" if x.many else "Values"
        raise SettingError(f"a batch takes numbers, not {what}; let the function reach its parameters by itself")
    if tree.is_number(x) and not isinstance(x, BOOLS):
        numbers.plain_at += (len(numbers.arrays) + len(numbers.plain),)
        numbers.plain += (number(x),)
        return 0, x.__class__
    found = Numbers()
    key = key_of(x, found)
    numbers.kept += found.kept
    return key


def stand_ins_for_one(x: Any, recorder: Tracer) -> Any:
    """An argument as the function sees it while it is traced for one sample."""

    def stand_in(leaf: Any) -> Any:
        if getattr(type(leaf), "many", False):
            return recorder.tensors.argument(leaf, leaf.array)
        if tree.is_number(leaf):
            return recorder.input(leaf)
        return recorder.inputs_like(leaf) if tree.is_block(leaf) else leaf

    def stand_ins(leaf: Any) -> Any:
        if isinstance(leaf, BOOLS):  # the same for all samples
            return leaf
        return tree.map(stand_in, leaf[0] if is_samples(leaf) else leaf, leaf=is_whole)

    return tree.map(stand_ins, x, leaf=is_samples_or_whole)


def sample_of(x: Any, i: int) -> Any:
    """One sample of an argument.

    >>> sample_of(([1.0, 2.0], {"a": [[3.0], [4.0]], "b": 5.0}), 1)
    (2.0, {'a': [4.0], 'b': 5.0})
    """
    return tree.map(lambda leaf: leaf[i] if is_samples(leaf) else leaf, x, leaf=is_samples_or_whole)
