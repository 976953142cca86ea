"""howdah.health: what makes a database unfit to serve, what only warns, and who may ask."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from support import Clock, Connect, Db, one

from howdah.engine.embedded import EmbeddedServer

ROLES = ("howdah_admin", "howdah_producer", "howdah_consumer", "howdah_browser", "howdah_auditor")


def checks(db: Db, instance: str | None = None) -> dict[str, tuple[str, str, str | None, Any]]:
    """State, detail, advice and facts of each check."""
    found = db.execute("select name, state, detail, advice, facts from howdah.health(%s)", (instance,)).fetchall()
    return {name: (state, detail, advice, facts) for name, state, detail, advice, facts in found}


def states(db: Db, instance: str | None = None) -> dict[str, str]:
    return {name: found[0] for name, found in checks(db, instance).items()}


def register_worker(db: Db) -> uuid.UUID:
    worker: uuid.UUID = one(db, "select howdah.register_worker('w', 'host', 1, 1, '{}')")
    return worker


def register_instance(db: Db, name: str) -> uuid.UUID:
    """An instance that runs: its heartbeats lead it on."""
    instance: uuid.UUID = one(db, "select howdah.register_instance(%s, 'host', 1)", (name,))
    while one(db, "select state from howdah.list_instances() where name = %s", (name,)) != "RUNNING":
        one(db, "select howdah.instance_heartbeat(%s)", (instance,))
    return instance


@pytest.mark.parametrize("role", ROLES)
def test_every_role_of_howdah_may_ask(connect: Connect, role: str) -> None:
    assert set(states(connect(role))) == {"server", "schema", "engine", "maintenance", "workers", "instances"}


def test_a_new_database_without_a_worker_serves_and_warns(db: Db) -> None:
    found = states(db)
    assert {name: found[name] for name in ("server", "schema", "engine", "instances")} == dict.fromkeys(
        ("server", "schema", "engine", "instances"), "ok"
    )
    assert found["workers"] == "warning"
    assert "howdah worker" in (checks(db)["workers"][2] or "")


def test_an_engine_that_is_paused_quiesced_or_stopped_does_not_serve(db: Db) -> None:
    for halt, state in (("pause_engine()", "paused"), ("quiesce_engine()", "quiesced")):
        db.execute(f"select howdah.{halt}".encode())
        assert checks(db)["engine"][:2] == ("failed", state)
        assert "howdah engine resume" in (checks(db)["engine"][2] or "")
        db.execute("select howdah.resume_engine()")
        assert checks(db)["engine"][:3] == ("ok", "running", None)


def test_maintenance_is_late_after_two_minutes_and_a_pass_mends_it(db: Db, clock: Clock) -> None:
    db.execute("select howdah.maintain_totals()")
    assert checks(db)["maintenance"][:3] == ("ok", "last pass 0 s ago", None)
    clock.set(clock.now + timedelta(minutes=2))
    assert states(db)["maintenance"] == "ok"
    clock.set(clock.now + timedelta(seconds=1))
    state, detail, advice, facts = checks(db)["maintenance"]
    assert (state, detail, facts["age_seconds"]) == ("warning", "last pass 121 s ago", 121)
    assert "Start a worker" in (advice or "")
    db.execute("select howdah.maintain_totals()")
    assert states(db)["maintenance"] == "ok"


def test_a_worker_that_is_silent_for_a_minute_is_warned_of(db: Db, clock: Clock) -> None:
    first, second = register_worker(db), register_worker(db)
    assert checks(db)["workers"][:3] == ("ok", "2 live, 0 silent", None)
    clock.set(clock.now + timedelta(minutes=1))
    db.execute("select howdah.heartbeat(%s, '{}')", (first,))
    assert checks(db)["workers"][:2] == ("warning", "1 live, 1 silent")
    db.execute("select howdah.heartbeat(%s, '{}')", (second,))
    assert states(db)["workers"] == "ok"
    clock.set(clock.now + timedelta(hours=1))
    assert checks(db)["workers"][:2] == ("warning", "0 live, 2 silent")


def test_an_instance_serves_while_it_runs_and_is_heard_of(db: Db, clock: Clock) -> None:
    instance = register_instance(db, "first")
    assert checks(db, "first")["instance"][:3] == ("ok", "first is RUNNING", None)
    assert "instances" not in checks(db, "first")
    db.execute("select howdah.quiesce_instance('first')")
    assert checks(db, "first")["instance"][:2] == ("failed", "first is QUIESCED")
    db.execute("select howdah.resume_instance('first')")
    while states(db, "first")["instance"] != "ok":
        one(db, "select howdah.instance_heartbeat(%s)", (instance,))
    clock.set(clock.now + timedelta(seconds=one(db, "select instance_timeout_seconds from howdah.engine")))
    assert checks(db, "first")["instance"][:2] == ("failed", "first is RUNNING, silent")
    one(db, "select howdah.instance_heartbeat(%s)", (instance,))
    one(db, "select howdah.end_instance('first')")
    assert checks(db, "first")["instance"][:2] == ("failed", "first is ENDING")
    assert checks(db, "nobody")["instance"][:2] == ("failed", "nobody is not registered")


def test_instances_of_which_none_runs_are_warned_of_and_one_that_runs_is_enough(db: Db) -> None:
    assert checks(db)["instances"][:2] == ("ok", "0 running, 0 not")
    one(db, "select howdah.register_instance('waiting', 'host', 1)")
    assert checks(db)["instances"][:2] == ("warning", "0 running, 1 not")
    register_instance(db, "first")
    assert checks(db)["instances"][:2] == ("ok", "1 running, 1 not")


def test_it_counts_no_messages(db: Db) -> None:
    """The plan's tables are small ones: a health check that grows with the backlog would fail when it is needed."""
    body = one(db, "select prosrc from pg_proc where proname = 'health' and pronamespace = 'howdah'::regnamespace")
    for table in ("msgs", "parked", "leased", "journal", "_backlog", "_resources", "queue_stats"):
        assert table not in body


@pytest.mark.slow
def test_a_standby_answers_that_it_does_not_serve(private_server: EmbeddedServer) -> None:
    private_server.start()
    private_server.stop()
    (private_server.folder / "data" / "standby.signal").touch()
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        state, detail, advice, _ = checks(db)["server"]
    assert state == "failed"
    assert "a standby" in detail
    assert "primary" in (advice or "")
