"""A destination's prefetch wins over its connection's, and a URL's options hold wherever it stands."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import pytest
from ahead_support import held, send, take
from psycopg.conninfo import conninfo_to_dict
from support import Db

from howdah.engine import Connection, ConnectionFactory, connect, lookup
from howdah.engine.aio import connect_async
from howdah.engine.calls import scalar
from howdah.engine.errors import BadArgument


@pytest.mark.behaviour("AMQ-73")
@pytest.mark.behaviour("AMQ-74")
def test_the_option_of_a_destination_wins_over_the_connections_and_kinds_have_their_own(dsn: str, orders: str) -> None:
    url = "postgresql://?" + urlencode(conninfo_to_dict(dsn))
    kinds = {"queuePrefetch": 12, "durableTopicPrefetch": 7, "topicPrefetch": 40}
    options = "".join(f"&jms.prefetchPolicy.{kind}={size}" for kind, size in kinds.items())
    with connect(url + options + "&jms.optimizeAcknowledgeTimeOut=30000") as connection:
        connection.admin.create_queue("other")
        with connection.jms_session() as session:
            assert session.consumer("other").prefetch == 12
            assert session.consumer(f"{orders}?consumer.prefetchSize=100").prefetch == 100
            assert session.consumer(f"{orders}?consumer.prefetchSize=100", prefetch=3).prefetch == 3
            connection.admin.create_topic("stocks")
            for client_id in ("", "desk"):
                name = connection.admin.subscribe("stocks", "audit", client_id=client_id)
                assert session.consumer(name).prefetch == 7
            assert session.subscriber("stocks").prefetch == 40
            assert session.subscriber("stocks?consumer.prefetchSize=5").prefetch == 5
            assert session.consumer(orders).window.timeout == 30
            for wrong in ("consumer.prefetchSize=x", "consumer.prefetchSize=-1", "consumer.color=red"):
                with pytest.raises(BadArgument):
                    session.consumer(f"{orders}?{wrong}")
    with connect(dsn) as connection, connection.jms_session() as session:
        assert session.subscriber("stocks").prefetch == 32767, "unless told otherwise"
    with pytest.raises(BadArgument, match=r"jms\.what"):
        connect(f"{url}&jms.what=1")


@pytest.mark.parametrize("place", ["argument", "environment"])
@pytest.mark.parametrize("way", ["connect", "factory", "factory with an account", "connect_async", "lookup"])
def test_the_urls_options_hold_wherever_the_url_stands(
    dsn: str, orders: str, monkeypatch: pytest.MonkeyPatch, place: str, way: str
) -> None:
    parts = conninfo_to_dict(dsn)
    options = "&jms.prefetchPolicy.queuePrefetch=12&jms.clientID=desk&jms.redeliveryPolicy.maximumRedeliveries=3"
    url: str | None = "postgresql://?" + urlencode(parts) + options
    if place == "environment":
        monkeypatch.setenv("HOWDAH_DSN", str(url))
        url = None

    async def awaited() -> tuple[int, str | None, int | None]:
        async with connect_async(url) as connection, await connection.jms_session() as session:
            consumer = await session.consumer(orders)
            return consumer._consumer.prefetch, connection.client_id, connection.max_redeliveries

    user, password = str(parts["user"]), str(parts["password"])
    ways = {
        "connect": lambda: connect(url),
        "factory": lambda: ConnectionFactory(url).create_connection(),
        "factory with an account": lambda: ConnectionFactory(url, user=user, password=password).create_connection(),
    }
    if way == "lookup":
        with connect(dsn) as connection:
            connection.call(
                scalar(
                    "create_object",
                    name=("text", "queues/orders"),
                    kind=("text", "queue"),
                    attributes=("jsonb", '{"destination": "orders"}'),
                )
            )
        assert lookup(url, "queues/orders") == "orders"
    elif way == "connect_async":
        assert asyncio.run(awaited()) == (12, "desk", 3)
    else:
        with ways[way]() as connection:
            assert (connection.client_id, connection.max_redeliveries) == ("desk", 3)
            connection.start()
            with connection.jms_session() as session:
                assert session.consumer(orders).prefetch == 12


@pytest.mark.behaviour("AMQ-84")
def test_a_consumer_holds_1000_ahead_unless_told_otherwise(connection: Connection, orders: str, db: Db) -> None:
    send(connection, orders, 1300)
    with connection.jms_session(transacted=True) as session:
        consumer = session.consumer(orders)
        assert consumer.prefetch == 1000
        delivered = 0
        while delivered < 1100:
            delivered += len(take(consumer, 100))
            assert len(consumer.holding.ahead) <= 1000
            assert held(db) <= 1000 + delivered
        connection.admin.create_topic("stocks")
        assert session.consumer(connection.admin.subscribe("stocks", "audit")).prefetch == 100
