"""A report as HTML: a fragment for notebooks, and a page of its own. It loads and runs nothing."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradwalk.doctor.report import Finding, Report


_LIGHT = (
    "--paper:#F3F6F5;--surface:#FFFFFF;--ink:#17212A;--ink2:#43505B;--line:#D2DAD9;"
    "--error:#A83E0C;--warning:#7A5A00;--good:#0B6B5E;--code:#E8EDEC"
)
_DARK = (
    "--paper:#10171B;--surface:#182127;--ink:#E9EFEF;--ink2:#B9C5C9;--line:#2D3A41;"
    "--error:#F7A178;--warning:#E8C35A;--good:#5CC8B6;--code:#212C33"
)
_SANS = 'Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif'
_MONO = 'ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace'
#: Where a notebook says which of its themes is on: JupyterLab, VS Code, marimo.
_NOTEBOOK_LIGHT = ':is([data-jp-theme-light="true"],.vscode-light,body.light)'
_NOTEBOOK_DARK = ':is([data-jp-theme-light="false"],.vscode-dark,.vscode-high-contrast,body.dark,.dark)'

_STYLE = f"""
.gw-doctor{{{_LIGHT};background:var(--paper);color:var(--ink);font:400 14px/1.45 {_SANS};padding:16px 20px;
max-width:820px;border-radius:6px;box-sizing:border-box}}
@media (prefers-color-scheme:dark){{.gw-doctor{{{_DARK}}}}}
{_NOTEBOOK_LIGHT} .gw-doctor{{{_LIGHT}}}
{_NOTEBOOK_DARK} .gw-doctor{{{_DARK}}}
.gw-doctor h2{{font-size:18px;margin:0 0 4px;color:var(--ink)}}
.gw-doctor .gw-looked{{margin:0;color:var(--ink2);font-size:13px}}
.gw-doctor ol{{list-style:none;margin:14px 0 0;padding:0}}
.gw-doctor li.gw-finding{{background:var(--surface);border:1px solid var(--line);border-left:4px solid var(--tone);
border-radius:4px;padding:10px 14px;margin:0 0 10px}}
.gw-doctor .gw-error{{--tone:var(--error)}}
.gw-doctor .gw-warning{{--tone:var(--warning)}}
.gw-doctor .gw-tag{{color:var(--tone);font-weight:650;font-size:12px;text-transform:uppercase;letter-spacing:.04em}}
.gw-doctor h3{{font-size:15px;margin:2px 0 6px;color:var(--ink)}}
.gw-doctor dl{{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 14px;margin:0}}
.gw-doctor dt{{color:var(--ink2);font-size:13px;padding-top:1px}}
.gw-doctor dd{{margin:0;overflow-wrap:anywhere}}
.gw-doctor dd p{{margin:0 0 3px}}
.gw-doctor code{{font:400 13px {_MONO};background:none;color:inherit;padding:0}}
.gw-doctor pre{{font:400 13px {_MONO};background:var(--code);color:var(--ink);margin:3px 0;padding:5px 8px;
border-radius:3px;overflow-x:auto}}
.gw-doctor .gw-good{{color:var(--good)}}
.gw-doctor ul{{margin:4px 0 0;padding-left:20px;color:var(--ink2);font-size:13px}}
"""


def fragment(report: Report) -> str:
    """HTML for a notebook's output.

    >>> from gradwalk.doctor import Report
    >>> "nothing found" in fragment(Report())
    True
    """
    tone = "" if report else ' class="gw-good"'
    parts = [f"<h2{tone}>{escape(report.headline)}</h2>"]
    parts += [f'<p class="gw-looked">looked at {escape(str(one))}</p>' for one in report.looked]
    if report.findings:
        parts.append(f"<ol>{''.join(map(_finding, report.findings))}</ol>")
    if report.notes:
        notes = "".join(f"<li>{escape(n.what)}{_places(n)}{escape(_after(n))}</li>" for n in report.notes)
        parts.append(f'<p class="gw-looked" style="margin-top:12px">in passing</p><ul>{notes}</ul>')
    parts += [f'<p class="gw-looked" style="margin-top:12px">{escape(words)}</p>' for words in report.remarks]
    return f'<div class="gw-doctor"><style>{_STYLE}</style>{"".join(parts)}</div>'


def page(report: Report, title: str) -> str:
    """A whole HTML document.

    >>> from gradwalk.doctor import Report
    >>> "<title>moons &amp; co</title>" in page(Report(), "moons & co")
    True
    """
    from gradwalk.files import html_page  # which the course's page has not

    style = f"""body{{margin:0;background:#F3F6F5}}
h1{{font:600 13px {_SANS};color:#43505B;margin:0;padding:16px 20px 0;max-width:820px}}
main{{max-width:860px;margin:auto}}
@media (prefers-color-scheme:dark){{body{{background:#10171B}}h1{{color:#B9C5C9}}}}"""
    return html_page(title, style, f"<main><h1>{escape(title)}</h1>{fragment(report)}</main>")


def _finding(finding: Finding) -> str:
    doubt = "" if finding.sure == "certain" else f", {finding.sure}"
    rows = []
    for name, told in finding._parts():
        words = "".join(
            f"<pre>{escape(line.strip())}</pre>"
            if line[:4].isspace()
            else f"<p><code>{escape(line)}</code></p>"
            if name == "where"
            else f"<p>{escape(line)}</p>"
            for line in told
        )
        rows.append(f"<dt>{name}</dt><dd>{words}</dd>")
    return (
        f'<li class="gw-finding gw-{finding.severity}"><span class="gw-tag">{finding.severity}{doubt}</span>'
        f"<h3>{escape(finding.what)}</h3><dl>{''.join(rows)}</dl></li>"
    )


def _places(note: Finding) -> str:
    return ": " + ", ".join(f"<code>{escape(place)}</code>" for place in note.where[:4]) if note.where else ""


def _after(note: Finding) -> str:
    return f"; {note.why}" if note.why else ""
