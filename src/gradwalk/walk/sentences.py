"""Each event as a sentence and as a line of numbers.

Numbers are short here (four decimals, a real minus sign); the events themselves keep every digit. A gradient that
nothing has reached is "nothing", never 0.
"""

from __future__ import annotations

from typing import Any

from gradwalk.messages import Message, say, verbatim
from gradwalk.walk import latex, many_sentences
from gradwalk.walk.events import AlreadyVisited, Compute, Enter, Leave, Push, Seed, Visit
from gradwalk.walk.formatting import adding_up, clean, guarded, ordinal, readable
from gradwalk.walk.formatting import written as number
from gradwalk.walk.graph import Graph, NodeInfo
from gradwalk.walk.many import Many

__all__: list[str] = []

MOST_NAMES = 4  # nodes that a sentence lists by name


# --- names and formulas --------------------------------------------------------------------------------------------


def quoted(node: NodeInfo) -> str:
    return clean(node.name) if node.constant else f"`{clean(node.name)}`"


def listed(nodes: list[NodeInfo]) -> Message:
    """ "`b`", "`b` and `c`", "`b`, `c` and 7 others"."""
    names: list[str] = [quoted(node) for node in nodes]
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], say("{count} others", count=len(names) - MOST_NAMES + 1)]
    *most, last = names
    return say("{names} and {last}", names=", ".join(most), last=last) if most else verbatim(last)


def written(op: str, parts: list[str]) -> str:
    """An operation on texts, as a person writes it: `a × b`, `4 − (−2)`, `(−3)**2`, `tanh(n)`."""
    op = clean(op)
    if op == "neg":
        first, *_ = parts
        return "−" + guarded(first)
    if len(parts) == 1 and op in ("+", "*"):  # an engine that keeps operands in a set knows a + a by one of them
        parts = parts * 2
    if op[:2] == "**":
        power = op[2:].replace("-", "−")
        return "**".join(map(guarded, parts)) + (f"**{power}" if power else "")
    if op == "-" and len(parts) == 2:
        return f"{parts[0]} − {guarded(parts[1])}"
    if len(parts) > 1 and op and not op[0].isalpha():
        return f" {'×' if op == '*' else op} ".join(parts)
    return f"{op or 'f'}({', '.join(parts)})"


# --- the words -----------------------------------------------------------------------------------------------------


class Narrator:
    """Puts the events of one graph into words."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def sentence(self, event: Any) -> str:
        nodes = self.graph.nodes
        node = nodes[event.node]
        name = quoted(node)
        match event:
            case Compute():
                return _compute(event, self.graph)
            case Seed(gradient=1.0):
                return f"Begin at {name}, the root: it changes as fast as itself, so its gradient is 1."
            case Seed(gradient=gradient):
                return f"Begin at {name}, the root: its gradient is set to {readable(gradient)}."
            case Visit():
                return _visit(event, self.graph)
            case Push(operand=operand):
                return f"{_rule(event, self.graph)} {_what_was_there(event, nodes[operand])}"
            case Enter(by=None):
                ahead = "First go through its operands." if node.operands else "It is a leaf: nothing lies below."
                return f"Begin at {name}. {ahead}"
            case Enter(by=int(by)):
                below = "go on below it" if node.operands else "nothing lies below it"
                return f"{quoted(nodes[by])} uses {name}, which is new: {below}."
            case AlreadyVisited(by=by):
                user = "" if by is None else f"{quoted(nodes[by])} also uses "
                return f"{user}{name}, which has been visited: go on."
        why = f"Every operand of {name} is in the order" if node.operands else f"{name} uses nothing"
        return f"{why}: append it, as number {event.place + 1}."

    def latex(self, event: Any) -> str:
        return latex.latex(event, self.graph)

    def formula(self, event: Any) -> str:
        nodes = self.graph.nodes
        name = clean(nodes[event.node].name)
        match event:
            case Compute():
                return f"{name}.data = {_in_numbers(event, self.graph)}"
            case Seed(gradient=gradient):
                return f"{name}.grad = ∂{name}/∂{name} = {readable(gradient)}"
            case Visit(gradient=None):
                return f"{name}.grad holds nothing"
            case Visit(gradient=gradient):
                return f"{name}.grad = {readable(gradient)}"
            case Push(upstream=Many()):
                to, op = clean(nodes[event.operand].name), clean(nodes[event.node].op)
                return f"{to}.grad += {name}.grad through {op} = {readable(event.contribution)}"
            case Push():
                to = clean(nodes[event.operand].name)
                return f"{to}.grad += {name}.grad × ∂{name}/∂{to} = {_product(event)}"
            case Leave(place=place):
                return f"order[{place}] = {name}"
        return ""


def _product(event: Push) -> str:
    share = readable(event.contribution)
    return share if event.local is None else f"{readable(event.upstream)} × {readable(event.local)} = {share}"


def _in_numbers(event: Compute, graph: Graph) -> str:
    numbers = written(graph.nodes[event.node].op, [readable(x) for x in event.operand_values])
    if event.recomputed is None:
        return f"{numbers} = {readable(event.value)}"
    return f"{readable(event.value)}, though {numbers} = {readable(event.recomputed)} now"


def _compute(event: Compute, graph: Graph) -> str:
    node = graph.nodes[event.node]
    names = written(node.op, [quoted(graph.nodes[x]) for x in event.operands])
    if isinstance(event.value, Many):
        return many_sentences.computed(event, graph, quoted(node), names)
    stale = "" if event.recomputed is None else "; an operand was changed after it was computed"
    return f"{quoted(node)} is {names}: {_in_numbers(event, graph)}{stale}."


def _visit(event: Visit, graph: Graph) -> str:
    node = graph.nodes[event.node]
    words = many_sentences.as_words(event.gradient)
    name, grad = quoted(node), f"{clean(node.name)}.grad"
    grad += f", {words}," if words.startswith("of shape") else f" = {words}"
    consumers = [graph.nodes[x] for x in graph.consumers[node.id]]
    waiting = [graph.nodes[x] for x in event.waiting]
    if event.turn > 1:
        told = f"{name} is visited again, for the {ordinal(event.turn)} time"
        told += "." if node.leaf else f": it pushes all it holds, {readable(event.gradient)}, once more."
    elif event.gradient is None and waiting:
        missing = f"Nothing has reached {name} yet" if node.leaf else f"{name} has nothing to pass on yet"
        told = f"{missing}: {_which_use(waiting)} not been visited."
    elif event.gradient is None:
        told = f"Nothing was pushed to {name}, so it has nothing to pass on."
    elif waiting:
        told = f"{name} holds {readable(event.gradient)} so far: {_which_use(waiting)} not pushed yet."
    elif not consumers:
        told = f"{name} is the root: {grad} is final."
    elif len(consumers) == 1:
        told = f"{listed(consumers)}, the only node that uses {name}, has pushed: {grad} is final."
    else:
        told = f"All that use {name}, {listed(consumers)}, have pushed: {grad} is final."
    if event.arrived is not None:
        told += f" A hook turned {readable(event.arrived)} into that."
    return told + (" A leaf pushes nothing." if node.leaf else "")


def _which_use(waiting: list[NodeInfo]) -> str:
    return f"{listed(waiting)}, which {'uses it, has' if len(waiting) == 1 else 'use it, have'}"


def _rule(event: Push, graph: Graph) -> str:
    node = graph.nodes[event.node]
    words = many_sentences.as_words(event.upstream)
    upstream, to = f"{clean(node.name)}.grad, {words},", quoted(graph.nodes[event.operand])
    if isinstance(node.data, Many):
        return many_sentences.rule(event, graph, upstream, to)
    if node.handmade or event.local is None:
        return f"The _backward of {quoted(node)} turns {upstream} into {readable(event.contribution)} for {to}."
    if node.op == "+":
        return f"+ copies: {upstream} goes to {to} as it is."
    if node.op == "*" and len(node.operands) == 2:
        other = graph.nodes[node.operands[1 - event.position]]
        factor = readable(event.local) if other.constant else f"{quoted(other)} = {readable(event.local)}"
        return f"× swaps and scales: {to} gets {upstream} times the other factor, {factor}: {_product(event)}."
    symbol = written(node.op, ["…"] * len(node.operands)) if node.op[:1] in ("*", "-", "/") else clean(node.op) or "f"
    return f"{symbol} multiplies by its slope: {to} gets {upstream} times {readable(event.local)}: {_product(event)}."


def _what_was_there(event: Push, operand: NodeInfo) -> str:
    grad = f"{clean(operand.name)}.grad"
    after = readable(event.after)
    if event.before is None and isinstance(event.after, Many) and after == str(event.after.shape):
        return f"Before it had nothing; now {grad} holds numbers of shape {after}."
    if event.before is None:
        return f"Before it had nothing; now {grad} = {after}."
    if isinstance(event.after, Many):
        if after == str(event.after.shape):
            return f"That is added to what {grad} had before, number by number."
        return f"Before it had {readable(event.before)}; now {readable(event.contribution)} is added: {grad} = {after}."
    if event.replaces:
        return f"Before it had {readable(event.before)}, which is replaced: {grad} = {after}, where += would add up."
    decimals = adding_up([event.before, event.contribution], event.after)
    before, share, after = (number(x, decimals) for x in (event.before, event.contribution, event.after))
    return f"Before it had {before}; now {grad} = {before} + {share} = {after}."
