"""ReluCounts that do not work: ReLUs that are off for every sample, tanh and sigmoid so far out that they are flat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradwalk.doctor.history import Exam, ModelHistory
from gradwalk.doctor.report import Finding, Severity

ENOUGH = 8  # samples in one graph, before a unit that was never on is called dead
SCATTERED = 64  # … and so many where each graph has fewer: a unit that works may well be off for a few
CROWD = 32  # … or so many times that units of a layer were off, if all of them always were
MANY = 0.5  # of a layer: if more of its units are dead, it is too many; a few are usual
SOME = 0.34  # … and if it is fewer than this, nothing is said
DEEP = 2.0  # times the reach of its neighbours' sums: a unit that lies so far below 0 will not come back
FLAT = 0.9  # of the samples, before a layer is called saturated
LEARNT = 0.5  # of the first loss: where less is left, a saturated layer is what being sure looks like


def idle_units(history: ModelHistory) -> Iterator[Finding]:
    """Dead ReLUs and saturated layers.

    >>> from gradwalk import doctor
    >>> model = nn.MLP(1, [3, 1])
    >>> for neuron in model.layers[0].neurons:
    ...     neuron.b.data = -100.0
    >>> X = [[x / 10] for x in range(10)]
    >>> doctor(model, nn.mse([model(x) for x in X], [0.0] * 10))[0].what
    'dead ReLUs, which no sample turns on: all 3 of layers[0]'
    """
    yield from _dead(history)
    yield from _saturated(history)


# --- dead ReLUs ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layer:
    """The ReLUs of a layer that are dead, since when, and how many there are."""

    name: str
    dead: list[str]
    of: int
    since: int
    samples: int
    highest: float
    deep: bool

    @property
    def all(self) -> bool:
        return len(self.dead) == self.of

    @property
    def many(self) -> bool:
        return len(self.dead) > MANY * self.of

    def __str__(self) -> str:
        if self.of == 1:
            return f"the one of {self.name}"
        return f"all {self.of} of {self.name}" if self.all else f"{len(self.dead)} of {self.of} of {self.name}"


def _dead(history: ModelHistory) -> Iterator[Finding]:
    exams = [exam for exam in history.exams if exam.relus]
    layers: list[_Layer] = []
    for layer in _dead_layers(exams):
        before = next((other for other in layers if other.all and other.since <= layer.since), None)
        if before is None or (layer.deep and not layer.all):  # what a dead layer gives is 0, and that kills the next
            layers.append(layer)
    grave = [layer for layer in layers if layer.all or layer.many or layer.deep]
    slight = [layer for layer in layers if layer not in grave and len(layer.dead) >= SOME * layer.of]
    if grave:
        yield _graves(history, grave, "error" if any(layer.all for layer in grave) else "warning")
    elif slight:
        yield _graves(history, slight, "note")


def _dead_layers(exams: list[Exam]) -> Iterator[_Layer]:
    if not exams:
        return
    last = exams[-1]
    members: dict[str, list[str]] = {}
    for unit, counts in last.relus.items():
        members.setdefault(counts.layer, []).append(unit)
    for name, units in members.items():
        since = {unit: step for unit in units if (step := _dead_since(exams, unit)) is not None}
        reaches = {unit: _reach(exams, unit) for unit in units}
        deep = {unit for unit in since if _deep(reaches, unit, [other for other in units if other not in since])}
        if deep and len(since) <= MANY * len(units):
            since = {unit: since[unit] for unit in since if unit in deep}  # the others may come back
        if not since:
            continue
        whole = len(since) == len(units)
        onset = max(since.values()) if whole else min(since.values())
        one = next(iter(since))
        seen = [exam.relus[one].seen for exam in exams if exam.step >= onset and one in exam.relus]
        samples, crowd = sum(seen), whole and len(units) > 1 and sum(seen) * len(units) >= CROWD
        sure = max(seen) >= ENOUGH or samples >= SCATTERED or crowd
        if sure or (deep == since.keys() and samples >= ENOUGH):
            highest = max(last.relus[unit].highest for unit in since)
            yield _Layer(name, list(since), len(units), onset, samples, highest, bool(deep))


def _dead_since(exams: list[Exam], unit: str) -> int | None:
    """The step from which on a unit was dead in every examination to the last; None if it is not."""
    since = None
    for exam in reversed(exams):
        seen = exam.relus.get(unit)
        if seen is None:
            continue
        if not seen.dead:
            break
        since = exam.step
    return since


def _reach(exams: list[Exam], unit: str) -> tuple[float, float]:
    """The lowest and the highest sum of a unit in all examinations: a graph of one sample has no spread of its own."""
    seen = [exam.relus[unit] for exam in exams if unit in exam.relus]
    return min(each.lowest for each in seen), max(each.highest for each in seen)


def _deep(reaches: dict[str, tuple[float, float]], unit: str, working: list[str]) -> bool:
    """Whether a dead unit lies far below 0, as measured by the units of its layer that work."""
    low, high = reaches[unit]
    spread = max((reaches[name][1] - reaches[name][0] for name in working), default=0.0)
    return -high > DEEP * max(spread, high - low)


def _graves(history: ModelHistory, layers: list[_Layer], severity: Severity) -> Finding:
    onset = min(layer.since for layer in layers)
    samples, highest = min(layer.samples for layer in layers), max(layer.highest for layer in layers)
    dead = [unit for layer in layers for unit in layer.dead]
    stopped = _stopped_by(history, dead)
    early = onset <= history.exams[0].step
    since = " from the first step on" if early and history.steps > 1 else f" since step {onset}" if onset > 1 else ""
    why = f"off for all {samples:,} samples seen{since}, the nearest to 0 at {highest:.3g}"
    if severity == "note":
        why += "; a few are usual, and harmless"
    else:
        why += "; where a ReLU is off its slope is 0, so its weights get a gradient of exactly 0 and learn nothing"
        why += f"; {stopped} parameters have one, although a path leads there" if stopped else ""
    if early:
        remedy = "look at the first weights and biases there, and at the size of what comes in"
    else:
        remedy = "take a smaller learning rate: a step too long can push a unit out for good"
    return Finding(
        "dead-relu",
        severity,
        f"dead ReLUs, which no sample turns on: {', '.join(map(str, layers[:3]))}" + (", …" if layers[3:] else ""),
        where=tuple(place for layer in layers for place in ([layer.name] if layer.all else layer.dead)),
        why=why,
        remedy=(remedy, 'leaky_relu always lets something through (activation="leaky_relu" of an MLP)'),
        step=onset,
        numbers={"dead": len(dead), "highest": highest, "units": dead},
    )


def _stopped_by(history: ModelHistory, dead: list[str]) -> int:
    """How many parameters have a gradient of exactly 0 because of ReLUs, these among them."""
    zeros = next((exam.zeros for exam in reversed(history.exams) if exam.zeros is not None), None) or ()
    return sum(len(zero.parameters) for zero in zeros if zero.reason == "relu" and zero.units & set(dead))


# --- saturated layers ----------------------------------------------------------------------------------------------


def _saturated(history: ModelHistory) -> Iterator[Finding]:
    exams = [exam for exam in history.exams if exam.squashes]
    if not exams:
        return
    first, last = exams[0], exams[-1]
    for layer, squash in last.squashes.items():
        if squash.share < FLAT or squash.seen < 2:
            continue
        flat = [exam for exam in exams if layer in exam.squashes and exam.squashes[layer].share >= FLAT]
        if flat[0] is not first and last.loss < LEARNT * first.loss:
            continue  # it grew sure of itself as it learnt
        units = [unit for unit, (seen, saturated) in squash.units.items() if saturated >= FLAT * seen]
        whole = len(units) == len(squash.units)
        born = flat[0] is first
        yield Finding(
            "saturated",
            "warning",
            f"{layer} is saturated: {squash.share:.0%} of its {squash.op} results lie where it is flat",
            where=(layer,) if whole else tuple(units),
            why=(
                f"there its slope is below {0.01 if squash.op == 'tanh' else 0.0025:g}, and what flows back to this "
                f"layer and to those before it is multiplied by that"
                + ("" if born else f"; it has been so since step {flat[0].step}")
            ),
            remedy=(
                (
                    'smaller first weights and biases keep the sums near 0 (init="xavier" of an MLP)',
                    "bring the inputs to a size of about 1",
                )
                if born
                else ("a smaller learning rate: the weights have grown too fast",)
            ),
            step=flat[0].step,
            numbers={"share": squash.share, "units": units},
        )
