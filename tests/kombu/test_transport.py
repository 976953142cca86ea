"""kombu's own verbs over the transport."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from kombu import Connection, Consumer, Exchange, Producer, Queue
from psycopg.conninfo import conninfo_to_dict
from support import Clock, Connect, Db, column, one

from howdah.kombu import Transport, using


def url(dsn: str) -> str:
    """A DSN as users write it for Celery."""
    given = conninfo_to_dict(dsn)
    return f"howdah://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{given['dbname']}"


def broker(dsn: str, **options: Any) -> Connection:
    """A connection of kombu to the test's database."""
    return Connection(url(dsn), transport="howdah.kombu:Transport", transport_options=options)


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with broker(dsn) as opened:
        yield opened


def test_a_message_is_sent_received_and_acknowledged(connection: Connection, db: Db) -> None:
    with connection.SimpleQueue("orders") as queue:
        queue.put({"number": 1}, headers={"who": "tom"}, priority=7)
        assert column(db, "select body from howdah.browse('orders')") == ['{"number": 1}']
        message = queue.get(timeout=5)
        assert (message.payload, message.headers) == ({"number": 1}, {"who": "tom"})
        assert message.properties["priority"] == 7
        assert one(db, "select messages from howdah.list_leases('orders')") == 1
        message.ack()
    assert one(db, "select count(*) from howdah.list_leases('orders')") == 0
    assert one(db, "select consumed from howdah.queue_stats('orders')") == 1
