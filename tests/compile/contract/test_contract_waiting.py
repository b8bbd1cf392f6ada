"""Results that wait to be walked back while other functions are called, stores merge and parameters change."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="attr-defined,no-any-return,method-assign,assignment"
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from outside_cases import Case, Cases, outcome_of, walked

from gradwalk import Value, nn, optim
from gradwalk.errors import GradwalkError

cases = Cases()


def grads(*leaves):
    return [v.grad for v in leaves]


# --- stores that merge -----------------------------------------------------------------------------------------------


@cases.followed
def two_stores_merge_before_the_walk(compile):
    a, b = Value(2.0), Value(10.0)
    f, g, both = compile(lambda x: a * a * x), compile(lambda x: b * b * x), compile(lambda x: a * b * x)
    first, second = f(1.0), g(1.0)
    both(1.0)
    first.backward()
    second.backward()
    yield grads(a, b)


@cases.followed
def the_smaller_store_is_taken_in_and_its_parameters_change(compile):
    a, b, c = Value(2.0), Value(10.0), Value(3.0)
    f = compile(lambda x: a * a * x + c * x)
    g = compile(lambda x: b * b * x)
    both = compile(lambda x: a * b * x)
    f(1.0)
    waiting = g(1.0)
    b.data = 100.0
    g(1.0)
    both(1.0)
    waiting.backward()
    yield grads(a, b, c)


@cases.followed
def parameters_change_and_then_stores_merge(compile):
    a, b = Value(2.0), Value(10.0)
    f, g, both = compile(lambda x: a * a * x), compile(lambda x: b * b * x), compile(lambda x: a * b * x)
    first, second = f(1.0), g(1.0)
    a.data, b.data = 7.0, 70.0
    both(1.0)
    first.backward()
    second.backward()
    yield grads(a, b)
    both(2.0).backward()
    yield grads(a, b)


@cases.followed
def stores_merge_and_then_parameters_change(compile):
    a, b = Value(2.0), Value(10.0)
    f, g, both = compile(lambda x: a * a * x), compile(lambda x: b * b * x), compile(lambda x: a * b * x)
    first, second = f(1.0), g(1.0)
    both(1.0)
    a.data, b.data = 7.0, 70.0
    both(1.0)
    first.backward()
    second.backward()
    yield grads(a, b)


@cases.followed
def three_stores_merge_one_after_another(compile):
    a, b, c = Value(2.0), Value(10.0), Value(100.0)
    f, g, h = compile(lambda x: a * a * x), compile(lambda x: b * b * x), compile(lambda x: c * c * x)
    waiting = [f(1.0), g(1.0), h(1.0)]
    compile(lambda x: a * b * x)(1.0)
    compile(lambda x: b * c * x)(1.0)
    for result in waiting:
        result.backward()
    yield grads(a, b, c)


@cases.followed
def an_optimiser_brings_stores_together(compile):
    a, b = Value(2.0), Value(10.0)
    f, g = compile(lambda x: a * a * x), compile(lambda x: b * b * x)
    descent = optim.SGD([a, b], lr=0.1)
    for _ in range(3):
        first, second = f(1.0), g(1.0)
        descent.zero_grad()
        first.backward()
        second.backward()
        descent.step()
        yield (a.data, b.data)


@cases.followed
def an_optimiser_steps_while_a_result_waits(compile):
    a, b = Value(2.0), Value(10.0)
    f, g = compile(lambda x: a * a * x), compile(lambda x: b * b * x)
    descent = optim.SGD([a, b], lr=0.1)
    descent.zero_grad()
    waiting = g(1.0)
    f(1.0).backward()
    descent.step()
    waiting.backward()
    yield (a.data, b.data, *grads(a, b))


@cases.followed
def a_parameter_joins_while_a_result_waits(compile):
    a, b = Value(2.0), Value(10.0)
    f, both = compile(lambda x: a * a * x), compile(lambda x: a * b * x)
    waiting = f(1.0)
    both(1.0)
    waiting.backward()
    yield grads(a, b)


@cases.followed
def a_result_with_several_numbers_waits(compile):
    a, b = Value(2.0), Value(10.0)
    f, g = compile(lambda x: [a * x, a * a * x]), compile(lambda x: [b * x, b * b * x])
    both = compile(lambda x: a * b * x)
    first, second = f(1.0), g(1.0)
    both(1.0)
    for result in (*first, *second):
        result.backward()
    yield grads(a, b)


@cases.followed
def a_result_of_arrays_waits(compile):
    a, b = Value(2.0), Value(10.0)
    f = compile(lambda xs: sum(a * x for x in xs))
    g = compile(lambda xs: sum(b * b * x for x in xs))
    both = compile(lambda x: a * b * x)
    first, second = f(np.array([1.0, 2.0])), g(np.array([3.0, 4.0]))
    both(1.0)
    f(np.array([9.0, 9.0]))
    g(np.array([9.0, 9.0]))
    first.backward()
    second.backward()
    yield grads(a, b)


@cases.followed
def a_result_is_walked_twice_across_a_merge(compile):
    a, b = Value(2.0), Value(10.0)
    f, g, both = compile(lambda x: a * a * x), compile(lambda x: b * b * x), compile(lambda x: a * b * x)
    first, second = f(1.0), g(1.0)
    first.backward()
    second.backward()
    both(1.0)
    first.backward()
    second.backward()
    yield grads(a, b)


@cases.followed
def a_batch_waits_while_stores_merge(compile):
    a, b = Value(2.0), Value(10.0)

    def batched(fn):
        compiled = compile(fn, batch="sum")
        return compiled if compiled is not fn else lambda xs: sum(fn(x) for x in xs)

    f, g = batched(lambda x: a * a * x), batched(lambda x: b * b * x)
    both = compile(lambda x: a * b * x)
    first, second = f([1.0, 2.0]), g([1.0, 2.0])
    both(1.0)
    first.backward()
    second.backward()
    yield grads(a, b)


@cases.followed
def a_batch_waits_while_a_parameter_joins_and_another_batch_runs(compile):
    a, b = Value(2.0), Value(10.0)

    def batched(fn):
        compiled = compile(fn, batch="mean")
        return compiled if compiled is not fn else lambda xs: sum(fn(x) for x in xs) * (1 / len(xs))

    f, both = batched(lambda x: a * a * x), batched(lambda x: a * b * x)
    first = f([1.0, 2.0])
    second = both([3.0, 4.0])
    a.data = 50.0
    both([5.0, 6.0])
    first.backward()
    second.backward()
    yield grads(a, b)


@cases.followed
def gradients_are_not_lost_when_stores_merge(compile):
    a, b = Value(2.0), Value(10.0)
    f, g, both = compile(lambda x: a * a * x), compile(lambda x: b * b * x), compile(lambda x: a * b * x)
    f(1.0).backward()
    g(1.0).backward()
    both(1.0).backward()
    yield grads(a, b)


@cases.followed
def models_that_are_first_used_apart(compile):
    encoder, decoder = nn.Neuron(2, activation="tanh"), nn.Neuron(1, activation="tanh")
    for i, v in enumerate([*encoder.parameters(), *decoder.parameters()]):
        v.data = 0.1 * i - 0.2
    f, g = compile(lambda x: encoder(x)), compile(lambda x: decoder([x]))
    both = compile(lambda x: decoder([encoder(x)]))
    first, second = f([1.0, 2.0]), g(3.0)
    third = both([1.0, 2.0])
    third.backward()
    second.backward()
    first.backward()
    yield grads(*encoder.parameters(), *decoder.parameters())


# --- a result inside another function ---------------------------------------------------------------------------------


@cases.followed
def a_result_is_an_argument_of_another_function(compile):
    a, b = Value(2.0), Value(10.0)
    f, g = compile(lambda x: a * a * x), compile(lambda y: b * y * y)
    yield walked(g(f(3.0)), a, b)
    yield walked(g(f(4.0)), a, b)


@cases.followed
def a_list_of_results_is_an_argument(compile):
    a, b = Value(2.0), Value(10.0)
    f = compile(lambda x: a * a * x)
    g = compile(lambda ys: sum(b * y * y for y in ys))
    yield walked(g([f(1.0), f(2.0), f(3.0)]), a, b)


@cases.said
def a_result_that_another_function_reads_by_name(compile):
    a, b = Value(2.0), Value(10.0)
    f = compile(lambda x: a * a * x)
    y = f(3.0)
    g = compile(lambda x: b * y * x)
    yield walked(g(1.0), a, b)


@cases.said
def a_result_with_a_value_argument_that_another_function_reads_by_name(compile):
    a, b, v = Value(2.0), Value(10.0), Value(3.0)
    f = compile(lambda x: a * a * x)
    y = f(v)
    g = compile(lambda x: b * y * x)
    yield walked(g(1.0), a, b, v)


@cases.said
def a_result_that_is_put_in_a_parameters_place(compile):
    a, b = Value(2.0), Value(10.0)
    ps = [b]
    f, g = compile(lambda x: a * a * x), compile(lambda x: ps[0] * x)
    yield walked(g(1.0), a, b)
    ps[0] = f(3.0)
    yield walked(g(1.0), a, b)


@cases.followed
def a_result_goes_through_an_ordinary_graph_into_another_function(compile):
    a, b = Value(2.0), Value(10.0)
    f, g = compile(lambda x: a * a * x), compile(lambda y: b * y)
    yield walked(g(f(3.0).tanh() * 2 + a), a, b)


@cases.followed
def a_result_that_is_cut_off_is_a_number(compile):
    a, b = Value(2.0), Value(10.0)
    f = compile(lambda x: a * a * x)
    y = f(3.0).detach()
    g = compile(lambda x: b * y * x)
    yield walked(g(1.0), a, b)


@cases.followed
def a_result_of_the_same_function(compile):
    a = Value(0.5)
    f = compile(lambda x: a * x + 1)
    yield walked(f(f(f(2.0))), a)


@cases.followed
def a_result_is_used_twice(compile):
    a, b = Value(2.0), Value(10.0)
    f, g = compile(lambda x: a * a * x), compile(lambda y, z: b * y * z)
    y = f(3.0)
    yield walked(g(y, y) + y, a, b)


@cases.followed
def a_compiled_function_inside_another(compile):
    a, b = Value(2.0), Value(10.0)
    f = compile(lambda x: a * a * x)
    g = compile(lambda x: b * f(x))
    yield walked(g(3.0), a, b)
    yield walked(f(3.0), a, b)
    yield walked(g(4.0), a, b)


@cases.followed
def results_that_share_parameters_wait_for_each_other(compile):
    a, b = Value(2.0), Value(10.0)
    f, g = compile(lambda x: a * b * x), compile(lambda x: a * a * b * x)
    waiting = [f(1.0), g(2.0), f(3.0), g(4.0)]
    for result in reversed(waiting):
        result.backward()
    yield grads(a, b)


@cases.followed
def sums_of_results(compile):
    a = Value(2.0)
    f = compile(lambda x: a * a * x)
    yield walked(f(1.0) + f(2.0) + f(3.0), a)


@cases.followed
def a_parameter_is_replaced_while_a_result_waits(compile):
    ps: list[Any] = [Value(2.0)]
    f = compile(lambda x: ps[0] * ps[0] * x)
    old, waiting = ps[0], f(1.0)
    ps[0] = Value(5.0)
    f(1.0)
    waiting.backward()
    yield grads(old, ps[0])


@cases.followed
def a_result_is_no_leaf(compile):
    w = Value(2.0)
    loss = compile(lambda x: w * w * x)(3.0)
    with pytest.raises(GradwalkError):
        optim.SGD([loss], lr=0.1)  # whose steps would not last
    yield loss.is_leaf


@cases.said
def gradients_as_graphs_are_refused_behind_a_result(compile):
    w = Value(2.0)
    loss = compile(lambda x: w * w * x)(3.0) * w
    loss.backward(create_graph=True)
    yield w.grad.data


@cases.test()
def test_waiting(case: Case) -> None:
    assert outcome_of(case) == case.outcome
