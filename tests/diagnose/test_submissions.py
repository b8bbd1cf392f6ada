"""A class graded: which files are found, what is written, and that one bad submission harms no other."""

from __future__ import annotations

import csv
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gradwalk.cli import main
from gradwalk.diagnose import grade, teaching
from gradwalk.diagnose.as_html import report_page
from gradwalk.diagnose.gradebook import Gradebook, as_csv
from gradwalk.diagnose.marks import standing
from gradwalk.diagnose.sandbox import Judged
from gradwalk.diagnose.submissions import Submission, find, grade_all
from gradwalk.errors import SettingError

pytestmark = pytest.mark.slow

OVERWRITES = teaching.SOURCE.replace("other.grad += x * out.grad", "other.grad = x * out.grad", 1)


class Balanced(HTMLParser):
    """Fails on a tag that is closed out of turn; keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.stack.append(tag)
        assert tag != "script"

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def text_of(page: str) -> str:
    reader = Balanced()
    reader.feed(page)
    assert reader.stack == []
    return re.sub(r"\s+", " ", "".join(reader.words))


def test_one_engine_a_file_and_one_a_folder(tmp_path: Path) -> None:
    for name, text in {
        "ada.py": teaching.SOURCE,
        "grace/engine.py": teaching.SOURCE,
        "grace/test_engine.py": "class Value:\n    def backward(self): ...\n",
        "grace/.venv/lib/value.py": teaching.SOURCE,
        "linus/notes.txt": "nothing to see",
        "alan/homework.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": teaching.SOURCE}]}),
        "__pycache__/x.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = [(one.name, str(one.path.relative_to(tmp_path)), bool(one.reason)) for one in find(tmp_path)]
    assert found == [
        ("ada", "ada.py", False),
        ("alan", "alan/homework.ipynb", False),
        ("grace", "grace/engine.py", False),
        ("linus", "linus", True),
    ]


def test_an_empty_folder_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="nothing to judge"):
        find(tmp_path)


def test_the_table_is_safe_and_whole() -> None:
    bad = grade(OVERWRITES, checks=["reuse"])
    rows = list(csv.DictReader(as_csv([(Submission("=cmd()", Path("a.py")), bad)]).splitlines()))
    assert rows[0]["name"] == "'=cmd()"
    assert (int(rows[0]["mark"]), int(rows[0]["of"])) == (bad.essentials.score, standing(bad).mark.total)
    assert int(rows[0]["wrong"]) == bad.essentials.total - bad.essentials.score > 0
    assert rows[0]["verdict"] == "wrong"
    assert "overwrites" in rows[0]["bugs"]


def test_a_page_shows_what_was_got_and_what_is_right_and_runs_nothing() -> None:
    report = grade(OVERWRITES, checks=["reuse"])
    page = report_page(report, "<b>engine</b>.py", solution=True)
    words = text_of(page)
    assert "<b>engine</b>.py" in words
    assert f"{report.score} of {report.total}" in words
    assert f"essentials {report.essentials}" in words
    failed = next(check for check in report.checks if check.status == "failed")
    assert failed.title in words
    assert report.diagnoses[0].sentence.replace("`", "") in words
    assert report.diagnoses[0].solution in words
    assert report.diagnoses[0].solution not in text_of(report_page(report, "engine.py"))


def test_results_are_written_under_names_that_do_not_clash(tmp_path: Path) -> None:
    report = grade(teaching.SOURCE, checks=["a-plus-a"])
    names = ["Ada Lovelace", "ada/lovelace", "index", "Größe"]
    people = [Submission(name, Path("x.py")) for name in names]
    book = Gradebook(tmp_path, "homework", people)
    for person in people:
        book.add(person, Judged(report))
    overview = book.write()
    links = re.findall(r'href="([^"]+)"', overview.read_text(encoding="utf-8"))
    assert len(set(links)) == 4
    assert all((tmp_path / link).exists() for link in links)
    assert f"1 of {standing(report).mark.total}" in text_of(overview.read_text(encoding="utf-8"))
    assert "homework" in text_of(overview.read_text(encoding="utf-8"))


def test_a_folder_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "submissions"
    folder.mkdir()
    (folder / "right.py").write_text(teaching.SOURCE, encoding="utf-8")
    (folder / "wrong.py").write_text(OVERWRITES, encoding="utf-8")
    (folder / "broken.py").write_text("class Value(:", encoding="utf-8")
    assert main(["grade", str(folder), "--out", str(tmp_path / "out"), "--jobs", "2"]) == 1
    out = capsys.readouterr().out
    assert "3 engines: 1 right, 1 wrong, 1 not judged" in out
    with (tmp_path / "out" / "grades.csv").open(encoding="utf-8-sig") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert rows["right"]["percent"] == "100"
    assert rows["right"]["bugs"] == ""
    assert re.search(r"`__mul__` overwrites.*line \d+ has `=`", rows["wrong"]["bugs"])
    assert "line 1 is no Python" in rows["broken"]["notes"]
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"index.html", "right.html", "wrong.html"}


def test_one_engine_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "engine.py", tmp_path / "report.html"
    path.write_text(OVERWRITES, encoding="utf-8")
    assert main(["grade", str(path), "--html", str(page)]) == 1
    out = capsys.readouterr().out
    assert "overwrites" in out
    assert str(page) in out
    assert "overwrites" in text_of(page.read_text(encoding="utf-8"))
    assert "there is no class" not in out
    assert main(["grade", str(path), "--class", "Scalar"]) == 1
    assert "there is no class Scalar here: Value was judged instead" in " ".join(capsys.readouterr().out.split())
    path.write_text(teaching.SOURCE, encoding="utf-8")
    assert main(["grade", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is True
    assert report["score"] == report["total"] > 40


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.py"], "there is no missing.py"),
        (["notes.txt"], "neither Python"),
        ([".", "--html", "x.html"], "--html is for one engine"),
        (["engine.py", "--out", "x"], "--out is for a folder"),
        (["engine.py", "--html", "no/such/folder/x.html"], "no/such/folder"),
    ],
)
def test_what_cannot_be_judged_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("x")
    Path("engine.py").write_text("x = 1")
    assert main(["grade", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_class_that_is_broken_off_keeps_what_was_done(tmp_path: Path) -> None:
    report = grade(teaching.SOURCE, checks=["a-plus-a"])
    people = [Submission(f"p{i}", Path(f"p{i}.py")) for i in range(20)]
    results = grade_all(people, lambda submission, stop: Judged(report), jobs=1)
    first = next(results)
    results.close()
    assert first[1].grade is report


def test_a_second_run_takes_over_what_is_judged_and_judges_what_is_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "submissions", tmp_path / "submissions" / "results"
    (folder / "ben").mkdir(parents=True)
    (folder / "ada.py").write_text("x = 1", encoding="utf-8")
    (folder / "ben" / "engine.py").write_text("class Value(:", encoding="utf-8")
    command = ["grade", str(folder), "--out", str(out)]
    assert main(command) == 2  # nothing could be judged
    assert "earlier run" not in capsys.readouterr().out
    (folder / "ben" / "helper.py").write_text("x = 1", encoding="utf-8")
    assert main(command) == 2
    assert "1 of 2 were judged by an earlier run" in capsys.readouterr().out
    with (out / ".judged.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": "cut o')  # as a run leaves it that was cut off
    assert main(command) == 2
    assert "2 of 2 were judged by an earlier run" in capsys.readouterr().out
    assert main([*command, "--fresh", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["verdict"]) for one in told] == [("ada", "not judged"), ("ben", "not judged")]
    assert main([*command, "--class", "Scalar", "--json"]) == 2
    assert "earlier run" not in capsys.readouterr().err


def test_where_nothing_can_be_written_is_said_before_judging(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ada.py").write_text("while True: pass", encoding="utf-8")
    for out in (tmp_path / "ada.py" / "grades", tmp_path / "ada.py"):
        assert main(["grade", str(tmp_path), "--out", str(out)]) == 2
        assert "cannot write" in capsys.readouterr().err


def test_the_help_says_what_the_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", "--help"]) == 0
    told = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "0 everything could be judged, and no essential check failed 1 something essential is wrong" in told
    assert "2 nothing could be judged, or the command line is wrong" in told


def test_folders_that_are_too_deep_or_too_full_have_a_row(tmp_path: Path) -> None:
    deep = tmp_path / "deep"
    for _ in range(300):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "engine.py").write_text(teaching.SOURCE, encoding="utf-8")
    (tmp_path / "full").mkdir()
    for i in range(50):
        (tmp_path / "full" / f"{i}.txt").write_text("", encoding="utf-8")
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "again").symlink_to(tmp_path / "loop")
    (tmp_path / "right.py").write_text(teaching.SOURCE, encoding="utf-8")
    assert [(one.name, bool(one.reason)) for one in find(tmp_path)] == [
        ("deep", True), ("full", True), ("loop", True), ("right", False),
    ]  # fmt: skip


def test_no_text_keeps_the_search_busy(tmp_path: Path) -> None:
    texts = {
        "quotes": "x = " + "'\\" * 90_000,
        "newlines": "\n" * 1_900_000,
        "minus": "-" * 200_000,
        "spaces": " " * 10**6,
    }
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "engine.py").write_text(text, encoding="utf-8")
    begun = time.monotonic()
    found = find(tmp_path)
    Gradebook(tmp_path / "out", "homework", found)
    assert time.monotonic() - begun < 20
    assert [one.name for one in found] == sorted(texts)
