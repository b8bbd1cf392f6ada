"""gradwalk: an autograd engine you can see through.

>>> from gradwalk import Value
>>> a, b = Value(2.0), Value(-3.0)
>>> loss = (a * b + 10).tanh()
>>> loss.backward()
>>> round(a.grad, 6), round(b.grad, 6)
(-0.004023, 0.002682)
"""

from gradwalk.derivatives import grad, hessian, jacobian, value_and_grad
from gradwalk.engine import Value, zero_grad
from gradwalk.errors import GradwalkError
from gradwalk.modes import anomaly, no_grad
from gradwalk.node import Hook
from gradwalk.ops import (
    abs,
    acos,
    asin,
    atan,
    clamp,
    cos,
    cosh,
    erf,
    exp,
    expm1,
    leaky_relu,
    log,
    log1p,
    maximum,
    minimum,
    op,
    relu,
    sigmoid,
    sin,
    sinh,
    softplus,
    sqrt,
    tan,
    tanh,
    where,
)

__version__ = "0.1.0"

__all__ = [
    "GradwalkError",
    "Hook",
    "Value",
    "abs",
    "acos",
    "anomaly",
    "asin",
    "atan",
    "clamp",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "grad",
    "hessian",
    "jacobian",
    "leaky_relu",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "no_grad",
    "op",
    "relu",
    "sigmoid",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "tan",
    "tanh",
    "value_and_grad",
    "where",
    "zero_grad",
]
