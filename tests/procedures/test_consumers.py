"""Delivery policies and exclusive consumers: whose turn it is, and what becomes of it when one goes."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from policy_support import Create
from support import Clock, Connect, Db, all_refused, column, one, refused, wait_until


def send(db: Db, *bodies: Any) -> None:
    for body in bodies:
        one(db, "select howdah.send('q', %s)", (str(body),))


def take(db: Db, n: int = 100, consumer: int | None = None) -> list[str]:
    return column(db, "select body from howdah.receive('q', %s, consumer => %s)", (n, consumer))


def open_consumer(db: Db, **options: Any) -> int:
    names = "".join(f", {name} => %s" for name in options)
    number: int = one(db, f"select howdah.open_consumer('q'{names})", tuple(options.values()))
    return number


def close(db: Db, consumer: int) -> bool:
    closed: bool = one(db, "select howdah.close_consumer(%s)", (consumer,))
    return closed


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


@pytest.mark.behaviour("IMQ-80")
def test_single_refuses_a_second_consumer(db: Db, create: Create) -> None:
    create("q", delivery_policy="single")
    first = open_consumer(db)
    refused(db, "HD033", "select howdah.open_consumer('q')")
    send(db, 1)
    refused(db, "HD032", "select howdah.receive('q')")
    assert take(db, consumer=first) == ["1"]


@pytest.mark.behaviour("IMQ-81")
@pytest.mark.behaviour("IMQ-84")
@pytest.mark.parametrize("policy", ["single", "failover"])
def test_messages_are_kept_while_nobody_is_registered_and_go_to_the_next_one(
    db: Db, create: Create, policy: str
) -> None:
    create("q", delivery_policy=policy)
    first = open_consumer(db)
    send(db, 1)
    assert take(db, consumer=first) == ["1"]
    assert close(db, first) is True
    assert close(db, first) is False, "the second call"
    send(db, 2, 3)
    refused(db, "HD032", "select howdah.receive('q', consumer => %s)", (first,))
    assert take(db, consumer=open_consumer(db)) == ["2", "3"]


@pytest.mark.behaviour("IMQ-82")
def test_under_failover_only_the_first_registered_gets_messages(db: Db, create: Create) -> None:
    create("q", delivery_policy="failover")
    a, b = open_consumer(db), open_consumer(db)
    send(db, *range(10))
    assert take(db, 5, b) == []
    assert len(take(db, 5, a)) == 5
    assert take(db, 5, b) == []
    assert column(db, "select active from howdah.list_consumers('q')") == [True, False]


@pytest.mark.behaviour("IMQ-83")
def test_when_the_primary_dies_the_next_registered_takes_over_and_nothing_is_lost(
    db: Db, create: Create, connect: Connect
) -> None:
    create("q", delivery_policy="failover")
    connections = [connect() for _ in range(3)]
    a, b, c = (open_consumer(connection, own_session=True) for connection in connections)
    send(db, 1, 2, 3)
    connections[0].execute("begin")
    assert take(connections[0], 1, a) == ["1"]
    assert take(connections[1], 1, b) == []
    kill(db, connections[0])
    got: list[str] = []

    def more(db: Db, n: int, consumer: int) -> list[str]:
        got.extend(take(db, n, consumer))
        return got

    wait_until(lambda: more(connections[1], 1, b))
    assert got == ["1"], "what the dead one had, first"
    assert take(connections[2], 1, c) == []
    kill(db, connections[1])
    wait_until(lambda: len(more(connections[2], 9, c)) == 3)
    assert got == ["1", "2", "3"]


def kill(db: Db, connection: Db) -> None:
    pid = connection.info.backend_pid
    one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) = 0 from pg_stat_activity where pid = %s", (pid,)))


def test_two_consumers_never_work_at_once_under_failover(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create("q", delivery_policy="failover")
    slow = connect()
    a, b = open_consumer(slow), open_consumer(db)
    send(db, 1, 2)
    slow.execute("begin")
    assert take(slow, 1, a) == ["1"]
    clock.advance(3600)
    assert take(db, 1, b) == [], "the first is silent, but in a transaction"
    slow.execute("commit")
    clock.advance(61)
    assert take(db, 1, b) == ["2"]


@pytest.mark.parametrize("policy", ["single", "failover"])
def test_what_comes_back_to_the_one_consumer_is_first_again_under_a_backlog(
    db: Db, create: Create, policy: str
) -> None:
    create("q", delivery_policy=policy)
    consumer = open_consumer(db)
    send(db, *range(200))
    for calls, wanted in ((4, 2), (3, 3), (1, 1), (2, 40), (5, 1)):
        with db.transaction(force_rollback=True):
            got = [body for _ in range(calls) for body in take(db, wanted, consumer)]
        assert got == [str(number) for number in range(calls * wanted)]
    with db.transaction(force_rollback=True):
        *_, last = column(db, "select message_id from howdah.receive('q', 40, consumer => %s)", (consumer,))
    db.execute("select howdah.record_failure('q', %s, delay => '1 minute')", (last,))
    assert take(db, 1, consumer) == ["0"], "though the last one that it had does not come back to its place"


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ["release", pytest.param("retry", marks=pytest.mark.slow)])
@pytest.mark.parametrize("policy", ["single", "failover"])
def test_messages_put_back_far_behind_are_received_from_the_first_of_them_on(
    db: Db, create: Create, policy: str, verb: str
) -> None:
    create("q", delivery_policy=policy)
    consumer = open_consumer(db)
    one(
        db, "select cardinality(howdah.send_batch('q', array_agg(i::text order by i))) from generate_series(1, 10000) i"
    )
    lease = column(db, "select lease from howdah.lease('q', 3000, '1 hour', consumer => %s)", (consumer,))[0]
    if verb == "retry":
        one(db, "select count(*) from howdah.nack('q', %s::bigint, delay => '1 hour')", (lease,))
    assert [take(db, number, consumer)[0] for number in (5000, 100, 100)] == ["3001", "8001", "8101"]
    if verb == "release":
        one(db, "select howdah.release('q', %s)", (lease,))
    else:
        assert one(db, "select howdah.retry('q')") == 3000
    assert take(db, 3, consumer) == ["1", "2", "3"]


@pytest.mark.behaviour("IMQ-85")
def test_round_robin_gives_each_consumer_every_nth_message_in_order_of_registration(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    a, b, c = (open_consumer(db) for _ in range(3))
    send(db, *range(1, 10))
    assert take(db, 2, b) == ["2", "5"]
    assert take(db, 9, a) == ["1", "4", "7"]
    assert take(db, 9, c) == ["3", "6", "9"]
    assert take(db, 9, b) == ["8"]


@pytest.mark.behaviour("IMQ-86")
def test_a_backlog_is_split_evenly_between_the_consumers_that_come(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    one(db, "select cardinality(howdah.send_batch('q', array_agg(i::text))) from generate_series(1, 10000) i")
    a, b = open_consumer(db), open_consumer(db)
    counts = {a: 0, b: 0}
    for consumer in (a, a, a, b, a, a, a, b, b, b, b, b):  # at whatever speed
        counts[consumer] += len(take(db, 1000, consumer))
    assert counts == {a: 5000, b: 5000}


@pytest.mark.behaviour("IMQ-87")
def test_the_share_of_a_consumer_that_was_killed_goes_to_the_others(db: Db, create: Create, connect: Connect) -> None:
    create("q", delivery_policy="round_robin")
    doomed = connect()
    a, c = open_consumer(db), open_consumer(db)
    b = open_consumer(doomed, own_session=True)
    send(db, *range(1, 31))
    doomed.execute("begin")
    assert take(doomed, 3, b) == ["3", "6", "9"]
    assert take(db, 100, a) == [str(n) for n in range(1, 31, 3)]
    kill(db, doomed)
    shares: dict[int, set[str]] = {a: set(), c: set()}

    def share() -> int:
        for consumer, got in shares.items():
            got.update(take(db, 100, consumer))
        return sum(map(len, shares.values()))

    wait_until(lambda: share() == 20)
    assert len(shares[a] | shares[c]) == 20, "each message once"
    of_the_dead = {str(n) for n in range(3, 31, 3)}
    assert shares[a] & of_the_dead
    assert shares[c] & of_the_dead


@pytest.mark.behaviour("IMQ-88")
def test_without_redistribution_each_consumers_messages_are_in_order(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    consumers = [open_consumer(db) for _ in range(4)]
    one(db, "select cardinality(howdah.send_batch('q', array_agg(i::text order by i))) from generate_series(1, 400) i")
    for consumer in consumers:
        got: list[int] = []
        while bodies := take(db, 7, consumer):
            got += map(int, bodies)
        assert got == sorted(got)
        assert len(got) == 100


def test_a_share_follows_the_consumers_that_join(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    a = open_consumer(db)
    send(db, 1, 2)
    assert take(db, 9, a) == ["1", "2"], "alone"
    b = open_consumer(db)
    send(db, *range(3, 9))
    assert set(take(db, 9, a)) | set(take(db, 9, b)) == {str(n) for n in range(3, 9)}


def test_what_one_consumer_gave_back_in_strict_order_is_the_first_of_a_share_that_begins_then(
    db: Db, create: Create
) -> None:
    create("q", delivery_policy="round_robin", strict_order=True)
    a = open_consumer(db)
    send(db, *range(1, 7))
    with db.transaction(force_rollback=True):
        assert take(db, 2, a) == ["1", "2"], "alone"
    # The next step of the search is 1.9 s away, as it may be under load.
    db.execute(
        "select setval(d.search, howdah._pace(clock_timestamp() + interval '1.9 s') & 1048575)"
        " from howdah.destinations d where d.name = 'q'"
    )
    b = open_consumer(db)
    assert take(db, 9, a) == ["1", "3", "5"]
    assert take(db, 9, b) == ["2", "4", "6"]


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
