"""Every notebook of the examples runs from top to bottom, as a reader would run it, and is stored without outputs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.notebook

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(path.name for path in (EXAMPLES / "notebooks").glob("*.ipynb"))

#: What is made smaller, so that the tests are done sooner: the cell with the tag `parameters` of a notebook.
SETTINGS = {"moons.ipynb": "STEPS = 20\nSAMPLES = 40"}


def executed(name: str, folder: Path) -> list[Any]:
    """The outputs of a notebook, run in a folder of its own; nothing may have gone to stderr."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(EXAMPLES / "notebooks" / name, as_version=4)
    settings = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(settings) == (name in SETTINGS)
    for cell in settings:
        cell.source = SETTINGS[name]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute(env=dict(os.environ))
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    return outputs


def printed(outputs: list[Any]) -> str:
    return "".join(output.text for output in outputs if output.output_type == "stream")


def shown(outputs: list[Any], kind: str) -> list[Any]:
    return [output for output in outputs if kind in output.get("data", {})]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_is_stored_without_outputs_and_described(name: str) -> None:
    notebook = json.loads((EXAMPLES / "notebooks" / name).read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    assert f"(notebooks/{name})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_each_notebook_is_run_below() -> None:
    assert NOTEBOOKS == ["against_pytorch.ipynb", "moons.ipynb", "tour.ipynb", "widgets.ipynb"]


def test_beside_pytorch(tmp_path: Path) -> None:
    told = printed(executed("against_pytorch.ipynb", tmp_path))
    assert "x1    -1.5000000   -1.5000000" in told
    assert "gradwalk, two walks: 54.0" in told
    assert "PyTorch, two walks:  54.0" in told
    assert told.count("PyTorch, a third:") == told.count("PyTorch:  one of the variables") == 1
    losses = re.findall(r"step +\d+ +([\d.]+) +([\d.]+)", told)
    assert len(losses) == 6
    assert all(ours == theirs for ours, theirs in losses)
    assert float(losses[-1][0]) < 0.01 < float(losses[0][0])


def test_the_tour(tmp_path: Path) -> None:
    outputs = executed("tour.ipynb", tmp_path)
    told = printed(outputs)
    assert "d = 4.0  a.grad = -3.0  b.grad = 2.0  c.grad = 1.0" in told
    assert "nudging says -3.0" in told
    assert "step 12  leaves {'x1': 2.0, 'w1': -3.0, 'x2': 1.0, 'w2': 1.0, 'b': 6.9}" in told
    assert "a.grad = 15: through b 6 + through c 9 = 15" in told
    assert "at fault: square" in told
    assert "forgotten zero_grad" in told
    assert int(re.findall(r"on the right side: (\d+) of 60", told)[0]) >= 57
    assert (tmp_path / "neuron.html").stat().st_size < 300_000
    assert len(shown(outputs, "application/vnd.jupyter.widget-view+json")) == 1
    assert [output for output in shown(outputs, "text/html") if "<svg" in output.data["text/html"]]


def test_the_widgets(tmp_path: Path) -> None:
    outputs = executed("widgets.ipynb", tmp_path)
    told = printed(outputs)
    assert "a.grad = -3.0  b.grad = -8.0" in told
    assert "f = 20.25  a.grad = 18.0" in told
    assert "the 9 that goes through `c` never reached `a`; a.grad = 6, right is 15" in told
    assert "8 of 24; each after all that use it: 2" in told
    assert float(re.findall(r"step 30  loss ([0-9.]+)", told)[0]) < 25.0  # of 88 at the start
    assert len(shown(outputs, "application/vnd.jupyter.widget-view+json")) == 4


def test_the_moons(tmp_path: Path) -> None:
    outputs = executed("moons.ipynb", tmp_path)
    assert len(shown(outputs, "image/png")) == 3
    told = printed(outputs)
    backward, nudged = re.findall(r"backward says ([0-9.]+), nudging says ([0-9.]+)", told)[0]
    assert float(backward) == pytest.approx(float(nudged), abs=1e-7)
    losses = [float(x) for x in re.findall(r"loss ([0-9.]+)", told)]
    assert losses[-1] < 0.5 * losses[0]
    assert float(re.findall(r"final accuracy ([0-9.]+)%", told)[0]) >= 85.0
