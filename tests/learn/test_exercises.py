"""Every exercise: the solution passes, every mistake is named, and nothing that a learner writes brings it down."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from whole_class import whole_class

from gradwalk.diagnose import grade, museum, teaching
from gradwalk.learn.page import bridge
from gradwalk.learn.page.exercises import EXERCISES, material, run, solutions
from gradwalk.learn.page.exercises.attempts import expected
from gradwalk.learn.page.exercises.ledger import ledger
from gradwalk.learn.page.exercises.model import Mistake, Tab, on
from gradwalk.learn.page.exercises.splice import PARTS

TABS = [(exercise.name, tab) for exercise in EXERCISES.values() for tab in exercise.tabs.values()]
HOME = {tab.name: exercise for exercise, tab in TABS}
each_tab = pytest.mark.parametrize(
    ("exercise", "tab"), TABS, ids=lambda each: each if isinstance(each, str) else each.name
)
MISTAKES = [(exercise, tab, mistake) for exercise, tab in TABS for mistake in tab.mistakes]


def told(tab: str, text: str, **others: str) -> Any:
    """The result of a text for a tab; everything else as the solutions have it."""
    return run(HOME[tab], tab, {**solutions(), **others, tab: text})


# --- right, untouched, wrong ---------------------------------------------------------------------------------------


@each_tab
def test_the_solution_passes_with_every_number_to_seven_decimals(exercise: str, tab: Tab) -> None:
    result = told(tab.name, tab.solution)
    assert (result["status"], result["passed"]) == ("passed", result["total"])
    assert all(row["got"] == row["expected"] for row in result["checks"])
    arrays = {
        name for tried in expected(EXERCISES[exercise], tab) for name in tried.arrays
    }  # shown as short as they are
    assert all(row["name"] in arrays or len(row["got"].partition(".")[2]) == 7 for row in result["checks"])
    assert result["why"] == tab.done != ""


@each_tab
def test_what_is_still_as_it_was_found_is_not_called_wrong(exercise: str, tab: Tab) -> None:
    for text in (
        tab.starter,
        tab.starter + "\n\n# thinking",
        tab.starter.replace("    ", "     ") if "def" in tab.starter else tab.starter,
    ):
        result = told(tab.name, text)
        assert (result["status"], result["kind"], result["headline"]) == (
            "missing",
            "not implemented",
            "Not written yet",
        )


@pytest.mark.parametrize(
    ("exercise", "tab", "mistake"), MISTAKES, ids=lambda each: getattr(each, "name", getattr(each, "kind", each))
)
def test_every_known_mistake_is_named_in_its_own_words(exercise: str, tab: Tab, mistake: Mistake) -> None:
    text = mistake.apply(tab.solution)
    assert text != tab.solution, "the edit does not apply"
    result = told(tab.name, text)
    assert (result["status"], result["kind"], result["why"], result["ask"]) == (
        "failed",
        mistake.kind,
        mistake.why,
        mistake.ask,
    )


def test_the_five_kinds_that_everybody_meets_are_known() -> None:
    kinds = {mistake.kind for _, _, mistake in MISTAKES}
    assert {
        "overwritten",
        "wrong local derivative",
        "wrong order",
        "not implemented",
        "changed the wrong thing",
    } <= kinds


def test_the_words_for_an_overwritten_gradient() -> None:
    result = told("__mul__", solutions()["__mul__"].replace("+=", "="))
    assert f"{result['headline']}: {result['why'][0].lower()}{result['why'][1:]} {result['ask']}" == (
        "3.0 where 6.0 is right: the second contribution replaced the first. Is there an `=` that should be `+=`?"
    )
    assert result["lines"] == [6, 7]
    assert result["ledger"] == {
        "name": "x.grad",
        "got": "3.0000000",
        "expected": "6.0000000",
        "parts": [{"value": 3.0, "source": "y", "state": "replaced"}, {"value": 3.0, "source": "y", "state": "kept"}],
    }


@pytest.mark.parametrize(
    ("tab", "text"),
    [
        # the same mistakes, in other hands: other names, another order, another formula
        (
            "__mul__",
            "def __mul__(a, b):\n    b = b if isinstance(b, Value) else Value(b)\n    c = Value(a.data * "
            "b.data, (a, b), '*')\n    def push():\n        b.grad = c.grad * a.data\n        a.grad = c.grad "
            "* b.data\n    c._backward = push\n    return c",
        ),
        (
            "__add__",
            "def __add__(self, other):\n    other = as_value(other)\n    out = Value(self.data + other.data, "
            "(self, other))\n    def f():\n        self.grad, other.grad = out.grad, out.grad\n    "
            "out._backward = f\n    return out",
        ),
        (
            "tanh",
            "def tanh(self):\n    t = math.tanh(self.data)\n    out = Value(t, (self,), 'tanh')\n    def "
            "f():\n        self.grad = (1 - t * t) * out.grad\n    out._backward = f\n    return out",
        ),
    ],
)
def test_overwriting_is_recognised_by_what_it_does(tab: str, text: str) -> None:
    assert told(tab, text)["kind"] == "overwritten"


@pytest.mark.parametrize(
    ("tab", "text", "kind"),
    [
        # mistakes that no list holds are told by their numbers
        (
            "exp",
            solutions()["exp"].replace("out.data * out.grad", "1.1 * out.data * out.grad"),
            "wrong local derivative",
        ),
        (
            "__mul__",
            solutions()["__mul__"].replace("other.grad += self.data", "other.grad += -self.data"),
            "wrong local derivative",
        ),
        (
            "__mul__",
            solutions()["__mul__"].replace("self.data * other.data,", "self.data * other.data + 1,"),
            "wrong value",
        ),
        (
            "__add__",
            solutions()["__add__"].replace(
                "        self.grad += out.grad\n", "        self.grad += out.grad\n        other.data = 0.0\n"
            ),
            "changed the wrong thing",
        ),
        (
            "relu",
            solutions()["relu"].replace("    out =", "    self.data = max(0.0, self.data)\n    out ="),
            "changed the wrong thing",
        ),
        (
            "__neg__",
            "def __neg__(self):\n    out = Value(-self.data, (self,))\n    def f():\n        self.grad -= "
            "out.grad\n    self._backward = f\n    return out",
            "changed the wrong thing",
        ),
        ("step", solutions()["step"].replace("rate * p.grad", "2 * rate * p.grad"), "wrong value"),
    ],
)
def test_other_mistakes_are_told_by_their_numbers(tab: str, text: str, kind: str) -> None:
    result = told(tab, text)
    assert (result["status"], result["kind"]) == ("failed", kind)
    assert result["why"]


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        (
            "def backward(self):\n    self.grad = 1.0\n    todo = [self]\n    while todo:\n        node = "
            "todo.pop(0)\n        node._backward()\n        todo.extend(p for p in node._prev if p not in todo)",
            "visited twice",
            "visited",
        ),
        (
            "def backward(self):\n    self.grad = 1.0\n    seen, todo = set(), [self]\n    while todo:\n       "
            " node = todo.pop(0)\n        if node not in seen:\n            seen.add(node)\n            "
            "node._backward()\n            todo.extend(node._prev)",
            "wrong order",
            "was visited before",
        ),
        (
            "def backward(self):\n    self.grad = 1.0\n    self._backward()\n    for node in self._prev:\n     "
            "   node._backward()",
            "a part is missing",
            "never visited",
        ),
    ],
)
def test_a_walk_of_ones_own_is_watched(text: str, kind: str, says: str) -> None:
    result = told("backward", text)
    assert (result["status"], result["kind"]) == ("failed", kind)
    assert says in result["why"]


# --- the museum ----------------------------------------------------------------------------------------------------

#: What a specimen of the museum is called here, where one of its functions is to be written in an exercise.
MUSEUM = {
    "overwriting": {"overwritten"},
    "no-order": {"visited twice"},
    "tanh-of-its-input": {"wrong local derivative"},
    "sigmoid-with-slope-one": {"wrong local derivative"},
    "exp-as-a-power": {"wrong local derivative"},
    "minus-without-its-sign": {"wrong local derivative"},
    "log-slope-is-log": {"wrong local derivative"},
    "power-without-its-factor": {"wrong local derivative"},
    "wrong-derivative": {"wrong local derivative"},
    "left-over-gradients": {"not zeroed"},
    "counting-itself": {"counted twice"},
    "reversed-division": {"turned round"},
    "reversed-subtraction": {"turned round"},
    "changes-its-input": {"changed the wrong thing"},
    "every-path": {"visited twice"},
    "detached-op": {"cut off"},
    "without-upstream": {"forgets the upstream gradient"},
    "closure-on-operand": {"changed the wrong thing"},
    "one-user": {"error"},  # it needs a constructor of its own
    "keyed-by-operand": {"overwritten"},
    "hidden-method": {"not implemented", "cut off", "error"},
    "listed-twice": {"visited twice"},
    "root-twice": {"visited twice"},
    "breadth-first": {"wrong order"},
    "preorder": {"wrong order"},
    "wrong-end": {"wrong order"},
    "not-seeded": {"no seed"},
    "leaves-reset": {"not zeroed"},
    "only-once": {"not zeroed"},
    "wrong-value": {"wrong value", "turned round"},
}
#: Specimens that an exercise does not look for: what they get wrong lies beyond the lesson.
BEYOND = {
    "data-read-late": "the course's own solution reads data when the walk comes by, as micrograd does",
    "tanh-through-exp": "large arguments are the grader's business",
    "sigmoid-through-exp": "large arguments are the grader's business",
    "recursion-limit": "the course's own search recurses",
    "python-raises": "numbers at the edges are the grader's business",
}


@cache
def functions(source: str) -> tuple[dict[str, str], dict[str, str]]:
    """The methods of an engine's class, and the functions beside it, as text."""
    tree = ast.parse(source)
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef))

    lines = source.splitlines()

    def texts(body: list[ast.stmt]) -> dict[str, str]:
        return {
            node.name: textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
            for node in body
            if isinstance(node, ast.FunctionDef)
        }

    return texts(cls.body), texts(tree.body)


def submissions() -> list[tuple[str, str, str]]:
    """(specimen, tab, text): every function of every wrong engine that differs, with the helpers that differ."""
    right, helpers = functions(teaching.SOURCE)
    found = []
    for specimen in museum.SPECIMENS:
        if specimen.where != "engine" or "__init__" in changed(specimen, right):
            continue
        methods, beside = functions(specimen.source())
        extra = "\n\n".join(text for name, text in beside.items() if text != helpers.get(name))
        names = changed(specimen, right) or ["backward"]
        found += [(specimen.name, name, f"{extra}\n\n{methods[name]}") for name in names if name in HOME]
    return found


def changed(specimen: museum.Specimen, right: dict[str, str]) -> list[str]:
    return [name for name, text in functions(specimen.source())[0].items() if text != right.get(name)]


@pytest.mark.parametrize(
    ("specimen", "tab", "text"), submissions(), ids=lambda each: each if len(str(each)) < 40 else ""
)
def test_a_museum_bug_is_named(specimen: str, tab: str, text: str) -> None:
    result = told(tab, text)
    if specimen in BEYOND:
        assert result["status"] == "passed"
    else:
        assert result["status"] in ("failed", "error")
        assert result["kind"] in MUSEUM[specimen]
        assert result["headline"]
        assert result["why"]


# --- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tab", "text", "kind", "line", "says"),
    [
        ("__add__", "def __add__(self, other:\n    pass", "SyntaxError", 1, "never closed"),
        ("__add__", "def __add__(self, other):\npass", "IndentationError", 2, "indented"),
        (
            "tanh",
            "def tanh(self):\n    t = math.tanh(self.data)\n    return 1 / 0",
            "ZeroDivisionError",
            3,
            "division by zero",
        ),
        ("exp", "def exp(self):\n    return Valu(3)", "NameError", 2, "Valu"),
        ("exp", "def exp(self):\n    while True: pass", "OutOfSteps", 2, "never ends"),
        ("exp", "while True: pass", "OutOfSteps", 1, "never ends"),
        ("exp", "def exp(self):\n    x = input('how much? ')", "EOFError", 2, "nobody to ask"),
        ("exp", "def exp(self):\n    return self.exp()", "RecursionError", 2, "leads back"),
        ("__neg__", "def __neg__(self):\n    return -self", "RecursionError", 2, "leads back"),
        ("exp", "def exp(self):\n    exit()", "SystemExit", 2, "leave it out"),
        ("exp", "def expp(self):\n    pass", "NotDefined", None, "no `def exp` here"),
        ("exp", "class Value:\n    def exp(self):\n        pass", "NotDefined", None, "leave the class around it away"),
        ("exp", "", "NotDefined", None, "no `def exp`"),
        ("exp", "exp = 3", "NotDefined", None, "no `def exp`"),
        ("Neuron", "def Neuron(): pass\ndel Neuron", "NotDefined", None, "no `class Neuron`"),
        ("diamond", "a = Value(2.0)\nb = aa + 1", "NameError", 2, "aa"),
        ("diamond", "a = Value(2.0)\nwhile True: pass", "OutOfSteps", 2, "never ends"),
        ("exp", "def exp(self):\n    '\0'", "SyntaxError", None, "null"),
    ],
)
def test_errors_point_at_the_learners_own_line(tab: str, text: str, kind: str, line: int | None, says: str) -> None:
    result = told(tab, text)
    assert result["status"] == "error"
    assert (result["error"]["kind"], says in result["why"]) == (kind, True), result["why"]
    if line is not None:
        assert (result["error"]["line"], result["lines"]) == (line, [line])
        ends = {"OutOfSteps": "It does not come to an end", "RecursionError": "A function calls itself over and over"}
        assert result["headline"] == ends.get(kind, f"{kind} on line {line}")


@pytest.mark.parametrize(
    ("text", "kind", "asks"),
    [
        (solutions()["__mul__"].replace("    return out\n", ""), "not implemented", "Is a `return` missing?"),
        (
            solutions()["__mul__"].replace("= _backward\n", "= _backward()\n"),
            "changed the wrong thing",
            "brackets too many",
        ),
        (solutions()["__mul__"].replace("other.data * out", "other * out"), "changed the wrong thing", "its `.data`"),
    ],
)
def test_errors_with_a_cause_are_explained(text: str, kind: str, asks: str) -> None:
    result = told("__mul__", text)
    assert (result["kind"], asks in result["ask"]) == (kind, True)


def test_an_indented_function_is_read_all_the_same() -> None:
    assert told("exp", textwrap.indent(solutions()["exp"], "    "))["status"] == "passed"


def test_a_megabyte_of_prints_is_cut_and_the_result_still_comes() -> None:
    text = solutions()["exp"].replace("    out =", "    print('x' * 1_000_000)\n    out =")
    printed: list[str] = []
    arguments = json.dumps({"exercise": "slopes", "tab": "exp", "sources": {"exp": text}})
    answer = json.loads(bridge.call("exercises.run", arguments, printed.append))
    assert answer["result"]["status"] == "passed"
    assert len("".join(printed)) < 30_000
    assert "not shown" in answer["more"]["id"]


def test_results_are_json_even_where_numbers_are_not() -> None:
    text = solutions()["exp"].replace("out.data * out.grad", "float('nan') * out.grad")
    assert "nan" in json.dumps(told("exp", text), allow_nan=False)
    text = solutions()["exp"].replace("out.data * out.grad", "1e300 * 1e300 * out.grad")
    assert "inf" in json.dumps(told("exp", text), allow_nan=False)


def test_one_learners_class_does_not_reach_into_the_next_run() -> None:
    told("__mul__", solutions()["__mul__"].replace("+=", "="))
    told("__mul__", "def __mul__(self, other):\n    Value.__add__ = None\n    Value.backward = None")
    assert told("__mul__", solutions()["__mul__"])["status"] == "passed"
    assert told("tanh", "math.tanh = abs\n" + solutions()["tanh"])["status"] in ("passed", "failed")
    assert told("tanh", solutions()["tanh"])["status"] == "passed"


# --- the learner's own engine --------------------------------------------------------------------------------------


def test_the_diamond_runs_on_nothing_but_what_the_learner_wrote() -> None:
    assert told("diamond", solutions()["diamond"])["status"] == "passed"
    result = told("diamond", solutions()["diamond"], __mul__=solutions()["__mul__"].replace("+=", "="))
    assert (result["status"], result["headline"], result["kind"]) == (
        "failed",
        "It is `__mul__` of your engine",
        "overwritten",
    )
    assert (result["passed"], result["why"].startswith("These numbers are right by luck.")) == (result["total"], True)
    result = told("diamond", solutions()["diamond"], __add__=solutions()["__add__"].replace("+=", "="))
    assert (result["headline"], result["kind"], result["passed"] < result["total"]) == (
        "It is `__add__` of your engine",
        "overwritten",
        True,
    )
    result = run("diamond", "diamond", {"diamond": solutions()["diamond"]})
    assert (result["status"], result["headline"]) == ("failed", "It is `__add__` of your engine")
    assert "Not written yet" in result["why"]


def test_a_slip_in_another_part_is_pointed_at_there() -> None:
    result = told("diamond", solutions()["diamond"], __add__="def __add__(self, other)\n    pass")
    assert (result["status"], result["headline"], result["lines"]) == ("error", "SyntaxError in `__add__`, line 1", [])


@pytest.mark.slow
@pytest.mark.parametrize("lesson", [7, 8])
def test_the_whole_class_is_an_engine_that_the_grader_takes(lesson: int) -> None:
    report = grade(whole_class(solutions(), lesson))
    assert not [
        check.name
        for check in report.checks
        if check.group in ("ops", "chain", "reuse", "order", "repeat") and check.status not in ("passed", "missing")
    ]
    missing = {check.name for check in report.checks if check.status == "missing"}
    assert ("relu" in missing, "add" in missing) == (lesson == 7, False)


@pytest.mark.slow
def test_the_command_line_grades_the_downloaded_file(tmp_path: Path) -> None:
    file = tmp_path / "engine.py"
    file.write_text(
        whole_class({**solutions(), "__mul__": solutions()["__mul__"].replace("+=", "=")}, 7), encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "gradwalk", "grade", str(file)], capture_output=True, text=True, check=False
    )
    assert "your `__mul__` overwrites" in done.stdout
    assert done.returncode != 0


def test_the_whole_class_holds_unfinished_parts_as_they_are() -> None:
    texts = {name: tab.starter for _, tab in TABS for name in [tab.name]}
    namespace: dict[str, Any] = {}
    exec(whole_class(texts, 8), namespace)
    assert set(PARTS) <= set(vars(namespace["Value"]))


# --- ledger and material -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "got", "states"),
    [
        (on("y = x * x", "x.grad", x=3), 3.0, ["replaced", "kept"]),
        (on("y = x * z + x", "x.grad", x=3, z=-4), 1.0, ["kept", "lost"]),
        (on("y = x * z + x", "x.grad", x=3, z=-4), 7.7, None),
        (on("y = x * z", "x.grad", x=3, z=-4), 0.0, None),
        (on("b = a + 1; c = a * 3; d = b * c", "a.grad", a=2), 9.0, ["kept", "lost"]),
    ],
)
def test_the_ledger_says_what_became_of_each_contribution(check: Any, got: float, states: list[str] | None) -> None:
    names: dict[str, Any] = {}
    exec("from gradwalk import Value\n" + check.text, names)
    name = check.see[0]
    found = ledger(check, name, got, eval(name, names))
    assert (found and [part["state"] for part in found["parts"]]) == states


def test_material_is_what_the_page_needs() -> None:
    plain = json.loads(json.dumps(material(), allow_nan=False))
    assert list(plain["exercises"]) == list(EXERCISES)
    for exercise in plain["exercises"].values():
        for tab in exercise["tabs"]:
            assert len(tab["hints"]) >= 2
            assert tab["task"]
            assert tab["starter"] != tab["solution"]
            ast.parse(tab["starter"])
    names = [tab.name for _, tab in TABS]
    assert len(names) == len(set(names)), "texts are kept by the names of their tabs"
    assert {name for name, (exercise, _) in PARTS.items() if name in EXERCISES[exercise].tabs} == set(PARTS)


def test_hints_become_more_explicit_and_the_last_is_nearly_the_answer() -> None:
    for _, tab in TABS:
        assert any("`" in hint for hint in tab.hints[-2:]), f"{tab.name}: the last hints show code"


def test_starter_code_fits_the_editor_on_a_laptop() -> None:
    tabs = [tab for exercise in EXERCISES.values() for tab in exercise.tabs.values()]
    assert [line for tab in tabs for line in tab.starter.splitlines() if len(line) > 67] == []
