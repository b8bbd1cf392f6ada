"""Every number of every lesson, run by the engine; and no number that is not.

A lesson writes `{{ expression -> shown }}`. The reader sees what is after the arrow; the expression is run here. It may
use

- every preset by its name, hyphens as underscores, after its walk: `diamond.a.grad`, `neuron.o.data`;
- the functions at the end of `lesson_numbers.py`: `gradient("y = x*x", "x", x=3)`, `visited(diamond, "c d b a").a`, …;
- what the lesson's own Python blocks have defined up to there (they are run, and must print what their `output` says);
- `given`, for a premise or a wrong answer that is just a number: it claims nothing.

What is shown must be the value: exactly where it is a whole number or a fraction, else to the last decimal shown. A
formula with figures in it is listed in FORMULAS below, with what must hold for it to be true.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from learn.lesson_numbers import CHECKED, FIGURE, NAMES, agrees, blocks, checked, run_lesson, texts

FOLDER = Path(__file__).parents[2] / "web" / "lessons"
LESSONS = sorted((FOLDER / "en").glob("*.md"))
IN_ALL_LANGUAGES = [*LESSONS, *sorted(path for path in FOLDER.glob("*/*.md") if path not in LESSONS)]
each_lesson = pytest.mark.parametrize("path", IN_ALL_LANGUAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")


@cache
def numbers_of(path: Path) -> list[tuple[int, str, str, Any]]:
    """Every checked number of a lesson, and what the engine gives for it; two tests look at it."""
    return list(run_lesson(path))


def everywhere(claim: str) -> str:
    """That a claim holds at all the points where it is tried."""
    return f"all({claim} for x in POINTS)"


_TANH = everywhere("near(gradient('y = tanh(x)', 'x', x=x), 1 - math.tanh(x)**2)")
_SIGMOID = everywhere("near(gradient('y = sigmoid(x)', 'x', x=x), sigma(x) * (1 - sigma(x)))")
_LOG = everywhere("near(gradient('y = log(x)', 'x', x=abs(x)), 1 / abs(x)) and gradwalk.relu(x) == max(0, x)")

#: Formulas with figures in them, and for each what must hold for it to be true.
FORMULAS = {
    "f(x) = 3x^2 - 4x + 5": everywhere("gradwalk_value(parabola, x) == 3*x**2 - 4*x + 5"),
    "6x - 4": everywhere("near(slope_at(parabola, x), 6*x - 4)"),
    "h = 10^{-15}": "True",  # the size of a nudge; what comes of it is checked beside it
    "h = 10^{-16}": "True",
    "1 - o^2": _TANH,
    "1 - o": "True",  # a slip that is named
    r"1 - \text{out}^2": _TANH,
    "1 - x^2": "True",  # a slip that is named
    r"o = \tanh(x_1 w_1 + x_2 w_2 + b)": "near(math.tanh(2*-3 + 0*1 + neuron.b.data), neuron.o.data)",
    r"\tanh(n) = \frac{e^{2n} - 1}{e^{2n} + 1}": everywhere(
        "near(math.tanh(x), (math.exp(2*x) - 1) / (math.exp(2*x) + 1))"
    ),
    "e^{2n}": "True",
    "2a": everywhere("near(gradient('y = a*a', 'a', a=x), 2*x)"),
    "b = 2a": "two_uses.preset.text.startswith('b = a*2;')",
    r"n\,x^{n-1}": "all(near(gradient(f'y = x**{n}', 'x', x=2), n * 2**(n - 1)) for n in (2, 3, -1, 0.5))",
    r"-v = v \cdot (-1) \qquad u - v = u + (-v) \qquad \frac{u}{v} = u \cdot v^{-1}": everywhere(
        "-x == x * -1 and near(3 / x, 3 * x**-1)"
    ),
    r"u + v \cdot (-1)": "True",
    "v^{-1}": "True",
    "-v^{-2}": everywhere("near(gradient('y = v**-1', 'v', v=x), -x**-2)"),
    "-v^{-1}": "True",  # a slip that is named
    r"\text{relu}(x) = \max(0, x) \qquad \log'(x) = \frac{1}{x} \qquad "
    r"\sigma(x) = \frac{1}{1 + e^{-x}},\quad \sigma' = \sigma\,(1 - \sigma)": f"{_LOG} and {_SIGMOID}",
    r"\sigma(1-\sigma)": _SIGMOID,
    r"\text{loss} = \sum_i \left(\text{output}_i - \text{target}_i\right)^2": "True",  # a definition
}

#: Code in a line that holds figures and claims nothing about a result.
CODE = {
    "2.0 * -3.0",
    "1e-6",
    "y = y * 0.5 + y * 0.5",
    "a = Value(3.0)",
    "v * 2",
    "v.__mul__(2)",
    "2 * v",
    "(2).__mul__(v)",
    "v.__rmul__(2)",
    "8 - v",
    "4 - v",
    "y = (x * 3).relu()",
    "0.0",
    "W[0, 0]",
    "b[0]",
    "X.sum(dim=0)",
    "X.sum(dim=1)",
    "(4, 3)",
    "(3,)",
    "(4,)",
    "(4, 1)",
    "(5, 1)",
    "(5,)",
    "a.sum(dim=0)",
    "a.sum(dim=0, keepdim=True)",
    "a.max(dim=0)",
    "a.unsqueeze(0)",
    "a.reshape(2, 3)",
}


def bare_figures(text: str) -> list[str]:
    """Figures that nothing checks: what is left of a line without checked numbers, known formulas and known code."""
    left = CHECKED.sub("", text)
    left = re.sub(
        r"\$\$?(.+?)\$\$?",
        lambda match: "" if match[1].strip() in FORMULAS or not FIGURE.search(match[1]) else match[0],
        left,
    )
    left = re.sub(r"`([^`]+)`", lambda match: "" if match[1] in CODE or not FIGURE.search(match[1]) else match[0], left)
    return FIGURE.findall(left)


@pytest.mark.slow
@each_lesson
def test_every_number_is_what_the_engine_gives(path: Path) -> None:
    wrong = [
        f"{path.name}:{line}: {expression} is {value!r}, and the lesson shows {shown}"
        for line, expression, shown, value in numbers_of(path)
        if not agrees(value, shown)
    ]
    assert not wrong, "\n".join(wrong)


@each_lesson
def test_no_number_stands_unchecked(path: Path) -> None:
    bare = [
        f"{path.name}:{line}: {', '.join(figures)} in: {text}"
        for block in blocks(path)
        for line, _, text in texts(block)
        if (figures := bare_figures(text))
    ]
    assert not bare, "\n".join(bare)


@each_lesson
def test_no_number_is_checked_against_itself(path: Path) -> None:
    found = [
        f"{path.name}:{line}: {expression}"
        for block in blocks(path)
        for line, _, text in texts(block)
        for expression, _ in checked(text)
        if re.fullmatch(r"[-+]?[\d.]+", expression)
    ]
    assert not found, "write given for a premise: " + ", ".join(found)


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_hold(formula: str) -> None:
    import math

    import gradwalk

    def value(walked: object, x: float) -> float:
        preset = walked.preset  # type: ignore[attr-defined]
        found: float = gradwalk.program(preset.text, x=x).root.data
        return found

    helpers = {
        "POINTS": (0.25, -1.5, 2.0, 0.7),
        "near": lambda a, b: math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9),
        "sigma": lambda x: 1 / (1 + math.exp(-x)),
        "gradwalk": gradwalk,
        "gradwalk_value": value,
    }
    assert eval(FORMULAS[formula], {**NAMES, **helpers}) is True


def test_formulas_and_code_are_still_in_use() -> None:
    everything = "\n".join(CHECKED.sub(lambda match: match[2], path.read_text(encoding="utf-8")) for path in LESSONS)
    assert [formula for formula in FORMULAS if f"${formula}$" not in everything] == []
    assert [code for code in CODE if f"`{code}`" not in everything] == []


@each_lesson
def test_each_lesson_asks_and_shows(path: Path) -> None:
    widgets = [block.name for block in blocks(path) if block.kind == "widget"]
    assert widgets.count("quiz") >= 3
    assert set(widgets) - {"quiz", "progress"}, "a lesson has something to try besides its questions"


def test_there_are_nine_lessons_with_their_exercises() -> None:
    from gradwalk.learn.page.exercises import EXERCISES

    assert [path.name[:2] for path in LESSONS][:9] == [f"0{n}" for n in range(1, 10)]
    used = [
        line.removeprefix("exercise: ")
        for path in LESSONS
        for block in blocks(path)
        if block.kind == "widget" and block.name == "exercise"
        for line in block.text.splitlines()
        if line.startswith("exercise: ")
    ]
    assert used == list(EXERCISES)


@each_lesson
def test_wrong_answers_are_not_right_and_not_the_same(path: Path) -> None:
    """A quiz that calls its own right answer wrong, or knows the same wrong answer twice, would confuse everybody."""
    for block in blocks(path):
        if block.kind != "widget" or block.name != "quiz":
            continue
        numbers = [
            (key, _number(CHECKED.sub(lambda match: match[2], text)))
            for _, key, text in texts(block)
            if key in ("answer", "value")
        ]
        if not numbers:
            continue
        (_, answer), wrong = numbers[0], [x for _, x in numbers[1:]]
        match = re.search(r"^within: (.+)$", block.text, re.MULTILINE)
        within = float(match[1]) if match else 1e-6 * max(1.0, abs(answer))
        assert all(abs(x - answer) > within for x in wrong), f"{path.name}:{block.line}"
        assert len({round(x, 9) for x in wrong}) == len(wrong), f"{path.name}:{block.line}"


@pytest.mark.slow
@each_lesson
def test_what_is_shown_as_an_answer_is_near_enough_to_the_true_one(path: Path) -> None:
    """Who types more digits than the lesson shows must still be understood."""
    values = {(line, expression): value for line, expression, _, value in numbers_of(path)}
    for block in blocks(path):
        match = re.search(r"^within: (.+)$", block.text, re.MULTILINE)
        for line, key, text in texts(block):
            if key in ("answer", "value"):
                ((expression, shown),) = checked(text)
                true = values[line, expression] if expression != "given" else _number(shown)
                within = float(match[1]) if match else 1e-6 * max(1.0, abs(true))
                assert abs(true - _number(shown)) <= within, f"{path.name}:{line}"


@pytest.mark.slow
def test_what_lesson_nine_says_about_forgetting_to_zero_is_so() -> None:
    """The same start, sixty steps: one settles, the other shoots off."""
    from gradwalk.learn.page.training import advance, start

    zeroed, forgetful = (advance(start(), forget=forget, steps=60) for forget in (False, True))
    assert (zeroed["loss"] < 2.0, zeroed["wrong"]) == (True, [])
    assert (forgetful["loss"] > 50.0, len(forgetful["wrong"]) > 10) == (True, True)


def _number(shown: str) -> float:
    above, _, below = shown.replace("−", "-").replace(",", "").partition("/")
    return float(above) / float(below or 1)


# --- the checker itself ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown", "right"),
    [
        (15.0, "15", True),
        (15.3, "15", False),
        (-1.5, "−1.5", True),
        (-1.5, "1.5", False),
        (-1.5, "−3/2", True),
        (0.7071067, "0.7071", True),
        (0.7071067, "0.7072", False),
        (33554432, "33,554,432", True),
        (2 / 3, "2/3", True),
        (0.6667, "2/3", False),
        ((1, 2), "(1, 2)", True),
    ],
)
def test_agreement(value: object, shown: str, right: bool) -> None:
    assert agrees(value, shown) is right


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it is 15", ["15"]),
        ("it is {{ diamond.a.grad -> 15 }}", []),
        ("`x1` and `w2`", []),
        ("−8 and 0.5", ["−8", "0.5"]),
        ("$6x - 4$", []),
        ("$7x - 4$", ["7", "4"]),
        ("x²", ["²"]),
        ("in `8 - v` it", []),
        ("in `9 - v` it", ["9"]),
    ],
)
def test_bare_figures_are_found(text: str, found: list[str]) -> None:
    assert [figure.strip("-+ ") for figure in bare_figures(text)] == found


def test_a_wrong_number_a_wrong_output_and_an_unknown_name_are_noticed(tmp_path: Path) -> None:
    lesson = tmp_path / "01-x.md"
    lesson.write_text("It is {{ diamond.a.grad -> 16 }}.\n", encoding="utf-8")
    assert [agrees(value, shown) for _, _, shown, value in run_lesson(lesson)] == [False]
    lesson.write_text("```python\nprint(1)\n```\n\n```output\n2\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="prints"):
        list(run_lesson(lesson))
    lesson.write_text("{{ nowhere -> 1 }}\n", encoding="utf-8")
    with pytest.raises(NameError):
        list(run_lesson(lesson))


def test_a_claim_about_speed_holds_while_the_measurement_bears_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from learn import lesson_numbers
    from learn.lesson_numbers import GIVEN, at_least, compiled

    assert (at_least(51_234, 30_000), at_least(29_000, 30_000), at_least(GIVEN, 5)) == (30_000, 29_000, GIVEN)
    monkeypatch.setattr(lesson_numbers, "RESULTS", tmp_path)
    assert compiled("W1 step", "micrograd") is GIVEN  # not measured: nothing is claimed
    figure = {"what": "W1 step", "peer": "micrograd", "seconds": 2e-5, "peer_seconds": 0.5}
    (tmp_path / "compiled.json").write_text(json.dumps({"figures": [figure]}), encoding="utf-8")
    assert compiled("W1 step", "micrograd") == pytest.approx(25_000)
    with pytest.raises(ValueError, match="not enough values"):
        compiled("W1 step", "nobody")
