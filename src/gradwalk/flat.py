"""A graph as a flat list while it is pickled: operands before the nodes that use them, so that no depth is too deep.

Pickle asks each object what it is made of and goes on to that first, which ends a chain of a million nodes in the
system's stack. So the first node of a graph that is asked puts a list of all its nodes before its own fields. Each node
then finds its operands behind it, already written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import local
from typing import Any

__all__ = ["Flat"]


class _Planned(local):
    """The nodes that stand in a list which is being written in this thread, by id()."""

    def __init__(self) -> None:
        self.nodes: dict[int, Any] = {}


_planned = _Planned()


class Flat:
    """What is pickled before a node, and forgotten as soon as it is read: the nodes themselves are what was wanted.

    >>> import pickle
    >>> len(pickle.loads(pickle.dumps(Flat([1, 2, 3]))).__dict__)
    0
    """

    def __init__(self, nodes: Iterable[Any] = ()) -> None:
        if nodes:
            self.nodes = nodes

    @staticmethod
    def holds(node: Any) -> bool:
        """Whether a node stands in a list that is being written.

        >>> Flat.holds(Value(1.0))
        False
        """
        return id(node) in _planned.nodes

    def __reduce__(self) -> tuple[Any, ...]:
        return Flat, (), None, self._written()

    def _written(self) -> Iterator[Any]:
        before = _planned.nodes
        nodes = list(self.nodes)
        _planned.nodes = {**before, **{id(v): v for v in nodes}}
        try:
            yield from nodes
        finally:  # also if pickling fails, and this is thrown away
            _planned.nodes = before

    def extend(self, nodes: Iterable[Any]) -> None:
        """Forget them.

        >>> Flat().extend([1])
        """

    append = extend
