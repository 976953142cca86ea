"""A bridge or a link passes on what the function makes, and what it cannot make is dead."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from links_support import Steps, create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, identifier, one, refused
from transformation_support import shop_of, topic


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role that owns a schema with the function shop.made, which is registered as "made"."""
    with shop_of(db) as role:
        yield role


def test_a_bridge_sends_what_the_function_makes(db: Db, shop: str) -> None:
    one(db, "select howdah.create_topic('t'), howdah.create_queue('q', '{\"stamp_user\": true}')")
    one(db, "select howdah.bridge('t', 'q', null, 'made')")
    one(
        db,
        "select howdah.send_batch('t', array['tea', 'milk'], priorities => array[2, 8],"
        """ headers => array['{"card": 1, "JMSXUserID": "x"}', null]::jsonb[])""",
    )
    assert db.execute(
        "select body, headers ->> 'made', headers ? 'card', priority, headers ->> 'JMSXUserID' = current_user"
        " from howdah.receive('q', 5)"
    ).fetchall() == [("MILK", "true", False, 8, True), ("TEA", "true", False, 2, True)]


def test_what_a_bridge_cannot_transform_is_dead_in_the_queue_and_the_publisher_goes_on(db: Db, shop: str) -> None:
    one(db, "select howdah.create_topic('t'), howdah.create_queue('dead')")
    one(db, "select howdah.create_queue('q', '{\"exception_queue\": \"dead\"}'), howdah.bridge('t', 'q', null, 'made')")
    one(db, "select howdah.send_batch('t', array['bad', 'tea'])")
    assert column(db, "select body from howdah.receive('q', 5)") == ["TEA"]
    assert db.execute("select body, dead_reason from howdah.receive('dead')").fetchall() == [
        ("bad", "rejected by its handler")
    ]
    assert column(db, "select error_text from howdah.incidents('q')") == ["transformation made: no such milk"]


@pytest.mark.parametrize("decided_at", ["failure", "receive"])
def test_what_a_bridge_cannot_transform_does_not_come_back_as_it_was_published(
    db: Db, shop: str, clock: Clock, decided_at: str
) -> None:
    topic(db)
    options = {"exception_queue": "dead", "at_limit": "quarantine", "quarantine_ms": 1000, "max_failed_deliveries": 2}
    options["decided_at"] = decided_at
    one(db, "select howdah.create_queue('q', %s), howdah.bridge('t', 'q', null, 'made')", (Jsonb(options),))
    if decided_at == "receive":
        db.execute(
            "create function shop.judge(howdah.message, jsonb) returns boolean language sql security definer"
            " set search_path = pg_temp as 'select false'"
        )
        db.execute(psycopg.sql.SQL("alter function shop.judge owner to {}").format(identifier(shop)))
        one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"poison_procedure": "shop.judge"}),))
    one(db, "select howdah.send('t', 'bad')")
    for _ in range(2):
        assert column(db, "select body from howdah.receive('q')") == []
        clock.advance(2)
    assert column(db, "select body from howdah.receive('dead')") == ["bad"]


def test_what_a_bridge_cannot_transform_replaces_no_last_value(db: Db, shop: str) -> None:
    topic(db)
    one(db, """select howdah.create_queue('q', '{"exception_queue": "dead", "last_value_key": "k"}')""")
    one(db, "select howdah.bridge('t', 'q', null, 'made')")
    for body in ("good", "bad"):
        one(db, """select howdah.send('t', %s, headers => '{"k": "a"}')""", (body,))
    assert column(db, "select body from howdah.browse('dead')") == ["bad"]
    assert column(db, "select body from howdah.receive('q', 9)") == ["GOOD"]


def test_a_publisher_with_an_older_snapshot_gets_an_error_and_no_message_is_dead(
    db: Db, connect: Connect, shop: str
) -> None:
    topic(db)
    one(db, "select howdah.create_queue('q', '{\"exception_queue\": \"dead\"}'), howdah.bridge('t', 'q', null, 'made')")
    publisher = connect("howdah_producer")
    publisher.execute("begin isolation level repeatable read")
    error = refused(publisher, "HD049", "select howdah.send('t', 'tea')")
    assert error.message_primary == "publishing to 't' needs READ COMMITTED"
    publisher.execute("rollback")
    one(publisher, "select howdah.send('t', 'milk')")
    assert column(db, "select body from howdah.browse('q')") == ["MILK"]
    assert column(db, "select body from howdah.browse('dead')") == []


def test_a_link_forwards_what_the_function_makes(
    dsn: str, db: Db, connect: Connect, shop: str, new_engine: Callable[[], str]
) -> None:
    other = new_engine()
    one(db, "select howdah.create_queue('dead')")
    one(db, 'select howdah.create_queue(\'out\', \'{"max_failed_deliveries": 1, "exception_queue": "dead"}\')')
    with psycopg.connect(other, autocommit=True) as b:
        b.execute("select howdah.create_queue('in')")
        create(db, transformation="made")
        one(db, "select howdah.send_batch('out', array['bad', 'tea', 'milk'])")
        steps = Steps(dsn, other)
        steps.forward_all()
        steps.close()
        came = b.execute("select body, headers from howdah.receive('in', 5)").fetchall()
    assert [body for body, _ in came] == ["TEA", "MILK"]
    assert {name for _, headers in came for name in headers} == {"made", "JMS_Howdah_Origin", "JMS_Howdah_Route"}
    assert column(db, "select body from howdah.receive('dead')") == ["bad"]
    one(db, "select howdah.alter_link('to_b', transformation => '')")
    assert one(db, "select transformation from howdah.list_links()") is None
