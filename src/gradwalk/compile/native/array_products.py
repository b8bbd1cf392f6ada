"""Large products of NumPy's matrices by tiles of our own, where these are quicker than the library that NumPy calls.

They are where the processor has vectors of 512 bits, the right side of the product stays near it, and the library has
one thread: it packs both sides first, and may not know a new processor.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from gradwalk.compile.native import objects
from gradwalk.compile.native.processor import vector_bits

__all__ = ["product_into"]

#: So many products of numbers: with less it does not matter, and with more what is packed is quicker.
LEAST, MOST = 1 << 18, 1 << 23
NEAR = 1 << 19  # bytes of the right side, which is read anew for every few rows of the left
FEWEST = 8  # columns: with less, most of a vector would be empty
#: What says how many threads the library uses; else it is as many as there are processors.
THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
KINDS = {np.dtype("float64"): "", np.dtype("float32"): "32"}


def product_into(out: Any, a: Any, b: Any) -> Callable[[], None] | None:
    """What multiplies two matrices into a third, adding up in another order than NumPy; None if NumPy is quicker.

    >>> a, b, out = np.ones((300, 30)), np.ones((30, 100)), np.zeros((300, 100))
    >>> run = product_into(out, a, b) or (lambda: np.matmul(a, b, out))
    >>> run(), out[0, 0].item()  # doctest: +ELLIPSIS
    (..., 30.0)
    """
    if not (a.ndim == b.ndim == 2 and a.dtype == b.dtype == out.dtype and a.dtype in KINDS and vector_bits() == 512):
        return None
    (rows, inner), columns, size = a.shape, b.shape[1], a.itemsize
    if columns < FEWEST or b.nbytes > NEAR:
        return None
    if not LEAST <= rows * inner * columns <= MOST or _threads() > 1:
        return None
    distances = [*a.strides, b.strides[0], out.strides[0]]
    if (b.strides[1], out.strides[1]) != (size, size) or any(distance % size for distance in distances):
        return None
    left_row, left_step, right_row, out_row = [distance // size for distance in distances]
    left, right, to = [x.ctypes.data for x in (a, b, out)]
    words = [rows, inner, columns, left, left_row, left_step, right, right_row, to, out_row]
    table = np.array(words, np.int64)
    run = objects.bound(_kernel(KINDS[a.dtype]), table.ctypes.data)
    vars(run)["given"] = table, out, a, b  # whose memory it knows by address
    return run


def _kernel(kind: str) -> objects.Native:
    given = ", ".join(f"t[{i}]" for i in range(10))
    text = f"def kernel(table, unused):\n    t = longs(table)\n    multiply{kind}({given}, 0)\n"
    return objects.generated(f"product of matrices {kind}".rstrip(), text, functions="products")


@cache
def _threads() -> int:
    """How many threads the library has."""
    for name in THREADS:
        with suppress(ValueError):
            return max(1, int(os.environ.get(name, "")))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
