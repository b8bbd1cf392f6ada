"""Tensors that a compiled function gives: their graph is native memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradwalk import modes
from gradwalk.compile.call.results import (
    KEPT,
    NO_GRAPH,
    LeftToWalk,
    OfCall,
    behind,
    call_no_hooks_between,
    nodes_given,
    note_result,
    pass_on,
)
from gradwalk.compile.trace.limits import frozen, limit
from gradwalk.compile.trace.recorded import TensorOutput
from gradwalk.errors import TraceError
from gradwalk.node import Recipe, are_plain_leaves
from gradwalk.tensor.core import Tensor, constant

__all__ = ["TensorResult", "known_tensor", "lone", "tensor_of", "whole_tensor"]


class TensorResult(OfCall, Tensor):  # type: ignore[misc, override]
    """A tensor that a compiled function gave. It behaves like any other; only the nodes before it are not kept.

    >>> w = gradwalk.Tensor([2.0, 3.0])
    >>> loss = gradwalk.compile(lambda x: ((w * x) ** 2).sum())(3.0)
    >>> loss.backward()
    >>> loss.item(), w.grad
    (117.0, Tensor([36.0, 54.0]))
    >>> loss.zero_grad()
    >>> handle = loss.register_hook(lambda gradient: 10 * gradient)
    >>> loss.backward()
    >>> w.grad
    Tensor([360.0, 540.0])
    """

    __slots__ = ("__weakref__", "_call", "_number", "_position")
    _call: Any
    _number: float  # of one without dims, which becomes an array when somebody looks
    _position: Any  # which outputs its numbers are

    def backward(self, gradient: Any = None, *, create_graph: bool = False, retain_graph: Any = None) -> None:
        """Fill the gradients of parameters, and of tensors and Values among the arguments; they add to what is there.

        >>> w = gradwalk.Tensor([2.0])
        >>> out = gradwalk.compile(lambda x: w * x)(3.0)
        >>> out.backward()
        >>> out.backward()
        >>> w.grad
        Tensor([6.0])
        """
        if create_graph:
            raise TraceError(NO_GRAPH)
        if gradient is None and not modes.layers and self._position.__class__ is int:
            call = self._call
            if not call.hooked and not call.trace.passes_on:  # a loss, as most are
                try:
                    call.trace.backward(call, self._position, 1.0)
                    self._grad = 1.0
                    if call.walked_from:
                        note_result(self)
                    return
                except LeftToWalk:
                    pass
        super().backward(gradient)

    def _walk_back(self, seed: Any) -> None:
        call = self._call
        given = nodes_given(call)
        if call.hooked or modes.layers or not are_plain_leaves(given) or any(map(_has_node, given)):
            super()._walk_back(seed)  # there is a graph behind, or somebody who wants to see every push
            return
        try:
            call.trace.backward(call, *call.trace.seeds_for(self._position, seed))
        except LeftToWalk:
            super()._walk_back(seed)
            return
        self._grad = seed
        if call.walked_from:
            note_result(self)
        if given:
            pass_on(call)

    # Most results never meet another node: what a node needs is filled in when it is first looked at.

    def __getattr__(self, name: str) -> Any:
        if name == "_inputs":
            return behind(self._call, self._position)
        if name == "_kind":
            recipe = self._kind = Recipe(text="compiled")
            recipe.closure = partial(_push, self)
            return recipe
        if name in ("_mark", "_lent", "_asked"):
            return None
        if name == "_data":
            self._data = np.array(self._number)
            return self._data
        if name == "_changed":
            return 0
        return object.__getattribute__(self, name)

    def item(self) -> Any:
        """The one number it holds, as a plain Python number.

        >>> gradwalk.compile(lambda x: (gradwalk.Tensor([1.0, 2.0]) * x).sum())(3.0).item()
        9.0
        """
        if modes.active:
            return super().item()
        try:
            return self._number
        except AttributeError:
            return super().item()

    @property
    def requires_grad(self) -> bool:
        """True: gradient flows here."""
        return True

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not wanted:
            raise limit("structure")

    _op = property(lambda self: "compiled")


class LeafResult(Tensor):
    """A leaf that the function made, computed with and gave: a walk back from another result does not come to it.

    >>> f = gradwalk.compile(lambda x: [t := gradwalk.Tensor([x, 2.0]), (t * t).sum()])
    >>> t, loss = f(3.0)
    >>> t.is_leaf, t.grad
    (True, Tensor([0.0, 0.0]))
    """

    __slots__ = ("_call",)
    _copied_fields = Tensor._copied_fields.union(__slots__)  # which a copy goes without
    _call: Any

    @property
    def grad(self) -> Any:
        """The gradient, as of any leaf; after a walk back from another result of the call, one may be missing."""
        if self._call.walked_from:
            frozen("a gradient may have come to this tensor from another result of its call; it is not in .grad", KEPT)
        return super().grad

    @grad.setter
    def grad(self, grad: Any) -> None:
        Tensor.grad.fset(self, grad)  # type: ignore[attr-defined]


_blank: Any = object.__new__


def _has_node(v: Any) -> bool:
    """Whether its gradient is a node; a Value whose numbers are in a buffer has none of its own."""
    return hasattr(getattr(v, "_grad", None), "backward")


def _push(result: TensorResult) -> None:
    """Walk back natively, and pass on what arrives at nodes among the arguments."""
    call, gradient = result._call, getattr(result._grad, "array", result._grad)
    call_no_hooks_between(result)
    call.trace.backward(call, *call.trace.seeds_for(result._position, gradient), in_walk=True)
    note_result(result)
    pass_on(call)


def lone(call: Any, number: float) -> TensorResult:
    """A tensor of no dims, which is all that the function gives."""
    out: TensorResult = _blank(TensorResult)
    out._number = number
    out._grad = 0.0
    out._flows = True
    out._call = call
    out._position = 0
    return out


def tensor_of(output: TensorOutput, positions: Any, numbers: Any, call: Any) -> Tensor:
    """A tensor of some of the numbers that the function gave."""
    if numbers.ndim > 1:  # of all samples, which stand in columns
        numbers, shape = numbers.T, (numbers.shape[-1], *output.shape)
    else:
        shape = output.shape
    data = numbers.reshape(shape).astype(output.dtype)
    if not output.flows or output.leaf or call is None:
        return _leaf(output, data, call)
    result: TensorResult = object.__new__(TensorResult)
    result._data = data
    result._grad = 0.0
    result._flows = True
    result._call = call
    result._position = positions
    return result


def whole_tensor(output: TensorOutput, array: Any, call: Any) -> Tensor:
    """A tensor around an array that nobody else has; without a call a leaf, and where the function gives one."""
    out: Any = _leaf(output, array, call)
    if call is not None and output.flows and not output.leaf:
        out = _blank(TensorResult)
        out._data, out._grad, out._flows, out._call = array, 0.0, True, call
        if output.shape:
            out._position = (output.position,)
        else:
            out._position, out._number = output.position, array.item()
    return out  # type: ignore[no-any-return]


def known_tensor(output: TensorOutput, call: Any = None) -> Tensor:
    """A tensor that is the same at each call, and that the function makes anew."""
    return _leaf(output, np.frombuffer(output.known or b"", output.dtype).reshape(output.shape).copy(), call)


def _leaf(output: TensorOutput, data: Any, call: Any) -> Tensor:
    out = constant(data)
    out._flows = output.flows
    if not output.used or call is None:
        return out
    leaf: LeafResult = _blank(LeafResult)
    for name in ("_data", "_grad", "_kind", "_mark", "_lent", "_asked", "_changed", "_inputs", "_flows"):
        setattr(leaf, name, getattr(out, name))
    leaf._call = call
    return leaf
