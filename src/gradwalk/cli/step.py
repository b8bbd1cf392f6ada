"""`gradwalk step`: watch a graph being computed and its gradients walk back, one step at a time."""

from __future__ import annotations

import argparse
import os
import sys

from gradwalk.errors import SettingError
from gradwalk.presets import PRESETS
from gradwalk.stepper.subject import Subject, numbers, subject
from gradwalk.stepper.transcript import transcript
from gradwalk.walk import record

__all__ = ["SUMMARY", "add_arguments", "run"]

SUMMARY = "walk a graph step by step, forwards and back"

DESCRIPTION = """\
Watch a graph being computed, and its gradients walk back, one step at a time.
Arrow keys go back and forth, b starts the backward pass, space plays, o puts
the visits in another order, ? shows every key. Where there is no terminal, in a
pipe or a file, the walk is printed as text.

WHAT is one of
  a preset       neuron, diamond, ... (gradwalk step --list shows them)
  an expression  "(a+b)*c" a=2 b=-3 c=10; steps between semicolons:
                 "d = a*b; L = d + c"
  a script       my_script.py:loss runs the script from start to end, in a fresh
                 namespace as `python my_script.py` would, and takes the Value
                 or Tensor called loss; enter opens a tensor's numbers
"""

EXAMPLES = """\
examples:
  gradwalk step neuron
  gradwalk step "(a+b)*c" a=2 b=-3 c=10
  gradwalk step my_script.py:loss
  gradwalk step diamond --order c,d,b,a
  gradwalk step neuron x1=1 > walk.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk step`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["(a+b)*c", "a=2", "b=-3", "c=10"]).inputs
    ['a=2', 'b=-3', 'c=10']
    """
    add = parser.add_argument
    add("what", nargs="?", metavar="WHAT", help="a preset, an expression, or FILE.py:NAME")
    add("inputs", nargs="*", metavar="NAME=NUMBER", help="numbers for an expression, or other ones for a preset")
    add("--order", metavar="NODES",
        help="visit the nodes in that order, as in c,d,b,a, and judge it (default: the engine's order)")  # fmt: skip
    add("--plain", action="store_true", help="print the walk as text, on a terminal too")
    add("--json", action="store_true", help="for machines: the graph, every step and the verdict as one JSON object")
    add("--list", action="store_true", help="list the presets")


def run(options: argparse.Namespace) -> int:
    """Step through it, or print it.

    >>> run(argparse.Namespace(what="a+a", inputs=[], order=None, plain=True, json=False, list=False))
    ... # doctest: +ELLIPSIS
    a + a
      b = a + a
    ...
    0
    """
    if options.list:
        _list()
        return 0
    if options.what is None:
        raise SettingError("say what to step through, as in gradwalk step neuron; --list shows the presets")
    thing = subject(options.what, numbers(options.inputs))
    order = None if options.order is None else _order(options.order, thing)
    recording = record(thing.root, order)
    if options.json:
        print(recording.to_json())  # noqa: T201
    elif options.plain or not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        for line in transcript(recording, thing, judged=options.order is not None):
            print(line)  # noqa: T201
    else:
        from gradwalk.stepper.app import Stepper

        Stepper(thing, recording, judged=options.order is not None).run()
    return 0


def _order(text: str, thing: Subject) -> list[str | int]:
    """Names or ids with commas between them; a name that is a number is an id only if no node has that label."""
    names = {node.name for node in record(thing.root).graph.nodes}
    parts = [part.strip() for part in text.split(",")]
    return [int(part) if part.isdecimal() and part not in names else part for part in parts if part]


def _list() -> None:
    width = max(map(len, PRESETS))
    for name, preset in PRESETS.items():
        print(f"{name:<{width}}  {preset.title:<22}  {'; '.join(preset.text.splitlines())}"[:80].rstrip())  # noqa: T201
