"""From what was seen of a model to findings, each kind in a module of its own, and from findings to a report.

Data goes from a `ModelHistory` (or a `Scan`, while there is one) through these to `ranking`, which makes the `Report`.

- `connections`: parameters that no gradient reaches, numbers that left the graph, gradients of exactly 0
- `non_finite`: where a nan or inf was born
- `idle_units`: dead ReLUs, saturated layers
- `gradient_flow`: gradients that fade or grow from layer to layer
- `learning_rate`: steps that overshoot
- `training_loop`: gradients that pile up, an old graph, parameters that never move
- `ranking`: all findings, each once, causes before what they cause
"""

from gradwalk.doctor.findings.ranking import report_on

__all__ = ["report_on"]
