"""`howdah link`: from its creation to its end, on two engines."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest
from command import howdah
from links_support import VARIABLE, bodies
from support import Connect, wait_until


@pytest.fixture
def other(new_engine: Callable[[], str], connect: Connect, monkeypatch: pytest.MonkeyPatch) -> str:
    """Another engine with a queue; the first one has one, too."""
    dsn = new_engine()
    monkeypatch.setenv(VARIABLE, dsn)
    connect().execute("select howdah.create_queue('out')")
    with psycopg.connect(dsn) as db:
        db.execute("select howdah.create_queue('in')")
    return dsn


def create(dsn: str, *more: object) -> None:
    """Create the link of these tests."""
    made = howdah(dsn, "link", "create", "far", "--from", "out", "--to", "in", "--dsn-env", VARIABLE, *more)
    assert (made.code, made.out) == (0, "link far created\n")


def test_a_link_is_made_changed_paused_and_dropped(dsn: str, other: str) -> None:
    """Each command says what it did."""
    create(dsn, "--selector", "n > 1", "--batch-size", 10)
    assert howdah(dsn, "link", "alter", "far", "--selector", "", "--to", "in2").code == 0
    (row,) = howdah(dsn, "link", "list", "--json").json
    wanted = ("far", "out", "in2", VARIABLE, None, 10, "idle")
    keys = ("name", "source", "target_queue", "dsn_env", "selector", "batch_size", "state")
    assert tuple(row[key] for key in keys) == wanted
    assert howdah(dsn, "link", "pause", "far").out == "link far paused\n"
    assert howdah(dsn, "link", "pause", "far").out == "link far was paused\n"
    assert howdah(dsn, "link", "status", "far", "--json").json["state"] == "paused"
    assert howdah(dsn, "link", "resume", "far").out == "link far resumed\n"
    assert howdah(dsn, "link", "rebase", "far", "--yes").code == 0
    assert howdah(dsn, "link", "drop", "far").out == "link far dropped\n"
    assert howdah(dsn, "link", "list").out == "no links\n"
    assert howdah(dsn, "link", "status", "far").code == 2


def test_status_shows_what_waits_and_the_last_error(dsn: str, other: str, connect: Connect) -> None:
    """An operator reads it when messages do not arrive."""
    create(dsn)
    connect().execute("select howdah.send('out', 'one')")
    connect().execute("update howdah.links set away_since = howdah.now(), last_error = 'no route', error_at = now()")
    shown = howdah(dsn, "link", "status", "far")
    facts = dict(line.split(maxsplit=1) for line in shown.out.splitlines() if " " in line)
    assert shown.code == 1
    assert {"state": "away", "waiting": "1", "last_error": "no route"}.items() <= facts.items()
    assert "error_at" in facts


def test_a_dsn_is_no_service(dsn: str, other: str) -> None:
    """A password would lie in the database."""
    said = howdah(dsn, "link", "create", "far", "--from", "out", "--to", "in", "--service", "host=x password=y")
    assert said.code == 1
    assert "never a DSN" in said.err


@pytest.mark.slow
def test_run_forwards_until_it_is_told_to_stop(dsn: str, other: str, connect: Connect) -> None:
    """The other side lists what came, and forgets it once the link is dropped."""
    create(dsn)
    connect().execute("select howdah.send('out', 'one')")
    process = subprocess.Popen(
        [sys.executable, "-m", "howdah", "link", "run", "far"],
        env=os.environ | {"HOWDAH_DSN": dsn},
        stderr=subprocess.DEVNULL,
    )
    with psycopg.connect(other, autocommit=True) as db:
        wait_until(lambda: bodies(db) == ["one"])
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    (row,) = howdah(other, "link", "arrivals", "--json").json
    assert (row["link"], row["arrived"], row["in_transit"]) == ("far", 1, 1)
    assert howdah(other, "link", "forget", row["link_id"]).out == "link forgotten, with 1 messages in transit\n"
    assert howdah(other, "link", "arrivals").out == "no links lead here\n"


def test_a_link_that_is_not_there_cannot_run(dsn: str) -> None:
    """It is wrong usage."""
    assert howdah(dsn, "link", "run", "nowhere").code == 2


def test_an_engine_gets_another_identity(dsn: str) -> None:
    """In a copy of a cluster."""
    first, second = (howdah(dsn, "link", "new-engine-id", "--json").json["engine_id"] for _ in range(2))
    assert first != second
