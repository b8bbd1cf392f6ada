"""What a step says: its phase and place, a sentence, a formula as names over numbers, before → after."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len

from gradwalk.stepper.canvas import EMPTY
from gradwalk.stepper.player import Player
from gradwalk.walk import Compute, Event, Graph, Push, Seed, Visit, readable
from gradwalk.walk.formatting import clean, guarded
from gradwalk.walk.many import Many
from gradwalk.walk.sentences import written

__all__ = ["groups", "page", "two_rows"]


@dataclass(frozen=True)
class Page:
    """All that a step says. `formula` holds pairs, a name and the number under it."""

    phase: str
    place: str
    sentence: str
    formula: tuple[tuple[str, str], ...] = ()
    slot: tuple[str, str, str] | None = None  # whose, what was there, what is there now
    kind: str = "data"  # which colour the slot has
    right: bool | None = None  # at the end: the verdict


def page(player: Player, note: str = "") -> Page:
    """The page for the player's place; `note` is told before the first step.

    >>> player = Player(record(PRESETS["diamond"].build().root))
    >>> _ = player.go(11)
    >>> found = page(player)
    >>> found.phase, found.place, found.slot
    ('backward', 'b pushes to a', ('a.grad', '9', '15'))
    >>> for row in two_rows(found.formula): print(row)
    a.grad += b.grad × ∂b/∂a
         6  =      6 × 1
    """
    graph, event = player.recording.graph, player.event
    if event is None and player.at == 0:
        count, given = len(graph.nodes), sum(not node.operands for node in graph.nodes)
        told = (
            f"{count:,} nodes: {given:,} given, {count - given:,} to compute. {EMPTY} is an empty slot: no number has "
        )
        return Page("start", "", f"{note} {told}come yet, and that is not a 0. Press → to begin.".strip())
    if event is None:
        verdict = player.recording.verdict
        return Page("end", "the walk is done", verdict.sentence, right=verdict.right)
    name = clean(graph.nodes[event.node].name)
    match event:
        case Compute():
            lands = (f"{name}.data", EMPTY, readable(event.value))
            return Page("forward", f"compute {name}", event.sentence, _computed(event, graph), lands)
        case Seed():
            by_itself = (("=", "="), (f"∂{name}/∂{name}", "1")) if event.gradient == 1.0 else ()
            formula = ((f"{name}.grad", readable(event.gradient)), *by_itself)
            lands = (f"{name}.grad", EMPTY, readable(event.gradient))
            return Page("seed", f"begin at {name}", event.sentence, formula, lands, "grad")
        case Visit():
            return Page("backward", f"visit {name}", event.sentence, kind="grad")
        case Push():
            to, op = clean(graph.nodes[event.operand].name), clean(graph.nodes[event.node].op)
            lands = (f"{to}.grad", EMPTY if event.before is None else readable(event.before), readable(event.after))
            return Page(
                "backward", f"{name} pushes to {to}", event.sentence, _pushed(event, name, to, op), lands, "grad"
            )
    return Page("", "", event.sentence)


# --- formulas --------------------------------------------------------------------------------------------------------


def _computed(event: Compute, graph: Graph) -> tuple[tuple[str, str], ...]:
    node = graph.nodes[event.node]
    names = [clean(graph.nodes[x].name) for x in event.operands]
    numbers = [readable(x) for x in event.operand_values]
    made = ((f"{clean(node.name)}.data", readable(event.value)), ("=", "=" if event.recomputed is None else "≠"))
    if len(names) == 2 and node.op in ("+", "-", "*", "/"):
        symbol = {"*": "×", "-": "−"}.get(node.op, node.op)
        return (*made, (names[0], numbers[0]), (symbol, symbol), (names[1], guarded(numbers[1])))
    return (*made, (written(node.op, names), written(node.op, numbers)))


def _pushed(event: Push, name: str, to: str, op: str) -> tuple[tuple[str, str], ...]:
    share = (f"{to}.grad", readable(event.contribution)), ("+=", "=")
    if isinstance(event.upstream, Many):
        return (*share, (f"{name}.grad", readable(event.upstream)), ("through", "through"), (op, op))
    if event.local is None:
        return (*share, (f"what the _backward of {name} adds", ""))
    factors = (
        (f"{name}.grad", readable(event.upstream)),
        ("×", "×"),
        (f"∂{name}/∂{to}", guarded(readable(event.local))),
    )
    return (*share, *factors)


def two_rows(formula: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """The names, and the numbers right under them.

    >>> two_rows((("d.data", "18"), ("=", "="), ("b", "3"), ("×", "×"), ("c", "6")))
    ('d.data = b × c', '    18 = 3 × 6')
    """
    above, below = [], []
    for place, (name, number) in enumerate(formula):
        width = max(cell_len(name), cell_len(number))
        last = place == len(formula) - 1
        above.append(name + " " * (0 if last else width - cell_len(name)))
        below.append(number if last else " " * (width - cell_len(number)) + number)
    return " ".join(above).rstrip(), " ".join(below).rstrip()


# --- the walk line ---------------------------------------------------------------------------------------------------


def groups(events: tuple[Event, ...]) -> list[tuple[str, int]]:
    """The steps in groups, with their sizes: forward, seed, then each visit with its pushes.

    >>> groups(record(PRESETS["diamond"].build().root).events)
    [('forward', 3), ('seed', 1), ('visit', 3), ('visit', 2), ('visit', 2)]
    """
    found: list[list[str | int]] = []
    for kind, run in groupby(events, key=lambda event: event.kind):
        count = len(list(run))
        if kind in ("compute", "seed"):
            found.append(["forward" if kind == "compute" else "seed", count])
        elif kind == "visit":
            found.extend(["visit", 1] for _ in range(count))
        else:
            found[-1][1] = int(found[-1][1]) + count
    return [(str(name), int(count)) for name, count in found]
