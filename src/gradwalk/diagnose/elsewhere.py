"""Submissions judged on other machines: what was handed in travels to a worker, and its grade comes back."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gradwalk import parallel
from gradwalk.diagnose.cleaning import plain
from gradwalk.diagnose.results import not_judged
from gradwalk.diagnose.sandbox import Judged, Limits, judge_file
from gradwalk.diagnose.submissions import Submission
from gradwalk.diagnose.workplace import copy_alone, copy_whole, is_ordinary, too_large
from gradwalk.messages import verbatim

__all__ = ["Parcel", "grade_elsewhere", "judge_parcel", "parcel_of"]


@dataclass(frozen=True)
class Parcel:
    """All that belongs to a submission, as bytes, and which of the files is the engine.

    >>> Parcel("engine.py", {"engine.py": b""}, whole=False).file
    'engine.py'
    """

    file: str
    files: dict[str, bytes]
    whole: bool  # whether it is a folder, whose files may import each other
    reason: str = ""  # why there is nothing to judge


def parcel_of(submission: Submission) -> Parcel:
    """What somebody handed in, packed.

    >>> parcel_of(Submission("ada", Path(__file__))).file
    'elsewhere.py'
    """
    reason = submission.reason
    if not reason:
        reason = too_large(submission.path) if is_ordinary(submission.path) else "it is no ordinary file"
    if reason:
        return Parcel("", {}, False, reason)
    with tempfile.TemporaryDirectory(prefix="gradwalk-") as made:
        folder = Path(made)
        try:
            if submission.root is None:
                file = copy_alone(submission.path, folder)
            else:
                file = copy_whole(submission.path, submission.root, folder)
        except OSError as error:
            return Parcel("", {}, False, f"it cannot be read: {error.strerror or error}")
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return Parcel(file, files, submission.root is not None)


def judge_parcel(parcel: Parcel, *, class_name: str, names: Mapping[str, str], limits: Limits) -> Judged:
    """Unpack a submission where this runs, and judge it as a file that lies here.

    >>> parcel = Parcel("engine.py", {"engine.py": b"class Value: pass"}, whole=False)
    >>> judge_parcel(parcel, class_name="Value", names={}, limits=Limits()).grade.passed
    False
    """
    if parcel.reason:
        return Judged(not_judged(verbatim(parcel.reason)))
    with tempfile.TemporaryDirectory(prefix="gradwalk-", ignore_cleanup_errors=True) as made:
        root = Path(made).resolve()
        for name, content in parcel.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        engine = root / parcel.file
        return judge_file(
            engine,
            root=root if parcel.whole else None,
            alone=not parcel.whole,
            class_name=class_name,
            names=names,
            limits=limits,
        )


def grade_elsewhere(
    submissions: Sequence[Submission], *, backend: str, address: str | None, jobs: int | None, class_name: str,
    names: Mapping[str, str], limits: Limits,
) -> Generator[tuple[Submission, Judged], None, None]:  # fmt: skip
    """Judge submissions on a cluster; each as soon as it is done.

    >>> list(grade_elsewhere([], backend="processes", address=None, jobs=1, class_name="Value", names={},
    ...                      limits=Limits()))
    []
    """
    judge = partial(judge_parcel, class_name=class_name, names=names, limits=limits)
    parcels = [parcel_of(submission) for submission in submissions]
    running = parallel.as_completed(judge, parcels, backend=backend, address=address, workers=jobs, progress=False)
    try:
        for place, done in running:
            if done.failed:
                words = f"the worker failed on it ({done.result.error}: {plain(done.result.message, 200)})"
                yield submissions[place], Judged(not_judged(verbatim(words)))
            else:
                yield submissions[place], done.result
    finally:
        running.close()
