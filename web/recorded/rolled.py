"""Two large graphs as `gradwalk.compile` sees them, at each stage: what lesson 13 shows beside the learner's own.

    python web/recorded/rolled.py        writes rolled.graphs.json, which the site is built from

One step of the moons demo on a hundred points, and the GPT of the examples on a name of seven letters. Tape and steps
are the compiler's own; the page has no Numba. A test runs it again and compares.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))  # the GPT

import gpt  # noqa: E402

import gradwalk  # noqa: E402
from gradwalk import datasets, nn  # noqa: E402
from gradwalk.compile import report  # noqa: E402
from gradwalk.compile.trace.tape import SPECIAL  # noqa: E402
from gradwalk.learn.page.matrix_picture import matrix_picture  # noqa: E402

__all__ = ["FILE", "recorded"]

FILE = Path(__file__).with_name("rolled.graphs.json")
LINES_SHOWN = 60


def moons() -> Any:
    """One step of the moons demo: a 2-16-16-1 network, a hundred points, a margin loss with a penalty on weights."""
    random.seed(1337)
    model = nn.MLP(2, [16, 16, 1])
    X, y = datasets.moons(100)

    @gradwalk.compile
    def loss(X: Any, y: Any) -> Any:
        margins = [(1 - label * model(point)).relu() for point, label in zip(X, y, strict=True)]
        return sum(margins) * (1.0 / len(y)) + 1e-4 * sum(p * p for p in model.parameters())

    loss(X, y)
    return loss


def letters() -> Any:
    """The GPT of the examples, on one name of seven letters."""
    names = gpt.read_names(gpt.NAMES)
    vocabulary = gpt.Vocabulary.of(names)
    parameters = gpt.make_parameters(gpt.Config(len(vocabulary)), 1)
    loss = gradwalk.compile(gpt.loss)
    loss(parameters, vocabulary.encode(next(name for name in names if len(name) == 7)))
    return loss


def recorded() -> dict[str, Any]:
    """Both graphs, in the form that `gradwalk.learn.page.rolling` gives a learner's own."""
    return {"moons": _stages(moons()), "gpt": _stages(letters())}


def _stages(compiled: Any) -> dict[str, Any]:
    trace = compiled.report().traces[0]
    tape, steps = trace.prepared.tape, trace.prepared.program.steps
    used, flows = report._flows(trace)
    step_of, first = report._steps_of_rows(trace), tape.first_row
    needed = _needed(tape)
    number = {x: x for x in range(first)} | {first + row: first + i for i, row in enumerate(needed)}
    reads = [[number[x] for x in tape.operands(row) if x >= 0] for row in needed]
    rounds = _rounds(tape.first_row, reads)
    widths = Counter(rounds)
    return {
        "nodes": len(needed),
        "leaves": first,
        "tape": [_line(tape, row) for row in needed[:LINES_SHOWN]],
        "levels": [widths[level] for level in range(1, max(rounds) + 1)],
        "steps": [
            {"what": report._what(step), "shape": list(step.shape), "nodes": step.nodes, "parameters": used[i]}
            for i, step in enumerate(steps)
        ],
        "flows": [[source, target, count] for (source, target), count in sorted(flows.items()) if source >= 0],
        "pictures": {
            "tape": matrix_picture(first, reads, [0] * len(needed)),
            "levels": matrix_picture(first, reads, rounds),
            "steps": matrix_picture(first, reads, [step_of[row] for row in needed]),
        },
    }


def _needed(tape: Any) -> list[int]:
    """The rows that something given is made of; the compiler leaves out the others, such as a `max` that was copied."""
    wanted = {int(x) for x in tape.outputs}
    for row in reversed(range(tape.rows)):
        if tape.first_row + row in wanted:
            wanted.update(x for x in tape.operands(row) if x >= 0)
    found = [row for row in range(tape.rows) if tape.first_row + row in wanted]
    assert found[:LINES_SHOWN] == [*range(LINES_SHOWN)]  # whose lines say their numbers
    return found


def _line(tape: Any, row: int) -> str:
    """A row as text; of a table to choose from, only its ends."""
    code = int(tape.code[row])
    words = [tape.name(x) for x in tape.operands(row)]
    if len(words) > 4:
        words = [words[0], words[1], "…", words[-1]]
    return f"n{row} = {SPECIAL.get(code) or tape.ops[code].name}({', '.join(words)})"


def _rounds(leaves: int, reads: list[list[int]]) -> list[int]:
    found = [0] * leaves
    for read in reads:
        found.append(1 + max((found[x] for x in read), default=0))
    return found[leaves:]


if __name__ == "__main__":
    FILE.write_text(json.dumps(recorded(), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    sys.stdout.write(f"written: {FILE.name}\n")
