"""Hand-made engines: what is right is left in peace; of what is wrong every fault is named, and nothing else."""

from __future__ import annotations

from itertools import combinations

import pytest

from diagnose.handmade import CLEAN, ENGINES, NEG, SEED, WRAP, before
from gradwalk.diagnose import Grade, grade

pytestmark = pytest.mark.slow

#: What may be said of any of them beyond the essentials: it is true of the clean engine already.
COMMON = {"left-over-gradients", "recursion-limit", "sigmoid-through-exp", "python-raises", "data-read-late"}
DEF = "def backward(self):"

#: Every fault of each wrong engine: its name, its op, and what stands in the line that is named.
FAULTS: dict[str, list[tuple[str, str | None, str]]] = {
    "01_rsub_both_negative": [("wrong-value", "rsub", "return (-self) - other")],
    "02_tanh_of_input": [("tanh-of-its-input", "tanh", "self.grad += (1 - self.data ** 2) * out.grad")],
    "03_power_off_by_one": [("wrong-derivative", "pow", "self.grad += other * self.data ** other * out.grad")],
    "07_division_sign": [("wrong-derivative", "div", "other.grad += self.data / other.data ** 2 * out.grad")],
    "08_sigmoid_of_input": [("wrong-derivative", "sigmoid", "self.grad += self.data * (1 - self.data) * out.grad")],
    "09_product_with_a_copy": [
        ("detached-op", "mul", "other = Value(other.data) if isinstance(other, Value) else Value(other)")
    ],
    "10_iadd_in_place": [
        ("in-place-operator", None, "self.data += other.data if isinstance(other, Value) else other")
    ],
    "11_relu_asks_gradient": [("gated-push", "relu", "self.grad += (out.grad > 0) * out.grad")],
    "12_log_to_base_10": [("wrong-value", "log", 'out = Value(math.log10(self.data), (self,), "log")')],
    "12b_log_slope_of_base_10": [
        ("wrong-derivative", "log", "self.grad += out.grad / (self.data * math.log(10))")
    ],
    "13_radd_without_end": [("endless-recursion", "radd", "def __radd__(self, other):")],
    "15_product_by_dividing": [("slope-by-dividing", "mul", "other.grad += out.data / other.data * out.grad")],
    "18_product_clipped": [("clipped-push", "mul", "self.grad += max(-1.0, min(1.0, other.data * out.grad))")],
    "25_tanh_twice": [("wrong-derivative", "tanh", "self.grad += (1 - math.tanh(out.data) ** 2) * out.grad")],
    "26_bound_late": [("detached-op", "mul", "for a, b in ((self, other), (other, self)):")],
    "27_minus_both_plus": [("minus-without-its-sign", "sub", "other.grad += out.grad")],
    "39_sum_halved": [("wrong-derivative", "add", "self.grad += out.grad / 2")],
    "17_data_rounded": [("loses-digits", None, "self.data = round(data, 4)")],
    "19_data_cut_to_int": [("loses-digits", None, "self.data = int(data)")],
    "06b_children_on_class": [("shared-default", None, "_prev = []")],
    "41_numbers_refused": [("refuses-numbers", None, 'out = Value(self.data + other.data, (self, other), "+")')],
    "41b_numbers_refused_and_minus": [
        ("refuses-numbers", None, 'out = Value(self.data + other.data, (self, other), "+")')
    ],
    "30_closure_on_operand": [("closure-on-operand", None, "self._backward = _backward")],
    "29_closure_on_operand_no_numbers": [
        ("refuses-numbers", None, 'out = Value(self.data + other.data, (self, other), "+")'),
        ("closure-on-operand", None, "self._backward = _backward"),
    ],
    "34_all_overwrite": [("overwriting", None, "self.grad = out.grad")],
    "35_all_overwrite_no_numbers": [
        ("refuses-numbers", None, 'out = Value(self.data + other.data, (self, other), "+")'),
        ("overwriting", None, "self.grad = out.grad"),
    ],
    "33_all_overwrite_and_rsub": [
        ("overwriting", None, "self.grad = out.grad"), ("reversed-subtraction", "rsub", "return self - other"),
    ],
    "04_equal_by_data": [("equal-by-data", None, "def __eq__(self, other):")],
    "14_equal_by_data_in_a_list": [("equal-by-data", None, "def __eq__(self, other):")],
    "16_seed_is_data": [("seeded-with-data", None, "self.grad = self.data")],
    "20_zeroed_after_seed": [("wiped-after-seed", None, "v.grad = 0.0")],
    "32_not_seeded_and_rsub": [
        ("not-seeded", None, DEF), ("reversed-subtraction", "rsub", "return self - other"),
    ],
    "38_append_outside_if": [("listed-twice", None, "topo.append(v)")],
    "31_visited_is_a_tuple": [("error", None, "visited.add(v)")],
    "21_loop_without_end": [("never-ends", None, "while len(topo) > 0:")],
    "21b_bare_loop_without_end": [("never-ends", None, "while topo:")],
    "22_prints_and_asks": [("asks-for-input", None, "input('go on?')"), ("prints", None, "print('made', data)")],
    "47_power_of_the_absolute": [
        ("wrong-derivative", "pow", "self.grad += other * abs(self.data) ** (other - 1) * out.grad")
    ],
    "48_exp_pushes_positive": [("odd-push", "exp", "self.grad += abs(out.data * out.grad)")],
    "49_exp_calls_its_closure": [("closure-called", None, "out._backward = _backward()")],
    "50_sum_extends_the_default": [("shared-default", None, 'def __init__(self, data, _children=[], _op=""):')],
    "51_wiped_at_the_end": [("wiped-at-the-end", None, "v.grad = 0.0")],
    "52_seen_by_data": [("seen-by-data", None, "if v.data not in visited:")],
    "54_order_as_a_default": [("kept-in-default", None, "def backward(self, topo=[]):")],
    "56_order_in_the_class": [("kept-in-default", None, DEF)],
    "57_each_pushes_twice": [("pushes-twice", None, DEF)],
    "46_zero_grad_without_bias": [("forgets-weights", None, "def zero_grad(self):")],
}  # fmt: skip
#: What is named among what lies beyond the essentials.
BEYOND = {
    "05_seed_added": ("seed-added", "self.grad += 1.0"),
    "37_all_wiped": ("leaves-reset", "v.grad = 0.0"),
    "55_visited_as_a_default": ("kept-in-default", "def backward(self, visited=set()):"),
}


def said(report: Grade, source: str) -> list[tuple[str, str | None, str]]:
    """What a report says about the essentials, as data: fault, op, and the line."""
    lines = ["", *(line.strip() for line in source.splitlines())]
    return [(found.fault, found.op, lines[found.line or 0]) for found in report.faults]


def test_every_wrong_engine_has_its_truth_here() -> None:
    assert set(FAULTS) == {name for name, engine in ENGINES.items() if engine.verdict == "wrong"}


@pytest.mark.parametrize("name", ENGINES)
def test_each_engine_is_done_justice(name: str) -> None:
    engine = ENGINES[name]
    report = grade(engine.source)
    assert sorted(said(report, engine.source), key=str) == sorted(FAULTS.get(name, []), key=str)
    assert (report.essentials.score == report.essentials.total) == (engine.verdict != "wrong")
    further = {found.fault for found in report.invitations} - COMMON
    assert further == ({BEYOND[name][0]} if name in BEYOND else set())
    if name in BEYOND:
        line = next(found.line for found in report.invitations if found.fault == BEYOND[name][0])
        assert line is not None
        assert engine.source.splitlines()[line - 1].strip() == BEYOND[name][1]
    explained = {check.name for check in report.checks if check.status in ("failed", "error") and not check.diagnosis}
    assert explained == set()


# --- two faults at once ----------------------------------------------------------------------------------------------

PUSH = "            self.grad += other.data * out.grad\n            other.grad += self.data * out.grad"
#: Ten common faults of the clean engine: what it says, what it says instead, and what that is.
TEN: dict[str, tuple[list[tuple[str, str]], tuple[str, str | None]]] = {
    "mul overwrites": ([(PUSH, PUSH.replace("+=", "="))], ("overwriting", "mul")),
    "tanh of its input": ([("(1 - t ** 2)", "(1 - self.data ** 2)")], ("tanh-of-its-input", "tanh")),
    "2 - a turned": ([("return (-self) + other", "return self - other")], ("reversed-subtraction", "rsub")),
    "not seeded": ([(SEED, "")], ("not-seeded", None)),
    "append outside if": (
        [("                topo.append(v)\n", "            topo.append(v)\n")], ("listed-twice", None),
    ),
    "power off by one": (
        [("self.data ** (other - 1) * out.grad", "self.data ** other * out.grad")], ("wrong-derivative", "pow"),
    ),
    "log to base 10": ([("math.log(self.data), (self,)", "math.log10(self.data), (self,)")], ("wrong-value", "log")),
    "+= in place": (
        [before(NEG, "    def __iadd__(self, other):\n        self.data += other.data\n        return self\n\n")],
        ("in-place-operator", None),
    ),
    "equal by data": (
        [before(NEG, "    def __eq__(self, other):\n        return self.data == other.data\n\n"
                "    def __hash__(self):\n        return hash(self.data)\n\n")],
        ("equal-by-data", None),
    ),
    "division's sign": ([("other.grad += -self.data /", "other.grad += self.data /")], ("wrong-derivative", "div")),
}  # fmt: skip


@pytest.mark.parametrize("first", list(TEN)[:-1])
def test_of_two_faults_both_are_named_and_nothing_else(first: str) -> None:
    assert WRAP in CLEAN
    for one, other in combinations(TEN, 2):
        if one != first:
            continue
        source = CLEAN
        for old, new in (*TEN[one][0], *TEN[other][0]):
            assert old in source, (one, other)
            source = source.replace(old, new)
        found = {(fault, op) for fault, op, _ in said(grade(source), source)}
        assert found == {TEN[one][1], TEN[other][1]}, (one, other)
