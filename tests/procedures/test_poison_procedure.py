"""A poison procedure is called in the receive, and its answer decides what becomes of the message."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from poison_procedure_support import OPTIONS, dead, make, poison, queue_of, raising, send, shop_of
from psycopg.types.json import Jsonb
from support import Connect, Db, column, fail, one, receive

WAYS: dict[str, tuple[dict[str, object], str]] = {
    "receive": ({}, "receive('q')"),
    "receive several": ({}, "receive('q', 5)"),
    "receive by selector": ({}, "receive('q', 1, selector => 'true')"),
    "receive_locked": ({}, "receive_locked('q', 2)"),
    "receive of a wildcard": ({}, "receive('*', 5)"),
    "receive_message": ({}, "receive_message('q', {message})"),
    "receive_correlated": ({}, "receive_correlated('q', 'c')"),
    "lease": ({}, "lease('q')"),
    "lease several": ({}, "lease('q', 3)"),
    "strict order": ({"strict_order": True}, "receive('q')"),
    "a group a transaction": ({"message_groups": "transaction"}, "receive('q')"),
    "several of groups": ({"message_groups": "transaction"}, "receive('q', 5)"),
    "groups by selector": ({"message_groups": "transaction"}, "receive('q', 5, selector => 'true')"),
    "groups in strict order": ({"message_groups": "transaction", "strict_order": True}, "receive('q')"),
    "lease of a group": ({"message_groups": "transaction"}, "lease('q', 3)"),
}
"""Options of the queue, and how a consumer asks for a message that was sent with a correlation id, in a group."""


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role of its own, which owns the schema shop and the functions in it."""
    with shop_of(db) as role:
        yield role


@pytest.fixture
def queue(db: Db, shop: str) -> str:
    return queue_of(db, shop)


@pytest.mark.first_case
@pytest.mark.parametrize("way", WAYS)
def test_it_is_called_in_the_receive_with_the_message_and_its_incidents_and_as_its_owner(
    db: Db, queue: str, shop: str, connect: Connect, way: str
) -> None:
    options, call = WAYS[way]
    if options:
        one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))
    message = poison(db, "mine", correlation_id="c", headers=Jsonb({"JMSXGroupID": "g"}))
    assert column(db, "select body from shop.poisoned") == [], "not before a receive"
    consumer = connect("howdah_consumer")
    asked = f"select message_id from howdah.{call.format(message=message)}"
    consumer.execute("begin")
    assert column(consumer, asked) == []
    assert column(db, "select body from shop.poisoned") == []
    consumer.execute("rollback")
    assert column(db, "select body from shop.poisoned") == [], "what it did is undone with the receive"
    assert column(consumer, asked) == []
    ((found, body, incidents, done_as),) = db.execute(
        "select message_id, body, incidents, done_as from shop.poisoned"
    ).fetchall()
    assert (found, body, done_as) == (message, "mine", shop)
    assert [(i["attempt"], i["error_text"]) for i in incidents] == [(1, "broken mine"), (2, "broken mine")]
    assert dead(db) == []
    reason = "select reason from howdah.journal where event = 'discarded'"
    assert "dealt with by poison procedure shop.poison" in one(db, reason)


def test_what_it_does_not_deal_with_goes_the_usual_way(db: Db, queue: str) -> None:
    message = poison(db, "not mine")
    assert receive(db) == []
    assert [found for found, _ in dead(db)] == [message]
    assert column(db, "select body from shop.poisoned") == ["not mine"]


def test_a_rejected_message_is_dealt_with_by_the_next_receive(db: Db, queue: str) -> None:
    sent = send(db, body="mine")
    assert fail(db, sent, reject=True)[2] == "returned"
    assert receive(db) == []
    assert column(db, "select message_id from shop.poisoned") == [sent]
    assert dead(db) == []


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("raise exception 'it broke'", "P0001: it broke"),
        ("perform 1 / 0", "22012: division by zero"),
        ("assert false, 'never'", "P0004: never"),
        ("delete from howdah.msgs", "42501: permission denied"),
        ("perform set_config('role', 'howdah_admin', false)", "42501: cannot set parameter"),
    ],
)
def test_an_error_of_it_is_undone_and_recorded_and_the_message_goes_the_usual_way(
    db: Db, queue: str, shop: str, what: str, why: str
) -> None:
    one(db, "select howdah.alter_queue('q', '{\"notify_admin\": true}')")
    make(db, shop, raising(what), language="plpgsql")
    good = send(db, body="good", priority=0)
    message = poison(db)
    assert [m.message_id for m in receive(db)] == [good], "the receive goes on"
    ((found, reason),) = dead(db)
    assert found == message
    assert f"poison procedure shop.poison failed: {why}" in reason
    assert column(db, "select body from shop.poisoned") == []
    told = "select body::jsonb ->> 'procedure' from howdah.browse('_SYSTEM.Advisory') where message_type = %s"
    assert column(db, told, ("POISON_PROCEDURE_FAILED",)) == ["shop.poison"]


@pytest.mark.slow
def test_a_subscription_has_one_too(db: Db, queue: str) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', options => %s)", (Jsonb(OPTIONS),))
    for body in ("mine", "other"):
        one(db, "select howdah.send('t', %s)", (body,))
    for message in column(db, "select message_id from howdah.browse('t::s')"):
        for _ in range(2):
            fail(db, message, queue="t::s")
    assert receive(db, "t::s", 9) == []
    assert column(db, "select body from shop.poisoned order by n") == ["mine", "other"]
    assert len(dead(db)) == 1
