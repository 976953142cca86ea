"""Every exception is found by its SQLSTATE, and a real call raises it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from howdah.engine import Connection, calls, errors
from howdah.engine.calls import links, temporary
from howdah.engine.calls.journal import check_journal_offset, journal_offset
from howdah.engine.calls.links import Taken
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
