"""From what a tracer wrote down to a tape: everything is numbered anew, and what the function gave is kept in shape."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import array as numpy_array  # which stays NumPy's own while a function is traced

from gradwalk import tree
from gradwalk.compile.trace.array_tape import ArrayTape
from gradwalk.compile.trace.arrays import TracedArray
from gradwalk.compile.trace.guards import Guard, add_outputs
from gradwalk.compile.trace.held import holds_stand_in
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.reach import values_reached_from
from gradwalk.compile.trace.tape import INPUTS, ROWS, SHIFT, TAKE, Tape
from gradwalk.errors import TraceError

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["Kept", "Output", "Recorded", "Shared", "TensorOutput", "finished"]


@dataclass
class Recorded:
    """What tracing gives: the tape, the parameters in the tape's order, and what the function returned.

    >>> w = Value(2.0)
    >>> found = trace(lambda x: x * w, [3.0])
    >>> found.parameters == [w], found.tape.rows
    (True, 1)
    """

    tape: Tape
    parameters: list[Any]  # Values, and tensors of so many numbers
    result: Any  # the structure that the function gave, with an `Output` for each number in it
    slots: list[int]  # for each index, which input it is
    bounds: list[int]
    used: set[int]  # the inputs that are read by any row
    given: int  # how many of the tape's outputs the function gave; those behind them belong to guards
    guards: list[Guard]
    expected: list[float]  # what the guards' outputs hold if the path is this one
    types: dict[int, type]  # inputs whose types were asked for
    ints: dict[int, int]  # … and those that are ints, computed with as such: how large they may be
    hashed: bool  # whether something may hold stand-ins by their hash
    touched: bool  # whether the function changed what it was given
    aside: tuple[str, str] = ("", "")  # what it did that a replay would not do again, and what to do instead
    labels: dict[int, str] = field(default_factory=dict)  # of Values among the outputs, by their positions
    seconds: float = 0.0
    arrays: ArrayTape | None = None  # what is done with tensors, where that was written down array by array
    graph: Any = None  # … and the graph of stand-ins that a walk back is written down from


@dataclass(frozen=True)
class Output:
    """Stands where a number will be in what the compiled function gives.

    >>> trace(lambda x: [x * x, "text"], [3.0]).result
    [Output(position=0, plain=None), 'text']
    """

    position: int
    plain: type | None = None  # for what is no Value: an argument given back, a number that was read, a truth


class Kept:
    """Stands where a list, dict or array will be that was there before the call: itself, and no copy of it.

    >>> names = ["a"]
    >>> Kept(names) == Kept(names), Kept(names) == Kept(["a"])
    (True, False)
    """

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(frozen=True)
class Shared:
    """Stands where a list, dict or array will be that has several places in the result: one for all of them.

    >>> f = gradwalk.compile(lambda x: [[x]] * 2)
    >>> y, z = f(3.0)
    >>> y is z, type(f.traces()[0].recorded.result[0]).__name__
    (True, 'Shared')
    """

    number: int
    content: Any


@dataclass(frozen=True)
class TensorOutput(Output):
    """Stands where a tensor will be: which of the tape's outputs are its numbers, or the numbers, if they are known.

    >>> w = gradwalk.Tensor([1.0, 2.0])
    >>> f = gradwalk.compile(lambda x: w * x)
    >>> y = f(3.0)
    >>> f.traces()[0].recorded.result
    TensorOutput(shape=(2,), dtype='float64', flows=True)
    """

    position: int = field(default=-1, repr=False)
    plain: type | None = field(default=None, repr=False)
    positions: bytes = field(default=b"", repr=False)
    shape: tuple[int, ...] = ()
    dtype: str = ""
    flows: bool = False
    leaf: bool = field(default=False, repr=False)  # whether it is one that the function makes
    known: bytes | None = field(default=None, repr=False)
    used: bool = field(default=False, repr=False)  # … and computes with, so that gradient may come to it


def finished(tracer: Tracer, result: Any, roots: Sequence[Any]) -> Recorded:
    """The tape of what a tracer wrote down; `roots` are where Values that outlive the trace are looked for.

    >>> tracer = Tracer()
    >>> found = finished(tracer, tracer.input(3.0) * 2.0, [])
    >>> found.tape.rows, found.result
    (1, Output(position=0, plain=None))
    """
    outputs: dict[int, int] = {}  # the position of each number that is given

    def output_of(x: Any) -> Any:
        if id(x) in tracer.outside:
            return Kept(x) if tree.is_container(x) else x
        if getattr(type(x), "many", False):
            return _output_of_tensor(tracer, x, outputs)
        if type(x) in tracer.own:  # and not isinstance, which asks what a stand-in stands for
            return Output(outputs.setdefault(x._row, len(outputs)), tracer.plain_kind(x))
        if id(x) in tracer.made and tracer.known.get(id(x), 0) >= INPUTS:  # a Value made of what comes later
            return Output(outputs.setdefault(tracer.known[id(x)], len(outputs)))
        if isinstance(x, (Iterator, set, frozenset)):
            raise TraceError(
                f"the function gave a {type(x).__name__}, which cannot be given again at each call; give a list, a "
                "tuple or a dict"
            )
        return x

    def whole(x: Any) -> bool:
        return tree.is_block(x) or id(x) in tracer.outside

    def mapped(x: Any) -> Any:
        if id(x) not in several or id(x) in tracer.outside:
            return inside(x) if type(x) is TracedArray else output_of(x)
        if id(x) not in shared:
            content = output_of(x) if whole(x) else inside(x)
            shared[id(x)] = Shared(len(shared), content)
        return shared[id(x)]

    def inside(x: Any) -> Any:
        x = x.view(np.ndarray) if type(x) is TracedArray else x
        return tree.map(mapped, x, leaf=lambda part: whole(part) or (part is not x and id(part) in several))

    if tracer.hashed:
        _tell_keys(result)
    several = set() if tracer.by_array else _several(result, whole)
    shared: dict[int, Shared] = {}
    shape = mapped(result) if whole(result) else inside(result)
    given = len(outputs)
    checked, expected = add_outputs(tracer)
    guards = list(tracer.guards.values())
    constants = _constants(tracer, [*roots, result])  # parameters that are none, with the constants that they are
    kept = [i for i in range(len(tracer.parameters)) if i not in constants]
    kept.sort(key=lambda i: i not in tracer.weights)  # weights first, so that the rows of a matrix stand side by side

    table = np.fromiter(tracer.rows, np.int64, len(tracer.rows)).reshape(-1, 3)
    code, a, b = (np.ascontiguousarray(column) for column in table.T)
    aux, ends = numpy_array(tracer.aux, np.int64), numpy_array([*outputs, *checked], np.int64)
    listed = (code < 0) | (numpy_array([op.arity for op in tracer.ops])[code] > 2)
    plain = ~listed
    for stretch in tracer.silent:
        _silence(stretch, plain, a, b, aux, ends)

    parameter = np.empty(len(tracer.parameters), np.int64)
    parameter[kept] = np.arange(len(kept))
    for i, constant in constants.items():
        parameter[i] = constant

    def renumbered(ids: Any) -> Any:
        out = np.where(ids >= ROWS, ids + (len(kept) + tracer.inputs - ROWS), ids + (len(kept) - INPUTS))
        rest = ids < INPUTS
        out[rest] = ids[rest]  # constants, and NONE
        rest &= ids >= 0
        out[rest] = parameter[ids[rest]]
        return out

    a[plain], b[plain], aux, ends = renumbered(a[plain]), renumbered(b[plain]), renumbered(aux), renumbered(ends)
    a[code == TAKE] += len(aux)
    used_ops = np.zeros(len(tracer.ops), bool)
    used_ops[code[code >= 0]] = True
    codes = np.flatnonzero(used_ops)
    code = np.where(code >= 0, np.cumsum(used_ops)[np.maximum(code, 0)] - 1, code)
    read = np.concatenate((a[plain], b[plain], aux, ends)) - len(kept)
    used_inputs = np.zeros(tracer.inputs, bool)
    used_inputs[read[(read >= 0) & (read < tracer.inputs)]] = True
    for guard in guards:
        guard.operands = tuple(renumbered(numpy_array(guard.operands, np.int64)).tolist())
    tape = Tape(
        parameters=len(kept),
        inputs=tracer.inputs,
        indices=len(tracer.slots),
        code=code.astype(np.int32),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        ops=tuple(tracer.ops[i] for i in codes),
        constants=numpy_array(tracer.constants, np.float64),
        aux=np.concatenate((aux, numpy_array(tracer.headers, np.int64))).astype(np.int32),
        outputs=ends.astype(np.int32),
    )
    arrays, graph, held = None, None, None
    if tracer.by_array:
        arrays, graph, held = tracer.tensors.finished(
            values=bool(kept or tracer.slots), renumber=lambda node: int(renumbered(numpy_array([node], np.int64))[0])
        )
    nodes = [tracer.parameters[i] for i in kept]  # a tensor once for each of its numbers, which stand together
    return Recorded(
        tape,
        held or [v for i, v in enumerate(nodes) if not i or v is not nodes[i - 1]],
        shape,
        slots=list(tracer.slots),
        bounds=tracer.bounds,
        used=set(np.flatnonzero(used_inputs).tolist()),
        given=given,
        guards=guards,
        expected=expected,
        types=tracer.types,
        ints=tracer.ints,
        hashed=tracer.hashed,
        touched=tracer.touched,
        aside=tracer.aside,
        labels={position: tracer.labels[row] for row, position in outputs.items() if row in tracer.labels},
        arrays=arrays,
        graph=graph,
    )


def _several(result: Any, leaf: Callable[[Any], bool]) -> set[int]:
    """The containers that have more than one place in a result, by id()."""
    times: Counter[int] = Counter()

    def is_known(x: Any) -> bool:
        if (tree.is_container(x) and type(x) is not tuple) or type(x) is TracedArray:
            times[id(x)] += 1
        return times[id(x)] > 1 or leaf(x)

    tree.flatten(result, is_known)
    return {x for x, count in times.items() if count > 1}


def _tell_keys(x: Any) -> None:
    """Put numbers for the stand-ins among keys of dicts that a function gave: as such, they were asked for."""
    parts: Any = x if isinstance(x, (list, tuple)) else ()
    if is_dataclass(x) and hasattr(x, "__dict__"):
        parts = list(vars(x).values())
    if isinstance(x, dict):
        parts = list(dict.values(x))
        if any(map(holds_stand_in, x)):
            items = [(_told_key(key), part) for key, part in x.items()]
            x.clear()
            for key, part in items:
                (OrderedDict if isinstance(x, OrderedDict) else dict).__setitem__(x, key, part)
    for part in parts:
        _tell_keys(part)


def _told_key(key: Any) -> Any:
    if isinstance(key, Number):
        return key._told_with_its_type()
    if isinstance(key, tuple):
        return tuple.__new__(type(key), map(_told_key, key))
    return frozenset(map(_told_key, key)) if type(key) is frozenset else key


def _output_of_tensor(tracer: Tracer, x: Any, outputs: dict[int, int]) -> Any:
    """What stands for a tensor that the function gave: itself, if it comes from outside."""
    held = x._data
    leaf = x.is_leaf and id(x) not in tracer.tensors.given
    used = leaf and x.requires_grad and id(x) in tracer.tensors.used
    output = partial(TensorOutput, shape=x.shape, dtype=x.dtype, flows=x.requires_grad, used=used)
    if tracer.by_array and hasattr(held, "row"):
        return output(position=tracer.tensors.give(x), leaf=leaf)
    if hasattr(held, "ids"):
        ids = [node if node >= 0 else tracer.row(SHIFT, tracer.listed([node]), 1) for node in held.ids.ravel().tolist()]
        at = numpy_array([outputs.setdefault(node, len(outputs)) for node in ids], np.int64)
        return output(positions=at.tobytes(), leaf=leaf)
    if tracer.reached is not None and id(x) in tracer.reached:
        return x
    return output(known=x.array.tobytes())


def _constants(tracer: Tracer, roots: Sequence[Any]) -> dict[int, int]:
    """Leaves that were made inside the function and that nobody can reach after it."""
    made = {i: v for i, v in enumerate(tracer.parameters) if id(v) in tracer.made}
    kept = {id(v) for v in values_reached_from(roots)} if made else set()
    settled = {i: tracer.constant(x) for i, x in tracer.settled.items()}  # they were given other numbers since
    return {i: tracer.constant(v._data) for i, v in made.items() if i not in settled and id(v) not in kept} | settled


def _silence(stretch: tuple[int, int, int], plain: Any, a: Any, b: Any, aux: Any, ends: Any) -> None:
    """Let everything after a stretch of rows read the copies that stand behind it, which pass on no gradient."""
    begins, stops, aux_then = stretch
    size = stops - begins
    after = plain.copy()
    after[: stops + size] = False

    def moved(ids: Any) -> Any:
        inside = (ids >= ROWS + begins) & (ids < ROWS + stops)
        return np.where(inside, ids + size, ids)

    a[after], b[after] = moved(a[after]), moved(b[after])
    aux[aux_then:] = moved(aux[aux_then:])
    ends[:] = moved(ends)
