"""An optimiser's rule on tensors: the same rule, on whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from gradwalk import formulas
from gradwalk.errors import SettingError
from gradwalk.formulas.lines import indented, python_function
from gradwalk.optim.loops import apply, written

__all__: list[str] = []

Column = list[Any]


def apply_to_all(
    update: Callable[..., Any], parameters: list[Any], gradients: Column, memory: list[Column], constants: Sequence[Any]
) -> list[Column]:
    """As `loops.apply`, for Values and tensors together: new numbers, or arrays, and what is remembered."""
    numbers = [p.array if p.many else p.data for p in parameters]
    columns = [numbers, *map(list, memory)]
    plain = [i for i, p in enumerate(parameters) if not p.many]
    if plain:
        picked = [[column[i] for i in plain] for column in (numbers, gradients, *memory)]
        for column, new in zip(columns, apply(update, picked[0], picked[1], picked[2:], constants), strict=True):
            for i, x in zip(plain, new, strict=True):
                column[i] = x
    for i, p in enumerate(parameters):
        if p.many:
            own = [column[i] for column in memory]
            new = _on_arrays(update, numbers[i], gradients[i], [getattr(x, "array", x) for x in own], constants)
            for column, x in zip(columns, new, strict=True):
                column[i] = x
            for column in columns[1:]:
                column[i] = column[i] if isinstance(column[i], float) else p._as_node(column[i])
    return columns


def _on_arrays(update: Callable[..., Any], p: Any, g: Any, memory: Column, constants: Sequence[Any]) -> Column:
    from gradwalk.tensor import arrays

    rule = _written_for(arrays.now.name)(update, len(memory), len(constants))
    if rule is None or not all(isinstance(x, (int, float)) for x in constants):
        raise SettingError(
            f"the rule {getattr(update, '__qualname__', update)} cannot be run on arrays; write it as a function of "
            "numbers alone, with operators, Python's if, and functions of math"
        )
    found = arrays.now.quietly(rule, p, g, *memory, *constants)
    dtype = arrays.now.dtype_of(p)
    return [
        x if isinstance(x, float) and not hasattr(x, "dtype") else arrays.now.cast(arrays.now.settled(x), dtype)
        for x in found
    ]


def _of_constants_too(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that makes plain numbers of plain numbers: NumPy's own would make float32 float64."""

    def plain(*operands: Any) -> Any:
        found = function(*operands)
        return float(found) if isinstance(found, float) else found

    return plain


@cache
def _written_for(name: str) -> Callable[..., Any]:
    """What writes rules over the functions of a provider, each once."""
    from gradwalk.tensor import arrays
    from gradwalk.tensor.kernels import ARRAYS, NAMES

    scope = {NAMES.get(step, step): _of_constants_too(function) for step, function in arrays.now.bare.items()}

    @formulas.for_closed_rules
    def write(update: Callable[..., Any], kept: int, count: int) -> Callable[..., Any]:
        memory, constants = [f"m{i}" for i in range(kept)], [f"c{i}" for i in range(count)]

        def around(lines: list[str], names: list[str]) -> list[str]:
            return [*lines, f"return ({', '.join(names)},)"]

        head = f"def rule({', '.join(['x', 'g', *memory, *constants])}):"
        text = [head, *indented(written(update, memory, constants, around, ARRAYS))]
        return python_function(text, scope, f"{__file__}: {update.__qualname__}")

    return write
