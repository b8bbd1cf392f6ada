"""Functions in, derivatives out: `grad(f)`, `value_and_grad(f)`, `jacobian(f)`, `hessian(f)`.

Arguments are numbers, Values, or trees of them as `tree.py` has it: lists, tuples, dicts, dataclasses, NumPy arrays,
nested as you like. A gradient has the structure of its argument. What is no number (a text, None, a function, a bool,
an array of bools) is given to `f` as it is, and stands in the gradient as it is. Given plain numbers they answer in
plain numbers. Given Values they answer in Values that remember how they were made, which is why `grad(grad(f))` works,
to any order; a Value that is given twice is one variable, and has its whole gradient in both places. What `f` makes of
the same Value by another name is not differentiated: `grad(lambda y: x * y)(x)` is `x`. No `.grad` is read or written.
A `no_grad()` around the call does not reach into `f`, as in PyTorch: given Values, it answers in leaves.

Arguments that are given by name are handed on to `f` as they are and are not differentiated by, as in JAX.

Tensors are variables of many numbers: their gradients are tensors of their shape. A number or a Value beside them is
given to `f` as a tensor of no dims, and its gradient is one. With tensors among the arguments `jacobian(f)` gives
tensors, of the shape of the result and then of the argument, and `hessian(f)` likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from numbers import Number
from typing import Any

from gradwalk import modes, reverse, tree
from gradwalk.engine import Value
from gradwalk.errors import GraphError, NotANumberError
from gradwalk.node import Node

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
    >>> grad(lambda x, power: x**power)(2.0, power=3)
    12.0
    >>> grad(grad(grad(lambda x: x**3)))(2.0)
    6.0
    """
    with_value = value_and_grad(f)

    def gradient(*arguments: Any, **settings: Any) -> Any:
        return with_value(*arguments, **settings)[1]

    return gradient


def value_and_grad(f: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """As `grad`, with the value of `f` in front.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """

    def both(*arguments: Any, **settings: Any) -> tuple[Any, Any]:
        inputs = _Inputs(f, arguments, settings)
        if inputs.many:
            from gradwalk.tensor import jacobians

            root = jacobians.one_number(inputs.given)
            found = inputs.shaped(jacobians.gradients(root, inputs.values))
            return root, found[0] if len(found) == 1 else found
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

    def rows(*arguments: Any, **settings: Any) -> list[list[Any]]:
        inputs = _Inputs(f, arguments, settings)
        if inputs.many:
            from gradwalk.tensor import jacobians

            results, structure = tree.flatten(inputs.given)
            all_of_them = [inputs.single(inputs.shaped(jacobians.jacobians(x, inputs.values))) for x in results]
            return structure.unflatten(all_of_them)  # type: ignore[no-any-return]
        return [_gradients(root, inputs.values, as_graph=inputs.symbolic) for root in inputs.results()]

    return rows


def hessian(f: Callable[..., Any]) -> Callable[..., Any]:
    """All second derivatives: a number for a function of one number, else a matrix over all inputs in order.

    >>> hessian(lambda x: x**3)(2.0)
    12.0
    >>> hessian(lambda x, y: x * x * y)(2.0, 3.0)
    [[6.0, 4.0], [4.0, 0.0]]
    """

    def matrix(*arguments: Any, **settings: Any) -> Any:
        inputs = _Inputs(f, arguments, settings)
        if inputs.many:
            from gradwalk.tensor import jacobians

            rows = jacobians.hessians(jacobians.one_number(inputs.given), inputs.values)
            return inputs.single(inputs.shaped([inputs.single(inputs.shaped(row)) for row in rows]))
        with modes.entered(modes.OpByOp()):
            slopes = _gradients(inputs.result(), inputs.values, as_graph=True)
        rows = [_gradients(slope, inputs.values, as_graph=inputs.symbolic) for slope in slopes]
        single = inputs.structure.tokens[1:] == (None,)
        return rows[0][0] if single else rows

    return matrix


class _Inputs:
    """The arguments of one call as Values, what the function made of them, and the way back to their structure."""

    def __init__(self, f: Callable[..., Any], arguments: tuple[Any, ...], settings: dict[str, Any]) -> None:
        if not callable(f):
            raise GraphError(f"derivatives are taken of functions, not of {type(f).__name__}: {f!r}")
        self.leaves, self.structure = tree.flatten(arguments, _is_mask)
        if not self.leaves:
            named = "; what is given by name is not differentiated by" if settings else ""
            raise GraphError(f"there is nothing to differentiate with respect to: give at least one number{named}")
        numbers = _numbers_among(self.leaves, self.structure, "arguments")
        self.places = [i for i in numbers if not isinstance(self.leaves[i], bool)] or numbers or [0]
        self.places = [i for i in self.places if not _is_constant_tensor(self.leaves[i])]
        self.symbolic = any(isinstance(x, Node) for x in self.leaves)
        self.many = any(isinstance(x, Node) and x.many for x in self.leaves)
        if self.many and not self.places:
            raise GraphError("there is nothing to differentiate with respect to: give at least one tensor of floats")
        given = [self.leaves[i] for i in self.places]
        variables = {id(x): _variable(x, self.many) for x in given if isinstance(x, Node)}
        self.values = [variables[id(x)] if isinstance(x, Node) else _variable(x, self.many) for x in given]
        with modes.entered(modes.OpByOp()):
            self.given = f(*self.shaped(self.values), **settings)
        if not self.many and getattr(self.given, "many", False):
            raise NotANumberError("f gives a tensor of these numbers; give them as tensors, as in grad(f)(Tensor(2.0))")

    def shaped(self, numbers: list[Any]) -> tuple[Any, ...]:
        """The arguments with these in the places of their numbers."""
        for i, x in zip(self.places, numbers, strict=True):
            self.leaves[i] = x
        return self.structure.unflatten(self.leaves)  # type: ignore[no-any-return]

    @staticmethod
    def single(shaped: tuple[Any, ...]) -> Any:
        """What belongs to one argument, without the tuple around it."""
        return shaped[0] if len(shaped) == 1 else shaped

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


def _is_constant_tensor(x: Any) -> bool:
    return isinstance(x, Node) and x.many and not x.dtype.startswith("float")  # type: ignore[attr-defined]


def _variable(x: Any, many: bool) -> Any:
    """An argument as what the function is differentiated by; a Value or a number beside tensors is one of no dims.

    A node becomes another one, for the function may know it by name.
    """
    if isinstance(x, Node) and (x.many or not many):
        return x.detach() if x.many and not x.requires_grad else x * 1.0  # type: ignore[attr-defined, operator]
    if many:
        from gradwalk.tensor import Tensor

        return Tensor.of(x) * 1.0 if isinstance(x, Node) else Tensor(float(x))
    return Value(x)


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
    table = reverse.adjoints(root, 1.0, as_graph=as_graph, of=leaves) if isinstance(root, Value) else {}
    found = (table.get(leaf, 0.0) for leaf in leaves)
    return [x if isinstance(x, Value) or not as_graph else Value(x) for x in found]
