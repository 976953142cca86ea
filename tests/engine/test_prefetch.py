"""Receiving ahead: how much a consumer holds, and when it acknowledges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ack_support import consumed
from ahead_support import OPTIMIZED, READY, held, ids, send, take, vanish
from support import Clock, Db, column, one, wait_until

from howdah.engine import AckMode, AckSession, AckType, Connection, Prefetch, connect
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
