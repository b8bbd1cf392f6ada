"""The command line: `gradwalk learn`, `gradwalk step`, `gradwalk train`, … One module for each command.

A command's module has a `SUMMARY`, `DESCRIPTION`, `EXAMPLES`, `add_arguments(parser)` and `run(options) -> exit code`.
To add a command, write such a module and name it in `COMMANDS`. Words go from `main` through `options`, which checks
them, to a command's `run`, and what that has to say goes out through `screen`. `train` has two more: `train_settings`,
what a run is made of, and `training_run`, which does it.

Exit codes: 0 done; 1 something failed on the way; 2 the command line is wrong, and nothing was begun (`run` raises the
error, and `main` tells it); 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import codecs
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import gradwalk
from gradwalk.cli.screen import STOPPED, complain
from gradwalk.errors import GradwalkError

__all__ = ["COMMANDS", "main"]

#: The commands, in the order in which `gradwalk --help` tells them.
COMMANDS = ("learn", "step", "train", "sweep", "grade", "doctor", "warmup", "info")

OVERVIEW = """\
gradwalk {version}: an autograd engine you can see through.

{commands}

Every command explains itself:  gradwalk train --help
In Python it begins with:       from gradwalk import Value
"""


#: Signs as they are printed where a stream cannot hold them; without its minus a number would be another one.
PLAIN = {"−": "-", "–": "-", "×": "x", "→": "->", "·": "*", "∂": "d", "…": "...", "✓": "+", "✗": "x"}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


codecs.register_error("gradwalk.plain", _plainly)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    >>> main(["--version"])
    gradwalk 0.1.0
    0
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us (`>&-`): what we print goes nowhere
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):  # on an old code page, as in a file on Windows
            stream.reconfigure(errors="gradwalk.plain")
    modules = {name: importlib.import_module(f"gradwalk.cli.{name}") for name in COMMANDS}
    try:
        options = _parsed(_parser(modules), argv)
        if options.command is None:
            print(_overview(modules), end="")  # noqa: T201
            return 0
        return int(modules[options.command].run(options))
    except SystemExit as leaving:  # argparse has printed help, the version, or what is wrong
        return leaving.code if isinstance(leaving.code, int) else 1
    except GradwalkError as error:
        complain(options.command, error)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)  # noqa: T201
        return STOPPED
    except BrokenPipeError:  # whoever read our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it ends
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        complain(options.command, f"cannot write: {error.strerror}")
        return 1


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n{self.prog} --help shows what there is\n")


def _parser(modules: dict[str, Any]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gradwalk", usage="gradwalk [-h] [--version] COMMAND ...", description=_overview(modules),
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"gradwalk {gradwalk.__version__}")
    commands = parser.add_subparsers(  # which the description lists
        prog="gradwalk", dest="command", metavar="COMMAND", help=argparse.SUPPRESS, parser_class=_Parser
    )
    for name, module in modules.items():
        command = commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
        command.set_defaults(parser=command)
        command.description, command.epilog = module.DESCRIPTION, module.EXAMPLES
        module.add_arguments(command)
    return parser


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """The options; argparse takes NAME=NUMBER in one piece only, and people put options in between."""
    options, stray = parser.parse_known_args(argv)
    unknown = [word for word in stray if word.startswith("-")]
    if stray and hasattr(options, "inputs") and not unknown:
        options.inputs += stray
    elif stray:
        getattr(options, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown or stray)}")
    return options


def _overview(modules: dict[str, Any]) -> str:
    lines = (f"  gradwalk {name:<8}{module.SUMMARY}" for name, module in modules.items())
    return OVERVIEW.format(version=gradwalk.__version__, commands="\n".join(lines))
