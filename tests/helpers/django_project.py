"""A Django project on the test's database, in processes of its own: settings belong to a process."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1] / "django" / "project"
ROOT = Path(__file__).resolve().parents[2]
DJANGO_6 = ROOT / "build" / "django6" / "bin" / "python"
"""A Python with Django 6, whose Tasks need Python 3.12; .ci/run makes it."""


ENVIRONMENT = {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": ""}


@cache
def _parent(python: str) -> subprocess.Popen[str]:
    """A process that has imported what takes long, and forks for each run: settings belong to a process."""
    pipe = subprocess.PIPE
    parent = subprocess.Popen(
        [python, "parent.py"], cwd=PROJECT, env={**os.environ, **ENVIRONMENT}, stdin=pipe, stdout=pipe, text=True
    )
    atexit.register(_end, parent)
    return parent


def _end(parent: subprocess.Popen[str]) -> None:
    parent.communicate(timeout=60)


@dataclass
class Site:
    """Runs the project with one Python."""

    python: str
    dsn: str
    folder: Path

    #: More variables of the environment.
    more: dict[str, str] = field(default_factory=dict)

    def _run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        environment = {**ENVIRONMENT, "HOWDAH_DSN": self.dsn, **self.more}
        streams = [self.folder / name for name in ("stdout", "stderr")]
        asked = {"words": words, "environment": environment, "streams": list(map(str, streams))}
        parent = _parent(self.python)
        assert parent.stdin is not None
        assert parent.stdout is not None
        print(json.dumps(asked), file=parent.stdin, flush=True)
        code = int(parent.stdout.readline())
        done = subprocess.CompletedProcess(words, code, *(stream.read_text() for stream in streams))
        assert not check or done.returncode == 0, done.stderr
        return done

    def manage(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run manage.py."""
        return self._run("manage.py", *words, check=check)

    def run(self, statements: str) -> Any:
        """Run statements; the result is what they leave in ``out``."""
        return json.loads(self._run("run.py", statements).stdout.splitlines()[-1])

    def work(self) -> None:
        """Run all tasks that are due."""
        self.run("work()")
