"""A training as an observer of the run sees it: which model each `backward()` belongs to, and what to look at.

Ops are wanted one at a time only for forward passes that are followed, and graphs from compiled functions only for
steps that are examined in full: the others run as if nobody watched.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from gradwalk import eager, engine, modes
from gradwalk.doctor.model_watch import ModelWatch
from gradwalk.doctor.names import Names, names_in_frames, users_frames
from gradwalk.doctor.order import ordered
from gradwalk.doctor.routes import is_tensor
from gradwalk.doctor.tracking import Readings, follow
from gradwalk.engine import Value
from gradwalk.optim import Optimizer
from gradwalk.provenance import Place, is_users, users_place

FOLLOWED = 3  # models whose forward pass is followed once, at most

EAGER = "compiled functions ran eagerly in the steps that were examined: native code has no nodes to look at"

#: Where a call of `backward()` passes on its way from the caller to a `RunWatch`.
_HOME = Path(engine.__file__).parent
_ENGINE = (modes.__file__, eager.__file__, engine.__file__, __file__, str(_HOME / "compile"), str(_HOME / "tensor"))


class RunWatch(modes.Observer):
    """What a visit knows of a run: the models that are trained in it, and what there is to remark."""

    def __init__(self, names: Names | None, every: int) -> None:
        self.names, self.every = names, every
        self.models: list[ModelWatch] = []
        self.remarks: list[str] = []
        self._active: list[ModelWatch] = []  # the latest to be trained, in turn perhaps
        self._watching, self._following = ExitStack(), ExitStack()  # closed, they stop
        self._running = False
        self._followed = 0  # forward passes so far
        self._readings: Readings | None = None  # of the one that is being followed, or has just been
        self._compiled = False  # compiled functions are called
        self._due = True  # the next step is examined, so compiled functions have to build graphs
        self._latest: tuple[Any, Callable[[], Any]] | None = None  # what a native call gave, and how to do it op by op
        self._native = False  # the backward() under way is that of native code: there is no graph
        self._spare: ModelWatch | None = None  # for the first backward(), whose line is not known yet

    def start(self) -> None:
        """Begin to watch."""
        if not self._running:
            self._running = True
            self._watching.enter_context(modes.observed(self))
            self._follow()

    def stop(self, error: BaseException | None = None) -> None:
        """Stop watching; `error` is what ended the run, if something did."""
        if not self._running:
            return
        self._running = False
        readings = self._unfollow()
        self._watching.close()
        self._guarded(self._close, error, readings)

    # --- what an observer is told ----------------------------------------------------------------------------------

    @property
    def every_op(self) -> bool:  # type: ignore[override]
        """Whether compiled functions are to build graphs: where a loss is computed whose step is examined."""
        return self._due and modes.recording()

    def called(self, out: Any, again: Callable[[], Any] | None) -> None:
        """A compiled function was called."""
        self._compiled = True
        if again is not None:
            self._latest = (out, again)
        elif EAGER not in self.remarks and modes.knows_numbers():  # and is not part of another function's trace
            self.remarks.append(EAGER)

    def before_backward(self, root: Value) -> None:
        """`root.backward()` is about to run."""
        if not _is_a_step():
            return
        self._readings = self._unfollow()
        self._guarded(self._before, root)

    def after_backward(self, root: Value) -> None:
        """`root.backward()` has run."""
        if _is_a_step():
            self._guarded(self._after, root)

    def before_step(self, optimizer: Optimizer) -> None:
        """An optimiser is about to use the gradients."""
        if not self._native:
            self._guarded(self._match, optimizer)
        for model in self.models if not self._native else ():
            self._guarded(model.stepping, optimizer)

    def after_step(self, optimizer: Optimizer) -> None:
        """It has changed the parameters."""
        for model in self.models if not self._native else ():
            self._guarded(model.stepped, optimizer, self._compiled)

    # --- what comes of it ------------------------------------------------------------------------------------------

    def _before(self, root: Value) -> None:
        self._native = self._compiled and any(v._op == "compiled" for v in ordered(root))
        if self._native:
            if not math.isfinite(root.data):
                self._look_into(root)
            return
        if self.names is not None and not self.models:
            self._spare = self._watch_of(root, self.names)
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
            if len(here) == 1:
                here[0].passed(root.data)
                self._active[:] = [here[0], *self._active[:3]]
            unclear = len(here) != 1 or not math.isfinite(root.data)  # whose it was, or where that was born
            self._due = unclear or any(model.due() for model in self._active)
            return
        model = self._model_of(root, site)
        for other in self.models:
            if other is not model:
                other.passed_by()
        new = not model.history.losses
        model.after(root, readings)
        if new and readings is None:
            self._follow()  # its next forward pass, then
        self._active[:] = [model, *self._active[:3]]
        self._due = any(model.due() for model in self._active)

    def _match(self, optimizer: Optimizer) -> None:
        """An optimiser whose parameters no loss has reached: the loss just walked back was meant to train them."""
        model = self._active[0] if self._active else None
        if model is None or not model.provisional or model.unreached or any(map(_gradient_of, optimizer.parameters)):
            return
        own = {id(p) for p in optimizer.parameters}
        known = {id(p) for each in self.models if each is not model for p in each.names.parameters}
        if not own & (model.leaves | known):
            model.train_instead(names_in_frames(users_frames()), optimizer.parameters)

    def _model_of(self, root: Value, site: Place) -> ModelWatch:
        """The model that a `backward()` belongs to: the same line, and gradient to the same parameters."""
        here = [model for model in self.models if model.history.site == site]
        found = next((model for model in here if model.changed()), None)
        if found is not None:
            return found
        leaves = {id(v): v for v in ordered(root) if v.is_leaf}
        for model in here:  # no gradient at all: nothing left to learn, or nothing connected
            if self.names is not None or model.unreached or any(id(p) in leaves for p in model.names.parameters):
                return model
        model = self._new_watch(root, leaves, site)
        model.begin()
        self.models.append(model)
        return model

    def _watch_of(self, root: Any, names: Names, **settings: Any) -> ModelWatch:
        """A watch over Values, or over tensors if the loss is one."""
        if is_tensor(root):
            from gradwalk.doctor.tensor_watch import TensorWatch  # it loads the arrays

            return TensorWatch(names, self.every, **settings)
        return ModelWatch(names, self.every, **settings)

    def _new_watch(self, root: Any, leaves: dict[int, Value], site: Place) -> ModelWatch:
        if self.names is not None:
            model, self._spare = self._spare or self._watch_of(root, self.names), None
            model.history.site = site
            return model
        names = names_in_frames(users_frames())
        for optimiser in names.optimisers:
            if any(id(p) in leaves for p in optimiser.parameters):
                names.lists.append(optimiser.parameters)
        together = [values for values in names.lists if any(id(v) in leaves for v in values)]
        for values in together:
            names.adopt(values)
        model = self._watch_of(root, names, given=False, site=site)
        if not together:
            named = [v for v in leaves.values() if id(v) in names.spots or v.label]
            names.adopt(named or leaves.values())
            model.provisional, model.leaves = True, set(leaves)
        names.title = names.common_title()
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


def _gradient_of(p: Value) -> bool:
    return p.grad is not None and (not isinstance(p.grad, (int, float)) or p.grad != 0.0)


def _is_a_step() -> bool:
    """Whether the user's program walks back; what gradwalk does itself, as in a gradient check, is no training."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ENGINE):
        frame = frame.f_back
    file = frame.f_code.co_filename
    return is_users(file) or file.endswith("train.py")
