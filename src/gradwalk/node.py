"""What a node of the graph holds and can tell about itself: operands, slopes, label, closure, hooks.

`Value` builds on this; here is no arithmetic and no walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self
from weakref import WeakValueDictionary

from gradwalk import ops, reverse
from gradwalk.errors import GraphError
from gradwalk.methods import Methods
from gradwalk.ops import Op
from gradwalk.provenance import Place

__all__ = ["Hook", "Node"]


class Node(Methods):
    """The fields of a `Value`, and the questions it answers.

    >>> from gradwalk import Value
    >>> c = Value(2.0) * Value(3.0)
    >>> c._op, len(c._prev), c.local_derivatives
    ('*', 2, (3.0, 2.0))
    """

    # Operands and local derivatives lie in plain fields, because a tuple, a set or a closure for each node is what
    # makes an engine slow. An operand that is a plain number stays one, and its local derivative is None.
    __slots__ = ("_a", "_b", "_da", "_db", "_kind", "_more", "data", "grad")

    data: float
    grad: Any  # a float; after backward(create_graph=True) a Value
    _kind: Op | str | None  # what made this node; None for a leaf
    _a: Any  # first operand; None for a leaf; the tuple of all operands for an unusual node (see below)
    _b: Any  # second operand, if there is one
    _da: float | None  # how fast data changes with the first operand
    _db: float | None  # how fast data changes with the second operand
    _more: More  # what only few nodes have; not set on the others
    _owner: Any = None  # what holds data and grad instead of the fields: compiled code, while it runs a training

    def _as_node(self, x: Any) -> Self:
        """A constant as a leaf; a node as it is."""
        raise NotImplementedError

    @property
    def operands(self) -> tuple[Self, ...]:
        """What the node was computed from, in order, repeats included; constants as Values, which get no gradient.

        >>> from gradwalk import Value
        >>> a = Value(3.0)
        >>> [v.data for v in (a * a).operands], [v.data for v in (2 - a).operands]
        ([3.0, 3.0], [2.0, 3.0])
        """
        shown = len(self.local_derivatives)
        if isinstance(self._a, tuple):
            return self._a[:shown]
        if shown:  # a constant becomes a node when it is first looked at, and stays the same one
            self._a = self._as_node(self._a)
        if shown == 2:
            self._b = self._as_node(self._b)
        return (self._a, self._b)[:shown]

    @property
    def local_derivatives(self) -> tuple[float | None, ...]:
        """How fast the node changes with each of its operands, as it was when it was made; None for a constant.

        >>> from gradwalk import Value
        >>> (Value(3.0) * Value(4.0)).local_derivatives, (2 * Value(5.0)).local_derivatives
        ((4.0, 3.0), (2.0, None))
        """
        slopes = self.slopes
        return slopes[:1] if self._constant_exponent() is not None else slopes

    @property
    def label(self) -> str:
        """A name for messages and drawings.

        >>> from gradwalk import Value
        >>> Value(1.0, label="x").label
        'x'
        """
        more = getattr(self, "_more", None)
        return more.label if more is not None else ""

    @label.setter
    def label(self, label: str) -> None:
        self._extras().label = label

    def explain(self, leaf: Any = None) -> Any:
        """The gradient of each leaf, or of one, as a sum over the paths that lead to it; print it.

        >>> from gradwalk import Value
        >>> a = Value(2.0, label="a")
        >>> b, c = a + 1, a * 3
        >>> b.label, c.label = "b", "c"
        >>> print(str((b * c).explain(a)).splitlines()[0])
        a.grad = 15: through b 6 + through c 9 = 15
        """
        from gradwalk.explain import explain  # a layer above: only whoever asks for it loads it

        return explain(self, leaf)

    @property
    def _prev(self) -> set[Self]:
        return set(self.operands)

    @_prev.setter
    def _prev(self, children: Iterable[Self]) -> None:
        found = checked_children(children)
        self._kind = self._op  # a rule of the table no longer fits these operands
        if found:
            self._become_unusual(found, (None,) * len(found))
        else:
            self._a = self._b = self._da = self._db = None

    @property
    def _op(self) -> str:
        kind = self._kind
        if isinstance(kind, Op):
            exponent = self._constant_exponent()
            return kind.symbol if exponent is None else f"**{exponent:g}"
        return kind or ""

    @_op.setter
    def _op(self, text: str) -> None:
        self._kind = text

    @property
    def _backward(self) -> Callable[[], None]:
        more = getattr(self, "_more", None)
        return more.closure if more is not None and more.closure is not None else partial(reverse.push, self)

    @_backward.setter
    def _backward(self, closure: Callable[[], None]) -> None:
        self._become_unusual()
        self._extras().closure = closure

    # --- the protocol of nodes: what walks, drawings, checks and the doctor may ask of any node -----------------------

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What the op was given, in order: nodes, and constants as plain numbers.

        >>> from gradwalk import Value
        >>> (Value(3.0) * 2).inputs
        (Value(data=3.0, grad=0.0), 2.0)
        """
        if isinstance(self._a, tuple):
            return self._a
        return (self._a, self._b)[: len(self.slopes)]

    @property
    def slopes(self) -> tuple[float | None, ...]:
        """The local derivative for each input; None for a constant, or where a closure knows better.

        >>> from gradwalk import Value
        >>> (Value(3.0) ** 2).slopes
        (6.0, None)
        """
        if self._a is None:
            return ()
        if isinstance(self._a, tuple):
            return self._more.slopes
        return (self._da,) if self._b is None else (self._da, self._db)

    @slopes.setter
    def slopes(self, slopes: tuple[float | None, ...]) -> None:
        if isinstance(self._a, tuple):
            self._more.slopes = slopes
        else:
            self._da, self._db = slopes if len(slopes) == 2 else (slopes[0], None)

    @property
    def primitive(self) -> Op | None:
        """The op of the table, or of `@op`, that made this node; None for a leaf or a node made by hand.

        >>> from gradwalk import Value
        >>> Value(3.0).tanh().primitive.name, Value(3.0).primitive
        ('tanh', None)
        """
        return self._kind if isinstance(self._kind, Op) else None

    @property
    def is_leaf(self) -> bool:
        """Whether this node was given its number, not computed from other nodes.

        >>> from gradwalk import Value
        >>> a = Value(3.0)
        >>> a.is_leaf, (a * a).is_leaf
        (True, False)
        """
        return not self.inputs

    @property
    def closure(self) -> Callable[[], None] | None:
        """A `_backward` of the user's own, if this node was given one.

        >>> from gradwalk import Value
        >>> v = Value(3.0)
        >>> v._backward = lambda: print("pushed")
        >>> v.closure()
        pushed
        """
        more = getattr(self, "_more", None)
        return None if more is None else more.closure

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """What is called with this node's gradient once it is complete.

        >>> from gradwalk import Value
        >>> Value(3.0).hooks
        ()
        """
        more = getattr(self, "_more", None)
        return () if more is None else tuple(more.hooks)

    @property
    def made_at(self) -> Place | None:
        """The user's source line that made this node, if it was written down, as under `anomaly()`.

        >>> import gradwalk
        >>> with gradwalk.anomaly():
        ...     y = gradwalk.Value(2.0).exp()
        >>> y.made_at.line
        2
        """
        more = getattr(self, "_more", None)
        return None if more is None else more.made_by

    @made_at.setter
    def made_at(self, place: Place | None) -> None:
        self._extras().made_by = place

    def _constant_exponent(self) -> float | None:
        """2 for `v ** 2`: such an exponent is part of the op, not an operand (so is it in micrograd)."""
        if self._kind is not ops.pow or self.slopes[1] is not None:
            return None
        exponent = self.inputs[1]
        return exponent.data if isinstance(exponent, Node) else exponent

    def _extras(self) -> More:
        if not hasattr(self, "_more"):
            self._more = More()
        return self._more

    def _become_unusual(self, inputs: tuple[Any, ...] | None = None, slopes: tuple[float | None, ...] = ()) -> None:
        """Lay the operands out as a tuple, which sends `backward()` down its careful road."""
        if inputs is None:
            inputs, slopes = self.inputs, self.slopes
        self._extras().slopes = slopes
        self._a = tuple(map(self._as_node, inputs))
        self._b = self._da = self._db = None

    def register_hook(self, hook: Callable[[Any], Any]) -> Hook:
        """Call `hook(gradient)` when this node's gradient is complete; what it returns, if anything, replaces it.

        >>> from gradwalk import Value
        >>> x = Value(3.0)
        >>> handle = x.register_hook(lambda gradient: gradient / 2)
        >>> (x * x).backward()
        >>> x.grad
        3.0
        >>> handle.remove()
        """
        if not callable(hook):
            raise GraphError(f"a hook is a function of the gradient, not {type(hook).__name__}: {hook!r}")
        self._become_unusual()
        return Hook(self._extras().hooks, hook)


class More:
    """What only few nodes have."""

    __slots__ = ("closure", "hooks", "label", "made_by", "slopes")

    def __init__(self) -> None:
        self.label = ""
        self.closure: Callable[[], None] | None = None  # a `_backward` of the user's own
        self.hooks: list[Hook] = []
        self.slopes: tuple[float | None, ...] = ()  # of an unusual node: more than two operands, a closure, hooks
        self.made_by: Place | None = None  # the user's source line, noted under anomaly()


class Hook:
    """What `register_hook` gives back; `remove()` unhooks it.

    >>> from gradwalk import Value
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

        >>> from gradwalk import Value
        >>> hook = Value(1.0).register_hook(print)
        >>> hook.remove()
        >>> hook.remove()
        """
        if self in self._hooks:
            self._hooks.remove(self)


def checked_children(children: Any) -> tuple[Any, ...]:
    if isinstance(children, Node) or not hasattr(children, "__iter__"):
        raise GraphError(f"the children of a Value come in a tuple, as in Value(data, (a, b)), not {children!r}")
    found = tuple(children)
    for child in found:
        if not isinstance(child, Node):
            raise GraphError(
                f"the children of a Value are Values, not {type(child).__name__}: {child!r}; "
                f"wrap it as Value({child!r})"
            )
    return found


# --- leaves that compiled code holds -------------------------------------------------------------------------------


homes: WeakValueDictionary[int, Any] = WeakValueDictionary()  # leaves that were compiled in, by id(), and their holder
holding = 0  # how many holders have their leaves now; while there are none, nobody need look for one
epoch = 0  # counts how often a model that compiled code holds was found to have other parameters than before
changes: list[tuple[int, list[Any], list[Any]]] = []  # the latest of these: when, the parameters before, and after


def note_change(before: list[Any], after: list[Any]) -> None:
    """A model has other parameters than before: whoever compiled it in will want to know."""
    global epoch
    epoch += 1
    changes.append((epoch, before, after))
    del changes[:-8]


def owner_of(leaves: Any) -> Any:
    """What holds one of a list of leaves, or more, instead of their own fields; see `Node._owner`."""
    if not holding or not isinstance(leaves, list) or not leaves:
        return None
    first = leaves[0]
    if isinstance(first, Node):
        owner = first._owner
        if owner is not None:
            return owner
    return next((v._owner for v in leaves if isinstance(v, Node) and v._owner is not None), None)


def clear(leaves: list[Any]) -> None:
    """Set the gradients of leaves back to 0, without taking them from compiled code if it has them."""
    owner = owner_of(leaves)
    if owner is None or not owner.zero_grad(leaves):
        for v in leaves:
            v.grad = 0.0
