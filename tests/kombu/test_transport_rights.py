"""Who may only send or receive needs no more rights, and hears of what he may not do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from celery_support import broker
from kombu import Consumer, Exchange, Producer, Queue
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from support import Db, column, one
from transport_support import NEWS, bodies, publish, reader

from howdah.engine.errors import (
    HowdahError,
    NoSuchQueue,
    NotAllowed,
)


def test_a_binding_that_was_refused_is_not_tried_again_by_a_consumer(db: Db, limited: Callable[..., str]) -> None:
    db.execute("select howdah.create_topic('news.exchange')")
    with broker(limited("howdah_producer", "howdah_consumer")) as connection:
        queue = reader(connection, "a")
        missing = Exchange("missing", "topic")(connection.default_channel)
        missing.declare()
        with pytest.raises(NoSuchQueue):
            queue.bind_to(missing, "a")
        (ended,) = column(db, "select subscription from howdah.list_subscriptions()")
        db.execute("select howdah.unsubscribe(%s)", [ended])
        channel = connection.default_channel
        assert channel.basic_get("reader") is None, "it makes its subscription anew"
        publish(connection, "a")
        assert channel.basic_get("reader").payload == "a"


@pytest.fixture
def limited(dsn: str, db: Db) -> Iterator[Callable[..., str]]:
    """Makes the DSN of a role that has some of Howdah's roles."""
    role = f"celery_{conninfo_to_dict(dsn)['dbname']}"
    name = sql.Identifier(role)

    def make(*roles: str) -> str:
        granted = sql.SQL(", ").join(map(sql.Identifier, roles))
        db.execute(sql.SQL("create role {} login password 'x'; grant {} to {}").format(name, granted, name))
        return psycopg.conninfo.make_conninfo(dsn, user=role, password="x")

    yield make
    db.execute(sql.SQL("drop owned by {}; drop role {}").format(name, name))


def test_who_only_sends_may_declare_and_hears_that_he_may_not_delete(db: Db, limited: Callable[..., str]) -> None:
    db.execute("select howdah.create_queue('celery'), howdah.send('celery', 'x'::text)")
    with broker(limited("howdah_producer")) as connection:
        channel = connection.default_channel
        assert channel.queue_declare("celery").message_count == 0
        assert channel.queue_declare("celery", passive=True).message_count == 0
        with pytest.raises(NotAllowed):
            channel.queue_delete("celery")
        assert channel._has_queue("celery")
    assert bodies(db, "celery") == ["x"]


def test_a_queue_that_was_never_made_is_deleted_without_a_right(limited: Callable[..., str]) -> None:
    with broker(limited("howdah_producer")) as connection:
        queue = Queue("passing", auto_delete=True)(connection.default_channel)
        queue.declare()
        queue.delete()


def test_who_may_not_unbind_hears_of_it(db: Db, limited: Callable[..., str]) -> None:
    as_admin = limited("howdah_admin")
    role = sql.Identifier(str(conninfo_to_dict(as_admin)["user"]))
    with broker(as_admin) as connection:
        queue = Queue("celery", Exchange("news", "topic"), "a")(connection.default_channel)
        queue.declare()
        db.execute(sql.SQL("revoke howdah_admin from {}; grant howdah_consumer to {}").format(role, role))
        with pytest.raises(NotAllowed):
            queue.unbind_from(queue.exchange, "a")
    assert one(db, "select count(*) from howdah.list_bridges('news.exchange')") == 1


def test_an_unbind_that_was_refused_can_be_made_again(db: Db, limited: Callable[..., str]) -> None:
    as_admin = limited("howdah_admin")
    role = sql.Identifier(str(conninfo_to_dict(as_admin)["user"]))
    with broker(as_admin) as connection:
        queue = Queue("celery", NEWS, "a")(connection.default_channel)
        queue.declare()
        queue.bind_to(NEWS, "b")
        db.execute(sql.SQL("revoke howdah_admin from {}; grant howdah_consumer to {}").format(role, role))
        with pytest.raises(NotAllowed):
            queue.unbind_from(NEWS, "a")
        db.execute(sql.SQL("grant howdah_admin to {}").format(role))
        queue.unbind_from(NEWS, "a")
    assert one(db, "select selector from howdah.list_bridges('news.exchange')") == "routing_key = 'b'"


def test_producers_and_consumers_need_no_more_rights_once_an_administrator_has_made_the_queues(
    db: Db, limited: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    as_limited = limited("howdah_producer", "howdah_consumer")
    with broker(as_limited) as connection, pytest.raises((NoSuchQueue, HowdahError)):
        connection.SimpleQueue("missing").put(1)
    assert "create" in caplog.text or "allowed" in caplog.text or "permission" in caplog.text
    db.execute("select howdah.create_queue('celery'), howdah.create_topic('celery.pidbox.exchange')")
    with broker(as_limited) as connection:
        connection.SimpleQueue("celery").put("a")
        connection.SimpleQueue("celery").get(timeout=5).ack()
        pidbox = Queue("me.celery.pidbox", Exchange("celery.pidbox", "fanout", durable=False), exclusive=True)
        with Consumer(connection, [pidbox], no_ack=True):
            Producer(connection).publish("ping", exchange=pidbox.exchange, routing_key="", serializer="json")
