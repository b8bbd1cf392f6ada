"""The stepper as a widget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradwalk import walk
from gradwalk.bundles import bundle
from gradwalk.errors import GradwalkError
from gradwalk.explain.views import names_of, recorded, view_of
from gradwalk.notebook.widget import TraitSettingError, Widget, traitlets, within
from gradwalk.ops import number
from gradwalk.replay import reason_not_to, recompute, write_back

if TYPE_CHECKING:
    from gradwalk.walk import Recording

__all__ = ["WalkWidget"]

OF_TENSORS = (
    "w.leaves is for graphs of Values, and this one is of tensors; compute it again with other numbers, and make a "
    "widget of that"
)
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _out(leaves: Mapping[str, float], widget: Any) -> dict[str, float | str]:
    """JSON has no nan and no inf: they travel as texts."""
    return {name: x if math.isfinite(x) else str(x) for name, x in leaves.items()}


def _in(leaves: Mapping[str, Any], widget: Any) -> dict[str, Any]:
    """And back: JavaScript writes 6.0 as 6."""
    return {name: SPECIAL.get(x, x) if isinstance(x, str) else float(x) for name, x in leaves.items()}


class WalkWidget(Widget):
    """What `walk_widget` gives.

    Traits: `step`, the step shown; `leaves`, the numbers at the leaves by label; `title`. `recording` is what is being
    walked. A graph of tensors has no `leaves` here; its numbers open in the view, each with a graph of its own.

    >>> a = gradwalk.Value(3.0, label="a")
    >>> w = gradwalk.walk_widget(a * a)
    >>> w.leaves, a.data
    ({'a': 3.0}, 3.0)
    >>> w.leaves = {"a": 4}
    >>> a.data, w.recording.grads[0]
    (4.0, 8.0)
    """

    scene = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    leaves = traitlets.Dict().tag(sync=True, to_json=_out, from_json=_in)
    first_leaves = traitlets.Dict().tag(sync=True, to_json=_out, from_json=_in)
    note = traitlets.Unicode("").tag(sync=True)
    title = traitlets.Unicode("").tag(sync=True)
    _wanted_cell = traitlets.Dict().tag(sync=True)  # the number of a tensor that a view asks for: n, node, place
    _cell = traitlets.Dict().tag(sync=True)  # … and what it gets: n, and a scene or an error

    def __init__(self, root: Any, *, step: int = 0, title: str = "") -> None:
        self._recording = recorded(root, "a walk widget")
        self._nodes = list(walk.topological(root))
        tensors = getattr(root, "many", False) is True
        self._fixed = OF_TENSORS if tensors else reason_not_to(self._nodes)
        names = names_of(self._recording.graph)
        rows = self._recording.graph.nodes
        self._places = {} if self._fixed else {name: place for name, place in names.items() if rows[place].leaf}
        leaves = {name: self._nodes[place].data for name, place in self._places.items()}
        super().__init__(
            _esm=bundle("walk.js"), scene=view_of(self._recording), leaves=leaves, first_leaves=leaves,
            step=step, title=str(title),
        )  # fmt: skip
        self.observe(self._follow, "leaves")
        self.observe(self._open_cell, "_wanted_cell")

    @property
    def recording(self) -> Recording:
        """The recording that is shown: its events, its numbers, its sentences.

        >>> gradwalk.walk_widget(gradwalk.Value(3.0, label="a") * 2).recording.events[0].sentence
        '`n2` is `a` × 2: 3 × 2 = 6.'
        """
        return self._recording

    def refresh(self) -> None:
        """Look at the leaves again, after somebody set the `.data` of one: everything above them is computed anew.

        >>> a = gradwalk.Value(3.0, label="a")
        >>> b = a * a
        >>> w = gradwalk.walk_widget(b)
        >>> a.data = 5.0
        >>> w.refresh()
        >>> w.leaves, b.data
        ({'a': 5.0}, 25.0)
        """
        now = {name: self._nodes[place].data for name, place in self._places.items()}
        if now == self.leaves:
            self._follow({"new": now})
        else:
            self.leaves = now

    @traitlets.validate("step")
    def _check_step(self, proposal: Any) -> int:
        all_steps = len(self._recording.events)
        return within(proposal["value"], all_steps, f"the walk has {all_steps} steps: w.step")

    @traitlets.validate("leaves")
    def _check_leaves(self, proposal: Any) -> dict[str, float]:
        given = proposal["value"]
        if self._fixed and not given:
            return {}
        if self._fixed == OF_TENSORS:
            raise TraitSettingError(OF_TENSORS)
        if self._fixed:
            raise TraitSettingError(
                f"{self._fixed}, so the graph cannot be computed anew; build it with gradwalk's operations, "
                "or define the operation with @gradwalk.op"
            )
        strange = [name for name in given if name not in self._places]
        if strange:
            raise TraitSettingError(f"no leaf is called {strange[0]!r}; there are {', '.join(self._places) or 'none'}")
        try:
            wanted = {name: float(number(x)) for name, x in given.items()}
            whole = {**{name: self._nodes[place].data for name, place in self._places.items()}, **wanted}
            recompute(self._nodes, self._moved(whole))
        except GradwalkError as error:
            raise TraitSettingError(f"w.leaves: {error}") from error
        return whole

    def _moved(self, leaves: dict[str, float]) -> dict[int, float]:
        return {id(self._nodes[self._places[name]]): x for name, x in leaves.items()}

    def _follow(self, change: Any) -> None:
        """Put the leaves into the graph, and show the walk over it."""
        if not self._fixed:
            write_back(self._nodes, recompute(self._nodes, self._moved(change["new"])))
        self._recording = walk.record(self._nodes[-1])
        with self.hold_trait_notifications():
            self.step = min(self.step, len(self._recording.events))
            self.scene = view_of(self._recording)

    def _open_cell(self, change: Any) -> None:
        """The graph of one number, for the view that asked for it."""
        from gradwalk.tensor.explained import graph_at  # only graphs of tensors need it

        asked = change["new"]
        try:
            top = graph_at(self._nodes[-1], asked.get("node"), asked.get("place"))
            self._cell = {"n": asked.get("n"), "scene": view_of(recorded(top, "the walk of one number"))}
        except GradwalkError as error:
            self._cell = {"n": asked.get("n"), "error": str(error)}

    def __repr__(self) -> str:
        name = self._recording.graph.nodes[self._recording.graph.root].name
        return f"WalkWidget of {name}: step {self.step} of {len(self._recording.events)}"
