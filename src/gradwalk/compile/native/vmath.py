"""Functions of one number for kernels: plain arithmetic where that lets loops be vectorised, C's library otherwise.

`exp` and `tanh` have no call and no jump in them, so LLVM turns a loop over them into vector code. They are right to
about one unit in the last place, and at the edges (infinities, nan, overflow, numbers too small for full precision)
they give what `math` gives.
"""

from __future__ import annotations

import math
from typing import Any

from gradwalk.compile.native.microkernels import bits_of, fma, from_bits, inlined

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "fabs",
    "floor",
    "gamma",
    "hypot",
    "inf",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "nan",
    "power",
    "power_half",
    "power_minus_half",
    "power_minus_one",
    "power_minus_three_halves",
    "power_minus_two",
    "power_one",
    "power_three",
    "power_two",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]  # fmt: skip

inf, nan = math.inf, math.nan

# C's library, through Numba: no exceptions, IEEE's answers.
acos, acosh, asin, asinh, atan, atan2, atanh = (
    math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atan2, math.atanh,
)  # fmt: skip
ceil, copysign, cos, cosh, erf, erfc, expm1 = (
    math.ceil, math.copysign, math.cos, math.cosh, math.erf, math.erfc, math.expm1,
)  # fmt: skip
fabs, floor, gamma, hypot, lgamma, log, log10 = (
    math.fabs, math.floor, math.gamma, math.hypot, math.lgamma, math.log, math.log10,
)  # fmt: skip
log1p, log2, power, sin, sinh, sqrt, tan = math.log1p, math.log2, math.pow, math.sin, math.sinh, math.sqrt, math.tan

#: Adding and taking away 1.5 · 2⁵² rounds to a whole number, and leaves that number in the lowest bits of the sum.
ROUNDER = 6755399441055744.0
ROUNDER_BITS = 0x4338000000000000


@inlined
def exp(x: Any) -> Any:
    """e to the power of x: 2ᵏ · eʳ with |r| ≤ ln 2 / 2, and eʳ by its series.

    >>> from gradwalk.compile.native.vmath import exp
    >>> exp.py_func.__name__
    'exp'
    """
    y = x if x > -746.0 else -746.0
    y = y if y < 710.0 else 710.0
    shifted = fma(y, 1.4426950408889634, ROUNDER)
    k = shifted - ROUNDER
    # ln 2 in two parts, the first with so few digits that its product with k is exact
    r = fma(k, -0.693147180369123816490, y)
    r = fma(k, -1.90821492927058770002e-10, r)
    p = 1.6059043836821613e-10
    p = fma(p, r, 2.0876756987868099e-09)
    p = fma(p, r, 2.5052108385441720e-08)
    p = fma(p, r, 2.7557319223985893e-07)
    p = fma(p, r, 2.7557319223985888e-06)
    p = fma(p, r, 2.4801587301587302e-05)
    p = fma(p, r, 1.9841269841269841e-04)
    p = fma(p, r, 1.3888888888888889e-03)
    p = fma(p, r, 8.3333333333333332e-03)
    p = fma(p, r, 4.1666666666666664e-02)
    p = fma(p, r, 1.6666666666666666e-01)
    p = fma(p, r, 0.5)
    p = fma(p * r, r, r) + 1.0
    # 2ᵏ as a product of two powers, because the largest and smallest results are made of ones beyond a float's range
    whole = bits_of(shifted) - ROUNDER_BITS
    half = whole >> 1
    result = p * from_bits((half + 1023) << 52) * from_bits((whole - half + 1023) << 52)
    return result if x == x else x


@inlined
def tanh(x: Any) -> Any:
    """The hyperbolic tangent: a quotient of polynomials near 0, and 1 - 2 / (e²ˣ + 1) elsewhere.

    >>> from gradwalk.compile.native.vmath import tanh
    >>> tanh.py_func.__name__
    'tanh'
    """
    size = math.fabs(x)
    s = x * x
    above = fma(fma(-9.64399179425052238628e-1, s, -9.92877231001918586564e1), s, -1.61468768441708447952e3) * s
    below = fma(fma(s + 1.12811678491632931402e2, s, 2.23548839060100448583e3), s, 4.84406305325125486048e3)
    near = fma(size, above / below, size)
    far = 1.0 - 2.0 / (exp(2.0 * size) + 1.0)
    return math.copysign(near if size < 0.625 else far, x)


# --- powers ----------------------------------------------------------------------------------------------------------
# Where a root and `pow` would differ (at and below 0), `pow` decides.


@inlined
def power_one(x: Any) -> Any:
    """x¹."""
    return x


@inlined
def power_two(x: Any) -> Any:
    """x²."""
    return x * x


@inlined
def power_three(x: Any) -> Any:
    """x³."""
    return x * x * x


@inlined
def power_minus_one(x: Any) -> Any:
    """x⁻¹."""
    return 1.0 / x


@inlined
def power_minus_two(x: Any) -> Any:
    """x⁻²; the square of the inverse rather than the inverse of the square, which overflows sooner."""
    return 1.0 / (x * x)


@inlined
def power_half(x: Any) -> Any:
    """The square root."""
    return math.sqrt(x) if x > 0.0 else math.pow(x, 0.5)


@inlined
def power_minus_half(x: Any) -> Any:
    """One over the square root."""
    return 1.0 / math.sqrt(x) if x > 0.0 else math.pow(x, -0.5)


@inlined
def power_minus_three_halves(x: Any) -> Any:
    """One over x · √x."""
    return 1.0 / (x * math.sqrt(x)) if x > 0.0 else math.pow(x, -1.5)
