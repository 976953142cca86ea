"""Limits and deduplication keys as a Python producer meets them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from howdah.engine import Connection
from howdah.engine.errors import BadOption, BodyTooLarge, QueueFull, ResourceAllocation


@pytest.mark.behaviour("AMQ-38")
def test_each_asynchronous_send_to_a_full_queue_is_stored_or_its_future_says_why_not(
    connection: Connection, orders: str
) -> None:
    connection.admin.alter_queue(orders, message_limit=10)
    futures = [connection.send_async(orders, str(number)) for number in range(15)]
    errors = [future.exception(20) for future in futures]
    assert [type(error) for error in errors] == [type(None)] * 10 + [QueueFull] * 5
    with connection.session() as session, session.transaction():
        assert [message.data for message in session.receive(orders, 100)] == [str(number) for number in range(10)]


@pytest.mark.behaviour("AMQ-38")
def test_asynchronous_sends_stall_at_a_queue_that_blocks_and_all_arrive_as_it_drains(
    connection: Connection, orders: str
) -> None:
    connection.admin.alter_queue(orders, message_limit=3, limit_behaviour="block", send_timeout_ms=20_000)
    futures = [connection.send_async(orders, str(number)) for number in range(12)]
    received: list[str] = []
    with connection.session() as session:
        while len(received) < 12:
            with session.transaction():
                received += [message.data for message in session.receive(orders, 2, wait=5)]
    assert received == [str(number) for number in range(12)]
    assert all(future.result(20) for future in futures)


def test_a_full_queue_and_a_full_engine_are_errors_of_one_kind(connection: Connection, orders: str) -> None:
    connection.admin.alter_queue(orders, message_limit=1)
    connection.send(orders, "x")
    with pytest.raises(ResourceAllocation, match="queue 'orders' is full") as raised:
        connection.send(orders, "y")
    assert type(raised.value) is QueueFull
    connection.admin.alter_engine(max_count=1)
    with pytest.raises(ResourceAllocation, match="the engine is full") as raised:
        connection.send(orders, "y")
    assert type(raised.value) is ResourceAllocation


def test_the_engines_limits_are_set_and_shown(connection: Connection, orders: str) -> None:
    connection.send(orders, "x")
    connection.admin.alter_engine(max_size="1k", max_count=2, red_threshold=100)
    state = connection.admin.resource_state()
    assert (state["state"], state["messages"], state["max_count"], state["max_bytes"]) == ("green", 1, 2, 1024)
    assert connection.admin.engine_options()["red_threshold"] == 100
    assert connection.admin.queue_options(orders)["limit_behaviour"] == "reject"
    with pytest.raises(BadOption):
        connection.admin.alter_engine(colour="red")  # type: ignore[call-arg]


@pytest.mark.behaviour("IMQ-44")
def test_the_engines_largest_message_holds_for_every_way_to_send_and_a_stream_sends_nothing(
    connection: Connection, orders: str
) -> None:
    connection.admin.alter_engine(max_message_bytes="1k")
    assert connection.admin.engine_options()["max_message_bytes"] == 1024
    large = "x" * 1025
    with connection.session() as session:
        reply_to = session.create_temporary_queue()
        for send in (
            lambda: session.send(orders, large),
            lambda: session.send(orders, large.encode()),
            lambda: session.send(reply_to, large),
            lambda: session.send_many(orders, ["x", large]),
            lambda: session.send_stream(orders, ["x"] * 5 + [large] + ["x"] * 40, batch=2),
        ):
            with pytest.raises(BodyTooLarge, match="the engine takes at most 1024"):
                send()
            session.rollback()
        session.send_stream(orders, ["x" * 1024] * 3)
        session.commit()
    with pytest.raises(BodyTooLarge):
        connection.send_async(orders, large).result(20)
    with connection.session() as session, session.transaction():
        assert [len(message.data) for message in session.receive(orders, 100)] == [1024] * 3


def test_a_deduplication_key_makes_sends_idempotent(connection: Connection, orders: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda _: connection.send(orders, "x", deduplication_key="k"), range(8)))
    assert len(set(numbers)) == 1
    with connection.session() as session, session.transaction():
        more = session.send_many(orders, ["x", "y", "z"], deduplication_keys=["k", None, "l"])
        assert more[0] == numbers[0]
        assert len(session.receive(orders, 100)) == 3
