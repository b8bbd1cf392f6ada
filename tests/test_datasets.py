from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gradwalk import datasets
from gradwalk.datasets import BY_NAME, circles, moons, spiral, xor
from gradwalk.errors import GradwalkError, SettingError

Maker = Callable[..., tuple[list[list[float]], list[int]]]
every_set = pytest.mark.parametrize("make", BY_NAME.values(), ids=BY_NAME)


def test_the_names_are_those_of_the_functions() -> None:
    assert {name: make.__name__ for name, make in BY_NAME.items()} == {name: name for name in BY_NAME}
    assert set(BY_NAME) | {"BY_NAME"} == set(datasets.__all__)


@every_set
@pytest.mark.parametrize("n", [2, 3, 4, 5, 100, 101])
def test_there_are_n_points_in_the_plane_and_half_of_each_label(make: Maker, n: int) -> None:
    X, y = make(n=n)
    assert len(X) == len(y) == n
    assert all(type(point) is list and [type(x) for x in point] == [float, float] for point in X)
    assert all(type(label) is int for label in y)
    assert (y.count(-1), y.count(1)) == (n - n // 2, n // 2)


@every_set
def test_the_seed_decides_everything(make: Maker) -> None:
    random.seed(1)
    first = make(n=30, seed=7)
    random.seed(2)
    state = random.getstate()
    assert make(n=30, seed=7) == first
    assert random.getstate() == state, "the generator of the program is not touched"
    assert make(n=30, seed=8) != first


@every_set
def test_another_process_makes_the_same_points(make: Maker) -> None:
    program = f"from gradwalk.datasets import {make.__name__} as make; print(make(n=12, seed=3))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(make(n=12, seed=3))


@every_set
def test_points_are_shuffled(make: Maker) -> None:
    _, y = make(n=100)
    changes = sum(a != b for a, b in pairwise(y))
    assert changes > 25, "in the order in which they were made there would be one change"


@every_set
def test_noise_is_the_standard_deviation_of_the_jitter(make: Maker) -> None:
    exact, _ = make(n=4000, noise=0.0, seed=5)
    jittered, _ = make(n=4000, noise=0.3, seed=5)  # the same order: the generator is asked as often
    jitter = np.array(jittered) - np.array(exact)
    assert jitter.std(axis=0) == pytest.approx([0.3, 0.3], rel=0.05)
    assert jitter.mean(axis=0) == pytest.approx([0.0, 0.0], abs=0.02)


def test_moons_without_noise_lie_on_two_half_circles() -> None:
    for (x1, x2), label in zip(*moons(n=50, noise=0.0), strict=True):
        if label < 0:
            assert math.hypot(x1, x2) == pytest.approx(1.0)
            assert x2 >= 0.0
        else:
            assert math.hypot(x1 - 1.0, x2 - 0.5) == pytest.approx(1.0)
            assert x2 <= 0.5


def test_circles_without_noise_lie_on_two_circles_and_meet_no_point_twice() -> None:
    X, y = circles(n=50, noise=0.0)
    for point, label in zip(X, y, strict=True):
        assert math.hypot(*point) == pytest.approx(1.0 if label < 0 else 0.4)
    assert len({(round(x1, 9), round(x2, 9)) for x1, x2 in X}) == 50


def test_xor_is_the_product_of_the_signs() -> None:
    X, y = xor(n=40, noise=0.0)
    assert all(label == -x1 * x2 for (x1, x2), label in zip(X, y, strict=True))
    assert {(x1, x2): X.count([x1, x2]) for x1, x2 in X} == {(a, b): 10 for a in (-1.0, 1.0) for b in (-1.0, 1.0)}


def test_the_arms_of_the_spiral_are_opposite_and_keep_apart() -> None:
    X, y = spiral(n=200, noise=0.0)
    arms = {label: np.array([point for point, which in zip(X, y, strict=True) if which == label]) for label in (-1, 1)}
    opposite = {tuple(np.round(-point, 9)) for point in arms[-1]}
    assert opposite == {tuple(np.round(point, 9)) for point in arms[1]}
    gaps = np.linalg.norm(arms[-1][:, None] - arms[1][None], axis=2)
    assert gaps.min() > 0.3


def test_no_straight_line_tells_the_classes_apart() -> None:
    for make in BY_NAME.values():
        X, y = make(n=100)
        A = np.column_stack([np.array(X), np.ones(100)])
        weights, *_ = np.linalg.lstsq(A, np.array(y), rcond=None)
        assert np.mean(np.sign(A @ weights) == y) < 0.95, make.__name__


@every_set
def test_numpy_numbers_are_numbers(make: Maker) -> None:
    assert make(n=np.int64(10), noise=np.float64(0.1), seed=np.int32(3)) == make(n=10, noise=0.1, seed=3)


@every_set
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n": 0}, "n, the number of points, lies between 2 .* not 0$"),
        ({"n": 1}, "not 1$"),
        ({"n": -5}, "not -5$"),
        ({"n": 10**9}, "not 1000000000$"),
        ({"n": 10**400}, "not 1000"),
        ({"n": 10**5000}, "not an int of so many digits"),
        ({"n": 10.0}, "n, the number of points, is a whole number, not float 10.0"),
        ({"n": "10"}, "not str '10'"),
        ({"n": None}, "not NoneType None"),
        ({"n": True}, "not bool True"),
        ({"noise": -0.1}, "noise, the standard deviation of the jitter, is a finite number from 0 up, not -0.1"),
        ({"noise": math.nan}, "not nan"),
        ({"noise": math.inf}, "not inf"),
        ({"noise": "0.1"}, "not '0.1'"),
        ({"noise": None}, "not None"),
        ({"noise": 10**400}, "not 1000"),
        ({"noise": 1 + 2j}, r"not \(1\+2j\)"),
        ({"seed": "one"}, "seed, which fixes the random numbers, is a whole number, not str 'one'"),
        ({"seed": None}, "not NoneType None"),
        ({"seed": 1.5}, "not float 1.5"),
    ],
)
def test_settings_that_make_no_sense_are_named(make: Maker, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words) as caught:
        make(**settings)
    assert isinstance(caught.value, GradwalkError)
    assert isinstance(caught.value, ValueError)
