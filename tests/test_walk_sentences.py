"""Each event in words: short numbers, plain sentences, formulas that KaTeX takes."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Tensor, Value, ops
from gradwalk.walk import Push, many_sentences, readable, record, search_steps
from gradwalk.walk.formatting import adding_up, clean
from gradwalk.walk.latex import applied, name, number
from gradwalk.walk.many import Many
from gradwalk.walk.sentences import listed, written

inf, nan = math.inf, math.nan


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "text", "formula"),
    [
        (0.4999999999999998, "0.5", "0.5"),
        (-1.5, "−1.5", "-1.5"),
        (6.8813735870195432, "6.8814", "6.8814"),
        (10.0, "10", "10"),
        (100.0, "100", "100"),
        (0.0, "0", "0"),
        (-0.0, "0", "0"),
        (1.0, "1", "1"),
        (-1.0, "−1", "-1"),
        (0.99999999, "1", "1"),
        (0.001, "0.001", "0.001"),
        (0.0009, "9e−4", r"9 \times 10^{-4}"),
        (-1e-7, "−1e−7", "-10^{-7}"),
        (1e-7, "1e−7", "10^{-7}"),
        (1.23456e-300, "1.235e−300", r"1.235 \times 10^{-300}"),
        (999_999.5, "999999.5", "999999.5"),
        (1_000_000.0, "1000000", "1000000"),
        (1_000_000.5, "1e6", "10^{6}"),
        (123_456_789.0, "123456789", "123456789"),
        (123_456_789.25, "1.235e8", r"1.235 \times 10^{8}"),
        (999_999_999_999_999.0, "999999999999999", "999999999999999"),
        (1e15, "1e15", "10^{15}"),
        (-1.5e300, "−1.5e300", r"-1.5 \times 10^{300}"),
        (inf, "inf", r"\infty"),
        (-inf, "−inf", r"-\infty"),
        (nan, "nan", r"\text{nan}"),
        (None, "nothing", r"\text{nothing}"),
    ],
)
def test_numbers(x: float | None, text: str, formula: str) -> None:
    assert readable(x) == text
    assert number(x) == formula


@given(st.floats(-1e308, 1e308))
def test_a_short_number_is_near_the_real_one_and_never_a_false_zero(x: float) -> None:
    text = readable(x)
    assert "-" not in text
    shown = float(text.replace("−", "-"))
    assert (shown == 0.0) == (x == 0.0)
    assert math.isclose(shown, x, rel_tol=1e-3, abs_tol=5e-5) or math.isclose(shown, x, rel_tol=0.06)
    assert len(text) <= 16


def test_a_label_of_forty_characters_is_shown_whole() -> None:
    assert clean("x" * 40) == "x" * 40
    assert clean("x" * 41) == "x" * 39 + "…"
    assert clean("one\ntwo\tthree") == "one two three"


# --- sentences -------------------------------------------------------------------------------------------------------


def pushes(root: Value | Tensor) -> list[Push]:
    return [event for event in record(root).events if isinstance(event, Push)]


def test_a_first_contribution_of_0_is_added_to_and_not_replaced() -> None:
    a = Value(2.0, label="a")
    zero, five = (event for event in pushes(a * 5 + a * 0) if event.operand == 0)
    assert zero.sentence.endswith("Before it had nothing; now a.grad = 0.")
    assert five.sentence.endswith("Before it had 0; now a.grad = 0 + 5 = 5.")


def test_the_rules_of_plus_and_times() -> None:
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    n = a + b
    n.label = "n"
    assert [push.sentence for push in pushes(n)] == [
        "+ copies: n.grad, 1, goes to `a` as it is. Before it had nothing; now a.grad = 1.",
        "+ copies: n.grad, 1, goes to `b` as it is. Before it had nothing; now b.grad = 1.",
    ]
    n = a * b
    n.label = "n"
    assert [push.sentence for push in pushes(n)] == [
        "× swaps and scales: `a` gets n.grad, 1, times the other factor, `b` = −3: 1 × −3 = −3. "
        "Before it had nothing; now a.grad = −3.",
        "× swaps and scales: `b` gets n.grad, 1, times the other factor, `a` = 2: 1 × 2 = 2. "
        "Before it had nothing; now b.grad = 2.",
    ]
    n = a * 7
    n.label = "n"
    assert "times the other factor, 7: 1 × 7 = 7." in pushes(n)[0].sentence


def test_the_rule_of_times_on_tensors() -> None:
    a, b = Tensor([1.0, 2.0, 4.0], label="a"), Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], label="b")
    n = a * a
    n.label = "n"
    assert [push.sentence for push in pushes((n * b).sum())][1:4] == [
        "× swaps and scales: `n` gets n3.grad, of shape (2, 3), times the other factor, `b`, number by number; it was "
        "repeated from (3,) to (2, 3), so what comes back is summed. Before it had nothing; now n.grad = [5, 7, 9].",
        "× swaps and scales: `b` gets n3.grad, of shape (2, 3), times the other factor, `n`, number by number. "
        "Before it had nothing; now b.grad holds numbers of shape (2, 3).",
        "× swaps and scales: `a` gets n.grad, [5, 7, 9], times the other factor, `a`, number by number. "
        "Before it had nothing; now a.grad = [5, 14, 36].",
    ]


def test_every_other_op_multiplies_by_its_slope() -> None:
    x = Value(0.5, label="x")
    n = x.tanh()
    n.label = "n"
    assert pushes(n)[0].sentence == (
        "tanh multiplies by its slope: `x` gets n.grad, 1, times 0.7864: 1 × 0.7864 = 0.7864. "
        "Before it had nothing; now x.grad = 0.7864."
    )
    for root, symbol in ((x - 1, "… − …"), (x / 2, "… / …"), (x**2, "…**2"), (x**x, "…**…"), (-x, "neg")):
        assert pushes(root)[0].sentence.startswith(f"{symbol} multiplies by its slope: `x` gets ")


def test_a_second_contribution_adds_up() -> None:
    a = Value(3.0, label="a")
    assert pushes(a * a)[1].sentence.endswith("Before it had 3; now a.grad = 3 + 3 = 6.")
    assert pushes(a * a)[1].formula == "a.grad += n1.grad × ∂n1/∂a = 1 × 3 = 3"


def test_zero_is_something_and_nan_replaces_nothing() -> None:
    a = Value(3.0, label="a")
    assert pushes(a * 2 + a * 0)[-1].sentence.endswith("Before it had 0; now a.grad = 0 + 2 = 2.")
    assert pushes(a * nan + a * 2)[-1].sentence.endswith("Before it had 2; now a.grad = 2 + nan = nan.")


def test_seed_and_visits() -> None:
    a = Value(2.0, label="a")
    b = a.exp()
    total = Value(0.0, label="zero")
    for _ in range(6):
        total = total + b
    b.label, total.label = "b", "sum"
    told = {(event.kind, event.node): event.sentence for event in record(total).events}
    root = record(total).graph.root
    assert told["seed", root] == "Begin at `sum`, the root: it changes as fast as itself, so its gradient is 1."
    assert told["visit", root] == "`sum` is the root: sum.grad = 1 is final."
    names = {node.name: node.id for node in record(total).graph.nodes}
    assert re.fullmatch(
        r"All that use `b`, `n\d`, `n\d`, `n\d` and 3 others, have pushed: b\.grad = 6 is final\.",
        told["visit", names["b"]],
    )
    assert record(total, seed=2.5).events[7].sentence == "Begin at `sum`, the root: its gradient is set to 2.5."
    assert record(a + 0, seed=2.5).events[1].formula == "n2.grad = ∂n2/∂n2 = 2.5"
    assert record(a + 0, seed=2.5).events[1].latex == r"n_{2}.\text{grad} = \frac{\partial n_{2}}{\partial n_{2}} = 2.5"
    only = next(e for e in record(b.exp()).events if e.kind == "visit" and e.node == 1)
    assert only.sentence == "`n2`, the only node that uses `b`, has pushed: b.grad = 1618.178 is final."
    assert only.formula == "b.grad = 1618.178"


def test_a_visit_with_nothing() -> None:
    a = Value(2.0, label="a")
    b = a.exp()
    b.label = "b"
    visit = record(b.exp(), [1, 2]).events[3]
    assert visit.formula == "b.grad holds nothing"
    assert visit.latex == r"b.\text{grad} = \text{nothing}"


def test_formulas_in_numbers() -> None:
    x, y = Value(-6.0, label="x"), Value(6.8813735870195432, label="y")
    both = x + y
    both.label = "n"
    step = record(both).events[0]
    assert step.formula == "n.data = −6 + 6.8814 = 0.8814"
    assert step.sentence == "`n` is `x` + `y`: −6 + 6.8814 = 0.8814."
    assert step.latex == "n = x + y = -6 + 6.8814 = 0.8814"
    assert record(y.tanh()).events[0].sentence == "`n1` is tanh(`y`): tanh(6.8814) = 1."


@pytest.mark.parametrize(
    ("op", "parts", "text", "formula"),
    [
        ("+", ["a", "b"], "a + b", "a + b"),
        ("*", ["a", "b"], "a × b", r"a \times b"),
        ("-", ["4", "−2"], "4 − (−2)", "4 - (-2)"),
        ("-", ["4", "2"], "4 − 2", "4 - 2"),
        ("/", ["1", "−2"], "1 / −2", r"\frac{1}{-2}"),
        ("**2", ["−3"], "(−3)**2", "{(-3)}^{2}"),
        ("**-0.5", ["3"], "3**−0.5", "{3}^{-0.5}"),
        ("**nan", ["3"], "3**nan", r"{3}^{\text{nan}}"),
        ("**", ["−2", "−1"], "(−2)**(−1)", "{(-2)}^{-1}"),
        ("neg", ["−2"], "−(−2)", "-(-2)"),
        ("neg", ["2"], "−2", "-2"),
        ("tanh", ["x"], "tanh(x)", r"\tanh(x)"),
        ("sqrt", ["x"], "sqrt(x)", r"\sqrt{x}"),
        ("abs", ["x"], "abs(x)", r"\lvert x \rvert"),
        ("asin", ["x"], "asin(x)", r"\arcsin(x)"),
        ("ReLU", ["x"], "ReLU(x)", r"\text{ReLU}(x)"),
        ("max", ["x", "y"], "max(x, y)", r"\max(x, y)"),
        ("clamp", ["x", "0", "1"], "clamp(x, 0, 1)", r"\text{clamp}(x, 0, 1)"),
        ("atan2", ["y", "x"], "atan2(y, x)", r"\text{atan2}(y, x)"),
        ("", ["x"], "f(x)", r"\text{f}(x)"),
        ("+", ["3"], "3 + 3", "3 + 3"),
        ("*", ["3"], "3 × 3", r"3 \times 3"),
        ("@", ["x", "y"], "x @ y", r"x \text{@} y"),
        ("-", ["x"], "-(x)", r"\text{-}(x)"),
    ],
)
def test_operations_as_people_write_them(op: str, parts: list[str], text: str, formula: str) -> None:
    assert written(op, parts) == text
    assert applied(op, [part.replace("−", "-") for part in parts]) == formula


def test_lists_of_names() -> None:
    nodes = list(record(sum((Value(float(i), label=c) for i, c in enumerate("abcde")), Value(0.0))).graph.nodes)
    leaves = [node for node in nodes if node.label]
    assert listed(leaves[:1]) == "`a`"
    assert listed(leaves[:2]) == "`a` and `b`"
    assert listed(leaves[:4]) == "`a`, `b`, `c` and `d`"
    assert listed(leaves[:5]) == "`a`, `b`, `c` and 2 others"


@pytest.mark.parametrize("label", ["x" * 1000, "two\nlines", "bell\x07", "tab\t"])
def test_a_label_does_not_break_a_sentence(label: str) -> None:
    a = Value(2.0, label=label)
    b = Value(4.0, (a,), label)
    b.label = label
    for event in (*record(b).events, *record(a * a).events, *search_steps(a * a)):
        for text in (event.sentence, event.formula, event.latex):
            assert text.isprintable()
            assert len(text) < 400


def test_a_long_label_is_cut_visibly() -> None:
    a = Value(2.0, label="x" * 1000)
    assert record(a * 2).events[0].sentence == f"`n2` is `{'x' * 39}…` × 2: 2 × 2 = 4."
    assert record(a).graph.nodes[0].name == "x" * 1000


# --- LaTeX -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "formula"),
    [
        ("a", "a"),
        ("x1", "x_{1}"),
        ("w_1", "w_{1}"),
        ("w_ab", "w_{ab}"),
        ("x1w1", r"\text{x1w1}"),
        ("a_b_c", r"\text{a\_b\_c}"),
        ("_", r"\text{\_}"),
        ("\\", r"\text{\textbackslash{}}"),
        ("{}", r"\text{\{\}}"),
        ("<b>", r"\text{\textless{}b\textgreater{}}"),
        ("50%", r"\text{50\%}"),
        ("a|b", r"\text{a\textbar{}b}"),
        ("😀", r"\text{😀}"),
        ("x²", r"\text{x²}"),
        ("x१", r"\text{x१}"),
    ],
)
def test_labels_in_formulas(label: str, formula: str) -> None:
    assert name(label) == formula


COMMANDS = {
    rf"\{word}"
    for word in (
        *("text", "frac", "partial", "times", "mathrel", "infty", "sqrt", "lvert", "rvert", "ne", "max", "min"),
        *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan"),
        *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"),
        *"{}_$%#&",
    )
}


def check_latex(formula: str) -> None:
    """Every command is one that KaTeX has, braces pair up, and no character stands bare that LaTeX would read."""
    depth = 0
    texts: list[int] = []  # at which depths a \text{ began
    tokens = re.findall(r"\\[A-Za-z]+|\\.|.", formula)
    for token, following in itertools.pairwise([*tokens, ""]):
        if token[0] == "\\":
            assert token in COMMANDS, (token, formula)
            if token == r"\text":
                assert following == "{"
                texts.append(depth)
        elif token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            assert depth >= 0, formula
            if texts and texts[-1] == depth:
                texts.pop()
        elif token in "_^":
            assert not texts, formula
            assert following == "{", formula
        else:
            assert token not in "$%#&~<>|\n\t", (token, formula)
    assert depth == 0, formula


ODD = [
    "a",
    "x1",
    "{",
    "}",
    "\\",
    "\\text{",
    "😀",
    "<script>alert(1)</script>",
    "a|b",
    '"',
    "'",
    "`",
    "~^",
    "$ %#&",
    "\n",
]


def every_kind_of_node(label: str) -> list[Value]:
    a, b = Value(-2.5e-9, label=label), Value(3.0, label="b")
    functions = [op for op in ops.TABLE.values() if op.arity == 1]
    roots = [a * b, a + b, a - b, a / b, a**2, a**-0.5, a**b, -a, a / 0.0, a * nan, a * inf, a.clamp(0, 1)]
    roots += [op(a) for op in functions] + [ops.maximum(a, b), ops.where(a, a, b), Value(1.0, (a,), label)]
    for root in roots:
        root.label = label
    return roots


@pytest.mark.parametrize("label", ODD)
def test_formulas_are_latex_whatever_the_label(label: str) -> None:
    for root in every_kind_of_node(label):
        for event in (*record(root).events, *search_steps(root)):
            check_latex(event.latex)


@given(st.text(max_size=60))
def test_any_text_makes_a_formula(label: str) -> None:
    check_latex(name(label))


def test_the_checker_notices() -> None:
    for wrong in (r"\nope", "{", "}", r"\text{a_b}", "a_1", "50%", r"\text{<}", r"\text x"):
        with pytest.raises(AssertionError):
            check_latex(wrong)


def test_the_formula_of_a_push() -> None:
    e, a = Value(-6.0, label="e"), Value(2.0, label="a")
    n = a * -3
    n.label = "e1"
    assert pushes(n)[0].latex == (
        r"a.\text{grad} \mathrel{+}= e_{1}.\text{grad} \times \frac{\partial e_{1}}{\partial a} = 1 \times (-3) = -3"
    )
    tiny = pushes(e * 1e-9)[0]
    assert tiny.latex.endswith(r"= 1 \times 10^{-9} = 10^{-9}") or tiny.latex.endswith(
        r"= 1 \times (10^{-9}) = 10^{-9}"
    )


def test_custom_ops_have_words_too() -> None:
    @gradwalk.op(lambda x, out: 3.0 * x * x)
    def cube(x: Any) -> Any:
        return x * x * x

    events = record(cube(Value(2.0, label="x"))).events
    assert events[0].sentence == "`n1` is cube(`x`): cube(2) = 8."
    assert events[0].latex == r"n_{1} = \text{cube}(x) = \text{cube}(2) = 8"
    assert events[-1].sentence.startswith("cube multiplies by its slope: `x` gets n1.grad, 1, times 12: 1 × 12 = 12.")


@pytest.mark.parametrize(
    ("parts", "total", "decimals"),
    [
        ([0.44444, 0.44444], 0.88888, 5),
        ([0.444444444, 0.444444444], 0.888888888, 9),
        ([0.4444444444, 0.4444444444], 0.8888888888, 4),  # ten would do, and are too many to read
        ([-0.44444, -0.44444], -0.88888, 5),
        ([math.inf, -math.inf], math.nan, 4),
        ([1.0, math.inf], math.inf, 4),
    ],
)
def test_a_sum_is_shown_with_as_many_decimals_as_let_it_add_up(parts: list[float], total: float, decimals: int) -> None:
    assert adding_up(parts, total) == decimals


def test_few_numbers_of_a_tensor_are_written_out_and_of_none_the_shape() -> None:
    shown = [readable(Many((n,), (1.5,) * n)) for n in (0, 1, 3, 4)]
    assert shown == ["(0,)", "[1.5]", "[1.5, 1.5, 1.5]", "(4,)"]
    assert readable(Many((), (1.5,))) == "1.5"
    assert readable(Many((1, 1), (1.5,))) == "(1, 1)"


def test_the_rules_of_other_ops_on_tensors() -> None:
    a, b = Tensor([1.0, 2.0], label="a"), Tensor([[3.0, 4.0], [5.0, 6.0]], label="b")
    g, repeated = "n2.grad, of shape (2, 2),", "; it was repeated from (2,) to (2, 2), so what comes back is summed."
    for root, first, second in (
        (a + b, f"+ copies: {g} goes to `a`{repeated}", f"+ copies: {g} goes to `b` as it is."),
        (a - b, f"− copies: {g} goes to `a`{repeated}", f"− flips the sign: `b` gets −{g} number by number."),
        (b - a, f"− copies: {g} goes to `b` as it is.", f"− flips the sign: `a` gets −{g} number by number{repeated}"),
        (a / b, f"/ multiplies each number by its slope: `a` gets {g} times that{repeated}",
                f"/ multiplies each number by its slope: `b` gets {g} times that."),
    ):  # fmt: skip
        told = [push.sentence for push in pushes(root.sum())][1:]
        assert told[0].startswith(first), told[0]
        assert told[1].startswith(second), told[1]


def test_every_rule_on_tensors_is_one_sentence() -> None:
    for op, words in many_sentences.BACK.items():
        told = words.format(g="g.grad, of shape (2, 2),", to="`a`") + "."
        assert told.count("g.grad, of shape (2, 2), ") == 1, op  # the comma is followed by a word
        assert "`a`" in told
