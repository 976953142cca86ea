"""What subscriptions do with a topic's messages gives no findings, and what is wrong there does."""

from datetime import timedelta

import psycopg
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, one
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


def test_what_a_subscription_passed_without_having_it_is_found_and_what_it_has_yet_to_read_is_not(
    audit: Audit, db: Db, clock: Clock, connect: Connect
) -> None:
    """One message is deleted before it is read, one cursor moved by hand.

    Beside that, late commits, parts of a batch, seeks and selectors.
    """
    topic(db, "t.a", journal_level="full")
    topic(db, "t.b", journal_level="full")
    plain, skipped, sought, behind = (subscribe(db, name, "t.a") for name in ("plain", "skipped", "sought", "behind"))
    wild = subscribe(db, "wild", "t.>", shared=True)
    ranked = subscribe(db, "ranked", "t.a", options={"prioritized": True})
    choosy = subscribe(db, "choosy", "t.a", selector="colour = 'red'")
    silent = subscribe(db, "silent", "t.a", options={"journal_level": "off"})
    all_of_them = (plain, skipped, sought, wild, ranked, choosy, silent)
    publish(db, "too near its beginning to be judged", to="t.a")
    clock.advance(60)
    with connect() as late, late.transaction():
        (held,) = publish(late, "committed late", to="t.a")
        publish(db, *"12345", to="t.a")
        publish(db, "expires", to="t.a", time_to_live=timedelta(seconds=1))
        clock.advance(2)
        for name in all_of_them:
            bodies(db, name, 3)
            bodies(db, name)
    (gone,) = publish(db, "deleted", to="t.a")
    for number in range(3):
        db.execute(f"delete from howdah.topic_msgs_{number} where seq = %s".encode(), [gone // 1_000_000])
    passed = publish(db, "a", "b", to="t.a")
    one(db, "select howdah.seek_subscription(%s, 'infinity')", (sought,))
    db.execute(
        "select howdah._move_cursor(howdah._cursor(c.id), '3', -1, 0, howdah._snapshot()) from howdah.acks c"
        " join howdah.destinations d on d.id = c.subscription_id where d.name = %s",
        [skipped],
    )
    for name in (plain, wild, ranked, choosy, silent):
        bodies(db, name)
    publish(db, "c", "d", "e", to="t.b")
    assert bodies(db, wild, 1) == ["c"]
    result = audit()
    (rule,) = [rule for rule in result.rules if rule.count and rule.severity == "error"]
    expected = {(name, gone) for name in (plain, wild, ranked, sought, skipped)} | {
        (skipped, m) for m in (held, *passed)
    }
    assert (rule.name, rule.count) == ("not_delivered", len(expected))
    assert {(row.queue, row.message_id) for row in rule.rows} < expected
    faults = {queue.queue: queue.faults for queue in result.queues if not queue.balanced}
    assert faults == {plain: 1, wild: 1, ranked: 1, sought: 1, skipped: 4}
    assert result.queue(behind).balanced


def test_what_a_stop_or_a_gone_sender_takes_of_a_topic_gives_no_findings(
    audit: Audit, db: Db, connect: Connect
) -> None:
    topic(db, journal_level="full", discard_with_sender=True)
    plain, shared = subscribe(db, "plain"), subscribe(db, "shared", shared=True)
    client = connect()
    for level in ("EXPRESS_NONPERSISTENT", "RELIABLE_NONPERSISTENT", "ASSURED_PERSISTENT"):
        one(client, "select howdah.send('t', 'x'::text, reliability => %s)", (level,))
    client.close()
    assert len(bodies(db, shared, 1)) == 1
    for _ in range(2):
        one(db, "select howdah.stop_engine(interval '0')")
    assert one(db, "select howdah.stop_engine(interval '10 seconds')") is not None
    one(db, "select howdah.resume_engine()")
    assert len(bodies(db, plain)) == len(bodies(db, shared)) == 1
    assert one(db, "select count(*) from howdah.audit_journal where event = 'lost'") > 0
    result = audit()
    assert {rule.name: rule.count for rule in result.rules if rule.count and rule.severity == "error"} == {}
