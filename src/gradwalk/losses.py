"""Losses: one number that says how wrong a model is, small when it is right.

Each takes what the model gave and what it should have given, in lists of equal length or one of each, and answers
with their mean as a `Value`, ready for `backward()`. None overflows, however large the numbers: exponentials are
only ever taken of what is left after the largest number has been subtracted.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, SettingError
from gradwalk.functions import (
    is_single,
    less_peak,
    listed,
    log_total,
    logsumexp,
    operand,
    real,
    row_of_values,
    softmax,
    take,
    total,
)
from gradwalk.ops import comes_later, where

__all__ = ["binary_cross_entropy", "cross_entropy", "hinge", "log_softmax", "logsumexp", "mse", "softmax"]


# --- losses ------------------------------------------------------------------------------------------------------


def mse(predictions: Any, targets: Any) -> Value:
    """The mean of the squared errors.

    >>> nn.mse([Value(1.0), Value(2.0)], [1.0, 4.0]).data
    2.0
    """
    if _many(predictions, targets):
        error = _of_one_shape("mse", predictions, targets)
        return (error * error).mean()  # type: ignore[no-any-return]
    pairs = _pairs("mse", "predictions", predictions, "targets", targets)
    errors = [_value(p, "prediction", i) - operand(t, "target", i) for i, (p, t) in enumerate(pairs, start=1)]
    return _mean([error * error for error in errors])


def hinge(scores: Any, labels: Any) -> Value:
    """The max-margin loss: how far each score falls short of 1 on the side of its label, which is 1 or -1.

    >>> nn.hinge([Value(2.0), Value(0.5)], [1, -1]).data
    0.75
    """
    if _many(scores, labels):
        _of_one_shape("hinge", scores, labels)
        return (1.0 - scores * _labels(labels, scores, (-1.0, 1.0), "hinge")).relu().mean()  # type: ignore[no-any-return]
    pairs = _pairs("hinge", "scores", scores, "labels", labels)
    remedy = "labels of 0 and 1 become these as 2 * label - 1"
    sides = _each_one_of((-1.0, 1.0), [label for _, label in pairs], "hinge label", remedy)
    shortfalls = []
    for i, ((score, _), side) in enumerate(zip(pairs, sides, strict=True), start=1):
        shortfalls.append((_value(score, "score", i) * -side + 1.0).relu())
    return _mean(shortfalls)


def binary_cross_entropy(logits: Any, targets: Any) -> Value:
    """The cross-entropy of yes-or-no answers: targets are 1 or 0, and a logit is what a sigmoid would be applied to.

    >>> nn.binary_cross_entropy([Value(1000.0), Value(-1000.0)], [1, 1]).data
    500.0
    """
    if _many(logits, targets):
        _of_one_shape("binary_cross_entropy", logits, targets)
        sides = 1.0 - 2.0 * _labels(targets, logits, (0.0, 1.0), "binary_cross_entropy")
        return (logits * sides).softplus().mean()  # type: ignore[no-any-return]
    pairs = _pairs("binary_cross_entropy", "logits", logits, "targets", targets)
    remedy = "labels of -1 and 1 become these as (label + 1) / 2"
    answers = _each_one_of((0.0, 1.0), [target for _, target in pairs], "binary_cross_entropy target", remedy)
    surprises = []
    for i, ((logit, _), yes) in enumerate(zip(pairs, answers, strict=True), start=1):
        z = _value(logit, "logit", i)
        # -log(sigmoid(z)) is softplus(-z), and -log(1 - sigmoid(z)) is softplus(z): no logarithm of a tiny number.
        wrong = z * (1.0 - 2.0 * yes) if comes_later(yes) else -z if yes else z
        surprises.append(wrong.softplus())
    return _mean(surprises)


def cross_entropy(logits: Any, targets: Any) -> Value:
    """The softmax cross-entropy: a row of logits for each sample, and the index of the class that is right.

    One row with one index will do as well.

    >>> nn.cross_entropy([[Value(1000.0), Value(0.0)], [Value(0.0), Value(1000.0)]], [0, 0]).data
    500.0
    >>> round(nn.cross_entropy([Value(0.0), Value(0.0)], 1).data, 6)
    0.693147
    """
    if _many(logits):
        from gradwalk.tensor.losses import cross_entropy as of_tensors

        return of_tensors(logits, targets)  # type: ignore[return-value]
    if is_single(targets):
        logits, targets = [logits], [targets]
    pairs = _pairs("cross_entropy", "rows of logits", logits, "targets", targets)
    classes = 0
    surprises = []
    for i, (logits_of_sample, target) in enumerate(pairs, start=1):
        row = row_of_values(logits_of_sample, f"row {i} of the logits of cross_entropy")
        classes = classes or len(row)
        if len(row) != classes:
            raise InputSizeError(
                f"row {i} of the logits holds {len(row)} and row 1 holds {classes}; each row has one for every class"
            )
        shifted = less_peak(row)
        surprises.append(log_total(shifted) - take(shifted, _class_index(target, classes, i)))
    return _mean(surprises)


# --- softmax and its relatives: the others are in functions ---------------------------------------------------------


def log_softmax(values: Any, dim: Any = None) -> Any:
    """The logarithms of the shares that softmax gives, without passing through shares too small for a float.

    >>> [p.data for p in nn.log_softmax([Value(1000.0), Value(-1000.0)])]
    [0.0, -2000.0]
    """
    if _many(values):
        return values.log_softmax(dim)
    shifted = less_peak(row_of_values(values, "log_softmax"))
    log_of_total = log_total(shifted)
    return [v - log_of_total for v in shifted]


def _mean(values: list[Value]) -> Value:
    mean: Value = total(values) / len(values)
    return mean


# --- tensors ---------------------------------------------------------------------------------------------------------


def _many(*given: Any) -> bool:
    return any(getattr(x, "many", False) is True for x in given)


def _of_one_shape(loss: str, given: Any, wanted: Any) -> Any:
    """The difference of two tensors of one shape: (n,) and (n, 1) would make (n, n), which nobody means."""
    from gradwalk.tensor.functions import as_tensor
    from gradwalk.tensor.shapes import shape_error

    given, wanted = as_tensor(given), as_tensor(wanted)
    if given.shape != wanted.shape:
        raise shape_error(
            f"{loss} was given shapes {given.shape} and {wanted.shape}, one number for each; make them equal, with "
            "squeeze() or unsqueeze()"
        )
    return given - wanted if wanted.dtype != "bool" else given


def _labels(labels: Any, scores: Any, allowed: tuple[float, float], loss: str) -> Any:
    """Labels as a tensor of floats, as the scores are, each one of two numbers; no gradient flows to them."""
    from gradwalk.tensor.functions import as_tensor

    kind = as_tensor(scores).dtype
    found = as_tensor(labels).to(kind if kind.startswith("float") else "float64")
    low, high = allowed
    if getattr(found.array, "of_samples", False):
        found = _nan_unless(allowed, found)
    elif not bool(((found == low) | (found == high)).all()):
        raise SettingError(f"a label of {loss} is neither {low:g} nor {high:g}")
    return found.detach().requires_grad_(False)


# --- what was given ----------------------------------------------------------------------------------------------


def _value(x: Any, what: str, position: int) -> Value:
    x = operand(x, what, position)
    return Value(x) if isinstance(x, float) else x


def _pairs(loss: str, what: str, given: Any, what_else: str, wanted: Any) -> list[tuple[Any, Any]]:
    """What the model gave beside what it should have given."""
    left, right = listed(given, loss, what), listed(wanted, loss, what_else)
    if len(left) != len(right):
        raise InputSizeError(f"{loss} needs as many {what} as {what_else}, and was given {len(left)} and {len(right)}")
    if not left:
        raise InputSizeError(f"{loss} was given no {what}, and there is no mean of nothing; give at least one")
    return list(zip(left, right, strict=True))


def _each_one_of(allowed: tuple[float, float], given: list[Any], what: str, remedy: str) -> list[Any]:
    """Labels, each one of two numbers; no gradient flows to them."""
    numbers: list[Any] = [x.data if isinstance(x, Value) else x for x in given]
    for i, x in enumerate(numbers, start=1):
        label = x.at_hand if comes_later(x) else real(x, what, i)
        if label not in allowed:
            low, high = allowed
            raise SettingError(f"{what} {i} is {label:g}, and may be {low:g} or {high:g}; {remedy}")
    later = [x for x in numbers if comes_later(x)]
    if any(x.of_samples for x in later):
        return [_nan_unless(allowed, x) if comes_later(x) else float(x) for x in numbers]
    if sum([abs((x - allowed[0]) * (x - allowed[1])) for x in later]) != 0:  # one question for all of them
        raise SettingError(f"a {what} is none of {allowed}; {remedy}")
    return [x if comes_later(x) else float(x) for x in numbers]


def _nan_unless(allowed: tuple[float, float], x: Any) -> Any:
    """A label that comes later, or nan if it is none then: the loss is nan, which costs less than to look at it."""
    low, high = allowed
    return where((x == low) | (x == high), x, math.nan)


def _class_index(target: Any, classes: int, position: int) -> Any:
    if comes_later(target):
        return target
    try:
        index = operator.index(target)
    except TypeError:
        raise SettingError(
            f"target {position} of cross_entropy is the index of a class, a whole number, not {target!r:.60}"
        ) from None
    if not 0 <= index < classes:
        raise SettingError(
            f"target {position} of cross_entropy is class {index}, and {classes} logits make classes 0 to {classes - 1}"
        )
    return index
