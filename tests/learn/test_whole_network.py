"""Lesson 15: what its exercises expect is what tensors give, and the model that makes up names has their gradients."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from learn.test_exercises import told

import gradwalk
from gradwalk import Tensor
from gradwalk.errors import SettingError
from gradwalk.learn.page import bridge, naming
from gradwalk.learn.page.exercises import EXERCISES, solutions
from gradwalk.learn.page.exercises.attempts import expected

NAMES = " ".join((Path(__file__).parents[2] / "examples" / "names.txt").read_text(encoding="utf-8").split())
SHORT = "anna otto emil lea"


def near(mine: Any, theirs: Any) -> bool:
    """Whether two nested lists hold the same numbers."""
    if isinstance(mine, list):
        return len(mine) == len(theirs) and all(map(near, mine, theirs))
    return math.isclose(mine, theirs, rel_tol=1e-10, abs_tol=1e-10)


def gradients(tab: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """What tensors give for a check: the gradient of every name that is looked at, by their own walk."""
    n = len(inputs.get("x", inputs.get("logits", [[]])))
    t = {
        name: Tensor(x) for name, x in inputs.items() if name not in ("targets", "X", "d_out", "d_y", "d_h", "d_e", "h")
    }
    top: Any
    if tab == "linear_back":
        t["b"] = gradwalk.zeros(len(inputs["W"][0]))
        top = (t["x"] @ t["W"] + t["b"]) * Tensor(inputs["d_out"])
    elif tab.startswith("cross_entropy"):
        t["counts"] = t["logits"].exp()
        t["total"] = t["counts"].sum(dim=1, keepdim=True)
        t["probs"] = t["counts"] / t["total"]
        t["logprobs"] = t["probs"].log()
        top = -t["logprobs"][range(n), inputs["targets"]] / n
    else:
        t["beta"] = gradwalk.zeros(len(inputs["gamma"]))
        t["mean"] = t["x"].sum(dim=0) / n
        t["diff"] = t["x"] - t["mean"]
        t["var"] = (t["diff"] ** 2).sum(dim=0) / n
        t["inv"] = (t["var"] + 0.00001) ** -0.5
        t["xhat"] = t["diff"] * t["inv"]
        top = (t["gamma"] * t["xhat"] + t["beta"]) * Tensor(inputs["d_y"])
    top.sum().backward()
    return {f"d_{name}": tensor.grad.tolist() for name, tensor in t.items()}


def inputs_of(text: str) -> dict[str, Any]:
    """The arrays and lists that a check begins with, in plain lists of floats."""
    from gradwalk.learn.page.exercises.arrays import Array, zeros

    names: dict[str, Any] = {"Array": Array, "zeros": zeros}
    lines = [line for line in text.splitlines() if line.partition(" = ")[2].startswith(("Array(", "[", "zeros("))]
    exec("\n".join(lines), names)
    found = {name: x for name, x in names.items() if isinstance(x, (Array, list))}
    return {name: x.tolist() if isinstance(x, Array) else x for name, x in found.items()}


@pytest.mark.parametrize(
    "tab", ["linear_back", "cross_entropy_steps", "cross_entropy_back", "batch_norm_steps", "batch_norm_back"]
)
def test_what_is_expected_is_what_tensors_give(tab: str) -> None:
    (home,) = (exercise for exercise in EXERCISES.values() if tab in exercise.tabs)
    compared = 0
    for check, right in zip(home.tabs[tab].checks, expected(home, home.tabs[tab]), strict=True):
        theirs = gradients(tab, inputs_of(check.text))
        for name, array in right.arrays.items():
            if name == "sums":
                assert near(array.tolist(), [0.0] * len(array))
            else:
                assert near(array.tolist(), theirs[name]), (check.title, name)
                compared += 1
    assert compared >= 2


def test_tanh_and_embedding_expect_what_tensors_give() -> None:
    exercise = EXERCISES["layers"]
    for check, right in zip(
        exercise.tabs["tanh_back"].checks, expected(exercise, exercise.tabs["tanh_back"]), strict=True
    ):
        given = inputs_of(check.text.replace(".tanh()", ""))
        x = Tensor(given["h"] if "tanh()" in check.text else [[math.atanh(a) for a in row] for row in given["h"]])
        (x.tanh() * Tensor(given["d_h"])).sum().backward()
        assert near(right.arrays["d_x"].tolist(), x.grad.tolist())
    for check, right in zip(
        exercise.tabs["embedding_back"].checks, expected(exercise, exercise.tabs["embedding_back"]), strict=True
    ):
        given = inputs_of(check.text)
        C = Tensor(given["C"])
        (C[Tensor(given["X"])] * Tensor(given["d_e"])).sum().backward()
        assert near(right.arrays["d_C"].tolist(), C.grad.tolist())


@pytest.mark.parametrize(
    ("tab", "old", "new"),
    [
        ("cross_entropy_back", "(probs - right) / n", "probs / n - right / n"),
        ("cross_entropy_steps", "d_probs / total + d_total", "d_total + d_probs / total"),
        ("cross_entropy_steps", "(-d_probs * counts / total ** 2)", "(-d_probs * probs / total)"),
        ("batch_norm_back", "inv / n * (n * d_xhat - d_xhat.sum(dim=0)", "inv * (d_xhat - d_xhat.mean(dim=0)"),
        ("batch_norm_steps", "** -1.5 * d_inv", "** -1.5 * (d_xhat * diff).sum(dim=0)"),
        ("linear_back", "x.T @ d_out", "(d_out.T @ x).T"),
        ("tanh_back", "(1 - h ** 2) * d_h", "d_h - h * h * d_h"),
    ],
)
def test_right_answers_in_other_hands_pass(tab: str, old: str, new: str) -> None:
    text = solutions()[tab].replace(old, new)
    assert text != solutions()[tab]
    if tab == "batch_norm_back":
        text = text.replace("xhat * (d_xhat * xhat).sum(dim=0)", "xhat * (d_xhat * xhat).mean(dim=0)")
    assert told(tab, text)["status"] == "passed"


# --- names -----------------------------------------------------------------------------------------------------------


def test_the_model_has_the_gradients_that_tensors_give() -> None:
    state = naming.advance(naming.start(SHORT), SHORT, steps=3)
    contexts, targets = [[0, 0, 1], [0, 1, 4], [1, 4, 4], [0, 1, 4], [2, 2, 2]], [4, 4, 1, 0, 3]
    loss, found, mean, var = naming.walked(state, contexts, targets)
    given = {name: Tensor(state[name]) for name in found}  # type: ignore[literal-required]
    x = given["table"][Tensor(contexts)].view(len(targets), -1)
    before = x @ given["weights"]
    centre = before.mean(dim=0)
    spread = ((before - centre) ** 2).mean(dim=0)
    y = given["gamma"] * (before - centre) / (spread + naming.EPSILON) ** 0.5 + given["beta"]
    theirs = gradwalk.cross_entropy(y.tanh() @ given["out"] + given["bias"], Tensor(targets))
    theirs.backward()
    assert math.isclose(loss, theirs.item(), rel_tol=1e-12)
    assert near(mean, centre.tolist())
    assert near(var, spread.tolist())
    for name, tensor in given.items():
        mine = found[name] if tensor.ndim == 2 else found[name][0]
        assert near(mine, tensor.grad.tolist()), name


def test_a_step_is_a_function_of_the_state_however_it_is_cut() -> None:
    state = naming.start(SHORT, seed=3)
    once = naming.advance(state, SHORT, steps=6)
    halves = naming.advance(naming.advance(state, SHORT, steps=2), SHORT, steps=4)
    assert {**once, "losses": []} == {**halves, "losses": []}
    assert once["losses"][2:] == halves["losses"]
    back = json.loads(json.dumps(once, allow_nan=False))
    assert naming.advance(back, SHORT) == naming.advance(once, SHORT)
    assert naming.start(SHORT)["step"] == 0, "nothing was changed in place"


def test_it_learns_and_what_it_makes_up_is_made_of_letters() -> None:
    state = naming.advance(naming.start(NAMES), NAMES, steps=60)
    assert sum(state["losses"][-20:]) / 20 < naming.facts(NAMES)["guessing"] - 0.4
    letters = set("".join(NAMES.split()))
    assert len(state["names"]) == 8
    assert all(set(name) <= letters and len(name) <= naming.LONGEST for name in state["names"])
    count = sum(
        len(row) if isinstance(row, list) else 1
        for name in ("table", "weights", "gamma", "beta", "out", "bias")
        for row in state[name]
    )
    assert count == naming.facts(NAMES)["parameters"]


@pytest.mark.parametrize("names", ["a", "a a a", "zoë .. x", "ab\ncd"])
def test_any_list_of_names_will_do(names: str) -> None:
    state = naming.advance(naming.start(names), names, steps=2)
    assert all(map(math.isfinite, state["losses"]))


def test_no_names_are_refused_in_words() -> None:
    with pytest.raises(SettingError, match="no names"):
        naming.start("  ")
    answer = json.loads(bridge.call("naming.facts", json.dumps({"names": ""}), lambda text: None))
    assert answer["error"]["message"] == {"id": "there are no names to learn from", "parameters": {}}
