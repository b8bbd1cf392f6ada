"""Submissions that crash, hang, leave, flood or fork: each costs the check that it spoils, and no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gradwalk.diagnose import teaching
from gradwalk.diagnose.results import CheckResult, Grade
from gradwalk.diagnose.sandbox import Limits, grade_file

pytestmark = pytest.mark.slow

PATIENT = Limits(loading=60.0, program=60.0, total=200.0)  # a busy machine is no failure
ENDLESS = "while True: pass", "time.sleep(60)"
#: For what never ends by itself: it is not waited for often, and a right program still has seconds for milliseconds.
BRIEF = Limits(loading=3.0, program=2.0, crashes=2)
CHECKS = ("a-plus-a", "a-times-a")

Judge = Callable[[str], Grade]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    def judged(text: str) -> Grade:
        path = tmp_path / "engine.py"
        path.write_text(text, encoding="utf-8")
        limits = BRIEF if any(words in text for words in ENDLESS) else PATIENT
        return grade_file(path, checks=CHECKS, limits=limits)

    return judged


@pytest.fixture(autouse=True)
def _no_process_stays() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before  # others may be there: a browser, for one


def children() -> set[str]:
    """The processes that this one has started, those among them that nobody has waited for."""
    return {pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split()}


def bad_product(body: str) -> str:
    """A right engine whose `*` does something else first."""
    return (
        f"{teaching.SOURCE}\n\n_mul = Value.__mul__\ndef bad(self, other):\n    {body}\n    return _mul(self, other)\n"
        "Value.__mul__ = bad\n"
    )


def product(report: Grade) -> CheckResult:
    """What came of a·a, once a + a is known to be right."""
    checks = {check.name: check for check in report.checks}
    assert checks["a-plus-a"].status == "passed", report
    return checks["a-times-a"]


CRASHES = {
    "while True: pass": "it did not end within",
    "import os; os._exit(7)": "the process ended with code 7",
    "import ctypes; ctypes.string_at(0)": "the process was ended by SIGSEGV",
    "import time; time.sleep(60)": "it did not end within",
    "import signal; signal.raise_signal(signal.SIGKILL)": "the process was ended by SIGKILL",
}


@pytest.mark.parametrize("body", CRASHES)
def test_what_ends_or_hangs_the_process_costs_that_check_alone(judge: Judge, body: str) -> None:
    result = product(judge(bad_product(body)))
    assert result.status == "error"
    assert CRASHES[body] in result.message


REFUSED = {
    "import os; os.fork()": "start another process",
    "import subprocess; subprocess.run(['true'])": "start another process",
    "import multiprocessing as m; m.get_context('fork').Process(target=print).start()": "start another process",
    "import os; os.kill(os.getppid(), 9)": "send signals",
    "import os; os.system('true')": "start another process",
    "import socket; socket.create_connection(('127.0.0.1', 9))": "use the network",
    "open('/tmp/../tmp/x-gradwalk-test', 'w')": "write files",
    "import os; os.remove('/nowhere/x')": "change files",
    "import shutil; shutil.rmtree('/nowhere')": "change files",
    "import sys; sys.exit('bye')": "bye",
    "input('number? ')": "nobody to ask|EOF",
    "raise KeyError(self)": "",
    "x = []\n    while True: x.append(bytes(10**7))": "",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_an_engine_may_not_do_is_an_error_in_its_own_code(judge: Judge, body: str) -> None:
    result = product(judge(bad_product(body)))
    assert result.status == "error"
    assert any(words in result.message for words in REFUSED[body].split("|")), result


def test_a_flood_of_prints_is_let_go(judge: Judge) -> None:
    body = "import sys, os; sys.stdout.write('x' * 10**7); sys.stderr.write('y' * 10**7); os.write(1, b'z' * 10**6)"
    assert product(judge(bad_product(body))).status == "passed"


def test_prints_cannot_pose_as_answers(judge: Judge) -> None:
    lie = '{"outcome": {"kind": "numbers", "numbers": {"b.data": 1.0, "a.grad": 1.0}}}'
    body = f"import os; print({lie!r}, flush=True); os.write(1, {lie!r}.encode() + b'\\n')"
    assert product(judge(bad_product(body))).got["a.grad"] == 6.0


LOADING = {
    "while True: pass": "running the whole file did not work (it did not end within",
    "import os; os._exit(1)": "running the whole file did not work (the process ended with code 1)",
    "raise SystemExit": "stopped the file (SystemExit: )",
    "1 / 0": "stopped the file (ZeroDivisionError: division by zero)",
    "x = input()": "nobody to ask",
    "import os\nwhile True: os.fork()": "may not start another process",
}


@pytest.mark.parametrize("statement", LOADING)
def test_a_file_that_cannot_be_run_to_its_end_is_judged_by_its_definitions(judge: Judge, statement: str) -> None:
    report = judge(f"{teaching.SOURCE}\n\n{statement}\n")
    assert LOADING[statement] in report.notes[0]
    assert report.passed


HOPELESS = {
    "class Value:\n    def __add__(self other): ...": "line 2 is no Python: ",
    "x = 1": "there is no class Value here",
    "class Value:\n    import os; os._exit(0)": "the file cannot be loaded: the process ended with code 0",
    "class Value:\n    def __init__(self, data):\n        while True: pass": (
        "the file cannot be loaded: it did not end within"
    ),
}


@pytest.mark.parametrize("text", HOPELESS)
def test_a_file_without_an_engine_is_refused_with_the_reason(judge: Judge, text: str) -> None:
    report = judge(text)
    assert not report.passed
    assert [check.name for check in report.checks] == ["loads"]
    assert HOPELESS[text] in report.checks[0].message


def test_after_many_crashes_no_more_processes_are_started(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(bad_product("import os; os._exit(1)"), encoding="utf-8")
    report = grade_file(path, limits=Limits(crashes=2))
    why = "it was given up after 2 crashes, the last one: the process ended with code 1"
    assert {check.message for check in report.checks if check.status == "skipped"} == {why}
    assert {check.name for check in report.checks if check.status == "passed"} >= {"float", "add"}


def test_the_time_for_all_programs_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(bad_product("import time; time.sleep(0.3)"), encoding="utf-8")
    report = grade_file(path, limits=Limits(total=2.0, program=1.0))
    assert not report.passed


def test_neighbours_and_packages_can_be_imported(tmp_path: Path) -> None:
    package = tmp_path / "mygrad"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "numbers.py").write_text("ZERO = 0.0\n")
    (package / "engine.py").write_text(f"from .numbers import ZERO\n{teaching.SOURCE}")
    assert grade_file(package / "engine.py", checks=CHECKS, limits=PATIENT).passed


def test_packages_that_are_not_installed_get_a_stand_in(judge: Judge) -> None:
    imports = "import graphwhiz as g\nfrom graphwhiz.plots import show"
    report = judge(f"{imports}\n{teaching.SOURCE}\ng.plot(show(1)).save()\n")
    assert report.passed
    assert report.notes == ("graphwhiz is not installed here: an empty stand-in took its place",)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(teaching.SOURCE + "\nopen('left-over.txt', 'w').write('x')\n", encoding="utf-8")
    assert grade_file(path, checks=CHECKS, limits=PATIENT).passed
    assert list(tmp_path.iterdir()) == [path]
    assert not Path("left-over.txt").exists()


def test_a_whole_hostile_file_ends_with_a_report(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(bad_product("assert not hasattr(other, 'data')"), encoding="utf-8")
    report = grade_file(path, limits=PATIENT)
    assert not report.passed
    assert any(check.name == "a-plus-a" and check.status == "passed" for check in report.checks)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        z = logarithm(x)\n", "        x = x + 1e-7\n        z = logarithm(x)\n"),
        (
            "        self.data = ",
            "        import struct\n        data = struct.unpack('f', struct.pack('f', data))[0]\n        self.data = ",
        ),
        ("        self.grad = 0.0\n", "        import numpy\n        self.grad = numpy.float32(0.0)\n"),
    ],
)
def test_a_small_guard_and_single_precision_are_no_mistake_where_answers_are_out_of_reach(
    tmp_path: Path, old: str, new: str
) -> None:
    assert old in teaching.SOURCE
    path = tmp_path / "engine.py"
    path.write_text(teaching.SOURCE.replace(old, new, 1), encoding="utf-8")
    report = grade_file(path)
    assert report.essentials.score == report.essentials.total
    assert not [note for note in report.notes if "within reach" in note]
