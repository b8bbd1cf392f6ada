"""The walk over a graph as one HTML file that steps by itself: no network, no Python, from a disk or from a server.

The script is the course's own stepper. The content security policy names it and the styles by their hashes, so nothing
else can run; the recording lies in the page as data in which no letter can end it.
"""

from __future__ import annotations

import hashlib
import html
import json
from base64 import b64encode
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradwalk
from gradwalk.bundles import bundle
from gradwalk.errors import GraphError, SettingError
from gradwalk.explain.views import recorded, view_of
from gradwalk.files import AnyPath, checked_theme, format_of, write
from gradwalk.messages import counted
from gradwalk.walk.formatting import clean

if TYPE_CHECKING:
    from gradwalk.explain import Explanation
    from gradwalk.walk import Recording

__all__ = ["LARGEST", "page_of", "save_walk"]

LARGEST = 300_000  # bytes: what can go into a mail, a repository or a slide without a thought
ROOM_FOR_NUMBERS = 120_000  # bytes of that for the graphs of single numbers of tensors
MOST_NUMBERS = 64  # of tensors whose graphs are computed for a page
MOST_LINES = 60  # of the explanation below the walk
LONGEST_TITLE = 120  # characters
FORMATS = ("html", "json", "txt")

PAGE = """\
<!doctype html>
<html lang="en"{theme}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="gradwalk {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<header class="head"><h1>{title}</h1><p>{summary}</p></header>
<div class="widget wide stepper" id="walk">
<p class="fallback">Stepping needs JavaScript. What comes of it stands below.</p>
</div>
<section class="why"><h2>Every gradient as a sum over its paths</h2><pre tabindex="0">{why}</pre></section>
<footer>Made with gradwalk {version}. <code>{name}#step={half}</code> opens at step {half}.</footer>
</main>
<script type="application/json" id="recording">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def save_walk(
    told: Explanation, path: AnyPath, *, title: str | None = None, step: int = 0, theme: str = "auto"
) -> Path:
    """Write the walk over a graph to a file by its ending: a page that steps, the recording, or the explanation.

    >>> import gradwalk, tempfile
    >>> a = gradwalk.Value(3.0, label="a")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gradwalk.explain(a * a).save(folder + "/walk.html").stat().st_size < 300_000
    True
    """
    kind = format_of(path, FORMATS, "a walk")
    root = told.root if told.tensor is None else told.tensor
    if root is None:
        raise GraphError("this explanation was made without a graph; save what gradwalk.explain(root) gives")
    if kind == "txt":
        return write(path, f"{told}\n".encode("utf-8", "replace"))
    recording = recorded(root, "a saved walk")
    if kind == "json":
        return write(path, recording.to_json().encode("utf-8", "replace"))
    settings: dict[str, Any] = {"title": title, "step": step, "theme": theme, "name": Path(path).name}
    page = page_of(recording, str(told), **settings)
    if told.graph_at is not None:
        cells = _cells(recording, told.graph_at, min(ROOM_FOR_NUMBERS, LARGEST - len(page)))
        page = page_of(recording, str(told), **settings, cells=cells)
    return write(path, page)


def _cells(recording: Recording, graph_at: Any, room: int) -> dict[str, Any]:
    """The graphs of the single numbers of leaves, by "node:i,j", as many as there is room for in bytes."""
    found: dict[str, Any] = {}
    for node in recording.graph.nodes:
        shape = getattr(node.data, "shape", ()) if node.leaf else ()
        places = product(*(range(n) for n in shape)) if shape else iter(())
        for place in islice(places, MOST_NUMBERS - len(found)):
            try:
                view = view_of(recorded(graph_at(node.id, place), "the walk of one number"))
            except GraphError:
                break  # it is too large to be looked at, and so will those of its neighbours be
            room -= len(_as_data(view).encode()) + 40
            if room < 0:
                return found
            found[f"{node.id}:{','.join(map(str, place))}"] = view
    return found


def page_of(
    recording: Recording,
    why: str,
    *,
    title: str | None = None,
    step: int = 0,
    theme: str = "auto",
    name: str = "walk.html",
    cells: dict[str, Any] | None = None,
) -> bytes:
    """The page of a recording, with an explanation below the walk; `cells` are the graphs of single numbers.

    >>> page = page_of(recorded(Value(2.0, label="</script>") * 3), "").decode()
    >>> page.count("</script>"), page.count("<script")
    (2, 2)
    """
    all_steps = len(recording.events)
    checked_theme(theme)
    if type(step) is not int or not 0 <= step <= all_steps:
        raise SettingError(f"the walk has {all_steps} steps: it can begin at 0 to {all_steps}, not at {step!r:.60}")
    root = recording.graph.nodes[recording.graph.root]
    shown = f"The walk of {clean(root.name)}"
    if title is not None:
        shown = "".join(c if c.isprintable() else " " for c in str(title)[:LONGEST_TITLE]).strip()
    lines = why.splitlines()
    if len(lines) > MOST_LINES:
        left = f"… and {len(lines) - MOST_LINES:,} more lines: print(gradwalk.explain(root))"
        why = "\n".join([*lines[:MOST_LINES], left])
    script, style = bundle("page.js"), bundle("page.css")
    nodes = sum(1 for node in recording.graph.nodes if not node.constant)
    data = {**view_of(recording), "title": shown, "step": step, **({"cells": cells} if cells else {})}
    text = PAGE.format(
        theme="" if theme == "auto" else f' data-theme="{theme}"',
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        version=gradwalk.__version__,
        title=html.escape(shown),
        summary=f"{counted(nodes, 'node')}, {all_steps} steps forwards and back",
        style=style,
        why=html.escape(why),
        name=html.escape(name),
        half=all_steps // 2,
        data=_as_data(data),
        script=script,
    )
    page = text.encode("utf-8", "replace")  # half a letter, as a label may hold, is no text
    if len(page) > LARGEST:
        raise GraphError(
            f"the page would have {len(page):,} bytes, and may have {LARGEST:,}; take a smaller graph, or save the "
            'recording alone: .save("walk.json")'
        )
    return page


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _as_data(data: Any) -> str:
    """JSON for a script element: no `<` can end it, no `&` or line separator means anything in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
