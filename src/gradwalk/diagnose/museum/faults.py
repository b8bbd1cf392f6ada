"""Faults as data: a whole specimen, or the same mistake in a single op, and the engine that has a set of them.

Someone's engine rarely has a bug everywhere: `=` for `+=` stands in `__mul__` alone, or only for its second operand.
So each kind of mistake can be put into each op of the teaching engine, and several into the same one. That gives the
numbers with which an unknown engine is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gradwalk.diagnose import teaching
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.museum.specimen import Edit
from gradwalk.diagnose.vocabulary import BINARY, METHODS, REFLECTED, SYMBOL, UNARY

__all__ = [
    "ARRANGEMENTS",
    "EVERY",
    "METHOD",
    "SHAPES",
    "Fault",
    "Kind",
    "engine_with",
    "right_slopes",
    "right_value",
    "source_with",
]

Kind = Literal[
    "specimen", "overwriting", "counting-itself", "without-upstream", "adds-upstream", "detached", "keyed-by-operand",
    "data-read-late", "slope", "value", "reflected", "negated",
    "closure-on-operand",
]  # fmt: skip

#: The teaching engine's method for each op.
METHOD = {
    **{op: METHODS[op] for op in (*BINARY, "neg")},
    **{f"r{op}": REFLECTED[op] for op in SYMBOL},
    **{op: op for op in UNARY},
}

#: How people make one operator from others; an engine that does so is compared with a teaching engine that does too.
SHAPES = {
    "neg": "return self * -1",
    "sub": "return self + (-other)",
    "sub, wrapped": "return self + (-as_value(other))",
    "div": "return self * (other ** -1 if isinstance(other, Value) else divide(1.0, other))",
    "div, wrapped": "return self * as_value(other) ** -1",
    "radd": "return self + other",
    "rmul": "return self * other",
    "rsub": "return (-self) + other",
    "rsub, reflected": "return other + (-self)",
    "rdiv": "return self ** -1 * other",
    "rdiv, reflected": "return other * self ** -1",
    "tanh": "e = (self * 2).exp()\n        return (e - 1) / (e + 1)",
    "sigmoid": "return 1 / (1 + (-self).exp())",
}

#: In which order a node may keep its operands, as an edit of the teaching engine; sets drop repeats.
ARRANGEMENTS: dict[str, Edit] = {
    "as written": ("", ""),
    "turned round": ("tuple(_children)", "tuple(_children)[::-1]"),
    "without repeats": ("tuple(_children)", "tuple(dict.fromkeys(_children))"),
    "without repeats, turned round": ("tuple(_children)", "tuple(dict.fromkeys(_children))[::-1]"),
}

OPERANDS = ("self", "other")
EVERY = "every op"
_PUSHING_OPS = (*BINARY, "neg", *UNARY)


@dataclass(frozen=True)
class Fault:
    """One thing wrong: what kind, in which op (`EVERY`: all), for which operand (None: all), and what stands there.

    >>> text = source_with([Fault("overwriting", "mul", 1)])
    >>> "other.grad = x * out.grad" in text, "self.grad += y * out.grad" in text
    (True, True)
    """

    kind: Kind
    op: str = ""
    operand: int | None = None
    formula: str = ""
    specimen: str = ""
    edits: tuple[Edit, ...] = ()

    @property
    def name(self) -> str:
        """The specimen that this fault is.

        >>> Fault("slope", "tanh", 0, "(1.0 - x * x)").name
        'wrong-derivative'
        """
        return self.specimen or _SPECIMEN_OF.get(self.kind, self.kind)


_SPECIMEN_OF = {
    "adds-upstream": "without-upstream",
    "negated": "wrong-derivative",
    "detached": "detached-op",
    "slope": "wrong-derivative",
    "value": "wrong-value",
    "reflected": "wrong-value",
}


def source_with(faults: Iterable[Fault], shapes: Iterable[str] = (), arrangement: str = "as written") -> str:
    """The teaching engine with these faults, its operators composed as named, its operands kept as named.

    >>> "return self + (-other)" in source_with([], shapes=["sub"])
    True
    """
    text = teaching.SOURCE
    for shape in shapes:
        block = _block(text, METHOD[shape.split(",")[0]])
        text = text.replace(block, block.split("\n", 1)[0] + f"\n        {SHAPES[shape]}\n")
    everywhere: list[Edit] = [ARRANGEMENTS[arrangement]]
    for fault in faults:
        if fault.kind == "specimen":
            everywhere += fault.edits
            continue
        for op in _PUSHING_OPS if fault.op == EVERY else (fault.op,):
            block = _block(text, METHOD[op])
            text = text.replace(block, _spoilt(block, fault))
    for old, new in everywhere:
        text = text.replace(old, new) if old else text
    return text


@lru_cache(maxsize=512)
def engine_with(faults: tuple[Fault, ...], shapes: tuple[str, ...] = (), arrangement: str = "as written") -> Engine:
    """An engine that has these faults.

    >>> from gradwalk.diagnose.probes import Probe, run
    >>> program = Probe("", "a = Value(3.0); b = a * a; b.backward()", ("a.grad",))
    >>> run(program, engine_with((Fault("overwriting", "mul"),))).numbers
    {'a.grad': 3.0}
    """
    cls = teaching.load(source_with(faults, shapes, arrangement))
    return Engine(cls)


def right_slopes(op: str) -> tuple[str, ...]:
    """The teaching engine's local derivatives of an op, as text in x, y, n and the result z.

    >>> right_slopes("sub"), right_slopes("tanh")
    (('1.0', '-1.0'), ('(1.0 - z * z)',))
    """
    block = _block(teaching.SOURCE, METHOD[op])
    return tuple(_slope_of(right) for _, _, right in _PUSH.findall(block))


def right_value(op: str) -> str:
    """The teaching engine's value of an op, as text.

    >>> right_value("relu")
    'x if x > 0.0 else 0.0'
    """
    return _VALUE.search(_block(teaching.SOURCE, METHOD[op])).group(1)  # type: ignore[union-attr]


# --- editing one method ------------------------------------------------------------------------------------------

_PUSH = re.compile(r"^            (self|other)\.grad (\+?=) (.*)$", re.M)
_VALUE = re.compile(r"^        z = (.*)$", re.M)


def _block(text: str, method: str) -> str:
    """The lines of one method of the class."""
    start = text.index(f"    def {method}(")
    end = min(found for mark in ("\n    def ", "\n    # ---", "\ndef ") if (found := text.find(mark, start + 1)) > 0)
    return text[start:end]


def _slope_of(right: str) -> str:
    """The local derivative in the right-hand side of a push."""
    if right in ("out.grad", "-out.grad"):
        return right.replace("out.grad", "1.0")
    return right.removesuffix(" * out.grad")


def _spoilt(block: str, fault: Fault) -> str:
    """The lines of a method with a fault put in."""
    if fault.kind == "value":
        return _VALUE.sub(f"        z = {fault.formula}", block)
    if fault.kind == "reflected":
        return re.sub(r"return .*", f"return {fault.formula}", block)
    if fault.kind == "keyed-by-operand":
        return _keyed(block)
    if fault.kind == "closure-on-operand":
        return block.replace("out._backward = push", f"{OPERANDS[fault.operand or 0]}._backward = push")

    def spoil(push: re.Match[str]) -> str:
        operand, sign, right = push.groups()
        if fault.operand is not None and OPERANDS[fault.operand] != operand:
            return push.group()
        match fault.kind:
            case "overwriting" if fault.formula:  # only where this holds is anything pushed at all
                return f"            if {fault.formula}: {operand}.grad = {right}"
            case "overwriting":
                sign = "="
            case "counting-itself":
                right = f"{operand}.grad + {right}"
            case "without-upstream":
                right = _slope_of(right)
            case "adds-upstream":
                right = f"{_slope_of(right)} + out.grad"
            case "detached":
                right = "0.0"
            case "negated":
                right = f"-({right})"
            case "slope":
                right = f"({fault.formula}) * out.grad"
            case "data-read-late":
                right = re.sub(r"\bx\b", "self.data", re.sub(r"\by\b", "other.data", right))
        return f"            {operand}.grad {sign} {right}"

    return _PUSH.sub(spoil, block)


def _keyed(block: str) -> str:
    pushes = _PUSH.findall(block)
    shares = ", ".join(f"{operand}: {right}" for operand, _, right in pushes)
    body = f"            for operand, share in {{{shares}}}.items():\n                operand.grad += share"
    return _PUSH.sub("", block).replace("def push():", f"def push():\n{body}")
