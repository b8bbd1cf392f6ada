"""`gradwalk doctor script.py`, as a person starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gradwalk import modes
from gradwalk.cli import main

pytestmark = pytest.mark.slow

MICROGRAD = """
import random, sys
from gradwalk.engine import Value
from gradwalk.nn import MLP

random.seed(7)
model = MLP(3, [4, 4, 1])
xs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
ys = [1.0, -1.0, -1.0, 1.0]
for k in range(20):
    ypred = [model(x) for x in xs]
    loss = sum((yout - ygt) ** 2 for ygt, yout in zip(ys, ypred))
    {zero}
    loss.backward()
    for p in model.parameters():
        p.data -= {rate} * p.grad
    print(k, loss.data)
"""


def doctor(*arguments: Any, folder: Path, check: int | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradwalk", "doctor", *map(str, arguments)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if check is not None:
        assert run.returncode == check, run.stdout + run.stderr
    return run


@dataclass
class Run:
    """A run in this process, which is quicker than one of its own."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: Any, check: int) -> Run:
        monkeypatch.chdir(tmp_path)
        before = sys.argv[:], sys.path[:], sys.modules["__main__"]
        code = main(["doctor", *map(str, arguments)])
        assert (sys.argv, sys.path, sys.modules["__main__"]) == before
        assert modes.top() is modes.bottom
        printed = capsys.readouterr()
        assert code == check, printed.out + printed.err
        return Run(code, printed.out, printed.err)

    return run


def write(folder: Path, text: str, name: str = "train.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def loop(zero: bool = True, rate: float = 0.01) -> str:
    clear = "for p in model.parameters(): p.grad = 0.0"
    return MICROGRAD.format(zero=clear if zero else "pass", rate=rate)


def test_a_micrograd_loop_without_zero_grad(tmp_path: Path) -> None:
    write(tmp_path, loop(zero=False))
    run = doctor("train.py", folder=tmp_path, check=1)
    script, report = run.stdout.split("\ndoctor: ")
    assert [line.split()[0] for line in script.splitlines()] == [str(k) for k in range(20)]
    assert report.startswith("1 error")
    assert "1  ERROR  forgotten zero_grad: gradients pile up from step to step" in report
    assert "train.py, line 14, in <module>:\n             loss.backward()" in report
    assert "looked at model: 41 parameters; 20 steps" in report
    assert run.stderr == ""
    assert "\x1b" not in run.stdout


def test_a_healthy_micrograd_loop(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, loop())
    run = at_once("train.py", check=0)
    assert "doctor: nothing found\nlooked at model: 41 parameters; 20 steps, 6 in full" in run.stdout


def test_a_rate_that_overshoots_by_hand(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, loop(rate=1.0))
    report = json.loads(at_once("--json", "train.py", check=1).stdout)
    first = report["findings"][0]
    assert first["kind"] == "overshoot"
    assert first["numbers"]["rate"] == 1.0  # seen from what the loop did
    assert 0.0 < first["numbers"]["suggested"] < 0.5


def test_json_on_stdout_and_the_script_on_stderr(tmp_path: Path) -> None:
    write(tmp_path, loop(zero=False))
    run = doctor("--json", "--every", "5", "train.py", folder=tmp_path, check=1)
    report = json.loads(run.stdout)
    assert report["found"] == 1
    assert report["findings"][0]["line"]["source"] == "loss.backward()"
    assert report["looked"][0]["examined"] == 7
    assert run.stderr.splitlines()[-1].startswith("19 ")


def test_html(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, loop(zero=False))
    at_once("--html", "out.html", "train.py", check=1)
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "forgotten zero_grad" in page
    assert "<title>gradwalk doctor: train.py</title>" in page


def test_arguments_folder_and_name_are_the_scripts_own(tmp_path: Path, at_once: Any) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", "WORD = 'beside'", "helper.py")
    text = (
        "import sys, helper\nprint(helper.WORD, sys.argv, __name__, __file__)\nif __name__ == '__main__': sys.exit(5)"
    )
    write(tmp_path / "sub", text)
    run = at_once("sub/train.py", "--json", "-x", "1", check=5)
    assert "beside ['sub/train.py', '--json', '-x', '1'] __main__ sub/train.py" in run.stdout
    assert "no backward() of a gradwalk Value was seen" in run.stdout


def test_classes_of_the_script_can_be_pickled(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)")
    assert "True" in at_once("train.py", check=0).stdout


CRASH = loop() + "\n    if k == 12:\n        raise ValueError('the script broke')\n"


def test_a_crash_is_shown_and_still_reported(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, CRASH)
    run = at_once("train.py", check=1)
    assert "ValueError: the script broke" in run.stderr
    assert run.stderr.count("File ") == 1  # the script's own frame, none of ours
    assert "doctor: nothing found" in run.stdout
    assert "13 steps" in run.stdout


NAN = """
from gradwalk import Value
w = Value(1.0, label="w")
for step in range(40):
    loss = (w - 0.5).log()
    if loss.data != loss.data:
        raise SystemExit("the loss is nan, I give up")
    w.grad = 0.0
    loss.backward()
    w.data -= 0.05 * w.grad
"""


def test_a_script_that_gives_up_on_nan_before_backward(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, NAN)
    run = at_once("train.py", check=1)
    assert "the loss is nan, I give up" in run.stderr
    assert "nan was born in log(" in run.stdout
    assert "loss = (w - 0.5).log()" in run.stdout


def test_a_syntax_error(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, "for in range(3):\n")
    run = at_once("train.py", check=1)
    assert "SyntaxError" in run.stderr
    assert "train.py" in run.stderr


ENDLESS = loop(zero=False).replace("range(20)", "range(10**9)").replace("print(k, loss.data)", "print(k, flush=True)")


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_ctrl_c_ends_the_script_and_not_the_report(tmp_path: Path) -> None:
    write(tmp_path, ENDLESS)
    command = [sys.executable, "-m", "gradwalk", "doctor", "train.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "30":
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "the script was stopped by Ctrl-C" in errors
    assert "forgotten zero_grad" in output


WRONG = [
    (["no.py"], "there is no script no.py"),
    (["."], ". is a folder; name the Python file to run"),
    (["--html", "no/such/x.html", "train.py"], "--html: cannot write no/such/x.html: there is no folder no/such"),
    (["--html", "train.py", "train.py"], "--html names the script itself"),
    (["--every", "0", "train.py"], "'0' is too small: it is a whole number from 1 up"),
    ([], "the following arguments are required: SCRIPT"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_what_is_wrong_with_the_command(arguments: list[str], message: str, tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, "print('ran')")
    run = at_once(*arguments, check=2)
    assert message in run.stderr
    assert "ran" not in run.stdout


def test_other_ways_to_end(tmp_path: Path, at_once: Any) -> None:
    for text, code, words in (
        ("raise KeyboardInterrupt", 130, "the script was stopped by Ctrl-C"),
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit('out of coffee')", 1, "out of coffee"),
        ("import sys; sys.exit(7)", 7, ""),
    ):
        write(tmp_path, text)
        assert words in at_once("train.py", check=code).stderr


def test_a_page_that_cannot_be_written_after_all(tmp_path: Path, at_once: Any) -> None:
    write(tmp_path, "import pathlib; pathlib.Path('out.html').mkdir()")
    run = at_once("--html", "out.html", "train.py", check=1)
    assert "--html: cannot write out.html" in run.stderr


def test_a_script_that_watches_itself(tmp_path: Path, at_once: Any) -> None:
    head, body = loop(zero=False).split("for k in")
    text = f"import gradwalk\n{head}visit = gradwalk.doctor.watch(model)\nvisit.start()\nfor k in{body}"
    text += "\nvisit.stop()\nprint('mine:', visit.report()[0].kind)\n"
    write(tmp_path, text)
    run = at_once("train.py", check=1)
    assert "mine: no-zero-grad" in run.stdout
    assert "1  ERROR  forgotten zero_grad" in run.stdout
