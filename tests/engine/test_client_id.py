"""A connection that has claimed a client id: it publishes and subscribes under it, and nobody else claims it."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool
from support import Db, column, one, wait_until

from howdah.engine import ConnectionFactory, connect, lookup
from howdah.engine.aio import connect_async
from howdah.engine.errors import BadArgument, BadName, ClientIdInUse, IllegalState

CLAIMING = "select pid from pg_locks where locktype = 'advisory' and classid = 1213154386"


def bodies(dsn: str, subscription: str) -> list[object]:
    with connect(dsn) as reader, reader.session() as session, session.transaction():
        return [message.body for message in session.receive(subscription, 100)]


def test_a_client_id_is_claimed_as_long_as_its_connection_is_open(dsn: str) -> None:
    with connect(dsn, client_id="shop") as connection:
        assert connection.client_id == "shop"
        with pytest.raises(ClientIdInUse):
            connect(dsn, client_id="shop")
        with connect(dsn, client_id="desk") as other:
            assert other.client_id == "desk"
    connect(dsn, client_id="shop").close()


def test_what_a_connection_publishes_and_subscribes_to_is_under_its_client_id(dsn: str) -> None:
    with connect(dsn, client_id="shop") as connection, connect(dsn) as other:
        connection.admin.create_topic("prices")
        own = connection.admin.subscribe("prices", "a", no_local=True)
        anybodys = other.admin.subscribe("prices", "a")
        assert (own, anybodys) == ("prices:shop:a", "prices::a")
        connection.send("prices", "call")
        connection.send_async("prices", "async").result(30)
        with connection.session() as session, session.transaction():
            session.send("prices", "session")
            assert session.subscriber("prices", no_local=True).queue.startswith("prices:shop:~")
        producer = connection.windowed_producer("prices")
        producer.send("windowed")
        producer.close()
        other.send("prices", "other")
        assert connection.admin.subscribe("prices", "b", client_id="") == "prices::b"
    assert bodies(dsn, own) == ["other"]
    assert bodies(dsn, anybodys) == ["call", "async", "session", "windowed", "other"]


@pytest.mark.behaviour("IMQ-133")
def test_a_claimed_client_id_cannot_be_changed(dsn: str) -> None:
    with (
        ConnectionFactory(dsn, client_id="shop").create_connection() as connection,
        connection.session() as session,
        pytest.raises(IllegalState),
    ):
        session.set_client_id("desk")


def test_a_claim_that_the_server_ended_is_made_anew_or_lost_to_who_was_quicker(dsn: str, db: Db) -> None:
    with connect(dsn, client_id="shop") as connection:
        for _ in range(2):
            (pid,) = column(db, CLAIMING)
            one(db, "select pg_terminate_backend(%s)", (pid,))
            wait_until(lambda: column(db, CLAIMING) == [])
            connection.admin.list_topics()
            assert len(column(db, CLAIMING)) == 1
        (pid,) = column(db, CLAIMING)
        one(db, "select pg_terminate_backend(%s)", (pid,))
        wait_until(lambda: column(db, CLAIMING) == [])
        with connect(dsn, client_id="shop"), pytest.raises(ClientIdInUse):
            connection.session()
        connection.session().close()


def test_an_asyncio_connection_makes_a_claim_anew_or_loses_it_to_who_was_quicker(dsn: str, db: Db) -> None:
    def end() -> None:
        (pid,) = column(db, CLAIMING)
        one(db, "select pg_terminate_backend(%s)", (pid,))
        wait_until(lambda: column(db, CLAIMING) == [])

    one(db, """select howdah.create_object('shops', 'connection_factory', '{"client_id": "shop"}')""")

    async def scenario() -> None:
        async with connect_async(factory=lookup(dsn, "shops")) as connection:
            end()
            await connection.admin.list_topics()
            assert len(column(db, CLAIMING)) == 1
            end()
            async with connection.transaction():
                assert len(column(db, CLAIMING)) == 1
            end()
            with connect(dsn, client_id="shop"):
                for opening in (connection.session, connection.jms_session):
                    with pytest.raises(ClientIdInUse):
                        await opening()
            await (await connection.session()).close()

    asyncio.run(scenario())


def test_a_url_and_a_factory_name_a_client_id_too(dsn: str) -> None:
    with connect(f"{dsn}?jms.clientID=shop&jms.prefetchPolicy.queuePrefetch=7") as connection:
        assert (connection.client_id, connection.prefetch.queue) == ("shop", 7)
        with pytest.raises(ClientIdInUse):
            ConnectionFactory(dsn, client_id="shop").create_connection()
    connection = ConnectionFactory(dsn, client_id="shop").create_connection()
    assert connection.client_id == "shop"
    connection.close()


def test_a_client_id_needs_a_pool_of_howdahs_own_and_a_good_name(dsn: str, db: Db) -> None:
    with ConnectionPool(dsn, min_size=0, max_size=1, open=True) as pool, pytest.raises(BadArgument, match="pool"):
        connect(pool=pool, client_id="shop")
    with pytest.raises(BadName):
        connect(dsn, client_id="a b")
    assert column(db, CLAIMING) == []


def test_the_claim_is_made_in_the_connections_role(dsn: str, db: Db) -> None:
    with connect(dsn, client_id="shop", role="howdah_producer"):
        (pid,) = column(db, CLAIMING)
        assert pid
    user = conninfo_to_dict(dsn)["user"]
    with psycopg.connect(dsn) as asked:
        assert one(asked, "select current_user::text") == user
