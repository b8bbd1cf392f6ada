"""Colours with a meaning: blue is data, vermilion is gradient, yellow is the one thing this step is about.

The rest is ink on paper. Whatever colour tells is also told by place, word or line, so that nothing is lost under
NO_COLOR.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from gradwalk.drawing import theme

__all__ = ["DARK", "LIGHT", "prefers_light", "styles"]

LIGHT = {**theme.LIGHT, "play": "#FFD142", "play-soft": "#FFF2C4", "on-play": "#17212A", "ok": "#0B6E62"}
DARK = {**theme.DARK, "play": "#F4C838", "play-soft": "#4A3C0F", "on-play": "#17212A", "ok": "#6FD3C0"}


def styles(colours: Mapping[str, str]) -> dict[str, str]:
    """For every style that a picture or a page names, how it looks: ink and ground, as Rich writes them.

    >>> styles(LIGHT)["data"]
    '#1A5C9E on #FFFFFF'
    """
    c = colours
    return {
        "paper": f"{c['ink']} on {c['paper']}",
        "frame": f"{c['line-2']} on {c['surface']}",
        "visiting": f"bold {c['ink']} on {c['surface']}",
        "title": f"bold {c['ink']} on {c['surface']}",
        "title-visiting": f"bold {c['surface']} on {c['ink']}",
        "op": f"{c['ink-3']} on {c['surface']}",
        "card": f"{c['ink']} on {c['surface']}",
        "quiet-card": f"{c['ink-3']} on {c['surface']}",
        "empty": f"{c['ink-3']} on {c['surface']}",
        "data": f"{c['data']} on {c['surface']}",
        "grad": f"{c['grad']} on {c['surface']}",
        "data-new": f"bold {c['data']} on {c['play-soft']}",
        "grad-new": f"bold {c['grad']} on {c['play-soft']}",
        "constant": f"{c['ink-3']} on {c['well']}",
        "idle": f"{c['line-2']} on {c['paper']}",
        "passed": f"{c['data']} on {c['paper']}",
        "making": f"bold {c['data']} on {c['paper']}",
        "pushed": f"{c['grad']} on {c['paper']}",
        "play": f"bold {c['on-play']} on {c['play']}",
        "chip": f"bold {c['on-play']} on {c['play']}",
        "quiet": f"{c['ink-3']} on {c['paper']}",
        # in running text, which has the ground of its widget
        "text": c["ink"],
        "strong": f"bold {c['ink']}",
        "soft": c["ink-3"],
        "data-text": f"bold {c['data']}",
        "grad-text": f"bold {c['grad']}",
        "ok": f"bold {c['ok']}",
        "miss": f"bold {c['miss']}",
        "key": f"bold {c['ink']}",
        "marker": c["play"],
        "chosen": f"{c['paper']} on {c['ink']}",
    }


def prefers_light(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal says that its ground is light (in COLORFGBG, as several do).

    >>> prefers_light({"COLORFGBG": "0;15"}), prefers_light({"COLORFGBG": "15;0"}), prefers_light({})
    (True, False, False)
    """
    ground = environment.get("COLORFGBG", "").rpartition(";")[2]
    return ground in {"7", "9", "10", "11", "12", "13", "14", "15"}
