"""What a compiled function gives: a Value whose graph is native memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from gradwalk import modes
from gradwalk.compile.trace.limits import limit
from gradwalk.engine import Value, zero_grad
from gradwalk.errors import SettingError, TraceError
from gradwalk.keepers import clear
from gradwalk.node import Recipe
from gradwalk.ops import number

if TYPE_CHECKING:
    from gradwalk.compile.call.arguments import Numbers
    from gradwalk.compile.call.bound import Bound
    from gradwalk.compile.own.store import Version

__all__ = ["Call", "Result"]


class Call:
    """One call of a compiled function: what is needed to walk back from its results, also after other calls.

    >>> loss = gradwalk.compile(lambda x: x * x)(3.0)
    >>> loss._call.numbers.plain
    [3.0]
    """

    __slots__ = ("bound", "input_grads", "numbers", "saved", "version", "walked")

    bound: Bound
    numbers: Numbers
    version: Version  # of the parameters
    walked: bool  # back, and no other result of the call is left for that
    saved: Any  # what stood in the arrays among the arguments, once another call has overwritten it; or None
    input_grads: Any  # of the latest backward(), where arguments get gradients; or None


class Result(Value):
    """A number that a compiled function gave. It behaves like any Value; only the nodes before it are not kept.

    >>> w = gradwalk.Value(2.0)
    >>> loss = gradwalk.compile(lambda x: (w * x) ** 2)(3.0)
    >>> loss.backward()
    >>> loss.data, w.grad
    (36.0, 36.0)
    """

    __slots__ = ("__weakref__", "_call", "_position")
    _call: Any  # a Call, or that of a batch
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
            raise TraceError(
                "a compiled function has no graph to differentiate again; call fn.eager(...), which builds the ordinary"
                " one, and backward(create_graph=True) on what it gives"
            )
        if self._call.numbers.values:  # Values among the arguments, with graphs of their own behind them perhaps
            super().backward(gradient)
        else:
            modes.top().backward(self, partial(self._walk_back, gradient))

    def _walk_back(self, seed: float) -> None:
        if self._call.numbers.values:
            super()._walk_back(seed)
        else:
            self._call.bound.backward(self._call, self._position, seed)
            self._grad = seed

    def zero_grad(self) -> None:
        """Set gradients back to 0: of the parameters, and of all that Values among the arguments depend on.

        >>> w = gradwalk.Value(2.0)
        >>> loss = gradwalk.compile(lambda x: w * x)(3.0)
        >>> loss.backward()
        >>> gradwalk.zero_grad(loss)
        >>> w.grad, loss.grad
        (0.0, 0.0)
        """
        self._grad = 0.0
        clear(self._call.bound.recorded.parameters)
        for _, v in self._call.numbers.values:
            zero_grad(v)

    @property
    def argument_grads(self) -> dict[str, Any]:
        """After `backward()`: the gradient of each argument that `compile(fn, wrt=...)` named, in its structure.

        >>> loss = gradwalk.compile(lambda x: x[0] * x[1], wrt="x")([3.0, 4.0])
        >>> loss.backward()
        >>> loss.argument_grads
        {'x': [4.0, 3.0]}
        """
        call = self._call
        if not call.bound.wrt:
            raise SettingError("gradients of arguments are kept on request: write compile(fn, wrt=('name',))")
        if call.input_grads is None:
            raise SettingError("there are no gradients yet; call backward() first")
        grads: dict[str, Any] = call.bound.argument_grads(call)
        return grads

    # --- as a node of an ordinary graph ------------------------------------------------------------------------------
    # Most results never meet another Value: the fields of a node are filled in when one is first looked at.

    def __getattr__(self, name: str) -> Any:
        if name not in ("_a", "_b", "_da", "_db", "_kind"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._a = self._b = self._da = self._db = None
        inputs = tuple(v for _, v in self._call.numbers.values)
        self._kind = Recipe(None, inputs, (None,) * len(inputs), "compiled")
        self._kind.closure = partial(_push, self)
        return getattr(self, name)

    @property
    def operands(self) -> NoReturn:
        """Refused: the nodes in between are not kept.

        >>> gradwalk.compile(lambda x: x * x)(3.0).operands  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        gradwalk.errors.TraceError: nodes in between are not kept: ...
        """
        raise limit("structure")

    _prev = operands  # type: ignore[override]
    local_derivatives = operands

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise limit("structure")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise limit("structure")


def _push(result: Result) -> None:
    """What `_backward()` of a result does: walk back natively, and pass on what arrives at Values among arguments."""
    call = result._call
    call.bound.backward(call, result._position, number(result._grad))
    for position, v in call.numbers.values:
        v._grad += float(call.input_grads[position])
