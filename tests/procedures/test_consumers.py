"""Open consumers: what they get, who keeps others from a queue, and what becomes of those that go."""

from __future__ import annotations

import threading

import psycopg
import pytest
from consumers_support import close, open_consumer, send, take
from policy_support import Create
from support import Clock, Connect, Db, all_refused, column, one, refused


@pytest.mark.behaviour("IMQ-78")
def test_creating_a_destination_twice_is_refused_whatever_its_kind(db: Db, create: Create) -> None:
    create("q")
    one(db, "select howdah.create_topic('t')")
    all_refused(
        db,
        [
            ("HD002", "select howdah.create_queue('q')"),
            ("HD002", "select howdah.create_topic('t')"),
            ("HD002", "select howdah.create_queue('t')"),
        ],
    )
    assert column(db, "select kind from howdah.destinations where name in ('q', 't') order by name") == [
        "queue",
        "topic",
    ]


@pytest.mark.behaviour("IMQ-79")
def test_each_message_ends_at_exactly_one_of_five_consumers(db: Db, create: Create, connect: Connect) -> None:
    create("q")
    one(db, "select cardinality(howdah.send_batch('q', array_agg(i::text))) from generate_series(1, 1000) i")
    got: list[list[str]] = [[] for _ in range(5)]
    connections = [connect() for _ in got]
    consumers = [open_consumer(db) for _ in got]

    def drain(n: int) -> None:
        while bodies := take(connections[n], 7, consumers[n]):
            got[n] += bodies

    threads = [threading.Thread(target=drain, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [int(body) for bodies in got for body in bodies]
    assert sorted(everything) == list(range(1, 1001))


def test_an_exclusive_consumer_keeps_all_others_from_an_ordinary_queue_while_it_lives(
    db: Db, create: Create, clock: Clock
) -> None:
    create("q")
    ordinary = open_consumer(db)
    send(db, 1, 2, 3, 4)
    assert take(db, 1) == ["1"]
    exclusive = open_consumer(db, exclusive=True)
    assert take(db, 1) == []
    assert take(db, 1, ordinary) == []
    assert take(db, 1, exclusive) == ["2"]
    clock.advance(61)
    assert take(db, 1) == ["3"], "it fell silent"
    assert take(db, 1) == ["4"]


def test_an_exclusive_consumer_goes_before_the_turns_of_round_robin(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    a, exclusive = open_consumer(db), open_consumer(db, exclusive=True)
    send(db, 1, 2, 3)
    assert take(db, 9, a) == []
    assert take(db, 9, exclusive) == ["1", "2", "3"]


def test_of_several_exclusive_consumers_the_one_of_highest_priority_is_active(db: Db, create: Create) -> None:
    create("q")
    low, high = open_consumer(db, exclusive=True), open_consumer(db, exclusive=True, priority=9)
    send(db, 1, 2)
    assert take(db, 1, low) == []
    assert take(db, 1, high) == ["1"]
    close(db, high)
    assert take(db, 1, low) == ["2"]


def test_a_consumer_belongs_to_its_queue_and_its_role(db: Db, create: Create, connect: Connect) -> None:
    create("q")
    create("other")
    mine = open_consumer(db)
    refused(db, "HD032", "select howdah.receive('other', consumer => %s)", (mine,))
    producer = connect("howdah_producer")
    refused(producer, "42501", "select howdah.open_consumer('q')")
    refused(producer, "42501", "select howdah.close_consumer(%s)", (mine,))
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', 'c')")
    all_refused(
        db,
        [
            ("HD001", "select howdah.open_consumer('none')"),
            ("HD005", "select howdah.open_consumer('t')"),
            ("HD032", "select howdah.receive('t:c:s', consumer => 1)"),
            ("HD005", "select howdah.receive('t:c:s', selector => 'a = 1')"),
            ("HD005", "select howdah.open_consumer('q', priority => 128)"),
            ("HD005", "select howdah.open_consumer('q', timeout => '0 seconds')"),
            (
                "HD004",
                """select howdah.create_queue('x', '{"delivery_policy": "failover", "backout_count": "hardened"}')""",
            ),
        ],
    )


def test_a_consumer_does_not_wait_for_the_handler_of_whoever_closes_it(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create("q", delivery_policy="failover")
    send(db, "a")
    silent, first = connect(), open_consumer(db)
    second = open_consumer(db, timeout="1 hour")
    assert take(silent, consumer=first) == ["a"]
    send(db, "b")
    clock.advance(100)
    silent.execute("set statement_timeout = '20s'")
    with db.transaction():
        assert take(db, consumer=second) == ["b"]
        refused(silent, "HD032", "select howdah.receive('q', consumer => %s)", (first,))
    refused(silent, "HD032", "select howdah.receive('q', consumer => %s)", (first,))


def test_sessions_that_close_each_others_consumers_do_not_deadlock(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    for name in ("q", "r"):
        create(name, delivery_policy="round_robin")
    sessions = [connect(), connect()]
    consumers = [[one(s, "select howdah.open_consumer(%s)", (name,)) for name in ("q", "r")] for s in sessions]
    clock.advance(100)
    receive = "select count(*) from howdah.receive(%s, consumer => %s)"
    for session in sessions:
        session.execute("set statement_timeout = '20s'")
    with sessions[0].transaction(), sessions[1].transaction():
        assert one(sessions[0], receive, ("q", consumers[0][0])) == 0
        assert one(sessions[1], receive, ("r", consumers[1][1])) == 0
        for number, name in ((0, "r"), (1, "q")):
            with pytest.raises(psycopg.Error) as refusal, sessions[number].transaction():
                one(sessions[number], receive, (name, consumers[number]["qr".index(name)]))
            assert refusal.value.sqlstate == "HD032"


def test_a_consumer_with_its_own_session_prepares_its_transaction(db: Db, create: Create, connect: Connect) -> None:
    create("q", delivery_policy="failover")
    send(db, "a")
    consumer = open_consumer(db, own_session=True)
    db.execute("begin")
    assert take(db, consumer=consumer) == ["a"]
    db.execute("prepare transaction 'howdah:consumer'")
    connect().execute("commit prepared 'howdah:consumer'")
    assert take(db, consumer=consumer) == []


def test_the_maintenance_forgets_consumers_that_are_gone(db: Db, create: Create, clock: Clock) -> None:
    create("q")
    open_consumer(db)
    open_consumer(db, timeout="1 hour")
    clock.advance(100)
    assert one(db, "select howdah.maintain_consumers()") == 1
    assert one(db, "select count(*) from howdah.list_consumers('q')") == 1
