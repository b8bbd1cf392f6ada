"""Writes docs/answers.md: the answers to every question, exercise and hunt of the course; a test holds the file to it.

The questions and answers are read from the lessons themselves, the solutions from the exercises that the page runs.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from gradwalk.learn.page.exercises import EXERCISES
from gradwalk.learn.page.hunting.cases import SETS, Case, case_of

LESSONS = Path(__file__).resolve().parents[1] / "web" / "lessons" / "en"
INTRODUCTION = """\
# The answers

Made from `web/lessons/en/`, the exercises and the museum of bugs by `python docs/make_answers.py`. For teachers:
[teaching.md](teaching.md) says how the lessons go together. Every number here is checked by the engine.

Under each question stand its answer and the reason that the page gives, then the wrong answers that the course knows,
each with the reply it gets. They are a list of what to expect from a class.
"""
#: What a lesson's Markdown has beyond Markdown: a checked number, and a word in the colour of its meaning.
CHECKED = re.compile(r"\{\{(?:(?!\{\{|\}\}).)*?->\s*((?:(?!\{\{|\}\}).)*?)\s*\}\}")
COLOURED = re.compile(r"\[([^\[\]]+)\]\{(?:data|grad|play)\}")
LINK = re.compile(r"\[([^\[\]]+)\]\((?:lesson|page):[^)]*\)")
FENCE = re.compile(r"^```widget (\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

Record = dict[str, str]


def page(lessons: Path = LESSONS) -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(part for path in sorted(lessons.glob("*.md")) for part in lesson(path))])


def lesson(path: Path) -> Iterator[str]:
    """A lesson's heading, then its questions and exercises in their order; nothing, if it has none."""
    text = path.read_text(encoding="utf-8")
    found = [(kind, read(block)) for kind, block in FENCE.findall(text) if kind in ("quiz", "exercise", "hunt")]
    if not found:
        return
    title = re.search(r"^title: (.+)$", text, re.MULTILINE)
    yield f"## {int(path.name[:2])}. {title[1] if title else path.stem}\n"
    for number, fields in enumerate((fields for kind, fields in found if kind == "quiz"), start=1):
        yield question(number, *fields)
    for name in (fields[0]["exercise"] for kind, fields in found if kind == "exercise"):
        yield exercise(name)
    for name in (fields[0]["set"] for kind, fields in found if kind == "hunt"):
        if name in SETS:  # bugs that are drawn at random have no list
            yield hunt(name)


def read(block: str) -> tuple[Record, list[Record]]:
    """A widget's block: its keys, and the records under `wrong` or `options`."""
    keys, records, last = Record(), list[Record](), Record()
    name = ""
    for line in CHECKED.sub(r"\1", block).splitlines():
        item = re.match(r"^ {2}- (\w+): (.*)$", line)
        inside = re.match(r"^ {4}(\w+): (.*)$", line)
        plain = re.match(r"^([a-z-]+):\s*(.*)$", line)
        if item:
            records.append(last := Record())
            name = item[1]
            last[name] = item[2]
        elif inside and records:
            name = inside[1]
            last[name] = inside[2]
        elif plain:
            last, name = keys, plain[1]
            last[name] = plain[2]
        elif line.strip() and not line.startswith("#"):  # a long value goes on
            last[name] = f"{last.get(name, '')} {line.strip()}".strip()
    return keys, records


def question(number: int, keys: Record, records: list[Record]) -> str:
    """A question, its answer, and what is said to the wrong ones."""
    lines = [f"**{number}.** {words(keys['ask'])}" + (f" *{words(keys['note'])}*" if "note" in keys else ""), ""]
    if "answer" in keys:
        lines.append(f"- **{keys['answer']}**. {words(keys['right'])}")
        lines += [f"  - not {wrong['value']}: {words(wrong['why'])}" for wrong in records]
    elif keys.get("mode") == "predict":
        lines.append(f"- a guess, with nothing to judge: {', '.join(words(each['text']) for each in records)}")
    else:
        right = [each for each in records if each.get("right") == "yes"]
        lines += [f"- **{ended(words(each['text']))}** {words(each.get('why', ''))}".rstrip() for each in right]
        others = [each for each in records if each not in right]
        lines += [f"  - not “{words(each['text'])}”: {words(each.get('why', ''))}" for each in others]
    return "\n".join(lines) + "\n"


def exercise(name: str) -> str:
    """An exercise: each function with its task and one way to write it."""
    found = EXERCISES[name]
    tabs = [
        f"`{tab.name}`: {words(tab.task)}\n\n```python\n{tab.solution.rstrip()}\n```\n" for tab in found.tabs.values()
    ]
    return "\n".join([f"### {found.title}\n", *tabs])


def hunt(name: str) -> str:
    """The bugs of one hunt in their order: what each is, and the lines that mend it."""
    cases = [case_of(each) for each in SETS[name]]
    return "\n".join([f"### Hunt: {name}\n", *(f"{i}. {bug(case)}\n" for i, case in enumerate(cases, start=1))])


def bug(case: Case) -> str:
    """The name of a bug, and the difference between the wrong text and the mended one."""
    before, after = case.text.splitlines(), case.mended.splitlines()
    lines = [line for line in difflib.ndiff(before, after) if line[0] in "+-" and line[2:].strip()]
    indented = textwrap.indent("\n".join(["```diff", *lines, "```"]), "   ")
    return f"**{ended(case.specimen.title)}** {case.specimen.solution}\n\n{indented}"


def ended(text: str) -> str:
    """A text with a full stop behind it, if nothing stands there."""
    return text if text[-1] in ".!?" else f"{text}."


def words(text: str) -> str:
    """A text as plain Markdown."""
    return LINK.sub(r"\1", COLOURED.sub(r"\1", text)).strip()


if __name__ == "__main__":
    Path(__file__).with_name("answers.md").write_text(page(), encoding="utf-8")
