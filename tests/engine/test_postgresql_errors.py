"""PostgreSQL's errors say what Howdah or a role lacks, and the application's own pass as they are."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from support import Connect, Db, one

from howdah.engine import Connection, Session, calls, connect, errors, is_innocent


def test_a_database_without_howdah(empty_dsn: str) -> None:
    with connect(empty_dsn) as connection:
        for act in (
            lambda: connection.send("orders", "x"),
            lambda: connection.session().receive("orders"),
            lambda: connection.admin.list_queues(),
        ):
            with pytest.raises(errors.NotMigrated, match="howdah migrate"):
                act()


def test_a_database_whose_howdah_is_older(connection: Connection, db: Db, orders: str) -> None:
    db.execute("drop function howdah.list_workers")
    with pytest.raises(errors.NotMigrated, match="list_workers"):
        connection.admin.list_workers()


@pytest.mark.behaviour("IMQ-05")
@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("howdah_producer", {"send"}),
        ("howdah_consumer", {"receive", "browse"}),
        ("howdah_browser", {"browse"}),
        ("howdah_auditor", set()),
        ("howdah_admin", {"send", "receive", "browse", "create"}),
    ],
)
def test_a_role_without_the_right(connect: Connect, orders: str, role: str, allowed: set[str]) -> None:
    session = Session(connect(role))
    verbs: dict[str, Callable[[], object]] = {
        "send": lambda: session.send(orders, "x"),
        "receive": lambda: session.receive(orders),
        "browse": lambda: session.browse(orders),
        "create": lambda: session.call(calls.scalar("create_queue", queue=("text", "other"))),
    }
    for verb, act in verbs.items():
        if verb in allowed:
            act()
        else:
            with pytest.raises(errors.NotAllowed) as caught:
                act()
            assert isinstance(caught.value, PermissionError)


def test_the_applications_own_errors_pass_as_they_are(connection: Connection, db: Db, orders: str) -> None:
    db.execute("create table once (n integer unique deferrable initially deferred); insert into once values (1)")
    with connection.session() as session:
        session.send(orders, "x")
        session.connection.execute("insert into once values (1)")
        with pytest.raises(psycopg.errors.UniqueViolation):
            session.commit()
        # A trigger's missing table at commit does not mean that Howdah is missing.
        db.execute(
            "create function boom() returns trigger language plpgsql as 'begin perform from nowhere; end';"
            " create constraint trigger t after insert on once deferrable initially deferred"
            " for each row execute function boom()"
        )
        session.send(orders, "x")
        session.connection.execute("insert into once values (2)")
        with pytest.raises(psycopg.errors.UndefinedTable):
            session.commit()
    assert one(db, "select count(*) from howdah.msgs") == 0


def test_a_statement_time_out_is_the_applications(connection: Connection, connect: Connect, orders: str) -> None:
    connect().execute("begin; lock table howdah.msgs")
    with connection.session() as session:
        session.connection.execute("set local statement_timeout = 50")
        with pytest.raises(psycopg.errors.QueryCanceled) as caught:
            session.send(orders, "x")
        assert not is_innocent(caught.value)
        session.rollback()
        session.connection.execute("set local lock_timeout = 50")
        with pytest.raises(psycopg.errors.LockNotAvailable) as blocked:
            session.send(orders, "x")
        assert is_innocent(blocked.value)
