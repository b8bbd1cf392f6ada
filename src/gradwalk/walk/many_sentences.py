"""What happens to tensors on a walk, in words: which op, on which shapes, and what its way back does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwalk.walk.formatting import readable
from gradwalk.walk.many import STRUCTURE, Many

if TYPE_CHECKING:
    from gradwalk.walk.events import Compute, Push
    from gradwalk.walk.graph import Graph

__all__: list[str] = []

#: What the way back of an op on structure does with the upstream gradient, `{g}`, for operand `{to}`.
BACK = {
    "sum": "sum copies: {g} goes to every number of {to} that was added",
    "max": "max chooses: {g} goes to the numbers of {to} that were the largest, and 0 to the others",
    "reshape": "reshape only moves numbers: {g} goes back to {to} in its own shape",
    "permute": "permute only moves numbers: {g} goes back to {to} with its axes in the old order",
    "expand": "expand repeats: {g} holds one gradient for each copy, and they are summed for {to}",
    "index": "index takes numbers: {g} goes back to where they were in {to}, and adds up where one was taken twice",
    "add_at": "the numbers of {to} were added at places: each gets what {g} holds at its place",
    "cat": "cat puts parts side by side: {to} gets the part of {g} that is its own",
    "pad": "pad adds numbers around: {to} gets the part of {g} that is its own",
    "cumsum": "cumsum adds up along the way: each number of {to} gets the sum of {g} from its place on",
    "@": "@ multiplies by the other factor: each number of {to} gets {g} times what it was multiplied with, summed",
    "einsum": "einsum multiplies by the other factors: each number of {to} gets {g} times what it was multiplied with, "
    "summed",
    "of": "each Value has one number here: {to} gets the one of {g} that is its own",
    "to": "only the dtype changes: {g} goes to {to} as it is",
}


def shape_of(x: object) -> tuple[int, ...]:
    return x.shape if isinstance(x, Many) else ()


def as_words(x: object) -> str:
    """A number, or few of them, as they are; of more the shape, and said to be one."""
    text = readable(x)
    return f"of shape {text}" if shape_of(x) and text == str(shape_of(x)) else text


def computed(event: Compute, graph: Graph, name: str, formula: str) -> str:
    """What an op on tensors gave."""
    node = graph.nodes[event.node]
    shapes = [shape_of(x) for x in event.operand_values]
    told = f"{name} is {formula}"
    if node.op not in STRUCTURE:
        repeated = sorted({str(shape) for shape in shapes if shape and shape != shape_of(event.value)})
        told += ", number by number" if shape_of(event.value) else ""
        if repeated:
            told += f" ({' and '.join(repeated)} repeated to fit)"
    elif any(shapes):
        told += f", from {' and '.join(dict.fromkeys(str(shape) for shape in shapes if shape))}"
    return f"{told}: {as_words(event.value)}."


def rule(event: Push, graph: Graph, upstream: str, to: str) -> str:
    """What the way back of an op on tensors does for one operand."""
    node = graph.nodes[event.node]
    summed = ""
    if node.op not in STRUCTURE and shape_of(graph.nodes[event.operand].data) != shape_of(node.data):
        before, after = shape_of(node.data), shape_of(graph.nodes[event.operand].data)
        summed = f"; it was repeated from {after} to {before}, so what comes back is summed"
    if node.op in BACK:
        return f"{BACK[node.op].format(g=upstream, to=to)}."
    if node.op == "+" or (node.op == "-" and event.position == 0):
        return f"{node.op.replace('-', '−')} copies: {upstream} goes to {to}{summed or ' as it is'}."
    if node.op == "-":
        return f"− flips the sign: {to} gets −{upstream} number by number{summed}."
    if node.op == "*" and len(node.operands) == 2:
        other = graph.nodes[node.operands[1 - event.position]]
        factor = other.name if other.constant else f"`{other.name}`"
        return f"× swaps and scales: {to} gets {upstream} times the other factor, {factor}, number by number{summed}."
    return f"{node.op} multiplies each number by its slope: {to} gets {upstream} times that{summed}."
