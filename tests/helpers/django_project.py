"""A Django project on the test's database, in processes of its own: settings belong to a process."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1] / "django" / "project"
ROOT = Path(__file__).resolve().parents[2]
DJANGO_6 = ROOT / "build" / "django6" / "bin" / "python"
"""A Python with Django 6, whose Tasks need Python 3.12; .ci/run makes it."""


@dataclass
class Site:
    """Runs the project with one Python."""

    python: str
    dsn: str
    folder: Path

    def _run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HOWDAH_DSN": self.dsn, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": ""}
        done = subprocess.run(
            [self.python, *words],
            check=False,
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
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
