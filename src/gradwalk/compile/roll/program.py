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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk.errors import OpError
from gradwalk.ops import TABLE, Op

__all__ = ["Access", "Elements", "Extreme", "Part", "Product", "Program", "Rows", "Step", "Sums", "Take"]

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: The two memories.
OWN, PARAMETERS = "own", "parameters"
#: What becomes of the gradients of operands: nothing; added to what is there; written, where nothing is there yet.
NOTHING, ADD, WRITE = "nothing", "add", "write"


@dataclass(frozen=True)
class Access:
    """A matrix of operands: where its entries are, and what becomes of their gradients.

    Entry (r, c) is at `start + r * row + c * column`, or, if `listed` is not -1, at `lists[listed + r * columns + c]`.

    >>> from gradwalk.compile.roll.program import Access
    >>> Access("own", 3, 10, 1).positions(2, 3, lists=None).tolist()
    [[3, 4, 5], [13, 14, 15]]
    """

    space: str
    start: int
    row: int
    column: int
    listed: int = -1
    grads: str = NOTHING

    def positions(self, rows: int, columns: int, lists: Any) -> Longs:
        """Where the entries are, as a matrix."""
        if self.listed >= 0:
            found: Longs = lists[self.listed : self.listed + rows * columns].reshape(rows, columns).astype(np.int64)
            return found
        return (self.start + self.row * np.arange(rows))[:, None] + self.column * np.arange(columns)

    def text(self, rows: int, columns: int) -> str:
        """The matrix as one reads it: `m[3:9]` of own memory, `p[…]` of the parameters, and what its gradients do."""
        where = f"{self.start}{self.row:+}r{self.column:+}c"
        if self.listed >= 0:
            where = f"lists[{self.listed}:{self.listed + rows * columns}]"
        elif rows * columns == 1 or (self.row, self.column) == (0, 0):
            where = f"{self.start}"
        elif self.column == 1 and (rows == 1 or self.row == columns):
            where = f"{self.start}:{self.start + rows * columns}"
        return f"{'m' if self.space == OWN else 'p'}[{where}]{GRADS_TEXT[self.grads]}"


GRADS_TEXT = {NOTHING: "", ADD: " (+=)", WRITE: " (=)"}
#: A matrix of operands with its numbers of rows and columns.
Operand = tuple[Access, int, int]


@dataclass(frozen=True)
class Elements:
    """An op on `rows` × `columns` operands each, row by row."""

    out: int
    op: str  # a key of the program's `ops`
    rows: int
    columns: int
    operands: tuple[Access, ...]

    kind = "op"
    ops = property(lambda self: (self.op,))
    shape = property(lambda self: (self.rows, self.columns))
    results = nodes = property(lambda self: self.rows * self.columns)

    def accesses(self) -> list[Operand]:
        """What is read, in the order in which gradients are pushed."""
        return [(x, self.rows, self.columns) for x in self.operands]

    def reading(self, accesses: Sequence[Access]) -> Elements:
        """The same step with these instead."""
        return replace(self, operands=tuple(accesses))


@dataclass(frozen=True)
class Product:
    """`left` (rows × inner) times `right` (inner × columns), plus the `tails` (rows × columns each)."""

    out: int
    rows: int
    inner: int
    columns: int
    left: Access
    right: Access
    tails: tuple[Access, ...]

    kind = "product"
    ops = ("mul", "add")
    shape = property(lambda self: (self.rows, self.inner, self.columns))
    results = property(lambda self: self.rows * self.columns)
    nodes = property(lambda self: self.rows * self.columns * (2 * self.inner - 1 + len(self.tails)))

    def accesses(self) -> list[Operand]:
        """What is read, in the order in which gradients are pushed."""
        tails = [(x, self.rows, self.columns) for x in self.tails]
        return [*tails, (self.right, self.inner, self.columns), (self.left, self.rows, self.inner)]

    def reading(self, accesses: Sequence[Access]) -> Product:
        """The same step with these instead."""
        *tails, right, left = accesses
        return replace(self, tails=tuple(tails), right=right, left=left)


@dataclass(frozen=True)
class Part:
    """Terms of every sum of a step: `width` products of two factors, or `width` single numbers.

    The factors are both found by lists, or neither is; then their columns are 1 apart.
    """

    width: int
    first: Access
    second: Access | None = None


@dataclass(frozen=True)
class Sums:
    """`count` sums that share nothing: result i adds up row i of each part."""

    out: int
    count: int
    parts: tuple[Part, ...]

    kind = "sums"
    ops = property(lambda self: ("mul", "add") if any(part.second for part in self.parts) else ("add",))
    shape = property(lambda self: (self.count, sum(part.width for part in self.parts)))
    results = property(lambda self: self.count)
    nodes = property(lambda self: self.count * (sum(p.width * (2 if p.second else 1) for p in self.parts) - 1))

    def accesses(self) -> list[Operand]:
        """What is read, in the order in which gradients are pushed."""
        return [(x, self.count, part.width) for part in self.parts for x in (part.first, part.second) if x is not None]

    def reading(self, accesses: Sequence[Access]) -> Sums:
        """The same step with these instead."""
        given = iter(accesses)
        parts = [replace(part, first=next(given), second=part.second and next(given)) for part in self.parts]
        return replace(self, parts=tuple(parts))


@dataclass(frozen=True)
class Take:
    """One of a table for each result, chosen by an index that is given at each call.

    The table of result i begins at `lists[tables + i]` of the lists and is `lists[lengths + i]` long, and index number
    `lists[slots + i]` chooses. Tables hold positions, `~position` for parameters.
    """

    out: int
    count: int
    tables: int
    lengths: int
    slots: int
    grads: str = NOTHING

    kind = "take"
    ops = ("take",)
    shape = property(lambda self: (1, self.count))
    results = nodes = property(lambda self: self.count)

    def signed(self, lists: Ints) -> Longs:
        """Every position that may be read, `~position` for parameters."""
        spans = [lists[at : at + self.count].tolist() for at in (self.tables, self.lengths)]
        tables = [lists[start : start + length] for start, length in set(zip(*spans, strict=True))]
        return np.concatenate(tables).astype(np.int64)


@dataclass(frozen=True)
class Extreme:
    """The largest (`max`, `shift`) or smallest (`min`) of `count` lists of `width` positions, `~` for parameters.

    It is nan if one of them is. Those that are equal share the gradient evenly; `shift` gives none.
    """

    out: int
    which: str
    count: int
    width: int
    listed: int
    grads: str = NOTHING

    kind = property(lambda self: self.which)
    ops = property(lambda self: (self.which,))
    shape = property(lambda self: (self.count, self.width))
    results = nodes = property(lambda self: self.count)

    def signed(self, lists: Ints) -> Longs:
        """Every position that is read, `~position` for parameters."""
        return lists[self.listed : self.listed + self.count * self.width].astype(np.int64)


@dataclass(frozen=True)
class Rows:
    """Single operations one after another, each of which may read those before it: what has no structure.

    Row i is number `lists[codes + i]` of `ops` (or a special code of `trace.tape`) on the `lists[counts + i]`
    positions that begin at `lists[starts + i]`; a take is chosen by index number `lists[slots + i]`. It is the only
    step of its program, and every gradient is added.
    """

    out: int
    count: int
    ops: tuple[str, ...]
    codes: int
    starts: int
    counts: int
    slots: int

    kind = "flat"
    shape = property(lambda self: (self.count,))
    results = nodes = property(lambda self: self.count)


#: Every step has a `kind`, the names of the `ops` it stands for, a `shape`, `results` that stand side by side in own
#: memory from position `out` on, and the number of `nodes` of the tape that it does.
Step = Elements | Product | Sums | Take | Extreme | Rows


@dataclass(frozen=True, eq=False)
class Program:
    """Steps, and the memory they need. Print it, compare it with `==`, pickle it, or write it as JSON.

    >>> from gradwalk.compile.prepared import prepare
    >>> from gradwalk.compile.roll.program import Program
    >>> from gradwalk.compile.trace.tracer import trace
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
            yield f"{i}: m[{step.out}:{step.out + step.results}] = {step.kind} {shape}: {_formula(step)}"
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


def _formula(step: Step) -> str:
    if isinstance(step, (Take, Extreme)):
        return f"{step.kind} of lists{GRADS_TEXT[step.grads]}"
    if isinstance(step, Rows):
        return "one by one"
    texts = [x.text(rows, columns) for x, rows, columns in step.accesses()]
    if isinstance(step, Elements):
        return f"{step.op}({', '.join(texts)})"
    if isinstance(step, Product):
        *tails, right, left = texts
        return " + ".join([f"{left} · {right}", *tails])
    given = iter(texts)
    return " + ".join(f"Σ {next(given)}" + (f" · {next(given)}" if part.second else "") for part in step.parts)


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
    kind = globals()[x["step"]] if "step" in x else Access if "space" in x else Part
    return kind(**{name: _decoded(value) for name, value in x.items() if name != "step"})
