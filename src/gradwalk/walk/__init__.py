"""Walks over a graph of nodes: the order, and the walk itself as steps that can be played, kept and judged.

| module | what it knows |
|---|---|
| `nodes`, `orders` | operands, names and the topological order of any graph; all that the engine needs |
| `graph` | a graph as plain data: ids, labels, ops, numbers |
| `events` | what can happen on a walk: compute, seed, visit, push |
| `recording`, `states` | `record(root)`: all that happens, in order; JSON; what stands in the graph at any moment |
| `visits`, `handmade` | playing any visit order; running a `_backward` made by hand without a trace |
| `order_verdict`, `contributions` | what an order lost or counted twice, and why |
| `search` | the depth-first search that finds the order, as steps |
| `sentences`, `latex`, `formatting` | each event as a sentence and as a formula, with short numbers |
| `many`, `many_sentences` | the numbers of a tensor at one moment; what happens to tensors, in words |
| `heat_maps` | the numbers of a tensor as a field of colours |
| `json_fields` | fields as JSON holds them |

The first row is loaded with the engine, the rest when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from gradwalk.walk.nodes import OPERAND_FIELDS, describe, formula, operands, short, stable_operands
from gradwalk.walk.orders import cycle, topological

if TYPE_CHECKING:
    from gradwalk.walk.events import AlreadyVisited, Compute, Enter, Event, Leave, Push, Seed, Visit, event_from_dict
    from gradwalk.walk.formatting import readable
    from gradwalk.walk.graph import Graph, NodeInfo, graph_from_nodes, graph_of
    from gradwalk.walk.many import Many
    from gradwalk.walk.order_verdict import Doubled, Missing, OrderVerdict
    from gradwalk.walk.recording import Recording, measured_graph, record
    from gradwalk.walk.search import search_steps
    from gradwalk.walk.states import State, replay, state_after
    from gradwalk.walk.visits import naive_recursion_order

__all__ = [
    "OPERAND_FIELDS",
    "AlreadyVisited",
    "Compute",
    "Doubled",
    "Enter",
    "Event",
    "Graph",
    "Leave",
    "Many",
    "Missing",
    "NodeInfo",
    "OrderVerdict",
    "Push",
    "Recording",
    "Seed",
    "State",
    "Visit",
    "cycle",
    "describe",
    "event_from_dict",
    "formula",
    "graph_from_nodes",
    "graph_of",
    "measured_graph",
    "naive_recursion_order",
    "operands",
    "readable",
    "record",
    "replay",
    "search_steps",
    "short",
    "stable_operands",
    "state_after",
    "topological",
]

#: What is imported only when it is asked for, because the engine does without it: module and names.
_ON_DEMAND = {
    name: module
    for module, names in {
        "formatting": "readable",
        "events": "AlreadyVisited Compute Enter Event Leave Push Seed Visit event_from_dict",
        "graph": "Graph NodeInfo graph_from_nodes graph_of",
        "many": "Many",
        "recording": "Recording measured_graph record",
        "search": "search_steps",
        "states": "State replay state_after",
        "order_verdict": "Doubled Missing OrderVerdict",
        "visits": "naive_recursion_order",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'gradwalk.walk' has no attribute {name!r}")
    from importlib import import_module

    thing = getattr(import_module(f"gradwalk.walk.{_ON_DEMAND[name]}"), name)
    globals()[name] = thing  # found at once the next time
    return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND})
