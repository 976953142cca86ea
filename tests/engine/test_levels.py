"""Levels of reliability from Python: factories map delivery modes, and destination objects decide over sends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from support import Db, one

from howdah.engine import Connection, ConnectionFactory, Destination, Message, connect
from howdah.engine.aio import connect_async
from howdah.engine.calls.levels import LEVELS
from howdah.engine.errors import BadArgument, ReliabilityTooHigh


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def sends(connection: Connection) -> list[Callable[..., Any]]:
    """Every way to send through a connection."""
    session, jms = connection.session(transacted=False), connection.jms_session()
    return [
        connection.send,
        lambda queue, body, **options: connection.send_async(queue, body, **options).result(),
        session.send,
        lambda queue, body, **options: session.send_many(queue, [body], **options),
        lambda queue, body, **options: session.send_stream(queue, [body], **options),
        lambda queue, body, **options: session.send_copy(queue, [body], **options),
        lambda queue, body, **options: session.producer(queue).send(body, **options),
        jms.send,
        lambda queue, body, **options: jms.send_many(queue, [body], **options),
        lambda queue, body, **options: connection.windowed_producer(queue).send(body, **options).result(),
    ]


def levels(connection: Connection, queue: str = "q", **options: Any) -> set[str]:
    """The levels that messages get which are sent in every way."""
    for send in sends(connection):
        send(queue, "x", **options)
    with connection.session() as session:
        got = session.receive("q", 100)
        session.commit()
    assert len(got) == 10
    return {message.reliability for message in got}


@pytest.mark.behaviour("SIB-09")
@pytest.mark.behaviour("SIB-10")
def test_a_factory_maps_modes_to_express_and_reliable_persistent(dsn: str) -> None:
    with ConnectionFactory(dsn).create_connection() as connection:
        connection.start()
        assert levels(connection) == {"RELIABLE_PERSISTENT"}
        assert levels(connection, delivery_mode="persistent") == {"RELIABLE_PERSISTENT"}
        assert levels(connection, delivery_mode="non-persistent") == {"EXPRESS_NONPERSISTENT"}
        assert levels(connection, reliability="ASSURED_PERSISTENT") == {"ASSURED_PERSISTENT"}


@pytest.mark.behaviour("SIB-08")
def test_a_factory_can_map_each_mode_to_another_level(dsn: str) -> None:
    factory = ConnectionFactory(
        dsn, persistent_mapping="ASSURED_PERSISTENT", nonpersistent_mapping="RELIABLE_NONPERSISTENT"
    )
    with factory.create_connection() as connection:
        connection.start()
        assert levels(connection, delivery_mode="non-persistent") == {"RELIABLE_NONPERSISTENT"}
        assert levels(connection) == {"ASSURED_PERSISTENT"}
    with pytest.raises(BadArgument, match="no level"):
        ConnectionFactory(dsn, persistent_mapping="RELIABLE_NONPERSISTENT")


def test_without_a_factory_the_queue_decides_or_the_mode_is_assured_or_express(dsn: str, db: Db) -> None:
    with connect(dsn) as connection:
        assert levels(connection) == {"ASSURED_PERSISTENT"}
        assert levels(connection, delivery_mode="non-persistent") == {"EXPRESS_NONPERSISTENT"}
        one(db, "select howdah.alter_queue('q', '{\"default_reliability\": \"RELIABLE_PERSISTENT\"}')")
        assert levels(connection) == {"RELIABLE_PERSISTENT"}
        assert levels(connection, delivery_mode="persistent") == {"ASSURED_PERSISTENT"}


@pytest.mark.behaviour("SIB-07")
def test_the_destinations_delivery_mode_decides_over_the_sends(dsn: str) -> None:
    cheap, dear = Destination("q", delivery_mode="non-persistent"), Destination("q", delivery_mode="persistent")
    with ConnectionFactory(dsn).create_connection() as connection:
        connection.start()
        assert levels(connection, cheap, delivery_mode="persistent") == {"EXPRESS_NONPERSISTENT"}
        assert levels(connection, cheap, reliability="ASSURED_PERSISTENT") == {"EXPRESS_NONPERSISTENT"}
        assert levels(connection, cheap, reliability="RELIABLE_NONPERSISTENT") == {"RELIABLE_NONPERSISTENT"}
        assert levels(connection, dear, delivery_mode="non-persistent") == {"RELIABLE_PERSISTENT"}
        assert levels(connection, Destination("q"), delivery_mode="non-persistent") == {"EXPRESS_NONPERSISTENT"}
        with connection.session() as session:
            session.send(dear, "x")
            session.commit()
            (message,) = session.receive(dear)
            assert (message.queue, message.reliability) == ("q", "RELIABLE_PERSISTENT")
    with pytest.raises(BadArgument, match="no delivery mode"):
        Destination("q", delivery_mode="durable")  # type: ignore[arg-type]


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-06")
@pytest.mark.behaviour("SIB-40")
@pytest.mark.parametrize("level", LEVELS)
def test_each_level_can_be_chosen_for_a_message_in_every_way_to_send(dsn: str, level: str) -> None:
    with connect(dsn) as connection:
        assert levels(connection, reliability=level) == {level}


def test_asyncio_sends_with_each_level_and_by_destination(dsn: str) -> None:
    async def scenario() -> list[Message]:
        async with connect_async(dsn) as connection:
            for level in LEVELS:
                await connection.send("q", level, reliability=level)
            await connection.send(Destination("q", delivery_mode="non-persistent"), "EXPRESS_NONPERSISTENT")
            async with connection.transaction() as session:
                return await session.receive("q", 9)

    got = asyncio.run(scenario())
    assert sorted(m.reliability for m in got) == sorted([*LEVELS, "EXPRESS_NONPERSISTENT"])
    assert [m.body for m in got] == [m.reliability for m in got]


def test_a_level_that_is_too_high_has_an_error_of_its_own(dsn: str, db: Db) -> None:
    one(
        db,
        'select howdah.alter_queue(\'q\', \'{"default_reliability": "EXPRESS_NONPERSISTENT",'
        ' "max_reliability": "EXPRESS_NONPERSISTENT"}\')',
    )
    with connect(dsn) as connection, pytest.raises(ReliabilityTooHigh):
        connection.send("q", "x", reliability="ASSURED_PERSISTENT")
