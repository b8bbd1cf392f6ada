"""What engines call things: the names under which data, gradient, walk and ops are looked for, usual ones first."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gradwalk import ops

__all__ = [
    "BACKWARD",
    "BINARY",
    "DATA",
    "EXTRA",
    "FILLERS",
    "FUNCTION_NAMES",
    "GRAD",
    "METHODS",
    "OPERANDS",
    "REFLECTED",
    "SWITCHES",
    "SYMBOLS",
    "UNARY",
    "UNARY_OPERATORS",
]

DATA = ("data", "value", "val", "_data", "_value", "x", "v", "number", "num", "scalar", "item")
GRAD = ("grad", "gradient", "_grad", "_gradient", "grad_value", "derivative", "adjoint", "dx")
BACKWARD = ("backward", "backprop", "backpropagate", "back_propagate", "backpropagation", "backward_pass", "back",
            "compute_gradients", "calculate_gradients", "autograd", "run_backward")  # fmt: skip

#: Parts of the names under which nodes keep their operands.
OPERANDS = ("prev", "child", "parent", "operand", "input", "dep", "arg", "source", "pred")

#: What to pass where a constructor wants more than a number, by a part of the parameter's name.
FILLERS: dict[str, Any] = {
    "child": (), "prev": (), "parent": (), "operand": (), "input": (), "arg": (), "deps": (),
    "local": (), "grads": (), "grad": True, "op": "", "label": "", "name": "",
}  # fmt: skip

#: Parameters that must be switched on for a node to collect a gradient.
SWITCHES = ("requires_grad", "require_grad", "requires_gradient", "trainable")

BINARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("__add__", operator.add),
    "sub": ("__sub__", operator.sub),
    "mul": ("__mul__", operator.mul),
    "div": ("__truediv__", operator.truediv),
    "pow": ("__pow__", operator.pow),
}
REFLECTED = {"add": "__radd__", "sub": "__rsub__", "mul": "__rmul__", "div": "__rtruediv__", "pow": "__rpow__"}
UNARY_OPERATORS: dict[str, tuple[str, Callable[..., Any]]] = {
    "neg": ("__neg__", operator.neg),
    "abs": ("__abs__", operator.abs),
}
#: The functions that every engine is expected to have some day, and those that are judged where they are there.
UNARY = ("exp", "log", "tanh", "sigmoid", "relu")
EXTRA = ("sqrt", "sin", "cos", "tan", "softplus", "abs", "leaky_relu", "log1p", "expm1", "sinh", "cosh", "atan", "erf")

#: What a method or function for an op may be called.
FUNCTION_NAMES: dict[str, tuple[str, ...]] = {
    "add": ("add", "plus"),
    "sub": ("sub", "subtract", "minus"),
    "mul": ("mul", "multiply", "times"),
    "div": ("div", "truediv", "divide"),
    "pow": ("pow", "power"),
    "neg": ("neg", "negate", "negative"),
    "exp": ("exp", "Exp", "exponential"),
    "log": ("log", "Log", "ln"),
    "tanh": ("tanh", "Tanh"),
    "sigmoid": ("sigmoid", "Sigmoid", "sigm", "logistic"),
    "relu": ("relu", "ReLU", "Relu", "ReLu", "RELU"),
    "softplus": ("softplus", "Softplus"),
    "leaky_relu": ("leaky_relu", "leakyrelu", "LeakyReLU", "leakyReLU"),
}

#: The method that a learner knows an op by.
METHODS = {name: method for name, (method, _) in (*BINARY.items(), *UNARY_OPERATORS.items())}

#: Each op on plain numbers.
SYMBOLS: dict[str, Callable[..., Any]] = {
    **ops.TABLE,
    **{name: spelt for name, (_, spelt) in (*BINARY.items(), *UNARY_OPERATORS.items())},
}
