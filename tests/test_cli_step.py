"""`gradwalk step` from the command line: pipes, files, mistakes, and a real terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from terminals import run_on_a_terminal

from gradwalk.cli import main
from gradwalk.presets import PRESETS
from gradwalk.walk import Recording, readable

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- the transcript --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_piped_it_prints_every_step_and_a_table(name: str, capsys: Captured) -> None:
    assert main(["step", name]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0] == PRESETS[name].title
    assert max(map(len, lines)) <= 80
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", printed.out)
    steps = [int(found[1]) for line in lines if (found := re.match(r" +(\d+)  \S", line)) and len(found[0]) <= 8]
    assert steps == list(range(1, len(steps) + 1))
    sections = [line for line in lines if line in ("Forward", "Seed", "Backward", "At the end")]
    assert sections == ["Forward", "Seed", "Backward", "At the end"]
    table = {row.split()[0]: row.split()[-2:] for row in lines[lines.index("At the end") + 2 :]}
    for node, gradient in PRESETS[name].gradients.items():
        assert table[node][1] == readable(gradient)
    for node, value in PRESETS[name].values.items():
        assert table[node][0] == readable(value)


def test_the_transcript_of_the_diamond_tells_the_sum(capsys: Captured) -> None:
    assert main(["step", "diamond", "--plain"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "11 a.grad += b.grad × ∂b/∂a = 6 × 1 = 6" in out
    assert "Before it had 9; now a.grad = 9 + 6 = 15." in out


def test_an_expression_with_its_inputs(capsys: Captured) -> None:
    assert main(["step", "(a+b)*c", "a=2", "b=-3", "c=10"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("(a+b)*c\n\nForward\n")
    assert re.search(r"^  a +2 +10$", out, re.MULTILINE)
    assert re.search(r"^  b +−3 +10$", out, re.MULTILINE)
    assert re.search(r"^  c +10 +−1$", out, re.MULTILINE)


def test_a_preset_with_other_inputs(capsys: Captured) -> None:
    assert main(["step", "diamond", "a=1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("The diamond with a=1\n")
    assert re.search(r"^  a +1 +9$", out, re.MULTILINE)


def test_an_order_is_judged(capsys: Captured) -> None:
    assert main(["step", "diamond", "--order", "c,d,b,a"]) == 0
    out = capsys.readouterr().out
    assert "visits in the order c, d, b, a" in out
    ending = " ".join(out.split("At the end")[1].split())
    assert "✗ not right `c` was visited before `d`" in ending
    assert "so the 9 that goes through `c` never reached `a`; a.grad = 6, right is 15" in ending
    assert main(["step", "diamond", "--order", "d, b, c"]) == 0
    assert "✓ right\n" in capsys.readouterr().out


def test_an_order_may_name_ids(capsys: Captured) -> None:
    assert main(["step", "a*b+c", "a=1", "b=2", "c=3", "--order", "4,2"]) == 0
    assert "visits in the order n4, n2" in capsys.readouterr().out


def test_json_is_the_recording(capsys: Captured) -> None:
    assert main(["step", "neuron", "--json"]) == 0
    recording = Recording.from_json(capsys.readouterr().out)
    assert len(recording.events) == 20
    assert {recording.graph.nodes[x].name: g for x, g in recording.grads.items()}["x1"] == pytest.approx(-1.5)


def test_list_names_every_preset_within_80_columns(capsys: Captured) -> None:
    assert main(["step", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
    assert max(map(len, lines)) <= 80


# --- scripts ---------------------------------------------------------------------------------------------------------

SCRIPT = """\
import sys
from beside_the_script import three
from gradwalk import Value
print("hello from", sys.argv)
a = Value(2.0)
b = Value(three, label="beta")
if __name__ == "__main__":
    loss = (a * b).tanh()
number = loss.data
several = [a, b]
"""


def test_a_value_of_a_script_with_its_variables_as_labels(here: Path, capsys: Captured) -> None:
    (here / "beside_the_script.py").write_text("three = 3.0\n")
    (here / "my_script.py").write_text(SCRIPT)
    argv, path = list(sys.argv), list(sys.path)
    assert main(["step", "my_script.py:loss", "--json"]) == 0
    assert (sys.argv, sys.path) == (argv, path)
    printed = capsys.readouterr()
    names = [node["name"] for node in json.loads(printed.out)["graph"]["nodes"]]
    assert names == ["a", "beta", "n2", "loss"]
    assert printed.err == "hello from ['my_script.py']\n", "what the script prints does not spoil ours"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("missing.py:loss", "there is no file missing.py"),
        ("script.py", "say which Value of script.py to step through, as in script.py:loss"),
        ("script.py:", "say which Value of script.py to step through, as in script.py:loss"),
        ("script.py:lss", "script.py makes nothing called 'lss'; its Values are a and loss"),
        ("script.py:number", "number in script.py is not a Value but a float; a graph ends in a Value, before its"),
        ("script.py:several", "several in script.py is not a Value but a list; give one of the Values in it a name"),
        ("script.py:Value", "Value in script.py is not a Value but a type; name one that holds a gradwalk Value"),
        ("broken.py:loss", "broken.py failed on line 2: ZeroDivisionError: division by zero"),
        ("syntax.py:loss", "syntax.py failed on line 1: SyntaxError: "),
        ("leaves.py:loss", "leaves.py ended itself with exit code 3, before it could be looked at"),
        ("folder.py:loss", "folder.py is not a file"),
    ],
)
def test_what_is_wrong_with_a_script_is_said(here: Path, capsys: Captured, what: str, message: str) -> None:
    (here / "script.py").write_text(
        "from gradwalk import Value\na = Value(2.0)\nloss = a * 3\nnumber = 1.5\nseveral = [a]\n"
    )
    (here / "broken.py").write_text("x = 0\ny = 1 / x\n")
    (here / "syntax.py").write_text("x = = 1\n")
    (here / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    (here / "folder.py").mkdir()
    assert main(["step", what]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"gradwalk step: {message}")


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to step through, as in gradwalk step neuron"),
        (["neurn"], "no preset is called 'neurn'; did you mean neuron?"),
        (["xyzzy"], "no preset is called 'xyzzy'; there are sum-times, "),
        (["(a+b)*"], "this cannot be read"),
        (["a^2", "a=3"], "^ is no part of a program: write ** for a power, as in a**2\n  line 1: a^2\n"),
        (["a*b", "a=2"], "a*b needs a number for b, and was given a=2; add b=1 behind it"),
        (["d = x*y + z"], "d = x*y + z needs a number for x, y and z; add x=1 y=1 z=1 behind it"),
        (["a*b", "a=2", "b=1", "z=3"], "the program does not use the input z; it uses a, b"),
        (["a*2", "a=x"], "a=x: 'x' is not a number; write an input as NAME=NUMBER, such as a=2"),
        (["a*2", "a"], "'a' is no input; write it as NAME=NUMBER, such as a=2"),
        (["a*2", "2=a"], "'2=a' is no input"),
        (["a*2", "a=1", "a=2"], "a is given twice: 1 and 2"),
        (["diamond", "z=2"], "diamond has no input z; its inputs are a"),
        (["script.py:loss", "a=2"], "a script has its own numbers: leave a=2 out"),
        (["diamond", "--order", "c,d"], "the order misses b (id 2); only leaves may be left out"),
        (["diamond", "--order", "c,d,b,zz"], "no node is called 'zz'"),
        (["diamond", "--order", "c,d,b,b"], "the order lists b (id 2) more than once"),
    ],
)
def test_a_mistake_is_said_and_ends_with_2(arguments: list[str], message: str, capsys: Captured) -> None:
    assert main(["step", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"gradwalk step: {message}")


def test_a_syntax_error_has_its_caret(capsys: Captured) -> None:
    assert main(["step", "a + $b", "a=1"]) == 2
    assert re.search(r"\n +line 1: a \+ \$b\n +\^\n$", capsys.readouterr().err)


# --- a real terminal -------------------------------------------------------------------------------------------------


def on_a_terminal(*arguments: str, keys: bytes, **more: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "gradwalk", "step", *arguments]
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", **more}
    return run_on_a_terminal(command, environment, rows=24, keys=keys, keys_after="quit")


def test_on_a_terminal_it_fills_the_screen_and_gives_it_back() -> None:
    code, written = on_a_terminal("a+a", keys=b"b\x1b[Cq")
    assert code == 0
    assert "\x1b[?1049h" in written
    assert "\x1b[?1049l" in written, "the screen is as it was"
    assert "Traceback" not in written
    assert re.search(r"\x1b\[[0-9;]*38;", written), "in colour"


def test_no_color_is_respected() -> None:
    code, written = on_a_terminal("a+a", keys=b"bq", NO_COLOR="1")
    assert code == 0
    colours = set(re.findall(r"[34]8;2;(\d+);(\d+);(\d+)", written))
    assert all(red == green == blue for red, green, blue in colours), "shades of grey at most"


def test_a_dumb_terminal_gets_the_transcript() -> None:
    code, written = on_a_terminal("a+a", keys=b"", TERM="dumb")
    assert code == 0
    assert "\x1b" not in written
    assert "At the end" in written


def test_plain_is_plain_on_a_terminal_too() -> None:
    code, written = on_a_terminal("a+a", "--plain", keys=b"")
    assert code == 0
    assert "\x1b" not in written


def test_options_may_stand_between_expression_and_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["step", "a*b", "--plain", "a=2", "b=-3"]) == 0
    assert "= 2 × −3 = −6" in capsys.readouterr().out
    assert main(["step", "a*b", "a=2", "--plain", "b=-3", "--nonsense"]) == 2
    assert "unrecognized arguments: --nonsense\ngradwalk step --help shows" in capsys.readouterr().err
