"""Parameters that no gradient can reach, numbers that left the graph, and gradients that are exactly 0 on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradwalk.doctor.cuts import Cut
from gradwalk.doctor.history import ModelHistory
from gradwalk.doctor.report import Finding, Severity
from gradwalk.doctor.zero_gradients import ZeroGradient
from gradwalk.engine import Value
from gradwalk.messages import counted

_WAYS = {
    "data": "a number read from .data came back as a constant",
    "detach": "detach() was called there",
    "no_grad": "it was computed under no_grad()",
    "copy": "a constant or a leaf equals the number of a node to the last digit, as if it had been read from .data",
}

_MEANT = "if the cut is meant, let only the parameters that are to learn be watched"
#: What to try, where the cut was written down as one.
_JOINED = {
    "detach": ("take the detach() away, if gradients are to pass there", _MEANT),
    "no_grad": ("take it out of the no_grad(), if gradients are to pass there", _MEANT),
}


def connections(history: ModelHistory) -> Iterator[Finding]:
    """What is not connected to the loss, and why.

    >>> from gradwalk import doctor
    >>> w, b = Value(2.0, label="w"), Value(1.0, label="b")
    >>> print(doctor([w, b], w * w).findings[0].what)
    no path leads from the loss to 1 of 2 parameters: b
    """
    if not history.exams:
        return
    never = [p for p in history.names.parameters if id(p) not in history.ever]
    if len(never) == len(history.names.parameters):
        if any(id(p) not in history.elsewhere for p in never):
            yield _nothing(history)
        return
    sparse = _sparse_tables(history)
    spots = history.names.spots
    # Those that another loss of the run trains are meant to be left out of this one, as in adversarial training.
    loose = [p for p in never if spots[id(p)].table not in sparse and id(p) not in history.elsewhere]
    cut_off: set[int] = set()
    for cut in history.cuts:
        behind = cut.parameters & {id(p) for p in loose} - cut_off
        if behind or (cut.way in ("data", "copy") and not cut.parameters <= history.elsewhere):
            cut_off |= behind
            yield _cut(history, cut, [p for p in loose if id(p) in behind])
    rest = [p for p in loose if id(p) not in cut_off]
    if rest:
        yield _disconnected(history, rest)
    yield from _unread_rows(history, [p for p in never if spots[id(p)].table in sparse])
    yield from _stopped(history)


def _sparse_tables(history: ModelHistory) -> set[str]:
    """Tables of which a step reads some rows only, as an embedding: there an unread row is nothing to worry about."""
    spots = history.names.spots
    found = {spots[v].table for v in history.sometimes}
    rows: dict[str, set[bool]] = {}
    for p in history.names.parameters:
        rows.setdefault(spots[id(p)].table, set()).add(id(p) in history.ever)
    in_part = {table for table, states in rows.items() if len(states) == 2}
    return (found | in_part) - history.exams[-1].even - {""}


def _nothing(history: ModelHistory) -> Finding:
    exam = history.exams[0]
    cut = next(iter(history.cuts), None)
    if exam.nodes == 1:
        what = "the loss is a leaf: backward() has nothing to walk"
        why = "it was not computed from Values, or its number was put into a new Value"
    else:
        title = history.names.title or "the model"
        whose = "of the parameters" if title == "the parameters" else f"parameter of {title}"
        what = f"no path leads from the loss to any {whose}"
        why = f"its graph has {exam.nodes:,} nodes, and none of them is a parameter"
    if cut is not None:
        why += f"; {_WAYS[cut.way]}: {cut.source}"
    return Finding(
        "not-connected",
        "error",
        what,
        where=grouped(history, history.names.parameters),
        line=cut.line if cut else history.site,
        why=why,
        remedy=(
            "compute the loss from what the model gives, with Values all the way: no .data, no float() on it",
            "make sure that this is the model that the loss is of",
        ),
        step=exam.step,
        sure="certain",
    )


def _cut(history: ModelHistory, cut: Cut, behind: list[Value]) -> Finding:
    count = f"{cut.count} numbers" if cut.count != 1 else "a number"
    if behind:
        severity: Severity = "error"
        names = grouped(history, behind)
        verb = "get" if len(names) > 1 else "gets"
        what = f"detached: {_some(names)} {verb} no gradient, because {count} left the graph"
        cost = f"nothing reaches the {counted(len(behind), 'parameter')} behind it"
    else:
        severity = "warning"
        names = grouped(history, [p for p in history.names.parameters if id(p) in cut.parameters])
        them = "them" if cut.count != 1 else "it"
        what = f"detached: {count} left the graph, and part of the gradient of {_some(names)} with {them}"
        cost = f"{counted(len(cut.parameters), 'parameter')} miss a share of their gradient"
    lost = f" (there the gradient would be {cut.lost:.4g})"
    return Finding(
        "detached",
        severity,
        what,
        where=names,
        line=cut.line,
        why=f"{_WAYS[cut.way]}: {cut.source}{lost}; {cost}",
        remedy=_JOINED.get(
            cut.way,
            (
                "go on computing with the Value itself, without .data",
                "if the cut is meant, write .detach(), which says so and is not reported where another path remains",
            ),
        ),
        step=history.exams[0].step,
        sure="likely" if cut.way == "copy" else "certain",
        numbers={"way": cut.way, "count": cut.count, "lost": cut.lost, "parameters": len(cut.parameters)},
    )


def _disconnected(history: ModelHistory, loose: list[Value]) -> Finding:
    names, parameters = history.names, history.names.parameters
    exam = history.exams[0]
    where = grouped(history, loose)
    why = "its gradient is exactly 0 because the loss was computed without it"
    if len(loose) > 1:
        why = "their gradients are exactly 0 because the loss was computed without them"
    reader = _reads_leaves(history, loose)
    remedy = [
        "look for where the forward pass leaves it out: a layer not called, a loop that ends too early, a detach()"
    ]
    if reader:
        why += f"; {reader} reads nothing but leaves and constants, although layers come before it"
        remedy.insert(0, "look for .data, float() or a new Value(…) between the two: the graph ends there (likely)")
    elif history.optimiser and not history.given:
        remedy.append("give the optimiser the parameters of the model that is trained")
    return Finding(
        "disconnected",
        "error" if reader else "warning",
        f"no path leads from the loss to {len(loose):,} of {len(parameters):,} parameters: {_some(where)}",
        where=where,
        line=history.site,
        why=why,
        remedy=tuple(remedy),
        step=exam.step,
        numbers={"parameters": [names.name(p) for p in loose[:50]], "count": len(loose)},
    )


def _reads_leaves(history: ModelHistory, loose: list[Value]) -> str:
    """A connected layer that comes after a cut one and reads nothing but leaves: there the graph was cut."""
    spots = history.names.spots
    layers = list(dict.fromkeys(spots[id(p)].layer for p in history.names.parameters))
    connected = {spots[id(p)].layer for p in history.names.parameters if id(p) in history.ever}
    cut = [
        i
        for i, layer in enumerate(layers)
        if layer not in connected and any(spots[id(p)].layer == layer for p in loose)
    ]
    outside = history.exams[-1].outside
    return next((layer for i, layer in enumerate(layers) if outside.get(layer) and cut and i > cut[0]), "")


def _unread_rows(history: ModelHistory, unread: list[Value]) -> Iterator[Finding]:
    tables: dict[str, list[Value]] = {}
    for p in unread:
        tables.setdefault(history.names.spots[id(p)].table, []).append(p)
    for table, values in tables.items():
        rows = dict.fromkeys(history.names.spots[id(p)].unit for p in values)
        yield Finding(
            "unread",
            "note",
            f"{counted(len(rows), 'row')} of {table} {'were' if len(rows) != 1 else 'was'} never read",
            why="usual for a table of which each sample reads a few rows",
            step=history.exams[0].step,
        )


# --- gradients that are 0 although a path leads there --------------------------------------------------------------

_STOPPED = {
    "times 0": (
        "warning",
        "every path to {} is multiplied by 0",
        "a weight, a result or a number of exactly 0 stands on each of them",
        "find out where the 0 comes from: weights that all start at 0 pass nothing back, and neither does a mask of 0",
    ),
    "not chosen": (
        "note",
        "never on the chosen side of a max, min or where",
        "",
        "",
    ),
    "clamped": (
        "warning",
        "a clamp cuts off every path to {}",
        "outside its bounds a clamp is flat: nothing flows back",
        "clamp after the loss is computed, or widen the bounds",
    ),
    "an input of 0": ("note", "weights that are multiplied by inputs of 0 only", "", ""),
}


def _stopped(history: ModelHistory) -> Iterator[Finding]:
    """Gradients that were 0 whenever they were asked about, other than by a ReLU or a tanh."""
    told = [exam for exam in history.exams if exam.zeros is not None]
    if not told or history.exams[-1].loss == 0.0:
        return
    asked = f" in each of the {len(told)} steps for which that was asked" if len(told) > 1 else ""
    *before, last = ({zero.reason: zero for zero in exam.zeros or ()} for exam in told)
    for reason, zero in last.items():
        names = [name for name in zero.parameters if all(name in _stopped_by(reason, zeros) for zeros in before)]
        if reason not in _STOPPED or not names:
            continue
        if reason == "an input of 0" and any(unit.dead for unit in told[-1].relus.values()):
            continue  # the result of a ReLU that is off
        severity, what, why, remedy = _STOPPED[reason]
        yield Finding(
            "zero-gradient",
            "warning" if severity == "warning" else "note",
            what.format(_some(tuple(names))),
            where=tuple(names),
            why=f"{why}, as in {zero.example}: their gradients are exactly 0{asked}" if why else "",
            remedy=(remedy,) if remedy else (),
            step=told[0].step,
        )


def _stopped_by(reason: str, zeros: dict[str, ZeroGradient]) -> list[str]:
    return zeros[reason].parameters if reason in zeros else []


# --- words ---------------------------------------------------------------------------------------------------------


def grouped(history: ModelHistory, values: Iterable[Value]) -> tuple[str, ...]:
    """The names of parameters; a unit or a layer of which all are meant is named as one."""
    chosen = {id(v) for v in values}
    spots = history.names.spots

    def whole(level: str) -> set[str]:
        groups: dict[str, bool] = {}
        for p in history.names.parameters:
            group = getattr(spots[id(p)], level)
            groups[group] = groups.get(group, True) and id(p) in chosen
        return {group for group, all_of_it in groups.items() if all_of_it}

    layers, units = whole("layer"), whole("unit")
    names: dict[str, None] = {}
    for p in history.names.parameters:
        if id(p) in chosen:
            spot = spots[id(p)]
            names[spot.layer if spot.layer in layers else spot.unit if spot.unit in units else spot.path] = None
    return tuple(names)


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")
