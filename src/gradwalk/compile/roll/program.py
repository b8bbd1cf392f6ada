"""A program: what rolling up makes of a tape, as data. No address, no function, nothing of any machine is in it.

A program computes outputs from parameters, inputs and indices, step by step, and gradients by going back through the
same steps. It knows two memories of numbers: the parameters, which belong to the caller, and its own, which begins with
the inputs; constants and the results of steps follow. A *position* is an index into one of them; where both may be
meant, `~position`, which is negative, is one of the parameters. `lists` holds positions that have no form.

With more than one lane, own memory holds that many numbers at each position, one for each sample of a batch, while each
parameter is one number for all of them. What depends on parameters alone is then a program of its own (`shared`), and
its outputs stand among the parameters, after the caller's; last come the numbers of `fixed`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from gradwalk.compile.array_types import Floats, Ints
from gradwalk.compile.roll import steps as kinds
from gradwalk.compile.roll.steps import Access, Part, Step, formula
from gradwalk.errors import OpError
from gradwalk.ops import TABLE, Op

__all__ = ["Program"]


@dataclass(frozen=True, eq=False)
class Program:
    """Steps, and the memory they need. Print it, compare it with `==`, pickle it, or write it as JSON.

    >>> from gradwalk.compile.prepared import prepare
    >>> program = prepare(trace(lambda x, y: (x * y).tanh(), [1.0, 2.0]).tape, rolled=True).program
    >>> print(program)
    0 parameters, 2 inputs, 0 indices; 4 numbers of own memory, 1 lane of float64
    1: m[2:3] = op 1×1: mul(m[0], m[1])
    2: m[3:4] = op 1×1: tanh(m[2])
    gives m[3]
    >>> Program.from_json(program.to_json()) == program
    True
    """

    parameters: int  # of the caller's
    inputs: int
    indices: int
    outputs: tuple[int, ...]  # positions, `~position` for parameters
    steps: tuple[Step, ...]
    ops: Mapping[str, Op]  # by the names that steps use
    size: int  # of own memory
    constant_positions: Ints  # in own memory
    constants: Floats  # what is there
    lists: Ints
    cleared: tuple[tuple[int, int], ...] = ()  # runs of own gradients to be set to 0 before going back: begin, end
    input_grads: bool = False  # whether gradients with respect to the inputs are wanted
    lanes: int = 1  # samples that go through the steps together, at most
    dtype: str = "float64"  # of all numbers but outputs and what belongs to the caller
    shared: Program | None = None
    fixed: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def bytes(self) -> int:
        """Memory for numbers, gradients and lists, for each lane."""
        return 2 * self.size * np.dtype(self.dtype).itemsize + self.lists.nbytes

    def all_steps(self) -> list[Step]:
        """The steps, and those of what all samples share."""
        return [*self.steps, *(self.shared.steps if self.shared else ())]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return all(_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.parameters} parameters, {self.inputs} inputs, {self.indices} indices; {self.size} numbers of own "
            f"memory, {self.lanes} lane{'s' * (self.lanes > 1)} of {self.dtype}"
        )
        for i, step in enumerate(self.steps, start=1):
            shape = "×".join(map(str, step.shape))
            yield f"{i}: m[{step.out}:{step.out + step.results}] = {step.kind} {shape}: {formula(step)}"
        yield f"gives {', '.join(f'm[{x}]' if x >= 0 else f'p[{~x}]' for x in self.outputs)}"
        if self.shared:
            yield "shared by all samples:"
            yield from (f"  {line}" for line in self.shared._lines())

    # --- keeping ---------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The program as text. Ops of the table are written by name; an op of a user's own cannot be."""
        for name, op in self.ops.items():
            if TABLE.get(name) is not op:
                raise OpError(
                    f"a program that uses {name}, which is not one of gradwalk's own ops, cannot be saved: its rules "
                    "are Python functions; save the program's source instead"
                )
        return json.dumps(self, default=_encoded)

    @classmethod
    def from_json(cls, text: str) -> Program:
        """The program that `to_json` wrote."""
        return _program(json.loads(text))

    def __reduce__(self) -> Any:
        return Program.from_json, (self.to_json(),)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(a == b)


def _encoded(x: Any) -> Any:
    if isinstance(x, Program):
        return {f.name: getattr(x, f.name) for f in fields(x)} | {"ops": list(x.ops)}
    return x.tolist() if isinstance(x, np.ndarray) else {"step": type(x).__name__, **asdict(x)}


def _program(found: dict[str, Any]) -> Program:
    arrays = {"constant_positions": np.int32, "constants": np.float64, "lists": np.int32, "fixed": np.float64}
    return Program(
        **found
        | {name: np.array(found[name], kind) for name, kind in arrays.items()}
        | {
            "outputs": tuple(found["outputs"]),
            "cleared": tuple((begin, end) for begin, end in found["cleared"]),
            "ops": {name: TABLE[name] for name in found["ops"]},
            "steps": tuple(_decoded(step) for step in found["steps"]),
            "shared": found["shared"] and _program(found["shared"]),
        }
    )


def _decoded(x: Any) -> Any:
    if isinstance(x, list):
        return tuple(map(_decoded, x))
    if not isinstance(x, dict):
        return x
    kind = getattr(kinds, x["step"]) if "step" in x else Access if "space" in x else Part
    return kind(**{name: _decoded(value) for name, value in x.items() if name != "step"})
