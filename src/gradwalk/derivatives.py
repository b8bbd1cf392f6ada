"""Functions in, derivatives out: `grad(f)`, `value_and_grad(f)`, `jacobian(f)`, `hessian(f)`.

Arguments are numbers, Values, or trees of them as `tree.py` has it: lists, tuples, dicts, dataclasses, NumPy arrays,
nested as you like. A gradient has the structure of its argument. What is no number (a text, None, a function, a bool,
an array of bools) is given to `f` as it is, and stands in the gradient as it is. Given plain numbers they answer in
plain numbers. Given Values they answer in Values that remember how they were made, which is why `grad(grad(f))` works,
to any order; a Value that is given twice is one variable, and has its whole gradient in both places. What `f` makes of
the same Value by another name is not differentiated: `grad(lambda y: x * y)(x)` is `x`. No `.grad` is read or written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from numbers import Number
from typing import Any

from gradwalk import modes, reverse, tree
from gradwalk.engine import Value
from gradwalk.errors import GraphError, NotANumberError

__all__ = ["grad", "hessian", "jacobian", "value_and_grad"]

CONSTANT = (str, bytes, range, Enum)  # these are not differentiated, though they may be, or hold, numbers of a kind


def grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of `f`: a function that gives one gradient for each argument.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(lambda a, b: a * b)(2.0, 5.0)
    (5.0, 2.0)
    >>> grad(lambda w: w[0] * w[1] ** 2)([3.0, 4.0])
    [16.0, 24.0]
    >>> grad(lambda model: model["w"] * model["x"])({"w": 2.0, "x": 5.0})
    {'w': 5.0, 'x': 2.0}
    >>> grad(grad(grad(lambda x: x**3)))(2.0)
    6.0
    """
    with_value = value_and_grad(f)

    def gradient(*arguments: Any) -> Any:
        return with_value(*arguments)[1]

    return gradient


def value_and_grad(f: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """As `grad`, with the value of `f` in front.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """

    def both(*arguments: Any) -> tuple[Any, Any]:
        inputs = _Inputs(f, arguments)
        root = inputs.result()
        gradients = _gradients(root, inputs.values, as_graph=inputs.symbolic)
        value = root if inputs.symbolic else root.data
        shaped = inputs.shaped(gradients)
        return value, shaped[0] if len(shaped) == 1 else shaped

    return both


def jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    """All first derivatives of a function with several results: a row for each result, a column for each input.

    Results and inputs are the numbers of their trees from left to right, dicts in their order: whatever the trees are,
    the answer is a list of lists.

    >>> jacobian(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """

    def rows(*arguments: Any) -> list[list[Any]]:
        inputs = _Inputs(f, arguments)
        return [_gradients(root, inputs.values, as_graph=inputs.symbolic) for root in inputs.results()]

    return rows


def hessian(f: Callable[..., Any]) -> Callable[..., Any]:
    """All second derivatives: a number for a function of one number, else a matrix over all inputs in order.

    >>> hessian(lambda x: x**3)(2.0)
    12.0
    >>> hessian(lambda x, y: x * x * y)(2.0, 3.0)
    [[6.0, 4.0], [4.0, 0.0]]
    """

    def matrix(*arguments: Any) -> Any:
        inputs = _Inputs(f, arguments)
        slopes = _gradients(inputs.result(), inputs.values, as_graph=True)
        rows = [_gradients(slope, inputs.values, as_graph=inputs.symbolic) for slope in slopes]
        single = inputs.structure.tokens[1:] == (None,)
        return rows[0][0] if single else rows

    return matrix


class _Inputs:
    """The arguments of one call as Values, what the function made of them, and the way back to their structure."""

    def __init__(self, f: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if not callable(f):
            raise GraphError(f"derivatives are taken of functions, not of {type(f).__name__}: {f!r}")
        self.leaves, self.structure = tree.flatten(arguments, _is_mask)
        if not self.leaves:
            raise GraphError("there is nothing to differentiate with respect to: give at least one number")
        numbers = _numbers_among(self.leaves, self.structure, "arguments")
        self.places = [i for i in numbers if not isinstance(self.leaves[i], bool)] or numbers or [0]
        self.symbolic = any(isinstance(x, Value) for x in self.leaves)
        variables: dict[int, Value] = {}  # for each Value that is given one of its own: f may know that Value by name
        self.values = [
            variables.setdefault(id(x), x * 1.0) if isinstance(x, Value) else Value(x)
            for x in [self.leaves[i] for i in self.places]
        ]
        with modes.entered(modes.OpByOp()):
            self.given = f(*self.shaped(self.values))

    def shaped(self, numbers: list[Any]) -> tuple[Any, ...]:
        """The arguments with these in the places of their numbers."""
        for i, x in zip(self.places, numbers, strict=True):
            self.leaves[i] = x
        return self.structure.unflatten(self.leaves)  # type: ignore[no-any-return]

    def result(self) -> Value:
        """What the function gave, if it is one number: a constant has gradient 0."""
        if tree.is_number(self.given):
            return self.given if isinstance(self.given, Value) else Value(self.given)
        raise NotANumberError(
            f"grad(f) needs f to give one number, and it gave {type(self.given).__name__}; "
            "for several results use jacobian(f)"
        )

    def results(self) -> list[Value]:
        """All numbers that the function gave."""
        leaves, structure = tree.flatten(self.given)
        numbers = _numbers_among(leaves, structure, "the result")
        if leaves and not numbers:
            raise NotANumberError(f"jacobian(f) needs f to give numbers, and it gave {type(self.given).__name__}")
        return [x if isinstance(x, Value) else Value(x) for x in [leaves[i] for i in numbers]]


def _numbers_among(leaves: list[Any], structure: tree.Structure, root: str) -> list[int]:
    """Where the numbers are among leaves; what is none must not hold any either."""
    numbers = [i for i, x in enumerate(leaves) if tree.is_number(x)]
    if len(numbers) < len(leaves):
        for x, path in zip(leaves, structure.paths(root), strict=True):
            constant = tree.is_number(x) or isinstance(x, CONSTANT) or callable(x) or _is_mask(x)
            if not constant and isinstance(x, (Iterable, Number)):
                kind = type(x).__name__
                remedy = "is no real number" if isinstance(x, Number) else "is not looked into for numbers; give a list"
                raise NotANumberError(f"{path}: {tree.refusal(x) or f'a thing of type {kind} {remedy}'}")
    return numbers


def _is_mask(x: Any) -> bool:
    return tree.is_block(x) and x.dtype.kind == "b"


def _gradients(root: Any, leaves: list[Value], *, as_graph: bool) -> list[Any]:
    """The gradient of `root` with respect to each leaf; 0 where it does not depend on it."""
    table = reverse.adjoints(root, 1.0, as_graph=as_graph) if isinstance(root, Value) else {}
    found = (table.get(leaf, 0.0) for leaf in leaves)
    return [x if isinstance(x, Value) or not as_graph else Value(x) for x in found]
