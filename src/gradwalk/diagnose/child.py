"""The process that a learner's engine is examined in: loads it, judges it, looks for its bugs, and says as it goes what
it is about to run.

If a program ends this process, another one takes over: it is told every outcome so far, that program's own end
among them, and goes on from there. What it says in the end is a claim (see `sandbox`).
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.checks import Check
from gradwalk.diagnose.examination import Examination
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.results import CheckResult
from gradwalk.diagnose.runner import Say, Unusable, loaded_engine, own_streams
from gradwalk.matcher import Outcome
from gradwalk.messages import verbatim

__all__ = ["main", "serve"]


def main() -> None:
    """Do the one job that the standard input names.

    >>> import json, subprocess, sys, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "engine.py").write_text(teaching.SOURCE)
    >>> job = {"file": "engine.py", "class_name": "Value", "definitions_only": False, "memory": 2**30, "seconds": 9.0}
    >>> job |= {"checks": ["a-plus-a"], "known": [], "diagnosing": True, "given_up": ""}
    >>> child = [sys.executable, "-m", "gradwalk.diagnose.child"]
    >>> done = subprocess.run(child, input=json.dumps(job), cwd=folder, capture_output=True, text=True)
    >>> words = [next(iter(json.loads(line))) for line in done.stdout.splitlines()]
    >>> words[:3], words[-1]
    (['loaded', 'begin', 'outcome'], 'report')
    """
    from gradwalk.diagnose.guard import enter  # of no use in a browser's Python, which is shut in already

    ask, say = own_streams()
    job = ask()
    if job is not None:
        serve(job, say, enter(job))
    os._exit(0)  # whatever threads the learner's code has started end here


def serve(job: dict[str, Any], say: Say, confined: list[str]) -> None:
    """Load the job's file from this folder, examine it, and say what came of it.

    >>> said = []
    >>> serve({"file": "nowhere.py", "class_name": "Value", "definitions_only": False}, said.append, [])
    >>> said[0]["refused"][:45]
    'the file cannot be loaded: FileNotFoundError:'
    """
    try:
        engine, loaded = loaded_engine(job)
    except Unusable as error:
        say({"refused": str(error), "notes": error.notes})
        return
    say({"loaded": list(loaded.notes), "confined": confined})
    examination = _Told(engine, say, job["known"], job["given_up"])
    diagnosing = job["diagnosing"] and not job["given_up"]
    report = grade(examination, source=loaded.source, checks=job["checks"], diagnosing=diagnosing)
    say({"report": report.to_dict()})


class _Told(Examination):
    """An examination that says which program it runs before it runs it, and what came of it."""

    def __init__(self, engine: Engine, say: Say, known: list[Any], given_up: str) -> None:
        super().__init__(engine)
        self.say = say
        self.given_up = given_up
        for program, outcome in known:
            self.outcomes[Probe(**{**program, "see": tuple(program["see"])})] = Outcome(**outcome)

    def judge(self, check: Check) -> CheckResult:
        if self.given_up:
            known = [self.outcomes.get(program) for program in self.programs(check)]
            if None in known and not any(outcome and outcome.error == "Stopped" for outcome in known):
                return CheckResult(check.name, check.group, check.title, "skipped", message=verbatim(self.given_up))
        return super().judge(check)

    def outcome(self, program: Probe, repeats: int = 1) -> Outcome:
        if program in self.outcomes:
            return self.outcomes[program]
        if self.given_up:
            return Outcome("missing", message=self.given_up)
        self.say({"begin": asdict(program)})
        outcome = super().outcome(program, repeats)
        self.say({"outcome": asdict(outcome)})
        return outcome


if __name__ == "__main__":
    main()
