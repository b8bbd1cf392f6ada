"""The stepper, the playground and the training view away from the course, in notebooks.

- `walk_view.py`, `playground_view.py`, `training_view.py`: the widgets, on top of `widget.py`; they need anywidget;
- `traits.py`: what Python and the page share in each of them, written down for TypeScript;
- `built/`: the scripts, the same components as the course's, bundled by `web/elsewhere/build.mjs`.

`gradwalk.explain` has what they show, `gradwalk.bundles` finds the scripts.

Nothing here is imported by `import gradwalk`, and anywidget only by whoever asks for a widget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradwalk.nn import MLP
    from gradwalk.notebook.playground_view import PlaygroundWidget
    from gradwalk.notebook.training_view import TrainingWidget
    from gradwalk.notebook.walk_view import WalkWidget

__all__ = ["playground_widget", "training_widget", "walk_widget"]


def walk_widget(root: Any, *, step: int = 0, title: str = "") -> WalkWidget:
    """The walk over a graph as a widget: in JupyterLab, marimo and VS Code. It steps back and forth, and plays.

    `w.step` is the step shown and `w.leaves` holds the numbers the graph starts from, by label: change one here or in
    the widget, and the other follows. Other leaves are put into the graph itself: `.data` of every Value in it
    is computed anew, by the same ops.

    A graph of tensors is walked too: its numbers and gradients are heat maps, and each number opens its own graph.

    >>> graph = gradwalk.program("e = a*b; d = e + c; L = d*f", a=2, b=-3, c=10, f=-2)
    >>> w = gradwalk.walk_widget(graph.root)
    >>> w.step = 5
    >>> w
    WalkWidget of L: step 5 of 13
    >>> w.leaves = {"a": 3}
    >>> w.leaves, graph["L"].data
    ({'a': 3.0, 'b': -3.0, 'c': 10.0, 'f': -2.0}, -2.0)
    >>> W = gradwalk.Tensor([[1.0, 2.0], [3.0, 4.0]], label="W")
    >>> gradwalk.walk_widget((W @ W).sum())
    WalkWidget of n2: step 0 of 8
    """
    from gradwalk.notebook.walk_view import WalkWidget

    return WalkWidget(root, step=step, title=title)


def playground_widget(root: Any, *, order: Sequence[str] | None = None, title: str = "") -> PlaygroundWidget:
    """The visit-order playground as a widget: put the nodes in any order, run them, see which contribution is lost.

    `w.order` lists the nodes by name, and follows when they are moved in the widget; `w.visits` is how many of them
    have been visited; `w.verdict` says in a sentence what becomes of the order, `w.right` whether all leaves get what
    they should.

    >>> w = gradwalk.playground_widget(gradwalk.program("b = a + 1; c = a*3; d = b*c", a=2).root)
    >>> w.order
    ['a', 'b', 'c', 'd']
    >>> w.order = ["d", "c", "b", "a"]
    >>> w.right, w.verdict
    (True, 'Each node came after all that use it: every gradient is right.')
    """
    from gradwalk.notebook.playground_view import PlaygroundWidget

    return PlaygroundWidget(root, order=order, title=title)


def training_widget(
    model: MLP | None = None, *, hidden: Sequence[int] | None = None, rate: float | None = None, forget: bool = False
) -> TrainingWidget:
    """Two moons and a network that learns to tell them apart, as a widget: play, pause, step; rate, sizes, zero_grad.

    The kernel trains, one step each time the widget asks for one, so that cells go on running in between. A model given
    here is the one that learns: an MLP of two inputs, tanh, and one linear output, which the view puts through tanh.
    The loss is the sum of the squared differences from −1 and +1, as in lesson nine of the course. `w.step`, `w.loss`,
    `w.rate`, `w.hidden`, `w.forget` and `w.playing` are what the widget shows; `w.advance(10)` trains from here.

    >>> w = gradwalk.training_widget(hidden=[4])
    >>> before = w.loss
    >>> w.advance(2)
    >>> w.step, w.loss < before
    (2, True)
    """
    from gradwalk.notebook.training_view import TrainingWidget

    return TrainingWidget(model, hidden=hidden, rate=rate, forget=forget)
