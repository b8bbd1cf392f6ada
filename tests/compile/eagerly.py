"""A tape run by the eager engine: the reference for everything native."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwalk import Value
from gradwalk.compile.trace.tape import MAX, MIN, SHIFT, TAKE, Tape


def largest(values: list[Any], sign: float) -> Any:
    """The largest (sign 1) or smallest (sign -1) of Values, its gradient shared evenly by all that equal it."""
    data = [v.data * sign for v in values]
    best = float("nan") if any(x != x for x in data) else max(data)
    ties = sum(x == best for x in data)
    out = Value(best * sign, tuple(values), "max")

    def push() -> None:
        for v, x in zip(values, data, strict=True):
            v.grad += (float(x == best) / ties if ties else float("nan")) * out.grad

    out._backward = push
    return out


def run_eagerly(
    tape: Tape, parameters: Sequence[float], inputs: Sequence[float], indices: Sequence[int]
) -> tuple[list[Any], list[Any], list[Any]]:
    """Parameters, inputs and outputs as Values."""
    leaves = [Value(float(x)) for x in parameters]
    given = [Value(float(x)) for x in inputs]
    nodes: list[Any] = [*leaves, *given]

    def operand(x: int) -> Any:
        return nodes[x] if x >= 0 else float(tape.constants[~x])

    for row in range(tape.rows):
        code = int(tape.code[row])
        operands = [operand(x) for x in tape.operands(row)]
        if code >= 0:
            made = tape.ops[code](*operands)
        elif code == TAKE:
            made = operands[int(indices[tape.aux[tape.a[row] + 2]])]
        else:
            values = [x if isinstance(x, Value) else Value(x) for x in operands]
            made = largest(values, -1.0 if code == MIN else 1.0)
            if code == SHIFT:
                made = Value(made.data)
            assert code in (MAX, MIN, SHIFT)
        nodes.append(made if isinstance(made, Value) else Value(made))
    return leaves, given, [nodes[int(x)] for x in tape.outputs]
