"""`gradwalk.compile`: the function that a decorated one becomes."""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Callable, Iterable
from itertools import accumulate
from operator import is_
from typing import Any

from gradwalk import modes
from gradwalk.compile.call.arguments import (
    FLOAT,
    NDARRAY,
    InputAt,
    Key,
    classes_in,
    deep_key_of,
    key_of,
    stand_ins,
    static_key,
)
from gradwalk.compile.call.bound_trace import BoundTrace, Misjudged
from gradwalk.compile.call.cache import Cache
from gradwalk.compile.call.familiar import Nested
from gradwalk.compile.call.following import Checks, Followed, Stumbled, Unfollowed, follow
from gradwalk.compile.call.guarded_trace import GuardedTrace
from gradwalk.compile.call.paths import Paths, Unseen, as_values, traces_in
from gradwalk.compile.call.results import Call
from gradwalk.compile.call.surroundings import Surroundings
from gradwalk.compile.trace import tracer
from gradwalk.compile.trace.arrays import in_memory
from gradwalk.compile.trace.limits import frozen
from gradwalk.compile.trace.recorded import Recorded
from gradwalk.compile.trace.same_objects import unanswered
from gradwalk.errors import SettingError, TraceError
from gradwalk.messages import counted
from gradwalk.turns import Turn

__all__ = ["Compiled"]

TRACES = 64  # kept, unless told otherwise
RETRACED_OFTEN = 3  # times in a row

_blank = object.__new__


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
        self.__qualname__ = type(fn).__qualname__  # unless the function has a better one
        functools.update_wrapper(self, fn)
        self.eager = fn  # the function itself, which builds an ordinary graph
        self.cache: Cache[Any] = Cache(cache)
        self._entries = self.cache.entries
        self._names = _parameter_names(fn)
        self._static = self._checked("static", static)
        self.wrt = self._checked("wrt", wrt)
        self._unfollowed: dict[Key, Unfollowed] = {}  # what is run as it is
        self._aside: set[str] = set()  # what it sets and does not read, as far as that was said
        self._one_at_a_time = Turn()
        self._latest: Any = None  # trace
        self._in_a_row: tuple[Key, int] = (None, 0)  # traces of one structure, without a replay in between
        self.traced = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        if modes.layers and modes.top() is not modes.bottom:
            return self._under_modes(args, kwargs)
        numbers = _blank(Call)  # without the cost of __init__
        try:
            shapes, trace = self.cache.latest
            if kwargs or len(shapes) != len(args):
                trace = None
            elif trace is not None:
                known = trace.familiar
                if known and args[0] is known[0] and args[-1] is known[-1] and (len(args) < 3 or _same(args, known)):
                    numbers.arrays, numbers.checked = known, False  # native code looks at them
                else:
                    for x, shape in zip(args, shapes):  # noqa: B905 (there are as many; and it is quicker)
                        if x.__class__ is not NDARRAY or x.dtype is not FLOAT or x.shape != shape:
                            trace = None
                            break
                    else:
                        numbers.arrays = args
            if trace is None:
                trace = self._found(args, kwargs, numbers)
            if trace is not None and trace.calls < trace.due:
                try:
                    held = trace.holds()
                except Exception:  # something is gone
                    held = False
                if held:
                    trace.recent = True
                    return trace.run(numbers)
        except (Misjudged, RecursionError, Unseen):
            pass
        return self._with_care(args, kwargs)[0]

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any) -> Any:
        """The trace for arguments of this structure, if there is one; their numbers are added to `numbers`."""
        numbers.plain = []
        if kwargs or self._static:
            return self._entries.get(self._key(args, kwargs, numbers))
        parts, arrays = [], 0
        for x in args:  # twice as quick as `map`
            if x.__class__ is NDARRAY and x.dtype is FLOAT and (shape := x.shape):  # as `key_of` has it
                numbers.arrays += (x,)
                parts.append(shape)
                arrays += 1
            else:
                parts.append(key_of(x, numbers))
        key = tuple(parts)
        trace = self._entries.get(key)
        if arrays == len(args) and arrays:
            self.cache.latest = key, trace
        return trace

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _Method(self, instance)

    def __reduce__(self) -> Any:
        """As functions are: by name, if that leads here; else as the function and the options."""
        found: Any = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        return self.__qualname__ if found is self else (_compiled_again, (self.eager, self.options()))

    def options(self) -> dict[str, Any]:
        """What `gradwalk.compile` was told beside the function.

        >>> gradwalk.compile(lambda x: x * x, wrt="x").options()["wrt"]
        ('x',)
        """
        return {"static": self._static, "wrt": self.wrt, "cache": self.cache.size}

    def __repr__(self) -> str:
        name = getattr(self.eager, "__qualname__", repr(self.eager))
        return f"<compiled {name}, {counted(len(self.traces()), 'trace')}>"

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
        self._unfollowed.clear()
        self._latest, self._in_a_row = None, (None, 0)

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
            named = [(name, self._key_of(name, x, numbers, look)) for name, x in kwargs.items()]
            key = (key, tuple(named))
        return key

    def _key_of(self, place: int | str, x: Any, numbers: Any, look: Any) -> Key:
        name = place if isinstance(place, str) else self._names[place] if place < len(self._names) else ""
        return static_key(name, x) if name in self._static else look(x, numbers)

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key, Any]:
        """The structure of arguments, looked at with care, and their numbers."""
        numbers = Call(careful=True)
        try:
            return self._key(args, kwargs, numbers), numbers
        except RecursionError:
            numbers = Call(careful=True)
            return self._key(args, kwargs, numbers, deep_key_of), numbers

    def _with_care(self, args: tuple[Any, ...], kwargs: dict[str, Any], how: str = "run") -> tuple[Any, bool]:
        """What a call gives that is not, or not for sure, a replay, and whether native code gave it.

        `how` is what the trace is to do.
        """
        began, checking = time.perf_counter(), Checks.spent_in_all
        try:
            trace, numbers = self._trace_for(args, kwargs)
            if trace is not None:
                first = trace.calls == 0
                try:
                    out = getattr(trace, how)(numbers)
                    if not first:
                        trace.checks.call = time.perf_counter() - began - (Checks.spent_in_all - checking)
                    return out, True
                except Unseen as unseen:
                    path = self._unseen(trace, args, kwargs, numbers, unseen)
                if path is not None:
                    return getattr(path, how)(numbers), True
            why = None
        except Stumbled as stumbled:
            why = stumbled.reason()
        out = self._as_it_is(args, kwargs)  # which may raise by itself what was raised in the trace
        if why is not None:
            self._run_as_it_is(self._looked_up(args, kwargs)[0], why)
        return out, False

    def _unseen(self, paths: Paths, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, unseen: Unseen) -> Any:
        """A new path through the function; None if it has to be run as it is."""
        if not self.wrt and not paths.has_room(self.cache.size, unseen):
            return None
        found = self._follow(args, kwargs, numbers, by_array=_is_by_array(paths))
        if isinstance(found, Unfollowed):
            self._run_as_it_is(self._looked_up(args, kwargs)[0], found)
            return None
        path = self._trace(found, args, kwargs, numbers, guarded=True)
        paths.add(path, self.cache.size)
        return path

    def _trace_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The trace for these arguments, or None if the function is to be run as it is, and their numbers."""
        key, numbers = self._looked_up(args, kwargs)
        with self._one_at_a_time:  # who comes second finds what the first has traced
            return self._found_or_traced(key, args, kwargs, numbers), numbers

    def _found_or_traced(self, key: Key, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any) -> Any:
        unfollowed = self._unfollowed.get(key)
        if unfollowed is not None and (unfollowed.surroundings is None or unfollowed.surroundings.hold()):
            return None
        trace, changed = self.cache.get(key), ""
        if trace is not None and not trace.surroundings.hold():
            changed = self._changed(trace.surroundings)
            trace = next((other for other in self.cache.others(key) if other.surroundings.hold()), None)
            if trace is not None:
                self.cache.put(key, trace)
        if trace is None:
            return self._traced(key, args, kwargs, numbers, changed)
        if trace.calls >= trace.due:
            trace = self._compared(key, trace, args, kwargs, numbers)
        return trace

    def _traced(self, key: Key, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, changed: str) -> Any:
        """A new trace, in the cache from now on; None if the function has to be run as it is."""
        found = self._follow(args, kwargs, numbers)
        if isinstance(found, Unfollowed):
            self._run_as_it_is(key, found)
            return None
        structure, (before, times) = _without_contents(key), self._in_a_row
        replayed = self._latest is not None and self._latest.calls > 1
        times = 1 if replayed or before != structure else times + 1
        trace = self._latest = self._put(key, found, args, kwargs, numbers)
        self._in_a_row = (structure, times)  # not before: a call that Ctrl-C breaks off does not count
        if times == RETRACED_OFTEN:
            why = f"what it reads from outside ({changed}) was another each time" if changed else ANOTHER_ARGUMENT
            frozen(
                f"{self._title()} was traced anew at each of its last {times} calls, because {why}; a trace takes many "
                "times as long as a replay",
                REMEDY_OUTSIDE if changed else REMEDY_ARGUMENT,
            )
        return trace

    def _follow(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, *, by_array: bool = False
    ) -> Followed | Unfollowed:
        """Trace the function number by number; what is too large for that, or with `by_array`, array by array."""
        roots = self._roots(args, kwargs, numbers)
        if not by_array:
            found = follow(functools.partial(self._recorded, args, kwargs, numbers), roots)
            if numbers.arrays and isinstance(found, Followed) and found.surroundings.reached.peeks:
                found = Unfollowed(in_memory().reason, in_memory().remedy)
            if isinstance(found, Followed) or not found.too_large or not self.may_go_by_array:
                return found
        return follow(functools.partial(self._recorded, args, kwargs, numbers, by_array=True), roots)

    @property
    def may_go_by_array(self) -> bool:
        """Whether the function may be traced array by array.

        >>> gradwalk.compile(lambda x: x, wrt="x").may_go_by_array
        False
        """
        return not self.wrt

    def _put(self, key: Key, found: Followed, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any) -> Any:
        trace = self._trace(found, args, kwargs, numbers)
        entry = Paths(trace) if isinstance(trace, GuardedTrace) else trace
        self.cache.put(key, entry)
        return entry

    def _trace(
        self, found: Followed, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, *, guarded: bool = False
    ) -> Any:
        """A trace that can be run; `guarded` if it is one of several paths."""
        trace = self._bound(found.recorded, args, kwargs, numbers, guarded=guarded)
        found.surroundings.serve(trace)
        trace.checks = Checks(found.seconds)
        if aside := [name for name in found.aside if name not in self._aside]:
            self._aside.update(aside)
            frozen(
                f"{self._title()} sets {', '.join(aside[:3])}, which it does not read: that is set when the function "
                "is traced, and not when it is replayed",
                "return it from the function, and set it after the call",
            )
        self.traced += 1
        return trace

    def _compared(self, key: Key, trace: Any, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any) -> Any:
        """The trace, if the function still does what was traced; what no look at the surroundings sees is seen here."""
        trace.due = 2 * trace.calls
        if modes.layers or trace.surroundings.reached.speaks or not trace.checks.affordable(trace.calls):
            return trace
        path = trace.known(numbers) if isinstance(trace, Paths) else trace
        if path is None:
            return trace  # there is nothing to compare with
        try:
            found = trace.checks.again(
                functools.partial(self._recorded, args, kwargs, numbers, by_array=_is_by_array(trace)),
                self._roots(args, kwargs, numbers),
            )
        except Exception:  # which the call itself raises, and leaves behind what it did before
            return trace
        followed = isinstance(found, Followed)
        differs = path.difference(found.recorded, numbers) if followed else found.about("it")
        if not differs:
            trace.checks.passed = trace.calls
            return trace
        frozen(
            f"{self._title()} was found to differ from its trace ({differs}), by something that cannot be seen from "
            f"outside; results of the {trace.calls - trace.checks.passed} calls before this one may be wrong",
            "pass what it reads as an argument, or call clear() of the compiled function when it changes",
        )
        self.cache.drop(key)
        if isinstance(found, Unfollowed):
            self._run_as_it_is(key, found)
            return None
        return self._put(key, found, args, kwargs, numbers)

    def _changed(self, surroundings: Surroundings) -> str:
        """What has changed since a trace was made; if it was noticed late, that is said."""
        names = ", ".join(surroundings.changed()[:3]) or "something"
        if surroundings.late:
            frozen(
                f"what {self._title()} reads from outside has changed ({names}), and is too large to be looked at "
                "before every call; results since then may be wrong",
                "pass it as an argument, or call clear() of the compiled function when it changes",
            )
        return names

    def _run_as_it_is(self, key: Key, why: Unfollowed) -> None:
        """From now on, for arguments of this structure; that is said once."""
        message = f"{why.about(self._title())}, so it cannot be compiled"
        if why_not := self._must_be_compiled():
            raise TraceError(f"{message}; {why_not}\n{why.remedy}")
        if why.reason not in {known.reason for known in self._unfollowed.values()}:
            frozen(f"{message}, and is run as it is", why.remedy)
        if len(self._unfollowed) >= self.cache.size:
            self._unfollowed.clear()
        if key in self._unfollowed and self._unfollowed[key].reason == why.reason:
            why = why._replace(surroundings=None)  # it is so whatever happens outside
        self._unfollowed[key] = why

    def _title(self) -> str:
        """The function's name, and where it is written."""
        code = getattr(inspect.unwrap(getattr(self.eager, "__func__", self.eager)), "__code__", None)
        name = getattr(self.eager, "__name__", type(self.eager).__name__)
        return name if code is None else f"{name} ({code.co_filename}, line {code.co_firstlineno})"

    def _must_be_compiled(self) -> str:
        """Why the function cannot be run as it is instead, if that is so."""
        return "gradients of arguments are to be had of compiled code alone (wrt=)" if self.wrt else ""

    def _as_it_is(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return as_values(self.eager(*args, **kwargs))

    def _roots(self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any) -> list[Any]:
        """Where a function reads from: itself, arguments that are known by their identity, and classes of the rest."""
        names = [*self._names, *[""] * len(args)]
        given = [*zip(names, args, strict=False), *kwargs.items()]
        static = [x for name, x in given if name in self._static]
        return [self.eager, *numbers.kept, *static, *classes_in((args, kwargs))]

    def _recorded(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, reached: Any, *, by_array: bool = False
    ) -> Recorded:
        values = {position for position, _ in numbers.values}

        def call(recorder: tracer.Tracer) -> Any:
            recorder.wrt = bool(self.wrt)
            made = [recorder.input(x, value=i in values) for i, x in enumerate(numbers.plain)]
            for position, v in numbers.values if numbers.places else ():  # without places, no two are the same one
                made[position] = made[numbers.places[id(v)]]  # one Value, though it may be given twice
            plain = iter(made)
            tensors = dict(numbers.tensors)
            arrays = iter([
                recorder.tensors.argument(tensors[i], array) if i in tensors else recorder.inputs_like(array)
                for i, array in enumerate(numbers.arrays)
            ])  # fmt: skip
            stand_args, stand_kwargs = self._each(args, kwargs, lambda x: stand_ins(x, plain, arrays))
            return recorder.call(self.eager, stand_args, stand_kwargs)

        tensors = [v for _, v in reached.tensors]
        held = (*reached.containers, *reached.rows, *reached.arrays, *reached.objects)
        outside = frozenset(id(thing) for _, thing in held)
        truths_asked = bool(unanswered([function for _, function in reached.functions], "truths"))
        return tracer.run(
            call,
            [self.eager, args, kwargs],
            reached.values,
            tensors,
            outside,
            by_array=by_array,
            truths_asked=truths_asked,
        )

    def _bound(
        self, recorded: Recorded, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, *, guarded: bool
    ) -> Any:
        if recorded.arrays is not None:
            from gradwalk.compile.call.whole_trace import WholeTrace  # which few functions need

            return WholeTrace(recorded, numbers, {})
        count = len(numbers.plain)
        typed = min(recorded.types, default=count) < count
        bound = GuardedTrace if guarded or recorded.guards or typed or recorded.ints else BoundTrace
        if not self.wrt:
            return bound(recorded, numbers, {})
        for guard in recorded.guards:
            if not guard.is_comparison and float in guard.kinds:
                raise TraceError(
                    "a number is taken out of the trace, as by math.sqrt(x), float(x) or x % 2, and gradients of "
                    f"arguments (wrt=) would not pass through it\n  at {guard.place}\n"
                    "use gradwalk's own functions, such as gradwalk.sqrt(x)"
                )
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
        return changed, {name: x if name in self._static else change(x) for name, x in kwargs.items()}

    def _under_modes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if modes.every_op():  # part of another trace, or someone wants to see every op
            return told(self.eager(*args, **kwargs), None)
        if not modes.recording():
            return self._with_care(args, kwargs, "values_only")[0]
        out, replayed = self._with_care(args, kwargs)
        return told(out, functools.partial(self.eager, *args, **kwargs) if replayed else None)

    def _checked(self, option: str, names: str | Iterable[str]) -> tuple[str, ...]:
        found = (names,) if isinstance(names, str) else tuple(names)
        for name in found:
            if name not in self._names:
                known = ", ".join(self._names) or "none"
                raise SettingError(
                    f"{option}= names an argument {name!r:.60} that the function does not have; it has: {known}"
                )
        return found


ANOTHER_ARGUMENT = "it was given another text or object each time, and such arguments decide what a trace is for"
REMEDY_ARGUMENT = "give the same object again, or the numbers in it; numbers may change from call to call"
REMEDY_OUTSIDE = "pass it as an argument; change parameters in place, as in p.data -= lr * p.grad"


def _same(args: tuple[Any, ...], known: tuple[Any, ...]) -> bool:
    return all(map(is_, args, known))


def _without_contents(key: Key) -> Key:
    """A key without what texts say and which objects there are."""
    if isinstance(key, Nested):
        key = key.content
    if not isinstance(key, tuple):
        return key
    if len(key) == 3 and key[0] == "is":
        return key[:2]
    if len(key) == 2 and key[0] == "same":
        return key[:1]
    return tuple(map(_without_contents, key))


def _is_by_array(trace: Any) -> bool:
    """Whether a trace, or one of several paths, was written down array by array."""
    return (trace.traces[0] if isinstance(trace, Paths) else trace).recorded.arrays is not None


class _Method(functools.partial[Any]):
    """A compiled function that was reached through an object: it has what the function has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.func, name)


def _compiled_again(fn: Any, options: dict[str, Any]) -> Any:
    return compiled(fn, **{"batch": None, "dtype": "float64", "threads": 1, **options})


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
    if inspect.iscoroutinefunction(fn) or inspect.isasyncgenfunction(fn):
        raise SettingError(
            f"{fn.__name__} is an async function, which gives no numbers before it is awaited; compile the plain "
            "function that computes them, and call it from there"
        )
    if isinstance(fn, Compiled):
        fn = fn.eager
    if batch is None:
        if dtype != "float64" or threads != 1:
            raise SettingError("dtype= and threads= are for batches; write batch='sum', 'mean' or 'each' as well")
        return Compiled(fn, **options)
    from gradwalk.compile.batches import Batched

    return Batched(fn, batch=batch, dtype=dtype, threads=threads, **options)
