"""The worker's command runs until SIGTERM, or says in one line why it cannot."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from command import howdah, refused
from support import Db
from workers_support import Work


def run_worker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", "worker", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nowhere:app", "module nowhere does not import: ModuleNotFoundError: No module named 'nowhere'"),
        ("broken:app", "module broken does not import: RuntimeError: half written"),
        ("workapp", "'workapp' does not name an application (Write it as MODULE:APP, such as myproject.tasks:app.)"),
        ("workapp:none", "workapp:none is missing (Make one with howdah.workers.App().)"),
        ("workapp:not_an_app", "workapp:not_an_app is not a howdah App (Make one with howdah.workers.App().)"),
        ("workapp:empty", "workapp:empty has no handlers (Register a function with @app.handler(queue).)"),
    ],
)
def test_a_target_that_cannot_run_is_one_line(target: str, said: str) -> None:
    refused(howdah("host=127.0.0.1 port=1", "worker", target), f"howdah: {said}\n")


@pytest.mark.slow
def test_the_program_says_so_too_and_ends_with_1() -> None:
    done = run_worker("broken:app", "--dsn", "host=127.0.0.1 port=1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "howdah: module broken does not import: RuntimeError: half written\n"


@pytest.mark.slow
def test_a_database_that_cannot_be_used_is_one_line(empty_dsn: str) -> None:
    for dsn in ("host=127.0.0.1 port=1", empty_dsn):
        done = run_worker("workapp:app", "--no-wait", "--dsn", dsn)
        assert done.returncode == 3, done.stderr
        assert done.stderr.startswith("howdah: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_command_runs_and_sigterm_ends_it_with_0(jobs: Work, db: Db, dsn: str) -> None:
    jobs.send("plain")
    command = [sys.executable, "-m", "howdah.cli.main", "worker", "workapp:app", "--dsn", dsn, "--log-json"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        jobs.wait_empty()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert '"event": "worker stopped"' in said
    assert dsn not in said
