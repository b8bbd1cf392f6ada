"""What the page can tell from a recording that came without words."""

from __future__ import annotations

from typing import Any


def gradients_of(recording: dict[str, Any]) -> dict[str, float | None]:
    """The gradients at the end of a walk, by name; constants have none."""
    found: dict[int, float] = {}
    for event in recording["events"]:
        if event["kind"] == "seed":
            found[event["node"]] = event["gradient"]
        elif event["kind"] == "push":
            found[event["operand"]] = event["after"]
    return {node["name"]: found.get(node["id"]) for node in recording["graph"]["nodes"] if not node["constant"]}
