"""Walks over tensors in steps: events with arrays, true words, a stepper that opens tensors and their cells."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from test_stepper import play, shown, text_of

import gradwalk
from gradwalk import Tensor, Value, cli, walk
from gradwalk.errors import BackwardError, GraphError
from gradwalk.stepper.cell_screen import CellScreen
from gradwalk.stepper.subject import Subject
from gradwalk.walk import Push, Recording, record
from gradwalk.walk.many import Many


def network() -> tuple[Any, ...]:
    X = Tensor([[1.0, 2.0, -1.0], [0.5, -2.0, 3.0]], requires_grad=False, label="X")
    W, b = Tensor([[0.5, -1.0], [1.0, 0.1], [-0.7, 0.8]], label="W"), Tensor([0.1, -0.2], label="b")
    h = (X @ W + b).tanh()
    h.label = "h"
    loss = (h * h).mean()
    loss.label = "loss"
    return loss, X, W, b, h


def gradients(recording: Recording) -> dict[str, Any]:
    return {node.name: recording.grads[node.id] for node in recording.graph.nodes}


def test_a_walk_ends_with_the_gradients_of_backward() -> None:
    loss, _, W, b, h = network()
    recording = record(loss)
    assert W.grad.tolist() == [[0.0, 0.0]] * 3  # nothing was touched
    loss.backward()
    found = gradients(recording)
    for v in (W, b, h):
        assert found[v.label].shape == v.shape
        assert found[v.label].numbers == tuple(v.grad.reshape(-1).tolist())
    assert found["X"] is None
    assert recording.verdict.right
    kinds = [event.kind for event in recording.events]
    assert kinds.index("seed") == 6


def test_recordings_of_tensors_go_to_json_and_back() -> None:
    x = Tensor([[1.0, -2.0], [0.0, 3.0]], label="x")
    text = record((x.log() * x).sum()).to_json()  # with nan and inf in it
    again = Recording.from_json(text)
    assert again.to_json() == text
    with pytest.raises(GraphError, match="record the tensor itself"):
        record(again)


@pytest.mark.parametrize(
    "make",
    [
        lambda x, s: (x * s).sum(),
        lambda x, s: (s - x).exp().mean(),
        lambda x, s: x.max() * s,
        lambda x, s: (x[0] @ x.T).sum() + s,
        lambda x, s: gradwalk.cat([x, x]).cumsum(0).reshape(-1)[3] * s,
        lambda x, s: gradwalk.einsum("ij,kj->", x, x) / s,
        lambda x, s: gradwalk.where(x > 0, x, -x).sum() ** s,
        lambda x, s: gradwalk.pad(x, [1, 1]).permute(1, 0).sum() + x.softmax(dim=1).log().sum() + s * s,
        lambda x, s: x[0:0].sum() + s,
        lambda x, s: Tensor.of([Value(2.0, label="v"), s.item()]).sum() * s,
        lambda x, s: s,
    ],
)
def test_every_kind_of_op_is_walked_as_backward_walks_it(make: Any) -> None:
    x, s = Tensor([[1.0, 2.0, -3.0], [0.5, 4.0, -1.0]], label="x"), Tensor(1.5, label="s")
    root = make(x, s)
    recording = record(root)
    root.backward()
    for node, v in zip(recording.graph.nodes, walk.topological(root), strict=True):
        found = recording.grads[node.id]
        if node.leaf and found is not None:
            wanted = v.grad.reshape(-1).tolist() if isinstance(v, Tensor) else [v.grad]
            assert list(found.numbers if isinstance(found, Many) else [found]) == pytest.approx(wanted, rel=1e-14)
    for event in recording.events:
        assert event.sentence
        assert "{" not in event.sentence
        assert event.formula or event.kind == "visit"
        assert event.latex


def test_the_words_are_true_of_broadcasts_and_products() -> None:
    loss, *_ = network()
    told = {event.formula: event.sentence for event in record(loss).events}
    assert "(2,) repeated to fit" in told["n4.data = (2, 2) + [0.1, −0.2] = (2, 2)"]
    to_b = next(sentence for formula, sentence in told.items() if formula.startswith("b.grad"))
    assert "goes to `b`; it was repeated from (2,) to (2, 2), so what comes back is summed" in to_b
    assert "as it is" not in to_b
    to_h = [event.sentence for event in record(loss).events if isinstance(event, Push) and event.after and
            event.formula.startswith("h.grad")]  # fmt: skip
    assert "Before it had nothing; now h.grad holds numbers of shape (2, 2)." in to_h[0]
    assert "That is added to what h.grad had before, number by number." in to_h[1]


def test_hooks_run_and_stale_graphs_are_refused() -> None:
    x = Tensor([1.0, 2.0], label="x")
    y = x * x
    y.register_hook(lambda gradient: gradient * 10.0)
    loss = y.sum()
    assert gradients(record(loss))["x"].numbers == (20.0, 40.0)
    x.data[0] = 5.0
    with pytest.raises(BackwardError, match="out of date"):
        record(loss)


def test_what_cannot_be_walked_is_said() -> None:
    x = gradwalk.ones(3)
    for make, words in (
        (lambda: record(x * 2.0), "take its sum"),
        (lambda: record(x.sum(), order=[x]), "an order of your own is for graphs of Values"),
        (lambda: record(gradwalk.ones(500, 500).sum()), "keeps up to 200,000"),
        (lambda: gradwalk.playground_widget(x.sum()), "a playground is for Values, and this is a tensor"),
    ):
        with pytest.raises(GraphError, match=words):
            make()


def test_the_command_prints_arrays_and_faces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "two.py"
    script.write_text(
        "from gradwalk import Tensor\nA = Tensor([[1.0, 2.0]])\nB = Tensor([[3.0], [-5.0]])\nloss = (A @ B).sum()\n"
    )
    assert cli.main(["step", f"{script}:loss", "--plain"]) == 0
    told = capsys.readouterr().out
    assert re.search(r" 3\n +−5\n\n +1 +2 +−7\n", told)
    assert "B.grad += n2.grad through @ = (2, 1)" in told
    assert cli.main(["step", f"{script}:loss", "--json"]) == 0
    assert '"shape": [2, 1]' in capsys.readouterr().out


def test_a_tensor_opens_into_its_faces_and_a_cell_into_its_graph() -> None:
    loss, _, W, *_ = network()
    loss.backward()

    async def script(app: Any, pilot: Any) -> None:
        assert "(3, 2)" in text_of(app.view)
        assert "enter open the numbers" in shown(app, "keys")
        await pilot.press("right")  # the product is computed
        await pilot.press("enter")
        screen = app.screen
        assert isinstance(screen, CellScreen)
        await pilot.press("down", "right", "right")
        assert screen.place == (1, 1)
        told = str(screen.body.render())
        assert "n2[1, 1] = 0.5 × (−1) + (−2) × 0.1 + 3 × 0.8 = 1.7" in told
        await pilot.press("escape", "end", "left", "enter")  # the last push, to W
        screen = app.screen
        assert isinstance(screen, CellScreen)
        assert screen.info.name == "W"
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.subject.title.endswith("as far as W[1, 0] counts")
        assert "esc back to the tensors" in shown(app, "keys")
        await pilot.press("end")
        found = {node.name: app.player.recording.grads[node.id] for node in app.player.recording.graph.nodes}
        assert found["W[1, 0]"] == pytest.approx(W.grad[1, 0].item(), rel=1e-12)
        await pilot.press("enter")  # a Value has nothing to open
        assert not isinstance(app.screen, CellScreen)
        await pilot.press("escape")
        assert app.subject.title == "net"
        await pilot.press("o")  # no other order for tensors
        assert "step" in shown(app, "head")

    play(Subject(loss, "net"), script, (120, 40))


def test_cells_of_vectors_cubes_and_constants_and_of_nothing() -> None:
    cube = Tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, math.nan]]], label="cube")
    total = (cube * Tensor([1.0, 2.0], requires_grad=False, label="k")).sum() + gradwalk.zeros(0).sum()

    async def script(app: Any, pilot: Any) -> None:
        await pilot.press("right", "enter", "right_square_bracket", "down", "right", "left")
        assert app.screen.place == (1, 1, 0)
        assert "7" in str(app.screen.body.render())
        await pilot.press("enter")
        await pilot.pause()
        assert app.above
        await pilot.press("escape")
        assert not app.above

    play(Subject(total, "cube"), script, (100, 30))
