"""gradwalk in three parts: ten lines of code, a backward walk told step by step, and a network that learns two moons.

python examples/demo.py              about ten seconds; pictures go to out/demo
python examples/demo.py --out DIR    put the pictures there
"""

from __future__ import annotations

import argparse
import contextlib
import io
import platform
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from gradwalk import Value, plot, walk
from gradwalk.cli.options import whole
from gradwalk.cli.screen import console, follow
from gradwalk.cli.train import training_for
from gradwalk.cli.train_settings import PRESETS
from gradwalk.errors import GradwalkError

TEN_LINES = """\
from gradwalk import Value

a, b, c = Value(2.0), Value(-3.0), Value(10.0)
loss = (a * b + c) ** 2                  # each result remembers its operands
loss.backward()                          # and the gradients walk back
print("loss", loss.data, " gradients", a.grad, b.grad, c.grad)

for v in (a, b, c):                      # a small step downhill
    v.data -= 0.001 * v.grad
print("loss", round(((a * b + c) ** 2).data, 4), " after the step")
"""


def main(argv: list[str] | None = None) -> int:
    """Run all three parts; gives the exit code."""
    options = parsed(argv)
    out = console()
    try:
        plot.require()
        options.out.mkdir(parents=True, exist_ok=True)
        part_one(out)
        part_two(out)
        part_three(out, options.steps, options.out)
    except KeyboardInterrupt:
        out.print("\nstopped")
        return 130
    except (GradwalkError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The options of the demo."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), metavar="DIR", help="folder for the pictures")
    parser.add_argument("--steps", type=whole(1), default=PRESETS["moons"].steps, metavar="N", help="training steps")
    return parser.parse_args(argv)


def heading(out: Console, number: int, words: str) -> None:
    """The first line of a part."""
    out.print()
    out.print(Rule(Text(f"{number}  {words} ", style="strong"), align="left", style="quiet"))
    out.print()


# --- 1: ten lines ----------------------------------------------------------------------------------------------------


def part_one(out: Console) -> None:
    """Show ten lines, and run exactly those."""
    heading(out, 1, "Ten lines")
    for line in TEN_LINES.splitlines():
        code, mark, remark = line.partition("#")
        out.print(Text.assemble("  ", code, (mark + remark, "quiet")))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(TEN_LINES, {})
    out.print("\nprints\n")
    for line in printed.getvalue().splitlines():
        out.print(Text(f"  {line}", style="data"))


# --- 2: the walk -----------------------------------------------------------------------------------------------------


def part_two(out: Console) -> None:
    """Expression L, forwards and backwards, with the numbers in every formula."""
    heading(out, 2, "A backward walk, step by step")
    a, b, c, f = leaves = named(a=2.0, b=-3.0, c=10.0, f=-2.0)
    e = a * b
    e.label = "e"
    d = e + c
    d.label = "d"
    L = d * f
    L.label = "L"

    out.print("Forward: each number is computed from those before it.\n")
    out.print(Text("  ").append_text(Text("   ").join(equation(v.label, v.data, "data") for v in leaves)))
    nodes, recording = list(walk.topological(L)), walk.record(L)
    for step in recording.events:
        if isinstance(step, walk.Compute):
            tell_forward(out, nodes[step.node])

    out.print("\nBackward: how fast does L change with each of them? Begin at L and walk back.")
    out.print("A node is visited once all that use it have pushed; then it pushes in turn.")
    out.print("A gradient that nothing has reached yet is absent, and absent is not 0.\n")
    for step in recording.events:
        tell_backward(out, step, nodes)

    L.backward()
    same = all(node.grad == recording.grads[i] for i, node in enumerate(nodes))
    out.print(f"\nL.backward() does all of that, and fills in {'the same' if same else 'OTHER'} numbers:\n")
    out.print(Text("  ").append_text(Text("   ").join(equation(f"{v.label}.grad", v.grad, "grad") for v in leaves)))


def named(**numbers: float) -> list[Value]:
    """Leaves, each with its name for a label."""
    return [Value(x, label=name) for name, x in numbers.items()]


def equation(name: str, x: float, style: str) -> Text:
    """`name = x`, the number in the colour of its meaning."""
    return Text.assemble(f"{name} = ", (walk.readable(x), style))


def tell_forward(out: Console, node: Value) -> None:
    """A node as its formula, with names and with numbers."""
    names = walk.formula(node._op, [v.label for v in node.operands])
    numbers = walk.formula(node._op, [walk.readable(v.data) for v in node.operands])
    formula = f"{names} = {numbers}".replace("*", "×")
    out.print(Text("  ").append_text(equation(f"{node.label} = {formula}", node.data, "data")))


def tell_backward(out: Console, step: walk.Event, nodes: list[Value]) -> None:
    """One event of the walk back as one line."""
    name = nodes[step.node].label
    match step:
        case walk.Seed(gradient=gradient):
            out.print(Text("  seed   ").append_text(equation(f"{name}.grad = ∂{name}/∂{name}", gradient, "grad")))
        case walk.Visit(gradient=gradient):
            line = Text(f"  visit  {name}  its gradient, ").append(walk.readable(gradient), style="grad")
            out.print(line.append(", is final"))
        case walk.Push():
            to = nodes[step.operand].label
            line = Text(f"    {to}.grad += {name}.grad × ∂{name}/∂{to} = ")
            line.append(walk.readable(step.upstream), style="grad").append(" × ")
            line.append(walk.readable(step.local), style="play").append(" = ")
            line.append(walk.readable(step.contribution), style="grad")
            line.pad_right(46 - len(line))
            before, after = walk.readable(step.before), walk.readable(step.after)
            out.print(line.append(f"(before: {before}, after: {after})", style="quiet"))


# --- 3: the moons ----------------------------------------------------------------------------------------------------


def part_three(out: Console, steps: int, folder: Path) -> None:
    """Train on moons, and draw what came of it."""
    heading(out, 3, "A network learns two moons")
    settings = replace(PRESETS["moons"], steps=steps)
    training = training_for("moons", settings)
    count = len(training.model.parameters())
    out.print(
        f"{settings.shape}, {settings.activation}: {count} parameters, each a Value, and {settings.samples} points."
    )
    out.print("Every step builds a graph of all that is computed, and walks it back.\n")
    for _ in follow(training, steps, out):
        pass
    training.restore_best()
    right = round(training.measure()[1] * settings.samples)
    out.print(f"\n{right} of {settings.samples} points are on the right side. Two pictures of it:\n")

    words = f"{settings.activation}, {count} parameters, {settings.samples} points"
    boundary = plot.decision_boundary(training.model, training.X, training.y, title=settings.shape, details=words)
    pictures = (
        ("the loss, step by step", plot.save(plot.loss_curve(training.losses), folder / "loss.png")),
        ("the score as a map", plot.save(boundary, folder / "boundary.png")),
    )
    opener = {"Darwin": "open", "Windows": "start"}.get(platform.system(), "xdg-open")
    for what, picture in pictures:
        out.print(f"  {what:<24}{opener} {picture}", soft_wrap=True, markup=False)
    out.print(f"  {'and then try':<24}gradwalk train spiral --plot spiral.png\n")


if __name__ == "__main__":
    sys.exit(main())
