"""Features of delivery: failures and what becomes of them, leases, groups and consumers."""

from __future__ import annotations

import json
import time
from typing import Any

from feature_engine import Engine, feature
from support import SYSTEM


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
