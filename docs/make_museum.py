"""Writes docs/museum.md from the bug museum; a test holds the file to what this gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import unified_diff
from functools import partial
from pathlib import Path
from textwrap import fill as wrap

from gradwalk.diagnose import Grade, grade, museum, teaching
from gradwalk.diagnose.museum import Specimen

INTRODUCTION = """\
# The bug museum

Made from `src/gradwalk/diagnose/museum/` by `python docs/make_museum.py`. Numbers 1 to 17 are bugs that were found in
engines which people have published; those numbered 18 turned up while the grader was built. Each exhibit is the
[teaching engine](../src/gradwalk/diagnose/teaching.py) with one thing wrong, or a program that uses a right engine
wrongly. With it goes the smallest program that shows it, and the numbers on both sides: work out which is right before
you read on.

`gradwalk grade engine.py` compares an engine's wrong numbers with those of the exhibits, and says which one it is.
"""
fill = partial(wrap, width=120, break_long_words=False, break_on_hyphens=False)
KINDS = {
    "engine": "In the engine",
    "training loop": "In the training loop",
    "checker": "In the check",
    "network": "In the network",
}
CONFUSION = """\
## Which exhibit is taken for which

Each exhibit that is an engine goes through the grader. A row is an exhibit, a column a diagnosis, and a dot a diagnosis
that was made: each exhibit is diagnosed as itself and as nothing else.

"""


def page(judge: Callable[[str], Grade] = grade) -> str:
    """The whole page, with what `judge` says of each engine's source."""
    reports = {s.name: judge(s.source()) for s in museum.SPECIMENS if s.where == "engine"}
    parts = [INTRODUCTION]
    for place, heading in KINDS.items():
        parts.append(f"## {heading}\n")
        parts += [exhibit(s, reports.get(s.name)) for s in museum.SPECIMENS if s.where == place]
    found = {name: [str(diagnosis.specimen) for diagnosis in report.diagnoses] for name, report in reports.items()}
    return "\n".join(parts) + "\n" + CONFUSION + matrix(found)


def exhibit(specimen: Specimen, report: Grade | None) -> str:
    """One exhibit: what it is, the program, the numbers, what was changed, and what the grader says."""
    said = [f"The grader says: {diagnosis.sentence}." for diagnosis in report.diagnoses] if report else []
    lines = [
        f"### {specimen.title}",
        "",
        f"`{specimen.name}` · number {specimen.number}",
        "",
        fill(specimen.explanation),
        "",
        "```python",
        specimen.program,
        "```",
        "",
        *numbers(specimen),
        "",
        *changed(specimen),
        *(fill(line) + "\n" for line in said),
        fill(f"> {specimen.hint}", subsequent_indent="> "),
        "",
        "<details><summary>Solution</summary>",
        "",
        fill(specimen.solution),
        "",
        "</details>",
        "",
    ]
    return "\n".join(lines)


def numbers(specimen: Specimen) -> list[str]:
    """The numbers on both sides, as a table."""
    names = list(specimen.right or specimen.wrong)
    rows = [
        ["", *(f"`{name}`" for name in names)],
        ["---"] * (len(names) + 1),
        ["right", *cells(specimen.right, specimen.right_error, names)],
        ["wrong", *cells(specimen.wrong, specimen.wrong_error, names)],
    ]
    return [f"| {' | '.join(row)} |" for row in rows]


def cells(numbers: Mapping[str, float], error: str, names: list[str]) -> list[str]:
    """One side's numbers, or what happened instead."""
    if error == "OutOfSteps":
        return ["never ends"] * len(names)
    if error:
        return [f"{error}"] * len(names)
    return [f"{numbers[name]:.7g}" for name in names]


def changed(specimen: Specimen) -> list[str]:
    """The lines of the teaching engine that differ, or of the program."""
    if specimen.edits:
        before, after = teaching.SOURCE, specimen.source()
    else:
        before, after = specimen.repaired, specimen.program
    pairs = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    lines = [line for line in pairs if not line.startswith(("---", "+++", "@@"))]
    if len(lines) <= 20:
        return ["```diff", *lines, "```", ""]
    return ["```diff", *lines[:4], "```", "", f"and so on, in {sum(line[0] == '+' for line in lines)} lines.", ""]


def matrix(found: Mapping[str, list[str]]) -> str:
    """The confusion matrix; columns are numbered like the rows."""
    names = list(found)
    columns = names + sorted({name for told in found.values() for name in told} - set(names))
    head = "| | exhibit | " + " | ".join(str(i) for i in range(1, len(columns) + 1)) + " |\n"
    rule = "|---|---|" + ":-:|" * len(columns) + "\n"
    rows = [
        f"| {i} | `{name}` | " + " | ".join("●" if column in found[name] else " " for column in columns) + " |\n"
        for i, name in enumerate(names, 1)
    ]
    return head + rule + "".join(rows)


if __name__ == "__main__":
    Path(__file__).with_name("museum.md").write_text(page(), encoding="utf-8")
