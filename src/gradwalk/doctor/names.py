"""Which Values are a model's parameters, and what to call them: `layers[1].neurons[3].w[0]`.

A model is anything that holds Values: a `Module`, a home-made class, a dataclass of matrices, a list. Where no model
was given, the variables of the program that called us are looked through for one.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradwalk.doctor.routes import Spot, in_matrices, is_tensor, leaves_in, spot_of
from gradwalk.engine import Value
from gradwalk.errors import SettingError
from gradwalk.module import Module
from gradwalk.optim import Optimizer
from gradwalk.provenance import is_users
from gradwalk.train import Training

#: A search through a program's variables gives up after opening so many things.
MOST_OPENED = 100_000
MOST_FRAMES = 20


@dataclass
class Names:
    """The parameters that are known, in order, and a spot for each Value that has one.

    >>> w = Value(1.0, label="w")
    >>> names_of([w]).name(w), names_of([w]).name(Value(2.0))
    ('w', '')
    """

    parameters: list[Value] = field(default_factory=list)
    spots: dict[int, Spot] = field(default_factory=dict)
    held: dict[int, Value] = field(default_factory=dict)  # keeps what is named, so that no id is used again
    title: str = ""
    lists: list[list[Value]] = field(default_factory=list)  # parameters that belong together, one list for each model
    optimisers: list[Optimizer] = field(default_factory=list)

    def spot(self, v: Value) -> Spot | None:
        """Where a Value lies, if that is known."""
        return self.spots.get(id(v))

    def name(self, v: Value) -> str:
        """What to call a Value: its path, else its label, else nothing.

        >>> Names().name(Value(1.0, label="x"))
        'x'
        """
        spot = self.spots.get(id(v))
        return spot.path if spot else v.label

    def add(self, v: Value, spot: Spot) -> None:
        """Take in a Value; the first spot that is found for it stays.

        >>> names, w = Names(), Value(1.0)
        >>> names.add(w, Spot("w", "w", "w"))
        >>> names.name(w)
        'w'
        """
        if id(v) not in self.spots:
            self.spots[id(v)], self.held[id(v)] = spot, v

    def rename(self, v: Value, name: str) -> None:
        """Call a Value by another name from now on."""
        self.spots[id(v)], self.held[id(v)] = Spot(name, name, name), v

    def adopt(self, values: Iterable[Value]) -> None:
        """Count Values among the parameters, named or not.

        >>> names = Names()
        >>> names.adopt([Value(1.0), Value(2.0)])
        >>> [names.name(v) for v in names.parameters]
        ['parameters[0]', 'parameters[1]']
        """
        known = {id(v) for v in self.parameters}
        for v in values:
            if id(v) not in known:
                known.add(id(v))
                own = v.label or f"parameters[{len(self.parameters)}]"
                self.add(v, Spot(own, own, own))
                self.parameters.append(v)

    def common_title(self) -> str:
        """The variable that all parameters are found under, if it is one, or the few that they are."""
        roots = {self.name(p).split(".")[0].split("[")[0] for p in self.parameters}
        return roots.pop() if len(roots) == 1 else ", ".join(sorted(roots)) if 1 < len(roots) <= 4 else ""


# --- a model that was given ----------------------------------------------------------------------------------------


def names_of(model: Any) -> Names:
    """The parameters of a model, or of whatever holds Values, an optimiser too.

    >>> found = names_of({"w": [Value(1.0), Value(2.0)], "b": Value(0.0)})
    >>> [found.name(v) for v in found.parameters]
    ["['w'][0]", "['w'][1]", "['b']"]
    >>> names_of("a model")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: a model holds Values, as nn.MLP(2, [4, 1]) and [w, b] do; str 'a model' holds none
    """
    names = Names(title="the parameters" if isinstance(model, (list, tuple, dict)) else type(model).__name__)
    if isinstance(model, Optimizer):
        names.optimisers.append(model)
        names.adopt(model.parameters)
        return names
    inside = list(leaves_in(model, ()))
    matrices = in_matrices(inside)
    for v, route, modules in inside:
        names.add(v, spot_of(v, route, modules, 0, matrices))
    names.adopt(_chosen(model) or [v for v, _, _ in inside])
    if not names.parameters:
        kind = type(model).__name__
        raise SettingError(f"a model holds Values, as nn.MLP(2, [4, 1]) and [w, b] do; {kind} {model!r:.60} holds none")
    names.lists.append(list(names.parameters))
    return names


def names_of_all(models: Iterable[Any]) -> Names:
    """The parameters of several, of a model and its optimiser say; the paths are the model's, whichever comes first.

    >>> w = Value(1.0)
    >>> names_of_all([optim.SGD([w], lr=0.1), {"w": [w]}]).name(w)
    "['w'][0]"
    """
    ranked = sorted(models, key=lambda model: isinstance(model, Optimizer))
    first, *others = [names_of(model) for model in ranked]
    for names in others:
        for p in names.parameters:
            first.add(p, names.spots[id(p)])
        first.adopt(names.parameters)
        first.optimisers += names.optimisers
    return first


def _chosen(model: Any) -> list[Value]:
    """What the model itself says its parameters are."""
    listing = getattr(model, "parameters", None)
    if not callable(listing) or isinstance(model, type):
        return []
    try:
        return [v for v in listing() if isinstance(v, Value) or is_tensor(v)]
    except Exception:  # a method of that name that wants arguments, or is about something else
        return []


# --- models in the variables of a program --------------------------------------------------------------------------


def users_frames() -> list[FrameType]:
    """The frames of the program that led here, innermost first, without gradwalk's and those of libraries.

    >>> len(users_frames()) > 0
    True
    """
    paths = sysconfig.get_paths()
    library = tuple({paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib") if paths.get(kind)})
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < MOST_FRAMES:
        file = frame.f_code.co_filename
        if is_users(file) and not file.startswith(library) and not file.startswith("<frozen"):
            found.append(frame)
        frame = frame.f_back
    return found


def names_in_frames(frames: Iterable[FrameType]) -> Names:
    """What the variables of a program hold: models, optimisers, and every leaf that a variable leads to.

    >>> mine = nn.Neuron(2)
    >>> names_in_frames(users_frames()).name(mine.w[1])
    'mine.w[1]'
    """
    variables: dict[str, Any] = {}
    for frame in frames:
        for scope in (frame.f_locals, frame.f_globals):
            for name, thing in list(scope.items()):
                if not name.startswith("_"):
                    variables.setdefault(name, thing)
    names = Names()
    models = [(name, thing, _chosen(thing)) for name, thing in variables.items() if _is_model(thing)]
    for name, thing, chosen in sorted(models, key=lambda model: -len(model[2])):  # a model before its layers
        new = [v for v in chosen if id(v) not in names.spots]
        _take_in(names, name, thing)
        if new:
            names.lists.append(chosen)
    budget = [MOST_OPENED]
    others = [(name, thing) for name, thing in variables.items() if not _is_model(thing)]
    for name, thing in sorted(others, key=lambda variable: not isinstance(variable[1], Value)):
        _take_in(names, name, thing, budget)
    names.optimisers += {id(x): x for x in _optimisers(variables.values())}.values()
    return names


def _take_in(names: Names, name: str, thing: Any, budget: list[int] | None = None) -> None:
    inside = list(leaves_in(thing, (name,), budget))
    matrices = in_matrices(inside)
    for v, route, modules in inside:
        names.add(v, spot_of(v, route, modules, 1, matrices))


def _is_model(thing: Any) -> bool:
    return isinstance(thing, Module) or (
        callable(getattr(type(thing), "parameters", None)) and hasattr(thing, "__dict__")
    )


def _optimisers(things: Iterable[Any]) -> Iterator[Optimizer]:
    for thing in things:
        if isinstance(thing, Optimizer):
            yield thing
        elif isinstance(thing, Training) and isinstance(thing.optimizer, Optimizer):
            yield thing.optimizer
