"""One model of tensors in training, step by step: as `model_watch`, with arrays for numbers."""

from __future__ import annotations

import math
from typing import Any

from gradwalk.doctor.model_watch import ModelWatch
from gradwalk.doctor.tensor_scan import examined
from gradwalk.doctor.tracking import Readings
from gradwalk.optim import Optimizer
from gradwalk.provenance import Place, made_by, users_place
from gradwalk.tensor import arrays

Array = Any  # or a float, of a Value


class TensorWatch(ModelWatch):
    """A history that grows with each step of a training of tensors.

    >>> w = gradwalk.Tensor([2.0], label="w")
    >>> model = TensorWatch(names_of([w]), every=10)
    >>> loss = (w * w).sum()
    >>> model.before()
    >>> loss.backward()
    >>> model.after(loss, None)
    >>> model.history.losses, model.history.exams[0].nodes
    ([4.0], 3)
    """

    def before(self) -> None:
        """A `backward()` is about to run."""
        self._held = self._gradients()
        self._now = [_numbers(p) for p in self.names.parameters]
        self._untouched = self._still_there()

    def _same(self, one: Array, other: Array) -> bool:
        return _same(one, other)

    def _gradient(self, p: Any) -> Array:
        return _gradient(p)

    def begin(self) -> None:
        """As `before`, unless that was called."""
        if not self._now:
            self._held = [0.0] * len(self.names.parameters)
            self._now = [_numbers(p) for p in self.names.parameters]

    def changed(self) -> bool:
        """Whether the `backward()` that has just run gave gradient to one of these parameters."""
        return not _all_same(self._gradients(), self._held)

    def after(self, root: Any, readings: Readings | None) -> None:
        """A `backward()` of this model has run."""
        history = self.history
        left = [_gradient(p) for p in self.names.parameters]
        fresh = [_minus(g, h) for g, h in zip(left, self._held, strict=True)]
        step, due = len(history.losses) + 1, self.due()
        if self._then:
            self._look_at_update(step, root, left, fresh)
            if self.provisional:
                kept = [i for i, (x, y) in enumerate(zip(self._now, self._then, strict=True)) if not _same(x, y)]
                if kept:
                    self.names.parameters[:] = [self.names.parameters[i] for i in kept]
                    self._now, left, fresh = ([row[i] for i in kept] for row in (self._now, left, fresh))
                    self.provisional, self.names.title = False, self.names.common_title()
        self._fresh = fresh
        loss = root.item()
        history.losses.append(loss)
        history.looked += 1
        history.ever.update(id(p) for p, g in zip(self.names.parameters, fresh, strict=True) if _any(g))
        odd = not (math.isfinite(loss) and all(map(_finite, (*self._now, *fresh))))
        if (due or odd) and not self.ill:
            self._look(root, step, readings)
        if root.made_at is None:
            if step == 1 and history.site is not None:
                self._mark = Place(*history.site)
            root.made_at = self._mark
        self._then, self._left, self._at_step, self._gap = self._now, left, None, False
        self._known, self._untouched = left, [True] * len(left)

    def _look_at_update(self, step: int, root: Any, left: list[Array], fresh: list[Array]) -> None:
        """What this step shows of the one before."""
        history = self.history
        if _all_same(self._now, self._then):
            history.idle += any(map(_any, self._fresh))
            return
        history.moved += 1
        if root.made_at is self._mark:
            history.stale.append(step)
        elif any(map(_any, self._held)) and not self._gap:
            kept = [i for i, h in enumerate(self._held) if _any(h) and self._untouched[i]]
            if self.provisional:  # what does not move is no parameter, and nobody need clear its gradient
                kept = [i for i in kept if not _same(self._now[i], self._then[i])]
            size = math.hypot(*(_size(fresh[i]) for i in kept))
            if kept:
                history.piled.append((step, math.hypot(*(_size(left[i]) for i in kept)) / size if size else math.inf))
                history.piled_up.update(id(self.names.parameters[i]) for i in kept)
            cleared = (i for i, g in enumerate(self._left) if _any(g) and not self._untouched[i])
            history.cleared.update(id(self.names.parameters[i]) for i in cleared)

    def _look(self, root: Any, step: int, readings: Readings | None) -> None:
        line_of = made_by if readings is None else readings.line
        exam = examined(root, self.names, step, lambda v: v.grad, line_of, self._broken(step))
        self._always = self._always & exam.reached if self.history.exams else set(exam.reached)
        self.history.ever |= exam.reached
        self.history.sometimes = self.history.ever - self._always
        self.history.exams.append(exam)
        self.ill = any(finding.kind == "birth" for finding in exam.findings)

    def _broken(self, step: int) -> dict[int, str]:
        """The parameters that the last update made nan or inf, and of what gradient."""
        found = {}
        for p, now, then, g in zip(self.names.parameters, self._now, self._then, self._left, strict=False):
            if not _finite(now) and _finite(then):
                found[id(p)] = f"the update after step {step - 1} made it so; its gradient was"
                found[id(p)] += " finite" if _finite(g) else " not finite either"
        return found

    def stepping(self, optimiser: Optimizer) -> None:
        """An optimiser is about to use the gradients."""
        if self._trained_by(optimiser):
            self.history.optimiser = f"{type(optimiser).__name__} with a learning rate of {optimiser.lr:g}"
            self.history.stepped = self.history.stepped or users_place()
            self.history.emptied += self._empties(optimiser)

    def _any(self, g: Any) -> bool:
        return _any(g)

    def stepped(self, optimiser: Optimizer, compiled: bool) -> None:
        """It has used them, clipped perhaps, and changed the parameters."""
        if self._trained_by(optimiser):
            self._at_step = self._gradients()

    def close(self) -> None:
        """The run is over: did its last step move anything?"""
        if self.history.losses and any(map(_any, self._fresh)):
            now = [_numbers(p) for p in self.names.parameters]
            self.history.idle += _all_same(now, self._then)

    def found_odd(self, root: Any, readings: Readings | None = None) -> None:
        """The program failed with a nan or inf in `root`, before its `backward()`: say where that was born."""
        self._look(root, len(self.history.losses) + 1, readings)


# --- arrays, and floats where a parameter is a Value -----------------------------------------------------------------


def _numbers(p: Any) -> Array:
    return arrays.now.copy(p.array) if p.many else p.data


def _gradient(p: Any) -> Array:
    g = p.grad
    if g is None:
        return 0.0
    return g.array if getattr(g, "many", False) else float(getattr(g, "data", g))


def _same(x: Array, y: Array) -> bool:
    if isinstance(x, float) or isinstance(y, float):
        return not _any(x) and not _any(y) if not (isinstance(x, float) and isinstance(y, float)) else x == y
    return arrays.now.same(x, y)


def _all_same(xs: list[Array], ys: list[Array]) -> bool:
    return len(xs) == len(ys) and all(map(_same, xs, ys))


def _any(x: Array) -> bool:
    return bool(x) if isinstance(x, float) else bool(arrays.now.nonzero(x)[0].size) if x.shape else x.tolist() != 0.0


def _finite(x: Array) -> bool:
    return math.isfinite(x) if isinstance(x, float) else math.isfinite(_size(x))


def _size(x: Array) -> float:
    if isinstance(x, float):
        return abs(x)
    f = arrays.now.functions
    return math.sqrt(float(arrays.now.tolist(arrays.now.total(f["*"](x, x), tuple(range(len(x.shape))), False))))


def _minus(x: Array, y: Array) -> Array:
    if isinstance(x, float) and isinstance(y, float):
        return x - y
    return x if isinstance(y, float) and y == 0.0 else arrays.now.functions["-"](x, y)
