"""The part of a large graph around the node in play: what it was computed from, and what uses it."""

from __future__ import annotations

from gradwalk.stepper.canvas import EMPTY
from gradwalk.stepper.player import Player
from gradwalk.walk import Push, readable
from gradwalk.walk.formatting import clean

__all__ = ["LARGE", "around", "in_play", "listing"]

LARGE = 150  # nodes; beyond, a drawing of the whole is no help
MOST_OPERANDS = 4
MOST_CONSUMERS = 3


def in_play(player: Player) -> int:
    """The node that a step is about.

    >>> in_play(Player(walk.record(Value(3.0) * 2)))
    2
    """
    if player.event is not None:
        return player.event.node
    graph = player.recording.graph
    return graph.interior[0] if player.at == 0 and graph.interior else graph.root


def around(player: Player) -> list[int]:
    """The node in play, its operands and what uses it; of many, those that this step is about.

    >>> a = Value(3.0)
    >>> player = Player(walk.record((a * 2).exp().tanh()))
    >>> around(player)
    [0, 1, 2, 3]
    """
    graph, place, event = player.recording.graph, in_play(player), player.event
    operands = list(dict.fromkeys(graph.nodes[place].operands))
    if isinstance(event, Push) and event.operand in operands[MOST_OPERANDS:]:
        operands = [event.operand, *operands]
    consumers = graph.consumers[place]
    return sorted({place, *operands[:MOST_OPERANDS], *consumers[:MOST_CONSUMERS]})


def left_out(player: Player) -> str:
    """How many neighbours `around` leaves out, in words; nothing if none."""
    graph, place = player.recording.graph, in_play(player)
    operands = len(set(graph.nodes[place].operands)) - MOST_OPERANDS
    consumers = len(graph.consumers[place]) - MOST_CONSUMERS
    told = [f"{n} more {what}" for n, what in ((operands, "operands"), (consumers, "that use it")) if n > 0]
    return f"and {', '.join(told)}" if told else ""


def listing(player: Player, rows: int) -> list[tuple[bool, str, str, str]]:
    """The nodes around the one in play, as they were computed: whether it is the one itself, its name, its numbers.

    >>> player = Player(walk.record(Value(3.0, label="a").exp()))
    >>> _ = player.go(2)
    >>> listing(player, 9)
    [(False, 'a', '3', '╌╌'), (True, 'n1', '20.0855', '1')]
    """
    graph, state, place = player.recording.graph, player.state, in_play(player)
    nodes = [node for node in graph.nodes[max(0, place - 3 * rows) : place + 3 * rows] if not node.constant]
    at = next((k for k, node in enumerate(nodes) if node.id == place), 0)
    start = max(0, min(at - rows // 2, len(nodes) - rows))
    shown = []
    for node in nodes[start : start + rows]:
        data, grad = state.data[node.id], state.grads[node.id]
        shown.append((node.id == place, clean(node.name), _slot(data), _slot(grad)))
    return shown


def _slot(x: float | None) -> str:
    return EMPTY if x is None else readable(x)
