"""Leases: messages received for a time, without an open transaction; of queues and of subscriptions."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, contents, fail, one, receive, refused


class Leased(NamedTuple):
    """What a test looks at of a leased message."""

    lease: int
    message_id: int
    body: str
    delivery_count: int


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def lease(db: Db, n: int = 1, seconds: float = 30, queue: str = "q") -> list[Leased]:
    rows = db.execute(
        "select lease, message_id, body, delivery_count from howdah.lease(%s, %s, %s * interval '1 second')",
        (queue, n, seconds),
    ).fetchall()
    return [Leased(*row) for row in rows]


def send(db: Db, *bodies: str, **options: Any) -> list[int]:
    names = "".join(f", {name} => %s" for name in options)
    return [one(db, f"select howdah.send('q', %s{names})", (body, *options.values())) for body in bodies]


def consumed(db: Db) -> list[int]:
    return column(
        db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed' order by 1"
    )


def test_a_leased_message_is_nobody_elses_and_an_acknowledged_one_is_consumed(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    first = lease(db, 2)
    assert [m.body for m in first] == ["a", "b"]
    assert len({m.lease for m in first}) == 1, "one lease a call"
    assert [m.message_id for m in receive(db, "q", n=9)] == sent[2:]
    assert consumed(db) == sent[2:], "a leased message is not consumed yet"
    assert one(db, "select howdah.ack('q', %s, %s)", (first[0].lease, [sent[0]])) == 1
    assert one(db, "select howdah.ack('q', %s)", (first[0].lease,)) == 1
    assert consumed(db) == sent
    refused(db, "HD026", "select howdah.ack('q', %s)", (first[0].lease,))
    assert contents(db)["parked"] is None


def test_a_lease_number_is_greater_than_any_before(db: Db) -> None:
    send(db, "a", "b", "c")
    numbers = [lease(db)[0].lease for _ in range(3)]
    assert numbers == sorted(set(numbers))


def test_a_rolled_back_lease_leaves_everything_in_its_place(db: Db, connect: Connect) -> None:
    sent = send(db, "a", "b")
    other = connect()
    with other.transaction(force_rollback=True):
        assert len(lease(other, 2)) == 2
    assert [m.message_id for m in receive(db, "q", n=9)] == sent
    assert one(db, "select count(*) from howdah.poison_details") == 0


def test_a_lease_that_runs_out_gives_its_message_back_as_failed_and_its_token_is_stale(db: Db, clock: Clock) -> None:
    send(db, "a")
    (held,) = lease(db, seconds=10)
    clock.advance(9.9)
    assert lease(db) == []
    clock.advance(0.2)
    (again,) = lease(db, seconds=10)
    assert (again.message_id, again.delivery_count) == (held.message_id, 2)
    assert again.lease > held.lease
    before = contents(db)
    for verb in ("ack", "nack", "release"):
        refused(db, "HD026", f"select howdah.{verb}('q', %s, %s)", (held.lease, [held.message_id]))
    refused(db, "HD026", "select howdah.extend('q', %s)", (held.lease,))
    assert contents(db) == before
    assert one(db, "select howdah.ack('q', %s)", (again.lease,)) == 1
    incident = db.execute("select error_class, attempt, outcome from howdah.incidents('q')").fetchall()
    assert incident == [("LeaseExpired", 1, "returned")]


def test_nobody_can_hide_the_end_of_a_lease_by_telling_of_a_failure_with_its_key(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('mine')")
    (sent,), (other,) = send(db, "a"), column(db, "select howdah.send('mine', 'x')")
    lease = one(db, "select lease from howdah.lease('q', 1, '10 s')")
    key = one(db, "select md5(format('lease %%s of %%s', %s::bigint, %s::bigint))::uuid", (lease, sent))
    fail(db, other, queue="mine", failure_key=key)
    clock.advance(11)
    (again,) = receive(db)
    assert (again.message_id, again.delivery_count) == (sent, 2)
    assert column(db, "select error_class from howdah.incidents('q')") == ["LeaseExpired"]


def test_the_death_of_a_consumer_that_nobody_sees_ends_neither_its_lease_nor_its_turn(
    db: Db, clock: Clock, connect: Connect
) -> None:
    one(db, """select howdah.alter_queue('q', '{"delivery_policy": "failover"}')""")
    send(db, "a", "b")
    doomed = connect()
    first = one(doomed, "select howdah.open_consumer('q')")
    second = one(db, "select howdah.open_consumer('q')")
    bodies = "select body from howdah.lease('q', 1, '10 minutes', consumer => %s)"
    assert column(doomed, bodies, (first,)) == ["a"]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    clock.advance(59)
    assert column(db, bodies, (second,)) == []
    clock.advance(2)
    assert column(db, bodies, (second,)) == ["b"], "silent for longer than its timeout"
    clock.advance(500)
    one(db, "select count(*) from howdah.renew_consumers(%s)", ([second],))
    clock.advance(41)
    assert column(db, bodies, (second,)) == ["a"], "at the end of the lease"


def test_the_leases_of_a_consumer_end_with_its_session_at_once_and_count(
    db: Db, connect: Connect, clock: Clock
) -> None:
    """The clock stands still: nothing waits for the end of a lease.

    Another consumer without a session of its own keeps what it has.
    """
    sent = send(db, "a", "b", "c", "d")
    doomed = connect()
    first, second = (
        one(doomed, "select howdah.open_consumer('q', own_session => true)"),
        one(db, "select howdah.open_consumer('q')"),
    )
    lease = (
        "select lease, message_id, delivery_count, redelivered from howdah.lease('q', 1, '10 minutes', consumer => %s)"
    )
    held = [doomed.execute(lease, (first,)).fetchone() for _ in range(2)]
    assert [row[1:] for row in held if row] == [(sent[0], 1, False), (sent[1], 1, False)]
    kept = db.execute(lease, (second,)).fetchone()
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    again = db.execute(
        "select message_id, delivery_count, redelivered from howdah.receive('q', 9, consumer => %s)", (second,)
    )
    assert again.fetchall() == [(sent[0], 2, True), (sent[1], 2, True), (sent[3], 1, False)]
    incidents = db.execute("select error_class, attempt, outcome from howdah.incidents('q')").fetchall()
    assert incidents == [("LeaseExpired", 1, "returned")] * 2
    assert held[0]
    assert kept
    refused(db, "HD026", "select howdah.ack('q', %s)", (held[0][0],))
    assert one(db, "select howdah.ack('q', %s)", (kept[0],)) == 1


@pytest.mark.first_case
@pytest.mark.parametrize(
    "call", ["ack(%s, %s, %s)", "release(%s, %s, %s)", "extend(%s, %s, message_ids => %s)", "nack(%s, %s, %s)"]
)
def test_a_lease_that_ended_with_its_session_waits_for_who_saw_that_and_has_not_committed(
    db: Db, connect: Connect, clock: Clock, call: str
) -> None:
    (sent,) = send(db, "a")
    doomed, receiver = connect(), connect()
    first = one(doomed, "select howdah.open_consumer('q', own_session => true)")
    second = one(receiver, "select howdah.open_consumer('q')")
    (lease,) = column(doomed, "select lease from howdah.lease('q', 1, '1 hour', consumer => %s)", (first,))
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    db.execute("set lock_timeout = '100 ms'")
    use = f"select howdah.{call}"
    with receiver.transaction():
        assert column(receiver, "select message_id from howdah.receive('q', consumer => %s)", (second,)) == [sent]
        refused(db, "55P03", use, ("q", lease, [sent]))
    refused(db, "HD026", use, ("q", lease, [sent]))


def test_maintenance_ends_the_leases_of_consumers_whose_sessions_ended_for_all_who_take_no_turns(
    db: Db, connect: Connect, clock: Clock
) -> None:
    send(db, "a")
    doomed = connect()
    consumer = one(doomed, "select howdah.open_consumer('q', own_session => true)")
    assert column(doomed, "select body from howdah.lease('q', 1, '1 hour', consumer => %s)", (consumer,)) == ["a"]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    assert column(db, "select body from howdah.receive('q')") == []
    assert one(db, "select howdah.maintain_consumers()") == 1
    assert column(db, "select body from howdah.receive('q')") == ["a"]


def test_what_is_delivered_again_to_a_consumer_comes_back_with_its_session_too(
    db: Db, connect: Connect, clock: Clock
) -> None:
    (sent,) = send(db, "a")
    doomed = connect()
    consumer = one(doomed, "select howdah.open_consumer('q', own_session => true)")
    lease = one(doomed, "select lease from howdah.lease('q', 1, '10 minutes', consumer => %s)", (consumer,))
    again = one(doomed, "select lease from howdah.redeliver('q', %s, %s, '7 days')", ([lease], [sent]))
    assert column(db, "select lease_id from howdah.consumer_leases") == [again]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    other = one(db, "select howdah.open_consumer('q')")
    rows = db.execute("select message_id, delivery_count from howdah.receive('q', 9, consumer => %s)", (other,))
    assert rows.fetchall() == [(sent, 3)]


def test_what_a_consumer_is_done_with_is_not_remembered_as_its_leases(db: Db, connect: Connect) -> None:
    send(db, *"abcdefgh")
    own = connect()
    consumer = one(own, "select howdah.open_consumer('q', own_session => true)")
    for _ in range(8):
        lease = one(own, "select lease from howdah.lease('q', consumer => %s)", (consumer,))
        assert one(own, "select howdah.ack('q', %s)", (lease,)) == 1
    assert column(db, "select lease_id from howdah.consumer_leases") == [lease]
    one(own, "select howdah.close_consumer(%s)", (consumer,))
    assert column(db, "select lease_id from howdah.consumer_leases") == []


def test_leases_that_run_out_are_failures_up_to_the_limit(db: Db, clock: Clock) -> None:
    (sent,) = send(db, "a")
    counts = []
    while leased := lease(db, seconds=1):
        counts.append(leased[0].delivery_count)
        clock.advance(1.5)
    assert counts == [1, 2, 3]
    assert [m.message_id for m in receive(db, SYSTEM, verb="browse")] == [sent]


def test_the_expiry_is_recorded_once_although_the_next_receiver_rolls_back(
    db: Db, clock: Clock, connect: Connect
) -> None:
    send(db, "a")
    lease(db, seconds=1)
    clock.advance(2)
    other = connect()
    for _ in range(3):
        with other.transaction(force_rollback=True):
            assert [m.delivery_count for m in receive(other, "q")] == [2]
    assert [m.delivery_count for m in receive(db, "q")] == [2]
    assert one(db, "select count(*) from howdah.poison_details") == 1


def test_an_acknowledgement_after_the_end_succeeds_as_long_as_nobody_else_has_the_message(
    db: Db, clock: Clock, connect: Connect
) -> None:
    sent = send(db, "a", "b")
    held = lease(db, 2, seconds=1)
    clock.advance(5)
    assert one(db, "select howdah.ack('q', %s, %s)", (held[0].lease, [sent[0]])) == 1
    with connect().transaction() as transaction:
        assert [m.message_id for m in receive(transaction.connection, "q")] == [sent[1]]
        refused(db, "HD026", "select howdah.ack('q', %s, %s)", (held[0].lease, [sent[1]]))


def test_an_extended_lease_lasts_from_now_on(db: Db, clock: Clock) -> None:
    send(db, "a")
    (held,) = lease(db, seconds=10)
    clock.advance(9)
    until = one(db, "select howdah.extend('q', %s, interval '10 seconds')", (held.lease,))
    assert (until - clock.now).total_seconds() == 10
    clock.advance(9)
    assert lease(db) == []
    assert db.execute("select lease, messages from howdah.list_leases('q')").fetchall() == [(held.lease, 1)]
    clock.advance(2)
    assert len(lease(db)) == 1


def test_a_negative_acknowledgement_counts_and_follows_the_policy(db: Db, clock: Clock) -> None:
    (sent,) = send(db, "a")
    (held,) = lease(db)
    nack = (
        "select message_id, attempt, outcome from howdah.nack('q', %s, error_text => 'no',"
        " delay => %s * interval '1 second')"
    )
    assert db.execute(nack.encode(), (held.lease, 60)).fetchall() == [(sent, 1, "delayed")]
    assert lease(db) == []
    clock.advance(61)
    (held,) = lease(db)
    assert held.delivery_count == 2
    assert db.execute(nack.encode(), (held.lease, 0)).fetchall() == [(sent, 2, "returned")]
    (held,) = lease(db)
    assert held.delivery_count == 3
    rejected = "select outcome from howdah.nack('q', %s, reject => true)"
    assert column(db, rejected, (held.lease,)) == ["moved"]


@pytest.mark.behaviour("AMQ-81")
@pytest.mark.parametrize("strict", [False, True], ids=["passed by", "waited for"])
def test_what_a_client_gives_back_comes_again_after_its_delay_in_the_order_of_the_policy(
    db: Db, clock: Clock, strict: bool
) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"strict_order": strict, "redelivery_delay_ms": 60_000}),))
    first, second, third = send(db, "a", "b", "c")
    (held,) = lease(db)
    nack = "select message_id, attempt, outcome from howdah.nack('q', %s)"
    assert db.execute(nack.encode(), (held.lease,)).fetchall() == [(first, 1, "delayed")]
    clock.advance(59)
    assert [m.message_id for m in lease(db)] == ([] if strict else [second])
    clock.advance(1)
    again = [lease(db)[0]]
    assert (again[0].message_id, again[0].delivery_count) == (first, 2)
    one(db, "select howdah.ack('q', %s)", (again[0].lease,))
    rest = [m.message_id for _ in range(2) for m in lease(db)]
    assert rest == ([second] if strict else [third]), "under strict order one message at a time"


def test_a_released_message_is_back_in_its_place_with_nobody_to_blame(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    held = lease(db, 2)
    assert one(db, "select howdah.release('q', %s)", (held[0].lease,)) == 2
    messages = receive(db, "q", n=9)
    assert [m.message_id for m in messages] == sent
    assert {m.delivery_count for m in messages} == {1}


def test_nobody_takes_a_message_from_under_a_lease(db: Db) -> None:
    """Neither who records a failure of it, even its last one, nor an operator who retries it or purges the queue."""
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    (sent,) = send(db, "a")
    (held,) = lease(db)
    assert fail(db, sent)[2] == "held"
    assert column(db, "select outcome from howdah.settle_failures('q', %s, '{4}', '{1}')", ([sent],)) == ["held"]
    refused(db, "HD013", "select howdah.retry('q', %s)", ([sent],))
    assert one(db, "select howdah.retry('q')") == 0
    assert one(db, "select howdah.purge_queue('q')") == 0
    assert receive(db, "q") == []
    assert one(db, "select howdah.ack('q', %s)", (held.lease,)) == 1


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_messages_of_every_kind_can_be_leased_again_and_again(db: Db, clock: Clock, mode: str) -> None:
    (sent,) = send(db, "a", delivery_mode=mode, priority=9)
    for _ in range(2):
        (held,) = lease(db)
        assert held.message_id == sent
        one(db, "select howdah.release('q', %s)", (held.lease,))
    (held,) = lease(db, seconds=1)
    clock.advance(2)
    (held,) = lease(db, seconds=1)
    one(db, "select howdah.ack('q', %s)", (held.lease,))
    assert one(db, "select nonpersistent from howdah.journal where event = 'consumed'") == (mode == "non-persistent")


@pytest.mark.parametrize("call", ["ack('q', %s)", "nack('q', %s)", "release('q', %s)", "extend('q', %s)"])
def test_a_call_for_a_whole_lease_finds_no_message_that_a_restart_lost(db: Db, call: str) -> None:
    one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
    lease = one(db, "select lease from howdah.lease('q')")
    db.execute("update howdah.parked set boot = boot - interval '1 hour'")  # as a planned restart leaves it
    refused(db, "HD026", f"select howdah.{call}", (lease,))
    assert receive(db, "q") == []


def test_an_acknowledgement_commits_with_the_callers_work_or_not_at_all(db: Db, connect: Connect) -> None:
    (sent,) = send(db, "a")
    (held,) = lease(db)
    other = connect()
    with other.transaction(force_rollback=True):
        assert one(other, "select howdah.ack('q', %s)", (held.lease,)) == 1
    assert one(db, "select howdah.ack('q', %s, %s)", (held.lease, [sent])) == 1


def test_all_or_nothing_of_an_acknowledgement(db: Db) -> None:
    sent = send(db, "a", "b")
    (held,) = lease(db)
    before = contents(db)
    refused(db, "HD026", "select howdah.ack('q', %s, %s)", (held.lease, sent))
    refused(db, "HD026", "select howdah.ack('q', null)")
    refused(db, "HD026", "select howdah.ack('q', %s, array[null]::bigint[])", (held.lease,))
    for wrong in ("0 seconds", "-1 second", "8 days", None):
        refused(db, "HD005", "select howdah.lease('q', 1, %s::interval)", (wrong,))
    assert contents(db) == before


def test_who_may_not_receive_may_not_acknowledge(db: Db, connect: Connect) -> None:
    send(db, "a")
    (held,) = lease(db)
    producer = connect("howdah_producer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        producer.execute("select howdah.ack('q', %s)", (held.lease,))


def test_many_consumers_lease_each_message_once(db: Db, connect: Connect) -> None:
    db.execute("select howdah.send_batch('q', array(select n::text from generate_series(1, 600) n))")
    seen: list[int] = []

    def consume(own: Db) -> None:
        while got := lease(own, 7):
            one(own, "select howdah.ack('q', %s, %s)", (got[0].lease, [m.message_id for m in got]))
            seen.extend(m.message_id for m in got)

    threads = [threading.Thread(target=consume, args=(connect(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while got := lease(db, 50):  # what a search had not come to yet
        one(db, "select howdah.ack('q', %s)", (got[0].lease,))
        seen.extend(m.message_id for m in got)
    assert len(seen) == len(set(seen)) == 600


def test_a_shared_subscription_is_leased_and_acknowledged_out_of_order(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's', shared => true)")
    other = one(db, "select howdah.subscribe('t', 'o')")
    sent = one(db, "select howdah.send_batch('t', array['a', 'b', 'c', 'd'])")
    first = lease(db, 2, seconds=10, queue=name)
    assert [m.body for m in first] == ["a", "b"]
    assert [m.body for m in receive(db, name)] == ["c"]
    assert one(db, "select howdah.ack(%s, %s, %s)", (name, first[0].lease, [sent[1]])) == 1
    assert [m.body for m in receive(db, name, n=9)] == ["d"]
    clock.advance(11)
    (again,) = lease(db, 9, queue=name)
    assert (again.message_id, again.delivery_count) == (sent[0], 2)
    refused(db, "HD026", "select howdah.ack(%s, %s)", (name, first[0].lease))
    assert column(db, "select outcome from howdah.nack(%s, %s)", (name, again.lease)) == ["returned"]
    (again,) = lease(db, 9, queue=name)
    assert one(db, "select howdah.extend(%s, %s)", (name, again.lease)) is not None
    assert one(db, "select howdah.ack(%s, %s)", (name, again.lease)) == 1
    assert lease(db, 9, queue=name) == []
    assert [m.message_id for m in receive(db, other, n=9)] == sent, "the other subscriber is not disturbed"
    assert one(db, "select count(*) from howdah.acked") == 0, "the cursor has moved over them"


def test_the_journal_tells_non_persistent_topic_messages_that_were_leased_from_persistent_ones(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's')")
    modes = ["persistent", "non-persistent", "persistent"]
    sent = [one(db, "select howdah.send('t', 'a', delivery_mode => %s)", (mode,)) for mode in modes]
    first = lease(db, 9, queue=name)
    assert one(db, "select howdah.ack(%s, %s)", (name, first[0].lease)) == 3
    assert sorted(
        db.execute(
            "select i.id, j.nonpersistent from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed'"
        ).fetchall()
    ) == list(zip(sent, [False, True, False], strict=True))


def test_a_leased_topic_message_is_not_truncated_away(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', 'a')")
    assert len(lease(db, queue=name)) == 1
    for _ in range(8):
        clock.advance(700)
        one(db, "select howdah.send('t', 'b')")
        one(db, "select howdah.maintain_topics()")
    assert one(db, "select max(generation) from howdah.topic_ring") > 2
    assert [m.body for m in receive(db, name, n=99)] == ["a"] + ["b"] * 8
