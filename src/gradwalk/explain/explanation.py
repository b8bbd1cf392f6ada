"""What an explanation holds: paths, shares and their sum; and the words for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from gradwalk import walk
from gradwalk.walk.formatting import clean, ordinal
from gradwalk.walk.sentences import written

if TYPE_CHECKING:
    import os
    import pathlib

    from gradwalk.walk import Graph, NodeInfo

__all__ = ["Explanation", "LeafGradient", "Path", "Share"]

T = TypeVar("T")
Step = tuple[int, int]  # a node of a path by its id, and its position among operands, or 0 if that needs no telling

ENDLESS = 10**18  # where counting paths stops
MOST_IN_SUM = 6  # paths that are named in the headline
LONGEST_PATH = 9  # nodes of a path that are written out
LONGEST_NAME = 24  # characters of a formula that stands for a node without a label


@dataclass(frozen=True)
class Path:
    """One way from the root down to a leaf: the nodes on it, the slopes between them, and their product.

    >>> (path,) = gradwalk.explain(gradwalk.program("b = a*3; c = b*b*0.5", a=2).root, "b").leaves[0].paths[:1]
    >>> path.slopes, path.contribution, [node.name for node in path.nodes]
    ((0.5, 6.0), 3.0, ['c', 'n3', 'b'])
    """

    graph: Graph
    edges: tuple[tuple[int, int], ...]  # (node, position of the operand that comes next), from the root

    @cached_property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """The nodes from the root to the leaf.

        >>> a = gradwalk.Value(3.0, label="a")
        >>> [node.name for node in gradwalk.explain(a * a).leaves[0].paths[0].nodes]
        ['n1', 'a']
        """
        rows = self.graph.nodes
        above = [rows[node] for node, _ in self.edges]
        if not above:
            return (rows[self.graph.root],)
        node, position = self.edges[-1]
        return (*above, rows[rows[node].operands[position]])

    @cached_property
    def slopes(self) -> tuple[float, ...]:
        """The local derivative of each step, from the root.

        >>> a = gradwalk.Value(3.0)
        >>> gradwalk.explain((a * 2).exp(), a).leaves[0].paths[0].slopes
        (403.4287934927351, 2.0)
        """
        found = (self.graph.nodes[node].slopes[position] for node, position in self.edges)
        return tuple(math.nan if slope is None else slope for slope in found)

    @cached_property
    def contribution(self) -> float:
        """The product of the slopes.

        >>> a = gradwalk.Value(3.0)
        >>> [path.contribution for path in gradwalk.explain(a * a).leaves[0].paths]
        [3.0, 3.0]
        """
        return math.prod(self.slopes, start=1.0)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The node of each step, with the operand's position where a node takes it more than once, else 0.

        >>> a = gradwalk.Value(3.0, label="a")
        >>> [path.steps for path in gradwalk.explain(a * a).leaves[0].paths]
        [((1, 0), (0, 1)), ((1, 0), (0, 2))]
        """
        marks = [0]
        for above, position in self.edges:
            below = self.graph.nodes[above].operands
            marks.append(position + 1 if below.count(below[position]) > 1 else 0)
        return tuple((node.id, mark) for node, mark in zip(self.nodes, marks, strict=True))

    def __str__(self) -> str:
        steps = [_step(self.graph, part) for part in _cut(self.steps, "nodes")]
        slopes = [part if isinstance(part, str) else walk.readable(part) for part in _cut(self.slopes, "slopes")]
        total = [walk.readable(self.contribution)] if len(slopes) > 1 else []
        return f"{' → '.join(steps)}: {' = '.join([' × '.join(slopes), *total])}"


@dataclass(frozen=True)
class Share:
    """What one use of a leaf brings: the gradient of the node that uses it, times the slope.

    >>> values = gradwalk.program("b = a*2; c = b*b", a=3)
    >>> [(share.node.name, share.upstream, share.local) for share in gradwalk.explain(values.root).leaves[0].shares]
    [('b', 12.0, 2.0)]
    """

    node: NodeInfo
    position: int
    upstream: float
    local: float


@dataclass(frozen=True)
class LeafGradient:
    """The gradient of one leaf: how many paths there are, and each of them unless they are too many.

    >>> a = gradwalk.Value(3.0, label="a")
    >>> found = gradwalk.explain(a * a).leaves[0]
    >>> found.gradient, found.count
    (6.0, 2)
    >>> print(found)
    a.grad = 6: as 1st operand 3 + as 2nd operand 3 = 6
      a × a → a (1st): 3
      a × a → a (2nd): 3
    """

    graph: Graph
    leaf: NodeInfo
    gradient: float
    count: int
    paths: tuple[Path, ...]
    shares: tuple[Share, ...]

    def __str__(self) -> str:
        name = _name(self.graph, self.leaf)
        if " " in name and not self.leaf.label:  # a formula
            name = f"({name})"
        start = f"{name}.grad = {walk.readable(self.gradient)}"
        if not self.count:
            return f"{start}: nothing was pushed to it, because the ops above it took other operands"
        if not self.paths:
            number = f"{self.count:,}" if self.count < ENDLESS else "more than 10¹⁸"
            lines = [
                f"{start}: the sum over {number} paths, too many to list; "
                f"by the nodes that use {_name(self.graph, self.leaf)}:"
            ]
            for share in self.shares:
                numbers = f"gradient {walk.readable(share.upstream)} × slope {walk.readable(share.local)}"
                total = walk.readable(share.upstream * share.local)
                lines.append(f"  through {_name(self.graph, share.node)}: {numbers} = {total}")
            return "\n".join(lines)
        if len(self.paths) == 1:
            return f"{start}: {self.paths[0]}" if self.paths[0].edges else f"{start}: it is the root"
        lines = [f"{start}: {self._sum()}", *(f"  {path}" for path in self.paths)]
        if not self._adds_up():
            total = walk.readable(self._total())
            lines.append(f"  (these add up to {total}: paths overflow or lose digits, and backward() adds first)")
        return "\n".join(lines)

    def _sum(self) -> str:
        if len(self.paths) > MOST_IN_SUM:
            return f"the sum of {len(self.paths)} paths"
        steps = [path.steps for path in self.paths]
        ahead, behind = _shared(steps), _shared([part[::-1] for part in steps])
        parts = []
        for path in self.paths:
            between = path.steps[ahead : len(path.steps) - behind]
            names = [_step(self.graph, part) for part in _cut(between, "nodes")]
            way = " → ".join(names)
            formulas = " " in way and any(not self.graph.nodes[node].label for node, _ in between)
            words = f"through {f'({way})' if formulas else way}" if names else "directly"
            if len(between) == 1 and between[0][0] == self.leaf.id:
                words = f"as {ordinal(between[0][1])} operand"
            parts.append(f"{words} {walk.readable(path.contribution)}")
        total = [walk.readable(self.gradient)] if self._adds_up() else []
        return " = ".join([" + ".join(parts), *total])

    def _total(self) -> float:
        return sum(path.contribution for path in self.paths)

    def _adds_up(self) -> bool:
        x, y = self._total(), self.gradient
        return x == y or (math.isnan(x) and math.isnan(y)) or math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-9)


@dataclass(frozen=True)
class Explanation:
    """What `explain` gives: print it, or look into `leaves`.

    >>> values = gradwalk.program("e = a*b; L = e*f", a=2, b=-3, f=-2)
    >>> gradwalk.explain(values.root)
    a.grad = 6: L → e → a: −2 × −3 = 6
    b.grad = −4: L → e → b: −2 × 2 = −4
    f.grad = −6: L → f: −6
    """

    leaves: tuple[LeafGradient, ...]
    left_out: int = 0
    hooked: bool = False
    root: Any = field(default=None, repr=False, compare=False)
    #: Of all numbers of a tensor's graph: the tensor, and what gives the graph of one number by its node and place.
    tensor: Any = field(default=None, repr=False, compare=False)
    graph_at: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        lines = [str(leaf) for leaf in self.leaves]
        if self.left_out:
            lines.append(f"… and {self.left_out:,} more leaves; name one: explain(root, leaf)")
        if self.hooked:
            lines.append("(hooks change gradients on their way; they are left out here)")
        return "\n".join(lines)

    __repr__ = __str__

    def save(
        self, path: str | os.PathLike[str], *, title: str | None = None, step: int = 0, theme: str = "auto"
    ) -> pathlib.Path:
        """Save the walk over the graph as a page that steps by itself: one file, no network, at most 300 KB.

        `walk.html` is for slides, blogs and homework; it opens at `step`, and `walk.html#step=7` at the seventh. Its
        colours follow the reader's system, unless `theme` is "light" or "dark". `walk.json` is the recording alone,
        `walk.txt` the explanation. Of tensors, the page walks heat maps, as many single numbers as there is room for
        open their own graphs, and `explain(loss, W, index=(0, 3))` saves that one number's walk.

        >>> import gradwalk, tempfile
        >>> values = gradwalk.program("b = a + 1; c = a*3; d = b*c", a=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     gradwalk.explain(values.root).save(f"{folder}/walk.html", title="The diamond").name
        'walk.html'
        >>> gradwalk.explain(values.root).save("walk.gif")
        Traceback (most recent call last):
        ...
        gradwalk.errors.SettingError: a walk can be html, json or txt, not 'gif'
        """
        from gradwalk.explain.page import save_walk  # most explanations are only printed

        return save_walk(self, path, title=title, step=step, theme=theme)


# --- words -------------------------------------------------------------------------------------------------------


def _name(graph: Graph, node: NodeInfo, depth: int = 3) -> str:
    """A node's label; of one without, its number or its formula if that is short, else the name made up for it."""
    if node.label:
        return clean(node.label)
    if node.constant:
        return node.name
    if node.leaf:
        return f"Value({walk.readable(node.data)})"
    if not depth:
        return node.name
    below = [graph.nodes[i] for i in node.operands]
    parts = [_name(graph, operand, depth - 1) for operand in below]
    if not node.op[:1].isalpha():  # an infix sign keeps its operands apart from those of the signs below it
        loose = [not operand.op[:1].isalpha() and " " in part for operand, part in zip(below, parts, strict=True)]
        parts = [f"({part})" if wrap and not operand.label else part
                 for operand, part, wrap in zip(below, parts, loose, strict=True)]  # fmt: skip
    text = written(node.op, parts)
    return text if len(text) <= LONGEST_NAME else node.name


def _step(graph: Graph, step: Step | str) -> str:
    if isinstance(step, str):
        return step
    node, mark = step
    return _name(graph, graph.nodes[node]) + (f" ({ordinal(mark)})" if mark else "")


def _cut(parts: Sequence[T], what: str) -> list[T | str]:
    """The parts, or where they are many the first and the last of them, with words for what is left out."""
    if len(parts) <= LONGEST_PATH:
        return list(parts)
    keep = LONGEST_PATH // 2
    return [*parts[:keep], f"… {len(parts) - 2 * keep} {what} …", *parts[-keep:]]


def _shared(sequences: Sequence[Sequence[Step]]) -> int:
    """How many first elements all sequences have in common."""
    shortest = min(map(len, sequences))
    return next((i for i in range(shortest) if len({s[i] for s in sequences}) > 1), shortest)
