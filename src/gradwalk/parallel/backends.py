"""Where jobs run: in this process, in processes of this machine, on a Dask cluster, on a Ray cluster.

A backend takes jobs and yields their answers as they come, each once. A worker that dies in the middle of a job costs
that job another try, not its result; a job that takes its worker with it again and again is answered as a failure.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from typing import Any

from gradwalk.errors import MissingExtraError, SettingError
from gradwalk.ieee import whole
from gradwalk.parallel.jobs import Answer, Job, run

__all__ = ["BACKENDS", "Backend", "backend_of", "in_this_process"]

Answers = Generator[Answer, None, None]
#: Takes the jobs, how many workers there may be, and the cluster's address.
Backend = Callable[[Sequence[Job], int, str | None], Answers]

TRIES = 3  # how often a job may lose its worker
SLICE = 0.1  # seconds to wait at a time: a signal that came a moment before a wait is heard after it
DIED = "WorkerDied"
IDLE = 300  # seconds after which a process with nothing to do ends
_AHEAD = 8  # jobs for each worker that a cluster knows of at once: it needs memory and time for each that waits
PATIENCE = "10s"  # with a scheduler that does not answer


def backend_of(name: str, workers: int | None, address: str | None) -> tuple[Backend, int]:
    """A backend by its name, and how many workers it gets where nobody said.

    >>> backend_of("processes", 1, None)[0].__name__
    'in_this_process'
    >>> backend_of("threads", 2, None)
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: backend is 'processes', 'dask' or 'ray', not 'threads'
    """
    if name not in BACKENDS:
        raise SettingError(f"backend is 'processes', 'dask' or 'ray', not {name!r:.60}")
    if address is not None and name == "processes":
        raise SettingError("address is that of a cluster; name its kind as well: backend='dask' or backend='ray'")
    workers = whole("workers", _cores() if workers is None else workers, 1)
    if name == "processes" and workers == 1:
        return in_this_process, 1
    _needed(name)
    return BACKENDS[name], workers


def in_this_process(jobs: Sequence[Job], workers: int, address: str | None) -> Answers:
    """One after the other, with nothing sent anywhere.

    >>> from gradwalk.parallel.jobs import here
    >>> [answer.failure for answer in in_this_process([Job(0, abs, -1, 0, None, here())], 1, None)]
    [None]
    """
    yield from map(run, jobs)


def in_processes(jobs: Sequence[Job], workers: int, address: str | None) -> Answers:
    """In processes of this machine: joblib's, which are kept for the next call."""
    loky = import_module("joblib.externals.loky")
    waiting = {job.number: job for job in jobs}
    deaths = dict.fromkeys(waiting, 0)  # how often a job was under way when a worker died
    while waiting:
        # Jobs that may have killed a worker go alone from their second time on, so that no other is blamed for it.
        suspects = [job for job in waiting.values() if deaths[job.number] >= 2]
        unsent = iter(suspects[:1] or list(waiting.values()))
        executor = loky.get_reusable_executor(max_workers=workers, timeout=IDLE, env=_threads(workers))
        under_way: dict[Any, Job] = {}
        whole = True
        try:
            while True:
                if whole:  # no more than there are workers, so that none is blamed that had not begun
                    try:
                        for job in itertools.islice(unsent, workers - len(under_way)):
                            under_way[executor.submit(run, job)] = job
                    except BrokenProcessPool:  # that one is sent again; those under way hear of it below
                        whole = False
                if not under_way:
                    break
                for future in wait(under_way, SLICE, FIRST_COMPLETED).done:
                    job, trouble = under_way.pop(future), future.exception()
                    if trouble is None:
                        del waiting[job.number]
                        yield future.result()
                        continue
                    if not isinstance(trouble, BrokenProcessPool):
                        raise trouble
                    whole = False
                    deaths[job.number] += 1
                    if deaths[job.number] >= TRIES:
                        del waiting[job.number]
                        yield _lost(job)
        finally:
            if under_way:
                executor.shutdown(wait=True, kill_workers=True)


def _threads(workers: int) -> dict[str, str]:
    """How many threads the libraries of each worker may start, so that all of them together find a core each."""
    each = str(max(1, _cores() // workers))
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), each)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_dask(jobs: Sequence[Job], workers: int, address: str | None) -> Answers:
    """On a Dask cluster: the one at an address, the one that this program is connected to, or one on this machine."""
    distributed = _needed("dask")
    own: Any = None
    if address is not None:
        try:
            client = own = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise SettingError(f"no Dask scheduler answers at {address}: {error}") from error
    else:
        try:
            client = distributed.get_client()
        except ValueError:
            client = own = distributed.Client(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, set_as_default=False
            )
    try:
        futures: dict[Any, Job] = {}
        unsent, done = iter(jobs), distributed.as_completed(loop=client.loop)
        try:
            while True:
                if 2 * len(futures) <= (room := _AHEAD * max(1, sum(client.nthreads().values()))):
                    for job in itertools.islice(unsent, room - len(futures)):
                        future = client.submit(run, job, pure=False, key=f"gradwalk-{os.urandom(8).hex()}")
                        futures[future] = job
                        done.add(future)
                if not futures:
                    break
                for future in done.next_batch():
                    job, trouble = futures.pop(future), future.exception()
                    yield future.result() if trouble is None else _refused(job, trouble)
        finally:
            client.cancel(list(futures), force=True)
    finally:
        if own is not None:
            own.close()


def on_ray(jobs: Sequence[Job], workers: int, address: str | None) -> Answers:
    """On a Ray cluster: the one at an address, the one that this program is connected to, or one on this machine."""
    ray = _needed("ray")
    own = not ray.is_initialized()
    if own:
        start: dict[str, Any] = {"num_cpus": workers} if address is None else {"address": address}
        try:
            ray.init(**start, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        except ConnectionError as error:
            raise SettingError(f"no Ray cluster answers at {address}: {error}") from error
    try:
        remote = ray.remote(num_cpus=1, max_retries=TRIES - 1)(run)
        waiting: dict[Any, Job] = {}
        unsent = iter(jobs)
        try:
            while True:
                room = _AHEAD * max(workers, int(ray.cluster_resources().get("CPU", 0)))
                for job in itertools.islice(unsent, max(0, room - len(waiting))):
                    waiting[remote.remote(job)] = job
                if not waiting:
                    break
                for reference in ray.wait(list(waiting))[0]:
                    job = waiting.pop(reference)
                    try:
                        answer = ray.get(reference)
                    except ray.exceptions.RayError as error:
                        answer = _refused(job, error)
                    yield answer
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)
    finally:
        if own:
            ray.shutdown()


def _lost(job: Job) -> Answer:
    words = f"the process that ran it died {TRIES} times; it may need more memory than there is, or crash"
    return Answer(job.number, None, (DIED, words, ""), 0.0)


def _refused(job: Job, error: BaseException) -> Answer:
    """The answer for a job that its cluster gave up: most often because a worker could not read or survive it."""
    if type(error).__name__ in ("KilledWorker", "WorkerCrashedError"):
        return _lost(job)
    if "gradwalk" in str(error.__cause__ or error):  # it could not even read the job
        words = f"a worker has no gradwalk of this kind ({error.__cause__ or error}); install the same version there"
        return Answer(job.number, None, ("VersionMismatch", words, ""), 0.0)
    return Answer(job.number, None, (type(error).__name__, str(error), ""), 0.0)


def _needed(name: str) -> Any:
    module, extra = _PACKAGES[name]
    try:
        return import_module(module)
    except ImportError as error:
        wanted_for = "more than one worker" if name == "processes" else f"backend={name!r}"
        raise MissingExtraError.of(module, extra=extra, wanted_for=wanted_for) from error


#: What each backend runs on, and the extra that brings it.
_PACKAGES = {"processes": ("joblib", "parallel"), "dask": ("distributed", "dask"), "ray": ("ray", "ray")}


BACKENDS: dict[str, Backend] = {"processes": in_processes, "dask": on_dask, "ray": on_ray}
