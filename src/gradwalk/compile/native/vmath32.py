"""The functions of `vmath` for float32: right to a unit or two in the last of its 24 bits."""

from __future__ import annotations

import math
from typing import Any

from numpy import float32, int32

from gradwalk.compile.native.microkernels import bits_of32, fma, from_bits32, inlined
from gradwalk.compile.native.vmath import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    copysign,
    cos,
    cosh,
    erf,
    erfc,
    expm1,
    fabs,
    floor,
    gamma,
    hypot,
    inf,
    lgamma,
    log,
    log1p,
    log2,
    log10,
    nan,
    power,
    power_one,
    power_three,
    power_two,
    sin,
    sinh,
    sqrt,
    tan,
)  # fmt: skip

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
    "float32",
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

ONE, TWO, HALF = float32(1.0), float32(2.0), float32(0.5)
#: As in `vmath`, with 2²³ for 2⁵².
ROUNDER = float32(12582912.0)
ROUNDER_BITS = 0x4B400000
LOWEST, HIGHEST = float32(-104.0), float32(89.0)
PER_LN2, LN2_HIGH, LN2_LOW = float32(1.4426950408889634), float32(-0.693359375), float32(2.12194440e-4)
SERIES = tuple(float32(1.0 / math.factorial(k)) for k in range(7, 1, -1))
E7, E6, E5, E4, E3, E2 = SERIES
NEAR = float32(0.625)
T1, T2, T3 = float32(-9.64399179425052238628e-1), float32(-9.92877231001918586564e1), float32(-1.61468768441708447952e3)
B1, B2, B3 = float32(1.12811678491632931402e2), float32(2.23548839060100448583e3), float32(4.84406305325125486048e3)


@inlined
def exp(x: Any) -> Any:
    """e to the power of x.

    >>> from gradwalk.compile.native.vmath32 import exp
    >>> exp.py_func.__name__
    'exp'
    """
    y = x if x > LOWEST else LOWEST
    y = y if y < HIGHEST else HIGHEST
    shifted = fma(y, PER_LN2, ROUNDER)
    k = shifted - ROUNDER
    r = fma(k, LN2_LOW, fma(k, LN2_HIGH, y))
    p = fma(fma(fma(fma(fma(E7, r, E6), r, E5), r, E4), r, E3), r, E2)
    p = fma(p * r, r, r) + ONE
    whole = int32(bits_of32(shifted) - ROUNDER_BITS)
    half = int32(whole >> 1)
    result = p * from_bits32(int32((half + 127) << 23)) * from_bits32(int32((whole - half + 127) << 23))
    return result if x == x else x


@inlined
def tanh(x: Any) -> Any:
    """The hyperbolic tangent.

    >>> from gradwalk.compile.native.vmath32 import tanh
    >>> tanh.py_func.__name__
    'tanh'
    """
    size = math.fabs(x)
    s = x * x
    above = fma(fma(T1, s, T2), s, T3) * s
    below = fma(fma(s + B1, s, B2), s, B3)
    near = fma(size, above / below, size)
    far = ONE - TWO / (exp(TWO * size) + ONE)
    return math.copysign(near if size < NEAR else far, x)


@inlined
def power_minus_one(x: Any) -> Any:
    """x⁻¹."""
    return ONE / x


@inlined
def power_minus_two(x: Any) -> Any:
    """x⁻²."""
    return ONE / (x * x)


@inlined
def power_half(x: Any) -> Any:
    """The square root."""
    return math.sqrt(x) if x > float32(0.0) else math.pow(x, HALF)


@inlined
def power_minus_half(x: Any) -> Any:
    """One over the square root."""
    return ONE / math.sqrt(x) if x > float32(0.0) else math.pow(x, -HALF)


@inlined
def power_minus_three_halves(x: Any) -> Any:
    """One over x · √x."""
    return ONE / (x * math.sqrt(x)) if x > float32(0.0) else math.pow(x, float32(-1.5))
