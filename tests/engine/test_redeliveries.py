"""A message that is rolled back and blamed counts its redeliveries, up to the connection's own limit."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from support import Db, column, one, wait_until

from howdah.engine import Connection, ConnectionFactory, Message, Reject, Retry, connect
from howdah.engine.aio import connect_async
from howdah.engine.errors import BadArgument


def test_who_receives_by_himself_records_with_the_same_outcomes(connection: Connection, db: Db, orders: str) -> None:
    connection.send(orders, "x")
    connection.send(orders, "y")
    with connection.session() as session:
        (message,) = session.receive(orders)
        session.rollback()
    assert connection.record_failure(message, psycopg.errors.DeadlockDetected("deadlock")) is None
    incident = connection.record_failure(message, ValueError("x"), [(ValueError, Reject)])
    assert incident is not None
    assert (incident.message_id, incident.attempt, incident.outcome) == (message.message_id, 1, "moved")
    with connection.session() as session:
        (other,) = session.receive(orders)
        session.rollback()

    async def record() -> str:
        async with connect_async(db.info.dsn + f" password={db.info.password}") as asynchronous:
            incident = await asynchronous.record_failure(other, Retry(after=60))
            assert incident is not None
            return incident.outcome

    assert asyncio.run(record()) == "delayed"
    assert one(db, "select count(*) from howdah.poison_details") == 2


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-80")
@pytest.mark.parametrize(
    "written", ["url", "argument", pytest.param("factory", marks=pytest.mark.behaviour("AMQ-115"))]
)
def test_a_connection_may_have_a_limit_of_redeliveries_of_its_own(dsn: str, orders: str, db: Db, written: str) -> None:
    one(db, "select howdah.alter_queue('orders', '{\"max_failed_deliveries\": 0}')")
    url = "postgresql://?" + urlencode(conninfo_to_dict(dsn))
    option = "&jms.redeliveryPolicy.maximumRedeliveries=3"
    deliveries: list[int] = []

    def fail(message: Message) -> None:
        deliveries.append(message.delivery_count)
        raise ValueError("no")

    ways = {
        "url": lambda: connect(url + option),
        "argument": lambda: connect(dsn, max_redeliveries=3),
        "factory": ConnectionFactory(dsn, max_redeliveries=3).create_connection,
    }
    with ways[written]() as connection:
        connection.start()
        sent = connection.send(orders, "x")
        connection.session().consumer(orders).listener = fail
        wait_until(lambda: column(db, "select message_id from howdah.audit_messages where state = 'dead'") == [sent])
    assert deliveries == [1, 2, 3, 4]


def test_a_limit_of_redeliveries_is_a_number(dsn: str) -> None:
    for wrong in (-2, "many"):
        with pytest.raises(BadArgument, match="max_redeliveries"):
            connect(dsn, max_redeliveries=wrong)  # type: ignore[arg-type]


@pytest.mark.behaviour("AMQ-108")
def test_a_message_rolled_back_again_and_again_shows_it_in_every_session(connection: Connection, orders: str) -> None:
    connection.send(orders, "x")
    redeliveries = []
    for number in range(5):
        with connection.session() as session:
            (message,) = session.receive(orders)
            redeliveries.append(message.delivery_count - 1)
            assert message.redelivered is (number > 0)
            session.rollback()
        connection.record_failure(message, ValueError("no"))
    assert redeliveries == [0, 1, 2, 3, 4]


def test_who_blames_what_was_processed_after_a_rollback_leaves_the_rest_unblamed(
    connection: Connection, orders: str
) -> None:
    with connection.session() as session:
        session.send_many(orders, [str(number) for number in range(10)])
        session.commit()
        prefetched = session.receive(orders, 10)
        session.rollback()
        for processed in prefetched[:2]:
            connection.record_failure(processed, ValueError("no"))
        again = session.receive(orders, 10)
        assert [message.message_id for message in again] == [message.message_id for message in prefetched]
        assert [message.delivery_count - 1 for message in again] == [1, 1] + [0] * 8
