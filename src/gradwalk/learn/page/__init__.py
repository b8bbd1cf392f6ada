"""Python that runs inside the course's page, under Pyodide: the standard library and gradwalk only.

The page calls a function by name through `bridge` and gets JSON back; what a learner wrote runs in `sandbox`, which
also has what the page is told when something goes wrong.

- `programs`, `scripts`: a learner's program as a recording; code of a lesson, with what it prints
- `training`: moons and a network, a step at a time; `rolling`, `picturing`: what the compiler makes of a program,
  with `matrix_picture`: which node reads which
- `folding`: a graph of numbers that folds into blocks; `naming`: a model that learns to make up names
- `exercises/`: functions to write, and which mistake a wrong one is; `hunting/`: wrong engines to watch, name and mend
- `grading`: a learner's engine through the grader; `answer`: how the page shows what came of a try
- `sentences`: every sentence Python can say here, which each language of the course has to have
- `recordings`, `schema`, `export`: what the site's build takes, and its shape in TypeScript
"""

__all__: list[str] = []
