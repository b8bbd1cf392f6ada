"""Nested things as one flat list, and back. What is structure and what is a leaf is decided here, for everyone.

Structure, with its type kept: lists, tuples, named tuples, dicts (their values, in order), instances of dataclasses
(all that they hold; `__init__` is not run again), subclasses of these with their attributes, NumPy arrays of numbers or
objects. An array comes back with floats if all of its parts are plain numbers, else with objects.

Everything else is a leaf. `is_number` knows numbers: Values, ints, floats, bools, fractions, NumPy's numbers and arrays
without dimensions. Other leaves (texts, None, functions, models, sets) are passed on as they are; whoever cannot use
one says why with `refusal`.
"""

from __future__ import annotations

import builtins
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property
from itertools import product, repeat
from types import GeneratorType
from typing import Any

from gradwalk.errors import GraphError, SettingError

__all__ = ["Structure", "flatten", "is_block", "is_container", "is_number", "map", "refusal"]

PLAIN = frozenset((float, int, bool, str, type(None)))  # leaves, known by their class alone
READ_ONCE = (GeneratorType, builtins.map, filter, zip, enumerate, reversed)


def flatten(tree: Any, leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Structure]:
    """The leaves of a tree from left to right, and its structure; `leaf` says what else is not to be looked into.

    >>> leaves, structure = flatten({"a": [1.0, 2.0], "b": (3.0, "text")})
    >>> leaves
    [1.0, 2.0, 3.0, 'text']
    >>> structure.unflatten([10.0, 20.0, 30.0, "text"])
    {'a': [10.0, 20.0], 'b': (30.0, 'text')}
    """
    leaves: list[Any] = []
    tokens: list[Any] = []
    inside: dict[int, Any] = {}  # the containers around what is at hand
    ahead = [iter((tree,))]
    while ahead:
        for x in ahead[-1]:
            opened = None if type(x) in PLAIN or (leaf is not None and leaf(x)) else _opened(x)
            if opened is None:
                leaves.append(x)
                tokens.append(None)
                continue
            token, parts = opened
            tokens.append(token)
            if PLAIN.issuperset(builtins.map(type, parts)):  # nothing in it to look into
                leaves += parts
                tokens += repeat(None, len(parts))
                continue
            if id(x) in inside:
                raise GraphError(f"a {type(x).__name__} contains itself, so it has no end; take it out of itself")
            inside[id(x)] = x
            ahead.append(iter(parts))
            break
        else:
            ahead.pop()
            if inside:
                inside.popitem()
    return leaves, Structure(tuple(tokens))


class Structure:
    """A tree without its leaves. Equal ones have the same containers in the same places.

    >>> flatten([1.0, {"a": 2.0}])[1] == flatten([3.0, {"a": "text"}])[1]
    True
    """

    __slots__ = ("tokens",)

    def __init__(self, tokens: tuple[Any, ...]) -> None:
        self.tokens = tokens  # containers before their parts: (class, size, keys, names of attributes); None for a leaf

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(self.tokens)

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """The tree with these leaves.

        >>> flatten((1.0, {"a": 2.0}))[1].unflatten(["one", "two"])
        ('one', {'a': 'two'})
        """
        ahead = reversed(leaves)
        made: list[Any] = [None]  # from right to left, after a first that is never taken
        for token in reversed(self.tokens):
            if token is None:
                made.append(next(ahead))
            else:
                before = len(made) - token[1] - 1
                parts = made[:before:-1]
                del made[before + 1 :]
                made.append(_closed(token, parts))
        return made[1]

    def paths(self, root: str) -> Iterator[str]:
        """How to get at each leaf, as it is written in Python.

        >>> list(flatten([1.0, {"a": (2.0, 3.0)}])[1].paths("x"))
        ['x[0]', "x[1]['a'][0]", "x[1]['a'][1]"]
        """
        ahead = [root]
        for token in self.tokens:
            path = ahead.pop()
            if token is None:
                yield path
                continue
            _, _, keys, names = token
            if names is None:  # an array, whose shape stands there for keys
                steps = [str(list(at)) if at else "[()]" for at in product(*[range(n) for n in keys])]
            else:
                steps = [*[f"[{key!r}]" for key in keys], *[f".{name}" for name in names]]
            ahead += [path + step for step in reversed(steps)]


def map(change: Callable[..., Any], tree: Any, *others: Any, leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with each leaf changed; with several trees of one structure, `change` is given a leaf of each.

    >>> map(lambda p, g: p - 0.5 * g, {"w": [1.0, 2.0], "b": 3.0}, {"w": [2.0, 2.0], "b": 4.0})
    {'w': [0.0, 1.0], 'b': 1.0}
    """
    leaves, structure = flatten(tree, leaf)
    columns = [leaves]
    for other in others:
        more, found = flatten(other, leaf)
        if found != structure:
            raise SettingError("trees can be mapped together if all have the same structure, and these do not")
        columns.append(more)
    return structure.unflatten([change(*row) for row in zip(*columns, strict=True)])


def is_number(x: Any) -> bool:
    """Whether a leaf is one real number, plain or a Value.

    >>> [is_number(x) for x in (1, True, 2.5, "2.5", None)]
    [True, True, True, False, False]
    """
    if isinstance(x, (type, Enum)):
        return False
    if isinstance(x, (int, float)):
        return True
    kind = type(x)  # an object may answer to any name, in a way of its own
    if hasattr(kind, "__gradwalk_op__"):
        return True
    if hasattr(kind, "ndim"):  # of NumPy's, some of which are no numbers, such as times
        return x.ndim == 0 and getattr(getattr(x, "dtype", None), "kind", "") in "biuf"
    return hasattr(kind, "numerator") and hasattr(kind, "denominator")


def is_block(x: Any) -> bool:
    """Whether `x` is an array of numbers, which compiled code takes whole: `flatten(x, is_block)`.

    >>> is_block([1.0, 2.0])
    False
    """
    return type(x) is _array_class() and x.dtype.kind in "biuf" and x.ndim > 0


def is_container(x: Any) -> bool:
    """Whether `x` is structure rather than a leaf, whatever it holds; a model is known as a whole, and so is a leaf.

    >>> is_container([]), is_container("text")
    (True, False)
    """
    kind = type(x)
    if kind is _array_class():
        return is_block(x) or bool(x.dtype == object)
    if issubclass(kind, (list, tuple, dict)) or is_dataclass(kind):
        return not (hasattr(kind, "__gradwalk_op__") or callable(getattr(kind, "parameters", None)))
    return False


def refusal(x: Any) -> str:
    """Why a leaf that may hold numbers is no part of a tree, and what to give instead; "" if nothing is wrong with it.

    >>> refusal({1.0, 2.0})
    'a set has no order, so its numbers cannot be told apart; give a sorted list'
    """
    kind = type(x).__name__
    if isinstance(x, (set, frozenset)) and any(is_number(part) for part in x):
        return f"a {kind} has no order, so its numbers cannot be told apart; give a sorted list"
    if isinstance(x, READ_ONCE):
        return f"a {kind} can be read only once; make a list of it first: list(...)"
    if type(x) is not _array_class() and isinstance(x, _array_class() or ()):
        return f"a {kind} is an array with rules of its own; give a plain one: np.asarray(...)"
    return ""


# --- one container ---------------------------------------------------------------------------------------------------


def _opened(x: Any) -> tuple[Any, Any] | None:
    """What a container is, and its parts; None for a leaf."""
    kind = type(x)
    if kind is list or kind is tuple:
        return (kind, len(x), range(len(x)), ()), x
    if kind is dict:
        return (kind, len(x), tuple(x), ()), list(x.values())
    if kind is _array_class():
        return ((kind, x.size, x.shape, None), x.ravel().tolist()) if is_container(x) else None
    if not is_container(x):
        return None
    base = _base(kind)
    keys = range(len(x)) if base in (list, tuple) else tuple(x) if base is not object else ()
    items = base.values(x) if issubclass(base, dict) else base.__iter__(x) if base is not object else ()
    held = _attributes(x)
    return (kind, len(keys) + len(held), keys, tuple(held)), [*items, *held.values()]


def _closed(token: Any, parts: list[Any]) -> Any:
    """A container of such parts."""
    kind, _, keys, names = token
    if kind is list:
        return parts
    if kind is tuple:
        return tuple(parts)
    if kind is dict:
        return dict(zip(keys, parts, strict=True))
    if names is None:
        out = sys.modules["numpy"].empty(len(parts), object)
        for i, part in enumerate(parts):
            out[i] = part
        if all(isinstance(part, bool) for part in parts):
            return out.reshape(keys).astype(bool)
        return out.reshape(keys).astype(float if all(isinstance(part, (int, float)) for part in parts) else object)
    base = _base(kind)
    try:
        made = tuple.__new__(kind, parts[: len(keys)]) if base is tuple else kind.__new__(kind)
        if base is list:
            list.extend(made, parts[: len(keys)])
        elif issubclass(base, dict):
            for key, part in zip(keys, parts, strict=False):
                base.__setitem__(made, key, part)
        for name, part in zip(names, parts[len(keys) :], strict=True):
            object.__setattr__(made, name, part)
    except (TypeError, AttributeError) as error:
        raise SettingError(
            f"a {kind.__name__} cannot be put together again from its parts ({error}); give a list, a tuple, a dict or "
            "a dataclass"
        ) from error
    return made


def _base(kind: type) -> Any:
    """What a class of containers keeps its items as; object, if it has attributes only."""
    return next(base for base in (list, tuple, OrderedDict, dict, object) if issubclass(kind, base))


def _attributes(x: Any) -> dict[str, Any]:
    """What an object holds beside its items, fields first; without what a cached property has computed from them."""
    state = object.__getstate__(x)
    held: dict[str, Any] = {}
    for some in state if isinstance(state, tuple) else (state,):  # attributes, and those in slots
        held |= some or {}
    if hasattr(type(x), "default_factory"):
        held["default_factory"] = x.default_factory
    order = dict.fromkeys([*getattr(type(x), "__dataclass_fields__", ()), *held])
    cached = [name for name in held if isinstance(getattr(type(x), name, None), cached_property)]
    return {name: held[name] for name in order if name in held and name not in cached}


def _array_class() -> Any:
    """NumPy's, if it has been imported: else there are no arrays."""
    return getattr(sys.modules.get("numpy"), "ndarray", None)
