"""Random numbers of a job: they depend on its seed alone, whoever else is in its process.

The usual generators belong to a process, not to a job. So jobs in threads of one process take turns; and what other
threads draw, as Dask does when it estimates sizes, comes from elsewhere as long as a job runs.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec

from gradwalk.chance import left_to_this_thread
from gradwalk.tensor import random as own

__all__ = ["seeded"]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers that depend on the seed alone; outside, they go on as if nothing had been drawn.

    >>> with seeded(7):
    ...     first = random.random()
    >>> with seeded(7):
    ...     random.random() == first
    True
    """
    in_main = threading.current_thread() is threading.main_thread()  # of a worker that does nothing else
    with nullcontext() if in_main else left_to_this_thread(), own.seeded(seed):
        numpy = sys.modules.get("numpy") or (__import__("numpy") if find_spec("numpy") else None)
        torch = sys.modules.get("torch")
        before = random.getstate(), numpy and numpy.random.get_state(), torch and torch.get_rng_state()
        random.seed(seed)
        if numpy:
            numpy.random.seed(seed % 2**32)
        if torch:
            torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(before[0])
            if numpy and before[1] is not None:
                numpy.random.set_state(before[1])
            if torch and before[2] is not None:
                torch.set_rng_state(before[2])
