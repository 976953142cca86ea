"""Consumers of a subscription move its cursor with their transactions, and share it only if it is shared."""

import psycopg
import pytest
from support import Connect, Db, column, one, receive, refused
from topics_support import bodies, consume, listed, maintain, publish, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


def test_the_cursor_moves_with_the_consumers_transaction(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a", "b")
    with db.transaction(force_rollback=True):
        assert bodies(db, name, 1) == ["a"]
        assert bodies(db, name, 1) == ["b"]
        assert bodies(db, name, 1) == []
    with db.transaction():
        assert bodies(db, name, 1) == ["a"]
        with db.transaction(force_rollback=True):
            assert bodies(db, name, 1) == ["b"]
        assert bodies(db, name, 1) == ["b"]
    assert bodies(db, name) == []


def test_a_killed_consumer_gives_back_what_it_had(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a")
    reader = connect()
    reader.execute("begin")
    assert bodies(reader, name) == ["a"]
    one(db, "select pg_terminate_backend(%s, 10000)", (reader.info.backend_pid,))
    assert bodies(db, name) == ["a"]


def test_an_unshared_subscription_has_one_active_consumer(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a", "b")
    first, second = connect(), connect()
    with first.transaction():
        assert bodies(first, name, 1) == ["a"]
        said = refused(second, "HD024", "select howdah.receive(%s)", (name,))
        assert "being read by another consumer" in (said.message_primary or "")
        refused(second, "HD024", "select howdah.receive_locked(%s)", (name,))
        assert bodies(first, name, 1) == ["b"]
    assert bodies(second, name) == []


def test_a_shared_subscription_gives_each_message_to_one_consumer(db: Db, connect: Connect) -> None:
    name = subscribe(db, shared=True)
    publish(db, *map(str, range(6)))
    first, second, third = connect(), connect(), connect()
    with first.transaction(), second.transaction(), third.transaction(force_rollback=True):
        assert bodies(first, name, 2) == ["0", "1"]
        assert bodies(second, name, 2) == ["2", "3"]
        assert bodies(third, name, 9) == ["4", "5"]
    assert bodies(first, name) == ["4", "5"]
    assert bodies(second, name) == []
    assert listed(db, "behind, delivered") == (0, 6)


def test_an_old_snapshot_never_reads_what_another_consumer_has_read(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a")
    reader = connect()
    reader.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    with reader.transaction():
        reader.execute("select 1 from howdah.engine")
        assert bodies(db, name) == ["a"]
        refused(reader, "40001", "select howdah.receive(%s)", (name,))
    assert bodies(reader, name) == []


def test_a_consumer_that_is_away_for_a_minute_ends_a_non_durable_subscription(db: Db) -> None:
    gone, waiting, durable = subscribe(db, None, durable=False), subscribe(db, None, durable=False), subscribe(db)
    db.execute(
        "select setval(s.alive, pg_sequence_last_value(s.alive) - 61000) from howdah.subscriptions s"
        " join howdah.destinations d on d.id = s.destination_id where d.name <> %s",
        (waiting,),
    )
    one(db, "select count(*) from howdah.wait(%s)", (waiting,))
    assert maintain(db) == f"ended {gone}"
    assert sorted(column(db, "select subscription from howdah.list_subscriptions()")) == sorted([durable, waiting])
    said = refused(db, "HD001", "select howdah.receive(%s)", (gone,))
    assert said.message_primary
    assert maintain(db) == ""


@pytest.mark.parametrize("shared", [False, True])
def test_messages_are_acknowledged_out_of_order_one_by_one(db: Db, shared: bool) -> None:
    name = subscribe(db, shared=shared)
    first, second, third = publish(db, "1", "2", "3")
    with db.transaction():
        assert [m.body for m in receive(db, name, 9, "receive_locked")] == ["1", "2", "3"]
        consume(db, name, third, first)
    assert listed(db, "behind, delivered") == (2, 2)
    with db.transaction():
        assert bodies(db, name, 9, "receive_locked") == ["2"]
    refused(
        db, "HD013", "select howdah.consume_locked(%s, array[%s::bigint], array[4], array[1::bigint])", (name, first)
    )
    with db.transaction(force_rollback=True):
        bodies(db, name, 9, "receive_locked")
        consume(db, name, second)
    with db.transaction():
        bodies(db, name, 9, "receive_locked")
        consume(db, name, second)
    assert bodies(db, name) == []
    assert listed(db, "behind, delivered") == (0, 3)
    assert one(db, "select count(*) from howdah.acked") == 0


@pytest.mark.parametrize("shared", [False, True])
def test_nobody_consumes_what_another_consumer_holds(db: Db, connect: Connect, shared: bool) -> None:
    name = subscribe(db, shared=shared)
    (sent,) = publish(db, "1")
    holder = connect()
    with holder.transaction():
        assert bodies(holder, name, 1, "receive_locked") == ["1"]
        refused(
            db, "HD013", "select howdah.consume_locked(%s, array[%s::bigint], array[4], array[1::bigint])", (name, sent)
        )
        consume(holder, name, sent)
    assert listed(db, "delivered") == 1
