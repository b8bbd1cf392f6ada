"""Many trainings at once: `parallel.map` runs one function over many settings, on all cores or on a cluster.

- `mapping.py`: `map`, `as_completed` and `grid`, which users call; jobs go out from here and results come back here;
- `jobs.py`: one job where it runs, with its time limit and its random numbers; it answers whatever happens;
- `backends.py`: this process, processes (joblib), Dask, Ray;
- `kept.py`: finished jobs on disk; `fingerprints.py`: what tells one job from another;
- `progress.py`: how far it is;
- `sweeps.py`: a grid with seeds, from the words of `gradwalk sweep` to its tables.
"""

from gradwalk.parallel.jobs import Failure
from gradwalk.parallel.mapping import as_completed, grid, map

__all__ = ["Failure", "as_completed", "grid", "map"]
