"""What an op means here and now: a stack of interpreters, of which the topmost is asked.

At the bottom stands the engine, which computes and remembers. `no_grad()`, `anomaly()` and `observed()` put an
interpreter on top of what is there for the length of a `with` block, in the thread or task that entered it; each does
its own part and passes the rest on to the one below. The engine's hot paths ask one question only, `modes.active`: is
there on any stack an interpreter that wants to see ops? If not, nothing else is looked at. What happens once a step
asks `modes.layers`: is there any at all?
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from typing import Any, TypeVar, cast, overload

from gradwalk import provenance
from gradwalk.errors import GraphError
from gradwalk.turns import Turn

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["Interpreter", "Observer", "anomaly", "no_grad", "observed"]

layers = 0  # how many interpreters are on stacks, in all threads together
active = 0  # … and how many of them see ops
_counting = Turn()
_counted: list[Interpreter] = []  # those interpreters; some may be over, see `Block`


class Interpreter:
    """One layer of the stack. By itself it does nothing: every question goes to the interpreter below.

    >>> class Counting(modes.Interpreter):
    ...     count = 0
    ...     def apply(self, op, operands):
    ...         self.count += 1
    ...         return super().apply(op, operands)
    >>> with modes.entered(Counting()) as counting:
    ...     y = Value(2.0) * 3 + 1
    >>> counting.count, y.data
    (2, 7.0)
    """

    below: Interpreter
    everywhere = False  # whether it lies below those of all threads
    held: Any  # the lock of its block
    over = False  # whether its block has ended, in another thread perhaps, where this one's stack cannot be reached
    records: bool | None = None  # whether ops remember their operands, if this one decides; else who is below
    every_op = False  # whether each op must come by one at a time
    sees_ops = True  # whether ops, leaves and numbers that are read or written come by at all
    knows_numbers = True  # whether ops are computed as they come by

    def apply(self, op: Any, operands: tuple[Any, ...]) -> Any:
        """An op on operands, one of which is a Value at least."""
        return self.below.apply(op, operands)

    def leaf(self, v: Any, data: Any) -> None:
        """A Value is made by its constructor from `data`, and given its number."""
        self.below.leaf(v, data)

    def detach(self, v: Any) -> Any:
        """A leaf with the number of `v`."""
        return self.below.detach(v)

    def no_grad(self) -> AbstractContextManager[Any]:
        """A block in which results are leaves."""
        return self.below.no_grad()

    def read(self, v: Any, field: str, number: Any) -> Any:
        """Somebody outside the engine reads `v.data` or `v.grad`; gives what they see."""
        return self.below.read(v, field, number)

    def write(self, v: Any, field: str, number: Any) -> Any:
        """Somebody outside the engine sets `v.data` or `v.grad`; gives what is kept."""
        return self.below.write(v, field, number)

    def push(self, v: Any, push: Callable[[Any], None]) -> None:
        """One node's turn in a backward walk."""
        self.below.push(v, push)

    def backward(self, root: Any, walk: Callable[[], None]) -> None:
        """`root.backward()`; `walk` does it."""
        self.below.backward(root, walk)

    def step(self, optimizer: Any, step: Callable[[], None]) -> None:
        """`optimizer.step()`; `step` does it."""
        self.below.step(optimizer, step)

    def called(self, out: Any, again: Callable[[], Any] | None) -> None:
        """A function that can do many ops in one go gave `out`; `again` does the same op by op, None if it just did."""
        self.below.called(out, again)


class Bottom(Interpreter):
    """The answers where no layer has one of its own; the engine adds `apply`, `leaf` and `detach`."""

    everywhere = True

    def no_grad(self) -> AbstractContextManager[Any]:
        return Block(NoGrad(), _put_on_top, again=no_grad)

    def read(self, v: Any, field: str, number: Any) -> Any:
        return number

    def write(self, v: Any, field: str, number: Any) -> Any:
        return number

    def push(self, v: Any, push: Callable[[Any], None]) -> None:
        push(v)

    def backward(self, root: Any, walk: Callable[[], None]) -> None:
        walk()

    def step(self, optimizer: Any, step: Callable[[], None]) -> None:
        step()

    def called(self, out: Any, again: Callable[[], Any] | None) -> None:
        pass


bottom: Interpreter = Bottom()
_top: ContextVar[Interpreter | None] = ContextVar("top", default=None)
_everywhere: Interpreter | None = None  # what lies on the bottom of every stack: the latest observer that sees no ops


def top() -> Interpreter:
    """The interpreter that is asked here and now."""
    for counted in _counted:
        if not counted.held.locked():
            with _counting:
                _take_out_what_is_over()
            break
    layer = _top.get()
    if layer is not None and layer.over:
        left = layer.below
        while left.over:
            left = left.below
        layer = None if left.everywhere else left
        _top.set(layer)
    return layer or _everywhere or bottom


def stack() -> Iterator[Interpreter]:
    """The interpreters here and now, the topmost first; the engine at the bottom is not among them."""
    layer = top()
    while layer is not bottom:
        yield layer
        layer = layer.below


class _Release:
    """`__exit__` of blocks: that of the lock, looked up before the block begins; ExitStack calls it on the class."""

    def __get__(self, block: Block | None, kind: type[Block]) -> Callable[..., None]:
        return self if block is None else block.layer.held.__exit__

    def __call__(self, block: Block, *error: object) -> None:
        block.layer.held.__exit__(*error)


class Block(ContextDecorator):
    """A `with` block that has an interpreter on the stack, or a function each call of which is one.

    The block holds a lock; without it the interpreter is over, and is taken out when somebody next looks. So leaving
    the block takes no step of Python, and Ctrl-C, which is heard between such steps, cannot leave `no_grad` on.

    >>> with modes.entered(modes.NoGrad()) as layer:
    ...     modes.top() is layer
    True
    >>> modes.top() is layer
    False
    """

    __exit__ = _Release()

    def __init__(self, layer: Any, put: Callable[[Any], None], again: Callable[[], Any] | None = None) -> None:
        self.layer, self.put, self.again = layer, put, again
        self.entered = False
        layer.held = Lock()

    def __enter__(self) -> Any:
        layer, before, self.entered = self.layer, self.entered, True
        if before:
            raise RuntimeError("this block was entered before; make a new one")
        try:
            layer.held.acquire()
            self.put(layer)
        except BaseException:
            if layer.held.locked():
                layer.held.release()
            raise
        return layer

    def __call__(self, function: Any) -> Any:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise GraphError(
                f"{function.__name__} is a generator, which runs after the block around its call has ended; "
                "open the block in it, around what it computes between two yields"
            )
        if not inspect.iscoroutinefunction(function):
            return super().__call__(function)

        @wraps(function)
        async def within(*args: Any, **options: Any) -> Any:
            with self._recreate_cm():
                return await function(*args, **options)

        return within

    def _recreate_cm(self) -> Any:  # for each call of a function that this decorates
        return self if self.again is None else self.again()


def entered(layer: Any) -> Block:
    """Put an interpreter on top of the stack for the length of a `with` block."""
    return Block(layer, _put_on_top)


def _put_on_top(layer: Interpreter) -> None:
    layer.below = top()
    _count(layer)
    _top.set(layer)


def _put_below_all(layer: Interpreter) -> None:
    """An interpreter that sees no ops goes to the bottom of the stacks of all threads and tasks."""
    global _everywhere
    above = list(stack())
    layer.below, layer.everywhere = _everywhere or bottom, True
    for other in above:
        if other is not _everywhere and other.below is layer.below:
            other.below = layer
    _everywhere = layer
    _count(layer)


def _count(layer: Interpreter) -> None:
    global layers, active
    with _counting:
        _counted.append(layer)
        layers += 1
        active += layer.sees_ops


def _take_out_what_is_over() -> None:
    """Take layers out from between others: who came first may go first. What Ctrl-C breaks off is done anew."""
    global layers, active, _counted, _everywhere
    for layer in _counted:
        layer.over = layer.over or not layer.held.locked()
    left = [layer for layer in _counted if not layer.over]
    for layer in left:
        while layer.below.over:
            layer.below = layer.below.below
    while _everywhere is not None and _everywhere.over:
        _everywhere = None if _everywhere.below is bottom else _everywhere.below
    layers, active = len(left), sum([layer.sees_ops for layer in left])
    _counted = left


def recording() -> bool:
    """Whether ops remember their operands here and now."""
    layer = top()
    while layer is not bottom:  # no generator: this is asked for every op
        if layer.records is not None:
            return layer.records
        layer = layer.below
    return True


def knows_numbers() -> bool:
    """Whether ops are computed here and now, so that their numbers can be looked at."""
    layer = top()
    while layer is not bottom:
        if not layer.knows_numbers:
            return False
        layer = layer.below
    return True


def every_op(*, for_a_loss: bool = True) -> bool:
    """Whether somebody here and now wants ops one at a time; observers want those of a loss, not of a measurement."""
    return any(layer.every_op for layer in stack() if for_a_loss or not isinstance(layer, Observing))


# --- no_grad ---------------------------------------------------------------------------------------------------------


class NoGrad(Interpreter):
    """Results are leaves: the engine sees to it, so that every layer in between is given the leaf."""

    records = False


@overload
def no_grad() -> Block: ...
@overload
def no_grad(function: F, /) -> F: ...
def no_grad(function: Any = None, /) -> Any:
    """Compute without remembering: results are leaves, and nothing is kept for a backward walk.

    It decorates functions too, with brackets and without.

    >>> a = gradwalk.Value(3.0)
    >>> with gradwalk.no_grad():
    ...     b = a * a
    >>> b.data, b.operands
    (9.0, ())
    """
    if function is None:
        return top().no_grad()
    if not callable(function):
        raise GraphError(f"no_grad() takes nothing, or the function that it decorates, not {function!r:.60}")
    return cast(Block, bottom.no_grad())(function)


# --- op by op --------------------------------------------------------------------------------------------------------


class OpByOp(Interpreter):
    """Somebody needs the nodes: ops are done one at a time, and remembered whatever `no_grad()` is around the block."""

    every_op = True
    records = True
    sees_ops = False


# --- anomaly ---------------------------------------------------------------------------------------------------------


class Anomaly(Interpreter):
    """Every number is looked at, and every op's line is written down."""

    every_op = True

    def apply(self, op: Any, operands: tuple[Any, ...]) -> Any:
        out = self.below.apply(op, operands)
        provenance.check_forward(op, operands, out)
        return out

    def push(self, v: Any, push: Callable[[Any], None]) -> None:
        provenance.push_watched(v, lambda v: self.below.push(v, push))


@contextmanager
def anomaly() -> Iterator[None]:
    """Stop at the first nan or inf, forwards or backwards, and name the op, its operands and the line that made it.

    In tensors a -inf that was given may be carried on: scores are masked with it.

    >>> with gradwalk.anomaly():
    ...     gradwalk.Value(1.0) / gradwalk.Value(0.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.AnomalyError: 1 / 0 gave inf
      made by ...
    """
    with entered(Anomaly()):
        yield


# --- observers -------------------------------------------------------------------------------------------------------


class Observer:
    """Somebody who watches a run: override what you want to be told of, and enter it with `observed`.

    With `every_op` False, functions that can do many ops in one go may do so, and `op` hears nothing of these; it may
    change at any time. Who overrides none of `op`, `leaf`, `detached`, `read` and `write` costs ops nothing.

    >>> class Echo(modes.Observer):
    ...     def op(self, out, operands):
    ...         print(out._op, out.data)
    ...     def after_backward(self, root):
    ...         print("walked back from", root.data)
    >>> with modes.observed(Echo()):
    ...     (Value(2.0) * 3).backward()
    * 6.0
    walked back from 6.0
    """

    every_op = True

    def op(self, out: Any, operands: tuple[Any, ...]) -> None:
        """An op gave the new node `out`; the operands are as they were given."""

    def leaf(self, v: Any, data: Any) -> None:
        """A Value is made by its constructor from `data`."""

    def detached(self, out: Any, v: Any) -> None:
        """The leaf `out` was made of `v` by `detach()`."""

    def read(self, v: Any, field: str, number: Any) -> Any:
        """`v.data` or `v.grad` is read; gives what the reader sees."""
        return number

    def write(self, v: Any, field: str, number: Any) -> Any:
        """`v.data` or `v.grad` is set; gives what is kept."""
        return number

    def called(self, out: Any, again: Callable[[], Any] | None) -> None:
        """A function that can do many ops in one go gave `out`; `again` does the same op by op, None if it just did."""

    def before_backward(self, root: Any) -> None:
        """`root.backward()` was called."""

    def after_backward(self, root: Any) -> None:
        """… and has filled the gradients."""

    def before_step(self, optimizer: Any) -> None:
        """`optimizer.step()` was called."""

    def after_step(self, optimizer: Any) -> None:
        """… and has changed the parameters."""


class Observing(Interpreter):
    """Tells an observer, and changes nothing."""

    def __init__(self, observer: Observer) -> None:
        self.observer: Observer = observer
        told = ("op", "leaf", "detached", "read", "write")
        self.sees_ops = any(getattr(type(observer), name) is not getattr(Observer, name) for name in told)

    @property
    def every_op(self) -> bool:  # type: ignore[override]
        return self.observer.every_op

    def apply(self, op: Any, operands: tuple[Any, ...]) -> Any:
        out = self.below.apply(op, operands)
        self.observer.op(out, operands)
        return out

    def leaf(self, v: Any, data: Any) -> None:
        self.below.leaf(v, data)
        self.observer.leaf(v, data)

    def detach(self, v: Any) -> Any:
        out = self.below.detach(v)
        self.observer.detached(out, v)
        return out

    def read(self, v: Any, field: str, number: Any) -> Any:
        return self.observer.read(v, field, self.below.read(v, field, number))

    def write(self, v: Any, field: str, number: Any) -> Any:
        return self.below.write(v, field, self.observer.write(v, field, number))

    def backward(self, root: Any, walk: Callable[[], None]) -> None:
        self.observer.before_backward(root)
        self.below.backward(root, walk)
        self.observer.after_backward(root)

    def step(self, optimizer: Any, step: Callable[[], None]) -> None:
        self.observer.before_step(optimizer)
        self.below.step(optimizer, step)
        self.observer.after_step(optimizer)

    def called(self, out: Any, again: Callable[[], Any] | None) -> None:
        self.below.called(out, again)
        self.observer.called(out, again)


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Tell `observer` of everything that happens in a `with` block.

    If it sees ops, they are several times slower, and it is told of those of this thread or task alone. If not, it is
    told of every backward() and step() of the program.

    >>> with modes.observed(modes.Observer()):
    ...     pass
    """
    layer = Observing(observer)
    try:
        with Block(layer, _put_on_top if layer.sees_ops else _put_below_all):
            yield
    finally:
        layer.observer = _Unobservant()


class _Unobservant(Observer):
    every_op = False
