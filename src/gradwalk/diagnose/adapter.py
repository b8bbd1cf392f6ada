"""Someone's engine behind one face: how to make a node, apply an op, read data and gradient, walk back.

Nothing is asked of the engine: its class, its attributes and its ops are found by looking. An op may be an operator, a
method or a function; data may be called `data` or `value`; the constructor may want more than a number.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from types import FunctionType
from typing import Any

from gradwalk.diagnose.budget import OutOfSteps, lines_limited
from gradwalk.diagnose.discovery import (
    PROBE,
    NotAnEngine,
    attributes,
    defines,
    find_backward,
    find_by_trying,
    find_class,
    find_constructor,
    find_data,
    find_grad,
    find_grad_by_walking,
    held,
    is_unwritten,
    named_backward,
    needed_arguments,
)
from gradwalk.diagnose.pushing import Push, find_push, recorded, walk_by_hand
from gradwalk.diagnose.stand_ins import NotHere, has_stand_ins
from gradwalk.diagnose.vocabulary import (
    BACKWARD,
    BINARY,
    ON_NUMBERS,
    OPERANDS,
    REFLECTED,
    SETTINGS,
    UNARY_OPERATORS,
    names_of,
)
from gradwalk.messages import Message, reason_of, say
from gradwalk.ops import TABLE

__all__ = ["Engine", "MissingOp", "NoNode", "NotAnEngine", "find_class"]


#: What is said of a walk that needs a module which is missing.
NO_RUN = say("backward() cannot run here")


#: What a method may use, beside its class and what a node has, to be called for a look at what it gives.
_HARMLESS = {"math", "np", "numpy", *dir(math), "abs", "float", "int", "isinstance", "max", "min", "pow", "sum"}


def _no_function(cls: str, name: str) -> Message:
    return say("{cls} has no {name}(), and there is no function of that name", cls=cls, name=name)


class MissingOp(Exception):  # noqa: N818 - not an error: the op is not implemented yet
    """The engine does not have this op; the message is its name.

    >>> class Value:
    ...     def __init__(self, data):
    ...         self.data, self.grad = data, 0.0
    ...     def backward(self): self.grad = 1.0
    >>> engine = Engine(Value)
    >>> engine.op("tanh", engine.leaf(1.0))
    Traceback (most recent call last):
    ...
    gradwalk.diagnose.adapter.MissingOp: tanh
    """


class NoNode(TypeError):  # noqa: N818 - a finding, as `MissingOp` is
    """What should be a node is none.

    >>> Engine(Value).data(2.0)
    Traceback (most recent call last):
    ...
    gradwalk.diagnose.adapter.NoNode: the result is float 2.0, not a Value
    """


class Engine:
    """An engine that programs can be run on.

    `names` says what it calls its `data`, `grad` and `backward`, where that cannot be seen.

    >>> engine = Engine(Value)
    >>> a = engine.leaf(3.0)
    >>> engine.backward(engine.op("mul", a, a))
    >>> engine.data_name, engine.grad_name, engine.grad(a)
    ('data', 'grad', 6.0)
    """

    def __init__(
        self, cls: type[Any], namespace: Mapping[str, Any] | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        self.cls = cls
        self.kind = cls  # what every node is: the class itself, or a base that it shares with results of ops
        self.namespace: Mapping[str, Any] = namespace or {}
        self.called_names = dict(names or {})
        self._make = find_constructor(cls)
        self.data_name = self.called_names.get("data") or find_data(self._make)
        self.grad_name = self.called_names.get("grad") or find_grad(self._make(PROBE), self.data_name)
        self._ops: dict[str, Callable[..., Any]] = {}
        self.names: dict[str, str] = {}  # what this engine calls each op that was found
        self.refusing: set[str] = set()  # ops that refused a plain number: then constants are made into leaves
        self._taken: set[tuple[Any, ...]] = set()  # ops, and the types of operands that they have taken
        self.walking = False  # whether the program that runs has begun to walk back
        self.gives_back = False  # whether a walk gives gradients back instead of leaving them on the nodes
        self._returned: Any = None  # what the last walk gave back: some engines give a dict of gradients
        self.nodes: list[Any] | None = None  # made since a program began, where that is recorded
        functions = [f for base in cls.__mro__ for f in vars(base).values() if isinstance(f, FunctionType)]
        self.files = {f.__code__.co_filename for f in functions if f.__module__ == cls.__module__} or {
            f.__code__.co_filename for f in functions
        }
        self.backward_name, self._backward = self._find_walk()
        self.lacking = self._lacks_in_walk()  # what keeps the engine's own walk from running here
        if self.lacking:
            self.backward_name, self._backward = "", None
        self.walks_by_hand = self._backward is None
        if self._backward is None and self.push is None:
            raise NotAnEngine(self._no_walk())

    @cached_property
    def push(self) -> Push | None:
        """How a node pushes, if it can be asked to.

        >>> Engine(teaching.load()).push.name
        '_backward'
        """
        return find_push(self)

    def _find_walk(self) -> tuple[str, Callable[[Any], Any] | None]:
        node = self._make(PROBE)
        wanted = self.called_names.get("backward")
        if wanted:
            start = named_backward(wanted, self.cls, self.namespace, node)
            if start is None:
                raise NotAnEngine(_no_function(self.cls.__name__, wanted))
            return wanted, start
        found = find_backward(self.cls, self.namespace, node)
        if found is None:
            tried = find_by_trying(self.cls, self.namespace, self._make, self.files)
            if tried is None:
                return "", None
            if "grad" not in self.called_names:
                self.grad_name = tried[2]
            return tried[:2]
        if "grad" not in self.called_names and held(node, self.grad_name, self) is self:
            self.grad_name = find_grad_by_walking(self._make, found[1], self.grad_name, self.files)
        return found

    def _no_walk(self) -> Message:
        """Why the engine cannot be walked back, in words."""
        name = self.cls.__name__
        if self.lacking:
            return say("{no_run}: {lacking}", no_run=NO_RUN, lacking=self.lacking)
        unwritten = [each for each in BACKWARD if is_unwritten(getattr(self.cls, each, None))]
        if unwritten:
            return say(
                "the {method}() of {name} does nothing yet, and its nodes keep nothing that pushes",
                method=unwritten[0],
                name=name,
            )
        return _no_function(name, "backward")

    def _lacks_in_walk(self) -> Message:
        """What the walk needs of a module that is missing, in words; nothing if it needs none."""
        if self._backward is None or not has_stand_ins(self.namespace):
            return say("")
        for combine in (operator.mul, operator.add):
            try:
                with lines_limited(self.files):
                    self._backward(combine(self._make(2.0), self._make(3.0)))
            except NotHere as missing:
                return reason_of(missing)
            except (Exception, SystemExit, OutOfSteps):  # that is for the checks to see
                continue
        return say("")

    # --- the same engine, walked back by hand

    def by_hand(self) -> Engine | None:
        """The same engine with a walk of ours: each node is asked to push, newest first; None if a node has no push.

        >>> by_hand = Engine(Value).by_hand()
        >>> by_hand is None or by_hand.walks_by_hand
        True
        """
        if self.push is None:
            return None
        twin = copy(self)
        twin.walks_by_hand = True
        return twin

    @contextmanager
    def running(self) -> Iterator[None]:
        """While a program runs: where the walk is ours, the nodes that are made are written down.

        >>> with Engine(Value).running():
        ...     pass
        """
        self._returned, self.walking = None, False
        if not self.walks_by_hand:
            yield
            return
        with recorded(self.kind) as self.nodes:
            yield
        self.nodes = None

    # --- what programs use

    def leaf(self, x: float) -> Any:
        """A node that holds a number.

        >>> Engine(Value).leaf(2.0).data
        2.0
        """
        return self._make(x)

    def litter(self, number: int) -> list[Any]:
        """Things in the places where nodes would have come to lie: in a set, nodes are ordered by where they lie.

        >>> len(Engine(Value).litter(3))
        3
        """
        if getattr(self.cls, "__new__", None) is not object.__new__ or hasattr(self.cls, "__del__"):
            return []  # nothing is known of what such a thing does when it is half made
        return [object.__new__(self.cls) for _ in range(number)]

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
        if isinstance(self._returned, Mapping):
            return self._number(self._returned.get(node, self._returned.get(id(node), 0.0)))
        kept = held(node, self.grad_name)
        if callable(kept) and not isinstance(kept, self.kind):
            kept = kept()
        return 0.0 if kept is None else self._number(kept)

    def set_data(self, node: Any, x: float) -> None:
        """Change the number that a node holds.

        >>> a = Value(2.0)
        >>> Engine(Value).set_data(a, 5.0)
        >>> a.data
        5.0
        """
        try:
            setattr(node, self.data_name, _like(getattr(node, self.data_name), x))
        except (AttributeError, TypeError):  # a node that does not change
            raise MissingOp("setting data") from None

    def set_grad(self, node: Any, x: float) -> None:
        """Change the gradient that a node holds.

        >>> a = Value(2.0)
        >>> Engine(Value).set_grad(a, 7.0)
        >>> a.grad
        7.0
        """
        kept = held(node, self.grad_name)
        x = _like(kept, x)
        try:
            setattr(node, self.grad_name, self._make(x) if isinstance(kept, self.kind) else x)
        except (AttributeError, TypeError):
            raise MissingOp("setting a gradient") from None

    def backward(self, root: Any) -> None:
        """Walk back from a node.

        >>> a = Value(2.0)
        >>> Engine(Value).backward(a * 3)
        >>> a.grad
        3.0
        """
        self._must_be_node(root)
        self.walking = True
        if self.walks_by_hand or self._backward is None:
            assert self.push is not None
            walk_by_hand(self, root)
        else:
            self._returned = self._backward(root)
            if not (isinstance(self._returned, Mapping) and _has_nodes(self._returned, self.kind, root)):
                self._returned = None
            self.gives_back = self.gives_back or self._returned is not None

    def op(self, name: str, *operands: Any, strict: bool = False) -> Any:
        """Apply an op; plain numbers go in as they are, unless the engine refuses them and `strict` is off.

        >>> engine = Engine(Value)
        >>> engine.op("sub", 2, engine.leaf(3.0)).data
        -1.0
        """
        made = self._applied(name, operands, strict)
        if not isinstance(made, self.kind):
            own = (base for base in self.cls.__mro__ if base.__module__ == self.cls.__module__)
            self.kind = next((base for base in own if isinstance(made, base)), self.kind)
        return made

    def _applied(self, name: str, operands: tuple[Any, ...], strict: bool) -> Any:
        plain = 0  # counted in a loop, here and below: a generator would take a learner's steps for every operand
        for x in operands:
            if not isinstance(x, self.kind):
                plain += 1
        if plain == len(operands):
            numbers = [x for x in operands if isinstance(x, (int, float))]
            if len(numbers) == len(operands):
                return ON_NUMBERS[name](*numbers)
            for x in operands:
                if not isinstance(x, (int, float)):
                    self._must_be_node(x)
        apply = self._ops.get(name) or self.find(name)
        if strict and name in BINARY and not defines(self.cls, BINARY[name][0]):
            raise MissingOp(BINARY[name][0])  # functions, not operators: they need not take numbers
        if strict or not plain:
            return apply(*operands)
        if name not in self.refusing:
            kinds = (name, *map(type, operands))
            try:
                made = apply(*operands)
                self._taken.add(kinds)
                return made
            except ArithmeticError:
                raise
            except Exception as refusal:
                if kinds in self._taken:  # it is this number that is refused, and not numbers
                    raise
                try:
                    wrapped = apply(*map(self._wrapped, operands))
                except Exception:
                    raise refusal from None
                self.refusing.add(name)
                return wrapped
        return apply(*map(self._wrapped, operands))

    def in_place(self, name: str, x: Any, y: Any) -> Any:
        """What `x += y` makes of x, or another operator with `=`.

        >>> engine = Engine(Value)
        >>> engine.in_place("add", engine.leaf(2.0), engine.leaf(3.0)).data
        5.0
        """
        method, _ = BINARY[name]
        if not defines(self.cls, f"__i{method[2:]}"):
            return self.op(name, x, y)
        made = getattr(operator, f"i{method[2:-2]}")(x, y)
        self._must_be_node(made)
        return made

    def shared(self, fresh: Any, other: Any) -> float:
        """1.0 if a node that was just made has operands already; else 0.0.

        >>> Engine(Value).shared(Value(1.0), Value(2.0))
        0.0
        """
        held_by_class = (name for base in self.cls.__mro__ for name, x in vars(base).items() if isinstance(x, _HOLDERS))
        for name in (*attributes(fresh), *held_by_class):
            kept = held(fresh, name)
            if not any(part in name.lower() for part in OPERANDS):
                continue  # a tape, say, may well be shared
            if isinstance(kept, _HOLDERS) and any(isinstance(x, self.kind) for x in kept):
                return 1.0
        return 0.0

    def unknown_ops(self) -> list[str]:
        """Methods that make a new node of one node, as an op does, and that no check asks for.

        >>> Engine(Value).unknown_ops()
        []
        """
        known = {each for op in TABLE for each in names_of(op)} | {"detach", "clone", "copy"}
        names = [name for name in dir(self.cls) if name[0] != "_" and name not in known | {self.backward_name}]
        return [name for name in names if self._makes_a_node(name)]

    def _makes_a_node(self, name: str) -> bool:
        method = inspect.getattr_static(self.cls, name)
        if not inspect.isfunction(method) or len(needed_arguments(method)) != 1:
            return False
        try:
            node = self.leaf(0.5)
            if not {*method.__code__.co_names} <= {*dir(node), self.cls.__name__, *_HARMLESS}:
                return False  # it may wait, ask or draw
            with lines_limited(self.files):
                made = getattr(node, name)()
            return isinstance(made, self.kind) and made is not node
        except (Exception, SystemExit, OutOfSteps):
            return False

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
        hidden = callable(getattr(self.cls, self.backward_name or " ", None))
        return hidden and self.backward_name in held(self._make(1.0), "__dict__", {})

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
        return x if isinstance(x, self.kind) else self._make(x)

    def _must_be_node(self, node: Any) -> None:
        if not isinstance(node, self.kind) and held(node, self.data_name, self) is self:
            kind = "nothing (is a `return` missing?)" if node is None else f"{type(node).__name__} {node!r:.60}"
            raise NoNode(f"the result is {kind}, not a {self.cls.__name__}")

    def _number(self, x: Any) -> float:
        while isinstance(x, self.kind):  # a gradient may be a node itself
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
            if defines(self.cls, method):
                self.names[name] = method
                return spelt
        for alias in names_of(name):
            found = getattr(self.cls, alias, None)
            if callable(found) and isinstance(inspect.getattr_static(self.cls, alias), (FunctionType, staticmethod)):
                is_static = isinstance(inspect.getattr_static(self.cls, alias), staticmethod)
                settings = _settings(found, 1)
                if settings is None:
                    continue
                self.names[name] = alias
                if is_static:
                    return lambda *operands, found=found, settings=settings: found(*operands, **settings)
                return lambda node, *rest, alias=alias, settings=settings: getattr(node, alias)(*rest, **settings)
            found = self.namespace.get(alias)
            if isinstance(found, FunctionType) and (settings := _settings(found, 1)) is not None:
                self.names[name] = alias
                return lambda *operands, found=found, settings=settings: found(*operands, **settings)
        raise MissingOp(name)

    def _binary(self, name: str) -> Callable[..., Any]:
        method, spelt = BINARY[name]
        reflected = REFLECTED[name]
        if defines(self.cls, method):
            self.names[name] = method

            def apply(x: Any, y: Any) -> Any:
                if not isinstance(x, self.kind) and not defines(self.cls, reflected):
                    raise MissingOp(reflected)
                return spelt(x, y)

            return apply
        for alias in names_of(name):
            found = self.namespace.get(alias) or getattr(self.cls, alias, None)
            if isinstance(found, FunctionType) and len(needed_arguments(found)) == 2:
                self.names[name] = alias
                return found
        raise MissingOp(name)


_HOLDERS = (list, dict, set)


def _settings(function: Callable[..., Any], given: int) -> dict[str, float] | None:
    """What to pass to an op beside its operand, by name; None if it wants something that nobody can guess.

    A logarithm that has a base is asked for the natural one, whatever its default is.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())[given:]
    except (TypeError, ValueError):
        return {}
    found = {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        known = next((x for part, x in SETTINGS.items() if part in parameter.name.lower()), None)
        if parameter.default is parameter.empty and known is None:
            return None
        if known is not None and (parameter.default is parameter.empty or "base" in parameter.name.lower()):
            found[parameter.name] = known
    return found


def _has_nodes(returned: Mapping[Any, Any], cls: type[Any], root: Any) -> bool:
    """Whether a walk gave gradients back by node, or by the id of one."""
    return any(isinstance(key, cls) for key in returned) or id(root) in returned


def _like(kept: Any, x: float) -> Any:
    """A number in the shape of what it replaces: engines for arrays keep an array of one."""
    return kept * 0.0 + x if hasattr(kept, "shape") else x
