"""All paths through a function for arguments of one structure: find the one that these numbers take, or trace it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradwalk import tree
from gradwalk.compile.call.guarded_trace import Elsewhere, GuardedTrace
from gradwalk.compile.trace.limits import many_paths
from gradwalk.engine import Value

if TYPE_CHECKING:
    from gradwalk.compile.api import Compiled

__all__ = ["Paths", "Unseen", "traces_in"]

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

    def __init__(self, first: GuardedTrace) -> None:
        self.traces: list[GuardedTrace] = [first]  # the latest used first
        self.recent = True
        self.found = 0  # how often a path was one that was known
        self.warned = False

    @property
    def parameters(self) -> list[Value]:
        """Those of all paths."""
        return [p for trace in self.traces for p in trace.recorded.parameters]

    def run(self, numbers: Any) -> Any:
        """Compute with these numbers, on the path that they take."""
        return self._on_its_path(numbers, GuardedTrace.run)

    def values_only(self, numbers: Any) -> Any:
        """As `run`, with leaves as results."""
        return self._on_its_path(numbers, GuardedTrace.values_only)

    def _on_its_path(self, numbers: Any, run: Any) -> Any:
        traces = self.traces
        trace = traces[0]
        tried: list[GuardedTrace] = []
        while True:
            try:
                out = run(trace, numbers)
            except Elsewhere as elsewhere:
                tried.append(trace)
                left, at = trace, elsewhere.at
                found = next((t for t in traces if t not in tried and _may_be(t, trace, elsewhere)), None)
                if found is None:
                    raise Unseen(self, left, at) from None
                trace = found
                continue
            self.found += 1
            if tried:
                self.traces = [trace, *[t for t in traces if t is not trace]]
            return out

    def traced(self, compiled: Compiled, args: Any, kwargs: Any, numbers: Any, unseen: Unseen, how: str) -> Any:
        """Follow a path that was not seen: trace it, or run the function as it is if there are too many of them."""
        most = min(MOST, compiled.cache.size)
        room = len(self.traces) < FIRST or self.found >= len(self.traces)
        if not compiled.wrt and (len(self.traces) >= most or not room):
            if not self.warned:
                self.warned = True
                many_paths(len(self.traces), unseen.left.guards[unseen.at].place if unseen.at >= 0 else None)
            return _as_values(compiled.eager(*args, **kwargs))
        trace = compiled.trace(args, kwargs, numbers, guarded=True)
        self.traces = [trace, *self.traces[: most - 1]]
        return getattr(trace, how)(numbers)


def _may_be(other: GuardedTrace, left: GuardedTrace, elsewhere: Elsewhere) -> bool:
    """Whether a path can be the one that numbers take which left another path like this."""
    at = elsewhere.at
    if at < 0:
        return True
    answers = other.answers
    return len(answers) > at and answers[at] == elsewhere.answer and answers[:at] == left.answers[:at]


def _as_values(result: Any) -> Any:
    """What the function gave by itself, floats as Values: a compiled function gives what it computes as Values."""
    return tree.map(lambda x: Value(x) if x.__class__ is float else x, result, leaf=tree.is_block)


def traces_in(entries: Iterable[Any]) -> list[Any]:
    """The traces in a cache, those of all paths one by one."""
    return [trace for entry in entries for trace in (entry.traces if isinstance(entry, Paths) else [entry])]
