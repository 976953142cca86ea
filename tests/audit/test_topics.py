"""What subscriptions do with a topic's messages gives no findings, and what is wrong there does."""

from datetime import timedelta

import psycopg
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Db, one
from topics_support import bodies, consume, publish, rotate, stored, subscribe, topic

from howdah.audit.snapshot import VIEWS, exported

from .conftest import Audit
from .traffic import fail, receive, send


def live_through_everything(db: Db, level: str) -> None:
    """Three subscriptions of one topic, each with another fate of the same messages."""
    name = f"t.{level}"
    topic(db, name, journal_level=level, retain_ms=3_600_000)
    one(db, "select howdah.create_queue(%s, %s)", (f"q.{level}", Jsonb({"journal_level": level})))
    one(db, "select howdah.bridge(%s, %s)", (name, f"q.{level}"))
    options = {"max_failed_deliveries": 2, "journal_level": level}
    plain, shared, failing = (
        subscribe(db, f"{kind}.{level}", name, shared=kind == "shared", options=options)
        for kind in ("plain", "shared", "failing")
    )
    sent = send(db, name, 10)
    send(db, name, 2, delivery_mode="non-persistent")
    assert len(bodies(db, plain)) == 12
    assert len(bodies(db, shared, 5)) == 5
    with db.transaction():
        db.execute("select howdah.receive_locked(%s, 9)", [shared])
        consume(db, shared, sent[7])
    for subscription in (failing, shared):
        assert fail(db, subscription, sent[8], 2) == "moved"
    assert fail(db, failing, sent[9], 2) == "moved"
    one(db, "select howdah.replay(%s, array[%s::bigint])", (SYSTEM, sent[9]))
    one(db, "select outcome from howdah.record_failure(%s, %s, delay => %s)", (failing, sent[1], timedelta(hours=1)))
    assert len(bodies(db, failing, 4)) == 4
    one(db, "select howdah.seek_subscription(%s, '-infinity')", (plain,))
    assert len(receive(db, plain, 3)) == 3
    one(db, "select howdah.seek_subscription(%s, 'infinity')", (plain,))
    one(db, "select howdah.seek_subscription(%s, '-infinity')", (plain,))
    assert one(db, "select howdah.purge_queue(%s)", (shared,)) > 0
    gone = subscribe(db, f"gone.{level}", name, since="-infinity", options=options)
    assert fail(db, gone, sent[0], 1) == "returned"
    receive(db, gone, 2)
    one(db, "select howdah.unsubscribe(%s)", (gone,))
    receive(db, f"q.{level}", 3)


def test_topics_give_no_findings_at_any_journal_level_but_a_message_consumed_twice_is_found(
    audit: Audit, db: Db
) -> None:
    for level in ("full", "exits", "off"):
        live_through_everything(db, level)
    topic(db)
    name = subscribe(db)
    (sent,) = publish(db, "x")
    bodies(db, name)
    db.execute(
        "insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)"
        " select j.at, j.destination_id, false, 'consumed', j.message_ids from howdah.journal j"
        " where j.event = 'consumed' and %s = any (j.message_ids)",
        [sent],
    )
    result = audit()
    # The subscriptions without a journal moved two messages to the system's dead ones, and nobody wrote it down.
    assert {rule.name: (rule.count, rule.queues) for rule in result.rules if rule.count} == {
        "consumed_twice": (1, (name,)),
        "identity": (1, (name,)),
        "negative_hours": (1, (name,)),
        "last_hour": (1, (name,)),
        "unrecorded": (2, (SYSTEM,)),
    }
    assert result.queue("q.full").verdict == "proved"


def test_an_audit_that_runs_does_not_keep_a_topics_table_from_being_emptied(db: Db, dsn: str, clock: Clock) -> None:
    topic(db)
    name = subscribe(db)
    publish(db, "x")
    bodies(db, name)
    with exported(dsn) as snapshot, psycopg.connect(dsn) as reader:
        reader.execute("begin isolation level repeatable read")
        reader.execute("set transaction snapshot " + psycopg.sql.Literal(snapshot.identifier).as_string(reader))
        for view in VIEWS:
            reader.execute(f"select count(*) from howdah.{view}".encode())
        for _ in range(3):
            rotate(db, clock)
        assert stored(db) == 0
