"""The museum: every exhibit shows what it says, is diagnosed as itself and as nothing else, and stands on its page."""

from __future__ import annotations

import ast
import importlib
import sys
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import pytest

from gradwalk.diagnose import grade, museum, teaching
from gradwalk.diagnose.formulas import FAMOUS
from gradwalk.diagnose.museum import Specimen
from gradwalk.diagnose.museum.faults import METHOD, Fault, engine_with, source_with
from gradwalk.diagnose.museum.specimen import edited
from gradwalk.diagnose.probes import Probe, run
from gradwalk.errors import SettingError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
judged = cache(grade)  # several tests look at the same reports
ENGINES = [specimen for specimen in museum.SPECIMENS if specimen.where == "engine"]


def name(specimen: Specimen) -> str:
    return specimen.name


@pytest.mark.parametrize("specimen", museum.SPECIMENS, ids=name)
def test_the_numbers_are_what_the_program_gives(specimen: Specimen) -> None:
    right, wrong = specimen.show()
    assert right == (specimen.right_error or dict(specimen.right))
    assert wrong == (specimen.wrong_error or dict(specimen.wrong))
    assert right != wrong


@pytest.mark.parametrize("specimen", museum.SPECIMENS, ids=name)
def test_every_exhibit_is_explained(specimen: Specimen) -> None:
    assert len(specimen.explanation) > 60
    assert specimen.hint.endswith(("?", "?”", ".")), "a hint asks, or says what to look at"
    assert specimen.solution
    assert specimen.hint != specimen.solution
    assert specimen.name == specimen.name.lower().replace(" ", "-")
    assert bool(specimen.edits) == (specimen.where == "engine")
    assert bool(specimen.repaired) == (specimen.where != "engine")


def test_every_number_of_the_list_has_its_exhibits() -> None:
    count = {number: sum(s.number == number for s in museum.SPECIMENS) for number in range(1, 18)}
    assert all(count.values()), count
    # the list names six wrong derivatives, two reversed operators, two composites, three dead ends and seven oddities
    assert count[4] >= 6
    assert count[7] >= 2
    assert count[12] >= 2
    assert count[16] >= 3
    assert count[17] >= 7
    assert len({s.name for s in museum.SPECIMENS}) == len(museum.SPECIMENS)


@pytest.mark.parametrize("specimen", ENGINES, ids=name)
def test_a_wrong_engine_is_the_teaching_engine_with_a_small_change(specimen: Specimen) -> None:
    before, after = teaching.SOURCE.splitlines(), specimen.source().splitlines()
    ast.parse(specimen.source())
    assert before != after
    kept = sum(line in after for line in before)
    assert kept > 0.8 * len(before)


@pytest.mark.parametrize("specimen", ENGINES, ids=name)
def test_each_is_diagnosed_as_itself_and_as_nothing_else(specimen: Specimen) -> None:
    report = judged(specimen.source())
    assert not report.passed
    assert [diagnosis.specimen for diagnosis in report.diagnoses] == [specimen.name, *ALSO.get(specimen.name, ())]
    failed = [check for check in report.checks if check.status in ("failed", "error")]
    assert all(check.diagnosis in report.diagnoses for check in failed)
    assert all(check.diagnosis == report.diagnoses[0] for check in failed if check.essential)
    assert report.diagnoses[0].hint == specimen.hint


@pytest.mark.parametrize("specimen", ENGINES, ids=name)
def test_the_guilty_line_is_one_that_was_changed_or_stands_where_something_is_missing(specimen: Specimen) -> None:
    diagnosis = judged(specimen.source()).diagnoses[0]
    assert diagnosis.line is not None
    assert f"line {diagnosis.line}" in diagnosis.sentence
    before, after = teaching.SOURCE.splitlines(), specimen.source().splitlines()
    changed = set()
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind in ("replace", "insert"):
            changed |= set(range(start + 1, end + 1))
    if specimen.name in NOT_THERE:
        assert after[diagnosis.line - 1].strip() == NOT_THERE[specimen.name]
    else:
        assert diagnosis.line in changed


#: What is true of an exhibit beside what it shows: to go from node to node at once, without an order, takes a call for
#: each, and clears nothing before.
ALSO = {"no-order": ("left-over-gradients", "recursion-limit")}

#: Where the fault is something that is missing, or a whole function, the line that is named instead.
NOT_THERE = {
    "left-over-gradients": "self.grad = 1.0",
    "not-seeded": "def backward(self):",
    "root-twice": "def backward(self):",
    "listed-twice": "order.append(node)",
    "breadth-first": "def ordered(root):",
    "preorder": "order.append(node)",
}


def test_programs_of_the_museum_run_as_they_stand() -> None:
    """A learner can paste them: they need nothing but `Value`."""
    for specimen in museum.SPECIMENS:
        names = {node.id for node in ast.walk(ast.parse(specimen.program)) if isinstance(node, ast.Name)}
        assert "Value" in names or specimen.where == "checker"


def test_the_famous_derivatives_have_exhibits() -> None:
    assert set(FAMOUS.values()) <= {specimen.name for specimen in museum.SPECIMENS}
    assert {op for op, _, _ in FAMOUS} <= set(METHOD)


def test_an_edit_that_does_not_fit_is_refused() -> None:
    with pytest.raises(SettingError, match="does not say 'no such line'"):
        edited((("no such line", "x"),))


def test_an_exhibit_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="did you mean 'preorder'"):
        museum.find("pre-order")
    with pytest.raises(SettingError, match="there are overwriting, "):
        museum.find("zzz")


# --- faults in single ops ------------------------------------------------------------------------------------------


def test_faults_can_be_combined() -> None:
    text = source_with(
        [Fault("overwriting", "mul", 0), Fault("slope", "mul", 0, "x"), Fault("value", "add", formula="x")]
    )
    assert "self.grad = (x) * out.grad" in text
    assert "other.grad += x * out.grad" in text
    assert "        z = x\n" in text
    square = Probe("", "a = Value(3.0)\nb = a * a\nb.backward()", ("a.grad",))
    assert run(square, engine_with((Fault("overwriting", "mul", 1),))).numbers == {"a.grad": 3.0}
    assert run(square, engine_with((Fault("overwriting", "mul", 0),))).numbers == {"a.grad": 6.0}


@pytest.mark.parametrize(
    "kind", ["overwriting", "counting-itself", "without-upstream", "adds-upstream", "detached", "negated"]
)
@pytest.mark.parametrize("op", [op for op in METHOD if op not in ("radd", "rsub", "rmul", "rdiv")])
def test_every_kind_of_fault_can_be_put_into_every_op(kind: str, op: str) -> None:
    text = source_with([Fault(kind, op)])  # type: ignore[arg-type]
    assert text != teaching.SOURCE
    assert len(text.splitlines()) == len(teaching.SOURCE.splitlines())
    teaching.load(text)


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_of_the_museum_is_the_museum() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        make_museum = importlib.import_module("make_museum")
    finally:
        sys.path.remove(str(ROOT / "docs"))
    page = (ROOT / "docs" / "museum.md").read_text(encoding="utf-8")
    assert page == make_museum.page(judged), "run python docs/make_museum.py"
    for specimen in museum.SPECIMENS:
        assert f"### {specimen.title}\n" in page
