"""The published Python client of pgmq, unchanged, on the facade."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from pgmq import PGMQueue
from support import Db, one

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database


@pytest.fixture
def client(dsn: str) -> Iterator[Any]:
    """The client. What it returns is one message or several, and its types do not say which."""
    add_facade(dsn, "pgmq")
    made = PGMQueue(conn_string=dsn, init_extension=False, pool_size=2)
    yield made
    made.close()


def test_a_message_is_sent_read_and_deleted(client: Any) -> None:
    client.create_queue("tasks")
    number = client.send("tasks", {"hello": "world"})
    message = client.read("tasks", vt=30)
    assert (message.msg_id, message.read_ct, message.message) == (number, 1, {"hello": "world"})
    assert client.read("tasks", vt=30) is None
    assert client.delete("tasks", number) is True
    assert client.delete("tasks", number) is False


def test_batches_keep_their_order_and_headers(client: Any) -> None:
    client.create_queue("tasks")
    numbers = client.send_batch("tasks", [{"n": n} for n in range(5)], headers=[{"k": n} for n in range(5)])
    read = client.read_batch("tasks", vt=30, batch_size=3)
    assert [(m.msg_id, m.message["n"], m.headers["k"]) for m in read] == [(numbers[n], n, n) for n in range(3)]
    assert sorted(client.delete_batch("tasks", [*numbers[:3], 999])) == numbers[:3]
    assert [m.message["n"] for m in client.pop("tasks", qty=5)] == [3, 4]


def test_a_delay_hides_a_message_and_set_vt_shows_it(client: Any) -> None:
    client.create_queue("tasks")
    number = client.send("tasks", {"n": 1}, delay=60)
    assert client.read("tasks", vt=30) is None
    assert client.set_vt("tasks", number, 0).read_ct == 0
    assert client.read("tasks", vt=30).msg_id == number
    later = datetime.now(UTC) + timedelta(hours=2)
    assert client.set_vt("tasks", number, later).vt == later
    assert client.read("tasks", vt=30) is None


def test_archived_messages_are_kept_with_their_bodies(client: Any, db: Db) -> None:
    client.create_queue("tasks")
    numbers = client.send_batch("tasks", [{"n": 1}, {"n": 2}])
    client.read("tasks", vt=30)
    assert client.archive("tasks", numbers[0]) is True
    assert client.archive_batch("tasks", numbers) == numbers[1:]
    kept = db.execute("select msg_id, read_ct, message from pgmq.a_tasks order by 1").fetchall()
    assert kept == [(numbers[0], 1, {"n": 1}), (numbers[1], 0, {"n": 2})]


def test_queues_are_listed_measured_purged_and_dropped(client: Any) -> None:
    client.create_queue("tasks")
    client.create_queue("fast", unlogged=True)
    with pytest.warns(UserWarning, match="QueueRecord"):  # its own result has changed
        assert sorted(queue.queue_name for queue in client.list_queues()) == ["fast", "tasks"]
    client.send_batch("tasks", [{"n": 1}, {"n": 2}])
    client.read("tasks", vt=30)
    measured = client.metrics("tasks")
    assert (measured.queue_length, measured.total_messages, measured.queue_visible_length) == (2, 2, 1)
    assert client.purge("tasks") == 2
    assert client.drop_queue("tasks") is True
    with pytest.raises(psycopg.errors.UndefinedTable):
        client.send("tasks", {"n": 3})


def test_topics_route_copies_to_queues(client: Any) -> None:
    for queue in ("errors", "all"):
        client.create_queue(queue)
    client.bind_topic("*.error", "errors")
    client.bind_topic("#", "all")
    assert client.send_topic("web.error", {"n": 1}) == 2
    assert client.send_topic("web.info", {"n": 2}) == 1
    assert [m.message["n"] for m in client.pop("all", qty=5)] == [1, 2]
    assert [m.message["n"] for m in client.pop("errors", qty=5)] == [1]


def test_what_a_client_reads_is_the_queue_of_howdah(client: Any, db: Db) -> None:
    client.create_queue("tasks")
    client.send("tasks", {"n": 1})
    db.execute("select howdah.send('tasks', 'plain text')")
    read = client.read_batch("tasks", vt=30, batch_size=5)
    assert [m.message for m in read] == [{"n": 1}, "plain text"]
    assert one(db, "select count(*) from howdah.receive('tasks')") == 0
    client.set_vt("tasks", read[0].msg_id, 0)
    assert one(db, "select body from howdah.receive('tasks')") == '{"n": 1}'
    assert client.metrics("tasks").queue_length == 1
