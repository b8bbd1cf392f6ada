"""Engines judged in Pyodide inside Deno: the same words as without, and nothing of this machine within reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gradwalk.cli import main
from gradwalk.cli.grade import _in_deno
from gradwalk.diagnose import deno, museum, teaching
from gradwalk.diagnose.sandbox import Judged, Limits, Start, judge_file
from gradwalk.errors import MissingExtraError

pytestmark = pytest.mark.slow

Judge = Callable[..., Judged]
CHECKS = ("a-plus-a", "a-times-a")
LIMITS = Limits(loading=40.0, program=8.0, total=100.0)


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with _in_deno() as started:
        yield started


@pytest.fixture
def judge(tmp_path: Path, start: Start) -> Judge:
    def judged(text: str, checks: tuple[str, ...] = CHECKS, limits: Limits = LIMITS, apart: bool = True) -> Judged:
        path = tmp_path / "engine.py"
        path.write_text(text, encoding="utf-8")
        more = {"start": start} if apart else {}
        return judge_file(path, checks=checks, limits=limits, alone=True, **more)  # type: ignore[arg-type]

    return judged


def product_that(does: str) -> str:
    changed = f"_mul = Value.__mul__\ndef bad(self, other):\n    {does}\n    return _mul(self, other)\n"
    return f"{teaching.SOURCE}\n\n{changed}Value.__mul__ = bad\n"


def product(judged: Judged) -> str:
    checks = {check.name: check for check in judged.grade.checks}
    assert checks["a-plus-a"].status == "passed", judged
    assert checks["a-times-a"].status == "error", judged
    return checks["a-times-a"].message


@pytest.mark.parametrize("name", ["overwriting"])
def test_the_same_is_said_as_without(judge: Judge, name: str) -> None:
    source = museum.find(name).source()
    inside, outside = (judge(source, checks=("reuse", "rdiv"), apart=apart) for apart in (True, False))
    assert inside.confined == ("pyodide",)
    assert not inside.grade.passed
    assert inside.grade.to_dict() == outside.grade.to_dict()


#: What must not succeed, in Python and in the JavaScript around it.
ATTEMPTS = {
    "file": "js.Deno.readTextFileSync(SECRET)",
    "file-node": "js.process.getBuiltinModule('fs').readFileSync(SECRET)",
    "file-python": "open(SECRET).read()",
    "folder": "list(js.Deno.readDirSync('/'))",
    "write": "js.Deno.writeTextFileSync(SECRET, 'x')",
    "remove": "js.Deno.removeSync(SECRET)",
    "link": "js.Deno.symlinkSync(SECRET, 'x')",
    "temporary": "js.Deno.makeTempFileSync()",
    "environment": "js.Deno.env.toObject()",
    "environment-node": "js.process.env.HOME.length",
    "run": "js.Deno.Command.new('/bin/true').outputSync()",
    "run-node": "js.process.getBuiltinModule('child_process').execSync('/bin/true')",
    "kill": "js.Deno.kill(js.Deno.ppid, 'SIGCONT')",
    "network": "js.Deno.listen(js.JSON.parse('{\"port\": 0}'))",
    "library": "js.Deno.dlopen('libc.so.6', js.Object.new())",
    "host": "js.Deno.hostname()",
    "user": "js.Deno.uid() + 1",
    "machine": "js.Deno.systemMemoryInfo()",
    "fork": "import os; os.fork()",
    "process": "import subprocess; subprocess.run(['/bin/true'])",
    "socket": "import socket; s = socket.create_connection(('127.0.0.1', 9)); s.send(b'x')",
    "truth": "import gradwalk; gradwalk.Value",
    "grow": "bytearray(2_000_000_000)",
}


def test_nothing_is_within_reach(judge: Judge, tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("PRIVATE KEY")
    tried = f"""
import js
SECRET = {str(secret)!r}
def reached():
    for name, text in {ATTEMPTS!r}.items():
        try:
            exec(text, globals())
            yield name
        except BaseException:
            pass
"""
    judged = judge(product_that("raise ValueError('reached: ' + ' '.join(reached()) + '.')") + tried)
    told = re.search(r"reached: (.*)\.", product(judged))
    assert told
    assert told[1] in ("", "truth"), (
        judged
    )  # the process that names bugs has gradwalk in it; the one for numbers has not
    assert secret.read_text() == "PRIVATE KEY"
    assert str(tmp_path) not in str(judged)


ENDED = {
    "while True: pass": ("it did not end within", 3.0),
    "x = []\n    while True: x.append(bytearray(10**8))": ("MemoryError", 40.0),  # a busy machine takes a while for it
}


@pytest.mark.parametrize("body", ENDED)
def test_what_does_not_end_by_itself_is_ended(judge: Judge, body: str) -> None:
    words, seconds = ENDED[body]
    limits = Limits(loading=40.0, program=seconds, total=100.0, crashes=2)
    assert words in product(judge(product_that(body), limits=limits))


def test_no_wrong_engine_puts_the_right_answers_in(judge: Judge) -> None:
    lies = """
from gradwalk import Value as Truth
from gradwalk.diagnose import adapter, examination, probes
def lie(program, engine, steps=None, run=probes.run, right=adapter.Engine(Truth)):
    return run(program, right, steps)
examination.run = lie
"""
    judged = judge(museum.find("overwriting").source() + lies)
    assert not judged.grade.passed
    assert "wrong in another, where no right answers are within reach" in judged.grade.notes[-1]


def test_without_deno_the_command_that_brings_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtraError, match=r'pip install "gradwalk\[sandbox\]"'):
        deno.deno_program()
    (tmp_path / "engine.py").write_text(teaching.SOURCE, encoding="utf-8")
    assert main(["grade", str(tmp_path / "engine.py"), "--sandbox"]) == 2
    assert "gradwalk[sandbox]" in capsys.readouterr().err
