"""The report: ranked, readable, as JSON and as a page."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser

from gradwalk import Value, doctor
from gradwalk.doctor import Finding, Looked, Report
from gradwalk.doctor.findings.ranking import CAUSES, report_on
from gradwalk.doctor.history import Exam, ModelHistory, TriedUpdate
from gradwalk.doctor.names import names_of
from gradwalk.provenance import Place

SOME = Report(
    (
        Finding("birth", "error", "nan was born in log(-1)", ("layers[0]: log(-1) = nan",),
                Place("nowhere.py", 3, "f"), "its operand is finite", ("keep it above 0", "or else"), 4,
                numbers={"value": math.nan, "operands": [-1.0]}),
        Finding("saturated", "warning", "layers[1] is saturated", tuple("abcdef"), sure="likely"),
    ),
    (Finding("unread", "note", "2 rows of table were never read", why="usual"),),
    (Looked("MLP", 17, 120, 30, 5),),
    ("compiled functions ran eagerly",),
)  # fmt: skip


def test_text() -> None:
    assert (
        str(SOME)
        == """\
doctor: 1 error, 1 warning
looked at MLP: 17 parameters; 30 steps, 5 in full; up to 120 nodes

1  ERROR  nan was born in log(-1)
   where layers[0]: log(-1) = nan
         nowhere.py, line 3, in f
   why   its operand is finite
   try   keep it above 0
         or else

2  WARNING  layers[1] is saturated (likely)
   where a
         b
         c
         d … and 2 more

in passing:
- 2 rows of table were never read; usual

compiled functions ran eagerly"""
    )


def test_no_line_is_longer_than_a_terminal() -> None:
    words = "a word and another one, " * 30
    report = Report((Finding("birth", "error", words, (words,), None, words, (words,)),), looked=(Looked(words, 1, 1),))
    assert max(map(len, str(report).splitlines())) <= 80


def test_a_container_of_findings() -> None:
    assert (bool(SOME), len(SOME), SOME[0].kind, [f.kind for f in SOME]) == (True, 2, "birth", ["birth", "saturated"])
    assert SOME.of("unread") is SOME.notes[0]
    assert SOME.of("overshoot") is None
    assert not Report()
    assert str(Report()) == "doctor: nothing found"


def test_json_is_strict_and_complete() -> None:
    plain = json.loads(SOME.json())
    assert plain["found"] == 2
    assert [f["rank"] for f in plain["findings"]] == [1, 2]
    first = plain["findings"][0]
    assert first["numbers"] == {"value": "nan", "operands": [-1.0]}
    assert first["line"] == {"file": "nowhere.py", "line": 3, "function": "f", "source": ""}
    assert first["remedy"] == ["keep it above 0", "or else"]
    assert plain["notes"][0]["severity"] == "note"
    assert plain["looked"][0]["steps"] == 30
    assert plain["remarks"] == ["compiled functions ran eagerly"]
    assert "NaN" not in SOME.json()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags


def test_html_is_well_formed_and_says_it_all() -> None:
    for html in (SOME.html("my run"), SOME._repr_html_()):
        words = read(html).words
        for finding in SOME.findings:
            assert finding.what in words
            assert finding.severity in words
        for part in ("keep it above 0", "nowhere.py, line 3, in f", "2 rows of table", "ran eagerly", "likely"):
            assert part in words
    assert "nothing found" in read(Report().html()).words
    assert "my run" in read(SOME.html("my run")).words


def test_html_escapes_what_it_is_told() -> None:
    evil = "<script>alert(1)</script> & <b>"
    finding = Finding("birth", "error", evil, (evil,), Place(evil, 1, evil), evil, (evil,))
    report = Report((finding,), (finding,), (Looked(evil, 1, 1),), (evil,))
    tags = read(report.html(evil))
    assert "script" not in tags.seen
    assert "b" not in tags.seen
    assert tags.words.count(evil) >= 8
    assert "http" not in report.html().replace("http-equiv", "")


def test_the_page_forbids_everything_but_its_own_style() -> None:
    assert "default-src 'none'; style-src 'unsafe-inline'" in SOME.html()


# --- the ranking --------------------------------------------------------------------------------------------------


def record_with(*findings: Finding) -> ModelHistory:
    w = Value(1.0, label="w")
    history = ModelHistory(names_of([w]))
    history.exams.append(Exam(1, 1.0, 3, reached={id(w)}, findings=list(findings)))
    history.ever.add(id(w))
    return history


def test_errors_first_then_what_came_first_then_causes() -> None:
    found = [
        Finding("vanishing", "warning", "a", step=1),
        Finding("dead-relu", "error", "b", step=5),
        Finding("overshoot", "error", "c", step=2),
        Finding("exploding", "error", "d", step=2),
        Finding("saturated", "warning", "e", step=1),
        Finding("unread", "note", "f", step=1),
    ]
    report = report_on([record_with(*found)])
    assert [f.what for f in report] == ["d", "c", "b", "e", "a"]
    assert [f.what for f in report.notes] == ["f"]
    assert report[1].why == "; it may come of finding 1"
    assert report[2].why == "; it may come of finding 1"


def test_what_comes_after_a_nan_is_not_told() -> None:
    found = [Finding("birth", "error", "nan", step=4), Finding("dead-relu", "error", "late", step=9),
             Finding("saturated", "warning", "early", step=1)]  # fmt: skip
    assert [f.what for f in report_on([record_with(*found)])] == ["nan", "early"]


def test_every_kind_has_its_rank() -> None:
    assert len(set(CAUSES)) == len(CAUSES)
    import ast
    import pathlib

    folder = pathlib.Path(doctor.__file__ or "").parent
    kinds = {
        node.args[0].value
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert kinds == set(CAUSES)


def test_trials() -> None:
    assert TriedUpdate(1, 1.0, 2.0, -0.1).overshot
    assert TriedUpdate(1, 1.0, math.nan, -0.1).overshot
    assert not TriedUpdate(1, 1.0, 2.0, 0.1).overshot  # the gradient did not promise otherwise
    assert not TriedUpdate(1, 1.0, 1.0, -0.1).overshot
