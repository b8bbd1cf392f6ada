"""Names that a function reads from outside, and objects it is given, which change between calls."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="attr-defined,no-any-return,method-assign,assignment"
from __future__ import annotations

import array
import builtins
import decimal
import itertools
import math
import random
import sys
import types
from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache, partial, reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from outside_cases import Case, Cases, outcome_of, walked

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile.call.following import Checks
from gradwalk.compile.trace.limits import FrozenWarning

cases = Cases()
lam: Any = 0.5
batch: Any = []
cfg: Any = {}
act: Any = None
table: Any = None


# --- names bound to something else -----------------------------------------------------------------------------------


def rebound(*values):
    """A program whose function reads a global name that is bound to each of these in turn."""

    def program(compile):
        global lam
        w = Value(2.0)

        @compile
        def loss(x):
            return w * x if lam is None else w * x * lam

        for value in values:
            lam = value
            yield walked(loss(3.0), w)

    return program


def captured(*values):
    """The same with a captured name, read by a function that the compiled one calls."""

    def program(compile):
        w = Value(2.0)
        rate = None

        def inner(x):
            return w * x if rate is None else w * x * rate

        @compile
        def loss(x):
            return inner(x) + 1.0

        for value in values:
            rate = value
            yield walked(loss(3.0), w)

    return program


BINDINGS: dict[str, tuple[Any, ...]] = {
    "a_float": (0.5, 0.25),
    "a_float_that_comes_back": (0.5, 0.25, 0.5, 0.25),
    "an_int": (1, 2),
    "a_bool": (True, False),
    "none_then_a_number": (None, 0.5),
    "a_number_then_none": (0.5, None),
    "a_numpy_float": (np.float64(0.5), np.float64(0.25)),
    "a_numpy_float32": (np.float32(0.5), np.float32(0.25)),
    "a_numpy_int": (np.int64(2), np.int64(3)),
    "an_array_without_dimensions": (np.array(0.5), np.array(0.25)),
    "a_float_and_then_a_numpy_float": (0.5, np.float64(0.25)),
    "a_value": (Value(0.5), Value(0.25)),
    "a_number_then_a_value": (0.5, Value(0.25)),
    "zero_and_minus_zero": (0.0, -0.0),
}
for _name, _values in BINDINGS.items():
    for _how, _make in (("global", rebound), ("captured", captured)):
        _program = _make(*_values)
        _program.__name__ = f"a_{_how}_name_holds_{_name}"
        cases.followed(_program)


@cases.followed
def the_sign_of_a_zero(compile):
    global lam

    @compile
    def f(x):
        return x / lam

    for value in (0.0, -0.0, 0.0):
        lam = value
        yield math.copysign(1.0, f(Value(1.0)).data)


@cases.followed
def a_global_list_is_bound_anew(compile):
    global batch
    w = Value(2.0)

    @compile
    def loss():
        return sum((w * x - y) ** 2 for x, y in batch)

    for value in ([(1.0, 2.0), (3.0, 4.0)], [(5.0, 6.0), (7.0, 8.0)]):
        batch = value
        yield walked(loss(), w)


@cases.traced_often
def a_new_batch_at_every_step(compile):
    global batch
    w = Value(2.0)

    @compile
    def loss():
        return sum((w * x - y) ** 2 for x, y in batch)

    for i in range(5):
        batch = [(float(i), 2.0), (3.0, float(i * i))]
        yield walked(loss(), w)


@cases.followed
def a_text_decides(compile):
    global lam
    w = Value(2.0)

    @compile
    def loss(x):
        return w * x if lam == "linear" else w * w * x

    for value in ("linear", "square", "linear"):
        lam = value
        yield walked(loss(3.0), w)


@cases.followed
def an_activation_is_swapped(compile):
    global act
    w = Value(0.5)

    @compile
    def loss(x):
        return act(w * x)

    for value in (gradwalk.tanh, gradwalk.relu, lambda v: v * v, Value.exp):
        act = value
        yield walked(loss(3.0), w)


@cases.followed
def an_activation_is_swapped_in_a_list(compile):
    layers = [gradwalk.tanh, gradwalk.sigmoid]
    w = Value(0.5)

    @compile
    def loss(x):
        return reduce(lambda v, f: f(v), layers, w * x)

    yield walked(loss(3.0), w)
    layers[0] = gradwalk.relu
    yield walked(loss(3.0), w)
    layers.append(gradwalk.exp)
    yield walked(loss(3.0), w)


@cases.followed
def an_activation_is_swapped_in_a_model(compile):
    class Net:
        def __init__(self):
            self.w, self.act = Value(0.5), gradwalk.tanh

        def forward(self, x):
            return self.act(self.w * x)

    net = Net()
    loss = compile(lambda x: net.forward(x))
    yield walked(loss(3.0), net.w)
    net.act = gradwalk.exp
    yield walked(loss(3.0), net.w)


@cases.followed
def a_helper_is_defined_anew(compile):
    w = Value(2.0)

    def helper(x):
        return w * x

    @compile
    def loss(x):
        return helper(x) + 1

    yield walked(loss(3.0), w)

    def helper(x):  # type: ignore[no-redef]  # noqa: F811
        return w * w * x

    yield walked(loss(3.0), w)


@cases.followed
def functions_are_given_other_code(compile):
    w = Value(2.0)

    def helper(x):
        return w * x

    def other(x):
        return w * w * x

    class Net:
        def forward(self, x):
            return helper(x) + w

    net = Net()
    by_helper = compile(lambda x: helper(x) + 1)
    by_itself = compile(helper)
    by_method = compile(lambda x: net.forward(x))
    yield [walked(f(3.0), w) for f in (by_helper, by_itself, by_method)]
    before, helper.__code__ = helper.__code__, other.__code__
    yield [walked(f(3.0), w) for f in (by_helper, by_itself, by_method)]
    helper.__code__ = before
    yield [walked(f(4.0), w) for f in (by_helper, by_itself, by_method)]
    Net.forward.__code__ = (lambda self, x: w - helper(x)).__code__
    yield [walked(f(5.0), w) for f in (by_helper, by_itself, by_method)]


@cases.followed
def a_method_is_replaced_on_the_object(compile):
    class Net:
        def __init__(self):
            self.w = Value(2.0)

        def forward(self, x):
            return self.w * x

    net = Net()
    loss = compile(lambda x: net.forward(x))
    yield walked(loss(3.0), net.w)
    net.forward = lambda x: net.w * net.w * x
    yield walked(loss(3.0), net.w)


@cases.followed
def a_method_is_replaced_on_the_class(compile):
    class Net:
        def __init__(self):
            self.w = Value(2.0)

        def forward(self, x):
            return self.w * x

    net = Net()
    loss = compile(lambda x: net.forward(x))
    yield walked(loss(3.0), net.w)
    Net.forward = lambda self, x: self.w * self.w * x
    yield walked(loss(3.0), net.w)


@cases.followed
def a_built_in_is_shadowed(compile):
    w = Value(2.0)
    namespace = {"w": w, "xs": [1.0, 2.0]}
    exec("def loss(): return sum(w * x for x in xs)", namespace)
    loss = compile(namespace["loss"])
    yield walked(loss(), w)
    namespace["sum"] = lambda parts: builtins.sum(parts) * 10
    yield walked(loss(), w)


@cases.followed
def a_name_of_a_module_of_ones_own(compile):
    settings = types.ModuleType("settings")
    settings.lam = 0.5
    w = Value(2.0)
    loss = compile(lambda x: w * x * settings.lam)
    yield walked(loss(3.0), w)
    settings.lam = 0.25
    yield walked(loss(3.0), w)


@cases.followed
def a_module_imported_inside_the_function(compile):
    settings = types.ModuleType("gradwalk_test_settings")
    settings.lam = 0.5
    sys.modules[settings.__name__] = settings
    w = Value(2.0)

    @compile
    def loss(x):
        from gradwalk_test_settings import lam  # type: ignore[import-not-found]

        return w * x * lam

    try:
        yield walked(loss(3.0), w)
        settings.lam = 0.25
        yield walked(loss(3.0), w)
    finally:
        del sys.modules[settings.__name__]


@cases.followed
def what_somebody_put_into_a_module_of_pythons(compile):
    w = Value(2.0)
    sys.gradwalk_test_rates, sys.gradwalk_test_scale = [0.5], 1.0
    loss = compile(lambda x: w * x * sys.gradwalk_test_rates[0] * sys.gradwalk_test_scale * math.pi)
    try:
        yield walked(loss(3.0), w)
        sys.gradwalk_test_rates[0] = 0.25
        yield walked(loss(3.0), w)
        sys.gradwalk_test_scale = 4.0
        yield walked(loss(3.0), w)
    finally:
        del sys.gradwalk_test_rates, sys.gradwalk_test_scale


@cases.followed
def the_settings_of_an_installed_package(compile):
    package = types.ModuleType("gradwalk_test_installed")
    package.__file__ = "/anywhere/site-packages/gradwalk_test_installed/__init__.py"
    package.settings, package.activation = {"rate": 0.5}, Value.tanh
    sys.modules[package.__name__] = package
    w = Value(2.0)
    loss = compile(lambda x: package.activation(w * x) * package.settings["rate"])
    try:
        yield walked(loss(3.0), w)
        package.settings["rate"] = 0.25
        yield walked(loss(3.0), w)
        package.settings = {"rate": 2.0}
        yield walked(loss(3.0), w)
    finally:
        del sys.modules[package.__name__]


@cases.followed
def a_default_is_replaced(compile):
    w = Value(2.0)

    def helper(x, rate=0.5):
        return w * x * rate

    loss = compile(lambda x: helper(x))
    yield walked(loss(3.0), w)
    helper.__defaults__ = (0.25,)
    yield walked(loss(3.0), w)


@cases.followed
def a_name_read_by_globals(compile):
    global lam
    lam = 0.5
    w = Value(2.0)
    loss = compile(lambda x: w * x * globals()["lam"])
    yield walked(loss(3.0), w)
    lam = 0.25
    yield walked(loss(3.0), w)


@cases.followed
def a_compiled_helper_whose_name_changes(compile):
    w = Value(2.0)
    rate = 0.5
    helper = compile(lambda x: w * x * rate)
    loss = compile(lambda x: helper(x) + 1)
    yield walked(loss(3.0), w)
    rate = 0.25
    yield walked(loss(3.0), w)


# --- filled in place -------------------------------------------------------------------------------------------------


@cases.followed
def a_batch_list_is_filled_in_place(compile):
    xs = [1.0, 2.0, 3.0]
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in xs))
    yield walked(loss(), w)
    xs[:] = [4.0, 5.0, 6.0]
    yield walked(loss(), w)
    xs[1] = -1.0
    yield walked(loss(), w)


@cases.followed
def a_batch_list_grows_and_shrinks(compile):
    xs = [1.0, 2.0, 3.0]
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in xs))
    yield walked(loss(), w)
    xs.append(10.0)
    yield walked(loss(), w)
    xs.pop(0)
    yield walked(loss(), w)
    xs.clear()
    xs.append(1.0)
    yield walked(loss(), w)


@cases.followed
def a_number_in_a_dict(compile):
    w = Value(2.0)
    settings = {"lam": 0.5, "name": "one"}
    loss = compile(lambda x: w * x + settings["lam"] * w * w)
    yield walked(loss(3.0), w)
    settings["lam"] = 0.25
    yield walked(loss(3.0), w)
    settings["lam"] = np.float64(0.125)
    yield walked(loss(3.0), w)


@cases.followed
def a_dict_gets_another_key(compile):
    w = Value(2.0)
    settings = {"a": 0.5}
    loss = compile(lambda x: w * x * sum(settings.values()))
    yield walked(loss(3.0), w)
    settings["b"] = 0.25
    yield walked(loss(3.0), w)
    del settings["a"]
    yield walked(loss(3.0), w)


@cases.followed
def a_dict_in_another_order(compile):
    w = Value(2.0)
    settings = {"a": 0.5, "b": 2.0}
    loss = compile(lambda x: w * x ** next(iter(settings.values())))
    yield walked(loss(3.0), w)
    settings["a"] = settings.pop("a")
    yield walked(loss(3.0), w)


@cases.followed
def an_array_is_filled_in_place(compile):
    xs = np.array([1.0, 2.0, 3.0])
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in xs))
    yield walked(loss(), w)
    xs[:] = [4.0, 5.0, 6.0]
    yield walked(loss(), w)
    xs[1] += 1.0
    yield walked(loss(), w)


@cases.followed
def an_array_in_a_dict_is_filled_in_place(compile):
    data = {"x": np.ones((2, 2)), "y": np.zeros(2)}
    w = Value(2.0)
    loss = compile(lambda: sum((w * x[0] * x[1] - y) ** 2 for x, y in zip(data["x"], data["y"], strict=True)))
    yield walked(loss(), w)
    data["x"][1, 0] = 5.0
    yield walked(loss(), w)
    data["y"] = np.ones(2)
    yield walked(loss(), w)


@cases.followed
def a_view_is_filled_through_its_base(compile):
    base = np.arange(6.0)
    xs = base[::2]
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in xs))
    yield walked(loss(), w)
    base[2] = 50.0
    yield walked(loss(), w)


@cases.followed
def an_array_of_ints(compile):
    ks = np.array([1, 2, 3])
    w = Value(2.0)
    loss = compile(lambda: sum(w**k for k in ks))
    yield walked(loss(), w)
    ks[0] = 5
    yield walked(loss(), w)


@cases.followed
def a_list_of_arrays(compile):
    rows = [np.ones(2), np.ones(2)]
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for row in rows for x in row))
    yield walked(loss(), w)
    rows[1][0] = 7.0
    yield walked(loss(), w)
    rows[0] = np.zeros(2)
    yield walked(loss(), w)


@cases.followed
def an_array_of_the_standard_library(compile):
    xs = array.array("d", [1.0, 2.0])
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in xs))
    yield walked(loss(), w)
    xs[0] = 5.0
    yield walked(loss(), w)
    xs.append(1.0)
    yield walked(loss(), w)


@cases.followed
def bytes_that_can_change(compile):
    xs = bytearray([1, 2, 3])
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in xs))
    yield walked(loss(), w)
    xs[0] = 5
    yield walked(loss(), w)


@cases.followed
def a_deque_of_numbers(compile):
    window = deque([1.0, 2.0], maxlen=2)
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in window))
    yield walked(loss(), w)
    window.append(3.0)
    yield walked(loss(), w)


@cases.followed
def a_set_of_names(compile):
    enabled = {"a", "b"}
    w = Value(2.0)
    loss = compile(lambda x: w * x if "a" in enabled else w * w * x)
    yield walked(loss(3.0), w)
    enabled.discard("a")
    yield walked(loss(3.0), w)


@cases.followed
def a_counter(compile):
    counts = Counter("aab")
    w = Value(2.0)
    loss = compile(lambda x: w * x * counts["a"])
    yield walked(loss(3.0), w)
    counts["a"] += 1
    yield walked(loss(3.0), w)


@cases.followed
def lists_in_lists(compile):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for row in rows for x in row))
    yield walked(loss(), w)
    rows[1][1] = 7.0
    yield walked(loss(), w)
    rows[0] = [0.0, 0.0]
    yield walked(loss(), w)
    rows[0][0] = 1.0
    yield walked(loss(), w)


@cases.followed
def a_list_replaced_by_an_equal_one_that_then_changes(compile):
    settings = {"xs": [1.0, 2.0]}
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in settings["xs"]))
    yield walked(loss(), w)
    settings["xs"] = [1.0, 2.0]
    yield walked(loss(), w)
    settings["xs"][0] = 5.0
    yield walked(loss(), w)


@cases.followed
def a_list_inside_a_tuple(compile):
    data = ([1.0, 2.0], "name")
    w = Value(2.0)
    loss = compile(lambda: sum(w * x for x in data[0]))
    yield walked(loss(), w)
    data[0][0] = 5.0
    yield walked(loss(), w)


@cases.followed
def a_long_list_of_rows(compile):
    rows = [[float(i), 1.0] for i in range(300)]
    w = Value(2.0)
    loss = compile(lambda: sum(w * a + b for a, b in rows))
    yield walked(loss(), w)
    rows[211][1] = 99.0
    yield walked(loss(), w)


# --- attributes ------------------------------------------------------------------------------------------------------


@cases.followed
def a_scale_in_a_method(compile):
    class Net:
        def __init__(self):
            self.w, self.scale = Value(2.0), 1.0

        @compile
        def loss(self, x):
            return self.w * x * self.scale

    net = Net()
    yield walked(net.loss(3.0), net.w)
    net.scale = 0.5
    yield walked(net.loss(3.0), net.w)


@cases.followed
def a_scale_of_a_module(compile):
    class Net(nn.Module):
        def __init__(self):
            self.w, self.scale = Value(2.0), 1.0

        def __call__(self, x):
            return self.w * x * self.scale

    net = Net()
    loss = compile(lambda x: net(x) ** 2)
    yield walked(loss(3.0), net.w)
    net.scale = 0.5
    yield walked(loss(3.0), net.w)


@cases.followed
def a_scale_two_objects_further_on(compile):
    settings = SimpleNamespace(inner=SimpleNamespace(scale=1.0))
    w = Value(2.0)
    loss = compile(lambda x: w * x * settings.inner.scale)
    yield walked(loss(3.0), w)
    settings.inner.scale = 0.5
    yield walked(loss(3.0), w)
    settings.inner = SimpleNamespace(scale=0.25)
    yield walked(loss(3.0), w)


@cases.followed
def a_class_as_a_set_of_settings(compile):
    class Settings:
        lam = 0.5

    w = Value(2.0)
    loss = compile(lambda x: w * x * Settings.lam)
    yield walked(loss(3.0), w)
    Settings.lam = 0.25
    yield walked(loss(3.0), w)


@cases.followed
def an_attribute_of_the_class_then_of_the_object(compile):
    class Net:
        scale = 1.0

    net = Net()
    w = Value(2.0)
    loss = compile(lambda x: w * x * net.scale)
    yield walked(loss(3.0), w)
    Net.scale = 0.5
    yield walked(loss(3.0), w)
    net.scale = 0.25
    yield walked(loss(3.0), w)
    del net.scale
    yield walked(loss(3.0), w)


@cases.followed
def an_attribute_of_a_base_class(compile):
    class Base:
        scale = 1.0

    class Net(Base):
        pass

    net = Net()
    w = Value(2.0)
    loss = compile(lambda x: w * x * net.scale)
    yield walked(loss(3.0), w)
    Base.scale = 0.5
    yield walked(loss(3.0), w)


@cases.followed
def a_property_that_computes(compile):
    class Net:
        def __init__(self):
            self._log_scale = 0.0

        @property
        def scale(self):
            return math.exp(self._log_scale)

    net, w = Net(), Value(2.0)
    loss = compile(lambda x: w * x * net.scale)
    yield walked(loss(3.0), w)
    net._log_scale = 1.0
    yield walked(loss(3.0), w)


@cases.followed
def a_training_flag(compile):
    class Net:
        training = True

        def __call__(self, x):
            return x * 0.5 if self.training else x

        def eval(self):
            self.training = False

    net, w = Net(), Value(2.0)
    loss = compile(lambda x: net(w * x))
    yield walked(loss(3.0), w)
    net.eval()
    yield walked(loss(3.0), w)


@cases.followed
def an_attribute_that_may_be_missing(compile):
    net, w = SimpleNamespace(), Value(2.0)
    loss = compile(lambda x: w * x * getattr(net, "scale", 1.0))
    yield walked(loss(3.0), w)
    net.scale = 0.5
    yield walked(loss(3.0), w)


@cases.followed
def slots_of_numbers(compile):
    class Settings:
        __slots__ = ("lam",)

    settings, w = Settings(), Value(2.0)
    settings.lam = 0.5
    loss = compile(lambda x: w * x * settings.lam)
    yield walked(loss(3.0), w)
    settings.lam = 0.25
    yield walked(loss(3.0), w)


@cases.followed
def a_cached_property(compile):
    class Net:
        def __init__(self):
            self.n = 3

        @cached_property
        def table(self):
            return [1.0 / (i + 1) for i in range(self.n)]

    net, w = Net(), Value(2.0)
    loss = compile(lambda x: w * x * sum(net.table))
    yield walked(loss(3.0), w)
    yield walked(loss(3.0), w)
    net.table = [1.0]
    yield walked(loss(3.0), w)


@cases.followed
def a_cached_function(compile):
    @lru_cache
    def weights(n):
        return [1.0 / (i + 1) for i in range(n)]

    w = Value(2.0)
    loss = compile(lambda x: w * x * sum(weights(3)))
    for _ in range(3):
        yield walked(loss(3.0), w)


@cases.followed
def what_the_function_does_not_read_may_change(compile):
    class Trainer:
        def __init__(self):
            self.w, self.history, self.steps = Value(2.0), [], 0

        def loss(self, x):
            return self.w * x

    trainer = Trainer()
    loss = compile(trainer.loss)
    for _ in range(6):
        out = loss(3.0)
        yield walked(out, trainer.w)
        trainer.steps += 1
        trainer.history.append(out.data)
    if hasattr(loss, "traced"):
        assert loss.traced == 1


@cases.followed
def what_a_module_does_not_read_may_change(compile):
    class Net(nn.Module):
        def __init__(self):
            self.w, self.history, self.steps = Value(2.0), [], 0

        def __call__(self, x):
            return self.w * x

    net = Net()
    loss = compile(lambda x: net(x))
    for _ in range(6):
        out = loss(3.0)
        yield walked(out, net.w)
        net.steps += 1
        net.history.append(out.data)
    if hasattr(loss, "traced"):
        assert loss.traced == 1


@cases.followed
def what_is_no_parameter_may_change_beside_parameters_that_are_listed(compile):
    class Net(nn.Module):
        def __init__(self):
            self.w, self.history, self.steps = Value(2.0), [], 0

        def __call__(self, x):
            return self.w * x

    net = Net()
    loss = compile(lambda x: net(x) + 0.1 * sum(p * p for p in net.parameters()))
    for _ in range(6):
        out = loss(3.0)
        yield walked(out, net.w)
        net.steps += 1
        net.history.append(out.data)
    if hasattr(loss, "traced"):
        assert loss.traced == 1
    net.more = Value(5.0)
    for _ in range(2):
        yield walked(loss(3.0), net.w, net.more)
    net.most = [Value(7.0)]
    yield walked(loss(3.0), net.w, net.more)
    del net.more
    yield walked(loss(3.0), net.w)


@cases.followed
def something_that_changes_now_and_then_is_not_said_to_change_at_every_call(compile):
    settings, w = {"lam": 0.0}, Value(2.0)
    loss = compile(lambda x: w * x * settings["lam"])
    for i in range(24):
        settings["lam"] = float(i // 6)
        yield walked(loss(3.0), w)


@cases.followed
def an_error_of_ones_own_leaves_no_stand_in(compile):
    net, w = SimpleNamespace(h=1.0), Value(2.0)

    @compile
    def loss(x):
        before = net.h
        net.h = w * x
        if isinstance(before, float):
            net.h = before
            raise LookupError
        return net.h

    for _ in range(2):
        with pytest.raises(LookupError):
            loss(3.0)
        yield net.h


# --- what the function itself changes ---------------------------------------------------------------------------------


@cases.followed_with_a_word
def the_state_of_an_rnn(compile):
    class Rnn:
        def __init__(self):
            self.w, self.u, self.h = Value(0.5), Value(0.25), Value(0.0)

        def __call__(self, x):
            self.h = (self.w * x + self.u * self.h).tanh()
            return self.h

    rnn = Rnn()
    step = compile(lambda x: rnn(x) * 1.0)
    for x in (1.0, -2.0, 3.0):
        yield walked(step(x), rnn.w, rnn.u)


@cases.followed_with_a_word
def the_state_of_an_rnn_that_starts_as_none(compile):
    class Rnn:
        h = None

        def __init__(self):
            self.w, self.u = Value(0.5), Value(0.25)

        @compile
        def step(self, x):
            before = 0.0 if self.h is None else self.h
            self.h = (self.w * x + self.u * before).tanh()
            return self.h * 1.0

    rnn = Rnn()
    for x in (1.0, -2.0, 3.0):
        yield walked(rnn.step(x), rnn.w, rnn.u)


@cases.followed_with_a_word
def a_counter_of_calls(compile):
    class Net:
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return w * x * self.calls

    net, w = Net(), Value(2.0)
    loss = compile(lambda x: net(x))
    for _ in range(3):
        yield walked(loss(3.0), w)


@cases.followed_with_a_word
def a_global_counter(compile):
    global lam
    lam = 0
    w = Value(2.0)

    @compile
    def loss(x):
        global lam
        lam += 1
        return w * x * lam

    for _ in range(3):
        yield (*walked(loss(3.0), w), lam)


@cases.followed_with_a_word
def a_captured_counter(compile):
    count = 0
    w = Value(2.0)

    @compile
    def loss(x):
        nonlocal count
        count += 1
        return w * x * count

    for _ in range(3):
        yield (*walked(loss(3.0), w), count)


@cases.followed_with_a_word
def a_list_that_the_function_appends_to(compile):
    seen: list[float] = []
    w = Value(2.0)

    @compile
    def loss(x):
        seen.append(1.0)
        return w * x * len(seen)

    for _ in range(3):
        yield (*walked(loss(3.0), w), len(seen))


@cases.followed_with_a_word
def a_list_that_is_used_up(compile):
    ahead = [1.0, 2.0, 3.0, 4.0]
    w = Value(2.0)
    loss = compile(lambda x: w * x * ahead.pop())
    for _ in range(3):
        yield (*walked(loss(3.0), w), len(ahead))


@cases.followed_with_a_word
def a_running_mean(compile):
    state = {"mean": 0.0, "n": 0}
    w = Value(2.0)

    @compile
    def loss(x):
        state["n"] += 1
        state["mean"] += (1.0 - state["mean"]) / state["n"]
        return w * x - state["mean"]

    for _ in range(3):
        yield (*walked(loss(3.0), w), state["mean"])


@cases.followed_with_a_word
def an_array_that_the_function_changes(compile):
    state = np.zeros(2)
    w = Value(2.0)

    @compile
    def loss(x):
        state[0] += 1.0
        return w * x * state[0]

    for _ in range(3):
        yield (*walked(loss(3.0), w), state[0])


@cases.followed_with_a_word
def an_iterator_over_batches(compile):
    batches = iter([1.0, 2.0, 3.0, 4.0])
    w = Value(2.0)
    loss = compile(lambda x: w * x * next(batches))
    for _ in range(4):
        yield walked(loss(3.0), w)


@cases.followed_with_a_word
def a_cycle_of_batches(compile):
    batches = itertools.cycle([1.0, 2.0])
    w = Value(2.0)
    loss = compile(lambda x: w * x * next(batches))
    for _ in range(4):
        yield walked(loss(3.0), w)


@cases.followed_with_a_word
def a_generator_of_batches(compile):
    batches = (float(i) for i in range(9))
    w = Value(2.0)
    loss = compile(lambda x: w * x * next(batches))
    for _ in range(4):
        yield walked(loss(3.0), w)


@cases.followed_with_a_word
def an_iterator_in_an_object(compile):
    class Loader:
        def __init__(self):
            self.ahead = iter([1.0, 2.0, 3.0, 4.0])

        def draw(self):
            return next(self.ahead)

    loader, w = Loader(), Value(2.0)
    loss = compile(lambda x: w * x * loader.draw())
    for _ in range(4):
        yield walked(loss(3.0), w)


@cases.followed_with_a_word
def a_result_kept_in_an_attribute(compile):
    net, w = SimpleNamespace(last=None), Value(2.0)

    @compile
    def loss(x):
        net.last = w * x
        return net.last * 2

    for x in (1.0, 2.0):
        yield (loss(x).data, net.last.data)


@cases.followed_with_a_word
def a_stopwatch_counts(compile):
    class Clock:
        now = 0.0

        def __call__(self):
            Clock.now += 1.0
            return Clock.now

    clock, w = Clock(), Value(2.0)
    loss = compile(lambda x: w * x * clock())
    for _ in range(3):
        yield walked(loss(3.0), w)


# --- objects as arguments --------------------------------------------------------------------------------------------


@dataclass
class Settings:
    lam: float = 0.5
    xs: list[float] = field(default_factory=lambda: [1.0, 2.0])
    name: str = "one"


@dataclass
class WithParameter:
    w: Any
    scale: float = 1.0


class Plain:
    def __init__(self, lam=0.5):
        self.lam = lam


class Colour(Enum):
    RED = 1
    BLUE = 2


def as_argument(make, change, read, **options):
    """A program that gives its function an object, which is changed inside before the second call and the third."""

    def program(compile):
        thing, w = make(), Value(2.0)

        @compile(**options)
        def loss(thing, x):
            return w * x * read(thing)

        yield walked(loss(thing, 3.0), w)
        change(thing)
        yield walked(loss(thing, 3.0), w)
        yield walked(loss(thing, 4.0), w)

    return program


def fill(f, n):
    f.__closure__[0].cell_contents[0] = n


def closure_of(n):
    box = [n]

    def read():
        return box[0]

    return read


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "a_dataclass": (Settings, lambda s: setattr(s, "lam", 0.25), lambda s: s.lam),
    "a_list_in_a_dataclass": (Settings, lambda s: s.xs.append(5.0), lambda s: sum(s.xs)),
    "a_text_in_a_dataclass": (Settings, lambda s: setattr(s, "name", "two"), lambda s: 1.0 if s.name == "one" else 2.0),
    "a_dataclass_with_a_parameter": (
        lambda: WithParameter(Value(1.0)), lambda s: setattr(s, "scale", 0.5), lambda s: s.w * s.scale,
    ),
    "a_plain_object": (Plain, lambda s: setattr(s, "lam", 0.25), lambda s: s.lam),
    "a_namespace": (lambda: SimpleNamespace(lam=0.5), lambda s: setattr(s, "lam", 0.25), lambda s: s.lam),
    "a_deque": (lambda: deque([1.0, 2.0]), lambda s: s.append(5.0), sum),
    "a_deque_filled_in_place": (lambda: deque([1.0, 2.0]), lambda s: s.__setitem__(0, 5.0), sum),
    "an_array_array": (lambda: array.array("d", [1.0, 2.0]), lambda s: s.__setitem__(0, 5.0), sum),
    "a_bytearray": (lambda: bytearray([1, 2]), lambda s: s.__setitem__(0, 5), sum),
    "a_callable": (lambda: closure_of(1.0), lambda f: fill(f, 5.0), lambda f: f()),
    "a_partial": (
        lambda: partial(pow, 2.0), lambda f: f.__setstate__((pow, (3.0,), {}, {})), lambda f: f(2),
    ),
    "a_bound_method": (
        lambda: Plain(0.5).__class__(0.5).__getattribute__, lambda f: setattr(f.__self__, "lam", 0.25),
        lambda f: f("lam"),
    ),
    "a_set_of_texts": (lambda: {"a", "b"}, lambda s: s.add("c"), len),
    "a_list_of_objects": (lambda: [Plain(0.5), Plain(1.0)], lambda s: setattr(s[1], "lam", 4.0), lambda s: s[1].lam),
    "a_dict_with_an_object": (lambda: {"s": Plain(0.5)}, lambda s: setattr(s["s"], "lam", 4.0), lambda s: s["s"].lam),
    "an_object_with_an_array": (
        lambda: SimpleNamespace(xs=np.ones(3)), lambda s: s.xs.__setitem__(0, 5.0), lambda s: sum(s.xs),
    ),
    "a_module_with_a_number": (
        lambda: nn.MLP(1, [1]), lambda s: s.layers[0].neurons.__setitem__(0, nn.Neuron(1)), lambda s: s([1.0]),
    ),
}  # fmt: skip
STATIC: dict[str, tuple[Any, ...]] = {
    "a_plain_object": (Plain, lambda s: setattr(s, "lam", 0.25), lambda s: s.lam),
    "a_dataclass": (
        lambda: make_hashable(), lambda s: setattr(s, "lam", 0.25), lambda s: s.lam,
    ),
    "a_callable": (lambda: closure_of(1.0), lambda f: fill(f, 5.0), lambda f: f()),
    "an_object_in_a_tuple": (lambda: (Plain(0.5),), lambda s: setattr(s[0], "lam", 0.25), lambda s: s[0].lam),
}  # fmt: skip


def make_hashable():
    @dataclass(eq=False)
    class Hashable:
        lam: float = 0.5

    return Hashable()


for _name, _argument in ARGUMENTS.items():
    _program = as_argument(*_argument)
    _program.__name__ = f"an_argument_is_{_name}"
    cases.followed(_program)
for _name, _argument in STATIC.items():
    _program = as_argument(*_argument, static="thing")
    _program.__name__ = f"a_static_argument_is_{_name}"
    cases.followed(_program)


@cases.traced_often
def a_fresh_object_at_every_call(compile):
    w = Value(2.0)

    @compile
    def loss(settings, x):
        return w * x * settings.lam

    for i in range(5):
        yield walked(loss(Plain(float(i)), 3.0), w)


@cases.traced_often
def another_text_at_every_call(compile):
    w = Value(2.0)

    @compile
    def loss(name, x):
        return w * x * len(name)

    for i in range(5):
        yield walked(loss("a" * i, 3.0), w)


@cases.followed
def an_enum_as_an_argument(compile):
    w = Value(2.0)
    loss = compile(lambda colour, x: w * x if colour is Colour.RED else w * w * x)
    for colour in (Colour.RED, Colour.BLUE, Colour.RED):
        yield walked(loss(colour, 3.0), w)


@cases.test()
def test_the_outside(case: Case) -> None:
    assert outcome_of(case) == case.outcome


# --- what no key can see ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "calls"), [(20_000, 1_500), (40_000, 25_000)])  # native code looks; Python has to
def test_a_change_deep_inside_a_large_list_is_said_in_the_end(
    size: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda self, calls: False)  # which could come first
    rows = [[float(i), 1.0] for i in range(size)]
    w = Value(2.0)
    loss = gradwalk.compile(lambda: sum(w * a + b for a, b in rows[:50]) + rows[10_000][1])
    assert [loss().data for _ in range(2)] == [2.0 * sum(range(50)) + 50 + 1] * 2
    rows[10_000][1] = 100.0
    with pytest.warns(FrozenWarning, match=r"changed \(rows\[10000\]"):
        found = [loss().data for _ in range(calls)][-1]
    assert found == 2.0 * sum(range(50)) + 50 + 100


def test_a_change_deep_inside_a_large_list_before_the_second_call_is_seen_at_once() -> None:
    rows = [[float(i), 1.0] for i in range(20_000)]
    w = Value(2.0)
    loss = gradwalk.compile(lambda: w * rows[10_000][1])
    assert loss().data == 2.0
    rows[10_000][1] = 100.0
    assert loss().data == 200.0


@pytest.mark.parametrize("rows", [True, False])
def test_a_model_of_many_parameters_is_looked_through_in_a_few_calls(
    rows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda self, calls: False)
    ws: list[Any] = (
        [[Value(1.0) for _ in range(16)] for _ in range(400)] if rows else [Value(1.0) for _ in range(6_400)]
    )
    loss = gradwalk.compile(lambda x: x * sum(w for row in ws for w in (row if rows else [row])))
    assert [loss(2.0).data for _ in range(3)] == [12_800.0] * 3
    if rows:
        ws[300][7] = Value(2.0)
    else:
        ws[4_807] = Value(2.0)
    with pytest.warns(FrozenWarning, match=r"ws\[300\]|ws\[4807\]"):
        found = [loss(2.0).data for _ in range(60)][-1]
    assert found == 12_802.0


def test_what_was_changed_and_changed_back_is_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda self, calls: False)
    ws = [[Value(1.0) for _ in range(16)] for _ in range(400)]
    loss = gradwalk.compile(lambda x: x * sum(w for row in ws for w in row))
    assert [loss(2.0).data for _ in range(3)] == [12_800.0] * 3
    earlier, ws[300][7] = ws[300][7], Value(2.0)
    with pytest.warns(FrozenWarning, match=r"ws\[300\]"):
        found = [loss(2.0).data for _ in range(60)][-1]
    assert found == 12_802.0
    ws[300][7] = earlier
    with pytest.warns(FrozenWarning, match=r"ws\[300\]"):
        found = [loss(2.0).data for _ in range(60)][-1]
    assert found == 12_800.0
    assert loss.traced == 2


def test_rows_that_are_equal_take_the_place_of_others_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda self, calls: False)
    ws = [[Value(1.0) for _ in range(16)] for _ in range(400)]
    loss = gradwalk.compile(lambda x: x * sum(w for row in ws for w in row))
    assert [loss(2.0).data for _ in range(3)] == [12_800.0] * 3
    ws[300] = ws[300].copy()
    assert [loss(2.0).data for _ in range(60)] == [12_800.0] * 60
    assert len(loss.traces()) == 1
    ws[300][7] = Value(2.0)  # now Python looks, a part at every eighth call
    with pytest.warns(FrozenWarning, match=r"ws\[300\]"):
        found = [loss(2.0).data for _ in range(600)][-1]
    assert found == 12_802.0


def test_a_large_array_is_looked_at_in_turns() -> None:
    xs = np.ones(1_000_000)
    w = Value(2.0)
    loss = gradwalk.compile(lambda: w * xs[500_000])
    assert [loss().data for _ in range(3)] == [2.0] * 3
    xs[500_000] = 5.0

    def calls() -> float:
        return [loss().data for _ in range(140_000)][-1]

    with pytest.warns(FrozenWarning, match=r"changed \(xs\)|was found to differ"):
        found = calls()
    assert found == 10.0


def test_the_check_in_time_notices_what_no_key_can_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda self, calls: True)  # however busy the machine is
    context = decimal.getcontext()
    before = context.prec
    w = Value(2.0)
    loss = gradwalk.compile(lambda x: w * x * float(decimal.Decimal(1) / decimal.Decimal(3)))

    def calls() -> float:
        return [loss(1.0).data for _ in range(10)][-1]

    try:
        for _ in range(3):
            assert loss(1.0).data == pytest.approx(2 / 3)
        context.prec = 2
        with pytest.warns(
            FrozenWarning, match=r"found to differ from its trace \(a number was 0.333333 and now is 0.33\)"
        ):
            found = calls()
        assert found == 0.66
    finally:
        context.prec = before


def test_checks_take_no_more_than_a_twentieth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("gradwalk.compile.call.following.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr(Checks, "began", 0.0)
    monkeypatch.setattr(Checks, "spent_in_all", 0.0)
    checks = Checks(seconds=1.0)
    checks.call = 0.1
    affordable = []
    for calls in (1, 190, 210, 390, 410):
        affordable.append(checks.affordable(calls))
        checks.spent += affordable[-1] * checks.seconds
    assert affordable == [False, False, True, False, True]


def test_functions_that_are_called_seldom_share_a_small_part_of_all_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("gradwalk.compile.call.following.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr(Checks, "began", 0.0)
    monkeypatch.setattr(Checks, "spent_in_all", 0.0)
    affordable = []
    for clock[0] in (0.0, 199.0, 201.0, 399.0, 401.0):
        affordable.append(Checks(seconds=1.0).affordable(calls=2))
        Checks.spent_in_all += affordable[-1] * 1.0
    assert affordable == [False, False, True, False, True]


def test_a_check_leaves_no_trace() -> None:
    net = SimpleNamespace(last=None, w=Value(2.0))

    def f(x: Any) -> Any:
        out = net.w * x
        net.last = x
        return out

    loss = gradwalk.compile(f)
    loss(1.0)
    net.last = "mine"
    for _ in range(100):
        loss(1.0)
    assert net.last == "mine"


def test_a_function_that_prints_is_not_run_just_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    w = Value(2.0)

    @gradwalk.compile
    def loss(x: Any) -> Any:
        print("traced")
        return w * x

    for _ in range(100):
        loss(1.0)
    assert capsys.readouterr().out == "traced\n"


def test_what_is_refused_leaves_everything_as_it_was() -> None:
    net = SimpleNamespace(h=0.5, seen=[], w=Value(2.0))

    def f(x: Any) -> Any:
        net.h = net.w * x * net.h
        net.seen.append(random.random())
        return (net.w * x).operands

    state = random.getstate()
    with pytest.raises(gradwalk.GradwalkError, match="not kept"):
        gradwalk.compile(f)(1.0)
    assert (net.h, net.seen, random.getstate()) == (0.5, [], state)


@pytest.mark.filterwarnings("ignore:.* was traced anew at each of its last")
@pytest.mark.parametrize("calls", range(1, 6))
def test_equal_things_in_a_list_are_told_apart_however_often_they_were_replaced(calls: int) -> None:
    table: list[Any] = [{1: "a"}]
    w = Value(1.5)
    loss = gradwalk.compile(lambda x: x * w * len(str(table)))
    for thing in [*[{1: "a"} for _ in range(calls)], {1.0: "a"}, {True: "a"}, {1: "a"}, {1: "b"}]:
        table[0] = thing
        assert loss(1.0).data == 1.5 * len(str(table))
    holder: dict[str, Any] = {"k": [1]}
    loss = gradwalk.compile(lambda x: x * w * len(str(holder)))
    for things in [*[[1] for _ in range(calls)], [1.0], [True], [1]]:
        holder["k"] = things
        assert loss(1.0).data == 1.5 * len(str(holder))


# --- one of many objects ---------------------------------------------------------------------------------------------


class _Sample:
    def __init__(self, k: float) -> None:
        self.k = k

    def of(self, x: float) -> float:
        return x * self.k


class _Shifted(_Sample):
    def of(self, x: float) -> float:
        return x - self.k


def _is_of_another_class(sample: Any) -> None:
    sample.__class__ = _Shifted


def _has_other_attributes(sample: Any) -> None:
    sample.__dict__ = {"k": 7.0}


def _hides_its_method(sample: Any) -> None:
    sample.of = lambda x: 1000.0


@pytest.mark.parametrize("change", [_is_of_another_class, _has_other_attributes, _hides_its_method])
def test_what_becomes_of_one_of_many_objects_is_noticed_some_calls_later(change: Any) -> None:
    samples = [_Sample(float(i)) for i in range(200)]
    w = Value(2.0)
    f = gradwalk.compile(lambda x: w * sum(sample.of(x) for sample in samples))
    for _ in range(33):  # and no check comes in the next twenty
        f(1.0)
    change(samples[3])  # one of those that take turns
    with pytest.warns(FrozenWarning, match="too large to be looked at before every call"):
        found = [f(1.0).data for _ in range(20)]
    assert found[-1] == f.eager(1.0).data


def test_what_is_not_read_of_many_objects_may_change() -> None:
    samples = [_Sample(float(i)) for i in range(200)]
    f = gradwalk.compile(lambda x: Value(2.0) * sum(sample.of(x) for sample in samples))
    for _ in range(33):
        f(1.0)
    samples[3].history = [1.0]
    for _ in range(20):
        f(1.0)
    assert f.traced == 1
