"""One model in training, step by step: what each call of `backward()` and each update shows."""

from __future__ import annotations

import math
from typing import Any

from gradwalk.doctor.cuts import cuts_followed
from gradwalk.doctor.examine import examine
from gradwalk.doctor.findings.learning_rate import replay_of, tried
from gradwalk.doctor.history import Exam, ModelHistory
from gradwalk.doctor.lines import Lines
from gradwalk.doctor.names import Names
from gradwalk.doctor.scan import Scan
from gradwalk.doctor.tracking import Readings
from gradwalk.engine import Value
from gradwalk.optim import Optimizer
from gradwalk.provenance import Place, users_place
from gradwalk.replay import Replay

EARLY = (1, 2, 4, 7, 10, 15, 25, 40, 70)  # steps that are examined; later, every so many
SEARCHES = 2  # for a better learning rate, at most


class ModelWatch:
    """A history that grows with each step, and what is needed of the last step to understand the next.

    >>> w = Value(2.0, label="w")
    >>> model = ModelWatch(names_of([w]), every=10)
    >>> loss = w * w
    >>> model.before()
    >>> loss.backward()
    >>> model.after(loss, None)
    >>> model.history.losses, model.history.exams[0].nodes
    ([4.0], 2)
    """

    def __init__(self, names: Names, every: int, *, given: bool = True, site: Place | None = None) -> None:
        self.names, self.every = names, every
        self.history = ModelHistory(names, given, site)
        self.lines = Lines()
        self.provisional = False  # the parameters are a guess, until it is seen which of them move
        self.leaves: set[int] = set()  # ids of those of the first graph, while the parameters are a guess
        self.unreached = False  # the parameters are those of an optimiser, and the loss does not reach them
        self.ill = False  # a nan or inf was found: what comes later is its consequence
        self._held: list[Any] = []  # gradients before this backward()
        self._now: list[float] = []  # numbers at this backward()
        self._then: list[float] = []  # … and at the one before
        self._left: list[Any] = []  # gradients after the backward() before
        self._fresh: list[float] = []  # what that backward() itself added
        self._gap = False  # native code took the step before, and nothing is known of its gradients
        self._at_step: list[Any] | None = None  # gradients as an optimiser left them
        self._known: list[Any] = []  # … and as the latest backward() of any loss left them
        self._untouched: list[bool] = []  # which were never set or cleared in between
        self._rate: float | None = None
        self._pending: tuple[Replay, int, float, list[Value], list[float], list[float]] | None = None
        self._searches = 0
        # On a root that was walked, in place of the line that made it; keeping the root itself would keep its graph.
        self._mark = Place("<unknown>", 0, "backward")
        self._always: set[int] = set()  # ids of parameters that every examined graph reached

    # --- what a visit tells ----------------------------------------------------------------------------------------

    def before(self) -> None:
        """A `backward()` is about to run."""
        self._held, self._now = self._gradients(), self._data()
        self._untouched = self._still_there()

    def _still_there(self) -> list[bool]:
        """Of each gradient whether it is what it was after the backward() before, or as an optimiser left it."""
        known = [gradients for gradients in (self._known, self._at_step) if gradients]
        return [
            untouched and any(self._same(self._held[i], gradients[i]) for gradients in known)
            for i, untouched in enumerate(self._untouched)
        ]

    def passed_by(self) -> None:
        """The backward() of another loss has run: what it gave to parameters of this model is not of this one's."""
        if self.changed():
            self._known, self._at_step = self._gradients(), None

    def train_instead(self, names: Names, parameters: list[Value]) -> None:
        """An optimiser steps on other parameters than were guessed, and none of them is in the graph."""
        names.parameters.clear()
        names.adopt(parameters)
        names.title = names.common_title()
        self.names = self.history.names = names
        self.provisional, self.unreached, self._pending = False, True, None
        self.before()
        self._then, self._left, self._fresh = self._now, self._held, [0.0] * len(parameters)
        self._known, self._untouched = self._held, [True] * len(parameters)

    def begin(self) -> None:
        """As `before`, unless that was called: a `backward()` has run before anyone watched, on gradients of 0."""
        if not self._now:
            self._held, self._now = [0.0] * len(self.names.parameters), self._data()

    def changed(self) -> bool:
        """Whether the `backward()` that has just run gave gradient to one of these parameters."""
        return not self._alike(self._gradients(), self._held)

    def after(self, root: Value, readings: Readings | None) -> None:
        """A `backward()` of this model has run; `readings` are those of its forward pass, if that was followed."""
        history, loss = self.history, self._loss(root)
        left, fresh = self._given()
        step, due = len(history.losses) + 1, self.due()
        moved = bool(self._then) and not self._alike(self._now, self._then)
        if self._then:
            left, fresh = self._look_back(step, root, moved, left, fresh)
        self._fresh = fresh
        history.losses.append(loss)
        history.looked += not self._gap
        if len(history.ever) < len(self.names.parameters):
            history.ever.update(id(p) for p, g in zip(self.names.parameters, fresh, strict=True) if self._any(g))
        sound = self._finite(self._now)
        broken = self._broken(step) if moved and not sound else {}
        odd = not (sound and math.isfinite(loss) and self._finite(fresh))
        if (due or readings is not None or odd) and not self.ill:
            self._examine(root, step, readings, broken, odd=odd)
        if root.made_at is None:
            if step == 1 and history.site is not None:
                self._mark = Place(*history.site)  # equal to it, and not the same object
            root.made_at = self._mark
        self._then, self._left, self._at_step, self._gap = self._now, left, None, False
        self._known, self._untouched = left, [True] * len(left)

    def passed(self, loss: float) -> None:
        """Native code has walked back: the loss is known, and nothing else is looked at."""
        if self._pending is not None:  # the parameters are still those that the step before left
            self._now = self._data()
            if not self._alike(self._now, self._then):
                self._try_update()
            self._pending = None
        self.history.losses.append(loss)
        self._gap = True

    def due(self) -> bool:
        """Whether the next step is to be examined in full."""
        step = len(self.history.losses) + 1
        return step % self.every == 0 or (step < self.every and step in EARLY)

    def stepping(self, optimiser: Optimizer) -> None:
        """An optimiser is about to use the gradients."""
        if not self._trained_by(optimiser):
            return
        self.history.optimiser = f"{type(optimiser).__name__} with a learning rate of {optimiser.lr:g}"
        self.history.stepped = self.history.stepped or users_place()
        self._rate = optimiser.lr
        self.history.emptied += self._empties(optimiser)

    def _empties(self, optimiser: Optimizer) -> bool:
        """Whether all its gradients are 0, although the `backward()` before gave it some."""
        own = {id(p) for p in optimiser.parameters}
        given = any(self._any(g) for p, g in zip(self.names.parameters, self._fresh, strict=False) if id(p) in own)
        return given and not any(self._any(p.grad) for p in optimiser.parameters)

    def stepped(self, optimiser: Optimizer, compiled: bool) -> None:
        """It has used them, clipped perhaps, and changed the parameters."""
        if self._trained_by(optimiser):
            self._at_step = self._gradients()
            if compiled:  # try it now, before the next step, which native code may take
                self._try_update()

    def _trained_by(self, optimiser: Optimizer) -> bool:
        own = {id(p) for p in self.names.parameters}
        return any(id(p) in own for p in optimiser.parameters)

    def close(self) -> None:
        """The run is over: look at what its last step did."""
        if not self.history.losses:
            return
        self._now = self._data()
        if not self._alike(self._now, self._then):
            self._try_update()
        else:
            self.history.idle += any(map(self._any, self._fresh))
        self._pending = None

    # --- what comes of it ------------------------------------------------------------------------------------------

    def _look_back(
        self, step: int, root: Value, moved: bool, left: list[Any], fresh: list[Any]
    ) -> tuple[list[Any], list[Any]]:
        """What this step shows of the one before; gives the gradients of those parameters that are some."""
        history = self.history
        if not moved:
            history.idle += any(map(self._any, self._fresh))
            return left, fresh
        history.moved += 1
        if self.provisional:
            return self._settle(left, fresh)
        self._try_update()
        if root.made_at is self._mark:
            history.stale.append(step)
        elif any(map(self._any, self._held)) and not self._gap:
            self._note_piled(step, left, fresh)
        return left, fresh

    def _note_piled(self, step: int, left: list[Any], fresh: list[Any]) -> None:
        """Write down whose gradients this step found as the step before had left them.

        Other gradients that are there say nothing: those that another loss gave after they had been cleared, as in
        adversarial training, or a share of those of the step before, as in momentum by hand. Nor do those of parameters
        to which this loss gives nothing: another one may be there to train them.
        """
        there = [i for i, h in enumerate(self._held) if self._untouched[i] and self._any(h)]
        kept = [i for i in there if self._any(fresh[i])]
        size = math.hypot(*(self._size(fresh[i]) for i in kept))
        if size:
            self.history.piled.append((step, math.hypot(*(self._size(left[i]) for i in kept)) / size))
            self.history.piled_up.update(id(self.names.parameters[i]) for i in kept)
        left_before = [i for i, g in enumerate(self._left) if not self._untouched[i] and self._any(g)]
        self.history.cleared.update(id(self.names.parameters[i]) for i in left_before)

    def _settle(self, left: list[Any], fresh: list[Any]) -> tuple[list[Any], list[Any]]:
        """Keep those of the supposed parameters that moved."""
        kept = [i for i, (x, y) in enumerate(zip(self._now, self._then, strict=True)) if not self._same(x, y)]
        self.names.parameters[:] = [self.names.parameters[i] for i in kept]
        self._now, self._then, self._held, self._left, self._fresh, left, fresh = (
            [row[i] for i in kept] for row in (self._now, self._then, self._held, self._left, self._fresh, left, fresh)
        )
        self._untouched = [self._untouched[i] for i in kept] if self._untouched else []
        self.provisional, self._pending = False, None
        self.names.title = self.names.common_title()
        self._note_piled(2, left, fresh)
        return left, fresh

    def _broken(self, step: int) -> dict[int, str]:
        """The parameters that the last update made nan or inf, and how."""
        found = {}
        for p, now, then, g in zip(self.names.parameters, self._now, self._then, self._left, strict=True):
            if not math.isfinite(now) and math.isfinite(then):
                cause = f"an update before step {step}" if self._gap else f"the update after step {step - 1}"
                found[id(p)] = f"{cause} turned it from {then:g} to {now:g}"
                found[id(p)] += "" if self._gap else f"; its gradient was {g:g}"
        return found

    def _try_update(self) -> None:
        """See what the update that has just been made did to the loss on the same data."""
        if self._pending is None:
            return
        replay, step, before, parameters, old, gradients = self._pending
        self._pending = None
        search = self._searches < SEARCHES
        trial = tried(replay, step, before, parameters, old, gradients, self._rate, search=search)
        if trial is not None:
            self._searches += trial.overshot and search
            self.history.trials.append(trial)

    def _examine(self, root: Value, step: int, readings: Readings | None, broken: dict[int, str], *, odd: bool) -> None:
        scan = Scan(root, self.names)
        if readings is not None:
            self.lines.learn(scan, readings.line)
            self.history.cuts += cuts_followed(scan, readings)
        gradients = {id(p): g for p, g in zip(self.names.parameters, self._fresh, strict=True)}
        line_of = self.lines.finder(scan)
        turn = step // self.every
        exam = examine(
            scan,
            step,
            gradients=gradients,
            line_of=line_of,
            broken=broken,
            suspect_odd=odd or step == 1,
            ask_zeros=step == 1 or (turn > 0 and turn & (turn - 1) == 0),  # each time at twice the steps
        )
        self._write_down(exam)
        if not self.ill and scan.reached:
            self._pending = (
                replay_of(scan.order), step, root.data, list(self.names.parameters), self._now, self._fresh
            )  # fmt: skip

    def _write_down(self, exam: Exam) -> None:
        self._always = self._always & exam.reached if self.history.exams else set(exam.reached)
        self.history.ever |= exam.reached
        self.history.sometimes = self.history.ever - self._always
        self.history.exams.append(exam)
        self.ill = any(finding.kind == "birth" for finding in exam.findings)

    def found_odd(self, root: Value, readings: Readings | None = None) -> None:
        """The program failed with a nan or inf in `root`, before its `backward()`: say where that was born."""
        step = len(self.history.losses) + 1
        self._now = self._data()
        scan = Scan(root, self.names)
        if readings is not None:
            self.lines.learn(scan, readings.line)
        broken = self._broken(step) if self._then else {}
        exam = examine(scan, step, line_of=self.lines.finder(scan), broken=broken, ask_zeros=False)
        if exam.findings:
            self.history.exams.append(exam)
            self.ill = True
        self.history.ever |= exam.reached

    # --- floats, where `tensor_watch` has arrays -------------------------------------------------------------------

    def _loss(self, root: Any) -> float:
        return float(root.data)

    def _data(self) -> list[Any]:
        return [p.data for p in self.names.parameters]

    def _gradients(self) -> list[Any]:
        return [p.grad for p in self.names.parameters]

    def _given(self) -> tuple[list[Any], list[Any]]:
        """The gradients now, and what the `backward()` that has just run added to them."""
        left = self._gradients()
        if any(g.__class__ is not float for g in left):
            left = [_number(g) for g in left]
        added = any(self._held)
        return left, [g - h for g, h in zip(left, map(_number, self._held), strict=True)] if added else left

    def _alike(self, some: list[Any], others: list[Any]) -> bool:
        return some == others

    def _same(self, one: Any, other: Any) -> bool:
        return _number(one) == _number(other)

    def _any(self, x: Any) -> bool:
        return bool(_number(x))

    def _finite(self, some: list[Any]) -> bool:
        return all(map(math.isfinite, some))

    def _size(self, x: Any) -> float:
        return abs(float(x))


def _number(g: Any) -> float:
    """A gradient as a float; after backward(create_graph=True) it is a Value, and one that was cleared may be None."""
    if isinstance(g, Value):
        return float(g.data)
    return float(g) if g else 0.0
