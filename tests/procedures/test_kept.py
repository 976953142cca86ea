"""keep_bodies_ms: a message that was consumed is kept once, with its whole body."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import psycopg
import pytest
from kept_support import HOUR, IDS, by_one, by_receive, rows, send
from policy_support import Create
from psycopg.types.json import Jsonb
from support import (
    Clock,
    Connect,
    Db,
    column,
    deliver_and_fail,
    one,
    receive,
    refused,
)

KEPT = "select message_id, body, bytes, delivery_count, headers, priority from howdah.browse_kept('q')"


def by_selector(db: Db) -> None:
    assert rows(db, "select howdah.receive('q', 100, selector => 'a = 1')")


def by_id(db: Db) -> None:
    for number in column(db, "select message_id from howdah.audit_messages where queue = 'q'"):
        assert rows(db, "select howdah.receive_message('q', %s)", (number,))


def by_correlation(db: Db) -> None:
    assert rows(db, "select howdah.receive_correlated('q', 'c')")


def by_wildcard(db: Db) -> None:
    assert rows(db, "select howdah.receive('*', 100)")


def by_alias(db: Db) -> None:
    one(db, "select howdah.create_alias('other', 'q')")
    assert rows(db, "select howdah.receive('other', 100)")


def by_lock(db: Db) -> None:
    with db.transaction():
        held = rows(db, "select message_id, priority, position from howdah.receive_locked('q', 100)")
        assert column(db, IDS) == []
        one(db, "select howdah.consume_locked('q', %s, %s, %s)", [list(part) for part in zip(*held, strict=True)])


def by_lease(db: Db) -> None:
    leases = set(column(db, "select lease from howdah.lease('q', 100, interval '1 minute')"))
    assert column(db, IDS) == []
    for lease in leases:
        one(db, "select howdah.ack('q', %s)", (lease,))


def by_lease_of_ids(db: Db) -> None:
    for lease, number in rows(db, "select lease, message_id from howdah.lease('q', 100, interval '1 minute')"):
        assert one(db, "select howdah.ack('q', %s, %s)", (lease, [number])) == 1


def by_lease_that_ended(db: Db) -> None:
    leases = rows(db, "select lease, message_id from howdah.lease('q', 100, interval '1 minute')")
    db.execute("update howdah.leases set until = howdah.now()")
    db.execute("update howdah.parked set due_at = howdah.now() where lease_id is not null")
    for lease, number in leases:
        assert one(db, "select howdah.ack('q', %s, %s)", (lease, [number])) == 1


def by_attempt(db: Db) -> None:
    for attempt in column(db, "select attempt from howdah.begin_attempts('q', 100)"):
        assert rows(db, "select howdah.receive_attempt('q', %s)", (attempt,))


WAYS: list[Callable[[Db], None]] = [
    by_receive, by_one, by_selector, by_id, by_correlation, by_wildcard, by_alias, by_lock, by_lease, by_lease_of_ids,
    by_lease_that_ended, by_attempt,
]  # fmt: skip

OPTIONS: list[dict[str, Any]] = [
    {}, {"persistent": False}, {"message_groups": "transaction"}, {"journal_level": "off"}, {"journal_level": "full"},
]  # fmt: skip

MORE: dict[str, dict[str, Any]] = {
    "plain": {}, "other lane": {"priority": 9}, "large": {"body": "long" * 1000}, "bytes": {"body": b"\x00\xff"},
}  # fmt: skip


def cases() -> Iterator[Any]:
    """Each way by itself and the usual three with all else are quick; the rest of the product is slow."""
    for way, options, more in product(WAYS, OPTIONS, MORE):
        if way in (by_id, by_correlation) and "message_groups" in options:
            continue  # such a queue is read in its order only
        special = bool(options) + bool(MORE[more])
        quick = special == 0 or (special == 1 and way in (by_receive, by_lease, by_lock))
        name = f"{way.__name__}-{options}-{more}"
        yield pytest.param(way, options, MORE[more], id=name, marks=[] if quick else [pytest.mark.slow])


@pytest.mark.parametrize(("way", "options", "more"), list(cases()))
def test_whatever_consumes_a_message_keeps_it_once_with_its_whole_body(
    db: Db, create: Create, clock: Clock, way: Callable[[Db], None], options: dict[str, Any], more: dict[str, Any]
) -> None:
    create(keep_bodies_ms=HOUR, **options)
    if way is by_attempt:
        one(db, "select howdah.alter_queue('q', '{\"backout_count\": \"hardened\"}')")
    given = {"body": "x", "headers": Jsonb({"a": 1, "JMSXGroupID": "g"}), "correlation_id": "c", **more}
    number = send(db, **given)
    assert column(db, IDS) == []
    way(db)
    body = given["body"]
    text, raw = (body, None) if isinstance(body, str) else (None, body)
    assert rows(db, KEPT) == [(number, text, raw, 1, {"a": 1, "JMSXGroupID": "g"}, more.get("priority", 4))]
    assert one(db, "select count(*) from howdah.bodies") == 0
    assert one(db, "select count(*) from howdah.audit_messages") == 0


def test_a_queue_keeps_nothing_unless_it_is_told_to(db: Db, create: Create) -> None:
    create()
    send(db)
    by_one(db)
    assert one(db, "select count(*) from howdah.kept_messages") == 0
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"keep_bodies_ms": HOUR}),))
    number = send(db)
    by_one(db)
    assert column(db, IDS) == [number]
    one(db, "select howdah.alter_queue('q', '{\"keep_bodies_ms\": null}')")
    send(db)
    by_one(db)
    assert column(db, IDS) == [number]


def test_a_rollback_keeps_nothing_and_a_delivery_after_a_failure_is_the_second(db: Db, create: Create) -> None:
    create(keep_bodies_ms=HOUR)
    number = send(db)
    with db.transaction(force_rollback=True):
        by_one(db)
        assert column(db, IDS) == [number]
    assert column(db, IDS) == []
    assert deliver_and_fail(db) == (1, "returned")
    by_one(db)
    assert rows(db, KEPT) == [(number, "x", None, 2, None, 4)]
    send(db)
    with db.transaction():
        by_one(db)
    one(db, "select howdah.record_failure('q', %s, 'too late')", (column(db, IDS)[-1],))
    assert len(column(db, IDS)) == 2


def test_what_ends_otherwise_is_not_kept(db: Db, create: Create, clock: Clock) -> None:
    create("grave", keep_bodies_ms=HOUR)
    create(keep_bodies_ms=HOUR, max_failed_deliveries=1, exception_queue="grave")
    send(db, time_to_live=timedelta(seconds=1))
    send(db, time_to_live=timedelta(seconds=1), priority=8)
    clock.advance(2)
    assert receive(db) == []
    one(db, "select howdah.maintain_expired()")
    dead = send(db)
    assert deliver_and_fail(db) == (1, "moved")
    send(db)
    assert one(db, "select howdah.purge_queue('q')") == 1
    moved = send(db)
    one(db, "select howdah.move_messages('q', %s, 'grave')", ([moved],))
    one(db, "select howdah.discard('grave', %s)", ([moved],))
    with db.transaction():
        send(db)
        held = rows(db, "select message_id, priority, position from howdah.receive_locked('q', 9)")
        one(
            db,
            "select count(*) from howdah.record_failures('q', %s, in_hand => true)",
            (Jsonb([{"message_id": held[0][0]}]),),
        )
        one(db, "select howdah.settle_failures('q', %s, %s, %s)", [list(part) for part in zip(*held, strict=True)])
    assert one(db, "select count(*) from howdah.kept_messages") == 0
    assert {m.message_id for m in receive(db, "grave", 9)} == {dead, held[0][0]}
    (kept, _) = rows(db, "select message_id, origin_queue, dead_reason is not null, dead_at is not null"
                         " from howdah.browse_kept('grave')")  # fmt: skip
    assert kept == (dead, "q", True, True)


def test_a_stale_acknowledgement_keeps_nothing(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR)
    number = send(db)
    ((lease,),) = rows(db, "select lease from howdah.lease('q', 1, interval '1 minute')")
    clock.advance(61)
    ((later,),) = rows(db, "select lease from howdah.lease('q', 1, interval '1 minute')")
    refused(db, "HD026", "select howdah.ack('q', %s)", (lease,))
    assert column(db, IDS) == []
    assert one(db, "select howdah.ack('q', %s)", (later,)) == 1
    refused(db, "HD026", "select howdah.ack('q', %s)", (later,))
    assert rows(db, "select message_id, delivery_count from howdah.browse_kept('q')") == [(number, 2)]


def test_two_acknowledgements_of_one_lease_at_once_keep_its_messages_once(
    db: Db, create: Create, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    numbers = [send(db), send(db)]
    lease = column(db, "select lease from howdah.lease('q', 2, interval '1 minute')")[0]
    first, second = connect(), connect()
    with first.transaction():
        assert one(first, "select howdah.ack('q', %s)", (lease,)) == 2
        second.execute("set lock_timeout = '200ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            second.execute("select howdah.ack('q', %s)", (lease,))
        second.execute("reset lock_timeout")
    refused(second, "HD026", "select howdah.ack('q', %s)", (lease,))
    assert column(db, IDS) == numbers


def test_a_policy_by_name_makes_queues_keep_bodies_and_subscriptions_not(db: Db, create: Create) -> None:
    one(db, "select howdah.set_policy('>', '{\"keep_bodies_ms\": 1000}')")
    create()
    one(db, "select howdah.create_topic('t')")
    subscription = one(db, "select howdah.subscribe('t', 's')")
    assert one(db, "select howdah.queue_options('q') -> 'keep_bodies_ms'") == 1000
    assert one(db, "select howdah.queue_options(%s) -> 'keep_bodies_ms'", (subscription,)) is None
    send(db, "t")
    assert receive(db, subscription)
    assert one(db, "select count(*) from howdah.kept_messages") == 0


def test_a_queue_that_keeps_nothing_runs_no_statement_more(db: Db, create: Create) -> None:
    """Receive, lease and acknowledge touch kept_messages only where the option is set."""
    touched = (
        "select coalesce(sum(pg_stat_get_xact_tuples_inserted(relid) + pg_stat_get_xact_numscans(relid)), 0)"
        " from pg_partition_tree('howdah.kept_messages') where isleaf"
    )
    for queue, options in (("plain", {}), ("keeping", {"keep_bodies_ms": HOUR})):
        create(queue, **options)
        for _ in range(2):
            send(db, queue)
        with db.transaction():
            assert receive(db, queue)
            ((lease,),) = rows(db, f"select lease from howdah.lease('{queue}', 1, interval '1 minute')")
            one(db, f"select howdah.ack('{queue}', %s)", (lease,))
            assert one(db, touched) == (0 if not options else 2)
