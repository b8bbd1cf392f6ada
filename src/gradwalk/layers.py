"""Layers that work on tensors, by PyTorch's names: Linear, Embedding, Sequential, BatchNorm1d, LayerNorm, Dropout.

They are found in `gradwalk.nn`, beside `Neuron`, `Layer` and `MLP`, which hold Values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gradwalk import ops
from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.functions import size
from gradwalk.module import Module
from gradwalk.tensor import Tensor
from gradwalk.tensor.functions import as_tensor, ones, zeros
from gradwalk.tensor.indexing import extremes
from gradwalk.tensor.random import rand, randn
from gradwalk.tensor.shapes import shape_error, shape_of

__all__ = ["BatchNorm1d", "Dropout", "Embedding", "LayerNorm", "Linear", "Sequential"]


class Linear(Module):
    """Each output a weighted sum of the inputs, plus a bias: `x @ weight.T + bias`, as PyTorch's.

    >>> nn.Linear(3, 2)(gradwalk.ones(4, 3)).shape
    (4, 2)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, dtype: Any = "float64") -> None:
        self.in_features, self.out_features = size("in_features", in_features), size("out_features", out_features)
        limit = 1.0 / math.sqrt(self.in_features)
        self.weight = _uniform((self.out_features, self.in_features), limit, dtype)
        self.bias: Any = _uniform((self.out_features,), limit, dtype) if bias else None  # mostly a tensor

    def __call__(self, x: Any) -> Any:
        """The outputs, for inputs whose last dim has as many numbers as there are inputs.

        >>> nn.Linear(3, 2)(gradwalk.ones(4, 5))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.ShapeError: Linear(3, 2) takes a last dim of 3, and was given shape (4, 5)...
        """
        x = as_tensor(x)
        if not x.shape or x.shape[-1] != self.in_features:
            raise shape_error(f"{self!r} takes a last dim of {self.in_features}, and was given shape {x.shape}")
        out = x @ self.weight.T
        return out if self.bias is None else out + self.bias

    def __repr__(self) -> str:
        return f"Linear({self.in_features}, {self.out_features}{'' if self.bias is not None else ', bias=False'})"


def _uniform(shape: tuple[int, ...], limit: float, dtype: Any) -> Tensor:
    return Tensor((rand(*shape, requires_grad=False) * 2.0 - 1.0) * limit, dtype=dtype)


class Embedding(Module):
    """A row of numbers for each of so many things, looked up by their numbers.

    >>> nn.Embedding(10, 3)([[1, 2], [2, 9]]).shape
    (2, 2, 3)
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, *, dtype: Any = "float64") -> None:
        shape = size("num_embeddings", num_embeddings), size("embedding_dim", embedding_dim)
        self.weight = Tensor(randn(*shape), dtype=dtype)

    def __call__(self, indices: Any) -> Any:
        """The rows of these numbers.

        >>> nn.Embedding(10, 3)([11])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.ShapeError: index 11 is out of range in dim 0 of shape (10, 3): there are 0 to 9...
        """
        at = as_tensor(indices)
        if at.dtype != "int64":
            raise NotANumberError(f"Embedding looks up whole numbers, and was given {at.dtype}")
        lowest = min(extremes(at.array), default=0)
        if lowest < 0:
            raise SettingError(f"Embedding looks up things 0 to {self.weight.shape[0] - 1}, and was given {lowest}")
        return self.weight[at]

    def __repr__(self) -> str:
        return f"Embedding{self.weight.shape}"


class Sequential(Module):
    """Layers one after the other: modules, or functions of a tensor.

    >>> model = nn.Sequential(nn.Linear(3, 8), gradwalk.tanh, nn.Linear(8, 2))
    >>> model(gradwalk.ones(4, 3)).shape, len(model.parameters())
    ((4, 2), 4)
    """

    def __init__(self, *layers: Any) -> None:
        for i, layer in enumerate(layers):
            if not callable(layer):
                raise SettingError(
                    f"layer {i} of Sequential is no module and no function, but {type(layer).__name__}: {layer!r:.60}"
                )
        self.layers = list(layers)

    def __call__(self, x: Any) -> Any:
        """What the last layer gives.

        >>> nn.Sequential(gradwalk.tanh)(gradwalk.zeros(2))
        Tensor([0.0, 0.0])
        """
        for layer in self.layers:
            x = layer(x)
        return x

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, i: Any) -> Any:
        return self.layers[i]

    def __repr__(self) -> str:
        return f"Sequential({', '.join(getattr(layer, 'name', None) or repr(layer) for layer in self.layers)})"


class BatchNorm1d(Module):
    """Each feature brought to mean 0 and variance 1 over the batch, then scaled and shifted by what is learnt.

    In training it also keeps running means and variances, which it uses after `eval()`. The numbers are PyTorch's.

    >>> norm = nn.BatchNorm1d(3)
    >>> out = norm(gradwalk.Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 7.0]]))
    >>> [round(x, 3) for x in out.tolist()[0]]
    [-1.0, 0.0, -1.0]
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, *, dtype: Any = "float64") -> None:
        n = size("num_features", num_features)
        self.eps, self.momentum = ops.number(eps), ops.number(momentum)
        self.weight, self.bias = ones(n, dtype=dtype), zeros(n, dtype=dtype)
        self.running_mean = zeros(n, dtype=dtype, requires_grad=False)
        self.running_var = ones(n, dtype=dtype, requires_grad=False)

    def __call__(self, x: Any) -> Any:
        """The batch, normalised: (samples, features), or (samples, features, places).

        >>> nn.BatchNorm1d(3)(gradwalk.ones(1, 3))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.InputSizeError: BatchNorm1d needs more than one number of each feature to train; ...
        """
        x = as_tensor(x)
        n = self.weight.shape[0]
        if x.ndim not in (2, 3) or x.shape[1] != n:
            raise shape_error(f"{self!r} takes shape (samples, {n}) or (samples, {n}, places), and was given {x.shape}")
        axes = (0,) if x.ndim == 2 else (0, 2)
        shape = (1, n) if x.ndim == 2 else (1, n, 1)
        if self.training:
            count = x.numel() // n
            if count < 2:
                raise InputSizeError(
                    "BatchNorm1d needs more than one number of each feature to train; call eval() to use it"
                )
            mean, var = x.mean(axes, keepdim=True), x.var(axes, unbiased=False, keepdim=True)
            for kept, now in ((self.running_mean, mean), (self.running_var, var * (count / (count - 1)))):
                latest = Tensor(now.reshape(-1).detach(), False)
                kept.data = Tensor(kept.detach(), False) * (1.0 - self.momentum) + latest * self.momentum
        else:
            mean, var = self.running_mean.reshape(shape), self.running_var.reshape(shape)
        return (x - mean) / ops.sqrt(var + self.eps) * self.weight.reshape(shape) + self.bias.reshape(shape)

    def __repr__(self) -> str:
        return f"BatchNorm1d({self.weight.shape[0]})"


class LayerNorm(Module):
    """Each sample brought to mean 0 and variance 1 over its last dims, then scaled and shifted by what is learnt.

    >>> [round(x, 3) for x in nn.LayerNorm(2)(gradwalk.Tensor([1.0, 3.0])).tolist()]
    [-1.0, 1.0]
    """

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, *, dtype: Any = "float64") -> None:
        self.shape = shape_of(
            (normalized_shape,) if not isinstance(normalized_shape, (tuple, list)) else tuple(normalized_shape),
            "LayerNorm",
        )
        self.eps = ops.number(eps)
        self.weight, self.bias = ones(self.shape, dtype=dtype), zeros(self.shape, dtype=dtype)

    def __call__(self, x: Any) -> Any:
        """The samples, normalised.

        >>> nn.LayerNorm(2)(gradwalk.ones(4, 2)).shape
        (4, 2)
        """
        x = as_tensor(x)
        if x.shape[x.ndim - len(self.shape) :] != self.shape:
            raise shape_error(f"{self!r} takes last dims of {self.shape}, and was given shape {x.shape}")
        axes = tuple(range(-len(self.shape), 0))
        away = x - x.mean(axes, keepdim=True)
        return away / ops.sqrt((away * away).mean(axes, keepdim=True) + self.eps) * self.weight + self.bias

    def __repr__(self) -> str:
        return f"LayerNorm({', '.join(map(str, self.shape))})"


class Dropout(Module):
    """In training, numbers set to 0 with probability `p`, and the others made larger for it; after `eval()` nothing.

    >>> drop = nn.Dropout(0.5)
    >>> drop.eval()(gradwalk.ones(2))
    Tensor([1.0, 1.0])
    """

    def __init__(self, p: float = 0.5) -> None:
        self.p = ops.number(p)
        if not 0.0 <= self.p < 1.0:
            raise SettingError(f"p of Dropout is at least 0 and below 1, not {self.p:g}")

    def __call__(self, x: Any) -> Any:
        """The numbers, some of them 0.

        >>> nn.Dropout(0.0)(gradwalk.ones(2))
        Tensor([1.0, 1.0])
        """
        x = as_tensor(x)
        if not self.training or not self.p:
            return x
        kept = rand(*x.shape, requires_grad=False) >= self.p
        return ops.where(kept, x * (1.0 / (1.0 - self.p)), 0.0)

    def __repr__(self) -> str:
        return f"Dropout({self.p:g})"
