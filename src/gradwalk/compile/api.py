"""`gradwalk.compile`: the function that a decorated one becomes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from itertools import accumulate, repeat
from typing import Any

from gradwalk import keepers, modes
from gradwalk.compile.call.arguments import InputAt, Key, Numbers, deep_key_of, key_of, stand_ins, static_key
from gradwalk.compile.call.bound_trace import BoundTrace, Misjudged
from gradwalk.compile.call.cache import Cache
from gradwalk.compile.call.guarded_trace import GuardedTrace
from gradwalk.compile.call.paths import Paths, Unseen, traces_in
from gradwalk.compile.trace import tracer
from gradwalk.compile.trace.limits import frozen
from gradwalk.compile.trace.outside import as_they_are, numbers_read_by
from gradwalk.errors import SettingError

__all__ = ["Compiled"]

TRACES = 64  # kept, unless told otherwise
RETRACED_OFTEN = 8


class Compiled:
    """A function that is traced when it first meets arguments of a structure, and replayed natively from then on.

    >>> w = gradwalk.Value(0.5)
    >>> @gradwalk.compile
    ... def loss(xs, ys):
    ...     return sum((w * x - y) ** 2 for x, y in zip(xs, ys))
    >>> l = loss([1.0, 2.0], [2.0, 4.0])
    >>> l.backward()
    >>> l.data, w.grad
    (11.25, -15.0)
    >>> loss([3.0, 4.0], [6.0, 8.0]).data, len(loss.traces())
    (56.25, 1)
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        static: str | Iterable[str] = (),
        wrt: str | Iterable[str] = (),
        cache: int = TRACES,
    ) -> None:
        functools.update_wrapper(self, fn)
        self.eager = fn  # the function itself, which builds an ordinary graph
        self.cache: Cache[Any] = Cache(cache)
        self._entries = self.cache.entries
        self._names = _parameter_names(fn)
        self._static = self._checked("static", static)
        self.wrt = self._checked("wrt", wrt)
        self._frozen: list[tuple[dict[str, Any], str]] | None = None
        self._structures: dict[Key, int] = {}  # how often each was traced
        self.traced = 0
        self._epoch = keepers.epoch

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        if modes.layers and modes.top() is not modes.bottom:
            return self._under_modes(args, kwargs)
        if keepers.epoch != self._epoch:
            self._notice()
        numbers = Numbers()
        try:
            if kwargs or self._static or self._frozen:
                trace = self._entries.get(self._key(args, kwargs, numbers))
            else:
                trace = self._entries.get(tuple(map(key_of, args, repeat(numbers))))
            if trace is not None:
                trace.recent = True
                return trace.run(numbers)
        except (Misjudged, RecursionError, Unseen):
            pass
        return self._with_care(args, kwargs, "run")

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        name = getattr(self.eager, "__qualname__", repr(self.eager))
        count = len(self.traces())
        return f"<compiled {name}, {count} trace{'s' * (count != 1)}>"

    # --- looking and clearing ------------------------------------------------------------------------------------

    def traces(self) -> list[Any]:
        """What is in the cache: one trace for each structure of arguments, and for each path through the function.

        >>> f = gradwalk.compile(sum)
        >>> [f([1.0] * n).data for n in (2, 3, 2)]
        [2.0, 3.0, 2.0]
        >>> [(trace.recorded.tape.rows, trace.calls) for trace in f.traces()]
        [(2, 2), (3, 1)]
        """
        return traces_in(self.cache.entries.values())

    def clear(self) -> None:
        """Forget all traces; the next call traces anew. For when the function reaches other things than it did.

        >>> f = gradwalk.compile(lambda x: x * x)
        >>> y = f(3.0)
        >>> f.clear()
        >>> f.traces()
        []
        """
        self.cache.clear()
        self._frozen = None
        self._structures.clear()

    def report(self) -> Any:
        """What became of the function: nodes, what was rolled up into what, memory, times. Print it, or draw it.

        >>> f = gradwalk.compile(lambda x: x * x)
        >>> y = f(3.0)
        >>> print(str(f.report()).splitlines()[0])
        <lambda>: 1 trace, 1 call
        """
        from gradwalk.compile.report import Report

        return Report(self)

    # --- what a call means ---------------------------------------------------------------------------------------

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, look: Any = key_of) -> Key:
        if self._static:
            key: Key = tuple([self._key_of(i, x, numbers, look) for i, x in enumerate(args)])
        else:
            key = tuple([look(x, numbers) for x in args])
        if kwargs:
            named = [(name, self._key_of(name, x, numbers, look)) for name, x in sorted(kwargs.items())]
            key = (key, tuple(named))
        if self._frozen:
            key = (key, as_they_are(self._frozen))
        return key

    def _key_of(self, place: int | str, x: Any, numbers: Any, look: Any) -> Key:
        name = place if isinstance(place, str) else self._names[place] if place < len(self._names) else ""
        return static_key(name, x) if name in self._static else look(x, numbers)

    def _with_care(self, args: tuple[Any, ...], kwargs: dict[str, Any], how: str) -> Any:
        """A call that is new in some way: `how` is what the trace is to do."""
        trace, numbers = self._found_or_traced(args, kwargs)
        try:
            return getattr(trace, how)(numbers)
        except Unseen as unseen:
            return trace.traced(self, args, kwargs, numbers, unseen, how)

    def _found_or_traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Numbers]:
        """The trace for these arguments, looked at with care, and their numbers."""
        if self._frozen is None:
            self._frozen = numbers_read_by(self.eager)
        numbers = Numbers(careful=True)
        try:
            key = self._key(args, kwargs, numbers)
        except RecursionError:
            numbers = Numbers(careful=True)
            key = self._key(args, kwargs, numbers, deep_key_of)
        trace = self.cache.get(key)
        if trace is not None:
            return trace, numbers
        structure = key[0] if self._frozen else key
        self._structures[structure] = self._structures.get(structure, 0) + 1
        if self._frozen and self._structures[structure] == RETRACED_OFTEN:
            names = ", ".join(sorted({name for _, name in self._frozen}))
            frozen(
                f"the function has been traced {RETRACED_OFTEN} times for arguments of one structure, because a number "
                f"it reads from outside ({names}) keeps changing; every trace takes time",
                "pass that number as an argument",
            )
        trace = self.trace(args, kwargs, numbers)
        self.cache.put(key, Paths(trace) if isinstance(trace, GuardedTrace) else trace)
        return trace, numbers

    def _notice(self) -> None:
        """A model was found to have other parameters than before: traces that know the old ones go."""
        news = [change for change in keepers.changes if change[0] > self._epoch]
        missed = keepers.epoch - self._epoch > len(news)
        self._epoch = keepers.epoch
        old = {id(p) for _, before, _ in news for p in before}
        gone = old - {id(p) for _, _, after in news for p in after}
        warned = False
        for key, trace in list(self.cache.entries.items()):
            known = {id(p) for p in trace.parameters}
            if missed or known & old:
                del self.cache.entries[key]
                warned = warned or bool(known & gone)
        if warned:
            frozen(
                "a model was given other parameters after it had been compiled in; the function is traced anew, and "
                "results computed meanwhile are those of the old parameters",
                "call clear() of the compiled function whenever you change what it reaches",
            )

    def trace(self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Numbers, *, guarded: bool = False) -> Any:
        """A new trace for these arguments; `guarded` if it is one of several paths.

        >>> f = gradwalk.compile(lambda x: x * x)
        >>> numbers = Numbers()
        >>> numbers.plain.append(3.0)
        >>> f.trace((3.0,), {}, numbers).run(numbers).data
        9.0
        """
        values = {position for position, _ in numbers.values}
        count = len(numbers.plain)

        def call(recorder: tracer.Tracer) -> Any:
            plain = iter([recorder.input(x, value=i in values) for i, x in enumerate(numbers.plain)])
            arrays = iter([recorder.inputs_like(array) for array in numbers.arrays])
            stand_args, stand_kwargs = self._each(args, kwargs, lambda x: stand_ins(x, plain, arrays))
            return self.eager(*stand_args, **stand_kwargs)

        recorded = tracer.run(call, [self.eager, args, kwargs])
        self.traced += 1
        bound = GuardedTrace if guarded or recorded.guards or recorded.types else BoundTrace
        if not self.wrt:
            return bound(recorded, numbers, {})
        starts = accumulate([array.size for array in numbers.arrays], initial=count)
        plain = iter([InputAt(i) for i in range(count)])
        arrays = iter([InputAt(start, array.shape) for start, array in zip(starts, numbers.arrays, strict=False)])
        slot_args, slot_kwargs = self._each(args, kwargs, lambda x: stand_ins(x, plain, arrays))
        named = dict(zip(self._names, slot_args, strict=False)) | slot_kwargs
        return bound(recorded, numbers, {name: named[name] for name in self.wrt if name in named})

    def _each(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], change: Callable[[Any], Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments changed, but for static ones; keywords in the order in which keys are made."""
        names = [*self._names, *[""] * len(args)]
        changed = [x if name in self._static else change(x) for name, x in zip(names, args, strict=False)]
        return changed, {
            name: kwargs[name] if name in self._static else change(kwargs[name]) for name in sorted(kwargs)
        }

    def _under_modes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if modes.every_op():  # part of another trace, or someone wants to see every op
            return told(self.eager(*args, **kwargs), None)
        if not modes.recording():
            return self._with_care(args, kwargs, "values_only")
        return told(self._with_care(args, kwargs, "run"), functools.partial(self.eager, *args, **kwargs))

    def _checked(self, option: str, names: str | Iterable[str]) -> tuple[str, ...]:
        found = (names,) if isinstance(names, str) else tuple(names)
        for name in found:
            if name not in self._names:
                known = ", ".join(self._names) or "none"
                raise SettingError(
                    f"{option}= names an argument {name!r:.60} that the function does not have; it has: {known}"
                )
        return found


def told(out: Any, again: Callable[[], Any] | None) -> Any:
    """What a call gives, after whoever watches has been told of it."""
    modes.top().called(out, again)
    return out


def _parameter_names(fn: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not tell
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def compiled(fn: Any, *, batch: str | None, dtype: str, threads: int, **options: Any) -> Any:
    """What `gradwalk.compile` gives for these options."""
    if not callable(fn):
        raise SettingError(f"compile takes a function, not {type(fn).__name__}: {fn!r:.60}")
    if isinstance(fn, Compiled):
        fn = fn.eager
    if batch is None:
        if dtype != "float64" or threads != 1:
            raise SettingError("dtype= and threads= are for batches; write batch='sum', 'mean' or 'each' as well")
        return Compiled(fn, **options)
    from gradwalk.compile.batches import Batched

    return Batched(fn, batch=batch, dtype=dtype, threads=threads, **options)
