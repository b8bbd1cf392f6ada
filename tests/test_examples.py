"""Every example is run as a reader would run it, and what it prints is checked; the GPT also against PyTorch."""

from __future__ import annotations

import importlib.util
import math
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradwalk import walk
from gradwalk.errors import SettingError

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example: str, *arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start an example in a process of its own, in the folder `cwd`."""
    return subprocess.run(
        [sys.executable, str(EXAMPLES / example), *arguments],
        cwd=cwd, env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


def succeed(example: str, *arguments: str, cwd: Path, **environment: str) -> str:
    done = run(example, *arguments, cwd=cwd, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def load(example: str) -> Any:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{Path(example).stem}", EXAMPLES / example)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look their annotations up
    spec.loader.exec_module(module)
    return module


# --- the examples as a whole ---------------------------------------------------------------------------------------


def names_of_examples() -> list[str]:
    return sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb"))


@pytest.mark.parametrize("example", names_of_examples())
def test_every_example_is_tested_and_described(example: str) -> None:
    tests = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    assert any(f'"{example}"' in text for text in tests), f"no test names {example}"
    assert f"[`{example}`]({example})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_the_readme_speaks_of_files_that_exist() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (EXAMPLES / link).exists(), link


SCRIPTS = [
    "digits_tensor.py", "gpt.py", "gpt_tensor.py", "linear_regression.py", "makemore.py", "moons.py", "xor.py",
]  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_teaches_and_knows_every_option_that_is_advertised(script: str, tmp_path: Path) -> None:
    told = succeed(script, "--help", cwd=tmp_path)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    commands = [line for line in (told + readme).splitlines() if f"python examples/{script}" in line]
    options = set(re.findall(r"--[a-z]+", told.partition("options:")[2]))
    assert commands
    assert len(options) >= 4
    assert set(re.findall(r"--[a-z]+", " ".join(commands))) <= options


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("gpt.py", ["--steps", "0"], "--steps: must be a whole number of at least 1, not '0'"),
        ("gpt.py", ["--steps", "many"], "--steps: must be a whole number of at least 1, not 'many'"),
        ("gpt.py", ["--lr", "nan"], "--lr: must be a number above 0, not 'nan'"),
        ("gpt.py", ["--lr", "fast"], "--lr: must be a number above 0, not 'fast'"),
        ("gpt.py", ["--temperature", "0"], "--temperature: must be a number above 0, not '0'"),
        ("gpt.py", ["--width", "10"], "cannot be shared out evenly among 4 heads; heads may be one of [1, 2, 5, 10]"),
        ("gpt.py", ["--block", "5"], "use --block 12"),
        ("gpt.py", ["--data", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        ("gpt.py", ["--data", "."], "cannot read .: Is a directory"),
        ("gpt.py", ["--loud"], "unrecognized arguments: --loud"),
        ("gpt_tensor.py", ["--block", "5"], "use --block 12"),
        ("gpt_tensor.py", ["--lr", "1e200", "--steps", "4"], "use an --lr smaller than 1e+200"),
        ("digits_tensor.py", ["--passes", "0"], "--passes and --hidden must be at least 1"),
        ("linear_regression.py", ["--points", "1"], "--points must be at least 2, because one point fixes no line"),
        ("linear_regression.py", ["--noise", "-1"], "--noise must be a number from 0 up, not -1"),
        ("linear_regression.py", ["--noise", "inf"], "--noise must be a number from 0 up, not inf"),
        ("linear_regression.py", ["--steps", "0"], "--steps must be at least 1, not 0"),
        ("linear_regression.py", ["--lr", "nan"], "nan"),
        ("makemore.py", ["--batch", "1"], "--batch must be at least 2, not 1"),
        ("makemore.py", ["--names", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        ("moons.py", ["--steps", "0"], "--steps must be at least 1, not 0"),
        ("moons.py", ["--samples", "1"], "lies between 2"),
        ("moons.py", ["--out", "moons.gif"], "saved as .png, .svg or .pdf"),
        ("moons.py", ["--out", "nowhere/moons.png"], "there is no folder 'nowhere'"),
        ("xor.py", ["--steps", "0"], "--steps must be at least 1, not 0"),
        ("xor.py", ["--hidden", "-1"], "--hidden must be 0 (one neuron alone) or more, not -1"),
        ("xor.py", ["--lr", "-1"], "-1"),
    ],
)
def test_bad_options_are_explained(
    script: str, arguments: list[str], message: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as leaving:
        load(script).main(arguments)
    assert leaving.value.code == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_bad_option_ends_the_process_with_2(tmp_path: Path) -> None:
    done = run("gpt.py", "--width", "10", cwd=tmp_path)
    assert done.returncode == 2
    assert "usage: gpt.py" in done.stderr
    assert "Traceback" not in done.stderr


# --- linear regression and XOR -------------------------------------------------------------------------------------


def test_linear_regression_arrives_at_the_least_squares_line(tmp_path: Path) -> None:
    told = succeed("linear_regression.py", cwd=tmp_path)
    rows = {name: [float(x) for x in numbers] for name, *numbers in map(str.split, told.splitlines()[-5:-2])}
    assert rows["descent"] == pytest.approx(rows["formula"], abs=1e-6)
    assert max(rows["difference"]) < 1e-6
    assert rows["descent"] == pytest.approx([3.0, -2.0], abs=0.3)
    assert told.endswith("the two agree\n")


def test_the_formula_is_numpys() -> None:
    import numpy as np

    example = load("linear_regression.py")
    xs, ys = example.make_points(30, 0.5, 7)
    assert example.least_squares((xs, ys)) == pytest.approx(tuple(np.polyfit(xs, ys, 1)), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "ending"),
    [(["--steps", "3"], "not there yet: give it more --steps\n"), (["--lr", "1.2"], "ran away: use a smaller --lr\n")],
)
def test_linear_regression_says_when_it_has_not_arrived(
    arguments: list[str], ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load("linear_regression.py").main(arguments) == 0
    assert capsys.readouterr().out.endswith(ending)


def test_xor_gets_the_truth_table_right(tmp_path: Path) -> None:
    before, after = succeed("xor.py", cwd=tmp_path).split("after")
    assert "WRONG" in before
    rows = re.findall(r"^ +([01]) +([01]) +([01]) +([0-9.]+) -> ([01]) right$", after, flags=re.MULTILINE)
    assert [(int(a), int(b), int(told)) for a, b, _, _, told in rows] == [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    assert all(abs(float(p) - int(wanted)) < 0.1 for _, _, wanted, p, _ in rows)
    assert after.endswith("all four are right\n")
    first, last = map(float, re.findall(r"from ([0-9.]+) to ([0-9.]+)", before)[0])
    assert last < 0.1 < first


def test_one_neuron_cannot_do_xor(capsys: pytest.CaptureFixture[str]) -> None:
    assert load("xor.py").main(["--hidden", "0"]) == 0
    assert re.search(r"only [0-3] of 4 right\n$", capsys.readouterr().out)


# --- moons, as a script and as a notebook --------------------------------------------------------------------------


def test_moons_learns_and_draws(tmp_path: Path) -> None:
    told = succeed("moons.py", "--steps", "30", "--samples", "40", "--out", "border.png", cwd=tmp_path)
    losses = [float(x) for x in re.findall(r"^step +\d+ .*loss ([0-9.]+)", told, flags=re.MULTILINE)]
    accuracies = [float(x) for x in re.findall(r"accuracy ([0-9.]+)%", told)]
    assert len(losses) == len(accuracies) == 30
    assert losses[-1] < 0.5 * losses[0]
    assert accuracies[-1] >= 85.0
    assert "337 parameters, 40 points" in told
    assert (tmp_path / "border.png").read_bytes().startswith(b"\x89PNG")
    assert told.endswith("the picture is in border.png\n")


def test_moons_without_matplotlib_trains_and_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')\n")
    arguments = ("--steps", "1", "--samples", "4")
    told = succeed("moons.py", *arguments, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert told.endswith('no picture: drawing plots needs matplotlib: pip install "gradwalk[plot]"\n')
    # A picture that was asked for and not made is a failure.
    assert run("moons.py", *arguments, "--out", "x.png", cwd=tmp_path, PYTHONPATH=str(tmp_path)).returncode == 1


# --- tensors -------------------------------------------------------------------------------------------------------


def test_the_gpt_in_tensors_has_the_losses_of_the_scalar_one(gpt: Any) -> None:
    in_tensors = load("gpt_tensor.py")
    config = gpt.Config(27)
    names = gpt.read_names(gpt.NAMES)
    documents = gpt.make_documents(names, gpt.Vocabulary.of(names), config, 1)
    parameters = gpt.make_parameters(config, 1)
    weights = in_tensors.in_tensors(parameters)
    found = list(in_tensors.train(weights, documents, 6, 0.01, config.heads))
    assert found == pytest.approx(list(gpt.train(parameters, documents, 6, 0.01)), rel=1e-10)
    for name, matrix in parameters.matrices().items():
        for row, wanted in zip(weights[name].tolist(), matrix, strict=True):
            assert row == pytest.approx([x.data for x in wanted], abs=1e-10), name
    # Before they have learnt much they draw the same names, too.
    mine, theirs = random.Random(3), random.Random(3)
    for _ in range(3):
        assert in_tensors.sample(weights, 26, 0.7, config.heads, mine) == gpt.sample(parameters, 26, 0.7, theirs)


def test_the_gpt_in_tensors_as_a_reader_runs_it(tmp_path: Path) -> None:
    told = succeed("gpt_tensor.py", "--steps", "30", "--samples", "2", cwd=tmp_path)
    assert "4,192 parameters in 9 tensors" in told
    assert len(told.partition("names at")[2].splitlines()) == 3


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_digits_in_tensors(dtype: str, tmp_path: Path) -> None:
    told = succeed("digits_tensor.py", "--passes", "12", "--dtype", dtype, cwd=tmp_path)
    assert "1397 images to learn from, 400 to be tested on; 2,410 parameters" in told
    share = re.search(r"([\d.]+)% of the unseen images are right", told)
    assert share is not None
    assert float(share[1]) > 95.0


# --- the GPT: its numbers ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gpt() -> Any:
    return load("gpt.py")


def torch_loss(weights: dict[str, Any], tokens: list[int], heads: int) -> Any:
    """The same model in tensors: all letters at once behind a causal mask, where ours goes letter by letter."""
    import torch
    from torch.nn import functional

    def normalised(x: Any) -> Any:
        return functional.rms_norm(x, (x.shape[-1],), eps=1e-5)

    places = len(tokens) - 1
    x = normalised(weights["token"][torch.tensor(tokens[:-1])] + weights["position"][:places])
    width = x.shape[-1]

    def split(name: str) -> Any:  # heads × places × size
        return (normalised(x) @ weights[name].T).reshape(places, heads, width // heads).transpose(0, 1)

    heard = functional.scaled_dot_product_attention(split("query"), split("key"), split("value"), is_causal=True)
    x = x + heard.transpose(0, 1).reshape(places, width) @ weights["mix"].T
    x = x + functional.relu(normalised(x) @ weights["widen"].T) @ weights["narrow"].T
    return functional.cross_entropy(normalised(x) @ weights["head"].T, torch.tensor(tokens[1:]))


@pytest.mark.parametrize(("width", "heads"), [(4, 2), (6, 1), (6, 3), (3, 3)])
@pytest.mark.parametrize("spread", [0.08, 1.0])
def test_gpt_loss_and_all_gradients_are_pytorchs(gpt: Any, width: int, heads: int, spread: float) -> None:
    import torch

    tokens = [5, 0, 3, 3, 1, 5]
    parameters = gpt.make_parameters(gpt.Config(6, width, heads, block=5), seed=width, spread=spread)
    weights = {
        name: torch.tensor([[x.data for x in row] for row in matrix], dtype=torch.float64, requires_grad=True)
        for name, matrix in parameters.matrices().items()
    }
    ours, theirs = gpt.loss(parameters, tokens), torch_loss(weights, tokens, heads)
    ours.backward()
    theirs.backward()
    assert ours.data == pytest.approx(theirs.item(), rel=1e-12)
    for name, matrix in parameters.matrices().items():
        found = torch.tensor([[x.grad for x in row] for row in matrix], dtype=torch.float64)
        assert found.abs().max() > 0.0, name
        torch.testing.assert_close(found, weights[name].grad, rtol=1e-10, atol=1e-12, msg=name)


def test_gpt_has_the_size_that_it_says(gpt: Any) -> None:
    assert len(gpt.make_parameters(gpt.Config(27)).flat()) == 4192
    assert [len(m) for m in gpt.make_parameters(gpt.Config(3, 4, 2, 5)).matrices().values()] == [
        3,
        5,
        4,
        4,
        4,
        4,
        16,
        4,
        3,
    ]


def test_gpts_graph_depends_on_the_tokens_alone(gpt: Any) -> None:
    """What a compiler needs: no number decides which operations are made, and a letter only picks from a table."""

    def shape(seed: int, tokens: list[int]) -> list[tuple[str, list[int]]]:
        """Every operation, with the places of its operands in the order; parameters and constants are -1."""
        loss = gpt.loss(gpt.make_parameters(gpt.Config(6, 4, 2, 6), seed, spread=1.0), tokens)
        made = [v for v in walk.topological(loss) if v.operands]
        places = {v: i for i, v in enumerate(made)}
        return [(v._op, [places.get(x, -1) for x in v.operands]) for v in made]

    one = shape(1, [5, 0, 1, 2, 5])
    assert len(one) > 1000
    assert shape(2, [5, 0, 1, 2, 5]) == one
    other = shape(1, [5, 3, 4, 0, 5])
    picked = [(x, y) for x, y in zip(one, other, strict=True) if x != y]
    assert [x[0] for x, _ in picked] == [y[0] for _, y in picked] == ["-"] * 3  # each of three letters is a target once


def test_gpt_samples_with_the_chances_that_it_computes(gpt: Any) -> None:
    parameters = gpt.make_parameters(gpt.Config(3, 4, 2, 4), spread=1.0)
    draw = random.Random(1)
    samples = [gpt.sample(parameters, 2, 1.0, draw) for _ in range(1000)]
    assert all(tokens[0] == 2 and len(tokens) <= 5 and 2 not in tokens[1:-1] for tokens in samples)
    scores = [score.data for score in gpt.forward(parameters, 2, [], [])]
    chances = [math.exp(s) / sum(map(math.exp, scores)) for s in scores]
    for token, chance in enumerate(chances):
        share = sum(tokens[1] == token for tokens in samples) / len(samples)
        assert share == pytest.approx(chance, abs=4.0 * math.sqrt(chance * (1.0 - chance) / len(samples)))


def test_a_low_temperature_takes_the_likeliest_letter(gpt: Any) -> None:
    parameters = gpt.make_parameters(gpt.Config(5, 4, 2, 4), spread=1.0)
    assert len({tuple(gpt.sample(parameters, 4, 1e-6, random.Random(seed))) for seed in range(5)}) == 1


# --- the GPT: data and bad data ------------------------------------------------------------------------------------


def test_names_become_tokens_and_back(gpt: Any) -> None:
    vocabulary = gpt.Vocabulary.of(["anna", "bo"])
    assert vocabulary.characters == ["a", "b", "n", "o"]
    assert (len(vocabulary), vocabulary.boundary) == (5, 4)
    assert vocabulary.encode("nab") == [4, 2, 0, 1, 4]
    assert vocabulary.decode([4, 2, 0, 1, 4]) == "nab"
    with pytest.raises(SettingError, match=r"'zoë' holds \['z', 'ë'\], and the vocabulary is 'abno'"):
        vocabulary.encode("zoë")


def test_the_names_that_come_along(gpt: Any) -> None:
    names = gpt.read_names(gpt.NAMES)
    assert len(names) == len(set(names)) >= 1000
    assert set("".join(names)) == set("abcdefghijklmnopqrstuvwxyz")


def test_other_names_may_have_any_script_and_line_ending(gpt: Any, tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_bytes("\ufeff Zoë\r\n\r\n李雷 \r\nИван".encode())
    assert gpt.read_names(file) == ["Zoë", "李雷", "Иван"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no names: write one a line"),
        (b" \n\n \n", "holds no names: write one a line"),
        (b"anna\n\xff\xfe\n", r"is not UTF-8 text \(byte 5\); save it as UTF-8"),
        (b"anna\nb\x00o\n", r"name 2 in .* holds a character that cannot be printed: 'b\\x00o'"),
    ],
)
def test_files_that_hold_no_names(gpt: Any, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "names.txt"
    file.write_bytes(content)
    with pytest.raises(SettingError, match=message):
        gpt.read_names(file)
    with pytest.raises(SystemExit):
        gpt.main(["--data", str(file)])


@pytest.mark.parametrize("sizes", [{"width": 0}, {"heads": -1}, {"block": 2.5}, {"vocabulary": "many"}])
def test_sizes_that_are_none(gpt: Any, sizes: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=r"must be a whole number of at least 1, not"):
        gpt.Config(**{"vocabulary": 3, **sizes})


@pytest.mark.parametrize("tokens", [[], [2], [2, 0, 0, 0, 2]])
def test_a_name_too_short_or_too_long_for_the_model(gpt: Any, tokens: list[int]) -> None:
    with pytest.raises(SettingError, match=f"^{len(tokens)} tokens give .* the model has 1 to 3"):
        gpt.loss(gpt.make_parameters(gpt.Config(3, 2, 1, 3)), tokens)


def test_a_loss_that_overflows_stops_training(gpt: Any) -> None:
    parameters = gpt.make_parameters(gpt.Config(3, 2, 1, 3))
    parameters.head[0][0].data = math.nan
    with pytest.raises(SettingError, match=r"the loss became nan at step 1: use an --lr smaller than 0.01"):
        list(gpt.train(parameters, [[2, 0, 2]], 5, 0.01))


@pytest.mark.parametrize("arguments", [["--lr", "1e200"], ["--temperature", "1e-320"]])
def test_scores_that_overflow_are_not_drawn_from(
    gpt: Any, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        gpt.main(["--steps", "1", *TINY, *arguments])
    assert "use a smaller --lr or a larger --temperature" in capsys.readouterr().err


# --- the GPT: as a program -----------------------------------------------------------------------------------------

TINY = ("--width", "4", "--heads", "2", "--samples", "3")


def test_gpt_learns_names_and_makes_up_new_ones(tmp_path: Path) -> None:
    told = succeed("gpt.py", "--steps", "60", "--samples", "5", cwd=tmp_path)
    assert "1,046 names from names.txt" in told
    assert "27 tokens in the vocabulary" in told
    assert "4,192 parameters; pure guessing would have a loss of 3.296" in told
    averages = [float(x) for x in re.findall(r"average ([0-9.]+)", told)]
    assert averages[0] == pytest.approx(math.log(27), abs=0.3)
    assert averages[-1] < math.log(27) - 0.3  # the mean of the last 50 steps
    samples = told.partition("in the data):\n")[2].splitlines()
    assert len(samples) == 5
    assert all(re.fullmatch(r"  [a-z]{1,16}( \*)?", line) for line in samples)


def test_gpt_gives_the_same_names_for_the_same_seed(tmp_path: Path) -> None:
    def names(seed: str) -> str:
        return succeed("gpt.py", "--steps", "3", "--seed", seed, *TINY, cwd=tmp_path).partition("names at")[2]

    first = names("1")
    assert names("1") == first
    assert names("2") != first


def test_gpt_learns_any_list(tmp_path: Path, gpt: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "only.txt"
    file.write_text("aha\n")
    assert gpt.main(["--data", str(file), "--steps", "80", "--block", "4", "--lr", "0.05", *TINY]) == 0
    told = capsys.readouterr().out
    assert float(re.findall(r"loss ([0-9.]+)", told)[-1]) < 0.2
    assert told.count("aha *") == 3


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child process")
def test_gpt_still_samples_when_it_is_stopped(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "gpt.py"), "--steps", "1000000", *TINY]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("step"):
                process.send_signal(signal.SIGINT)
                break
        told, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
    assert re.search(r"stopped after \d+ of 1000000 steps", told)
    assert len(told.partition("in the data):\n")[2].splitlines()) == 3


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminal")
def test_gpt_rewrites_its_progress_on_a_terminal(tmp_path: Path) -> None:
    import pty

    reader, writer = pty.openpty()
    command = [sys.executable, str(EXAMPLES / "gpt.py"), "--steps", "30", *TINY]
    with subprocess.Popen(command, cwd=tmp_path, stdout=writer, stderr=writer) as process:
        os.close(writer)
        shown = b""
        while True:
            try:
                part = os.read(reader, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(reader)
    assert process.returncode == 0
    progress = [line for line in shown.decode().split("\r\n") if "steps/s" in line]
    assert len(progress) == 1
    assert progress[0].startswith("\rstep")
    assert "step 30/30" in progress[0].rpartition("\r")[2]
