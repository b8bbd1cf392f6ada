"""Someone's engine behind one face: how to make a node, apply an op, read data and gradient, walk back.

Nothing is asked of the engine: its class, its attributes and its ops are found by looking. An op may be an operator, a
method or a function; data may be called `data` or `value`; the constructor may want more than a number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from gradwalk.diagnose.discovery import (
    PROBE,
    NotAnEngine,
    attributes,
    find_backward,
    find_class,
    find_constructor,
    find_data,
    find_grad,
)
from gradwalk.diagnose.vocabulary import BINARY, ON_NUMBERS, OPERANDS, REFLECTED, UNARY_OPERATORS, names_of

__all__ = ["Engine", "MissingOp", "NotAnEngine", "find_class"]


class MissingOp(Exception):  # noqa: N818 - not an error: the op is not implemented yet
    """The engine does not have this op; the message is its name.

    >>> class Value:
    ...     def __init__(self, data):
    ...         self.data, self.grad = data, 0.0
    ...     def backward(self): ...
    >>> engine = Engine(Value)
    >>> engine.op("tanh", engine.leaf(1.0))
    Traceback (most recent call last):
    ...
    gradwalk.diagnose.adapter.MissingOp: tanh
    """


class Engine:
    """An engine that programs can be run on.

    >>> engine = Engine(Value)
    >>> a = engine.leaf(3.0)
    >>> engine.backward(engine.op("mul", a, a))
    >>> engine.data_name, engine.grad_name, engine.grad(a)
    ('data', 'grad', 6.0)
    """

    def __init__(self, cls: type[Any], namespace: Mapping[str, Any] | None = None) -> None:
        self.cls = cls
        self.namespace: Mapping[str, Any] = namespace or {}
        self.wraps_numbers = False  # set once a plain number was refused: then constants are made into leaves
        self._make = find_constructor(cls)
        probe = self._make(PROBE)
        self.data_name = find_data(probe)
        self.grad_name = find_grad(probe, self.data_name)
        self.backward_name, self._backward = find_backward(cls, self.namespace)
        self._ops: dict[str, Callable[..., Any]] = {}
        self.names: dict[str, str] = {}  # what this engine calls each op that was found
        self.files = {f.__code__.co_filename for f in vars(cls).values() if isinstance(f, FunctionType)}

    # --- what programs use

    def leaf(self, x: float) -> Any:
        """A node that holds a number.

        >>> Engine(Value).leaf(2.0).data
        2.0
        """
        return self._make(x)

    def data(self, node: Any) -> float:
        """The number that a node holds.

        >>> Engine(Value).data(Value(2.0))
        2.0
        """
        self._must_be_node(node)
        return self._number(getattr(node, self.data_name))

    def grad(self, node: Any) -> float:
        """The gradient that a node holds; 0 where there is none yet.

        >>> Engine(Value).grad(Value(2.0))
        0.0
        """
        self._must_be_node(node)
        held = getattr(node, self.grad_name, None)
        return 0.0 if held is None else self._number(held)

    def set_data(self, node: Any, x: float) -> None:
        """Change the number that a node holds.

        >>> a = Value(2.0)
        >>> Engine(Value).set_data(a, 5.0)
        >>> a.data
        5.0
        """
        setattr(node, self.data_name, _like(getattr(node, self.data_name), x))

    def set_grad(self, node: Any, x: float) -> None:
        """Change the gradient that a node holds.

        >>> a = Value(2.0)
        >>> Engine(Value).set_grad(a, 7.0)
        >>> a.grad
        7.0
        """
        setattr(node, self.grad_name, _like(getattr(node, self.grad_name, None), x))

    def backward(self, root: Any) -> None:
        """Walk back from a node.

        >>> a = Value(2.0)
        >>> Engine(Value).backward(a * 3)
        >>> a.grad
        3.0
        """
        self._must_be_node(root)
        self._backward(root)

    def op(self, name: str, *operands: Any, strict: bool = False) -> Any:
        """Apply an op; plain numbers go in as they are, unless the engine refuses them and `strict` is off.

        >>> engine = Engine(Value)
        >>> engine.op("sub", 2, engine.leaf(3.0)).data
        -1.0
        """
        plain = 0  # counted in a loop, here and below: a generator would take a learner's steps for every operand
        for x in operands:
            if not isinstance(x, self.cls):
                plain += 1
        if plain == len(operands):
            numbers = [x for x in operands if isinstance(x, (int, float))]
            if len(numbers) == len(operands):
                return ON_NUMBERS[name](*numbers)
            for x in operands:
                if not isinstance(x, (int, float)):
                    self._must_be_node(x)
        apply = self._ops.get(name) or self.find(name)
        if strict and name in BINARY and not hasattr(self.cls, BINARY[name][0]):
            raise MissingOp(BINARY[name][0])  # functions, not operators: they need not take numbers
        if strict or not plain or name == "pow":  # an exponent is a plain number, not a constant of the graph
            return apply(*operands)
        if not self.wraps_numbers:
            try:
                return apply(*operands)
            except (TypeError, AttributeError, MissingOp):
                wrapped = apply(*map(self._wrapped, operands))
                self.wraps_numbers = True
                return wrapped
        return apply(*map(self._wrapped, operands))

    def shared(self, fresh: Any, other: Any) -> float:
        """1.0 if a node that was just made has operands, or holds the same container for them as another; else 0.0.

        >>> Engine(Value).shared(Value(1.0), Value(2.0))
        0.0
        """
        for name in attributes(fresh):
            held = getattr(fresh, name)
            if not any(part in name.lower() for part in OPERANDS):
                continue  # a tape, say, may well be shared
            if isinstance(held, (list, dict, set)) and (held or held is getattr(other, name, None)):
                return 1.0
        return 0.0

    def find(self, name: str) -> Callable[..., Any]:
        """How this engine does an op; MissingOp if it does not.

        >>> Engine(Value).find("add")(Value(1.0), 2).data
        3.0
        """
        apply = self._ops.get(name)
        if apply is None:
            apply = self._ops[name] = self._find_op(name)
        return apply

    def hides_backward(self) -> bool:
        """Whether the result of an op carries an attribute of the name of the method that starts the walk.

        >>> Engine(Value).hides_backward()
        False
        """
        return self.backward_name in getattr(self._make(1.0), "__dict__", {})

    def called(self, op: str) -> str:
        """What this engine calls an op: `__mul__`, `relu`, `ReLU`.

        >>> Engine(Value).called("mul"), Engine(Value).called("rsub")
        ('__mul__', '__rsub__')
        """
        if op[:1] == "r" and op[1:] in REFLECTED:
            return REFLECTED[op[1:]]
        if op not in self.names:
            try:
                self.find(op)
            except MissingOp:
                return op
        return self.names.get(op, op)

    # --- looking

    def _wrapped(self, x: Any) -> Any:
        return x if isinstance(x, self.cls) else self._make(x)

    def _must_be_node(self, node: Any) -> None:
        if not hasattr(node, self.data_name):
            kind = "nothing (is a `return` missing?)" if node is None else f"{type(node).__name__} {node!r:.60}"
            raise TypeError(f"the result is {kind}, not a {self.cls.__name__}")

    def _number(self, x: Any) -> float:
        while isinstance(x, self.cls):  # a gradient may be a node itself
            x = getattr(x, self.data_name)
        if hasattr(x, "item"):  # an array of one number
            x = x.item()
        if isinstance(x, complex):
            raise TypeError(f"{x} is a complex number, not a real one")
        return float(x)

    def _find_op(self, name: str) -> Callable[..., Any]:
        if name in BINARY:
            return self._binary(name)
        if name in UNARY_OPERATORS:
            method, spelt = UNARY_OPERATORS[name]
            if hasattr(self.cls, method):
                self.names[name] = method
                return spelt
        for alias in names_of(name):
            found = getattr(self.cls, alias, None)
            if callable(found):
                self.names[name] = alias
                if isinstance(inspect.getattr_static(self.cls, alias), staticmethod):
                    return lambda *operands, found=found: found(*operands)
                return lambda node, *rest, alias=alias: getattr(node, alias)(*rest)
            found = self.namespace.get(alias)
            if isinstance(found, FunctionType):
                self.names[name] = alias
                return found
        raise MissingOp(name)

    def _binary(self, name: str) -> Callable[..., Any]:
        method, spelt = BINARY[name]
        reflected = REFLECTED[name]
        if hasattr(self.cls, method):
            self.names[name] = method

            def apply(x: Any, y: Any) -> Any:
                if not isinstance(x, self.cls) and not hasattr(self.cls, reflected):
                    raise MissingOp(reflected)
                return spelt(x, y)

            return apply
        for alias in names_of(name):
            found = self.namespace.get(alias) or getattr(self.cls, alias, None)
            if isinstance(found, FunctionType):
                self.names[name] = alias
                return found
        raise MissingOp(name)


def _like(held: Any, x: float) -> Any:
    """A number in the shape of what it replaces: engines for arrays keep an array of one."""
    return held * 0.0 + x if hasattr(held, "shape") else x
