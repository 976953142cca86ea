"""telemetry.health: the database is judged by what this program was built for, and a silent server is a finding."""

from __future__ import annotations

import psycopg
import pytest
from support import Db, column, wait_until

from howdah.engine import connect
from howdah.migrations import newest
from howdah.telemetry.health import FAILED, OK, WARNING, Check, Health, health

NOBODY_LISTENS = "host=127.0.0.1 port=1 dbname=none"


def check(found: Health, name: str) -> Check:
    (only,) = [one for one in found.checks if one.name == name]
    return only


def test_a_migrated_database_is_live_and_ready(dsn: str) -> None:
    found = health(dsn)
    assert (found.live, found.ready) == (True, True)
    assert check(found, "schema").detail == f"revision {newest()}"
    assert check(found, "schema").state == OK


def test_a_server_that_does_not_answer_is_neither_live_nor_ready() -> None:
    found = health(NOBODY_LISTENS)
    assert (found.live, found.ready, found.sound) == (False, False, False)
    assert found.failed("server")
    assert "DSN" in (check(found, "server").advice or "")


def test_a_database_without_howdah_is_live_and_not_ready(empty_dsn: str) -> None:
    found = health(empty_dsn)
    assert (found.live, found.ready) == (True, False)
    assert check(found, "schema").advice == "Run howdah migrate."


def test_an_answer_that_takes_too_long_is_none(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as blocking, blocking.transaction():
        blocking.execute("lock table howdah.workers in access exclusive mode")
        found = health(dsn, timeout=0.2)
    assert not found.live
    assert "timeout" in check(found, "server").detail


def test_a_database_that_is_older_than_the_program_does_not_serve_it(dsn: str, db: Db) -> None:
    db.execute("update howdah.alembic_version set version_num = '1000'")
    found = check(health(dsn), "schema")
    assert (found.state, found.advice) == (FAILED, "Run howdah migrate.")


@pytest.mark.parametrize("change", ["version_num = '9999'", "version_num = 'other'"])
def test_a_database_that_is_newer_serves_and_warns_since_an_upgrade_goes_step_by_step(
    dsn: str, db: Db, change: str
) -> None:
    db.execute(f"update howdah.alembic_version set {change}".encode())
    found = health(dsn)
    assert check(found, "schema").state == WARNING
    assert (found.ready, found.sound) == (True, False)


def test_functions_of_another_version_are_warned_of(dsn: str, db: Db) -> None:
    db.execute("update howdah.engine set procedures_checksum = 'another'")
    assert check(health(dsn), "schema").state == WARNING


def test_it_looks_as_the_role_it_is_told_and_one_without_rights_is_told_so(dsn: str, db: Db) -> None:
    assert health(dsn, role="howdah_browser").ready
    for role in ("nobody_of_that_name", "pg_monitor"):
        found = health(dsn, role=role)
        assert (found.live, found.ready) == (True, False)
        assert "howdah_browser" in (check(found, "access").advice or "")


def test_it_leaves_no_session_behind(dsn: str, db: Db) -> None:
    health(dsn)
    query = "select pid from pg_stat_activity where application_name = 'howdah health' and datname = current_database()"
    wait_until(lambda: not column(db, query))


def test_as_json_it_says_live_ready_and_each_check(dsn: str) -> None:
    found = health(dsn).as_dict()
    assert (found["live"], found["ready"]) == (True, True)
    assert set(found["checks"][0]) == {"name", "state", "detail", "advice", "facts"}


def test_the_engine_asks_the_same(dsn: str) -> None:
    with connect(dsn) as connection:
        assert [row["name"] for row in connection.admin.health()][:3] == ["server", "schema", "engine"]
        assert connection.admin.health("nobody")[-1]["state"] == "failed"
