"""`gradcheck` on functions of tensors: every number of every input, and every op on the way by itself.

What backward gives is compared with slopes that are measured by nudging one number at a time. A wrong gradient is put
down to an op by checking each node alone: the operand is nudged, the op computed again, and what its result changes by
is compared with what flows back through it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from gradwalk import reverse, walk
from gradwalk.check.agreement import judged
from gradwalk.check.numeric import slope
from gradwalk.check.report import CheckReport, InputCheck, Suspect
from gradwalk.errors import GradwalkError, GraphError, NotANumberError, SettingError

__all__: list[str] = []

#: Numbers of one operand that are nudged in the search for an op at fault; more would take long and tell little.
LOOKED_AT = 24
NOTHING = (
    "each op by itself is right: does f take .data, detach() or numpy() on the way, or keep a tensor between calls?"
)


def checked(f: Callable[..., Any], inputs: Any, rtol: float, atol: float) -> CheckReport:
    """The report on a function of tensors, and of plain numbers beside them."""
    given = [_leaf(x, i) for i, x in enumerate(inputs)]
    names = [x.label or f"inputs[{i}]" for i, x in enumerate(given)]
    root = _one_number(f(*given))
    if not _same(root, _one_number(f(*given))):
        problem = (
            "f is not deterministic: it gave two results at the same inputs; draw random numbers before calling it"
        )
        return CheckReport("gradcheck", "central differences", root.item(), 0, (), problems=(problem,))
    order = reverse.order(root) if root.requires_grad else []
    report = CheckReport("gradcheck", "central differences", root.item(), len(order), ())
    # An infinite number on the way may be meant, as the -inf of a masked score is: it counts if the result has it.
    for v in order if root.first_not_finite() is not None else ():
        odd = v.first_not_finite()
        if odd is not None:
            problem = f"{walk.describe(v)} holds {odd[0]:g} at {list(odd[1])}, so there is no derivative to check here"
            return replace(report, problems=(f"{problem}: choose a point where it is finite",))
    entries: list[InputCheck] = []
    broken = ""
    try:
        if root.requires_grad:
            root.backward()
        for position, (leaf, name) in enumerate(zip(given, names, strict=True)):
            if leaf.requires_grad:
                entries += _entries(f, given, position, name, rtol, atol)
    except (GradwalkError, ValueError, TypeError) as error:
        broken = f"backward() raised {type(error).__name__}: {error}"
    if not broken and all(entry.status != "wrong" for entry in entries):
        return replace(report, inputs=tuple(entries))
    suspects = tuple(_suspects(order, rtol, atol))
    problems = tuple(filter(None, [broken, "" if suspects else NOTHING]))
    return replace(report, inputs=tuple(entries), suspects=suspects, problems=problems)


def _leaf(x: Any, i: int) -> Any:
    from gradwalk.tensor import Tensor

    if not getattr(x, "many", False):
        try:
            return Tensor(float(x))
        except (TypeError, ValueError):
            kind = type(x).__name__
            raise NotANumberError(f"inputs[{i}] is neither a tensor nor a number, but {kind}: {x!r:.60}") from None
    if x.dtype == "float32":
        raise SettingError(
            f"inputs[{i}] is of float32, too coarse to measure slopes in; check the function at x.double()"
        )
    if x.first_not_finite() is not None:
        raise SettingError(f"inputs[{i}] is not finite everywhere, and a derivative is measured around finite numbers")
    return Tensor(x, x.requires_grad if x.dtype == "float64" else None, label=x.label)


def _one_number(result: Any) -> Any:
    if getattr(result, "many", False) is True and result.numel() == 1 and result.dtype.startswith("float"):
        return result
    if getattr(result, "many", False) is True and not result.dtype.startswith("float"):
        raise GraphError(f"f must give a tensor of floats, and it gave {result.dtype}, which has no derivative")
    shape = getattr(result, "shape", type(result).__name__)
    raise GraphError(f"f must give a tensor of one number, and it gave {shape}: take its sum() or mean()")


def _same(one: Any, other: Any) -> bool:
    return bool(one.item() == other.item() or (one.item() != one.item() and other.item() != other.item()))


def _places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*[range(n) for n in shape])


def _moved(x: Any, at: tuple[int, ...], to: float) -> Any:
    """A copy of a tensor with another number at one place."""
    copy = type(x)(x, x.requires_grad)
    copy.data[at] = to
    return copy


def _entries(
    f: Callable[..., Any], given: list[Any], position: int, name: str, rtol: float, atol: float
) -> Iterator[InputCheck]:
    leaf = given[position]
    noise = 1e-14 * max(1.0, abs(_one_number(f(*given)).item()))
    for at in _places(leaf.shape):
        x = leaf[at].item()

        def along(t: float, at: tuple[int, ...] = at) -> float:
            moved = [_moved(leaf, at, t) if i == position else y for i, y in enumerate(given)]
            return float(_one_number(f(*moved)).item())

        called = f"{name}{list(at)}" if at else name
        found = slope(along, x, noise)
        yield judged(called, leaf.grad[at].item(), found, rtol=rtol, atol=atol, size=max(1.0, abs(x)), rounding=noise)


def _suspects(order: list[Any], rtol: float, atol: float) -> Iterator[Suspect]:
    """The ops whose way back does not agree with what they compute, each with the first number that shows it."""
    from gradwalk.tensor import arrays
    from gradwalk.tensor.core import constant

    for v in order:
        if v.is_leaf:
            continue
        weights = [((7 * i) % 11 - 4.5) / 5.0 for i in range(v.numel())]  # tuned: neighbours are weighed differently
        upstream = arrays.now.reshape(arrays.now.new(weights, "float64"), v.shape)
        for i, (operand, map_back) in enumerate(zip(v.inputs, v.slopes, strict=True)):
            if map_back is None or not operand.many:
                continue
            try:
                share = constant(arrays.now.settled(map_back * upstream))
            except Exception as error:
                why = f"its way back raised {type(error).__name__}: {error}"
                yield Suspect(v._op, walk.describe(v), i + 1, math.nan, math.nan, why)
                break
            if share.shape != operand.shape:
                why = f"it gave back shape {share.shape} to an operand of shape {operand.shape}"
                yield Suspect(v._op, walk.describe(v), i + 1, math.nan, math.nan, why)
                break
            wrong = _first_wrong(v, i, share, upstream, rtol, atol)
            if wrong is not None:
                at, got, expected = wrong
                place = f" at {list(at)}" if at else ""
                yield Suspect(v._op, f"{walk.describe(v)}{place}", i + 1, got, expected)
                break


def _first_wrong(
    v: Any, i: int, share: Any, upstream: Any, rtol: float, atol: float
) -> tuple[tuple[int, ...], float, float] | None:
    from gradwalk.tensor.core import constant

    weighed = constant(upstream)
    plain = [x.detach() if getattr(x, "many", False) else x for x in v.inputs]
    for at, _ in zip(_places(share.shape), range(LOOKED_AT), strict=False):
        x = plain[i][at].item()

        def along(t: float, at: tuple[int, ...] = at) -> float:
            moved = [_moved(plain[i], at, t) if k == i else y for k, y in enumerate(plain)]
            return float((v.primitive(*moved) * weighed).sum().item())

        size = max(1.0, abs(x))  # tuned: a slack for operands near 0
        entry = judged("", share[at].item(), slope(along, x, 1e-14), rtol=rtol, atol=atol, size=size, rounding=1e-13)
        if entry.status == "wrong":
            return at, entry.got, entry.expected
    return None
