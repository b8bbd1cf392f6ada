"""Graphs made visible: drawings with cards and lines, and spy plots of graphs too large for that."""

from gradwalk.drawing.api import Drawing, draw, draw_dot
from gradwalk.drawing.picture import Picture
from gradwalk.drawing.spy_plot import Spy, spy

__all__ = ["Drawing", "Picture", "Spy", "draw", "draw_dot", "spy"]
