"""Leases from Python, sync and async."""

import asyncio

import pytest
from support import Db, one

from howdah.engine import Connection
from howdah.engine.aio import connect_async
from howdah.engine.errors import BadArgument, LeaseLost
from howdah.engine.leases import acknowledge


def test_a_lease_is_acknowledged_given_back_or_extended(connection: Connection, orders: str) -> None:
    sent = [connection.send(orders, body) for body in ("a", b"b", "c")]
    leases = connection.leases
    lease = leases.lease(orders, 9, duration=60)
    assert lease is not None
    assert [message.message_id for message in lease.messages] == sent
    assert [message.body for message in lease.messages] == ["a", b"b", "c"]
    assert leases.lease(orders) is None
    a, b, c = lease.messages
    assert leases.ack(lease, [a]) == 1
    (failed,) = leases.nack(lease, [b], error=ValueError("no"))
    assert failed == {"message_id": b.message_id, "attempt": 1, "outcome": "returned"}
    assert leases.extend(lease, duration=600) > lease.until
    assert leases.release(lease, [c]) == 1
    with pytest.raises(LeaseLost):
        leases.ack(lease)
    with pytest.raises(BadArgument):
        leases.lease(orders, duration=0)
    (incident,) = connection.admin.incidents(orders)
    assert (incident["error_class"], incident["error_text"]) == ("ValueError", "no")


def test_batch_after_batch_is_acknowledged_with_the_lease_of_the_next(connection: Connection, orders: str) -> None:
    sent = [connection.send(orders, str(number)) for number in range(5)]
    lease, last, seen = None, None, list[int]()
    while lease := connection.leases.lease(orders, 2, acknowledge=lease):
        last = lease
        seen += lease.ids()
    assert seen == sent
    with pytest.raises(LeaseLost):
        connection.leases.lease(orders, acknowledge=last)


def test_an_acknowledgement_in_a_session_commits_with_its_transaction(
    connection: Connection, orders: str, db: Db
) -> None:
    connection.send(orders, "a")
    lease = connection.leases.lease(orders)
    assert lease is not None
    with connection.session() as session:
        assert session.call(acknowledge(lease)) == 1
        session.rollback()
        assert session.call(acknowledge(lease)) == 1
        session.commit()
    assert one(db, "select count(*) from howdah.parked") == 0


def test_leases_are_awaited_in_asyncio(dsn: str, connection: Connection, orders: str) -> None:
    connection.send(orders, "a")

    async def consume() -> int:
        async with connect_async(dsn) as own:
            lease = await own.leases.lease(orders)
            assert lease is not None
            return await own.leases.ack(lease)

    assert asyncio.run(consume()) == 1


def test_a_lease_by_a_wildcard_knows_whose_it_is(connection: Connection) -> None:
    for name in ("JOBS.print", "JOBS.mail"):
        connection.admin.create_queue(name)
        connection.send(name, name)
    leases = [connection.leases.lease("JOBS.>", 9) for _ in range(3)]
    assert leases.pop() is None
    assert {lease.queue for lease in leases if lease is not None} == {"JOBS.print", "JOBS.mail"}
    for lease in leases:
        assert lease is not None
        assert [message.body for message in lease.messages] == [lease.queue]
        assert connection.leases.ack(lease) == 1
