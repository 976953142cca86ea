"""Receiving ahead: how much a consumer holds, when it acknowledges, and what that leaves to others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest
from ahead_support import OPTIMIZED, READY, consumed, held, ids, send, take, vanish
from psycopg.conninfo import conninfo_to_dict
from support import Clock, Db, column, one, wait_until

from howdah.engine import AckMode, AckSession, AckType, Connection, ConnectionFactory, Prefetch, connect, lookup
from howdah.engine.aio import connect_async
from howdah.engine.calls import scalar
from howdah.engine.database import runner
from howdah.engine.errors import BadArgument, InvalidSelector


@pytest.fixture
def eager(dsn: str) -> Iterator[Connection]:
    """A connection whose consumers acknowledge optimised, and at no timeout."""
    with connect(dsn, prefetch=OPTIMIZED) as connection:
        yield connection


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that go to the server from now on."""
    seen: list[str] = []
    execute = runner._execute

    def counting(connection, call):  # type: ignore[no-untyped-def]
        seen.append(call.sql)
        return execute(connection, call)

    monkeypatch.setattr(runner, "_execute", counting)
    return seen


def acks(statements: list[str]) -> int:
    return sum("howdah.ack" in sql for sql in statements)


@pytest.mark.behaviour("AMQ-71")
@pytest.mark.behaviour("AMQ-82")
def test_an_optimised_consumer_acknowledges_at_65_percent_of_its_prefetch(
    eager: Connection, orders: str, db: Db, statements: list[str]
) -> None:
    send(eager, orders, 100)
    with eager.jms_session() as session:
        consumer = session.consumer(orders, prefetch=100)
        take(consumer, 64)
        assert (acks(statements), held(db)) == (0, 100)
        take(consumer, 1)
        assert (acks(statements), held(db)) == (1, 35)
        take(consumer, 35)
        assert acks(statements) == 1
    assert acks(statements) == 2, "closing acknowledges the rest"
    assert held(db) == 0
    assert len(column(db, READY)) == 0


@pytest.mark.behaviour("AMQ-72")
def test_a_single_message_is_acknowledged_when_the_time_out_is_over(dsn: str, orders: str, db: Db) -> None:
    with connect(dsn, prefetch=Prefetch(optimize_acknowledge=True, optimize_timeout=0.2)) as connection:
        send(connection, orders, 2)
        with connection.jms_session() as session:
            take(session.consumer(orders), 1)
            wait_until(lambda: session.acks == {AckType.STANDARD: 1})
            assert held(db) == 1
    with pytest.raises(BadArgument):
        Prefetch(optimize_timeout=-1)


@pytest.mark.behaviour("AMQ-73")
@pytest.mark.behaviour("AMQ-74")
def test_the_option_of_a_destination_wins_over_the_connections_and_kinds_have_their_own(dsn: str, orders: str) -> None:
    url = "postgresql://?" + urlencode(conninfo_to_dict(dsn))
    kinds = {"queuePrefetch": 12, "durableTopicPrefetch": 7, "topicPrefetch": 40}
    options = "".join(f"&jms.prefetchPolicy.{kind}={size}" for kind, size in kinds.items())
    with connect(url + options + "&jms.optimizeAcknowledgeTimeOut=30000") as connection:
        connection.admin.create_queue("other")
        with connection.jms_session() as session:
            assert session.consumer("other").prefetch == 12
            assert session.consumer(f"{orders}?consumer.prefetchSize=100").prefetch == 100
            assert session.consumer(f"{orders}?consumer.prefetchSize=100", prefetch=3).prefetch == 3
            connection.admin.create_topic("stocks")
            for client_id in ("", "desk"):
                name = connection.admin.subscribe("stocks", "audit", client_id=client_id)
                assert session.consumer(name).prefetch == 7
            assert session.subscriber("stocks").prefetch == 40
            assert session.subscriber("stocks?consumer.prefetchSize=5").prefetch == 5
            assert session.consumer(orders).window.timeout == 30
            for wrong in ("consumer.prefetchSize=x", "consumer.prefetchSize=-1", "consumer.color=red"):
                with pytest.raises(BadArgument):
                    session.consumer(f"{orders}?{wrong}")
    with connect(dsn) as connection, connection.jms_session() as session:
        assert session.subscriber("stocks").prefetch == 32767, "unless told otherwise"
    with pytest.raises(BadArgument, match=r"jms\.what"):
        connect(f"{url}&jms.what=1")


@pytest.mark.parametrize("place", ["argument", "environment"])
@pytest.mark.parametrize("way", ["connect", "factory", "factory with an account", "connect_async", "lookup"])
def test_the_urls_options_hold_wherever_the_url_stands(
    dsn: str, orders: str, monkeypatch: pytest.MonkeyPatch, place: str, way: str
) -> None:
    parts = conninfo_to_dict(dsn)
    options = "&jms.prefetchPolicy.queuePrefetch=12&jms.clientID=desk&jms.redeliveryPolicy.maximumRedeliveries=3"
    url: str | None = "postgresql://?" + urlencode(parts) + options
    if place == "environment":
        monkeypatch.setenv("HOWDAH_DSN", str(url))
        url = None

    async def awaited() -> tuple[int, str | None, int | None]:
        async with connect_async(url) as connection, await connection.jms_session() as session:
            consumer = await session.consumer(orders)
            return consumer._consumer.prefetch, connection.client_id, connection.max_redeliveries

    user, password = str(parts["user"]), str(parts["password"])
    ways = {
        "connect": lambda: connect(url),
        "factory": lambda: ConnectionFactory(url).create_connection(),
        "factory with an account": lambda: ConnectionFactory(url, user=user, password=password).create_connection(),
    }
    if way == "lookup":
        with connect(dsn) as connection:
            connection.call(
                scalar(
                    "create_object",
                    name=("text", "queues/orders"),
                    kind=("text", "queue"),
                    attributes=("jsonb", '{"destination": "orders"}'),
                )
            )
        assert lookup(url, "queues/orders") == "orders"
    elif way == "connect_async":
        assert asyncio.run(awaited()) == (12, "desk", 3)
    else:
        with ways[way]() as connection:
            assert (connection.client_id, connection.max_redeliveries) == ("desk", 3)
            connection.start()
            with connection.jms_session() as session:
                assert session.consumer(orders).prefetch == 12


@pytest.mark.behaviour("AMQ-75")
def test_optimised_acknowledgement_needs_a_prefetch(connection: Connection, orders: str) -> None:
    with connection.jms_session() as session:
        with pytest.raises(BadArgument, match="above 0"):
            session.consumer(orders, prefetch=0, optimize_acknowledge=True)
        with pytest.raises(BadArgument, match="above 0"):
            session.consumer(f"{orders}?consumer.prefetchSize=0&consumer.optimizeAcknowledge=true")
        assert session.consumer(orders, prefetch=0, optimize_acknowledge=False).prefetch == 0
    with pytest.raises(BadArgument, match="above 0"):
        Prefetch(queue=0, optimize_acknowledge=True)


@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.CLIENT, AckMode.INDIVIDUAL])
@pytest.mark.behaviour("AMQ-76")
def test_without_prefetch_each_receive_takes_one_and_leaves_the_rest(
    connection: Connection, orders: str, mode: AckMode
) -> None:
    sent = send(connection, orders, 4)
    with connection.jms_session(mode=mode) as session, connection.jms_session(mode=mode) as other:
        pull, another = session.consumer(orders, prefetch=0), other.consumer(orders, prefetch=0)
        assert ids(take(pull, 1) + take(another, 2) + take(pull, 1)) == sent
        assert pull.receive(0) is None


@pytest.mark.behaviour("AMQ-77")
@pytest.mark.behaviour("AMQ-78")
def test_what_is_held_ahead_is_nobody_elses_and_comes_without_a_statement(
    connection: Connection, orders: str, statements: list[str]
) -> None:
    sent = send(connection, orders, 12)
    with connection.jms_session(mode=AckMode.CLIENT) as session, connection.jms_session() as other:
        consumer = session.consumer(orders, prefetch=10)
        first = take(consumer, 1)
        assert ids(take(other.consumer(orders), 2)) == sent[10:]
        del statements[:]
        assert ids(first + take(consumer, 3)) == sent[:4]
        assert statements == []


@pytest.mark.parametrize("prefetch", [0, 10])
def test_a_consumer_with_a_selector_claims_nothing_else(connection: Connection, orders: str, prefetch: int) -> None:
    for price in (5, 15, 25):
        connection.send(orders, str(price), headers={"price": price})
    with connection.jms_session() as session:
        consumer = session.consumer(orders, selector="price > 10", prefetch=prefetch)
        assert [message.body for message in take(consumer, 2)] == ["15", "25"]
        assert consumer.receive(0) is None
        assert [message.body for message in take(session.consumer(orders), 1)] == ["5"]
        with pytest.raises(InvalidSelector):
            session.consumer(orders, selector="price >")


@pytest.mark.behaviour("IMQ-14")
def test_fifty_consumers_share_four_database_connections(dsn: str, orders: str, db: Db) -> None:
    backends = (
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        " and backend_type = 'client backend'"
    )
    before = one(db, backends)
    with connect(dsn, max_size=4) as connection, ExitStack() as stack:
        sent = send(connection, orders, 50)
        sessions = [stack.enter_context(connection.jms_session(mode=AckMode.CLIENT)) for _ in range(50)]
        consumers = [session.consumer(orders, prefetch=0) for session in sessions]
        with ThreadPoolExecutor(50) as threads:
            received = list(threads.map(lambda consumer: take(consumer, 1)[0].message_id, consumers))
        assert sorted(received) == sent
        assert one(db, backends) - before <= 5, "four, and one that listens"
        for session in sessions:
            session.acknowledge()
    assert len(column(db, READY)) == 0


@pytest.mark.behaviour("AMQ-79")
def test_a_listener_needs_a_prefetch(connection: Connection, orders: str) -> None:
    with connection.jms_session() as session:
        consumer = session.consumer(orders, prefetch=0)
        with pytest.raises(BadArgument, match="prefetch size of zero"):
            consumer.listener = print
        assert consumer.listener is None


@pytest.mark.behaviour("AMQ-83")
def test_optimised_acknowledgement_is_for_auto_sessions_only(
    eager: Connection, orders: str, statements: list[str]
) -> None:
    send(eager, orders, 10)
    for mode in (AckMode.CLIENT, AckMode.INDIVIDUAL):
        with eager.jms_session(mode=mode) as session:
            take(session.consumer(orders, prefetch=10), 10)
            assert acks(statements) == 0
    with eager.jms_session(transacted=True) as session:
        take(session.consumer(orders, prefetch=10), 10)
        assert acks(statements) == 0
        session.commit()
        assert acks(statements) == 1


@pytest.mark.behaviour("AMQ-84")
def test_a_consumer_holds_1000_ahead_unless_told_otherwise(connection: Connection, orders: str, db: Db) -> None:
    send(connection, orders, 1300)
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders)
        assert consumer.prefetch == 1000
        delivered = 0
        while delivered < 1100:
            delivered += len(take(consumer, 100))
            assert len(consumer.holding.ahead) <= 1000
            assert held(db) <= 1000 + delivered
        connection.admin.create_topic("stocks")
        assert session.consumer(connection.admin.subscribe("stocks", "audit")).prefetch == 100


@pytest.mark.behaviour("AMQ-85")
def test_an_interval_touches_only_the_consumers_own(connection: Connection, orders: str, db: Db) -> None:
    sent = send(connection, orders, 9)
    mode = AckMode.CLIENT
    with connection.jms_session(mode=mode) as session, connection.jms_session(mode=mode) as other:
        mine, theirs = session.consumer(orders, prefetch=0), other.consumer(orders, prefetch=0)
        messages = [take(consumer, 1)[0] for _ in range(4) for consumer in (mine, theirs)]
        own = messages[::2]
        assert mine.acknowledge_interval(own[0], own[2]) == 3
        assert consumed(db) == [sent[n] for n in (0, 2, 4)]
        with pytest.raises(BadArgument):
            mine.acknowledge_interval(own[0], own[3])
        with pytest.raises(BadArgument):
            mine.acknowledge_interval(own[3], messages[1])
        session.acknowledge()
        other.acknowledge()
    assert column(db, READY) == sent[8:]


@pytest.mark.behaviour("AMQ-93")
def test_half_a_prefetch_delivered_lets_the_window_grow_and_deletes_nothing(
    connection: Connection, orders: str, db: Db, statements: list[str]
) -> None:
    send(connection, orders, 200)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        consumer = session.consumer(orders, prefetch=100)
        take(consumer, 49)
        assert (session.acks[AckType.DELIVERED], held(db)) == (0, 100)
        take(consumer, 1)
        assert (session.acks[AckType.DELIVERED], held(db)) == (1, 150)
        assert (acks(statements), len(column(db, READY))) == (0, 50)


@pytest.mark.behaviour("AMQ-94")
@pytest.mark.behaviour("AMQ-95")
def test_a_client_that_acknowledges_nothing_stalls_and_others_get_the_rest(
    connection: Connection, orders: str, db: Db
) -> None:
    connection.admin.alter_queue(orders, notify_admin=True)
    sent = send(connection, orders, 200)
    with connection.jms_session(mode=AckMode.CLIENT) as session, connection.jms_session() as other:
        consumer = session.consumer(orders, prefetch=100)
        assert len(take(consumer, 150)) == 150
        assert not consumer.slow
        assert consumer.receive(0.05) is None
        assert consumer.receive(0.05) is None
        assert consumer.slow
        assert column(db, "select body::json ->> 'event' from howdah.browse('_SYSTEM.Advisory')") == ["SLOW_CONSUMER"]
        facts = one(db, "select body::json ->> 'unacknowledged' from howdah.browse('_SYSTEM.Advisory')")
        assert facts == "150"
        assert ids(take(other.consumer(orders), 50)) == sent[150:]
        connection.send(orders, "later")
        session.acknowledge()
        assert not consumer.slow
        assert consumer.receive(5) is not None


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-96")
@pytest.mark.parametrize(("prefetch", "optimize", "expected"), [(100, True, 1), (1, True, 70), (100, False, 70)])
def test_dups_ok_on_a_queue_acknowledges_as_auto_does(  # type: ignore[no-untyped-def]
    eager: Connection, orders: str, statements: list[str], prefetch, optimize, expected
) -> None:
    send(eager, orders, 70)
    with eager.jms_session(mode=AckMode.DUPS_OK) as session:
        take(session.consumer(orders, prefetch=prefetch, optimize_acknowledge=optimize), 70)
        assert acks(statements) == expected


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-97")
@pytest.mark.parametrize("optimize", [False, True])
def test_dups_ok_on_a_topic_acknowledges_at_half_and_what_was_not_comes_again_after_a_crash(
    dsn: str, eager: Connection, db: Db, clock: Clock, optimize: bool
) -> None:
    db.execute("select howdah.create_topic('t'); select howdah.subscribe('t', 'all')")
    sent = send(eager, "t", 100)

    def use(session: AckSession) -> None:
        consumer = session.consumer("t::all", prefetch=100, optimize_acknowledge=optimize)
        take(consumer, 49)
        assert session.acks[AckType.STANDARD] == 0
        take(consumer, 11)
        assert session.acks[AckType.STANDARD] == 1

    vanish(dsn, use, mode=AckMode.DUPS_OK)
    clock.advance(61)
    with eager.jms_session(mode=AckMode.DUPS_OK) as session:
        assert ids(take(session.consumer("t::all"), 50)) == sent[50:]


def shared_out(
    connection: Connection, queue: str, prefetch: int, paces: list[int], arrivals: list[int]
) -> tuple[list[int], int]:
    """How many messages each consumer handled, and in how many ticks of a clock that only the test moves on.

    Consumer n is done with a message after paces[n] ticks and asks then; arrivals[t] messages are sent at tick t.
    """
    sessions = [connection.jms_session() for _ in paces]
    consumers = [session.consumer(queue, prefetch=prefetch) for session in sessions]
    counts, free_at, tick = [0] * len(paces), [0] * len(paces), 0
    while sum(counts) < sum(arrivals):
        send(connection, queue, arrivals[tick] if tick < len(arrivals) else 0)
        for number, consumer in enumerate(consumers):
            if free_at[number] <= tick and consumer.receive_nowait() is not None:
                counts[number] += 1
                free_at[number] = tick + paces[number]
        tick += 1
    for session in sessions:
        session.close()
    return counts, tick


@pytest.mark.behaviour("AMQ-120")
def test_a_prefetch_of_one_gives_four_equal_consumers_a_quarter_each(connection: Connection, orders: str) -> None:
    counts, _ = shared_out(connection, orders, 1, [1] * 4, [400])
    assert all(90 <= count <= 110 for count in counts), counts
    assert connection.admin.queue_stats(orders)[0]["live"] == 0


@pytest.mark.behaviour("AMQ-120")
def test_a_large_prefetch_gives_all_messages_to_the_first(connection: Connection, orders: str) -> None:
    assert shared_out(connection, orders, 1000, [1] * 4, [60]) == ([60, 0, 0, 0], 60)


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-120")
def test_a_slow_consumer_with_a_small_prefetch_leaves_the_messages_to_the_fast_ones(
    connection: Connection, orders: str
) -> None:
    assert shared_out(connection, orders, 1, [9, 1, 1, 1], [56]) == ([2, 18, 18, 18], 18)
    assert shared_out(connection, orders, 14, [9, 1, 1, 1], [56]) == ([14, 14, 14, 14], 118)


@pytest.mark.behaviour("AMQ-120")
def test_of_a_slow_producer_a_moderate_prefetch_gives_every_consumer_work_and_a_large_one_does_not(
    connection: Connection, orders: str
) -> None:
    slow_producer = [8, 0, 0] * 4
    assert shared_out(connection, orders, 2, [1] * 4, slow_producer) == ([8, 8, 8, 8], 11)
    assert shared_out(connection, orders, 1000, [1] * 4, slow_producer) == ([16, 8, 8, 0], 17)


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-120")
@pytest.mark.parametrize(("prefetch", "optimized"), [(1, False), (100, True)])
def test_no_handled_message_comes_again_with_a_prefetch_of_one_and_no_optimised_acknowledgement(
    dsn: str, connection: Connection, orders: str, clock: Clock, prefetch: int, optimized: bool
) -> None:
    sent = send(connection, orders, 10)
    vanish(dsn, lambda session: take(session.consumer(orders, prefetch=prefetch, optimize_acknowledge=optimized), 5))
    clock.advance(61)
    with connection.jms_session() as session:
        again = take(session.consumer(orders), 10 if optimized else 5)
        assert ids(again) == (sent if optimized else sent[5:])
        assert any(message.redelivered for message in again) is optimized


@pytest.mark.behaviour("SIB-34")
def test_a_message_held_ahead_in_memory_is_the_stored_one(dsn: str, orders: str, db: Db) -> None:
    for number, level in enumerate(("EXPRESS_NONPERSISTENT", "RELIABLE_PERSISTENT", "ASSURED_PERSISTENT")):
        one(
            db,
            "select howdah.send(%s, %s::text, headers => jsonb_build_object('n', %s::integer), reliability => %s)",
            (orders, str(number) * 5000, number, level),
        )
    fields = ("message_id", "body", "headers", "priority", "sent_at", "reliability", "delivery_mode")
    stored = db.execute(f"select {', '.join(fields)} from howdah.browse(%s)".encode(), (orders,)).fetchall()
    with connect(dsn) as connection, connection.jms_session() as session:
        consumer = session.consumer(orders, prefetch=10)
        got = take(consumer, 3)
        assert [tuple(getattr(message, name) for name in fields) for message in got] == stored
