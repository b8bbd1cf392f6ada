"""Who is at fault: each node of a graph checked on its own, and the way between nodes if each is right on its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from gradwalk import walk
from gradwalk.check.agreement import judged, same
from gradwalk.check.inputs import CheckedFunction, replaced
from gradwalk.check.nodes import CheckedGraph, Local, Node, ask, data, describe, has_gradient, ordered_operands
from gradwalk.check.numeric import EPSILON, Slope, slope
from gradwalk.check.report import Suspect, ratio, show
from gradwalk.matcher import Outcome, matching
from gradwalk.ops import Op


def measured_on_their_own(graph: CheckedGraph) -> dict[int, dict[int, Slope]]:
    """The slopes of each node in its operands, by the node's id and the operand's place; linear in the nodes."""
    return {
        v: {i: _measured(here, i) for i, got in enumerate(here.slopes or ()) if got is not None}
        for v, here in graph.locals.items()
        # Where several operands meet at a kink (a tie), only all the slopes together are right or wrong.
        if here.function is not None and here.meeting_at_kink() < 2 and not stale(here)
    }


def wrong_on_their_own(
    graph: CheckedGraph, measured: dict[int, dict[int, Slope]], rtol: float, atol: float
) -> list[Suspect]:
    """The nodes whose local derivatives do not agree with their own function."""
    found = []
    for v, slopes in measured.items():
        here = graph.locals[v]
        for i, expected in slopes.items():
            got = (here.slopes or ())[i]
            assert got is not None
            verdict = judged("", got, expected, rtol=rtol, atol=atol, size=abs(here.point[i]))
            if verdict.status == "wrong":
                place = here.arguments.index(i) + 1
                found.append(Suspect(name(here), describe(here), place, got, verdict.expected, habit(here)))
    return found


def stale(here: Local) -> bool:
    """Whether a node no longer holds what its function gives: then its data, or an operand's, was changed since."""
    now, held = here.value(here.point), data(here.node)
    return not same(now, held) and not math.isclose(now, held, rel_tol=1e-9)


def _measured(here: Local, i: int) -> Slope:
    point = here.point
    noise = 4 * EPSILON * abs(data(here.node))  # tuned: an op may be off by a few last digits
    return slope(lambda x: here.value(replaced(point, i, x)), point[i], noise)


def name(here: Local) -> str:
    """What to call the op of a node."""
    op = getattr(here.node, "primitive", None)
    return op.name if isinstance(op, Op) else str(getattr(here.node, "_op", "") or "a node without name")


def habit(here: Local) -> str:
    """A habit of a closure that spoils gradients: setting where it should add, or adding the same at any upstream."""
    operands = tuple(x for x in here.operands if has_gradient(x))
    plain = ask(here.node, operands) or ()  # nothing from a closure that raises, as one that runs only once does
    for held, upstream in ((7.0, 1.0), (0.0, 3.0)):  # onto something; with more from above
        pushed = ask(here.node, operands, upstream=upstream, held=held) or ()
        for local, got in zip(plain, pushed, strict=False):
            habits = {
                "it sets its operand's gradient instead of adding to it: = where += should be": local * upstream - held,
                "what it adds does not grow with its own gradient: multiply by out.grad": local,
                "it adds its own gradient to its derivative, where it should multiply by it": local - 1.0 + upstream,
            }
            if local and (told := _named(got, local * upstream, habits.items())):
                return told
    return ""


def _named(got: float, right: float, mistakes: Iterable[tuple[str, float]]) -> str:
    """Which of the mistakes gives what there is in place of the right number, if any."""

    def alike(one: Outcome, other: Outcome) -> bool:  # gradients may be of any size
        return math.isclose(one.numbers[""], other.numbers[""], rel_tol=1e-9)

    def gives(x: float) -> Callable[[str], Outcome]:
        return lambda _: Outcome("numbers", {"": x})

    candidates = ((told, lambda _, x=x: [gives(x)("")]) for told, x in mistakes)
    return next(matching(candidates, [""], gives(got), gives(right), alike), "")


# --- nodes whose function is not known: watch them while the inputs are nudged --------------------------------------


def wrong_by_rebuilding(
    graph: CheckedGraph, f: CheckedFunction, leaves: list[Node], rtol: float
) -> tuple[list[Suspect], list[str]]:
    """The suspects among nodes whose function is not known, and those of which nothing can be said.

    `f` is run again with one input nudged, and the node is found again at its place in the order. How fast it and
    its operands change with the input must be linked by its local derivatives.
    """
    watched = _Watched(graph, f, leaves)
    places = {id(v): i for i, v in enumerate(graph.order)}
    suspects: list[Suspect] = []
    unknown: list[str] = []
    for v in graph.order:
        here = graph.locals.get(id(v))
        if here is None or (here.function is not None and here.slopes is not None):
            continue
        found = None if here.slopes is None else _linked(here, watched, places, f, rtol)
        if found is None:
            unknown.append(walk.describe(v))
        else:
            suspects += found
    return suspects, unknown


def _linked(
    here: Local, watched: _Watched, places: dict[int, int], f: CheckedFunction, rtol: float
) -> list[Suspect] | None:
    """The node if it is wrong, nothing if it is right as far as the inputs can tell, None if they cannot tell."""
    shares = list(here.shares())
    told = False
    for position, x in enumerate(f.inputs.numbers):
        whole = slope(watched.node(position, places[id(here.node)]), x)
        parts = [slope(watched.node(position, places[id(operand)]), x) for operand, _ in shares]
        if any(part.kink or not part.known for part in (whole, *parts)):
            continue
        told = told or any(part.value for part in parts)
        pushed = [got * part.value for (_, got), part in zip(shares, parts, strict=True)]
        off = whole.error + sum(abs(got) * part.error for (_, got), part in zip(shares, parts, strict=True))
        allowed = rtol * sum(map(abs, pushed)) + 8 * off  # tuned: the errors are estimates
        if abs(sum(pushed) - whole.value) <= allowed:
            continue
        moving = [i for i, part in enumerate(parts) if abs(part.value) > 8 * part.error]  # tuned: as above
        if len(moving) == 1:
            (i,) = moving
            _, got = shares[i]
            should = whole.value / parts[i].value
            return [Suspect(name(here), describe(here), i + 1, got, should, habit(here))]
        why = f"measured along {f.inputs.names[position]}, which moves {len(moving)} of its operands at once"
        why = "; ".join(filter(None, [habit(here), why]))
        return [Suspect(name(here), walk.describe(here.node), 0, sum(pushed), whole.value, why)]
    return [] if told else None


class _Watched:
    """The numbers of all nodes of `f`'s graph while one input is nudged; a graph of another shape tells nothing."""

    def __init__(self, graph: CheckedGraph, f: CheckedFunction, leaves: list[Node]) -> None:
        self.f, self.outline = f, _outline(graph.order, leaves)
        self.seen: dict[tuple[int, float], list[float] | None] = {}

    def node(self, position: int, place: int) -> Callable[[float], float]:
        """The number of the node at `place` in the order, as a function of one input."""

        def at(x: float) -> float:
            numbers = self._numbers(position, x)
            return math.nan if numbers is None else numbers[place]

        return at

    def _numbers(self, position: int, x: float) -> list[float] | None:
        key = (position, x)
        if key not in self.seen:
            root, leaves = self.f.run(replaced(self.f.inputs.numbers, position, x))
            order = list(walk.topological(root, ordered_operands))
            same = _outline(order, leaves) == self.outline
            self.seen[key] = [data(v) for v in order] if same else None
        return self.seen[key]


def _outline(order: list[Node], leaves: list[Node]) -> list[tuple[str, int | None, tuple[int, ...]]]:
    """What a graph looks like apart from its numbers: ops, which leaf is where, and which node feeds which."""
    places = {id(v): i for i, v in enumerate(order)}
    inputs = {id(leaf): i for i, leaf in enumerate(leaves)}
    return [
        (str(getattr(v, "_op", "")), inputs.get(id(v)), tuple(places[id(x)] for x in ordered_operands(v)))
        for v in order
    ]


# --- every node is right on its own, and the total is not ------------------------------------------------------------


#: What is left to say when nothing was found.
NOTHING = (
    "no op could be shown to be wrong, and every gradient is the sum of what is pushed to it: does f take .data, "
    "detach() or no_grad() on the way, keep something between calls, lose its digits in a difference of large numbers, "
    "or stand at a kink where several operands meet?"
)


def lost_on_the_way(graph: CheckedGraph, names: dict[int, str]) -> str:
    """Where a gradient is not the sum of what the node's consumers push, and why, as far as can be seen; else ""."""
    root = graph.root
    if graph.gradient(root) != 1.0:
        return f"backward() must start by setting the result's own gradient to 1; it is {show(graph.gradient(root))}"
    pushes: dict[int, list[float]] = {}
    for v in reversed(graph.order):
        for operand, local in graph.locals[id(v)].shares() if id(v) in graph.locals else ():
            pushes.setdefault(id(operand), []).append(graph.gradient(v) * local)
    for v in reversed(graph.order):
        pushed, got = pushes.get(id(v), []), graph.gradient(v)
        size = sum(map(abs, pushed))
        if not pushed or not math.isfinite(size) or abs(sum(pushed) - got) <= 1e-9 * size:
            continue
        sums = " + ".join(show(x, 6) for x in pushed[:6]) + (" + …" if len(pushed) > 6 else "")
        total = sums if len(pushed) == 1 else f"{sums} = {show(sum(pushed), 6)}"
        who = f"{names[id(v)]} ({show(data(v), 6)})" if id(v) in names else walk.describe(v)
        return (
            f"every op is right on its own, but a gradient went wrong on the way: {who} should get "
            f"{total} from what uses it, and has {show(got, 6)}: {_likely(graph, pushed, got)}"
        )
    return ""


def _likely(graph: CheckedGraph, pushed: list[float], got: float) -> str:
    told = next((told for here in graph.locals.values() if (told := habit(here))), "")
    if told:
        return "one of its consumers is to blame: " + told
    share = ratio(got, sum(pushed))
    times = round(share) if math.isfinite(share) else 0
    many = f"{times} times too much: a node visited twice, gradients not set to 0 before, or a hook that changes them"
    single = "only one of the contributions arrived: = where += should be?"
    mistakes = [(many, times * sum(pushed))] if times > 1 else []
    told = _named(got, sum(pushed), [*mistakes, *((single, x) for x in pushed)])
    return told or "a consumer pushed before its own gradient was complete (wrong order), or pushed more than once"
