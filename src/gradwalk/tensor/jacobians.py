"""All first and second derivatives of functions of tensors: the dims of the result, then those of the input."""

from __future__ import annotations

from typing import Any

from gradwalk import modes, reverse, tree
from gradwalk.errors import NotANumberError
from gradwalk.node import Node
from gradwalk.tensor import arrays, reach
from gradwalk.tensor.backward import filled
from gradwalk.tensor.core import Tensor, constant
from gradwalk.tensor.functions import as_tensor, stack
from gradwalk.tensor.shapes import size_of

__all__ = ["gradients", "hessians", "jacobians", "one_number"]


def one_number(result: Any) -> Node:
    """What a function gave, if it is one number: a Value, or a tensor of one.

    >>> one_number(Tensor([2.0])).shape
    (1,)
    """
    if isinstance(result, Tensor):
        if size_of(result.shape) == 1:
            return result
        raise NotANumberError(
            f"grad(f) needs f to give one number, and it gave a tensor of shape {result.shape}; take its sum() or "
            "mean(), or use jacobian(f)"
        )
    if isinstance(result, Node):
        return result
    if not tree.is_number(result):
        raise NotANumberError(
            f"grad(f) needs f to give one number, and it gave {type(result).__name__}; for several results use "
            "jacobian(f)"
        )
    return as_tensor(result)


def gradients(root: Any, leaves: list[Any], seed: Any = None) -> list[Any]:
    """The gradient of `root` with respect to each leaf, as a graph; zeros where it does not depend on it.

    >>> x = Tensor([1.0, 2.0])
    >>> gradients((x * x).sum(), [x])
    [Tensor([2.0, 4.0])]
    """
    table: dict[Any, Any] = {}
    if root.many and root.requires_grad:  # a Value depends on no tensor
        begin = constant(arrays.now.full(root.shape, 1.0, root.dtype) if seed is None else seed)
        with reach.reaching(root):
            table = reverse.adjoints(root, begin, as_graph=True, of=leaves)
        found = [_gradient(table.get(leaf), leaf) for leaf in leaves]
        if seed is not None and arrays.now.have_nan([x.array for x in found]):
            # 0 times inf: for a row of a jacobian the other results do not count at all
            with reach.reaching(root, arrays.now.functions["!="](seed, 0.0)):
                table = reverse.adjoints(root, begin, as_graph=True, of=leaves)
    return [_gradient(table.get(leaf), leaf) for leaf in leaves]


def _gradient(found: Any, leaf: Any) -> Any:
    found = 0.0 if found is None else found
    return found if isinstance(found, Tensor) else constant(arrays.now.settled(filled(found, leaf)))


def jacobians(result: Any, leaves: list[Any]) -> list[Any]:
    """For each leaf a tensor of all derivatives of a result, of the shape of the result and then of the leaf.

    >>> x = Tensor([1.0, 2.0])
    >>> jacobians(x * x, [x])
    [Tensor([[2.0, 0.0], [0.0, 4.0]])]
    """
    root = result if isinstance(result, Tensor) else as_tensor(result)
    n = size_of(root.shape)
    rows = []
    for i in range(n):
        seed = arrays.now.reshape(arrays.now.new([float(i == j) for j in range(n)], root.dtype), root.shape)
        rows.append(gradients(root, leaves, seed))
    return [
        stack([row[k] for row in rows]).reshape(*root.shape, *leaf.shape)
        if n
        else constant(arrays.now.full((*root.shape, *leaf.shape), 0.0, root.dtype))
        for k, leaf in enumerate(leaves)
    ]


def hessians(root: Any, leaves: list[Any]) -> list[list[Any]]:
    """For each pair of leaves a tensor of all second derivatives, of the shape of the one and then of the other.

    >>> x = Tensor([1.0, 2.0])
    >>> hessians((x * x * x).sum(), [x])
    [[Tensor([[6.0, 0.0], [0.0, 12.0]])]]
    """
    with modes.entered(modes.OpByOp()):
        slopes = gradients(root, leaves)
    return [jacobians(first, leaves) for first in slopes]
