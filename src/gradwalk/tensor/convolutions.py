"""Convolutions and pooling of tensors: the windows over an array, unfolded, and a product or a maximum of each."""

# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import INT64
from gradwalk.tensor.core import Tensor, constant
from gradwalk.tensor.functions import as_tensor, einsum, pad
from gradwalk.tensor.shapes import Shape, shape_error, shape_of

__all__ = ["avg_pool1d", "avg_pool2d", "conv1d", "conv2d", "max_pool1d", "max_pool2d"]


def _pair(x: Any, taker: str, name: str, count: int) -> Shape:
    found = shape_of((tuple(x),) if isinstance(x, (tuple, list)) else (x,) * count, f"{name} of {taker}")
    if len(found) != count:
        raise shape_error(f"{taker} takes {name} as {count} number(s), and was given {x!r:.60}")
    return found


def _windows(x: Tensor, sizes: Shape, strides: Shape, taker: str) -> Any:
    """All windows over the last dims: (batch, channels, places…, sizes…)."""
    front = x.ndim - len(sizes)
    places = []
    for axis, (n, k, step) in enumerate(zip(x.shape[front:], sizes, strides, strict=True)):
        if k < 1 or step < 1 or k > n:
            raise shape_error(
                f"{taker}: a window of {k} with stride {step} does not fit dim {front + axis} of shape {x.shape}"
            )
        places.append([[start + i for i in range(k)] for start in range(0, n - k + 1, step)])
    if len(sizes) == 1:
        return x[(slice(None),) * front + (places[0],)]
    rows = constant(arrays.now.new([[[[row]] for row in window] for window in places[0]], INT64))
    columns = constant(arrays.now.new(places[1], INT64))
    # (rows, size, 1, 1) with (columns, size): every row of a window beside every column of it
    picked = x[(slice(None),) * front + (rows, columns)]
    order = (*range(front), front, front + 2, front + 1, front + 3)
    return picked.permute(order)


def _conv(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dims: int) -> Any:
    taker = f"conv{dims}d"
    x, weight = as_tensor(x), as_tensor(weight)
    if weight.ndim != dims + 2:
        raise shape_error(
            f"{taker} takes weights (out, in, {', '.join('kernel' for _ in range(dims))}), not shape {weight.shape}"
        )
    alone = x.ndim == dims + 1
    if alone:
        x = x.unsqueeze(0)
    if x.ndim != dims + 2 or x.shape[1] != weight.shape[1]:
        raise shape_error(
            f"{taker}: inputs of shape {x.shape} do not fit weights of shape {weight.shape} (out, in, kernel)"
        )
    around = _pair(padding, taker, "padding", dims)
    if min(around) < 0:
        raise shape_error(f"{taker} takes padding of at least 0, not {padding!r:.60}; to cut, take a slice")
    if any(around):
        x = pad(x, [n for width in reversed(around) for n in (width, width)])
    windows = _windows(x, weight.shape[2:], _pair(stride, taker, "stride", dims), taker)
    places, kernel = "xy"[:dims], "pq"[:dims]
    out = einsum(f"bc{places}{kernel},oc{kernel}->bo{places}", windows, weight)
    if bias is not None:
        out = out + as_tensor(bias).reshape(-1, *(1,) * dims)
    return out.squeeze(0) if alone else out


def conv1d(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0) -> Tensor:
    """Windows of `x` (batch, in, length) times weights (out, in, kernel), summed.

    >>> gradwalk.conv1d(gradwalk.ones(1, 1, 4), gradwalk.ones(1, 1, 2))
    Tensor([[[2.0, 2.0, 2.0]]])
    """
    return _conv(x, weight, bias, stride, padding, 1)


def conv2d(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0) -> Tensor:
    """Windows of `x` (batch, in, height, width) times weights (out, in, kernel, kernel), summed.

    >>> gradwalk.conv2d(gradwalk.ones(1, 1, 3, 3), gradwalk.ones(1, 1, 2, 2)).shape
    (1, 1, 2, 2)
    """
    return _conv(x, weight, bias, stride, padding, 2)


def _pooled(x: Any, kernel_size: Any, stride: Any, dims: int, kind: str) -> Any:
    taker = f"{kind}_pool{dims}d"
    sizes = _pair(kernel_size, taker, "kernel_size", dims)
    x = as_tensor(x)
    if x.ndim < dims + 1:
        raise shape_error(f"{taker} takes (batch, channels, …) and was given shape {x.shape}")
    windows = _windows(x, sizes, sizes if stride is None else _pair(stride, taker, "stride", dims), taker)
    if kind == "avg":
        return windows.mean(tuple(range(-dims, 0)))
    return windows.flatten(windows.ndim - dims).max(-1).values


def max_pool1d(x: Any, kernel_size: Any, stride: Any = None) -> Tensor:
    """The largest number of each window along the last dim.

    >>> gradwalk.max_pool1d(gradwalk.Tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    Tensor([[[3.0, 2.0]]])
    """
    return _pooled(x, kernel_size, stride, 1, "max")


def max_pool2d(x: Any, kernel_size: Any, stride: Any = None) -> Tensor:
    """The largest number of each window along the last two dims.

    >>> gradwalk.max_pool2d(gradwalk.ones(1, 1, 4, 4), 2).shape
    (1, 1, 2, 2)
    """
    return _pooled(x, kernel_size, stride, 2, "max")


def avg_pool1d(x: Any, kernel_size: Any, stride: Any = None) -> Tensor:
    """The mean of each window along the last dim.

    >>> gradwalk.avg_pool1d(gradwalk.Tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    Tensor([[[2.0, 1.0]]])
    """
    return _pooled(x, kernel_size, stride, 1, "avg")


def avg_pool2d(x: Any, kernel_size: Any, stride: Any = None) -> Tensor:
    """The mean of each window along the last two dims.

    >>> gradwalk.avg_pool2d(gradwalk.ones(1, 1, 4, 4), 2).shape
    (1, 1, 2, 2)
    """
    return _pooled(x, kernel_size, stride, 2, "avg")
