"""Celery with kombu's own transport for pgmq, unchanged, on the facade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pgmq.queue
import pytest
from celery import Celery
from celery_support import prepare, ran, url, worker
from kombu import Connection, Exchange, Message, Queue
from psycopg_pool import ConnectionPool
from support import Db, one, wait_until

from howdah.migrations import add_facade

pytestmark = [
    pytest.mark.own_database,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning"),
]

OPTIONS = {"init_extension": False, "wait_time_seconds": 0, "polling_interval": 0.05}


@pytest.fixture(autouse=True)
def pools_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what the client leaves open: a pool that its own thread collects cannot join that thread."""
    opened: list[ConnectionPool] = []

    def open_one(*args: Any, **options: Any) -> ConnectionPool:
        opened.append(ConnectionPool(*args, **options))
        return opened[-1]

    monkeypatch.setattr(pgmq.queue, "ConnectionPool", open_one)
    yield
    for pool in opened:
        pool.close()


@pytest.fixture
def app(dsn: str, db: Db) -> Celery:
    add_facade(dsn, "pgmq")
    prepare(db)
    made = Celery("sender", set_as_current=False)
    made.conf.update(
        broker_url=url(dsn, "pgmq"),
        broker_transport_options=OPTIONS,
        result_backend=url(dsn, "db+postgresql+psycopg"),
    )
    return made


@pytest.mark.slow
def test_tasks_run_with_results_retries_and_delays(dsn: str, db: Db, app: Celery, tmp_path: Path) -> None:
    with worker(dsn, tmp_path / "pgmq.log", "-c", "1", "--without-mingle", "--without-gossip", SHOP_PGMQ="1",
                SHOP_BROKER=url(dsn, "pgmq")):  # fmt: skip
        assert app.signature("shop.add", (2, 3)).apply_async().get(timeout=20) == 5
        app.signature("shop.record", ("late",)).apply_async(countdown=1)
        assert app.signature("shop.stumble", ("again",)).apply_async().get(timeout=20) == 2
        wait_until(lambda: "late" in ran(db), 20)
    assert ran(db).count("again") == 3
    assert one(db, "select queue_length from pgmq.metrics('celery')") == 0
    assert one(db, "select count(*) from howdah.list_queues() where queue = 'celery'") == 1


def test_its_reply_queues_have_names_that_pgmq_refuses(dsn: str, app: Celery) -> None:
    """A limit of the transport on pgmq itself, and so on the facade."""
    with app.connection_for_write() as connection, pytest.raises(Exception, match="queue name is too long"):
        app.control.inspect(timeout=1, connection=connection).ping()


def test_without_the_option_it_wants_the_extension(dsn: str, app: Celery) -> None:
    with pytest.raises(Exception, match="pgmq"):
        Connection(url(dsn, "pgmq")).connect()


@pytest.mark.first_case
@pytest.mark.parametrize(
    "more",
    [
        {"use_notify": True},
        pytest.param({"fifo_mode": "grouped"}, marks=pytest.mark.slow),
        pytest.param({"fifo_mode": "round_robin"}, marks=pytest.mark.slow),
    ],
)
def test_fanout_topics_and_its_other_ways_to_read(dsn: str, app: Celery, more: dict[str, Any]) -> None:
    heard: list[tuple[str, str]] = []

    def hear(queue: str) -> Callable[[str, Message], None]:
        def on_message(body: str, message: Message) -> None:
            heard.append((queue, body))
            message.ack()

        return on_message

    news, logs = Exchange("news", "fanout"), Exchange("logs", "topic")
    queues = (Queue("one", news), Queue("two", news), Queue("errors", logs, routing_key="*.error"))
    with Connection(url(dsn, "pgmq"), transport_options=OPTIONS | more) as connection, ExitStack() as consuming:
        for queue in queues:
            consuming.enter_context(connection.Consumer(queue, callbacks=[hear(queue.name)]))
        producer = connection.Producer()
        producer.publish("morning", exchange=news)
        producer.publish("bad", exchange=logs, routing_key="web.error")
        producer.publish("good", exchange=logs, routing_key="web.info")
        while len(heard) < 3:
            connection.drain_events(timeout=10)
    assert sorted(heard) == [("errors", "bad"), ("one", "morning"), ("two", "morning")]
