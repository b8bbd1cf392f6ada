"""What is asked of a single op when something is wrong: programs that need no other op, and what the op is made of."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType, FunctionType
from typing import Any

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.budget import OutOfSteps, limited
from gradwalk.diagnose.checks import CHECKS, SYMBOL, on_points
from gradwalk.diagnose.programs import Program
from gradwalk.diagnose.vocabulary import UNARY

__all__ = ["BASIC", "REVERSED", "composed_of", "evidence", "first_op", "helpers_of", "ops_in"]

#: The ops of the teaching engine, in the order in which they are looked into.
BASIC = ("add", "mul", "neg", "sub", "pow", "div", *UNARY)
REVERSED = tuple(f"r{op}" for op in SYMBOL)

_STACKED = {
    "add": ("c = (a + b) + d", "c = d + (a + b)"),
    "sub": ("c = (a - b) - d", "c = d - (a - b)"),
    "mul": ("c = (a * b) * d", "c = d * (a * b)"),
    "div": ("c = (a / b) / d", "c = d / (a / b)"),
    "neg": ("c = -(-a)",),
    "pow": ("c = (a ** 3) ** 2", "c = (a ** -1) ** 3"),
    "log": ("c = (a.log()).log()",),
}
_WITH_ITSELF = {"add": "a-plus-a", "mul": "a-times-a", "sub": "a-minus-a", "div": "a-over-a"}


@lru_cache(maxsize=64)
def evidence(op: str) -> tuple[Program, ...]:
    """Programs that need this op alone: at points, on gradients that are there already, on itself, on one Value twice.

    >>> from gradwalk.diagnose.evidence import evidence
    >>> [program.text.split(chr(10))[-2] for program in evidence("sub")][-4:]
    ['c = (a - b) - d', 'c = d - (a - b)', 'b = a - a', 'b = a - a']
    """
    if op in REVERSED:
        return CHECKS[op].programs
    points = on_points(op)
    numbers = CHECKS[f"{op}-number"].programs if op in SYMBOL else ()
    primed = []
    for program in points[:2]:
        lines = program.text.split("\n")
        at = next(i for i, line in enumerate(lines) if "Value" not in line)
        preset = ["a.grad = 7.0", *(["b.grad = -4.0"] if "b.grad" in program.see else [])]
        primed.append(Program(program.title, "\n".join([*lines[:at], *preset, *lines[at:]]), program.see))
    stacked = [
        Program(body, f"a = Value(2.6)\nb = Value(-0.7)\nd = Value(1.9)\n{body}\nc.backward()",
                ("c.data", "a.grad", "b.grad", "d.grad"))
        for body in _STACKED.get(op, (f"c = (a.{op}()).{op}()",))
    ]  # fmt: skip
    twice = CHECKS[_WITH_ITSELF[op]].programs if op in SYMBOL else ()
    return (*points, *numbers, *primed, *stacked, *twice)


@lru_cache(maxsize=4096)
def first_op(text: str) -> str:
    """The op that a program applies first.

    >>> from gradwalk.diagnose.evidence import first_op
    >>> first_op("a = Value(2.0); b = a ** 2; c = b + a")
    'pow'
    """
    for line in ast.parse(text).body:
        ops = ops_in(ast.unparse(line))
        if ops:
            return min(ops)
    return ""


@lru_cache(maxsize=4096)
def ops_in(text: str) -> frozenset[str]:
    """The ops that a program uses; a number on the left counts as an op of its own.

    >>> from gradwalk.diagnose.evidence import ops_in
    >>> sorted(ops_in("a = Value(2.0); b = 8 - a.tanh()"))
    ['rsub', 'tanh']
    """
    names = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BinOp):
            name = names[type(node.op)]
            found.add(f"r{name}" if isinstance(node.left, ast.Constant) else name)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            found.add("neg")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr != "backward":
            found.add(node.func.attr)
    return frozenset(found)


def composed_of(engine: Engine, op: str, number: bool = False) -> frozenset[str]:
    """The other ops that an engine's op calls, found by watching it; `turned` if the node comes before the number.

    With `number` the right operand is a plain number.

    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.evidence import composed_of
    >>> class Value:
    ...     def __init__(self, data): self.data, self.grad = data, 0.0
    ...     def __mul__(self, other): return Value(self.data * other)
    ...     def __neg__(self): return self * -1
    ...     def backward(self): ...
    >>> composed_of(Engine(Value), "neg")
    frozenset({'mul'})
    """
    own: dict[CodeType, str] = {}
    for name in (*BASIC, *REVERSED):
        function = getattr(engine.cls, engine.called(name), None) or engine.namespace.get(engine.called(name))
        if isinstance(function, FunctionType):
            own.setdefault(function.__code__, name)
    called = set()
    operands = (engine.leaf(3.0), 2.0) if number else _operands(engine, op)

    def watch(frame: FrameType) -> None:
        if frame.f_code in own:
            called.add(own[frame.f_code])
            first = frame.f_locals.get(frame.f_code.co_varnames[0])
            if op in REVERSED and own[frame.f_code] == op[1:] and first is operands[1]:
                called.add("turned")

    _apply(engine, op, operands, watch)
    return frozenset(called - {op})


def helpers_of(engine: Engine, op: str) -> set[tuple[str, int]]:
    """The functions of the engine's own, name and line, that an op and its way back go through; methods do not count.

    >>> from gradwalk.diagnose import teaching
    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.evidence import helpers_of
    >>> sorted(name for name, _ in helpers_of(Engine(teaching.load()), "sigmoid"))
    ['logistic', 'ordered']
    """
    called = set()

    def watch(frame: FrameType) -> None:
        code = frame.f_code
        if code.co_filename in engine.files and "." not in code.co_qualname:
            called.add((code.co_name, code.co_firstlineno))

    _apply(engine, op, _operands(engine, op), watch, backward=True)
    own = {engine.called(name) for name in (*BASIC, *REVERSED)}
    return {(name, line) for name, line in called if name not in own}


def _apply(
    engine: Engine, op: str, operands: tuple[Any, ...], watch: Callable[[FrameType], None], backward: bool = False
) -> None:
    """Apply an op under observation; if it fails half-way, what was seen by then is what there is to see."""
    try:
        with limited(10_000, watch):
            result = engine.op(op[1:] if op in (*REVERSED, "rpow") else op, *operands)
            if backward:
                engine.backward(result)
    except (Exception, SystemExit, OutOfSteps):
        pass


def _operands(engine: Engine, op: str) -> tuple[Any, ...]:
    if op in (*REVERSED, "rpow"):
        return (8, engine.leaf(2.0))
    if op in SYMBOL:
        return (engine.leaf(3.0), engine.leaf(2.0))
    return (engine.leaf(3.0), 2) if op == "pow" else (engine.leaf(0.5),)
