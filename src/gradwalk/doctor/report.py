"""What the doctor says: findings in the order in which to look at them, as text, JSON and HTML."""

from __future__ import annotations

import json
import math
import os
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from gradwalk.messages import counted
from gradwalk.provenance import Place

__all__ = ["Finding", "Looked", "Report"]

Severity = Literal["error", "warning", "note"]
Sure = Literal["certain", "likely", "possible"]

WIDTH = 80
LISTED = 4  # more places than this are not all listed


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: what, where, why, and what to try.

    `kind` is its name for programs. `step` is when it was first seen, 0 where there are no steps. `sure` says how sure
    we are: "certain" is proven, "likely" and "possible" are read from signs.

    >>> from gradwalk import doctor
    >>> finding = doctor(Value(0.0, label="x").log() * 2).findings[0]
    >>> finding.kind, finding.severity, finding.what
    ('birth', 'error', '-inf was born in log(x=0)')
    """

    kind: str
    severity: Severity
    what: str
    where: tuple[str, ...] = ()
    line: Place | None = None
    why: str = ""
    remedy: tuple[str, ...] = ()
    step: int = 0
    sure: Sure = "certain"
    numbers: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON holds it; numbers that are not finite become text.

        >>> Finding("birth", "error", "nan", numbers={"value": float("nan")}).to_dict()["numbers"]
        {'value': 'nan'}
        """
        line = None if self.line is None else {**self.line._asdict(), "source": self.line.source}
        plain: dict[str, Any] = _plain({**asdict(self), "line": line})
        return plain

    def __str__(self) -> str:
        return "\n".join(self._lines(""))

    def _lines(self, number: str) -> Iterator[str]:
        indent = " " * max(len(number), 2)
        tag = self.severity.upper()
        yield from _wrapped(f"{number}{tag}  ", f"{indent}{' ' * len(tag)}  ", self.what + self._doubt())
        for name, told in self._parts():
            for i, words in enumerate(told):
                head = f"{indent}{name if i == 0 else '':<6}"
                if name == "where" and i >= len(told) - self._source_lines():
                    yield head + words  # a file and a line of code stay as they are
                else:
                    yield from _wrapped(head, f"{indent}      ", words)

    def _source_lines(self) -> int:
        return 0 if self.line is None else len(str(self.line).split("\n"))

    def _doubt(self) -> str:
        return "" if self.sure == "certain" else f" ({self.sure})"

    def _parts(self) -> Iterator[tuple[str, list[str]]]:
        places = list(self.where[:LISTED])
        if len(self.where) > LISTED:
            places[-1] += f" … and {len(self.where) - LISTED} more"
        if self.line is not None:
            places += _from_here(self.line).split("\n")
        for name, told in (("where", places), ("why", [self.why]), ("try", list(self.remedy))):
            if any(told):
                yield name, told


@dataclass(frozen=True)
class Looked:
    """What was looked at, for the line at the top.

    >>> str(Looked("MLP", parameters=17, nodes=120, steps=30, examined=5))
    'MLP: 17 parameters; 30 steps, 5 in full; up to 120 nodes'
    """

    subject: str
    parameters: int
    nodes: int
    steps: int = 0
    examined: int = 0

    def __str__(self) -> str:
        what = counted(self.parameters, "parameter")
        head = f"{self.subject}: {what}" if self.subject else what
        if not self.steps:
            return f"{head}; {counted(self.nodes, 'node')}" if self.nodes else head
        return f"{head}; {counted(self.steps, 'step')}, {self.examined} in full; up to {counted(self.nodes, 'node')}"


@dataclass(frozen=True)
class Report:
    """All findings, the most urgent first; true, and as long as there are findings, if anything is wrong. Print it.

    `notes` are things that are usual in healthy runs too, and no findings.

    >>> import random
    >>> from gradwalk import doctor
    >>> random.seed(3)
    >>> model = nn.MLP(2, [4, 1], activation="tanh")
    >>> report = doctor(model, nn.mse([model([1.0, 2.0]), model([0.5, -1.0])], [1.0, -1.0]))
    >>> bool(report), len(report)
    (False, 0)
    >>> print(report)
    doctor: nothing found
    looked at MLP: 17 parameters; 79 nodes
    """

    findings: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    looked: tuple[Looked, ...] = ()
    remarks: tuple[str, ...] = ()  # what could not be looked at

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, rank: int) -> Finding:
        return self.findings[rank]

    def __str__(self) -> str:
        lines = [f"doctor: {self.headline}"]
        lines += [line for one in self.looked for line in _wrapped("looked at ", "          ", str(one))]
        for i, finding in enumerate(self.findings, start=1):
            lines += ["", *finding._lines(f"{i}  ")]
        if self.notes:
            lines += ["", "in passing:"]
            for note in self.notes:
                places = ", ".join(note.where[:LISTED]) + (" …" if len(note.where) > LISTED else "")
                words = f"{note.what}{note._doubt()}" + (f": {places}" if places else "")
                lines += _wrapped("- ", "  ", words + (f"; {note.why}" if note.why else ""))
        if self.remarks:
            lines += ["", *(line for words in self.remarks for line in _wrapped("", "", words))]
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """The number of findings in words.

        >>> Report((Finding("birth", "error", "nan was born"),)).headline
        '1 error'
        """
        counts = [(kind, sum(f.severity == kind for f in self.findings)) for kind in ("error", "warning")]
        return ", ".join(counted(n, kind) for kind, n in counts if n) or "nothing found"

    def of(self, kind: str) -> Finding | None:
        """The first finding or note of a kind.

        >>> from gradwalk import doctor
        >>> report = doctor(Value(0.0).log())
        >>> report.of("birth").severity, report.of("overshoot")
        ('error', None)
        """
        return next((f for f in (*self.findings, *self.notes) if f.kind == kind), None)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON holds it.

        >>> Report().to_dict()["found"]
        0
        """
        return {
            "found": len(self.findings),
            "headline": self.headline,
            "findings": [{"rank": i, **f.to_dict()} for i, f in enumerate(self.findings, start=1)],
            "notes": [f.to_dict() for f in self.notes],
            "looked": [asdict(one) for one in self.looked],
            "remarks": list(self.remarks),
        }

    def json(self) -> str:
        """The report as JSON.

        >>> json.loads(Report().json())["findings"]
        []
        """
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def html(self, title: str = "gradwalk doctor") -> str:
        """A page of its own, which needs nothing else.

        >>> Report().html().startswith("<!doctype html>")
        True
        """
        from gradwalk.doctor.report_html import page

        return page(self, title)

    def _repr_html_(self) -> str:
        from gradwalk.doctor.report_html import fragment

        return fragment(self)


def _wrapped(first: str, later: str, words: str) -> list[str]:
    return textwrap.wrap(
        words, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    ) or [first.rstrip()]


def _from_here(place: Place) -> str:
    """A line in words, its file as one would name it in this folder."""
    folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 (a plain prefix is what is wanted)
    return str(place).removeprefix(folder) if place.file.startswith(folder) else str(place)


def _plain(x: Any) -> Any:
    if isinstance(x, dict):
        return {str(key): _plain(part) for key, part in x.items()}
    if isinstance(x, (list, tuple)):
        return [_plain(part) for part in x]
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return x
