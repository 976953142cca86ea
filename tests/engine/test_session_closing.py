"""Closing a session ends what waits, rolls back, and refuses all that comes later."""

from __future__ import annotations

import threading

import pytest
from support import Connect, Db, one, stays, wait_until, wait_until_blocked

from howdah.engine import Connection, Message, connect
from howdah.engine.database.waiting import Idle
from howdah.engine.errors import IllegalState


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-11")
@pytest.mark.parametrize("what", ["session", "consumer", "connection"])
def test_receive_blocks_and_close_from_another_thread_ends_it(
    dsn: str, orders: str, what: str, rare: set[Idle]
) -> None:
    with connect(dsn) as connection:
        session = connection.session()
        consumer = session.consumer(orders)
        received: list[Message | None] = []
        thread = threading.Thread(target=lambda: received.extend(consumer.receive() for _ in range(2)))
        thread.start()
        wait_until(lambda: rare)
        assert received == []
        sent = connection.send(orders, "x")
        wait_until(lambda: received and rare)
        closed = {"session": session, "consumer": consumer, "connection": connection}[what]
        closed.close()  # type: ignore[attr-defined]
        thread.join(10)
        assert not thread.is_alive(), "by itself it would have looked again after half a minute"
        first, second = received
        assert first is not None
        assert (first.message_id, second) == (sent, None)
        assert consumer.receive() is None
        assert list(consumer) == []


def test_close_waits_for_a_statement_under_way_and_commits_nothing(
    connection: Connection, db: Db, connect: Connect, orders: str
) -> None:
    session = connection.session()
    blocker = connect()
    blocker.execute("begin; lock table howdah.msgs")
    errors: list[BaseException] = []

    def send_and_commit() -> None:
        try:
            session.send(orders, "y")
            session.commit()
        except IllegalState as error:
            errors.append(error)

    sending = threading.Thread(target=send_and_commit)
    sending.start()
    wait_until_blocked(db, session.connection)
    closing = threading.Thread(target=session.close)
    closing.start()
    wait_until(lambda: session.closed)
    stays(closing.is_alive, 0.1)
    blocker.execute("rollback")
    for thread in (sending, closing):
        thread.join(20)
        assert not thread.is_alive()
    assert len(errors) == 1
    assert one(db, "select count(*) from howdah.msgs") == 0


def test_ten_threads_closing_give_the_connection_back_once(dsn: str) -> None:
    with connect(dsn, max_size=1, timeout=5) as connection:
        session = connection.session()
        threads = [threading.Thread(target=session.close) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        connection.session().close()
        assert connection.pool.get_stats()["pool_size"] == 1


def test_a_closed_session_refuses(connection: Connection, orders: str) -> None:
    session = connection.session()
    session.close()
    session.close()
    assert session.closed
    assert session.receive(orders, wait=5) == []
    for verb in (
        lambda: session.send(orders, "x"),
        lambda: session.browse(orders),
        lambda: session.receive_now(orders),
        lambda: session.listen(orders, print),
        lambda: session.connection,
        session.commit,
        session.rollback,
    ):
        with pytest.raises(IllegalState, match="closed"):
            verb()


def test_close_rolls_back(connection: Connection, db: Db, orders: str) -> None:
    with connection.session() as session:
        session.send(orders, "x")
    wait_until(lambda: one(db, "select count(*) from howdah.msgs") == 0)
