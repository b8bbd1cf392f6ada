"""Serves the course while somebody writes it: builds again at every change, reloads the page, and checks the numbers.

    python web/course_dev.py [--port N]      or: make course-dev

A lesson is built as soon as it is saved, with what Python exported before; a change of the Python that runs in the page
takes the whole build. What is wrong with a lesson is said here, and each `{{ number }}` that the engine does not give.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]
import build_site
from learn.lesson_numbers import agrees, run_lesson

from gradwalk.learn.server import make_server

PAUSE = 0.4  # seconds between two looks at the files
Times = dict[Path, int]


def saved() -> Times:
    """When each source was saved."""
    return {
        path: path.stat().st_mtime_ns
        for folder, patterns in build_site.SOURCES.items()
        for pattern in patterns
        for path in folder.glob(pattern)
        if path.is_file() and "__pycache__" not in path.parts and not path.is_relative_to(build_site.SITE)
    }


def changes(before: Times, now: Times) -> set[Path]:
    """What is new, was saved again, or has gone."""
    return {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}


def build(changed: set[Path]) -> bool:
    """Build what these changes call for; whether it worked. What went wrong has been said."""
    python = any(path.suffix == ".py" for path in changed)
    node = build_site.find_node()
    if node is None:
        raise build_site.CannotBuild("no Node: python web/build_site.py --fetch-node")
    began = time.monotonic()
    command = [str(node[0]), "build.mjs", "--dev", *([] if python else ["--exported"])]
    done = subprocess.run(command, cwd=build_site.WEB, check=False).returncode == 0
    print(f"built in {time.monotonic() - began:.1f} s" if done else "not built: the page stays as it was", flush=True)
    return done


def wrong_numbers(lesson: Path) -> Iterator[str]:
    """Each number of a lesson that is not what the engine gives, with its line."""
    try:
        for line, expression, shown, value in run_lesson(lesson):
            if not agrees(value, shown):
                yield f"{lesson.name}:{line}: {expression} is {value!r}, and the lesson shows {shown}"
    except Exception as error:
        yield f"{lesson.name}: {type(error).__name__}: {error}"


def watch(ended: threading.Event) -> None:
    """Build and check at every change, until it is over."""
    before = saved()
    while not ended.wait(PAUSE):
        now = saved()
        changed = changes(before, now)
        before = now
        if changed:
            build(changed)
            for lesson in sorted(path for path in changed if path.suffix == ".md" and path.parent.name == "en"):
                for words in wrong_numbers(lesson) if lesson.is_file() else ():
                    print(words, flush=True)


def main() -> int:
    """Build, serve, watch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    try:
        build_site.install()
        if not build({Path("all.py")}):
            return 1
    except build_site.CannotBuild as error:
        print(error, file=sys.stderr)
        return 1
    ended = threading.Event()
    with make_server(build_site.SITE, options.port) as server:
        print(f"The course is at {server.address}   (Ctrl-C ends it)", flush=True)
        watcher = threading.Thread(target=watch, args=(ended,))
        watcher.start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            ended.set()
            watcher.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
