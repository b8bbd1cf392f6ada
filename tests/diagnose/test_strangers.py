"""Traits of engines that strangers wrote: each sentence of a report is true of the engine, or the report says less."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from diagnose.handmade import CLEAN, SEED
from gradwalk.diagnose import Grade, grade
from gradwalk.diagnose.adapter import Engine, find_class
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.loading import load
from gradwalk.diagnose.sandbox import judge_file

pytestmark = pytest.mark.slow

WALK = CLEAN[CLEAN.index("    def backward") :]
SORTED = """\
def order_of(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)
    visit(root)
    return order
"""
HELPED = """\
    def backward(self):
        self.grad = 1.0
        for node in reversed(order_of(self)):
            node._backward()
"""
OVERWRITING_POWER = (
    "self.grad += other * self.data ** (other - 1) * out.grad",
    "self.grad = other * self.data ** (other - 1) * out.grad",
)

OPS_AS_CLASSES = """\
class Times:
    def __init__(self, one, two):
        self.one, self.two = one, two

    def backward(self, gradient):
        self.one.grad += gradient * self.two.value
        self.two.grad += gradient * self.one.value


class Plus:
    def __init__(self, one, two):
        self.one, self.two = one, two

    def backward(self, gradient):
        self.one.grad += gradient
        self.two.grad += gradient


class Number:
    def __init__(self, value, made_by=None, parents=()):
        self.value, self.grad, self.made_by, self.parents = value, 0.0, made_by, parents

    def __add__(self, other):
        other = other if isinstance(other, Number) else Number(other)
        return Number(self.value + other.value, Plus(self, other), (self, other))

    def __mul__(self, other):
        other = other if isinstance(other, Number) else Number(other)
        return Number(self.value * other.value, Times(self, other), (self, other))


def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(root)
    root.grad = 1.0
    for node in reversed(order):
        if node.made_by:
            node.made_by.backward(node.grad)
"""


def edited(*edits: tuple[str, str]) -> str:
    source = CLEAN
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source


def of_file(path: Path) -> Grade:
    """The grade of a file, loaded as a submission is, in this process."""
    known, paths = set(sys.modules), list(sys.path)
    try:
        loaded = load(path)
        engine = Engine(find_class(loaded.namespace), loaded.namespace)
        report = grade(Examination(engine), source=loaded.source)
        return Grade(report.checks, report.diagnoses, (*loaded.notes, *report.notes), report.engine)
    finally:
        sys.path[:] = paths
        for name in set(sys.modules) - known:
            del sys.modules[name]


def faults(report: Grade) -> list[tuple[str, str | None]]:
    return [(found.fault, found.op) for found in report.faults]


def evidence(report: Grade, fault: str) -> set[str]:
    """The groups of the checks that are put down to a fault."""
    return {check.group for check in report.checks if check.diagnosis and check.diagnosis.fault == fault}


# --- modules that are missing ----------------------------------------------------------------------------------------


def test_a_walk_that_needs_a_missing_module_is_not_judged(tmp_path: Path) -> None:
    """A stand-in is no list of nodes: that no gradient arrives is not the engine's doing."""
    path = tmp_path / "engine.py"
    path.write_text("from node_sorting import order_of\n" + edited((WALK, HELPED)))
    report = of_file(path)
    assert report.faults == ()
    walks = [check for check in report.checks if check.group in ("order", "repeat", "depth")]
    assert {check.status for check in walks} == {"skipped"}
    assert {check.message for check in walks} == {"backward() cannot run here"}
    assert any("as it needs node_sorting.order_of, which is not here" in note for note in report.notes)
    assert {check.status for check in report.checks if check.group == "ops"} <= {"passed", "missing"}


def test_without_anything_that_pushes_it_cannot_be_judged(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text("from helping_hands import start\n\nclass Value:\n    def __init__(self, data):\n"
                    "        self.data, self.grad = data, 0.0\n    def __add__(self, other):\n"
                    "        return Value(self.data + other.data)\n    def __mul__(self, other):\n"
                    "        return Value(self.data * other.data)\n    def backward(self):\n"
                    "        for node in start(self):\n            node.grad = 1.0\n")  # fmt: skip
    why = judge_file(path).grade.checks[0].message
    assert why == "backward() cannot run here: it needs helping_hands.start, which is not here"


def test_an_op_that_computes_with_a_missing_module_is_not_judged_and_the_others_are(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    text = edited(("t = math.tanh(self.data)", "t = mathematics.f(self.data)"))
    path.write_text("import mathematics\n" + text)
    report = of_file(path)
    assert report.faults == ()
    skipped = {check.message for check in report.checks if check.status == "skipped"}
    assert skipped == {"it needs mathematics.f, which is not here"}


def test_a_drawing_in_the_walk_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    text = edited((SEED, SEED + "        dot = Digraph(format='svg')\n        dot.node(name='a')\n"))
    path.write_text("from graphwhiz import Digraph\n" + text)
    assert of_file(path).faults == ()


def test_imports_that_start_at_a_folder_above_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "sources" / "scalars"
    folder.mkdir(parents=True)
    (folder / "sorting.py").write_text(SORTED)
    (folder / "engine.py").write_text("from sources.scalars.sorting import order_of\n" + edited((WALK, HELPED)))
    report = judge_file(folder / "engine.py", checks=["reuse", "order"]).grade
    assert report.passed
    assert report.notes == ()


# --- which class, which walk -----------------------------------------------------------------------------------------


def test_a_class_that_stands_for_an_op_is_not_taken_for_the_engine() -> None:
    report = grade(OPS_AS_CLASSES)
    assert report.engine == "Number"
    assert report.faults == ()
    assert report.essentials.total > 20


def test_a_class_without_a_single_op_is_no_success() -> None:
    report = grade("class Value:\n    def __init__(self, data):\n        self.data, self.grad = data, 0.0\n"
                   "    def backward(self):\n        self.grad = 1.0\n")  # fmt: skip
    assert not report.passed
    assert report.checks[0].message.startswith("Value has no op yet")


@pytest.mark.parametrize("body", ["...", "pass", '"""Later."""', "raise NotImplementedError", "return None"])
def test_a_walk_that_is_not_written_yet_is_missing_and_not_wrong(body: str) -> None:
    """Whatever the nodes call what they push with."""
    report = grade(edited((WALK, f"    def backward(self):\n        {body}\n")).replace("_backward", "_bakcward"))
    assert faults(report) == []
    assert "there is no backward() yet: each node's own push was called by hand, newest first" in report.notes
    assert {check.status for check in report.checks if check.group in ("order", "repeat", "depth")} == {"missing"}


def test_what_is_missing_stays_missing_where_no_answers_are(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(edited((WALK, "")))
    report = judge_file(path, checks=["ops", "repeat"]).grade
    assert {check.status for check in report.checks if check.group == "repeat"} == {"missing"}


# --- evidence --------------------------------------------------------------------------------------------------------


def test_errors_at_the_edges_are_no_evidence_for_an_op_that_overwrites() -> None:
    report = grade(edited(OVERWRITING_POWER))
    assert faults(report) == [("overwriting", "pow")]
    shown = [check for check in report.checks if check.diagnosis and check.diagnosis.fault == "overwriting"]
    assert not [check.message for check in shown if "Error" in check.message]
    raised = [found for found in report.invitations if found.fault == "python-raises" and found.op == "pow"]
    assert raised


def test_a_second_walk_is_not_put_down_to_an_order_that_is_right_for_the_first() -> None:
    early = edited(
        ("                topo.append(v)\n        build", "        build"),
        ("visited.add(v)\n", "visited.add(v)\n                topo.append(v)\n"),
        ("reversed(topo)", "topo"),
    )
    report = grade(early)
    assert faults(report) == [("preorder", None)]
    assert evidence(report, "preorder") <= {"order", "random", "depth"}
    assert "left-over-gradients" in {found.fault for found in report.invitations}
    assert evidence(report, "recursion-limit") == {"depth"}


def test_what_follows_from_an_op_that_gives_nothing_is_not_put_down_to_others() -> None:
    start = CLEAN.index("    def __mul__")
    end = CLEAN.index("    def __pow__")
    silent = CLEAN[:start] + CLEAN[start:end].replace("        return out\n", "") + CLEAN[end:]
    report = grade(silent)
    assert [found.op for found in report.faults] == ["mul"]
    assert "`__mul__` does not give a Value" in report.faults[0].sentence
    assert not [found for found in report.diagnoses if found.op == "add" or "NoneType" in found.sentence]


def test_printed_text_is_quoted_whole() -> None:
    report = grade(edited((SEED, SEED + "        print('out: now')\n")))
    assert "'out: now" in report.text()


def test_labels_that_double_run_out_of_memory_and_that_is_what_is_said(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(edited(('(self, other), "+")', '(self, other), "+" + 40 * (self._op + other._op))')))
    report = judge_file(path, checks=["a-plus-a", "depth"]).grade
    assert [found.sentence for found in report.invitations] == ["line 14 needs more memory than there is"]
