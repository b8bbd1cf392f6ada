"""`doctor(model, loss)`: one graph, looked at once. Nothing in it is changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gradwalk import reverse
from gradwalk.check.inputs import run_backward
from gradwalk.check.nodes import undisturbed
from gradwalk.doctor.cuts import cuts_followed, cuts_guessed
from gradwalk.doctor.examine import examine
from gradwalk.doctor.findings import report_on
from gradwalk.doctor.findings.learning_rate import one_step, replay_of, tried
from gradwalk.doctor.history import ModelHistory
from gradwalk.doctor.names import Names, names_in_frames, names_of, users_frames
from gradwalk.doctor.order import ordered
from gradwalk.doctor.report import Report
from gradwalk.doctor.routes import is_tensor
from gradwalk.doctor.scan import Scan
from gradwalk.doctor.tracking import follow
from gradwalk.engine import Value
from gradwalk.errors import GraphError, SettingError
from gradwalk.ops import number
from gradwalk.optim import Optimizer
from gradwalk.provenance import Place, made_by
from gradwalk.replay import Replay

__all__ = ["doctor"]


def doctor(model: Any, loss: Any = None, *, optimiser: Any = None) -> Report:
    """What is wrong with a loss and the model it is of: NaNs and where they were born, gradients that do not arrive, …

    `model` is a module, or anything that holds the parameters. `loss` is a Value, or a function without arguments
    that computes it, which shows more: source lines, and numbers that left the graph on the way. With the loss alone
    (`doctor(loss)`), its named leaves count as parameters. `optimiser`, one of `gradwalk.optim` or a learning rate, is
    tried for one step. No `.data` and no `.grad` is changed.

    >>> from gradwalk import doctor
    >>> p = Value(0.0, label="p")
    >>> print(doctor(-p.log()))
    doctor: 1 error
    looked at 1 parameter; 3 nodes
    <BLANKLINE>
    1  ERROR  -inf was born in log(p=0)
       where log(p=0) = -inf
       why   its operand is finite (0), and what it gives is not; 1 node only carried
             it on
       try   keep it above 0, as in log(x + 1e-12)
             for probabilities: take nn.cross_entropy or nn.binary_cross_entropy of the
             scores themselves, which never do this
    """
    if loss is None:
        model, loss = None, model
    if hasattr(loss, "parameters"):
        kind = type(loss).__name__
        if isinstance(model, Value):
            raise SettingError(f"the model comes first: doctor(model, loss); here the loss was given before the {kind}")
        raise GraphError(f"a model alone shows nothing: give doctor the {kind} and a loss, as in doctor(model, loss)")
    build, root, readings = None, loss, None
    if callable(loss) and not isinstance(loss, Value):
        build = loss
        with follow() as readings:
            root = build()
    if is_tensor(root):
        return _of_tensors(model, root, optimiser, made_by if readings is None else readings.line)
    if not isinstance(root, Value):
        source = f"{'the function gave' if build else 'it was given'} {type(root).__name__}: {root!r:.60}"
        raise GraphError(f"doctor takes a loss, one Value, or a function that computes it; {source}")
    order = ordered(root)
    with undisturbed(order):
        for v in order:
            v.grad = 0.0
        names = _names(model, order)
        history = ModelHistory(names)
        run_backward(root)
        scan = Scan(root, names)
        line_of = readings.line if readings is not None else made_by
        history.exams.append(examine(scan, 0, build=build, line_of=line_of))
        history.ever |= scan.reached
        history.cuts += cuts_guessed(scan) if readings is None else cuts_followed(scan, readings)
        gradients = [p.grad for p in names.parameters]
    findings = history.exams[0].findings
    if optimiser is not None and not any(finding.kind == "birth" for finding in findings):
        findings += _one_step(history, replay_of(scan.order), root.data, gradients, optimiser)
    return report_on([history])


def _of_tensors(model: Any, root: Any, optimiser: Any, line_of: Callable[[Any], Place | None]) -> Report:
    """One graph of tensors; gradients are computed beside those that the nodes hold."""
    from gradwalk.doctor.tensor_scan import examined, gradients_of  # only graphs of tensors need it

    if optimiser is not None:
        raise SettingError("a step with an optimiser is tried on graphs of Values only; leave optimiser= out")
    if math.prod(root.shape) != 1 or not root.requires_grad:
        raise GraphError(f"doctor takes a loss of one number that gradient flows to, not a tensor of {root.shape}")
    names = _names(model, reverse.order(root))
    history = ModelHistory(names)
    exam = examined(root, names, 0, gradients_of(root).get, line_of)
    history.exams.append(exam)
    history.ever |= exam.reached
    return report_on([history])


def _names(model: Any, order: list[Any]) -> Names:
    """The parameters of the model; without one, the leaves that a name leads to, or else all."""
    if model is not None:
        return names_of(model)
    names = names_in_frames(users_frames())
    leaves = [v for v in order if v.is_leaf]
    named = [v for v in leaves if v.label or id(v) in names.spots]
    names.adopt(named or leaves)
    for v in leaves:
        if v.label:
            names.rename(v, v.label)
    return names


def _one_step(
    history: ModelHistory, replay: Replay, before: float, gradients: Sequence[float], optimiser: Any
) -> list[Any]:
    """A step with this optimiser, tried and taken back."""
    parameters = history.names.parameters
    old = [p.data for p in parameters]
    state = None
    if isinstance(optimiser, Optimizer):
        rate, state = optimiser.lr, (optimiser, {**vars(optimiser)}, [p.grad for p in optimiser.parameters])
    else:
        rate = number(optimiser)
        if not rate > 0.0 or math.isinf(rate):
            raise SettingError(f"optimiser is one of gradwalk.optim, or a learning rate above 0, not {optimiser!r:.60}")
    try:
        if state is None:
            for p, g in zip(parameters, gradients, strict=True):
                p.data -= rate * g
        else:
            for p, g in zip(parameters, gradients, strict=True):
                p.grad = g
            optimiser.step()
        trial = tried(replay, 0, before, parameters, old, gradients, rate, search=True)
    finally:
        for p, x in zip(parameters, old, strict=True):
            p.data = x
        if state is not None:
            vars(optimiser).update(state[1])
            for p, g in zip(optimiser.parameters, state[2], strict=True):
                p.grad = g
    return list(one_step(history, trial)) if trial is not None else []
