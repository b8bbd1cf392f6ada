"""The types of numbers, Python's and NumPy's: which are whole, wide or narrow, and which comes of two.

A trace computes in float64. A wide number fits, an int as long as it is below 2**53; narrow ones NumPy rounds or wraps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

__all__ = [
    "BOOLS",
    "COMPARING",
    "EXACT",
    "LARGEST",
    "LIMITED",
    "LOGICAL",
    "WHOLE",
    "WIDE_INTS",
    "is_huge",
    "is_narrow",
    "is_narrow_block",
    "is_python",
    "is_too_large",
    "is_wide_block",
    "kind_after",
    "quiet_kind_after",
]

BOOLS = (bool, np.bool_)
WHOLE = (int, np.integer, *BOOLS)
LARGEST = 2**53  # below it, every int is a float
WIDE_INTS = frozenset((int, np.int64, np.longlong))  # that can be larger, and are exact all the same
LIMITED = WIDE_INTS | {np.uint64, np.ulonglong}  # that have to stay below it
_WIDE = (np.float64, np.int64, np.longlong, np.longdouble, np.bool_)
#: Functions of NumPy's that are exact for narrow numbers, op by op.
EXACT = frozenset((
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.absolute, np.less, np.less_equal,
    np.greater, np.greater_equal, np.equal, np.not_equal, np.isnan, np.isfinite, np.isinf,
))  # fmt: skip
#: Functions of NumPy's that pass nan on, or leave it out, where objects are compared.
COMPARING = frozenset(("maximum", "minimum", "fmax", "fmin", "clip"))
#: Functions of NumPy's that give truths, where Python's `and` gives one of the two.
LOGICAL = frozenset((np.logical_and, np.logical_or, np.logical_xor))


def is_narrow(kind: Any) -> bool:
    """Whether NumPy rounds or wraps numbers of this type.

    >>> import numpy as np
    >>> [is_narrow(kind) for kind in (float, np.float64, np.float32, np.uint8)]
    [False, False, True, True]
    """
    return kind is not float and kind is not int and issubclass(kind, np.number) and kind not in _WIDE


def is_narrow_block(x: Any) -> bool:
    """Whether `x` is an array, or a number, of NumPy's own of a narrow type.

    >>> import numpy as np
    >>> is_narrow_block(np.ones(2, np.float32)), is_narrow_block(np.ones(2)), is_narrow_block(2.0)
    (True, False, False)
    """
    return isinstance(x, (np.ndarray, np.generic)) and type(x).__module__ == "numpy" and is_narrow(x.dtype.type)


def is_wide_block(x: Any) -> bool:
    """Whether `x` is an array of NumPy's own with dims, of a type as wide as a trace computes.

    >>> import numpy as np
    >>> is_wide_block(np.ones(2)), is_wide_block(np.ones(2, np.float32)), is_wide_block(np.float64(2.0))
    (True, False, False)
    """
    return type(x) is np.ndarray and x.ndim > 0 and x.dtype.type in (np.float64, np.int64, np.bool_)


def is_huge(x: Any) -> bool:
    """Whether something is an int that a float need not hold.

    >>> is_huge(2**53 - 1), is_huge(-(2**53)), is_huge(1e300)
    (False, True, False)
    """
    return type(x) is int and not -LARGEST < x < LARGEST


def is_too_large(x: Any) -> bool:
    """Whether a constant of a tape, which is a float, cannot hold it.

    >>> is_too_large(np.int64(2**60)), is_too_large(2**52), is_too_large(1e300)
    (True, False, False)
    """
    return is_huge(x) or (isinstance(x, np.integer) and abs(int(x)) >= LARGEST)


def is_python(*kinds: Any) -> bool:
    """Whether arithmetic between numbers of these types raises where NumPy's gives inf or nan.

    >>> is_python(int, float), is_python(int, np.float64)
    (True, False)
    """
    return not any(issubclass(kind, np.generic) for kind in kinds)


@cache
def kind_after(question: Callable[..., Any], *kinds: Any) -> type:
    """The type of what an operator gives for numbers of these types: found by trying.

    >>> import operator
    >>> kind_after(operator.add, int, int), kind_after(operator.truediv, int, bool)
    (<class 'int'>, <class 'float'>)
    """
    return type(question(*[kind(1) for kind in kinds]))


@cache
def quiet_kind_after(ufunc: Any, *kinds: Any) -> type:
    """The same of a function of NumPy's, which may warn of what it is tried with.

    >>> quiet_kind_after(np.sign, float).__name__, quiet_kind_after(np.maximum, int, np.float64).__name__
    ('float64', 'float64')
    """
    with np.errstate(all="ignore"):
        return kind_after(ufunc, *kinds)
