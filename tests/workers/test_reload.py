"""Workers for development, which start anew when the application changes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import one, wait_until
from workers_support import Work

APP = """
from howdah.workers import App, Message, Transaction

app = App("edited")


@app.handler("work")
def work(message: Message, transaction: Transaction) -> None:
    statement = "insert into work.effects (message_id, worker) values (%s, '{}')"
    transaction.connection.execute(statement, (message.message_id,))
"""


@pytest.mark.slow
def test_workers_start_anew_when_the_application_changes_also_after_an_error(
    dsn: str, jobs: Work, tmp_path: Path
) -> None:
    source, log = tmp_path / "edited.py", tmp_path / "log"
    source.write_text(APP.format("first"))

    def handled_by() -> str:
        jobs.send("x")
        jobs.wait_empty()
        return str(one(jobs.db, "select worker from work.effects order by message_id desc limit 1"))

    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "howdah.cli.main", "worker", "edited:app", "--reload"],
            cwd=tmp_path,
            env=os.environ | {"HOWDAH_DSN": dsn, "PYTHONDONTWRITEBYTECODE": "1"},
            stderr=stderr,
        )
    try:
        assert handled_by() == "first"
        source.write_text("def broken(")
        wait_until(lambda: "module edited does not import" in log.read_text())
        source.write_text(APP.format("second"))
        assert handled_by() == "second"
    finally:
        process.terminate()
        assert process.wait(30) == 0
    wait_until(lambda: one(jobs.db, "select count(*) from howdah.list_workers()") == 0)
    assert "reloading files=['edited.py']" in log.read_text()
