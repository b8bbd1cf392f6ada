"""Functions of one number for kernels: plain arithmetic where that lets loops be vectorised, C's library otherwise.

`exp` and `tanh` have no call and no jump in them, so LLVM turns a loop over them into vector code. They are right to
about one unit in the last place (two in float32), and at the edges (infinities, nan, overflow, numbers too small for
full precision) they give what `math` gives.
"""

from __future__ import annotations

import math
from typing import Any

from numpy import float64, int32, int64

from gradwalk.compile.native.microkernels import bits_of, bits_of32, fma, from_bits, from_bits32, inlined

__all__ = ["functions"]

#: C's library, through Numba: no exceptions, IEEE's answers.
LIBRARY = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "erf", "erfc",
           "expm1", "fabs", "floor", "gamma", "hypot", "inf", "lgamma", "log", "log10", "log1p", "log2", "nan", "sin",
           "sinh", "sqrt", "tan")  # fmt: skip


def functions(real: Any) -> dict[str, Any]:
    """The functions for `real`, NumPy's float64 or float32, by name.

    >>> import numpy
    >>> float(functions(numpy.float32)["power_minus_two"].py_func(numpy.float32(2.0)))
    0.25
    """
    double = real is float64
    integer, bits, of_bits = (int64, bits_of, from_bits) if double else (int32, bits_of32, from_bits32)
    zero, half, one, two = map(real, (0.0, 0.5, 1.0, 2.0))
    lowest, highest = map(real, (-746.0, 710.0) if double else (-104.0, 89.0))
    # Adding and taking away 1.5 · 2⁵² (or 2²³) rounds to a whole number, and leaves it in the lowest bits of the sum.
    rounder, rounder_bits = real(1.5 * 2.0 ** (52 if double else 23)), 0x4338000000000000 if double else 0x4B400000
    digits, bias = (52, 1023) if double else (23, 127)
    # ln 2 in two parts, the first with so few digits that its product with k is exact
    ln2_high, ln2_low = map(real, (-0.693147180369123816490, -1.90821492927058770002e-10) if double
                            else (-0.693359375, 2.12194440e-4))  # fmt: skip
    per_ln2 = real(1.4426950408889634)
    e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13 = (real(1.0 / math.factorial(k)) for k in range(2, 14))

    @inlined
    def exp(x: Any) -> Any:
        """2ᵏ · eʳ with |r| ≤ ln 2 / 2, and eʳ by its series."""
        y = x if x > lowest else zero  # not the lowest: a product that becomes too small for a float takes long
        y = y if y < highest else highest
        shifted = fma(y, per_ln2, rounder)
        k = shifted - rounder
        r = fma(k, ln2_low, fma(k, ln2_high, y))
        p = e7
        if double:
            p = fma(fma(fma(fma(fma(fma(e13, r, e12), r, e11), r, e10), r, e9), r, e8), r, e7)
        p = fma(fma(fma(fma(fma(p, r, e6), r, e5), r, e4), r, e3), r, e2)
        p = fma(p * r, r, r) + one
        # 2ᵏ as a product of two powers, because the largest and smallest results need one beyond a float's range
        whole = integer(bits(shifted) - rounder_bits)
        part = integer(whole >> 1)
        result = p * of_bits(integer((part + bias) << digits)) * of_bits(integer((whole - part + bias) << digits))
        result = result if x > lowest else zero
        return result if x == x else x

    near_zero = real(0.625)
    t1, t2, t3 = map(real, (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3))
    b1, b2, b3 = map(real, (1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3))

    @inlined
    def tanh(x: Any) -> Any:
        """A quotient of polynomials near 0, and 1 - 2 / (e²ˣ + 1) elsewhere."""
        size = math.fabs(x)
        s = x * x
        above = fma(fma(t1, s, t2), s, t3) * s
        below = fma(fma(s + b1, s, b2), s, b3)
        near = fma(size, above / below, size)
        far = one - two / (exp(two * size) + one)
        return math.copysign(near if size < near_zero else far, x)

    # Where a root and `pow` would differ (at and below 0), `pow` decides.
    minus_half, minus_three_halves = real(-0.5), real(-1.5)
    powers = {
        "one": lambda x: x,
        "two": lambda x: x * x,
        "three": lambda x: x * x * x,
        "minus_one": lambda x: one / x,
        "minus_two": lambda x: one / (x * x),
        "half": lambda x: math.sqrt(x) if x > zero else math.pow(x, half),
        "minus_half": lambda x: one / math.sqrt(x) if x > zero else math.pow(x, minus_half),
        "minus_three_halves": lambda x: one / (x * math.sqrt(x)) if x > zero else math.pow(x, minus_three_halves),
    }
    return {
        **{name: getattr(math, name) for name in LIBRARY}, "power": math.pow, "exp": exp, "tanh": tanh,
        **{f"power_{name}": inlined(power) for name, power in powers.items()},
    }  # fmt: skip


globals().update(functions(float64))
