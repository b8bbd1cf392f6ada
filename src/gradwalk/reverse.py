"""The backward walk for every case that `Value.backward` does not do in its own short loop.

Graphs with closures, hooks or ops of three operands; walks under `anomaly()`; and gradients that are themselves
graphs. All of it is the same walk: order the nodes, then let each push `upstream × local` to its operands.
"""

from __future__ import annotations

import math
from typing import Any

from gradwalk import modes, provenance, walk
from gradwalk.errors import BackwardError, GradwalkError
from gradwalk.ieee import Ieee
from gradwalk.ops import Op

Node = Any  # a Value; this module does not need to know the class


def flowing(v: Node) -> list[Node]:
    """The operands that gradient flows to: all but constants, and all of a node whose closure we cannot see into."""
    if _closure(v) is not None or not isinstance(v._kind, Op):
        return list(v.inputs)
    return [x for x, slope in zip(v.inputs, v.slopes, strict=True) if slope is not None]


def push(v: Node) -> None:
    """Add `v`'s share to the gradient of each of its operands: what `v._backward()` does."""
    closure = _closure(v)
    if closure is not None:
        closure()
        return
    for operand, slope in zip(v.inputs, v.slopes, strict=True):
        if slope is not None:
            operand.grad += slope * v.grad


def backward_with_care(root: Node, gradient: float) -> None:
    """Fill `.grad` as `backward()` does; the user's own code may fail on the way, and then all is as it was."""
    order = list(walk.topological(root, flowing))
    before = [(v, v.data, v.grad) for v in order]
    v = root
    try:
        earlier = {}  # what a leaf held before, kept aside from its hooks, which see this walk's gradient alone
        for v in order:
            inside = v.inputs or _closure(v) is not None  # not a leaf, or one that stands for a graph of its own
            if inside or _hooks(v):
                earlier[v] = 0.0 if inside else v.grad
                v.grad = 0.0
        root.grad = gradient if root in earlier else root.grad + gradient
        for v in reversed(order):
            for hook in _hooks(v):
                replaced = hook.function(v.grad)
                v.grad = v.grad if replaced is None else replaced
            if modes.watching():
                provenance.push_watched(v, push)
            else:
                push(v)
            if v in earlier:
                v.grad = earlier[v] + v.grad
    except Exception as error:
        for node, data, grad in before:
            node.data, node.grad = data, grad
        if isinstance(error, GradwalkError):
            raise
        raise failure(v, error, "data and leaf gradients are as they were before the call") from error


def adjoints(root: Node, seed: Any, *, as_graph: bool) -> dict[Node, Any]:
    """The gradient of `root` with respect to every node it depends on; no `.grad` is touched.

    As a graph, the table's rules run on the Values themselves, so each gradient can be differentiated again.
    """
    gradients = {root: seed}
    for v in reversed(list(walk.topological(root, flowing))):
        upstream = gradients.get(v)
        if upstream is None or not v.inputs:
            continue
        for hook in _hooks(v):
            replaced = hook.function(upstream)
            upstream = gradients[v] = upstream if replaced is None else replaced
        slopes = _slopes_as_graph(v) if as_graph else _known_slopes(v)
        for operand, slope in zip(v.inputs, slopes, strict=True):
            if slope is None:
                continue
            share = upstream if slope.__class__ is float and slope == 1.0 else upstream * slope
            gradients[operand] = gradients[operand] + share if operand in gradients else share
    return gradients


def failure(v: Node, error: Exception, aftermath: str) -> BackwardError:
    """The error for a walk that broke off at `v`."""
    return BackwardError(f"backward() failed at {walk.describe(v)}: {type(error).__name__}: {error}; {aftermath}")


def _closure(v: Node) -> Any:
    more = getattr(v, "_more", None)
    return None if more is None else more.closure


def _hooks(v: Node) -> list[Any]:
    more = getattr(v, "_more", None)
    return [] if more is None else list(more.hooks)


def _known_slopes(v: Node) -> tuple[float | None, ...]:
    if not isinstance(v._kind, Op) or _closure(v) is not None:
        raise BackwardError(
            f"{walk.describe(v)} has a _backward closure of its own, which only backward() can run; "
            "to use grad(), jacobian() or create_graph=True, define the operation with @gradwalk.op"
        )
    return v.slopes  # type: ignore[no-any-return]


def _slopes_as_graph(v: Node) -> list[Any]:
    """The local derivatives as Values (or floats, where they do not depend on any)."""
    known = _known_slopes(v)
    inputs = [Ieee(x) if isinstance(x, float) else x for x in v.inputs]
    slopes: list[Any] = []
    for position, (rule, slope) in enumerate(zip(v._kind.partials, known, strict=True), start=1):
        if slope is None:
            slopes.append(None)
            continue
        again = rule(*inputs, v)
        number = getattr(again, "data", again)
        if number != slope and not math.isclose(number, slope, rel_tol=1e-9) and not math.isnan(slope):
            raise BackwardError(
                f"the data of {walk.describe(v)}, or of its operands, was changed after it was computed: its slope in "
                f"operand {position} was {slope:g} and now would be {number:g}; rebuild the graph before "
                "differentiating it to a higher order"
            )
        slopes.append(float(again) if isinstance(again, float) else again)
    return slopes
