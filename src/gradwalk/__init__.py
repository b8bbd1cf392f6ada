"""gradwalk: an autograd engine you can see through.

>>> a, b = Value(2.0), Value(-3.0)
>>> loss = (a * b + 10).tanh()
>>> loss.backward()
>>> round(a.grad, 6), round(b.grad, 6)
(-0.004023, 0.002682)
"""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from gradwalk.check import check_graph, compare_with_torch, gradcheck
    from gradwalk.compile import compile
    from gradwalk.doctor import itself as doctor
    from gradwalk.drawing import draw, draw_dot, spy
    from gradwalk.explain import explain
    from gradwalk.functions import dot, linear, logsumexp, max, min, softmax, take
    from gradwalk.notebook import playground_widget, training_widget, walk_widget
    from gradwalk.program import program

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
    "check_graph",
    "clamp",
    "compare_with_torch",
    "compile",
    "cos",
    "cosh",
    "doctor",
    "dot",
    "draw",
    "draw_dot",
    "erf",
    "exp",
    "explain",
    "expm1",
    "grad",
    "gradcheck",
    "hessian",
    "jacobian",
    "leaky_relu",
    "linear",
    "log",
    "log1p",
    "logsumexp",
    "max",
    "maximum",
    "min",
    "minimum",
    "no_grad",
    "op",
    "playground_widget",
    "program",
    "relu",
    "sigmoid",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "spy",
    "sqrt",
    "take",
    "tan",
    "tanh",
    "training_widget",
    "value_and_grad",
    "walk_widget",
    "where",
    "zero_grad",
]

#: What is imported only when it is asked for, so that `import gradwalk` stays quick: name and where it comes from.
_ON_DEMAND = {
    **dict.fromkeys(("check_graph", "compare_with_torch", "gradcheck"), "gradwalk.check"),
    **dict.fromkeys(("draw", "draw_dot", "spy"), "gradwalk.drawing"),
    **dict.fromkeys(("dot", "linear", "logsumexp", "max", "min", "softmax", "take"), "gradwalk.functions"),
    **dict.fromkeys(("playground_widget", "training_widget", "walk_widget"), "gradwalk.notebook"),
    **{both: f"gradwalk.{both}" for both in ("compile", "doctor", "explain", "program")},  # modules that can be called
    **{
        module: f"gradwalk.{module}"
        for module in (
            "check",
            "datasets",
            "diagnose",
            "formulas",
            "functions",
            "nn",
            "optim",
            "parallel",
            "plot",
            "presets",
            "symbols",
            "train",
        )
    },
}


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'gradwalk' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_ON_DEMAND[name])
    return module if module.__name__ == f"gradwalk.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND})
