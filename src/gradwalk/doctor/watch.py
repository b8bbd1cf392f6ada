"""`with doctor.watch(model):` around a training loop. The loop itself stays as it is.

A `Visit` is an observer of the run. It wants ops one at a time only for forward passes that it follows, and compiled
functions to build graphs only for steps that are examined in full: the others run as if nobody watched.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gradwalk import engine, modes
from gradwalk.doctor.findings.ranking import report_on
from gradwalk.doctor.model_watch import ModelWatch
from gradwalk.doctor.names import Names, names_in_frames, names_of, users_frames
from gradwalk.doctor.report import Report
from gradwalk.doctor.scan import ordered
from gradwalk.doctor.tracking import Readings, follow
from gradwalk.engine import Value
from gradwalk.errors import SettingError
from gradwalk.optim import Optimizer
from gradwalk.provenance import Place, is_users, users_place

__all__ = ["Visit", "watch"]

EVERY = 10
FOLLOWED = 3  # models whose forward pass is followed once, at most

NOTHING_SEEN = (
    "no backward() of a gradwalk Value was seen: is the loss one, and is its backward() called while we watch?"
)
EAGER = "compiled functions ran eagerly in the steps that were examined: native code has no nodes to look at"

#: Where a call of `backward()` passes on its way from the caller to a `Visit`.
_ENGINE = (modes.__file__, engine.__file__, __file__, str(Path(engine.__file__).parent / "compile"))


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


class Visit(modes.Observer):
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
        self._active: list[ModelWatch] = []  # the latest to be trained, in turn perhaps
        self.remarks: list[str] = []
        self._watching, self._following = ExitStack(), ExitStack()  # closed, they stop
        self._running = False
        self._followed = 0  # forward passes so far
        self._readings: Readings | None = None  # of the one that is being followed, or has just been
        self._compiled = False  # compiled functions are called
        self._due = True  # the next step is examined, so compiled functions have to build graphs
        self._latest: tuple[Any, Callable[[], Any]] | None = None  # what a native call gave, and how to do it op by op
        self._native = False  # the backward() under way is that of native code: there is no graph
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
            self._watching.enter_context(modes.observed(self))
            self._follow()

    def stop(self, error: BaseException | None = None) -> None:
        """Stop watching; `error` is what ended the run, if something did.

        >>> from gradwalk.doctor import Visit
        >>> Visit().stop()
        """
        if not self._running:
            return
        self._running = False
        readings = self._unfollow()
        self._watching.close()
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
        records = [model.history for model in self.models]
        reached = [history for history in records if history.ever] or records[:1]
        remarks = list(self.remarks)
        if not records:
            remarks.append(NOTHING_SEEN)
        return report_on(reached, remarks)

    def __str__(self) -> str:
        return str(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    # --- what an observer is told ----------------------------------------------------------------------------------

    @property
    def every_op(self) -> bool:  # type: ignore[override]
        """Whether compiled functions are to build graphs: where a loss is computed whose step is examined.

        >>> from gradwalk.doctor import Visit
        >>> Visit().every_op
        True
        """
        return self._due and modes.recording()

    def called(self, out: Any, again: Callable[[], Any] | None) -> None:
        """A compiled function was called."""
        self._compiled = True
        if again is not None:
            self._latest = (out, again)
        elif EAGER not in self.remarks and modes.knows_numbers():  # and is not part of another function's trace
            self.remarks.append(EAGER)

    def before_backward(self, root: Value) -> None:
        """`root.backward()` is about to run.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor import Visit
        >>> Visit().before_backward(Value(1.0))
        """
        if not _is_a_step():
            return
        self._readings = self._unfollow()
        self._guarded(self._before, root)

    def after_backward(self, root: Value) -> None:
        """`root.backward()` has run.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor import Visit
        >>> w = Value(1.0, label="w")
        >>> visit = Visit([w])
        >>> loss = w * 2
        >>> visit.before_backward(loss)
        >>> loss.backward()
        >>> visit.after_backward(loss)
        >>> visit.models[0].history.losses
        [2.0]
        """
        if _is_a_step():
            self._guarded(self._after, root)

    def before_step(self, optimizer: Optimizer) -> None:
        """An optimiser is about to use the gradients.

        >>> from gradwalk import Value, optim
        >>> from gradwalk.doctor import Visit
        >>> Visit().before_step(optim.SGD([Value(1.0)], lr=0.1))
        """
        for model in self.models if not self._native else ():
            self._guarded(model.stepping, optimizer)

    def after_step(self, optimizer: Optimizer) -> None:
        """It has changed the parameters.

        >>> from gradwalk import Value, optim
        >>> from gradwalk.doctor import Visit
        >>> Visit().after_step(optim.SGD([Value(1.0)], lr=0.1))
        """
        for model in self.models if self._compiled and not self._native else ():
            self._guarded(model.try_update)  # now: after the next step, which native code may take, it is too late

    # --- what comes of it ------------------------------------------------------------------------------------------

    def _before(self, root: Value) -> None:
        self._native = self._compiled and any(v._op == "compiled" for v in ordered(root))
        if self._native:
            if not math.isfinite(root.data):
                self._look_into(root)
            return
        if self.names is not None and not self.models:
            self._spare = ModelWatch(self.names, self.every)
            self._spare.before()
        for model in self.models:
            model.before()

    def _look_into(self, root: Value) -> None:
        """Native code gave a nan or inf: compute the same once more as a graph, to see where that was born."""
        out, again = self._latest or (None, None)
        here = [model for model in self.models if model.history.site == users_place() and not model.ill]
        if here and again is not None and out is root:
            with follow() as readings:
                twin = again()
            here[0].found_odd(twin, readings)

    def _after(self, root: Value) -> None:
        site = users_place()
        readings, self._readings = self._readings, None
        self._latest = None
        if self._native:
            here = [model for model in self.models if model.history.site == site]
            for model in here[:1]:
                model.passed(root.data)
                self._active[:] = [model, *self._active[:3]]
            self._due = not here or not math.isfinite(root.data) or any(model.due() for model in self._active)
            return
        model = self._model_of(root, site)
        new = not model.history.losses
        model.after(root, readings)
        if new and readings is None:
            self._follow()  # its next forward pass, then
        self._active[:] = [model, *self._active[:3]]
        self._due = any(model.due() for model in self._active)

    def _model_of(self, root: Value, site: Place) -> ModelWatch:
        """The model that a `backward()` belongs to: the same line, and gradient to the same parameters."""
        here = [model for model in self.models if model.history.site == site]
        found = next((model for model in here if model.changed()), None)
        if found is not None:
            return found
        leaves = {id(v): v for v in ordered(root) if v.is_leaf}
        for model in here:  # no gradient at all: nothing left to learn, or nothing connected
            if self.names is not None or any(id(p) in leaves for p in model.names.parameters):
                return model
        model = self._new_watch(leaves, site)
        model.begin()
        self.models.append(model)
        return model

    def _new_watch(self, leaves: dict[int, Value], site: Place) -> ModelWatch:
        if self.names is not None:
            model, self._spare = self._spare or ModelWatch(self.names, self.every), None
            model.history.site = site
            return model
        names = names_in_frames(users_frames())
        for optimiser in names.optimisers:
            if any(id(p) in leaves for p in optimiser.parameters):
                names.lists.append(optimiser.parameters)
        together = [values for values in names.lists if any(id(v) in leaves for v in values)]
        for values in together:
            names.adopt(values)
        model = ModelWatch(names, self.every, given=False, site=site)
        if not together:
            named = [v for v in leaves.values() if id(v) in names.spots or v.label]
            names.adopt(named or leaves.values())
            model.provisional = True
        names.title = _common_title(names)
        return model

    # --- the rest --------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self._running and self._readings is None and self._followed < FOLLOWED:
            self._readings = self._following.enter_context(follow())
            self._followed += 1

    def _unfollow(self) -> Readings | None:
        self._following.close()
        readings, self._readings = self._readings, None
        return readings

    def _close(self, error: BaseException | None, readings: Readings | None) -> None:
        if error is not None and not any(model.ill for model in self.models):
            self._search_failure(error, readings)
        for model in self.models:
            model.close()

    def _search_failure(self, error: BaseException, readings: Readings | None) -> None:
        """A program that checks its loss stops before backward(): the nan is in a variable of a frame that failed."""
        for v in _values_in(error):
            if not v.is_leaf and not math.isfinite(v.data):
                leaves = {id(x) for x in ordered(v) if x.is_leaf}
                known = [model for model in self.models if any(id(p) in leaves for p in model.names.parameters)]
                model = known[-1] if known else ModelWatch(self.names or Names(), self.every)
                model.found_odd(v, readings)
                if not known and model.history.exams:
                    self.models.append(model)
                return

    def _guarded(self, action: Any, *arguments: Any) -> None:
        """What goes wrong in here must not stop a training."""
        try:
            action(*arguments)
        except Exception as error:
            self._unfollow()
            self._watching.close()
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


def _is_a_step() -> bool:
    """Whether the user's program walks back; what gradwalk does itself, as in a gradient check, is no training."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ENGINE):
        frame = frame.f_back
    file = frame.f_code.co_filename
    return is_users(file) or file.endswith("train.py")
