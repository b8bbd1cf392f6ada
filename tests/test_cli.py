from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from terminals import run_on_a_terminal

import gradwalk
from gradwalk import datasets, nn, optim
from gradwalk.cli import COMMANDS, info, main, options, screen, train, training_run
from gradwalk.cli.train_settings import LEARNING_RATES, PRESETS, Settings, command
from gradwalk.collecting import collector_off

pytestmark = pytest.mark.slow

ENDLESS = ("train", "moons", "--steps", "1000000", "--lr", "1e-9", "--samples", "20", "--hidden", "4")
QUICK = ("train", "moons", "--steps", "3", "--samples", "10", "--hidden", "4")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m|\x1b\[[0-9;]*[39][0-8][0-9;]*m")


def environment(**more: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONIOENCODING")}
    return {**clean, "TERM": "xterm-256color", **more}


def gradwalk_command(*arguments: Any, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gradwalk", *map(str, arguments)],
        capture_output=True, text=True, encoding="utf-8", env=environment(**more), timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- the command line as a whole -------------------------------------------------------------------------------------


def test_alone_it_gives_an_overview_of_every_command() -> None:
    ran = gradwalk_command()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert gradwalk.__version__ in ran.stdout
    for name in COMMANDS:
        assert f"gradwalk {name}" in ran.stdout
        assert importlib.import_module(f"gradwalk.cli.{name}").SUMMARY in ran.stdout
    assert "gradwalk train --help" in ran.stdout


def test_every_module_of_a_command_is_listed() -> None:
    folder = Path(training_run.__file__).parent
    found = {path.stem for path in folder.glob("*.py") if "\ndef add_arguments(" in path.read_text(encoding="utf-8")}
    assert found == set(COMMANDS)


def test_help_tells_every_command_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert re.findall(r"^ +(?:gradwalk )?(\w+)  +\w", printed.out, re.MULTILINE) == [*COMMANDS]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_explains_each_option_and_gives_an_example(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([name, "--help"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert max(map(len, printed.out.splitlines())) <= 80
    assert f"examples:\n  gradwalk {name}" in printed.out
    parser = argparse.ArgumentParser()
    importlib.import_module(f"gradwalk.cli.{name}").add_arguments(parser)
    for action in parser._actions:
        assert action.help, action
        assert (action.option_strings[-1] if action.option_strings else str(action.metavar)) in printed.out
    readable = " ".join(printed.out.split())
    for action in parser._actions:
        if action.option_strings and action.nargs != 0 and action.dest not in ("save", "plot", "export", "html"):
            assert re.search(rf"{action.option_strings[0]} \S+ [^-]*?(?:-[^-]|[^-])*?\(default: ", readable), (
                action.dest
            )


def test_the_examples_in_the_help_are_right() -> None:
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    lines = [line.split()[2:] for line in train.EXAMPLES.splitlines() if line.startswith("  gradwalk train")]
    assert len(lines) >= 2
    for line in lines:
        parser.parse_args(line)


def test_the_version() -> None:
    ran = gradwalk_command("--version")
    assert (ran.returncode, ran.stdout) == (0, f"gradwalk {gradwalk.__version__}\n")


def test_the_installed_script_is_the_same_command_line() -> None:
    script = Path(sys.executable).with_name("gradwalk")
    if not script.exists():
        entry = {point.name: point.value for point in metadata.entry_points(group="console_scripts")}
        assert entry["gradwalk"] == "gradwalk.cli:main"
        return
    ran = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"gradwalk {gradwalk.__version__}\n")


@pytest.mark.parametrize(
    "arguments", [["trian"], ["train"], ["info", "--jsn"], ["train", "moons", "--step", "3"], ["--x"]]
)
def test_a_wrong_command_line_ends_with_2_and_points_to_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.match(r"gradwalk( \w+)?: .+\ngradwalk( \w+)? --help shows what there is\n$", printed.err)


def test_a_reader_that_goes_away_is_no_crash(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    running = subprocess.Popen(
        [sys.executable, "-m", "gradwalk", *QUICK, "--steps", "30", "--save", str(model)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.close()
    stderr = running.stderr.read().decode()
    assert running.wait(timeout=60) == 1
    running.stderr.close()
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr


def test_letters_that_the_output_cannot_hold_are_no_crash() -> None:
    ran = gradwalk_command("info", PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "gradwalk" in ran.stdout


@pytest.mark.parametrize(
    ("encoding", "line"), [("ascii", "2 x -3 = -6"), ("cp1252", "2 × -3 = -6"), ("utf-8", "2 × −3 = −6")]
)
def test_a_number_keeps_its_minus_whatever_the_output_can_hold(encoding: str, line: str) -> None:
    words = [sys.executable, "-m", "gradwalk", "step", "neuron"]
    ran = subprocess.run(words, capture_output=True, env=environment(PYTHONIOENCODING=encoding), timeout=60, check=True)
    assert f"x1w1.data = {line}" in ran.stdout.decode(encoding)


# --- gradwalk info ---------------------------------------------------------------------------------------------------


def test_info_tells_versions_and_extras() -> None:
    ran = gradwalk_command("info", COLUMNS="80")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not CONTROL.search(ran.stdout)
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert re.search(rf"gradwalk +{re.escape(gradwalk.__version__)}", ran.stdout)
    assert sys.version.split()[0] in ran.stdout
    assert re.search(r"^plot +✓ there +loss curves and decision boundaries$", ran.stdout, re.MULTILINE)


def test_info_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {"gradwalk", "python", "platform", "extras"}
    plot = facts["extras"]["plot"]
    assert plot["install"] == 'pip install "gradwalk[plot]"'
    assert plot["there"] is True
    assert plot["packages"] == {"matplotlib": metadata.version("matplotlib")}


def test_info_knows_what_each_extra_is_for() -> None:
    declared = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))
    assert set(info.PURPOSES) == set(declared["project"]["optional-dependencies"])


def test_an_extra_brings_what_it_builds_on() -> None:
    extras = info._extras()
    assert "matplotlib" in extras["test"]
    assert "torch" in extras["mutants"], "mutants builds on test"
    assert not any(package.startswith(("gradwalk", "[")) for packages in extras.values() for package in packages)


def test_info_says_how_to_get_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(info, "_version", lambda package: None if package == "matplotlib" else "1.0")
    assert main(["info"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r'^plot +– missing +loss curves .*\n +pip install "gradwalk\[plot\]"$', printed, re.MULTILINE)
    assert "bench" in printed
    assert "numpy" not in printed


def test_info_in_a_folder_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    assert main(["info"]) == 0
    assert "not installed as a package here, so its extras are not known" in capsys.readouterr().out


# --- gradwalk train: what it does ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", datasets.BY_NAME)
def test_every_data_set_is_learnt_with_its_defaults(name: str) -> None:
    settings = PRESETS[name]
    training = train.training_for(name, settings)
    with collector_off():  # as the command does
        for _ in training.run(settings.steps):
            # A point on the wrong side costs at least 1, so with a mean of 0.03 at least 97% are right; and the best
            # model only gets a lower loss from here.
            if training.best is not None and training.best.loss <= 0.03:
                break
    assert training.best is not None
    assert training.best.loss <= 0.03
    assert training.best.accuracy >= 0.97


def test_a_run_in_a_pipe_prints_plain_lines() -> None:
    ran = gradwalk_command("train", "moons", "--steps", "25", "--samples", "10", "--hidden", "4,4", "--lr", "1e-3")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not CONTROL.search(ran.stdout)
    steps = re.findall(r"^step +(\d+)/25   loss \d\.\d{4}   accuracy [ \d.]+%$", ran.stdout, re.MULTILINE)
    assert 10 <= len(steps) <= 15
    assert (steps[0], steps[-1]) == ("1", "25")
    assert "MLP(2, [4, 4, 1]), relu, 37 parameters" in ran.stdout
    assert re.search(r"^last   loss \d", ran.stdout, re.MULTILINE)
    assert re.search(r"^best   loss \d.* steps?$", ran.stdout, re.MULTILINE)  # ": kept" only where it is
    assert re.search(r"^time   \d+\.\d s, \d+ steps a second$", ran.stdout, re.MULTILINE)
    assert "gradwalk train moons" in ran.stdout.split("next")[1]


def test_colour_can_be_forced_into_a_pipe_but_no_moving_bar() -> None:
    ran = gradwalk_command(*QUICK, FORCE_COLOR="1")
    assert COLOUR.search(ran.stdout)
    assert "\x1b[2K" not in ran.stdout
    assert "\r" not in ran.stdout


def test_the_same_seed_gives_the_same_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = []
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        arguments = [*QUICK, "--batch", 4, "--seed", seed, "--save", tmp_path / name]
        if name == "b":  # in another process too
            assert gradwalk_command(*arguments).returncode == 0
        else:
            assert main(list(map(str, arguments))) == 0
        models.append((tmp_path / name).read_bytes())
    assert models[0] == models[1] != models[2]


@pytest.mark.parametrize("optimizer", LEARNING_RATES)
def test_each_optimizer_learns(optimizer: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "train",
        "xor",
        "--steps",
        "25",
        "--samples",
        "40",
        "--hidden",
        "8",
        "--optimizer",
        optimizer,
        "--json",
    ]
    assert main(arguments) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["settings"]["lr"] == LEARNING_RATES[optimizer]
    assert facts["best"]["accuracy"] >= 0.95


def test_names_choose_the_optimizer_and_the_rate_falls_to_a_tenth() -> None:
    def optimizer(name: str) -> Any:
        return train.training_for("moons", Settings(optimizer=name, steps=10, samples=4, hidden=(2,))).optimizer

    assert [type(optimizer(name)) for name in LEARNING_RATES] == [optim.SGD, optim.SGD, optim.Adam, optim.AdamW]
    training = train.training_for("moons", Settings(optimizer="sgd", lr=0.5, steps=4, samples=4, hidden=(2,)))
    rates = [training.optimizer.lr for _ in training.run(4)]
    assert rates[-1] == pytest.approx(0.05)


@pytest.mark.parametrize("activation", nn.ACTIVATIONS)
def test_each_activation_works(activation: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--activation", activation]) == 0
    assert f"MLP(2, [4, 1]), {activation}" in capsys.readouterr().out


def test_the_saved_model_is_the_best_one_and_loads_as_the_report_says(in_folder: Path) -> None:
    ran = gradwalk_command(*QUICK, "--steps", 40, "--lr", 0.5, "--activation", "tanh", "--save", "it's.json")
    assert ran.returncode == 0
    assert re.search(r"^saved  it's\.json$", ran.stdout, re.MULTILINE)
    (line,) = [line for line in ran.stdout.splitlines() if "model.load" in line]
    names: dict[str, Any] = {"nn": nn}
    exec(line.strip(), names)
    X, y = datasets.moons(n=10, seed=1337)
    loss = nn.hinge([names["model"](x) for x in X], y).data
    told = re.search(r"^best   loss (\d\.\d{4})", ran.stdout, re.MULTILINE)
    assert told is not None
    assert f"{loss:.4f}" == told[1]


def test_plots_are_drawn_and_named(in_folder: Path) -> None:
    ran = gradwalk_command(*QUICK, "--plot", "out.svg")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.findall(r"^drawn  (.+)$", ran.stdout, re.MULTILINE) == ["out.svg", "out-loss.svg"]
    assert all(
        (in_folder / name).read_text(encoding="utf-8").startswith("<?xml") for name in ("out.svg", "out-loss.svg")
    )


def test_the_summary_for_machines(in_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--batch", "5", "--save", "m.json", "--plot", "m.png", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["dataset"] == "moons"
    assert facts["settings"] == {
        "hidden": [4], "activation": "relu", "steps": 3, "optimizer": "adam", "lr": 0.05, "batch": 5, "samples": 10,
        "noise": 0.1, "seed": 1337,
    }  # fmt: skip
    assert (facts["steps"], facts["stopped"], facts["saved"]) == (3, False, "m.json")
    assert facts["plots"] == ["m.png", "m-loss.png"]
    assert facts["best"]["loss"] <= facts["last"]["loss"]
    assert facts["steps_per_second"] == pytest.approx(3 / facts["seconds"])


def test_a_loss_of_zero_ends_the_run_and_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "xor", "--samples", "12", "--noise", "0", "--steps", "500", "--hidden", "8"]) == 0
    printed = capsys.readouterr().out
    told = re.search(r"Done after (\d+) steps: the loss is 0, and there is nothing left to learn\.", printed)
    assert told is not None
    assert int(told[1]) < 500
    assert f"step {told[1]:>3}/500   loss 0.0000" in printed, "the last step is shown"


def test_the_report_says_what_to_try_when_it_has_not_learnt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "spiral", "--steps", "7", "--samples", "20", "--batch", "10", "--hidden", "2"]) == 0
    again = "gradwalk train spiral --hidden 2 --steps 14 --batch 10 --samples 20"
    assert f"\n         {again}\n" in capsys.readouterr().out


# --- gradwalk train: what is wrong is said before it begins ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["moon"], "DATASET: no data set is called 'moon'; there are moons, circles, xor, spiral; did you mean moons?"),
        (["3"], "no data set is called '3'; there are"),
        (["moons", "--hidden", "16,,x"], "--hidden: '' in '16,,x' is not a layer width"),
        (["moons", "--hidden", "x"], "--hidden: 'x' is not a layer width: write whole numbers"),
        (["moons", "--hidden", "0"], "--hidden: '0' is not a layer width"),
        (["moons", "--hidden", "-3"], "--hidden"),
        (["moons", "--hidden", "16,99999"], "--hidden: '99999' in '16,99999' is not a layer width"),
        (["moons", "--hidden", "4096,4096"], "--hidden 4096,4096 makes 16797697 parameters, too many"),
        (["moons", "--steps", "0"], "--steps: '0' is too small: it is a whole number from 1 up"),
        (["moons", "--steps", "-4"], "--steps"),
        (["moons", "--steps", "1.5"], "--steps: '1.5' is not a whole number from 1 up"),
        (["moons", "--lr", "nan"], "--lr: 'nan' is not finite"),
        (["moons", "--lr", "inf"], "--lr: 'inf' is not finite"),
        (["moons", "--lr", "0"], "--lr: '0' is not above 0"),
        (["moons", "--lr", "fast"], "--lr: 'fast' is not a number"),
        (["moons", "--samples", "-5"], "--samples"),
        (["moons", "--samples=-5"], "--samples: '-5' is too small: it is a whole number from 2 to 1000000"),
        (["moons", "--samples", "99999999"], "--samples: '99999999' is too large"),
        (["moons", "--noise=-1"], "--noise: '-1' is negative: it is a number from 0 up"),
        (["moons", "--noise", "x"], "--noise: 'x' is not a number"),
        (["moons", "--batch", "0"], "--batch: '0' is too small"),
        (["moons", "--batch", "101"], "--batch 101 is more than there are points (--samples 100)"),
        (["moons", "--seed", "pi"], "--seed: 'pi' is not a whole number"),
        (["moons", "--optimizer", "adm"], "--optimizer: invalid choice: 'adm'"),
        (["moons", "--activation", "rel"], "--activation: invalid choice: 'rel'"),
        (
            ["moons", "--plot", "x.xyz"],
            "--plot: a plot is saved as .png, .svg or .pdf, by its ending, and 'x.xyz' ends",
        ),
        (["moons", "--plot", "no/where/x.png"], "--plot: cannot write no/where/x.png: there is no folder no/where"),
        (["moons", "--save", "no/where/m.json"], "--save: cannot write no/where/m.json: there is no folder no/where"),
        (["moons", "--save", "."], "--save: cannot write .: it is a folder"),
        (["moons", "--save", "/dev/null"], "--save: cannot write /dev/null: it is not an ordinary file"),
        (["moons", "--save", "a-file/m.json"], "--save: cannot write a-file/m.json: a-file is not a folder"),
        (["moons", "--save", "/proc/m.json"], "--save: cannot write /proc/m.json: "),
        (["moons", "--save", "x.png", "--plot", "x.png"], "--save and --plot both name x.png"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_what_is_wrong_is_said_before_the_first_step(
    arguments: list[str], words: str, in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_folder / "a-file").write_text("")
    if "/proc/m.json" in arguments and not Path("/proc/self").exists():
        pytest.skip("there is no /proc here")
    assert main(["train", *arguments]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.startswith("gradwalk train: ")
    assert printed.out == ""
    assert [path.name for path in in_folder.iterdir()] == ["a-file"], "looking leaves nothing behind"


def test_it_is_so_in_a_real_process_too(in_folder: Path) -> None:
    ran = gradwalk_command("train", "spiral", "--save", "no/m.json")
    assert ran.returncode == 2
    assert ran.stderr == "gradwalk train: --save: cannot write no/m.json: there is no folder no\n"
    assert ran.stdout == ""


def test_a_write_protected_file_is_found_before_the_first_step(
    in_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (in_folder / "m.json").write_text("precious")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anything, and tests may be run by root
    assert main([*QUICK, "--save", "m.json"]) == 2
    assert "m.json: it is there and write-protected" in capsys.readouterr().err
    assert (in_folder / "m.json").read_text() == "precious"


def test_plotting_without_matplotlib_says_so_before_the_first_step(in_folder: Path) -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = None; from gradwalk.cli import main; "
        f"sys.exit(main({[*QUICK]!r} + %r))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program % ["--plot", "x.png"]], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr == 'gradwalk train: --plot: drawing plots needs matplotlib: pip install "gradwalk[plot]"\n'
    assert ran.stdout == ""
    without_plot = subprocess.run([sys.executable, "-c", program % []], capture_output=True, text=True, check=False)
    assert without_plot.returncode == 0, "nothing else needs it"


# --- gradwalk train: however it ends, the best model is kept ---------------------------------------------------------


@contextlib.contextmanager
def started(*arguments: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "gradwalk", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", env=environment(),
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until_the_first_step(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("step"):
            return
    raise AssertionError("it ended without a step")


def is_a_model(path: Path) -> bool:
    nn.MLP(2, [4, 1]).load(path)
    return True


def test_an_interrupt_keeps_the_best_model(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with started(*ENDLESS, "--save", path, "--plot", tmp_path / "out.png") as process:
        until_the_first_step(process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == ""
    assert re.search(r"^Stopped after \d+ steps of 1000000\.$", out, re.MULTILINE)
    assert f"saved  {path}" in out
    assert is_a_model(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["model.json", "out-loss.png", "out.png"]


def test_an_interrupt_without_save_says_how_to_keep_it() -> None:
    with started(*ENDLESS) as process:
        until_the_first_step(process)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.search(r"^ +gradwalk train moons --hidden 4 .* --save moons.json$", out, re.MULTILINE)


@contextlib.contextmanager
def after_a_checkpoint(path: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A run that has written its model, and goes on."""
    given = [*ENDLESS, "--save", str(path), *arguments]
    imports = "import sys; from gradwalk.cli import training_run, main"
    program = f"{imports}; training_run.CHECKPOINT_EVERY = 0.05; sys.exit(main({given!r}))"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_an_interrupted_run_is_told_to_machines(tmp_path: Path) -> None:
    with after_a_checkpoint(tmp_path / "model.json", "--json") as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    facts = json.loads(out)
    assert facts["stopped"] is True
    assert facts["last"] is None, "a step that was broken off leaves half-changed weights"


def test_even_a_killed_run_leaves_its_last_checkpoint(tmp_path: Path) -> None:
    with after_a_checkpoint(tmp_path / "model.json") as process:
        process.kill()
    assert is_a_model(tmp_path / "model.json")


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, SystemExit])
def test_an_error_on_the_way_keeps_the_best_model(
    error: type[BaseException], in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def failing(self: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise error("out of luck")

    monkeypatch.setattr(optim.Adam, "step", failing)
    if error is SystemExit:
        assert main([*QUICK, "--save", "m.json"]) == 1
    else:
        with pytest.raises(error, match="out of luck"):
            main([*QUICK, "--save", "m.json"])
    assert is_a_model(in_folder / "m.json")


def test_the_collector_is_as_it_was_before(capsys: pytest.CaptureFixture[str]) -> None:
    for before in (True, False):
        gc.enable() if before else gc.disable()
        try:
            assert main([*QUICK]) == 0
            assert gc.isenabled() is before
        finally:
            gc.enable()


def test_a_diverging_run_ends_with_1_and_keeps_the_best_model(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*QUICK, "--optimizer", "sgd", "--lr", "1e200", "--steps", "20", "--save", "m.json"]
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert re.search(r"gradwalk train: the loss turned (nan|inf) at step \d+, with a learning rate of", printed.err)
    assert "saved  m.json" in printed.out
    assert is_a_model(in_folder / "m.json")


def test_an_interrupt_before_the_first_step_keeps_nothing(
    in_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Any, x: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(nn.MLP, "__call__", interrupted)
    assert main([*QUICK, "--save", "m.json"]) == 130
    assert "stopped before the first step was done: there is nothing to keep" in capsys.readouterr().err
    assert list(in_folder.iterdir()) == []


def test_a_disk_that_fills_up_is_told_once_and_the_exit_code_says_so(
    in_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(training_run, "CHECKPOINT_EVERY", 0.0)
    assert main([*QUICK, "--save", "m.json"]) == 1
    printed = capsys.readouterr()
    assert printed.err.count("No space left on device") == 1
    assert "saved" not in printed.out
    assert list(in_folder.iterdir()) == []


def test_a_plot_that_cannot_be_drawn_is_told_and_the_model_is_safe(
    in_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "can_write", lambda path: None)
    shutil.rmtree(in_folder / "gone", ignore_errors=True)
    assert main([*QUICK, "--save", "m.json", "--plot", "gone/x.png"]) == 1
    printed = capsys.readouterr()
    assert "--plot: cannot write 'gone/x.png'" in printed.err
    assert "saved  m.json" in printed.out


# --- on a terminal ---------------------------------------------------------------------------------------------------

ON_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # the keyboard of this terminal reaches us: Ctrl-C too
os.execv(sys.executable, [sys.executable, "-m", "gradwalk", *sys.argv[1:]])
"""


def on_a_terminal(*arguments: Any, keys: bytes = b"", keys_after: str = "step", **more: str) -> tuple[int, str]:
    command = [sys.executable, "-c", ON_A_TERMINAL, *map(str, arguments)]
    return run_on_a_terminal(command, environment(**more), rows=40, keys=keys, keys_after=keys_after)


def test_a_terminal_shows_a_moving_bar_in_colour() -> None:
    code, written = on_a_terminal(*QUICK, "--steps", 30, "--lr", "1e-4")
    assert code == 0
    assert "\x1b[2K" in written, "the bar is redrawn in place"
    assert COLOUR.search(written)
    assert "━" in written
    last = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written).replace("\r", "\n")
    assert re.search(r"━+ +step 30/30 +loss \d\.\d{4} +accuracy [ \d.]+%", last)
    assert max(len(line) for line in last.splitlines()) <= 80


def test_no_color_is_respected() -> None:
    code, written = on_a_terminal(*QUICK, NO_COLOR="1")
    assert code == 0
    assert not COLOUR.search(written)


def test_a_dumb_terminal_gets_plain_lines() -> None:
    code, written = on_a_terminal(*QUICK, TERM="dumb")
    assert code == 0
    assert not CONTROL.search(written.replace("\r\n", "\n"))
    assert "step 3/3   loss" in written


def test_ctrl_c_at_the_keyboard_stops_cleanly(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    code, written = on_a_terminal(*ENDLESS, "--save", path, keys=b"\x03", keys_after=r"step +\d\d+/")
    assert code == 130
    assert "Traceback" not in written
    assert "Stopped" in written
    assert written.rstrip().endswith("moons.png"), "it ends with what to try next"
    assert written.count("\x1b[?25h") >= written.count("\x1b[?25l"), "the cursor is back"
    assert is_a_model(path)


# --- parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "text"), [(0.0, " 0.0%"), (0.5, "50.0%"), (0.9999, "99.9%"), (1.0, " 100%")])
def test_only_all_right_is_100_percent(share: float, text: str) -> None:
    assert screen.percent(share) == text


def test_settings_are_those_of_the_data_set_unless_given() -> None:
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    assert train._settings(parser.parse_args(["spiral"])).steps == PRESETS["spiral"].steps
    given = train._settings(parser.parse_args(["spiral", "--steps", "7", "--noise", "0", "--seed", "0"]))
    assert (given.steps, given.noise, given.seed) == (7, 0.0, 0)


@pytest.mark.parametrize("name", datasets.BY_NAME)
def test_a_run_can_be_told_as_the_command_that_does_it(name: str) -> None:
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    for more in ([], ["--hidden", "3,2", "--optimizer", "sgd"], ["--lr", "0.001", "--noise", "0.0", "--batch", "7"]):
        settings = train._settings(parser.parse_args([name, *more]))
        told = command(name, settings)
        assert sorted(told.split()) == sorted(["gradwalk", "train", name, *more])
        assert train._settings(parser.parse_args(told.split()[2:])) == settings


def test_importing_gradwalk_imports_nothing_heavy() -> None:
    program = (
        "import sys; import gradwalk, gradwalk.datasets, gradwalk.plot, gradwalk.train; "
        "print(sorted({'rich', 'matplotlib', 'numpy', 'torch', 'argparse'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("words", [["info"], ["step", "diamond"]])
def test_a_disk_that_is_full_is_said_in_a_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "gradwalk", *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert (run.returncode, run.stderr) == (1, f"gradwalk {words[0]}: cannot write: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="a shell that closes a stream")
@pytest.mark.parametrize("words", ["info", "step diamond", "train moons --steps 1 --samples 4 --hidden 2"])
def test_a_command_runs_where_its_output_was_closed(words: str) -> None:
    command = f"{sys.executable} -m gradwalk {words} >&-"
    run = subprocess.run(["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")


def test_an_option_that_a_command_does_not_have_points_to_the_help_of_that_command() -> None:
    ran = gradwalk_command("train", "moons", "--st", "4")
    assert ran.stderr == "gradwalk train: unrecognized arguments: --st\ngradwalk train --help shows what there is\n"
