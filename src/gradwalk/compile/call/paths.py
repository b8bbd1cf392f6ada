"""All paths through a function for arguments of one structure: find the one that these numbers take, or trace it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwalk import tree
from gradwalk.compile.call.guarded_trace import Elsewhere, GuardedTrace
from gradwalk.compile.trace.limits import many_paths
from gradwalk.engine import Value

__all__ = ["Paths", "Unseen", "as_values", "traces_in"]

MOST = 32  # paths that are kept for one structure
FIRST = 8  # … and that are traced in any case; more of them only if paths come back


class Unseen(Exception):  # noqa: N818 (nobody outside sees it)
    """These numbers take a path that was not seen yet."""

    def __init__(self, paths: Paths, left: GuardedTrace, at: int) -> None:
        super().__init__(paths, left, at)
        self.paths, self.left, self.at = paths, left, at  # the trace that came closest, and where they left it


class Paths:
    """The traces of one structure that was found to have guards; used as a trace is.

    >>> f = gradwalk.compile(lambda n: sum(range(n)) * 1.0)
    >>> [f(n) for n in (3, 4, 3)], len(f.traces())
    ([3.0, 6.0, 3.0], 2)
    """

    familiar = ()  # as a trace has it

    def __init__(self, first: GuardedTrace) -> None:
        self.traces: list[GuardedTrace] = [first]  # the latest used first
        self.recent = True
        self.calls, self.due = 0, first.due  # as a trace has them …
        self.checks, self.surroundings = first.checks, first.surroundings
        self.holds: Any
        first.surroundings.serve(self)
        self.found = 0  # how often a path was one that was known
        self.warned = False

    def run(self, numbers: Any) -> Any:
        """Compute with these numbers, on the path that they take."""
        trace = self.traces[0]
        try:
            out = trace.run(numbers)  # as most do
        except Elsewhere as elsewhere:
            out, _ = self._on_another_path(numbers, GuardedTrace.run, trace, elsewhere)
        self.calls += 1
        self.found += 1
        return out

    def values_only(self, numbers: Any) -> Any:
        """As `run`, with leaves as results."""
        out, _ = self._values_and_path(numbers)
        self.calls += 1
        self.found += 1
        return out

    def _values_and_path(self, numbers: Any) -> tuple[Any, GuardedTrace]:
        trace = self.traces[0]
        try:
            return trace.values_only(numbers), trace
        except Elsewhere as elsewhere:
            return self._on_another_path(numbers, GuardedTrace.values_only, trace, elsewhere)

    def _on_another_path(
        self, numbers: Any, run: Any, left: GuardedTrace, elsewhere: Elsewhere
    ) -> tuple[Any, GuardedTrace]:
        """What another path gives than the one that numbers have left, and which it is."""
        traces = self.traces
        tried = [left]
        while True:
            at = elsewhere.at
            found = next((t for t in traces if t not in tried and _may_be(t, left, elsewhere)), None)
            if found is None:
                raise Unseen(self, left, at) from None
            try:
                out = run(found, numbers)
            except Elsewhere as another:
                tried.append(found)
                left, elsewhere = found, another
                continue
            self.traces = [found, *[t for t in traces if t is not found]]
            return out, found

    def has_room(self, size: int, unseen: Unseen) -> bool:
        """Whether one path more is worth a trace, in a cache of this size; if not, that is said once."""
        if len(self.traces) < min(MOST, size) and (len(self.traces) < FIRST or self.found >= len(self.traces)):
            return True
        if not self.warned:
            self.warned = True
            many_paths(len(self.traces), unseen.left.guards[unseen.at].place if unseen.at >= 0 else None)
        return False

    def add(self, trace: GuardedTrace, size: int) -> None:
        """One path more, in a cache of this size."""
        self.traces = [trace, *self.traces[: min(MOST, size) - 1]]

    def known(self, numbers: Any) -> GuardedTrace | None:
        """The path that these numbers take, if it was seen.

        >>> from gradwalk.compile.call.arguments import Numbers
        >>> f = gradwalk.compile(lambda x: x * x if x > 0 else -x)
        >>> y = f(3.0)
        >>> [paths] = f.cache.entries.values()
        >>> numbers = Numbers()
        >>> numbers.plain.append(-4.0)
        >>> paths.known(numbers) is None
        True
        """
        try:
            _, path = self._values_and_path(numbers)
        except Unseen:
            return None
        path.calls -= 1  # nobody called
        return path


def _may_be(other: GuardedTrace, left: GuardedTrace, elsewhere: Elsewhere) -> bool:
    """Whether a path can be the one that numbers take which left another path like this."""
    at = elsewhere.at
    if at < 0:
        return True
    answers = other.answers
    if not (len(answers) > at and answers[:at] == left.answers[:at]):
        return False
    return bool(answers[at] == elsewhere.answer) or other.guards[at].kinds != left.guards[at].kinds  # asked in its way


def as_values(result: Any) -> Any:
    """What the function gave by itself, floats as Values: a compiled function gives what it computes as Values."""
    return tree.map(lambda x: Value(x) if x.__class__ is float else x, result, leaf=tree.is_block)


def traces_in(entries: Iterable[Any]) -> list[Any]:
    """The traces in a cache, those of all paths one by one."""
    return [trace for entry in entries for trace in (entry.traces if isinstance(entry, Paths) else [entry])]
