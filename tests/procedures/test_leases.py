"""Leases: messages received for a time, without an open transaction."""

from __future__ import annotations

import threading

import pytest
from leased_messages import lease, send
from support import SYSTEM, Clock, Connect, Db, column, contents, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


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
