"""`with doctor.watch(model):` around a training loop. The loop itself stays as it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Self

from gradwalk.doctor.findings.ranking import report_on
from gradwalk.doctor.hooks import hooked, ran_eagerly
from gradwalk.doctor.model_watch import ModelWatch
from gradwalk.doctor.names import Names, names_in_frames, names_of, users_frames
from gradwalk.doctor.report import Report
from gradwalk.doctor.scan import ordered
from gradwalk.doctor.tracking import Readings, follow
from gradwalk.engine import Value
from gradwalk.errors import SettingError
from gradwalk.optim import Optimizer
from gradwalk.provenance import Place, users_place

__all__ = ["Visit", "watch"]

EVERY = 10
FOLLOWED = 3  # models whose forward pass is followed once, at most

NOTHING_SEEN = (
    "no backward() of a gradwalk Value was seen: is the loss one, and is its backward() called while we watch?"
)
EAGER = "compiled functions ran eagerly while they were watched: native code has no nodes to look at"


def watch(*subjects: Any, every: int = EVERY) -> Visit:
    """Watch a training: every step a little, some of the first and then each `every`th in full.

    Give it the model, the optimiser, both, or a list of parameters; without any it finds them in the variables of the
    program. After the `with`, print what it gives: the report. If the loop fails, the report goes with the error.

    >>> from gradwalk import Value, doctor
    >>> w = Value(2.0, label="w")
    >>> with doctor.watch([w]) as visit:
    ...     for _ in range(20):
    ...         w.grad = 0.0
    ...         (w * w).backward()
    ...         w.data -= 0.1 * w.grad
    >>> print(visit)
    doctor: nothing found
    looked at the parameters: 1 parameter; 20 steps, 6 in full; up to 2 nodes
    """
    return Visit(*subjects, every=every)


class Visit:
    """A training under observation; see `watch`. For cells of a notebook there are also `start()` and `stop()`.

    >>> from gradwalk import doctor, nn
    >>> visit = doctor.Visit(nn.MLP(2, [4, 1]))
    >>> visit.start()
    >>> visit.stop()
    >>> visit.report().remarks[0][:40]
    'no backward() of a gradwalk Value was se'
    """

    def __init__(self, *subjects: Any, every: int = EVERY) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise SettingError(f"every is a whole number from 1 up, not {every!r:.60}")
        self.every = every
        self.names = _given(subjects)
        self.models: list[ModelWatch] = []
        self.remarks: list[str] = []
        self._hooks = ExitStack()
        self._following: tuple[AbstractContextManager[Readings], Readings] | None = None
        self._followed = 0
        self._readings: Readings | None = None
        self._running = False
        self._spare: ModelWatch | None = None  # for the first backward(), whose line is not known yet

    # --- from the outside ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to watch.

        >>> from gradwalk.doctor import Visit
        >>> visit = Visit()
        >>> visit.start()
        >>> visit.stop()
        """
        if not self._running:
            self._running = True
            self._hooks.enter_context(hooked(self))
            self._follow()

    def stop(self, error: BaseException | None = None) -> None:
        """Stop watching, and take every hook away; `error` is what ended the run, if something did.

        >>> from gradwalk.doctor import Visit
        >>> Visit().stop()
        """
        if not self._running:
            return
        self._running = False
        readings = self._unfollow()
        if ran_eagerly():
            self.remarks.append(EAGER)
        self._hooks.close()
        self._guarded(self._close, error, readings)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop(error)
        if error is not None and (report := self.report()):
            error.add_note(str(report))

    def report(self) -> Report:
        """What was found so far.

        >>> from gradwalk.doctor import Visit
        >>> len(Visit().report())
        0
        """
        records = [watched.history for watched in self.models]
        reached = [history for history in records if history.ever] or records[:1]
        remarks = list(self.remarks)
        if not records:
            remarks.append(NOTHING_SEEN)
        return report_on(reached, remarks)

    def __str__(self) -> str:
        return str(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    # --- from the hooks --------------------------------------------------------------------------------------------

    def before(self, root: Value) -> None:
        """`root.backward()` is about to run; the hooks call this.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor import Visit
        >>> Visit().before(Value(1.0))
        """
        self._readings = self._unfollow()
        if self.names is not None and not self.models:
            self._spare = ModelWatch(self.names, self.every)
            self._guarded(self._spare.before)
        for watched in self.models:
            self._guarded(watched.before)

    def after(self, root: Value) -> None:
        """`root.backward()` has run; the hooks call this.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor import Visit
        >>> w = Value(1.0, label="w")
        >>> visit = Visit([w])
        >>> loss = w * 2
        >>> visit.before(loss)
        >>> loss.backward()
        >>> visit.after(loss)
        >>> visit.models[0].history.losses
        [2.0]
        """
        self._guarded(self._after, root)

    def stepping(self, optimiser: Optimizer) -> None:
        """An optimiser is about to use the gradients; the hooks call this.

        >>> from gradwalk import Value, optim
        >>> from gradwalk.doctor import Visit
        >>> Visit().stepping(optim.SGD([Value(1.0)], lr=0.1))
        """
        for watched in self.models:
            self._guarded(watched.stepping, optimiser)

    def _after(self, root: Value) -> None:
        site = users_place()
        readings, self._readings = self._readings, None
        watched = self._watched(root, site)
        new = not watched.history.losses
        watched.after(root, readings)
        if new and readings is None:
            self._follow()  # its next forward pass, then

    def _watched(self, root: Value, site: Place) -> ModelWatch:
        """The model that a `backward()` belongs to: the same line, and gradient to the same parameters."""
        here = [watched for watched in self.models if watched.history.site == site]
        found = next((watched for watched in here if watched.changed()), None)
        if found is not None:
            return found
        leaves = {id(v): v for v in ordered(root) if v.is_leaf}
        for watched in here:  # no gradient at all: nothing left to learn, or nothing connected
            if self.names is not None or any(id(p) in leaves for p in watched.names.parameters):
                return watched
        watched = self._new_watch(leaves, site)
        watched.begin()
        self.models.append(watched)
        return watched

    def _new_watch(self, leaves: dict[int, Value], site: Place) -> ModelWatch:
        if self.names is not None:
            watched, self._spare = self._spare or ModelWatch(self.names, self.every), None
            watched.history.site = site
            return watched
        names = names_in_frames(users_frames())
        for optimiser in names.optimisers:
            if any(id(p) in leaves for p in optimiser.parameters):
                names.lists.append(optimiser.parameters)
        together = [values for values in names.lists if any(id(v) in leaves for v in values)]
        for values in together:
            names.adopt(values)
        watched = ModelWatch(names, self.every, given=False, site=site)
        if not together:
            named = [v for v in leaves.values() if id(v) in names.spots or v.label]
            names.adopt(named or leaves.values())
            watched.provisional = True
        names.title = _common_title(names)
        return watched

    # --- the rest --------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self._running and self._following is None and self._followed < FOLLOWED:
            manager = follow()
            self._following = (manager, manager.__enter__())
            self._followed += 1

    def _unfollow(self) -> Readings | None:
        if self._following is None:
            return None
        (manager, readings), self._following = self._following, None
        manager.__exit__(None, None, None)
        return readings

    def _close(self, error: BaseException | None, readings: Readings | None) -> None:
        if error is not None and not any(watched.ill for watched in self.models):
            self._search_failure(error, readings)
        for watched in self.models:
            watched.close()

    def _search_failure(self, error: BaseException, readings: Readings | None) -> None:
        """A program that checks its loss stops before backward(): the nan is in a variable of a frame that failed."""
        for v in _values_in(error):
            if not v.is_leaf and not math.isfinite(v.data):
                leaves = {id(x) for x in ordered(v) if x.is_leaf}
                known = [watched for watched in self.models if any(id(p) in leaves for p in watched.names.parameters)]
                watched = known[-1] if known else ModelWatch(self.names or Names(), self.every)
                watched.found_odd(v, readings)
                if not known and watched.history.exams:
                    self.models.append(watched)
                return

    def _guarded(self, action: Any, *arguments: Any) -> None:
        """What goes wrong in here must not stop a training."""
        try:
            action(*arguments)
        except Exception as error:
            self._unfollow()
            self._hooks.close()
            told = f"the doctor himself failed, and stopped watching: {type(error).__name__}: {error}"
            if told not in self.remarks:
                self.remarks.append(told)


def _given(subjects: tuple[Any, ...]) -> Names | None:
    """The names of all that was given; the paths are those of the model, whichever comes first."""
    if not subjects:
        return None
    ranked = sorted(subjects, key=lambda subject: isinstance(subject, Optimizer))
    first, *others = [names_of(subject) for subject in ranked]
    for names in others:
        for p in names.parameters:
            first.add(p, names.spots[id(p)])
        first.adopt(names.parameters)
        first.optimisers += names.optimisers
    return first


def _common_title(names: Names) -> str:
    """The variable that all parameters are found under, if it is one."""
    roots = {names.name(p).split(".")[0].split("[")[0] for p in names.parameters}
    return roots.pop() if len(roots) == 1 else ", ".join(sorted(roots)) if 1 < len(roots) <= 4 else ""


def _values_in(error: BaseException) -> Iterator[Value]:
    """The Values in the variables of the frames that an error passed, innermost first."""
    seen: set[int] = set()
    ahead: list[BaseException | None] = [error]
    while ahead:
        one = ahead.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        frames = []
        step = one.__traceback__
        while step is not None:
            frames.append(step.tb_frame)
            step = step.tb_next
        for frame in reversed(frames):
            for thing in list(frame.f_locals.values()):
                if isinstance(thing, Value):
                    yield thing
        ahead += [one.__cause__, one.__context__]
