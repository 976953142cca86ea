"""Expiry: nothing is delivered after its time, and what nobody meets is reclaimed in the background."""

from __future__ import annotations

import pytest
from expiry_support import expired, reclaim, send, stored
from policy_support import Create
from support import SYSTEM, Clock, Connect, Db, all_refused, column, one, receive

from howdah.workers.maintenance import Maintenance


@pytest.mark.behaviour("IMQ-41")
def test_an_expired_message_is_gone_within_a_minute_and_is_not_delivered_meanwhile(
    dsn: str, db: Db, clock: Clock, create: Create
) -> None:
    create()
    maintenance = Maintenance(dsn, "w")
    maintenance.run_once("expired")
    send(db, time_to_live="1 s")
    clock.advance(1)
    assert receive(db, n=1, verb="browse") == []
    with db.transaction(force_rollback=True):
        assert receive(db) == []
    for _ in range(11):
        clock.advance(5)
        maintenance.run_once("expired")
    assert stored(db) == []
    assert expired(db) == 1
    maintenance.stop()


@pytest.mark.behaviour("IMQ-41")
def test_the_interval_is_a_setting_of_the_engine_and_0_is_never(dsn: str, db: Db, clock: Clock, create: Create) -> None:
    create()
    maintenance = Maintenance(dsn, "w")
    for seconds, waited, gone in ((10, 9, True), (1000, 800, False), (1000, 950, True), (0, 100000, False)):
        one(
            db, "select howdah.alter_engine(jsonb_build_object('imq.message.expiration.interval', %s::int))", (seconds,)
        )
        send(db, time_to_live="1 ms")
        clock.advance(waited)
        maintenance.run_once("expired")
        assert (stored(db) == []) is gone, seconds
        reclaim(db)
    maintenance.stop()


def test_messages_are_reclaimed_wherever_they_lie_and_living_ones_stay(db: Db, clock: Clock, create: Create) -> None:
    create()
    for way in ({}, {"priority": 9}, {"delay": "1 h"}, {"delivery_mode": "non-persistent"},
                {"delivery_mode": "non-persistent", "delay": "1 h"}):  # fmt: skip
        send(db, "dies", time_to_live="1 min", **way)
        send(db, "lives", time_to_live="61 s", **way)
    clock.advance(60)
    assert reclaim(db) == 5
    assert reclaim(db) == 0
    assert len(stored(db)) == 5
    assert expired(db) == 5
    events = db.execute(
        "select nonpersistent, sum(cardinality(message_ids))::int from howdah.journal"
        " where event = 'expired' group by 1 order by 1"
    )
    assert events.fetchall() == [(False, 3), (True, 2)]


def test_what_is_in_hand_or_leased_is_left_until_it_is_given_back(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    send(db, "in hand", time_to_live="10 s")
    other = connect()
    with other.transaction(force_rollback=True):
        assert len(receive(other)) == 1
        send(db, "leased", time_to_live="10 s")
        lease = one(db, "select lease from howdah.lease('q', 1, '1 min')")
        clock.advance(20)
        assert reclaim(db) == 0
    assert reclaim(db) == 1
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == 1
    send(db, time_to_live="10 s")
    one(db, "select lease from howdah.lease('q', 1, '1 min')")
    clock.advance(60)
    assert reclaim(db) == 1
    assert stored(db) == []


def test_a_subscriptions_own_messages_are_reclaimed(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', options => '{\"redelivery_delay_ms\": 3600000}')")
    send(db, queue="t", time_to_live="1 min")
    with db.transaction(force_rollback=True):
        (message,) = receive(db, "t::s")
    one(db, "select outcome from howdah.record_failure('t::s', %s)", (message.message_id,))
    assert len(stored(db)) == 1
    clock.advance(60)
    assert reclaim(db) == 1
    assert (stored(db), expired(db, "t::s")) == ([], 1)


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_what_expires_unread_is_counted_by_a_bridged_queue_and_by_no_subscription(
    db: Db, clock: Clock, create: Create, shared: bool
) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's', shared => %s)", (shared,))
    create(process_expired=True)
    one(db, "select howdah.bridge('t', 'q')")
    send(db, queue="t", body="dies", time_to_live="1 min")
    send(db, queue="t", body="lives")
    clock.advance(60)
    assert [message.body for message in receive(db, name, 9)] == ["lives"]
    assert (expired(db, name), one(db, "select behind from howdah.list_subscriptions('t')")) == (0, 0)
    assert [message.body for message in receive(db, "q", 9)] == ["lives"]
    assert [message.body for message in receive(db, SYSTEM, 9)] == ["dies"]


def test_a_round_is_made_in_batches_and_goes_on_where_it_was(db: Db, clock: Clock, create: Create) -> None:
    create()
    one(
        db,
        (
            "select cardinality(howdah.send_batch('q', array(select 'x' || n from generate_series(1, 25) n),"
            " time_to_live => '1 min'))"
        ),
    )
    send(db, "last")
    clock.advance(60)
    assert [reclaim(db, 10) for _ in range(4)] == [10, 10, 5, 0]
    assert [message.body for message in receive(db, n=100)] == ["last"]
    assert expired(db) == 25


def test_two_who_reclaim_at_once_do_not_wait_and_a_rollback_loses_nothing(
    db: Db, clock: Clock, connect: Connect, create: Create
) -> None:
    create()
    send(db, time_to_live="1 min")
    clock.advance(60)
    other = connect("howdah_consumer")
    with other.transaction(force_rollback=True):
        assert reclaim(other) == 1
        assert reclaim(db) == 0
    assert expired(db) == 0
    assert reclaim(other) == 1
    all_refused(
        db,
        [
            ("HD005", "select howdah.maintain_expired(null, 0)"),
            ("HD005", "select howdah.maintain_expired(null, null)"),
            ("HD014", "select howdah.maintain_expired(7)"),
        ],
    )


def test_reclaiming_reads_blocks_and_no_index_has_the_time_of_expiry(db: Db) -> None:
    assert (
        column(db, "select indexname from pg_indexes where schemaname = 'howdah' and indexdef like '%%expires_at%%'")
        == []
    )
    db.execute("set enable_seqscan = off")
    plan = column(
        db,
        "explain select from howdah.msgs m where m.ctid >= '(512,0)' and m.ctid < '(1024,0)' and m.expires_at <= now()"
        " for update skip locked",
    )
    assert any("Tid Range Scan" in line for line in plan), plan


@pytest.mark.parametrize("verb", ["receive", "lease"])
@pytest.mark.parametrize("number", [1, 2])
def test_an_expired_message_does_not_let_lower_priorities_overtake_higher_ones(
    db: Db, clock: Clock, create: Create, verb: str, number: int
) -> None:
    create()
    for priority, live in ((4, None), (9, "1 s"), (9, "1 s"), (9, None), (9, None)):
        one(db, "select howdah.send('q', 'x'::text, priority => %s, time_to_live => %s)", (priority, live))
    clock.advance(2)
    got = column(db, f"select priority from howdah.{verb}('q', %s)", (number,))
    assert got == [9] * number
