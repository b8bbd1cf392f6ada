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
    from gradwalk.tensor import Tensor

    # What is there on demand, for who reads types: each by its own name, so that it counts as given on.
    # isort: off
    from gradwalk.tensor import using_arrays as using_arrays
    from gradwalk.tensor.files import (
        load as load,
        save as save,
    )
    from gradwalk.tensor.convolutions import (
        avg_pool1d as avg_pool1d,
        avg_pool2d as avg_pool2d,
        conv1d as conv1d,
        conv2d as conv2d,
        max_pool1d as max_pool1d,
        max_pool2d as max_pool2d,
    )
    from gradwalk.tensor.functions import (
        allclose as allclose,
        arange as arange,
        as_tensor as as_tensor,
        cat as cat,
        concat as concat,
        einsum as einsum,
        eye as eye,
        full as full,
        full_like as full_like,
        is_tensor as is_tensor,
        linspace as linspace,
        one_hot as one_hot,
        ones as ones,
        ones_like as ones_like,
        pad as pad,
        stack as stack,
        zeros as zeros,
        zeros_like as zeros_like,
    )
    from gradwalk.tensor.losses import (
        cross_entropy as cross_entropy,
        nll_loss as nll_loss,
    )
    from gradwalk.tensor.random import (
        Generator as Generator,
        manual_seed as manual_seed,
        multinomial as multinomial,
        rand as rand,
        randint as randint,
        randn as randn,
        randperm as randperm,
    )
    # isort: on

__version__ = "0.1.0"

__all__ = [
    "GradwalkError",
    "Hook",
    "Tensor",
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
    **dict.fromkeys(("Tensor", "using_arrays"), "gradwalk.tensor"),
    **dict.fromkeys(
        ("bool", "double", "float", "float32", "float64", "int", "int64", "long"), "gradwalk.tensor.dtypes"
    ),
    **dict.fromkeys(("e", "inf", "nan", "pi"), "math"),
    **dict.fromkeys(
        ("Generator", "manual_seed", "multinomial", "rand", "randint", "randn", "randperm"), "gradwalk.tensor.random"
    ),
    **dict.fromkeys(("load", "save"), "gradwalk.tensor.files"),
    **dict.fromkeys(
        (
            "allclose", "arange", "as_tensor", "cat", "concat", "einsum", "eye", "full", "full_like", "is_tensor",
            "linspace", "one_hot", "ones", "ones_like", "pad", "stack", "zeros", "zeros_like",
        ),
        "gradwalk.tensor.functions",
    ),
    **dict.fromkeys(
        ("avg_pool1d", "avg_pool2d", "conv1d", "conv2d", "max_pool1d", "max_pool2d"), "gradwalk.tensor.convolutions"
    ),
    **dict.fromkeys(("cross_entropy", "nll_loss"), "gradwalk.tensor.losses"),
    **dict.fromkeys(
        (
            "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "bmm", "ceil", "chunk", "clip", "clone",
            "count_nonzero", "cumsum", "detach", "diag", "diagonal", "elu", "eq", "flatten", "flip", "floor", "gather",
            "ge", "gelu", "gt", "hardtanh", "index_select", "isfinite", "isinf", "isnan", "le", "log10", "log2",
            "log_softmax", "lt", "masked_fill", "masked_select", "matmul", "mean", "mish", "mm", "mv", "narrow", "ne",
            "nonzero", "norm", "numel", "permute", "ravel", "reciprocal", "relu6", "repeat", "reshape", "roll", "round",
            "rsqrt", "select", "sign", "silu", "softsign", "sort", "split", "square", "squeeze", "std", "sum",
            "swapaxes", "t", "tile", "topk", "trace", "transpose", "tril", "triu", "trunc", "unbind", "unflatten",
            "unsqueeze", "var",
        ),
        "gradwalk.tensor.method_functions",
    ),
    **dict.fromkeys(("add", "div", "mul", "neg", "pow", "sub"), "gradwalk.ops"),
    **dict.fromkeys(("dot", "linear", "logsumexp", "max", "min", "softmax", "take"), "gradwalk.functions"),
    **dict.fromkeys(("playground_widget", "training_widget", "walk_widget"), "gradwalk.notebook"),
    # modules that can be called
    **{both: f"gradwalk.{both}" for both in ("compile", "doctor", "explain", "program", "tensor")},
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
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        if name.startswith("_"):
            raise AttributeError(f"module 'gradwalk' has no attribute {name!r}")
        from gradwalk.instead import missing

        raise missing("gradwalk", name)
    from importlib import import_module

    module = import_module(_ON_DEMAND[name])
    return module if module.__name__ == f"gradwalk.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND})
