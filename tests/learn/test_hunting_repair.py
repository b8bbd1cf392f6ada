"""Every exhibit of the museum, mended by a scripted learner: refused as it is found, accepted when it is right."""

from __future__ import annotations

import pytest

from gradwalk.diagnose import museum
from gradwalk.learn.page.hunting import mend
from gradwalk.learn.page.hunting.cases import SETS, case_of

pytestmark = pytest.mark.slow

NAMES = [name for names in SETS.values() for name in names]
ENGINES = [name for name in NAMES if museum.find(name).where == "engine"]
PROGRAMS = [name for name in NAMES if museum.find(name).where != "engine"]


@pytest.mark.parametrize("name", NAMES)
def test_the_mended_text_is_accepted_and_the_unmended_one_is_not(name: str) -> None:
    case = case_of(name)
    mended = mend(name, case.mended)
    assert mended["status"] == "passed"
    if case.where == "engine":  # the right one passes everything, so the two differ in the bug alone
        assert mended["passed"] == mended["total"] > 0
    assert mend(name, case.text)["status"] == "missing"
    touched = mend(name, case.text + "\n# looked at\n")
    assert touched["status"] in ("failed", "error")
    assert touched["headline"] in ("Not mended yet", "Stopped")
    assert touched["why"]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_is_short_and_its_first_hint_is_the_museums(name: str) -> None:
    case = case_of(name)
    assert case.hints[0] == museum.find(name).hint
    assert len(case.text.splitlines()) < 120  # about half of the whole: what matters, and no more


def test_what_is_not_mended_is_named_with_its_line() -> None:
    case = case_of("overwriting")
    half = case.text.replace("self.grad = out.grad", "self.grad += out.grad")
    told = mend("overwriting", half)
    (line,) = told["lines"]
    assert ".grad = " in half.splitlines()[line - 1]
    assert half.splitlines()[line - 1].endswith("out.grad")
    assert (told["status"], told["kind"]) == ("failed", "overwriting")
    assert any(not row["ok"] for row in told["checks"])


@pytest.mark.parametrize(
    ("change", "status", "headline"),
    [
        (("        return out\n", "        return out out\n"), "error", "SyntaxError on line"),
        (("def __add__", "def plus"), "failed", "Something is missing now"),
        (("class Value:", "def value():"), "error", "There is no engine here"),
        (("self.grad += out.grad", "self.grad += 2 * out.grad"), "failed", "Something else broke"),
        (("        self.grad = 1.0\n", "        self.grad = 1.0\n        while True: pass\n"), "error", "Stopped"),
        (("        self._op = _op\n", "        while True: pass\n"), "error", "It does not come to an end"),
        (("self.data = float(data)", "self.data = 1 / 0"), "error", "There is no engine here"),
    ],
)
def test_what_is_broken_on_the_way_is_said(change: tuple[str, str], status: str, headline: str) -> None:
    case = case_of("overwriting")
    assert change[0] in case.mended
    told = mend("overwriting", case.mended.replace(*change))
    assert (told["status"], told["headline"].startswith(headline)) == (status, True), told


def test_another_way_to_mend_is_as_good() -> None:
    case = case_of("not-zeroed")
    text = case.text.replace("    loss.backward()", "    w.grad = 0\n    loss.backward()")
    assert mend("not-zeroed", text)["status"] == "passed"
    text = case_of("dead-relu").text.replace("-10.0", "2.5")
    assert mend("dead-relu", text)["status"] == "passed"
    engine = case_of("overwriting")
    other = engine.text.replace("self.grad = ", "self.grad = self.grad + ").replace(
        "other.grad = ", "other.grad = other.grad + "
    )
    other = other.replace("self.grad = self.grad + 0.0", "self.grad = 0.0").replace(
        "self.grad = self.grad + 1.0", "self.grad = 1.0"
    )
    assert mend("overwriting", other)["status"] == "passed"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_does_not_run_is_told_with_its_line(name: str) -> None:
    told = mend(name, case_of(name).text + "\nnowhere")
    assert (told["status"], told["headline"]) == ("error", f"NameError on line {told['lines'][0]}")
    told = mend(name, "while True: pass")
    assert told["headline"].startswith("It does not come to an end")
