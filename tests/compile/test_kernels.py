"""Native code piece by piece: every op at its edges, vector functions, products of all shapes, and the cache."""

from __future__ import annotations

import ctypes
import itertools
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz
import numpy as np
import numpy.typing as npt
import pytest
from eagerly import run_eagerly
from writing import Writer

import gradwalk
from gradwalk import ops
from gradwalk.compile.native import array_products, codegen, objects
from gradwalk.compile.prepared import Runner, prepare
from gradwalk.errors import InputSizeError, OpError
from gradwalk.ops import Op

Floats = npt.NDArray[np.float64]

inf, nan = math.inf, math.nan
EDGES = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, 20.0, -20.0, 1000.0, -1000.0, 1e-300, inf, -inf, nan)


def edge_points(arity: int) -> list[tuple[float, ...]]:
    if arity <= 2:
        return list(itertools.product(EDGES, repeat=arity))
    return [tuple(EDGES[(i * k + i // 7 + k) % len(EDGES)] for k in range(1, arity + 1)) for i in range(200)]


def alike(x: float, y: float) -> bool:
    return x == y or (x != x and y != y) or abs(x - y) <= 1e-12 * abs(y)


@pytest.mark.parametrize("op", [*ops.TABLE.values(), fuzz.cube, fuzz.blend], ids=lambda op: op.name)
def test_every_op_is_itself_at_every_edge(op: Op) -> None:
    """One program with a result for each point, rolled up, so that the op runs in a vector loop; and one row by row."""
    points = edge_points(op.arity)
    w = Writer(len(points) * op.arity, 0)
    made = [w.op(op, w.parameters[i * op.arity : (i + 1) * op.arity]) for i in range(len(points))]
    tape = w.tape(*made)
    numbers = [x for point in points for x in point]
    leaves, _, outputs = run_eagerly(tape, numbers, [], [])
    for out in outputs:
        out.backward()
    for rolled in (True, False):
        values, grads = np.array(numbers), np.zeros(len(numbers))
        runner = Runner(prepare(tape, rolled=rolled), values, grads)
        runner.forward()
        runner.backward(np.ones(len(points)))
        for i, point in enumerate(points):
            assert alike(runner.outputs[i], outputs[i].data), (op.name, point, runner.outputs[i], outputs[i].data)
            for k in range(op.arity):
                got, expected = grads[i * op.arity + k], leaves[i * op.arity + k].grad
                assert alike(got, expected), (op.name, point, k, got, expected)


@pytest.mark.parametrize("exponent", [2.0, 3.0, -1.0, -2.0, 0.5, -0.5, -1.5, 1.0, 0.0, 1.7, -3.0, inf, nan])
def test_powers_with_a_constant_exponent_at_every_edge(exponent: float) -> None:
    w = Writer(len(EDGES) * 2, 0)
    tape = w.tape(*(p**exponent for p in w.parameters))
    numbers = [*EDGES, *(x * 0.7 for x in EDGES)]
    leaves, _, outputs = run_eagerly(tape, numbers, [], [])
    for out in outputs:
        out.backward()
    grads = np.zeros(len(numbers))
    runner = Runner(prepare(tape, rolled=True), np.array(numbers), grads)
    runner.forward()
    runner.backward(np.ones(len(numbers)))
    for i, x in enumerate(numbers):
        assert alike(runner.outputs[i], outputs[i].data), (x, exponent)
        assert alike(grads[i], leaves[i].grad), (x, exponent, grads[i], leaves[i].grad)


def test_an_output_that_takes_no_part_leaves_no_nan() -> None:
    w = Writer(2, 0)
    a, b = w.parameters
    tape = w.tape(a * 2.0, ops.log(a) + ops.sqrt(b))
    for rolled in (True, False):
        grads = np.zeros(2)
        runner = Runner(prepare(tape, rolled=rolled), np.array([0.0, 0.0]), grads)
        runner.forward()
        runner.backward([3.0, 0.0])
        assert grads.tolist() == [6.0, 0.0]
        runner.backward([0.0, 1.0])
        assert grads.tolist() == [inf, inf]


def test_gradients_add_up_and_memory_is_not_confused_between_runners() -> None:
    w = Writer(1, 1)
    tape = w.tape(w.parameters[0] * w.inputs[0])
    program = prepare(tape)
    values, grads = np.array([2.0]), np.zeros(1)
    first, second = Runner(program, values, grads), Runner(program, values, grads)
    first.inputs[0], second.inputs[0] = 5.0, 7.0
    first.forward()
    second.forward()
    first.backward([1.0])
    second.backward([10.0])
    assert (first.outputs[0], second.outputs[0], grads[0]) == (10.0, 14.0, 75.0)


def test_a_batch_of_nothing_is_refused() -> None:
    w = Writer(1, 1)
    tape = w.tape(w.parameters[0] * w.inputs[0])
    runner = Runner(prepare(tape, batch="float64"), np.ones(1), np.zeros(1))
    with pytest.raises(InputSizeError, match="at least 1 sample, not 0"):
        runner.resize(0)


# --- functions that vectorise ----------------------------------------------------------------------------------------


def applied(name: str, x: npt.NDArray[Any], dtype: str = "float64") -> npt.NDArray[Any]:
    """A function of `vmath` in a loop over an array."""
    reals = "doubles" if dtype == "float64" else "floats"
    text = (
        f"def kernel(table, unused):\n    t = longs(table)\n    x, y = {reals}(t[0]), {reals}(t[1])\n"
        f"    for i in range(t[2]):\n        y[i] = {name}(x[i])\n"
    )
    y = np.zeros_like(x)
    table = np.array([x.ctypes.data, y.ctypes.data, len(x)], np.int64)
    functions = "vmath" if dtype == "float64" else "vmath32"
    objects.call(objects.generated(f"test {name}", text, functions))(table.ctypes.data, 0)
    return y


@pytest.mark.parametrize(("name", "reference"), [("exp", math.exp), ("tanh", math.tanh)])
def test_vector_functions_are_right_to_two_units_in_the_last_place(
    name: str, reference: Callable[[float], float]
) -> None:
    draw = np.random.default_rng(0)
    x = np.concatenate([np.linspace(-40, 40, 20_001), draw.uniform(-1, 1, 5_000), draw.uniform(-700, 700, 5_000)])
    y = applied(name, x)
    expected = np.array([reference(v) for v in x])
    assert (np.abs(y - expected) <= 2 * np.spacing(np.abs(expected))).all()


def test_exp_at_the_ends_of_its_range() -> None:
    x = np.array(
        [inf, -inf, nan, 0.0, -0.0, 709.782712893384, 709.7827128933841, 1e308, -745.13, -745.14, -1e308, 5e-324]
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(applied("exp", x), np.exp(x))
    small = np.linspace(-745.1, -708.5, 500)  # results with fewer than 53 bits
    assert (np.abs(applied("exp", small) - np.exp(small)) <= 2 * np.spacing(np.exp(small))).all()


def test_tanh_at_the_ends_of_its_range() -> None:
    x = np.array([inf, -inf, nan, 1000.0, -1000.0, 20.0, 5e-324, -5e-324, 1e-300])
    np.testing.assert_array_equal(applied("tanh", x), np.tanh(x))
    assert math.copysign(1.0, applied("tanh", np.array([-0.0] * 9))[0]) == -1.0


@pytest.mark.parametrize("name", ["exp", "tanh"])
def test_vector_functions_in_float32(name: str) -> None:
    x = np.concatenate([np.linspace(-85, 85, 20_001), np.linspace(-1, 1, 5_001)]).astype(np.float32)
    y = applied(name, x, "float32").astype(np.float64)
    expected = getattr(np, name)(x.astype(np.float64))
    assert (np.abs(y - expected) <= 4 * np.spacing(np.abs(expected).astype(np.float32))).all()
    edges = np.array([inf, -inf, nan, 200.0, -200.0, 0.0], np.float32)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(applied(name, edges, "float32"), getattr(np, name)(edges))


# --- products of matrices --------------------------------------------------------------------------------------------


PRODUCT_TEST = """
import sys
import numpy as np
from gradwalk.compile.native import objects
text = '''
def kernel(table, unused):
    t = longs(table)
    multiply{0}(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10])
    gather{0}(t[0], t[1], t[8], t[9], t[6], t[7], t[11], t[12])
'''
draw = np.random.default_rng(0)
for dtype, suffix, size in (("float64", "", 8), ("float32", "32", 4)):
    run = objects.call(objects.generated("test product" + dtype, text.format(suffix), "products"))
    kept = max(objects.vector_bits() // 8 // size, 1)
    for rows in (1, 2, 3, 4, 5, 8, 9, 13):
        for inner in (1, 2, 5):
            for columns in (1, 2, 3, 7, 8, 9, 16, 31, 33, 64, 70):
                for add in (0, 1):
                    left = draw.normal(size=(rows, inner)).astype(dtype)
                    right = draw.normal(size=(inner, columns + 3)).astype(dtype)
                    out = np.full((rows, columns + 2), 7.0, dtype)
                    whole = columns // kept * kept
                    sums = np.zeros((rows, inner, kept), dtype)
                    table = np.array([rows, inner, columns, left.ctypes.data, inner, 1, right.ctypes.data, columns + 3,
                                      out.ctypes.data, columns + 2, add, whole, sums.ctypes.data], np.int64)
                    run(table.ctypes.data, 0)
                    wanted = left.astype(float) @ right[:, :columns].astype(float) + 7.0 * add
                    close = 1e-13 if size == 8 else 1e-5
                    assert np.abs(out[:, :columns] - wanted).max() < close, (rows, inner, columns, add)
                    assert (out[:, columns:] == 7.0).all(), "wrote beyond the end"
                    turned = out[:, :whole].astype(float) @ right[:, :whole].astype(float).T
                    assert np.abs(sums.sum(2) - turned).max() < close * 100, (rows, inner, columns)
print("right")
"""


@pytest.mark.parametrize("bits", ["512", "256", "0"])
def test_products_of_all_shapes_with_vectors_of_any_width(bits: str) -> None:
    if bits == "512" and objects.vector_bits() < 512:
        pytest.skip("this processor has no vectors of 512 bits")
    environment = {**os.environ, "GRADWALK_VECTOR_BITS": bits}
    run = subprocess.run([sys.executable, "-c", PRODUCT_TEST], capture_output=True, text=True, env=environment)
    assert run.stdout == "right\n", run.stderr


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_whole_matrices_are_numpys_wherever_they_lie(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_products, "LEAST", 1)
    monkeypatch.setattr(array_products, "_threads", lambda: 1)
    draw = np.random.default_rng(0)
    close = 1e-13 if dtype == "float64" else 1e-5
    multiplied = 0
    for rows, inner, columns in itertools.product((1, 2, 4, 5, 9, 70), (1, 3, 64), (1, 7, 8, 9, 16, 33, 70)):
        wide, tall = (draw.normal(size=n).astype(dtype) for n in ((rows, 2 * inner), (inner + 1, rows + 2)))
        right = draw.normal(size=(inner, columns + 3)).astype(dtype)[:, :columns]
        for left in (wide[:, :inner], wide[:, ::2], wide[::-1, :inner], tall[:inner, 1:-1].T):
            out = np.full((rows, columns + 2), 7.0, dtype)
            for _ in range(2):  # what is there before does not matter
                run = array_products.product_into(out[:, :columns], left, right)
                if run is not None:
                    run()
                    multiplied += 1
                    assert np.allclose(out[:, :columns], left.astype(float) @ right.astype(float), close, close)
                    assert (out[:, columns:] == 7.0).all(), "wrote beyond the end"
    assert multiplied > 100 or objects.vector_bits() < 512


def test_products_that_numpy_does_better_or_alone_are_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, out = np.ones((4, 8)), np.ones((8, 16)), np.ones((4, 16))
    assert array_products.product_into(out, a, b) is None  # small
    monkeypatch.setattr(array_products, "LEAST", 0)
    monkeypatch.setattr(array_products, "_threads", lambda: 2)
    assert array_products.product_into(out, a, b) is None
    monkeypatch.setattr(array_products, "_threads", lambda: 1)
    assert (array_products.product_into(out, a, b) is None) == (objects.vector_bits() < 512)
    large = np.ones((1000, 1000))
    for given in (
        (np.ones((4, 7)), a, np.ones((8, 7))),  # few columns
        (out, a, np.ones((16, 8)).T),
        (out, a, np.ones((8, 32))[:, ::2]),
        (np.ones((16, 4)).T, a, b),
        (out.astype("float32"), a, b),
        (out, a.astype("float32"), b),
        (out.astype(int), a.astype(int), b.astype(int)),
        (np.ones((2, 4, 16)), np.ones((2, 4, 8)), b),
        (np.ones(16), np.ones(8), b),
        (large, large, large),
    ):
        assert array_products.product_into(*given) is None


@pytest.mark.parametrize("bits", ["256", "0"])
def test_whole_programs_with_narrower_vectors(bits: str) -> None:
    """As other processors would run them."""
    command = [sys.executable, str(Path(__file__).with_name("fuzz.py")), "--check", "rolled up", "--seed", "2"]
    environment = {**os.environ, "GRADWALK_VECTOR_BITS": bits}
    run = subprocess.run([*command, "--kind", "network"], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr


# --- rules become text -----------------------------------------------------------------------------------------------


def test_a_rule_that_branches_becomes_a_choice() -> None:
    lines, (name,) = codegen.value_lines(ops.maximum)
    scope: dict[str, Any] = {}
    body = "\n".join(f"    {line}" for line in lines)
    exec(f"def f(x0, x1):\n{body}\n    return {name}", scope)
    for x, y in ((1.0, 2.0), (2.0, 1.0), (3.0, 3.0)):
        assert scope["f"](x, y) == ops.maximum(x, y)
    assert math.isnan(scope["f"](nan, 1.0))
    assert math.isnan(scope["f"](1.0, nan))


def test_a_rule_that_cannot_be_written_down_says_why() -> None:
    table = {1.0: 2.0}

    @gradwalk.op(lambda x, out: 1.0)
    def looked_up(x: float) -> float:
        return table[float(x)]

    w = Writer(1, 0)
    tape = w.tape(w.op(looked_up, w.parameters))
    with pytest.raises(OpError, match=r"the value of looked_up cannot be compiled: it raised TypeError"):
        prepare(tape)


def test_a_rule_that_branches_without_end_says_so() -> None:
    @gradwalk.op(lambda x, out: 1.0)
    def halved(x: float) -> float:
        while x > 1.0:
            x = x / 2.0
        return x

    w = Writer(1, 0)
    with pytest.raises(OpError, match="branches in more than 64 ways"):
        prepare(w.tape(w.op(halved, w.parameters)))


def test_helpers_of_an_op_are_followed() -> None:
    def helper(x: float) -> float:
        return math.exp(x) + abs(x) ** 2

    @gradwalk.op(lambda x, out: ops.exp(x) + 2.0 * x)
    def helped(x: float) -> float:
        total: float = helper(x) + ops.sin(x) * 0.0
        return total

    w = Writer(20, 0)
    tape = w.tape(*(w.op(helped, (p,)) for p in w.parameters))
    runner = Runner(prepare(tape, rolled=True), np.linspace(0, 2, 20), np.zeros(20))
    runner.forward()
    np.testing.assert_allclose(runner.outputs, [helped(float(x)) for x in np.linspace(0, 2, 20)], rtol=1e-14)


# --- the cache -------------------------------------------------------------------------------------------------------


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADWALK_CACHE", str(tmp_path))
    return tmp_path


def doubled(factor: str, name: str = "test times") -> objects.Native:
    return objects.generated(name, f"def kernel(at, unused):\n    x = doubles(at)\n    x[0] = x[0] * {factor}\n")


def result(native: objects.Native) -> float:
    x = np.array([3.0])
    objects.call(native)(x.ctypes.data, 0)
    return float(x[0])


def test_a_changed_text_is_never_served_from_the_cache(empty_cache: Path) -> None:
    assert result(doubled("2.0")) == 6.0
    assert result(doubled("5.0")) == 15.0  # the same name, another text
    assert len(list(empty_cache.iterdir())) == 2


COPY = """
import sys
sys.path.insert(0, {source!r})
import gradwalk
from gradwalk import Value
from gradwalk.compile.native import objects
assert gradwalk.__file__.startswith({source!r})
for op in {names!r}:
    x = Value(2.0)
    y = gradwalk.compile(lambda a: sum(gradwalk.ops.TABLE[op](x * a) for _ in range(3)))(0.5)
    y.backward()
    print(y.data, x.grad)
print(int(objects.record["compiled"]), "numba" in sys.modules)
"""


def copied(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    parts = shutil.ignore_patterns("site", "built")  # bytecode comes along, and is not used for what is edited
    shutil.copytree(Path(gradwalk.__file__).parent, source / "gradwalk", ignore=parts)
    return source


def run_copy(source: Path, cache: Path, *names: str) -> tuple[dict[str, tuple[float, float]], int, bool]:
    """What each op gives, with its gradient; how much was compiled for it; and whether Numba was imported."""
    environment = {**os.environ, "GRADWALK_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    script = COPY.format(source=str(source), names=names)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    *numbers, last = (line.split() for line in run.stdout.splitlines())
    given = {name: (float(value), float(grad)) for name, (value, grad) in zip(names, numbers, strict=True)}
    return given, int(last[0]), last[1] == "True"


def test_the_cache_spares_even_the_import_of_numba_and_never_serves_an_edited_kernel_or_op(tmp_path: Path) -> None:
    source, cache = copied(tmp_path), tmp_path / "cache"
    given, compiled, imported = run_copy(source, cache, "tanh", "relu")
    slope = 3 * 0.5 * (1 - math.tanh(1.0) ** 2)
    assert given == {"tanh": (pytest.approx(3 * math.tanh(1.0)), pytest.approx(slope)), "relu": (3.0, 1.5)}
    assert compiled > 0
    assert imported
    assert run_copy(source, cache, "tanh", "relu") == (given, 0, False)

    vmath = source / "gradwalk" / "compile" / "native" / "vmath.py"
    text = vmath.read_text(encoding="utf-8")
    edited = text.replace("return math.copysign(near if size < near_zero else far, x)", "return x + 100.0")
    assert edited != text
    vmath.write_text(edited, encoding="utf-8")
    assert run_copy(source, cache, "tanh")[0]["tanh"][0] == pytest.approx(303.0)

    vmath.write_text(text, encoding="utf-8")
    table = source / "gradwalk" / "ops.py"
    rules = table.read_text(encoding="utf-8")
    edited = rules.replace("return 0.0 if x <= 0.0 else x\n", "return 0.0 if x <= 0.0 else x * 7.0\n")
    assert edited != rules
    table.write_text(edited, encoding="utf-8")
    assert run_copy(source, cache, "relu")[0]["relu"][0] == 21.0


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("GRADWALK_CACHE", str(blocked))
    assert result(doubled("2.25", "test blocked")) == 6.75


def test_two_processes_may_compile_at_once(tmp_path: Path) -> None:
    script = """
import numpy as np
from gradwalk.compile.native import objects
native = objects.generated("test race", "def kernel(at, unused):\\n    x = doubles(at)\\n    x[0] = x[0] + 1.0\\n")
x = np.array([1.0])
objects.call(native)(x.ctypes.data, 0)
print(x[0])
"""
    environment = {**os.environ, "GRADWALK_CACHE": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    assert [process.communicate()[0] for process in running] == ["2.0\n"] * 3
    assert len(list(tmp_path.iterdir())) == 1


def test_what_a_native_function_costs_to_call_is_not_its_arguments() -> None:
    native = objects.call(objects.generated("test nothing", "def kernel(a, b):\n    pass\n"))
    assert native.argtypes == (ctypes.c_int64, ctypes.c_int64)  # type: ignore[attr-defined]
    assert codegen.element(ops.exp, "s") is codegen.element(ops.exp, "s")


def test_no_op_of_the_table_is_compiled_anew_in_every_process() -> None:
    """With the tests' own cache, which the first process fills."""
    script = """
import gradwalk
from gradwalk import Value, ops
from gradwalk.compile.native import objects
xs = [Value(0.3), Value(0.4), Value(0.6)]
for op in ops.TABLE.values():
    if op.arity < 3:
        loss = gradwalk.compile(lambda a, op=op: a * op(*xs[: op.arity]))(1.0)
        loss.backward()
print(objects.record["compiled"])
"""
    command = [sys.executable, "-c", script]
    subprocess.run(command, check=True, capture_output=True)
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "0\n"
