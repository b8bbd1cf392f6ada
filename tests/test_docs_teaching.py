"""What docs/teaching.md promises a teacher: its commands run, its lesson builds, its links and exhibits are there."""

from __future__ import annotations

import csv
import importlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradwalk.diagnose import museum, teaching
from gradwalk.diagnose.sandbox import Limits
from gradwalk.learn.built_site import find_site
from gradwalk.learn.page.exercises import EXERCISES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GUIDE = (DOCS / "teaching.md").read_text(encoding="utf-8")
CLASS = {
    "ana.py": teaching.SOURCE,
    "ben.py": museum.find("overwriting").source(),
    "cleo/engine.py": museum.find("no-order").source(),
    "dan.py": "class Value:\n    def __init__(self, data):\n        import os; os._exit(7)\n",
    "eva.py": "this is no Python\n",
}


def blocks(kind: str, text: str = GUIDE) -> list[str]:
    fence = "````" if kind == "markdown" else "```"
    return re.findall(rf"^{fence}{kind}\n(.*?)^{fence}$", text, re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert all(line.startswith("$ gradwalk ") for line in lines)
    return [shlex.split(line.removeprefix("$ gradwalk ")) for line in lines]


def gradwalk_(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradwalk", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    for name, source in CLASS.items():
        (folder / "submissions" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "submissions" / name).write_text(source, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_class_is_graded_as_the_guide_says(classroom: Path) -> None:
    grading = [words for words in commands() if words[0] == "grade"]
    assert len(grading) == 3
    told = [gradwalk_(*words, cwd=classroom) for words in grading]
    assert [done.returncode for done in told] == [1, 1, 1], [done.stderr for done in told]
    with (classroom / "grades/grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"ana", "ben", "cleo", "dan", "eva"}
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert verdicts == {"ana": "right", "ben": "wrong", "cleo": "wrong", "dan": "not judged", "eva": "not judged"}
    assert "`=` where `+=` is needed" in rows["ben"]["bugs"]
    assert all(row["bugs"] or row["notes"] for name, row in rows.items() if name != "ana")
    for page in ("grades/index.html", "grades/ben.html", "ben.html"):
        assert "<!doctype html>" in (classroom / page).read_text(encoding="utf-8")
    hint, solution = (done.stdout for done in told[1:])
    assert "+=" in solution
    assert len(solution) > len(hint)


def test_the_limits_are_as_the_guide_says() -> None:
    limits = Limits()
    said = (limits.loading, limits.program, limits.total, limits.memory)
    assert said == (10, 4, 60, 2**30)
    assert "ten seconds to load, four for one program, a minute in all, one gigabyte of memory" in GUIDE


def test_the_course_is_exported_as_the_guide_says(tmp_path: Path) -> None:
    ((_, *arguments),) = [words for words in commands() if words[0] == "learn"]
    done = gradwalk_("learn", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for page in ("index.html", "es/index.html", "lessons/used-twice/index.html", ".nojekyll"):
        assert (tmp_path / "public" / page).is_file()
    size = sum(path.stat().st_size for path in (tmp_path / "public").rglob("*") if path.is_file())
    told = re.search(r"It is about (\d+) megabytes", GUIDE)
    assert told
    assert size / 1e6 == pytest.approx(float(told[1]), abs=1.5)


@pytest.mark.browser
def test_the_lesson_of_ten_lines_is_a_lesson(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "web"))
    try:
        build_site = importlib.import_module("build_site")
    finally:
        sys.path.remove(str(ROOT / "web"))
    (lesson,) = blocks("markdown")
    assert 8 <= len([line for line in lesson.splitlines() if line]) <= 10
    lessons = tmp_path / "lessons"
    shutil.copytree(ROOT / "web/lessons/en", lessons)
    (lessons / "90-the-price-of-a-mistake.md").write_text(lesson, encoding="utf-8")
    node = build_site.find_node()
    assert node, "no Node: make site fetches one"
    environment = {"PATH": str(node[0].parent), "PYTHON": sys.executable, "HOME": str(tmp_path)}
    command = [str(node[0]), "build.mjs", "--exported", "--lessons", str(lessons), "--out", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT / "web", env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site/lessons/the-price-of-a-mistake/index.html").read_text(encoding="utf-8")
    assert 'data-widget="stepper"' in page


@pytest.mark.parametrize("name", ["teaching.md", "translating.md", "answers.md"])
def test_every_link_leads_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`]*`", "", (DOCS / name).read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if target.startswith("https://"):
            continue
        found = (DOCS / path).resolve()
        assert found.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {anchor_of(heading) for heading in headings}, target


def anchor_of(heading: str) -> str:
    """The name that a heading has on a page of a code host."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_exhibits_of_the_guide_are_in_the_museum() -> None:
    named = re.findall(r"\[`([\w-]+)`\]\(museum\.md#([^)]+)\)", GUIDE)
    assert len(named) >= 10
    for name, anchor in named:
        assert anchor_of(museum.find(name).title) == anchor


def test_a_walk_is_saved_as_the_guide_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "teaching.md", "exec"), {})
    assert 0 < (tmp_path / "walk.html").stat().st_size <= 300 * 1024


# --- the answers -----------------------------------------------------------------------------------------------------


def answers() -> tuple[str, str]:
    """The file, and what it should be."""
    sys.path.insert(0, str(DOCS))
    try:
        make_answers = importlib.import_module("make_answers")
    finally:
        sys.path.remove(str(DOCS))
    made: str = make_answers.page()
    return (DOCS / "answers.md").read_text(encoding="utf-8"), made


def test_the_answers_are_those_of_the_lessons() -> None:
    written, made = answers()
    assert written == made, "run python docs/make_answers.py"


def test_every_question_and_every_exercise_has_its_answer() -> None:
    written, _ = answers()
    lessons = sorted((ROOT / "web/lessons/en").glob("*.md"))
    asked = sum(path.read_text(encoding="utf-8").count("```widget quiz\n") for path in lessons)
    assert len(re.findall(r"^\*\*\d+\.\*\* .+\n\n- (?:\*\*.+\*\*|a guess)", written, re.MULTILINE)) == asked >= 40
    for exercise in EXERCISES.values():
        assert f"### {exercise.title}\n" in written
        for tab in exercise.tabs.values():
            assert tab.solution.rstrip() in written
    assert "{{" not in written
    assert "]{grad}" not in written


def test_the_answers_are_what_the_page_holds() -> None:
    """Each answer of the built site stands in the file, under its lesson."""
    written, _ = answers()
    parts = dict(re.findall(r"^## \d+\. (.+)\n((?:(?!^## ).*\n?)*)", written, re.MULTILINE))
    for page in sorted((find_site() / "lessons").glob("*/index.html")):
        text = page.read_text(encoding="utf-8")
        title = re.search(r"<h1>(.+?)</h1>", text)
        assert title
        found = re.findall(r'"answer":"([^"]+)"', text)
        assert all(f"- **{answer}**. " in parts[title[1]] for answer in found), title[1]
