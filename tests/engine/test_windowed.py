"""Producers with a window: what waits for the database and what does not, and who hears of errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from support import Connect, Db, column, one, stays, wait_until

from howdah.engine import Connection, connect
from howdah.engine.errors import (
    BadArgument,
    BadPriority,
    CannotConnect,
    ConnectionLost,
    HowdahError,
    IllegalState,
    QueueFull,
)
from howdah.engine.sending import windowed
from howdah.engine.sending.windowed import Sent

TIMEOUT = 20
STORED = "select count(*) from howdah.msgs"
WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@pytest.fixture
def blocked(connect: Connect) -> Iterator[Db]:
    """The tables of messages are locked until this connection rolls back."""
    blocker = connect()
    blocker.execute("begin; lock table howdah.msgs, howdah.msgs_nonpersistent")
    yield blocker
    blocker.execute("rollback")


def bodies(db: Db, queue: str) -> list[str]:
    return column(db, "select body from howdah.browse(%s, 10000)", (queue,))


@pytest.mark.behaviour("AMQ-36")
@pytest.mark.behaviour("IMQ-122")
def test_a_non_persistent_send_returns_while_the_tables_are_locked_and_a_persistent_one_of_the_same_producer_does_not(
    connection: Connection, db: Db, blocked: Db, orders: str
) -> None:
    with connection.windowed_producer(orders) as producer, ThreadPoolExecutor() as threads:
        try:
            sending = threads.submit(lambda: [producer.send("x", delivery_mode="non-persistent") for _ in range(10)])
            futures = sending.result(TIMEOUT)
            persistent = threads.submit(producer.send, "x")
            wait_until(lambda: producer.unconfirmed_bytes == 11 and len(column(db, WAITING)) == 1)
            stays(lambda: not persistent.done() and not any(future.done() for future in futures), 0.1)
        finally:
            blocked.execute("rollback")
        numbers = [future.result(TIMEOUT) for future in futures]
        assert persistent.result(TIMEOUT).done()
    assert column(db, "select message_id from howdah.msgs_nonpersistent order by seq") == numbers


@pytest.mark.behaviour("AMQ-39")
def test_a_persistent_send_waits_for_its_commit(connection: Connection, db: Db, blocked: Db, orders: str) -> None:
    with connection.windowed_producer(orders) as producer, ThreadPoolExecutor() as threads:
        sending = threads.submit(producer.send, "x")
        stays(lambda: not sending.done(), 0.2)
        blocked.execute("rollback")
        assert sending.result(TIMEOUT).done()
        assert bodies(db, orders) == ["x"]
        with pytest.raises(BadPriority):
            producer.send("x", priority=11)


@pytest.mark.first_case
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("non-persistent", marks=pytest.mark.behaviour("AMQ-37")),
        pytest.param("persistent", marks=pytest.mark.behaviour("AMQ-41")),
    ],
)
def test_the_eleventh_message_of_10_kib_waits_for_room_in_a_window_of_102400(
    connection: Connection, db: Db, blocked: Db, orders: str, mode: str
) -> None:
    with (
        connection.windowed_producer(orders, window_bytes=102_400, asynchronous=True) as producer,
        ThreadPoolExecutor() as threads,
    ):
        for _ in range(10):
            producer.send("x" * 10_240, delivery_mode=mode)
        assert producer.unconfirmed_bytes == 102_400
        eleventh = threads.submit(producer.send, "y" * 10_240, delivery_mode=mode)
        stays(lambda: not eleventh.done(), 0.2)
        blocked.execute("rollback")
        assert eleventh.result(TIMEOUT).result(TIMEOUT)
        assert producer.unconfirmed_bytes == 0
    assert len(bodies(db, orders)) == 11


def test_a_message_larger_than_the_window_goes_alone(connection: Connection, db: Db, orders: str) -> None:
    with connection.windowed_producer(orders, window_bytes=10, asynchronous=True) as producer:
        for body in ("x" * 100, b"y" * 100, {"n": 1}):
            producer.send(body)
    assert one(db, STORED) == 3


@pytest.mark.behaviour("AMQ-41")
def test_persistent_messages_that_nobody_waits_for_need_a_window(connection: Connection, orders: str) -> None:
    with pytest.raises(BadArgument, match="asynchronous"):
        connection.windowed_producer(orders, asynchronous=True, window_bytes=0)
    with pytest.raises(BadArgument):
        connection.windowed_producer(orders, window_bytes=-1)
    with connection.windowed_producer(orders, window_bytes=0) as producer:
        producer.send("x")


def test_a_body_that_is_none_is_refused_by_the_server(connection: Connection, orders: str) -> None:
    with connection.windowed_producer(orders) as producer, pytest.raises(BadArgument):
        producer.send(None)  # type: ignore[arg-type]


@pytest.mark.behaviour("AMQ-38")
def test_of_a_full_queue_the_sender_hears_and_nothing_is_lost_in_silence(
    connection: Connection, db: Db, orders: str
) -> None:
    connection.admin.alter_queue(orders, message_limit=5)
    heard: list[Sent] = []
    with connection.windowed_producer(
        orders, asynchronous=True, window_bytes=100, on_complete=heard.append
    ) as producer:
        for n in range(20):
            producer.send(f"m{n:02}")
    assert [sent.body for sent in heard] == [f"m{n:02}" for n in range(20)]
    refused = [str(sent.body) for sent in heard if isinstance(sent.error, QueueFull)]
    assert sorted([*refused, *bodies(db, orders)]) == [f"m{n:02}" for n in range(20)]
    assert len(refused) == 15
    silent = connection.windowed_producer(orders, asynchronous=True)
    silent.send("x")
    with pytest.raises(QueueFull):
        silent.flush()
    silent.flush()
    silent.send("x")
    with pytest.raises(QueueFull):
        silent.close()
    silent.close()


@pytest.mark.behaviour("AMQ-40")
def test_use_async_send_commits_many_persistent_messages_at_once_and_reports_failures(
    connection: Connection, db: Db, blocked: Db, orders: str
) -> None:
    """What raises the throughput: nobody waits for a commit, and what waits meanwhile is committed together."""
    commits = "select count(distinct xmin::text) from howdah.msgs"
    with connection.windowed_producer(orders, asynchronous=True) as producer:
        futures = [producer.send(f"m{n}") for n in range(400)]
        assert not any(future.done() for future in futures), "all are handed over, and none can be stored yet"
        blocked.execute("rollback")
    assert one(db, STORED) == 400
    assert one(db, commits) <= 2, "those that the lock was waited for with, and all the others"
    db.execute("delete from howdah.msgs")
    with connection.windowed_producer(orders, asynchronous=False) as producer:
        for n in range(20):
            producer.send(f"m{n}")
    assert one(db, commits) == 20
    heard: list[Sent] = []
    with connection.windowed_producer(orders, asynchronous=True, on_complete=heard.append) as producer:
        good, bad = producer.send("x"), producer.send("y", priority=11)
        assert isinstance(bad.exception(TIMEOUT), BadPriority)
        assert good.result() == heard[0].message_id
    assert [type(sent.error) for sent in heard] == [type(None), BadPriority]


def test_one_bad_message_among_many_is_the_only_one_refused_and_order_is_kept(
    connection: Connection, db: Db, blocked: Db, orders: str
) -> None:
    heard: list[Sent] = []
    with connection.windowed_producer(orders, asynchronous=True, on_complete=heard.append) as producer:
        for n in range(100):  # most of them together, behind the lock
            producer.send(f"m{n:02}", priority=11 if n in (30, 60) else None, queue="none" if n == 90 else None)
        blocked.execute("rollback")
    good = [f"m{n:02}" for n in range(100) if n not in (30, 60, 90)]
    assert bodies(db, orders) == good
    assert [sent.body for sent in heard] == [f"m{n:02}" for n in range(100)]
    assert [sent.message_id for sent in heard if sent.error is None] == column(
        db, "select message_id from howdah.msgs order by seq"
    )


def test_a_killed_connection_is_told_to_all_whose_commit_is_not_known_and_the_next_send_has_another(
    connection: Connection, db: Db, blocked: Db, orders: str
) -> None:
    with connection.windowed_producer(orders, asynchronous=True) as producer:
        lost = producer.send("x")
        wait_until(lambda: len(column(db, WAITING)) == 1)
        one(db, "select pg_terminate_backend(%s)", column(db, WAITING))
        assert isinstance(lost.exception(TIMEOUT), ConnectionLost)
        blocked.execute("rollback")
        with suppress(HowdahError):  # the pool's idle connections may be dead, too
            producer.flush()
        assert producer.send("y").result(TIMEOUT)
    assert bodies(db, orders) == ["y"]


def test_a_listener_that_fails_or_waits_for_itself_stops_nothing(connection: Connection, db: Db, orders: str) -> None:
    raised: list[BaseException] = []

    def listener(sent: Sent) -> None:
        for wait in (producer.flush, producer.close):
            try:
                wait()
            except IllegalState as error:
                raised.append(error)
        if sent.body == "first":
            producer.send("second")
        raise RuntimeError("of the listener's own")

    with connection.windowed_producer(orders, asynchronous=True, window_bytes=1, on_complete=listener) as producer:
        producer.send("first")
        wait_until(lambda: len(raised) == 4)
    assert bodies(db, orders) == ["first", "second"]


@pytest.mark.slow
def test_many_threads_share_one_and_closing_sends_what_is_left(connection: Connection, db: Db, orders: str) -> None:
    producer = connection.windowed_producer(orders, asynchronous=True, window_bytes=1000)

    def send(number: int) -> None:
        for n in range(100):
            producer.send(f"{number}:{n}")

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connection.close()
    assert one(db, STORED) == 400
    for number in range(4):
        mine = [body for body in bodies(db, orders) if body.startswith(f"{number}:")]
        assert mine == [f"{number}:{n}" for n in range(100)]
    with pytest.raises(IllegalState):
        producer.send("x")


def test_a_flush_that_takes_too_long_says_so(connection: Connection, blocked: Db, orders: str) -> None:
    with connection.windowed_producer(asynchronous=True) as producer:
        with pytest.raises(BadArgument):
            producer.send("x")
        producer.send("x", queue=orders)
        with pytest.raises(TimeoutError):
            producer.flush(0.05)
        blocked.execute("rollback")


def test_an_idle_producer_gives_its_connection_back(dsn: str, orders: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windowed, "IDLE_SECONDS", 0.05)
    with connect(dsn, max_size=1, timeout=5) as connection, connection.windowed_producer(orders) as producer:
        for n in range(3):
            producer.send(f"m{n}")
            with connection.session() as session:
                assert len(session.browse(orders)) == n + 1


@pytest.mark.slow
def test_where_no_connection_comes_all_who_wait_hear_of_it_once(dsn: str, orders: str) -> None:
    with (
        connect(dsn, max_size=1, timeout=1) as connection,
        connection.session(),
        connection.windowed_producer(orders, asynchronous=True) as producer,
    ):
        futures = [producer.send(f"m{n}") for n in range(1200)]  # more than three transactions
        assert all(isinstance(future.exception(TIMEOUT), CannotConnect) for future in futures)
        assert connection.pool.get_stats()["requests_errors"] <= 2, "it was not waited for by each transaction"
        with pytest.raises(CannotConnect):
            producer.flush()
