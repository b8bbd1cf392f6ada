"""The way back through tensors: a node's share for each of its operands, and the walk that is quick on plain graphs.

The walk is the engine's. What it needs of a tensor is its slopes, and that of a tensor op is a linear map: times an
upstream gradient it gives what flows back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from gradwalk import engine, modes, ops, reverse
from gradwalk.errors import BackwardError
from gradwalk.ops import Op
from gradwalk.tensor import arrays, kernels, reach
from gradwalk.tensor.entries import Entry, unbroadcast
from gradwalk.tensor.made import FREED, Made

__all__ = [
    "Slope",
    "check_age",
    "filled",
    "gradients_of",
    "plain_order",
    "share",
    "walk_back",
    "walk_with_graphs",
]

Tensor = Any  # this module needs no more of it than what a node has

#: Up to so many numbers in the nodes between leaves and root, all gradients are kept, as the engine does: 32 MB at
#: most.
#: Beyond it a gradient goes once it has been passed on, unless retain_grad() or a label asks for it.
KEPT_NUMBERS = 4_000_000


def filled(gradient: Any, like: Tensor) -> Any:
    """A gradient as an array; it is a plain 0 where nothing has arrived.

    >>> filled(0.0, gradwalk.Tensor([1.0, 2.0])).tolist()
    [0.0, 0.0]
    """
    return arrays.now.full(like.shape, gradient, like.dtype) if gradient.__class__ is float else gradient


class Slope:
    """The local derivative of a tensor op: a linear map. Times an upstream gradient it gives what flows back.

    Given an array it computes; given a tensor it makes nodes, and so gives a gradient that can be differentiated.

    >>> x = gradwalk.Tensor([3.0])
    >>> (x * x).slopes[0] * gradwalk.Tensor([2.0])
    Tensor([6.0])
    """

    __slots__ = ("at", "v")
    __array_ufunc__ = None  # an array on the left leaves the operation to us

    def __init__(self, v: Tensor, at: int) -> None:
        self.v, self.at = v, at

    def __mul__(self, upstream: Any) -> Any:
        v, i = self.v, self.at
        check_age(v)
        if not getattr(upstream, "many", False):
            return share(v, i, filled(upstream, v))
        op, inputs, x = v.primitive, v.inputs, v.inputs[i]
        if not x.many:
            raise BackwardError(
                "a gradient through Tensor.of() cannot be differentiated again; build the graph of Values"
            )
        if isinstance(op, Entry):
            found = op.pull(i, upstream, inputs, v)
        else:
            pull = kernels.pulls_on_tensors(op)[i]
            found = 0.0 if pull is None else pull(upstream, *inputs, v)
            if reach.now.masks is not None and op not in reach.LINEAR and found.__class__ is not float:
                keep = reach.passing(v, i, reach.now.masks.get(id(v)))
                found = found if keep is None else ops.where(v._as_node(keep), found, 0.0)
        if found.__class__ is float:
            found = v._as_node(filled(found, x))
        return unbroadcast(found, x.shape).to(x.dtype)

    __rmul__ = __mul__

    def plus(self, held: Any, share: Any) -> Any:
        """What arrived before and what arrives now, together.

        >>> slope = gradwalk.Tensor([3.0]).exp().slopes[0]
        >>> slope.plus(*[arrays.now.new([x], "float64") for x in (1.0, 2.0)]).tolist()
        [3.0]
        """
        return arrays.now.functions["+"](held, share)


def share(v: Tensor, i: int, g: Any) -> Any:
    """What flows back from `v` to its input `i` if the gradient of `v` is `g`, on arrays; 0.0 where nothing does.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> share(x * 3.0, 0, arrays.now.new([1.0, 1.0], "float64")).tolist()
    [3.0, 3.0]
    """
    numbers = [x if x.__class__ is float else x._data for x in v.inputs]
    keep = None
    if reach.now.masks is not None:
        numbers, keep = reach.held(v, i, numbers, reach.now.masks)
    found = arrays.now.quietly(_share, v.primitive, i, g, numbers, v._data, keep)
    return found if found.__class__ is float else arrays.now.settled(found)


def _share(op: Any, i: int, g: Any, numbers: list[Any], out: Any, keep: Any = None) -> Any:
    """The share of one operand; it has the operand's shape and dtype, however that was broadcast.

    `keep` says which numbers of the result have a share in it, where not all do.
    """
    if op.__class__ is Op:
        pull = (kernels.pulls_known.get(op) or kernels.pulls(op))[i]
        found: Any = 0.0 if pull is None else pull(g, *numbers, out)
        if keep is not None and found.__class__ is not float:
            found = arrays.now.bare["choose"](keep, found, 0.0)
    else:
        found = op.pull(i, g, numbers, out)
    if found.__class__ is float:  # nothing, or the share of a Value
        return found
    x = numbers[i]
    if found.shape != x.shape:
        found = unbroadcast(found, x.shape)
    return found if found.dtype is x.dtype or found.dtype == x.dtype else arrays.now.cast(found, arrays.now.dtype_of(x))


def check_age(v: Tensor) -> None:
    """Refuse to go back through an op whose operands have been written to since.

    >>> check_age(gradwalk.Tensor([1.0]).exp())
    """
    kind: Any = v._kind
    for x in kind.inputs:
        if x.__class__ is not float and x.many and x._changed > kind.clock:
            raise BackwardError(
                f"the data of the leaf {x.label or f'of shape {x.shape}'} was written to after {v._op or 'an op'} of "
                f"shape "
                f"{v.shape} had used it, so this graph is out of date; compute it again before backward()"
            )


def walk_back(root: Tensor, seed: Any) -> None:
    """What `backward()` does.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> walk_back(x * x, arrays.now.new([1.0, 10.0], "float64"))
    >>> x.grad
    Tensor([2.0, 40.0])
    """
    if not _walked_quickly(root, seed):
        for v in reverse.order(root):
            if v.many and v._lent is not None:
                v._look_at_lent()
        for v in reverse.order(root):
            if v.many and isinstance(v._kind, Made) and not v.is_leaf:
                check_age(v)
        with reach.reaching(root):
            engine.walk_back(root, seed)


def walk_with_graphs(root: Tensor, seed: Tensor) -> None:
    """What `backward(create_graph=True)` does.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> walk_with_graphs((x * x).sum(), gradwalk.Tensor(1.0))
    >>> x.grad.is_leaf
    False
    """
    for v in reverse.order(root):
        if v.many and v._lent is not None:
            v._look_at_lent()
    with reach.reaching(root):
        reverse.fill_with_graphs(root, seed)


def _walked_quickly(root: Tensor, seed: Any) -> bool:
    """The walk on a graph of tensors alone, without hooks: as `engine.walk_back` does it. False if it is not one.

    Nothing is changed before all gradients are there.
    """
    if modes.active and modes.top() is not modes.bottom:
        return False
    with reverse.one_at_a_time:
        found = plain_order(root)
        if found is None:
            return False
        order, leaves, cuts = found
        for leaf in leaves:
            if leaf._lent is not None:
                leaf._look_at_lent()
            if getattr(leaf._grad, "many", False):
                return False
        gradients = arrays.now.quietly(gradients_of, root, seed, order)
        if cuts and arrays.now.have_nan([gradients[leaf] for leaf in leaves if leaf in gradients]):
            with reach.reaching(root):  # 0 times an inf that nobody asked for, perhaps
                gradients = arrays.now.quietly(partial(reverse.adjoints, root, seed, as_graph=False))
        known, settled = gradients.get, arrays.now.settled
        for v in order:
            g = known(v, 0.0)
            v._grad = g if g.__class__ is float or g is FREED else settled(g)
        for leaf in leaves:
            g = known(leaf)
            if g is not None:
                leaf._grad = settled(g) if leaf._grad.__class__ is float else arrays.now.functions["+"](leaf._grad, g)
    return True


def gradients_of(root: Tensor, seed: Any, order: list[Any]) -> dict[Any, Any]:
    """The gradient of every node that it arrives at.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> y = x * x
    >>> gradients_of(y, arrays.now.new([1.0, 10.0], "float64"), [y])[x].tolist()
    [2.0, 40.0]
    """
    let_go = len(order) > 1 and sum([v._data.size for v in order]) > KEPT_NUMBERS
    plus = arrays.now.bare["+"]
    gradients: dict[Any, Any] = {root: seed}
    known = gradients.get
    for v in reversed(order):
        g = known(v)
        if g is None:
            continue
        kind = v._kind
        op, inputs = kind.op, kind.inputs
        numbers = [x if x.__class__ is float else x._data for x in inputs]
        for i, x in enumerate(inputs):
            if x.__class__ is not float and x._flows:
                if x._changed > kind.clock:
                    check_age(v)
                part = _share(op, i, g, numbers, v._data)
                if part.__class__ is not float:
                    held = known(x)
                    gradients[x] = part if held is None else plus(held, part)
        if let_go and v is not root and not v._asked and not v.label:
            gradients[v] = FREED
    return gradients


def plain_order(root: Tensor) -> tuple[list[Any], list[Any], bool] | None:
    """The nodes between the leaves and `root`, operands first; the leaves; whether an op leaves numbers out.

    None if a node is no plain op.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> y = x * x
    >>> plain_order(y) == ([y], [x], False)
    True
    """
    mark = object()
    order: list[Tensor] = []
    leaves: list[Tensor] = []
    cuts = False
    stack: list[Any] = [root]
    pop, push = stack.pop, stack.append
    while stack:
        v = pop()
        if v is None:  # everything the next node depends on is in the order
            order.append(pop())
            continue
        if v._mark is mark:
            continue
        v._mark = mark
        kind = v._kind
        if kind is None:
            leaves.append(v)
            continue
        if kind.__class__ is not Made or kind.hooks:
            return None
        if kind.op.cuts:  # type: ignore[union-attr]
            cuts = True
        push(v)
        push(None)
        for x in kind.inputs:
            if x.__class__ is not float:
                if not x.many:
                    return None
                if x._flows and x._mark is not mark:
                    push(x)
    return order, leaves, cuts
