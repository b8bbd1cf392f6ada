"""`gradwalk doctor script.py`: run a training script as it is, watch it, and say what is wrong."""

from __future__ import annotations

import argparse
import contextlib
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gradwalk.cli import options as option
from gradwalk.cli.screen import FAILED, STOPPED, complain, console
from gradwalk.doctor.watch import EVERY, Visit
from gradwalk.errors import GradwalkError, SettingError

if TYPE_CHECKING:
    from gradwalk.doctor import Report

__all__ = ["SUMMARY", "add_arguments", "run", "run_script"]

SUMMARY = "watch a training script and say what is wrong with it"

DESCRIPTION = """\
Run a training script as it is, and watch it: every backward(), every step of an
optimiser. Its output passes through. At the end, whatever ends it (an error, a
nan, Ctrl-C), a report says what is wrong, where, why, and what to try.

Options for the doctor come before the script; whatever follows is the script's.
"""

EXAMPLES = """\
examples:
  gradwalk doctor train.py
  gradwalk doctor --html report.html train.py --steps 20
  gradwalk doctor --json train.py > report.json

exit code: 0 nothing found; 1 something found; else the script's own (1 if it
failed, 130 if it was stopped by Ctrl-C)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk doctor`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["--every", "5", "train.py", "--steps", "3"]).arguments
    ['--steps', '3']
    """
    add = parser.add_argument
    add("--every", type=option.whole(1), default=EVERY, metavar="N",
        help=f"examine some of the first steps and every Nth in full (default: {EVERY})")  # fmt: skip
    add("--json", action="store_true", help="for machines: the report as JSON on stdout, all else on stderr")
    add("--html", type=Path, metavar="FILE", help="write the report there too, as a page for a browser (default: none)")
    add("script", type=Path, metavar="SCRIPT", help="a Python program that trains something with gradwalk")
    add("arguments", nargs=argparse.REMAINDER, metavar="…", help="passed on to the script")


def run(options: argparse.Namespace) -> int:
    """Run the script under observation; gives the exit code.

    >>> main(["doctor", "no-such-file.py"])
    2
    """
    _check(options)
    visit = Visit(every=options.every)
    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        code = run_script(options.script, options.arguments, visit)
    sys.stdout.flush()
    report = visit.report()
    if options.json:
        print(report.json())  # noqa: T201
    else:
        _show(report)
    if options.html is not None:
        try:
            options.html.write_text(report.html(f"gradwalk doctor: {options.script.name}"), encoding="utf-8")
        except OSError as error:
            complain("doctor", f"--html: cannot write {options.html}: {error.strerror or error}")
            return FAILED
    return FAILED if report else code


def _check(options: argparse.Namespace) -> None:
    script = options.script
    if script.is_dir():
        raise SettingError(f"{script} is a folder; name the Python file to run")
    if not script.is_file():
        raise SettingError(f"there is no script {script}")
    if options.html is not None:
        try:
            option.can_write(options.html)
        except GradwalkError as error:
            raise SettingError(f"--html: {error}") from error
        if options.html.resolve() == script.resolve():
            raise SettingError(f"--html names the script itself, {script}: give the report a file of its own")


# --- running the script -----------------------------------------------------------------------------------------------


def run_script(script: Path, arguments: list[str], visit: Visit) -> int:
    """Run a program as `python script` would, under observation; gives its exit code. Its failure is printed.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     script = pathlib.Path(folder, "hello.py")
    ...     _ = script.write_text("import sys; print(sys.argv[1:], __name__); sys.exit(3)")
    ...     run_script(script, ["--steps", "2"], Visit())
    ['--steps', '2'] __main__
    3
    """
    failure: BaseException | None = None
    with _as_main(script, arguments) as module:
        linecache.checkcache(str(script))
        linecache.getlines(str(script))  # now: the script may change the folder, and lines are shown at the end
        visit.start()
        try:
            code = compile(script.read_bytes(), str(script), "exec")
            exec(code, vars(module))
        except BaseException as error:
            failure = error
        finally:
            visit.stop(failure)
    return _told(failure, str(script))


@contextlib.contextmanager
def _as_main(script: Path, arguments: list[str]) -> Iterator[ModuleType]:
    """The world as a script sees it: its arguments, its folder, and itself as `__main__`."""
    held = sys.argv, sys.path[:], sys.modules["__main__"]
    module = ModuleType("__main__")
    module.__file__ = str(script)
    vars(module).update(__builtins__=__builtins__, __spec__=None)
    sys.argv, sys.modules["__main__"] = [str(script), *arguments], module
    sys.path.insert(0, str(script.resolve().parent))
    try:
        yield module
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = held


def _told(failure: BaseException | None, script: str) -> int:
    """The exit code of a script that ended so; an error is printed as Python prints it."""
    if failure is None:
        return 0
    if isinstance(failure, SystemExit):
        if isinstance(failure.code, int) or failure.code is None:
            return failure.code or 0
        print(failure.code, file=sys.stderr)  # noqa: T201
        return FAILED
    if isinstance(failure, KeyboardInterrupt):
        complain("doctor", "the script was stopped by Ctrl-C")
        return STOPPED
    at = failure.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename != script:  # our own frames are of no interest
        at = at.tb_next
    traceback.print_exception(type(failure), failure, at)
    return FAILED


# --- showing the report -----------------------------------------------------------------------------------------------


def _show(report: Report) -> None:
    from rich.text import Text

    text = Text(f"\n{report}")
    for pattern, style in _STYLES:
        text.highlight_regex(pattern, style)
    console().print(text, soft_wrap=True)


#: What stands out in a report on a terminal.
_STYLES: tuple[tuple[Any, str], ...] = (
    (re.compile(r"^doctor: nothing found$", re.M), "ok"),
    (re.compile(r"^doctor: .*$", re.M), "strong"),
    (re.compile(r"^(looked at .*|in passing:)$", re.M), "quiet"),
    (re.compile(r"^\d+  ERROR  .*$", re.M), "strong"),
    (re.compile(r"^\d+  WARNING  .*$", re.M), "strong"),
    (re.compile(r"(?<=^\d  )ERROR(?=  )", re.M), "miss"),
    (re.compile(r"(?<=^\d  )WARNING(?=  )", re.M), "grad"),
    (re.compile(r"^   (where|why  |try  )", re.M), "quiet"),
)
