"""The names of dtypes, as PyTorch has them: `dtype=gradwalk.float32`."""

from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64

__all__ = ["bool", "float32", "float64", "int64", "long"]

float64, float32, int64, long, bool = FLOAT64, FLOAT32, INT64, INT64, BOOL
