"""The training view as a widget: the kernel trains, a step at a time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from gradwalk import nn
from gradwalk.bundles import bundle
from gradwalk.errors import SettingError
from gradwalk.learn.page import training
from gradwalk.notebook.widget import TraitSettingError, Widget, traitlets

__all__ = ["TrainingWidget"]

LIMIT = 300  # steps of one run that is played; the view says so
LONG = 10  # steps from which on a run is worth holding the next one against


def _fresh(hidden: Sequence[int]) -> training.Training:
    """A network with the weights it always begins with; the notebook's own random numbers go on as if nothing was."""
    before = random.getstate()
    try:
        return training.start(hidden)
    finally:
        random.setstate(before)


class TrainingWidget(Widget):
    """What `training_widget` gives.

    Traits: `rate`, `hidden`, `forget` and `playing`, which can be set; `step`, `loss` and `losses`, which follow.

    >>> model = gradwalk.nn.MLP(2, [4, 1], activation="tanh")
    >>> w = gradwalk.training_widget(model)
    >>> before = model.parameters()[0].data
    >>> w.advance()
    >>> w.step, model.parameters()[0].data != before
    (1, True)
    """

    points = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    losses: traitlets.List[float] = traitlets.List().tag(sync=True)
    other = traitlets.Dict().tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    rate = traitlets.Float(training.RATE).tag(sync=True)
    forget = traitlets.Bool(False).tag(sync=True)
    hidden: traitlets.List[int] = traitlets.List().tag(sync=True)
    _ask = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        model: nn.MLP | None = None,
        *,
        hidden: Sequence[int] | None = None,
        rate: float | None = None,
        forget: bool = False,
    ) -> None:
        if model is not None and hidden is not None:
            raise SettingError("a model has its hidden sizes already; give one of the two")
        self._model = model
        if model is not None:
            self._first = training.of_model(model)
        else:
            self._first = _fresh(training.HIDDEN if hidden is None else hidden)
        super().__init__(
            _esm=bundle("train.js"), points=training.points(), state=self._first, losses=[self._first["loss"]],
            hidden=self._first["hidden"], rate=training.RATE if rate is None else rate, forget=bool(forget),
        )  # fmt: skip
        self.observe(self._begin_with_others, "hidden")
        self.observe(self._begin_anew, "forget")
        self.observe(self._begin_when_over, "playing")
        self.observe(self._answer, "_ask")

    @property
    def step(self) -> int:
        """How many steps have been made.

        >>> gradwalk.training_widget(hidden=[2]).step
        0
        """
        return int(self.state["step"])

    @property
    def loss(self) -> float:
        """The loss where the network is now.

        >>> 10.0 < gradwalk.training_widget().loss < 400.0  # over a hundred points
        True
        """
        return float(self.state["loss"])

    def advance(self, steps: int = 1) -> None:
        """Train some steps, here and now.

        >>> w = gradwalk.training_widget(hidden=[2])
        >>> w.advance(3)
        >>> w.step, len(w.losses)
        (3, 4)
        """
        for _ in range(steps):
            was: Any = self.state
            state = training.advance(was, self.rate, self.forget)
            self._show(state, [*self.losses, state["loss"]] if state["step"] > was["step"] else self.losses)
        if self.state["broken"]:
            self.playing = False

    def reset(self) -> None:
        """Back to the weights it began with.

        >>> w = gradwalk.training_widget(hidden=[2])
        >>> w.advance()
        >>> w.reset()
        >>> w.step
        0
        """
        self.playing = False
        self._show(self._first, [self._first["loss"]])

    def _show(self, state: Any, losses: list[float]) -> None:
        self.losses = losses
        self.state = state
        if self._model is not None:
            for knob, x, slope in zip(self._model.parameters(), state["parameters"], state["gradients"], strict=True):
                knob.data, knob.grad = x, slope

    # --- what the view asks for ------------------------------------------------------------------------------------

    def _answer(self, change: Any) -> None:
        asked = change["new"]
        if asked.get("do") == "reset":
            self.reset()
        elif asked.get("do") == "step" and asked.get("at") == self.step:
            self.advance()
            if self.playing and (self.step >= LIMIT or (self.state["length"] == 0.0 and not self.forget)):
                self.playing = False

    def _begin_when_over(self, change: Any) -> None:
        if change["new"] and (self.state["broken"] or self.step >= LIMIT):
            self._show(self._first, [self._first["loss"]])

    def _begin_anew(self, change: Any) -> None:
        """From the same weights, with the run so far to hold it against."""
        self.other = {"losses": self.losses, "forgot": not change["new"]} if len(self.losses) > LONG else {}
        self._show(self._first, [self._first["loss"]])

    def _begin_with_others(self, change: Any) -> None:
        self.playing = False
        self.other = {}
        if list(change["new"]) != self._first["hidden"]:
            self._first = _fresh(change["new"])
            self._show(self._first, [self._first["loss"]])

    # --- what may be set -------------------------------------------------------------------------------------------

    @traitlets.validate("rate")
    def _check_rate(self, proposal: Any) -> float:
        rate = float(proposal["value"])
        if not 0.0 < rate <= training.FASTEST:
            raise TraitSettingError(f"w.rate lies above 0 and up to {training.FASTEST:g}, not {rate!r}")
        return rate

    @traitlets.validate("hidden")
    def _check_hidden(self, proposal: Any) -> list[int]:
        if self._model is not None and list(proposal["value"]) != self._first["hidden"]:
            raise TraitSettingError("the sizes are those of the model that was given; make a widget without one")
        try:
            return training.sizes(proposal["value"])
        except SettingError as error:
            raise TraitSettingError(f"w.hidden: {error}") from None

    def __repr__(self) -> str:
        return f"TrainingWidget of MLP(2, {[*self.hidden, 1]}): step {self.step}, loss {self.loss:.4f}"
