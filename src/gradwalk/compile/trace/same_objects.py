"""`x is y`, which Python answers by itself: `x is True` of a comparison hangs on its numbers, and where both stand for
arguments, a trace cannot know what it would say.

Functions of the user's that ask it are run, while they are traced, as if a function of ours stood there. It answers,
and notes if the answer hangs on which objects a call is given. The source is needed for that; what asks without one is
found by its code.
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
from gradwalk.compile.trace.limits import TOLD
from gradwalk.compile.trace.plain import Condition, Number
from gradwalk.compile.trace.traced import Traced
from gradwalk.engine import Value
from gradwalk.turns import Turn

__all__ = ["codes_of", "is_given", "note_identity", "sameness_answered", "unanswered"]

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
    x, y = _as_truth(x, y), _as_truth(y, x)
    if getattr(type(x), "stands_for_numpys", False) or getattr(type(y), "stands_for_numpys", False):
        return bool(x == y)
    numbers = type(x) in PLAIN and type(y) in PLAIN  # of which others are taken for the same that are equal
    if numbers or (x is not y and (is_given(x) or is_given(y)) and _may_be_one(x, y)):
        note_identity("it was asked whether two things are the same one")
    return x is y


def note_identity(what: str) -> None:
    """Let the trace at hand know that an answer hangs on which objects a call is given."""
    tracer: Any = modes.top()
    if hasattr(tracer, "aside"):
        tracer.note(what, TOLD)


def is_given(x: Any) -> bool:
    """Whether something stands for a number, or for what a call is given.

    >>> is_given(3.0)
    False
    """
    tracer: Any = modes.top()
    if _is_tensor(x):
        return "tensors" in vars(tracer) and id(x) in tracer.tensors.given
    return isinstance(x, Traced) or id(x) in getattr(tracer, "containers", ())


def _is_tensor(x: Any) -> bool:
    return getattr(type(x), "many", False) is True


def _as_truth(x: Any, beside: Any) -> Any:
    """True or False for what stands for one of them, if it is compared with one."""
    if not isinstance(x, Number) or not (type(beside) is bool or isinstance(beside, Condition)):
        return x
    kind = x._kind if isinstance(x, Condition) else x._tracer.kind_asked(x)
    return bool(x) if kind is bool else x


def _may_be_one(x: Any, y: Any) -> bool:
    if _is_tensor(x) or _is_tensor(y):
        return _is_tensor(x) and _is_tensor(y)
    if isinstance(x, Number) or isinstance(y, Number):
        return all(isinstance(z, (Number, np.generic)) or type(z) in PLAIN for z in (x, y))
    if isinstance(x, Traced) or isinstance(y, Traced):
        other = y if isinstance(x, Traced) else x
        return isinstance(other, Value) and not isinstance(other, Traced)  # two arguments are known apart
    return isinstance(x, CONTAINERS) and isinstance(y, CONTAINERS)


# --- code ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1000)
def asking_us(code: CodeType) -> CodeType | None:
    """The same code, with a call in place of `is`, but for `is None` and the like; None if there is no such.

    >>> asking_us((lambda x: x is None).__code__) is None
    True
    """
    if not _asks(code):
        return None
    try:
        own, found = _compiled("".join(linecache.getlines(code.co_filename)), code.co_filename, code.co_flags & FUTURE)
        way = _way_to(code, own)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for step in way or ():
        found = _inside(found)[step]
    return None if way is None else found


@lru_cache(maxsize=8)
def _compiled(text: str, file: str, flags: int) -> tuple[CodeType, CodeType]:
    """The code of a file, and the same with calls in place of `is`."""
    tree = _parsed(text)
    own = compile(tree, file, "exec", flags, dont_inherit=True)
    tree = ast.fix_missing_locations(_Calls().visit(tree))
    return own, compile(tree, file, "exec", flags, dont_inherit=True)


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
    return isinstance(x, ast.Constant) and not isinstance(x.value, bool)


def _asks(code: CodeType, of: frozenset[Any] = frozenset(("truths", "things", "classes"))) -> bool:
    """Whether a code, or one inside it, asks with `is` for one of these."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
    asked = (_asked_of(before) for before, step in pairwise(steps) if step.opname == "IS_OP")
    return any(what in of for what in asked) or any(_asks(inside, of) for inside in _inside(code))


def _asked_of(before: dis.Instruction) -> str:
    """What `is` asks for, by the instruction before it."""
    if before.opname in ("LOAD_CONST", "LOAD_COMMON_CONSTANT"):
        return "truths" if isinstance(before.argval, bool) else ""
    return "classes" if before.argval == "__class__" else "things"


def unanswered(functions: Iterable[Any], what: str) -> list[CodeType]:
    """The codes that ask by themselves, as nobody can do it in their place, if something `is` of "truths" or "things".

    >>> space = {}
    >>> exec("same = lambda x, y: x is y", space)
    >>> [len(unanswered([space["same"]], what)) for what in ("truths", "things")]
    [0, 1]
    """
    return [code for code in codes_of(tuple(functions)) if _asks_by_itself(code, what)]


@lru_cache(maxsize=4000)
def _asks_by_itself(code: CodeType, what: str) -> bool:
    if not _asks(code, frozenset((what,))) or (what == "things" and code.co_name.startswith("__")):
        return False  # methods that somebody writes for a class, as `dataclass` does
    own = asking_us(code)
    return own is None or _asks(own, frozenset((what,)))


def _inside(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _way_to(code: CodeType, found: CodeType) -> list[int] | None:
    """Which of the codes inside a code, and inside that, is equal to one; None if none is, or two are."""
    ways: list[list[int]] = []
    for i, inside in enumerate(_inside(found)):
        deeper = [] if inside == code else _way_to(code, inside)
        ways += [] if deeper is None else [[i, *deeper]]
    return ways[0] if len(ways) == 1 else None
