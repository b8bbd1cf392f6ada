"""Reading engines: under other names, in other files, half finished; and what is said of them is true of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.handmade import CLEAN, ENGINES, NEG, SEED, WRAP, before
from gradwalk.diagnose import Grade, grade
from gradwalk.diagnose.adapter import Engine, NotAnEngine, find_class
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.loading import load
from gradwalk.diagnose.op_probes import evidence

pytestmark = pytest.mark.slow

WALK = CLEAN[CLEAN.index("    def backward") :]
LEAKY = """\
    def leaky_relu(self{parameter}):
        out = Value(self.data if self.data > 0 else {slope} * self.data, (self,), "")

        def _backward():
            self.grad += (1.0 if self.data > 0 else {wrong}{slope}) * out.grad
        out._backward = _backward
        return out

"""


def edited(*edits: tuple[str, str]) -> str:
    source = CLEAN
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source


def of_file(path: Path) -> Grade:
    """The grade of a file, loaded as a submission is, in this process."""
    loaded = load(path)
    engine = Engine(find_class(loaded.namespace), loaded.namespace)
    report = grade(Examination(engine), source=loaded.source)
    return Grade(report.checks, report.diagnoses, (*loaded.notes, *report.notes), report.engine)


def faults(report: Grade) -> list[tuple[str, str | None]]:
    return [(found.fault, found.op) for found in report.faults]


# --- what is there, and what is not ----------------------------------------------------------------------------------


def test_closures_without_a_walk_are_judged_by_hand() -> None:
    report = grade(edited((WALK, ""), ("(1 - t ** 2)", "(1 - self.data ** 2)")))
    assert faults(report) == [("tanh-of-its-input", "tanh")]
    assert "there is no backward() yet: each node's own push was called by hand, newest first" in report.notes
    assert {check.status for check in report.checks if check.group in ("repeat", "depth")} == {"missing"}


def test_neither_closures_nor_a_walk_is_nothing_to_judge() -> None:
    with pytest.raises(NotAnEngine, match=r"Value has no backward\(\)"):
        Engine(find_class({"Value": type("Value", (), {"__init__": lambda self, data: setattr(self, "data", data)})}))


@pytest.mark.parametrize(
    ("written", "meant"), [("__power__", "__pow__"), ("__rmult__", "__rmul__"), ("__div__", "__truediv__")]
)
def test_a_misspelt_operator_is_named(written: str, meant: str) -> None:
    source = edited((f"def {meant}(", f"def {written}("))
    report = grade(source)
    assert set(faults(report)) == {("misspelt-operator", None)}
    assert report.faults[0].line == source.splitlines().index(f"    def {written}(self, other):") + 1


def test_a_missing_import_is_said_as_such() -> None:
    report = grade(edited(("import math\n", "")))
    assert faults(report) == [("missing-import", "exp")]
    assert report.faults[0].sentence.endswith("uses `math`, and your file does not import it")


@pytest.mark.parametrize("parameter", [", slope=0.3", ""])
def test_an_op_with_a_parameter_is_judged_with_the_engines_own_number(parameter: str) -> None:
    slope = "slope" if parameter else "0.3"
    right = before("    def relu", LEAKY.format(parameter=parameter, slope=slope, wrong=""))
    wrong = before("    def relu", LEAKY.format(parameter=parameter, slope=slope, wrong="2 * "))
    assert faults(grade(edited(right))) == []
    assert faults(grade(edited(wrong))) == [("wrong-derivative", "leaky_relu")]


def test_a_logarithm_with_a_base_is_asked_for_the_natural_one() -> None:
    for parameter in ("base", "base=10", "base=math.e"):
        source = edited(
            ("def log(self)", f"def log(self, {parameter})"), ("math.log(self.data)", "math.log(self.data, base)"),
            ("self.grad += out.grad / self.data\n", "self.grad += out.grad / (self.data * math.log(base))\n"),
        )  # fmt: skip
        assert faults(grade(source)) == [], parameter


def test_a_small_number_that_guards_a_logarithm_is_no_mistake() -> None:
    guarded = edited(("math.log(self.data)", "math.log(self.data + 1e-7)"))
    assert faults(grade(guarded)) == []
    assert faults(grade(guarded.replace("1e-7", "1e-2"))) == [("wrong-value", "log")]


def test_powers_that_want_nodes_get_nodes() -> None:
    start, end = CLEAN.index("    def __pow__"), CLEAN.index("    def __truediv__")
    power = CLEAN[start:end].replace("        assert isinstance(other, (int, float))\n", "")
    power = power.replace("self.data ** other,", "self.data ** other.data,").replace(
        "other * self.data ** (other - 1)", "other.data * self.data ** (other.data - 1)"
    )
    report = grade(CLEAN[:start] + power + CLEAN[end:])
    assert faults(report) == []
    assert {check.status for check in report.checks if check.name in ("pow", "chain-pow")} == {"passed"}


def test_names_can_be_given() -> None:
    source = edited((".grad", ".hidden"), ("self.hidden = 0.0", "self.hidden = 0.0\n        self.zero = 0.0"),
                    ("def backward", "def go"))  # fmt: skip
    assert faults(grade(source, names={"grad": "hidden", "backward": "go"})) == []
    assert "Value has no gone()" in grade(source, names={"backward": "gone"}).checks[0].message


def test_abs_in_place_is_named() -> None:
    source = edited(before(NEG, "    def __abs__(self):\n        self.data = abs(self.data)\n        return self\n\n"))
    assert faults(grade(source)) == [("changes-its-input", "abs")]


def test_a_slip_in_the_name_of_the_closure_is_named() -> None:
    start = CLEAN.index("    def tanh")
    source = CLEAN[:start] + CLEAN[start:].replace("out._backward = ", "out._bakward = ", 1)
    (found,) = grade(source).faults
    assert (found.fault, found.op) == ("detached-op", "tanh")
    assert "sets `_bakward` on line" in found.sentence


def test_a_network_whose_parameters_leave_the_bias_out() -> None:
    source = ENGINES["46_zero_grad_without_bias"].source
    source = source.replace("    def zero_grad(self):\n        for p in self.w:\n            p.grad = 0\n",
                            "    def parameters(self):\n        return self.w\n")  # fmt: skip
    (found,) = grade(source).faults
    assert found.sentence.startswith("`Neuron.parameters` leaves `b` out on line ")
    assert faults(grade(source.replace("return self.w\n", "return [*self.w, self.b]\n"))) == []


def test_gradients_that_a_walk_gives_back_are_not_asked_to_add_up() -> None:
    from diagnose.designs import DESIGNS

    report = grade(DESIGNS["a dict of gradients is given back"])
    assert {check.status for check in report.checks if check.group == "repeat"} == {"skipped"}
    assert "leaves-reset" not in {found.fault for found in report.diagnoses}


# --- what is said ----------------------------------------------------------------------------------------------------


def test_the_same_verdict_whatever_the_hash_seed(tmp_path: Path) -> None:
    """Sets of operands come in another order in each process."""
    source = ENGINES["38_append_outside_if"].source.replace("tuple(_children)", "set(_children)")
    (tmp_path / "engine.py").write_text(source, encoding="utf-8")
    script = "import sys; from gradwalk.diagnose import grade; "
    script += "print([found.fault for found in grade(open(sys.argv[1]).read()).faults])"
    said = {
        subprocess.run([sys.executable, "-c", script, str(tmp_path / "engine.py")], env={"PYTHONHASHSEED": seed},
                       capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert said == {"['listed-twice']\n"}


def test_karpathys_engine_and_the_courses_solution_look_like_a_success() -> None:
    from micrograd.engine import Value

    from gradwalk.diagnose import teaching

    for report in (grade(Value), grade(teaching.SOURCE), grade(CLEAN)):
        assert "✗" not in report.text()
        assert report.faults == ()
    text = grade(CLEAN).text()
    assert text.index("✓ random expressions") < text.index("· walking back") < text.index("Beyond the essentials")
    assert text.endswith("All 51 essentials passed, and 6 of 23 of what lies beyond them.")


def test_numbers_come_from_the_program_that_is_shown() -> None:
    report = grade(ENGINES["18_product_clipped"].source)
    assert "c = a * b at a = 3, b = 2 has a.grad 1, and 2 is right" in report.faults[0].sentence
    preset = [program for program in evidence("tanh") if "a.grad = 7.0" in program.text]
    assert preset
    assert all(program.title.endswith("with a.grad = 7.0 before") for program in preset)


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_notebook_is_told_by_cell_and_line(tmp_path: Path) -> None:
    start = CLEAN.index("class Value")
    wrong = CLEAN[start:].replace(SEED, "")
    texts = ["%matplotlib inline\nimport math", wrong, "a = Value(2.0)\na.nothing()"]
    cells = [{"cell_type": "markdown", "source": ["# An engine"]}]
    cells += [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in texts]
    path = tmp_path / "engine.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    report = of_file(path)
    line = wrong.splitlines().index("    def backward(self):") + 1
    assert (
        report.faults[0].sentence
        == f"your `backward` does not set the root's gradient to 1 on line {line} of code cell 2"
    )
    assert report.notes[0].startswith("line 2 of code cell 3 stopped the file (AttributeError: ")


def test_an_engine_in_a_second_file_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "my_second_file.py").write_text(CLEAN.replace("(1 - t ** 2)", "(1 - self.data ** 2)"), encoding="utf-8")
    (tmp_path / "main_part.py").write_text("from my_second_file import Value\n\n\n\nx = Value(1.0)\n", encoding="utf-8")
    (found,) = of_file(tmp_path / "main_part.py").faults
    assert "is wrong on line 90 of my_second_file.py: it gives 1 - x * x" in found.sentence


def test_a_helper_that_imports_the_engine_back_gets_the_same_class(tmp_path: Path) -> None:
    helper = "from my_engine_here import Value\n\n\ndef lift(x):\n    return x if isinstance(x, Value) else Value(x)\n"
    (tmp_path / "my_lifting.py").write_text(helper, encoding="utf-8")
    late = "        from my_lifting import lift\n        other = lift(other)\n"
    (tmp_path / "my_engine_here.py").write_text(CLEAN.replace(WRAP, late), encoding="utf-8")
    assert faults(of_file(tmp_path / "my_engine_here.py")) == []


def test_a_package_that_wants_its_version_or_fails_still_loads(tmp_path: Path) -> None:
    inits = {
        "wants_version": "from importlib.metadata import version\n__version__ = version('wants_version')\n",
        "fails_at_once": "raise RuntimeError('no')\n",
        "plain_package": "from .engine import Value\n",
    }
    for name, init in inits.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(init, encoding="utf-8")
        (tmp_path / name / "engine.py").write_text("from .helping import one\n" + CLEAN, encoding="utf-8")
        (tmp_path / name / "helping.py").write_text("one = 1\n", encoding="utf-8")
        assert faults(of_file(tmp_path / name / "engine.py")) == [], name


def test_our_future_imports_are_not_theirs(tmp_path: Path) -> None:
    """A dataclass that looks at its annotations finds types, not text; and with an import of its own, text."""
    look = "\n\nclass Record:\n    x: int\n\n\nassert Record.__annotations__['x'] is {}\n"
    for head, seen in (("", "int"), ("from __future__ import annotations\n", "not int")):
        path = tmp_path / f"looks_{len(head)}.py"
        path.write_text(head + CLEAN + look.format(seen).replace("is not int", "== 'int'"), encoding="utf-8")
        assert not [note for note in of_file(path).notes if "stopped" in note]


def test_a_demo_may_fail_and_what_stands_after_it_is_still_defined(tmp_path: Path) -> None:
    demo = "\n\na = Value(2.0)\nb = a * undefined\nb.label = 'b'\nb.grad = 1.0\n\n\ndef late(self):\n    return self\n"
    path = tmp_path / "with_demo.py"
    path.write_text(CLEAN + demo, encoding="utf-8")
    report = of_file(path)
    assert faults(report) == []
    line = CLEAN.count("\n") + 4
    assert report.notes[0].startswith(f"line {line} stopped the file (NameError: name 'undefined' is not defined)")
    assert callable(load(path).namespace["late"])
