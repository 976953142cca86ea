"""An expired message ends once, as the policy of its queue says, and the audit has that end."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import chance
import psycopg
import pytest
from expiry_support import expired, reclaim, send, stored
from policy_support import Create
from support import SYSTEM, Clock, Connect, Db, column, one, receive


@pytest.mark.parametrize("met_by", ["receive", "reclaim"])
def test_by_policy_an_expired_message_goes_to_the_exception_destination(
    db: Db, clock: Clock, create: Create, met_by: str
) -> None:
    create(process_expired=True)
    number = send(db, time_to_live="1 min", headers='{"a": 1}')
    clock.advance(60)
    assert (receive(db) if met_by == "receive" else reclaim(db)) in ([], 1)
    (dead,) = receive(db, SYSTEM)
    at = one(db, "select (extract(epoch from howdah.now()) * 1000)::bigint")
    assert (dead.message_id, dead.expires_at, dead.origin_queue) == (number, None, "q")
    assert dead.dead_reason == f"Message Expired. Expiration:{at}"
    stats = db.execute("select expired, moved_out, discarded from howdah.queue_stats('q')").fetchall()
    assert stats == [(0, 1, 0)]


def test_the_preset_activemq_keeps_expired_messages_with_their_time_and_drops_non_persistent_ones(
    db: Db, clock: Clock, create: Create
) -> None:
    create(preset="activemq")
    send(db, time_to_live="1 min", headers='{"a": 1}')
    send(db, time_to_live="1 min", delivery_mode="non-persistent")
    clock.advance(60)
    assert reclaim(db) == 2
    (dead,) = receive(db, "ActiveMQ.DLQ", 9)
    at = one(db, "select (extract(epoch from howdah.now()) * 1000)::bigint")
    assert dead.headers == {
        "a": 1, "originalExpiration": at, "dlqDeliveryFailureCause": f"Message Expired. Expiration:{at}",
    }  # fmt: skip
    assert expired(db) == 1
    assert json.loads(json.dumps(one(db, "select activemq from howdah.presets() where option = 'process_expired'")))


def test_without_anywhere_to_go_it_is_gone(db: Db, clock: Clock, create: Create) -> None:
    create(process_expired=True, exception_mode="none")
    send(db, time_to_live="1 min")
    clock.advance(60)
    assert reclaim(db) == 1
    assert (stored(db), expired(db)) == ([], 1)


@pytest.mark.behaviour("AMQ-70")
def test_a_message_ends_consumed_expired_or_by_overflow_and_the_audit_has_each_end(
    db: Db, clock: Clock, create: Create
) -> None:
    create(journal_level="full")
    one(db, """select howdah.create_topic('t', '{"backlog_limit": 2, "backlog_action": "drop_backlog"}')""")
    one(db, "select howdah.subscribe('t', 's')")
    consumed, dies = send(db), send(db, time_to_live="1 min")
    published = [send(db, queue="t") for _ in range(3)]
    query = (
        "select queue, event, reason, message_id from howdah.audit_journal where event <> 'sent' order by message_id"
    )
    assert db.execute(query.encode()).fetchall() == []
    assert column(db, "select message_id from howdah.audit_messages where queue = 'q' order by 1") == [consumed, dies]
    with db.transaction():
        assert receive(db)[0].message_id == consumed
    clock.advance(60)
    reclaim(db)
    for _ in range(2):
        one(db, "select howdah.maintain_subscriptions()")
    ends = {row[3]: row[:3] for row in db.execute(query.encode()).fetchall()}
    assert ends.pop(consumed) == ("q", "consumed", None)
    assert ends.pop(dies) == ("q", "expired", None)
    assert ends == {number: ("t::s", "discarded", "too far behind") for number in published}
    assert column(db, "select message_id from howdah.audit_messages where queue in ('q', 't::s')") == []


@pytest.mark.slow
def test_under_load_each_message_ends_once_and_none_is_given_out_after_its_time(
    db: Db, connect: Connect, create: Create
) -> None:
    """Receivers that commit and roll back, leases, and two who reclaim, on the real clock."""
    create(max_failed_deliveries=1000)  # a lease of 5 ms runs out often, and that counts
    late: list[Any] = []
    sent: list[int] = []
    dice = chance.dice()

    def produce(session: Db) -> None:
        while time.monotonic() < until:
            ways: tuple[dict[str, Any], ...] = (
                {},
                {"delay": "10 ms"},
                {"delivery_mode": "non-persistent"},
                {"priority": 9},
            )
            sent.append(send(session, time_to_live=f"{dice.randint(1, 120)} ms", **dice.choice(ways)))

    def consume(session: Db) -> None:
        while time.monotonic() < until:
            with session.transaction(force_rollback=dice.random() < 0.4):
                late.extend(
                    session.execute(
                        "select message_id from (select howdah.now() as begun offset 0) b,"
                        " howdah.receive('q', 5) r where r.expires_at <= b.begun"
                    ).fetchall()
                )

    def lease(session: Db) -> None:
        while time.monotonic() < until:
            leased = session.execute("select lease from howdah.lease('q', 3, '5 ms') limit 1").fetchall()
            if leased and dice.random() < 0.5:
                with suppress(psycopg.Error):  # it ran out, and others have them
                    session.execute("select howdah.ack('q', %s)", leased[0])

    def upkeep(session: Db) -> None:
        while time.monotonic() < until:
            reclaim(session, 7)

    with ThreadPoolExecutor() as pool:
        work = [(task, connect()) for task in (produce, produce, consume, consume, lease, upkeep, upkeep)]
        until = time.monotonic() + 1.2
        for running in [pool.submit(task, session) for task, session in work]:
            running.result()
    time.sleep(0.2)  # the longest life
    while reclaim(db) or receive(db, n=100):
        pass
    assert late == []
    assert stored(db) == []
    ends = db.execute("select event, message_id from howdah.audit_journal").fetchall()
    assert sorted(number for _, number in ends) == sorted(sent)
    assert {event for event, _ in ends} == {"consumed", "expired"}
