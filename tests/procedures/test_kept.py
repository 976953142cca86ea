"""keep_bodies_ms: what was consumed stays readable for a time, and can be sent again."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import (
    Clock,
    Connect,
    Db,
    all_refused,
    column,
    deliver_and_fail,
    one,
    receive,
    refused,
    wait_until_blocked,
)

HOUR = 3_600_000
KEPT = "select message_id, body, bytes, delivery_count, headers, priority from howdah.browse_kept('q')"
IDS = "select message_id from howdah.browse_kept('q')"


def send(db: Db, queue: str = "q", **more: Any) -> int:
    given = {"body": "x", **more}
    arguments = ", ".join(f"{name} => %({name})s" for name in given)
    number: int = one(db, f"select howdah.send('{queue}', {arguments})", given)
    return number


def rows(db: Db, query: str, params: Any = None) -> list[tuple[Any, ...]]:
    return db.execute(query.encode(), params).fetchall()


def by_receive(db: Db) -> None:
    assert receive(db, n=100)


def by_one(db: Db) -> None:
    assert receive(db)


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


def test_kept_messages_are_paged_by_time_and_id_both_ways(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR)
    numbers = []
    for _ in range(3):
        clock.advance(1)
        numbers += [send(db), send(db), send(db)]
        by_receive(db)
    assert column(db, IDS) == numbers
    for newest, wanted in (("false", numbers), ("true", numbers[::-1])):
        found: list[int] = []
        after: tuple[Any, Any] = (None, None)
        page = f"select message_id, kept_at from howdah.browse_kept('q', 2, %s, %s, newest_first => {newest})"
        while shown := rows(db, page, after):
            found += [row[0] for row in shown]
            after = shown[-1][::-1]
        assert found == wanted
    assert column(db, "select message_id from howdah.browse_kept('q', only_id => %s)", (numbers[4],)) == [numbers[4]]
    all_refused(
        db,
        [
            ("HD005", "select howdah.browse_kept('q', 0)"),
            ("HD005", "select howdah.browse_kept('q', null)"),
            ("HD005", "select howdah.browse_kept('q', 1, now())"),
            ("HD005", "select howdah.browse_kept('q', 1, null, 1)"),
            ("HD001", "select howdah.browse_kept('nowhere')"),
        ],
    )


def test_who_may_browse_sees_what_was_kept_and_redactions_hide_what_they_hide(
    db: Db, create: Create, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    send(db, body='{"card": "4711", "a": 1}', content_type="application/json")
    send(db, body=b"4711")
    by_receive(db)
    one(db, "select howdah.set_redaction('q', '$.card')")
    look = "select coalesce(body, encode(bytes, 'escape')) from howdah.browse_kept('q')"
    whole = ['{"card": "4711", "a": 1}', "4711"]
    for role in ("howdah_admin", "howdah_consumer"):
        assert column(connect(role), look) == whole
    hidden = column(connect("howdah_browser"), look)
    assert len(hidden) == 2
    assert not any("4711" in body for body in hidden)
    for role in ("howdah_producer", "howdah_auditor"):
        refused(connect(role), "42501", look)
    for role in ("howdah_browser", "howdah_consumer", "howdah_auditor", "howdah_producer"):
        refused(connect(role), "42501", "select howdah.replay_kept('q')")
        refused(connect(role), "42501", "select howdah.delete_kept('q')")
        refused(connect(role), "42501", "select * from howdah.kept_messages")
    one(db, "select howdah.create_queue('other')")
    db.execute("delete from howdah.destination_grants g using howdah.destinations d"
               " where d.id = g.destination_id and d.name = 'q'")  # fmt: skip
    refused(connect("howdah_browser"), "HD010", look)
    refused(connect("howdah_admin"), "HD010", "select howdah.replay_kept('q', target => 'other')")
    refused(connect("howdah_admin"), "HD010", "select howdah.delete_kept('q')")


def test_what_is_past_its_time_is_shown_to_nobody_and_goes_with_its_week(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    create("longer", keep_bodies_ms=HOUR * 24 * 20)
    assert one(db, "select howdah.maintain_journal()") == 9 + 52
    assert one(db, "select howdah.maintain_journal()") == 0
    send(db)
    send(db, "longer")
    by_receive(db)
    receive(db, "longer")
    clock.advance(3599)
    assert len(column(db, IDS)) == 1
    clock.advance(1)
    assert column(db, IDS) == []
    refused(db, "HD013", "select howdah.replay_kept('q', %s)", ([1],))
    assert one(db, "select howdah.replay_kept('q')") == 0
    clock.advance(86400 * 19)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages") == 2
    assert one(db, "select count(*) from howdah.browse_kept('longer')") == 1
    clock.advance(86400)
    weeks = "select count(*) from pg_inherits where inhparent = 'howdah.kept_messages'::regclass"
    before = one(db, weeks)
    reader = connect()
    with reader.transaction():
        one(reader, "select count(*) from howdah.kept_messages")
        one(db, "select howdah.maintain_journal()")
        assert one(db, "select count(*) from howdah.kept_messages") == 2
        assert one(db, "select reason from howdah.maintenance_waits where service = 'kept' limit 1")
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages") == 0
    assert one(db, weeks) < before
    assert column(db, "select object from howdah.maintenance_waits where service = 'kept'") == []


def test_until_a_week_is_dropped_maintenance_hinders_no_consumer(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    one(db, "select howdah.maintain_journal()")
    for _ in range(2):
        send(db)
    by_one(db)
    clock.advance(86400 * 15)
    consumer = connect()
    consumer.execute("set lock_timeout = '1s'")
    with db.transaction():
        due = one(db, "select p_due::text[] from howdah._maintain_kept()")
        assert len(due) == 2
        by_one(consumer)
        assert one(db, "select howdah._drop_kept(%s::text[]::regclass[])", (due,)) == 2
    assert one(db, "select count(*) from howdah.kept_messages") == 1
    assert one(db, "select pg_get_functiondef('howdah.maintain_journal'::regproc) ~ '_drop_kept[^;]*;\\s*end'")


def test_the_weeks_around_new_year_have_partitions_and_go_one_by_one(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR * 24 * 14)
    clock.set(datetime(2026, 12, 20, 12, tzinfo=UTC))
    weeks = (
        "select array_agg(right(c.relname, 7) order by c.relname) from pg_class c join pg_inherits i"
        " on i.inhrelid = c.oid where i.inhparent = 'howdah.kept_messages'::regclass and c.relname ~ 'w'"
    )
    one(db, "select howdah.maintain_journal()")
    assert one(db, weeks) == ["2026w51", "2026w52", "2026w53", *(f"2027w0{week}" for week in range(1, 7))]
    for day in (20, 27, 34, 41, 48):  # each of them a Sunday: one message in its last second, one in the next week
        clock.set(datetime(2026, 12, 1, 23, 59, 59, 999999, tzinfo=UTC) + timedelta(days=day - 1))
        for _ in range(2):
            send(db)
            by_one(db)
            clock.advance(0.000001)
        one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages_default") == 0
    assert len(column(db, IDS)) == 4
    assert one(db, weeks)[0] == "2027w01"


def test_a_week_without_a_partition_lies_in_the_default_one_until_all_of_it_is_past(
    db: Db, create: Create, clock: Clock
) -> None:
    create(keep_bodies_ms=HOUR)
    number = send(db)
    by_one(db)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages_default") == 1
    assert column(db, IDS) == [number]
    clock.advance(3600)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages_default") == 0
    assert one(db, "select howdah.maintain_journal()") > 0
    later = send(db)
    by_one(db)
    assert one(db, "select count(*) from howdah.kept_messages_default") == 0
    assert column(db, IDS) == [later]


def test_a_week_whose_first_message_is_kept_meanwhile_does_not_stop_maintenance(
    db: Db, create: Create, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    number = send(db)
    consumer, keeper = connect(), connect()
    thread = threading.Thread(target=one, args=(keeper, "select howdah.maintain_journal()"))
    with consumer.transaction():
        by_one(consumer)
        thread.start()
        wait_until_blocked(db, keeper)
    thread.join()
    assert column(db, IDS) == [number]
    weeks = "select count(*) from pg_inherits where inhparent = 'howdah.kept_messages'::regclass"
    assert one(db, weeks) == 1 + 8, "the default one, and all weeks but this"


def test_rows_without_an_end_stay_and_hold_back_only_themselves(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR)
    one(db, "select howdah.maintain_journal()")
    send(db)
    by_one(db)
    send(db)
    one(
        db,
        "select howdah._keep(d.id, array(select b from howdah.browse('q') b), null, array[7],"
        " array[howdah.now()], array[howdah.now()])::text from howdah.destinations d where d.name = 'q'",
    )
    clock.advance(86400 * 30)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.kept_messages") == 1
    assert rows(db, "select delivery_count, kept_until from howdah.browse_kept('q')") == [(7, None)]
    assert one(db, "select howdah.delete_kept('q')") == 1
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from pg_inherits where inhparent = 'howdah.kept_messages'::regclass") == 1 + 9


def test_a_kept_message_is_sent_again_as_a_new_message_and_the_act_is_on_record(
    db: Db, create: Create, clock: Clock
) -> None:
    create(keep_bodies_ms=HOUR, journal_level="full", default_time_to_live_ms=60_000)
    create("other", journal_level="full")
    first = send(db, headers=Jsonb({"a": 1}), priority=7, correlation_id="c", reply_to="other", message_type="t")
    second = send(db, body="y" * 5000, delivery_mode="non-persistent")
    third = send(db, body=b"\x00")
    by_receive(db)
    assert one(db, "select howdah.replay_kept('q', dry_run => true)") == 3
    assert one(db, "select count(*) from howdah.audit_messages") == 0
    assert one(db, "select howdah.replay_kept('q', %s, reason => 'again')", ([first, first],)) == 1
    (copy,) = receive(db)
    assert copy.message_id not in (first, second, third)
    assert (copy.body, copy.headers, copy.priority, copy.correlation_id, copy.reply_to, copy.message_type) == (
        "x", {"a": 1, "howdah_replayed_from": first}, 7, "c", "other", "t"
    )  # fmt: skip
    assert copy.expires_at is not None
    assert copy.sent_at == clock.now
    assert one(db, "select howdah.replay_kept('q', target => 'other', max_messages => 3)") == 3
    assert [(m.body, m.bytes, m.delivery_mode, m.headers["howdah_replayed_from"]) for m in receive(db, "other", 9)] == [
        ("x", None, "persistent", first),
        ("y" * 5000, None, "non-persistent", second),
        (None, b"\x00", "persistent", third),
    ]
    assert one(db, "select count(*) from howdah.browse_kept('q')") == 4
    assert one(db, "select count(*) from howdah.browse_kept('other')") == 0
    acts = rows(db, "select act, queue, other_queue, reason, array_agg(message_id order by message_id) from"
                    " howdah.audit_acts group by act_id, act, queue, other_queue, reason order by act_id")  # fmt: skip
    assert acts[0] == ("resent", "q", "q", "again", [first, copy.message_id])
    assert acts[1][:4] == ("resent", "q", "other", None)
    assert len(acts[1][4]) == 6
    assert column(db, "select count(*) from howdah.audit_journal where event = 'sent' and message_id = any (%s)"
                      " group by message_id", (acts[1][4],)) == [1] * 6  # fmt: skip


def test_what_was_kept_in_a_time_is_sent_again_or_deleted(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR)
    create("other")
    numbers = []
    times = []
    for _ in range(4):
        clock.advance(1)
        numbers.append(send(db))
        by_one(db)
        times.append(clock.now)
    again = "select howdah.replay_kept('q', target => 'other', kept_from => %s, kept_before => %s)"
    assert one(db, again, (times[1], times[3])) == 2
    assert [m.headers["howdah_replayed_from"] for m in receive(db, "other", 9)] == numbers[1:3]
    assert one(db, "select howdah.delete_kept('q', kept_before => %s, reason => 'law')", (times[1],)) == 1
    assert one(db, "select howdah.delete_kept('q', %s)", ([numbers[0], numbers[1], 5],)) == 1
    assert column(db, IDS) == numbers[2:]
    reasons = column(db, "select reason from howdah.list_acts('q') where act = 'purged'")
    assert reasons == ["1 kept messages", "1 kept messages: law"]


def test_bad_calls_for_kept_messages_are_refused_and_send_nothing(db: Db, create: Create) -> None:
    create(keep_bodies_ms=HOUR, max_message_bytes=10)
    create("small", max_message_bytes=1)
    create("shut")
    one(db, "select howdah.pause('shut')")
    one(db, "select howdah.create_topic('t')")
    subscription = one(db, "select howdah.subscribe('t', 's')")
    number = send(db, body="12")
    by_one(db)
    all_refused(
        db,
        [
            ("HD005", "select howdah.replay_kept('q', max_messages => -1)"),
            ("HD005", "select howdah.replay_kept('q', array[1], kept_from => now())"),
            ("HD005", f"select howdah.replay_kept('q', target => '{subscription}')"),
            ("HD005", "select howdah.delete_kept('q', array[1], kept_before => now())"),
            ("HD001", "select howdah.replay_kept('q', target => 't')"),
            ("HD001", "select howdah.replay_kept('nowhere')"),
            ("HD001", "select howdah.delete_kept('t')"),
            ("HD007", "select howdah.replay_kept('q', target => 'small')"),
            ("HD008", "select howdah.replay_kept('q', target => 'shut')"),
            ("HD013", f"select howdah.replay_kept('q', array[{number}, 5])"),
            ("HD013", f"select howdah.replay_kept('q', array[{number}, null])"),
            ("HD004", "select howdah.create_queue('x', '{\"keep_bodies_ms\": 0}')"),
            ("HD004", f"select howdah.alter_queue('{subscription}', '{{\"keep_bodies_ms\": 1}}')"),
        ],
    )
    assert one(db, "select count(*) from howdah.audit_messages") == 0


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


def test_metrics_say_how_old_the_oldest_kept_message_is_and_how_many_bytes_are_kept(
    db: Db, create: Create, clock: Clock
) -> None:
    create(keep_bodies_ms=HOUR)
    create("other")
    age = "select value from howdah.metrics() where name = 'howdah_queue_oldest_kept_age_seconds'"
    size = (
        "select value from howdah.metrics() where name = 'howdah_table_bytes' and labels ->> 'table' = 'kept_messages'"
    )
    assert column(db, age) == [0]
    empty = one(db, size)
    for body in (random.randbytes(100_000), "y"):
        send(db, body=body)
        by_one(db)
        clock.advance(30)
    assert column(db, age) == [60]
    assert one(db, size) > empty
    clock.advance(2 * 3600)
    assert column(db, age) == [7260]  # it is past its time, and still lies there


def test_a_dropped_queue_takes_what_it_kept_with_it(db: Db, create: Create) -> None:
    create(keep_bodies_ms=HOUR)
    create("other", keep_bodies_ms=HOUR)
    for queue in ("q", "other"):
        send(db, queue)
        assert receive(db, queue)
    one(db, "select howdah.drop_queue('q')")
    create(keep_bodies_ms=HOUR)
    assert column(db, IDS) == []
    assert one(db, "select count(*) from howdah.kept_messages") == 1


def test_what_a_receiver_keeps_after_the_drop_goes_with_the_queues_sequences(
    db: Db, create: Create, clock: Clock, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR * 24 * 365)
    send(db)
    receiver = connect()
    with receiver.transaction():
        by_one(receiver)
        one(db, "select howdah.drop_queue('q', force => true)")
    assert one(db, "select count(*) from howdah.kept_messages") == 1
    clock.advance(3601)
    one(db, "select howdah.maintain_dropped()")
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
