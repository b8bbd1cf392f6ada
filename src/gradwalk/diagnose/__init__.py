"""Which bug it is: a grader for home-made engines that names what is wrong and says where.

Data goes from an engine through probes to outcomes, from outcomes to faults, from faults to words:

- `vocabulary`, `discovery`, `adapter`: somebody's engine behind one face, found by looking
- `pushing`: what one node pushes, away from the engine's walk; `watching`: that walk itself, watched; `experiments`:
  what one question finds out, as whether a walk takes every path
- `networks`: whether `parameters` and `zero_grad` of the classes beside it reach every weight
- `probes`, `op_probes`, `random_probes`, `budget`: small programs, and how one is run; `checks`: the checklist of them
- `examination`: the outcomes of one engine, each check judged; `results`: a `Grade` with its checks and diagnoses
- `composition`: what an op is made of; `comparison`: the outcomes beside those of engines with known faults
- `formulas`: what an op computes instead; `candidates`: which faults an engine has
- `source_tree`, `guilty_lines`: the line of a fault in the source
- `phrases`, `messages`: a fault in words; `blame`: which of them each failed check is due to
- `places`: a line in the words of whoever reads: the cell of a notebook, the name of a second file
- `grading`: all of it, in this process; `as_text`, `as_html`: a grade to read

What engines are compared with:

- `teaching`, `right_engines`: engines that are right, as source text
- `museum/`: engines with one thing wrong, and how to put a fault into any op

For others to use:

- `conformance`: the same checks as tests for pytest
- `loading`: a learner's file as a namespace, with `stand_ins` for modules that are missing; `workplace`: a folder of
  its own for each
- `runner`, `child`: in processes of their own, the one takes numbers, the other examines; `guard`, `confinement`: what
  these may not do; `processes`, `cleaning`: how they are talked with
- `sandbox`, `proof`: a file judged that way; `deno`: the same in Pyodide, out of reach of the machine
- `submissions`: what a class handed in, judged side by side; `marks`, `resemblance`: one engine beside the others;
  `gradebook`: the results, written as they come; `elsewhere`: judged on the machines of a cluster
"""

from __future__ import annotations

import warnings
from typing import Any

from gradwalk.diagnose import conformance, museum, teaching
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.results import CheckResult, Diagnosis, Grade

__all__ = ["CheckResult", "Diagnosis", "Grade", "conformance", "grade", "museum", "teaching"]


def __getattr__(name: str) -> Any:
    if name == "Report":
        warnings.warn("gradwalk.diagnose.Report is called Grade now", DeprecationWarning, stacklevel=2)
        return Grade
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
