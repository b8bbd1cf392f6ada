"""`with doctor.watch(model):` around a training loop. The loop itself stays as it is."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from gradwalk.doctor.findings import report_on
from gradwalk.doctor.model_watch import ModelWatch
from gradwalk.doctor.names import names_of_all
from gradwalk.doctor.report import Report
from gradwalk.doctor.run_watch import RunWatch
from gradwalk.errors import SettingError

__all__ = ["Visit", "watch"]

EVERY = 10

NOTHING_SEEN = (
    "no backward() of a gradwalk Value was seen: is the loss one, and is its backward() called while we watch?"
)


def watch(*subjects: Any, every: int = EVERY) -> Visit:
    """Watch a training: every step a little, some of the first and then each `every`th in full.

    Give it the model, the optimiser, both, or a list of parameters; without any it finds them in the variables of the
    program. After the `with`, print what it gives: the report. If the loop fails, the report goes with the error.

    >>> from gradwalk import doctor
    >>> w = Value(2.0, label="w")
    >>> with doctor.watch([w]) as visit:
    ...     for _ in range(20):
    ...         w.grad = 0.0
    ...         (w * w).backward()
    ...         w.data -= 0.1 * w.grad
    >>> print(visit)
    doctor: nothing found
    looked at the parameters: 1 parameter; 20 steps, 6 in full; up to 2 nodes
    """
    return Visit(*subjects, every=every)


class Visit:
    """A training under observation; see `watch`. For cells of a notebook there are also `start()` and `stop()`.

    >>> from gradwalk import doctor
    >>> visit = doctor.Visit(nn.MLP(2, [4, 1]))
    >>> visit.start()
    >>> visit.stop()
    >>> visit.report().remarks[0][:40]
    'no backward() of a gradwalk Value was se'
    """

    def __init__(self, *subjects: Any, every: int = EVERY) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise SettingError(f"every is a whole number from 1 up, not {every!r:.60}")
        self._run = RunWatch(names_of_all(subjects) if subjects else None, every)

    @property
    def models(self) -> list[ModelWatch]:
        """What was seen of each model that is trained.

        >>> Visit().models
        []
        """
        return self._run.models

    def start(self) -> None:
        """Begin to watch.

        >>> visit = Visit()
        >>> visit.start()
        >>> visit.stop()
        """
        self._run.start()

    def stop(self, error: BaseException | None = None) -> None:
        """Stop watching; `error` is what ended the run, if something did.

        >>> Visit().stop()
        """
        self._run.stop(error)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop(error)
        if error is not None and (report := self.report()):
            error.add_note(str(report))

    def report(self) -> Report:
        """What was found so far.

        >>> len(Visit().report())
        0
        """
        seen = [model.history for model in self.models]
        reached = [history for history in seen if history.ever] or seen[:1]
        return report_on(reached, [*self._run.remarks, *([] if seen else [NOTHING_SEEN])])

    def __str__(self) -> str:
        return str(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()
