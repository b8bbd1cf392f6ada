"""What a check found: a line for each input, the ops at fault, and what else is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gradwalk.errors import GradientCheckError
from gradwalk.messages import counted

__all__ = ["CheckReport", "InputCheck", "Status", "Suspect"]

Status = Literal["ok", "kink", "wrong", "not finite"]

#: More inputs than this are not all listed.
LISTED = 12


@dataclass(frozen=True)
class InputCheck:
    """One gradient: what backward gave (`got`), what it should be, how far it is off and how far it may be.

    At a kink every slope between two is right, and `expected` is the nearest of them.

    >>> from gradwalk.check import gradcheck
    >>> entry = gradcheck(lambda x: x * x, [3.0]).inputs[0]
    >>> entry.name, entry.got, round(entry.expected, 6), entry.status
    ('inputs[0]', 6.0, 6.0, 'ok')
    """

    name: str
    got: float
    expected: float
    error: float
    tolerance: float
    status: Status
    note: str = ""

    @property
    def ratio(self) -> float:
        """`got / expected`, which often gives a fault away: 0.5 or 2 for a contribution lost or counted twice.

        >>> InputCheck("x", 3.0, 6.0, 3.0, 1e-7, "wrong").ratio
        0.5
        """
        return ratio(self.got, self.expected)


@dataclass(frozen=True)
class Suspect:
    """An op whose local derivative is wrong: which node, in which operand (the first is 1), and by how much.

    Operand 0 means that the operands could only be checked together.

    >>> from gradwalk.check import gradcheck
    >>> wrong = gradwalk.op(lambda x, out: 2.5 * x)(lambda x: x * x)
    >>> gradcheck(wrong, [3.0], raise_error=False).suspects[0].got
    7.5
    """

    op: str
    node: str
    operand: int
    got: float
    expected: float
    why: str = ""

    def __str__(self) -> str:
        where = f"derivative in operand {self.operand}" if self.operand else "derivative through all its operands"
        times = ratio(self.got, self.expected)
        line = f"{self.op}, at {self.node}: its {where} is {show(self.got)} and should be {show(self.expected)}"
        line += f" (ratio {show(times, 6)})" if math.isfinite(times) else ""
        return line + (f"; {self.why}" if self.why else "")


@dataclass(frozen=True)
class CheckReport:
    """All that a check found; true if it found nothing wrong. Print it: it says in words what is the matter.

    `suspects` are ops proven wrong on their own; `problems` are sentences about anything else that stands in the way
    (a function that is not deterministic, a value that is not finite, gradients lost on the way).

    >>> from gradwalk.check import gradcheck
    >>> print(gradcheck(lambda a, b: a * b, [2.0, 3.0]))
    gradcheck passed: 2 gradients agree (central differences, value 6, 3 nodes)
      input      backward gave  measured
      inputs[0]              3         3  ok
      inputs[1]              2         2  ok
    """

    name: str
    method: str
    value: float
    nodes: int
    inputs: tuple[InputCheck, ...]
    suspects: tuple[Suspect, ...] = ()
    problems: tuple[str, ...] = ()
    reference: str = "measured"

    @property
    def ok(self) -> bool:
        """Whether every gradient was checked and none is wrong, and no op is.

        >>> from gradwalk.check import gradcheck
        >>> gradcheck(lambda x: x * x, [3.0]).ok
        True
        """
        return not self.suspects and not self.problems and all(entry.status in ("ok", "kink") for entry in self.inputs)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._table(), *self._faults()])

    def or_raise(self) -> CheckReport:
        """The report itself if it is ok; else it is raised as a `GradientCheckError`.

        >>> from gradwalk.check import gradcheck
        >>> gradcheck(lambda x: x * x, [3.0], raise_error=False).or_raise().ok
        True
        """
        if not self.ok:
            raise GradientCheckError(str(self))
        return self

    def _headline(self) -> str:
        count, wrong = len(self.inputs), sum(entry.status == "wrong" for entry in self.inputs)
        around = f"({self.method}, value {show(self.value, 6)}, {counted(self.nodes, 'node')})"
        if self.ok:
            what = "1 gradient agrees" if count == 1 else f"{count} gradients agree"
            return f"{self.name} passed: {what} {around}"
        if wrong:
            what = (
                "the gradient is wrong"
                if count == 1
                else f"{wrong} of {count} gradients {'is' if wrong == 1 else 'are'} wrong"
            )
        elif self.suspects:
            what = "the gradients agree here, but an op is wrong on its own and will show elsewhere"
        elif unchecked := sum(entry.status == "not finite" for entry in self.inputs):
            what = "the gradient" if count == 1 else f"{unchecked} of {count} gradients"
            what += " could not be checked"
        else:
            what = "the gradients agree, but not all is well" if count else "nothing could be compared"
        return f"{self.name} failed: {what} {around}"

    def _table(self) -> list[str]:
        if not self.inputs:
            return []
        worst_first = sorted(self.inputs, key=lambda entry: entry.status in ("ok", "kink"))
        shown = self.inputs if len(self.inputs) <= LISTED else worst_first[:LISTED]
        with_ratio = any(entry.status == "wrong" for entry in shown)
        rows = [["input", "backward gave", self.reference, "ratio" if with_ratio else "", ""]]
        for entry in shown:
            times = show(entry.ratio, 6) if with_ratio and math.isfinite(entry.ratio) else ""
            verdict = ": ".join(filter(None, [entry.status, entry.note]))
            rows.append([entry.name, show(entry.got), show(entry.expected), times, verdict])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            cells = [row[0].ljust(widths[0])]
            cells += [row[i].rjust(widths[i]) for i in range(1, 4) if widths[i]]
            lines.append(("  " + "  ".join([*cells, row[4]])).rstrip())
        left_out = [entry.status for entry in worst_first[LISTED:]]
        if left_out:
            kinds = " and ".join(f"{left_out.count(kind)} {kind}" for kind in sorted(set(left_out)))
            lines.append(f"  … and {len(left_out)} more: {kinds}")
        return lines

    def _faults(self) -> list[str]:
        told = list(dict.fromkeys(map(str, self.suspects)))  # two nodes may hold the same numbers
        lines = ["at fault: " + suspect for suspect in told[:LISTED]]
        if len(told) > LISTED:
            lines.append(f"… and {len(told) - LISTED} more nodes")
        return lines + list(self.problems)


def ratio(got: float, expected: float) -> float:
    """`got / expected`, nan where that says nothing."""
    return got / expected if expected and math.isfinite(expected) else math.nan


def show(x: float, digits: int = 9) -> str:
    """A number for people.

    >>> show(2.00000000001), show(2.00001)
    ('2', '2.00001')
    """
    return f"{x + 0.0:.{digits}g}"  # + 0.0: no minus in front of zero
