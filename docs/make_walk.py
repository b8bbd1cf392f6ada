"""Draws docs/walk.svg, the picture at the top of the README: one backward walk, its numbers from the engine itself."""

from __future__ import annotations

from pathlib import Path

from gradwalk import Value, walk

INK, QUIET, LINE, PAPER, SURFACE = "#17212A", "#5A6771", "#7F8C92", "#F3F6F5", "#FFFFFF"
DATA, DATA_SOFT, GRAD, GRAD_SOFT = "#1A5C9E", "#E2EDF8", "#A83E0C", "#FCE9DE"
MONO = "ui-monospace, 'SF Mono', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
WIDTH, HEIGHT, CARD, ROW = 860, 330, 112, 22

#: Where each card's left upper corner is.
PLACES = {
    "a": (30, 40),
    "b": (30, 190),
    "e": (250, 115),
    "c": (250, 225),
    "d": (470, 150),
    "f": (470, 30),
    "L": (710, 90),
}


def picture() -> str:
    """The graph of L = (a * b + c) * f after backward(), as SVG."""
    a, b, c, f = (Value(x, label=name) for name, x in (("a", 2.0), ("b", -3.0), ("c", 10.0), ("f", -2.0)))
    e = a * b
    e.label = "e"
    d = e + c
    d.label = "d"
    root = d * f
    root.label = "L"
    root.backward()
    nodes = list(walk.topological(root))
    pushes = [step for step in walk.record(root).events if isinstance(step, walk.Push)]
    body = "".join(edge(nodes[step.node], nodes[step.operand], step.local) for step in pushes)
    body += "".join(card(node) for node in nodes)
    body += text(30, HEIGHT - 22, "L = (a·b + c)·f", INK, 15)
    body += text(WIDTH - 30, HEIGHT - 22, "operand.grad += node.grad × ∂node/∂operand", GRAD, 13, "end")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="{MONO}"><title>A backward walk over L = (a·b + c)·f</title>'
        "<desc>Each card shows a node's number in blue and its gradient in orange. Arrows run from each node back to "
        "its operands and carry the local derivative.</desc>"
        f'<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{GRAD}"/></marker></defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="14" fill="{PAPER}"/>{body}</svg>\n'
    )


def card(node: Value) -> str:
    """A node: what it is called, its data, its gradient."""
    x, y = PLACES[node.label]
    name = node.label if not node.operands else f"{node.label} = {'·'.join(v.label for v in node.operands)}"
    if node._op == "+":
        name = name.replace("·", " + ")
    rows = "".join(
        f'<rect x="{x + 8}" y="{y + 26 + k * (ROW + 4)}" width="{CARD - 16}" height="{ROW}" rx="4" fill="{soft}"/>'
        + text(x + 14, y + 41 + k * (ROW + 4), what, colour, 11)
        + text(x + CARD - 14, y + 42 + k * (ROW + 4), walk.readable(number), colour, 14, "end")
        for k, (what, number, colour, soft) in enumerate(
            (("data", node.data, DATA, DATA_SOFT), ("grad", node.grad, GRAD, GRAD_SOFT))
        )
    )
    frame = (
        f'<rect x="{x}" y="{y}" width="{CARD}" height="{34 + 2 * (ROW + 4)}" rx="8" fill="{SURFACE}" stroke="{LINE}"/>'
    )
    return frame + text(x + 12, y + 18, name, INK, 13) + rows


def edge(node: Value, operand: Value, local: float | None) -> str:
    """An arrow from a node back to an operand, with the local derivative on it."""
    (x1, y1), (x2, y2) = PLACES[node.label], PLACES[operand.label]
    y1, x2, y2 = y1 + 43, x2 + CARD, y2 + 43
    middle = (x1 + x2) / 2
    label_y = (y1 + y2) / 2 + 4
    curve = (
        f'<path d="M{x1} {y1}C{middle} {y1} {middle} {y2} {x2 + 2} {y2}" fill="none" stroke="{GRAD}" '
        'stroke-width="1.6" marker-end="url(#head)"/>'
    )
    chip = f'<rect x="{middle - 24}" y="{label_y - 14}" width="48" height="19" rx="4" fill="{PAPER}"/>'
    return curve + chip + text(middle, label_y, f"× {walk.readable(local)}", QUIET, 12, "middle")


def text(x: float, y: float, words: str, colour: str, size: int, anchor: str = "start") -> str:
    """A line of text."""
    return f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


if __name__ == "__main__":
    Path(__file__).with_name("walk.svg").write_text(picture(), encoding="utf-8")
