"""The examples at native speed, run as a reader would run them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_examples import succeed

pytestmark = pytest.mark.native


def test_digits_are_read_in_seconds(tmp_path: Path) -> None:
    told = succeed("digits.py", "--passes", "12", cwd=tmp_path)
    assert "1397 images to learn from, 400 to be tested on" in told
    share = re.search(r"([\d.]+)% of the unseen images are right", told)
    assert share is not None
    assert float(share[1]) > 95.0
    assert "times as long" in told


def test_digits_in_float32_with_two_threads(tmp_path: Path) -> None:
    told = succeed("digits.py", "--passes", "2", "--hidden", "8", "--dtype", "float32", "--threads", "2", cwd=tmp_path)
    assert "pass 2/2" in told


@pytest.mark.parametrize(("example", "words"), [("moons.py", "times quicker"), ("gpt.py", "times quicker")])
def test_moons_and_gpt_print_the_speed_up_they_measured(example: str, words: str, tmp_path: Path) -> None:
    told = succeed(example, "--compiled", "--steps", "12", cwd=tmp_path)
    assert words in told
    assert re.search(r"([\d,]+) times quicker", told)


def test_compiled_and_eager_print_the_same_losses(tmp_path: Path) -> None:
    steps = [
        [line for line in succeed("moons.py", "--steps", "4", "--samples", "20", *flag, cwd=tmp_path).splitlines()
         if line.startswith("step")]
        for flag in ((), ("--compiled",))
    ]  # fmt: skip
    assert len(steps[0]) == 4
    assert steps[0] == steps[1]
