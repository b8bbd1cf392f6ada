"""What the backward walk is made of: the order, a node's push, hooks, and the walk that is quick on plain graphs.

All of it is the same walk: order the nodes, then let each push `upstream × local` to its operands.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

from gradwalk import keepers, modes, walk
from gradwalk.errors import BackwardError, GradwalkError, GraphError, NotANumberError, OpError
from gradwalk.ieee import Ieee
from gradwalk.ops import CUT, number
from gradwalk.turns import Turn

Node = Any  # a Value; this module does not need to know the class
#: Walks in several threads may share nodes: each adds what it has to add, whole. What is done under it is in functions
#: of its own: since Python 3.12, Ctrl-C that is heard where a loop jumps back can miss the block that the loop is in.
one_at_a_time = Turn()


# --- order and push --------------------------------------------------------------------------------------------------


def order(root: Node) -> list[Node]:
    """Every node that gradient flows to from `root`, operands before the nodes that use them."""
    return list(walk.topological(root, flowing))


def release(nodes: Iterable[Node]) -> None:
    """Have back what keepers have of these nodes."""
    if keepers.keeping:
        for v in nodes:
            with v._in_own_hands():
                pass


def flowing(v: Node) -> list[Node]:
    """The operands that gradient flows to; all of a node whose closure we cannot see into."""
    if v.primitive is None or v.closure is not None:
        return list(v.inputs)
    return [x for x, slope in zip(v.inputs, v.slopes, strict=True) if slope is not None and slope is not CUT]


def used(v: Node) -> list[Node]:
    """The operands that are nodes, whether gradient flows to them or not."""
    return [x for x in v.inputs if not isinstance(x, float)]


def passed_over(order: list[Node]) -> list[Node]:
    """The nodes below those of an order that no gradient flows to, because an op did not take them."""
    seen, found = set(order), []
    ahead = [x for v in order if CUT in v.slopes for x, slope in zip(v.inputs, v.slopes, strict=True) if slope is CUT]
    while ahead:
        v = ahead.pop()
        if v not in seen:
            seen.add(v)
            found.append(v)
            ahead += used(v)
    return found


def push(v: Node) -> None:
    """Add `v`'s share to the gradient of each of its operands: what `v._backward()` does."""
    closure = v.closure
    if closure is not None:
        closure()
    else:
        push_by_rule(v)


def push_by_rule(v: Node) -> None:
    """The same by the node's local derivatives, whatever `_backward` it was given since."""
    for operand, slope in zip(v.inputs, v.slopes, strict=True):
        if slope is not None and slope is not CUT:
            add(operand, slope * v._grad)


def add(v: Node, share: Any) -> None:
    """Add to a node's gradient, which a closure may have given to a keeper meanwhile."""
    release((v,))
    v._receive(share)


def add_to_leaves(leaves: Sequence[Node], shares: Iterable[float]) -> None:
    """Add to the gradient of each leaf its share; to none, if Ctrl-C breaks it off."""
    with one_at_a_time:
        _add_to_leaves(leaves, shares)


def _add_to_leaves(leaves: Sequence[Node], shares: Iterable[float]) -> None:
    try:
        before = [v._grad for v in leaves]
    except AttributeError:  # a keeper has one
        release(leaves)
        before = [v._grad for v in leaves]
    try:
        for v, share in zip(leaves, shares, strict=True):
            v._grad += share
    except BaseException:
        put_back(leaves, "_grad", before)
        raise


def call_hooks(v: Node) -> None:
    """Let the hooks of a node see its gradient, and replace it."""
    release((v,))
    for hook in v.hooks:
        replaced = hook.function(v._grad)
        release((v,))  # a hook may have made a keeper take it
        if replaced is not None:
            v._grad = given_by_hook(v, replaced)


def given_by_hook(v: Node, replaced: Any) -> Any:
    """What a hook gave for the gradient of a node, if it may stand there: a number, or a Value that stands for one."""
    if v.many or getattr(replaced, "many", None) is False:  # a tensor has seen to it by itself
        return replaced
    try:
        return number(replaced)
    except NotANumberError:
        raise BackwardError(f"a hook of {walk.describe(v)} gave {replaced!r}, which is not a number") from None


def held_by_leaves(order: list[Node]) -> dict[Node, Any]:
    """What each leaf holds from earlier walks."""
    held = {v: v._grad for v in order if v.is_leaf}
    for v, grad in held.items():
        if isinstance(grad, (int, float)) or hasattr(grad, "__gradwalk_op__") or v.many:
            continue
        try:
            held[v] = number(grad)
        except NotANumberError:
            raise BackwardError(
                f"the gradient of {walk.describe(v)} is {grad!r}, not a number; call zero_grad() first"
            ) from None
    return held


class Walk:
    """A walk under way; whatever was changed is put back if it breaks off, as the user's own code may make it do."""

    def __init__(self, nodes: list[Node], root: Node, leaves: list[Node] | None = None) -> None:
        self.nodes = nodes  # all whose gradients are set anew
        self.leaves = nodes if leaves is None else leaves  # of which alone a keeper may have some
        self.at = root  # the node whose turn it is
        self.undo: list[Callable[[], None]] = []  # what puts back what closures have done elsewhere

    def __enter__(self) -> Walk:
        release(self.leaves)
        self.data = [v._data for v in self.nodes]
        self.grads = [v._grad for v in self.nodes]
        _under_way.append(self)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        _under_way.remove(self)
        if error is not None:
            for undo in reversed(self.undo):
                undo()
            release(self.leaves)
            put_back(self.nodes, "_data", self.data)
            put_back(self.nodes, "_grad", self.grads)
        if isinstance(error, Exception) and not isinstance(error, GradwalkError):
            raise BackwardError(
                f"backward() failed at {walk.describe(self.at)}: {type(error).__name__}: {error}; "
                "data and gradients are as they were before the call"
            ) from error


_under_way: list[Walk] = []  # the latest comes last; no other thread has one, since they take turns


def if_broken_off(undo: Callable[[], None]) -> None:
    """Have this done if the walk under way does not come to its end; for closures that change more than nodes."""
    if _under_way:
        _under_way[-1].undo.append(undo)


def put_back(nodes: Iterable[Node], field: str, numbers: Iterable[Any]) -> None:
    """Set a field of many nodes in one step of Python: Ctrl-C is heard between steps, so it cannot break this off."""
    deque(map(setattr, nodes, repeat(field), numbers), maxlen=0)


# --- the quick road --------------------------------------------------------------------------------------------------


def walked_quickly(root: Node, seed: float) -> bool:
    """The walk on a graph of ops, on the fields themselves; False if there are closures, modes or nodes made by hand.

    Nothing is touched before the whole graph has been seen. The leaves are put back should the walk be interrupted; if
    there are hooks, which may do anything, so is all else.
    """
    if modes.active and modes.top() is not modes.bottom:
        return False
    with one_at_a_time:
        return _walked(root, seed)


def _walked(root: Node, seed: float) -> bool:
    found = _plain_order(root)
    if found is None:
        return False
    order, leaves, untaken, hooked = found
    if keepers.keeping:
        release(leaves)
    before = [leaf._grad for leaf in leaves]  # not in pairs: a tuple for each is work for the collector
    for grad in before:
        if grad.__class__ is not float:
            return False
    if hooked:
        with Walk([*leaves, *order, *untaken], root, leaves + untaken) as walk:
            _fill_all(order, leaves, untaken, before, seed, walk)
    else:
        _fill_all(order, leaves, untaken, before, seed, None)
    return True


def _fill_all(
    order: list[Node], leaves: list[Node], untaken: list[Node], before: list[float], seed: float, walk: Walk | None
) -> None:
    """Fill the gradients of an order, the last node of which gets the seed, and add to what the leaves held before."""
    try:
        for leaf in leaves:
            leaf._grad = 0.0
        for v in order:
            v._grad = 0.0
        for v in untaken:
            v._grad = 0.0
        (order or leaves)[-1]._grad = seed
        _push_through(order, leaves, walk)
        for leaf, grad in zip(leaves, before, strict=True):
            leaf._grad += grad
    except BaseException:
        put_back(leaves, "_grad", before)
        raise


def _push_through(order: list[Node], leaves: list[Node], walk: Walk | None) -> None:
    """Let every node of an order push, the last one first."""
    plain = [leaf for leaf in leaves if leaf._kind is None] if walk is not None else ()
    takes = keepers.takes
    v: Node = None
    try:
        for v in reversed(order):
            g = v._grad
            da = v._da
            db = v._db
            if da is not None:
                v._a._grad += da * g
            elif db is None:  # of three operands or more, or with hooks
                kind = v._kind
                if kind.hooks or kind.closure is not None:  # which a hook may have set
                    call_hooks(v)
                    push(v)
                    if keepers.takes != takes:  # a hook has made a keeper take some
                        release(leaves)
                        takes = keepers.takes
                    continue
                for operand, slope in zip(kind.inputs, kind.slopes, strict=True):
                    if slope is not None and slope is not CUT:
                        operand._grad += slope * g
            if db is not None:
                v._b._grad += db * g
        for v in plain:
            if v._kind is not None:  # a hook has put another one there
                call_hooks(v)
                push(v)
    except BaseException:
        if walk is not None:
            walk.at = v
        raise


def _plain_order(root: Node) -> tuple[list[Node], list[Node], list[Node], bool] | None:
    """The nodes from leaves to `root`, operands first; the leaves; what is passed over; whether one has hooks.

    A leaf with hooks is also in the order, which is that of `order`. None if a node is made by other means than ops.
    """
    if root._kind is None:
        return [], [root], [], False
    mark = object()  # a node that has it has been seen
    order: list[Node] = []
    leaves: list[Node] = []
    cut: list[Node] = []
    hooked = False
    done, meet = order.append, leaves.append
    stack: list[Any] = [root]
    pop, push = stack.pop, stack.append
    while stack:
        v = pop()
        if v is None:  # everything the next node depends on is in the order
            done(pop())
            continue
        if v._mark is mark:
            continue
        while True:  # go down the first operands, and leave the second ones on the stack for later
            v._mark = mark
            da = v._da
            if v._db is not None:
                b = v._b
                if b._mark is not mark:
                    if b._kind is None:
                        b._mark = mark
                        meet(b)
                    else:
                        push(v)
                        push(None)
                        push(b)
                        if da is None:
                            break
                        v = v._a
                        if v._mark is mark:
                            break
                        if v._kind is None:
                            v._mark = mark
                            meet(v)
                            break
                        continue
            elif da is None:
                kind = v._kind
                if getattr(kind, "closure", kind) is not None:  # the user's own code, or no recipe at all
                    return None
                if kind.op is None:
                    if kind.inputs:
                        return None
                    meet(v)
                hooked = hooked or bool(kind.hooks)
                push(v)
                push(None)
                for operand, slope in zip(reversed(kind.inputs), reversed(kind.slopes), strict=True):
                    if slope is CUT:
                        cut.append(operand)
                    elif slope is not None and operand._mark is not mark:
                        if operand._kind is None:
                            operand._mark = mark
                            meet(operand)
                        else:
                            push(operand)
                break
            if da is not None:
                a = v._a
                if a._mark is not mark:
                    if a._kind is None:
                        a._mark = mark
                        meet(a)
                    else:
                        push(v)
                        push(None)
                        v = a
                        continue
            done(v)
            break
    untaken = []
    while cut:
        v = cut.pop()
        if v._mark is not mark:
            v._mark = mark
            if not v.is_leaf:
                untaken.append(v)
                cut += used(v)
    return order, leaves, untaken, hooked


# --- gradients as tables and as graphs -------------------------------------------------------------------------------


def adjoints(root: Node, seed: Any, *, as_graph: bool, of: Iterable[Node] | None = None) -> dict[Node, Any]:
    """The gradient of `root` with respect to every node it depends on; no `.grad` is touched.

    As a graph, the table's rules run on the Values themselves, so each gradient can be differentiated again. If only
    the gradients `of` some nodes are wanted, nothing is done, and no hook is called, off the ways that lead to them.
    """
    gradients = {root: seed}
    nodes = order(root)
    wanted = set(nodes if of is None else of)
    if of is not None:
        for v in nodes:
            if not wanted.isdisjoint(v.inputs):
                wanted.add(v)
    for v in reversed(nodes):
        upstream = gradients.get(v)
        if upstream is None or v not in wanted:
            continue
        for hook in v.hooks:
            replaced = hook.function(upstream)
            if replaced is not None:
                upstream = gradients[v] = given_by_hook(v, replaced)
        if v.is_leaf:
            continue
        slopes = _slopes_as_graph(v) if as_graph else _known_slopes(v)
        for operand, slope in zip(v.inputs, slopes, strict=True):
            if slope is None or slope is CUT or operand not in wanted:
                continue
            share = upstream if slope.__class__ is float and slope == 1.0 else upstream * slope
            gradients[operand] = gradients[operand] + share if operand in gradients else share
    return gradients


def fill_with_graphs(root: Node, seed: Any) -> None:
    """Set `.grad` to Values, so that a gradient can be differentiated like any other number."""
    with modes.entered(modes.OpByOp()):  # a graph was asked for, also under `no_grad()`
        gradients = adjoints(root, seed, as_graph=True)
    with one_at_a_time:
        _fill(gradients, passed_over(order(root)))


def _fill(gradients: dict[Node, Any], rest: list[Node]) -> None:
    release(gradients)
    filled = {v: v._as_node(v._grad if v.is_leaf else 0.0) for v in rest}
    for v, total in gradients.items():
        total = v._as_node(total)
        held_nothing = not v.is_leaf or (v._grad.__class__ is float and v._grad == 0.0)
        filled[v] = total if held_nothing else v.grad + total
    put_back(filled, "_grad", filled.values())


def _known_slopes(v: Node) -> tuple[float | None, ...]:
    if v.primitive is None or v.closure is not None:
        v.operands  # noqa: B018 (what keeps none says why, and what to do)
        raise BackwardError(
            f"{walk.describe(v)} has a _backward closure of its own, which only backward() can run; "
            "to use grad(), jacobian() or create_graph=True, define the operation with @gradwalk.op"
        )
    return v.slopes  # type: ignore[no-any-return]


def _slopes_as_graph(v: Node) -> list[Any]:
    """The local derivatives as Values (or floats, where they do not depend on any)."""
    known = _known_slopes(v)
    if v.many:
        return list(known)  # they are maps, which take a graph to a graph
    inputs = [Ieee(x) if isinstance(x, float) else x for x in v.inputs]
    slopes: list[Any] = []
    for position, (rule, slope) in enumerate(zip(v.primitive.partials, known, strict=True), start=1):
        if slope is None:
            slopes.append(None)
            continue
        again = _rule_on_values(v, rule, position, inputs)
        number = getattr(again, "data", again)
        if number != slope and not math.isclose(number, slope, rel_tol=1e-9) and not math.isnan(slope):
            raise BackwardError(
                f"the data of {walk.describe(v)}, or of its operands, was changed after it was computed: its slope in "
                f"operand {position} was {slope:g} and now would be {number:g}; rebuild the graph before "
                "differentiating it to a higher order"
            )
        slopes.append(float(again) if isinstance(again, float) and again is not CUT else again)
    return slopes


def _rule_on_values(v: Node, rule: Callable[..., Any], position: int, inputs: list[Any]) -> Any:
    """What a rule, which may be of the user's own, gives on Values."""
    try:
        return rule(*inputs, v)
    except GradwalkError:
        raise
    except Exception as error:
        raise OpError(
            f"the derivative of {v.primitive.name} with respect to operand {position} raised {type(error).__name__} "
            f"({error}) where operands are Values, as they are for derivatives of derivatives; write the rule with "
            "operators and gradwalk's own functions (gradwalk.exp, gradwalk.where, …)"
        ) from error


# --- clearing --------------------------------------------------------------------------------------------------------


def zero_grad(target: Any) -> None:
    """Set gradients back to 0: of every node a Value depends on, of a module's parameters, or of a list of either.

    >>> a = Value(3.0)
    >>> loss = a * a
    >>> loss.backward()
    >>> zero_grad(loss)
    >>> a.grad, loss.grad
    (0.0, 0.0)
    """
    if hasattr(target, "zero_grad"):
        target.zero_grad()
    elif hasattr(target, "primitive"):
        for v in walk.topological(target, used):  # also what the ops did not take: an earlier walk may have come there
            v._clear()
    elif hasattr(target, "__iter__") and not isinstance(target, (str, bytes)):
        keeper = keepers.keeper_of(target)
        if keeper is None or not keeper.zero_grad(target):
            for part in target:
                zero_grad(part)
    else:
        kind = type(target).__name__
        raise GraphError(f"zero_grad takes a Value, a Module or a list of them, not {kind}: {target!r}")
