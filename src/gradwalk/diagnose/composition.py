"""What an op is made of, found by watching it: the other ops that it calls, and the engine's own helpers."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.budget import limited, trying
from gradwalk.diagnose.op_probes import BASIC, REVERSED
from gradwalk.diagnose.vocabulary import SYMBOL

__all__ = ["composed_of", "helpers_of"]


def composed_of(engine: Engine, op: str, number: bool = False) -> frozenset[str]:
    """The other ops that an engine's op calls, found by watching it; `turned` if the node comes before the number.

    With `number` the right operand is a plain number.

    >>> class Value:
    ...     def __init__(self, data): self.data, self.grad = data, 0.0
    ...     def __mul__(self, other): return Value(self.data * other)
    ...     def __neg__(self): return self * -1
    ...     def backward(self): self.grad = 1.0
    >>> composed_of(Engine(Value), "neg")
    frozenset({'mul'})
    """
    own: dict[CodeType, str] = {}
    functions: dict[CodeType, FunctionType] = {}
    for name in (*BASIC, *REVERSED):
        function = getattr(engine.cls, engine.called(name), None) or engine.namespace.get(engine.called(name))
        if isinstance(function, FunctionType):
            own.setdefault(function.__code__, name)
            if functions.setdefault(function.__code__, function) is not function:
                own[function.__code__] = ""  # ops under one decorator look the same
    called = set()
    operands = (engine.leaf(3.0), 2.0) if number else _operands(engine, op)

    def watch(frame: FrameType) -> None:
        if own.get(frame.f_code):
            called.add(own[frame.f_code])
            first = frame.f_locals.get(frame.f_code.co_varnames[0])
            if op in REVERSED and own[frame.f_code] == op[1:] and first is operands[1]:
                called.add("turned")

    made = type(_apply(engine, op, operands, watch))
    if issubclass(made, engine.kind) and made not in map(type, operands):  # each op has a class, or shares one
        before = BASIC[: BASIC.index(op)] if op in BASIC else () if op in REVERSED else BASIC
        called |= {x for x in before if type(_apply(engine, x, _operands(engine, x), lambda _: None)) is made}
    return frozenset(called - {op})


def helpers_of(engine: Engine, op: str) -> set[tuple[str, int]]:
    """The functions of the engine's own, name and line, that an op and its way back go through.

    Methods do not count, nor what the walk calls for a leaf alone: that is the walk's.

    >>> sorted(name for name, _ in helpers_of(Engine(teaching.load()), "sigmoid"))
    ['logistic']
    """
    called = set()

    def watch(frame: FrameType) -> None:
        code = frame.f_code
        if code.co_filename in engine.files and "." not in code.co_qualname:
            called.add((code.co_name, code.co_firstlineno))

    with trying(engine.files), limited(10_000, watch, engine.files):
        engine.backward(engine.leaf(2.0))
    of_walk = called.copy()
    _apply(engine, op, _operands(engine, op), watch, backward=True)
    own = {engine.called(name) for name in (*BASIC, *REVERSED)}
    return {each for each in called - of_walk if each[0] not in own and not _only_wraps(engine, each[0])}


def _only_wraps(engine: Engine, name: str) -> bool:
    """Whether a function gives a node back as it is, so that nothing that it does to numbers is in the way of one."""
    node = engine.leaf(2.0)
    with trying(engine.files):
        return engine.namespace[name](node) is node
    return False


def _apply(
    engine: Engine, op: str, operands: tuple[Any, ...], watch: Callable[[FrameType], None], backward: bool = False
) -> Any:
    """Apply an op under observation; if it fails half-way, what was seen by then is what there is to see."""
    result = None
    with trying(engine.files), limited(10_000, watch, engine.files):
        result = engine.op(op[1:] if op in (*REVERSED, "rpow") else op, *operands)
        if backward:
            engine.backward(result)
    return result


def _operands(engine: Engine, op: str) -> tuple[Any, ...]:
    if op in (*REVERSED, "rpow"):
        return (8, engine.leaf(2.0))
    if op in SYMBOL:
        return (engine.leaf(3.0), engine.leaf(2.0))
    return (engine.leaf(3.0), 2) if op == "pow" else (engine.leaf(0.5),)
