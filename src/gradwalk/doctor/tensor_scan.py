"""A graph of tensors laid open after its `backward()`: the same that `scan` sees in Values, read off whole arrays.

A layer is the module (or the parameter) whose tensor is a factor of a matrix product. The last dim of what comes out
counts its units, and all other dims count samples, as long as only ops that go number by number lie between; beyond
that nothing is said of single units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from gradwalk import ops, reverse, walk
from gradwalk.doctor.history import Exam
from gradwalk.doctor.names import Names
from gradwalk.doctor.report import Finding
from gradwalk.doctor.scan import SATURATED, ReluCounts, SquashCounts
from gradwalk.errors import BackwardError
from gradwalk.ops import Op
from gradwalk.provenance import Place, made_by
from gradwalk.tensor import arrays, reach
from gradwalk.tensor.core import constant

Tensor = Any
Gradient = Callable[[Tensor], Any]  # of a node: a tensor, or None where there is none

_MOVES = ("permute", "reshape", "expand", "to")  # a parameter stays one: weight.T
_NEAR = 12  # ops between a matrix product and its activation, at most: a bias, a normalisation
_SQUASH = {ops.tanh: ("tanh", 1.0), ops.sigmoid: ("sigmoid", 0.25)}


def gradients_of(root: Tensor) -> dict[Any, Tensor]:
    """The gradient of every node below a loss, as `backward()` finds it; no `.grad` is touched.

    >>> x = gradwalk.Tensor([3.0])
    >>> gradients_of((x * x).sum())[x], x.grad
    (Tensor([6.0]), Tensor([0.0]))
    """
    seed = arrays.now.full(root.shape, 1.0, root.dtype)
    with reach.reaching(root):
        found = arrays.now.quietly(partial(reverse.adjoints, root, seed, as_graph=False))
    return {v: constant(arrays.now.settled(g)) for v, g in found.items() if v.many}


def examined(
    root: Tensor,
    names: Names,
    step: int,
    gradient: Gradient,
    line_of: Callable[[Any], Place | None] = made_by,
    broken: Mapping[int, str] = MappingProxyType({}),
) -> Exam:
    """Everything that one graph of tensors shows.

    >>> model = nn.Linear(2, 3)
    >>> loss = model(gradwalk.ones(4, 2)).relu().sum()
    >>> loss.backward()
    >>> exam = examined(loss, names_of({"net": model}), 1, lambda v: v.grad)
    >>> list(exam.flows), len(exam.relus)
    (["['net']"], 3)
    """
    order = [v for v in reverse.order(root) if v.many]
    exam = Exam(step, root.item(), len(order))
    known = {id(p) for p in names.parameters}
    exam.reached = {id(v) for v in reverse.order(root) if id(v) in known}
    born = _birth(order, step, line_of, names, broken)
    if born is not None and not _is_harmless(root, names, gradient):
        exam.findings = [born]
        return exam
    exam.findings = list(_broadcasts(order, known, step, line_of))
    sums = _sums(order, names)
    _flows(exam, order, sums, gradient)
    for v in order:
        if v.primitive is ops.relu:
            _relu(exam, v, sums)
        elif v.primitive in _SQUASH:
            _squash(exam, v, sums)
    return exam


def _is_harmless(root: Tensor, names: Names, gradient: Gradient) -> bool:
    """Whether a nan that was born reaches neither the loss nor a parameter: a branch that a `where` does not take."""
    gradients = [gradient(p) for p in names.parameters if p.many]
    numbers = [root, *names.parameters, *(g for g in gradients if g is not None)]
    return not any(map(_is_odd, numbers))


# --- layers ----------------------------------------------------------------------------------------------------------


def _sums(order: list[Tensor], names: Names) -> dict[int, str]:
    """The matrix products with a parameter in them, by the layer that it belongs to."""
    owner: dict[int, str] = {id(p): spot.layer for p in names.parameters if (spot := names.spot(p))}
    sums: dict[int, str] = {}
    for v in order:
        name = getattr(v.primitive, "name", "")
        own = [owner[id(x)] for x in v.inputs if id(x) in owner]
        if name in _MOVES and own:
            owner[id(v)] = own[0]
        elif name in ("matmul", "einsum") and own:
            sums[id(v)] = own[-1]
    return sums


def _layer_below(v: Tensor, sums: dict[int, str]) -> str | None:
    """The layer whose sums an activation is of; None if something other than ops by number lies between."""
    x, units = v, v.shape[-1] if v.shape else 0
    for _ in range(_NEAR):
        if id(x) in sums:
            return sums[id(x)] if x.shape[-1:] == (units,) else None
        if not isinstance(x.primitive, Op):
            return None
        x = next((y for y in x.inputs if getattr(y, "shape", ())[-1:] == (units,) and not y.is_leaf), None)
        if x is None:
            return None
    return None


def _flows(exam: Exam, order: list[Tensor], sums: dict[int, str], gradient: Gradient) -> None:
    """The size of the gradient that arrives at each layer, the one nearest the data first."""
    squares: dict[str, tuple[float, int]] = {}
    for v in order:
        layer = sums.get(id(v))
        if layer is None:
            continue
        try:
            g = gradient(v)
        except BackwardError:  # let go on the way back
            continue
        if g is None:
            continue
        before, count = squares.get(layer, (0.0, 0))
        numbers = g.detach()
        squares[layer] = before + (numbers * numbers).sum().item(), count + math.prod(v.shape)
    exam.flows = {layer: math.sqrt(total / count) for layer, (total, count) in squares.items() if count}


def _by_unit(x: Tensor) -> Tensor:
    return x.detach().reshape(-1, x.shape[-1])


def _relu(exam: Exam, v: Tensor, sums: dict[int, str]) -> None:
    layer = _layer_below(v, sums)
    if layer is None or 0 in v.shape:
        return
    below = _by_unit(v.inputs[0])
    on, highest, lowest = ((below > 0).sum(dim=0), below.amax(dim=0), below.amin(dim=0))
    for j, (n, high, low) in enumerate(zip(on.tolist(), highest.tolist(), lowest.tolist(), strict=True)):
        unit = exam.relus.setdefault(f"{layer} unit {j}", ReluCounts(layer))
        unit.seen += below.shape[0]
        unit.on += int(n)
        unit.highest, unit.lowest = max(unit.highest, high), min(unit.lowest, low)


def _squash(exam: Exam, v: Tensor, sums: dict[int, str]) -> None:
    layer = _layer_below(v, sums)
    if layer is None or 0 in v.shape:
        return
    name, steepest = _SQUASH[v.primitive]
    out = _by_unit(v)
    slope = 1.0 - out * out if name == "tanh" else out * (1.0 - out)
    flat = (slope < SATURATED * steepest).sum(dim=0).tolist()
    squash = exam.squashes.setdefault(layer, SquashCounts(name))
    for j, n in enumerate(flat):
        unit = squash.units.setdefault(f"{layer} unit {j}", [0, 0])
        unit[0] += out.shape[0]
        unit[1] += int(n)
    squash.seen += out.shape[0] * out.shape[1]
    squash.saturated += int(sum(flat))


# --- what single nodes show ------------------------------------------------------------------------------------------


def _birth(
    order: list[Tensor],
    step: int,
    line_of: Callable[[Any], Place | None],
    names: Names,
    broken: Mapping[int, str],
) -> Finding | None:
    """The first op, operands first, that made a nan or inf of finite numbers; or else what came in with the data."""
    odd: set[int] = set()
    arrived: Tensor = None
    for v in order:
        finite = v.detach().isfinite()
        if finite.all().item():
            continue
        odd.add(id(v))
        carried = any(id(x) in odd or _is_odd(x) for x in v.inputs)
        if arrived is None and any(_is_odd(x) and names.spot(x) is None for x in v.inputs if _is_leaf(x)):
            arrived = v
        if carried or v.primitive is ops.where:  # an infinity that was put there: a mask of scores before a softmax
            continue
        if v.is_leaf and names.spot(v) is None:
            continue
        if id(v) in broken:
            return _after_update(names.name(v), step, broken[id(v)])
        flat = [bool(x) for x in finite.reshape(-1).tolist()]
        place, rest = [], flat.index(False)
        for n in reversed(v.shape):
            place.append(rest % n)
            rest //= n
        number = v.detach().reshape(-1).tolist()[flat.index(False)]
        at = f"[{', '.join(map(str, reversed(place)))}]" if place else ""
        when = f" at step {step}" if step else ""
        what = f"in {walk.formula(v._op, [walk.short(x) for x in v.inputs])}" if v.inputs else f"{v.label or 'a leaf'}"
        made = f"was born {what}{when}" if v.inputs else f"came in with {what}{when}"
        where, many = f"{walk.describe(v)}{', number ' + at if at else ''}", f"{flat.count(False):,} of"
        why = f"{many} its {len(flat):,} numbers are not finite"
        if v.inputs:
            why = f"its operands are finite, and {many} {len(flat):,} numbers that it gives are not"
        remedy = "with gradwalk.anomaly(): the line is named where it happens"
        return _born(f"{number} {made}", where, line_of(v), why, remedy, step)
    if arrived is None or id(order[-1]) not in odd:  # an infinity that no loss is the worse for: a mask of scores
        return None
    where = walk.describe(arrived)
    return _born(
        f"nan or inf came in as a constant: {where}{f' at step {step}' if step else ''}", where, line_of(arrived),
        "no op made it: it came in with the data",
        "look for nan and inf in what the model is given, before the first step", step,
    )  # fmt: skip


def _after_update(name: str, step: int, why: str) -> Finding:
    """A parameter that an update broke."""
    remedy = "look at the optimiser: its learning rate, and anything it divides by"
    if "not finite" in why:
        remedy = "with gradwalk.anomaly(): the op is named that makes the gradient so, where it happens"
    when = f" at step {step}" if step else ""
    return _born(f"nan or inf was born in an update: {name}{when}", name, None, why, remedy, step)


def _born(what: str, where: str, line: Place | None, why: str, remedy: str, step: int) -> Finding:
    return Finding("birth", "error", what, where=(where,), line=line, why=why, remedy=(remedy,), step=step)


def _is_odd(x: Any) -> bool:
    """Whether a constant holds something that is not finite."""
    if isinstance(x, float) or not x.many:
        return not math.isfinite(x if isinstance(x, float) else x.data)
    return bool(x.many and not x.detach().isfinite().all().item())


def _is_leaf(x: Any) -> bool:
    return isinstance(x, float) or x.is_leaf


def _broadcasts(
    order: list[Tensor], parameters: set[int], step: int, line_of: Callable[[Any], Place | None]
) -> Iterator[Finding]:
    """Differences of shape (n, n) where (n,) was meant: a column of results and a row of targets."""
    for v in order:
        if v.primitive is not ops.sub or len(v.shape) != 2 or v.shape[0] != v.shape[1] or v.shape[0] < 2:
            continue
        n = v.shape[0]
        for column, row in (v.inputs, v.inputs[::-1]):
            shapes = [getattr(x, "shape", None) for x in (column, row)]
            if shapes != [(n, 1), (n,)]:
                continue
            targets, results = (column, row) if column.is_leaf else (row, column)
            if not targets.is_leaf or results.is_leaf or id(targets) in parameters:
                continue  # it may well be meant
            if any(x is targets for x in walk.topological(results)):
                continue  # all pairs of the same numbers
            yield Finding(
                "wrong-broadcast",
                "warning",
                f"a difference of shapes {v.inputs[0].shape} and {v.inputs[1].shape} became {v.shape}: every result is "
                "compared with every target",
                where=(walk.describe(v),),
                line=line_of(v),
                why=f"a column of {n} numbers and a row of {n} are each repeated to ({n}, {n}), so there are {n * n:,} "
                f"differences where {n} were probably meant, and each result is pulled towards all targets",
                remedy=(f"give both one shape: results.reshape(-1) and targets, or targets.reshape({n}, 1)",),
                step=step,
                sure="likely",
                numbers={"shape": list(v.shape)},
            )
