"""Totals for monitoring: a restart keeps them, a restore lets them begin anew."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import psycopg
import pytest
from support import Db, Server, column, one

from howdah.engine.embedded import EmbeddedServer

GROWING = "name ~ '_(total|bucket|count|sum)$'"


def open_db(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


def fold(db: Db) -> None:
    one(db, "select howdah.maintain_totals()")
    one(db, "select howdah.maintain_backlog()")


def totals(db: Db) -> dict[str, float]:
    rows = db.execute(f"select name || labels, value from howdah.metrics() where {GROWING}".encode()).fetchall()
    return {str(key): float(value) for key, value in rows}


def created(db: Db) -> datetime:
    found: datetime = one(db, "select distinct created from howdah.metrics() where created is not null")
    return found


def work(db: Db) -> None:
    """Send five messages, one of them without WAL; consume two."""
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'lost'::text, priority => 0, delivery_mode => 'non-persistent')")
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c', 'd'])")
    assert column(db, "select body from howdah.receive('q', 2)") == ["a", "b"]
    fold(db)
    assert totals(db)['howdah_messages_dequeued_total{"outcome": "consumed"}'] == 2
    assert totals(db)["howdah_messages_enqueued_total{}"] == 5


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_totals_do_not_go_back_over_a_restart_clean_or_not(private_server: EmbeddedServer, mode: str) -> None:
    with open_db(private_server) as db:
        work(db)
        before, began = totals(db), created(db)
    private_server.stop("immediate" if mode == "immediate" else "fast")
    with open_db(private_server) as db:
        assert totals(db) == before, "before maintenance has run"
        fold(db)
        after = totals(db)
        assert {key: value for key, value in before.items() if after.get(key, -1) < value} == {}
        assert created(db) == began
        assert column(db, "select body from howdah.receive('q', 9)") == ["c", "d"]
        fold(db)
        assert totals(db)['howdah_messages_dequeued_total{"outcome": "consumed"}'] == 4


@pytest.mark.slow
def test_a_restored_database_begins_its_totals_anew_and_says_when(
    server: Server, dsn: str, new_database: Callable[[], str], tmp_path: Path
) -> None:
    if server.embedded is None:
        pytest.skip("pg_dump of the server's version is needed")
    with psycopg.connect(dsn, autocommit=True) as db:
        work(db)
        before, began = totals(db), created(db)
    target, file = new_database(), tmp_path / "dump"
    subprocess.run([server.embedded.bin("pg_dump"), "-Fc", "-n", "howdah", "-f", file, dsn], check=True)
    subprocess.run([server.embedded.bin("pg_restore"), "--exit-on-error", "-d", target, file], check=True)
    with psycopg.connect(target, autocommit=True) as db:
        anew = created(db)
        assert anew > began
        assert set(totals(db).values()) == {0}, "the first scrape shows it already"
        fold(db)
        assert totals(db)["howdah_messages_enqueued_total{}"] == 3, "what was restored and lies there"
        assert totals(db)['howdah_messages_dequeued_total{"outcome": "consumed"}'] == 0
        assert len(column(db, "select body from howdah.receive('q', 1)")) == 1
        fold(db)
        assert totals(db)['howdah_messages_dequeued_total{"outcome": "consumed"}'] == 1
        assert created(db) == anew
    with psycopg.connect(dsn, autocommit=True) as db:
        assert (totals(db), created(db)) == (before, began), "the other one goes on"
