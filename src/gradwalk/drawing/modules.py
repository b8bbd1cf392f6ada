"""The modules of a model, gradwalk's or micrograd's or home-made: their paths, and which parameters each one holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gradwalk import walk
from gradwalk.errors import SettingError

__all__ = ["DEPTHS", "ModuleInfo", "Modules", "is_module", "modules_of", "outputs"]

#: How finely a model is drawn.
DEPTHS = ("layers", "neurons", "nodes")


@dataclass
class ModuleInfo:
    """One module: the path to it, itself, the number of the module it lies in, and the parameters it holds directly.

    >>> [module.path for module in modules_of(nn.Layer(2, 2)).all]
    ['', 'neurons.0', 'neurons.1']
    """

    path: str
    itself: Any
    inside: int | None
    parameters: list[Any] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The path, or what the model itself is called.

        >>> [module.name for module in modules_of(nn.Layer(2, 1)).all]
        ['Layer', 'neurons.0']
        """
        return self.path or type(self.itself).__name__


@dataclass
class Modules:
    """All modules of a model, outer ones first, and the name of each parameter by its id.

    >>> found = modules_of(nn.MLP(2, [4, 1]))
    >>> len(found.all), list(found.names.values())[-1]
    (8, 'layers.1.neurons.0.b')
    """

    all: list[ModuleInfo]
    names: dict[int, str]
    owner: dict[int, int]

    def group(self, number: int, depth: str) -> int:
        """The number of the module that stands for module `number` at a depth.

        "neurons" are the modules that hold parameters themselves, "layers" the modules that hold those.

        >>> found = modules_of(nn.MLP(2, [4, 1]))
        >>> [found.all[found.group(2, depth)].path for depth in ("neurons", "layers")]
        ['layers.0.neurons.0', 'layers.0']
        """
        outer = self.all[number].inside
        if depth == "neurons" or outer is None:
            return number
        flat = all(self.all[i].inside in (0, None) for i in set(self.owner.values()))
        return number if outer == 0 and not flat else outer


def is_module(thing: Any) -> bool:
    """Whether a thing is a model or a part of one.

    >>> is_module(nn.Neuron(2)), is_module(Value(2.0))
    (True, False)
    """
    return callable(getattr(thing, "parameters", None)) and hasattr(thing, "__dict__") and not isinstance(thing, type)


def modules_of(model: Any) -> Modules:
    """Every module in a model's attributes, however deep, and every parameter.

    >>> sorted(modules_of(nn.Neuron(2)).names.values())
    ['b', 'w.0', 'w.1']
    >>> modules_of(3.0)
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: model is a module with a method parameters(), such as nn.MLP(2, [4]), not float: 3.0
    """
    if not is_module(model):
        kind = type(model).__name__
        raise SettingError(
            f"model is a module with a method parameters(), such as nn.MLP(2, [4]), not {kind}: {model!r:.60}"
        )
    found = Modules([], {}, {})
    seen: dict[int, Any] = {}  # holds what it has seen, so that no id is used again
    ahead: list[tuple[str, Any, int | None]] = [("", model, None)]
    while ahead:
        path, thing, inside = ahead.pop()
        if id(thing) in seen:
            continue
        parts: Iterable[tuple[Any, Any]]
        if is_module(thing):
            found.all.append(ModuleInfo(path, thing, inside))
            inside, parts = len(found.all) - 1, vars(thing).items()
        elif isinstance(thing, (list, tuple)):
            parts = enumerate(thing)
        elif isinstance(thing, dict):
            parts = thing.items()
        else:
            if inside is not None and hasattr(thing, "grad") and hasattr(thing, "data") and not walk.operands(thing):
                seen[id(thing)] = thing
                _add(found, thing, path, inside)
            continue
        seen[id(thing)] = thing
        ahead += reversed([(f"{path}.{key}" if path else str(key), part, inside) for key, part in parts])
    for i, parameter in enumerate(model.parameters()):  # a model may keep some where no attribute leads to them
        if id(parameter) not in found.owner:
            _add(found, parameter, str(i), 0)
    return found


def _add(found: Modules, parameter: Any, path: str, inside: int) -> None:
    found.names[id(parameter)] = path
    found.owner[id(parameter)] = inside
    found.all[inside].parameters.append(parameter)


def outputs(model: Any) -> list[Any]:
    """What a model gives for inputs x1, x2, … of 1, so that a model alone can be drawn.

    >>> len(outputs(nn.MLP(2, [4, 3])))
    3
    """
    found = modules_of(model)
    first = next((module for module in found.all if isinstance(getattr(module.itself, "w", None), list)), None)
    if first is None or not callable(model) or not first.parameters:
        raise SettingError(
            f"how many inputs a {type(model).__name__} takes cannot be told; draw what it gives instead: "
            "draw(model(x), model=model)"
        )
    inputs = []
    for i in range(1, len(first.itself.w) + 1):
        x = type(first.parameters[0])(1.0)
        x.label = f"x{i}"
        inputs.append(x)
    given = model(inputs)
    return list(given) if isinstance(given, (list, tuple)) else [given]
