"""The console's database sessions: used again by the same person, as clean as new ones, and by nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from console_people import PASSWORD
from psycopg.conninfo import make_conninfo
from support import Db, one

from howdah.console import sessions
from howdah.console.database import Database
from howdah.console.people import Person

OPERATOR = Person("operator", role="console_operator")
BROWSER = Person("browser", role="console_browser")


@pytest.fixture
def database(login_dsn: str) -> Iterator[Database]:
    made = Database(login_dsn)
    yield made
    made.close()


def backend(database: Database, person: Person) -> int:
    """The backend that a request of that person has."""
    with database.work(person) as work:
        row = work._connection.execute("select pg_backend_pid()").fetchone()
    assert row is not None
    return int(row[0])


def test_a_persons_next_request_has_the_same_session(database: Database) -> None:
    assert backend(database, OPERATOR) == backend(database, OPERATOR)


def test_two_requests_at_once_have_two_sessions(database: Database) -> None:
    with database.work(OPERATOR) as work:
        other = backend(database, OPERATOR)
        assert work._connection.info.backend_pid != other
    assert len({backend(database, OPERATOR) for _ in range(3)}) == 1


def test_a_session_serves_no_other_role_user_or_password(database: Database, dsn: str, people: None) -> None:
    operator = backend(database, OPERATOR)
    assert backend(database, BROWSER) != operator
    assert backend(database, Person("b", user="console_browser", password=PASSWORD)) != operator
    with pytest.raises(Exception, match="refused this user or password"):
        backend(database, Person("b", user="console_browser", password="wrong"))


def test_nothing_of_one_request_reaches_the_next(database: Database) -> None:
    with database.work(OPERATOR, reading=False) as work:
        pid = work._connection.info.backend_pid
        for statement in (
            "set statement_timeout = '1h'",
            "select set_config('howdah.connection', 'mine', false)",
            "create temporary table secrets (x int)",
            "select pg_advisory_lock(1)",
            "listen howdah",
            "declare kept cursor with hold for select 1",
        ):
            work._connection.execute(statement)
    with database.work(OPERATOR) as work:
        row = work._connection.execute(
            "select pg_backend_pid(), current_setting('howdah.connection', true), to_regclass('secrets'),"
            " (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),"
            " (select count(*) from pg_listening_channels()), (select count(*) from pg_cursors where is_holdable),"
            " current_setting('statement_timeout'), current_setting('transaction_read_only')"
        ).fetchone()
    assert row is not None
    assert row[0] == pid
    assert row[1:] in (("", None, 0, 0, 0, "5s", "on"), (None, None, 0, 0, 0, "5s", "on"))


def test_a_session_that_the_server_ended_is_replaced(database: Database, db: Db) -> None:
    ended = backend(database, OPERATOR)
    one(db, "select pg_terminate_backend(%s, 10000)", (ended,))
    assert backend(database, OPERATOR) != ended


@pytest.mark.slow
def test_nothing_is_kept_of_sessions_that_the_server_ended(database: Database, db: Db) -> None:
    for _ in range(3):
        with database.work(OPERATOR) as work:
            ended = backend(database, OPERATOR), work._connection.info.backend_pid
        for pid in ended:
            one(db, "select pg_terminate_backend(%s, 10000)", (pid,))
    with database.work(BROWSER):
        pass
    with database.work(OPERATOR) as work:
        assert work._connection.info.backend_pid not in ended
        waiting = database._sessions._waiting
        assert [key[-1] for key, _, _ in waiting] == [BROWSER.role], "those beside an ended one go with it"
        assert database._sessions._begun == {}


def test_a_session_does_not_wait_long_for_a_server_that_the_network_lost(login_dsn: str) -> None:
    given = {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3"}
    assert parameters(login_dsn) == {"tcp_user_timeout": "5000", **given}


def test_the_dsn_says_otherwise_how_long_a_session_waits_for_the_network(login_dsn: str) -> None:
    said = {"tcp_user_timeout": "7000", "keepalives_idle": "11"}
    given = {"keepalives_interval": "10", "keepalives_count": "3"}
    assert parameters(make_conninfo(login_dsn, **said)) == {**said, **given}


def parameters(dsn: str) -> dict[str, str]:
    """What a session's connection says about the network."""
    with Database(dsn).connect(OPERATOR) as connection:
        found = connection.info.get_parameters()
    return {name: value for name, value in found.items() if name.startswith(("tcp_", "keepalives"))}


def test_the_server_ends_a_session_that_nobody_uses(database: Database) -> None:
    backend(database, OPERATOR)
    with database.work(OPERATOR) as work:
        shown = work._connection.execute("show idle_session_timeout").fetchone()
    assert shown == ("1min",)


def test_a_request_that_failed_leaves_no_session(database: Database) -> None:
    before = backend(database, OPERATOR)
    with pytest.raises(psycopg.errors.DivisionByZero), database.work(OPERATOR) as work:
        work._connection.execute("select 1/0")
    assert backend(database, OPERATOR) != before


def test_an_old_session_is_closed_at_the_end_of_its_request(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "LASTS_SECONDS", -1.0)
    assert backend(database, OPERATOR) != backend(database, OPERATOR)


def test_no_more_than_so_many_wait(login_dsn: str) -> None:
    kept = sessions.Sessions(2)
    connections = [psycopg.connect(login_dsn, autocommit=True) for _ in range(3)]
    for connection in connections:
        kept.give(OPERATOR, connection)
    assert [connection.closed for connection in connections] == [True, False, False]
    kept.close()
    assert all(connection.closed for connection in connections)


def test_through_a_pooler_none_is_kept(login_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = sessions.Sessions(2)
    with psycopg.connect(make_conninfo(login_dsn), autocommit=True) as connection:
        monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", property(lambda _: 1))  # a pooler makes up a number
        kept.give(OPERATOR, connection)
        assert connection.closed
