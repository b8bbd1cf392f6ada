"""What stands around a function that is traced: `type`, `id`, `np.array` that know stand-ins, `open` that is seen."""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from operator import attrgetter
from threading import get_ident
from typing import Any
from weakref import WeakSet

import numpy as np

from gradwalk.collecting import by_the_collector
from gradwalk.compile.trace.array_functions import joined  # there before `type` and `np.array` are others
from gradwalk.compile.trace.arrays import TracedArray, array_of, as_kind
from gradwalk.compile.trace.asking import ON_BEHALF
from gradwalk.compile.trace.limits import Unfollowable
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.same_objects import is_given, note_identity
from gradwalk.compile.trace.traced import Traced
from gradwalk.engine import Value
from gradwalk.turns import Turn

__all__ = [
    "ANSWERED",
    "MAKING",
    "AskedType",
    "OfLists",
    "Said",
    "answer_to",
    "arrays_made",
    "files_seen",
    "heard",
    "names_answered",
    "numpys_own",
]


class _Block:
    """A `with` block, for as long as it lasts: one that Ctrl-C breaks off may not come to say that it is over."""

    __slots__ = ("__weakref__", "files", "thread")

    def __init__(self) -> None:
        self.thread, self.files = get_ident(), list[str]()


_setting = Turn()  # what stands here is set for all threads, and put back by the last one that needs it
_asking: dict[tuple[int, str], WeakSet[_Block]] = {}  # namespaces that have our `type` or `id`, and who needs it
_watching: WeakSet[_Block] = WeakSet()  # who has files seen
_opens: list[Any] = []  # the `open` of builtins and of io meanwhile
_making: WeakSet[_Block] = WeakSet()  # who has arrays made
_makers: dict[str, Any] = {}  # NumPy's own functions that make arrays meanwhile, by their names


# --- types, and which things they are ---------------------------------------------------------------------------------


@contextmanager
def names_answered(namespaces: Iterable[tuple[dict[str, Any], Iterable[str]]]) -> Iterator[None]:
    """Let things of ours stand for `type`, `id` and functions of NumPy's under these global names.

    >>> names = {}
    >>> with names_answered([(names, ["type"])]):
    ...     names["type"](3.0)
    <class 'float'>
    >>> names
    {}
    """
    asking = [
        (names, name, *answer) for names, some in namespaces for name in some if (answer := answer_to(names, name))
    ]
    block = _Block()
    try:
        with _setting:
            for names, name, ours, _ in asking:
                _asking.setdefault((id(names), name), WeakSet()).add(block)
                names[name] = ours
        yield
    finally:
        with _setting:  # another thread may be tracing among the same names
            for names, name, ours, own in asking:
                needing = _asking.get((id(names), name), WeakSet())
                needing.discard(block)
                if not needing:
                    _asking.pop((id(names), name), None)
                    if names.get(name) is not ours:  # the function has set it
                        continue
                    if own is not None:
                        names[name] = own
                    else:
                        del names[name]


def answer_to(names: dict[str, Any], name: str) -> Any:
    """What stands for a global name while a function is traced, and what stands there else (None: nothing), or None.

    >>> answer_to({"type": 3}, "type"), answer_to({}, "id")[1], answer_to({"sort": np.sort}, "sort")[1] is np.sort
    (None, None, True)
    """
    ours = ANSWERED.get(name)
    return (ours, None) if ours is not None and names.get(name, ours) is ours else NUMPYS.get(id(names.get(name)))


class _AnyType(type):
    """Of `AskedType`: what is a type is one of these."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, type)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, type)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        x: Any = given[0] if len(given) == 1 and not named else None
        kind = type(x)
        if issubclass(kind, Number):
            return x._tracer.kind_asked(x)
        if issubclass(kind, Traced):
            return Value
        if getattr(kind, "many", False):
            return x.__class__
        if x is None and given != (None,):
            return type(*given, **named)
        return np.ndarray if kind is TracedArray else kind


class AskedType(metaclass=_AnyType):
    """Stands for `type` in functions that are traced: the type of a stand-in is that of what it stands for.

    >>> AskedType(3.0), isinstance(float, AskedType)
    (<class 'float'>, True)
    """


def _asked_id(x: Any) -> int:
    """What `id` gives, which is another number for what another call is given."""
    if is_given(x):
        note_identity("it was asked for the id() of an argument, or of what is computed")
    return id(x)


#: What stands for functions of Python's own, by their names.
ANSWERED = {"type": AskedType, "id": _asked_id}


# --- files -----------------------------------------------------------------------------------------------------------


@contextmanager
def files_seen() -> Iterator[list[str]]:
    """The names of files that are opened for reading in a block, by this thread; to open one for writing is refused.

    >>> with files_seen() as seen:
    ...     open(__file__).close()
    >>> len(seen)
    1
    """
    block = _Block()
    try:
        with _setting:
            if builtins.open is not _watched:
                _opens[:] = builtins.open, io.open
            _watching.add(block)
            builtins.open = io.open = _watched
        yield block.files
    finally:
        with _setting:
            _watching.discard(block)
            if not _watching and builtins.open is _watched:
                builtins.open, io.open = _opens


def _watched(file: Any, mode: Any = "r", *args: Any, **options: Any) -> Any:
    ours = [block for block in list(_watching) if block.thread == get_ident()]
    if ours and isinstance(mode, str) and not by_the_collector(sys._getframe()):
        if not set(mode).isdisjoint("wax+"):  # before anything is written: the function is run again
            raise Unfollowable(f"{{function}} writes a file ({file})", "write it after the call, from what it gives")
        for block in ours:
            block.files.append(str(file))
    return _opens[0](file, mode, *args, **options)


# --- what is printed -------------------------------------------------------------------------------------------------


STREAMS = ("stdout", "stderr")


class Said:
    """What a function printed while it was traced: it is told if the function is not run once more."""

    def __init__(self) -> None:
        self.thread, self.parts = get_ident(), list[tuple[Any, str]]()
        self.turn = next(_turns)

    def tell(self) -> None:
        """Print it where it was to be printed."""
        for stream, text in self.parts:
            stream.write(text)
        self.parts.clear()


_turns = count()
_hearing: WeakSet[Said] = WeakSet()  # who puts down what is printed, in whatever thread


@contextmanager
def heard(said: Said) -> Iterator[None]:
    """Put down what this thread prints in a block.

    >>> said = Said()
    >>> with heard(said):
    ...     print("loss")
    >>> said.tell()
    loss
    """
    try:
        with _setting:
            _hearing.add(said)
            vars(sys).update((name, _Heard(x)) for name in STREAMS if type(x := getattr(sys, name)) not in UNHEARD)
        yield
    finally:
        with _setting:
            _hearing.discard(said)
            if not _hearing:
                vars(sys).update((name, x.stream) for name in STREAMS if type(x := getattr(sys, name)) is _Heard)


class _Heard:
    """A stream that puts down what some threads write."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> Any:
        """Put it down for who hears this thread, or write it."""
        ours = [said for said in list(_hearing) if said.thread == get_ident()]
        if not ours:
            return self.stream.write(text)
        max(ours, key=attrgetter("turn")).parts.append((self.stream, text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


UNHEARD = (_Heard, type(None))  # which are heard already, and where there is no stream


# --- arrays ----------------------------------------------------------------------------------------------------------


@contextmanager
def arrays_made() -> Iterator[None]:
    """Let `np.array` and the like make arrays of stand-ins that know their dtype, and others take lists, in a block."""
    block = _Block()
    try:
        with _setting:
            if np.array is not MAKING["array"]:
                _makers.update((name, getattr(np, name)) for name in MAKING)
            _making.add(block)
            vars(np).update(MAKING)
            for space, names in LISTED:
                space.update((name, ours) for name, ours in names.items() if space.get(name) is ours.own)
        yield
    finally:
        with _setting:
            _making.discard(block)
            if not _making and np.array is MAKING["array"]:
                vars(np).update(_makers)
                for space, names in LISTED:
                    space.update((name, ours.own) for name, ours in names.items() if space.get(name) is ours)


def _made_by(name: str) -> Any:
    """A function of NumPy's that makes arrays, for stand-ins too."""

    def make(given: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        given = given.numpy() if getattr(type(given), "many", False) else given
        if isinstance(given, TracedArray) and given.ndim and given.is_already(dtype):
            return _makers[name](given, None, *args, **options).view(TracedArray)  # a copy where NumPy makes one
        found = array_of(given, dtype) if not args and options.keys() <= {"copy"} else None
        return _makers[name](given, dtype, *args, **options) if found is None else found

    return make


def _of_finite(given: Any, *args: Any, **options: Any) -> Any:
    """`np.asarray_chkfinite`, which does not look at objects."""
    made = MAKING["asarray"](given, *args, **options)
    if isinstance(made, TracedArray) and not np.isfinite(made).all():
        raise ValueError("array must not contain infs or NaNs")
    return made


def _full(shape: Any, given: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """`np.full` of a stand-in, which gives the array its dtype."""
    found = array_of(given, dtype) if not args and not options else None
    if found is None:
        return _makers["full"](shape, given, dtype, *args, **options)
    if isinstance(found, (Number, TracedArray)):
        return _makers["full"](shape, found.view(np.ndarray) if isinstance(found, TracedArray) else found, object).view(
            TracedArray
        )
    return _makers["full"](shape, found, dtype)


def _arange(*args: Any, **options: Any) -> Any:
    """`np.arange`, of which stand-ins are told, as it hangs on them how long it is; between floats it stays open."""
    kinds = {x._kind for x in (*args, *options.values()) if isinstance(x, Number)}
    if kinds and kinds <= {float, np.float64} and not options:
        return as_kind(_makers["arange"](*args).view(TracedArray), np.float64)
    args = tuple([x._told_with_its_type() if isinstance(x, Number) else x for x in args])
    options = {name: x._told_with_its_type() if isinstance(x, Number) else x for name, x in options.items()}
    return _makers["arange"](*args, **options)


#: What stands for them meanwhile.
MAKING = {
    name: _made_by(name)
    for name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require")
} | {"arange": _arange, "asarray_chkfinite": _of_finite, "full": _full}


class OfLists:
    """A function of NumPy's that is given arrays for the lists of stand-ins that it is given; equal to the function.

    >>> from gradwalk.compile.trace.tracer import trace
    >>> trace(lambda x: OfLists(np.flip)([x, 2.0]).dtype.itemsize * x, [1.0]).tape.rows
    1
    """

    stands_for_numpys = True

    def __init__(self, own: Any) -> None:
        self.own = own

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: D102
        return self.own(*map(_as_array, args), **{name: _as_array(x) for name, x in options.items()})

    def __getitem__(self, at: Any) -> Any:
        return joined(self.own, tuple(map(_as_array, at if isinstance(at, tuple) else (at,))))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self.own)

    def __eq__(self, other: object) -> bool:
        return self.own is getattr(other, "own", other)

    def __hash__(self) -> int:
        return hash(self.own)

    def __repr__(self) -> str:
        return repr(self.own)

    def __reduce__(self) -> Any:
        return self.own.__reduce__()


ON_BEHALF.update((OfLists.__call__.__code__, OfLists.__getitem__.__code__))


def _as_array(x: Any) -> Any:
    """An array for a list of numbers that holds stand-ins; such a list in another becomes one, too."""
    if type(x) not in (list, tuple) or any(isinstance(part, np.ndarray) for part in x):
        return x
    try:
        found = array_of(x)
    except ValueError:  # lists of several lengths
        found = None
    if found is None and any(type(part) in (list, tuple) for part in x):
        return type(x)(map(_as_array, x))
    return x if found is None else found


#: Functions that take no lists, or give them as such.
NOT_OF_LISTS = frozenset(("split", "hsplit", "vsplit", "dsplit", "trim_zeros"))
#: Where functions of NumPy's stand, and what stands for them meanwhile.
LISTED = [
    (
        vars(module),
        {
            name: OfLists(own)
            for name, own in vars(module).items()
            if isinstance(own, (np.ufunc, type(np.sum), type(np.r_), type(np.c_)))
            and name not in (*MAKING, *NOT_OF_LISTS)
        },
    )
    for module in (np, np.linalg, np.fft)
]


def numpys_own(x: Any) -> Any:
    """A function of NumPy's itself, or several, where another thread has put something in its place just now.

    >>> numpys_own((NUMPYS[id(np.sort)][0], 1.0)) == (np.sort, 1.0)
    True
    """
    if type(x) is tuple:
        return tuple(map(numpys_own, x))
    return NUMPYS[id(x)][1] if id(x) in NUMPYS else x


#: What stands for functions of NumPy's, and these, by the id() of either.
NUMPYS = {
    id(x): (ours, own)
    for ours, own in [
        *((ours, getattr(np, name)) for name, ours in MAKING.items()),
        *((ours, ours.own) for _, names in LISTED for ours in names.values()),
    ]
    for x in (ours, own)
}
