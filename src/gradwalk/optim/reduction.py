"""Gradients added up over processes before a step, so that several train one model on parts of the data."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from gradwalk.errors import SettingError

__all__ = ["AddUp", "check_alike", "reducer"]

#: Puts, into an array of floats, the sum of the arrays that all processes call it with.
AddUp = Callable[[Any], object]


def reducer(given: Any) -> AddUp:
    """How a communicator of mpi4py, a group of torch.distributed, or any function adds an array up in place.

    >>> reducer(sum) is sum
    True
    >>> try:
    ...     reducer("all")
    ... except SettingError as error:
    ...     print(str(error)[:35])
    reduce is an mpi4py communicator, a
    """
    if hasattr(given, "Allreduce"):
        in_place = sys.modules[type(given).__module__].IN_PLACE
        return lambda numbers: given.Allreduce(in_place, numbers)
    if isinstance(given, type(sys)) and given.__name__ == "torch.distributed":
        given = given.group.WORLD
    if type(given).__module__.startswith("torch"):
        torch = sys.modules["torch"]
        return lambda numbers: torch.distributed.all_reduce(torch.frombuffer(numbers, dtype=torch.float64), group=given)
    if callable(given):
        return given  # type: ignore[no-any-return]
    raise SettingError(
        "reduce is an mpi4py communicator, a torch.distributed group, or a function that adds an array up in place "
        f"over all processes, not {type(given).__name__}: {given!r:.60}"
    )


def check_alike(add_up: AddUp, parameters: Sequence[float]) -> None:
    """Raise if processes that add gradients up have not the same parameters, in all of them alike.

    What is looked at has been added up itself, so no process goes on alone and waits for the others for ever.

    >>> check_alike(lambda numbers: None, [1.0, 2.0])  # a process on its own
    """
    count = len(parameters)
    sizes = array("d", [1.0, count, count * count])
    add_up(sizes)
    processes, total, squares = sizes
    if not processes >= 1.0 or squares * processes != total * total:
        raise SettingError(
            f"the processes have different numbers of parameters (this one {count}, {total / processes:g} on average); "
            "build the same model in all of them"
        )
    sums = array("d", parameters)
    add_up(sums)
    means = [x / processes for x in sums]
    apart = array("d", [(p - mean) ** 2 for p, mean in zip(parameters, means, strict=True)])
    add_up(apart)
    for i, (mean, square) in enumerate(zip(means, apart, strict=True), start=1):
        if math.sqrt(square / processes) > 1e-9 * max(1.0, abs(mean)):
            raise SettingError(
                f"parameter {i} is not the same in all processes; give random.seed() the same number in all of them "
                "before the model is made, or load one file"
            )
