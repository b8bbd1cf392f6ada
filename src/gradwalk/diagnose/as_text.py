"""A report in words, for a terminal or a file."""

from __future__ import annotations

import textwrap
from collections import Counter

from gradwalk.diagnose.checks import GROUPS
from gradwalk.diagnose.results import CheckResult, Diagnosis, Grade
from gradwalk.matcher import same

__all__ = ["numbers_text", "report_text", "score_text"]

WIDTH = 110
FURTHER = "Beyond the essentials, if you would like to go on:"
MOST = 3  # checks that are shown with their numbers under one diagnosis


def report_text(report: Grade, *, solution: bool = False) -> str:
    """The report as lines of text: a line for each group, what is wrong, what lies beyond the essentials, the score.

    >>> print(report_text(grade(museum.find("reversed-division").source(), checks=["numbers"])))
    ✗ plain numbers on either side: 7 of 8
    <BLANKLINE>
    1. your `__rtruediv__` is the wrong way round on line 104: the number on the left arrives as the argument
       Hint: In `__rtruediv__`, which of `self` and `other` stands on the left of the `/` that was written?
       - 8 / a, 0.5 / a, at a = 3.5: b.data is 0.4375, 2.285714 is right; a.grad is 0.125, -0.6530612 is right
    <BLANKLINE>
    7 of 8 checks passed: essentials 7 of 8.
    """
    parts = ["\n".join(_groups(report))]
    parts += ["\n".join(_diagnosis(i, told, report, solution)) for i, told in enumerate(report.faults, 1)]
    unexplained = [check for check in report.checks if check.status in ("failed", "error") and not check.diagnosis]
    if any(check.essential for check in unexplained):
        parts.append("\n".join(["Not explained:", *(_seen(check, "") for check in unexplained if check.essential)]))
    further = [_further(told, solution) for told in report.invitations]
    further += [_wrapped(f"· {check.title}", "  ") for check in unexplained if not check.essential]
    if further:
        parts.append("\n".join([FURTHER, *further]))
    missing = [check.lacks for check in report.checks if check.status == "missing"]
    if missing:
        parts.append(_wrapped(f"Not implemented yet: {', '.join(dict.fromkeys(missing))}", "  "))
    skipped = Counter(check.message for check in report.checks if check.status == "skipped")
    parts += [_wrapped(f"Not judged: {n} check{'s' * (n > 1)}, because {why}", "  ") for why, n in skipped.items()]
    parts += [_wrapped(f"Note: {note}", "  ") for note in report.notes]
    parts.append(score_text(report))
    return "\n\n".join(part for part in parts if part)


def score_text(report: Grade) -> str:
    """The score in a sentence, what every engine must have apart from what goes beyond.

    >>> score_text(grade(museum.find("left-over-gradients").source(), checks=["reuse", "repeat"]))
    'All 8 essentials passed, and 1 of 5 of what lies beyond them.'
    """
    whole = f"{report.score} of {report.total} checks passed"
    if not report.beyond.total:
        return f"{whole}: {'all of the essentials' if report.passed else f'essentials {report.essentials}'}."
    if not report.essentials.total:
        return f"{whole}, all of them beyond the essentials."
    if report.essentials.score == report.essentials.total:
        return f"All {report.essentials.total} essentials passed, and {report.beyond} of what lies beyond them."
    return f"{whole}: essentials {report.essentials}, beyond them {report.beyond}."


def numbers_text(check: CheckResult) -> str:
    """The wrong numbers of a check beside the right ones.

    >>> numbers_text(CheckResult("", "", "", "failed", {"a.grad": 1.0, "b.data": 6.0}, {"a.grad": 2.0, "b.data": 6.0}))
    'a.grad is 1, 2 is right'
    """
    return "; ".join(
        f"{name} is {check.got[name]:.7g}, {right:.7g} is right"
        for name, right in check.expected.items()
        if name in check.got and not same(check.got[name], right)
    )


def _groups(report: Grade) -> list[str]:
    """A line for each group: a tick or a cross for essentials; what lies beyond them has no cross."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for essential, missed in ((True, "✗"), (False, "·")):
        for group, about in GROUPS.items():
            counted = [c for c in report.checks if c.group == group and c.counts and c.essential == essential]
            if counted:
                passed = sum(check.status == "passed" for check in counted)
                lines[essential].append(
                    f"{'✓' if passed == len(counted) else missed} {about}: {passed} of {len(counted)}"
                )
    return [*lines[True], *lines[False]]


def _further(told: Diagnosis, solution: bool) -> str:
    words = f"· {told.sentence}" + (f". {told.solution}" if solution and told.solution else "")
    return _wrapped(words, "  ")


def _diagnosis(number: int, told: Diagnosis, report: Grade, solution: bool) -> list[str]:
    seen = sorted((check for check in report.checks if check.diagnosis == told), key=lambda check: len(check.program))
    indent = " " * (len(str(number)) + 2)
    lines = [_wrapped(f"{number}. {told.sentence}", indent)]
    if told.hint:
        lines.append(_wrapped(f"{indent}Hint: {told.hint}", indent + "  "))
    if solution and told.solution:
        lines.append(_wrapped(f"{indent}Solution: {told.solution}", indent + "  "))
    lines += [_seen(check, indent) for check in seen[:MOST]]
    if len(seen) > MOST:
        lines.append(f"{indent}- and {len(seen) - MOST} more")
    return lines


def _seen(check: CheckResult, indent: str) -> str:
    title, _, message = check.message.partition(": ") if check.program else ("", "", check.message)
    place = f", at {title.split(' at ', 1)[1]}" if " at " in title else ""
    told = numbers_text(check) or message or check.message
    return _wrapped(f"{indent}- {check.title}{place}{': ' * bool(told)}{told}", indent + "  ")


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
