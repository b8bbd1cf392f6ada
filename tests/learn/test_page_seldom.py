"""What a walk says seldom: changed data, hooks, closures of one's own, other orders; true, and in each language."""

from __future__ import annotations

import json
import re
from typing import Any

from learn.in_node import in_node

from gradwalk import Value, walk
from gradwalk.learn.page import programs
from gradwalk.presets import PRESETS

TELL = """
import {drawn} from "./graph/model.ts";
import {spoken} from "./text/rich.ts";
import {tell} from "./widgets/stepper/tell.ts";

export default (recordings) => recordings.map((recording) => {
    const graph = drawn(recording.graph);
    return recording.events.map((_, k) => spoken(tell(recording, graph, k + 1, recording.events.length).sentence));
});
"""
ENGLISH = re.compile(r"\b(the|is|are|was|it|its|that|with|from|which|and|of|to|not|has|have|already)\b")
OWN = "a = Value(2.0)\nb = Value(4.0, (a,), 'sq')\ndef back():\n    a.grad {} 4.0 * b.grad\nb._backward = back\nb * a"


def recordings() -> list[Any]:
    texts = [
        "a = Value(2.0)\nb = a * 3\na.data = 5.0\nb",
        "a = Value(2.0)\nb = a * 3\nb.register_hook(lambda g: g * 2)\nc = b * a\nc",
        OWN.format("+="),
        OWN.format("="),
    ]
    diamond, two = PRESETS["diamond"].build().root, PRESETS["two-uses"].build().root
    others = [
        walk.record(diamond, ["c", "d", "b", "a"]),
        walk.record(diamond, ["a", "c", "d", "b"]),
        walk.record(diamond, ["d", "c", "a", "b"]),
        walk.record(two, walk.naive_recursion_order(two), allow_repeats=True),
        walk.record(Value(2.0, label="a") * 3, ["n2", "a", "a"], allow_repeats=True),
        walk.record(Value(2.0, label="a")),
    ]
    return [*(programs.run(text)["recording"] for text in texts), *(json.loads(each.to_json()) for each in others)]


#: A part of what is said in each of these walks, in English and in Spanish.
PARTS = [
    ("with its new number it would be 15.", "con su nuevo número sería 15."),
    ("A hook turned the 2 that arrived into 4.", "Un hook convirtió en 4 el 2 que había llegado."),
    ("The _backward of b turns its gradient, 2, into 8 for a. a already had 4: the two add up.",
     "El _backward de b convierte su gradiente, 2, en 8 para a. a ya tenía 4: los dos se suman."),
    ("a already had 4, which is replaced by 8; += would add up.", "a ya tenía 4, que queda sustituido por 8;"),
    ("c has nothing to pass on yet: d, which uses it, has not been visited.",
     "c no tiene nada que pasar todavía: d, que lo usa, no se ha visitado."),
    ("Nothing has reached a yet: b and c, which use it, have not been visited. A leaf pushes nothing.",
     "A a no le ha llegado nada todavía: b y c, que lo usan, no se han visitado. Una hoja no envía nada."),
    ("a holds 9 so far: b, which uses it, has not pushed yet. A leaf pushes nothing.",
     "a tiene 9 por ahora: b, que lo usa, no le ha enviado lo suyo."),
    ("is visited again (visit 2): it pushes all it holds,", "se visita otra vez (visita 2): vuelve a enviar todo"),
    ("a is visited again (visit 2). A leaf pushes nothing.",
     "a se visita otra vez (visita 2). Una hoja no envía nada."),
    ("a is the root.", "a es la raíz."),
]  # fmt: skip


def test_what_happens_seldom_is_said_in_each_language() -> None:
    walks = recordings()
    english, spanish = in_node(TELL, walks), in_node(TELL, walks, "es")
    for place, (ours, theirs) in enumerate(PARTS):
        assert any(ours in said for said in english[place]), (ours, english[place])
        assert any(theirs in said for said in spanish[place]), (theirs, spanish[place])
    for said in (sentence for walked in spanish for sentence in walked):
        assert not ENGLISH.search(said), said
