"""Grading: right engines pass clean in every style, reports say what they should, nothing takes the grader down."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import gradwalk
from gradwalk import diagnose
from gradwalk.diagnose import CheckResult, Grade, grade, museum, teaching
from gradwalk.diagnose.checks import CHECKS, GROUPS, select
from gradwalk.diagnose.examination import TOTAL
from gradwalk.errors import SettingError

pytestmark = pytest.mark.slow

STYLES = {"teaching": teaching.SOURCE, **teaching.STYLES}
BROKEN = teaching.SOURCE.replace("other.grad += x * out.grad", "other.grad = x * out.grad")


def by_name(report: Grade) -> dict[str, CheckResult]:
    return {check.name: check for check in report.checks}


@pytest.mark.parametrize("style", STYLES)
def test_a_right_engine_of_each_style_passes_clean(style: str) -> None:
    report = grade(STYLES[style])
    assert report.passed, report.text()
    assert report.diagnoses == ()
    missing = {check.group for check in report.checks if check.status != "passed"}
    assert missing <= ({"numbers"} if style.startswith("functions") else set())  # it has no operators at all


def test_our_own_engine_passes_clean() -> None:
    report = grade(gradwalk.Value)
    assert report.passed, report.text()
    assert {check.status for check in report.checks} == {"passed"}
    assert by_name(report)["erf"].status == "passed"


def test_styles_differ_in_how_they_are_spelt() -> None:
    assert grade(teaching.STYLES["a tape"]).engine == "Scalar"
    assert grade(teaching.STYLES["functions and a count of uses"]).engine == "Node"
    assert grade(teaching.STYLES["classes of ops"]).engine == "Tensor"


def test_micrograd_is_judged_for_what_it_is() -> None:
    from micrograd.engine import Value

    report = grade(Value)
    results = by_name(report)
    wrong = {name for name, check in results.items() if check.status in ("failed", "error")}
    assert {"second-backward", "leaf-zeroed", "two-roots", "from-the-middle", "deep", "one-over-zero"} <= wrong
    assert {"power-zero", "root-of-negative", "data-changed-later"} <= wrong
    assert all(CHECKS[name].group in ("repeat", "depth", "edges", "manners") for name in wrong)
    assert results["second-backward"].got == {"first": 27.0, "x.grad": 72.0}
    assert results["leaf-zeroed"].got == {"x.grad": 45.0}
    assert results["tanh"].status == "missing"
    assert (report.essentials.score, report.essentials.total) == (43, 43)  # what it sets out to do it does
    assert (report.beyond.score, report.beyond.total) == (5, 18)
    assert report.text().endswith("All 43 essentials passed, and 5 of 18 of what lies beyond them.")
    names = [diagnosis.specimen for diagnosis in report.diagnoses]
    assert names == ["left-over-gradients", "recursion-limit", "python-raises", "data-read-late"]
    assert all(check.diagnosis for check in report.checks if check.name in wrong)


# --- what is given ---------------------------------------------------------------------------------------------------


def test_the_two_marks_are_the_whole_and_a_wrong_engine_loses_essentials() -> None:
    report = grade(BROKEN)
    assert report.essentials.score + report.beyond.score == report.score
    assert report.essentials.total + report.beyond.total == report.total
    assert report.essentials.score < report.essentials.total
    plain = report.to_dict()
    assert plain["essentials"] == {"score": report.essentials.score, "total": report.essentials.total}
    assert plain["beyond"] == {"score": report.beyond.score, "total": report.beyond.total}
    assert grade(BROKEN, checks=["depth"]).text().endswith("checks passed, all of them beyond the essentials.")


def test_a_class_a_namespace_and_a_source_give_the_same_report() -> None:
    namespace: dict[str, Any] = {"__name__": "submission"}
    exec(BROKEN, namespace)
    text = grade(BROKEN, checks=["reuse"])
    mapping = grade(namespace, source=BROKEN, checks=["reuse"])
    cls = grade(namespace["Value"], source=BROKEN, checks=["reuse"])
    assert text.to_dict() == mapping.to_dict() == cls.to_dict()
    assert text.diagnoses[0].line == BROKEN.splitlines().index("            other.grad = x * out.grad") + 1


def test_without_its_source_a_class_gets_a_sentence_without_a_line() -> None:
    namespace: dict[str, Any] = {"__name__": "submission"}
    exec(BROKEN, namespace)
    (diagnosis,) = grade(namespace["Value"]).diagnoses
    assert diagnosis.line is None
    assert diagnosis.sentence == "your `__mul__` overwrites the gradient of its second operand instead of adding to it"


def test_the_source_of_a_class_from_a_file_is_found() -> None:
    from micrograd.engine import Value

    lines = {diagnosis.specimen: diagnosis.line for diagnosis in grade(Value, checks=["depth"]).diagnoses}
    assert lines["recursion-limit"] is not None


def test_another_class_name() -> None:
    renamed = teaching.SOURCE.replace("Value", "Scalar")
    assert grade(renamed, class_name="Scalar", checks=["ops"]).passed
    assert grade(renamed, checks=["ops"]).passed, "there is only one class that looks like an engine"


def test_checks_can_be_chosen_by_name_and_by_group() -> None:
    assert [check.name for check in grade(teaching.SOURCE, checks=["diamond", "a-plus-a"]).checks] == [
        "a-plus-a",
        "diamond",
    ]
    assert {check.group for check in grade(teaching.SOURCE, checks=["reuse", "order"]).checks} == {"reuse", "order"}
    with pytest.raises(SettingError, match="there is no check or group 'reuze'; did you mean 'reuse'"):
        grade(teaching.SOURCE, checks=["reuze"])
    with pytest.raises(SettingError, match="the groups are construction, ops"):
        select(["qqqq"])


def test_every_check_belongs_to_a_group_and_every_group_has_checks() -> None:
    assert {check.group for check in CHECKS.values()} == set(GROUPS)


# --- what is not there yet -------------------------------------------------------------------------------------------


def test_missing_ops_are_not_failures() -> None:
    small = "\n".join(
        teaching.SOURCE.replace("def tanh", "def other_thing").replace("def __sub__", "def no_sub").splitlines()
    )
    report = grade(small)
    results = by_name(report)
    assert results["tanh"].status == results["sub"].status == results["chain-tanh"].status == "missing"
    assert results["tanh"].message == "tanh is not implemented yet"
    assert report.passed
    assert "\n\nNot implemented yet: sub, tanh\n\n" in report.text()


def test_not_implemented_error_is_missing_too() -> None:
    text = teaching.SOURCE.replace(
        "        z = math.tanh(x)\n", '        raise NotImplementedError("tanh comes later")\n'
    )
    report = grade(text)
    assert by_name(report)["tanh"].status == "missing"
    assert report.passed


def test_an_engine_without_numbers_on_the_left() -> None:
    text = teaching.SOURCE.replace("def __rsub__", "def no_rsub")
    results = by_name(grade(text))
    assert results["rsub"].status == "missing"
    assert results["rsub"].message == "__rsub__ is not implemented yet"
    assert results["short-and-long"].status == "passed", "a number in another check is made into a node"


def test_an_engine_that_takes_no_plain_numbers_fails_only_there() -> None:
    text = teaching.SOURCE.replace("return x if isinstance(x, Value) else Value(x)", "return x.itself()").replace(
        "    def __repr__", "    def itself(self):\n        return self\n\n    def __repr__"
    )
    report = grade(text)
    failed = {check.group for check in report.checks if check.status in ("failed", "error")}
    assert failed == {"numbers"}
    assert "has no attribute 'itself'" in by_name(report)["add-number"].message


# --- what cannot be judged -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Value:\n    x = = 1", "line 2 is no Python: invalid syntax"),
        (
            "import math\nx = math.nothing",
            "line 2 stopped the file (AttributeError: module 'math' has no attribute 'nothing'); "
            "there is no class Value here, and no other with operators and backward()",
        ),
        (
            "import sys\nsys.exit(3)",
            "line 2 stopped the file (SystemExit: 3); "
            "there is no class Value here, and no other with operators and backward()",
        ),
        ("x = 1", "there is no class Value here, and no other with operators and backward()"),
        ("class Value: pass", "Value(2.5) does not work: TypeError: Value() takes no arguments"),
        (
            "class Value:\n    def __init__(self, data): pass\n    def backward(self): pass",
            "a Value made from 2.71828182 keeps that number nowhere: "
            "looked for data, value, val and every other attribute",
        ),
        (
            "class Value:\n    def __init__(self, data): self.data = data",
            "Value has no backward(), and there is no function of that name",
        ),
    ],
)
def test_what_cannot_be_judged_is_said_in_the_report(source: str, message: str) -> None:
    report = grade(source)
    assert (report.score, report.total, report.passed) == (0, 1, False)
    (check,) = report.checks
    assert (check.name, check.status) == ("loads", "error")
    assert check.message == message
    assert message.split(":")[0] in report.text().replace("\n  ", " ")


# --- what misbehaves -------------------------------------------------------------------------------------------------


def spoilt(line: str) -> str:
    """The teaching engine whose product does something else first."""
    return teaching.SOURCE.replace("        z = x * y\n", f"        {line}\n        z = x * y\n")


def test_an_engine_that_prints_is_told_so_and_nothing_reaches_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    report = grade(spoilt('print("multiplying", x, y)'))
    assert capsys.readouterr().out == ""
    assert [check.name for check in report.checks if check.status == "failed"] == ["quiet"]
    assert "'multiplying " in by_name(report)["quiet"].message
    line = spoilt("print()").splitlines().index("        print()") + 1
    assert report.diagnoses[0].sentence == f"your engine prints while it computes on line {line}"


def test_an_engine_that_leaves_the_process_is_stopped_there() -> None:
    report = grade(spoilt("raise SystemExit"))
    assert by_name(report)["mul"].status == "error"
    assert "SystemExit" in by_name(report)["mul"].message
    assert by_name(report)["add"].status == "passed"


def test_an_engine_without_end_runs_out_of_steps() -> None:
    report = grade(spoilt("while x == 3.0: abs(x)"), checks=["ops"])
    assert by_name(report)["mul"].status == "error"
    assert "stopped after" in by_name(report)["mul"].message
    assert by_name(report)["tanh"].status == "passed"


def test_an_engine_that_is_slow_everywhere_is_not_waited_for() -> None:
    slow = teaching.SOURCE.replace(
        "        order = ordered(self)\n", "        [abs(i) for i in range(200_000)]\n        order = ordered(self)\n"
    )
    report = grade(slow, diagnosing=False)
    skipped = [check for check in report.checks if check.status == "skipped"]
    assert skipped
    assert skipped[0].message == f"the engine has used up {TOTAL:,} steps"
    assert "Not judged: " in report.text()


def test_an_engine_that_refuses_a_second_walk_and_says_so_makes_no_mistake() -> None:
    once = teaching.SOURCE.replace(
        "            node._backward()\n", "            node._backward()\n            node._backward = used_up\n"
    )
    once += '\n\ndef used_up():\n    raise RuntimeError("the graph has been used up")\n'
    once = once.replace("        self._backward = lambda: None\n", "        self._backward = nothing\n").replace(
        "            node._backward = used_up\n",
        "            if node._prev:\n                node._backward = used_up\n",
    )
    report = grade(once + "\n\ndef nothing():\n    pass\n")
    assert report.passed, report.text()
    skipped = [check for check in report.checks if check.status == "skipped"]
    assert {check.group for check in skipped} == {"repeat"}
    assert skipped[0].message == "your engine refuses to walk back there (the graph has been used up)"
    assert "because your engine refuses to walk back there" in report.text()


def test_an_engine_that_keeps_gradients_of_leaves_only_makes_no_mistake() -> None:
    forgetful = teaching.SOURCE.replace(
        "            node._backward()\n",
        "            node._backward()\n            if node._prev:\n                node.grad = 0.0\n",
    )
    assert grade(forgetful).passed


def test_the_recursion_limit_is_put_back() -> None:
    before = sys.getrecursionlimit()
    assert grade("import sys\nsys.setrecursionlimit(50_000)\n" + teaching.SOURCE, checks=["reuse"]).passed
    assert grade(teaching.STYLES["a set of operands and recursion"], checks=["depth"]).passed
    assert sys.getrecursionlimit() == before


def test_an_engine_that_cannot_be_looked_at_still_gets_its_report() -> None:
    tired = teaching.SOURCE.replace(
        "        self.data = float(data)\n",
        "        made.append(1)\n        if len(made) > 300:\n            raise OSError('no more')\n"
        "        self.data = float(data)\n",
    )
    report = grade(tired + "\n\nmade = []\n")
    assert not report.passed
    assert report.diagnoses == ()
    assert report.notes == ("no diagnosis could be made: OSError: no more",)
    assert "Note: no diagnosis could be made" in report.text()


def test_an_error_is_told_with_its_line() -> None:
    report = grade(spoilt("y = othr.data"))
    line = spoilt("y = othr.data").splitlines().index("        y = othr.data") + 1
    assert report.diagnoses[0].sentence == f"line {line} stops with NameError: name 'othr' is not defined"
    assert report.diagnoses[0].hint.startswith("A name is used that was never given anything.")
    assert len(report.diagnoses) == 1


# --- the report ------------------------------------------------------------------------------------------------------


def test_a_report_goes_through_json_and_back() -> None:
    report = grade(BROKEN)
    text = json.dumps(report.to_dict(), allow_nan=False)
    assert Grade.from_dict(json.loads(text)).to_dict() == report.to_dict()
    assert Grade.from_dict(json.loads(text)).text() == report.text()


def test_the_text_shows_hints_and_only_on_demand_solutions() -> None:
    report = grade(museum.find("overwriting").source())
    assert "Hint: A Value that is used twice" in report.text()
    assert "Solution" not in report.text()
    assert "Solution: Add to the gradient" in report.text(solution=True)
    first = report.text().split("\n\n")[1].splitlines()[3]
    assert first == "   - a + a, at a = 3: a.grad is 1, 2 is right", "the smallest program comes first"


def test_numbers_agree_to_seven_decimals() -> None:
    near = teaching.SOURCE.replace("z = math.tanh(x)", "z = math.tanh(x) + 2e-8")
    off = teaching.SOURCE.replace("z = math.tanh(x)", "z = math.tanh(x) + 6e-8")
    assert grade(near, checks=["tanh"]).passed
    assert not grade(off, checks=["tanh"]).passed


def test_the_old_name_of_a_grade_still_works_and_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match="is called Grade now"):
        assert diagnose.Report is Grade
    with pytest.raises(AttributeError, match="no attribute 'Repport'"):
        _ = diagnose.Repport
