"""The process that a learner's engine lives in: loads it, judges it, and says as it goes what it is about to run.

If a program ends this process, another one takes over: it is told every outcome so far, that program's own end
among them, and goes on from there.

What the engine prints, reads or does to the standard streams cannot reach the conversation: before the learner's file
is loaded, that has moved to file descriptors of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gradwalk.diagnose.adapter import Engine, NotAnEngine, find_class
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.guard import forbid, limit_memory
from gradwalk.diagnose.loading import load
from gradwalk.diagnose.probes import Probe
from gradwalk.matcher import Outcome

__all__ = ["main"]

Say = Callable[[dict[str, Any]], None]


def main() -> None:
    """Do the one job that the standard input names.

    >>> import json, subprocess, sys, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text("from gradwalk import Value")
    >>> job = {"path": str(path), "class_name": "Value", "definitions_only": False, "memory": 2**30}
    >>> job |= {"checks": ["a-plus-a"], "known": [], "diagnosing": True}
    >>> child = [sys.executable, "-m", "gradwalk.diagnose.child"]
    >>> said = subprocess.run(child, input=json.dumps(job) + chr(10), capture_output=True, text=True).stdout
    >>> words = [next(iter(json.loads(line))) for line in said.splitlines()]
    >>> words[:3], words[-1]
    (['loaded', 'begin', 'outcome'], 'report')
    """
    job, say = _own_streams()
    limit_memory(job["memory"])
    forbid([Path.cwd()])  # an empty folder that is thrown away
    try:
        loaded = load(Path(job["path"]), definitions_only=job["definitions_only"])
        engine = Engine(find_class(loaded.namespace, job["class_name"]), loaded.namespace, job.get("names"))
    except SyntaxError as error:
        say({"refused": f"line {error.lineno} is no Python: {error.msg}"})
    except NotAnEngine as error:
        say({"refused": str(error)})
    except Exception as error:
        say({"refused": f"the file cannot be loaded: {type(error).__name__}: {str(error)[:300]}"})
    else:
        say({"loaded": list(loaded.notes)})
        examination = _Told(engine, say, job["known"])
        report = grade(examination, source=loaded.source, checks=job["checks"], diagnosing=job["diagnosing"])
        say({"report": report.to_dict()})


class _Told(Examination):
    """An examination that says which program it runs before it runs it, and what came of it."""

    def __init__(self, engine: Engine, say: Say, known: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
        super().__init__(engine)
        self.say = say
        for program, outcome in known:
            self.outcomes[Probe(**{**program, "see": tuple(program["see"])})] = Outcome(**outcome)

    def outcome(self, program: Probe, repeats: int = 1) -> Outcome:
        if program in self.outcomes:
            return self.outcomes[program]
        self.say({"begin": asdict(program)})
        outcome = super().outcome(program, repeats)
        self.say({"outcome": asdict(outcome)})
        return outcome


def _own_streams() -> tuple[dict[str, Any], Say]:
    """The job, and a way to answer that nothing else has; the standard streams lead to nothing and to the errors."""
    job = json.loads(os.fdopen(os.dup(0), "r", encoding="utf-8").readline())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def say(what: dict[str, Any]) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    return job, say


if __name__ == "__main__":
    main()
    os._exit(0)  # whatever threads the learner's code has started end here
