"""Request and reply, and producers that do not wait, behind PgBouncer in transaction mode."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from poolers import PGBOUNCER, pooler
from support import Db, column, one

from howdah.audit import AuditError
from howdah.audit.snapshot import exported
from howdah.engine import Connection, Requestor, connect
from howdah.engine.aio import connect_async
from howdah.engine.aio.requests import AsyncRequestor

TEMPORARY = "select queue from howdah.list_queues(true) where queue like '\\_TEMP%%'"
TIMEOUT = 20

pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="needs pgbouncer")


@pytest.fixture
def pooled(dsn: str) -> Iterator[str]:
    """The test's database through a pooler that gives a client a backend for one transaction."""
    with pooler(dsn) as through:
        yield through


def serve(connection: Connection, stopping: threading.Event) -> None:
    with connection.session() as session:
        while not stopping.is_set():
            for message in session.receive("q", 10, wait=0.1):
                session.respond(message, str(message.body).upper())
            session.commit()


def test_requests_are_answered_and_no_backend_keeps_anything_of_its_clients(pooled: str, db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    stopping = threading.Event()
    with connect(pooled, prepare=False) as connection:
        serving = threading.Thread(target=serve, args=(connection, stopping))
        serving.start()
        try:
            with Requestor(connection, "q") as requestor:
                replies = [requestor.submit(f"m{n}") for n in range(10)]
                assert [reply.result(TIMEOUT).body for reply in replies] == [f"M{n}" for n in range(10)]
                assert column(db, TEMPORARY) == [requestor.reply_to]

            async def scenario() -> None:
                async with connect_async(pooled, prepare=False) as own, AsyncRequestor(own, "q") as requestor:
                    assert (await requestor.request("x", TIMEOUT)).body == "X"

            asyncio.run(scenario())
        finally:
            stopping.set()
            serving.join()
        assert column(db, TEMPORARY) == []
        assert column(db, "select 1 from pg_locks where locktype = 'advisory'") == []
        for _ in range(3):  # all the backends that the pooler has
            assert one(connection.session().connection, "select current_setting('howdah.connection', true)") in (
                "",
                None,
            )


def test_a_producer_that_does_not_wait_sends_all(pooled: str, db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    with (
        connect(pooled, prepare=False) as connection,
        connection.windowed_producer("q", asynchronous=True, window_bytes=1000) as producer,
    ):
        sent = [producer.send(f"m{n}") for n in range(200)]
    assert column(db, "select message_id from howdah.msgs order by seq") == [future.result() for future in sent]


def test_an_audit_behind_the_pooler_is_refused(pooled: str) -> None:
    with pytest.raises(AuditError, match="connection pooler"), exported(pooled):
        pass


def test_results_are_awaited_by_threads_and_asyncio(pooled: str, db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"keep_results_ms": 60000}')""")
    found: list[object] = []

    async def wait(number: int) -> object:
        async with connect_async(pooled, prepare=False) as connection:
            return (await connection.result("q", number, wait=TIMEOUT)).value

    with connect(pooled, prepare=False) as connection:
        number = connection.send("q", "a")
        assert connection.result("q", number, wait=0.1).state == "waiting"
        waiting = [
            threading.Thread(target=lambda: found.append(asyncio.run(wait(number)))),
            threading.Thread(target=lambda: found.append(connection.result("q", number, wait=TIMEOUT).value)),
        ]
        for thread in waiting:
            thread.start()
        with connection.session() as session:
            (message,) = session.receive("q")
            session.keep_result(message, [1])
            session.commit()
        for thread in waiting:
            thread.join(TIMEOUT)
    assert found == [[1], [1]]
