"""`gradwalk train`: train a small network on points in the plane, and watch it learn."""

from __future__ import annotations

import argparse
import difflib
import random
from argparse import ArgumentTypeError
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from gradwalk import datasets, nn, optim, plot
from gradwalk.cli import options as option
from gradwalk.cli.train_settings import LEARNING_RATES, PRESETS, Settings, as_text
from gradwalk.cli.training_run import Job, do, plot_paths
from gradwalk.errors import GradwalkError, SettingError
from gradwalk.train import Training

__all__ = ["SUMMARY", "add_arguments", "run", "training_for"]

SUMMARY = "train a small network on points in the plane"

DESCRIPTION = """\
Train a network, number by number, to tell two classes of points apart, and
watch it learn. The loss is the hinge: a point costs nothing once it lies on its
own side with a margin of 1. However the run ends, by Ctrl-C too, the model with
the lowest loss so far is the one that is saved and drawn. The same seed gives
the same run.
"""

EXAMPLES = """\
examples:
  gradwalk train moons
  gradwalk train spiral --plot spiral.png --save spiral.json
  gradwalk train circles --hidden 8 --activation tanh --optimizer sgd --lr 0.5
"""

LAST_RATE = 0.1  # of the learning rate is left at the last step; it falls in a straight line
MOMENTUM = 0.9
MOST_PARAMETERS = 1_000_000


# --- the options ---------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk train`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["moons", "--hidden", "8,8"]).hidden
    (8, 8)
    """
    parser.add_argument("dataset", type=_dataset, metavar="DATASET", help=", ".join(datasets.BY_NAME))
    add = parser.add_argument_group("the network").add_argument
    add("--hidden", type=option.sizes, metavar="N,N", help=f"widths of the hidden layers {_default('hidden')}")
    add(
        "--activation",
        choices=nn.ACTIVATIONS,
        metavar="NAME",
        help=f"{', '.join(nn.ACTIVATIONS)} {_default('activation')}",
    )
    add = parser.add_argument_group("the training").add_argument
    add(
        "--steps",
        type=option.whole(1),
        metavar="N",
        help=f"how many updates, fewer if the loss gets to 0 {_default('steps')}",
    )
    add("--optimizer", choices=LEARNING_RATES, metavar="NAME",
        help=f"{', '.join(LEARNING_RATES)} {_default('optimizer')}")  # fmt: skip
    add("--lr", type=option.positive, metavar="RATE",
        help="learning rate at the first step; it falls to a tenth by the last "
        f"(default: {', '.join(f'{name} {rate:g}' for name, rate in LEARNING_RATES.items())})")  # fmt: skip
    add("--batch", type=option.whole(1), metavar="N", help=f"points of a step {_default('batch')}")
    add("--seed", type=option.whole(), metavar="N", help=f"fixes the points and the first weights {_default('seed')}")
    add = parser.add_argument_group("the points").add_argument
    add("--samples", type=option.whole(2, datasets.LARGEST), metavar="N", help=f"how many {_default('samples')}")
    add("--noise", type=option.real, metavar="X", help=f"standard deviation of their jitter {_default('noise')}")
    add = parser.add_argument_group("what to keep").add_argument
    add("--save", type=Path, metavar="FILE", help="write the best model there, as JSON")
    add("--plot", type=Path, metavar="FILE",
        help="draw the decision boundary there and the loss beside it (out.png, out-loss.png); "
        "a .png, .svg or .pdf")  # fmt: skip
    add("--json", action="store_true", help="for machines: no progress, one JSON object at the end")


def _dataset(name: str) -> str:
    if name not in datasets.BY_NAME:
        near = difflib.get_close_matches(name, datasets.BY_NAME, n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise ArgumentTypeError(f"no data set is called {name!r}; there are {', '.join(datasets.BY_NAME)}{guess}")
    return name


def _default(field: str) -> str:
    """The default of an option in words: what it mostly is, and where it is something else."""
    values = {name: as_text(getattr(preset, field)) for name, preset in PRESETS.items()}
    usual = max(values.values(), key=list(values.values()).count)
    others = [f"{value} for {name}" for name, value in values.items() if value != usual]
    return f"(default: {'; '.join([usual, *others])})".replace("None", "all")  # None: all points in one batch


# --- before the first step: whatever can be wrong is found out now ----------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """Train as the options say.

    >>> import contextlib, io
    >>> with contextlib.redirect_stdout(io.StringIO()) as output:
    ...     code = main(["train", "xor", "--steps", "2", "--samples", "8", "--hidden", "4"])
    >>> code, "loss" in output.getvalue()
    (0, True)
    """
    settings = _settings(options)
    _check_files(options)
    training = training_for(options.dataset, settings)
    return do(Job(options.dataset, settings, training, options.save, options.plot, options.json))


def _settings(options: argparse.Namespace) -> Settings:
    given = {field.name: getattr(options, field.name) for field in fields(Settings)}
    settings = replace(PRESETS[options.dataset], **{name: x for name, x in given.items() if x is not None})
    if settings.batch is not None and settings.batch > settings.samples:
        raise SettingError(f"--batch {settings.batch} is more than there are points (--samples {settings.samples})")
    sizes = (2, *settings.hidden, 1)
    count = sum((nin + 1) * nout for nin, nout in pairwise(sizes))
    if count > MOST_PARAMETERS:
        raise SettingError(
            f"--hidden {as_text(settings.hidden)} makes {count} parameters, too many for an engine that "
            f"handles each as a number of its own (at most {MOST_PARAMETERS}); name fewer or narrower layers"
        )
    return settings if settings.lr is not None else replace(settings, lr=LEARNING_RATES[settings.optimizer])


def _check_files(options: argparse.Namespace) -> None:
    if options.save is not None:
        _named("--save", option.can_write, options.save)
    if options.plot is not None:
        _named("--plot", plot.checked_ending, options.plot)
        for path in plot_paths(options.plot):
            _named("--plot", option.can_write, path)
            if path == options.save:
                raise SettingError(f"--save and --plot both name {path}: give the model a file of its own")
        _named("--plot", plot.require)


def _named(name: str, check: Any, *arguments: Any) -> None:
    """Run a check; what it complains of is told under the option's name."""
    try:
        check(*arguments)
    except GradwalkError as error:
        raise SettingError(f"{name}: {error}") from error


def training_for(dataset: str, settings: Settings) -> Training:
    """The points, a fresh network and its optimiser, ready for the first step.

    >>> len(training_for("moons", PRESETS["moons"]).X)
    100
    """
    X, y = datasets.BY_NAME[dataset](n=settings.samples, noise=settings.noise, seed=settings.seed)
    random.seed(settings.seed)  # the first weights are drawn from Python's own generator
    init = "kaiming" if settings.activation.endswith("relu") else "xavier"  # signals keep their size on the way
    model = nn.MLP(2, [*settings.hidden, 1], activation=settings.activation, init=init)
    parameters, rate = model.parameters(), settings.lr or LEARNING_RATES[settings.optimizer]
    optimizer: Any
    if settings.optimizer in ("sgd", "momentum"):
        optimizer = optim.SGD(parameters, rate, momentum=MOMENTUM if settings.optimizer == "momentum" else 0.0)
    else:
        optimizer = (optim.Adam if settings.optimizer == "adam" else optim.AdamW)(parameters, rate)
    schedule = optim.LinearSchedule(optimizer, settings.steps, end=LAST_RATE)
    return Training(model, optimizer, X, y, schedule=schedule, batch=settings.batch, seed=settings.seed)
