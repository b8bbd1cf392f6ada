"""Losses of classes on tensors: softmax cross-entropy, and the negative logarithm of the right class's share."""

# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import INT64
from gradwalk.tensor.core import Tensor
from gradwalk.tensor.entries import Index
from gradwalk.tensor.functions import as_tensor
from gradwalk.tensor.indexing import extremes
from gradwalk.tensor.shapes import shape_error

__all__ = ["cross_entropy", "nll_loss"]


#: Settings of PyTorch's that are left out: what they are here, and what to use where they should be otherwise.
INSTEAD: dict[str, tuple[Any, str]] = {
    "ignore_index": (-100, "the rows that count: cross_entropy(logits[keep], targets[keep])"),
    "label_smoothing": (0.0, "shares as targets: one_hot(targets, n) * (1 - smoothing) + smoothing / n"),
    "reduction": ("mean", "-logits.log_softmax(1)[range(n), targets], which is one number for each row"),
    "weight": (
        None,
        "(-logits.log_softmax(1)[range(n), targets] * weight[targets]).sum() / weight[targets].sum()",
    ),
}


def _refuse_settings(taker: str, left_out: dict[str, Any]) -> None:
    for name, given in left_out.items():
        usual, instead = INSTEAD.get(name, (..., ""))
        if given is not usual and not (isinstance(usual, (str, int, float)) and given == usual):
            raise SettingError(f"{taker} has no {name!r}" + (f"; use {instead}" if instead else ""))


def cross_entropy(logits: Any, targets: Any, **left_out: Any) -> Tensor:
    """The mean softmax cross-entropy of rows of logits: targets are the indices of the right classes, or shares.

    >>> gradwalk.cross_entropy(gradwalk.zeros(2, 4), [0, 3]).item()
    1.3862943611198906
    """
    _refuse_settings("cross_entropy", left_out)
    z, wanted = as_tensor(logits), as_tensor(targets)
    if z.ndim not in (1, 2):
        raise shape_error(
            f"cross_entropy takes logits (samples, classes) or (classes), not shape {z.shape}; flatten the dims in "
            "front"
        )
    if wanted.dtype.startswith("float"):
        if wanted.shape != z.shape:
            raise shape_error(f"cross_entropy was given shares of shape {wanted.shape} for logits of shape {z.shape}")
        lost = -(z.log_softmax(-1) * wanted).sum(-1)
        return lost.mean() if z.ndim == 2 else lost
    return nll_loss(z.log_softmax(-1), wanted)


def nll_loss(log_shares: Any, targets: Any, **left_out: Any) -> Tensor:
    """The mean of what is lost: the logarithms of the shares of the right classes, with the other sign.

    >>> gradwalk.nll_loss(gradwalk.Tensor([[-1.0, -2.0]]), [1]).item()
    2.0
    """
    _refuse_settings("nll_loss", left_out)
    shares, wanted = as_tensor(log_shares), as_tensor(targets)
    if shares.ndim == 1:
        shares, wanted = shares.unsqueeze(0), wanted.reshape(-1)
    if shares.ndim != 2:
        raise shape_error(f"a loss over classes takes a row for each sample, of shape (n, classes), not {shares.shape}")
    n, classes = shares.shape
    if wanted.shape != (n,):
        raise shape_error(
            f"{n} row(s) of logits need {n} target(s), of shape ({n},), and were given shape {wanted.shape}"
        )
    if not n:
        raise InputSizeError("a loss of no samples has no mean; give at least one")
    if wanted.dtype != INT64:
        raise NotANumberError(f"targets are the indices of classes, whole numbers, and were given as {wanted.dtype}")
    high, low = extremes(wanted.array) or (0, 0)
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise SettingError(f"a target is class {wrong}, and {classes} logits make classes 0 to {classes - 1}")
    return -Index((), (arrays.now.arange(n), wanted.array))(shares).mean()
