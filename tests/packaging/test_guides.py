"""Units, settings and command lines of pages are well formed, whether another test runs them or none."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import typer.main
from pages import WRITTEN, parts
from poolers import PGBOUNCER, pooler
from support import one

from howdah.cli.main import app


def titled(page: str, ending: str) -> dict[str, str]:
    """The files of a page whose names end so."""
    return {part.title: part.text for part in parts(page) if part.title.endswith(ending)}


def shown(text: str) -> Iterator[list[str]]:
    """The words of each command line of ours in a unit, an image or a script."""
    text = re.sub(r"\[\"howdah\".*?\]", lambda found: shlex.join(json.loads(found[0])), text)
    for line in re.findall(r"(?:^|[/ =])howdah (\w.*)$", text.replace("\\\n", " "), re.MULTILINE):
        yield [*itertools.takewhile(lambda word: word not in SHELL, shlex.split(line, comments=True))]


SHELL = {"|", "||", "&&", ";", "&", "<", ">", ">>", "2>"}

LINES = [
    (page, words)
    for page in WRITTEN
    for part in parts(page)
    if part.language in ("bash", "sh", "ini", "dockerfile", "yaml")
    for words in shown(part.text)
]


def test_there_are_command_lines_to_check() -> None:
    assert len(LINES) > 6


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("page", "words"), LINES, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_a_command_line_that_is_not_run_has_options_that_exist(page: str, words: list[str]) -> None:
    command: Any = typer.main.get_command(app)
    left = list(words)
    while hasattr(command, "commands"):
        command = command.commands[left.pop(0)]
    command.make_context("howdah", left)  # refuses an option that does not exist


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_units_are_valid(tmp_path: Path) -> None:
    units = titled("docs/guides/deployment.md", ".service")
    assert len(units) == 2
    for name, text in units.items():
        # What it names is on the reader's machine and not here.
        here = (
            text.replace("/opt/shop/bin/howdah", "/bin/true")
            .replace("/opt/shop", "/")
            .replace("User=shop", "User=root")
        )
        unit = tmp_path / name.replace("@.", "@shop.")
        unit.write_text(here)
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, [line for line in done.stderr.splitlines() if name.split("@")[0] in line]) == (0, [])


def test_the_worker_alone_gets_the_signal() -> None:
    (worker,) = titled("docs/guides/deployment.md", "worker@.service").values()
    assert "KillMode=mixed" in worker


@pytest.mark.skipif(PGBOUNCER is None, reason="needs pgbouncer")
def test_the_poolers_settings_are_those_that_tests_use(dsn: str) -> None:
    (settings,) = titled("docs/guides/java-go-node.md", "pgbouncer.ini").values()
    assert {"pool_mode = transaction", "ignore_startup_parameters = extra_float_digits"} <= set(settings.splitlines())
    with pooler(dsn) as through, psycopg.connect(through, autocommit=True, prepare_threshold=None) as db:
        assert one(db, "select howdah.create_queue('q')")
