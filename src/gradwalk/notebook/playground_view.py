"""The visit-order playground as a widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwalk import walk
from gradwalk.bundles import bundle
from gradwalk.explain.views import names_of, recorded, view_of
from gradwalk.notebook.widget import TraitSettingError, Widget, traitlets, within

__all__ = ["PlaygroundWidget"]


class PlaygroundWidget(Widget):
    """What `playground_widget` gives.

    Traits: `order`, the nodes by name, first to last; `visits`, how many of them have been visited; and what becomes of
    the order when all have: `verdict` in words, `right` in one bit.

    >>> graph = gradwalk.program("b = a + 1; c = a*3; d = b*c", a=2)
    >>> w = gradwalk.playground_widget(graph.root, order=["c", "d", "b", "a"])
    >>> w.right, w.verdict[:34]
    (False, '`c` was visited before `d`: it had')
    """

    scene = traitlets.Dict().tag(sync=True)
    order: traitlets.List[str] = traitlets.List().tag(sync=True)
    visits = traitlets.Int(0).tag(sync=True)
    verdict = traitlets.Unicode("", read_only=True).tag(sync=True)
    right = traitlets.Bool(False, read_only=True).tag(sync=True)
    title = traitlets.Unicode("").tag(sync=True)

    def __init__(self, root: Any, *, order: Sequence[str] | None = None, title: str = "") -> None:
        self._recording = recorded(root, "a playground", tensors=False)
        self._names = names_of(self._recording.graph)
        search = [step.to_dict() for step in walk.search_steps(self._recording.graph)]
        super().__init__(
            _esm=bundle("order.js"), title=str(title),
            scene={**view_of(self._recording), "search": search, "names": self._names},
            order=list(self._names if order is None else order),
        )  # fmt: skip
        self.observe(self._judge, "order")
        self._judge()

    def run(self) -> None:
        """Visit all nodes, in the order as it is.

        >>> w = gradwalk.playground_widget(gradwalk.Value(3.0, label="a") * 2)
        >>> w.run()
        >>> w.visits
        2
        """
        self.visits = len(self.order)

    @traitlets.validate("order")
    def _check_order(self, proposal: Any) -> list[str]:
        wanted = [str(name) for name in proposal["value"]]
        if sorted(wanted) != sorted(self._names):
            raise TraitSettingError(f"w.order lists each node once: {', '.join(self._names)}; not {wanted!r:.200}")
        return wanted

    @traitlets.validate("visits")
    def _check_visits(self, proposal: Any) -> int:
        return within(proposal["value"], len(self._names), f"{len(self._names)} nodes can be visited: w.visits")

    def _judge(self, _: Any = None) -> None:
        verdict = walk.record(self._recording, order=[self._names[name] for name in self.order]).verdict
        self.set_trait("right", verdict.right)
        self.set_trait("verdict", verdict.sentence)

    def __repr__(self) -> str:
        name = self._recording.graph.nodes[self._recording.graph.root].name
        return f"PlaygroundWidget of {name}: {', '.join(self.order)}"
