"""Functions in, derivatives out: `grad(f)`, `value_and_grad(f)`, `jacobian(f)`, `hessian(f)`.

Arguments are numbers, Values, or lists of them (lists in lists too); a gradient has the shape of its argument. Given
plain numbers they answer in plain numbers. Given Values they answer in Values that remember how they were made, which
is why `grad(grad(f))` works, to any order. No `.grad` is read or written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradwalk import reverse
from gradwalk.engine import Value
from gradwalk.errors import GraphError, NotANumberError

__all__ = ["grad", "hessian", "jacobian", "value_and_grad"]


def grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of `f`: a function that gives one gradient for each argument.

    >>> from gradwalk import grad
    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(lambda a, b: a * b)(2.0, 5.0)
    (5.0, 2.0)
    >>> grad(lambda w: w[0] * w[1] ** 2)([3.0, 4.0])
    [16.0, 24.0]
    >>> grad(grad(grad(lambda x: x**3)))(2.0)
    6.0
    """
    with_value = value_and_grad(f)

    def gradient(*arguments: Any) -> Any:
        return with_value(*arguments)[1]

    return gradient


def value_and_grad(f: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """As `grad`, with the value of `f` in front.

    >>> from gradwalk import value_and_grad
    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """

    def both(*arguments: Any) -> tuple[Any, Any]:
        inputs = _Inputs(f, arguments)
        root = inputs.one_result()
        gradients = _gradients(root, inputs.leaves, as_graph=inputs.symbolic)
        value = root if inputs.symbolic else root.data
        return value, inputs.in_shape(gradients)

    return both


def jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    """All first derivatives of a function with several results: a row for each result, a column for each input.

    >>> from gradwalk import jacobian
    >>> jacobian(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """

    def rows(*arguments: Any) -> list[list[Any]]:
        inputs = _Inputs(f, arguments)
        return [_gradients(root, inputs.leaves, as_graph=inputs.symbolic) for root in inputs.results()]

    return rows


def hessian(f: Callable[..., Any]) -> Callable[..., Any]:
    """All second derivatives: a number for a function of one number, else a matrix over all inputs in order.

    >>> from gradwalk import hessian
    >>> hessian(lambda x: x**3)(2.0)
    12.0
    >>> hessian(lambda x, y: x * x * y)(2.0, 3.0)
    [[6.0, 4.0], [4.0, 0.0]]
    """

    def matrix(*arguments: Any) -> Any:
        inputs = _Inputs(f, arguments)
        slopes = _gradients(inputs.one_result(), inputs.leaves, as_graph=True)
        rows = [_gradients(slope, inputs.leaves, as_graph=inputs.symbolic) for slope in slopes]
        single = len(arguments) == 1 and not isinstance(arguments[0], (list, tuple))
        return rows[0][0] if single else rows

    return matrix


class _Inputs:
    """The arguments of one call as Values, what the function made of them, and the way back to their shape."""

    def __init__(self, f: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if not callable(f):
            raise GraphError(f"derivatives are taken of functions, not of {type(f).__name__}: {f!r}")
        self.arguments = arguments
        given = list(_flat(arguments))
        if not given:
            raise GraphError("there is nothing to differentiate with respect to: give at least one number")
        self.symbolic = any(isinstance(x, Value) for x in given)
        self.leaves = [x if isinstance(x, Value) else Value(x) for x in given]
        self.result = f(*self.in_shape(self.leaves, unwrap=False))

    def in_shape(self, flat: list[Any], unwrap: bool = True) -> Any:
        """`flat`, arranged as the arguments were; one argument stands for itself."""
        shaped = _shaped(self.arguments, iter(flat))
        return shaped[0] if unwrap and len(shaped) == 1 else tuple(shaped)

    def one_result(self) -> Value:
        return _as_value(self.result)

    def results(self) -> list[Value]:
        return [_as_value(x) for x in _flat(self.result)]


def _as_value(result: Any) -> Value:
    try:
        return result if isinstance(result, Value) else Value(result)  # a constant function has gradient 0
    except NotANumberError as error:
        raise NotANumberError(
            f"grad(f) needs f to give one number, and it gave {type(result).__name__}; "
            "for several results use jacobian(f)"
        ) from error


def _gradients(root: Any, leaves: list[Value], *, as_graph: bool) -> list[Any]:
    """The gradient of `root` with respect to each leaf; 0 where it does not depend on it."""
    table = reverse.adjoints(root, 1.0, as_graph=as_graph) if isinstance(root, Value) else {}
    found = (table.get(leaf, 0.0) for leaf in leaves)
    return [x if isinstance(x, Value) or not as_graph else Value(x) for x in found]


def _flat(nested: Any) -> Iterator[Any]:
    if isinstance(nested, (list, tuple)):
        for part in nested:
            yield from _flat(part)
    else:
        yield nested


def _shaped(like: Any, flat: Iterator[Any]) -> Any:
    return [_shaped(part, flat) if isinstance(part, (list, tuple)) else next(flat) for part in like]
