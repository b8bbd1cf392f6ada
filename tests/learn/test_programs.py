"""A learner's own programs: two languages, changed numbers, every error at its place, nothing that hangs the page."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from learn.in_page import gradients_of

from gradwalk import Value, walk
from gradwalk.learn.page import bridge
from gradwalk.learn.page.programs import LONGEST, MOST_NODES, Drawn, preset, run, without_words
from gradwalk.presets import PRESETS


def recorded(answer: Drawn) -> dict[str, Any]:
    assert answer["error"] is None
    assert answer["recording"] is not None
    return answer["recording"]


def names(answer: Drawn) -> list[str]:
    return [node["name"] for node in recorded(answer)["graph"]["nodes"]]


def gradients(answer: Drawn) -> dict[str, float | None]:
    """The gradients at the end, by name."""
    return gradients_of(recorded(answer))


# --- what it draws ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_its_numbers(name: str) -> None:
    known = PRESETS[name]
    answer = preset(name)
    assert answer["inputs"] == known.inputs
    assert answer["language"] == "program"
    found = gradients(answer)
    for node, gradient in known.gradients.items():
        assert found[node] == pytest.approx(gradient, abs=1e-12)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_runs_with_other_numbers(name: str) -> None:
    changed = {key: x + 0.5 for key, x in PRESETS[name].inputs.items()}
    built = PRESETS[name].build().rerun(**changed)
    built.root.backward()
    answer = preset(name, changed)
    assert answer["inputs"] == changed
    found = gradients(answer)
    for key in changed:
        assert found[key] == built[key].grad


def test_a_recording_is_what_the_engine_records() -> None:
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    d = a * b + a.tanh()
    d.label = "d"
    text = "a = Value(2.0, label='a')\nb = Value(-3.0, label='b')\nd = a * b + a.tanh()\nd.label = 'd'\nd"
    assert recorded(run(text)) == without_words(json.loads(walk.record(d).to_json()))


def test_names_without_a_number_start_at_one_and_can_be_given_one() -> None:
    answer = run("L = tanh(a*b + c)")
    assert answer["assumed"] == ["a", "b", "c"]
    assert answer["inputs"] == {"a": 1.0, "b": 1.0, "c": 1.0}
    answer = run("L = tanh(a*b + c)", {"b": -2.0})
    assert (answer["inputs"]["b"], answer["assumed"]) == (-2.0, ["a", "c"])


def test_numbers_in_the_text_can_be_changed_in_both_languages() -> None:
    assert run("b = -3.0; L = a*b", {"a": 2.0, "b": 4.0})["inputs"] == {"a": 2.0, "b": 4.0}
    python = "w = Value(-3.0); x = Value(2.0)  # two on a line\nfor _ in range(2):\n    x2 = w * x\nx2"
    answer = run(python, {"w": 10.0, "x": 0.5})
    assert answer["language"] == "python"
    assert answer["inputs"] == {"w": 10.0, "x": 0.5}
    assert gradients(answer)["w"] == 0.5


def test_a_name_that_is_given_anew_is_no_input() -> None:
    assert run("x = Value(1.0)\nfor i in range(3):\n    x = x * x\nx")["inputs"] == {}


def test_inputs_that_the_program_does_not_have_are_left_alone() -> None:
    assert run("L = a*2", {"a": 3.0, "zz": 4.0})["inputs"] == {"a": 3.0}


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("a = Value(2.0)\nb = a * a\nb.backward()", "b"),  # a script as learners write it
        ("a = Value(2.0)\nb = a * a\nprint(b.data)", "b"),
        ("a = Value(2.0)\nb, c = a * a, a + 1\nb.label = 'product'", "c"),
        ("a = Value(2.0)\nb = a * a\n(b\n  + a)", None),
        ("import math\na = Value(math.pi)\na.sin()", None),
        ("def f(x):\n    return x * x\na = Value(3.0)\nf(a)", None),
    ],
)
def test_the_root_is_the_last_line_or_the_last_value_that_got_a_name(text: str, root: str | None) -> None:
    graph = recorded(run(text))["graph"]
    assert graph["root"] == len(graph["nodes"]) - 1
    if root is None:
        assert graph["nodes"][-1]["label"] == ""
    else:
        assert graph["nodes"][-1]["label"] == root


def test_values_get_the_names_they_have_in_the_program_and_keep_their_own() -> None:
    assert names(run("a = Value(2.0)\nb = Value(3.0, label='bee')\nc = a * b\nfor _ in []: pass")) == ["a", "bee", "c"]


def test_a_network_has_the_same_weights_each_time() -> None:
    text = "model = MLP(2, [2, 1])\nmodel([1.0, -2.0])"
    assert recorded(run(text)) == recorded(run(text))


def test_numbers_that_json_has_no_name_for_reach_the_page_as_texts() -> None:
    answer = json.loads(bridge.call("programs.run", json.dumps({"text": "L = log(a - 1)"}), print))["result"]
    assert answer["recording"]["graph"]["nodes"][-1]["data"] == "-inf"


# --- what it cannot --------------------------------------------------------------------------------------------------

WRONG = [
    ("d = a % b", "ProgramError", "no slope worth following", 1, 7),
    ("a = 2 b", "ProgramError", "an operator", 1, 7),
    ("L = sigmod(a)", "ProgramError", "did you mean sigmoid?", 1, 5),
    ("", "ProgramError", "nothing to compute", None, None),
    ("a\0b", "ProgramError", "null", 1, 2),
    ("x = Value(1", "SyntaxError", "never closed", 1, 10),
    ("a = Value(2.0)\nif a:\nb = a", "IndentationError", "expected an indented block", 3, 1),
    ("a = Value(2.0)\nfor i in range(2):\n    b = a * zebra", "NameError", "zebra", 3, None),
    ("def f(x):\n    return x.data / 0\nf(Value(2.0))", "ZeroDivisionError", "division by zero", 2, None),
    ("a = Value('two')\nfor i in []: pass", "NotANumberError", "real number", 1, None),
    ("import micrograd_of_mine", "ModuleNotFoundError", "at hand without an import", 1, None),
    ("a = Value(2.0)\nfor i in []: pass\na.data", "NoRoot", "gives float, not a Value", 3, None),
    ("print('nothing here')", "NoRoot", "no Value was computed", 1, None),
    ("n = input('a number? ')\nValue(n)", "EOFError", "nobody to ask", 1, None),
    ("import sys\nsys.exit()", "SystemExit", "leave it out", 2, None),
    ("def f(x): return f(x)\nf(Value(1.0))", "RecursionError", "`f` leads back to `f`", 1, None),
]


@pytest.mark.parametrize(
    ("text", "kind", "words", "line", "column"), WRONG, ids=[row[1] + repr(row[0])[:20] for row in WRONG]
)
def test_an_error_is_told_with_its_place(
    text: str, kind: str, words: str, line: int | None, column: int | None
) -> None:
    answer = run(text)
    error = answer["error"]
    assert answer["recording"] is None
    assert error is not None
    assert words in error["message"]
    assert (error["kind"], error["line"], error["column"]) == (kind, line, column)


ENDLESS = [
    "while True: pass\nValue(1.0)",
    "n = 0\nwhile n < 1:\n    n -= 1\nValue(n)",
    "[0 for _ in iter(int, 1)]\nValue(1.0)",
    "while True:\n    try:\n        while True: a = Value(1.0)\n    except Exception: pass",
]


@pytest.mark.parametrize("text", ENDLESS)
def test_a_loop_that_never_ends_is_stopped_at_its_line(text: str) -> None:
    error = run(text)["error"]
    assert error is not None
    assert "is there a loop that never ends?" in error["message"]
    assert error["line"] is not None


def test_a_graph_too_large_to_be_seen_is_refused_with_its_size() -> None:
    error = run(f"x = Value(1.0)\nfor i in range({MOST_NODES}):\n    x = x.tanh()\nx")["error"]
    assert error is not None
    assert f"the graph has {MOST_NODES + 1} nodes" in error["message"]
    assert run(f"x = Value(1.0)\nfor i in range({MOST_NODES - 1}):\n    x = x + 1\nx")["error"] is None


def test_a_text_too_long_is_refused() -> None:
    error = run("a = 1\n" * LONGEST)["error"]
    assert error is not None
    assert "at most 20,000 characters" in error["message"]


@pytest.mark.parametrize("x", [math.nan, math.inf, "2", None, True, [1.0], 10**400], ids=lambda x: repr(x)[:9])
def test_an_input_that_is_no_finite_number_is_refused_by_name(x: Any) -> None:
    error = run("L = a*2", {"a": x})["error"]
    assert error is not None
    assert error["message"].startswith("a is given")


def test_nothing_of_one_program_is_left_for_the_next() -> None:
    run("import builtins\nkept = Value(1.0)\nkept")
    error = run("for i in []: pass\nkept")["error"]
    assert error is not None
    assert "kept" in error["message"]
