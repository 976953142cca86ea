"""An error blames the message unless it lies in the server or the connection, whatever wraps it."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
import sqlalchemy
from support import Db, one, wait_until

from howdah.engine import Connection, calls, errors, is_innocent
from howdah.engine.handling.failure import failure_of, sqlstate_of, storable


def raised(make: Callable[[], object]) -> BaseException:
    try:
        make()
    except Exception as error:  # noqa: BLE001 - whatever it is
        return error
    raise AssertionError


def wrapped(inner: BaseException, how: str) -> Callable[[], object]:
    def act() -> None:
        if how == "bare":
            raise inner
        if how == "sqlalchemy":
            raise sqlalchemy.exc.OperationalError("select 1", {}, inner)
        try:
            raise inner
        except BaseException as error:
            if how == "cause":
                raise ValueError("no use") from error
            if how == "cut":
                raise ValueError("no use") from None
            raise ValueError("no use")  # noqa: B904 - its context is what is tested

    return act


@pytest.mark.parametrize("how", ["bare", "cause", "context", "sqlalchemy"])
@pytest.mark.parametrize(
    "inner",
    [
        psycopg.errors.SerializationFailure("x"),
        psycopg.errors.DeadlockDetected("x"),
        psycopg.errors.LockNotAvailable("x"),
        psycopg.errors.AdminShutdown("x"),
        psycopg.errors.CannotConnectNow("x"),
        psycopg.errors.ConnectionFailure("x"),
        psycopg.errors.InsufficientResources("x"),
        psycopg.errors.DiskFull("x"),
        psycopg.errors.OutOfMemory("x"),
        psycopg.errors.TooManyConnections("x"),
        psycopg.errors.ConfigurationLimitExceeded("x"),
        psycopg.errors.IoError("x"),
        psycopg.errors.DataCorrupted("x"),
        psycopg.errors.IndexCorrupted("x"),
        psycopg.OperationalError("x"),
        errors.ConnectionLost("x"),
        errors.CannotConnect("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_blames_no_message(inner: BaseException, how: str) -> None:
    assert is_innocent(raised(wrapped(inner, how)))


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        psycopg.errors.UniqueViolation("x"),
        psycopg.errors.QueryCanceled("x"),
        psycopg.errors.ProgramLimitExceeded("x"),
        psycopg.errors.StatementTooComplex("x"),
        psycopg.errors.InternalError_("x"),
        psycopg.ProgrammingError("x"),
        errors.NoSuchQueue("x"),
        sqlalchemy.exc.IntegrityError("insert", {}, psycopg.errors.UniqueViolation("x")),
        raised(wrapped(psycopg.errors.DeadlockDetected("x"), "cut")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_blames_the_message(error: BaseException) -> None:
    assert not is_innocent(error)


def disk_full() -> Exception:
    return psycopg.errors.DiskFull("no space left")


@pytest.mark.first_case
@pytest.mark.parametrize("setting", ["idle_in_transaction_session_timeout", "transaction_timeout"])
def test_a_time_out_that_ends_the_session_is_a_lost_connection_and_blames_no_message(
    connection: Connection, db: Db, orders: str, setting: str
) -> None:
    if one(db, "select count(*) from pg_settings where name = %s", (setting,)) == 0:
        pytest.skip("this PostgreSQL has no such setting")
    for of_ours in (True, False):
        with connection.session() as session:
            session.connection.execute(f"set local {setting} = 50".encode())
            pid = session.connection.info.backend_pid
            wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)  # noqa: B023 - it is called at once
            with pytest.raises(errors.ConnectionLost if of_ours else psycopg.Error) as caught:
                session.send(orders, "x") if of_ours else session.connection.execute("select 1")
            assert is_innocent(caught.value)
            cause = caught.value.__cause__ if of_ours else caught.value
            assert isinstance(cause, psycopg.Error)
            assert cause.sqlstate in {"25P03", "25P04"}
            assert errors.is_lost(cause)


@pytest.mark.parametrize("how", ["bare", "cause", "context"])
def test_a_group_of_errors_blames_no_message_if_none_of_them_does(how: str) -> None:
    several = ExceptionGroup("tasks", [disk_full(), ExceptionGroup("more", [psycopg.errors.DeadlockDetected("x")])])
    assert is_innocent(raised(wrapped(several, how)))
    caused = raised(wrapped(disk_full(), "cause"))
    assert is_innocent(raised(wrapped(BaseExceptionGroup("tasks", [caused]), how)))


def test_a_group_of_errors_blames_the_message_if_one_of_them_does(connection: Connection, orders: str) -> None:
    several = ExceptionGroup("tasks", [disk_full(), ExceptionGroup("more", [psycopg.errors.UniqueViolation("twice")])])
    assert not is_innocent(several)
    connection.send(orders, "x")
    with connection.session() as session:
        (message,) = session.receive(orders)
    told = failure_of(message, several)
    assert (told["error_class"], told["error_text"], told["sqlstate"]) == ("UniqueViolation", "twice", "23505")
    assert "tasks" in str(told["traceback"])


def test_a_group_that_stands_behind_its_own_error_is_looked_at_once() -> None:
    inner = ValueError("x")
    group = ExceptionGroup("round", [inner])
    inner.__cause__ = group
    assert not is_innocent(group)
    assert sqlstate_of(group) is None


def test_a_failure_can_be_told_of_any_error(connection: Connection, orders: str) -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    connection.send(orders, "x")
    with connection.session() as session:
        (message,) = session.receive(orders)
    loop = ValueError("loop")
    loop.__cause__ = KeyError("inner")
    loop.__cause__.__cause__ = loop
    several = [
        Unprintable(),
        loop,
        ValueError("\x00\ud800" + "x" * 1_000_000),
        ExceptionGroup("both", [ValueError("1")]),
        sqlalchemy.exc.IntegrityError("insert", {}, psycopg.errors.UniqueViolation("x")),
    ]
    for error in several:
        connection.call(calls.record_failures(orders, [failure_of(message, error)]))
    assert sqlstate_of(several[-1]) == "23505"
    assert len(storable("x" * 1_000_000)) < 101_000
    assert len(connection.admin.incidents(orders)) == 5
