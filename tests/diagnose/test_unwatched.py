"""Engines whose nodes push nothing by themselves: no walk can be watched, so that less is known, and less is said."""

from __future__ import annotations

import pytest

from gradwalk.diagnose import grade

pytestmark = pytest.mark.slow

TABLE = """\
import math

BACK = {
    "+": lambda g, out, a, b: (g, g),
    "*": lambda g, out, a, b: (g * b, g * a),
    "-": lambda g, out, a: (-g,),
    "tanh": lambda g, out, a: (g * (1 - out**2),),
    "sin": lambda g, out, a: (g * math.cos(a),),
}


class Num:
    def __init__(self, data, op=None, args=()):
        self.data, self.op, self.args, self.grad = data, op, args, 0.0

    def __add__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.data + o.data, "+", (self, o))

    def __mul__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.data * o.data, "*", (self, o))

    def __neg__(self):
        return Num(-self.data, "-", (self,))

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        return Num(math.tanh(self.data), "tanh", (self,))

    def sin(self):
        return Num(math.sin(self.data), "sin", (self,))

    def backward(self):
        order, seen = [], set()

        def visit(n):
            if id(n) not in seen:
                seen.add(id(n))
                for a in n.args:
                    visit(a)
                order.append(n)

        visit(self)
        self.grad = 1.0
        for n in reversed(order):
            if n.op:
                for a, g in zip(n.args, BACK[n.op](n.grad, n.data, *(a.data for a in n.args))):
                    a.grad += g
"""


def told(*edits: tuple[str, str]) -> list[str]:
    """What is said of the table engine with these edits to be wrong with the essentials."""
    source = TABLE
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return [str(found.sentence) for found in grade(source, class_name="Num").faults]


def test_nothing_is_wrong_with_the_engine_itself() -> None:
    assert told() == []


@pytest.mark.parametrize(
    "edit", [("in reversed(order)", "in order"), ("                    visit(a)", "                    pass")]
)
def test_what_gets_no_further_than_the_first_operands_may_have_two_causes(edit: tuple[str, str]) -> None:
    (sentence,) = told(edit)
    assert "what the root passes on gets no further than its operands" in sentence


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        ("2.0", "with another number than 1 as the root's gradient"),
        ("self.data", "with the root's data as its gradient"),
    ],
)
def test_a_wrong_seed_is_read_off_the_root_and_no_op_is_accused(seed: str, words: str) -> None:
    (sentence,) = told(("self.grad = 1.0", f"self.grad = {seed}"))
    assert words in sentence


def test_a_root_that_holds_1_was_seeded_even_if_nothing_is_passed_on() -> None:
    (sentence,) = told(("a.grad += g", "a.grad += 0.0"))
    assert "does not set the root's gradient" not in sentence


@pytest.mark.parametrize(
    "edit",
    [
        ("        self.grad = 1.0\n", ""),
        ("        self.grad = 1.0\n", "        self.grad = 1.0\n        for n in order:\n            n.grad = 0.0\n"),
    ],
)
def test_a_root_that_was_never_seeded_and_one_that_was_wiped_are_told_alike(edit: tuple[str, str]) -> None:
    (sentence,) = told(edit)
    assert "the root's gradient is 0, where 1 is right" in sentence


@pytest.mark.parametrize("push", ["2 * g", "g / len(n.args)"])
def test_a_factor_that_all_ops_have_in_common_is_not_each_ops_fault(push: str) -> None:
    rest = """\
    def __sub__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.data - o.data, "−", (self, o))

    def __truediv__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.data / o.data, "/", (self, o))

    def __neg__"""
    rules = '    "−": lambda g, out, a, b: (g, -g),\n    "/": lambda g, out, a, b: (g / b, -g * a / b**2),\n    "-"'
    (sentence,) = told(("    def __neg__", rest), ('    "-"', rules), ("a.grad += g", f"a.grad += {push}"))
    assert sentence.startswith("your `backward`")


def test_leaves_alone_that_are_overwritten_are_not_each_ops_fault() -> None:
    (sentence,) = told(("a.grad += g", "a.grad = a.grad + g if a.args else g"))
    assert sentence.startswith("your engine overwrites gradients")


def test_a_push_that_asks_the_gradient_is_told_from_a_wrong_derivative() -> None:
    (sentence,) = told(("(g * (1 - out**2),)", "(max(g, 0.0) * (1 - out**2),)"))
    assert "`tanh`" in sentence
    assert "only if that gradient is positive" in sentence


REST = """\
    def __sub__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.data - o.data, "−", (self, o))

    def __rsub__(self, o):
        return Num(o) - self

"""
MINUS = '    "−": lambda g, out, a, b: (g, -g),\n    "-"'


def test_an_op_is_not_accused_of_what_the_op_that_it_goes_through_does() -> None:
    through = ('        return Num(-self.data, "-", (self,))', "        return 0 - self")
    with_minus = (("    def tanh", REST + "    def tanh"), ('    "-"', MINUS))
    assert told(*with_minus, through) == []
    (sentence,) = told(*with_minus, through, ("return Num(o) - self", "return self - Num(o)"))
    assert "`__rsub__` is the wrong way round" in sentence
    (sentence,) = told(*with_minus, through, ("(g, -g)", "(g, g)"))
    assert "`__sub__`" in sentence


def test_beside_a_wrong_order_no_op_is_accused_that_is_right_by_itself() -> None:
    sentences = told(
        ("args, 0.0", "args, None"),
        ("a.grad += g", "a.grad = g if a.grad is None else a.grad + g"),
        ("in reversed(order)", "in order"),
        ("(g * (1 - out**2),)", "(g * (1 - out),)"),
    )
    assert any("`tanh`" in sentence for sentence in sentences)
    assert not any("`__add__`" in sentence or "`__mul__`" in sentence for sentence in sentences)


def test_no_closure_is_accused_where_there_is_none() -> None:
    sentences = told(
        ("for a in n.args:\n                    visit(a)", "for a in n.args[:1]:\n                    visit(a)")
    )
    assert sentences
    assert not any("closure" in sentence for sentence in sentences)


def test_a_rare_op_is_not_blamed_for_a_product_that_is_wrong() -> None:
    sentences = told(("(g * b, g * a)", "(g * a, g * b)"))
    assert len(sentences) == 1
    assert "`__mul__`" in sentences[0]


def test_an_error_that_a_wrong_order_leads_to_is_not_told_before_it() -> None:
    sentences = told(
        ("args, 0.0", "args, None"),
        ("a.grad += g", "a.grad = g if a.grad is None else a.grad + g"),
        ("in reversed(order)", "in order"),
    )
    assert len(sentences) == 1
    assert "gets no further" in sentences[0]


def test_one_error_whose_message_varies_is_told_once() -> None:
    sentences = told(
        ("        self.grad = 1.0", "        grads = {self: 1.0}"),
        ("BACK[n.op](n.grad,", "BACK[n.op](grads[n],"),
        ("                    a.grad += g", "                    grads[a] = a.grad = grads.get(a, 0.0) + g"),
        ("in reversed(order)", "in order"),
        ("    def __neg__", '    def __repr__(self):\n        return f"Num({self.data})"\n\n    def __neg__'),
    )
    assert len([sentence for sentence in sentences if "KeyError" in sentence]) == 1


def test_overwritten_leaves_are_not_put_down_to_ops_when_one_op_lacks_its_rule() -> None:
    sentences = told(
        ("        self.grad = 1.0", "        grads = {self: 1.0}"),
        ("            if n.op:", "            if n.op and n.op in BACK:"),
        ("BACK[n.op](n.grad,", "BACK[n.op](grads[n],"),
        ("                    a.grad += g", "                    a.grad = grads[a] = grads.get(a, 0.0) + g"),
        ('    "tanh": lambda g, out, a: (g * (1 - out**2),),\n', ""),
    )
    assert sentences
    assert all("overwrite" not in sentence and "before has" not in sentence for sentence in sentences)


def test_an_op_that_is_wrong_on_one_value_twice_is_told_as_that() -> None:
    same = """\
    def __mul__(self, o):
        o = Num(o.data) if o is self else o if isinstance(o, Num) else Num(o)
"""
    (sentence,) = told(
        ("    def __mul__(self, o):\n        o = o if isinstance(o, Num) else Num(o)\n", same),
        ("(g * b, g * a)", "(g * b, g * a)"),
    )
    assert "same Value" in sentence


def test_data_that_a_constructor_changes_is_not_put_down_to_the_ops() -> None:
    (sentence,) = told(("self.grad = data, op, args, 0.0", "self.grad = abs(data), op, args, 0.0"))
    assert sentence == "your Num changes its data: Num(-7.25) holds 7.25"


def test_a_slope_through_cosh_is_not_said_to_go_through_exp() -> None:
    source = TABLE.replace("(g * (1 - out**2),)", "(g / math.cosh(a) ** 2,)")
    said = [str(found.sentence) for found in grade(source, class_name="Num").invitations]
    assert any("`tanh` raises OverflowError" in sentence for sentence in said)
    assert not any("goes through exp" in sentence for sentence in said)


def test_a_value_that_is_cut_off_far_out_is_found() -> None:
    source = TABLE.replace('    "sin"', '    "relu": lambda g, out, a: (g * (a > 0),),\n    "sin"').replace(
        "    def sin(",
        '    def relu(self):\n        return Num(min(max(self.data, 0.0), 6.0), "relu", (self,))\n\n    def sin(',
    )
    (found,) = grade(source, class_name="Num").faults
    assert found.op == "relu"


def test_ops_that_the_checklist_does_not_know_are_named_once() -> None:
    source = TABLE.replace("    def sin(", "    def silu(self):\n        return self * self.tanh()\n\n    def sin(")
    notes = [str(note) for note in grade(source, class_name="Num").notes]
    assert [note for note in notes if "silu" in note] == ["not checked, as the checklist does not know them: silu"]


def test_a_method_that_may_wait_is_not_called_to_see_whether_it_is_an_op() -> None:
    sleeping = "    def show(self):\n        import time\n        time.sleep(3600)\n        return self * 2\n\n"
    endless = "    def pick(self):\n        while True:\n            pass\n\n"
    source = TABLE.replace("    def sin(", sleeping + endless + "    def sin(")
    assert not any("not checked" in str(note) for note in grade(source, class_name="Num").notes)


KEPT_APART = """\
        grads = {id(self): 1.0}
        for n in order:
            n.grad = grads.get(id(n), 0.0)
            for a, g in zip(n.args, BACK[n.op](n.grad, n.data, *(a.data for a in n.args)) if n.op else ()):
                grads[id(a)] = grads.get(id(a), 0.0) + g

    def __sub__(self, o):
        return self + -o
"""


def test_gradients_that_arrive_nowhere_are_not_each_ops_fault() -> None:
    """They are gathered beside the nodes, in a wrong order."""
    (sentence,) = told((TABLE[TABLE.index("        self.grad = 1.0\n") :], KEPT_APART))
    assert sentence.startswith("your `backward` on line")


TAPE = """\
TAPE = []

class Num:
    def __init__(self, data, deps=()):
        self.data, self.grad, self.deps, self.place = data, 0.0, deps, len(TAPE)
        TAPE.append(self)

    def __add__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.data + o.data, ((self.place, 1.0), (o.place, 1.0)))

    def __mul__(self, o):
        o = o if isinstance(o, Num) else Num(o)
        return Num(self.data * o.data, ((self.place, o.data), (o.place, self.data)))

    def backward(self):
        grads = [0.0] * len(TAPE)
        grads[self.place] = 1.0
        for i in range(self.place - 1, -1, -1):
            for j, slope in TAPE[i].deps:
                grads[j] += slope * grads[i]
        for node, grad in zip(TAPE, grads):
            node.grad += grad
"""


def test_a_root_that_nobody_could_look_at_is_not_said_to_hold_0() -> None:
    """The tape grows with every program, and a walk over it takes too many steps by the time that it is asked."""
    (found,) = grade(TAPE, class_name="Num").faults
    assert "the root's gradient" not in str(found.sentence)
