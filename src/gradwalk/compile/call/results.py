"""What a compiled function gives: a tree of Values whose graph is native memory; for samples one by one, arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import ref

import numpy as np

from gradwalk import modes, reverse, tree
from gradwalk.compile.call.arguments import Numbers
from gradwalk.compile.trace.guards import typed
from gradwalk.compile.trace.limits import frozen, limit
from gradwalk.compile.trace.recorded import Kept, Output, Shared, TensorOutput
from gradwalk.engine import Value, zero_grad
from gradwalk.errors import InputSizeError, SettingError, TraceError
from gradwalk.keepers import clear
from gradwalk.node import Hook, Recipe, are_plain_leaves, gradients_of
from gradwalk.ops import number

if TYPE_CHECKING:
    from gradwalk.compile.call.bound_trace import BoundTrace
    from gradwalk.compile.own.store import Version

__all__ = [
    "Call",
    "LeftToWalk",
    "OfCall",
    "Result",
    "ResultTree",
    "Samples",
    "behind",
    "call_no_hooks_between",
    "look_for_walks_past",
    "nodes_given",
    "note_result",
    "note_walk",
    "pass_on",
    "result_of",
]

FLOAT = frozenset((float,))
NO_GRAPH = (
    "a compiled function has no graph to differentiate again; call fn.eager(...), which builds the ordinary one, and "
    "backward(create_graph=True) on what it gives"
)


class LeftToWalk(Exception):  # noqa: N818 (nobody outside sees it)
    """Parameters have hooks, which an ordinary walk calls."""


class Call(Numbers):
    """One call of a compiled function: its numbers, and once it was run, what is needed to walk back from its results.

    >>> loss = gradwalk.compile(lambda x: x * x)(3.0)
    >>> loss._call.plain, loss._call.trace.calls
    ([3.0], 1)
    """

    # What comes later stands in the class: an object is made at every call.
    trace: BoundTrace
    version: Version  # of the parameters
    hooked: tuple[Any, ...] = ()  # the results that were given hooks
    walked_from: tuple[Any, ...] = ()  # where the last walks back began, if there are several results …
    walked_back: tuple[Any, ...] = ()  # … and weak references to the results from which they did
    walked = False  # back, and no other result of the call is left for that
    saved: Any = None  # the numbers, as bytes, once another call has overwritten those of arrays among the arguments
    saved_indices: Any = 0  # … and those that are indices
    input_grads: Any = None  # of the latest backward(), where arguments get gradients

    @property
    def numbers(self) -> Call:
        """Itself; the call of a batch has them apart."""
        return self


class LateField:
    """A field of a node that most results never need: they are filled in when one of them is first looked at.

    A `__getattr__` of the class would do the same, and make every look at any attribute take ten times as long.

    >>> gradwalk.compile(lambda x: x * x)(3.0)._kind.text
    'compiled'
    """

    def __init__(self, name: str) -> None:
        self.slot: Any = getattr(Value, name)

    def __get__(self, result: Any, kind: Any = None) -> Any:
        if result is None:
            return self
        try:
            return self.slot.__get__(result)
        except AttributeError:
            result._fill_in()
            return self.slot.__get__(result)

    def __set__(self, result: Any, x: Any) -> None:
        self.slot.__set__(result, x)


class OfCall:
    """What a node does, of one number or of many, that a compiled call gave: the nodes behind it are not kept."""

    __slots__ = ()
    _call: Any  # a Call, or that of a batch
    _grad: Any
    _position: Any
    inputs: Any

    def register_hook(self, hook: Callable[[Any], Any]) -> Hook:
        """As of any node: call `hook(gradient)` when a walk back begins here, or passes.

        >>> w = gradwalk.Value(2.0)
        >>> loss = gradwalk.compile(lambda x: w * x)(3.0)
        >>> handle = loss.register_hook(lambda gradient: 10 * gradient)
        >>> loss.backward()
        >>> w.grad
        30.0
        """
        self._call.hooked += (self,)
        return super().register_hook(hook)  # type: ignore[misc, no-any-return]

    @property
    def grad(self) -> Any:
        """The gradient, as of any node; one that went past on the way back from another result is not kept here.

        >>> w = gradwalk.Value(2.0)
        >>> loss = gradwalk.compile(lambda x: w * x)(3.0)
        >>> loss.backward()
        >>> loss.grad
        1.0
        """
        look_for_walks_past(self)
        return super().grad  # type: ignore[misc]

    @grad.setter
    def grad(self, grad: Any) -> None:
        super(OfCall, type(self)).grad.fset(self, grad)  # type: ignore[misc]

    def zero_grad(self) -> None:
        """Set gradients back to 0: of the parameters, and of all that nodes among the arguments depend on.

        >>> w = gradwalk.Value(2.0)
        >>> loss = gradwalk.compile(lambda x: w * x)(3.0)
        >>> loss.backward()
        >>> gradwalk.zero_grad(loss)
        >>> w.grad, loss.grad
        (0.0, 0.0)
        """
        self._clear()
        for v in nodes_given(self._call):
            zero_grad(v)

    def _clear(self) -> None:
        self._grad = 0.0
        call, at = self._call, self._position
        for found in call.walked_back:
            other = found()
            if other is not None and other is not self and call.trace.leads_through(at, other._position):
                other._grad = 0.0
        call.walked_from = ()
        clear(call.trace.recorded.parameters)

    @property
    def argument_grads(self) -> dict[str, Any]:
        """After `backward()`: the gradient of each argument that `compile(fn, wrt=...)` named, in its structure.

        >>> loss = gradwalk.compile(lambda x: x[0] * x[1], wrt="x")([3.0, 4.0])
        >>> loss.backward()
        >>> loss.argument_grads
        {'x': [4.0, 3.0]}
        """
        call = self._call
        if not call.trace.wrt:
            raise SettingError("gradients of arguments are kept on request: write compile(fn, wrt=('name',))")
        if call.input_grads is None:
            raise SettingError("there are no gradients yet; call backward() first")
        grads: dict[str, Any] = call.trace.argument_grads(call)
        return grads

    slopes = property(lambda self: (None,) * len(self.inputs))  # its closure knows better

    @property
    def is_leaf(self) -> bool:
        """False: it was computed, also where no Value among the arguments is behind it."""
        return False

    @property
    def operands(self) -> NoReturn:
        """Refused: the nodes in between are not kept.

        >>> gradwalk.compile(lambda x: x * x)(3.0).operands  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: nodes in between are not kept: ...
        """
        raise limit("structure")

    _prev = operands
    local_derivatives = operands

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise limit("travel")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise limit("travel")


class Result(OfCall, Value):  # type: ignore[misc]
    """A number that a compiled function gave. It behaves like any Value; only the nodes before it are not kept.

    >>> w = gradwalk.Value(2.0)
    >>> loss = gradwalk.compile(lambda x: (w * x) ** 2)(3.0)
    >>> loss.backward()
    >>> loss.data, w.grad
    (36.0, 36.0)
    """

    __slots__ = ("__weakref__", "_call", "_position")
    _position: int

    def backward(self, gradient: float = 1.0, *, create_graph: bool = False) -> None:
        """Fill the gradients of parameters, and of Values among the arguments; they add to what is there.

        >>> w = gradwalk.Value(2.0)
        >>> loss = gradwalk.compile(lambda x: w * x)(3.0)
        >>> loss.backward()
        >>> loss.backward()
        >>> w.grad
        6.0
        """
        if gradient.__class__ is not float:
            gradient = number(gradient)
        if create_graph:
            raise TraceError(NO_GRAPH)
        call = self._call
        trace = call.trace
        if modes.layers:
            modes.top().backward(self, partial(self._walk_back, gradient))
        elif call.hooked or trace.passes_on:
            self._walk_back(gradient)
        else:  # as `_walk_back`, without the call
            try:
                trace.backward(call, self._position, gradient)
                self._grad = gradient
                if call.walked_from:
                    note_result(self)
            except LeftToWalk:
                super()._walk_back(gradient)

    def _walk_back(self, seed: float) -> None:
        call = self._call
        values = [v for _, v in call.numbers.values]
        tensors = tensors_given(call)
        given = [*values, *[v for v, _ in tensors]]
        if call.hooked or (given and (modes.layers or not _are_ready(values) or not are_plain_leaves(given))):
            super()._walk_back(seed)  # there is a graph behind, or somebody who wants to see every push
            return
        try:
            call.trace.backward(call, self._position, seed)
        except LeftToWalk:
            super()._walk_back(seed)
            return
        self._grad = seed
        if call.walked_from:
            note_result(self)
        if values:
            shares = call.input_grads.tolist()
            reverse.add_to_leaves(values, [shares[position] for position, _ in call.numbers.values])
        for v, here in tensors:
            v._receive(share_of(call, v, here))

    @property
    def label(self) -> str:
        """A name for drawings: what it was given, or what the function gave it.

        >>> def f(x):
        ...     y = x * x
        ...     y.label = "y"
        ...     return y
        >>> gradwalk.compile(f)(gradwalk.Value(3.0)).label
        'y'
        """
        given: str = self._call.trace.recorded.labels.get(self._position, "")
        return super().label or given

    @label.setter
    def label(self, label: str) -> None:
        self._note().label = label

    # --- as a node of an ordinary graph ------------------------------------------------------------------------------

    _a, _b, _da, _db, _kind, _mark = map(LateField, ("_a", "_b", "_da", "_db", "_kind", "_mark"))

    def _fill_in(self) -> None:
        self._a = self._b = self._da = self._db = self._mark = None
        self._kind = Recipe(text="compiled")
        self._kind.closure = partial(_push, self)

    inputs = property(lambda self: behind(self._call, self._position))


def result_of(call: Any, position: int, data: Any) -> Any:
    """One result of a call; for samples one by one, all of theirs."""
    if data.__class__ is not float:
        return Samples(call, position, data)
    out = object.__new__(Result)
    out._call = call
    out._position = position
    out._data = data
    out._grad = 0.0
    return out


def _are_ready(values: list[Value]) -> bool:
    """Whether gradients can simply be added to these: leaves and nothing else, with gradients that are floats."""
    return are_plain_leaves(values) and FLOAT.issuperset(map(type, gradients_of(values)))


def _push(result: Result) -> None:
    """What `_backward()` of a result does: walk back natively, and pass on what arrives at Values among arguments."""
    call = result._call
    call_no_hooks_between(result)
    call.trace.backward(call, result._position, number(result._grad), in_walk=True)
    note_result(result)
    pass_on(call)


def note_walk(call: Any, position: Any) -> None:
    """Remember from which results of a call walks began, the last of them."""
    call.walked_from = (*call.walked_from[-7:], position)


def note_result(result: Any) -> None:
    """Remember a result that was walked back, while it lives: `zero_grad()` of another one may have to clear it."""
    call = result._call
    call.walked_back = (*call.walked_back[-7:], ref(result))


def look_for_walks_past(result: Any) -> None:
    """Say so if gradient went through a result on the way back from another one: it was not kept there.

    >>> w = gradwalk.Value(2.0)
    >>> y, loss = gradwalk.compile(lambda x: [y := w * x, y * y])(3.0)
    >>> y.backward()
    >>> look_for_walks_past(y)
    >>> y.grad, [y._call.trace.leads_through(*pair) for pair in [(0, 1), (1, 0)]]
    (1.0, [False, True])
    """
    call = result._call
    if any(call.trace.leads_through(position, result._position) for position in call.walked_from):
        frozen("a gradient went through this result on the way back from another one, and is not in its .grad", KEPT)


def call_no_hooks_between(result: Any) -> None:
    """Say so if a walk back from a result goes past another one that has hooks."""
    call = result._call
    for other in call.hooked:
        if other is not result and other.hooks and call.trace.leads_through(result._position, other._position):
            frozen("a walk back went past a result that has hooks, in native code, which does not call them", KEPT)


KEPT = (
    "compiled code keeps gradients of parameters and arguments: compile what comes after this result as a function of "
    "its own, which takes it as an argument; or call fn.eager(...), which keeps every gradient"
)


def pass_on(call: Any) -> None:
    """Add what has arrived at the arguments to the gradients of their nodes."""
    for position, v in call.numbers.values:
        reverse.add(v, float(call.input_grads[position]))  # it may be a parameter of the function as well
    for v, here in tensors_given(call):
        v._receive(share_of(call, v, here))


def tensors_given(call: Any) -> list[tuple[Any, slice]]:
    """The tensors among the arguments that gradient flows to, and where their numbers are among the inputs."""
    numbers = call.numbers
    if not numbers.tensors:
        return []
    ends = call.trace.ends
    return [(v, slice(ends[i], ends[i + 1])) for i, v in numbers.tensors if v.requires_grad]


def share_of(call: Any, v: Any, here: slice) -> Any:
    """What has arrived at a tensor among the arguments, in its shape and dtype."""
    return call.input_grads[here].reshape(v.shape).astype(v.dtype, copy=False)


def nodes_given(call: Any) -> tuple[Any, ...]:
    """The Values and tensors among the arguments that gradient flows to."""
    return (*[v for _, v in call.numbers.values], *[v for v, _ in tensors_given(call)])


def behind(call: Any, position: Any) -> tuple[Any, ...]:
    """What a walk goes on to from a result: nodes among the arguments, and parameters with hooks, which it calls.

    >>> w = gradwalk.Value(2.0)
    >>> loss = gradwalk.compile(lambda x: w * x)(3.0)
    >>> hook = w.register_hook(print)
    >>> behind(loss._call, 0) == (w,)
    True
    """
    return (*nodes_given(call), *call.trace.hooked_parameters(position))


class Samples:
    """What a function of one sample gave for each of many: numbers in `data`, and one walk back for all of them.

    >>> w = gradwalk.Value(3.0)
    >>> each = gradwalk.compile(lambda x: w * x, batch="each")([1.0, 2.0])
    >>> each.data.tolist(), len(each), each[1]
    ([3.0, 6.0], 2, 6.0)
    >>> each.backward([1.0, 10.0])
    >>> w.grad
    21.0
    """

    def __init__(self, call: Any, position: int, data: Any) -> None:
        self._call = call
        self._position = position
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, i: Any) -> Any:
        return self.data[i].item() if np.ndim(self.data[i]) == 0 else self.data[i]

    def __repr__(self) -> str:
        return f"Samples({self.data!r})"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise limit("samples travel")

    def backward(self, gradient: Any = 1.0) -> None:
        """Add the gradients of the samples' numbers, each times its entry of `gradient`, or all times one number.

        >>> w = gradwalk.Value(3.0)
        >>> gradwalk.compile(lambda x: w * x, batch="each")([1.0, 2.0]).backward()
        >>> w.grad
        3.0
        """
        weights = np.asarray(gradient, np.float64)
        if weights.ndim and weights.shape != self.data.shape:
            raise InputSizeError(f"backward was given {weights.shape} gradients for {len(self.data)} samples")
        call, seed = self._call, weights if weights.ndim else float(weights)
        try:
            call.trace.backward(call, self._position, seed)
        except LeftToWalk:
            walk = Value(0.0, behind(call, self._position), "compiled")
            walk._backward = lambda: call.trace.backward(call, self._position, seed, in_walk=True)
            walk.backward()


class ResultTree:
    """What the function gave, with places where numbers go."""

    def __init__(self, result: Any, shared: dict[int, ResultTree] | None = None) -> None:
        known = {} if shared is None else shared  # what has several places, by number
        self.leaves, self.structure = tree.flatten(
            result, lambda x: isinstance(x, (Output, Shared)) or tree.is_block(x)
        )
        self.shared: list[tuple[int, ResultTree]] = []
        for i, x in enumerate(self.leaves):
            if type(x) is Shared:
                if x.number not in known:
                    known[x.number] = ResultTree(x.content, known)
                self.shared.append((i, known[x.number]))
        self.places = [(i, x.position, x.plain) for i, x in enumerate(self.leaves) if type(x) is Output]
        self.tensors = [(i, x, _positions(x)) for i, x in enumerate(self.leaves) if isinstance(x, TensorOutput)]
        self.blocks = [i for i, x in enumerate(self.leaves) if tree.is_block(x)]
        self.leaves = [x.thing if type(x) is Kept else x for x in self.leaves]

    def filled(
        self,
        result: Callable[[int, Any], Any],
        data: list[Any],
        array: Any,
        call: Any,
        made: dict[Any, Any] | None = None,
    ) -> Any:
        """The same with results in it, made of a position and a number; where the function gives a plain number, that.

        `array` holds the same numbers; without a `call` tensors are leaves.
        """
        leaves = self.leaves.copy()
        made = {} if made is None else made
        for i, part in self.shared:
            if part not in made:
                made[part] = part.filled(result, data, array, call, made)
            leaves[i] = made[part]
        for i in self.blocks:
            leaves[i] = leaves[i].copy()  # as the function makes it anew
        for i, position, plain in self.places:
            if plain is None:
                if position not in made:  # what is given twice is one
                    made[position] = result(position, data[position])
                leaves[i] = made[position]
            else:
                leaves[i] = typed(plain, data[position]) if data[position].__class__ is float else data[position]
        for i, output, positions in self.tensors:
            leaves[i] = _tensor_of(output, positions, array, call)
        return self.structure.unflatten(leaves)


def _positions(output: TensorOutput) -> Any:
    """Which outputs the numbers of a tensor are: a slice, if they stand side by side."""
    at = np.frombuffer(output.positions, np.int64)
    if len(at) and (np.diff(at) == 1).all():
        return slice(int(at[0]), int(at[-1]) + 1)
    return at


def _tensor_of(output: TensorOutput, positions: Any, array: Any, call: Any) -> Any:
    from gradwalk.compile.call.tensor_results import known_tensor, tensor_of

    if output.known is not None:
        return known_tensor(output, call)
    return tensor_of(output, positions, array[positions], call)
