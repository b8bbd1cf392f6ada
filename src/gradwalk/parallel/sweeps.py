"""A sweep: one training function over a grid of settings and several seeds, and what comes out of it as a table."""

from __future__ import annotations

import csv
import importlib.util
import inspect
import io
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradwalk.errors import SettingError
from gradwalk.parallel.jobs import Failure

__all__ = ["Run", "Summary", "called_with", "function_at", "grid_of", "runs_csv", "summaries", "summaries_csv"]


def function_at(place: str) -> Callable[..., Any]:
    """The function that `script.py:train` names; the script runs as when it is imported.

    >>> function_at("train.py")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: name a script and a function in it, as in script.py:train, not 'train.py'
    """
    file, colon, name = place.rpartition(":")
    if not colon or not file or not name.isidentifier():
        raise SettingError(f"name a script and a function in it, as in script.py:train, not {place!r}")
    path = Path(file)
    if not path.is_file():
        raise SettingError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SettingError(f"{file} is not a Python script: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))  # as Python does for a script that it runs
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SettingError(f"{file} stops with {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not inspect.isfunction(function):
        own = [x for x in vars(module).values() if inspect.isfunction(x) and x.__module__ == path.stem]
        raise SettingError(f"{file} has no function {name}; it has {', '.join(f.__name__ for f in own) or 'none'}")
    return function


def grid_of(words: Sequence[str]) -> dict[str, list[Any]]:
    """Settings with the values to try, from words such as `lr=0.1,0.01`.

    >>> grid_of(["lr=0.1,0.01", "hidden=8,16", "wide=true", "name=relu"])
    {'lr': [0.1, 0.01], 'hidden': [8, 16], 'wide': [True], 'name': ['relu']}
    """
    choices: dict[str, list[Any]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not equals or not name.isidentifier() or not values:
            raise SettingError(f"--grid takes settings with values, as in lr=0.1,0.01, not {word!r}")
        if name in choices:
            raise SettingError(f"--grid has {name} twice; write all its values after one {name}=")
        choices[name] = [_value(text) for text in values.split(",")]
        if len(set(map(repr, choices[name]))) < len(choices[name]):
            raise SettingError(f"--grid has the same value twice in {word}")
    return choices


def _value(text: str) -> Any:
    named = {"true": True, "false": False, "none": None}
    if text.lower() in named:
        return named[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def called_with(function: Callable[..., Any], names: Sequence[str]) -> Callable[[dict[str, Any]], Any]:
    """A function of one setting, a dict, that calls `function` with its entries; without the seed if it takes none.

    >>> called_with(lambda lr: 2 * lr, ["lr"])({"lr": 0.5, "seed": 3})
    1.0
    >>> called_with(lambda lr: 2 * lr, ["hidden"])
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: <lambda>() cannot be called with hidden: it takes lr
    """
    parameters = inspect.signature(function).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    takes = [name for name, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    unknown = [name for name in names if name not in takes and not takes_all]
    missing = [
        name for name in takes if parameters[name].default is inspect.Parameter.empty and name not in (*names, "seed")
    ]
    if unknown or missing:
        trouble = f"with {', '.join(unknown)}" if unknown else f"without {', '.join(missing)}"
        raise SettingError(
            f"{function.__name__}() cannot be called {trouble}: it takes {', '.join(takes) or 'nothing'}"
        )
    seeded = takes_all or "seed" in takes

    def call(setting: dict[str, Any]) -> Any:
        return function(**{name: value for name, value in setting.items() if seeded or name != "seed"})

    return call


@dataclass(frozen=True)
class Run:
    """One training: its setting, its seed, and what came of it.

    >>> Run.of({"lr": 0.1, "seed": 0}, {"loss": [3.0, 1.0], "accuracy": 0.9}).loss
    1.0
    """

    setting: dict[str, Any]
    seed: int
    loss: float  # the last one; nan if the run failed
    losses: tuple[float, ...]  # all of them, where the function gave them
    numbers: dict[str, float]  # what else it gave
    model: Any
    trouble: Failure | None

    @classmethod
    def of(cls, setting: dict[str, Any], result: Any) -> Run:
        """What a training function returned: a loss, a list of losses, or a dict with `loss`, `model` and numbers.

        >>> Run.of({"lr": 0.1, "seed": 0}, 0.25).loss
        0.25
        """
        own = {name: value for name, value in setting.items() if name != "seed"}
        if isinstance(result, Failure):
            return cls(own, setting["seed"], math.nan, (), {}, None, result)
        given = dict(result) if isinstance(result, dict) else {"loss": result}
        losses = given.pop("loss", None)
        try:
            several = tuple(map(_number, losses)) if _is_listlike(losses) else (_number(losses),)
            last = several[-1]
            numbers = {name: _number(value) for name, value in given.items() if name != "model"}
        except (TypeError, ValueError, IndexError) as error:
            words = (
                "a training function returns its loss, a list of losses, or a dict with 'loss', other numbers and a "
                f"'model'; this one returned {type(result).__name__}: {result!r:.80}"
            )
            return cls.of(setting, Failure(setting, type(error).__name__, words, ""))
        return cls(
            own, setting["seed"], last, several if _is_listlike(losses) else (), numbers, given.get("model"), None
        )


def _is_listlike(losses: Any) -> bool:
    return isinstance(losses, (list, tuple)) or (hasattr(losses, "tolist") and getattr(losses, "ndim", 0) == 1)


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError("no number")
    return float(getattr(value, "data", value) if type(value).__module__.startswith("gradwalk") else value)


@dataclass(frozen=True)
class Summary:
    """All runs of one setting: the mean loss over the seeds, how far they lie apart, and how many there are.

    >>> runs = [Run.of({"lr": 0.1, "seed": seed}, loss) for seed, loss in enumerate((1.0, 3.0))]
    >>> summaries(runs)[0].mean, round(summaries(runs)[0].deviation, 3)
    (2.0, 1.414)
    """

    setting: dict[str, Any]
    runs: tuple[Run, ...]

    @property
    def done(self) -> list[Run]:
        """The runs that gave a loss.

        >>> summaries([Run.of({"lr": 0.1, "seed": 0}, 1.0)])[0].done[0].loss
        1.0
        """
        return [run for run in self.runs if run.trouble is None]

    @property
    def mean(self) -> float:
        """The mean loss of the runs that gave one; nan where there is none.

        >>> summaries([Run.of({"lr": 0.1, "seed": 0}, 1.0)])[0].mean
        1.0
        """
        losses = [run.loss for run in self.done]
        return math.fsum(losses) / len(losses) if losses and all(map(math.isfinite, losses)) else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation of the losses; nan for fewer than two runs.

        >>> summaries([Run.of({"lr": 0.1, "seed": 0}, 1.0)])[0].deviation
        nan
        """
        losses = [run.loss for run in self.done]
        return statistics.stdev(losses) if len(losses) > 1 and all(map(math.isfinite, losses)) else math.nan


def summaries(runs: Sequence[Run]) -> list[Summary]:
    """One summary a setting, the lowest mean loss first, those without one last.

    >>> runs = [Run.of({"lr": lr, "seed": 0}, lr) for lr in (0.2, 0.1, float("nan"))]
    >>> [summary.setting["lr"] for summary in summaries(runs)]
    [0.1, 0.2, nan]
    """
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(repr(run.setting), []).append(run)
    found = [Summary(group[0].setting, tuple(group)) for group in groups.values()]
    return sorted(found, key=lambda summary: summary.mean if math.isfinite(summary.mean) else math.inf)


def runs_csv(runs: Sequence[Run]) -> str:
    """Every run in a line: setting, seed, loss, further numbers, and what went wrong.

    >>> print(runs_csv([Run.of({"lr": 0.1, "seed": 0}, 0.25)]), end="")
    lr,seed,loss,error
    0.1,0,0.25,
    """
    settings = list(dict.fromkeys(name for run in runs for name in run.setting))
    numbers = list(dict.fromkeys(name for run in runs for name in run.numbers))
    rows = [
        [*(run.setting.get(name, "") for name in settings), run.seed, "" if run.trouble else run.loss,
         *(run.numbers.get(name, "") for name in numbers),
         f"{run.trouble.error}: {run.trouble.message}" if run.trouble else ""]
        for run in runs
    ]  # fmt: skip
    return _as_csv([*settings, "seed", "loss", *numbers, "error"], rows)


def summaries_csv(found: Sequence[Summary]) -> str:
    """Every setting in a line: mean loss, deviation, lowest and highest, how many runs, how many failed.

    >>> print(summaries_csv(summaries([Run.of({"lr": 0.1, "seed": 0}, 0.25)])), end="")
    lr,mean,deviation,lowest,highest,runs,failed
    0.1,0.25,,0.25,0.25,1,0
    """
    settings = list(dict.fromkeys(name for summary in found for name in summary.setting))
    rows = []
    for summary in found:
        losses = [run.loss for run in summary.done]
        numbers = (summary.mean, summary.deviation, min(losses, default=math.nan), max(losses, default=math.nan))
        rows.append(
            [*(summary.setting.get(name, "") for name in settings), *("" if math.isnan(x) else x for x in numbers),
             len(summary.runs), len(summary.runs) - len(losses)]
        )  # fmt: skip
    return _as_csv([*settings, "mean", "deviation", "lowest", "highest", "runs", "failed"], rows)


def _as_csv(heading: list[str], rows: list[list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return text.getvalue()
