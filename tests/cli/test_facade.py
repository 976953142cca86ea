"""howdah facade: another queue's SQL API is installed and removed."""

from __future__ import annotations

import pytest
from command import howdah, refused
from support import Db, one

from howdah import migrations

pytestmark = pytest.mark.own_database


def test_a_facade_is_installed_and_removed(dsn: str, db: Db) -> None:
    assert howdah(dsn, "facade", "install", "pgmq").out == "facade pgmq installed\n"
    assert howdah(dsn, "facade", "install", "pgmq", "--json").json == {"facade": "pgmq", "installed": True}
    db.execute("select pgmq.create('tasks')")
    assert howdah(dsn, "facade", "remove", "pgmq", "--yes").out == "facade pgmq removed\n"
    assert one(db, "select to_regnamespace('pgmq')") is None
    refused(howdah(dsn, "facade", "remove", "pgmq", "--yes"), "no facade pgmq is installed")


def test_taking_over_says_at_a_terminal_what_it_is_at(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "adopt_pgmq", lambda dsn: {"tasks": 3})
    watched = howdah(dsn, "facade", "adopt", "pgmq", "--yes", watched=True)
    assert "taking over the queues of pgmq" in watched.err
    assert watched.out == "facade pgmq has adopted tasks (3 messages)\n"
    assert howdah(dsn, "facade", "adopt", "pgmq", "--yes").err == ""


def test_a_facade_that_there_is_not_is_a_wrong_argument(dsn: str) -> None:
    result = howdah(dsn, "facade", "install", "sqs")
    assert result.code == 2
    assert "only pgmq" in result.err


@pytest.mark.parametrize("verb", ["install", "adopt", "remove"])
def test_a_server_that_does_not_answer_is_said_with_3(verb: str) -> None:
    result = howdah("postgresql://nobody@127.0.0.1:1/x", "facade", verb, "pgmq")
    assert result.code == 3
    assert "cannot connect" in result.err
