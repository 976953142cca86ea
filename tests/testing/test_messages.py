"""A message made by hand is what a receiver of the same message gets."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest
from support import one

from howdah.engine import Session, TypedMap
from howdah.engine.errors import BadArgument
from howdah.testing import make_message

OF_THE_STORE = {"message_id", "position", "sent_at", "expires_at"}


@pytest.mark.parametrize(
    "body", ["text", "", b"\x00\xff", {"id": 1, "ö": [None, 1.5]}, [1], 7, True, TypedMap(price=65.0)]
)
def test_a_message_made_of_a_body_is_what_is_received_of_it(dsn: str, body: Any) -> None:
    made = make_message(body, queue="q")
    with psycopg.connect(dsn) as connection:
        one(connection, "select howdah.create_queue('q')")
        session = Session(connection)
        session.send("q", body)
        connection.commit()
        (received,) = session.receive("q")
        expected, found = received.to_dict(), made.to_dict()
        assert made.data == received.data
        assert {name for name in expected if expected[name] != found[name]} <= OF_THE_STORE
        assert abs(made.sent_at - received.sent_at).total_seconds() < 60


def test_every_field_can_be_given(dsn: str) -> None:
    conversation = uuid.uuid4()
    given: dict[str, Any] = {
        "headers": {"shop": "north", "n": 1},
        "priority": 9,
        "correlation_id": "c",
        "reply_to": "answers",
        "message_type": "kind",
        "conversation_id": conversation,
        "delivery_mode": "non-persistent",
        "content_type": "text/csv",
    }
    with psycopg.connect(dsn) as connection:
        one(connection, "select howdah.create_queue('q')")
        session = Session(connection)
        session.send("q", "a,b", time_to_live=60, **given)
        connection.commit()
        (received,) = session.receive("q")
        same = {name: getattr(received, name) for name in ("queue", "sent_at", "expires_at", "message_id", "position")}
        made = make_message("a,b", **same, **given)
        assert made.to_dict() == received.to_dict()


def test_a_later_delivery_is_redelivered_and_numbers_are_unique() -> None:
    first, again = make_message(), make_message(delivery_count=3, origin_queue="orders", dead_reason="why")
    assert (first.redelivered, first.redelivery_count, first.headers, first.queue) == (False, 0, {}, "test")
    assert (again.redelivered, again.redelivery_count, again.origin_queue, again.dead_reason) == (
        True,
        2,
        "orders",
        "why",
    )
    assert first.message_id != again.message_id


@pytest.mark.parametrize("wrong", [{"body": {1, 2}}, {"body": float("nan")}, {"headers": {"a": object()}}])
def test_what_could_not_be_sent_is_no_message(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        make_message(**wrong)
