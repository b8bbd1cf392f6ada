"""What a report says, and in which words."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value
from gradwalk.check import CheckReport, InputCheck, Suspect, gradcheck
from gradwalk.check.report import show
from gradwalk.errors import GradientCheckError


def test_a_report_of_many_inputs_shows_the_wrong_ones_first_and_counts_the_rest() -> None:
    def f(w: list[Value]) -> Any:
        w[40].register_hook(lambda g: 3 * g)
        return sum(x * x for x in w)

    report = gradcheck(f, [[0.5 + i for i in range(50)]], raise_error=False)
    lines = str(report).splitlines()
    assert lines[0].startswith("gradcheck failed: 1 of 50 gradients is wrong (central differences, value ")
    assert lines[2].split() == ["inputs[0][40]", "243", "81", "3", "wrong"]
    assert lines[14] == "  … and 38 more: 38 ok"
    passed = str(gradcheck(lambda w: sum(x * x for x in w), [[0.5] * 20]))
    assert passed.splitlines()[0].startswith("gradcheck passed: 20 gradients agree")
    assert passed.splitlines()[-1] == "  … and 8 more: 8 ok"


def test_a_report_is_true_if_all_is_well() -> None:
    entry = InputCheck("x", 1.0, 1.0, 0.0, 1e-9, "ok")
    report = CheckReport("gradcheck", "by hand", 1.0, 1, (entry,))
    assert report
    assert report.or_raise() is report
    suspect = Suspect("mul", "a * b = 6", 2, 3.0, 2.0, "why not")
    for bad in (
        CheckReport("gradcheck", "by hand", 1.0, 1, (entry,), problems=("something is odd",)),
        CheckReport("gradcheck", "by hand", 1.0, 1, (entry,), suspects=(suspect,)),
        CheckReport("gradcheck", "by hand", 1.0, 1, (entry, InputCheck("y", 2.0, 1.0, 1.0, 1e-9, "wrong"))),
        CheckReport("gradcheck", "by hand", 1.0, 1, (InputCheck("y", 2.0, 1.0, 1.0, 1e-9, "not finite"),)),
    ):
        assert not bad
        with pytest.raises(GradientCheckError) as caught:
            bad.or_raise()
        assert str(caught.value) == str(bad)
    odd = CheckReport("gradcheck", "by hand", 1.0, 1, (entry,), problems=("something is odd",))
    assert "gradcheck failed: the gradients agree, but not all is well (by hand" in str(odd)
    assert str(odd).endswith("something is odd")
    assert str(suspect) == ("mul, at a * b = 6: its derivative in operand 2 is 3 and should be 2 (ratio 1.5); why not")
    assert "through all its operands is 3 and should be 0" in str(Suspect("f", "f(x)", 0, 3.0, 0.0))
    assert "ratio" not in str(Suspect("f", "f(x)", 0, 3.0, 0.0))


def test_a_report_lists_up_to_twelve_inputs_in_their_order() -> None:
    right, wrong = InputCheck("r", 1.0, 1.0, 0.0, 1e-9, "ok"), InputCheck("w", 2.0, 1.0, 1.0, 1e-9, "wrong")
    odd = InputCheck("o", math.nan, math.nan, math.nan, math.inf, "not finite")
    kink = InputCheck("k", 1.0, 1.0, 0.0, 1e-9, "kink")

    def names(*entries: InputCheck) -> str:
        lines = str(CheckReport("gradcheck", "by hand", 1.0, 1, entries)).splitlines()[2:]
        return "".join(line.split()[0] for line in lines)

    assert names(right, kink, right, wrong, odd) == "rkrwo"
    assert names(*[right] * 11, wrong) == "rrrrrrrrrrrw"
    assert names(*[right] * 12, wrong, odd, kink) == "worrrrrrrrrr…"
    assert names(*[right] * 12, kink) == "rrrrrrrrrrrr…"
    many = CheckReport("gradcheck", "by hand", 1.0, 1, (*[right] * 12, wrong, kink))
    assert str(many).endswith("  … and 2 more: 1 kink and 1 ok")
    uneven = CheckReport("gradcheck", "by hand", 1.0, 1, (InputCheck("w", 2.0, 3.0, 1.0, 1e-9, "wrong"), right))
    assert str(uneven).splitlines()[1:] == [
        "  input  backward gave  measured     ratio",
        "  w                  2         3  0.666667  wrong",
        "  r                  1         1         1  ok",
    ]
    nothing = CheckReport("gradcheck", "by hand", 1.0, 1, (InputCheck("w", 2.0, 0.0, 2.0, 1e-9, "wrong"), right))
    assert str(nothing).splitlines()[2:] == [  # no ratio to 0
        "  w                  2         0         wrong",
        "  r                  1         1      1  ok",
    ]
    passed = CheckReport("gradcheck", "by hand", 1.0, 1, (right,), reference="PyTorch")
    assert str(passed).splitlines()[1:] == [
        "  input  backward gave  PyTorch",
        "  r                  1        1  ok",
    ]
    assert str(Suspect("f", "f(x)", 1, 2.0, 3.0)).endswith("is 2 and should be 3 (ratio 0.666667)")


def test_the_headline_counts_nodes_and_gradients() -> None:
    def headline(nodes: int, *statuses: str) -> str:
        entries = tuple(InputCheck(f"x{i}", 1.0, 1.0, 0.0, 1e-9, status) for i, status in enumerate(statuses))  # type: ignore[arg-type]
        return str(CheckReport("gradcheck", "by hand", 1 / 3, nodes, entries)).splitlines()[0]

    assert headline(1, "ok") == "gradcheck passed: 1 gradient agrees (by hand, value 0.333333, 1 node)"
    assert headline(2, "ok", "kink") == "gradcheck passed: 2 gradients agree (by hand, value 0.333333, 2 nodes)"
    assert headline(0, "wrong").startswith("gradcheck failed: the gradient is wrong (by hand, value 0.333333, 0 nodes)")
    assert headline(3, "wrong", "wrong", "not finite").startswith("gradcheck failed: 2 of 3 gradients are wrong (")
    assert headline(3, "not finite").startswith("gradcheck failed: the gradient could not be checked (")
    assert headline(3, "ok", "not finite").startswith("gradcheck failed: 1 of 2 gradients could not be checked (")


def test_a_report_cuts_a_long_list_of_suspects() -> None:
    twelve = tuple(Suspect("mul", f"{i} * 2", 1, 1.0, 2.0) for i in range(12))
    assert "more nodes" not in str(CheckReport("gradcheck", "by hand", 1.0, 1, (), suspects=twelve))
    suspects = tuple(Suspect("mul", f"{i} * 2", 1, 1.0, 2.0) for i in range(15))
    text = str(CheckReport("gradcheck", "by hand", 1.0, 1, (), suspects=suspects))
    assert text.count("at fault:") == 12
    assert text.endswith("… and 3 more nodes")


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_ratio_says_nothing_where_nothing_was_expected(got: float, expected: float) -> None:
    ratio = InputCheck("x", got, expected, 0.0, 0.0, "ok").ratio
    assert math.isnan(ratio) if expected == 0 else ratio == got / expected


def test_there_is_no_minus_before_a_zero() -> None:
    assert [show(x) for x in (0.0, -0.0, -1e-300, 2.0000000001)] == ["0", "0", "-1e-300", "2"]


def test_the_words_of_a_failure() -> None:
    @gradwalk.op(lambda x, out: 3.003 * x * x)
    def cube(x: float) -> float:
        return x * x * x

    with pytest.raises(GradientCheckError) as caught:
        gradcheck(lambda x, y: cube(x) + y, [Value(2.0, label="x"), -1.0])
    assert str(caught.value) == (
        "gradcheck failed: 1 of 2 gradients is wrong (central differences, value 7, 4 nodes)\n"
        "  input      backward gave  measured  ratio\n"
        "  x                 12.012        12  1.001  wrong\n"
        "  inputs[1]              1         1      1  ok\n"
        "at fault: cube, at cube(x=2) = 8: its derivative in operand 1 is 12.012 and should be 12 (ratio 1.001)"
    )
