"""The names of dtypes, as PyTorch has them: `dtype=gradwalk.float32`."""

from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64

__all__ = ["bool", "double", "float", "float32", "float64", "int", "int64", "long"]

float64, float32, int64, bool = FLOAT64, FLOAT32, INT64, BOOL
double, float, long = FLOAT64, FLOAT32, INT64
int = INT64  # there are no others
