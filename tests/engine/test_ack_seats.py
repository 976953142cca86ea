"""Sessions with acknowledge modes at queues that tell their consumers apart.

Groups, single, failover, in turn, exclusive.
"""

from __future__ import annotations

import pytest
from support import Clock, Connect, Db, column, one, refused

from howdah.engine import AckMode, AckSession, Connection, Delivery, connect
from howdah.engine.errors import BadArgument, ConsumerRefused, SubscriptionInUse

OPEN = "select consumer from howdah.list_consumers('orders')"


@pytest.fixture
def queue(connection: Connection, request: pytest.FixtureRequest) -> str:
    connection.admin.create_queue("orders", **request.param)
    return "orders"


def body(message: Delivery | None) -> str | bytes | None:
    return None if message is None else message.body


def send(connection: Connection, *groups: str) -> None:
    for number, group in enumerate(groups):
        connection.send("orders", f"{group}{number}", headers={"JMSXGroupID": group})


@pytest.mark.first_case
@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.CLIENT])
@pytest.mark.parametrize("prefetch", [0, 10])
@pytest.mark.parametrize("queue", [{"message_groups": "sticky"}], indirect=True)
def test_groups_stick_to_the_session_that_has_them(
    connection: Connection, db: Db, queue: str, mode: AckMode, prefetch: int
) -> None:
    send(connection, "a", "b", "a")
    with connection.jms_session(mode=mode) as one_, connection.jms_session(mode=mode) as other:
        first, second = one_.consumer(queue, prefetch=prefetch), other.consumer(queue, prefetch=prefetch)
        message = first.receive(5)
        assert message is not None
        assert message.body == "a0"
        message.acknowledge()
        groups = {message.body for message in (second.receive_nowait(), second.receive_nowait()) if message is not None}
        assert groups <= {"b1"}, "a2 belongs to the first"
        other.acknowledge()
        rest = [message.body for message in (first.receive_nowait(), first.receive_nowait()) if message is not None]
        one_.acknowledge()
        assert rest[-1] == "a2"
        assert len(column(db, OPEN)) == 2
    assert column(db, OPEN) == []


@pytest.mark.parametrize("queue", [{"message_groups": "none"}], indirect=True)
def test_a_queue_that_does_not_ask_for_consumers_has_none_open(connection: Connection, db: Db, queue: str) -> None:
    send(connection, "a")
    with connection.jms_session() as session:
        assert session.consumer(queue).receive(5) is not None
        assert column(db, OPEN) == []


@pytest.mark.parametrize("queue", [{"delivery_policy": "failover"}], indirect=True)
def test_the_next_session_takes_over_when_the_first_one_closes(connection: Connection, db: Db, queue: str) -> None:
    with connection.jms_session() as first, connection.jms_session() as second:
        active, waiting = first.consumer(queue, prefetch=1), second.consumer(queue, prefetch=1)
        assert (active.receive_nowait(), waiting.receive_nowait()) == (None, None)
        send(connection, "a", "a", "a")
        assert waiting.receive_nowait() is None
        assert body(active.receive(5)) == "a0"
        active.close()
        assert body(waiting.receive(5)) == "a1"
        first.close()
        assert len(column(db, OPEN)) == 1


@pytest.mark.parametrize("queue", [{"delivery_policy": "single"}], indirect=True)
def test_a_second_session_is_refused_where_one_may_receive_until_that_is_gone(
    connection: Connection, queue: str
) -> None:
    send(connection, "a", "a")
    with connection.jms_session() as second:
        waiting = second.consumer(queue, prefetch=1)
        with connection.jms_session() as first:
            assert first.consumer(queue, prefetch=1).receive(5) is not None
            with pytest.raises(ConsumerRefused):
                waiting.receive_nowait()
        assert body(waiting.receive(5)) == "a1"


@pytest.mark.parametrize("queue", [{"delivery_policy": "round_robin"}], indirect=True)
def test_sessions_get_messages_in_turn(connection: Connection, queue: str) -> None:
    with connection.jms_session() as first, connection.jms_session() as second:
        consumers = [session.consumer(queue, prefetch=0) for session in (first, second)]
        assert [consumer.receive_nowait() for consumer in consumers] == [None, None]
        send(connection, *"abcdef")
        got = [
            [message.body for message in iter(consumer.receive_nowait, None) if message is not None]
            for consumer in consumers
        ]
        assert got == [["a0", "c2", "e4"], ["b1", "d3", "f5"]]


@pytest.mark.first_case
@pytest.mark.parametrize("queue", [{}], indirect=True)
@pytest.mark.parametrize("given", ["argument", "option"])
def test_an_exclusive_consumer_has_the_queue_to_itself(connection: Connection, db: Db, queue: str, given: str) -> None:
    with connection.jms_session() as common, connection.jms_session(mode=AckMode.CLIENT) as alone:
        other = common.consumer(queue, prefetch=1)
        if given == "argument":
            exclusive = alone.consumer(queue, prefetch=1, exclusive=True, priority=3)
        else:
            exclusive = alone.consumer(f"{queue}?consumer.exclusive=true&consumer.priority=3&consumer.prefetchSize=1")
        assert db.execute("select exclusive, priority from howdah.list_consumers('orders')").fetchall() == [(True, 3)]
        send(connection, "a", "a")
        assert other.receive_nowait() is None
        message = exclusive.receive(5)
        assert message is not None
        assert message.body == "a0"
        message.acknowledge()
        exclusive.close()
        assert body(other.receive(5)) == "a1"


@pytest.mark.parametrize("queue", [{}], indirect=True)
def test_wrong_options_of_a_consumer_are_refused_and_leave_none_open(
    connection: Connection, db: Db, queue: str
) -> None:
    with connection.jms_session() as session:
        for wrong in ("consumer.exclusive=maybe", "consumer.priority=high", "consumer.priority=128"):
            with pytest.raises(BadArgument):
                session.consumer(f"{queue}?{wrong}")
        assert column(db, OPEN) == []


@pytest.mark.parametrize("queue", [{"delivery_policy": "failover"}], indirect=True)
def test_a_session_that_works_off_what_it_holds_keeps_its_place(dsn: str, db: Db, clock: Clock, queue: str) -> None:
    with connect(dsn, lease_duration=30) as connection, connection.jms_session() as session:
        busy = session.consumer(queue, prefetch=10)
        send(connection, "a", "a", "a")
        assert busy.receive(5) is not None
        for _ in range(3):
            clock.advance(20)
            connection.keeper.beat()
        assert one(db, "select howdah.maintain_consumers()") == 0
        number = one(db, OPEN)
        clock.advance(31)  # nobody renewed it in time
        assert one(db, "select howdah.maintain_consumers()") == 1
        connection.keeper.beat()
        assert busy.seat.number is None
        busy.holding.drop(busy.holding.leases)
        connection.send("orders", "later")
        assert busy.receive(5) is not None
        assert one(db, OPEN) != number


@pytest.mark.parametrize("queue", [{"delivery_policy": "failover"}], indirect=True)
def test_only_those_who_may_receive_renew_a_consumer(
    connection: Connection, db: Db, connect: Connect, queue: str
) -> None:
    number = one(db, "select howdah.open_consumer('orders')")
    call = "select howdah.renew_consumers(%s)"
    assert column(connect("howdah_consumer"), call, ([number, number + 1],)) == [number]
    refused(connect("howdah_producer"), "42501", call, ([number],))
    refused(db, "HD005", call, (None,))
    assert column(db, call, ([],)) == []
    one(db, "select howdah.close_consumer(%s)", (number,))
    assert column(db, call, ([number],)) == []


@pytest.fixture(params=["", "desk"], ids=["without client id", "with client id"])
def board(connection: Connection, request: pytest.FixtureRequest) -> str:
    """The name of an unshared durable subscription with ten messages."""
    connection.admin.create_topic("stocks")
    name = connection.admin.subscribe("stocks", "board", client_id=request.param)
    for n in range(10):
        connection.send("stocks", str(n))
    return name


@pytest.mark.first_case
@pytest.mark.parametrize("mode", AckMode)
def test_an_unshared_subscription_takes_one_sessions_consumer_and_refuses_the_second(
    connection: Connection, dsn: str, board: str, mode: AckMode
) -> None:
    def session(owner: Connection) -> AckSession:
        return owner.jms_session(transacted=mode is AckMode.SESSION_TRANSACTED, mode=mode)

    with session(connection) as mine, connect(dsn) as elsewhere:
        consumer = mine.consumer(board, prefetch=3)
        for owner in (connection, elsewhere):
            with session(owner) as second, pytest.raises(SubscriptionInUse):
                second.consumer(board)
        got = [consumer.receive(5) for _ in range(5)]
        assert [message and message.body for message in got] == [str(n) for n in range(5)], (
            "it receives ahead and goes on"
        )
        if mode is AckMode.SESSION_TRANSACTED:
            mine.commit()
        elif mode is AckMode.INDIVIDUAL:
            for message in got:
                message.acknowledge()  # type: ignore[union-attr]
        else:
            mine.acknowledge()
        consumer.close()
        with session(elsewhere) as second:
            following = second.consumer(board).receive(5)
            assert following is not None
            assert (following.body, following.delivery_count) == ("5", 1)


@pytest.mark.first_case
def test_what_a_closed_consumer_delivered_keeps_its_subscription_until_it_is_acknowledged(
    connection: Connection, board: str
) -> None:
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        consumer = session.consumer(board)
        assert consumer.receive(5) is not None
        consumer.close()
        with pytest.raises(SubscriptionInUse):
            connection.admin.unsubscribe(board)
        session.acknowledge()
        connection.admin.unsubscribe(board)


@pytest.mark.first_case
def test_a_subscription_is_not_ended_while_a_sessions_consumer_of_it_is_open(
    connection: Connection, board: str
) -> None:
    with connection.jms_session() as session:
        session.consumer(board)
        with pytest.raises(SubscriptionInUse):
            connection.admin.unsubscribe(board)
    connection.admin.unsubscribe(board)


def test_any_number_of_sessions_consume_a_shared_subscription(connection: Connection) -> None:
    connection.admin.create_topic("stocks")
    name = connection.admin.subscribe("stocks", "board", shared=True)
    sent = [connection.send("stocks", str(n)) for n in range(4)]
    with connection.jms_session() as one_session, connection.jms_session() as other:
        consumers = [session.consumer(name, prefetch=1) for session in (one_session, other)]
        got = [consumer.receive(5) for _ in range(2) for consumer in consumers]
        assert sorted(message.message_id for message in got if message) == sent
