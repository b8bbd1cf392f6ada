"""Gradients that fade or grow from layer to layer on their way back."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradwalk.doctor.history import Exam, ModelHistory
from gradwalk.doctor.report import Finding

FADED = 1e-3  # of the strongest gradient is left at the layer nearest the data
GROWN = 1e3  # times the gradient at the last layer arrives at another
PERSISTENT = 0.5  # of the examinations show it


def gradient_flow(history: ModelHistory, *, explained: bool) -> Iterator[Finding]:
    """Vanishing and exploding gradients; fading that dead or saturated layers explain is not told again.

    >>> import random
    >>> from gradwalk import doctor
    >>> random.seed(1)
    >>> model = nn.MLP(1, [4] * 8 + [1], activation="sigmoid")
    >>> X = [[x / 5 - 1] for x in range(10)]
    >>> doctor(model, nn.mse([model(x) for x in X], [0.0] * 10))[0].kind
    'vanishing'
    """
    exams = [exam for exam in history.exams if len(exam.flows) >= 2 and any(exam.flows.values())]
    if not exams:
        return
    grown = [exam for exam in exams if _growth(exam) >= GROWN]
    if grown and len(grown) >= PERSISTENT * len(exams):
        yield _exploding(grown[0], first=history.exams[0])
        return
    faded = [exam for exam in exams if 0.0 < _share_left(exam) <= FADED]
    if faded and len(faded) >= PERSISTENT * len(exams) and not explained:
        yield _vanishing(faded[0])


def _share_left(exam: Exam) -> float:
    sizes = list(exam.flows.values())
    return sizes[0] / max(sizes)


def _growth(exam: Exam) -> float:
    sizes = list(exam.flows.values())
    if not all(map(math.isfinite, sizes)):
        return 0.0
    return max(sizes) / sizes[-1] if sizes[-1] else 0.0


def _chain(exam: Exam) -> str:
    shown = list(exam.flows.items())
    if len(shown) > 8:
        shown = [*shown[:4], ("…", math.nan), *shown[-3:]]
    return ", ".join(f"{layer} {size:.1e}" if size == size else layer for layer, size in shown)


def _vanishing(exam: Exam) -> Finding:
    layers, left = list(exam.flows), _share_left(exam)
    remedy = 'larger first weights (of an MLP init="xavier" for tanh, "kaiming" for relu)'
    if any(squash.op == "sigmoid" for squash in exam.squashes.values()):
        remedy = 'tanh or relu instead of sigmoid, whose slope is at most ¼; init="xavier" or "kaiming" of an MLP'
    return Finding(
        "vanishing",
        "warning",
        f"gradients vanish: {left:.1e} of what arrives at {_strongest(exam)} is left at {layers[0]}",
        where=(layers[0],),
        why=f"each layer on the way back makes them smaller: {_chain(exam)}",
        remedy=(
            remedy,
            "fewer layers, or a sum around some of them (x + layer(x)), which lets gradients pass straight",
        ),
        step=exam.step,
        numbers={"left": left, "flows": exam.flows},
    )


def _exploding(exam: Exam, first: Exam) -> Finding:
    times = _growth(exam)
    at_first = exam.step <= first.step
    return Finding(
        "exploding",
        "error" if at_first else "warning",
        f"gradients explode: {_strongest(exam)} gets {times:.1e} times what arrives at {list(exam.flows)[-1]}",
        where=(_strongest(exam),),
        why=f"each layer on the way back makes them larger: {_chain(exam)}",
        remedy=(
            'smaller first weights (of an MLP init="kaiming" for relu, "xavier" for tanh)',
            "optim.clip_grad_norm(parameters, 1.0) before each step",
        ),
        step=exam.step,
        numbers={"times": times, "flows": exam.flows},
    )


def _strongest(exam: Exam) -> str:
    return max(exam.flows, key=lambda layer: exam.flows[layer])
