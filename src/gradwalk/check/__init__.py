"""Gradient checks: does what backward gives agree with the function itself?

- `gradcheck(f, inputs)`: a function, ours or of a learner's own class, against slopes measured by nudging its inputs.
- `check_graph(root)`: a graph that exists already, without the function that made it.
- `compare_with_torch(f, inputs)`: the same function on PyTorch, where that is installed.

Each gives a `CheckReport`, or raises `GradientCheckError` with the report in words. A failure names the input and the
op at fault. Inside: `numeric` measures slopes (over `rungs`, of which `estimates` are made), `taylor` watches
remainders, `nodes` lays a graph open, `suspects` finds who is wrong, `judge` compares, `report` tells.
"""

from gradwalk.check.against_torch import compare_with_torch
from gradwalk.check.gradients import gradcheck
from gradwalk.check.graph import check_graph
from gradwalk.check.report import CheckReport, InputCheck, Suspect

__all__ = ["CheckReport", "InputCheck", "Suspect", "check_graph", "compare_with_torch", "gradcheck"]
