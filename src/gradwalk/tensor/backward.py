"""The way back through tensors: a node's share for each of its operands, and the walk that is quick on plain graphs.

The walk is the engine's. What it needs of a tensor is its slopes, and that of a tensor op is a linear map: times an
upstream gradient it gives what flows back.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

from gradwalk import engine, modes, ops, reverse
from gradwalk.errors import BackwardError
from gradwalk.node import Node, Recipe
from gradwalk.ops import Op
from gradwalk.tensor import arrays, kernels, reach
from gradwalk.tensor.entries import Entry, unbroadcast
from gradwalk.tensor.kernels import passed_on

__all__ = [
    "FREED",
    "Clock",
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

#: Up to so many numbers in the nodes between leaves and root, all gradients are kept, as the engine does. Beyond it a
#: gradient goes once it has been passed on, unless retain_grad() or a label asks for it.
KEPT_NUMBERS = 4_000_000  # tuned: 32 MB at most

_SIZE = attrgetter("_data.size")

#: What stands for a gradient that was let go.
FREED: Any = type("Freed", (), {"__repr__": lambda self: "<freed>"})()


class Clock:
    """Counts how often the numbers of leaves were written: a node that is older than such a change is out of date.

    >>> w = gradwalk.Tensor([1.0])
    >>> before = Clock.time
    >>> w.data = [2.0]
    >>> Clock.time > before
    True
    """

    time = 0


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
            found = kernels.pulls_on_tensors(op)[i](upstream, *inputs, v)
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


def _share(op: Any, i: int, g: Any, numbers: list[Any], out: Any, keep: Any) -> Any:
    """The share of one operand; `keep` says which numbers of the result have a share in it, where not all do."""
    if op.__class__ is Op:
        found: Any = kernels.pulls(op)[i](g, *numbers, out)
        if keep is not None and found.__class__ is not float:
            found = arrays.now.bare["choose"](keep, found, 0.0)
    else:
        found = op.pull(i, g, numbers, out)
    return found if found.__class__ is float else _fitted(found, numbers[i])  # nothing, or the share of a Value


def _fitted(share: Any, x: Any) -> Any:
    """A share in the shape and dtype of its operand, however that was broadcast."""
    return arrays.now.cast(unbroadcast(share, x.shape), arrays.now.dtype_of(x))


def check_age(v: Tensor) -> None:
    """Refuse to go back through an op whose operands have been written to since.

    >>> check_age(gradwalk.Tensor([1.0]).exp())
    """
    for x in v._inputs:
        if x.__class__ is not float and x.many and x._changed > v._changed:
            raise BackwardError(
                f"the data of the leaf {x.label or f'of shape {x.shape}'} was written to after {v._op} of shape "
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
            if v.many and v.closure is None:  # of a compiled function's result the call knows
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

    Nothing is changed before all gradients are there, and then all at once: Ctrl-C finds all done, or nothing.
    """
    if modes.active and modes.top() is not modes.bottom:
        return False
    with reverse.one_at_a_time:
        return _walked(root, seed)


def _walked(root: Tensor, seed: Any) -> bool:
    found = plain_order(root)
    if found is None:
        return False
    order, leaves, cuts = found
    for leaf in leaves:
        if leaf._lent is not None:
            leaf._look_at_lent()
    gradients = arrays.now.quietly(gradients_of, root, seed, order)
    if cuts and arrays.now.have_nan([gradients[leaf] for leaf in leaves if leaf in gradients]):
        with reach.reaching(root):  # 0 times an inf that nobody asked for, perhaps
            found = arrays.now.quietly(partial(reverse.adjoints, root, seed, as_graph=False))
        gradients = {v: g if type(g) is float else arrays.now.settled(g) for v, g in found.items()}
    known, plus = gradients.get, arrays.now.functions["+"]
    new = [known(v, 0.0) for v in order]
    for leaf in leaves:
        g, held = known(leaf), leaf._grad
        if isinstance(held, Node):
            return False
        new.append(held if g is None else g if type(held) is float else plus(held, g))
    reverse.put_back(order + leaves, "_grad", new)
    return True


def gradients_of(root: Tensor, seed: Any, order: list[Any]) -> dict[Any, Any]:
    """The gradient of every node that it arrives at.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> y = x * x
    >>> gradients_of(y, arrays.now.new([1.0, 10.0], "float64"), [y])[x].tolist()
    [2.0, 40.0]
    """
    let_go = sum(map(_SIZE, order)) > KEPT_NUMBERS
    plus, settled, array = arrays.now.bare["+"], arrays.now.settled, seed.__class__
    pulls, pulls_known, pairs_known = kernels.pulls, arrays.made.pulls.get, arrays.made.pairs.get
    gradients: dict[Any, Any] = {root: seed}
    time = Clock.time
    known = gradients.get
    part: Any
    for v in reversed(order):
        g = known(v)
        if g is None:
            continue
        if v._changed != time:
            check_age(v)
        if let_go and v is not root and not v._asked and not v.label:
            gradients[v] = FREED
        op, inputs, out = v._kind, v._inputs, v._data
        ways = pulls_known(op) or (pulls(op) if op.__class__ is Op else None)
        alone = False
        if len(inputs) == 1:
            alone = ways is not None  # gradient flows to it, and its shape is the result's
            numbers: Any = (inputs[0]._data,)
        elif len(inputs) == 2:  # a comprehension would take as long as a small op
            x, y = inputs
            numbers = (x if type(x) is float else x._data, y if type(y) is float else y._data)
            if g.size == 1 and type(x) is type(y) and x._flows and y._flows:
                at_once = pairs_known(op)
                pair = None if at_once is None else at_once(g, *numbers, out)
                if pair is not None:
                    part, held = pair[0], known(x)
                    gradients[x] = part if held is None else settled(plus(held, part))
                    part, held = pair[1], known(y)
                    gradients[y] = part if held is None else settled(plus(held, part))
                    continue
        elif len(inputs) == 3:
            x, y, z = inputs
            first, second = x if type(x) is float else x._data, y if type(y) is float else y._data
            numbers = first, second, z if type(z) is float else z._data
        else:
            numbers = [x if type(x) is float else x._data for x in inputs]
        i = -1
        for x in inputs:
            i += 1
            if not alone and (type(x) is float or not x._flows):
                continue
            if ways is None:
                part = op.pull(i, g, numbers, out)
            elif alone:  # without the tuple for `*`
                part = ways[0](g, numbers[0], out)
            else:
                way = ways[i]
                if way is passed_on:
                    part = g
                elif len(numbers) == 2:  # nor for these
                    part = way(g, numbers[0], numbers[1], out)
                elif len(numbers) == 3:
                    part = way(g, numbers[0], numbers[1], numbers[2], out)
                else:
                    part = way(g, *numbers, out)
            if part.__class__ is not array:
                if part.__class__ is float:  # nothing comes back
                    continue
                part = settled(part)
            data = numbers[i]
            if not alone and part.shape != data.shape:
                part = unbroadcast(part, data.shape)
            if part.dtype is not data.dtype:
                part = _fitted(part, data)
            held = known(x)
            gradients[x] = part if held is None else settled(plus(held, part))
    return gradients


def plain_order(root: Tensor) -> tuple[list[Any], list[Any], bool] | None:
    """The nodes between the leaves and `root`, operands first; the leaves; whether an op leaves numbers out.

    None if a node is no plain op.

    >>> x = gradwalk.Tensor([1.0, 2.0])
    >>> y = x * x
    >>> plain_order(y) == ([y], [x], False)
    True
    """
    begun, ended, tensor = object(), object(), type(root)
    order: list[Tensor] = []
    leaves: list[Tensor] = []
    cuts = False
    if root._kind is None:
        return order, [root], cuts
    stack: list[Any] = [root]
    pop, push, done = stack.pop, stack.append, order.append
    while stack:
        v = pop()
        if v._mark is begun:  # everything that it depends on is in the order
            v._mark = ended
            done(v)
            continue
        if v._mark is ended:
            continue
        while v is not None:  # go down the last operands, and leave the others on the stack for later
            op = v._kind
            if op.__class__ is Recipe:  # with hooks, or a compiled function's
                return None
            if op.cuts:
                cuts = True
            v._mark = begun
            push(v)
            below = None
            for x in v._inputs:
                if type(x) is tensor or (type(x) is not float and x.many):
                    if x._mark is ended:
                        pass
                    elif x._kind is not None:
                        if below is not None:
                            push(below)
                        below = x
                    elif x._flows:
                        x._mark = ended
                        leaves.append(x)
                elif type(x) is not float:
                    return None
            v = below
    return order, leaves, cuts
