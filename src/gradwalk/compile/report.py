"""What became of a compiled function: how many nodes, rolled up into what, in how much memory and time.

`print(fn.report())` tells it; `fn.report().draw()` shows the steps and what flows between them: the structure of a
network or a GPT, found again in a graph of single numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from gradwalk.compile.native import objects
from gradwalk.compile.roll.steps import Rows, Step
from gradwalk.compile.trace.array_tape import each_at
from gradwalk.compile.trace.tape import NONE
from gradwalk.errors import SettingError
from gradwalk.messages import counted

if TYPE_CHECKING:
    from gradwalk.drawing.api import Drawing

__all__ = ["Report"]

STEPS_TOLD = 24  # of each trace, in print
TRACES_TOLD = 8
BYTES = {"float64": 8, "float32": 4, "int64": 8, "bool": 1}
ALIKE = {"add": "+", "sub": "−", "mul": "×", "div": "÷"}


class Report:
    """What became of a compiled function. Print it, or draw it.

    >>> model = nn.MLP(2, [16, 1])
    >>> f = gradwalk.compile(lambda X: sum(model(x) for x in X))
    >>> loss = f([[0.1 * i, 1.0] for i in range(50)])
    >>> report = f.report()
    >>> report.traces[0].recorded.tape.parameters, len(report.traces[0].prepared.program.steps) < 20
    (65, True)
    """

    def __init__(self, fn: Any) -> None:
        self.name: str = getattr(fn.eager, "__name__", repr(fn.eager))
        self.traces: list[Any] = fn.traces()
        self.calls = sum(trace.calls for trace in self.traces)
        self.evicted: int = fn.cache.evicted

    def __str__(self) -> str:
        many = len(self.traces)
        lines = [f"{self.name}: {counted(many, 'trace')}, {counted(self.calls, 'call')}"]
        if self.evicted:
            lines[0] += f"; {counted(self.evicted, 'trace')} made room for others"
        for i, trace in enumerate(self.traces[:TRACES_TOLD], start=1):
            lines += ["", *_told(i, trace)]
        if many > TRACES_TOLD:
            lines += ["", f"… and {counted(many - TRACES_TOLD, 'more trace')}"]
        if not self.traces:
            lines.append("nothing has been traced yet: call it once")
        return "\n".join([*lines, "", _native()])

    def __repr__(self) -> str:
        return str(self)

    def draw(self, trace: int = 0, *, rankdir: str = "LR", theme: str = "auto") -> Drawing:
        """A drawing of one trace: its steps as boxes, and what flows between them.

        >>> f = gradwalk.compile(lambda xs: sum(x.tanh() for x in xs))
        >>> loss = f([gradwalk.Value(0.1 * i) for i in range(200)])
        >>> f.report().draw().svg[:4]
        '<svg'
        """
        from gradwalk.drawing.api import DIRECTIONS, Drawing
        from gradwalk.files import checked_theme

        if not 0 <= trace < len(self.traces):
            raise SettingError(
                f"there are {counted(len(self.traces), 'trace')}, counted from 0, and not number {trace!r:.20}"
            )
        if rankdir not in DIRECTIONS:
            raise SettingError(f"rankdir is 'LR' or 'TB', not {rankdir!r:.60}")
        scene = _scene(self.traces[trace])
        return Drawing(scene, rankdir=rankdir, theme=checked_theme(theme), engine="sugiyama", format="svg")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        if not self.traces:
            return {"text/plain": str(self)}
        return {"text/plain": str(self), "text/html": self.draw().html}


# --- in words --------------------------------------------------------------------------------------------------------


def _told(number: int, trace: Any) -> list[str]:
    if trace.recorded.arrays is not None:
        return _arrays_told(number, trace)
    tape, steps = trace.recorded.tape, trace.prepared.program.all_steps()
    milliseconds = {
        "traced": 1e3 * trace.recorded.seconds,
        **{name: 1e3 * seconds for name, seconds in trace.prepared.timings.items()},
    }
    lines = [
        f"trace {number}: {counted(tape.rows, 'node')} rolled up into {counted(len(steps), 'step')}; "
        f"{counted(trace.recorded.tape.parameters, 'parameter')}, {counted(tape.inputs, 'input')}"
        + (f", {counted(tape.indices, 'index', 'indices')}" if tape.indices else "")
        + (f", {counted(trace.recorded.given, 'result')}" if trace.recorded.given != 1 else "")
        + (f", {counted(len(trace.recorded.guards), 'decision')}" if trace.recorded.guards else ""),
        f"  {counted(trace.calls, 'call')}; {size(trace.bytes())}; "
        + ", ".join(f"{name} {spent:.1f} ms" for name, spent in milliseconds.items()),
    ]
    if steps and isinstance(steps[0], Rows):
        lines.append("  it has too little structure to roll up, and runs node by node")
        for first, body, turns in steps[0].loops:
            lines.append(f"  from node {first + 1:,} on it is a loop: {turns:,} times {counted(body, 'node')}")
        return lines
    table = [("step", "what", "shape", "nodes", "memory")]
    for i, step in enumerate(steps[:STEPS_TOLD], start=1):
        table.append((str(i), _what(step), _shape(step), f"{step.nodes:,}", size(8 * step.results)))
    return [*lines, *_aligned(table, len(steps))]


def _aligned(table: Sequence[tuple[str, ...]], steps: int) -> list[str]:
    """A table with a heading, its last two columns to the right, of the first of so many steps."""
    lines = []
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    for line in table:
        left = f"  {line[0]:>{widths[0]}}  {line[1]:<{widths[1]}}  {line[2]:<{widths[2]}}"
        lines.append(f"{left}  {line[3]:>{widths[3]}}  {line[4]:>{widths[4]}}")
    if steps > STEPS_TOLD:
        lines.append(f"  … and {counted(steps - STEPS_TOLD, 'more step')}")
    return lines


def _arrays_told(number: int, trace: Any) -> list[str]:
    """A trace that was written down array by array."""
    rows, guards = trace.recorded.arrays.rows, trace.recorded.guards
    steps = [rows[i] for i in trace.needed if not rows[i].is_leaf]
    table = [("step", "what", "shape", "dtype", "memory")]
    for i, row in enumerate(steps[:STEPS_TOLD], start=1):
        memory = size(prod(row.shape) * BYTES[row.dtype])
        table.append((str(i), row.word, " × ".join(f"{n:,}" for n in row.shape), row.dtype, memory))
    return [
        f"trace {number}: {counted(len(steps), 'operation')} on whole arrays, by NumPy; "
        f"{counted(len(trace.recorded.parameters), 'parameter')}, {counted(len(trace.shapes), 'array')} given"
        + (f", {counted(len(guards), 'decision')}" if guards else ""),
        f"  {counted(trace.calls, 'call')}; {size(trace.bytes())}; traced {1e3 * trace.recorded.seconds:.1f} ms",
        *_aligned(table, len(steps)),
    ]


def _what(step: Step) -> str:
    if step.kind == "product":
        return "matrix product"
    if step.kind == "sums":
        return "dot products" if "mul" in step.ops else "sums"
    return step.ops[0] if step.kind == "op" else step.kind


def _shape(step: Step) -> str:
    return " × ".join(f"{n:,}" for n in step.shape)


def _native() -> str:
    done = objects.record
    return (
        f"native code in this process: {counted(int(done['loaded']), 'function')} loaded in "
        f"{1e3 * done['load_seconds']:.0f} ms, {int(done['compiled'])} compiled in {done['compile_seconds']:.1f} s"
    )


def size(n: int) -> str:
    """Bytes as people read them."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= step:
            return f"{n / step:.1f} {unit}"
    return f"{n} B"


# --- as a drawing ----------------------------------------------------------------------------------------------------


def _scene(trace: Any) -> Any:
    from gradwalk.drawing.scene import Box, Line, Scene

    if trace.recorded.arrays is not None:
        return _scene_of_arrays(trace)
    tape, steps = trace.prepared.tape, trace.prepared.program.all_steps()
    used, flows = _flows(trace)
    boxes, lines = [], []
    if tape.inputs:
        title = f"{counted(tape.inputs, 'input')}, written anew before each call"
        boxes.append(Box("leaf", "inputs", "", (), title, f"{tape.inputs:,} numbers"))
    first = len(boxes)
    for i, step in enumerate(steps):
        weights = f" · {counted(used[i], 'parameter')}" if used[i] else ""
        note = f"{_shape(step)}{weights}"
        title = f"step {i + 1}: {_what(step)}, {_shape(step)}; {counted(step.nodes, 'node')} of the graph{weights}"
        boxes.append(Box("group", _what(step), _sign(step), (), title, note))
    for (source, target), count in sorted(flows.items()):
        start = 0 if source < 0 else first + source
        lines.append(Line(start, first + target, "", f"{count:,} numbers", None, count))
    summary = f"{counted(tape.rows, 'node')} rolled up into {counted(len(steps), 'step')}"
    return Scene(tuple(boxes), tuple(lines), summary)


def _scene_of_arrays(trace: Any) -> Any:
    from gradwalk.drawing.scene import Box, Line, Scene

    rows = trace.recorded.arrays.rows
    place = {row: i for i, row in enumerate(trace.needed)}
    boxes, lines = [], []
    for i in trace.needed:
        row, shape = rows[i], " × ".join(f"{n:,}" for n in rows[i].shape) or "one number"
        boxes.append(
            Box("leaf" if row.is_leaf else "group", row.word, "", (), f"{row.word}, {row.dtype} {shape}", shape)
        )
        for at in each_at(row.given):
            count = prod(rows[at.row].shape)
            lines.append(Line(place[at.row], place[i], "", f"{count:,} numbers", None, count))
    steps = sum(not rows[i].is_leaf for i in trace.needed)
    return Scene(tuple(boxes), tuple(lines), f"{counted(steps, 'operation')} on whole arrays")


def _sign(step: Step) -> str:
    if step.kind in ("product", "sums"):
        return "Σ" if "mul" not in step.ops else "·"
    return ALIKE.get(step.ops[0], "") if step.kind == "op" else ""  # the others are told by their names


def _flows(trace: Any) -> tuple[Counter[int], Counter[tuple[int, int]]]:
    """For each step how many parameters it reads, and how many numbers flow from step to step (-1: the inputs)."""
    tape = trace.prepared.tape
    step_of = _steps_of_rows(trace)
    parameters: dict[int, set[int]] = {}
    flows: dict[tuple[int, int], set[int]] = {}
    for row in range(tape.rows):
        step = step_of[row]
        if step < 0:
            continue
        for x in tape.operands(row):
            if x == NONE or x < 0:
                continue
            if x < tape.parameters:
                parameters.setdefault(step, set()).add(x)
                continue
            source = step_of[x - tape.first_row] if x >= tape.first_row else -1
            if source < step and (source >= 0 or x < tape.first_row):
                flows.setdefault((source, step), set()).add(x)
    used = Counter({step: len(found) for step, found in parameters.items()})
    return used, Counter({edge: len(found) for edge, found in flows.items()})


def _steps_of_rows(trace: Any) -> list[int]:
    """The step that does each row of the tape, those inside a step included; -1 for rows that nothing needs."""
    tape = trace.prepared.tape
    step_of: list[int] = trace.prepared.analysis.step_of.tolist()
    for row in range(tape.rows - 1, -1, -1):
        for x in tape.operands(row) if step_of[row] >= 0 else ():
            inner = x - tape.first_row
            if inner >= 0 and step_of[inner] < 0:  # absorbed by the one that uses it
                step_of[inner] = step_of[row]
    return step_of
