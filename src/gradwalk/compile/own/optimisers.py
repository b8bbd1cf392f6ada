"""Optimisers inside the buffer: the steps of `gradwalk.optim`, in its own order of operations, in native code.

The object is the same as ever. Its memory (velocities, running means) goes where the parameters are: while native code
has them, it lies in arrays, and comes back into lists when someone looks at it.
"""

from __future__ import annotations

import math
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gradwalk.compile.native import objects

if TYPE_CHECKING:
    from gradwalk.compile.own.store import Store
    from gradwalk.optim.optimizers import Optimizer

__all__ = ["KERNELS", "Memory", "clip_norm", "clip_value", "step"]

Floats = npt.NDArray[np.float64]

HEAD = """
def kernel(table, settings):
    where = longs(table)
    p = doubles(where[0])
    g = doubles(where[1])
    m = doubles(where[2])
    s = doubles(where[3])
    n = where[4]
    c = doubles(settings)
"""

SGD = """
    lr, momentum, nesterov, decay = c[0], c[1], c[2], c[3]
    for i in range(n):
        move = g[i]
        if decay != 0.0:
            move = move + decay * p[i]
        if momentum != 0.0:
            v = momentum * m[i] + move
            m[i] = v
            move = move + momentum * v if nesterov != 0.0 else v
        p[i] = p[i] - lr * move
"""

ADAM = """
    beta1, beta2, decay, shrink, size, least = c[0], c[1], c[2], c[3], c[4], c[5]
    new = 1.0 - beta1
    keep = 1.0 - new
    fresh = 1.0 - beta2
    for i in range(n):
        x = p[i] * shrink
        d = g[i]
        if decay != 0.0:
            d = d + decay * x
        mean = m[i] + new * (d - m[i]) if new < 0.5 else d - keep * (d - m[i])
        square = beta2 * s[i] + fresh * d * d
        m[i] = mean
        s[i] = square
        p[i] = x - size * mean / (sqrt(square) + least)
"""

SGD_SETTINGS, ADAM_SETTINGS = Struct("4d"), Struct("6d")

#: The native steps by the name of the class whose `step()` they are.
KERNELS = {"SGD": HEAD + SGD, "Adam": HEAD + ADAM}


class Memory:
    """What an optimiser remembers, in arrays beside the parameters.

    >>> import gradwalk
    >>> from gradwalk import optim
    >>> w = gradwalk.Value(1.0)
    >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5, momentum=0.9)
    >>> f(2.0).backward()
    >>> descent.step()
    >>> isinstance(descent._native, Memory), descent.velocities, descent._native
    (True, [2.0], None)
    """

    def __init__(self, optimizer: Optimizer, store: Store, where: Any) -> None:
        self.store = store
        self.values = store.values  # as long as this is the store's array, positions are what they were
        self.parameters = optimizer.parameters
        self.names = optimizer.memory
        self.whole = isinstance(where, slice)
        # Where parameters are all of the store, memory lies in its order; else everything is gathered and scattered.
        self.order = store.order(optimizer.parameters) if self.whole else where
        size = len(optimizer.parameters)
        self.arrays = [np.zeros(size) for _ in self.names]
        for name, array in zip(self.names, self.arrays, strict=True):
            array[self.order if self.whole else slice(None)] = vars(optimizer).pop(name)
        self.size = size
        self.settings = np.zeros(8)
        self.packed = self.settings.data
        self.is_adam = _kind(optimizer) == "Adam"
        self.gathered = [np.zeros(0 if self.whole else size) for _ in range(2)]
        parameters = [store.values, store.grads] if self.whole else self.gathered
        addresses = [
            array.ctypes.data for array in (*parameters, *self.arrays, *[self.settings] * (2 - len(self.arrays)))
        ]
        self.table = np.array([*addresses, size], np.int64)
        self.call = objects.call(objects.generated(f"{_kind(optimizer)} step", KERNELS[_kind(optimizer)]))
        self.addresses = self.table.ctypes.data, self.settings.ctypes.data

    def stepped(self, optimizer: Any) -> bool:
        """Take a step if parameters and memory are still where they were at the last; says whether it did.

        >>> import gradwalk
        >>> from gradwalk import optim
        >>> w = gradwalk.Value(1.0)
        >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5, momentum=0.9)
        >>> f(2.0).backward()
        >>> descent.step()
        >>> descent._native.stepped(descent)
        True
        >>> descent.velocities = [0.0]
        >>> descent._native.stepped(descent)
        False
        """
        store, state = self.store, vars(optimizer)
        with store.lock:
            if not store.owns or self.values is not store.values or self.parameters is not optimizer.parameters:
                return False
            for name in self.names:
                if name in state:  # someone has set it anew
                    return False
            return len(self.parameters) == self.size and self.step(optimizer)

    def step(self, optimizer: Any) -> bool:
        """Take a step.

        >>> import gradwalk
        >>> from gradwalk import optim
        >>> w = gradwalk.Value(1.0)
        >>> f, descent = gradwalk.compile(lambda x: w * x), optim.Adam([w], lr=0.5)
        >>> f(2.0).backward()
        >>> descent.step()
        >>> descent._native.step(descent), descent.steps
        (True, 2)
        """
        optimizer.steps += 1
        lr, decay = optimizer._lr, optimizer.weight_decay
        if self.is_adam:
            (beta1, beta2), steps = optimizer.betas, optimizer.steps
            apart = optimizer.decoupled
            root = math.sqrt(
                1.0 - beta2**steps
            )  # of what the mean of squares falls short: in both parts of the quotient
            ADAM_SETTINGS.pack_into(
                self.packed, 0, beta1, beta2, 0.0 if apart else decay, 1.0 - lr * decay if apart else 1.0,
                lr * root / (1.0 - beta1**steps), optimizer.eps * root,
            )  # fmt: skip
        else:
            SGD_SETTINGS.pack_into(self.packed, 0, lr, optimizer.momentum, optimizer.nesterov, decay)
        store = self.store
        store.changing()
        if self.whole:
            self.call(*self.addresses)
        else:
            self.gathered[0][:], self.gathered[1][:] = store.values[self.order], store.grads[self.order]
            self.call(*self.addresses)
            store.values[self.order] = self.gathered[0]
        return True

    def hand_back(self, optimizer: Optimizer) -> None:
        """Give the optimiser its lists again, except those that have been set anew meanwhile.

        >>> import gradwalk
        >>> from gradwalk import optim
        >>> w = gradwalk.Value(1.0)
        >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5, momentum=0.9)
        >>> f(2.0).backward()
        >>> descent.step()
        >>> descent._native.hand_back(descent)
        >>> vars(descent)["velocities"]
        [2.0]
        """
        optimizer._native = None
        for name, array in zip(self.names, self.arrays, strict=True):
            vars(optimizer).setdefault(name, (array[self.order] if self.whole else array).tolist())


def step(store: Store, optimizer: Any) -> bool:
    """Take an optimiser's step natively, if it is one that we know and all its parameters are here; says whether.

    >>> import gradwalk
    >>> from gradwalk import optim
    >>> w = gradwalk.Value(1.0)
    >>> f, descent = gradwalk.compile(lambda x: w * x), optim.SGD([w], lr=0.5)
    >>> f(2.0).backward()
    >>> descent.step()
    >>> w.keeper is None, w.data, w.keeper is None  # handed back as it was looked at
    (False, 0.0, True)
    """
    memory = optimizer._native
    if not _is_plain(optimizer):
        return False
    everyone = store.with_all(optimizer.parameters)
    if everyone is None:
        return False
    store = everyone
    with store.lock:
        where = store.positions(optimizer.parameters) if store.owns else None
        if where is None:
            return False
        if memory is not None:
            memory.hand_back(optimizer)
        optimizer._native = memory = Memory(optimizer, store, where)
        return memory.step(optimizer)


def _kind(optimizer: Any) -> str:
    return "Adam" if hasattr(optimizer, "betas") else "SGD"


def _is_plain(optimizer: Any) -> bool:
    """Whether gradients are taken as they are: a class of the user's own may do something else with them."""
    return str(type(optimizer).gradients.__module__) == "gradwalk.optim.optimizers"


# --- clipping ------------------------------------------------------------------------------------------------------


def clip_norm(store: Store, parameters: list[Any], limit: float) -> float | None:
    """What `optim.clip_grad_norm` does, in the buffer; None if some parameters are not there.

    >>> from gradwalk import Value
    >>> from gradwalk.compile.own.optimisers import clip_norm
    >>> from gradwalk.compile.own.store import place_of
    >>> w = Value(1.0)
    >>> w.grad = 5.0
    >>> store = place_of([w])[0].store
    >>> store.take()
    >>> clip_norm(store, [w], 1.0), round(w.grad, 6)
    (5.0, 1.0)
    """
    everyone = store.with_all(parameters)
    if everyone is None:
        return None
    store = everyone
    with store.lock:
        where = store.positions(parameters) if store.owns else None
        if where is None:
            return None
        grads = store.grads[where]
        norm = _norm(grads)
        factor = limit / (norm + 1e-6)
        if not factor >= 1.0:
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

    >>> from gradwalk import Value
    >>> from gradwalk.compile.own.optimisers import clip_value
    >>> from gradwalk.compile.own.store import place_of
    >>> w = Value(1.0)
    >>> w.grad = -5.0
    >>> store = place_of([w])[0].store
    >>> store.take()
    >>> clip_value(store, [w], 1.0), w.grad
    (True, -1.0)
    """
    everyone = store.with_all(parameters)
    if everyone is None:
        return False
    store = everyone
    with store.lock:
        where = store.positions(parameters) if store.owns else None
        if where is None:
            return False
        store.grads[where] = np.clip(store.grads[where], -limit, limit)
        return True
