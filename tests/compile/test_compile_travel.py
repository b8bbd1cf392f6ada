"""Compiled functions in other hands: derivatives of them, copies, pickles, and methods."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn, optim


def cube(x: Any) -> Any:
    return x * x * x


@gradwalk.compile
def decorated(x: Any) -> Any:
    return 2 * x


class Line(nn.Module):
    def __init__(self) -> None:
        self.w = Value(2.0)

    def parameters(self) -> list[Value]:
        return [self.w]

    @gradwalk.compile
    def loss(self, x: Any) -> Any:
        return self.w * x


def test_derivatives_of_a_compiled_function_are_those_of_the_function() -> None:
    compiled = gradwalk.compile(cube)
    compiled(1.0)
    assert gradwalk.grad(compiled)(2.0) == 12.0
    assert gradwalk.value_and_grad(compiled)(2.0) == (8.0, 12.0)
    assert gradwalk.grad(gradwalk.grad(compiled))(2.0) == 12.0
    assert gradwalk.hessian(gradwalk.compile(lambda xs: xs[0] * xs[1] ** 2))([2.0, 3.0]) == [[0.0, 6.0], [6.0, 4.0]]
    assert gradwalk.jacobian(gradwalk.compile(lambda xs: [xs[0] * xs[1], xs[0]]))([2.0, 3.0]) == [
        [3.0, 2.0],
        [1.0, 0.0],
    ]
    assert gradwalk.grad(lambda x: compiled(x) * x)(2.0) == 32.0
    assert gradwalk.grad(lambda x: gradwalk.compile(lambda y: y * x, batch="sum")([1.0, 2.0]))(5.0) == 3.0


def test_a_compiled_function_is_copied_and_pickled_as_function_and_options() -> None:
    compiled = gradwalk.compile(cube, wrt="x")
    compiled(3.0)
    for again in (copy.copy(compiled), copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert again is not compiled
        assert again.traces() == []
        loss = again(3.0)
        loss.backward()
        assert (loss.data, loss.argument_grads) == (27.0, {"x": 27.0})
    batched = pickle.loads(pickle.dumps(gradwalk.compile(cube, batch="mean", dtype="float32", threads=2)))
    assert (batched.batch, batched.dtype, batched.threads) == ("mean", "float32", 2)
    assert batched([1.0, 3.0]).data == 14.0


def test_what_has_a_name_is_pickled_by_it() -> None:
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert copy.deepcopy(decorated) is decorated


def test_models_with_compiled_functions_are_copied() -> None:
    model = nn.MLP(2, [3, 1], activation="tanh")
    model.scored = gradwalk.compile(model.__call__)  # type: ignore[attr-defined]
    model.scored([1.0, 2.0])  # type: ignore[attr-defined]
    other = copy.deepcopy(model)
    for p in other.parameters():
        p.data = 0.0
    assert other.scored([1.0, 2.0]).data == 0.0  # type: ignore[attr-defined]
    assert model.scored([1.0, 2.0]).data == pytest.approx(model([1.0, 2.0]).data, rel=1e-14) != 0.0  # type: ignore[attr-defined]


def test_a_method_has_what_the_function_has() -> None:
    line = Line()
    line.loss(3.0)
    assert str(line.loss.report()).startswith("loss: ")
    assert len(line.loss.traces()) == 1
    assert line.loss.eager(line, 3.0).data == 6.0
    with pytest.raises(AttributeError, match="nothing"):
        line.loss.nothing  # noqa: B018
    assert pickle.loads(pickle.dumps(line)).loss(3.0).data == 6.0
    assert line.loss(3.0).data == 6.0
    assert partial(line.loss, 3.0)().data == 6.0


def test_the_variance_of_values_is_a_value() -> None:
    values = [Value(1.0), Value(3.0)]
    spread = np.var(np.array(values))
    spread.backward()
    assert (spread.data, [v.grad for v in values]) == (1.0, [-1.0, 1.0])


def test_what_a_compiled_function_gives_stays_here_and_it_is_said_what_may_go() -> None:
    loss = gradwalk.compile(lambda x: x * x)(3.0)
    total = gradwalk.compile(lambda x: (x * x).sum())(gradwalk.Tensor([1.0, 2.0]))
    samples = gradwalk.compile(lambda x: x * x, batch="each")([1.0, 2.0])
    refused = [(send, result) for send in (pickle.dumps, copy.deepcopy) for result in (loss, total)]
    for send, result in [*refused, (pickle.dumps, loss * 2.0)]:
        with pytest.raises(gradwalk.GradwalkError, match=r"not copied or pickled(?s:.*)\.detach\(\)"):
            send(result)
    for send in (pickle.dumps, copy.deepcopy):
        with pytest.raises(gradwalk.GradwalkError, match=r"not copied or pickled(?s:.*)\.data"):
            send(samples)
    assert pickle.loads(pickle.dumps(loss.detach())).data == 9.0
    assert pickle.loads(pickle.dumps(total.detach())).item() == 5.0
    assert pickle.loads(pickle.dumps(samples.data)).tolist() == [1.0, 4.0]


def test_a_model_in_compiled_training_is_pickled_with_its_optimiser() -> None:
    model = nn.MLP(2, [3, 1], activation="tanh")
    optimizer = optim.Adam(model.parameters(), lr=0.1)

    def trained(model: Any, optimizer: Any) -> float:
        loss_of = gradwalk.compile(lambda x: (model(x) - 1.0) ** 2)
        for _ in range(4):
            optimizer.zero_grad()
            loss = loss_of([0.5, -1.0])
            loss.backward()
            optimizer.step()
        with pytest.raises(gradwalk.GradwalkError, match="nodes in between are not kept"):
            pickle.dumps(loss)
        return float(loss.data)

    trained(model, optimizer)
    model2, optimizer2 = pickle.loads(pickle.dumps((model, optimizer)))
    assert trained(model2, optimizer2) == trained(model, optimizer)
    assert model2.state_dict() == model.state_dict()
