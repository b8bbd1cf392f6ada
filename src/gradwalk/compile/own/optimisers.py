"""Optimisers inside the buffer: their rules as native loops. Whatever has no rule is stepped by its own code.

The object is the same as ever. Its memory (velocities, running means) goes where the parameters are: while native code
has them, it lies in arrays, and comes back into lists when someone looks at it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from struct import Struct
from struct import error as StructError  # noqa: N812 (it is a class)
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk import formulas
from gradwalk.compile.native import objects
from gradwalk.compile.native.language import numba_language
from gradwalk.compile.native.objects import Native
from gradwalk.compile.own.tensors import Floats
from gradwalk.formulas.lines import indented
from gradwalk.keepers import Leaves, Seen
from gradwalk.optim.loops import written

if TYPE_CHECKING:
    from gradwalk.compile.own.store import Store
    from gradwalk.optim.optimizers import Optimizer

__all__ = ["Memory", "all_reduce", "clip_norm", "clip_value", "step"]

FLOATS = frozenset((float,))
OURS = "gradwalk.optim.optimizers"


class Memory:
    """What an optimiser remembers, in arrays beside the parameters.

    >>> w = gradwalk.Value(1.0)
    >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5, momentum=0.9)
    >>> f(2.0).backward()
    >>> descent.step()
    >>> isinstance(descent._keeper, Memory), "velocities" in vars(descent)
    (True, False)
    >>> descent.velocities, descent._keeper
    ([2.0], None)
    """

    def __init__(
        self, optimizer: Optimizer, store: Store, where: Any, kernel: Native, columns: list[Floats], count: int
    ) -> None:
        self.store, self.zero_grad = store, store.zero_grad
        self.values = store.values  # as long as this is the store's array, positions are what they were
        self.parameters = Seen(optimizer.parameters)
        self.whose = [*optimizer.parameters]  # as that list may be another by the time that memory is handed back
        self.names = optimizer.memory
        self.kernel = kernel
        self.update = optimizer.update
        self.own = getattr(self.update, "__module__", "") == OURS  # a rule of gradwalk's names nothing that may change
        self.whole = isinstance(where, slice)
        # Where parameters are all of the store, memory lies in its order; else everything is gathered and scattered.
        self.order = store.order(optimizer.parameters) if self.whole else where
        self.sizes = _sizes(optimizer.parameters, store)
        self.size = sum(self.sizes)
        self.arrays = [np.zeros(self.size, store.dtype) for _ in self.names]
        self.before = [vars(optimizer)[name] for name in self.names]
        for array, column in zip(self.arrays, columns, strict=True):
            array[self.order if self.whole else slice(None)] = column
        self.gathered = [np.zeros(0 if self.whole else self.size, store.dtype) for _ in range(2)]
        used = [*([store.values, store.grads] if self.whole else self.gathered), *self.arrays]
        self.table = np.array([self.size, *(array.ctypes.data for array in used)], np.int64)
        self.settings = np.zeros(count)
        self.pack = partial(Struct(f"{count}d").pack_into, self.settings.data, 0)
        self.run = objects.bound(kernel, self.table.ctypes.data, self.settings.ctypes.data)
        self.step = self._quick_step()  # type: ignore[method-assign, assignment]

    def step(self, optimizer: Any, constants: tuple[Any, ...]) -> bool:
        """Take a step if parameters, memory and rule are still what they were at the last; says whether it did.

        >>> w = gradwalk.Value(1.0)
        >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5, momentum=0.9)
        >>> f(2.0).backward()
        >>> descent.step()
        >>> memory = descent._keeper
        >>> memory.step(descent, descent.constants())
        True
        >>> descent.velocities = [0.0]
        >>> memory.step(descent, descent.constants())
        False
        """
        return self._quick_step()(optimizer, constants)

    def _quick_step(self) -> Callable[[Any, tuple[Any, ...]], bool]:
        """What `step` does, with all that it needs at hand."""
        store, values, tensors, update = self.store, self.values, self.store.tensors, self.update
        seen, leaves, then = self.parameters, self.parameters.leaves, self.parameters.then
        counted = leaves.__class__ is Leaves
        own, names, whole, order, gathered = self.own, (*self.names, "gradients"), self.whole, self.order, self.gathered
        acquire, release, pack, run = store.lock.acquire, store.lock.release, self.pack, self.run

        def step(optimizer: Any, constants: tuple[Any, ...]) -> bool:
            acquire()
            try:
                if not store.owns or store.values is not values or optimizer.parameters is not leaves:
                    return False
                if leaves.changes != then if counted else not seen.holds(leaves):  # the first without the call
                    return False
                if tensors.stepped_in_python:
                    return False
                if not optimizer.__dict__.keys().isdisjoint(names):  # set anew; no loop, as in `reverse`
                    return False
                if not (own and optimizer.update is update) and self.kernel is not kernel_of(
                    optimizer, constants, store.dtype
                ):
                    return False
                try:
                    pack(*constants)
                except StructError:
                    return False  # they are not all numbers
                store.changing()
                if whole:
                    run()
                else:
                    gathered[0][:], gathered[1][:] = values[order], store.grads[order]
                    run()
                    values[order] = gathered[0]
                return True
            finally:
                release()

        return step

    def hand_back(self, optimizer: Optimizer) -> None:
        """Give the optimiser its lists again, except those that have been set anew meanwhile.

        >>> w = gradwalk.Value(1.0)
        >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5, momentum=0.9)
        >>> f(2.0).backward()
        >>> descent.step()
        >>> descent._keeper.hand_back(descent)
        >>> vars(descent)["velocities"]
        [2.0]
        """
        columns = [array[self.order] if self.whole else array for array in self.arrays]
        lists = [
            _as_they_were(column, self.whose, self.sizes, before)
            for column, before in zip(columns, self.before, strict=True)
        ]
        state = vars(optimizer)
        missing = {name: x for name, x in zip(self.names, lists, strict=True) if name not in state}
        state.update(missing, _keeper=None)  # in one step: Ctrl-C is heard before or after it


def step(store: Store, optimizer: Any, constants: tuple[Any, ...]) -> bool:
    """Take an optimiser's step natively, if its rule can be compiled and all its parameters are here; says whether.

    >>> w = gradwalk.Value(1.0)
    >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5)
    >>> f(2.0).backward()
    >>> descent.step()
    >>> w.keeper is None, w.data, w.keeper is None  # handed back as it was looked at
    (False, 0.0, True)
    """
    kernel = kernel_of(optimizer, constants, store.dtype)
    if kernel is None:
        return False
    if optimizer._keeper is not None:
        optimizer._keeper.hand_back(optimizer)
    everyone = store.with_all(optimizer.parameters)
    if everyone is None:
        return False
    store = everyone
    with store.lock:
        where = store.positions(optimizer.parameters) if store.owns else None
        columns = [_column(vars(optimizer).get(name), optimizer.parameters, store) for name in optimizer.memory]
        size = sum(_sizes(optimizer.parameters, store))
        if where is None or store.tensors.stepped_in_python or not {*map(len, columns)} <= {size}:
            return False
        memory = Memory(optimizer, store, where, kernel, columns, len(constants))
        optimizer._leave_to(memory, memory.names)
        return memory.step(optimizer, constants)


def _sizes(parameters: list[Any], store: Store) -> list[int]:
    """How many numbers each parameter has."""
    if not store.tensors:
        return [1] * len(parameters)
    return [math.prod(_shape(p)) if p.many else 1 for p in parameters]


def _shape(p: Any) -> tuple[int, ...]:
    """The shape of a tensor, which need not be handed back for it."""
    keeper = p.keeper
    return keeper.tensors.shape_of(p) if keeper is not None else p.shape  # type: ignore[no-any-return]


def _column(given: Any, parameters: list[Any], store: Store) -> Floats:
    """What an optimiser remembers, one number after another; empty if it is nothing of the kind."""
    if not isinstance(given, list) or len(given) != len(parameters):
        return np.zeros(0)
    if not store.tensors:
        if FLOATS.issuperset(map(type, given)):
            return np.fromiter(given, np.float64, len(given))
        return np.array(given if all(isinstance(x, (int, float)) for x in given) else [], np.float64)
    parts = []
    for x, p in zip(given, parameters, strict=True):
        size = math.prod(_shape(p)) if p.many else 1
        if isinstance(x, (int, float)):
            parts.append(np.full(size, x, np.float64))
        elif p.many and getattr(x, "many", False) and x.shape == _shape(p):
            parts.append(np.asarray(x.array, np.float64).ravel())
        else:
            return np.zeros(0)
    return np.concatenate(parts)


def _as_they_were(column: Floats, parameters: list[Any], sizes: list[int], before: list[Any]) -> list[Any]:
    """What an optimiser remembers as its list has it: numbers, and tensors for tensors; one number as long as it is."""
    if not any(p.many for p in parameters):
        return [*column.tolist()]
    found: list[Any] = []
    start = 0
    for p, size, then in zip(parameters, sizes, before, strict=True):
        part = column[start : start + size]
        start += size
        if p.many and not (isinstance(then, float) and (part == then).all()):
            found.append(p._as_node(part.reshape(_shape(p)).copy()))
        else:
            found.append(float(part[0]) if size else then)
    return found


def kernel_of(optimizer: Any, constants: tuple[Any, ...], dtype: str) -> Native | None:
    """The native loop of an optimiser's rule; None if there is none, or if its gradients are not the parameters'."""
    if optimizer.gradients.__module__ != OURS:
        return None
    return _kernel(optimizer.update, len(optimizer.memory), len(constants), dtype)


@formulas.for_closed_rules
def _kernel(update: Any, kept: int, count: int, dtype: str) -> Native:
    """The native loop of a rule: its addresses are the number of parameters and the arrays, and the constants.

    What depends on constants alone is worked out in float64, and rounded where it meets numbers of float32, as NumPy
    does it.
    """
    memory, constants = [f"m{i}" for i in range(kept)], [f"c{i}" for i in range(count)]
    arrays = {"x": "xs", "g": "gs", **{name: f"{name}s" for name in memory}}

    def around(lines: list[str], names: list[str]) -> list[str]:
        reads = [f"{name} = {array}[i]" for name, array in arrays.items()]
        writes = [f"{array}[i] = {new}" for array, new in zip(["xs", *(f"{m}s" for m in memory)], names, strict=True)]
        before = []
        if single:
            assigned = {line.split(" = ")[0] for line in lines}
            for name in sorted({*re.findall(r"\b[ct]\d+\b", " ".join([*lines, *writes]))} - assigned):
                before.append(f"once_{name} = float32({name})")
                lines, writes = ([re.sub(rf"\b{name}\b", f"once_{name}", x) for x in part] for part in (lines, writes))
        return [*before, "for i in range(n):", *indented([*reads, *lines, *writes])]

    single = dtype == "float32"
    head = ["where = longs(table)", "n = where[0]", "c = doubles(settings)"]
    read = "floats" if single else "doubles"
    head += [f"{array} = {read}(where[{i}])" for i, array in enumerate(arrays.values(), start=1)]
    head += [f"c{i} = c[{i}]" for i in range(count)]
    loop = written(update, memory, constants, around, numba_language(dtype), inverses=True)
    text = "\n".join(["def kernel(table, settings):", *indented([*head, *loop])]) + "\n"
    return objects.generated(
        f"step of {update.__qualname__} in {dtype}", text, functions="vmath32" if single else "vmath"
    )


def all_reduce(store: Store, parameters: list[Any], add_up: Any) -> bool:
    """Let a function add gradients up over processes, in the buffer; says whether they are all there.

    The function sees them in the order of the list, which is the same in all processes; the buffer's may not be.

    >>> from gradwalk.compile.own.store import stretch_of
    >>> w = Value(1.0)
    >>> w.grad = 5.0
    >>> store = stretch_of([w])[0].store
    >>> store.take()
    >>> all_reduce(store, [w], lambda numbers: numbers.__imul__(2.0)), w.grad
    (True, 10.0)
    """
    with _gradients(store, parameters) as held:
        if held is None:
            return False
        store, where = held
        order = store.order(parameters) if isinstance(where, slice) else where
        numbers = store.grads[order]
        add_up(numbers)
        store.grads[order] = numbers
        return True


@contextmanager
def _gradients(store: Store, parameters: list[Any]) -> Iterator[tuple[Store, Any] | None]:
    """The store that owns all of these and where they stand in it, for the length of a block; None if it does not."""
    everyone = store.with_all(parameters)
    if everyone is None:
        yield None
        return
    with everyone.lock:
        natively = everyone.owns and not everyone.tensors.stepped_in_python
        where = everyone.positions(parameters) if natively else None
        everyone.by_hand, everyone.zeroed = 0, False
        yield None if where is None else (everyone, where)


# --- clipping ------------------------------------------------------------------------------------------------------


def clip_norm(store: Store, parameters: list[Any], limit: float) -> float | None:
    """What `optim.clip_grad_norm` does, in the buffer; None if some parameters are not there.

    >>> from gradwalk.compile.own.store import stretch_of
    >>> w = Value(1.0)
    >>> w.grad = 5.0
    >>> store = stretch_of([w])[0].store
    >>> store.take()
    >>> clip_norm(store, [w], 1.0), round(w.grad, 6)
    (5.0, 1.0)
    """
    with _gradients(store, parameters) as held:
        if held is None:
            return None
        store, where = held
        grads = store.grads[where]
        norm = _norm(grads)
        factor = limit / (norm + 1e-6)
        if not factor >= 1.0:
            with np.errstate(invalid="ignore"):  # a gradient that is inf becomes nan, as in Python, without a word
                store.grads[where] = grads * factor
        return norm


def _norm(grads: Floats) -> float:
    if np.isnan(grads).any():
        return math.nan
    largest = float(np.abs(grads).max())
    if largest == 0.0 or math.isinf(largest):
        return largest
    return largest * math.sqrt(float(np.square(grads / largest).sum()))  # does not overflow where squares would


def clip_value(store: Store, parameters: list[Any], limit: float) -> bool:
    """What `optim.clip_grad_value` does, in the buffer; says whether it could.

    >>> from gradwalk.compile.own.store import stretch_of
    >>> w = Value(1.0)
    >>> w.grad = -5.0
    >>> store = stretch_of([w])[0].store
    >>> store.take()
    >>> clip_value(store, [w], 1.0), w.grad
    (True, -1.0)
    """
    with _gradients(store, parameters) as held:
        if held is None:
            return False
        store, where = held
        store.grads[where] = np.clip(store.grads[where], -limit, limit)
        return True
