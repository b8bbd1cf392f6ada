"""Where the nodes of a graph stand: the one layout of drawings, terminal, notebooks and the course's page.

- `ranks.py`: the column of each box, so that lines are short;
- `columns.py`: boxes, and bends where lines pass a column; calls the two above and below;
- `ordering.py`: the order within a column, with few crossings;
- `placing.py`: the place within a column, near what a box is tied to;
- `tracks.py`: all of it for a recorded graph, as the page and the notebooks take it.

Sizes and gaps come from whoever draws; pixels and characters do not matter here. The standard library only: the same
layout is made in the browser. Everything is deterministic.
"""

from gradwalk.layout.columns import Columns, in_columns
from gradwalk.layout.tracks import Layout, layout_of

__all__ = ["Columns", "Layout", "in_columns", "layout_of"]
