"""What is not there for tensors, by name, with the nearest thing that is."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, NoReturn

from gradwalk.errors import GraphError

__all__ = ["NotThere", "not_there", "refuse", "refuse_tensors"]

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


def not_there(name: str, owner: str) -> str:
    """What to say of a name that is not there.

    >>> not_there("prod", "Tensor")
    "Tensor has no 'prod'; use exp of the sum of logs for positive numbers, or a loop of products"
    """
    if name.startswith("_"):
        return f"{owner!r} object has no attribute {name!r}"
    if name in INSTEAD:
        return f"{owner} has no {name!r}; use {INSTEAD[name]}"
    from gradwalk.tensor import methods

    near = get_close_matches(name, [known for known in dir(methods.TensorMethods) if not known.startswith("_")], 1)
    return f"{owner} has no {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


class NotThere(AttributeError):  # noqa: N818 (it is an AttributeError, with another text)
    """A name that a tensor does not have. Most who ask have an answer of their own; the text is for the others.

    >>> str(NotThere("median"))
    "Tensor has no 'median'; use sort(dim)"
    """

    def __str__(self) -> str:
        return not_there(self.args[0], "Tensor")


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
