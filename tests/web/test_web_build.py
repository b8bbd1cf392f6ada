"""Building the course as a teacher does: a lesson is a Markdown file; what is wrong with it is said with its line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import build_site
import course_dev
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXPORTED = "--exported"  # where the lessons alone are at stake, what `make site` has exported will do
GUIDE = (ROOT / "docs/lessons.md").read_text(encoding="utf-8")


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    folder = tmp_path / "lessons"
    shutil.copytree(ROOT / "web/lessons/en", folder)
    return folder


def build(lessons: Path, *options: str) -> subprocess.CompletedProcess[str]:
    found = build_site.find_node()
    assert found, "no Node: make site fetches one"
    environment = {"PATH": str(found[0].parent), "PYTHON": sys.executable, "HOME": str(lessons.parent)}
    command = [str(found[0]), "build.mjs", "--lessons", str(lessons), "--out", str(lessons.parent / "site"), *options]
    return subprocess.run(command, cwd=ROOT / "web", env=environment, capture_output=True, text=True, timeout=300)


def example() -> str:
    """The whole lesson that the guide for teachers shows."""
    begin = GUIDE.index("````markdown\n") + len("````markdown\n")
    return GUIDE[begin : GUIDE.index("\n````", begin)] + "\n"


def test_the_guides_example_is_a_lesson(lessons: Path) -> None:
    (lessons / "20-a-lesson-of-your-own.md").write_text(example(), encoding="utf-8")
    done = build(lessons)
    assert done.returncode == 0, done.stderr
    site = lessons.parent / "site"
    page = (site / "lessons/a-lesson-of-your-own/index.html").read_text(encoding="utf-8")
    assert page.count('data-widget="') >= 2
    assert "<math" in page
    for other in (site / "index.html", site / "lessons/used-twice/index.html"):
        assert "lessons/a-lesson-of-your-own/" in other.read_text(encoding="utf-8")


HEAD = "---\ntitle: T\nlead: L\nminutes: 5\n---\n\n"


#: A lesson, the line at which something is wrong with it, and what is said.
WRONG = [
    ("no front matter", ":1", "begins with a line ---"),
    (HEAD.replace("minutes: 5\n", ""), ":1", '"minutes" is missing'),
    (HEAD.replace("minutes: 5", "minutes: five"), ":1", '"minutes" must be a whole number'),
    (HEAD.replace("title: T", "titel: T"), ":2", 'found "titel: T"'),
    (HEAD + "```widget stepr\n```\n", ":7", 'there is no widget "stepr"'),
    (HEAD + "x\n\n```widget stepper\npreset: nothing\n```\n", ":10", '"preset" cannot be "nothing"; choose from: '),
    (HEAD + "x\n\n```widget stepper\npresset: diamond\n```\n", ":10", 'there is no "presset" here'),
    (HEAD + "[x](lesson:nowhere)\n", ":7", 'there is no lesson "nowhere"'),
    (HEAD + "[x](../other.html)\n", ":7", "leads nowhere"),
    (HEAD + "a\n\n$\\frac{1$\n", ":9", "the formula"),
    (HEAD + "::: wonder\nx\n:::\n", ":7", 'no box "wonder"'),
    (HEAD + "{{ 1 + 1 }}\n", ":7", "no checked number"),
    (HEAD + "## Same\n\n## Same\n", "", 'the name "same" is there twice'),
]  # fmt: skip
NAMES = ["mine.md", "3-mine.md", "60-Mine.md", "05-another-fifth.md", "61-used-twice.md"]


def test_all_that_is_wrong_is_said_at_once_with_file_and_line(lessons: Path) -> None:
    for number, (text, _, _) in enumerate(WRONG, start=20):
        (lessons / f"{number}-wrong-{number}.md").write_text(text, encoding="utf-8")
    for name in NAMES:
        (lessons / name).write_text(HEAD, encoding="utf-8")
    done = build(lessons, EXPORTED)
    told = done.stderr.splitlines()
    assert done.returncode == 1
    for number, (_, place, said) in enumerate(WRONG, start=20):
        assert [line for line in told if f"{number}-wrong-{number}.md{place}: " in line and said in line], (place, said)
    for name in NAMES:
        assert [line for line in told if f"/{name}" in line], name
    assert "    at " not in done.stderr  # no stack trace: it is the author's slip, not ours
    assert not (lessons.parent / "site").exists()


#: A change to each Spanish lesson after which it says something else than the English one, and what is said about it.
UNFAITHFUL = {
    "01": ("id: flat", "id: plano", "quiz flat"),
    "02": ("nodes(a_plus_a) -> 2 }}", "nodes(a_plus_a) -> 3 }}", "checked number"),
    "03": ("## Para qué sirve\n", "", "part "),
    "04": ("preset: neuron\n", "preset: diamond\n", '"preset":"neuron"'),
    "05": ("```widget stepper\npreset: a-plus-a\n```\n", "", "stepper"),
    "06": ("print(d.data, a.grad)", "print(d.data)", "code block 1"),
}


def test_a_translation_that_says_something_else_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "lessons"
    shutil.copytree(ROOT / "web/lessons", folder)
    changed = {number: next((folder / "es").glob(f"{number}-*.md")) for number in UNFAITHFUL}
    for number, (old, new, _) in UNFAITHFUL.items():
        text = changed[number].read_text(encoding="utf-8")
        assert old in text
        changed[number].write_text(text.replace(old, new, 1), encoding="utf-8")
    done = build(folder, EXPORTED)
    assert done.returncode == 1
    for number, (_, _, said) in UNFAITHFUL.items():
        told = [line for line in done.stderr.splitlines() if changed[number].name in line]
        assert [line for line in told if said in line], (number, told)


def test_a_translation_has_an_original_and_no_gaps(tmp_path: Path) -> None:
    folder = tmp_path / "lessons"
    shutil.copytree(ROOT / "web/lessons", folder)
    (third,) = (folder / "es").glob("03-*.md")
    third.rename(folder / "es" / "70-sin-original.md")
    done = build(folder, EXPORTED)
    assert done.returncode == 1
    assert "70-sin-original.md: is a translation of nothing: there is no lesson 70 in en" in done.stderr
    assert "lesson 3 is missing, though lesson" in done.stderr


def test_a_language_without_its_words_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "lessons"
    shutil.copytree(ROOT / "web/lessons", folder)
    shutil.copytree(folder / "es", folder / "xx")
    done = build(folder, EXPORTED)
    assert done.returncode == 1
    for name in (path.stem for path in (ROOT / "web/src/strings/en").glob("*.ts")):
        assert f"strings/xx/{name}.ts: is missing" in done.stderr.replace("\\", "/")


def test_the_sites_freshness_follows_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("web/lessons/en/01-a.md", "src/gradwalk/engine.py", "src/gradwalk/learn/site/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    site = tmp_path / "src/gradwalk/learn/site"
    monkeypatch.setattr(build_site, "ROOT", tmp_path)
    monkeypatch.setattr(build_site, "SITE", site)
    monkeypatch.setattr(build_site, "BUNDLES", tmp_path)
    (tmp_path / "walk.js").touch()
    sources = {tmp_path / "web": ("lessons/**/*",), tmp_path / "src/gradwalk": ("**/*.py",)}
    monkeypatch.setattr(build_site, "SOURCES", sources)
    assert not build_site.is_fresh()
    (site / build_site.MARK).write_text(build_site.fingerprint())
    assert build_site.is_fresh()
    (tmp_path / "web/lessons/en/01-a.md").write_bytes(b"y\r\n")
    changed = build_site.fingerprint()
    assert not build_site.is_fresh()
    (tmp_path / "web/lessons/en/01-a.md").write_bytes(b"y\n")
    assert build_site.fingerprint() == changed  # line ends do not count
    (tmp_path / "web/lessons/en/02-b.md").write_text("new")
    assert build_site.fingerprint() != changed


def test_without_node_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_site, "find_node", lambda: None)
    with pytest.raises(build_site.CannotBuild, match="pip install"):
        build_site.npm("run", "build")


def test_whoever_writes_a_lesson_sees_it_reload_and_hears_of_wrong_numbers(lessons: Path) -> None:
    lesson = lessons / "05-used-twice.md"
    before = course_dev.saved()
    assert before
    assert course_dev.changes(before, {**before, lesson: 1}) == {lesson}
    assert list(course_dev.wrong_numbers(lesson)) == []
    text = lesson.read_text(encoding="utf-8")
    line = text.splitlines().index(next(line for line in text.splitlines() if "-> 2 }}" in line)) + 1
    lesson.write_text(text.replace("-> 2 }}", "-> 3 }}", 1), encoding="utf-8")
    told = list(course_dev.wrong_numbers(lesson))
    assert len(told) == 1
    assert told[0].startswith(f"05-used-twice.md:{line}: ")
    assert told[0].endswith("and the lesson shows 3")
    assert build(lessons, EXPORTED, "--dev").returncode == 0
    page = (lessons.parent / "site/lessons/used-twice/index.html").read_text(encoding="utf-8")
    assert "assets/reload-" in page
    assert (lessons.parent / "site/built.json").is_file()
