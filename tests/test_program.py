# mypy: allow-untyped-calls
from __future__ import annotations

import ast
import copy
import math
import operator
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from cases import GRADWALK, programs
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, anomaly, no_grad, ops, walk
from gradwalk.errors import AnomalyError, GradwalkError, NotANumberError, NumberTooLargeError, ProgramError
from gradwalk.program import Program, inputs_of, program
from gradwalk.program.language import FUNCTIONS, METHODS
from gradwalk.program.reader import LONGEST

EXPRESSION_L = "e = a*b; d = e + c; L = d*f"


def shape(root: Value) -> list[tuple[Any, ...]]:
    """The graph below a root, node by node: what it is, from what it was made, with which number and slopes."""
    order = list(walk.topological(root))
    place = {id(node): i for i, node in enumerate(order)}
    return [(v._op, v.data, tuple(place[id(x)] for x in v.operands), v.local_derivatives) for v in order]


def refused(text: str, **inputs: Any) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        program(text, **inputs)
    return caught.value


# --- what it gives ---------------------------------------------------------------------------------------------------


def test_every_name_is_a_labelled_value() -> None:
    values = program(EXPRESSION_L, a=2, b=-3, c=10, f=-2)
    assert list(values) == ["a", "b", "c", "f", "e", "d", "L"]
    assert [v.label for v in values.values()] == list(values)
    assert values.root is values["L"]
    assert values.text == EXPRESSION_L
    assert values.inputs == {"a": 2.0, "b": -3.0, "c": 10.0, "f": -2.0}
    values.root.backward()
    assert {name: v.grad for name, v in values.items()} == {"a": 6, "b": -4, "c": -2, "f": 4, "e": -2, "d": -2, "L": 1}


def test_a_last_expression_needs_no_name() -> None:
    result = program("(a+b)*c", a=2, b=-3, c=10)
    assert (result.root.data, result.root.label) == (-10.0, "")
    assert [v.label for v in result.root.operands] == ["", "c"]
    assert list(result) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("2", 2.0),
        ("-2", -2.0),
        ("+a", 3.0),
        ("a", 3.0),
        ("1e-3 + 1_000 + 0x10 + .5", 1016.501),
        ("2 - 3 - 4", -5.0),
        ("2**3**2", 512.0),
        ("-a**2", -9.0),
        ("(-a)**2", 9.0),
        ("a**-1", 1 / 3),
        ("2**a", 8.0),
        ("a/2/b", 0.75),
        ("1/0", math.inf),
        ("a*b # a comment; b = 7", 6.0),
        ("(a +\n b) * \\\n 2", 10.0),
        ("b = a; b += 1; b *= 2; b -= 1; b /= 7; b **= 2; b", 1.0),
        ("a = a + 1; a = a*a; a", 16.0),
        ("x = 1\n\n\n   y = x + 1\n\t# nothing\n\r\n y*a\n\n", 6.0),
        ("tanh(a) - a.tanh()", 0.0),
        ("max(a, b) + maximum(a, b) + a.maximum(b)", 9.0),
        ("max(a, b, 7, 1) - min(a, b, 1)", 6.0),
        ("min(a, b) + minimum(a, b) + a.minimum(b)", 6.0),
        ("abs(0 - a) + (-a).abs()", 6.0),
        ("clamp(a, 0, 1) + a.clamp(0, 1)", 2.0),
        ("leaky_relu(-a) + (-a).leaky_relu() + leaky_relu(-a, 0.5)", -1.56),
        ("where(a > b, 10, 20)", 10.0),
        ("where(a <= b, a, b)", 2.0),
        ("where(0 < a < 2, 1, 0)", 0.0),
        ("where(a == 3, 1, 0) + where(a != 3, 1, 0) + where(a >= 3, 1, 0) + where(a < 3, 1, 0)", 2.0),
        ("where(a - 3, 1, 0)", 0.0),
        ("add(a, b) + mul(a, b) + pow(a, b) + sub(a, b) + div(a, b) + neg(a)", 19.5),
        ("Value(2.0)*a", 6.0),
        ("Value(-2)*a", -6.0),
        ("(2.0).sqrt()**2", 2.0),
        ("exp(log(a)).relu().sigmoid()", 1 / (1 + math.exp(-3))),
    ],
)  # fmt: skip
def test_texts_and_their_results(text: str, data: float) -> None:
    needed = {name: {"a": 3.0, "b": 2.0}[name] for name in inputs_of(text)}
    assert program(text, **needed).root.data == pytest.approx(data, rel=1e-14)


def test_every_op_of_the_table_is_a_function_and_every_method_of_a_value_a_method() -> None:
    points = {"acos": 0.5, "asin": 0.5}
    for name, op in ops.TABLE.items():
        at = points.get(name, 0.75)
        given = {f"x{i}": at + i for i in range(op.arity)}
        text = f"{name}({', '.join(given)})"
        assert program(text, **given).root.data == op(*given.values())
        if hasattr(Value, name):
            first, *rest = given
            assert program(f"{first}.{name}({', '.join(rest)})", **given).root.data == op(*given.values())
    assert set(METHODS) == {name for name in ops.TABLE if hasattr(Value, name)}
    assert set(FUNCTIONS) == {*ops.TABLE, "max", "min", "Value"}


def test_gradients_flow_through_choices() -> None:
    values = program("y = where(a > b, a*a, b*b)", a=3, b=2)
    values.root.backward()
    assert (values["a"].grad, values["b"].grad) == (6.0, 0.0)


def test_a_second_name_is_no_second_label() -> None:
    values = program("b = a; c = (a); d = +a; e = a*1", a=2)
    assert values["b"] is values["c"] is values["d"] is values["a"]
    assert (values["b"].label, values["e"].label) == ("a", "e")


def test_a_name_made_anew_is_a_new_labelled_node() -> None:
    values = program("d = a*2; e = d; d += 1; d = d*e", a=3)
    assert values["d"].data == 42.0
    assert [v.label for v in walk.topological(values["d"]) if v.label] == ["a", "d", "d", "d"]
    assert values["e"].data == 6.0


def test_values_can_be_inputs_and_keep_their_own_labels() -> None:
    a, b = Value(2.0), Value(3.0, label="bias")
    before = a * 5
    values = program("x*y + z", x=a, y=b, z=before)
    values.root.backward()
    assert (a.grad, b.grad) == (8.0, 2.0)
    assert (a.label, b.label, before.label) == ("x", "bias", "z")
    assert values["x"] is a


def test_numbers_of_all_kinds_can_be_inputs() -> None:
    values = program("a + b + c", a=np.float32(0.5), b=True, c=np.array(2))
    assert values.root.data == 3.5
    assert all(type(v.data) is float for v in values.values())


def test_names_are_what_python_makes_of_them() -> None:
    micro, mu = "\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"
    values = program(f"β = {micro}*2", **{micro: 3})
    assert list(values) == [mu, "β"]
    assert values.rerun(**{micro: 4}).root.data == 8.0
    assert program("text*self*inputs", text=2, self=3, inputs=4).root.data == 24.0
    assert program("max = a + 1; max(max, 7)", a=2).root.data == 7.0


def test_nothing_is_recorded_under_no_grad_and_anomalies_are_told() -> None:
    with no_grad():
        assert program("b = a*a", a=3).root.operands == ()
    with anomaly(), pytest.raises(AnomalyError, match=r"log\(a=-1\) gave nan"):
        program("log(a)", a=-1)


# --- again, with other numbers ---------------------------------------------------------------------------------------


def test_rerun_builds_a_new_graph_from_changed_leaves() -> None:
    first = program("b = -3; c = Value(10.0); L = (a*b + c)*2", a=2)
    assert first.inputs == {"a": 2.0, "b": -3.0, "c": 10.0}
    second = first.rerun(a=1, c=0.5)
    assert (first.root.data, second.root.data) == (8.0, -5.0)
    assert not set(map(id, first.values())) & set(map(id, second.values()))
    assert [v.label for v in second.values()] == list(first) == list(second)
    assert second.rerun(b=0).inputs == {"a": 1.0, "b": 0.0, "c": 0.5}
    assert second.text == first.text


def test_rerun_starts_from_what_the_leaves_hold_now() -> None:
    values = program(EXPRESSION_L, a=2, b=-3, c=10, f=-2)
    values.root.backward()
    for name in values.inputs:
        values[name].data += 0.01 * values[name].grad
    assert values.rerun().root.data == pytest.approx(-7.286496)


def test_rerun_keeps_the_values_it_was_given() -> None:
    shared = Value(2.0)
    values = program("a*b", a=shared, b=3)
    assert values.rerun(b=4)["a"] is shared
    again = values.rerun(a=5)
    assert again["a"] is not shared
    assert again.rerun().root.data == 15.0


def test_rerun_takes_the_other_branch() -> None:
    values = program("where(a > 0, a, -2*a)", a=1)
    assert values.rerun(a=-1).root.data == 2.0


@pytest.mark.parametrize(
    ("text", "change", "words"),
    [
        ("b = a*2", "b", "b is computed from others; what can be changed is a"),
        ("b = a*2", "x", "there is no x; what can be changed is a"),
        ("b = 2; b = b + a", "b", "b is computed from others; what can be changed is a"),
        ("b = Value(2)*Value(3)", "b", "b is computed from others; what can be changed is nothing"),
    ],
)
def test_only_leaves_can_be_changed(text: str, change: str, words: str) -> None:
    result = program(text, **dict.fromkeys(inputs_of(text), 3.0))
    with pytest.raises(ProgramError) as caught:
        result.rerun(**{change: 1.0})
    assert str(caught.value) == words


def test_a_long_program_can_be_run_again_and_again() -> None:
    text = "\n".join(["x0 = a"] + [f"x{i} = tanh(x{i - 1}*0.9 + 0.1)" for i in range(1, 500)])
    values = program(text, a=1.0)
    for i in range(20):
        values = values.rerun(a=i)
    assert values.root.data == program(text, a=19).root.data


# --- the mapping -----------------------------------------------------------------------------------------------------


def test_it_is_a_mapping() -> None:
    values = program("b = a*2", a=3)
    assert isinstance(values, Program)
    assert len(values) == 2
    assert "b" in values
    assert "c" not in values
    assert values.get("c") is None
    assert dict(values)["b"].data == 6.0
    with pytest.raises(KeyError, match=r"the program names no 'c'; it names a, b"):
        values["c"]


@pytest.mark.parametrize(
    ("text", "given", "shown"),
    [
        ("(a + b) * c", {"a": 2, "b": -3, "c": 10}, "<program '(a + b) * c': a=2, b=-3, c=10, root=-10>"),
        ("\nb = a*2\n", {"a": 0.5}, "<program 'b = a*2': a=0.5, b=1>"),
        ("log(a)", {"a": -1}, "<program 'log(a)': a=-1, root=nan>"),
        ("2", {}, "<program '2': root=2>"),
    ],
)
def test_the_repr_shows_text_and_numbers(text: str, given: dict[str, float], shown: str) -> None:
    assert repr(program(text, **given)) == shown


def test_the_repr_of_a_long_program_is_short() -> None:
    text = "\n".join(["x0 = a", *(f"x{i} = x{i - 1} + 1" for i in range(1, 100))])
    assert len(repr(program(text, a=1))) < 250
    assert repr(program(text, a=1)).endswith("x98=99, x99=100>")


# --- what is refused, and where --------------------------------------------------------------------------------------

#: A text with « » around the place that must be pointed at, and words of the message.
REFUSALS = [
    ("«import» os", "import is no part of a program: the functions are there already"),
    ("«from» math import tanh", "from is no part of a program"),
    ("«def» f(x): return x", "def is no part of a program: write the formula out"),
    ("«class» A: b = 1", "class is no part of a program"),
    ("«del» a", "del is no part of a program"),
    ("«pass»", "pass is no part of a program"),
    ("«return» a", "return is no part of a program"),
    ("«for» i in a: b = i", "for is no part of a program: there are no loops"),
    ("«while» a: b = 1", "while is no part of a program: there are no loops"),
    ("«if» a: b = 1", "if is no part of a program: a choice is written where"),
    ("«if» a:\n\n  b = 1", "if is no part of a program: a choice is written where"),
    ("«for» i in a:\n  b = 1\n  c = 1", "for is no part of a program: there are no loops"),
    ("«try»:\n  b = 1", "try is no part of a program: it is made of lines such as"),
    ("c = «else»", "else is no part of a program: it is made of lines such as"),
    ("c = «a if a > b else b»", "if … else is no part of a program: a choice is written where(a > b, x, y)"),
    ("c = a.«__class__»", "a dot here is no part of a program"),
    ("c = a.«data» * 2", "data and gradients are read from the result"),
    ("«a.data» = 3", "only a name stands to the left of ="),
    ("«a[0]» = 3", "only a name stands to the left of ="),
    ("c = «a[0]»", "[ ] is no part of a program: every name is one number"),
    ("c = «[a, b]»", "a list is no part of a program"),
    ("c = «{a}»", "{ } is no part of a program"),
    ("c = «{a: b}»", "{ } is no part of a program"),
    ("c = «1,5»", "numbers with a point, as 1.5"),
    ("«a, b» = 1, 2", "a comma is no part of a program: write one name = expression at a time"),
    ("«a = b = 1»", "a line names one result"),
    ("«a: float = 1»", "an annotation is no part of a program"),
    ("c = «lambda x: x»", "lambda is no part of a program"),
    ("c = «[x for x in a]»", "a comprehension is no part of a program"),
    ("c = max(a, «(x for x in a)»)", "a comprehension is no part of a program"),
    ("c = («d := 2»)", ":= is no part of a program"),
    ("c = «'text'»", "text is no part of a program"),
    ("c = «b'text'»", "text is no part of a program"),
    ("c = «f'{a}'»", "an f-string is no part of a program"),
    ("c = «True»", "True or False is no part of a program: write 1 or 0"),
    ("c = «None»", "None is no part of a program"),
    ("c = «...»", "Ellipsis is no part of a program"),
    ("c = «2j»", "a complex number is no part of a program"),
    ("c = «a > b»", "a comparison here is no part of a program: it is only the condition of a choice"),
    ("c = where(«a > b and a > 2», 1, 2)", "and is no part of a program: the condition of a choice is one comparison"),
    ("c = where(«a > b or a > 2», 1, 2)", "or is no part of a program"),
    ("c = where(«not» a > b, 1, 2)", "not is no part of a program: turn the comparison round"),
    ("c = where(«a in b», 1, 2)", "a condition compares two numbers with <"),
    ("c = where(«a is b», 1, 2)", "a condition compares two numbers with <"),
    ("c = where(1, «a > b», 2)", "a comparison here is no part of a program"),
    ("c = where((«a > b») + 1, 1, 2)", "a comparison here is no part of a program"),
    ("c = «~a»", "~ is no part of a program: write -x"),
    ("c = (a) «^» (2)", "^ is no part of a program: write ** for a power"),
    ("c = a «//» b", "// is no part of a program: write / to divide"),
    ("c = a «%» b", "% is no part of a program"),
    ("c = a «@» b", "@ is no part of a program: write the products out"),
    ("c = a «&» b", "& is no part of a program"),
    ("c = a «|» b", "| is no part of a program"),
    ("c = a «<<» b", "<< is no part of a program: write a*2**n"),
    ("c = a «>>» b", ">> is no part of a program"),
    ("c = 1; c «//»= 2", "// is no part of a program"),
    ("c = («a\n // b»)", "// is no part of a program"),
    ("c = tanh(«x=1»)", "x= is no part of a program: write the operands in order"),
    ("c = Value(2.0, «label='c'»)", "label= is no part of a program: labels come from the names"),
    ("c = tanh(«**a»)", "** is no part of a program"),
    ("c = max(«*a»)", "* is no part of a program: write the operands one by one"),
    ("c = «tanh(a, b)»", "tanh takes 1 operand and is given 2"),
    ("c = «clamp(a)»", "clamp takes 3 operands and is given 1"),
    ("c = «a.clamp(1)»", "clamp takes 3 operands and is given 2"),
    ("c = «max(a)»", "max takes 2 or more operands and is given 1"),
    ("c = «leaky_relu()»", "leaky_relu takes 1 or 2 operands and is given 0"),
    ("c = «tnah»(a)", "no function is called tnah; did you mean tanh?"),
    ("c = a.«tnah»()", "no function is called tnah; did you mean tanh?"),
    ("c = «qwzzx»(a)", "no function is called qwzzx; there are Value, abs, acos, add"),
    ("c = a.«max»(b)", "max is not a method: write max(…)"),
    ("c = «math.tanh»(a)", "functions have no module here: write tanh(…)"),
    ("c = «2»(a + b)", "only a function by its name can be called; write * to multiply"),
    ("c = («a + b»)(a)", "only a function by its name can be called; write * to multiply"),
    ("a = 1; a.«backward»()", "backward() is no part of a program: it only computes forward"),
    ("«print»(a)", "print() is no part of a program"),
    ("«eval»(a)", "no function is called eval"),
    ("«__import__»('os')", "no function is called __import__"),
    ("c = «Value(a)»", "Value(…) holds one number, as in Value(3.0)"),
    ("«a + b»; c = 1", "this result is not kept: give it a name"),
    ("c = «2»a", "a number runs into a name; write * to multiply"),
    ("c = a «b»", "this cannot be read; between two names or numbers stands an operator"),
    ("c = a «×» b", "× is no part of a program; write *"),
    ("c = a «²»", "² is no part of a program; write **2"),
    ("c = «−»a", "− is no part of a program; write -"),
    ("c = «(»a", "this cannot be read ('(' was never closed)"),
    ("c = a«)»", "this cannot be read (unmatched ')')"),
    ("c = «" + "9" * 400 + "»", "a number this large does not fit a float"),
    ("c = «tanh»", "tanh is a function; write tanh"),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "words"), REFUSALS, ids=[marked[:40] for marked, _ in REFUSALS])
@pytest.mark.parametrize("before", ["", "a = 1\n", "\n\n   ", "é_ü = 1; ", "日本 = 2; "])
def test_the_carets_stand_under_what_is_wrong(marked: str, words: str, before: str) -> None:
    whole = before + marked
    text = whole.replace("«", "").replace("»", "")
    first, _, rest = whole.partition("«")
    line, column = first.count("\n") + 1, len(first.rpartition("\n")[2]) + 1
    wrong = rest.partition("»")[0].partition("\n")[0]
    error = refused(text, **{name: 1.0 for name in ("a", "b") if name in _free(text)})
    assert words in error.reason
    assert (error.line, error.column) == (line, column)
    assert error.end_column is not None
    assert error.end_column - column == max(1, len(wrong)) or len(wrong) > 100
    head, picture, carets = str(error).split("\n")
    assert head == error.reason
    assert carets.strip() == "^" * len(carets.strip())
    if before != "日本 = 2; " and len(wrong) < 70:
        assert picture[len(carets) - len(carets.strip()) : len(carets)].strip() in (wrong, wrong.strip())


def _free(text: str) -> tuple[str, ...]:
    try:
        return inputs_of(text)
    except ProgramError:
        return ()


def test_carets_stand_right_under_wide_and_combining_characters() -> None:
    assert str(refused("数 = 1 + 本")).split("\n")[1:] == ["  line 1: 数 = 1 + 本", "                   ^^"]
    assert str(refused("e\u0301 = 1; b = qq")).split("\n")[2].count(" ") == len("  line 1: x = 1; b = ")
    assert str(refused("\ta =\tqq")).split("\n")[1:] == ["  line 1:  a = qq", "               ^^"]


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    message = str(refused("x = " + "a + " * 500 + "b[0]" + " + a" * 500, a=1))
    picture, carets = message.split("\n")[1:]
    assert len(picture) < 90
    assert picture.startswith("  line 1: …")
    assert picture.endswith("…")
    assert picture[len(carets) - 4 : len(carets)] == "b[0]"


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("L = d*f", {"d": 1}, "there is no f; give it a value: program(..., f=1.0)\n  line 1: L = d*f\n"),
        ("(a+b)*c", {}, "a, b, c have no value; give them one: program(..., a=1.0, b=1.0, c=1.0)"),
        ("L = xone*2", {"x_one": 1}, "there is no xone; did you mean x_one?"),
        ("L = A*2", {"a": 1}, "there is no A; did you mean a?"),
        ("dd = 1\nL = d*2", {}, "there is no d; did you mean dd?"),
        ("b = a*2\na = 3", {}, "a is used before line 2 makes it; move that line up, or give it a value"),
        ("a += 1", {}, "a is used before line 1 makes it"),
        ("a*b", {"a": 1, "b": 2, "g": 3}, "the program does not use the input g; it uses a, b"),
        ("a*b", {"a": 1, "b": 2, "g": 3, "h": 4}, "the program does not use the inputs g, h; it uses a, b"),
        ("2", {"g": 3}, "the program does not use the input g; it needs none"),
        ("a = 2\nb = a", {"a": 4}, "the program does not use the input a; its line 1 makes a anew"),
        ("", {}, "there is nothing to compute; write a line such as L = a*b"),
        ("  # only this\n\n", {}, "there is nothing to compute"),
        ("a\0b", {}, "this cannot be read"),
        ("\ud800", {}, "this cannot be read"),
        ("9" * 5000, {}, "a number this large does not fit a float"),
    ],
    ids=str,
)  # fmt: skip
def test_inputs_and_texts_that_do_not_fit(text: str, given: dict[str, float], message: str) -> None:
    assert str(refused(text, **given)).startswith(message)


@pytest.mark.parametrize("text", [None, 3, b"a*b", ["a*b"], Value(2.0)])
def test_a_program_is_text(text: Any) -> None:
    with pytest.raises(ProgramError, match="a program is text"):
        program(text)


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        ("2", NotANumberError, "the input a: a Value holds one real number .* not str"),
        (None, NotANumberError, "the input a: .* not NoneType"),
        ([1.0], NotANumberError, "the input a: .* not list"),
        (2j, NotANumberError, "the input a: .* not complex"),
        (10**400, NumberTooLargeError, "the input a: an int of 1329 bits"),
    ],
    ids=str,
)
def test_inputs_are_numbers(x: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        program("a*2", a=x)
    with pytest.raises(error, match=words):
        program("a*2", a=1).rerun(a=x)


def test_inf_and_nan_are_numbers() -> None:
    assert program("a + 1e400", a=math.inf).root.data == math.inf
    assert math.isnan(program("a*0", a=math.nan).root.data)


def test_an_error_survives_pickling() -> None:
    error = refused("a = 1\nb = a[0]")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(again) == str(error)
        assert (again.line, again.column, again.end_column, again.reason) == (2, 5, 9, error.reason)
    assert isinstance(error, GradwalkError)
    assert isinstance(error, ValueError)


# --- long and deep ---------------------------------------------------------------------------------------------------

DEEP = {
    "sum": lambda n: "+".join(["a"] * n),
    "minus": lambda n: "-" * n + "a",
    "power": lambda n: "**".join(["a"] * n),
    "parentheses": lambda n: "(" * n + "a" + ")" * n,
    "calls": lambda n: "tanh(" * n + "a" + ")" * n,
    "methods": lambda n: "a" + ".tanh()" * n,
    "list": lambda n: "[" * n + "a" + "]" * n,
}


@pytest.mark.parametrize("name", DEEP)
def test_depth_ends_in_words_and_never_in_a_crash(name: str) -> None:
    for n in (300, 1000, 3500, 9000):
        text = f"b = 2\nc = {DEEP[name](n)}"
        found = run_or_refused(text)
        if isinstance(found, ProgramError):
            assert found.line == 2
            assert found.reason.startswith("an expression nests too deeply") or name == "list"
        else:  # how deep a text can be read is up to Python: 3.13 reads deeper ones than 3.11
            assert n <= 3000 or sys.version_info >= (3, 13)


def test_what_is_deep_but_can_be_read_is_run() -> None:
    assert program(DEEP["sum"](1000), a=1).root.data == 1000.0
    assert program(DEEP["methods"](300), a=1).root.data > 0.0
    assert program(DEEP["parentheses"](90), a=1).root.data == 1.0


def test_depth_over_several_lines_has_no_single_line_to_blame() -> None:
    found = run_or_refused("a = 1\nc = (" + "\n + ".join(["a"] * 9000) + ")")
    if isinstance(found, ProgramError):
        assert found.reason.startswith("an expression nests too deeply")
        assert found.line is None
    else:
        assert sys.version_info >= (3, 13)
        assert found.root.data == 9000.0


def test_a_text_has_a_limit() -> None:
    assert program("a" + " " * (LONGEST - 1), a=1).root.data == 1.0
    error = refused("a" + " " * LONGEST, a=1)
    assert error.reason.startswith("a program has at most 100,000 characters, and this one has 100,001")


def test_many_lines_are_no_trouble() -> None:
    text = "\n".join(["x = 1", *["x += 1"] * 14_000])
    assert program(text).root.data == 14_001.0


# --- against Python itself -------------------------------------------------------------------------------------------


def test_nothing_is_run_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("a program must not reach eval or exec")

    monkeypatch.setattr(builtins, "eval", forbidden)
    monkeypatch.setattr(builtins, "exec", forbidden)
    assert program("b = tanh(a)*2; where(b > 1, b, 1)", a=1).root.data == 2 * math.tanh(1)
    for text in ("eval('1')", "exec('1')", "().__class__", "__import__('os').getcwd()", "open('x')", "a.__init__()"):
        refused(text, **dict.fromkeys(_free(text), 1.0))


def numbers() -> st.SearchStrategy[str]:
    return st.one_of(
        st.integers(0, 1000).map(str), st.floats(0, 1e6).map(repr), st.sampled_from(["1e-3", ".5", "2.", "1_0", "0x1f"])
    )


def expressions() -> st.SearchStrategy[str]:
    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        signs = st.sampled_from(["+", "-", "*", "/", " + ", " - ", " * "])
        return st.one_of(
            st.tuples(inner, signs, inner).map("".join),
            st.tuples(inner, signs, inner).map(lambda parts: f"({''.join(parts)})"),
            inner.map(lambda x: f"-({x})"),
            inner.map(lambda x: f"({x})**2"),
            inner.map(lambda x: f"+ {x}"),
            st.tuples(st.sampled_from(["tanh", "sigmoid", "relu", "abs"]), inner).map(lambda p: f"{p[0]}({p[1]})"),
            st.tuples(inner, st.sampled_from(["tanh", "sin"])).map(lambda p: f"({p[0]}).{p[1]}()"),
        )

    return st.recursive(st.one_of(numbers(), st.sampled_from(["a", "b", "c_1"])), larger, max_leaves=12)


POINT = {"a": 2.0, "b": -3.5, "c_1": 0.25}


def in_python(text: str, leaf: Any) -> Any:
    """What Python itself makes of the text, with numbers as floats and our functions."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.value = float(node.value)  # type: ignore[arg-type]
    known = {name: op for name, op in ops.TABLE.items() if name not in ("abs",)}
    return eval(compile(tree, "", "eval"), {**known, "abs": abs}, {name: leaf(x) for name, x in POINT.items()})


class Number(float):
    """A float with the methods that a Value has, for Python's own arithmetic."""

    def __getattr__(self, name: str) -> Any:
        if name not in ops.TABLE:
            raise AttributeError(name)
        return lambda *operands: Number(ops.TABLE[name](float(self), *operands))


for _operation in ("add", "sub", "mul", "truediv", "pow"):
    _plain = getattr(operator, _operation)
    setattr(Number, f"__{_operation}__", lambda x, y, f=_plain: Number(f(float(x), float(y))))
    setattr(Number, f"__r{_operation}__", lambda x, y, f=_plain: Number(f(float(y), float(x))))
Number.__neg__ = lambda self: Number(-float(self))  # type: ignore[method-assign]
Number.__pos__ = lambda self: self  # type: ignore[method-assign]
Number.__abs__ = lambda self: Number(abs(float(self)))  # type: ignore[method-assign]


@settings(max_examples=300, deadline=None)
@given(expressions())
@example("a--b")
@example("- a**2")
@example("2.**-a")
def test_expressions_are_pythons_own_arithmetic(text: str) -> None:
    ours = program(text, **{name: POINT[name] for name in inputs_of(text)}).root.data
    try:
        theirs = in_python(text, Number)
    except (ZeroDivisionError, OverflowError, AttributeError):  # where Python's floats raise, IEEE's do not
        return
    theirs = float(theirs)
    assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))


@settings(max_examples=300, deadline=None)
@given(expressions())
@example("2*a + 1 - 3/a**2")
def test_the_graph_is_the_one_python_builds_from_values(text: str) -> None:
    try:
        theirs = in_python(text, Value)
    except (ZeroDivisionError, OverflowError, AttributeError):  # arithmetic of plain numbers, or a method on one
        return
    ours = program(text, **{name: POINT[name] for name in inputs_of(text)}).root
    if not isinstance(theirs, Value):
        theirs = Value(theirs)
    assert str(shape(ours)) == str(shape(theirs))  # as text, where nan is nan


@settings(max_examples=60, deadline=None)
@given(programs(max_steps=40))
def test_random_programs_written_as_text_give_the_engines_numbers(random: Any) -> None:
    signs = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
    lines = []
    for i, (name, operands) in enumerate(random.steps, start=len(random.leaves)):
        parts = [f"v{x}" if isinstance(x, int) else f"({x!r})" for x in operands]
        if name in signs:
            lines.append(f"v{i} = {f' {signs[name]} '.join(parts)}")
        else:
            lines.append(f"v{i} = {name}({', '.join(parts)})")
    text = "\n".join(lines)
    given_now = {f"v{i}": x for i, x in enumerate(random.leaves) if f"v{i}" in inputs_of(text)}
    values = program(text, **given_now)
    nodes = random.run(Value, GRADWALK)
    values.root.backward()
    nodes[-1].backward()
    for name, v in values.items():
        twin = nodes[int(name[1:])]
        assert (v.data, v.grad, v.label) == (twin.data, twin.grad, name)


# --- any text at all -------------------------------------------------------------------------------------------------

PIECES = [
    "a", "b", "c", " = ", "=", "+", "-", "*", "/", "**", "(", ")", ";", "\n", " ", "\t", "\r", "\\\n", ",", ".", "1",
    "2.5", "1e400", "tanh", "relu", "max", "where", "Value", "(a)", "()", "<", ">=", "==", "#", "'", '"', "f'", "[",
    "]", "{", "}", "lambda x:", "if", " else ", "for ", " in ", "import ", ":=", "->", "@", "^", "~", "not ", "and",
    ".data", "__class__", "_", "µ", "é", "日", "\u2212", "\u00a0", "\x00", "\ud800", "\ufeff", "\x0c", "\u2028", "0x",
    "1_", "08", "1if", "async ", "await ", "yield ", "*a", "**a", "k=", "\\d", "return ", "match a:\n", "case ",
    "type X = ", "True", "-" * 50, "(" * 50, "\N{COLLISION SYMBOL}",
]  # fmt: skip


def run_or_refused(text: str) -> Program | ProgramError:
    """The text as a program with 1.5 for every input; anything but a ProgramError is let through."""
    try:
        return program(text, **dict.fromkeys(inputs_of(text), 1.5))
    except ProgramError as error:
        return error


def check_any_text(text: str) -> None:
    found = run_or_refused(text)
    if isinstance(found, Program):
        assert isinstance(found.root.data, float)
        assert set(found.inputs) >= set(inputs_of(text))
        found.root.backward()
        assert str(found.rerun().root.data) == str(found.root.data)
        return
    assert found.reason
    if found.line is not None:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert 1 <= found.line <= len(lines)
        assert found.column is not None
        assert found.end_column is not None
        assert 1 <= found.column < found.end_column
        assert found.column <= len(lines[found.line - 1]) + 1
        assert str(found).count("\n") == 2


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(st.one_of(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.text(max_size=60)))
@example("a\x0c = 1")
@example("\ufeffa = 1")
@example("a = 1\x1ab")
@example("'\\d'")
@example("1if a else 2")
@example("if a:\n")
@example("(\n")
@example("'''")
@example("a = (\\")
def test_any_text_is_run_or_refused_by_name(text: str) -> None:
    check_any_text(text)


@settings(max_examples=300, deadline=None)
@given(expressions(), st.data())
def test_a_slip_of_the_pen_is_run_or_refused_by_name(text: str, data: st.DataObject) -> None:
    """One character of a right program changed, left out or put in."""
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.sampled_from(["", " ", ";", "\n", "x", "(", ")", "'", ".", ",", "=", "*", "€", "\\", "2", "["]))
    check_any_text(text[:at] + put + text[at + data.draw(st.integers(0, 1)) :])


# --- the name gradwalk.program ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    ["", "import gradwalk.program\n", "from gradwalk.program import inputs_of\n", "from gradwalk import presets\n",
     "from gradwalk.program import program\n", "import gradwalk.program.reader\n"],
)  # fmt: skip
def test_gradwalk_program_can_be_called_whatever_was_imported_before(first: str) -> None:
    code = f"""{first}
import gradwalk
from gradwalk import program
assert gradwalk.program("a*b", a=2, b=3).root.data == program("a*b", a=2, b=3).root.data == 6.0
assert gradwalk.program("text*self", text=2, self=3).root.data == 6.0
print(*sorted(name for name in ("numpy", "torch", "matplotlib", "difflib") if name in __import__("sys").modules))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "\n", run.stderr


def test_gradwalk_knows_its_programs() -> None:
    assert gradwalk.program("2*a", a=4).root.data == 8.0
    assert "program" in gradwalk.__all__
