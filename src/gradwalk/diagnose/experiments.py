"""Small experiments with an engine: each asks it one question that no program of the checklist answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import FrameType, FunctionType

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.budget import OutOfSteps, limited, trying
from gradwalk.diagnose.discovery import held
from gradwalk.diagnose.pushing import fill, recorded
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.matcher import same

__all__ = [
    "answer_to_upstream",
    "changes_in_place",
    "compares_data",
    "doubling_function",
    "hashes_all_paths",
    "is_exponential",
    "keeps_nodes",
    "leaf_is_changed",
]

STEPS = 600_000  # of a walk over a few diamonds


def compares_data(engine: Engine) -> bool:
    """Whether two nodes that hold the same number are equal.

    >>> compares_data(Engine(Value))
    False
    """
    try:
        one, other = engine.leaf(2.0), engine.leaf(2.0)
        return one is not other and bool(one == other)
    except Exception:
        return False


def keeps_nodes(engine: Engine) -> bool:
    """Whether a walk puts nodes where the next one finds them: in a default of a function, in the module, in the class.

    >>> keeps_nodes(Engine(Value))
    False
    """
    first: object = None
    with trying(engine.files):
        first, second = (engine.op("mul", engine.leaf(1.3), engine.leaf(0.7)) for _ in range(2))
        if _keeps(engine, first):  # all that was ever made, as a tape does
            return False
        engine.backward(first)
        engine.backward(second)
    return _keeps(engine, first)


def _keeps(engine: Engine, node: object) -> bool:
    """Whether a node, or its id, is in a container that outlives a walk."""
    outer = [*engine.namespace.values(), *vars(engine.cls).values()]
    functions = [x for x in outer if isinstance(x, FunctionType)]
    defaults = [x for f in functions for x in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())]
    held = [x for x in (*outer, *defaults) if isinstance(x, (list, set, dict))]
    return any(each is node or (type(each) is int and each == id(node)) for x in held for each in x)


def leaf_is_changed(engine: Engine, op: str) -> int | None:
    """Which operand of an op gets another push than it had, if any: the closure belongs to the result.

    >>> leaf_is_changed(Engine(Value), "mul") is None
    True
    """
    if engine.push is None or not engine.push.on_node or engine.push.takes == "locals":
        return None
    with trying(engine.files):
        operands = [engine.leaf(1.3), engine.leaf(0.7)] if op in SYMBOL else [engine.leaf(0.7)]
        before = [held(operand, engine.push.name) for operand in operands]
        engine.op(op, *operands, *([2] if op == "pow" else []))
        for i, (operand, old) in enumerate(zip(operands, before, strict=True)):
            new = held(operand, engine.push.name)
            if old is not new and old != new:
                return i
    return None


def answer_to_upstream(engine: Engine, op: str) -> str:
    """How what an op pushes depends on the upstream gradient, with the engine's nodes pushed by hand.

    `in proportion` is right; `gated`: only a positive one gets through; `clipped`: a larger one gives no more; `odd`
    otherwise; nothing if it is not known, or if the upstream gradient is left out or added, which is known otherwise.

    >>> answer_to_upstream(Engine(teaching.load()).by_hand(), "tanh")
    'in proportion'
    """
    answers = {_answer(engine, op, point) for point in ((1.3, 0.7), (-0.6, 2.4))} - {""}
    for answer in ("gated", "clipped", "odd"):
        if answer in answers:
            return answer
    return "in proportion" if answers else ""


def _answer(engine: Engine, op: str, point: tuple[float, float]) -> str:
    pushed = {}
    for upstream in (1.0, 2.0, 40.0, -1.5, 4e3, 8e3):
        with trying(engine.files), recorded(engine.kind) as made:
            operands = [engine.leaf(x) for x in (point if op in SYMBOL else point[:1])]
            root = engine.op(op, *operands, *([2] if op == "pow" else []))
            fill(engine, made)
            engine.set_grad(root, upstream)
            for node in reversed(made):
                if engine.push:
                    engine.push(engine, node)
            pushed[upstream] = [engine.grad(operand) for operand in operands]
        if upstream not in pushed:
            return ""
    answers = []
    for one, two, many, less, most, more in zip(*pushed.values(), strict=True):
        if all(same(x, times * one) for x, times in ((two, 2), (many, 40), (less, -1.5), (most, 4e3), (more, 8e3))):
            answers.append("in proportion")
        elif (one == two == many == less) or (same(two - one, 1.0) and same(less - one, -2.5)):
            return ""
        elif less == 0.0 and same(two, 2 * one):
            answers.append("gated")
        elif most and same(most, more):
            answers.append("clipped")
        else:
            answers.append("odd")
    return next((answer for answer in answers if answer != "in proportion"), "in proportion")


def changes_in_place(engine: Engine, op: str) -> bool:
    """Whether `x += y`, or another operator with `=`, gives x itself with other data, and no new node.

    >>> changes_in_place(Engine(Value), "add")
    False
    """
    with trying(engine.files):
        x = engine.leaf(1.5)
        made = engine.in_place(op, x, engine.leaf(0.7))
        return made is x and not same(engine.data(x), 1.5)
    return False


def is_exponential(engine: Engine) -> bool:
    """Whether the walk's own calls double with every diamond of a chain: it takes every path.

    >>> is_exponential(Engine(Value))
    False
    """
    counts = [_calls(engine, diamonds) for diamonds in (4, 6, 8)]
    return None not in counts and all(b >= 3 * a for a, b in pairwise(counts) if a and b)


def hashes_all_paths(engine: Engine) -> bool:
    """Whether to hash or compare one node takes calls that double with every diamond behind it.

    >>> hashes_all_paths(Engine(Value))
    False
    """
    counts = [_calls(engine, diamonds, ("__hash__", "__eq__")) for diamonds in (4, 6, 8)]
    return None not in counts and all(b >= 3 * a > 0 for a, b in pairwise(counts) if a is not None and b is not None)


def doubling_function(engine: Engine) -> int | None:
    """The first line of the engine's function that is called twice as often with every diamond of a chain, if any.

    >>> doubling_function(Engine(Value)) is None
    True
    """
    counts = [_calls_by_line(engine, diamonds) for diamonds in (4, 6, 8)]
    lines = [line for line in counts[-1] if all(many[line] >= 3 * few[line] > 0 for few, many in pairwise(counts))]
    return max(lines, key=lambda line: counts[-1][line], default=None)


def _calls_by_line(engine: Engine, diamonds: int) -> Counter[int]:
    """How often each function of the engine's is called in a walk over a chain of diamonds, by its first line."""
    found: Counter[int] = Counter()

    def watch(frame: FrameType) -> None:
        if frame.f_code.co_filename in engine.files:
            found[frame.f_code.co_firstlineno] += 1

    _steps_over(engine, diamonds, watch)
    return found


def _calls(engine: Engine, diamonds: int, named: Sequence[str] = ()) -> int | None:
    """How many calls of the engine's own code a walk over a chain of diamonds takes; with `named`, of these alone."""
    calls = 0

    def watch(frame: FrameType) -> None:
        nonlocal calls
        calls += frame.f_code.co_name in named

    steps = _steps_over(engine, diamonds, watch if named else None)
    return calls if named and steps is not None else steps


def _steps_over(engine: Engine, diamonds: int, watch: Callable[[FrameType], None] | None) -> int | None:
    """How many steps a walk over a chain of diamonds takes; None if it does not come to its end."""
    try:
        x = engine.leaf(1.5)
        for _ in range(diamonds):
            x = engine.op("add", engine.op("mul", x, x), x)
        with limited(STEPS, watch, files=engine.files) as steps:
            engine.backward(x)
    except (Exception, SystemExit, OutOfSteps):
        return None
    return steps.used
