"""`compare_with_torch(f, inputs)`: the same function on PyTorch's tensors, in float64.

`f` need not know: it is given stand-ins that hold a tensor, take operators and methods as a Value does, and receive
gradwalk's functions through `__gradwalk_op__`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gradwalk import ops
from gradwalk.check import suspects
from gradwalk.check.agreement import ATOL, RTOL, checked_tolerances, same
from gradwalk.check.gradients import any_tensor
from gradwalk.check.inputs import CheckedFunction, read_inputs
from gradwalk.check.nodes import CheckedGraph, data
from gradwalk.check.report import CheckReport, InputCheck
from gradwalk.engine import Value
from gradwalk.errors import GraphError, MissingExtraError
from gradwalk.methods import Methods
from gradwalk.ops import Op, number

__all__ = ["compare_with_torch"]


def compare_with_torch(
    f: Callable[..., Any], inputs: Any, *, rtol: float = 1e-12, atol: float = 0.0, raise_error: bool = True
) -> CheckReport:
    """Compare value and gradients of `f` with PyTorch's.

    `f` may use operators, methods (`x.tanh()`) and gradwalk's functions (`gradwalk.tanh(x)`); Values that it uses
    beside its arguments are constants to PyTorch. An op of your own is run on tensors by its value function. Allowed
    is a share `rtol` of each number, and the last digits that any order of summation may change.

    >>> print(compare_with_torch(lambda a, b: gradwalk.tanh(a * b) + a.exp(), [0.5, -1.0]))
    compare_with_torch passed: 2 gradients agree (float64, value 1.1866, 6 nodes)
      input      backward gave      PyTorch
      inputs[0]    0.862273538  0.862273538  ok
      inputs[1]    0.393223866  0.393223866  ok
    """
    if any_tensor(inputs):
        raise GraphError("compare_with_torch does not know tensors yet; gradcheck(f, tensors) does")
    torch = _torch()
    rtol, atol = checked_tolerances(rtol, atol)
    function = CheckedFunction(f, read_inputs(inputs, Value))
    root, leaves = function.run(function.inputs.numbers)
    graph = CheckedGraph(root, fresh=True)
    value, gradients = _on_torch(torch, function)

    report = CheckReport("compare_with_torch", "float64", data(root), len(graph.order), (), reference="PyTorch")
    entries = []
    for name, leaf, theirs in zip(function.inputs.names, leaves, gradients, strict=True):
        entries.append(_compared(name, graph.gradient(leaf), theirs, rtol, atol + graph.rounding(leaf)))
    report = replace(report, inputs=tuple(entries))
    slack = 64 * graph.noise  # tuned: PyTorch's functions may be off by a few last digits, ours by others
    if _compared("", data(root), value, rtol, atol + slack).status != "ok":
        report = replace(report, problems=(f"the values differ: ours is {data(root)!r}, PyTorch's is {value!r}",))
    if not report.ok:
        measured = suspects.measured_on_their_own(graph)
        report = replace(report, suspects=tuple(suspects.wrong_on_their_own(graph, measured, RTOL, ATOL)))
    return report.or_raise() if raise_error else report


def _compared(name: str, ours: float, theirs: float, rtol: float, slack: float) -> InputCheck:
    equal = same(ours, theirs)
    error = 0.0 if equal else abs(ours - theirs)
    # Below the least normal number there are few digits, and some of PyTorch's functions give 0.
    tolerance = slack + sys.float_info.min + rtol * max(abs(ours), abs(theirs))
    fine = equal or error < tolerance  # where one side is infinite, both of these are
    return InputCheck(name, ours, theirs, error, tolerance, "ok" if fine else "wrong")


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingExtraError("comparing with PyTorch needs torch: pip install torch") from error


def _on_torch(torch: Any, function: CheckedFunction) -> tuple[float, list[float]]:
    """The value and the gradients that PyTorch gives."""
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in function.inputs.numbers]
    found = function.call([_Tensor(torch, x) for x in tensors])
    if not isinstance(found, _Tensor):
        if not hasattr(found, "data"):
            raise GraphError(
                f"on PyTorch's tensors f gave {type(found).__name__} {found!r}, not one number of the graph"
            )
        return data(found), [0.0] * len(tensors)
    if found.tensor.requires_grad:
        found.tensor.backward()
    return found.data, [0.0 if x.grad is None else x.grad.item() for x in tensors]


class _Tensor(Methods):
    """A tensor of one number that can be used as a Value can."""

    def __init__(self, torch: Any, tensor: Any) -> None:
        self.torch, self.tensor = torch, tensor

    @property
    def data(self) -> float:
        return self.tensor.item()  # type: ignore[no-any-return]

    def relu(self) -> Any:
        return ops.relu(self)

    def detach(self) -> _Tensor:
        return _Tensor(self.torch, self.tensor.detach())

    def __neg__(self) -> Any:
        return ops.neg(self)

    def __pos__(self) -> _Tensor:
        return self

    def __abs__(self) -> Any:
        return ops.abs(self)

    def __lt__(self, other: Any) -> bool:
        return self.data < data(other)

    def __le__(self, other: Any) -> bool:
        return self.data <= data(other)

    def __gt__(self, other: Any) -> bool:
        return self.data > data(other)

    def __ge__(self, other: Any) -> bool:
        return self.data >= data(other)

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Any:
        known = ops.TABLE.get(op.name)
        if known is None or known.value is not op.value:  # an op of the user's own: its value, written with operators
            return self._by_its_value(op, operands)
        given = [x.tensor if isinstance(x, _Tensor) else data(x) for x in operands]
        if op.name == "pow":  # an exponent that is a plain number is a case of its own, to PyTorch as to us
            return _Tensor(self.torch, self.torch.pow(*given))
        whole = [self._tensor(x) for x in given]
        return _Tensor(self.torch, _function(self.torch, op.name)(*whole))

    def _tensor(self, x: Any) -> Any:
        return self.torch.tensor(x, dtype=self.torch.float64) if isinstance(x, float) else x

    def _by_its_value(self, op: Op, operands: tuple[Any, ...]) -> _Tensor:
        given = [_Tensor(self.torch, self._tensor(number(x.data))) if isinstance(x, Value) else x for x in operands]
        try:
            found = op.value(*given)
        except Exception as error:
            raise GraphError(
                f"the value of {op.name} cannot be computed on PyTorch's tensors ({type(error).__name__}: {error}); "
                "write it with operators and gradwalk's functions, or check it with gradcheck"
            ) from error
        return found if isinstance(found, _Tensor) else _Tensor(self.torch, self._tensor(number(found)))


def _operators() -> None:
    """Each operator of `_Tensor` and its reflected form, made together."""

    def make(op: Op) -> tuple[Any, Any]:
        return lambda self, other: op(self, other), lambda self, other: op(other, self)

    for name, op in (("add", ops.add), ("sub", ops.sub), ("mul", ops.mul), ("truediv", ops.div), ("pow", ops.pow)):
        forth, back = make(op)
        setattr(_Tensor, f"__{name}__", forth)
        setattr(_Tensor, f"__r{name}__", back)


_operators()

#: Ops that PyTorch calls by another name, or composes.
_COMPOSED: dict[str, Callable[..., Any]] = {
    "leaky_relu": lambda torch, x, slope: torch.where(x > 0, x, x * slope),
    "softplus": lambda torch, x: torch.logaddexp(x, torch.zeros_like(x)),  # its own softplus cuts off at 20
    "where": lambda torch, condition, x, y: torch.where(condition != 0, x, y),
}


def _function(torch: Any, name: str) -> Callable[..., Any]:
    if name in _COMPOSED:
        return lambda *tensors: _COMPOSED[name](torch, *tensors)
    return getattr(torch, name)  # type: ignore[no-any-return]
