"""What the processor offers to kernels."""

from __future__ import annotations

import os
from functools import cache

import llvmlite.binding as llvm

__all__ = ["vector_bits"]


@cache
def vector_bits() -> int:
    """How wide the vectors are that kernels use: 512, 256, or 0 for plain loops; `GRADWALK_VECTOR_BITS` overrides it.

    >>> vector_bits() in (0, 256, 512)
    True
    """
    chosen = os.environ.get("GRADWALK_VECTOR_BITS")
    if chosen in ("0", "256", "512"):
        return int(chosen)
    features = llvm.get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512vl") and features.get("avx512dq"):
        return 512
    return 256 if features.get("avx2") and features.get("fma") else 0
