"""The tables of ActiveMQ are views with its columns, filled from the messages."""

from datetime import timedelta
from typing import Any

import pytest
from support import Clock, Connect, Db, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.behaviour("AMQ-59")
def test_the_three_tables_of_activemq_are_there(db: Db) -> None:
    for name in ("activemq_msgs", "activemq_acks", "activemq_lock"):
        assert one(db, "select to_regclass(%s) is not null", (f"howdah.{name}",))


@pytest.mark.behaviour("AMQ-59")
@pytest.mark.behaviour("AMQ-60")
def test_activemq_msgs_holds_each_message_until_it_is_acknowledged(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"redelivery_delay_ms": 1000}')""")
    rows = "select id, container, convert_from(msg, 'UTF8'), priority from howdah.activemq_msgs order by 3"
    large = "L" * 5000
    ways: dict[str, dict[str, Any]] = {
        "cheap": {"delivery_mode": "non-persistent"},
        "cheap and late": {"delivery_mode": "non-persistent", "delay": "1 h"}, "failed": {}, "high": {"priority": 9},
        "late": {"delay": "1 h"}, large: {}, "ready": {},
    }  # fmt: skip
    sent = {}
    for body, options in ways.items():
        names = "".join(f", {name} => %s" for name in options)
        sent[body] = one(db, f"select howdah.send('q', %s{names})", (body, *options.values()))
    expected = [(sent[b], "queue://q", b, ways[b].get("priority", 4)) for b in sorted(ways)]
    assert db.execute(rows.encode()).fetchall() == expected
    one(db, "select howdah.record_failure('q', %s)", (sent["failed"],))
    assert one(db, "select parked from howdah.queue_stats('q')") == 3
    assert db.execute(rows.encode()).fetchall() == expected, (
        "a message that waits for its redelivery is not acknowledged"
    )
    leases = db.execute("select lease, message_id from howdah.lease('q', 9, '1 min')").fetchall()
    leases += db.execute("select lease, message_id from howdah.lease('q', 9, '1 min')").fetchall()
    assert {number for _, number in leases} == {sent[b] for b in ("cheap", "high", large, "ready")}
    assert db.execute(rows.encode()).fetchall() == expected, "nor is one that a consumer has under a lease"
    for lease, number in leases:
        one(db, "select howdah.ack('q', %s, %s)", (lease, [number]))
    assert [row[2] for row in db.execute(rows.encode())] == ["cheap and late", "failed", "late"]


ACTIVEMQ = {
    "activemq_msgs": {
        "id": "bigint", "container": "text", "msgid_prod": "text", "msgid_seq": "bigint", "expiration": "bigint",
        "msg": "bytea", "priority": "bigint", "xid": "text",
    },
    "activemq_acks": {
        "container": "text", "sub_dest": "text", "client_id": "text", "sub_name": "text", "selector": "text",
        "last_acked_id": "bigint", "priority": "bigint", "xid": "text",
    },
    "activemq_lock": {"id": "bigint", "time": "bigint", "broker_name": "text"},
}  # fmt: skip


@pytest.mark.behaviour("AMQ-60")
@pytest.mark.parametrize("name", ACTIVEMQ)
def test_they_have_activemqs_columns(db: Db, name: str) -> None:
    rows = db.execute(
        "select column_name::text, data_type::text from information_schema.columns"
        " where table_schema = 'howdah' and table_name = %s",
        (name,),
    ).fetchall()
    assert dict(rows) == ACTIVEMQ[name]


def test_activemqs_view_is_filled_from_the_messages(db: Db, clock: Clock) -> None:
    sent = one(db, "select howdah.send('q', 'x', priority => 7, time_to_live => '1 s')")
    expiration = round((clock.now + timedelta(seconds=1)).timestamp() * 1000)
    assert db.execute("select * from howdah.activemq_msgs").fetchall() == [
        (sent, "queue://q", "ID:howdah-howdah", sent, expiration, b"x", 7, None)
    ]
    one(db, "select howdah.acquire_lock('maintenance', 'me')")
    assert db.execute("select broker_name from howdah.activemq_lock where id = 1").fetchall() == [("me",)]


def test_activemqs_view_has_bodies_only_for_those_who_may_browse(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('open')")
    one(db, "select howdah.create_topic('news')")
    one(db, "select howdah.subscribe('news', 's')")
    for name in ("q", "open", "news"):
        one(db, "select howdah.send(%s, %s)", (name, name))
    answers = one(db, "select howdah.create_temporary_queue()")
    one(db, "select howdah.send(%s, 'for one connection')", (answers,))
    one(db, "select howdah.revoke_queue('q', 'browse', 'howdah_auditor')")
    one(db, "select howdah.revoke_queue('news', 'browse', 'howdah_auditor')")
    shown = "select container, convert_from(msg, 'UTF8') from howdah.activemq_msgs order by id % 1000000"
    temporary = (f"queue://{answers}", None)
    auditor = connect("howdah_auditor")
    assert set(auditor.execute(shown)) == {
        ("queue://q", None),
        ("queue://open", "open"),
        ("topic://news", None),
        temporary,
    }
    admin = connect("howdah_admin")
    assert set(admin.execute(shown)) == {
        ("queue://q", "q"),
        ("queue://open", "open"),
        ("topic://news", "news"),
        temporary,
    }
