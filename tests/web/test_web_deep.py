"""Recursion without an end, of every kind, does not bring the page's Python down.

In the tests' browser Python is never optimised. In a reader's it is, after a while, and then its functions take another
share of the browser's stack: so all of this runs in a browser that optimises everything too.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

RUN = """async (texts) => {
    const told = [];
    for (const source of texts) {
        const run = m.python.call("sandbox.execute", {source, name: "it"}, {seconds: 30});
        const error = await run.catch((error) => error);
        told.push(`${error.kind ?? error.reason}: ${error.message}`);
    }
    return told;
}"""
CIRCLE = "RecursionError: a function calls itself over and over"


def method(name: str, gives: str, start: str = "") -> str:
    """A class with a method that leads back to itself, and the line that starts it."""
    arguments, _, does = gives.partition(": ")
    start = start or does.removeprefix("return ").replace("self", "V()")
    return f"class V:\n    def __{name}__({arguments}):\n        {does}\n{start}"


def function(line: str, start: str = "f(1)", *, arguments: str = "x") -> str:
    return f"import functools\ndef f({arguments}):\n    {line}\n{start}"


def nested(first: str, wrap: str, end: str, times: int = 5000) -> str:
    """Something inside something, so often, without any function of the learner's."""
    return f"import copy, json\nv = {first}\nfor i in range({times}): v = {wrap}\n{end}"


SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@", "lt": "<", "eq": "=="}
#: Methods that Python calls by itself, and functions that other functions call.
CIRCLES = {
    **{name: method(name, f"self: return {sign}self") for name, sign in (("neg", "-"), ("pos", "+"), ("invert", "~"))},
    **{name: method(name, f"self: return {name}(self)") for name in ("abs", "len", "hash", "repr", "int", "dir")},
    **{name: method(name, f"self, o: return self {sign} o", f"V() {sign} 1") for name, sign in SIGNS.items()},
    **{f"r{name}": method(f"r{name}", f"self, o: return o {sign} self", f"1 {sign} V()")
       for name, sign in SIGNS.items() if name not in ("lt", "eq")},
    "iadd": method("iadd", "self, o: self += o", "v = V()\nv += 1"),
    "contains": method("contains", "self, o: return o in self", "1 in V()"),
    "str": method("str", "self: return str(self)"),
    "bool": method("bool", "self: return not self", "not V()"),
    "call": method("call", "self: return self()"),
    "iter": method("iter", "self: return iter(self)"),
    "getattr": method("getattr", "self, name: return self.other", "V().some"),
    "setattr": method("setattr", "self, name, to: self.other = to", "V().some = 1"),
    "getitem": method("getitem", "self, at: return self[at]", "V()[0]"),
    "setitem": method("setitem", "self, at, to: self[at] = to", "V()[0] = 1"),
    "new": method("new", "cls: return cls()", "V()"),
    "init": method("init", "self: self.other = V()", "V()"),
    "format": method("str", "self: return '{}'.format(self)", "str(V())"),
    "f-string": method("repr", "self: return f'{self!r}'", "repr(V())"),
    "percent": method("str", "self: return '%s' % self", "str(V())"),
    "print": method("str", "self: print(self)", "print(V())"),
    "join": method("str", "self: return ', '.join(map(str, [self]))", "str(V())"),
    "in a list": method("eq", "self, o: return self in [o]", "V() in [V()]"),
    "as a key": method("hash", "self: return hash({self: 1})", "{V(): 1}"),
    "sorting": method("lt", "self, o: return sorted([self, o])[0] is self", "sorted([V(), V()])"),
    "summing": method("radd", "self, o: return sum([self])", "sum([V()])"),
    "property": "class V:\n    @property\n    def data(self):\n        return self.data\nV().data",
    "sorted": function("return sorted([1, 2], key=f)"),
    "max": function("return max([1, 2], key=f)"),
    "map": function("return list(map(f, [x]))"),
    "generator": function("yield from f(x)", "list(f(1))"),
    "sum": function("return sum(f(x) for _ in [1])"),
    "partial": function("return functools.partial(f, x)()"),
    "reduce": function("return functools.reduce(f, [1, 2])", "f(1, 2)", arguments="x, y"),
    "kept": "import functools\n@functools.lru_cache\ndef f(x):\n    return f(x + 1)\nf(1)",
    "class": function("class A:\n        f(x)"),
    "plain": function("return f(x + 1)"),
}  # fmt: skip
#: Depth that is no circle: long chains are freed, and what nests too deeply for Python says so.
CHAINS = {
    "nodes": "class V:\n    def __init__(self, of): self.of = of\n" + nested("None", "V(v)", "del v\n1 / 0", 30_000),
    "closures": "def keep(of):\n    def f(): return of\n    return f\n"
    + nested("None", "keep(v)", "del v\n1 / 0", 30_000),
    "lists": nested("[]", "[v]", "del v\n1 / 0", 30_000),
}
NESTED = {
    "repr": nested("[]", "[v]", "repr(v)"),
    "equal": nested("([], [])", "([v[0]], [v[1]])", "v[0] == v[1]"),
    "json": nested("[]", "[v]", "json.dumps(v)"),
    "copy": nested("[]", "[v]", "copy.deepcopy(v)"),
    "graph": "class V:\n    def __init__(self, of): self.of = of\n    def __repr__(self): return f'V({self.of!r})'\n"
    + nested("None", "V(v)", "repr(v)"),
}
HONEST = (
    "class V:\n    def __init__(self, of): self.of = of\n    def __neg__(self): return -self.of if self.of else 1\n"
)


@pytest.mark.parametrize("where", ["python_page", "optimised_page"])
def test_no_recursion_brings_python_down(where: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(where)
    before = page.evaluate("m.python.epoch.value")

    def run(texts: dict[str, str]) -> dict[str, Any]:
        return dict(zip(texts, page.evaluate(RUN, list(texts.values())), strict=True))

    circles = run(CIRCLES)
    assert {name: told for name, told in circles.items() if not told.startswith(CIRCLE)} == {}
    assert "`__neg__` leads back to `__neg__`" in circles["neg"]
    assert {name: told for name, told in run(CHAINS).items() if "division by zero" not in told} == {}
    assert {name: told for name, told in run(NESTED).items() if not told.startswith("RecursionError")} == {}
    sixty = HONEST + nested("V(None)", "V(v)", "-v\n1 / 0", 60)
    assert "division by zero" in run({"sixty operators, one inside the other": sixty}).popitem()[1]
    assert page.evaluate("m.python.epoch.value") == before  # Python was never started anew
