"""The class that a parameter has while native code owns it."""

from __future__ import annotations

from functools import cache
from typing import Any

from gradwalk import modes
from gradwalk.compile.trace.limits import frozen
from gradwalk.engine import Value
from gradwalk.node import Node

__all__ = ["owned"]

#: The fields themselves, past any property that hides them.
_DATA, _GRAD, _HOME = (vars(Node)[name] for name in ("data", "grad", "_b"))
get_data, get_grad, get_home = _DATA.__get__, _GRAD.__get__, _HOME.__get__
set_data, set_grad, set_home = _DATA.__set__, _GRAD.__set__, _HOME.__set__


@cache
def owned(kind: type[Value]) -> type[Value]:
    """The twin of a class of Values: the same layout, and every touch hands the parameters back first.

    >>> import gradwalk
    >>> from gradwalk.compile.own.owned import owned
    >>> w = gradwalk.Value(2.0)
    >>> gradwalk.compile(lambda x: w * x)(3.0).backward()
    >>> type(w) is owned(gradwalk.Value), w.grad, type(w) is gradwalk.Value
    (True, 3.0, True)
    """

    def touched(self: Any, touch: Any, *arguments: Any) -> Any:
        """What `touch` gives, once the parameter is Python's again; nobody takes it meanwhile."""
        if modes.active and modes.tracer() is not None:
            frozen(
                "the number or gradient of a parameter was touched while the function was traced: that happens once",
                "compute with the Value itself, or do this outside the compiled function",
            )
        store = get_home(self)
        if store is None:
            return touch(self, *arguments)
        with store.lock:
            store.hand_back()
            return touch(self, *arguments)

    class Owned(kind):  # type: ignore[valid-type,misc]
        __slots__ = ()

        @property
        def data(self) -> Any:
            return touched(self, get_data)

        @data.setter
        def data(self, data: Any) -> None:
            touched(self, set_data, data)

        @property
        def grad(self) -> Any:
            return touched(self, get_grad)

        @grad.setter
        def grad(self, grad: Any) -> None:
            touched(self, set_grad, grad)

        @property
        def _owner(self) -> Any:
            return get_home(self)

        @property
        def _prev(self) -> Any:
            return touched(self, Node._prev.fget)  # type: ignore[attr-defined]

        @_prev.setter
        def _prev(self, children: Any) -> None:
            touched(self, Node._prev.fset, children)  # type: ignore[attr-defined]

        def _become_unusual(self, *arguments: Any) -> None:  # hooks, closures
            touched(self, kind._become_unusual, *arguments)

        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            return touched(self, kind.__deepcopy__, memo)

        def __reduce_ex__(self, protocol: Any) -> Any:
            return touched(self, kind.__reduce_ex__, protocol)

    Owned.__name__, Owned.__qualname__, Owned.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return Owned
