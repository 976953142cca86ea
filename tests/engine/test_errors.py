"""Every exception is found by its SQLSTATE, and a real call raises it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
import sqlalchemy
from support import Connect, Db, one, wait_until

from howdah.engine import Connection, Session, calls, connect, errors, is_innocent
from howdah.engine.calls import links, temporary
from howdah.engine.calls.journal import check_journal_offset, journal_offset
from howdah.engine.calls.links import Taken
from howdah.engine.handling.failure import failure_of, sqlstate_of, storable
from howdah.procedures import FILES, source

Act = Callable[[Connection], object]


def paused(connection: Connection) -> None:
    connection.admin.pause("orders")


def disabled(connection: Connection) -> None:
    connection.admin.alter_queue("orders", disable_after=1)
    connection.send("orders", "x")
    session = connection.session()
    (message,) = session.receive("orders")
    session.rollback()
    connection.record_failure(message, ValueError("x"))


def ended(connection: Connection) -> None:
    connection.call(calls.scalar("end_conversation", conversation_id=("uuid", CONVERSATION)))


def filled(connection: Connection) -> None:
    connection.admin.alter_queue("orders", message_limit=1)
    connection.send("orders", "x")


def crowded(connection: Connection) -> None:
    connection.send("orders", "x")
    connection.call(calls.scalar("alter_engine", options=("jsonb", '{"max_count": 1}')))


def hardened(connection: Connection) -> None:
    connection.admin.alter_queue("orders", backout_count="hardened")


def lone_consumer(connection: Connection) -> None:
    connection.admin.create_queue("alone", delivery_policy="single")
    connection.session(transacted=False).open_consumer("alone")


def transformed(connection: Connection) -> None:
    with connection.pool.connection() as db:
        db.execute("create schema app; grant usage on schema app to howdah_nobody")
        db.execute(
            "create function app.same(m howdah.message) returns howdah.message language sql security definer"
            " set search_path = app, pg_temp as 'select m'; alter function app.same owner to howdah_producer"
        )
    connection.admin.register_transformation("same", "app.same")
    connection.admin.create_topic("prices")
    connection.admin.bridge("prices", "orders", transformation="same")


def subscribed(connection: Connection) -> None:
    connection.admin.create_topic("prices")
    connection.admin.subscribe("prices", "a")


def restored(connection: Connection) -> None:
    subscribed(connection)
    with connection.session() as session, session.transaction():
        session.connection.execute("update howdah.engine set system_identifier = 1")
        session.connection.execute("select setval('howdah.topic_checked', 1)")  # of a start of the other cluster


def capped(connection: Connection) -> None:
    connection.admin.alter_queue(
        "orders", default_reliability="EXPRESS_NONPERSISTENT", max_reliability="EXPRESS_NONPERSISTENT"
    )


def claimed(connection: Connection) -> None:
    connection.session().call(calls.scalar("claim_client_id", client_id=("text", "desk7")))


def offset(connection: Connection) -> dict[str, object]:
    return connection.call(journal_offset())


def behind(connection: Connection) -> None:
    """Retention has dropped what the next transaction wrote, and all before it."""
    with connection.session() as session, session.transaction():
        session.connection.execute(
            "update howdah.engine set journal_dropped_xid = pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        )


CONVERSATION = str(uuid4())


def received_from(connection: Connection) -> None:
    """A temporary queue with a transaction open that has received from it."""
    session = connection.session()
    session.call(temporary.set_connection("a-token-of-this-client", local=False))
    queue = session.call(temporary.create())
    session.commit()
    connection.send(queue, "x")
    assert session.receive(queue)


def drop_temporary(connection: Connection) -> None:
    """By another session of the same client."""
    session = connection.session()
    session.call(temporary.set_connection("a-token-of-this-client", local=False))
    (queue,) = (
        row["queue"] for row in connection.admin.list_queues(temporary=True) if row["queue"].startswith("_TEMP")
    )
    session.call(temporary.drop(queue))


def linked(connection: Connection) -> None:
    """A link that leads somewhere."""
    connection.links.create("far", "orders", "orders", service="far")


def refused_over_a_link(connection: Connection) -> None:
    """A batch with a message for a queue that does not exist."""
    taken = Taken(
        "batch", uuid4(), uuid4(), "far", "orders", "nowhere", 1, uuid4(), None, 1, '[{"message_id": 1, "text": ""}]',
        "far", None, 1, None,
    )  # fmt: skip
    connection.call(links.arrive("far", taken))


RAISED: dict[str, tuple[Act, Act]] = {
    "HD001": (lambda c: None, lambda c: c.send("nowhere", "x")),
    "HD002": (lambda c: None, lambda c: c.admin.create_queue("orders")),
    "HD003": (lambda c: None, lambda c: c.admin.create_queue("x'; drop table howdah.msgs")),
    "HD004": (lambda c: None, lambda c: c.admin.alter_queue("orders", colour="red")),  # type: ignore[call-arg]
    "HD005": (lambda c: None, lambda c: c.send("orders", None)),  # type: ignore[arg-type]
    "HD006": (lambda c: None, lambda c: c.send("orders", "x", priority=10)),
    "HD007": (lambda c: c.admin.alter_queue("orders", max_message_bytes=1), lambda c: c.send("orders", "xx")),
    "HD008": (paused, lambda c: c.send("orders", "x")),
    "HD009": (paused, lambda c: c.session().receive("orders")),
    "HD010": (lambda c: None, lambda c: c.send("_SYSTEM.Exception.Destination.howdah", "x")),
    "HD011": (lambda c: c.send("orders", "x"), lambda c: c.admin.drop_queue("orders")),
    "HD012": (lambda c: None, lambda c: c.admin.drop_queue("_SYSTEM.Exception.Destination.howdah")),
    "HD013": (lambda c: None, lambda c: c.admin.discard("orders", [12345])),
    "HD014": (lambda c: None, lambda c: c.admin.release_lock("maintenance", 12345, "nobody")),
    "HD015": (lambda c: None, lambda c: c.admin.heartbeat(str(uuid4()), {})),
    "HD016": (disabled, lambda c: c.session().receive("orders")),
    "HD017": (ended, lambda c: c.send("orders", "x", conversation_id=UUID(CONVERSATION))),
    "HD018": (filled, lambda c: c.send("orders", "x")),
    "HD027": (crowded, lambda c: c.send("orders", "x")),
    "HD019": (hardened, lambda c: c.session().receive("orders")),
    "HD020": (lambda c: None, lambda c: c.admin.stop_listener("nobody")),
    "HD021": (lambda c: c.admin.create_listener("l", "orders"), lambda c: c.admin.create_listener("l", "orders")),
    "HD022": (hardened, lambda c: c.call(calls.receive_attempt("orders", uuid4()))),
    "HD023": (lambda c: None, lambda c: c.call(calls.scalar("check_selector", selector=("text", "price >")))),
    "HD024": (subscribed, lambda c: c.admin.subscribe("prices", "a", shared=True)),
    "HD025": (restored, lambda c: c.session().receive("prices::a")),
    "HD032": (lambda c: None, lambda c: c.session().receive("orders", consumer=999)),
    "HD033": (lone_consumer, lambda c: c.session(transacted=False).open_consumer("alone")),
    "HD026": (lambda c: None, lambda c: c.call(calls.scalar("ack", queue=("text", "orders"), lease=("bigint", 1)))),
    "HD029": (lambda c: None, lambda c: c.schedules.cancel(1)),
    "HD030": (received_from, drop_temporary),
    "HD038": (claimed, lambda c: c.call(calls.scalar("claim_client_id", client_id=("text", "desk7")))),
    "HD039": (capped, lambda c: c.send("orders", "x", reliability="ASSURED_PERSISTENT")),
    "HD040": (lambda c: c.admin.pause_engine(), lambda c: c.send("orders", "x")),
    "HD041": (lambda c: None, lambda c: c.links.drop("nowhere")),
    "HD042": (linked, linked),
    "HD043": (linked, refused_over_a_link),
    "HD044": (lambda c: None, lambda c: c.services.alter("nothing", active=True)),
    "HD045": (lambda c: c.instances.set_cluster("master", "away"), lambda c: c.admin.create_queue("refused")),
    "HD046": (
        lambda c: None,
        lambda c: c.instances.register("other", "host", 1, settings={"cluster_mode": "master", "cluster_master": "x"}),
    ),
    "HD047": (lambda c: None, lambda c: c.lookup("nowhere")),
    "HD048": (lambda c: c.objects.create("fixed", read_only=True), lambda c: c.objects.alter("fixed", priority=7)),
    "HD049": (transformed, lambda c: c.admin.drop_transformation("same")),
    "HD050": (
        lambda c: c.admin.alter_queue("orders", contract={"type": "object"}),
        lambda c: c.send("orders", "x"),
    ),
    "HD036": (behind, lambda c: c.call(check_journal_offset(offset(c) | {"dropped": 0, "snapshot": "3:3:"}))),
    "HD037": (lambda c: None, lambda c: c.call(check_journal_offset(offset(c) | {"system": "1"}))),
}


def system_queue(connection: Connection) -> str:
    (name,) = (row["queue"] for row in connection.admin.list_queues() if row["is_system"])
    return str(name)


@pytest.mark.parametrize("sqlstate", sorted(errors.BY_SQLSTATE))
def test_every_sqlstate_is_raised_by_a_real_call(connection: Connection, orders: str, sqlstate: str) -> None:
    prepare, act = RAISED[sqlstate]
    prepare(connection)
    if sqlstate in ("HD010", "HD012"):
        assert system_queue(connection) == "_SYSTEM.Exception.Destination.howdah"
    with pytest.raises(errors.BY_SQLSTATE[sqlstate]) as caught:
        act(connection)
    assert type(caught.value) is errors.BY_SQLSTATE[sqlstate]
    assert caught.value.sqlstate == sqlstate
    cause = caught.value.__cause__
    assert isinstance(cause, psycopg.Error)
    assert cause.sqlstate == sqlstate
    assert caught.value.message == cause.diag.message_primary
    assert caught.value.hint == cause.diag.message_hint
    if caught.value.hint:
        assert str(caught.value) == f"{caught.value.message} ({caught.value.hint})"


def test_the_table_of_errors_is_complete() -> None:
    raised = {word for file in FILES for word in source(file).split("'") if word.startswith("HD") and len(word) == 5}
    assert raised == set(errors.BY_SQLSTATE) == set(RAISED)
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    for sqlstate, cls in errors.BY_SQLSTATE.items():
        assert sqlstate in page
        assert getattr(errors, cls.__name__) is cls
        assert cls.__name__ in page
        assert cls.__doc__


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
            raise ValueError("no use")  # noqa: B904

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
            wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)  # noqa: B023
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
