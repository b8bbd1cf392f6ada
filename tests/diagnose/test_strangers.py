"""Traits of engines that strangers wrote: each sentence of a report is true of the engine, or the report says less."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from diagnose.handmade import CLEAN, SEED, WRAP
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


# --- the right op, the right line ------------------------------------------------------------------------------------

CLOSURES = """\
class V:
    def __init__(self, x, back=None, parents=()):
        self.x, self.g, self.back, self.parents = x, 0.0, back, parents

    @staticmethod
    def of(o):
        return o if isinstance(o, V) else V(float(o))

    def __add__(self, o):
        o = V.of(o)
        return V(self.x + o.x, lambda g: [g, g], (self, o))

    def __mul__(self, o):
        o = V.of(o)
        return V(self.x * o.x, lambda g: [g * o.x, g * self.x], (self, o))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return V(-self.x, lambda g: [-g], (self,))

    def __sub__(self, o):
        return self + -V.of(o)

    def __rsub__(self, o):
        return V.of(o) - self

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.g = 1.0
        for node in reversed(order):
            if node.back:
                for parent, share in zip(node.parents, node.back(node.g)):
                    parent.g += share
"""


def sentences(source: str) -> list[str]:
    return [str(found.sentence) for found in grade(source).faults]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (("lambda g: [g, g]", "lambda g: [g]"), "your `__add__` pushes nothing to its second operand on line 11"),
        (("return self + -V.of(o)", "return V.of(o) + -self"), "your `__sub__` computes y - x on line 23"),
    ],
)
def test_a_reflected_operator_is_not_blamed_for_the_op_that_it_goes_through(
    wrong: tuple[str, str], sentence: str
) -> None:
    (told,) = sentences(CLOSURES.replace(*wrong))
    assert told.startswith(sentence)


def test_an_op_that_leaves_an_operand_out_is_named_and_the_walk_is_not() -> None:
    left_out = CLEAN.replace("Value(self.data * other.data, (self, other)", "Value(self.data * other.data, (self,)")
    assert left_out != CLEAN
    report = grade(left_out)
    (found,) = report.faults
    assert (found.fault, found.op) == ("left-out-by", "mul")
    assert found.line == left_out[: left_out.index("def __mul__")].count("\n") + 1
    assert str(found.sentence).startswith("after your `__mul__` on line")


BUILD = CLEAN[CLEAN.index("        topo, visited") : CLEAN.index(SEED)]
YIELDED = """\
    def nodes(self, seen):
        if self not in seen:
            seen.add(self)
            yield self
            for child in self._prev:
                yield from child.nodes(seen)

"""
KAHN = """\
        topo, users, waiting = [], {}, [self]
        while waiting:
            v = waiting.pop()
            for child in v._prev:
                if child not in users:
                    users[child] = 1
                    waiting.append(child)
        ready = [self]
        while ready:
            v = ready.pop()
            topo.insert(0, v)
            for child in v._prev:
                users[child] -= 1
                if users[child] == 0:
                    ready.append(child)
"""


@pytest.mark.parametrize(
    ("edits", "fault", "line"),
    [
        ([("    def backward", YIELDED + "    def backward"), (BUILD, ""), ("reversed(topo)", "self.nodes(set())")],
         "preorder", "yield self"),
        ([("    def backward", YIELDED.replace("            seen.add(self)\n", "") + "    def backward"), (BUILD, ""),
          ("reversed(topo)", "reversed(list(self.nodes(set()))[::-1])")], "listed-twice", "yield self"),
        ([(BUILD, KAHN), ("reversed(topo)", "topo[::-1]")], "preorder", "topo.insert(0, v)"),
        ([("class Value:", "def add(a, b):\n    made = []\n    made.append(a)\n    return a + b\n\n\nclass Value:"),
          ("                topo.append(v)\n", "            topo.append(v)\n")], "listed-twice", "topo.append(v)"),
    ],
    ids=["a generator", "a generator without end", "two lists of nodes that wait", "a function called add"],
)  # fmt: skip
def test_the_line_that_makes_the_order_is_found(edits: list[tuple[str, str]], fault: str, line: str) -> None:
    source = edited(*edits)
    (found,) = grade(source).faults
    assert (found.fault, source.splitlines()[(found.line or 0) - 1].strip()) == (fault, line)


def test_a_gradient_that_is_changed_when_its_turn_comes_is_no_wrong_seed() -> None:
    report = grade(edited(("            v._backward()\n", "            v.grad *= 0.99\n            v._backward()\n")))
    (found,) = report.faults
    assert "with another number than 1" not in str(found.sentence)
    assert "data-read-late" not in {found.fault for found in report.invitations}  # nothing comes out right anyway


def test_a_function_that_only_wraps_numbers_is_not_what_wrong_ops_have_in_common() -> None:
    wrap = "def node(x):\n    return x if isinstance(x, Value) else Value(x)\n\n\nclass Value:"
    turned = [(f"other.grad += {part}", f"other.grad -= {part}") for part in ("out.grad", "self.data", "-self.data")]
    source = edited(("class Value:", wrap), (WRAP, "        other = node(other)\n"), *turned)
    assert {found.op for found in grade(source).faults} == {"add", "mul", "div"}


def test_a_tuple_of_operands_is_not_taken_for_the_derivatives() -> None:
    product = "o = V.of(o)\n        return V(self.x * o.x, lambda g: [g * o.x, g * self.x], (self, o))"
    assert product in CLOSURES
    apart = "a, b = V.of(self), V.of(o)\n        back = lambda g: [g * a.x, g * b.x]\n"
    source = CLOSURES.replace(product, apart + "        return V(a.x * b.x, back, (a, b))")
    (found,) = grade(source).faults
    assert source.splitlines()[(found.line or 0) - 1].strip() == "back = lambda g: [g * a.x, g * b.x]"


def test_where_it_does_not_show_which_push_is_wrong_the_line_is_that_of_the_op() -> None:
    push = "            other.grad += self.data * out.grad\n"
    source = edited((push, "            if not other._prev:\n    " + push))
    (found,) = grade(source).faults
    assert (found.fault, found.op) == ("wrong-derivative", "mul")
    assert found.line == source[: source.index("def __mul__")].count("\n") + 1


def test_an_exponent_that_was_taken_as_a_number_goes_in_as_one_though_a_complex_result_is_refused() -> None:
    source = edited(("        assert isinstance(other, (int, float))\n", "        if isinstance(other, Value):\n"
                     "            return (self * other).exp()\n"),
                    ("        self.data = data\n", "        if isinstance(data, complex):\n"
                     "            raise TypeError('a complex number')\n        self.data = data\n"))  # fmt: skip
    assert faults(grade(source)) == []


def test_what_an_op_goes_through_is_told_and_not_the_op() -> None:
    power = "    def __rpow__(self, base):\n        return (self * math.log(base)).exp()\n\n"
    source = edited(("    def exp(", power + "    def exp("), ("out.data * out.grad", "out.data * self.grad"))
    assert faults(grade(source)) == [("wrong-derivative", "exp")]


def test_a_walk_that_leaves_nodes_out_is_told_without_a_guess_at_the_line() -> None:
    loop = "        for v in reversed(topo):\n            v._backward()"
    assert loop in CLEAN
    (told,) = sentences(CLEAN.replace(loop, loop.replace("v._", "if v is self or v in self._prev: v._")))
    assert told == "your `backward` leaves nodes out: they never push what they have received"


def test_a_loop_over_nodes_in_a_wrong_order_is_told_by_its_own_line() -> None:
    source = CLEAN.replace("for v in reversed(topo):", "for v in sorted(topo, key=lambda v: v.data):")
    assert source != CLEAN
    found = next(each for each in grade(source).faults if each.fault == "no-order")
    assert found.line == source[: source.index("sorted(topo")].count("\n") + 1


def test_a_contribution_that_is_lost_without_a_dict_is_not_told_of_one() -> None:
    push = "            self.grad += out.grad\n            other.grad += out.grad"
    assert push in CLEAN
    source = CLEAN.replace(push, push.replace("other.grad", "if other is not self: other.grad"))
    (found,) = grade(source).faults
    assert str(found.sentence).startswith("your `__add__` loses a contribution on line")
    assert "dict" not in str(found.hint)
    assert "entries" not in str(found.hint)


def test_operators_that_come_with_numbers_are_not_somebodys_own() -> None:
    source = CLOSURES.replace("class V:", "class V(float):").replace(
        "    def __init__(self, x,",
        "    def __new__(cls, x, back=None, parents=()):\n        return float.__new__(cls, x)\n\n"
        "    __hash__ = object.__hash__\n    __eq__ = object.__eq__\n\n    def __init__(self, x,",
    )
    report = grade(source)
    assert faults(report) == []
    assert {"div", "pow"} <= {check.lacks for check in report.checks if check.status == "missing"}
    assert not any("the result is" in check.lacks for check in report.checks)


def test_errors_that_differ_in_an_address_only_are_one() -> None:
    source = CLOSURES.replace(
        "        for node in reversed(order):\n            if node.back:", "        raise KeyError(self)"
    )
    source = source[: source.index("                for parent, share")]
    (told,) = sentences(source)
    assert "KeyError" in told
    assert " at 0x" not in told


def test_derivatives_that_nodes_keep_are_not_called_a_push() -> None:
    source = """\
class Value:
    def __init__(self, data, pairs=()):
        self.data, self.grad, self.pairs = data, 0.0, pairs

    def __add__(self, o):
        o = o if isinstance(o, Value) else Value(o)
        return Value(self.data + o.data, ((self, 1.0), (o, 1.0)))

    def __mul__(self, o):
        o = o if isinstance(o, Value) else Value(o)
        return Value(self.data * o.data, ((self, o.data), (o, self.data)))

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        raise NotImplementedError
"""
    notes = [str(note) for note in grade(source).notes]
    assert (
        "there is no backward() yet: upstream was multiplied by the derivatives that each node keeps, newest node first"
    ) in notes


SUBCLASSES = """\
class Node:
    def __init__(self, *inputs):
        self.inputs, self.grad = inputs, 0.0
        self.data = self.forward(*[each.data for each in inputs])

    def __add__(self, other): return Add(self, wrap(other))
    def __radd__(self, other): return Add(wrap(other), self)
    def __mul__(self, other): return Mul(self, wrap(other))
    def __rmul__(self, other): return Mul(wrap(other), self)
    def __pow__(self, n): return Power(self, wrap(n))

    def backward(self):
        order = []
        def visit(node):
            if node not in order:
                for each in node.inputs:
                    visit(each)
                order.append(node)
        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            for each, share in zip(node.inputs, node.shares()):
                each.grad += share * node.grad


class Value(Node):
    def __init__(self, data): self.inputs, self.data, self.grad = (), data, 0.0
    def shares(self): return ()


class Add(Node):
    def forward(self, x, y): return x + y
    def shares(self): return 1.0, 1.0


class Mul(Node):
    def forward(self, x, y): return x * y
    def shares(self): return self.inputs[1].data, self.inputs[0].data


class Power(Node):
    def forward(self, x, n): return x**n
    def shares(self):
        x, n = (each.data for each in self.inputs)
        if x < 0 and n % 1:
            raise TypeError("no root of a negative number")
        return n * x ** (n - 1), 0.0


def wrap(x): return x if isinstance(x, Node) else Value(x)
"""


@pytest.mark.parametrize("name", ["Value", "Leaf"])
def test_leaves_and_results_may_be_of_different_classes(name: str) -> None:
    """A refusal at the edges must not have results taken for numbers, and wrapped, from then on."""
    report = grade(SUBCLASSES.replace("Value", name))
    assert report.engine == name
    assert faults(report) == []
    assert report.essentials.score == report.essentials.total > 20


def test_an_order_that_is_a_set_is_told_by_the_line_of_its_loop() -> None:
    source = edited(
        ("topo, visited = [], set()", "topo, visited = set(), set()"), ("topo.append", "topo.add"),
        ("reversed(topo)", "topo"),
    )  # fmt: skip
    found = next(each for each in grade(source).faults if each.fault == "no-order")
    assert found.line == source[: source.index("for v in topo:")].count("\n") + 1


def test_what_the_constructor_refuses_is_not_put_down_to_an_op() -> None:
    report = grade(edited(("        self.data = data", "        self.data = data + 0 * int(data)")))
    assert not any("`__mul__` raises" in str(found.sentence) for found in report.invitations)
    assert any("cannot convert float infinity" in str(found.sentence) for found in report.invitations)


def test_a_hash_of_all_that_lies_behind_a_node_is_not_called_a_fault_of_the_walk() -> None:
    report = grade(edited(
        ("class Value:", "class Value:\n    def __hash__(self):\n        return hash((self.data, self._prev))\n"),
    ))  # fmt: skip
    told = {found.fault for found in report.invitations}
    assert "hashes-all-paths" in told
    assert not told & {"every-path", "recursion-limit"}


def test_a_push_that_goes_on_to_the_operands_is_not_told_to_mark_what_it_has_seen() -> None:
    """With a mark it would lose what comes later."""
    source = """\
import math
class Value:
    def __init__(self, data, pairs=()): self.data, self.grad, self.pairs = data, 0.0, pairs
    def __add__(self, o): return Value(self.data + wrap(o).data, ((self, 1.0), (o, 1.0)))
    def __mul__(self, o): return Value(self.data * wrap(o).data, ((self, o.data), (o, self.data)))
    def backward(self, upstream=1.0):
        self.grad += upstream
        for node, slope in self.pairs:
            node.backward(upstream * slope)
def wrap(x): return x if isinstance(x, Value) else Value(x)
"""
    for op in ("add", "mul"):
        source = source.replace(f"def __{op}__(self, o): ", f"def __{op}__(self, o): o = wrap(o); ")
    found = {each.fault: each for each in grade(source).invitations}
    assert str(found["every-path"].solution).startswith("First put the nodes in an order")


def test_a_modules_function_is_not_taken_for_an_op_that_calls_itself() -> None:
    source = edited((WALK, "    def backward(self):\n        math.exp(0)\n        push(self, 1.0)\n"))
    source += """

def push(node, share):
    node.grad = share
    node._backward()
    for operand in node._prev:
        push(operand, operand.grad)
"""
    found = next(each for each in grade(source).invitations if each.fault == "recursion-limit")
    assert source.splitlines()[(found.line or 0) - 1].strip() == "push(operand, operand.grad)"


def test_an_in_place_operator_that_gives_nothing_is_there_and_wrong() -> None:
    method = "    def __isub__(self, other):\n        self.data -= other.data\n\n"
    (told,) = sentences(edited((WALK, method + WALK)))
    assert told.startswith("your `__isub__` does not give a Value on line")
    assert "is a `return` missing?" in told


def test_an_op_that_keeps_its_operands_has_not_left_the_graph() -> None:
    push = "            self.grad += out.data * out.grad"
    (told,) = sentences(edited((push, "            grad = self.grad\n            grad += out.data * out.grad")))
    assert told.startswith("your `exp` pushes nothing on line")


def test_leaves_that_are_one_object_are_not_said_to_be_compared_by_data() -> None:
    kept = "    known = {}\n\n    def __new__(cls, data, *rest):\n        new = super().__new__(cls)\n" \
           "        return new if rest else cls.known.setdefault(data, new)\n\n    def __init__"  # fmt: skip
    assert not any("__eq__" in told for told in sentences(edited(("    def __init__", kept))))


def test_a_helper_that_takes_every_path_is_told_instead_of_the_search() -> None:
    source = edited(("        build(self)\n", "        build(self)\n        topo.sort(key=depth)\n")) + DEPTH
    found = next(each for each in grade(source).invitations if each.fault == "every-path")
    assert found.line == source[: source.index("def depth")].count("\n") + 1
    assert str(found.solution) == "Let `depth` go through each node once, and keep what it finds there."


def test_a_sorted_order_is_told_by_the_line_of_the_loop_over_it() -> None:
    source = edited(
        ("        build(self)\n", "        build(self)\n        topo = sorted(topo, key=lambda v: v.data)\n")
    )
    found = next(each for each in grade(source).faults if each.fault == "no-order")
    assert found.line == source[: source.index("for v in reversed(topo):")].count("\n") + 1


def test_an_engine_of_lists_is_refused_with_the_reason() -> None:
    report = grade("""\
class Value:
    def __init__(self, data): self.data, self.grad = [data], [0.0]
    def __add__(self, other): return Value(self.data[0] + other.data[0])
    def __mul__(self, other): return Value(self.data[0] * other.data[0])
    def backward(self): self.grad = [1.0]
""")
    assert "keeps it in a list, `data`" in report.checks[0].message


DEPTH = """

def depth(node):
    return 1 + max((depth(each) for each in node._prev), default=0)
"""


def test_new_nodes_that_hold_a_gradient_are_told_as_that() -> None:
    source = edited(("        self.grad = 0.0\n", "        self.grad = 2.0\n"))
    report = grade(source)
    (told,) = {str(found.sentence) for found in report.diagnoses}
    assert told == "a new Value starts with the gradient 2 on line 7, where 0 is right"
    wiped = source.replace(SEED, "        for v in topo:\n            v.grad = 0.0\n" + SEED)
    assert sentences(wiped) == [told]


def test_data_that_is_computed_when_it_is_read_may_fail_and_the_node_is_still_one() -> None:
    lazy = edited(
        ("        self.data = data\n", "        self._data = data\n"),
        (
            "    def __neg__",
            "    @property\n    def data(self):\n"
            "        return self._data() if callable(self._data) else self._data\n\n"
            "    @data.setter\n    def data(self, x):\n        self._data = x\n\n    def __neg__",
        ),
        ("Value(self.data / other.data,", "Value(lambda: self.data / other.data,"),
    )
    assert not any("does not give a Value" in str(found.sentence) for found in grade(lazy).diagnoses)


def test_an_op_that_keeps_one_of_its_operands_is_named_where_both_are_results() -> None:
    minus = """\
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data - other.data, (self,), "-")

        def _backward():
            self.grad += out.grad
            other.grad -= out.grad
        out._backward = _backward
        return out
"""
    (found,) = grade(edited(("        return self + (-other)\n", minus))).faults
    assert (found.fault, found.op) == ("left-out-by", "sub")


def test_ops_that_take_floats_refuse_whole_numbers_only() -> None:
    told = sentences(edited((WRAP, "        if isinstance(other, int):\n            raise TypeError\n" + WRAP),
                            ("self * -1", "self * -1.0")))  # fmt: skip
    assert any("refuse whole numbers" in each for each in told)
    assert not any("refuse plain numbers" in each for each in told)


def test_a_dataclass_with_postponed_annotations_is_an_engine_as_text_too() -> None:
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n"
    head += "@dataclass\nclass Config:\n    x: float\n\n\n"
    report = grade(head + CLEAN)
    assert report.faults == ()
    assert not any("stopped" in str(note) for note in report.notes)


CLASSES = """\
class Value:
    def __init__(self, data): self.data, self.grad = data, 0.0
    def inputs(self): return []
    def pull(self): pass
    def __add__(self, o): return Sum(self, as_value(o))
    def __mul__(self, o): return Product(self, as_value(o))
    def __neg__(self): return Product(self, Value(-1.0))
    def __sub__(self, o): return Sum(self, -as_value(o))
    def __rsub__(self, o): return Sum(as_value(o), -self)
    __radd__, __rmul__ = __add__, __mul__
    def backward(self):
        order, seen = [], set()
        def visit(n):
            if n not in seen:
                seen.add(n)
                for x in n.inputs(): visit(x)
                order.append(n)
        visit(self)
        self.grad = 1.0
        for n in reversed(order): n.pull()


def as_value(x): return x if isinstance(x, Value) else Value(x)


class Sum(Value):
    def __init__(self, a, b):
        super().__init__(a.data + b.data)
        self.a, self.b = a, b
    def inputs(self): return [self.a, self.b]
    def pull(self):
        self.a.grad += self.grad
        self.b.grad += self.grad


class Product(Value):
    def __init__(self, a, b):
        super().__init__(a.data * b.data)
        self.a, self.b = a, b
    def inputs(self): return [self.a, self.b]
    def pull(self):
        self.a.grad += self.b.data * self.grad
        self.b.grad += self.a.data * self.grad
"""


def told_of_classes(*edits: tuple[str, str]) -> list[str]:
    source = CLASSES
    for old, new in edits:
        assert old in source
        source = source.replace(old, new, 1)
    return sentences(source)


def test_where_each_op_is_a_class_its_own_push_is_watched() -> None:
    assert told_of_classes() == []
    (told,) = told_of_classes(("        self.grad = 1.0\n", ""))
    assert "does not set the root's gradient to 1" in told


def test_an_op_that_shares_its_class_with_another_is_not_told_beside_it() -> None:
    (told,) = told_of_classes(("self.b.grad += self.grad", "self.b.grad -= self.grad"))
    assert "`__add__`" in told


def test_a_walk_from_the_wrong_end_beside_a_wrong_class_costs_no_diagnosis() -> None:
    assert told_of_classes(("self.b.grad += self.grad", "self.b.grad -= self.grad"), ("reversed(order)", "order"))
