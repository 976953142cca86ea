"""A session with an acknowledge mode outlives a crash of the server and the loss of its connection."""

from __future__ import annotations

import psycopg
import pytest
from ack_support import consumed
from support import Db, column, wait_until

from howdah.engine import AckMode, Connection, connect
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.errors import ConnectionLost


@pytest.mark.behaviour("IMQ-26")
def test_after_acknowledge_returned_a_crash_of_everything_brings_nothing_back(private_server: EmbeddedServer) -> None:
    with connect(private_server.start().dsn) as connection:
        connection.admin.create_queue("orders")
        sent = [connection.send("orders", str(n)) for n in range(3)]
        session = connection.jms_session(mode=AckMode.INDIVIDUAL)
        consumer = session.consumer("orders", prefetch=0)
        for _ in range(2):
            message = consumer.receive(5)
            assert message is not None
            message.acknowledge()
        private_server.stop("immediate")
    with connect(private_server.start().dsn) as connection, connection.jms_session() as session:
        consumer = session.consumer("orders")
        message = consumer.receive(5)
        assert message is not None
        assert message.message_id == sent[2]
        assert consumer.receive(0) is None


@pytest.mark.behaviour("IMQ-27")
def test_an_acknowledgement_that_did_not_arrive_brings_the_message_again(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = connection.send(orders, "x")
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders)
        assert consumer.receive(5) is not None
        db.execute("select pg_terminate_backend(%s, 5000)", (session.connection.info.backend_pid,))
        with pytest.raises(ConnectionLost):
            session.commit()
        again = consumer.receive(5)
        assert again is not None
        assert (again.message_id, again.body) == (sent, "x")
        session.commit()
    assert consumed(db) == [sent]


def test_a_transacted_session_that_lost_its_connection_rolls_back_and_goes_on(
    connection: Connection, orders: str, db: Db
) -> None:
    sent = connection.send(orders, "x")
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders)
        assert consumer.receive(5) is not None
        session.send(orders, "never sent")
        db.execute("select pg_terminate_backend(%s, 5000)", (session.connection.info.backend_pid,))
        with pytest.raises(ConnectionLost):
            session.send(orders, "never sent either")
        session.rollback()
        again = consumer.receive(5)
        assert again is not None
        assert (again.message_id, again.delivery_count) == (sent, 2)
        session.send(orders, "sent")
        session.commit()
    assert column(db, "select body from howdah.browse('orders')") == ["sent"]


@pytest.mark.slow
def test_a_session_goes_on_after_the_server_was_away(private_server: EmbeddedServer) -> None:
    with connect(private_server.start().dsn) as connection:
        connection.admin.create_queue("orders")
        sent = [connection.send("orders", str(n)) for n in range(3)]
        seen: list[int] = []
        session = connection.jms_session()
        session.consumer("orders", prefetch=2).listener = lambda message: seen.append(message.message_id)
        wait_until(lambda: len(seen) == 3)
        private_server.stop("immediate")
        private_server.start()

        def send_again() -> bool:
            try:
                sent.append(connection.send("orders", "later"))
            except (psycopg.Error, ConnectionError):
                return False
            return True

        wait_until(send_again)
        wait_until(lambda: seen[-1] == sent[-1])
        assert set(seen) == set(sent)
