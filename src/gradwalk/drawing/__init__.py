"""Graphs made visible: drawings with cards and lines, and spy plots of graphs too large for that.

From a graph to a picture:

- `drawn_graph.py`: walk's graph, and the nodes it was taken from, ours or anyone's;
- `by_node.py`, `by_module.py` with `modules.py` and `calls.py`: a scene, with a box for each node, neuron or layer;
- `scene.py`: boxes with texts, and lines between them, without places; `magnitudes.py`: gradients in steps;
- `cards.py`, `arrangement.py`, `geometry.py`: sizes, columns by `gradwalk.layout`, places and paths; or `graphviz.py`;
- `svg.py`, `png.py`, `graphviz.py`: the picture as text or pixels; `theme.py`, `text.py`: colours, safe labels;
- `picture.py`, `api.py`, `spy_plot.py`: what people hold in their hands.
"""

from gradwalk.drawing.api import Drawing, draw, draw_dot
from gradwalk.drawing.picture import Picture
from gradwalk.drawing.spy_plot import Spy, spy

__all__ = ["Drawing", "Picture", "Spy", "draw", "draw_dot", "spy"]
