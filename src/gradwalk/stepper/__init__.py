"""The walk in a terminal: a full-screen stepper, and the same walk as plain text.

| module | what it knows |
|---|---|
| `subject` | what to step through: a preset, an expression, a Value of a script |
| `player` | a recording and a place in it: forth, back, to the seed |
| `step_page` | what a step says: phase, sentence, formula in two rows, before → after |
| `grid`, `rows`, `routes` | where cards and edges go on a grid of characters, after `gradwalk.layout` |
| `canvas` | the graph at one moment, drawn on that grid |
| `faces` | arrays in characters: one with a cell lit, a matrix product as three faces |
| `nearby` | the part of a large graph around the node in play |
| `colours` | blue data, vermilion gradients, the one yellow edge; dark and light |
| `widgets`, `order_screen`, `cell_screen`, `manual`, `app` | the Textual application: parts, screens, keys |
| `transcript` | the walk as text of 80 columns, for pipes and files |

Only `widgets`, `order_screen`, `cell_screen`, `manual` and `app` know Textual.
"""

from __future__ import annotations

__all__: list[str] = []
