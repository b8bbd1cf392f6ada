"""Gradient checks: does what backward gives agree with the function itself?

- `gradcheck(f, inputs)`: a function, ours or of a learner's own class, against slopes measured by nudging its inputs.
- `check_graph(root)`: a graph that exists already, without the function that made it.
- `compare_with_torch(f, inputs)`: the same function on PyTorch, where that is installed.

Each gives a `CheckReport`, or raises `GradientCheckError` with the report in words. A failure names the input and the
op at fault. What is checked goes this way:

- `inputs`: numbers as a user gives them, and the function of them
- `nodes`: a graph laid open: what each node was made of, and what it passes back
- `differences`, `estimates`, `numeric`: slopes over single steps, how far to believe them, the one measured slope
- `taylor`: the remainder test, which needs no step to be chosen
- `agreement`: whether a derivative agrees with a measured slope, and within what
- `suspects`: who is at fault; `report`: what was found, in words
- `gradients`, `graph`, `against_torch`: the three checks; `of_tensors`: the first one for functions of tensors
"""

from gradwalk.check.against_torch import compare_with_torch
from gradwalk.check.gradients import gradcheck
from gradwalk.check.graph import check_graph
from gradwalk.check.report import CheckReport, InputCheck, Suspect

__all__ = ["CheckReport", "InputCheck", "Suspect", "check_graph", "compare_with_torch", "gradcheck"]
