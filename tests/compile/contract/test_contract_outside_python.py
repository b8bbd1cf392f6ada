"""The many ways in which Python code can read something from outside, each with a change between calls."""

# mypy: ignore-errors
from __future__ import annotations

import abc
import builtins
import collections
import contextvars
import copy
import dataclasses
import datetime
import enum
import functools
import heapq
import importlib
import inspect
import math
import operator
import queue as queues
import random
import sys
import threading
import types
import weakref

import numpy as np
from outside_cases import Case, Cases, outcome_of, walked

import gradwalk
from gradwalk import Value, nn, optim

cases = Cases()


@cases.followed
def walrus_and_comprehension(compile):
    w = Value(2.0)
    k = [1.0]
    f = compile(lambda x: (held := k[0]) * w * x)  # noqa: F841
    yield walked(f(1.0), w)
    k[0] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def nested_function_defined_inside(compile):
    w = Value(2.0)
    cfg = {"a": 1.0}

    @compile
    def f(x):

        def inner(y):
            return y * cfg["a"]

        return inner(w * x)

    yield walked(f(1.0), w)
    cfg["a"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def class_inside(compile):
    w = Value(2.0)
    cfg = {"a": 1.0}

    @compile
    def f(x):

        class T:
            def go(self, y):
                return y * cfg["a"]

        return T().go(w * x)

    yield walked(f(1.0), w)
    cfg["a"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def operator_overload(compile):
    w = Value(2.0)

    class S:
        def __init__(self):
            self.k = 1.0

        def __mul__(self, o):
            return o * self.k

        def __getitem__(self, i):
            return self.k + i

        def __len__(self):
            return int(self.k)

        def __contains__(self, x):
            return self.k > 2

        def __iter__(self):
            return iter([self.k, self.k])

        def __enter__(self):
            return self.k

        def __exit__(self, *a):
            return False

        def __bool__(self):
            return self.k > 2

        def __call__(self):
            return self.k

    s = S()

    @compile
    def f(x):
        with s as k:
            t = k
        return s * (w * x) + s[1] + len(s) + (1 if 3 in s else 0) + sum(s) + t + (5 if s else 0) + s()

    yield walked(f(1.0), w)
    s.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def descriptor(compile):
    w = Value(2.0)

    class D:
        def __init__(self, v):
            self.v = v

        def __get__(self, o, t=None):
            return self.v

    class A:
        a = D(1.0)

    a = A()
    f = compile(lambda x: w * x * a.a)
    yield walked(f(1.0), w)
    vars(A)["a"].v = 3.0
    yield walked(f(1.0), w)


@cases.followed
def super_call(compile):

    class B:
        k = 1.0

        def go(self, x):
            return x * self.k

    class A(B):
        def go(self, x):
            return super().go(x) + 1

    a = A()
    w = Value(2.0)
    f = compile(lambda x: a.go(w * x))
    yield walked(f(1.0), w)
    B.k = 3.0
    yield walked(f(1.0), w)
    B.go = lambda s, x: x * 10
    yield walked(f(1.0), w)


@cases.followed
def staticmethods(compile):

    class B:
        k = 1.0

        @staticmethod
        def a(x):
            return x * B.k

        @classmethod
        def b(cls, x):
            return x * cls.k

    w = Value(2.0)
    f = compile(lambda x: B.a(w * x) + B.b(w * x))
    yield walked(f(1.0), w)
    B.k = 3.0
    yield walked(f(1.0), w)
    B.a = staticmethod(lambda x: x * 7)
    yield walked(f(1.0), w)


@cases.followed
def map_and_reduce(compile):
    w = Value(2.0)
    ks = [1.0, 2.0]
    f = compile(lambda x: functools.reduce(operator.add, map(lambda k: w * k * x, ks)))  # noqa: C417
    yield walked(f(1.0), w)
    ks[1] = 5.0
    yield walked(f(1.0), w)


@cases.followed
def operator_itemgetter(compile):
    w = Value(2.0)
    d = {"k": 1.0}
    get = operator.itemgetter("k")
    f = compile(lambda x: w * x * get(d))
    yield walked(f(1.0), w)
    d["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def operator_attrgetter(compile):
    w = Value(2.0)
    d = types.SimpleNamespace(k=1.0)
    get = operator.attrgetter("k")
    f = compile(lambda x: w * x * get(d))
    yield walked(f(1.0), w)
    d.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def operator_attrgetter_user(compile):
    w = Value(2.0)

    class T:
        def __init__(self):
            self.k = 1.0

    d = T()
    get = operator.attrgetter("k")
    f = compile(lambda x: w * x * get(d))
    yield walked(f(1.0), w)
    d.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def contextvar(compile):
    w = Value(2.0)
    v = contextvars.ContextVar("v")
    v.set(1.0)
    f = compile(lambda x: w * x * v.get())
    yield walked(f(1.0), w)
    v.set(3.0)
    yield walked(f(1.0), w)


@cases.followed
def a_weak_reference(compile):
    w = Value(2.0)

    class T:
        k = 1.0

    t = T()
    r = weakref.ref(t)
    f = compile(lambda x: w * x * r().k)
    yield walked(f(1.0), w)
    t.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def dictkeys_int(compile):
    w = Value(2.0)
    d = {0: 1.0, 1: 2.0}
    f = compile(lambda x: sum((w * x * k * v for k, v in d.items())))
    yield walked(f(1.0), w)
    d[5] = d.pop(1)
    yield walked(f(1.0), w)


@cases.followed
def dict_key_values(compile):
    w = Value(2.0)
    d = {w: 3.0}
    f = compile(lambda x: sum((k * x * v for k, v in d.items())))
    yield walked(f(1.0), w)
    v = Value(9.0)
    d.clear()
    d[v] = 3.0
    yield walked(f(1.0), w, v)


@cases.followed
def sets_of_values(compile):
    a, b = (Value(2.0), Value(3.0))
    s = {a}
    f = compile(lambda x: sum(p * x for p in s))
    yield walked(f(1.0), a, b)
    s.add(b)
    yield walked(f(1.0), a, b)


@cases.followed
def frozen_dataclass_replaced(compile):

    @dataclasses.dataclass(frozen=True)
    class K:
        lam: float

    k = K(1.0)
    w = Value(2.0)
    f = compile(lambda x: w * x * k.lam)
    yield walked(f(1.0), w)
    k = dataclasses.replace(k, lam=3.0)
    yield walked(f(1.0), w)


@cases.followed
def named_tuple_replaced(compile):
    K = collections.namedtuple("K", "lam")
    k = K(1.0)
    w = Value(2.0)
    f = compile(lambda x: w * x * k.lam)
    yield walked(f(1.0), w)
    k = k._replace(lam=3.0)
    yield walked(f(1.0), w)


@cases.followed
def structured_array(compile):
    a = np.zeros(2, dtype=[("k", float)])
    a["k"] = 1.0
    w = Value(2.0)
    f = compile(lambda x: w * x * float(a["k"][0]))
    yield walked(f(1.0), w)
    a["k"][0] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def memory_view(compile):
    b = bytearray(8)
    m = memoryview(b)
    w = Value(2.0)
    m[0] = 1
    f = compile(lambda x: w * x * m[0])
    yield walked(f(1.0), w)
    b[0] = 3
    yield walked(f(1.0), w)


@cases.followed
def chainmap(compile):
    d = {"k": 1.0}
    cm = collections.ChainMap({}, d)
    w = Value(2.0)
    f = compile(lambda x: w * x * cm["k"])
    yield walked(f(1.0), w)
    d["k"] = 3.0
    yield walked(f(1.0), w)
    cm["k"] = 4.0
    yield walked(f(1.0), w)


@cases.followed
def a_view_of_a_dict_that_cannot_be_written(compile):
    d = {"k": 1.0}
    cm = types.MappingProxyType(d)
    w = Value(2.0)
    f = compile(lambda x: w * x * cm["k"])
    yield walked(f(1.0), w)
    d["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def dict_view(compile):
    d = {"k": 1.0}
    v = d.values()
    w = Value(2.0)
    f = compile(lambda x: w * x * sum(v))
    yield walked(f(1.0), w)
    d["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def bound_get(compile):
    d = {"k": 1.0}
    get = d.get
    w = Value(2.0)
    f = compile(lambda x: w * x * get("k"))
    yield walked(f(1.0), w)
    d["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def bound_getitem(compile):
    d = {"k": 1.0}
    get = d.__getitem__
    w = Value(2.0)
    f = compile(lambda x: w * x * get("k"))
    yield walked(f(1.0), w)
    d["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def module_level_in_helper_module(compile):
    m = types.ModuleType("m")
    exec("k=1.0\ndef h(x): return x*k\nclass T:\n    def __init__(s): s.z=k\n", vars(m))
    w = Value(2.0)
    f = compile(lambda x: m.h(w * x) + m.T().z)
    yield walked(f(1.0), w)
    m.k = 3.0
    yield walked(f(1.0), w)
    exec("def h(x): return x*k*10", vars(m))
    yield walked(f(1.0), w)


@cases.followed
def decorator_wraps(compile):
    w = Value(2.0)
    cfg = {"k": 1.0}

    def deco(fn):

        @functools.wraps(fn)
        def g(*a):
            return fn(*a) * cfg["k"]

        return g

    @compile
    @deco
    def f(x):
        return w * x

    yield walked(f(1.0), w)
    cfg["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def decorator_wraps_helper(compile):
    w = Value(2.0)
    cfg = {"k": 1.0}

    def deco(fn):

        @functools.wraps(fn)
        def g(*a):
            return fn(*a)

        return g

    @deco
    def h(x):
        return x * cfg["k"]

    f = compile(lambda x: h(w * x))
    yield walked(f(1.0), w)
    cfg["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def singledispatch(compile):
    w = Value(2.0)
    cfg = {"k": 1.0}

    @functools.singledispatch
    def h(v):
        return v * cfg["k"]

    f = compile(lambda x: h(w * x))
    yield walked(f(1.0), w)
    cfg["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def partialmethod(compile):

    class A:
        k = 1.0

        def go(self, a, x):
            return x * self.k * a

        one = functools.partialmethod(go, 2.0)

    a = A()
    w = Value(2.0)
    f = compile(lambda x: a.one(w * x))
    yield walked(f(1.0), w)
    a.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def abc_and_property_setter(compile):

    class A(abc.ABC):  # noqa: B024
        def __init__(self):
            self._k = 1.0

        @property
        def k(self):
            return self._k

        @k.setter
        def k(self, v):
            self._k = v

    class B(A):
        pass

    a = B()
    w = Value(2.0)
    f = compile(lambda x: w * x * a.k)
    yield walked(f(1.0), w)
    a.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def getattr_hook_missing_attr(compile):

    class A:
        def __init__(self):
            object.__setattr__(self, "d", {"k": 1.0})

        def __getattr__(self, n):
            return self.d[n]

        def __setattr__(self, n, v):
            self.d[n] = v

    a = A()
    w = Value(2.0)
    f = compile(lambda x: w * x * a.k)
    yield walked(f(1.0), w)
    a.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def nn_activation_swapped(compile):
    m = nn.MLP(2, [2, 1], activation="tanh")
    for i, p in enumerate(m.parameters()):
        p.data = 0.1 * i
    f = compile(lambda x: m(x))
    yield walked(f([1.0, 2.0]), *m.parameters())
    m2 = nn.MLP(2, [2, 1], activation="sigmoid")
    for i, p in enumerate(m2.parameters()):
        p.data = 0.1 * i
    m.layers[0].neurons[0]._activate = m2.layers[0].neurons[0]._activate
    yield walked(f([1.0, 2.0]), *m.parameters())


@cases.followed
def load_state(compile):
    m = nn.MLP(2, [2, 1])
    f = compile(lambda x: m(x))
    st = dict.fromkeys(m.state_dict(), 0.25)
    yield (f([1.0, 2.0]).data * 0)
    m.load_state_dict(st)
    yield walked(f([1.0, 2.0]), *m.parameters())


@cases.followed
def deepcopy_model(compile):
    m = nn.MLP(1, [1])
    m.layers[0].neurons[0].w[0].data = 0.5
    f = compile(lambda x: m([x]))
    yield walked(f(2.0), *m.parameters())
    m = copy.deepcopy(m)
    m.layers[0].neurons[0].w[0].data = 0.75
    yield walked(f(2.0), *m.parameters())


@cases.followed
def optimizer_in_function(compile):
    p = Value(1.0)
    o = optim.SGD([p], lr=0.1)
    f = compile(lambda x: p * x * o.lr)
    yield walked(f(2.0), p)
    o.lr = 0.5
    yield walked(f(2.0), p)


@cases.followed
def optimizer_momentum(compile):
    p = Value(1.0)
    o = optim.SGD([p], lr=0.1, momentum=0.5)
    f = compile(lambda x: p * x * o.momentum)
    yield walked(f(2.0), p)
    o.momentum = 0.75
    yield walked(f(2.0), p)


@cases.followed
def kwonly_defaults(compile):

    def h(x, *, k=1.0):
        return x * k

    w = Value(2.0)
    f = compile(lambda x: h(w * x))
    yield walked(f(1.0), w)
    h.__kwdefaults__["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def own_defaults(compile):
    w = Value(2.0)

    def h(x, k=[1.0]):  # noqa: B006
        return w * x * k[0]

    h.__defaults__[0][0] = 1.0
    f = compile(h)
    yield walked(f(1.0), w)
    h.__defaults__[0][0] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def global_statement_elsewhere(compile):
    w = Value(2.0)
    ns = {"w": w, "k": 1.0}
    exec("def f(x): return w*x*k\ndef setk(v):\n    global k\n    k=v", ns)
    f = compile(ns["f"])
    yield walked(f(1.0), w)
    ns["setk"](3.0)
    yield walked(f(1.0), w)


@cases.followed
def eval_inside(compile):
    w = Value(2.0)
    ns = {"w": w, "k": 1.0}
    exec("def f(x): return eval('w*x*k')", ns)
    f = compile(ns["f"])
    yield walked(f(1.0), w)
    ns["k"] = 3.0
    yield walked(f(1.0), w)


@cases.followed
def name_appears(compile):
    w = Value(2.0)
    ns = {"w": w}
    exec("def f(x):\n    try:\n        return w*x*k\n    except NameError:\n        return w*x", ns)
    f = compile(ns["f"])
    yield walked(f(1.0), w)
    ns["k"] = 3.0
    yield walked(f(1.0), w)
    del ns["k"]
    yield walked(f(1.0), w)


@cases.followed
def cell_unset(compile):
    w = Value(2.0)

    @compile
    def f(x):
        try:
            return w * x * k
        except NameError:
            return w * x

    yield walked(f(1.0), w)
    k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def list_subclass_attr(compile):

    class L(list):
        scale = 1.0

        def total(self):
            return sum(self) * self.scale

    listed = L([1.0, 2.0])
    w = Value(2.0)
    f = compile(lambda x: w * x * listed.total())
    yield walked(f(1.0), w)
    listed.scale = 3.0
    yield walked(f(1.0), w)
    listed.append(4.0)
    yield walked(f(1.0), w)


@cases.followed
def dict_subclass_attrs(compile):

    class Cfg(dict):
        __getattr__ = dict.__getitem__
        __setattr__ = dict.__setitem__

    d = Cfg(k=1.0)
    w = Value(2.0)
    f = compile(lambda x: w * x * d.k)
    yield walked(f(1.0), w)
    d.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def enum_value(compile):

    class E(enum.Enum):
        A = 1.0
        B = 3.0

    e = E.A
    w = Value(2.0)
    f = compile(lambda x: w * x * e.value)
    yield walked(f(1.0), w)
    e = E.B
    yield walked(f(1.0), w)


@cases.followed
def object_in_list_arg(compile):

    class T:
        def __init__(self):
            self.k = [1.0]

    t = T()
    w = Value(2.0)
    f = compile(lambda ts, x: w * x * ts[0].k[0])
    yield walked(f([t], 1.0), w)
    t.k[0] = 3.0
    yield walked(f([t], 1.0), w)


@cases.followed_with_a_word
def user_iterator(compile):

    class It:
        def __init__(self):
            self.i = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.i += 1
            return float(self.i)

    it = It()
    w = Value(2.0)
    f = compile(lambda x: w * x * next(it))
    for _ in range(3):
        yield walked(f(1.0), w)


@cases.followed
def generator_method(compile):

    class D:
        def __init__(self):
            self.xs = [1.0, 2.0]

        def rows(self):
            yield from self.xs

    d = D()
    w = Value(2.0)
    f = compile(lambda x: sum(w * x * r for r in d.rows()))
    yield walked(f(1.0), w)
    d.xs[0] = 5.0
    yield walked(f(1.0), w)


@cases.followed
def threadlocal(compile):
    t = threading.local()
    t.k = 1.0
    w = Value(2.0)
    f = compile(lambda x: w * x * t.k)
    yield walked(f(1.0), w)
    t.k = 3.0
    yield walked(f(1.0), w)


@cases.followed_with_a_word
def queue(compile):
    q = queues.Queue()
    [q.put(float(i)) for i in range(5)]
    w = Value(2.0)
    f = compile(lambda x: w * x * q.get())
    for _ in range(3):
        yield walked(f(1.0), w)


@cases.followed_with_a_word
def heap(compile):
    h = [3.0, 4.0, 5.0]
    w = Value(2.0)
    f = compile(lambda x: w * x * heapq.heappop(h))
    for _ in range(2):
        yield walked(f(1.0), w)


@cases.followed_with_a_word
def array_pop_none_state(compile):
    st = types.SimpleNamespace(prev=None)
    w = Value(2.0)

    @compile
    def f(x):
        out = w * x if st.prev is None else w * x + st.prev
        st.prev = 1.5
        return out

    for _ in range(3):
        yield walked(f(1.0), w)


@cases.followed_with_a_word
def momentum_buffer(compile):
    buf = [0.0, 0.0]
    w = Value(2.0)

    @compile
    def f(x):
        for i in range(2):
            buf[i] = 0.5 * buf[i] + 1.0
        return w * x * sum(buf)

    for _ in range(3):
        yield (*walked(f(1.0), w), *buf)


@cases.followed_with_a_word
def batchnorm_running(compile):

    class BN:
        def __init__(self):
            self.mean = 0.0
            self.g = Value(1.0)

        def __call__(self, xs):
            m = sum(xs) / len(xs)
            self.mean = 0.9 * self.mean + 0.1 * m
            return [self.g * (x - m) for x in xs]

    bn = BN()
    f = compile(lambda xs: sum(v * v for v in bn(xs)))
    for k in (1.0, 2.0, 3.0):
        yield (*walked(f([k, 2.0, 5.0]), bn.g), getattr(bn.mean, "data", bn.mean))


@cases.followed
def sin_table_cache(compile):
    cache = {}
    w = Value(2.0)

    def tab(n):
        if n not in cache:
            cache[n] = [math.sin(i) for i in range(n)]
        return cache[n]

    f = compile(lambda x: w * x * sum(tab(3)))
    for _ in range(3):
        yield walked(f(1.0), w)
    cache[3][1] = 9.0
    yield walked(f(1.0), w)


@cases.traced_often
def np_array_rebuilt_equal(compile):
    a = np.ones(3)
    w = Value(2.0)
    f = compile(lambda x: w * x * a.sum())
    for _ in range(4):
        yield walked(f(1.0), w)
        a = np.ones(3)
    a[0] = 5.0
    yield walked(f(1.0), w)


@cases.followed
def a_long_list_of_parameters(compile):
    ps = [Value(0.01 * i) for i in range(3000)]
    f = compile(lambda x: sum(p * x for p in ps))
    yield f(1.0).data
    ps[1500] = Value(100.0)
    yield f(1.0).data


@cases.followed
def del_global(compile):
    w = Value(2.0)
    ns = {"w": w, "k": 3.0}
    exec("def f(x): return w*x*k", ns)
    f = compile(ns["f"])
    yield walked(f(1.0), w)
    del ns["k"]
    try:
        v = f(1.0).data
    except NameError:
        v = -1.0
    yield v


@cases.followed
def del_attr(compile):
    w = Value(2.0)
    o = types.SimpleNamespace(k=1.0)
    f = compile(lambda x: w * x * o.k)
    yield walked(f(1.0), w)
    del o.k
    try:
        v = f(1.0).data
    except AttributeError:
        v = -1.0
    yield v


@cases.followed
def error_then_ok(compile):
    w = Value(2.0)
    d = {}
    f = compile(lambda x: w * x * d["k"])
    try:
        v = f(1.0).data
    except KeyError:
        v = -1.0
    yield v
    d["k"] = 2.0
    yield walked(f(1.0), w)
    del d["k"]
    try:
        v = f(1.0).data
    except KeyError:
        v = -1.0
    yield v


@cases.traced_often
def many_alternating(compile):
    w = Value(2.0)
    o = types.SimpleNamespace(k=1.0)
    f = compile(lambda x: w * x * o.k)
    for i in range(12):
        o.k = float(i % 3)
        yield walked(f(1.0), w)


@cases.followed_with_a_word
def random_in_some_branch(compile):
    w = Value(2.0)
    o = types.SimpleNamespace(train=False)
    f = compile(lambda x: w * x * (random.random() if o.train else 1.0))
    for t in (False, False, True, True, False, True):
        o.train = t
        yield walked(f(1.0), w)


@cases.followed
def method_of_module_subclass(compile):

    class Net(nn.Module):
        def __init__(self):
            self.l = nn.Layer(2, 2)
            self.drop = 0.0
            self.temp = 2.0

        @compile
        def loss(self, x):
            a, b = self.l(x)
            return (a - b) / self.temp

    n = Net()
    for i, p in enumerate(n.parameters()):
        p.data = 0.3 * i - 0.5
    yield walked(n.loss([1.0, 2.0]), *n.parameters())
    n.temp = 4.0
    yield walked(n.loss([1.0, 2.0]), *n.parameters())
    n.l.neurons[0].w[0] = Value(9.0)
    yield walked(n.loss([1.0, 2.0]), *n.parameters())


@cases.followed
def two_instances(compile):

    class Net:
        def __init__(self, k):
            self.w = Value(2.0)
            self.k = k

        @compile
        def loss(self, x):
            return self.w * x * self.k

    a, b = (Net(1.0), Net(5.0))
    for _ in range(2):
        yield walked(a.loss(1.0), a.w, b.w)
        yield walked(b.loss(1.0), a.w, b.w)
    a.k = 7.0
    yield walked(a.loss(1.0), a.w, b.w)
    yield walked(b.loss(1.0), a.w, b.w)


@cases.followed
def training_loop_full(compile):
    random.seed(3)
    m = nn.MLP(2, [4, 1])
    o = optim.Adam(m.parameters(), lr=0.05)
    X = [[random.random(), random.random()] for _ in range(8)]
    y = [1.0, -1.0] * 4
    cfg = {"alpha": 0.0001}

    @compile
    def loss():
        s = [m(x) for x in X]
        return sum(((1 - a * b).relu() for a, b in zip(y, s, strict=False))) / 8 + cfg["alpha"] * sum(
            p * p for p in m.parameters()
        )

    for i in range(40):
        if i == 10:
            cfg["alpha"] = 0.01
        if i == 20:
            X[:] = [[x[1], x[0]] for x in X]
        if i == 30:
            X[3][0] = 5.0
        out = loss()
        o.zero_grad()
        out.backward()
        o.step()
        yield out.data


@cases.followed
def kwargs_obj(compile):

    class K:
        def __init__(self):
            self.k = 1.0

    k = K()
    w = Value(2.0)
    f = compile(lambda x, cfg=None: w * x * cfg.k)
    for v in (1.0, 2.0):
        k.k = v
        yield walked(f(1.0, cfg=k), w)


@cases.followed
def batch_with_obj(compile):

    class K:
        def __init__(self):
            self.k = 1.0

    k = K()
    w = Value(2.0)

    def one(x):
        return w * x * k.k

    f = compile(one, batch="mean")
    g = f if f is not one else lambda xs: sum(one(x) for x in xs) / len(xs)
    for v in (1.0, 1.0, 2.0, 2.0):
        k.k = v
        yield walked(g([1.0, 2.0]), w)


@cases.followed
def no_grad_calls(compile):
    k = [1.0]
    w = Value(2.0)
    f = compile(lambda x: w * x * k[0])
    for v in (1.0, 1.0, 2.0, 2.0):
        k[0] = v
        with gradwalk.no_grad():
            yield f(1.0).data


@cases.followed
def observed_calls(compile):
    k = [1.0]
    w = Value(2.0)
    f = compile(lambda x: w * x * k[0])

    class Ob(gradwalk.modes.Observer):
        every_op = False

    for v in (1.0, 1.0, 2.0, 2.0):
        k[0] = v
        with gradwalk.modes.observed(Ob()):
            yield walked(f(1.0), w)


@cases.followed
def user_op(compile):
    k = [2.0]

    @gradwalk.op(lambda x, out: k[0])
    def scale(x):
        return k[0] * x

    w = Value(3.0)
    f = compile(lambda x: scale(w * x))
    yield walked(f(1.0), w)
    k[0] = 5.0
    yield walked(f(1.0), w)


@cases.followed
def recursion(compile):
    w = Value(0.5)
    d = [3]

    def rec(x, n):
        return x if n == 0 else rec(w * x, n - 1)

    f = compile(lambda x: rec(x, d[0]))
    yield walked(f(2.0), w)
    d[0] = 5
    yield walked(f(2.0), w)


@cases.followed
def linked_nodes(compile):

    class N:
        def __init__(self, v, nxt=None):
            self.v = Value(v)
            self.nxt = nxt

    head = N(1.0, N(2.0, N(3.0)))

    def total(x):
        n = head
        t = 0.0
        while n is not None:
            t = t + n.v * x
            n = n.nxt
        return t

    f = compile(total)
    yield f(1.0).data
    head.nxt.nxt.nxt = N(10.0)
    yield f(1.0).data
    head.nxt.v = Value(-5.0)
    yield f(1.0).data


@cases.followed
def tree_dict(compile):
    t = {"l": {"l": Value(1.0), "r": 2.0}, "r": Value(3.0)}

    def ev(n):
        return ev(n["l"]) + ev(n["r"]) if isinstance(n, dict) else n

    f = compile(lambda x: ev(t) * x)
    yield f(1.0).data
    t["l"]["r"] = {"l": Value(5.0), "r": 1.0}
    yield f(1.0).data


@cases.followed
def exec_class_attr_list(compile):

    class M:
        layers = [Value(1.0)]  # noqa: RUF012

    f = compile(lambda x: sum(v * x for v in M.layers))
    yield f(1.0).data
    M.layers.append(Value(3.0))
    yield f(1.0).data
    M.layers = [Value(7.0)]
    yield f(1.0).data


@cases.followed
def param_in_default_of_lambda(compile):
    ps = [Value(1.0)]

    def g(x, p=ps):
        return p[0] * x

    f = compile(lambda x: g(x))
    yield f(1.0).data
    ps[0] = Value(3.0)
    yield f(1.0).data


@cases.followed
def wraps_compiled_in_class_attr(compile):
    w = Value(1.0)
    k = {"a": 1.0}

    class T:
        f = staticmethod(compile(lambda x: w * x * k["a"]))

    yield walked(T.f(1.0), w)
    k["a"] = 2.0
    yield walked(T.f(1.0), w)


@cases.followed
def np_scalar_global_array_elem(compile):
    a = np.arange(3.0)
    k = a[1]
    w = Value(1.0)
    f = compile(lambda x: w * x * k)
    yield walked(f(1.0), w)
    k = a[2]
    yield walked(f(1.0), w)


@cases.followed
def big_dict_cfg(compile):
    d = {str(i): float(i) for i in range(5000)}
    w = Value(1.0)
    f = compile(lambda x: w * x * d["17"])
    yield walked(f(1.0), w)
    d["17"] = -1.0
    yield walked(f(1.0), w)


@cases.followed
def visitor_by_the_name_of_a_class(compile):
    class Sum:
        def __init__(self, *parts):
            self.parts = parts

    class Number:
        def __init__(self, n):
            self.n = n

    class Visitor:
        def visit(self, node):
            return getattr(self, "visit_" + type(node).__name__)(node)

        def visit_Sum(self, node):  # noqa: N802
            return sum(map(self.visit, node.parts))

        def visit_Number(self, node):  # noqa: N802
            return node.n

    w, tree, visitor = Value(2.0), Sum(Number(1.0), Number(2.0)), Visitor()
    f = compile(lambda x: w * x * visitor.visit(tree))
    yield walked(f(1.0), w)
    tree.parts[1].n = 5.0
    yield walked(f(1.0), w)
    Visitor.visit_Number = lambda self, node: 1.0
    yield walked(f(1.0), w)


@cases.followed
def method_by_a_formatted_name(compile):
    k = [1.0]

    class Steps:
        def run(self, name):
            return getattr(self, "run_{}".format(name))()  # noqa: UP032

        def run_slow(self):
            return k[0]

    w, steps = Value(2.0), Steps()
    f = compile(lambda x: w * x * steps.run("slow"))
    yield walked(f(1.0), w)
    k[0] = 4.0
    yield walked(f(1.0), w)


@cases.followed
def attribute_by_name_with_a_text_as_default(compile):
    class Modes:
        first, second = "exp", "relu"

    w, modes, which = Value(-1.0), Modes(), "first"
    f = compile(lambda x: getattr(w * x, getattr(modes, which, "tanh"))())
    yield walked(f(1.0), w)
    modes.first = "relu"
    yield walked(f(1.0), w)


@cases.followed
def members_of_an_object(compile):
    class Settings:
        pass

    w, settings = Value(2.0), Settings()
    settings.k = 1.0
    f = compile(lambda x: w * x * dict(inspect.getmembers(settings))["k"])
    yield walked(f(1.0), w)
    settings.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def builtins_getattr(compile):
    class Settings:
        k = 1.0

    w, settings, name = Value(2.0), Settings(), "k"
    f = compile(lambda x: w * x * builtins.getattr(settings, name))
    yield walked(f(1.0), w)
    settings.k = 3.0
    yield walked(f(1.0), w)


@cases.followed
def getattr_by_other_names(compile):
    class Settings:
        k = 1.0

    w, settings, names, get = Value(2.0), Settings(), ["k"], getattr
    read, shown = functools.partial(getattr, settings), "{0.k}".format
    f = compile(lambda x: w * x * read(names[0]))
    g = compile(lambda x: w * x * get(settings, names[0]))
    h = compile(lambda x: w * x * float(shown(settings)))
    yield walked(f(1.0) + g(1.0) + h(1.0), w)
    settings.k = 3.0
    yield walked(f(1.0) + g(1.0) + h(1.0), w)


@cases.followed
def module_by_its_name_as_a_text(compile):
    module = sys.modules["gradwalk_made_for_a_test"] = types.ModuleType("gradwalk_made_for_a_test")
    module.k = 1.0
    w = Value(2.0)
    f = compile(lambda x: w * x * importlib.import_module("gradwalk_made_for_a_test").k)
    g = compile(lambda x: w * x * __import__("gradwalk_made_for_a_test").k)
    yield walked(f(1.0) + g(1.0), w)
    module.k = 3.0
    yield walked(f(1.0) + g(1.0), w)


@cases.followed
def class_getitem_and_what_it_reads(compile):
    class Table:
        k = 1.0

        def __class_getitem__(cls, i):
            return cls.k * i

    w = Value(2.0)
    f = compile(lambda x: w * x * Table[3])
    yield walked(f(1.0), w)
    Table.k = 5.0
    yield walked(f(1.0), w)


@cases.followed
def attribute_of_a_class_whose_object_has_its_own(compile):
    class Base:
        n = 1.0

    class Counted(Base):
        n = 2.0

        def inherited(self):
            return super().n

    w, counted = Value(2.0), Counted()
    counted.n = 5.0
    f = compile(lambda x: w * x * type(counted).n + counted.n)
    g = compile(lambda x: w * x * counted.__class__.n)
    h = compile(lambda x: w * x * counted.inherited())
    yield walked(f(1.0) + g(1.0) + h(1.0), w)
    Counted.n = 7.0
    yield walked(f(1.0) + g(1.0) + h(1.0), w)
    Base.n = 11.0
    yield walked(f(1.0) + g(1.0) + h(1.0), w)
    counted.n = 3.0
    yield walked(f(1.0) + g(1.0) + h(1.0), w)


@cases.followed
def objects_as_keys_of_numbers(compile):
    class Item:
        def __init__(self, price):
            self.price = price

    items = {Item(1.0): 2.0, Item(3.0): 1.0}
    w = Value(2.0)
    f = compile(lambda x: w * x * sum(item.price * n for item, n in items.items()))
    yield walked(f(1.0), w)
    next(iter(items)).price = 5.0
    yield walked(f(1.0), w)


@cases.followed
def parameters_as_keys_of_numbers(compile):
    rates = {Value(1.0): 2.0, (Value(3.0), "bias"): 4.0}
    w, (b, _) = rates
    f = compile(lambda x: sum((k if isinstance(k, Value) else k[0]) * rate for k, rate in rates.items()) * x)
    for x in (1.0, 2.0, 3.0):
        yield walked(f(x), w, b)
        w.data += 1.0
        b.data -= 1.0


#: Things that are equal, and are not the same: what is read, the first of them, and the other.
EQUAL = {
    "a list": (lambda x: 1.0 if type(x[0]) is int else 2.0, [7], [7.0]),
    "a list of lists": (lambda x: 1.0 if type(x[0][0]) is int else 2.0, [[7]], [[True]]),
    "a zero": (lambda x: math.copysign(1.0, x[0]), [0.0], [-0.0]),
    "a deque": (lambda x: 1.0 if type(x[0]) is int else 2.0, collections.deque([7]), collections.deque([7.0])),
    "the most of a deque": (lambda x: x.maxlen or 9, collections.deque([7]), collections.deque([7], maxlen=2)),
    "a default": (
        lambda x: x.default_factory(),
        collections.defaultdict(float),
        collections.defaultdict(lambda: 2.0),
    ),
    "a dict and a defaultdict": (lambda x: len(type(x).__name__), {}, collections.defaultdict(float)),
    "a namespace": (lambda x: len(repr(x.k)), types.SimpleNamespace(k=1), types.SimpleNamespace(k=1.0)),
    "an array": (lambda x: len(x.dtype.name), np.array([1.0]), np.array([1])),
    "a range": (lambda x: x.stop, range(0, 1, 5), range(0, 2, 5)),
    "a slice": (lambda x: 1.0 if x.stop is True else 2.0, slice(0, 1), slice(0, True)),
    "a time": (
        lambda x: x.hour,
        datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC),
        datetime.datetime(2020, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    ),
    "a text": (lambda x: getattr(x, "k", 1.0), "a", type("Text", (str,), {"k": 5.0})("a")),
    "a list with attributes": (
        lambda x: x.k,
        type("Listed", (list,), {"k": 1.0})([1.0]),
        type("Other", (list,), {"k": 2.0})([1.0]),
    ),
}


class Listed(list):
    """A list with an attribute."""

    def __init__(self, k):
        super().__init__([1.0])
        self.k = k


EQUAL["a list with other attributes"] = (lambda x: x.k, Listed(1.0), Listed(2.0))

for _name, (_read, _first, _other) in EQUAL.items():

    def _program(compile, read=_read, first=_first, other=_other):
        w, thing = Value(2.0), first
        f = compile(lambda x: w * x * read(thing))
        yield walked(f(1.0), w)
        yield walked(f(1.0), w)
        thing = other
        yield walked(f(1.0), w)

    _program.__name__ = f"equal and another one: {_name}"
    cases.followed(_program)


@cases.followed
def parameters_of_a_class_of_ones_own(compile):
    class Weight(Value):
        pass

    w = Weight(2.0)
    w.rate = 0.5
    f = compile(lambda x: w * x * w.rate)
    for x in (1.0, 2.0, 3.0, 4.0, 5.0):
        yield walked(f(x), w)
        w.data += 1.0
    w.rate = 2.0
    yield walked(f(1.0), w)


@cases.followed
def state_of_computed_values_in_a_dataclass(compile):
    @dataclasses.dataclass
    class State:
        angle: object
        speed: object

    g = Value(9.8)

    @compile
    def step(state, dt):
        return State(state.angle + dt * state.speed, state.speed - dt * g * gradwalk.sin(state.angle))

    state = State(0.5, 0.0)
    for _ in range(6):
        state = step(state, 0.01)
    yield walked(state.angle, g)


@cases.followed
def class_made_by_code_without_a_name(compile):
    class Line:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k

    w = Value(2.0)
    line = Line(1.5)
    f = compile(lambda x: line(w * x))
    yield walked(f(1.0), w)
    space = {"Line": Line}
    exec("Other = type('Other', (Line,), {'__call__': lambda self, x: x - self.k})", space)  # it has no `__module__`
    line.__class__ = space["Other"]
    for _ in range(2):
        yield walked(f(1.0), w)
    space["Other"].__call__ = lambda self, x: x + self.k
    yield walked(f(1.0), w)


@cases.followed
def module_of_another_class(compile):
    settings = types.ModuleType("settings")
    settings.k = 1.0
    w = Value(2.0)
    f = compile(lambda x: w * x * settings.k)
    for _ in range(3):
        yield walked(f(1.0), w)

    class Doubled(types.ModuleType):
        @property
        def k(self):
            return 2.0 * vars(self)["k"]

    settings.__class__ = Doubled
    yield walked(f(1.0), w)
    settings.__class__ = types.ModuleType
    yield walked(f(1.0), w)


@cases.test()
def test_python(case: Case) -> None:
    assert outcome_of(case) == case.outcome
