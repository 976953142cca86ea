"""Large bodies lie apart from their messages and come back exactly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from large_bodies_support import BYTES, TEXT, apart, send
from policy_support import Create
from support import Clock, Connect, Db, column, one, receive, refused

LONGEST_IN_THE_ROW = 1_900


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create(max_failed_deliveries=2)


def rolled_back(db: Db, query: str, params: Any = None) -> list[Any]:
    with db.transaction(force_rollback=True):
        return column(db, query, params)


RECEIVES = {
    "receive": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive('q')",
    "a batch": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive('q', 100)",
    "by selector": (
        "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive('q', selector => 'JMSPriority < 10')"
    ),
    "held": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive_locked('q')",
    "leased": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.lease('q')",
    "leased ahead": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.lease_ahead('q')",
    "by number": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive_message('q', %(id)s)",
    "by correlation id": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive_correlated('q', 'c')",
    "browsed": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.browse('q')",
    "browsed by selector": (
        "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.browse('q', selector => 'JMSPriority < 10')"
    ),
    "browsed by number": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.browse('q', only_id => %(id)s)",
    "shown to operators": (
        "select coalesce(convert_to((message).body, 'UTF8'), (message).bytes) from howdah.poison_message(%(id)s)"
    ),
    "seen as ActiveMQ's": "select msg from howdah.activemq_msgs where id = %(id)s",
}


@pytest.mark.parametrize("way", RECEIVES)
def test_a_large_body_comes_back_as_it_was_sent(db: Db, way: str) -> None:
    for sent in (TEXT, BYTES):
        number = send(db, sent, correlation_id="c")
        assert apart(db) == 1
        exact = sent.encode() if isinstance(sent, str) else sent
        assert list(map(bytes, rolled_back(db, RECEIVES[way], {"id": number}))) == [exact]
        assert apart(db) == 1, "a rollback leaves it where it was"
        one(db, "select howdah.purge_queue('q')")


SENDS = {
    "text": ("select howdah.send('q', %s::text)", False),
    "json": ("select howdah.send('q', to_jsonb(%s::text))", False),
    "bytes": ("select howdah.send('q', convert_to(%s, 'UTF8'))", False),
    "with headers": ("""select howdah.send('q', %s, headers => '{"a": 1}')""", False),
    "with a priority": ("select howdah.send('q', %s, priority => 9)", False),
    "with a deduplication key": ("select howdah.send('q', %s, deduplication_key => 'k')", False),
    "with a delay": ("select howdah.send('q', %s, delay => interval '1 hour')", True),
    "to several": ("select howdah.send('q,q', %s)", False),
    "in a batch": ("select howdah.send_batch('q', array['small', %s, 'small'])", False),
    "in a delayed batch": ("select howdah.send_batch('q', array['small', %s], delay => interval '1 hour')", True),
    "in a batch with keys": (
        "select howdah.send_batch('q', array['s', %s], deduplication_keys => array['a', 'b'])",
        False,
    ),
}


@pytest.mark.parametrize("way", SENDS)
def test_every_way_of_sending_lays_a_large_body_apart(db: Db, clock: Clock, way: str) -> None:
    query, delayed = SENDS[way]
    with db.transaction(force_rollback=True):
        db.execute(query.encode(), (TEXT,)).fetchall()
    assert apart(db) == 0, "a rollback takes it along"
    db.execute(query.encode(), (TEXT,)).fetchall()
    assert apart(db) >= 1
    if delayed:
        clock.advance(3601)
    got = db.execute("select coalesce(body, convert_from(bytes, 'UTF8')) from howdah.receive('q', 9)").fetchall()
    assert TEXT in {json.loads(body) if body.startswith('"') else body for (body,) in got}
    assert apart(db) == 0


def test_a_body_up_to_1900_bytes_lies_in_its_row(db: Db) -> None:
    send(db, b"x" * LONGEST_IN_THE_ROW)
    assert apart(db) == 0
    send(db, b"x" * (LONGEST_IN_THE_ROW + 1))
    one(
        db,
        "select howdah.send_batch('q', array[%s, %s]::bytea[])",
        (b"x" * LONGEST_IN_THE_ROW, b"x" * (LONGEST_IN_THE_ROW + 1)),
    )
    assert apart(db) == 2
    assert column(db, "select octet_length(bytes) from howdah.receive('q', 9)") == [1900, 1901, 1900, 1901]
    assert apart(db) == 0


def test_bodies_of_topics_and_of_nonpersistent_messages_stay_in_their_rows(db: Db) -> None:
    send(db, delivery_mode="non-persistent")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', %s)", (TEXT,))
    assert apart(db) == 0
    assert [message.body for message in (*receive(db), *receive(db, "t::s"))] == [TEXT, TEXT]


def test_limits_and_auditors_count_the_bytes_of_large_bodies(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"byte_limit": 120000, "limit_behaviour": "reject"}')""")
    for _ in range(2):
        send(db, BYTES)
    assert column(db, "select body_bytes from howdah.audit_messages") == [50_000, 50_000]
    refused(db, "HD018", "select howdah.send('q', %s)", (BYTES,))
    receive(db)
    send(db, BYTES)


def test_a_message_too_large_for_its_queue_leaves_no_body(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 3000}')""")
    refused(db, "HD007", "select howdah.send('q', %s)", (TEXT,))
    refused(db, "HD001", "select howdah.send('none', %s)", (TEXT,))
    assert apart(db) == 0


def test_producers_and_consumers_cannot_read_bodies_themselves(connect: Connect) -> None:
    for role in ("howdah_producer", "howdah_consumer", "howdah_admin", "howdah_auditor"):
        refused(connect(role), "42501", "select count(*) from howdah.bodies")
