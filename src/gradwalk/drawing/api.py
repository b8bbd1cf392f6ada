"""`draw(root)`: the function that people call, and the drawing that it gives."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any, ClassVar

from gradwalk.drawing import svg
from gradwalk.drawing.by_module import scene_by_module
from gradwalk.drawing.by_node import scene_by_node
from gradwalk.drawing.drawn_graph import checked_roots, count, nodes_below
from gradwalk.drawing.geometry import Geometry, geometry
from gradwalk.drawing.graphviz import geometry_by_graphviz, source
from gradwalk.drawing.modules import DEPTHS, Modules, is_module, modules_of, outputs
from gradwalk.drawing.picture import Picture
from gradwalk.drawing.scene import Scene
from gradwalk.errors import GraphError, SettingError
from gradwalk.files import checked_format, checked_theme
from gradwalk.ieee import whole

__all__ = ["ENGINES", "MAX_NODES", "Drawing", "draw", "draw_dot"]

ENGINES = {"sugiyama": geometry, "graphviz": geometry_by_graphviz}
DIRECTIONS = {"LR": "left to right", "TB": "top to bottom"}
MAX_NODES = 2500
LEGIBLE = 200  # nodes up to which a graph is drawn node by node though its model is known
COUNTED = 300_000  # nodes that are counted in half a second; a larger graph is said to have more


class Drawing(Picture):
    """A graph as it was when `draw` was called. It shows itself in a notebook; `save` writes it to a file.

    >>> drawing = draw(Value(2.0, label="a") * 3)
    >>> print(drawing)
    Drawing of 3 nodes, 2 edges, left to right; in a notebook it shows itself, .save("graph.svg") keeps it
    """

    formats: ClassVar[tuple[str, ...]] = ("svg", "html", "png", "dot")
    noun: ClassVar[str] = "a drawing"

    def __init__(self, scene: Scene, *, rankdir: str, theme: str, engine: str, format: str) -> None:
        self.scene = scene
        self.rankdir = rankdir
        self.theme = theme
        self.engine = engine
        self.format = format

    @cached_property
    def layout(self) -> Geometry:
        """Where everything is; found when it is first asked for.

        >>> len(draw(Value(2.0) * 3).layout.places)
        3
        """
        return ENGINES[self.engine](self.scene, self.rankdir)

    @property
    def source(self) -> str:
        """The drawing as text for Graphviz.

        >>> draw(Value(2.0) * 3).source.splitlines()[0]
        'digraph {'
        """
        return source(self.scene, self.rankdir)

    @property
    def summary(self) -> str:
        """What is drawn, in a few words.

        >>> draw(Value(2.0) * 3).summary
        '3 nodes, 2 edges'
        """
        return self.scene.summary

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels.

        >>> draw(Value(2.0)).size
        (132, 97)
        """
        return svg.outer_size(self.scene, self.layout)

    def _svg(self, theme: str, *, notebook: bool = False) -> str:
        return svg.svg(self.scene, self.layout, flat=self.rankdir == "LR", theme=theme, notebook=notebook)

    def _text(self, format: str) -> str:
        return self.source if format == "dot" else super()._text(format)

    def __repr__(self) -> str:
        return (
            f"Drawing of {self.summary}, {DIRECTIONS[self.rankdir]}; in a notebook it shows itself, "
            '.save("graph.svg") keeps it'
        )


def draw(
    root: Any,
    format: str = "svg",
    rankdir: str = "LR",
    *,
    grads: bool = True,
    heat: bool = False,
    locals: bool = False,
    theme: str = "auto",
    engine: str = "sugiyama",
    model: Any = None,
    depth: str | None = None,
    max_nodes: int = MAX_NODES,
) -> Drawing:
    """Draw the graph below a node, or below several, or a model. micrograd's `draw_dot` is the same function.

    The root is to the right (`rankdir="LR"`) or below ("TB"). `grads` shows gradients, `heat` colours them by magnitude
    and `locals` writes each local derivative on its edge. `theme` is "light", "dark" or "auto", which follows the
    reader's. `engine="graphviz"` lets Graphviz find the places, if it is installed. `format` is what `pipe()` and
    `render()` make if they are not told.

    With a `model` its parameters have names, and a large graph can be drawn by `depth`: "layers", "neurons" or
    "nodes". A model without a graph is drawn as it treats inputs of 1. More than `max_nodes` boxes are refused.

    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> c = a * b
    >>> c.backward()
    >>> draw(c)
    Drawing of 3 nodes, 2 edges, left to right; in a notebook it shows itself, .save("graph.svg") keeps it

    >>> model = nn.MLP(2, [16, 16, 1])
    >>> loss = nn.mse([model(x) for x in ([1.0, 2.0], [3.0, 4.0])], [1.0, -1.0])
    >>> draw(loss, model=model, depth="layers").summary
    '12 boxes for 1,690 nodes, by layer'
    """
    format = checked_format(format, Drawing.formats, Drawing.noun)
    _choose("rankdir", rankdir, DIRECTIONS)
    _choose("engine", engine, ENGINES)
    if depth is not None:
        _choose("depth", depth, DEPTHS)
    max_nodes = whole("max_nodes", max_nodes, 1)
    if is_module(root):
        model, root, depth = root, outputs(root), depth or "neurons"
    roots = checked_roots(root)
    modules = modules_of(model) if model is not None else None
    scene = _scene(roots, modules, depth, max_nodes, slopes=locals, grads=grads, coloured=heat)
    return Drawing(scene, rankdir=rankdir, theme=checked_theme(theme), engine=engine, format=format)


draw_dot = draw


def _scene(
    roots: list[Any], modules: Modules | None, depth: str | None, max_nodes: int, *, slopes: bool, **shown: bool
) -> Scene:
    if depth in ("layers", "neurons") and modules is None:
        raise SettingError(f"depth={depth!r} needs to know the model: draw(loss, model=model, depth={depth!r})")
    if depth != "nodes" and modules is not None and any(getattr(v, "many", False) is True for v in nodes_below(roots)):
        if depth is not None:
            raise SettingError(f"depth={depth!r} is for graphs of Values; of tensors each node is drawn: depth='nodes'")
        depth = "nodes"
    if depth is None and modules is not None and count(roots, LEGIBLE + 1) > LEGIBLE:
        by_neuron = scene_by_module(roots, modules, "neurons", **shown)
        if len(by_neuron.boxes) <= LEGIBLE:
            return by_neuron
        depth = "layers"
    if depth in ("layers", "neurons") and modules is not None:
        scene = scene_by_module(roots, modules, depth, **shown)
        if len(scene.boxes) > max_nodes:
            raise GraphError(
                f"{len(scene.boxes):,} boxes are too many to draw by {depth[:-1]} (max_nodes is {max_nodes:,}); "
                "see the structure with gradwalk.spy(root), or draw a smaller model"
            )
        return scene
    nodes = count(roots, COUNTED)
    if nodes > max_nodes:
        raise GraphError(
            f"a graph of {'more than ' * (nodes == COUNTED)}{nodes:,} nodes is too big to draw node by node "
            f"(max_nodes is {max_nodes:,}); draw it by module, draw(root, model=model, depth='layers'), "
            "see its structure with gradwalk.spy(root), or build it from fewer samples"
        )
    return scene_by_node(roots, names=modules.names if modules else None, slopes=slopes, **shown)


def _choose(what: str, choice: Any, known: Collection[str]) -> None:
    if not isinstance(choice, str) or choice not in known:
        names = [repr(name) for name in known]
        raise SettingError(f"{what} is {', '.join(names[:-1])} or {names[-1]}, not {choice!r:.60}")
