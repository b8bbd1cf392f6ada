"""Random programs: a function that reads some of many things, and changes to any of them between calls."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="attr-defined,no-any-return"
from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from outside_cases import Case, outcome_of, walked

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile.prepared import running_on
from gradwalk.compile.reference import REFERENCE

READS = (
    "ns.a", "ns.b[0]", "sum(ns.b)", "len(ns.b)", "ns.c['k']", "ns.c['l'][0]", "ns.p", "ns.q[0]",
    "sum(v * v for v in ns.q)",
    "(1.0 if ns.flag else -1.0)", "ns.sub.z", "k.go(x)", "k.t", "arr[1]", "float(arr.sum())", "cap", "pair[1][0]",
    "ns.f(ns.p * x)", "getattr(ns, 'a')", "rows[1][0]", "sum(map(sum, rows))", "net([x, 1.0])",
    "sum(v * v for v in net.parameters())",
)  # fmt: skip
CHANGES = (
    "ns.a = v", "ns.b[0] = v", "ns.b.append(v)", "ns.b = [v, 1.0]", "ns.c['k'] = v", "ns.c['l'][0] = v",
    "ns.c = {'k': v, 'l': [v]}", "ns.p = Value(v)", "ns.q[-1] = Value(v)", "ns.q.append(Value(v))", "ns.p.data = v",
    "ns.flag = not ns.flag", "ns.sub.z = v", "ns.sub.seen.append(v)", "ns.f = gradwalk.tanh", "ns.f = gradwalk.exp",
    "k.u = v", "type(k).t = v", "k.t = v", "k.w = Value(v)", "k.log.append(v)", "arr[1] = v",
    "arr = np.array([v, 1.0, 2.0])",
    "cap = v", "pair[1][0] = v", "rows[1][0] = v", "rows.append([v, v])", "rows[0] = [v, 1.0]",
    "net.layers[0].neurons[0].b = Value(v)", "net.layers[0].neurons[1].w[0] = Value(v)", "net.extra = Value(v)",
    "net.steps = v", "net.layers[0] = nn.Layer(2, 2, activation='tanh')",
)  # fmt: skip


def program_of(seed: int) -> Any:
    def program(compile):
        class Kind:
            t = 1.5

            def __init__(self):
                self.w, self.u, self.log = Value(0.4), 0.1, []

            def go(self, x):
                return self.w * x * self.t + self.u

        draw = random.Random(seed)
        random.seed(seed)  # for new layers
        ns = SimpleNamespace(a=1.0, b=[1.0, 2.0], c={"k": 0.5, "l": [3.0]}, p=Value(0.7), flag=True, f=gradwalk.relu)
        ns.q, ns.sub = [Value(0.3), Value(-0.2)], SimpleNamespace(z=2.0, seen=[])
        names = {
            "ns": ns, "k": Kind(), "arr": np.array([1.0, 2.0, 3.0]), "cap": 0.25, "pair": (1.0, [2.0]), "np": np,
            "nn": nn,
            "rows": [[1.0, 2.0], [3.0, 4.0]], "net": nn.MLP(2, [2, 1], activation="tanh"), "Value": Value,
            "gradwalk": gradwalk,
        }  # fmt: skip
        read = ", ".join(draw.sample(READS, 4))
        exec(f"def f(x):\n    t = ns.p * x\n    for v in ({read}):\n        t = t + v * x\n    return t", names)
        f = compile(names["f"])
        for _ in range(14):
            leaves = [ns.p, *ns.q, names["k"].w, *names["net"].parameters()]
            yield walked(f(draw.choice([1.0, 2.0, -0.5])), *leaves)
            for _ in range(draw.randrange(3)):
                names["v"] = round(draw.uniform(-2, 2), 2)
                exec(draw.choice(CHANGES), names)

    return program


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    with running_on(REFERENCE):  # which needs no kernels
        assert outcome_of(Case(program_of(seed), "")) in ("followed", "followed, traced often")
