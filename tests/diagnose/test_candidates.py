"""Naming: the same bugs in engines that look nothing like the teaching engine, in single ops, and several at once."""

from __future__ import annotations

import pytest

from gradwalk.diagnose import Diagnosis, grade, museum, teaching
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.candidates import faults_of, whole
from gradwalk.diagnose.comparison import Comparison
from gradwalk.diagnose.composition import composed_of, helpers_of
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.formulas import evaluate, measure, pretty, recognise
from gradwalk.diagnose.museum.faults import METHOD, Fault, Kind, source_with
from gradwalk.diagnose.op_probes import evidence, first_op, ops_in

pytestmark = pytest.mark.slow

SETS = "a set of operands and recursion"
TUPLES = "local derivatives in tuples"
FUNCTIONS = "functions and a count of uses"
TAPE = "a tape"
CLASSES = "classes of ops"

CHILDREN = "                for child in v._prev:\n                    build_topo(child)\n"
SEARCH = teaching.STYLES[SETS][
    teaching.STYLES[SETS].index("        topo = []\n") : teaching.STYLES[SETS].index(teaching.EDGES)
]


def dedent(lines: str) -> str:
    """Lines one level further out."""
    return "".join(line.removeprefix("    ") for line in lines.splitlines(keepends=True))


#: Bugs written into other styles: the style, what it says, what it says instead, and what that is.
ELSEWHERE = [
    (SETS, "self.grad += ", "self.grad = ", {"overwriting"}),
    (SETS, "            if v not in visited:\n                visited.add(v)\n", "            if True:\n",
     {"listed-twice"}),
    (SETS, f"{CHILDREN}                topo.append(v)\n", f"{dedent(CHILDREN)}            topo.append(v)\n",
     {"listed-twice"}),
    (SETS, SEARCH, "        self.grad = 1.0\n        follow(self)\n\n\ndef follow(v):\n    v._backward()\n"
     "    for operand in v._prev:\n        follow(operand)\n", {"no-order", "left-over-gradients"}),
    (SETS, f"{CHILDREN}                topo.append(v)\n", f"                topo.append(v)\n{CHILDREN}", {"wrong-end"}),
    (SETS, "        for v in reversed(topo):\n", "        for v in topo:\n", {"wrong-end"}),
    (SETS, "        self.grad = 1.0\n        for v", "        for v", {"not-seeded"}),
    (SETS, "        for v in topo:\n            if v._prev:\n                v.grad = 0.0\n", "",
     {"left-over-gradients"}),
    (SETS, "(1 - t**2)", "(1 - self.data**2)", {"tanh-of-its-input"}),
    (SETS, "return other + (-self)", "return self + (-other)", {"reversed-subtraction"}),
    (SETS, "return other * self**-1", "return self * other**-1", {"reversed-division"}),
    (SETS, "sys.setrecursionlimit(20_000)", "pass", {"recursion-limit"}),
    (SETS, "left, right = self.data, other.data\n        result = Value(left * right",
     "result = Value(self.data * other.data", {None}),
    (SETS, "self.grad += 1.0 * result.grad", "self.grad += 1.0", {"without-upstream"}),
    (SETS, "result._backward = _backward\n        return result\n\n    def __mul__",
     "self._backward = _backward\n        return result\n\n    def __mul__", {"closure-on-operand"}),
    (TUPLES, "child.grad += local * node.grad", "child.grad = local * node.grad", {"overwriting"}),
    (TUPLES, "child.grad += local * node.grad", "child.grad += local", {"without-upstream"}),
    (TUPLES, "child.grad += local * node.grad", "child.grad -= local * node.grad", {"wrong-derivative"}),
    (TUPLES, "(other.data, self.data)", "(self.data, other.data)", {"wrong-derivative"}),
    (TUPLES, "        return -self + other\n", "        return self - other\n", {"reversed-subtraction"}),
    (TUPLES, "zip(node._children, node._locals)", "dict(zip(node._children, node._locals)).items()",
     {"keyed-by-operand"}),
    (TUPLES, "        for node in order:\n            if node._children:\n                node.grad = 0\n", "",
     {"left-over-gradients"}),
    (TUPLES, "            if node._children:\n                node.grad = 0\n", "            node.grad = 0\n",
     {"leaves-reset"}),
    (FUNCTIONS, "parent.gradient += slope", "parent.gradient = slope", {"overwriting"}),
    (FUNCTIONS, "[1.0, -1.0]", "[1.0, 1.0]", {"minus-without-its-sign"}),
    (FUNCTIONS, "    root.gradient = 1.0\n", "", {"not-seeded"}),
    (TAPE, "(lift(other), -1.0)", "(lift(other), 1.0)", {"minus-without-its-sign"}),
    (TAPE, "reached.get(operand, 0.0) + slope * upstream", "slope * upstream", {"overwriting"}),
    (CLASSES, "operand.grad += share", "operand.grad = share", {"overwriting"}),
    (CLASSES, "return upstream * y, upstream * x", "return upstream * x, upstream * y", {"wrong-derivative"}),
    (CLASSES, "        self.grad = gradient\n", "", {"not-seeded"}),
    (CLASSES, "(upstream * self.result * (1.0 - self.result),)", "(upstream,)", {"sigmoid-with-slope-one"}),
]  # fmt: skip


@pytest.mark.parametrize(("style", "old", "new", "names"), ELSEWHERE, ids=range(len(ELSEWHERE)))
def test_bugs_are_named_in_other_styles_too(style: str, old: str, new: str, names: set[str | None]) -> None:
    source = teaching.STYLES[style]
    assert old in source
    report = grade(source.replace(old, new))
    assert not report.passed
    assert {diagnosis.specimen for diagnosis in report.diagnoses} <= names, report.text()
    assert report.diagnoses


def told(source: str) -> list[Diagnosis]:
    return list(grade(source).diagnoses)


# --- one op at a time ------------------------------------------------------------------------------------------------

OPS = [op for op in METHOD if op not in ("radd", "rsub", "rmul", "rdiv")]
KINDS: list[Kind] = ["overwriting", "counting-itself", "without-upstream", "detached"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_mistake_is_found_in_the_op_that_has_it(kind: Kind) -> None:
    for op in OPS:
        fault = Fault(kind, op)
        case = Comparison(Examination(Engine(teaching.load(source_with([fault])))))
        found = faults_of(case)
        assert [(f.kind, f.op) for f in found.faults] == [(kind, op)], (kind, op, found)


def test_a_mistake_for_one_operand_is_told_from_one_for_both() -> None:
    for op in ("add", "sub", "mul", "div"):
        for operand in (0, 1):
            text = source_with([Fault("overwriting", op, operand)])
            (diagnosis,) = told(text)
            assert diagnosis.specimen == "overwriting"
            assert diagnosis.op == op
            assert diagnosis.line is not None
            assert text.splitlines()[diagnosis.line - 1].strip().startswith(("self.grad = ", "other.grad = ")[operand])


def test_the_sentence_of_the_specification() -> None:
    text = source_with([Fault("overwriting", "mul")])
    (diagnosis,) = told(text)
    assert diagnosis.sentence == "your `__mul__` overwrites: line 51 has `=` where `+=` is needed"


def test_several_bugs_are_told_apart() -> None:
    faults = [
        Fault("overwriting", "mul"),
        Fault("slope", "tanh", 0, "(1.0 - x * x)"),
        Fault("value", "sub", formula="y - x"),
    ]
    found = {(d.specimen, d.op) for d in told(source_with(faults))}
    assert found == {("overwriting", "mul"), ("tanh-of-its-input", "tanh"), ("wrong-value", "sub")}


def test_a_bug_in_an_op_and_one_in_the_walk_are_told_apart() -> None:
    faults = [Fault("slope", "tanh", 0, "(1.0 - x * x)"), whole("preorder")]
    assert {d.specimen for d in told(source_with(faults))} == {"tanh-of-its-input", "preorder"}
    faults = [Fault("slope", "sub", 1, "1.0"), whole("left-over-gradients")]
    assert {d.specimen for d in told(source_with(faults))} == {"minus-without-its-sign", "left-over-gradients"}


def test_a_walk_is_not_blamed_for_what_an_op_does_at_the_edges() -> None:
    edits = [
        (f"{CHILDREN}                topo.append(v)\n", f"{dedent(CHILDREN)}            topo.append(v)\n"),
        ("exponential(self.data)", "math.exp(self.data)"),
        ("sys.setrecursionlimit(20_000)", "pass"),
    ]
    source = teaching.STYLES[SETS]
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    named = [(d.specimen, d.op) for d in told(source)]
    assert named == [("listed-twice", None), ("recursion-limit", None), ("python-raises", "exp")]


@pytest.mark.parametrize("name", ["no-order", "listed-twice"])
@pytest.mark.parametrize("turned", [False, True], ids=["as written", "operands the other way round"])
def test_two_walks_with_the_same_numbers_are_told_apart_by_the_source(name: str, turned: bool) -> None:
    text = museum.find(name).source()
    operands = "in node._prev:" if name == "no-order" else "in reversed(node._prev):"
    other = "in reversed(node._prev):" if name == "no-order" else "in node._prev:"
    assert operands in text
    report = grade(text.replace(operands, other) if turned else text)
    assert [d.specimen for d in report.faults] == [name]


def test_ops_made_from_a_wrong_op_are_not_accused() -> None:
    source = teaching.STYLES[TUPLES].replace("(other.data, self.data)", "(other.data, 2 * self.data)")
    assert {d.op for d in told(source)} == {"mul"}, "neg, sub and division go through the product"


def test_a_helper_that_several_ops_share_is_named_itself() -> None:
    source = teaching.SOURCE.replace("        return x / y\n", "        return y / x\n")
    (diagnosis,) = told(source)
    assert diagnosis.sentence == "your `divide` on line 201 gives wrong numbers: `__truediv__` and `log` go through it"


def test_a_derivative_that_no_formula_gives_is_told_with_its_numbers() -> None:
    source = teaching.SOURCE.replace("(1.0 - z * z) * out.grad", "math.atan(x * 3.21) * out.grad")
    (diagnosis,) = told(source)
    assert (diagnosis.specimen, diagnosis.op) == ("wrong-derivative", "tanh")
    assert "b = a.tanh() at a = 0.5 has a.grad 1.013" in diagnosis.sentence
    assert diagnosis.line is not None


def test_an_attribute_that_hides_an_op() -> None:
    source = teaching.SOURCE.replace("        self._op = _op\n", "        self._op = _op\n        self.exp = 1.0\n")
    (diagnosis,) = told(source)
    assert diagnosis.specimen == "hidden-method"
    assert diagnosis.sentence == "an attribute hides the method `exp`: calling it finds no function"


def test_an_op_without_return() -> None:
    start = teaching.SOURCE.index('        out = Value(z, (self,), "tanh")')
    end = teaching.SOURCE.index("    def sigmoid")
    (diagnosis,) = told(teaching.SOURCE[:start] + "\n" + teaching.SOURCE[end:])
    assert diagnosis.op == "tanh"
    assert "the result is nothing (is a `return` missing?), not a Value" in diagnosis.sentence


def test_an_op_that_calls_itself() -> None:
    source = teaching.SOURCE.replace("return as_value(other) - self", "return other - self")
    (diagnosis,) = told(source)
    assert diagnosis.sentence == "your `__rsub__` calls itself without end on line 97"


SQRT = """
    def sqrt(self):
        x = self.data
        z = x**0.5
        out = Value(z, (self,), "sqrt")

        def push():
            self.grad += {slope} * out.grad

        out._backward = push
        return out

    def __rpow__(self, other):
        return {power}

    # --- the walk
"""


def test_ops_that_the_teaching_engine_does_not_have_are_judged_where_they_are_there() -> None:
    def engine(slope: str, power: str) -> str:
        return teaching.SOURCE.replace("\n    # --- the walk\n", SQRT.format(slope=slope, power=power))

    right = grade(engine("divide(0.5, z)", "(self * math.log(other)).exp()"))
    assert right.score > grade(teaching.SOURCE).score + 3
    assert right.passed
    (diagnosis,) = told(engine("divide(2.0, z)", "(self * math.log(other)).exp()"))
    assert (diagnosis.specimen, diagnosis.op) == ("wrong-derivative", "sqrt")
    assert "b = a.sqrt() at a = 0.5 has a.grad 2.828427, and 0.7071068 is right" in diagnosis.sentence
    (diagnosis,) = told(engine("divide(0.5, z)", "self**other"))
    assert (diagnosis.specimen, diagnosis.op) == ("wrong-value", "rpow")


def test_an_op_made_from_a_wrong_one_is_not_accused_even_if_the_teaching_engine_lacks_it() -> None:
    source = teaching.SOURCE.replace(
        "    # --- the walk\n", "    def sqrt(self):\n        return self**0.5\n\n    # --- the walk\n"
    )
    (diagnosis,) = told(source.replace("n * power(x, n - 1)", "power(x, n - 1)"))
    assert (diagnosis.specimen, diagnosis.op) == ("power-without-its-factor", "pow")


def test_walks_that_disturb_each_other_in_a_way_without_a_name() -> None:
    source = teaching.STYLES[TAPE].replace("leaf.grad + gradient", "leaf.grad - gradient")
    (diagnosis,) = told(source)
    assert diagnosis.specimen is None
    assert (
        diagnosis.sentence
        == "your `backprop` does not add up from walk to walk on line 62: x.grad is 0 where 54 is right"
    )


def test_a_walk_that_leaves_nodes_out() -> None:
    source = teaching.SOURCE.replace(
        "        for node in reversed(order):\n", "        for node in order[: -3 : -1]:\n"
    )
    found = told(source)
    assert [(d.fault, d.op) for d in found] == [("missing-visits", None)]
    assert "your `backward` leaves nodes out" in found[0].sentence


def test_a_walk_that_loses_its_way_in_a_way_without_a_name() -> None:
    source = teaching.STYLES[TAPE].replace("reversed(TAPE)", "reversed(TAPE[-2:])")
    report = grade(source)
    assert not {found.op for found in report.faults} - {None}, "no op is blamed"
    assert report.essentials.score < report.essentials.total
    assert report.faults or "Not explained:" in report.text()


def test_relu_at_its_kink() -> None:
    source = teaching.SOURCE.replace("(1.0 if x > 0.0 else 0.0)", "(1.0 if x >= 0.0 else 0.0)")
    (diagnosis,) = told(source)
    assert diagnosis.specimen is None
    assert diagnosis.op == "relu"
    assert "where 0 is the usual answer" in diagnosis.sentence


@pytest.mark.parametrize("op", ["tanh", "sigmoid"])
def test_nan_for_large_inputs_is_the_same_bug_as_an_overflow(op: str) -> None:
    formula = {
        "tanh": "(exponential(2 * x) - 1) / (exponential(2 * x) + 1)",
        "sigmoid": "divide(exponential(x), 1 + exponential(x))",
    }
    (diagnosis,) = told(source_with([Fault("value", op, formula=formula[op])]))
    assert diagnosis.specimen == f"{op}-through-exp"


def test_every_hint_teaches_and_no_hint_is_the_solution() -> None:
    for specimen in museum.SPECIMENS:
        assert "`+=`" not in specimen.hint
        assert specimen.solution not in specimen.hint


# --- measuring -------------------------------------------------------------------------------------------------------


def test_formulas_are_recognised_shortest_first() -> None:
    points = [{"x": x, "y": y, "z": x * y} for x, y in ((3.0, 2.0), (-1.5, 4.0), (0.25, -2.0), (1.25, 0.8))]
    for formula in ("x", "y", "z", "1.0", "2.0 * x", "x + y", "-x", "x / y", "1.0 - x * x", "(x + y) * z", "-(x / y)"):
        found = recognise("mul", points, evaluate(formula, points))
        assert found is not None
        assert evaluate(found, points) == pytest.approx(evaluate(formula, points))
        assert len(found) <= len(formula)
    assert recognise("mul", points, [1.0, 5.0, 2.0, 9.0]) is None
    assert recognise("mul", points, [1.0, float("nan"), 2.0, 9.0]) is None


def test_formulas_are_written_as_people_write_them() -> None:
    assert pretty("power(x, n - 1)") == "x**(n - 1)"
    assert pretty("power(x, n)") == "x**n"
    assert pretty("(1.0 - z * z)") == "1 - out * out"
    assert pretty("divide(-z, y)") == "-out / y"
    assert pretty("0.5 * exponential(x)") == "0.5 * exp(x)"


def test_measuring_an_op() -> None:
    case = Comparison(
        Examination(
            Engine(teaching.load(source_with([Fault("slope", "mul", 1, "y"), Fault("value", "exp", formula="x")])))
        )
    )
    assert measure(case, "mul").faults == (Fault("slope", "mul", 1, "y"),)
    assert measure(case, "exp").faults == (Fault("value", "exp", formula="x"),)
    assert measure(case, "add").faults == ()
    assert measure(case, "add").failure is None


# --- evidence --------------------------------------------------------------------------------------------------------


def test_evidence_needs_no_other_op() -> None:
    for op in OPS:
        assert len(evidence(op)) >= 8
        assert {frozenset(ops_in(program.text)) for program in evidence(op)} == {frozenset({op})}


def test_what_ops_are_made_of() -> None:
    from micrograd.engine import Value

    engine = Engine(Value)
    assert composed_of(engine, "add") == set()
    assert composed_of(engine, "neg") == {"mul"}
    assert composed_of(engine, "sub") == {"add", "neg", "mul"}
    assert composed_of(engine, "div") == {"mul", "pow"}
    assert "add" in composed_of(engine, "rsub")
    assert composed_of(engine, "tanh") == set(), "it is not there"


def test_helpers() -> None:
    engine = Engine(teaching.load())
    assert {name for name, _ in helpers_of(engine, "div")} == {"divide", "as_value"}
    assert {name for name, _ in helpers_of(engine, "add")} == {"as_value"}


def test_the_ops_of_a_program() -> None:
    text = "a = Value(2.0)\nb = -a ** 2\nc = 3 / b + b.tanh()\nc.backward()"
    assert ops_in(text) == {"neg", "pow", "rdiv", "add", "tanh"}
    assert first_op("a = Value(2.0)\nb = a.exp()\nc = b * b") == "exp"
    assert first_op("a = Value(2.0)") == ""
