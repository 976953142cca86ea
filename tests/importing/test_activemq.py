"""howdah import activemq brings over what a real ActiveMQ stored, and says of each message that stays why."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from activemq_broker import restore
from activemq_support import KINDS, LIVING, browsed, change, received, refused, run
from command import howdah
from support import Db, column, one

from howdah.cli.importing.source import Store


@pytest.fixture
def store(new_database: Callable[[], str]) -> str:
    """A recorded store in a database of its own."""
    dsn = new_database()
    restore(dsn)
    return dsn


def test_every_kind_of_message_comes_over_with_all_it_carries(dsn: str, db: Db, store: str) -> None:
    lines = run(dsn, store, "--final")
    assert (lines["queue://orders"]["stored"], lines["queue://orders"]["why"]) == (KINDS, "1 expired")
    found = browsed(db, "orders")
    assert [row["priority"] for row in found] == [9, *[4] * (KINDS - 2), 0]

    first = found[0]
    assert first["body"] == "Grüße 🐘 " + "x" * 200
    assert (first["correlation_id"], first["reply_to"], first["message_type"]) == ("corr-1", "answers", "order")
    headers = first["headers"]
    assert headers.pop("AMQ_MESSAGE_ID").startswith("ID:")
    assert headers.pop("AMQ_TIMESTAMP") > 1.7e12
    assert headers == {
        "region": "EU",
        "urgent": True,
        "aByte": -3,
        "aShort": 300,
        "anInt": 70000,
        "aLong": 1 << 60,
        "aFloat": 0.5,
        "aDouble": 2.25,
        "JMSXGroupID": "group 1",
        "JMSXGroupSeq": 7,
    }
    kinds = [(row["content_type"], row["body"]) for row in found[1:-1]]
    assert kinds[0] == ("application/octet-stream", None)
    assert found[1]["bytes"] == b"\0\1\2\xff"
    assert kinds[1][0] == "application/vnd.howdah.map+json"
    assert json.loads(kinds[1][1]) == {
        "item": ["string", "mocha"],
        "number": ["long", 3],
        "price": ["double", 65.25],
        "hot": ["boolean", True],
        "photo": ["bytes", base64.b64encode(b"\1\2").decode()],
        "size": ["string", "L"],
        "long": ["long", -1],
        "float": ["double", 1.5],
        "nothing": ["null", None],
    }
    assert (kinds[2][0], json.loads(kinds[2][1])) == ("application/json", {"list": ["a", 1], "map": {"b": 2.5}})
    assert kinds[3][0] == "application/vnd.howdah.stream+json"
    assert json.loads(kinds[3][1]) == [["string", "first"], ["long", 2], ["bytes", "Aw=="], ["null", None]]
    assert kinds[4][0] == "application/x-java-serialized-object"
    assert found[5]["bytes"][:2] == b"\xac\xed"  # as Java begins what it serializes
    assert found[6]["headers"]["only"] == "properties"
    assert [body for _, body in kinds[5:8]] == ["", "", ""]
    assert (kinds[8][0], found[9]["bytes"]) == ("text/plain; charset=utf-8", b"a\0b")
    assert found[10]["headers"]["AMQ_SCHEDULED_DELAY"] == 3600000
    assert kinds[9][1] == "no scheduler here"
    assert found[-1]["body"] == "low"


def test_compressed_messages_are_as_the_others(dsn: str, db: Db, store: str) -> None:
    run(dsn, store, "--final")
    plain, zipped = browsed(db, "orders"), browsed(db, "zipped")
    for row in (*plain, *zipped):
        del row["headers"]
    assert plain == zipped


def test_the_view_of_activemqs_columns_shows_the_same_pending_list(dsn: str, db: Db, store: str) -> None:
    run(dsn, store, "--final")
    pending = "select container, expiration from activemq_msgs order by container, id"
    with psycopg.connect(store) as there:
        wanted = there.execute(pending.replace("order", f"where {LIVING} order"))
        theirs = wanted.fetchall()
    ours = db.execute(pending.replace("activemq_msgs", "howdah.activemq_msgs")).fetchall()
    assert [container for container, _ in ours] == [container for container, _ in theirs]
    # The time of expiry is computed anew from what was left: some milliseconds may be added.
    assert all(0 <= here - there < 1000 for (_, here), (_, there) in zip(ours, theirs, strict=True))


def test_durable_subscriptions_come_over_with_what_each_has_not_read(dsn: str, db: Db, store: str) -> None:
    lines = run(dsn, store, "--final")
    assert lines["topic://prices desk7:billing"]["withdrawn"] == 2
    assert received(db, "prices:desk7:billing") == ["text 3", "text 4", "text 5", "text 6"]
    assert received(db, "prices:desk7:high") == ["text 4", "text 5", "text 6"]
    assert received(db, "price.>:w:wild") == ["text 9", "text 10"]
    # As what is read and what was skipped: the audit's sum holds.
    events = "select event, count(*) from howdah.audit_journal where queue = 'prices:desk7:billing' group by 1"
    assert dict(db.execute(events.encode()).fetchall()) == {"consumed": 4, "discarded": 2}


def test_a_dry_run_changes_nothing(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_msgs set msg = 'rubbish' where container = 'queue://A' and msgid_seq = 1")
    lines = run(dsn, store, "--dry-run", code=1)
    assert {there: (row["comes"], row["stays"]) for there, row in lines.items() if row["found"]} == {
        "queue://A": (1, 1),
        "queue://B": (2, 0),
        "queue://orders": (KINDS, 1),
        "queue://zipped": (KINDS, 1),
        "topic://prices": (6, 0),
        "topic://price.x": (2, 0),
    }
    assert "unreadable" in lines["queue://A"]["why"]
    assert column(db, "select queue from howdah.list_queues() where not is_system and queue !~ 'DLQ'") == []
    assert column(db, "select source from howdah.list_imports()") == []
    shown = howdah(dsn, "import", "activemq", "--from", store, "--dry-run")
    assert shown.out.splitlines()[0].split("  ")[0] == "in ActiveMQ"
    assert "howdah: queue://A, row 27 stays: unreadable: " in shown.err


def test_what_cannot_be_read_is_told_and_the_others_come_over(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_msgs set msg = substr(msg, 1, length(msg) - 1) where id = 27")
    change(store, "update activemq_msgs set msg = null where id = 30")
    change(store, "update activemq_msgs set xid = '100:0:0' where id = 12")
    lines = run(dsn, store, "--final", code=1)
    assert received(db, "A") == ["text 2"]
    assert received(db, "B") == ["text 1"]
    assert (
        lines["queue://orders"]["why"].startswith("1 in a prepared transaction")
        or "1 expired" in (lines["queue://orders"]["why"])
    )
    assert lines["queue://orders"]["stored"] == KINDS - 1


def test_what_the_server_refuses_is_told_and_the_others_come_over(dsn: str, db: Db, store: str) -> None:
    """A whole batch must not stay for the sake of one message."""
    db.execute("""select howdah.create_queue('orders', '{"max_message_bytes": 150}')""")
    lines = run(dsn, store, "--final", code=1)
    assert lines["queue://orders"]["stored"] == KINDS - 2
    assert "150" in lines["queue://orders"]["why"]


def test_what_is_no_store_is_said_in_a_line(dsn: str, db: Db, store: str, new_database: Callable[[], str]) -> None:
    assert "there is no table ACTIVEMQ_MSGS" in refused(dsn, new_database()).err
    assert "there is no table ACTIVEMQ_MSGS" in refused(dsn, dsn + " options='-csearch_path=howdah'").err
    change(store, "alter table activemq_msgs drop column xid")
    assert "has no column XID" in refused(dsn, store).err
    assert column(db, "select source from howdah.list_imports()") == []
    malformed = howdah(dsn, "import", "activemq", "--from", "postgresql://u:secret@host:port/db")
    assert (malformed.code, "secret" in malformed.err) == (3, False)


@pytest.mark.slow
def test_a_queue_of_a_virtual_topic_gets_no_second_copy(dsn: str, db: Db, store: str) -> None:
    """The broker keeps a row for such a queue among its subscriptions, and copies are in the store already."""
    queue = "queue://Consumer.A.prices"
    change(store, "insert into activemq_acks values (%s, %s, %s, %s, null, 0, 11, null)", *[queue] * 4)
    change(store, "update activemq_msgs set container = %s where container = 'queue://A'", queue)
    change(store, "update activemq_msgs set container = 'topic://VirtualTopic.o' where container = 'topic://prices'")
    change(
        store,
        "update activemq_acks set container = 'topic://VirtualTopic.o', sub_dest = 'topic://VirtualTopic.o'"
        " where container = 'topic://prices'",
    )
    one(db, "select howdah.create_topic('VirtualTopic.o')")
    one(db, "select howdah.create_queue('Consumer.A.prices')")
    db.execute("select howdah.pause('Consumer.A.prices', sending => false, receiving => true)")
    db.execute("select howdah.bridge('VirtualTopic.o', 'Consumer.A.prices')")
    lines = run(dsn, store)
    assert f"{queue} {queue}:{queue}" not in lines
    run(dsn, store, "--final")
    db.execute("select howdah.resume('Consumer.A.prices')")
    assert received(db, "Consumer.A.prices") == ["text 1", "text 2"]
    assert received(db, "VirtualTopic.o:desk7:billing") == ["text 3", "text 4", "text 5", "text 6"]
    # What is published here goes there.
    one(db, "select howdah.send('VirtualTopic.o', 'new')")
    assert received(db, "Consumer.A.prices") == ["new"]


@pytest.mark.slow
def test_a_subscription_with_priorities_has_read_up_to_another_message_in_each(dsn: str, db: Db, store: str) -> None:
    """With prioritizedMessages the broker keeps a row for each priority. The primary key must have it, too."""
    change(store, "alter table activemq_acks drop constraint activemq_acks_pkey")
    change(
        store,
        "insert into activemq_acks select 'topic://prices', 'topic://prices', 'desk7', 'urgent', null,"
        " case p when 9 then 34 else 0 end, p from generate_series(0, 9) p",
    )
    change(store, "update activemq_msgs set priority = 9 where container = 'topic://prices' and mod(id, 2) = 0")
    unread = "select count(*) from activemq_msgs where container = 'topic://prices' and not (priority = 9 and id <= 34)"
    with psycopg.connect(store) as there:
        wanted = one(there, unread)
    run(dsn, store, "--final")
    assert 0 < wanted < 6
    assert len(received(db, "prices:desk7:urgent")) == wanted


@pytest.mark.slow
def test_a_message_that_breaks_the_contract_of_its_queue_stays(dsn: str, db: Db, store: str) -> None:
    one(db, """select howdah.create_queue('A', '{"contract": {"type": "object"}}')""")
    lines = run(dsn, store, "--final", code=1)
    assert (lines["queue://A"]["stays"], lines["queue://B"]["stored"]) == (2, 2)


@pytest.mark.slow
def test_large_messages_are_fetched_a_few_at_a_time_and_in_their_order(
    dsn: str, db: Db, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass takes so much memory, whatever the store holds."""
    fetched: list[int] = []
    sound = Store._parts

    def parts(self: Store, *arguments: Any) -> Iterator[list[int]]:
        for numbers in sound(self, *arguments):
            fetched.append(len(numbers))
            yield numbers

    monkeypatch.setattr(Store, "_parts", parts)
    monkeypatch.setattr("howdah.cli.importing.source.FETCHED_BYTES", 600)
    run(dsn, store, "--final")
    assert (1 in fetched, max(fetched)) == (True, 2)
    assert received(db, "A") == ["text 1", "text 2"]
    assert received(db, "price.>:w:wild") == ["text 9", "text 10"]


@pytest.mark.slow
def test_a_reason_that_many_rows_have_is_told_a_few_times(dsn: str, db: Db, store: str) -> None:
    one(db, "select howdah.create_queue('orders')")
    said = refused(dsn, store)
    assert said.err.count("is received from here") == 10
    assert "queue://orders: more rows stay for the same reason" in said.err
