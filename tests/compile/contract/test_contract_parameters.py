"""Parameters that are replaced between calls, and parameters that are kept in unusual places."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="attr-defined,no-any-return,method-assign,assignment"
from __future__ import annotations

import functools
from collections import OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from outside_cases import Case, Cases, outcome_of, walked

import gradwalk
from gradwalk import Value, nn, optim

cases = Cases()
ws: list[Any] = []
model: Any = None
w: Any = None


# --- replaced ------------------------------------------------------------------------------------------------------


@cases.traced_often
def a_list_of_parameters_is_made_anew_at_each_step(compile):
    global ws
    ws = [Value(1.0), Value(2.0)]

    @compile
    def loss(x):
        return (ws[0] * x + ws[1]) ** 2

    for _ in range(5):
        yield walked(loss(3.0), *ws)
        ws = [Value(v.data - 0.01 * v.grad) for v in ws]


@cases.traced_often
def a_captured_list_is_made_anew_at_each_step(compile):
    ps = [Value(1.0), Value(2.0)]

    @compile
    def loss(x):
        return (ps[0] * x + ps[1]) ** 2

    for _ in range(5):
        yield walked(loss(3.0), *ps)
        ps = [Value(v.data - 0.01 * v.grad) for v in ps]


@cases.followed
def a_cell_is_run_again(compile):
    global w
    w = Value(2.0)

    @compile
    def loss(x):
        return w * w * x

    yield walked(loss(3.0), w)
    w = Value(5.0)
    yield walked(loss(3.0), w)
    yield walked(loss(4.0), w)


@cases.followed
def one_of_a_list_is_replaced(compile):
    ps = [Value(1.0), Value(2.0), Value(3.0)]

    @compile
    def loss(x):
        return sum(p * p * x for p in ps)

    yield walked(loss(1.0), *ps)
    ps[0] = Value(10.0)
    yield walked(loss(1.0), *ps)
    ps[1] = Value(20.0)
    yield walked(loss(2.0), *ps)


@cases.followed
def a_parameter_is_appended(compile):
    ps = [Value(1.0), Value(2.0)]

    @compile
    def loss(x):
        return sum(p * p * x for p in ps)

    yield walked(loss(1.0), *ps)
    ps.append(Value(3.0))
    yield walked(loss(1.0), *ps)
    del ps[0]
    yield walked(loss(1.0), *ps)


@cases.followed
def parameters_change_places(compile):
    ps = [Value(1.0), Value(2.0)]

    @compile
    def loss(x):
        return ps[0] * x - ps[1]

    yield walked(loss(3.0), *ps)
    ps.reverse()
    yield walked(loss(3.0), *ps)


@cases.followed
def a_new_model_under_the_same_name(compile):
    global model
    model = nn.MLP(2, [3, 1])

    @compile
    def loss(X, y):
        return nn.mse([model(x) for x in X], y)

    for _ in range(2):
        for _ in range(2):
            yield walked(loss([[1.0, 2.0], [3.0, -1.0]], [0.5, 1.5]), *model.parameters())
        model = nn.MLP(2, [3, 1])


@cases.followed
def a_layer_is_swapped(compile):
    net = nn.MLP(2, [3, 1])

    @compile
    def loss(x):
        return net(x)

    yield walked(loss([1.0, 2.0]), *net.parameters())
    net.layers[0] = nn.Layer(2, 3)
    yield walked(loss([1.0, 2.0]), *net.parameters())
    net.layers = [nn.Layer(2, 4), nn.Layer(4, 1)]
    yield walked(loss([1.0, 2.0]), *net.parameters())


@cases.followed
def a_neuron_is_swapped_deep_inside(compile):
    net = nn.MLP(2, [3, 1], activation="tanh")

    @compile
    def loss(x):
        return net(x)

    yield walked(loss([1.0, 2.0]), *net.parameters())
    net.layers[0].neurons[1] = nn.Neuron(2)
    yield walked(loss([1.0, 2.0]), *net.parameters())
    net.layers[1].neurons[0].w[2] = Value(0.25)
    yield walked(loss([1.0, 2.0]), *net.parameters())
    net.layers[1].neurons[0].b = Value(-0.5)
    yield walked(loss([1.0, 2.0]), *net.parameters())


@cases.followed
def an_optimisers_parameter_is_replaced(compile):
    p, q = Value(3.0), Value(5.0)
    descent = optim.SGD([p], lr=0.1)

    @compile
    def loss(x):
        return (descent.parameters[0] * x) ** 2

    for _ in range(2):
        for _ in range(2):
            seen = walked(loss(1.0), *descent.parameters)
            descent.step()
            yield (*seen, p.data, q.data)
        descent.parameters[0] = q


@cases.followed
def the_optimiser_steps_what_replaced_a_parameter(compile):
    ps = [Value(1.0), Value(2.0)]
    descent = optim.SGD(ps, lr=0.1)

    @compile
    def loss(x):
        return sum(p * p * x for p in ps)

    for replaced in (False, True, False):
        if replaced:
            ps[0] = descent.parameters[0] = Value(7.0)
        descent.zero_grad()
        loss(1.0).backward()
        descent.step()
        yield [p.data for p in ps]


@cases.followed
def a_parameter_is_replaced_in_a_dict(compile):
    ps = {"w": Value(2.0), "b": Value(1.0)}

    @compile
    def loss(x):
        return ps["w"] * x + ps["b"]

    yield walked(loss(3.0), *ps.values())
    ps["w"] = Value(-4.0)
    yield walked(loss(3.0), *ps.values())


@cases.followed
def a_parameter_is_replaced_in_a_plain_object(compile):
    class Line:
        def __init__(self):
            self.w, self.b = Value(2.0), Value(1.0)

        def __call__(self, x):
            return self.w * x + self.b

    line = Line()

    @compile
    def loss(x):
        return line(x)

    yield walked(loss(3.0), line.w, line.b)
    line.w = Value(5.0)
    yield walked(loss(3.0), line.w, line.b)
    line.b = Value(7.0)
    yield walked(loss(3.0), line.w, line.b)


@cases.followed
def a_method_sees_its_objects_new_parameter(compile):
    class Line:
        def __init__(self):
            self.w = Value(2.0)

        @compile
        def loss(self, x):
            return self.w * x

    line = Line()
    yield walked(line.loss(3.0), line.w)
    line.w = Value(5.0)
    yield walked(line.loss(3.0), line.w)


@cases.followed
def a_bound_method_sees_its_objects_new_parameter(compile):
    class Line:
        def __init__(self):
            self.w = Value(2.0)

        def loss(self, x):
            return self.w * x

    line = Line()
    loss = compile(line.loss)
    yield walked(loss(3.0), line.w)
    line.w = Value(5.0)
    yield walked(loss(3.0), line.w)


@cases.followed
def a_callable_object_that_is_compiled_itself(compile):
    class Line:
        def __init__(self):
            self.w = Value(2.0)

        def __call__(self, x):
            return self.w * x

    line = Line()
    loss = compile(line)
    yield walked(loss(3.0), line.w)
    line.w = Value(5.0)
    yield walked(loss(3.0), line.w)


@cases.followed
def a_parameter_two_functions_further_on(compile):
    ps = [Value(2.0)]

    def inner(x):
        return ps[0] * x

    def middle(x):
        return inner(x) + 1

    @compile
    def loss(x):
        return middle(x) ** 2

    yield walked(loss(3.0), *ps)
    ps[0] = Value(5.0)
    yield walked(loss(3.0), *ps)


@cases.followed
def a_model_in_a_dict_of_models(compile):
    models = {"a": nn.Neuron(1), "b": nn.Neuron(1)}

    @compile
    def loss(x):
        return models["a"]([x]) + models["b"]([x]) ** 2

    yield walked(loss(3.0), *models["a"].parameters(), *models["b"].parameters())
    models["b"] = nn.Neuron(1)
    yield walked(loss(3.0), *models["a"].parameters(), *models["b"].parameters())


@cases.followed
def a_model_as_an_argument_whose_layer_is_swapped(compile):
    net = nn.MLP(1, [2, 1])

    @compile
    def loss(net, x):
        return net([x])

    yield walked(loss(net, 2.0), *net.parameters())
    net.layers[1] = nn.Layer(2, 1)
    yield walked(loss(net, 2.0), *net.parameters())


@cases.followed
def parameters_frozen_to_a_number(compile):
    ps: list[Any] = [Value(2.0), Value(3.0)]

    @compile
    def loss(x):
        return ps[0] * x + ps[1] * x

    first = ps[0]
    yield walked(loss(1.0), first)
    ps[1] = 10.0
    yield walked(loss(1.0), first)


@cases.followed
def a_matrix_of_parameters_row_by_row(compile):
    W = [[Value(float(i + j)) for j in range(3)] for i in range(3)]

    @compile
    def loss(x):
        return sum(sum(w * xi for w, xi in zip(row, x, strict=True)) ** 2 for row in W)

    yield walked(loss([1.0, 2.0, 3.0]), *W[0], *W[2])
    W[2] = [Value(9.0), Value(8.0), Value(7.0)]
    yield walked(loss([1.0, 2.0, 3.0]), *W[0], *W[2])
    W[2][1] = Value(-1.0)
    yield walked(loss([1.0, 2.0, 3.0]), *W[0], *W[2])


@cases.followed
def parameters_are_replaced_and_put_back(compile):
    a, b = Value(2.0), Value(3.0)
    ps = [a]

    @compile
    def loss(x):
        return ps[0] * x

    for p in (a, b, a, b, a):
        ps[0] = p
        yield walked(loss(5.0), a, b)


@cases.followed
def a_batch_sees_a_replaced_parameter(compile):
    ps = [Value(2.0)]

    def one(x):
        return ps[0] * x * x

    loss = compile(one, batch="sum")
    many = loss if loss is not one else lambda xs: sum(one(x) for x in xs)
    yield walked(many([1.0, 2.0]), *ps)
    ps[0] = Value(5.0)
    yield walked(many([1.0, 2.0]), *ps)


# --- in unusual places -----------------------------------------------------------------------------------------------


def in_a_place(make, get, put):
    """A program whose parameter stands in some place, is trained there, and is then replaced."""

    def program(compile):
        place = make(Value(2.0))

        @compile
        def loss(x):
            return (get(place) * x - 1.0) ** 2

        for _ in range(3):
            seen = walked(loss(3.0), get(place))
            get(place).data -= 0.01 * get(place).grad
            yield seen
        put(place, Value(-1.0))
        for _ in range(2):
            yield walked(loss(3.0), get(place))

    return program


class Slots:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


class SlotsBelow(Slots):
    __slots__ = ("more",)


@dataclass(slots=True)
class SlottedData:
    w: Any
    name: str = "data"


@dataclass
class Data:
    w: Any
    rate: float = 0.5
    more: list[Any] = field(default_factory=list)


class OnTheClass:
    w: Any = None

    def get(self):
        return self.w


class Listed(list[Any]):
    pass


class WithProperty:
    def __init__(self, w):
        self._hidden = w

    @property
    def w(self):
        return self._hidden


class WithGetattr:
    def __init__(self, w):
        self.inside = {"w": w}

    def __getattr__(self, name):
        return self.inside[name]


class ByName:
    def __init__(self, w):
        self.weight_1 = w

    def get(self):
        return getattr(self, f"weight_{1}")


Pair = namedtuple("Pair", "w b")


def object_array(w):
    found = np.empty((2, 2), object)
    found[:] = 1.0
    found[1, 0] = w
    return found


def with_attribute(w):
    def function():
        return 1.0

    function.w = w
    return function


def put_item(place, i, v):
    place[i] = v


def put_partial(place, v):
    place.keywords["w"] = v


def scaled(x, w):
    return w * x


def set_class(place, v):
    OnTheClass.w = v


def on_the_class(w):
    OnTheClass.w = w
    return OnTheClass()


def the_class(w):
    OnTheClass.w = w
    return OnTheClass


PLACES = {
    "slots": (Slots, lambda p: p.w, lambda p, v: setattr(p, "w", v)),
    "slots_of_a_base": (SlotsBelow, lambda p: p.w, lambda p, v: setattr(p, "w", v)),
    "a_dataclass_with_slots": (SlottedData, lambda p: p.w, lambda p, v: setattr(p, "w", v)),
    "a_dataclass": (Data, lambda p: p.w, lambda p, v: setattr(p, "w", v)),
    "a_list_in_a_dataclass": (
        lambda w: Data(None, more=[1, w]), lambda p: p.more[1], lambda p, v: put_item(p.more, 1, v),
    ),
    "a_deque": (lambda w: deque([w]), lambda p: p[0], lambda p, v: put_item(p, 0, v)),
    "an_object_array": (object_array, lambda p: p[1, 0], lambda p, v: put_item(p, (1, 0), v)),
    "a_class_attribute": (on_the_class, lambda p: p.w, set_class),
    "a_class_attribute_by_a_method": (on_the_class, lambda p: p.get(), set_class),
    "a_class_itself": (the_class, lambda p: p.w, set_class),
    "a_mixed_list": (lambda w: [1.0, w, 2.0], lambda p: p[1], lambda p, v: put_item(p, 1, v)),
    "a_mixed_list_of_texts": (lambda w: ["a", w, "b"], lambda p: p[1], lambda p, v: put_item(p, 1, v)),
    "a_mixed_tuple_in_a_list": (
        lambda w: [(1.0, w, 2.0)], lambda p: p[0][1], lambda p, v: put_item(p, 0, (1.0, v, 2.0)),
    ),
    "a_named_tuple_in_a_list": (
        lambda w: [Pair(w, 1.0)], lambda p: p[0].w, lambda p, v: put_item(p, 0, Pair(v, 1.0)),
    ),
    "an_ordered_dict": (lambda w: OrderedDict(w=w), lambda p: p["w"], lambda p, v: put_item(p, "w", v)),
    "a_defaultdict": (lambda w: defaultdict(list, w=w), lambda p: p["w"], lambda p, v: put_item(p, "w", v)),
    "a_user_dict": (lambda w: UserDict(w=w), lambda p: p["w"], lambda p, v: put_item(p, "w", v)),
    "a_user_list": (lambda w: UserList([w]), lambda p: p[0], lambda p, v: put_item(p, 0, v)),
    "a_subclass_of_list": (lambda w: Listed([w]), lambda p: p[0], lambda p, v: put_item(p, 0, v)),
    "a_namespace": (lambda w: SimpleNamespace(w=w), lambda p: p.w, lambda p, v: setattr(p, "w", v)),
    "a_property": (WithProperty, lambda p: p.w, lambda p, v: setattr(p, "_hidden", v)),
    "getattr_of_a_class": (WithGetattr, lambda p: p.w, lambda p, v: put_item(p.inside, "w", v)),
    "a_computed_name": (ByName, lambda p: p.get(), lambda p, v: setattr(p, "weight_1", v)),
    "an_attribute_of_a_function": (with_attribute, lambda p: p.w, lambda p, v: setattr(p, "w", v)),
    "a_dict_of_dicts": (lambda w: {"a": {"w": w}}, lambda p: p["a"]["w"], lambda p, v: put_item(p["a"], "w", v)),
}  # fmt: skip

for _name, _place in PLACES.items():
    _program = in_a_place(*_place)
    _program.__name__ = f"a_parameter_in_{_name}"
    cases.followed(_program)


@cases.followed
def a_parameter_in_a_partial(compile):
    line = functools.partial(scaled, w=Value(2.0))
    loss = compile(line)
    yield walked(loss(3.0), line.keywords["w"])
    line.keywords["w"] = Value(5.0)
    yield walked(loss(3.0), line.keywords["w"])


@cases.followed
def a_partial_that_a_function_calls(compile):
    line = functools.partial(scaled, w=Value(2.0))

    @compile
    def loss(x):
        return line(x) ** 2

    yield walked(loss(3.0), line.keywords["w"])
    line.keywords["w"] = Value(5.0)
    yield walked(loss(3.0), line.keywords["w"])


@cases.followed
def a_parameter_among_the_defaults(compile):
    def line(x, ps=[Value(2.0)]):  # noqa: B006, B008
        return ps[0] * x

    (ps,) = line.__defaults__ or ()
    ps[0] = Value(2.0)

    @compile
    def loss(x):
        return line(x)

    yield walked(loss(3.0), ps[0])
    ps[0] = Value(5.0)
    yield walked(loss(3.0), ps[0])


@cases.followed
def a_parameter_that_the_function_makes_when_it_first_needs_it(compile):
    class Lazy:
        w: Any = None

        def __call__(self, x):
            if self.w is None:
                self.w = Value(2.0)
            return self.w * x

    lazy = Lazy()

    @compile
    def loss(x):
        return lazy(x)

    for _ in range(3):
        out = loss(3.0)
        yield walked(out, lazy.w)
        lazy.w.data += 1.0


@cases.followed
def a_lazy_parameter_in_slots(compile):
    place = Slots(None)

    @compile
    def loss(x):
        if place.w is None:
            place.w = Value(2.0)
        return place.w * x

    for _ in range(3):
        out = loss(3.0)
        yield walked(out, place.w)
        place.w.data += 1.0


@cases.followed
def a_lazy_parameter_in_a_dict(compile):
    table: dict[str, Any] = {}

    @compile
    def loss(x):
        return table.setdefault("w", Value(2.0)) * x

    for _ in range(3):
        out = loss(3.0)
        yield walked(out, table["w"])
        table["w"].data += 1.0


@cases.followed
def a_shared_parameter_of_two_models(compile):
    a, b = nn.Neuron(1), nn.Neuron(1)
    b.w = a.w

    @compile
    def loss(x):
        return a([x]) * b([x])

    yield walked(loss(2.0), *a.parameters(), b.b)
    b.w = [Value(0.5)]
    yield walked(loss(2.0), *a.parameters(), *b.parameters())


@cases.test()
def test_parameters(case: Case) -> None:
    assert outcome_of(case) == case.outcome


def test_a_parameter_that_was_replaced_is_let_go() -> None:
    """The cache is bounded, and so is what it keeps alive."""
    ps = [Value(1.0)]
    f = gradwalk.compile(lambda x: ps[0] * x, cache=2)
    for i in range(5):
        ps[0] = Value(float(i))
        assert [f(2.0).data, f(3.0).data] == [2.0 * i, 3.0 * i]
    assert len(f.traces()) == 2
