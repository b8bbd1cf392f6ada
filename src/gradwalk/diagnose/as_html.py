"""Reports as HTML: one page for an engine, one overview for a class of learners. No scripts, nothing loaded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape

from gradwalk.diagnose import museum
from gradwalk.diagnose.confinement import WAYS
from gradwalk.diagnose.marks import VERDICTS, Standing, standing
from gradwalk.diagnose.results import CheckResult, Diagnosis, Grade, Mark
from gradwalk.drawing.theme import DARK, LIGHT, MONO, SANS
from gradwalk.errors import SettingError
from gradwalk.files import html_page
from gradwalk.matcher import same
from gradwalk.messages import counted

__all__ = ["OverviewRow", "overview_page", "report_page"]

#: What a check's outcome looks like: a mark and a word, never a colour alone.
MARKS = {
    "passed": ("✓", "passed"),
    "failed": ("✗", "wrong"),
    "error": ("!", "stopped"),
    "missing": ("–", "not implemented yet"),
    "skipped": ("·", "left out"),
}
DIGITS = 7
ALIKE = 5  # names in one remark


@dataclass(frozen=True)
class OverviewRow:
    """One learner in the overview: who, the report, the page with the details, the file, and who has the same engine.

    >>> OverviewRow("ada", grade(teaching.SOURCE, checks=["a-plus-a"]), "ada.html").name
    'ada'
    """

    name: str
    report: Grade
    link: str
    file: str = ""
    same_as: tuple[str, ...] = ()


def report_page(report: Grade, title: str, *, solution: bool = False) -> str:
    """The report of one engine as a whole HTML page.

    >>> page = report_page(grade(teaching.SOURCE, checks=["a-plus-a"]), "engine.py")
    >>> "1 of 1" in page, "<script" in page
    (True, False)
    """
    body = [f"<h1>{escape(title)}</h1>", _score(report)]
    body += [f'<p class="note">{_words(note)}</p>' for note in report.notes]
    if report.faults:
        body.append(f"<h2>{counted(len(report.faults), 'thing')} to mend</h2>")
        body += [_diagnosis(diagnosis, solution) for diagnosis in report.faults]
    if report.invitations:
        body.append('<section class="further"><h2>Beyond the essentials, if you would like to go on</h2><ul>')
        body += [f"<li>{_words(diagnosis.sentence)}</li>" for diagnosis in report.invitations]
        body.append("</ul></section>")
    for group in dict.fromkeys(check.group for check in report.checks):
        checks = [check for check in report.checks if check.group == group]
        of = f'<span class="of">{Mark.of(checks)}</span>'
        body.append(f'<section><h2>{escape(group)} {of}</h2><ul class="checks">')
        body += [_check(check) for check in checks]
        body.append("</ul></section>")
    return _page(f"{title}: {report.score} of {report.total}", body)


def overview_page(rows: Sequence[OverviewRow], title: str, *, waiting: int = 0, confined: Collection[str] = ()) -> str:
    """A class at a glance: each engine's mark and bugs, and which bugs are common. `waiting`: so many are to come.

    >>> page = overview_page([OverviewRow("ada", grade(teaching.SOURCE, checks=["a-plus-a"]), "ada.html")], "homework")
    >>> 'href="ada.html"' in page
    True
    """
    found = [standing(row.report) for row in rows]
    counts = Counter(each.verdict for each in found)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    body = [f"<h1>{escape(title)}</h1>", f"<p>{counted(len(rows), 'engine')}: {verdicts or 'none judged yet'}.</p>"]
    if waiting:
        body.append(f"<p><strong>{waiting} more to come.</strong> Run the same command again to go on.</p>")
    for heading, common in (
        ("What went wrong most", _common(each.bugs for each in found)),
        ("Beyond the essentials", _common(each.beyond_bugs for each in found)),
    ):
        if common:
            body.append(f"<h2>{heading}</h2><ol>")
            body += [f"<li>{_words(name)} <span class='of'>{counted(n, 'engine')}</span></li>" for name, n in common]
            body.append("</ol>")
    body.append(
        "<h2>All engines</h2>"
        '<div class="scroll" tabindex="0" role="region" aria-label="all engines"><table><thead><tr><th>engine</th>'
        "<th>verdict</th><th>mark</th><th></th><th>wrong</th><th>not there yet</th><th>not judged</th><th>beyond</th>"
        "<th>what is wrong</th><th>notes</th></tr></thead><tbody>"
    )
    body += [_overview_row(row, each) for row, each in zip(rows, found, strict=True)]
    body.append("</tbody></table></div>")
    if found:
        what = "ordinary numbers, used in any way, walked back once; the same total for everybody"
        body.append(
            f'<p class="note">The mark: how many of {found[0].mark.total} essential checks passed ({what}).</p>'
        )
    if confined:
        ways = ", ".join(WAYS.get(way, way) for way in confined)
        body.append(f'<p class="note">How the engines were kept apart: {escape(ways)}.</p>')
    return _page(title, body)


def _overview_row(row: OverviewRow, found: Standing) -> str:
    wrong = "<br>".join(_words(bug.sentence) for bug in found.bugs)
    if found.wrong and not found.bugs:
        wrong = "no cause was found"
    notes = [_words(note) for note in found.notes]
    if row.same_as:
        others = f" and {len(row.same_as) - ALIKE} more" if len(row.same_as) > ALIKE else ""
        notes.append(f"the same but for names: {escape(', '.join(row.same_as[:ALIKE]))}{others}")
    numbers = (found.wrong, found.not_there, found.not_judged)
    return (
        f'<tr><td><a href="{escape(row.link)}">{escape(row.name)}</a><br><span class="of">{escape(row.file)}</span>'
        f"</td><td>{found.verdict}</td><td class='number'>{found.mark}</td><td>{_bar(found.mark)}</td>"
        + "".join(f"<td class='number'>{n or ''}</td>" for n in numbers)
        + f"<td class='number'>{found.beyond}</td><td class='words'>{wrong}</td>"
        f"<td class='words'>{'<br>'.join(notes)}</td></tr>"
    )


def _common(bugs: Iterable[Iterable[Diagnosis]]) -> list[tuple[str, int]]:
    """What engines have in common, by name and how many have it, most first; lines differ, so they are left out."""
    counts = Counter(name for each in bugs for name in {_kind(bug) for bug in each})
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _kind(bug: Diagnosis) -> str:
    if bug.specimen is not None:
        with suppress(KeyError, SettingError):
            return museum.find(bug.specimen).title
        return bug.specimen
    return re.sub(r" (?:in|on) line \d+|^line \d+ ", "", bug.sentence)


def _score(report: Grade) -> str:
    missing = sum(check.status == "missing" for check in report.checks)
    rest = f", {missing} not implemented yet" if missing else ""
    marks = f"essentials {report.essentials}" + (f", beyond them {report.beyond}" if report.beyond.total else "")
    return (
        f'<p class="score">{_bar(report)} <strong>{report.score} of {report.total}</strong> checks passed{rest}<br>'
        f'<span class="marks">{marks}</span></p>'
    )


def _bar(mark: Mark | Grade) -> str:
    share = 100 * mark.score / mark.total if mark.total else 0
    return (
        f'<svg class="bar" viewBox="0 0 100 8" aria-hidden="true"><rect class="all" width="100" height="8" rx="2"/>'
        f'<rect class="part" width="{share:.4g}" height="8" rx="2"/></svg>'
    )


def _diagnosis(diagnosis: Diagnosis, solution: bool) -> str:
    parts = [f'<div class="found"><p><strong>{_words(diagnosis.sentence)}</strong></p>']
    if diagnosis.hint:
        parts.append(f"<p>{_words(diagnosis.hint)}</p>")
    if solution and diagnosis.solution:
        parts.append(f"<details><summary>solution</summary><pre>{escape(diagnosis.solution)}</pre></details>")
    return "".join([*parts, "</div>"])


def _check(check: CheckResult) -> str:
    mark, word = MARKS[check.status]
    if not check.essential and check.status in ("failed", "error"):
        mark, word = "·", "beyond the essentials"
    looks = check.status if check.essential or check.status == "passed" else "beyond"
    head = f'<span class="mark {looks}">{mark}</span> {_words(check.title)} <span class="of">{word}</span>'
    if check.status not in ("failed", "error"):
        return f"<li>{head}</li>"
    inside = f"<pre>{escape(check.program)}</pre>" if check.program else ""
    inside += f"<p>{_words(check.message)}</p>" if check.message else ""
    rows = [
        f"<tr><td><code>{escape(name)}</code></td><td class='number'>{_number(check.got.get(name))}</td>"
        f"<td class='number'>{_number(right)}</td></tr>"
        for name, right in check.expected.items()
        if name not in check.got or not same(check.got[name], right)
    ]
    if rows and check.got:
        inside += (
            f"<table><thead><tr><th></th><th>got</th><th>right</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )
    shown = " open" if check.essential else ""
    return f"<li><details{shown}><summary>{head}</summary>{inside}</details></li>"


def _number(x: float | None) -> str:
    return "nothing" if x is None else f"{x:.{DIGITS}g}".replace("-", "−")


def _words(text: str) -> str:
    """Escaped text, with `code` in backticks as code."""
    pieces = escape(text).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))


def _page(title: str, body: Iterable[str]) -> str:
    dark = f"@media (prefers-color-scheme:dark){{{_colours(DARK, ok='#6FD3BC')}}}"
    lines = "\n".join(body)
    return html_page(title, f"{_STYLE}\n{_colours(LIGHT, ok='#0B6B57')}\n{dark}", f"<main>\n{lines}\n</main>")


_STYLE = f"""
body{{margin:0;font:400 16px/1.55 {SANS}}}
main{{max-width:56rem;margin:0 auto;padding:32px 20px 64px}}
h1{{font-size:28px;margin:0 0 8px}} h2{{font-size:18px;margin:32px 0 8px}}
code,pre,.number{{font-family:{MONO};font-size:.92em}}
pre{{padding:10px 12px;border-radius:6px;overflow-x:auto;margin:8px 0}}
.of{{font-weight:400;font-size:14px}} .note{{margin:4px 0}}
.bar{{width:140px;height:8px;vertical-align:middle}}
.score strong{{font-size:20px}}
.found{{border-left:4px solid;border-radius:4px;padding:4px 16px;margin:12px 0}}
ul.checks{{list-style:none;padding:0;margin:0}} .checks li{{padding:3px 0}}
.mark{{display:inline-block;width:1.4em;font-weight:700;text-align:center}}
summary{{cursor:pointer}} details>:not(summary){{margin-left:1.8em}}
table{{border-collapse:collapse}} th,td{{text-align:left;padding:4px 14px 4px 0;vertical-align:top}}
th{{font-weight:600;font-size:14px}} .number{{white-space:nowrap}}
.scroll{{overflow-x:auto;width:min(94vw,88rem);margin-left:50%;transform:translateX(-50%)}}
.scroll .bar{{width:72px}} .words{{min-width:15rem}}
"""


def _colours(p: Mapping[str, str], ok: str) -> str:
    return (
        f"body{{background:{p['paper']};color:{p['ink']}}}.of,.note,th{{color:{p['ink-3']}}}pre{{background:{p['well']}}}"
        f".found{{background:{p['surface']};border-color:{p['miss']}}}.passed{{color:{ok}}}.failed,.error{{color:{p['miss']}}}"
        f".all{{fill:{p['well']}}}.part{{fill:{ok}}}a{{color:{p['ink']}}}"
    )
