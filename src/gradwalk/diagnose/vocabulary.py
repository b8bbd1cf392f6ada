"""What engines call things: the names under which data, gradient, walk and ops are looked for, usual ones first.

Which ops there are is what the op table says: whatever has an operator of Python's, or takes one operand, is looked
for and judged. Only the other names that people give to an op are listed here.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from gradwalk.ops import TABLE

__all__ = [
    "BACK",
    "BACKWARD",
    "BINARY",
    "DATA",
    "EXTRA",
    "FILLERS",
    "GRAD",
    "METHODS",
    "ON_NUMBERS",
    "OPERANDS",
    "REFLECTED",
    "SETTINGS",
    "SIGNS",
    "SWITCHES",
    "SYMBOL",
    "UNARY",
    "UNARY_OPERATORS",
    "names_of",
]

DATA = ("data", "value", "val", "_data", "_value", "x", "v", "number", "num", "scalar", "item")
GRAD = ("grad", "gradient", "_grad", "_gradient", "grad_value", "derivative", "adjoint", "dx")
BACKWARD = ("backward", "backprop", "backpropagate", "back_propagate", "back_prop", "backpropagation",
            "back_propagation", "backward_pass", "backwards", "back", "backward_propagation", "backpropogate",
            "compute_gradients", "compute_grads", "compute_grad", "calculate_gradients", "calc_gradients",
            "get_gradients", "gradients", "autograd", "run_backward", "full_backward", "do_backward")  # fmt: skip
#: Parts of the names that a walk, or the push of one node, has otherwise.
BACK = ("back", "prop", "grad", "deriv", "push", "chain", "vjp", "pull")

#: Parts of the names under which nodes keep their operands.
OPERANDS = ("prev", "child", "parent", "operand", "input", "dep", "arg", "source", "pred")

#: What to pass where a constructor wants more than a number, by a part of the parameter's name.
FILLERS: dict[str, Any] = {
    "child": (), "prev": (), "parent": (), "operand": (), "input": (), "arg": (), "deps": (),
    "local": (), "grads": (), "grad": True, "op": "", "label": "", "name": "",
}  # fmt: skip

#: Parameters that must be switched on for a node to collect a gradient.
SWITCHES = ("requires_grad", "require_grad", "requires_gradient", "trainable")

# --- ops -------------------------------------------------------------------------------------------------------------

_PYTHON = {name: {"div": "truediv"}.get(name, name) for name in TABLE}  # what Python calls an op that has an operator
_OPERATORS: dict[str, tuple[str, Callable[..., Any]]] = {
    name: (f"__{python}__", getattr(operator, python)) for name, python in _PYTHON.items() if hasattr(operator, python)
}
#: Ops that are written with an operator: the method that Python calls for it, and the operator as a function.
BINARY = {name: found for name, found in _OPERATORS.items() if TABLE[name].arity == 2}
UNARY_OPERATORS = {name: found for name, found in _OPERATORS.items() if TABLE[name].arity == 1}
REFLECTED = {name: f"__r{_PYTHON[name]}__" for name in BINARY}
#: The method that a learner knows an op by.
METHODS = {name: method for name, (method, _) in _OPERATORS.items()}
#: The sign of each operator between two nodes; an exponent is a number in most engines.
SYMBOL = {name: TABLE[name].symbol for name in BINARY if name != "pow"}
#: The op of each sign in a syntax tree.
SIGNS = {
    type(sign): name
    for name in BINARY
    for sign in ast.walk(ast.parse(f"a {TABLE[name].symbol} b"))
    if isinstance(sign, ast.operator)
}
#: The functions that every engine is expected to have some day, and those that are judged where they are there.
UNARY = ("exp", "log", "tanh", "sigmoid", "relu")
EXTRA = tuple(
    name for name, op in TABLE.items()
    if (op.arity == 1 or name == "leaky_relu") and name not in (*UNARY, "neg")  # its slope has a default
)  # fmt: skip
#: Each op on plain numbers.
ON_NUMBERS: dict[str, Callable[..., Any]] = {**TABLE, **{name: spelt for name, (_, spelt) in _OPERATORS.items()}}

_SYNONYMS = {
    "add": ("plus",), "sub": ("subtract", "minus"), "mul": ("multiply", "times"), "div": ("truediv", "divide"),
    "pow": ("power",), "neg": ("negate", "negative"), "exp": ("exponential",), "log": ("ln",),
    "sigmoid": ("sigm", "logistic"), "relu": ("ReLu", "RELU"), "leaky_relu": ("leakyrelu", "leakyReLU"),
}  # fmt: skip
#: What to pass where an op wants more than its operands, by a part of the parameter's name.
SETTINGS: dict[str, float] = {"base": math.e, "slope": 0.01, "alpha": 0.01, "beta": 1.0}


def names_of(op: str) -> tuple[str, ...]:
    """What a method or function for an op may be called.

    >>> names_of("relu"), names_of("sin")
    (('relu', 'Relu', 'ReLU', 'ReLu', 'RELU'), ('sin', 'Sin'))
    """
    symbols = [TABLE[op].symbol] if op in TABLE and op not in _OPERATORS else []
    return tuple(dict.fromkeys([op, op.capitalize(), *symbols, *_SYNONYMS.get(op, ())]))
