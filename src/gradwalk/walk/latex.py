r"""Each event as a formula, in the LaTeX that KaTeX takes.

Labels are whatever people write, so every character that LaTeX reads as its own is spelt out; a label such as `w1` or
`x_1` becomes a letter with an index.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from gradwalk.formulas.text import LATEX, latex_name, latex_words
from gradwalk.walk.events import Compute, Leave, Push, Seed, Visit
from gradwalk.walk.formatting import clean, readable
from gradwalk.walk.many import Many

if TYPE_CHECKING:
    from gradwalk.walk.graph import Graph

__all__: list[str] = []


def name(label: str) -> str:
    """A label in a formula."""
    return latex_name(clean(label))


def text(words: str) -> str:
    return latex_words(clean(words))


def number(x: Any) -> str:
    """A number in a formula."""
    if x is None:
        return r"\text{nothing}"
    if isinstance(x, Many):
        return number(x.numbers[0]) if not x.shape else text(readable(x))
    if math.isnan(x):
        return r"\text{nan}"
    if math.isinf(x):
        return r"\infty" if x == math.inf else r"-\infty"
    digits, _, power = readable(x).replace("−", "-").partition("e")
    if not power:
        return digits
    ten = f"10^{{{power}}}"
    return {"1": ten, "-1": f"-{ten}"}.get(digits, rf"{digits} \times {ten}")


def applied(op: str, parts: list[str]) -> str:
    """An operation on formulas."""
    first, *rest = parts * 2 if len(parts) == 1 and op in ("+", "*") else parts
    if op == "neg":
        return "-" + _guarded(first)
    if op == "/" and len(parts) == 2:
        return rf"\frac{{{first}}}{{{''.join(rest)}}}"
    if op.startswith("**"):
        power = op.removeprefix("**")
        if power and not re.fullmatch(r"-?[\d.]+", power):
            power = text(power)
        return f"{{{_guarded(first)}}}^{{{power or ''.join(rest)}}}"
    if op in LATEX.around:
        return LATEX.around[op] % first
    if rest and op and not op[0].isalpha():
        sign = {"+": "+", "-": "-", "*": r"\times"}.get(op) or text(op)
        return f" {sign} ".join([first, *map(_guarded, rest)])
    return f"{LATEX.functions.get(op) or text(op or 'f')}({', '.join(parts)})"


def _guarded(part: str) -> str:
    return rf"({part})" if part.startswith("-") or r"\times 10^" in part else part


def grad(label: str) -> str:
    return name(label) + r".\text{grad}"


def slope(of: str, by: str) -> str:
    return rf"\frac{{\partial {name(of)}}}{{\partial {name(by)}}}"


def latex(event: Any, graph: Graph) -> str:
    """The event as a formula; nothing for a step of the search."""
    nodes = graph.nodes
    node = nodes[event.node]
    match event:
        case Compute():
            names = applied(
                node.op, [number(nodes[x].data) if nodes[x].constant else name(nodes[x].name) for x in event.operands]
            )
            numbers = applied(node.op, [number(x) for x in event.operand_values])
            if event.recomputed is not None:
                return f"{name(node.name)} = {number(event.value)} \\ne {numbers} = {number(event.recomputed)}"
            return f"{name(node.name)} = {names} = {numbers} = {number(event.value)}"
        case Seed(gradient=gradient):
            return f"{grad(node.name)} = {slope(node.name, node.name)} = {number(gradient)}"
        case Visit(gradient=gradient):
            return f"{grad(node.name)} = {number(gradient)}"
        case Push():
            to = nodes[event.operand].name
            if isinstance(node.data, Many):
                through = f"{grad(node.name)} \\text{{ through }} {text(node.op)}"
                return f"{grad(to)} \\mathrel{{+}}= {through} = {number(event.contribution)}"
            told = f"{grad(to)} \\mathrel{{+}}= {grad(node.name)} \\times {slope(node.name, to)}"
            if event.local is not None:
                told += f" = {number(event.upstream)} \\times {_guarded(number(event.local))}"
            return f"{told} = {number(event.contribution)}"
        case Leave(place=place):
            return rf"\text{{order}}_{{{place}}} = {name(node.name)}"
    return ""
