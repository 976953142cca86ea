"""Topics against late commits, old snapshots, prepared transactions and a turning ring of tables.

Nothing lost, nothing twice.
"""

from __future__ import annotations

import threading
from datetime import timedelta

import psycopg
import pytest
from support import Connect, Db, column, fail, one, refused, wait_until


@pytest.fixture
def topic(db: Db) -> str:
    one(db, "select howdah.create_topic('t')")
    return "t"


def turn(db: Db) -> str:
    """Maintain the ring as if its time had come."""
    db.execute("update howdah.topic_ring set opened_at = '-infinity' where state = 'open'")
    done: str = one(db, "select howdah.maintain_topics()")
    return done


def turn_often(db: Db) -> None:
    """Turn until each table was written to, and emptied if it could be."""
    for _ in range(7):
        one(db, "select howdah.send('t', 'filler')")
        turn(db)


def send(db: Db, body: str = "x") -> int:
    number: int = one(db, "select howdah.send('t', %s::text, notify => false)", (body,))
    return number


def subscribe(db: Db, name: str = "s", shared: bool = False) -> str:
    made: str = one(db, "select howdah.subscribe('t', %s, shared => %s)", (name, shared))
    return made


def get(db: Db, subscription: str, number: int = 100) -> list[int]:
    return column(db, "select message_id from howdah.receive(%s, %s) where body <> 'filler'", (subscription, number))


def test_what_the_consumers_own_transaction_publishes_comes_after_its_commit(connect: Connect, topic: str) -> None:
    db, other = connect(), connect()
    for shared in (False, True):
        s = subscribe(db, f"s{shared}", shared)
        sent = [send(other)]
        with db.transaction():
            first = get(db, s)
            sent += [send(db)]
            send(other, "filler")
            assert get(db, s) == []
            sent += [send(db)]
        assert first + get(db, s) == sent


def test_what_the_subscribing_transaction_publishes_comes(connect: Connect, topic: str) -> None:
    db, other = connect(), connect()
    with db.transaction():
        one(db, "select pg_current_xact_id()::text")
        one(other, "select pg_current_xact_id()::text")
        s = subscribe(db)
        sent = send(db)
    assert get(db, s) == [sent]


def test_a_late_commit_between_two_small_receives_doubles_nothing(connect: Connect, topic: str) -> None:
    db, late, later, other = connect(), connect(), connect(), connect()
    s = subscribe(db)
    late.execute("begin")
    first = [send(late), send(late)]
    later.execute("begin")
    second = [send(later), send(later)]
    with other.transaction():
        third = [send(other), send(other)]
    got = get(db, s, 1)
    assert got == third[:1]
    later.execute("commit")
    got += get(db, s, 2)
    late.execute("commit")
    assert got == [*third, second[0]]
    for _ in range(4):
        got += get(db, s, 1)
    assert got == [*third, *second, *first]


@pytest.mark.slow
def test_a_prepared_publish_arrives_after_two_turns_of_the_ring(connect: Connect, topic: str) -> None:
    db, other = connect(), connect()
    s = subscribe(db)
    other.execute("begin")
    sent = send(other)
    other.execute("prepare transaction 'across'")
    turn_often(db)
    assert get(db, s) == []
    assert one(db, "select state from howdah.topic_ring where slot = 0") == "closing"
    db.execute("commit prepared 'across'")
    turn(db)
    assert get(db, s) == [sent]
    turn_often(db)
    assert get(db, s) == []


def test_a_reader_with_a_snapshot_delays_truncation_and_loses_nothing(connect: Connect, topic: str) -> None:
    db, reader = connect(), connect()
    s = subscribe(db)
    sent = [send(db) for _ in range(3)]
    reader.execute("begin isolation level repeatable read")
    assert one(reader, "select count(*) from howdah.topic_history('t')") == 3
    assert get(db, s) == sent
    turn_often(db)
    assert one(db, "select state from howdah.topic_ring where slot = 0") == "closed"
    assert one(reader, "select count(*) from howdah.topic_msgs_0 where seq = any (%s)", ([1, 2, 3],)) == 3
    refused(reader, "40001", "select howdah.topic_history('t')")
    reader.execute("commit")
    turn(db)
    assert one(db, "select state <> 'closed' from howdah.topic_ring where slot = 0")


@pytest.mark.first_case
@pytest.mark.parametrize("turns", [1, 2, 3, 7])
def test_a_publisher_with_an_old_snapshot_writes_where_it_is_read(connect: Connect, topic: str, turns: int) -> None:
    db, publisher = connect(), connect()
    s = subscribe(db)
    publisher.execute("begin isolation level repeatable read")
    one(publisher, "select 1")
    for _ in range(turns):
        send(db, "filler")
        turn(db)
    sent = send(publisher)
    turn(db)
    publisher.execute("commit")
    turn(db)
    assert get(db, s) == [sent]


def test_a_consumer_with_an_old_snapshot_settles_nothing_and_retries(connect: Connect, topic: str) -> None:
    db, reader = connect(), connect()
    s = subscribe(db)
    sent = [send(db)]
    reader.execute("begin isolation level repeatable read")
    one(reader, "select 1")
    turn_often(db)
    before = one(db, "select max(truncations) from howdah.topic_ring")
    with pytest.raises(psycopg.errors.SerializationFailure):
        get(reader, s)
    reader.execute("rollback")
    assert one(db, "select pg_sequence_last_value('howdah.topic_truncations')") == before
    assert get(db, s) == sent


def test_a_consumer_with_an_old_snapshot_reads_over_turns_that_emptied_nothing(connect: Connect, topic: str) -> None:
    db, reader, holder = connect(), connect(), connect()
    s = subscribe(db)
    holder.execute("begin")
    holder.execute("lock table howdah.topic_msgs_0 in access share mode")
    send(db, "filler")
    db.execute("begin")
    turn(db)
    sent = send(holder)
    holder.execute("commit")
    reader.execute("begin isolation level repeatable read")
    one(reader, "select 1")
    holder.execute("begin")
    holder.execute("lock table howdah.topic_msgs_0 in access share mode")
    db.execute("commit")
    turn(db)
    assert get(reader, s) == [sent]
    reader.execute("commit")
    assert get(db, s) == []


@pytest.mark.parametrize("shared", [False, True])
def test_what_was_consumed_since_an_old_snapshot_is_not_given_again(connect: Connect, topic: str, shared: bool) -> None:
    db, reader = connect(), connect()
    s = subscribe(db, shared=shared)
    sent = [send(db) for _ in range(30)]
    reader.execute("begin isolation level repeatable read")
    one(reader, "select 1")
    got = [get(db, s, 1)[0] for _ in range(30)]
    assert got == sent
    one(db, "select howdah.maintain_subscriptions()")
    with pytest.raises(psycopg.errors.SerializationFailure):
        get(reader, s)


def test_what_was_set_aside_since_an_old_snapshot_is_not_given_again(connect: Connect, topic: str) -> None:
    db, reader = connect(), connect()
    s = subscribe(db)
    sent = send(db)
    reader.execute("begin isolation level repeatable read")
    one(reader, "select 1")
    fail(db, sent, s, delay=timedelta(milliseconds=1))
    with pytest.raises(psycopg.errors.SerializationFailure):
        get(reader, s)
    reader.execute("rollback")
    wait_until(lambda: get(db, s) == [sent])


def test_a_ring_turned_twice_by_a_transaction_that_was_undone_loses_nothing(connect: Connect, topic: str) -> None:
    db, other = connect(), connect()
    s = subscribe(db)
    other.execute("begin")
    sent = [send(other)]
    other.execute("commit")
    db.execute("begin")
    for _ in range(2):
        turn(db)
        sent.append(send(other))
    db.execute("rollback")
    assert get(db, s) == sent
    turn_often(db)
    assert get(db, s) == []


def test_maintenance_with_an_old_snapshot_is_refused(db: Db) -> None:
    for call in ("maintain_topics", "maintain_subscriptions"):
        with db.transaction():
            db.execute("set transaction isolation level repeatable read")
            refused(db, "HD005", f"select howdah.{call}()")


def test_a_table_is_not_emptied_while_somebody_subscribes(connect: Connect, topic: str) -> None:
    db, other = connect(), connect()
    subscribe(db, "first")
    other.execute("begin")
    s = subscribe(other)
    sent = send(db)
    get(db, "t::first")
    turn(db)
    get(db, "t::first")
    turn(db)
    other.execute("commit")
    assert get(db, s) == [sent]


def test_who_subscribes_while_the_last_one_leaves_gets_what_is_published(connect: Connect, topic: str) -> None:
    db, leaving = connect(), connect()
    subscribe(db, "last")
    db.execute("begin")
    s = subscribe(db)
    thread = threading.Thread(target=one, args=(leaving, "select howdah.unsubscribe('t::last')::text"))
    thread.start()
    watcher = connect()
    pid = leaving.info.backend_pid
    wait_until(lambda: column(watcher, "select pid from pg_locks where not granted and pid = %s", (pid,)))
    db.execute("commit")
    thread.join()
    sent = send(db)
    assert get(db, s) == [sent]


def test_a_topic_made_while_somebody_subscribes_by_a_wildcard_is_read_too(connect: Connect, topic: str) -> None:
    db, making = connect(), connect()
    db.execute("begin")
    s = one(db, "select howdah.subscribe('>', 's')")
    thread = threading.Thread(target=one, args=(making, "select howdah.create_topic('u')"))
    thread.start()
    watcher = connect()
    pid = making.info.backend_pid
    wait_until(lambda: column(watcher, "select pid from pg_locks where not granted and pid = %s", (pid,)))
    db.execute("commit")
    thread.join()
    sent = one(db, "select howdah.send('u', 'x')")
    assert get(db, s) == [sent]


def test_a_reader_that_the_ring_overtook_fails_instead_of_passing_over_anything(db: Db, topic: str) -> None:
    """What it was about to read may have been carried on into a table that it did not know it needed."""
    subscribe(db)
    send(db)
    before = one(db, "select howdah._truncations()")
    assert one(db, "select howdah._same_ring(%s)", (before,))
    turn_often(db)
    refused(db, "40001", "select howdah._same_ring(%s)", (before,))
    assert len(get(db, "t::s")) == 1
