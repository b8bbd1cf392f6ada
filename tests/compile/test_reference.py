"""The seam: every program of the other tests, saved and loaded, printed and compared, natively and in plain NumPy."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import fuzz
import gpt
import numpy as np
import pytest
import test_analyze
import test_kernels
from both import Both
from test_compile_trainings import trained_on_the_moons
from writing import Writer

import gradwalk
from gradwalk import nn, ops
from gradwalk.compile.native import objects, passes
from gradwalk.compile.prepared import Runner, prepare, running_on
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.roll.passes import plainly
from gradwalk.compile.roll.rolling import roll, roll_batch
from gradwalk.errors import InputSizeError, OpError


@pytest.fixture
def both() -> Iterator[Both]:
    backend = Both()
    with running_on(backend):
        yield backend
    assert backend.programs, "nothing was prepared"


def plain_tests(module: ModuleType) -> list[Any]:
    """Tests of a module that take no arguments and prepare something."""
    return [
        pytest.param(test, id=name)
        for name, test in vars(module).items()
        if name.startswith("test_") and not inspect.signature(test).parameters and "prepare(" in inspect.getsource(test)
    ]


@pytest.mark.parametrize("check", fuzz.CHECKS)
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_random_graphs(both: Both, kind: str, check: str) -> None:
    for seed in range(3):
        assert fuzz.CHECKS[check](fuzz.draw(kind, seed)) <= fuzz.TOLERANCE


@pytest.mark.parametrize("kind", ["network", "recurrent", "attention", "gram", "tiny"])
def test_random_graphs_in_float32(both: Both, kind: str) -> None:
    assert fuzz.check_lanes(fuzz.draw(kind, 1), "float32") < 2e-5


@pytest.mark.parametrize("test", [*plain_tests(test_analyze), *plain_tests(test_kernels)])
def test_known_graphs(both: Both, test: Any) -> None:
    test()


@pytest.mark.parametrize("op", [*ops.TABLE.values(), fuzz.cube, fuzz.blend], ids=lambda op: op.name)
def test_every_op(both: Both, op: Any) -> None:
    w = Writer(op.arity * 70, 0)
    tape = w.tape(*(w.op(op, w.parameters[i : i + op.arity]) for i in range(0, 70 * op.arity, op.arity)))
    for rolled in (True, False):
        runner = Runner(prepare(tape, rolled=rolled), np.linspace(0.1, 0.9, op.arity * 70), np.zeros(op.arity * 70))
        runner.forward()
        runner.backward(np.ones(70))


def test_a_training(both: Both) -> None:
    eager, compiled = (trained_on_the_moons(wrap, 8) for wrap in (lambda f: f, gradwalk.compile))
    assert compiled == pytest.approx(eager, rel=1e-9, abs=1e-12)


def test_a_gpt(both: Both) -> None:
    vocabulary = gpt.Vocabulary.of(["ada", "bo"])
    parameters = gpt.make_parameters(gpt.Config(len(vocabulary), width=4, heads=2, block=6))
    tokens = vocabulary.encode("ada")
    gradwalk.compile(gpt.loss)(parameters, tokens).backward()
    batched = gradwalk.compile(lambda tokens: gpt.loss(parameters, tokens), batch="mean")
    batched(np.array([tokens, tokens[::-1]])).backward()


def test_a_batch_with_a_penalty_that_samples_share(both: Both) -> None:
    model = nn.MLP(2, [4, 1])
    X = np.linspace(-1, 1, 42).reshape(21, 2)
    for batch in ("sum", "mean", "each"):
        f = gradwalk.compile(lambda x: model(x) ** 2 + 0.1 * sum(p * p for p in model.parameters()), batch=batch)
        f(X).backward()
    assert any(program.shared for program in both.programs)


# --- what tests hold to ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_the_plain_passes_find_what_the_native_ones_find(kind: str) -> None:
    for seed in range(4):
        tape = fuzz.draw(kind, seed).tape
        for rolled in (True, False):
            assert roll(tape, structured=rolled, run=plainly).program == prepare(tape, rolled=rolled).program
        assert roll_batch(tape, run=plainly).program == prepare(tape, batch="float64").program


def test_programs_that_differ_are_not_equal() -> None:
    w = Writer(2, 1)
    a, b, x = *w.parameters, *w.inputs
    programs = [prepare(w.tape(out), rolled=True).program for out in (a * b, a + b, b * a, x * x, a * 2.0, a * 3.0)]
    for i, one in enumerate(programs):
        for k, other in enumerate(programs):
            assert (one == other) is (i == k)
    assert programs[0] != "a program"


def test_an_op_of_a_users_own_cannot_be_saved_and_says_so() -> None:
    w = Writer(1, 0)
    program = prepare(w.tape(w.op(fuzz.cube, w.parameters)), rolled=True).program
    with pytest.raises(OpError, match="uses cube, which is not one of gradwalk's own ops, cannot be saved"):
        program.to_json()


def test_two_ops_of_one_name_are_told_apart() -> None:
    @gradwalk.op(lambda x, out: 2.0, symbol="double")
    def tanh(x: float) -> float:
        return 2.0 * x

    w = Writer(1, 0)
    program = prepare(w.tape(ops.tanh(w.parameters[0]), w.op(tanh, w.parameters)), rolled=True).program
    assert sorted(program.ops) == ["tanh", "tanh_2"]


def test_a_program_says_what_it_does() -> None:
    w = Writer(4, 8)
    weights, samples = w.parameters, [w.inputs[i : i + 2] for i in range(0, 8, 2)]
    outs = [ops.tanh(weights[k] * x[0] + weights[k + 1] * x[1]) for x in samples for k in (0, 2)]
    text = str(prepare(w.tape(*outs), batch="float64").program)
    assert (
        text
        == """\
4 parameters, 8 inputs, 0 indices; 24 numbers of own memory, 128 lanes of float64
1: m[8:16] = product 2×2×4: p[0:4] (+=) · m[lists[0:8]]
2: m[16:24] = op 1×8: tanh(m[8:16] (=))
gives m[16], m[20], m[17], m[21], m[18], m[22], m[19], m[23]"""
    )


def test_the_reference_refuses_a_batch_of_nothing() -> None:
    w = Writer(1, 1)
    runner = Runner(prepare(w.tape(w.parameters[0] * w.inputs[0]), batch="float64", backend=REFERENCE), np.ones(1),
                    np.zeros(1))  # fmt: skip
    with pytest.raises(InputSizeError, match="at least 1 sample, not 0"):
        runner.resize(0)


def test_another_backend_compiles_nothing_native_for_what_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "_find", lambda native: pytest.fail(f"{native.name} was wanted"))
    monkeypatch.setattr(objects, "_addresses", {})
    monkeypatch.setattr(passes, "_call", passes._call.__wrapped__)
    w = Writer(2, 1)
    tape = w.tape(w.op(ops.where, (w.inputs[0], ops.sqrt(w.parameters[0]), w.parameters[1] * 3.0)))
    for batch in (None, "float64"):
        runner = Runner(prepare(tape, batch=batch, backend=REFERENCE), np.array([0.0, 2.0]), grads := np.zeros(2))
        if batch:
            runner.resize(1)
        runner.both()
        runner.backward(np.ones_like(runner.seeds))
        assert (runner.outputs.ravel().tolist(), grads.tolist()) == ([6.0], [0.0, 3.0])


def test_programs_are_made_and_run_in_numpy_without_anything_native() -> None:
    script = """
import sys
import numpy as np
from gradwalk import tanh
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.roll.rolling import roll
from gradwalk.compile.trace.tracer import trace
run = REFERENCE.lower(roll(trace(lambda x, y: tanh(x * y), [1.0, 2.0]).tape).program).bind(np.zeros(0), np.zeros(0))
run.inputs[:] = 0.0, 2.0
run.forward()
print(run.outputs[0], [name for name in sys.modules if "native" in name or name in ("numba", "llvmlite")])
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == "0.0 []\n", run.stdout + run.stderr
