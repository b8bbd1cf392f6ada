"""The traits of the widgets for notebooks, as TypeScript: made from the widgets themselves.

    python -m gradwalk.notebook.traits > web/src/elsewhere/traits.ts

A test fails where the file differs from what this prints.
"""

from __future__ import annotations

import sys

from gradwalk.notebook.playground_view import PlaygroundWidget
from gradwalk.notebook.training_view import TrainingWidget
from gradwalk.notebook.walk_view import WalkWidget
from gradwalk.notebook.widget import Widget, traitlets

__all__ = ["typescript"]

WIDGETS: dict[str, type[Widget]] = {
    "WalkTraits": WalkWidget,
    "PlaygroundTraits": PlaygroundWidget,
    "TrainingTraits": TrainingWidget,
}
PLAIN: dict[type, str] = {
    traitlets.Int: "number", traitlets.Float: "number", traitlets.Unicode: "string", traitlets.Bool: "boolean",
}  # fmt: skip
#: What is in a list or a dictionary, which a trait does not say.
HELD = {
    ("WalkTraits", "scene"): "Given",
    ("WalkTraits", "leaves"): "Record<string, number | string>",
    ("WalkTraits", "first_leaves"): "Record<string, number | string>",
    ("WalkTraits", "_wanted_cell"): "{n: string; node: number; place: Place}",
    ("WalkTraits", "_cell"): "{n: string; scene?: Given; error?: string}",
    ("PlaygroundTraits", "scene"): "NumbersGiven & {search: SearchEvent[]; names: Record<string, number>}",
    ("PlaygroundTraits", "order"): "string[]",
    ("TrainingTraits", "points"): "Points",
    ("TrainingTraits", "state"): "Training",
    ("TrainingTraits", "losses"): "number[]",
    ("TrainingTraits", "other"): "{losses: number[]; forgot: boolean} | Record<string, never>",
    ("TrainingTraits", "hidden"): "number[]",
    ("TrainingTraits", "_ask"): '{do: "" | "step" | "reset"; at: number; n: number}',
}
HEAD = """\
// Made by `python -m gradwalk.notebook.traits`, from the widgets for notebooks. Do not edit.
import type {Place} from "../graph/heat.ts";
import type {Given, NumbersGiven} from "../graph/scene.ts";
import type {Points, SearchEvent, Training} from "../python/schema.ts";
"""


def typescript() -> str:
    """The text of the file.

    >>> "export type WalkTraits = {" in typescript()
    True
    """
    text = HEAD
    for name, widget in WIDGETS.items():
        own = widget.class_own_traits(sync=True)
        lines = [f"  {trait}: {HELD.get((name, trait)) or PLAIN[type(own[trait])]};\n" for trait in sorted(own)]
        text += f"\nexport type {name} = {{\n{''.join(lines)}}};\n"
    return text


if __name__ == "__main__":
    sys.stdout.write(typescript())
