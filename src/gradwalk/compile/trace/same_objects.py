"""`x is y`, which Python answers by itself: where both stand for arguments, a trace cannot know what it would say.

Functions of the user's that ask it are run, while they are traced, as if a function of ours stood there. It answers,
and notes if the answer hangs on which objects a call is given. The source is needed for that; without it, nobody notes.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dis
import linecache
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, reduce
from itertools import pairwise
from operator import attrgetter, or_
from types import CodeType
from typing import Any

import numpy as np

from gradwalk import modes
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.traced import Traced
from gradwalk.engine import Value
from gradwalk.provenance import users_place
from gradwalk.turns import Turn

__all__ = ["codes_of", "sameness_answered"]

NAME = "__gradwalk_is__"
FUTURE = reduce(or_, [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names])
CODE = attrgetter("__code__")
PLAIN = (float, int)
CONTAINERS = (list, dict, set, tuple, np.ndarray)

PATIENCE = 100  # times that others may disturb us

_setting = Turn()
_parsing = Turn()
_swapped: dict[int, tuple[Any, CodeType, int]] = {}  # functions that have other code now, their own, how many need it


@contextmanager
def sameness_answered(functions: Iterable[Any]) -> Iterator[None]:
    """Let functions ask us what is the same, as long as the block lasts.

    >>> with sameness_answered([lambda x, y: x is y]):
    ...     pass
    """
    some = tuple(functions)
    codes = zip(some, map(asking_us, codes_of(some)), strict=True)
    asking = [(function, code) for function, code in codes if code is not None]
    try:
        with _setting:
            _swap(asking)
        yield
    finally:
        with _setting:
            _swap_back(asking)


def _swap(asking: list[tuple[Any, CodeType]]) -> None:
    vars(builtins)[NAME] = is_same
    for function, code in asking:
        _, own, times = _swapped.get(id(function), (function, function.__code__, 0))
        _swapped[id(function)] = function, own, times + 1
        function.__code__ = code


def _swap_back(asking: list[tuple[Any, CodeType]]) -> None:
    for function, _ in asking:
        _, own, times = _swapped.get(id(function), (function, function.__code__, 0))
        if times > 1:
            _swapped[id(function)] = function, own, times - 1
        else:
            function.__code__ = own  # first: who sees other code finds that it is known
            _swapped.pop(id(function), None)


def codes_of(functions: tuple[Any, ...]) -> list[CodeType]:
    """The code of each as its author wrote it, also while another thread traces it.

    >>> f = lambda x: x is None
    >>> codes_of((f,)) == [f.__code__]
    True
    """
    if not _swapped:
        codes = [*map(CODE, functions)]
        if not _swapped:
            return codes
    with _setting:
        return [_swapped[id(f)][1] if id(f) in _swapped else f.__code__ for f in functions]


def is_same(x: Any, y: Any) -> bool:
    """What `x is y` says; a note is made where that is not sure for what stands there in other calls.

    >>> xs = [1.0]
    >>> is_same(xs, xs), is_same(xs, [1.0])
    (True, False)
    """
    numbers = type(x) in PLAIN and type(y) in PLAIN  # of which others are taken for the same that are equal
    if numbers or (x is not y and (_is_given(x) or _is_given(y)) and _may_be_one(x, y)):
        tracer: Any = modes.top()
        if hasattr(tracer, "aside"):
            tracer.aside = tracer.aside or f"it was asked whether two things are the same one ({users_place()})"
    return x is y


def _is_given(x: Any) -> bool:
    """Whether something stands for a number, or for what a call is given."""
    return isinstance(x, Traced) or id(x) in getattr(modes.top(), "containers", ())


def _may_be_one(x: Any, y: Any) -> bool:
    if isinstance(x, Number) or isinstance(y, Number):
        return all(issubclass(type(z), (Number, int, float, np.generic)) for z in (x, y))
    if isinstance(x, Traced) or isinstance(y, Traced):
        other = y if isinstance(x, Traced) else x
        return isinstance(other, Value) and not isinstance(other, Traced)  # two arguments are known apart
    return isinstance(x, CONTAINERS) and isinstance(y, CONTAINERS)


# --- code ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1000)
def asking_us(code: CodeType) -> CodeType | None:
    """The same code, with a call in place of `is` between two things that are no constants; None if there is no such.

    >>> asking_us((lambda x: x is None).__code__) is None
    True
    """
    if not _asks(code):
        return None
    file, flags = code.co_filename, code.co_flags & FUTURE
    try:
        tree = _parsed("".join(linecache.getlines(file)))
        way = _way_to(code, compile(tree, file, "exec", flags, dont_inherit=True))
        if way is None:
            return None
        tree = ast.fix_missing_locations(_Calls().visit(tree))
        found = compile(tree, file, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for step in way:
        found = _inside(found)[step]
    return found  # type: ignore[no-any-return]


def _parsed(text: str) -> ast.Module:
    """The tree of a text. In Python 3.11 threads that parse at once can disturb each other; a SystemError says so."""
    with _parsing:
        for _ in range(PATIENCE):
            try:
                return ast.parse(text)
            except SystemError:  # a thread that is not ours
                continue
        return ast.parse(text)


class _Calls(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if len(sides) != 2 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)) or any(map(_is_constant, sides)):
            return node
        asked: ast.expr = ast.copy_location(ast.Call(ast.Name(NAME, ast.Load()), sides, []), node)
        return asked if isinstance(node.ops[0], ast.Is) else ast.copy_location(ast.UnaryOp(ast.Not(), asked), node)


def _is_constant(x: ast.expr) -> bool:
    return isinstance(x, ast.Constant)


def _asks(code: CodeType) -> bool:
    """Whether a code, or one inside it, asks for the identity of two things that are no constants."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
    for before, step in pairwise(steps):
        if step.opname == "IS_OP" and before.opname not in ("LOAD_CONST", "LOAD_COMMON_CONSTANT"):
            return True
    return any(map(_asks, _inside(code)))


def _inside(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _way_to(code: CodeType, found: CodeType) -> list[int] | None:
    """Which of the codes inside a code, and inside that, is equal to one; None if none is, or two are."""
    ways: list[list[int]] = []
    for i, inside in enumerate(_inside(found)):
        deeper = [] if inside == code else _way_to(code, inside)
        ways += [] if deeper is None else [[i, *deeper]]
    return ways[0] if len(ways) == 1 else None
