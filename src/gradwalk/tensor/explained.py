"""One number of a tensor's gradient as a sum over paths: the computation around it as Values, explained as theirs.

The number asked for is a Value, all others are plain numbers, and so only what depends on it makes nodes: a matrix
product of thousands of numbers is for one weight a handful of products. A sum of many is one node here, because a chain
of additions would be a long path that says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from itertools import islice, product
from typing import Any

from gradwalk import explain as explaining
from gradwalk import reverse, walk
from gradwalk.engine import Value
from gradwalk.errors import GraphError
from gradwalk.explain import Explanation, LeafGradient
from gradwalk.explain.paths import MOST_LEAVES
from gradwalk.ops import Op
from gradwalk.tensor.backward import check_age
from gradwalk.tensor.core import Tensor
from gradwalk.tensor.scalars import unrolled_from
from gradwalk.tensor.shapes import size_of

__all__ = ["explained", "graph_at", "name_at", "number_graph", "place_in"]

Place = tuple[int, ...]


def explained(root: Tensor, leaf: Any = None, index: Any = None) -> Explanation:
    """Why the gradient of a number, of all numbers of one node, or of all leaves is what it is.

    >>> W = Tensor([[1.0, 2.0], [3.0, 4.0]], label="W")
    >>> loss = (Tensor([2.0, 5.0], requires_grad=False) @ W).sum()
    >>> explained(loss, W, (1, 0))
    W[1, 0].grad = 5: sum → @[0] → W[1, 0] × 5 → W[1, 0]: 1 × 1 × 5 = 5
    """
    _check_root(root)
    nodes = reverse.order(root)
    if leaf is None and index is not None:
        raise GraphError("an index needs the tensor it is of: explain(root, leaf, index=(0, 3))")
    node: Any = None if leaf is None else _found(leaf, nodes)
    if isinstance(node, Value):
        if index is not None:
            raise GraphError("an index is for a tensor, and a Value is one number")
        wanted: list[tuple[Any, Place]] = [(node, ())]
        left = 0
    else:
        leaves = [v for v in nodes if v.is_leaf] if node is None else [node]
        every = sum(size_of(v.shape) if v.many else 1 for v in leaves)
        places = ((v, at) for v in leaves for at in product(*(range(n) for n in (v.shape if v.many else ()))))
        wanted = [(node, place_in(node, index))] if index is not None else list(islice(places, MOST_LEAVES))
        left = 0 if index is not None else every - len(wanted)
    top, values = number_graph(root, wanted)
    told = [_one(top, value) for value in values]
    hooked = any(v.hooks for v in nodes)
    if leaf is None:
        return Explanation(tuple(told), left, hooked, top, root, partial(graph_at, root))
    return Explanation(tuple(told), left, hooked, top)


def _one(top: Value, value: Value) -> LeafGradient:
    if any(v is value for v in walk.topological(top)):
        return explaining(top, value).leaves[0]
    graph = walk.graph_of(value)  # nothing above it uses it
    return LeafGradient(graph, graph.nodes[0], 0.0, 0, (), ())


def number_graph(root: Tensor, wanted: Sequence[tuple[Any, Place]]) -> tuple[Value, list[Value]]:
    """The computation of a tensor of one number as Values, as far as it depends on the numbers that are wanted.

    >>> x = Tensor([1.0, 2.0], label="x")
    >>> top, (number,) = number_graph((x * x).sum(), [(x, (1,))])
    >>> top.backward()
    >>> number.label, number.grad
    ('x[1]', 4.0)
    """
    asked: dict[Any, dict[int, Value]] = {}
    values = []
    for v, place in wanted:
        if isinstance(v, Value):
            asked[v] = {0: v}
            values.append(v)
            continue
        flat = 0
        for i, n in zip(place, v.shape, strict=True):
            flat = flat * n + i
        numbers = v.detach().reshape(-1).tolist()
        values.append(asked.setdefault(v, {}).setdefault(flat, Value(numbers[flat], label=name_at(v, place))))

    leading: set[Any] = set()  # Values that depend on one that is asked for

    def begin(v: Any) -> list[Any]:
        if isinstance(v, Value):
            if v in asked or any(x in leading for x in v.inputs):
                leading.add(v)
            return [v if v in leading else v.data]
        numbers: list[Any] = [float(x) for x in v.detach().reshape(-1).tolist()]
        for flat, value in asked.get(v, {}).items():
            numbers[flat] = value
        return numbers

    done = unrolled_from(root, begin, _added, stops=asked.keys())
    for v in reverse.order(root):
        if v.many and v not in asked:
            for place, number in zip(product(*(range(n) for n in v.shape)), done[v], strict=True):
                if isinstance(number, Value) and not number.label and number not in done:  # in it are the user's own
                    number.label = name_at(v, place)
    top = done[root][0]
    return top if isinstance(top, Value) else Value(top, label=name_at(root, ())), values


def graph_at(root: Any, node: int, place: Any) -> Value:
    """The graph of one number, by the id that its tensor has in a recording of the root.

    >>> x = Tensor([1.0, 2.0], label="x")
    >>> graph_at((x * x).sum(), 0, (1,))
    Value(data=5.0, grad=0.0)
    """
    nodes = list(walk.topological(root))
    if type(node) is not int or not 0 <= node < len(nodes):
        raise GraphError(f"the graph has no node {node!r:.60}: ids go from 0 to {len(nodes) - 1}")
    v = nodes[node]
    if not v.many or not v.shape:
        raise GraphError(f"{walk.short(v)} is one number: there is nothing to open")
    if not v.requires_grad:
        raise GraphError(f"{v.label or 'this tensor'} is a constant: no gradient flows to it")
    _check_root(root)
    at = place_in(v, place)
    top, (value,) = number_graph(root, [(v, at)])
    value.label = f"{walk.graph_from_nodes(nodes).nodes[node].name}{[*at]}"
    return top


def name_at(v: Tensor, place: Place) -> str:
    """What one number of a tensor is called: by the tensor's label or op, and where it stands.

    >>> name_at(Tensor([[1.0]], label="W"), (0, 0)), name_at(Tensor([1.0]).exp().sum(), ())
    ('W[0, 0]', 'sum')
    """
    name = v.label or v._op or "Tensor"
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def _added(row: list[Any]) -> Any:
    """A sum as one node: the plain numbers together, then the Values."""
    values = [x for x in row if isinstance(x, Value)]
    rest = float(sum(x for x in row if not isinstance(x, Value)))  # not fsum, which raises on inf - inf
    if not values:
        return rest
    terms: list[Any] = [*values, rest] if rest != 0.0 else values
    return terms[0] if len(terms) == 1 else terms[0] + terms[1] if len(terms) == 2 else _sum_of(len(terms))(*terms)


@cache
def _sum_of(count: int) -> Op:
    return Op("sum", "sum", lambda *xs: float(sum(xs)), (lambda *_: 1.0,) * count)


def place_in(v: Tensor, index: Any) -> Place:
    """An index as one place in a tensor, counted from 0.

    >>> place_in(Tensor([[1.0, 2.0]]), (0, -1))
    (0, 1)
    >>> place_in(Tensor([1.0, 2.0]), 7)
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: index 7 is not in a tensor of shape (2,): it takes one whole number for each dim
    """
    given = index if isinstance(index, (tuple, list)) else (index,)
    right = len(given) == len(v.shape) and all(
        hasattr(i, "__index__") and not isinstance(i, bool) and -n <= i.__index__() < n
        for i, n in zip(given, v.shape, strict=True)
    )
    if not right:
        raise GraphError(
            f"index {index!r:.60} is not in a tensor of shape {v.shape}: it takes one whole number for each dim"
        )
    return tuple(i.__index__() % n for i, n in zip(given, v.shape, strict=True))


def _check_root(root: Tensor) -> None:
    if size_of(root.shape) != 1:
        raise GraphError(
            f"a gradient is of one number, and this tensor has shape {root.shape}; take its sum() or mean(), or one of "
            "its numbers, as in root[0]"
        )
    if not root.requires_grad:
        raise GraphError(f"no gradient flows to this tensor of shape {root.shape}: it was computed from constants only")
    for v in reverse.order(root):
        if v.many and not v.is_leaf:
            for x in v.inputs:
                getattr(x, "array", None)  # so that what was written to a leaf's data is known
            check_age(v)


def _found(leaf: Any, nodes: Sequence[Any]) -> Any:
    if isinstance(leaf, str):
        found = [v for v in nodes if v.label == leaf]
        if len(found) > 1:
            raise GraphError(f"{len(found)} nodes are labelled {leaf!r}; give the tensor itself")
        what = f"no node is labelled {leaf!r}"
    else:
        found = [v for v in nodes if v is leaf]
        what = f"{walk.short(leaf)} is not part of the graph"
    if not found:
        labels = sorted({v.label for v in nodes if v.label})
        some = ", ".join(labels[:8]) + (" …" if len(labels) > 8 else "")
        raise GraphError(f"{what}, or no gradient flows to it" + (f"; there are {some}" if labels else ""))
    return found[0]
