"""`map`: one function over many settings, and `grid`, which spells the settings out."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import itertools
import math
import pickle
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NamedTuple

from gradwalk.errors import JobsFailedError, SettingError
from gradwalk.files import AnyPath
from gradwalk.parallel.backends import backend_of, in_this_process
from gradwalk.parallel.fingerprints import digest
from gradwalk.parallel.jobs import Failure, Job, here, packing
from gradwalk.parallel.kept import Kept
from gradwalk.parallel.progress import Report, shown

__all__ = ["Done", "as_completed", "grid", "map"]


def map(
    function: Callable[[Any], Any],
    settings: Iterable[Any],
    *,
    backend: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    seed: int = 0,
    keep: AnyPath | None = None,
    time_limit: float | None = None,
    progress: bool | Report | None = None,
    failures: str = "raise",
) -> list[Any]:
    """What `function` gives for each setting, in their order, worked out side by side.

    A setting is a whole training's worth: a job costs about a millisecond to send, on a cluster several.

    >>> parallel.map(lambda lr: 10 * lr, [0.1, 0.2], workers=1)
    [1.0, 2.0]

    - `backend`: `"processes"` of this machine, or a cluster: `"dask"` or `"ray"`, at `address`, or else the one that
      this program is connected to, or else one that is started here for as long as it takes;
    - `workers`: how many jobs at a time; as many as cores where nothing is said; with one worker all is done in this
      process, with nothing sent;
    - `seed`: `random`, NumPy's and PyTorch's global generators start, in each job, from a seed made of this one and the
      setting. So results are the same whatever the order and number of workers;
    - `keep`: a folder in which finished jobs are kept. A later call finds those whose function, helpers, data and
      setting are the same, and goes on from there;
    - `time_limit`: the seconds that a job may take;
    - `progress`: True, False, or a function that is told how many jobs are done, how many failed, and the total; where
      nothing is said, a bar is shown on a terminal and in a notebook;
    - `failures`: a job that fails does not stop the others. At the end `"raise"` raises JobsFailedError, which has the
      results of the others; `"return"` puts a `Failure` in the failed one's place.
    """
    if failures not in ("raise", "return"):
        raise SettingError(f"failures is 'raise' or 'return', not {failures!r:.60}")
    settings = _listed(settings)
    answers = as_completed(
        function, settings, backend=backend, workers=workers, address=address, seed=seed, keep=keep,
        time_limit=time_limit, progress=progress,
    )  # fmt: skip
    found = dict(answers)
    results = [found[i].result for i in range(len(settings))]
    failed = [found[i].result for i in range(len(settings)) if found[i].failed]
    if failed and failures == "raise":
        raise JobsFailedError(_account(failed, len(results)), results, failed)
    return results


class Done(NamedTuple):
    """What came of one job: its result, or a Failure.

    >>> Done(3.0, failed=False).result
    3.0
    """

    result: Any
    failed: bool


def _listed(settings: Any) -> list[Any]:
    if isinstance(settings, Iterable):
        return list(settings)
    raise SettingError(f"settings are several, one for each job, not {type(settings).__name__}: {settings!r:.60}")


def as_completed(
    function: Callable[[Any], Any],
    settings: Iterable[Any],
    *,
    backend: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    seed: int = 0,
    keep: AnyPath | None = None,
    time_limit: float | None = None,
    progress: bool | Report | None = None,
) -> Generator[tuple[int, Done], None, None]:
    """As `map`, but each job as soon as it is done: its place among the settings, and what came of it.

    Whoever stops reading ends what is under way.

    >>> [(place, done.result) for place, done in parallel.as_completed(abs, [-1.0, -2.0], workers=1)]
    [(0, 1.0), (1, 2.0)]
    """
    settings = _listed(settings)
    if not callable(function):
        raise SettingError(f"the first argument is a function of one setting, not {type(function).__name__}")
    if time_limit is not None and not (
        isinstance(time_limit, (int, float)) and math.isfinite(time_limit) and time_limit > 0
    ):
        raise SettingError(f"time_limit is a number of seconds above 0, or None, not {time_limit!r:.60}")
    start, workers = backend_of(backend, workers, address)
    kept = None if keep is None else Kept(keep)
    contents = _contents(settings)
    seeds = [int(hashlib.sha256(f"{seed} {content}".encode()).hexdigest()[:12], 16) for content in contents]
    keys = [] if kept is None else _keys(function, contents, seeds)
    inside = start is in_this_process

    def answered() -> Generator[tuple[int, Done], None, None]:
        found = {i: known for i, key in enumerate(keys) if kept is not None and (known := kept.get(key)) is not None}
        missing = [i for i in range(len(settings)) if i not in found]
        done, failed = len(found), 0
        with shown(progress) as tell:
            tell(done, failed, len(settings))
            for i, known in found.items():
                yield i, Done(pickle.loads(known), failed=False)
            with contextlib.nullcontext(lambda thing: thing) if inside else packing() as pack:
                work = pack(function) if missing else function
                jobs = [Job(i, work, pack(settings[i]), seeds[i], time_limit, here()) for i in missing]
            answers = start(jobs, workers, address)
            try:
                for answer in answers:
                    i, done = answer.number, done + 1
                    if answer.result is None:
                        failed += 1
                        out = Done(Failure(settings[i], *answer.failure), failed=True)  # type: ignore[misc]
                    else:
                        if kept is not None:
                            kept.put(keys[i], answer.result)
                        out = Done(pickle.loads(answer.result), failed=False)
                    tell(done, failed, len(settings))
                    yield i, out
            finally:
                answers.close()

    return answered()


def _contents(settings: Sequence[Any]) -> list[str]:
    """A name for each setting that says what it is; equal ones are told apart by how many came before."""
    times: Counter[str] = Counter()
    names = []
    for i, setting in enumerate(settings):
        try:
            content = digest(setting)
        except SettingError:
            content = f"number {i}"  # what cannot be looked into has its place for a name
        names.append(f"{content} {times[content]}")
        times[content] += 1
    return names


def _keys(function: Callable[[Any], Any], contents: list[str], seeds: list[int]) -> list[str]:
    if any(content.startswith("number") for content in contents):
        raise SettingError("keep= knows jobs by their settings, and one of these cannot be looked into; use plain data")
    work = digest(function)
    return [digest(work, contents[i], seeds[i], here()) for i in range(len(contents))]


def _account(failed: list[Any], jobs: int) -> str:
    lines = [f"{len(failed)} of {jobs} jobs failed; what the others gave is in .results"]
    for failure in failed[:3]:
        lines.append(f"\nwith the setting {failure.setting!r:.200}\n{failure.error}: {failure.message}")
        if failure.traceback:
            lines.append(failure.traceback.rstrip())
    if len(failed) > 3:
        lines.append(f"\nand {len(failed) - 3} more, in .failures")
    return "\n".join(lines)


def grid(**choices: Iterable[Any]) -> list[dict[str, Any]]:
    """Every combination of some choices, the last one changing quickest.

    >>> parallel.grid(lr=[0.1, 0.01], hidden=[8, 16])[:2]
    [{'lr': 0.1, 'hidden': 8}, {'lr': 0.1, 'hidden': 16}]
    """
    for name, values in choices.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise SettingError(f"{name} is a list of values to try, as in {name}=[{values!r}], not {values!r:.60}")
    return [
        dict(zip(choices, chosen, strict=True)) for chosen in itertools.product(*builtins.map(list, choices.values()))
    ]
