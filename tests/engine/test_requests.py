"""Request and reply: many outstanding on one temporary queue, out of order, in time or late."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from support import Db, column, one, until, wait_until

from howdah.engine import Connection, Message, Requestor, Session, connect
from howdah.engine.aio import connect_async
from howdah.engine.aio.requests import AsyncRequestor
from howdah.engine.calls import temporary
from howdah.engine.errors import BadArgument, ConnectionLost, IllegalState, NoReply, NoSuchQueue

TIMEOUT = 20

TEMPORARY = "select queue from howdah.list_queues(true) where queue like '\\_TEMP%%'"


@contextmanager
def serving(connection: Connection, queue: str) -> Iterator[None]:
    """A service that answers each request with its body in capitals."""
    stopping = threading.Event()

    def serve() -> None:
        with connection.session() as session:
            while not stopping.is_set():
                for message in session.receive(queue, 10, wait=0.1):
                    session.respond(message, str(message.body).upper())
                session.commit()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def received(session: Session, queue: str, count: int) -> list[Message]:
    """So many messages of a queue."""
    messages: list[Message] = []
    while len(messages) < count:
        messages += session.receive(queue, count - len(messages), wait=TIMEOUT)
    return messages


@pytest.mark.behaviour("AMQ-27")
def test_a_responder_uses_the_reply_queue_and_the_correlation_id_of_the_request(
    connection: Connection, orders: str
) -> None:
    connection.admin.create_queue("answers")
    connection.send(orders, "question", reply_to="answers", correlation_id="c1")
    with connection.session() as session, session.transaction():
        (request,) = session.receive(orders)
        assert session.respond(request, "answer") is not None
    with connection.session() as session, session.transaction():
        (reply,) = session.receive("answers")
        assert (reply.body, reply.correlation_id) == ("answer", "c1")


@pytest.mark.behaviour("AMQ-31")
def test_one_call_returns_the_reply(connection: Connection, orders: str) -> None:
    with serving(connection, orders), Requestor(connection, orders) as requestor:
        assert requestor.request("hello", timeout=TIMEOUT).body == "HELLO"
        assert requestor.request("again", timeout=TIMEOUT, priority=9, headers={"a": 1}).body == "AGAIN"


@pytest.mark.behaviour("AMQ-31")
def test_no_reply_in_time_is_an_error_and_a_late_one_is_dropped(connection: Connection, db: Db, orders: str) -> None:
    with Requestor(connection, orders) as requestor:
        with pytest.raises(NoReply, match=r"within 0\.05 seconds"):
            requestor.request("slow", timeout=0.05)
        with connection.session() as session, session.transaction():
            (request,) = session.receive(orders)
            session.respond(request, "late")
        wait_until(lambda: requestor.late == 1)
        with serving(connection, orders):
            assert requestor.request("next", timeout=TIMEOUT).body == "NEXT"
    assert column(db, "select body from howdah.msgs_nonpersistent") == []


@pytest.mark.behaviour("AMQ-29")
def test_ten_requests_at_once_on_one_queue_are_answered_out_of_order_and_all_matched(
    connection: Connection, orders: str
) -> None:
    with Requestor(connection, orders) as requestor, ThreadPoolExecutor(10) as threads:
        replies = [threads.submit(requestor.request, f"q{n}", TIMEOUT) for n in range(10)]
        with connection.session() as session:
            requests = received(session, orders, 10)
            assert {request.reply_to for request in requests} == {requestor.reply_to}
            assert len({request.correlation_id for request in requests}) == 10
            for request in reversed(requests):
                session.respond(request, f"to {request.body!s}")
                session.commit()
        assert [reply.result(TIMEOUT).body for reply in replies] == [f"to q{n}" for n in range(10)]


@pytest.mark.behaviour("AMQ-30")
def test_the_reply_has_the_requests_correlation_id_and_is_non_persistent(connection: Connection, orders: str) -> None:
    with serving(connection, orders), Requestor(connection, orders) as requestor:
        reply = requestor.request("x", TIMEOUT, correlation_id="my own")
        assert (reply.correlation_id, reply.delivery_mode) == ("my own", "non-persistent")
        assert reply.queue == requestor.reply_to


def test_a_request_without_a_correlation_id_is_answered_under_its_number(connection: Connection, orders: str) -> None:
    connection.admin.create_queue("answers")
    sent = connection.send(orders, "x", reply_to="answers")
    connection.send(orders, "nobody asks for an answer")
    with connection.session() as session:
        (request,) = session.receive(orders)
        session.respond(request, "y", delivery_mode="persistent", headers={"h": 1})
        (reply,) = session.receive("answers")
        assert (reply.correlation_id, reply.delivery_mode, reply.headers) == (f"ID:{sent}", "persistent", {"h": 1})
        (request,) = session.receive(orders)
        assert session.respond(request, "y") is None


def test_who_asks_a_topic_gets_the_first_answer(connection: Connection) -> None:
    connection.admin.create_topic("weather")
    names = [connection.admin.subscribe("weather", name) for name in ("a", "b")]
    with serving(connection, names[0]), serving(connection, names[1]), Requestor(connection, "weather") as requestor:
        assert requestor.request("sun", TIMEOUT).body == "SUN"
        wait_until(lambda: requestor.late == 1)


def test_wrong_requests_are_refused_and_leave_nothing_waiting(connection: Connection, orders: str) -> None:
    with Requestor(connection) as requestor:
        with pytest.raises(BadArgument):
            requestor.request("x")
        with pytest.raises(NoSuchQueue):
            requestor.request("x", queue="none")
        requestor.submit("x", queue=orders, correlation_id="twice")
        with pytest.raises(BadArgument, match="twice"):
            requestor.submit("x", queue=orders, correlation_id="twice")
        waiting = requestor.submit("x", queue=orders)
    with pytest.raises(IllegalState):
        waiting.result(TIMEOUT)
    with pytest.raises(IllegalState):
        requestor.request("x", queue=orders)
    requestor.close()


def test_the_queue_is_gone_and_the_session_nobodys_once_the_requestor_is_closed(dsn: str, db: Db, orders: str) -> None:
    with connect(dsn, max_size=3) as connection:
        with serving(connection, orders), Requestor(connection, orders) as requestor:
            requestor.request("x", TIMEOUT)
            assert column(db, TEMPORARY) == [requestor.reply_to]
        assert column(db, TEMPORARY) == []
        with connection.session() as one_of, connection.session() as other:
            for session in (one_of, other, connection.session()):
                assert one(session.connection, "select current_setting('howdah.connection', true)") in ("", None)
    assert column(db, "select 1 from pg_locks where locktype = 'advisory'") == []


@pytest.mark.behaviour("IMQ-101")
def test_who_waits_hears_of_a_killed_connection_and_the_next_request_goes_by_another_queue(
    connection: Connection, db: Db, orders: str
) -> None:
    with Requestor(connection, orders) as requestor:
        waiting = requestor.submit("x")
        first = requestor.reply_to
        one(
            db,
            "select bool_and(pg_terminate_backend(pid)) from pg_locks where locktype = 'advisory'"
            " and mode = 'ExclusiveLock'"
            " and database = (select oid from pg_database where datname = current_database())",
        )
        with pytest.raises(ConnectionLost):
            waiting.result(TIMEOUT)
        with connection.session() as session:
            (request,) = session.receive(orders, wait=TIMEOUT)
            assert session.respond(request, "to nobody") is None
            session.commit()
        with serving(connection, orders):
            assert requestor.request("y", TIMEOUT).body == "Y"
            assert requestor.reply_to != first


def test_behind_a_pooler_the_token_stands_for_the_connection(
    connection: Connection, dsn: str, db: Db, orders: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary, "is_direct", lambda connection, backend: False)
    with serving(connection, orders):
        with Requestor(connection, orders) as requestor:
            assert requestor.request("x", TIMEOUT).body == "X"
            assert column(db, "select connection like 's-%%' from howdah.temporary_queues") == [False]
        assert column(db, TEMPORARY) == []

        async def scenario() -> None:
            async with connect_async(dsn) as own, AsyncRequestor(own, orders) as requestor:
                assert (await requestor.request("y", TIMEOUT)).body == "Y"
            assert column(db, TEMPORARY) == []

        asyncio.run(scenario())


def test_asyncio_ten_at_once_late_and_lost(dsn: str, connection: Connection, db: Db, orders: str) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as own:
            async with AsyncRequestor(own, orders) as requestor:
                with pytest.raises(NoReply):
                    await requestor.request("late", 0.05)
                with serving(connection, orders):
                    replies = await asyncio.gather(*(requestor.request(f"q{n}", TIMEOUT) for n in range(10)))
                    assert [reply.body for reply in replies] == [f"Q{n}" for n in range(10)]
                    assert requestor.late == 1
                    with pytest.raises(NoSuchQueue):
                        await requestor.request("x", queue="none")
                waiting = asyncio.create_task(requestor.request("x", TIMEOUT))
                await until(lambda: column(db, "select body from howdah.browse(%s)", (orders,)) == ["x"])
            with pytest.raises(IllegalState):
                await waiting
            with pytest.raises(IllegalState):
                await requestor.request("x")
        assert column(db, TEMPORARY) == []

    asyncio.run(scenario())


def test_a_round_trip_takes_milliseconds(connection: Connection, orders: str) -> None:
    with serving(connection, orders), Requestor(connection, orders) as requestor:
        taken = []
        for _ in range(40):
            began = time.monotonic()
            requestor.request("x", TIMEOUT)
            taken.append(time.monotonic() - began)
    # Measured: 3 to 6 ms. A quarter of them, for what else the machine does makes others later; looks alone would leave
    # one in ten.
    assert sorted(taken)[10] < 0.1


def test_a_session_takes_one_message_by_number_or_correlation_id_and_browses_by_selector(
    connection: Connection, dsn: str, orders: str
) -> None:
    numbers = [connection.send(orders, f"m{n}", correlation_id=f"c{n % 2}", headers={"n": n}) for n in range(6)]
    with connection.session() as session:
        taken = session.receive_message(orders, numbers[3])
        assert taken is not None
        assert taken.body == "m3"
        assert session.receive_message(orders, numbers[3]) is None
        assert [m.body for m in session.receive_correlated(orders, "c1", 9)] == ["m1", "m5"]
        session.rollback()
        assert [m.body for m in session.browser(orders, "n > 3")] == ["m4", "m5"]
        assert [m.body for m in session.browse(orders, correlation_id="c0")] == ["m0", "m2", "m4"]

    async def scenario() -> None:
        async with connect_async(dsn) as own, own.transaction() as session:
            taken = await session.receive_message(orders, numbers[0])
            assert taken is not None
            assert await session.receive_message(orders, numbers[0]) is None
            assert [m.body for m in await session.receive_correlated(orders, "c0", 9)] == ["m2", "m4"]
            assert [m.body for m in await session.browse(orders, selector="n = 1")] == ["m1"]

    asyncio.run(scenario())
