"""What a visit order did to the gradients: what it lost or counted twice, on which path, how much, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from gradwalk.messages import Message, say
from gradwalk.walk import json_fields
from gradwalk.walk.contributions import Arrivals, close, linear, paths
from gradwalk.walk.events import Event, Push, Seed, Visit
from gradwalk.walk.formatting import clean, readable
from gradwalk.walk.graph import Graph
from gradwalk.walk.sentences import listed, quoted
from gradwalk.walk.states import replay

__all__ = ["Doubled", "Missing", "OrderVerdict"]


@dataclass(frozen=True)
class Missing:
    """What never reached a leaf, because a node on the way was visited before all that use it had pushed.

    `gradient` came to `node` from `consumers` after its visit. `path` leads from there to the leaf (the strongest, if
    there are several), and `amount` is what the leaf's gradient lacks.

    >>> a = Value(2.0, label="a")
    >>> c = a * 3
    >>> d = c.exp()
    >>> (lost,) = walk.record(d, order=[c, d]).verdict.lost
    >>> lost.node, lost.consumers, round(lost.gradient, 3), lost.leaf, lost.path, round(lost.amount, 3)
    (2, (3,), 403.429, 0, (2, 0), 1210.286)
    """

    node: int
    consumers: tuple[int, ...]
    gradient: float
    leaf: int
    path: tuple[int, ...]
    amount: float
    sentence: Message


@dataclass(frozen=True)
class Doubled:
    """What reached a leaf once too often, because a node on the way was visited more than once.

    >>> a = Value(2.0, label="a")
    >>> (doubled,) = walk.record(a * 3, order=[2, 2], allow_repeats=True).verdict.doubled
    >>> doubled.visits, doubled.amount, doubled.sentence
    (2, 3.0, '`n2` was visited 2 times and pushed all it held each time: 3 too much went through `n2` to `a`;
    a.grad = 6, right is 3')
    """

    node: int
    visits: int
    gradient: float
    leaf: int
    path: tuple[int, ...]
    amount: float
    sentence: Message


@dataclass(frozen=True)
class OrderVerdict:
    """Whether an order gave the right gradients, and whether it had to.

    >>> a = Value(2.0, label="a")
    >>> verdict = walk.record(a * 3, order=["a", "n2"]).verdict
    >>> verdict.right, verdict.topological
    (True, False)
    """

    graph: Graph = field(repr=False)
    events: tuple[Event, ...] = field(repr=False)

    @cached_property
    def topological(self) -> bool:
        """By the order: did every node come after all that use it? Leaves may be left out.

        >>> c = Value(2.0) * 3
        >>> d = c.exp()
        >>> walk.record(d, [d, c]).verdict.topological, walk.record(d, [c, d]).verdict.topological
        (True, False)
        """
        turns = {visit.node: turn for turn, visit in enumerate(self._visits)}
        if len(turns) < len(self._visits) or any(
            place not in turns for place in self.graph.interior if place in self.graph.reached
        ):
            return False
        return all(turns[x] < turn for place, turn in turns.items() for x in self.graph.consumers[place])

    @cached_property
    def right(self) -> bool:
        """By the result: do all leaves hold what they should? Without `topological`, that is luck.

        >>> c = Value(2.0) * 3
        >>> d = c.exp()
        >>> walk.record(d, [c, d]).verdict.right
        False
        """
        if not (self._arrivals.late or self._arrivals.extra or self._replaced):
            return True
        size = linear(self.graph, self.graph.root, self._seed, size=True)  # other orders round differently
        leaves = (node.id for node in self.graph.nodes if node.leaf)
        return all(close(self._grads[x] or 0.0, self.expected[x] or 0.0, size.get(x, 0.0)) for x in leaves)

    @cached_property
    def expected(self) -> dict[int, float | None]:
        """The right gradients by id; None for constants.

        >>> c = Value(2.0) * 3
        >>> walk.record(-c).verdict.expected
        {0: -3.0, 1: None, 2: -1.0, 3: 1.0}
        """
        if not (self._arrivals.late or self._arrivals.extra or self._replaced):
            return self._grads
        right = linear(self.graph, self.graph.root, self._seed)
        return {node.id: right.get(node.id) for node in self.graph.nodes}

    @cached_property
    def lost(self) -> tuple[Missing, ...]:
        """Each contribution that did not reach a leaf, in the order of the visits that came too early.

        >>> c = Value(2.0, label="a") * 3
        >>> d = c.exp()
        >>> walk.record(d, [c, d]).verdict.lost[0].sentence
        '`n2` was visited before `n3`: it had nothing to pass on yet, so the 1210.2864 that goes through `n2` never
        reached `a`; a.grad holds nothing, right is 1210.2864'
        """
        return tuple(self._all_lost())

    @cached_property
    def doubled(self) -> tuple[Doubled, ...]:
        """Each contribution that reached a leaf more than once, in the order of the visits.

        >>> c = Value(2.0) * 3
        >>> [entry.amount for entry in walk.record(c, [c, c, c], allow_repeats=True).verdict.doubled]
        [6.0]
        """
        return tuple(self._all_doubled())

    @cached_property
    def sentence(self) -> Message:
        """The verdict in plain English.

        >>> walk.record(Value(2.0, label="a") * 3, order=["a", "n2"]).verdict.sentence
        'Right, but only by luck: `a` was visited before `n2`, which pushes to it; a leaf pushes nothing itself.'
        """
        if self.right:
            return (
                say("Each node came after all that use it: every gradient is right.")
                if self.topological
                else self._luck()
            )
        sentences = chain(
            (x.sentence for x in self._all_lost()), (x.sentence for x in self._all_doubled()), self._all_replaced()
        )
        other = say("The gradients are other than in the right order")  # a _backward that does not scale
        first = next(sentences, other)
        amiss = len(self._arrivals.late) + len(self._arrivals.extra) + len(self._replaced)
        if amiss < 2:
            return first
        return say("{first} (the first of {count} nodes where something went wrong)", first=first, count=amiss)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON takes it.

        >>> walk.record(Value(2.0) * 3).verdict.to_dict()["right"]
        True
        """
        return {
            "right": self.right,
            "topological": self.topological,
            "lost": json_fields.encoded(tuple(map(asdict, self.lost))),
            "doubled": json_fields.encoded(tuple(map(asdict, self.doubled))),
            "sentence": self.sentence,
            "expected": json_fields.encoded(tuple(self.expected[node.id] for node in self.graph.nodes)),
        }

    # --- what it rests on ----------------------------------------------------------------------------------------

    @cached_property
    def _visits(self) -> list[Visit]:
        return [event for event in self.events if isinstance(event, Visit)]

    @cached_property
    def _arrivals(self) -> Arrivals:
        return Arrivals(self.graph, self.events)

    @cached_property
    def _replaced(self) -> list[Push]:
        """The pushes of a `_backward` made by hand that sets a gradient, where it should add to it."""
        return [event for event in self.events if isinstance(event, Push) and event.replaces]

    @cached_property
    def _grads(self) -> dict[int, float | None]:
        return dict(replay(self.events, self.graph).grads)

    @cached_property
    def _seed(self) -> float:
        return next((event.gradient for event in self.events if isinstance(event, Seed)), 0.0)

    def _all_lost(self) -> Iterator[Missing]:
        nodes, held = self.graph.nodes, {visit.node: visit.gradient for visit in self._visits}
        for place, gradient, leaf, path, amount in self._below(self._arrivals.late):
            name, consumers = quoted(nodes[place]), tuple(reversed(self._arrivals.late_from[place]))
            to, standing = quoted(nodes[leaf]), self._standing(leaf)
            if place not in held:
                told = say(
                    "{name} was never visited, so the {amount} that goes through {name} never reached {leaf}; "
                    "{standing}",
                    name=name,
                    amount=readable(amount),
                    leaf=to,
                    standing=standing,
                )
            elif held[place] is None:
                told = say(
                    "{name} was visited before {users}: it had nothing to pass on yet, so the {amount} that goes "
                    "through {name} never reached {leaf}; {standing}",
                    name=name,
                    users=listed([nodes[x] for x in consumers]),
                    amount=readable(amount),
                    leaf=to,
                    standing=standing,
                )
            else:
                told = say(
                    "{name} was visited before {users}: it had only {had} to pass on yet, so another {amount} that "
                    "goes through {name} never reached {leaf}; {standing}",
                    name=name,
                    users=listed([nodes[x] for x in consumers]),
                    had=readable(held[place]),
                    amount=readable(amount),
                    leaf=to,
                    standing=standing,
                )
            yield Missing(place, consumers, gradient, leaf, path, amount, told)

    def _all_doubled(self) -> Iterator[Doubled]:
        nodes = self.graph.nodes
        for place, gradient, leaf, path, amount in self._below(self._arrivals.extra):
            name, times = quoted(nodes[place]), self._arrivals.visits[place]
            told = say(
                "{name} was visited {times} times and pushed all it held each time: {amount} too much went through "
                "{name} to {leaf}; {standing}",
                name=name,
                times=times,
                amount=readable(amount),
                leaf=quoted(nodes[leaf]),
                standing=self._standing(leaf),
            )
            yield Doubled(place, times, gradient, leaf, path, amount, told)

    def _all_replaced(self) -> Iterator[Message]:
        nodes = self.graph.nodes
        for push in self._replaced:
            yield say(
                "The _backward of {name} replaced the {before} that {operand} had, where += would add up; {standing}",
                name=quoted(nodes[push.node]),
                before=readable(push.before),
                operand=quoted(nodes[push.operand]),
                standing=self._standing(push.operand),
            )

    def _below(self, amounts: dict[int, float]) -> Iterator[tuple[int, float, int, tuple[int, ...], float]]:
        """For each node with something amiss and each leaf that it reaches: node, gradient, leaf, path, amount."""
        turns: dict[int, int] = {}
        for turn, visit in enumerate(self._visits):
            turns.setdefault(visit.node, turn)
        for place in sorted(amounts, key=lambda place: turns.get(place, len(turns))):
            reached = linear(self.graph, place, amounts[place])
            for leaf, path in sorted(paths(self.graph, place).items()):
                if reached[leaf] != 0.0:
                    yield place, amounts[place], leaf, path, reached[leaf]

    def _standing(self, leaf: int) -> Message:
        """What the leaf holds and should hold: `a.grad = 6, right is 15`."""
        name, got, right = clean(self.graph.nodes[leaf].name), self._grads[leaf], readable(self.expected[leaf])
        if got is None:
            return say("{name}.grad holds nothing, right is {right}", name=name, right=right)
        return say("{name}.grad = {got}, right is {right}", name=name, got=readable(got), right=right)

    def _luck(self) -> Message:
        """Right, though with that order it need not have been."""
        nodes = self.graph.nodes
        early = [visit for visit in self._visits if visit.waiting]
        computed = [visit for visit in early if not nodes[visit.node].leaf]
        if not early:
            again = next(visit for visit in self._visits if visit.turn > 1)
            why = say("what it pushed again adds up to 0")
            if nodes[again.node].leaf:
                why = say("a leaf pushes nothing")
            told = quoted(nodes[again.node])
            return say("Right, but only by luck: {name} was visited more than once; {why}.", name=told, why=why)
        first = (computed or early)[0]
        name, users = quoted(nodes[first.node]), listed([nodes[x] for x in first.waiting])
        why = say("what came too late adds up to 0") if computed else say("a leaf pushes nothing itself")
        if len(first.waiting) == 1:
            return say(
                "Right, but only by luck: {name} was visited before {user}, which pushes to it; {why}.",
                name=name,
                user=users,
                why=why,
            )
        return say(
            "Right, but only by luck: {name} was visited before {users}, which push to it; {why}.",
            name=name,
            users=users,
            why=why,
        )
