"""The functions of `vmath` for float32, and the type itself, which kernels call to make literals."""

from __future__ import annotations

from numpy import float32

from gradwalk.compile.native.vmath import functions

__all__ = ["float32"]

globals().update(functions(float32))
