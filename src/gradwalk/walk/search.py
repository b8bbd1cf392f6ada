"""The depth-first search that finds the order of the walk, step by step."""

from __future__ import annotations

from gradwalk.walk.events import AlreadyVisited, Enter, Event, Leave
from gradwalk.walk.graph import Graph, graph_of
from gradwalk.walk.nodes import Node
from gradwalk.walk.sentences import Narrator

__all__ = ["search_steps"]


def search_steps(root: Node | Graph) -> tuple[Event, ...]:
    """How `topological` comes to its order: enter a node, look at what it uses, append it when all of that is in.

    A node's id is its place in the order, so the steps and a recording of the same root speak of the same ids.

    >>> a = Value(2.0, label="a")
    >>> b = a + 1
    >>> b.label = "b"
    >>> for step in walk.search_steps(b * a):
    ...     print(step.kind, step.sentence)
    enter Begin at `n3`. First go through its operands.
    enter `n3` uses `b`, which is new: go on below it.
    enter `b` uses `a`, which is new: nothing lies below it.
    leave `a` uses nothing: append it, as number 1.
    enter `b` uses 1, which is new: nothing lies below it.
    leave 1 uses nothing: append it, as number 2.
    leave Every operand of `b` is in the order: append it, as number 3.
    already_visited `n3` also uses `a`, which has been visited: go on.
    leave Every operand of `n3` is in the order: append it, as number 4.
    """
    graph = root if isinstance(root, Graph) else graph_of(root)
    words = Narrator(graph)
    entered = {graph.root}
    path = [(graph.root, iter(graph.nodes[graph.root].operands))]
    steps: list[Event] = [Enter(graph.root, None, words=words)]
    appended = 0
    while path:
        node, ahead = path[-1]
        for operand in ahead:
            if operand not in entered:
                entered.add(operand)
                steps.append(Enter(operand, node, words=words))
                path.append((operand, iter(graph.nodes[operand].operands)))
                break
            steps.append(AlreadyVisited(operand, node, words=words))
        else:
            path.pop()
            steps.append(Leave(node, appended, words=words))
            appended += 1
    return tuple(steps)
