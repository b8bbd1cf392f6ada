"""What a node of the graph holds and can tell about itself: the protocol that walks, drawings and checks rely on.

`Value` builds on this; here is no arithmetic and no walk.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy, deepcopy
from functools import partial
from types import FunctionType
from typing import Any, Self

from gradwalk import flat, keepers, modes, ops, reverse, walk
from gradwalk.errors import GraphError, NotANumberError
from gradwalk.keepers import Keeper
from gradwalk.methods import Methods
from gradwalk.ops import Op, comes_later, number
from gradwalk.provenance import Place

__all__ = ["Hook", "Node"]


def _compared(holds: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    def compare(self: Node, other: Any) -> Any:
        if isinstance(other, Node):
            if other.many:
                return NotImplemented  # a tensor answers, number by number
            other = other.data
        return bool(holds(self.data, other))

    return compare


class Node(Methods):
    """The fields of a `Value`, and the questions it answers.

    >>> c = Value(2.0) * Value(3.0)
    >>> c._op, len(c._prev), c.local_derivatives
    ('*', 2, (3.0, 2.0))
    """

    # Operands and local derivatives lie in plain fields, because a tuple, a set or a closure for each node is what
    # makes an engine slow. An operand that is a plain number stays one, and its local derivative is None.
    __slots__ = ("_a", "_b", "_da", "_data", "_db", "_grad", "_kind", "_mark", "_notes")
    _copied_fields = frozenset(__slots__)  # what `_copied` sees to; a class of the user's may have more

    _data: float  # empty, as is _grad, while a keeper has them
    _grad: Any  # a float; after backward(create_graph=True) a Value
    _kind: Op | Recipe | None  # how this node was made; None for a leaf
    _a: Any  # first operand, if there is one
    _b: Any  # second operand, if there is one
    _da: float | None  # how fast data changes with the first operand
    _db: float | None  # how fast data changes with the second operand
    _mark: object  # which walk has seen this node last
    _notes: Notes  # what only few nodes have; empty on the others

    many = False  # whether a node holds many numbers: a tensor does

    def _receive(self, share: Any) -> None:
        """Add to the gradient what comes back from a node that uses this one."""
        self._grad += share

    def _as_node(self, x: Any) -> Self:
        """A constant as a leaf; a node as it is."""
        raise NotImplementedError

    # --- number and gradient -----------------------------------------------------------------------------------------
    # The engine works on the fields. From outside they are seen through these two, so that interpreters can follow, and
    # keepers give back what they have.

    @property
    def data(self) -> float:
        """The number.

        >>> v = Value(2.0)
        >>> v.data = 3.0
        >>> v.data
        3.0
        """
        try:
            return modes.top().read(self, "data", self._data) if modes.active else self._data
        except AttributeError:
            return self._had_back("data")  # type: ignore[no-any-return]

    @data.setter
    def data(self, data: Any) -> None:
        if data.__class__ is not float:  # an array would compute in its own way, and so would an int, without end
            if isinstance(data, Node):
                raise NotANumberError(
                    f"data is a plain number, not a {type(data).__name__}: {data!r}; set it to the .data of that"
                )
            if not comes_later(data):
                plain = number(data)
                data = data if hasattr(data, "dtype") else plain  # numbers of NumPy's keep their precision
        if modes.active or (keepers.keeping and not hasattr(self, "_data")):
            self._write("data", data)
        else:
            self._data = data

    @property
    def grad(self) -> Any:
        """The gradient: how fast the number that was walked back from changes with this one.

        >>> v = Value(2.0)
        >>> (v * 3).backward()
        >>> v.grad
        3.0
        """
        try:
            return modes.top().read(self, "grad", self._grad) if modes.active else self._grad
        except AttributeError:
            return self._had_back("grad")

    @grad.setter
    def grad(self, grad: Any) -> None:
        if modes.active or (keepers.keeping and not hasattr(self, "_grad")):
            self._write("grad", grad)
        else:
            self._grad = grad

    def _had_back(self, field: str) -> Any:
        """A field that a keeper had."""
        with self._in_own_hands():
            number = object.__getattribute__(self, f"_{field}")
            return modes.top().read(self, field, number) if modes.active else number

    def _write(self, field: str, number: Any) -> None:
        with self._in_own_hands():
            setattr(self, f"_{field}", modes.top().write(self, field, number) if modes.active else number)

    @property
    def keeper(self) -> Keeper | None:
        """Who has number and gradient now instead of this node, if anyone has.

        >>> Value(2.0).keeper is None
        True
        """
        notes = getattr(self, "_notes", None)
        return None if notes is None else notes.keeper

    def _in_own_hands(self) -> AbstractContextManager[Any]:
        """A block in which no keeper has number and gradient."""
        keeper = self.keeper if keepers.keeping else None
        return _NOBODY if keeper is None else keeper.handed_back()

    def __copy__(self) -> Self:
        out = object.__new__(type(self))
        out.__setstate__((None, *self._fields(), [(out, self._grad)]))
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:  # for pickles
        _check_that_they_are_found(self)
        alone = self._kind is None and not isinstance(getattr(self, "_grad", None), Node)
        if alone or flat.Flat.holds(self):
            return _blank, (type(self),), (None, *self._fields(), ())
        nodes, graphs = [], [self]  # a gradient may be a node, and have a graph of its own
        seen: set[int] = set()
        for root in graphs:
            for v in walk.topological(root, _nodes_in):
                if id(v) not in seen:
                    seen.add(id(v))
                    nodes.append(v)
                    graphs += [v._grad] if isinstance(getattr(v, "_grad", None), Node) else []
        grads = [(v, v._grad) for v in nodes if isinstance(getattr(v, "_grad", None), Node)]
        return _blank, (type(self),), (flat.Flat(nodes), *self._fields(), grads)

    def _fields(self) -> tuple[Any, ...]:
        """What this node is made of, with gradients that are numbers; and what a class of the user's own adds."""
        with self._in_own_hands():
            kind: Any = self._kind
            if isinstance(kind, Recipe):
                kind = (kind.op, kind.inputs, kind.slopes, kind.text, kind.closure, [h.function for h in kind.hooks])
            grad = 0.0 if isinstance(self._grad, Node) else self._grad
            notes = self._noted()
            said = None if notes is None else (notes.label, notes.made_at)
            more = _added(self) if type(self).__slots__ or type(self).__dictoffset__ else ()
            return self._data, grad, kind, self._a, self._b, self._da, self._db, said, more

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, self._data, self._grad, kind, self._a, self._b, self._da, self._db, said, more, grads = state
        self._mark = None
        if isinstance(kind, tuple):
            *made, closure, hooks = kind
            kind = Recipe(*made)
            kind.closure = closure
            for function in hooks:
                Hook(kind.hooks, function)
        self._kind = kind
        if said is not None:
            self._note().label, self._note().made_at = said
        for name, x in more:
            setattr(self, name, x)
        for v, grad in grads:
            v._grad = grad

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        richer = []  # nodes of classes that add something of their own, which may lead back to any node
        for v in walk.topological(self):
            if id(v) not in memo:
                memo[id(v)] = v._copied(memo)
                richer += [v] if type(v).__slots__ or type(v).__dictoffset__ else []
        for v in richer:
            for name, x in _added(v):
                setattr(memo[id(v)], name, deepcopy(x, memo))
        return memo[id(self)]  # type: ignore[no-any-return]

    def _copied(self, memo: dict[int, Any]) -> Self:
        """This node, pointing at the copies of its operands that `memo` holds."""
        out = object.__new__(type(self))
        with self._in_own_hands():
            out._data, out._grad = self._data, self._grad
        out._kind, out._da, out._db = self._kind, self._da, self._db
        out._mark = None
        out._a, out._b = memo.get(id(self._a), self._a), memo.get(id(self._b), self._b)
        if isinstance(self._kind, Recipe):
            out._kind = copy(self._kind)
            out._kind.inputs = tuple(memo.get(id(x), x) for x in self._kind.inputs)
            out._kind.hooks = list(self._kind.hooks)
        notes = self._noted()
        if notes is not None:
            out._note().label, out._note().made_at = notes.label, notes.made_at
        return out

    # --- the protocol: what may be asked of any node -----------------------------------------------------------------

    @property
    def operands(self) -> tuple[Self, ...]:
        """What the node was computed from, in order, repeats included; constants as Values, which get no gradient.

        >>> a = Value(3.0)
        >>> [v.data for v in (a * a).operands], [v.data for v in (2 - a).operands]
        ([3.0, 3.0], [2.0, 3.0])
        """
        shown = len(self.local_derivatives)
        if isinstance(self._kind, Recipe):
            return self._kind.inputs[:shown]
        if shown:  # a constant becomes a node when it is first looked at, and stays the same one
            self._a = self._as_node(self._a)
        if shown == 2:
            self._b = self._as_node(self._b)
        return (self._a, self._b)[:shown]

    @property
    def local_derivatives(self) -> tuple[float | None, ...]:
        """How fast the node changes with each of its operands, as it was when it was made; None for a constant.

        >>> (Value(3.0) * Value(4.0)).local_derivatives, (2 * Value(5.0)).local_derivatives
        ((4.0, 3.0), (2.0, None))
        """
        return self.slopes[:1] if self._constant_exponent() is not None else self.slopes

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What the op was given, in order: nodes, and constants as plain numbers (or as the nodes they became).

        >>> (Value(3.0) * 2).inputs
        (Value(data=3.0, grad=0.0), 2.0)
        """
        kind = self._kind
        if kind is None:
            return ()
        if kind.__class__ is Recipe:
            return kind.inputs
        return (self._a,) if self._b is None else (self._a, self._b)

    @property
    def slopes(self) -> tuple[float | None, ...]:
        """The local derivative for each input; None for a constant, or where a closure knows better.

        It is `ops.CUT`, which is 0, towards an operand that was not taken: nothing is pushed there.

        >>> (Value(3.0) ** 2).slopes
        (6.0, None)
        """
        kind = self._kind
        if kind is None:
            return ()
        if kind.__class__ is Recipe:
            return kind.slopes
        return (self._da,) if self._b is None else (self._da, self._db)

    @slopes.setter
    def slopes(self, slopes: tuple[float | None, ...]) -> None:
        if isinstance(self._kind, Recipe) or any(slope is ops.CUT for slope in slopes):
            self._recipe().slopes = slopes
        else:
            self._da, self._db = slopes if len(slopes) == 2 else (slopes[0], None)

    @property
    def primitive(self) -> Op | None:
        """The op of the table, or of `@op`, that made this node; None for a leaf or a node made by hand.

        >>> Value(3.0).tanh().primitive.name, Value(3.0).primitive
        ('tanh', None)
        """
        return self._kind.op if isinstance(self._kind, Recipe) else self._kind

    @property
    def is_leaf(self) -> bool:
        """Whether this node was given its number, not computed from other nodes.

        >>> a = Value(3.0)
        >>> a.is_leaf, (a * a).is_leaf
        (True, False)
        """
        return self._kind is None or not self.inputs

    @property
    def closure(self) -> Callable[[], None] | None:
        """A `_backward` of the user's own, if this node was given one.

        >>> v = Value(3.0)
        >>> v._backward = lambda: print("pushed")
        >>> v.closure()
        pushed
        """
        return self._kind.closure if isinstance(self._kind, Recipe) else None

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """What is called with this node's gradient once it is complete.

        >>> Value(3.0).hooks
        ()
        """
        return tuple(self._kind.hooks) if isinstance(self._kind, Recipe) else ()

    @property
    def label(self) -> str:
        """A name for messages and drawings.

        >>> Value(1.0, label="x").label
        'x'
        """
        notes = self._noted()
        return "" if notes is None else notes.label

    @label.setter
    def label(self, label: str) -> None:
        self._note().label = label

    @property
    def made_at(self) -> Place | None:
        """The user's source line that made this node, if it was written down, as under `anomaly()`.

        >>> with gradwalk.anomaly():
        ...     y = gradwalk.Value(2.0).exp()
        >>> y.made_at.line
        2
        """
        notes = self._noted()
        return None if notes is None else notes.made_at

    @made_at.setter
    def made_at(self, place: Place | None) -> None:
        self._note().made_at = place

    def _clear(self) -> None:
        """Set the gradient back to 0, and those of leaves that only this node knows."""
        self.grad = 0.0

    def register_hook(self, hook: Callable[[Any], Any]) -> Hook:
        """Call `hook(gradient)` when this node's gradient is complete; what it returns, if anything, replaces it.

        >>> x = Value(3.0)
        >>> handle = x.register_hook(lambda gradient: gradient / 2)
        >>> (x * x).backward()
        >>> x.grad
        3.0
        >>> handle.remove()
        """
        if not callable(hook):
            raise GraphError(f"a hook is a function of the gradient, not {type(hook).__name__}: {hook!r}")
        return Hook(self._recipe().hooks, hook)

    def explain(self, leaf: Any = None) -> Any:
        """The gradient of each leaf, or of one, as a sum over the paths that lead to it; print it.

        >>> a = Value(2.0, label="a")
        >>> b, c = a + 1, a * 3
        >>> b.label, c.label = "b", "c"
        >>> print(str((b * c).explain(a)).splitlines()[0])
        a.grad = 15: through b 6 + through c 9 = 15
        """
        from gradwalk.explain import explain  # only whoever asks for it loads it

        return explain(self, leaf)

    def conjugate(self) -> Self:
        """The number itself, as of every real number; NumPy's `var` asks for it.

        >>> import numpy as np
        >>> np.var(np.array([Value(1.0), Value(3.0)])).data
        1.0
        """
        return self

    # --- comparing, printing -----------------------------------------------------------------------------------------
    # Nodes are equal only to themselves, so that they can be kept in sets; `<` and `max()` compare their data.

    __lt__ = _compared(operator.lt)
    __le__ = _compared(operator.le)
    __gt__ = _compared(operator.gt)
    __ge__ = _compared(operator.ge)

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else repr(self)

    # --- micrograd's names, which can be set as well -----------------------------------------------------------------

    @property
    def _prev(self) -> set[Self]:
        return set(self.operands)

    @_prev.setter
    def _prev(self, children: Iterable[Self]) -> None:
        if isinstance(children, Node) or not hasattr(children, "__iter__"):
            raise GraphError(f"the children of a Value come in a tuple, as in Value(data, (a, b)), not {children!r}")
        found = tuple(children)
        for child in found:
            if not isinstance(child, Node):
                raise GraphError(
                    f"the children of a Value are Values, not {type(child).__name__}: {child!r}; "
                    f"wrap it as Value({child!r})"
                )
        text, recipe = self._op, self._recipe()  # a rule of the table no longer fits these operands
        recipe.op, recipe.text, recipe.inputs, recipe.slopes = None, text, found, (None,) * len(found)

    @property
    def _op(self) -> str:
        kind = self.primitive
        if kind is None:
            return self._kind.text if isinstance(self._kind, Recipe) else ""
        exponent = self._constant_exponent()
        return kind.symbol if exponent is None else f"**{exponent:g}"

    @_op.setter
    def _op(self, text: str) -> None:
        recipe = self._recipe()
        recipe.op, recipe.text = None, text

    @property
    def _backward(self) -> Callable[[], None]:
        # not `push`: a closure that is set later may call what was here before it, as one that only looks on does
        return self.closure or partial(reverse.push_by_rule, self)

    @_backward.setter
    def _backward(self, closure: Callable[[], None]) -> None:
        self._recipe().closure = closure

    def _constant_exponent(self) -> float | None:
        """2 for `v ** 2`: such an exponent is part of the op, not an operand (so is it in micrograd)."""
        if self.primitive is not ops.pow or self.slopes[1] is not None:
            return None
        exponent = self.inputs[1]
        return exponent._data if isinstance(exponent, Node) else exponent

    # --- what only few nodes have ------------------------------------------------------------------------------------

    def _recipe(self) -> Recipe:
        """How this node was made, spelt out; that sends `backward()` down its careful road."""
        with self._in_own_hands():
            if not isinstance(self._kind, Recipe):
                self._kind = Recipe(self._kind, tuple(map(self._as_node, self.inputs)), self.slopes)
                self._a = self._b = self._da = self._db = None
            return self._kind

    def _noted(self) -> Notes | None:
        return getattr(self, "_notes", None)

    def _note(self) -> Notes:
        notes = self._noted()
        if notes is None:
            notes = self._notes = Notes()
        return notes


def _blank(kind: type[Node]) -> Node:
    return object.__new__(kind)


def _nodes_in(node: Node) -> list[Node]:
    """The operands that are nodes; a constant is left the number it is."""
    return [x for x in node.inputs if isinstance(x, Node)]


def _added(node: Node) -> list[tuple[str, Any]]:
    """What an object of a user's own class has beside the fields of a node."""
    state: Any = object.__getstate__(node)
    own, slots = state if isinstance(state, tuple) else (state, {})
    return [(name, x) for name, x in {**(own or {}), **slots}.items() if name not in node._copied_fields]


def _check_that_they_are_found(node: Node) -> None:
    """Say so if a function of the user's cannot be pickled, which pickle does by name alone."""
    if not isinstance(node._kind, Recipe):
        return
    for function in (node.closure, *(hook.function for hook in node.hooks)):
        if isinstance(function, FunctionType) and "<" in function.__qualname__:
            raise GraphError(
                f"{walk.describe(node)} has a _backward or a hook, {function.__qualname__}, that only this program can "
                "find, so it cannot be pickled; define that at the top of a module, or the whole op with @gradwalk.op"
            )


def number_of(node: Node) -> Any:
    """`node._data`, which a keeper may have."""
    try:
        return node._data
    except AttributeError:
        with node._in_own_hands():
            return node._data


# For many nodes at once: the fields themselves, if nobody watches and no keeper has any.


def numbers_of(nodes: Sequence[Node]) -> list[Any]:
    """`data` of each."""
    try:
        return [v.data for v in nodes] if modes.active else [v._data for v in nodes]
    except AttributeError:  # a keeper has it
        return [v.data for v in nodes]


def gradients_of(nodes: Sequence[Node]) -> list[Any]:
    """`grad` of each."""
    try:
        return [v.grad for v in nodes] if modes.active else [v._grad for v in nodes]
    except AttributeError:
        return [v.grad for v in nodes]


def are_plain_leaves(nodes: Iterable[Node]) -> bool:
    """Whether all are leaves without hooks, closures or anything else of their own."""
    return not [v for v in nodes if v._kind is not None]


def set_numbers(nodes: Iterable[Node], numbers: Iterable[float]) -> None:
    """Set `data` of each."""
    if modes.active or keepers.keeping:
        for v, x in zip(nodes, numbers, strict=True):
            v.data = x
    else:
        for v, x in zip(nodes, numbers, strict=True):
            v._data = x


_NOBODY: AbstractContextManager[Any] = nullcontext()


class Recipe:
    """How an unusual node was made: by hand, with a closure or hooks, or from more than two operands."""

    __slots__ = ("closure", "hooks", "inputs", "op", "slopes", "text")

    def __init__(
        self, op: Op | None = None, inputs: tuple[Any, ...] = (), slopes: tuple[float | None, ...] = (), text: str = ""
    ) -> None:
        self.op = op
        self.text = text  # what a node made by hand is called
        self.inputs = inputs
        self.slopes = slopes
        self.closure: Callable[[], None] | None = None  # a `_backward` of the user's own
        self.hooks: list[Hook] = []


class Notes:
    """What is written down about few nodes."""

    __slots__ = ("keeper", "label", "made_at")

    def __init__(self) -> None:
        self.label = ""
        self.made_at: Place | None = None
        self.keeper: Keeper | None = None


class Hook:
    """What `register_hook` gives back; `remove()` unhooks it.

    >>> x = Value(1.0)
    >>> hook = x.register_hook(print)
    >>> (x * 2).backward()
    2.0
    >>> hook.remove()
    >>> (x * 2).backward()
    """

    def __init__(self, hooks: list[Hook], function: Callable[[Any], Any]) -> None:
        self.function = function
        self._hooks = hooks
        hooks.append(self)

    def remove(self) -> None:
        """Take the hook off its node; a second time does nothing.

        >>> hook = Value(1.0).register_hook(print)
        >>> hook.remove()
        >>> hook.remove()
        """
        if self in self._hooks:
            self._hooks.remove(self)
