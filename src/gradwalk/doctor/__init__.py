"""The doctor: what is wrong with a graph, a model, a training, where, why, and what to try.

- `gradwalk.doctor(loss)`, `gradwalk.doctor(model, loss)`: one graph. `loss` may also be a function that computes it:
  then the source lines are known, and numbers that left the graph on the way (`Value(v.data)`) are seen.
- `with gradwalk.doctor.watch(model) as visit:` around a training loop, and `print(visit)` after it.
- `gradwalk doctor script.py`: a whole program, as it is.

Each gives a `Report`: findings in the order in which to look at them. A healthy run gives none.
`help(doctor.doctor)` and `help(doctor.watch)` tell what they take.

A run goes this way: `run_watch` is told of every backward() and step, `model_watch` looks at a model's numbers and now
and then lets `examine` look at the whole graph; what they see is a `history`, and `findings` makes a report of it.

- `watch`: what the user holds; `run_watch`, `model_watch`: a training, and one model in it, step by step
- `single`: one graph, looked at once
- `names`, `routes`: which Values are parameters, and what to call them
- `order`, `scan`: one graph in one pass: units, layers, what flows
- `lines`: the source line of a node, from another step's
- `tensor_scan`, `tensor_watch`: the same of graphs of tensors: layers, units, broadcasts
- `tracking`, `cuts`: floats that remember where they were read; numbers that left the graph, and what that cost
- `wrong_derivatives`, `zero_gradients`: what single nodes do wrong; why a gradient is exactly 0
- `examine`, `history`: all of that for one graph; what was seen of one model
- `findings`: from what was seen to findings, and their order
- `report`, `report_html`: the report, in words, as JSON and HTML
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from gradwalk.callables import CallableModule
from gradwalk.doctor.report import Finding, Looked, Report
from gradwalk.doctor.single import doctor
from gradwalk.doctor.watch import Visit, watch

__all__ = ["Finding", "Looked", "Report", "Visit", "doctor", "watch"]


class _CallableModule(CallableModule):
    """`gradwalk.doctor` is this module as soon as anyone imports from it, and must stay the function too."""

    def __call__(self, model: Any, loss: Any = None, *, optimiser: Any = None) -> Report:
        return doctor(model, loss, optimiser=optimiser)

    if TYPE_CHECKING:  # what stands above, for those who know the module by `from gradwalk import doctor`
        from gradwalk.doctor.report import Finding as Finding
        from gradwalk.doctor.report import Looked as Looked
        from gradwalk.doctor.watch import Visit as Visit

        watch = staticmethod(watch)


itself: _CallableModule = cast(_CallableModule, sys.modules[__name__])
itself.__class__ = _CallableModule
