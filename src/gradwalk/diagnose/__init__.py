"""Which bug it is: a grader for home-made engines that names what is wrong and says where.

What is there to compare with:
- `teaching.py`, `styles.py`: engines that are right, as source text;
- `museum/`: engines with one thing wrong, with explanation, smallest program, right and wrong numbers.

How an engine is judged:
- `vocabulary.py`, `looking.py`, `adapter.py`: someone's engine behind one face, found by looking;
- `checks.py`, `randoms.py`: what is asked; `programs.py`, `budget.py`: how it is run; `trial.py`: what came of it;
- `grading.py`, `report.py`, `wording.py`, `speed.py`: the checklist, its result, and its words.

How a bug gets its name:
- `evidence.py`, `measuring.py`: one op at a time; `case.py`, `naming.py`: wrong numbers against the museum's;
- `diagnosis.py`: who is to blame for which check; `reading.py`, `lines.py`: the guilty line in the source;
- `sentences.py`, `telling.py`: the diagnosis in words.

For others to use:
- `conformance.py`: the same checks as tests for pytest;
- `loading.py`, `guard.py`, `child.py`, `sandbox.py`: a file in a process of its own;
- `submissions.py`, `pages.py`: a whole class, and reports as pages.
"""

from __future__ import annotations

from gradwalk.diagnose import conformance, museum, teaching
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.results import CheckResult, Diagnosis, Grade

__all__ = ["CheckResult", "Diagnosis", "Grade", "conformance", "grade", "museum", "teaching"]
