"""Probes for one op: at points by itself, inside a longer expression, and in every way that needs no other op.

The points are chosen so that a wrong engine does not give the right number by chance: `2 - a` is not asked at 2.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from functools import lru_cache

from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.vocabulary import SIGNS, SYMBOL, UNARY
from gradwalk.ops import TABLE

__all__ = [
    "BASIC",
    "PRESET",
    "REVERSED",
    "at_points",
    "chained",
    "evidence",
    "first_op",
    "ops_in",
    "probe_of",
    "spelt",
    "without_preset",
]

#: The ops of the teaching engine, in the order in which they are looked into, and those with a number on the left.
BASIC = ("add", "mul", "neg", "sub", "pow", "div", *UNARY)
REVERSED = tuple(f"r{op}" for op in SYMBOL)

PRESET = " before"  # how titles end of programs whose leaves have a gradient before the walk

_PAIRS = ((3.0, 2.0), (-1.5, 4.0), (0.25, -2.0), (-0.6, -0.7), (1.25, 0.8))
_POINTS = (0.5, -0.75, 2.0, -1.6, 0.1, 7.5)
_ABOVE = (0.5, 3.0, 2.0, 1.6, 0.1)  # from the lower end of a domain
_BETWEEN = (0.75, 0.25, 0.875, 0.4375, 0.625)  # from one end to the other
_POWERS = ((3.0, 2), (-1.5, 3), (2.0, -1), (0.7, 0.5), (1.3, 0), (-0.8, 1), (1.2, -2.5), (2.5, 1.5), (-1.2, 2))


def probe_of(body: str, inputs: Mapping[str, float], see: str, **traits: bool) -> Probe:
    """Leaves, the lines of the body, and a walk back from the last name, unless the body does the walking itself.

    >>> probe_of("b = a * 2; c = b + a", {"a": 3.0}, "a.grad").text.splitlines()
    ['a = Value(3.0)', 'b = a * 2', 'c = b + a', 'c.backward()']
    """
    leaves = (
        f"{name} = Value({x!r})" if math.isfinite(x) else f'{name} = Value(float("{x}"))' for name, x in inputs.items()
    )
    lines = [*leaves, *body.split("; ")]
    if "backward" not in body:
        lines.append(f"{lines[-1].split(' = ')[0]}.backward()")
    at = ", ".join(f"{name} = {x:g}" for name, x in inputs.items())
    return Probe(f"{body} at {at}", "\n".join(lines), tuple(see.split()), **traits)


def spelt(op: str) -> str:
    """An op of one node `a`, as a program has it.

    >>> spelt("neg"), spelt("pow"), spelt("tanh")
    ('-a', 'a ** 3', 'a.tanh()')
    """
    return {"neg": "-a", "pow": "a ** 3"}.get(op, f"a.{op}()")


def at_points(op: str) -> tuple[Probe, ...]:
    """The probes that try one op by itself, at points where it is smooth.

    >>> print(at_points("tanh")[0].text)
    a = Value(0.5)
    b = a.tanh()
    b.backward()
    """
    if op in SYMBOL:
        return tuple(probe_of(f"c = a {SYMBOL[op]} b", {"a": a, "b": b}, "c.data a.grad b.grad") for a, b in _PAIRS)
    if op == "pow":
        return tuple(probe_of(f"b = a ** {n}", {"a": a}, "b.data a.grad") for a, n in _POWERS)
    return tuple(probe_of(f"b = {spelt(op)}", {"a": a}, "b.data a.grad") for a in _inside(*TABLE[op].domain[0]))


def _inside(low: float, high: float) -> tuple[float, ...]:
    """Points of a domain."""
    if math.isfinite(low) and math.isfinite(high):
        return tuple(low + (high - low) * share for share in _BETWEEN)
    if math.isfinite(low):
        return tuple(round(low + x, 6) for x in _ABOVE)
    return _POINTS if math.isinf(high) else tuple(round(high - x, 6) for x in _ABOVE)


def chained(op: str, k: float = 3.0) -> Probe:
    """The probe that tries one op inside a longer expression, with an operand that is used once more.

    What comes back to the op is `k`.

    >>> chained("tanh").title
    'y = k * a.tanh() + a at k = 3, a = 0.6'
    """
    if op in SYMBOL:
        inputs = {"k": k, "a": 1.7, "b": 0.6}
        return probe_of(f"y = k * (a {SYMBOL[op]} b) + a", inputs, "y.data a.grad b.grad k.grad")
    inner = "(-a)" if op == "neg" else spelt(op)
    return probe_of(f"y = k * {inner} + a", {"k": k, "a": 0.6}, "y.data a.grad k.grad")


def without_preset(program: Probe) -> Probe:
    """A program without the lines that give leaves a gradient before the walk.

    >>> without_preset(evidence("tanh")[6]).text == at_points("tanh")[0].text
    True
    """
    lines = [line for line in program.text.split("\n") if ".grad = " not in line]
    return Probe(program.title, "\n".join(lines), program.see)


@lru_cache(maxsize=64)
def evidence(op: str) -> tuple[Probe, ...]:
    """Probes that need this op alone: at points, on gradients that are there already, on itself, on one Value twice.

    >>> [program.text.split(chr(10))[-2] for program in evidence("sub")][-4:]
    ['c = (a - b) - d', 'c = d - (a - b)', 'b = a - a', 'b = a - a']
    """
    if op in REVERSED:
        return with_number(op[1:], left=True)
    points, sign = at_points(op), SYMBOL.get(op)
    primed = []
    for program in points[:2]:
        lines = program.text.split("\n")
        at = next(i for i, line in enumerate(lines) if "Value" not in line)
        preset = ["a.grad = 7.0", *(["b.grad = -4.0"] if "b.grad" in program.see else [])]
        title = f"{program.title}, with {' and '.join(preset)}{PRESET}"
        primed.append(Probe(title, "\n".join([*lines[:at], *preset, *lines[at:]]), program.see))
    bodies = {"neg": ("c = -(-a)",), "pow": ("c = (a ** 3) ** 2", "c = (a ** -1) ** 3")}.get(
        op, (f"c = (a {sign} b) {sign} d", f"c = d {sign} (a {sign} b)") if sign else (f"c = (a.{op}()).{op}()",)
    )
    stacked = [
        Probe(body, f"a = Value(2.6)\nb = Value(-0.7)\nd = Value(1.9)\n{body}\nc.backward()",
              ("c.data", "a.grad", "b.grad", "d.grad"))
        for body in bodies
    ]  # fmt: skip
    return (*points, *(with_number(op) if sign else ()), *primed, *stacked, *(with_itself(op) if sign else ()))


def with_number(op: str, left: bool = False) -> tuple[Probe, ...]:
    """An operator between a node and a plain number, which must be taken as it is."""
    sign, see = SYMBOL[op], "b.data a.grad"
    if not left:
        return tuple(probe_of(f"b = a {sign} {n!r}", {"a": 3.5}, see, strict=True) for n in (2, 0.5))
    points = ((8, 3.5), (0.5, 3.5), (8, -1.25))
    return tuple(probe_of(f"b = {n!r} {sign} a", {"a": a}, see, strict=True) for n, a in points)


def with_itself(op: str) -> tuple[Probe, ...]:
    """An operator whose operands are the same node."""
    return tuple(probe_of(f"b = a {SYMBOL[op]} a", {"a": a}, "b.data a.grad") for a in (3.0, -0.7))


# --- what a program needs ------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def first_op(text: str) -> str:
    """The op that a program applies first.

    >>> first_op("a = Value(2.0); b = a ** 2; c = b + a")
    'pow'
    """
    return next((min(ops) for line in ast.parse(text).body if (ops := ops_in(ast.unparse(line)))), "")


@lru_cache(maxsize=4096)
def ops_in(text: str) -> frozenset[str]:
    """The ops that a program uses; a number on the left counts as an op of its own.

    >>> sorted(ops_in("a = Value(2.0); b = 8 - a.tanh()"))
    ['rsub', 'tanh']
    """
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            name = SIGNS[type(node.op)]
            found.add(f"r{name}" if isinstance(node.left, ast.Constant) else name)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found |= {"neg"} if not isinstance(node.operand, ast.Constant) else set()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr != "backward":
            found.add(node.func.attr)
    return frozenset(found)
