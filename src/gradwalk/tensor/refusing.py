"""What is not there for tensors, by name, with the nearest thing that is."""

from __future__ import annotations

from typing import Any, NoReturn

from gradwalk.errors import GraphError

__all__ = ["INSTEAD", "LeftOut", "refuse", "refuse_tensors"]

#: PyTorch's names that are left out, and what to use.
INSTEAD = {
    "prod": "exp of the sum of logs for positive numbers, or a loop of products",
    "cumprod": "exp of cumsum of logs for positive numbers",
    "median": "sort(dim)",
    "mode": "sort(dim)",
    "quantile": "sort(dim)",
    "kthvalue": "sort(dim)",
    "cummax": "a loop of maximum",
    "fill_": "t.data[...] = x on a leaf",
    "zero_": "zero_grad() for a gradient, t.data[...] = 0 for a leaf",
    "copy_": "t.data[...] = x on a leaf",
    "normal_": "gradwalk.randn",
    "uniform_": "gradwalk.rand",
    "add_": "t + x, or t.data += x on a leaf",
    "sub_": "t - x, or t.data -= x on a leaf",
    "mul_": "t * x, or t.data *= x on a leaf",
    "div_": "t / x, or t.data /= x on a leaf",
    "clamp_": "t.clamp(low, high)",
    "relu_": "t.relu()",
    "masked_fill_": "t.masked_fill(mask, x)",
    "scatter": "t.put(i, v)",
    "scatter_": "t.put(i, v)",
    "scatter_add": "t.put(i, v), or an index, whose way back adds",
    "index_add": "t.put(i, t[i] + v)",
    "index_put": "t.put(i, v)",
    "index_fill": "t.put(i, v)",
    "cuda": "the processor, which is all there is",
    "half": "float(), which is float32",
    "bfloat16": "float(), which is float32",
    "inverse": "a solver of your own; there are no decompositions",
    "det": "scalars(); there are no decompositions",
    "svd": "NumPy on t.numpy(), without gradient; there are no decompositions",
    "outer": "einsum('i,j->ij', a, b)",
    "cross": "products of indexed parts",
    "kron": "einsum and reshape",
    "unfold": "gradwalk.conv1d, conv2d, or an index with arrays of ints",
    "grad_fn": "primitive and inputs",
    "is_cuda": "the processor, which is all there is",
    "stride": "shape; how it lies in memory makes no difference here",
    "data_ptr": "numpy()",
    "atan2": "atan of a quotient",
    "fmod": "%",
    "lerp": "a + w * (b - a)",
    "addmm": "b + x @ w",
    "baddbmm": "b + x @ w",
    "as_strided": "reshape, permute and indexing",
    "unique": "NumPy on t.numpy(), which has no gradient",
    "bincount": "one_hot(t).sum(0)",
    "histc": "NumPy on t.numpy()",
    "conv3d": "conv2d in a loop",
    "embedding": "weights[indices], or nn.Embedding",
    "empty": "zeros",
    "scaled_dot_product_attention": "softmax(q @ k.mT * scale) @ v",
}


class LeftOut:
    """Stands for a name that a tensor does not have, and says what to use. It is not there for `hasattr` either.

    A tensor has no `__getattr__`, which would know all names: with it, a look at any field takes five times as long.

    >>> try:
    ...     gradwalk.Tensor([1.0]).median
    ... except AttributeError as error:
    ...     str(error)
    "Tensor has no 'median'; use sort(dim)"
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, v: Any, kind: Any = None) -> NoReturn:
        raise AttributeError(f"Tensor has no {self.name!r}; use {INSTEAD[self.name]}", name=self.name, obj=v)


def refuse(feature: str) -> NoReturn:
    """Say that something does not know tensors yet.

    >>> refuse("explain")
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: explain does not know tensors yet; tensor.scalars() gives the same computation as
    Values,
    which it knows
    """
    raise GraphError(
        f"{feature} does not know tensors yet; tensor.scalars() gives the same computation as Values, which it knows"
    )


def refuse_tensors(feature: str, *things: Any) -> None:
    """Refuse a tensor among what was given, or in a list of it.

    >>> refuse_tensors("explain", 1.0, [2.0])
    """
    for thing in things:
        parts = thing if isinstance(thing, (list, tuple)) else (thing,)
        if any(getattr(part, "many", False) is True for part in parts):
            refuse(feature)
