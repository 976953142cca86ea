"""The first program of a JMS book, in Python and in SQL, on a server that no administrator prepared.

Nobody calls create_queue or create_topic: the first use of each name creates it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from support import Clock, Db, column, one, wait_until

from howdah.engine import ConnectionFactory, Message, connect
from howdah.engine.errors import NoSuchQueue

CREATED = "select name || ' ' || kind from howdah.destinations where auto_created order by 1"


@pytest.fixture
def client(db: Db, dsn: str) -> Iterator[str]:
    """The DSN of a client that may send and receive and nothing else; queues and topics create themselves."""
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    db.execute(
        "create role howdah_test_client login password 'secret'"
        " in role howdah_producer, howdah_consumer, howdah_browser"
    )
    yield make_conninfo(dsn, user="howdah_test_client", password="secret")
    db.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'howdah_test_client'")
    db.execute("drop owned by howdah_test_client; drop role howdah_test_client")


@pytest.mark.own_database
@pytest.mark.behaviour("AMQ-03")
@pytest.mark.behaviour("AMQ-04")
@pytest.mark.behaviour("AMQ-05")
@pytest.mark.behaviour("AMQ-06")
@pytest.mark.behaviour("AMQ-07")
@pytest.mark.behaviour("AMQ-08")
@pytest.mark.behaviour("AMQ-09")
@pytest.mark.behaviour("AMQ-10")
@pytest.mark.behaviour("AMQ-11")
def test_one_program_in_python(
    client: str, db: Db, clock: Clock, dead_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = conninfo_to_dict(client)
    host, port = parts["host"], parts["port"]
    # AMQ-03: a factory with defaults. AMQ-04: of several hosts the first that answers is taken.
    several = make_conninfo(
        client, host=f"{host},{host}", port=f"{dead_port},{port}", target_session_attrs="read-write"
    )
    monkeypatch.setenv("HOWDAH_DSN", several)
    with ConnectionFactory().create_connection() as connection:
        # AMQ-05: it is created stopped.
        connection.send("orders", "early")
        session = connection.session()
        assert session.receive("orders") == []
        connection.start()
        # AMQ-06: a transacted session holds one transaction.
        assert session.transacted
        assert [message.body for message in session.receive("orders", wait=5)] == ["early"]
        session.commit()
        # AMQ-07 and 08: one producer without a destination, three destinations.
        subscriber = session.subscriber("news")
        session.commit()
        producer = session.producer()
        producer.send("first", queue="first")
        first = one(session.connection, "select pg_current_xact_id()::text")
        producer.send("second", queue="second")
        producer.send("third", queue="news")
        assert one(session.connection, "select pg_current_xact_id()::text") == first
        session.commit()
        # AMQ-10: without the commit a consumer receives nothing.
        with connection.session() as other:
            assert [message.body for message in other.receive("first", wait=5)] == ["first"]
            producer.send("later", queue="first")
            assert other.receive("first") == []
            session.commit()
            assert [message.body for message in other.receive("first", wait=5)] == ["later"]
            other.commit()
        assert [message.body for message in session.receive("second")] == ["second"]
        news = subscriber.receive(5)
        assert news is not None
        assert news.body == "third"
        session.commit()
        # AMQ-09: delivery mode, priority and time to live.
        producer.send("x", queue="first", delivery_mode="non-persistent", priority=0, time_to_live=1)
        session.commit()
        (stored,) = session.browser("first")
        assert (stored.delivery_mode, stored.priority) == ("non-persistent", 0)
        assert stored.expires_at == clock.now + timedelta(milliseconds=1000)
        clock.advance(1)
        assert session.receive("first") == []
        session.commit()
        # AMQ-11: receive blocks; None ends the loop when another thread closes.
        consumer = session.consumer("loop")
        received: list[Message | None] = []
        thread = threading.Thread(target=lambda: received.extend(consumer.receive() for _ in range(2)))
        thread.start()
        wait_until(lambda: one(db, f"select 'loop queue' in ({CREATED.removesuffix(' order by 1')})"))
        connection.send("loop", "x")
        wait_until(lambda: received)
        consumer.close()
        thread.join(30)
        assert [message and message.body for message in received] == ["x", None]
    assert column(db, CREATED) == ["first queue", "loop queue", "news topic", "orders queue", "second queue"]


@pytest.mark.own_database
@pytest.mark.behaviour("AMQ-03")
@pytest.mark.behaviour("AMQ-04")
@pytest.mark.behaviour("AMQ-05")
@pytest.mark.behaviour("AMQ-06")
@pytest.mark.behaviour("AMQ-07")
@pytest.mark.behaviour("AMQ-08")
@pytest.mark.behaviour("AMQ-09")
@pytest.mark.behaviour("AMQ-10")
@pytest.mark.behaviour("AMQ-11")
def test_one_program_in_sql(client: str, db: Db, clock: Clock, dead_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: dict[str, Any] = conninfo_to_dict(client)
    # AMQ-03 and 04: libpq's defaults, and several hosts.
    monkeypatch.setenv("PGHOST", f"{parts['host']},{parts['host']}")
    monkeypatch.setenv("PGPORT", f"{dead_port},{parts['port']}")
    monkeypatch.setenv("PGTARGETSESSIONATTRS", "read-write")
    for name, variable in (("user", "PGUSER"), ("password", "PGPASSWORD"), ("dbname", "PGDATABASE")):
        monkeypatch.setenv(variable, str(parts[name]))
    with psycopg.connect("") as session, psycopg.connect("", autocommit=True) as other:
        assert session.info.port == int(parts["port"])
        # AMQ-05: nothing comes before it is asked for.
        one(other, "select howdah.send('orders', 'early')")
        assert one(session, "select count(*) from howdah.browse('orders')") == 1
        # AMQ-06: the transaction is the context of the work.
        assert column(session, "select body from howdah.receive('orders')") == ["early"]
        session.rollback()
        assert column(session, "select body from howdah.receive('orders')") == ["early"]
        session.commit()
        # AMQ-07 and 08: each send names its destination, a queue or a topic.
        name = one(session, "select howdah.subscribe('news', 'reader')")
        session.commit()
        for queue in ("first", "second", "news"):
            one(session, "select howdah.send(%s, %s)", (queue, queue))
        # AMQ-10: without the commit nobody receives. (A receive of a new name would wait for the commit.)
        assert column(other, "select body from howdah.browse('orders')") == []
        assert one(other, "select count(*) from howdah.list_queues() where queue = 'first'") == 0
        session.commit()
        for queue in ("first", "second"):
            assert column(other, "select body from howdah.receive(%s)", (queue,)) == [queue]
        one(session, "select howdah.send('first', 'later')")
        assert column(other, "select body from howdah.receive('first')") == []
        session.commit()
        assert column(other, "select body from howdah.receive('first')") == ["later"]
        assert column(other, "select body from howdah.receive(%s)", (name,)) == ["news"]
        # AMQ-09: delivery mode, priority and time to live.
        one(
            other,
            "select howdah.send('first', 'x', delivery_mode => 'non-persistent', priority => 0,"
            " time_to_live => '1000 ms')",
        )
        stored = other.execute("select delivery_mode, priority, expires_at from howdah.browse('first')").fetchall()
        assert stored == [("non-persistent", 0, clock.now + timedelta(seconds=1))]
        clock.advance(1)
        assert column(other, "select body from howdah.receive('first')") == []
        # AMQ-11: LISTEN, ask, receive once more, sleep; the end of the session ends the loop.
        ended: list[bool] = []
        received: list[str] = []
        waiting = psycopg.connect("", autocommit=True)

        def loop() -> None:
            waiting.execute("listen howdah")
            try:
                while True:
                    one(waiting, "select unsettled from howdah.wait('loop')")
                    received.extend(column(waiting, "select body from howdah.receive('loop')"))
                    list(waiting.notifies(timeout=0.25, stop_after=1))
            except psycopg.OperationalError:
                ended.append(True)

        thread = threading.Thread(target=loop)
        thread.start()
        one(other, "select howdah.send('loop', 'x')")
        wait_until(lambda: received == ["x"])
        one(db, "select pg_terminate_backend(%s)", (waiting.info.backend_pid,))
        thread.join(30)
        assert ended
    assert column(db, CREATED) == ["first queue", "loop queue", "news topic", "orders queue", "second queue"]


def test_while_it_is_off_a_missing_destination_is_invalid(dsn: str) -> None:
    with connect(dsn) as connection, connection.session() as session:
        for use in (
            lambda: session.send("q", "x"),
            lambda: session.receive("q"),
            lambda: session.subscriber("t"),
            lambda: connection.jms_session().consumer("q").receive(1),
        ):
            with pytest.raises(NoSuchQueue):
                use()
            session.rollback()


def test_a_jms_session_creates_what_it_uses(client: str, db: Db) -> None:
    with connect(client) as connection, connection.jms_session() as session:
        connection.start()
        consumer = session.consumer("q")
        assert consumer.receive(0.05) is None
        session.send("q", "x")
        message = consumer.receive(10)
        assert message is not None
        assert message.body == "x"
        subscriber = session.subscriber("t")
        session.send("t", "y")
        news = subscriber.receive(10)
        assert news is not None
        assert news.body == "y"
    assert column(db, CREATED) == ["q queue", "t topic"]


def test_a_transacted_consumer_that_waits_holds_up_no_first_sender(client: str, db: Db) -> None:
    with connect(client) as connection, connection.session() as session:
        consumer = session.consumer("q")
        received: list[Message | None] = []
        thread = threading.Thread(target=lambda: received.append(consumer.receive(30)))
        thread.start()
        wait_until(lambda: column(db, CREATED) == ["q queue"])
        connection.send("q", "x")
        thread.join()
        assert received[0] is not None
        session.commit()
