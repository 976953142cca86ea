"""One database that uses every feature there is, at journal_level full.

What an audit of a healthy database must call sound.

A function a feature, each with queues of its own. A new verb gets its call here; test_every_feature.py counts them.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from support import SYSTEM, Connect, Db

from howdah.migrations import add_facade

VERB = re.compile(r"\bhowdah\.([a-z]\w*)\(")

FEATURES: list[Callable[[Engine], None]] = []


class Engine:
    """Connections that remember which verbs they called."""

    def __init__(self, db: Db, connect: Connect) -> None:
        self.db = db
        self.connect = connect
        self.called: set[str] = set()

    def rows(self, query: str, *params: Any, db: Db | None = None) -> list[tuple[Any, ...]]:
        """Run one statement, on the first connection or another."""
        self.called |= set(VERB.findall(query))
        cursor = (db or self.db).execute(query.encode(), params or None)
        return cursor.fetchall() if cursor.description else []

    def one(self, query: str, *params: Any, db: Db | None = None) -> Any:
        """The first value of the first row."""
        return self.rows(query, *params, db=db)[0][0]

    def queue(self, name: str, **options: Any) -> str:
        """Make a queue."""
        self.rows("select howdah.create_queue(%s, %s)", name, json.dumps(options))
        return name

    def send(self, queue: str, count: int = 1) -> list[int]:
        """Send so many messages, one by one."""
        return [self.one("select howdah.send(%s, %s::text)", queue, f"body {number}") for number in range(count)]

    def receive(self, queue: str, count: int = 1) -> list[tuple[Any, ...]]:
        """Consume up to so many: number, priority and position of each."""
        return self.rows("select message_id, priority, position from howdah.receive(%s, %s)", queue, count)

    def fail(self, queue: str, message: int, times: int = 1) -> str:
        """Record failures of a message; the last outcome."""
        for _ in range(times):
            outcome: str = self.one("select outcome from howdah.record_failure(%s, %s, 'no')", queue, message)
        return outcome


def feature(function: Callable[[Engine], None]) -> Callable[[Engine], None]:
    """One of FEATURES."""
    FEATURES.append(function)
    return function


def use_every_feature(db: Db, connect: Connect) -> set[str]:
    """Use them all in one database; the verbs that were called."""
    engine = Engine(db, connect)
    for function in FEATURES:
        function(engine)
    return engine.called


@feature
def policies_by_name(e: Engine) -> None:
    """All queues that follow have a full journal."""
    e.rows("select howdah.set_policy('>', '{\"journal_level\": \"full\"}')")
    e.rows("select howdah.set_policy('unused.>', '{}'), howdah.drop_policy('unused.>')")


@feature
def advisories_and_copies(e: Engine) -> None:
    """Reports to administrators, error replies and a log queue; some are received, some stay."""
    e.queue("log")
    e.queue("answers")
    e.queue(
        "told",
        max_failed_deliveries=1,
        notify_admin=True,
        notify_events=True,
        error_reply=True,
        log_queue="log",
        log_table=True,
    )
    for _ in range(3):
        message = e.one("select howdah.send('told', 'x', reply_to => 'answers', headers => '{\"a\": 1}')")
        assert e.fail("told", message) == "moved"
    assert len(e.receive("_SYSTEM.Advisory")) == len(e.receive("log")) == len(e.receive("answers")) == 1
    e.rows("select howdah.report_slow_consumer('told', '{\"seconds\": 3}')")
    e.queue("broken", disable_after=2)
    for message in e.send("broken", 2):
        e.fail("broken", message)
    e.rows("select howdah.resume('broken')")


@feature
def plain_messages(e: Engine) -> None:
    """Priorities, large bodies, JSON, bytes, batches, composite destinations, pauses, a rolled back transaction."""
    e.queue("plain")
    e.queue("second")
    e.rows(
        "select howdah.send('plain', 'x', priority => 9, headers => '{\"b\": [1, 2]}',"
        " correlation_id => 'c', message_type => 't')"
    )
    e.rows("select howdah.send('plain', '{\"a\": 1}'::jsonb), howdah.send('plain', '\\x00ff'::bytea, priority => 0)")
    e.rows(
        "select howdah.send('plain', repeat('large', 2000)), howdah.send('plain', repeat('large', 2000), priority => 7)"
    )
    e.rows("select howdah.send_batch('plain', array['a', repeat('b', 5000), 'c'], headers => array['{}',"
           " null, '{\"k\": 1}']::jsonb[],"
           " priorities => array[1, null, 8], correlation_ids => array['x', null, 'y'])")  # fmt: skip
    e.rows("select howdah.send('plain,queue://second', 'to both'), howdah.send_batch('plain,second', array['1', '2'])")
    e.rows("select howdah.pause('plain'), howdah.resume('plain')")
    e.rows("select howdah.browse('plain', selector => 'k = 1')")
    for action in (lambda: e.send("plain"), lambda: e.receive("plain", 5)):
        e.rows("begin")
        action()
        e.rows("rollback")
    assert len(e.receive("plain", 4)) == 4
    e.rows("select howdah.receive('plain', 1, selector => 'k = 1')")
    e.rows("select howdah.receive_correlated('plain', 'x')")
    e.rows("select howdah.receive_message('plain', %s)", e.send("plain")[0])
    e.rows("begin")
    (held,) = e.rows("select message_id, priority, position from howdah.receive_locked('second', 1)")
    e.rows("select howdah.consume_locked('second', %s, %s, %s)", *([value] for value in held))
    e.rows("commit")
    e.queue("other.a")
    e.send("other.a", 2)
    e.rows("select howdah.receive('other.*')")
    e.rows("select howdah.wait('second', null)")
    e.queue("emptied")
    e.send("emptied", 3)
    assert e.one("select howdah.purge_queue('emptied')") == 3


@feature
def copy_load(e: Engine) -> None:
    """Messages that came by COPY."""
    e.queue("loaded")
    e.rows("begin")
    e.rows("select howdah.begin_copy()")
    with e.db.cursor().copy(b"copy pg_temp.howdah_copy (body, headers, priority) from stdin") as copy:
        copy.write('1\t{"n": 1}\t3\n2\t\\N\t\\N\n')
    assert e.one("select howdah.send_copied('loaded')") == 2
    e.rows("commit")
    e.receive("loaded")


@feature
def expiry_and_delay(e: Engine) -> None:
    """Messages that expire, wait, are cancelled, and are deduplicated."""
    e.queue("short", default_time_to_live_ms=3600000)
    e.send("short")
    e.rows("select howdah.send('short', 'x', time_to_live => '1 millisecond', priority => 9)")
    e.queue("reclaimed")
    e.rows("select howdah.send('reclaimed', 'x', time_to_live => '1 millisecond')")
    time.sleep(0.01)
    assert len(e.receive("short", 2)) == 1
    e.rows("select howdah.maintain_expired()")
    e.queue("processed", process_expired=True)
    e.rows("select howdah.send('processed', 'x', time_to_live => '1 millisecond')")
    time.sleep(0.01)
    assert e.receive("processed") == []
    e.queue("waiting")
    ids = [
        e.one("select howdah.send('waiting', 'x', delay => %s::interval)", delay)
        for delay in ("1 hour", "2 hours", "1 ms", "3 hours")
    ]
    e.rows("select howdah.send('waiting', 'x', delay => howdah.delay_until(now() + interval '1 day'))")
    time.sleep(0.005)
    assert [row[0] for row in e.receive("waiting")] == [ids[2]]
    e.rows("select howdah.cancel_delayed('waiting', %s)", [ids[0]])
    e.rows(
        "select howdah.cancel_delayed_range('waiting', now() + interval '90 minutes', now() + interval '150 minutes')"
    )
    e.rows("select howdah.wake_due(now() - interval '1 minute')")
    e.queue("once")
    first = e.one("select howdah.send('once', 'x', deduplication_key => 'k')")
    assert e.one("select howdah.send('once', 'x', deduplication_key => 'k')") == first
    e.rows("select howdah.send_batch('once', array['a', 'b'], deduplication_keys => array['k', 'l'])")
    e.rows("select howdah.maintain_deduplications()")


@feature
def results(e: Engine) -> None:
    """What became of messages: one handled, one dead, one expired."""
    e.queue("kept", keep_results_ms=60_000, max_failed_deliveries=1)
    ids = e.send("kept", 2)
    e.one("select howdah.send('kept', 'x', time_to_live => '1 millisecond')")
    with e.db.transaction():
        assert [row[0] for row in e.receive("kept")] == [ids[0]]
        assert e.one("select howdah.keep_result('kept', %s, '1')", ids[0])
    e.rows("select howdah.record_failure('kept', %s, error_class => 'ValueError', error_text => 'x')", ids[1])
    assert [e.one("select howdah.keep_result_once('kept', -1, %s)", value) for value in "121"] == [True, False, True]
    e.rows("select howdah.maintain_results()")


@feature
def schedules(e: Engine) -> None:
    """Messages that the engine sends by the clock."""
    e.queue("clocked")
    ids = [e.one("select howdah.schedule('clocked', 'x', period => '1 hour', starts_at => now())") for _ in range(4)]
    e.rows("select howdah.schedule('clocked', 'x', cron => '0 3 * * *')")
    e.rows("select howdah.due_schedules()")
    assert e.one("select fired from howdah.fire_schedules()") == 4
    e.rows(
        "select howdah.pause_schedule(%s), howdah.resume_schedule(%s), howdah.cancel_schedule(%s)",
        ids[0],
        ids[0],
        ids[1],
    )
    e.rows("select howdah.fire_schedule(%s, 'to see it')", ids[2])
    e.rows("select howdah.cancel_schedules('clocked')")
    e.receive("clocked", 2)


@feature
def nonpersistent_messages(e: Engine) -> None:
    """Messages that a restart would lose, in queues of both kinds, dead and waiting ones among them."""
    e.queue("volatile", persistent=False, max_failed_deliveries=1)
    dead, *_ = e.send("volatile", 4)
    assert e.fail("volatile", dead) == "moved"
    e.rows("select howdah.send('volatile', 'x', delay => '1 hour')")
    e.queue("mixed", exception_mode="shared", max_failed_deliveries=1, process_non_persistent=True)
    dead = e.one("select howdah.send('mixed', 'x', delivery_mode => 'non-persistent', time_to_live => '1 hour')")
    e.rows("select howdah.send('mixed', 'x', delivery_mode => 'non-persistent'), howdah.send('mixed', 'y')")
    outcome = e.fail("mixed", dead)
    assert outcome == "moved", outcome
    e.rows(
        "select howdah.replay(%s, %s)",
        e.one("select queue from howdah.audit_messages where message_id = %s", dead),
        [dead],
    )
    e.receive("volatile", 2)
    e.receive("mixed", 2)


@feature
def dead_messages(e: Engine) -> None:
    """Every disposal, and what operators do with dead messages."""
    e.queue("graves")
    e.queue("failing", max_failed_deliveries=2, exception_queue="graves")
    ids = e.send("failing", 10)
    for message in ids[:8]:
        assert e.fail("failing", message, 2) == "moved"
    e.fail("failing", ids[8])
    e.rows("select howdah.record_failure('failing', %s, 'no', reject => true)", ids[9])
    e.rows("select howdah.replay('graves', %s)", ids[:2])
    e.rows("select howdah.replay('graves', %s, 'plain')", ids[2:3])
    e.fail("failing", ids[0], 2)
    e.rows("select howdah.discard('graves', %s, 'test')", ids[3:4])
    e.rows("select howdah.move_messages('graves', %s, 'plain', 'look')", ids[4:6])
    e.rows("select howdah.move_messages('plain', %s, 'failing')", ids[4:5])
    e.rows("select howdah.send_by_hand('plain', 'by hand', reason => 'test')")
    e.rows("select howdah.replay_edited('graves', %s, body => 'mended')", ids[6])
    e.rows("select howdah.replay_edited('graves', %s, target => 'plain', discard => true)", ids[6])
    e.rows("select howdah.park_messages('graves', %s)", ids[7:8])
    e.rows("select howdah.retry('graves', %s)", ids[7:8])
    e.rows("select howdah.act_on_matching('graves', 'park', '{}', 'all', options => '{\"delay\": \"1 hour\"}')")
    e.rows("select howdah.act_on_matching('graves', 'retry', '{}', 'all')")
    e.rows("select howdah.move_messages('plain', %s, %s)", e.send("plain"), SYSTEM)
    e.queue("given_away")
    e.send("given_away")
    e.rows("select howdah.move_all('given_away', 'plain')")
    (again,) = e.send("failing")
    e.fail("failing", again, 2)
    e.fail("graves", again, 5)
    for at_limit, more in (
        ("discard", {}), ("quarantine", {"quarantine_ms": 3600000, "quarantine_times": 1}), ("end_conversation", {}),
        ("move", {"exception_mode": "dead_letter"}), ("move", {"exception_mode": "shared"}),
        ("move", {"exception_mode": "individual"}), ("move", {"exception_mode": "none"}),
        ("move", {"clean_incidents": True}), ("move", {"exception_queue": "nowhere"}),
    ):  # fmt: skip
        name = "_".join(["at", at_limit, *map(str, more.values())])
        e.queue(name, max_failed_deliveries=1, at_limit=at_limit, **more)
        e.fail(name, e.one("select howdah.send(%s, 'x', time_to_live => '1 hour', headers => '{\"h\": 1}')", name))
        e.fail(
            name,
            e.one("select howdah.send(%s, 'x', conversation_id => gen_random_uuid(), reply_to => 'answers')", name),
        )
    for mode in ("websphere", "websphere_mq", "service_broker", "activemq", "howdah"):
        e.queue(f"like.{mode}", preset=mode)
        (message,) = e.send(f"like.{mode}")
        e.fail(f"like.{mode}", message, 2)
    e.rows("select howdah.end_conversation(gen_random_uuid(), 1, 'over', 'answers')")
    e.queue("delayed", redelivery_delay_ms=3600000)
    assert e.fail("delayed", e.send("delayed")[0]) == "delayed"


@feature
def kept_bodies(e: Engine) -> None:
    """Messages that stay readable once they are consumed, and are sent again."""
    e.queue("keeping", keep_bodies_ms=3600000)
    ids = e.send("keeping", 6)
    e.receive("keeping", 2)
    e.rows("select howdah.receive_message('keeping', %s)", ids[2])
    (lease, *_), *_ = e.rows("select lease from howdah.lease('keeping', 2, '1 minute')")
    e.rows("select howdah.ack('keeping', %s)", lease)
    assert e.one("select howdah.replay_kept('keeping', %s)", ids[:2]) == 2
    assert e.one("select howdah.replay_kept('keeping', target => 'second')") == 5
    e.receive("keeping", 2)
    assert e.one("select howdah.delete_kept('keeping', %s)", ids[:1]) == 1


@feature
def last_values(e: Engine) -> None:
    """Messages that replace the unread ones of their keys, one by one and in a batch."""
    e.queue("latest", last_value_key="k")
    for delay in (None, "1 hour", None):
        e.rows("select howdah.send('latest', 'x', headers => '{\"k\": 1}', delay => %s::interval)", delay)
    e.rows("select howdah.send('latest', 'x', headers => '{\"k\": 2}', delivery_mode => 'non-persistent')")
    e.rows("select howdah.send('latest', repeat('x', 5000), headers => '{\"k\": 2}')")
    e.rows("select howdah.send_batch('latest', array['a', 'b', 'c'], headers => array['{\"k\": 2}', '{\"k\": 3}',"
           " '{\"k\": 2}']::jsonb[])")  # fmt: skip
    e.receive("latest", 2)


@feature
def poison_procedures(e: Engine) -> None:
    """A function of the application deals with two messages at their limit, leaves one, and fails with one."""
    e.rows(
        "create schema shop; grant usage on schema shop to public;"
        " create function shop.poison(howdah.message, jsonb) returns boolean language sql security definer"
        " set search_path = pg_catalog, pg_temp as $$ select ($1).body <> 'left'"
        " and 1 / length(($1).body) > 0 or ($1).body = 'xx' $$;"
        " alter function shop.poison(howdah.message, jsonb) owner to howdah_producer"
    )
    e.queue("dealt", max_failed_deliveries=1, poison_procedure="shop.poison", notify_admin=True)
    for body in ("x", "xx", "left", ""):
        e.fail("dealt", e.one("select howdah.send('dealt', %s)", body))
    rejected = e.one("select howdah.send('dealt', 'x')")
    e.rows("select howdah.record_failure('dealt', %s, 'no', reject => true)", rejected)
    assert e.receive("dealt", 9) == []


@feature
def stamped_messages(e: Engine) -> None:
    """The sender's role in the header."""
    e.queue("stamped", stamp_user=True)
    e.rows("select howdah.send('stamped', 'x'), howdah.send_batch('stamped', array['y', 'z'])")
    assert e.receive("stamped")


@feature
def nonpersistent_engine(e: Engine) -> None:
    """For a while no message is persistent, an advisory and a dead one neither."""
    e.queue("fleeting", max_failed_deliveries=1, notify_admin=True)
    e.rows("select howdah.send('fleeting', 'kept')")
    e.rows("select howdah.alter_engine('{\"persistent\": false}')")
    e.rows("select howdah.send('fleeting', 'x'), howdah.send_batch('fleeting', array['y', 'z'])")
    e.fail("fleeting", e.one("select howdah.send('fleeting', 'dead')"))
    assert len(e.receive("fleeting", 2)) == 2
    e.rows("select howdah.alter_engine('{\"persistent\": true}')")
    e.rows("select howdah.send('fleeting', 'kept too')")


@feature
def failures_in_hand(e: Engine) -> None:
    """Failures of a batch, recorded while its messages are held."""
    e.queue("batch", max_failed_deliveries=1)
    ids = e.send("batch", 4)
    e.rows("select howdah.record_failures('batch', %s)", json.dumps([{"message_id": ids[0], "error_text": "no"}]))
    e.rows("begin")
    held = e.rows("select message_id, priority, position from howdah.receive_locked('batch', 2)")
    e.rows("select howdah.record_failures('batch', %s, in_hand => true)", json.dumps([{"message_id": held[0][0]}]))
    e.rows("select howdah.settle_failures('batch', %s, %s, %s)", *([value] for value in held[0]))
    e.rows("commit")


@feature
def hardened_queues(e: Engine) -> None:
    """Attempts that are on record before the delivery."""
    e.queue("hard", backout_count="hardened", max_failed_deliveries=2)
    e.send("hard", 4)
    begun = e.rows("select attempt from howdah.begin_attempts('hard', 2)")
    for (attempt,) in begun[:1]:
        assert e.rows("select * from howdah.receive_attempt('hard', %s)", attempt)
    e.rows("select howdah.cancel_attempt('hard', %s)", begun[1][0])
    e.rows("select howdah.maintain_attempts()")


@feature
def leases(e: Engine) -> None:
    """Messages leased for a time: acknowledged, released, failed, extended, run out."""
    e.queue("leased", max_failed_deliveries=3)
    e.send("leased", 14)

    def lease(count: int = 1, duration: str = "1 minute") -> tuple[int, list[int]]:
        rows = e.rows("select lease, message_id from howdah.lease('leased', %s, %s::interval)", count, duration)
        return rows[0][0], [row[1] for row in rows]

    number, ids = lease(2)
    e.rows("select howdah.extend('leased', %s, '2 minutes')", number)
    e.rows("select howdah.ack('leased', %s, %s)", number, ids[:1])
    e.rows("select howdah.handed('leased', %s)", number)
    e.rows("select howdah.nack('leased', %s, %s, 'no')", number, ids[1:])
    number, ids = lease(2)
    e.rows("select howdah.release('leased', %s)", number)
    number, ids = lease(3)
    e.rows("select howdah.renew_leases(array['leased'], %s, '1 minute')", [number])
    e.rows("select howdah.ack_many(array['leased'], %s, %s)", [number], ids[:1])
    e.rows("select howdah.ack_interval('leased', %s, %s, %s)", [number], ids[1], ids[1])
    again = e.rows("select lease from howdah.redeliver('leased', %s, %s)", [number], ids[2:])[0][0]
    e.rows("select howdah.end_leases('leased', %s)", [again])
    ahead = e.rows("select lease, message_id from howdah.lease_ahead('leased', 3, '1 minute')")
    e.rows("select howdah.end_leases('leased', %s, %s, 'no')", [ahead[0][0]], [ahead[0][1]])
    lease(2, "1 millisecond")
    time.sleep(0.005)
    number, ids = lease(3)
    e.rows("select howdah.lease('leased', 1, '1 second', acknowledge => %s)", number)


@feature
def groups_and_consumers(e: Engine) -> None:
    """Message groups, round robin, single consumers, strict order."""
    kinds: dict[str, dict[str, Any]] = {
        "grouped": {"message_groups": "transaction"},
        "sticky": {"message_groups": "sticky"},
        "robin": {"delivery_policy": "round_robin"},
        "alone": {"delivery_policy": "single"},
        "ordered": {"strict_order": True},
    }
    for name, options in kinds.items():
        e.queue(name, **options)
        for number in range(6):
            e.rows("select howdah.send(%s, 'x', headers => %s)", name, json.dumps({"JMSXGroupID": f"g{number % 2}"}))
        consumer = None
        if name in ("sticky", "robin", "alone"):
            consumer = e.one("select howdah.open_consumer(%s, timeout => '1 minute')", name)
            e.rows("select howdah.renew_consumers(%s)", [consumer])
        for _ in range(4):
            e.rows("select howdah.receive(%s, 1, consumer => %s)", name, consumer)
        if consumer:
            e.rows("select howdah.close_consumer(%s)", consumer)
    e.fail("grouped", e.one("select message_id from howdah.browse('grouped') limit 1"))


@feature
def limits(e: Engine) -> None:
    """A queue that makes room by ending its oldest."""
    e.queue("small", message_limit=2, limit_behaviour="remove_oldest")
    e.send("small", 4)
    e.rows(
        "select howdah.alter_engine('{\"max_count\": 100000}'), howdah.alter_queue('small', '{\"message_limit\": 5}')"
    )


@feature
def limits_of_handlers(e: Engine) -> None:
    """A rate and a number in hand, of the queue and of each key: received, leased, failed, and taken away."""
    e.queue("calls", max_concurrent=3, rate_limit="1000/1s burst 20", limit_key="k", max_concurrent_per_key=2,
            rate_limit_per_key="100/1s burst 9")  # fmt: skip
    for key in (1, 1, 1, 2, None):
        e.rows("select howdah.send('calls', 'x', headers => %s)", json.dumps({} if key is None else {"k": key}))
    assert len(e.receive("calls", 2)) == 2
    (lease, *_), *_ = e.rows("select lease from howdah.lease('calls', 1, '1 minute')")
    e.rows("select howdah.ack('calls', %s)", lease)
    e.fail("calls", e.one("select message_id from howdah.browse('calls') limit 1"))
    e.rows("select howdah.alter_queue('calls', '{\"rate_limit\": null, \"max_concurrent_per_key\": null}')")
    e.receive("calls", 3)


@feature
def levels_of_reliability(e: Engine) -> None:
    """Best effort: without room, discarded for others and at the limit; gone with its sender, as express is."""
    best, express = "BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT"
    e.queue("scarce", message_limit=4)
    for level in (best, best, best, best, best, express, "RELIABLE_PERSISTENT"):
        e.rows("select howdah.send('scarce', 'x', reliability => %s)", level)
    e.rows("select howdah.send_batch('scarce', array['a', 'b', 'c', 'd', 'e'], reliability => %s)", best)
    e.receive("scarce", 2)
    e.queue("brittle", max_failed_deliveries=1)
    e.fail("brittle", e.one("select howdah.send('brittle', 'x', reliability => %s)", best))
    e.fail("brittle", e.one("select howdah.send('brittle', 'x', reliability => %s)", express))
    e.queue("ticker", discard_with_sender=True)
    e.rows('select howdah.create_topic(\'ticks\', \'{"discard_with_sender": true, "journal_level": "full"}\')')
    e.rows("select howdah.subscribe('ticks', 'early'), howdah.subscribe('ticks', 'late')")
    sender = e.connect()
    for destination in ("ticker", "ticks"):
        for level in (best, express, "RELIABLE_NONPERSISTENT"):
            e.rows("select howdah.send(%s, 'x', reliability => %s)", destination, level, db=sender)
    e.receive("ticks::early", 2)
    sender.close()
    while e.one("select howdah.maintain_senders()") == 0:
        time.sleep(0.01)
    assert len(e.receive("ticker", 9)) == 1
    assert len(e.receive("ticks::late", 9)) == 1


@feature
def aliases(e: Engine) -> None:
    """Other names, which send and receive."""
    e.queue("named")
    e.rows("select howdah.create_alias('nickname', 'plain'), howdah.alter_alias('nickname', target => 'named')")
    e.send("nickname", 3)
    assert len(e.receive("nickname", 2)) == 2
    e.rows("select howdah.drop_alias('nickname')")


@feature
def links(e: Engine) -> None:
    """Both halves of a link, whose other halves are elsewhere: what goes leaves, and what comes is sent."""
    e.queue("outward")
    e.queue("inward")
    e.send("outward", 3)
    e.rows("select howdah.send('outward', 'x', reliability => 'BEST_EFFORT_NONPERSISTENT')")
    e.rows("select howdah.create_link('far', 'outward', 'there', service => 'far')")
    e.rows("select howdah.alter_link('far', batch_size => 2), howdah.pause_link('far'), howdah.resume_link('far')")
    e.rows("select howdah.link_away('far', 'forwarder', 'down')")
    taken = "select taken, messages::text from howdah.link_take('far', 'forwarder', gen_random_uuid())"
    ((number, messages),) = e.rows(taken)
    assert number == 2
    e.rows(
        "select howdah.link_arrive(%s, gen_random_uuid(), 'b', 'near', 'there', 'inward', 1, gen_random_uuid(), null,"
        " %s::json)",
        "00000000-0000-4000-8000-000000000001",
        messages,
    )
    assert len(e.receive("inward", 9)) == 2
    e.rows("select howdah.forget_arrivals('00000000-0000-4000-8000-000000000001')")
    e.rows("select howdah.rebase_link('far'), howdah.drop_link('far')")


@feature
def imports(e: Engine) -> None:
    """Messages of another system: stored, taken back, passed for a subscription, and forgotten on record."""
    e.queue("came")
    e.rows("""select howdah.create_topic('came.topic', '{"journal_level": "full"}')""")
    e.rows("select howdah.begin_import('elsewhere'), howdah.hold_import('elsewhere', 'came')")
    full = '{"journal_level": "full"}'
    e.rows("select howdah.subscribe('came.topic', 'reader', 'came', options => %s)", full)
    messages = json.dumps([{"key": f"k{n}", "message_id": n, "text": "x", "content_type": "a/b"} for n in range(3)])
    for queue in ("came", "came.topic"):
        e.rows("select * from howdah.import_messages('elsewhere', %s, %s)", queue, messages)
    assert len(e.rows("select key from howdah.list_imported('elsewhere', 'came')")) == 3
    assert e.one("select howdah.withdraw_imported('elsewhere', 'came', '{k0}')") == 1
    assert e.one("select howdah.read_imported('elsewhere', 'came.topic', 'came.topic:came:reader', '{k0,k1}')") == 2
    e.rows("select howdah.finish_import('elsewhere')")
    assert (len(e.receive("came", 9)), len(e.receive("came.topic:came:reader", 9))) == (2, 1)
    e.rows("select howdah.begin_import('again'), howdah.finish_import('again'), howdah.forget_import('again')")
    assert len(e.rows("select source from howdah.list_imports()")) == 1


@feature
def states_of_the_engine(e: Engine) -> None:
    """A stop loses what is not persistent, once it is resumed."""
    e.queue("halted")
    for level in ("EXPRESS_NONPERSISTENT", "RELIABLE_NONPERSISTENT", "ASSURED_PERSISTENT"):
        e.rows("select howdah.send('halted', 'x', reliability => %s)", level)
    e.rows("select howdah.pause_engine(), howdah.resume_engine(), howdah.quiesce_engine()")
    while e.one("select state from howdah.stop_engine('10 seconds')") != "stopped":
        time.sleep(0.01)
    e.rows("select howdah.resume_engine()")
    assert len(e.receive("halted", 9)) == 1


@feature
def contracts(e: Engine) -> None:
    """A queue takes what keeps to its contract, and refuses the rest before anything is written."""
    e.queue("contracted", contract={"type": "object"})
    e.rows("select howdah.send('contracted', '{}'::jsonb)")
    with contextlib.suppress(psycopg.Error):
        e.rows("select howdah.send('contracted', '1'::jsonb)")
    e.receive("contracted", 2)


@feature
def transformations(e: Engine) -> None:
    """A subscription and a bridge get what an application's function makes, or its error; the unused one is dropped."""
    e.rows(
        "create schema changed; create function changed.upper(m howdah.message) returns howdah.message"
        " language plpgsql security definer set search_path = changed, pg_temp as"
        " $$ begin assert m.body <> 'bad'; m.body := upper(m.body); return m; end $$;"
        " alter function changed.upper owner to howdah_producer; grant usage on schema changed to howdah_nobody"
    )
    e.rows(
        "select howdah.register_transformation('upper', 'changed.upper'),"
        " howdah.register_transformation('unused', 'changed.upper')"
    )
    e.rows("select howdah.drop_transformation('unused')")
    e.queue("uppercase")
    e.rows("select howdah.create_topic('lowercase', '{\"journal_level\": \"full\"}')")
    e.rows("select howdah.bridge('lowercase', 'uppercase', null, 'upper')")
    e.rows(
        "select howdah.subscribe('lowercase', 'upper', options => %s)",
        '{"journal_level": "full", "max_failed_deliveries": 1}',
    )
    e.rows("select howdah.transform_subscription('lowercase::upper', 'upper')")
    e.rows("select howdah.send_batch('lowercase', array['tea', 'bad'])")
    e.receive("lowercase::upper", 2)
    e.receive("uppercase", 2)


@feature
def topics(e: Engine) -> None:
    """Durable, shared and other subscriptions, bridges, history, sought, failed and ended ones."""
    e.queue("bridged")
    e.rows(
        'select howdah.create_topic(\'news\', \'{"journal_level": "full", "recovery":'
        ' "fixed_count", "recovery_amount": 2, "retain_ms": 3600000}\')'
    )
    e.rows("select howdah.alter_topic('news', '{\"default_priority\": 5}')")
    e.rows(
        "select howdah.bridge('news', 'bridged', 'k = 1'), howdah.bridge('news', 'plain'),"
        " howdah.unbridge('news', 'plain')"
    )
    full = '{"journal_level": "full", "max_failed_deliveries": 1}'
    e.rows("select howdah.subscribe('news', 'durable', 'client', options => %s)", full)
    e.rows("select howdah.subscribe('news', 'shared', 'client', shared => true, options => %s)", full)
    e.rows("select howdah.subscribe('news', 'picky', 'client', 'k = 1', options => %s)", full)
    e.rows("select howdah.subscribe('news', 'leaver', 'client', options => %s)", full)
    e.rows("select howdah.claim_client_id('publisher'), howdah.set_client_id('publisher')")
    ids = [
        e.one("select howdah.send('news', 'x', headers => %s)", json.dumps({"k": number % 2})) for number in range(8)
    ]
    e.rows("select howdah.send_batch('news', array['a', 'b'], priorities => array[9, 1])")
    e.rows(
        "select howdah.send('news', 'x', time_to_live => '1 hour'), howdah.send('news', 'x',"
        " delivery_mode => 'non-persistent')"
    )
    e.rows("select howdah.release_client_id(), howdah.set_client_id(null)")
    late = e.one("select howdah.subscribe('news', 'late', 'client', durable => false, options => %s)", full)
    e.send("news")
    for name in ("durable", "shared", "picky"):
        e.receive(f"news:client:{name}", 3)
    e.receive(late, 4)
    for name in ("durable", "shared"):
        failing = e.rows("select message_id from howdah.browse(%s, 1)", f"news:client:{name}")[0][0]
        e.fail(f"news:client:{name}", failing)
    rows = e.rows("select lease, message_id from howdah.lease('news:client:shared', 2)")
    e.rows("select howdah.ack('news:client:shared', %s, %s)", rows[0][0], [rows[0][1]])
    e.rows("select howdah.seek_subscription('news:client:durable', now() - interval '1 hour')")
    e.receive("news:client:durable", 2)
    e.rows("select howdah.purge_queue('news:client:picky')")
    e.rows("select howdah.unsubscribe('news:client:leaver')")
    e.receive("bridged", 2)
    assert ids
    e.rows(
        "select howdah.create_topic('gone', '{\"journal_level\": \"full\"}'), howdah.subscribe('gone', 's'),"
        " howdah.send('gone', 'x')"
    )
    e.rows("select howdah.drop_topic('gone', force => true)")
    e.rows("select howdah.maintain_topics(), howdah.maintain_subscriptions()")


@feature
def requests_and_replies(e: Engine) -> None:
    """Temporary queues and answers to them; of a connection that goes on and of one that ended."""
    e.queue("requests")
    for token in ("a-connection-that-lives", "a-connection-that-ends"):
        e.rows("select howdah.set_connection(%s)", token)
        mine = e.one("select howdah.create_temporary_queue()")
        for _ in range(2):
            e.rows("select howdah.send('requests', 'x', reply_to => %s, correlation_id => 'r')", mine)
            e.rows("select howdah.respond(%s, 'y', 'r')", mine)
        e.receive("requests")
        assert len(e.receive(mine)) == 1
        e.rows("select howdah.keep_connection()")
    e.rows("select howdah.close_connection()")
    e.rows("select howdah.set_connection('a-connection-that-lives')")
    other = e.one("select howdah.create_temporary_queue()")
    e.rows("select howdah.drop_temporary_queue(%s)", other)
    e.rows("select howdah.set_connection(null)")
    e.rows("select howdah.maintain_temporary()")


@feature
def listeners(e: Engine) -> None:
    """Receives and failures of named listeners."""
    e.queue("heard", max_failed_deliveries=2)
    e.rows(
        "select howdah.create_listener('ear', 'heard'), howdah.alter_listener('ear', '{\"sequential_failures\": 1}')"
    )
    e.rows("select howdah.ensure_listener('ear', 'heard', '{\"sequential_failures\": 1}')")
    ids = e.send("heard", 5)
    assert e.rows("select message_id from howdah.receive_as('ear', 1)")
    e.rows("select howdah.handled_as('ear')")
    e.rows("select howdah.record_failures_as('ear', %s)", json.dumps([{"message_id": ids[1], "error_text": "no"}]))
    e.rows("select howdah.stop_listener('ear', 'test'), howdah.resume_listener('ear')")
    e.queue("heard.hard", backout_count="hardened")
    e.send("heard.hard", 2)
    e.rows("select howdah.create_listener('other.ear', 'heard.hard')")
    attempt = e.one("select attempt from howdah.begin_attempts_as('other.ear')")
    assert e.rows("select howdah.receive_attempt_as('other.ear', %s)", attempt)
    e.rows("select howdah.drop_listener('other.ear')")


@feature
def dropped_queues(e: Engine) -> None:
    """A queue that goes with messages in it, and one that another sender had in hand."""
    e.queue("dropped")
    e.fail("dropped", e.send("dropped", 3)[0])
    sender = e.connect()
    e.rows("begin", db=sender)
    e.rows("select howdah.send('dropped', 'late')", db=sender)
    e.rows("select howdah.drop_queue('dropped', force => true)")
    e.rows("commit", db=sender)
    e.rows("select howdah.maintain_dropped()")
    e.queue("dropped")
    e.send("dropped")


@feature
def auto_creation(e: Engine) -> None:
    """A queue that created itself, ended, and came back under its number for a message that came late."""
    e.rows('select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    e.send("self.made", 2)
    e.receive("self.made", 2)
    old = e.connect()
    e.rows("begin isolation level repeatable read", db=old)
    e.rows("select count(*) from howdah.destinations", db=old)
    e.rows("select howdah.maintain_autocreated()")
    e.rows("update howdah.auto_destinations set seen_at = now() - interval '1 hour', looked_at = null")
    assert e.one("select howdah.maintain_autocreated()") == 1
    e.rows("select howdah.send('self.made', 'late')", db=old)
    e.rows("commit", db=old)
    e.rows("select howdah.maintain_dropped()")
    assert len(e.receive("self.made", 2)) == 1
    e.send("self.made")
    e.rows('select howdah.alter_engine(\'{"autocreate_queue": false, "autocreate_topic": false}\')')


@feature
def clients_of_pgmq(e: Engine) -> None:
    """A queue of the facade: read, hidden, settled by number, archived, moved."""
    add_facade(make_conninfo(e.db.info.dsn, password=e.db.info.password), "pgmq")
    e.rows("select pgmq.create('facade')")
    e.rows("select pgmq.send_batch('facade', array(select to_jsonb(n) from generate_series(1, 9) n))")
    e.rows("select pgmq.send('facade', to_jsonb(repeat('x', 20000)), '7', 60)")  # headers that are no object
    e.rows("select pgmq.read('facade', 3600, 4)")
    e.rows("select pgmq.delete('facade', 1), pgmq.archive('facade', 2), pgmq.delete('facade', 9)")
    e.rows("select pgmq.set_vt('facade', 3, 0), pgmq.pop('facade')")
    e.rows("delete from pgmq.q_facade where msg_id = 6")
    e.rows("select pgmq.bind_topic('a.*', 'facade'), pgmq.send_topic('a.b', '{}')")
    e.receive("facade", 2)
    e.queue("beside_facade")
    e.rows("select howdah.move_all('facade', 'beside_facade', 1)")
    e.rows("select pgmq.create('emptied'), pgmq.send('emptied', '1'), pgmq.read('emptied', 60, 1)")
    e.rows("select pgmq.purge_queue('emptied')")


@feature
def archives_and_audits(e: Engine) -> None:
    """A run of an archive that is on record, a message restored from it, an audit on record."""
    e.queue("archived")
    (message,) = e.send("archived")
    e.one("select howdah.acquire_lock('archive', 'another', 60)")
    assert e.one("select howdah.break_lock('archive') ->> 'holder'") == "another"
    epoch = e.one("select howdah.acquire_lock('archive', 'test', 60)")
    archive = e.one("select howdah.begin_archive(%s)", epoch)
    facts = {
        "journal": {"rows": 1, "checksum": "1"}, "incidents": {"rows": 0, "checksum": "0"},
        "messages": {"rows": 0, "checksum": "0"}, "journal_kept_from": None, "manifest": "abc", "path": "/archive",
        "started_at": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    place = e.one("select id from howdah.destinations where name = 'archived'")
    e.rows("select howdah.finish_archive_run(%s, %s, 1, pg_current_snapshot()::text, %s, %s, %s, %s, %s)",
           epoch, archive, json.dumps(facts), [message], [place], [place], [0])  # fmt: skip
    e.receive("archived")
    e.rows(
        "select howdah.restore_message('archived', %s, 1, %s, '\\x78', true, '{\"content_type\": \"text/plain\"}')",
        archive,
        message,
    )
    e.rows("select howdah.release_lock('archive', %s, 'test')", epoch)
    epoch = e.rows("select lock_epoch from howdah.hold_audit('test', 60)")[0][0]
    e.rows("select howdah.release_audit(%s)", epoch)
    e.rows("select count(*) from howdah.audit_digests()")


@feature
def upkeep(e: Engine) -> None:
    """All that runs in the background, and workers."""
    for verb in ("backlog", "consumers", "incidents", "journal", "schedules", "totals"):
        e.rows(f"select howdah.maintain_{verb}()")
    worker = e.one("select howdah.register_worker('w', 'here', 1, 1, array['plain'])")
    e.rows("select howdah.heartbeat(%s, '{\"plain\": 1}'), howdah.unregister_worker(%s)", worker, worker)
    e.rows("select howdah.maintain_workers()")
