"""The walk as plain text of 80 columns: for pipes, files, mails and screen readers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.cells import cell_len

from gradwalk.stepper.canvas import EMPTY
from gradwalk.stepper.faces import array_rows, face_rows, plain, small
from gradwalk.stepper.subject import Subject
from gradwalk.walk import Compute, Event, Push, Recording, Visit, readable
from gradwalk.walk.formatting import clean
from gradwalk.walk.many import Many

__all__ = ["transcript"]

WIDTH = 80
HEADINGS = {"compute": "Forward", "seed": "Seed", "visit": "Backward"}


def transcript(recording: Recording, subject: Subject, *, judged: bool = False) -> Iterator[str]:
    """The lines of a transcript; `judged` ends it with the verdict on the visit order.

    >>> from gradwalk.stepper.subject import subject
    >>> double = subject("a+a")
    >>> print("\\n".join(transcript(record(double.root), double)))
    a + a
      b = a + a
      One node used twice: both contributions count, so they add.
    <BLANKLINE>
    Forward
      1  b.data = 3 + 3 = 6
         `b` is `a` + `a`: 3 + 3 = 6.
    <BLANKLINE>
    Seed
      2  b.grad = ∂b/∂b = 1
         Begin at `b`, the root: it changes as fast as itself, so its gradient is 1.
    <BLANKLINE>
    Backward
      3  visit b
         `b` is the root: b.grad = 1 is final.
      4  a.grad += b.grad × ∂b/∂a = 1 × 1 = 1
         + copies: b.grad, 1, goes to `a` as it is. Before it had nothing; now
         a.grad = 1.
      5  a.grad += b.grad × ∂b/∂a = 1 × 1 = 1
         + copies: b.grad, 1, goes to `a` as it is. Before it had 1; now a.grad =
         1 + 1 = 2.
    <BLANKLINE>
    At the end
      node  op  data  grad
      a            3     2
      b     +      6     1
    """
    yield from _wrapped(subject.title, "", "")
    for line in subject.text.splitlines() if subject.text.strip() != subject.title else ():
        yield from _wrapped(line, "  ", "    ")
    if subject.note:
        yield from _wrapped(subject.note, "  ", "  ")
    if judged:
        names = ", ".join(clean(recording.graph.nodes[place].name) for place in recording.order)
        yield from _wrapped(f"visits in the order {names}", "  ", "  ")
    digits = len(str(len(recording.events)))
    margin = " " * (digits + 4)
    section = ""
    for number, event in enumerate(recording.events, start=1):
        heading = HEADINGS.get(event.kind, section)
        if heading != section:
            section = heading
            yield ""
            yield section
        visit = isinstance(event, Visit) and f"visit {clean(recording.graph.nodes[event.node].name)}"
        yield from _wrapped(visit or event.formula, f"  {number:>{digits}}  ", margin)
        yield from _wrapped(event.sentence, margin, margin)
        yield from (f"{margin}  {line}".rstrip() for line in _arrays(event, recording))
    yield ""
    yield "At the end"
    yield from _table(recording)
    if judged:
        verdict = recording.verdict
        yield from ("", "✓ right" if verdict.right else "✗ not right")
        entries = [*(lost.sentence for lost in verdict.lost), *(twice.sentence for twice in verdict.doubled)]
        for sentence in entries if entries and not verdict.right else [verdict.sentence]:
            yield from _wrapped(sentence, "  ", "  ")


def _arrays(event: Event, recording: Recording) -> list[str]:
    """The numbers of small tensors: what came out; of a matrix product also what went in."""
    match event:
        case Compute(value=value, operand_values=(Many() as a, Many() as b)) if recording.graph.nodes[
            event.node
        ].op == "@" and all(map(small, (value, a, b))):
            return plain(face_rows(a, b, value)).splitlines()
        case Compute(value=Many() as found) | Push(after=Many() as found) if small(found):
            return plain(array_rows(found)).splitlines() if len(found.numbers) > 3 or len(found.shape) > 1 else []
    return []


def _table(recording: Recording) -> Iterator[str]:
    rows = [("node", "op", "data", "grad")]
    for node in recording.graph.nodes:
        if not node.constant:
            grad = recording.grads[node.id]
            data = readable(recording.data[node.id])
            rows.append((clean(node.name), clean(node.op), data, EMPTY if grad is None else readable(grad)))
    widths = [max(cell_len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        padded = [" " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)]
        name, op = row[0] + padded[0], row[1] + padded[1]
        yield f"  {name}  {op}  {padded[2]}{row[2]}  {padded[3]}{row[3]}"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    wrapped = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return wrapped or [first.rstrip()]
