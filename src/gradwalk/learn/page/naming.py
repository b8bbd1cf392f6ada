"""A model that makes up names, letter by letter, trained in the page: the network of lesson 15, with its ways back.

Embedding, linear, batch norm, tanh, linear, softmax, cross-entropy. Every gradient is one of those that the lesson
derives; there is no graph and no walk. It is written with plain lists: much faster here than arrays that know
their shapes, and the page waits for it. A test compares it with tensors.

A step is a function of what came before: the page holds the state, hands it in and gets the next one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from typing import TypedDict

from gradwalk.errors import SettingError
from gradwalk.messages import say

__all__ = ["Facts", "Naming", "advance", "facts", "start"]

CONTEXT = 3  # letters that the next one is guessed from
WIDTH, HIDDEN, BATCH = 4, 24, 32
RATE, LAST_RATE = 1.0, 0.1  # at the first step and at the last, straight down between
STEPS = 1000
EPSILON = 0.00001
KEEP = 0.95  # of the running means: how much each step keeps of those before
LONGEST, MADE_UP = 16, 8  # letters of a made-up name, and how many there are
END = "."

Row = list[float]
Matrix = list[Row]


class Naming(TypedDict):
    """The model after some steps; `losses` are those of the steps just made, `names` what it makes up now.

    >>> state = start("anna otto")
    >>> state["step"], len(state["names"]), len(state["table"]), len(state["table"][0])
    (0, 8, 5, 4)
    """

    step: int
    table: Matrix
    weights: Matrix
    gamma: Row
    beta: Row
    out: Matrix
    bias: Row
    mean: Row
    var: Row
    losses: Row
    names: list[str]


class Facts(TypedDict):
    """What the page says about the model before it is trained.

    >>> facts("anna otto")
    {'names': 2, 'letters': 5, 'examples': 10, 'parameters': 481, 'guessing': 1.6094379124341003, 'steps': 1000}
    """

    names: int
    letters: int
    examples: int
    parameters: int
    guessing: float
    steps: int


def facts(names: str) -> Facts:
    """How much there is to learn, and with how many numbers; `names` has blanks between them.

    >>> facts("")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: there are no names to learn from
    """
    letters, contexts, _ = _examples(names)
    n = len(letters)
    count = n * WIDTH + CONTEXT * WIDTH * HIDDEN + 2 * HIDDEN + HIDDEN * n + n
    return Facts(
        names=len(names.split()), letters=n, examples=len(contexts), parameters=count, guessing=math.log(n), steps=STEPS
    )


def start(names: str, seed: int = 0) -> Naming:
    """The model with random numbers, before its first step.

    >>> start("anna otto") == start("anna otto"), start("anna otto", 1) == start("anna otto")
    (True, False)
    """
    letters, _, _ = _examples(names)
    chance = random.Random(f"start {seed}")

    def drawn(rows: int, columns: int, spread: float) -> Matrix:
        return [[spread * chance.gauss(0.0, 1.0) for _ in range(columns)] for _ in range(rows)]

    state = Naming(
        step=0, table=drawn(len(letters), WIDTH, 1.0),
        weights=drawn(CONTEXT * WIDTH, HIDDEN, (CONTEXT * WIDTH) ** -0.5),
        gamma=[1.0] * HIDDEN, beta=[0.0] * HIDDEN, out=drawn(HIDDEN, len(letters), 0.1), bias=[0.0] * len(letters),
        mean=[0.0] * HIDDEN, var=[1.0] * HIDDEN, losses=[], names=[],
    )  # fmt: skip
    return {**state, "names": _made_up(state, letters)}


def advance(state: Naming, names: str, steps: int = 1) -> Naming:
    """Some steps further.

    >>> state = advance(start("anna otto"), "anna otto", steps=20)
    >>> state["step"], state["losses"][-1] < state["losses"][0]
    (20, True)
    """
    letters, contexts, targets = _examples(names)
    losses = []
    for step in range(state["step"], state["step"] + steps):
        chance = random.Random(f"batch {step}")
        chosen = [chance.randrange(len(contexts)) for _ in range(BATCH)]
        loss, gradients, mean, var = walked(state, [contexts[i] for i in chosen], [targets[i] for i in chosen])
        rate = RATE + (LAST_RATE - RATE) * min(1.0, step / STEPS)
        state = _moved(state, gradients, rate)
        blend = 0.0 if step == 0 else KEEP
        state["mean"] = [blend * a + (1.0 - blend) * b for a, b in zip(state["mean"], mean, strict=True)]
        state["var"] = [blend * a + (1.0 - blend) * b for a, b in zip(state["var"], var, strict=True)]
        state["step"] = step + 1
        losses.append(loss)
    return {**state, "losses": losses, "names": _made_up(state, letters)}


def walked(
    state: Naming, contexts: Sequence[Sequence[int]], targets: Sequence[int]
) -> tuple[float, dict[str, Matrix], Row, Row]:
    """The loss on a batch, the gradient of every parameter, and the mean and variance of each hidden unit.

    A vector's gradient comes as one row.

    >>> state = start("anna otto")
    >>> loss, gradients, mean, var = walked(state, [[0, 0, 1], [0, 1, 2]], [2, 2])
    >>> sorted(gradients), len(gradients["table"]), len(mean)
    (['beta', 'bias', 'gamma', 'out', 'table', 'weights'], 5, 24)
    """
    n, table, gamma = len(targets), state["table"], state["gamma"]
    # forward
    x = [[number for letter in context for number in table[letter]] for context in contexts]
    before = _times(x, state["weights"])
    columns = _turned(before)
    mean = [math.fsum(column) / n for column in columns]
    diff = [[a - m for a in column] for column, m in zip(columns, mean, strict=True)]
    var = [_dot(column, column) / n for column in diff]
    inv = [(v + EPSILON) ** -0.5 for v in var]
    hat = [[a * i for a in column] for column, i in zip(diff, inv, strict=True)]  # column by column
    units = [[math.tanh(g * a + b) for a in column] for column, g, b in zip(hat, gamma, state["beta"], strict=True)]
    h = _turned(units)
    probs = [_softmax([a + b for a, b in zip(row, state["bias"], strict=True)]) for row in _times(h, state["out"])]
    loss = -math.fsum(math.log(row[target]) for row, target in zip(probs, targets, strict=True)) / n
    # backward: cross-entropy and softmax, linear, tanh, batch norm, linear, embedding
    d_logits = [[p / n for p in row] for row in probs]
    for row, target in zip(d_logits, targets, strict=True):
        row[target] -= 1.0 / n
    d_out, d_bias = _times(units, d_logits), [math.fsum(column) for column in _turned(d_logits)]
    d_units = _turned(_times(d_logits, _turned(state["out"])))
    d_y = [[(1.0 - a * a) * g for a, g in zip(*pair, strict=True)] for pair in zip(units, d_units, strict=True)]
    d_gamma = [_dot(*pair) for pair in zip(d_y, hat, strict=True)]
    d_beta = [math.fsum(column) for column in d_y]
    d_before = [
        [i * g / n * (n * d - total - a * along) for d, a in zip(column, hats, strict=True)]
        for column, hats, i, g, total, along in zip(d_y, hat, inv, gamma, d_beta, d_gamma, strict=True)
    ]
    d_weights = _times(_turned(x), _turned(d_before))
    d_x = _times(_turned(d_before), _turned(state["weights"]))
    d_table = [[0.0] * WIDTH for _ in table]
    for context, row in zip(contexts, d_x, strict=True):
        for place, letter in enumerate(context):
            share = row[place * WIDTH : (place + 1) * WIDTH]
            d_table[letter] = [a + b for a, b in zip(d_table[letter], share, strict=True)]
    gradients = {
        "table": d_table, "weights": d_weights, "gamma": [d_gamma], "beta": [d_beta], "out": d_out, "bias": [d_bias],
    }  # fmt: skip
    return loss, gradients, mean, var


def _moved(state: Naming, gradients: dict[str, Matrix], rate: float) -> Naming:
    """Every parameter a little against its gradient."""

    def row(now: Row, slopes: Row) -> Row:
        return [p - rate * slope for p, slope in zip(now, slopes, strict=True)]

    def matrix(now: Matrix, slopes: Matrix) -> Matrix:
        return [row(*pair) for pair in zip(now, slopes, strict=True)]

    return {
        **state,
        "table": matrix(state["table"], gradients["table"]),
        "weights": matrix(state["weights"], gradients["weights"]),
        "out": matrix(state["out"], gradients["out"]),
        "gamma": row(state["gamma"], gradients["gamma"][0]),
        "beta": row(state["beta"], gradients["beta"][0]),
        "bias": row(state["bias"], gradients["bias"][0]),
    }


# --- names -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _examples(names: str) -> tuple[str, list[list[int]], list[int]]:
    """The letters, and of every letter of every name what stands before it and which one it is."""
    words = names.split()
    if not words:
        raise SettingError(say("there are no names to learn from"))
    letters = END + "".join(sorted({letter for word in words for letter in word} - {END}))
    places = {letter: i for i, letter in enumerate(letters)}
    contexts, targets = [], []
    for word in words:
        context = [0] * CONTEXT
        for letter in word.replace(END, "") + END:
            contexts.append(context)
            targets.append(places[letter])
            context = [*context[1:], places[letter]]
    return letters, contexts, targets


def _made_up(state: Naming, letters: str) -> list[str]:
    """Names from the model as it is, letter by letter; each step has its own chance, the same in every run."""
    chance = random.Random(f"names {state['step']}")
    return [_name(state, letters, chance) for _ in range(MADE_UP)]


def _name(state: Naming, letters: str, chance: random.Random) -> str:
    context, name = [0] * CONTEXT, ""
    while len(name) < LONGEST:
        x = [number for letter in context for number in state["table"][letter]]
        (before,) = _times([x], state["weights"])
        scales = zip(before, state["mean"], state["var"], state["gamma"], state["beta"], strict=True)
        h = [math.tanh(g * (a - m) * (v + EPSILON) ** -0.5 + b) for a, m, v, g, b in scales]
        (row,) = _times([h], state["out"])
        shares = _softmax([a + b for a, b in zip(row, state["bias"], strict=True)])
        (place,) = chance.choices(range(len(letters)), shares)
        if place == 0:
            break
        name += letters[place]
        context = [*context[1:], place]
    return name


# --- lists of numbers ------------------------------------------------------------------------------------------------


def _dot(a: Row, b: Row) -> float:
    return sum([x * y for x, y in zip(a, b, strict=True)])


def _turned(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def _times(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[sum([x * y for x, y in zip(row, column)]) for column in columns] for row in a]  # noqa: B905


def _softmax(row: Row) -> Row:
    most = max(row)
    counts = [math.exp(x - most) for x in row]
    total = math.fsum(counts)
    return [count / total for count in counts]
